/*
 * units.c
 *	  Which rows of a unit count.  See units.h.
 */
#include "domain/units.h"

#include <string.h>

#include "domain/domain.h"
#include "base/mem.h"

/* ------------------------------------------------------------------
 * Ranges of units
 * ------------------------------------------------------------------
 */

/*
 * Bytes for a row of a range, in all processes together: about three copies of
 * its entry exist at a time, in a state, serialised, and in a sum of states; at
 * the end one, and the hash by which the rows of a unit are chosen.
 */
#define ROW_MEMORY (3 * sizeof(pe_unit_rows))

/* No state takes more than 768 MB, since a serialised one is a varlena of less than 1 GB. */
#define MOST_ENTRIES ((size_t) 1 << 25)

bool
pe_cut_is_sound(const pe_cut *cut)
{
	return cut->limit >= 1 && cut->max_rows >= 1 && cut->range < cut->ranges && cut->unused == 0;
}

/* A range's share is half of what there is memory for: units differ, and so do ranges. */
void
pe_cut_divide(pe_cut *cut, uint64_t rows, size_t memory)
{
	size_t		limit = memory / ROW_MEMORY < MOST_ENTRIES ? memory / ROW_MEMORY : MOST_ENTRIES;
	uint64_t	share = limit / 2 > 0 ? limit / 2 : 1;
	uint64_t	ranges = rows <= limit ? 1 : (rows - 1) / share + 1;

	cut->limit = (int64_t) (2 * share);
	cut->ranges = ranges < UINT32_MAX ? (uint32_t) ranges : UINT32_MAX;
}

void
pe_unit_keys_init(pe_unit_keys *keys, const pe_cut *cut)
{
	for (int i = 0; i < 2; i++)
	{
		keys->hash[i] = pe_siphash_key(cut->key + 8 * i);
		keys->rank[i] = pe_siphash_key(cut->key + 16 + 8 * i);
	}
}

void
pe_unit_hash(const pe_unit_keys *keys, const void *bytes, size_t size, uint64_t unit[2])
{
	pe_siphash(keys->hash, bytes, size, unit);
}

bool
pe_unit_in_range(const pe_cut *cut, const uint64_t unit[2])
{
	return ((pe_u128) unit[0] * cut->ranges) >> 64 == cut->range;
}

/* ------------------------------------------------------------------
 * Entries
 * ------------------------------------------------------------------
 */

/* Entries of the first allocation. */
#define FIRST_ROOM 1024

void
pe_units_init(pe_units *units, size_t limit)
{
	memset(units, 0, sizeof(*units));
	units->limit = limit;
	units->sorted = true;
}

void
pe_units_free(pe_units *units)
{
	if (units->entry != NULL)
		pe_wipe(units->entry, units->room * sizeof(*units->entry));
	pe_free(units->entry);
	units->entry = NULL;
	units->entries = units->room = 0;
}

static void
set_room(pe_units *units, size_t room)
{
	pe_unit_rows *entry = pe_alloc(room, sizeof(*entry));
	size_t		entries = units->entries;

	if (entries > 0)
		memcpy(entry, units->entry, entries * sizeof(*entry));
	pe_units_free(units);
	units->entry = entry;
	units->entries = entries;
	units->room = room;
}

void
pe_units_make_room(pe_units *units)
{
	if (units->entries < units->room)
		return;
	if (units->room >= units->limit)
	{
		pe_units_sort(units);
		if (units->entries <= units->room / 2)
			return;
		units->limit = 2 * units->room;
	}
	if (units->room == 0)
		set_room(units, units->limit < FIRST_ROOM ? units->limit : FIRST_ROOM);
	else
		set_room(units, 2 * units->room < units->limit ? 2 * units->room : units->limit);
}

/* ------------------------------------------------------------------
 * Sorting
 * ------------------------------------------------------------------
 */

/* The order: bytes of the two words of the hash, then of the cell. */
#define LEVELS 20

/* Below this many entries insertion is faster than one more level. */
#define FEW 32

static inline unsigned
byte_of(const pe_unit_rows *entry, int level)
{
	if (level < 16)
		return entry->unit[level / 8] >> (56 - 8 * (level % 8)) & 0xff;
	return (uint32_t) entry->cell >> (24 - 8 * (level - 16)) & 0xff;
}

static inline int
compare(const pe_unit_rows *a, const pe_unit_rows *b)
{
	if (a->unit[0] != b->unit[0])
		return a->unit[0] < b->unit[0] ? -1 : 1;
	if (a->unit[1] != b->unit[1])
		return a->unit[1] < b->unit[1] ? -1 : 1;
	if (a->cell != b->cell)
		return (uint32_t) a->cell < (uint32_t) b->cell ? -1 : 1;
	return 0;
}

static void
sort_few(pe_unit_rows *entry, size_t entries)
{
	for (size_t i = 1; i < entries; i++)
	{
		pe_unit_rows moved = entry[i];
		size_t		to = i;

		for (; to > 0 && compare(&moved, &entry[to - 1]) < 0; to--)
			entry[to] = entry[to - 1];
		entry[to] = moved;
	}
}

/* Puts every entry where its byte belongs; start: where each byte's entries begin. */
static void
distribute(pe_unit_rows *entry, int level, const size_t *start)
{
	size_t		next[256];

	memcpy(next, start, sizeof(next));
	for (int byte = 0; byte < 256; byte++)
		while (next[byte] < start[byte + 1])
		{
			pe_unit_rows moved = entry[next[byte]];
			unsigned	to;

			while ((to = byte_of(&moved, level)) != (unsigned) byte)
			{
				pe_unit_rows other = entry[next[to]];

				entry[next[to]++] = moved;
				moved = other;
			}
			entry[next[byte]++] = moved;
		}
}

/*
 * American flag sort (McIlroy, Bostic, McIlroy, "Engineering radix sort",
 * Computing Systems 1993): in place, and linear however the rows are spread over
 * units.
 */
static void
sort_entries(pe_unit_rows *entry, size_t entries, int level)
{
	for (; level < LEVELS && entries > FEW; level++)
	{
		size_t		start[257] = {0};
		unsigned	first = byte_of(entry, level);

		for (size_t i = 0; i < entries; i++)
			start[byte_of(&entry[i], level) + 1]++;
		if (start[first + 1] == entries)
			continue;
		pe_poll();
		for (int byte = 0; byte < 256; byte++)
			start[byte + 1] += start[byte];
		distribute(entry, level, start);
		for (int byte = 0; byte < 256; byte++)
			sort_entries(entry + start[byte], start[byte + 1] - start[byte], level + 1);
		return;
	}
	if (level < LEVELS)
		sort_few(entry, entries);
}

/* Appends an entry to the entries before it, of which the last may be of the same rows. */
static size_t
append(pe_unit_rows *entry, size_t entries, const pe_unit_rows *next)
{
	if (entries > 0 && compare(&entry[entries - 1], next) == 0 &&
		entry[entries - 1].rows <= UINT16_MAX - next->rows)
	{
		entry[entries - 1].rows = (uint16_t) (entry[entries - 1].rows + next->rows);
		entry[entries - 1].counted = (uint16_t) (entry[entries - 1].counted + next->counted);
		return entries;
	}
	entry[entries] = *next;
	return entries + 1;
}

void
pe_units_sort(pe_units *units)
{
	size_t		together = 0;

	if (units->sorted)
		return;
	sort_entries(units->entry, units->entries, 0);
	for (size_t i = 0; i < units->entries; i++)
		together = append(units->entry, together, &units->entry[i]);
	units->entries = together;
	units->sorted = true;
}

void
pe_units_merge(pe_units *units, pe_units *other)
{
	pe_units	sum;
	size_t		i = 0;
	size_t		j = 0;

	if (!units->sorted || !other->sorted)
		pe_bug("units are merged before they are sorted");
	pe_units_init(&sum, units->limit);
	set_room(&sum, units->entries + other->entries);
	while (i < units->entries || j < other->entries)
	{
		bool		mine = j == other->entries ||
			(i < units->entries && compare(&units->entry[i], &other->entry[j]) <= 0);

		sum.entries = append(sum.entry, sum.entries, mine ? &units->entry[i++] : &other->entry[j++]);
	}
	pe_units_free(units);
	pe_units_free(other);
	*units = sum;
}

/* ------------------------------------------------------------------
 * Bytes: the frame, then the entries
 * ------------------------------------------------------------------
 */

size_t
pe_units_size(const pe_units *units)
{
	return sizeof(pe_units_frame) + units->entries * sizeof(*units->entry);
}

void
pe_units_write(const pe_units_frame *frame, const pe_units *units, char *bytes)
{
	if (!units->sorted)
		pe_bug("units are written before they are sorted");
	memcpy(bytes, frame, sizeof(*frame));
	if (units->entries > 0)
		memcpy(bytes + sizeof(*frame), units->entry, units->entries * sizeof(*units->entry));
}

static bool
frame_is_sound(const pe_units_frame *frame)
{
	return frame->limit >= 1 && frame->max_rows >= 1 && frame->cells >= 1 && frame->cells <= PE_MAX_CELLS;
}

/* Whether they are sorted, equal ones together where their number fits, in a cell, and no more count than there are. */
static bool
entries_are_sound(const pe_unit_rows *entry, size_t entries, int32_t cells)
{
	for (size_t i = 0; i < entries; i++)
	{
		int			order = i > 0 ? compare(&entry[i - 1], &entry[i]) : -1;

		if (entry[i].cell < 0 || entry[i].cell >= cells || entry[i].rows == 0 || order > 0 ||
			entry[i].counted > entry[i].rows ||
			(order == 0 && entry[i - 1].rows <= UINT16_MAX - entry[i].rows))
			return false;
	}
	return true;
}

bool
pe_units_read(pe_units_frame *frame, pe_units *units, const char *bytes, size_t size)
{
	pe_units_init(units, 1);
	if (size < sizeof(*frame) || (size - sizeof(*frame)) % sizeof(*units->entry) != 0)
		return false;
	memcpy(frame, bytes, sizeof(*frame));
	size -= sizeof(*frame);
	if (!frame_is_sound(frame))
		return false;
	units->limit = (size_t) frame->limit;
	if (size == 0)
		return true;
	set_room(units, size / sizeof(*units->entry));
	memcpy(units->entry, bytes + sizeof(*frame), size);
	units->entries = units->room;
	if (entries_are_sound(units->entry, units->entries, frame->cells))
		return true;
	pe_units_free(units);
	return false;
}

/* ------------------------------------------------------------------
 * Which rows count
 * ------------------------------------------------------------------
 */

/* A row that may be chosen: a heap has the last one on top. */
typedef struct candidate
{
	uint64_t	rank[2];
	int32_t		cell;
	bool		dropped;
} candidate;

/* Those that are dropped come behind all others. */
static bool
ranks_before(const candidate *a, const candidate *b)
{
	if (a->dropped != b->dropped)
		return b->dropped;
	return a->rank[0] != b->rank[0] ? a->rank[0] < b->rank[0] : a->rank[1] < b->rank[1];
}

/* The place of a new candidate among those above the last one. */
static void
sift_up(candidate *heap, size_t at)
{
	candidate	moved = heap[at];

	for (; at > 0 && ranks_before(&heap[(at - 1) / 2], &moved); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = moved;
}

/* The place of what replaced the top. */
static void
sift_down(candidate *heap, size_t size)
{
	candidate	moved = heap[0];
	size_t		at = 0;

	for (size_t child; (child = 2 * at + 1) < size; at = child)
	{
		if (child + 1 < size && ranks_before(&heap[child], &heap[child + 1]))
			child++;
		if (!ranks_before(&moved, &heap[child]))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

static void
put(uint8_t *to, uint64_t number, int size)
{
	for (int i = 0; i < size; i++)
		to[i] = (uint8_t) (number >> (8 * (size - 1 - i)));
}

/* SipHash(key, unit || cell || j), numbers with their high bytes first. */
static void
rank_row(const uint64_t key[2], const pe_unit_rows *entry, uint64_t j, candidate *row)
{
	uint8_t		message[28];

	put(message, entry->unit[0], 8);
	put(message + 8, entry->unit[1], 8);
	put(message + 16, (uint32_t) entry->cell, 4);
	put(message + 20, j, 8);
	pe_siphash(key, message, sizeof(message), row->rank);
	row->cell = entry->cell;
}

/* Those chosen: max_rows at most, and room for as many as there were, for a unit's rows may be fewer by far. */
typedef struct chosen_rows
{
	candidate  *heap;
	size_t		count;
	size_t		room;
	size_t		max_rows;
} chosen_rows;

static void
set_chosen_room(chosen_rows *chosen, size_t room)
{
	candidate  *heap = pe_alloc(room, sizeof(*heap));

	if (chosen->count > 0)
		memcpy(heap, chosen->heap, chosen->count * sizeof(*heap));
	pe_wipe(chosen->heap, chosen->room * sizeof(*heap));
	pe_free(chosen->heap);
	chosen->heap = heap;
	chosen->room = room;
}

/* Makes row one of those chosen, if it ranks before one of them or there is room. */
static void
offer(chosen_rows *chosen, const candidate *row)
{
	if (chosen->count < chosen->max_rows)
	{
		if (chosen->count == chosen->room)
			set_chosen_room(chosen, 2 * chosen->room);
		chosen->heap[chosen->count] = *row;
		sift_up(chosen->heap, chosen->count++);
	}
	else if (ranks_before(row, &chosen->heap[0]))
	{
		chosen->heap[0] = *row;
		sift_down(chosen->heap, chosen->count);
	}
}

/* What numbers the dropped rows of a cell, apart from those that count. */
#define DROPPED_ROWS (UINT64_C(1) << 63)

/*
 * Counts the chosen->max_rows rows that rank first of the unit that begins at entry, and
 * returns where it ends.  All rows are ranked and offered, needed or not: a dropped one
 * may be chosen only where no row that counts wants its place, and adds 0.
 */
static const pe_unit_rows *
count_unit(const pe_unit_rows *entry, const pe_unit_rows *end, const uint64_t key[2], chosen_rows *chosen, int64_t *count)
{
	const pe_unit_rows *first = entry;
	uint64_t	j[2] = {0, DROPPED_ROWS};

	chosen->count = 0;
	for (; entry < end && entry->unit[0] == first->unit[0] && entry->unit[1] == first->unit[1]; entry++)
	{
		if (entry > first && entry->cell != entry[-1].cell)
		{
			j[0] = 0;
			j[1] = DROPPED_ROWS;
		}
		for (uint32_t row = 0; row < entry->rows; row++)
		{
			candidate	next;

			if (row % 4096 == 0)
				pe_poll();
			next.dropped = row >= entry->counted;
			rank_row(key, entry, ++j[next.dropped], &next);
			offer(chosen, &next);
		}
	}
	for (size_t i = 0; i < chosen->count; i++)
		count[chosen->heap[i].cell] += !chosen->heap[i].dropped;
	return entry;
}

static void
check_cells(const pe_units *units, int32_t cells)
{
	for (size_t i = 0; i < units->entries; i++)
		if (units->entry[i].cell < 0 || units->entry[i].cell >= cells)
			pe_bug("a row in no cell");
}

void
pe_units_count(const pe_units *units, const pe_unit_keys *keys, int32_t max_rows, int32_t cells, int64_t *count)
{
	const pe_unit_rows *entry = units->entry;
	const pe_unit_rows *end = units->entries > 0 ? entry + units->entries : entry;	/* without entries there is no memory */
	chosen_rows chosen = {.max_rows = (size_t) max_rows};

	if (!units->sorted)
		pe_bug("units are counted before they are sorted");
	check_cells(units, cells);
	set_chosen_room(&chosen, 64);
	while (entry < end)
		entry = count_unit(entry, end, keys->rank, &chosen, count);
	pe_wipe(chosen.heap, chosen.room * sizeof(*chosen.heap));
	pe_free(chosen.heap);
}

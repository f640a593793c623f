/*
 * units.c
 *	  Which rows of a unit count.  See units.h.
 */
#include "domain/units.h"

#include <string.h>

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
#define ROW_COPIES 3

/* No state takes more than 768 MB, since a serialised one is a varlena of less than 1 GB. */
#define MOST_MEMORY (((size_t) 3 << 28) * ROW_COPIES)

bool
pe_cut_is_sound(const pe_cut *cut)
{
	return cut->limit >= 1 && cut->most_cells >= 0 && cut->max_rows >= 1 && cut->range < cut->ranges && cut->whole <= 1;
}

/* A range's share is half of what there is memory for: units differ, and so do ranges. */
void
pe_cut_divide(pe_cut *cut, uint64_t rows, size_t memory, size_t entry)
{
	size_t		limit = (memory < MOST_MEMORY ? memory : MOST_MEMORY) / (ROW_COPIES * entry);
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
pe_units_init_product(pe_units *units, size_t limit, pe_u128 cells)
{
	pe_units_init(units, limit);
	units->wide_cells = cells > INT32_MAX ? cells : 0;
}

void
pe_units_limit_cells(pe_units *units, const pe_unit_keys *keys, size_t most_cells)
{
	units->most_cells = most_cells;
	memcpy(units->rank, keys->rank, sizeof(units->rank));
}

size_t
pe_unit_entry_size(pe_u128 cells)
{
	return cells > INT32_MAX ? sizeof(pe_wide_rows) : sizeof(pe_unit_rows);
}

void
pe_units_free(pe_units *units)
{
	if (units->memory != NULL)
		pe_wipe(units->memory, units->room * pe_unit_entry_size(units->wide_cells));
	pe_free(units->memory);
	units->memory = NULL;
	units->entries = units->room = 0;
}

static void
set_room(pe_units *units, size_t room)
{
	size_t		size = pe_unit_entry_size(units->wide_cells);
	void	   *memory = pe_alloc(room, size);
	size_t		entries = units->entries;

	if (entries > 0)
		memcpy(memory, units->memory, entries * size);
	pe_units_free(units);
	units->memory = memory;
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
 * Rows that are chosen
 * ------------------------------------------------------------------
 */

/* A row that may be chosen: a heap has the last one on top. */
typedef struct candidate
{
	uint64_t	rank[2];
	size_t		entry;			/* that it is one of */
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

/* ------------------------------------------------------------------
 * Entries of either width
 * ------------------------------------------------------------------
 */

/* The order: bytes of the two words of the hash, then of the cell. */
#define LEVELS (16 + (int) sizeof(CELL))

/* The most equal rows that an entry stands for. */
#define MOST_EQUAL UINT16_MAX

/* Below this many entries insertion is faster than one more level. */
#define FEW 32

#define ROWS pe_unit_rows
#define CELL uint32_t
#define NAME(function) narrow_##function
#include "domain/units_body.h"

#define ROWS pe_wide_rows
#define CELL pe_u128
#define NAME(function) wide_##function
#include "domain/units_body.h"

/* Of sorted units that have rows in more cells than are read, those of the cells that rank first. */
static void
keep_first_cells(pe_units *units)
{
	if (units->most_cells > 0)
		units->entries = units->wide_cells != 0
			? wide_keep_first(units->wide, units->entries, units->rank, units->most_cells)
			: narrow_keep_first(units->entry, units->entries, units->rank, units->most_cells);
}

void
pe_units_sort(pe_units *units)
{
	if (!units->sorted)
	{
		units->entries = units->wide_cells != 0
			? wide_put_together(units->wide, units->entries) : narrow_put_together(units->entry, units->entries);
		keep_first_cells(units);
	}
	units->sorted = true;
}

void
pe_units_once(pe_units *units)
{
	if (!units->sorted)
		pe_bug("units are counted once before they are sorted");
	units->entries = units->wide_cells != 0 ? wide_keep_once(units->wide, units->entries)
		: narrow_keep_once(units->entry, units->entries);
}

void
pe_units_merge(pe_units *units, pe_units *other)
{
	pe_units	sum;

	if (!units->sorted || !other->sorted)
		pe_bug("units are merged before they are sorted");
	if (units->wide_cells != other->wide_cells)
		pe_bug("units in cells of different products are merged");
	pe_units_init_product(&sum, units->limit, units->wide_cells);
	sum.most_cells = units->most_cells;
	memcpy(sum.rank, units->rank, sizeof(sum.rank));
	set_room(&sum, units->entries + other->entries);
	sum.entries = units->wide_cells != 0
		? wide_merge_entries(units->wide, units->entries, other->wide, other->entries, sum.wide)
		: narrow_merge_entries(units->entry, units->entries, other->entry, other->entries, sum.entry);
	keep_first_cells(&sum);
	pe_units_free(units);
	pe_units_free(other);
	*units = sum;
}

/* ------------------------------------------------------------------
 * Bytes: the frame, of wide cells their number, then the entries
 * ------------------------------------------------------------------
 */

/* Bytes before the entries. */
static size_t
head_size(pe_u128 wide_cells)
{
	return sizeof(pe_units_frame) + (wide_cells != 0 ? sizeof(wide_cells) : 0);
}

size_t
pe_units_size(const pe_units *units)
{
	return head_size(units->wide_cells) + units->entries * pe_unit_entry_size(units->wide_cells);
}

void
pe_units_write(const pe_units_frame *frame, const pe_units *units, char *bytes)
{
	size_t		head = head_size(units->wide_cells);

	if (!units->sorted)
		pe_bug("units are written before they are sorted");
	memcpy(bytes, frame, sizeof(*frame));
	memcpy(bytes + sizeof(*frame), &units->wide_cells, head - sizeof(*frame));
	if (units->entries > 0)
		memcpy(bytes + head, units->memory, units->entries * pe_unit_entry_size(units->wide_cells));
}

static bool
frame_is_sound(const pe_units_frame *frame)
{
	return frame->limit >= 1 && frame->max_rows >= 1 && frame->cells >= 0;
}

/* The frame and the number of wide cells; returns how many bytes they are, 0 if they are unsound. */
static size_t
read_frame(pe_units_frame *frame, pe_u128 *wide_cells, const char *bytes, size_t size)
{
	*wide_cells = 0;
	if (size < sizeof(*frame))
		return 0;
	memcpy(frame, bytes, sizeof(*frame));
	if (!frame_is_sound(frame))
		return 0;
	if (frame->cells > 0)
		return sizeof(*frame);
	if (size < sizeof(*frame) + sizeof(*wide_cells))
		return 0;
	memcpy(wide_cells, bytes + sizeof(*frame), sizeof(*wide_cells));
	return *wide_cells > INT32_MAX && *wide_cells <= PE_WIDE_CELLS ? sizeof(*frame) + sizeof(*wide_cells) : 0;
}

bool
pe_units_read(pe_units_frame *frame, pe_units *units, const char *bytes, size_t size)
{
	pe_u128		wide_cells;
	size_t		head = read_frame(frame, &wide_cells, bytes, size);

	pe_units_init_product(units, 1, wide_cells);
	if (head == 0 || (size - head) % pe_unit_entry_size(wide_cells) != 0)
		return false;
	units->limit = (size_t) frame->limit;
	if (size == head)
		return true;
	set_room(units, (size - head) / pe_unit_entry_size(wide_cells));
	memcpy(units->memory, bytes + head, size - head);
	units->entries = units->room;
	if (wide_cells != 0 ? wide_entries_are_sound(units->wide, units->entries, wide_cells)
		: narrow_entries_are_sound(units->entry, units->entries, (uint32_t) frame->cells))
		return true;
	pe_units_free(units);
	return false;
}

/* ------------------------------------------------------------------
 * What is cut together: the rows of a unit, or of one of its periods
 * ------------------------------------------------------------------
 */

/* Entry number at, of either width. */
static pe_wide_rows
entry_at(const pe_units *units, size_t at)
{
	const pe_unit_rows *narrow = &units->entry[at];

	if (units->wide_cells != 0)
		return units->wide[at];
	return (pe_wide_rows) {{narrow->unit[0], narrow->unit[1]}, (uint32_t) narrow->cell, narrow->rows, narrow->counted};
}

static bool
is_same_unit(const pe_wide_rows *one, const pe_wide_rows *other)
{
	return one->unit[0] == other->unit[0] && one->unit[1] == other->unit[1];
}

typedef struct part
{
	size_t		first;
	size_t		end;
	int32_t		periods;		/* of its unit, before it, that have rows that count */
	bool		has_rows;		/* that count, if it is taken */
	bool		is_taken;
} part;

/* The part that begins where the last one ends; false if there is none. */
static bool
next_part(const pe_units *units, const pe_periods_cut *periods, part *p)
{
	pe_wide_rows first;
	pe_u128		end = PE_WIDE_CELLS;

	if (p->end == units->entries)
		return false;
	first = entry_at(units, p->end);
	if (p->end > 0)
	{
		pe_wide_rows last = entry_at(units, p->first);

		p->periods = is_same_unit(&last, &first) ? p->periods + p->has_rows : 0;
	}
	if (periods != NULL)
		end = (first.cell / periods->cells + 1) * periods->cells;
	*p = (part) {.first = p->end, .end = p->end, .periods = p->periods,
		.is_taken = periods == NULL || p->periods < periods->most};
	for (pe_wide_rows next = first; is_same_unit(&next, &first) && next.cell < end; next = entry_at(units, p->end))
	{
		p->has_rows |= next.counted > 0;
		if (++p->end == units->entries)
			break;
	}
	return true;
}

static void
check_sorted(const pe_units *units)
{
	if (!units->sorted)
		pe_bug("units are counted before they are sorted");
}

/* ------------------------------------------------------------------
 * Which rows count
 * ------------------------------------------------------------------
 */

void
pe_units_choose(const pe_units *units, const pe_unit_keys *keys, int32_t max_rows, const pe_periods_cut *periods,
				void (*take) (void *argument, pe_u128 cell, bool counts), void *argument)
{
	chosen_rows chosen = {.max_rows = (size_t) max_rows};
	bool		wide = units->wide_cells != 0;

	check_sorted(units);
	set_chosen_room(&chosen, 64);
	for (part p = {0}; next_part(units, periods, &p);)
	{
		if (wide)
			wide_choose_rows(units->wide, p.first, p.end, keys->rank, &chosen);
		else
			narrow_choose_rows(units->entry, p.first, p.end, keys->rank, &chosen);
		for (size_t i = 0; i < chosen.count; i++)
		{
			size_t		entry = chosen.heap[i].entry;

			take(argument, wide ? units->wide[entry].cell : (uint32_t) units->entry[entry].cell,
				 !chosen.heap[i].dropped & p.is_taken);
		}
	}
	pe_wipe(chosen.heap, chosen.room * sizeof(*chosen.heap));
	pe_free(chosen.heap);
}

static void
check_cells(const pe_units *units, int32_t cells)
{
	if (units->wide_cells != 0)
		pe_bug("wide cells are counted one by one");
	for (size_t i = 0; i < units->entries; i++)
		if (units->entry[i].cell < 0 || units->entry[i].cell >= cells)
			pe_bug("a row in no cell");
}

static void
count_row(void *argument, pe_u128 cell, bool counts)
{
	((int64_t *) argument)[(int32_t) cell] += counts;
}

void
pe_units_count(const pe_units *units, const pe_unit_keys *keys, int32_t max_rows,
			   const pe_periods_cut *periods, int32_t cells, int64_t *count)
{
	check_cells(units, cells);
	pe_units_choose(units, keys, max_rows, periods, count_row, count);
}

/* ------------------------------------------------------------------
 * Which groups of cells count
 * ------------------------------------------------------------------
 */

/*
 * The groups of a unit: in the place of its hash the rank of each group, so that sorting ranks them, and
 * puts equal ones together; counted > 0: it counts.
 */
typedef struct ranked_groups
{
	pe_wide_rows *group;
	size_t		count;
	size_t		room;
} ranked_groups;

/* Room for a unit of so many entries; nothing is kept. */
static void
set_groups_room(ranked_groups *ranked, size_t room)
{
	if (ranked->room > 0)
		pe_wipe(ranked->group, ranked->room * sizeof(*ranked->group));
	pe_free(ranked->group);
	ranked->group = room > 0 ? pe_alloc(room, sizeof(*ranked->group)) : NULL;
	ranked->room = room;
}

/* SipHash(key, unit || group || 1) of each group of the entries, sorted. */
static void
rank_groups(const pe_units *units, const pe_unit_keys *keys, size_t first, size_t end,
			bool (*group) (void *argument, pe_u128 cell, pe_u128 *group), void *argument, ranked_groups *ranked)
{
	if (end - first > ranked->room)
		set_groups_room(ranked, end - first);
	for (size_t at = first; at < end; at++)
	{
		pe_wide_rows entry = entry_at(units, at);
		bool		counts = group(argument, entry.cell, &entry.cell);

		if (at % 4096 == 0)
			pe_poll();
		wide_rank_row(keys->rank, &entry, 1, entry.unit);
		entry.rows = 1;
		entry.counted = counts & (entry.counted > 0);
		ranked->group[at - first] = entry;
	}
	ranked->count = wide_put_together(ranked->group, end - first);
}

/*
 * Hands on up to `places` groups that count, or that do not; returns how many
 * places are left.  Of a part that is not taken none counts.
 */
static size_t
take_groups(const ranked_groups *ranked, bool counts, bool is_taken, size_t places, void *argument,
			void (*take) (void *argument, pe_u128 group, bool counts))
{
	for (size_t i = 0; i < ranked->count; i++)
	{
		const pe_wide_rows *group = &ranked->group[i];

		if ((group->counted > 0) == counts && places > 0)
		{
			take(argument, group->cell, counts & is_taken);
			places--;
		}
	}
	return places;
}

/* More entries than one stands for of the same group: what is left of them is put into the first. */
static void
put_large_groups_together(ranked_groups *ranked)
{
	size_t		together = 0;

	for (size_t i = 0; i < ranked->count; i++)
		if (together > 0 && ranked->group[together - 1].cell == ranked->group[i].cell)
			ranked->group[together - 1].counted |= ranked->group[i].counted;
		else
			ranked->group[together++] = ranked->group[i];
	ranked->count = together;
}

void
pe_units_choose_cells(const pe_units *units, const pe_unit_keys *keys, int32_t groups_per_unit,
					  const pe_periods_cut *periods,
					  bool (*group) (void *argument, pe_u128 cell, pe_u128 *group), void *argument,
					  void (*take) (void *argument, pe_u128 group, bool counts))
{
	ranked_groups ranked = {.count = 0};

	check_sorted(units);
	for (part p = {0}; next_part(units, periods, &p);)
	{
		size_t		places;

		rank_groups(units, keys, p.first, p.end, group, argument, &ranked);
		put_large_groups_together(&ranked);
		places = take_groups(&ranked, true, p.is_taken, (size_t) groups_per_unit, argument, take);
		(void) take_groups(&ranked, false, p.is_taken, places, argument, take);
	}
	set_groups_room(&ranked, 0);
}

void
pe_units_count_sizes(const pe_units *units, int32_t most, int64_t *count)
{
	check_sorted(units);
	for (part p = {0}; next_part(units, NULL, &p);)
	{
		uint64_t	rows = 0;

		for (size_t i = p.first; i < p.end; i++)
			rows += entry_at(units, i).counted;
		rows = rows < (uint64_t) most ? rows : (uint64_t) most;
		count[rows - (rows > 0)] += rows > 0;
	}
}

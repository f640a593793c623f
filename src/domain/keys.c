/*
 * keys.c
 *	  Keys by their numbers.  See keys.h.
 */
#include "domain/keys.h"

#include <string.h>

#include "base/cursor.h"

/* What a key of its own is made for. */
static const char purpose[] = "the keys of a column";

void
pe_key_secret_init(pe_key_secret *secret, const pe_unit_keys *keys)
{
	pe_siphash(keys->rank, purpose, sizeof(purpose), secret->key);
}

pe_u128
pe_key_number(const pe_key_secret *secret, const void *bytes, size_t size)
{
	uint64_t	hash[2];
	pe_u128		number;

	pe_siphash(secret->key, bytes, size, hash);
	number = ((pe_u128) hash[0] << 56) | hash[1] >> 8;
	return number + (number == 0);
}

/* Bits that the numbers of so many cells take. */
static int
cell_bits(int64_t cells)
{
	int			bits = 0;

	while (bits < 62 && INT64_C(1) << bits < cells)
		bits++;
	return bits;
}

pe_u128
pe_value_number(const pe_key_secret *secret, int64_t cell, int64_t cells, const void *bytes, size_t size)
{
	int			bits = cell_bits(cells);
	pe_u128		hash = pe_key_number(secret, bytes, size) >> bits;

	return (hash + (hash == 0)) << bits | (pe_u128) cell;
}

/* ------------------------------------------------------------------
 * Counts
 * ------------------------------------------------------------------
 */

/* Entries of the first allocation. */
#define FIRST_ROOM 1024

void
pe_key_counts_init(pe_key_counts *counts, size_t limit)
{
	*counts = (pe_key_counts) {.limit = limit > 0 ? limit : 1};
}

static void
wipe_and_free(pe_key_count *entry, size_t room)
{
	if (entry != NULL)
		pe_wipe(entry, room * sizeof(*entry));
	pe_free(entry);
}

void
pe_key_counts_free(pe_key_counts *counts)
{
	wipe_and_free(counts->entry, counts->room);
	wipe_and_free(counts->spare, counts->room);
	counts->entry = counts->spare = NULL;
	counts->entries = counts->room = 0;
}

void
pe_key_counts_reserve(pe_key_counts *counts, size_t entries)
{
	pe_key_counts old = *counts;

	if (entries <= old.room)
		return;
	counts->entry = pe_alloc(entries, sizeof(*counts->entry));
	counts->room = entries;
	if (old.entries > 0)
		memcpy(counts->entry, old.entry, old.entries * sizeof(*old.entry));
	wipe_and_free(old.entry, old.room);
}

void
pe_key_counts_make_room(pe_key_counts *counts)
{
	size_t		twice = counts->room == 0 ? FIRST_ROOM : 2 * counts->room;

	if (counts->entries < counts->room)
		return;
	if (counts->room >= counts->limit)
	{
		pe_key_counts_settle(counts);
		if (counts->entries <= counts->room / 2)
			return;
		counts->limit = twice;
	}
	pe_key_counts_reserve(counts, twice < counts->limit ? twice : counts->limit);
}

/*
 * So many of their first bytes nearly always distinguish numbers; the rest is
 * for insertion.
 */
#define NUMBER_BYTES 15
#define SORTED_BYTES 5

static inline unsigned
byte_of(const pe_key_count *entry, int level)
{
	return (unsigned) (entry->number >> (8 * (NUMBER_BYTES - 1 - level))) & 0xff;
}

/* One pass of a radix sort that begins with the last byte: as long for one key as for many. */
static void
distribute(const pe_key_count *from, pe_key_count *to, size_t entries, int level)
{
	size_t		next[257] = {0};

	for (size_t i = 0; i < entries; i++)
		next[byte_of(&from[i], level) + 1]++;
	for (int byte = 0; byte < 256; byte++)
		next[byte + 1] += next[byte];
	for (size_t i = 0; i < entries; i++)
		to[next[byte_of(&from[i], level)]++] = from[i];
}

/* Those that have the first bytes in common are nearly always of one key. */
static void
insert_rest(pe_key_count *entry, size_t entries)
{
	for (size_t i = 1; i < entries; i++)
	{
		pe_key_count moved = entry[i];
		size_t		to = i;

		if (i % 256 == 0)
			pe_poll();
		for (; to > 0 && moved.number < entry[to - 1].number; to--)
			entry[to] = entry[to - 1];
		entry[to] = moved;
	}
}

/* Where it is cancelled, both halves are wiped with the counts. */
static void
sort_counts(pe_key_counts *counts)
{
	counts->spare = pe_alloc(counts->room, sizeof(*counts->spare));
	for (int level = SORTED_BYTES - 1; level >= 0; level--)
	{
		pe_key_count *sorted = counts->spare;

		pe_poll();
		distribute(counts->entry, sorted, counts->entries, level);
		counts->spare = counts->entry;
		counts->entry = sorted;
	}
	insert_rest(counts->entry, counts->entries);
	wipe_and_free(counts->spare, counts->room);
	counts->spare = NULL;
}

void
pe_key_counts_settle(pe_key_counts *counts)
{
	pe_key_count *entry;
	size_t		together = 0;

	if (counts->entries == 0)
		return;
	sort_counts(counts);
	entry = counts->entry;
	for (size_t i = 1; i < counts->entries; i++)
	{
		if (entry[i].number != entry[together].number)
			entry[++together] = entry[i];
		else if ((entry[together].count += entry[i].count) > PE_KEY_ROWS)
			entry[together].count = PE_KEY_ROWS;	/* of states that no scan has made */
	}
	counts->entries = together + 1;
	if (entry[0].number == 0)
		entry[0].count = 0;
}

void
pe_key_counts_fill(pe_key_counts *counts, size_t slots)
{
	pe_key_counts_reserve(counts, slots);
	while (counts->entries < slots)
		counts->entry[counts->entries++] = (pe_key_count) {0, 0};
}

/* A cell that there is not is in states alone that no scan has made. */
void
pe_key_counts_values(const pe_key_counts *counts, int64_t cells, int64_t *values)
{
	const uint64_t mask = (UINT64_C(1) << cell_bits(cells)) - 1;

	for (size_t i = 0; i < counts->entries; i++)
	{
		uint64_t	cell = (uint64_t) counts->entry[i].number & mask;
		bool		is_value = counts->entry[i].number != 0 && cell < (uint64_t) cells;

		values[is_value ? cell : 0] += is_value;
	}
}

size_t
pe_key_counts_size(const pe_key_counts *counts)
{
	return counts->entries * sizeof(*counts->entry);
}

void
pe_key_counts_write(const pe_key_counts *counts, char *bytes)
{
	if (counts->entries > 0)
		memcpy(bytes, counts->entry, pe_key_counts_size(counts));
}

static bool
entry_is_sound(const pe_key_count *entry, uint32_t range, uint32_t ranges)
{
	return entry->number > 0 && entry->number < PE_KEY_NUMBERS && pe_key_in_range(entry->number, range, ranges) &&
		entry->count >= 1 && entry->count <= PE_KEY_ROWS;
}

bool
pe_key_counts_read(pe_key_counts *counts, uint32_t range, uint32_t ranges, const char *bytes, size_t size)
{
	pe_key_count entry;

	if (size % sizeof(entry) != 0)
		return false;
	for (size_t at = 0; at < size; at += sizeof(entry))
	{
		memcpy(&entry, bytes + at, sizeof(entry));
		if (!entry_is_sound(&entry, range, ranges))
			return false;
		pe_key_counts_add(counts, entry.number, entry.count);
	}
	return true;
}

/* ------------------------------------------------------------------
 * Names
 * ------------------------------------------------------------------
 */

void
pe_key_names_init(pe_key_names *names, const pe_u128 *number, int32_t numbers)
{
	*names = (pe_key_names) {number, numbers, pe_alloc((size_t) numbers + 1, sizeof(pe_key_name))};
}

void
pe_key_names_free(pe_key_names *names)
{
	for (int32_t i = 0; names->name != NULL && i < names->numbers; i++)
		pe_free(names->name[i].bytes);
	pe_free(names->name);
	memset(names, 0, sizeof(*names));
}

bool
pe_key_numbers_are_sound(const pe_u128 *number, int32_t numbers)
{
	for (int32_t i = 0; i < numbers; i++)
		if (number[i] <= (i > 0 ? number[i - 1] : 0) || number[i] >= PE_KEY_NUMBERS)
			return false;
	return true;
}

int32_t
pe_key_number_find(const pe_u128 *number, int32_t numbers, pe_u128 sought)
{
	int32_t		low = 0;
	int32_t		high = numbers;

	while (low < high)
	{
		int32_t		middle = low + (high - low) / 2;

		if (number[middle] < sought)
			low = middle + 1;
		else
			high = middle;
	}
	return low < numbers && number[low] == sought ? low : -1;
}

/* Bytes in the order of memcmp, a prefix first. */
static bool
is_before(const char *bytes, size_t size, const pe_key_name *name)
{
	int			order = memcmp(bytes, name->bytes, size < name->size ? size : name->size);

	return order < 0 || (order == 0 && size < name->size);
}

static void
keep_name(pe_key_name *name, const char *bytes, size_t size)
{
	if (name->bytes != NULL && !is_before(bytes, size, name))
		return;
	pe_free(name->bytes);
	name->bytes = pe_alloc(size + 1, 1);
	if (size > 0)
		memcpy(name->bytes, bytes, size);
	name->size = (uint32_t) size;
}

void
pe_key_names_add(pe_key_names *names, pe_u128 number, const char *bytes, size_t size)
{
	int32_t		at = pe_key_number_find(names->number, names->numbers, number);

	if (at >= 0)
		keep_name(&names->name[at], bytes, size);
}

size_t
pe_key_names_size(const pe_key_names *names)
{
	size_t		size = (size_t) names->numbers * sizeof(uint32_t);

	for (int32_t i = 0; i < names->numbers; i++)
		size += names->name[i].bytes != NULL ? names->name[i].size : 0;
	return size;
}

void
pe_key_names_write(const pe_key_names *names, char *bytes)
{
	for (int32_t i = 0; i < names->numbers; i++)
	{
		const pe_key_name *name = &names->name[i];
		uint32_t	stored = name->bytes != NULL ? name->size + 1 : 0;

		memcpy(bytes, &stored, sizeof(stored));
		bytes += sizeof(stored);
		if (stored > 1)
			memcpy(bytes, name->bytes, name->size);
		bytes += stored > 1 ? name->size : 0;
	}
}

bool
pe_key_names_read(pe_key_names *names, const char *bytes, size_t size)
{
	pe_cursor	from = {bytes, size};

	for (int32_t i = 0; i < names->numbers; i++)
	{
		uint32_t	stored;

		if (!pe_take(&from, &stored, sizeof(stored)) || stored > PE_KEY_MOST + 1 ||
			(stored > 0 && stored - 1 > from.left))
			return false;
		if (stored == 0)
			continue;
		keep_name(&names->name[i], from.at, stored - 1);
		from.at += stored - 1;
		from.left -= stored - 1;
	}
	return from.left == 0;
}

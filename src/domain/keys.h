/*
 * keys.h
 *	  Keys: the values of a column that nobody has listed.
 *
 * A key stands for its number: 120 bits of its SipHash under a key that follows from the
 * dataset's own (base/prf.h), so that no writer of rows knows numbers, or can make two of
 * them meet or one range of them full.  Two keys with the same number would be counted as
 * one; among 2^30 keys that has a chance below 2^-60.  Number 0 stands for no key: a row
 * whose value is NULL, NaN, infinite or longer than PE_KEY_MOST bytes.
 *
 * What is collected of a key is its number alone, so that nothing in memory has the length
 * of a key; the keys themselves are read when it is decided which of them leave
 * (pe_key_names).
 *
 * Where values are counted by cells (pe_value_number), the cell is the last bits of a number,
 * and the others are of the same hash.  Of at most 2^26 cells that leaves 94 bits: among
 * 2^30 values of one cell two that meet have a chance below 2^-35.  Then one value less is
 * counted, and no sensitivity is larger: a row stands for one number in any case.
 */
#ifndef PE_DOMAIN_KEYS_H
#define PE_DOMAIN_KEYS_H

#include <stdbool.h>

#include "base/mem.h"
#include "domain/units.h"

/* The most bytes of a key. */
#define PE_KEY_MOST 1024

/* Numbers are below this. */
#define PE_KEY_NUMBERS PE_WIDE_CELLS

/* No table has more rows (2^32 blocks of 291): a count is never larger. */
#define PE_KEY_ROWS (UINT64_C(1) << 41)

typedef struct pe_key_secret
{
	uint64_t	key[2];
} pe_key_secret;

extern void pe_key_secret_init(pe_key_secret *secret, const pe_unit_keys *keys);

/* The number of a key by its bytes, never 0. */
extern pe_u128 pe_key_number(const pe_key_secret *secret, const void *bytes, size_t size);

/* The number of a value in one of so many cells, never 0. */
extern pe_u128 pe_value_number(const pe_key_secret *secret, int64_t cell, int64_t cells, const void *bytes,
							   size_t size);

/* Whether a number is in one of so many equal ranges. */
static inline bool
pe_key_in_range(pe_u128 number, uint32_t range, uint32_t ranges)
{
	return ((pe_u128) (uint64_t) (number >> 56) * ranges) >> 64 == range;
}

/* ----------
 * Counts of keys by their numbers
 *
 * Rows are appended one by one, and put together when there are as many as limit, or at the end: how
 * much memory that takes, and what is done, follows from the number of rows and not from
 * that of keys.
 * ----------
 */
typedef struct pe_key_count
{
	pe_u128		number;			/* 0: none */
	uint64_t	count;
} pe_key_count;

typedef struct pe_key_counts
{
	pe_key_count *entry;
	size_t		entries;
	size_t		room;
	size_t		limit;			/* before equal numbers are put together */
	pe_key_count *spare;		/* as much room, while they are */
} pe_key_counts;

extern void pe_key_counts_init(pe_key_counts *counts, size_t limit);

/* Room for one more entry: by putting equal numbers together, or more memory.  For `entries` in all. */
extern void pe_key_counts_make_room(pe_key_counts *counts);
extern void pe_key_counts_reserve(pe_key_counts *counts, size_t entries);

static inline void
pe_key_counts_add(pe_key_counts *counts, pe_u128 number, uint64_t count)
{
	if (counts->entries == counts->room)
		pe_key_counts_make_room(counts);
	counts->entry[counts->entries++] = (pe_key_count) {number, count};
}

/* Fills entries up to a number of slots with such as have no key. */
extern void pe_key_counts_fill(pe_key_counts *counts, size_t slots);

/* Sorts by number and puts equal ones together; number 0 has no count.  The time follows from the number of entries. */
extern void pe_key_counts_settle(pe_key_counts *counts);

/* The entries as bytes and back: appended; false for bytes that cannot be entries of the range. */
extern size_t pe_key_counts_size(const pe_key_counts *counts);
extern void pe_key_counts_write(const pe_key_counts *counts, char *bytes);
extern bool pe_key_counts_read(pe_key_counts *counts, uint32_t range, uint32_t ranges, const char *bytes, size_t size);

/*
 * Of numbers of pe_value_number, settled: adds to each cell how many values it has.  The time
 * follows from the number of entries.
 */
extern void pe_key_counts_values(const pe_key_counts *counts, int64_t cells, int64_t *values);

/* Wipes and frees; it may come twice. */
extern void pe_key_counts_free(pe_key_counts *counts);

/* ----------
 * The keys of some numbers
 * ----------
 */
typedef struct pe_key_name
{
	char	   *bytes;			/* NULL: not met yet */
	uint32_t	size;
} pe_key_name;

typedef struct pe_key_names
{
	const pe_u128 *number;		/* ascending, the caller's */
	int32_t		numbers;
	pe_key_name *name;			/* of each */
} pe_key_names;

extern void pe_key_names_init(pe_key_names *names, const pe_u128 *number, int32_t numbers);

/* Whether numbers ascend strictly and are numbers of keys. */
extern bool pe_key_numbers_are_sound(const pe_u128 *number, int32_t numbers);

/* The place of a number among so many that ascend, or -1. */
extern int32_t pe_key_number_find(const pe_u128 *number, int32_t numbers, pe_u128 sought);

/* A key by its number and bytes: kept if the number is looked for; of two keys with one number the smaller one. */
extern void pe_key_names_add(pe_key_names *names, pe_u128 number, const char *bytes, size_t size);

/* As bytes and back: for each number the size and 1 more (0: not met), then the bytes.  Added to what is there. */
extern size_t pe_key_names_size(const pe_key_names *names);
extern void pe_key_names_write(const pe_key_names *names, char *bytes);
extern bool pe_key_names_read(pe_key_names *names, const char *bytes, size_t size);

extern void pe_key_names_free(pe_key_names *names);

#endif

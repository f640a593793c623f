/*
 * units.h
 *	  Which rows count, where a unit of privacy may have several.
 *
 * Of a unit's rows that no predicate, NULL or value outside has dropped, the k
 * with the smallest SipHash(dataset key, unit || cell || j) count (base/prf.h),
 * j = 1, 2, ... numbering the unit's equal rows, those in one cell: 4 bytes, or
 * 16 of a wide one.  So the counts are the sum over units of a function of the
 * unit's own rows: what is added to them by one unit is some x in N^n with
 * sum x <= k, for any other rows, and that is what the sensitivity is for
 * (strategy/strategy.h).  The same rows are kept in every order of reading, by
 * every worker, in every partition.
 *
 * A unit stands for its 128-bit SipHash under the first half of the dataset's
 * key, rows are ranked under the second.  Two units with the same hash would be
 * cut as one, and a neighbour then reaches 2k; with 2^30 units that has a
 * chance below 2^-68, over the key, which no writer of rows knows.  Two rows of
 * a unit with the same rank, which are as rare, may be chosen by their order:
 * as many count, and Delta is the same.
 *
 * What is kept of a row is its unit, its cell and whether it counts.  One that
 * is dropped has the cell that it would be in, with a cell of 0 for an
 * attribute that drops it, and is stored, sorted, ranked and chosen like any
 * other: only behind all that count, so that it takes no place of theirs, and
 * it adds 0 to its cell at the end.  Equal rows are put together whether they
 * count or not, so a state has as many entries under every predicate.  Where
 * that is more memory than allowed, the table is read several times, each time
 * for the units in one range of the hash: a number of times that follows from
 * the size of the table.  The hash is random to the writers of the rows, so a
 * range has the rows of its share of the units.  One unit takes an
 * entry per cell and 65535 rows at most.
 *
 * No memory limit here fails, for that would be an answer about the rows; a
 * range that holds more than expected takes more than expected.  Every row is
 * hashed, for its rank too, whether or not it is dropped or its unit has more
 * than k, so that time shows little of that: what is left is the order that
 * rows come in, and, for a unit with more than k rows and some of them dropped,
 * at most k places to be found anew.
 *
 * People are counted by another cut of the same rows (pe_units_choose_cells).
 * A group is a set of cells.  Of the groups in which a unit has rows that
 * count, each is kept once, and at most m: those with the smallest
 * SipHash(dataset key, unit || group || 1), the group in 16 bytes.  So one unit
 * adds at most m distinct groups, each once, for any other rows:
 * strategy/people.c has the sensitivity of that.  It is a function of the
 * unit's own rows and of the groups, for any other distinction that the cells
 * make.  Every entry is mapped, hashed and sorted by its hash, whether its rows
 * count or not, and the groups of dropped rows fill the places that are left:
 * the work is the same under every predicate.
 *
 * Where rows come from a join that multiplies them, the size of its tables does not bound how
 * many cells a unit has rows in.  Then most_cells does: of a unit the rows of at most so many
 * cells are kept, dropped ones like any other, those of the cells with the smallest
 * SipHash(dataset key, unit || cell || 0).  A cell that is among the first of all of a unit's
 * cells is among the first of every part of them, so it is never left out on the way, and
 * what is kept in the end is a function of the unit's own rows: the cut that follows sees all
 * rows of these cells.  So all that is said here of a unit's rows holds for those.
 *
 * How many units have so many rows is the third (pe_units_count_sizes): a unit
 * adds one to one cell.
 *
 * Where periods distinguish cells (pe_periods_cut), rows and groups are cut in
 * each period by itself, and those of the first p periods of a unit that have
 * rows that count are taken.  So a unit adds in each period some x in N^n with
 * sum x <= k, or m distinct groups, and nothing but in p periods, for any other
 * rows.  Which periods these are does not change with what comes in later ones:
 * time/continual.h asks for that.
 */
#ifndef PE_DOMAIN_UNITS_H
#define PE_DOMAIN_UNITS_H

#include <stdbool.h>

#include "base/mem.h"
#include "base/prf.h"

/* Bytes of a dataset's key. */
#define PE_UNIT_KEY 32

/*
 * How to cut: what the reader of the rows is given, as bytes of this machine.
 * It holds the key.
 */
typedef struct pe_cut
{
	uint8_t		key[PE_UNIT_KEY];
	int64_t		limit;			/* entries that a state has room for before equal rows are put together */
	int64_t		most_cells;		/* of a unit, whose rows are read; 0: all */
	int32_t		max_rows;		/* k */
	uint32_t	range;			/* of so many: units of this range of the hash are counted */
	uint32_t	ranges;
	/*
	 * 1: wherever a state comes from, it holds all rows of its units or none,
	 * so that it is cut before it travels
	 */
	uint32_t	whole;
} pe_cut;

/* So many rows of one unit in one cell, and how many of them count. */
typedef struct pe_unit_rows
{
	uint64_t	unit[2];
	int32_t		cell;
	uint16_t	rows;
	uint16_t	counted;
} pe_unit_rows;

/* The same in a cell whose number needs more than 31 bits: a product of many attributes. */
typedef struct pe_wide_rows
{
	uint64_t	unit[2];
	pe_u128		cell;
	uint32_t	rows;
	uint32_t	counted;
} pe_wide_rows;

/* The most cells of a product. */
#define PE_WIDE_CELLS ((pe_u128) 1 << 120)

/* The rows of one range of units. */
typedef struct pe_units
{
	union
	{
		void	   *memory;
		pe_unit_rows *entry;	/* narrow */
		pe_wide_rows *wide;
	};
	pe_u128		wide_cells;		/* 0: cells are narrow */
	size_t		entries;
	size_t		room;
	size_t		limit;
	size_t		most_cells;		/* of a unit; 0: all */
	uint64_t	rank[2];		/* of pe_unit_keys, where cells are ranked */
	bool		sorted;			/* by unit and cell, equal ones together */
} pe_units;

/* How periods distinguish cells. */
typedef struct pe_periods_cut
{
	pe_u128		cells;			/* of each period, one after the other */
	int32_t		most;			/* periods of a unit: the first that have rows that count */
} pe_periods_cut;

/* What follows from the key. */
typedef struct pe_unit_keys
{
	uint64_t	hash[2];
	uint64_t	rank[2];
} pe_unit_keys;

/* What all states of one scan have in common, and each must know to be counted. */
typedef struct pe_units_frame
{
	pe_unit_keys keys;
	int64_t		limit;			/* as in a cut, like max_rows */
	int32_t		max_rows;
	int32_t		cells;			/* 0: they are wide */
} pe_units_frame;

/* Whether bytes of the right size can be a cut. */
extern bool pe_cut_is_sound(const pe_cut *cut);

/*
 * Into how many ranges a table of at most rows rows is divided, and how many
 * entries of so many bytes a state may then have, for `memory` bytes in all processes together.
 */
extern void pe_cut_divide(pe_cut *cut, uint64_t rows, size_t memory, size_t entry);

extern void pe_unit_keys_init(pe_unit_keys *keys, const pe_cut *cut);

/* The hash of a unit given by its bytes, and whether it is in the range of the cut. */
extern void pe_unit_hash(const pe_unit_keys *keys, const void *bytes, size_t size, uint64_t unit[2]);
extern bool pe_unit_in_range(const pe_cut *cut, const uint64_t unit[2]);

/*
 * limit: as in a cut.  An empty state of narrow cells; of a product of at most
 * PE_WIDE_CELLS, narrow if their numbers fit an int32.
 */
extern void pe_units_init(pe_units *units, size_t limit);
extern void pe_units_init_product(pe_units *units, size_t limit, pe_u128 cells);

/* Bytes of an entry for a product of so many cells. */
extern size_t pe_unit_entry_size(pe_u128 cells);

/* Of a unit the rows of so many cells are kept, as pe_units_sort and pe_units_merge leave them; 0: of all. */
extern void pe_units_limit_cells(pe_units *units, const pe_unit_keys *keys, size_t most_cells);

/* Room for one more entry: by putting equal rows together, or more memory. */
extern void pe_units_make_room(pe_units *units);

/* Adds a row that counts, or one that is dropped and would be in the cell; there must be room for it. */
static inline void
pe_units_add(pe_units *units, const uint64_t unit[2], int32_t cell, bool counts)
{
	pe_unit_rows *entry = &units->entry[units->entries++];

	entry->unit[0] = unit[0];
	entry->unit[1] = unit[1];
	entry->cell = cell;
	entry->rows = 1;
	entry->counted = counts;
	units->sorted = false;
}

static inline void
pe_units_add_wide(pe_units *units, const uint64_t unit[2], pe_u128 cell, bool counts)
{
	units->wide[units->entries++] = (pe_wide_rows) {.unit = {unit[0], unit[1]}, .cell = cell,
		.rows = 1, .counted = counts};
	units->sorted = false;
}

/* Sorts by unit and cell and puts equal rows together. */
extern void pe_units_sort(pe_units *units);

/*
 * Leaves one row of each unit in each cell, which counts if any of them does: what is chosen then
 * are cells of a unit, and adds at most 1 to a cell.  Units are sorted.
 */
extern void pe_units_once(pe_units *units);

/* Adds the rows of other, which is wiped and freed, to units; both sorted. */
extern void pe_units_merge(pe_units *units, pe_units *other);

/*
 * Hands on the rows that are chosen, in any order, and whether each counts: a unit's dropped rows
 * fill its places.  As many are handed on under every predicate.  periods: NULL if cells have none.  Units are sorted.
 */
extern void pe_units_choose(const pe_units *units, const pe_unit_keys *keys, int32_t max_rows,
							const pe_periods_cut *periods,
							void (*take) (void *argument, pe_u128 cell, bool counts), void *argument);

/*
 * Adds the rows that count to count, which has so many cells; periods as above; units are sorted.
 * pe_bug for a cell that is not among them.
 */
extern void pe_units_count(const pe_units *units, const pe_unit_keys *keys, int32_t max_rows,
						   const pe_periods_cut *periods, int32_t cells, int64_t *count);

/*
 * Hands on the groups that are chosen, in any order, and whether each counts:
 * at most groups_per_unit of each unit, or of each of its periods, no group of
 * a unit twice.  group: sets the group of a cell, whether or not it returns
 * that the cell counts in it; it depends on the cell alone, and distinguishes
 * periods where there are any.  As many groups are handed on under every
 * predicate.  Units are sorted.
 */
extern void pe_units_choose_cells(const pe_units *units, const pe_unit_keys *keys,
								  int32_t groups_per_unit, const pe_periods_cut *periods,
								  bool (*group) (void *argument, pe_u128 cell, pe_u128 *group), void *argument,
								  void (*take) (void *argument, pe_u128 group, bool counts));

/*
 * Adds each unit with s > 0 rows that count to count[min(s, most) - 1]; units are sorted, and no row is cut.
 */
extern void pe_units_count_sizes(const pe_units *units, int32_t most, int64_t *count);

/*
 * A state as bytes of this machine and back; units are sorted.  pe_units_read makes
 * units; false, with units empty, for bytes that no pe_units_write wrote: every entry is
 * checked, and the order that merging and counting rely on.
 */
extern size_t pe_units_size(const pe_units *units);
extern void pe_units_write(const pe_units_frame *frame, const pe_units *units, char *bytes);
extern bool pe_units_read(pe_units_frame *frame, pe_units *units, const char *bytes, size_t size);

/* Wipes and frees. */
extern void pe_units_free(pe_units *units);

#endif

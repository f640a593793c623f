/*
 * accumulator.h
 *	  What one scan collects: counts, counts of units, sizes of units, sums of
 *	  numbers, the same by keys, sums of a pass, rows of a model, rows of a piecewise
 *	  affine function, or keys that nobody has listed, alone or by cells.
 *
 * The scan gives an accumulator a specification (what a row is, by a
 * pe_reading) and, where the rows of units are cut, a pe_cut with its key.
 * Together they choose the kind of the accumulator, one entry of a table of
 * operations (kinds.h).
 *
 * A specification, a cut and a state as bytes may come from anybody: a role
 * that may create an aggregate can hand its transition function a state of its
 * own making.  So bytes have no pointers, every field of them is checked before
 * it is used, and what is refused is refused whole.  A sound state that no scan
 * has made gives sums that no table has, and does nothing else: numbers are
 * bounded, so that no sum of two states overflows unseen.
 *
 * Where all rows of a unit are in one state (pe_cut.whole) the state is cut
 * before it travels: its body is counts or sums, and the rows of units stay
 * where they are.  The sum of what is cut is then what cutting the sum would
 * give, since a cut looks at one unit at a time.  Rows of a model that are
 * wanted themselves, and keys, travel as they are.
 *
 * A state as bytes of this machine: a head with the cut, the specification, and
 * the body of its kind.  Bytes of a machine with the other order of bytes are
 * refused.
 *
 * Which rows of a unit count, and what one unit adds: domain/units.h,
 * glm/row_tiles.h.  What one row adds: glm/pass.h.
 */
#ifndef PE_ACCUMULATOR_ACCUMULATOR_H
#define PE_ACCUMULATOR_ACCUMULATOR_H

#include "affine/affine.h"
#include "domain/keys.h"
#include "domain/predicate.h"
#include "domain/sums.h"
#include "domain/tables.h"
#include "domain/times.h"
#include "domain/units.h"
#include "glm/pass.h"
#include "glm/row_spec.h"

/* What a row is. */
typedef enum pe_reading
{
	PE_READ_CELLS = 1,			/* a cell of a domain: behind the head a selection (domain/predicate.h) */
	PE_READ_MODEL,				/* a row of a model: a row specification (glm/row_spec.h), maybe a pass behind it */
	PE_READ_AFFINE,				/* slopes and an offset: an affine specification; there is no cut */
	PE_READ_TABLES,				/* a cell of each of several tables: tables and a selection (domain/tables.h) */
	PE_READ_SUMS,				/* the same with numbers and conditions: sums (domain/sums.h) */
	/*
	 * one of so many rows of its unit: a pe_sizes_spec, and a selection without
	 * attributes but those watched; there is a cut
	 */
	PE_READ_SIZES,
	/*
	 * a key that nobody has listed, which is counted: a pe_key_spec, and where a
	 * cell is part of the key, or a predicate selects rows, a selection; always with a cut
	 */
	PE_READ_KEYS,
	/*
	 * the same, but only those of some numbers: a pe_key_names_spec, the numbers,
	 * and the same selection; likewise with a cut
	 */
	PE_READ_KEY_NAMES,
	/*
	 * a cell of each of several tables of a domain whose first attribute is a
	 * period of time: a pe_periods_spec, tables and a selection; there is a cut
	 */
	PE_READ_PERIODS,
	/*
	 * the same as of PE_READ_SUMS, of a domain whose first attribute has a cell for each of some keys, ascending by
	 * their numbers: a pe_key_sums_spec, the numbers, a selection as of PE_READ_KEYS, and the sums; likewise with a cut
	 */
	PE_READ_KEY_SUMS,
	/*
	 * a value that nobody has listed, beside the cell of a row for sums: a
	 * pe_key_spec, whose keys are these pairs, and sums of one table, which is
	 * PE_SUM_OPEN (domain/sums.h); likewise with a cut
	 */
	PE_READ_VALUES,
	/*
	 * the same beside a key of PE_READ_KEY_SUMS: a pe_key_spec, and what that reading has, of
	 * one table, which is PE_SUM_OPEN
	 */
	PE_READ_KEY_VALUES
} pe_reading;

/*
 * Bytes of a specification before what its reading defines, and what writes
 * them: of all rows, until they are limited.
 */
#define PE_READING_HEAD 32
extern void pe_reading_write(pe_reading reading, char *bytes);
extern void pe_reading_limit(char *bytes, const pe_times *times);

/* What the reading of a specification is; 0: that is none. */
extern pe_reading pe_reading_read(const char *bytes, size_t size);

/*
 * Units are counted by how many rows that count they have: 1, 2, ... most,
 * where those with more are too.  No row is cut: one unit is in one cell, or in
 * none (pe_units_count_sizes).
 */
#define PE_SIZES_MOST 65535

typedef struct pe_sizes_spec
{
	int64_t		most;			/* 1 to PE_SIZES_MOST */
} pe_sizes_spec;

/* A unit's rows count in so many of its periods, the first that have rows that count (pe_periods_cut). */
typedef struct pe_periods_spec
{
	int64_t		most;			/* 1 to INT32_MAX */
} pe_periods_spec;

typedef struct pe_accumulator_kind pe_accumulator_kind;

/* Which keys are counted. */
typedef struct pe_key_spec
{
	uint32_t	of_units;		/* 1: of each unit the cut's max_rows, each once; 0: each row is a unit of its own */
	uint32_t	range;			/* of their numbers, of so many */
	uint32_t	ranges;
	uint32_t	more;			/* open columns of a key, beside the first; 0 of values */
	uint64_t	limit;			/* entries before equal numbers are put together */
	uint32_t	beside;			/* values behind the first that are no part of a key, nor select */
	uint32_t	unused;
} pe_key_spec;

typedef struct pe_key_names_spec
{
	uint32_t	more;			/* likewise */
	uint32_t	numbers;
	uint32_t	beside;
	uint32_t	unused;
} pe_key_names_spec;

typedef struct pe_key_sums_spec
{
	uint32_t	of_units;		/* likewise; 1: the cut's max_rows rows of each unit */
	uint32_t	more;
	uint32_t	numbers;
	uint32_t	selection;		/* its bytes; 0: there is none */
} pe_key_sums_spec;

/* The most open columns of a key. */
#define PE_KEY_COLUMNS 8

/*
 * Rows of PE_READ_TABLES, _PERIODS and _SUMS before they are counted.  Each table
 * is counted from all of them at a time, so that it stays in the cache; a step
 * is no power of two, so that the attributes of a row do not share a line of
 * it.
 */
#define PE_GATHERED_ROWS 4096
#define PE_GATHERED_STEP (PE_GATHERED_ROWS + 16)

typedef struct pe_gathered
{
	int32_t		rows;
	int32_t    *coordinate;		/* of attribute a in row r: [a * PE_GATHERED_STEP + r] */
	int32_t    *place;			/* where rows are in parts of a table */
	uint8_t    *counts;			/* of each row: 1 if it counts, else 0 */

	/* PE_READ_SUMS */
	int32_t    *number;			/* number n of row r: [n * PE_GATHERED_STEP + r] */
	uint64_t   *has;			/* of each row: PE_HAS_... */
	int64_t    *weight;			/* what each row adds to one sum */
} pe_gathered;

typedef struct pe_accumulator
{
	const pe_accumulator_kind *kind;	/* NULL: freed */
	pe_reading	reading;
	char	   *spec;			/* as it was given; what is below points into it */
	pe_times	times;
	size_t		spec_size;
	bool		has_cut;
	bool		is_cut;			/* its units have been cut, to travel: no row can be added */
	pe_cut		cut;			/* zeros without one */
	pe_unit_keys keys;

	/* PE_READ_CELLS, PE_READ_TABLES, PE_READ_SUMS, PE_READ_SIZES, PE_READ_PERIODS and PE_READ_KEY_SUMS */
	int32_t		max_periods;	/* of PE_READ_PERIODS, and of PE_READ_SUMS of a series; 0: none */
	pe_domain	domain;
	pe_predicate predicate;		/* steps 0: none */
	pe_tables	tables;			/* not of PE_READ_CELLS and PE_READ_SIZES */
	pe_gathered gathered;		/* the same */
	pe_sums		summed;			/* of PE_READ_SUMS and PE_READ_KEY_SUMS, and readings of values */
	int64_t		cells;			/* that are counted, of all tables; sizes */
	int64_t    *count;			/* of each; NULL with a cut, until it is finished */
	pe_units	units;			/* with a cut */

	/* PE_READ_MODEL */
	pe_row_spec model;
	char	   *pass_bytes;		/* NULL: the rows themselves are wanted */
	pe_pass		pass;
	pe_i128    *sum;			/* of the pass; NULL with a cut, until it is finished */
	size_t		sums;
	pe_rows		rows;
	pe_rows		spare;			/* rows that are dropped are written down here, for the time it takes */
	uint64_t	dropped;		/* rows that were read and not collected */

	/* PE_READ_AFFINE */
	pe_affine_spec affine_spec;
	pe_affine	affine;

	/* Readings of keys and values; rows of units are in units above until they are cut */
	pe_domain	key_domain;		/* what is part of a key, and what is watched */
	pe_predicate key_predicate;	/* steps 0: none */
	pe_key_secret key_secret;
	pe_key_spec key_spec;
	pe_key_counts key_counts;
	pe_u128    *key_number;		/* those that are wanted */
	pe_key_names key_names;
	int32_t		key_numbers;	/* of PE_READ_KEY_SUMS and PE_READ_KEY_VALUES */
	bool		key_of_rows;	/* likewise: each row is a unit of its own; the cut has the key of numbers */
} pe_accumulator;

/*
 * An empty accumulator of what it is given; cut may be NULL.  False, with
 * nothing left allocated, if the specification or the cut is unsound.  What it
 * allocates, here and later, is pe_accumulator_free's.
 */
extern bool pe_accumulator_begin(pe_accumulator *a, const char *spec, size_t size, const pe_cut *cut);

/* Overwrites what is exact or secret, and frees everything.  It may come twice. */
extern void pe_accumulator_free(pe_accumulator *a);

/* Whether sums of numbers are collected. */
static inline bool
pe_accumulator_sums(const pe_accumulator *a)
{
	return a->reading == PE_READ_SUMS || a->reading == PE_READ_KEY_SUMS;
}

/* Whether the rows of units are collected until they are cut. */
static inline bool
pe_accumulator_cuts(const pe_accumulator *a)
{
	return a->has_cut && !a->key_of_rows;
}

/* ---- Rows ---- */

/* A row in a cell; one that does not count adds nothing, in the same time.  Without a cut. */
static inline void
pe_accumulator_add_cell(pe_accumulator *a, int32_t cell, bool counts)
{
	a->count[cell] += counts;
}

/*
 * A row of a unit, by its hash, in a cell, if the unit is in the cut's range.  Before it, and before
 * the next function, pe_accumulator_needs_room says whether pe_units_make_room has to come first.
 */
static inline bool
pe_accumulator_needs_room(const pe_accumulator *a)
{
	return a->units.entries == a->units.room;
}

/*
 * The same by the cells of the attributes that span tables: what is cut is the rows of a unit in the cells of
 * the product of all of them, as for one table that has them all.
 */
static inline void
pe_accumulator_add_unit_coordinates(pe_accumulator *a, const uint64_t unit[2], const int32_t *coordinate, bool counts)
{
	pe_u128		cell = pe_tables_number(&a->tables, coordinate);

	if (!pe_unit_in_range(&a->cut, unit))
		return;
	if (a->units.wide_cells != 0)
		pe_units_add_wide(&a->units, unit, cell, counts);
	else
		pe_units_add(&a->units, unit, (int32_t) cell, counts);
}

static inline void
pe_accumulator_add_unit(pe_accumulator *a, const uint64_t unit[2], int32_t cell, bool counts)
{
	if (pe_unit_in_range(&a->cut, unit))
		pe_units_add(&a->units, unit, cell, counts);
}

/* Bytes that rows are gathered in, of so many numbers; -1: no sums. */
extern size_t pe_gathered_memory(const pe_tables *tables, int numbers);

/* Counts the rows that are gathered. */
extern void pe_gathered_count(pe_accumulator *a);

/*
 * A row by the cells of the attributes that span the tables, in time that does
 * not depend on whether it counts.  Without a cut.
 */
static inline void
pe_accumulator_add_coordinates(pe_accumulator *a, const int32_t *coordinate, bool counts)
{
	pe_gathered *g = &a->gathered;

	for (int i = 0; i < a->domain.attributes; i++)
		g->coordinate[i * PE_GATHERED_STEP + g->rows] = coordinate[i];
	g->counts[g->rows++] = counts;
	if (g->rows == PE_GATHERED_ROWS)
		pe_gathered_count(a);
}

/* A row by what it is for sums: without a cut, and as one of a unit. */
static inline void
pe_accumulator_add_sum_row(pe_accumulator *a, const pe_sum_row *row)
{
	pe_gathered *g = &a->gathered;

	for (int n = 0; n < a->summed.numbers; n++)
		g->number[n * PE_GATHERED_STEP + g->rows] = row->number[n];
	g->has[g->rows] = row->has;
	pe_accumulator_add_coordinates(a, row->coordinate, row->counts);
}

static inline void
pe_accumulator_add_unit_sum_row(pe_accumulator *a, const uint64_t unit[2], const pe_sum_row *row)
{
	pe_u128		cell = pe_sums_number(&a->summed, &a->domain, row);

	if (!pe_unit_in_range(&a->cut, unit))
		return;
	if (a->units.wide_cells != 0)
		pe_units_add_wide(&a->units, unit, cell, row->counts);
	else
		pe_units_add(&a->units, unit, (int32_t) cell, row->counts);
}

/* A row of a model, which is overwritten if it does not count; unit: its unit's hash, NULL without a cut. */
extern void pe_accumulator_add_row(pe_accumulator *a, pe_row *row, const uint64_t *unit, bool counts);

/* Finite slopes and an offset within PE_OFFSET_MOST. */
extern void pe_accumulator_add_affine(pe_accumulator *a, const double *slope, pe_i128 offset);

/*
 * A key by its bytes, of a row of unit, which is looked at where keys are of units.  A row that does not
 * count has no key, and is collected like any other.
 */
extern void pe_accumulator_add_key(pe_accumulator *a, const uint64_t unit[2], const char *bytes,
								   size_t size, bool counts);

/* Whether a row stands for its key, and for a value beside its cell. */
static inline bool
pe_accumulator_is_by_key(const pe_accumulator *a)
{
	return a->reading == PE_READ_KEY_SUMS || a->reading == PE_READ_KEY_VALUES;
}

static inline bool
pe_accumulator_counts_values(const pe_accumulator *a)
{
	return a->reading == PE_READ_VALUES || a->reading == PE_READ_KEY_VALUES;
}

/* The cell of the one table of a reading of values that a row is in, beside the bytes of its value; likewise. */
extern void pe_accumulator_add_value(pe_accumulator *a, const uint64_t unit[2], const pe_sum_row *row,
									 const char *bytes, size_t size, bool counts);

/* The place of a key among those that are summed up, by its bytes; -1: it is none of them. */
extern int32_t pe_accumulator_find_key(const pe_accumulator *a, const char *bytes, size_t size);

/* ---- States as bytes ---- */

/* The size of the state as bytes, which may sort, sum up, or cut; then the bytes, as long as nothing is added. */
extern size_t pe_accumulator_size(pe_accumulator *a);
extern void pe_accumulator_write(const pe_accumulator *a, char *bytes);

typedef enum pe_combined
{
	PE_COMBINED,
	PE_STATE_UNSOUND,			/* no pe_accumulator_write wrote these bytes */
	PE_STATE_OTHER,				/* a state of another specification or cut */
	PE_STATE_OVERFLOW			/* the sums are beyond what any table has */
} pe_combined;

/* Makes an accumulator of a state; nothing is left allocated if it is refused. */
extern pe_combined pe_accumulator_read(pe_accumulator *a, const char *bytes, size_t size);

/* Adds a state.  If it is refused, the accumulator can be freed and is good for nothing else. */
extern pe_combined pe_accumulator_combine(pe_accumulator *a, const char *bytes, size_t size);

/* ---- The end ---- */

/*
 * Cuts the rows of units and runs the pass that is left to run.  Then the
 * result has so many bytes: counts or sums of all cells as int64, table by
 * table, or of all sizes, sums of the pass as 128-bit integers, rows of a model
 * behind their number of dropped rows (pe_rows_result_read), rows of an affine
 * function (pe_affine_rows_read), counts of keys (pe_key_counts_read), or keys
 * of numbers (pe_key_names_read).
 */
extern size_t pe_accumulator_finish(pe_accumulator *a);
extern void pe_accumulator_result(const pe_accumulator *a, char *bytes);

/* Whether what is left at the end is rows of a model: they may be taken out of a->rows instead. */
static inline bool
pe_accumulator_has_rows(const pe_accumulator *a)
{
	return a->reading == PE_READ_MODEL && a->pass_bytes == NULL;
}

/* Appends the rows of a result to rows, which are of the same shape; false if that is not what the bytes are. */
extern bool pe_rows_result_read(pe_rows *rows, uint64_t *dropped, const char *bytes, size_t size);

#endif

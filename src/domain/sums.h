/*
 * sums.h
 *	  Sums over rows by cells: of 1, of numbers, of their squares and products,
 *	  as integers, and counts of units.
 *
 * A number has public bounds.  Its value becomes an integer u in [-most, most]:
 * the middle of the bounds is 0, the bounds are -most and most.  Of whole
 * numbers between bounds that are at most PE_NUMBER_WHOLE apart this is exact;
 * else it is rounded to the nearest of 65535 places.  What is NULL, NaN or
 * outside without clamp is absent, and adds nothing to the sums that need it.
 * A number may also be a polynomial of columns (polynomial.h), which is the same
 * from there on: an integer of the row, within public bounds, or absent.
 *
 * A row that counts is in one cell of each table and adds to it
 *
 *		PE_SUM_ONE		1
 *		PE_SUM_VALUE	u
 *		PE_SUM_SQUARE	2 u^2 - most^2, in units of 2^shift
 *		PE_SUM_PRODUCT	u v, in units of 2^shift
 *		PE_SUM_ABOVE	most + u
 *		PE_SUM_BELOW	most - u
 *		PE_SUM_ABOVE_SQUARE, PE_SUM_BELOW_SQUARE	their squares, in units of 2^shift
 *		PE_SUM_BETWEEN	twice their product, in units of 2^shift
 *		PE_SUM_GRID		1, in a table that has 2 most + 1 places for each cell: the place of u
 *		PE_SUM_DISTINCT	1, in a table that an attribute spans whose values are counted
 *		PE_SUM_OPEN		1; what is measured is not this, but the values of an open column
 *
 * if the sum's condition is true and the numbers it needs are there; else 0.  A
 * PE_SUM_ONE may count the rest instead: rows that have not all of some numbers.
 *
 * A sum *by atoms* has a place of each cell for every atom: a truth vector of
 * the conditions, as a mask.  A row adds to the place of its own vector, so
 * that it is in one place, as in one cell.  A vector that is not listed counts
 * nowhere.  Such a sum needs no condition itself.
 *
 * What is above and what is below add up to 2 most for each row, and neither is
 * below 0.  The three products of both add up to 4 most^2: to the bound, exactly,
 * as two of them are rounded and BETWEEN is what is left.  It is not below 0: where
 * the lesser square is rounded up to 1 or more, the other distance is at least
 * most, and twice the product far above the two halves that rounding adds; where
 * it is rounded to 0 the other square is at most 4 most^2.
 *
 * Each is in [-bound, bound], an integer that follows from the row and from
 * public things alone.  In units of 2^shift, so that bound is at most 2^15, it
 * is rounded row by row.
 *
 * PE_SUM_UNITS counts units instead: each once in every cell where it has such
 * a row, in at most `most` cells, chosen by the unit's own rows (units.h).
 *
 * PE_SUM_DISTINCT counts values: what is measured of its table is for each group,
 * the cells without the one attribute that it needs, how many ordered cells of
 * that attribute any row is in (pe_sum_distinct).  A unit's k rows that count are
 * in at most k cells of (group, value), and of those alone the value may be there
 * with the unit and not without it.  In a group these are no more than there are
 * ordered cells, V.  So adding a unit adds some x in N^n with sum x <= k and each
 * entry at most min(k, V) to the numbers of the groups, for any other rows.
 * Replacing one takes such a vector away and adds another.
 *
 * PE_SUM_OPEN counts the values of a column that nobody has listed, by a scan of its own
 * (accumulator.h, PE_READ_VALUES): how many pairs (cell of its table, value) the rows
 * have that count in it.  A row is in one pair at most, none where the column is NULL
 * or too long.  Where rows of units are cut, each unit's pairs count once, and of these the k that
 * rank first.  So d_g = |{z: (g, z) is a pair of any unit}|, each unit has at most k
 * pairs, and these alone may be there with the unit and not without it: what a
 * unit adds to d is the same as above, V having no limit.
 *
 * PE_SUM_LOST counts rows that the cut left out.  A unit may have any number of
 * them, so at most `most` of each unit are counted: those that come next, which
 * a cut to `most` more rows would leave.  What it counts of a unit is what that
 * cut leaves less what the cut leaves: some x in N^n with sum x <= most, for
 * any other rows.  The cut is the same with and without this sum.
 *
 * Where rows of units are cut, two rows are equal if they are equal in all that
 * any sum looks at: a row stands as a cell of one product of numbers and
 * attributes, those that conditions look at among them.  Not of the conditions
 * themselves: how many rows of a unit differ must not depend on what is asked
 * of their attributes.
 */
#ifndef PE_DOMAIN_SUMS_H
#define PE_DOMAIN_SUMS_H

#include "domain/polynomial.h"
#include "domain/tables.h"

#define PE_MAX_NUMBERS 16
#define PE_MAX_CONDITIONS 16
#define PE_MAX_SUMS 256
#define PE_MAX_ATOMS 4096

/* The most tables that they are by. */
#define PE_MAX_SUM_TABLES 8192

/* The most open columns. */
#define PE_MAX_OPENS 8

/* The most that bounds of whole numbers are apart to be exact. */
#define PE_NUMBER_WHOLE 65534

/* The places of other numbers on each side of the middle. */
#define PE_NUMBER_MOST 32767

typedef struct pe_number
{
	double		lower;			/* finite, lower < upper */
	double		upper;
	bool		clamp;			/* what is outside counts as the bound; else it is absent */
	bool		whole;			/* u = 2 value - lower - upper */
	int32_t		most;
	const pe_polynomial *polynomial;	/* prepared: u is its; NULL: of one column */
} pe_number;

/* whole: all values are whole numbers.  False if the bounds make no sense. */
extern bool pe_number_init(pe_number *number, double lower, double upper, bool clamp, bool whole);

/* The same of a prepared polynomial, whose value is lower where u is -places, and upper where it is places. */
extern bool pe_number_of_polynomial(pe_number *number, double lower, double upper, const pe_polynomial *polynomial);

/* The integer of a value of a column; false if it is absent, and *u is 0. */
extern bool pe_number_place(const pe_number *number, double value, int32_t *u);

/* What an integer is worth: value = middle + u step. */
extern double pe_number_middle(const pe_number *number);
extern double pe_number_step(const pe_number *number);

typedef enum pe_sum_kind
{
	PE_SUM_ONE = 1,
	PE_SUM_VALUE,				/* of number a */
	PE_SUM_SQUARE,				/* of number a */
	PE_SUM_PRODUCT,				/* of numbers a and b */
	PE_SUM_UNITS,
	PE_SUM_GRID,				/* of number a */
	PE_SUM_LOST,				/* there is a cut */
	PE_SUM_ABOVE,				/* of number a: how far it is from its lower bound, */
	PE_SUM_BELOW,				/* and from its upper one */
	PE_SUM_DISTINCT,			/* values of the one attribute that it needs */
	PE_SUM_ABOVE_SQUARE,		/* products of ABOVE and BELOW of number a */
	PE_SUM_BETWEEN,
	PE_SUM_BELOW_SQUARE,
	PE_SUM_OPEN					/* values of open column a */
} pe_sum_kind;

/*
 * What a row has: a bit for each number that is there, each condition that is
 * true, each attribute that has a cell for it.
 */
#define PE_HAS_NUMBER(n) (UINT64_C(1) << (n))
#define PE_HAS_CONDITION(c) (UINT64_C(1) << (PE_MAX_NUMBERS + (c)))
#define PE_HAS_ATTRIBUTE(a) (UINT64_C(1) << (PE_MAX_NUMBERS + PE_MAX_CONDITIONS + (a)))

/* One sum; the set of attributes that its table is by stands in the tables. */
typedef struct pe_sum
{
	uint64_t	needs;			/* bits that a row must have */
	int32_t		most;			/* PE_SUM_UNITS: cells of a unit; PE_SUM_LOST: rows of one; else 0 */
	uint8_t		kind;
	uint8_t		a;
	uint8_t		b;
	uint8_t		by_atom;		/* 1: each cell has a place for every atom; of ONE, VALUE, SQUARE, PRODUCT */
	uint16_t	lacks;			/* of ONE: bits of numbers; a row that has all of them does not count; 0: none */
	uint8_t		unused[2];
} pe_sum;

typedef struct pe_sums
{
	/*
	 * bit a is set: where attribute a has no cell for a row, no sum counts it;
	 * of others only those that need a
	 */
	uint32_t	dropping;
	int			numbers;
	pe_number	number[PE_MAX_NUMBERS];
	int			factors;		/* of all polynomials */
	pe_operand	factor[PE_MAX_FACTORS];
	int			opens;			/* open columns whose values are counted: they are read behind all others */
	int			conditions;
	pe_predicate condition[PE_MAX_CONDITIONS];
	int32_t		max_periods;	/* > 0: attribute 0 is time, and the periods of a unit that are taken (units.h) */
	uint32_t	named[PE_MAX_CONDITIONS];	/* by each: the attributes that it looks at, */
	uint32_t	seen;			/* and those of all together */
	int32_t		atoms;
	const uint16_t *atom;		/* masks of conditions, ascending */
	uint16_t   *place_of;		/* of every mask: 1 + its place, 0: not listed; NULL: not read from bytes */
	int32_t		sums;
	pe_sum	   *sum;			/* of table t: sum[t] */
} pe_sums;

/* What a row that is read becomes. */
typedef struct pe_sum_row
{
	int32_t		coordinate[PE_MAX_ATTRIBUTES];	/* of all attributes; 0 where there is no cell */
	int32_t		number[PE_MAX_NUMBERS]; /* 0 where it is absent */
	uint64_t	has;
	bool		counts;
} pe_sum_row;

/* The columns that are read for numbers: those that are numbers themselves, then factors. */
extern int	pe_sums_columns(const pe_sums *sums);

/* The integers of polynomials, of a row's factors, and bits of those that are there; there: bits of factors. */
extern uint64_t pe_sums_polynomials(const pe_sums *sums, const int64_t *steps, uint32_t there, int32_t *number);

/* The places that each cell of a sum's table has: 1, those of a grid, or the atoms. */
extern int32_t pe_sum_places(const pe_sums *sums, const pe_sum *sum);

/* Moves the tables apart for the places that their cells have; false if they are too many. */
extern bool pe_sums_place(const pe_sums *sums, pe_tables *tables);

/* Fills named and seen from the conditions. */
extern void pe_sums_prepare(pe_sums *sums);

/*
 * The same sums over a domain with one more attribute in front, which spans
 * every table and drops the rows that have no cell of it: of a table, what each
 * of its cells has stands one after the other.  What they point to is new or
 * shared, as memory that is never freed may be.
 */
extern void pe_sums_behind_one(const pe_sums *sums, const pe_tables *tables, pe_sums *behind, pe_tables *behind_tables);

/* The most that one row adds to a sum, as an absolute value, and by how many digits its products are shortened. */
extern int64_t pe_sum_bound(const pe_sums *sums, const pe_sum *sum);
extern int	pe_sum_shift(const pe_sums *sums, const pe_sum *sum);

/* Whether a row can add less than 0. */
extern bool pe_sum_is_signed(const pe_sum *sum);

/*
 * Of what divides its bound among several sums: 1 of ABOVE and BELOW, 2 of their
 * products; 0 of others.  Of one number and the same rows, all different, they
 * add up to at most the bound of each.
 */
extern int	pe_sum_degree(const pe_sum *sum);

/* Whether it counts by a limit of its own for each unit, where rows of units are cut. */
static inline bool
pe_sum_is_by_unit(const pe_sum *sum)
{
	return sum->kind == PE_SUM_UNITS || sum->kind == PE_SUM_LOST;
}

/* Whether values are counted. */
static inline bool
pe_sum_is_of_values(const pe_sum *sum)
{
	return sum->kind == PE_SUM_DISTINCT || sum->kind == PE_SUM_OPEN;
}

/* Whether rows are added up by cells, which may have a place for each atom. */
static inline bool
pe_sum_is_of_cells(const pe_sum *sum)
{
	return !pe_sum_is_by_unit(sum) && sum->kind != PE_SUM_GRID && !pe_sum_is_of_values(sum);
}

/* The attribute whose values PE_SUM_DISTINCT counts: what it needs of attributes is that one; -1: not one. */
extern int	pe_sum_counted_attribute(const pe_sum *sum);

/*
 * Of a table of PE_SUM_DISTINCT with so many groups, each with `cells` counts of rows, first those of the values: sets
 * distinct[group] to the number of values that occur.  It may be count itself.
 */
extern void pe_sum_distinct(const int64_t *count, int64_t groups, int32_t cells, int32_t values, int64_t *distinct);

/*
 * Sets the bits of conditions, from coordinates of all attributes, watched ones
 * among them, and from the bits of attributes.
 */
extern uint64_t pe_sums_conditions(const pe_sums *sums, const int32_t *coordinate, uint64_t has);

/*
 * What rows add to one sum, for rows side by side: number n of row r stands at number[n * step + r].  The same steps
 * for all rows.
 */
extern void pe_sum_weigh(const pe_sums *sums, const pe_sum *sum, const int32_t *number, size_t step,
						 const uint64_t *has, const uint8_t *counts, int32_t rows, int64_t *weight);

/* Which conditions are true of what a row has, as an atom is written. */
static inline uint32_t
pe_sums_mask(const pe_sums *sums, uint64_t has)
{
	return (uint32_t) (has / PE_HAS_CONDITION(0)) & ((UINT32_C(1) << sums->conditions) - 1);
}

/* Fills place_of.  pe_sums_read does it; pe_sums_free frees it. */
extern void pe_sums_index_atoms(pe_sums *sums);

/*
 * The atoms that rows can have, ascending, as the cells show that conditions
 * look at (atoms.c).  Returns their number; 0 if there are more than
 * PE_MAX_ATOMS, or more combinations of cells than are looked at.  Public
 * things alone decide it.
 */
extern int32_t pe_sums_find_atoms(const pe_sums *sums, uint16_t *atom);

/* ---- Rows of units as cells of one product ---- */

/* The cells of the product; 0 if there are more than PE_WIDE_CELLS. */
extern pe_u128 pe_sums_product(const pe_sums *sums, const pe_domain *domain);

/* The cell of a row, and back; counts is not in it, nor what no sum looks at. */
extern pe_u128 pe_sums_number(const pe_sums *sums, const pe_domain *domain, const pe_sum_row *row);
extern void pe_sums_row(const pe_sums *sums, const pe_domain *domain, pe_u128 number, pe_sum_row *row);

/* ---- As bytes: tables with a selection (tables.h), then the sums.  pe_sums_read checks every field. ---- */
extern size_t pe_sums_size(const pe_sums *sums, const pe_tables *tables, const pe_domain *domain,
						   const pe_predicate *predicate);
extern void pe_sums_write(const pe_sums *sums, const pe_tables *tables, const pe_domain *domain,
						  const pe_predicate *predicate, char *bytes);
extern bool pe_sums_read(pe_sums *sums, pe_tables *tables, pe_domain *domain,
						 pe_predicate *predicate, const char *bytes, size_t size);

/* Frees what pe_sums_read made. */
extern void pe_sums_free(pe_sums *sums);

#endif

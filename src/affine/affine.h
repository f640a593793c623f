/*
 * affine.h
 *	  Piecewise affine functions max_i (a_i'x + b_i), and the sets over which they are
 *	  minimised.
 *
 * Slopes a_i and sets are public.  Offsets b_i may be private: from where a row is
 * read until noise is added they are integers, in units of a power of two that
 * depends on nothing but the registry's max_change.
 */
#ifndef PE_AFFINE_AFFINE_H
#define PE_AFFINE_AFFINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* The most variables. */
#define PE_AFFINE_VARIABLES 50

/*
 * Offsets are cut to this in absolute value, in units; one that is missing (NULL,
 * NaN) is -PE_OFFSET_MOST, which is never the maximum where there is another one.
 */
#define PE_OFFSET_MOST ((pe_i128) 1 << 100)

/* Rows of a function whose offsets are private. */
typedef struct pe_affine
{
	int32_t		variables;		/* d, 1 .. PE_AFFINE_VARIABLES */
	int32_t		rows;			/* m */
	int32_t		room;			/* rows there is memory for */
	int32_t		unit;			/* an offset is an integer of units 2^unit */
	double	   *slope;			/* row-major, rows x variables, finite */
	pe_i128    *offset;
} pe_affine;

/* The unit for a max_change: with D = pe_affine_change(max_change, unit), 2^39 <= D <= 2^40. */
extern int32_t pe_affine_unit(double max_change);

/*
 * How many units an offset can move at most, if it was rounded down to a multiple of
 * 2^unit, when the number moves by max_change: ceil(max_change / 2^unit), since
 * floor(u) - floor(v) <= ceil(u - v).  Exact.  max_change is finite and above 0.
 */
extern uint64_t pe_affine_change(double max_change, int32_t unit);

/* floor(value / 2^unit), exactly, cut to +-PE_OFFSET_MOST; NaN is missing. */
extern pe_i128 pe_affine_offset(double value, int32_t unit);
extern pe_i128 pe_affine_offset_of_int(int64_t value, int32_t unit);

extern void pe_affine_init(pe_affine *f, int32_t variables, int32_t unit);
extern void pe_affine_add(pe_affine *f, const double *slope, pe_i128 offset);

/* Wipes the offsets and frees. */
extern void pe_affine_free(pe_affine *f);

/* Bytes that so many rows take. */
extern size_t pe_affine_memory(int32_t variables, size_t rows);

/*
 * The set { x : lower <= x <= upper, inequality_k . (x, -1) <= 0 }: public.  Ends of
 * the box may be infinite where the inequalities bound the set, or where nothing
 * needs a bounded one.
 */
typedef struct pe_polytope
{
	int32_t		variables;
	int32_t		inequalities;
	const double *lower;
	const double *upper;
	const double *inequality;	/* row-major, inequalities x (variables + 1): g_1 .. g_d, h for g.x <= h; finite */
} pe_polytope;

/* The same function for callers that may know all of it. */
typedef struct pe_plain_affine
{
	int32_t		variables;
	int32_t		rows;
	const double *slope;		/* row-major */
	const double *offset;		/* NULL: all 0 */
} pe_plain_affine;

/* max_i (a_i'x + b_i); -infinity without rows. */
extern double pe_affine_value(const pe_plain_affine *f, const double *x);

/* ----------
 * What the accumulator of affine rows is given, and its states as bytes.
 *
 * A specification says how columns become slopes.  A state is the rows of a
 * function that have been read so far; a worker hands its own over as bytes.
 * ----------
 */

/* How a column becomes a slope; null drops the row. */
typedef struct pe_slope_spec
{
	double		lower;
	double		upper;
	int64_t		clamp;			/* not 0: what lies outside is brought in; 0: it drops the row */
} pe_slope_spec;

/* As bytes so many of the slopes are there, in host order. */
typedef struct pe_affine_spec
{
	int32_t		variables;
	int32_t		unit;
	int64_t		most;			/* of more rows one is kept, which shows that there are more */
	pe_slope_spec slope[PE_AFFINE_VARIABLES];
} pe_affine_spec;

/* Bytes of a specification of so many variables. */
#define PE_AFFINE_SPEC_SIZE(variables) (offsetof(pe_affine_spec, slope) + (size_t) (variables) * sizeof(pe_slope_spec))

/* False for bytes that are no specification; slopes that are not there are zeros. */
extern bool pe_affine_spec_read(pe_affine_spec *spec, const char *bytes, size_t size);

/* Adds a row, unless there are more than enough. */
extern void pe_affine_spec_add(const pe_affine_spec *spec, pe_affine *rows, const double *slope, pe_i128 offset);

/*
 * Rows with their specification as bytes of this machine, and back, in two steps:
 * pe_affine_rows_spec reads the specification, and says whether the size is that of
 * rows behind it; then pe_affine_rows_read appends the rows, to some of the same
 * specification.  False, with nothing appended, for bytes that no pe_affine_rows_write
 * wrote (every number is checked).
 */
extern size_t pe_affine_rows_size(const pe_affine_spec *spec, const pe_affine *rows);
extern void pe_affine_rows_write(const pe_affine_spec *spec, const pe_affine *rows, char *bytes);
extern bool pe_affine_rows_spec(pe_affine_spec *spec, const char *bytes, size_t size);
extern bool pe_affine_rows_read(const pe_affine_spec *spec, pe_affine *rows, const char *bytes, size_t size);

#endif

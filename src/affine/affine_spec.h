/*
 * affine_spec.h
 *	  What the accumulator of affine rows is told, and its states as bytes.
 *
 * A specification says how columns become slopes.  A state is the rows of a function
 * that have been read so far; a worker hands its own over as bytes.
 */
#ifndef PE_AFFINE_AFFINE_SPEC_H
#define PE_AFFINE_AFFINE_SPEC_H

#include "affine/affine.h"

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

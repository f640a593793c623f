/*
 * comparison_reader.h
 *	  Two values of a row as the cell of their comparison (domain/comparison.h).
 *
 * Built-in types are read by code of ours, numeric by PostgreSQL's own
 * functions that raise no error: nothing that a user made runs on a row.  Where
 * a value is NULL, another one is compared in its place, so that the row takes
 * the same steps.
 */
#ifndef PE_DOOR_COMPARISON_READER_H
#define PE_DOOR_COMPARISON_READER_H

#include "fmgr.h"
#include "utils/numeric.h"

#include "domain/comparison.h"

typedef struct pe_comparison_reader
{
	const pe_comparison *comparison;
	Oid			type[2];		/* base types */
	Datum		instead[2];		/* of NULL */
	Numeric		left;			/* of numeric; NULL: the factor is 1, there is nothing more */
	Numeric		right;
	Numeric		more;
} pe_comparison_reader;

/*
 * Prepares it in the current memory context; the comparison lives as long.
 * False if the types are others than it needs.
 */
extern bool pe_comparison_reader_init(pe_comparison_reader *reader, const pe_comparison *comparison, Oid a, Oid b);

/* The cell. */
extern int32 pe_comparison_reader_cell(const pe_comparison_reader *reader, Datum a, bool a_null, Datum b, bool b_null);

#endif

/*
 * affine_sink.h
 *	  How the door and its accumulator dp.affine_rows talk: what the accumulator is
 *	  told, and how it hands over the rows that it has collected.
 *
 * An aggregate cannot return rows of exact offsets to SQL, and need not: the
 * accumulator of the door's own scan puts them here, and they are of no use elsewhere.
 */
#ifndef PE_LEDGER_AFFINE_SINK_H
#define PE_LEDGER_AFFINE_SINK_H

#include "core/affine.h"

/* How a column becomes a slope; null drops the row. */
typedef struct pe_slope_spec
{
	double		lower;
	double		upper;
	int64		clamp;			/* not 0: what lies outside is brought in; 0: it drops the row */
} pe_slope_spec;

/* The specification of dp.affine_rows: so many of the slopes are there, in host order. */
typedef struct pe_affine_spec
{
	int32		variables;
	int32		unit;
	int64		most;			/* of more rows one is kept, which shows that there are more */
	pe_slope_spec slope[PE_AFFINE_VARIABLES];
} pe_affine_spec;

/* Bytes of a specification of so many variables. */
#define PE_AFFINE_SPEC_SIZE(variables) (offsetof(pe_affine_spec, slope) + (variables) * sizeof(pe_slope_spec))

/*
 * Puts rows, all of whose memory is in owner, into the sink that the door has opened:
 * owner outlives the aggregate then.  0A000 if there is no sink.
 */
extern void pe_affine_sink_put(const pe_affine *rows, MemoryContext owner);

#endif

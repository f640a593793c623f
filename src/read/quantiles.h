/*
 * quantiles.h
 *	  Quartiles of a number from a paid release, free.
 */
#ifndef PE_READ_QUANTILES_H
#define PE_READ_QUANTILES_H

#include "ask/stored_release.h"
#include "study/table_one.h"

/*
 * quartile[group * 3 + i], a quarter of its 95 % interval as its error, of a number with bins, in each cell of `by`;
 * NULL: of all rows.  NaN: not shown, or of too few rows.  The release was read as one of counts; its errors are known.
 * Errors: those of pe_release_reply.  Not inside PE_UNDONE.
 */
extern void pe_quartiles_of_release(const pe_release *release, const pe_column *column, char *by,
									pe_figure *quartile);

#endif

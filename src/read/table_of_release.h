/*
 * table_of_release.h
 *	  A Table One from a paid release that is not one of dp.table_one, free: of what it holds.
 *
 *	 n						counts of all rows by `by`
 *	 levels, missing		counts of by x attribute; numbers of few bins too
 *	 median, quartiles		counts of by x bins of a number
 *	 mean, deviation		sums (and squares) of a number by `by`
 *
 * Errors have the covariance of what was measured.  p-values are those of chi-square and of Welch, with the law of the
 * noise (study/hypothesis.h).
 */
#ifndef PE_READ_TABLE_OF_RELEASE_H
#define PE_READ_TABLE_OF_RELEASE_H

#include "read/table_rows.h"

/*
 * by: NULL, all rows together.  attributes 0: all that the release holds by it.  Errors: those of pe_release_read;
 * 22023, 42704 for what it does not hold, with what to measure; 54000 too many cells.  Not inside PE_UNDONE.
 */
extern void pe_table_of_release(int64 release, const char *by, char **attribute, int attributes, pe_table_rows *rows);

#endif

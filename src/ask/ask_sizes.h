/*
 * ask_sizes.h
 *	  How many units have so many rows: dp.rows_per_unit, and what dp.describe says of it.
 */
#ifndef PE_ASK_ASK_SIZES_H
#define PE_ASK_ASK_SIZES_H

#include "ledger/dataset.h"

/* What a release says, of the rows that count before any cut. */
typedef struct pe_sizes
{
	int64		release;
	int			most;
	double	   *units;			/* with 1, 2, ... most rows; with more, the last one has them too */
	double		stderr_;		/* of each */
} pe_sizes;

/*
 * The newest release of all rows of the dataset's version that the current user may read: who may replay it, and the
 * owner.  False if there is none.  Inside PE_UNDONE.
 */
extern bool pe_sizes_find(pe_dataset *dataset, pe_sizes *sizes);

/* A part, as a percentage, and its standard error. */
typedef struct pe_percentage
{
	double		part;
	double		stderr_;
} pe_percentage;

/* Of the units, those with at most so many rows; of the rows, those that are kept where so many of each unit count. */
extern pe_percentage pe_sizes_units_within(const pe_sizes *sizes, int rows);
extern pe_percentage pe_sizes_rows_kept(const pe_sizes *sizes, int rows);

/* Whether the units and their rows are more than three standard errors: else no part of them is known. */
extern bool pe_sizes_are_told(const pe_sizes *sizes);

/*
 * Whether some units have `most` rows or more, beyond noise: how many more is
 * not known, and rows kept are a smaller part.
 */
extern bool pe_sizes_are_cut(const pe_sizes *sizes);

#endif

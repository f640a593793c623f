/*
 * time_blocks.h
 *	  Blocks of time: a cap that holds for each of them.
 *
 * The owner divides the time of a dataset into blocks, months say, when the
 * dataset is created.  What a request reads is rows of some blocks, which are
 * fixed before it is charged and are a part of its charge; the accumulator
 * drops the rows of all others by their raw time.  So rows of a block touch
 * only the charges that have it, and what is charged to a block is a filter of
 * its own with the same limit (parallel composition; Lecuyer et al., SOSP
 * 2019).  A row loses what its block was charged, and a unit whose rows are in
 * p blocks at most p caps (substitute: 2 p, it leaves p and enters p).  That it
 * is no more than max_blocks, and that times do not change, are the owner's
 * promises.
 *
 * Blocks are numbered by the calendar: months from January 2000, days from
 * Monday, 3 January 2000, so that weeks begin on Mondays; local days of the
 * time zone in which the dataset was created, where the time has a zone.  Rows
 * without a time, or with an infinite one, are a block of their own.
 *
 * What every block has lost is kept as steps: a row of dp_ledger.block holds
 * from its own block up to that of the next row. A dataset that has blocks
 * counts as spent what the block has lost that has lost most; so does a budget
 * that is granted for each block.
 */
#ifndef PE_LEDGER_TIME_BLOCKS_H
#define PE_LEDGER_TIME_BLOCKS_H

#include "accounting/filter.h"
#include "domain/times.h"

typedef struct pe_dataset pe_dataset;	/* dataset.h */

/* Blocks of a request.  All zero: every block, and rows without a time. */
typedef struct pe_time_blocks
{
	bool		limited;		/* false: the rest is not looked at */
	int64		first;
	int64		last;			/* less than first: none */
	bool		others;			/* and rows without a usable time */
} pe_time_blocks;

/* The key of steps for rows without a usable time, and the first number of all others. */
#define PE_TIME_BLOCK_OTHERS PG_INT64_MIN
#define PE_TIME_BLOCK_FIRST (PG_INT64_MIN + 1)
#define PE_TIME_BLOCK_LAST PG_INT64_MAX

/* Every block as a range. */
extern pe_time_blocks pe_time_blocks_limited(pe_time_blocks blocks);

/* The block of a time, which is finite: days or microseconds since 2000, as its type has them. */
extern int64 pe_time_block_of(const pe_dataset *dataset, int64 time);

/* The first time of a block; beyond all times that of the type's end. */
extern int64 pe_time_block_start(const pe_dataset *dataset, int64 block);

/* Blocks that have the times from `from` up to and with `last`; none if that is before it. */
extern pe_time_blocks pe_time_blocks_between(const pe_dataset *dataset, int64 from, int64 last);

/* Which rows these are, for the accumulator. */
extern pe_times pe_time_blocks_times(const pe_dataset *dataset, pe_time_blocks blocks);

/* ----------
 * What blocks have lost, of the cap (budget_id 0) or of a budget that is granted for each block.
 *
 * Between pe_access_begin and pe_access_end.  The writer holds the dataset's row.
 * ----------
 */

/* The most that one of the blocks has lost; each component by itself, as the filter looks at them. */
extern pe_amount pe_time_blocks_spent(int64 dataset_id, int64 budget_id, pe_time_blocks blocks);

/* Charges each of the blocks; returns the most that any block has lost now. */
extern pe_amount pe_time_blocks_charge(int64 dataset_id, int64 budget_id, pe_time_blocks blocks, pe_amount cost);

/* Makes the steps of an account anew of its charges, and returns the most. */
extern pe_amount pe_time_blocks_rebuild(int64 dataset_id, int64 budget_id);

/*
 * The same of all accounts of a dataset whose charges were attested: what is
 * spent is no less than the charges say, and the limits no less than it.
 */
extern void pe_time_blocks_restore(int64 dataset_id);

/* Forgets the steps of a budget, which is no longer granted for each block. */
extern void pe_time_blocks_forget(int64 dataset_id, int64 budget_id);

#endif

/*
 * obtain.h
 *	  The strategy of a request: from the table, or computed and kept.
 */
#ifndef PE_DOOR_OBTAIN_H
#define PE_DOOR_OBTAIN_H

#include "ledger/strategies.h"

/*
 * Finds the best strategy that was asked for with at most accepted_gap, or
 * computes one, with progress to be heard of, and keeps it by way of the worker
 * unless this is a standby or a rehearsal, which writes nothing.  Strategies that
 * count the workload's classes themselves (pe_strategy_is_workload) are not kept
 * unless keep_all says so: they are made faster than read.  The lower bound, if it is
 * wanted, is that of the optimum for every method; a method that serves more cells
 * than an optimum can be found for has none.  Errors: 22023 nothing is asked for,
 * 54000 too many cells for the method, 53200 more than
 * pg_epsilon.max_memory.  Not inside PE_UNDONE, which would silence the
 * progress.
 */
extern void pe_strategy_obtain(const pe_strategy_key *key, double accepted_gap, bool keep_all, pe_kept_strategy *found);

/* Whether it would be one of blocks (blocks/blocks.h). */
extern bool pe_strategy_is_by_blocks(const pe_strategy_key *key);

#endif

/*
 * ask_blocks.h
 *	  Which blocks of time a request touches (ledger/time_blocks.h).
 *
 * It follows from the request and the declarations alone, before a row is read.
 * A row counts only in a cell of each attribute of the domain, and in one that
 * the predicate leaves, so where the time is among them these cells say which
 * times count.  A block that is touched in part is charged whole; blocks in
 * between are charged too.  What counts in no cell of the time is not known to
 * be of any block: every block is charged then.
 *
 * Nothing rests on it being right: the rows of other blocks than those that are
 * charged are dropped by their time as it is stored.
 */
#ifndef PE_ASK_ASK_BLOCKS_H
#define PE_ASK_ASK_BLOCKS_H

#include "ask/request.h"
#include "domain/predicate.h"
#include "ledger/columns.h"

/*
 * Sets the blocks of the charge, and what the budget has spent of them where it
 * is granted for each.  The columns are those of the domain.  dropping has a
 * bit for each attribute that drops the rows which have no cell of it.  Where
 * selection is NULL all rows count.
 */
extern void pe_asked_choose_blocks(pe_asked *asked, const pe_column *columns, const pe_domain *domain,
								   const pe_predicate *selection, uint32 dropping);

/* The same of a request that reads these times, as its column has them. */
extern void pe_asked_choose_times(pe_asked *asked, int64 from, int64 last);

/*
 * Whether the one budget that is to pay for all of these requests has their
 * cost together; where it is granted for each block, in every block.
 */
extern bool pe_asked_fit_together(const pe_asked *const *asked, int count);

#endif

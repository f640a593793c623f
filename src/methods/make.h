/*
 * make.h
 *	  A strategy by any method, and a bound of all strategies.
 */
#ifndef PE_METHODS_MAKE_H
#define PE_METHODS_MAKE_H

#include "strategy/strategy.h"

/*
 * Makes it.  lower_bound: of every strategy for this objective and norm (for PE_L1
 * that of the L2 norm, which holds there too and may be far off); of other methods
 * than optimal it is 0 until pe_strategy_bound has told it.  For method dawa it is
 * how its estimates are kept (pe_ordered_columns), which is no measurement, and so
 * has no bound.  A wish that pe_method_serves does not allow, and PE_MAX for
 * anything but optimal under PE_L2, are bugs of the caller.
 */
extern pe_strategy_status pe_strategy_make(const pe_strategy_wish *wish, pe_strategy *strategy);

/* Bytes that this takes at most, and pe_strategy_bound. */
extern size_t pe_strategy_make_memory(const pe_strategy_wish *wish);

/* A lower bound of the objective of every strategy, to within the wish's gap or 1e-3, whichever is more. */
extern pe_strategy_status pe_strategy_bound(const pe_strategy_wish *wish, double *lower_bound);

#endif

/*
 * make.h
 *	  The methods that choose what is measured, by the names they have in SQL; a
 *	  strategy by any of them, and a bound of all strategies.
 *
 * All but one are functions of the workload alone, and end in an integer strategy
 * (strategy.h); dawa looks at the data, privately (counts/dawa.h).
 */
#ifndef PE_METHODS_MAKE_H
#define PE_METHODS_MAKE_H

#include "strategy/strategy.h"

extern const char *pe_method_name(pe_method method);

/* False if there is none of this name. */
extern bool pe_method_of_name(const char *name, pe_method *method);

/* coa, adaptive and smoothing are about the L2 norm, dawa is about the L1 norm; the others serve both. */
extern bool pe_method_serves(pe_method method, pe_norm norm);

/*
 * Whether what is asked for is the workload itself, a column for every class: methods optimal,
 * direct and identity for one that counts each cell once, in any size; not where the total is
 * counted too (rounding.h).
 */
extern bool pe_strategy_is_workload(const pe_strategy_problem *problem);

/*
 * Makes it.  lower_bound: of every strategy for this objective, norm and
 * neighbours (for PE_L1 that of the L2 norm, which holds there too and may be
 * far off); of other methods than optimal it is 0 until pe_strategy_bound has
 * set it.  For method dawa it is how its estimates are kept
 * (pe_ordered_columns), which is no measurement, and so has no bound.  A
 * problem that pe_method_serves does not allow, and PE_MAX for anything but
 * optimal under PE_L2, are bugs of the caller.
 */
extern pe_strategy_status pe_strategy_make(const pe_strategy_problem *problem, pe_strategy *strategy);

/* Bytes that this takes at most, and pe_strategy_bound. */
extern size_t pe_strategy_make_memory(const pe_strategy_problem *problem);

/* A lower bound of the objective of every strategy, to within the problem's gap or 1e-3, the larger of the two. */
extern pe_strategy_status pe_strategy_bound(const pe_strategy_problem *problem, double *lower_bound);

#endif

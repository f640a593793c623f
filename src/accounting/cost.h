/*
 * cost.h
 *	  What a mechanism costs, and what is left of it while the mechanism runs.
 *
 * A cost is made by the room plan alone: its fields stand in private.h.  So nobody else can
 * charge one thing and draw another.  An allowance is what one run may draw for such a
 * cost.  Every function that draws takes its part from the allowance first; when the parts
 * would exceed the cost, nothing is drawn.
 *
 * The parts add up to no more than the cost, also where they depend on earlier draws: adaptive composition
 * of rho (Bun and Steinke, 2016, Lemma 2.3; of Gaussian DP: Smith and Thakurta, arXiv
 * 2210.17520) and of pure epsilons (Dwork, Rothblum and Vadhan, 2010), each part being fixed before its own draw.
 */
#ifndef PE_ACCOUNTING_COST_H
#define PE_ACCOUNTING_COST_H

#include "accounting/filter.h"

typedef struct pe_cost pe_cost;
typedef struct pe_allowance pe_allowance;

/* What it charges a budget, in the ledger's units. */
extern pe_amount pe_cost_amount(const pe_cost *cost);

/* The accounting of the budget that it is for: what its rho is worth. */
extern pe_accounting pe_cost_accounting(const pe_cost *cost);

/*
 * What a pure one costs the cap that it was made for, which counts rho, in
 * nano-units; 0: what any pure mechanism costs.
 */
extern int64_t pe_cost_as_rho(const pe_cost *cost);

/* Takes nano > 0, of a pure epsilon or of rho.  pe_bug where less is left, or where there is no allowance. */
extern void pe_allowance_take(pe_allowance *allowance, int64_t nano);

/* PE_PURE: noise is Laplace for the L1 norm; else Gaussian for the L2 norm, by the rules of that accounting. */
extern pe_accounting pe_allowance_accounting(const pe_allowance *allowance);

#endif

/*
 * private.h
 *	  The fields of a cost and of an allowance: for the rooms accounting, noise and plan alone
 *	  (scripts/check_layers.sh).
 */
#ifndef PE_ACCOUNTING_PRIVATE_H
#define PE_ACCOUNTING_PRIVATE_H

#include "accounting/cost.h"

struct pe_cost
{
	pe_accounting accounting;
	pe_amount	amount;
	int64_t		as_rho_nano;	/* pe_cost_as_rho */
};

struct pe_allowance
{
	pe_accounting accounting;
	int64_t		left;			/* nano-units */
};

/* The cost of a mechanism that is calibrated to nano: of a pure epsilon, for a cap as_rho_nano of rho, or of rho. */
extern pe_cost pe_cost_exact(pe_accounting accounting, int64_t nano, int64_t as_rho_nano);

/*
 * The cost of an (epsilon, delta) mechanism where rho is counted: it is epsilon-DP except for an
 * event of probability delta, and epsilon costs what it does of a pure mechanism
 * (pe_nano_rho_of_pure).  nano_epsilon in 1e-9, delta_atto in 1e-18.
 */
extern pe_cost pe_cost_approximate(pe_accounting accounting, int64_t nano_epsilon, int64_t delta_atto);

/*
 * The cost where rho is counted of a mechanism that costs nano of rho except
 * for an event of probability delta_atto 1e-18: for all neighbours both laws
 * are mixtures of 1 - delta and delta, whose first parts cost rho (approximate
 * zCDP: Bun and Steinke, 2016, Definition 8.1; of Gaussian DP the same
 * mixtures).  Mixtures compose: the rhos add up, and the deltas, as the filter
 * has them.
 */
extern pe_cost pe_cost_but_for(pe_accounting accounting, int64_t nano, int64_t delta_atto);

#endif

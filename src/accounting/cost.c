/*
 * cost.c
 *	  Costs and allowances.  See cost.h.
 */
#include "accounting/private.h"

#include "base/mem.h"

pe_cost
pe_cost_exact(pe_accounting accounting, int64_t nano, int64_t as_rho_nano)
{
	if (accounting == PE_PURE)
		return (pe_cost) {.accounting = accounting, .amount.epsilon_nano = nano, .as_rho_nano = as_rho_nano};
	return (pe_cost) {.accounting = accounting, .amount.rho_nano = nano};
}

pe_cost
pe_cost_approximate(pe_accounting accounting, int64_t nano_epsilon, int64_t delta_atto)
{
	return (pe_cost) {
		.accounting = accounting,
		.amount = {.rho_nano = pe_nano_rho_of_pure(accounting, nano_epsilon), .delta_atto = delta_atto}
	};
}

pe_cost
pe_cost_but_for(pe_accounting accounting, int64_t nano, int64_t delta_atto)
{
	if (accounting == PE_PURE)
		pe_bug("a pure cost has no delta");
	return (pe_cost) {.accounting = accounting, .amount = {.rho_nano = nano, .delta_atto = delta_atto}};
}

pe_amount
pe_cost_amount(const pe_cost *cost)
{
	return cost->amount;
}

pe_accounting
pe_cost_accounting(const pe_cost *cost)
{
	return cost->accounting;
}

int64_t
pe_cost_as_rho(const pe_cost *cost)
{
	return cost->as_rho_nano;
}

void
pe_allowance_take(pe_allowance *allowance, int64_t nano)
{
	if (allowance == NULL || nano <= 0 || nano > allowance->left)
		pe_bug("more noise would be drawn than was paid for");
	allowance->left -= nano;
}

pe_accounting
pe_allowance_accounting(const pe_allowance *allowance)
{
	if (allowance == NULL)
		pe_bug("noise would be drawn that nobody paid for");
	return allowance->accounting;
}

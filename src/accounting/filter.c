/*
 * filter.c
 *	  The privacy filter: which charges a budget admits.  See filter.h.
 */
#include "accounting/filter.h"

#include "accounting/zcdp.h"

bool
pe_epsilon_valid(double epsilon)
{
	/* NaN fails every comparison */
	return epsilon > 0 && epsilon <= PE_EPSILON_MAX;
}

bool
pe_delta_valid(double delta)
{
	return delta > 0 && delta < 1;
}

/* limit - spent cannot overflow: neither is negative. */
static bool
fits(int64_t limit, int64_t spent, int64_t charge)
{
	if (limit < 0 || spent < 0 || charge < 0)
		return false;
	return charge <= limit - spent;
}

bool
pe_filter_accepts(pe_amount limit, pe_amount spent, pe_amount charge)
{
	return fits(limit.rho_nano, spent.rho_nano, charge.rho_nano) &&
		fits(limit.delta_atto, spent.delta_atto, charge.delta_atto) &&
		fits(limit.epsilon_nano, spent.epsilon_nano, charge.epsilon_nano);
}

bool
pe_filter_allows(int64_t most_nano, pe_amount charge)
{
	return most_nano == 0 || (charge.rho_nano <= most_nano && charge.epsilon_nano <= most_nano);
}

pe_amount
pe_budget_limit(double epsilon, double delta)
{
	pe_amount	limit = {-1, -1, 0};

	if (!pe_epsilon_valid(epsilon) || !pe_delta_valid(delta))
		return limit;

	limit.rho_nano = pe_nano_rho_of_epsilon(epsilon, delta / 2);
	/* halving the rounded integer, rounded down, is rounding the half down */
	limit.delta_atto = pe_atto_down(delta) / 2;
	return limit;
}

pe_amount
pe_pure_limit(double epsilon)
{
	pe_amount	limit = {0, 0, -1};

	if (pe_epsilon_valid(epsilon))
		limit.epsilon_nano = pe_nano_rho_down(epsilon);
	return limit;
}

pe_amount
pe_cap_amount(pe_amount charge, int64_t as_rho_nano, bool cap_is_pure)
{
	pe_amount	cost = charge;

	if (!cap_is_pure && charge.epsilon_nano != 0)
	{
		cost.rho_nano = pe_nano_rho_of_pure(charge.epsilon_nano);
		if (as_rho_nano > 0 && as_rho_nano < cost.rho_nano)
			cost.rho_nano = as_rho_nano;
		cost.epsilon_nano = 0;
	}
	return cost;
}

int64_t
pe_nano_left(pe_amount left, bool is_pure)
{
	int64_t		nano = is_pure ? left.epsilon_nano : left.rho_nano;

	return nano > 0 ? nano : 0;
}

pe_amount
pe_amount_less(pe_amount limit, pe_amount spent)
{
	return (pe_amount) {
		limit.rho_nano - spent.rho_nano, limit.delta_atto - spent.delta_atto, limit.epsilon_nano - spent.epsilon_nano
	};
}

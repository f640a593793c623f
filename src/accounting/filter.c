/*
 * filter.c
 *	  The privacy filter: which charges a budget admits.  See filter.h.
 */
#include "accounting/filter.h"

#include <math.h>

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

double
pe_default_share(pe_accounting accounting)
{
	static const double share[] = {[PE_PURE] = 0, [PE_ZCDP] = 1.0 / 2, [PE_GDP] = 1.0 / 16};

	return share[accounting];
}

bool
pe_share_valid(pe_accounting accounting, double share)
{
	return accounting == PE_PURE ? share == 0 : share >= 0 && share < 1;
}

double
pe_delta_of_conversion(double delta, double share)
{
	return delta * (1 - share);
}

/* units share, rounded down: share is m 2^-53 2^exponent, with an m below 2^53. */
static int64_t
part_of(int64_t units, double share)
{
	int			exponent;
	uint64_t	m = (uint64_t) ldexp(frexp(share, &exponent), 53);

	return exponent < -63 ? 0 : (int64_t) ((pe_u128) units * m >> (53 - exponent));
}

pe_amount
pe_budget_limit(pe_accounting accounting, double epsilon, double delta, double share)
{
	const pe_amount nothing = {-1, -1, -1};

	if (!pe_epsilon_valid(epsilon))
		return nothing;
	if (accounting == PE_PURE)
		return (pe_amount) {.epsilon_nano = pe_nano_rho_down(epsilon)};
	if (!pe_delta_valid(delta) || !pe_share_valid(accounting, share))
		return nothing;
	return (pe_amount) {
		.rho_nano = pe_nano_rho_of_epsilon(accounting, epsilon, pe_delta_of_conversion(delta, share)),
		.delta_atto = part_of(pe_atto_down(delta), share)
	};
}

pe_amount
pe_cap_amount(pe_amount charge, int64_t as_rho_nano, pe_accounting cap)
{
	pe_amount	cost = charge;

	if (cap != PE_PURE && charge.epsilon_nano != 0)
	{
		cost.rho_nano = pe_nano_rho_of_pure(cap, charge.epsilon_nano);
		if (as_rho_nano > 0 && as_rho_nano < cost.rho_nano)
			cost.rho_nano = as_rho_nano;
		cost.epsilon_nano = 0;
	}
	return cost;
}

int64_t
pe_nano_left(pe_amount left, pe_accounting accounting)
{
	int64_t		nano = accounting == PE_PURE ? left.epsilon_nano : left.rho_nano;

	return nano > 0 ? nano : 0;
}

pe_amount
pe_amount_less(pe_amount limit, pe_amount spent)
{
	return (pe_amount) {
		limit.rho_nano - spent.rho_nano, limit.delta_atto - spent.delta_atto, limit.epsilon_nano - spent.epsilon_nano
	};
}

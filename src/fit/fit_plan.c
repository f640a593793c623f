/*
 * fit_plan.c
 *	  What a fit costs, and how much noise that buys.
 *
 * Most methods are measurements and selections whose shares add up to the cost
 * (fit/fit.h): they are charged problem->nano itself, of rho or of a pure
 * epsilon.  A method whose theorem ends in (epsilon, delta) is charged (epsilon
 * tanh(epsilon / 2), delta): it is epsilon-DP but for an event of probability delta,
 * and that is delta-approximate zCDP (pe_nano_rho_of_pure).
 */
#include "fit/fit_plan.h"

#include <string.h>

#include "fit/first_order.h"

/* Every step takes a nano-unit at least, and so does the number of rows where it is not given. */
static bool
accelerated_fits(const pe_fit_problem *problem)
{
	bool		fits = true;

	if (problem->options.batch > 0)
	{
		if (!problem->pure || problem->substitute)
			return false;
		(void) pe_sample_of(problem->options.batch / problem->options.rows, &fits);
	}
	return fits && problem->nano - pe_count_share(problem, problem->nano) >= (int64_t) problem->options.iterations;
}

bool
pe_fit_plan_make(pe_fit_problem *problem, pe_cost *cost)
{
	memset(&problem->plan, 0, sizeof(problem->plan));
	*cost = (pe_cost) {0, 0, 0};

	if (!pe_fit_is_private(problem->method))
		return true;
	if (problem->nano <= 0)
		return false;
	switch (problem->method)
	{
		case PE_FIT_OBJPERT:
			return pe_plan_objpert(problem, cost);
		case PE_FIT_SGD:
		case PE_FIT_SGD_ADV:
			return pe_plan_sampled(problem, cost);
		case PE_FIT_GD:
		case PE_FIT_HB:
		case PE_FIT_NAG:
		case PE_FIT_MASG:
		case PE_FIT_NAG_OPT:
		case PE_FIT_MASG_OPT:
			if (!accelerated_fits(problem))
				return false;
			break;
		default:
			break;
	}
	if (problem->pure)
		cost->epsilon_nano = problem->nano;
	else
		cost->rho_nano = problem->nano;
	return true;
}

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

#include "fit/methods.h"

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

static void
charge_nano(const pe_fit_problem *problem, pe_cost *cost)
{
	if (problem->pure)
		cost->epsilon_nano = problem->nano;
	else
		cost->rho_nano = problem->nano;
}

bool
pe_plan_accelerated(pe_fit_problem *problem, pe_cost *cost)
{
	charge_nano(problem, cost);
	return accelerated_fits(problem);
}

bool
pe_fit_plan_make(pe_fit_problem *problem, pe_cost *cost)
{
	const pe_fit_operations *method = pe_fit_operations_of(problem->method);

	memset(&problem->plan, 0, sizeof(problem->plan));
	*cost = (pe_cost) {0, 0, 0};
	if (method->plain)
		return true;
	if (problem->nano <= 0)
		return false;
	if (method->plan != NULL)
		return method->plan(problem, cost);
	charge_nano(problem, cost);
	return true;
}

/*
 * fit_plan.c
 *	  What a fit costs, and how much noise that buys.
 *
 * Most methods are measurements and selections whose shares add up to problem->nano
 * (fit/fit.h), of rho or of a pure epsilon.  Of a method whose theorem ends in (epsilon,
 * delta) that is the epsilon.  The charge is plan/plan.h's.
 */
#include "fit/fit.h"

#include <string.h>

#include "fit/methods.h"

/* Every step takes a nano-unit at least, and so does the number of rows where it is not given. */
static bool
accelerated_fits(const pe_fit_problem *problem)
{
	bool		fits = true;

	if (problem->options.batch > 0)
	{
		if (problem->accounting != PE_PURE || problem->substitute)
			return false;
		(void) pe_sample_of(problem->options.batch / problem->options.rows, &fits);
	}
	return fits && problem->nano - pe_count_share(problem, problem->nano) >= (int64_t) problem->options.iterations;
}

bool
pe_plan_accelerated(pe_fit_problem *problem)
{
	return accelerated_fits(problem);
}

bool
pe_fit_plan_make(pe_fit_problem *problem)
{
	const pe_fit_operations *method = pe_fit_operations_of(problem->method);

	memset(&problem->plan, 0, sizeof(problem->plan));
	if (method->plain)
		return true;
	return problem->nano > 0 && (method->plan == NULL || method->plan(problem));
}

int64_t
pe_fit_drawn(const pe_fit_problem *problem)
{
	const pe_fit_plan *plan = &problem->plan;
	int64_t		steps;

	if (plan->steps == 0)
		return problem->nano;
	if (__builtin_mul_overflow(plan->nano_step, (int64_t) plan->steps, &steps) ||
		__builtin_add_overflow(steps, plan->nano_count, &steps))
		return 0;
	return steps;
}

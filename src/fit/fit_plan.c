/*
 * fit_plan.c
 *	  What a fit costs, and how much noise that buys.
 *
 * Most methods are measurements and selections whose shares add up to problem->nano
 * (fit/fit.h), of rho or of a pure epsilon.  Of a method whose theorem ends in (epsilon,
 * delta) that is the epsilon.  The charge is plan/plan.h's.
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
pe_fit_plan_make(pe_fit_problem *problem)
{
	memset(&problem->plan, 0, sizeof(problem->plan));

	if (!pe_fit_is_private(problem->method))
		return true;
	if (problem->nano <= 0)
		return false;
	switch (problem->method)
	{
		case PE_FIT_OBJPERT:
			return pe_plan_objpert(problem);
		case PE_FIT_SGD:
		case PE_FIT_SGD_ADV:
			return pe_plan_sampled(problem);
		case PE_FIT_GD:
		case PE_FIT_HB:
		case PE_FIT_NAG:
		case PE_FIT_MASG:
		case PE_FIT_NAG_OPT:
		case PE_FIT_MASG_OPT:
			return accelerated_fits(problem);
		default:
			return true;
	}
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

/*
 * allowance.h
 *	  What a plan gives a run, for tests that run a method by itself.
 */
#ifndef TEST_ALLOWANCE_H
#define TEST_ALLOWANCE_H

#include <math.h>

#include "accounting/private.h"
#include "fit/fit.h"
#include "fit/methods.h"
#include "minimum/minimum.h"
#include "plan/plan.h"

/* An allowance of all that there is, filled up again. */
static inline pe_allowance *
plenty(bool pure)
{
	static pe_allowance allowance[2];

	allowance[pure] = (pe_allowance) {.accounting = pure ? PE_PURE : PE_ZCDP, .left = INT64_MAX};
	return &allowance[pure];
}

/* What a plan of the problem, whose defaults are filled in, charges; nothing where there is no plan. */
static inline pe_amount
fit_cost(const pe_fit_problem *problem)
{
	pe_fit_problem planned = *problem;
	double		units = (double) problem->nano / 1e9;
	bool		as_epsilon = (problem->accounting == PE_PURE) || pe_fit_is_approximate(problem->method);
	pe_plan_ask ask = {
		.accounting = problem->accounting, .epsilon = as_epsilon ? units : NAN, .rho = as_epsilon ? NAN : units, .max_stderr = NAN,
		.delta = problem->delta
	};
	const char *what;
	pe_plan    *plan;
	pe_amount	amount = {0, 0, 0};

	if (pe_plan_of_model(&ask, &planned, &plan, &what) == PE_PLAN_MADE)
		amount = pe_cost_amount(pe_plan_cost(plan));
	pe_free(plan);
	return amount;
}

/* Runs pe_fit_run, or the function of a method, for the cost of the problem; returns what is left of it. */
static inline int64_t
run_fit(void (*method) (const pe_fit_problem *problem, pe_source *source, double *w),
		const pe_fit_problem *problem, pe_source *source, double *w)
{
	pe_allowance allowance = {.accounting = problem->accounting, .left = pe_fit_drawn(problem)};
	pe_fit_problem run = *problem;

	run.allowance = &allowance;
	method(&run, source, w);
	return allowance.left;
}

static inline int64_t
run_minimum(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	pe_allowance allowance = {.accounting = problem->accounting, .left = problem->nano};
	pe_minimum_problem run = *problem;

	run.allowance = &allowance;
	pe_minimum_run(&run, f, x);
	return allowance.left;
}

#endif

/*
 * plan_model.c
 *	  Plans of private models.  See plan.h.
 */
#include "plan/private.h"

#include "accounting/conversion.h"
#include "base/mem.h"
#include "fit/fit.h"

/* Its own divisions were checked when the fit was planned. */
static bool
model_serves(const pe_plan *plan)
{
	return (double) plan->nano <= PE_EPSILON_MAX * 1e9;
}

static pe_cost
exact_cost(const pe_plan *plan)
{
	return pe_cost_exact(plan->accounting, plan->nano, 0);
}

static const pe_plan_kind exact_kind = {model_serves, exact_cost, pe_plan_drawn_exactly, NULL};

static pe_cost
approximate_cost(const pe_plan *plan)
{
	return pe_cost_approximate(plan->accounting, plan->nano, pe_atto_down(plan->delta));
}

/* What the theorem of the method proves to cost no more (fit/sampling.c, fit/objpert.c). */
static int64_t
approximate_drawn(const pe_plan *plan)
{
	return pe_fit_drawn(&plan->model);
}

static const pe_plan_kind approximate_kind = {model_serves, approximate_cost, approximate_drawn, NULL};

/* A method without privacy: no cost, and no run. */
static int64_t
plain_drawn(const pe_plan *plan)
{
	(void) plan;
	pe_bug("a method without privacy is run by a plan");
}

static const pe_plan_kind plain_kind = {model_serves, exact_cost, plain_drawn, NULL};

static const pe_plan_kind *
kind_of(const pe_plan_ask *ask, pe_fit_method method)
{
	if (!pe_fit_is_private(method))
		return &plain_kind;
	return pe_fit_is_approximate(method) && ask->accounting != PE_PURE ? &approximate_kind : &exact_kind;
}

static pe_plan_status
check_method(pe_fit_problem *problem, const char **what)
{
	*what = pe_fit_defaults(problem);
	if (*what != NULL)
		return PE_PLAN_OPTION;
	*what = pe_fit_refusal(problem);
	return *what != NULL ? PE_PLAN_REFUSED : PE_PLAN_MADE;
}

pe_plan_status
pe_plan_of_model(const pe_plan_ask *ask, pe_fit_problem *problem, pe_plan **plan, const char **what)
{
	const pe_plan_kind *kind = kind_of(ask, problem->method);
	pe_plan_status status = PE_PLAN_MADE;

	*what = NULL;
	*plan = pe_plan_begin(kind, ask);
	(*plan)->approximate = kind == &approximate_kind;
	(*plan)->rules = (pe_plan_rules) {
		.neighbours = problem->substitute ? PE_SUBSTITUTE : PE_ADD_REMOVE,
		.max_rows = problem->max_rows, .cap = ask->cap
	};
	problem->accounting = ask->accounting;
	problem->delta = (*plan)->delta;
	problem->nano = kind == &plain_kind ? 0 : pe_plan_nano(ask, (*plan)->approximate);
	if (kind != &plain_kind)
		status = pe_plan_end(*plan, problem->nano);
	if (status == PE_PLAN_MADE)
		status = check_method(problem, what);
	if (status == PE_PLAN_MADE && !pe_fit_plan_make(problem))
		status = PE_PLAN_SHARES;
	(*plan)->model = *problem;
	return status;
}

void
pe_plan_fit(const pe_plan *plan, pe_source *source, double *w, double *covariance, pe_fit_population *population)
{
	pe_allowance allowance = pe_plan_allowance(plan);
	pe_fit_problem run = plan->model;

	run.allowance = &allowance;
	run.covariance = covariance;
	run.population = population;
	pe_fit_run(&run, source, w);
}

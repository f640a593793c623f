/*
 * remaining.c
 *	  dp.remaining: what is left of the caller's budget, in questions.
 *
 * It shows that budget alone: what is left of the cap says what others spent.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"

#include "ask/sums_call.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "server/settings.h"

PG_FUNCTION_INFO_V1(pe_sql_remaining);

enum
{
	ARG_DATASET, ARG_EPSILON, ARG_MAX_STDERR, ARG_BUDGET
};

typedef struct remaining
{
	const pe_budget *budget;
	double		epsilon;		/* of one question; without a price all that is left */
	int64		questions;		/* -1: there is no price */
} remaining;

/* Without an argument the price is that of a SELECT, if one is set. */
static void
read_price(FunctionCallInfo fcinfo, pe_request *request)
{
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->max_stderr = pe_optional_float(fcinfo, ARG_MAX_STDERR, "max_stderr");
	if (!isnan(request->epsilon) || !isnan(request->max_stderr))
		return;
	pe_settings_check_select();
	if (pe_select_epsilon > 0)
		request->epsilon = pe_select_epsilon;
	if (pe_select_max_stderr > 0)
		request->max_stderr = pe_select_max_stderr;
}

/* So many charges of one size that the budget has, one after the other. */
static int64
questions_left(const pe_asked *asked)
{
	pe_amount	charge = pe_cost_amount(pe_plan_cost(asked->plan));
	int64		left = pe_budget_left_after(asked->budget, charge);

	return left < 0 || asked->dataset->frozen ? 0 : 1 + left / pe_nano_left(charge, asked->ask.accounting);
}

static void
price_count(pe_aggregate_call *call, remaining *r)
{
	static char *count[] = {"count(*)"};

	call->call.request.sums.aggregate = count;
	call->call.request.sums.aggregates = 1;
	pe_aggregate_call_prepare(call, true);
	r->budget = call->aggregation->asked.budget;
	if (r->budget == NULL)		/* which a rehearsal may have */
		r->budget = pe_budget_choose(call->aggregation->asked.dataset, call->call.request.budget);
	r->epsilon = pe_plan_epsilon(call->aggregation->asked.plan);
	r->questions = questions_left(&call->aggregation->asked);
}

static double
used_percent(const pe_budget *budget)
{
	int64		limit = pe_nano_left(budget->limit, budget->accounting);

	return limit > 0 ? 100.0 * pe_nano_left(budget->spent, budget->accounting) / limit : 100;
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const remaining *r = argument;

	values[0] = CStringGetTextDatum(r->budget->role);
	values[1] = Float8GetDatum(used_percent(r->budget));
	values[2] = Float8GetDatum(r->epsilon);
	values[3] = Int64GetDatum(r->questions);
	nulls[3] = r->questions < 0;
}

Datum
pe_sql_remaining(PG_FUNCTION_ARGS)
{
	pe_aggregate_call call = {0};
	remaining	r = {.questions = -1};

	pe_request_init(&call.call.request, PE_ASK_SUMS, "dp.remaining");
	call.call.request.dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	call.call.request.budget = pe_optional_name(fcinfo, ARG_BUDGET);
	read_price(fcinfo, &call.call.request);
	if (isnan(call.call.request.epsilon) && isnan(call.call.request.max_stderr))
	{
		r.budget = pe_budget_choose(pe_dataset_load(call.call.request.dataset), call.call.request.budget);
		r.epsilon = pe_budget_epsilon_left(r.budget);
	}
	else
		price_count(&call, &r);
	pe_return_rows(fcinfo, 1, 4, make_row, &r);
	return (Datum) 0;
}

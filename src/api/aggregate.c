/*
 * aggregate.c
 *	  dp.aggregate and its quote.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "api/aggregate.h"
#include "server/arguments.h"
#include "ask/answers.h"
#include "server/return_rows.h"
#include "server/settings.h"

PG_FUNCTION_INFO_V1(pe_sql_aggregate);
PG_FUNCTION_INFO_V1(pe_sql_quote_aggregate);

/* The arguments by position, the same in both functions but the last one. */
enum
{
	ARG_DATASET, ARG_AGGREGATES, ARG_BY, ARG_PREDICATE, ARG_WORKLOAD, ARG_ROWS_PER_UNIT, ARG_CELLS_PER_UNIT,
	ARG_EPSILON, ARG_RHO, ARG_MAX_STDERR, ARG_DELTA, ARG_FRESH, ARG_REUSE, ARG_BUDGET,
	ARG_ROWS					/* of the quote alone */
};

typedef struct call
{
	pe_aggregate_call call;
	pe_labels	labels;
	int			each;			/* aggregates that have a row for each group; */
	int			number[PE_MAX_AGGREGATES];	/* these, then those of all groups together */

	/* of a quote */
	bool		replay;
	double		rows;
	double	   *errors;
} call;

static void
read_arguments(FunctionCallInfo fcinfo, pe_request *request)
{
	pe_request_init(request, PE_ASK_SUMS, "dp.aggregate");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->sums.aggregate = pe_names_argument(fcinfo, ARG_AGGREGATES, "aggregates",
												"an aggregate", &request->sums.aggregates);
	request->attribute = pe_names_argument(fcinfo, ARG_BY, "by", "an attribute of by", &request->attributes);
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->workload = pe_optional_text(fcinfo, ARG_WORKLOAD);
	request->cuts = !PG_ARGISNULL(ARG_ROWS_PER_UNIT);
	request->rows_per_unit = request->cuts ? PG_GETARG_INT32(ARG_ROWS_PER_UNIT) : 0;
	request->sums.limits_cells = !PG_ARGISNULL(ARG_CELLS_PER_UNIT);
	request->sums.cells_per_unit = request->sums.limits_cells ? PG_GETARG_INT32(ARG_CELLS_PER_UNIT) : 0;
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->max_stderr = pe_optional_float(fcinfo, ARG_MAX_STDERR, "max_stderr");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
}

/* The arguments, validated; nothing is charged. */
static void
prepare_aggregates(FunctionCallInfo fcinfo, pe_aggregate_call *c, bool needs_budget)
{
	read_arguments(fcinfo, &c->call.request);
	c->reuse = !PG_ARGISNULL(ARG_REUSE) && PG_GETARG_BOOL(ARG_REUSE);
	pe_aggregate_call_prepare(c, needs_budget);
}

/* AS, or the aggregate itself. */
static const char *
name_of(const pe_aggregation *g, int i)
{
	return g->aggregate[i].name != NULL ? g->aggregate[i].name : g->text[i];
}

/* ------------------------------------------------------------------
 * dp.aggregate
 * ------------------------------------------------------------------
 */

/* Counts that only decide what is shown have no rows. */
static int
asked_for(const call *c)
{
	return c->call.call.request.sums.aggregates;
}

/* Rows that the cut dropped have one row, behind those of the groups. */
static void
number_rows(call *c)
{
	const pe_aggregation *g = c->call.aggregation;
	int			last = 0;

	for (int i = 0; i < asked_for(c); i++)
		if (g->aggregate[i].kind != PE_AGG_LOST)
			c->number[c->each++] = i;
	for (int i = 0; i < asked_for(c); i++)
		if (g->aggregate[i].kind == PE_AGG_LOST)
			c->number[c->each + last++] = i;
}

static int32
rows_of_groups(const call *c)
{
	return c->call.aggregation->space[0].workload.queries * c->each;
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const call *c = argument;
	const pe_aggregation *g = c->call.aggregation;
	bool		of_group = row < rows_of_groups(c);
	int32		group = of_group ? row / c->each : 0;
	int			number = c->number[of_group ? row % c->each : c->each + row - rows_of_groups(c)];
	const pe_aggregate_result *result = pe_aggregate_call_result_of(&c->call, group, number);

	values[0] = of_group ? pe_label(&c->labels, group) : DirectFunctionCall1(jsonb_in, CStringGetDatum("{}"));
	values[1] = CStringGetTextDatum(name_of(g, number));
	pe_put_float(result->estimate, &values[2], &nulls[2]);
	pe_put_float(result->stderr_, &values[3], &nulls[3]);
	pe_put_float(result->lower, &values[4], &nulls[4]);
	pe_put_float(result->upper, &values[5], &nulls[5]);
	values[6] = Int64GetDatum(c->call.call.reply.release_id);
	nulls[6] = c->call.call.reply.release_id == 0;
}

/* By the first count or sum. */
static void
tell_noise(const pe_aggregate_call *c)
{
	const pe_aggregation *g = c->aggregation;
	pe_near_zero count = {0};
	int			i = 0;

	while (i < g->aggregates && (!pe_aggregate_is_linear(&g->aggregate[i]) || g->aggregate[i].kind == PE_AGG_LOST))
		i++;
	for (int32 q = 0; i < g->aggregates && q < g->space[0].workload.queries; q++)
	{
		const pe_aggregate_result *r = pe_aggregate_call_result_of(c, q, i);

		if (!isnan(r->estimate))
			pe_near_zero_add(&count, r->estimate, r->stderr_);
	}
	pe_near_zero_tell(&count, NULL);
}

/* A group is hidden if any of its aggregates is. */
static void
tell_hidden(const call *c)
{
	const pe_aggregate_call *a = &c->call;
	int32		groups = a->aggregation->space[0].workload.queries;
	int32		hidden = 0;
	int32		partly = 0;

	for (int32 q = 0; q < groups && a->aggregation->min.units > 0; q++)
	{
		int			shown = 0;

		for (int i = 0; i < c->each; i++)
		{
			pe_weighted one = {1, c->number[i]};

			shown += pe_aggregate_call_shows(a, &q, 1, &(pe_terms) {&one, 1});
		}
		hidden += shown < c->each;
		partly += shown > 0 && shown < c->each;
	}
	pe_aggregate_call_tell_hidden(a, hidden, partly, groups);
}

Datum
pe_sql_aggregate(PG_FUNCTION_ARGS)
{
	call		c = {0};
	pe_aggregation *g;

	prepare_aggregates(fcinfo, &c.call, true);
	g = c.call.aggregation;
	pe_check_memory(pe_aggregation_memory(g) + pe_labels_memory(&g->space[0].workload, g->space[0].columns));
	pe_aggregate_call_answer(&c.call);
	tell_noise(&c.call);
	pe_labels_init(&c.labels, &g->space[0].workload, g->space[0].columns);
	number_rows(&c);
	tell_hidden(&c);
	pe_return_rows(fcinfo, rows_of_groups(&c) + asked_for(&c) - c.each, 7, make_row, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.quote_aggregate
 * ------------------------------------------------------------------
 */

static void
make_quote(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const call *c = argument;
	const pe_aggregation *g = c->call.aggregation;
	const pe_asked *asked = &g->asked;
	double		left = 0;

	values[0] = CStringGetTextDatum(name_of(g, row));
	pe_put_float(c->errors[row], &values[1], &nulls[1]);
	values[2] = Float8GetDatum(c->rows);
	nulls[2] = !pe_aggregate_needs_rows(&g->aggregate[row]);
	values[3] = Float8GetDatum(pe_cost_amount(pe_plan_cost(asked->plan)).rho_nano / 1e9);
	nulls[3] = asked->ask.accounting == PE_PURE;
	values[4] = Float8GetDatum(pe_plan_epsilon(asked->plan));
	values[5] = Int32GetDatum(g->space[0].workload.queries);
	values[6] = BoolGetDatum(pe_asked_fits(asked, c->replay, &left));
	nulls[7] = !DatumGetBool(values[6]);
	values[7] = Float8GetDatum(left);
	values[8] = BoolGetDatum(c->replay);
}

void
pe_return_quote_of_aggregates(FunctionCallInfo fcinfo, pe_aggregate_call *prepared, int n)
{
	call		c = {.call = *prepared};

	c.replay = pe_aggregate_call_is_paid(&c.call);
	c.rows = pe_float_argument(fcinfo, n, "rows");
	if (!(c.rows > 0) || isinf(c.rows))
		pe_refuse_parameter("rows", pe_number_text(c.rows), "a finite number above 0");
	c.errors = palloc(c.call.aggregation->aggregates * sizeof(double));
	pe_aggregation_errors(c.call.aggregation, c.rows, pe_aggregate_call_nano(&c.call), c.errors);
	pe_return_rows(fcinfo, c.call.aggregation->aggregates, 9, make_quote, &c);
}

/* Reads no row, charges nothing. */
Datum
pe_sql_quote_aggregate(PG_FUNCTION_ARGS)
{
	pe_aggregate_call c = {0};

	prepare_aggregates(fcinfo, &c, false);
	pe_return_quote_of_aggregates(fcinfo, &c, ARG_ROWS);
	return (Datum) 0;
}

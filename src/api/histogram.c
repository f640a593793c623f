/*
 * histogram.c
 *	  dp.histogram and its quotes.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

#include "ask/answers.h"
#include "ask/ask.h"
#include "server/arguments.h"
#include "ask/known.h"
#include "ask/ask_counts.h"
#include "ask/suppress.h"
#include "server/return_rows.h"
#include "server/access.h"
#include "server/settings.h"
#include "methods/make.h"
#include "blocks/blocks.h"

PG_FUNCTION_INFO_V1(pe_sql_histogram);
PG_FUNCTION_INFO_V1(pe_sql_measure);
PG_FUNCTION_INFO_V1(pe_sql_quote);
PG_FUNCTION_INFO_V1(pe_sql_quote_queries);

/* The arguments by position, the same in all functions. */
enum
{
	ARG_DATASET, ARG_ATTRIBUTES, ARG_WORKLOAD, ARG_EPSILON, ARG_RHO, ARG_MAX_STDERR, ARG_DELTA,
	ARG_PREDICATE, ARG_METHOD, ARG_NONNEGATIVE, ARG_FRESH, ARG_BUDGET, ARG_ROWS_PER_UNIT,
	ARG_REUSE					/* of dp.histogram alone */
};

static void
read_arguments(FunctionCallInfo fcinfo, pe_request *request)
{
	pe_request_init(request, PE_ASK_COUNTS, "dp.histogram");
	request->attribute = pe_names_argument(fcinfo, ARG_ATTRIBUTES, "attributes", "an attribute", &request->attributes);
	pe_check_attributes(request->attributes);	/* none: all rows are one cell */
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->workload = pe_text_argument(fcinfo, ARG_WORKLOAD, "workload");
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->max_stderr = pe_optional_float(fcinfo, ARG_MAX_STDERR, "max_stderr");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->method = pe_text_argument(fcinfo, ARG_METHOD, "method");
	request->counts.nonnegative = !PG_ARGISNULL(ARG_NONNEGATIVE) && PG_GETARG_BOOL(ARG_NONNEGATIVE);
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
	request->cuts = !PG_ARGISNULL(ARG_ROWS_PER_UNIT);
	request->rows_per_unit = request->cuts ? PG_GETARG_INT32(ARG_ROWS_PER_UNIT) : 0;
}

/* ------------------------------------------------------------------
 * dp.histogram
 * ------------------------------------------------------------------
 */

/* A call of dp.histogram or of a quote. */
typedef struct counts_call
{
	pe_call		call;
	pe_aggregation *counts;
	pe_answers	answers;

	/* what is known already */
	bool		reuse;
	pe_known   *known;			/* NULL: none */

	/* of a quote */
	double		max_stderr;
	double		rms_stderr;
	const double *variance;
	pe_labels	labels;
} counts_call;

static void
validate_counts(pe_call *call)
{
	counts_call *c = (counts_call *) call;

	read_arguments(call->fcinfo, &call->request);
	c->counts = pe_aggregation_validate(&call->request, !call->quote);
	call->asked = &c->counts->asked;
}

static void
resolve_counts(pe_call *call)
{
	pe_aggregation *g = ((counts_call *) call)->counts;

	pe_aggregation_measure(g);
	pe_aggregation_price(g);
}

static void
ask_for_counts(pe_call *call)
{
	pe_door_answer(&((counts_call *) call)->counts->question, &call->reply);
}

static const char *
buys_of_counts(pe_call *call)
{
	pe_aggregation *g = ((counts_call *) call)->counts;

	if (g->method == PE_METHOD_DAWA)
		return "";
	return psprintf(" and buys max_stderr => %.4g",
					pe_plan_stderr_at(call->asked->plan, call->reply.left) * sqrt(pe_counts_max_variance(g)));
}

static void
make_answer(const void *argument, int32 query, Datum *values, bool *nulls)
{
	const counts_call *c = argument;

	values[0] = Int32GetDatum(query + 1);
	values[1] = pe_label(&c->answers.labels, query);
	values[2] = Float8GetDatum(c->answers.estimate[query]);
	values[3] = Float8GetDatum(c->answers.stderr_[query]);
	values[4] = Float8GetDatum(c->answers.lower[query]);
	values[5] = Float8GetDatum(c->answers.upper[query]);
	nulls[2] = isnan(c->answers.estimate[query]);
	nulls[3] = nulls[4] = nulls[5] = isnan(c->answers.stderr_[query]);
	values[6] = Int64GetDatum(c->call.reply.release_id);
	nulls[6] = c->call.reply.release_id == 0;
}

static void
reconstruct(counts_call *c)
{
	pe_aggregation *g = c->counts;
	pe_space   *s = &g->space[0];
	const pe_noise *noise;
	const int64 *y = pe_counts_take(g, &c->call.reply, &noise);

	pe_counts_check_nonnegative(g);
	pe_answers_init(&c->answers, &s->measured, &s->workload, g->columns, y, noise, s->variance,
					pe_counts_nonnegative(g));
}

/* Answers from a release that knows every query at least as precisely as a new one would; false if there is none. */
static bool
reuse(pe_call *call)
{
	counts_call *c = (counts_call *) call;

	bool		looks = c->reuse || (pe_settings_reuse_only() && !call->request.fresh &&
								 c->counts->method != PE_METHOD_DAWA && !pe_ask_is_replay(call));

	c->known = looks ? pe_known_find(c->counts) : NULL;
	if (c->known == NULL)
		return false;
	pe_known_answer(c->counts, c->known, &c->answers);
	call->reply.release_id = c->known->release.id;
	pe_known_tell(&c->known->release);
	return true;
}

/* 22023 for what reuse does not go with. */
static void
check_reuse(const counts_call *c)
{
	bool		dawa = c->counts->method == PE_METHOD_DAWA;

	if (c->reuse && (c->call.request.fresh || dawa))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 dawa ? errmsg("reuse does not go with method \"dawa\"") : errmsg("reuse does not go with fresh"),
				 dawa ? errdetail("Nobody knows the errors that a stored release would have to match.") : 0));
}

/* What the answers take from the strategy that would be measured, while nothing is charged. */
static void
check_answers(const pe_aggregation *g)
{
	const pe_workload *workload = &g->space[0].workload;
	const pe_strategy *strategy = &g->space[0].kept.strategy;
	size_t		memory = pe_answers_memory(workload, g->columns);
	pe_classes	none = {0};

	if (strategy->blocks != NULL)
		memory += pe_reconstruction_memory(strategy, workload, &none)
			+ (size_t) strategy->rows * (sizeof(int64) + sizeof(double));
	pe_check_memory(memory);
}

static void
resolve_answered(pe_call *call)
{
	counts_call *c = (counts_call *) call;

	check_reuse(c);
	if (c->counts->method == PE_METHOD_DAWA)
		pe_suppress_check_interval(&c->counts->min, c->counts->asked.dataset, "method \"dawa\"",
								   "Use method => 'optimal'.");
	pe_counts_check_rows(&c->counts->space[0].workload);
	resolve_counts(call);
	check_answers(c->counts);
}

static const pe_ask_kind ask_counts = {
	.validate = validate_counts, .resolve = resolve_answered,
	.know = reuse, .door = ask_for_counts, .buys = buys_of_counts
};

Datum
pe_sql_histogram(PG_FUNCTION_ARGS)
{
	counts_call c = {.call = {.kind = &ask_counts, .fcinfo = fcinfo}};

	c.reuse = !PG_ARGISNULL(ARG_REUSE) && PG_GETARG_BOOL(ARG_REUSE);
	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	if (c.known == NULL)
		reconstruct(&c);
	pe_suppress_answers(&c.counts->min, &c.answers);
	pe_answers_tell_noise(&c.answers);
	pe_return_rows(fcinfo, c.answers.queries, 7, make_answer, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.measure: the same, and nothing is answered yet
 * ------------------------------------------------------------------
 */

static void
make_measured(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const counts_call *c = argument;
	const pe_aggregation *g = c->counts;
	bool		pure = g->asked.ask.accounting == PE_PURE;

	values[0] = Int64GetDatum(c->call.reply.release_id);
	nulls[0] = c->call.reply.release_id == 0;
	values[1] = Int32GetDatum(g->space[0].workload.queries);
	values[2] = Float8GetDatum(pe_cost_amount(pe_plan_cost(g->asked.plan)).rho_nano / 1e9);
	nulls[2] = pure;
	values[3] = Float8GetDatum(pe_plan_epsilon(g->asked.plan));
	values[4] = CStringGetTextDatum(pe_strategy_form(&g->space[0].kept.strategy));
	nulls[4] = g->method == PE_METHOD_DAWA;
}

/* The same for dp.measure and the quotes, whose answers take no memory. */
static const pe_ask_kind measure_counts = {
	.validate = validate_counts, .resolve = resolve_counts, .door = ask_for_counts, .buys = buys_of_counts
};

Datum
pe_sql_measure(PG_FUNCTION_ARGS)
{
	counts_call c = {.call = {.kind = &measure_counts, .fcinfo = fcinfo}};

	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	pe_return_rows(fcinfo, 1, 5, make_measured, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * Quotes
 * ------------------------------------------------------------------
 */

static void
resolve_bounded(pe_call *call)
{
	((counts_call *) call)->counts->bounded = true;
	resolve_counts(call);
}

/* dp.quote, which shows a bound of all strategies. */
static const pe_ask_kind quote_counts = {.validate = validate_counts, .resolve = resolve_bounded};

/* Everything that a quote shows; reads no row, charges nothing. */
static void
quote(counts_call *c)
{
	pe_aggregation *g;
	double		noise;

	pe_ask_prepare(&c->call);
	g = c->counts;
	if (g->method == PE_METHOD_DAWA)
		return;					/* nobody knows its errors */
	noise = pe_noise_stderr(pe_plan_noise(g->asked.plan));
	c->max_stderr = noise * sqrt(pe_counts_max_variance(g));
	c->rms_stderr = noise * sqrt(pe_counts_mean_variance(g));
}

/* The one row of dp.quote. */
static void
make_quote(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const counts_call *c = argument;
	const pe_aggregation *g = c->counts;
	const pe_workload *workload = &g->space[0].workload;
	const pe_asked *asked = &g->asked;
	double		left = 0;
	bool		fits = pe_asked_fits(asked, c->call.replay, &left);
	bool		unknown = g->method == PE_METHOD_DAWA;

	values[0] = Float8GetDatum(pe_cost_amount(pe_plan_cost(asked->plan)).rho_nano / 1e9);
	nulls[0] = asked->ask.accounting == PE_PURE;
	values[1] = Float8GetDatum(pe_plan_epsilon(asked->plan));
	values[2] = Float8GetDatum(asked->ask.delta);
	values[3] = Float8GetDatum(c->max_stderr);
	values[4] = Float8GetDatum(c->rms_stderr);
	nulls[3] = nulls[4] = nulls[8] = unknown;
	values[5] = Int32GetDatum(workload->queries);
	values[6] = pe_product_numeric(workload->shape.cells, workload->shape.attributes);
	values[7] = CStringGetTextDatum(pe_method_name(g->method));
	values[8] = Float8GetDatum(g->space[0].kept.strategy.objective);
	values[9] = Float8GetDatum(g->space[0].kept.strategy.lower_bound);
	values[10] = Float8GetDatum(pe_strategy_gap(&g->space[0].kept.strategy));
	/* for pure accounting nobody has a bound worth telling, nor for more cells than can be optimised for */
	nulls[9] = nulls[10] = nulls[0] || g->space[0].kept.strategy.lower_bound == 0;
	values[11] = BoolGetDatum(fits);
	nulls[12] = !fits;
	values[12] = Float8GetDatum(left);
	values[13] = BoolGetDatum(c->call.replay);
	values[14] = CStringGetTextDatum(pe_accounting_name(asked->ask.accounting));
	values[15] = CStringGetTextDatum(pe_strategy_form(&g->space[0].kept.strategy));
	nulls[15] = unknown;
	nulls[16] = nulls[17] = c->known == NULL;
	values[16] = Int64GetDatum(c->known != NULL ? c->known->release.id : 0);
	values[17] = Float8GetDatum(c->known != NULL ? c->known->max_stderr : 0);
}

Datum
pe_sql_quote(PG_FUNCTION_ARGS)
{
	counts_call c = {.call = {.kind = &quote_counts, .fcinfo = fcinfo, .quote = true}};

	quote(&c);
	c.known = pe_known_most_precise(c.counts);
	pe_return_rows(fcinfo, 1, 18, make_quote, &c);
	return (Datum) 0;
}

static void
make_quoted_query(const void *argument, int32 query, Datum *values, bool *nulls)
{
	const counts_call *c = argument;
	const pe_aggregation *g = c->counts;

	values[0] = Int32GetDatum(query + 1);
	values[1] = pe_label(&c->labels, query);
	nulls[2] = g->method == PE_METHOD_DAWA;
	if (!nulls[2])
		values[2] = Float8GetDatum(pe_noise_stderr(pe_plan_noise(g->asked.plan)) * sqrt(c->variance[query]));
}

Datum
pe_sql_quote_queries(PG_FUNCTION_ARGS)
{
	counts_call c = {.call = {.kind = &measure_counts, .fcinfo = fcinfo, .quote = true}};
	pe_aggregation *g;
	const pe_workload *workload;

	quote(&c);
	g = c.counts;
	workload = &g->space[0].workload;
	pe_counts_check_rows(workload);
	pe_check_memory((size_t) workload->queries * sizeof(double) + pe_labels_memory(workload, g->columns));
	if (g->method != PE_METHOD_DAWA)
		c.variance = pe_counts_variances(g);
	pe_labels_init(&c.labels, workload, g->columns);
	pe_return_rows(fcinfo, workload->queries, 3, make_quoted_query, &c);
	return (Datum) 0;
}

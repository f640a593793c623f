/*
 * histogram.c
 *	  dp.histogram and its quotes.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "api/answers.h"
#include "api/price.h"
#include "api/question.h"
#include "api/rows.h"
#include "server/access.h"
#include "ledger/charge.h"
#include "ledger/chain.h"
#include "methods/make.h"

PG_FUNCTION_INFO_V1(pe_sql_histogram);
PG_FUNCTION_INFO_V1(pe_sql_quote);
PG_FUNCTION_INFO_V1(pe_sql_quote_queries);

/* ------------------------------------------------------------------
 * Telling what was charged, and what was not
 * ------------------------------------------------------------------
 */

static pe_price
price_of(const pe_histogram *h)
{
	return (pe_price) {h->dataset, h->budget, &h->question.charge, pe_histogram_epsilon(h)};
}

static void
tell_charge(const pe_histogram *h, const pe_charge_reply *reply)
{
	pe_price	price = price_of(h);

	pe_price_tell(&price, reply, psprintf("release " INT64_FORMAT, reply->release_id));
}

static void
refuse_overspend(pe_histogram *h, const pe_charge_reply *reply)
{
	pe_price	price = price_of(h);
	pe_noise	affordable = {h->noise.norm, h->noise.sensitivity, reply->left};

	if (h->method == PE_METHOD_DAWA)
		pe_price_refuse(&price, reply, "");
	pe_price_refuse(&price, reply, psprintf(" and buys max_stderr => %.4g",
											pe_noise_stderr(&affordable) * sqrt(pe_histogram_max_variance(h))));
}

/* ------------------------------------------------------------------
 * dp.histogram
 * ------------------------------------------------------------------
 */

/* A call of dp.histogram or of a quote. */
typedef struct call
{
	FunctionCallInfo fcinfo;
	pe_histogram *histogram;
	pe_charge_reply reply;
	pe_answers	answers;

	/* of a quote */
	bool		replay;
	double		max_stderr;
	double		rms_stderr;
	pe_labels	labels;
} call;

/* Runs body so that the caller's transaction keeps no lock of it. */
static void
run(call *c, void (*body) (void *))
{
	ErrorData  *error = pe_run_undone(body, c);

	if (error != NULL)
		ReThrowError(error);
}

static void
arguments(void *argument)
{
	call	   *c = argument;

	c->histogram = pe_histogram_arguments(c->fcinfo, true);
}

static void
ask_door(void *argument)
{
	call	   *c = argument;

	pe_door_answer(&c->histogram->question, &c->reply);
}

/* A replay is of what was measured then: another strategy perhaps than would be made now. */
static void
load_measured(void *argument)
{
	call	   *c = argument;
	pe_histogram *h = c->histogram;

	if (!pe_strategy_load_matrix(c->reply.strategy_id, &h->workload, &h->kept))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the strategy of release " INT64_FORMAT " is gone", c->reply.release_id)));
}

static void
make_answer(const void *argument, int32 query, Datum *values, bool *nulls)
{
	const call *c = argument;

	values[0] = Int32GetDatum(query + 1);
	values[1] = pe_label(&c->answers.labels, query);
	values[2] = Float8GetDatum(c->answers.estimate[query]);
	values[3] = Float8GetDatum(c->answers.stderr_[query]);
	values[4] = Float8GetDatum(c->answers.lower[query]);
	values[5] = Float8GetDatum(c->answers.upper[query]);
	nulls[3] = nulls[4] = nulls[5] = isnan(c->answers.stderr_[query]);
	values[6] = Int64GetDatum(c->reply.release_id);
}

/* From the measurements of the reply to answers. */
static void
reconstruct(call *c)
{
	pe_histogram *h = c->histogram;

	if (c->reply.strategy_id != h->kept.id && c->reply.outcome == PE_REPLAYED)
	{
		run(c, load_measured);
		h->variance = NULL;
		if (h->method != PE_METHOD_DAWA &&
			!pe_sensitivity(h->dataset, &h->kept.strategy, h->noise.norm, &h->noise.sensitivity))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("the strategy of release " INT64_FORMAT " is too large", c->reply.release_id)));
	}
	if (c->reply.values != h->kept.strategy.rows)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release " INT64_FORMAT " does not hold the measurements of its strategy", c->reply.release_id)));
	pe_answers_init(&c->answers, &h->measured, &h->workload, h->columns, c->reply.value,
					h->method == PE_METHOD_DAWA ? NULL : &h->noise, h->variance, h->nonnegative);
}

Datum
pe_sql_histogram(PG_FUNCTION_ARGS)
{
	call		c = {.fcinfo = fcinfo};

	run(&c, arguments);
	pe_histogram_resolve(fcinfo, c.histogram);
	run(&c, ask_door);
	if (c.reply.outcome == PE_REFUSED)
		refuse_overspend(c.histogram, &c.reply);
	if (c.reply.charge_id != 0)
		tell_charge(c.histogram, &c.reply);
	reconstruct(&c);
	pe_return_rows(fcinfo, c.answers.queries, 7, make_answer, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * Quotes
 * ------------------------------------------------------------------
 */

/* Whether the budget has paid for this very request already. */
static bool
is_replay(const pe_histogram *h)
{
	static pe_statement find = {NULL, "SELECT FROM dp_ledger.release r JOIN dp_ledger.charge c ON c.id = r.charge_id OR c.release_id = r.id "
		"WHERE r.dataset_id = $1 AND r.version = $2 AND r.request_hash = $3 AND r.request = $4 AND r.payload IS NOT NULL "
		"AND c.budget_id = $5 LIMIT 1", 5, {INT8OID, INT4OID, BYTEAOID, TEXTOID, INT8OID}};
	const pe_charge_request *request = &h->question.charge;
	Datum		values[5] = {
		Int64GetDatum(request->dataset_id), Int32GetDatum((int32) request->version),
		PointerGetDatum(pe_request_hash(request->request)), CStringGetTextDatum(request->request),
		Int64GetDatum(request->budget_id)
	};
	pe_access	access;
	bool		found;

	if (request->fresh || h->budget == NULL)
		return false;
	pe_access_begin(&access);
	found = pe_access_read(&find, values, NULL) > 0;
	pe_access_end(&access);
	return found;
}

static void
quote_arguments(void *argument)
{
	call	   *c = argument;

	c->histogram = pe_histogram_arguments(c->fcinfo, false);
}

static void
look_for_replay(void *argument)
{
	call	   *c = argument;

	c->replay = is_replay(c->histogram);
}

/* Everything that a quote tells, with a bound of all strategies if that is told; reads no row, charges nothing. */
static void
quote(call *c, bool bounded)
{
	pe_histogram *h;
	double		noise;
	double		sum = 0;

	run(c, quote_arguments);
	h = c->histogram;
	h->bounded = bounded;
	pe_histogram_resolve(c->fcinfo, h);
	run(c, look_for_replay);
	if (h->method == PE_METHOD_DAWA)
		return;					/* nobody knows its errors */
	noise = pe_noise_stderr(&h->noise);
	c->max_stderr = noise * sqrt(pe_histogram_max_variance(h));
	for (int32 q = 0; q < h->workload.queries; q++)
		sum += h->variance[q];
	c->rms_stderr = noise * sqrt(sum / h->workload.queries);
}

/* The one row of dp.quote. */
static void
make_quote(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const call *c = argument;
	const pe_histogram *h = c->histogram;
	pe_cost		cost = c->replay ? (pe_cost) {0} : pe_request_cost(&h->question.charge);
	int64		after = h->budget != NULL ? pe_budget_left_after(h->budget, cost) : -1;
	bool		fits = after >= 0 && (c->replay || !h->dataset->frozen);
	bool		unknown = h->method == PE_METHOD_DAWA;

	values[0] = Float8GetDatum(h->noise.nano / 1e9);
	nulls[0] = h->pure;
	values[1] = Float8GetDatum(pe_histogram_epsilon(h));
	values[2] = Float8GetDatum(h->delta);
	values[3] = Float8GetDatum(c->max_stderr);
	values[4] = Float8GetDatum(c->rms_stderr);
	nulls[3] = nulls[4] = nulls[8] = unknown;
	values[5] = Int32GetDatum(h->workload.queries);
	values[6] = Int32GetDatum(h->domain->cells);
	values[7] = CStringGetTextDatum(pe_method_name(h->method));
	values[8] = Float8GetDatum(h->kept.strategy.objective);
	values[9] = Float8GetDatum(h->kept.strategy.lower_bound);
	values[10] = Float8GetDatum(pe_strategy_gap(&h->kept.strategy));
	/* for pure accounting nobody has a bound worth telling, nor for more cells than can be optimised for */
	nulls[9] = nulls[10] = h->pure || h->kept.strategy.lower_bound == 0;
	values[11] = BoolGetDatum(fits);
	nulls[12] = !fits;
	if (fits)
		values[12] = Float8GetDatum(pe_budget_epsilon(h->budget, after));
	values[13] = BoolGetDatum(c->replay);
}

Datum
pe_sql_quote(PG_FUNCTION_ARGS)
{
	call		c = {.fcinfo = fcinfo};

	quote(&c, true);
	pe_return_rows(fcinfo, 1, 14, make_quote, &c);
	return (Datum) 0;
}

static void
make_quoted_query(const void *argument, int32 query, Datum *values, bool *nulls)
{
	const call *c = argument;
	const pe_histogram *h = c->histogram;

	values[0] = Int32GetDatum(query + 1);
	values[1] = pe_label(&c->labels, query);
	nulls[2] = h->method == PE_METHOD_DAWA;
	if (!nulls[2])
		values[2] = Float8GetDatum(pe_noise_stderr(&h->noise) * sqrt(h->variance[query]));
}

Datum
pe_sql_quote_queries(PG_FUNCTION_ARGS)
{
	call		c = {.fcinfo = fcinfo};

	quote(&c, false);
	pe_labels_init(&c.labels, &c.histogram->workload, c.histogram->columns);
	pe_return_rows(fcinfo, c.histogram->workload.queries, 3, make_quoted_query, &c);
	return (Datum) 0;
}

/*
 * ask_keys.c
 *	  dp.keys: the values of a column that are listed nowhere, for roles that may not read it.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "server/arguments.h"
#include "ask/ask.h"
#include "ask/suppress.h"
#include "server/return_rows.h"
#include "door/scan_keys.h"
#include "noise/interval.h"
#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_keys);

enum
{
	ARG_DATASET, ARG_COLUMN, ARG_EPSILON, ARG_RHO, ARG_DELTA, ARG_ROWS_PER_UNIT, ARG_FRESH, ARG_BUDGET
};

/* Of the threshold and the one cost. */
#define METHOD "threshold"

typedef struct key_call
{
	pe_call		call;
	double		delta;			/* charged; NaN: not given */
	pe_asked	asked;
	pe_column	column;
	pe_answered_keys keys;
	double		stderr_;
	double		half;			/* of an interval */
} key_call;

/* delta is what is charged: epsilon is meant at the budget's own. */
static void
read_arguments(key_call *c)
{
	FunctionCallInfo fcinfo = c->call.fcinfo;
	pe_request *request = &c->call.request;

	pe_request_init(request, PE_ASK_KEYS, "dp.keys");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->attribute = palloc(sizeof(char *));
	request->attribute[0] = pe_optional_name(fcinfo, ARG_COLUMN);
	if (request->attribute[0] == NULL)
		pe_refuse_null("column");
	request->attributes = 1;
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	c->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->cuts = !PG_ARGISNULL(ARG_ROWS_PER_UNIT);
	request->rows_per_unit = request->cuts ? PG_GETARG_INT32(ARG_ROWS_PER_UNIT) : 0;
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
}

/* Without a delta every key of a single unit would have to stay below the threshold for certain. */
static void
refuse_pure(const pe_asked *asked)
{
	if (asked->ask.accounting == PE_PURE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp.keys does not go with pure accounting"),
				 errdetail("A key that only one unit has is released with a small probability, which is "
						   "charged as delta, and a pure budget has none."),
				 errhint("Where the cap counts rho, the owner of the table can grant a budget that counts rho too.")));
}

static void
make_plan(key_call *c)
{
	pe_asked   *asked = &c->asked;
	pe_plan_rules rules = pe_door_rules(asked->dataset);

	pe_asked_resolve_cost(asked, false, false);
	if (isnan(c->delta))
		c->delta = pe_asked_delta_of_charge(asked);
	pe_check_delta(c->delta);
	if (pe_atto_down(c->delta) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be at least 1e-18")));
	pe_asked_check_plan(asked, pe_plan_of_keys(&asked->ask, &rules, c->delta, &asked->plan), 1, 9e9);
}

static char *
canonical_text(const pe_asked *asked)
{
	StringInfoData text;

	pe_text_begin(&text, asked, "keys");
	pe_text_add(&text, "column", asked->request->attribute[0]);
	pe_text_end(&text, asked, METHOD);
	return text.data;
}

static void
validate_keys(pe_call *call)
{
	key_call   *c = (key_call *) call;
	pe_asked   *asked = call->asked = &c->asked;

	read_arguments(c);
	pe_asked_open(asked, &call->request);
	pe_dataset_check_rows(asked->dataset);
	pe_asked_cut(asked);
	pe_open_column_load(asked->dataset, call->request.attribute[0], &c->column);
	pe_dataset_check_committed(asked->dataset);
	pe_asked_choose_budget(asked, true);
	refuse_pure(asked);
	make_plan(c);
	pe_asked_fill_charge(asked, canonical_text(asked), METHOD, 0);
}

/* Of one count: the law of the noise is public. */
static void
measure_errors(key_call *c)
{
	const pe_noise *noise = pe_plan_key_noise(c->asked.plan);
	pe_confidence intervals;

	c->stderr_ = pe_noise_stderr(noise);
	pe_confidence_init(&intervals, noise, 1, PE_MISS);
	c->half = pe_confidence_half(&intervals, 1, 1);
	pe_confidence_free(&intervals);
}

static void
ask_for_keys(pe_call *call)
{
	key_call   *c = (key_call *) call;
	const pe_key_question question = {
		.dataset = c->asked.dataset, .column = &c->column, .plan = c->asked.plan, .charge = &c->asked.charge
	};

	pe_door_keys(&question, &call->reply);
}

static void
take_keys(pe_call *call)
{
	pe_answered_keys_read(call->reply.value, call->reply.values, &((key_call *) call)->keys);
}

static const char *
paid_for_keys(pe_call *call)
{
	const pe_answered_keys *keys = &((key_call *) call)->keys;

	return psprintf("%s; a key is released from a noisy count of %.6g on", pe_release_text(&call->reply),
					ldexp((double) keys->threshold, -keys->shift));
}

static const pe_ask_kind ask_keys = {
	.validate = validate_keys, .door = ask_for_keys, .take = take_keys, .paid = paid_for_keys
};

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const key_call *c = argument;
	const pe_answered_key *key = &c->keys.key[row];
	double		estimate = ldexp((double) key->value, -c->keys.shift);

	values[0] = CStringGetTextDatum(key->key);
	values[1] = Float8GetDatum(estimate);
	values[2] = Float8GetDatum(c->stderr_);
	values[3] = Float8GetDatum(estimate - c->half);
	values[4] = Float8GetDatum(estimate + c->half);
	values[5] = Int64GetDatum(c->call.reply.release_id);
	nulls[5] = c->call.reply.release_id == 0;
}

/* A key is a value itself: what is not shown is left out.  They stay in their order. */
static void
leave_out_hidden(key_call *c)
{
	pe_min_count rule = pe_suppress_rule(c->asked.dataset, 0);
	int			kept = 0;

	rule.rows = 1;				/* units are counted */
	for (int i = 0; i < c->keys.keys; i++)
		if (pe_min_count_shows(&rule, ldexp((double) c->keys.key[i].value, -c->keys.shift) - c->half))
			c->keys.key[kept++] = c->keys.key[i];
	c->keys.keys = kept;
}

Datum
pe_sql_keys(PG_FUNCTION_ARGS)
{
	key_call	c = {.call = {.kind = &ask_keys, .fcinfo = fcinfo}};

	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	measure_errors(&c);
	leave_out_hidden(&c);
	pe_return_rows(fcinfo, c.keys.keys, 6, make_row, &c);
	return (Datum) 0;
}

/*
 * keys_call.c
 *	  A request for the keys of an open column.  See keys_call.h.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "ask/ask_predicate.h"
#include "ask/by_columns.h"
#include "ask/comparisons.h"
#include "ask/formulas.h"
#include "ask/keys_call.h"
#include "ask/suppress.h"
#include "noise/interval.h"
#include "strategy/share.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/settings.h"

/* Of the threshold and the one cost. */
#define METHOD "threshold"

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

/* Of what other charges with a delta take: the threshold hardly depends on it, and GROUP BY is asked more often. */
#define LESS_DELTA 10
#define LEAST_DELTA 1e-18

/* Of the cost, what the counts of units take beside sums: they decide which keys there are. */
#define SHARE_OF_KEYS (PE_WHOLE_SHARE / 2)

static pe_plan_status
plan_of(pe_key_call *c, const pe_plan_rules *rules)
{
	pe_asked   *asked = &c->asked;
	pe_aggregation *g = c->aggregation;
	pe_plan_sums sums;
	pe_plan_status status;

	if (g == NULL)
		return pe_plan_of_keys(&asked->ask, rules, c->delta, &asked->plan);
	sums = (pe_plan_sums) {.parts = g->parts, .part = g->part, .rules = g->rules};
	status = pe_plan_of_key_sums(&asked->ask, rules, c->delta, &sums, SHARE_OF_KEYS, &asked->plan);
	if (status == PE_PLAN_MADE)
		pe_plan_tell_apart(asked->plan, g->part);
	return status;
}

/* delta is what is charged: epsilon is meant at the budget's own. */
static void
make_plan(pe_key_call *c)
{
	pe_asked   *asked = &c->asked;
	pe_plan_rules rules = pe_door_rules(asked->dataset);

	pe_asked_resolve_cost(asked, false, false);
	if (isnan(c->delta))
	{
		double		most = pe_asked_delta_of_charge(asked);

		c->delta = fmax(most / LESS_DELTA, fmin(most, LEAST_DELTA));
	}
	pe_check_delta(c->delta);
	if (pe_atto_down(c->delta) <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be at least 1e-18")));
	pe_asked_check_plan(asked, plan_of(c, &rules), c->aggregation != NULL ? 2 : 1, 9e9);
}

/* The open columns; returns how many attributes stand beside them. */
static int
load_columns(pe_key_call *c)
{
	const pe_request *request = &c->call.request;
	int			beside = request->attributes - c->opens;

	memset(c->column, 0, sizeof(c->column));
	if (c->opens > PE_KEY_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("groups are by more than %d columns whose values nobody has listed", PE_KEY_COLUMNS)));
	pe_check_attributes(request->attributes);
	for (int i = 0; i < c->opens; i++)
		pe_open_column_load(c->asked.dataset, request->attribute[i], &c->column[i]);
	if (beside > 0)
		memcpy(c->column + c->opens, pe_by_columns(c->asked.dataset, request->attribute + c->opens, &beside),
			   beside * sizeof(*c->column));
	return beside;
}

/* The attributes beside, and the predicate and what it looks at, which spans no cells. */
static void
make_domain(pe_key_call *c, int beside)
{
	pe_column  *column = c->column + c->opens;
	int			count = beside;

	if (c->call.request.predicate != NULL)
		c->predicate = pe_predicate_argument(c->asked.dataset, c->call.request.predicate, column, &count);
	pe_refuse_compared_pairs(column, count, "a search for keys");
	if (count == 0)
		return;
	c->domain = pe_columns_domain(column, count, count - beside);
	pe_columns_check_product(c->domain);
	if (c->predicate == NULL)
		return;
	pe_check_memory(pe_predicate_memory(c->predicate, c->domain));
	(void) pe_predicate_cells(c->predicate, c->domain);
}

static const char *
canonical_predicate(const pe_key_call *c)
{
	return c->predicate != NULL ? c->predicate->canonical : NULL;
}

static char *
canonical_text(const pe_key_call *c)
{
	StringInfoData text;

	pe_text_begin(&text, &c->asked, "keys");
	if (c->call.request.attributes == 1)
		pe_text_add(&text, "column", c->call.request.attribute[0]);
	else
	{
		pe_text_add_names(&text, "columns", c->call.request.attribute, c->opens);
		pe_text_add_names(&text, "attributes", c->call.request.attribute + c->opens,
						  c->call.request.attributes - c->opens);
	}
	if (c->predicate != NULL)
		pe_text_add(&text, "predicate", canonical_predicate(c));
	if (c->aggregation != NULL)
		pe_aggregation_add_text(&text, c->aggregation);
	pe_text_end(&text, &c->asked, METHOD);
	return text.data;
}

/* ------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------
 */

/* What is neither a sum over rows, each of one cell, nor a count of pairs with values, has no theorem beside keys. */
static void
check_aggregate(const pe_aggregate *a, const char *text)
{
	if (a->kind == PE_AGG_COUNT || a->kind == PE_AGG_NUMBERS || a->kind == PE_AGG_RATIO ||
		(a->kind == PE_AGG_DISTINCT && a->open >= 0))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s is not answered for values that nobody has listed", text),
			 errdetail("Answered are counts, sums, averages and what follows from them, and count(DISTINCT) of "
					   "columns whose values nobody has listed. Nothing was charged."),
			 errhint("Ask for it by groups of declared attributes.")));
}

/* The key is one attribute more. */
static void
check_aggregates(const pe_aggregation *g)
{
	pe_check_attributes(g->domain->attributes + g->domain->watched + 1);
	for (int i = 0; i < g->aggregates; i++)
	{
		const pe_aggregate *a = &g->aggregate[i];

		check_aggregate(a, g->text[i]);
		for (int p = 0; p < 2 && a->part[p] != NULL; p++)
			check_aggregate(a->part[p], g->text[i]);
	}
}

/* Of the same rows, over no attributes. */
static void
validate_sums(pe_key_call *c)
{
	c->aggregation = NULL;
	if (c->call.request.sums.aggregates == 0)
		return;
	c->sums_request = c->call.request;
	c->sums_request.kind = PE_ASK_SUMS;
	c->sums_request.attributes = 0;
	c->aggregation = pe_aggregation_validate(&c->sums_request, !c->call.quote);
	check_aggregates(c->aggregation);
}

static void
measure_sums(pe_key_call *c)
{
	if (c->aggregation == NULL)
		return;
	c->aggregation->rules.by_keys = true;
	pe_aggregation_measure(c->aggregation);
	if (pe_aggregation_has_blocks(c->aggregation))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the aggregates have too many conditions for values that nobody has listed"),
				 errhint("Ask for fewer at once.")));
}

/* What was measured of each key, as answers. */
static void
answer_sums(pe_key_call *c)
{
	pe_aggregation *g = c->aggregation;
	const pe_answered_keys *keys = &c->keys;
	const pe_charge_reply *reply = &c->call.reply;
	pe_strategies strategies = reply->outcome == PE_REPLAYED
		? pe_strategies_of(reply->strategy_id, reply->other, reply->others) : pe_aggregation_strategies(g);
	pe_aggregate_noise noise;
	double	   *estimate;

	pe_aggregation_take(g, reply->release_id, keys->share, keys->shares, keys->sums, &strategies);
	noise = pe_aggregation_noise(g, keys->nano_of_sums);
	c->errors = pe_aggregation_errors_with(g, noise, PE_MISS);
	c->result = pe_alloc((size_t) keys->keys * g->aggregates + 1, sizeof(*c->result));
	c->count = pe_alloc((size_t) keys->keys * g->deciding + 1, sizeof(*c->count));
	estimate = pe_alloc(pe_aggregation_estimates(g), sizeof(double));
	for (int32 key = 0; key < keys->keys; key++)
	{
		CHECK_FOR_INTERRUPTS();
		pe_aggregation_estimate(g, &noise, keys->key[key].sum, estimate);
		pe_aggregation_answers(g, &noise, estimate, 1, c->result + (size_t) key * g->aggregates);
		if (g->deciding > 0)
			memcpy(c->count + (size_t) key * g->deciding, g->count, g->deciding * sizeof(*c->count));
	}
	pe_free(estimate);
}

pe_aggregate_call
pe_key_call_sums(const pe_key_call *c, int32 key)
{
	const pe_aggregation *g = c->aggregation;

	return (pe_aggregate_call) {
		.aggregation = c->aggregation, .result = c->result + (size_t) key * g->aggregates, .groups = 1,
		.count = c->count + (size_t) key * g->deciding, .errors = c->errors
	};
}

void
pe_key_call_errors(const pe_key_call *c, double rows, double *stderr_)
{
	pe_aggregation_errors(c->aggregation, rows, pe_plan_nano_of_key_sums(c->asked.plan), stderr_);
}

/* ------------------------------------------------------------------
 * The call
 * ------------------------------------------------------------------
 */

static void
validate_keys(pe_call *call)
{
	pe_key_call *c = (pe_key_call *) call;
	pe_asked   *asked = call->asked = &c->asked;

	pe_asked_open(asked, &call->request);
	pe_dataset_check_rows(asked->dataset);
	pe_asked_cut(asked);
	make_domain(c, load_columns(c));
	pe_dataset_check_committed(asked->dataset);
	pe_asked_choose_budget(asked, !call->quote);
	refuse_pure(asked);
	validate_sums(c);
}

static void
resolve_keys(pe_call *call)
{
	pe_key_call *c = (pe_key_call *) call;

	measure_sums(c);
	make_plan(c);
	pe_asked_fill_charge(&c->asked, canonical_text(c), METHOD, 0);
	c->asked.charge.predicate = canonical_predicate(c);
	if (c->aggregation != NULL)
		pe_aggregation_name_strategies(c->aggregation, &c->asked.charge);
}

static const pe_column *
columns_read(const pe_key_call *c)
{
	int			count = c->opens + (c->domain != NULL ? c->domain->attributes + c->domain->watched : 0);
	pe_column  *columns = palloc0(lengthof(c->column) * sizeof(*columns));

	pe_compared_read(columns, c->column, count);
	return columns;
}

static void
ask_for_keys(pe_call *call)
{
	pe_key_call *c = (pe_key_call *) call;
	const pe_key_question question = {
		.dataset = c->asked.dataset, .columns = columns_read(c), .opens = c->opens, .domain = c->domain,
		.predicate = c->predicate, .sums = c->aggregation != NULL ? pe_aggregation_ask(c->aggregation) : NULL,
		.plan = c->asked.plan, .charge = &c->asked.charge
	};

	pe_door_keys(&question, &call->reply);
}

static void
take_keys(pe_call *call)
{
	pe_answered_keys_read(call->reply.value, call->reply.values, &((pe_key_call *) call)->keys);
}

static const char *
paid_for_keys(pe_call *call)
{
	const pe_answered_keys *keys = &((pe_key_call *) call)->keys;

	return psprintf("%s; a key is released from a noisy count of %.6g on", pe_release_text(&call->reply),
					ldexp((double) keys->threshold, -keys->shift));
}

static const pe_ask_kind ask_keys = {
	.validate = validate_keys, .resolve = resolve_keys, .door = ask_for_keys, .take = take_keys, .paid = paid_for_keys
};

/* Of one count: the law of the noise is public. */
static void
measure_errors(pe_key_call *c)
{
	const pe_noise *noise = pe_plan_key_noise(c->asked.plan);
	pe_confidence intervals;

	c->stderr_ = pe_noise_stderr(noise);
	pe_confidence_init(&intervals, noise, 1, PE_MISS);
	c->half = pe_confidence_half(&intervals, 1, 1);
	pe_confidence_free(&intervals);
}

double
pe_key_call_threshold(const pe_key_call *c)
{
	return ldexp((double) pe_plan_key_threshold(c->asked.plan), -pe_noise_shift(pe_plan_key_noise(c->asked.plan)));
}

void
pe_key_call_prepare(pe_key_call *c, bool needs_budget)
{
	c->call.kind = &ask_keys;
	c->call.quote = !needs_budget;
	pe_ask_prepare(&c->call);
	if (c->asked.budget != NULL)
		c->replays = c->call.quote ? c->call.replay : pe_ask_is_replay(&c->call);
	measure_errors(c);
}

/* It follows from the release, and how many may be in it is public. */
static void
tell_left_out(const pe_key_call *c)
{
	if (c->keys.keys == c->keys.most)
		ereport(NOTICE,
				(errmsg("only %d values are in the answer, and there may be more", c->keys.most),
				 errdetail("Of those that passed the threshold some at random were left out, to keep to "
						   "pg_epsilon.max_memory and to what a release can hold.")));
}

/* A key is a value itself: what is not shown is left out.  They stay in their order. */
static void
leave_out_hidden(pe_key_call *c)
{
	pe_min_count rule = pe_suppress_rule(c->asked.dataset, c->call.request.min_count);
	int			kept = 0;

	rule.rows = 1;				/* units are counted */
	for (int i = 0; i < c->keys.keys; i++)
		if (pe_min_count_shows(&rule, pe_key_call_estimate(c, i) - c->half))
			c->keys.key[kept++] = c->keys.key[i];
	c->keys.keys = kept;
}

void
pe_key_call_answer(pe_key_call *c)
{
	pe_ask(&c->call);
	tell_left_out(c);
	leave_out_hidden(c);
	if (c->aggregation != NULL)
		answer_sums(c);
}

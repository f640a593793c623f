/*
 * sums_call.c
 *	  A request for aggregates, answered.  See sums_call.h.
 */
#include "postgres.h"

#include <math.h>

#include "ask/sums_call.h"
#include "ask/cube.h"
#include "ask/known.h"
#include "ask/ask_blocks.h"
#include "ask/suppress.h"
#include "noise/interval.h"
#include "server/settings.h"

static void
check_reuse(const pe_aggregate_call *c)
{
	if (c->reuse && c->call.request.fresh)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("reuse does not go with fresh")));
}

/*
 * The very request first: its replay is silent, and takes less than a look
 * through other releases.
 */
void
pe_aggregate_call_reprice(pe_aggregate_call *c)
{
	pe_aggregation_price(c->aggregation);
	c->replays = pe_ask_is_replay(&c->call);
	c->known = !c->replays && (c->reuse || (pe_settings_reuse_only() && !c->call.request.fresh))
		? pe_known_find(c->aggregation) : NULL;
	c->call.known = c->known != NULL;
}

static void
validate_sums(pe_call *call)
{
	pe_aggregate_call *c = (pe_aggregate_call *) call;

	c->aggregation = pe_aggregation_validate(&call->request, !call->quote);
	call->asked = &c->aggregation->asked;
}

static void
resolve_sums(pe_call *call)
{
	pe_aggregate_call *c = (pe_aggregate_call *) call;

	pe_aggregation_measure(c->aggregation);
	pe_aggregate_call_reprice(c);
}

static void
ask_for_sums(pe_call *call)
{
	pe_aggregate_call *c = (pe_aggregate_call *) call;

	c->known = NULL;			/* of a rehearsal it was the price alone */
	pe_door_answer(&c->aggregation->question, &call->reply);
}

static bool
take_known(pe_call *call)
{
	pe_aggregate_call *c = (pe_aggregate_call *) call;

	if (c->known == NULL)
		return false;
	call->reply.release_id = c->known->release.id;
	pe_known_tell(&c->known->release);
	return true;
}

static const pe_ask_kind ask_sums = {
	.validate = validate_sums, .resolve = resolve_sums, .know = take_known, .door = ask_for_sums
};

void
pe_aggregate_call_prepare(pe_aggregate_call *c, bool needs_budget)
{
	if (c->cube != NULL)
	{
		pe_cube_prepare(c);
		return;
	}
	check_reuse(c);
	c->call.kind = &ask_sums;
	c->call.quote = !needs_budget;
	pe_ask_prepare(&c->call);
}

bool
pe_aggregate_call_is_paid(const pe_aggregate_call *c)
{
	return c->replays || c->known != NULL;
}

void
pe_aggregate_call_check_precision(const pe_aggregate_call *c, double setting)
{
	const pe_asked *asked = &c->aggregation->asked;

	if (asked->budget != NULL && !pe_asked_rehearses(asked) && !pe_aggregate_call_is_paid(c) &&
		!pe_settings_reuse_only())
		pe_asked_check_precision(asked, setting);
}

void
pe_aggregate_call_errors(const pe_aggregate_call *c, double rows, double *stderr_)
{
	if (c->known != NULL)
		pe_aggregation_errors_of(c->known->aggregation, &c->known->noise, rows, 1, stderr_);
	else
		pe_aggregation_errors(c->aggregation, rows, pe_aggregate_call_nano(c), stderr_);
}

int64
pe_aggregate_call_nano(const pe_aggregate_call *c)
{
	const pe_asked *asked = &c->aggregation->asked;

	return pe_nano_left(pe_cost_amount(pe_plan_cost(asked->plan)), asked->ask.accounting);
}

/* ------------------------------------------------------------------
 * Several at once
 * ------------------------------------------------------------------
 */

static bool
is_same(const pe_asked *one, const pe_asked *other)
{
	return strcmp(one->charge.request, other->charge.request) == 0 && one->budget->id == other->budget->id;
}

/* Whether one of the first `payments` is the same request. */
static bool
is_repeated(const pe_payment *payment, int payments)
{
	for (int i = 0; i < payments; i++)
		if (is_same(payment[i].asked, payment[payments].asked))
			return true;
	return false;
}

/* How many of them fit alone, and what is left. */
static char *
together_text(const pe_asked **asked, int requests)
{
	double		left = 0;
	double		after;
	int			alone = 0;
	const char *have;

	for (int i = 0; i < requests; i++)
		alone += pe_asked_fits(asked[i], false, &after);
	(void) pe_asked_fits(asked[0], true, &left);
	have = psprintf("epsilon %.4g is left", left);
	if (alone == requests)
		return psprintf("It asks %d requests. Each of them fits alone, and together they do not: %s.", requests, have);
	if (alone == 0)
		return psprintf("It asks %d requests. None of them fits alone: %s.", requests, have);
	return psprintf("It asks %d requests. %d of them would fit alone: %s.", requests, alone, have);
}

static void
refuse_together(const pe_asked **asked, int requests)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
			 errmsg("too little of the budget of role \"%s\" on dataset \"%s\" is left for the whole statement",
					asked[0]->budget->role, asked[0]->dataset->name),
			 errdetail("%s Nothing was charged.", together_text(asked, requests)),
			 errhint("Set a smaller pg_epsilon.epsilon or a larger pg_epsilon.max_stderr, or ask in "
					 "statements of their own.")));
}

/* Those that the same budget pays.  A single one is refused by the door, which knows all limits. */
static void
check_budget(const pe_payment *payment, const bool *pays, int payments, const pe_asked *payer)
{
	const pe_asked **asked = palloc(payments * sizeof(*asked));
	int			requests = 0;

	for (int i = 0; i < payments; i++)
		if (pays[i] && payment[i].asked->budget->id == payer->budget->id)
			asked[requests++] = payment[i].asked;
	if (requests > 1 && !pe_asked_fit_together(asked, requests))
		refuse_together(asked, requests);
}

void
pe_asked_check_together(const pe_payment *payment, int payments)
{
	bool	   *pays = palloc(payments * sizeof(bool));

	for (int i = 0; i < payments; i++)
		pays[i] = !pe_asked_rehearses(payment[i].asked) && !is_repeated(payment, i) && !payment[i].is_paid;
	for (int i = 0; i < payments; i++)
		if (pays[i])
			check_budget(payment, pays, payments, payment[i].asked);
}

bool
pe_asked_can_be_paid(const pe_payment *payment, int payments)
{
	double		left;

	for (int i = 0; i < payments; i++)
		if (!payment[i].is_paid && !pe_asked_rehearses(payment[i].asked) &&
			(pe_settings_reuse_only() || !pe_asked_fits(payment[i].asked, false, &left)))
			return false;
	return true;
}

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

static pe_aggregate_result *
results_of_known(const pe_known *known, double miss)
{
	pe_aggregation *g = known->aggregation;
	pe_aggregate_noise noise = known->noise;
	pe_aggregate_result *result = pe_alloc((size_t) g->space[0].workload.queries * g->aggregates, sizeof(*result));

	noise.miss = miss;
	pe_aggregation_answers(g, &noise, known->estimate, 1, result);
	return result;
}

static pe_strategies
strategies_of(const pe_aggregate_call *c)
{
	const pe_charge_reply *reply = &c->call.reply;

	return reply->outcome == PE_REPLAYED ? pe_strategies_of(reply->strategy_id, reply->other, reply->others)
		: pe_aggregation_strategies(c->aggregation);
}

/* From what was measured, with intervals that miss the truth with at most this probability. */
static pe_aggregate_result *
results_of(const pe_aggregate_call *c, double miss)
{
	const pe_charge_reply *reply = &c->call.reply;
	pe_strategies strategies;

	if (c->known != NULL)
		return results_of_known(c->known, miss);
	strategies = strategies_of(c);
	return pe_aggregation_results(c->aggregation, reply->release_id, reply->value, reply->values, &strategies,
								  pe_aggregate_call_nano(c), miss);
}

/* What was asked, or the same of what is known. */
static const pe_aggregation *
answered_by(const pe_aggregate_call *c)
{
	return c->known != NULL ? c->known->aggregation : c->aggregation;
}

static void
find_errors(pe_aggregate_call *c, double miss)
{
	if (c->known != NULL)
		c->errors = pe_aggregation_errors_with(c->known->aggregation, c->known->noise, miss);
	else if (!c->aggregation->on_grid)
		c->errors = pe_aggregation_errors_with(c->aggregation,
											   pe_aggregation_noise(c->aggregation, pe_aggregate_call_nano(c)), miss);
}

void
pe_aggregate_call_answer(pe_aggregate_call *c)
{
	pe_ask(&c->call);
	c->result = results_of(c, PE_MISS);
	c->count = answered_by(c)->count;
	find_errors(c, PE_MISS);
}

const pe_aggregation *
pe_aggregate_call_tabulate(pe_aggregate_call *c, pe_tabulated *table)
{
	const pe_charge_reply *reply = &c->call.reply;
	pe_strategies strategies;

	pe_ask(&c->call);
	if (c->known != NULL)
	{
		pe_aggregation_tabulate(c->known->aggregation, &c->known->noise, c->known->estimate, table);
		return c->known->aggregation;
	}
	strategies = strategies_of(c);
	pe_aggregation_tabulate_release(c->aggregation, reply->release_id, reply->value, reply->values, &strategies,
									pe_aggregate_call_nano(c), table);
	return c->aggregation;
}

pe_aggregate_call
pe_aggregate_call_reference(const pe_aggregate_call *c, double rows)
{
	pe_aggregate_call reference = *c;

	reference.is_reference = true;
	reference.result = pe_aggregation_reference(c->known->aggregation, &c->known->noise, rows);
	find_errors(&reference, PE_MISS);
	return reference;
}

pe_aggregate_call
pe_aggregate_call_together(const pe_aggregate_call *c, double intervals)
{
	pe_aggregate_call wide = *c;

	wide.result = results_of(c, PE_MISS / intervals);
	find_errors(&wide, PE_MISS / intervals);
	return wide;
}

/* Of several groups together: by the sum of their counts. */
static bool
shows_together(const pe_aggregate_call *c, const int32 *group, int groups, int number)
{
	const pe_aggregation *g = answered_by(c);
	bool		shows = true;

	for (int i = 0; i < PE_DECIDED_BY; i++)
		if (g->decided_by[number][i] >= 0)
		{
			pe_min_count rule = pe_suppress_rule_of_count(g, g->decided_by[number][i], 1);
			pe_aggregate_result count = pe_aggregation_count_sum(&c->errors, c->count, group, groups,
																 g->decided_by[number][i]);

			shows &= pe_min_count_shows(&rule, count.lower);
		}
	return shows;
}

bool
pe_aggregate_call_shows(const pe_aggregate_call *c, const int32 *group, int groups, const pe_terms *terms)
{
	const pe_aggregation *g = answered_by(c);
	bool		shows = true;

	for (int t = 0; t < terms->terms && g->min.units > 0 && !c->is_reference; t++)
		shows &= groups == 1 ? pe_suppress_shows(g, c->count, group[0], terms->term[t].number, 1)
			: shows_together(c, group, groups, terms->term[t].number);
	return shows;
}

void
pe_aggregate_call_tell_hidden(const pe_aggregate_call *c, int32 hidden, int32 partly, int32 groups)
{
	pe_suppress_tell(&c->aggregation->min, hidden, partly, groups);
}

/* As it was answered, to be shown or not. */
static const pe_aggregate_result *
answered(const pe_aggregate_call *c, int32 group, int number)
{
	const pe_aggregation *g = c->aggregation;

	if (group < 0 || group >= g->space[0].workload.queries || number < 0 || number >= g->aggregates)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the answer has not the groups of the request")));
	return &c->result[(size_t) group * g->aggregates + number];
}

const pe_aggregate_result *
pe_aggregate_call_result_of(const pe_aggregate_call *c, int32 group, int number)
{
	pe_weighted one = {1, number};
	const pe_aggregate_result *result = answered(c, group, number);

	return pe_aggregate_call_shows(c, &group, 1, &(pe_terms) {&one, 1}) ? result : &pe_suppressed;
}

/* So many times a result. */
static pe_aggregate_result
multiplied(const pe_aggregate_result *r, double factor)
{
	return (pe_aggregate_result) {
		factor * r->estimate, fabs(factor) * r->stderr_,
		factor * (factor < 0 ? r->upper : r->lower), factor * (factor < 0 ? r->lower : r->upper)
	};
}

pe_aggregate_result
pe_aggregate_call_sum(const pe_aggregate_call *c, const int32 *group, int groups, const pe_terms *terms)
{
	if (!pe_aggregate_call_shows(c, group, groups, terms))
		return pe_suppressed;
	/* one term in one group has the interval of its own, and need not be linear */
	if (groups == 1 && terms->terms == 1)
		return multiplied(answered(c, group[0], terms->term[0].number), terms->term[0].factor);
	return pe_aggregation_sum(&c->errors, c->result, group, groups, terms);
}

pe_aggregate_result
pe_aggregate_call_quotient(const pe_aggregate_call *c, int32 group, const pe_terms *above, const pe_terms *below)
{
	if (!pe_aggregate_call_shows(c, &group, 1, above) || !pe_aggregate_call_shows(c, &group, 1, below))
		return pe_suppressed;
	return pe_aggregation_quotient(&c->errors, c->result, group, above, below);
}

pe_aggregate_result
pe_result_sum(const pe_aggregate_result *one, const pe_aggregate_result *other)
{
	return (pe_aggregate_result) {
		one->estimate + other->estimate, one->stderr_ + other->stderr_, one->lower + other->lower,
		one->upper + other->upper
	};
}

/*
 * The quotient q is in the interval where |a - q b| is at most half(a) + |q| half(b): half the length of an interval
 * is in proportion to the noise, and that of a - q b is no larger.
 */
pe_aggregate_result
pe_result_quotient(const pe_aggregate_result *above, const pe_aggregate_result *below)
{
	double		half_above = above->upper - above->estimate;
	double		half_below = Max(below->upper - below->estimate, below->estimate - below->lower);
	pe_aggregate_result q = {NAN, NAN, -INFINITY, INFINITY};

	if (isnan(above->estimate) || isnan(below->estimate))
		return pe_suppressed;
	half_above = Max(half_above, above->estimate - above->lower);
	if (!(below->estimate > half_below))
		return q;
	q.estimate = above->estimate / below->estimate;
	q.stderr_ = (above->stderr_ + fabs(q.estimate) * below->stderr_) / below->estimate;
	q.upper = above->estimate + half_above;
	q.upper /= q.upper >= 0 ? below->estimate - half_below : below->estimate + half_below;
	q.lower = above->estimate - half_above;
	q.lower /= q.lower >= 0 ? below->estimate + half_below : below->estimate - half_below;
	return q;
}

/*
 * sums_call.h
 *	  A request for aggregates from its arguments to its answers, by every front: dp.aggregate, its quote, plain SELECT.
 */
#ifndef PE_ASK_SUMS_CALL_H
#define PE_ASK_SUMS_CALL_H

#include "ask/ask.h"
#include "ask/ask_sums.h"

typedef struct pe_aggregate_call
{
	pe_call		call;			/* its request is filled by the front */
	struct pe_cube *cube;		/* the release that answers, and nothing is charged (cube.h); NULL: it is asked */
	bool		reuse;			/* a paid release that knows all of it as precisely is answered from */

	pe_aggregation *aggregation;
	bool		replays;		/* the budget has paid for this very request */
	struct pe_known *known;	/* NULL: none, or it is not asked for */
	pe_aggregate_result *result;
	int32		groups;
	bool		is_reference;	/* its results are of no rows: all are shown */
	const pe_aggregate_result *count;	/* of the groups, which decide whether they are shown (suppress.h) */
	pe_aggregate_errors errors; /* of what is answered from; of quantiles on a grid none */
} pe_aggregate_call;

/*
 * Validates the request, makes the plan and looks for a release that is as precise; nothing is charged.
 * Not inside PE_UNDONE.
 */
extern void pe_aggregate_call_prepare(pe_aggregate_call *call, bool needs_budget);

/* Another cost for a request that is prepared. */
extern void pe_aggregate_call_reprice(pe_aggregate_call *call);

/* Whether it costs nothing, being paid already. */
extern bool pe_aggregate_call_is_paid(const pe_aggregate_call *call);

/*
 * 22023 where a standard error that a setting asks for takes more than half of
 * what is left of the budget, and is not paid already.
 */
extern void pe_aggregate_call_check_precision(const pe_aggregate_call *call, double setting);

/*
 * The largest standard error of each aggregate, of what is known, if something is, or of what would be measured; of
 * those that depend on rows at `rows` in each group.
 */
extern void pe_aggregate_call_errors(const pe_aggregate_call *call, double rows, double *stderr_);

/* Of a cube: the call as it would be answered, with so many rows in each group. */
extern pe_aggregate_call pe_aggregate_call_reference(const pe_aggregate_call *call, double rows);

/* What the plan costs, in nano-units. */
extern int64 pe_aggregate_call_nano(const pe_aggregate_call *call);

/* PE001 if the budgets cannot pay all of these together; two that are one request are paid once. */
typedef struct pe_payment
{
	const pe_asked *asked;
	bool		is_paid;		/* it costs nothing */
} pe_payment;

extern void pe_asked_check_together(const pe_payment *payment, int payments);

/* Whether the door will charge each of them, as far as budgets and settings decide it now. */
extern bool pe_asked_can_be_paid(const pe_payment *payment, int payments);

/* Charges and measures, or replays, or takes the answers from the known release. */
extern void pe_aggregate_call_answer(pe_aggregate_call *call);

/* The same as a table, whose aggregates are returned: those asked for, or the same of what is known. */
extern const pe_aggregation *pe_aggregate_call_tabulate(pe_aggregate_call *call, pe_tabulated *table);

/*
 * What was answered, with intervals so wide that so many of them hold the truth
 * together with a probability of at least 95 %, however their noise depends on
 * each other (the union bound).
 */
extern pe_aggregate_call pe_aggregate_call_together(const pe_aggregate_call *call, double intervals);

/*
 * Whether aggregates are shown, of several groups together: each of them is.
 * What is not shown is unknown in all that follows.
 */
extern bool pe_aggregate_call_shows(const pe_aggregate_call *call, const int32 *group, int groups,
									const pe_terms *terms);

/* The NOTICE about what is not shown, of groups that have rows of their own. */
extern void pe_aggregate_call_tell_hidden(const pe_aggregate_call *call, int32 hidden, int32 partly, int32 groups);

/* What came out for an aggregate in a group; 55000 if there is no such one. */
extern const pe_aggregate_result *pe_aggregate_call_result_of(const pe_aggregate_call *call, int32 group, int number);

/*
 * Such results added up, over groups too, and divided in one group; the numbers
 * of terms are those of the request's aggregates.
 */
extern pe_aggregate_result pe_aggregate_call_sum(const pe_aggregate_call *call, const int32 *group, int groups,
												 const pe_terms *terms);
extern pe_aggregate_result pe_aggregate_call_quotient(const pe_aggregate_call *call, int32 group,
													  const pe_terms *above, const pe_terms *below);

/*
 * A sum and a quotient of two results, however their noise depends on each
 * other: errors and intervals are as large as they can be.
 */
extern pe_aggregate_result pe_result_sum(const pe_aggregate_result *one, const pe_aggregate_result *other);
extern pe_aggregate_result pe_result_quotient(const pe_aggregate_result *above, const pe_aggregate_result *below);

#endif

/*
 * keys_call.h
 *	  A request for the keys of an open column, by every front: dp.keys, plain SELECT.
 *
 * Released are keys with their noisy counts of units (door/scan_keys.h).  A predicate selects the rows that are
 * looked at; it works on declared cells, so it changes no sensitivity: a row that it leaves out has no key.  Keys of
 * several columns, and of attributes beside, are found by SELECT alone, and so are sums of each key: aggregates of the
 * rows that have it.  They are one measurement (ask_sums.h) over no attributes, which is made once for every key.
 */
#ifndef PE_ASK_KEYS_CALL_H
#define PE_ASK_KEYS_CALL_H

#include <math.h>

#include "ask/sums_call.h"
#include "counts/min_count.h"
#include "door/scan_keys.h"

typedef struct pe_key_call
{
	/*
	 * its request is filled by the front: the open columns come first, attributes behind, and aggregates are in sums
	 */
	pe_call		call;
	int			opens;			/* how many there are of the first */
	double		delta;			/* charged; NaN: a hundredth of what the budget keeps for charges */

	pe_asked	asked;
	pe_column	column[PE_KEY_COLUMNS + PE_MAX_ATTRIBUTES + 1];	/* the open ones, then those of the domain */
	pe_domain  *domain;			/* of the attributes, and watched of what the predicate looks at; NULL: none */
	pe_predicate *predicate;
	bool		replays;		/* the budget has paid for this very request */

	pe_answered_keys keys;		/* once it is answered: those that are shown */
	double		stderr_;		/* of each count, */
	double		half;			/* and of its interval */

	/* aggregates of the rows of a key; without any aggregation is NULL */
	pe_request	sums_request;
	pe_aggregation *aggregation;
	pe_aggregate_result *result;	/* [key * aggregates + i], once it is answered */
	pe_aggregate_result *count;	/* that decide what is shown: [key * deciding + i] */
	pe_aggregate_errors errors;
} pe_key_call;

/* Validates the request and makes the plan; nothing is charged.  Not inside PE_UNDONE. */
extern void pe_key_call_prepare(pe_key_call *call, bool needs_budget);

/* Charges and measures, or replays. */
extern void pe_key_call_answer(pe_key_call *call);

/* From which noisy count on a key is released.  Prepared before. */
extern double pe_key_call_threshold(const pe_key_call *call);

/* The aggregates of a key, as those of a request for them alone, whose one group it is. */
extern pe_aggregate_call pe_key_call_sums(const pe_key_call *call, int32 key);

/* Prepared before: the largest standard error of each aggregate, of those that depend on rows at `rows` of each key. */
extern void pe_key_call_errors(const pe_key_call *call, double rows, double *stderr_);

/* The noisy count of a key. */
static inline double
pe_key_call_estimate(const pe_key_call *call, int32 key)
{
	return ldexp((double) call->keys.key[key].value, -call->keys.shift);
}

#endif

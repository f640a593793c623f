/*
 * question.h
 *	  What counts are asked for, validated: for dp.histogram, dp.quote and dp.quote_queries.
 *
 * No row is read here, and nothing is charged: whatever is wrong is an ordinary
 * error and free.
 */
#ifndef PE_API_QUESTION_H
#define PE_API_QUESTION_H

#include "api/request.h"
#include "strategy/reconstruct.h"
#include "door/door.h"
#include "ledger/strategies.h"

typedef struct pe_histogram
{
	pe_asked	asked;
	pe_column  *columns;		/* counted, then watched */
	int			attributes;		/* counted */
	int			watched;		/* named by the predicate alone */
	pe_domain  *domain;
	pe_predicate *selection;	/* NULL: all rows count */
	const char *predicate;		/* canonical; NULL: none */
	bool	   *possible;		/* per cell, whether the predicate leaves it; NULL: all */
	pe_workload workload;
	pe_method	method;
	bool		bounded;		/* a quote, which tells how good a strategy can be at best */

	/* by pe_histogram_resolve */
	pe_kept_strategy kept;
	pe_measured measured;
	double	   *variance;		/* of each query for noise of variance 1; NULL: not computed yet */
	pe_question question;
} pe_histogram;

/*
 * Validates.  A question that is to be answered needs a budget (42501
 * otherwise); a quote does not.
 */
extern pe_histogram *pe_histogram_validate(const pe_request *request, bool needs_budget);

/*
 * Finds or computes the strategy, and makes the plan.  Not
 * inside PE_UNDONE: a computation tells how far it is.
 */
extern void pe_histogram_resolve(pe_histogram *histogram);

/* The largest variance of a query for noise of variance 1. */
extern double pe_histogram_max_variance(pe_histogram *histogram);

#endif

/*
 * ask_counts.h
 *	  What counts are asked for, validated: for dp.histogram, dp.quote and dp.quote_queries.
 *
 * No row is read here, and nothing is charged: every fault is an ordinary
 * error and free.
 */
#ifndef PE_ASK_ASK_COUNTS_H
#define PE_ASK_ASK_COUNTS_H

#include "ask/complete.h"
#include "ask/request.h"
#include "blocks/reconstruct.h"
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
	pe_complete complete;
	bool	   *possible;		/* per cell, whether the predicate leaves it; NULL: all, or there are too many */
	const bool *possible_of[PE_MAX_ATTRIBUTES]; /* likewise of each attribute, for blocks; NULL: all */
	bool		by_blocks;		/* there will be blocks, and the next is pe_blocks_spare */
	int			spare;
	pe_workload workload;
	pe_method	method;
	bool		bounded;		/* a quote, which shows how good a strategy can be at best */

	/* by pe_histogram_resolve */
	pe_kept_strategy kept;
	pe_measured measured;
	double	   *variance;		/* of each query for noise of variance 1; NULL: not computed yet */
	double		max_variance;	/* the largest and the mean of all; 0: not computed yet */
	double		mean_variance;
	pe_question question;
} pe_histogram;

/*
 * Validates.  A question that is to be answered needs a budget (42501
 * otherwise); a quote does not.
 */
extern pe_histogram *pe_histogram_validate(const pe_request *request, bool needs_budget);

/*
 * Finds or computes the strategy, and makes the plan.  Not
 * inside PE_UNDONE: a computation reports its progress.
 */
extern void pe_histogram_resolve(pe_histogram *histogram);

/* The strategy alone, for a plan of another kind.  Not inside PE_UNDONE, likewise. */
extern void pe_histogram_find_strategy(pe_histogram *histogram);

/*
 * What a charge measured: the strategy of this number, or the workload itself
 * (0), which measures of each cell that is possible.  False if it is not known.
 * Blocks need no cells.  Inside PE_UNDONE.
 */
extern bool pe_strategy_of_charge(int64 id, const pe_workload *workload, const bool *possible, pe_kept_strategy *kept);

/* The largest variance of a query for noise of variance 1, and the mean of all. */
extern double pe_histogram_max_variance(pe_histogram *histogram);
extern double pe_histogram_mean_variance(pe_histogram *histogram);

/* The variances of all queries. */
extern double *pe_histogram_variances(pe_histogram *histogram);

/*
 * 0A000 if tables without negative cells are asked for, and what is measured
 * has none: of the kinds of blocks only marginals have.
 */
extern void pe_histogram_check_nonnegative(const pe_histogram *histogram);

/* 54000 if all queries are too many to be returned. */
extern void pe_histogram_check_rows(const pe_workload *workload);

#endif

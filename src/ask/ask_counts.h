/*
 * ask_counts.h
 *	  What counts have beside sums: dp.histogram, dp.measure, dp.quote and dp.quote_queries choose a method, and
 *	  return each query of a workload of any size.
 *
 * They are an aggregation of one sum, in the groups of one space
 * (pe_aggregation_is_counts), which pe_aggregation_validate, _measure and _price
 * make like any other.  Nothing is computed of each query before it is needed.
 */
#ifndef PE_ASK_ASK_COUNTS_H
#define PE_ASK_ASK_COUNTS_H

#include "ask/ask_sums.h"

/* Steps of validation: the method, once the accounting is known; and 22023 for what it is not for. */
extern void pe_counts_resolve_method(pe_aggregation *counts);
extern void pe_counts_check_order(const pe_aggregation *counts);

/* 53200 if the answer takes too much, besides the strategy.  Not of blocks: it is known once they are there. */
extern void pe_counts_check_memory(const pe_aggregation *counts);

/* Finds or computes the strategy; makes the plan, of the cost that is resolved; and fills in what is asked. */
extern void pe_counts_measure(pe_aggregation *counts);
extern void pe_counts_price(pe_aggregation *counts);
extern void pe_counts_ask(pe_aggregation *counts);

/* Whether nonnegative counts are asked for; of sums they never are. */
extern bool pe_counts_nonnegative(const pe_aggregation *counts);

/*
 * What a charge measured: the strategy of this number, or the workload itself
 * (0), which measures of each cell that is possible.  False if it is not known.
 * Blocks need no cells.  Inside PE_UNDONE.
 */
extern bool pe_strategy_of_charge(int64 id, const pe_workload *workload, const bool *possible, pe_kept_strategy *kept);

/*
 * The measurements of a reply, and their noise, with the strategy that they were made with: a replay may be of another
 * one than would be made now.  XX001 if they do not fit.
 */
extern const int64 *pe_counts_take(pe_aggregation *counts, const pe_charge_reply *reply, const pe_noise **noise);

/* The largest variance of a query for noise of variance 1, and the mean of all. */
extern double pe_counts_max_variance(pe_aggregation *counts);
extern double pe_counts_mean_variance(pe_aggregation *counts);

/* The variances of all queries. */
extern double *pe_counts_variances(pe_aggregation *counts);

/*
 * 0A000 if tables without negative cells are asked for, and what is measured
 * has none: of the kinds of blocks only marginals have.
 */
extern void pe_counts_check_nonnegative(const pe_aggregation *counts);

/* 54000: tables have too many cells. */
extern void pe_counts_refuse_tables(void) __attribute__((noreturn));

/* 54000 or 53200 if tables cannot be read, with so many bytes more. */
extern void pe_counts_check_tables(const pe_dataset *dataset, const pe_tables *tables, size_t more);

/* 54000 if all queries are too many to be returned. */
extern void pe_counts_check_rows(const pe_workload *workload);

#endif

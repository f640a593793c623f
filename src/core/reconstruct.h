/*
 * reconstruct.h
 *	  From measurements back to answers: post-processing, in doubles.
 *
 * The measurements y = A x + noise of a strategy A = T B determine B x by
 * T^-1 y, which is the least-squares estimate (there are as many measurements
 * as unknowns), and with it every query in the row space of A: w'x^, x^ = B^+
 * T^-1 y, with variance sigma^2 w'C w, C = B^+ T^-1 T^-1' B^+'.
 *
 * Another workload than the one measured is answered over the classes that both
 * tell apart together; a query that treats cells of one column differently, or
 * is not in the row space, is not determined.
 */
#ifndef PE_CORE_RECONSTRUCT_H
#define PE_CORE_RECONSTRUCT_H

#include "core/strategy.h"

/* A strategy with the workload that it was made for. */
typedef struct pe_measured
{
	const pe_workload *workload;
	const pe_strategy *strategy;
	const bool *possible;		/* cells that a predicate leaves; NULL: all */
} pe_measured;

/* What a strategy tells of a workload over the same shape. */
typedef struct pe_reconstruction
{
	const pe_measured *measured;
	const pe_workload *workload;
	pe_classes	classes;		/* of both together */
	int32_t    *column_of;		/* of these classes */
	int32_t    *members;		/* of each column: the classes it has */
	bool		diagonal;		/* a column is a class, and is counted by itself */
} pe_reconstruction;

/*
 * False, with nothing to free, if the workloads tell more than PE_OPTIMUM_CELLS
 * classes apart and the strategy is not one that counts each class once.
 */
extern bool pe_reconstruction_init(const pe_measured *measured, const pe_workload *workload,
								   pe_reconstruction *reconstruction);
extern void pe_reconstruction_free(pe_reconstruction *reconstruction);

/* The first query (from 0) that the strategy does not determine, or -1. */
extern int32_t pe_reconstruction_undetermined(const pe_reconstruction *reconstruction);

/* estimate[q] of all queries from the measurements. */
extern void pe_reconstruction_estimate(const pe_reconstruction *reconstruction, const int64_t *y, double *estimate);

/* The same from the nearest counts that are not negative; returns their certificate (nonnegative.h). */
extern double pe_reconstruction_estimate_nonnegative(const pe_reconstruction *reconstruction, const int64_t *y,
													 double *estimate);

/* variance[q] of all queries, in units of the variance of one measurement's noise: w'C w. */
extern void pe_reconstruction_variance(const pe_reconstruction *reconstruction, double *variance);

/* Bytes that the above take at most, besides their results. */
extern size_t pe_reconstruction_memory(const pe_workload *workload, const pe_classes *classes);

/*
 * The parts of the above, over columns: x^ = B^+ T^-1 y, and B^+, columns x rows
 * by columns (false if B's rows are not independent in doubles).
 */
extern void pe_strategy_solve(const pe_strategy *strategy, const int64_t *y, double *x);
extern bool pe_basis_inverse(const pe_strategy *strategy, double *inverse);

#endif

/*
 * combine.h
 *	  Several releases of the same rows as one measurement: post-processing, in
 *	  doubles.
 *
 * Release i measured y_i = A_i x + noise of variance s_i^2, each A_i over the
 * classes of its own workload.  Over the classes that all of them and the
 * workload asked distinguish, x is estimated by generalised least squares
 * (Aitken 1935),
 *
 *	 minimise  sum_i |A_i x - y_i|^2 / s_i^2,
 *
 * which is the best linear unbiased estimate: no query that they determine
 * together has a smaller variance under any other weights.  What the releases
 * share is no question of privacy: each was paid for by itself, and the noise
 * of each is independent of all others.
 *
 * Rows of a block are divided by the deviation of its noise (blocks.h), after
 * which all have the same.
 *
 * Classes that are one column in every release are a group.  Of the groups,
 * columns of the stack of the A_i, a Cholesky factor of A'A with diagonal
 * pivoting (each A_i scaled to a largest column of 1) picks as many as are
 * independent.  With these in front Householder's QR of the stack of
 * (A_i | y_i) / s_i gives
 *
 *	 R11 R12 q1
 *	  0   0  q2		all other columns are A_1 R11^-1 R12,
 *
 * so a query w is determined if w_2 = w_1 R11^-1 R12, its estimate is w_1
 * R11^-1 q1, and its variance |R11'^-1 w_1|^2.
 */
#ifndef PE_BLOCKS_COMBINE_H
#define PE_BLOCKS_COMBINE_H

#include "blocks/blocks.h"
#include "blocks/reconstruct.h"

/* What one release measured. */
typedef struct pe_measurement
{
	pe_measured measured;		/* over a shape of its own; a direct strategy is bound to its workload */
	int			place[PE_MAX_ATTRIBUTES];	/* of each of its attributes: which one of the joint shape it is */
	const int64_t *y;
	double		unit;			/* of y, in units of the answers; blocks have their own (measured.lattice) */
	/*
	 * of the noise of each, in units of the answers; of blocks where
	 * pe_blocks_relative_variance is 1
	 */
	double		stderr_;
} pe_measurement;

typedef struct pe_combination
{
	const pe_measurement *measurement;
	int			count;
	const pe_workload *workload;
	pe_classes	classes;		/* of all workloads together */
	int32_t    *column_of;		/* of class c in measurement i: [c * count + i] */
	/*
	 * of each measurement; of blocks the classes that its attributes' columns
	 * distinguish
	 */
	int32_t    *columns;
	int32_t    *group_of;		/* of each class: its group, PE_NOT_ASKED or PE_RULED_OUT */
	int32_t		groups;
	int32_t    *members;		/* of each group: its classes */
	int32_t    *class_of;		/* of each group: its first class */
	int32_t		rank;			/* the first groups, which are independent */
	double	   *r;				/* the triangle over the groups and y, by columns */
} pe_combination;

typedef enum pe_combination_status
{
	PE_COMBINATION_OK,
	PE_COMBINATION_MATRIX,		/* a matrix over all cells, and not all have the same attributes */
	PE_COMBINATION_TOO_LARGE	/* more than PE_OPTIMUM_CELLS classes */
} pe_combination_status;

/*
 * The workload has the joint shape.  possible: of its cells, those that a predicate, the same for all, leaves;
 * NULL: all.  Finds classes and groups; with nothing to free unless PE_COMBINATION_OK.
 */
extern pe_combination_status pe_combination_init(const pe_measurement *measurement, int count,
												 const pe_workload *workload,
												 const bool *possible, pe_combination *combination);
extern void pe_combination_free(pe_combination *combination);

/* Bytes that the following take at most, besides their results. */
extern size_t pe_combination_memory(const pe_combination *combination);

/* The triangle, which all that follow need. */
extern void pe_combination_solve(pe_combination *combination);

/* The first query (from 0) that they do not determine together, or -1. */
extern int32_t pe_combination_undetermined(const pe_combination *combination);

/* estimate[q] and variance[q] of all queries, in units of the answers. */
extern void pe_combination_estimate(const pe_combination *combination, double *estimate);
extern void pe_combination_variance(const pe_combination *combination, double *variance);

#endif

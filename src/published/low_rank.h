/*
 * low_rank.h
 *	  The low-rank mechanism: W = B L, L measured.
 *
 * For a row factor R of the workload (V = R'R; with W itself the time would grow with
 * the number of queries, and B'B, all that matters, be the same) it minimises
 *
 *	 1/2 |B|_F^2  such that  R = B L,  every column of L in the unit ball of the norm,
 *
 * by an augmented Lagrangian with multipliers pi and penalty beta: B is a least squares
 * solution, L comes from accelerated projected gradient steps.  The problem is not
 * convex in (B, L); what comes out depends on the start and need not be optimal.
 *
 * Source: Yuan, Zhang, Winslett, Xiao, Yang, Hao, "Low-Rank Mechanism: Optimizing Batch
 * Queries under Differential Privacy", PVLDB 2012, Algorithms 1 and 2, for the L1 norm;
 * "Optimizing Batch Linear Queries under Exact and Approximate Differential Privacy",
 * TODS 2015, for the L2 norm.  Two things are different here.  The residual at which it
 * stops is relative: the papers' 0.01 means nothing where queries have weights.  And
 * beta = 1 at first, as published, lets the ball of the L1 norm, which has corners,
 * empty rows of L, often until R = B L cannot be had; then all is begun anew with twice
 * that beta.
 */
#ifndef PE_PUBLISHED_LOW_RANK_H
#define PE_PUBLISHED_LOW_RANK_H

#include <stddef.h>
#include <stdint.h>

#include "strategy/design.h"

typedef struct pe_low_rank_options
{
	double		residual;		/* stops where |R - B L|_F is at most this part of |R|_F */
	int32_t		outer;			/* most updates of the multipliers after one beginning */
	int32_t		alternations;	/* between B and L in each, at most */
	int32_t		gradients;		/* steps for L in each of those, at most */
} pe_low_rank_options;

extern const pe_low_rank_options pe_low_rank_defaults;

/* Rows of L for a workload of this rank: a fifth more. */
extern int32_t pe_low_rank_rows(int32_t rank);

/*
 * design.factor: L, its longest column of norm 1; no design.x.  design.objective:
 * |R L^+|_F^2 with the B that is best for L.  L need not span the rows of R: residual
 * says what its answers miss with any noise, and only if that is 0 (always, up to
 * rounding, where L has the rank of its columns) is the objective the whole error.
 */
typedef struct pe_low_rank_result
{
	pe_design	design;
	double		residual;		/* |R - R L^+ L|_F^2 */
} pe_low_rank_result;

/*
 * R is rank x n by columns, 1 <= rank <= n, finite, not zero.  options: NULL for
 * pe_low_rank_defaults.  The start is random, but always the same.  The trace's
 * measure is |R - B L|_F / |R|_F, its objective |B|_F^2.  Polls at every step for L,
 * and reports progress with every update of the multipliers.
 */
extern void pe_low_rank(const double *r, int32_t rank, int32_t n, pe_norm norm, const pe_low_rank_options *options,
						const pe_trace *trace, pe_low_rank_result *result);

/*
 * Projects the rows of L onto those of R, and scales it so that its longest column is
 * of norm 1: a strategy whose rows are combinations of the workload's, as one over a
 * basis of integer rows must be.  Objective and residual are made anew; the residual
 * is 0 then, up to rounding, unless L misses a direction of R altogether.
 */
extern void pe_low_rank_project(const double *r, int32_t rank, pe_norm norm, pe_low_rank_result *result);

/*
 * Appends rows eta e_j for all columns j, and scales L so that its longest column is of
 * norm 1: it has the rank of its columns then, and R - R L^+ L = 0 for every R.  eta is
 * the best of 2^-1, 2^-2 .. 2^-10.  This is for the L1 norm, where L gains much from
 * the corners of the ball, and loses it by projection; in the L2 norm projection costs
 * hardly anything.
 */
extern void pe_low_rank_append(const double *r, int32_t rank, pe_norm norm, pe_low_rank_result *result);

/* Upper bound of the bytes that are allocated at one time by these, with the result. */
extern size_t pe_low_rank_memory(int32_t rank, int32_t n);

extern void pe_low_rank_free(pe_low_rank_result *result);

#endif

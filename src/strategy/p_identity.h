/*
 * p_identity.h
 *	  The best known strategies under L1: every column counted, and a few sums of
 *	  all columns besides.
 *
 * McKenna, Miklau, Hay, Machanavajjhala, "Optimizing error of high-dimensional
 * statistical queries under differential privacy", PVLDB 11(10), 2018, section
 * 5.2 (OPT_0):
 *
 *	 A = [I; Theta] D,  Theta >= 0 of p x n,  D = diag(1 / (1 + sum_i Theta_ij)),
 *
 * so that every column sums to 1 and Delta_1 = 1, and what is looked for is
 *
 *	 min over Theta of tr(V (A'A)^-1) = tr(V D^-1 (I + Theta'Theta)^-1 D^-1).
 *
 * By Woodbury's identity (I + Theta'Theta)^-1 = I - Theta'(I + Theta Theta')^-1
 * Theta, so that the objective and its gradient cost O(p n^2) and never an inverse
 * of order n.  The problem is not convex: what is found is a local minimum, the
 * best from a few starts.  The paper's starts are random; added here are one with a
 * single sum, as rows of Theta that are alike share what one of them had better have
 * alone and are slow to let go, and Theta = 0, the columns one by one, as a value
 * never to be exceeded.
 */
#ifndef PE_STRATEGY_P_IDENTITY_H
#define PE_STRATEGY_P_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "strategy/design.h"

/* What is 0 is chosen by n alone, so that the same V gives the same strategy everywhere, up to rounding. */
typedef struct pe_p_identity_options
{
	int32_t		sums;			/* p, rows of Theta; 0: the paper's n / 16, at least 1 */
	int32_t		starts;			/* besides the one with a single sum; 0: 5 for small n, fewer for larger ones */
	int32_t		evaluations;	/* of the objective from one start, at most; 0: as many as take bearable time */
} pe_p_identity_options;

/*
 * For V (n x n, by columns, both triangles, positive semidefinite, diagonal > 0,
 * 1 <= n <= PE_OPTIMUM_CELLS), of any rank.  design.factor is A, (n + p) x n, its
 * first n rows diagonal and positive; objective is tr(V (A'A)^-1); iterations those
 * of all starts together.  A V that is not finite or has a diagonal entry <= 0 is a
 * bug of the caller.  trace: may be NULL; the measure is what the last iterations gained,
 * relatively, and INFINITY at first.
 *
 * Polls once per evaluation; reports progress once per iteration.
 */
extern void pe_p_identity(const double *v, int32_t n, const pe_p_identity_options *options, const pe_trace *trace,
						  pe_design *design);

/* p */
extern int32_t pe_p_identity_sums(int32_t n, const pe_p_identity_options *options);

/* Bytes that this takes at most, with the result but without v. */
extern size_t pe_p_identity_memory(int32_t n, const pe_p_identity_options *options);

#endif

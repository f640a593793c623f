/*
 * adaptive.h
 *	  The adaptive mechanism: eigenvectors of the workload, optimally weighted.
 *
 * With V = P diag(d) P' the strategy is A = diag(sqrt z) P', and its expected error
 *
 *	 max_j ((P o P) z)_j  sum_i d_i / z_i
 *
 * is convex in z > 0.  As in optimum.h any y > 0 bounds the least from below, by
 * T^2 / sum y with T = sum_i sqrt(d_i g_i), g = (P o P)'y, and gives z_i =
 * sqrt(d_i / g_i).  The multiplicative iteration y_j <- y_j ((P o P) z)_j makes the
 * two meet; its exponent 1.5 here instead of 1 makes it faster, and nothing has to be
 * proved for it, as both bounds hold for any y.  A column of A shorter than the
 * longest one wastes noise: rows sqrt(1 - |a_j|^2) e_j are appended, at no cost.
 *
 * Source: Li, Miklau, "An Adaptive Mechanism for Accurate Query Answering under
 * Differential Privacy", PVLDB 2012: programme 1 for the weights (solved there by a
 * general solver of semidefinite programmes), and its completion of columns.
 *
 * Eigenvectors of equal eigenvalues are not unique, and the expected error depends on
 * which are taken: here what LAPACK makes of V.  The library, and rounding, can change
 * it then.
 */
#ifndef PE_PUBLISHED_ADAPTIVE_H
#define PE_PUBLISHED_ADAPTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "strategy/design.h"

/* What the paper's programme is solved to. */
#define PE_ADAPTIVE_GAP 1e-5

/*
 * design.factor: A before completing, a row for each eigenvalue above 1e-12 of the
 * largest one, the longest column of norm 1.  design.x: A'A with the diagonal
 * completed to 1, if that is positive definite and well away from singular (pivots
 * above 1e-10), else NULL: always there if V is of full rank and not nearly singular,
 * and also otherwise where enough columns are short.  design.objective is that of x
 * if there is one, and of factor otherwise.
 */
typedef struct pe_adapted
{
	pe_design	design;
	double		uncompleted;	/* the objective of factor */
	double		lower;			/* of any weights of these eigenvectors, before completing */
} pe_adapted;

/*
 * For V (n x n, by columns, both triangles, finite, positive semidefinite, not zero),
 * until uncompleted / lower - 1 <= gap, but no longer than 3000 steps; finished tells
 * which.  The trace's measure is that gap.  Polls at every step, and reports progress.
 */
extern void pe_adaptive(const double *v, int32_t n, double gap, const pe_trace *trace, pe_adapted *adapted);

/* Upper bound of the bytes that are allocated at one time by this, with the result. */
extern size_t pe_adaptive_memory(int32_t n);

extern void pe_adapted_free(pe_adapted *adapted);

#endif

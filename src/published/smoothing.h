/*
 * smoothing.h
 *	  The strategy by projected gradients on a smoothed maximum.
 *
 * The exponential smoothing mechanism of Yuan, Zhang, Winslett, Xiao, Yang, Hao,
 * "Low-Rank Mechanism: Optimizing Batch Queries under Differential Privacy", VLDB 2012:
 *
 *	 minimise  smax_mu(diag X) tr(V X^-1)  over X >= floor I,
 *	 smax_mu(d) = max d + mu log sum exp((d - max d) / mu),
 *
 * where smax_mu, between max d and max d + mu log n, stands for the squared
 * sensitivity max d, which has no gradient.  With softmax the gradient of smax_mu it is
 *
 *	 diag(softmax) tr(V X^-1) - smax X^-1 V X^-1.
 *
 * The nonmonotone spectral projected gradient method of Birgin, Martinez and Raydan
 * (SIAM J. Optim. 10, 2000) minimises that for one mu after the other, each from the
 * matrix before it.  The problem is not convex in X, and first-order steps are
 * short where V is far from a multiple of I: it ends near the optimum of optimum.h,
 * not at it.
 */
#ifndef PE_PUBLISHED_SMOOTHING_H
#define PE_PUBLISHED_SMOOTHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategy/design.h"

#define PE_SMOOTHING_MEMORY 64

typedef struct pe_smoothing_options
{
	int32_t		stages;			/* values of mu */
	double		first_mu;		/* relative to the largest diagonal entry of X when the stage begins */
	double		decay;			/* each mu to the one before it */
	double		floor;			/* least eigenvalue of X, relative to the largest when the stage begins */
	int32_t		memory;			/* how many last objectives: the largest of them must be undercut: 1 .. PE_SMOOTHING_MEMORY */
	double		decrease;		/* sufficient one, as a part of what the gradient promises */
	int32_t		iterations;		/* at most, in each stage */
	double		tolerance;		/* of the projected gradient, relative to that at X = I */
} pe_smoothing_options;

/* mu 1e-1 to 1e-4 in four stages, floor 1e-8, memory 10, decrease 1e-4, 200 iterations, tolerance 1e-4. */
extern void pe_smoothing_defaults(pe_smoothing_options *options);

/*
 * For V (n x n, by columns, both triangles, finite; anything else is a bug of the
 * caller, like options that make no sense).  V should be positive semidefinite.
 *
 * The design has x, the best that was met by max X_ii tr(V X^-1), with largest
 * diagonal entry 1 and positive definite; its objective is that number and may be infinite where V is
 * beyond the range of floating point.  It is finished if the last stage met its
 * tolerance.
 *
 * trace (or NULL) is told this objective of the current X, which may rise, and the
 * projected gradient relative to that at X = I, at iteration 0 and after each one.
 * Polls between products; reports progress once per iteration.
 */
extern void pe_smoothing(const double *v, int32_t n, const pe_smoothing_options *options, const pe_trace *trace,
						 pe_design *design);

/* Upper bound of the bytes that are allocated at one time during pe_smoothing, with the design and with v itself. */
extern size_t pe_smoothing_memory(int32_t n);

/* ---- the pieces, for tests ---- */

/*
 * The nearest matrix to the symmetric A (lower triangle) whose eigenvalues are at least floor, in p, both
 * triangles; A is destroyed.  work, iwork: of pe_la_eigen and n more.  z: n^2.  False
 * if the eigenvalues cannot be found.
 */
extern bool pe_smoothing_project(int32_t n, double floor, double *a, double *p, double *z, double *work, int32_t *iwork);

#endif

/*
 * coa.h
 *	  The strategy by Newton's method on X with conjugate gradients, as published.
 *
 * Yuan, Yang, Zhang, Hao, "Convex Optimization for Linear Query Processing under
 * Approximate Differential Privacy", KDD 2016, Algorithms 1, 2 and 3:
 *
 *	 minimise F(X) = tr((V + theta I) X^-1)  over X > 0 with unit diagonal
 *
 * from X = I.  Gradient and Hessian are, with Z = X^-1,
 *
 *	 G = -Z (V + theta I) Z,   H(P) = -(Z P G + G P Z),
 *
 * both with the diagonal set to 0, since that of X stays what it is.
 *
 * It is kept beside the solver of optimum.h to be compared with it, so it is what
 * was published, without misprints with which it does not run:
 *
 *	 - Algorithm 2 has B = -G + Z D G + G D Z in line 7.  Of the direction P, not of D,
 *	   without the gradient and with the other sign, B = H(P) is meant: as printed the
 *	   second step divides 0 by 0.
 *	 - "for l = 0 to T" would be T + 1 steps; there are cg_steps.
 *	 - ||G||_F, which the paper plots as its measure of optimality, does not become 0
 *	   at the optimum, where G is diagonal.  ||G - diag G||_F does; it is taken
 *	   relatively to ||G||_F.
 *	 - The dual of Lemma 3 lacks a term.  Any y > 0 proves
 *	   min F >= (tr (Y^.5 (V + theta I) Y^.5)^.5)^2 / sum y; Lemma 4 is y = 1, and at the
 *	   optimum y = -diag G is tight.
 */
#ifndef PE_PUBLISHED_COA_H
#define PE_PUBLISHED_COA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategy/design.h"

typedef struct pe_coa_options
{
	/*
	 * Added to the diagonal of V, absolutely, as published: what it means depends
	 * on the scale of V.  What is lost on V itself is of the order of its root, for
	 * V of less than full rank; with theta = 0 such a V cannot be solved.
	 */
	double		theta;
	int32_t		stages;			/* 0: Algorithm 1 with theta.  Else Algorithm 3: theta, then stage by stage times decay */
	double		decay;
	int32_t		cg_steps;		/* of Algorithm 2 */
	double		beta;			/* step sizes tried are 1, beta, beta^2, ... */
	double		sigma;			/* part of the decrease promised by the gradient that a step must bring */
	int32_t		iterations;		/* at most, in each stage */

	/*
	 * The rule for stopping.  gap > 0: when F / bound - 1 <= gap, with the bound above from
	 * y = -diag G; it costs the eigenvalues of a matrix in each iteration.
	 * gap = 0: when ||G - diag G||_F <= tolerance ||G||_F.
	 */
	double		gap;
	double		tolerance;
} pe_coa_options;

/* Algorithm 1 with the paper's numbers: theta 1e-3, 5 steps, beta 0.1, sigma 0.25; by tolerance. */
extern void pe_coa_defaults(pe_coa_options *options);

/*
 * For V (n x n, by columns, both triangles, finite; anything else is a bug of the
 * caller, like options that make no sense).  V should be positive semidefinite.
 *
 * The design has x, with a diagonal of exactly 1; its objective is that on V, not on
 * V + theta I, and may be infinite where V is beyond the range of floating point.
 * It ends unfinished after so many iterations or when no step size above 1e-12
 * brings a decrease: rounding does not allow it.
 *
 * trace (or NULL) is told the objective on V and the relative measure above at
 * iteration 0, X = I, and after each one.  Polls between products; reports
 * progress once per iteration.
 *
 * One iteration is 2 products of n x n matrices for each step of Algorithm 2, 2 for
 * the gradient and about a half for every step size tried.
 */
extern void pe_coa(const double *v, int32_t n, const pe_coa_options *options, const pe_trace *trace,
				   pe_design *design);

/* Upper bound of the bytes that are allocated at one time during pe_coa, with the design and with v itself. */
extern size_t pe_coa_memory(int32_t n);

/* ---- the pieces, for tests of the derivatives ---- */

/* t = Z P G, so that H(P) = -(T + T'); work: n^2. */
extern void pe_coa_product(int32_t n, const double *z, const double *g, const double *p, double *t, double *work);

#endif

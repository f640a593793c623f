/*
 * outpert.h
 *	  Output perturbation: gradient descent whose last weights get noise.
 *
 * Released: round(w_T / h) + Y for w_T after T steps, all from exact passes,
 *
 *	  w_(t+1) = w_t - a_D grad F_D(w_t),  w_0 = 0,  F_D(w) = sum over rows of l_i(x_i.w),
 *
 * h a public power of two, Y discrete Gaussian or discrete Laplace noise of step 1.
 *
 * Neighbours: k rows of a unit are added or removed.  Replacing them is both, one
 * after the other: twice the sensitivity.
 *
 * Required: |x_i| <= R, |l'| <= 1, 0 <= l'' <= beta / R^2 (logistic, Huber's hinge).  No
 * gradient is clipped: none is longer than R, and a clip that binds would make
 * grad F_D the gradient of no convex function, so that 1. below would not hold.
 *
 * The step a_D.  A guess N of the number of rows is public (or was released); the number n
 * itself is not.  With rate r <= 2, c = 2 / r and x = n / N,
 *
 *	  a_D = (r / beta) g(x) / N,   g(x) = 1 - x / (4 c) for x <= 2 c, c / x beyond.
 *
 * Sensitivity: |w_T(D) - w_T(D')|_2 <= S = T (r / beta) k R / N, for every n.  D' = D
 * without k rows, n' = n - k (or fewer; the bound grows with k):
 *
 * 1. w -> w - a_D' grad F_D'(w) is not expansive, since F_D' is convex with a gradient
 *	  whose Lipschitz constant is at most n' beta, and a_D' n' beta = r x' g(x') <= 2: x (1 - x
 *	  / (4 c)) <= c always.
 *
 * 2. At one w the two steps differ by at most (r / beta) k R / N.  With U' = grad F_D'(w), |U'| <=
 *	  n' R, and u the rows' own gradient, |u| <= k R:
 *
 *		a_D (U' + u) - a_D' U' = (r / beta) (g(x) u - (g(x') - g(x)) U') / N,
 *
 *	  whose length is at most (r / beta) R (k g(x) + n' (g(x') - g(x))) / N.  g falls, with
 *	  slope -1 / (4 c) up to 2 c and less steeply, -c / x^2, beyond; it is differentiable.
 *	  If x' <= 2 c: g(x') - g(x) <= (k / N) / (4 c), so k g(x) + x' k / (4 c) <= k: for x <= 2 c because
 *	  g(x) = 1 - x / (4 c) <= 1 - x' / (4 c), beyond because g(x) <= 1/2 and x' / (4 c) <= 1/2.
 *	  If x' > 2 c: g(x') - g(x) <= (k / N) c / x'^2, so k g(x) + k c / x' <= k/2 + k/2.
 *
 * 3. So T steps add up to S.  (Wu et al., SIGMOD 2017, have this for the mean of a
 *	  public number of rows.)
 *
 * What is computed is not quite that: weights are rounded to a lattice (minimise.h), a row's
 * derivative is good to e = 2^-50, and double rounds.  Each step adds such an error, and
 * by 1. it does not grow afterwards.  With |w_t| <= W = 2 T R / beta (a_D n <= 2 / beta), a
 * step's error is at most
 *
 *	  (R / beta) 2^-46 + W 2^-52 + sqrt(d) 2^-(s + 31):
 *
 * rows 2 e R / beta and the gradient's roundings as much again several times over;
 * two roundings of w; at most a step of the lattice, where s is a scale that pe_weights_set
 * reaches for every w as long as W.  `error' is T times that, and
 *
 *	  |round(w / h) - round(w' / h)|_2 <= (S + 2 error) / h + sqrt(d),
 *
 * rounded up to an integer, is what the noise is for; in the L1 norm sqrt(d) times it.
 *
 * Cost: nano, of rho (gaussian.h) or of a pure epsilon (laplace.h); where N is not
 * given, a part of it is for a noisy number of rows, which is drawn first.
 */
#ifndef PE_FIT_OUTPERT_H
#define PE_FIT_OUTPERT_H

#include "fit/fit.h"

/* Public numbers; `rows' is N. */
typedef struct pe_outpert
{
	double		rows;
	double		sensitivity;	/* S, of substitute twice that */
	double		error;
	int			bits;			/* h = 2^-bits */
	uint64_t	steps;			/* the L2 sensitivity in units of h */
} pe_outpert;

extern void pe_outpert_prepare(const pe_fit_problem *problem, double rows, pe_outpert *o);

/* round(w_T / h): what noise must be added to. */
extern void pe_outpert_exact(const pe_fit_problem *problem, pe_source *source, const pe_outpert *o, pe_i128 *exact);

#endif

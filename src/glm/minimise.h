/*
 * minimise.h
 *	  The minimum over w of  sum over rows of loss(x.w) + lambda/2 |w|^2 + b.w,  with
 *	  a bound on how far from it a point is.
 *
 * Real features: x.w = sum_j x_j w_j / PE_ONE, R^2 = radius_sq / PE_ONE^2.  The loss is
 * convex with a Lipschitz derivative: logistic, Huber's hinge, squared.
 *
 * Nothing here is private: a method that uses it proves what it needs from
 *
 *	  |w - w*| <= (gradient + n e R) / lambda,
 *
 * where w is the point found, w* the minimiser, n the number of rows and e = 2^-50 the
 * error of a row's derivative (pass.h, logistic and Huber).  Why: the function is
 * lambda-strongly convex, so |w - w*| is at most the length of its gradient at w over
 * lambda; and `gradient' bounds that of the computed one, roundings to double included.
 */
#ifndef PE_GLM_MINIMISE_H
#define PE_GLM_MINIMISE_H

#include "glm/pass.h"

/* e */
#define PE_PRECISE_ERROR 0x1p-50

typedef struct pe_smooth
{
	pe_source  *source;
	pe_loss		loss;
	pe_u128		radius_sq;
	double		lambda;			/* >= 0 */
	const double *linear;		/* b, or NULL */
} pe_smooth;

/* A point w = v 2^-scale, exactly, and what was computed there. */
typedef struct pe_place
{
	int32_t		columns;
	int32_t		scale;
	int64_t    *v;				/* |v| < 2^58 */
	double	   *w;				/* v 2^-scale as a double, and */
	double	   *rest;			/* what that lacks */
	double	   *gradient;
	double		length;			/* of gradient, at least, with the roundings of the sums but not of the rows */
	double		value;			/* of the function */
	double		value_error;	/* of the roundings in value, roughly, but for the rows' */
} pe_place;

extern void pe_place_init(pe_place *point, int32_t columns);

/* Wipes and frees. */
extern void pe_place_free(pe_place *point);

/* Goes to w + rest, rounded to 58 bits of the largest number of w or so; rest may be NULL.  w is finite. */
extern void pe_place_set(pe_place *point, const double *w, const double *rest, pe_u128 radius_sq);

/* One pass: fills in gradient, length, value. */
extern void pe_place_evaluate(pe_place *point, const pe_smooth *f);

/* The least Lipschitz constant of a loss's derivative. */
extern double pe_loss_curvature(pe_loss loss);

/*
 * Newton's method from the point 0.  Each iteration is a pass for the second
 * derivative and one for a trial, which is taken or not.  Iterates least times, and
 * then until length <= goal, or most times (0: as often as that needs).  Returns the
 * number of iterations.  One pass besides for the point 0 and one to count.
 *
 * Terminates for lambda > 0 and goal > C n e R, if the weights' lattice is fine enough
 * to hold the result: every iteration shortens the gradient by a factor of at least
 * 1 - max(lambda / L, 2^-11), L = lambda + n R^2 max l''.  A trial on Newton's way must
 * do that to be taken (or lower the value by more than its error, which can happen
 * only finitely often as the value is bounded from below); after a few that did not,
 * the next is a gradient step of 1/L, w - g(w)/L: its gradient is (I - H/L) g(w) with
 * lambda <= H <= L, H the mean second derivative on the way.  Errors of the rows are
 * not adversaries; if they were, they would add up to C = 1 + ln(L / lambda) / e
 * times theirs where H is constant.
 */
extern int32_t pe_minimise(const pe_smooth *f, double goal, int32_t least, int32_t most, pe_place *minimum);

#endif

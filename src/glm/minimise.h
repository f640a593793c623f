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
	double		value_error;	/* of the roundings in value, roughly, without the rows' */
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
 * Newton's method from the point 0: so many iterations, or if not in_full until
 * length <= goal.  Returns how many were made.  It has arrived if
 * length <= goal; with in_full the rest of the iterations goes on, and does no
 * harm.
 *
 * An iteration is three passes, always CURVATURE, LOSSES and PRECISE, and there
 * is one PRECISE for the point 0 and one COUNT.  Without the early end the
 * passes are the same for all rows: PE_MINIMISE_PASSES.
 *
 * LOSSES compares steps along Newton's direction, to which a piecewise
 * quadratic function gives no length: where its kinks are, Newton's method does
 * not see.  If the trial is then too far, which the slope there shows to the
 * last digit, the next iteration goes back on the same line by the curvature at
 * the trial, with no kink in between to the line's least value.  A direction
 * without Newton's is the gradient's.
 *
 * That it arrives in a number of iterations which is known before is not
 * proved: no method of a few passes has such a bound for every table (the
 * condition number is about n R^2 / lambda).  fit_objpert.c proves how many it
 * takes.
 */
extern int32_t pe_minimise(const pe_smooth *f, double goal, int32_t iterations, bool in_full, pe_place *minimum);

#define PE_MINIMISE_PASSES(iterations) (3 * (iterations) + 2)

#endif

/*
 * fit_newton.c
 *	  Newton steps with a curvature that is measured once.
 *
 * Released: the second moment M = sum x x' with noise, then for t = 1 .. T the
 * sum of the rows' clipped gradients at w_{t-1} with noise (measure.h:
 * neighbours, sensitivities).  Everything else is post-processing of these.
 *
 * Cost: the parts of problem->nano add up to it: share of it for M, and shares
 * in proportion to decay^(T - t) for the gradients; the last one gets what
 * rounding left.  The parts are fixed before the first row is read; w_{t-1}
 * depends on what was released before: adaptive composition (Bun and Steinke,
 * 2016, Lemma 2.3; of pure epsilons Dwork, Rothblum and Vadhan, 2010).
 *
 * The step: the second derivative of the sum of the losses is at most c M,
 * c = 1/4 for the logistic loss (Boehning and Lindsay, 1988), 1/(2h) = 1 for
 * the smoothed hinge, 1 for the squared loss.  So w - (c M + l2)^-1 gradient
 * never overshoots, and no search for a step, which would have to be paid for,
 * is needed.  Noise makes small eigenvalues meaningless: of M's, none counts
 * less than floor s sqrt(columns), s the noise of a diagonal entry, about
 * floor / sqrt(2) of the largest eigenvalue of the noise alone.
 *
 * What the noise does to the weights follows from the same released numbers
 * (spread.c), except for an SVM: post-processing too.
 *
 * Units of several rows: gradients are clipped by unit, M is not.  A unit whose
 * gradients cancel is not shortened and moves with all its rows' curvature; a
 * weight below 1 for these rows in M could make a step k times too long.
 */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "fit/measure.h"
#include "fit/methods.h"

/* ----------
 * The shares
 * ----------
 */
/* How the cost is divided: the second moment, and iterations gradients. */
static void
divide_cost(const pe_fit_problem *problem, int64_t *moment, int64_t *gradient)
{
	const pe_fit_options *o = &problem->options;
	int32_t		steps = (int32_t) o->iterations;
	double		sum = 0;
	int64_t		left;
	double		rest;

	*moment = (int64_t) ((double) problem->nano * o->share);
	left = problem->nano - *moment;
	rest = (double) left;
	for (int32_t t = 0; t < steps; t++)
		sum += pow(o->decay, t);
	for (int32_t t = 0; t < steps - 1; t++)
	{
		gradient[t] = (int64_t) (rest * pow(o->decay, steps - 1 - t) / sum);
		left -= gradient[t];
	}
	gradient[steps - 1] = left;
	if (*moment <= 0 || left <= 0)
		pe_bug("the cost of a fit cannot be divided");
}

/* ----------
 * The steps
 * ----------
 */
static void
steps(const pe_fit_problem *problem, pe_source *source, const int64_t *nano,
	  pe_curvature *curvature, pe_spread *spread, double *w)
{
	int32_t		columns = problem->shape->columns;
	double	   *gradient = pe_alloc((size_t) columns, sizeof(*gradient));
	pe_pass		pass;

	pe_gradient_pass(problem, problem->options.clip, &pass);
	for (int32_t t = 0; t < (int32_t) problem->options.iterations; t++)
	{
		pe_measure_gradient(problem, source, &pass, w, nano[t], gradient);
		for (int32_t j = 0; j < columns; j++)
			gradient[j] += problem->options.l2 * w[j];
		pe_spread_step(spread, w, gradient, pe_gradient_noise(problem, &pass, nano[t]));
		pe_curvature_step(curvature, gradient, w);
		if (problem->trace != NULL)
			problem->trace(problem->trace_argument, t + 1, w);
	}
	pe_gradient_free(&pass);
	pe_free(gradient);
}

void
pe_fit_newton(const pe_fit_problem *problem, pe_source *source, double *w)
{
	size_t		columns = (size_t) problem->shape->columns;
	double	   *moment = pe_alloc(columns * columns, sizeof(*moment));
	int64_t    *nano = pe_alloc((size_t) problem->options.iterations, sizeof(*nano));
	int64_t		nano_moment;
	pe_curvature curvature;
	pe_spread	spread;
	double		noise;

	divide_cost(problem, &nano_moment, nano);
	pe_measure_moment(problem, source, nano_moment, moment, &noise);
	pe_curvature_init(&curvature, problem, moment, noise);
	pe_free(moment);
	memset(w, 0, columns * sizeof(*w));
	pe_spread_init(&spread, problem, &curvature, noise);
	steps(problem, source, nano, &curvature, &spread, w);
	pe_spread_population(&spread, w);
	pe_spread_end(&spread);
	pe_curvature_free(&curvature);
	pe_free(nano);
}

/*
 * fit_one_pass.c
 *	  A model from sufficient statistics: the rows are read once and not kept.
 *
 * Released, from one pass: the second moment M = sum x x' and v = sum y x, with noise
 * (measure.h: neighbours, sensitivities); y in [-1, 1], of classes -1 and 1.  Cost:
 * share of problem->nano for M, the rest for v; the pair is one measurement with two
 * sigmas (CKS Theorem 14), or two that are composed: the same cost.  All else is
 * post-processing, and so is what the noise does to the weights (spread.c).
 *
 * Units of several rows, where they are clipped: the rows of a unit have one weight, at most 1,
 * in M and in v (glm/unit_clip.h), and the weights minimise the weighted sum of squares.
 *
 * A regression's squared loss is a function of M and v (and y^2, which no weight
 * depends on): the weights are its minimiser M^-1 v, where eigenvalues of M below
 * floor s sqrt(columns) are raised to it, s the noise of a diagonal entry.
 *
 * Other losses are not, and are replaced, for t = y margin, by
 *
 *	  logistic	log 2 - t/2 + t^2/8, its expansion at 0: the functional mechanism (Zhang et
 *				al., VLDB 2012) with Gaussian noise.  Good where margins are below 2 or
 *				so; larger ones come out too small.
 *	  svm		(1 - t)^2 / 2, the squared hinge where t <= 1, continued: least squares for
 *				labels of -1 and 1.  The smoothed hinge itself is linear around 0.
 *
 * Both have the minimiser (c M)^-1 a v: a = 1/2 and c = 1/4, or 1 and 1.
 */
#include "fit/fit.h"

#include <string.h>

#include "fit/measure.h"
#include "fit/methods.h"

void
pe_fit_one_pass(const pe_fit_problem *problem, pe_source *source, double *w)
{
	size_t		columns = (size_t) problem->shape->columns;
	double	   *moment = pe_alloc(columns * columns, sizeof(*moment));
	double	   *gradient = pe_alloc(columns, sizeof(*gradient));
	int64_t		nano_moment = (int64_t) ((double) problem->nano * problem->options.share);
	double		a = problem->model == PE_MODEL_LOGISTIC ? 0.5 : 1;
	pe_curvature curvature;
	pe_spread	spread;
	double		noise;
	double		label_noise;

	pe_measure_moment_and_label(problem, source, nano_moment, problem->nano - nano_moment,
								moment, &noise, gradient, &label_noise);
	for (size_t j = 0; j < columns; j++)
		gradient[j] *= -a;
	pe_curvature_init(&curvature, problem, moment, noise);
	pe_spread_init(&spread, problem, &curvature, noise);
	pe_spread_step(&spread, NULL, gradient, a * label_noise);
	memset(w, 0, columns * sizeof(*w));
	pe_curvature_step(&curvature, gradient, w);
	if (problem->trace != NULL)
		problem->trace(problem->trace_argument, 1, w);
	pe_spread_end(&spread);
	pe_curvature_free(&curvature);
	pe_free(gradient);
	pe_free(moment);
}

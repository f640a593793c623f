/*
 * curvature.c
 *	  Steps with the inverse of a noisy curvature: post-processing.
 */
#include "fit/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* Eigenvalues below this part of the largest one are rounding. */
#define ROUNDING 1e-12

/* No weight is larger: pe_weights_set would bring it there. */
#define LARGEST_WEIGHT 0x1p90

/* The largest second derivative of a loss. */
static double
largest_derivative(pe_model model)
{
	return model == PE_MODEL_LOGISTIC ? 0.25 : 1;
}

/* The eigenvectors of the moment; where there are none to be had, the identity with the largest floor that is safe. */
static void
decompose(pe_curvature *c, double *moment)
{
	size_t		n = (size_t) c->columns;
	double	   *work = pe_alloc(pe_la_eigen_work(c->columns), sizeof(*work));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(c->columns), sizeof(*iwork));
	double		trace = 0;

	for (size_t i = 0; i < n; i++)
		trace += fabs(moment[i * n + i]);
	c->decomposed = pe_la_eigen(c->columns, moment, c->value, c->vector, work, iwork);
	if (!c->decomposed)
	{
		for (size_t i = 0; i < n * n; i++)
			c->vector[i] = i % (n + 1) == 0;
		for (size_t i = 0; i < n; i++)
			c->value[i] = trace;
	}
	pe_free(iwork);
	pe_free(work);
}

void
pe_curvature_init(pe_curvature *curvature, const pe_fit_problem *problem, double *moment, double noise)
{
	size_t		n = (size_t) problem->shape->columns;
	double		floor = problem->options.floor * noise * sqrt((double) n);

	curvature->derivative = largest_derivative(problem->model);
	curvature->columns = problem->shape->columns;
	curvature->vector = pe_alloc(n * n, sizeof(double));
	curvature->value = pe_alloc(n, sizeof(double));
	curvature->measured = pe_alloc(n, sizeof(double));
	curvature->turned = pe_alloc(n, sizeof(double));
	decompose(curvature, moment);
	for (size_t i = 0; i < n; i++)
		floor = fmax(floor, ROUNDING * curvature->value[i]);
	curvature->floor = fmax(floor, DBL_MIN);
	memcpy(curvature->measured, curvature->value, n * sizeof(double));
	for (size_t i = 0; i < n; i++)
		curvature->value[i] = curvature->derivative * fmax(curvature->value[i], curvature->floor) + problem->options.l2;
}

void
pe_curvature_step(pe_curvature *curvature, const double *gradient, double *w)
{
	int32_t		n = curvature->columns;

	pe_la_gemv(true, n, n, 1, curvature->vector, n, gradient, 0, curvature->turned);
	for (int32_t i = 0; i < n; i++)
		curvature->turned[i] /= curvature->value[i];
	pe_la_gemv(false, n, n, -1, curvature->vector, n, curvature->turned, 1, w);
	for (int32_t i = 0; i < n; i++)
		w[i] = isnan(w[i]) ? 0 : fmax(-LARGEST_WEIGHT, fmin(LARGEST_WEIGHT, w[i]));
}

void
pe_curvature_free(pe_curvature *curvature)
{
	pe_free(curvature->turned);
	pe_free(curvature->measured);
	pe_free(curvature->value);
	pe_free(curvature->vector);
}

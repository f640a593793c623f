/*
 * smoothing.c
 *	  The strategy by projected gradients on a smoothed maximum.  See
 *	  published.h.
 */
#include "published/published.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

#define LEAST_PART 1e-12		/* of a step that is tried */
#define SPECTRAL_RANGE 1e10		/* of the lengths of steps, around the first one */
#define LARGEST_SCALE 1e3		/* of X in one stage, whose floor stays where it is */
#define MATRICES 6				/* of a search, besides v and what pe_la_eigen needs */

typedef struct search
{
	const pe_smoothing_options *options;
	const pe_trace *trace;
	const double *v;
	int32_t		n;
	double		scale;			/* of v, a power of two: squares of the gradient stay finite */
	double	   *x;
	double	   *g;
	double	   *d;				/* the step to the projected point */
	double	   *best;
	double	   *p;				/* a point that is tried */
	double	   *z;				/* the inverse of it, or eigenvectors */
	double	   *work;			/* pe_la_eigen's, and n more */
	int32_t    *iwork;
	double		mu;				/* of this stage */
	double		floor;
	double		smooth;			/* the smoothed objective, scaled */
	double		objective;		/* max X_ii tr(V X^-1), scaled */
	double		least;			/* of those met: best's */
	double		length;			/* of the step before projection: times the gradient */
	double		first_length;	/* of this stage */
	double		start;			/* the projected gradient at X = I */
	double		measure;		/* the projected gradient, relatively to it */
	double		history[PE_SMOOTHING_MEMORY];	/* smoothed objectives of this stage, the last ones */
	int32_t		accepted;		/* of this stage */
	int32_t		iterations;
	int32_t		told;			/* the last of them that the trace knows */
} search;

void
pe_smoothing_defaults(pe_smoothing_options *options)
{
	memset(options, 0, sizeof(*options));
	options->stages = 4;
	options->first_mu = 0.1;
	options->decay = 0.1;
	options->floor = 1e-8;
	options->memory = 10;
	options->decrease = 1e-4;
	options->iterations = 200;
	options->tolerance = 1e-4;
}

/* ---- the function and its gradient ---- */

/* smax_mu(diag X); weight, if it is not NULL, its gradient */
static double
smooth_maximum(int32_t n, const double *x, double mu, double *weight)
{
	double		largest = pe_la_largest_diagonal(n, x);
	double		sum = 0.0;

	for (int32_t i = 0; i < n; i++)
		sum += exp((x[i + (size_t) i * (size_t) n] - largest) / mu);
	for (int32_t i = 0; i < n && weight != NULL; i++)
		weight[i] = exp((x[i + (size_t) i * (size_t) n] - largest) / mu) / sum;
	return largest + mu * log(sum);
}

/* g = diag(softmax) trace - smax scale Z V Z */
static void
gradient(const double *v, int32_t n, double scale, double mu, const double *x, const double *z, double trace,
		 double *g, double *work)
{
	double	   *weight = work + pe_la_square(n);
	double		smooth = smooth_maximum(n, x, mu, weight);

	pe_poll();
	pe_la_gemm(false, false, n, n, n, scale, v, n, z, n, 0.0, work, n);
	pe_poll();
	pe_la_gemm(false, false, n, n, n, -smooth, z, n, work, n, 0.0, g, n);
	/* symmetric up to rounding: altogether */
	pe_la_mirror(n, g, n);
	for (int32_t i = 0; i < n; i++)
		g[i + (size_t) i * (size_t) n] += weight[i] * trace;
}

/* ---- the projection ---- */

bool
pe_smoothing_project(int32_t n, double floor, double *a, double *p, double *z, double *work, int32_t *iwork)
{
	double	   *value = work + pe_la_eigen_work(n);

	pe_poll();
	if (!pe_la_eigen(n, a, value, z, work, iwork))
		return false;
	for (int32_t k = 0; k < n; k++)
	{
		double		root = sqrt(fmax(value[k], floor));

		for (int32_t i = 0; i < n; i++)
			z[i + (size_t) k * (size_t) n] *= root;
	}
	pe_poll();
	pe_la_syrk(false, n, n, 1.0, z, n, 0.0, p, n);
	pe_la_mirror(n, p, n);
	return true;
}

/* to = X - length G */
static void
descend(const search *s, double *to)
{
	for (size_t i = 0; i < pe_la_square(s->n); i++)
		to[i] = s->x[i] - s->length * s->g[i];
}

/* Is X - length G above the floor, so that it is its own projection?  Far cheaper to see than eigenvalues. */
static bool
stays_inside(search *s)
{
	descend(s, s->z);
	for (int32_t i = 0; i < s->n; i++)
		s->z[i + (size_t) i * (size_t) s->n] -= s->floor;
	pe_poll();
	return pe_la_cholesky(s->n, s->z, s->n);
}

/* d = projection of X - length G, minus X; false if it is not finite. */
static bool
find_direction(search *s)
{
	if (stays_inside(s))
		descend(s, s->p);
	else
	{
		descend(s, s->d);
		if (!pe_smoothing_project(s->n, s->floor, s->d, s->p, s->z, s->work, s->iwork))
			return false;
	}
	for (size_t i = 0; i < pe_la_square(s->n); i++)
		s->d[i] = s->p[i] - s->x[i];
	return pe_la_finite(pe_la_square(s->n), s->d);
}

/* ---- the search ---- */

/*
 * z = the inverse of X in p, and what is known of it: the trace of V X^-1 and the
 * smoothed objective.  False if X is not positive definite, or so badly that they
 * are not finite or negative.
 */
static bool
invert(search *s, double *trace, double *smooth)
{
	memcpy(s->z, s->p, pe_la_square(s->n) * sizeof(double));
	pe_poll();
	if (!(pe_la_largest_diagonal(s->n, s->p) <= LARGEST_SCALE) || !pe_la_inverse(s->n, s->z, s->n))
		return false;
	*trace = s->scale * pe_la_dot(pe_la_square(s->n), s->z, s->v);
	*smooth = smooth_maximum(s->n, s->p, s->mu, NULL) * *trace;
	return isfinite(*smooth) && *smooth >= 0.0;
}

/*
 * p becomes X, with what invert found; its gradient, and whether it is the
 * best.
 */
static void
accept(search *s, double trace, double smooth)
{
	double	   *old = s->x;

	s->x = s->p;
	s->p = old;
	s->smooth = smooth;
	s->objective = pe_la_largest_diagonal(s->n, s->x) * trace;
	if (s->objective < s->least)
	{
		s->least = s->objective;
		memcpy(s->best, s->x, pe_la_square(s->n) * sizeof(double));
	}
	gradient(s->v, s->n, s->scale, s->mu, s->x, s->z, trace, s->g, s->work);
	s->history[s->accepted % s->options->memory] = smooth;
	s->accepted++;
}

/* What the next point must undercut: nonmonotone, the largest objective of the last ones. */
static double
reference(const search *s)
{
	int32_t		count = s->accepted < s->options->memory ? s->accepted : s->options->memory;
	double		largest = s->history[0];

	for (int32_t i = 1; i < count; i++)
		largest = fmax(largest, s->history[i]);
	return largest;
}

/*
 * The length of the next step (Barzilai and Borwein): the step's square over its product with the
 * change of the gradient; the longest where that is negative.
 */
static double
spectral_length(const search *s, double part, double slope)
{
	double		curvature = pe_la_dot(pe_la_square(s->n), s->g, s->d) - slope;
	double		length = part * pe_la_dot(pe_la_square(s->n), s->d, s->d) / curvature;

	if (!(curvature > 0.0))
		return s->first_length * SPECTRAL_RANGE;
	return fmin(fmax(length, s->first_length / SPECTRAL_RANGE), s->first_length * SPECTRAL_RANGE);
}

/* To X + d, or the largest part of the way, halving, that lowers the objective by enough. */
static bool
take_step(search *s)
{
	double		slope = pe_la_dot(pe_la_square(s->n), s->g, s->d);
	double		highest = reference(s);

	if (!(slope < 0.0))
		return false;
	for (double part = 1.0; part >= LEAST_PART; part /= 2.0)
	{
		double		trace;
		double		smooth;

		for (size_t i = 0; i < pe_la_square(s->n); i++)
			s->p[i] = s->x[i] + part * s->d[i];
		if (!invert(s, &trace, &smooth) || !(smooth <= highest + s->options->decrease * part * slope))
			continue;
		accept(s, trace, smooth);
		s->length = spectral_length(s, part, slope);
		s->iterations++;
		return true;
	}
	return false;
}

/* Once for each iteration: a stage begins where one before it has ended. */
static void
report_search(search *s)
{
	pe_progress("optimising the strategy", s->iterations + 1, 0, s->measure);
	pe_trace_tell(s->trace, &s->told, s->iterations, s->objective / s->scale, s->measure);
}

/* The length of the step before projection is taken out of it, and the scale of X, which f does not depend on. */
static double
projected_gradient(const search *s)
{
	return sqrt(pe_la_dot(pe_la_square(s->n), s->d, s->d)) / s->length * pe_la_largest_diagonal(s->n, s->x);
}

/* From the best X so far, scaled, with this mu; false if rounding does not allow it. */
static bool
begin_stage(search *s, double mu)
{
	double		largest = pe_la_largest_diagonal(s->n, s->best);
	double	   *value = s->work + pe_la_eigen_work(s->n);
	double		trace;
	double		smooth;

	for (size_t i = 0; i < pe_la_square(s->n); i++)
		s->x[i] = s->z[i] = s->best[i] / largest;
	pe_poll();
	if (!pe_la_eigenvalues(s->n, s->z, value, s->work))
		return false;
	s->mu = mu;
	s->floor = s->options->floor * value[s->n - 1];
	s->length = 0.0;
	memset(s->g, 0, pe_la_square(s->n) * sizeof(double));
	if (!find_direction(s) || !invert(s, &trace, &smooth))
		return false;
	s->accepted = 0;
	accept(s, trace, smooth);
	return true;
}

/* 1 over the largest entry of the gradient: X has entries of 1. */
static double
first_length(const search *s)
{
	double		largest = pe_la_largest(pe_la_square(s->n), s->g);

	return largest > 0.0 ? 1.0 / largest : 1.0;
}

/* False if the tolerance was not met. */
static bool
run_stage(search *s, double mu)
{
	int32_t		first = s->iterations;

	if (!begin_stage(s, mu))
		return false;
	s->length = s->first_length = first_length(s);
	for (;;)
	{
		double		length;

		if (!find_direction(s))
			return false;
		length = projected_gradient(s);
		if (s->start == 0.0)
			s->start = length;
		s->measure = s->start > 0.0 ? length / s->start : 0.0;
		report_search(s);
		if (s->measure <= s->options->tolerance)
			return true;
		if (s->iterations - first >= s->options->iterations || !take_step(s))
			return false;
	}
}

/* ---- the whole ---- */

static void
require_sense(const double *v, int32_t n, const pe_smoothing_options *options)
{
	pe_design_check_gram(v, n);
	if (options->stages < 1 || !(options->first_mu > 0.0) || !isfinite(options->first_mu) ||
		!(options->decay > 0.0 && options->decay < 1.0) || !(options->floor > 0.0 && options->floor < 1.0) ||
		options->memory < 1 || options->memory > PE_SMOOTHING_MEMORY ||
		!(options->decrease > 0.0 && options->decrease < 1.0) || options->iterations < 0 ||
		!(options->tolerance >= 0.0))
		pe_bug("options of the smoothed method that make no sense");
}

static void
search_init(search *s, const double *v, int32_t n, const pe_smoothing_options *options, const pe_trace *trace)
{
	double	  **matrix[MATRICES] = {&s->x, &s->g, &s->d, &s->best, &s->p, &s->z};

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < MATRICES; i++)
		*matrix[i] = pe_alloc(pe_la_square(n), sizeof(double));
	s->work = pe_alloc(pe_la_eigen_work(n) + (size_t) n, sizeof(double));
	s->iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));
	s->options = options;
	s->trace = trace;
	s->v = v;
	s->n = n;
	s->told = -1;
	s->scale = pe_design_scale(v, n, 0.0);
	s->objective = s->least = INFINITY;
	for (int32_t i = 0; i < n; i++)
		s->best[i + (size_t) i * (size_t) n] = 1.0;
}

/* All but best, which the design takes. */
static void
search_free(search *s)
{
	pe_free(s->x);
	pe_free(s->g);
	pe_free(s->d);
	pe_free(s->p);
	pe_free(s->z);
	pe_free(s->work);
	pe_free(s->iwork);
}

void
pe_smoothing(const double *v, int32_t n, const pe_smoothing_options *options, const pe_trace *trace,
			 pe_design *design)
{
	search		s;
	double		mu;
	double		largest;

	memset(design, 0, sizeof(*design));
	require_sense(v, n, options);
	search_init(&s, v, n, options, trace);
	mu = options->first_mu;
	for (int32_t i = 0; i < options->stages; i++)
	{
		design->finished = run_stage(&s, mu);
		mu *= options->decay;
	}
	largest = pe_la_largest_diagonal(n, s.best);
	for (size_t i = 0; i < pe_la_square(n); i++)
		s.best[i] /= largest;
	design->n = n;
	design->x = s.best;
	design->objective = s.least / s.scale;
	design->iterations = s.iterations;
	search_free(&s);
}

size_t
pe_smoothing_memory(int32_t n)
{
	/* the matrices with v, what eigenvalues take, and small change */
	return (MATRICES + 1) * pe_la_square(n) * sizeof(double)
		+ (pe_la_eigen_work(n) + (size_t) n) * sizeof(double)
		+ pe_la_eigen_iwork(n) * sizeof(int32_t) + sizeof(search);
}

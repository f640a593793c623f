/*
 * coa.c
 *	  The strategy by Newton's method with conjugate gradients.  See published.h.
 */
#include "published/published.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

#define LEAST_STEP 1e-12		/* that is tried */
#define MATRICES 8				/* of a search, besides v */

typedef struct search
{
	const pe_coa_options *options;
	const pe_trace *trace;
	const double *v;
	int32_t		n;
	double		scale;			/* of v and theta, a power of two: squares of the gradient stay finite */
	double		theta;			/* of this stage, scaled */
	double	   *x;
	double	   *z;				/* X^-1, unless a line search has failed */
	double	   *g;
	double	   *d;				/* the direction, */
	double	   *r;				/* its residual */
	double	   *p;				/* and the direction of conjugate gradients */
	double	   *t;
	double	   *work;
	double		trace_v;		/* tr(V X^-1), scaled */
	double		trace_z;		/* tr X^-1 */
	double		measure;		/* ||G - diag G||_F / ||G||_F */
	double		lower;			/* the best bound of this stage, scaled */
	int32_t		iterations;
	int32_t		told;			/* the last of them that the trace knows */
} search;

void
pe_coa_defaults(pe_coa_options *options)
{
	memset(options, 0, sizeof(*options));
	options->theta = 1e-3;
	options->decay = 0.1;
	options->cg_steps = 5;
	options->beta = 0.1;
	options->sigma = 0.25;
	options->iterations = 60;
	options->tolerance = 1e-4;
}

/* ---- the function and its derivatives ---- */

/* y += factor x.  Not by BLAS, which rounds an array's end otherwise than its middle: what is symmetric stays so. */
static void
add_multiple(int32_t n, double factor, const double *x, double *y)
{
	for (size_t i = 0; i < pe_la_square(n); i++)
		y[i] += factor * x[i];
}

static double
trace_of(int32_t n, const double *a)
{
	double		sum = 0.0;

	for (int32_t i = 0; i < n; i++)
		sum += a[i + (size_t) i * (size_t) n];
	return sum;
}

static void
clear_diagonal(int32_t n, double *a)
{
	for (int32_t i = 0; i < n; i++)
		a[i + (size_t) i * (size_t) n] = 0.0;
}

/* g = -Z (scale V + theta I) Z */
static void
gradient(const double *v, int32_t n, double scale, double theta, const double *z, double *g, double *work)
{
	pe_poll();
	pe_la_gemm(false, false, n, n, n, scale, v, n, z, n, 0.0, work, n);
	add_multiple(n, theta, z, work);
	pe_poll();
	pe_la_gemm(false, false, n, n, n, -1.0, z, n, work, n, 0.0, g, n);
	/* symmetric up to rounding: altogether */
	pe_la_mirror(n, g, n);
}

void
pe_coa_product(int32_t n, const double *z, const double *g, const double *p, double *t, double *work)
{
	pe_poll();
	pe_la_gemm(false, false, n, n, n, 1.0, p, n, g, n, 0.0, work, n);
	pe_poll();
	pe_la_gemm(false, false, n, n, n, 1.0, z, n, work, n, 0.0, t, n);
}

/* ---- Algorithm 2 ---- */

/* T = T + T', with a diagonal of 0; by squares of 32 x 32, so that the strided side stays in the cache. */
static void
add_transpose(int32_t n, double *t)
{
	for (int32_t left = 0; left < n; left += 32)
		for (int32_t top = left; top < n; top += 32)
			for (int32_t j = left; j < n && j < left + 32; j++)
				for (int32_t i = top > j ? top : j + 1; i < n && i < top + 32; i++)
				{
					size_t		below = (size_t) i + (size_t) j * (size_t) n;
					size_t		above = (size_t) j + (size_t) i * (size_t) n;

					t[below] = t[above] = t[below] + t[above];
				}
	clear_diagonal(n, t);
}

/*
 * d = about -H^-1 G off the diagonal.  If the curvature along p is not positive,
 * which only rounding or a V that is not positive semidefinite can do, d stays what it is.
 */
static void
find_direction(search *s)
{
	double		old;

	memset(s->d, 0, pe_la_square(s->n) * sizeof(double));
	for (size_t i = 0; i < pe_la_square(s->n); i++)
		s->r[i] = -s->g[i];
	clear_diagonal(s->n, s->r);
	memcpy(s->p, s->r, pe_la_square(s->n) * sizeof(double));
	old = pe_la_dot(pe_la_square(s->n), s->r, s->r);
	for (int32_t l = 0; l < s->options->cg_steps && old > 0.0; l++)
	{
		double		curvature;
		double		new;

		pe_coa_product(s->n, s->z, s->g, s->p, s->t, s->work);
		add_transpose(s->n, s->t);
		curvature = -pe_la_dot(pe_la_square(s->n), s->p, s->t);
		if (!(curvature > 0.0))
			return;
		/* t = -H(p) */
		add_multiple(s->n, old / curvature, s->p, s->d);
		add_multiple(s->n, old / curvature, s->t, s->r);
		new = pe_la_dot(pe_la_square(s->n), s->r, s->r);
		for (size_t i = 0; i < pe_la_square(s->n); i++)
			s->p[i] = s->r[i] + new / old * s->p[i];
		old = new;
	}
}

/* ---- Algorithm 1 ---- */

/* z = X^-1 from X in z, and the traces; false if it is not positive definite or not finite. */
static bool
invert(search *s, double *trace_v, double *trace_z)
{
	pe_poll();
	if (!pe_la_inverse(s->n, s->z, s->n))
		return false;
	*trace_v = s->scale * pe_la_dot(pe_la_square(s->n), s->z, s->v);
	*trace_z = trace_of(s->n, s->z);
	return isfinite(*trace_v) && isfinite(*trace_z);
}

/* The largest step size of 1, beta, beta^2, ... that keeps X definite and lowers F by enough. */
static bool
take_step(search *s)
{
	double		slope = pe_la_dot(pe_la_square(s->n), s->g, s->d);
	double		before = s->trace_v + s->theta * s->trace_z;

	if (!(slope < 0.0))
		return false;
	for (double step = 1.0; step >= LEAST_STEP; step *= s->options->beta)
	{
		double		trace_v;
		double		trace_z;

		memcpy(s->z, s->x, pe_la_square(s->n) * sizeof(double));
		add_multiple(s->n, step, s->d, s->z);
		if (!invert(s, &trace_v, &trace_z) ||
			!(trace_v + s->theta * trace_z <= before + s->options->sigma * step * slope))
			continue;
		add_multiple(s->n, step, s->d, s->x);
		s->trace_v = trace_v;
		s->trace_z = trace_z;
		s->iterations++;
		return true;
	}
	return false;
}

/* ||G - diag G||_F / ||G||_F; 0 for G = 0.  r = G - diag G. */
static double
measure_gradient(search *s)
{
	double		rest;
	double		diagonal = 0.0;

	memcpy(s->r, s->g, pe_la_square(s->n) * sizeof(double));
	clear_diagonal(s->n, s->r);
	rest = pe_la_dot(pe_la_square(s->n), s->r, s->r);
	for (int32_t i = 0; i < s->n; i++)
		diagonal += s->g[i + (size_t) i * (size_t) s->n] * s->g[i + (size_t) i * (size_t) s->n];
	return rest > 0.0 ? sqrt(rest / (rest + diagonal)) : 0.0;
}

/* t = Y^.5 (scale V + theta I) Y^.5, y = -diag G */
static void
weigh(search *s, const double *root)
{
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = j; i < s->n; i++)
		{
			size_t		at = (size_t) i + (size_t) j * (size_t) s->n;

			s->t[at] = (s->scale * s->v[at] + (i == j ? s->theta : 0.0)) * root[i] * root[j];
		}
}

/*
 * F / bound - 1 with the best bound of this stage.  Eigenvalues count as wrong by
 * min(n, 4 sqrt n) eps of the largest, as in optimum.h.
 */
static double
certified_gap(search *s)
{
	int32_t		n = s->n;
	double	   *root = pe_alloc((size_t) n, sizeof(double));
	double	   *value = pe_alloc((size_t) n, sizeof(double));
	double	   *work = pe_alloc(pe_la_eigenvalues_work(n), sizeof(double));
	double		error = fmin(n, 4.0 * sqrt(n)) * DBL_EPSILON;
	double		trace = 0.0;
	double		sum = 0.0;

	for (int32_t i = 0; i < n; i++)
	{
		double		y = fmax(-s->g[i + (size_t) i * (size_t) n], DBL_MIN);

		root[i] = sqrt(y);
		sum += y;
	}
	weigh(s, root);
	pe_poll();
	if (pe_la_eigenvalues(n, s->t, value, work))
	{
		for (int32_t i = 0; i < n; i++)
			trace += sqrt(fmax(value[i] - error * value[n - 1], 0.0));
		s->lower = fmax(s->lower, trace * trace / sum);
	}
	pe_free(root);
	pe_free(value);
	pe_free(work);
	return s->lower > 0.0 ? (s->trace_v + s->theta * s->trace_z) / s->lower - 1.0 : INFINITY;
}

/* The gradient at X, and whether the rule for stopping is met there. */
static bool
arrived(search *s)
{
	double		gap;

	gradient(s->v, s->n, s->scale, s->theta, s->z, s->g, s->work);
	s->measure = measure_gradient(s);
	gap = s->options->gap > 0.0 ? certified_gap(s) : s->measure;
	pe_progress("optimising the strategy", s->iterations + 1, 0, gap);
	return gap <= (s->options->gap > 0.0 ? s->options->gap : s->options->tolerance);
}

/* Once for each iteration: a stage begins where the one before has ended. */
static void
report_search(search *s)
{
	pe_trace_tell(s->trace, &s->told, s->iterations, s->trace_v / s->scale, s->measure);
}

/* With theta, scaled, from X.  False if the rule for stopping was not met. */
static bool
run_stage(search *s, double theta)
{
	int32_t		first = s->iterations;

	s->theta = theta;
	s->lower = 0.0;
	memcpy(s->z, s->x, pe_la_square(s->n) * sizeof(double));
	if (!invert(s, &s->trace_v, &s->trace_z))
		return false;
	for (;;)
	{
		bool		done = arrived(s);

		report_search(s);
		if (done)
			return true;
		if (s->iterations - first >= s->options->iterations)
			return false;
		find_direction(s);
		if (!take_step(s))
			return false;
	}
}

/* ---- Algorithm 3, or 1 alone ---- */

static void
require_sense(const double *v, int32_t n, const pe_coa_options *options)
{
	pe_design_check_gram(v, n);
	if (!(options->theta >= 0.0) || !isfinite(options->theta) || options->stages < 0 ||
		!(options->decay > 0.0 && options->decay < 1.0) || options->cg_steps < 1 ||
		!(options->beta > 0.0 && options->beta < 1.0) || !(options->sigma > 0.0 && options->sigma < 0.5) ||
		options->iterations < 0 || !(options->gap >= 0.0) || !(options->tolerance >= 0.0))
		pe_bug("options of Newton's method that make no sense");
}

static void
search_init(search *s, const double *v, int32_t n, const pe_coa_options *options, const pe_trace *trace)
{
	double	  **matrix[MATRICES] = {&s->x, &s->z, &s->g, &s->d, &s->r, &s->p, &s->t, &s->work};

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < MATRICES; i++)
		*matrix[i] = pe_alloc(pe_la_square(n), sizeof(double));
	s->options = options;
	s->trace = trace;
	s->v = v;
	s->n = n;
	s->told = -1;
	s->scale = pe_design_scale(v, n, options->theta);
	for (int32_t i = 0; i < n; i++)
		s->x[i + (size_t) i * (size_t) n] = 1.0;
}

/* All but x, which the design takes. */
static void
search_free(search *s)
{
	pe_free(s->z);
	pe_free(s->g);
	pe_free(s->d);
	pe_free(s->r);
	pe_free(s->p);
	pe_free(s->t);
	pe_free(s->work);
}

void
pe_coa(const double *v, int32_t n, const pe_coa_options *options, const pe_trace *trace, pe_design *design)
{
	search		s;
	double		theta;

	memset(design, 0, sizeof(*design));
	require_sense(v, n, options);
	search_init(&s, v, n, options, trace);
	theta = s.scale * options->theta;
	design->finished = run_stage(&s, theta);
	for (int32_t i = 1; i < options->stages; i++)
	{
		theta *= options->decay;
		design->finished = run_stage(&s, theta);
	}
	design->n = n;
	design->x = s.x;
	design->objective = s.trace_v / s.scale;
	design->iterations = s.iterations;
	search_free(&s);
}

size_t
pe_coa_memory(int32_t n)
{
	/* the matrices with v, what a certificate takes, and small change */
	return (MATRICES + 1) * pe_la_square(n) * sizeof(double)
		+ (pe_la_eigenvalues_work(n) + 2 * (size_t) n) * sizeof(double) + sizeof(search);
}

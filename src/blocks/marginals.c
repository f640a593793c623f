/*
 * marginals.c
 *	  Unions of marginals: shares.  See marginals.h.
 *
 * PE_MAX begins with w_A <- w_A var_A / mean, which rises always (Silvey, Titterington,
 * Torsney, "An algorithm for optimal designs on a design space", 1978).  Then comes
 * Mehrotra's primal-dual interior point method for
 *
 *		max 2 T(w) - sum w,  w >= 0:    k_A + z_A = 1,  w_A z_A = 0,  k = C' (d / v)^(1/2),
 *
 * k_A = var_A / T, with the Hessian C' diag(h) C, h = (d / v)^(1/2) / (2 v).  With I the attributes that A
 * and B have both and N the product of cells, its entry for A and B is
 * (N_I / N_A)^2 (N_I / N_B)^2 times a sum over the subsets of I alone.
 */
#include "blocks/marginals.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "blocks/blocks.h"

#define FIRST_STEPS 50			/* multiplications before the interior point method */
#define MOST_STEPS 5000			/* without it */
#define EVALUATIONS 100			/* of the interior point method */
#define PATIENCE 50				/* of them without any gain: rounding is at its end */
#define FIRST_SLACK 0.02
#define BOLDNESS 0.98			/* of the way to the nearest bound */

typedef struct search
{
	const pe_marginals *marginals;
	const pe_closure *closure;
	int32_t		terms;
	int32_t		sets;
	double		inside[PE_SET_ATTRIBUTES];
	double		outside[PE_SET_ATTRIBUTES];
	int32_t    *place;			/* of each term's set in the closure */
	double	   *square;			/* of each term's weight */
	double	   *cells;			/* of each term */
	double	   *noise;			/* d */
	double	   *reach;			/* the product of outside over a set */
	double	   *w;

	/* of w */
	double	   *v;
	double	   *root;			/* to which the shares are proportional */
	double		trace;			/* their sum */
	double	   *e;
	double	   *variance;		/* of each term, times the square of its weight */

	/* of all w so far */
	double		lower;
	double		upper;
	double	   *best;			/* shares of upper */
	int			idle;			/* evaluations since the last gain */
} search;

static double
product(pe_attribute_set set, int attributes, const double *factor)
{
	double		result = 1.0;

	for (int a = 0; a < attributes; a++)
		if (pe_set_has(set, a))
			result *= factor[a];
	return result;
}

static void
take_attributes(search *s, double *noise, double *cells)
{
	bool		squares = s->marginals->norm == PE_L2;

	for (int a = 0; a < s->marginals->attributes; a++)
	{
		double		n = s->marginals->cells[a];

		s->inside[a] = (n - 1.0) / n;
		s->outside[a] = 1.0 / (n * n);
		noise[a] = squares ? s->inside[a] : 4.0 * s->inside[a] * s->inside[a];
		cells[a] = n;
	}
}

static void
search_init(search *s, const pe_marginals *marginals, const pe_closure *closure)
{
	double		noise[PE_SET_ATTRIBUTES];
	double		cells[PE_SET_ATTRIBUTES];
	size_t		terms = (size_t) marginals->terms;
	size_t		sets = (size_t) closure->sets;

	*s = (search) {.marginals = marginals, .closure = closure, .terms = marginals->terms, .sets = closure->sets,
		.upper = INFINITY, .place = pe_alloc(terms, sizeof(int32_t)), .square = pe_la_vector(terms),
		.cells = pe_la_vector(terms),
		.w = pe_la_vector(terms), .variance = pe_la_vector(terms), .noise = pe_la_vector(sets),
		.reach = pe_la_vector(sets),
		.v = pe_la_vector(sets), .root = pe_la_vector(sets), .e = pe_la_vector(sets), .best = pe_la_vector(sets)};
	take_attributes(s, noise, cells);
	for (int32_t k = 0; k < s->sets; k++)
	{
		s->noise[k] = product(closure->set[k], marginals->attributes, noise);
		s->reach[k] = product(closure->set[k], marginals->attributes, s->outside);
	}
	for (int32_t t = 0; t < s->terms; t++)
	{
		s->place[t] = pe_closure_find(closure, marginals->term[t]);
		s->square[t] = marginals->weight[t] * marginals->weight[t];
		s->cells[t] = product(marginals->term[t], marginals->attributes, cells);
	}
}

static void
search_free(search *s)
{
	pe_free(s->place);
	pe_free(s->square);
	pe_free(s->cells);
	pe_free(s->w);
	pe_free(s->variance);
	pe_free(s->noise);
	pe_free(s->reach);
	pe_free(s->v);
	pe_free(s->root);
	pe_free(s->e);
	pe_free(s->best);
}

static double
sum_of(int32_t n, const double *x)
{
	double		sum = 0.0;

	for (int32_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* The least sum of variances with weights w. */
static double
objective(const search *s)
{
	return s->marginals->norm == PE_L2 ? s->trace * s->trace : s->trace * s->trace * s->trace;
}

/* Everything that follows from w. */
static void
evaluate(search *s)
{
	bool		squares = s->marginals->norm == PE_L2;

	memset(s->v, 0, (size_t) s->sets * sizeof(double));
	for (int32_t t = 0; t < s->terms; t++)
		s->v[s->place[t]] += s->w[t] * s->square[t];
	pe_closure_sum_above(s->closure, s->inside, s->outside, s->v);
	for (int32_t k = 0; k < s->sets; k++)
		s->root[k] = squares ? sqrt(s->noise[k] * s->v[k]) : cbrt(s->noise[k] * s->v[k]);
	s->trace = sum_of(s->sets, s->root);
	for (int32_t k = 0; k < s->sets; k++)
	{
		double		share = s->root[k] / s->trace;

		s->e[k] = s->noise[k] / (squares ? share : share * share);
	}
	pe_closure_sum_below(s->closure, s->inside, s->outside, s->e);
	for (int32_t t = 0; t < s->terms; t++)
		s->variance[t] = s->square[t] * s->e[s->place[t]];
}

static void
keep_shares(search *s)
{
	for (int32_t k = 0; k < s->sets; k++)
		s->best[k] = s->root[k] / s->trace;
}

/* ---- the largest variance ---- */

static double
gap_of(const search *s)
{
	return s->lower > 0.0 ? s->upper / s->lower - 1.0 : INFINITY;
}

/* Evaluates, and keeps what it proves. */
static void
improve(search *s)
{
	double		before = gap_of(s);
	double		largest;

	pe_poll();
	evaluate(s);
	largest = pe_la_largest((size_t) s->terms, s->variance);
	s->lower = fmax(s->lower, objective(s) / sum_of(s->terms, s->w));
	if (largest < s->upper)
	{
		s->upper = largest;
		keep_shares(s);
	}
	s->idle = gap_of(s) < before ? 0 : s->idle + 1;
	pe_progress("optimising the strategy", 0, 0, gap_of(s));
}

static void
run_multiplication(search *s, int steps)
{
	for (int32_t t = 0; t < s->terms; t++)
		s->w[t] = 1.0 / s->terms;
	improve(s);
	for (int i = 0; i < steps && gap_of(s) > PE_MARGINALS_COARSE_GAP; i++)
	{
		double		sum = 0.0;

		for (int32_t t = 0; t < s->terms; t++)
			sum += s->w[t] *= s->variance[t];
		for (int32_t t = 0; t < s->terms; t++)
			s->w[t] /= sum;
		improve(s);
	}
}

/* The system of a step: numbers for each term, and matrix its upper triangle, factored. */
typedef struct newton
{
	double	   *z;				/* slacks */
	double	   *dw;
	double	   *dz;
	double	   *correction;
	double	   *matrix;
} newton;

/* The sum over the subsets of each set that the entries of the Hessian have in common. */
static void
sums_of_hessian(search *s, double *sums)
{
	double		inside[PE_SET_ATTRIBUTES];
	double		outside[PE_SET_ATTRIBUTES];

	for (int a = 0; a < s->marginals->attributes; a++)
	{
		inside[a] = s->inside[a] * s->inside[a];
		outside[a] = s->outside[a] * s->outside[a];
	}
	for (int32_t k = 0; k < s->sets; k++)
		sums[k] = 0.5 * sqrt(s->noise[k] / s->v[k]) / s->v[k];
	pe_closure_sum_below(s->closure, inside, outside, sums);
}

static bool
prepare_newton(search *s, newton *m)
{
	size_t		n = (size_t) s->terms;
	double	   *sums = pe_la_vector((size_t) s->sets);
	bool		definite;

	sums_of_hessian(s, sums);
	for (size_t j = 0; j < n; j++)
	{
		for (size_t i = 0; i <= j; i++)
		{
			int32_t		both = pe_closure_find(s->closure, s->marginals->term[i] & s->marginals->term[j]);
			double		apart = s->reach[s->place[i]] / s->reach[both] * (s->reach[s->place[j]] / s->reach[both]);

			m->matrix[i + j * n] = s->square[i] * s->square[j] * apart * sums[both];
		}
		m->matrix[j + j * n] += m->z[j] / s->w[j];
	}
	definite = pe_la_cholesky(s->terms, m->matrix, s->terms);
	pe_free(sums);
	return definite;
}

/* One linearisation of  k + z = 1,  w z = mu  with the given mu and second-order correction. */
static void
newton_direction(const search *s, newton *m, double mu)
{
	for (int32_t t = 0; t < s->terms; t++)
		m->dw[t] = (mu - m->correction[t]) / s->w[t] - 1.0 + s->variance[t] / s->trace;
	pe_la_cholesky_solve(s->terms, 1, m->matrix, s->terms, m->dw, s->terms);
	for (int32_t t = 0; t < s->terms; t++)
		m->dz[t] = (mu - m->correction[t] - m->z[t] * m->dw[t]) / s->w[t] - m->z[t];
}

/* How far, up to 1, until a coordinate of x is 0. */
static double
longest(int32_t n, const double *x, const double *dx)
{
	double		step = 1.0;

	for (int32_t i = 0; i < n; i++)
		if (dx[i] < 0.0)
			step = fmin(step, -x[i] / dx[i]);
	return step;
}

/* The mean of w z after a step. */
static double
mean_product(const search *s, const newton *m, double step)
{
	double		sum = 0.0;

	for (int32_t t = 0; t < s->terms; t++)
		sum += (s->w[t] + step * m->dw[t]) * (m->z[t] + step * m->dz[t]);
	return sum / s->terms;
}

static bool
newton_step(search *s, newton *m)
{
	double		mu = pe_la_dot((size_t) s->terms, s->w, m->z) / s->terms;
	double		step;
	double		centring;

	if (!prepare_newton(s, m))
		return false;
	memset(m->correction, 0, (size_t) s->terms * sizeof(double));
	newton_direction(s, m, 0.0);
	step = fmin(longest(s->terms, s->w, m->dw), longest(s->terms, m->z, m->dz));
	centring = fmax(pow(mean_product(s, m, step) / mu, 3.0), 1e-6);
	for (int32_t t = 0; t < s->terms && step > 0.1; t++)
		m->correction[t] = m->dw[t] * m->dz[t];
	newton_direction(s, m, centring * mu);
	step = fmin(1.0, BOLDNESS * longest(s->terms, s->w, m->dw));
	for (int32_t t = 0; t < s->terms; t++)
		s->w[t] += step * m->dw[t];
	step = fmin(1.0, BOLDNESS * longest(s->terms, m->z, m->dz));
	for (int32_t t = 0; t < s->terms; t++)
		m->z[t] += step * m->dz[t];
	return true;
}

/* The scale of w at which k is FIRST_SLACK below 1, T growing with the root of w and k falling with it. */
static void
begin_newton(search *s, newton *m)
{
	double		ratio = pe_la_largest((size_t) s->terms, s->variance) / s->trace / (1.0 - FIRST_SLACK);

	for (int32_t t = 0; t < s->terms; t++)
		s->w[t] *= ratio * ratio;
	evaluate(s);
	for (int32_t t = 0; t < s->terms; t++)
		m->z[t] = 1.0 - s->variance[t] / s->trace;
	s->idle = 0;
}

static void
run_newton(search *s)
{
	size_t		n = (size_t) s->terms;
	newton		m = {pe_la_vector(n), pe_la_vector(n), pe_la_vector(n), pe_la_vector(n), pe_la_vector(n * n)};

	begin_newton(s, &m);
	for (int i = 0; i < EVALUATIONS && gap_of(s) > PE_MARGINALS_GAP && s->idle < PATIENCE && newton_step(s, &m); i++)
		improve(s);
	pe_free(m.z);
	pe_free(m.dw);
	pe_free(m.dz);
	pe_free(m.correction);
	pe_free(m.matrix);
}

static void
minimise_largest(search *s)
{
	bool		newton = s->marginals->norm == PE_L2 && s->terms <= PE_MARGINALS_NEWTON;

	run_multiplication(s, newton ? FIRST_STEPS : MOST_STEPS);
	if (newton && gap_of(s) > PE_MARGINALS_GAP)
		run_newton(s);
}

/* ---- shares ---- */

/* More than the relative error of a bound: sums of so many positive numbers, and products. */
static double
rounding(const search *s)
{
	return (s->sets + s->terms + 4.0 * s->marginals->attributes + 8.0) * DBL_EPSILON;
}

void
pe_marginals_shares(const pe_marginals *marginals, const pe_closure *closure, double *share, double *lower_bound)
{
	search		s;

	search_init(&s, marginals, closure);
	if (marginals->objective == PE_MAX)
		minimise_largest(&s);
	else
	{
		memcpy(s.w, s.cells, (size_t) s.terms * sizeof(double));
		evaluate(&s);
		s.lower = objective(&s);
		keep_shares(&s);
	}
	memcpy(share, s.best, (size_t) s.sets * sizeof(double));
	*lower_bound = marginals->norm == PE_L2 ? s.lower * (1.0 - rounding(&s)) : 0.0;
	search_free(&s);
}

size_t
pe_marginals_memory(int32_t terms, pe_objective objective)
{
	size_t		n = (size_t) terms;
	size_t		newton = objective == PE_MAX && terms <= PE_MARGINALS_NEWTON ? n * n + 4 * n : 0;

	return (newton + 5 * n) * sizeof(double);
}

void
pe_shares_round(const double *share, int32_t blocks, uint64_t *rounded)
{
	uint64_t	left = UINT64_C(1) << PE_SHARE_BITS;
	int32_t		largest = 0;

	for (int32_t b = 0; b < blocks; b++)
	{
		rounded[b] = (uint64_t) fmax(floor(ldexp(share[b], PE_SHARE_BITS)), 1.0);
		left -= rounded[b];
		largest = share[b] > share[largest] ? b : largest;
	}
	rounded[largest] += left;
}

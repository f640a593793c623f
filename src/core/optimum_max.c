/*
 * optimum_max.c
 *	  The strategy whose worst query is best.  See optimum_max.h.
 *
 * What is maximised is 2 T(y, p) - sum y - (sum p)^2 / 2, whose maximum has
 *
 *	 X_ii = 1 where y_i > 0,   a_q = w_q' X^-1 w_q = sigma = sum p where p_q > 0,
 *
 * and sigma is the least largest variance.  It is found by the primal-dual
 * interior point method of optimum.c for y and p at once: with P^.5 W Y^.5 = U
 * diag(s) Z', u = log y, v = log p, kappa = y X_ii on the columns and p a on the
 * queries,
 *
 *	 d kappa - kappa (du, dv) = -S (du, dv),
 *	 S = sum_kl s_k s_l / (s_k + s_l) h_kl h_kl',   h_kl = (z_k o z_l, -u_k o u_l),
 *
 * which is optimum_eval.h's S of the stacked vectors (z_k, u_k) but for the signs
 * of the mixed blocks; those are had by solving for -dv.
 *
 * Only some of the queries, the active ones, have a p of their own; those that
 * exceed sigma join them.  All others share a little weight equally: p then
 * always spans what the queries span, and is a p on all queries as the bound
 * wants it.
 */
#include "core/optimum_max.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/linalg.h"
#include "core/mem.h"
#include "core/optimum.h"
#include "core/optimum_eval.h"

#define EVALUATIONS 100			/* at most */
#define PATIENCE 15				/* evaluations without any gain, then rounding is at its end */
#define IDLE_COARSE 3			/* of them, then the Hessian was too coarse */
#define STEP 1.5				/* of the quadrature */
#define STAY_INSIDE 0.98		/* part of the way to the boundary that is gone */
#define FIRST_SLACK 0.1			/* of X_ii <= 1 and of a <= sigma, at the start */
#define LARGEST_SHARE 0.1		/* of all queries together in p */
#define LEAST_SHARE 0.1			/* in units of the gap that is asked for */
#define ALL_ACTIVE 1024			/* so many queries, or four for each column, need no choice */
#define RANK_TOLERANCE 1e-12	/* as in optimum_eval.c */

typedef struct search
{
	const pe_query_source *source;
	int32_t		n;
	int32_t		rank;
	int32_t		queries;
	int32_t		most;			/* active queries at one time */
	double		goal;
	double		rounding;		/* relative error of a sum of n products, see optimum.h */

	/* W'W = R'R, and the pivots by which R is triangular */
	double	   *r;				/* rank x n */
	double	   *triangle;		/* rank x rank: R's columns pivot[0..] */
	int32_t    *pivot;

	/* the active queries */
	int32_t		active;
	int32_t    *query;
	int32_t    *place;			/* of each query among the active, or -1 */
	double	   *row;			/* active x n */
	double	   *coordinate;		/* rank x active: row = coordinate'R */

	/* of the columns, then of the active queries */
	int32_t		order;
	double	   *y;				/* y, then p */
	double	   *z;				/* slacks */
	double	   *kappa;
	double		share;			/* p of all queries together, divided by all of p */

	/* what follows from y and p */
	double	   *s;				/* rank, ascending */
	double	   *left;			/* n x rank: z_k */
	double	   *root;			/* n x rank: K, X^-1 = K K' */
	double	   *c;				/* n x n: X^-1 */
	double	   *variance;		/* of all queries */
	double		trace;
	double		trace_lower;
	double		largest;		/* X_ii */
	double		worst;			/* variance, with what rounding may add */

	/* the best so far */
	int32_t		evaluations;
	int32_t		idle;
	bool		fine;
	double		lower;
	double		upper;
	double	   *best;			/* rank x n: G */

	/* the Newton system */
	pe_dual		dual;
	double	   *tie;
	double	   *shift;
	double	   *right;
	double	   *du;
	double	   *dy;
	double	   *dz;
	double	   *correction;
} search;

static size_t
square(int32_t n)
{
	return (size_t) n * (size_t) n;
}

static double *
numbers(size_t count)
{
	return pe_alloc(count, sizeof(double));
}

/* ---- the row space ---- */

/* Dividing by it rounds nothing. */
static double
power_of_two_near(double length)
{
	int			exponent;

	(void) frexp(length, &exponent);
	return ldexp(1.0, exponent);
}

/* R of gram = R'R, of columns scaled to about the same length as in optimum_eval.c. */
static void
find_row_space(search *s)
{
	int32_t		n = s->n;
	const double *gram = s->source->gram;
	double	   *factor = numbers(square(n));
	double	   *work = numbers(2 * (size_t) n);
	double	   *unit = numbers((size_t) n);

	for (int32_t i = 0; i < n; i++)
		unit[i] = power_of_two_near(sqrt(gram[i + (size_t) i * (size_t) n]));
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			factor[i + (size_t) j * (size_t) n] = gram[i + (size_t) j * (size_t) n] / (unit[i] * unit[j]);
	pe_poll();
	s->rank = pe_la_cholesky_pivoted(n, factor, n, RANK_TOLERANCE, s->pivot, work);
	s->r = numbers((size_t) s->rank * (size_t) n);
	s->triangle = numbers(square(s->rank));
	for (int32_t i = 0; i < n; i++)
		for (int32_t k = 0; k < s->rank && k <= i; k++)
		{
			double		entry = factor[i + (size_t) k * (size_t) n] * unit[s->pivot[i]];

			s->r[k + (size_t) s->pivot[i] * (size_t) s->rank] = entry;
			if (i < s->rank)
				s->triangle[k + (size_t) i * (size_t) s->rank] = entry;
		}
	pe_free(factor);
	pe_free(work);
	pe_free(unit);
}

/* ---- active queries ---- */

/* Their rows, and the coordinates of these: T'^-1 of the pivots' columns. */
static void
read_active(search *s)
{
	s->source->rows(s->source->argument, s->query, s->active, s->row);
	for (int32_t i = 0; i < s->active; i++)
		for (int32_t k = 0; k < s->rank; k++)
			s->coordinate[k + (size_t) i * (size_t) s->rank] =
				s->row[i + (size_t) s->pivot[k] * (size_t) s->active];
	pe_poll();
	pe_la_triangle_solve(true, s->rank, s->active, s->triangle, s->rank, s->coordinate, s->rank);
	s->order = s->n + s->active;
}

static void
add_query(search *s, int32_t q)
{
	s->place[q] = s->active;
	s->query[s->active++] = q;
}

/* A query and its variance. */
typedef struct ranked
{
	double		variance;
	int32_t		query;
} ranked;

static int
compare_ranked(const void *a, const void *b)
{
	const ranked *left = a;
	const ranked *right = b;

	if (left->variance != right->variance)
		return left->variance < right->variance ? 1 : -1;
	return left->query < right->query ? -1 : left->query > right->query;
}

/* The queries that are not active and whose variance exceeds least, the worst first. */
static ranked *
rank_queries(const search *s, double least, int32_t *count)
{
	ranked	   *list;

	*count = 0;
	for (int32_t q = 0; q < s->queries; q++)
		*count += s->place[q] < 0 && s->variance[q] > least;
	list = pe_alloc((size_t) *count + 1, sizeof(*list));
	*count = 0;
	for (int32_t q = 0; q < s->queries; q++)
		if (s->place[q] < 0 && s->variance[q] > least)
			list[(*count)++] = (ranked) {s->variance[q], q};
	qsort(list, (size_t) *count, sizeof(*list), compare_ranked);
	return list;
}

/* ---- what follows from y and p ---- */

static double
sum_of(const double *x, int32_t from, int32_t to)
{
	double		sum = 0.0;

	for (int32_t i = from; i < to; i++)
		sum += x[i];
	return sum;
}

/* sigma: p of all queries; 1 as long as none is active. */
static double
weight_of_queries(const search *s)
{
	return s->active == 0 ? 1.0 : sum_of(s->y, s->n, s->order) / (1.0 - s->share);
}

/*
 * The upper triangular root of L'PL, V_p = R'(L'PL)R.  All queries together have L'L
 * = I.  Returns its trace, or -1 if there is no root.
 */
static double
root_of_queries(const search *s, double *gamma)
{
	int32_t		rank = s->rank;
	double	   *scaled = numbers((size_t) rank * (size_t) s->active + 1);
	double		together = s->share * weight_of_queries(s) / s->queries;
	double		trace = 0.0;
	bool		done;

	for (int32_t i = 0; i < s->active; i++)
		for (int32_t k = 0; k < rank; k++)
			scaled[k + (size_t) i * (size_t) rank] =
				s->coordinate[k + (size_t) i * (size_t) rank] * sqrt(s->y[s->n + i]);
	pe_la_syrk(false, rank, s->active, 1.0, scaled, rank, 0.0, gamma, rank);
	pe_free(scaled);
	for (int32_t k = 0; k < rank; k++)
	{
		gamma[k + (size_t) k * (size_t) rank] += together;
		trace += gamma[k + (size_t) k * (size_t) rank];
	}
	pe_la_mirror(rank, gamma, rank);
	pe_poll();
	done = pe_la_finite(square(rank), gamma) && pe_la_cholesky(rank, gamma, rank);
	return done ? trace : -1.0;
}

/* q = Y^.5 R' with orthonormal columns, times the upper triangular t. */
static void
root_of_columns(const search *s, double *q, double *t)
{
	for (int32_t i = 0; i < s->n; i++)
		for (int32_t k = 0; k < s->rank; k++)
			q[i + (size_t) k * (size_t) s->n] = s->r[k + (size_t) i * (size_t) s->rank] * sqrt(s->y[i]);
	pe_la_qr(s->n, s->rank, q, s->n, t, s->rank);
}

/* product = t gamma', both upper triangular. */
static void
multiply_roots(const search *s, const double *t, const double *gamma, double *product)
{
	int32_t		rank = s->rank;

	for (int32_t j = 0; j < rank; j++)
		for (int32_t i = 0; i < rank; i++)
			product[i + (size_t) j * (size_t) rank] = i >= j ? gamma[j + (size_t) i * (size_t) rank] : 0.0;
	pe_la_triangle_multiply(false, rank, rank, t, rank, product, rank);
}

/* Columns in reverse order. */
static void
reverse_columns(double *a, int32_t n)
{
	for (int32_t left = 0, right = n - 1; left < right; left++, right--)
		for (int32_t i = 0; i < n; i++)
		{
			double		kept = a[i + (size_t) left * (size_t) n];

			a[i + (size_t) left * (size_t) n] = a[i + (size_t) right * (size_t) n];
			a[i + (size_t) right * (size_t) n] = kept;
		}
}

/*
 * s and z_k of P^.5 W Y^.5.  Its columns' side is orthonormal whatever p and y
 * are, for it comes from an orthonormal basis of Y^.5 R' and a rotation, and with it X
 * is inverted by K K' to full accuracy.  queries_trace: of L'PL.
 */
static bool
decompose(search *s, double *queries_trace)
{
	int32_t		rank = s->rank;
	double	   *gamma = numbers(square(rank));
	double	   *q = numbers((size_t) s->n * (size_t) rank);
	double	   *t = numbers(square(rank));
	double	   *product = numbers(square(rank));
	bool		done;

	*queries_trace = root_of_queries(s, gamma);
	root_of_columns(s, q, t);
	multiply_roots(s, t, gamma, product);
	pe_free(gamma);
	pe_free(t);
	done = *queries_trace >= 0.0 && pe_la_finite(square(rank), product) && pe_la_singular(rank, product, s->s);
	if (done)
	{
		reverse_columns(product, rank);
		for (int32_t left = 0, right = rank - 1; left < right; left++, right--)
		{
			double		kept = s->s[left];

			s->s[left] = s->s[right];
			s->s[right] = kept;
		}
		done = s->s[0] > 0.0 && isfinite(s->s[rank - 1]);
	}
	if (done)
		pe_la_gemm(false, false, s->n, rank, rank, 1.0, q, s->n, product, rank, 0.0, s->left, s->n);
	pe_free(q);
	pe_free(product);
	return done;
}

/* kappa and the largest X_ii of the columns, T, and K. */
static void
take_columns(search *s)
{
	s->trace = sum_of(s->s, 0, s->rank);
	s->largest = 0.0;
	memset(s->kappa, 0, (size_t) s->n * sizeof(double));
	for (int32_t k = 0; k < s->rank; k++)
		for (int32_t i = 0; i < s->n; i++)
		{
			double		z = s->left[i + (size_t) k * (size_t) s->n];

			s->kappa[i] += z * z * s->s[k];
			s->root[i + (size_t) k * (size_t) s->n] = z * sqrt(s->y[i] / s->s[k]);
		}
	for (int32_t i = 0; i < s->n; i++)
		s->largest = fmax(s->largest, s->kappa[i] / s->y[i]);
}

/*
 * Variances of all queries.  Each is a sum of entries of C, in whatever order
 * the source takes them, and C_ij is at most sqrt(C_ii C_jj); so rounding costs
 * at most its part of (largest sum sqrt C_ii)^2.
 */
static void
take_variances(search *s)
{
	double		size = 0.0;

	pe_poll();
	pe_la_syrk(false, s->n, s->rank, 1.0, s->root, s->n, 0.0, s->c, s->n);
	pe_la_mirror(s->n, s->c, s->n);
	s->source->variances(s->source->argument, s->c, s->variance);
	s->worst = 0.0;
	for (int32_t i = 0; i < s->n; i++)
		size += sqrt(s->c[i + (size_t) i * (size_t) s->n]);
	for (int32_t q = 0; q < s->queries; q++)
		s->worst = fmax(s->worst, s->variance[q]);
	size *= s->source->largest;
	s->worst += s->rounding * size * size;
}

/*
 * Every s is known to rounding s_max.  L'PL is off by at most rounding sqrt(d_i
 * d_j) in each entry, d its diagonal; that changes T = tr (..)^.5 by at most half of
 * it times (L-coordinates of X^-1), and so by at most half of rounding tr(L'PL)
 * tr(V X^-1), where the last trace is the sum of all variances.
 */
static void
take_trace_lower(search *s, double queries_trace)
{
	double		variances = sum_of(s->variance, 0, s->queries);

	s->trace_lower = s->trace - s->rounding * (s->rank * s->s[s->rank - 1] + 0.5 * queries_trace * variances);
	s->trace_lower = fmax(s->trace_lower, 0.0);
}

/* Everything that follows from y and p.  False if rounding or range does not allow it. */
static bool
compute(search *s)
{
	double		queries_trace;

	if (!decompose(s, &queries_trace))
		return false;
	take_columns(s);
	take_variances(s);
	take_trace_lower(s, queries_trace);
	return isfinite(s->trace) && isfinite(s->worst) && isfinite(s->largest) && s->largest > 0.0;
}

static double
gap_of(const search *s)
{
	return s->lower > 0.0 ? s->upper / s->lower - 1.0 : INFINITY;
}

/* G = diag(s^.5) Z' Y^-.5 */
static void
keep_strategy(search *s)
{
	for (int32_t i = 0; i < s->n; i++)
		for (int32_t k = 0; k < s->rank; k++)
			s->best[k + (size_t) i * (size_t) s->rank] =
				s->left[i + (size_t) k * (size_t) s->n] * sqrt(s->s[k] / s->y[i]);
}

static void
take_bounds(search *s)
{
	double		before = gap_of(s);
	double		upper = s->worst * s->largest * (1.0 + 2.0 * s->rounding);

	s->lower = fmax(s->lower, s->trace_lower * s->trace_lower / (sum_of(s->y, 0, s->n) * weight_of_queries(s)));
	if (upper < s->upper)
	{
		s->upper = upper;
		keep_strategy(s);
	}
	s->idle = gap_of(s) < before ? 0 : s->idle + 1;
	s->fine = s->fine || s->idle >= IDLE_COARSE;
}

/* One evaluation and what it proves; false if it could not be made. */
static bool
evaluate(search *s)
{
	pe_poll();
	s->evaluations++;
	if (!compute(s))
		return false;
	take_bounds(s);
	pe_progress("optimising the strategy", s->evaluations, 0, gap_of(s));
	return true;
}

/* ---- the interior point method ---- */

/* The first active queries, equally; all if there are not many, else the worst for the mean. */
static void
choose_queries(search *s)
{
	int32_t		count;
	ranked	   *list = rank_queries(s, 0.0, &count);
	int32_t		wanted = s->queries <= s->most ? s->queries : s->most / 4;

	for (int32_t i = 0; i < count && s->active < wanted; i++)
		add_query(s, list[i].query);
	pe_free(list);
	s->share = LARGEST_SHARE;
	read_active(s);
	for (int32_t i = s->n; i < s->order; i++)
		s->y[i] = (1.0 - s->share) / s->active;
}

/*
 * The scale of y and of p at which X_ii and a_q are FIRST_SLACK below what they
 * may be; then the slacks.  X grows as (p/y)^.5, a as (y/p)^.5, sigma as p.
 */
static void
begin(search *s)
{
	double		ratio = s->largest / (1.0 - FIRST_SLACK);	/* (y/p)^.5 */
	double		worst = 0.0;
	double		scale;

	for (int32_t i = 0; i < s->active; i++)
		worst = fmax(worst, s->variance[s->query[i]]);
	scale = worst * ratio / ((1.0 - FIRST_SLACK) * weight_of_queries(s));	/* of p */
	for (int32_t i = 0; i < s->order; i++)
	{
		s->y[i] *= i < s->n ? scale * ratio * ratio : scale;
		s->kappa[i] *= scale * ratio;
	}
	for (int32_t k = 0; k < s->rank; k++)
		s->s[k] *= scale * ratio;
	s->trace *= scale * ratio;
	for (int32_t q = 0; q < s->queries; q++)
		s->variance[q] *= ratio;
	for (size_t i = 0; i < (size_t) s->n * (size_t) s->rank; i++)
		s->root[i] *= sqrt(ratio);
	for (int32_t i = 0; i < s->n; i++)
		s->z[i] = 1.0 - s->kappa[i] / s->y[i];
	for (int32_t i = s->n; i < s->order; i++)
		s->z[i] = weight_of_queries(s) - s->variance[s->query[i - s->n]];
}

/* The mean of y z over columns and active queries, after a step. */
static double
mean_product(const search *s, double step)
{
	double		sum = 0.0;

	for (int32_t i = 0; i < s->order; i++)
		sum += (s->y[i] + step * s->dy[i]) * (s->z[i] + step * s->dz[i]);
	return sum / s->order;
}

/* Keeps of the active queries those that matter. */
static void
drop_queries(search *s)
{
	double		least = 1e-3 * sum_of(s->y, s->n, s->order) / s->active;
	double		slack = 0.05 * weight_of_queries(s);
	int32_t		kept = 0;

	for (int32_t i = 0; i < s->active; i++)
	{
		int32_t		q = s->query[i];

		s->place[q] = -1;
		if (s->y[s->n + i] < least && s->z[s->n + i] > slack)
			continue;
		s->y[s->n + kept] = s->y[s->n + i];
		s->z[s->n + kept] = s->z[s->n + i];
		s->query[kept] = q;
		s->place[q] = kept++;
	}
	s->active = kept;
	s->order = s->n + kept;
}

/* The worst of the queries beyond sigma become active, with a slack that is not there. */
static void
join_queries(search *s)
{
	double		sigma = weight_of_queries(s);
	double		slack = FIRST_SLACK * sigma;
	double		mu;
	int32_t		count;
	int32_t		joined;
	ranked	   *list = rank_queries(s, sigma * (1.0 + 0.1 * s->goal), &count);

	joined = count < s->n ? count : s->n;
	if (joined > 0)
	{
		memset(s->dy, 0, (size_t) s->order * sizeof(double));
		memset(s->dz, 0, (size_t) s->order * sizeof(double));
		mu = mean_product(s, 0.0);
		if (s->active + joined > s->most)
			drop_queries(s);
		if (s->active + joined > s->most)
			joined = s->most - s->active;
		for (int32_t i = 0; i < joined; i++)
		{
			add_query(s, list[i].query);
			s->y[s->n + s->active - 1] = mu / slack;
			s->z[s->n + s->active - 1] = slack;
		}
		read_active(s);
	}
	pe_free(list);
}

/* The stacked vectors (z_k, u_k), and kappa of the queries. */
static void
stack_vectors(search *s)
{
	int32_t		n = s->n;
	double	   *u = s->dual.block[0].u;
	size_t		order = (size_t) s->order;

	for (int32_t k = 0; k < s->rank; k++)
		for (int32_t i = 0; i < n; i++)
			u[i + (size_t) k * order] = s->left[i + (size_t) k * (size_t) n];
	pe_la_gemm(false, false, s->active, s->rank, n, 1.0, s->row, s->active, s->root, n, 0.0, u + n, s->order);
	memset(s->kappa + n, 0, (size_t) s->active * sizeof(double));
	for (int32_t k = 0; k < s->rank; k++)
		for (int32_t i = n; i < s->order; i++)
		{
			double	   *entry = &u[i + (size_t) k * order];

			s->kappa[i] += *entry * *entry * s->y[i];
			*entry *= sqrt(s->y[i] / s->s[k]);
		}
}

/* S and the rest of the system, factored. */
static bool
prepare_system(search *s)
{
	pe_dual    *dual = &s->dual;

	stack_vectors(s);
	dual->order = dual->n = dual->block[0].size = s->order;
	dual->rank = dual->block[0].rank = s->rank;
	for (int32_t i = 0; i < s->order; i++)
	{
		s->shift[i] = s->y[i] * s->z[i];
		s->tie[i] = i < s->n ? 0.0 : s->y[i] / sqrt(1.0 - s->share);
	}
	return pe_dual_system(dual, STEP, s->fine, s->shift);
}

/*
 * One linearisation of  y z = mu,  X_ii + z_i = 1,  a_q + z_q = sigma  with the
 * given mu and second-order correction.
 */
static void
find_direction(search *s, double mu)
{
	double		sigma = weight_of_queries(s);

	for (int32_t i = 0; i < s->order; i++)
	{
		double		bound = i < s->n ? s->y[i] : s->y[i] * sigma;

		s->right[i] = mu + s->kappa[i] - bound - s->correction[i];
		if (i >= s->n)
			s->right[i] = -s->right[i];
	}
	pe_dual_solve(&s->dual, s->right, s->du);
	for (int32_t i = 0; i < s->order; i++)
	{
		s->dy[i] = s->y[i] * (i < s->n ? s->du[i] : -s->du[i]);
		s->dz[i] = (mu - s->y[i] * s->z[i] - s->correction[i] - s->z[i] * s->dy[i]) / s->y[i];
	}
}

/* The largest step of at most 1 that keeps x + step dx >= 0. */
static double
longest(int32_t n, const double *x, const double *dx)
{
	double		step = 1.0;

	for (int32_t i = 0; i < n; i++)
		if (dx[i] < 0.0)
			step = fmin(step, -x[i] / dx[i]);
	return step;
}

static void
move(int32_t n, double *x, const double *dx)
{
	double		step = fmin(1.0, STAY_INSIDE * longest(n, x, dx));

	for (int32_t i = 0; i < n; i++)
		x[i] += step * dx[i];
}

/* Mehrotra's predictor and corrector */
static bool
take_step(search *s)
{
	double		mu;
	double		step;
	double		centring;

	if (!prepare_system(s))
		return false;
	memset(s->correction, 0, (size_t) s->order * sizeof(double));
	memset(s->dy, 0, (size_t) s->order * sizeof(double));
	memset(s->dz, 0, (size_t) s->order * sizeof(double));
	mu = mean_product(s, 0.0);
	find_direction(s, 0.0);
	step = fmin(longest(s->order, s->y, s->dy), longest(s->order, s->z, s->dz));
	centring = fmax(fmax(pow(mean_product(s, step) / mu, 3.0), 1e-4), 0.2 * s->goal * s->trace / (s->order * mu));
	for (int32_t i = 0; i < s->order && step > 0.1; i++)
		s->correction[i] = s->dy[i] * s->dz[i];
	find_direction(s, centring * mu);
	move(s->order, s->y, s->dy);
	move(s->order, s->z, s->dz);
	/* what all queries have together goes the way of the gap */
	s->share = fmin(LARGEST_SHARE, fmax(LEAST_SHARE * s->goal, 0.1 * s->order * centring * mu / s->trace));
	return true;
}

static void
run(search *s)
{
	bool		good;

	s->share = 1.0;
	if (!evaluate(s) || gap_of(s) <= s->goal)
		return;
	choose_queries(s);
	good = evaluate(s);
	if (good)
		begin(s);
	while (good && gap_of(s) > s->goal && s->evaluations < EVALUATIONS && s->idle < PATIENCE)
	{
		join_queries(s);
		good = take_step(s) && evaluate(s);
	}
}

/* ---- life ---- */

static void
init_system(search *s)
{
	size_t		order = (size_t) s->n + (size_t) s->most;
	pe_dual    *dual = &s->dual;

	s->y = numbers(order);
	s->z = numbers(order);
	s->kappa = numbers(order);
	s->tie = numbers(order);
	s->shift = numbers(order);
	s->right = numbers(order);
	s->du = numbers(order);
	s->dy = numbers(order);
	s->dz = numbers(order);
	s->correction = numbers(order);
	dual->blocks = 1;
	dual->block[0].u = numbers(order * (size_t) s->rank);
	dual->block[0].s = s->s;
	dual->kappa = s->kappa;
	dual->tie = s->tie;
	dual->root = numbers(order);
	dual->scale = numbers(order);
	dual->right = pe_alloc(order, sizeof(float));
	dual->scratch = numbers(order * order);
	dual->work = numbers(order * (size_t) s->rank / 2 + 1);
}

static void
init(search *s, const pe_query_source *source, int32_t n, double goal)
{
	double		largest = 0.0;

	memset(s, 0, sizeof(*s));
	s->source = source;
	s->n = s->order = n;
	s->goal = goal;
	s->upper = INFINITY;
	s->queries = source->queries;
	s->most = 4 * n > ALL_ACTIVE ? 4 * n : ALL_ACTIVE;
	s->most = s->most < s->queries ? s->most : s->queries;
	s->rounding = fmin(n, 4.0 * sqrt(n)) * DBL_EPSILON;
	s->pivot = pe_alloc((size_t) n, sizeof(int32_t));
	find_row_space(s);
	s->query = pe_alloc((size_t) s->most, sizeof(int32_t));
	s->place = pe_alloc((size_t) s->queries, sizeof(int32_t));
	memset(s->place, -1, (size_t) s->queries * sizeof(int32_t));
	s->row = numbers((size_t) s->most * (size_t) n);
	s->coordinate = numbers((size_t) s->most * (size_t) s->rank);
	s->s = numbers((size_t) s->rank);
	s->left = numbers((size_t) n * (size_t) s->rank);
	s->root = numbers((size_t) n * (size_t) s->rank);
	s->best = numbers((size_t) n * (size_t) s->rank);
	s->c = numbers(square(n));
	s->variance = numbers((size_t) s->queries);
	init_system(s);
	for (int32_t i = 0; i < n; i++)
		largest = fmax(largest, sqrt(source->gram[i + (size_t) i * (size_t) n]));
	for (int32_t i = 0; i < n; i++)
		s->y[i] = sqrt(source->gram[i + (size_t) i * (size_t) n]) / largest;
}

static void
free_system(search *s)
{
	pe_free(s->y);
	pe_free(s->z);
	pe_free(s->kappa);
	pe_free(s->tie);
	pe_free(s->shift);
	pe_free(s->right);
	pe_free(s->du);
	pe_free(s->dy);
	pe_free(s->dz);
	pe_free(s->correction);
	pe_free(s->dual.block[0].u);
	pe_free(s->dual.root);
	pe_free(s->dual.scale);
	pe_free(s->dual.right);
	pe_free(s->dual.scratch);
	pe_free(s->dual.work);
}

static void
free_search(search *s)
{
	free_system(s);
	pe_free(s->pivot);
	pe_free(s->r);
	pe_free(s->triangle);
	pe_free(s->query);
	pe_free(s->place);
	pe_free(s->row);
	pe_free(s->coordinate);
	pe_free(s->s);
	pe_free(s->left);
	pe_free(s->root);
	pe_free(s->c);
	pe_free(s->variance);
}

/* Columns of length at most 1, the largest of them 1 up to rounding. */
static void
normalise(double *factor, int32_t rank, int32_t n)
{
	double		largest = 0.0;

	for (int32_t j = 0; j < n; j++)
	{
		double		length = 0.0;

		for (int32_t k = 0; k < rank; k++)
			length += factor[k + (size_t) j * (size_t) rank] * factor[k + (size_t) j * (size_t) rank];
		largest = fmax(largest, length);
	}
	for (size_t i = 0; i < (size_t) rank * (size_t) n; i++)
		factor[i] /= sqrt(largest);
}

static void
take_result(search *s, pe_design *design)
{
	int32_t		n = s->n;

	normalise(s->best, s->rank, n);
	*design = (pe_design) {.n = n, .rows = s->rank, .objective = s->upper, .iterations = s->evaluations,
		.finished = gap_of(s) <= s->goal};
	if (s->rank < n)
	{
		design->factor = s->best;
		return;
	}
	design->rows = 0;
	design->x = numbers(square(n));
	pe_la_syrk(true, n, n, 1.0, s->best, n, 0.0, design->x, n);
	pe_la_mirror(n, design->x, n);
	for (int32_t i = 0; i < n; i++)
		design->x[i + (size_t) i * (size_t) n] = fmin(design->x[i + (size_t) i * (size_t) n], 1.0);
	pe_free(s->best);
}

void
pe_optimum_max(const pe_query_source *source, int32_t n, double gap,
			   pe_design *design, double *lower, double *upper)
{
	search		s;

	if (n < 1 || n > PE_OPTIMUM_CELLS || source->queries < 1)
		pe_bug("queries over an impossible number of columns");
	if (!pe_la_finite(square(n), source->gram))
		pe_bug("queries that are not finite");
	for (int32_t i = 0; i < n; i++)
		if (!(source->gram[i + (size_t) i * (size_t) n] > 0.0))
			pe_bug("a column that no query asks for");
	init(&s, source, n, gap);
	run(&s);
	if (!isfinite(s.upper))
		pe_bug("queries beyond the range of floating point");
	*lower = s.lower;
	*upper = s.upper;
	free_search(&s);
	take_result(&s, design);
}

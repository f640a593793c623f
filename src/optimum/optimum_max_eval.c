/*
 * optimum_max_eval.c
 *	  One evaluation of the dual of the best worst query.  See
 *	  optimum_eval.h.
 */
#include "optimum/optimum_eval.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

#define CHUNK 1024				/* queries that are read at one time */
#define RANK_TOLERANCE 1e-12	/* as in optimum_eval.c */

/* ---- the row space ---- */

/* R of gram = R'R, of columns scaled to about the same length as in optimum_eval.c. */
static void
find_row_space(pe_max_dual *s)
{
	int32_t		n = s->n;
	const double *gram = s->source->gram;
	double	   *factor = pe_la_vector(pe_la_square(n));
	double	   *work = pe_la_vector(2 * (size_t) n);
	double	   *unit = pe_la_vector((size_t) n);

	for (int32_t i = 0; i < n; i++)
		unit[i] = pe_power_of_two_near(sqrt(gram[i + (size_t) i * (size_t) n]));
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			factor[i + (size_t) j * (size_t) n] = gram[i + (size_t) j * (size_t) n] / (unit[i] * unit[j]);
	pe_poll();
	s->rank = pe_la_cholesky_pivoted(n, factor, n, RANK_TOLERANCE, s->pivot, work);
	s->r = pe_la_vector((size_t) s->rank * (size_t) n);
	s->triangle = pe_la_vector(pe_la_square(s->rank));
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

/* ---- queries ---- */

/* The queries of one chunk, and room for them. */
typedef struct chunk
{
	int32_t    *query;
	int32_t		first;
	int32_t		count;
	double	   *rows;			/* count x n */
	double	   *coordinates;	/* rank x count: rows = coordinates'R */
} chunk;

static void
chunk_init(chunk *k, const pe_max_dual *s)
{
	size_t		most = s->queries < CHUNK ? (size_t) s->queries : CHUNK;

	memset(k, 0, sizeof(*k));
	k->query = pe_alloc(most, sizeof(int32_t));
	k->rows = pe_la_vector(most * (size_t) s->n);
	k->coordinates = pe_la_vector(most * (size_t) s->rank);
}

static void
chunk_free(chunk *k)
{
	pe_free(k->query);
	pe_free(k->rows);
	pe_free(k->coordinates);
}

/* Reads the chunk after this one; false if there is none. */
static bool
next_chunk(chunk *k, const pe_max_dual *s)
{
	pe_poll();
	k->first += k->count;
	k->count = s->queries - k->first < CHUNK ? s->queries - k->first : CHUNK;
	for (int32_t i = 0; i < k->count; i++)
		k->query[i] = k->first + i;
	if (k->count > 0)
		s->source->rows(s->source->argument, k->query, k->count, k->rows);
	return k->count > 0;
}

/* P^.5 L of the chunk, transposed: T'^-1 of the pivots' columns. */
static void
find_coordinates(chunk *k, const pe_max_dual *s)
{
	for (int32_t i = 0; i < k->count; i++)
		for (int32_t j = 0; j < s->rank; j++)
			k->coordinates[j + (size_t) i * (size_t) s->rank] =
				k->rows[i + (size_t) s->pivot[j] * (size_t) k->count] * sqrt(s->y[s->n + k->first + i]);
	pe_poll();
	pe_la_triangle_solve(true, s->rank, k->count, s->triangle, s->rank, k->coordinates, s->rank);
}

/* ---- evaluation ---- */

static double
sum_of(const double *x, int32_t from, int32_t to)
{
	double		sum = 0.0;

	for (int32_t i = from; i < to; i++)
		sum += x[i];
	return sum;
}

double
pe_max_dual_sigma(const pe_max_dual *s)
{
	return sum_of(s->y, s->n, s->n + s->queries) / (1.0 - s->share);
}

double
pe_max_dual_sum(const pe_max_dual *s)
{
	return sum_of(s->y, 0, s->n);
}

/*
 * The upper triangular root of L'PL; all queries together have L'L = I.  Returns
 * its trace, or -1 if there is no root.
 */
static double
root_of_queries(const pe_max_dual *s, double *gamma)
{
	int32_t		rank = s->rank;
	double		together = s->share * pe_max_dual_sigma(s) / s->queries;
	double		trace = 0.0;
	chunk		k;

	memset(gamma, 0, pe_la_square(rank) * sizeof(double));
	chunk_init(&k, s);
	while (next_chunk(&k, s))
	{
		find_coordinates(&k, s);
		pe_la_syrk(false, rank, k.count, 1.0, k.coordinates, rank, 1.0, gamma, rank);
	}
	chunk_free(&k);
	for (int32_t i = 0; i < rank; i++)
	{
		gamma[i + (size_t) i * (size_t) rank] += together;
		trace += gamma[i + (size_t) i * (size_t) rank];
	}
	pe_la_mirror(rank, gamma, rank);
	pe_poll();
	return pe_la_finite(pe_la_square(rank), gamma) && pe_la_cholesky(rank, gamma, rank) ? trace : -1.0;
}

/* q = Y^.5 R' with orthonormal columns, times the upper triangular t. */
static void
root_of_columns(const pe_max_dual *s, double *q, double *t)
{
	for (int32_t i = 0; i < s->n; i++)
		for (int32_t k = 0; k < s->rank; k++)
			q[i + (size_t) k * (size_t) s->n] = s->r[k + (size_t) i * (size_t) s->rank] * sqrt(s->y[i]);
	pe_la_qr(s->n, s->rank, q, s->n, t, s->rank);
}

/* product = t gamma', both upper triangular. */
static void
multiply_roots(const pe_max_dual *s, const double *t, const double *gamma, double *product)
{
	int32_t		rank = s->rank;

	for (int32_t j = 0; j < rank; j++)
		for (int32_t i = 0; i < rank; i++)
			product[i + (size_t) j * (size_t) rank] = i >= j ? gamma[j + (size_t) i * (size_t) rank] : 0.0;
	pe_la_triangle_multiply(false, rank, rank, t, rank, product, rank);
}

/* The columns and s in reverse order: ascending. */
static void
reverse(double *a, double *value, int32_t n)
{
	for (int32_t left = 0, right = n - 1; left < right; left++, right--)
	{
		double		kept = value[left];

		value[left] = value[right];
		value[right] = kept;
		for (int32_t i = 0; i < n; i++)
		{
			kept = a[i + (size_t) left * (size_t) n];
			a[i + (size_t) left * (size_t) n] = a[i + (size_t) right * (size_t) n];
			a[i + (size_t) right * (size_t) n] = kept;
		}
	}
}

/*
 * s and z_k of P^.5 W Y^.5.  The z_k are orthonormal for every p and y, as they
 * come from an orthonormal basis of Y^.5 R' and a rotation, and so X is inverted by
 * K K' to full accuracy.  queries_trace: of L'PL.
 */
static bool
decompose(pe_max_dual *s, double *queries_trace)
{
	int32_t		rank = s->rank;
	double	   *gamma = pe_la_vector(pe_la_square(rank));
	double	   *q = pe_la_vector((size_t) s->n * (size_t) rank);
	double	   *t = pe_la_vector(pe_la_square(rank));
	double	   *product = pe_la_vector(pe_la_square(rank));
	bool		done;

	*queries_trace = root_of_queries(s, gamma);
	root_of_columns(s, q, t);
	multiply_roots(s, t, gamma, product);
	pe_free(gamma);
	pe_free(t);
	done = *queries_trace >= 0.0 && pe_la_finite(pe_la_square(rank), product) && pe_la_singular(rank, product, s->s);
	if (done)
	{
		reverse(product, s->s, rank);
		pe_la_gemm(false, false, s->n, rank, rank, 1.0, q, s->n, product, rank, 0.0, s->left, s->n);
		done = s->s[0] > 0.0 && isfinite(s->s[rank - 1]);
	}
	pe_free(q);
	pe_free(product);
	return done;
}

/* kappa and the largest X_ii of the columns, T, and K. */
static void
take_columns(pe_max_dual *s)
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
 * Variances of all queries.  Each is a sum of entries of C, in the order in
 * which the source takes them, and C_ij is at most sqrt(C_ii C_jj); so rounding costs
 * at most its part of (largest sum sqrt C_ii)^2.
 */
static void
take_variances(pe_max_dual *s)
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
	{
		s->worst = fmax(s->worst, s->variance[q]);
		s->kappa[s->n + q] = s->y[s->n + q] * s->variance[q];
	}
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
take_trace_lower(pe_max_dual *s, double queries_trace)
{
	double		variances = sum_of(s->variance, 0, s->queries);

	s->trace_lower = s->trace - s->rounding * (s->rank * s->s[s->rank - 1] + 0.5 * queries_trace * variances);
	s->trace_lower = fmax(s->trace_lower, 0.0);
}

bool
pe_max_dual_evaluate(pe_max_dual *s)
{
	double		queries_trace;

	if (!decompose(s, &queries_trace))
		return false;
	take_columns(s);
	take_variances(s);
	take_trace_lower(s, queries_trace);
	return isfinite(s->trace) && isfinite(s->worst) && isfinite(s->largest) && s->largest > 0.0;
}

/* s grows as (y p)^.5, X as (p/y)^.5, a as (y/p)^.5. */
void
pe_max_dual_rescale(pe_max_dual *s, double columns, double queries)
{
	double		both = sqrt(columns) * sqrt(queries);
	double		ratio = sqrt(columns) / sqrt(queries);

	for (int32_t i = 0; i < s->n + s->queries; i++)
	{
		s->y[i] *= i < s->n ? columns : queries;
		s->kappa[i] *= both;
	}
	for (int32_t k = 0; k < s->rank; k++)
		s->s[k] *= both;
	for (size_t i = 0; i < (size_t) s->n * (size_t) s->rank; i++)
		s->root[i] *= sqrt(ratio);
	for (int32_t q = 0; q < s->queries; q++)
		s->variance[q] *= ratio;
	s->trace *= both;
	s->trace_lower *= both;
	s->largest /= ratio;
	s->worst *= ratio;
}

/* u_k = P^.5 W K / s_k^.5 */
void
pe_max_dual_stack(const pe_max_dual *s, double *u)
{
	size_t		order = (size_t) s->n + (size_t) s->queries;
	chunk		k;

	chunk_init(&k, s);
	while (next_chunk(&k, s))
		pe_la_gemm(false, false, k.count, s->rank, s->n, 1.0, k.rows, k.count, s->root, s->n,
				   0.0, u + s->n + k.first, (int32_t) order);
	chunk_free(&k);
	for (int32_t j = 0; j < s->rank; j++)
	{
		double	   *column = u + (size_t) j * order;

		memcpy(column, s->left + (size_t) j * (size_t) s->n, (size_t) s->n * sizeof(double));
		for (size_t i = (size_t) s->n; i < order; i++)
			column[i] *= sqrt(s->y[i] / s->s[j]);
	}
}

void
pe_max_dual_strategy(const pe_max_dual *s, double *g)
{
	for (int32_t i = 0; i < s->n; i++)
		for (int32_t k = 0; k < s->rank; k++)
			g[k + (size_t) i * (size_t) s->rank] =
				s->left[i + (size_t) k * (size_t) s->n] * sqrt(s->s[k] / s->y[i]);
}

/* ---- life ---- */

void
pe_max_dual_start(pe_max_dual *s)
{
	const double *gram = s->source->gram;
	double		largest = 0.0;

	for (int32_t i = 0; i < s->n; i++)
	{
		s->y[i] = sqrt(gram[i + (size_t) i * (size_t) s->n]);
		largest = fmax(largest, s->y[i]);
	}
	for (int32_t i = 0; i < s->n; i++)
		s->y[i] /= largest;
	for (int32_t q = 0; q < s->queries; q++)
		s->y[s->n + q] = 1.0 / s->queries;
}

void
pe_max_dual_init(pe_max_dual *s, const pe_query_source *source, int32_t n, double share)
{
	size_t		order = (size_t) n + (size_t) source->queries;

	memset(s, 0, sizeof(*s));
	s->source = source;
	s->n = n;
	s->queries = source->queries;
	s->share = share;
	s->rounding = fmin(n, 4.0 * sqrt(n)) * DBL_EPSILON;
	s->pivot = pe_alloc((size_t) n, sizeof(int32_t));
	find_row_space(s);
	s->y = pe_la_vector(order);
	s->kappa = pe_la_vector(order);
	s->s = pe_la_vector((size_t) s->rank);
	s->left = pe_la_vector((size_t) n * (size_t) s->rank);
	s->root = pe_la_vector((size_t) n * (size_t) s->rank);
	s->c = pe_la_vector(pe_la_square(n));
	s->variance = pe_la_vector((size_t) s->queries);
	pe_max_dual_start(s);
}

void
pe_max_dual_free(pe_max_dual *s)
{
	pe_free(s->pivot);
	pe_free(s->r);
	pe_free(s->triangle);
	pe_free(s->y);
	pe_free(s->kappa);
	pe_free(s->s);
	pe_free(s->left);
	pe_free(s->root);
	pe_free(s->c);
	pe_free(s->variance);
	memset(s, 0, sizeof(*s));
}

size_t
pe_max_dual_memory(int32_t queries, int32_t n)
{
	size_t		most = queries < CHUNK ? (size_t) queries : CHUNK;

	/* R, its triangle, z_k, K and C; then the factors of decompose and what pe_la_singular takes, or a chunk */
	return (5 + 8) * pe_la_square(n) * sizeof(double) + 2 * most * (size_t) n * sizeof(double)
		+ (3 * (size_t) queries + 64 * (size_t) n + 8192) * sizeof(double);
}

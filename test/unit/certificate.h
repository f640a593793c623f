/*
 * certificate.h
 *	  What a pe_optimum claims, recomputed by other means: long double Cholesky
 *	  and Jacobi, another LAPACK driver.
 */
#ifndef PE_TEST_CERTIFICATE_H
#define PE_TEST_CERTIFICATE_H

#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"
#include "numbers.h"

#define GAP 1e-6

/* Orders up to which long double takes no noticeable time. */
#define JACOBI_LIMIT 64
#define CHOLESKY_LIMIT 160

/* V = W'W; w is m x n by columns */
static inline double *
gram(const double *w, int m, int n)
{
	double	   *v = matrix(n, n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i <= j; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k < m; k++)
				sum += w[k + i * m] * w[k + j * m];
			v[i + j * n] = v[j + i * n] = sum;
		}
	return v;
}

/* ---- the certificate by other means ---- */

/* Lower triangular L with A = LL' in place (by rows); false if A is not positive definite. */
static inline bool
long_cholesky(long double *a, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
		{
			long double sum = a[i * n + j];

			for (int k = 0; k < j; k++)
				sum -= a[i * n + k] * a[j * n + k];
			if (i == j && !(sum > 0.0L))
				return false;
			a[i * n + j] = i == j ? sqrtl(sum) : sum / a[j * n + j];
		}
	return true;
}

/* B = L^-1 B, both n x n by rows */
static inline void
long_forward(const long double *l, long double *b, int n)
{
	for (int i = 0; i < n; i++)
	{
		for (int k = 0; k < i; k++)
			for (int j = 0; j < n; j++)
				b[i * n + j] -= l[i * n + k] * b[k * n + j];
		for (int j = 0; j < n; j++)
			b[i * n + j] /= l[i * n + i];
	}
}

static inline void
long_transpose(long double *a, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
		{
			long double t = a[i * n + j];

			a[i * n + j] = a[j * n + i];
			a[j * n + i] = t;
		}
}

static inline long double *
long_copy(const double *a, size_t count)
{
	long double *copy = malloc(count * sizeof(long double));

	assert_non_null(copy);
	for (size_t i = 0; i < count; i++)
		copy[i] = a[i];
	return copy;
}

/* tr(V X^-1), the trace of L^-1 V L^-T; NAN if X is not positive definite */
static inline double
long_objective(const double *v, const double *x, int n)
{
	size_t		size = (size_t) n * (size_t) n;
	long double *l = long_copy(x, size);
	long double *b = long_copy(v, size);
	long double trace = 0.0L;
	bool		definite = long_cholesky(l, n);

	if (definite)
	{
		long_forward(l, b, n);
		long_transpose(b, n);
		long_forward(l, b, n);
		for (int i = 0; i < n; i++)
			trace += b[i * n + i];
	}
	free(l);
	free(b);
	return definite ? (double) trace : NAN;
}

/* The same in double by LAPACK, for orders where long double takes too long. */
static inline double
double_objective(const double *v, const double *x, int n)
{
	double	   *r = matrix(n, n);
	double	   *b = matrix(n, n);
	double		trace = 0.0;

	memcpy(r, x, (size_t) n * (size_t) n * sizeof(double));
	memcpy(b, v, (size_t) n * (size_t) n * sizeof(double));
	assert_true(pe_la_cholesky(n, r, n));
	pe_la_cholesky_solve(n, n, r, n, b, n);
	for (int i = 0; i < n; i++)
		trace += b[i + (size_t) i * (size_t) n];
	pe_free(r);
	pe_free(b);
	return trace;
}

/*
 * For X = G'G of less than full rank: tr(V X^+) = tr(K^-1 (G V G') K^-1), K = GG';
 * and *outside, the part of tr V that the rows of G do not reach.
 */
static inline double
factor_objective(const double *v, const double *g, int rank, int n, double *outside)
{
	long double *k = calloc((size_t) rank * (size_t) rank, sizeof(long double));
	long double *c = calloc((size_t) rank * (size_t) rank, sizeof(long double));
	long double *gv = calloc((size_t) rank * (size_t) n, sizeof(long double));
	long double trace = 0.0L;
	long double reached = 0.0L;
	long double all = 0.0L;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			for (int a = 0; a < rank; a++)
				gv[a + (size_t) j * (size_t) rank] += (long double) g[a + (size_t) i * (size_t) rank] * v[i + (size_t) j * (size_t) n];
	for (int j = 0; j < n; j++)
		for (int a = 0; a < rank; a++)
			for (int b = 0; b < rank; b++)
			{
				k[a * rank + b] += (long double) g[a + (size_t) j * (size_t) rank] * g[b + (size_t) j * (size_t) rank];
				c[a * rank + b] += gv[a + (size_t) j * (size_t) rank] * g[b + (size_t) j * (size_t) rank];
			}
	assert_true(long_cholesky(k, rank));
	/* C <- L^-1 C L^-T, whose trace is tr(V G^+ G), then K^-1 C K^-1 as far as the trace needs it */
	for (int turn = 0; turn < 2; turn++)
	{
		long_forward(k, c, rank);
		long_transpose(c, rank);
	}
	for (int i = 0; i < n; i++)
		all += v[i + (size_t) i * (size_t) n];
	for (int a = 0; a < rank; a++)
		reached += c[a * rank + a];
	/* tr(L^-T C L^-1) = tr(C L^-1 L^-T): the inverse of L, then the sum */
	memset(gv, 0, (size_t) rank * (size_t) n * sizeof(long double));
	for (int a = 0; a < rank; a++)
		gv[a * rank + a] = 1.0L;
	long_forward(k, gv, rank);
	for (int a = 0; a < rank; a++)
		for (int b = 0; b < rank; b++)
		{
			long double inner = 0.0L;

			for (int j = 0; j < rank; j++)
				inner += gv[b * rank + j] * gv[a * rank + j];
			trace += c[a * rank + b] * inner;
		}
	*outside = (double) fabsl((all - reached) / all);
	free(k);
	free(c);
	free(gv);
	return (double) trace;
}

/* Eigenvalues by cyclic Jacobi rotations: the diagonal of a at the end. */
static inline void
jacobi(long double *a, int n)
{
	for (int sweep = 0; sweep < 60; sweep++)
	{
		long double off = 0.0L;
		long double all = 0.0L;

		for (int p = 0; p < n; p++)
			for (int q = 0; q < n; q++)
			{
				all += a[p * n + q] * a[p * n + q];
				off += p != q ? a[p * n + q] * a[p * n + q] : 0.0L;
			}
		if (off <= 1e-36L * all)
			return;
		for (int p = 0; p < n; p++)
			for (int q = p + 1; q < n; q++)
			{
				long double theta;
				long double t;
				long double c;
				long double s;

				if (a[p * n + q] == 0.0L)
					continue;
				theta = (a[q * n + q] - a[p * n + p]) / (2.0L * a[p * n + q]);
				t = (theta >= 0.0L ? 1.0L : -1.0L) / (fabsl(theta) + sqrtl(theta * theta + 1.0L));
				c = 1.0L / sqrtl(t * t + 1.0L);
				s = t * c;
				for (int k = 0; k < n; k++)
				{
					long double x = a[k * n + p];
					long double y = a[k * n + q];

					a[k * n + p] = c * x - s * y;
					a[k * n + q] = s * x + c * y;
				}
				for (int k = 0; k < n; k++)
				{
					long double x = a[p * n + k];
					long double y = a[q * n + k];

					a[p * n + k] = c * x - s * y;
					a[q * n + k] = s * x + c * y;
				}
			}
	}
}

static inline double
jacobi_trace(const double *v, const double *y, int n)
{
	long double *a = long_copy(v, (size_t) n * (size_t) n);
	long double trace = 0.0L;

	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			a[i * n + j] *= sqrtl((long double) y[i]) * sqrtl((long double) y[j]);
	jacobi(a, n);
	for (int i = 0; i < n; i++)
		trace += sqrtl(fmaxl(a[i * n + i], 0.0L));
	free(a);
	return (double) trace;
}

/* QR iteration without vectors; the solver divides and conquers with them */
static inline double
dsyev_trace(const double *v, const double *y, int n)
{
	double	   *a = matrix(n, n);
	double	   *value = matrix(n, 1);
	double		trace = 0.0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			a[i + (size_t) j * (size_t) n] = v[i + (size_t) j * (size_t) n] * sqrt(y[i]) * sqrt(y[j]);
	assert_int_equal(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'U', n, a, n, value), 0);
	for (int i = 0; i < n; i++)
		trace += sqrt(fmax(value[i], 0.0));
	pe_free(a);
	pe_free(value);
	return trace;
}

static inline double
bound_of(const double *v, const double *y, int n)
{
	double		sum = 0.0;
	double		trace = n <= JACOBI_LIMIT ? jacobi_trace(v, y, n) : dsyev_trace(v, y, n);

	for (int i = 0; i < n; i++)
	{
		assert_true(y[i] > 0.0);
		sum += y[i];
	}
	return trace * trace / sum;
}

/* X from the result, feasible, and F from it */
static inline double
objective_of(const double *v, const pe_optimum *optimum, double *outside)
{
	int			n = optimum->n;
	double		largest = 0.0;

	*outside = 0.0;
	if (optimum->full)
	{
		assert_null(optimum->factor);
		for (int i = 0; i < n; i++)
		{
			largest = fmax(largest, optimum->x[i + (size_t) i * (size_t) n]);
			for (int j = 0; j < i; j++)
				assert_true(optimum->x[i + (size_t) j * (size_t) n] == optimum->x[j + (size_t) i * (size_t) n]);
		}
		assert_true(largest <= 1.0);
		return n <= CHOLESKY_LIMIT ? long_objective(v, optimum->x, n) : double_objective(v, optimum->x, n);
	}
	assert_null(optimum->x);
	assert_true(optimum->rank < n);
	for (int j = 0; j < n; j++)
	{
		double		length = 0.0;

		for (int k = 0; k < optimum->rank; k++)
			length += pow(optimum->factor[k + (size_t) j * (size_t) optimum->rank], 2.0);
		largest = fmax(largest, length);
	}
	assert_true(largest <= 1.0 + 1e-13 && largest >= 1.0 - 1e-13);
	return factor_objective(v, optimum->factor, optimum->rank, n, outside);
}

/*
 * Everything that the result claims.  False with a message if something is
 * wrong; tolerance: of F and of the bound, as far as rounding in V allows.
 */
static inline bool
certificate_holds(const char *name, const double *v, const pe_optimum *optimum, double tolerance)
{
	double		outside;
	double		objective = objective_of(v, optimum, &outside);
	double		bound = bound_of(v, optimum->y, optimum->n);
	bool		good = optimum->upper / optimum->lower - 1.0 <= GAP
		&& optimum->upper >= optimum->lower
		&& objective <= optimum->upper * (1.0 + tolerance)
		&& close_to(objective, optimum->upper, 1e-6 + tolerance)
		&& optimum->lower <= bound * (1.0 + tolerance)
		&& close_to(optimum->lower, bound, 1e-5)
		&& outside <= 1e-10;

	if (!good)
		print_error("%s: n %d rank %d evaluations %d gap %.3e; F %.12g recomputed %.12g (%.1e), "
					"bound %.12g recomputed %.12g (%.1e), outside %.1e\n", name, optimum->n, optimum->rank,
					optimum->iterations, optimum->upper / optimum->lower - 1.0, optimum->upper, objective,
					objective / optimum->upper - 1.0, optimum->lower, bound, bound / optimum->lower - 1.0, outside);
	return good;
}

#endif

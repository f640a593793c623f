/*
 * long_cholesky.h
 *	  tr(V (A'A)^-1) in long double, without a library, for the unit tests of
 *	  strategies.
 */
#ifndef PE_TEST_LONG_CHOLESKY_H
#define PE_TEST_LONG_CHOLESKY_H

#include <math.h>
#include <stdlib.h>

/* L with X = LL' in place of X (by rows), below the diagonal; NAN where X is not positive definite. */
static inline void
long_root(long double *x, int n)
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j <= i; j++)
		{
			long double sum = x[i * n + j];

			for (int k = 0; k < j; k++)
				sum -= x[i * n + k] * x[j * n + k];
			x[i * n + j] = i == j ? sqrtl(sum) : sum / x[j * n + j];
		}
}

/* a: rows x n, v: n x n, both by columns. */
static inline double
long_objective(const double *a, int rows, int n, const double *v)
{
	long double *x = calloc((size_t) n * n, sizeof(*x));
	long double *z = calloc(n, sizeof(*z));
	long double sum = 0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			for (int k = 0; k < rows; k++)
				x[i * n + j] += (long double) a[k + (size_t) i * rows] * a[k + (size_t) j * rows];
	long_root(x, n);
	/* column by column of V: X z = v_j, and z_j counts */
	for (int j = 0; j < n; j++)
	{
		for (int i = 0; i < n; i++)
		{
			z[i] = v[i + (size_t) j * n];
			for (int k = 0; k < i; k++)
				z[i] -= x[i * n + k] * z[k];
			z[i] /= x[i * n + i];
		}
		for (int i = n - 1; i >= j; i--)
		{
			for (int k = i + 1; k < n; k++)
				z[i] -= x[k * n + i] * z[k];
			z[i] /= x[i * n + i];
		}
		sum += z[j];
	}
	free(x);
	free(z);
	return (double) sum;
}

#endif

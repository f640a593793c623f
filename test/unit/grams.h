/*
 * grams.h
 *	  Gram matrices for the tests of the iterative methods, and what is
 *	  recomputed of their designs.
 */
#ifndef PE_TEST_GRAMS_H
#define PE_TEST_GRAMS_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "optimum/design.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"
#include "numbers.h"
#include "shim.h"

/* V = W'W; w (m x n by columns) is freed. */
static inline double *
gram(double *w, int m, int n)
{
	double	   *v = matrix(n, n);

	pe_la_gemm(true, false, n, n, m, 1.0, w, m, w, m, 0.0, v, n);
	pe_la_mirror(n, v, n);
	pe_free(w);
	return v;
}

static inline double *
random_gram(int m, int n)
{
	double	   *w = matrix(m, n);

	for (int i = 0; i < m * n; i++)
		w[i] = normal();
	return gram(w, m, n);
}

static inline double *
all_range(int n)
{
	double	   *v = matrix(n, n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[i + j * n] = ((i < j ? i : j) + 1.0) * (n - (i > j ? i : j));
	return v;
}

static inline double *
prefix(int n)
{
	double	   *v = matrix(n, n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[i + j * n] = n - (i > j ? i : j);
	return v;
}

static inline double *
total_identity(int n)
{
	double	   *v = matrix(n, n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[i + j * n] = 1.0 + (i == j);
	return v;
}

/* All 2-way marginals of attributes of 4 cells each: of those that agree, 2 are chosen. */
static inline double *
two_way(int n)
{
	double	   *v = matrix(n, n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
		{
			int			agree = 0;

			for (int place = 1; place < n; place *= 4)
				agree += i / place % 4 == j / place % 4;
			v[i + j * n] = agree * (agree - 1) / 2;
		}
	return v;
}

/* The paper's WDiscrete with m queries: entries 1 with probability 0.02, else -1. */
static inline double *
discrete(int n)
{
	int			m = 1024;
	double	   *w = matrix(m, n);

	for (int i = 0; i < m * n; i++)
		w[i] = uniform(0.0, 1.0) < 0.02 ? 1.0 : -1.0;
	return gram(w, m, n);
}

/* The paper's WRelated: of rank 0.4 n. */
static inline double *
related(int n)
{
	int			m = 1024;
	int			rank = n * 2 / 5;
	double	   *left = matrix(m, rank);
	double	   *right = matrix(rank, n);
	double	   *w = matrix(m, n);

	for (int i = 0; i < m * rank; i++)
		left[i] = normal();
	for (int i = 0; i < rank * n; i++)
		right[i] = normal();
	pe_la_gemm(false, false, m, n, rank, 1.0, left, m, right, rank, 0.0, w, m);
	pe_free(left);
	pe_free(right);
	return gram(w, m, n);
}

/* Columns and rows of very different sizes: diagonals from about e^-20 to e^20. */
static inline double *
badly_scaled(int m, int n)
{
	double	   *w = matrix(m, n);

	for (int j = 0; j < n; j++)
	{
		double		column = exp(uniform(-10.0, 10.0));

		for (int i = 0; i < m; i++)
			w[i + j * m] = normal() * column;
	}
	return gram(w, m, n);
}

static inline double *
diagonal(int n)
{
	double	   *v = matrix(n, n);

	for (int i = 0; i < n; i++)
		v[i + i * n] = exp(uniform(-8.0, 8.0));
	return v;
}

static inline double *
random_symmetric(int n)
{
	double	   *p = matrix(n, n);

	for (int j = 0; j < n; j++)
		for (int i = 0; i <= j; i++)
			p[i + j * n] = p[j + i * n] = normal();
	return p;
}

/* No workload's, or a very odd one's; seven kinds. */
static inline double *
odd_gram(int kind, int n)
{
	double	   *v;

	switch (kind)
	{
		case 0:
			return random_gram(1, n);
		case 1:
			return badly_scaled(n, n);
		case 2:
			return badly_scaled(2, n);
		case 3:
			return matrix(n, n);
		case 4:
			/* not positive semidefinite */
			return random_symmetric(n);
		default:
			v = random_gram(n / 2 + 1, n);
			for (int i = 0; i < n * n; i++)
				v[i] *= kind == 5 ? 1e290 : 1e-290;
			return v;
	}
}

static inline double
trace(const double *v, int n)
{
	double		sum = 0.0;

	for (int i = 0; i < n; i++)
		sum += v[i + i * n];
	return sum;
}

static inline double *
copy_of(const double *v, int n)
{
	double	   *copy = matrix(n, n);

	memcpy(copy, v, (size_t) n * (size_t) n * sizeof(double));
	return copy;
}

/* The certified F*, of V of any rank. */
static inline double
best_possible(const double *v, int n)
{
	pe_optimum	optimum;
	double		lower;

	pe_optimum_solve(v, n, 1e-9, &optimum);
	lower = optimum.lower;
	pe_optimum_free(&optimum);
	return lower;
}

/* tr(V X^-1) by another way than the methods': a Cholesky solve; NAN if X is not positive definite. */
static inline double
recomputed(const double *v, const double *x, int n)
{
	double	   *r = copy_of(x, n);
	double	   *b = copy_of(v, n);
	double		sum = NAN;

	if (pe_la_cholesky(n, r, n))
	{
		pe_la_cholesky_solve(n, n, r, n, b, n);
		sum = trace(b, n);
	}
	pe_free(r);
	pe_free(b);
	return sum;
}

static inline double
largest_diagonal(const double *x, int n)
{
	double		largest = 0.0;

	for (int i = 0; i < n; i++)
		largest = fmax(largest, x[i + i * n]);
	return largest;
}

static inline double
least_eigenvalue(const double *a, int n)
{
	double	   *copy = copy_of(a, n);
	double	   *value = matrix(n, 1);
	double	   *work = pe_alloc(pe_la_eigenvalues_work(n), sizeof(double));
	double		least;

	assert_true(pe_la_eigenvalues(n, copy, value, work));
	least = value[0];
	pe_free(copy);
	pe_free(value);
	pe_free(work);
	return least;
}

static inline bool
symmetric(const double *x, int n)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < j; i++)
			if (x[i + j * n] != x[j + i * n])
				return false;
	return true;
}

/* What a trace was told. */
#define TOLD 2048

typedef struct story
{
	int			count;
	int32_t		iteration[TOLD];
	double		objective[TOLD];
	double		measure[TOLD];
} story;

static inline void
listen(void *argument, int32_t iteration, double objective, double measure)
{
	story	   *told = argument;

	if (told->count < TOLD)
	{
		told->iteration[told->count] = iteration;
		told->objective[told->count] = objective;
		told->measure[told->count] = measure;
	}
	told->count++;
}

#endif

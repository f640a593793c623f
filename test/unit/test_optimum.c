/*
 * test_optimum.c
 *	  The strategy solver: known optima, and its certificates recomputed by
 *	  other means (long double Cholesky and Jacobi, another LAPACK driver).
 *
 * Random workloads come from a fixed seed, so failures repeat; with
 * PG_EPSILON_QUICK set there are far fewer, and none of order 1024.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"
#include "optimum/optimum_eval.h"
#include "certificate.h"
#include "numbers.h"
#include "reference_strategies.h"
#include "shim.h"

/* ---- known optima ---- */

static void
test_known(void **state)
{
	for (int i = 0; i < PE_REFERENCES; i++)
	{
		const pe_reference *k = &pe_references[i];
		pe_optimum	optimum;
		double	   *v;

		/* of hilbert fewer digits are known */
		if ((quick() && k->n > 256) || strcmp(k->name, "hilbert") == 0)
			continue;
		v = pe_test_gram(k);
		pe_optimum_solve(v, k->n, GAP, &optimum);
		if (!close_to(optimum.upper, k->optimum, 1e-6) || !close_to(optimum.lower, k->optimum, 1e-6) ||
			optimum.upper / optimum.lower - 1.0 > GAP || optimum.rank != k->rank || optimum.n != k->n)
			fail_msg("%s %d: F %.12g (%.2e), lower %.12g, rank %d, evaluations %d", k->name, k->n, optimum.upper,
					 optimum.upper / k->optimum - 1.0, optimum.lower, optimum.rank, optimum.iterations);
		if (k->n <= 256 || (k->n == 1024 && optimum.full))
			assert_true(certificate_holds(k->name, v, &optimum, 1e-9));
		pe_optimum_free(&optimum);
		pe_free(v);
	}
}

/*
 * Numerically of rank 7: the optimum is that of the part that is kept, to as much as
 * rounding leaves of it.
 */
static void
test_hilbert(void **state)
{
	double		w[16 * 16];
	double	   *v;
	pe_optimum	optimum;

	for (int j = 0; j < 16; j++)
		for (int i = 0; i < 16; i++)
			w[i + j * 16] = 1.0 / (i + j + 1);
	v = gram(w, 16, 16);
	pe_optimum_solve(v, 16, GAP, &optimum);
	if (!close_to(optimum.upper, 1.634399762, 1e-4) || !close_to(optimum.lower, 1.634399762, 1e-4) ||
		optimum.lower > optimum.upper || optimum.full)
		fail_msg("Hilbert: %.10g .. %.10g, rank %d", optimum.lower, optimum.upper, optimum.rank);
	pe_optimum_free(&optimum);
	pe_free(v);
}

/* ---- closed forms ---- */

static void
test_small(void **state)
{
	pe_optimum	optimum;

	for (int i = 0; i < 40; i++)
	{
		double		v = exp(uniform(-200.0, 200.0));

		pe_optimum_solve(&v, 1, GAP, &optimum);
		assert_true(optimum.full && optimum.rank == 1 && optimum.iterations == 1);
		assert_true(close_to(optimum.upper, v, 1e-14) && close_to(optimum.lower, v, 1e-14));
		assert_true(optimum.x[0] <= 1.0 && optimum.x[0] >= 1.0 - 1e-15);
		pe_optimum_free(&optimum);
	}
	for (int i = 0; i < 400; i++)
	{
		double		a = exp(uniform(-5.0, 5.0));
		double		c = i % 4 == 0 ? a : exp(uniform(-5.0, 5.0));
		double		b = uniform(-0.99, 0.99) * sqrt(a * c);
		double		v[4] = {a, b, b, c};
		double		x = ((a + c) - sqrt((a + c) * (a + c) - 4.0 * b * b)) / (2.0 * b);
		double		expected = (a + c - 2.0 * b * x) / (1.0 - x * x);

		pe_optimum_solve(v, 2, GAP, &optimum);
		if (!close_to(optimum.upper, expected, 1e-6) || !certificate_holds("order 2", v, &optimum, 1e-12))
			fail_msg("%g %g %g: %.12g, expected %.12g", a, b, c, optimum.upper, expected);
		pe_optimum_free(&optimum);
	}
}

static void
test_diagonal(void **state)
{
	for (int i = 0; i < 60; i++)
	{
		int			n = between(1, 40);
		double	   *v = matrix(n, n);
		double		sum = 0.0;
		pe_optimum	optimum;

		for (int j = 0; j < n; j++)
			sum += v[j + j * n] = exp(i % 2 == 0 ? uniform(-3.0, 3.0) : uniform(-12.0, 12.0));
		pe_optimum_solve(v, n, GAP, &optimum);
		assert_true(optimum.full && close_to(optimum.upper, sum, 1e-6));
		assert_true(certificate_holds("diagonal", v, &optimum, 1e-9));
		pe_optimum_free(&optimum);
		pe_free(v);
	}
}

/* One query, whatever its weights: V = ww', F* = max w^2. */
static void
test_rank_one(void **state)
{
	for (int i = 0; i < 60; i++)
	{
		int			n = between(2, 40);
		double	   *w = matrix(1, n);
		double	   *v;
		double		largest = 0.0;
		pe_optimum	optimum;

		for (int j = 0; j < n; j++)
		{
			w[j] = (i % 3 == 0 ? 1.0 : exp(uniform(-6.0, 0.0))) * (between(0, 1) ? 1.0 : -1.0);
			largest = fmax(largest, w[j] * w[j]);
		}
		v = gram(w, 1, n);
		pe_optimum_solve(v, n, GAP, &optimum);
		if (optimum.full || optimum.rank != 1 || !close_to(optimum.upper, largest, 1e-6))
			fail_msg("n %d: rank %d, %.12g, expected %.12g", n, optimum.rank, optimum.upper, largest);
		assert_true(certificate_holds("rank one", v, &optimum, 1e-9));
		pe_optimum_free(&optimum);
		pe_free(v);
		pe_free(w);
	}
}

/* ---- random workloads ---- */

enum
{
	ZERO_ONE, GAUSS, SCALED, LOW_RANK, DOMINATED, RANGES, POLYNOMIALS, INTEGERS, SPARSE, KINDS
};

static const char *const kind_names[] = {
	"zero-one", "gauss", "scaled", "low rank", "dominated", "ranges", "polynomials", "integers", "sparse"
};

static double *
random_product(int m, int rank, int n)
{
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
	return w;
}

static double *
random_workload(int kind, int *rows, int *columns)
{
	static const double density[] = {0.05, 0.2, 0.5, 0.9};
	int			n = *columns = between(1, 47);
	int			m = between(1, 79);
	double		filled = density[between(0, 3)];
	double	   *w;

	if (kind == LOW_RANK)
	{
		*rows = m;
		return random_product(m, between(1, 5), n);
	}
	if (kind == DOMINATED)
		m = between(1, 5);
	if (kind == POLYNOMIALS)
		m = n < 8 ? n : 8;
	*rows = m;
	w = matrix(m, n);
	for (int j = 0; j < n; j++)
	{
		double		column = kind == SCALED ? exp(uniform(-5.0, 5.0)) : pow(uniform(0.01, 1.0), 2.0);

		for (int i = 0; i < m; i++)
			switch (kind)
			{
				case ZERO_ONE:
					w[i + j * m] = uniform(0.0, 1.0) < filled;
					break;
				case GAUSS:
					w[i + j * m] = normal();
					break;
				case SCALED:
				case DOMINATED:
					w[i + j * m] = normal() * column;
					break;
				case POLYNOMIALS:
					w[i + j * m] = pow(n > 1 ? (double) j / (n - 1) : 0.0, m - 1 - i);
					break;
				case INTEGERS:
					w[i + j * m] = between(-50, 50);
					break;
				case SPARSE:
					w[i + j * m] = between(0, 9) == 0 ? between(-1000, 1000) : 0;
					break;
			}
	}
	for (int i = 0; i < m && (kind == SCALED || kind == RANGES); i++)
	{
		double		row = exp(uniform(-3.0, 3.0));
		int			a = between(0, n - 1);
		int			b = between(0, n - 1);

		for (int j = 0; j < n; j++)
			if (kind == SCALED)
				w[i + j * m] *= row;
			else
				w[i + j * m] = (j >= a && j <= b) || (j >= b && j <= a);
	}
	return w;
}

static void
test_random(void **state)
{
	int			turns = quick() ? 3 : 60;
	int			failures = 0;
	int			solved = 0;
	int			evaluations[KINDS] = {0};

	pe_test_seed(20161024);
	for (int turn = 0; turn < turns * KINDS; turn++)
	{
		int			kind = turn % KINDS;
		int			m;
		int			n;
		double	   *w = random_workload(kind, &m, &n);
		double	   *v = gram(w, m, n);
		int32_t    *column_of = pe_alloc((size_t) n, sizeof(int32_t));
		pe_optimum	optimum;

		n = pe_optimum_reduce(v, n, column_of);
		if (n > 0)
		{
			pe_optimum_solve(v, n, GAP, &optimum);
			solved++;
			if (optimum.iterations > evaluations[kind])
				evaluations[kind] = optimum.iterations;
			if (!certificate_holds(kind_names[kind], v, &optimum, 1e-7))
				failures++;
			pe_optimum_free(&optimum);
		}
		pe_free(column_of);
		pe_free(v);
		pe_free(w);
	}
	if (getenv("PG_EPSILON_VERBOSE") != NULL)
		for (int kind = 0; kind < KINDS; kind++)
			print_message("%s: at most %d evaluations\n", kind_names[kind], evaluations[kind]);
	assert_int_equal(failures, 0);
	assert_true(solved >= turns * KINDS * 9 / 10);
}

/* ---- reduction ---- */

static void
test_reduction(void **state)
{
	/* columns: a, 0, b, a, c, 0, b + epsilon, a */
	static const double w[] = {1, 2, 0, 0, 0, 0, 0, 1, 1, 1, 2, 0, 3, 0, 1, 0, 0, 0, 0, 1, 1.5, 1, 2, 0};
	static const int32_t expected[] = {0, -1, 1, 0, 2, -1, 3, 0};
	int32_t		column_of[8];
	double	   *v = gram(w, 3, 8);
	double	   *v0 = gram(w, 3, 8);

	assert_int_equal(pe_optimum_reduce(v, 8, column_of), 4);
	for (int i = 0; i < 8; i++)
		assert_int_equal(column_of[i], expected[i]);
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 8; j++)
			if (column_of[i] >= 0 && column_of[j] >= 0)
				assert_true(v[column_of[i] + 4 * column_of[j]] == v0[i + 8 * j]);
	/* nothing to do, and nothing left */
	assert_int_equal(pe_optimum_reduce(v, 4, column_of), 4);
	memset(v, 0, 64 * sizeof(double));
	assert_int_equal(pe_optimum_reduce(v, 8, column_of), 0);
	assert_int_equal(column_of[7], -1);
	pe_free(v);
	pe_free(v0);
}

/* F* is the same with and without the copies of columns. */
static void
test_reduction_lossless(void **state)
{
	pe_test_seed(7);
	for (int turn = 0; turn < (quick() ? 3 : 40); turn++)
	{
		int			n = between(4, 60);
		int			m = between(2, 30);
		double	   *w = matrix(m, n);
		double	   *v;
		int32_t    *column_of = pe_alloc((size_t) n, sizeof(int32_t));
		int32_t		reduced;
		pe_optimum	whole;
		pe_optimum	part;

		for (int j = 0; j < n; j++)
			if (j > 1 && between(0, 2) == 0)
				memcpy(w + j * m, w + between(0, j - 1) * m, (size_t) m * sizeof(double));
			else
				for (int i = 0; i < m; i++)
					w[i + j * m] = i == 0 ? between(1, 3) : between(-2, 2);
		v = gram(w, m, n);
		pe_optimum_solve(v, n, GAP, &whole);
		reduced = pe_optimum_reduce(v, n, column_of);
		pe_optimum_solve(v, reduced, GAP, &part);
		assert_true(whole.upper / whole.lower - 1.0 <= GAP && part.upper / part.lower - 1.0 <= GAP);
		assert_true(whole.rank == part.rank && reduced <= n);
		assert_true(part.lower <= whole.upper && whole.lower <= part.upper);
		pe_optimum_free(&whole);
		pe_optimum_free(&part);
		pe_free(column_of);
		pe_free(v);
		pe_free(w);
	}
}

/* ---- persymmetric splitting ---- */

/* V with rows and columns in another order, which hides the symmetry */
static double *
shuffled(const double *v, int n, int *order)
{
	double	   *to = matrix(n, n);

	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--)
	{
		int			j = between(0, i);
		int			t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			to[i + j * n] = v[order[i] + order[j] * n];
	return to;
}

/* The queries, and the same queries on the reversed cells. */
static double *
symmetric_gram(int m, int n)
{
	double	   *w = matrix(m, n);
	double	   *v = matrix(n, n);

	for (int i = 0; i < m * n; i++)
		w[i] = between(-3, 3);
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			for (int k = 0; k < m; k++)
				v[i + j * n] += w[k + i * m] * w[k + j * m] + w[k + (n - 1 - i) * m] * w[k + (n - 1 - j) * m];
	/* no column without a query */
	for (int i = 0; i < n; i++)
		v[i + i * n] += m < n / 2 ? 0.0 : 1.0;
	pe_free(w);
	return v;
}

static void
compare_split(const char *name, const double *v, int n)
{
	int		   *order = pe_alloc((size_t) n, sizeof(int));
	double	   *other = shuffled(v, n, order);
	pe_optimum	split;
	pe_optimum	plain;

	for (int i = 0; i < n; i++)
		if (v[i + i * n] == 0.0)
			goto done;
	pe_optimum_solve(v, n, GAP, &split);
	pe_optimum_solve(other, n, GAP, &plain);
	for (int i = 0; i < n; i++)
		assert_true(split.y[i] == split.y[n - 1 - i]);
	assert_true(split.rank == plain.rank && split.full == plain.full);
	if (split.lower > plain.upper || plain.lower > split.upper)
		fail_msg("%s %d: %.12g split, %.12g not", name, n, split.upper, plain.upper);
	assert_true(certificate_holds(name, v, &split, 1e-9));
	assert_true(certificate_holds(name, other, &plain, 1e-9));
	pe_optimum_free(&split);
	pe_optimum_free(&plain);
done:
	pe_free(other);
	pe_free(order);
}

static void
test_split(void **state)
{
	static const pe_reference symmetric[] = {
		{"all-range", 2, .v = pe_test_all_range}, {"all-range", 3, .v = pe_test_all_range}, {"all-range", 33, .v = pe_test_all_range},
		{"all-range", 40, .v = pe_test_all_range}, {"identity", 7, .v = pe_test_identity}, {"windows", 36, .v = pe_test_windows},
		{"windows", 37, .v = pe_test_windows}, {"1-way", 15, .lo = 1, .hi = 1, .dims = {3, 5}}, {"total", 9, .dims = {9}},
		{"total", 10, .dims = {10}},
	};

	pe_test_seed(99);
	for (int i = 0; i < lengthof(symmetric); i++)
	{
		double	   *v = pe_test_gram(&symmetric[i]);

		compare_split(symmetric[i].name, v, symmetric[i].n);
		pe_free(v);
	}
	for (int i = 0; i < (quick() ? 4 : 80); i++)
	{
		int			n = between(2, 40);
		double	   *v = symmetric_gram(between(1, i % 2 == 0 ? n / 2 : 40), n);

		compare_split("symmetric", v, n);
		pe_free(v);
	}
}

/* ---- nearly full rank ---- */

/* As many random ranges as cells: some columns are best weighted 0, and both methods take part. */
static void
test_nearly_full(void **state)
{
	int			seen = 0;

	pe_test_seed(41);
	for (int turn = 0; turn < (quick() ? 10 : 100); turn++)
	{
		int			cells = between(20, 90);
		double	   *w = matrix(cells, cells);
		double	   *v;
		int32_t    *column_of = pe_alloc((size_t) cells, sizeof(int32_t));
		int32_t		n;
		pe_optimum	optimum;

		for (int i = 0; i < cells; i++)
		{
			int			a = between(0, cells - 1);
			int			b = between(0, cells - 1);

			for (int j = a < b ? a : b; j <= (a < b ? b : a); j++)
				w[i + j * cells] = 1.0;
		}
		v = gram(w, cells, cells);
		n = pe_optimum_reduce(v, cells, column_of);
		pe_optimum_solve(v, n, GAP, &optimum);
		if (optimum.rank < n && optimum.rank >= 0.9 * n)
		{
			seen++;
			if (!(optimum.upper <= optimum.lower * (1.0 + GAP)) || optimum.iterations > 11)
				fail_msg("n %d, rank %d: gap %.2e, evaluations %d", n, optimum.rank, optimum.upper / optimum.lower - 1.0,
						 optimum.iterations);
			assert_true(certificate_holds("ranges", v, &optimum, 1e-9));
		}
		pe_optimum_free(&optimum);
		pe_free(column_of);
		pe_free(v);
		pe_free(w);
	}
	assert_true(seen >= 3);
}

/* ---- sums ---- */

/* V and 4 V: the roots add up, so that F* is that of 9 V, and the second X is twice the first. */
static void
test_sum(void **state)
{
	int			n = 7;
	double	   *v = matrix(n, n);
	double	   *four = matrix(n, n);
	const double *both[] = {v, four};
	pe_optimum	one;
	pe_optimum	all;
	pe_optimum	part[2];

	for (int i = 0; i < n * n; i++)
		four[i] = 4.0 * (v[i] = pe_test_all_range(n, i % n, i / n));
	pe_optimum_solve(v, n, 1e-9, &one);
	pe_optimum_solve_sum(both, 2, n, 1e-9, &all, part);
	assert_true(close_to(all.lower, 9.0 * one.lower, 2e-9) && close_to(all.upper, 9.0 * one.upper, 2e-9));
	assert_true(close_to(part[0].upper, 3.0 * one.upper, 1e-8) && close_to(part[1].upper, 6.0 * one.upper, 1e-8));
	for (int i = 0; i < n * n; i++)
	{
		assert_true(close_to(part[1].x[i], 2.0 * part[0].x[i], 1e-12));
		assert_true(fabs(part[0].x[i] + part[1].x[i] - one.x[i]) < 1e-4);
	}
	for (int g = 0; g < 2; g++)
		pe_optimum_free(&part[g]);
	pe_optimum_free(&one);
	pe_optimum_free(&all);
	pe_free(v);
	pe_free(four);
}

/* A total beside prefixes: the total's X is constant, and random y prove no more than the best. */
static void
test_sum_of_ranks(void **state)
{
	int			n = 6;
	double	   *v[2] = {matrix(n, n), matrix(n, n)};
	pe_optimum	all;
	pe_optimum	part[2];
	pe_dual		dual;

	for (int i = 0; i < n * n; i++)
	{
		v[0][i] = pe_test_prefix(n, i % n, i / n);
		v[1][i] = 25.0;
	}
	pe_optimum_solve_sum((const double *const *) v, 2, n, 1e-9, &all, part);
	assert_true(part[0].full && !part[1].full && part[1].rank == 1 && all.upper <= all.lower * (1 + 1e-9));
	for (int j = 1; j < n; j++)
		assert_true(close_to(part[1].factor[j], part[1].factor[0], 1e-9));
	pe_dual_init(&dual, (const double *const *) v, 2, n, true);
	pe_test_seed(3);
	for (int k = 0; k < 100; k++)
	{
		for (int j = 0; j < n; j++)
			dual.y[j] = all.y[j] * uniform(0.5, 1.5);
		assert_true(pe_dual_evaluate(&dual));
		assert_true(dual.trace * dual.trace / pe_dual_sum(&dual) <= all.upper);
		assert_true((dual.trace + dual.slack) * pe_dual_largest(&dual) >= all.lower);
	}
	pe_dual_free(&dual);
	for (int g = 0; g < 2; g++)
	{
		pe_optimum_free(&part[g]);
		pe_free(v[g]);
	}
	pe_optimum_free(&all);
}

/* ---- V whose inverse is tridiagonal ---- */

/* Covariance of a random Markov chain, of either sign; an independent step now and then. */
static double *
random_chain(int n)
{
	double	   *v = matrix(n, n);

	for (int j = 0; j < n; j++)
	{
		double		c = between(0, 9) == 0 ? 0 : between(-20, 20) / 16.0;

		for (int i = 0; i < j; i++)
			v[i + j * n] = v[j + i * n] = c * v[i + (j - 1) * n];
		v[j + j * n] = between(1, 9) + (j > 0 ? c * c * v[j - 1 + (j - 1) * n] : 0);
	}
	return v;
}

/* The same evaluation from the chain and from the dense matrix. */
static void
compare_chain(const double *v, int n, bool split)
{
	pe_dual		chain;
	pe_dual		dense;

	pe_dual_init(&chain, &v, 1, n, split);
	pe_dual_init(&dense, &v, 1, n, split);
	for (int b = 0; b < dense.blocks; b++)
	{
		assert_true(chain.block[b].size == 0 || chain.block[b].chain != NULL);
		pe_free(dense.block[b].chain);
		dense.block[b].chain = NULL;
	}
	pe_dual_start(&chain, chain.y);
	for (int i = 0; i < chain.order; i++)
		dense.y[i] = chain.y[i] *= between(5, 20) / 10.0;
	assert_true(pe_dual_evaluate(&chain) && pe_dual_evaluate(&dense));
	assert_true(close_to(chain.trace, dense.trace, 1e-10));
	assert_true(chain.trace_lower <= dense.trace && dense.trace_lower <= chain.trace);
	assert_true(chain.trace_lower >= chain.trace * (1 - 1e-8) && chain.slack <= 1e-7 * chain.trace);
	for (int i = 0; i < chain.order; i++)
		assert_true(close_to(chain.kappa[i], dense.kappa[i], 1e-10));
	for (int b = 0; b < dense.blocks; b++)
		for (int k = 0; k < dense.block[b].size; k++)
			assert_true(close_to(chain.block[b].s[k], dense.block[b].s[k], 1e-10));
	pe_dual_free(&chain);
	pe_dual_free(&dense);
}

static void
test_chain(void **state)
{
	static const int sizes[] = {1, 2, 3, 16, 33, 100, 256};

	pe_test_seed(23);
	for (int k = 0; k < lengthof(sizes) - quick(); k++)
	{
		pe_reference prefix = {"prefix", sizes[k], .v = pe_test_prefix};
		pe_reference ranges = {"all-range", sizes[k], .v = pe_test_all_range};
		double	   *v = pe_test_gram(&prefix);

		compare_chain(v, sizes[k], true);
		pe_free(v);
		v = pe_test_gram(&ranges);
		compare_chain(v, sizes[k], true);
		compare_chain(v, sizes[k], false);
		pe_free(v);
	}
	for (int i = 0; i < (quick() ? 20 : 200); i++)
	{
		int			n = between(1, 40);
		double	   *v = random_chain(n);

		compare_chain(v, n, false);
		pe_free(v);
	}
}

/* What is no such V, by one entry, is not taken for one; nor what is all but singular. */
static void
test_no_chain(void **state)
{
	pe_reference prefix = {"prefix", 20, .v = pe_test_prefix};
	double	   *v = pe_test_gram(&prefix);
	pe_dual_block block = {.size = 20, .v = v};

	pe_dual_find_chain(&block);
	assert_non_null(block.chain);
	pe_free(block.chain);
	for (int i = 0; i < 18; i++)
		for (int j = i + 2; j < 20; j++)
		{
			double		before = v[j + i * 20];

			v[j + i * 20] *= 1 + 1e-14;
			pe_dual_find_chain(&block);
			assert_null(block.chain);
			v[j + i * 20] = before;
		}
	v[0] = v[1] * (1 + 1e-13);
	pe_dual_find_chain(&block);
	assert_null(block.chain);
	pe_free(v);
}

/* ---- the host ---- */

/* Columns of ones beside columns of millions: none of them may be lost in the rank. */
static void
test_scales(void **state)
{
	for (int size = 1; size <= 10000000; size *= 10)
	{
		const double w[] = {0, -1, 0, 1, -1.3 * size, 1, 4.2 * size, 0, 4.1 * size, 2, 3.4 * size, -1};
		double	   *v = gram(w, 2, 6);
		pe_optimum	result;

		pe_optimum_solve(v, 6, GAP, &result);
		assert_int_equal(result.rank, 2);
		assert_true(result.lower > 0.0 && result.upper <= result.lower * (1.0 + GAP));
		pe_optimum_free(&result);
		pe_free(v);
	}
}

static void
test_host(void **state)
{
	pe_reference k = {"prefix", 48, .v = pe_test_prefix};
	double	   *v = pe_test_gram(&k);
	uint64_t	polls = pe_test_polls();
	uint64_t	steps = pe_test_steps();
	pe_optimum	optimum;

	pe_optimum_solve(v, k.n, GAP, &optimum);
	assert_true(optimum.iterations >= 2);
	assert_int_equal(pe_test_steps() - steps, optimum.iterations);
	/* between the parts of each eigendecomposition, and around it */
	assert_true(pe_test_polls() - polls >= 5 * (uint64_t) optimum.iterations);
	pe_optimum_free(&optimum);
	/* nothing better than rounding: bounds stay honest, and it ends */
	pe_optimum_solve(v, k.n, 0.0, &optimum);
	assert_true(optimum.lower <= optimum.upper && optimum.upper / optimum.lower - 1.0 <= 1e-9);
	assert_true(optimum.iterations <= 60);
	pe_optimum_free(&optimum);
	pe_free(v);
	for (int n = 256; n <= PE_OPTIMUM_CELLS; n *= 2)
		assert_true(pe_optimum_memory(n) <= 48 * (size_t) n * (size_t) n);
	assert_true(pe_la_single_thread());
}

static void
solve_order_two(void *v)
{
	pe_optimum	optimum;

	pe_optimum_solve(v, 2, GAP, &optimum);
}

static void
test_refusals(void **state)
{
	double		infinite[] = {1.0, 0.0, 0.0, INFINITY};
	double		nothing[] = {1.0, NAN, NAN, 1.0};
	double		empty[] = {1.0, 0.0, 0.0, 0.0};

	assert_true(pe_test_is_bug(solve_order_two, infinite));
	assert_true(pe_test_is_bug(solve_order_two, nothing));
	assert_true(pe_test_is_bug(solve_order_two, empty));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_hilbert),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_diagonal),
		cmocka_unit_test(test_rank_one),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_reduction),
		cmocka_unit_test(test_reduction_lossless),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_nearly_full),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_sum_of_ranks),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_no_chain),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_refusals),
	};

	pe_test_seed(20161024);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

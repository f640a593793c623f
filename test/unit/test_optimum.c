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
#include "strategy/optimum.h"
#include "certificate.h"
#include "numbers.h"
#include "shim.h"

/* ---- known optima ---- */

typedef double (*entry) (int n, int i, int j);

static double
all_range(int n, int i, int j)
{
	return ((i < j ? i : j) + 1.0) * (n - (i > j ? i : j));
}

static double
prefix(int n, int i, int j)
{
	return n - (i > j ? i : j);
}

static double
identity(int n, int i, int j)
{
	return i == j;
}

static double
total_identity(int n, int i, int j)
{
	return 1.0 + (i == j);
}

/* windows of n/4 cells on a circle */
static double
windows(int n, int i, int j)
{
	int			distance = abs(i - j);

	return fmax(n / 4 - distance, 0.0) + fmax(n / 4 - (n - distance), 0.0);
}

static double
prefix_square(int n, int i, int j)
{
	return prefix(16, i / 16, j / 16) * prefix(16, i % 16, j % 16);
}

static double
range_groups(int n, int i, int j)
{
	return all_range(16, i / 4, j / 4) * (i % 4 == j % 4);
}

/* age n/32, sex 2, race 8, hispanic 2: total; sex x race x hispanic; prefixes of age x sex; age x race; age x sex x hispanic */
static double
census(int n, int i, int j)
{
	int			ages = n / 32;
	bool		age = i / 32 == j / 32;
	bool		sex = i / 16 % 2 == j / 16 % 2;
	bool		race = i / 2 % 8 == j / 2 % 8;
	bool		hispanic = i % 2 == j % 2;

	return 1.0 + (sex && race && hispanic) + sex * prefix(ages, i / 32, j / 32)
		+ (age && race) + (age && sex && hispanic);
}

/* total and differences of halves, unweighted */
static double
haar(int n, int i, int j)
{
	double		sum = 1.0;

	for (int width = n; width > 1; width /= 2)
		if (i / width == j / width)
			sum += i / (width / 2) == j / (width / 2) ? 1.0 : -1.0;
	return sum;
}

/* Sum over lo <= k <= hi of all k-way marginals: (attributes that agree choose k). */
static double
marginals(const int *dims, int lo, int hi, int i, int j)
{
	int			agree = 0;
	double		sum = 0.0;

	for (int a = 0; dims[a] > 0; a++)
	{
		agree += i % dims[a] == j % dims[a];
		i /= dims[a];
		j /= dims[a];
	}
	for (int k = lo; k <= hi; k++)
	{
		double		choose = 1.0;

		for (int l = 0; l < k; l++)
			choose = choose * (agree - l) / (l + 1);
		sum += choose;
	}
	return sum;
}

typedef struct known
{
	const char *name;
	double		optimum;
	int			n;
	int			rank;
	entry		v;				/* NULL: marginals */
	int			lo;
	int			hi;
	int			dims[12];
} known;

static double *
build(const known *k)
{
	double	   *v = matrix(k->n, k->n);

	for (int j = 0; j < k->n; j++)
		for (int i = 0; i < k->n; i++)
			v[i + (size_t) j * (size_t) k->n] =
				k->v != NULL ? k->v(k->n, i, j) : marginals(k->dims, k->lo, k->hi, i, j);
	return v;
}

static const known known_optima[] = {
	{"all-range", 3.732050808, 2, 2, .v = all_range},
	{"prefix", 2.618033989, 2, 2, .v = prefix},
	{"all-range", 16.44088734, 4, 4, .v = all_range},
	{"prefix", 6.874144097, 4, 4, .v = prefix},
	{"all-range", 413.1402168, 16, 16, .v = all_range},
	{"prefix", 45.66535681, 16, 16, .v = prefix},
	{"all-range", 11024.3815, 64, 64, .v = all_range},
	{"prefix", 282.2014211, 64, 64, .v = prefix},
	{"all-range", 276929.3084, 256, 256, .v = all_range},
	{"prefix", 1631.403045, 256, 256, .v = prefix},
	{"all-range", 6484329, 1024, 1024, .v = all_range},
	{"prefix", 8944.329194, 1024, 1024, .v = prefix},
	{"identity", 16, 16, 16, .v = identity},
	{"identity", 64, 64, 64, .v = identity},
	{"identity", 256, 256, 256, .v = identity},
	{"total+identity", 22.85582305, 16, 16, .v = total_identity},
	{"total+identity", 78.90381994, 64, 64, .v = total_identity},
	{"total+identity", 286.9450077, 256, 256, .v = total_identity},
	{"total+identity", 1086.970665, 1024, 1024, .v = total_identity},
	{"cyclic windows", 36.99179695, 16, 13, .v = windows},
	{"cyclic windows", 269.5710565, 64, 49, .v = windows},
	{"cyclic windows", 1710.563339, 256, 193, .v = windows},
	{"1-way of 4x4", 13.74264069, 16, 7, NULL, 1, 1, {4, 4}},
	{"1-way of 4x4x4", 28.79422863, 64, 10, NULL, 1, 1, {4, 4, 4}},
	{"2-way of 4x4x4", 107.4330844, 64, 37, NULL, 2, 2, {4, 4, 4}},
	{"2-way of 2^6", 260.6511962, 64, 22, NULL, 2, 2, {2, 2, 2, 2, 2, 2}},
	{"2-way of 2^8", 741.4051835, 256, 37, NULL, 2, 2, {2, 2, 2, 2, 2, 2, 2, 2}},
	{"2-way of 2^10", 1669.057647, 1024, 56, NULL, 2, 2, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
	{"3-way of 2^10", 12659.08373, 1024, 176, NULL, 3, 3, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2}},
	{"2-way of 8x8x8", 497.4602506, 512, 169, NULL, 2, 2, {8, 8, 8}},
	{"2-way of 4^5", 948.0591649, 1024, 106, NULL, 2, 2, {4, 4, 4, 4, 4}},
	{"2-way of 2x3x5", 61.46296197, 30, 22, NULL, 2, 2, {2, 3, 5}},
	{"1-way of 2x3x5", 21.7826788, 30, 8, NULL, 1, 1, {2, 3, 5}},
	{"1-way of 10x10", 37.69116882, 100, 19, NULL, 1, 1, {10, 10}},
	{"2-way of 5x7x9", 355.7183956, 315, 123, NULL, 2, 2, {5, 7, 9}},
	{"0..3-way of 5x7x9", 1282.367416, 315, 315, NULL, 0, 3, {5, 7, 9}},
	{"prefix16 x prefix16", 2085.324813, 256, 256, .v = prefix_square},
	{"all-range16 x identity4", 1652.560867, 64, 64, .v = range_groups},
	{"census-like", 153.5495521, 64, 43, .v = census},
	{"census-like", 472.9368936, 256, 109, .v = census},
	{"haar", 67.9411255, 16, 16, .v = haar},
	{"haar", 320.391919, 64, 64, .v = haar},
};

static void
test_known(void **state)
{
	for (int i = 0; i < lengthof(known_optima); i++)
	{
		const known *k = &known_optima[i];
		pe_optimum	optimum;
		double	   *v;

		if (quick() && k->n > 256)
			continue;
		v = build(k);
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
	static const known symmetric[] = {
		{"all-range", 0, 2, 2, .v = all_range}, {"all-range", 0, 3, 3, .v = all_range}, {"all-range", 0, 33, 33, .v = all_range},
		{"all-range", 0, 40, 40, .v = all_range}, {"identity", 0, 7, 7, .v = identity}, {"windows", 0, 36, 0, .v = windows},
		{"windows", 0, 37, 0, .v = windows}, {"1-way", 0, 15, 0, NULL, 1, 1, {3, 5}}, {"total", 0, 9, 1, NULL, 0, 0, {9}},
		{"total", 0, 10, 1, NULL, 0, 0, {10}},
	};

	pe_test_seed(99);
	for (int i = 0; i < lengthof(symmetric); i++)
	{
		double	   *v = build(&symmetric[i]);

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
	known		k = {"prefix", 0, 48, 48, .v = prefix};
	double	   *v = build(&k);
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
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_refusals),
	};

	pe_test_seed(20161024);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * reference_strategies.h
 *	  Workloads whose optimum is known, and what other strategies cost there.
 *
 * The values were computed by independent programs in Python (NumPy), the optima to 10
 * digits but for hilbert (2.5e-5).  Of a strategy the ratio of its root mean squared
 * error to the optimum is given, to four decimals; 0 where none was computed.
 */
#ifndef PE_TEST_REFERENCE_STRATEGIES_H
#define PE_TEST_REFERENCE_STRATEGIES_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

typedef struct pe_reference
{
	const char *name;
	int			n;
	int			queries;
	int			rank;
	double		optimum;		/* F* */
	double		(*v) (int n, int i, int j);	/* V_ij; NULL: marginals */
	int			lo;				/* all marginals of lo to hi attributes */
	int			hi;
	int			dims[12];
	double		identity;		/* every column */
	double		gaussian;		/* the queries themselves */
	double		wavelet;		/* Haar */
	double		weighted;		/* Haar, optimal weights of levels */
	double		binary;			/* the tree of two children, with its root */
	double		tree;			/* the best complete tree of b^h leaves, with its root, and */
	int			branching;		/* its b */
	double		adaptive;		/* weighted eigenvectors, columns not completed */
} pe_reference;

static inline double
pe_test_all_range(int n, int i, int j)
{
	return ((i < j ? i : j) + 1.0) * (n - (i > j ? i : j));
}

static inline double
pe_test_prefix(int n, int i, int j)
{
	return n - (i > j ? i : j);
}

static inline double
pe_test_identity(int n, int i, int j)
{
	return i == j;
}

static inline double
pe_test_total_identity(int n, int i, int j)
{
	return 1.0 + (i == j);
}

/* windows of n/4 cells on a circle */
static inline double
pe_test_windows(int n, int i, int j)
{
	int			distance = abs(i - j);

	return fmax(n / 4 - distance, 0.0) + fmax(n / 4 - (n - distance), 0.0);
}

static inline double
pe_test_prefix_square(int n, int i, int j)
{
	return pe_test_prefix(16, i / 16, j / 16) * pe_test_prefix(16, i % 16, j % 16);
}

static inline double
pe_test_range_groups(int n, int i, int j)
{
	return pe_test_all_range(16, i / 4, j / 4) * (i % 4 == j % 4);
}

/* age n/32, sex 2, race 8, hispanic 2: total; sex x race x hispanic; prefixes of age x sex; age x race; age x sex x hispanic */
static inline double
pe_test_census(int n, int i, int j)
{
	int			ages = n / 32;
	bool		age = i / 32 == j / 32;
	bool		sex = i / 16 % 2 == j / 16 % 2;
	bool		race = i / 2 % 8 == j / 2 % 8;
	bool		hispanic = i % 2 == j % 2;

	return 1.0 + (sex && race && hispanic) + sex * pe_test_prefix(ages, i / 32, j / 32)
		+ (age && race) + (age && sex && hispanic);
}

/* total and differences of halves, unweighted */
static inline double
pe_test_haar(int n, int i, int j)
{
	double		sum = 1.0;

	for (int width = n; width > 1; width /= 2)
		if (i / width == j / width)
			sum += i / (width / 2) == j / (width / 2) ? 1.0 : -1.0;
	return sum;
}

/* W_ki = 1 / (k + i + 1) */
static inline double
pe_test_hilbert(int n, int i, int j)
{
	double		sum = 0.0;

	for (int k = 0; k < n; k++)
		sum += 1.0 / (k + i + 1) / (k + j + 1);
	return sum;
}

/* The k-way marginals in which two cells are together: (attributes that agree choose k). */
static inline double
pe_test_marginals(const pe_reference *reference, int i, int j)
{
	int			agree = 0;
	double		sum = 0.0;

	for (int a = 0; reference->dims[a] > 0; a++)
	{
		agree += i % reference->dims[a] == j % reference->dims[a];
		i /= reference->dims[a];
		j /= reference->dims[a];
	}
	for (int k = reference->lo; k <= reference->hi; k++)
	{
		double		choose = 1.0;

		for (int l = 0; l < k; l++)
			choose = choose * (agree - l) / (l + 1);
		sum += choose;
	}
	return sum;
}

/* V, n x n */
static inline double *
pe_test_gram(const pe_reference *reference)
{
	int			n = reference->n;
	double	   *v = pe_alloc((size_t) n * (size_t) n, sizeof(double));

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[(size_t) i + (size_t) j * (size_t) n] =
				reference->v != NULL ? reference->v(n, i, j) : pe_test_marginals(reference, i, j);
	return v;
}

static const pe_reference pe_references[] = {
	{"all-range", 2, 3, 2, 3.732050808, .v = pe_test_all_range,
		.identity = 1.0353, .gaussian = 1.2679, .wavelet = 1.0353, .weighted = 1, .binary = 1.0353, .tree = 1.0353, .branching = 2, .adaptive = 1},
	{"prefix", 2, 2, 2, 2.618033989, .v = pe_test_prefix,
		.identity = 1.0705, .gaussian = 1.2361, .wavelet = 1.0705, .weighted = 1, .binary = 1.0092, .tree = 1.0092, .branching = 2, .adaptive = 1.0515},
	{"all-range", 4, 10, 4, 16.44088734, .v = pe_test_all_range,
		.identity = 1.1029, .gaussian = 1.9104, .wavelet = 1.0463, .weighted = 1.0155, .binary = 1.1263, .tree = 1.1029, .branching = 4, .adaptive = 1.0133},
	{"prefix", 4, 4, 4, 6.874144097, .v = pe_test_prefix,
		.identity = 1.2061, .gaussian = 1.5256, .wavelet = 1.0955, .weighted = 1.0255, .binary = 1.0593, .tree = 1.0593, .branching = 2, .adaptive = 1.0942},
	{"all-range", 16, 136, 16, 413.1402168, .v = pe_test_all_range,
		.identity = 1.4054, .gaussian = 4.8684, .wavelet = 1.1155, .weighted = 1.0841, .binary = 1.2616, .tree = 1.2557, .branching = 4, .adaptive = 1.0323},
	{"prefix", 16, 16, 16, 45.66535681, .v = pe_test_prefix,
		.identity = 1.7257, .gaussian = 2.3677, .wavelet = 1.1492, .weighted = 1.0933, .binary = 1.1473, .tree = 1.1473, .branching = 2, .adaptive = 1.1674},
	{"all-range", 64, 2080, 64, 11024.3815, .v = pe_test_all_range,
		.identity = 2.0374, .gaussian = 14.1152, .wavelet = 1.1739, .weighted = 1.1457, .binary = 1.3095, .tree = 1.3095, .branching = 2, .adaptive = 1.0325},
	{"prefix", 64, 64, 64, 282.2014211, .v = pe_test_prefix,
		.identity = 2.7149, .gaussian = 3.8098, .wavelet = 1.1931, .weighted = 1.1451, .binary = 1.199, .tree = 1.199, .branching = 2, .adaptive = 1.2221},
	{"all-range", 256, 32896, 256, 276929.3084, .v = pe_test_all_range,
		.identity = 3.1962, .gaussian = 44.2881, .wavelet = 1.208, .weighted = 1.1844, .binary = 1.3219, .tree = 1.3219, .branching = 2, .adaptive = 1.0291},
	{"prefix", 256, 256, 256, 1631.403045, .v = pe_test_prefix,
		.identity = 4.4905, .gaussian = 6.3381, .wavelet = 1.2221, .weighted = 1.1792, .binary = 1.2289, .tree = 1.2289, .branching = 2, .adaptive = 1.26},
	{"all-range", 1024, 524800, 1024, 6484329, .v = pe_test_all_range,
		.identity = 5.2611, .gaussian = 145.8002, .wavelet = 1.2286, .weighted = 1.2086, .binary = 1.3241, .tree = 1.3241, .branching = 2},
	{"prefix", 1024, 1024, 1024, 8944.329194, .v = pe_test_prefix,
		.identity = 7.6599, .gaussian = 10.8274, .wavelet = 1.2409, .weighted = 1.2021, .binary = 1.2472, .tree = 1.2472, .branching = 2},
	{"identity", 16, 16, 16, 16, .v = pe_test_identity,
		.identity = 1, .gaussian = 1, .wavelet = 1.296, .weighted = 1, .binary = 1.7427, .tree = 1.372, .branching = 16, .adaptive = 1},
	{"identity", 64, 64, 64, 64, .v = pe_test_identity,
		.identity = 1, .gaussian = 1, .wavelet = 1.5279, .weighted = 1, .binary = 2.0609, .tree = 1.4033, .branching = 64, .adaptive = 1},
	{"identity", 256, 256, 256, 256, .v = pe_test_identity,
		.identity = 1, .gaussian = 1, .wavelet = 1.7321, .weighted = 1, .binary = 2.3367, .tree = 1.4115, .branching = 256, .adaptive = 1},
	{"total+identity", 16, 17, 16, 22.85582305, .v = pe_test_total_identity,
		.identity = 1.1833, .gaussian = 1.2197, .wavelet = 1.1809, .weighted = 1, .binary = 1.4963, .tree = 1.1833, .branching = 16, .adaptive = 1},
	{"total+identity", 64, 65, 64, 78.90381994, .v = pe_test_total_identity,
		.identity = 1.2737, .gaussian = 1.2836, .wavelet = 1.4079, .weighted = 1, .binary = 1.8681, .tree = 1.2737, .branching = 64, .adaptive = 1},
	{"total+identity", 256, 257, 256, 286.9450077, .v = pe_test_total_identity,
		.identity = 1.3358, .gaussian = 1.3384, .wavelet = 1.6456, .weighted = 1, .binary = 2.2107, .tree = 1.3358, .branching = 256, .adaptive = 1},
	{"total+identity", 1024, 1025, 1024, 1086.970665, .v = pe_test_total_identity,
		.identity = 1.3726, .gaussian = 1.3733, .wavelet = 1.8613, .weighted = 1, .binary = 2.5084, .tree = 1.3726, .branching = 1024},
	{"cyclic windows", 16, 16, 13, 36.99179695, .v = pe_test_windows,
		.identity = 1.3153, .gaussian = 1.3153, .wavelet = 1.2089, .weighted = 1.154, .binary = 1.4557, .tree = 1.4557, .branching = 2, .adaptive = 1},
	{"cyclic windows", 64, 64, 49, 269.5710565, .v = pe_test_windows,
		.identity = 1.949, .gaussian = 1.949, .wavelet = 1.2937, .weighted = 1.2503, .binary = 1.4862, .tree = 1.4862, .branching = 2, .adaptive = 1},
	{"cyclic windows", 256, 256, 193, 1710.563339, .v = pe_test_windows,
		.identity = 3.0949, .gaussian = 3.0949, .wavelet = 1.3436, .weighted = 1.3084, .binary = 1.4982, .tree = 1.4982, .branching = 2, .adaptive = 1},
	{"1-way of 4x4", 16, 8, 7, 13.74264069, .lo = 1, .hi = 1, .dims = {4, 4},
		.identity = 1.5259, .gaussian = 1.079, .adaptive = 1},
	{"1-way of 4x4x4", 64, 12, 10, 28.79422863, .lo = 1, .hi = 1, .dims = {4, 4, 4},
		.identity = 2.5822, .gaussian = 1.1181, .adaptive = 1},
	{"2-way of 4x4x4", 64, 48, 37, 107.4330844, .lo = 2, .hi = 2, .dims = {4, 4, 4},
		.identity = 1.3368, .gaussian = 1.1577, .adaptive = 1},
	{"2-way of 2^6", 64, 60, 22, 260.6511962, .lo = 2, .hi = 2, .dims = {2, 2, 2, 2, 2, 2},
		.identity = 1.9191, .gaussian = 1.8582, .adaptive = 1},
	{"2-way of 2^8", 256, 112, 37, 741.4051835, .lo = 2, .hi = 2, .dims = {2, 2, 2, 2, 2, 2, 2, 2},
		.identity = 3.1094, .gaussian = 2.0566, .adaptive = 1},
	{"2-way of 2^10", 1024, 180, 56, 1669.057647, .lo = 2, .hi = 2, .dims = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
		.identity = 5.2544, .gaussian = 2.203},
	{"3-way of 2^10", 1024, 960, 176, 12659.08373, .lo = 3, .hi = 3, .dims = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2},
		.identity = 3.1156, .gaussian = 3.0167},
	{"2-way of 8x8x8", 512, 192, 169, 497.4602506, .lo = 2, .hi = 2, .dims = {8, 8, 8},
		.identity = 1.7572, .gaussian = 1.076},
	{"2-way of 4x4x4x4x4", 1024, 160, 106, 948.0591649, .lo = 2, .hi = 2, .dims = {4, 4, 4, 4, 4},
		.identity = 3.2865, .gaussian = 1.2991},
	{"2-way of 2x3x5", 30, 31, 22, 61.46296197, .lo = 2, .hi = 2, .dims = {2, 3, 5},
		.identity = 1.2101, .gaussian = 1.2301, .adaptive = 1},
	{"1-way of 2x3x5", 30, 10, 8, 21.7826788, .lo = 1, .hi = 1, .dims = {2, 3, 5},
		.identity = 2.0327, .gaussian = 1.1736, .adaptive = 1},
	{"1-way of 10x10", 100, 20, 19, 37.69116882, .lo = 1, .hi = 1, .dims = {10, 10},
		.identity = 2.3035, .gaussian = 1.0302, .adaptive = 1},
	{"2-way of 5x7x9", 315, 143, 123, 355.7183956, .lo = 2, .hi = 2, .dims = {5, 7, 9},
		.identity = 1.6299, .gaussian = 1.0982},
	{"0..3-way of 5x7x9", 315, 480, 315, 1282.367416, .lo = 0, .hi = 3, .dims = {5, 7, 9},
		.identity = 1.4018, .gaussian = 1.7305},
	{"prefix16 x prefix16", 256, 256, 256, 2085.324813, .v = pe_test_prefix_square,
		.identity = 2.9782, .gaussian = 5.606, .adaptive = 1.2662},
	{"all-range16 x identity4", 64, 544, 64, 1652.560867, .v = pe_test_range_groups,
		.identity = 1.4054, .gaussian = 4.8684, .adaptive = 1.0323},
	{"census-like", 64, 61, 43, 153.5495521, .v = pe_test_census,
		.identity = 1.5141, .gaussian = 1.5439, .adaptive = 1.0092},
	{"census-like", 256, 145, 109, 472.9368936, .v = pe_test_census,
		.identity = 2.145, .gaussian = 1.9181, .adaptive = 1.0182},
	{"hilbert", 16, 16, 7, 1.634399762, .v = pe_test_hilbert,
		.identity = 1.4959, .gaussian = 3.9383, .adaptive = 1.1992},
	{"haar", 16, 16, 16, 67.9411255, .v = pe_test_haar,
		.identity = 1.0851, .gaussian = 1.0851, .wavelet = 1.0851, .weighted = 1, .binary = 1.3619, .tree = 1.315, .branching = 4, .adaptive = 1},
	{"haar", 64, 64, 64, 320.391919, .v = pe_test_haar,
		.identity = 1.1825, .gaussian = 1.1825, .wavelet = 1.1825, .weighted = 1, .binary = 1.4952, .tree = 1.4153, .branching = 4, .adaptive = 1},
};

#define PE_REFERENCES ((int) (sizeof(pe_references) / sizeof(pe_references[0])))

#endif

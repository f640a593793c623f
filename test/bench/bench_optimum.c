/*
 * bench_optimum.c
 *	  Time and memory of the strategy solver, one thread, gap 1e-6.
 *
 * CPU time, best of five, in units of the best DGEMM of the same order in the
 * same run (2 n^3 operations), and the most memory that was allocated at one
 * time, with V, in units of n^2 bytes.  Allocations are counted by wrapping
 * pe_alloc and pe_free (see the Makefile).
 *
 *	 bench_optimum [n ...]		default: 256 1024 2048
 */
#define _POSIX_C_SOURCE 200809L
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/linalg.h"
#include "core/mem.h"
#include "core/optimum.h"
#include "shim.h"

#define RUNS 5
#define QUERIES 1024

extern void *__real_pe_alloc(size_t count, size_t size);
extern void __real_pe_free(void *p);
extern void *__wrap_pe_alloc(size_t count, size_t size);
extern void __wrap_pe_free(void *p);

static size_t taken = 0;
static size_t most = 0;

void *
__wrap_pe_alloc(size_t count, size_t size)
{
	void	   *p = __real_pe_alloc(count, size);

	taken += malloc_usable_size(p);
	most = taken > most ? taken : most;
	return p;
}

void
__wrap_pe_free(void *p)
{
	if (p != NULL)
		taken -= malloc_usable_size(p);
	__real_pe_free(p);
}

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static void
all_range(double *v, int n)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[i + (size_t) j * (size_t) n] = ((i < j ? i : j) + 1.0) * (n - (i > j ? i : j));
}

static void
prefix(double *v, int n)
{
	for (int j = 0; j < n; j++)
		for (int i = 0; i < n; i++)
			v[i + (size_t) j * (size_t) n] = n - (i > j ? i : j);
}

/* 1024 queries of random signs, +1 with probability 0.02 */
static void
discrete(double *v, int n)
{
	double	   *w = pe_alloc((size_t) QUERIES * (size_t) n, sizeof(double));
	uint64_t	word;

	pe_test_seed(2);
	for (size_t i = 0; i < (size_t) QUERIES * (size_t) n; i++)
	{
		pe_random_bytes(&word, sizeof(word));
		w[i] = word % 50 == 0 ? 1.0 : -1.0;
	}
	pe_la_syrk(true, n, QUERIES, 1.0, w, QUERIES, 0.0, v, n);
	pe_la_mirror(n, v, n);
	pe_free(w);
}

static double
multiplication(int n)
{
	size_t		size = (size_t) n * (size_t) n;
	double	   *a = pe_alloc(3 * size, sizeof(double));
	double		best = INFINITY;

	for (size_t i = 0; i < 2 * size; i++)
		a[i] = 1.0 / (1.0 + (double) (i % 97));
	for (int i = 0; i < (n > 1024 ? 3 : 2 * RUNS); i++)
	{
		double		start = cpu_seconds();

		pe_la_gemm(false, false, n, n, n, 1.0, a, n, a + size, n, 0.0, a + 2 * size, n);
		best = fmin(best, cpu_seconds() - start);
	}
	pe_free(a);
	return best;
}

static void
measure(const char *name, void (*build) (double *v, int n), int n)
{
	double	   *v = pe_alloc((size_t) n * (size_t) n, sizeof(double));
	double		unit = multiplication(n);
	double		best = INFINITY;
	pe_optimum	optimum;

	build(v, n);
	most = taken;
	for (int i = 0; i < (n > 1024 ? 2 : RUNS); i++)
	{
		double		start = cpu_seconds();

		pe_optimum_solve(v, n, 1e-6, &optimum);
		best = fmin(best, cpu_seconds() - start);
		if (i + 1 < (n > 1024 ? 2 : RUNS))
			pe_optimum_free(&optimum);
	}
	printf("%-10s %5d %5d %12.1f %10.1f %8.1f %8.1f %8.1f %6d %10.2e   %.10g\n", name, n, optimum.rank, unit * 1e3, best * 1e3,
		   best / unit, (double) most / n / n, (double) pe_optimum_memory(n) / n / n,
		   optimum.iterations, optimum.upper / optimum.lower - 1.0, optimum.upper);
	fflush(stdout);
	pe_optimum_free(&optimum);
	pe_free(v);
}

int
main(int argc, char **argv)
{
	static const int orders[] = {256, 1024, 2048};
	int			count = argc > 1 ? argc - 1 : 3;

	pe_la_single_thread();
	printf("%-10s %5s %5s %12s %10s %8s %8s %8s %6s %10s   %s\n", "workload", "n", "rank", "DGEMM, ms", "solver, ms",
		   "ratio", "B / n^2", "promised", "evals", "gap", "F");
	for (int i = 0; i < count; i++)
	{
		int			n = argc > 1 ? atoi(argv[i + 1]) : orders[i];

		measure("all-range", all_range, n);
		measure("prefix", prefix, n);
		measure("discrete", discrete, n);
	}
	return 0;
}

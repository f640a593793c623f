/*
 * bench_dawa.c
 *	  Errors of dawa and of the L1 optimum on real counts, by simulated releases.
 *
 *	 bench_dawa [runs [cells ...]]		default: 200 256 512 1024
 *
 * Net trace and search log (DATA, or ../shared/data; skipped if they are not there),
 * 4,096 counts of which neighbours are added up until so many cells are left; all
 * ranges; the same pure epsilon for both.  A line for each: the mean squared error of
 * a query, its standard error over the runs, for dawa the part of it that is bias
 * within buckets and how many buckets there were on average, and dawa's error over the optimum's.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/linalg.h"
#include "blocks/reconstruct.h"
#include "strategy/strategy.h"
#include "counts/dawa.h"
#include "noise/noise.h"
#include "methods/make.h"
#include "shim.h"
#include "allowance.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define FILE_CELLS 4096
#define SEED 20240611

static const char *const files[] = {"hist1d_nettrace/nettrace.csv", "hist1d_searchlogs/searchlogs.csv"};
static const int64_t nano_epsilons[] = {100000000, 10000000};

/* Workload, what is measured by it, and the counts. */
typedef struct bench
{
	int			cells;
	int			runs;
	pe_workload workload;
	pe_classes	classes;
	double	   *v;
	pe_strategy optimum;
	int64_t	   *count;
} bench;

/* Mean and standard error over runs. */
typedef struct summary
{
	int			n;
	double		sum;
	double		squares;
} summary;

static void
add(summary *s, double x)
{
	s->n++;
	s->sum += x;
	s->squares += x * x;
}

static double
mean_of(const summary *s)
{
	return s->sum / s->n;
}

static double
error_of(const summary *s)
{
	double		mean = mean_of(s);

	return sqrt((s->squares / s->n - mean * mean) / (s->n - 1));
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* Reads "bin,count" lines, neighbours added up; false if there is no such file. */
static bool
read_counts(const char *name, bench *b)
{
	const char *folder = getenv("DATA");
	char		path[4096];
	char		line[80];
	FILE	   *file;
	int			bin;
	long long	count;

	snprintf(path, sizeof(path), "%s/%s", folder != NULL && folder[0] != '\0' ? folder : "../shared/data", name);
	file = fopen(path, "r");
	if (file == NULL)
	{
		printf("%s is not there\n", path);
		return false;
	}
	memset(b->count, 0, (size_t) b->cells * sizeof(*b->count));
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "%d,%lld", &bin, &count) == 2 && bin >= 0 && bin < FILE_CELLS)
			b->count[bin * b->cells / FILE_CELLS] += count;
	fclose(file);
	return true;
}

/* e'V e / m: the mean squared error of a query for errors e of the cells. */
static double
error_per_query(const bench *b, const double *e)
{
	double	   *ve = calloc((size_t) b->cells, sizeof(double));
	double		sum = 0;

	pe_la_gemv(false, b->cells, b->cells, 1, b->v, b->cells, e, 0, ve);
	for (int i = 0; i < b->cells; i++)
		sum += e[i] * ve[i];
	free(ve);
	return sum / b->workload.queries;
}

static void
prepare(bench *b)
{
	const pe_workload *workload = &b->workload;
	pe_text_error error;
	pe_strategy_problem problem = {
		.workload = workload, .classes = &b->classes, .method = PE_METHOD_OPTIMAL, .objective = PE_SUM, .norm = PE_L1, .gap = 1e-6
	};
	char		text[40];

	snprintf(text, sizeof(text), "all_range(%d)", b->cells);
	if (!pe_workload_parse(text, NULL, &b->workload, &error))
		pe_bug(error.message);
	pe_classes_init(&workload, 1, &b->classes);
	b->v = calloc((size_t) b->cells * (size_t) b->cells, sizeof(double));
	pe_workload_gram(workload, &b->classes, true, b->v);
	if (pe_strategy_make(&problem, &b->optimum) != PE_STRATEGY_OK || b->optimum.columns != b->cells)
		pe_bug("no strategy");
	b->count = calloc((size_t) b->cells, sizeof(*b->count));
}

/* The optimum: its error is the same whatever the counts are. */
static void
run_optimum(const bench *b, int64_t nano, summary *s)
{
	int			rows = b->optimum.rows;
	pe_i128    *exact = calloc((size_t) rows, sizeof(*exact));
	int64_t    *y = calloc((size_t) rows, sizeof(*y));
	double	   *e = calloc((size_t) b->cells, sizeof(*e));
	pe_u128		sensitivity;

	if (!pe_strategy_sensitivity_l1(&b->optimum, PE_ADD_REMOVE, 1, &sensitivity))
		pe_bug("no sensitivity");
	for (int run = 0; run < b->runs; run++)
	{
		pe_strategy_apply(&b->optimum, b->count, exact);
		pe_noise_draw(plenty(true), sensitivity, nano, exact, (size_t) rows, y);
		pe_strategy_solve(&b->optimum, y, e);
		for (int j = 0; j < b->cells; j++)
			e[j] -= (double) b->count[j];
		add(s, error_per_query(b, e));
	}
	free(exact);
	free(y);
	free(e);
}

/* What spreading the true sums of the buckets evenly errs by. */
static double
bias_of(const bench *b, const pe_partition *partition)
{
	double	   *e = calloc((size_t) b->cells, sizeof(*e));
	double		error;

	for (int k = 0; k < partition->buckets; k++)
	{
		int			size = partition->first[k + 1] - partition->first[k];
		double		sum = 0;

		for (int j = partition->first[k]; j < partition->first[k + 1]; j++)
			sum += (double) b->count[j];
		for (int j = partition->first[k]; j < partition->first[k + 1]; j++)
			e[j] = sum / size - (double) b->count[j];
	}
	error = error_per_query(b, e);
	free(e);
	return error;
}

static void
run_dawa(const bench *b, int64_t nano, summary *s, summary *bias, summary *buckets)
{
	pe_dawa_plan plan = {.columns = b->cells, .v = b->v, .neighbours = PE_ADD_REMOVE, .max_rows = 1};
	int64_t    *released = calloc((size_t) b->cells, sizeof(*released));
	double	   *e = calloc((size_t) b->cells, sizeof(*e));

	pe_dawa_split(&plan, nano);
	for (int run = 0; run < b->runs; run++)
	{
		pe_dawa_buckets made;

		plan.allowance = plenty(true);
		pe_dawa_divide(&plan, b->count, &made);
		pe_dawa_prepare(&plan, &made);
		pe_dawa_measure(&plan, &made, b->count, released);
		for (int j = 0; j < b->cells; j++)
			e[j] = ldexp((double) released[j], -PE_ESTIMATE_BITS) - (double) b->count[j];
		add(s, error_per_query(b, e));
		add(bias, bias_of(b, &made.partition));
		add(buckets, made.partition.buckets);
		pe_dawa_buckets_free(&made);
	}
	free(released);
	free(e);
}

static void
compare(bench *b, const char *file, int64_t nano)
{
	summary		optimum = {0};
	summary		dawa = {0};
	summary		bias = {0};
	summary		buckets = {0};
	double		start;

	run_optimum(b, nano, &optimum);
	start = seconds();
	run_dawa(b, nano, &dawa, &bias, &buckets);
	printf("%-32s %5d %8.3g %12.4g %10.2g %12.4g %10.2g %12.4g %8.1f %8.3f %8.3f\n", file, b->cells, (double) nano * 1e-9,
		   mean_of(&optimum), error_of(&optimum), mean_of(&dawa), error_of(&dawa), mean_of(&bias), mean_of(&buckets),
		   mean_of(&dawa) / mean_of(&optimum), (seconds() - start) / b->runs);
	fflush(stdout);
}

static void
run_cells(int cells, int runs)
{
	bench		b = {.cells = cells, .runs = runs};

	prepare(&b);
	for (int f = 0; f < lengthof(files); f++)
		for (int i = 0; i < lengthof(nano_epsilons) && read_counts(files[f], &b); i++)
			compare(&b, files[f], nano_epsilons[i]);
	pe_strategy_free(&b.optimum);
	pe_classes_free(&b.classes);
	pe_workload_free(&b.workload);
	free(b.v);
	free(b.count);
}

int
main(int argc, char **argv)
{
	static const int usual[] = {256, 512, 1024};
	int			runs = argc > 1 ? atoi(argv[1]) : 200;

	if (runs < 2)
	{
		fprintf(stderr, "usage: bench_dawa [runs [cells ...]]\n");
		return 2;
	}
	pe_test_seed(SEED);
	printf("%-32s %5s %8s %12s %10s %12s %10s %12s %8s %8s %8s\n", "all ranges, mean squared errors", "cells", "epsilon",
		   "optimal", "+-", "dawa", "+-", "its bias", "buckets", "ratio", "seconds");
	for (int i = 2; i < argc; i++)
		run_cells(atoi(argv[i]), runs);
	for (int i = 0; i < lengthof(usual) && argc <= 2; i++)
		run_cells(usual[i], runs);
	return 0;
}

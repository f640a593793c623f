/*
 * contest.c
 *	  The methods that compete.  See contest.h.
 */
#include "contest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/conversion.h"
#include "published/published.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"
#include "counts/dawa.h"
#include "level_weights.h"
#include "shim.h"
#include "allowance.h"

#define RANK_TOLERANCE 1e-12	/* of the largest diagonal entry of V, as optimum.h has it */

static double
diagonal_sum(const problem *p)
{
	double		sum = 0;

	for (int32_t j = 0; j < p->n; j++)
		sum += p->v[(size_t) j * (size_t) (p->n + 1)];
	return sum;
}

static double
diagonal_max(const problem *p)
{
	double		most = 0;

	for (int32_t j = 0; j < p->n; j++)
		most = fmax(most, p->v[(size_t) j * (size_t) (p->n + 1)]);
	return most;
}

static void
run_optimal(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_optimum	found;

	pe_optimum_solve(p->v, p->n, GAP, &found);
	o->rank = found.rank;
	o->objective = found.upper;
	o->bound = found.lower;
	o->iterations = found.iterations;
	o->stopped = found.upper <= found.lower * (1 + GAP);
	pe_optimum_free(&found);
}

/* One noise for each query; the columns differ in length, and the longest one decides. */
static void
run_gaussian(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	o->objective = queries * diagonal_max(p);
}

static void
run_identity(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	o->objective = diagonal_sum(p);
}

static void
run_wavelet(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_levels	haar;

	pe_levels_haar(p->n, &haar);
	o->objective = pe_levels_error(&haar, NULL, p->v, PE_L2);
	pe_levels_free(&haar);
}

static void
run_wavelet_levels(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_levels	haar;
	double	   *weights;

	pe_levels_haar(p->n, &haar);
	weights = pe_alloc((size_t) haar.levels, sizeof(double));
	levels_optimal_weights(&haar, p->v, PE_L2, weights);
	o->objective = pe_levels_error(&haar, weights, p->v, PE_L2);
	pe_free(weights);
	pe_levels_free(&haar);
}

static void
run_binary_tree(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	o->objective = pe_levels_tree_error(p->v, p->n, 2, true, PE_L2);
}

static void
run_best_tree(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_levels	tree;

	pe_levels_best_tree(p->v, p->n, PE_L2, &tree);
	o->objective = pe_levels_error(&tree, NULL, p->v, PE_L2);
	pe_levels_free(&tree);
}

static void
run_adaptive(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_adapted	adapted;

	pe_adaptive(p->v, p->n, PE_ADAPTIVE_GAP, trace, &adapted);
	o->objective = adapted.design.objective;
	o->bound = adapted.uncompleted;
	o->iterations = adapted.design.iterations;
	o->stopped = adapted.design.finished;
	pe_adapted_free(&adapted);
}

static void
take_design(pe_design *design, outcome *o)
{
	o->objective = design->objective;
	o->iterations = design->iterations;
	o->stopped = design->finished;
	pe_design_free(design);
}

/* As published: theta 1e-3 and the rule for stopping of coa. */
static void
run_coa(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_coa_options options;
	pe_design	design;

	pe_coa_defaults(&options);
	pe_coa(p->v, p->n, &options, trace, &design);
	take_design(&design, o);
}

static void
run_smoothing(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_smoothing_options options;
	pe_design	design;

	pe_smoothing_defaults(&options);
	pe_smoothing(p->v, p->n, &options, trace, &design);
	take_design(&design, o);
}

/* R, rank x n, V = R'R; returns the rank. */
static int32_t
row_factor(const problem *p, double **r)
{
	size_t		n = (size_t) p->n;
	double	   *l = pe_alloc(n * n, sizeof(double));
	double	   *work = pe_alloc(2 * n, sizeof(double));
	int32_t    *pivot = pe_alloc(n, sizeof(int32_t));
	int32_t		rank;

	memcpy(l, p->v, n * n * sizeof(double));
	rank = pe_la_cholesky_pivoted(p->n, l, p->n, RANK_TOLERANCE * diagonal_max(p), pivot, work);
	*r = pe_alloc((size_t) rank * n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= i && k < (size_t) rank; k++)
			(*r)[(size_t) pivot[i] * (size_t) rank + k] = l[k * n + i];
	pe_free(l);
	pe_free(work);
	pe_free(pivot);
	return rank;
}

static void
run_low_rank(const problem *p, int queries, const pe_trace *trace, outcome *o)
{
	pe_low_rank_result found;
	double	   *r;

	o->rank = row_factor(p, &r);
	pe_low_rank(r, o->rank, p->n, PE_L2, NULL, trace, &found);
	o->iterations = found.design.iterations;
	o->stopped = found.design.finished;
	pe_low_rank_project(r, o->rank, PE_L2, &found);
	o->objective = found.design.objective;
	o->bound = found.residual / diagonal_sum(p);
	pe_low_rank_free(&found);
	pe_free(r);
}

const contender methods[METHODS] = {
	[OPTIMAL] = {"optimal", run_optimal, false},
	[COA] = {"coa", run_coa, false},
	[LOWRANK] = {"lowrank", run_low_rank, false},
	[SMOOTHING] = {"smoothing", run_smoothing, false},
	[ADAPTIVE] = {"adaptive", run_adaptive, false},
	[WAVELET] = {"wavelet", run_wavelet, false},
	[WAVELET_LEVELS] = {"wavelet_levels", run_wavelet_levels, false},
	[BINARY_TREE] = {"binary_tree", run_binary_tree, false},
	[BEST_TREE] = {"hierarchical", run_best_tree, false},
	[IDENTITY] = {"identity", run_identity, true},
	[GAUSSIAN] = {"gaussian", run_gaussian, true},
	[DAWA] = {"dawa", NULL, false}	/* of its own: run_dawa */
};

/* ----------
 * Counts, and dawa on them
 * ----------
 */
#define UNIFORM_TOP 10			/* 0 to 10 have variance 10 */
#define MOST_DRAWS 200
#define LEAST_DRAWS 3

const char *const data_name[DATA_SETS] = {"-", "searchlogs", "nettrace", "adult", "uniform"};

/* A table of DATA_CELLS counts, neighbours added up to n; false if it is not there. */
static bool
read_counts(const char *name, int n, int64_t *counts)
{
	const char *tables = getenv("DATA");
	char		path[4096];
	char		line[64];
	FILE	   *file;
	int			cell;
	long long	count;

	snprintf(path, sizeof(path), "%s/hist1d_%s/%s.csv", tables != NULL ? tables : "../shared/data", name, name);
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "%d,%lld", &cell, &count) == 2 && cell >= 0 && cell < DATA_CELLS)
			counts[(size_t) cell * (size_t) n / DATA_CELLS] += count;
	fclose(file);
	return true;
}

static void
uniform_counts(int n, int64_t *counts)
{
	dice		d = {.state = (uint64_t) n};

	for (int j = 0; j < n; j++)
		counts[j] = below(&d, UNIFORM_TOP + 1);
}

bool
counts_of(const sizes *z, int64_t *counts)
{
	if (strcmp(data_name[z->data], "uniform") != 0)
		return read_counts(data_name[z->data], z->n, counts);
	uniform_counts(z->n, counts);
	return true;
}

void
merge_neighbours(problem *p, int64_t *counts)
{
	int32_t    *kept = pe_alloc((size_t) p->n, sizeof(int32_t));
	const double *v = p->v;
	size_t		n = (size_t) p->n;
	size_t		k = 0;

	for (size_t j = 0; j < n; j++)
	{
		size_t		last = k > 0 ? (size_t) kept[k - 1] : j;

		if (v[j * n + j] == 0)
			continue;
		if (k > 0 && j > 0 && v[last * n + last] == v[j * n + j] && v[last * n + j] == v[j * n + j])
			counts[k - 1] += counts[j];
		else
		{
			counts[k] = counts[j];
			kept[k++] = (int32_t) j;
		}
	}
	for (size_t b = 0; b < k; b++)
		for (size_t a = 0; a < k; a++)
			p->v[b * k + a] = p->v[(size_t) kept[b] * n + (size_t) kept[a]];
	p->n = (int32_t) k;
	pe_free(kept);
}

/* Mean squared error of the m answers that these estimates give. */
static double
squared_error(const problem *p, int m, const int64_t *counts, const int64_t *released)
{
	double	   *off = pe_alloc((size_t) p->n, sizeof(double));
	double		sum = 0;

	for (int32_t j = 0; j < p->n; j++)
		off[j] = ldexp((double) released[j], -PE_ESTIMATE_BITS) - (double) counts[j];
	for (int32_t j = 0; j < p->n; j++)
		for (int32_t i = 0; i < p->n; i++)
			sum += off[i] * off[j] * p->v[(size_t) j * (size_t) p->n + (size_t) i];
	pe_free(off);
	return sum / m;
}

void
run_dawa(const problem *p, const sizes *z, const int64_t *counts, double seconds, outcome *o)
{
	pe_dawa_plan plan = {.columns = p->n, .v = p->v, .neighbours = PE_ADD_REMOVE, .max_rows = 1};
	int64_t    *released = pe_alloc((size_t) p->n, sizeof(int64_t));
	series		errors = {0};
	double		start = cpu_seconds();

	pe_dawa_split(&plan, pe_nano_rho_down(EPSILON));
	pe_test_seed(dice_of(z).state);
	while (errors.count < MOST_DRAWS && (errors.count < LEAST_DRAWS || cpu_seconds() - start < seconds / 2))
	{
		plan.allowance = plenty(true);
		pe_dawa_release(&plan, counts, released);
		series_add(&errors, squared_error(p, z->m, counts, released));
	}
	o->objective = errors.mean;
	o->bound = series_error(&errors);
	o->iterations = errors.count;
	o->stopped = true;
	pe_free(released);
}

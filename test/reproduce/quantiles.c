/*
 * quantiles.c
 *	  Quantiles by three mechanisms at the same privacy: rank errors, and how often intervals hold the quantile.
 *
 * Data: 1,024 cells.  10^6 rows of a lognormal law (3, 1) on [0, 300], 10^6 rows of a uniform law, and year-to-date
 * salaries of a state's employees (mdsalary of DPBench, its 4,096 bins joined by four) where the table is.  The rows of a cell are
 * spread evenly over 64 points, so that errors are those of privacy alone.  The error of a place is the number of rows between
 * its point and the point of the quantile: none if they are the same.
 *
 *	  prefix		the certified optimum for prefix(1024), one charge for all quantiles and ranges; counts/quantile.h
 *	  selection		recursive exponential mechanism on the 65,536 points; counts/quantile_select.h
 *	  tree			bounded quantile tree of Google's library as described there: fan-out 16, height 4, noise on every node, the
 *					budget divided equally among the levels, children with less than 0.005 of their siblings' total
 *					left out on the way down.  Gaussian noise, and Laplace noise for a pure epsilon of 1, which promises more; and
 *					this with none left out
 *
 * All at (epsilon, delta) = (1, 1e-9), one row for each unit, add_remove, Gaussian DP accounting (but for Laplace).
 * Figures are root mean squares of rank errors, in rows, over m quantiles i / (m + 1) and over the runs.
 *
 *	  quantiles [RUNS | sample]		default 20; sample: 2
 *
 * Exit status 1 if the prefix release errs by more than 1.02 x 2.955 / sqrt(2 rho) at the edges of the cells, as it is told or
 * by more than chance as it is seen, or its intervals hold fewer than 95 % of the quantiles.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/private.h"
#include "base/mem.h"
#include "counts/quantile.h"
#include "counts/quantile_select.h"
#include "methods/make.h"
#include "noise/noise.h"
#include "plan/plan.h"
#include "blocks/reconstruct.h"

#define EPSILON 1.0
#define DELTA 1e-9

#define CELLS 1024
#define EACH 64
#define POINTS (CELLS * EACH)
#define MOST 999

/* What is told of the optimum: the rms standard error of all ranks, for noise of sensitivity 1 and deviation 1. */
#define OPTIMUM 2.955

static const int sizes[] = {1, 9, 99, 999};

#define SIZES 4

typedef struct table
{
	const char *name;
	int64_t		cell[CELLS];
	int64_t		point[POINTS];
	double		below[POINTS + 1];	/* rows below each point */
} table;

/* A sum of squares. */
typedef struct error
{
	double		squares;
	double		count;
} error;

static void
add_error(error *e, double value)
{
	e->squares += value * value;
	e->count++;
}

static double
rms(const error *e)
{
	return e->count > 0 ? sqrt(e->squares / e->count) : NAN;
}

/* ----------
 * Data
 * ----------
 */
static double
uniform(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return ((double) (word >> 11) + 0.5) * 0x1p-53;
}

static double
normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * acos(-1.0) * uniform());
}

static void
spread(table *t)
{
	for (int i = 0; i < CELLS; i++)
		for (int j = 0; j < EACH; j++)
			t->point[i * EACH + j] = t->cell[i] * (j + 1) / EACH - t->cell[i] * j / EACH;
	for (int i = 0; i < POINTS; i++)
		t->below[i + 1] = t->below[i] + (double) t->point[i];
}

static void
generate(table *t, const char *name, bool lognormal)
{
	t->name = name;
	for (int rows = 0; rows < 1000000;)
	{
		double		value = lognormal ? exp(3 + normal()) : 300 * uniform();

		if (value >= 300)
			continue;
		t->cell[(int) (value / 300 * CELLS)]++;
		rows++;
	}
	spread(t);
}

static bool
read_salaries(table *t)
{
	const char *data = getenv("DATA");
	char		path[4096];
	char		line[256];
	FILE	   *file;
	int			bin;
	long long	count;

	snprintf(path, sizeof(path), "%s/hist1d_mdsalary/mdsalary.csv", data != NULL && data[0] != '\0' ? data : "../shared/data");
	file = fopen(path, "r");
	if (file == NULL)
		return false;
	t->name = "salaries";
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "%d,%lld", &bin, &count) == 2 && bin >= 0 && bin < 4 * CELLS)
			t->cell[bin / 4] += count;
	fclose(file);
	spread(t);
	return true;
}

/* ----------
 * Errors
 * ----------
 */

/* Rows between the point of a place and the wanted rank. */
static double
error_at(const table *t, double place, double wanted)
{
	int			point = place < POINTS ? (int) place : POINTS - 1;

	return fmax(fmax(t->below[point] - wanted, wanted - t->below[point + 1]), 0);
}

static double
rank_wanted(const table *t, int i, int m)
{
	return t->below[POINTS] * (i + 1) / (m + 1);
}

/* ----------
 * The prefix release
 * ----------
 */
typedef struct release
{
	pe_workload workload;
	pe_workload ranks;			/* prefixes, then what is above each inner edge */
	pe_classes	classes;
	pe_strategy strategy;
	pe_measured measured;
	pe_reconstruction reconstruction;
	pe_plan    *plan;
	double		below_variance[CELLS + 1];
	double		above_variance[CELLS + 1];
} release;

static void
parse(const char *text, pe_workload *workload)
{
	pe_text_error problem;

	if (!pe_workload_parse(text, NULL, workload, &problem))
		exit(2);
}

static void
parse_ranks(pe_workload *workload)
{
	char	   *text = malloc(32 * CELLS);
	int			at = sprintf(text, "prefix(%d) + ranges(%d; ", CELLS, CELLS);

	for (int i = 1; i < CELLS; i++)
		at += sprintf(text + at, "%s%d-%d", i > 1 ? ", " : "", i, CELLS - 1);
	sprintf(text + at, ")");
	parse(text, workload);
	free(text);
}

static pe_plan_ask
ask(void)
{
	return (pe_plan_ask) {.accounting = PE_GDP, .cap = PE_GDP, .epsilon = EPSILON, .rho = NAN, .max_stderr = NAN, .delta = DELTA};
}

static void
prepare_release(release *r)
{
	const pe_workload *workload = &r->workload;
	double		variance[2 * CELLS];

	parse("prefix(1024)", &r->workload);
	parse_ranks(&r->ranks);
	pe_classes_init(&workload, 1, &r->classes);

	pe_strategy_problem problem = {
		.workload = &r->workload, .classes = &r->classes, .method = PE_METHOD_OPTIMAL, .norm = PE_L2, .gap = 1e-3, .whole = true
	};
	pe_plan_counts counts = {.strategy = &r->strategy, .rules = {.neighbours = PE_ADD_REMOVE, .max_rows = 1, .cap = PE_GDP}};
	pe_plan_ask wanted = ask();

	if (pe_strategy_make(&problem, &r->strategy) != PE_STRATEGY_OK || pe_plan_of_counts(&wanted, &counts, &r->plan) != PE_PLAN_MADE)
		exit(2);
	r->measured = (pe_measured) {.workload = &r->workload, .strategy = &r->strategy};
	if (!pe_reconstruction_init(&r->measured, &r->ranks, &r->reconstruction))
		exit(2);
	pe_reconstruction_variance(&r->reconstruction, variance);
	for (int e = 1; e <= CELLS; e++)
	{
		r->below_variance[e] = variance[e - 1];
		r->above_variance[e] = e < CELLS ? variance[CELLS + e - 1] : 0;
	}
	r->above_variance[0] = r->below_variance[CELLS];
}

static void
no_hold(void)
{
}

/* Ranks of all edges, measured through the plan. */
static void
measure(const release *r, const table *t, double *below)
{
	const pe_noise *noise = pe_plan_noise(r->plan);
	pe_i128    *exact = pe_alloc((size_t) r->strategy.rows, sizeof(*exact));
	int64_t    *released = pe_alloc((size_t) r->strategy.rows, sizeof(*released));
	double		estimate[2 * CELLS];

	pe_plan_measure(r->plan, t->cell, exact, released, no_hold);
	pe_reconstruction_estimate(&r->reconstruction, released, estimate);
	below[0] = 0;
	for (int e = 1; e <= CELLS; e++)
		below[e] = ldexp(estimate[e - 1], -pe_noise_shift(noise));
	pe_free(exact);
	pe_free(released);
}

typedef struct figures
{
	error		prefix[SIZES];
	error		selection[SIZES];
	error		gauss[SIZES];
	error		laplace[SIZES];
	error		all[SIZES];		/* Laplace, no child left out */
	error		edges;			/* of the ranks themselves, unbiased and ascending */
	error		ascending;
	error		fourth;			/* of the mean squares of releases */
	double		held;
	double		intervals;
} figures;

static void
run_prefix(const release *r, const table *t, pe_confidence *confidence, figures *f)
{
	double		below[CELLS + 1];
	double		ascending[CELLS + 1];
	pe_rank_estimates ranks = {
		.cells = CELLS, .below = below, .ascending = ascending, .below_variance = r->below_variance, .above_variance = r->above_variance,
		.total_stderr = pe_noise_stderr(pe_plan_noise(r->plan)) * sqrt(r->below_variance[CELLS])
	};
	pe_quantile_place place;

	error		own = {0};

	measure(r, t, below);
	pe_ascending_ranks(CELLS, below, ascending);
	for (int e = 1; e <= CELLS; e++)
	{
		add_error(&own, below[e] - t->below[e * EACH]);
		add_error(&f->ascending, ascending[e] - t->below[e * EACH]);
	}
	f->edges.squares += own.squares;
	f->edges.count += own.count;
	add_error(&f->fourth, own.squares / own.count);
	for (int s = 0; s < SIZES; s++)
		for (int i = 0; i < sizes[s]; i++)
		{
			double		wanted = rank_wanted(t, i, sizes[s]);

			if (!pe_quantile_find(&ranks, (i + 1.0) / (sizes[s] + 1), confidence, &place))
				exit(2);
			add_error(&f->prefix[s], error_at(t, (place.cell + place.inside) * EACH, wanted));
			if (sizes[s] != MOST)
				continue;
			f->held += t->below[place.lower * EACH] < wanted && wanted <= t->below[place.upper * EACH];
			f->intervals++;
		}
}

/* ----------
 * The recursive exponential mechanism
 * ----------
 */
static void
run_selection(const table *t, int m, error *e)
{
	int32_t		fraction[MOST];
	int32_t		chosen[MOST];
	pe_plan_rules rules = {.neighbours = PE_ADD_REMOVE, .max_rows = 1, .cap = PE_GDP};
	pe_quantile_problem problem = {.points = POINTS, .groups = 1, .fractions = m, .fraction = fraction};
	pe_plan_ask wanted = ask();
	pe_plan    *plan;
	const char *what;

	for (int i = 0; i < m; i++)
		fraction[i] = (int32_t) lround((i + 1.0) / (m + 1) * PE_FRACTION_UNIT);
	if (pe_plan_of_quantiles(&wanted, &rules, &problem, &plan, &what) != PE_PLAN_MADE)
		exit(2);
	pe_plan_select_quantiles(plan, t->point, chosen, no_hold);
	for (int i = 0; i < m; i++)
		add_error(e, error_at(t, chosen[i], rank_wanted(t, i, m)));
	pe_free(plan);
}

/* ----------
 * The quantile tree
 * ----------
 */
#define FAN_OUT 16
#define HEIGHT 4
#define NODES (16 + 256 + 4096 + 65536)
#define LEFT_OUT 0.005

/* Where the nodes of a level (1 to HEIGHT) begin. */
static const int level_first[] = {0, 0, 16, 16 + 256, 16 + 256 + 4096};

static void
tree_sums(const table *t, pe_i128 *node)
{
	int			width = POINTS;

	for (int level = 1; level <= HEIGHT; level++)
	{
		width /= FAN_OUT;
		for (int i = 0; i * width < POINTS; i++)
			node[level_first[level] + i] = (pe_i128) (t->below[(i + 1) * width] - t->below[i * width]);
	}
}

/* The children of node `index` of a level, below which the quantile q of the node is looked for; false if nothing is left of them. */
static bool
descend(const double *node, double left_out, int level, int *index, double *q)
{
	const double *child = node + level_first[level + 1] + *index * FAN_OUT;
	double		total = 0;
	double		kept = 0;
	double		before = 0;

	for (int i = 0; i < FAN_OUT; i++)
		total += fmax(child[i], 0);
	for (int i = 0; i < FAN_OUT; i++)
		kept += child[i] > 0 && child[i] >= left_out * total ? child[i] : 0;
	if (kept <= 0)
		return false;
	for (int i = 0; i < FAN_OUT; i++)
	{
		if (!(child[i] > 0 && child[i] >= left_out * total))
			continue;
		before += child[i];
		if (before / kept >= *q - 1e-12)
		{
			*q = fmin(fmax((*q - (before - child[i]) / kept) * kept / child[i], 0), 1);
			*index = *index * FAN_OUT + i;
			return true;
		}
	}
	return false;
}

/* A place among the points. */
static double
tree_quantile(const double *node, double left_out, double q)
{
	int			index = 0;
	int			level = 0;
	double		width = POINTS;

	while (level < HEIGHT && descend(node, left_out, level, &index, &q))
	{
		level++;
		width /= FAN_OUT;
	}
	return (index + q) * width;
}

/* A row is counted in one node of each level. */
static void
run_tree(const table *t, pe_accounting accounting, int64_t nano, error *e, error *all)
{
	pe_allowance allowance = {.accounting = accounting, .left = nano};
	pe_noise   *noise = pe_noise_to_read(accounting, HEIGHT, 0, nano);
	pe_i128    *exact = pe_alloc(NODES, sizeof(*exact));
	int64_t    *released = pe_alloc(NODES, sizeof(*released));
	double	   *node = pe_alloc(NODES, sizeof(*node));

	tree_sums(t, exact);
	pe_noise_draw_fine(&allowance, HEIGHT, nano, exact, NODES, released);
	for (int i = 0; i < NODES; i++)
		node[i] = ldexp((double) released[i], -pe_noise_shift(noise));
	for (int s = 0; s < SIZES; s++)
		for (int i = 0; i < sizes[s]; i++)
		{
			double		q = (i + 1.0) / (sizes[s] + 1);

			add_error(&e[s], error_at(t, tree_quantile(node, LEFT_OUT, q), rank_wanted(t, i, sizes[s])));
			if (all != NULL)
				add_error(&all[s], error_at(t, tree_quantile(node, 0, q), rank_wanted(t, i, sizes[s])));
		}
	pe_free(noise);
	pe_free(exact);
	pe_free(released);
	pe_free(node);
}

/* ----------
 * All of it
 * ----------
 */
/* Prefix releases for each run of the others, which take longer. */
#define RELEASES 5

/* Selections of few quantiles, which take no time. */
#define FEW 10

/* What is told of the ranks, and what is seen: with its own standard error, from the mean squares of the releases. */
static bool
report_release(const release *r, const table *t, double told, const figures *f)
{
	double		variance = 0;
	double		mean = f->edges.squares / f->edges.count;
	double		spread_ = sqrt(fmax(f->fourth.squares / f->fourth.count - mean * mean, 0) / f->fourth.count);
	double		own;

	for (int e = 1; e <= CELLS; e++)
		variance += r->below_variance[e] / CELLS;
	own = pe_noise_stderr(pe_plan_noise(r->plan)) * sqrt(variance);
	printf("| | | %.0f rows: ranks of all edges: %.3f rows told (%.4f of 2.955/sqrt(2 rho)), %.2f +- %.2f seen, %.2f ascending; "
		   "intervals hold %.2f %% | | | | |\n", t->below[POINTS], own, own / told, sqrt(mean), spread_ / (2 * sqrt(mean)), rms(&f->ascending),
		   100 * f->held / f->intervals);
	return own <= 1.02 * told && mean <= 1.04 * told * told + 5 * spread_ && f->held >= 0.95 * f->intervals;
}

static bool
run_table(const release *r, const table *t, int runs)
{
	pe_amount	amount = pe_cost_amount(pe_plan_cost(r->plan));
	double		told = OPTIMUM / sqrt(2e-9 * (double) amount.rho_nano);
	figures		f = {0};
	pe_confidence confidence;

	pe_confidence_init(&confidence, pe_plan_noise(r->plan), r->strategy.rows, PE_MISS);
	for (int run = 0; run < runs; run++)
	{
		for (int i = 0; i < RELEASES; i++)
			run_prefix(r, t, &confidence, &f);
		for (int s = 0; s < SIZES; s++)
			for (int i = 0; i < (sizes[s] < 99 ? FEW : 1); i++)
				run_selection(t, sizes[s], &f.selection[s]);
		run_tree(t, PE_GDP, amount.rho_nano, f.gauss, NULL);
		run_tree(t, PE_PURE, 1000000000, f.laplace, f.all);
	}
	pe_confidence_free(&confidence);
	for (int s = 0; s < SIZES; s++)
		printf("| %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f |\n", s == 0 ? t->name : "", sizes[s], rms(&f.prefix[s]),
			   rms(&f.selection[s]), rms(&f.gauss[s]), rms(&f.laplace[s]), rms(&f.all[s]));
	return report_release(r, t, told, &f);
}

int
main(int argc, char **argv)
{
	static table tables[3];
	static release r;
	int			runs = argc < 2 ? 20 : strcmp(argv[1], "sample") == 0 ? 2 : atoi(argv[1]);
	bool		good = true;

	generate(&tables[0], "lognormal", true);
	generate(&tables[1], "uniform", false);
	prepare_release(&r);
	printf("rho %.7f, %d runs (prefix: %d)\n\n", 1e-9 * (double) pe_cost_amount(pe_plan_cost(r.plan)).rho_nano, runs, runs * RELEASES);
	printf("| data | m | prefix | selection | tree, Gauss | tree, Laplace | the same, all children |\n|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < 3; i++)
		if (i < 2 || read_salaries(&tables[i]))
			good &= run_table(&r, &tables[i], runs);
		else
			printf("| salaries | | skipped: the table is not there | | | | |\n");
	return good ? 0 : 1;
}

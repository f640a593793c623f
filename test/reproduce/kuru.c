/*
 * kuru.c
 *	  The synthetic experiment of Kuru, Birbil, Gurbuzbalaban and Yildirim (arXiv
 *	  2008.01989, section 5) with the methods of src/fit/fit_accelerated.c.
 *
 * n = 100000 rows, d = 20 features uniform in [0, 1], label the sign of x w_a; logistic
 * loss, lambda |w|^2 with lambda = .01, start 10 in every weight, c in {.1, 1}, T in {100,
 * 200, 500, 1000}, epsilon 1.  w_a is that of the reference run, the rows are drawn anew.
 * The smoothness is the largest eigenvalue of X'X / n, as in the paper: it comes from the
 * data, which outside an experiment would have to be paid for.
 *
 *	  lap, m = 100000	pure epsilon = 1, all rows, units are replaced (substitute)
 *	  gauss, m = 100000	rho of (1, 1e-6), the same
 *	  lap, m = 1000		pure epsilon = 1, Poisson batches, units come and go (add_remove)
 *
 * Compared with the reference (kuru_reference.csv) where it is there: our mean of
 * F(x_T) - F* over the runs agrees if the logarithm of the quotient of the two means is
 * within five of its standard errors plus .05.  The reference took batches of fixed size
 * and twice the sensitivity for m = 1000; the third part is compared with
 * kuru_poisson.csv instead, which is the same program with Poisson batches and half of
 * the sensitivity, 20 runs: `kuru.py lap 20 1000` where batches are the rows with
 * random(n) < m / n, sums are divided by m, and S = 20.
 *
 *	  kuru [RUNS [REFERENCE [OUTPUT [PARTS]]]]
 *
 * RUNS defaults to 20.  Writes OUTPUT/kuru.csv, the mean of F(x_t) - F* along the way.
 * PARTS, a number: 1 lap, 2 gauss, 4 lap with batches; added up; 7 by default.  Exit
 * status 1 if a comparison fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fit/fit.h"
#include "fit/methods.h"
#include "shim.h"
#include "allowance.h"

#define ROWS 100000
#define COLUMNS 20
#define LAMBDA 0.01
#define POINTS 32				/* of a curve */
#define MOST_RUNS 1000
#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* rho of (1, 1e-6), as in the reference */
#define NANO_RHO 24355928
#define NANO_EPSILON 1000000000

static const double w_a[COLUMNS] = {
	-1.8193485594914096, 0.79035477038670809, 0.15412913822284025, -0.62787128607543097, -2.5693317067800696,
	-0.21026903199103036, 0.093161898806146629, -0.099903428154180463, 2.1950584001538003, 0.43624429522862113,
	-0.0024166490984187383, -0.38264102681424006, 2.1413974569785723, 1.2173830115964739, 0.50885120702783471,
	-0.012235416115039069, -1.3696966264544255, 0.47200847555618763, -0.80725728428437427, -1.190244874393189
};

static const struct
{
	const char *name;
	pe_fit_method method;
}			methods[] = {
	{"DP-GD", PE_FIT_GD}, {"DP-HB", PE_FIT_HB}, {"DP-NAG", PE_FIT_NAG}, {"DP-MASG", PE_FIT_MASG},
	{"DP-NAG-opt", PE_FIT_NAG_OPT}, {"DP-MASG-opt", PE_FIT_MASG_OPT}
};

/* ----------
 * The problem
 * ----------
 */
static int16_t x[ROWS][COLUMNS];
static int8_t y[ROWS];
static pe_row_shape shape = {.dense = COLUMNS, .columns = COLUMNS};
static pe_rows rows;
static pe_source source;
static double smoothness;
static double least;			/* F* */

static double
uniform(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return ldexp((double) (word >> 11), -53);
}

static void
make_rows(void)
{
	pe_rows_init(&rows, &shape, false);
	for (int i = 0; i < ROWS; i++)
	{
		pe_row		row = {x[i], NULL, PE_ONE, 0};
		double		margin = 0;

		for (int j = 0; j < COLUMNS; j++)
		{
			double		value = uniform();

			margin += value * w_a[j];
			x[i][j] = (int16_t) (value * PE_ONE);
		}
		y[i] = margin > 0 ? 1 : -1;
		row.label = margin > 0;
		pe_rows_add(&rows, &row, NULL);
	}
	pe_source_of_rows(&source, &rows);
}

static double
margin_of(int i, const double *w)
{
	double		sum = 0;

	for (int j = 0; j < COLUMNS; j++)
		sum += x[i][j] * w[j];
	return sum * (y[i] / (double) PE_ONE);
}

static double
norm_sq(const double *w)
{
	double		sum = 0;

	for (int j = 0; j < COLUMNS; j++)
		sum += w[j] * w[j];
	return sum;
}

/* F(w): the logarithm of 1 + exp(-|t|) <= 2 is taken of products of 500 */
static double
objective(const double *w)
{
	double		sum = 0;
	double		product = 1;

	for (int i = 0; i < ROWS; i++)
	{
		double		t = margin_of(i, w);

		sum += t < 0 ? -t : 0;
		product *= 1 + exp(-fabs(t));
		if (i % 500 == 499)
		{
			sum += log(product);
			product = 1;
		}
	}
	return sum / ROWS + LAMBDA * norm_sq(w);
}

/* The largest eigenvalue of X'X / n, by powers. */
static double
largest_eigenvalue(void)
{
	double		v[COLUMNS];
	double		value = 0;

	for (int j = 0; j < COLUMNS; j++)
		v[j] = 1;
	for (int round = 0; round < 30; round++)
	{
		double		next[COLUMNS] = {0};

		for (int i = 0; i < ROWS; i++)
		{
			double		t = margin_of(i, v) * y[i] / PE_ONE;

			for (int j = 0; j < COLUMNS; j++)
				next[j] += t * x[i][j];
		}
		value = sqrt(norm_sq(next) / norm_sq(v)) / ROWS;
		for (int j = 0; j < COLUMNS; j++)
			v[j] = next[j] / (value * ROWS);
	}
	return value;
}

/* A x = b for a positive definite matrix, by elimination; b becomes x. */
static void
solve(double a[COLUMNS][COLUMNS], double *b)
{
	for (int p = 0; p < COLUMNS; p++)
	{
		for (int i = p + 1; i < COLUMNS; i++)
		{
			double		factor = a[i][p] / a[p][p];

			for (int j = p; j < COLUMNS; j++)
				a[i][j] -= factor * a[p][j];
			b[i] -= factor * b[p];
		}
	}
	for (int i = COLUMNS - 1; i >= 0; i--)
	{
		for (int j = i + 1; j < COLUMNS; j++)
			b[i] -= a[i][j] * b[j];
		b[i] /= a[i][i];
	}
}

/* F* by Newton's method. */
static double
minimum(void)
{
	double		w[COLUMNS] = {0};

	for (int round = 0; round < 9; round++)
	{
		double		g[COLUMNS] = {0};
		static double h[COLUMNS][COLUMNS];

		memset(h, 0, sizeof(h));
		for (int i = 0; i < ROWS; i++)
		{
			double		p = 1 / (1 + exp(-margin_of(i, w)));

			for (int j = 0; j < COLUMNS; j++)
			{
				double		xj = x[i][j] / (double) PE_ONE;

				g[j] -= y[i] * (1 - p) * xj / ROWS;
				for (int k = 0; k <= j; k++)
					h[j][k] += p * (1 - p) * xj * x[i][k] / (double) PE_ONE / ROWS;
			}
		}
		for (int j = 0; j < COLUMNS; j++)
		{
			g[j] += 2 * LAMBDA * w[j];
			h[j][j] += 2 * LAMBDA;
			for (int k = 0; k < j; k++)
				h[k][j] = h[j][k];
		}
		solve(h, g);
		for (int j = 0; j < COLUMNS; j++)
			w[j] -= g[j];
	}
	return objective(w);
}

/* ----------
 * Runs
 * ----------
 */
typedef struct setting
{
	const char *noise;
	int32_t		batch;			/* 0: all */
	bool		pure;
	double		c;
	int32_t		steps;
	int			method;
} setting;

typedef struct curve
{
	int32_t		at[POINTS];		/* the steps that are looked at: more of the early ones */
	int			next;
	int32_t		taken;			/* steps */
	int32_t		seen;			/* the last one that was looked at, */
	double		last;			/* and F - F* there */
	double		sum[POINTS];	/* over the runs */
	double		final[MOST_RUNS];
} curve;

static void
trace(void *argument, int32_t step, const double *w)
{
	curve	   *c = argument;

	c->taken = step;
	for (; c->next < POINTS && c->at[c->next] <= step; c->next++)
	{
		if (c->seen != step)
			c->last = objective(w) - least;
		c->seen = step;
		c->sum[c->next] += c->last;
	}
}

static void
set_problem(const setting *s, pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	memset(problem, 0, sizeof(*problem));
	problem->model = PE_MODEL_LOGISTIC;
	problem->method = methods[s->method].method;
	problem->shape = &shape;
	problem->intercept = -1;
	problem->radius_sq = (pe_u128) COLUMNS * PE_ONE * PE_ONE;
	problem->radius_1 = (int64_t) COLUMNS * PE_ONE;
	problem->max_rows = 1;
	problem->substitute = s->batch == 0;
	problem->accounting = s->pure ? PE_PURE : PE_ZCDP;
	problem->nano = s->pure ? NANO_EPSILON : NANO_RHO;
	pe_options_init(&pe_fit_option_table, o);
	o->iterations = s->steps;
	o->l2 = 2 * LAMBDA * ROWS;
	o->rows = ROWS;
	o->rate = s->c;
	o->start = 10;
	o->batch = s->batch;
	o->smoothness = smoothness;
	if (problem->method == PE_FIT_NAG_OPT || problem->method == PE_FIT_MASG_OPT)
		o->gap0 = 10;
	if (pe_fit_defaults(problem) != NULL || pe_fit_refusal(problem) != NULL)
		pe_bug("the experiment's options are refused");
}

static void
run(const setting *s, int runs, curve *c)
{
	pe_fit_problem problem;
	double		w[COLUMNS];

	memset(c, 0, sizeof(*c));
	for (int p = 0; p < POINTS; p++)
		c->at[p] = (s->steps * (p + 1) * (p + 1) + POINTS * POINTS - 1) / (POINTS * POINTS);
	set_problem(s, &problem);
	problem.trace = trace;
	problem.trace_argument = c;
	for (int i = 0; i < runs; i++)
	{
		c->next = 0;
		c->seen = 0;
		run_fit(pe_fit_accelerated, &problem, &source, w);
		c->final[i] = c->seen == c->taken ? c->last : objective(w) - least;
	}
}

/* ----------
 * Comparison
 * ----------
 */
typedef struct statistics
{
	int32_t		steps;			/* taken */
	double		mean;
	double		deviation;
	int			runs;
} statistics;

/* The reference's line for a setting. */
static bool
look_up(FILE *file, const setting *s, statistics *found)
{
	char		line[256];

	if (file == NULL)
		return false;
	rewind(file);
	while (fgets(line, sizeof(line), file) != NULL)
	{
		char		noise[16];
		char		name[32];
		int			m;
		int			steps;
		double		c;

		if (sscanf(line, "%15[^,],%d,%lf,%d,%31[^,],%d,%lf,%lf,%d", noise, &m, &c, &steps, name, &found->steps,
				   &found->mean, &found->deviation, &found->runs) == 9 &&
			strcmp(noise, s->noise) == 0 && m == (s->batch == 0 ? ROWS : s->batch) && c == s->c &&
			steps == s->steps && strcmp(name, methods[s->method].name) == 0)
			return true;
	}
	return false;
}

static statistics
summarise(const curve *c, int runs)
{
	statistics	s = {c->taken, 0, 0, runs};

	for (int i = 0; i < runs; i++)
		s.mean += c->final[i] / runs;
	for (int i = 0; i < runs; i++)
		s.deviation += (c->final[i] - s.mean) * (c->final[i] - s.mean) / runs;
	s.deviation = sqrt(s.deviation);
	return s;
}

/* The squared relative standard error of a mean over so many runs. */
static double
error_sq(const statistics *s, int runs)
{
	double		relative = s->deviation / s->mean;

	return relative * relative / (runs > 1 ? runs - 1 : 1);
}

/* Prints a line of the table; false if the comparison fails. */
static bool
report(const setting *s, const statistics *ours, FILE *reference)
{
	statistics	theirs;
	double		distance;
	double		allowed;
	bool		same;

	printf("%-5s %6d %4g %5d %-12s %5d %11.5g %10.3g", s->noise, s->batch == 0 ? ROWS : s->batch, s->c, s->steps,
		   methods[s->method].name, ours->steps, ours->mean, ours->deviation);
	if (!look_up(reference, s, &theirs))
	{
		printf("   (no reference)\n");
		return true;
	}
	distance = fabs(log(ours->mean / theirs.mean));
	/* of few runs, whose deviation says little, the reference's */
	allowed = 5 * sqrt(error_sq(ours->runs < 8 ? &theirs : ours, ours->runs) + error_sq(&theirs, theirs.runs)) + 0.05;
	/* the rows are drawn anew, so L and what is chosen by it are a little different */
	same = distance <= allowed && abs(ours->steps - theirs.steps) <= 0.01 * theirs.steps;
	printf(" %11.5g %10.3g %5d  %6.3f of %5.3f  %s\n", theirs.mean, theirs.deviation, theirs.steps,
		   distance, allowed, same ? "agrees" : "DIFFERS");
	return same;
}

static void
write_point(FILE *file, const setting *s, int32_t step, double mean)
{
	fprintf(file, "%s,%d,%g,%d,%s,%d,%.6g\n", s->noise, s->batch == 0 ? ROWS : s->batch, s->c, s->steps,
			methods[s->method].name, step, mean);
}

static void
write_curve(FILE *file, const setting *s, const curve *c, const statistics *ours)
{
	for (int p = 0; p < POINTS && c->at[p] < c->taken; p++)
	{
		if (p == 0 || c->at[p] != c->at[p - 1])
			write_point(file, s, c->at[p], c->sum[p] / ours->runs);
	}
	write_point(file, s, c->taken, ours->mean);
}

typedef struct tally
{
	int			compared;
	int			agreed;
} tally;

/* All methods and lengths of one part. */
static void
run_part(setting s, int runs, FILE *reference, FILE *output, tally *t)
{
	static const double cs[] = {0.1, 1};
	static const int32_t steps[] = {100, 200, 500, 1000};
	static curve c;
	statistics	unused;

	for (int i = 0; i < lengthof(cs) * lengthof(steps) * lengthof(methods); i++)
	{
		statistics	ours;

		s.c = cs[i / lengthof(methods) / lengthof(steps)];
		s.steps = steps[i / lengthof(methods) % lengthof(steps)];
		s.method = i % lengthof(methods);
		run(&s, runs, &c);
		ours = summarise(&c, runs);
		write_curve(output, &s, &c, &ours);
		t->compared += look_up(reference, &s, &unused);
		t->agreed += look_up(reference, &s, &unused) && report(&s, &ours, reference);
		if (!look_up(reference, &s, &unused))
			report(&s, &ours, NULL);
		fflush(stdout);
	}
}

static FILE *
open_reference(const char *folder, const char *name)
{
	char		path[4096];
	FILE	   *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	if (file == NULL)
		printf("%s is not there: its comparison is skipped\n", path);
	return file;
}

int
main(int argc, char **argv)
{
	int			runs = argc > 1 ? atoi(argv[1]) : 20;
	const char *folder = argc > 2 ? argv[2] : "../shared/reference";
	const char *into = argc > 3 ? argv[3] : "build/reproduce";
	int			parts = argc > 4 ? atoi(argv[4]) : 7;
	double		start[COLUMNS];
	char		path[4096];
	FILE	   *reference = open_reference(folder, "kuru_reference.csv");
	FILE	   *poisson = open_reference("test/reproduce", "kuru_poisson.csv");
	FILE	   *output;
	tally		t = {0, 0};

	snprintf(path, sizeof(path), "%s/kuru.csv", into);
	output = fopen(path, "w");
	if (runs < 1 || runs > MOST_RUNS || output == NULL)
	{
		fprintf(stderr, "usage: kuru [RUNS [REFERENCE [OUTPUT [PARTS]]]], 1 <= RUNS <= %d; OUTPUT is a folder\n", MOST_RUNS);
		return 2;
	}
	fprintf(output, "noise,m,c,T,alg,t,mean_subopt\n");

	pe_test_seed(1);
	make_rows();
	smoothness = largest_eigenvalue();
	least = minimum();
	for (int j = 0; j < COLUMNS; j++)
		start[j] = 10;
	printf("L %.4f (reference 5.1028), F* %.5f (.49846), F(start) - F* %.3f (83.434), %d runs\n",
		   smoothness + 2 * LAMBDA, least, objective(start) - least, runs);
	printf("noise      m    c     T method       steps   F(x)-F*  deviation   reference  deviation steps  |log| of allowed\n");
	if (parts & 1)
		run_part((setting) {.noise = "lap", .pure = true}, runs, reference, output, &t);
	if (parts & 2)
		run_part((setting) {.noise = "gauss"}, runs, reference, output, &t);
	if (parts & 4)
		run_part((setting) {.noise = "lap", .batch = 1000, .pure = true}, runs, poisson, output, &t);
	printf("%d of %d comparisons agree\n", t.agreed, t.compared);

	pe_rows_free(&rows);
	fclose(output);
	if (reference != NULL)
		fclose(reference);
	if (poisson != NULL)
		fclose(poisson);
	return t.agreed == t.compared ? 0 : 1;
}

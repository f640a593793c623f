/*
 * hypotheses.c
 *	  How often tests of noisy numbers reject: under their hypothesis, beside the level, and where it is wrong, beside
 *	  the test that sees no noise, and the naive one that takes noise for rows.
 *
 *	 hypotheses [full | sample] [independence | proportions | trend | goodness | means]	default: full, all of them
 *
 * Samples are drawn as the hypothesis says, noise as its law says, and each is tested at 5 % with 199 replicates, which
 * have the level of 9,999.  A setting holds if it rejects at most 5.5 % under the hypothesis, and one of chi-square and
 * proportions with n epsilon >= 500 at least 3.5 %.
 *
 * Prints TAP, the figures as comments.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "study/hypothesis.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

#define REPLICATES 199
#define LEVEL 0.05
#define MOST_CELLS 64

static bool sample = false;
static int	tests = 0;
static int	failures = 0;

static void
ok(bool holds, const char *what)
{
	printf("%sok %d - %s\n", holds ? "" : "not ", ++tests, what);
	failures += !holds;
	fflush(stdout);
}

/* ------------------------------------------------------------------
 * Settings
 * ------------------------------------------------------------------
 */

typedef struct setting
{
	int			rows;
	int			columns;
	double		n;
	double		epsilon;
	bool		laplace;		/* else Gaussian, of rho that this epsilon buys at delta 1e-9, nearly */
	bool		skewed;			/* else all levels are alike */
	double		effect;			/* 0: the hypothesis holds */
} setting;

static double
noise_of(const setting *s)
{
	return s->laplace ? sqrt(2) / s->epsilon : 5 / s->epsilon;
}

/* Each cell was measured by itself. */
static void
make_noise(int cells, double stderr_, bool laplace, pe_table_noise *noise)
{
	double	   *covariance = pe_la_vector((size_t) cells * cells);
	double	   *weights = pe_la_vector((size_t) cells * cells);
	double	   *each = pe_la_vector(cells);

	for (int i = 0; i < cells; i++)
	{
		covariance[i * cells + i] = stderr_ * stderr_;
		weights[i * cells + i] = 1;
		each[i] = stderr_;
	}
	if (laplace)
		pe_table_noise_laplace(cells, covariance, cells, weights, each, noise);
	else
		pe_table_noise_gaussian(cells, covariance, noise);
	pe_free(each);
	pe_free(weights);
}

/* Probabilities of levels that add up to 1. */
static double
probability_of(int levels, int level, bool skewed)
{
	double		sum = 0;

	for (int i = 0; i < levels; i++)
		sum += pow(0.4, skewed ? i : 0);
	return pow(0.4, skewed ? level : 0) / sum;
}

/* An effect moves probability along the diagonal. */
static void
table_probabilities(const setting *s, double *p)
{
	for (int k = 0; k < s->rows * s->columns; k++)
	{
		int			i = k / s->columns;
		int			j = k % s->columns;
		double		x = s->rows > 1 ? 2.0 * i / (s->rows - 1) - 1 : 0;
		double		y = s->columns > 1 ? 2.0 * j / (s->columns - 1) - 1 : 0;

		if (s->rows == 1)
			p[k] = probability_of(s->columns, j, s->skewed) * (1 + s->effect * y);
		else
			p[k] = probability_of(s->rows, i, s->skewed) * probability_of(s->columns, j, s->skewed)
				* (1 + s->effect * x * y);
	}
	if (s->effect != 0)
	{
		double		sum = 0;

		for (int k = 0; k < s->rows * s->columns; k++)
			sum += p[k];
		for (int k = 0; k < s->rows * s->columns; k++)
			p[k] /= sum;
	}
}

/* ------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------
 */

#define MEANS_MOST 100

/* Sums of a number that is beta distributed on [-100, 100], those of the second group moved. */
static void
draw_sums(const setting *s, pe_dice *dice, double *count)
{
	for (int g = 0; g < s->columns; g++)
	{
		double		rows = pe_dice_binomial(dice, s->n, 1.0 / s->columns);
		double		sum = 0;
		double		squares = 0;

		for (int i = 0; i < rows; i++)
		{
			double		x = pe_dice_gamma(dice, s->skewed ? 1 : 3);
			double		beta = x / (x + pe_dice_gamma(dice, 3));
			double		u = fmax(rint((2 * beta - 1) * MEANS_MOST) - 4 * s->effect * (g == 1), -MEANS_MOST);

			sum += u;
			squares += u * u;
		}
		count[g] = rows;
		count[s->columns + g] = sum;
		count[2 * s->columns + g] = squares;
	}
}

/* N, S and Q have a third of the squared sensitivity each (Laplace: of the budget). */
static void
make_noise_of_sums(const setting *s, pe_table_noise *noise)
{
	int			cells = 3 * s->columns;
	double	   *covariance = pe_la_vector((size_t) cells * cells);
	double	   *weights = pe_la_vector((size_t) cells * cells);
	double	   *each = pe_la_vector(cells);

	for (int k = 0; k < cells; k++)
	{
		each[k] = noise_of(s) * (s->laplace ? 3 : sqrt(3)) * pow(MEANS_MOST, k / s->columns);
		covariance[k * cells + k] = each[k] * each[k];
		weights[k * cells + k] = 1;
	}
	if (s->laplace)
		pe_table_noise_laplace(cells, covariance, cells, weights, each, noise);
	else
		pe_table_noise_gaussian(cells, covariance, noise);
	pe_free(each);
	pe_free(weights);
}

typedef enum kind
{
	INDEPENDENCE, PROPORTIONS, TREND, GOODNESS, MEANS
} kind;

static const char *const kind_name[] = {"independence", "proportions", "trend", "goodness", "means"};

static double
p_value(kind k, const setting *s, const double *count, const pe_table_noise *noise, const uint64_t seed[2])
{
	static const double score[MOST_CELLS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	pe_noisy_table table = {k == MEANS ? 3 : s->rows, s->columns, count, noise};
	pe_bootstrap how = {REPLICATES, {seed[0], seed[1]}};
	pe_test_result result;
	double		p[MOST_CELLS];
	setting		null = *s;

	null.effect = 0;
	table_probabilities(&null, p);
	if (k == INDEPENDENCE)
		pe_test_independence(&table, &how, &result);
	else if (k == PROPORTIONS)
		pe_test_proportions(&table, &how, &result);
	else if (k == TREND)
		pe_test_trend(&table, score, score, &how, &result);
	else if (k == GOODNESS)
		pe_test_goodness(&table, p, &how, &result);
	else
		pe_test_means(&table, MEANS_MOST, &how, &result);
	return result.p_value;
}

/* How often each test rejects. */
typedef struct rates
{
	double		ours;
	double		exact;			/* of the numbers without noise */
	double		naive;			/* of noisy numbers as if there were no noise */
} rates;

static rates
rates_of(kind k, const setting *s, long count, bool naive)
{
	pe_table_noise noise;
	pe_table_noise none;
	int			cells = k == MEANS ? 3 * s->columns : s->rows * s->columns;
	double		p[MOST_CELLS];
	double		x[MOST_CELLS];
	double		y[MOST_CELLS];
	rates		r = {0};
	pe_dice		dice;

	pe_dice_init(&dice, (uint64_t[2]) {(uint64_t) (s->n * 7 + s->rows * 1000003 + s->columns),
				 (uint64_t) (s->epsilon * 100 + k * 7919 + s->effect * 104729)});
	make_noise(cells, 1e-6, false, &none);
	if (k == MEANS)
		make_noise_of_sums(s, &noise);
	else
	{
		make_noise(cells, noise_of(s), s->laplace, &noise);
		table_probabilities(s, p);
	}
	for (long i = 0; i < count; i++)
	{
		uint64_t	seed[2] = {pe_dice_word(&dice), pe_dice_word(&dice)};

		if (k == MEANS)
			draw_sums(s, &dice, x);
		else
			pe_dice_multinomial(&dice, s->n, cells, p, x);
		noise.draw(&noise, &dice, y);
		for (int c = 0; c < cells; c++)
			y[c] += x[c];
		r.ours += p_value(k, s, y, &noise, seed) <= LEVEL;
		if (naive)
		{
			r.exact += p_value(k, s, x, &none, seed) <= LEVEL;
			r.naive += p_value(k, s, y, &none, seed) <= LEVEL;
		}
	}
	pe_table_noise_free(&noise);
	pe_table_noise_free(&none);
	return (rates) {r.ours / count, r.exact / count, r.naive / count};
}

/* ------------------------------------------------------------------
 * What is run
 * ------------------------------------------------------------------
 */

/* A setting with the effect at which its power is looked at. */
typedef struct trial
{
	kind		kind;
	setting		setting;
	double		effect;
} trial;

static const trial trials[] = {
	{INDEPENDENCE, {2, 2, 100, 0.1, true, false, 0}, 0.4}, {INDEPENDENCE, {2, 2, 1000, 0.1, false, false, 0}, 0.3},
	{INDEPENDENCE, {2, 2, 1000, 1, true, false, 0}, 0.1}, {INDEPENDENCE, {2, 2, 10000, 0.1, true, true, 0}, 0.1},
	{INDEPENDENCE, {2, 4, 500, 1, false, false, 0}, 0.2}, {INDEPENDENCE, {2, 4, 1000, 0.1, true, true, 0}, 0.4},
	{INDEPENDENCE, {2, 4, 10000, 1, false, true, 0}, 0.05}, {INDEPENDENCE, {4, 4, 1000, 1, true, false, 0}, 0.2},
	{INDEPENDENCE, {4, 4, 1000, 10, false, true, 0}, 0.2}, {INDEPENDENCE, {4, 4, 10000, 0.1, false, false, 0}, 0.2},
	{INDEPENDENCE, {4, 4, 100, 10, true, true, 0}, 0.3}, {INDEPENDENCE, {4, 4, 100, 10, false, true, 0}, 0.3},
	{INDEPENDENCE, {4, 4, 50, 10, false, true, 0}, 0.3}, {INDEPENDENCE, {2, 2, 50, 10, true, true, 0}, 0.3},
	{PROPORTIONS, {2, 2, 100, 1, true, false, 0}, 0.3}, {PROPORTIONS, {2, 2, 500, 1, false, true, 0}, 0.2},
	{PROPORTIONS, {2, 2, 1000, 1, false, false, 0}, 0.1}, {PROPORTIONS, {2, 2, 10000, 0.1, true, false, 0}, 0.05},
	{TREND, {2, 4, 1000, 0.1, false, true, 0}, 0.4}, {TREND, {2, 4, 1000, 1, false, true, 0}, 0.2},
	{TREND, {4, 4, 300, 1, true, true, 0}, 0.3}, {TREND, {4, 4, 10000, 1, false, false, 0}, 0.05},
	{GOODNESS, {1, 4, 100, 0.1, true, false, 0}, 0.4}, {GOODNESS, {1, 4, 1000, 1, false, true, 0}, 0.1},
	{GOODNESS, {1, 4, 10000, 0.1, true, false, 0}, 0.05},
	{MEANS, {2, 2, 300, 1, false, false, 0}, 3}, {MEANS, {2, 2, 1000, 1, true, true, 0}, 2},
	{MEANS, {2, 2, 1000, 10, false, true, 0}, 2}, {MEANS, {2, 3, 1000, 1, false, false, 0}, 2}
};

static bool
is_exact_kind(kind k)
{
	return k == INDEPENDENCE || k == PROPORTIONS;
}

/*
 * A level of 5 % is taken for more than 5.5 %, or less than 3.5 %, by chance less than once in 10^6 with 50,000 tests;
 * others, and a sample, have room for five standard errors.
 */
static void
try(const trial *t)
{
	bool		exact = is_exact_kind(t->kind);
	long		count = sample ? 1000 : exact || t->kind == MEANS ? 50000 : 20000;
	long		fewer = count / 10;
	double		room = exact && !sample ? 0 : 5 * sqrt(LEVEL * (1 - LEVEL) / (double) count);
	setting		wrong = t->setting;
	char		what[200];
	rates		null = rates_of(t->kind, &t->setting, count, false);
	rates		naive = rates_of(t->kind, &t->setting, fewer, true);
	rates		power;
	bool		low;

	wrong.effect = t->effect;
	power = rates_of(t->kind, &wrong, fewer, true);
	low = exact && t->setting.n * t->setting.epsilon >= 500;
	printf("# %-12s %d x %d  n %5g  epsilon %4g  %-8s %-7s level %.4f of %ld, naive %.3f; power %.3f, without noise %.3f\n",
		   kind_name[t->kind], t->setting.rows, t->setting.columns, t->setting.n, t->setting.epsilon,
		   t->setting.laplace ? "Laplace" : "Gaussian", t->setting.skewed ? "skewed" : "even",
		   null.ours, count, naive.naive, power.ours, power.exact);
	snprintf(what, sizeof(what), "%s %d x %d, n %g, epsilon %g: at most 5.5 %%%s", kind_name[t->kind], t->setting.rows,
			 t->setting.columns, t->setting.n, t->setting.epsilon, low ? ", at least 3.5 %" : "");
	ok(null.ours <= 0.055 + room && (!low || null.ours >= 0.035 - room), what);
}

int
main(int argc, char **argv)
{
	sample = argc > 1 && strcmp(argv[1], "sample") == 0;
	for (int i = 0; i < lengthof(trials); i++)
		if (argc < 3 || strcmp(argv[2], kind_name[trials[i].kind]) == 0)
			try(&trials[i]);
	printf("1..%d\n", tests);
	return failures > 0;
}

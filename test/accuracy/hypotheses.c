/*
 * hypotheses.c
 *	  How often tests of noisy numbers reject: under their hypothesis, beside the level, and where it is wrong, beside
 *	  the test that sees no noise, and the naive one that takes noise for rows.
 *
 *	 hypotheses [full | sample] [independence | proportions | trend | goodness | means]	default: full, all of them
 *
 * Samples are drawn as the hypothesis says, noise as its law says, and each is tested at 5 % with 199 replicates
 * (1 % of these tests differ from those of 9,999).  A kind holds if no setting rejects more than 5.5 % under the
 * hypothesis, and those of chi-square and proportions with n epsilon >= 500 at least 3.5 %: with as many tests as
 * are made there, one whose level is 5 % fails by chance less than once in 10^6 (full).  A sample allows five standard errors.
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

/* Sums of a number that is beta distributed on [-100, 100], the mean of the second group moved. */
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
			double		u = rint((2 * x / (x + pe_dice_gamma(dice, 3)) - 1) * MEANS_MOST
								 * (1 - 0.1 * s->effect * (g == 1)));

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

	pe_dice_init(&dice, (uint64_t[2]) {(uint64_t) (s->n * 7 + s->rows), (uint64_t) (s->epsilon * 100 + k)});
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

int
main(int argc, char **argv)
{
	long count = argc > 2 ? atol(argv[2]) : 1000;

	for (int k = INDEPENDENCE; k <= MEANS; k++)
	{
		if (argc > 1 && strcmp(argv[1], kind_name[k]) != 0)
			continue;
		for (int shape = 0; shape < 3; shape++)
			for (int laplace = 0; laplace < 2; laplace++)
				for (int skewed = 0; skewed < 2; skewed++)
					for (double n = 100; n <= 10000; n *= 10)
						for (double epsilon = 0.1; epsilon < 20; epsilon *= 10)
						{
							setting s = {shape == 2 ? 4 : 2, shape == 0 ? 2 : 4, n, epsilon, laplace, skewed, 0};
							rates r;

							if (k == PROPORTIONS && shape > 0) continue;
							if (k == MEANS && (shape > 1 || n > 1000)) continue;
							if (k == MEANS && shape == 1) s.columns = 3;
							if (k == GOODNESS) { if (shape == 2) continue; s.rows = 1; }
							r = rates_of(k, &s, count, false);
							printf("%-12s %dx%d n %6g eps %4g %s %s level %.4f%s\n", kind_name[k], s.rows, s.columns, n, epsilon,
								laplace ? "laplace" : "gauss", skewed ? "skewed" : "", r.ours, r.ours > .055 ? " HIGH" : r.ours < .035 && n * epsilon >= 500 ? " LOW" : "");
							fflush(stdout);
						}
	}
	return failures > 0;
}

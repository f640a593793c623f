/*
 * test_hypothesis.c
 *	  Tests of hypotheses and contrasts from noisy numbers: statistics at no noise against formulas, p-values under the
 *	  hypothesis beside their level, the law of what is drawn, and how often intervals hold the truth.
 *
 * Statistical tests have seeds of their own: they do the same thing each time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "shim.h"
#include "statistics.h"
#include "study/contrast.h"
#include "study/hypothesis.h"
#include "study/noisy.h"

#define MOST 64

static pe_dice
dice_of(uint64_t seed)
{
	pe_dice		dice;

	pe_dice_init(&dice, (uint64_t[2]) {seed, 4711});
	return dice;
}

/* ----------
 * The generator
 * ----------
 */

/* Mean and variance of count draws, within seven standard errors of their mean; the fourth moment is at most 9 variance^2. */
static void
check_moments(const char *what, const double *drawn, int count, double mean, double variance)
{
	double		sum = 0;
	double		squares = 0;

	for (int i = 0; i < count; i++)
	{
		sum += drawn[i];
		squares += (drawn[i] - mean) * (drawn[i] - mean);
	}
	print_message("%s: mean %.5g of %.5g, variance %.5g of %.5g\n", what, sum / count, mean, squares / count, variance);
	assert_true(fabs(sum / count - mean) <= 7 * sqrt(variance / count));
	assert_true(fabs(squares / count - variance) <= 7 * variance * sqrt(9.0 / count));
}

static void
test_draws(void **state)
{
	int			count = fewer(200000, 20);
	double	   *drawn = pe_alloc(count, sizeof(double));
	pe_dice		dice = dice_of(1);
	static const double shape[] = {0.3, 1, 2.5, 400};
	static const double trials[][2] = {{20, 0.1}, {20, 0.9}, {100, 0.3}, {1e6, 0.5}, {1e9, 1e-9}};

	(void) state;
	for (int i = 0; i < count; i++)
		drawn[i] = pe_dice_uniform(&dice);
	check_moments("uniform", drawn, count, 0.5, 1.0 / 12);
	for (int i = 0; i < count; i++)
		drawn[i] = pe_dice_normal(&dice);
	check_moments("normal", drawn, count, 0, 1);
	for (int i = 0; i < count; i++)
		drawn[i] = pe_dice_exponential(&dice);
	check_moments("exponential", drawn, count, 1, 1);
	for (int s = 0; s < lengthof(shape); s++)
	{
		for (int i = 0; i < count; i++)
			drawn[i] = pe_dice_gamma(&dice, shape[s]);
		check_moments("gamma", drawn, count, shape[s], shape[s]);
	}
	for (int t = 0; t < lengthof(trials); t++)
	{
		double		n = trials[t][0];
		double		p = trials[t][1];

		for (int i = 0; i < count; i++)
			drawn[i] = pe_dice_binomial(&dice, n, p);
		check_moments("binomial", drawn, count, n * p, n * p * (1 - p));
	}
	pe_free(drawn);
}

/* Binomials against their probabilities: by steps, and by rejection. */
static void
test_binomial(void **state)
{
	static const double trials[][2] = {{12, 0.3}, {60, 0.4}, {60, 0.7}};
	pe_dice		dice = dice_of(2);

	(void) state;
	for (int t = 0; t < lengthof(trials); t++)
	{
		int			n = (int) trials[t][0];
		double		p = trials[t][1];
		long		count = scaled(1000000);
		long		seen[MOST] = {0};
		double		mass[MOST] = {0};
		int			from = (int) (n * p - 3 * sqrt(n * p * (1 - p)));
		int			bins = 0;

		from = from < 0 ? 0 : from;
		for (int k = 0; k <= n; k++)
		{
			int			bin = k < from ? 0 : k - from > (int) (6 * sqrt(n * p * (1 - p))) ? (int) (6 * sqrt(n * p * (1 - p))) : k - from;

			mass[bin] += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) + (n - k) * log(1 - p));
			bins = bin + 1 > bins ? bin + 1 : bins;
		}
		for (long i = 0; i < count; i++)
		{
			int			k = (int) pe_dice_binomial(&dice, n, p);
			int			bin = k < from ? 0 : k - from > (int) (6 * sqrt(n * p * (1 - p))) ? (int) (6 * sqrt(n * p * (1 - p))) : k - from;

			seen[bin]++;
		}
		check_chi_square("binomial", seen, mass, bins, count);
	}
}

static void
test_repeats(void **state)
{
	pe_dice		one = dice_of(3);
	pe_dice		same = dice_of(3);
	pe_dice		other = dice_of(4);
	double		p[3] = {0.2, 0.3, 0.5};
	double		x[3];

	(void) state;
	for (int i = 0; i < 100; i++)
	{
		uint64_t	word = pe_dice_word(&one);

		assert_true(word == pe_dice_word(&same));
		assert_true(word != pe_dice_word(&other));
	}
	for (int i = 0; i < 100; i++)
	{
		pe_dice_multinomial(&one, 1000, 3, p, x);
		assert_true(x[0] + x[1] + x[2] == 1000 && x[0] >= 0 && x[1] >= 0 && x[2] >= 0);
	}
}

/* ----------
 * Noise
 * ----------
 */

/* count numbers with a random covariance, made of parts measurements. */
static pe_noisy
made_noisy(int count, int parts, bool laplace)
{
	pe_noisy	noisy;

	pe_noisy_init(count, laplace, laplace ? parts : 0, &noisy);
	for (int j = 0; j < parts; j++)
	{
		double		weight[MOST];
		double		stderr_ = uniform(0.5, 3);

		for (int i = 0; i < count; i++)
			weight[i] = uniform(-1, 1);
		for (int i = 0; i < count; i++)
			for (int k = 0; k < count; k++)
				noisy.covariance[i * count + k] += weight[i] * weight[k] * stderr_ * stderr_;
		if (laplace)
		{
			memcpy(noisy.weight + j * count, weight, count * sizeof(double));
			noisy.stderr_[j] = stderr_;
		}
	}
	noisy.half[0] = 1.96;
	noisy.half[1] = 2.24;
	return noisy;
}

/* What is drawn has the covariance that it says, of both laws, also where it is singular. */
static void
test_noise(void **state)
{
	(void) state;
	pe_test_seed(5);
	for (int round = 0; round < 8; round++)
	{
		int			count = 1 + round % 4;
		pe_noisy	noisy = made_noisy(count, round < 4 ? 6 : 2, round % 2 == 1);
		long		draws = scaled(200000);
		double		drawn[MOST];
		double		sum[MOST] = {0};
		pe_table_noise noise;
		pe_dice		dice = dice_of(100 + round);

		pe_noisy_law(&noisy, &noise);
		for (long d = 0; d < draws; d++)
		{
			noise.draw(&noise, &dice, drawn);
			for (int i = 0; i < count; i++)
				for (int k = 0; k < count; k++)
					sum[i * count + k] += drawn[i] * drawn[k] / draws;
		}
		for (int i = 0; i < count; i++)
			for (int k = 0; k < count; k++)
			{
				double		scale = sqrt(noisy.covariance[i * count + i] * noisy.covariance[k * count + k]);

				assert_true(fabs(sum[i * count + k] - noisy.covariance[i * count + k]) < 7 * scale * sqrt(6.0 / draws));
			}
		pe_table_noise_free(&noise);
		pe_noisy_free(&noisy);
	}
	pe_test_unseed();
}

/* Sums with weights, numbers beside each other, and some of them, against the sums themselves. */
static void
test_map(void **state)
{
	(void) state;
	pe_test_seed(6);
	for (int round = 0; round < 20; round++)
	{
		bool		laplace = round % 2 == 1;
		pe_noisy	one = made_noisy(3, 4, laplace);
		pe_noisy	other = made_noisy(2, 3, laplace);
		double		c[5][5] = {{0}};
		double		map[10];
		double		value[5];
		pe_noisy	both;
		pe_noisy	sums;

		for (int i = 0; i < 5; i++)
			value[i] = *(i < 3 ? &one.value[i] : &other.value[i - 3]) = uniform(-9, 9);
		for (int i = 0; i < 5; i++)
			for (int k = 0; k < 5; k++)
				c[i][k] = i < 3 && k < 3 ? one.covariance[i * 3 + k] : i >= 3 && k >= 3
					? other.covariance[(i - 3) * 2 + k - 3] : 0;
		other.half[0] = 2.3;
		for (int i = 0; i < 10; i++)
			map[i] = uniform(-2, 2);
		both = pe_noisy_beside(&one, &other);
		assert_true(both.half[0] == 2.3 && both.half[1] == 2.24);
		sums = pe_noisy_map(&both, 2, map);
		for (int s = 0; s < 2; s++)
		{
			double		sum = 0;

			for (int i = 0; i < 5; i++)
				sum += map[s * 5 + i] * value[i];
			assert_true(fabs(sum - sums.value[s]) < 1e-9);
			for (int t = 0; t < 2; t++)
			{
				double		covariance = 0;
				double		from_parts = 0;

				for (int i = 0; i < 5; i++)
					for (int k = 0; k < 5; k++)
						covariance += map[s * 5 + i] * map[t * 5 + k] * c[i][k];
				assert_true(fabs(covariance - sums.covariance[s * 2 + t]) < 1e-9);
				for (int j = 0; j < sums.measurements; j++)
					from_parts += sums.weight[j * 2 + s] * sums.weight[j * 2 + t] * sums.stderr_[j] * sums.stderr_[j];
				assert_true(!laplace || fabs(covariance - from_parts) < 1e-9);
			}
		}
		sums = pe_noisy_choose(&sums, 1, (int32_t[1]) {1});
		assert_true(sums.count == 1 && fabs(sums.half[0] - 2.3) < 1e-12);
		pe_noisy_free(&sums);
	}
	pe_test_unseed();
}

/* ----------
 * Statistics without noise
 * ----------
 */

/* Independent noise of each cell. */
static void
make_noise(int cells, double stderr_, bool laplace, pe_table_noise *noise)
{
	pe_noisy	noisy;

	pe_noisy_init(cells, laplace, laplace ? cells : 0, &noisy);
	for (int i = 0; i < cells; i++)
	{
		noisy.covariance[i * cells + i] = stderr_ * stderr_;
		if (laplace)
		{
			noisy.weight[i * cells + i] = 1;
			noisy.stderr_[i] = stderr_;
		}
	}
	pe_noisy_law(&noisy, noise);
	pe_noisy_free(&noisy);
}

static const pe_bootstrap many = {9999, {11, 12}};

/* A table of Agresti's, Categorical Data Analysis, and one with an empty level. */
static void
test_textbook(void **state)
{
	static const double table[6] = {762, 327, 468, 484, 239, 477};
	static const double empty[8] = {762, 327, 0, 468, 484, 239, 0, 477};
	static const double score[4] = {1, 2, 3, 4};
	static const double p[3] = {0.5, 0.2, 0.3};
	pe_table_noise none;
	pe_test_result r;
	pe_noisy_table of = {2, 3, table, &none};

	(void) state;
	make_noise(6, 1e-6, false, &none);
	pe_test_independence(&of, &many, &r);
	assert_true(fabs(r.statistic - 30.0701) < 1e-3 && r.df == 2);
	assert_true(r.p_value >= 1e-4 && r.p_value < 2.5e-4);	/* 3e-7, and 1 of 10,000 is the least */
	assert_true(fabs(r.estimate - sqrt(30.0701 / 2757)) < 1e-5 && isnan(r.lower));
	pe_test_trend(&of, score, score, &many, &r);
	/* n r^2 with r = 0.10207 */
	assert_true(fabs(r.statistic - 2757 * r.estimate * r.estimate) < 1e-2 && r.df == 1 && r.estimate > 0.08);
	{
		double		as_usual = r.statistic;

		pe_test_trend(&of, (double[2]) {-1e308, 1e308}, (double[3]) {1e-300, 2e-300, 3e-300}, &many, &r);
		assert_true(fabs(r.statistic - as_usual) < 1e-6 && r.p_value < 2.5e-4);
	}
	pe_table_noise_free(&none);

	make_noise(8, 1e-6, false, &none);
	of = (pe_noisy_table) {2, 4, empty, &none};
	pe_test_independence(&of, &many, &r);
	assert_true(fabs(r.statistic - 30.0701) < 1e-3 && r.df == 2);
	pe_table_noise_free(&none);

	make_noise(3, 1e-6, false, &none);
	of = (pe_noisy_table) {1, 3, (double[3]) {52, 18, 30}, &none};
	pe_test_goodness(&of, p, &many, &r);
	assert_true(fabs(r.statistic - (4 / 50.0 + 4 / 20.0)) < 1e-6 && r.df == 2);
	assert_true(fabs(r.p_value - exp(-r.statistic / 2)) < 0.02);
	pe_table_noise_free(&none);

	make_noise(4, 1e-6, false, &none);
	of = (pe_noisy_table) {2, 2, (double[4]) {30, 20, 70, 80}, &none};
	pe_test_proportions(&of, &many, &r);
	assert_true(fabs(r.statistic - 0.1 / sqrt(0.25 * 0.75 * 2 / 100)) < 1e-4 && fabs(r.estimate - 0.1) < 1e-9);
	assert_true(fabs(r.p_value - erfc(r.statistic / sqrt(2))) < 0.03 && r.lower < 0 && r.upper > 0.2);
	pe_table_noise_free(&none);
}

/* Two groups of 10 and 20 whose t and degrees of freedom are known; three groups. */
static void
test_means(void **state)
{
	/* n, sum, sum of squares: means 5 and 3, variances 4 and 9 */
	static const double two[6] = {10, 20, 50, 60, 36 + 250, 171 + 180};
	static const double three[9] = {10, 20, 15, 50, 60, 60, 36 + 250, 171 + 180, 14 + 240};
	pe_table_noise none;
	pe_test_result r;
	pe_noisy_table of = {3, 2, two, &none};

	(void) state;
	make_noise(6, 1e-6, false, &none);
	pe_test_means(&of, 50, &many, &r);
	assert_true(fabs(r.statistic - 2 / sqrt(0.4 + 0.45)) < 1e-5);
	assert_true(fabs(r.df - 0.7225 / (0.16 / 9 + 0.2025 / 19)) < 1e-4);
	assert_true(fabs(r.p_value - 0.0398) < 0.01 && fabs(r.estimate - 2) < 1e-6);	/* of t with 25.4 degrees */
	assert_true(fabs((r.upper - r.lower) / 2 - 2.058 * sqrt(0.85)) < 0.06);
	pe_table_noise_free(&none);
	make_noise(9, 1e-6, false, &none);
	of = (pe_noisy_table) {3, 3, three, &none};
	pe_test_means(&of, 50, &many, &r);
	{
		double		w[3] = {2.5, 20 / 9.0, 15};
		double		m[3] = {5, 3, 4};
		double		n[3] = {10, 20, 15};
		double		all = w[0] + w[1] + w[2];
		double		mean = (w[0] * m[0] + w[1] * m[1] + w[2] * m[2]) / all;
		double		above = 0;
		double		below = 0;

		for (int g = 0; g < 3; g++)
		{
			above += w[g] * (m[g] - mean) * (m[g] - mean) / 2;
			below += pow(1 - w[g] / all, 2) / (n[g] - 1);
		}
		assert_true(fabs(r.statistic - above / (1 + below / 4)) < 1e-4 && r.df == 2 && isnan(r.estimate));
	}
	/* a group that nobody is in changes nothing */
	of.count = (double[9]) {10, .1, 20, 50, -.2, 60, 36 + 250, .3, 171 + 180};
	pe_test_means(&of, 50, &many, &r);
	assert_true(fabs(r.statistic - 2 / sqrt(0.4 + 0.45)) < 1e-5 && fabs(r.p_value - 0.0398) < 0.01);
	assert_true(fabs(r.estimate - 2) < 1e-6 && r.upper - r.lower < 4);
	pe_table_noise_free(&none);
}

/* Where there are no rows, or one level, or none beside the noise, nothing is known. */
static void
test_nothing(void **state)
{
	static const double score[2] = {1, 2};
	pe_table_noise noise;
	pe_test_result r;
	pe_noisy_table of = {2, 2, (double[4]) {-3, -5, 2, 1}, &noise};

	(void) state;
	make_noise(4, 10, false, &noise);
	pe_test_independence(&of, &many, &r);
	assert_true(r.p_value == 1 && isnan(r.statistic));
	of.count = (double[4]) {30, 0, 50, 0.2};
	pe_test_proportions(&of, &many, &r);
	assert_true(r.p_value == 1);
	of.count = (double[4]) {70, 10, 5, 60};
	pe_test_trend(&of, score, score, &many, &r);
	assert_true(r.p_value == 1 && r.lower < r.estimate && r.upper > r.estimate);
	pe_table_noise_free(&noise);
	make_noise(6, 10, false, &noise);
	of = (pe_noisy_table) {3, 2, (double[6]) {90, 95, 300, 10, 2000, 2000}, &noise};
	pe_test_means(&of, 50, &many, &r);
	assert_true(r.p_value == 1 && isnan(r.estimate));
	pe_table_noise_free(&noise);
}

/* ----------
 * Levels
 * ----------
 */

/*
 * How often a test at 5 % rejects a table of independent attributes, n rows, with noise: of 3,000 tests with 199
 * replicates, by chance above 7.2 % with a probability below 1e-7 where the level is 5 %.
 */
static double
level(int rows, int columns, double n, double stderr_, bool laplace, bool naive)
{
	int			count = fewer(3000, 30);
	int			cells = rows * columns;
	int			rejected = 0;
	double		p[MOST];
	double		x[MOST];
	double		e[MOST];
	pe_table_noise noise;
	pe_table_noise none;
	pe_noisy_table of = {rows, columns, x, &noise};
	pe_dice		dice = dice_of(20);

	make_noise(cells, stderr_, laplace, &noise);
	make_noise(cells, 1e-6, false, &none);
	of.noise = naive ? &none : &noise;
	for (int k = 0; k < cells; k++)
		p[k] = (1.0 + k / columns) / (rows * (rows + 1) / 2) * (1.0 + k % columns) / (columns * (columns + 1) / 2);
	for (int i = 0; i < count; i++)
	{
		pe_bootstrap how = {199, {i, 21}};
		pe_test_result r;

		pe_dice_multinomial(&dice, n, cells, p, x);
		noise.draw(&noise, &dice, e);
		for (int k = 0; k < cells; k++)
			x[k] += e[k];
		pe_test_independence(&of, &how, &r);
		rejected += r.p_value <= 0.05;
	}
	pe_table_noise_free(&noise);
	pe_table_noise_free(&none);
	print_message("%d x %d, n %g, noise %g%s%s: %.3f\n", rows, columns, n, stderr_, laplace ? ", Laplace" : "",
				  naive ? ", naive" : "", (double) rejected / count);
	return (double) rejected / count;
}

static void
test_level(void **state)
{
	double		most = quick() ? 0.18 : 0.072;

	(void) state;
	assert_true(level(2, 2, 1000, 10, false, false) < most);
	assert_true(level(2, 3, 200, 20, true, false) < most);
	assert_true(level(3, 3, 2000, 2, true, false) < most);
	assert_true(quick() || level(2, 2, 1000, 10, false, false) > 0.03);
	assert_true(level(2, 2, 1000, 20, false, true) > 0.15);	/* the test that sees no noise */
}

/* What is expected of a cell counts for no less than a third of its noise. */
static void
test_rare_cell(void **state)
{
	static const double count[] = {970, 10, 18, 2};
	static const double expected[] = {.98 * 988, .98 * 12, .02 * 988, .02 * 12};
	pe_table_noise noise;
	pe_noisy_table of = {2, 2, count, &noise};
	pe_test_result r;
	double		sum = 0;

	(void) state;
	make_noise(4, 3, false, &noise);
	pe_test_independence(&of, &(pe_bootstrap) {99, {1, 2}}, &r);
	for (int k = 0; k < 4; k++)
		sum += pow(count[k] - expected[k], 2) / (fmax(expected[k], 1) + 9);
	assert_true(fabs(r.statistic - sum) < 1e-9);
	pe_table_noise_free(&noise);
}

/* A p-value is the same for the same seed, and another one for another. */
static void
test_p_value_repeats(void **state)
{
	pe_table_noise noise;
	pe_noisy_table of = {2, 2, (double[4]) {120, 100, 90, 115}, &noise};
	pe_test_result a;
	pe_test_result b;
	pe_test_result c;

	(void) state;
	make_noise(4, 3, true, &noise);
	pe_test_independence(&of, &(pe_bootstrap) {999, {1, 2}}, &a);
	pe_test_independence(&of, &(pe_bootstrap) {999, {1, 2}}, &b);
	pe_test_independence(&of, &(pe_bootstrap) {999, {1, 3}}, &c);
	assert_true(memcmp(&a, &b, sizeof(a)) == 0 || a.p_value == b.p_value);
	assert_true(a.p_value != c.p_value && fabs(a.p_value - c.p_value) < 0.1 && a.statistic == c.statistic);
	pe_table_noise_free(&noise);
}

/* ----------
 * Contrasts
 * ----------
 */

/* How often intervals hold what two numbers, or averages, are to each other. */
static double
coverage(const double *truth, int count, bool ratio, const pe_noisy *made, int rounds)
{
	double		drawn[4];
	int			held = 0;
	double		one = count == 2 ? truth[0] : truth[0] / truth[1];
	double		other = count == 2 ? truth[1] : truth[2] / truth[3];
	double		is = ratio ? one / other : one - other;
	pe_noisy	noisy = *made;
	pe_table_noise noise;
	pe_dice		dice = dice_of(30);
	double		value[4];

	pe_noisy_law(made, &noise);
	noisy.value = value;
	for (int i = 0; i < rounds; i++)
	{
		pe_quotient q;
		double		average[2];

		noise.draw(&noise, &dice, drawn);
		for (int k = 0; k < count; k++)
			value[k] = truth[k] + drawn[k];
		if (count == 4)
			pe_contrast_of_averages(&noisy, (double[2]) {-1e6, 1e6}, ratio, &q, average);
		else if (ratio)
			pe_contrast_ratio(&noisy, &q);
		else
			pe_contrast_difference(&noisy, &q);
		held += q.lower <= is && is <= q.upper;
	}
	pe_table_noise_free(&noise);
	return (double) held / rounds;
}

static void
test_contrast(void **state)
{
	static const double truth[][4] = {{300, 40, 500, 60}, {3, 40, -5, 60}, {30, 4, 50, 6}, {2000, 20, 100, 15}};
	int			rounds = fewer(40000, 40);
	double		least = 0.945 - 5 * sqrt(0.05 / rounds);

	(void) state;
	pe_test_seed(31);
	for (int t = 0; t < lengthof(truth); t++)
		for (int scale = 0; scale < 3; scale++)
		{
			pe_noisy	two = made_noisy(2, 3, false);
			pe_noisy	four = made_noisy(4, 5, false);
			double		by = scale == 0 ? 1 : scale == 1 ? 25 : 400;

			for (int i = 0; i < 4; i++)
				two.covariance[i] *= by;
			for (int i = 0; i < 16; i++)
				four.covariance[i] *= by;
			for (int ratio = 0; ratio < 2; ratio++)
			{
				double		of_two = coverage(truth[t], 2, ratio, &two, rounds);
				double		of_four = coverage(truth[t], 4, ratio, &four, rounds);

				print_message("%d, noise %g, %s: %.4f, of averages %.4f\n", t, sqrt(by), ratio ? "ratio" : "difference",
							  of_two, of_four);
				assert_true(of_two > least && of_four > least);
			}
			pe_noisy_free(&two);
			pe_noisy_free(&four);
		}
	pe_test_unseed();
}

/* Noise that two numbers share falls out of their difference. */
static void
test_common_noise(void **state)
{
	pe_noisy	noisy;
	pe_quotient q;

	(void) state;
	pe_noisy_init(2, false, 0, &noisy);
	noisy.value[0] = 10;
	noisy.value[1] = 7;
	noisy.half[0] = 1.96;
	for (int i = 0; i < 4; i++)
		noisy.covariance[i] = 25;
	noisy.covariance[0] += 1;
	pe_contrast_difference(&noisy, &q);
	assert_true(fabs(q.estimate - 3) < 1e-12 && fabs(q.stderr_ - 1) < 1e-12 && fabs(q.upper - 4.96) < 1e-9);
	pe_noisy_free(&noisy);
}

/* What averages can be ends where their bounds do; one of no rows is not known. */
static void
test_averages_between_bounds(void **state)
{
	const double bounds[2] = {20, 80};
	pe_noisy	noisy;
	pe_quotient q;
	double		average[2];

	(void) state;
	pe_noisy_init(4, false, 0, &noisy);
	memcpy(noisy.value, (double[4]) {7900, 100, 45, 0.3}, sizeof(double[4]));
	noisy.half[0] = noisy.half[1] = 1.96;
	for (int i = 0; i < 4; i++)
		noisy.covariance[i * 5] = i % 2 == 0 ? 2500 : 1;
	pe_contrast_of_averages(&noisy, bounds, false, &q, average);
	assert_true(isnan(q.estimate) && q.lower == -60 && q.upper == 60);
	assert_true(fabs(average[0] - 79) < 1e-12 && isnan(average[1]));
	pe_contrast_of_averages(&noisy, bounds, true, &q, average);
	assert_true(isnan(q.estimate) && q.lower == 0.25 && q.upper == 4);
	pe_contrast_of_averages(&noisy, (double[2]) {-80, -20}, true, &q, average);
	assert_true(q.lower == 0.25 && q.upper == 4 && average[0] == -20);
	pe_contrast_of_averages(&noisy, (double[2]) {0, 80}, true, &q, average);
	assert_true(isinf(q.lower) && isinf(q.upper));
	/* estimates beyond the bounds */
	noisy.value[3] = 3;
	pe_contrast_of_averages(&noisy, bounds, false, &q, average);
	assert_true(average[1] == 20 && q.estimate <= 60 && q.lower >= -60 && q.upper <= 60);
	noisy.value[3] = 100;
	pe_contrast_of_averages(&noisy, bounds, false, &q, average);
	assert_true(average[1] == 20 && q.estimate == 60 && q.upper == 60 && q.lower > 50);
	pe_noisy_free(&noisy);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_draws),
		cmocka_unit_test(test_binomial),
		cmocka_unit_test(test_repeats),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_textbook),
		cmocka_unit_test(test_means),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_p_value_repeats),
		cmocka_unit_test(test_rare_cell),
		cmocka_unit_test(test_contrast),
		cmocka_unit_test(test_averages_between_bounds),
		cmocka_unit_test(test_common_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

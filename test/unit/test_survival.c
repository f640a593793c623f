/*
 * test_survival.c
 *	  Survival curves from released counts: actuarial estimates and Greenwood's variance against their formulas, consistent
 *	  counts against the conditions of an optimum, variances by noise against differences; and by simulation how often
 *	  intervals hold the truth, and the log-rank test refuses what is true.
 *
 * Simulations begin with a fixed seed, so failures repeat; with PG_EPSILON_QUICK set there are far fewer.
 * A bound of a rate has room of Z_MAX standard errors of that rate.  PE_TEST_PRINT prints the rates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "blocks/reconstruct.h"
#include "counts/survival.h"
#include "noise/interval.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

#define HALF 1.9599639845400545
#define MOST_BINS 32
#define MOST_GROUPS 3
#define MOST_COUNTS (2 * MOST_BINS * MOST_GROUPS)

/* ----------
 * Counts without noise
 * ----------
 */
static double zeros[MOST_COUNTS * MOST_COUNTS];

static pe_survival
curve_of(int bins, const double *count, const double *covariance)
{
	pe_survival_counts counts = {.bins = bins, .count = count, .covariance = covariance, .half = HALF};
	pe_survival s;

	pe_survival_find(&counts, &s);
	return s;
}

/* 100 rows in 3 bins: 10 events and 4 ends, 8 and 6, 12 and 60. */
static const double life_table[] = {10, 8, 12, 4, 6, 60};

static void
test_actuarial(void **state)
{
	pe_survival s = curve_of(3, life_table, zeros);
	double		exposed[] = {98, 83, 42};
	double		at_risk[] = {100, 86, 72, 0};
	double		survival = 1;
	double		greenwood = 0;

	(void) state;
	assert_int_equal(s.known, 3);
	assert_true(s.point[0].survival == 1 && s.point[0].lower == 1 && s.point[0].upper == 1);
	for (int j = 0; j < 4; j++)
		assert_true(close_to(s.point[j].at_risk, at_risk[j], 1e-12));
	for (int j = 0; j < 3; j++)
	{
		const pe_survival_point *p = &s.point[j + 1];
		double		d = life_table[j];
		double		log_log;

		survival *= 1 - d / exposed[j];
		greenwood += d / (exposed[j] * (exposed[j] - d));
		log_log = HALF * sqrt(greenwood) / -log(survival);
		assert_true(close_to(p->survival, survival, 1e-12));
		assert_true(close_to(p->stderr_, survival * sqrt(greenwood), 1e-12));
		assert_true(close_to(p->lower, pow(survival, exp(log_log)), 1e-9));
		assert_true(close_to(p->upper, pow(survival, exp(-log_log)), 1e-9));
	}
	pe_survival_free(&s);
}

/* One bin; no events; all events; nobody. */
static void
test_edges(void **state)
{
	double		one[] = {30, 70};
	double		none[] = {0, 0, 40, 60};
	double		all[] = {40, 60, 0, 0};
	double		nobody[] = {0, 0, 0, 0};
	double		edge[] = {0, 1, 2};
	pe_survival_counts counts = {.bins = 2, .count = nobody, .covariance = zeros, .half = HALF};
	pe_survival_figure f;
	pe_survival s = curve_of(1, one, zeros);

	(void) state;
	assert_true(close_to(s.point[1].survival, 1 - 30.0 / 65, 1e-12));
	pe_survival_free(&s);
	s = curve_of(2, none, zeros);
	assert_true(s.point[2].survival == 1 && s.point[2].upper == 1 && s.point[2].stderr_ == 0);
	/* as if one of those that are left had it */
	assert_true(close_to(s.point[2].lower, exp(-exp(HALF) / 30), 1e-9));
	pe_survival_free(&s);
	s = curve_of(2, all, zeros);
	assert_int_equal(s.known, 1);
	assert_true(s.point[2].survival == 0 && s.point[2].lower == 0 && s.point[2].upper == s.point[1].upper);
	assert_true(isnan(s.point[2].stderr_));
	pe_survival_free(&s);
	s = curve_of(2, nobody, zeros);
	assert_int_equal(s.known, 0);
	for (int j = 1; j < 3; j++)
		assert_true(s.point[j].survival == 1 && s.point[j].lower == 0 && s.point[j].upper == 1);
	f = pe_survival_mean(&s, &counts, edge, 2);
	assert_true(isnan(f.estimate) && f.lower == 0 && f.upper == 2);
	pe_survival_free(&s);
}

/* The last bin has later times too: the curve ends where it begins. */
static void
test_endless(void **state)
{
	pe_survival_counts counts = {
		.bins = 3, .endless = true, .count = life_table, .covariance = zeros, .half = HALF
	};
	double		edge[] = {0, 1, 2, 3};
	pe_survival_figure f;
	pe_survival s;

	(void) state;
	pe_survival_find(&counts, &s);
	assert_true(s.edges == 2 && s.known == 2);
	f = pe_survival_median(&s, edge);
	assert_true(isnan(f.estimate) && isnan(f.upper) && f.lower == 2);
	pe_survival_free(&s);
}

/* S is 1, 0.6, 0.3 at 0, 10, 20: the half is a third of the way. */
static void
test_median_and_mean(void **state)
{
	double		count[] = {40000, 30000, 0, 30000};
	double		edge[] = {0, 10, 20};
	pe_survival_counts counts = {.bins = 2, .count = count, .covariance = zeros, .half = HALF};
	pe_survival_figure f;
	pe_survival s;
	double		s1 = 0.6;
	double		q2 = 30000.0 / 45000;
	double		variance;

	(void) state;
	pe_survival_find(&counts, &s);
	f = pe_survival_median(&s, edge);
	assert_true(close_to(f.estimate, 10 + 10 * 0.1 / (s1 * q2), 1e-12));
	assert_true(f.lower == 10 && f.upper == 20);
	/* 8 + (0.6 + S(15)) / 2 * 5, a half of the way to S(20) */
	f = pe_survival_mean(&s, &counts, edge, 15);
	assert_true(close_to(f.estimate, 8 + 5 * (s1 + s1 * (1 - q2 / 2)) / 2, 1e-12));
	/* moving the hazard of bin 1 moves all that is behind 0 but its straight lines' weights on S(0) */
	variance = pow(f.estimate - 5, 2) * 0.4 / (100000 * 0.6) +
		pow(1.25 * s1 * (1 - q2), 2) * q2 / (45000 * (1 - q2));
	assert_true(close_to(f.stderr_, sqrt(variance), 1e-9));
	assert_true(close_to(f.upper - f.lower, 2 * HALF * f.stderr_, 1e-9));
	pe_survival_free(&s);
}

/* ----------
 * Noise
 * ----------
 */

/* The release of a workload over bins, event and groups: counts' covariance for noise of variance 1, and its root. */
typedef struct release
{
	int			bins;
	int			groups;
	int			counts;
	double		unit[MOST_COUNTS * MOST_COUNTS];
	double		root[MOST_COUNTS * MOST_COUNTS];	/* lower: L L' */
} release;

static void
parse(const char *source, pe_workload *workload)
{
	pe_text_error error;

	if (!pe_workload_parse(source, NULL, workload, &error))
		fail_msg("%s: %s", source, error.message);
}

/* By group, then events and withdrawals by bin. */
static void
arrange(release *r, const double *unit)
{
	int			each = 2 * r->bins;

	for (int i = 0; i < r->counts; i++)
		for (int k = 0; k < r->counts; k++)
			r->unit[i * r->counts + k] = unit[(i % each * r->groups + i / each) * r->counts +
											  k % each * r->groups + k / each];
}

static void
measure(release *r, int bins, int groups, const char *of_time)
{
	char		text[512];
	pe_workload workload;
	pe_workload counts;
	pe_strategy strategy;
	const pe_workload *one = &workload;
	pe_classes	classes;
	pe_measured measured = {&workload, &strategy, NULL, NULL};
	pe_reconstruction reconstruction;
	double	   *unit;
	pe_u128		sensitivity;

	r->bins = bins;
	r->groups = groups;
	r->counts = 2 * bins * groups;
	snprintf(text, sizeof(text), "%s(%d) * identity(2) * identity(%d)", of_time, bins, groups);
	parse(text, &workload);
	snprintf(text, sizeof(text), "identity(%d) * matrix(2; {{0,1}}) * identity(%d) + "
			 "identity(%d) * matrix(2; {{1,0}}) * identity(%d)", bins, groups, bins, groups);
	parse(text, &counts);
	pe_classes_init(&one, 1, &classes);
	assert_int_equal(pe_strategy_optimal(&workload, &classes, NULL, 1e-3, &strategy), PE_STRATEGY_OK);
	assert_true(pe_strategy_sensitivity_sq(&strategy, PE_ADD_REMOVE, 1, &sensitivity));
	assert_true(pe_reconstruction_init(&measured, &counts, &reconstruction));
	unit = matrix(r->counts, r->counts);
	pe_reconstruction_covariance(&reconstruction, unit);
	for (int i = 0; i < r->counts * r->counts; i++)
		unit[i] *= (double) sensitivity;
	arrange(r, unit);
	memcpy(r->root, r->unit, sizeof(r->root));
	assert_true(pe_la_cholesky(r->counts, r->root, r->counts));
	pe_free(unit);
	pe_reconstruction_free(&reconstruction);
	pe_strategy_free(&strategy);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
	pe_workload_free(&counts);
}

/* What is released: counts and covariance of all groups, and of each. */
typedef struct noisy
{
	double		count[MOST_COUNTS];
	double		all[MOST_COUNTS * MOST_COUNTS];
	double		covariance[MOST_GROUPS][4 * MOST_BINS * MOST_BINS];
	pe_survival_counts counts[MOST_GROUPS];
	pe_survival curve[MOST_GROUPS];
} noisy;

static void
draw(const release *r, const double *exact, double sigma, noisy *n)
{
	int			each = 2 * r->bins;
	double		z[MOST_COUNTS];

	for (int i = 0; i < r->counts; i++)
		z[i] = sigma * normal();
	for (int i = 0; i < r->counts; i++)
		n->count[i] = exact[i] + pe_la_dot(i + 1, r->root + i * r->counts, z);
	for (int i = 0; i < r->counts * r->counts; i++)
		n->all[i] = sigma * sigma * r->unit[i];
	for (int g = 0; g < r->groups; g++)
	{
		for (int i = 0; i < each; i++)
			memcpy(n->covariance[g] + i * each, n->all + (g * each + i) * r->counts + g * each, each * sizeof(double));
		n->counts[g] = (pe_survival_counts) {
			.bins = r->bins, .count = n->count + g * each, .covariance = n->covariance[g], .half = HALF
		};
		pe_survival_find(&n->counts[g], &n->curve[g]);
	}
}

static void
free_noisy(const release *r, noisy *n)
{
	for (int g = 0; g < r->groups; g++)
		pe_survival_free(&n->curve[g]);
}

/*
 * x >= 0 is the nearest of its total if C^-1 (x - y) is one number where x > 0, and not less where x = 0.
 */
static void
test_consistent(void **state)
{
	static release r;
	static noisy n;
	static double root[MOST_COUNTS * MOST_COUNTS];
	double		exact[MOST_COUNTS];
	int			zeros_seen = 0;

	(void) state;
	pe_test_seed(1);
	for (int round = 0; round < fewer(200, 10); round++)
	{
		double		g[MOST_COUNTS];
		double		total = 0;
		double		sum = 0;
		double		lambda = -INFINITY;

		measure(&r, between(1, 12), 1, round % 2 == 0 ? "prefix" : "identity");
		for (int i = 0; i < r.counts; i++)
			exact[i] = random_below(20) + 2;
		draw(&r, exact, uniform(1, 12), &n);
		memcpy(root, n.all, sizeof(root));
		assert_true(pe_la_cholesky(r.counts, root, r.counts));
		for (int i = 0; i < r.counts; i++)
		{
			g[i] = n.curve[0].event[i] - n.count[i];
			total += n.count[i];
			sum += n.curve[0].event[i];
			assert_true(n.curve[0].event[i] >= 0);
		}
		pe_la_cholesky_solve(r.counts, 1, root, r.counts, g, r.counts);
		if (total > 0)
			assert_true(close_to(sum, total, 1e-6));
		for (int i = 0; total > 0 && i < r.counts; i++)
			if (n.curve[0].event[i] > 1e-6)
				lambda = fmax(lambda, g[i]);
		for (int i = 0; total > 0 && i < r.counts; i++)
		{
			zeros_seen += n.curve[0].event[i] <= 1e-6;
			assert_true(g[i] > lambda - 1e-6);
		}
		for (int j = 0; j < r.bins; j++)
			assert_true(n.curve[0].point[j].at_risk >= n.curve[0].point[j + 1].at_risk);
		free_noisy(&r, &n);
	}
	assert_true(zeros_seen > 0);
}

/* The variance of -log S by the noise, with a gradient by differences: counts that are all above 0 stay as they are. */
static void
test_variance_by_noise(void **state)
{
	static release r;
	static noisy n;
	double		exact[] = {30, 25, 40, 20, 15, 35, 60, 200};

	(void) state;
	pe_test_seed(2);
	measure(&r, 4, 1, "prefix");
	draw(&r, exact, 1, &n);
	memcpy(n.count, exact, sizeof(exact));
	pe_survival_free(&n.curve[0]);
	pe_survival_find(&n.counts[0], &n.curve[0]);
	for (int j = 1; j <= 4; j++)
	{
		double		gradient[8];
		double		by_noise = 0;
		double		greenwood = 0;
		const pe_survival *s = &n.curve[0];

		for (int i = 0; i < 8; i++)
		{
			double		log_survival[2];

			for (int side = 0; side < 2; side++)
			{
				pe_survival moved;

				n.count[i] = exact[i] + (side == 0 ? -1e-4 : 1e-4);
				pe_survival_find(&n.counts[0], &moved);
				log_survival[side] = log(moved.point[j].survival);
				pe_survival_free(&moved);
			}
			n.count[i] = exact[i];
			gradient[i] = (log_survival[1] - log_survival[0]) / 2e-4;
		}
		for (int i = 0; i < 8; i++)
			for (int k = 0; k < 8; k++)
				by_noise += gradient[i] * gradient[k] * n.all[i * 8 + k];
		for (int i = 0; i < j; i++)
			greenwood += s->event[i] / (s->exposed[i] * (s->exposed[i] - s->event[i]));
		assert_true(close_to(pow(s->point[j].stderr_ / s->point[j].survival, 2), greenwood + by_noise, 1e-4));
	}
	free_noisy(&r, &n);
}

/* Cells that a predicate rules out have no noise, and no rows. */
static void
test_ruled_out(void **state)
{
	double		count[] = {30, 0, 20, 0, 10, 50};
	double		covariance[36] = {0};
	pe_survival s;

	(void) state;
	for (int i = 0; i < 6; i++)
		covariance[i * 7] = i != 1 && i != 3;
	s = curve_of(3, count, covariance);
	for (int i = 0; i < 6; i++)
		assert_true(fabs(s.event[i] - count[i]) < 1e-6);
	assert_int_equal(s.known, 3);
	pe_survival_free(&s);
	memset(count, 0, sizeof(count));
	memset(covariance, 0, sizeof(covariance));
	s = curve_of(3, count, covariance);
	assert_true(s.known == 0 && s.point[3].lower == 0 && s.point[3].upper == 1);
	pe_survival_free(&s);
}

/* ----------
 * Simulations
 * ----------
 */

/* Weibull times, censored by staggered entry, in equal bins from 0 to 1; one fifth may be lost at any time. */
typedef struct population
{
	int			bins;
	double		hazard;
	double		power;
	double		least;			/* no end before it, but of those who are lost */
	double		cumulated[2 * MOST_BINS];
} population;

static double
survival_at(const population *p, double t)
{
	return exp(-p->hazard * pow(t, p->power));
}

static double
followed_at(const population *p, double t)
{
	return (1 - 0.2 * t) * (t < p->least ? 1 : (1 - t) / (1 - p->least));
}

static void
prepare(population *p)
{
	const int	steps = 400;
	double		sum = 0;

	for (int i = 0; i < 2 * p->bins; i++)
	{
		double		mass = 0;

		for (int k = 0; k < steps; k++)
		{
			double		from = (i % p->bins + (double) k / steps) / p->bins;
			double		to = (i % p->bins + (k + 1.0) / steps) / p->bins;
			double		event = survival_at(p, from) - survival_at(p, to);
			double		end = followed_at(p, from) - followed_at(p, to);

			mass += i < p->bins ? event * followed_at(p, (from + to) / 2) : end * survival_at(p, (from + to) / 2);
		}
		p->cumulated[i] = sum += mass;
	}
	assert_true(fabs(sum - 1) < 1e-4);
}

static void
sample(const population *p, int rows, double *count)
{
	memset(count, 0, 2 * p->bins * sizeof(double));
	for (int i = 0; i < rows; i++)
	{
		double		u = random_unit() * p->cumulated[2 * p->bins - 1];
		int			from = 0;

		for (int to = 2 * p->bins - 1; from < to;)
		{
			int			middle = (from + to) / 2;

			if (u < p->cumulated[middle])
				to = middle;
			else
				from = middle + 1;
		}
		count[from]++;
	}
}

/* A mean of numbers that are drawn independently. */
typedef struct mean
{
	int			count;
	double		sum;
	double		squares;
} mean;

static void
add_to(mean *m, double x)
{
	m->count++;
	m->sum += x;
	m->squares += x * x;
}

static double
mean_of(const mean *m)
{
	return m->sum / m->count;
}

/* Its standard error; of no variation that of one that differed. */
static double
error_of(const mean *m)
{
	double		variance = m->squares / m->count - mean_of(m) * mean_of(m);

	return sqrt(fmax(variance, 1.0 / m->count / m->count) / m->count);
}

/* sigma for epsilon .1, 1 and 10 at delta 1e-9, under Gaussian accounting; and hardly any. */
static const double sigmas[] = {50.3, 5.51, 0.651, 1e-3};
static const double epsilons[] = {0.1, 1, 10, 1e6};
static const int sizes[] = {250, 2000, 20000};

static bool
prints(void)
{
	return getenv("PE_TEST_PRINT") != NULL;
}

/* What intervals hold: of all edges, of the median, of the restricted mean. */
static void
simulate_curves(const release *r, population *p, int size, int noise)
{
	static noisy n;
	mean		held = {0};
	mean		nothing = {0};
	mean		median = {0};
	mean		area = {0};
	double		edge[MOST_BINS + 1];
	double		true_median = pow(log(2) / p->hazard, 1 / p->power);
	double		true_area = 0;

	for (int j = 0; j <= p->bins; j++)
		edge[j] = (double) j / p->bins;
	for (int i = 0; i < 10000; i++)
		true_area += survival_at(p, (i + 0.5) / 10000 * 0.8) * 0.8 / 10000;
	for (int round = 0; round < fewer(600, 10); round++)
	{
		double		exact[2 * MOST_BINS];
		double		in = 0;
		double		all = 0;
		pe_survival_figure f;

		sample(p, size, exact);
		draw(r, exact, sigmas[noise], &n);
		for (int j = 1; j <= p->bins - 1; j++)
		{
			const pe_survival_point *point = &n.curve[0].point[j];
			double		truth = survival_at(p, edge[j]);

			in += point->lower <= truth && truth <= point->upper;
			all += point->lower == 0 && point->upper == 1;
		}
		add_to(&held, in / (p->bins - 1));
		add_to(&nothing, all / (p->bins - 1));
		f = pe_survival_median(&n.curve[0], edge);
		add_to(&median, f.lower <= true_median && !(f.upper < true_median));
		f = pe_survival_mean(&n.curve[0], &n.counts[0], edge, 0.8);
		add_to(&area, f.lower <= true_area && true_area <= f.upper);
		free_noisy(r, &n);
	}
	if (prints())
		printf("hazard %4g  n %5d  epsilon %-7g  intervals that hold the truth %5.1f %%, [0, 1] %5.1f %%;  "
			   "median %5.1f %%, restricted mean %5.1f %%\n", p->hazard, size, epsilons[noise], 100 * mean_of(&held),
			   100 * mean_of(&nothing), 100 * mean_of(&median), 100 * mean_of(&area));
	assert_true(mean_of(&held) + Z_MAX * error_of(&held) >= 0.945);
	assert_true(mean_of(&held) >= 0.93 - (quick() ? Z_MAX : 3) * error_of(&held));
	assert_true(mean_of(&median) >= 0.95 - Z_MAX * error_of(&median));
	assert_true(mean_of(&area) + Z_MAX * error_of(&area) >= 0.94);
}

static void
test_coverage(void **state)
{
	static release r;
	static const double hazards[] = {0.1, 0.6, 3};

	(void) state;
	pe_test_seed(3);
	measure(&r, 24, 1, "prefix");
	for (int h = 0; h < lengthof(hazards); h++)
	{
		population	p = {.bins = 24, .hazard = hazards[h], .power = 1.2, .least = 0.5};

		prepare(&p);
		for (int size = 0; size < lengthof(sizes); size++)
			for (int noise = 0; noise < lengthof(sigmas); noise++)
				simulate_curves(&r, &p, sizes[size], noise);
	}
}

/*
 * The part of tests of groups of one law that are refused at 5 %; beside it, if the noise is left out.  few: so many
 * rows are in the last group, -1: its share.
 */
static void
simulate_level(const release *r, const population *p, int size, int few, int noise)
{
	static noisy n;
	static double none[MOST_COUNTS * MOST_COUNTS];
	mean		refused = {0};
	mean		naive = {0};
	mean		left_out = {0};

	for (int round = 0; round < fewer(2000, 10); round++)
	{
		double		exact[MOST_COUNTS];
		pe_survival_test test;

		/* groups of different sizes */
		for (int g = 0; g < r->groups; g++)
			sample(p, few >= 0 && g == r->groups - 1 ? few : size * (g + 1) * 2 / (r->groups * (r->groups + 1)),
				   exact + g * 2 * r->bins);
		draw(r, exact, sigmas[noise], &n);
		pe_survival_compare(r->groups, n.counts, n.curve, n.all, &test);
		add_to(&refused, test.df > 0 && test.p_value <= 0.05);
		add_to(&left_out, test.df < r->groups - 1);
		pe_survival_compare(r->groups, n.counts, n.curve, none, &test);
		add_to(&naive, test.df > 0 && test.p_value <= 0.05);
		free_noisy(r, &n);
	}
	if (prints())
		printf("%d groups%s  n %5d  epsilon %-7g  level at nominal 5 %%: %5.2f %%;  noise left out %5.2f %%;  "
			   "fewer are compared in %5.1f %%\n", r->groups, few == 0 ? ", one empty" : few > 0 ? ", one of 20" : "",
			   size, epsilons[noise], 100 * mean_of(&refused), 100 * mean_of(&naive), 100 * mean_of(&left_out));
	assert_true(mean_of(&refused) <= 0.055 + 3 * error_of(&refused));
	if (few == 0)				/* an interval of its rows is above 0 in one of forty */
		assert_true(mean_of(&left_out) >= 0.975 - Z_MAX * error_of(&left_out));
	if (size * epsilons[noise] >= 2000)
		assert_true(mean_of(&refused) >= 0.035 - 3 * error_of(&refused));
}

static void
test_level(void **state)
{
	static release r;
	population	p = {.bins = 16, .hazard = 0.6, .power = 1.2, .least = 0.5};

	(void) state;
	pe_test_seed(4);
	prepare(&p);
	for (int groups = 2; groups <= MOST_GROUPS; groups++)
	{
		measure(&r, 16, groups, "prefix");
		for (int size = 0; size < lengthof(sizes); size++)
			for (int noise = 0; noise < lengthof(sigmas); noise++)
				simulate_level(&r, &p, sizes[size], -1, noise);
	}
	for (int few = 0; few <= 20; few += 20)
		for (int size = 0; size < lengthof(sizes); size++)
			for (int noise = 0; noise < lengthof(sigmas); noise++)
				simulate_level(&r, &p, sizes[size], few, noise);
}

/* What is at risk is known from four standard errors on, and not from three. */
static void
test_known(void **state)
{
	double		count[] = {10, 10, 10, 30, 30, 30};
	double		covariance[36] = {0};
	pe_survival s;

	(void) state;
	/* r' of the first bin is five counts and half of one: a variance of 5.25 times one's */
	for (double part = 0.9; part < 1.2; part += 0.2)
	{
		double		exposed = 120 - 15;
		double		stderr_ = part * exposed / PE_SURVIVAL_KNOWN;

		for (int i = 0; i < 6; i++)
			covariance[i * 7] = stderr_ * stderr_ / 5.25;
		s = curve_of(3, count, covariance);
		assert_true((s.known > 0) == (part < 1));
		pe_survival_free(&s);
	}
}

/* U of the first of two groups of two bins, from counts of events and withdrawals of each. */
static double
first_u(const double *count)
{
	double		u = 0;

	for (int j = 0; j < 2; j++)
	{
		double		exposed[2];

		for (int g = 0; g < 2; g++)
		{
			const double *c = count + 4 * g;

			exposed[g] = (j == 0 ? c[0] + c[2] : 0) + c[1] + c[3] - c[2 + j] / 2;
		}
		u += count[j] - (count[j] + count[4 + j]) * exposed[0] / (exposed[0] + exposed[1]);
	}
	return u;
}

/* The variance of U by the noise, with a gradient by differences. */
static void
test_log_rank_by_noise(void **state)
{
	double		count[] = {10, 8, 20, 62, 20, 15, 15, 50};
	double		all[64] = {0};
	double		each[16] = {0};
	pe_survival_counts counts[2];
	pe_survival curve[2];
	pe_survival_test exact;
	pe_survival_test test;
	double		u = first_u(count);
	double		by_noise = 0;

	(void) state;
	for (int i = 0; i < 8; i++)
	{
		double		moved[8];
		double		slope;

		memcpy(moved, count, sizeof(moved));
		moved[i] += 1e-4;
		slope = (first_u(moved) - u) / 1e-4;
		by_noise += slope * slope * 4;
		all[i * 9] = 4;
		each[i % 4 * 5] = 4;
	}
	for (int g = 0; g < 2; g++)
	{
		counts[g] = (pe_survival_counts) {.bins = 2, .count = count + 4 * g, .covariance = each, .half = HALF};
		pe_survival_find(&counts[g], &curve[g]);
	}
	pe_survival_compare(2, counts, curve, zeros, &exact);
	pe_survival_compare(2, counts, curve, all, &test);
	assert_true(close_to(test.statistic, u * u / (u * u / exact.statistic + by_noise), 1e-3));
	for (int g = 0; g < 2; g++)
		pe_survival_free(&curve[g]);
}

/* Without noise it is the usual test: of two groups, from the sums. */
static void
test_log_rank(void **state)
{
	double		count[] = {10, 8, 20, 62, 20, 15, 15, 50};
	pe_survival_counts counts[2];
	pe_survival curve[2];
	pe_survival_test test;
	double		u = 0;
	double		variance = 0;

	(void) state;
	for (int g = 0; g < 2; g++)
	{
		counts[g] = (pe_survival_counts) {.bins = 2, .count = count + 4 * g, .covariance = zeros, .half = HALF};
		pe_survival_find(&counts[g], &curve[g]);
	}
	for (int j = 0; j < 2; j++)
	{
		double		d = count[j] + count[4 + j];
		double		mine = curve[0].exposed[j];
		double		both = mine + curve[1].exposed[j];

		u += count[j] - d * mine / both;
		variance += d * (both - d) / (both - 1) * mine / both * (1 - mine / both);
	}
	pe_survival_compare(2, counts, curve, zeros, &test);
	assert_true(test.df == 1 && test.bins == 2);
	assert_true(close_to(test.statistic, u * u / variance, 1e-9));
	assert_true(close_to(test.p_value, chi_square_tail(test.statistic, 1), 1e-9));
	for (int g = 0; g < 2; g++)
		pe_survival_free(&curve[g]);
}

/* A third group without rows is left out: the test is that of the other two, by one degree of freedom. */
static void
test_empty_group(void **state)
{
	double		count[] = {10, 8, 20, 62, 20, 15, 15, 50, 0.5, -0.5, 1, -0.5};
	double		of_two[64] = {0};
	double		all[144] = {0};
	double		each[16] = {0};
	pe_survival_counts counts[3];
	pe_survival curve[3];
	pe_survival_test two;
	pe_survival_test three;

	(void) state;
	for (int i = 0; i < 12; i++)
		all[i * 13] = each[i % 4 * 5] = of_two[i % 8 * 9] = 4;
	for (int g = 0; g < 3; g++)
	{
		counts[g] = (pe_survival_counts) {.bins = 2, .count = count + 4 * g, .covariance = each, .half = HALF};
		pe_survival_find(&counts[g], &curve[g]);
	}
	pe_survival_compare(2, counts, curve, of_two, &two);
	pe_survival_compare(3, counts, curve, all, &three);
	assert_true(two.df == 1 && three.df == 1 && three.bins == two.bins);
	assert_true(close_to(three.statistic, two.statistic, 1e-12) && three.p_value < 0.2);
	pe_survival_compare(2, counts + 1, curve + 1, of_two, &two);
	assert_true(two.df == 0 && two.statistic == 0 && isnan(two.p_value));
	for (int g = 0; g < 3; g++)
		pe_survival_free(&curve[g]);
}

static void
test_chi_squared(void **state)
{
	(void) state;
	for (int df = 1; df < 40; df++)
		for (double x = 0.01; x < 200; x *= 1.7)
			assert_true(fabs(pe_chi_squared_above(x, df) - chi_square_tail(x, df)) < 1e-12);
	assert_true(pe_chi_squared_above(0, 3) == 1 && pe_chi_squared_above(-1, 2) == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_actuarial),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_median_and_mean),
		cmocka_unit_test(test_consistent),
		cmocka_unit_test(test_variance_by_noise),
		cmocka_unit_test(test_ruled_out),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_log_rank),
		cmocka_unit_test(test_log_rank_by_noise),
		cmocka_unit_test(test_empty_group),
		cmocka_unit_test(test_chi_squared),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

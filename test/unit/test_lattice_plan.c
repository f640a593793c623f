/*
 * test_lattice_plan.c
 *	  Proposals of the exponential mechanism are bounded by what is public.
 *
 * The bound of lattice_law.h is compared with integrals and held against random problems;
 * the draw itself counts proposals.  test_lattice_law.c is about the law.
 *
 * PE_TEST_PROBLEMS: so many random problems instead of the default.
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

#include "affine/affine.h"
#include "affine/affine_lattice.h"
#include "minimum/lattice_law.h"
#include "minimum/minimum.h"
#include "shim.h"
#include "statistics.h"

#define MOST 5					/* variables */

/* A fixed sequence: problems are the same in every run. */
static double
next_public(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double) (*state >> 11) * 0x1p-53;
}

static double
next_normal(uint64_t *state)
{
	double		sum = -6;

	for (int i = 0; i < 12; i++)
		sum += next_public(state);
	return sum;
}

static double
between(uint64_t *state, double least, double most)
{
	return least * pow(most / least, next_public(state));
}

/* ----------
 * The bound
 * ----------
 */

/* The integral over u of exp(-a |u - p| - b |u - q|), by many steps. */
static double
integral(double a, double b, double p, double q)
{
	const int	steps = 4000;
	double		sum = 0;

	for (int i = 0; i < steps; i++)
	{
		double		u = (i + 0.5) / steps;

		sum += exp(-a * fabs(u - p) - b * fabs(u - q));
	}
	return sum / steps;
}

/* What a plan says is the least integral over both places; all of the public cells lie along the one coordinate. */
static void
test_factors(void **state)
{
	uint64_t	seed = 3;

	(void) state;
	for (int i = 0; i < 200; i++)
	{
		double		lambda = between(&seed, 0.01, 20);
		double		mu = i % 2 == 0 ? 0 : i % 8 == 1 ? lambda : between(&seed, 0.01, 20);
		double		change[3] = {0, ldexp(lambda, PE_PLAN_PARTS), 0};
		double		prior[3] = {0, ldexp(mu, PE_PLAN_PARTS), 0};
		double		slack = mu > 0 ? exp(-1) : exp(-0.5);
		double		step = exp(-ldexp(lambda + mu, PE_PLAN_PARTS - PE_LATTICE_BITS) / 2);
		double		least = INFINITY;
		pe_lattice_plan plan;

		pe_lattice_plan_make(&plan, 3, change, prior, false);
		assert_int_equal(plan.part[1], PE_PLAN_PARTS);
		for (int p = 0; p <= 4; p++)
			for (int q = 0; q <= 4; q++)
				least = fmin(least, integral(lambda, mu, p / 4.0, q / 4.0));
		assert_true(fabs(plan.acceptance / (least * slack * step) - 1) < 1e-3);
	}
}

/* Finite where the bound is too small, where it is no number, and among inequalities. */
static void
test_decisions(void **state)
{
	const double little[5] = {10, 10, 10, 10, 10};
	const double much[5] = {1e6, 1e6, 1e6, 1e6, 1e6};
	const double endless[5] = {INFINITY, 1, 1, 1, 1};
	const double none[5] = {0};
	pe_lattice_plan plan;

	(void) state;
	for (int32_t d = 1; d <= 8; d++)
	{
		for (int cut = 0; d > 5 && cut < 2; cut++)
		{
			pe_lattice_plan_make(&plan, d, little, none, cut != 0);
			assert_true(plan.finite);
		}
		if (d > 5)
			continue;
		pe_lattice_plan_make(&plan, d, little, none, false);
		assert_false(plan.finite);
		assert_true(d < 3 ? isinf(pe_lattice_plan_proposals(&plan)) : pe_lattice_plan_proposals(&plan) < 10000);
		pe_lattice_plan_make(&plan, d, none, none, false);
		assert_false(plan.finite);
		pe_lattice_plan_make(&plan, d, little, none, true);
		assert_int_equal(plan.finite, d >= 3);
		assert_true(plan.finite || isinf(pe_lattice_plan_proposals(&plan)));
		pe_lattice_plan_make(&plan, d, much, none, false);
		assert_int_equal(plan.finite, d >= 3);
		pe_lattice_plan_make(&plan, d, endless, none, false);
		assert_int_equal(plan.finite, d >= 3);
	}
}

/* ----------
 * Problems
 * ----------
 */
typedef struct instance
{
	pe_affine	f;
	pe_affine_lattice lattice;
	pe_minimum_problem problem;
	double		lower[MOST];
	double		upper[MOST];
	double		centre[MOST];
	double		steepest[MOST];
	double		inequality[MOST + 1];
	pe_lattice_plan plan;
} instance;

static void
start(instance *in, int32_t d, double half, double max_change, double epsilon)
{
	memset(in, 0, sizeof(*in));
	for (int32_t j = 0; j < d; j++)
	{
		in->lower[j] = -half;
		in->upper[j] = half;
	}
	in->problem = (pe_minimum_problem) {
		.method = PE_MINIMUM_EXPONENTIAL, .set = {d, 0, in->lower, in->upper, in->inequality}, .lower = in->lower,
		.upper = in->upper, .centre = in->centre, .max_change = max_change, .accounting = PE_PURE, .nano = (int64_t) (epsilon * 1e9)
	};
	pe_affine_init(&in->f, d, pe_affine_unit(max_change));
}

static void
add(instance *in, const double *slope, double offset)
{
	for (int32_t j = 0; j < in->f.variables; j++)
		in->steepest[j] = fmax(in->steepest[j], fabs(slope[j]));
	pe_affine_add(&in->f, slope, pe_affine_offset(offset, in->f.unit));
}

static pe_lattice_law *
finish(instance *in)
{
	const pe_minimum_problem *p = &in->problem;

	pe_minimum_plan(p, in->steepest, &in->plan);
	pe_affine_lattice_init(&in->lattice, &in->f, &p->set, in->lower, in->upper, p->max_change);
	return pe_lattice_law_make(&in->lattice, pe_exponential_rate(in->lattice.change, PE_PURE, p->nano),
							   pe_prior_rate(p->options.prior, in->lattice.unit), in->centre,
							   pe_lattice_law_memory(p->set.variables, in->f.rows, p->set.inequalities), &in->plan);
}

static void
drop(instance *in, pe_lattice_law *law)
{
	pe_lattice_law_free(law);
	pe_affine_lattice_free(&in->lattice);
	pe_affine_free(&in->f);
}

/* So many draws, each of no more proposals than are public; returns the most. */
static double
draw(const instance *in, const pe_lattice_law *law, int draws)
{
	double		allowed = in->plan.finite ? 100 : pe_lattice_plan_proposals(&in->plan);
	double		most = 0;
	int64_t		at[MOST];
	static pe_bits bits;

	pe_bits_init(&bits);
	for (int i = 0; i < draws; i++)
	{
		double		proposals = (double) pe_lattice_law_draw(law, &bits, at);

		assert_true(proposals <= allowed);
		assert_true(pe_lattice_inside(&in->lattice, at));
		most = fmax(most, proposals);
	}
	pe_bits_wipe(&bits);
	return most;
}

/* ----------
 * Random problems
 * ----------
 */

/* Slopes that are normal, or come in opposite pairs, along whose crossing the function is level. */
static void
add_rows(instance *in, uint64_t *seed)
{
	int			rows = 2 + (int) (next_public(seed) * 30);
	bool		pairs = next_public(seed) < 0.3;
	double		scale = between(seed, 0.01, 10);
	double		slope[MOST];

	for (int i = 0; i < rows; i++)
	{
		for (int32_t j = 0; j < in->f.variables; j++)
			slope[j] = pairs && i % 2 == 1 ? -slope[j] : scale * next_normal(seed);
		add(in, slope, (next_public(seed) < 0.2 ? -100 : 1) * scale * next_normal(seed));
	}
}

/* sum x <= something, with the centre well inside */
static void
add_inequality(instance *in)
{
	for (int32_t j = 0; j < in->f.variables; j++)
		in->inequality[j] = 1;
	in->inequality[in->f.variables] = in->upper[0] / 2;
	in->problem.set.inequalities = 1;
}

static void
test_random(void **state)
{
	const char *given = getenv("PE_TEST_PROBLEMS");
	int			problems = given != NULL ? atoi(given) : test_scale() < 1 ? 20 : 150;
	uint64_t	seed = 29;
	int			whole = 0;
	double		most = 0;

	(void) state;
	for (int i = 0; i < problems; i++)
	{
		int32_t		d = 3 + i % 3;
		instance	in;
		pe_lattice_law *law;

		start(&in, d, between(&seed, 0.1, 10), between(&seed, 1e-6, 10), between(&seed, 0.01, 10));
		add_rows(&in, &seed);
		if (next_public(&seed) < 0.2)
			in.problem.options.prior = between(&seed, 0.001, 1);
		if (next_public(&seed) < 0.2)
			add_inequality(&in);
		law = finish(&in);
		whole += !in.plan.finite;
		most = fmax(most, draw(&in, law, 3) / (in.plan.finite ? INFINITY : pe_lattice_plan_proposals(&in.plan)));
		drop(&in, law);
	}
	assert_true(whole > problems / 10 && whole < problems - problems / 10);
	print_message("%d problems, %d on the whole lattice, at most %.3g of the public number of proposals\n", problems, whole, most);
}

/*
 * Two opposite rows: level on a plane that is askew to all axes, and steep across it.  At a
 * tiny max_change no cell of 20,000 is ever accepted from; below the limit of a plan the
 * public cells are what helps.
 */
static void
check_level(int32_t d, double max_change, bool finite)
{
	const double slope[MOST] = {1, -0.71, 0.83, 0.59, -0.93};
	double		opposite[MOST];
	int64_t		at[MOST];
	int32_t		cells = 0;
	instance	in;
	pe_lattice_law *law;

	start(&in, d, 1, max_change, 1);
	for (int32_t j = 0; j < d; j++)
		opposite[j] = -slope[j];
	add(&in, slope, 0.1);
	add(&in, opposite, 0);
	law = finish(&in);
	assert_int_equal(in.plan.finite, finite);
	while (!finite && pe_lattice_law_corner(law, cells, at))
		cells++;
	/* more than the best-first division alone has */
	assert_true(finite || cells > 20000);
	(void) draw(&in, law, 5);
	drop(&in, law);
}

static void
test_level(void **state)
{
	const double limit[MOST + 1] = {0, 0, 0, 0.001, 0.007, 0.02};

	(void) state;
	for (int32_t d = 3; d <= MOST; d++)
	{
		check_level(d, 1e-9, true);
		check_level(d, limit[d], false);
	}
}

/* Neither which points there are nor how many depends on offsets. */
static void
test_public_points(void **state)
{
	(void) state;
	for (int cut = 0; cut < 2; cut++)
	{
		uint64_t	seed = 17;
		instance	in[2];
		pe_lattice_law *law[2];
		int64_t		at[2][MOST];
		int32_t		count = 0;

		for (int k = 0; k < 2; k++)
		{
			seed = 17;
			start(&in[k], 3, 1, 1e-6, 1);
			add_rows(&in[k], &seed);
			for (int32_t i = 0; i < in[k].f.rows; i++)
				in[k].f.offset[i] = k == 0 ? in[k].f.offset[i] : -in[k].f.offset[i] * (i % 7);
			if (cut != 0)
				add_inequality(&in[k]);
			law[k] = finish(&in[k]);
			assert_true(in[k].plan.finite);
		}
		while (pe_lattice_law_corner(law[0], count, at[0]))
		{
			assert_true(pe_lattice_law_corner(law[1], count++, at[1]));
			assert_memory_equal(at[0], at[1], 3 * sizeof(int64_t));
			assert_true(pe_lattice_inside(&in[0].lattice, at[0]));
		}
		assert_false(pe_lattice_law_corner(law[1], count, at[1]));
		assert_true(count > PE_PLAN_POINTS / 4 && count <= PE_PLAN_POINTS);
		for (int k = 0; k < 2; k++)
			drop(&in[k], law[k]);
	}
}

/* ----------
 * The law on a grid
 * ----------
 */

/* Bins that mix all parts of the box. */
static int
bin_of(const int64_t *at, int bins)
{
	return (int) ((at[0] + 3 * at[1] + 7 * at[2]) % bins);
}

/* The score at each point, by rows of the lattice. */
static double *
scores_of(const instance *in, const int64_t *point, int32_t count)
{
	double	   *score = malloc((size_t) count * sizeof(*score));

	for (int32_t i = 0; i < count; i++)
	{
		pe_i128		most = pe_lattice_row(&in->lattice, 0, point + 3 * i);

		for (int32_t k = 1; k < in->f.rows; k++)
		{
			pe_i128		value = pe_lattice_row(&in->lattice, k, point + 3 * i);

			most = value > most ? value : most;
		}
		score[i] = (double) most;
	}
	return score;
}

/* Chances of draws, in bins, against how often they are drawn. */
static void
test_grid_law(void **state)
{
	const long	n = scaled(20000);
	const int	bins = 61;
	uint64_t	seed = 41;
	instance	in;
	pe_lattice_law *law;
	int64_t    *point = malloc((size_t) PE_PLAN_POINTS * 3 * sizeof(*point));
	double		mass[64] = {0};
	long		seen[64] = {0};
	double	   *score;
	double		rate;
	double		least = INFINITY;
	double		sum = 0;
	double		chi = 0;
	int			kept = 0;
	int32_t		count = 0;
	static pe_bits bits;

	(void) state;
	start(&in, 3, 1, 0.05, 1);
	add_rows(&in, &seed);
	add_inequality(&in);
	law = finish(&in);
	assert_true(in.plan.finite);
	while (pe_lattice_law_corner(law, count, point + 3 * count))
		count++;
	score = scores_of(&in, point, count);
	rate = 1 / (2 * (double) in.lattice.change);
	for (int32_t i = 0; i < count; i++)
		least = fmin(least, score[i]);
	for (int32_t i = 0; i < count; i++)
		sum += exp(-rate * (score[i] - least));
	for (int32_t i = 0; i < count; i++)
		mass[bin_of(point + 3 * i, bins)] += exp(-rate * (score[i] - least)) / sum;
	pe_bits_init(&bits);
	for (long i = 0; i < n; i++)
	{
		int64_t		at[MOST];

		(void) pe_lattice_law_draw(law, &bits, at);
		seen[bin_of(at, bins)]++;
	}
	pe_bits_wipe(&bits);
	for (int i = 0; i < bins; i++)
	{
		double		expected = mass[i] * (double) n;

		kept += expected > 0;
		chi += expected > 0 ? ((double) seen[i] - expected) * ((double) seen[i] - expected) / expected : 0;
	}
	assert_true(chi_square_tail(chi, kept - 1) > P_MIN);
	drop(&in, law);
	free(score);
	free(point);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_factors),
		cmocka_unit_test(test_decisions),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_public_points),
		cmocka_unit_test(test_grid_law),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

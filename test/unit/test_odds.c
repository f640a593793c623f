/*
 * test_odds.c
 *	  What a logistic regression says of a population: rows are drawn anew for each fit, and the weights of the
 *	  population are within 1.96 of the standard errors that are reported, noise and sampling together, nine times in ten
 *	  or more, wherever one is reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "fit/measure.h"
#include "models.h"
#include "shim.h"
#include "allowance.h"

/* Two numbers, the constant, a group of three cells. */
#define CELLS 3
#define COLUMNS (3 + CELLS)

/* Of the population: the constant, a uniform number, a skewed one; cells. */
static const double weight[] = {1, -0.5};
static const double of_cell[CELLS] = {0, 0.5, -0.7};

typedef struct setting
{
	int			rows;
	int64_t		nano;
	double		constant;
	double		iterations;		/* 0: as ever */
	double		clip;			/* 0: the longest row */
} setting;

static void
draw(table *t, const setting *s, stream *from)
{
	table_start(t, 2, 1, CELLS);
	for (int i = 0; i < s->rows; i++)
	{
		double		x[2] = {2 * stream_uniform(from) - 1, fmin(-log(1 - stream_uniform(from)), 4) / 2 - 1};
		int			cell[1] = {(int) (stream_uniform(from) * CELLS)};
		double		margin = s->constant + weight[0] * x[0] + weight[1] * x[1] + of_cell[cell[0]];

		table_add(t, x, cell, stream_uniform(from) < 1 / (1 + exp(-margin)), true);
	}
}

static void
prepare(const table *t, const setting *s, double *covariance, pe_fit_population *population, pe_fit_problem *problem)
{
	static const bool covering[] = {true};

	problem_of(t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, s->nano, problem);
	problem->covering = covering;
	problem->covariance = covariance;
	problem->population = population;
	problem->options.clip = s->clip > 0 ? s->clip : sqrt((double) t->radius_sq) / PE_ONE;
	if (s->iterations > 0)
		problem->options.iterations = s->iterations;
	assert_null(pe_fit_defaults(problem));
}

/* The difference of a linear function of the weights from that of the population, in standard errors. */
static double
off_by(const double *w, const double *covariance, int plus, int minus, double truth)
{
	double		variance = covariance[plus * (COLUMNS + 1)];
	double		off = w[plus] - truth;

	if (minus >= 0)
	{
		variance += covariance[minus * (COLUMNS + 1)] - 2 * covariance[plus * COLUMNS + minus];
		off -= w[minus];
	}
	assert_true(variance > 0);
	return fabs(off) / sqrt(variance);
}

/* covered: of both numbers and of two differences of cells; returns how many fits reported standard errors. */
static int
cover(const setting *s, int fits, int *covered)
{
	stream		from = {(uint64_t) s->rows + (uint64_t) s->nano};
	int			known = 0;

	memset(covered, 0, 4 * sizeof(int));
	for (int i = 0; i < fits; i++)
	{
		double		room[2][COLUMNS * COLUMNS];
		double		w[COLUMNS];
		pe_fit_population population = {room[1], PE_FIT_KNOWN};
		pe_fit_problem problem;
		table		t;

		draw(&t, s, &from);
		prepare(&t, s, room[0], &population, &problem);
		run_fit(pe_fit_run, &problem, &t.source, w);
		table_free(&t);
		if (population.unknown != PE_FIT_KNOWN)
			continue;
		known++;
		for (int k = 0; k < 2; k++)
			covered[k] += off_by(w, room[1], k, -1, weight[k]) <= 1.96;
		for (int k = 1; k < CELLS; k++)
			covered[k + 1] += off_by(w, room[1], 3 + k, 3, of_cell[k] - of_cell[0]) <= 1.96;
	}
	return known;
}

/* By chance below 10^-9, if 0.90 are covered. */
static void
nine_of_ten_are_covered(void **state)
{
	static const setting settings[] = {
		{500, INT64_C(1000000000), 0, 0, 0}, {500, INT64_C(10000000), 0, 0, 0}, {500, INT64_C(10000000000), -2, 24, 0},
		{5000, INT64_C(1000000), 0, 0, 0}, {5000, INT64_C(10000000), 0, 0, 0}, {5000, INT64_C(100000000), -1, 0, 0},
		{5000, INT64_C(1000000000), -2, 0, 0}, {5000, INT64_C(1000000000), -2, 40, 0},
		{20000, INT64_C(10000000), -1, 0, 0}, {20000, INT64_C(1000000000), -3, 0, 0}, {20000, INT64_C(1000000000), -3, 80, 0}
	};
	int			fits = getenv("PG_EPSILON_QUICK") != NULL ? 100 : 400;
	int			reported = 0;

	(void) state;
	pe_test_seed(21);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
	{
		const setting *s = &settings[i];
		int			covered[4];
		int			known = cover(s, fits, covered);

		print_message("%5d rows, rho %.3f, constant %g, iterations %g: reported %d of %d, covered %.3f %.3f %.3f %.3f\n",
					  s->rows, (double) s->nano * 1e-9, s->constant, s->iterations, known, fits, (double) covered[0] / known,
					  (double) covered[1] / known, (double) covered[2] / known, (double) covered[3] / known);
		reported += known > fits / 2;
		for (int k = 0; k < 4 && known > 0; k++)
			assert_true(covered[k] > known * (0.90 - 6.2 * sqrt(0.09 / known)));
	}
	assert_true(reported >= 5);
	pe_test_unseed();
}

static pe_fit_unknown
unknown_of(const setting *s, void (*change) (pe_fit_problem *problem))
{
	double		room[2][COLUMNS * COLUMNS];
	double		w[COLUMNS];
	pe_fit_population population = {room[1], PE_FIT_KNOWN};
	pe_fit_problem problem;
	stream		from = {3};
	table		t;

	draw(&t, s, &from);
	prepare(&t, s, room[0], &population, &problem);
	if (change != NULL)
		change(&problem);
	run_fit(pe_fit_run, &problem, &t.source, w);
	table_free(&t);
	return population.unknown;
}

static void
penalise(pe_fit_problem *problem)
{
	problem->options.l2 = 1;
}

static void
have_units(pe_fit_problem *problem)
{
	problem->max_rows = 2;
	problem->options.unit_clip = 0;
}

static void
be_linear(pe_fit_problem *problem)
{
	problem->model = PE_MODEL_LINEAR;
}

static void
take_one_pass(pe_fit_problem *problem)
{
	problem->method = PE_FIT_ONE_PASS;
}

/* Where it is not known it says why, and nothing else is looked at. */
static void
what_is_not_known_has_a_reason(void **state)
{
	static const setting good = {5000, INT64_C(10000000000), 0, 0, 0};
	static const setting clipped = {5000, INT64_C(10000000000), 0, 0, 0.9};
	static const setting noisy = {50, INT64_C(100000), 0, 0, 0};
	static const setting early = {5000, INT64_C(10000000000), -3, 2, 0};
	static const setting drowned = {200, INT64_C(10000000), 0, 0, 0};

	(void) state;
	for (int i = 0; i < 20; i++)
	{
		pe_test_seed(100 + i);
		assert_int_equal(unknown_of(&drowned, NULL), PE_FIT_UNKNOWN_NOISE);
	}
	pe_test_seed(22);
	assert_int_equal(unknown_of(&good, NULL), PE_FIT_KNOWN);
	assert_int_equal(unknown_of(&clipped, NULL), PE_FIT_UNKNOWN_CLIP);
	assert_int_equal(unknown_of(&good, penalise), PE_FIT_UNKNOWN_L2);
	assert_int_equal(unknown_of(&good, have_units), PE_FIT_UNKNOWN_UNITS);
	assert_int_equal(unknown_of(&good, be_linear), PE_FIT_UNKNOWN_METHOD);
	assert_int_equal(unknown_of(&good, take_one_pass), PE_FIT_UNKNOWN_METHOD);
	assert_int_equal(unknown_of(&noisy, NULL), PE_FIT_UNKNOWN_NOISE);
	assert_int_equal(unknown_of(&early, NULL), PE_FIT_UNKNOWN_STEPS);
	pe_test_unseed();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nine_of_ten_are_covered),
		cmocka_unit_test(what_is_not_known_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

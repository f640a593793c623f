/*
 * test_quotient.c
 *	  Errors of sums of independent parts against simulation, and Fieller's sets against their definition.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK set
 * there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "counts/quotient.h"
#include "numbers.h"
#include "shim.h"

#define MOST_PARTS 12

static pe_error_law normal_law;
static pe_error_law laplace_law;
static pe_error_law wide_law;

/* ------------------------------------------------------------------
 * Linear errors
 * ------------------------------------------------------------------
 */

static double
laplace(double stderr_)
{
	return (random_below(2) ? 1 : -1) * stderr_ / sqrt(2) * log(uniform(0x1p-53, 1));
}

static void
test_one_part(void **state)
{
	static const double one[] = {1};

	(void) state;
	assert_true(close_to(pe_error_half(&laplace_law, one, 1), log(20) / sqrt(2), 3e-5));
	assert_true(pe_error_half(&normal_law, one, 1) >= 1.9599639845 && pe_error_half(&normal_law, one, 1) < 1.9601);
	assert_true(pe_error_half(&wide_law, one, 1) == 2.5);
	assert_true(pe_error_half(&laplace_law, one, 0) == 0 && pe_error_half(&laplace_law, &(double) {0}, 1) == 0);
	assert_true(pe_error_half(&laplace_law, (const double[]) {0, 0, 0}, 3) == 0);
}

/*
 * A group without rows is shown where its noise is beyond half an interval that misses 0.05 / groups.  The noise is that of sums: on a
 * lattice of 2^-20 of its scale.  Its law is added up exactly; 3e-5 of the width less would break the union bound.
 */
static const double groups[] = {1, 10, 1000, 100000};

static void
check_groups(bool laplace, double scale)
{
	double		half[lengthof(groups)][2];
	double		beyond[lengthof(groups)][2] = {0};
	double		all = 1;

	for (int i = 0; i < lengthof(groups); i++)
	{
		pe_error_law law = pe_error_law_of(laplace, .05 / groups[i]);

		half[i][0] = pe_error_half(&law, &(double) {1}, 1) * scale * (laplace ? sqrt(2) : 1);
		half[i][1] = half[i][0] * (1 - 3e-5);
	}
	for (double k = floor((laplace ? 36 : 8) * scale); k >= 1; k--)
	{
		double		p = 2 * exp(laplace ? -k / scale : -k * k / (2 * scale * scale));

		all += p;
		for (int i = 0; i < lengthof(groups); i++)
			for (int less = 0; less < 2; less++)
				beyond[i][less] += k > half[i][less] ? p : 0;
	}
	for (int i = 0; i < lengthof(groups); i++)
		if (!(groups[i] * beyond[i][0] / all <= .05 && groups[i] * beyond[i][1] / all > .05))
			fail_msg("%g groups, scale %g: shown with %.9f", groups[i], scale, groups[i] * beyond[i][0] / all);
}

static void
test_groups(void **state)
{
	(void) state;
	for (double scale = 0x1p20; scale < 0x1p21; scale *= 1.7)
	{
		check_groups(false, scale);
		check_groups(true, scale);
	}
}

/* At least 95 % of sums of Laplace numbers are inside, and not many more. */
static void
test_intervals(void **state)
{
	int			n = fewer(400000, 20);

	(void) state;
	for (int round = 0; round < 18; round++)
	{
		int			parts = round < 14 ? between(1, 8) : between(9, MOST_PARTS);
		double		part[MOST_PARTS];
		double		half;
		double		sigma = sqrt(.95 * .05 / n);
		int			inside = 0;

		/* equal ones, nearly equal ones, some that are 0, any; of both signs */
		for (int p = 0; p < parts; p++)
			part[p] = (p % 3 == 0 ? -1 : 1) * (round % 4 == 0 ? 1 : round % 4 == 1 ? 1 + p * 1e-9 : round % 4 == 2 && p % 2 == 1 ? 0 : exp(uniform(-3, 3)));
		half = pe_error_half(&laplace_law, part, parts);
		for (int i = 0; i < n; i++)
		{
			double		sum = 0;

			for (int p = 0; p < parts; p++)
				sum += laplace(part[p]);
			inside += fabs(sum) <= half;
		}
		if (!(inside > n * (.95 - 6 * sigma) && inside < n * (.97 + 6 * sigma)))
			fail_msg("%d parts, round %d: %.4f inside", parts, round, (double) inside / n);
	}
}

/* ------------------------------------------------------------------
 * Quotients
 * ------------------------------------------------------------------
 */

typedef struct pair
{
	int			parts;
	double		above_part[MOST_PARTS];
	double		below_part[MOST_PARTS];
	pe_linear_estimate above;
	pe_linear_estimate below;
} pair;

static void
make_pair(pair *p, double unit)
{
	p->parts = between(1, 5);
	p->above = (pe_linear_estimate) {unit * uniform(-20, 20), p->above_part};
	p->below = (pe_linear_estimate) {uniform(-8, 8), p->below_part};
	for (int i = 0; i < p->parts; i++)
	{
		p->above_part[i] = unit * uniform(-2, 2);
		p->below_part[i] = random_below(3) == 0 ? 0 : uniform(-2, 2);
	}
}

/* h(r) - |a - r b|, in units of a: not below 0 in the set. */
static double
excess(const pe_error_law *law, const pair *p, double r, double unit)
{
	double		part[MOST_PARTS];

	for (int i = 0; i < p->parts; i++)
		part[i] = (p->above_part[i] - r * p->below_part[i]) / unit;
	return pe_error_half(law, part, p->parts) - fabs(p->above.value - r * p->below.value) / unit;
}

static void
check_ends(const pe_error_law *law, const pair *p, const pe_quotient *q, double unit)
{
	double		slack = 1e-5 * (q->upper - q->lower);

	assert_true(q->lower <= q->estimate && q->estimate <= q->upper);
	assert_true(q->estimate == p->above.value / p->below.value);
	/* just inside, and just outside */
	assert_true(excess(law, p, q->lower + slack, unit) >= 0 && excess(law, p, q->upper - slack, unit) >= 0);
	assert_true(excess(law, p, q->lower - slack, unit) <= 0 && excess(law, p, q->upper + slack, unit) <= 0);
}

static double
stderr_of(const pair *p)
{
	double		error = 0;

	for (int i = 0; i < p->parts; i++)
		error = hypot(error, (p->above_part[i] - p->above.value / p->below.value * p->below_part[i]) / p->below.value);
	return error;
}

static void
test_sets(void **state)
{
	static const pe_error_law *const laws[] = {&normal_law, &laplace_law, &wide_law};
	int			bounded = 0;
	int			rounds = fewer(6000, 10);

	(void) state;
	for (int round = 0; round < rounds; round++)
	{
		const pe_error_law *law = laws[round % 3];
		double		unit = round % 5 == 0 ? 1e200 : round % 5 == 1 ? 1e-200 : 1;
		pair		p;
		pe_quotient q;

		make_pair(&p, unit);
		pe_quotient_of(law, &p.above, &p.below, p.parts, &q);
		if (fabs(p.below.value) > pe_error_half(law, p.below_part, p.parts))
		{
			bounded++;
			assert_true(close_to(q.stderr_ / unit, stderr_of(&p) / unit, 1e-9));
			check_ends(law, &p, &q, unit);
		}
		else
			assert_true(isnan(q.estimate) && isnan(q.stderr_) && q.lower == -INFINITY && q.upper == INFINITY);
	}
	assert_true(bounded > rounds / 4 && bounded < rounds * 3 / 4);
}

/* The textbook's formula for independent a and b. */
static void
test_formula(void **state)
{
	static const double above_part[] = {3, 0};
	static const double below_part[] = {0, 2};
	double		z = normal_law.one;
	double		g = z * z * 4 / 100;
	double		root = z / 10 * sqrt((1 - g) * 9 + 25 * 4);
	pe_quotient q;

	(void) state;
	pe_quotient_of(&normal_law, &(pe_linear_estimate) {50, above_part}, &(pe_linear_estimate) {10, below_part}, 2, &q);
	assert_true(close_to(q.estimate, 5, 1e-12) && close_to(q.stderr_, sqrt(9 + 25 * 4) / 10, 1e-12));
	assert_true(close_to(q.lower, (5 - root) / (1 - g), 1e-9) && close_to(q.upper, (5 + root) / (1 - g), 1e-9));
}

/* A number over itself is 1, whatever the noise is; what is exact has no error. */
static void
test_without_error(void **state)
{
	static const double part[] = {1, -2};
	static const double none[] = {0, 0};
	pe_linear_estimate x = {7, part};
	pe_quotient q;

	(void) state;
	pe_quotient_of(&normal_law, &x, &x, 2, &q);
	assert_true(q.estimate == 1 && q.stderr_ == 0 && q.lower == 1 && q.upper == 1);
	pe_quotient_of(&laplace_law, &(pe_linear_estimate) {1, none}, &(pe_linear_estimate) {4, none}, 2, &q);
	assert_true(q.estimate == .25 && q.stderr_ == 0 && q.lower == .25 && q.upper == .25);
	pe_quotient_of(&normal_law, &(pe_linear_estimate) {1, none}, &(pe_linear_estimate) {0, none}, 2, &q);
	assert_true(isnan(q.estimate) && q.upper == INFINITY);
	pe_quotient_of(&normal_law, &(pe_linear_estimate) {1, none}, &(pe_linear_estimate) {3, none}, 0, &q);
	assert_true(q.estimate == 1. / 3 && q.lower == q.upper);
}

static int
reproducible(void **state)
{
	(void) state;
	pe_test_seed(20261128);
	normal_law = pe_error_law_of(false, .05);
	laplace_law = wide_law = pe_error_law_of(true, .05);
	wide_law.factor = 2.5;
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_part),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_formula),
		cmocka_unit_test(test_without_error),
	};

	return cmocka_run_group_tests(tests, reproducible, NULL);
}

/*
 * test_gdp.c
 *	  Unit tests of Gaussian DP in src/accounting: every conversion against 60 digits
 *	  (gdp_digits.h), the direction of its rounding, round trips, and the trade-off curves that
 *	  the costs of other mechanisms rest on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "accounting/conversion.h"
#include "accounting/filter.h"
#include "gdp_digits.h"
#include "numbers.h"
#include "shim.h"

/* ---- 60 digits ---- */

/* A decimal in whole units of 1e-9, rounded down. */
static int64_t
nano_down(const char *text)
{
	const char *point = strchr(text, '.');
	int64_t		nano = strtoll(text, NULL, 10);

	for (int place = 1; place <= 9; place++)
		nano = nano * 10 + (point != NULL && place < (int) strlen(point) ? point[place] - '0' : 0);
	return nano;
}

/* value is exact, or one unit of 1e-9 beyond it in the direction of the rounding; of numbers above 1e3 as many more as a double leaves. */
static void
check_nano(const char *what, int64_t value, int64_t exact, int direction)
{
	int64_t		off = (value - exact) * direction;

	if (off < 0 || off > 1 + exact / 1000000000000)
		fail_msg("%s: %lld against %lld", what, (long long) value, (long long) exact);
}

static void
limits_to_60_digits(void **state)
{
	for (int i = 0; i < lengthof(limits); i++)
	{
		double		epsilon = strtod(limits[i][0], NULL);
		int64_t		exact = nano_down(limits[i][2]);
		int64_t		floor_of_epsilon = pe_nano_rho_down(epsilon);

		/* epsilon is never said to be below rho */
		check_nano(limits[i][2], pe_nano_rho_of_epsilon(PE_GDP, epsilon, strtod(limits[i][1], NULL)),
				   exact < floor_of_epsilon ? exact : floor_of_epsilon, -1);
	}
}

static void
epsilons_to_60_digits(void **state)
{
	for (int i = 0; i < lengthof(epsilons); i++)
	{
		double		exact = strtod(epsilons[i][2], NULL);
		double		epsilon = pe_epsilon_of_rho(PE_GDP, strtod(epsilons[i][0], NULL), strtod(epsilons[i][1], NULL));

		/* above the nearest double is above the number */
		if (!(epsilon > exact && epsilon <= exact * (1 + 1e-9)))
			fail_msg("rho %s delta %s: %.17g against %s", epsilons[i][0], epsilons[i][1], epsilon, epsilons[i][2]);
	}
}

static void
costs_to_60_digits(void **state)
{
	for (int i = 0; i < lengthof(pures); i++)
	{
		int64_t		epsilon = pe_nano_rho_down(strtod(pures[i][0], NULL));
		int64_t		exact = nano_down(pures[i][1]);
		double		paid = pe_gdp_pure(strtod(pures[i][1], NULL));

		/* below the nearest double is below the number */
		if (!(paid < strtod(pures[i][0], NULL) && paid > strtod(pures[i][0], NULL) * (1 - 1e-12)))
			fail_msg("rho %s: %.17g against %s", pures[i][1], paid, pures[i][0]);
		check_nano(pures[i][0], pe_nano_rho_of_pure(PE_GDP, epsilon), exact + 1, 1);
		/* what one unit less than the cost pays for is less */
		assert_true(pe_nano_pure_of_rho(PE_GDP, exact) < epsilon);
		assert_true(pe_nano_pure_of_rho(PE_GDP, pe_nano_rho_of_pure(PE_GDP, epsilon)) >= epsilon);
		assert_true(pe_nano_rho_of_laplace(PE_GDP, epsilon, 3) == pe_nano_rho_of_pure(PE_GDP, epsilon));
	}
	for (int i = 0; i < lengthof(ranges); i++)
		check_nano(ranges[i][0], pe_nano_rho_of_range(PE_GDP, pe_nano_rho_down(strtod(ranges[i][0], NULL))),
				   nano_down(ranges[i][1]) + 1, 1);
}

/* ---- golden values of other programs, and what budgets become ---- */

/* Limits of zCDP with half of delta and with all of it, and of Gaussian DP, by another program with 40 digits; what the last gains over the first. */
static void
golden_limits(void **state)
{
	static const struct
	{
		double		epsilon;
		double		delta;
		double		half;
		double		all;
		double		gdp;
		const char *ratio;
	}			golden[] = {
		{0.1, 1e-9, 0.0001693516969, 0.0001771384472, 0.000198331960777, "1.171"},
		{0.5, 1e-9, 0.003796322965, 0.003953191141, 0.004388579843, "1.156"},
		{1, 1e-9, 0.01440757861, 0.01497305767, 0.0165574152451, "1.149"},
		{2, 1e-9, 0.05413165929, 0.0561305018, 0.0617936365289, "1.142"},
		{4, 1e-9, 0.1995042795, 0.2063129092, 0.225880504405, "1.132"},
		{10, 1e-9, 1.05970543, 1.090785704, 1.18253335154, "1.116"},
		{1, 1e-6, 0.02293744669, 0.02435597036, 0.0280144819126, "1.221"},
		{1, 1e-5, 0.02839670322, 0.0305565952, 0.0359257023274, "1.265"},
		{4, 1e-6, 0.2961314233, 0.3110649549, 0.351003648416, "1.185"},
	};

	for (int i = 0; i < lengthof(golden); i++)
	{
		double		half = 1e-9 * (double) pe_nano_rho_of_epsilon(PE_ZCDP, golden[i].epsilon, golden[i].delta / 2);
		double		all = 1e-9 * (double) pe_nano_rho_of_epsilon(PE_ZCDP, golden[i].epsilon, golden[i].delta);
		double		gdp = 1e-9 * (double) pe_nano_rho_of_epsilon(PE_GDP, golden[i].epsilon, golden[i].delta);
		char		ratio[32];

		/* the numbers have ten digits at least */
		assert_true(half <= golden[i].half * (1 + 1e-9) && half >= golden[i].half * (1 - 1e-9) - 1e-9);
		assert_true(all <= golden[i].all * (1 + 1e-9) && all >= golden[i].all * (1 - 1e-9) - 1e-9);
		assert_true(gdp <= golden[i].gdp && gdp >= golden[i].gdp - 1e-9);
		snprintf(ratio, sizeof(ratio), "%.3f", gdp / half);
		assert_string_equal(ratio, golden[i].ratio);
	}
}

/* By the default shares, and what they gain: variance is as 1 / rho. */
static void
budgets(void **state)
{
	static const struct
	{
		double		delta;
		double		gdp;
		const char *ratio;
	}			golden[] = {{1e-9, 0.01649294686, "1.145"}, {1e-6, 0.02783986499, "1.214"}};

	for (int i = 0; i < lengthof(golden); i++)
	{
		double		share = pe_default_share(PE_GDP);
		pe_amount	gdp = pe_budget_limit(PE_GDP, 1, golden[i].delta, share);
		pe_amount	zcdp = pe_budget_limit(PE_ZCDP, 1, golden[i].delta, pe_default_share(PE_ZCDP));
		char		ratio[32];

		assert_true(1e-9 * (double) gdp.rho_nano <= golden[i].gdp + 5e-12 && 1e-9 * (double) gdp.rho_nano >= golden[i].gdp - 1e-9);
		assert_true(gdp.rho_nano == pe_nano_rho_of_epsilon(PE_GDP, 1, golden[i].delta * (1 - share)));
		assert_true(gdp.delta_atto == pe_atto_down(golden[i].delta) / 16);
		snprintf(ratio, sizeof(ratio), "%.3f", (double) gdp.rho_nano / (double) zcdp.rho_nano);
		assert_string_equal(ratio, golden[i].ratio);
	}
	assert_true(pe_budget_limit(PE_GDP, 1, 1e-9, 0).delta_atto == 0);
	assert_true(pe_budget_limit(PE_GDP, 1, 1e-9, 0).rho_nano == pe_nano_rho_of_epsilon(PE_GDP, 1, 1e-9));
}

/* ---- round trips ---- */

static double
log_uniform(double lo, double hi)
{
	return lo * pow(hi / lo, random_unit());
}

static void
round_trips(void **state)
{
	pe_test_seed(1);
	for (int i = 0; i < fewer(100000, 100); i++)
	{
		double		epsilon = log_uniform(1e-3, 1e3);
		double		delta = log_uniform(1e-15, 0.4);
		int64_t		r = pe_nano_rho_of_epsilon(PE_GDP, epsilon, delta);
		double		exact = pe_epsilon_of_rho(PE_GDP, 1e-9 * (double) r, delta);

		/* the largest one */
		assert_true(exact <= epsilon && pe_epsilon_of_rho(PE_GDP, 1e-9 * (double) (r + 1), delta) > epsilon);
		/* found again from its epsilon, and from nothing less */
		assert_true(r == 0 || pe_nano_rho_of_epsilon(PE_GDP, exact, delta) == r);
		assert_true(r == 0 || pe_nano_rho_of_epsilon(PE_GDP, nextafter(exact, 0), delta) == r - 1);
	}
}

/* Limits in the last place of their arguments; epsilon by units of rho, and where delta differs by more than the bounds of rounding. */
static void
monotone(void **state)
{
	pe_test_seed(2);
	for (int i = 0; i < fewer(100000, 100); i++)
	{
		double		epsilon = log_uniform(1e-3, 1e3);
		double		delta = log_uniform(1e-15, 0.4);
		/* beside it, and far from it */
		double		more = 1 + log_uniform(DBL_EPSILON, 1);
		int64_t		r = pe_nano_rho_of_epsilon(PE_GDP, epsilon, delta);
		double		least = pe_epsilon_of_rho(PE_GDP, 1e-9 * (double) (r + 1), delta);

		assert_true(pe_nano_rho_of_epsilon(PE_GDP, epsilon * more, delta) >= r);
		assert_true(pe_nano_rho_of_epsilon(PE_GDP, epsilon, delta * more) >= r);
		assert_true(pe_epsilon_of_rho(PE_GDP, 1e-9 * ((double) (r + 1) * more + 1), delta) > least);
		assert_true(pe_epsilon_of_rho(PE_GDP, 1e-9 * (double) (r + 1), delta * (more + 1e-8)) <= least);
	}
}

static void
pure_round_trips(void **state)
{
	pe_test_seed(3);
	for (int i = 0; i < fewer(20000, 100); i++)
	{
		int64_t		epsilon = (int64_t) log_uniform(1, 1e12);
		int64_t		cost = pe_nano_rho_of_pure(PE_GDP, epsilon);
		int64_t		paid = pe_nano_pure_of_rho(PE_GDP, cost);

		assert_true(paid >= epsilon && pe_nano_rho_of_pure(PE_GDP, paid) <= cost);
		assert_true(pe_nano_rho_of_pure(PE_GDP, paid + 1) > cost);
		assert_true(pe_nano_rho_of_pure(PE_GDP, epsilon + 1) >= cost);
		/* dearer than with zCDP, and a range is cheaper than what is merely pure */
		assert_true(cost >= pe_nano_rho_of_pure(PE_ZCDP, epsilon));
		assert_true(pe_nano_rho_of_range(PE_GDP, epsilon) <= cost);
	}
}

/* ---- trade-off curves ---- */

/* P[N(0, 1) > x] */
static double
upper(double x)
{
	return 0.5 * erfc(x * sqrt(0.5));
}

/* The x with upper(x) = p. */
static double
upper_quantile(double p)
{
	double		lo = -40;
	double		hi = 40;

	for (int i = 0; i < 100; i++)
	{
		double		middle = (lo + hi) / 2;

		if (upper(middle) > p)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

static double
mu_of(int64_t nano_rho)
{
	return sqrt(2e-9 * (double) nano_rho);
}

/* How far G_mu is above the curve of randomised response, at most. */
static double
above_randomised_response(double epsilon, double mu)
{
	double		most = -1;

	for (double x = -8; x <= 8; x += 1.0 / 64)
	{
		double		alpha = upper(x);
		double		response = fmax(fmax(0, 1 - exp(epsilon) * alpha), exp(-epsilon) * (1 - alpha));

		most = fmax(most, upper(mu - x) - response);
	}
	return most;
}

/* Two laws with ln q/p = t and ln (1-q)/(1-p) = t - eta are told apart like normal laws so far apart, for the worst t. */
static double
mu_of_range(double eta)
{
	double		most = 0;

	for (int j = 1; j < 200; j++)
	{
		double		t = eta * j / 200;
		double		p = -expm1(t - eta) / (exp(t) * -expm1(-eta));

		most = fmax(most, upper_quantile(p) - upper_quantile(p * exp(t)));
	}
	return most;
}

static void
curves(void **state)
{
	for (double epsilon = 0.01; epsilon < 12; epsilon *= 1.5)
	{
		int64_t		nano = (int64_t) (epsilon * 1e9);
		double		mu = mu_of(pe_nano_rho_of_pure(PE_GDP, nano));

		assert_true(above_randomised_response(1e-9 * (double) nano, mu) <= 1e-15);
		assert_true(above_randomised_response(1e-9 * (double) nano, mu * 0.99) > 0);
		assert_true(mu_of(pe_nano_rho_of_range(PE_GDP, nano)) >= mu_of_range(1e-9 * (double) nano) * (1 - 1e-12));
		assert_true(mu_of(pe_nano_rho_of_range(PE_GDP, nano)) <= mu_of_range(1e-9 * (double) nano) * (1 + 1e-4));
	}
}

static void
out_of_range(void **state)
{
	assert_true(pe_epsilon_of_rho(PE_GDP, 0, 1e-6) == 0);
	assert_true(isinf(pe_epsilon_of_rho(PE_GDP, -1, 1e-6)) && isinf(pe_epsilon_of_rho(PE_GDP, NAN, 1e-6)));
	assert_true(isinf(pe_epsilon_of_rho(PE_GDP, INFINITY, 1e-6)) && isinf(pe_epsilon_of_rho(PE_GDP, 1, NAN)));
	assert_true(isinf(pe_epsilon_of_rho(PE_GDP, 1, 0)) && isinf(pe_epsilon_of_rho(PE_GDP, 1, 1)));
	assert_true(isinf(pe_epsilon_of_rho(PE_PURE, 1, 1e-6)));
	assert_true(pe_epsilon_of_rho(PE_GDP, DBL_TRUE_MIN, 1e-6) > 0);
	assert_true(pe_nano_rho_of_epsilon(PE_GDP, 0, 1e-6) == 0 && pe_nano_rho_of_epsilon(PE_GDP, -1, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_GDP, NAN, 1e-6) == 0 && pe_nano_rho_of_epsilon(PE_GDP, INFINITY, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_GDP, 1, 0) == 0 && pe_nano_rho_of_epsilon(PE_GDP, 1, 1) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_GDP, 1, NAN) == 0 && pe_nano_rho_of_epsilon(PE_GDP, DBL_TRUE_MIN, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_GDP, PE_EPSILON_MAX, 1e-15) > INT64_C(90000000000000));
	assert_true(pe_nano_rho_of_pure(PE_GDP, 0) == 0 && pe_nano_rho_of_pure(PE_GDP, -1) == -1 && pe_nano_rho_of_pure(PE_GDP, 1) == 1);
	/* the half of an odd range is rounded up; where the floor decides, no rho is beyond its epsilon */
	assert_true(pe_nano_rho_of_range(PE_GDP, 3000000001) == pe_nano_rho_of_pure(PE_GDP, 1500000001));
	assert_true(pe_nano_rho_of_epsilon(PE_GDP, 1, 0.5) <= 1000000000);
	assert_true(pe_nano_rho_of_range(PE_GDP, 1) == 1 && pe_nano_rho_of_range(PE_GDP, 0) == 0 && pe_nano_rho_of_range(PE_GDP, -1) == -1);
	assert_true(pe_nano_pure_of_rho(PE_GDP, 0) == 0 && pe_nano_pure_of_rho(PE_GDP, -1) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_to_60_digits),
		cmocka_unit_test(epsilons_to_60_digits),
		cmocka_unit_test(costs_to_60_digits),
		cmocka_unit_test(golden_limits),
		cmocka_unit_test(budgets),
		cmocka_unit_test(round_trips),
		cmocka_unit_test(monotone),
		cmocka_unit_test(pure_round_trips),
		cmocka_unit_test(curves),
		cmocka_unit_test(out_of_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

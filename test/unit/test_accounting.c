/*
 * test_accounting.c
 *	  Unit tests of src/accounting: published and independently
 *	  computed values to every printed digit, exact round trips, the direction
 *	  of every rounding, and the edges of the filter.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounting/filter.h"
#include "accounting/private.h"
#include "accounting/conversion.h"

#define lengthof(array) (sizeof(array) / sizeof((array)[0]))

/* ---- helpers ---- */

/* value prints as the golden text does: as many significant digits, or places if it is written with e */
static void
check_digits(double value, const char *golden)
{
	const char *exponent = strchr(golden, 'e');
	const char *end = exponent != NULL ? exponent : golden + strlen(golden);
	const char *point = strchr(golden, '.');
	char		text[64];

	assert_non_null(point);
	if (exponent != NULL)
	{
		snprintf(text, sizeof(text), "%.*e", (int) (end - point - 1), value);
		/* printf writes e-06 for e-6 */
		assert_int_equal(strncmp(text, golden, (size_t) (end - golden)), 0);
		assert_int_equal(atoi(strchr(text, 'e') + 1), atoi(exponent + 1));
	}
	else
	{
		snprintf(text, sizeof(text), "%.*f", (int) (end - point - 1), value);
		assert_string_equal(text, golden);
	}
}

/*
 * The references are long doubles, and what they check is sharper than a double.
 * Where they have no more digits than a double (on some processors, and always
 * under valgrind, which computes the 80-bit type in 64 bits) those checks are
 * evaluated but not asserted.
 */
static bool
long_double_is_longer(void)
{
	volatile long double one = 1;

	return one + LDBL_EPSILON > one && LDBL_EPSILON < DBL_EPSILON / 1000;
}

#define assert_precisely(condition) assert_true((condition) || !long_double_is_longer())

/* value is an upper bound of exact and no further above it than the relative slack */
static void
check_upper(double value, long double exact, double slack)
{
	bool		good = (long double) value >= exact && (long double) value <= exact + slack * fabsl(exact);

	if (!good && long_double_is_longer())
		print_error("%.20g against %.20Lg\n", value, exact);
	assert_precisely(good);
}

/* a fixed sequence of pseudo-random numbers (xorshift), so that failures repeat */
static uint64_t random_state = 88172645463325252u;

static uint64_t
random_word(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static double
random_unit(void)
{
	return (double) (random_word() >> 11) / 9007199254740992.0;
}

static double
random_log(double lo, double hi)
{
	return lo * pow(hi / lo, random_unit());
}

/* epsilon of rho-zCDP at the order 1 + t, straight from the theorem */
static long double
epsilon_at(long double rho, long double t, long double delta)
{
	long double alpha = 1 + t;

	return alpha * rho + (-logl(delta) + t * logl(t / alpha) - logl(alpha)) / t;
}

/* the smallest value of f(rho, exp(u), z) by golden section over u */
static long double
minimum(long double (*f) (long double, long double, long double), long double rho, long double z)
{
	long double lo = logl(1e-9L);
	long double hi = logl(1e12L);
	long double ratio = 0.6180339887498948482L;

	for (int i = 0; i < 140; i++)
	{
		long double left = hi - ratio * (hi - lo);
		long double right = lo + ratio * (hi - lo);

		if (f(rho, expl(left), z) < f(rho, expl(right), z))
			hi = right;
		else
			lo = left;
	}
	return f(rho, expl((lo + hi) / 2), z);
}

/* ---- zCDP and (epsilon, delta) ---- */

static void
epsilon_golden(void **state)
{
	(void) state;
	check_digits(pe_zcdp_epsilon(0.1, 1e-6), "2.141938928");
	check_digits(pe_zcdp_epsilon(0.5, 1e-6), "5.221534445");
	check_digits(pe_zcdp_epsilon(1, 1e-6), "7.766216625");
	check_digits(pe_zcdp_epsilon(0.01, 1e-9), "0.8101744679");
}

static void
epsilon_beats_textbook(void **state)
{
	static const struct
	{
		double		rho;
		double		delta;
		const char *textbook;
	}			cases[] = {{0.1, 1e-6, "2.4508"}, {0.5, 1e-6, "5.7565"}, {1, 1e-6, "8.4338"}, {0.01, 1e-9, "0.9205"}};

	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		double		textbook = cases[i].rho + 2 * sqrt(cases[i].rho * -log(cases[i].delta));

		check_digits(textbook, cases[i].textbook);
		assert_true(pe_zcdp_epsilon(cases[i].rho, cases[i].delta) < textbook);
	}
}

static void
epsilon_is_upper_and_tight(void **state)
{
	(void) state;
	for (int i = 0; i < 3000; i++)
	{
		double		rho = random_log(1e-9, 3e4);
		double		delta = random_log(1e-15, 0.1);
		long double exact = minimum(epsilon_at, rho, delta);
		double		epsilon = pe_zcdp_epsilon(rho, delta);

		if (exact < rho)
		{
			/* the documented floor, and where it matters */
			assert_true(rho < 0.02);
			exact = rho;
		}
		/* the infimum is a difference of terms that may be near 1 each */
		check_upper(epsilon, exact, 1e-12 + 2e-15 / (double) exact);
	}
}

/* what is charged is an integer: the conversion must cover r / 10^9 itself, not only its double */
static void
epsilon_covers_the_decimals(void **state)
{
	(void) state;
	for (int i = 0; i < 3000; i++)
	{
		int64_t		r = (int64_t) random_log(1, 1e13);
		int			power = -1 - (int) (random_word() % 15);
		double		delta = strtod((char[][8]) {"1e-1", "1e-2", "1e-3", "1e-4", "1e-5", "1e-6", "1e-7", "1e-8",
			"1e-9", "1e-10", "1e-11", "1e-12", "1e-13", "1e-14", "1e-15"}[-1 - power], NULL);
		long double rho = (long double) r / 1000000000;

		assert_precisely(pe_zcdp_epsilon((double) r * 1e-9, delta) >=
					minimum(epsilon_at, rho, powl(10, power)) * (1 - 1e-18L));
	}
}

static void
epsilon_range(void **state)
{
	(void) state;
	assert_true(pe_zcdp_epsilon(0, 1e-6) == 0);
	assert_true(isinf(pe_zcdp_epsilon(-1e-9, 1e-6)));
	assert_true(isinf(pe_zcdp_epsilon(NAN, 1e-6)));
	assert_true(isinf(pe_zcdp_epsilon(INFINITY, 1e-6)));
	assert_true(isinf(pe_zcdp_epsilon(1, 0)));
	assert_true(isinf(pe_zcdp_epsilon(1, 1)));
	assert_true(isinf(pe_zcdp_epsilon(1, NAN)));
	assert_true(isinf(pe_zcdp_epsilon(DBL_MAX, 1e-6)));
	assert_true(pe_zcdp_epsilon(DBL_TRUE_MIN, 1e-6) > 0);
	assert_true(pe_zcdp_epsilon(1, DBL_TRUE_MIN) < 60);
	assert_true(pe_zcdp_epsilon(1, DBL_TRUE_MIN) > 50);
	assert_true(pe_zcdp_epsilon(1e-9, 1 - DBL_EPSILON / 2) > 0);
}

static void
renyi_epsilon_range(void **state)
{
	(void) state;
	check_upper(pe_renyi_epsilon(0.02, 1, 1e-6), epsilon_at(0.01L, 1, 1e-6), 1e-14);
	assert_true(isinf(pe_renyi_epsilon(-1, 1, 1e-6)));
	assert_true(isinf(pe_renyi_epsilon(1, 0, 1e-6)));
	assert_true(isinf(pe_renyi_epsilon(1, INFINITY, 1e-6)));
	assert_true(isinf(pe_renyi_epsilon(1, 1, 0)));
	assert_true(pe_renyi_epsilon(0, 1000, 0.1) < 0);
	assert_true(isinf(pe_round_up(NAN, 0)));
	assert_true(pe_round_up(1, 0) > 1);
	assert_true(pe_round_up(0, 0) > 0);
}

/* ---- round trip ---- */

static void
check_round_trip(int64_t r, double delta)
{
	double		epsilon = pe_zcdp_epsilon((double) r * 1e-9, delta);
	int64_t		back;

	if (epsilon > 1e5)
		return;
	assert_true(epsilon < pe_zcdp_epsilon((double) (r + 1) * 1e-9, delta));
	back = pe_nano_rho_of_epsilon(PE_ZCDP, epsilon, delta);
	if (back != r)
		print_error("r %lld delta %.17g epsilon %.17g back %lld\n", (long long) r, delta, epsilon, (long long) back);
	assert_true(back == r);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, nextafter(epsilon, 0), delta) == r - 1);
}

static void
round_trip_random(void **state)
{
	(void) state;
	for (int i = 0; i < 20000; i++)
	{
		int64_t		r = (int64_t) random_log(1, 1e14);
		double		delta = random_log(1e-15, 0.5);

		check_round_trip(r, delta);
	}
}

static void
round_trip_extreme(void **state)
{
	const double deltas[] = {1e-15, nextafter(1e-15, 1), 1e-12, 1e-9, 5e-10, 1e-6, 1e-3, 0.01, 0.05,
	0.0999999999999999, 0.1, 0.5, 1e-300, DBL_TRUE_MIN};

	(void) state;
	for (size_t i = 0; i < lengthof(deltas); i++)
	{
		for (int64_t r = 1; r < 100; r++)
			check_round_trip(r, deltas[i]);
		for (int64_t power = 10; power <= 100000000000000; power *= 10)
		{
			for (int64_t r = power - 3; r < power + 4; r++)
				check_round_trip(r, deltas[i]);
		}
	}
}

/* just below epsilon = 1e5, where the grid of doubles is coarsest against one nano-unit */
static void
round_trip_at_the_limit(void **state)
{
	(void) state;
	for (int i = 0; i < 2000; i++)
	{
		double		delta = random_log(1e-15, 0.1);
		int64_t		top = pe_nano_rho_of_epsilon(PE_ZCDP, 1e5, delta);

		assert_true(top > 90000000000000);
		check_round_trip(top - (int64_t) (random_word() % 1000000), delta);
	}
}

/* in the range where the plain infimum is negative, epsilon still tells every rho apart */
static void
round_trip_below_the_floor(void **state)
{
	(void) state;
	assert_true(minimum(epsilon_at, 1e-9L, 0.05L) < 0);
	for (int64_t r = 1; r < 20000000; r += 1 + (int64_t) (random_word() % 20000))
		check_round_trip(r, 0.0999);
}

static void
nano_rho_of_epsilon_is_largest(void **state)
{
	(void) state;
	for (int i = 0; i < 5000; i++)
	{
		double		epsilon = random_log(1e-9, 1e5);
		double		delta = random_log(1e-15, 0.1);
		int64_t		r = pe_nano_rho_of_epsilon(PE_ZCDP, epsilon, delta);

		assert_true(r >= 0);
		assert_true(pe_zcdp_epsilon((double) r * 1e-9, delta) <= epsilon);
		assert_true(pe_zcdp_epsilon((double) (r + 1) * 1e-9, delta) > epsilon);
	}
}

static void
nano_rho_of_epsilon_range(void **state)
{
	(void) state;
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, 0, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, -1, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, NAN, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, INFINITY, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, 1, 0) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, 1, 1) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, 1, NAN) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, DBL_TRUE_MIN, 1e-6) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, 1e-6, 1e-9) == 0);
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, DBL_MAX, 1e-6) > 0);
	/* monotone in both arguments */
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, 1, 1e-6) < pe_nano_rho_of_epsilon(PE_ZCDP, 1.000001, 1e-6));
	assert_true(pe_nano_rho_of_epsilon(PE_ZCDP, 1, 1e-6) < pe_nano_rho_of_epsilon(PE_ZCDP, 1, 1.001e-6));
}

/* ---- integer units ---- */

static void
decimals_as_typed(void **state)
{
	static const struct
	{
		double		value;
		int64_t		nano;
	}			cases[] = {
		{0.1, 100000000}, {0.3, 300000000}, {0.7, 700000000}, {1e-9, 1}, {0.999999999, 999999999},
		{4.9e-10, 0}, {9.99999999999999e-10, 0}, {1.0000000005, 1000000000}, {1.9999999999, 1999999999}, {2, 2000000000},
		{0, 0}, {123456.789012345, 123456789012345}, {0.1 + 0.2, 300000000}, {0.29999999999999998, 300000000},
		{0.29999999999999993, 299999999}, {1e-300, 0}, {DBL_MIN, 0}, {DBL_TRUE_MIN, 0},
		{9223372036.0, 9223372036000000000}, {9223372036.854774, 9223372036854774000},
		{9223372036.854776, -1}, {9.3e9, -1}, {1e10, -1}, {1e300, -1}, {DBL_MAX, -1}, {INFINITY, -1},
		{-1e-9, -1}, {-INFINITY, -1}, {NAN, -1}
	};

	(void) state;
	for (size_t i = 0; i < lengthof(cases); i++)
	{
		if (pe_nano_rho_down(cases[i].value) != cases[i].nano)
			print_error("%.17g gives %lld\n", cases[i].value, (long long) pe_nano_rho_down(cases[i].value));
		assert_true(pe_nano_rho_down(cases[i].value) == cases[i].nano);
	}
}

static void
atto_as_typed(void **state)
{
	(void) state;
	assert_true(pe_atto_down(1e-18) == 1);
	assert_true(pe_atto_down(9.99e-19) == 0);
	assert_true(pe_atto_down(1e-6) == 1000000000000);
	assert_true(pe_atto_down(1e-9) == 1000000000);
	assert_true(pe_atto_down(0.3) == 300000000000000000);
	assert_true(pe_atto_down(1.0) == 1000000000000000000);
	assert_true(pe_atto_down(9.5) == -1);
	assert_true(pe_atto_down(DBL_TRUE_MIN) == 0);
	assert_true(pe_atto_down(-0.5) == -1);
	assert_true(pe_atto_down(NAN) == -1);
	/* 17 digits and truncation of the eighteenth place */
	assert_true(pe_atto_down(0.12345678901234568) == 123456789012345680);
	assert_true(pe_atto_down(1.2345e-15) == 1234);
}

/* every nano-number that has at most 15 digits survives text, double and back */
static void
nano_survives_a_double(void **state)
{
	char		text[64];

	(void) state;
	for (int i = 0; i < 200000; i++)
	{
		int64_t		r = (int64_t) random_log(1, 9.99e14);

		snprintf(text, sizeof(text), "%lld.%09lld", (long long) (r / 1000000000), (long long) (r % 1000000000));
		assert_true(pe_nano_rho_down(strtod(text, NULL)) == r);
		snprintf(text, sizeof(text), "%llde-18", (long long) r);
		assert_true(pe_atto_down(strtod(text, NULL)) == r);
	}
}

/* the reading never leaves the double: it is the floor of a number within half a unit in the last place */
static void
reading_stays_with_the_double(void **state)
{
	(void) state;
	for (int i = 0; i < 200000; i++)
	{
		double		x = random_log(1e-12, 9e9);
		long double r = (long double) pe_nano_rho_down(x);

		assert_precisely(r <= (long double) nextafter(x, INFINITY) * 1000000000);
		assert_precisely(r + 1 > (long double) nextafter(x, 0) * 1000000000);
	}
}

static void
nano_up_is_exact(void **state)
{
	(void) state;
	assert_true(pe_nano_up(0) == 0);
	assert_true(pe_nano_up(0.5) == 500000000);
	assert_true(pe_nano_up(0.1) == 100000001);	/* the double is above 1/10 */
	assert_true(pe_nano_up(0.3) == 300000000);	/* the double is below 3/10 */
	assert_true(pe_nano_up(1) == 1000000000);
	assert_true(pe_nano_up(nextafter(1, 2)) == 1000000001);
	assert_true(pe_nano_up(nextafter(1, 0)) == 1000000000);
	assert_true(pe_nano_up(4.9e-10) == 1);
	assert_true(pe_nano_up(DBL_TRUE_MIN) == 1);
	assert_true(pe_nano_up(DBL_MIN) == 1);
	assert_true(pe_nano_up(1e-25) == 1);
	assert_true(pe_nano_up(9223372036.0) == 9223372036000000000);
	assert_true(pe_nano_up(9223372036.854774) > 9223372036854770000);
	assert_true(pe_nano_up(9223372036.854776) == -1);
	assert_true(pe_nano_up(9.3e9) == -1);
	assert_true(pe_nano_up(DBL_MAX) == -1);
	assert_true(pe_nano_up(INFINITY) == -1);
	assert_true(pe_nano_up(-1e-9) == -1);
	assert_true(pe_nano_up(NAN) == -1);
}

/* x is k / 2^40: its product with 10^9 is an exact 128-bit integer over 2^40 */
static void
nano_up_against_integers(void **state)
{
	(void) state;
	for (int i = 0; i < 200000; i++)
	{
		uint64_t	k = random_word() >> (11 + random_word() % 50);
		double		x = ldexp((double) k, -40);
		unsigned __int128 product = (unsigned __int128) k * 1000000000;
		int64_t		up = (int64_t) ((product + (((unsigned __int128) 1) << 40) - 1) >> 40);

		assert_true(pe_nano_up(x) == up);
		assert_true(pe_nano_rho_down(x) <= up);
		assert_true(pe_nano_rho_down(x) >= up - 2);
	}
}

/* ---- filter ---- */

static bool
accepts(int64_t rho_limit, int64_t delta_limit, int64_t rho_spent, int64_t delta_spent, int64_t rho, int64_t delta)
{
	return pe_filter_accepts((pe_amount) {rho_limit, delta_limit, 0}, (pe_amount) {rho_spent, delta_spent, 0},
							 (pe_amount) {rho, delta, 0});
}

static void
filter_edges(void **state)
{
	int64_t		max = INT64_MAX;

	(void) state;
	assert_true(accepts(100, 10, 60, 4, 40, 6));
	assert_false(accepts(100, 10, 60, 4, 41, 6));
	assert_false(accepts(100, 10, 60, 4, 40, 7));
	assert_true(accepts(100, 10, 100, 10, 0, 0));
	assert_false(accepts(100, 10, 101, 10, 0, 0));
	assert_true(accepts(0, 0, 0, 0, 0, 0));
	assert_false(accepts(0, 0, 0, 0, 1, 0));
	assert_true(accepts(max, max, max - 1, max, 1, 0));
	assert_false(accepts(max, max, max - 1, max, 2, 0));
	assert_false(accepts(max, max, max, max, 1, 0));
	assert_false(accepts(max, max, max, max, max, max));
	assert_false(accepts(max - 1, max, 2, 0, max, 0));
	assert_true(accepts(max, max, 0, 0, max, max));
	assert_false(accepts(100, 10, 60, 4, -1, 0));
	assert_false(accepts(100, 10, 60, 4, 0, -1));
	assert_false(accepts(100, 10, -1, 4, 1, 1));
	assert_false(accepts(100, 10, 60, -4, 1, 1));
	assert_false(accepts(-1, 10, 0, 0, 0, 0));
	assert_false(accepts(100, -1, 0, 0, 0, 0));
	assert_false(accepts(max, max, INT64_MIN, 0, 1, 0));
	assert_false(accepts(max, max, 0, 0, INT64_MIN, 0));
	assert_false(accepts(INT64_MIN, max, max, 0, INT64_MIN, 0));
}

static void
filter_sums_never_pass_the_limit(void **state)
{
	(void) state;
	for (int round = 0; round < 200; round++)
	{
		pe_amount	limit = {(int64_t) (random_word() >> 1), (int64_t) (random_word() >> 1), 0};
		pe_amount	spent = {0, 0, 0};

		for (int i = 0; i < 200; i++)
		{
			pe_amount	charge = {(int64_t) (random_word() >> (1 + i % 63)), (int64_t) (random_word() >> (1 + i % 63)), 0};
			bool		fit = (__int128) spent.rho_nano + charge.rho_nano <= limit.rho_nano &&
				(__int128) spent.delta_atto + charge.delta_atto <= limit.delta_atto;

			assert_true(pe_filter_accepts(limit, spent, charge) == fit);
			if (fit)
			{
				spent.rho_nano += charge.rho_nano;
				spent.delta_atto += charge.delta_atto;
			}
		}
	}
}

static void
budget_limits(void **state)
{
	pe_amount	limit = pe_budget_limit(PE_ZCDP, 1, 1e-6, 0.5);

	(void) state;
	assert_true(limit.rho_nano == pe_nano_rho_of_epsilon(PE_ZCDP, 1, 5e-7));
	assert_true(limit.delta_atto == 500000000000);
	assert_true(pe_zcdp_epsilon((double) limit.rho_nano * 1e-9, 5e-7) <= 1);
	assert_true(pe_budget_limit(PE_ZCDP, 1, 1e-18, 0.5).delta_atto == 0);
	assert_true(pe_budget_limit(PE_ZCDP, 1, 3e-18, 0.5).delta_atto == 1);
	assert_true(pe_budget_limit(PE_ZCDP, 1, DBL_TRUE_MIN, 0.5).rho_nano == 0);
	assert_true(pe_budget_limit(PE_ZCDP, 1e5, 1e-9, 0.5).rho_nano > 90000000000000);
	for (size_t i = 0; i < 6; i++)
	{
		double		wrong[][2] = {{0, 1e-6}, {1e5 + 1, 1e-6}, {NAN, 1e-6}, {1, 0}, {1, 1}, {INFINITY, NAN}};
		pe_amount	none = pe_budget_limit(PE_ZCDP, wrong[i][0], wrong[i][1], 0.5);

		assert_true(none.rho_nano == -1 && none.delta_atto == -1);
		assert_false(pe_filter_accepts(none, (pe_amount) {0, 0, 0}, (pe_amount) {0, 0, 0}));
	}
}

/* the epsilon that is left buys exactly the rho that is left */
static void
epsilon_left_fits(void **state)
{
	(void) state;
	for (int i = 0; i < 2000; i++)
	{
		double		epsilon = random_log(0.001, 100);
		double		delta = random_log(1e-12, 0.1);
		pe_amount	limit = pe_budget_limit(PE_ZCDP, epsilon, delta, 0.5);
		pe_amount	spent = {(int64_t) (random_unit() * (double) limit.rho_nano), 0, 0};
		pe_amount	charge = {0, 0, 0};
		double		left;

		if (limit.rho_nano == spent.rho_nano)
			continue;
		left = pe_zcdp_epsilon((double) (limit.rho_nano - spent.rho_nano) * 1e-9, delta / 2);
		charge.rho_nano = pe_nano_rho_of_epsilon(PE_ZCDP, left, delta / 2);
		assert_true(charge.rho_nano == limit.rho_nano - spent.rho_nano);
		assert_true(pe_filter_accepts(limit, spent, charge));
	}
}

/* ---- what the filter lets through is (epsilon, delta)-DP: of a budget of Gaussian DP ---- */

static long double
phi(long double x)
{
	return erfcl(-x / sqrtl(2)) / 2;
}

/* mu^2 / 2 of a pure epsilon: Phi(mu / 2) = e^epsilon / (1 + e^epsilon), by halving. */
static long double
exact_rho_of_pure(long double epsilon)
{
	long double low = 0;
	long double high = 40;

	for (int i = 0; i < 200; i++)
	{
		long double mu = (low + high) / 2;

		if (logl(phi(mu / 2)) - logl(phi(-mu / 2)) < epsilon)
			low = mu;
		else
			high = mu;
	}
	return low * low / 2;
}

static long double
exact_delta(long double epsilon, long double mu)
{
	return phi(-epsilon / mu + mu / 2) - expl(epsilon) * phi(-epsilon / mu - mu / 2);
}

/*
 * Gaussian, pure and (epsilon, delta) charges in any order, costs that depend on what fits, beside
 * sums in numbers of their own: rationals for what is counted, and mu^2 without rounding, which
 * keeps the promise of the budget however near to the limit it comes.
 */
static void
filter_keeps_the_promise(void **state)
{
	long		near = 0;
	long		refused = 0;

	(void) state;
	for (int round = 0; round < 300; round++)
	{
		double		epsilon = random_log(0.05, 10);
		double		delta = random_log(1e-9, 1e-3);
		double		share = round % 3 == 0 ? 0 : round % 3 == 1 ? 1.0 / 16 : random_unit();
		pe_amount	limit = pe_budget_limit(PE_GDP, epsilon, delta, share);
		pe_amount	spent = {0, 0, 0};
		__int128	rho_sum = 0;
		__int128	delta_sum = 0;
		long double rho = 0;

		for (int i = 0; i < 300; i++)
		{
			int			kind = (int) (random_word() % 3);
			int64_t		nano = (int64_t) (random_log(1e-4, 1) * (double) limit.rho_nano) + 1;
			int64_t		pure = (int64_t) (random_log(1e-3, 1) * epsilon * 1e9) + 1;
			int64_t		atto = (int64_t) (random_log(1e-3, 1) * (double) limit.delta_atto);
			pe_cost		cost = kind == 0 ? pe_cost_exact(PE_GDP, nano, 0) : pe_cost_approximate(PE_GDP, pure, kind == 1 ? 0 : atto);
			pe_amount	charge = pe_cost_amount(&cost);
			bool		fits = rho_sum + charge.rho_nano <= limit.rho_nano && delta_sum + charge.delta_atto <= limit.delta_atto;

			/* a pure budget's charge on a cap of Gaussian DP costs the same */
			if (kind == 1)
				assert_int_equal(pe_cap_amount((pe_amount) {.epsilon_nano = pure}, 0, PE_GDP).rho_nano, charge.rho_nano);
			assert_true(pe_filter_accepts(limit, spent, charge) == fits);
			refused += !fits;
			if (!fits)
				continue;
			spent.rho_nano += charge.rho_nano;
			spent.delta_atto += charge.delta_atto;
			rho_sum += charge.rho_nano;
			delta_sum += charge.delta_atto;
			rho += kind == 0 ? nano * 1e-9L : exact_rho_of_pure(pure * 1e-9L);
			assert_true(rho <= (long double) rho_sum * 1e-9L * (1 + 1e-15L));
			assert_true(exact_delta(epsilon, sqrtl(2 * rho)) + (long double) delta_sum * 1e-18L <= delta * (1 + 1e-14L));
		}
		near += (double) rho_sum > 0.99 * (double) limit.rho_nano;
	}
	/* the test can fail: most budgets are spent to the end */
	assert_true(near > 150 && refused > 10000);
}

static void
valid_requests(void **state)
{
	(void) state;
	assert_true(pe_epsilon_valid(1) && pe_epsilon_valid(1e5) && pe_epsilon_valid(DBL_TRUE_MIN));
	assert_false(pe_epsilon_valid(0));
	assert_false(pe_epsilon_valid(-1));
	assert_false(pe_epsilon_valid(nextafter(1e5, 1e6)));
	assert_false(pe_epsilon_valid(INFINITY));
	assert_false(pe_epsilon_valid(NAN));
	assert_true(pe_delta_valid(1e-9) && pe_delta_valid(DBL_TRUE_MIN) && pe_delta_valid(nextafter(1, 0)));
	assert_false(pe_delta_valid(0));
	assert_false(pe_delta_valid(-1e-9));
	assert_false(pe_delta_valid(1));
	assert_false(pe_delta_valid(INFINITY));
	assert_false(pe_delta_valid(NAN));
}

/* ---- the exact rho of mechanisms: compared with the supremum of D_alpha / alpha ---- */

/* orders from just above 1 to 500; exp(order * 20) still fits a long double */
static long double
grid_order(int i)
{
	return 1 + 1e-5L * powl(10, i / 20.0L);
}

#define GRID_ORDERS 155

/*
 * No order may exceed rho, and the order nearest 1 must come close: then rho is
 * the supremum.
 */
static void
check_supremum(double rho, const long double *divergences)
{
	for (int i = 0; i < GRID_ORDERS; i++)
		assert_precisely(divergences[i] / grid_order(i) <= (long double) rho * (1 + 1e-10L));
	assert_precisely(divergences[0] / grid_order(0) >= (long double) rho * (1 - 1e-3L));
}

static void
pure_is_randomised_response(void **state)
{
	static const double epsilons[] = {0.1, 1, 2, 5};

	(void) state;
	for (size_t e = 0; e < lengthof(epsilons); e++)
	{
		long double epsilon = epsilons[e];
		long double p = 1 / (1 + expl(-epsilon));
		long double divergences[GRID_ORDERS];
		double		rho = pe_pure_to_zcdp(epsilons[e]);

		for (int i = 0; i < GRID_ORDERS; i++)
		{
			long double a = grid_order(i);

			/* p^a (1-p)^(1-a) + (1-p)^a p^(1-a), less 1 */
			divergences[i] = log1pl(p * expm1l((a - 1) * epsilon) + (1 - p) * expm1l((1 - a) * epsilon)) / (a - 1);
		}
		check_supremum(rho, divergences);
		check_upper(rho, epsilon * tanhl(epsilon / 2), 1e-14);
		assert_true(rho <= fmin(epsilons[e] * epsilons[e] / 2, epsilons[e]));
	}
}

static void
pure_directions(void **state)
{
	(void) state;
	for (int i = 0; i < 20000; i++)
	{
		double		epsilon = random_log(1e-12, 1e5);

		check_upper(pe_pure_to_zcdp(epsilon), epsilon * tanhl((long double) epsilon / 2), 1e-14);
	}
	assert_true(pe_pure_to_zcdp(0) == 0);
	assert_true(pe_pure_to_zcdp(DBL_TRUE_MIN) > 0);
	assert_true(isinf(pe_pure_to_zcdp(-1)));
	assert_true(isinf(pe_pure_to_zcdp(NAN)));
}

/* What a pure charge costs a cap in rho, and what a rho pays for. */
static void
pure_in_nano(void **state)
{
	(void) state;
	/* epsilon tanh(epsilon / 2) to more digits, rounded up */
	assert_true(pe_nano_rho_of_pure(PE_ZCDP, 1000000000) == 462117158);
	assert_true(pe_nano_rho_of_pure(PE_ZCDP, 500000000) == 122459332);
	assert_true(pe_nano_rho_of_pure(PE_ZCDP, 100000000) == 4995838);
	assert_true(pe_nano_rho_of_pure(PE_ZCDP, 5000000000) == 4933071491);
	assert_true(pe_nano_rho_of_pure(PE_ZCDP, 1) == 1);
	assert_true(pe_nano_rho_of_pure(PE_ZCDP, 0) == 0);
	assert_true(pe_nano_rho_of_pure(PE_ZCDP, -1) == -1);
	assert_true(pe_nano_pure_of_rho(PE_ZCDP, 0) == 0);
	assert_true(pe_nano_pure_of_rho(PE_ZCDP, -1) == 0);
	assert_true(pe_nano_pure_of_rho(PE_ZCDP, INT64_MAX) == 0);
	for (int i = 0; i < 20000; i++)
	{
		int64_t		epsilon = (int64_t) (random_log(1e-9, 1e5) * 1e9);
		int64_t		rho = pe_nano_rho_of_pure(PE_ZCDP, epsilon);
		int64_t		paid = pe_nano_pure_of_rho(PE_ZCDP, rho);

		assert_true((long double) rho >= 1e9L * ((long double) epsilon / 1e9L) * tanhl((long double) epsilon / 2e9L));
		assert_true(paid >= epsilon);
		assert_true(pe_nano_rho_of_pure(PE_ZCDP, paid) <= rho);
		assert_true(pe_nano_rho_of_pure(PE_ZCDP, paid + 1) > rho);
	}
}

/* Pure charges: on a pure cap, on one that counts rho, and never on a budget of the other kind. */
static void
pure_charges(void **state)
{
	pe_amount	nothing = {0, 0, 0};
	pe_amount	charge = {0, 0, 500000000};
	pe_amount	limit = pe_budget_limit(PE_PURE, 1, 0, 0);
	pe_amount	zcdp = pe_budget_limit(PE_ZCDP, 1, 1e-6, 0.5);
	pe_amount	cap_cost = pe_cap_amount(charge, 0, PE_ZCDP);

	(void) state;
	assert_true(limit.rho_nano == 0 && limit.delta_atto == 0 && limit.epsilon_nano == 1000000000);
	assert_true(pe_budget_limit(PE_PURE, 0.3, 0, 0).epsilon_nano == 300000000);
	assert_true(pe_budget_limit(PE_PURE, 1e-10, 0, 0).epsilon_nano == 0);
	assert_true(pe_budget_limit(PE_PURE, -1, 0, 0).epsilon_nano == -1);
	assert_true(pe_budget_limit(PE_PURE, NAN, 0, 0).epsilon_nano == -1);
	assert_false(pe_filter_accepts(pe_budget_limit(PE_PURE, -1, 0, 0), nothing, nothing));
	/* what one request may cost, in either */
	assert_true(pe_filter_allows(0, (pe_amount) {INT64_MAX, 0, 0}));
	assert_true(pe_filter_allows(7, (pe_amount) {7, INT64_MAX, 0}));
	assert_false(pe_filter_allows(7, (pe_amount) {8, 0, 0}));
	assert_true(pe_filter_allows(7, (pe_amount) {0, 0, 7}));
	assert_false(pe_filter_allows(7, (pe_amount) {0, 0, 8}));
	assert_true(pe_filter_accepts(limit, charge, charge));
	assert_false(pe_filter_accepts(limit, charge, (pe_amount) {0, 0, 500000001}));
	assert_false(pe_filter_accepts(limit, nothing, (pe_amount) {1, 0, 0}));
	assert_false(pe_filter_accepts(limit, nothing, (pe_amount) {0, 1, 0}));
	assert_false(pe_filter_accepts(zcdp, nothing, (pe_amount) {0, 0, 1}));
	assert_true(cap_cost.rho_nano == 122459332 && cap_cost.delta_atto == 0 && cap_cost.epsilon_nano == 0);
	assert_true(pe_cap_amount(charge, 0, PE_PURE).epsilon_nano == charge.epsilon_nano && pe_cap_amount(charge, 0, PE_PURE).rho_nano == 0);
	assert_true(pe_cap_amount((pe_amount) {7, 8, 0}, 0, PE_ZCDP).rho_nano == 7 && pe_cap_amount((pe_amount) {7, 8, 0}, 0, PE_ZCDP).delta_atto == 8);

	/* a mechanism that is known to cost less, and never more */
	assert_true(pe_cap_amount(charge, 31250000, PE_ZCDP).rho_nano == 31250000);
	assert_true(pe_cap_amount(charge, 122459333, PE_ZCDP).rho_nano == 122459332);
	assert_true(pe_cap_amount(charge, 31250000, PE_PURE).epsilon_nano == 500000000 && pe_cap_amount(charge, 1, PE_PURE).rho_nano == 0);
	assert_true(pe_nano_left(limit, PE_PURE) == 1000000000 && pe_nano_left(limit, PE_ZCDP) == 0);
	assert_true(pe_nano_left((pe_amount) {9, 0, 0}, PE_ZCDP) == 9);
	assert_true(pe_nano_left((pe_amount) {-3, 0, 0}, PE_ZCDP) == 0);
}

/* D_alpha of two discrete Laplace distributions at distance shift, by summing the probabilities */
static long double
discrete_laplace_divergence(double scale, int shift, long double a)
{
	long double mass = tanhl(scale / 2.0L);
	long double sum = 0;
	int			reach = (int) (45 / scale) + shift;

	for (int k = -reach; k <= reach; k++)
	{
		long double log_ratio = scale * (long double) (abs(k - shift) - abs(k));

		sum += mass * expl(-scale * (long double) abs(k - shift)) * expm1l(a * log_ratio);
	}
	return log1pl(sum) / (a - 1);
}

static void
discrete_laplace_is_supremum(void **state)
{
	static const double scales[] = {0.05, 0.3, 1, 3};
	static const int shifts[] = {1, 2, 5};

	(void) state;
	for (size_t s = 0; s < lengthof(scales); s++)
	{
		for (size_t d = 0; d < lengthof(shifts); d++)
		{
			long double divergences[GRID_ORDERS];

			for (int i = 0; i < GRID_ORDERS; i++)
				divergences[i] = discrete_laplace_divergence(scales[s], shifts[d], grid_order(i));
			check_supremum(pe_discrete_laplace_rho(scales[s], shifts[d]), divergences);
		}
	}
}

/* A vector that moves by 5 in all, however the coordinates share it, costs no more than one that moves by 5. */
static void
laplace_of_vectors(void **state)
{
	static const double epsilons[] = {0.25, 1.5, 15};
	static const int shares[][4] = {{5, 0, 0, 0}, {4, 1, 0, 0}, {3, 2, 0, 0}, {2, 2, 1, 0}, {1, 1, 1, 1}, {1, 0, 0, 0}};

	(void) state;
	for (size_t e = 0; e < lengthof(epsilons); e++)
	{
		double		rho = pe_nano_rho_of_laplace(PE_ZCDP, (int64_t) (epsilons[e] * 1e9), 5) * 1e-9;

		assert_true(rho < pe_pure_to_zcdp(epsilons[e]) * (e == 1 ? 0.8 : 0.99));
		for (size_t v = 0; v < lengthof(shares); v++)
			for (int i = 0; i < GRID_ORDERS; i++)
			{
				long double sum = 0;

				for (int j = 0; j < 4; j++)
					sum += shares[v][j] > 0 ? discrete_laplace_divergence(epsilons[e] / 5, shares[v][j], grid_order(i)) : 0;
				assert_precisely(sum / grid_order(i) <= rho * (1 + 1e-12L) + 2e-9L);
			}
	}
}

/* In nano-units: never below the exact number, and never above what any pure mechanism costs. */
static void
nano_of_pure_mechanisms(void **state)
{
	(void) state;
	for (int i = 0; i < 3000; i++)
	{
		int64_t		nano = (int64_t) (random_log(1e-9, 1e3) * 1e9);
		int64_t		sensitivity = 1 + (int64_t) (random_word() % (i % 2 == 0 ? 3 : INT64_MAX / 4));
		long double epsilon = nano / 1e9L;
		long double a = epsilon / sensitivity;
		long double y = epsilon / expm1l(epsilon);
		long double exact = epsilon < 1e-3L ? 0 : epsilon + expm1l(-epsilon) * (sensitivity < 4 ? a / sinhl(a) : 1);

		assert_precisely(pe_nano_rho_of_laplace(PE_ZCDP, nano, (pe_u128) sensitivity) >= exact * (1 - 1e-12L) * 1e9L);
		assert_true(pe_nano_rho_of_laplace(PE_ZCDP, nano, (pe_u128) sensitivity) <= pe_nano_rho_of_pure(PE_ZCDP, nano));
		assert_precisely(pe_nano_rho_of_range(PE_ZCDP, nano) >= (epsilon < 1e-3L ? 0 : (y - 1 - logl(y)) * (1 - 1e-9L)) * 1e9L);
		assert_true(pe_nano_rho_of_range(PE_ZCDP, nano) <= pe_nano_rho_of_pure(PE_ZCDP, nano));
	}
	assert_true(pe_nano_rho_of_laplace(PE_ZCDP, 1500000000, 1) == pe_nano_rho_of_pure(PE_ZCDP, 1500000000));
	assert_true(pe_nano_rho_of_laplace(PE_ZCDP, 1500000000, (pe_u128) 1 << 100) == pe_nano_rho_of_pure(PE_ZCDP, 1500000000));
	assert_true(pe_nano_rho_of_range(PE_ZCDP, 1000000000) < 125000000 && pe_nano_rho_of_range(PE_ZCDP, 1000000000) > 120000000);
	assert_true(pe_nano_rho_of_range(PE_ZCDP, -1) == -1 && pe_nano_rho_of_laplace(PE_ZCDP, -1, 1) == -1);
	assert_true(pe_nano_rho_of_range(PE_ZCDP, 0) == 0 && pe_nano_rho_of_range(PE_ZCDP, INT64_MAX) == pe_nano_rho_of_pure(PE_ZCDP, INT64_MAX));
}

static void
discrete_laplace_values(void **state)
{
	(void) state;
	check_digits(pe_discrete_laplace_rho(0.3, 5), "0.735");
	check_digits(1.5 * 1.5 / 2, "1.125");
	for (int i = 0; i < 5000; i++)
	{
		double		a = random_log(1e-3, 30);
		int64_t		shift = 1 + (int64_t) (random_word() % 50);
		long double q = expl(-(long double) a);
		long double exact = a * (shift - 2 * q * (1 - powl(q, shift)) / (1 - q * q));

		check_upper(pe_discrete_laplace_rho(a, 1), a * tanhl(a / 2.0L), 3e-14);
		assert_precisely(pe_discrete_laplace_rho(a, shift) >= exact * (1 - 1e-12L));
		assert_precisely(pe_discrete_laplace_rho(a, shift) <= exact * (1 + 1e-12L));
		assert_true(pe_discrete_laplace_rho(a, shift) <= pe_pure_to_zcdp(a * (double) shift) * (1 + 1e-12));
	}
	/* a fine lattice is the continuous mechanism */
	assert_true(fabs(pe_discrete_laplace_rho(1e-12, 1000000000000) / exp(-1) - 1) < 1e-11);
	/* both branches of the series meet */
	assert_true(fabs(pe_discrete_laplace_rho(nextafter(1, 0), 3) / pe_discrete_laplace_rho(1, 3) - 1) < 1e-13);
	assert_true(pe_discrete_laplace_rho(0, 5) == 0);
	assert_true(pe_discrete_laplace_rho(1, 0) == 0);
	assert_true(isinf(pe_discrete_laplace_rho(-1, 1)));
	assert_true(isinf(pe_discrete_laplace_rho(1, -1)));
	assert_true(isinf(pe_discrete_laplace_rho(NAN, 1)));
	assert_true(isinf(pe_discrete_laplace_rho(INFINITY, 1)));
	check_upper(pe_discrete_laplace_rho(1000, 7), 7000, 3e-14);
	check_upper(pe_discrete_laplace_rho(1e-18, INT64_MAX), 9.223372036854775807L + expm1l(-9.223372036854775807L), 3e-14);
}

static void
bounded_range_values(void **state)
{
	(void) state;
	check_digits(pe_bounded_range_rho(4), "1.670");
	check_digits(4.0 * 4 / 8, "2.0");
	for (int i = 0; i < 20000; i++)
	{
		double		eta = random_log(0.01, 1000);
		long double y = eta / expm1l(eta);
		long double exact = y - 1 - logl(y);

		assert_precisely(pe_bounded_range_rho(eta) >= exact - 3e-19L);
		assert_precisely(pe_bounded_range_rho(eta) <= exact * (1 + 3e-14L) + 3e-19L * (1 + eta));
		assert_true(pe_bounded_range_rho(eta) <= eta * eta / 8 * (1 + 3e-14));
	}
	/* eta^2/8 - eta^4/576 for small eta */
	check_upper(pe_bounded_range_rho(1e-9), 0.125e-18L, 1e-13);
	check_upper(pe_bounded_range_rho(1e-3), 1e-6L / 8 - 1e-12L / 576, 1e-13);
	assert_true(fabs(pe_bounded_range_rho(nextafter(2, 0)) / pe_bounded_range_rho(2) - 1) < 1e-13);
	assert_true(pe_bounded_range_rho(0) == 0);
	assert_true(pe_bounded_range_rho(DBL_TRUE_MIN) > 0);
	assert_true(isinf(pe_bounded_range_rho(-1)));
	assert_true(isinf(pe_bounded_range_rho(NAN)));
	assert_true(isinf(pe_bounded_range_rho(INFINITY)));
	assert_true(pe_bounded_range_rho(1e6) > 9.9e5);
}

/*
 * The extreme pairs of bounded range eta have two outcomes whose log ratios are
 * s and s - eta: over all of them and all orders, D_alpha / alpha stays below.
 */
static void
bounded_range_is_supremum(void **state)
{
	static const double etas[] = {0.1, 1, 4, 10};

	(void) state;
	for (size_t e = 0; e < lengthof(etas); e++)
	{
		long double eta = etas[e];
		long double rho = pe_bounded_range_rho(etas[e]);
		long double best = 0;

		for (int j = 1; j < 400; j++)
		{
			long double s = eta * j / 400;
			long double q = expm1l(eta - s) / (expl(eta) - 1);

			for (int i = 0; i < GRID_ORDERS; i++)
			{
				long double a = grid_order(i);
				long double moment = q * expm1l(a * s) + (1 - q) * expm1l(a * (s - eta));

				best = fmaxl(best, log1pl(moment) / (a - 1) / a);
			}
		}
		assert_precisely(best <= rho * (1 + 1e-10L));
		assert_precisely(best >= rho * (1 - 1e-3L));
	}
}

/* ---- the Gaussian ---- */

static void
gaussian_sigma_golden(void **state)
{
	(void) state;
	check_digits(pe_gaussian_sigma(1, 1e-6), "4.224678889");
	check_digits(pe_gaussian_sigma(0.1, 1e-6), "36.30469043");
	check_digits(pe_gaussian_sigma(0.5, 1e-9), "10.67389682");
	check_digits(pe_gaussian_sigma(4, 1e-6), "1.193518587");
	check_digits(sqrt(2 * log(1.25 / 1e-6)), "5.2988");
	check_digits(1 / sqrt(2e-9 * (double) pe_nano_rho_of_epsilon(PE_ZCDP, 1, 1e-6)), "4.53088");
}

static long double
gaussian_delta(long double sigma, long double epsilon)
{
	long double half = 1 / (2 * sigma);
	long double center = epsilon * sigma;
	long double root = sqrtl(0.5L);

	return 0.5L * erfcl((center - half) * root) - expl(epsilon) * 0.5L * erfcl((center + half) * root);
}

static void
gaussian_sigma_directions(void **state)
{
	(void) state;
	for (int i = 0; i < 2000; i++)
	{
		double		epsilon = random_log(1e-2, 50);
		double		delta = random_log(1e-15, 0.1);
		double		sigma = pe_gaussian_sigma(epsilon, delta);

		assert_precisely(gaussian_delta(sigma, epsilon) <= delta);
		assert_precisely(gaussian_delta(sigma * (1 - 1e-10), epsilon) > delta);
	}

	/* far in the tail, on both sides of where the asymptotic series takes over */
	for (int i = 0; i < 2000; i++)
	{
		double		epsilon = random_log(0.1, 500);
		double		delta = random_log(1e-300, 1e-50);
		double		sigma = pe_gaussian_sigma(epsilon, delta);

		assert_precisely(gaussian_delta(sigma, epsilon) <= delta);
		assert_precisely(gaussian_delta(sigma * (1 - 1e-10), epsilon) > delta);
	}
}

static void
gaussian_sigma_range(void **state)
{
	(void) state;
	/* at epsilon 0, delta is the total variation distance 2 Phi(1/(2 sigma)) - 1 */
	assert_true(fabs(erf(1 / (2 * pe_gaussian_sigma(0, 0.1)) * sqrt(0.5)) / 0.1 - 1) < 1e-10);
	assert_true(isinf(pe_gaussian_sigma(-1, 1e-6)));
	assert_true(isinf(pe_gaussian_sigma(NAN, 1e-6)));
	assert_true(isinf(pe_gaussian_sigma(INFINITY, 1e-6)));
	assert_true(isinf(pe_gaussian_sigma(1, 0)));
	assert_true(isinf(pe_gaussian_sigma(1, 1)));
	assert_true(pe_gaussian_sigma(1e5, 1e-6) > 0.002);
	assert_true(pe_gaussian_sigma(1e5, 1e-6) < 0.01);
	assert_true(pe_gaussian_sigma(1, 1e-300) > pe_gaussian_sigma(1, 1e-299));
	assert_true(pe_gaussian_sigma(1, DBL_TRUE_MIN) > 30);
	assert_true(pe_gaussian_sigma(1, DBL_TRUE_MIN) < 60);
	/* where delta is the difference of nearly equal numbers, the bound is coarser but still above */
	assert_true(pe_gaussian_sigma(1e-6, 1e-6) > pe_gaussian_sigma(2e-6, 1e-6));
	assert_true(pe_gaussian_sigma(1e-6, 1e-9) < 1e7);
}

/* Theorem 7 as it stands: two tails, each summed */
static long double
discrete_delta(double sigma, double epsilon)
{
	long double variance = (long double) sigma * sigma;
	long double mass = 0;
	long double near = 0;
	long double far = 0;
	int			reach = (int) (60 * sigma) + 60 + (int) (epsilon * variance);

	for (int k = -reach; k <= reach; k++)
	{
		long double weight = expl(-k * (long double) k / (2 * variance));

		mass += weight;
		if (k > epsilon * variance - 0.5L)
			near += weight;
		if (k > epsilon * variance + 0.5L)
			far += weight;
	}
	return (near - expl(epsilon) * far) / mass;
}

static void
discrete_gaussian_trap(void **state)
{
	long double delta = discrete_delta(pe_gaussian_sigma(1, 1e-6), 1);

	(void) state;
	check_digits((double) delta, "1.01966e-6");
	/* and delta grows with sigma where sigma is small */
	assert_true(discrete_delta(0.64, 2) > discrete_delta(0.51, 2));
	assert_true(discrete_delta(0.75, 1) > discrete_delta(0.71, 1));
}

/* calibration through rho is safe for the discrete Gaussian */
static void
discrete_gaussian_through_rho(void **state)
{
	(void) state;
	for (double epsilon = 0.1; epsilon < 10; epsilon *= 1.3)
	{
		for (double delta = 1e-12; delta < 0.01; delta *= 17)
		{
			int64_t		r = pe_nano_rho_of_epsilon(PE_ZCDP, epsilon, delta);
			double		sigma = 1 / sqrt(2e-9 * (double) r);

			assert_precisely(discrete_delta(sigma, epsilon) <= delta);
		}
	}
}

/* ---- the subsampled Gaussian ---- */

static long double
subsampled_divergence(long double q, long double sigma, int alpha)
{
	long double sum = 0;
	long double choose = 1;

	for (int k = 0; k <= alpha; k++)
	{
		sum += choose * powl(1 - q, alpha - k) * powl(q, k) * expl(k * (k - 1.0L) / (2 * sigma * sigma));
		choose = choose * (alpha - k) / (k + 1);
	}
	return logl(sum) / (alpha - 1);
}

/* The epsilon of a thousand steps, by the best of these orders. */
static double
subsampled_epsilon(int first, int last)
{
	double		best = INFINITY;

	for (int alpha = first; alpha <= last; alpha++)
		best = fmin(best, pe_renyi_epsilon(1000 * pe_rdp_subsampled_gaussian(0.01, 1.1, alpha), alpha - 1, 1e-5));
	return best;
}

static void
subsampled_golden(void **state)
{
	(void) state;
	check_digits(pe_rdp_subsampled_gaussian(0.01, 1, 2), "1.7181342e-4");
	check_digits(pe_rdp_subsampled_gaussian(0.01, 1, 8), "8.9364391e-4");
	check_digits(subsampled_epsilon(2, 256), "1.7253");
	assert_true(subsampled_epsilon(9, 9) == subsampled_epsilon(2, 256));
}

static void
subsampled_directions(void **state)
{
	(void) state;
	for (int i = 0; i < 5000; i++)
	{
		double		q = random_log(1e-4, 1);
		double		sigma = random_log(0.3, 20);
		int			alpha = 2 + (int) (random_word() % 30);
		long double exact = subsampled_divergence(q, sigma, alpha);
		double		rdp = pe_rdp_subsampled_gaussian(q, sigma, alpha);

		/* the reference is the logarithm of a number near 1: absolute error 1e-17 */
		assert_precisely(rdp >= exact - 1e-17L);
		assert_precisely(rdp <= exact * (1 + 1e-11L) + 1e-17L);
		assert_precisely(rdp <= alpha / (2 * sigma * sigma) * (1 + 1e-11));
	}
}

static void
subsampled_range(void **state)
{
	(void) state;
	assert_true(pe_rdp_subsampled_gaussian(0, 1, 2) == 0);
	check_upper(pe_rdp_subsampled_gaussian(1, 2, 8), 1, 1e-13);
	assert_true(fabs(pe_rdp_subsampled_gaussian(nextafter(1, 0), 2, 8) - 1) < 1e-12);
	/* sizes that overflow outside of logarithms */
	check_upper(pe_rdp_subsampled_gaussian(0.5, 0.01, 100), (99.0L * 100 * 5000 + 100 * logl(0.5L)) / 99, 1e-11);
	assert_true(pe_rdp_subsampled_gaussian(0.01, 4, PE_ALPHA_MAX) < PE_ALPHA_MAX / 32.0);
	assert_true(pe_rdp_subsampled_gaussian(0.01, 1e200, 2) < 1e-300);
	assert_true(isinf(pe_rdp_subsampled_gaussian(0.01, 1e-200, 2)));
	assert_true(pe_rdp_subsampled_gaussian(0.01, INFINITY, 2) == 0);
	assert_true(isinf(pe_rdp_subsampled_gaussian(-0.1, 1, 2)));
	assert_true(isinf(pe_rdp_subsampled_gaussian(1.1, 1, 2)));
	assert_true(isinf(pe_rdp_subsampled_gaussian(NAN, 1, 2)));
	assert_true(isinf(pe_rdp_subsampled_gaussian(0.1, 0, 2)));
	assert_true(isinf(pe_rdp_subsampled_gaussian(0.1, NAN, 2)));
	assert_true(isinf(pe_rdp_subsampled_gaussian(0.1, 1, 1)));
	assert_true(isinf(pe_rdp_subsampled_gaussian(0.1, 1, PE_ALPHA_MAX + 1)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(epsilon_golden),
		cmocka_unit_test(epsilon_beats_textbook),
		cmocka_unit_test(epsilon_is_upper_and_tight),
		cmocka_unit_test(epsilon_covers_the_decimals),
		cmocka_unit_test(epsilon_range),
		cmocka_unit_test(renyi_epsilon_range),
		cmocka_unit_test(round_trip_random),
		cmocka_unit_test(round_trip_extreme),
		cmocka_unit_test(round_trip_at_the_limit),
		cmocka_unit_test(round_trip_below_the_floor),
		cmocka_unit_test(nano_rho_of_epsilon_is_largest),
		cmocka_unit_test(nano_rho_of_epsilon_range),
		cmocka_unit_test(decimals_as_typed),
		cmocka_unit_test(atto_as_typed),
		cmocka_unit_test(nano_survives_a_double),
		cmocka_unit_test(reading_stays_with_the_double),
		cmocka_unit_test(nano_up_is_exact),
		cmocka_unit_test(nano_up_against_integers),
		cmocka_unit_test(filter_edges),
		cmocka_unit_test(filter_sums_never_pass_the_limit),
		cmocka_unit_test(budget_limits),
		cmocka_unit_test(epsilon_left_fits),
		cmocka_unit_test(filter_keeps_the_promise),
		cmocka_unit_test(valid_requests),
		cmocka_unit_test(pure_is_randomised_response),
		cmocka_unit_test(pure_directions),
		cmocka_unit_test(pure_in_nano),
		cmocka_unit_test(pure_charges),
		cmocka_unit_test(discrete_laplace_is_supremum),
		cmocka_unit_test(laplace_of_vectors),
		cmocka_unit_test(nano_of_pure_mechanisms),
		cmocka_unit_test(discrete_laplace_values),
		cmocka_unit_test(bounded_range_values),
		cmocka_unit_test(bounded_range_is_supremum),
		cmocka_unit_test(gaussian_sigma_golden),
		cmocka_unit_test(gaussian_sigma_directions),
		cmocka_unit_test(gaussian_sigma_range),
		cmocka_unit_test(discrete_gaussian_trap),
		cmocka_unit_test(discrete_gaussian_through_rho),
		cmocka_unit_test(subsampled_golden),
		cmocka_unit_test(subsampled_directions),
		cmocka_unit_test(subsampled_range),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

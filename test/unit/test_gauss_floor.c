/*
 * test_gauss_floor.c
 *	  The floor of a continuous Gaussian.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "noise/gauss.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

static pe_i128
draw_floor(const void *prepared, pe_bits *bits)
{
	return pe_gauss_floor_draw(prepared, bits);
}

/* floor(X) + 1/2 has the mean of X; here only the bins count, so the mean is -1/2. */
static void
check_floor(pe_u128 p, const char *name, long n)
{
	double		sigma = sqrt((double) p);
	double		below = 0.0;
	long		seen[MAX_BINS] = {0};
	pe_gauss	g;
	pe_bits		bits;
	law			l;

	law_start(&l);
	for (int i = -800; i <= 800; i++)
	{
		pe_i128		edge = sigma < 30 ? i : (pe_i128) (sigma * i / 100.0);
		double		z = (double) edge / sigma;

		law_add(&l, normal_cdf(z) - below, edge, fabs(z), n);
		below = normal_cdf(z);
	}
	law_finish(&l);

	pe_gauss_init(&g, p, 1);
	pe_bits_init(&bits);
	for (long i = 0; i < n; i++)
		seen[law_bin(&l, pe_gauss_floor_draw(&g, &bits))]++;
	pe_bits_wipe(&bits);
	check_chi_square(name, seen, l.mass, l.nbins, n);
}

/* Narrow ones are where a discrete Gaussian is far from it, and where k > p. */
static void
test_law(void **state)
{
	const struct
	{
		pe_u128		p;
		const char *name;
	}			cases[] = {
		{1, "variance 1"},
		{2, "variance 2"},
		{7, "variance 7"},
		{100, "variance 100"},
		{1000003, "variance 1e6"},
		{(pe_u128) 1 << 80, "variance 2^80"},
		{((pe_u128) 1 << 119) + 12345, "variance 2^119"},
	};

	(void) state;
	for (int i = 0; i < lengthof(cases); i++)
		/* at variance 1 the factor of u^2 shows, if draws are many */
		check_floor(cases[i].p, cases[i].name, i == 0 ? 300000 : scaled(400000));
}

static void
test_low_bits(void **state)
{
	pe_gauss	g;

	(void) state;
	pe_gauss_init(&g, (pe_u128) 1 << 80, 1);
	check_low_bits("low bits", draw_floor, &g, scaled(200000) < 60000 ? 60000 : scaled(200000));
}

static void
draw_unprepared(void *arg)
{
	pe_bits		bits;

	pe_bits_init(&bits);
	pe_gauss_floor_draw(arg, &bits);
}

static void
test_range(void **state)
{
	pe_gauss	g;

	(void) state;
	pe_gauss_init(&g, 3, 2);
	assert_true(pe_test_is_bug(draw_unprepared, &g));
	pe_gauss_init(&g, (pe_u128) 1 << 120, 1);
	assert_true(pe_test_is_bug(draw_unprepared, &g));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_low_bits),
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests_name("gauss_floor", tests, NULL, NULL);
}

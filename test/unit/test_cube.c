/*
 * test_cube.c
 *	  Noise of the maximum norm: sampler against the enumerated law, release, limits.
 *
 * Statistical tests use the system's randomness (statistics.h).
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

#include "noise/laplace.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

#define NANO 1000000000

/* The most numbers of a vector here. */
#define MOST 64

typedef struct sample
{
	const char *name;
	size_t		count;
	pe_u128		sensitivity;
	int64_t		nano;
} sample;

static double
rate_of(const sample *s)
{
	return (double) s->nano * 1e-9 / (double) s->sensitivity;
}

/* How many standard deviations of a mean of n something is off: by the sample's own variance. */
static void
check_mean(const char *what, double sum, double squares, double expected, long n)
{
	double		mean = sum / (double) n;
	double		variance = squares / (double) n - mean * mean;

	check_z(what, (mean - expected) / sqrt(variance / (double) n));
}

/* ----------
 * The law
 * ----------
 */

/* Every vector of a cube has its own bin; what is outside has one together. */
#define REACH 4

static int
bin_of(const pe_i128 *v, size_t count)
{
	int			bin = 0;

	for (size_t i = 0; i < count; i++)
	{
		if (v[i] < -REACH || v[i] > REACH)
			return -1;
		bin = bin * (2 * REACH + 1) + (int) (v[i] + REACH);
	}
	return bin;
}

static int
norm_of_bin(int bin, size_t count)
{
	int			largest = 0;

	for (size_t i = 0; i < count; i++, bin /= 2 * REACH + 1)
	{
		int			v = abs(bin % (2 * REACH + 1) - REACH);

		largest = v > largest ? v : largest;
	}
	return largest;
}

/* exp(-s |v|) over the sum of that over all vectors, shell by shell. */
static int
enumerate(const sample *s, double *mass)
{
	double		rate = rate_of(s);
	double		total = 0;
	double		inside = 0;
	int			bins = 1;

	for (int r = 0; r * rate < 60; r++)
		total += (pow(2 * r + 1, (double) s->count) - (r > 0 ? pow(2 * r - 1, (double) s->count) : 0)) * exp(-rate * r);
	for (size_t i = 0; i < s->count; i++)
		bins *= 2 * REACH + 1;
	for (int bin = 0; bin < bins; bin++)
	{
		mass[bin] = exp(-rate * norm_of_bin(bin, s->count)) / total;
		inside += mass[bin];
	}
	mass[bins] = 1 - inside;
	return bins;
}

static void
check_enumerated(const sample *s, long n)
{
	static double mass[MAX_BINS];
	static long seen[MAX_BINS];
	int			bins = enumerate(s, mass);
	int			kept = 0;
	double		rare = 0;
	long		seen_rare = 0;
	pe_bits		bits;

	memset(seen, 0, sizeof(seen));
	pe_bits_init(&bits);
	for (long draw = 0; draw < n; draw++)
	{
		pe_i128		v[MOST];
		int			bin;

		pe_cube_draw(v, s->count, s->sensitivity, s->nano, &bits);
		bin = bin_of(v, s->count);
		seen[bin < 0 ? bins : bin]++;
	}
	pe_bits_wipe(&bits);
	/* what is rare goes together */
	for (int bin = 0; bin <= bins; bin++)
	{
		if (mass[bin] * (double) n >= BIN_MIN)
		{
			mass[kept] = mass[bin];
			seen[kept++] = seen[bin];
			continue;
		}
		rare += mass[bin];
		seen_rare += seen[bin];
	}
	if (rare * (double) n >= BIN_MIN)
	{
		mass[kept] = rare;
		seen[kept++] = seen_rare;
	}
	if (kept > 1)
		check_chi_square(s->name, seen, mass, kept, n);
}

/* scales of 0.5 to 3; of three numbers 3/8 is the least */
static const sample samples[] = {
	{"1 number, scale 2", 1, 1, 500000000},
	{"1 number, scale 0.5", 1, 1, 2 * NANO},
	{"1 number, scale 1/3", 1, 1, 3 * (int64_t) NANO},
	{"2 numbers, scale 1", 2, 3, 3 * (int64_t) NANO},
	{"2 numbers, scale 3", 2, 3, NANO},
	{"3 numbers, scale 0.7", 3, 7, 10 * (int64_t) NANO},
	{"3 numbers, scale 3/8", 3, 3, 8 * (int64_t) NANO},
	{"3 numbers, scale 1.7", 3, 17, 10 * (int64_t) NANO},
};

static void
test_law(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(samples); i++)
		check_enumerated(&samples[i], scaled(60000));
}

/* ----------
 * Larger vectors
 * ----------
 */

/* The moments of |v| = max |v_i| by the sum over its values. */
static void
moments_of_norm(const sample *s, double *mean, double *square)
{
	double		rate = rate_of(s);
	double		n = (double) s->count;
	double		mode = n / rate;
	double		total = 0;

	*mean = 0;
	*square = 0;
	for (double r = 0; r * rate < 3 * n + 80; r++)
	{
		double		outer = n * log(2 * r + 1);
		double		shell = r > 0 ? -expm1(n * log((2 * r - 1) / (2 * r + 1))) : 1;
		double		weight = exp(outer - rate * r - (n * log(2 * mode + 1) - rate * mode)) * shell;

		total += weight;
		*mean += weight * r;
		*square += weight * r * r;
	}
	*mean /= total;
	*square /= total;
}

static const sample wide[] = {
	{"10 numbers, scale 5/4", 10, 5, 4 * (int64_t) NANO},
	{"10 numbers, scale 20", 10, 20, NANO},
	{"64 numbers, scale 8", 64, 8, NANO},
	{"64 numbers, scale 1000", 64, 100, 100000000},
};

static double
norm_of(const pe_i128 *v, size_t count)
{
	double		largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs((double) v[i]));
	return largest;
}

/* The norm, the sum of all numbers, and a product of two, whose means are known. */
static void
check_moments(const sample *s, long n)
{
	double		mean;
	double		square;
	double		of_norm[2] = {0, 0};
	double		of_square[2] = {0, 0};
	double		of_sum[2] = {0, 0};
	double		of_product[2] = {0, 0};
	pe_bits		bits;

	moments_of_norm(s, &mean, &square);
	pe_bits_init(&bits);
	for (long draw = 0; draw < n; draw++)
	{
		pe_i128		v[MOST];
		double		norm;
		double		sum = 0;
		double		product;

		pe_cube_draw(v, s->count, s->sensitivity, s->nano, &bits);
		norm = norm_of(v, s->count) / mean;
		for (size_t i = 0; i < s->count; i++)
			sum += (double) v[i] / mean;
		product = (double) v[0] * (double) v[s->count - 1] / (mean * mean);
		of_norm[0] += norm;
		of_norm[1] += norm * norm;
		of_square[0] += norm * norm;
		of_square[1] += norm * norm * norm * norm;
		of_sum[0] += sum;
		of_sum[1] += sum * sum;
		of_product[0] += product;
		of_product[1] += product * product;
	}
	pe_bits_wipe(&bits);
	print_message("%s: norm %g\n", s->name, mean);
	check_mean("norm", of_norm[0], of_norm[1], 1, n);
	check_mean("its square", of_square[0], of_square[1], square / (mean * mean), n);
	check_mean("sum", of_sum[0], of_sum[1], 0, n);
	check_mean("product", of_product[0], of_product[1], 0, n);
}

static void
test_moments(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(wide); i++)
		check_moments(&wide[i], scaled(3000));
}

/* At a large scale a number is R times a uniform one, and R / scale nearly a gamma variable. */
static void
test_large_scale(void **state)
{
	static const pe_u128 scales[] = {1 << 20, (pe_u128) 1 << 60, ((pe_u128) 1 << 90) - 1};
	const size_t count = 20;
	long		n = scaled(4000);

	(void) state;
	for (int i = 0; i < lengthof(scales); i++)
	{
		double		norm[2] = {0, 0};
		long		odd = 0;
		pe_bits		bits;

		pe_bits_init(&bits);
		for (long draw = 0; draw < n; draw++)
		{
			pe_i128		v[MOST];
			double		of;

			pe_cube_draw(v, count, scales[i], NANO, &bits);
			of = norm_of(v, count) / (double) scales[i];
			norm[0] += of;
			norm[1] += of * of;
			odd += (long) (v[7] & 1);
		}
		pe_bits_wipe(&bits);
		/* E of the largest of count uniform variables times gamma(count + 1) is count */
		check_mean("norm", norm[0], norm[1], (double) count, n);
		check_z("low bit", ((double) odd - (double) n / 2) / sqrt((double) n / 4));
	}
}

/* ----------
 * The mechanism
 * ----------
 */

/*
 * The two laws of neighbours at a distance of the sensitivity, by the definition: no
 * vector is likelier by more than exp(epsilon).  Of what is drawn the first test says
 * that it has this law.
 */
static void
test_ratio(void **state)
{
	const sample s = {"", 2, 3, 700000000};
	double		worst = 0;

	(void) state;
	for (int x = -20; x <= 20; x++)
		for (int y = -20; y <= 20; y++)
			for (int dx = -3; dx <= 3; dx++)
				for (int dy = -3; dy <= 3; dy++)
				{
					int			here = abs(x) > abs(y) ? abs(x) : abs(y);
					int			there = abs(x - dx) > abs(y - dy) ? abs(x - dx) : abs(y - dy);

					worst = fmax(worst, rate_of(&s) * (there - here));
				}
	assert_true(fabs(worst - 0.7) < 1e-12);
}

/* Released answers less the exact ones have that law too: the sensitivity is used, and all of the noise. */
static void
test_release(void **state)
{
	const sample s = {"10 numbers, scale 20", 10, 60, 3 * (int64_t) NANO};
	long		n = scaled(5000);
	double		mean;
	double		square;
	double		norm[2] = {0, 0};

	(void) state;
	moments_of_norm(&s, &mean, &square);
	for (long draw = 0; draw < n; draw++)
	{
		pe_i128		exact[MOST];
		int64_t		released[MOST];
		double		largest = 0;

		for (size_t i = 0; i < s.count; i++)
			exact[i] = (pe_i128) i * 1000003 - 5;
		pe_cube_release(exact, s.count, s.sensitivity, s.nano, released);
		for (size_t i = 0; i < s.count; i++)
		{
			largest = fmax(largest, fabs((double) (released[i] - ((int64_t) i * 1000003 - 5))));
			assert_true(exact[i] == 0);
		}
		norm[0] += largest;
		norm[1] += largest * largest;
	}
	check_mean("norm", norm[0], norm[1], mean, n);
}

static void
test_release_saturates(void **state)
{
	const pe_i128 large = (pe_i128) 1 << 124;

	(void) state;
	for (int round = 0; round < 100; round++)
	{
		pe_i128		exact[4] = {large, -large, (pe_i128) INT64_MAX + 1000, 5};
		int64_t		released[4];

		pe_cube_release(exact, 4, 1, 8 * (int64_t) NANO / 4, released);
		assert_true(released[0] == INT64_MAX && released[1] == INT64_MIN && released[2] == INT64_MAX);
		assert_true(released[3] > -500 && released[3] < 500);
	}
	pe_cube_release(NULL, 0, 1, NANO, NULL);
}

static void
test_serves(void **state)
{
	(void) state;
	assert_true(pe_cube_serves(8, 1, NANO));
	assert_false(pe_cube_serves(8, 1, NANO + 1));
	assert_false(pe_cube_serves(9, 1, NANO));
	assert_true(pe_cube_serves(1, ((pe_u128) 1 << 90) - 1, NANO));
	assert_false(pe_cube_serves(1, (pe_u128) 1 << 90, NANO));
	assert_false(pe_cube_serves(1, 0, NANO));
	assert_false(pe_cube_serves(1, 1, 0));
	assert_false(pe_cube_serves(1, 1, -1));
	assert_false(pe_cube_serves((size_t) PE_CUBE_COUNT + 1, (pe_u128) 1 << 60, NANO));
	for (size_t count = 1; count < 5000; count = count * 3 + 1)
		for (uint64_t sensitivity = 1; sensitivity < UINT64_C(1) << 34; sensitivity = sensitivity * 5 + 2)
		{
			int64_t		most = pe_cube_most(count, sensitivity);

			assert_true(pe_cube_serves(count, sensitivity, most));
			assert_true(most == INT64_MAX || !pe_cube_serves(count, sensitivity, most + 1));
		}
}

static void
draw_too_narrow(void *arg)
{
	pe_i128		exact[9] = {0};

	pe_cube_release(exact, 9, 1, NANO, arg);
}

static void
test_bugs(void **state)
{
	int64_t		released[9];

	(void) state;
	assert_true(pe_test_is_bug(draw_too_narrow, released));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_large_scale),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_release_saturates),
		cmocka_unit_test(test_serves),
		cmocka_unit_test(test_bugs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

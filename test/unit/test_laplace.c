/*
 * test_laplace.c
 *	  The discrete Laplace mechanism: sampler, calibration, release; and the L1
 *	  sensitivity and strategies that go with it.
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

#include "blocks/reconstruct.h"
#include "noise/gauss.h"
#include "noise/laplace.h"
#include "noise/private.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"

/* ----------
 * The law
 * ----------
 */
static pe_i128
draw_laplace(const void *prepared, pe_bits *bits)
{
	return pe_laplace_draw(prepared, bits);
}

/* P[Y < edge], exact at any scale: P[Y >= k] = q^k / (1 + q) for k >= 1 */
static double
laplace_below(double a, pe_i128 edge)
{
	double		q = exp(-a);

	if (edge >= 1)
		return 1.0 - exp(-a * (double) edge) / (1.0 + q);
	return exp(-a * (double) (1 - edge)) / (1.0 + q);
}

/* Bins at every integer for small scales, every hundredth of the scale for large ones. */
static void
laplace_law(law *l, double scale, long n)
{
	double		a = 1.0 / scale;
	double		q = exp(-a);
	double		below = 0.0;
	bool		fine = scale < 30;

	law_start(l);
	for (int i = -2000; i <= 2000; i++)
	{
		double		z = fine ? i / scale : i / 100.0;
		pe_i128		edge = fine ? i : (pe_i128) (scale * z);
		double		cdf = laplace_below(a, edge);

		law_add(l, cdf - below, edge, fabs(z) / sqrt(2.0), n);
		below = cdf;
	}
	l->pending += 1.0 - below;
	law_finish(l);
	l->variance = 0.5 / (sinh(a / 2) * sinh(a / 2));
	l->fourth = 2.0 * q * (1.0 + 11.0 * q + 11.0 * q * q + q * q * q) / ((1.0 + q) * pow(-expm1(-a), 4.0));
}

static void
check_sampler(const pe_laplace *l, const char *name, long n)
{
	law			expected;

	laplace_law(&expected, (double) l->t / (double) l->s, n);
	check_law(name, draw_laplace, l, &expected, n);
}

static const struct
{
	pe_u128		t;
	uint64_t	s;
	const char *name;
}			scales[] = {
	{3, 10, "0.3"},
	{1, 1, "1"},
	{5, 2, "2.5"},
	{1700000001, 100000000, "17"},
	{1000, 1, "1e3"},
	{UINT64_C(1000000007000), 1000000, "1e6"},
	{(pe_u128) 1 << 60, 1, "2^60"},
	{((pe_u128) 1 << 92) + 1, UINT64_C(4294967291), "2^60 from wide parts"},
	{((pe_u128) 1 << 80) + 1, 3, "2^80/3"},
	{(pe_u128) 1 << 100, 1, "2^100"},
};

/*
 * At least 10,000 draws: squares of this law have a heavy tail (skewness 6.6), and
 * with fewer the normal approximation behind Z_MAX does not hold to 1e-9.
 */
static long
draws(long count)
{
	return scaled(count) < 10000 ? 10000 : scaled(count);
}

static void
test_law(void **state)
{
	(void) state;
	for (int i = 0; i < lengthof(scales); i++)
	{
		pe_laplace	l;

		pe_laplace_init(&l, scales[i].t, scales[i].s);
		check_sampler(&l, scales[i].name, draws(600000));
	}
}

/* The law does not depend on how many decisions are taken exactly. */
static void
test_forced(void **state)
{
	const struct
	{
		double		margin;
		bool		no_table;
		long		n;
		const char *name;
	}			modes[] = {
		{0.05, false, 100000, "margin .05"},
		{10.0, false, 20000, "margin 10"},
		{INFINITY, true, 20000, "all exact"},
	};

	(void) state;
	for (int i = 0; i < lengthof(scales); i += 2)
	{
		for (int j = 0; j < lengthof(modes); j++)
		{
			pe_laplace	l;
			char		name[80];

			pe_laplace_init(&l, scales[i].t, scales[i].s);
			l.margin = modes[j].margin;
			l.no_table = modes[j].no_table;
			snprintf(name, sizeof(name), "%s, %s", scales[i].name, modes[j].name);
			check_sampler(&l, name, draws(modes[j].n));
		}
	}
}

static void
test_low_bits(void **state)
{
	static const pe_u128 wide[] = {100000, (pe_u128) 1 << 40, (pe_u128) 1 << 64, (pe_u128) 1 << 100};
	pe_laplace	l;

	(void) state;
	for (int i = 0; i < lengthof(wide); i++)
	{
		pe_laplace_init(&l, wide[i], 1);
		check_low_bits("low bits", draw_laplace, &l, scaled(300000));
	}
}

/* Draws from words that are known: U, V, the sign and the division. */
static void
test_words(void **state)
{
	static pe_bits bits;
	pe_laplace	l;

	(void) state;
	/* t = s = 1: V = 1 as the upper half of word 1 is just below exp(-1); 32 bits for U; sign + */
	pe_laplace_init(&l, 1, 1);
	serve_words(&bits, (const uint64_t[]) {UINT64_C(0x5e2d58d700000000), 0, 0}, 3);
	assert_true(pe_laplace_draw(&l, &bits) == 1);
	/* V = 0 and sign -: drawn again; then V = 1, sign - */
	serve_words(&bits, (const uint64_t[]) {UINT64_C(0xffffffff00000000), UINT64_C(0x0000000300000000),
				UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x5e2d58d7)}, 5);
	assert_true(pe_laplace_draw(&l, &bits) <= -1);

	/* t = 7, s = 2, U = 6, V = 1: floor(13 / 2) */
	pe_laplace_init(&l, 7, 2);
	serve_words(&bits, (const uint64_t[]) {UINT64_C(0x5e2d58d700000000), UINT64_C(0x00000000ffffffff), 0}, 3);
	assert_true(pe_laplace_draw(&l, &bits) == 6);

	/* the geometric variable goes on after 40, and past any limit that is not its own */
	serve_words(&bits, (const uint64_t[]) {0, 0, UINT64_C(0xffffffffffffffff), UINT64_C(0xffffffffffffffff)}, 4);
	assert_int_equal(pe_gauss_geometric(false, 0, 1000, &bits), 80);
	serve_words(&bits, (const uint64_t[]) {0, 0, 0}, 3);
	assert_int_equal(pe_gauss_geometric(false, 0, 40, &bits), 40);
}

/* ----------
 * The mechanism
 * ----------
 */
static void
check_calibration(pe_u128 sensitivity, int64_t nano_epsilon, pe_u128 t, uint64_t s)
{
	pe_u128		got_t;
	uint64_t	got_s;

	assert_true(pe_laplace_calibrate(sensitivity, nano_epsilon, &got_t, &got_s));
	assert_true(got_t == t && got_s == s);
}

static void
test_calibrate(void **state)
{
	const pe_u128 t_max = PE_LAPLACE_T_LIMIT - 1;
	pe_u128		t;
	uint64_t	s;

	(void) state;
	check_calibration(1, 1000000000, 1, 1);
	check_calibration(3, 500000000, 6, 1);
	check_calibration(1, 1, 1000000000, 1);
	check_calibration(7, 300000000, 70, 3);
	check_calibration(1, INT64_MAX, 1000000000, INT64_MAX);
	check_calibration(6, 4000000000, 3, 2);
	check_calibration(t_max, 1000000000, t_max, 1);
	check_calibration(t_max / 1000000000, 1, t_max / 1000000000 * 1000000000, 1);
	assert_false(pe_laplace_calibrate(0, 1, &t, &s));
	assert_false(pe_laplace_calibrate(1, 0, &t, &s));
	assert_false(pe_laplace_calibrate(1, -1, &t, &s));
	assert_false(pe_laplace_calibrate(1, INT64_MIN, &t, &s));
	assert_false(pe_laplace_calibrate(t_max + 1, 1000000000, &t, &s));
	assert_false(pe_laplace_calibrate(t_max / 1000000000 + 1, 1, &t, &s));
	assert_false(pe_laplace_calibrate(~(pe_u128) 0, 1, &t, &s));
}

/* The closed form against the sum over all integers; the cheapest epsilon for a standard error. */
static void
test_stderr(void **state)
{
	static const int64_t nano[] = {10000000, 333333333, 1000000000, 2718281828, 40000000000};
	static const double asked[] = {0.01, 0.3, 1, 7.07, 12345.678};

	(void) state;
	for (int i = 0; i < lengthof(nano); i++)
	{
		double		a = (double) nano[i] / 3e9;
		double		mass = 1;
		double		moment = 0;

		for (int k = 1; k < 60 / a + 2; k++)
		{
			mass += 2 * exp(-a * k);
			moment += 2 * exp(-a * k) * k * k;
		}
		assert_true(fabs(pe_laplace_stderr(3, nano[i]) / sqrt(moment / mass) - 1) < 1e-10);
	}
	assert_true(pe_laplace_stderr(1, INT64_C(100000000000000)) >= 0);
	assert_true(pe_laplace_stderr(1, INT64_C(100000000000000)) < 1e-300);
	assert_true(isinf(pe_laplace_stderr(1, 0)));
	assert_true(isinf(pe_laplace_stderr(0, 1)));
	for (int i = 0; i < lengthof(asked); i++)
	{
		pe_noise	noise = {PE_PURE, 5, 0, 0, false};
		int64_t		least = pe_noise_least_nano(PE_PURE, 5, asked[i], 2);

		assert_true(least > 1);
		noise.nano = least;
		assert_true(2 * pe_noise_stderr(&noise) <= asked[i]);
		noise.nano = least - 1;
		assert_true(2 * pe_noise_stderr(&noise) > asked[i]);
	}
	assert_int_equal(pe_noise_least_nano(PE_PURE, 1, NAN, 1), 0);
}

static void
init_without_scale(void *arg)
{
	pe_laplace_init(arg, 0, 1);
}

static void
init_too_wide(void *arg)
{
	pe_laplace_init(arg, PE_LAPLACE_T_LIMIT, 1);
}

static void
init_without_rate(void *arg)
{
	pe_laplace_init(arg, 1, 0);
}

static void
release_uncalibrated(void *arg)
{
	pe_i128		exact = 0;

	pe_laplace_release(&exact, 1, 0, 1, arg);
}

static void
test_bugs(void **state)
{
	pe_laplace	l;
	int64_t		released;

	(void) state;
	assert_true(pe_test_is_bug(init_without_scale, &l));
	assert_true(pe_test_is_bug(init_too_wide, &l));
	assert_true(pe_test_is_bug(init_without_rate, &l));
	assert_true(pe_test_is_bug(release_uncalibrated, &released));
}

/* Both ends of int64, and the exact vector is gone. */
static void
test_release_saturates(void **state)
{
	const pe_i128 large = (pe_i128) 1 << 124;

	(void) state;
	for (int round = 0; round < 100; round++)
	{
		pe_i128		exact[4] = {large, -large, 0, 5};
		int64_t		released[4];

		/* epsilon 1000: no noise to speak of */
		pe_laplace_release(exact, 4, 1, INT64_C(1000000000000), released);
		assert_true(released[0] == INT64_MAX && released[1] == INT64_MIN && released[2] == 0 && released[3] == 5);
		for (int i = 0; i < 4; i++)
			assert_true(exact[i] == 0);
	}
	pe_laplace_release(NULL, 0, 1, 1, NULL);
}

/* Chi-square of released answers, by way of pe_noise_release. */
static void
test_release_law(void **state)
{
	const pe_noise noise = {PE_PURE, 6, 400000000, 0, false};	/* scale 15 */
	long		n = draws(500000);
	pe_i128    *exact = calloc((size_t) n, sizeof(*exact));
	int64_t    *released = calloc((size_t) n, sizeof(*released));
	long		seen[MAX_BINS] = {0};
	double		squares = 0;
	law			l;

	(void) state;
	laplace_law(&l, 15, n);
	for (long i = 0; i < n; i++)
		exact[i] = i % 1000;
	pe_noise_release(&noise, exact, (size_t) n, released);
	for (long i = 0; i < n; i++)
	{
		int64_t		error = released[i] - i % 1000;

		seen[law_bin(&l, error)]++;
		squares += (double) error * (double) error;
	}
	check_chi_square("released answers", seen, l.mass, l.nbins, n);
	squares /= (double) n * pe_noise_stderr(&noise) * pe_noise_stderr(&noise);
	check_z("variance as told", (squares - 1) / sqrt((l.fourth / (l.variance * l.variance) - 1) / (double) n));
	free(exact);
	free(released);
}

/* ----------
 * L1 sensitivity, and the strategies for it
 * ----------
 */
typedef struct sample
{
	pe_workload workload;
	pe_classes	classes;
	pe_strategy strategy;
	double	   *a;				/* rows x columns by rows */
} sample;

static void
make_sample(sample *s, const char *text, bool l1)
{
	pe_text_error error;
	const pe_workload *workload = &s->workload;

	if (!pe_workload_parse(text, NULL, &s->workload, &error))
		fail_msg("%s: %s", text, error.message);
	pe_classes_init(&workload, 1, &s->classes);
	assert_int_equal((l1 ? pe_strategy_optimal_l1 : pe_strategy_optimal) (&s->workload, &s->classes, NULL, 1e-3, &s->strategy),
					 PE_STRATEGY_OK);
	s->a = pe_alloc((size_t) s->strategy.rows * (size_t) s->strategy.columns, sizeof(double));
	pe_strategy_matrix(&s->strategy, s->a);
}

static void
free_sample(sample *s)
{
	pe_free(s->a);
	pe_strategy_free(&s->strategy);
	pe_classes_free(&s->classes);
	pe_workload_free(&s->workload);
}

/* |A z|_1 for z = plus column i, minus column j; negative: none */
static double
moved(const sample *s, int i, int j)
{
	double		sum = 0;

	for (int row = 0; row < s->strategy.rows; row++)
	{
		const double *a = s->a + (size_t) row * (size_t) s->strategy.columns;

		sum += fabs((i < 0 ? 0 : a[i]) - (j < 0 ? 0 : a[j]));
	}
	return sum;
}

static const char *const workloads[] = {
	"identity(7)", "total(5)", "prefix(9)", "all_range(12)", "identity(6) + total(6)",
	"identity(3) * total(4) + total(3) * identity(4)", "all_range(5) * identity(3)", "width_range(20, 4)",
	"matrix({{1,2,-3},{0,5,1}})", "ranges(30; 0-9, 5-20, 3-3)", "3 * prefix(6) + identity(6)"
};

/* Every unit in place of every other, and of none. */
static void
test_sensitivity(void **state)
{
	(void) state;
	for (int w = 0; w < lengthof(workloads); w += getenv("PG_EPSILON_QUICK") != NULL ? 5 : 1)
	{
		for (int l1 = 0; l1 < 2; l1++)
		{
			sample		s;
			double		largest = 0;
			double		farthest = 0;
			pe_u128		got;

			make_sample(&s, workloads[w], l1 == 1);
			for (int i = 0; i < s.strategy.columns; i++)
				for (int j = -1; j < i; j++)
				{
					largest = j < 0 ? fmax(largest, moved(&s, i, j)) : largest;
					farthest = fmax(farthest, moved(&s, i, j));
				}
			assert_true(pe_strategy_sensitivity_l1(&s.strategy, PE_ADD_REMOVE, 1, &got));
			assert_true((double) got == largest);
			assert_true(pe_strategy_sensitivity_l1(&s.strategy, PE_SUBSTITUTE, 1, &got));
			assert_true((double) got == farthest);
			assert_true(pe_strategy_sensitivity_l1(&s.strategy, PE_ADD_REMOVE, 7, &got));
			assert_true((double) got == 7 * largest);
			assert_true(pe_strategy_sensitivity_l1(&s.strategy, PE_SUBSTITUTE, INT32_MAX, &got));
			assert_true(got == (pe_u128) farthest * INT32_MAX);
			free_sample(&s);
		}
	}
}

/* A random strategy of T and B, against every contribution of up to two rows. */
static void
test_sensitivity_random(void **state)
{
	(void) state;
	pe_test_seed(11);
	for (int round = 0; round < 2000; round++)
	{
		int32_t		triangle[6];
		int32_t		basis[12];
		double		matrix[12];
		uint64_t	word[2];
		sample		s = {.strategy = {.columns = 4, .rows = 3, .inner = 3, .triangle = triangle, .basis = basis}, .a = matrix};
		double		largest = 0;
		double		farthest = 0;
		pe_u128		got;

		for (int i = 0; i < 12; i++)
		{
			pe_random_bytes(word, sizeof(word));
			basis[i] = (int32_t) (word[0] % 7) - 3;
			if (i < 6)
				triangle[i] = (int32_t) (word[1] % 2000) - 1000;
		}
		pe_strategy_matrix(&s.strategy, matrix);
		for (int i = 0; i < 4; i++)
		{
			largest = fmax(largest, moved(&s, i, -1));
			for (int j = 0; j < 4; j++)
				farthest = fmax(farthest, moved(&s, i, j));
		}
		assert_true(pe_strategy_sensitivity_l1(&s.strategy, PE_ADD_REMOVE, 1, &got));
		assert_true((double) got == fmax(largest, 1));
		assert_true(pe_strategy_sensitivity_l1(&s.strategy, PE_SUBSTITUTE, 2, &got));
		assert_true((double) got == 2 * fmax(fmax(largest, farthest), 1));
	}
	pe_test_unseed();
}

/* A strategy with more columns than there are pairs looked at for: the bound; and entries that are too large. */
static void
test_sensitivity_bounds(void **state)
{
	int32_t		one[1] = {3};
	int32_t    *basis = pe_alloc(PE_L1_PAIRS + 1, sizeof(int32_t));
	pe_strategy wide = {.columns = PE_L1_PAIRS + 1, .rows = 1, .inner = 1, .triangle = one, .basis = basis};
	pe_u128		got;

	(void) state;
	for (int j = 0; j <= PE_L1_PAIRS; j++)
		basis[j] = 1;
	assert_true(pe_strategy_sensitivity_l1(&wide, PE_SUBSTITUTE, 1, &got));
	assert_true(got == 6);
	wide.columns--;
	assert_true(pe_strategy_sensitivity_l1(&wide, PE_SUBSTITUTE, 1, &got));
	assert_true(got == 3);
	one[0] = INT32_MAX;
	for (int j = 0; j < PE_L1_PAIRS; j++)
		basis[j] = INT32_MAX;
	assert_false(pe_strategy_sensitivity_l1(&wide, PE_ADD_REMOVE, 1, &got));
	pe_free(basis);
}

/* Delta_1^2 times the sum of the variances of all queries, by the reconstruction. */
static double
error_of(const sample *s)
{
	pe_measured measured = {&s->workload, &s->strategy, NULL, NULL};
	double	   *variance = pe_alloc((size_t) s->workload.queries, sizeof(double));
	double		sum = 0;
	pe_reconstruction r;
	pe_u128		sensitivity;

	assert_true(pe_reconstruction_init(&measured, &s->workload, &r));
	pe_reconstruction_variance(&r, variance);
	for (int q = 0; q < s->workload.queries; q++)
		sum += variance[q];
	pe_reconstruction_free(&r);
	pe_free(variance);
	assert_true(pe_strategy_sensitivity_l1(&s->strategy, PE_ADD_REMOVE, 1, &sensitivity));
	return sum * (double) sensitivity * (double) sensitivity;
}

/* What is chosen is worth what is said, never worse than the L2 optimum or the cells one by one. */
static void
test_optimal(void **state)
{
	(void) state;
	for (int w = 0; w < lengthof(workloads); w += getenv("PG_EPSILON_QUICK") != NULL ? 5 : 1)
	{
		sample		chosen;
		sample		optimum;
		sample		columns;

		make_sample(&chosen, workloads[w], true);
		make_sample(&optimum, workloads[w], false);
		make_sample(&columns, workloads[w], false);
		pe_free(columns.strategy.triangle);
		pe_free(columns.strategy.basis);
		columns.strategy.triangle = columns.strategy.basis = NULL;
		columns.strategy.rows = columns.strategy.inner = columns.strategy.columns;
		print_message("%s: %g, L2 optimum %g, columns %g, L2 bound %g\n", workloads[w], chosen.strategy.objective,
					  error_of(&optimum), error_of(&columns), chosen.strategy.lower_bound);
		if (strstr(workloads[w], "3 *") == NULL)
		{
			assert_true(fabs(error_of(&chosen) / chosen.strategy.objective - 1) < 1e-9);
			assert_true(chosen.strategy.objective <= error_of(&optimum) * (1 + 1e-9));
			assert_true(chosen.strategy.objective <= error_of(&columns) * (1 + 1e-9));
		}
		assert_true(chosen.strategy.objective >= chosen.strategy.lower_bound * (1 - 1e-9));
		free_sample(&chosen);
		free_sample(&optimum);
		free_sample(&columns);
	}
}

/* All three kinds are chosen somewhere. */
static void
test_choices(void **state)
{
	sample		s;

	(void) state;
	make_sample(&s, "prefix(8)", true);
	assert_null(s.strategy.triangle);
	free_sample(&s);
	/* two marginals of 30 x 30: 60 measurements of norm 2 against 900 of norm 1 */
	if (getenv("PG_EPSILON_QUICK") == NULL)
	{
		make_sample(&s, "identity(30) * total(30) + total(30) * identity(30)", true);
		assert_non_null(s.strategy.basis);
		assert_int_equal(s.strategy.rows, 59);
		free_sample(&s);
	}
	make_sample(&s, "identity(10) * total(10) + total(10) * identity(10)", true);
	assert_non_null(s.strategy.basis);
	assert_int_equal(s.strategy.rows, 19);
	free_sample(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_forced),
		cmocka_unit_test(test_low_bits),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_calibrate),
		cmocka_unit_test(test_stderr),
		cmocka_unit_test(test_bugs),
		cmocka_unit_test(test_release_saturates),
		cmocka_unit_test(test_release_law),
		cmocka_unit_test(test_sensitivity),
		cmocka_unit_test(test_sensitivity_random),
		cmocka_unit_test(test_sensitivity_bounds),
		cmocka_unit_test(test_optimal),
		cmocka_unit_test(test_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

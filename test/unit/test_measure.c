/*
 * test_measure.c
 *	  Noisy sums of passes: the width of the noise, its lattice, and what units can give.
 *
 * The noise comes from the shim's reproducible stream: a failure repeats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/measure.h"
#include "models.h"
#include "shim.h"
#include "statistics.h"
#include "allowance.h"

#define NANO 1e9

/* ----------
 * The width of the noise
 * ----------
 */

/* Mean and variance of n numbers against what they should be; kurtosis of the law. */
static void
check_moments(const char *name, const double *y, long n, double mean, double variance, double kurtosis)
{
	double		sum = 0;
	double		square = 0;

	for (long i = 0; i < n; i++)
	{
		sum += (y[i] - mean) / (double) n;
		square += (y[i] - mean) * (y[i] - mean) / (double) n;
	}
	if (fabs(sum) > Z_MAX * sqrt(variance / (double) n))
		fail_msg("%s: mean is off by %g standard errors", name, sum / sqrt(variance / (double) n));
	if (fabs(square / variance - 1) > Z_MAX * sqrt((kurtosis - 1) / (double) n))
		fail_msg("%s: variance is %g times what it should be, in %ld", name, square / variance, n);
}

typedef struct width
{
	const char *name;
	bool		pure;
	bool		substitute;
	int32_t		max_rows;
	bool		unit_clip;
	double		gradient;		/* squared sensitivities in units of C^2, R^4, R^2, 1; pure: C, .. */
	double		moment;
	double		label;
	double		count;
} width;

static const width widths[] = {
	{"rho", false, false, 1, false, 1, 1, 1, 1},
	{"rho, 3 rows", false, false, 3, false, 9, 9, 9, 9},
	{"rho, 3 rows clipped", false, false, 3, true, 1, 1, 1, 9},
	{"rho, substitute", false, true, 1, false, 4, 2, 4, 1},
	{"rho, substitute 3 rows", false, true, 3, false, 36, 18, 36, 9},
	{"rho, substitute 3 rows clipped", false, true, 3, true, 4, 2, 4, 9},
	{"epsilon", true, false, 1, false, 1, 1, 1, 1},
	{"epsilon, 3 rows", true, false, 3, false, 3, 3, 3, 3},
	{"epsilon, 3 rows clipped", true, false, 3, true, 1, 1, 1, 3},
	{"epsilon, substitute", true, true, 1, false, 2, 2, 2, 1},
	{"epsilon, substitute 3 rows", true, true, 3, false, 6, 6, 6, 3},
	{"epsilon, substitute 3 rows clipped", true, true, 3, true, 2, 2, 2, 3},
};

/* The problem with an allowance for any one measurement. */
static const pe_fit_problem *
paid(const pe_fit_problem *problem)
{
	static pe_fit_problem with;

	with = *problem;
	with.allowance = plenty((problem->accounting == PE_PURE));
	return &with;
}

#define COPIES 4000

static long
copies(void)
{
	return test_scale() < 1 ? COPIES / 10 : COPIES;
}

/* The variance that a squared sensitivity (pure: a sensitivity) asks for. */
static double
variance_for(const width *of, double sensitivity, int64_t nano)
{
	if (of->pure)
		return 2 * pow(sensitivity * NANO / (double) nano, 2);
	return sensitivity * NANO / (2 * (double) nano);
}

static void
check_gradient(const width *of, table *t, const pe_fit_problem *problem)
{
	static double y[COPIES * 4];
	double		w[4] = {0.5, -1, 2, 0.25};
	double		c = 1.25;
	double		exact[4];
	pe_exact_sums sums;
	pe_pass		pass;
	long		n = copies();

	pe_gradient_pass(problem, c, &pass);
	pe_weights_set(&pass.weights, w, 4, t->radius_sq);
	pe_exact_run(&t->source, &pass, &sums);
	for (int j = 0; j < 4; j++)
		exact[j] = (double) sums.sums[j] * pe_pass_unit(&pass);
	for (long i = 0; i < n; i++)
	{
		pe_measure_sums(paid(problem), &pass, &sums, 1000, y + i * 4);
		for (int j = 0; j < 4; j++)
			y[i * 4 + j] -= exact[j];
	}
	check_moments(of->name, y, n * 4, 0, variance_for(of, of->gradient * (of->pure ? c : c * c), 1000), of->pure ? 6 : 3);
	pe_exact_wipe(&sums);
	pe_gradient_free(&pass);
}

static void
check_moment(const width *of, table *t, const pe_fit_problem *problem)
{
	static double diagonal[COPIES * 4];
	static double rest[COPIES * 6];
	static double labels[COPIES * 4];
	double		square = (double) t->radius_sq / PE_ONE / PE_ONE;
	double		one = (double) t->radius_1 / PE_ONE;
	double		row = of->pure ? (one * one + square) / 2 : square * square;
	double		variance = variance_for(of, of->moment * row, 1000);
	double		moment[16];
	double		exact[16];
	double		label[4];
	double		exact_label[4];
	double		noise;
	double		label_noise;
	long		n = copies() / 4;

	/* without noise that counts */
	pe_measure_moment_and_label(paid(problem), &t->source, INT64_MAX / 2, INT64_MAX / 2, exact, &noise, exact_label, &label_noise);
	for (long i = 0; i < n; i++)
	{
		/* by itself a moment is that of the rows, however many a unit has */
		if (i % 2 == 0 && !of->unit_clip)
			pe_measure_moment(paid(problem), &t->source, 1000, moment, &noise);
		else
			pe_measure_moment_and_label(paid(problem), &t->source, 1000, 500, moment, &noise, label, &label_noise);
		assert_true(fabs(noise * noise / variance - 1) < 1e-3);
		for (int j = 0; j < 4; j++)
		{
			diagonal[i * 4 + j] = moment[j * 5] - exact[j * 5];
			labels[i / 2 * 4 + j] = i % 2 == 1 ? label[j] - exact_label[j] : labels[i / 2 * 4 + j];
			for (int k = 0; k < j; k++)
			{
				assert_true(moment[j * 4 + k] == moment[k * 4 + j]);
				rest[i * 6 + j * (j - 1) / 2 + k] = moment[j * 4 + k] - exact[j * 4 + k];
			}
		}
	}
	check_moments(of->name, diagonal, n * 4, 0, variance, of->pure ? 6 : 3);
	check_moments(of->name, rest, n * 6, 0, of->pure ? variance : variance / 2, of->pure ? 6 : 3);
	check_moments(of->name, labels, n / 2 * 4, 0, variance_for(of, of->label * (of->pure ? one : square), 500),
				  of->pure ? 6 : 3);
	pe_measure_moment(paid(problem), &t->source, 1000, moment, &noise);
	if (of->unit_clip)
		variance *= pow(problem->max_rows, 2);
	assert_true(fabs(noise * noise / variance - 1) < 1e-3);
}

static void
check_count(const width *of, table *t, const pe_fit_problem *problem)
{
	static double y[COPIES];
	int64_t		nano = of->pure ? 100000000 : 1000000;
	long		n = copies();

	for (long i = 0; i < n; i++)
		y[i] = pe_measure_count(paid(problem), &t->source, nano);
	check_moments(of->name, y, n, (double) t->rows.rows, variance_for(of, of->count, nano), of->pure ? 6 : 3);
}

static void
test_widths(void **state)
{
	table		t;

	(void) state;
	pe_test_seed(1);
	table_start(&t, 3, 0, 0);
	table_use_units(&t, 3);
	table_fill(&t, PE_MODEL_LOGISTIC, 1000, 1);
	for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
	{
		pe_fit_problem problem;

		problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1000, &problem);
		problem.accounting = widths[i].pure ? PE_PURE : PE_ZCDP;
		problem.substitute = widths[i].substitute;
		problem.max_rows = widths[i].max_rows;
		problem.options.unit_clip = widths[i].unit_clip;
		check_gradient(&widths[i], &t, &problem);
		check_moment(&widths[i], &t, &problem);
		check_count(&widths[i], &t, &problem);
	}
	table_free(&t);
}

/* ----------
 * The lattice
 * ----------
 */

/* The low 8 bits of a noised sum are uniform, whatever the exact sum is: no bit stands in clear. */
static void
check_residues(const double *y, long n, double unit)
{
	long		seen[256] = {0};
	double		chi = 0;

	for (long i = 0; i < n; i++)
	{
		double		whole = y[i] / unit;

		assert_true(fabs(whole - rint(whole)) < 1e-3);
		seen[(int64_t) rint(whole) & 255]++;
	}
	for (int i = 0; i < 256; i++)
		chi += pow((double) seen[i] - (double) n / 256, 2) / ((double) n / 256);
	if (chi_square_tail(chi, 255) < P_MIN)
		fail_msg("low bits: chi-square %g", chi);
}

static void
test_lattice(void **state)
{
	enum {n = 60000};
	static double y[n];
	double		w[4] = {0, 0, 0, 0};
	table		t;
	pe_fit_problem problem;
	pe_exact_sums sums;
	pe_pass		pass;

	(void) state;
	pe_test_seed(2);
	table_start(&t, 3, 0, 0);
	table_fill(&t, PE_MODEL_LOGISTIC, 100, 1);
	for (int pure = 0; pure < 2; pure++)
	{
		problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1, &problem);
		problem.accounting = pure == 1 ? PE_PURE : PE_ZCDP;
		pe_gradient_pass(&problem, 1, &pass);
		pe_weights_set(&pass.weights, w, 4, t.radius_sq);
		pe_exact_run(&t.source, &pass, &sums);
		for (int i = 0; i < n; i += 4)
			pe_measure_sums(paid(&problem), &pass, &sums, 500000000, y + i);
		check_residues(y, n, pe_pass_unit(&pass));
		pe_exact_wipe(&sums);
		pe_gradient_free(&pass);
	}
	table_free(&t);
}

/* ----------
 * What a unit can give
 * ----------
 */

/* The sums of a unit of so many rows, random ones or as long as can be. */
static void
unit_sums(stream *s, int rows, const pe_pass *pass, pe_i128 *sums)
{
	table		t;

	table_start(&t, 3, 0, 0);
	for (int i = 0; i < rows; i++)
	{
		double		x[3];

		for (int j = 0; j < 3; j++)
			x[j] = stream_uniform(s) < 0.5 ? 2 * stream_uniform(s) - 1 : stream_uniform(s) < 0.5 ? -1 : 1;
		table_add(&t, x, NULL, stream_uniform(s) < 0.5, true);
	}
	t.source.run(&t.source, pass, sums);
	table_free(&t);
}

/* |a - b|, of a moment with its off-diagonal entries twice; L1: once. */
static double
distance(const pe_pass *pass, const pe_i128 *a, const pe_i128 *b)
{
	bool		l1 = pass->norm == PE_L1;
	double		sum = 0;
	int			n = 0;

	if (pass->kind == PE_PASS_GRADIENT)
		for (int i = 0; i < 4; i++)
			sum += l1 ? fabs((double) (a[i] - b[i])) : pow((double) (a[i] - b[i]), 2);
	else
		for (int i = 0; i < 4; i++)
			for (int j = 0; j <= i; j++, n++)
				sum += l1 ? fabs((double) (a[n] - b[n])) : (i == j ? 1 : 2) * pow((double) (a[n] - b[n]), 2);
	return l1 ? sum : sqrt(sum);
}

/*
 * Units of up to k rows against none and against each other: never further apart than
 * the noise is for, and sometimes nearly as far.
 */
static void
test_units(void **state)
{
	stream		s = {7};
	table		t;
	int			pairs = test_scale() < 1 ? 300 : 3000;

	(void) state;
	table_start(&t, 3, 0, 0);
	for (int kind = 0; kind < 8; kind++)
	{
		int			k = kind & 1 ? 3 : 1;
		bool		moment = (kind & 2) != 0;
		double		w[4] = {0.5, -1, 2, 0.25};
		double		farthest[2] = {0, 0};
		double		limit[2];
		double		row;
		pe_fit_problem problem;
		pe_pass		pass;

		problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1, &problem);
		problem.accounting = (kind & 4) != 0 ? PE_PURE : PE_ZCDP;
		pe_gradient_pass(&problem, 0.5, &pass);
		pe_weights_set(&pass.weights, w, 4, t.radius_sq);
		if (moment)
			pass.kind = PE_PASS_MOMENT;
		row = (problem.accounting == PE_PURE) ? (double) pass.clip : sqrt((double) pass.clip);
		if (moment)
			row = (problem.accounting == PE_PURE) ? ((double) t.radius_1 * (double) t.radius_1 + (double) t.radius_sq) / 2 : (double) t.radius_sq;
		limit[0] = k * row;
		limit[1] = k * row * (!moment || (problem.accounting == PE_PURE) ? 2 : sqrt(2));
		for (int pair = 0; pair < pairs; pair++)
		{
			pe_i128		a[10];
			pe_i128		b[10];
			pe_i128		none[10] = {0};

			unit_sums(&s, (int) (stream_uniform(&s) * (k + 1)), &pass, a);
			unit_sums(&s, (int) (stream_uniform(&s) * (k + 1)), &pass, b);
			farthest[0] = fmax(farthest[0], distance(&pass, a, none));
			farthest[1] = fmax(farthest[1], distance(&pass, a, b));
		}
		for (int i = 0; i < 2; i++)
		{
			assert_true(farthest[i] <= limit[i] * (1 + 1e-12));
			assert_true(farthest[i] >= limit[i] * (k == 3 ? 0.4 : 0.6) * (moment && (problem.accounting == PE_PURE) && i == 1 ? 0.5 : 1));
		}
		pass.kind = PE_PASS_GRADIENT;
		pe_gradient_free(&pass);
	}
	table_free(&t);
}

/* ----------
 * Clips, samples, limits
 * ----------
 */
static void
test_clips(void **state)
{
	table		t;
	pe_fit_problem problem;
	pe_pass		pass;

	(void) state;
	assert_true(pe_clip_integer(1, 0, PE_L1) == (pe_u128) PE_ONE << 15);
	assert_true(pe_clip_integer(1, 0, PE_L2) == (pe_u128) PE_ONE * PE_ONE << 30);
	assert_true(pe_clip_integer(2, 1, PE_L2) == (pe_u128) PE_ONE * PE_ONE << 30);
	assert_true(pe_clip_integer(0, 0, PE_L2) == 1);
	assert_true(pe_clip_integer(NAN, 0, PE_L1) == 1);
	/* rounded down */
	assert_true(pe_clip_integer(1.0 / PE_ONE, 15, PE_L1) == 1);
	assert_true(pe_clip_integer(1.999 / PE_ONE, 15, PE_L1) == 1);
	assert_true(pe_clip_integer(1.4 / PE_ONE, 15, PE_L2) == 1);
	assert_true(pe_clip_integer(1.5 / PE_ONE, 15, PE_L2) == 2);
	for (double c = 0.001; c < 7e4; c *= 1.7)
		for (int norm = 0; norm < 2; norm++)
			assert_true(pe_clip_integer(c, 0, (pe_norm) norm) < pe_clip_integer(1.7 * c, 0, (pe_norm) norm));

	/* no more than any row can have */
	table_start(&t, 3, 0, 0);
	problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1, &problem);
	pe_gradient_pass(&problem, 1e6, &pass);
	assert_true(pass.clip == t.radius_sq * 32767 * 32767);
	pe_gradient_free(&pass);
	/* a residual gets the bits that a larger clip needs */
	problem.model = PE_MODEL_LINEAR;
	pe_gradient_pass(&problem, 2, &pass);
	assert_int_equal(pass.residual_bits, 0);
	pe_gradient_free(&pass);
	pe_gradient_pass(&problem, 7, &pass);
	assert_int_equal(pass.residual_bits, 2);
	assert_true(pass.clip == pe_clip_integer(7, 2, PE_L2));
	pe_gradient_free(&pass);
	table_free(&t);
}

/* Another sample each time. */
static void
test_samples(void **state)
{
	double		w[4] = {0, 0, 0, 0};
	double		first[4];
	double		second[4];
	table		t;
	pe_fit_problem problem;
	pe_pass		pass;

	(void) state;
	table_start(&t, 3, 0, 0);
	table_fill(&t, PE_MODEL_LOGISTIC, 1000, 1);
	problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_SGD, 1, &problem);
	pe_gradient_pass(&problem, 2, &pass);
	pe_measure_gradient(paid(&problem), &t.source, &pass, w, INT64_MAX / 2, first);
	pe_measure_gradient(paid(&problem), &t.source, &pass, w, INT64_MAX / 2, second);
	assert_true(fabs(first[0] - second[0]) < 1e-3);
	pass.sample = UINT64_C(1) << 63;
	pe_measure_gradient(paid(&problem), &t.source, &pass, w, INT64_MAX / 2, first);
	pe_measure_gradient(paid(&problem), &t.source, &pass, w, INT64_MAX / 2, second);
	/* equal by chance only if two samples of 1000 rows have the same sums in every column */
	assert_true(fabs(first[0] - second[0]) + fabs(first[1] - second[1]) + fabs(first[2] - second[2]) > 1e-3);
	assert_true(pass.sample_key[0] == 0 && pass.sample_key[1] == 0);
	pe_gradient_free(&pass);
	table_free(&t);
}

static void
measure_nothing(void *arg)
{
	pe_measure_count(paid(arg), ((pe_fit_problem *) arg)->trace_argument, 0);
}

static void
test_limits(void **state)
{
	table		t;
	pe_fit_problem problem;

	(void) state;
	table_start(&t, 3, 0, 0);
	for (int pure = 0; pure < 2; pure++)
	{
		problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1000000, &problem);
		problem.accounting = pure == 1 ? PE_PURE : PE_ZCDP;
		assert_true(pe_measure_fits(&problem));
		problem.max_rows = 1000;
		problem.substitute = true;
		assert_true(pe_measure_fits(&problem));
		problem.max_rows = INT32_MAX;
		assert_int_equal(pe_measure_fits(&problem), pure);
		problem.options.unit_clip = 1;
		assert_false(pe_measure_fits(&problem));
	}
	problem_of(&t, PE_MODEL_LOGISTIC, PE_FIT_NEWTON, 1, &problem);
	problem.trace_argument = &t.source;
	assert_true(pe_test_is_bug(measure_nothing, &problem));
	/* no rows: at least 1 */
	assert_true(pe_measure_count(paid(&problem), &t.source, 1000000000000) == 1);
	table_free(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_lattice),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_clips),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

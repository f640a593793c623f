/*
 * measure.c
 *	  Noisy results of passes.
 *
 * Exact sums live in memory of their own for the time between a pass and its
 * noise, and are wiped where the noise is added (noise.h).
 */
#include "fit/measure.h"

#include <math.h>
#include <string.h>

#include "fit/methods.h"
#include "glm/unit_clip.h"
#include "noise/noise.h"

/* The largest |s| of a gradient pass. */
#define LARGEST_SCALAR 32767

/* Beyond this a clip in integers is not looked at: no gradient is as long. */
#define LARGEST_CLIP 0x1p46

/* ----------
 * Sensitivities
 * ----------
 */
static pe_norm
norm_of(const pe_fit_problem *problem)
{
	return problem->accounting == PE_PURE ? PE_L1 : PE_L2;
}

/* a b, or the largest number: nothing is calibrated to that, so it ends in a refusal. */
static pe_u128
product(pe_u128 a, pe_u128 b)
{
	pe_u128		c;

	return __builtin_mul_overflow(a, b, &c) ? ~(pe_u128) 0 : c;
}

/*
 * How many rows' worth a unit gives to the sums of a pass: all that it may
 * have, or one where it is clipped as a whole.
 */
static int32_t
rows_of(const pe_fit_problem *problem, const pe_pass *pass)
{
	return problem->max_rows < 1 || pass->unit_clip ? 1 : problem->max_rows;
}

/*
 * The sensitivity (PE_L2: squared) of sums where one row's share has the given
 * norm (PE_L2: squared), where a unit gives as much as so many rows.  squares:
 * how many times the squared norm of what a unit gives the squared distance
 * of two neighbours is: 1 where one of the units is nothing, 4 where two can be
 * opposite, 2 where they are at right angles at most.
 */
static pe_u128
sensitivity_for(const pe_fit_problem *problem, int32_t rows, pe_u128 row, int32_t squares)
{
	pe_u128		k = (pe_u128) rows;

	if (row == 0)
		row = 1;
	if (norm_of(problem) == PE_L2)
		return product(product(row, product(k, k)), (pe_u128) squares);
	return product(product(row, k), squares > 1 ? 2 : 1);
}

static pe_u128
gradient_sensitivity(const pe_fit_problem *problem, int32_t rows, pe_u128 clip)
{
	return sensitivity_for(problem, rows, clip, problem->substitute ? 4 : 1);
}

/*
 * PE_L2: |x|^4, where off-diagonal entries count twice.  PE_L1: sum_{i>=j} |x_i x_j| =
 * (|x|_1^2 + |x|_2^2) / 2.
 */
static pe_u128
moment_sensitivity(const pe_fit_problem *problem, int32_t rows)
{
	pe_u128		one = (pe_u128) problem->radius_1;
	pe_u128		row = problem->accounting == PE_PURE ? (product(one, one) + problem->radius_sq) / 2 + 1 :
		product(problem->radius_sq, problem->radius_sq);

	return sensitivity_for(problem, rows, row, problem->substitute ? 2 : 1);
}

/* A column of labels times the features, in [-PE_ONE, PE_ONE] each. */
static pe_u128
label_sensitivity(const pe_fit_problem *problem, int32_t rows)
{
	pe_u128		row = problem->accounting == PE_PURE ? product((pe_u128) problem->radius_1, PE_ONE) :
		product(problem->radius_sq, (pe_u128) PE_ONE * PE_ONE);

	return sensitivity_for(problem, rows, row, problem->substitute ? 4 : 1);
}

/* The longest gradient that a row can have. */
static pe_u128
longest_gradient(const pe_fit_problem *problem)
{
	if (problem->accounting == PE_PURE)
		return product((pe_u128) problem->radius_1, LARGEST_SCALAR);
	return product(problem->radius_sq, (pe_u128) LARGEST_SCALAR * LARGEST_SCALAR);
}

/* Before anything is read for it. */
static pe_u128
checked(const pe_fit_problem *problem, pe_u128 sensitivity, int64_t nano)
{
	if (!pe_noise_is_served(problem->accounting, sensitivity, nano))
		pe_bug("a measurement cannot be calibrated");
	return sensitivity;
}

/*
 * Whether every cost is served: 1, which has no common divisor with 10^9, and
 * room for what large ones of Gaussian DP add.
 */
static bool
any_cost(const pe_fit_problem *problem, pe_u128 sensitivity)
{
	return sensitivity >> 126 == 0 && pe_noise_is_served(problem->accounting, sensitivity + ((pe_u128) 1 << 37), 1);
}

bool
pe_measure_fits(const pe_fit_problem *problem)
{
	int32_t		k = problem->max_rows > 1 ? problem->max_rows : 1;

	return any_cost(problem, gradient_sensitivity(problem, k, longest_gradient(problem))) &&
		any_cost(problem, moment_sensitivity(problem, k)) && any_cost(problem, label_sensitivity(problem, k)) &&
		(k <= PE_UNIT_ROWS_MOST || !pe_fit_clips_units(problem));
}

/* ----------
 * Noise
 * ----------
 */

/* Adds the noise to exact sums, which are wiped; released numbers are worth unit each. */
static void
release(const pe_fit_problem *problem, pe_u128 sensitivity, int64_t nano, uint64_t sample, pe_i128 *exact, size_t count,
		double unit, double *real)
{
	int64_t    *released = pe_alloc(count, sizeof(*released));

	pe_noise_draw_sampled(problem->allowance, sensitivity, nano, pe_sample_probability(sample), exact, count, released);
	for (size_t i = 0; i < count; i++)
		real[i] = (double) released[i] * unit;
	pe_free(released);
}

void
pe_exact_run(pe_source *source, const pe_pass *pass, pe_exact_sums *exact)
{
	exact->count = pe_pass_sums(pass, source->shape);
	exact->sums = pe_alloc(exact->count, sizeof(*exact->sums));
	source->run(source, pass, exact->sums);
}

void
pe_exact_wipe(pe_exact_sums *exact)
{
	pe_wipe(exact->sums, exact->count * sizeof(*exact->sums));
	pe_free(exact->sums);
	exact->sums = NULL;
	exact->count = 0;
}

/* ----------
 * Gradients
 * ----------
 */
pe_u128
pe_clip_integer(double clip, int32_t residual_bits, pe_norm norm)
{
	double		units = ldexp(clip * PE_ONE, PE_RESIDUAL_BITS - residual_bits);
	pe_u128		whole;

	if (!(units >= 1))
		return 1;
	whole = (pe_u128) fmin(units, LARGEST_CLIP);
	if (norm == PE_L1)
		return whole;
	/* the square of a whole number loses less than the square of a double */
	if (units >= 0x1p40)
		return whole * whole;
	return (pe_u128) (units * units);
}

/*
 * Bits before the point of a squared loss's residual: as many as let a row as long as
 * any reach the clip.
 */
static int32_t
bits_of_residual(const pe_fit_problem *problem, double clip)
{
	double		radius = (problem->accounting == PE_PURE ? (double) problem->radius_1
						  : sqrt((double) problem->radius_sq)) / PE_ONE;
	int32_t		bits = 0;

	if (problem->model != PE_MODEL_LINEAR)
		return 0;
	while (bits < PE_RESIDUAL_BITS && ldexp(radius, bits) < clip * (1 - 1e-9))
		bits++;
	return bits;
}

void
pe_gradient_pass(const pe_fit_problem *problem, double clip, pe_pass *pass)
{
	pe_u128		longest = longest_gradient(problem);

	memset(pass, 0, sizeof(*pass));
	pass->kind = PE_PASS_GRADIENT;
	pass->loss = pe_fit_loss(problem);
	pass->norm = norm_of(problem);
	pass->unit_clip = pe_fit_clips_units(problem);
	/* of a unit's clip the part that a row has if each goes its own way */
	pass->residual_bits = bits_of_residual(problem, pass->unit_clip ? clip / sqrt(problem->max_rows) : clip);
	pass->clip = pe_clip_integer(clip, pass->residual_bits, pass->norm);
	if (pass->unit_clip)
	{
		longest = sensitivity_for(problem, problem->max_rows, longest, 1);
		longest = longest < PE_UNIT_CLIP_MOST ? longest : PE_UNIT_CLIP_MOST - 1;
	}
	if (pass->clip > longest)
		pass->clip = longest;
	pass->weights.v = pe_alloc((size_t) problem->shape->columns, sizeof(*pass->weights.v));
}

void
pe_gradient_free(pe_pass *pass)
{
	pe_wipe(pass->sample_key, sizeof(pass->sample_key));
	pe_free(pass->weights.v);
	pass->weights.v = NULL;
}

void
pe_measure_sums(const pe_fit_problem *problem, const pe_pass *pass, const pe_exact_sums *exact,
				int64_t nano, double *gradient)
{
	pe_u128		sensitivity = checked(problem, gradient_sensitivity(problem, rows_of(problem, pass), pass->clip), nano);
	pe_i128    *copy = pe_alloc(exact->count, sizeof(*copy));

	if (pass->kind != PE_PASS_GRADIENT || pass->norm != norm_of(problem))
		pe_bug("sums of another pass are measured as a gradient");
	memcpy(copy, exact->sums, exact->count * sizeof(*copy));
	release(problem, sensitivity, nano, pass->sample, copy, exact->count, pe_pass_unit(pass), gradient);
	pe_free(copy);
}

void
pe_measure_gradient(const pe_fit_problem *problem, pe_source *source, pe_pass *pass, const double *w,
					int64_t nano, double *gradient)
{
	pe_exact_sums exact;

	pe_weights_set(&pass->weights, w, problem->shape->columns, problem->radius_sq);
	if (pass->sample != 0)
		pe_random_bytes(pass->sample_key, sizeof(pass->sample_key));
	pe_exact_run(source, pass, &exact);
	pe_wipe(pass->sample_key, sizeof(pass->sample_key));
	pe_measure_sums(problem, pass, &exact, nano, gradient);
	pe_exact_wipe(&exact);
}

double
pe_gradient_noise(const pe_fit_problem *problem, const pe_pass *pass, int64_t nano)
{
	return pe_noise_stderr_of(problem->accounting,
							  gradient_sensitivity(problem, rows_of(problem, pass), pass->clip), nano) *
		pe_pass_unit(pass);
}

/* ----------
 * Second moments
 * ----------
 */

/* The packed entries of the first columns rows, (i, j) with i > j only, or i = j only. */
static void
pick(const pe_i128 *packed, int32_t columns, bool diagonal, pe_i128 *picked)
{
	size_t		n = 0;

	for (size_t i = 0; i < (size_t) columns; i++)
	{
		const pe_i128 *row = packed + i * (i + 1) / 2;

		if (diagonal)
			picked[n++] = row[i];
		for (size_t j = 0; j < i && !diagonal; j++)
			picked[n++] = row[j];
	}
}

/* The released entries as a full matrix. */
static void
unpack_moment(int32_t columns, const int64_t *diagonal, const int64_t *rest, double unit, double *moment)
{
	size_t		d = (size_t) columns;
	size_t		n = 0;

	for (size_t i = 0; i < d; i++)
	{
		moment[i * d + i] = (double) diagonal[i] * unit;
		for (size_t j = 0; j < i; j++)
			moment[i * d + j] = moment[j * d + i] = (double) rest[n++] * unit;
	}
}

/*
 * Noise on the part of the packed moment that belongs to the features; returns
 * the standard deviation of a diagonal entry.
 */
static double
release_moment(const pe_fit_problem *problem, const pe_pass *pass, const pe_i128 *packed, int64_t nano, double *moment)
{
	int32_t		columns = problem->shape->columns;
	size_t		d = (size_t) columns;
	size_t		m = d * (d - 1) / 2;
	pe_u128		sensitivity = moment_sensitivity(problem, rows_of(problem, pass));
	double		unit = pe_pass_unit(pass);
	pe_i128    *exact = pe_alloc(d + m, sizeof(*exact));
	int64_t    *released = pe_alloc(d + m, sizeof(*released));

	pick(packed, columns, true, exact);
	pick(packed, columns, false, exact + d);
	pe_noise_draw_symmetric(problem->allowance, sensitivity, nano, exact, d, released, exact + d, m, released + d);
	unpack_moment(columns, released, released + d, unit, moment);
	pe_free(released);
	pe_free(exact);
	return pe_noise_stderr_of(problem->accounting, sensitivity, nano) * unit;
}

/* A unit that is clipped gives no more than one row can have. */
static void
set_moment(const pe_fit_problem *problem, bool with_label, bool unit_clip, pe_pass *pass)
{
	memset(pass, 0, sizeof(*pass));
	pass->kind = PE_PASS_MOMENT;
	pass->loss = pe_fit_loss(problem);
	pass->with_label = with_label;
	pass->norm = norm_of(problem);
	pass->unit_clip = unit_clip;
	pass->clip = problem->radius_sq;
	pass->clip_1 = (pe_u128) problem->radius_1;
}

void
pe_measure_moment(const pe_fit_problem *problem, pe_source *source, int64_t nano, double *moment, double *noise)
{
	pe_exact_sums exact;
	pe_pass		pass;

	set_moment(problem, false, false, &pass);
	(void) checked(problem, moment_sensitivity(problem, rows_of(problem, &pass)), nano);
	pe_exact_run(source, &pass, &exact);
	*noise = release_moment(problem, &pass, exact.sums, nano, moment);
	pe_exact_wipe(&exact);
}

void
pe_measure_moment_and_label(const pe_fit_problem *problem, pe_source *source, int64_t nano, int64_t nano_label,
							double *moment, double *noise, double *label, double *label_noise)
{
	size_t		d = (size_t) problem->shape->columns;
	pe_u128		of_label;
	pe_exact_sums exact;
	pe_pass		pass;

	set_moment(problem, true, pe_fit_clips_units(problem), &pass);
	of_label = checked(problem, label_sensitivity(problem, rows_of(problem, &pass)), nano_label);
	(void) checked(problem, moment_sensitivity(problem, rows_of(problem, &pass)), nano);
	pe_exact_run(source, &pass, &exact);
	*noise = release_moment(problem, &pass, exact.sums, nano, moment);
	/* the row of the label, up to the square of the label, which is not released */
	release(problem, of_label, nano_label, 0, exact.sums + d * (d + 1) / 2, d, pe_pass_unit(&pass), label);
	*label_noise = pe_noise_stderr_of(problem->accounting, of_label, nano_label) * pe_pass_unit(&pass);
	pe_exact_wipe(&exact);
}

/* ----------
 * Counts
 * ----------
 */
double
pe_measure_count(const pe_fit_problem *problem, pe_source *source, int64_t nano)
{
	pe_pass		pass = {.kind = PE_PASS_COUNT, .loss = pe_fit_loss(problem)};
	pe_u128		sensitivity = checked(problem, sensitivity_for(problem, rows_of(problem, &pass), 1, 1), nano);
	pe_exact_sums exact;
	double		rows;

	pe_exact_run(source, &pass, &exact);
	release(problem, sensitivity, nano, 0, exact.sums, 1, 1.0, &rows);
	pe_exact_wipe(&exact);
	return fmax(rows, 1);
}

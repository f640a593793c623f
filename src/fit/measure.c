/*
 * measure.c
 *	  Noisy results of passes.
 *
 * Exact sums live in memory of their own for the time between a pass and its noise,
 * and are wiped by whoever adds the noise (noise.h).
 */
#include "fit/measure.h"

#include <math.h>
#include <string.h>

#include "noise/gaussian.h"
#include "noise/laplace.h"
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
	return problem->pure ? PE_L1 : PE_L2;
}

/* a b, or the largest number: nothing is calibrated to that, so it ends in a refusal. */
static pe_u128
product(pe_u128 a, pe_u128 b)
{
	pe_u128		c;

	return __builtin_mul_overflow(a, b, &c) ? ~(pe_u128) 0 : c;
}

/*
 * The noise for sums of which one row's share has the given norm (PE_L2: squared).
 * squares: how many times the squared norm of what a unit gives the squared distance
 * of two neighbours is: 1 where one of the units is nothing, 4 where two can be
 * opposite, 2 where they are at right angles at most.
 */
static pe_noise
noise_for(const pe_fit_problem *problem, pe_u128 row, int32_t squares, int64_t nano)
{
	pe_u128		k = (pe_u128) (problem->max_rows > 1 ? problem->max_rows : 1);
	pe_noise	noise;

	noise.norm = norm_of(problem);
	noise.nano = nano;
	if (row == 0)
		row = 1;
	if (noise.norm == PE_L2)
		noise.sensitivity = product(product(row, product(k, k)), (pe_u128) squares);
	else
		noise.sensitivity = product(product(row, k), squares > 1 ? 2 : 1);
	return noise;
}

static pe_noise
gradient_noise(const pe_fit_problem *problem, pe_u128 clip, int64_t nano)
{
	return noise_for(problem, clip, problem->substitute ? 4 : 1, nano);
}

/*
 * PE_L2: |x|^4, where off-diagonal entries count twice.  PE_L1: sum_{i>=j} |x_i x_j| =
 * (|x|_1^2 + |x|_2^2) / 2.
 */
static pe_noise
moment_noise(const pe_fit_problem *problem, int64_t nano)
{
	pe_u128		one = (pe_u128) problem->radius_1;
	pe_u128		row = problem->pure ? (product(one, one) + problem->radius_sq) / 2 + 1 :
		product(problem->radius_sq, problem->radius_sq);

	return noise_for(problem, row, problem->substitute ? 2 : 1, nano);
}

/* A column of labels times the features, in [-PE_ONE, PE_ONE] each. */
static pe_noise
label_noise(const pe_fit_problem *problem, int64_t nano)
{
	pe_u128		row = problem->pure ? product((pe_u128) problem->radius_1, PE_ONE) :
		product(problem->radius_sq, (pe_u128) PE_ONE * PE_ONE);

	return noise_for(problem, row, problem->substitute ? 4 : 1, nano);
}

/* The longest gradient that a row can have. */
static pe_u128
longest_gradient(const pe_fit_problem *problem)
{
	if (problem->pure)
		return product((pe_u128) problem->radius_1, LARGEST_SCALAR);
	return product(problem->radius_sq, (pe_u128) LARGEST_SCALAR * LARGEST_SCALAR);
}

static bool
can_be_calibrated(pe_noise noise)
{
	pe_u128		p;
	uint64_t	q;

	if (noise.norm == PE_L2)
		return pe_gaussian_calibrate(noise.sensitivity, noise.nano, &p, &q);
	return pe_laplace_calibrate(noise.sensitivity, noise.nano, &p, &q);
}

/* Before anything is read for it. */
static pe_noise
checked(pe_noise noise)
{
	if (!can_be_calibrated(noise))
		pe_bug("a measurement cannot be calibrated");
	return noise;
}

bool
pe_measure_fits(const pe_fit_problem *problem)
{
	/* a cost without common divisors with 10^9 asks for the most bits */
	return can_be_calibrated(gradient_noise(problem, longest_gradient(problem), 1)) &&
		can_be_calibrated(moment_noise(problem, 1)) && can_be_calibrated(label_noise(problem, 1));
}

/* ----------
 * Noise
 * ----------
 */

/* Adds the noise to exact sums, which are wiped; released numbers are worth unit each. */
static void
release(const pe_noise *noise, pe_i128 *exact, size_t count, double unit, double *real)
{
	int64_t    *released = pe_alloc(count, sizeof(*released));

	pe_noise_release(noise, exact, count, released);
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
	double		radius = (problem->pure ? (double) problem->radius_1 : sqrt((double) problem->radius_sq)) / PE_ONE;
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
	pass->residual_bits = bits_of_residual(problem, clip);
	pass->clip = pe_clip_integer(clip, pass->residual_bits, pass->norm);
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
	pe_noise	noise = checked(gradient_noise(problem, pass->clip, nano));
	pe_i128    *copy = pe_alloc(exact->count, sizeof(*copy));

	if (pass->kind != PE_PASS_GRADIENT || pass->norm != noise.norm)
		pe_bug("sums of another pass are measured as a gradient");
	memcpy(copy, exact->sums, exact->count * sizeof(*copy));
	release(&noise, copy, exact->count, pe_pass_unit(pass), gradient);
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

/* ----------
 * Second moments
 * ----------
 */

/*
 * Half of the variance is twice the cost in the calibration: sigma^2 = sensitivity /
 * (2 nano).  A cost that cannot be doubled is kept, which is more noise.  L1: the
 * same noise for all entries.
 */
static pe_noise
off_diagonal(pe_noise noise)
{
	if (noise.norm == PE_L2 && noise.nano <= INT64_MAX / 2)
		noise.nano *= 2;
	return noise;
}

/* The packed entries of the first columns rows, (i, j) with i > j only, or i = j only. */
static size_t
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
	return n;
}

/* Noise on the part of the packed moment that belongs to the features, as a full matrix. */
static void
release_moment(const pe_fit_problem *problem, const pe_i128 *packed, int64_t nano, double unit, double *moment)
{
	int32_t		columns = problem->shape->columns;
	size_t		d = (size_t) columns;
	size_t		most = d * (d - 1) / 2 > d ? d * (d - 1) / 2 : d;
	pe_noise	noise = checked(moment_noise(problem, nano));
	pe_noise	less = off_diagonal(noise);
	pe_i128    *picked = pe_alloc(most, sizeof(*picked));
	double	   *real = pe_alloc(most, sizeof(*real));
	size_t		n = 0;

	release(&noise, picked, pick(packed, columns, true, picked), unit, real);
	for (size_t i = 0; i < d; i++)
		moment[i * d + i] = real[i];
	if (d > 1)
		release(&less, picked, pick(packed, columns, false, picked), unit, real);
	for (size_t i = 0; i < d; i++)
		for (size_t j = 0; j < i; j++)
			moment[i * d + j] = moment[j * d + i] = real[n++];
	pe_free(real);
	pe_free(picked);
}

static void
run_moment(pe_source *source, bool with_label, pe_loss loss, pe_pass *pass, pe_exact_sums *exact)
{
	memset(pass, 0, sizeof(*pass));
	pass->kind = PE_PASS_MOMENT;
	pass->loss = loss;
	pass->with_label = with_label;
	pe_exact_run(source, pass, exact);
}

void
pe_measure_moment(const pe_fit_problem *problem, pe_source *source, int64_t nano, double *moment, double *noise)
{
	pe_noise	of_diagonal = checked(moment_noise(problem, nano));
	pe_exact_sums exact;
	pe_pass		pass;
	double		unit;

	run_moment(source, false, pe_fit_loss(problem), &pass, &exact);
	unit = pe_pass_unit(&pass);
	release_moment(problem, exact.sums, nano, unit, moment);
	*noise = pe_noise_stderr(&of_diagonal) * unit;
	pe_exact_wipe(&exact);
}

void
pe_measure_moment_and_label(const pe_fit_problem *problem, pe_source *source, int64_t nano, int64_t nano_label,
							double *moment, double *noise, double *label)
{
	size_t		d = (size_t) problem->shape->columns;
	pe_noise	of_diagonal = checked(moment_noise(problem, nano));
	pe_noise	of_label = checked(label_noise(problem, nano_label));
	pe_exact_sums exact;
	pe_pass		pass;
	double		unit;

	run_moment(source, true, pe_fit_loss(problem), &pass, &exact);
	unit = pe_pass_unit(&pass);
	release_moment(problem, exact.sums, nano, unit, moment);
	*noise = pe_noise_stderr(&of_diagonal) * unit;
	/* the row of the label, up to the square of the label, which is not released */
	release(&of_label, exact.sums + d * (d + 1) / 2, d, unit, label);
	pe_exact_wipe(&exact);
}

/* ----------
 * Counts
 * ----------
 */
double
pe_measure_count(const pe_fit_problem *problem, pe_source *source, int64_t nano)
{
	pe_noise	noise = checked(noise_for(problem, 1, 1, nano));
	pe_exact_sums exact;
	pe_pass		pass;
	double		rows;

	memset(&pass, 0, sizeof(pass));
	pass.kind = PE_PASS_COUNT;
	pass.loss = pe_fit_loss(problem);
	pe_exact_run(source, &pass, &exact);
	release(&noise, exact.sums, 1, 1.0, &rows);
	pe_exact_wipe(&exact);
	return fmax(rows, 1);
}

/*
 * table_noise.c
 *	  The noise of a table of estimates, drawn again and again.  See table_noise.h.
 */
#include "study/table_noise.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* What is left of a variance that rounding has made of zero. */
#define ZERO 1e-14

static void
add_parts(const pe_table_noise *noise, int32_t part, double times, double *drawn)
{
	const double *weight = noise->weight + (size_t) part * noise->cells;

	for (int32_t i = 0; i < noise->cells; i++)
		drawn[i] += times * weight[i];
}

static void
draw_gaussian(const pe_table_noise *noise, pe_dice *dice, double *drawn)
{
	memset(drawn, 0, noise->cells * sizeof(double));
	for (int32_t j = 0; j < noise->parts; j++)
		add_parts(noise, j, pe_dice_normal(dice), drawn);
}

/* The difference of two geometric numbers. */
static double
discrete_laplace(pe_dice *dice, double decay)
{
	return floor(pe_dice_exponential(dice) / decay) - floor(pe_dice_exponential(dice) / decay);
}

static void
draw_laplace(const pe_table_noise *noise, pe_dice *dice, double *drawn)
{
	memset(drawn, 0, noise->cells * sizeof(double));
	for (int32_t j = 0; j < noise->parts; j++)
		add_parts(noise, j, discrete_laplace(dice, noise->decay[j]), drawn);
}

/* P'C P = L L': the parts are the columns of P L. */
void
pe_table_noise_gaussian(int32_t cells, double *covariance, pe_table_noise *noise)
{
	double	   *factor = pe_la_vector(pe_la_square(cells));
	int32_t    *pivot = pe_alloc(cells, sizeof(int32_t));
	double	   *work = pe_la_vector(2 * (size_t) cells);
	double		largest = pe_la_largest_diagonal(cells, covariance);

	*noise = (pe_table_noise) {.cells = cells, .covariance = covariance, .draw = draw_gaussian};
	memcpy(factor, covariance, pe_la_square(cells) * sizeof(double));
	if (largest > 0)
		noise->parts = pe_la_cholesky_pivoted(cells, factor, cells, ZERO * cells * largest, pivot, work);
	noise->weight = pe_la_vector((size_t) noise->parts * cells + 1);
	for (int32_t j = 0; j < noise->parts; j++)
		for (int32_t i = j; i < cells; i++)
			noise->weight[(size_t) j * cells + pivot[i]] = factor[(size_t) j * cells + i];
	pe_free(work);
	pe_free(pivot);
	pe_free(factor);
}

/* exp(-decay |k|) has the variance 1 / (2 sinh^2(decay / 2)). */
static double
decay_of(double stderr_)
{
	return 2 * asinh(1 / (stderr_ * sqrt(2)));
}

static bool
has_weight(int32_t cells, const double *weight)
{
	return pe_la_largest(cells, weight) > 0;
}

void
pe_table_noise_laplace(int32_t cells, double *covariance, int32_t measurements, const double *weights,
					   const double *stderr_, pe_table_noise *noise)
{
	*noise = (pe_table_noise) {.cells = cells, .covariance = covariance, .draw = draw_laplace};
	noise->weight = pe_la_vector((size_t) measurements * cells + 1);
	noise->decay = pe_la_vector((size_t) measurements + 1);
	for (int32_t j = 0; j < measurements; j++)
	{
		const double *weight = weights + (size_t) j * cells;

		if (!has_weight(cells, weight))
			continue;
		memcpy(noise->weight + (size_t) noise->parts * cells, weight, cells * sizeof(double));
		noise->decay[noise->parts++] = decay_of(stderr_[j]);
	}
}

void
pe_table_noise_free(pe_table_noise *noise)
{
	pe_free(noise->covariance);
	pe_free(noise->weight);
	pe_free(noise->decay);
	memset(noise, 0, sizeof(*noise));
}

double
pe_table_noise_variance(const pe_table_noise *noise, const double *weight)
{
	double		variance = 0;

	for (int32_t i = 0; i < noise->cells; i++)
		for (int32_t j = 0; j < noise->cells; j++)
			variance += weight[i] * noise->covariance[(size_t) i * noise->cells + j] * weight[j];
	return fmax(variance, 0);
}

/*
 * contrast.c
 *	  Two numbers from one release compared.  See contrast.h.
 */
#include "study/contrast.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* An interval of so many standard deviations. */
static pe_error_law
law_of(const pe_noisy *numbers, bool halved)
{
	return (pe_error_law) {.laplace = numbers->laplace, .factor = numbers->half[halved]};
}

static double
deviation_of(const pe_noisy *numbers, const double *weight)
{
	double		variance = 0;

	for (int32_t i = 0; i < numbers->count; i++)
		for (int32_t j = 0; j < numbers->count; j++)
			variance += weight[i] * weight[j] * numbers->covariance[(size_t) i * numbers->count + j];
	return sqrt(fmax(variance, 0));
}

void
pe_contrast_difference(const pe_noisy *numbers, pe_quotient *result)
{
	double		error = deviation_of(numbers, (double[2]) {1, -1});
	double		difference = numbers->value[0] - numbers->value[1];

	*result = (pe_quotient) {
		difference, error, difference - numbers->half[0] * error, difference + numbers->half[0] * error
	};
}

/* Numbers i and j: the noise of the second is along that of the first, and beside it. */
static void
quotient_of(const pe_noisy *numbers, int32_t i, int32_t j, bool halved, pe_quotient *result)
{
	pe_error_law law = law_of(numbers, halved);
	int32_t		n = numbers->count;
	double		one = sqrt(numbers->covariance[(size_t) i * n + i]);
	double		along = one > 0 ? numbers->covariance[(size_t) i * n + j] / one : 0;
	double		beside = sqrt(fmax(numbers->covariance[(size_t) j * n + j] - along * along, 0));
	double		above[2] = {one, 0};
	double		below[2] = {along, beside};

	pe_quotient_of(&law, &(pe_linear_estimate) {numbers->value[i], above},
				   &(pe_linear_estimate) {numbers->value[j], below}, 2, result);
}

void
pe_contrast_ratio(const pe_noisy *numbers, pe_quotient *result)
{
	quotient_of(numbers, 0, 1, false, result);
}

/* ------------------------------------------------------------------
 * Averages
 * ------------------------------------------------------------------
 */

/* Whether a number is far from 0, beside its noise. */
static bool
is_known(const pe_noisy *numbers, int32_t i)
{
	return fabs(numbers->value[i]) > PE_CONTRAST_KNOWN * sqrt(numbers->covariance[(size_t) i * (numbers->count + 1)]);
}

/* The gradient of P / n, or of log |P / n|, times a sign. */
static void
put_gradient(const pe_noisy *numbers, int32_t i, bool of_logarithm, double sign, double *weight)
{
	double		sum = numbers->value[i];
	double		rows = numbers->value[i + 1];

	weight[i] = sign / (of_logarithm ? sum : rows);
	weight[i + 1] = -sign / rows * (of_logarithm ? 1 : sum / rows);
}

static void
difference_by_delta(const pe_noisy *numbers, pe_quotient *result)
{
	const double *value = numbers->value;
	double		weight[4];

	put_gradient(numbers, 0, false, 1, weight);
	put_gradient(numbers, 2, false, -1, weight);
	result->estimate = value[0] / value[1] - value[2] / value[3];
	result->stderr_ = deviation_of(numbers, weight);
	result->lower = result->estimate - numbers->half[0] * result->stderr_;
	result->upper = result->estimate + numbers->half[0] * result->stderr_;
}

static void
ratio_by_delta(const pe_noisy *numbers, pe_quotient *result)
{
	const double *value = numbers->value;
	double		weight[4];
	double		error;
	double		factor;

	put_gradient(numbers, 0, true, 1, weight);
	put_gradient(numbers, 2, true, -1, weight);
	error = deviation_of(numbers, weight);
	factor = exp(numbers->half[0] * error);
	result->estimate = value[0] / value[1] / (value[2] / value[3]);
	result->stderr_ = fabs(result->estimate) * error;
	result->lower = fmin(result->estimate / factor, result->estimate * factor);
	result->upper = fmax(result->estimate / factor, result->estimate * factor);
}

/* What lies between the quotients of two intervals, the second without 0. */
static void
divide_intervals(const pe_quotient *above, const pe_quotient *below, pe_quotient *result)
{
	double		end[4] = {
		above->lower / below->lower, above->lower / below->upper,
		above->upper / below->lower, above->upper / below->upper
	};

	result->lower = result->upper = end[0];
	for (int i = 1; i < 4; i++)
	{
		result->lower = fmin(result->lower, end[i]);
		result->upper = fmax(result->upper, end[i]);
	}
}

/* Both intervals hold what they are of with a probability of at least 95 %, however they depend on each other. */
static void
by_both(const pe_noisy *numbers, bool ratio, pe_quotient *result)
{
	pe_quotient one;
	pe_quotient other;

	*result = (pe_quotient) {NAN, NAN, -INFINITY, INFINITY};
	quotient_of(numbers, 0, 1, true, &one);
	quotient_of(numbers, 2, 3, true, &other);
	if (isnan(one.estimate) || isnan(other.estimate))
		return;
	if (!ratio)
	{
		difference_by_delta(numbers, result);
		result->lower = one.lower - other.upper;
		result->upper = one.upper - other.lower;
	}
	else if (other.lower > 0 || other.upper < 0)
	{
		double		quotient = one.estimate / other.estimate;

		ratio_by_delta(numbers, result);
		if (!isfinite(result->stderr_))	/* the first is 0 */
			*result = (pe_quotient) {quotient, NAN, 0, 0};
		divide_intervals(&one, &other, result);
	}
}

static double
between(double least, double x, double most)
{
	return fmin(fmax(x, least), most);
}

/* What the bounds of both averages say of their difference or ratio; of a ratio nothing where they can be 0. */
static void
find_ends(const double bounds[2], bool ratio, double *least, double *most)
{
	*least = bounds[0] - bounds[1];
	*most = bounds[1] - bounds[0];
	if (!ratio)
		return;
	*least = -INFINITY;
	*most = INFINITY;
	if (bounds[0] > 0 || bounds[1] < 0)
	{
		*least = fmin(bounds[0] / bounds[1], bounds[1] / bounds[0]);
		*most = 1 / *least;
	}
}

/* Keeps NaN. */
static void
cut_off(double least, double most, pe_quotient *result)
{
	if (!isnan(result->estimate))
		result->estimate = between(least, result->estimate, most);
	result->lower = between(least, result->lower, most);
	result->upper = between(least, result->upper, most);
}

static double
average_of(const pe_noisy *numbers, int32_t i, const double bounds[2])
{
	double		rows = numbers->value[i + 1];
	double		error = sqrt(numbers->covariance[(size_t) (i + 1) * (numbers->count + 1)]);

	return rows > numbers->half[0] * error ? between(bounds[0], numbers->value[i] / rows, bounds[1]) : NAN;
}

void
pe_contrast_of_averages(const pe_noisy *numbers, const double bounds[2], bool ratio, pe_quotient *result,
						double average[2])
{
	bool		known = is_known(numbers, 1) && is_known(numbers, 3);
	double		least;
	double		most;

	if (ratio)
		known = known && is_known(numbers, 0) && is_known(numbers, 2);
	if (!known)
		by_both(numbers, ratio, result);
	else if (ratio)
		ratio_by_delta(numbers, result);
	else
		difference_by_delta(numbers, result);
	find_ends(bounds, ratio, &least, &most);
	cut_off(least, most, result);
	for (int i = 0; i < 2; i++)
		average[i] = average_of(numbers, 2 * i, bounds);
}

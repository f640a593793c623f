/*
 * noise.c
 *	  The noise of a release, and every draw for a part of an allowance.  See noise.h.
 */
#include "noise/private.h"

#include <math.h>

#include "accounting/conversion.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/selection.h"

/* Of Gaussian DP no noise has a smaller variance: 4 of it is lost (gaussian.h). */
#define LEAST_VARIANCE_BITS 20

#define NANO UINT64_C(1000000000)

pe_noise *
pe_noise_to_read(pe_accounting accounting, pe_u128 sensitivity, int lattice, int64_t nano)
{
	pe_noise   *noise = pe_alloc(1, sizeof(*noise));

	*noise = (pe_noise) {accounting, sensitivity, nano, lattice, false};
	return noise;
}

/*
 * The least shift with 4^shift sensitivity / (2 rho) >= 2^20.  An entry of what is multiplied
 * is at most the root of its sensitivity, so that 2^shift times it is below 2^28 unless the
 * shift is 0.
 */
static int
gaussian_shift(const pe_noise *noise)
{
	int			shift = 0;

	if (noise->accounting != PE_GDP || noise->nano <= 0 || noise->sensitivity == 0 || noise->sensitivity >> 64 != 0)
		return 0;
	while ((noise->sensitivity << (2 * shift)) * NANO < (pe_u128) noise->nano << (LEAST_VARIANCE_BITS + 1))
		shift++;
	return shift;
}

/* Answers are multiplied by 2^fineness before they are noised. */
static int
fineness(const pe_noise *noise)
{
	return noise->lattice + gaussian_shift(noise);
}

/*
 * The largest number of digits after which the noise still has a standard deviation of 2^20 (Laplace: a scale).
 * Rounding by so many adds 2^-40 / 12 of the variance; without it large answers would not fit an int64 where the
 * sensitivity is a large number.
 */
static int
digits_lost(const pe_noise *noise)
{
	bool		pure = noise->accounting == PE_PURE;
	int			least = pure ? LEAST_VARIANCE_BITS : 2 * LEAST_VARIANCE_BITS;
	pe_u128		p;
	uint64_t	q;
	int			bits = 0;

	if (!noise->rounded ||
		!(pure ? pe_laplace_calibrate(noise->sensitivity, noise->nano, &p, &q)
		  : pe_gaussian_calibrate(noise->accounting,
								  noise->sensitivity << (2 * gaussian_shift(noise)), noise->nano, &p, &q)))
		return 0;
	for (p /= q; p >> (bits + 1) >= (pe_u128) 1 << least; bits++)
		;
	return pure ? bits : bits / 2;
}

int
pe_noise_shift(const pe_noise *noise)
{
	return fineness(noise) - digits_lost(noise);
}

double
pe_noise_stderr(const pe_noise *noise)
{
	int			shift = gaussian_shift(noise);

	if (noise->accounting == PE_PURE)
		return ldexp(pe_laplace_stderr(noise->sensitivity, noise->nano), -noise->lattice);
	return ldexp(pe_gaussian_stderr(noise->accounting, noise->sensitivity << (2 * shift), noise->nano),
				 -fineness(noise));
}

double
pe_noise_stderr_of(pe_accounting accounting, pe_u128 sensitivity, int64_t nano)
{
	const pe_noise noise = {accounting, sensitivity, nano, 0, false};

	return pe_noise_stderr(&noise);
}

bool
pe_noise_gaussian_law(const pe_noise *noise, pe_u128 *p, uint64_t *q)
{
	return noise->accounting != PE_PURE && noise->lattice == 0 && !noise->rounded &&
		pe_gaussian_calibrate(noise->accounting, noise->sensitivity << (2 * gaussian_shift(noise)), noise->nano, p, q);
}

bool
pe_noise_is_served(pe_accounting accounting, pe_u128 sensitivity, int64_t nano)
{
	pe_u128		p;
	uint64_t	q;

	/* a sensitivity that is multiplied is a small one */
	if (accounting == PE_PURE)
		return pe_laplace_calibrate(sensitivity, nano, &p, &q);
	return pe_gaussian_calibrate(accounting, sensitivity, nano, &p, &q);
}

/* The standard deviation falls as the cost grows. */
int64_t
pe_noise_least_nano(pe_accounting accounting, pe_u128 sensitivity, double max_stderr, double scale)
{
	int64_t		low = 0;		/* too little */
	int64_t		high = INT64_C(1) << 62;

	if (!(scale * pe_noise_stderr_of(accounting, sensitivity, high) <= max_stderr))
		return 0;
	while (high - low > 1)
	{
		int64_t		middle = low + (high - low) / 2;

		if (scale * pe_noise_stderr_of(accounting, sensitivity, middle) <= max_stderr)
			high = middle;
		else
			low = middle;
	}
	return high;
}

void
pe_noise_release(const pe_noise *noise, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_u128		sensitivity = noise->sensitivity << (2 * gaussian_shift(noise));
	int			fine = fineness(noise);
	int			lost = digits_lost(noise);

	for (size_t i = 0; fine > 0 && i < count; i++)
		exact[i] *= (pe_i128) 1 << fine;
	if (noise->accounting == PE_PURE && lost == 0)
		pe_laplace_release(exact, count, noise->sensitivity, noise->nano, released);
	else if (noise->accounting == PE_PURE)
		pe_laplace_release_rounded(exact, count, noise->sensitivity, noise->nano, lost, released);
	else if (lost == 0)
		pe_gaussian_release(noise->accounting, exact, count, sensitivity, noise->nano, released);
	else
		pe_gaussian_release_rounded(noise->accounting, exact, count, sensitivity, noise->nano, lost, released);
}

/* ----------
 * Draws for a part of an allowance
 * ----------
 */

/* What is paid for nano; calibrated to as much, or to what sampling makes of it. */
static pe_noise
take_share(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, double q)
{
	pe_accounting accounting = pe_allowance_accounting(allowance);

	pe_allowance_take(allowance, nano);
	return (pe_noise) {accounting, sensitivity, accounting == PE_PURE ? pe_unsampled_epsilon(nano, q) : nano, 0, false};
}

/* To the nearest whole number, of two to the even one, so that no mean moves. */
static int64_t
nearest(int64_t released, int shift)
{
	int64_t		unit = INT64_C(1) << shift;
	int64_t		below = released & (unit - 1);
	int64_t		whole = (released - below) / unit;

	return whole + (2 * below > unit || (2 * below == unit && whole % 2 != 0));
}

static void
release_whole(const pe_noise *noise, pe_i128 *exact, size_t count, int64_t *released)
{
	int			shift = pe_noise_shift(noise);

	pe_noise_release(noise, exact, count, released);
	for (size_t i = 0; shift > 0 && i < count; i++)
		released[i] = nearest(released[i], shift);
}

void
pe_noise_draw_fine(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, pe_i128 *exact,
				   size_t count, int64_t *released)
{
	pe_noise	noise = take_share(allowance, sensitivity, nano, 1);

	pe_noise_release(&noise, exact, count, released);
}

pe_noise_parts *
pe_noise_begin_parts(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano)
{
	pe_noise_parts *parts = pe_alloc(1, sizeof(*parts));

	parts->noise = take_share(allowance, sensitivity, nano, 1);
	return parts;
}

void
pe_noise_draw_part(const pe_noise_parts *parts, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_noise_release(&parts->noise, exact, count, released);
}

void
pe_noise_draw_vectors(pe_allowance *allowance, const pe_noise_vector *vector, size_t vectors, int64_t nano,
					  pe_i128 *exact, int64_t *released)
{
	pe_noise	noise = take_share(allowance, 1, nano, 1);

	for (size_t v = 0; v < vectors; v++)
	{
		noise.sensitivity = vector[v].sensitivity;
		noise.lattice = vector[v].lattice;
		noise.rounded = true;
		pe_noise_release(&noise, exact, vector[v].count, released);
		exact += vector[v].count;
		released += vector[v].count;
	}
}

void
pe_noise_draw_sampled(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, double q,
					  pe_i128 *exact, size_t count, int64_t *released)
{
	pe_noise	noise = take_share(allowance, sensitivity, nano, q);

	release_whole(&noise, exact, count, released);
}

void
pe_noise_draw(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, pe_i128 *exact,
			  size_t count, int64_t *released)
{
	pe_noise_draw_sampled(allowance, sensitivity, nano, 1, exact, count, released);
}

/*
 * Half of the variance is twice the cost in the calibration: sigma^2 = sensitivity /
 * (2 nano).  A cost that cannot be doubled is kept, which is more noise.
 */
static pe_noise
off_diagonal(pe_noise noise)
{
	if (noise.accounting != PE_PURE && noise.nano <= INT64_MAX / 2)
		noise.nano *= 2;
	return noise;
}

void
pe_noise_draw_symmetric(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano,
						pe_i128 *diagonal, size_t n, int64_t *released_diagonal,
						pe_i128 *rest, size_t m, int64_t *released_rest)
{
	pe_noise	noise = take_share(allowance, sensitivity, nano, 1);
	pe_noise	less = off_diagonal(noise);

	release_whole(&noise, diagonal, n, released_diagonal);
	if (m > 0)
		release_whole(&less, rest, m, released_rest);
}

int64_t
pe_noise_most_cube(size_t count, uint64_t sensitivity)
{
	return pe_cube_most(count, sensitivity);
}

void
pe_noise_draw_cube(pe_allowance *allowance, uint64_t sensitivity, int64_t nano, pe_i128 *exact,
				   size_t count, int64_t *released)
{
	int64_t		most = pe_cube_most(count, sensitivity);

	if (pe_allowance_accounting(allowance) != PE_PURE)
		pe_bug("the maximum norm has no cost in rho");
	pe_allowance_take(allowance, nano);
	pe_cube_release(exact, count, sensitivity, nano < most ? nano : most, released);
}

int32_t
pe_draw_least(pe_allowance *allowance, const pe_i128 *score, int32_t count, pe_u128 sensitivity,
			  bool monotone, int64_t nano)
{
	pe_accounting accounting = pe_allowance_accounting(allowance);

	pe_allowance_take(allowance, nano);
	return pe_select_least(score, count, sensitivity, monotone, accounting, nano);
}

int32_t
pe_draw_exponential(pe_allowance *allowance, const pe_i128 *score, int32_t count,
					pe_u128 sensitivity, bool monotone, int64_t nano)
{
	pe_accounting accounting = pe_allowance_accounting(allowance);

	pe_allowance_take(allowance, nano);
	return pe_select_exponential(score, count, sensitivity, monotone, accounting, nano);
}

void
pe_draw_from_runs(pe_allowance *allowance, pe_runs_make make, const void *argument,
				  size_t selections, int64_t nano, uint64_t *chosen)
{
	pe_accounting accounting = pe_allowance_accounting(allowance);
	pe_runs    *runs = pe_alloc(1, sizeof(*runs));

	pe_allowance_take(allowance, nano);
	for (size_t i = 0; i < selections; i++)
	{
		make(argument, i, runs);
		chosen[i] = pe_select_of_runs(runs, accounting, nano);
	}
	pe_wipe(runs, sizeof(*runs));
	pe_free(runs);
}

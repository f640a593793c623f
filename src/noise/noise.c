/*
 * noise.c
 *	  The noise of a release, and every draw for a part of an allowance.  See noise.h.
 */
#include "noise/private.h"

#include "accounting/mechanisms.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/select.h"

pe_noise *
pe_noise_to_read(pe_norm norm, pe_u128 sensitivity, int64_t nano)
{
	pe_noise   *noise = pe_alloc(1, sizeof(*noise));

	*noise = (pe_noise) {norm, sensitivity, nano};
	return noise;
}

double
pe_noise_stderr_of(pe_norm norm, pe_u128 sensitivity, int64_t nano)
{
	return norm == PE_L2 ? pe_gaussian_stderr(sensitivity, nano) : pe_laplace_stderr(sensitivity, nano);
}

double
pe_noise_stderr(const pe_noise *noise)
{
	return pe_noise_stderr_of(noise->norm, noise->sensitivity, noise->nano);
}

bool
pe_noise_is_served(pe_norm norm, pe_u128 sensitivity, int64_t nano)
{
	pe_u128		p;
	uint64_t	q;

	if (norm == PE_L2)
		return pe_gaussian_calibrate(sensitivity, nano, &p, &q);
	return pe_laplace_calibrate(sensitivity, nano, &p, &q);
}

/* The standard deviation falls as the cost grows. */
int64_t
pe_noise_least_nano(pe_norm norm, pe_u128 sensitivity, double max_stderr, double scale)
{
	int64_t		low = 0;		/* too little */
	int64_t		high = INT64_C(1) << 62;

	if (!(scale * pe_noise_stderr_of(norm, sensitivity, high) <= max_stderr))
		return 0;
	while (high - low > 1)
	{
		int64_t		middle = low + (high - low) / 2;

		if (scale * pe_noise_stderr_of(norm, sensitivity, middle) <= max_stderr)
			high = middle;
		else
			low = middle;
	}
	return high;
}

void
pe_noise_release(const pe_noise *noise, pe_i128 *exact, size_t count, int64_t *released)
{
	if (noise->norm == PE_L2)
		pe_gaussian_release(exact, count, noise->sensitivity, noise->nano, released);
	else
		pe_laplace_release(exact, count, noise->sensitivity, noise->nano, released);
}

/* ----------
 * Draws for a part of an allowance
 * ----------
 */

/* What is paid for nano; calibrated to as much, or to what sampling makes of it. */
static pe_noise
take(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, double q)
{
	bool		pure = pe_allowance_is_pure(allowance);

	pe_allowance_take(allowance, nano);
	return (pe_noise) {pure ? PE_L1 : PE_L2, sensitivity, pure ? pe_unsampled_epsilon(nano, q) : nano};
}

void
pe_noise_draw_sampled(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, double q,
					  pe_i128 *exact, size_t count, int64_t *released)
{
	pe_noise	noise = take(allowance, sensitivity, nano, q);

	pe_noise_release(&noise, exact, count, released);
}

void
pe_noise_draw(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, pe_i128 *exact, size_t count, int64_t *released)
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
	if (noise.norm == PE_L2 && noise.nano <= INT64_MAX / 2)
		noise.nano *= 2;
	return noise;
}

void
pe_noise_draw_symmetric(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano,
						pe_i128 *diagonal, size_t n, int64_t *released_diagonal,
						pe_i128 *rest, size_t m, int64_t *released_rest)
{
	pe_noise	noise = take(allowance, sensitivity, nano, 1);
	pe_noise	less = off_diagonal(noise);

	pe_noise_release(&noise, diagonal, n, released_diagonal);
	if (m > 0)
		pe_noise_release(&less, rest, m, released_rest);
}

int64_t
pe_noise_most_cube(size_t count, uint64_t sensitivity)
{
	return pe_cube_most(count, sensitivity);
}

void
pe_noise_draw_cube(pe_allowance *allowance, uint64_t sensitivity, int64_t nano, pe_i128 *exact, size_t count, int64_t *released)
{
	int64_t		most = pe_cube_most(count, sensitivity);

	if (!pe_allowance_is_pure(allowance))
		pe_bug("the maximum norm has no cost in rho");
	pe_allowance_take(allowance, nano);
	pe_cube_release(exact, count, sensitivity, nano < most ? nano : most, released);
}

int32_t
pe_draw_least(pe_allowance *allowance, const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone, int64_t nano)
{
	pe_norm		norm = pe_allowance_is_pure(allowance) ? PE_L1 : PE_L2;

	pe_allowance_take(allowance, nano);
	return pe_select_least(score, count, sensitivity, monotone, norm, nano);
}

int32_t
pe_draw_exponential(pe_allowance *allowance, const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone, int64_t nano)
{
	pe_norm		norm = pe_allowance_is_pure(allowance) ? PE_L1 : PE_L2;

	pe_allowance_take(allowance, nano);
	return pe_select_exponential(score, count, sensitivity, monotone, norm, nano);
}

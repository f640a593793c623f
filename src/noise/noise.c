/*
 * noise.c
 *	  The noise of a release.  See noise.h.
 */
#include "noise/noise.h"

#include "noise/gaussian.h"
#include "noise/laplace.h"

double
pe_noise_stderr(const pe_noise *noise)
{
	return noise->norm == PE_L2
		? pe_gaussian_stderr(noise->sensitivity, noise->nano)
		: pe_laplace_stderr(noise->sensitivity, noise->nano);
}

/* The standard deviation falls as the cost grows. */
int64_t
pe_noise_least_nano(const pe_noise *noise, double max_stderr, double scale)
{
	pe_noise	tried = *noise;
	int64_t		low = 0;		/* too little */
	int64_t		high = INT64_C(1) << 62;

	tried.nano = high;
	if (!(scale * pe_noise_stderr(&tried) <= max_stderr))
		return 0;
	while (high - low > 1)
	{
		tried.nano = low + (high - low) / 2;
		if (scale * pe_noise_stderr(&tried) <= max_stderr)
			high = tried.nano;
		else
			low = tried.nano;
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

/*
 * gaussian.c
 *	  The Gaussian mechanism on integer vectors.
 */
#include "mechanism/gaussian.h"

#include "mechanism/bits.h"
#include "mechanism/gauss.h"

#define NANO UINT64_C(1000000000)

bool
pe_gaussian_calibrate(pe_u128 sensitivity_sq, int64_t nano_rho, pe_u128 *p, uint64_t *q)
{
	const pe_u128 p_max = ((pe_u128) 1 << 127) - 1;
	uint64_t	denominator;
	uint64_t	factor = NANO;
	uint64_t	divisor;

	if (sensitivity_sq == 0 || nano_rho <= 0)
		return false;
	denominator = 2 * (uint64_t) nano_rho;

	/* cancel each factor of the numerator before they are multiplied */
	divisor = pe_gauss_gcd(sensitivity_sq, denominator);
	sensitivity_sq /= divisor;
	denominator /= divisor;
	divisor = pe_gauss_gcd(factor, denominator);
	factor /= divisor;
	denominator /= divisor;

	if (sensitivity_sq > p_max / factor)
		return false;
	*p = sensitivity_sq * factor;
	*q = denominator;
	return true;
}

/*
 * a + b, brought into the range of int64.  Where even 128 bits overflow, both
 * have the same sign, and the true sum is beyond int64 on that side.
 */
static int64_t
saturated_sum(pe_i128 a, pe_i128 b)
{
	pe_i128		sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	if (sum > INT64_MAX)
		return INT64_MAX;
	if (sum < INT64_MIN)
		return INT64_MIN;
	return (int64_t) sum;
}

void
pe_gaussian_release(pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho, int64_t *released)
{
	pe_u128		p;
	uint64_t	q;
	pe_gauss	noise;
	pe_bits		bits;

	if (!pe_gaussian_calibrate(sensitivity_sq, nano_rho, &p, &q))
		pe_bug("Gaussian mechanism cannot be calibrated");
	pe_gauss_init(&noise, p, q);
	pe_bits_init(&bits);
	for (size_t i = 0; i < count; i++)
		released[i] = saturated_sum(exact[i], pe_gauss_draw(&noise, &bits));
	pe_bits_wipe(&bits);
	pe_wipe(exact, count * sizeof(*exact));
}

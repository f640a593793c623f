/*
 * gaussian.c
 *	  The Gaussian mechanism on integer vectors.
 */
#include "noise/gaussian.h"

#include <math.h>

#include "noise/bits.h"
#include "noise/gauss.h"
#include "noise/alias.h"

#define NANO UINT64_C(1000000000)

/* eta^2 of the lemma (gaussian.h) */
#define LEMMA 4

bool
pe_gaussian_calibrate(pe_accounting accounting, pe_u128 sensitivity_sq, int64_t nano_rho, pe_u128 *p, uint64_t *q)
{
	const pe_u128 p_max = ((pe_u128) 1 << 127) - 1;
	uint64_t	denominator;
	uint64_t	factor = NANO;
	uint64_t	divisor;

	if (accounting == PE_PURE || sensitivity_sq == 0 || nano_rho <= 0)
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
	sensitivity_sq *= factor;
	if (accounting == PE_GDP)
	{
		/* a multiple of the denominator leaves the terms lowest */
		if (sensitivity_sq > p_max - LEMMA * (pe_u128) denominator)
			return false;
		sensitivity_sq += LEMMA * (pe_u128) denominator;
	}
	*p = sensitivity_sq;
	*q = denominator;
	return true;
}

double
pe_gaussian_stderr(pe_accounting accounting, pe_u128 sensitivity_sq, int64_t nano_rho)
{
	pe_u128		p;
	uint64_t	q;

	if (!pe_gaussian_calibrate(accounting, sensitivity_sq, nano_rho, &p, &q))
		return INFINITY;
	return sqrt(pe_gauss_variance(p, q));
}

static void
add_noise(const pe_i128 *exact, size_t count, const pe_gauss *noise, pe_bits *bits, int down, int64_t *released)
{
	for (size_t i = 0; i < count; i++)
		released[i] = pe_rounded_sum(exact[i], pe_gauss_draw(noise, bits), down);
}

static void
add_noise_by_table(const pe_i128 *exact, size_t count, const pe_gauss *noise, pe_bits *bits,
				   int down, int64_t *released)
{
	pe_alias	table;

	pe_alias_init(&table, noise, PE_ALIAS_REACH);
	for (size_t i = 0; i < count; i++)
		released[i] = pe_rounded_sum(exact[i], pe_alias_draw(&table, bits), down);
	pe_wipe(&table, sizeof(table));
}

void
pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho,
					int64_t *released)
{
	pe_gaussian_release_rounded(accounting, exact, count, sensitivity_sq, nano_rho, 0, released);
}

void
pe_gaussian_release_rounded(pe_accounting accounting, pe_i128 *exact, size_t count,
							pe_u128 sensitivity_sq, int64_t nano_rho, int down, int64_t *released)
{
	pe_u128		p;
	uint64_t	q;
	pe_gauss	noise;
	pe_bits		bits;

	if (!pe_gaussian_calibrate(accounting, sensitivity_sq, nano_rho, &p, &q))
		pe_bug("Gaussian mechanism cannot be calibrated");
	pe_gauss_init(&noise, p, q);
	pe_bits_init(&bits);
	if (count >= PE_GAUSSIAN_TABLE_COUNT && pe_alias_serves(&noise))
		add_noise_by_table(exact, count, &noise, &bits, down, released);
	else
		add_noise(exact, count, &noise, &bits, down, released);
	pe_bits_wipe(&bits);
	pe_wipe(exact, count * sizeof(*exact));
}

/*
 * cube.c
 *	  The K-norm mechanism of the maximum norm on integer vectors, and its exact sampler.
 *
 * The law.  With n = count and q = exp(-s), for every integer vector v
 *
 *	  exp(-s |v|) = sum over r >= |v| of (1 - q) q^r,   |v| the maximum norm,
 *
 * and (2 r + 1)^n vectors have |v| <= r.  So the noise is a vector uniform among these,
 * for a radius R with P[R = r] proportional to (2 r + 1)^n q^r.
 *
 * The radius.  The sum of n + 1 independent G_k >= 0 with P[G_k = g] proportional to q^g
 * is r with a probability proportional to C(r + n, n) q^r, as there are so many ways to write r as
 * a sum.  It is accepted with probability
 *
 *	  prod over k = 1 .. n of (2 r + 1) / (2 r + 2 k) = (2 r + 1)^n / (2^n n! C(r + n, n)),
 *
 * each factor is at most 1 and one exact bit.  What is accepted has the law of R.
 * A draw of laplace.h has the law of G_k if it is drawn again while negative.
 *
 * How often.  At the mean radius of about n / s the product is about exp(-n^2 / (2 r)) =
 * exp(-n s / 2), at least exp(-4) for s <= 8 / n.  Coins end with the first that fails.
 */
#include "noise/laplace.h"

#include "noise/bits.h"

#define NANO UINT64_C(1000000000)

/* sensitivity / epsilon is at least count / this, and below 2 to the other. */
#define NARROWEST 8
#define WIDEST_BITS 90

/* t / s = sensitivity / epsilon */
static bool
calibrate(size_t count, pe_u128 sensitivity, int64_t nano_epsilon, pe_u128 *t, uint64_t *s)
{
	if (count > PE_CUBE_COUNT || !pe_laplace_calibrate(sensitivity, nano_epsilon, t, s))
		return false;
	return *t >> WIDEST_BITS < *s && *t * NARROWEST >= (pe_u128) count * *s;
}

bool
pe_cube_serves(size_t count, pe_u128 sensitivity, int64_t nano_epsilon)
{
	pe_u128		t;
	uint64_t	s;

	return calibrate(count, sensitivity, nano_epsilon, &t, &s);
}

int64_t
pe_cube_most(size_t count, uint64_t sensitivity)
{
	pe_u128		most = (pe_u128) sensitivity * (NARROWEST * NANO) / count;

	return most < INT64_MAX ? (int64_t) most : INT64_MAX;
}

static pe_u128
draw_geometric(const pe_laplace *two_sided, pe_bits *bits)
{
	for (;;)
	{
		pe_i128		g = pe_laplace_draw(two_sided, bits);

		if (g >= 0)
			return (pe_u128) g;
	}
}

/* The sum of count + 1 of them, or PE_CUBE_LIMIT if it is not below that. */
static pe_u128
propose_radius(const pe_laplace *two_sided, size_t count, pe_bits *bits)
{
	pe_u128		r = 0;

	for (size_t k = 0; k <= count && r < PE_CUBE_LIMIT; k++)
		r += draw_geometric(two_sided, bits);
	return r < PE_CUBE_LIMIT ? r : PE_CUBE_LIMIT;
}

static bool
accept_radius(pe_u128 r, size_t count, pe_bits *bits)
{
	for (size_t k = 1; k <= count; k++)
	{
		if (pe_bits_below128(bits, 2 * r + 2 * k) > 2 * r)
			return false;
	}
	return true;
}

static pe_u128
draw_radius(const pe_laplace *two_sided, size_t count, pe_bits *bits)
{
	for (;;)
	{
		pe_u128		r = propose_radius(two_sided, count, bits);

		if (r < PE_CUBE_LIMIT && accept_radius(r, count, bits))
			return r;
	}
}

void
pe_cube_draw(pe_i128 *noise, size_t count, pe_u128 sensitivity, int64_t nano_epsilon, pe_bits *bits)
{
	pe_laplace	two_sided;
	pe_u128		t;
	uint64_t	s;
	pe_u128		r;

	if (!calibrate(count, sensitivity, nano_epsilon, &t, &s))
		pe_bug("noise of the maximum norm cannot be calibrated");
	pe_laplace_init(&two_sided, t, s);
	r = draw_radius(&two_sided, count, bits);
	for (size_t i = 0; i < count; i++)
		noise[i] = (pe_i128) pe_bits_below128(bits, 2 * r + 1) - (pe_i128) r;
	pe_wipe(&r, sizeof(r));
}

void
pe_cube_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano_epsilon, int64_t *released)
{
	pe_i128    *noise;
	pe_bits		bits;

	if (!pe_cube_serves(count, sensitivity, nano_epsilon))
		pe_bug("noise of the maximum norm cannot be calibrated");
	noise = pe_alloc(count, sizeof(*noise));
	pe_bits_init(&bits);
	pe_cube_draw(noise, count, sensitivity, nano_epsilon, &bits);
	for (size_t i = 0; i < count; i++)
		released[i] = pe_saturated_sum(exact[i], noise[i]);
	pe_bits_wipe(&bits);
	pe_wipe(noise, count * sizeof(*noise));
	pe_wipe(exact, count * sizeof(*exact));
	pe_free(noise);
}

/*
 * dice.c
 *	  Random numbers of a generator that is seeded.  See dice.h.
 */
#include "study/dice.h"

#include <math.h>

static uint64_t
rotate(uint64_t x, int by)
{
	return (x << by) | (x >> (64 - by));
}

/* SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), which the authors advise for seeds: no state is all zero. */
static uint64_t
split(uint64_t *state)
{
	uint64_t	z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void
pe_dice_init(pe_dice *d, const uint64_t seed[2])
{
	uint64_t	one = seed[0];
	uint64_t	two = seed[1];

	d->state[0] = split(&one);
	d->state[1] = split(&two);
	d->state[2] = split(&one);
	d->state[3] = split(&two);
	d->has_spare = false;
}

uint64_t
pe_dice_word(pe_dice *d)
{
	uint64_t   *s = d->state;
	uint64_t	word = rotate(s[0] + s[3], 23) + s[0];
	uint64_t	t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return word;
}

double
pe_dice_uniform(pe_dice *d)
{
	return ((double) (pe_dice_word(d) >> 11) + 0.5) * 0x1p-53;
}

/* Marsaglia's polar method. */
double
pe_dice_normal(pe_dice *d)
{
	double		x;
	double		y;
	double		square;
	double		factor;

	if (d->has_spare)
	{
		d->has_spare = false;
		return d->spare;
	}
	do
	{
		x = 2 * pe_dice_uniform(d) - 1;
		y = 2 * pe_dice_uniform(d) - 1;
		square = x * x + y * y;
	} while (square >= 1);
	factor = sqrt(-2 * log(square) / square);
	d->spare = y * factor;
	d->has_spare = true;
	return x * factor;
}

double
pe_dice_exponential(pe_dice *d)
{
	return -log(pe_dice_uniform(d));
}

/* Marsaglia and Tsang, ACM TOMS 26, 2000; below 1 by the power that they give. */
double
pe_dice_gamma(pe_dice *d, double shape)
{
	double		boost = 1;
	double		least;
	double		scale;

	if (shape < 1)
	{
		boost = pow(pe_dice_uniform(d), 1 / shape);
		shape += 1;
	}
	least = shape - 1.0 / 3;
	scale = 1 / sqrt(9 * least);
	for (;;)
	{
		double		x = pe_dice_normal(d);
		double		v = 1 + scale * x;

		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(pe_dice_uniform(d)) < 0.5 * x * x + least * (1 - v + log(v)))
			return boost * least * v;
	}
}

/* By its distribution function: few successes. */
static double
binomial_by_steps(pe_dice *d, double n, double p)
{
	double		odds = p / (1 - p);
	double		mass = exp(n * log1p(-p));
	double		left = pe_dice_uniform(d) - mass;
	double		k = 0;

	while (left > 0 && k < n)
	{
		k++;
		mass *= odds * (n - k + 1) / k;
		left -= mass;
	}
	return k;
}

/* log n! - the leading terms of Stirling's formula, which cancel below. */
static double
log_factorial(double n)
{
	return lgamma(n + 1);
}

/* BTRS of Hormann, "The generation of binomial random variates", J. Stat. Comput. Simul. 46, 1993; n p >= 10. */
static double
binomial_by_rejection(pe_dice *d, double n, double p)
{
	double		spread = sqrt(n * p * (1 - p));
	double		b = 1.15 + 2.53 * spread;
	double		a = -0.0873 + 0.0248 * b + 0.01 * p;
	double		c = n * p + 0.5;
	double		v_r = 0.92 - 4.2 / b;
	double		alpha = (2.83 + 5.1 / b) * spread;
	double		odds = log(p / (1 - p));
	double		mode = floor((n + 1) * p);
	double		height = log_factorial(mode) + log_factorial(n - mode);

	for (;;)
	{
		double		u = pe_dice_uniform(d) - 0.5;
		double		v = pe_dice_uniform(d);
		double		us = 0.5 - fabs(u);
		double		k = floor((2 * a / us + b) * u + c);

		if (k < 0 || k > n)
			continue;
		if (us >= 0.07 && v <= v_r)
			return k;
		v = log(v * alpha / (a / (us * us) + b));
		if (v <= height - log_factorial(k) - log_factorial(n - k) + (k - mode) * odds)
			return k;
	}
}

double
pe_dice_binomial(pe_dice *d, double n, double p)
{
	if (n <= 0 || p <= 0)
		return 0;
	if (p >= 1)
		return n;
	if (p > 0.5)
		return n - pe_dice_binomial(d, n, 1 - p);
	return n * p < 10 ? binomial_by_steps(d, n, p) : binomial_by_rejection(d, n, p);
}

void
pe_dice_multinomial(pe_dice *d, double n, int32_t cells, const double *probability, double *count)
{
	double		left = 1;

	for (int32_t i = 0; i < cells; i++)
	{
		count[i] = i + 1 < cells && left > 0 ? pe_dice_binomial(d, n, fmin(probability[i] / left, 1)) : n;
		n -= count[i];
		left -= probability[i];
	}
}

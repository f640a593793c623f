/*
 * statistics.h
 *	  Chi-square and other tests of samplers, for the unit tests of floor 1.
 *
 * Include cmocka.h first.  Tests that use this fail by chance with a probability
 * below 1e-9 each.  PE_TEST_SCALE scales their sample sizes; it is 1, and 1/100
 * where PG_EPSILON_QUICK is set.
 */
#ifndef PE_TEST_STATISTICS_H
#define PE_TEST_STATISTICS_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "noise/bits.h"

/* Ten times below 1e-9: room for the error of the chi-square approximation. */
#define P_MIN 1e-10

/* P[|N(0,1)| > 6.8] = 1.05e-11 */
#define Z_MAX 6.8

/* A bin of a chi-square test expects at least this many draws. */
#define BIN_MIN 200.0

#define MAX_BINS 1024

/* ----------
 * Statistics
 * ----------
 */
static inline double
test_scale(void)
{
	const char *text = getenv("PE_TEST_SCALE");

	if (text != NULL)
		return atof(text);
	return getenv("PG_EPSILON_QUICK") != NULL ? 0.01 : 1.0;
}

static inline long
scaled(long count)
{
	double		n = (double) count * test_scale();

	return n < 2000.0 ? 2000 : (long) n;
}

/* P[chi-square with df degrees of freedom > x]: series or Lentz's continued fraction */
static inline double
chi_square_tail(double x, double df)
{
	double		a = df / 2.0;
	double		z = x / 2.0;
	double		scale;

	if (z <= 0.0)
		return 1.0;
	scale = exp(a * log(z) - z - lgamma(a));
	if (z < a + 1.0)
	{
		double		term = 1.0 / a;
		double		sum = term;

		for (int i = 1; term > sum * 1e-17; i++)
		{
			term *= z / (a + i);
			sum += term;
		}
		return 1.0 - scale * sum;
	}
	else
	{
		double		b = z + 1.0 - a;
		double		c = 1e300;
		double		d = 1.0 / b;
		double		h = d;

		for (int i = 1; i < 100000; i++)
		{
			double		an = -i * (i - a);
			double		step;

			b += 2.0;
			d = 1.0 / (an * d + b);
			c = b + an / c;
			step = c * d;
			h *= step;
			if (fabs(step - 1.0) < 1e-15)
				break;
		}
		return scale * h;
	}
}

/* The law of a draw, cut into bins: bin b is [edge[b], edge[b + 1]). */
typedef struct law
{
	int			nbins;
	pe_i128		edge[MAX_BINS + 1];
	double		mass[MAX_BINS];
	double		variance;
	double		fourth;			/* central moment */
	double		pending;		/* mass since the last edge */
} law;

static inline void
law_start(law *l)
{
	memset(l, 0, sizeof(*l));
	l->edge[0] = -((pe_i128) 1 << 126);
}

/*
 * Adds a piece of mass that ends before next.  Pieces near the centre are merged
 * up to 1/200, pieces far out (in standard deviations) up to what BIN_MIN asks.
 */
static inline void
law_add(law *l, double mass, pe_i128 next, double distance, long n)
{
	double		least = BIN_MIN / (double) n;

	if (distance < 2.5 && least < 1.0 / 200)
		least = 1.0 / 200;
	l->pending += mass;
	if (l->pending < least || l->nbins == MAX_BINS - 1)
		return;
	l->mass[l->nbins++] = l->pending;
	l->edge[l->nbins] = next;
	l->pending = 0.0;
}

/* What is left goes into the last bin. */
static inline void
law_finish(law *l)
{
	l->mass[l->nbins - 1] += l->pending;
	l->edge[l->nbins] = (pe_i128) 1 << 126;
}

/* Small sigma: the exact probability of every integer. */
static inline void
law_by_sum(law *l, double parameter, long n)
{
	int			reach = (int) (12.0 * sqrt(parameter)) + 12;
	double		total = 0.0;

	law_start(l);
	for (int k = -reach; k <= reach; k++)
		total += exp(-(double) k * k / (2.0 * parameter));
	for (int k = -reach; k <= reach; k++)
	{
		double		mass = exp(-(double) k * k / (2.0 * parameter)) / total;

		l->variance += mass * k * k;
		l->fourth += mass * pow(k, 4.0);
		law_add(l, mass, k + 1, fabs((double) k) / sqrt(parameter), n);
	}
	law_finish(l);
}

static inline double
normal_cdf(double z)
{
	return 0.5 * erfc(-z / sqrt(2.0));
}

/*
 * Large sigma: P[a <= Y < b] is the normal probability of [a - 1/2, b - 1/2) to
 * a relative 1/sigma^2.
 */
static inline void
law_by_normal(law *l, double parameter, long n)
{
	double		sigma = sqrt(parameter);
	double		below = 0.0;

	law_start(l);
	for (int i = -500; i <= 500; i++)
	{
		double		z = i / 100.0;
		pe_i128		edge = (pe_i128) (sigma * z);
		double		cdf = normal_cdf(((double) edge - 0.5) / sigma);

		law_add(l, cdf - below, edge, fabs(z), n);
		below = cdf;
	}
	l->pending += 1.0 - below;
	law_finish(l);
	l->variance = parameter;
	l->fourth = 3.0 * parameter * parameter;
}

static inline int
law_bin(const law *l, pe_i128 y)
{
	int			low = 0;
	int			high = l->nbins;

	while (high - low > 1)
	{
		int			middle = (low + high) / 2;

		if (y < l->edge[middle])
			high = middle;
		else
			low = middle;
	}
	return low;
}

static inline double
chi_square(const long *seen, const double *mass, int nbins, long n)
{
	double		sum = 0.0;

	for (int i = 0; i < nbins; i++)
	{
		double		expected = mass[i] * (double) n;

		sum += ((double) seen[i] - expected) * ((double) seen[i] - expected) / expected;
	}
	return sum;
}

/*
 * Reports a chi-square and asserts that it is neither too large nor too small.
 * Two bins may well hold exactly what is expected.
 */
static inline void
check_chi_square(const char *what, const long *seen, const double *mass, int nbins, long n)
{
	double		sum = chi_square(seen, mass, nbins, n);
	double		tail = chi_square_tail(sum, nbins - 1);

	print_message("%s: n %ld, chi-square %.1f on %d df, p %.3g\n", what, n, sum, nbins - 1, tail);
	assert_true(tail > P_MIN);
	assert_true(nbins == 2 || tail < 1.0 - P_MIN);
}

static inline void
check_z(const char *what, double z)
{
	print_message("    %s z %.2f\n", what, z);
	assert_true(fabs(z) < Z_MAX);
}

/* Makes bits serve exactly these words next. */
static inline void
serve_words(pe_bits *bits, const uint64_t *words, int n)
{
	pe_bits_init(bits);
	bits->unread = n * sizeof(uint64_t);
	memcpy(bits->buffer + PE_BITS_BYTES - bits->unread, words, bits->unread);
}

/* The law of N_Z(0, parameter) for n draws. */
static inline void
law_of(law *l, double parameter, long n)
{
	if (parameter < 1e6)
		law_by_sum(l, parameter, n);
	else
		law_by_normal(l, parameter, n);
}

/* A sampler: one draw from what it prepared. */
typedef pe_i128 (*test_draw) (const void *prepared, pe_bits *bits);

/* Chi-square, mean, variance and correlation of neighbours for n draws of a law. */
static inline void
check_law(const char *name, test_draw draw, const void *prepared, const law *l, long n)
{
	double		sd = sqrt(l->variance);
	double		sum = 0.0;
	double		squares = 0.0;
	double		lagged = 0.0;
	double		last = 0.0;
	long		seen[MAX_BINS] = {0};
	pe_bits		bits;

	pe_bits_init(&bits);
	for (long i = 0; i < n; i++)
	{
		pe_i128		y = draw(prepared, &bits);
		double		z = (double) y / sd;

		seen[law_bin(l, y)]++;
		sum += z;
		squares += z * z;
		lagged += z * last;
		last = z;
	}
	pe_bits_wipe(&bits);
	check_chi_square(name, seen, l->mass, l->nbins, n);
	check_z("mean", sum / sqrt((double) n));
	check_z("variance", (squares - (double) n) / sqrt((double) n * (l->fourth / (l->variance * l->variance) - 1.0)));
	check_z("correlation", lagged / sqrt((double) n));
}

/* The same for N_Z(0, parameter). */
static inline void
check_draws(const char *name, test_draw draw, const void *prepared, double parameter, long n)
{
	law			l;

	law_of(&l, parameter, n);
	check_law(name, draw, prepared, &l, n);
}

/* Low bits of a noised sum are uniform: noise has step 1, whatever its size. */
static inline void
check_low_bits(const char *name, test_draw draw, const void *prepared, long n)
{
	const pe_i128 sum = (pe_i128) 123456789 * 1000000007;
	long		seen[256] = {0};
	double		mass[256];
	static pe_bits bits;

	pe_bits_init(&bits);
	for (long i = 0; i < n; i++)
		seen[(unsigned) (sum + draw(prepared, &bits)) & 255]++;
	pe_bits_wipe(&bits);
	for (int b = 0; b < 256; b++)
		mass[b] = 1.0 / 256;
	check_chi_square(name, seen, mass, 256, n);
}

#endif

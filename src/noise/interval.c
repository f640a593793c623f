/*
 * interval.c
 *	  Intervals that hold the true answer.  See interval.h.
 */
#include "noise/interval.h"

#include <math.h>
#include <string.h>

#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/private.h"

#define PI 3.14159265358979323846

/* The most terms of a series: two Laplace numbers take 3,300, and 8,000 if b is near 2^107. */
#define TERMS 16384

/*
 * Sums of up to so many are distinguished; of more, so many between each power
 * of two and the next.
 */
#define EXACT_SUMMANDS 2048
#define OCTAVE 1024

/* ------------------------------------------------------------------
 * Sums of equal weights
 * ------------------------------------------------------------------
 */

/* sum_k exp(-sigma^2 (t - 2 pi k)^2 / 2), 0 <= t <= pi, sigma >= 0.8: the next terms are below 1e-100. */
static double
theta_of_wide(double sigma, double t)
{
	double		sum = 0;

	for (int k = -3; k <= 3; k++)
	{
		double		x = sigma * (t - 2 * PI * k);

		sum += exp(-x * x / 2);
	}
	return sum;
}

/* sum_k exp(-k^2 / (2 sigma^2)) cos(k t), sigma < 0.8. */
static double
theta_of_narrow(double sigma, double t)
{
	double		sum = 1;

	for (int k = 1; k <= 9; k++)
		sum += 2 * exp(-k * k / (2 * sigma * sigma)) * cos(k * t);
	return sum;
}

static double
characteristic(const pe_confidence *s, double t)
{
	double		ratio;

	if (s->gauss)
		return s->scale < 0.8 ? theta_of_narrow(s->scale, t) / theta_of_narrow(s->scale, 0)
			: theta_of_wide(s->scale, t) / theta_of_wide(s->scale, 0);
	ratio = sin(t / 2) / sinh(0.5 / s->scale);
	return 1 / (1 + ratio * ratio);
}

/* What is left out of a series, and as much of copies. */
static double
left_out(const pe_confidence *s)
{
	return fmin(1e-10, 1e-4 * s->miss);
}

/* What that and rounding can come to: phi is right to 1e-15, its n-th power for n <= 2^20 to 1e-9. */
static double
slack(const pe_confidence *s, double n)
{
	return 2 * left_out(s) + 2e-15 * n + 1e-14;
}

/* x with P[|sum| > x] <= miss, by the bounds of interval.h. */
static double
wide_half(const pe_confidence *s, double n, double miss)
{
	return s->gauss ? s->scale * sqrt(2 * n * log(2 / miss)) : s->scale * sqrt(2 * n) * log(4 / miss);
}

/* M: the copies begin far beyond the widest interval that can be met. */
static double
period(const pe_confidence *s, double n)
{
	return 2 * ceil((wide_half(s, n, s->miss) + wide_half(s, n, left_out(s))) / 2) + 5;
}

static void
grow_wave(pe_confidence *s)
{
	int			room = s->room == 0 ? 64 : 2 * s->room;
	double	   *wave = pe_alloc(room, sizeof(double));

	if (s->room > 0)
		memcpy(wave, s->wave, s->room * sizeof(double));
	pe_free(s->wave);
	s->wave = wave;
	s->room = room;
}

/* Fills the series of a sum of n; returns the number of terms, -1 if there are too many. */
static int
fill_wave(pe_confidence *s, double n, double m)
{
	int			terms = 0;

	for (double j = 1; j <= (m - 1) / 2; j++)
	{
		double		t = 2 * PI * j / m;
		double		power = pow(characteristic(s, t), n);

		if (terms == TERMS)
			return -1;
		if (terms == s->room)
			grow_wave(s);
		s->wave[terms++] = power / sin(t / 2);
		if (power * (1 + log(m / (2 * j))) < left_out(s))
			break;
	}
	return terms;
}

/* P[|sum| <= half] */
static double
probability(const pe_confidence *s, int terms, double m, double half)
{
	double		width = 2 * half + 1;
	double		sum = 0;

	for (int j = terms; j >= 1; j--)
		sum += s->wave[j - 1] * sin(width * PI * j / m);
	return (width + 2 * sum) / m;
}

/* The smallest integer half width, of those up to high, which does. */
static double
least_half(const pe_confidence *s, int terms, double m, double n, double high)
{
	double		low = -1;

	while (high - low > 1)
	{
		double		middle = low + floor((high - low) / 2);

		if (middle <= low || middle >= high)
			break;				/* beyond 2^53 */
		if (probability(s, terms, m, middle) >= 1 - s->miss + slack(s, n))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* P[|Y| > half] = 2 q^(half + 1) / (1 + q), q = exp(-1/b) */
static double
half_of_laplace(double b, double miss)
{
	/* rounded up, so that no rounding makes it too small */
	return ceil(b * log(2 / (miss * (1 + exp(-1 / b)))) * (1 + 1e-15)) - 1;
}

/* -1 if the series is too long, or too coarse for so little. */
static double
half_of_sum(pe_confidence *s, double n)
{
	double		m = period(s, n);
	int			terms;

	if (!s->gauss && n == 1)
		return half_of_laplace(s->scale, s->miss);
	if (2 * slack(s, n) > s->miss)
		return -1;
	terms = fill_wave(s, n, m);
	if (terms < 0)
		return -1;
	return least_half(s, terms, m, n, ceil(fmin(wide_half(s, n, s->miss), s->stderr_ * sqrt(n / s->miss))));
}

/* ------------------------------------------------------------------
 * Any weights
 * ------------------------------------------------------------------
 */

/* Newton's method from below, on a convex function. */
double
pe_normal_half(double miss)
{
	double		x = 1.9599;
	double		step;

	do
	{
		step = (erfc(x * sqrt(0.5)) - miss) / (sqrt(2 / PI) * exp(-x * x / 2));
		x += step;
	} while (step > 1e-13);
	return x * (1 + 1e-12);
}

/* (1 + e)^n <= exp(n e) <= exp(EXCESS) is what s is chosen for. */
#define EXCESS 1e-4

static double
factor_of_gauss(double sigma, double rows, double miss)
{
	double		s2 = log(2.1 * rows / EXCESS) / (2 * PI * PI);
	double		least = sigma * sqrt(2 * log(2 / miss));
	double		tau;

	if (sigma * sigma <= 1.01 * s2)
		return least;
	tau = sqrt(s2 / (1 - s2 / (sigma * sigma)));
	for (double d = 1; d <= 5; d += 0.5)
	{
		double		x = d * tau + hypot(sigma, tau) * pe_normal_half(miss * exp(-EXCESS) * erfc(-d * sqrt(0.5)) / 2);

		least = fmin(least, x);
	}
	return least;
}

/*
 * The line is at V = TANGENT c^2 what g_c is there, and rises by SLOPE / c^2: the
 * largest slope of a chord from there is 0.44312.
 */
#define TANGENT 0.2
#define SLOPE 0.4432

/* E G(E_1), in closed form: the integral of exp(-V) g_c(V) over V < v by parts, and the line beyond. */
static double
laplace_miss(double c)
{
	double		v = TANGENT * c * c;
	double		k = c * sqrt(2);
	double		root = 1 / sqrt(2 * TANGENT);

	return (exp(k) * erfc(root + sqrt(v)) + exp(-k) * erfc(root - sqrt(v))) / 2 + exp(-v) * SLOPE / (c * c);
}

double
pe_laplace_sum_half(double miss)
{
	double		low = 1;
	double		high = 8;

	while (laplace_miss(high) > miss)
		high *= 2;
	while (high - low > 1e-9)
	{
		double		middle = (low + high) / 2;

		if (laplace_miss(middle) > miss)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static double
factor_of_laplace(double b, double miss)
{
	double		least = INFINITY;

	for (double d = 1; d <= 5; d += 0.5)
		least = fmin(least, d + pe_laplace_sum_half(miss * -expm1(-d * d)) * sqrt(2) * b);
	return least;
}

/* Computed when it is first asked for. */
static double
half_of_any(pe_confidence *s, double variance)
{
	if (isinf(s->scale))
		return INFINITY;
	if (s->factor == 0)
		s->factor = fmin(s->stderr_ * sqrt(1 / s->miss),
						 s->gauss ? factor_of_gauss(s->scale, s->rows, s->miss) : factor_of_laplace(s->scale, s->miss));
	return s->factor * sqrt(variance);
}

/* ------------------------------------------------------------------
 * Intervals of a release
 * ------------------------------------------------------------------
 */

/* Where a sum of n has its place, and the number it is rounded up to. */
static int32_t
place_of(int32_t n, double *rounded)
{
	int32_t		step = 1;
	int32_t		octave = 0;

	while (n > (int64_t) EXACT_SUMMANDS * step)
	{
		step *= 2;
		octave++;
	}
	n = (n - 1) / step + 1;
	*rounded = (double) n * step;
	return n + octave * OCTAVE;
}

/*
 * In units of 2^-shift of what the sensitivity is of.  A negative shift: so
 * many digits of wide noise are rounded off.
 */
static double
scale_of(const pe_noise *noise, int shift)
{
	pe_u128		sensitivity = noise->sensitivity << (2 * (shift > 0 ? shift : 0));
	int			lost = shift < 0 ? -shift : 0;
	pe_u128		numerator;
	uint64_t	denominator;

	if (noise->accounting == PE_PURE)
		return pe_laplace_calibrate(noise->sensitivity, noise->nano, &numerator, &denominator)
			? ldexp((double) numerator / (double) denominator, -lost) : INFINITY;
	return pe_gaussian_calibrate(noise->accounting, sensitivity, noise->nano, &numerator, &denominator)
		? ldexp(sqrt((double) numerator / (double) denominator), -lost) : INFINITY;
}

void
pe_confidence_init(pe_confidence *s, const pe_noise *noise, int32_t rows, double miss)
{
	int			shift = pe_noise_shift(noise);
	double		rounded;

	*s = (pe_confidence) {
		.gauss = noise->accounting != PE_PURE, .unit = ldexp(1, -shift),
		.stderr_ = ldexp(pe_noise_stderr(noise), shift),
		.scale = scale_of(noise, shift - noise->lattice), .miss = miss, .rows = rows
	};
	s->known = place_of(rows > 0 ? rows : 1, &rounded) + 1;
}

void
pe_confidence_free(pe_confidence *s)
{
	pe_free(s->half);
	pe_free(s->wave);
	*s = (pe_confidence) {0};
}

double
pe_confidence_half(pe_confidence *s, double variance, int32_t summands)
{
	double		rounded;
	int32_t		place;

	if (variance == 0)
		return 0;
	if (summands == 0 || isinf(s->scale))
		return half_of_any(s, variance) * s->unit;
	place = place_of(summands, &rounded);
	if (place >= s->known)
		pe_bug("an interval of more measurements than there are");
	if (s->half == NULL)
		s->half = pe_alloc(s->known, sizeof(double));
	if (s->half[place] == 0)
		s->half[place] = half_of_sum(s, rounded) + 1;
	if (s->half[place] == 0)
		return half_of_any(s, variance) * s->unit;
	/* an end is a whole number of units: rounding of the variance must not lose it */
	return rint(sqrt(variance / summands)) * (s->half[place] - 1) * s->unit;
}

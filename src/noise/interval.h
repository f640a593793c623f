/*
 * interval.h
 *	  Intervals that hold the true answer with a probability of at least 1 - miss; 95 % where nothing else is said.
 *
 * An estimate errs by S = sum_i v_i Y_i: v public weights, Y_i the independent noise
 * of the measurements, discrete Gaussian (gaussian.h) or discrete Laplace
 * (laplace.h).  An interval is the estimate plus and minus a half width h with
 * P[|S| <= h] >= 1 - miss.  Nothing here looks at data or draws: the law is public.
 *
 * Equal weights, +-g n times: S/g is an integer with the law of a sum of n, and h is
 * g times the smallest integer m that does.  For one Laplace number P is known in
 * closed form.  Otherwise it is summed by its Fourier series: for odd M, with the
 * characteristic function phi > 0 of one number and t_j = 2 pi j / M,
 *
 *	  sum_k P[|S/g - k M| <= m] = (1/M) (2m + 1 + 2 sum_{j=1}^{(M-1)/2} phi(t_j)^n
 *								  sin((2m+1) t_j / 2) / sin(t_j / 2)),
 *
 * which is exact.  phi falls on [0, pi], so the terms beyond J are together at most
 * phi(t_J)^n (1 + log(M / 2J)); M is so large that the copies k <> 0 have as little
 * (P[|S/g| >= y] <= 2 exp(-y^2 / (2 n sigma^2)), 4 exp(-a y / sqrt(2 n))).  The
 * sum of both and of rounding is taken off P.  More than 2048 numbers are rounded up
 * to 11 bits: both laws are symmetric and log-concave, so that a further summand
 * lowers P.
 *
 * Any weights of Euclidean length |v|, of the parameters sigma or a = 1/b:
 *
 *	  Gauss		With normal numbers g_i of deviation tau beside, Y_i + g_i has at most
 *				1 + e times the density of a normal number of variance sigma^2 + tau^2,
 *				e = 2 sum_k exp(-2 pi^2 s^2 k^2), 1/s^2 = 1/sigma^2 + 1/tau^2 (Poisson
 *				summation).  If |S| > x and the sum of the v_i g_i does not point
 *				back by more than d tau |v|, |S + sum v_i g_i| > x - d tau |v|.  Both are
 *				independent, hence P[|S| > x] Phi(d) <= (1 + e)^n
 *				P[|N(0, (sigma^2 + tau^2) |v|^2)| > x - d tau |v|].
 *				Also P[|S| > x] <= 2 exp(-x^2 / (2 sigma^2 |v|^2)) (E exp(u Y_i) is
 *				exp(u^2 sigma^2 / 2) times a ratio of two sums over the integers; the sum
 *				below is the larger one by Poisson summation).
 *	  Laplace	An exponential number is its whole part, geometric, plus an independent
 *				fraction.  So Y_i plus the difference of two fractions is a continuous
 *				Laplace number L_i, and as above, with Hoeffding's bound of the fractions,
 *				P[|S| > x] (1 - exp(-d^2)) <= P[|sum v_i L_i| > x - d |v|].  L_i is normal
 *				given its variance 2 b^2 E_i, E_i exponential, so the right side is the
 *				expectation of g_c(V) = P[|N(0, V)| > c], V = sum (v_i/|v|)^2 E_i, c sqrt(2)
 *				b |v| = x - d |v|.  For a convex G >= g_c it is at most E G(V) <= E G(E_1)
 *				(Jensen: V is a mean of the E_i).  G is g_c up to 0.2 c^2, where g_c is
 *				convex (it is up to c^2 / 3), and from there on a line above it.
 *	  both		P[|S| > x] <= miss from x = sqrt(1 / miss) standard deviations on (Chebyshev).
 *
 * The least of these is taken.
 */
#ifndef PE_NOISE_INTERVAL_H
#define PE_NOISE_INTERVAL_H

#include "noise/noise.h"

/* What an interval misses at most where nothing else is said. */
#define PE_MISS 0.05

/* The intervals of one release. */
typedef struct pe_confidence
{
	bool		gauss;			/* else Laplace */
	double		unit;			/* 2^-shift of the noise, in which the rest is given */
	double		stderr_;		/* of one measurement */
	double		scale;			/* sigma, or b = 1/a */
	double		miss;
	int32_t		rows;
	double		factor;			/* h / |v| for any weights; 0: not computed yet */
	int32_t		known;			/* places of half */
	double	   *half;			/* m + 1 for a sum of so many; 0: not computed yet */
	int			room;
	double	   *wave;			/* room for so many terms of a series */
} pe_confidence;

/*
 * Prepares the intervals of at most rows measurements' noise; all are infinite
 * if it cannot be calibrated.  0 < miss <= 0.05
 */
extern void pe_confidence_init(pe_confidence *intervals, const pe_noise *noise, int32_t rows, double miss);
extern void pe_confidence_free(pe_confidence *intervals);

/*
 * h for weights of squared length variance.  summands: n if all that are not zero are
 * plus or minus one whole number and there are n of them, at most rows; 0 for any weights.
 */
extern double pe_confidence_half(pe_confidence *intervals, double variance, int32_t summands);

/*
 * x with P[|X| > x] = miss <= 0.05 of a normal number of variance 1; and with
 * at most that of any sum of continuous Laplace numbers.
 */
extern double pe_normal_half(double miss);
extern double pe_laplace_sum_half(double miss);

#endif

/*
 * laplace.h
 *	  The discrete Laplace (two-sided geometric) mechanism on integer vectors.
 *
 * Released: y = A x + Y for an integer vector A x (the exact answers) and
 * independent Y_i with P[Y_i = k] proportional to exp(-a |k|) over all integers
 * k, each y_i then brought into the range of int64.
 *
 * Neighbours: the relation of the caller's sensitivity.  The mechanism
 * sees the data only through A x.
 *
 * Sensitivity: sensitivity must be at least the maximum over neighbouring x, x'
 * of || A (x - x') ||_1, computed in integers from the matrix that was applied.
 * Answers and noise live on the same lattice, the integers with step 1.
 *
 * Cost: epsilon-differential privacy with epsilon = nano_epsilon 1e-9 exactly,
 * delta 0.  a = epsilon / sensitivity is a rational and is used as such.  For
 * every output y the two probabilities differ by a factor of at most
 * prod_i exp(a | |y_i - (A x)_i| - |y_i - (A x')_i| |)
 * <= exp(a || A (x - x') ||_1) <= exp(epsilon).  Ghosh, Roughgarden and
 * Sundararajan, "Universally utility-maximizing privacy mechanisms", STOC 2009
 * (the geometric mechanism); Canonne, Kamath, Steinke, arXiv:2004.00010,
 * Algorithm 2 (the sampler).
 *
 * The law is that of all integers: there is no bound on |Y| that a released
 * value could show, since a factor of exp(epsilon) must hold for every output,
 * however unlikely.  Draws beyond 2^126 are brought to 2^126, and the exact
 * answers are below 2^126 - 2^63 in absolute value (strategy.h), so that y_i is
 * then an end of int64 in either case.  That, like all of bringing y_i into the
 * range of int64, is a function of the true noisy value alone: post-processing.
 */
#ifndef PE_NOISE_LAPLACE_H
#define PE_NOISE_LAPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "noise/bits.h"

/* The scale 1/a = t/s must have t below this. */
#define PE_LAPLACE_T_LIMIT ((pe_u128) 1 << 107)

/* A prepared distribution.  It holds no secret and no state. */
typedef struct pe_laplace
{
	pe_u128		t;				/* 1/a = t/s in lowest terms */
	uint64_t	s;
	double		t_double;

	/*
	 * How much is left to the exact comparison, as in pe_gauss: unit tests raise
	 * them (to infinity and true).  The law does not depend on them.
	 */
	double		margin;
	bool		no_table;
} pe_laplace;

/*
 * Prepares P[k] proportional to exp(-|k| s/t), any 0 < t < PE_LAPLACE_T_LIMIT
 * and 0 < s < 2^63; pe_bug otherwise.
 */
extern void pe_laplace_init(pe_laplace *l, pe_u128 t, uint64_t s);

/*
 * One draw, brought into [-2^126, 2^126].  Takes random bits only from bits; does
 * not return if these give out.
 */
extern pe_i128 pe_laplace_draw(const pe_laplace *l, pe_bits *bits);

/*
 * 1/a = sensitivity 10^9 / nano_epsilon = t/s in lowest terms, without rounding.
 * sensitivity is in units of the answers, nano_epsilon in 1e-9 of epsilon.
 * False, with t and s untouched, if sensitivity = 0, nano_epsilon <= 0 or t would
 * reach PE_LAPLACE_T_LIMIT.
 */
extern bool pe_laplace_calibrate(pe_u128 sensitivity, int64_t nano_epsilon, pe_u128 *t, uint64_t *s);

/*
 * The standard deviation of that noise, in units of the answers: a public
 * number.  With q = exp(-a) the variance is 2 q / (1 - q)^2 = 1 / (2 sinh(a/2)^2).
 * Infinity if pe_laplace_calibrate refuses the parameters.
 */
extern double pe_laplace_stderr(pe_u128 sensitivity, int64_t nano_epsilon);

/*
 * Adds that noise to each of the count exact answers, each below 2^126 - 2^63 in
 * absolute value, and stores the sums in released, saturated to the range of
 * int64.
 *
 * On return exact is overwritten with zeros and the buffer of random bits is
 * wiped.  Never calls pe_poll: the caller holds interrupts, as the time of a
 * draw depends on the draw.  pe_bug if pe_laplace_calibrate refuses the
 * parameters.  If the random source fails, this does not return; then nothing is
 * released, and exact is not yet wiped.
 */
extern void pe_laplace_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano_epsilon,
							   int64_t *released);

/*
 * The same, each sum rounded to a multiple of 2^down before it is brought into
 * the range of int64, in units of 2^down.
 */
extern void pe_laplace_release_rounded(pe_i128 *exact, size_t count, pe_u128 sensitivity,
									   int64_t nano_epsilon, int down, int64_t *released);

/* ----------
 * The K-norm mechanism of the maximum norm on integer vectors.
 *
 * Released: y = a + Y for an integer vector a of count numbers, Y with P[Y = v]
 * proportional to exp(-s |v|_inf) over all integer vectors, each y_i then brought into
 * the range of int64.
 *
 * Neighbours: the relation of the caller's sensitivity; sensitivity is at
 * least the maximum over neighbours of |a - a'|_inf.
 *
 * Cost: epsilon-differential privacy with epsilon = nano_epsilon 1e-9 exactly, s =
 * epsilon / sensitivity, a rational that is used as such: the two probabilities of any
 * y differ by a factor of at most exp(s | |y - a|_inf - |y - a'|_inf |) <= exp(s
 * |a - a'|_inf) <= exp(epsilon).  Hardt and Talwar, "On the geometry of differential
 * privacy", STOC 2010 (K-norm mechanism), here on the integers.
 *
 * Sampler (proof in cube.c): a radius R >= 0 with P[R = r] proportional to
 * (2 r + 1)^count exp(-s r), then count numbers uniform in -R .. R.  Radii from
 * PE_CUBE_LIMIT on are drawn again, which conditions the law on R below it.  R leaves
 * that with a probability below exp(-2^30): less than any event a computer meets, as in
 * gauss.h.
 * ----------
 */

/* All radii are below this. */
#define PE_CUBE_LIMIT ((pe_u128) 1 << 125)

/* The most numbers of a vector. */
#define PE_CUBE_COUNT (UINT32_C(1) << 30)

/*
 * Adds that noise to each of the count exact answers, each below 2^126 - 2^63 in
 * absolute value, and stores the sums in released, saturated to the range of int64.
 * sensitivity / epsilon must be at least count / 8 and below 2^90, count at most
 * PE_CUBE_COUNT (else pe_bug): the sampler then accepts a radius with a chance above
 * exp(-8).
 *
 * On return exact is overwritten with zeros and the buffer of random bits is wiped.
 * Never calls pe_poll: the caller holds interrupts, as the time of a draw depends on
 * the draw.
 */
extern void pe_cube_release(pe_i128 *exact, size_t count, pe_u128 sensitivity, int64_t nano_epsilon, int64_t *released);

/* One vector of noise, with bits of the caller's. */
extern void pe_cube_draw(pe_i128 *noise, size_t count, pe_u128 sensitivity, int64_t nano_epsilon, pe_bits *bits);

/* Whether it serves this. */
extern bool pe_cube_serves(size_t count, pe_u128 sensitivity, int64_t nano_epsilon);

/* The largest nano_epsilon that it serves for count >= 1 numbers and a sensitivity of 1 .. 2^63. */
extern int64_t pe_cube_most(size_t count, uint64_t sensitivity);

#endif

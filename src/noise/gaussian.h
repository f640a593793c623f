/*
 * gaussian.h
 *	  The Gaussian mechanism on integer vectors.
 *
 * Released: y = A x + Y for an integer vector A x (the exact answers) and
 * independent Y_i ~ N_Z(0, sigma^2), each y_i then brought into the range of
 * int64.
 *
 * Neighbours: the relation of the caller's sensitivity.  The mechanism
 * sees the data only through A x.
 *
 * Sensitivity: sensitivity_sq must be at least the maximum over neighbouring
 * x, x' of || A (x - x') ||_2^2, computed in integers from the matrix that was
 * applied.  Answers and noise live on the same lattice, the integers with step
 * 1: noise in multiples of 2 or more would leave the low bits of A x in clear.
 *
 * Cost, PE_ZCDP: rho-zCDP with rho = nano_rho 1e-9 exactly.  sigma^2 = sensitivity_sq /
 * (2 rho) is a rational and is used as such.  Canonne, Kamath, Steinke,
 * "The Discrete Gaussian for Differential Privacy", arXiv:2004.00010, Theorem 4
 * (one answer) and Theorem 14 (vectors): if sum_i (a_i - a'_i)^2 / sigma^2 <=
 * 2 rho for all neighbours, integers a = A x, a' = A x', then a + Y is rho-zCDP.
 *
 * Cost, PE_GDP: mu-Gaussian DP with mu^2 / 2 = rho, up to a factor of exp(+-xi) of each probability.
 * sigma^2 = sensitivity_sq / (2 rho) + 4.  With less, the claim is false: at sigma = 1 a shift by
 * one has mu = 1.046.  Lemma: let sigma1^2 = sigma^2 - eta^2, eta = 2, and let K round each
 * coordinate y at random to the integer z with probability proportional to
 * exp(-(z - y)^2 / (2 eta^2)).  For every integer vector a of d numbers and every z,
 *
 *		P[a + Y = z] = P[K(a + N(0, sigma1^2 I)) = z] exp(theta),  |theta| <= xi = 3 d e0,
 *
 * e0 = 2 exp(-2 pi^2 eta^2) / (1 - exp(-2 pi^2 eta^2)) < 1.1e-34.  Proof.  By Poisson summation
 * the sum over integers w of exp(-(w - y)^2 / (2 eta^2)) is eta sqrt(2 pi) (1 + 2 sum_k
 * exp(-2 pi^2 eta^2 k^2) cos(2 pi k y)), within a factor 1 +- e0 of eta sqrt(2 pi) for every y; so
 * is the normaliser of Y with sigma in place of eta.  What is left is the convolution of two
 * Gaussian densities.  So a + Y is, up to the factor, post-processing of continuous noise of
 * variance sigma1^2 = sensitivity_sq / (2 rho), whose mu^2 is 2 rho (Dong, Roth and Su, arXiv
 * 1905.02383, Theorem 2.7).  (epsilon, delta) becomes (epsilon + 2 xi, exp(xi) delta); what all
 * the xi of a budget add up to is taken off its limit (accounting/gdp.c).  Coordinates may have
 * variances of their own, as in Theorem 14.
 *
 * The samplers are exact (gauss.h, alias.h).  Bringing y_i into the range of
 * int64 is a function of y_i alone: post-processing, which costs nothing and
 * hides only what would not fit.
 */
#ifndef PE_NOISE_GAUSSIAN_H
#define PE_NOISE_GAUSSIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accounting/conversion.h"
#include "base/mem.h"

/*
 * From this many answers on the noise is drawn from a table (alias.h), if its
 * width allows one; below, without (gauss.h).  The law is the same.
 *
 * Measured by test/bench/bench_sampler.c with RAND_bytes: a table costs 6.4
 * microseconds and saves 40 ns per draw, which pays from 145 to 170 draws on for
 * sigma from 1e4 to 2^50 (140 at 100, 60 at 10, 14 at 1); with getrandom(2),
 * from 110.  Near the break-even either choice costs a few microseconds at most.
 */
#define PE_GAUSSIAN_TABLE_COUNT 180

/*
 * sigma^2 = sensitivity_sq 10^9 / (2 nano_rho), and 4 more for PE_GDP, = p/q in lowest terms, without
 * rounding.  sensitivity_sq is in squared units of the answers, nano_rho in
 * 1e-9 of zCDP.  False, with p and q untouched, if sensitivity_sq = 0,
 * nano_rho <= 0 or p would reach 2^127.
 */
extern bool pe_gaussian_calibrate(pe_accounting accounting, pe_u128 sensitivity_sq,
								  int64_t nano_rho, pe_u128 *p, uint64_t *q);

/*
 * The standard deviation of that noise, in units of the answers: a public
 * number.  Infinity if pe_gaussian_calibrate refuses the parameters.
 */
extern double pe_gaussian_stderr(pe_accounting accounting, pe_u128 sensitivity_sq, int64_t nano_rho);

/*
 * Adds noise of that sigma^2 to each of the count exact answers and stores the
 * sums in released, saturated to the range of int64.
 *
 * On return exact is overwritten with zeros and the buffer of random bits is
 * wiped.  Never calls pe_poll: the caller holds interrupts, as the time of a
 * draw depends on the draw.  pe_bug if pe_gaussian_calibrate refuses the
 * parameters.  If the random source fails, this does not return; then nothing is
 * released, and exact is not yet wiped.
 */
extern void pe_gaussian_release(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq,
								int64_t nano_rho, int64_t *released);

/*
 * The same, each sum rounded to a multiple of 2^down before it is brought into the range of int64, in units of
 * 2^down: a function of the noisy value, post-processing.
 */
extern void pe_gaussian_release_rounded(pe_accounting accounting, pe_i128 *exact, size_t count, pe_u128 sensitivity_sq,
										int64_t nano_rho, int down, int64_t *released);

#endif

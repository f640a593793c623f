/*
 * mechanisms.h
 *	  What single mechanisms cost, and how much noise a cost requires.
 *
 * Losses and noise scales are rounded up, under the assumptions stated in
 * zcdp.h.  Arguments out of range give infinity (or delta 1): a price that
 * no budget can pay and that promises nothing.
 */
#ifndef PE_ACCOUNTING_MECHANISMS_H
#define PE_ACCOUNTING_MECHANISMS_H

#include <stdint.h>

#include "base/mem.h"

/* The largest order that pe_rdp_subsampled_gaussian serves; its time is linear in alpha. */
#define PE_ALPHA_MAX			16384

/*
 * The smallest rho at which discrete Laplace noise, P[k] proportional to
 * exp(-a |k|) on the integers, is rho-zCDP for a query with the given integer
 * (L1) sensitivity D: with q = exp(-a),
 *
 *		rho = a (D - 2 q (1 - q^D) / (1 - q^2)).
 *
 * a >= 0, D >= 0; 0 if either is 0.  It is the Kullback-Leibler divergence of
 * two copies D apart, the limit of D_alpha / alpha as alpha falls to 1, where
 * that ratio is largest.  For D = 1 it is a tanh(a / 2), the value of
 * pe_pure_to_zcdp; for a D -> epsilon with a -> 0 it is epsilon + exp(-epsilon) - 1, that
 * of continuous Laplace noise (Harrison and Manurangsi, arXiv 2510.25746).
 *
 * Why the limit is the largest.  With P and Q the two copies and L = ln(P/Q), let h(s) =
 * ln sum sqrt(P Q) exp(s L), an even function with h(1/2) = 0, D_alpha = h(alpha - 1/2) /
 * (alpha - 1) and h'(1/2) = rho.  If h is concave in s^2, it lies below its tangent
 * at s = 1/2, h(s) <= (s^2 - 1/4) rho, which says D_alpha <= alpha rho.  And it is:
 * between the copies sqrt(P Q) is constant and L takes the values a (D - 2j) once each, 0 <= j <= D,
 * the outer ones with weight c = 1 / (1 - q), for all beyond them.  So exp(h) is, up to a
 * factor, c z^D + z^(D-1) + ... + z + c at z = exp(2 a s), times z^(-D/2).  Multiplied by
 * z - 1, that polynomial is z^D (c z - (c - 1)) - (c - (c - 1) z), whose roots are where a
 * Blaschke product of degree D + 1 (zeros 0 and q) is 1: on the unit circle.  So
 * exp(h) has zeros at imaginary s alone and is a constant times a product of factors 1 +
 * s^2 / b^2, each of which has a logarithm concave in s^2.
 *
 * A vector of such noises costs no more, D being its L1 sensitivity: divergences of
 * independent coordinates add up, and rho(D), which is convex and grows with D, is 0 at
 * 0, so that the sum of rho(v_i) is at most rho(sum of |v_i|) <= rho(D).
 */
extern double pe_discrete_laplace_rho(double a, int64_t sensitivity);

/*
 * In nano-units, rounded up, what discrete Laplace noise for this L1 sensitivity costs at a
 * pure epsilon of nano_epsilon 1e-9 (noise/laplace.h), and an exponential mechanism
 * whose range is bounded by so much; never more than pe_nano_rho_of_pure, and as that out
 * of range.
 */
extern int64_t pe_nano_rho_of_laplace(int64_t nano_epsilon, pe_u128 sensitivity);
extern int64_t pe_nano_rho_of_range(int64_t nano_eta);

/*
 * The smallest rho such that every mechanism of bounded range eta is rho-zCDP:
 * with y = eta / (exp(eta) - 1), rho = y - 1 - ln y.  eta >= 0; 0 for 0.
 *
 * The exponential mechanism with P(i) proportional to exp(score_i / tau) and
 * scores of sensitivity D has eta = 2 D / tau, or D / tau if the scores are
 * monotone.  Permute-and-flip has no such bound; it costs pe_pure_to_zcdp.
 *
 * Harrison and Manurangsi, arXiv 2510.25746; at most eta^2 / 8 of Cesar and
 * Rogers, arXiv 2004.07223.
 */
extern double pe_bounded_range_rho(double eta);

/*
 * The smallest sigma, rounded up, at which CONTINUOUS Gaussian noise of standard
 * deviation sigma on a query of sensitivity 1 is (epsilon, delta)-DP:
 *
 *		Phi(1/(2 sigma) - epsilon sigma)
 *			- exp(epsilon) Phi(-1/(2 sigma) - epsilon sigma) <= delta.
 *
 * epsilon >= 0, 0 < delta < 1; infinity for arguments out of range.
 * Balle and Wang, arXiv 1805.06530, Theorem 8.
 *
 * TRAP: this sigma is NOT safe for the DISCRETE Gaussian.  At epsilon = 1,
 * delta = 1e-6 the discrete Gaussian with this sigma has delta 1.01966e-6.  The
 * discrete Gaussian is calibrated through rho (sensitivity^2 / (2 sigma^2)).
 */
extern double pe_gaussian_sigma(double epsilon, double delta);

/*
 * The Renyi divergence bound of integer order alpha for Gaussian noise of
 * standard deviation sigma times the sensitivity, on a Poisson sample that takes
 * each unit with probability q; neighbours differ by adding or removing a unit.
 * Rounded up.  0 <= q <= 1, sigma > 0, 2 <= alpha <= PE_ALPHA_MAX.
 *
 * Mironov, Talwar and Zhang, arXiv 1908.10530, section 3.3.  Not valid for
 * shuffling, for samples of fixed size, or for replacing a unit.
 */
extern double pe_rdp_subsampled_gaussian(double q, double sigma, int alpha);

/*
 * A pure step on a random batch: every unit joins it with probability q.  If the step
 * without sampling is e-DP when a unit is added or removed, with sampling it is
 * ln(1 + q (exp(e) - 1))-DP: with P0 and P1 the laws without and with the unit, given
 * the batch of the others, r = P1 / P0 in [exp(-e), exp(e)],
 *
 *		(1 - q + q r) <= 1 + q (exp(e) - 1), and
 *		1 / (1 - q + q r) <= 1 / (1 - q + q exp(-e)) <= 1 - q + q exp(e),
 *
 * since (1 - q + q / x) (1 - q + q x) = 1 + q (1-q) (x + 1/x - 2) >= 1; and a ratio that is
 * bounded for every batch of the others is bounded for their mixture.  (Li, Qardaji and
 * Su, ASIACCS 2012; Balle, Barthe and Gaboardi, arXiv 1807.01647, Theorem 8.  Kuru et al.
 * use a theorem for batches of fixed size and units that are replaced, whose number is
 * public.)  Not for substitute: there the unit is in the batch in both cases.
 *
 * The largest nano without sampling, rounded down, of a step that may cost nano on a sample
 * that every unit joins with probability at most q, 0 < q <= 1.
 */
extern int64_t pe_unsampled_epsilon(int64_t nano, double q);

#endif

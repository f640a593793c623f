/*
 * conversion.h
 *	  What a loss in one kind of privacy is in another, and the ledger's integer
 *	  units.
 *
 * A ledger counts one number of each kind of accounting, in whole units of
 * 1e-9:
 *
 *	  pure	epsilon of epsilon-differential privacy.
 *	  zcdp	rho of rho-zCDP: for every pair of neighbouring data sets and every
 *			alpha > 1 the Renyi divergence of order alpha of the outputs is at
 *			most alpha rho (Bun and Steinke, 2016).
 *	  gdp	rho = mu^2 / 2 of mu-Gaussian DP: no test distinguishes the outputs
 *			of neighbours better than N(0, 1) from N(mu, 1) (Dong, Roth and Su,
 *			2022).  Gaussian noise of sensitivity D costs D^2 / (2 sigma^2) in
 *			both (of discrete noise: noise/gaussian.h); it is what rho is worth
 *			that differs.
 *
 * delta is counted in units of 1e-18 (atto), so that sums are exact.
 *
 * All results that state a loss are rounded up and all results that state a
 * permission are rounded down.  The bounds behind this assume IEEE 754 doubles
 * rounded to nearest and a libm whose exp, expm1, log, log1p, sinh, tanh, erf
 * and erfc err by at most 8 units in the last place; they also cover that a
 * double stands for a decimal number (such as a number of nano-units) which it
 * only approximates.  Arguments out of range give a price that no budget can
 * pay (infinity, or -1), or a permission of nothing.
 */
#ifndef PE_ACCOUNTING_CONVERSION_H
#define PE_ACCOUNTING_CONVERSION_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

typedef enum pe_accounting
{
	PE_ZCDP,
	PE_GDP,
	PE_PURE
} pe_accounting;

/* "pure", "zcdp", "gdp"; and back: false for another name. */
extern const char *pe_accounting_name(pe_accounting accounting);
extern bool pe_accounting_named(const char *name, pe_accounting *accounting);

/* Half a unit in the last place of 1: the relative error of one rounding. */
#define PE_ROUNDOFF			(DBL_EPSILON / 2)

/* The relative error of one call of libm that the bounds allow for. */
#define PE_LIBM_ERROR		(8 * DBL_EPSILON)

/*
 * The smallest double that is certain to be above value + error, for error >= 0
 * in the unit of value.  NaN gives infinity: what could not be computed
 * promises nothing.
 */
extern double pe_round_up(double value, double error);

/*
 * Rounds up a value that was reached by at most a few calls of libm and twenty
 * operations without cancellation: its relative error is below 128 roundings.
 */
extern double pe_round_up_relative(double value);

/* ----------
 * Between rho and (epsilon, delta)
 * ----------
 */

/*
 * The epsilon for which rho implies (epsilon, delta)-DP, but never less than rho itself,
 * rounded up: pe_zcdp_epsilon or pe_gdp_epsilon.  rho >= 0 in natural units, 0 < delta < 1.
 * 0 for rho = 0; infinity for arguments out of range and for PE_PURE.
 *
 * The floor at rho makes the result strictly increasing.  Without it epsilon
 * would be 0 for every small rho (a tiny rho is (0, delta)-DP), and no rho could
 * be found again from its epsilon.  It only matters where the smallest epsilon
 * is below rho, which for delta <= 0.1 needs rho < 0.04.
 */
extern double pe_epsilon_of_rho(pe_accounting accounting, double rho, double delta);

/*
 * The largest number r of nano-units with
 * pe_epsilon_of_rho(accounting, r * 1e-9, delta) <= epsilon; 0 if there is none or an
 * argument is out of range (epsilon > 0, 0 < delta < 1).
 *
 * For epsilon <= 1e5 and delta <= 1/2 it inverts pe_epsilon_of_rho exactly:
 * the r that an epsilon was computed from is the r that is found.  The argument
 * is with the functions' code.
 */
extern int64_t pe_nano_rho_of_epsilon(pe_accounting accounting, double epsilon, double delta);

/*
 * zCDP: the smallest epsilon that Canonne, Kamath and Steinke (arXiv 2004.00010,
 * Corollary 13) give over all orders, as above.
 */
extern double pe_zcdp_epsilon(double rho, double delta);

/*
 * Gaussian DP: the epsilon with delta(epsilon; mu) = delta, as above, where mu = sqrt(2 rho) and
 *
 *		delta(epsilon; mu) = Phi(-epsilon / mu + mu / 2) - exp(epsilon) Phi(-epsilon / mu - mu / 2)
 *
 * (Balle and Wang, arXiv 1805.06530, Theorem 8; Dong, Roth and Su, arXiv 1905.02383,
 * Corollary 2.13).  The rounding leaves room for what discrete noise differs from
 * continuous noise (noise/gaussian.h), for 10^11 numbers and more over the life of a budget (gdp.c).
 */
extern double pe_gdp_epsilon(double rho, double delta);

/* pe_nano_rho_of_epsilon of each. */
extern int64_t pe_zcdp_nano_rho(double epsilon, double delta);
extern int64_t pe_gdp_nano_rho(double epsilon, double delta);

/*
 * The epsilon, at delta, of a mechanism whose Renyi divergence of order 1 + t is
 * at most tau; t > 0, tau >= 0, 0 < delta < 1.  Rounded up; it may be negative,
 * which means that epsilon 0 holds with room to spare.  Any t is valid; the
 * caller looks for a good one.  Infinity for arguments out of range.
 *
 * Canonne, Kamath and Steinke, arXiv 2004.00010, Proposition 12.  The order is
 * given less 1 so that the divisor t is exact.
 */
extern double pe_renyi_epsilon(double tau, double t, double delta);

/* ----------
 * Units
 * ----------
 */

/*
 * rho (or a pure epsilon), as somebody wrote it, in nano-units rounded down; -1
 * if it is negative, not finite, or beyond int64.
 *
 * A double is read as the decimal number it was most likely typed as: of its
 * correctly rounded decimals with 15, 16 and 17 digits, the first that reads
 * back as the same double.  So 0.3, whose double lies just below, gives
 * 300000000.  That is honest because the integer that comes out is both what
 * the noise is calibrated to and what is charged: reading the double otherwise
 * would change the request, never the truth of its price.
 */
extern int64_t pe_nano_rho_down(double rho);

/* delta, as somebody wrote it, in atto-units rounded down; otherwise as pe_nano_rho_down. */
extern int64_t pe_atto_down(double delta);

/*
 * A computed loss (rho, or a pure epsilon) in nano-units rounded up; -1 if it is
 * negative, not finite, or beyond int64.
 *
 * Here the double is not what somebody typed but an upper bound, so its exact
 * binary value counts: 0.1 gives 100000001, because the double 0.1 is above the
 * number.
 */
extern int64_t pe_nano_up(double cost);

/* ----------
 * What mechanisms with a loss of another kind cost where rho is counted
 * ----------
 */

/*
 * What every pure mechanism of nano_epsilon 1e-9 costs in nano-units of rho, rounded up.
 * 0 for 0, -1 for less and where it does not fit.
 *
 * zCDP: epsilon tanh(epsilon / 2), attained by randomised response; below min(epsilon^2 / 2,
 * epsilon) of Bun and Steinke, 2016, Proposition 3.3.
 *
 * Gaussian DP: mu = 2 Phi^-1(e^epsilon / (1 + e^epsilon)).  The trade-off curve of randomised
 * response, below which no epsilon-DP mechanism falls, has one vertex inside; G_mu passes
 * through it and is convex, so it lies below (Dong, Roth and Su, arXiv 1905.02383).
 */
extern int64_t pe_nano_rho_of_pure(pe_accounting accounting, int64_t nano_epsilon);

/*
 * The largest number of nano-units of a pure epsilon that costs at most nano_rho;
 * 0 if there is none.
 */
extern int64_t pe_nano_pure_of_rho(pe_accounting accounting, int64_t nano_rho);

/*
 * The same cost of discrete Laplace noise for this L1 sensitivity (noise/laplace.h), and of an
 * exponential mechanism whose range is bounded by so much; never more than
 * pe_nano_rho_of_pure, and as that out of range.
 *
 * Gaussian DP: Laplace noise costs what every pure mechanism does.  A bounded range of eta
 * costs mu = 2 Phi^-1(e^(eta/2) / (1 + e^(eta/2))): the two laws with ln q/p = t and
 * ln (1-q)/(1-p) = t - eta are the worst for a t (Dong, Durfee and Rogers, arXiv
 * 1909.13830), and Phi^-1(q) - Phi^-1(p) is largest at t = eta/2.  Proof: logit q - logit p = eta,
 * so it is largest in the middle if Phi^-1 of the logistic function, which is odd, is concave
 * above 0: if Phi(x) Phi(-x) / phi(x) falls for x > 0, or, with P = Phi - 1/2, if G = 2 P phi -
 * x / 4 + x P^2 > 0.  G is 0 at 0 and at infinity, and G' = 2 phi^2 - 1/4 + P^2 begins above 0; it first
 * falls, then rises to 0, as G'' = 2 phi (P - 2 x phi) changes its sign once: P / (x phi) rises,
 * since (x phi - P + x^2 P)' = 2 x P.  So G rises, then falls.
 */
extern int64_t pe_nano_rho_of_laplace(pe_accounting accounting, int64_t nano_epsilon, pe_u128 sensitivity);
extern int64_t pe_nano_rho_of_range(pe_accounting accounting, int64_t nano_eta);

/*
 * Gaussian DP: the largest pure epsilon that costs at most rho in natural units, rounded down;
 * 0 out of range.  A range of twice as much costs the same.
 */
extern double pe_gdp_pure(double rho);

/* pe_nano_rho_of_pure of Gaussian DP. */
extern int64_t pe_gdp_nano_of_pure(int64_t nano_epsilon);

/* epsilon tanh(epsilon / 2) of zCDP in natural units, rounded up; 0 for 0. */
extern double pe_pure_to_zcdp(double epsilon);

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
 * pe_pure_to_zcdp; for a D -> epsilon with a -> 0 it is epsilon + exp(-epsilon)
 * - 1, that of continuous Laplace noise (Harrison and Manurangsi, arXiv
 * 2510.25746).
 *
 * Why the limit is the largest.  With P and Q the two copies and L = ln(P/Q),
 * let h(s) = ln sum sqrt(P Q) exp(s L), an even function with h(1/2) = 0,
 * D_alpha = h(alpha - 1/2) / (alpha - 1) and h'(1/2) = rho.  If h is concave in
 * s^2, it lies below its tangent at s = 1/2, h(s) <= (s^2 - 1/4) rho, which
 * says D_alpha <= alpha rho.  And it is: between the copies sqrt(P Q) is
 * constant and L takes the values a (D - 2j) once each, 0 <= j <= D, the outer
 * ones with weight c = 1 / (1 - q), for all beyond them.  So exp(h) is, up to a
 * factor, c z^D + z^(D-1) + ... + z + c at z = exp(2 a s), times z^(-D/2).
 * Multiplied by z - 1, that polynomial is z^D (c z - (c - 1)) - (c - (c - 1)
 * z), whose roots are where a Blaschke product of degree D + 1 (zeros 0 and q)
 * is 1: on the unit circle.  So exp(h) has zeros at imaginary s alone and is a
 * constant times a product of factors 1 + s^2 / b^2, each with a logarithm
 * concave in s^2.
 *
 * A vector of such noises costs no more, D being its L1 sensitivity:
 * divergences of independent coordinates add up, and rho(D), which is convex
 * and grows with D, is 0 at 0, so that the sum of rho(v_i) is at most rho(sum
 * of |v_i|) <= rho(D).
 */
extern double pe_discrete_laplace_rho(double a, int64_t sensitivity);

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

/* ----------
 * Noise for (epsilon, delta), and sampling
 * ----------
 */

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

/* The largest order that pe_rdp_subsampled_gaussian serves; its time is linear in alpha. */
#define PE_ALPHA_MAX			16384

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

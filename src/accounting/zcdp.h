/*
 * zcdp.h
 *	  Zero-concentrated differential privacy (zCDP): its conversion to and from
 *	  (epsilon, delta), and the ledger's integer units.
 *
 * A mechanism is rho-zCDP if, for every pair of neighbouring data sets and
 * every alpha > 1, the Renyi divergence of order alpha of its outputs is at
 * most alpha * rho (Bun and Steinke, 2016).  The ledger counts rho in integer
 * nano-units (1e-9) and delta in integer atto-units (1e-18), so that sums are
 * exact.
 *
 * All results that state a loss are rounded up and all results that state a
 * permission are rounded down.  The bounds behind this assume IEEE 754 doubles
 * rounded to nearest and a libm whose exp, expm1, log, log1p, sinh, tanh and
 * erfc err by at most 8 units in the last place; they also cover that a double
 * stands for a decimal number (such as a number of nano-units) which it only
 * approximates.
 */
#ifndef PE_ACCOUNTING_ZCDP_H
#define PE_ACCOUNTING_ZCDP_H

#include <float.h>
#include <stdint.h>

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
 * The epsilon, at delta, of a mechanism whose Renyi divergence of order 1 + t is
 * at most tau; t > 0, tau >= 0, 0 < delta < 1.  Rounded up; it may be negative,
 * which means that epsilon 0 holds with room to spare.  Any t is valid; the
 * caller looks for a good one.  Infinity for arguments out of range.
 *
 * Canonne, Kamath and Steinke, arXiv 2004.00010, Proposition 12.  The order is
 * given less 1 so that the divisor t is exact.
 */
extern double pe_renyi_epsilon(double tau, double t, double delta);

/*
 * The epsilon for which rho-zCDP implies (epsilon, delta)-DP: the smallest that
 * Canonne, Kamath and Steinke (arXiv 2004.00010, Corollary 13) give over all
 * orders, but never less than rho itself, rounded up.
 *
 * rho >= 0 in natural units, 0 < delta < 1.  0 for rho = 0; infinity for
 * arguments out of range.
 *
 * The floor at rho makes the result strictly increasing.  Without it epsilon
 * would be 0 for every small rho (a tiny rho is (0, delta)-DP), and no rho could
 * be found again from its epsilon.  It only matters where the smallest epsilon
 * is below rho, which for delta <= 0.1 needs rho < 0.02.
 */
extern double pe_zcdp_epsilon(double rho, double delta);

/*
 * The largest number r of nano-units with
 * pe_zcdp_epsilon(r * 1e-9, delta) <= epsilon; 0 if there is none or an
 * argument is out of range (epsilon > 0, 0 < delta < 1).
 *
 * For epsilon <= 1e5 and delta <= 1/2 it inverts pe_zcdp_epsilon exactly:
 * the r that an epsilon was computed from is the r that is found.  The argument
 * is with the function's code.
 */
extern int64_t pe_nano_rho_of_epsilon(double epsilon, double delta);

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

/*
 * The smallest rho such that every epsilon-DP mechanism is rho-zCDP:
 * epsilon tanh(epsilon / 2), attained by randomised response, rounded up.
 * epsilon >= 0; 0 for 0; infinity for arguments out of range.
 *
 * It is the Kullback-Leibler divergence of randomised response; below
 * min(epsilon^2 / 2, epsilon) of Bun and Steinke, 2016, Proposition 3.3.
 */
extern double pe_pure_to_zcdp(double epsilon);

/*
 * What a pure mechanism of nano_epsilon 1e-9 costs in nano-units of rho: the
 * above, rounded up.  -1 for nano_epsilon < 0 and where it does not fit.
 */
extern int64_t pe_nano_rho_of_pure(int64_t nano_epsilon);

/*
 * The largest number of nano-units of a pure epsilon that costs at most nano_rho;
 * 0 if there is none.
 */
extern int64_t pe_nano_pure_of_rho(int64_t nano_rho);

#endif

/*
 * measure.h
 *	  Noisy results of passes: the only way from the rows to a private fit, with
 *	  select.h.
 *
 * Released: the integer sums of a pass plus discrete noise of step 1 on their own
 * lattice, as real numbers.
 *
 * Neighbours and k: those of the problem.  What a unit gives to a sum is the sum over
 * its rows, any multiset of at most k of them, none included.  add_remove compares
 * that with nothing, substitute with what another such multiset gives.
 *
 * Sensitivity, in integers, from the pass (pass.h).  R^2 is the largest |x|_2^2.  Where the
 * pass clips units (glm/unit_clip.h, with the proof) k is 1 in all but the count.
 *
 *	  gradient	each row's share is at most C long, so a unit's is at most k C long by
 *				the triangle inequality, and two units' differ by 2 k C at most.
 *	  moment	a unit gives A = sum_i x_i x_i', of Frobenius norm at most sum_i |x_i|^2
 *				<= k R^2.  Two units' A and B are both positive semidefinite, so that
 *				tr(A B) >= 0 and |A - B|^2 = |A|^2 + |B|^2 - 2 tr(A B) <= 2 (k R^2)^2:
 *				sqrt(2) k R^2, however many rows each has.  For one row each that is
 *				|xx' - zz'|^2 = |x|^4 + |z|^4 - 2 (x.z)^2.
 *	  label		y x with |y| <= 1 (PE_ONE): as a gradient with C = R PE_ONE.
 *	  count		k, for substitute too: both counts are in [0, k].
 *
 * In the L1 norm likewise, with twice as much for substitute in all but the count;
 * a row's share of the moment is sum_{i>=j} |x_i x_j| = (|x|_1^2 + |x|_2^2) / 2.
 *
 * Cost: nano, taken from problem->allowance, of rho or of a pure epsilon (discrete Laplace, laplace.h).  rho by
 * Canonne, Kamath, Steinke, arXiv:2004.00010, Theorem 14, which has a sigma_j for
 * each coordinate: rho suffices if sum_j delta_j^2 / sigma_j^2 <= 2 rho for all
 * neighbours.  Of a moment the off-diagonal entries, which are released once but
 * stand twice in A, have half of the variance of the diagonal ones: the sum is then
 * |A - B|_F^2 / sigma^2, and sigma^2 = (k R^2)^2 / (2 rho) does.
 */
#ifndef PE_FIT_MEASURE_H
#define PE_FIT_MEASURE_H

#include "fit/fit.h"

/*
 * C = clip in units of a feature as the integer that a gradient pass takes
 * (PE_L2: squared), rounded down, at least 1.
 */
extern pe_u128 pe_clip_integer(double clip, int32_t residual_bits, pe_norm norm);

/*
 * A gradient pass: sets kind, loss, clip (no more than any row can have) and norm from
 * the problem, and memory for weights.  Free it with pe_gradient_free.
 */
extern void pe_gradient_pass(const pe_fit_problem *problem, double clip, pe_pass *pass);
extern void pe_gradient_free(pe_pass *pass);

/*
 * The noisy gradient of the sum of the losses at w; nano: what it costs (of rho and a pass
 * that samples, what it would cost without).  Every call draws the coins of a sample anew.
 */
extern void pe_measure_gradient(const pe_fit_problem *problem, pe_source *source, pe_pass *pass,
								const double *w, int64_t nano, double *gradient);

/* The standard deviation of an entry of that; not of a pass that samples. */
extern double pe_gradient_noise(const pe_fit_problem *problem, const pe_pass *pass, int64_t nano);

/*
 * More noise-free budget for sums that are there already is not a thing: a second
 * measurement of the same sums is a measurement (agd).  Runs the pass once and keeps
 * its exact sums until they are wiped.
 */
typedef struct pe_exact_sums
{
	size_t		count;
	pe_i128    *sums;
} pe_exact_sums;

extern void pe_exact_run(pe_source *source, const pe_pass *pass, pe_exact_sums *exact);
extern void pe_exact_wipe(pe_exact_sums *exact);

/* A measurement of exact gradient sums, which stay. */
extern void pe_measure_sums(const pe_fit_problem *problem, const pe_pass *pass, const pe_exact_sums *exact,
							int64_t nano, double *gradient);

/*
 * The noisy second moment sum x x' as a full symmetric matrix, columns x columns;
 * *noise: the standard deviation of a diagonal entry.  Units are not clipped, k counts: as a
 * bound of a curvature it must not be too small.
 */
extern void pe_measure_moment(const pe_fit_problem *problem, pe_source *source, int64_t nano,
							  double *moment, double *noise);

/*
 * The same and, from the same pass, the noisy sum of y x, y the label in [-1, 1] (of
 * classes -1 and 1) and x in units of PE_ONE, which costs nano_label; *label_noise: the standard
 * deviation of an entry of it.  Where units are
 * clipped, both are sums with the same weight for each row of a unit.
 */
extern void pe_measure_moment_and_label(const pe_fit_problem *problem, pe_source *source,
										int64_t nano, int64_t nano_label,
										double *moment, double *noise, double *label, double *label_noise);

/*
 * Whether the samplers can serve this problem: false if units have so many rows, or
 * rows so many columns, that the noise on a gradient or a moment would be too wide.
 */
extern bool pe_measure_fits(const pe_fit_problem *problem);

/* The noisy number of units' rows, at least 1; sensitivity k (1 entry). */
extern double pe_measure_count(const pe_fit_problem *problem, pe_source *source, int64_t nano);

#endif

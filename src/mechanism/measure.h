/*
 * measure.h
 *	  Noisy results of passes: the only way from the rows to a private fit, with
 *	  select.h.
 *
 * Released: the integer sums of a pass plus discrete noise of step 1 on their own
 * lattice, as real numbers.  Neighbours and k: those of the problem.  The L2 (or
 * L1) sensitivity follows in integers from the pass (pass.h): of a gradient k clip,
 * 2 k clip for substitute; of a second moment k R^2, sqrt(2) k R^2 for substitute
 * (|xx' - zz'|^2 = |x|^4 + |z|^4 - 2 (x.z)^2 in the norm of pass.h).  Cost: nano, of
 * rho (discrete Gaussian, gaussian.h; off-diagonal moments with half of the
 * variance: CKS Theorem 14 with sigma_j of its own for each coordinate) or of a
 * pure epsilon (discrete Laplace, laplace.h).
 */
#ifndef PE_MECHANISM_MEASURE_H
#define PE_MECHANISM_MEASURE_H

#include "mechanism/fit.h"

/* C = clip in units of a feature as the integer that a gradient pass takes (PE_L2: squared), rounded down; at most k's limits allow. */
extern pe_u128 pe_clip_integer(double clip, int32_t residual_bits, pe_norm norm);

/* A gradient pass at w: sets kind, loss, weights, clip and norm from the problem.  free with pe_gradient_free. */
extern void pe_gradient_pass(const pe_fit_problem *problem, double clip, pe_pass *pass);
extern void pe_gradient_free(pe_pass *pass);

/* The noisy gradient of the sum of the losses at w; nano: what it costs. */
extern void pe_measure_gradient(const pe_fit_problem *problem, pe_source *source, pe_pass *pass,
								const double *w, int64_t nano, double *gradient);

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
 * *noise: the standard deviation of a diagonal entry.
 */
extern void pe_measure_moment(const pe_fit_problem *problem, pe_source *source, int64_t nano,
							  double *moment, double *noise);

/* The noisy number of units' rows, at least 1; sensitivity k (1 entry). */
extern double pe_measure_count(const pe_fit_problem *problem, pe_source *source, int64_t nano);

#endif

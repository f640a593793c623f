/*
 * noise.h
 *	  The noise of a release: how wide it is, and drawing it for a part of an allowance.
 *
 * The accounting decides: PE_PURE is the discrete Laplace mechanism for the L1 norm, which costs a
 * pure epsilon (laplace.h); the others are the Gaussian mechanism for the L2 norm, which
 * costs rho (gaussian.h).  What is released, for which neighbours and by which
 * theorem is said there.
 *
 * Gaussian DP asks for 4 more of sigma^2, which matters where sigma is small.  So there the exact
 * integers are multiplied by 2^shift first, the least with which sigma^2 is at least 2^20: it
 * costs 4e-6 of the variance.  Sensitivity and noise are those of the multiplied integers.
 *
 * A pe_noise is for reading: standard errors and intervals.  It cannot be drawn.  What draws
 * takes an allowance (accounting/cost.h), and first of all its cost from the allowance.  The
 * mechanisms themselves (gaussian.h, laplace.h, selection.h) are called from this room alone.
 */
#ifndef PE_NOISE_NOISE_H
#define PE_NOISE_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "accounting/cost.h"
#include "noise/runs.h"
#include "strategy/strategy.h"

typedef struct pe_noise pe_noise;

/*
 * The noise for a sensitivity (PE_L2: squared) at a cost of nano 1e-9, as the record of a
 * release states them.  Answers are multiplied by 2^lattice first, and the sensitivity is that of
 * what is multiplied.  Free it with pe_free.
 */
extern pe_noise *pe_noise_to_read(pe_accounting accounting, pe_u128 sensitivity, int lattice, int64_t nano);

/* The standard deviation, in units of the answers; infinity for what cannot be calibrated. */
extern double pe_noise_stderr(const pe_noise *noise);
extern double pe_noise_stderr_of(pe_accounting accounting, pe_u128 sensitivity, int64_t nano);

/* A release is in units of 2^-shift of the answers. */
extern int pe_noise_shift(const pe_noise *noise);

/*
 * Gaussian noise as it is drawn, in the units of a release: discrete,
 * sigma^2 = p/q.  False where the noise is Laplace, is rounded, or
 * cannot be calibrated.
 */
extern bool pe_noise_gaussian_law(const pe_noise *noise, pe_u128 *p, uint64_t *q);

/* Whether the samplers serve it. */
extern bool pe_noise_is_served(pe_accounting accounting, pe_u128 sensitivity, int64_t nano);

/*
 * The least cost in nano-units at which scale > 0 standard deviations are at most
 * max_stderr > 0; 0 if there is none up to 2^62.
 */
extern int64_t pe_noise_least_nano(pe_accounting accounting, pe_u128 sensitivity, double max_stderr, double scale);

/*
 * Takes nano from the allowance and adds the noise for the sensitivity (of the norm that the
 * allowance is for) to count exact answers, which are wiped.  released: in units of 2^-shift,
 * of pe_noise_shift.
 */
extern void pe_noise_draw_fine(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano,
							   pe_i128 *exact, size_t count, int64_t *released);

/*
 * The same for several vectors, one after the other in exact and released, each with a variance of
 * its own: nano is taken once.  A vector's answers are multiplied by 2^lattice first, and its
 * sensitivity is of that.  The caller has shown that the parts cost nano together: for all
 * neighbours the sum over vectors of |a - a'|^2 / sensitivity is at most 1 (Canonne, Kamath, Steinke, arXiv:2004.00010,
 * Theorem 14; for PE_PURE the same of norms).  Each is released in units of 2^-pe_noise_shift of its own
 * noise.
 */
typedef struct pe_noise_vector
{
	pe_u128		sensitivity;
	int			lattice;
	size_t		count;
} pe_noise_vector;

extern void pe_noise_draw_vectors(pe_allowance *allowance, const pe_noise_vector *vector, size_t vectors, int64_t nano,
								  pe_i128 *exact, int64_t *released);

/*
 * The same for one vector that comes in parts: nano is taken once, at the beginning.  The sensitivity is that of
 * the whole vector, and the caller has shown that the parts make one up.
 */
typedef struct pe_noise_parts pe_noise_parts;

extern pe_noise_parts *pe_noise_begin_parts(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano);
extern void pe_noise_draw_part(const pe_noise_parts *parts, pe_i128 *exact, size_t count, int64_t *released);

/* The same, rounded to whole numbers, which is post-processing: at most 1/8 more of variance. */
extern void pe_noise_draw(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano,
						  pe_i128 *exact, size_t count, int64_t *released);

/*
 * The same for sums over a sample that every unit joins with probability at most q.  A
 * pure cost of nano is calibrated to pe_unsampled_epsilon (accounting/conversion.h); a cost
 * in rho is counted without the sampling.
 */
extern void pe_noise_draw_sampled(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano, double q,
								  pe_i128 *exact, size_t count, int64_t *released);

/*
 * The same for a symmetric matrix, each entry beside the diagonal released
 * once.  sensitivity: PE_L2: of the whole matrix, squared, in which those
 * entries stand twice; they get half of the variance of the diagonal ones.
 * PE_L1: of the entries released, which all get the same noise.  One cost of
 * nano pays for both draws: sum_j delta_j^2 / sigma_j^2 <= 2 rho suffices
 * (Canonne, Kamath, Steinke, arXiv:2004.00010, Theorem 14, which has a sigma_j
 * for each coordinate).
 */
extern void pe_noise_draw_symmetric(pe_allowance *allowance, pe_u128 sensitivity, int64_t nano,
									pe_i128 *diagonal, size_t n, int64_t *released_diagonal,
									pe_i128 *rest, size_t m, int64_t *released_rest);

/*
 * The same by the K-norm mechanism of the maximum norm (laplace.h), of a pure allowance.  It does
 * not serve the largest costs: of more than pe_noise_most_cube it uses that much.
 */
extern void pe_noise_draw_cube(pe_allowance *allowance, uint64_t sensitivity, int64_t nano,
							   pe_i128 *exact, size_t count, int64_t *released);
extern int64_t pe_noise_most_cube(size_t count, uint64_t sensitivity);

/*
 * Takes nano from the allowance and gives the index of one of count scores, small ones
 * likelier (selection.h): permute-and-flip where it is pure, else the exponential mechanism; and the
 * exponential mechanism in both.  sensitivity: the most that a score changes between
 * neighbours; monotone: all scores move the same way.
 */
extern int32_t pe_draw_least(pe_allowance *allowance, const pe_i128 *score, int32_t count, pe_u128 sensitivity,
							 bool monotone, int64_t nano);
extern int32_t pe_draw_exponential(pe_allowance *allowance, const pe_i128 *score, int32_t count, pe_u128 sensitivity,
								   bool monotone, int64_t nano);

/*
 * The exponential mechanism for several selections from candidates in runs
 * (selection.h): nano is taken once.  The caller has shown that for all
 * neighbours the sum over the selections of D_i / (2 sensitivity_i) is at most
 * 1, where the scores of selection i change by amounts that lie in an interval
 * of length D_i.  Then the privacy losses of the selections, which are
 * independent, lie in intervals whose lengths add up to eta at most, and so
 * does their sum: together they are one mechanism of bounded range eta.  make
 * fills in one after the other; what it fills in is wiped.
 */
extern void pe_draw_from_runs(pe_allowance *allowance, pe_runs_make make, const void *argument,
							  size_t selections, int64_t nano, uint64_t *chosen);

/*
 * The rate of a selection at a cost of nano, as the rational numerator / factor: epsilon
 * exactly if pure, else a range eta that costs no more (selection.c).  Scores that are not monotone are
 * divided by twice their sensitivity.
 */
extern void pe_select_rate(pe_accounting accounting, int64_t nano, uint64_t *numerator, uint64_t *factor);

#endif

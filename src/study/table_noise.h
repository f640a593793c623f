/*
 * table_noise.h
 *	  The noise of a table of estimates, drawn again and again: post-processing, of public laws alone.
 *
 * Gaussian noise has the exact covariance of the estimates, by the strategy as it was measured: of independent
 * Gaussian numbers every sum with weights is one again.  (They are discrete.  A sum differs from a normal number as
 * noise/interval.h says: where the noise is wide by less than 1e-9, and where it is narrow it is no matter beside
 * the chance in a sample.)  Of Laplace noise the sum of several is not: each measurement is drawn, and goes the way
 * of the measurements to the estimates, so the law is exact.
 */
#ifndef PE_STUDY_TABLE_NOISE_H
#define PE_STUDY_TABLE_NOISE_H

#include "study/dice.h"

typedef struct pe_table_noise
{
	int32_t		cells;
	double	   *covariance;		/* cells x cells */

	/* One draw for all cells, independent of all others: fills in drawn. */
	void		(*draw) (const struct pe_table_noise *noise, pe_dice *dice, double *drawn);

	int32_t		parts;			/* independent numbers */
	double	   *weight;			/* parts x cells: [part * cells + cell] */
	double	   *decay;			/* of Laplace: of each part, P[k] is as exp(-decay |k|) */
} pe_table_noise;

/* Takes over the covariance, and frees it with the rest; another one has to be given to each. */
extern void pe_table_noise_gaussian(int32_t cells, double *covariance, pe_table_noise *noise);

/*
 * The same of discrete Laplace numbers of so many measurements: weights[i * cells + cell] of measurement i, which has
 * the standard deviation stderr_[i].  The weights are in units of these numbers.
 */
extern void pe_table_noise_laplace(int32_t cells, double *covariance, int32_t measurements, const double *weights,
								   const double *stderr_, pe_table_noise *noise);
extern void pe_table_noise_free(pe_table_noise *noise);

/* The variance of a sum of cells with weights. */
extern double pe_table_noise_variance(const pe_table_noise *noise, const double *weight);

#endif

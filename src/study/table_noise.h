/*
 * table_noise.h
 *	  The noise of a table of estimates, drawn again and again: post-processing, of public laws alone.
 *
 * Gaussian noise has the exact covariance of the estimates, by the strategy as it was measured.  Laplace noise is
 * drawn for each measurement and goes the way of the measurements to the estimates, so its law is exact.
 */
#ifndef PE_STUDY_TABLE_NOISE_H
#define PE_STUDY_TABLE_NOISE_H

#include "study/dice.h"

typedef struct pe_table_noise
{
	int32_t		cells;
	const double *covariance;	/* cells x cells */

	/* One draw for all cells, independent of all others. */
	void		(*draw) (const struct pe_table_noise *noise, pe_dice *dice, double *drawn);
	void	   *argument;		/* of draw */
} pe_table_noise;

#endif

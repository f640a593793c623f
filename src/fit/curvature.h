/*
 * curvature.h
 *	  Steps with the inverse of a noisy curvature: post-processing.
 */
#ifndef PE_FIT_CURVATURE_H
#define PE_FIT_CURVATURE_H

#include "fit/fit.h"

typedef struct pe_curvature
{
	int32_t		columns;
	double	   *vector;			/* eigenvectors by columns */
	double	   *value;			/* of each: c times the eigenvalue, at least the floor, plus l2 */
	double	   *turned;			/* work */
} pe_curvature;

/*
 * From a noisy second moment (destroyed) whose diagonal entries have this noise:
 * eigenvalues below options.floor noise sqrt(columns) are raised to it, then c times
 * each plus options.l2 is the curvature.
 */
extern void pe_curvature_init(pe_curvature *curvature, const pe_fit_problem *problem, double *moment, double noise);

/* w = w - curvature^-1 gradient, brought to the numbers that weights can be. */
extern void pe_curvature_step(pe_curvature *curvature, const double *gradient, double *w);

extern void pe_curvature_free(pe_curvature *curvature);

#endif

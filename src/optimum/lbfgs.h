/*
 * lbfgs.h
 *	  What a descent remembers of its steps, and where it goes next: limited-memory BFGS.  Private to
 *	  p_identity.c and continual_band.c.
 *
 * Source: Nocedal and Wright, Numerical Optimization, algorithm 7.4.
 */
#ifndef PE_STRATEGY_LBFGS_H
#define PE_STRATEGY_LBFGS_H

#include <stddef.h>
#include <stdint.h>

#define PE_LBFGS_PAIRS 10		/* steps that the direction remembers */

typedef struct pe_lbfgs
{
	size_t		size;
	double	   *step[PE_LBFGS_PAIRS];	/* of the point, the latest at (pairs - 1) % PE_LBFGS_PAIRS */
	double	   *change[PE_LBFGS_PAIRS]; /* of the gradient with it */
	double		curvature[PE_LBFGS_PAIRS];	/* step'change > 0 */
	double		scale;			/* of the first approximation of H: curvature / |change|^2 of the latest */
	int64_t		pairs;			/* ever since the start; 0 forgets them */
} pe_lbfgs;

/* memory: of 2 PE_LBFGS_PAIRS size numbers, which stay the caller's. */
extern void pe_lbfgs_init(pe_lbfgs *memory, size_t size, double *numbers);

/* direction = -H gradient, every vector cut to the entries where free is 1, not 0. */
extern void pe_lbfgs_direction(const pe_lbfgs *memory, const double *gradient, const double *free, double *direction);

/* Remembers the step from one point to the other, if the gradient grew along it. */
extern void pe_lbfgs_remember(pe_lbfgs *memory, const double *from, const double *to, const double *gradient_from,
							  const double *gradient_to);

#endif

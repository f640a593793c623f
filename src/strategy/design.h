/*
 * design.h
 *	  A strategy in real numbers, before it becomes integers (strategy.h).
 *
 * V = W'W is n x n and weighted; Delta is the sensitivity of A in some norm.  The
 * expected squared error of all queries together, per unit of noise variance at
 * Delta = 1, is
 *
 *	 objective = Delta^2 tr(V X^+),  X = A'A,
 *
 * where A's rows span those of W.  In the L2 norm Delta^2 is the largest diagonal
 * entry of X, and nothing but X matters.
 */
#ifndef PE_STRATEGY_DESIGN_H
#define PE_STRATEGY_DESIGN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct pe_design
{
	int32_t		n;
	double	   *x;				/* X, n x n, both triangles, positive definite; or NULL */
	int32_t		rows;			/* of factor */
	double	   *factor;			/* A, rows x n by columns; or NULL.  One of the two is there, or both */
	double		objective;		/* of these real numbers */
	int32_t		iterations;		/* the method's own */
	bool		finished;		/* its rule for stopping was met, not its limit */
} pe_design;

extern void pe_design_free(pe_design *design);

/* A power of two that brings V's largest entry, or least if that is more, to about 1: methods that work on V times it lose nothing. */
extern double pe_design_scale(const double *v, int32_t n, double least);

/* Called after every iteration by methods that have them: for experiments.  measure: what the method's rule for stopping looks at. */
typedef struct pe_trace
{
	void		(*tell) (void *argument, int32_t iteration, double objective, double measure);
	void	   *argument;
} pe_trace;

#endif

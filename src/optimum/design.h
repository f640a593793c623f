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

/* The norm of sensitivities: PE_L2 is for Gaussian noise (zCDP), PE_L1 for Laplace noise (pure). */
typedef enum pe_norm
{
	PE_L2,
	PE_L1
} pe_norm;

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

/*
 * A power of two that brings V's largest entry, or least if that is more, to
 * about 1: methods that work on V times it lose nothing.
 */
extern double pe_design_scale(const double *v, int32_t n, double least);

/*
 * Called after every iteration by methods that have them: for experiments.
 * measure: what the method's rule for stopping looks at.
 */
typedef struct pe_trace
{
	void		(*tell) (void *argument, int32_t iteration, double objective, double measure);
	void	   *argument;
} pe_trace;

/*
 * Reports an iteration, unless it is the one reported last (of this number: a
 * stage begins where one before it has ended).
 */
extern void pe_trace_tell(const pe_trace *trace, int32_t *told, int32_t iteration, double objective, double measure);

/* V must have a size and be finite: else pe_bug. */
extern void pe_design_check_gram(const double *v, int32_t n);

#endif

/*
 * residual.h
 *	  One attribute of a union: what its factors ask beside a weighted sum of
 *	  the cells.
 *
 * For a centre d (1'd = 1) the weights w over the n columns of an attribute are
 * (w'd) 1 plus w - (w'd) 1, which is orthogonal to d.  Terms that sum over the
 * attribute ask for 1 alone.  So of a factor with G = W'W matter
 *
 *		outside = d'G d,    inside = the error of the rest, (I - 1 d') G (I - d 1'),
 *
 * under the strategy for the rest, at sensitivity 1 and unit noise.  Where one
 * strategy serves several factors it is the optimum for their weighted sum.  d
 * between 1/n, best where many terms sum over the attribute, and G^-1
 * 1 / (1'G^-1 1), for which d'G d is least.
 *
 * In integers d = e / D, e >= 0, and B are n - 1 rows with two entries each
 * that span what is orthogonal to e: the strategy T B kills e exactly.
 *
 * Lower bound.  For y > 0 with sum 1, any unit vector e, and f = B e / |B e|
 * the matrix B = W Y^.5 is replaced by its parts f f' B e e' and (I - f f') B
 * (I - e e'): nuclear norms do not grow under such pinching on both
 * sides.  Their squares, with M = B'B, are
 *
 *		outside = e'M e,    inside = (tr (M - M e e'M / e'M e)^.5)^2,
 *
 * and a term that sums over the attribute has 1'Y^.5, and e keeps
 * absent = (e'Y^.5 1)^2 of it.  Good are y of the optimum around a centre and
 * e = y^.5, tilted a little from Y^-.5 G^-1 1.
 */
#ifndef PE_BLOCKS_RESIDUAL_H
#define PE_BLOCKS_RESIDUAL_H

#include "optimum/optimum.h"
#include "strategy/strategy.h"

typedef struct pe_residual
{
	int32_t		n;				/* two or more */
	int			factors;
	double	  **gram;			/* G of each, n x n, both triangles; distinct columns of all together */
	double	   *v;				/* their weighted sum, and a little of I where the rest would not be of rank n - 1 */
	double	   *dual;			/* V^-1 1, its sum 1 */
	double	   *pole;			/* the centre opposite to 1/n: that without what is below 0 */
} pe_residual;

/* What a centre, or y, makes of each factor. */
typedef struct pe_split
{
	double	   *inside;
	double	   *outside;
	double		absent;			/* for a term without any */
} pe_split;

/* Takes over gram (factors of them) and v; pe_residual_free frees them. */
extern void pe_residual_init(int32_t n, int factors, double **gram, double *v, pe_residual *residual);
extern void pe_residual_free(pe_residual *residual);

/* d = mix pole + (1 - mix) / n */
extern void pe_residual_centre(const pe_residual *residual, double mix, double *d);

/* d'G d of each factor. */
extern void pe_residual_outside(const pe_residual *residual, const double *d, double *outside);

/*
 * The error of the rest of each factor, above 0, under the optimum in real numbers, to within a gap; y (n)
 * is its dual solution, of sum 1.
 */
extern void pe_residual_inside(const pe_residual *residual, const double *d, double gap, double *inside, double *y);

/*
 * e and D, which is returned: d up to some thousandths, in numbers that are
 * small for most columns.
 */
extern int32_t pe_residual_integers(const double *d, int32_t n, int32_t *e);

/*
 * The strategy around e / D, over n columns and as many classes, with columns
 * no longer than about 2^length; fills the split of add_remove, inside from the
 * integers and of a problem's norm.  False if the columns do not fit.
 */
extern bool pe_residual_strategy(const pe_residual *residual, const pe_strategy_problem *problem, double length,
								 const int32_t *e, int32_t denominator, pe_strategy *strategy, pe_split *split);

/* Divides y > 0 by its sum. */
extern void pe_scale_to_one(int32_t n, double *y);

/* The parts of the lower bound, for e proportional to (1 - tilt) y^.5 + tilt Y^-.5 dual, both scaled to length 1. */
extern void pe_residual_pinch(const pe_residual *residual, const double *y, double tilt, pe_split *split);

/* (tr (Y^.5 G Y^.5)^.5)^2, rounding taken off. */
extern double pe_nuclear_square(int32_t n, const double *gram, const double *y);

/*
 * tr(G (A'A)^+) Delta^2 of an integer strategy, Delta of add_remove: the error of what is in its row space;
 * -1 if it is beyond what can be measured.
 */
extern double pe_strategy_error(const pe_strategy *strategy, pe_norm norm, const double *gram);

#endif

/*
 * programme.h
 *	  Linear programmes of few variables and many rows, with a certified gap: the
 *	  minimum of a piecewise affine function over a polytope; and the nearest point of
 *	  a polytope, a quadratic programme of the same form.
 *
 * Primal-dual interior point method with a predictor and a corrector (Mehrotra, SIAM J.
 * Optim. 2(4), 1992; Wright, Primal-Dual Interior-Point Methods, 1997) on normal
 * equations of at most d + 1 columns.
 *
 * Certificate.  For multipliers w >= 0 of the functions with sum 1, v >= 0 of the
 * inequalities, and any x in the box,
 *
 *	  max_i (a_i'x + b_i) >= sum_i w_i (a_i'x + b_i) + sum_k v_k (g_k'x - h_k)
 *						  >= min over the box of the right side,
 *
 * which is a sum over the coordinates (weak duality).  The bound is true for all
 * multipliers that the iteration can end with, so the gap is proved, up to the rounding of
 * these sums, by arithmetic that is independent of the iteration.  The sums are made in
 * twice the precision of double, for multipliers that have it too, since what is left of
 * them is multiplied by the width of the box.  Where that is infinite, they must be 0 to
 * PE_PROGRAMME_ZERO of their terms and then count as 0; else there is no bound.
 *
 * What goes in is public, noised, or the caller's own.  The exception is laplace_solution
 * (minimum/minimum_laplace.c), which noises what comes out.  So memory is wiped at
 * the end (a poll that does not return leaves it to its context), and the time that it
 * takes depends on offsets: the door pads it.
 */
#ifndef PE_AFFINE_PROGRAMME_H
#define PE_AFFINE_PROGRAMME_H

#include <stdint.h>

#include "affine/affine.h"

/* The least gap to ask for. */
#define PE_PROGRAMME_LEAST_GAP 1e-10

/* A gap of so much of the terms of sum_i w_i a_i'x + sum_k v_k g_k'x, in absolute value, is rounding. */
#define PE_PROGRAMME_ROUNDING 0x1p-48

#define PE_PROGRAMME_ZERO 0x1p-80

typedef enum pe_programme_end
{
	PE_PROGRAMME_SOLVED,
	PE_PROGRAMME_EMPTY,			/* the set has no point */
	PE_PROGRAMME_UNBOUNDED,		/* the function has no minimum; of a set: it is not bounded */
	PE_PROGRAMME_THIN,			/* pe_polytope_tighten: the set has no interior to speak of */
	PE_PROGRAMME_STALLED		/* the gap asked for was not reached: what was found is there */
} pe_programme_end;

/* The solution of pe_affine_minimise. */
typedef struct pe_affine_minimum
{
	double	   *x;				/* variables numbers, in the box exactly, in the inequalities to rounding */
	double		value;			/* of the function there */
	double		bound;			/* no point of the set has less */
	int			iterations;
} pe_affine_minimum;

/*
 * Minimises f over the set to value - bound <= gap (1 + |value|), gap >=
 * PE_PROGRAMME_LEAST_GAP, or to PE_PROGRAMME_ROUNDING if that is more.  minimum->x is
 * the caller's room.  Without rows: any point of the set, value -infinity.  Polls.
 * Slopes, offsets and inequalities are finite.  PE_PROGRAMME_STALLED, with a gap of 1e-8
 * or less, was only seen where a function is level to 1e-10 over a whole face of the set.
 */
extern pe_programme_end pe_affine_minimise(const pe_plain_affine *f, const pe_polytope *set, double gap,
										   pe_affine_minimum *minimum);

/*
 * The best point of so many iterations, which are all made, and are the same
 * work for all offsets are: its time depends on the slopes and the set alone.
 * f has a row, all of it is finite, and the set is a bounded one that is not
 * empty.  Nothing is known of the gap.
 */
extern void pe_affine_minimise_in(const pe_plain_affine *f, const pe_polytope *set, int iterations, double *x);

/*
 * What a sampler needs to know of a set: the smallest box around it (to rounding,
 * never smaller than it by more), and a point well inside: the centre of a largest
 * box of the proportions of that box.  PE_PROGRAMME_THIN if that is smaller than 2^-20
 * of it in each coordinate, or the box has no width in some coordinate, or the set is so
 * narrow, that far from 0, that rounding of its points takes all of it (affine/affine_lattice.h).
 * lower, upper, centre: room for variables numbers.
 */
extern pe_programme_end pe_polytope_tighten(const pe_polytope *set, double *lower, double *upper, double *centre);

/*
 * The point of a bounded set that is nearest to y in the Euclidean norm, to 1e-9 of
 * the distance or of the size of the set, the larger of the two; the set is known not to
 * be empty.  Of a box, exactly.  x may be y.
 */
extern void pe_polytope_nearest(const pe_polytope *set, const double *y, double *x);

/* Bytes that minimising takes, besides its arguments. */
extern size_t pe_programme_memory(int32_t variables, int32_t rows, int32_t inequalities);

/* ----------
 * The least value of a piecewise affine function over a small box: which rows prove it.
 *
 * For weights w >= 0 of rows r_i(u) = a_i.u + b_i with sum 1, max_i r_i is nowhere below
 * sum_i w_i r_i.  The best weights, for which the least value of that over the cube [0, 1]^d
 * is largest, are the multipliers of the linear programme min over the cube of max_i r_i(u),
 * and then the two are the same (strong duality); at most d + 1 of them are not 0.  Where only
 * points matter at which limits l_k(u) <= 0 hold, sum_i w_i r_i + sum_k v_k l_k is no higher
 * than max_i r_i for all v >= 0, and the best v belong to the same programme.
 *
 * Found by the simplex method on the dual, which has d + 1 equations however many rows
 * there are.  In doubles: a caller that needs a true bound computes the weighted sum again
 * in numbers that it can trust, since any weights prove a bound.
 * ----------
 */

/* The most variables. */
#define PE_CELL_BOUND_VARIABLES 8

/*
 * Weights for rows rows, 1 at least, and limits more behind them, each
 * variables + 1 numbers a_1 .. a_d, b, finite, of a size that sums and products
 * of them are finite as well.  Fills in index and weight, with room for
 * variables + 1 numbers each, and returns how many there are: weights above 0,
 * those of rows with sum 1 up to rounding.  Ends after a fixed number of steps
 * at the latest, with weights that are no worse than those of the best row
 * alone, up to rounding.
 */
extern int32_t pe_cell_weights(int32_t variables, int32_t rows, int32_t limits, const double *row,
							   int32_t *index, double *weight);

#endif

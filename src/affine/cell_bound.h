/*
 * cell_bound.h
 *	  The least value of a piecewise affine function over a small box: which rows prove it.
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
 */
#ifndef PE_AFFINE_CELL_BOUND_H
#define PE_AFFINE_CELL_BOUND_H

#include <stdint.h>

/* The most variables. */
#define PE_CELL_BOUND_VARIABLES 8

/*
 * Weights for rows rows, 1 at least, and limits more behind them, each variables + 1 numbers a_1 .. a_d, b, finite, of a
 * size that sums and products of them are finite as well.  Fills in index and weight, with
 * room for variables + 1 numbers each, and returns how many there are: weights above 0, those of rows with sum 1 up
 * to rounding.  Ends after a fixed number of steps at the latest, with weights that are no
 * worse than those of the best row alone, up to rounding.
 */
extern int32_t pe_cell_weights(int32_t variables, int32_t rows, int32_t limits, const double *row, int32_t *index, double *weight);

#endif

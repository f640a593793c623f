/*
 * round_dense.h
 *	  From a real strategy matrix to a dense one of integers (strategy.h).
 */
#ifndef PE_STRATEGY_ROUND_DENSE_H
#define PE_STRATEGY_ROUND_DENSE_H

#include "strategy/strategy.h"

/* The strategy in real numbers, in the coordinates of the columns or of a basis. */
typedef struct pe_real_strategy
{
	const double *factor;		/* rows x inner, by columns, of full column rank */
	int32_t		rows;
	int32_t		inner;
	int32_t		diagonal;		/* so many rows at the head are diagonal and positive, and stay so: 0 or inner */
	const double *v;			/* W'W, weighted, in these coordinates: inner x inner, both triangles */
	pe_norm		norm;
} pe_real_strategy;

/* What rounding may cost, relatively, before a finer lattice is tried. */
#define PE_ROUNDING_LOSS 1e-6

/*
 * M = round(2^k A), A scaled so that its largest column norm is 1.  Under L1 and
 * without a basis the sum of magnitudes of each column of M is the real one to the
 * nearest integer (by largest remainders): a column below the largest wastes noise,
 * and this loss of the first order is gone.  Rows that become zero are left out.
 * k = 16, and more until rounding costs less than PE_ROUNDING_LOSS of the
 * objective, at most 24, where plain rounding costs some 1e-7.
 *
 * strategy: its columns, column_of and, if the coordinates are those of a basis,
 * basis are there already, and no other matrix.  On success dense, rows, inner and
 * objective are set, the objective from the integers: Delta^2 tr(V (M'M)^-1), Delta
 * that of add_remove.  False if the integers of every lattice are beyond what can be
 * measured or not of full column rank; the strategy then is what it was.
 */
extern bool pe_round_dense(const pe_real_strategy *real, pe_strategy *strategy);

/* Bytes that this takes at most, with M but without its arguments. */
extern size_t pe_round_dense_memory(int32_t rows, int32_t inner, int32_t columns);

#endif

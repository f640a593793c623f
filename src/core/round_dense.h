/*
 * round_dense.h
 *	  From a real strategy matrix to a dense one of integers (strategy.h).
 */
#ifndef PE_CORE_ROUND_DENSE_H
#define PE_CORE_ROUND_DENSE_H

#include "core/strategy.h"

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

/*
 * M = round(2^k A), A scaled so that its largest column norm is 1: entries are
 * moved by one until the norm of each column is what it should be on this lattice,
 * as a column below the largest wastes noise.  (With a basis the columns of M have
 * no say in the sensitivity, and are only rounded.)  Rows that become zero are left
 * out.  k = 16, and more until rounding costs less than PE_ROUNDING_LOSS of the
 * objective, at most 24 bits.
 *
 * strategy: its columns, column_of and, if the coordinates are those of a basis,
 * basis are there already; dense, rows, inner and objective are set here, the
 * objective from the integers: Delta^2 tr(V (M'M)^-1), Delta that of add_remove.  False
 * if the integers are beyond what can be measured, or M is not of full column rank
 * on any lattice; the strategy then is what it was.
 */
#define PE_ROUNDING_LOSS 1e-6
extern bool pe_round_dense(const pe_real_strategy *real, pe_strategy *strategy);

/* Bytes that this takes at most, besides its arguments. */
extern size_t pe_round_dense_memory(int32_t rows, int32_t inner);

#endif

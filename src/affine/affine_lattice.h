/*
 * affine_lattice.h
 *	  A piecewise affine function in integers, on a public lattice of its set.
 *
 * Points are X in {0 .. 2^PE_LATTICE_BITS - 1}^d, x_j = origin_j + X_j step_j, the
 * smallest box around the set divided evenly.  Slopes are rounded to integers A_i and
 * offsets down to integers B_i in units h = 2^unit, so that the score
 *
 *	  S(X) = max_i (A_i . X + B_i)
 *
 * is an integer, about f(x) / h.  Rounding slopes changes the function by at most
 * d 2^(PE_LATTICE_BITS - 1) h, below 2^-30 d of its range.
 *
 * Sensitivity.  Everything here but offset is a function of slopes, set and max_change:
 * public.  When one offset or all of them move by at most max_change, the B_i move by
 * at most D = change, and so does S at every X: with j, k that attain the maxima before
 * and after, S' - S <= B'_k - B_k <= D and >= B'_j - B_j >= -D (Han, Topcu and Pappas,
 * arXiv 1408.6286, Lemma 18).  Cutting and rounding down are non-decreasing and commute
 * with that: affine/affine.h.
 */
#ifndef PE_AFFINE_AFFINE_LATTICE_H
#define PE_AFFINE_AFFINE_LATTICE_H

#include "affine/affine.h"

/* Points of a coordinate are numbered with so many bits. */
#define PE_LATTICE_BITS 28

typedef struct pe_affine_lattice
{
	int32_t		variables;
	int32_t		rows;
	int32_t		inequalities;
	int32_t		unit;			/* h = 2^unit */
	uint64_t	change;			/* D */
	double		origin[PE_AFFINE_VARIABLES];
	double		step[PE_AFFINE_VARIABLES];
	double		end[PE_AFFINE_VARIABLES];	/* no point lies beyond, for all rounding */
	int64_t    *slope;			/* A, row-major; sum over j of |A_ij| 2^PE_LATTICE_BITS < 2^59 */
	pe_i128    *base;			/* what S has without offsets: a_i . origin / h */
	pe_i128    *offset;			/* B less base: private; |base| + |offset| < 2^102 */
	/*
	 * row-major, inequalities x (variables + 1): G.X <= H, rounded so that its
	 * points satisfy the given one; |G.X| < 2^59, H < 2^60 in absolute value
	 */
	int64_t    *inequality;
} pe_affine_lattice;

/*
 * The lattice of a function over a set, whose tight box (pe_polytope_tighten) is lower
 * .. upper.  f->offset is read; the lattice has its own copy.
 */
extern void pe_affine_lattice_init(pe_affine_lattice *lattice, const pe_affine *f, const pe_polytope *set,
								   const double *lower, const double *upper, double max_change);

/* Wipes offsets and frees. */
extern void pe_affine_lattice_free(pe_affine_lattice *lattice);

/* x of X, never outside the box. */
extern void pe_lattice_point(const pe_affine_lattice *lattice, const int64_t *at, double *x);

/* The X nearest to x, which may lie outside the box by up to 2^8 times its width, beyond which it is cut. */
extern void pe_lattice_nearest(const pe_affine_lattice *lattice, const double *x, int64_t *at);

/* A_i . X + B_i, for |X_j| < 2^(PE_LATTICE_BITS + 9). */
extern pe_i128 pe_lattice_row(const pe_affine_lattice *lattice, int32_t row, const int64_t *at);

/* Whether the inequalities hold. */
extern bool pe_lattice_inside(const pe_affine_lattice *lattice, const int64_t *at);

extern size_t pe_affine_lattice_memory(int32_t variables, int32_t rows, int32_t inequalities);

#endif

/*
 * lattice_law.h
 *	  The exponential mechanism on a lattice: exact draws of a point X with
 *
 *	  P(X) proportional to exp(-rate S(X) - prior T(X)),
 *
 * S and T the integer scores of affine/affine_lattice.h with and without offsets, rate
 * and prior rationals.
 *
 * Up to PE_CELL_VARIABLES variables X is any point of the lattice inside the set.  The
 * box is divided, best cells first, into cells of 2^w points, each with integer lower
 * bounds of S and T at its points in the set.  A cell is drawn by an integer upper bound of its weight, a point
 * of it uniformly, and accepted by an exact decision (lazy_exp.h): the law of what is
 * accepted does not depend on how the box was divided, only the time does.  Above, X is
 * one of a public, finite set of points: cells of one point each.
 *
 * Exact: doubles order the cells and propose upper bounds of weights, never what is
 * drawn.
 *
 * The number of proposals depends on offsets, and so does the time: whoever answers
 * pads the time of the whole answer (pg_epsilon.time_quantum).  A number that is fixed
 * would change the law by what depends on the data, unless a bound on it could be
 * proved from what is public, and none useful can.
 */
#ifndef PE_MINIMUM_LATTICE_LAW_H
#define PE_MINIMUM_LATTICE_LAW_H

#include "affine/affine_lattice.h"
#include "noise/bits.h"

/* Up to so many variables the lattice itself is sampled. */
#define PE_CELL_VARIABLES 5

/*
 * A rational above or equal to 0: numerator 2^shift / (change factor) per unit of a
 * score; change is at least 1, factor too.
 */
typedef struct pe_score_rate
{
	uint64_t	numerator;
	int32_t		shift;			/* -200 .. 0 */
	uint64_t	change;
	uint64_t	factor;
} pe_score_rate;

typedef struct pe_lattice_law pe_lattice_law;

/*
 * The rate of the exponential mechanism for scores that move by at most change either
 * way, at a cost of nano: pure, epsilon / (2 change); else eta / (2 change) with
 * eta^2 / 8 <= rho.  noise/select.h has the proofs.
 */
extern pe_score_rate pe_exponential_rate(uint64_t change, bool pure, int64_t nano);

/* The rate tau 2^unit of a base measure exp(-tau T 2^unit); tau >= 0, finite. */
extern pe_score_rate pe_prior_rate(double tau, int32_t unit);

/*
 * Divides the box, or evaluates the public points: what takes long; polls.  The
 * lattice stays the caller's and must outlive the law.  centre: a point inside (of the
 * set, as doubles), from which the public points spread, and the only one that is drawn
 * if its point of the lattice is not inside (above PE_CELL_VARIABLES: if no public point is).  memory: bytes that may be taken.
 */
extern pe_lattice_law *pe_lattice_law_make(const pe_affine_lattice *lattice, pe_score_rate rate, pe_score_rate prior,
										   const double *centre, size_t memory);

/*
 * One draw: variables numbers.  Polls between rejected proposals: their number has no
 * bound, and where f is level along a line, say, and max_change is tiny, it is beyond all
 * patience.  Never after the one that is accepted.
 */
extern void pe_lattice_law_draw(const pe_lattice_law *law, pe_bits *bits, int64_t *at);

/* How many cells there are, and a lower bound of the chance that a proposal is accepted, for tests and benchmarks. */
extern int32_t pe_lattice_law_cells(const pe_lattice_law *law);
extern double pe_lattice_law_acceptance(const pe_lattice_law *law);

/* Wipes and frees. */
extern void pe_lattice_law_free(pe_lattice_law *law);

/* The most bytes it takes. */
extern size_t pe_lattice_law_memory(int32_t variables, int32_t rows, int32_t inequalities);

/*
 * For unit tests: another limit on cells, lattices of fewer bits (points
 * X < 2^bits only, bits <= PE_LATTICE_BITS), and a margin for decisions in double
 * (infinity leaves every decision to the exact comparison).  The law does not depend on
 * cells and margin.
 */
extern pe_lattice_law *pe_lattice_law_make_with(const pe_affine_lattice *lattice, pe_score_rate rate, pe_score_rate prior,
												const double *centre, size_t memory, int32_t cells, int32_t bits, double margin);

/*
 * For unit tests: weighs the cells anew, so that the heaviest has a weight near 2^peak.  The
 * law does not depend on that.
 */
extern void pe_lattice_law_weigh(pe_lattice_law *law, int32_t peak);

/* For unit tests: the first point of a cell; where X is one of a finite set, point number 0 .. cells - 1 of it. */
extern void pe_lattice_law_corner(const pe_lattice_law *law, int32_t number, int64_t *at);

#endif

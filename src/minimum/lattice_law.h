/*
 * lattice_law.h
 *	  The exponential mechanism on a lattice: exact draws of a point X with
 *
 *	  P(X) proportional to exp(-rate S(X) - prior T(X)),
 *
 * S and T the integer scores of affine/affine_lattice.h with and without offsets, rate
 * and prior rationals.
 *
 * X is any point of the lattice inside the set, or one of a public, finite set of points:
 * which of the two is public, and decided by a plan (lattice_plan.h).
 *
 * In the first case the box is divided, best cells first, into cells of 2^w points, each
 * with integer lower bounds of S and T at its points in the set.  A cell is drawn by an
 * integer upper bound of its weight, a point of it uniformly, and accepted by an exact
 * decision (lazy_exp.h): the law of what is accepted does not depend on how the box was
 * divided, only the time does.  In the second there are cells of one point each.
 *
 * Exact: doubles order the cells and propose upper bounds of weights, never what is
 * drawn.
 *
 * Time.  How the box is divided and how often a proposal is rejected depend on offsets, and
 * so does the time: the caller pads the time of the whole answer (pg_epsilon.time_quantum).
 * How much it can be is public: cells are bounded in number, and so are proposals, by
 * pe_lattice_plan_proposals, but with a chance below 2^-64.  In one or two variables
 * no such bound of the proposals is known.
 */
#ifndef PE_MINIMUM_LATTICE_LAW_H
#define PE_MINIMUM_LATTICE_LAW_H

#include "affine/affine_lattice.h"
#include "noise/bits.h"
#include "minimum/lattice_plan.h"

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
 * set, as doubles), from which public points spread, and the only one that is drawn
 * if its point of the lattice is not inside (of a finite set: if no public point is).  memory: bytes that may be taken.
 */
extern pe_lattice_law *pe_lattice_law_make(const pe_affine_lattice *lattice, pe_score_rate rate, pe_score_rate prior,
										   const double *centre, size_t memory, const pe_lattice_plan *plan);

/*
 * One draw: variables numbers.  Polls between rejected proposals, never after the one that
 * is accepted.  Returns how many there were: of a plan with a bound no more than that, but
 * with a chance below 2^-64.
 */
extern uint64_t pe_lattice_law_draw(const pe_lattice_law *law, pe_bits *bits, int64_t *at);

/* Wipes and frees. */
extern void pe_lattice_law_free(pe_lattice_law *law);

/* The most bytes it takes. */
extern size_t pe_lattice_law_memory(int32_t variables, int32_t rows, int32_t inequalities);

/*
 * For unit tests: another limit on cells, lattices of fewer bits (points
 * X < 2^bits only, bits <= PE_LATTICE_BITS), and a margin for decisions in double
 * (infinity leaves every decision to the exact comparison).  The law does not depend on
 * cells and margin.  The whole lattice up to PE_CELL_VARIABLES variables, without a bound of
 * the proposals; a finite set above.
 */
extern pe_lattice_law *pe_lattice_law_make_with(const pe_affine_lattice *lattice, pe_score_rate rate, pe_score_rate prior,
												const double *centre, size_t memory, int32_t cells, int32_t bits, double margin);

/*
 * For unit tests: weighs the cells anew, so that the heaviest has a weight near 2^peak.  The
 * law does not depend on that.
 */
extern void pe_lattice_law_weigh(pe_lattice_law *law, int32_t peak);

/* For unit tests: the first point of a cell, or the point of a finite set, of this number from 0; false behind the last. */
extern bool pe_lattice_law_corner(const pe_lattice_law *law, int32_t number, int64_t *at);

#endif

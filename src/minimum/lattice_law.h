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
 * which of the two is public, and decided by a plan (below).
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

#include <stdbool.h>
#include <stdint.h>

#include "accounting/conversion.h"
#include "affine/affine_lattice.h"
#include "noise/bits.h"

/* ----------
 * Which points the exponential mechanism draws from, decided from what is
 * public.
 *
 * Exact rejection sampling on the whole lattice takes a number of proposals
 * that depends on private offsets.  A plan bounds that number by slopes, box,
 * max_change and cost alone, or it asks for a finite, public set of points,
 * which takes a fixed number of evaluations.
 *
 * The bound, for a box.  Divide it into public cells, 2^part_j along coordinate
 * j, and let lambda_j be how much the exponent rate S changes along side j of a
 * cell, at most: rate times the steepest slope times the side.  S is convex;
 * let x* be where it is least in a cell.  Then rate (S(x) - S(x*)) <= sum_j
 * lambda_j |u_j - u*_j| with u in [0, 1]^d, so that a uniform point of the cell
 * is accepted with a chance of at least
 *
 * product over j of  integral over u of exp(-lambda_j |u - u*_j|)
 * >= product over j of  (1 - exp(-lambda_j)) / lambda_j,
 *
 * as the integral is least with u*_j at an end.  With a prior, whose exponent
 * changes by mu_j and is least elsewhere, the factor is the lesser of that of
 * lambda_j + mu_j and of (exp(-mu_j) - exp(-lambda_j)) / (lambda_j - mu_j),
 * where the two are at opposite ends: the integral is log-concave in either
 * place.  The points of a cell are not a continuum: that x* lies up to half a
 * step from one costs exp(-1/2) per unit of the exponent and step.  The bound
 * of a cell may be below its least value by 1/2 for S, and for T, in units of
 * the exponent (lattice_law.c): SLACK.  The product is the same for all cells:
 * the chance that a proposal is accepted is at least that, for any offsets; and
 * finer cells have higher bounds, so that dividing further only raises it.
 *
 * It rests on the cells' linear programmes being solved, in doubles, to that
 * 1/2.  Where rounding prevented it, more proposals would be drawn; the law is
 * the same.
 *
 * MISS: of so many proposals, divided by the bound, none is accepted with a
 * chance below 2^-64.  Drawing goes on even then: the law stays exact, the cost
 * stays pure, and no delta is charged; that the number of proposals exceeds the
 * public one has a chance below 2^-64 on every data set.
 *
 * Inequalities may leave a sliver of a cell only, and no such bound is known:
 * in three variables or more the set of points is finite then.  In one or two
 * variables, where cells are enough except for functions that are level along a
 * line and steep beyond reason across it, the whole lattice is drawn from,
 * without a bound.
 * ----------
 */

/* Up to so many variables the lattice itself can be sampled; from so many on only by a plan that bounds proposals. */
#define PE_CELL_VARIABLES 5
#define PE_PLAN_VARIABLES 3

/* Public cells, 2^this of them; the most points of a finite set. */
#define PE_PLAN_PARTS 16
#define PE_PLAN_POINTS (1 << 18)

/* The most proposals that a plan allows. */
#define PE_PLAN_PROPOSALS (1 << 23)

/* - ln 2^-64, and a little. */
#define PE_PLAN_MISS 44.5

typedef struct pe_lattice_plan
{
	bool		finite;			/* a finite, public set of points; else the whole lattice */
	double		acceptance;		/* the chance that a proposal is accepted, at least; 0: no bound is known */
	uint8_t		part[PE_CELL_VARIABLES];	/* the public cells: 2^part_j of them along j */
	/*
	 * of a finite set: by how much a grid's exponents change along j, for
	 * pe_lattice_plan_grid
	 */
	double		share[PE_CELL_VARIABLES];
} pe_lattice_plan;

/*
 * A plan.  change[j], prior[j]: by how much the exponents of the score and of the prior change
 * from side to side of the box along j, at most; inequalities: whether the set has any.
 */
extern void pe_lattice_plan_make(pe_lattice_plan *plan, int32_t variables, const double *change, const double *prior,
								 bool inequalities);

/* After so many proposals one was accepted, but with a chance below 2^-64; infinity where no bound is known. */
extern double pe_lattice_plan_proposals(const pe_lattice_plan *plan);

/* A grid of at most so many points: so many along each coordinate, more where exponents change more. */
extern void pe_lattice_plan_grid(int32_t variables, const double *share, double most, int32_t *points);

/* ----------
 * The law
 * ----------
 */

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
 * way, at a cost of nano: pure, epsilon / (2 change); else eta / (2 change), eta the
 * range that rho pays for (noise/selection.c has the proofs).
 */
extern pe_score_rate pe_exponential_rate(uint64_t change, pe_accounting accounting, int64_t nano);

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
extern pe_lattice_law *pe_lattice_law_make_with(const pe_affine_lattice *lattice,
												pe_score_rate rate, pe_score_rate prior,
												const double *centre, size_t memory, int32_t cells,
												int32_t bits, double margin);

/*
 * For unit tests: weighs the cells anew, so that the heaviest has a weight near 2^peak.  The
 * law does not depend on that.
 */
extern void pe_lattice_law_weigh(pe_lattice_law *law, int32_t peak);

/*
 * For unit tests: the first point of a cell, or the point of a finite set, of
 * this number from 0; false behind the last.
 */
extern bool pe_lattice_law_corner(const pe_lattice_law *law, int32_t number, int64_t *at);

#endif

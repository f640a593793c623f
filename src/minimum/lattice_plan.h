/*
 * lattice_plan.h
 *	  Which points the exponential mechanism draws from, decided from what is public.
 *
 * Exact rejection sampling on the whole lattice takes a number of proposals that depends on
 * private offsets.  A plan bounds that number by slopes, box, max_change and cost alone, or
 * it asks for a finite, public set of points, which takes a fixed number of evaluations.
 *
 * The bound, for a box.  Divide it into public cells, 2^part_j along coordinate j, and let
 * lambda_j be how much the exponent rate S changes along side j of a cell, at most: rate
 * times the steepest slope times the side.  S is convex; let x* be where it is least in a cell.
 * Then rate (S(x) - S(x*)) <= sum_j lambda_j |u_j - u*_j| with u in [0, 1]^d, so that a
 * uniform point of the cell is accepted with a chance of at least
 *
 *	  product over j of  integral over u of exp(-lambda_j |u - u*_j|)
 *	  >= product over j of  (1 - exp(-lambda_j)) / lambda_j,
 *
 * as the integral is least with u*_j at an end.  With a prior, whose exponent changes by
 * mu_j and is least elsewhere, the factor is the lesser of that of lambda_j + mu_j and of
 * (exp(-mu_j) - exp(-lambda_j)) / (lambda_j - mu_j), where the two are at opposite ends: the
 * integral is log-concave in either place.  The points of a cell are not a continuum: that
 * x* lies up to half a step from one costs exp(-1/2) per unit of the exponent and step.  The
 * bound of a cell may be below its least value by 1/2 for S, and for T, in units of the
 * exponent (lattice_law.c): SLACK.  The product is the same for all cells: the chance that
 * a proposal is accepted is at least that, whatever the offsets; and finer cells have higher
 * bounds, so that dividing further only raises it.
 *
 * It rests on the cells' linear programmes being solved, in doubles, to that 1/2.  Where
 * rounding prevented it, more proposals would be drawn; the law is the same.
 *
 * MISS: of so many proposals, divided by the bound, none is accepted with a chance below
 * 2^-64.  Drawing goes on even then: the law stays exact, the cost stays pure, and no delta
 * is charged; that the number of proposals exceeds the public one has a chance below 2^-64 on
 * every data set.
 *
 * Inequalities may leave a sliver of a cell only, and no such bound is known: in three
 * variables or more the set of points is finite then.  In one or two variables, where cells
 * are enough but for functions that are level along a line and steep beyond reason across it,
 * the whole lattice is drawn from, without a bound.
 */
#ifndef PE_MINIMUM_LATTICE_PLAN_H
#define PE_MINIMUM_LATTICE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

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
	double		share[PE_CELL_VARIABLES];	/* of a finite set: by how much a grid's exponents change along j, for pe_lattice_plan_grid */
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

#endif

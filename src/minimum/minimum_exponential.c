/*
 * minimum_exponential.c
 *	  Private minimisation by the exponential mechanism, sampled exactly.
 *
 * Released: a point x of the set, on the lattice of affine/affine_lattice.h, or one of a
 * public, finite set of its points, as doubles that are a function of its numbers X and of
 * what is public.  Which of the two is a function of slopes, or of bounds declared for
 * them, set, max_change, options and cost: public (lattice_law.h).  Up to
 * PE_CELL_VARIABLES variables a finite set has a grid in it: over a box its best point is at
 * most sum_j steepest_j spacing_j / 2 above the minimum.
 *
 * Neighbours: the same rows, slopes and set; one offset, or any number of them, moves by
 * at most max_change.
 *
 * Sensitivity: the score S(X), an integer, moves by at most D = lattice.change, up or
 * down, at every X (affine_lattice.h).  Scores of different X may move in different
 * ways: they are not monotone.
 *
 * Law: P(X) = exp(-rate S(X)) m(X) / Z, where Z is the sum over the points X of the set,
 * and the base measure m(X) = exp(-tau T(X)) and the points themselves are functions of
 * slopes, set, max_change and options: public, the same for neighbours.
 *
 * Cost.  |S - S'| <= D at every X, so that Z'/Z and exp(-rate (S - S')) are at most
 * exp(D rate) each, and P(X) / P'(X) <= exp(2 D rate).  Pure: epsilon = 2 D rate, exactly,
 * a rational that is used as such (McSherry and Talwar, "Mechanism design via
 * differential privacy", FOCS 2007; Han, Topcu and Pappas, arXiv 1408.6286, Theorem 19, whose
 * Metropolis steps have no such bound).  zCDP: ln P(X) / P'(X) = rate (S' - S) + ln Z' / Z
 * lies in an interval of length 2 D rate, a bounded range of eta = 2 D rate, and the
 * mechanism is eta^2 / 8-zCDP (Cesar and Rogers, arXiv 2004.07223); of Gaussian DP it costs what
 * accounting/conversion.h says of a range.  The rate is rounded down (noise/selection.c).
 *
 * Exact: the law of the draw is P itself, by integers and rationals; no double decides
 * (lattice_law.h).
 *
 * Time: the cells and the number of rejected proposals depend on offsets, and so does
 * the time that dividing and drawing take.  The caller pads the time of the whole answer
 * to a multiple of pg_epsilon.time_quantum.  What they can take at most is public in three
 * variables or more: no more than PE_PLAN_PROPOSALS proposals are drawn, but with a chance
 * below 2^-64, and a finite set is evaluated in full.
 *
 * Without rows the function is constant, and X uniform on the set.
 */
#include "minimum/minimum.h"

#include <math.h>

#include "affine/affine_lattice.h"
#include "noise/bits.h"
#include "minimum/lattice_law.h"

/* The most that slopes are, where nothing was declared of them. */
static void
find_steepest(const pe_affine *f, double *steepest)
{
	size_t		d = (size_t) f->variables;

	for (size_t i = 0; i < (size_t) f->rows * d; i++)
		steepest[i % d] = fmax(steepest[i % d], fabs(f->slope[i]));
}

void
pe_minimum_exponential(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	double		steepest[PE_AFFINE_VARIABLES] = {0};
	pe_affine_lattice lattice;
	pe_lattice_plan plan;
	pe_lattice_law *law;
	int64_t		at[PE_AFFINE_VARIABLES];
	pe_bits		bits;

	if (problem->steepest == NULL)
		find_steepest(f, steepest);
	pe_minimum_plan(problem, problem->steepest != NULL ? problem->steepest : steepest, &plan);
	pe_affine_lattice_init(&lattice, f, &problem->set, problem->lower, problem->upper, problem->max_change);
	law = pe_lattice_law_make(&lattice, pe_exponential_rate(lattice.change, problem->accounting, problem->nano),
							  pe_prior_rate(problem->options.prior, lattice.unit), problem->centre,
							  pe_lattice_law_memory(lattice.variables, lattice.rows, lattice.inequalities), &plan);
	pe_allowance_take(problem->allowance, problem->nano);
	pe_bits_init(&bits);
	(void) pe_lattice_law_draw(law, &bits, at);
	pe_bits_wipe(&bits);
	pe_lattice_point(&lattice, at, x);
	pe_lattice_law_free(law);
	pe_affine_lattice_free(&lattice);
}

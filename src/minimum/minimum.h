/*
 * minimum.h
 *	  Private minimisation of a piecewise affine function max_i (a_i'x + b_i) over a
 *	  polytope: the methods of Han, Topcu and Pappas, "Differentially private convex
 *	  optimization with piecewise affine objectives", arXiv 1408.6286, corrected.
 *
 * Released: the point that is found, and with it the minimum of the function without
 * its offsets, which is public.  Neighbours: the same rows and slopes; one offset, or
 * any number of them, moves by at most max_change.  Each method's own file states the
 * sensitivity, the cost and the theorem.
 */
#ifndef PE_MINIMUM_MINIMUM_H
#define PE_MINIMUM_MINIMUM_H

#include "accounting/cost.h"
#include "affine/affine.h"
#include "base/option_table.h"
#include "minimum/lattice_law.h"

typedef enum pe_minimum_method
{
	PE_MINIMUM_EXPONENTIAL,		/* minimum_exponential.c */
	PE_MINIMUM_LAPLACE_DATA,	/* minimum_laplace.c */
	PE_MINIMUM_LAPLACE_SOLUTION,
	PE_MINIMUM_SUBGRADIENT,		/* minimum_subgradient.c */
	PE_MINIMUM_SUBGRADIENT_LAST,
	PE_MINIMUM_METHODS
} pe_minimum_method;

/* NaN: the method's default.  An option that a method does not know must be NaN. */
typedef struct pe_minimum_options
{
	double		iterations;		/* subgradient, subgradient_last [100; subgradient under zCDP 25] */
	double		step;			/* the same: length of a step, in units of R / (G sqrt(iterations)), with R half the
								 * diagonal of the tight box and G the longest slope [1] */
	/*
	 * exponential: tau of the base measure exp(-tau max_i a_i'x), per unit of
	 * the function [0]
	 */
	double		prior;
} pe_minimum_options;

typedef struct pe_minimum_problem
{
	pe_minimum_method method;
	pe_minimum_options options; /* with defaults filled in */
	pe_polytope set;
	const double *lower;		/* its tight box, and a point inside: pe_polytope_tighten */
	const double *upper;
	const double *centre;
	/*
	 * no slope of a variable is larger in absolute value, of what is public
	 * before rows are read; NULL: the slopes themselves say
	 */
	const double *steepest;
	double		max_change;		/* from the registry */
	bool		all;			/* all offsets may move by it at once; else one */
	pe_accounting accounting;	/* PE_PURE: nano is of a pure epsilon, else of rho */
	int64_t		nano;			/* the cost, all of it */
	pe_allowance *allowance;	/* of one run, from which each draw takes its part; NULL: nothing can be drawn */
} pe_minimum_problem;

/* The method of a name, and the name; false for none. */
extern bool pe_minimum_method_named(const char *name, pe_minimum_method *method);
extern const char *pe_minimum_method_name(pe_minimum_method method);

/* The options: pe_minimum_options by their names. */
extern const pe_option_table pe_minimum_option_table;

/*
 * Puts defaults where options are unset.  Returns NULL, or the name of an option that
 * the method does not know or whose value makes no sense.
 */
extern const char *pe_minimum_defaults(pe_minimum_problem *problem);

/* The least cost that the method can divide: nano below it is refused. */
extern int64_t pe_minimum_least_cost(const pe_minimum_problem *problem);

/* Bytes besides the rows, for so many of them. */
extern size_t pe_minimum_memory(const pe_minimum_problem *problem, size_t rows);

/*
 * Finds a point, d = set.variables numbers in x, all finite; of every method but
 * subgradient_last in the set.  Polls, also while it works on what has been
 * noised already (laplace_data, laplace_solution, subgradients), but exponential never after
 * its draw.  f->offset is not changed; copies are wiped.  Without rows the function is
 * constant.
 */
extern void pe_minimum_run(const pe_minimum_problem *problem, const pe_affine *f, double *x);

/*
 * What exponential draws from, from what is public: the problem without its steepest,
 * and the most that the slopes of a variable are in absolute value, for each.
 */
extern void pe_minimum_plan(const pe_minimum_problem *problem, const double *steepest, pe_lattice_plan *plan);

/*
 * How far above the minimum the value at the point is on average, at most:
 * before anything is drawn, from what is public.  steepest: as of
 * pe_minimum_plan.  NaN where nothing is known: for methods other than
 * exponential, with a prior, and where a finite set is drawn from.
 *
 * Without a lattice: the function is convex, so the volume V(s) of the set
 * where it is at most s above its minimum has a concave d-th root (Brunn and
 * Minkowski), and V'(s) / s^(d-1) falls.  Under the law with density V'(s)
 * exp(-kappa s), kappa = eta / (2 max_change), s is therefore stochastically
 * smaller than under that with s^(d-1), a gamma law of mean d / kappa.
 *
 * With it: let Z(kappa) be the integral of exp(-kappa s) over the set, so that
 * the mean is -(ln Z)' <= d / kappa, and Z'(kappa) the sum over the points,
 * each times the volume of a step.  A point's step around it lies in the set
 * made larger by a factor of 1 + t from its centre, and those of the points
 * cover the set made smaller by 1 - t, where t times the way from the centre to
 * each side is at least half a step and what rounding takes from that side.
 * From the set to either one the function changes by at most t times its range
 * over the box, over half a step by at most 2^-29 of that, and by d 2^-30 of it
 * when slopes are rounded, twice, for the law and for the value: by c together.
 * So |ln Z' - ln Z| <= kappa c - d ln(1 - t), and as ln Z' is convex, for every
 * r below 1
 *
 *	  -(ln Z')' <= (ln Z'(r kappa) - ln Z'(kappa)) / ((1 - r) kappa)
 *			  <= (d ln(1 / r) - 2 d ln(1 - t) + (1 + r) kappa c) / ((1 - r) kappa),
 *
 * and the least of these is taken: d / kappa and 2 sqrt(c d / kappa) more, if c
 * is small.
 */
extern double pe_minimum_expected_gap(const pe_minimum_problem *problem, const double *steepest);

/* The minimum over the set without the offsets; -infinity without rows.  Public. */
extern double pe_minimum_public(const pe_minimum_problem *problem, const pe_affine *f);

/*
 * A minimiser for the offsets given, which need not be f's: rows that are nowhere the
 * maximum (-infinity too) are left out, so that one that is missing does no harm to the
 * programme.  The centre, if there is no solution in doubles.
 */
extern void pe_minimum_of_offsets(const pe_minimum_problem *problem, const pe_affine *f,
								  const double *offset, double *x);

/* ---- one file each, called by pe_minimum_run ---- */
extern void pe_minimum_exponential(const pe_minimum_problem *problem, const pe_affine *f, double *x);
extern void pe_minimum_laplace_data(const pe_minimum_problem *problem, const pe_affine *f, double *x);
extern void pe_minimum_laplace_solution(const pe_minimum_problem *problem, const pe_affine *f, double *x);
extern void pe_minimum_subgradient(const pe_minimum_problem *problem, const pe_affine *f, double *x);
extern void pe_minimum_subgradient_last(const pe_minimum_problem *problem, const pe_affine *f, double *x);

#endif

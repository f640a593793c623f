/*
 * minimum_subgradient.c
 *	  Piecewise affine minimisation by private subgradients.
 *
 * Released: the numbers i_1 .. i_k of rows, k = iterations, and what is
 * computed from them and from public slopes.  From x^(1), the public centre of
 * the set, step t selects row i_t by its value at x^(t), a large one more
 * likely, and goes against its slope:
 *
 *	  x^(t+1) = nearest point of the set to x^(t) - alpha a_(i_t),
 *	  alpha = step R / (G sqrt(k)),
 *
 * with R half the diagonal of the tight box, G the longest slope.  The result
 * is the mean of x^(1) .. x^(k), the points at which rows were selected.  It is
 * in the set, and f(mean) <= mean of f(x^(t)), which the theory of the method
 * bounds; the best of the points, which the paper's theorem is about, is not
 * known without more cost.
 *
 * Neighbours: one offset, or any number of them, moves by at most max_change.
 *
 * Sensitivity: a selection's scores are the integers -(A_i . X + B_i) of
 * affine/affine_lattice.h at the lattice point X nearest to x^(t).  Given
 * i_1 .. i_(t-1) the point is public, and each B_i moves by at most D: scores
 * of sensitivity D that do not all move the same way.
 *
 * Cost: nano / k for each selection, the last one has the remainder.  Of rho
 * the exponential mechanism, pure permute-and-flip (select.h has both proofs),
 * which is never worse (McKenna and Sheldon, arXiv 2010.12603).  Each selection
 * may depend on those before it: adaptive composition adds up rho and epsilon
 * (accounting/filter.h).  All else is post-processing.
 *
 * subgradient_last is Algorithm 2 of Han, Topcu and Pappas as printed: the
 * exponential mechanism also where the cost is pure, no projection, and x^(k+1)
 * as the result, which may lie outside the set.  Except for the sign: with P(i)
 * proportional to exp(-epsilon u(i) / (2 max_change)) as printed a large u,
 * which is the value of the row, would be unlikely.
 */
#include "minimum/minimum.h"

#include <math.h>
#include <string.h>

#include "affine/affine_lattice.h"
#include "affine/programme.h"
#include "noise/noise.h"

typedef struct descent
{
	const pe_minimum_problem *problem;
	const pe_affine *f;
	pe_affine_lattice lattice;
	pe_i128    *score;
	double		longest;		/* G; 1 where all slopes are 0 */
	double		way;			/* alpha G: a step as long as the longest slope */
	bool		last;			/* subgradient_last */
} descent;

/* sqrt of the sum of squares, of numbers whose squares may not be numbers */
static double
length_of(const double *v, int32_t count)
{
	double		length = 0;

	for (int32_t j = 0; j < count; j++)
		length = hypot(length, v[j]);
	return length;
}

/* alpha itself need not be a number where slopes are tiny and the box is not. */
static void
set_step(descent *d)
{
	const pe_minimum_options *o = &d->problem->options;
	int32_t		count = d->f->variables;
	double		half[PE_AFFINE_VARIABLES];

	for (int32_t j = 0; j < count; j++)
		half[j] = d->problem->upper[j] / 2 - d->problem->lower[j] / 2;
	d->longest = 0;
	for (int32_t i = 0; i < d->f->rows; i++)
		d->longest = fmax(d->longest, length_of(d->f->slope + (size_t) i * (size_t) count, count));
	if (d->longest == 0)
		d->longest = 1;
	d->way = o->step * length_of(half, count) / sqrt(o->iterations);
}

static void
start(descent *d, const pe_minimum_problem *problem, const pe_affine *f)
{
	d->problem = problem;
	d->f = f;
	set_step(d);
	d->score = pe_alloc((size_t) f->rows, sizeof(*d->score));
	pe_affine_lattice_init(&d->lattice, f, &problem->set, problem->lower, problem->upper, problem->max_change);
}

static void
finish_descent(descent *d)
{
	pe_wipe(d->score, (size_t) d->f->rows * sizeof(*d->score));
	pe_free(d->score);
	pe_affine_lattice_free(&d->lattice);
}

/* The number of a row with a large value at x. */
static int32_t
select_row(descent *d, const double *x, int64_t nano)
{
	int64_t		at[PE_AFFINE_VARIABLES];

	pe_lattice_nearest(&d->lattice, x, at);
	for (int32_t i = 0; i < d->f->rows; i++)
		d->score[i] = -pe_lattice_row(&d->lattice, i, at);
	return (d->last ? pe_draw_exponential : pe_draw_least)
		(d->problem->allowance, d->score, d->f->rows, d->lattice.change, false, nano);
}

static void
descend(descent *d, double *x, int64_t nano)
{
	const double *slope = d->f->slope + (size_t) select_row(d, x, nano) * (size_t) d->f->variables;

	for (int32_t j = 0; j < d->f->variables; j++)
		x[j] -= d->way * (slope[j] / d->longest);
	if (!d->last)
		pe_polytope_nearest(&d->problem->set, x, x);
}

static void
run_descent(descent *d, double *x)
{
	int32_t		steps = (int32_t) d->problem->options.iterations;
	int64_t		part = d->problem->nano / steps;
	double		mean[PE_AFFINE_VARIABLES] = {0};

	for (int32_t t = 0; t < steps; t++)
	{
		pe_poll();
		for (int32_t j = 0; j < d->f->variables; j++)
			mean[j] += x[j] / steps;
		descend(d, x, t < steps - 1 ? part : d->problem->nano - part * (steps - 1));
	}
	if (d->last)
		return;
	/* rounding may have led out of the box */
	for (int32_t j = 0; j < d->f->variables; j++)
		x[j] = fmin(fmax(mean[j], d->problem->lower[j]), d->problem->upper[j]);
}

static void
descend_from_centre(const pe_minimum_problem *problem, const pe_affine *f, bool last, double *x)
{
	descent		d = {.last = last};

	memcpy(x, problem->centre, (size_t) f->variables * sizeof(*x));
	if (f->rows == 0)
		return;
	start(&d, problem, f);
	run_descent(&d, x);
	finish_descent(&d);
}

void
pe_minimum_subgradient(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	descend_from_centre(problem, f, false, x);
}

void
pe_minimum_subgradient_last(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	descend_from_centre(problem, f, true, x);
}

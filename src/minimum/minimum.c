/*
 * minimum.c
 *	  Private minimisation of piecewise affine functions: the table of the methods,
 *	  their options, what they ask for, and running one.
 */
#include "minimum/minimum.h"

#include <math.h>
#include <string.h>

#include "affine/affine_lattice.h"
#include "affine/programme.h"
#include "minimum/lattice_law.h"
#include "noise/noise.h"

/* The gap of the public minimum. */
#define GAP 1e-9

/*
 * A step of the lattice, of the width of the box; a unit of scores, of the
 * function's range over it; what points far away are off by.
 */
#define STEP (1.0 / ((INT64_C(1) << PE_LATTICE_BITS) - 1))
#define UNIT 0x1p-57
#define FAR_ERROR 0x1p-49

/* Ratios of kappa that an expected gap is bounded by, down to 2^-this and up to 1 - 2^-this. */
#define RATIOS 40

/* ----------
 * The methods
 * ----------
 */
typedef struct operations
{
	const char *name;
	double		selections;		/* the default of `iterations', a nano-unit each; 0: there are none */
	double		selections_rho;	/* the same where the cost is of rho */
	bool		exponential;	/* it draws from a law on a lattice */
	void		(*run) (const pe_minimum_problem *problem, const pe_affine *f, double *x);
} operations;

/*
 * Of rho each of k selections has a range of about sqrt(8 rho / k), which shows
 * something of where the maximum is if they are few; with epsilon / k only many
 * steps, each nearly blind, come anywhere.
 */
static const operations methods[PE_MINIMUM_METHODS] = {
	[PE_MINIMUM_EXPONENTIAL] = {"exponential", .exponential = true, .run = pe_minimum_exponential},
	[PE_MINIMUM_LAPLACE_DATA] = {"laplace_data", .run = pe_minimum_laplace_data},
	[PE_MINIMUM_LAPLACE_SOLUTION] = {"laplace_solution", .run = pe_minimum_laplace_solution},
	[PE_MINIMUM_SUBGRADIENT] = {"subgradient", .selections = 100, .selections_rho = 25, .run = pe_minimum_subgradient},
	[PE_MINIMUM_SUBGRADIENT_LAST] = {"subgradient_last", .selections = 100, .selections_rho = 100,
		.run = pe_minimum_subgradient_last},
};

bool
pe_minimum_method_named(const char *name, pe_minimum_method *method)
{
	for (int i = 0; i < PE_MINIMUM_METHODS; i++)
	{
		if (strcmp(name, methods[i].name) == 0)
		{
			*method = (pe_minimum_method) i;
			return true;
		}
	}
	return false;
}

const char *
pe_minimum_method_name(pe_minimum_method method)
{
	return methods[method].name;
}

/* ----------
 * Options
 * ----------
 */
#define BIT(method) (UINT32_C(1) << PE_MINIMUM_##method)
#define SUBGRADIENTS (BIT(SUBGRADIENT) | BIT(SUBGRADIENT_LAST))
#define AT(field) #field, offsetof(pe_minimum_options, field)

static const pe_option options[] = {
	{AT(iterations), SUBGRADIENTS, 1, 10000, false, true},
	{AT(step), SUBGRADIENTS, 0, 1e6, true, false},
	{AT(prior), BIT(EXPONENTIAL), 0, 1e30, false, false},
};

const pe_option_table pe_minimum_option_table = PE_OPTION_TABLE(options);

const char *
pe_minimum_defaults(pe_minimum_problem *problem)
{
	const operations *method = &methods[problem->method];
	pe_minimum_options *o = &problem->options;
	const char *mistaken = pe_option_mistaken(&pe_minimum_option_table, o, (int) problem->method);

	if (mistaken == NULL && method->exponential)
		pe_option_default(&o->prior, 0);
	if (mistaken == NULL && method->selections > 0)
	{
		pe_option_default(&o->iterations, problem->accounting == PE_PURE ? method->selections : method->selections_rho);
		pe_option_default(&o->step, 1);
	}
	return mistaken;
}

/* ----------
 * What a method asks for
 * ----------
 */

/* One nano-unit for each selection. */
int64_t
pe_minimum_least_cost(const pe_minimum_problem *problem)
{
	return methods[problem->method].selections > 0 ? (int64_t) problem->options.iterations : 1;
}

/*
 * Bytes of a row in the methods' own arrays: its offset exact, noised and as a
 * double, its slope, its number, a score.
 */
static size_t
row_bytes(const pe_minimum_problem *problem)
{
	return 3 * sizeof(pe_i128) + 3 * sizeof(double) + (size_t) problem->set.variables * sizeof(double);
}

/* The public minimum and most methods solve a programme, most have a lattice. */
size_t
pe_minimum_memory(const pe_minimum_problem *problem, size_t rows)
{
	const pe_polytope *set = &problem->set;
	size_t		bytes;

	if (rows > INT32_MAX)
		return SIZE_MAX;
	bytes = pe_programme_memory(set->variables, (int32_t) rows, set->inequalities) +
		pe_affine_lattice_memory(set->variables, (int32_t) rows, set->inequalities) + rows * row_bytes(problem);
	if (methods[problem->method].exponential)
		bytes += pe_lattice_law_memory(set->variables, (int32_t) rows, set->inequalities);
	return bytes;
}

/*
 * How much of the way from the centre to a side so many half steps of the
 * lattice are, and what points far away are off by.
 */
static double
part_of_way(const pe_minimum_problem *problem, const double *row, double half_steps)
{
	int32_t		d = problem->set.variables;
	double		way = row[d];
	double		taken = 0;

	for (int32_t j = 0; j < d; j++)
	{
		double		half = problem->upper[j] / 2 - problem->lower[j] / 2;
		double		far = fmax(fabs(problem->lower[j]), fabs(problem->upper[j]));

		way -= row[j] * problem->centre[j];
		taken += fabs(row[j]) * (half * STEP * half_steps + far * FAR_ERROR);
	}
	if (taken == 0)
		return 0;
	return way > 0 ? taken / way : INFINITY;
}

/*
 * The most of these.  From an inequality rounding takes d units of its numbers,
 * none more than half a step of each coordinate, and less than another
 * (affine_lattice.c).
 */
static double
most_of_way(const pe_minimum_problem *problem)
{
	int32_t		d = problem->set.variables;
	double		most = 0;

	for (int32_t j = 0; j < d; j++)
	{
		double		side[PE_AFFINE_VARIABLES + 1] = {0};

		side[j] = 1;
		side[d] = problem->upper[j];
		most = fmax(most, part_of_way(problem, side, 1));
		side[j] = -1;
		side[d] = -problem->lower[j];
		most = fmax(most, part_of_way(problem, side, 1));
	}
	for (int32_t k = 0; k < problem->set.inequalities; k++)
		most = fmax(most, part_of_way(problem, problem->set.inequality + (size_t) k * ((size_t) d + 1), d + 2));
	return most;
}

static double
range_of(const pe_minimum_problem *problem, const double *steepest)
{
	double		range = 0;

	for (int32_t j = 0; j < problem->set.variables; j++)
		range += steepest[j] * (problem->upper[j] - problem->lower[j]);
	return range;
}

/* The bound of minimum.h, with t = part and c = coarse, at ratios r near 1, which are for small c, and near 0. */
static double
least_bound(int32_t d, double kappa, double part, double coarse)
{
	double		least = INFINITY;

	for (int i = -RATIOS; i <= RATIOS; i++)
	{
		double		r = i < 0 ? ldexp(1, i) : 1 - ldexp(1, -i - 2);
		double		bound = (d * (-log(r) - 2 * log1p(-part)) / kappa + (1 + r) * coarse) / (1 - r);

		least = fmin(least, bound);
	}
	return least;
}

/*
 * Per unit of the function.  A unit of scores is at most that part of the
 * range, or of max_change: D is no more than one unit too large.
 */
static double
rate_of(const pe_minimum_problem *problem, double range)
{
	uint64_t	numerator;
	uint64_t	factor;

	pe_select_rate(problem->accounting, problem->nano, &numerator, &factor);
	return (double) numerator / (double) factor / (2 * (problem->max_change + range * UNIT));
}

void
pe_minimum_plan(const pe_minimum_problem *problem, const double *steepest, pe_lattice_plan *plan)
{
	int32_t		d = problem->set.variables;
	double		kappa = rate_of(problem, 0);
	double		change[PE_AFFINE_VARIABLES];
	double		prior[PE_AFFINE_VARIABLES];

	for (int32_t j = 0; j < d; j++)
	{
		double		most = steepest[j] * (problem->upper[j] - problem->lower[j]);

		/* not 0 times infinity: without a slope nothing changes */
		change[j] = most > 0 ? kappa * most : 0;
		prior[j] = most > 0 && problem->options.prior > 0 ? problem->options.prior * most : 0;
	}
	pe_lattice_plan_make(plan, d, change, prior, problem->set.inequalities > 0);
}

double
pe_minimum_expected_gap(const pe_minimum_problem *problem, const double *steepest)
{
	int32_t		d = problem->set.variables;
	double		part = most_of_way(problem);
	double		range = range_of(problem, steepest);
	double		kappa;
	double		gap;
	pe_lattice_plan plan;

	if (!methods[problem->method].exponential || problem->options.prior > 0 || !(part < 1))
		return NAN;
	pe_minimum_plan(problem, steepest, &plan);
	if (plan.finite)
		return NAN;
	kappa = rate_of(problem, range);
	gap = least_bound(d, kappa, part, range * (part + (d + 1) * STEP / 2));
	return isfinite(gap) ? gap : NAN;
}

double
pe_minimum_public(const pe_minimum_problem *problem, const pe_affine *f)
{
	const pe_plain_affine plain = {f->variables, f->rows, f->slope, NULL};
	double		x[PE_AFFINE_VARIABLES];
	pe_affine_minimum minimum = {.x = x};

	if (f->rows == 0)
		return -INFINITY;
	pe_affine_minimise(&plain, &problem->set, GAP, &minimum);
	return minimum.value;
}

/* ----------
 * Running one
 * ----------
 */
void
pe_minimum_run(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	if (problem->nano < pe_minimum_least_cost(problem))
		pe_bug("a cost that the method cannot divide");
	methods[problem->method].run(problem, f, x);
	for (int32_t j = 0; j < f->variables; j++)
	{
		if (!isfinite(x[j]))
			pe_bug("a minimisation ended in numbers that are not finite");
	}
}

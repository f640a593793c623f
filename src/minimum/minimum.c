/*
 * minimum.c
 *	  Private minimisation of piecewise affine functions: the methods' names, their
 *	  options, what they ask for, and running one.
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

/* A step of the lattice, of the width of the box; a unit of scores, of the function's range over it; what points far away are off by. */
#define STEP (1.0 / ((INT64_C(1) << PE_LATTICE_BITS) - 1))
#define UNIT 0x1p-57
#define FAR_ERROR 0x1p-49

/* Ratios of kappa that an expected gap is bounded by, down to 2^-this and up to 1 - 2^-this. */
#define RATIOS 40

static const char *const names[PE_MINIMUM_METHODS] = {
	[PE_MINIMUM_EXPONENTIAL] = "exponential",
	[PE_MINIMUM_LAPLACE_DATA] = "laplace_data",
	[PE_MINIMUM_LAPLACE_SOLUTION] = "laplace_solution",
	[PE_MINIMUM_SUBGRADIENT] = "subgradient",
	[PE_MINIMUM_SUBGRADIENT_LAST] = "subgradient_last",
};

bool
pe_minimum_method_named(const char *name, pe_minimum_method *method)
{
	for (int i = 0; i < PE_MINIMUM_METHODS; i++)
	{
		if (strcmp(name, names[i]) == 0)
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
	return names[method];
}

/* ----------
 * Options
 * ----------
 */
#define BIT(method) (UINT32_C(1) << PE_MINIMUM_##method)
#define SUBGRADIENTS (BIT(SUBGRADIENT) | BIT(SUBGRADIENT_LAST))

/* An option: who knows it, and which values make sense. */
typedef struct option
{
	const char *name;
	size_t		offset;
	uint32_t	methods;
	double		least;
	double		most;
	bool		open;			/* least itself makes no sense */
	bool		whole;
} option;

#define AT(field) #field, offsetof(pe_minimum_options, field)

static const option options[] = {
	{AT(iterations), SUBGRADIENTS, 1, 10000, false, true},
	{AT(step), SUBGRADIENTS, 0, 1e6, true, false},
	{AT(prior), BIT(EXPONENTIAL), 0, 1e30, false, false},
};

#define OPTIONS ((int) (sizeof(options) / sizeof(options[0])))

static double *
value_of(pe_minimum_options *values, const option *o)
{
	return (double *) ((char *) values + o->offset);
}

void
pe_minimum_options_init(pe_minimum_options *values)
{
	for (int i = 0; i < OPTIONS; i++)
		*value_of(values, &options[i]) = NAN;
}

bool
pe_minimum_option_set(pe_minimum_options *values, const char *name, double value)
{
	for (int i = 0; i < OPTIONS; i++)
	{
		if (strcmp(options[i].name, name) == 0)
		{
			*value_of(values, &options[i]) = value;
			return true;
		}
	}
	return false;
}

const char *
pe_minimum_option(const pe_minimum_options *values, int number, double *value)
{
	if (number >= OPTIONS)
		return NULL;
	*value = *value_of((pe_minimum_options *) values, &options[number]);
	return options[number].name;
}

static bool
makes_sense(pe_minimum_method method, const option *o, double value)
{
	if ((o->methods >> method & 1) == 0)
		return false;
	if (!(value >= o->least && value <= o->most) || (o->open && value == o->least))
		return false;
	return !o->whole || value == floor(value);
}

static void
fill_in(double *value, double standard)
{
	if (isnan(*value))
		*value = standard;
}

/*
 * Under zCDP each of k selections has epsilon sqrt(8 rho / k), which tells something of
 * where the maximum is if they are few; with epsilon / k only many steps, each nearly
 * blind, come anywhere.
 */
static void
set_defaults(pe_minimum_problem *problem)
{
	pe_minimum_options *o = &problem->options;

	switch (problem->method)
	{
		case PE_MINIMUM_EXPONENTIAL:
			fill_in(&o->prior, 0);
			break;
		case PE_MINIMUM_SUBGRADIENT:
		case PE_MINIMUM_SUBGRADIENT_LAST:
			fill_in(&o->iterations, problem->method == PE_MINIMUM_SUBGRADIENT && !problem->pure ? 25 : 100);
			fill_in(&o->step, 1);
			break;
		default:
			break;
	}
}

const char *
pe_minimum_defaults(pe_minimum_problem *problem)
{
	for (int i = 0; i < OPTIONS; i++)
	{
		double		value = *value_of(&problem->options, &options[i]);

		if (!isnan(value) && !makes_sense(problem->method, &options[i], value))
			return options[i].name;
	}
	set_defaults(problem);
	return NULL;
}

/* ----------
 * What a method asks for
 * ----------
 */

/* One nano-unit for each selection. */
int64_t
pe_minimum_least_cost(const pe_minimum_problem *problem)
{
	return (SUBGRADIENTS >> problem->method & 1) != 0 ? (int64_t) problem->options.iterations : 1;
}

/* Bytes of a row in the methods' own arrays: its offset exact, noised and as a double, its slope, its number, a score. */
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
	if (problem->method == PE_MINIMUM_EXPONENTIAL)
		bytes += pe_lattice_law_memory(set->variables, (int32_t) rows, set->inequalities);
	return bytes;
}

/* How much of the way from the centre to a side so many half steps of the lattice are, and what points far away are off by. */
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
 * The most of these.  From an inequality rounding takes d units of its numbers, none of
 * which is more than half a step of each coordinate, and less than another (affine_lattice.c).
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

/* Per unit of the function.  A unit of scores is at most that part of the range, or of max_change: D is no more than one unit too large. */
static double
rate_of(const pe_minimum_problem *problem, double range)
{
	uint64_t	numerator;
	uint64_t	factor;

	pe_select_rate(problem->pure, problem->nano, &numerator, &factor);
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

	if (problem->method != PE_MINIMUM_EXPONENTIAL || problem->options.prior > 0 || !(part < 1))
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
static void
run_method(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	switch (problem->method)
	{
		case PE_MINIMUM_EXPONENTIAL:
			pe_minimum_exponential(problem, f, x);
			break;
		case PE_MINIMUM_LAPLACE_DATA:
			pe_minimum_laplace_data(problem, f, x);
			break;
		case PE_MINIMUM_LAPLACE_SOLUTION:
			pe_minimum_laplace_solution(problem, f, x);
			break;
		case PE_MINIMUM_SUBGRADIENT:
		case PE_MINIMUM_SUBGRADIENT_LAST:
			pe_minimum_subgradient(problem, f, x);
			break;
		case PE_MINIMUM_METHODS:
			pe_bug("a method that is none");
	}
}

void
pe_minimum_run(const pe_minimum_problem *problem, const pe_affine *f, double *x)
{
	if (problem->nano < pe_minimum_least_cost(problem))
		pe_bug("a cost that the method cannot divide");
	run_method(problem, f, x);
	for (int32_t j = 0; j < f->variables; j++)
	{
		if (!isfinite(x[j]))
			pe_bug("a minimisation ended in numbers that are not finite");
	}
}

/*
 * lattice_plan.c
 *	  Which points the exponential mechanism draws from.  See lattice_law.h.
 */
#include "minimum/lattice_law.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "affine/affine_lattice.h"

/* What cells' bounds may be below their least values, in units of the exponent. */
#define SLACK 0.5

/* A coordinate along which nothing changes still has points where inequalities may need them. */
#define LEAST_SHARE 0.125

/* The integral of exp(-x u) over u in [0, 1]. */
static double
mean_of_fall(double x)
{
	return x < 1e-8 ? 1 : -expm1(-x) / x;
}

/* The integral of exp(-a u - b (1 - u)): exp(-b) times that of a fall by a - b, a the larger. */
static double
mean_of_cross(double a, double b)
{
	double		least = fmin(a, b);

	return exp(-least) * mean_of_fall(fmax(a, b) - least);
}

/*
 * One coordinate's factor, for a side along which exponents change by a and b,
 * and steps of the lattice along which by so much.
 */
static double
factor(double a, double b, double step)
{
	return exp(-step / 2) * fmin(mean_of_fall(a + b), mean_of_cross(a, b));
}

/* Halves the side along which exponents change most, PE_PLAN_PARTS times. */
static void
divide_evenly(pe_lattice_plan *plan, int32_t variables, const double *change, const double *prior)
{
	for (int i = 0; i < PE_PLAN_PARTS; i++)
	{
		int32_t		widest = 0;

		for (int32_t j = 1; j < variables; j++)
		{
			if (ldexp(change[j] + prior[j], -plan->part[j]) >
				ldexp(change[widest] + prior[widest], -plan->part[widest]))
				widest = j;
		}
		plan->part[widest]++;
	}
}

static double
least_acceptance(const pe_lattice_plan *plan, int32_t variables, const double *change, const double *prior)
{
	double		chance = exp(-SLACK);
	bool		with_prior = false;

	for (int32_t j = 0; j < variables; j++)
	{
		double		step = ldexp(change[j] + prior[j], -PE_LATTICE_BITS);

		with_prior = with_prior || prior[j] > 0;
		chance *= factor(ldexp(change[j], -plan->part[j]), ldexp(prior[j], -plan->part[j]), step);
	}
	return with_prior ? chance * exp(-SLACK) : chance;
}

void
pe_lattice_plan_grid(int32_t variables, const double *share, double most, int32_t *points)
{
	double		total = 1;

	for (int32_t j = 0; j < variables; j++)
		points[j] = 1;
	for (;;)
	{
		int32_t		widest = 0;
		int32_t		more;

		for (int32_t j = 1; j < variables; j++)
		{
			if (share[j] / (points[j] - 0.5) > share[widest] / (points[widest] - 0.5))
				widest = j;
		}
		more = points[widest] + 1 + points[widest] / 16;
		if (total / points[widest] * more > most || more > 1 << 20)
			return;
		total = total / points[widest] * more;
		points[widest] = more;
	}
}

/* A coordinate without change has one point in a box, some among inequalities. */
static void
share_points(pe_lattice_plan *plan, int32_t variables, const double *change, const double *prior, bool inequalities)
{
	double		most = 0;

	for (int32_t j = 0; j < variables; j++)
	{
		plan->share[j] = fmin(change[j] + prior[j], DBL_MAX);
		most = fmax(most, plan->share[j]);
	}
	for (int32_t j = 0; j < variables; j++)
	{
		double		least = most > 0 ? LEAST_SHARE * most : 1;

		if (inequalities && plan->share[j] < least)
			plan->share[j] = least;
	}
}

void
pe_lattice_plan_make(pe_lattice_plan *plan, int32_t variables, const double *change,
					 const double *prior, bool inequalities)
{
	memset(plan, 0, sizeof(*plan));
	plan->finite = variables > PE_CELL_VARIABLES;
	if (variables < PE_PLAN_VARIABLES || variables > PE_CELL_VARIABLES)
		return;
	divide_evenly(plan, variables, change, prior);
	plan->acceptance = least_acceptance(plan, variables, change, prior);
	/* also where it is not a number */
	plan->finite = inequalities || !(pe_lattice_plan_proposals(plan) <= PE_PLAN_PROPOSALS);
	if (plan->finite)
		share_points(plan, variables, change, prior, inequalities);
}

double
pe_lattice_plan_proposals(const pe_lattice_plan *plan)
{
	return plan->acceptance > 0 ? ceil(PE_PLAN_MISS / plan->acceptance) : INFINITY;
}

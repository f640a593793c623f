/*
 * minima.h
 *	  Audits of piecewise affine minimisation: noise of the maximum norm, and whole runs
 *	  of the methods.  Part of audit.c.
 *
 * Neighbours differ by offsets that move, which is written here as by a unit that comes
 * and goes: its image is the move.  Offsets are in units of max_change, which is 1, and a
 * run's vector has the point that it finds in its first place.
 */
#ifndef PE_AUDIT_MINIMA_H
#define PE_AUDIT_MINIMA_H

#include "noise/laplace.h"
#include "minimum/minimum.h"
#include "allowance.h"

#define CUBE_DRAWS 250000
#define MINIMUM_DRAWS 40000

/* ----------
 * Noise of the maximum norm
 * ----------
 */
#define CUBE_SENSITIVITY 7

/* Two numbers that both move by the sensitivity, the same way or not. */
static void
prepare_cube(subject *s)
{
	s->a.cells = 2;
	s->a.rows = 2;
	for (int cell = 0; cell < 2; cell++)
	{
		s->a.entry[0][cell] = CUBE_SENSITIVITY;
		s->a.entry[1][cell] = cell == 0 ? CUBE_SENSITIVITY : -CUBE_SENSITIVITY;
	}
	s->sensitivity = CUBE_SENSITIVITY;
}

static void
measure_cube(const subject *s, const contribution *c, pe_i128 *y)
{
	for (int i = 0; i < s->a.rows; i++)
	{
		y[i] = s->of.base;
		for (int cell = 0; cell < s->a.cells; cell++)
			y[i] += (pe_i128) c->count[cell] * s->a.entry[i][cell];
	}
}

static void
release_cube_as(const subject *s, int64_t nano, pe_i128 *exact, size_t count, int64_t *released)
{
	size_t		rows = (size_t) s->a.rows;

	for (size_t c = 0; c < count; c += rows)
		pe_cube_release(exact + c, rows, s->sensitivity, nano, released + c);
}

static void
release_cube(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_cube_as(s, s->of.nano, exact, count, released);
}

static const mechanism cube = {"cube", PE_PURE, true, release_cube, NULL, prepare_cube, measure_cube, LEAST_SHARE, CUBE_DRAWS};

/* ----------
 * Whole runs
 * ----------
 */

/* max(slope_i x + offset_i) of two rows, and how its offsets move. */
typedef struct minimum_case
{
	const char *name;
	pe_minimum_method method;
	bool		all;
	double		lower;
	double		upper;
	double		slope[2];
	int			offset[2];
	int			move[2];
	double		unit;			/* of the point in the vector */
	double		iterations;		/* NaN where there are none */
} minimum_case;

/*
 * A minimiser that moves with the noise; the two ends of an interval; a place that
 * becomes likelier while what is larger becomes less likely; a row that is selected more
 * seldom in each of two steps.
 */
static const minimum_case minimum_cases[] = {
	{"laplace_data, one", PE_MINIMUM_LAPLACE_DATA, false, -1000, 1000, {1, -1}, {3, 5}, {1, 0}, 0.0625, NAN},
	{"laplace_data, all", PE_MINIMUM_LAPLACE_DATA, true, -1000, 1000, {1, -1}, {3, 5}, {1, -1}, 0.0625, NAN},
	{"laplace_solution", PE_MINIMUM_LAPLACE_SOLUTION, true, 0, 1, {1, -1}, {-1, 1}, {1, -1}, 0.01, NAN},
	{"exponential, one", PE_MINIMUM_EXPONENTIAL, false, 0, 10, {0, 1}, {0, -6}, {0, -1}, 0.0625, NAN},
	{"exponential, all", PE_MINIMUM_EXPONENTIAL, true, 0, 10, {0, 1}, {0, -6}, {1, -1}, 0.0625, NAN},
	{"subgradient", PE_MINIMUM_SUBGRADIENT, true, -0.01, 0.01, {1, -1}, {0, -1}, {1, -1}, 0.001, 2},
	{"subgradient_last", PE_MINIMUM_SUBGRADIENT_LAST, true, -0.01, 0.01, {1, -1}, {0, -1}, {1, -1}, 0.001, 2},
};

static const minimum_case *
case_of(const subject *s)
{
	for (int i = 0; i < lengthof(minimum_cases); i++)
		if (strcmp(minimum_cases[i].name, s->of.workload) == 0)
			return &minimum_cases[i];
	pe_bug("no such case of a minimum");
}

static void
prepare_minimum(subject *s)
{
	s->a.cells = 1;
	s->a.rows = 2;
	for (int i = 0; i < 2; i++)
		s->a.entry[i][0] = case_of(s)->move[i];
}

static void
measure_minimum(const subject *s, const contribution *c, pe_i128 *y)
{
	for (int i = 0; i < 2; i++)
		y[i] = case_of(s)->offset[i] + (pe_i128) c->count[0] * s->a.entry[i][0];
}

static double
run_at(const pe_minimum_problem *problem, const double *slope, const pe_i128 *offset)
{
	double		x;
	pe_affine	f;

	pe_affine_init(&f, 1, pe_affine_unit(problem->max_change));
	for (int i = 0; i < 2; i++)
		pe_affine_add(&f, slope + i, pe_affine_offset_of_int((int64_t) offset[i], f.unit));
	run_minimum(problem, &f, &x);
	pe_affine_free(&f);
	return x;
}

/* nano and all: what the method is told, for faults. */
static void
release_minimum_as(const subject *s, int64_t nano, bool all, pe_i128 *exact, size_t count, int64_t *released)
{
	const minimum_case *of = case_of(s);
	double		centre = (of->lower + of->upper) / 2;
	pe_minimum_problem problem = {
		.method = of->method, .set = {1, 0, &of->lower, &of->upper, NULL}, .lower = &of->lower, .upper = &of->upper,
		.centre = &centre, .max_change = 1, .all = all, .accounting = s->of.mechanism->accounting, .nano = nano
	};

	pe_options_init(&pe_minimum_option_table, &problem.options);
	problem.options.iterations = of->iterations;
	if (pe_minimum_defaults(&problem) != NULL)
		pe_bug("a minimum that cannot be had");
	memset(released, 0, count * sizeof(*released));
	for (size_t c = 0; c < count; c += 2)
		released[c] = (int64_t) rint(run_at(&problem, of->slope, exact + c) / of->unit);
}

static void
release_minimum(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_minimum_as(s, s->of.nano, case_of(s)->all, exact, count, released);
}

/*
 * One number shows a part of what two offsets lose, and the mean of two points one
 * selection of two.  Of rho even less is seen by so few draws: no share is asked for.
 */
#define LEAST_OF_MINIMUM 0.15

static const mechanism minimum = {"minimum", PE_ZCDP, false, release_minimum, NULL, prepare_minimum, measure_minimum, 0, MINIMUM_DRAWS};
static const mechanism minimum_pure = {"minimum", PE_PURE, true, release_minimum, NULL, prepare_minimum, measure_minimum, LEAST_OF_MINIMUM, MINIMUM_DRAWS};

#endif

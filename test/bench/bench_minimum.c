/*
 * bench_minimum.c
 *	  Time of an exact draw of the exponential mechanism, one thread.
 *
 * Standard normal slopes and offsets, the box +-5, epsilon 0.1: CPU time of dividing the
 * box and of a draw, mean of DRAWS, with the number of cells, a lower bound of the chance
 * that a proposal is accepted, and both in units of evaluating the function in doubles at 1,000 points
 * in the same run; and the most memory.  Asked: with 5 variables and 1,000 rows both together within a second.
 *
 *	 bench_minimum [rows ...]		default: 1000 20000
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "affine/affine.h"
#include "affine/affine_lattice.h"
#include "noise/bits.h"
#include "minimum/lattice_law.h"
#include "minimum/minimum.h"
#include "shim.h"

#define DRAWS 200
#define POINTS 1000
#define MOST_VARIABLES 6
#define NANO_EPSILON 100000000

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static double
uniform(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double) (state >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller */
static double
normal(void)
{
	double		radius = sqrt(-2 * log(uniform()));

	return radius * cos(6.283185307179586 * uniform());
}

static void
make_function(pe_affine *f, int32_t variables, int32_t rows, double max_change)
{
	pe_affine_init(f, variables, pe_affine_unit(max_change));
	for (int32_t i = 0; i < rows; i++)
	{
		double		slope[MOST_VARIABLES];

		for (int32_t j = 0; j < variables; j++)
			slope[j] = normal();
		pe_affine_add(f, slope, pe_affine_offset(normal(), f->unit));
	}
}

/* Seconds for the function in doubles at POINTS points. */
static double
time_evaluations(const pe_affine *f)
{
	double	   *offset = calloc((size_t) f->rows, sizeof(double));
	pe_plain_affine plain = {f->variables, f->rows, f->slope, offset};
	double		x[MOST_VARIABLES];
	double		sum = 0;
	double		start = cpu_seconds();

	for (int i = 0; i < POINTS; i++)
	{
		for (int32_t j = 0; j < f->variables; j++)
			x[j] = 10 * uniform() - 5;
		sum += pe_affine_value(&plain, x);
	}
	start = cpu_seconds() - start;
	if (sum == 1)
		puts("");				/* so that the sum is needed */
	free(offset);
	return start;
}

static void
make_plan(const pe_affine *f, const double *lower, const double *upper, double max_change, pe_lattice_plan *plan)
{
	double		steepest[MOST_VARIABLES] = {0};
	pe_minimum_problem problem = {
		.method = PE_MINIMUM_EXPONENTIAL, .set = {.variables = f->variables}, .lower = lower, .upper = upper,
		.max_change = max_change, .accounting = PE_PURE, .nano = NANO_EPSILON
	};

	for (int32_t i = 0; i < f->rows * f->variables; i++)
		steepest[i % f->variables] = fmax(steepest[i % f->variables], fabs(f->slope[i]));
	pe_minimum_plan(&problem, steepest, plan);
}

static void
bench(int32_t variables, int32_t rows, double max_change)
{
	double		lower[MOST_VARIABLES];
	double		upper[MOST_VARIABLES];
	double		centre[MOST_VARIABLES] = {0};
	pe_polytope set = {variables, 0, lower, upper, NULL};
	pe_score_rate none = pe_prior_rate(0, 0);
	int64_t		at[MOST_VARIABLES];
	pe_affine_lattice lattice;
	pe_lattice_law *law;
	pe_affine	f;
	pe_bits		bits;
	double		unit;
	double		make;
	double		draw;
	uint64_t	proposals = 0;
	int32_t		cells = 0;
	pe_lattice_plan plan;

	for (int32_t j = 0; j < variables; j++)
	{
		lower[j] = -5;
		upper[j] = 5;
	}
	make_function(&f, variables, rows, max_change);
	pe_affine_lattice_init(&lattice, &f, &set, lower, upper, max_change);
	unit = time_evaluations(&f);
	(void) pe_test_memory();

	make_plan(&f, lower, upper, max_change, &plan);
	make = cpu_seconds();
	law = pe_lattice_law_make(&lattice, pe_exponential_rate(lattice.change, PE_PURE, NANO_EPSILON), none, centre,
							  pe_lattice_law_memory(variables, rows, 0), &plan);
	make = cpu_seconds() - make;
	pe_bits_init(&bits);
	draw = cpu_seconds();
	for (int i = 0; i < DRAWS; i++)
		proposals += pe_lattice_law_draw(law, &bits, at);
	draw = (cpu_seconds() - draw) / DRAWS;
	pe_bits_wipe(&bits);
	while (pe_lattice_law_corner(law, cells, at))
		cells++;
	pe_lattice_law_free(law);
	printf("%9d %6d %10g %6s %7d %8.4f %9.3f %9.3f %9.2f %8.1f\n", variables, rows, max_change, plan.finite ? "finite" : "whole",
		   cells, DRAWS / (double) proposals, 1e3 * make,
		   1e3 * draw, (make + draw) / unit, (double) pe_test_memory() / 1048576);
	fflush(stdout);
	pe_affine_lattice_free(&lattice);
	pe_affine_free(&f);
}

static void
bench_rows(int32_t rows)
{
	for (int32_t variables = 1; variables <= MOST_VARIABLES; variables++)
	{
		bench(variables, rows, 0.01);
		bench(variables, rows, 0.001);
	}
}

int
main(int argc, char **argv)
{
	printf("%9s %6s %10s %6s %7s %8s %9s %9s %9s %8s\n", "variables", "rows", "max_change", "points", "cells", "accepts", "make, ms", "draw, ms",
		   "/ 1000 f", "MB");
	for (int i = 1; i < argc; i++)
		bench_rows(atoi(argv[i]));
	if (argc < 2)
	{
		bench_rows(1000);
		bench_rows(20000);
	}
	return 0;
}

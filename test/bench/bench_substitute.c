/*
 * bench_substitute.c
 *	  What substitution costs, and what a strategy of its own gains: the table of
 *	  doc/methods.md.
 *
 * Sums of variances at the same rho, in units of the optimum of add_remove: of that very
 * strategy, as its sensitivity is larger; of the strategy for substitution; and the least
 * that any could have.  Then the CPU time of both, one thread, gap 1e-3 as for a histogram.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "methods/make.h"
#include "shim.h"

static double
cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static double
make(pe_strategy_problem *problem, pe_neighbours neighbours, double gap, pe_strategy *strategy)
{
	double		start = cpu_seconds();

	problem->neighbours = neighbours;
	problem->gap = gap;
	if (pe_strategy_make(problem, strategy) != PE_STRATEGY_OK)
	{
		fprintf(stderr, "a workload has no strategy\n");
		exit(1);
	}
	return cpu_seconds() - start;
}

static double
squared_sensitivity(const pe_strategy *strategy, pe_neighbours neighbours)
{
	pe_u128		sensitivity_sq = 0;

	(void) pe_strategy_sensitivity_sq(strategy, neighbours, 1, &sensitivity_sq);
	return (double) sensitivity_sq;
}

static void
measure(const char *name, const char *text)
{
	pe_workload workload;
	const pe_workload *one = &workload;
	pe_classes	classes;
	pe_text_error error;
	pe_strategy before;
	pe_strategy own;
	double		seconds[2];
	pe_strategy_problem problem = {
		.workload = one, .classes = &classes, .method = PE_METHOD_OPTIMAL, .objective = PE_SUM, .norm = PE_L2
	};

	if (!pe_workload_parse(text, NULL, &workload, &error))
	{
		fprintf(stderr, "%s: %s\n", text, error.message);
		exit(1);
	}
	pe_classes_init(&one, 1, &classes);
	seconds[0] = make(&problem, PE_ADD_REMOVE, 1e-6, &before);
	seconds[1] = make(&problem, PE_SUBSTITUTE, 1e-3, &own);
	printf("%-40s %6d %8.3f %8.3f %8.3f %9.3f %8.3f\n", name, classes.cells,
		   squared_sensitivity(&before, PE_SUBSTITUTE) / squared_sensitivity(&before, PE_ADD_REMOVE),
		   own.objective / before.objective, own.lower_bound / before.objective, seconds[0], seconds[1]);
	fflush(stdout);
	pe_strategy_free(&before);
	pe_strategy_free(&own);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

int
main(void)
{
	static const int sizes[] = {4, 16, 64, 256, 1024};
	char		name[64];

	printf("%-40s %6s %8s %8s %8s %9s %8s\n", "workload", "cells", "same", "its own", "bound", "seconds", "its own");
	for (int kind = 0; kind < 3; kind++)
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		{
			static const char *const kinds[] = {"identity", "prefix", "all_range"};

			if (kind == 0 && sizes[s] > 64)
				continue;
			snprintf(name, sizeof(name), "%s(%d)", kinds[kind], sizes[s]);
			measure(name, name);
		}
	measure("single cells and total of 64", "identity(64) + total(64)");
	measure("margins of a table of 10 x 10", "identity(10) * total(10) + total(10) * identity(10)");
	measure("pairs of 4 x 4 x 4", "identity(4) * identity(4) * total(4) + identity(4) * total(4) * identity(4) + total(4) * identity(4) * identity(4)");
	measure("pairs of 5 x 6 x 7", "identity(5) * identity(6) * total(7) + identity(5) * total(6) * identity(7) + total(5) * identity(6) * identity(7)");
	measure("prefixes of 32 in each of 8 groups", "prefix(32) * identity(8)");
	measure("rectangles of 16 x 16", "all_range(16) * all_range(16)");
	return 0;
}

/*
 * contest.h
 *	  The methods that compete, by calls into src/core and src/mechanism.
 */
#ifndef PE_REPRODUCE_CONTEST_H
#define PE_REPRODUCE_CONTEST_H

#include <stdbool.h>

#include "optimum/design.h"
#include "problem.h"

#define GAP 1e-6				/* asked of the optimum */
#define EPSILON 0.1

/* What a method makes of a problem. */
typedef struct outcome
{
	int32_t		columns;		/* of the problem */
	int32_t		rank;			/* of V, where the method tells; else 0 */
	double		objective;		/* squared sensitivity times the sum of all variances for unit noise */
	double		bound;			/* optimal: of all strategies; adaptive: before completing; lowrank: what its rows miss of |W|^2 */
	int32_t		iterations;
	int32_t		stopped;		/* by its own rule, not by its own limit of iterations */
	double		seconds;
	double		reached;		/* followed: seconds after which the gap was reached; 0: never */
} outcome;

/* trace: of the methods that have iterations, or NULL */
typedef void (*runner) (const problem *p, int queries, const pe_trace *trace, outcome *o);

typedef enum method
{
	OPTIMAL,
	COA,
	LOWRANK,
	SMOOTHING,
	ADAPTIVE,
	WAVELET,
	WAVELET_LEVELS,
	BINARY_TREE,
	BEST_TREE,
	IDENTITY,
	GAUSSIAN,
	DAWA,
	METHODS
} method;

typedef struct contender
{
	const char *name;
	runner		run;
	bool		diagonal;		/* needs nothing of V but its diagonal: serves any number of columns */
} contender;

extern const contender methods[METHODS];

/* ---- dawa, which looks at data ---- */

#define DATA_CELLS 4096			/* of the tables of counts */

/* The first is no data at all. */
#define DATA_SETS 5
extern const char *const data_name[DATA_SETS];

/* The counts of z.data in n cells, neighbours added up; false if the table is not there. */
extern bool counts_of(const sizes *z, int64_t *counts);

/*
 * The problem of WRange with its columns in order, as dawa needs it: only neighbours
 * are merged, here with their counts; what no query asks for is left out.
 */
extern void merge_neighbours(problem *p, int64_t *counts);

/*
 * Squared errors of an answer under EPSILON, simulated: the mean over a number of releases
 * (iterations), or as many as half of the seconds allow, and its standard error (bound).
 */
extern void run_dawa(const problem *p, const sizes *z, const int64_t *counts, double seconds, outcome *o);

#endif

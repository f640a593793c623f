/*
 * problem.h
 *	  The workloads of the experiments on strategies.
 *
 * Of m queries on n cells.  WDiscrete: entries are 1 with probability .02 and -1
 * otherwise.  WRange: ranges between two uniform cells.  WMarginal: cells drawn, with
 * replacement, from those of all two-way marginals of attributes of four values (and one
 * of eight, if n is not a power of four).  WRelated: a product of m x s and s x n standard
 * normals.  all_range: all of them.  They depend on nothing but their name and sizes.
 */
#ifndef PE_REPRODUCE_PROBLEM_H
#define PE_REPRODUCE_PROBLEM_H

#include <stddef.h>
#include <stdint.h>

#include "trial.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* What a method is given: V = W'W over the columns that the queries tell apart. */
typedef struct problem
{
	int32_t		n;
	double	   *v;
} problem;

typedef enum kind
{
	DISCRETE,
	RANGE,
	MARGINAL,
	RELATED,
	ALL_RANGE,
	KINDS
} kind;

typedef struct sizes
{
	kind		kind;
	int			n;				/* cells */
	int			m;				/* queries */
	int			s;				/* inner size of WRelated, else 0 */
	int			data;			/* dawa: which counts; else 0 */
} sizes;

extern const char *const kind_name[KINDS];

/* V over all cells */
extern void gram_make(problem *p, const sizes *z);

/* The same with cells that no query asks for left out, and those that no query tells apart merged. */
extern void problem_make(problem *p, const sizes *z);

/* A stream of its own for these sizes, and a number from it, from 0 to n - 1. */
extern dice dice_of(const sizes *z);
extern int below(dice *d, int n);

extern size_t square(int n);

/* Seconds of the processor that this process has used. */
extern double cpu_seconds(void);

extern void give_up(const char *what, const char *of) __attribute__((noreturn));

#endif

/*
 * large.c
 *	  Errors for workloads of many attributes, beside those of two published programs.
 *
 * ResidualPlanner: Xiao, He, Zhang and Kifer, "An Optimal and Scalable Matrix Mechanism for Noisy
 * Marginals under Convex Loss Functions" (NeurIPS 2023).  ResidualPlanner+ is its successor for
 * unions with cumulative counts.  The figures below are the root mean square error of all queries, for
 * 2 rho = 1.  Those of ResidualPlanner were computed by its closed form, in a program that shares nothing
 * with this one, and compared with its own program in 23 such cases; those of ResidualPlanner+ are what its own
 * program printed.  Attributes are those of the papers' tables, of which only the numbers of cells matter.
 *
 * All terms identity and total: ours is to be the same, to the six digits that are there.  With prefix
 * on the wide attributes: ours is to be smaller.
 *
 *	  large
 *
 * Exit status 1 if a comparison fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "blocks/blocks.h"

#define SIX_DIGITS 6e-6
#define SMALL 5000				/* cells of a small table */
#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

typedef struct schema
{
	const char *name;
	int			attributes;
	int			cells[PE_MAX_ATTRIBUTES];	/* 0: ten */
	uint32_t	wide;			/* bit a: attribute a may be asked by prefix */
} schema;

typedef enum table
{
	CPS, ADULT, LOANS, TEN_2, TEN_5, TEN_6, TEN_10, TEN_12, TEN_14, TEN_15, TEN_20, TEN_30
} table;

static const schema schemas[] = {
	[CPS] = {"CPS", 5, {50, 100, 7, 4, 2}, 0x3},
	[ADULT] = {"Adult", 14, {85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}, 0xe05},
	[LOANS] = {"Loans", 12, {101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15}, 0xf},
	[TEN_2] = {"10^2", 2, {0}, 0}, [TEN_5] = {"10^5", 5, {0}, 0}, [TEN_6] = {"10^6", 6, {0}, 0}, [TEN_10] = {"10^10", 10, {0}, 0},
	[TEN_12] = {"10^12", 12, {0}, 0}, [TEN_14] = {"10^14", 14, {0}, 0}, [TEN_15] = {"10^15", 15, {0}, 0},
	[TEN_20] = {"10^20", 20, {0}, 0}, [TEN_30] = {"10^30", 30, {0}, 0}
};

/* Tables of least to most attributes; of at most so many cells. */
typedef struct comparison
{
	table		table;
	int			least;
	int			most;
	int			limit;			/* 0: none */
	bool		prefix;
	double		theirs;
} comparison;

static const comparison comparisons[] = {
	{CPS, 1, 1, 0, false, 1.74394}, {CPS, 2, 2, 0, false, 2.03459}, {CPS, 3, 3, 0, false, 2.04766}, {CPS, 0, 3, 0, false, 2.27587},
	{CPS, 0, 5, SMALL, false, 2.52508},
	{ADULT, 1, 1, 0, false, 3.04682}, {ADULT, 2, 2, 0, false, 6.35872}, {ADULT, 3, 3, 0, false, 10.5153}, {ADULT, 0, 3, 0, false, 10.665},
	{ADULT, 0, 14, SMALL, false, 9.9446},
	{LOANS, 1, 1, 0, false, 2.8753}, {LOANS, 2, 2, 0, false, 5.63429}, {LOANS, 3, 3, 0, false, 8.70194}, {LOANS, 0, 3, 0, false, 8.87564},
	{LOANS, 0, 12, SMALL, false, 8.20648},
	{TEN_2, 0, 3, 0, false, 1.37908}, {TEN_5, 0, 3, 0, false, 3.24710}, {TEN_6, 0, 3, 0, false, 4.27517}, {TEN_10, 0, 3, 0, false, 9.34811},
	{TEN_12, 0, 3, 0, false, 12.3596}, {TEN_14, 0, 3, 0, false, 15.6423}, {TEN_15, 0, 3, 0, false, 17.3782},
	{TEN_20, 0, 3, 0, false, 26.9168}, {TEN_30, 0, 3, 0, false, 49.7132},
	{CPS, 1, 1, 0, true, 3.18112}, {CPS, 2, 2, 0, true, 6.35720}, {CPS, 3, 3, 0, true, 8.12430},
	{ADULT, 1, 1, 0, true, 5.11219}, {ADULT, 2, 2, 0, true, 17.62099},
	{LOANS, 1, 1, 0, true, 4.72530}, {LOANS, 2, 2, 0, true, 14.90565}, {LOANS, 3, 3, 0, true, 36.11260}
};

/* ---- the workload of a comparison ---- */

static char text[1 << 20];

static int
cells_of(const comparison *c, int attribute)
{
	int			cells = schemas[c->table].cells[attribute];

	return cells != 0 ? cells : 10;
}

static void
add_term(const comparison *c, uint32_t set)
{
	char	   *end = text + strlen(text);
	const char *before = end == text ? "" : "+";

	if (set == 0)
		end += sprintf(end, "%stotal", before);
	for (int a = 0; set >> a != 0; a++)
		if (set >> a & 1)
		{
			end += sprintf(end, "%s%s(a%d)", before, c->prefix && schemas[c->table].wide >> a & 1 ? "prefix" : "identity", a);
			before = "*";
		}
}

/* Adds the tables of set and of attributes from first on. */
static void
add_terms(const comparison *c, uint32_t set, int size, int first, int64_t cells)
{
	if (c->limit != 0 && cells > c->limit)
		return;
	if (size >= c->least)
		add_term(c, set);
	for (int a = first; a < schemas[c->table].attributes && size < c->most; a++)
		add_terms(c, set | UINT32_C(1) << a, size + 1, a + 1, cells * cells_of(c, a));
}

/* ---- its error ---- */

typedef struct outcome
{
	const char *plan;
	double		rmse;
	double		bound;			/* no strategy has less */
	double		seconds;
} outcome;

static void
make(const pe_workload *workload, outcome *outcome)
{
	pe_strategy strategy = {0};
	pe_classes	classes;
	pe_strategy_problem problem = {.workload = workload, .classes = &classes, .method = PE_METHOD_OPTIMAL, .gap = 1e-6};
	pe_blocks_errors errors;
	clock_t		start = clock();

	pe_classes_init(&workload, 1, &classes);
	if (pe_make_blocks(&problem, &strategy) == PE_STRATEGY_OK)
	{
		outcome->seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
		pe_blocks_error(strategy.blocks, workload, &errors);
		outcome->plan = pe_strategy_form(&strategy);
		outcome->rmse = sqrt(errors.mean);
		outcome->bound = sqrt(strategy.lower_bound / workload->queries);
		pe_strategy_free(&strategy);
	}
	pe_classes_free(&classes);
}

static outcome
solve(const comparison *c)
{
	outcome		result = {.plan = "none", .rmse = INFINITY};
	char		names[PE_MAX_ATTRIBUTES][8];
	pe_shape	shape = {.attributes = schemas[c->table].attributes};
	pe_workload workload;
	pe_text_error error;

	for (int a = 0; a < shape.attributes; a++)
	{
		snprintf(names[a], sizeof(names[a]), "a%d", a);
		shape.name[a] = names[a];
		shape.cells[a] = shape.ordered[a] = cells_of(c, a);
	}
	text[0] = '\0';
	add_terms(c, 0, 0, 0, 1);
	if (!pe_workload_parse(text, &shape, &workload, &error))
	{
		fprintf(stderr, "%s: %s\n", schemas[c->table].name, error.message);
		exit(2);
	}
	make(&workload, &result);
	pe_workload_free(&workload);
	return result;
}

static const char *
name_of(const comparison *c)
{
	static char name[64];

	if (c->limit != 0)
		snprintf(name, sizeof(name), "%s, up to %d cells", schemas[c->table].name, c->limit);
	else
		snprintf(name, sizeof(name), "%s, %s%d-way%s", schemas[c->table].name, c->least < c->most ? "up to " : "", c->most,
				 c->prefix ? ", prefix" : "");
	return name;
}

int
main(void)
{
	bool		failed = false;

	pe_la_single_thread();
	printf("# %-32s %-10s %10s %10s %10s %10s %8s\n", "root mean square error", "plan", "ours", "theirs", "quotient", "bound", "seconds");
	for (int i = 0; i < lengthof(comparisons); i++)
	{
		const comparison *c = &comparisons[i];
		outcome		ours = solve(c);
		bool		holds = c->prefix ? ours.rmse < c->theirs : fabs(ours.rmse / c->theirs - 1) < SIX_DIGITS;

		printf("%sok %d - %-*s %-10s %10.6g %10.6g %10.5f %10.6g %8.3f\n", holds ? "" : "not ", i + 1, 27 - (i >= 9), name_of(c), ours.plan,
			   ours.rmse, c->theirs, c->theirs / ours.rmse, ours.bound, ours.seconds);
		fflush(stdout);
		failed = failed || !holds;
	}
	printf("1..%d\n", lengthof(comparisons));
	return failed ? 1 : 0;
}

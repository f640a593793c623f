/*
 * continual.c
 *	  Running totals of a table that grows, on one budget: errors of every report by the strategies of this project and by
 *	  what else is done.
 *
 *		optimum		the least sum of squared errors of all strategies, attained period by period (time/continual.h)
 *		largest		the least error of the worst report
 *		toeplitz	rows that are the same for every number of periods
 *		tree		counts of 1, b, b^2 .. periods (Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song 2011), each report the best linear
 *					estimate from the nodes that are complete (Honaker 2015, with all nodes at once)
 *		added		each period is counted, reports add them up
 *		split		each report counts all rows, on 1 / T of the budget
 *
 * Errors are standard errors for a squared sensitivity of 1 and noise of variance 1: 2 rho = 1, and one row a unit.  The references
 * were computed by a program in Python (NumPy, SciPy), to six digits.
 *
 *	  continual
 *
 * Writes build/reproduce/continual.csv (periods,way,report,stderr).  Exit status 1 if a comparison fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "time/continual.h"

#define SIX_DIGITS 6e-6
#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

typedef enum way
{
	OPTIMUM, LARGEST, TOEPLITZ, TREE_2, TREE_4, TREE_8, ADDED, SPLIT, WAYS
} way;

static const char *const name[WAYS] = {"optimum", "largest", "toeplitz", "tree 2", "tree 4", "tree 8", "added", "split"};

/* Root mean squared errors; of the largest error its own, which both know to 1e-4 only. */
static const struct
{
	int			periods;
	double		rmse[WAYS];
}			known[] = {
	{12, {1.60735, 1.62305, 1.70863, 2.49532, 2.66016, 3.08965, 2.54951, 3.46410}},
	{52, {2.03720, 2.04935, 2.16427, 3.49685, 3.74237, 4.18003, 5.14782, 7.21110}},
	{365, {2.63427, 2.64203, 2.78153, 4.93394, 5.41464, 5.84558, 13.52775, 19.10497}}
};

static const pe_presence row = {.row_is_unit = true};

/* ---- strategies over time ---- */

static void
errors_of_series(const pe_over *over, int periods, way w, double *variance)
{
	pe_continual_problem problem = {
		.over = over, .periods = periods, .gap = w == LARGEST ? 1e-5 : PE_CONTINUAL_GAP, .objective = w == LARGEST ? PE_MAX : PE_SUM,
		.open_ended = w == TOEPLITZ, .separate = w == ADDED
	};
	pe_continual series;
	pe_u128		factor;

	if (pe_continual_make(&problem, &series) != PE_STRATEGY_OK || !pe_continual_factor(&series, &row, &factor))
		exit(2);
	pe_continual_variances(&series, variance);
	for (int t = 0; t < periods; t++)
		variance[t] *= (double) factor;
	pe_continual_free(&series);
}

/* ---- trees ---- */

/* Nodes of b^l periods, the last of a level shorter; one that is its only child is left out. */
typedef struct tree
{
	int			nodes;
	int			from[1024];
	int			to[1024];		/* behind its last period */
} tree;

static void
make_tree(tree *tr, int periods, int branching)
{
	tr->nodes = 0;
	for (int size = 1, below = 0; below < periods; below = size, size *= branching)
		for (int from = 0; from < periods; from += size)
		{
			int			to = from + size < periods ? from + size : periods;

			if (below > 0 && to - from <= below)
				continue;
			tr->from[tr->nodes] = from;
			tr->to[tr->nodes++] = to;
		}
}

/* The nodes that a period is in, at most. */
static int
most_nodes(const tree *tr, int periods)
{
	int			most = 0;

	for (int s = 0; s < periods; s++)
	{
		int			in = 0;

		for (int k = 0; k < tr->nodes; k++)
			in += tr->from[k] <= s && s < tr->to[k];
		most = in > most ? in : most;
	}
	return most;
}

/* 1'(M'M)^-1 1, M the nodes that are complete. */
static double
variance_of_total(const tree *tr, int periods)
{
	double	   *square = pe_la_vector(pe_la_square(periods));
	double	   *ones = pe_la_vector((size_t) periods);
	double		variance = 0;

	for (int k = 0; k < tr->nodes; k++)
		for (int i = tr->from[k]; tr->to[k] <= periods && i < tr->to[k]; i++)
			for (int j = tr->from[k]; j < tr->to[k]; j++)
				square[i * periods + j] += 1;
	for (int s = 0; s < periods; s++)
		ones[s] = 1;
	if (!pe_la_cholesky(periods, square, periods))
		exit(2);
	pe_la_cholesky_solve(periods, 1, square, periods, ones, periods);
	for (int s = 0; s < periods; s++)
		variance += ones[s];
	pe_free(square);
	pe_free(ones);
	return variance;
}

static void
errors_of_tree(int periods, int branching, double *variance)
{
	static tree tr;

	make_tree(&tr, periods, branching);
	for (int t = 0; t < periods; t++)
		variance[t] = variance_of_total(&tr, t + 1) * most_nodes(&tr, periods);
}

/* ---- all of them ---- */

static void
errors_of(const pe_over *over, int periods, way w, double *variance)
{
	pe_continual_errors split;

	if (w >= TREE_2 && w <= TREE_8)
		errors_of_tree(periods, 2 << (w - TREE_2), variance);
	else if (w != SPLIT)
		errors_of_series(over, periods, w, variance);
	else if (!pe_continual_tell_split(over, periods, &row, &split))
		exit(2);
	for (int t = 0; t < periods && w == SPLIT; t++)
		variance[t] = split.mean;
}

/* Whether the error is the reference's. */
static bool
compare(FILE *csv, const pe_over *over, int k, way w, int number)
{
	int			periods = known[k].periods;
	double	   *variance = pe_la_vector((size_t) periods);
	clock_t		start = clock();
	double		seconds;
	double		sum = 0;
	double		worst = 0;
	double		seen;
	bool		same;

	errors_of(over, periods, w, variance);
	seconds = (double) (clock() - start) / CLOCKS_PER_SEC;
	for (int t = 0; t < periods; t++)
	{
		fprintf(csv, "%d,%s,%d,%.6f\n", periods, name[w], t + 1, sqrt(variance[t]));
		sum += variance[t];
		worst = fmax(worst, variance[t]);
	}
	seen = sqrt(w == LARGEST ? worst : sum / periods);
	same = fabs(seen / known[k].rmse[w] - 1) < (w == LARGEST ? 1e-4 : SIX_DIGITS);
	printf("%sok %d - %3d periods, %-10s %10.5f %10.5f %10.5f %10.5f %10.5f %8.3f\n", same ? "" : "not ", number, periods, name[w],
		   sqrt(sum / periods), sqrt(variance[0]), sqrt(worst), known[k].rmse[w], sqrt(sum / periods) / known[k].rmse[OPTIMUM], seconds);
	pe_free(variance);
	return same;
}

int
main(void)
{
	FILE	   *csv = fopen("build/reproduce/continual.csv", "w");
	bool		failed = false;
	int			number = 0;
	pe_over		over;
	pe_text_error error;

	if (csv == NULL || !pe_over_parse("totals", &over, &error))
		return 2;
	pe_la_single_thread();
	fprintf(csv, "periods,way,report,stderr\n");
	printf("# %-32s %10s %10s %10s %10s %10s %8s\n", "standard errors", "all", "first", "worst", "reference", "quotient", "seconds");
	for (int k = 0; k < lengthof(known); k++)
		for (way w = OPTIMUM; w < WAYS; w++)
			failed = !compare(csv, &over, k, w, ++number) || failed;
	printf("1..%d\n", number);
	pe_over_free(&over);
	return fclose(csv) != 0 || failed;
}

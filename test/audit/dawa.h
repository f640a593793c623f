/*
 * dawa.h
 *	  Audits of estimates by way of a private partition: its scores, and whole releases.
 *	  Part of audit.c.
 *
 * A release loses as much as it can where both of its draws show the same row: with it
 * the columns are kept apart more often and the count is higher, or they are taken
 * together less often and the sum is higher.  So what is looked at is an estimate if the
 * columns are apart, or together, and a number out of reach if they are not.
 */
#ifndef PE_AUDIT_DAWA_H
#define PE_AUDIT_DAWA_H

#include "counts/dawa.h"
#include "allowance.h"

#define DAWA_DRAWS 1000000

/* Beyond what noise reaches here, and not so far that estimates would share a bin. */
#define OUT_OF_REACH 64

/* Counts, and how many columns the unit's rows can be in, from the first one on. */
typedef struct dawa_case
{
	const char *name;
	int			columns;
	int			count[MAX_CELLS];
	int			places;
	bool		together;		/* what is looked at: a single bucket; else the first column alone */
} dawa_case;

/* A row more in the first column raises the scores of all intervals that hold it, by as much as they can be. */
static const dawa_case dawa_cases[] = {
	{"two columns, apart", 2, {4, 3}, 1, false},
	{"two columns, a row moves", 2, {4, 3}, 2, false},
	{"two columns, together", 2, {6, 2}, 1, true},
	{"eight columns", 8, {0}, 1, false},
	{"seven columns", 7, {0}, 1, false},
};

static const dawa_case *
dawa_case_of(const subject *s)
{
	for (int i = 0; i < lengthof(dawa_cases); i++)
		if (strcmp(dawa_cases[i].name, s->of.workload) == 0)
			return &dawa_cases[i];
	pe_bug("no such case of dawa");
}

static void
count_columns(const subject *s, const contribution *c, int64_t *x)
{
	const dawa_case *of = dawa_case_of(s);

	for (int j = 0; j < of->columns; j++)
		x[j] = of->count[j] + (j < of->places ? c->count[j] : 0);
}

/* ----------
 * The scores of all intervals, with noise for all of them together
 * ----------
 */
static void
measure_scores_of_intervals(const subject *s, const contribution *c, pe_i128 *y)
{
	pe_intervals intervals;
	int64_t		x[MAX_CELLS];

	pe_intervals_init(&intervals, dawa_case_of(s)->columns);
	count_columns(s, c, x);
	pe_interval_scores(&intervals, x, y);
}

static void
prepare_intervals(subject *s)
{
	pe_intervals intervals;
	contribution none = {0};
	contribution row = {.count = {1}};
	pe_i128		score[2][MAX_CELLS];

	pe_intervals_init(&intervals, dawa_case_of(s)->columns);
	s->a.cells = 1;
	s->a.rows = intervals.padded - 1;
	s->sensitivity = pe_interval_sensitivity(&intervals, s->of.neighbours, s->of.max_rows);
	measure_scores_of_intervals(s, &none, score[0]);
	measure_scores_of_intervals(s, &row, score[1]);
	for (int i = 0; i < s->a.rows; i++)
		s->a.entry[i][0] = (int64_t) (score[1][i] - score[0][i]);
}

static const mechanism intervals = {"intervals", PE_PURE, true, laplace_release, NULL, prepare_intervals, measure_scores_of_intervals,
	LEAST_SHARE, DAWA_DRAWS};

/* ----------
 * Whole releases
 * ----------
 */
static void
prepare_dawa(subject *s)
{
	s->a.cells = dawa_case_of(s)->places;
	s->a.rows = dawa_case_of(s)->columns;
	for (int j = 0; j < s->a.cells; j++)
		s->a.entry[j][j] = 1;
}

static void
measure_dawa(const subject *s, const contribution *c, pe_i128 *y)
{
	int64_t		x[MAX_CELLS];

	count_columns(s, c, x);
	for (int j = 0; j < s->a.rows; j++)
		y[j] = x[j];
}

/* What is looked at of a release: a function of it alone. */
static void
look(const dawa_case *of, const pe_dawa_buckets *buckets, int64_t *released)
{
	bool		seen = of->together ? buckets->partition.buckets == 1 : buckets->partition.first[1] == 1;
	int64_t		sum = 0;

	for (int j = 0; j < of->columns; j++)
	{
		sum += released[j];
		released[j] = j >= of->places ? 0 : !seen ? (j == 0 ? -OUT_OF_REACH : OUT_OF_REACH)
			: (int64_t) rint(ldexp((double) released[j], -PE_ESTIMATE_BITS));
	}
	if (of->together)
		released[0] = seen ? (int64_t) rint(ldexp((double) sum, -PE_ESTIMATE_BITS)) : OUT_OF_REACH;
}

/* The costs of the two draws: what the plan is told, for faults. */
static void
release_dawa_as(const subject *s, int64_t partition_nano, int64_t counts_nano, pe_i128 *exact, size_t count, int64_t *released)
{
	const dawa_case *of = dawa_case_of(s);
	double		v[MAX_CELLS * MAX_CELLS] = {0};
	pe_dawa_plan plan = {
		.columns = of->columns, .v = v, .neighbours = s->of.neighbours, .max_rows = s->of.max_rows,
		.partition_nano = partition_nano, .counts_nano = counts_nano
	};

	for (int j = 0; j < of->columns; j++)
		v[j * of->columns + j] = 1;
	for (size_t c = 0; c < count; c += (size_t) of->columns)
	{
		int64_t		x[MAX_CELLS];
		pe_dawa_buckets buckets;

		for (int j = 0; j < of->columns; j++)
			x[j] = (int64_t) exact[c + (size_t) j];
		plan.allowance = plenty(true);
		pe_dawa_divide(&plan, x, &buckets);
		pe_dawa_prepare(&plan, &buckets);
		pe_dawa_measure(&plan, &buckets, x, released + c);
		look(of, &buckets, released + c);
		pe_dawa_buckets_free(&buckets);
	}
}

static void
release_dawa(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_dawa_plan plan = {.columns = dawa_case_of(s)->columns};	/* a single one needs no partition */

	pe_dawa_split(&plan, s->of.nano);
	release_dawa_as(s, plan.partition_nano, plan.counts_nano, exact, count, released);
}

static const mechanism dawa = {"dawa", PE_PURE, true, release_dawa, NULL, prepare_dawa, measure_dawa, LEAST_SHARE, DAWA_DRAWS};

#endif

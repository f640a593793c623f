/*
 * noisy_answers.c
 *	  Answers of a release together with the exact law of their noise.  See noisy_answers.h.
 */
#include "postgres.h"

#include <math.h>

#include "blocks/blocks.h"
#include "optimum/optimum.h"
#include "read/noisy_answers.h"
#include "server/settings.h"

/* The most queries, whose covariance is held. */
#define MOST_QUERIES 2000

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

static void
check_queries(const pe_workload *workload)
{
	if (workload->queries > MOST_QUERIES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%d cells are more than can be looked at together", workload->queries),
				 errdetail("At most %d can be.", MOST_QUERIES)));
}

static void
check_sizes(const pe_reconstruction *own, bool laplace)
{
	const pe_strategy *strategy = own->measured->strategy;
	size_t		queries = own->workload->queries;
	size_t		numbers = 4 * queries * queries + queries * (strategy->blocks == NULL ? own->classes.cells : 1);

	pe_check_memory(pe_reconstruction_memory(strategy, own->workload, &own->classes) +
					(numbers + (laplace ? 3 * queries * strategy->rows : 0)) * sizeof(double));
}

static void
begin_reconstruction(pe_release *r, const pe_workload *workload, pe_reconstruction *own)
{
	if (r->is_dawa)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " is of method \"dawa\"", r->id),
				 errdetail("The bias of its answers depends on the data and is unknown."),
				 errhint("Ask with another method.")));
	if (!pe_reconstruction_init(&r->measured, workload, own))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the conditions tell too many classes of cells apart"),
				 errdetail("At most %d can be.", PE_OPTIMUM_CELLS)));
}

/* What each measurement adds, and its own noise, both in the units in which measurements are. */
static void
put_measurements(const pe_release *r, const pe_reconstruction *own, const pe_noise *noise, pe_noisy *a)
{
	const pe_blocks *blocks = r->measured.strategy->blocks;
	int			shift = pe_noise_shift(noise);

	pe_reconstruction_weights(own, a->weight);
	for (int32 i = 0, b = 0; i < a->measurements; i++)
	{
		double		relative = 1;

		while (blocks != NULL && i >= blocks->first[b + 1])
			b++;
		if (blocks != NULL)
		{
			shift = r->measured.lattice[b];
			relative = sqrt(pe_blocks_relative_variance(blocks, b));
		}
		a->stderr_[i] = ldexp(pe_noise_stderr(noise) * relative, shift);
		for (int32 q = 0; q < a->count; q++)
			a->weight[(size_t) i * a->count + q] *= ldexp(1, -shift);
	}
}

/* Of any sum of measurements, in standard deviations: of a narrow law on its lattice wider than of a normal number. */
static double
half_of(const pe_noise *noise, int32 rows, double miss)
{
	pe_confidence confidence;
	double		half;

	pe_confidence_init(&confidence, noise, rows, miss);
	half = pe_confidence_half(&confidence, 1, 0) / pe_noise_stderr(noise);
	pe_confidence_free(&confidence);
	return half;
}

pe_noisy
pe_noisy_answers(pe_release *r, const pe_workload *workload, int32 *undetermined)
{
	const pe_noise *noise;
	bool		laplace = r->accounting == PE_PURE;
	pe_reconstruction own;
	pe_noisy	a = {0};
	double		unit;

	check_queries(workload);
	begin_reconstruction(r, workload, &own);
	check_sizes(&own, laplace);
	*undetermined = pe_reconstruction_undetermined(&own);
	if (*undetermined >= 0)
	{
		pe_reconstruction_free(&own);
		return a;
	}
	noise = pe_release_noise(r);
	pe_noisy_init(workload->queries, laplace, laplace ? r->measured.strategy->rows : 0, &a);
	pe_reconstruction_estimate(&own, r->value, a.value);
	unit = r->measured.strategy->blocks != NULL ? 1 : ldexp(1, -pe_noise_shift(noise));
	pe_reconstruction_covariance(&own, a.covariance);
	for (int32 q = 0; q < a.count; q++)
		a.value[q] *= unit;
	for (size_t k = 0; k < (size_t) a.count * a.count; k++)
		a.covariance[k] *= pe_noise_stderr(noise) * pe_noise_stderr(noise);
	for (int i = 0; i < 2; i++)
		a.half[i] = half_of(noise, r->measured.strategy->rows, i == 0 ? PE_MISS : PE_MISS / 2);
	if (laplace)
		put_measurements(r, &own, noise, &a);
	pe_reconstruction_free(&own);
	return a;
}

/* ------------------------------------------------------------------
 * Sums of a number
 * ------------------------------------------------------------------
 */

static int
number_named(const pe_aggregation *g, const char *name)
{
	for (int n = 0; n < g->needed.numbers; n++)
		if (g->number_column[n] != NULL && strcmp(g->number_column[n]->name, name) == 0)
			return n;
	return -1;
}

/* The part that measures a sum of a number by the groups, under no condition; -1: none. */
static int
part_of(const pe_aggregation *g, pe_sum_kind kind, int number)
{
	for (int i = 0; i < g->parts; i++)
	{
		const pe_sum *sum = &g->needed.sum[g->source[i].sum];
		uint64		own = PE_HAS_NUMBER(number);
		bool		always = (g->never_null >> number & 1) != 0;

		if (sum->kind != kind || sum->lacks != 0 || g->source[i].row_of != NULL || g->source[i].space != 0 ||
			(kind != PE_SUM_ONE && sum->a != number) || (sum->needs & ~own) != 0)
			continue;
		if (kind != PE_SUM_ONE || always || (sum->needs & own) != 0)
			return i;
	}
	return -1;
}

/* A part's answers to a workload, in units of its integers; false: they do not follow. */
static bool
read_part(pe_release *r, pe_stored_aggregates *s, int part, const char *text, pe_noisy *a)
{
	const pe_aggregation *g = &s->aggregation;
	const pe_sum *sum = &g->needed.sum[g->source[part].sum];
	pe_workload *workload = palloc0(sizeof(*workload));
	double	   *map;
	int32		undetermined;

	pe_release_take_part(r, s, part);
	pe_parse_columns_workload(r->dataset, r->columns, r->domain, text, workload);
	*a = pe_noisy_answers(r, workload, &undetermined);
	if (undetermined >= 0)
		return false;
	map = palloc0((size_t) a->count * a->count * sizeof(double));
	for (int32 q = 0; q < a->count; q++)
		map[(size_t) q * a->count + q] = ldexp(1, pe_sum_shift(&g->needed, sum));
	*a = pe_noisy_map(a, a->count, map);
	pfree(map);
	return true;
}

/*
 * What n, sum of u and sum of u^2 are of what was measured, each in a row.  most: the bound B of u, w+ = B + u and
 * w- = B - u.
 */
typedef struct basis
{
	pe_sum_kind kind[3];
	double		row[3][3];
} basis;

/* How many of a basis it takes: all squares, or as many as are asked for. */
static int
measured_of(const basis *b, bool squares)
{
	return squares || b->kind[0] == PE_SUM_ABOVE_SQUARE ? 3 : 2;
}

/* 1, u and 2 u^2 - B^2; for Laplace noise w+, w- and the third, or w+^2, 2 w+ w- and w-^2, which add up to whole. */
static void
make_bases(double most, double whole, basis bases[3])
{
	double		half = most * most / 2;

	bases[0] = (basis) {{PE_SUM_ONE, PE_SUM_VALUE, PE_SUM_SQUARE}, {{1, 0, 0}, {0, 1, 0}, {half, 0, .5}}};
	bases[1] = (basis) {
		{PE_SUM_ABOVE, PE_SUM_BELOW, PE_SUM_SQUARE},
		{{.5 / most, .5 / most, 0}, {.5, -.5, 0}, {half * .5 / most, half * .5 / most, .5}}
	};
	bases[2] = (basis) {
		{PE_SUM_ABOVE_SQUARE, PE_SUM_BETWEEN, PE_SUM_BELOW_SQUARE},
		{{1 / whole, 1 / whole, 1 / whole}, {.25 / most, 0, -.25 / most}, {.25, -.25, .25}}
	};
}

/* What a row adds to all three squares of a number. */
static double
whole_of(const pe_aggregation *g, int number)
{
	int			part = part_of(g, PE_SUM_BETWEEN, number);
	const pe_sum *sum = part < 0 ? NULL : &g->needed.sum[g->source[part].sum];

	return sum == NULL ? 1 : ldexp((double) pe_sum_bound(&g->needed, sum), pe_sum_shift(&g->needed, sum));
}

/* The first basis whose sums are all measured; NULL: none. */
static const basis *
basis_of(const pe_aggregation *g, int number, bool squares, const basis bases[3])
{
	for (int b = 0; b < 3; b++)
	{
		bool		has_all = true;

		for (int i = 0; i < measured_of(&bases[b], squares); i++)
			has_all = has_all && part_of(g, bases[b].kind[i], number) >= 0;
		if (has_all)
			return &bases[b];
	}
	return NULL;
}

static pe_noisy
from_measured(pe_noisy *measured, int32 queries, const basis *b, bool squares)
{
	int32		rows = squares ? 3 : 2;
	double	   *map = palloc0((size_t) rows * queries * measured->count * sizeof(double));
	pe_noisy	sums;

	for (int32 row = 0; row < rows; row++)
		for (int32 q = 0; q < queries; q++)
			for (int32 i = 0; i < measured_of(b, squares); i++)
				map[(size_t) (row * queries + q) * measured->count + i * queries + q] = b->row[row][i];
	sums = pe_noisy_map(measured, rows * queries, map);
	pfree(map);
	return sums;
}

bool
pe_noisy_sums(pe_release *r, pe_stored_aggregates *s, const char *name, const char *text, bool squares,
			  pe_noisy *sums, pe_number *bounds)
{
	const pe_aggregation *g = &s->aggregation;
	int			number = g->on_grid ? -1 : number_named(g, name);
	basis		bases[3];
	const basis *b;
	pe_noisy	all = {0};
	int32		queries = 0;

	if (number < 0)
		return false;
	*bounds = g->needed.number[number];
	make_bases(bounds->most, whole_of(g, number), bases);
	b = basis_of(g, number, squares, bases);
	for (int i = 0; b != NULL && i < measured_of(b, squares); i++)
	{
		pe_noisy	a;

		if (!read_part(r, s, part_of(g, b->kind[i], number), text, &a))
			return false;
		queries = a.count;
		all = i == 0 ? a : pe_noisy_beside(&all, &a);
	}
	if (b == NULL)
		return false;
	*sums = from_measured(&all, queries, b, squares);
	return true;
}

/* ------------------------------------------------------------------
 * Rows of one unit
 * ------------------------------------------------------------------
 */

static const char one_row[] = "A request with rows_per_unit => 1 counts one row of each unit.";

void
pe_several_rows_refuse(int max_rows, const char *what)
{
	if (max_rows > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s takes rows for independent, and here a unit may count with %d rows", what, max_rows),
				 errhint("%s", one_row)));
}

bool
pe_several_rows_tell(int max_rows, const char *what)
{
	if (max_rows > 1)
		ereport(NOTICE,
				(errmsg("%s: a unit may count with %d rows, which are not independent", what, max_rows),
				 errhint("%s", one_row)));
	return max_rows > 1;
}

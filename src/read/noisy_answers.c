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
 * From what was measured, one after the other, to n, sum of u, and sum of u^2, which is (Q + most^2 n) / 2.  Of Laplace
 * noise what is above and below stand in the place of the first two: n = (A + B) / (2 most), S = (A - B) / 2.
 */
static pe_noisy
from_measured(pe_noisy *measured, int32 queries, bool sides, bool squares, double most)
{
	int32		rows = squares ? 3 : 2;
	double	   *map = palloc0((size_t) rows * queries * measured->count * sizeof(double));
	pe_noisy	sums;

	for (int32 q = 0; q < queries; q++)
	{
		double	   *n = map + (size_t) q * measured->count;
		double	   *s = map + (size_t) (queries + q) * measured->count;
		double	   *u = map + (size_t) (2 * queries + q) * measured->count;

		n[q] = sides ? 1 / (2 * most) : 1;
		n[queries + q] = sides ? 1 / (2 * most) : 0;
		s[q] = sides ? 0.5 : 0;
		s[queries + q] = sides ? -0.5 : 1;
		if (!squares)
			continue;
		u[q] = most * most / 2 * n[q];
		u[queries + q] = most * most / 2 * n[queries + q];
		u[2 * queries + q] = 0.5;
	}
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
	int			part[3] = {-1, -1, -1};
	bool		sides;
	pe_noisy	all = {0};
	int32		queries = 0;

	if (number < 0)
		return false;
	part[0] = part_of(g, PE_SUM_ONE, number);
	part[1] = part_of(g, PE_SUM_VALUE, number);
	part[2] = part_of(g, PE_SUM_SQUARE, number);
	sides = part[0] < 0 || part[1] < 0;
	if (sides)
	{
		part[0] = part_of(g, PE_SUM_ABOVE, number);
		part[1] = part_of(g, PE_SUM_BELOW, number);
	}
	for (int i = 0; i < (squares ? 3 : 2); i++)
	{
		pe_noisy	a;

		if (part[i] < 0 || !read_part(r, s, part[i], text, &a))
			return false;
		queries = a.count;
		all = i == 0 ? a : pe_noisy_beside(&all, &a);
	}
	*bounds = g->needed.number[number];
	*sums = from_measured(&all, queries, sides, squares, bounds->most);
	return true;
}

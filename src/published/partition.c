/*
 * partition.c
 *	  Ordered columns cut into buckets.  See partition.h.
 */
#include "published/partition.h"

#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum.h"

/* ------------------------------------------------------------------
 * Intervals
 * ------------------------------------------------------------------
 */

/* The real columns of a node: from, and how many. */
typedef struct span
{
	int32_t		places;			/* with padding */
	int32_t		from;
	int32_t		count;
} span;

void
pe_intervals_init(pe_intervals *intervals, int32_t columns)
{
	*intervals = (pe_intervals) {.columns = columns, .padded = 1};
	while (intervals->padded < columns)
	{
		intervals->padded *= 2;
		intervals->levels++;
	}
}

static span
span_of(const pe_intervals *intervals, int32_t node)
{
	span		s = {.places = intervals->padded, .from = node};

	for (int32_t above = node; above > 1; above /= 2)
		s.places /= 2;
	s.from = node * s.places - intervals->padded;
	s.count = intervals->columns - s.from;
	if (s.count < 0)
		s.count = 0;
	if (s.count > s.places)
		s.count = s.places;
	return s;
}

/* Whether the left half holds the same columns; never of a single column. */
static bool
stands_for_half(const span *s)
{
	return s->count <= s->places / 2;
}

static pe_i128
score_of(const pe_intervals *intervals, const span *s, const int64_t *counts)
{
	pe_i128		sum = 0;
	pe_i128		score = 0;

	for (int32_t i = 0; i < s->count; i++)
		sum += counts[s->from + i];
	for (int32_t i = 0; i < s->count; i++)
	{
		pe_i128		difference = (pe_i128) s->count * counts[s->from + i] - sum;

		score += difference < 0 ? -difference : difference;
	}
	return score * (intervals->padded / s->places);
}

void
pe_interval_scores(const pe_intervals *intervals, const int64_t *counts, pe_i128 *score)
{
	for (int32_t node = 1; node < intervals->padded; node++)
	{
		span		s = span_of(intervals, node);

		score[node - 1] = stands_for_half(&s) ? 0 : score_of(intervals, &s, counts);
	}
}

pe_u128
pe_interval_sensitivity(const pe_intervals *intervals, pe_neighbours neighbours, int32_t max_rows)
{
	pe_u128		sensitivity = 0;

	for (int level = 1; level <= intervals->levels; level++)
	{
		int32_t		places = INT32_C(1) << level;
		int32_t		count = places < intervals->columns ? places : intervals->columns;

		sensitivity += (pe_u128) (intervals->padded / places) * 2 * (count - 1);
	}
	return sensitivity * max_rows * (neighbours == PE_SUBSTITUTE ? 2 : 1);
}

/* ------------------------------------------------------------------
 * The cheapest partition
 * ------------------------------------------------------------------
 */

/* The deviation that a noised score stands for. */
static double
deviation_of(const pe_intervals *intervals, const span *s, int64_t score)
{
	return score <= 0 ? 0 : (double) score * s->places / ((double) intervals->padded * s->count);
}

/* whole[node]: a node with columns, and more than its left half has, is a bucket of its own cheapest cut. */
static void
choose_buckets(const pe_intervals *intervals, const int64_t *score, double bucket_cost, bool *whole)
{
	double	   *cost = pe_alloc(2 * (size_t) intervals->padded, sizeof(double));

	for (int32_t node = 2 * intervals->padded - 1; node >= 1; node--)
	{
		span		s = span_of(intervals, node);

		if (s.count == 0)
			continue;
		whole[node] = s.places == 1;
		cost[node] = bucket_cost;
		if (whole[node])
			continue;
		cost[node] = cost[2 * node] + cost[2 * node + 1];
		if (!stands_for_half(&s))
		{
			double		alone = deviation_of(intervals, &s, score[node - 1]) + bucket_cost;

			whole[node] = alone <= cost[node];
			if (whole[node])
				cost[node] = alone;
		}
	}
	pe_free(cost);
}

/* The bucket that begins with a column: the topmost whole node on the way to it. */
static span
bucket_at(const pe_intervals *intervals, const bool *whole, int32_t column)
{
	int32_t		node = 1;

	while (!whole[node])
	{
		span		left = span_of(intervals, 2 * node);

		node = 2 * node + (column >= left.from + left.places);
	}
	return span_of(intervals, node);
}

void
pe_partition_cheapest(const pe_intervals *intervals, const int64_t *score, double bucket_cost, pe_partition *partition)
{
	bool	   *whole = pe_alloc(2 * (size_t) intervals->padded, sizeof(bool));
	int32_t		column = 0;

	choose_buckets(intervals, score, bucket_cost, whole);
	partition->buckets = 0;
	partition->first = pe_alloc((size_t) intervals->columns + 1, sizeof(int32_t));
	while (column < intervals->columns)
	{
		column += bucket_at(intervals, whole, column).count;
		partition->first[++partition->buckets] = column;
	}
	pe_free(whole);
}

void
pe_partition_free(pe_partition *partition)
{
	pe_free(partition->first);
	memset(partition, 0, sizeof(*partition));
}

/* ------------------------------------------------------------------
 * Ordered columns
 * ------------------------------------------------------------------
 */

bool
pe_shape_is_ordered(const pe_shape *shape)
{
	return shape->attributes == 1 && shape->ordered[0] == shape->cells[0];
}

/* possible[c]: a class with a cell that the predicate leaves. */
static bool *
possible_classes(const pe_workload *workload, const pe_classes *classes, const bool *possible)
{
	bool	   *found = pe_alloc(classes->cells, sizeof(bool));
	int32_t		cells = pe_shape_cells(&workload->shape);

	if (possible == NULL)		/* every class has a cell */
		memset(found, true, (size_t) classes->cells * sizeof(bool));
	for (int32_t cell = 0; possible != NULL && cell < cells; cell++)
		if (possible[cell])
			found[pe_classes_of_cell(classes, &workload->shape, cell)] = true;
	return found;
}

/* asked[c]: a class with a weight in some query. */
static bool *
asked_classes(const pe_workload *workload, const pe_classes *classes)
{
	size_t		all = classes->cells;
	double	   *gram = pe_alloc(all * all, sizeof(double));
	bool	   *asked = pe_alloc(all, sizeof(bool));

	pe_workload_gram(workload, classes, false, gram);
	for (size_t c = 0; c < all; c++)
		asked[c] = gram[c * all + c] > 0;
	pe_free(gram);
	return asked;
}

/* T = 2^PE_ESTIMATE_BITS I. */
static int32_t *
lattice_triangle(int32_t columns)
{
	int32_t    *triangle = pe_alloc((size_t) columns * (columns + 1) / 2, sizeof(int32_t));

	for (size_t j = 0; j < (size_t) columns; j++)
		triangle[j * (j + 1) / 2 + j] = INT32_C(1) << PE_ESTIMATE_BITS;
	return triangle;
}

pe_strategy_status
pe_ordered_columns(const pe_workload *workload, const pe_classes *classes, const bool *possible, pe_strategy *strategy)
{
	bool	   *found;
	bool	   *asked;

	memset(strategy, 0, sizeof(*strategy));
	if (classes->cells > PE_OPTIMUM_CELLS)
		return PE_STRATEGY_TOO_LARGE;
	found = possible_classes(workload, classes, possible);
	asked = asked_classes(workload, classes);
	strategy->classes = classes->cells;
	strategy->column_of = pe_alloc(classes->cells, sizeof(int32_t));
	for (int32_t c = 0; c < classes->cells; c++)
		strategy->column_of[c] = !found[c] ? PE_RULED_OUT : !asked[c] ? PE_NOT_ASKED : strategy->columns++;
	pe_free(found);
	pe_free(asked);
	strategy->rows = strategy->inner = strategy->columns;
	strategy->triangle = lattice_triangle(strategy->columns);
	strategy->objective = 1;
	if (strategy->columns > 0)
		return PE_STRATEGY_OK;
	pe_strategy_free(strategy);
	return PE_STRATEGY_EMPTY;
}

double *
pe_ordered_gram(const pe_workload *workload, const pe_classes *classes, const pe_strategy *columns)
{
	size_t		all = classes->cells;
	size_t		n = columns->columns;
	double	   *gram = pe_alloc(all * all, sizeof(double));
	size_t		to = 0;

	/* columns are classes in their order, so each entry moves to a place that was read already */
	pe_workload_gram(workload, classes, true, gram);
	for (size_t c = 0; c < all; c++)
		for (size_t d = 0; d < all; d++)
			if (columns->column_of[c] >= 0 && columns->column_of[d] >= 0)
				gram[to++] = gram[c * all + d];
	if (to != n * n)
		pe_bug("columns of another workload");
	return gram;
}

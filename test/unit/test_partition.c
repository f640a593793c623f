/*
 * test_partition.c
 *	  Dyadic intervals of ordered columns: scores by their definition, sensitivity by
 *	  listing tables, the cheapest partition by listing partitions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "published/partition.h"
#include "blocks/reconstruct.h"
#include "numbers.h"

#define MOST 16					/* columns */
#define MOST_TABLES 4096

static uint64_t state;

static uint32_t
next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t) (state >> 33);
}

/* ----------
 * Scores
 * ----------
 */

/* The real columns of a node, from the tree itself. */
static int
columns_of(int node, int padded, int n, int *from)
{
	int			low = node;
	int			high = node;

	while (low < padded)
	{
		low *= 2;
		high = 2 * high + 1;
	}
	*from = low - padded;
	high -= padded;
	return high < n ? high - *from + 1 : n > *from ? n - *from : 0;
}

static double
deviation(const int64_t *x, int count)
{
	double		mean = 0;
	double		sum = 0;

	for (int i = 0; i < count; i++)
		mean += (double) x[i] / count;
	for (int i = 0; i < count; i++)
		sum += fabs((double) x[i] - mean);
	return sum;
}

/* dev(B) = 2^l score(B) / (N m), or the left half has the same columns and the score is 0. */
static void
check_scores(int n)
{
	pe_intervals intervals;
	int64_t		x[MOST];
	pe_i128		score[MOST];

	pe_intervals_init(&intervals, n);
	assert_true(intervals.padded >= n && (n == 1 || intervals.padded < 2 * n));
	assert_int_equal(intervals.padded, 1 << intervals.levels);
	for (int j = 0; j < n; j++)
		x[j] = next() % 1000;
	pe_interval_scores(&intervals, x, score);
	for (int node = 1; node < intervals.padded; node++)
	{
		int			from;
		int			count = columns_of(node, intervals.padded, n, &from);
		int			places = intervals.padded;

		for (int above = node; above > 1; above /= 2)
			places /= 2;
		if (2 * count <= places)
			assert_true(score[node - 1] == 0);
		else
			assert_true(fabs(deviation(x + from, count) - places * (double) score[node - 1] / (intervals.padded * (double) count)) < 1e-9);
	}
}

static void
test_scores(void **unused)
{
	state = 1;
	for (int n = 1; n <= MOST; n++)
		for (int i = 0; i < 20; i++)
			check_scores(n);
}

/* As large as they can be: no overflow, and the sign of nothing is lost. */
static void
test_large_counts(void **unused)
{
	pe_intervals intervals;
	int64_t    *x = calloc(4096, sizeof(*x));
	pe_i128    *score = calloc(4096, sizeof(*score));

	pe_intervals_init(&intervals, 4096);
	x[4095] = INT64_C(1) << 62;
	pe_interval_scores(&intervals, x, score);
	assert_true(score[0] == ((pe_i128) 2 * 4095) << 62);
	assert_true(score[4094] == ((pe_i128) 2048 * 2) << 62);
	assert_true(score[1] == 0);
	free(x);
	free(score);
}

/* ----------
 * Sensitivity
 * ----------
 */

/* All vectors of n counts with sum at most rows. */
static int
list_tables(int n, int rows, int64_t (*table)[MOST])
{
	int			count = 0;
	int64_t		x[MOST] = {0};

	for (;;)
	{
		int64_t		sum = 0;
		int			j = 0;

		for (int i = 0; i < n; i++)
			sum += x[i];
		if (sum <= rows)
			memcpy(table[count++], x, sizeof(x));
		for (; j < n && (sum > rows || x[j] == rows); j++)
		{
			sum -= x[j];
			x[j] = 0;
		}
		if (j == n)
			return count;
		x[j]++;
	}
}

static double
distance(const pe_intervals *intervals, const int64_t *base, const int64_t *mine, const int64_t *other)
{
	pe_i128		score[2][MOST];
	double		sum = 0;

	for (int side = 0; side < 2; side++)
	{
		int64_t		x[MOST];

		for (int j = 0; j < intervals->columns; j++)
			x[j] = base[j] + (side == 0 ? mine[j] : other[j]);
		pe_interval_scores(intervals, x, score[side]);
	}
	for (int i = 0; i < intervals->padded - 1; i++)
		sum += fabs((double) (score[0][i] - score[1][i]));
	return sum;
}

/* The largest distance over all tables of few rows and what a unit of max_rows may have in them. */
static double
largest_distance(int n, int rows, int max_rows, bool substitute)
{
	static int64_t base[MOST_TABLES][MOST];
	static int64_t unit[MOST_TABLES][MOST];
	int			tables = list_tables(n, rows, base);
	int			units = list_tables(n, max_rows, unit);
	double		largest = 0;
	pe_intervals intervals;

	pe_intervals_init(&intervals, n);
	for (int t = 0; t < tables; t++)
		for (int a = 0; a < units; a++)
			for (int b = 0; b < (substitute ? a : 1); b++)	/* the first unit has no rows */
				largest = fmax(largest, distance(&intervals, base[t], unit[a], unit[b]));
	return largest;
}

static void
test_sensitivity(void **unused)
{
	for (int n = 1; n <= 8; n++)
		for (int max_rows = 1; max_rows <= 2; max_rows++)
		{
			pe_intervals intervals;
			double		once;
			double		twice;

			pe_intervals_init(&intervals, n);
			once = (double) pe_interval_sensitivity(&intervals, PE_ADD_REMOVE, max_rows);
			twice = (double) pe_interval_sensitivity(&intervals, PE_SUBSTITUTE, max_rows);
			assert_true(twice == 2 * once);
			assert_true(largest_distance(n, 2, max_rows, false) == once);
			if (n <= 5 || max_rows == 1)
				assert_true(largest_distance(n, 2, max_rows, true) <= twice);
		}
}

/* Sum over levels of 2 (N - N / 2^l), where nothing is padded. */
static void
test_sensitivity_by_formula(void **unused)
{
	for (int levels = 0; levels <= 12; levels++)
	{
		pe_intervals intervals;
		pe_u128		sum = 0;

		pe_intervals_init(&intervals, 1 << levels);
		for (int l = 1; l <= levels; l++)
			sum += 2 * ((1 << levels) - (1 << (levels - l)));
		assert_true(pe_interval_sensitivity(&intervals, PE_ADD_REMOVE, 1) == sum);
		assert_true(pe_interval_sensitivity(&intervals, PE_SUBSTITUTE, INT32_MAX) == sum * 2 * INT32_MAX);
	}
}

/* ----------
 * The cheapest partition
 * ----------
 */

typedef struct problem
{
	pe_intervals intervals;
	int64_t		score[MOST];
	double		bucket_cost;
} problem;

/* What a bucket costs that a tree node is, of columns that it alone names; infinity for what is none. */
static double
cost_of_bucket(const problem *p, int from, int to)
{
	double		least = INFINITY;

	for (int node = 1; node < 2 * p->intervals.padded; node++)
	{
		int			first;
		int			count = columns_of(node, p->intervals.padded, p->intervals.columns, &first);
		int			places = p->intervals.padded;

		for (int above = node; above > 1; above /= 2)
			places /= 2;
		if (first != from || count != to - from || 2 * count <= places)
			continue;
		if (places == 1)
			return p->bucket_cost;
		least = fmax(0, (double) p->score[node - 1]) * places / (p->intervals.padded * (double) count) + p->bucket_cost;
	}
	return least;
}

/* Over all 2^(n-1) ways to cut the columns. */
static double
least_by_list(const problem *p)
{
	int			n = p->intervals.columns;
	double		least = INFINITY;

	for (int cuts = 0; cuts < 1 << (n - 1); cuts++)
	{
		double		cost = 0;
		int			from = 0;

		for (int to = 1; to <= n; to++)
			if (to == n || (cuts >> (to - 1) & 1))
			{
				cost += cost_of_bucket(p, from, to);
				from = to;
			}
		least = fmin(least, cost);
	}
	return least;
}

static double
cost_of(const problem *p, const pe_partition *partition)
{
	double		cost = 0;

	for (int b = 0; b < partition->buckets; b++)
		cost += cost_of_bucket(p, partition->first[b], partition->first[b + 1]);
	return cost;
}

static void
test_cheapest(void **unused)
{
	int			several = 0;

	state = 2;
	for (int n = 1; n <= 11; n++)
		for (int i = 0; i < 20; i++)
		{
			problem		p = {.bucket_cost = 10};
			pe_partition partition;

			pe_intervals_init(&p.intervals, n);
			for (int node = 1; node < p.intervals.padded; node++)
				p.score[node - 1] = (int64_t) (next() % 1000) - 300;
			pe_partition_cheapest(&p.intervals, p.score, p.bucket_cost, &partition);
			assert_int_equal(partition.first[0], 0);
			assert_int_equal(partition.first[partition.buckets], n);
			assert_true(fabs(cost_of(&p, &partition) - least_by_list(&p)) < 1e-9);
			several += partition.buckets > 1 && partition.buckets < n;
			pe_partition_free(&partition);
		}
	assert_true(several > 50);
}

/* Scores at the ends of their range, and ties. */
static void
test_cheapest_ends(void **unused)
{
	problem		p = {.bucket_cost = 1};
	pe_partition partition;

	pe_intervals_init(&p.intervals, 7);
	for (int node = 1; node < p.intervals.padded; node++)
		p.score[node - 1] = INT64_MAX;
	pe_partition_cheapest(&p.intervals, p.score, 1, &partition);
	assert_int_equal(partition.buckets, 7);
	pe_partition_free(&partition);
	for (int node = 1; node < p.intervals.padded; node++)
		p.score[node - 1] = INT64_MIN;
	pe_partition_cheapest(&p.intervals, p.score, 1, &partition);
	assert_int_equal(partition.buckets, 1);
	pe_partition_free(&partition);
	memset(p.score, 0, sizeof(p.score));
	pe_partition_cheapest(&p.intervals, p.score, 0, &partition);
	assert_int_equal(partition.buckets, 1);
	pe_partition_free(&partition);
}

/* ----------
 * Ordered columns
 * ----------
 */

static void
parse(const char *text, pe_workload *workload, pe_classes *classes)
{
	const pe_workload *one = workload;
	pe_text_error error;

	assert_true(pe_workload_parse(text, NULL, workload, &error));
	pe_classes_init(&one, 1, classes);
}

static void
test_ordered_columns(void **unused)
{
	static const bool possible[6] = {true, false, true, true, true, true};
	pe_workload workload;
	pe_classes	classes;
	pe_strategy columns;
	int64_t		y[3] = {3 << PE_ESTIMATE_BITS, -(1 << (PE_ESTIMATE_BITS - 1)), 7 << PE_ESTIMATE_BITS};
	double		x[3];
	double	   *v;

	/* the second cell is ruled out, the last two are not asked for, and the first and the fourth are asked alike */
	parse("2 * ranges(6; 0-0, 3-3, 1-2) + matrix(6; {{1,0,0,1,0,0}})", &workload, &classes);
	assert_int_equal(pe_ordered_columns(&workload, &classes, possible, &columns), PE_STRATEGY_OK);
	assert_int_equal(columns.columns, 3);
	for (int32_t c = 0; c < classes.cells; c++)
	{
		int32_t		cell = classes.first[0][c];

		assert_int_equal(columns.column_of[c], cell == 0 ? 0 : cell == 1 ? 1 : cell == 3 ? 2 : PE_NOT_ASKED);
	}
	pe_strategy_solve(&columns, y, x);
	assert_true(x[0] == 3 && x[1] == -0.5 && x[2] == 7);
	v = pe_ordered_gram(&workload, &classes, &columns);
	assert_true(v[0] == 5 && v[1] == 0 && v[2] == 1 && v[4] == 4 && v[6] == 1 && v[8] == 5);
	pe_free(v);
	pe_strategy_free(&columns);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

static void
test_no_columns(void **unused)
{
	static const bool possible[3] = {false, false, true};
	pe_workload workload;
	pe_classes	classes;
	pe_strategy columns;

	parse("ranges(3; 0-1)", &workload, &classes);
	assert_int_equal(pe_ordered_columns(&workload, &classes, possible, &columns), PE_STRATEGY_EMPTY);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
	parse("identity(4097)", &workload, &classes);
	assert_int_equal(pe_ordered_columns(&workload, &classes, NULL, &columns), PE_STRATEGY_TOO_LARGE);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

static void
test_ordered_shapes(void **unused)
{
	pe_shape	shape = {.attributes = 1, .cells = {5}, .ordered = {5}};

	assert_true(pe_shape_is_ordered(&shape));
	shape.ordered[0] = 4;
	assert_false(pe_shape_is_ordered(&shape));
	shape = (pe_shape) {.attributes = 2, .cells = {5, 2}, .ordered = {5, 2}};
	assert_false(pe_shape_is_ordered(&shape));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scores),
		cmocka_unit_test(test_large_counts),
		cmocka_unit_test(test_sensitivity),
		cmocka_unit_test(test_sensitivity_by_formula),
		cmocka_unit_test(test_cheapest),
		cmocka_unit_test(test_cheapest_ends),
		cmocka_unit_test(test_ordered_columns),
		cmocka_unit_test(test_no_columns),
		cmocka_unit_test(test_ordered_shapes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

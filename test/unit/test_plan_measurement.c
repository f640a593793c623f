/*
 * test_plan_measurement.c
 *	  Plans of a measurement: sensitivities against all neighbours of small tables,
 *	  for every kind of part, dense and of blocks, what all parts together lose,
 *	  and measurements against what is said of them.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK set
 * there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/sums.h"
#include "plan/private.h"
#include "plans.h"
#include "strategy/share.h"
#include "few_blocks.h"
#include "numbers.h"
#include "shim.h"

#define MOST_PARTS 5
#define MOST_CELLS 3
#define MOST_ROWS 4				/* of a strategy */
#define WIDTH (MOST_PARTS * MOST_ROWS)
#define MOST_CONTRIBUTIONS 40000

/* One kind of row: its cell, its numbers, and what it has. */
typedef struct kind_of_row
{
	int			cell;
	int32_t		number[2];
	uint64_t	has;
} kind_of_row;

/* Sums over the same cells, each with a strategy, and what a unit can add to all of them. */
typedef struct trial
{
	pe_sums		sums;
	pe_sum		sum[MOST_PARTS];
	int			cells;
	int			parts;
	pe_strategy strategy[MOST_PARTS];
	int64_t    *a[MOST_PARTS];
	pe_plan_part part[MOST_PARTS];
	pe_plan_rules rules;
	int			kinds;
	kind_of_row kind[200];
	int			contributions;
	int64_t   (*answer)[WIDTH];
} trial;

/* ------------------------------------------------------------------
 * Strategies
 * ------------------------------------------------------------------
 */

/* Every cell by itself. */
static void
make_identity(pe_strategy *s, int columns)
{
	*s = (pe_strategy) {.classes = columns, .columns = columns, .rows = columns, .inner = columns, .objective = 1};
}

static void
make_dense(pe_strategy *s, int columns)
{
	int			rows = between(1, MOST_ROWS);

	*s = (pe_strategy) {.classes = columns, .columns = columns, .rows = rows, .inner = columns, .objective = 1};
	s->dense = pe_alloc((size_t) (rows * columns), sizeof(int32_t));
	for (int i = 0; i < rows * columns; i++)
		s->dense[i] = between(-2, 3);
	s->dense[0] = 1;			/* not all are 0 */
}

/* Sums of numbers, and the count of rows that have one, by the same cells: of one table. */
static bool
is_of_number(const pe_sum *sum)
{
	return pe_sum_is_signed(sum) || (sum->kind == PE_SUM_ONE && sum->needs == PE_HAS_NUMBER(0));
}

static int
first_of_number(const trial *t)
{
	for (int p = 0; p < t->parts; p++)
		if (t->part[p].table == 1)
			return p;
	return t->parts - 1;
}

static void
add_part(trial *t, pe_sum sum, int m, bool identity)
{
	int			p = t->parts++;
	size_t		entries;
	double	   *a;

	t->sum[p] = sum;
	if (identity)
		make_identity(&t->strategy[p], t->cells);
	else
		make_dense(&t->strategy[p], t->cells);
	t->part[p] = (pe_plan_part) {
		.strategy = &t->strategy[p], .bound = pe_sum_bound(&t->sums, &sum), .is_signed = pe_sum_is_signed(&sum),
		.cells = sum.kind == PE_SUM_UNITS ? m : 0, .lost = sum.kind == PE_SUM_LOST ? m : 0,
		.distinct = sum.kind == PE_SUM_DISTINCT ? m : 0,
		.needs = pe_sum_is_of_cells(&sum) ? (uint16_t) sum.needs : 0, .lacks = sum.lacks
	};
	if (identity && is_of_number(&sum))
	{
		t->part[p].strategy = &t->strategy[first_of_number(t)];
		t->part[p].table = 1;
	}
	entries = (size_t) t->strategy[p].rows * (size_t) t->cells;
	a = pe_alloc(entries, sizeof(*a));
	t->a[p] = pe_alloc(entries, sizeof(int64_t));
	pe_strategy_matrix(&t->strategy[p], a);
	for (size_t i = 0; i < entries; i++)
		t->a[p][i] = (int64_t) a[i];
	pe_free(a);
}

static void
free_trial(trial *t)
{
	for (int p = 0; p < t->parts; p++)
	{
		pe_strategy_free(&t->strategy[p]);
		pe_free(t->a[p]);
	}
	pe_free(t->answer);
}

/* ------------------------------------------------------------------
 * All that a unit can add
 * ------------------------------------------------------------------
 */

/* Every cell, numbers that are absent or at some places, a condition that is true or not. */
static void
make_kinds(trial *t, bool middles, bool conditions)
{
	t->kinds = 0;
	for (int cell = 0; cell < t->cells; cell++)
		for (int u = -2; u <= 2; u++)
			for (int v = -2; v <= 2; v++)
				for (int c = 0; c <= conditions; c++)
				{
					/* -2: absent; -1, 0, 1: times the bound */
					kind_of_row *k = &t->kind[t->kinds];

					if (u == 2 || v == 2 || (!middles && (u == 0 || v == 0)) || (t->sums.numbers < 2 && v > -2) || (t->sums.numbers < 1 && u > -2))
						continue;
					*k = (kind_of_row) {.cell = cell, .has = c * PE_HAS_CONDITION(0)};
					if (u > -2)
					{
						k->number[0] = u * t->sums.number[0].most;
						k->has |= PE_HAS_NUMBER(0);
					}
					if (v > -2)
					{
						k->number[1] = v * t->sums.number[1].most;
						k->has |= PE_HAS_NUMBER(1);
					}
					t->kinds++;
				}
	assert_true(t->kinds <= lengthof(t->kind));
}

/* A x of every part, one after the other. */
static void
keep(trial *t, int64_t x[MOST_PARTS][MOST_CELLS])
{
	int64_t    *y = t->answer[t->contributions++];
	int			at = 0;

	assert_true(t->contributions < MOST_CONTRIBUTIONS);
	memset(y, 0, sizeof(t->answer[0]));
	for (int p = 0; p < t->parts; p++)
		for (int i = 0; i < t->strategy[p].rows; i++, at++)
			for (int j = 0; j < t->cells; j++)
				y[at] += t->a[p][i * t->cells + j] * x[p][j];
}

static void with_people(trial *t, int part, bool full, int64_t x[MOST_PARTS][MOST_CELLS]);

/* At most `left` of the rows that the cut left out, in cells from `cell` on. */
static void
with_lost(trial *t, int part, int cell, int left, int64_t x[MOST_PARTS][MOST_CELLS])
{
	with_people(t, part + 1, true, x);
	for (; cell < t->cells && left > 0; cell++)
	{
		int64_t		more[MOST_PARTS][MOST_CELLS];

		memcpy(more, x, sizeof(more));
		more[part][cell]++;
		with_lost(t, part, cell, left - 1, more);
	}
}

/*
 * Units are in any set of at most so many cells: they have rows besides those
 * that are left of them.  Of those that have k rows left (full) others may be
 * left out.
 */
static void
with_people(trial *t, int part, bool full, int64_t x[MOST_PARTS][MOST_CELLS])
{
	int64_t		with[MOST_PARTS][MOST_CELLS];

	while (part < t->parts && !pe_sum_is_by_unit(&t->sum[part]))
		part++;
	if (part == t->parts)
	{
		keep(t, x);
		return;
	}
	if (t->sum[part].kind == PE_SUM_LOST)
	{
		with_lost(t, part, 0, full ? t->part[part].lost : 0, x);
		return;
	}
	for (int set = 0; set < 1 << t->cells; set++)
		if (__builtin_popcount((unsigned) set) <= t->part[part].cells)
		{
			memcpy(with, x, sizeof(with));
			for (int j = 0; j < t->cells; j++)
				with[part][j] = set >> j & 1;
			with_people(t, part + 1, full, with);
		}
}

static void with_rows(trial *t, int kind, int left, int64_t x[MOST_PARTS][MOST_CELLS]);

/* A row, and others: of a part that counts values its own is there already, or in no other row. */
static void
with_row(trial *t, int kind, int left, int part, int64_t x[MOST_PARTS][MOST_CELLS])
{
	while (part < t->parts && t->sum[part].kind != PE_SUM_DISTINCT)
		part++;
	if (part == t->parts)
	{
		with_rows(t, kind, left, x);
		return;
	}
	with_row(t, kind, left, part + 1, x);
	if (x[part][t->kind[kind].cell] == t->part[part].distinct)
		return;
	x[part][t->kind[kind].cell]++;
	with_row(t, kind, left, part + 1, x);
	x[part][t->kind[kind].cell]--;
}

/* At most `left` rows, of kinds from `kind` on. */
static void
with_rows(trial *t, int kind, int left, int64_t x[MOST_PARTS][MOST_CELLS])
{
	const uint8_t counts = 1;

	with_people(t, 0, left == 0, x);
	for (; kind < t->kinds && left > 0; kind++)
	{
		const kind_of_row *row = &t->kind[kind];
		int64_t		more[MOST_PARTS][MOST_CELLS];

		memcpy(more, x, sizeof(more));
		for (int p = 0; p < t->parts; p++)
		{
			int64_t		weight;

			pe_sum_weigh(&t->sums, &t->sum[p], row->number, 1, &row->has, &counts, 1, &weight);
			if (!pe_sum_is_by_unit(&t->sum[p]) && t->sum[p].kind != PE_SUM_DISTINCT)
				more[p][row->cell] += weight;
		}
		with_row(t, kind, left - 1, 0, more);
	}
}

static int
by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(int64_t) * WIDTH);
}

static void
list_contributions(trial *t)
{
	int64_t		nothing[MOST_PARTS][MOST_CELLS] = {{0}};
	int			kept = 0;

	t->answer = pe_alloc(MOST_CONTRIBUTIONS, sizeof(*t->answer));
	t->contributions = 0;
	with_rows(t, 0, t->rules.max_rows, nothing);
	qsort(t->answer, (size_t) t->contributions, sizeof(*t->answer), by_bytes);
	for (int c = 0; c < t->contributions; c++)
		if (c == 0 || memcmp(t->answer[c], t->answer[kept - 1], sizeof(t->answer[0])) != 0)
			memmove(t->answer[kept++], t->answer[c], sizeof(t->answer[0]));
	t->contributions = kept;
}

/* ------------------------------------------------------------------
 * Neighbours
 * ------------------------------------------------------------------
 */

/* |y - y'|^2, or the sum of absolute values, of each part. */
static void
distances(const trial *t, const int64_t *y, const int64_t *other, bool pure, double *of)
{
	int			at = 0;

	for (int p = 0; p < t->parts; p++)
	{
		of[p] = 0;
		for (int i = 0; i < t->strategy[p].rows; i++, at++)
		{
			double		d = (double) (y[at] - other[at]);

			of[p] += pure ? fabs(d) : d * d;
		}
	}
}

/* The largest of each part, and of all together, each weighed. */
typedef struct truth
{
	double		part[MOST_PARTS];
	double		together;
} truth;

static void
look_at(const trial *t, const int64_t *y, const int64_t *other, bool pure, const double *weight, truth *most)
{
	double		of[MOST_PARTS];
	double		together = 0;

	distances(t, y, other, pure, of);
	for (int p = 0; p < t->parts; p++)
	{
		most->part[p] = fmax(most->part[p], of[p]);
		together += weight[p] * of[p];
	}
	most->together = fmax(most->together, together);
}

static truth
truth_of(const trial *t, bool pure, const double *weight)
{
	const int64_t nothing[WIDTH] = {0};
	truth		most = {.together = 0};

	for (int c = 0; c < t->contributions; c++)
	{
		look_at(t, t->answer[c], nothing, pure, weight, &most);
		for (int d = 0; d < c && t->rules.neighbours == PE_SUBSTITUTE; d++)
			look_at(t, t->answer[c], t->answer[d], pure, weight, &most);
	}
	return most;
}

/* ------------------------------------------------------------------
 * Plans
 * ------------------------------------------------------------------
 */

static void
random_shares(trial *t)
{
	double		weight[MOST_PARTS];
	double		sum = 0;

	for (int p = 0; p < t->parts; p++)
		sum += weight[p] = uniform(0.05, 1);
	for (int p = 0; p < t->parts; p++)
		t->part[p].share = (uint64_t) floor(weight[p] / sum * (double) PE_WHOLE_SHARE) - 1;
}

/* The rest of rows has the share of what they have not. */
static void
share_rest(trial *t)
{
	double		sum = 0;

	for (int p = 0; p < t->parts; p++)
		sum += t->sum[p].lacks == 0 ? (double) t->part[p].share : 0;
	for (int p = 0; p < t->parts; p++)
		t->part[p].share = t->sum[p].lacks != 0 ? 1 : (uint64_t) ((double) t->part[p].share / sum * ((double) PE_WHOLE_SHARE - 1e3));
	for (int p = 0; p < t->parts; p++)
		for (int r = 0; r < t->parts; r++)
			if (t->sum[r].lacks != 0 && t->sum[p].lacks == 0 && (t->sum[r].lacks & ~t->part[p].needs) == 0)
			{
				t->part[r].share += t->part[p].share;
				break;
			}
}

static pe_plan *
plan_of(const trial *t, pe_accounting accounting, double cost)
{
	bool		pure = accounting == PE_PURE;
	pe_plan_ask ask = {.accounting = accounting, .epsilon = pure ? cost : NAN, .rho = pure ? NAN : cost, .max_stderr = NAN, .delta = pure ? 0 : 1e-6};
	pe_plan_sums sums = {t->parts, t->part, t->rules, 0, 1};
	pe_plan    *plan;

	assert_int_equal(pe_plan_of_sums(&ask, &sums, &plan), PE_PLAN_MADE);
	return plan;
}

static double closest;			/* to all of the cost */
static double least = 1;		/* that is lost of it under substitute */
static double worst = 1;		/* a sensitivity over that of all neighbours */
static double exact_parts;

static void
forget_found(void)
{
	closest = 0;
	least = worst = 1;
	exact_parts = 0;
}

/* Neither the sensitivity nor the cost could be smaller. */
static void
check_found(const char *what)
{
	printf("%s: the sensitivity is at most %.2f times that of all neighbours, exact in %.0f parts; the most that is lost is %.9f of the cost, at least %.3f of substitute\n",
		   what, worst, exact_parts, closest, least);
	assert_true(closest > 1 - 1e-5);
	assert_true(exact_parts > 10);
}

/* No neighbours differ by more than the sensitivity, and all parts together lose at most the cost. */
static void
check(trial *t, pe_neighbours neighbours, pe_accounting accounting)
{
	bool		pure = accounting == PE_PURE;
	double		weight[MOST_PARTS];
	pe_plan    *plan;
	truth		known;

	t->rules.neighbours = neighbours;
	random_shares(t);
	if (t->sum[t->parts - 1].lacks != 0)
		share_rest(t);
	plan = plan_of(t, accounting, 0.25);
	/* what is drawn is 2^lattice times the answers, for the sensitivity of the vector */
	for (int p = 0; p < t->parts; p++)
		weight[p] = ldexp(1, (pure ? 1 : 2) * plan->vector[p].lattice) / (double) plan->vector[p].sensitivity;
	known = truth_of(t, pure, weight);
	for (int p = 0; p < t->parts; p++)
	{
		pe_u128		sensitivity;
		pe_u128		together;

		assert_true(pe_plan_part_sensitivity(&t->part[p], &t->rules, accounting, &sensitivity));
		assert_true(pe_plan_part_sensitivity(&plan->part[p], &t->rules, accounting, &together));
		if ((double) sensitivity < known.part[p])
			fail_msg("part %d of kind %d, neighbours %d, %d rows, %d cells, accounting %d: %g of a truth of %g", p, t->sum[p].kind, neighbours,
					 t->rules.max_rows, t->part[p].cells, accounting, (double) sensitivity, known.part[p]);
		if (known.part[p] > 0)
			worst = fmax(worst, (double) sensitivity / known.part[p]);
		exact_parts += (double) sensitivity == known.part[p];
		/* its share of the cost and no more */
		assert_true(weight[p] * ((double) together - (plan->part[p].apart > 0)) <= (double) t->part[p].share / (double) PE_WHOLE_SHARE);
		assert_true(weight[p] * (double) together >= (double) t->part[p].share / (double) PE_WHOLE_SHARE * (1 - 1e-6));
	}
	assert_true(known.together <= 1);
	least = fmin(least, t->rules.neighbours == PE_SUBSTITUTE ? known.together : 1);
	closest = fmax(closest, known.together);
	free_plan(plan);
}

static const pe_neighbours both[] = {PE_ADD_REMOVE, PE_SUBSTITUTE};
static const pe_accounting accountings[] = {PE_ZCDP, PE_GDP, PE_PURE};

static void
check_all(trial *t)
{
	list_contributions(t);
	for (int b = 0; b < lengthof(both); b++)
		for (int a = 0; a < lengthof(accountings); a++)
			check(t, both[b], accountings[a]);
	free_trial(t);
}

static void
begin(trial *t, int cells, int numbers, int k)
{
	memset(t, 0, sizeof(*t));
	t->cells = cells;
	t->sums.numbers = numbers;
	t->sums.conditions = 1;
	assert_true(pe_number_init(&t->sums.number[0], 0, between(1, 5), true, true));
	assert_true(pe_number_init(&t->sums.number[1], -3, random_below(2) ? 4 : 500, true, true));
	t->rules.max_rows = k;
}

static const pe_sum one = {.kind = PE_SUM_ONE};
static const pe_sum some = {.kind = PE_SUM_ONE, .needs = PE_HAS_CONDITION(0)};
static const pe_sum there = {.kind = PE_SUM_ONE, .needs = PE_HAS_NUMBER(0)};
static const pe_sum value = {.kind = PE_SUM_VALUE, .a = 0, .needs = PE_HAS_NUMBER(0)};
static const pe_sum value_of_some = {.kind = PE_SUM_VALUE, .a = 0, .needs = PE_HAS_NUMBER(0) | PE_HAS_CONDITION(0)};
static const pe_sum square = {.kind = PE_SUM_SQUARE, .a = 0, .needs = PE_HAS_NUMBER(0)};
static const pe_sum long_square = {.kind = PE_SUM_SQUARE, .a = 1, .needs = PE_HAS_NUMBER(1)};
static const pe_sum product = {.kind = PE_SUM_PRODUCT, .a = 0, .b = 1, .needs = PE_HAS_NUMBER(0) | PE_HAS_NUMBER(1)};

/* Rows: counts, values, squares, products, conditions, numbers that are absent. */
static void
test_rows(void **state)
{
	(void) state;
	for (int round = 0; round < fewer(30, 10); round++)
		for (int k = 1; k <= 3; k++)
		{
			trial		t;
			bool		identity = round % 2 == 0;

			begin(&t, k == 3 ? 2 : 3, 1, k);
			make_kinds(&t, k < 3, k == 1);
			add_part(&t, one, 0, identity);
			add_part(&t, there, 0, identity);
			add_part(&t, value, 0, identity);
			add_part(&t, square, 0, random_below(2));
			check_all(&t);

			begin(&t, 2, k == 3 ? 1 : 2, k);
			make_kinds(&t, k == 1, k < 3);
			add_part(&t, k == 3 ? value : product, 0, identity);
			add_part(&t, k == 3 ? square : long_square, 0, identity);
			if (k < 3)
			{
				add_part(&t, value_of_some, 0, random_below(2));
				add_part(&t, some, 0, random_below(2));
			}
			check_all(&t);
		}
	/* the bounds of a count, a value and a square are reached in one row */
	check_found("rows");
}

/* Rows without a number beside all: together they lose no more than the cost, and rows of each kind may lose all of it. */
static void
test_rest(void **state)
{
	static const pe_sum rest[] = {
		{.kind = PE_SUM_ONE, .lacks = 1}, {.kind = PE_SUM_ONE, .lacks = 2}, {.kind = PE_SUM_ONE, .lacks = 3},
		{.kind = PE_SUM_ONE, .needs = PE_HAS_NUMBER(0), .lacks = 2}, {.kind = PE_SUM_ONE, .needs = PE_HAS_CONDITION(0), .lacks = 1}
	};

	(void) state;
	closest = 0;
	worst = 1;
	for (int round = 0; round < fewer(40, 10); round++)
		for (int i = 0; i < lengthof(rest); i++)
			for (int a = 0; a < lengthof(accountings); a++)
			{
				trial		t;

				begin(&t, 2, 2, between(1, 2));
				make_kinds(&t, false, t.rules.max_rows == 1);
				add_part(&t, round % 2 == 0 ? one : there, 0, random_below(2));
				add_part(&t, (rest[i].lacks & 1) != 0 ? value : long_square, 0, random_below(2));
				if (rest[i].lacks == 3 || round % 3 == 0)
					add_part(&t, product, 0, random_below(2));
				if (round % 4 == 3)
					add_part(&t, rest[(i + 1) % 3], 0, true);
				add_part(&t, rest[i], 0, random_below(2));
				list_contributions(&t);
				check(&t, PE_ADD_REMOVE, accountings[a]);
				free_trial(&t);
			}
	printf("rest: the most that is lost is %.9f of the cost\n", closest);
	assert_true(closest > 1 - 1e-5);
}

/* What the parts that one row counts in have, for every set of numbers that it may have. */
static double
most_of_a_row(const pe_plan_part *part, int parts)
{
	double		most = 0;

	for (unsigned has = 0; has < 8; has++)
	{
		double		sum = 0;

		for (int i = 0; i < parts; i++)
			if ((part[i].needs & ~has) == 0 && (part[i].lacks == 0 || (part[i].lacks & ~has) != 0))
				sum += (double) part[i].share;
		most = fmax(most, sum / (double) PE_WHOLE_SHARE);
	}
	return most;
}

static void
test_shares_of_rows(void **state)
{
	int			held = 0;
	int			more = 0;
	int			strict = 0;
	pe_plan_part part[PE_MOST_LACKS + 1];

	(void) state;
	for (int round = 0; round < 20000; round++)
	{
		int			parts = between(1, 6);
		bool		single = round % 2 == 0;
		double		most;
		double		sum = 0;

		for (int i = 0; i < parts; i++)
		{
			part[i] = (pe_plan_part) {.bound = 1, .share = (uint64_t) (uniform(.05, .6) * (double) PE_WHOLE_SHARE)};
			if (random_below(2))
				part[i].lacks = (uint16_t) (single ? 1 << between(0, 2) : between(1, 7));
			else
				part[i].needs = (uint16_t) between(0, 7);
			sum += (double) part[i].share / (double) PE_WHOLE_SHARE;
		}
		most = most_of_a_row(part, parts);
		if (fabs(most - 1) < 1e-9)
			continue;
		if (pe_plan_shares_hold(part, parts))
		{
			assert_true(most < 1);
			held++;
			more += sum > 1;
		}
		else if (single)
			assert_true(most > 1);
		else
			strict += most < 1;
	}
	printf("shares hold in %d of 20000, in %d of them with more than the whole in all; in %d none is lost and they are refused\n", held, more, strict);
	assert_true(more > 500);
	/* rows of a number and of the rest have the whole each */
	part[0] = (pe_plan_part) {.share = PE_WHOLE_SHARE, .needs = 5};
	part[1] = (pe_plan_part) {.share = PE_WHOLE_SHARE, .lacks = 4};
	assert_true(pe_plan_shares_hold(part, 2));
	part[0].needs = 3;
	assert_false(pe_plan_shares_hold(part, 2));
	part[0].needs = 5;
	part[1].lacks = 6;			/* both numbers: a row with one of them counts in both */
	assert_false(pe_plan_shares_hold(part, 2));
	for (int i = 0; i <= PE_MOST_LACKS; i++)
		part[i] = (pe_plan_part) {.share = 1, .lacks = (uint16_t) (i + 1)};
	assert_true(pe_plan_shares_hold(part, PE_MOST_LACKS));
	assert_false(pe_plan_shares_hold(part, PE_MOST_LACKS + 1));
	part[1].share = 0;
	assert_false(pe_plan_shares_hold(part, 2));
	/* values, people and rows that are left out take from the share of all others */
	for (int kind = 0; kind < 3; kind++)
	{
		part[0] = (pe_plan_part) {.share = PE_WHOLE_SHARE, .distinct = kind == 0, .cells = kind == 1, .lost = kind == 2};
		part[1] = (pe_plan_part) {.share = 1, .needs = 1};
		assert_false(pe_plan_shares_hold(part, 2));
	}
}

/*
 * sum(x) of [0, 100] beside count(*), of an x that may be absent, at rho .01:
 * 765 and 9.6.  All rows, those with x, the rest and the values of x.
 */
static void
test_golden_pair(void **state)
{
	static const double share[4] = {0.355, 0.2725, 0.645, 0.3725};
	const pe_plan_rules rules = {.neighbours = PE_ADD_REMOVE, .max_rows = 1};
	pe_plan_part part[4];
	double		variance[4];
	pe_strategy cells;
	double		with_x;
	double		all;

	(void) state;
	make_identity(&cells, 1);
	for (int i = 0; i < 4; i++)
	{
		pe_noise   *noise;

		part[i] = (pe_plan_part) {.strategy = &cells, .bound = i == 3 ? 50 : 1, .is_signed = i == 3,
			.share = (uint64_t) (share[i] * (double) PE_WHOLE_SHARE), .needs = i == 1 || i == 3, .lacks = i == 2};
		noise = pe_plan_noise_of_part(&part[i], &rules, PE_ZCDP, 10000000);
		assert_non_null(noise);
		variance[i] = pow(pe_noise_stderr(noise), 2);
		pe_free(noise);
	}
	assert_true(pe_plan_shares_hold(part, 4));
	with_x = 1 / (1 / variance[1] + 1 / (variance[0] + variance[2]));
	all = 1 / (1 / variance[0] + 1 / (variance[1] + variance[2]));
	assert_true(sqrt(variance[3] + 2500 * with_x) < 765);
	assert_true(sqrt(all) < 9.6);
	for (int i = 0; i < 4; i++)	/* none is to be had for less */
	{
		part[i].share += part[i].share / 100;
		assert_false(pe_plan_shares_hold(part, 4));
		part[i].share = (uint64_t) (share[i] * (double) PE_WHOLE_SHARE);
	}
}

/* People beside rows: at most m cells of a unit, each once. */
static void
test_units(void **state)
{
	(void) state;
	forget_found();
	for (int round = 0; round < fewer(30, 10); round++)
		for (int k = 1; k <= 2; k++)
			for (int m = 1; m <= 3; m++)
			{
				trial		t;
				bool		identity = round % 2 == 0;

				begin(&t, 3, 1, k);
				make_kinds(&t, false, false);
				add_part(&t, (pe_sum) {.kind = PE_SUM_UNITS, .most = m}, m, identity);
				add_part(&t, k == 1 ? value : one, 0, identity);
				check_all(&t);
			}
	check_found("people");
}

/* Rows that the cut left out, at most c of a unit, beside rows, values and people: who has some has k that count. */
static void
test_lost(void **state)
{
	(void) state;
	forget_found();
	for (int round = 0; round < fewer(30, 10); round++)
		for (int k = 1; k <= 2; k++)
			for (int c = 1; c <= 3; c++)
			{
				trial		t;
				bool		identity = round % 2 == 0;

				begin(&t, k == 1 ? 3 : 2, 1, k);
				make_kinds(&t, false, false);
				add_part(&t, (pe_sum) {.kind = PE_SUM_LOST, .most = c}, c, identity);
				add_part(&t, round % 3 == 0 ? value : one, 0, identity);
				if (round % 5 == 0)
					add_part(&t, (pe_sum) {.kind = PE_SUM_UNITS, .most = 1}, 1, identity);
				check_all(&t);
			}
	check_found("left out");
}

/* Values that occur, beside rows, numbers and people: each of a unit's rows may have one that no other row has. */
static void
test_distinct(void **state)
{
	(void) state;
	forget_found();
	for (int round = 0; round < fewer(30, 10); round++)
		for (int k = 1; k <= 2; k++)
		{
			trial		t;
			bool		identity = round % 2 == 0;

			begin(&t, k == 1 ? 3 : 2, 1, k);
			make_kinds(&t, false, round % 3 == 1);
			add_part(&t, (pe_sum) {.kind = PE_SUM_DISTINCT, .needs = PE_HAS_ATTRIBUTE(0)}, between(1, 3), identity);
			add_part(&t, round % 3 == 0 ? value : one, 0, identity);
			if (round % 3 == 1)
				add_part(&t, some, 0, identity);
			if (round % 5 == 0)
				add_part(&t, (pe_sum) {.kind = PE_SUM_UNITS, .most = 1}, 1, identity);
			check_all(&t);
		}
	check_found("values");
}

#define MOST_VALUES 3
#define MOST_VECTORS 64			/* (1 + MOST_VALUES)^groups */

/* What sets of at most k pairs of group and value add to the numbers of values, beside those that others have. */
static int
changes_beside(unsigned others, int groups, int values, int k, int change[MOST_VECTORS][MOST_CELLS])
{
	bool		known[MOST_VECTORS] = {false};
	int			count = 0;

	for (unsigned unit = 0; unit < 1u << groups * values; unit++)
	{
		int			d[MOST_CELLS];
		int			number = 0;

		if (__builtin_popcount(unit) > k)
			continue;
		for (int g = 0; g < groups; g++)
		{
			d[g] = __builtin_popcount((unit & ~others) >> g * values & ((1u << values) - 1));
			number = number * (1 + MOST_VALUES) + d[g];
		}
		if (!known[number])
			memcpy(change[count++], d, sizeof(d));
		known[number] = true;
	}
	return count;
}

static int64_t
distance_of(const pe_strategy *s, const int *d, const int *other, bool pure)
{
	double		a[MOST_ROWS * MOST_CELLS];
	int64_t		sum = 0;

	pe_strategy_matrix(s, a);
	for (int i = 0; i < s->rows; i++)
	{
		int64_t		y = 0;

		for (int j = 0; j < s->columns; j++)
			y += (int64_t) a[i * s->columns + j] * (d[j] - other[j]);
		sum += pure ? (y < 0 ? -y : y) : y * y;
	}
	return sum;
}

/* Over all rows of others, and all that a unit has, and has instead. */
static int64_t
farthest_values(const pe_strategy *s, pe_neighbours neighbours, int values, int k, bool pure)
{
	const int	nothing[MOST_CELLS] = {0};
	int			change[MOST_VECTORS][MOST_CELLS];
	int64_t		most = 0;

	for (unsigned others = 0; others < 1u << s->columns * values; others++)
	{
		int			count = changes_beside(others, s->columns, values, k, change);

		for (int i = 0; i < count; i++)
			for (int j = -1; j < (neighbours == PE_SUBSTITUTE ? i : 0); j++)
			{
				int64_t		distance = distance_of(s, change[i], j < 0 ? nothing : change[j], pure);

				most = distance > most ? distance : most;
			}
	}
	return most;
}

/* All of what is charged can be lost where groups are counted one by one, and never more. */
static void
check_values(const pe_strategy *s, pe_neighbours neighbours, pe_accounting accounting, int values, int k, bool exact)
{
	bool		pure = accounting == PE_PURE;
	pe_plan_part part = {.strategy = s, .bound = 1, .distinct = values, .share = PE_WHOLE_SHARE};
	pe_plan_sums sums = {1, &part, {.neighbours = neighbours, .max_rows = k}, 0, 1};
	pe_plan_ask ask = {.accounting = accounting, .epsilon = pure ? 1 : NAN, .rho = pure ? NAN : 1, .max_stderr = NAN, .delta = pure ? 0 : 1e-6};
	pe_plan    *plan;
	double		lost;

	assert_int_equal(pe_plan_of_sums(&ask, &sums, &plan), PE_PLAN_MADE);
	assert_int_equal(plan->vector[0].lattice, 0);
	assert_true(plan->vector[0].sensitivity == plan->noise.sensitivity);
	lost = (double) farthest_values(s, neighbours, values, k, pure) / (double) plan->vector[0].sensitivity;
	if (lost > 1 || (exact && lost < 1))
		fail_msg("%d values in %d groups, %d rows, neighbours %d, accounting %d: %g of the charge is lost", values, s->columns, k, neighbours, accounting, lost);
	closest = fmax(closest, lost);
	least = fmin(least, lost);
	free_plan(plan);
}

static void
test_values(void **state)
{
	(void) state;
	closest = 0;
	least = 1;
	for (int groups = 1; groups <= 3; groups++)
		for (int values = 1; values <= MOST_VALUES; values++)
			for (int k = 1; k <= 4; k++)
				for (int b = 0; b < lengthof(both); b++)
					for (int a = 0; a < lengthof(accountings); a++)
					{
						pe_strategy s;

						make_identity(&s, groups);
						check_values(&s, both[b], accountings[a], values, k, true);
						make_dense(&s, groups);
						check_values(&s, both[b], accountings[a], values, k, false);
						pe_strategy_free(&s);
					}
	printf("values, all rows of others: between %.3f and %.3f of the cost is lost, exactly 1 of groups that are counted one by one\n", least, closest);
}

/* The figures by hand: cells that are told apart, k rows. */
static void
test_figures(void **state)
{
	static const struct
	{
		int			kind;
		pe_neighbours neighbours;
		int			k;
		int			m;
		int64_t		sq;
		int			l1;
	}			figures[] = {
		{PE_SUM_ONE, PE_ADD_REMOVE, 1, 0, 1, 1}, {PE_SUM_ONE, PE_ADD_REMOVE, 3, 0, 9, 3},
		{PE_SUM_ONE, PE_SUBSTITUTE, 1, 0, 2, 2}, {PE_SUM_ONE, PE_SUBSTITUTE, 3, 0, 18, 6},
		{PE_SUM_VALUE, PE_ADD_REMOVE, 1, 0, 100, 10}, {PE_SUM_VALUE, PE_ADD_REMOVE, 3, 0, 900, 30},
		{PE_SUM_VALUE, PE_SUBSTITUTE, 1, 0, 400, 20}, {PE_SUM_VALUE, PE_SUBSTITUTE, 3, 0, 3600, 60},
		{PE_SUM_SQUARE, PE_ADD_REMOVE, 1, 0, 10000, 100}, {PE_SUM_SQUARE, PE_SUBSTITUTE, 2, 0, 160000, 400},
		{PE_SUM_UNITS, PE_ADD_REMOVE, 5, 1, 1, 1}, {PE_SUM_UNITS, PE_ADD_REMOVE, 5, 3, 3, 3},
		{PE_SUM_UNITS, PE_SUBSTITUTE, 5, 1, 2, 2}, {PE_SUM_UNITS, PE_SUBSTITUTE, 5, 3, 6, 6},
		{PE_SUM_LOST, PE_ADD_REMOVE, 5, 1, 1, 1}, {PE_SUM_LOST, PE_ADD_REMOVE, 2, 7, 49, 7},
		{PE_SUM_LOST, PE_SUBSTITUTE, 5, 1, 2, 2}, {PE_SUM_LOST, PE_SUBSTITUTE, 2, 3, 18, 6},
		{PE_SUM_DISTINCT, PE_ADD_REMOVE, 1, 40, 1, 1}, {PE_SUM_DISTINCT, PE_ADD_REMOVE, 3, 40, 9, 3},
		{PE_SUM_DISTINCT, PE_SUBSTITUTE, 1, 40, 2, 2}, {PE_SUM_DISTINCT, PE_SUBSTITUTE, 3, 40, 18, 6},
		/* of 6 values: 6, 6, 6 and 2 of 20 rows, and 6 in all ten groups, five of them twice */
		{PE_SUM_DISTINCT, PE_ADD_REMOVE, 20, 6, 112, 20}, {PE_SUM_DISTINCT, PE_SUBSTITUTE, 20, 6, 224, 40},
		{PE_SUM_DISTINCT, PE_ADD_REMOVE, 100, 6, 360, 60}, {PE_SUM_DISTINCT, PE_SUBSTITUTE, 100, 6, 360, 60},
		{PE_SUM_DISTINCT, PE_ADD_REMOVE, 65535, 65535, 4294836225, 65535}, {PE_SUM_DISTINCT, PE_SUBSTITUTE, 65535, 1, 10, 10},
	};
	pe_sums		sums = {.numbers = 1};
	pe_strategy cells;

	(void) state;
	make_identity(&cells, 10);
	assert_true(pe_number_init(&sums.number[0], 0, 10, true, true));
	for (int i = 0; i < lengthof(figures); i++)
	{
		pe_sum		sum = {.kind = (uint8_t) figures[i].kind, .needs = figures[i].kind == PE_SUM_ONE ? 0 : 1};
		pe_plan_part part = {.strategy = &cells, .bound = pe_sum_bound(&sums, &sum), .is_signed = pe_sum_is_signed(&sum)};
		pe_plan_rules rules = {.neighbours = figures[i].neighbours, .max_rows = figures[i].k};
		pe_u128		sq;
		pe_u128		l1;

		*(sum.kind == PE_SUM_LOST ? &part.lost : sum.kind == PE_SUM_DISTINCT ? &part.distinct : &part.cells) = figures[i].m;
		assert_true(pe_plan_part_sensitivity(&part, &rules, PE_ZCDP, &sq));
		assert_true(pe_plan_part_sensitivity(&part, &rules, PE_PURE, &l1));
		assert_int_equal((int64_t) sq, figures[i].sq);
		assert_int_equal((int64_t) l1, figures[i].l1);
	}
}

/* ------------------------------------------------------------------
 * What no plan is made of
 * ------------------------------------------------------------------
 */

static void
make_plan(void *argument)
{
	pe_plan    *plan = plan_of(argument, PE_ZCDP, 1);

	(void) plan;
}

static void
test_shares(void **state)
{
	trial		t;

	(void) state;
	begin(&t, 2, 1, 1);
	add_part(&t, one, 0, true);
	add_part(&t, value, 0, true);
	t.part[1].needs = 0;		/* what is not known of rows */
	t.part[0].share = t.part[1].share = PE_WHOLE_SHARE / 2;
	free_plan(plan_of(&t, PE_ZCDP, 1));
	t.part[1].share++;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	t.part[1].share = 0;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	t.part[1].share = UINT64_MAX;	/* which no sum may wrap around */
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	/* counts of units are in [0, 1] and not signed */
	t.part[1].share = 1;
	t.part[1].cells = 1;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	/* nor are rows that were left out, and these are no units */
	t.part[1].cells = 0;
	t.part[1].lost = 1;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	t.part[0].share--;
	t.part[1].bound = 1;
	t.part[1].is_signed = false;
	free_plan(plan_of(&t, PE_ZCDP, 1));
	t.part[1].cells = 1;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	t.part[1].cells = 0;
	t.part[1].lost = -1;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	/* a unit counts for any row of it; and none of the rest of rows becomes one that is counted */
	t.part[1].lost = 1;
	t.part[1].needs = 1;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	t.part[1].lost = 0;
	free_plan(plan_of(&t, PE_ZCDP, 1));
	t.part[1].needs = 0;
	t.part[1].lacks = 1;
	free_plan(plan_of(&t, PE_ZCDP, 1));
	t.rules.neighbours = PE_SUBSTITUTE;
	assert_true(pe_test_stops_with_bug(make_plan, &t));
	free_trial(&t);
}

/* Sensitivities that no sampler serves are refused, and do not wrap around. */
static void
test_large(void **state)
{
	static int32_t large[] = {INT32_MAX};
	const pe_strategy s = {.classes = 1, .columns = 1, .rows = 1, .inner = 1, .dense = large, .objective = 1};
	pe_plan_part part = {.strategy = &s, .bound = 1, .is_signed = true, .share = PE_WHOLE_SHARE};
	pe_plan_rules rules = {.neighbours = PE_SUBSTITUTE, .max_rows = 65535};

	(void) state;
	for (int bits = 0; bits < 62; bits++)
	{
		pe_u128		sensitivity;
		bool		served;
		double		truth = 2 * 65535. * INT32_MAX * ldexp(1, bits);

		part.bound = INT64_C(1) << bits;
		served = pe_plan_part_sensitivity(&part, &rules, PE_PURE, &sensitivity);
		assert_true(served == (truth < 0x1p96));
		assert_true(!served || fabs((double) sensitivity / truth - 1) < 1e-12);
		served = pe_plan_part_sensitivity(&part, &rules, PE_ZCDP, &sensitivity);
		assert_true(served == (truth * truth < 0x1p96));
		assert_true(!served || fabs((double) sensitivity / (truth * truth) - 1) < 1e-12);
	}
}

/* ------------------------------------------------------------------
 * Measurements
 * ------------------------------------------------------------------
 */

#define MEASUREMENTS 100000

static void
hold(void)
{
}

/* The same measurements again and again: no bias, and the variance that is told, within 3 %. */
static void
simulate(trial *t, pe_accounting accounting, double cost)
{
	int			n = fewer(MEASUREMENTS, 50);
	pe_plan    *plan = plan_of(t, accounting, cost);
	pe_amount	amount = pe_cost_amount(pe_plan_cost(plan));
	int			rows = (int) pe_plan_rows(plan);
	int64_t		columns[MOST_PARTS * MOST_CELLS];
	double		truth[WIDTH] = {0};
	double		sum[WIDTH] = {0};
	double		square[WIDTH] = {0};
	int			at = 0;

	for (int p = 0; p < t->parts; p++)
		for (int j = 0; j < t->cells; j++)
			columns[p * t->cells + j] = between(t->part[p].is_signed ? -1000 : 0, 1000);
	for (int p = 0; p < t->parts; p++)
		for (int i = 0; i < t->strategy[p].rows; i++, at++)
			for (int j = 0; j < t->cells; j++)
				truth[at] += (double) (t->a[p][i * t->cells + j] * columns[p * t->cells + j]);
	for (int i = 0; i < n; i++)
	{
		pe_i128		exact[WIDTH];
		int64_t		released[WIDTH];

		pe_plan_measure(plan, columns, exact, released, hold);
		at = 0;
		for (int p = 0; p < t->parts; p++)
		{
			pe_noise	noise = {accounting, plan->vector[p].sensitivity, plan->nano, plan->vector[p].lattice, true};

			for (int r = 0; r < t->strategy[p].rows; r++, at++)
			{
				double		error = ldexp((double) released[at], -pe_noise_shift(&noise)) - truth[at];

				sum[at] += error;
				square[at] += error * error;
			}
		}
	}
	assert_int_equal(at, rows);
	at = 0;
	for (int p = 0; p < t->parts; p++)
	{
		pe_noise   *noise = pe_plan_noise_of_part(&plan->part[p], &t->rules, accounting, accounting == PE_PURE ? amount.epsilon_nano : amount.rho_nano);
		double		told = pe_noise_stderr(noise);

		for (int r = 0; r < t->strategy[p].rows; r++, at++)
		{
			assert_true(fabs(sum[at] / n) < 6.8 * told / sqrt(n));
			if (!close_to(square[at] / n, told * told, quick() ? 0.5 : 0.03))
				fail_msg("part %d, accounting %d: a variance of %g, told %g", p, accounting, square[at] / n, told * told);
		}
		pe_free(noise);
	}
	free_plan(plan);
}

static void
test_measurements(void **state)
{
	(void) state;
	for (int i = 0; i < 6; i++)
	{
		trial		t;

		begin(&t, 2, 1, i % 2 == 0 ? 1 : 5);
		t.rules.neighbours = both[i / 2 % 2];
		add_part(&t, one, 0, true);
		add_part(&t, value, 0, false);
		add_part(&t, square, 0, true);
		add_part(&t, (pe_sum) {.kind = PE_SUM_UNITS, .most = 2}, 2, true);
		random_shares(&t);
		simulate(&t, accountings[i % 3], 0.125);
		free_trial(&t);
	}
}

/* max_stderr: so many standard deviations of one part's noise. */
static void
test_max_stderr(void **state)
{
	(void) state;
	for (int i = 0; i < 6; i++)
	{
		pe_accounting accounting = accountings[i % 3];
		pe_plan_ask ask = {.accounting = accounting, .epsilon = NAN, .rho = NAN, .max_stderr = 20, .delta = 1e-6};
		trial		t;
		pe_plan_sums sums;
		pe_plan    *plan;
		pe_amount	amount;
		pe_noise   *noise;

		begin(&t, 2, 1, 2);
		add_part(&t, one, 0, true);
		add_part(&t, value, 0, true);
		random_shares(&t);
		sums = (pe_plan_sums) {t.parts, t.part, t.rules, i / 3, 3.5};
		assert_int_equal(pe_plan_of_sums(&ask, &sums, &plan), PE_PLAN_MADE);
		amount = pe_cost_amount(pe_plan_cost(plan));
		noise = pe_plan_noise_of_part(&plan->part[i / 3], &t.rules, accounting, accounting == PE_PURE ? amount.epsilon_nano : amount.rho_nano);
		assert_true(3.5 * pe_noise_stderr(noise) <= 20 && 3.5 * pe_noise_stderr(noise) > 19.99);
		pe_free(noise);
		free_plan(plan);
		free_trial(&t);
	}
}

/* ------------------------------------------------------------------
 * Parts of blocks
 * ------------------------------------------------------------------
 */

#define MOST_BLOCK_PARTS 3
#define MOST_BLOCK_ROWS (MOST_BLOCK_PARTS * BLOCK_ROWS)
#define BLOCK_KINDS (8 * BLOCK_CELLS)	/* numbers absent or at three places, a condition true or not */

/* What is added up by the cells, some in blocks and some cell by cell. */
typedef struct block_parts
{
	int			parts;
	pe_sum		sum[MOST_BLOCK_PARTS];
	bool		dense[MOST_BLOCK_PARTS];
	double		least;			/* that is lost of the shares where rows change; 0: what blocks_case says */
} block_parts;

static const block_parts block_lists[] = {
	{1, {{.kind = PE_SUM_ONE}}, {false}, 0},
	{1, {{.kind = PE_SUM_ONE, .needs = PE_HAS_CONDITION(0)}}, {false}, 0},
	{1, {{.kind = PE_SUM_VALUE, .needs = PE_HAS_NUMBER(0)}}, {false}, .9},
	{1, {{.kind = PE_SUM_SQUARE, .needs = PE_HAS_NUMBER(0)}}, {false}, .9},
	{2, {{.kind = PE_SUM_ONE}, {.kind = PE_SUM_VALUE, .needs = PE_HAS_NUMBER(0)}}, {false, false}, .5},
	{2, {{.kind = PE_SUM_ONE}, {.kind = PE_SUM_VALUE, .needs = PE_HAS_NUMBER(0)}}, {true, false}, .5},
	{3, {{.kind = PE_SUM_VALUE, .needs = PE_HAS_NUMBER(0)}, {.kind = PE_SUM_ONE, .needs = PE_HAS_NUMBER(0)},
		 {.kind = PE_SUM_SQUARE, .needs = PE_HAS_NUMBER(0) | PE_HAS_CONDITION(0)}}, {false, true, false}, .5},
};

/* One list of parts over one list of blocks, with all that a row can add to what is drawn. */
typedef struct block_trial
{
	pe_sums		sums;
	pe_strategy blocks;
	pe_strategy cells;
	pe_workload workload;
	pe_tables	tables;
	pe_plan_part part[MOST_BLOCK_PARTS];
	int			rows;
	int64_t		added[BLOCK_KINDS + 1][MOST_BLOCK_ROWS];	/* the last one: nothing */
} block_trial;

/* What a row in a cell adds to one part: so many times a column. */
static int
add_column(const block_trial *t, int p, int cell, int64_t weight, int64_t *y)
{
	pe_i128		column[BLOCK_ROWS] = {0};
	int			rows = t->part[p].strategy->rows;

	if (t->part[p].strategy->blocks != NULL)
		column_of_cell(t->blocks.blocks, &t->tables, cell, column);
	else
		column[cell] = 1;
	for (int i = 0; i < rows; i++)
		y[i] = weight * (int64_t) column[i];
	return rows;
}

static void
add_row(const block_trial *t, const block_parts *of, int kind, int64_t *y)
{
	const uint8_t counts = 1;
	int32_t		number = (kind / 2 % 4 - 1) * t->sums.number[0].most;
	uint64_t	has = (uint64_t) (kind % 2) * PE_HAS_CONDITION(0) | (kind / 2 % 4 < 3 ? PE_HAS_NUMBER(0) : 0);

	for (int p = 0; p < of->parts; p++)
	{
		int64_t		weight;

		pe_sum_weigh(&t->sums, &of->sum[p], &number, 1, &has, &counts, 1, &weight);
		y += add_column(t, p, kind / 8, weight, y);
	}
}

static void
begin_blocks(block_trial *t, const blocks_case *blocks, const block_parts *of, bool pure)
{
	memset(t, 0, sizeof(*t));
	t->sums.numbers = t->sums.conditions = 1;
	/* small: these blocks spare no bits for larger ones */
	assert_true(pe_number_init(&t->sums.number[0], 0, 10, true, true));
	make_blocks(blocks, pure ? PE_L1 : PE_L2, &t->blocks, &t->workload);
	make_identity(&t->cells, BLOCK_CELLS);
	assert_true(pe_blocks_tables(t->blocks.blocks, &t->tables));
	for (int p = 0; p < of->parts; p++)
	{
		t->part[p] = (pe_plan_part) {
			.strategy = of->dense[p] ? &t->cells : &t->blocks, .bound = pe_sum_bound(&t->sums, &of->sum[p]),
			.is_signed = pe_sum_is_signed(&of->sum[p]), .table = !of->dense[p],
			.share = PE_WHOLE_SHARE * 2 * (uint64_t) (p + 1) / (uint64_t) (of->parts * (of->parts + 1))
		};
		t->rows += t->part[p].strategy->rows;
	}
	for (int kind = 0; kind < BLOCK_KINDS; kind++)
		add_row(t, of, kind, t->added[kind]);
}

static void
end_blocks(block_trial *t)
{
	pe_tables_free(&t->tables);
	pe_strategy_free(&t->blocks);
	pe_workload_free(&t->workload);
}

/* What is lost where k rows of one kind become as many of another: norms are convex, so no mixture loses more. */
static double
loss_of_rows(const pe_plan *plan, const int64_t *a, const int64_t *b)
{
	bool		pure = plan->accounting == PE_PURE;
	double		loss = 0;

	for (int32_t v = 0; v < plan->vectors; v++)
	{
		double		apart = 0;

		for (size_t i = 0; i < plan->vector[v].count; i++, a++, b++)
			apart += pure ? llabs(*a - *b) : (double) (*a - *b) * (double) (*a - *b);
		loss += ldexp(apart, (pure ? 1 : 2) * plan->vector[v].lattice) / (double) plan->vector[v].sensitivity;
	}
	return loss * (pure ? plan->rules.max_rows : plan->rules.max_rows * plan->rules.max_rows);
}

static double
worst_loss(const block_trial *t, const pe_plan *plan)
{
	double		most = 0;

	for (int a = 0; a < BLOCK_KINDS; a++)
	{
		most = fmax(most, loss_of_rows(plan, t->added[a], t->added[BLOCK_KINDS]));
		for (int b = 0; b < a && plan->rules.neighbours == PE_SUBSTITUTE; b++)
			most = fmax(most, loss_of_rows(plan, t->added[a], t->added[b]));
	}
	return most;
}

/* Every vector is on the lattice and has the noise that errors are computed from, of all parts. */
static void
check_released(const block_trial *t, const block_parts *of, const pe_plan *plan, int64_t nano)
{
	int64_t		columns[MOST_BLOCK_ROWS];
	pe_i128		known[MOST_BLOCK_ROWS];
	pe_i128		exact[MOST_BLOCK_ROWS];
	int64_t		released[MOST_BLOCK_ROWS];
	const int64_t *y = released;
	const pe_i128 *truth = known;

	for (int i = 0; i < MOST_BLOCK_ROWS; i++)
		columns[i] = 1000 * i;
	pe_plan_apply_parts(plan, columns, known);
	pe_plan_measure(plan, columns, exact, released, hold);
	for (int p = 0; p < of->parts; p++)
	{
		pe_noise   *noise = pe_plan_noise_of_part(&plan->part[p], &plan->rules, plan->accounting, nano);
		int		   *lattice = pe_plan_lattices_of_part(&plan->part[p], &plan->rules, plan->accounting, nano);
		const pe_blocks *blocks = t->part[p].strategy->blocks;

		assert_true((lattice == NULL) == (blocks == NULL));
		for (int v = 0; v < pe_plan_part_vectors(&t->part[p]); v++)
		{
			int			shift = lattice != NULL ? lattice[v] : pe_noise_shift(noise);
			int64_t		rows = lattice != NULL ? blocks->first[v + 1] - blocks->first[v] : t->part[p].strategy->rows;
			double		sigma = pe_noise_stderr(noise) *
				(lattice != NULL ? sqrt(pe_blocks_relative_variance(blocks, v)) : 1);
			double		most = 0;

			for (int64_t r = 0; r < rows; r++, y++, truth++)
				most = fmax(most, fabs(ldexp((double) *y, -shift) - (double) *truth));
			if (!(most < 40 * sigma && (rows < 4 || most > sigma / 1e9)))
				fail_msg("part %d, vector %d, accounting %d: %g off, of noise of %g", p, v, plan->accounting, most, sigma);
		}
		pe_free(lattice);
		pe_free(noise);
	}
	assert_true(y - released == t->rows && pe_plan_rows(plan) == t->rows);
}

/* What each vector is drawn with is what its variance says, and no share is lost. */
static void
check_variances(const block_trial *t, const block_parts *of, const pe_plan *plan, int64_t nano)
{
	const pe_noise_vector *vector = plan->vector;

	for (int p = 0; p < of->parts; p++)
	{
		pe_noise   *noise = pe_plan_noise_of_part(&plan->part[p], &plan->rules, plan->accounting, nano);

		for (int v = 0; v < pe_plan_part_vectors(&t->part[p]); v++, vector++)
		{
			const pe_blocks *blocks = t->part[p].strategy->blocks;
			const pe_noise drawn = {plan->accounting, vector->sensitivity, nano, vector->lattice, true};
			double		relative = blocks != NULL ? pe_blocks_relative_variance(blocks, v) : 1;

			assert_true(fabs(pe_noise_stderr(&drawn) / (pe_noise_stderr(noise) * sqrt(relative)) - 1) < 1e-6);
		}
		pe_free(noise);
	}
	assert_int_equal(vector - plan->vector, plan->vectors);
}

/* The least that some neighbours lose of the charge: not much less than the shares that there are. */
static double
least_loss(const blocks_case *blocks, const block_parts *of, const pe_plan *plan)
{
	double		shares = 0;

	for (int p = 0; p < plan->parts; p++)
		shares += (double) plan->part[p].share / (double) PE_WHOLE_SHARE;
	if (plan->rules.neighbours == PE_ADD_REMOVE)
		return .9 * shares;
	if (of->least > 0)
		return of->least * shares;
	return plan->accounting == PE_PURE ? blocks->pure_loss : .9;
}

static double
check_block_parts(const blocks_case *blocks, const block_parts *of, pe_accounting accounting,
				  pe_neighbours neighbours, int k)
{
	bool		pure = accounting == PE_PURE;
	static block_trial t;
	pe_plan_ask ask = {.accounting = accounting, .epsilon = pure ? .5 : NAN, .rho = pure ? NAN : .5, .max_stderr = NAN, .delta = pure ? 0 : 1e-6};
	pe_plan_sums sums = {of->parts, t.part, {.neighbours = neighbours, .max_rows = k}, of->parts - 1, 1};
	pe_plan    *plan;
	double		loss;

	begin_blocks(&t, blocks, of, pure);
	assert_int_equal(pe_plan_of_sums(&ask, &sums, &plan), PE_PLAN_MADE);
	loss = worst_loss(&t, plan);
	if (!(loss <= 1.0000001 && loss > least_loss(blocks, of, plan)))
		fail_msg("%s, %d parts, kind %d, accounting %d, neighbours %d, %d rows: a loss of %.9f of the charge", blocks->workload, of->parts,
				 of->sum[0].kind, accounting, neighbours, k, loss);
	check_variances(&t, of, plan, plan->nano);
	check_released(&t, of, plan, plan->nano);
	free_plan(plan);
	end_blocks(&t);
	return loss;
}

/* Counts, numbers and several parts, by blocks of every kind: all neighbours that there are. */
static void
test_block_parts(void **state)
{
	(void) state;
	for (int l = 0; l < lengthof(block_lists); l++)
	{
		double		most = 0;
		double		least = 1;

		for (int b = 0; b < lengthof(blocks_cases); b++)
			for (int a = 0; a < lengthof(accountings); a++)
				for (int n = 0; n < lengthof(both); n++)
					for (int k = 1; k <= (quick() ? 2 : 3); k++)
					{
						double		loss = check_block_parts(&blocks_cases[b], &block_lists[l], accountings[a], both[n], k);

						most = fmax(most, loss);
						least = fmin(least, loss);
					}
		printf("blocks, list %d: between %.3f and %.9f of the charge is lost\n", l, least, most);
	}
}

/* A part that is alone and has a share of the cost is drawn with its share, on its lattice. */
static void
test_share_alone(void **state)
{
	static const block_parts lists[] = {{1, {{.kind = PE_SUM_ONE}}, {true}, 0}, {1, {{.kind = PE_SUM_ONE}}, {false}, 0}};

	(void) state;
	for (int i = 0; i < 2 * lengthof(lists); i++)
	{
		static block_trial t;
		const block_parts *of = &lists[i / 2];
		bool		pure = i % 2 == 1;
		pe_plan_ask ask = {.accounting = pure ? PE_PURE : PE_GDP, .epsilon = pure ? .5 : NAN, .rho = pure ? NAN : .5, .max_stderr = NAN, .delta = pure ? 0 : 1e-6};
		pe_plan_sums sums = {of->parts, t.part, {.max_rows = 2}, 0, 1};
		pe_plan    *plan;

		begin_blocks(&t, &blocks_cases[0], of, pure);
		t.part[0].share = PE_WHOLE_SHARE / 3;
		assert_int_equal(pe_plan_of_sums(&ask, &sums, &plan), PE_PLAN_MADE);
		assert_true(fabs(worst_loss(&t, plan) * 3 - 1) < 1e-6);
		check_variances(&t, of, plan, plan->nano);
		check_released(&t, of, plan, plan->nano);
		free_plan(plan);
		end_blocks(&t);
	}
}

/* The door takes a plan for sums with its bounds, signs and as many tables, and for no others. */
static void
test_same_sums(void **state)
{
	static block_trial t;
	const block_parts *of = &block_lists[4];
	pe_plan_sums parts = {of->parts, t.part, {.max_rows = 1}, 0, 1};
	pe_plan_ask ask = {.accounting = PE_ZCDP, .epsilon = NAN, .rho = 1, .max_stderr = NAN, .delta = 1e-6};
	pe_sum		sum[16];
	pe_sums		sums;
	pe_plan    *plan;
	int			tables;

	(void) state;
	begin_blocks(&t, &blocks_cases[0], of, false);
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	tables = t.tables.tables;
	assert_true(2 * tables < lengthof(sum));
	for (int i = 0; i <= 2 * tables; i++)
		sum[i] = of->sum[i >= tables];
	sums = t.sums;
	sums.sum = sum;
	sums.sums = 2 * tables;
	assert_true(pe_plan_is_of_sums(plan, &sums));
	sums.sums++;
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sums.sums = 2 * tables - 1;
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sums.sums = 2 * tables;
	sum[tables - 1].kind = PE_SUM_UNITS;	/* in the last table of counts */
	sum[tables - 1].most = 1;
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sum[tables - 1].kind = PE_SUM_LOST;
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sum[tables - 1] = (pe_sum) {.kind = PE_SUM_DISTINCT, .needs = PE_HAS_ATTRIBUTE(0)};
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sum[tables - 1] = of->sum[0];
	assert_true(pe_plan_is_of_sums(plan, &sums));
	sum[tables - 1].lacks = 1;
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sum[tables - 1] = of->sum[0];
	plan->part[0].needs = 1;	/* of counts of all rows */
	assert_false(pe_plan_is_of_sums(plan, &sums));
	plan->part[0].needs = 0;
	plan->part[1].needs = 1;
	assert_true(pe_plan_is_of_sums(plan, &sums));
	assert_true(pe_number_init(&sums.number[0], 0, 20, true, true));	/* twice the bound */
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sums.number[0] = t.sums.number[0];
	free_plan(plan);
	t.part[1].is_signed = false;	/* numbers that could not be below 0 */
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	assert_false(pe_plan_is_of_sums(plan, &sums));
	free_plan(plan);
	end_blocks(&t);
}

/* The door takes a table of values only where they are last in it. */
static void
test_values_are_last(void **state)
{
	pe_strategy cells;
	pe_plan_part part = {.strategy = &cells, .bound = 1, .distinct = 4, .share = PE_WHOLE_SHARE};
	pe_plan_sums parts = {1, &part, {.neighbours = PE_SUBSTITUTE, .max_rows = 1}, 0, 1};
	pe_plan_ask ask = {.accounting = PE_ZCDP, .epsilon = NAN, .rho = 1, .max_stderr = NAN, .delta = 1e-6};
	pe_sum		sum = {.kind = PE_SUM_DISTINCT, .needs = PE_HAS_ATTRIBUTE(1)};
	pe_sums		sums = {.sums = 1, .sum = &sum};
	uint32_t	set = 3;
	int64_t		first[2] = {0, 15};
	pe_tables	tables = {.tables = 1, .set = &set, .first = first};
	pe_domain	domain = {.attributes = 2};
	int32_t		columns[5] = {2, -1, 0, 1, -2};
	int32_t    *column_of[1] = {NULL};
	pe_plan    *plan;

	(void) state;
	make_identity(&cells, 3);
	/* four levels and NULL */
	domain.attribute[1] = (pe_attribute) {.kind = PE_LEVELS, .points = 4, .nulls = PE_NULLS_CELL};
	assert_int_equal(pe_attribute_cells(&domain.attribute[1]), 5);
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	assert_true(pe_plan_is_of_sums(plan, &sums) && pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	set = 1;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	set = 7;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	set = 2;
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	/* no more values than the sensitivity is for */
	plan->part[0].distinct = 3;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	plan->part[0].distinct = 5;
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	/* and none of two groups in one place, or of groups that it does not have */
	first[1] = 20;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	first[1] = 25;
	column_of[0] = columns;
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	columns[4] = 2;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	columns[4] = 3;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	free_plan(plan);
}

/* Values that nobody has listed have a table by the groups alone, and no limit. */
static void
test_open_values(void **state)
{
	pe_strategy cells;
	pe_plan_part part = {.strategy = &cells, .bound = 1, .distinct = PE_ANY_VALUES, .share = PE_WHOLE_SHARE};
	pe_plan_sums parts = {1, &part, {.neighbours = PE_SUBSTITUTE, .max_rows = 2}, 0, 1};
	pe_plan_ask ask = {.accounting = PE_ZCDP, .epsilon = NAN, .rho = 1, .max_stderr = NAN, .delta = 1e-6};
	pe_sum		sum = {.kind = PE_SUM_OPEN};
	pe_sums		sums = {.sums = 1, .sum = &sum, .opens = 1};
	uint32_t	set = 1;
	int64_t		first[2] = {0, 3};
	pe_tables	tables = {.tables = 1, .set = &set, .first = first};
	pe_domain	domain = {.attributes = 1};
	int32_t		columns[4] = {2, -1, 0, 1};
	int32_t    *column_of[1] = {NULL};
	pe_plan    *plan;

	(void) state;
	make_identity(&cells, 3);
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	assert_true(pe_plan_is_of_sums(plan, &sums) && pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	/* rows that are counted are none */
	sum.kind = PE_SUM_ONE;
	assert_false(pe_plan_is_of_sums(plan, &sums));
	sum.kind = PE_SUM_OPEN;
	plan->part[0].distinct = 0;
	assert_false(pe_plan_is_of_sums(plan, &sums));
	/* so many values are of those that are listed */
	plan->part[0].distinct = 3;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	plan->part[0].distinct = PE_ANY_VALUES;
	first[1] = 4;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	column_of[0] = columns;
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	columns[1] = 1;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, &domain, column_of));
	free_plan(plan);
}

/* The door takes parts of one table only if each row is in one cell of both, and their count counts it. */
static void
test_same_tables(void **state)
{
	pe_strategy cells;
	pe_plan_part part[2];
	pe_plan_sums parts = {2, part, {.neighbours = PE_SUBSTITUTE, .max_rows = 1}, 0, 1};
	pe_plan_ask ask = {.accounting = PE_ZCDP, .epsilon = NAN, .rho = 1, .max_stderr = NAN, .delta = 1e-6};
	pe_sum		sum[2] = {there, value};
	pe_sums		sums = {.numbers = 1, .conditions = 1, .sums = 2, .sum = sum};
	uint32_t	set[2] = {1, 1};
	pe_tables	tables = {.tables = 2, .set = set};
	int32_t		first[3] = {0};
	int32_t		other[3] = {0};
	int32_t    *column_of[2] = {first, first};
	pe_plan    *plan;

	(void) state;
	make_identity(&cells, 3);
	assert_true(pe_number_init(&sums.number[0], 0, 10, true, true));
	for (int p = 0; p < 2; p++)
		part[p] = (pe_plan_part) {
			.strategy = &cells, .bound = pe_sum_bound(&sums, &sum[p]), .is_signed = p == 1, .table = 1, .share = PE_WHOLE_SHARE / 2,
			.apart = PE_WHOLE_SHARE	/* which no caller says */
		};
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	assert_true(plan->part[0].apart == 2 * PE_WHOLE_SHARE && plan->part[1].apart == 2 * PE_WHOLE_SHARE);
	assert_true(part[0].apart == PE_WHOLE_SHARE);
	pe_plan_tell_apart(plan, part);
	assert_true(part[0].apart == 2 * PE_WHOLE_SHARE && part[1].apart == 2 * PE_WHOLE_SHARE);
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = one;				/* which counts others too */
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = some;				/* which does not count all */
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = one;
	sum[0].lacks = 1;			/* nor does this */
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = there;
	set[1] = 2;					/* by other attributes */
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	set[1] = 1;
	sum[1].by_atom = 1;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[1].by_atom = 0;
	column_of[1] = other;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	free_plan(plan);
	part[1].table = 2;
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	assert_true(plan->part[0].apart == 3 * PE_WHOLE_SHARE);
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	free_plan(plan);
}

/* A pair is above and below of one number, of the same rows. */
static void
test_same_pair(void **state)
{
	const pe_sum above = {.kind = PE_SUM_ABOVE, .needs = PE_HAS_NUMBER(0)};
	const pe_sum below = {.kind = PE_SUM_BELOW, .needs = PE_HAS_NUMBER(0)};
	pe_strategy cells;
	pe_plan_part part[2];
	pe_plan_sums parts = {2, part, {.neighbours = PE_SUBSTITUTE, .max_rows = 3}, 0, 1};
	pe_plan_ask ask = {.accounting = PE_PURE, .epsilon = 1, .rho = NAN, .max_stderr = NAN};
	pe_sum		sum[2] = {above, below};
	pe_sums		sums = {.numbers = 2, .conditions = 1, .sums = 2, .sum = sum};
	uint32_t	set[2] = {1, 1};
	pe_tables	tables = {.tables = 2, .set = set};
	int32_t    *column_of[2] = {NULL, NULL};
	pe_plan    *plan;

	(void) state;
	make_identity(&cells, 3);
	for (int n = 0; n < 2; n++)
		assert_true(pe_number_init(&sums.number[n], 0, 10, true, true));
	for (int p = 0; p < 2; p++)
		part[p] = (pe_plan_part) {
			.strategy = &cells, .bound = pe_sum_bound(&sums, &sum[p]), .table = 1, .pair = 1, .share = PE_WHOLE_SHARE
		};
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	assert_true(plan->part[0].apart == 2 * PE_WHOLE_SHARE);
	/* k 2 M N */
	assert_true(ldexp((double) plan->vector[1].sensitivity, -plan->vector[1].lattice) == 3 * 20 * 2);
	assert_true(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = below;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = value;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = above;
	sum[0].needs |= PE_HAS_CONDITION(0);
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = above;
	sum[0].a = 1;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[0] = sum[1] = above;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	free_plan(plan);
}

/* Three of a pair are the products of both distances. */
static void
test_same_products(void **state)
{
	static const pe_sum_kind kinds[3] = {PE_SUM_ABOVE_SQUARE, PE_SUM_BETWEEN, PE_SUM_BELOW_SQUARE};
	pe_strategy cells;
	pe_plan_part part[3];
	pe_plan_sums parts = {3, part, {.neighbours = PE_SUBSTITUTE, .max_rows = 3}, 0, 1};
	pe_plan_ask ask = {.accounting = PE_PURE, .epsilon = 1, .rho = NAN, .max_stderr = NAN};
	pe_sum		sum[3];
	pe_sums		sums = {.numbers = 1, .sums = 3, .sum = sum};
	uint32_t	set[3] = {1, 1, 1};
	pe_tables	tables = {.tables = 3, .set = set};
	int32_t    *column_of[3] = {NULL, NULL, NULL};
	pe_plan    *plan;

	(void) state;
	make_identity(&cells, 3);
	assert_true(pe_number_init(&sums.number[0], 0, 10, true, true));
	for (int p = 0; p < 3; p++)
	{
		sum[p] = (pe_sum) {.kind = (uint8_t) kinds[p], .needs = PE_HAS_NUMBER(0)};
		part[p] = (pe_plan_part) {.strategy = &cells, .bound = pe_sum_bound(&sums, &sum[p]), .table = 1, .pair = 1, .share = PE_WHOLE_SHARE};
	}
	assert_int_equal(pe_plan_of_sums(&ask, &parts, &plan), PE_PLAN_MADE);
	/* k 4 M^2 N */
	for (int p = 0; p < 3; p++)
		assert_true(ldexp((double) plan->vector[p].sensitivity, -plan->vector[p].lattice) == 3 * 400 * 2);
	assert_true(pe_plan_is_of_sums(plan, &sums) && pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[2].kind = PE_SUM_BETWEEN;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	sum[2].kind = PE_SUM_BELOW;
	assert_false(pe_plan_is_by_tables(plan, &sums, &tables, NULL, column_of));
	free_plan(plan);
}

/* max_stderr: of a part of blocks its share counts too, and the block's own variance is relative to it. */
static void
test_max_stderr_of_blocks(void **state)
{
	(void) state;
	for (int a = 0; a < lengthof(accountings); a++)
	{
		static block_trial t;
		const block_parts *of = &block_lists[5];
		bool		pure = accountings[a] == PE_PURE;
		pe_plan_ask ask = {.accounting = accountings[a], .epsilon = NAN, .rho = NAN, .max_stderr = 20, .delta = 1e-6};
		pe_plan_sums sums = {of->parts, t.part, {.max_rows = 2}, 1, 3.5};
		pe_plan    *plan;
		pe_noise   *noise;

		begin_blocks(&t, &blocks_cases[0], of, pure);
		assert_int_equal(pe_plan_of_sums(&ask, &sums, &plan), PE_PLAN_MADE);
		noise = pe_plan_noise_of_part(&plan->part[1], &sums.rules, accountings[a], plan->nano);
		assert_true(3.5 * pe_noise_stderr(noise) <= 20 && 3.5 * pe_noise_stderr(noise) > 19.99);
		pe_free(noise);
		free_plan(plan);
		end_blocks(&t);
	}
}

static int
reproducible(void **state)
{
	(void) state;
	pe_test_seed(20261124);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_shares_of_rows),
		cmocka_unit_test(test_golden_pair),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_measurements),
		cmocka_unit_test(test_max_stderr),
		cmocka_unit_test(test_block_parts),
		cmocka_unit_test(test_share_alone),
		cmocka_unit_test(test_same_sums),
		cmocka_unit_test(test_values_are_last),
		cmocka_unit_test(test_open_values),
		cmocka_unit_test(test_same_tables),
		cmocka_unit_test(test_same_pair),
		cmocka_unit_test(test_same_products),
		cmocka_unit_test(test_max_stderr_of_blocks),
	};

	return cmocka_run_group_tests(tests, reproducible, NULL);
}

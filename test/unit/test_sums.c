/*
 * test_sums.c
 *	  Numbers as integers, what rows add to sums, rows as cells of one product, and bytes that
 *	  anybody may have made.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK set
 * there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "domain/sums.h"
#include "numbers.h"
#include "shim.h"

#define cases(count) fewer(count, 20)

/* ------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------
 */

static void
check_whole(int64_t lower, int64_t upper)
{
	pe_number	number;

	assert_true(pe_number_init(&number, (double) lower, (double) upper, true, true));
	assert_true(number.whole);
	assert_int_equal(number.most, upper - lower);
	for (int64_t v = lower; v <= upper; v += upper - lower > 1000 ? between(1, 500) : 1)
	{
		int32_t		u;

		assert_true(pe_number_place(&number, (double) v, &u));
		assert_int_equal(u, 2 * v - lower - upper);
		assert_true(pe_number_middle(&number) + u * pe_number_step(&number) == (double) v);
	}
}

static void
test_whole_numbers(void **state)
{
	pe_number	number;
	int32_t		u;

	(void) state;
	check_whole(0, 1);
	check_whole(-1, 0);
	check_whole(1000, 1100);
	check_whole(0, 65534);
	check_whole(-32767, 32767);
	check_whole(-65534, 0);
	check_whole((INT64_C(1) << 50) - 65534, INT64_C(1) << 50);
	for (int i = 0; i < cases(200); i++)
	{
		int64_t		lower = between(-1000000, 1000000);

		check_whole(lower, lower + between(1, 65534));
	}
	/* one more than that, bounds that are not whole, or too large: places as of any other numbers */
	assert_true(pe_number_init(&number, 0, 65535, true, true) && !number.whole && number.most == PE_NUMBER_MOST);
	assert_true(pe_number_init(&number, 0.5, 10, true, true) && !number.whole);
	assert_true(pe_number_init(&number, 0x1p52, 0x1p52 + 10, true, true) && !number.whole);
	assert_true(pe_number_init(&number, 0, 10, true, false) && !number.whole);
	/* the bounds and beyond */
	assert_true(pe_number_init(&number, -5, 7, true, true));
	assert_true(pe_number_place(&number, -INFINITY, &u) && u == -12);
	assert_true(pe_number_place(&number, 1e300, &u) && u == 12);
	assert_true(pe_number_init(&number, -5, 7, false, true));
	assert_true(pe_number_place(&number, 7, &u) && u == 12);
	assert_true(!pe_number_place(&number, 8, &u) && u == 0);
	assert_true(!pe_number_place(&number, -INFINITY, &u) && u == 0);
}

/* Inside: the nearest place, at most half/65534 away; outside: the bound, or absent. */
static void
check_place(const pe_number *number, double value)
{
	double		half = number->upper / 2 - number->lower / 2;
	int32_t		u = 7;
	bool		there = pe_number_place(number, value, &u);

	if (isnan(value) || (!number->clamp && (value < number->lower || value > number->upper)))
	{
		assert_true(!there && u == 0);
		return;
	}
	assert_true(there && u >= -number->most && u <= number->most);
	if (value >= number->upper)
		assert_int_equal(u, number->most);
	else if (value <= number->lower)
		assert_int_equal(u, -number->most);
	else if (!(fabs(pe_number_middle(number) + u * pe_number_step(number) - value) <= half / (2. * number->most) * (1 + 1e-6) + fabs(value) * 1e-15))
		fail_msg("%g between %g and %g is at %d", value, number->lower, number->upper, u);
}

static void
test_other_numbers(void **state)
{
	static const double bounds[][2] = {{0, 1}, {-1, 1}, {-0.25, 1e6}, {1e300, 1.7e308}, {-1e308, 1e308}, {0, 1e-300}, {-1e-308, 1e-308},
	{0, 65535}, {1e15, 1e15 + 2}, {-1e-5, 1e15}};
	static const double bad[][2] = {{1, 1}, {1, 0}, {NAN, 1}, {0, NAN}, {-INFINITY, 0}, {0, INFINITY}, {0, 5e-324}};
	pe_number	number;

	(void) state;
	for (int i = 0; i < lengthof(bounds); i++)
		for (int clamp = 0; clamp < 2; clamp++)
		{
			double		lower = bounds[i][0];
			double		upper = bounds[i][1];

			assert_true(pe_number_init(&number, lower, upper, clamp == 1, false));
			assert_int_equal(number.most, PE_NUMBER_MOST);
			check_place(&number, lower);
			check_place(&number, upper);
			check_place(&number, nextafter(lower, -INFINITY));
			check_place(&number, nextafter(upper, INFINITY));
			check_place(&number, nextafter(lower, INFINITY));
			check_place(&number, NAN);
			check_place(&number, INFINITY);
			check_place(&number, -INFINITY);
			check_place(&number, DBL_MAX);
			check_place(&number, -DBL_MAX);
			for (int j = 0; j < cases(2000); j++)
			{
				double		t = random_unit();

				check_place(&number, lower * (1 - t) + upper * t);
			}
		}
	for (int i = 0; i < lengthof(bad); i++)
		assert_false(pe_number_init(&number, bad[i][0], bad[i][1], true, i % 2 == 0));
	/* bounds that are neighbours of each other, whose middle is one of them: what a place is worth is still right */
	assert_true(pe_number_init(&number, 1e16, nextafter(1e16, 2e16), true, false));
	for (double v = 0; v <= 4e16; v += 1e16)
	{
		int32_t		u;
		double		kept = fmin(fmax(v, number.lower), number.upper);

		assert_true(pe_number_place(&number, v, &u) && u >= -number.most && u <= number.most);
		assert_true(fabs(pe_number_middle(&number) + u * pe_number_step(&number) - kept) <= 2);
	}
}

/* ------------------------------------------------------------------
 * Random sums over random attributes
 * ------------------------------------------------------------------
 */

#define MOST_SUMS 10

typedef struct world
{
	pe_domain	domain;
	pe_tables	tables;
	pe_sums		sums;
	pe_predicate predicate;
	bool		selects;
} world;

static pe_attribute
levels(int count)
{
	pe_attribute attribute = {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_DROP,
		.points = count, .point = pe_alloc((size_t) count, sizeof(pe_point))
	};

	for (int i = 0; i < count; i++)
		attribute.point[i].i = i;
	assert_int_equal(pe_attribute_prepare(&attribute), PE_DOMAIN_OK);
	return attribute;
}

static int
attributes_of(const world *w)
{
	return w->domain.attributes + w->domain.watched;
}

/* One test, or two of them, AND, OR or NOT. */
static void
random_predicate(const world *w, pe_predicate *p)
{
	int			leaves = between(1, 2);

	memset(p, 0, sizeof(*p));
	p->leaf = pe_alloc((size_t) leaves, sizeof(*p->leaf));
	p->step = pe_alloc(4, sizeof(*p->step));
	for (p->leaves = 0; p->leaves < leaves; p->leaves++)
	{
		pe_predicate_leaf *leaf = &p->leaf[p->leaves];

		leaf->attribute = random_below(attributes_of(w));
		leaf->cells = pe_attribute_cells(&w->domain.attribute[leaf->attribute]);
		leaf->truth = pe_alloc((size_t) leaf->cells, 1);
		for (int c = 0; c < leaf->cells; c++)
			leaf->truth[c] = (uint8_t) random_below(3);
		p->step[p->steps++] = p->leaves;
	}
	if (leaves == 2)
		p->step[p->steps++] = random_below(2) ? PE_STEP_AND : PE_STEP_OR;
	if (random_below(3) == 0)
		p->step[p->steps++] = PE_STEP_NOT;
}

static void
random_number(pe_number *number)
{
	int			lower = between(-100, 100);

	if (random_below(2) == 0)
		assert_true(pe_number_init(number, lower, lower + (random_below(3) == 0 ? 65534 : between(1, 300)), random_below(2) == 0, true));
	else
		assert_true(pe_number_init(number, lower + 0.25, lower + uniform(1, 1e6), random_below(2) == 0, false));
}

static uint64_t
known_bits(const world *w)
{
	return (PE_HAS_NUMBER(w->sums.numbers) - 1) | (PE_HAS_CONDITION(w->sums.conditions) - PE_HAS_CONDITION(0)) |
		((UINT64_C(1) << w->domain.attributes) - 1) * PE_HAS_ATTRIBUTE(0);
}

/* Any but of a grid, and of values. */
static int
random_kind(void)
{
	int			kind = between(PE_SUM_ONE, PE_SUM_BELOW_SQUARE);

	return kind == PE_SUM_GRID || kind == PE_SUM_DISTINCT ? PE_SUM_ABOVE : kind;
}

static void
random_sum(const world *w, pe_sum *sum)
{
	memset(sum, 0, sizeof(*sum));
	if (w->domain.attributes > 0 && random_below(8) == 0)
	{
		sum->kind = PE_SUM_DISTINCT;
		sum->needs = (random_word() & random_word() & known_bits(w) & (PE_HAS_ATTRIBUTE(0) - 1)) | PE_HAS_ATTRIBUTE(random_below(w->domain.attributes));
		return;
	}
	if (w->sums.opens > 0 && random_below(8) == 0)
	{
		sum->kind = PE_SUM_OPEN;
		sum->a = (uint8_t) random_below(w->sums.opens);
		sum->needs = random_word() & random_word() & known_bits(w);
		return;
	}
	sum->kind = (uint8_t) (w->sums.numbers > 0 ? random_kind() : random_below(2) ? PE_SUM_ONE : PE_SUM_UNITS);
	sum->needs = random_word() & random_word() & known_bits(w);
	if (sum->kind == PE_SUM_UNITS && random_below(2))
		sum->kind = PE_SUM_LOST;
	sum->most = pe_sum_is_by_unit(sum) ? between(1, 5) : 0;
	if (sum->kind == PE_SUM_ONE && w->sums.numbers > 0 && random_below(3) == 0)
		sum->lacks = (uint16_t) between(1, (1 << w->sums.numbers) - 1);
	if (sum->kind == PE_SUM_ONE || pe_sum_is_by_unit(sum))
		return;
	sum->a = (uint8_t) random_below(w->sums.numbers);
	sum->needs |= PE_HAS_NUMBER(sum->a);
	if (sum->kind != PE_SUM_PRODUCT)
		return;
	sum->b = (uint8_t) random_below(w->sums.numbers);
	sum->needs |= PE_HAS_NUMBER(sum->b);
}

static void
random_world(world *w)
{
	memset(w, 0, sizeof(*w));
	w->domain.attributes = between(0, 3);
	w->domain.watched = between(w->domain.attributes == 0, 2);
	w->sums.opens = random_below(3);
	for (int a = 0; a < attributes_of(w); a++)
		w->domain.attribute[a] = levels(between(1, 4));
	assert_int_equal(pe_domain_prepare(&w->domain), PE_DOMAIN_OK);
	w->sums.dropping = (uint32_t) random_below(1 << attributes_of(w));
	for (w->sums.numbers = 0; w->sums.numbers < 4 && random_below(3) > 0; w->sums.numbers++)
		random_number(&w->sums.number[w->sums.numbers]);
	for (w->sums.conditions = 0; w->sums.conditions < 4 && random_below(3) > 0; w->sums.conditions++)
		random_predicate(w, &w->sums.condition[w->sums.conditions]);
	w->selects = random_below(2) == 0;
	if (w->selects)
		random_predicate(w, &w->predicate);
	w->sums.sums = w->tables.tables = between(1, MOST_SUMS);
	w->sums.sum = pe_alloc((size_t) w->sums.sums, sizeof(pe_sum));
	w->tables.set = pe_alloc((size_t) w->sums.sums, sizeof(uint32_t));
	for (int s = 0; s < w->sums.sums; s++)
	{
		random_sum(w, &w->sums.sum[s]);
		w->tables.set[s] = (uint32_t) random_below(1 << w->domain.attributes);
	}
	assert_true(pe_tables_span(&w->tables, &w->domain));
	pe_sums_prepare(&w->sums);
}

/* Some sums are by atoms: some masks of the conditions, ascending. */
static void
random_atoms(world *w)
{
	const uint64_t conditions = PE_HAS_ATTRIBUTE(0) - PE_HAS_CONDITION(0);
	uint16_t   *atom = pe_alloc((size_t) 1 << w->sums.conditions, sizeof(*atom));

	w->sums.atom = atom;
	for (int s = 0; s < w->sums.sums; s++)
	{
		pe_sum	   *sum = &w->sums.sum[s];

		if (!pe_sum_is_of_cells(sum) || random_below(2))
			continue;
		sum->by_atom = 1;
		sum->needs &= ~conditions;
		w->sums.atoms = 1;
	}
	if (w->sums.atoms > 0)
		for (int mask = w->sums.atoms = 0; mask < 1 << w->sums.conditions; mask++)
			if (random_below(2) || (w->sums.atoms == 0 && mask + 1 == 1 << w->sums.conditions))
				atom[w->sums.atoms++] = (uint16_t) mask;
	assert_true(pe_sums_place(&w->sums, &w->tables));
}

static void
free_world(world *w)
{
	pe_sums_free(&w->sums);
	pe_predicate_free(&w->predicate);
	pe_tables_free(&w->tables);
	pe_domain_free(&w->domain);
}

/* ------------------------------------------------------------------
 * What rows add
 * ------------------------------------------------------------------
 */

/* x / 2^shift to the nearest, halves up, by another way. */
static int64_t
rounded(int64_t x, int shift)
{
	return (int64_t) floor(ldexp((double) x, -shift) + 0.5);
}

static int64_t
plain_weight(const pe_sums *sums, const pe_sum *sum, const int32_t *u, uint64_t has, bool counts)
{
	int64_t		most = sums->number[sum->a].most;
	int64_t		a = u[sum->a];

	for (int bit = 0; bit < 64; bit++)
		counts &= (sum->needs >> bit & 1) == 0 || (has >> bit & 1) == 1;
	if (sum->lacks != 0)
	{
		bool		all = true;

		for (int n = 0; n < sums->numbers; n++)
			all &= (sum->lacks >> n & 1) == 0 || (has & PE_HAS_NUMBER(n)) != 0;
		counts &= !all;
	}
	if (!counts)
		return 0;
	switch (sum->kind)
	{
		case PE_SUM_VALUE:
			return a;
		case PE_SUM_SQUARE:
			return rounded(2 * a * a - most * most, pe_sum_shift(sums, sum));
		case PE_SUM_PRODUCT:
			return rounded(a * u[sum->b], pe_sum_shift(sums, sum));
		case PE_SUM_ABOVE:
			return most + a;
		case PE_SUM_BELOW:
			return most - a;
		case PE_SUM_ABOVE_SQUARE:
			return rounded((most + a) * (most + a), pe_sum_shift(sums, sum));
		case PE_SUM_BELOW_SQUARE:
			return rounded((most - a) * (most - a), pe_sum_shift(sums, sum));
		case PE_SUM_BETWEEN:
			return pe_sum_bound(sums, sum) - rounded((most + a) * (most + a), pe_sum_shift(sums, sum)) - rounded((most - a) * (most - a), pe_sum_shift(sums, sum));
		default:
			return 1;
	}
}

#define STEP 17
#define ROWS 11

static int32_t
random_place(int32_t most)
{
	static const int ends[] = {-1, 1, 0};

	return random_below(3) == 0 ? ends[random_below(3)] * most : between(-most, most);
}

static void
check_weights(const world *w)
{
	int32_t		number[PE_MAX_NUMBERS * STEP];
	uint64_t	has[ROWS];
	uint8_t		counts[ROWS];
	int64_t		weight[ROWS];

	for (int r = 0; r < ROWS; r++)
	{
		has[r] = (random_word() | random_word()) & known_bits(w);
		counts[r] = random_below(4) > 0;
		for (int n = 0; n < w->sums.numbers; n++)
			number[n * STEP + r] = (has[r] & PE_HAS_NUMBER(n)) != 0 ? random_place(w->sums.number[n].most) : 0;
	}
	for (int s = 0; s < w->sums.sums; s++)
	{
		const pe_sum *sum = &w->sums.sum[s];
		int64_t		bound = pe_sum_bound(&w->sums, sum);

		pe_sum_weigh(&w->sums, sum, number, STEP, has, counts, ROWS, weight);
		for (int r = 0; r < ROWS; r++)
		{
			int32_t		u[PE_MAX_NUMBERS] = {0};

			for (int n = 0; n < w->sums.numbers; n++)
				u[n] = number[n * STEP + r];
			assert_int_equal(weight[r], plain_weight(&w->sums, sum, u, has[r], counts[r]));
			assert_true(weight[r] >= (pe_sum_is_signed(sum) ? -bound : 0) && weight[r] <= bound);
		}
	}
}

static void
test_weights(void **state)
{
	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		world		w;

		random_world(&w);
		for (int j = 0; j < 10; j++)
			check_weights(&w);
		free_world(&w);
	}
}

/* The most and the least that numbers add, over all of their places or the ends and some others. */
static void
check_bound(const pe_sums *sums, const pe_sum *sum)
{
	const uint64_t has = UINT64_MAX;
	const uint8_t counts = 1;
	int64_t		most = INT64_MIN;
	int64_t		least = INT64_MAX;
	int32_t		a = sums->number[sum->a].most;
	int32_t		b = sums->number[sum->b].most;
	int64_t		bound = pe_sum_bound(sums, sum);

	for (int i = 0; i < 5000; i++)
	{
		int32_t		number[2];
		int64_t		weight;

		number[0] = i < 4 ? (i % 2 ? a : -a) : i == 4 ? 0 : between(-a, a);
		number[1] = i < 4 ? (i / 2 ? b : -b) : between(-b, b);
		if (sum->a == 1)
			number[1] = number[0];
		pe_sum_weigh(sums, sum, number, 1, &has, &counts, 1, &weight);
		assert_true(weight >= -bound && weight <= bound);
		most = weight > most ? weight : most;
		least = weight < least ? weight : least;
	}
	assert_int_equal(most, bound);
	if (!pe_sum_is_signed(sum))
	{
		assert_int_equal(least, 0);
		return;
	}
	/* from the middle, or from the other end: all of the way, less a half that is rounded up */
	if (sum->kind == PE_SUM_VALUE)
		assert_int_equal(least, -bound);
	else
		assert_true(least <= -bound + 1 && least >= -bound);
	assert_true(sum->kind == PE_SUM_VALUE || bound <= 32768);
	assert_true(sum->kind == PE_SUM_VALUE || pe_sum_shift(sums, sum) == 0 || bound > 16000);
}

static void
test_bounds(void **state)
{
	static const int32_t mosts[] = {1, 2, 3, 100, 180, 181, 182, 255, 256, 257, 1000, 32766, 32767, 32768, 46341, 65533, 65534};
	const pe_sum one = {.kind = PE_SUM_ONE};

	(void) state;
	for (int i = 0; i < lengthof(mosts); i++)
		for (int j = 0; j < lengthof(mosts); j++)
		{
			pe_sums		sums = {.numbers = 2};

			assert_true(pe_number_init(&sums.number[0], 0, mosts[i], true, true));
			assert_true(pe_number_init(&sums.number[1], 0, mosts[j], true, true));
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_VALUE, .a = 0, .needs = 1});
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_ABOVE, .a = 0, .needs = 1});
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_BELOW, .a = 0, .needs = 1});
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_SQUARE, .a = 0, .needs = 1});
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_PRODUCT, .a = 0, .b = 1, .needs = 3});
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_ABOVE_SQUARE, .a = 0, .needs = 1});
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_BELOW_SQUARE, .a = 0, .needs = 1});
			check_bound(&sums, &(pe_sum) {.kind = PE_SUM_VALUE, .a = 1, .needs = 2});
			assert_int_equal(pe_sum_bound(&sums, &one), 1);
			assert_false(pe_sum_is_signed(&one));
		}
}

/* What divides a bound: every place of a number adds all of it to the sums of a degree together, and less than 0 to none. */
static void
check_divided(const pe_sums *sums, int degree)
{
	static const pe_sum_kind kinds[2][3] = {{PE_SUM_ABOVE, PE_SUM_BELOW}, {PE_SUM_ABOVE_SQUARE, PE_SUM_BETWEEN, PE_SUM_BELOW_SQUARE}};
	const int32_t most = sums->number[0].most;
	const uint64_t has = UINT64_MAX;
	const uint8_t counts = 1;

	for (int32_t u = -most; u <= most; u++)
	{
		int64_t		all = 0;

		for (int k = 0; k <= degree; k++)
		{
			const pe_sum sum = {.kind = (uint8_t) kinds[degree - 1][k], .needs = 1};
			int64_t		weight;

			assert_int_equal(pe_sum_degree(&sum), degree);
			pe_sum_weigh(sums, &sum, &u, 1, &has, &counts, 1, &weight);
			if (weight < 0)
				fail_msg("degree %d, %d of %d: %d adds %d", degree, u, most, k, (int) weight);
			all += weight;
			assert_true(pe_sum_bound(sums, &sum) <= (degree == 1 ? 2 * most : 32768));
			if (k == degree)
				assert_int_equal(all, pe_sum_bound(sums, &sum));
		}
	}
}

static void
test_divided(void **state)
{
	static const int32_t mosts[] = {90, 91, 127, 128, 181, 182, 255, 256, 257, 1000, 32766, 32767, 32768, 46341, 65533, 65534};

	(void) state;
	for (int i = 1; i < 60 + lengthof(mosts); i++)
	{
		pe_sums		sums = {.numbers = 1};

		assert_true(pe_number_init(&sums.number[0], 0, i < 60 ? i : mosts[i - 60], true, true));
		check_divided(&sums, 1);
		check_divided(&sums, 2);
	}
}

/* A condition is true where its predicate is, and every attribute that it names has a cell. */
static void
test_conditions(void **state)
{
	(void) state;
	for (int i = 0; i < cases(4000); i++)
	{
		world		w;
		int32_t		coordinate[PE_MAX_ATTRIBUTES] = {0};
		uint64_t	attributes = (random_word() | random_word()) & ((UINT64_C(1) << 5) - 1);
		uint64_t	has;

		random_world(&w);
		for (int a = 0; a < attributes_of(&w); a++)
			coordinate[a] = random_below(pe_attribute_cells(&w.domain.attribute[a]));
		has = pe_sums_conditions(&w.sums, coordinate, attributes * PE_HAS_ATTRIBUTE(0) | 1);
		assert_true((has & 1) == 1 && has / PE_HAS_ATTRIBUTE(0) == attributes);
		for (int c = 0; c < w.sums.conditions; c++)
		{
			bool		holds = pe_predicate_selects(&w.sums.condition[c], coordinate);

			for (int l = 0; l < w.sums.condition[c].leaves; l++)
				holds &= (attributes >> w.sums.condition[c].leaf[l].attribute & 1) == 1;
			assert_int_equal((has & PE_HAS_CONDITION(c)) != 0, holds);
		}
		free_world(&w);
	}
}

/* ------------------------------------------------------------------
 * Rows as cells of one product
 * ------------------------------------------------------------------
 */

/* Rows that any sum tells apart have different numbers; numbers fill the product. */
static void
check_row(const world *w, pe_u128 cells)
{
	pe_sum_row	row;
	pe_sum_row	back;
	pe_u128		number;

	memset(&row, 0, sizeof(row));
	memset(&back, 0, sizeof(back));
	row.has = random_word() & (PE_HAS_NUMBER(w->sums.numbers) - 1);
	for (int a = 0; a < w->domain.attributes + w->domain.watched; a++)
	{
		bool		seen = a < w->domain.attributes || (w->sums.seen >> a & 1) != 0;

		if (!seen || ((w->sums.dropping >> a & 1) == 0 && random_below(3) == 0))
			continue;
		row.has |= PE_HAS_ATTRIBUTE(a);
		row.coordinate[a] = random_below(pe_attribute_cells(&w->domain.attribute[a]));
	}
	row.has = pe_sums_conditions(&w->sums, row.coordinate, row.has);
	for (int n = 0; n < w->sums.numbers; n++)
		row.number[n] = (row.has & PE_HAS_NUMBER(n)) != 0 ? random_place(w->sums.number[n].most) : 0;
	number = pe_sums_number(&w->sums, &w->domain, &row);
	assert_true(number < cells);
	pe_sums_row(&w->sums, &w->domain, number, &back);
	assert_true(back.has == row.has);
	assert_memory_equal(back.number, row.number, sizeof(row.number));
	assert_memory_equal(back.coordinate, row.coordinate, sizeof(row.coordinate));
	assert_true(pe_sums_number(&w->sums, &w->domain, &back) == number);
}

static void
test_rows(void **state)
{
	pe_sums		wide = {.numbers = 8};
	const pe_domain none = {0};

	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		world		w;
		pe_u128		cells;

		random_world(&w);
		cells = pe_sums_product(&w.sums, &w.domain);
		assert_true(cells > 0);
		for (int j = 0; j < 20; j++)
			check_row(&w, cells);
		/* every number below is that of a row */
		for (int j = 0; j < 20; j++)
		{
			pe_u128		number = (((pe_u128) random_word() << 64) | random_word()) % cells;
			pe_sum_row	row;

			memset(&row, 0, sizeof(row));
			pe_sums_row(&w.sums, &w.domain, number, &row);
			assert_true(pe_sums_number(&w.sums, &w.domain, &row) == number);
		}
		free_world(&w);
	}
	/* 2^17 places of seven numbers still have 120 bits, of eight they have not */
	for (int n = 0; n < 8; n++)
		assert_true(pe_number_init(&wide.number[n], 0, 65534, true, true));
	assert_true(pe_sums_product(&wide, &none) == 0);
	wide.numbers = 7;
	assert_true(pe_sums_product(&wide, &none) > (pe_u128) 1 << 118);
}

/* ------------------------------------------------------------------
 * Bytes
 * ------------------------------------------------------------------
 */

static char *
written(const world *w, size_t *size)
{
	const pe_predicate *predicate = w->selects ? &w->predicate : NULL;
	char	   *bytes;

	*size = pe_sums_size(&w->sums, &w->tables, &w->domain, predicate);
	bytes = pe_alloc(*size, 1);
	pe_sums_write(&w->sums, &w->tables, &w->domain, predicate, bytes);
	return bytes;
}

/* Of every mask the place that it has, if it is listed. */
static void
check_index(const pe_sums *sums)
{
	int			at = 0;

	if (sums->atoms == 0)
		return;
	for (int mask = 0; mask < 1 << sums->conditions; mask++)
	{
		bool		listed = at < sums->atoms && sums->atom[at] == mask;

		at += listed;
		assert_int_equal(sums->place_of[mask], listed ? at : 0);
	}
	assert_int_equal(at, sums->atoms);
}

static void
check_round_trip(const world *w)
{
	world		back;
	size_t		size;
	size_t		again;
	char	   *bytes = written(w, &size);
	char	   *bytes_again;

	assert_true(pe_sums_read(&back.sums, &back.tables, &back.domain, &back.predicate, bytes, size));
	back.selects = back.predicate.steps > 0;
	assert_int_equal(back.selects, w->selects);
	assert_int_equal(back.sums.sums, w->sums.sums);
	assert_memory_equal(back.sums.sum, w->sums.sum, (size_t) w->sums.sums * sizeof(pe_sum));
	assert_memory_equal(back.sums.named, w->sums.named, (size_t) w->sums.conditions * sizeof(uint32_t));
	assert_int_equal(back.sums.atoms, w->sums.atoms);
	check_index(&back.sums);
	assert_memory_equal(back.tables.first, w->tables.first, (size_t) (w->tables.tables + 1) * sizeof(int64_t));
	bytes_again = written(&back, &again);
	assert_int_equal(again, size);
	assert_memory_equal(bytes_again, bytes, size);
	free_world(&back);
	for (size_t shorter = 0; shorter < size; shorter += (size_t) between(1, 20))
		assert_false(pe_sums_read(&back.sums, &back.tables, &back.domain, &back.predicate, bytes, shorter));
	pe_free(bytes);
	pe_free(bytes_again);
}

static void
test_round_trips(void **state)
{
	(void) state;
	for (int i = 0; i < cases(1000); i++)
	{
		world		w;

		random_world(&w);
		random_atoms(&w);
		check_round_trip(&w);
		free_world(&w);
	}
}

/* Some bytes, or some numbers, are others. */
static void
mutate(char *bytes, size_t size)
{
	for (int i = between(1, 3); i > 0; i--)
	{
		size_t		at = (size_t) random_below((int) size);

		switch (random_below(4))
		{
			case 0:
				bytes[at] ^= (char) (1 << random_below(8));
				break;
			case 1:
				bytes[at] = (char) random_word();
				break;
			case 2:
				bytes[at] = (char) between(-2, 6);
				break;
			default:
				for (size_t j = at & ~(size_t) 3; j < (at & ~(size_t) 3) + 4 && j < size; j++)
					bytes[j] = (char) random_word();
		}
	}
}

/* What is accepted is sound: sums need what they are of, and stay within their bounds. */
static void
check_accepted(world *w)
{
	w->selects = w->predicate.steps > 0;
	assert_true(w->sums.sums == w->tables.tables && w->sums.numbers <= PE_MAX_NUMBERS && w->sums.conditions <= PE_MAX_CONDITIONS);
	for (int s = 0; s < w->sums.sums; s++)
	{
		const pe_sum *sum = &w->sums.sum[s];

		assert_true((sum->needs & ~known_bits(w)) == 0);
		assert_true(sum->lacks == 0 || (sum->kind == PE_SUM_ONE && sum->lacks >> w->sums.numbers == 0));
		assert_true(sum->by_atom == 0 || (pe_sum_is_of_cells(sum) && w->sums.atoms > 0));
		assert_true(sum->kind != PE_SUM_DISTINCT || pe_sum_counted_attribute(sum) >= 0);
		assert_true(sum->kind != PE_SUM_OPEN || sum->a < w->sums.opens);
		if (sum->kind != PE_SUM_ONE && !pe_sum_is_of_values(sum) && !pe_sum_is_by_unit(sum))
			assert_true(sum->a < w->sums.numbers && (sum->needs & PE_HAS_NUMBER(sum->a)) != 0);
		if (sum->kind == PE_SUM_PRODUCT)
			assert_true(sum->b < w->sums.numbers && (sum->needs & PE_HAS_NUMBER(sum->b)) != 0);
	}
	check_index(&w->sums);
	check_weights(w);
}

static void
test_any_bytes(void **state)
{
	int			accepted = 0;
	int			rounds = cases(100000);

	(void) state;
	for (int i = 0; i < rounds;)
	{
		world		w;
		size_t		size;
		char	   *bytes;

		random_world(&w);
		random_atoms(&w);
		bytes = written(&w, &size);
		for (int j = 0; j < 100 && i < rounds; j++, i++)
		{
			size_t		length = random_below(10) == 0 ? (size_t) random_below((int) size + 1) : size;
			char	   *other = pe_alloc(length, 1);	/* of its own, so that no byte behind it is read unseen */
			world		read;

			memcpy(other, bytes, length);
			if (length > 0)
				mutate(other, length);
			if (pe_sums_read(&read.sums, &read.tables, &read.domain, &read.predicate, other, length))
			{
				accepted++;
				check_accepted(&read);
				free_world(&read);
			}
			pe_free(other);
		}
		pe_free(bytes);
		free_world(&w);
	}
	/* levels, truths and bounds may be others */
	assert_true(accepted > rounds / 100 && accepted < rounds);
}

/* Each field out of its range, one by one. */
static void
test_fields(void **state)
{
	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		world		w;
		world		read;
		size_t		size;
		char	   *bytes;
		pe_sum	   *sum;

		random_world(&w);
		sum = &w.sums.sum[random_below(w.sums.sums)];
		switch (random_below(11))
		{
			case 9:
				w.sums.opens = random_below(2) ? -1 : PE_MAX_OPENS + 1;
				break;
			case 8:
				sum->lacks = (uint16_t) (1 << (sum->kind == PE_SUM_ONE ? w.sums.numbers : 0));
				break;
			case 0:
				sum->kind = (uint8_t) (random_below(2) ? 0 : PE_SUM_OPEN + 1);
				break;
			case 1:
				sum->needs |= PE_HAS_NUMBER(w.sums.numbers);
				break;
			case 2:
				sum->needs |= PE_HAS_CONDITION(w.sums.conditions);
				break;
			case 3:
				sum->needs |= PE_HAS_ATTRIBUTE(w.domain.attributes);
				break;
			case 4:
				sum->most = pe_sum_is_by_unit(sum) ? -random_below(2) : random_below(2) ? 1 : -1;
				break;
			case 5:
				sum->unused[random_below(lengthof(sum->unused))] = 1;
				break;
			case 6:
				if (sum->kind == PE_SUM_DISTINCT)	/* values of none, or of two */
					sum->needs = (sum->needs & (PE_HAS_ATTRIBUTE(0) - 1)) | (w.domain.attributes > 1 ? 3 * PE_HAS_ATTRIBUTE(0) : 0);
				else if (sum->kind == PE_SUM_OPEN)
					sum->a = (uint8_t) w.sums.opens;
				else if (sum->kind != PE_SUM_ONE && !pe_sum_is_by_unit(sum))
					sum->needs &= ~PE_HAS_NUMBER(sum->a);
				else
					sum->a = 1;
				break;
			case 7:
				if (sum->kind == PE_SUM_PRODUCT)
					sum->b = (uint8_t) w.sums.numbers;
				else
					sum->b = 1;
				break;
			default:
				w.sums.dropping |= UINT32_C(1) << attributes_of(&w);
		}
		bytes = written(&w, &size);
		assert_false(pe_sums_read(&read.sums, &read.tables, &read.domain, &read.predicate, bytes, size));
		pe_free(bytes);
		free_world(&w);
	}
}

/* Atoms that are no masks of conditions, twice there or in another order, sums that need a condition, and none by atoms. */
static void
test_atom_fields(void **state)
{
	int			rounds = 0;

	(void) state;
	while (rounds < cases(1000))
	{
		world		w;
		world		read;
		size_t		size;
		char	   *bytes;
		int			fault = random_below(5);
		uint16_t   *atom;
		pe_sum	   *sum;

		random_world(&w);
		random_atoms(&w);
		sum = &w.sums.sum[random_below(w.sums.sums)];
		atom = (uint16_t *) w.sums.atom;
		if (w.sums.atoms > (fault == 1) && w.sums.conditions > 0 && sum->by_atom)
		{
			if (fault == 0)
				atom[w.sums.atoms - 1] |= (uint16_t) (1 << w.sums.conditions);
			else if (fault == 1)
				atom[1] = (uint16_t) (atom[0] - random_below(2) * (atom[0] > 0));
			else if (fault == 2)
				sum->needs |= PE_HAS_CONDITION(random_below(w.sums.conditions));
			else if (fault == 3)
				sum->by_atom = 2;
			else
				for (int s = 0; s < w.sums.sums; s++)
					w.sums.sum[s].by_atom = 0;
			bytes = written(&w, &size);
			assert_false(pe_sums_read(&read.sums, &read.tables, &read.domain, &read.predicate, bytes, size));
			pe_free(bytes);
			rounds++;
		}
		free_world(&w);
	}
}

/* The atoms are the truth vectors of all rows: those that drop, and no others, are left out. */
static void
test_find_atoms(void **state)
{
	(void) state;
	for (int i = 0; i < cases(2000); i++)
	{
		world		w;
		uint16_t	atom[PE_MAX_ATOMS];
		bool		occurs[16] = {false};
		int64_t		combinations = 1;
		int32_t		atoms = 0;

		random_world(&w);
		for (int a = 0; a < attributes_of(&w); a++)
			combinations *= pe_attribute_cells(&w.domain.attribute[a]) + 1;
		for (int64_t n = 0; n < combinations; n++)
		{
			int32_t		coordinate[PE_MAX_ATTRIBUTES] = {0};
			uint64_t	has = 0;
			bool		dropped = false;
			int64_t		left = n;

			for (int a = 0; a < attributes_of(&w); a++)
			{
				int32_t		cells = pe_attribute_cells(&w.domain.attribute[a]);
				int32_t		place = (int32_t) (left % (cells + 1));

				left /= cells + 1;
				dropped |= place == cells && (w.sums.dropping >> a & 1) != 0;
				coordinate[a] = place < cells ? place : 0;
				has |= (uint64_t) (place < cells) * PE_HAS_ATTRIBUTE(a);
			}
			if (!dropped)
				occurs[pe_sums_mask(&w.sums, pe_sums_conditions(&w.sums, coordinate, has))] = true;
		}
		assert_in_range(pe_sums_find_atoms(&w.sums, atom), 1, 16);
		for (int mask = 0; mask < 16; mask++)
			if (occurs[mask])
				assert_int_equal(atom[atoms++], mask);
		assert_int_equal(pe_sums_find_atoms(&w.sums, atom), atoms);
		free_world(&w);
	}
}

/* Attributes of two cells each, and a condition on each: 2^n atoms, or 3^n combinations where none drops a row. */
static int32_t
atoms_of_independent(int conditions, bool dropping)
{
	pe_sums		sums = {.conditions = conditions, .dropping = dropping ? UINT32_MAX : 0};
	pe_predicate_leaf leaf[PE_MAX_CONDITIONS];
	uint8_t		truth[2] = {PE_TRUE, PE_UNKNOWN};
	int32_t		step = 0;
	static uint16_t atom[PE_MAX_ATOMS];

	for (int c = 0; c < conditions; c++)
	{
		leaf[c] = (pe_predicate_leaf) {.attribute = c, .cells = 2, .truth = truth};
		sums.condition[c] = (pe_predicate) {.leaves = 1, .leaf = &leaf[c], .steps = 1, .step = &step};
	}
	pe_sums_prepare(&sums);
	return pe_sums_find_atoms(&sums, atom);
}

static void
test_many_atoms(void **state)
{
	(void) state;
	assert_int_equal(atoms_of_independent(0, true), 1);
	assert_int_equal(atoms_of_independent(12, true), PE_MAX_ATOMS);
	assert_int_equal(atoms_of_independent(13, true), 0);
	assert_int_equal(atoms_of_independent(10, false), 1024);
	assert_int_equal(atoms_of_independent(11, false), 0);
}

/* A number of periods that is none, and periods of rows that stay without a time. */
static void
test_periods(void **state)
{
	(void) state;
	for (int i = 0; i < cases(500); i++)
	{
		world		w;
		world		read;
		size_t		size;
		char	   *bytes;
		bool		sound;

		random_world(&w);
		w.sums.max_periods = between(-2, 3);
		sound = w.sums.max_periods == 0 || (w.sums.max_periods > 0 && w.domain.attributes > 0 && (w.sums.dropping & 1) != 0);
		bytes = written(&w, &size);
		assert_int_equal(pe_sums_read(&read.sums, &read.tables, &read.domain, &read.predicate, bytes, size), sound);
		if (sound)
		{
			assert_int_equal(read.sums.max_periods, w.sums.max_periods);
			free_world(&read);
		}
		pe_free(bytes);
		free_world(&w);
	}
}

/* Rows of one more attribute in front. */
static void
check_behind_one(const world *w, const pe_sums *behind, const pe_tables *tables, int cells)
{
	int32_t		coordinate[PE_MAX_ATTRIBUTES] = {0};
	uint64_t	attributes = random_word() & ((UINT64_C(1) << attributes_of(w)) - 1);
	uint64_t	has;
	uint64_t	has_behind;

	coordinate[0] = random_below(cells);
	for (int a = 0; a < attributes_of(w); a++)
		coordinate[a + 1] = random_below(pe_attribute_cells(&w->domain.attribute[a]));
	has = pe_sums_conditions(&w->sums, coordinate + 1, attributes * PE_HAS_ATTRIBUTE(0));
	has_behind = pe_sums_conditions(behind, coordinate, (attributes << 1 | 1) * PE_HAS_ATTRIBUTE(0));
	for (int c = 0; c < w->sums.conditions; c++)
		assert_int_equal((has & PE_HAS_CONDITION(c)) != 0, (has_behind & PE_HAS_CONDITION(c)) != 0);
	for (int t = 0; t < w->sums.sums; t++)
	{
		uint64_t	needs = w->sums.sum[t].needs;

		assert_int_equal((has & needs) == needs, (has_behind & behind->sum[t].needs) == behind->sum[t].needs);
		assert_int_equal(pe_tables_place(tables, t, coordinate),
						 coordinate[0] * (w->tables.first[t + 1] - w->tables.first[t]) / pe_sum_places(&w->sums, &w->sums.sum[t]) +
						 pe_tables_place(&w->tables, t, coordinate + 1));
	}
}

static void
test_behind_one(void **state)
{
	(void) state;
	for (int i = 0; i < cases(1000); i++)
	{
		world		w;
		pe_domain	domain = {0};
		pe_sums		behind;
		pe_tables	tables;

		random_world(&w);
		random_atoms(&w);
		domain.attributes = w.domain.attributes + 1;
		domain.watched = w.domain.watched;
		domain.attribute[0] = levels(between(1, 4));
		memcpy(&domain.attribute[1], w.domain.attribute, (size_t) attributes_of(&w) * sizeof(pe_attribute));
		pe_sums_behind_one(&w.sums, &w.tables, &behind, &tables);
		assert_true(pe_tables_span(&tables, &domain));
		assert_int_equal(behind.dropping, w.sums.dropping << 1 | 1);
		for (int j = 0; j < 20; j++)
			check_behind_one(&w, &behind, &tables, pe_attribute_cells(&domain.attribute[0]));
		/* atoms are those of each cell of the attribute in front */
		assert_true(pe_sums_place(&behind, &tables));
		for (int s = 0; s < w.sums.sums; s++)
			assert_int_equal(tables.first[s + 1], pe_attribute_cells(&domain.attribute[0]) * w.tables.first[s + 1]);
		for (int c = 0; c < behind.conditions; c++)
			pe_free(behind.condition[c].leaf);
		pe_free(behind.sum);
		pe_tables_free(&tables);
		domain.attributes = 1;	/* the others are the world's */
		domain.watched = 0;
		pe_domain_free(&domain);
		free_world(&w);
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
		cmocka_unit_test(test_whole_numbers),
		cmocka_unit_test(test_other_numbers),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_divided),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_atom_fields),
		cmocka_unit_test(test_find_atoms),
		cmocka_unit_test(test_many_atoms),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_behind_one),
	};

	return cmocka_run_group_tests(tests, reproducible, NULL);
}

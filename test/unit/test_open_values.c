/*
 * test_open_values.c
 *	  Values of columns that nobody has listed, counted by cells: against counting one by one, and what a unit adds or
 *	  changes against the sensitivity, for all neighbours.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "accumulator/accumulator.h"
#include "base/mem.h"
#include "plan/plan.h"
#include "strategy/share.h"
#include "numbers.h"
#include "shim.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

static int
cases(int count)
{
	return getenv("PG_EPSILON_QUICK") != NULL ? count / 100 + 1 : count;
}

/* ------------------------------------------------------------------
 * Specifications
 * ------------------------------------------------------------------
 */

#define GROUPS 3

/* By groups, or of all together, of rows of which a condition is true; what is not sound is planted. */
typedef struct asked
{
	bool		of_all;
	bool		of_units;
	uint32_t	range;
	uint32_t	ranges;
	int			kind;			/* of the sum */
	int			sums;
	uint32_t	more;			/* open columns of the key */
} asked;

static const asked by_groups = {.ranges = 1, .kind = PE_SUM_OPEN, .sums = 1};

#define SPEC_SIZE 1024

static size_t
write_spec(const asked *q, char *bytes)
{
	pe_domain	domain = {.attributes = 1};
	uint32_t	set[2] = {!q->of_all, 0};
	pe_sum		sum[2] = {{.kind = (uint8_t) q->kind, .a = q->kind == PE_SUM_OPEN}, {.kind = PE_SUM_ONE}};
	const pe_tables tables = {.tables = q->sums, .set = set};
	pe_sums		sums = {.dropping = 1, .opens = 2, .sum = sum, .sums = q->sums, .conditions = 1};
	uint8_t		truth[GROUPS] = {PE_TRUE, PE_TRUE, PE_TRUE};
	pe_predicate_leaf leaf = {.cells = GROUPS, .truth = truth};
	int32_t		step = 0;
	const pe_key_spec spec = {.of_units = q->of_units, .range = q->range, .ranges = q->ranges, .more = q->more, .limit = 16};
	size_t		size = PE_READING_HEAD + sizeof(spec);

	domain.attribute[0] = (pe_attribute) {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP, .points = GROUPS,
		.point = pe_alloc(GROUPS, sizeof(pe_point))
	};
	for (int i = 0; i < GROUPS; i++)
		domain.attribute[0].point[i].i = i;
	assert_int_equal(pe_attribute_prepare(&domain.attribute[0]), PE_DOMAIN_OK);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	sums.condition[0] = (pe_predicate) {.leaves = 1, .steps = 1, .leaf = &leaf, .step = &step};
	sum[0].needs = PE_HAS_CONDITION(0) | (q->kind == PE_SUM_DISTINCT ? PE_HAS_ATTRIBUTE(0) : 0);
	pe_reading_write(PE_READ_VALUES, bytes);
	memcpy(bytes + PE_READING_HEAD, &spec, sizeof(spec));
	assert_true(size + pe_sums_size(&sums, &tables, &domain, NULL) <= SPEC_SIZE);
	pe_sums_write(&sums, &tables, &domain, NULL, bytes + size);
	size += pe_sums_size(&sums, &tables, &domain, NULL);
	pe_domain_free(&domain);
	return size;
}

static pe_cut
cut_to(int k)
{
	return (pe_cut) {.key = {9, 8, 7}, .limit = 3, .max_rows = k, .ranges = 1};
}

static bool
begin(pe_accumulator *a, const asked *q, int k)
{
	char		bytes[SPEC_SIZE];
	size_t		size = write_spec(q, bytes);
	pe_cut		cut = cut_to(k);

	return pe_accumulator_begin(a, bytes, size, &cut);
}

typedef struct row
{
	int			unit;
	int			group;
	int			value;			/* -1: none */
	bool		counts;			/* by WHERE, */
	bool		holds;			/* and by the condition */
} row;

static void
add(pe_accumulator *a, const row *r)
{
	pe_sum_row	of = {.counts = r->counts, .has = PE_HAS_ATTRIBUTE(0) | (r->holds ? PE_HAS_CONDITION(0) : 0)};
	char		value[2] = {'v', (char) r->value};

	of.coordinate[0] = r->group;
	pe_accumulator_add_value(a, (uint64_t[2]) {(uint64_t) r->unit << 59, 5}, &of, value, sizeof(value), r->value >= 0);
}

static int64_t
groups_of(const asked *q)
{
	return q->of_all ? 1 : GROUPS;
}

/* What the door does with the keys of a range. */
static void
count_range(pe_accumulator *a, const asked *q, int64_t *distinct)
{
	(void) pe_accumulator_finish(a);
	pe_key_counts_fill(&a->key_counts, 100);
	pe_key_counts_settle(&a->key_counts);
	pe_key_counts_values(&a->key_counts, groups_of(q), distinct);
}

/* In ranges, and each in two parts that travel as bytes. */
static void
count_rows(asked q, const row *rows, int count, int k, int64_t *distinct)
{
	memset(distinct, 0, GROUPS * sizeof(*distinct));
	for (q.range = 0; q.range < q.ranges; q.range++)
	{
		pe_accumulator part[2];
		char	   *bytes;
		size_t		size;

		for (int p = 0; p < 2; p++)
		{
			assert_true(begin(&part[p], &q, k));
			for (int i = p; i < count; i += 2)
				add(&part[p], &rows[i]);
		}
		size = pe_accumulator_size(&part[1]);
		bytes = malloc(size);
		pe_accumulator_write(&part[1], bytes);
		assert_int_equal(pe_accumulator_combine(&part[0], bytes, size), PE_COMBINED);
		count_range(&part[0], &q, distinct);
		pe_accumulator_free(&part[0]);
		pe_accumulator_free(&part[1]);
		free(bytes);
	}
}

/* ------------------------------------------------------------------
 * Counts
 * ------------------------------------------------------------------
 */

#define VALUES 40
#define UNITS 8

static void
count_one_by_one(const row *rows, int count, bool of_all, int64_t *distinct)
{
	static bool there[GROUPS][VALUES];

	memset(there, 0, sizeof(there));
	memset(distinct, 0, GROUPS * sizeof(*distinct));
	for (int i = 0; i < count; i++)
		if (rows[i].counts && rows[i].holds && rows[i].value >= 0 && !there[of_all ? 0 : rows[i].group][rows[i].value])
		{
			there[of_all ? 0 : rows[i].group][rows[i].value] = true;
			distinct[of_all ? 0 : rows[i].group]++;
		}
}

static void
test_counts(void **state)
{
	(void) state;
	pe_test_seed(11);
	for (int trial = 0; trial < cases(3000); trial++)
	{
		row			rows[200];
		int			count = random_below(lengthof(rows) + 1);
		int			values = 1 + random_below(VALUES);
		asked		q = by_groups;
		int64_t		truth[GROUPS];
		int64_t		found[GROUPS];

		q.of_all = random_below(3) == 0;
		q.of_units = random_below(2) != 0;
		q.ranges = 1 + (uint32_t) random_below(4);
		for (int i = 0; i < count; i++)
			rows[i] = (row) {random_below(UNITS), random_below(GROUPS), random_below(values + 1) - 1, random_below(4) > 0, random_below(4) > 0};
		count_one_by_one(rows, count, q.of_all, truth);
		count_rows(q, rows, count, 1000, found);
		assert_memory_equal(found, truth, sizeof(truth));
	}
	pe_test_unseed();
}

/* The cell is in the last bits, the others are of the hash: no number is 0, and ranges have about as many. */
static void
test_numbers(void **state)
{
	const pe_cut cut = cut_to(1);
	const int64_t cells[] = {1, 2, 3, 1000, PE_MAX_TABLE_CELLS};
	pe_unit_keys keys;
	pe_key_secret secret;

	(void) state;
	pe_unit_keys_init(&keys, &cut);
	pe_key_secret_init(&secret, &keys);
	for (int c = 0; c < lengthof(cells); c++)
	{
		int			found[5] = {0};
		int			bits = 0;

		while (INT64_C(1) << bits < cells[c])
			bits++;
		for (int i = 0; i < 5000; i++)
		{
			int64_t		cell = i % cells[c];
			pe_u128		number = pe_value_number(&secret, cell, cells[c], &i, sizeof(i));

			assert_true(number > 0 && number < PE_KEY_NUMBERS);
			assert_true((int64_t) (number & (((pe_u128) 1 << bits) - 1)) == cell);
			assert_true(number >> bits == pe_key_number(&secret, &i, sizeof(i)) >> bits);
			for (uint32_t range = 0; range < 5; range++)
				found[range] += pe_key_in_range(number, range, 5);
		}
		for (int range = 0; range < 5; range++)
			assert_true(found[range] > 850 && found[range] < 1150);
	}
}

/* A number of no cell, as no scan makes it, is passed over. */
static void
test_other_cells(void **state)
{
	pe_key_counts counts;
	int64_t		distinct[4] = {0, 0, 0, 77};

	(void) state;
	pe_key_counts_init(&counts, 10);
	pe_key_counts_add(&counts, 5 << 2 | 3, 1);
	pe_key_counts_add(&counts, 5 << 2 | 2, 9);
	pe_key_counts_add(&counts, 6 << 2 | 2, 1);
	pe_key_counts_add(&counts, 0, 1);
	pe_key_counts_values(&counts, 3, distinct);
	assert_true(distinct[0] == 0 && distinct[1] == 0 && distinct[2] == 2 && distinct[3] == 77);
	pe_key_counts_free(&counts);
}

static void
test_refused(void **state)
{
	asked		wrong[6];
	pe_accumulator a;

	(void) state;
	for (int i = 0; i < lengthof(wrong); i++)
		wrong[i] = by_groups;
	wrong[0].kind = PE_SUM_ONE;
	wrong[1].kind = PE_SUM_DISTINCT;
	wrong[2].sums = 2;
	wrong[3].more = 1;
	wrong[4].range = 1;
	wrong[5].sums = 0;
	for (int i = 0; i < lengthof(wrong); i++)
		assert_false(begin(&a, &wrong[i], 1));
	assert_true(begin(&a, &by_groups, 1));
	pe_accumulator_free(&a);
	{
		char		bytes[SPEC_SIZE];
		size_t		size = write_spec(&by_groups, bytes);
		pe_cut		cut = cut_to(1);

		assert_false(pe_accumulator_begin(&a, bytes, size, NULL));
		for (size_t less = 1; less < size; less++)
			assert_false(pe_accumulator_begin(&a, bytes, size - less, &cut));
	}
}

/* ------------------------------------------------------------------
 * All neighbours
 * ------------------------------------------------------------------
 */

/* A unit has any set of pairs of two groups and three values, each in two rows. */
#define PAIRS 6
#define SETS (1 << PAIRS)

typedef struct numbers
{
	int64_t		of[GROUPS];
} numbers;

static numbers
numbers_of(unsigned others, unsigned unit, bool of_units, bool of_all, int k)
{
	asked		q = by_groups;
	pe_accumulator a;
	numbers		found = {{0}};

	q.of_all = of_all;
	q.of_units = of_units;
	assert_true(begin(&a, &q, k));
	for (int pair = 0; pair < PAIRS; pair++)
		for (int i = 0; i < 4; i++)
			if (((i < 2 ? others : unit) >> pair & 1) != 0)
				add(&a, &(row) {i / 2, pair / 3, pair % 3, true, true});
	count_range(&a, &q, found.of);
	pe_accumulator_free(&a);
	return found;
}

static void
compare(const numbers *a, const numbers *b, int64_t *squared, int64_t *l1)
{
	int64_t		sq = 0;
	int64_t		sum = 0;

	for (int g = 0; g < GROUPS; g++)
	{
		int64_t		d = a->of[g] - b->of[g];

		sq += d * d;
		sum += d > 0 ? d : -d;
	}
	*squared = sq > *squared ? sq : *squared;
	*l1 = sum > *l1 ? sum : *l1;
}

static void
check_sensitivity(pe_neighbours neighbours, bool of_all, int k, int64_t squared, int64_t l1)
{
	pe_strategy cells;
	pe_plan_part part = {.strategy = &cells, .bound = 1, .distinct = PE_ANY_VALUES, .share = PE_WHOLE_SHARE};
	const pe_plan_rules rules = {.neighbours = neighbours, .max_rows = k};
	const int	groups = of_all ? 1 : 2;
	pe_u128		sensitivity;

	cells = (pe_strategy) {.classes = groups, .columns = groups, .rows = groups, .inner = groups, .objective = 1};
	assert_true(pe_plan_part_sensitivity(&part, &rules, PE_ZCDP, &sensitivity));
	assert_int_equal((int64_t) sensitivity, squared);
	assert_true(pe_plan_part_sensitivity(&part, &rules, PE_PURE, &sensitivity));
	assert_int_equal((int64_t) sensitivity, l1);
}

static void
check_neighbours(bool of_units, bool of_all, int k)
{
	static numbers of[SETS][SETS];
	int64_t		squared[2] = {0, 0};
	int64_t		l1[2] = {0, 0};

	for (unsigned others = 0; others < SETS; others++)
		for (unsigned unit = 0; unit < SETS; unit++)
			of[others][unit] = numbers_of(others, unit, of_units, of_all, k);
	for (unsigned others = 0; others < SETS; others++)
		for (unsigned unit = 0; unit < SETS; unit++)
		{
			/* rows are units: it has one pair at most */
			if (!of_units && (unit & (unit - 1)) != 0)
				continue;
			for (int g = 0; g < GROUPS; g++)
				assert_true(of[others][unit].of[g] >= of[others][0].of[g]);
			compare(&of[others][unit], &of[others][0], &squared[0], &l1[0]);
			for (unsigned other = 0; other < SETS; other++)
				if (of_units || (other & (other - 1)) == 0)
					compare(&of[others][unit], &of[others][other], &squared[1], &l1[1]);
		}
	check_sensitivity(PE_ADD_REMOVE, of_all, k, squared[0], l1[0]);
	check_sensitivity(PE_SUBSTITUTE, of_all, k, squared[1], l1[1]);
}

static void
test_neighbours(void **state)
{
	(void) state;
	for (int of_all = 0; of_all < 2; of_all++)
	{
		check_neighbours(false, of_all, 1);
		for (int k = 1; k <= 3; k++)
			check_neighbours(true, of_all, k);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_other_cells),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_neighbours)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_accumulator.c
 *	  Accumulators: rows that are collected in parts and put together are those of one
 *	  scan, and bytes that anybody may have made are refused or harmless.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
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

#define LEVELS 5
#define FEATURES 3
#define VARIABLES 2

typedef struct bytes
{
	char	   *data;
	size_t		size;
} bytes;

static bytes
new_bytes(size_t size)
{
	return (bytes) {pe_alloc(size, 1), size};
}

static bytes
new_specification(pe_reading reading, size_t size)
{
	bytes		spec = new_bytes(PE_READING_HEAD + size);

	pe_reading_write(reading, spec.data);
	return spec;
}

/* Levels first, first + 1, ... of an integer. */
static pe_attribute
levels_from(int first, int count)
{
	pe_attribute attribute = {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_CELL,
		.points = count, .point = pe_alloc((size_t) count, sizeof(pe_point))
	};

	for (int i = 0; i < count; i++)
		attribute.point[i].i = first + i;
	assert_int_equal(pe_attribute_prepare(&attribute), PE_DOMAIN_OK);
	return attribute;
}

static pe_attribute
levels(int count)
{
	return levels_from(0, count);
}

#define SPANNING 8

/* Tables of pairs of neighbours among attributes of so many levels. */
static bytes
tables_spec(int most)
{
	pe_domain	domain = {.attributes = SPANNING};
	uint32_t	set[SPANNING - 1];
	const pe_tables tables = {.tables = SPANNING - 1, .set = set};
	bytes		spec;

	for (int a = 0; a < SPANNING; a++)
		domain.attribute[a] = levels(most);
	for (int t = 0; t < SPANNING - 1; t++)
		set[t] = UINT32_C(3) << t;
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	spec = new_specification(PE_READ_TABLES, pe_tables_selection_size(&tables, &domain, NULL));
	pe_tables_selection_write(&tables, &domain, NULL, spec.data + PE_READING_HEAD);
	pe_domain_free(&domain);
	return spec;
}

_Static_assert(sizeof(pe_sizes_spec) == sizeof(int64_t) && sizeof(pe_periods_spec) == sizeof(int64_t), "each is one number");

/*
 * How many units have so many rows, with attributes that span cells unsound; or the tables of periods, alone and by all
 * attributes, without any unsound.
 */
static bytes
numbered_spec(pe_reading reading, int64_t most, int spanning)
{
	pe_domain	domain = {.attributes = spanning};
	uint32_t	set[2] = {spanning > 0, (UINT32_C(1) << spanning) - 1};
	const pe_tables tables = {.tables = 2, .set = set};
	size_t		size = reading == PE_READ_PERIODS ? pe_tables_size(&tables) : 0;
	bytes		spec;

	for (int a = 0; a < spanning; a++)
		domain.attribute[a] = levels(LEVELS);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	spec = new_specification(reading, sizeof(most) + size + pe_selection_size(&domain, NULL));
	memcpy(spec.data + PE_READING_HEAD, &most, sizeof(most));
	if (size > 0)
		pe_tables_write(&tables, spec.data + PE_READING_HEAD + sizeof(most));
	pe_selection_write(&domain, NULL, spec.data + PE_READING_HEAD + sizeof(most) + size);
	pe_domain_free(&domain);
	return spec;
}

static void
add_sum(pe_sums *sums, pe_sum sum)
{
	sums->sum[sums->sums++] = sum;
}

/* Attribute 1 = 0; only where it has a cell. */
static pe_predicate
test_of_attribute(int32_t cells)
{
	pe_predicate predicate = {.leaves = 1, .steps = 1};

	predicate.leaf = pe_alloc(1, sizeof(*predicate.leaf));
	predicate.leaf[0] = (pe_predicate_leaf) {.attribute = 1, .cells = cells, .truth = pe_alloc((size_t) cells, 1)};
	predicate.leaf[0].truth[0] = PE_TRUE;
	predicate.step = pe_alloc(1, sizeof(int32_t));
	return predicate;
}

/*
 * Every kind of sum by attributes of three levels: of whole numbers between 0 and 10, where others are absent, and of numbers
 * so many whose places are 65535.
 */
static bytes
sums_spec(int numbers, bool grid, int32_t max_periods)
{
	pe_domain	domain = {.attributes = 3};
	uint32_t	set[10];
	pe_tables	tables = {.set = set};
	pe_sum		sum[10];
	const uint16_t atom[] = {0, 3};	/* a cell that both are true of, and 1, which is listed nowhere */
	pe_sums		sums = {
		.dropping = 1, .conditions = 2, .max_periods = max_periods, .sum = sum, .atoms = lengthof(atom), .atom = atom
	};
	bytes		spec;

	for (int a = 0; a < 3; a++)
		domain.attribute[a] = levels(3);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	for (int c = 0; c < 2; c++)
		sums.condition[c] = test_of_attribute(pe_attribute_cells(&domain.attribute[1]));
	sums.condition[0].leaf[0].truth[1] = PE_TRUE;
	assert_true(pe_number_init(&sums.number[0], 0, 10, false, true));
	for (sums.numbers = 1; sums.numbers < numbers; sums.numbers++)
		assert_true(pe_number_init(&sums.number[sums.numbers], -1, 1, true, false));
	add_sum(&sums, (pe_sum) {.kind = PE_SUM_ONE});
	add_sum(&sums, (pe_sum) {.kind = PE_SUM_ONE, .needs = PE_HAS_CONDITION(0) | PE_HAS_ATTRIBUTE(1)});
	add_sum(&sums, (pe_sum) {.kind = PE_SUM_VALUE, .a = 0, .needs = PE_HAS_NUMBER(0)});
	add_sum(&sums, (pe_sum) {.kind = PE_SUM_SQUARE, .a = 0, .needs = PE_HAS_NUMBER(0) | PE_HAS_CONDITION(0)});
	add_sum(&sums, (pe_sum) {.kind = PE_SUM_UNITS, .most = 2, .needs = PE_HAS_CONDITION(0)});
	if (numbers > 1)
		add_sum(&sums, (pe_sum) {.kind = PE_SUM_PRODUCT, .a = 0, .b = 1, .needs = PE_HAS_NUMBER(0) | PE_HAS_NUMBER(1)});
	if (grid)
		add_sum(&sums, (pe_sum) {.kind = PE_SUM_GRID, .a = 0, .needs = PE_HAS_NUMBER(0)});
	else						/* there is a cut */
		add_sum(&sums, (pe_sum) {.kind = PE_SUM_LOST, .most = 3});
	add_sum(&sums, (pe_sum) {.kind = PE_SUM_ONE, .by_atom = 1, .needs = PE_HAS_ATTRIBUTE(2)});
	add_sum(&sums, (pe_sum) {.kind = PE_SUM_VALUE, .a = 0, .by_atom = 1, .needs = PE_HAS_NUMBER(0)});
	for (tables.tables = 0; tables.tables < sums.sums; tables.tables++)
		set[tables.tables] = (uint32_t) (tables.tables * 5 % 8);
	spec = new_specification(PE_READ_SUMS, pe_sums_size(&sums, &tables, &domain, NULL));
	pe_sums_write(&sums, &tables, &domain, NULL, spec.data + PE_READING_HEAD);
	for (int c = 0; c < 2; c++)
		pe_predicate_free(&sums.condition[c]);
	pe_domain_free(&domain);
	return spec;
}

static bytes
cells_spec(int first)
{
	pe_domain	domain = {.attributes = 1};
	bytes		spec;

	domain.attribute[0] = levels_from(first, LEVELS);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	spec = new_specification(PE_READ_CELLS, pe_selection_size(&domain, NULL));
	pe_selection_write(&domain, NULL, spec.data + PE_READING_HEAD);
	pe_domain_free(&domain);
	return spec;
}

/* Numbers in [-1, 1], and levels; a label 0 or 1. */
static void
make_model(pe_row_spec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->classes = true;
	spec->label = levels(2);
	spec->map.features = FEATURES;
	spec->map.intercept = true;
	spec->map.feature = pe_alloc(FEATURES + 1, sizeof(*spec->map.feature));
	spec->levels = pe_alloc(FEATURES + 1, sizeof(*spec->levels));
	for (int f = 0; f < FEATURES - 1; f++)
		spec->map.feature[f] = (pe_feature) {.number = true, .lower = -1, .upper = 1, .clamp = true};
	spec->map.feature[FEATURES - 1] = (pe_feature) {.levels = LEVELS, .other = true, .null = true};
	spec->levels[FEATURES - 1] = levels(LEVELS);
	assert_int_equal(pe_domain_prepare(&spec->watched), PE_DOMAIN_OK);
	assert_true(pe_feature_map_prepare(&spec->map));
}

static void
make_pass(pe_pass *pass, const pe_feature_map *map)
{
	double	   *w = pe_alloc((size_t) map->shape.columns, sizeof(*w));

	memset(pass, 0, sizeof(*pass));
	pass->kind = PE_PASS_GRADIENT;
	pass->loss = PE_LOSS_LOGISTIC;
	pass->norm = PE_L2;
	pass->clip = (pe_u128) PE_ONE * PE_ONE * 20000 * 20000;
	pass->weights.v = pe_alloc((size_t) map->shape.columns, sizeof(*pass->weights.v));
	for (int32_t j = 0; j < map->shape.columns; j++)
		w[j] = 0.25 * (j % 7) - 0.75;
	pe_weights_set(&pass->weights, w, map->shape.columns, map->radius_sq);
	pe_free(w);
}

static bytes
model_spec(bool with_pass, bool unit_clip)
{
	pe_row_spec model;
	pe_pass		pass;
	size_t		size;
	bytes		spec;

	make_model(&model);
	make_pass(&pass, &model.map);
	pass.unit_clip = unit_clip;
	size = pe_row_spec_size(&model);
	spec = new_specification(PE_READ_MODEL, size + (with_pass ? pe_pass_size(&pass, &model.map.shape) : 0));
	pe_row_spec_write(&model, spec.data + PE_READING_HEAD);
	if (with_pass)
		pe_pass_write(&pass, &model.map.shape, spec.data + PE_READING_HEAD + size);
	pe_free(pass.weights.v);
	pe_row_spec_free(&model);
	return spec;
}

static bytes
affine_spec(int64_t most)
{
	pe_affine_spec affine = {.variables = VARIABLES, .unit = -40, .most = most};
	bytes		spec = new_specification(PE_READ_AFFINE, PE_AFFINE_SPEC_SIZE(VARIABLES));

	for (int j = 0; j < VARIABLES; j++)
		affine.slope[j] = (pe_slope_spec) {.lower = -1, .upper = 1, .clamp = 1};
	memcpy(spec.data + PE_READING_HEAD, &affine, PE_AFFINE_SPEC_SIZE(VARIABLES));
	return spec;
}

static bytes
keys_spec(bool of_units, uint32_t range, uint32_t ranges)
{
	const pe_key_spec keys = {.of_units = of_units, .range = range, .ranges = ranges, .limit = 1000};
	bytes		spec = new_specification(PE_READ_KEYS, sizeof(keys));

	memcpy(spec.data + PE_READING_HEAD, &keys, sizeof(keys));
	return spec;
}

/* The bytes of a key. */
#define KEY_NUMBERS 7

/* By the first of two attributes, where a condition of the second one is true. */
static bytes
values_spec(bool of_units)
{
	const pe_key_spec keys = {.of_units = of_units, .ranges = 1, .limit = 1000};
	pe_domain	domain = {.attributes = 2};
	uint32_t	set = 1;
	const pe_tables tables = {.tables = 1, .set = &set};
	pe_sum		sum = {.kind = PE_SUM_OPEN, .needs = PE_HAS_CONDITION(0)};
	pe_sums		sums = {.dropping = 1, .conditions = 1, .opens = 1, .sum = &sum, .sums = 1};
	bytes		spec;

	for (int a = 0; a < 2; a++)
		domain.attribute[a] = levels(3);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	sums.condition[0] = test_of_attribute(pe_attribute_cells(&domain.attribute[1]));
	spec = new_specification(PE_READ_VALUES, sizeof(keys) + pe_sums_size(&sums, &tables, &domain, NULL));
	memcpy(spec.data + PE_READING_HEAD, &keys, sizeof(keys));
	pe_sums_write(&sums, &tables, &domain, NULL, spec.data + PE_READING_HEAD + sizeof(keys));
	pe_predicate_free(&sums.condition[0]);
	pe_domain_free(&domain);
	return spec;
}

/* Of two keys of those that rows have. */
static bytes
key_names_spec(const pe_cut *cut)
{
	pe_u128		number[2];
	pe_unit_keys keys;
	pe_key_secret secret;
	const pe_key_names_spec names = {.numbers = 2};
	bytes		spec = new_specification(PE_READ_KEY_NAMES, sizeof(names) + sizeof(number));

	pe_unit_keys_init(&keys, cut);
	pe_key_secret_init(&secret, &keys);
	for (int i = 0; i < 2; i++)
		number[i] = pe_key_number(&secret, &"abcdefg"[i], 1);
	if (number[0] > number[1])
		number[1] = pe_key_number(&secret, "a", 1), number[0] = pe_key_number(&secret, "b", 1);
	memcpy(spec.data + PE_READING_HEAD, &names, sizeof(names));
	memcpy(spec.data + PE_READING_HEAD + sizeof(names), number, sizeof(number));
	return spec;
}

/* ------------------------------------------------------------------
 * Kinds, and random rows of them
 * ------------------------------------------------------------------
 */

typedef enum kind
{
	COUNTS, UNITS, SUMS, ROWS, ROWS_OF_UNITS, SUMS_OF_UNITS, SUMS_OF_CLIPPED_UNITS, SLOPES,
	TABLES, TABLES_OF_UNITS, TABLES_OF_WIDE_UNITS, SIZES, PERIODS, KEYS, KEYS_OF_UNITS, KEY_NAMES, VALUES, VALUES_OF_UNITS,
	SUMMED, SUMMED_OF_UNITS, SUMMED_OF_WIDE_UNITS, SUMMED_OF_PERIODS, KINDS
} kind;

static const pe_cut a_cut = {.key = {1, 2, 3}, .limit = 8, .max_rows = 2, .range = 0, .ranges = 1};

static bytes
spec_of(kind k)
{
	switch (k)
	{
		case COUNTS:
		case UNITS:
			return cells_spec(0);
		case TABLES:
		case TABLES_OF_UNITS:
			return tables_spec(1);
		case TABLES_OF_WIDE_UNITS:
			return tables_spec(13);
		case SIZES:
			return numbered_spec(PE_READ_SIZES, 4, 0);
		case PERIODS:
			return numbered_spec(PE_READ_PERIODS, 2, 2);
		case SUMMED:
		case SUMMED_OF_UNITS:
			return sums_spec(1, true, 0);
		case SUMMED_OF_WIDE_UNITS:
			return sums_spec(4, false, 0);
		case SUMMED_OF_PERIODS:
			return sums_spec(1, false, 2);
		case SUMS:
		case SUMS_OF_UNITS:
			return model_spec(true, false);
		case SUMS_OF_CLIPPED_UNITS:
			return model_spec(true, true);
		case ROWS:
		case ROWS_OF_UNITS:
			return model_spec(false, false);
		case KEYS:
		case KEYS_OF_UNITS:
			return keys_spec(k == KEYS_OF_UNITS, 0, 1);
		case KEY_NAMES:
			return key_names_spec(&a_cut);
		case VALUES:
		case VALUES_OF_UNITS:
			return values_spec(k == VALUES_OF_UNITS);
		default:
			return affine_spec(1000);
	}
}

static bool
is_cut(kind k)
{
	return k == UNITS || k == ROWS_OF_UNITS || k == SUMS_OF_UNITS || k == SUMS_OF_CLIPPED_UNITS ||
		k == TABLES_OF_UNITS || k == TABLES_OF_WIDE_UNITS || k == SIZES || k == PERIODS || k == KEYS || k == KEYS_OF_UNITS || k == KEY_NAMES ||
		k == VALUES || k == VALUES_OF_UNITS ||
		k == SUMMED_OF_UNITS || k == SUMMED_OF_WIDE_UNITS || k == SUMMED_OF_PERIODS;
}

static void
begin(pe_accumulator *a, kind k)
{
	bytes		spec = spec_of(k);

	assert_true(pe_accumulator_begin(a, spec.data, spec.size, is_cut(k) ? &a_cut : NULL));
	pe_free(spec.data);
}

static void
add_model_row(pe_accumulator *a, int number, const uint64_t unit[2])
{
	const pe_row_shape *shape = &a->model.map.shape;
	pe_row		row = {
		.dense = pe_alloc((size_t) shape->dense + 1, sizeof(int16_t)),
		.cell = pe_alloc((size_t) shape->groups + 1, sizeof(uint16_t)),
		.unit = PE_ONE, .label = (int16_t) (number % 2)
	};

	for (int32_t j = 0; j < shape->dense; j++)
		row.dense[j] = (int16_t) (number * 31 % (2 * PE_ONE) - PE_ONE);
	for (int32_t g = 0; g < shape->groups; g++)
		row.cell[g] = (uint16_t) (number % shape->cells[g]);
	pe_accumulator_add_row(a, &row, a->has_cut ? unit : NULL, number % 5 > 0);
	pe_free(row.dense);
	pe_free(row.cell);
}

static void
add_table_row(pe_accumulator *a, int number, const uint64_t unit[2])
{
	int32_t		coordinate[PE_MAX_ATTRIBUTES];

	for (int i = 0; i < a->domain.attributes; i++)
		coordinate[i] = number / (i + 1) % a->tables.cells[i];
	if (!a->has_cut)
	{
		pe_accumulator_add_coordinates(a, coordinate, number % 5 > 0);
		return;
	}
	if (pe_accumulator_needs_room(a))
		pe_units_make_room(&a->units);
	pe_accumulator_add_unit_coordinates(a, unit, coordinate, number % 5 > 0);
}

/* What a scan would tell of such a row. */
static pe_sum_row
sum_row(const pe_accumulator *a, int number)
{
	pe_sum_row	row;

	memset(&row, 0, sizeof(row));
	row.counts = number % 5 > 0;
	for (int i = 0; i < a->domain.attributes; i++)
	{
		row.coordinate[i] = number / (i + 1) % a->tables.cells[i];
		if (number % 9 != i || i == 0)	/* attribute 0 drops rows without a cell of it */
			row.has |= PE_HAS_ATTRIBUTE(i);
		else
			row.coordinate[i] = 0;
	}
	for (int n = 0; n < a->summed.numbers; n++)
		if (pe_number_place(&a->summed.number[n], n == 0 ? number % 13 - 1 : sin(number * (n + 1)), &row.number[n]))
			row.has |= PE_HAS_NUMBER(n);
	row.has = pe_sums_conditions(&a->summed, row.coordinate, row.has);
	return row;
}

static void
add_sum_row(pe_accumulator *a, int number, const uint64_t unit[2])
{
	pe_sum_row	row = sum_row(a, number);

	if (!a->has_cut)
	{
		pe_accumulator_add_sum_row(a, &row);
		return;
	}
	if (pe_accumulator_needs_room(a))
		pe_units_make_room(&a->units);
	pe_accumulator_add_unit_sum_row(a, unit, &row);
}

static void
add_value(pe_accumulator *a, int number, const uint64_t unit[2])
{
	pe_sum_row	row = sum_row(a, number);

	pe_accumulator_add_value(a, unit, &row, &"abcdefg"[number % KEY_NUMBERS], 1, number % 4 > 0);
}

/* A row that follows from a number, whatever the accumulator is of. */
static void
add(pe_accumulator *a, int number)
{
	const uint64_t unit[2] = {(uint64_t) (number % 11) << 60, (uint64_t) number % 3};
	double		slope[PE_AFFINE_VARIABLES] = {0.5, 0.125 * (number % 8)};

	switch (a->reading)
	{
		case PE_READ_CELLS:
		case PE_READ_SIZES:
			if (!a->has_cut)
			{
				pe_accumulator_add_cell(a, number % a->domain.cells, number % 5 > 0);
				return;
			}
			if (pe_accumulator_needs_room(a))
				pe_units_make_room(&a->units);
			pe_accumulator_add_unit(a, unit, number % a->domain.cells, number % 5 > 0);
			return;
		case PE_READ_MODEL:
			add_model_row(a, number, unit);
			return;
		case PE_READ_AFFINE:
			pe_accumulator_add_affine(a, slope, number);
			return;
		case PE_READ_TABLES:
		case PE_READ_PERIODS:
			add_table_row(a, number, unit);
			return;
		case PE_READ_KEYS:
		case PE_READ_KEY_NAMES:
			pe_accumulator_add_key(a, unit, &"abcdefg"[number % KEY_NUMBERS], 1, number % 5 > 0);
			return;
		case PE_READ_SUMS:
		case PE_READ_KEY_SUMS:
			add_sum_row(a, number, unit);
			return;
		case PE_READ_VALUES:
		case PE_READ_KEY_VALUES:
			add_value(a, number, unit);
			return;
	}
}

static bytes
state_of(pe_accumulator *a)
{
	bytes		state = new_bytes(pe_accumulator_size(a));

	pe_accumulator_write(a, state.data);
	return state;
}

static bytes
result_of(pe_accumulator *a)
{
	bytes		result = new_bytes(pe_accumulator_finish(a));

	pe_accumulator_result(a, result.data);
	return result;
}

static void
assert_same(bytes a, bytes b)
{
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.data, b.data, a.size);
}

static bytes
state_with_rows(kind k, int first, int last)
{
	pe_accumulator a;
	bytes		state;

	begin(&a, k);
	for (int number = first; number < last; number++)
		add(&a, number);
	state = state_of(&a);
	pe_accumulator_free(&a);
	return state;
}

/* ------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------
 */

/* A state that was written and read is the same, can be added to, and parts give the result of the whole. */
static void
test_parts(void **unused)
{
	(void) unused;
	pe_test_seed(1);
	for (int i = 0; i < cases(2000); i++)
	{
		kind		k = i % KINDS;
		int			rows = random_below(random_below(2) == 0 ? 20 : 300);
		int			first = random_below(rows + 1);
		int			second = first + random_below(rows - first + 1);
		bytes		parts[] = {state_with_rows(k, 0, first), state_with_rows(k, first, second)};
		pe_accumulator whole;
		pe_accumulator together;
		bytes		again;
		bytes		results[2];

		begin(&whole, k);
		for (int number = 0; number < rows; number++)
			add(&whole, number);
		assert_int_equal(pe_accumulator_read(&together, parts[0].data, parts[0].size), PE_COMBINED);
		again = state_of(&together);
		assert_same(again, parts[0]);
		assert_int_equal(pe_accumulator_combine(&together, parts[1].data, parts[1].size), PE_COMBINED);
		for (int number = second; number < rows; number++)
			add(&together, number);
		results[0] = result_of(&whole);
		results[1] = result_of(&together);
		assert_same(results[0], results[1]);
		pe_accumulator_free(&whole);
		pe_accumulator_free(&together);
		for (int p = 0; p < 2; p++)
		{
			pe_free(parts[p].data);
			pe_free(results[p].data);
		}
		pe_free(again.data);
	}
}

/* Which of two shards holds all rows of the unit that a row is of. */
static int
shard_of(int number)
{
	return number % 33 * 7 % 33 < 16;
}

/* The state of the units of a shard, which is cut to travel. */
static bytes
state_of_shard(kind k, int shard, int rows, bool *is_cut)
{
	pe_accumulator a;
	bytes		state;

	begin(&a, k);
	a.cut.whole = 1;
	for (int number = 0; number < rows; number++)
		if (shard_of(number) == shard)
			add(&a, number);
	state = state_of(&a);
	*is_cut = a.is_cut;
	pe_accumulator_free(&a);
	return state;
}

/* Where all rows of a unit are in one state, states that were cut add up to what cutting their sum gives, and have one size for any rows. */
static void
test_whole_units(void **unused)
{
	int			tried = 0;

	(void) unused;
	pe_test_seed(2);
	for (int i = 0; i < cases(2000); i++)
	{
		kind		k = i % KINDS;
		int			rows = random_below(300);
		pe_accumulator all;
		pe_accumulator together;
		bytes		state[3];
		bytes		result[2];
		bool		is_cut = false;

		begin(&all, k);
		if (!all.has_cut)
		{
			pe_accumulator_free(&all);
			continue;
		}
		for (int number = 0; number < rows; number++)
			add(&all, number);
		for (int shard = 0; shard < 3; shard++)
			state[shard] = state_of_shard(k, shard, rows, &is_cut);
		if (is_cut)
		{
			tried++;
			assert_int_equal(state[0].size, state[2].size);
			assert_int_equal(state[1].size, state[2].size);
			assert_int_equal(pe_accumulator_read(&together, state[0].data, state[0].size), PE_COMBINED);
			assert_int_equal(pe_accumulator_combine(&together, state[1].data, state[1].size), PE_COMBINED);
			assert_int_equal(pe_accumulator_combine(&together, state[2].data, state[2].size), PE_COMBINED);
			result[0] = result_of(&all);
			result[1] = result_of(&together);
			assert_same(result[0], result[1]);
			pe_accumulator_free(&together);
			pe_free(result[0].data);
			pe_free(result[1].data);
		}
		pe_accumulator_free(&all);
		for (int shard = 0; shard < 3; shard++)
			pe_free(state[shard].data);
	}
	assert_true(tried > 0);
}

/* What each kind comes to, told by itself. */
static void
test_results(void **unused)
{
	pe_accumulator a;
	bytes		result;
	int64_t		count[LEVELS + 2];
	pe_rows		rows;
	uint64_t	dropped;

	(void) unused;
	begin(&a, COUNTS);
	for (int number = 0; number < 70; number++)
		add(&a, number);
	result = result_of(&a);
	assert_int_equal(result.size, sizeof(count));
	memcpy(count, result.data, sizeof(count));
	for (int cell = 0; cell < LEVELS + 2; cell++)
		assert_int_equal(count[cell], 8);	/* of ten each fifth is dropped, for 5 and 7 have no common divisor */
	pe_free(result.data);
	pe_accumulator_free(&a);

	begin(&a, ROWS);
	for (int number = 0; number < 70; number++)
		add(&a, number);
	pe_rows_init(&rows, &a.model.map.shape, false);
	result = result_of(&a);
	assert_true(pe_rows_result_read(&rows, &dropped, result.data, result.size));
	assert_int_equal(rows.rows, 56);
	assert_int_equal(dropped, 14);
	assert_false(pe_rows_result_read(&rows, &dropped, result.data, 7));
	pe_free(result.data);
	pe_rows_free(&rows);
	pe_accumulator_free(&a);
}

/* Units by their rows that count: 33 of them, of which number n has row n, n + 33 and so on. */
static void
test_sizes_of_units(void **unused)
{
	pe_accumulator a;
	bytes		result;
	int64_t		expected[4] = {0};
	int			rows[33] = {0};

	(void) unused;
	begin(&a, SIZES);
	for (int number = 0; number < 120; number++)
	{
		add(&a, number);
		rows[number % 33] += number % 5 > 0;
	}
	for (int unit = 0; unit < 33; unit++)
		if (rows[unit] > 0)
			expected[rows[unit] < 4 ? rows[unit] - 1 : 3]++;
	result = result_of(&a);
	assert_int_equal(result.size, sizeof(expected));
	assert_memory_equal(result.data, expected, sizeof(expected));
	pe_free(result.data);
	pe_accumulator_free(&a);
}

/* What is no such number, has cells or none, or has no units. */
static void
check_unsound_numbers(pe_reading reading, int64_t largest, int spanning)
{
	const int64_t most[] = {INT64_MIN, -1, 0, largest + 1, INT64_MAX, INT64_C(1) << 32};
	pe_accumulator a;
	bytes		spec;

	for (int i = 0; i < lengthof(most) + 4; i++)
	{
		bool		sound = i >= lengthof(most) + 2;

		spec = i < lengthof(most) ? numbered_spec(reading, most[i], spanning)
			: numbered_spec(reading, i % 2 == 0 ? 1 : largest, !sound && i % 2 == 0 ? !spanning : spanning);
		assert_int_equal(pe_accumulator_begin(&a, spec.data, spec.size, i == lengthof(most) + 1 ? NULL : &a_cut), sound);
		pe_accumulator_free(&a);
		for (size_t size = PE_READING_HEAD; sound && size < spec.size; size++)
			assert_false(pe_accumulator_begin(&a, spec.data, size, &a_cut));
		assert_int_equal(pe_reading_read(spec.data, spec.size), reading);
		assert_int_equal(pe_reading_read(spec.data, PE_READING_HEAD - 1), 0);
		spec.data[0] ^= 1;
		assert_int_equal(pe_reading_read(spec.data, spec.size), 0);
		pe_free(spec.data);
	}
}

static void
test_unsound_numbers(void **unused)
{
	(void) unused;
	check_unsound_numbers(PE_READ_SIZES, PE_SIZES_MOST, 0);
	check_unsound_numbers(PE_READ_PERIODS, INT32_MAX, 2);
}

/* Limits of times are whole or none; those of an affine function are none; and states of other limits are other states. */
static void
test_times(void **unused)
{
	const pe_times limited = {.from = -5, .before = 5, .are_limited = 1, .others = 1};
	const pe_times unsound[] = {
		{.from = 1}, {.before = 1}, {.others = 1}, {.are_limited = 2}, {.are_limited = 1, .others = 2}, {.from = -5, .before = 5, .are_limited = UINT32_MAX}
	};
	bytes		spec = keys_spec(false, 0, 2);
	bytes		affine = affine_spec(1000);
	pe_accumulator a;
	pe_accumulator all;
	bytes		state;

	(void) unused;
	for (int i = 0; i < lengthof(unsound); i++)
	{
		pe_reading_limit(spec.data, &unsound[i]);
		assert_false(pe_accumulator_begin(&a, spec.data, spec.size, &a_cut));
	}
	pe_reading_limit(spec.data, &(pe_times) {0});
	assert_true(pe_accumulator_begin(&all, spec.data, spec.size, &a_cut));
	pe_reading_limit(spec.data, &limited);
	assert_true(pe_accumulator_begin(&a, spec.data, spec.size, &a_cut));
	assert_memory_equal(&a.times, &limited, sizeof(limited));
	state = state_of(&a);
	assert_int_equal(pe_accumulator_combine(&all, state.data, state.size), PE_STATE_OTHER);
	assert_int_equal(pe_accumulator_combine(&a, state.data, state.size), PE_COMBINED);
	pe_accumulator_free(&a);
	pe_accumulator_free(&all);
	assert_true(pe_accumulator_begin(&a, affine.data, affine.size, NULL));
	pe_accumulator_free(&a);
	pe_reading_limit(affine.data, &limited);
	assert_false(pe_accumulator_begin(&a, affine.data, affine.size, NULL));
	for (int time = -6; time <= 6; time++)
		assert_int_equal(pe_times_have(&limited, true, time), time >= -5 && time < 5);
	assert_true(pe_times_have(&limited, false, 0));
	assert_false(pe_times_have(&(pe_times) {.from = -5, .before = 5, .are_limited = 1}, false, 0));
	pe_free(state.data);
	pe_free(spec.data);
	pe_free(affine.data);
}

/* Two numbers that are the same, and parts of them. */
static void
check_unsound_names(const pe_u128 numbers[2])
{
	const struct
	{
		pe_key_names_spec spec;
		size_t		size;		/* of the numbers */
		bool		is_sound;
	}			names[] = {
		{{0, 2, 0, 0}, 32, false}, {{0, 1, 0, 0}, 16, true}, {{PE_KEY_COLUMNS - 1, 1, 0, 0}, 16, true}, {{PE_KEY_COLUMNS, 1, 0, 0}, 16, false},
		{{0, 1, 0, 0}, 15, false}, {{0, 1, 0, 0}, 17, false}, {{0, UINT32_MAX, 0, 0}, 16, false}, {{0, 0, 0, 0}, 0, true}, {{0, 1, 0, 1}, 16, false}
	};
	bytes		spec = new_specification(PE_READ_KEY_NAMES, sizeof(names[0].spec) + 2 * sizeof(pe_u128));
	pe_accumulator a;

	memcpy(spec.data + PE_READING_HEAD + sizeof(names[0].spec), numbers, 2 * sizeof(pe_u128));
	for (int i = 0; i < lengthof(names); i++)
	{
		size_t		size = PE_READING_HEAD + sizeof(names[i].spec) + names[i].size;

		memcpy(spec.data + PE_READING_HEAD, &names[i].spec, sizeof(names[i].spec));
		assert_int_equal(pe_accumulator_begin(&a, spec.data, size, &a_cut), names[i].is_sound);
		if (names[i].is_sound)
			pe_accumulator_free(&a);
		assert_false(pe_accumulator_begin(&a, spec.data, size, NULL));
	}
	assert_false(pe_accumulator_begin(&a, spec.data, PE_READING_HEAD + sizeof(names[0].spec) - 1, &a_cut));
	pe_free(spec.data);
}

/* Keys that no scan has: number 0, too large, of another range, without a count or with one that no table has; keys out of order, or too long. */
static void
test_unsound_keys(void **unused)
{
	const pe_u128 key = (pe_u128) 9 << 100;	/* in range 0 of 2 */
	const pe_key_count unsound[] = {
		{0, 1}, {PE_KEY_NUMBERS, 1}, {~(pe_u128) 0, 1}, {key | (pe_u128) 1 << 119, 1}, {key, 0}, {key, PE_KEY_ROWS + 1}, {key, UINT64_MAX}
	};
	bytes		spec = keys_spec(false, 0, 2);
	pe_key_spec wrong[] = {{2, 0, 1, 0, 9, 0, 0}, {0, 1, 1, 0, 9, 0, 0}, {0, 0, 0, 0, 9, 0, 0}, {0, 0, 1, PE_KEY_COLUMNS, 9, 0, 0}, {0, 0, 1, 0, 0, 0, 0}, {0, 0, 1, 0, UINT64_MAX, 0, 0}, {0, 0, 1, 0, 9, 0, 1}};
	pe_u128		numbers[] = {key, key};
	pe_accumulator a;

	(void) unused;
	for (int i = -1; i < lengthof(unsound); i++)
	{
		const pe_key_count entry = i < 0 ? (pe_key_count) {key, 1} : unsound[i];
		bytes		state;

		assert_true(pe_accumulator_begin(&a, spec.data, spec.size, &a_cut));
		pe_key_counts_add(&a.key_counts, entry.number, entry.count);
		state = state_of(&a);
		pe_accumulator_free(&a);
		assert_int_equal(pe_accumulator_read(&a, state.data, state.size), i < 0 ? PE_COMBINED : PE_STATE_UNSOUND);
		pe_accumulator_free(&a);
		pe_free(state.data);
	}
	assert_false(pe_accumulator_begin(&a, spec.data, spec.size, NULL));
	assert_false(pe_accumulator_begin(&a, spec.data, spec.size - 1, &a_cut));
	for (int i = 0; i < lengthof(wrong); i++)
	{
		memcpy(spec.data + PE_READING_HEAD, &wrong[i], sizeof(wrong[i]));
		assert_false(pe_accumulator_begin(&a, spec.data, spec.size, &a_cut));
	}
	pe_free(spec.data);
	check_unsound_names(numbers);
}

/* Each unit adds at most 1 to a key, and to max_rows keys. */
static void
test_keys_of_units(void **unused)
{
	pe_accumulator a;
	uint64_t	rows = 0;

	(void) unused;
	begin(&a, KEYS_OF_UNITS);
	for (uint64_t unit = 0; unit < 11; unit++)
		for (int row = 0; row < 14; row++)
			pe_accumulator_add_key(&a, (uint64_t[2]) {unit << 60, unit}, &"abcdefg"[row % KEY_NUMBERS], 1, true);
	pe_accumulator_add_key(&a, (uint64_t[2]) {99, 99}, "", 0, false);
	(void) pe_accumulator_finish(&a);
	pe_key_counts_settle(&a.key_counts);
	for (size_t i = 0; i < a.key_counts.entries; i++)
	{
		assert_in_range(a.key_counts.entry[i].count, 1, 11);
		rows += a.key_counts.entry[i].count;
	}
	assert_int_equal(rows, 11 * a_cut.max_rows);
	pe_accumulator_free(&a);
}

/* Sums against sums by hand, and those of units cut: k rows of each, people in m cells. */
static void
check_sums(kind k, int rows)
{
	pe_accumulator a;
	bytes		result;
	int64_t    *sum;
	const uint8_t counts = 1;

	begin(&a, k);
	sum = pe_alloc((size_t) a.tables.first[a.tables.tables], sizeof(*sum));
	for (int number = 0; number < rows; number++)
	{
		pe_sum_row	row = sum_row(&a, number);

		add(&a, number);
		for (int32_t t = 0; t < a.summed.sums && row.counts; t++)
		{
			const pe_sum *of = &a.summed.sum[t];
			int64_t		place = pe_tables_place(&a.tables, t, row.coordinate);
			int64_t		weight;

			pe_sum_weigh(&a.summed, of, row.number, 1, &row.has, &counts, 1, &weight);
			if (of->by_atom)
			{
				uint32_t	mask = pe_sums_mask(&a.summed, row.has);

				weight *= mask != 1;
				place = place * 2 + (mask == 3);
			}
			if (of->kind == PE_SUM_GRID)
				place = place * (2 * a.summed.number[of->a].most + 1) + row.number[of->a] + a.summed.number[of->a].most;
			sum[a.tables.first[t] + place] += weight;
		}
	}
	result = result_of(&a);
	assert_int_equal(result.size, (size_t) a.tables.first[a.tables.tables] * sizeof(*sum));
	assert_memory_equal(result.data, sum, result.size);
	pe_free(result.data);
	pe_free(sum);
	pe_accumulator_free(&a);
}

/* One unit with many rows adds as much as two of its rows, and is one person in each of at most two cells. */
static void
check_unit(kind k, int rows)
{
	const uint64_t unit[2] = {1, 2};
	pe_accumulator a;
	bytes		result;
	const int64_t *sum;

	begin(&a, k);
	for (int number = 0; number < rows; number++)
	{
		pe_sum_row	row = sum_row(&a, number);

		if (pe_accumulator_needs_room(&a))
			pe_units_make_room(&a.units);
		pe_accumulator_add_unit_sum_row(&a, unit, &row);
	}
	result = result_of(&a);
	sum = (const int64_t *) result.data;
	for (int32_t t = 0; t < a.summed.sums; t++)
	{
		bool		people = a.summed.sum[t].kind == PE_SUM_UNITS;
		bool		lost = a.summed.sum[t].kind == PE_SUM_LOST;
		int64_t		all = 0;

		for (int64_t cell = a.tables.first[t]; cell < a.tables.first[t + 1]; cell++)
		{
			all += sum[cell] < 0 ? -sum[cell] : sum[cell];
			assert_true(!people || (sum[cell] >= 0 && sum[cell] <= 1));
		}
		assert_true(lost || all <= 2 * (people ? 1 : pe_sum_bound(&a.summed, &a.summed.sum[t])));
		assert_true(a.summed.sum[t].needs != 0 || all == (lost ? 3 : 2));	/* all that are left count */
	}
	pe_free(result.data);
	pe_accumulator_free(&a);
}

static void
test_sums(void **unused)
{
	(void) unused;
	for (int rows = 0; rows < 300; rows += 37)
		check_sums(SUMMED, rows);
	check_sums(SUMMED, PE_GATHERED_ROWS + 100);
	for (int rows = 20; rows < 300; rows += 37)
	{
		check_unit(SUMMED_OF_UNITS, rows);
		check_unit(SUMMED_OF_WIDE_UNITS, rows);
	}
}

/* ------------------------------------------------------------------
 * Rows that the cut left out
 * ------------------------------------------------------------------
 */

#define LOST_CELLS (LEVELS + 2)
#define LOST_UNITS 5

/* By one attribute and of all: rows that count, rows left out, and those of them in cell 0 of another attribute. */
static bytes
lost_spec(int32_t most)
{
	pe_domain	domain = {.attributes = 2};
	uint32_t	set[] = {1, 1, 0, 0};
	pe_sum		sum[] = {
		{.kind = PE_SUM_ONE}, {.kind = PE_SUM_LOST, .most = most}, {.kind = PE_SUM_LOST, .most = most},
		{.kind = PE_SUM_LOST, .most = most, .needs = PE_HAS_CONDITION(0)}
	};
	const pe_tables tables = {.tables = lengthof(set), .set = set};
	pe_sums		sums = {.dropping = 3, .conditions = 1, .sum = sum, .sums = lengthof(sum)};
	bytes		spec;

	for (int a = 0; a < 2; a++)
		domain.attribute[a] = levels(LEVELS);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	sums.condition[0] = test_of_attribute(pe_attribute_cells(&domain.attribute[1]));
	spec = new_specification(PE_READ_SUMS, pe_sums_size(&sums, &tables, &domain, NULL));
	pe_sums_write(&sums, &tables, &domain, NULL, spec.data + PE_READING_HEAD);
	pe_predicate_free(&sums.condition[0]);
	pe_domain_free(&domain);
	return spec;
}

typedef struct lost_row
{
	uint64_t	unit[2];
	int32_t		coordinate[2];
	bool		counts;
} lost_row;

/* Counts of all tables: LOST_CELLS, LOST_CELLS, 1, 1; of rows without those of one unit. */
static bytes
lost_of(const lost_row *rows, int count, int32_t k, int32_t most, int without)
{
	bytes		spec = lost_spec(most);
	pe_cut		cut = a_cut;
	pe_accumulator a;
	bytes		result;

	cut.max_rows = k;
	assert_false(pe_accumulator_begin(&a, spec.data, spec.size, NULL));	/* nothing is left out */
	assert_true(pe_accumulator_begin(&a, spec.data, spec.size, &cut));
	for (int i = 0; i < count; i++)
	{
		pe_sum_row	row = {.counts = rows[i].counts, .has = 3 * PE_HAS_ATTRIBUTE(0)};

		if (rows[i].unit[1] == (uint64_t) without)
			continue;
		memcpy(row.coordinate, rows[i].coordinate, sizeof(rows[i].coordinate));
		row.has = pe_sums_conditions(&a.summed, row.coordinate, row.has);
		if (pe_accumulator_needs_room(&a))
			pe_units_make_room(&a.units);
		pe_accumulator_add_unit_sum_row(&a, rows[i].unit, &row);
	}
	result = result_of(&a);
	assert_int_equal(result.size, (2 * LOST_CELLS + 2) * sizeof(int64_t));
	pe_accumulator_free(&a);
	pe_free(spec.data);
	return result;
}

static int64_t
in_table(const bytes *result, int table)
{
	int64_t		all = 0;

	for (int cell = 0; cell < LOST_CELLS; cell++)
		all += ((const int64_t *) result->data)[table * LOST_CELLS + cell];
	return all;
}

/* What neighbours differ in: of each unit at most k rows count, and at most `most` are left out, in no cell below 0. */
static void
check_lost_neighbour(const bytes *with, const bytes *without, int64_t rows, int32_t k, int32_t most)
{
	const int64_t *one = (const int64_t *) with->data;
	const int64_t *other = (const int64_t *) without->data;

	for (int cell = 0; cell < 2 * LOST_CELLS + 2; cell++)
		assert_true(one[cell] >= other[cell]);
	assert_int_equal(in_table(with, 0) - in_table(without, 0), rows < k ? rows : k);
	assert_int_equal(in_table(with, 1) - in_table(without, 1), rows <= k ? 0 : rows - k < most ? rows - k : most);
}

/* Rows of units that have none to twelve, whose ranks are random; some are dropped. */
static int
random_rows(lost_row *rows, int64_t *counted)
{
	int			count = 0;

	memset(counted, 0, LOST_UNITS * sizeof(*counted));
	for (int unit = 0; unit < LOST_UNITS; unit++)
		for (int n = random_below(13); n > 0; n--, count++)
		{
			rows[count] = (lost_row) {
				.unit = {(uint64_t) unit << 40, (uint64_t) unit}, .counts = random_below(5) > 0,
				.coordinate = {random_below(LOST_CELLS), random_below(2)}
			};
			counted[unit] += rows[count].counts;
		}
	return count;
}

static void
test_lost(void **unused)
{
	(void) unused;
	pe_test_seed(4);
	for (int round = 0; round < cases(500); round++)
	{
		lost_row	rows[12 * LOST_UNITS];
		int64_t		counted[LOST_UNITS];
		int			count = random_rows(rows, counted);
		int32_t		k = 1 + random_below(4);
		int32_t		most = 1 + random_below(5);
		bytes		all = lost_of(rows, count, k, most, -1);
		bytes		longer = lost_of(rows, count, k + most, 1, -1);
		const int64_t *sum = (const int64_t *) all.data;

		/* what a longer cut leaves more, cell by cell */
		for (int cell = 0; cell < LOST_CELLS; cell++)
			assert_int_equal(sum[cell] + sum[LOST_CELLS + cell], ((const int64_t *) longer.data)[cell]);
		assert_int_equal(sum[2 * LOST_CELLS], in_table(&all, 1));
		assert_true(sum[2 * LOST_CELLS + 1] >= 0 && sum[2 * LOST_CELLS + 1] <= sum[2 * LOST_CELLS]);
		for (int unit = 0; unit < LOST_UNITS; unit++)
		{
			bytes		fewer = lost_of(rows, count, k, most, unit);

			check_lost_neighbour(&all, &fewer, counted[unit], k, most);
			pe_free(fewer.data);
		}
		pe_free(all.data);
		pe_free(longer.data);
	}
}

/* ------------------------------------------------------------------
 * Values that occur
 * ------------------------------------------------------------------
 */

/* By the first attribute, and of all: values of the second, the ordered cells of it; and rows. */
static bytes
distinct_spec(void)
{
	pe_domain	domain = {.attributes = 2};
	uint32_t	set[] = {3, 2, 1};
	pe_sum		sum[] = {
		{.kind = PE_SUM_DISTINCT, .needs = PE_HAS_ATTRIBUTE(1)},
		{.kind = PE_SUM_DISTINCT, .needs = PE_HAS_ATTRIBUTE(1)}, {.kind = PE_SUM_ONE}
	};
	const pe_tables tables = {.tables = lengthof(set), .set = set};
	pe_sums		sums = {.dropping = 1, .sum = sum, .sums = lengthof(sum)};
	bytes		spec;

	for (int a = 0; a < 2; a++)
		domain.attribute[a] = levels(LEVELS);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	spec = new_specification(PE_READ_SUMS, pe_sums_size(&sums, &tables, &domain, NULL));
	pe_sums_write(&sums, &tables, &domain, NULL, spec.data + PE_READING_HEAD);
	pe_domain_free(&domain);
	return spec;
}

/* Of groups, and the last one of all: values that occur among the rows that count, without those of one unit. */
static void
distinct_of(const lost_row *rows, int count, int32_t k, int without, int64_t *distinct)
{
	bytes		spec = distinct_spec();
	pe_cut		cut = a_cut;
	pe_accumulator a;
	bytes		result;
	int64_t    *counts;

	cut.max_rows = k;
	assert_true(pe_accumulator_begin(&a, spec.data, spec.size, &cut));
	for (int i = 0; i < count; i++)
	{
		pe_sum_row	row = {.counts = rows[i].counts, .has = 3 * PE_HAS_ATTRIBUTE(0)};

		if (rows[i].unit[1] == (uint64_t) without)
			continue;
		memcpy(row.coordinate, rows[i].coordinate, sizeof(rows[i].coordinate));
		if (pe_accumulator_needs_room(&a))
			pe_units_make_room(&a.units);
		pe_accumulator_add_unit_sum_row(&a, rows[i].unit, &row);
	}
	result = result_of(&a);
	counts = (int64_t *) result.data;
	pe_sum_distinct(counts, LOST_CELLS, LOST_CELLS, LEVELS, distinct);
	pe_sum_distinct(counts + LOST_CELLS * LOST_CELLS, 1, LOST_CELLS, LEVELS, distinct + LOST_CELLS);
	pe_accumulator_free(&a);
	pe_free(spec.data);
	pe_free(result.data);
}

/* Of all rows, one by one. */
static int64_t
distinct_one_by_one(const lost_row *rows, int count, int group)
{
	int64_t		distinct = 0;

	for (int value = 0; value < LEVELS; value++)
	{
		bool		occurs = false;

		for (int i = 0; i < count; i++)
			occurs |= rows[i].counts && (group == LOST_CELLS || rows[i].coordinate[0] == group) && rows[i].coordinate[1] == value;
		distinct += occurs;
	}
	return distinct;
}

/* What a unit adds, to any other units, is at least 0 in each group and at most k in all groups together. */
static void
test_distinct(void **unused)
{
	int64_t		most = 0;

	(void) unused;
	pe_test_seed(5);
	for (int round = 0; round < cases(1000); round++)
	{
		lost_row	rows[12 * LOST_UNITS];
		int64_t		counted[LOST_UNITS];
		int			count = random_rows(rows, counted);
		int32_t		k = 1 + random_below(4);
		int64_t		all[LOST_CELLS + 1];
		int64_t		fewer[LOST_CELLS + 1];

		for (int i = 0; i < count; i++)
			rows[i].coordinate[1] = random_below(LOST_CELLS);
		distinct_of(rows, count, 1000, -1, all);
		for (int group = 0; group <= LOST_CELLS; group++)
			assert_int_equal(all[group], distinct_one_by_one(rows, count, group));
		distinct_of(rows, count, k, -1, all);
		for (int unit = 0; unit < LOST_UNITS; unit++)
		{
			int64_t		added = 0;

			distinct_of(rows, count, k, unit, fewer);
			for (int group = 0; group < LOST_CELLS; group++)
			{
				assert_true(all[group] >= fewer[group]);
				added += all[group] - fewer[group];
			}
			assert_true(added <= k && all[LOST_CELLS] >= fewer[LOST_CELLS] && all[LOST_CELLS] - fewer[LOST_CELLS] <= k);
			most = added == k && k > most ? k : most;
		}
	}
	assert_true(most >= 3);
}

/* Several states in any order: the same bits. */
static void
test_orders(void **unused)
{
	(void) unused;
	pe_test_seed(3);
	for (kind k = SUMMED; k < KINDS; k++)
		for (int round = 0; round < cases(200); round++)
		{
			bytes		parts[6];
			bytes		results[2];

			for (int p = 0; p < lengthof(parts); p++)
				parts[p] = state_with_rows(k, p * 40, p * 40 + random_below(41));
			for (int order = 0; order < 2; order++)
			{
				pe_accumulator a;

				for (int p = lengthof(parts) - 1; p > 0; p--)
				{
					int			other = random_below(p + 1);
					bytes		moved = parts[p];

					parts[p] = parts[other];
					parts[other] = moved;
				}
				assert_int_equal(pe_accumulator_read(&a, parts[0].data, parts[0].size), PE_COMBINED);
				for (int p = 1; p < lengthof(parts); p++)
					assert_int_equal(pe_accumulator_combine(&a, parts[p].data, parts[p].size), PE_COMBINED);
				results[order] = result_of(&a);
				pe_accumulator_free(&a);
			}
			assert_same(results[0], results[1]);
			for (int order = 0; order < 2; order++)
				pe_free(results[order].data);
			for (int p = 0; p < lengthof(parts); p++)
				pe_free(parts[p].data);
		}
}

/* A state of another specification, cut or kind; one of a machine with the other order of bytes; one cut short, or too long. */
static void
test_others(void **unused)
{
	(void) unused;
	for (kind k = 0; k < KINDS; k++)
		for (kind other = 0; other < KINDS; other++)
		{
			bytes		state = state_with_rows(other, 0, 10);
			pe_accumulator a;

			begin(&a, k);
			assert_int_equal(pe_accumulator_combine(&a, state.data, state.size), k == other ? PE_COMBINED : PE_STATE_OTHER);
			pe_accumulator_free(&a);
			for (size_t size = 0; k == other && size < state.size; size++)
			{
				char	   *exact = pe_alloc(size, 1);

				memcpy(exact, state.data, size);
				assert_int_equal(pe_accumulator_read(&a, exact, size), PE_STATE_UNSOUND);
				pe_free(exact);
			}
			for (int byte = 0; byte < 2; byte++)
			{
				char		swapped = state.data[byte];

				state.data[byte] = state.data[3 - byte];
				state.data[3 - byte] = swapped;
			}
			assert_int_equal(pe_accumulator_read(&a, state.data, state.size), PE_STATE_UNSOUND);
			pe_free(state.data);
		}
}

/* Where a state says how large its body is. */
#define BODY_SIZE 16

/* A body that is longer or shorter than that of its kind, and says so. */
static void
test_sizes(void **unused)
{
	(void) unused;
	for (kind k = 0; k < KINDS; k++)
		for (int more = -8; more <= 8; more += 16)
		{
			bytes		state = state_with_rows(k, 0, 10);
			bytes		other = new_bytes(state.size + (size_t) more);
			pe_accumulator a;
			uint64_t	body;

			memcpy(other.data, state.data, more < 0 ? other.size : state.size);
			memcpy(&body, state.data + BODY_SIZE, sizeof(body));
			body += (uint64_t) more;
			memcpy(other.data + BODY_SIZE, &body, sizeof(body));
			assert_int_equal(pe_accumulator_read(&a, other.data, other.size), PE_STATE_UNSOUND);
			pe_free(state.data);
			pe_free(other.data);
		}
}

/* Of the same kind and size: other levels, another key, other limits. */
static void
test_other_cuts(void **unused)
{
	bytes		state = state_with_rows(UNITS, 0, 10);
	bytes		spec = cells_spec(1);
	pe_cut		cuts[] = {a_cut, a_cut, a_cut};
	pe_accumulator a;

	(void) unused;
	assert_true(pe_accumulator_begin(&a, spec.data, spec.size, &a_cut));
	assert_int_equal(pe_accumulator_combine(&a, state.data, state.size), PE_STATE_OTHER);
	pe_accumulator_free(&a);
	pe_free(spec.data);
	spec = cells_spec(0);
	cuts[0].key[PE_UNIT_KEY - 1] ^= 1;
	cuts[1].max_rows++;
	cuts[2].limit++;
	for (int i = 0; i < lengthof(cuts); i++)
	{
		assert_true(pe_accumulator_begin(&a, spec.data, spec.size, &cuts[i]));
		assert_int_equal(pe_accumulator_combine(&a, state.data, state.size), PE_STATE_OTHER);
		pe_accumulator_free(&a);
	}
	cuts[0].max_rows = 0;
	assert_false(pe_accumulator_begin(&a, spec.data, spec.size, &cuts[0]));
	pe_free(spec.data);
	spec = affine_spec(10);
	assert_false(pe_accumulator_begin(&a, spec.data, spec.size, &a_cut));
	pe_free(spec.data);
	/* units are clipped where they are known */
	spec = spec_of(SUMS_OF_CLIPPED_UNITS);
	assert_false(pe_accumulator_begin(&a, spec.data, spec.size, NULL));
	pe_free(spec.data);
	pe_free(state.data);
}

/* Numbers that no table has are refused, and two that are sound do not overflow unseen. */
static void
test_overflow(void **unused)
{
	static const int64_t unsound[] = {INT64_MAX, INT64_MIN};
	static const kind kinds[] = {COUNTS, SUMS, SUMMED};

	(void) unused;
	for (int i = 0; i < lengthof(kinds); i++)
	{
		bytes		state = state_with_rows(kinds[i], 0, 0);
		int64_t		large = kinds[i] != SUMS ? INT64_C(1) << 61 : INT64_C(1) << 56;	/* the high word of a sum */
		pe_accumulator a;

		memcpy(state.data + state.size - sizeof(large), &large, sizeof(large));
		assert_int_equal(pe_accumulator_read(&a, state.data, state.size), PE_COMBINED);
		assert_int_equal(pe_accumulator_combine(&a, state.data, state.size), PE_STATE_OVERFLOW);
		pe_accumulator_free(&a);
		for (int j = 0; j < lengthof(unsound); j++)
		{
			memcpy(state.data + state.size - sizeof(large), &unsound[j], sizeof(large));
			assert_int_equal(pe_accumulator_read(&a, state.data, state.size), PE_STATE_UNSOUND);
		}
		/* sums can be negative, counts cannot */
		large = -1;
		memcpy(state.data + state.size - sizeof(large), &large, sizeof(large));
		assert_int_equal(pe_accumulator_read(&a, state.data, state.size), kinds[i] == COUNTS ? PE_STATE_UNSOUND : PE_COMBINED);
		if (kinds[i] != COUNTS)
			pe_accumulator_free(&a);
		pe_free(state.data);
	}
}

/* ---- mutated states ---- */

/* What takes long is not tried: an entry may stand for 65535 rows, and a state may say that any number of rows was dropped. */
#define MOST_ROWS 2000
#define MOST_SUMS 20000

static bool
is_small(const pe_accumulator *a)
{
	uint64_t	rows = a->dropped;

	for (size_t i = 0; i < a->units.entries; i++)
		rows += a->units.wide_cells != 0 ? a->units.wide[i].rows : a->units.entry[i].rows;
	return rows <= MOST_ROWS && (a->pass_bytes == NULL || pe_pass_sums(&a->pass, &a->model.map.shape) <= MOST_SUMS);
}

/* A number where the layout has numbers, or any bytes. */
static void
mutate(bytes *state, const bytes *other)
{
	static const int64_t words[] = {0, 1, -1, 2, 255, 65535, INT32_MAX, INT64_MAX, INT64_MIN, INT64_C(1) << 61, UINT32_MAX};
	int64_t		word = words[random_below(lengthof(words))];
	size_t		at = (size_t) random_below((int) state->size);
	size_t		left = state->size - at;

	switch (random_below(6))
	{
		case 0:
			state->data[at] ^= (char) (1 << random_below(8));
			break;
		case 1:
			state->data[at] = (char) random_below(256);
			break;
		case 2:
			at &= ~(size_t) 7;
			left = state->size - at;
			memcpy(state->data + at, &word, left < sizeof(word) ? left : sizeof(word));
			break;
		case 3:
			at &= ~(size_t) 3;
			left = state->size - at;
			memcpy(state->data + at, &word, left < 4 ? left : 4);
			break;
		case 4:
			if (at < other->size)
				memcpy(state->data + at, other->data + at, left < other->size - at ? left : other->size - at);
			break;
		default:
			memmove(state->data, state->data + (random_below(2) == 0 ? 0 : 1), state->size - 1);
			state->size -= (size_t) random_below(2) * left;
	}
}

/* Whatever can be done with a state: written and read again, added to itself and to others, finished. */
static void
use(pe_accumulator *a, const bytes *other)
{
	bytes		written = state_of(a);
	pe_accumulator again;

	assert_int_equal(pe_accumulator_read(&again, written.data, written.size), PE_COMBINED);
	(void) pe_accumulator_combine(&again, other->data, other->size);
	pe_accumulator_free(&again);
	if (pe_accumulator_combine(a, written.data, written.size) == PE_COMBINED)
	{
		bytes		result;

		add(a, random_below(100));
		result = result_of(a);
		pe_free(result.data);
	}
	pe_free(written.data);
}

static void
test_mutated(void **unused)
{
	bytes		original[KINDS];
	int			read = 0;

	(void) unused;
	pe_test_seed(2);
	for (kind k = 0; k < KINDS; k++)
		original[k] = state_with_rows(k, 0, 12);
	for (int i = 0; i < cases(1000000); i++)
	{
		const bytes *from = &original[i % KINDS];
		bytes		state = new_bytes(from->size);
		char	   *exact;
		pe_accumulator a;

		memcpy(state.data, from->data, from->size);
		for (int n = random_below(3); n >= 0 && state.size > 0; n--)
			mutate(&state, &original[random_below(KINDS)]);
		exact = pe_alloc(state.size, 1);
		memcpy(exact, state.data, state.size);
		if (pe_accumulator_read(&a, exact, state.size) == PE_COMBINED)
		{
			read++;
			if (is_small(&a))
				use(&a, from);
			pe_accumulator_free(&a);
		}
		pe_free(exact);
		pe_free(state.data);
	}
	assert_in_range(read, cases(1000000) / 50, cases(1000000) * 9 / 10);	/* both outcomes are tried */
	for (kind k = 0; k < KINDS; k++)
		pe_free(original[k].data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_whole_units),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_distinct),
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_sizes_of_units),
		cmocka_unit_test(test_unsound_numbers),
		cmocka_unit_test(test_unsound_keys),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_keys_of_units),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_other_cuts),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

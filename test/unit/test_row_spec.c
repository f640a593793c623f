/*
 * test_row_spec.c
 *	  Specifications of rows: as bytes and back, bytes that nobody wrote, and
 *	  coefficients on the scale of the values.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glm/pass.h"
#include "glm/row_spec.h"
#include "numbers.h"
#include "shim.h"

#define MOST_FEATURES 6
#define MOST_LEVELS 4

static double
random_real(double lower, double upper)
{
	return lower + (upper - lower) * random_below(1000001) / 1e6;
}

static bool
coin(void)
{
	return random_below(2) == 1;
}

#define cases(count) fewer(count, 50)

/* ---- a random specification ---- */

/* Numbers 1, 2, ... as the points of an attribute, whatever its key is. */
static pe_point *
points_of(pe_key key, int count)
{
	static const char *const names[] = {"", "b", "ab", "a\0c", "\xff"};
	pe_point   *point = calloc((size_t) count, sizeof(*point));

	for (int i = 0; i < count; i++)
	{
		if (key == PE_KEY_INT)
			point[i].i = i + 1;
		else if (key == PE_KEY_FLOAT)
			point[i].f = i + 1;
		else
		{
			point[i].b.data = names[i];
			point[i].b.size = i == 3 ? 3 : (uint32_t) strlen(names[i]);
		}
	}
	return point;
}

static pe_attribute
random_levels(int count)
{
	static const pe_key keys[] = {PE_KEY_INT, PE_KEY_FLOAT, PE_KEY_BYTES};
	pe_attribute attribute = {.key = keys[random_below(3)], .kind = PE_LEVELS, .points = count};

	attribute.outside = coin() ? PE_OUTSIDE_OTHER : PE_OUTSIDE_DROP;
	attribute.nulls = coin() ? PE_NULLS_CELL : PE_NULLS_DROP;
	attribute.point = points_of(attribute.key, count);
	assert_int_equal(pe_attribute_prepare(&attribute), PE_DOMAIN_OK);
	return attribute;
}

static pe_feature
random_number(void)
{
	pe_feature	feature = {.number = true, .lower = random_real(-100, 100), .null = coin()};

	feature.upper = feature.lower + random_real(0.1, 50);
	feature.clamp = coin();
	feature.other = !feature.clamp && coin();
	return feature;
}

/* A leaf of the predicate: a random truth for each cell. */
static pe_predicate_leaf
random_leaf(int attribute, int32_t cells)
{
	pe_predicate_leaf leaf = {.attribute = attribute, .cells = cells, .truth = pe_alloc((size_t) cells, 1)};

	for (int32_t c = 0; c < cells; c++)
		leaf.truth[c] = (uint8_t) random_below(3);
	return leaf;
}

/* Of one or two watched attributes: a, or a AND NOT b. */
static void
add_predicate(pe_row_spec *spec)
{
	static const int32_t steps[2][4] = {{0}, {0, 1, PE_STEP_NOT, PE_STEP_AND}};
	int			leaves = 1 + random_below(2);

	spec->watched.watched = leaves;
	for (int a = 0; a < leaves; a++)
		spec->watched.attribute[a] = random_levels(2 + random_below(MOST_LEVELS - 1));
	assert_int_equal(pe_domain_prepare(&spec->watched), PE_DOMAIN_OK);
	spec->predicate.leaf = pe_alloc((size_t) leaves, sizeof(*spec->predicate.leaf));
	for (int a = 0; a < leaves; a++)
		spec->predicate.leaf[a] = random_leaf(a, pe_attribute_cells(&spec->watched.attribute[a]));
	spec->predicate.leaves = leaves;
	spec->predicate.steps = leaves == 1 ? 1 : 4;
	spec->predicate.step = pe_alloc(4, sizeof(int32_t));
	memcpy(spec->predicate.step, steps[leaves - 1], sizeof(steps[0]));
}

static void
add_label(pe_row_spec *spec)
{
	spec->classes = coin();
	if (spec->classes)
		spec->label = random_levels(2);
	else
	{
		spec->label_lower = random_real(-10, 10);
		spec->label_upper = spec->label_lower + random_real(0.5, 5);
		spec->label_clamp = coin();
	}
}

/* Made as a caller makes one; free it with free_made. */
static void
make_random(pe_row_spec *spec)
{
	pe_feature_map *map = &spec->map;

	memset(spec, 0, sizeof(*spec));
	map->features = 1 + random_below(MOST_FEATURES);
	map->feature = pe_alloc((size_t) map->features, sizeof(*map->feature));
	spec->levels = pe_alloc((size_t) map->features, sizeof(*spec->levels));
	map->intercept = coin();
	map->max_norm = random_below(4) == 0 ? random_real(0.1, 2) : 0;
	for (int32_t f = 0; f < map->features; f++)
	{
		if (coin())
			map->feature[f] = random_number();
		else
		{
			spec->levels[f] = random_levels(1 + random_below(MOST_LEVELS));
			map->feature[f] = (pe_feature) {
				.levels = pe_attribute_ordered_cells(&spec->levels[f]),
				.other = spec->levels[f].outside == PE_OUTSIDE_OTHER, .null = spec->levels[f].nulls == PE_NULLS_CELL
			};
		}
	}
	assert_true(pe_feature_map_prepare(map));
	add_label(spec);
	if (coin())
		add_predicate(spec);
	else
		assert_int_equal(pe_domain_prepare(&spec->watched), PE_DOMAIN_OK);
}

static void
free_attribute(pe_attribute *attribute)
{
	free(attribute->point);
	pe_free(attribute->lookup);
}

static void
free_made(pe_row_spec *spec)
{
	for (int32_t f = 0; f < spec->map.features; f++)
		free_attribute(&spec->levels[f]);
	free_attribute(&spec->label);
	for (int a = 0; a < spec->watched.watched; a++)
		free_attribute(&spec->watched.attribute[a]);
	pe_predicate_free(&spec->predicate);
	pe_feature_map_free(&spec->map);
	pe_free(spec->map.feature);
	pe_free(spec->levels);
}

/* ---- bytes ---- */

/* Memory of exactly this size, so that a byte read behind it is noticed. */
static char *
copy_of(const char *bytes, size_t size)
{
	char	   *copy = malloc(size > 0 ? size : 1);

	memcpy(copy, bytes, size);
	return copy;
}

static char *
written(const pe_row_spec *spec, size_t *size)
{
	char	   *bytes;

	*size = pe_row_spec_size(spec);
	bytes = malloc(*size);
	memset(bytes, 0xa5, *size);
	pe_row_spec_write(spec, bytes);
	return bytes;
}

/* A gradient pass at random weights, behind the specification. */
static char *
with_pass(const pe_row_spec *spec, const char *bytes, size_t size, size_t *all)
{
	int32_t		v[MOST_FEATURES * (MOST_LEVELS + 3) + 1];
	pe_pass		pass = {
		.kind = PE_PASS_GRADIENT, .loss = spec->classes ? PE_LOSS_LOGISTIC : PE_LOSS_SQUARED,
		.weights = {.scale = 10, .v = v}, .norm = PE_L2, .clip = (pe_u128) 1 << 50
	};
	char	   *longer;

	for (int32_t j = 0; j < spec->map.shape.columns; j++)
		v[j] = random_below(20001) - 10000;
	*all = size + pe_pass_size(&pass, &spec->map.shape);
	longer = malloc(*all);
	memcpy(longer, bytes, size);
	pe_pass_write(&pass, &spec->map.shape, longer + size);
	return longer;
}

static void
test_round_trip(void **state)
{
	(void) state;
	for (int i = 0; i < cases(3000); i++)
	{
		pe_row_spec spec;
		pe_row_spec read;
		size_t		size;
		size_t		all;
		size_t		rest;
		const char *end;
		char	   *bytes;
		char	   *again;

		make_random(&spec);
		again = written(&spec, &size);
		bytes = with_pass(&spec, again, size, &all);
		assert_true(pe_row_spec_read(&read, bytes, all, &end, &rest));
		assert_ptr_equal(end, bytes + size);
		assert_int_equal(rest, all - size);
		assert_int_equal(pe_row_spec_values(&read), pe_row_spec_values(&spec));
		assert_int_equal(pe_row_spec_terms(&read), pe_row_spec_terms(&spec));
		assert_memory_equal(&read.map.radius_sq, &spec.map.radius_sq, sizeof(pe_u128));
		assert_int_equal(pe_row_spec_size(&read), size);
		free(again);
		again = written(&read, &rest);
		assert_memory_equal(again, bytes, size);
		pe_row_spec_free(&read);
		free(again);
		free(bytes);
		free_made(&spec);
	}
}

/* A random row of the values that a specification was read for, as model_reader.c takes it; false if it is dropped. */
static bool
random_row(const pe_row_spec *spec, pe_row *row)
{
	pe_feature_value value[PE_MAX_COLUMNS];
	int32_t		cell[PE_MAX_ATTRIBUTES];

	for (int32_t f = 0; f < spec->map.features; f++)
	{
		const pe_feature *feature = &spec->map.feature[f];

		value[f] = (pe_feature_value) {.null = random_below(8) == 0};
		if (feature->number)
			value[f].number = feature->lower + (feature->upper - feature->lower) * random_real(-0.2, 1.2);
		else
			value[f].cell = random_below(pe_attribute_cells(&spec->levels[f]) + 1) - 1;
	}
	for (int a = 0; a < spec->watched.attributes + spec->watched.watched; a++)
		cell[a] = random_below(pe_attribute_cells(&spec->watched.attribute[a]));
	row->label = spec->classes ? pe_row_spec_label_of_cell(random_below(2))
		: pe_row_spec_label_of_number(spec, random_real(-10, 10));
	return (spec->predicate.steps == 0 || pe_predicate_selects(&spec->predicate, cell)) &&
		pe_feature_encode(&spec->map, value, row) && row->label != PE_NO_LABEL;
}

/* Uses what was read from bytes as an accumulator does: rows, the pass over them, coefficients. */
static void
use(const pe_row_spec *spec, const char *bytes, size_t size)
{
	const pe_row_shape *shape = &spec->map.shape;
	char	   *aligned = copy_of(bytes, size);
	pe_row		row = {.dense = calloc((size_t) shape->dense + 1, sizeof(int16_t)), .cell = calloc((size_t) shape->groups + 1, sizeof(uint16_t))};
	double	   *w = calloc((size_t) shape->columns, sizeof(*w));
	double	   *coefficient = calloc((size_t) pe_row_spec_terms(spec), sizeof(*coefficient));
	pe_pass		pass;
	pe_rows		rows;

	bool		sound = pe_pass_read(&pass, shape, aligned, size);
	bool		units = sound && pass.unit_clip;

	pe_rows_init(&rows, shape, units);
	for (int i = 0; i < 20; i++)
		if (random_row(spec, &row))
			pe_rows_add(&rows, &row, units ? (const uint64_t[2]) {(uint64_t) i / 3, 1} : NULL);
	if (sound)
	{
		pe_i128    *sums = calloc(pe_pass_sums(&pass, shape), sizeof(*sums));

		pe_pass_run(&pass, &rows, sums);
		free(sums);
	}
	pe_row_spec_coefficients(spec, w, coefficient);
	pe_rows_free(&rows);
	free(row.dense);
	free(row.cell);
	free(w);
	free(coefficient);
	free(aligned);
}

/* Bytes that may have been altered: refused, or exactly what would be written of what was read, and of use. */
static bool
read_any(const char *bytes, size_t size)
{
	char	   *copy = copy_of(bytes, size);
	const char *end;
	size_t		rest;
	size_t		length;
	pe_row_spec spec;
	bool		sound = pe_row_spec_read(&spec, copy, size, &end, &rest);

	if (sound)
	{
		char	   *again = written(&spec, &length);

		assert_int_equal(length + rest, size);
		assert_memory_equal(again, bytes, length);
		free(again);
		use(&spec, end, rest);
		pe_row_spec_free(&spec);
	}
	free(copy);
	return sound;
}

static void
test_truncated(void **state)
{
	(void) state;
	for (int i = 0; i < cases(100); i++)
	{
		pe_row_spec spec;
		size_t		size;
		size_t		all;
		char	   *bytes;
		char	   *longer;

		make_random(&spec);
		bytes = written(&spec, &size);
		longer = with_pass(&spec, bytes, size, &all);
		for (size_t length = 0; length < all; length++)
			assert_int_equal(read_any(longer, length), length >= size);
		free(bytes);
		free(longer);
		free_made(&spec);
	}
}

static void
test_altered(void **state)
{
	static const unsigned char change[] = {0x01, 0x80, 0xff, 0x10};
	int			refused = 0;
	int			accepted = 0;

	(void) state;
	for (int i = 0; i < cases(100); i++)
	{
		pe_row_spec spec;
		size_t		size;
		size_t		all;
		char	   *bytes;
		char	   *longer;

		make_random(&spec);
		bytes = written(&spec, &size);
		longer = with_pass(&spec, bytes, size, &all);
		for (size_t at = 0; at < all; at++)
			for (size_t c = 0; c < sizeof(change); c++)
			{
				longer[at] = (char) (longer[at] ^ change[c]);
				if (read_any(longer, all))
					accepted++;
				else
					refused++;
				longer[at] = (char) (longer[at] ^ change[c]);
			}
		free(bytes);
		free(longer);
		free_made(&spec);
	}
	/* numbers may be others, lengths and flags may not */
	assert_true(accepted > 0);
	assert_true(refused > 0);
}

/* The altered field of a header and of a feature is refused by itself. */
static void
test_fields(void **state)
{
	pe_feature	feature = {.number = true, .lower = -1, .upper = 1};
	pe_row_spec spec = {.map = {.features = 1, .feature = &feature, .intercept = true}, .label_lower = 0, .label_upper = 1};
	static const struct
	{
		size_t		at;
		unsigned char byte[8];
		size_t		size;
	}			wrong[] = {
		{0, {0}, 1},			/* magic */
		{4, {0xff, 0xff, 0xff, 0xff}, 4},	/* features */
		{4, {0xd1, 0x07, 0, 0}, 4},	/* 2001 of them */
		{8, {2}, 1}, {9, {2}, 1}, {10, {2}, 1},	/* flags */
		{11, {1}, 1}, {15, {1}, 1},	/* nothing there */
		{16, {0, 0, 0, 0, 0, 0, 0xf0, 0xbf}, 8},	/* max_norm -1 */
		{16, {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 8},	/* infinite */
		{24, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, 8},	/* label_lower NaN */
		{24, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 8},	/* as large as label_upper */
		{32, {0, 0, 0, 0, 0, 0, 0xf0, 0x7f}, 8},	/* label_upper infinite */
		{40, {2}, 1}, {41, {2}, 1}, {42, {2}, 1}, {43, {2}, 1},	/* flags of the feature */
		{48, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}, 8},	/* lower as large as upper */
		{56, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, 8},	/* upper NaN */
	};
	size_t		size;
	char	   *bytes;

	(void) state;
	assert_true(pe_feature_map_prepare(&spec.map));
	assert_int_equal(pe_domain_prepare(&spec.watched), PE_DOMAIN_OK);
	bytes = written(&spec, &size);
	assert_true(read_any(bytes, size));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		char	   *altered = copy_of(bytes, size);

		memcpy(altered + wrong[i].at, wrong[i].byte, wrong[i].size);
		if (read_any(altered, size))
			fail_msg("field %zu at byte %zu is accepted", i, wrong[i].at);
		free(altered);
	}
	free(bytes);
	pe_feature_map_free(&spec.map);
}

/* A pass of any kind with a number that makes no sense is refused. */
static void
test_pass_fields(void **state)
{
	int32_t		cells[1] = {3};
	pe_row_shape shape = {.dense = 2, .groups = 1, .cells = cells, .columns = 5};
	int32_t		v[5] = {1, 2, 3, 4, 5};

	(void) state;
	for (int kind = PE_PASS_GRADIENT; kind <= PE_PASS_PRECISE; kind++)
	{
		const pe_pass sound = {
			.kind = (pe_pass_kind) kind, .weights = {.scale = 3, .v = v}, .direction = {.scale = 3, .v = v},
			.norm = PE_L2, .clip = 1000, .candidates = 1
		};
		pe_pass		wrong[] = {sound, sound, sound, sound, sound, sound, sound};
		pe_pass		read;
		size_t		size = pe_pass_size(&sound, &shape);
		char	   *bytes = malloc(size);

		wrong[1].residual_bits = -1;
		wrong[2].residual_bits = INT32_MIN + 3;
		wrong[3].residual_bits = 1000;
		wrong[4].loss = (pe_loss) 4;
		wrong[5].norm = (pe_norm) 2;
		wrong[6].norm = (pe_norm) -1;
		for (int i = 0; i < 7; i++)
		{
			pe_pass_write(&wrong[i], &shape, bytes);
			assert_int_equal(pe_pass_read(&read, &shape, bytes, size), i == 0);
		}
		free(bytes);
	}
}

/* ---- coefficients ---- */

/* What the coefficients say of a row of values; the row's cells are those it was encoded to. */
static double
predicted(const pe_row_spec *spec, const double *coefficient, const pe_feature_value *value, const pe_row *row)
{
	double		sum = coefficient[0];
	int32_t		term = 1;

	for (int32_t f = 0; f < spec->map.features; f++)
	{
		const pe_feature *feature = &spec->map.feature[f];
		int32_t		group = spec->map.group[f];

		if (feature->number)
		{
			/* a row without the number has the middle of its bounds */
			double		number = value[f].number;

			if (group >= 0 && row->cell[group] != PE_NO_GROUP_CELL)
				number = feature->lower / 2 + feature->upper / 2;
			sum += coefficient[term++] * fmin(fmax(number, feature->lower), feature->upper);
		}
		if (group < 0)
			continue;
		if (row->cell[group] != PE_NO_GROUP_CELL)
			sum += coefficient[term + row->cell[group]];
		term += spec->map.shape.cells[group];
	}
	assert_int_equal(term, pe_row_spec_terms(spec));
	return sum;
}

static double
margin_of(const pe_row_shape *shape, const double *w, const pe_row *row)
{
	double		margin = 0;
	int32_t		column = shape->dense;

	for (int32_t j = 0; j < shape->dense; j++)
		margin += w[j] * row->dense[j] / PE_ONE;
	for (int32_t g = 0; g < shape->groups; g++)
	{
		if (row->cell[g] != PE_NO_GROUP_CELL)
			margin += w[column + row->cell[g]];
		column += shape->cells[g];
	}
	return margin;
}

/* On random rows: the model's margin, on the scale of the label. */
static void
test_coefficients(void **state)
{
	int			compared = 0;

	(void) state;
	for (int i = 0; i < cases(3000); i++)
	{
		pe_row_spec spec;
		pe_feature_value value[MOST_FEATURES];
		double		w[MOST_FEATURES * (MOST_LEVELS + 3) + 1];
		double		coefficient[MOST_FEATURES * (MOST_LEVELS + 3) + 2];
		int16_t		dense[MOST_FEATURES + 1];
		uint16_t	cell[MOST_FEATURES + 1];
		pe_row		row = {.dense = dense, .cell = cell};

		make_random(&spec);
		pe_feature_map_free(&spec.map);
		spec.map.max_norm = 0;	/* a shortened row has no such coefficients */
		assert_true(pe_feature_map_prepare(&spec.map));
		for (int32_t j = 0; j < spec.map.shape.columns; j++)
			w[j] = random_real(-3, 3);
		pe_row_spec_coefficients(&spec, w, coefficient);
		for (int r = 0; r < 10; r++)
		{
			double		half = spec.classes ? 1 : (spec.label_upper - spec.label_lower) / 2;
			double		middle = spec.classes ? 0 : (spec.label_upper + spec.label_lower) / 2;
			double		want;

			for (int32_t f = 0; f < spec.map.features; f++)
			{
				const pe_feature *feature = &spec.map.feature[f];

				value[f] = (pe_feature_value) {.null = random_below(8) == 0};
				if (feature->number)
					value[f].number = feature->lower + (feature->upper - feature->lower) * random_real(-0.2, 1.2);
				else
					value[f].cell = random_below(feature->levels + feature->other);
			}
			if (!pe_feature_encode(&spec.map, value, &row))
				continue;
			compared++;
			want = middle + half * margin_of(&spec.map.shape, w, &row);
			/* a place in the bounds is off by less than 1 / PE_ONE */
			if (!(fabs(predicted(&spec, coefficient, value, &row) - want) <= half * 3 * MOST_FEATURES / PE_ONE + 1e-9))
				fail_msg("predicted %.9g, and the margin says %.9g", predicted(&spec, coefficient, value, &row), want);
		}
		free_made(&spec);
	}
	assert_true(compared > 0);
}

/* Weights that differ by random multiples of a few vectors: the coefficients do so by the differences that these make. */
static void
test_stderr(void **state)
{
	(void) state;
	for (int i = 0; i < cases(1000); i++)
	{
		enum {most = MOST_FEATURES * (MOST_LEVELS + 3) + 2, vectors = 3};
		double		zero[most] = {0};
		double		vector[vectors][most];
		double		covariance[most * most] = {0};
		double		at_zero[most];
		double		at_vector[vectors][most];
		double		deviation[most];
		pe_row_spec spec;
		int32_t		columns;

		make_random(&spec);
		columns = spec.map.shape.columns;
		pe_row_spec_coefficients(&spec, zero, at_zero);
		for (int v = 0; v < vectors; v++)
		{
			for (int32_t j = 0; j < columns; j++)
				vector[v][j] = random_real(-3, 3);
			for (int32_t j = 0; j < columns * columns; j++)
				covariance[j] += vector[v][j / columns] * vector[v][j % columns];
			pe_row_spec_coefficients(&spec, vector[v], at_vector[v]);
		}
		pe_row_spec_stderr(&spec, covariance, deviation);
		for (int32_t term = 0; term < pe_row_spec_terms(&spec); term++)
		{
			double		want = sqrt(pow(at_vector[0][term] - at_zero[term], 2) + pow(at_vector[1][term] - at_zero[term], 2) +
								   pow(at_vector[2][term] - at_zero[term], 2));

			if (!(fabs(deviation[term] - want) <= 1e-6 * (want + 1 + fabs(at_zero[term]))))
				fail_msg("term %d: %.9g, and by differences %.9g", term, deviation[term], want);
		}
		pe_row_spec_stderr(&spec, NULL, deviation);
		for (int32_t term = 0; term < pe_row_spec_terms(&spec); term++)
			assert_true(isnan(deviation[term]));
		free_made(&spec);
	}
}

/* By hand: 2 + 3 v - 0.5 w with v in [0, 10] and w in [100, 300], y in [-50, 50], and levels 7 and -9, which are -1 + 8 and -1 - 8. */
static void
test_by_hand(void **state)
{
	pe_feature	feature[] = {{.number = true, .lower = 0, .upper = 10}, {.levels = 2}, {.number = true, .lower = 100, .upper = 300}};
	pe_row_spec spec = {.map = {.features = 3, .feature = feature, .intercept = true}, .label_lower = -50, .label_upper = 50};
	double		w[5];
	double		coefficient[5];

	(void) state;
	assert_true(pe_feature_map_prepare(&spec.map));
	assert_int_equal(pe_row_spec_terms(&spec), 5);
	w[pe_feature_column(&spec.map, 0, -1)] = 3 * 5 / 50.0;
	w[pe_feature_column(&spec.map, 2, -1)] = -0.5 * 100 / 50.0;
	w[pe_feature_column(&spec.map, 1, 0)] = 7 / 50.0;
	w[pe_feature_column(&spec.map, 1, 1)] = -9 / 50.0;
	w[pe_feature_intercept(&spec.map)] = (2 + 3 * 5 - 0.5 * 200) / 50;
	pe_row_spec_coefficients(&spec, w, coefficient);
	assert_true(fabs(coefficient[0] - 1) < 1e-12);
	assert_true(fabs(coefficient[1] - 3) < 1e-12);
	assert_true(fabs(coefficient[2] - 8) < 1e-12);
	assert_true(fabs(coefficient[3] + 8) < 1e-12);
	assert_true(fabs(coefficient[4] + 0.5) < 1e-12);
	pe_feature_map_free(&spec.map);
}

/* ---- labels ---- */

static void
test_labels(void **state)
{
	pe_row_spec spec = {.label_lower = 0, .label_upper = 10};

	(void) state;
	assert_int_equal(pe_row_spec_label_of_cell(0), 0);
	assert_int_equal(pe_row_spec_label_of_cell(1), 1);
	assert_int_equal(pe_row_spec_label_of_cell(2), PE_NO_LABEL);
	assert_int_equal(pe_row_spec_label_of_cell(PE_DROPPED), PE_NO_LABEL);
	assert_int_equal(pe_row_spec_label_of_number(&spec, 0), -PE_ONE);
	assert_int_equal(pe_row_spec_label_of_number(&spec, 5), 0);
	assert_int_equal(pe_row_spec_label_of_number(&spec, 10), PE_ONE);
	assert_int_equal(pe_row_spec_label_of_number(&spec, nextafter(10, 11)), PE_NO_LABEL);
	assert_int_equal(pe_row_spec_label_of_number(&spec, -INFINITY), PE_NO_LABEL);
	assert_int_equal(pe_row_spec_label_of_number(&spec, NAN), PE_NO_LABEL);
	spec.label_clamp = true;
	assert_int_equal(pe_row_spec_label_of_number(&spec, INFINITY), PE_ONE);
	assert_int_equal(pe_row_spec_label_of_number(&spec, -1), -PE_ONE);
	assert_int_equal(pe_row_spec_label_of_number(&spec, NAN), PE_NO_LABEL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_truncated), cmocka_unit_test(test_altered),
		cmocka_unit_test(test_fields), cmocka_unit_test(test_pass_fields),
		cmocka_unit_test(test_coefficients), cmocka_unit_test(test_stderr), cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_labels)
	};

	pe_test_seed(20261121);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

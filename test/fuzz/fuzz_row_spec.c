/*
 * fuzz_row_spec.c
 *	  Any bytes as a specification of rows with a pass behind it, as the accumulator
 *	  reads them.
 *
 * They are refused, or they are exactly what is written of what was read; rows of
 * every kind of value can then be encoded, within the declared radius, and the pass
 * runs over them: with every instruction set to the same sums, which are within the
 * clip or the cap.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "glm/pass.h"
#include "glm/row_spec.h"

/* Rows that the pass is run over, and the most sums that are looked at. */
#define ROWS 70
#define MOST_SUMS 20000

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

/* ---- what was read is what is written ---- */

static void
check_spec(const pe_row_spec *spec, const char *bytes, size_t size)
{
	char	   *written = pe_alloc(size + 1, 1);

	demand(pe_row_spec_size(spec) == size, "the size of what was read");
	pe_row_spec_write(spec, written);
	demand(memcmp(written, bytes, size) == 0, "what was read is not what is written");
	pe_free(written);
}

static void
check_coefficients(const pe_row_spec *spec)
{
	double	   *w = pe_alloc((size_t) spec->map.shape.columns, sizeof(*w));
	double	   *coefficient = pe_alloc((size_t) pe_row_spec_terms(spec), sizeof(*coefficient));

	pe_row_spec_coefficients(spec, w, coefficient);
	pe_free(w);
	pe_free(coefficient);
}

/* ---- rows ---- */

static pe_feature_value
value_of(const pe_row_spec *spec, int32_t f, int number)
{
	const pe_feature *feature = &spec->map.feature[f];
	const double values[] = {feature->lower, feature->upper, feature->lower / 2 + feature->upper / 2, INFINITY, -INFINITY, NAN};
	pe_feature_value value = {.null = (number + f) % 7 == 0};

	if (feature->number)
		value.number = values[(number + f) % 6];
	else
		value.cell = (number * 3 + f) % (pe_attribute_cells(&spec->levels[f]) + 1) - 1;
	return value;
}

static bool
selects(const pe_row_spec *spec, int number)
{
	int32_t		cell[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < spec->watched.attributes + spec->watched.watched; a++)
		cell[a] = (number + a) % pe_attribute_cells(&spec->watched.attribute[a]);
	return spec->predicate.steps == 0 || pe_predicate_selects(&spec->predicate, cell);
}

static void
check_row(const pe_feature_map *map, const pe_row *row)
{
	pe_u128		length_sq = 0;

	for (int32_t j = 0; j < map->shape.dense; j++)
		length_sq += (pe_u128) ((int64_t) row->dense[j] * row->dense[j]);
	for (int32_t g = 0; g < map->shape.groups; g++)
	{
		demand(row->cell[g] == PE_NO_GROUP_CELL || row->cell[g] < map->shape.cells[g], "a cell that does not exist");
		if (row->cell[g] != PE_NO_GROUP_CELL)
			length_sq += (pe_u128) ((int64_t) row->unit * row->unit);
	}
	demand(length_sq <= map->radius_sq, "a row is longer than the declared radius");
}

static void
add_rows(const pe_row_spec *spec, pe_rows *rows)
{
	const pe_feature_map *map = &spec->map;
	pe_feature_value *value = pe_alloc((size_t) map->features + 1, sizeof(*value));
	pe_row		row = {
		.dense = pe_alloc((size_t) map->shape.dense + 1, sizeof(int16_t)),
		.cell = pe_alloc((size_t) map->shape.groups + 1, sizeof(uint16_t))
	};

	for (int number = 0; number < ROWS; number++)
	{
		for (int32_t f = 0; f < map->features; f++)
			value[f] = value_of(spec, f, number);
		row.label = spec->classes ? pe_row_spec_label_of_cell(number % 3 - 1)
			: pe_row_spec_label_of_number(spec, spec->label_lower + (spec->label_upper - spec->label_lower) * (number % 5) / 4);
		if (!selects(spec, number) || !pe_feature_encode(map, value, &row) || row.label == PE_NO_LABEL)
			continue;
		check_row(map, &row);
		pe_rows_add(rows, &row, rows->with_units ? (const uint64_t[2]) {(uint64_t) number / 3, 1} : NULL);
	}
	pe_free(value);
	pe_free(row.dense);
	pe_free(row.cell);
}

/* ---- the pass ---- */

/* What leaves under noise is within what its sensitivity was computed from. */
static void
check_sums(const pe_pass *pass, const pe_i128 *sums, size_t count, size_t rows)
{
	for (size_t i = 0; i < count; i++)
	{
		if (pass->kind == PE_PASS_GRADIENT)
		{
			pe_u128		size = (pe_u128) (sums[i] < 0 ? -sums[i] : sums[i]);

			demand(pass->norm == PE_L1 ? size <= rows * pass->clip : size / (rows + 1) <= UINT32_MAX &&
				   (size / (rows + 1)) * (size / (rows + 1)) <= pass->clip, "a gradient beyond the clip");
		}
		else if ((pass->kind == PE_PASS_LOSSES || pass->kind == PE_PASS_COORDINATES) && pass->cap > 0)
			demand(sums[i] >= 0 && sums[i] <= (pe_i128) rows * pass->cap, "a loss beyond the cap");
		/* there are no more units than rows */
		if (pass->unit_clip && (pass->kind == PE_PASS_LOSSES || pass->kind == PE_PASS_COORDINATES))
			demand(sums[i] >= 0 && (pe_u128) sums[i] <= rows * pass->clip, "a score beyond the clip");
	}
}

static void
check_pass(const pe_pass *pass, pe_rows *rows)
{
	size_t		count = pe_pass_sums(pass, &rows->shape);
	pe_i128    *plain = pe_alloc(count, sizeof(*plain));
	pe_i128    *sums = pe_alloc(count, sizeof(*sums));

	pe_pass_run_with(PE_KERNEL_PLAIN, pass, rows, plain);
	check_sums(pass, plain, count, rows->rows);
	for (pe_kernel kernel = 0; pass->sample == 0 && kernel < PE_KERNELS; kernel++)
	{
		if (!pe_kernel_available(kernel))
			continue;
		memset(sums, 0, count * sizeof(*sums));
		pe_pass_run_with(kernel, pass, rows, sums);
		demand(memcmp(sums, plain, count * sizeof(*sums)) == 0, "another sum with another instruction set");
	}
	pe_free(plain);
	pe_free(sums);
}

/* Written and read again it is the same; the bytes that were read may differ where the format leaves some unused. */
static void
check_written(const pe_pass *pass, const pe_row_shape *shape, size_t size)
{
	char	   *written = pe_alloc(size, 1);
	char	   *again = pe_alloc(size, 1);
	pe_pass		read;

	demand(pe_pass_size(pass, shape) == size, "the size of the pass that was read");
	pe_pass_write(pass, shape, written);
	demand(pe_pass_read(&read, shape, written, size), "a pass that was written is refused");
	pe_pass_write(&read, shape, again);
	demand(memcmp(written, again, size) == 0, "the pass that was read is not what is written");
	pe_free(written);
	pe_free(again);
}

static void
run_pass(const pe_row_spec *spec, const char *bytes, size_t size)
{
	const pe_row_shape *shape = &spec->map.shape;
	char	   *aligned = pe_alloc(size + 1, 1);
	pe_rows		rows;
	pe_pass		pass;
	bool		sound;

	memcpy(aligned, bytes, size);
	sound = pe_pass_read(&pass, shape, aligned, size) && pe_pass_sums(&pass, shape) <= MOST_SUMS &&
		(pass.loss == PE_LOSS_SQUARED) == !spec->classes;
	pe_rows_init(&rows, shape, sound && pass.unit_clip);
	add_rows(spec, &rows);
	if (sound)
	{
		check_written(&pass, shape, size);
		check_pass(&pass, &rows);
	}
	pe_rows_free(&rows);
	pe_free(aligned);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *) data;
	const char *end;
	size_t		rest;
	pe_row_spec spec;

	if (!pe_row_spec_read(&spec, bytes, size, &end, &rest))
		return 0;
	check_spec(&spec, bytes, size - rest);
	check_coefficients(&spec);
	run_pass(&spec, end, rest);
	pe_row_spec_free(&spec);
	return 0;
}

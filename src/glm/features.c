/*
 * features.c
 *	  From the values of a row to its integers.  See features.h.
 *
 * Lengths.  A feature fills its dense column with at most PE_ONE in absolute value,
 * or one cell with PE_ONE, never both; so a row has at most features + intercept
 * entries that are not 0, and
 *
 *	  |x|_2^2 <= (features + intercept) PE_ONE^2 = N PE_ONE^2,   |x|_1 <= N PE_ONE.
 *
 * A row with |x|_2^2 = S above the bound B of max_norm is multiplied by t / 2^30,
 * t = floor(sqrt(floor(B 2^60 / S))), and each entry is truncated toward zero: no
 * entry is then more than t / 2^30 times what it was, and (t / 2^30)^2 S <= B.
 * |x|_1 <= sqrt(N |x|_2^2) <= sqrt(N B).
 */
#include "glm/features.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* Bits behind the point of the factor by which a row is shortened. */
#define SHORTEN_BITS 30

uint64_t
pe_integer_root(uint64_t n)
{
	uint64_t	root = (uint64_t) sqrt((double) n);

	while (root * root > n)
		root--;
	while ((root + 1) * (root + 1) <= n)
		root++;
	return root;
}

/* ------------------------------------------------------------------
 * The declaration
 * ------------------------------------------------------------------
 */

static bool
is_sound(const pe_feature *feature)
{
	if (!feature->number)
		return feature->levels >= 0 && feature->levels <= PE_MAX_COLUMNS;
	return isfinite(feature->lower) && isfinite(feature->upper) && feature->lower < feature->upper &&
		!(feature->clamp && feature->other);
}

/* Cells of its group: indicators, of levels too. */
static int32_t
cells_of(const pe_feature *feature)
{
	return (feature->number ? 0 : feature->levels) + (feature->other ? 1 : 0) + (feature->null ? 1 : 0);
}

/* Sets the shape's numbers, without memory; false for a declaration that makes no sense. */
static bool
count_columns(pe_feature_map *map)
{
	pe_row_shape *shape = &map->shape;
	int64_t		columns = map->intercept ? 1 : 0;

	if (map->features < 0 || map->features > PE_MAX_COLUMNS)
		return false;
	shape->dense = (int32_t) columns;
	shape->groups = 0;
	for (int32_t i = 0; i < map->features; i++)
	{
		const pe_feature *feature = &map->feature[i];

		if (!is_sound(feature) || (!feature->number && cells_of(feature) == 0))
			return false;
		shape->dense += feature->number ? 1 : 0;
		shape->groups += cells_of(feature) > 0 ? 1 : 0;
		columns += (feature->number ? 1 : 0) + cells_of(feature);
	}
	shape->columns = (int32_t) columns;
	return columns >= 1 && columns <= PE_MAX_COLUMNS;
}

/* False for a norm that is no number, negative, or so small that nothing but zeros is left. */
static bool
set_radii(pe_feature_map *map)
{
	uint64_t	entries = (uint64_t) map->features + (map->intercept ? 1 : 0);
	uint64_t	all = entries * PE_ONE * PE_ONE;

	map->radius_sq = all;
	map->radius_1 = (int64_t) (entries * PE_ONE);
	if (!(map->max_norm >= 0.0))
		return false;
	if (map->max_norm > 0.0)
	{
		double		bound = floor(map->max_norm * PE_ONE * (map->max_norm * PE_ONE));

		if (bound < 1.0)
			return false;
		if (bound < (double) all)
		{
			map->radius_sq = (uint64_t) bound;
			map->radius_1 = (int64_t) pe_integer_root(entries * (uint64_t) bound);
		}
	}
	return true;
}

/* 0 where the bounds are so far apart, or so close together, that place() goes another way. */
static double
factor_of(double lower, double upper)
{
	double		width = upper - lower;

	return width > 1e-290 && width < 1e290 ? 2 * PE_ONE / width : 0;
}

bool
pe_feature_map_prepare(pe_feature_map *map)
{
	int32_t		dense = 0;
	int32_t		group = 0;

	if (!count_columns(map) || !set_radii(map))
		return false;
	map->shape.cells = pe_alloc((size_t) map->shape.groups, sizeof(*map->shape.cells));
	map->column = pe_alloc((size_t) map->features, sizeof(*map->column));
	map->group = pe_alloc((size_t) map->features, sizeof(*map->group));
	map->factor = pe_alloc((size_t) map->features, sizeof(*map->factor));
	for (int32_t i = 0; i < map->features; i++)
	{
		int32_t		cells = cells_of(&map->feature[i]);

		map->column[i] = map->feature[i].number ? dense++ : -1;
		map->group[i] = cells > 0 ? group : -1;
		map->factor[i] = map->feature[i].number ? factor_of(map->feature[i].lower, map->feature[i].upper) : 0;
		if (cells > 0)
			map->shape.cells[group++] = cells;
	}
	return true;
}

void
pe_feature_map_free(pe_feature_map *map)
{
	pe_free(map->shape.cells);
	pe_free(map->column);
	pe_free(map->group);
	pe_free(map->factor);
	map->shape.cells = map->column = map->group = NULL;
	map->factor = NULL;
}

int32_t
pe_feature_column(const pe_feature_map *map, int32_t feature, int32_t cell)
{
	int32_t		column = map->shape.dense + cell;

	if (feature < 0 || feature >= map->features)
		pe_bug("no such feature");
	if (cell == -1 && map->feature[feature].number)
		return map->column[feature];
	if (cell < 0 || cell >= cells_of(&map->feature[feature]))
		pe_bug("no such cell of a feature");
	for (int32_t g = 0; g < map->group[feature]; g++)
		column += map->shape.cells[g];
	return column;
}

int32_t
pe_feature_intercept(const pe_feature_map *map)
{
	return map->intercept ? map->shape.dense - 1 : -1;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

/*
 * ((v - l) - (u - v)) / (u - l): both differences are in [0, u - l] after rounding,
 * because rounding is monotone, so the quotient is in [-1, 1]; u - l is not 0, since
 * differences underflow gradually.  Where u - l overflows all three are made smaller.
 */
static int16_t
place_extreme(double value, double lower, double upper)
{
	if (isinf(upper - lower))
	{
		value /= 4.0;
		lower /= 4.0;
		upper /= 4.0;
	}
	return (int16_t) (((value - lower) - (upper - value)) / (upper - lower) * PE_ONE);
}

/*
 * The place of a value between the bounds; the rounding errors of factor are
 * far below 1 and are cut off with the rest.
 */
static int16_t
place(double value, double lower, double upper, double factor)
{
	double		x = ((value - lower) - (upper - value)) * 0.5 * factor;

	if (factor == 0)
		return place_extreme(value, lower, upper);
	x = x < -PE_ONE ? -PE_ONE : x;
	x = x > PE_ONE ? PE_ONE : x;
	return (int16_t) x;
}

int16_t
pe_feature_scale(double value, double lower, double upper)
{
	value = value < lower ? lower : value;
	value = value > upper ? upper : value;
	return place(value, lower, upper, factor_of(lower, upper));
}

/* A cell of the indicators of a number, or false where the declaration drops the row. */
static bool
indicate(bool declared, int32_t at, uint16_t *cell)
{
	if (declared)
		*cell = (uint16_t) at;
	return declared;
}

static bool
encode_number(const pe_feature *feature, double factor, const pe_feature_value *value, int16_t *dense, uint16_t *cell)
{
	double		number = value->number;

	*dense = 0;
	if (value->null || isnan(number))
		return indicate(feature->null, feature->other ? 1 : 0, cell);
	if (number < feature->lower || number > feature->upper)
	{
		if (!feature->clamp)
			return indicate(feature->other, 0, cell);
		number = number < feature->lower ? feature->lower : feature->upper;
	}
	*dense = place(number, feature->lower, feature->upper, factor);
	return true;
}

/* The cell of NULL is the last one. */
static bool
encode_level(const pe_feature *feature, const pe_feature_value *value, uint16_t *cell)
{
	if (value->null)
		return indicate(feature->null, cells_of(feature) - 1, cell);
	return indicate(value->cell >= 0 && value->cell < cells_of(feature), value->cell, cell);
}

static uint64_t
length_sq(const pe_row_shape *shape, const pe_row *row)
{
	uint64_t	sum = 0;

	for (int32_t j = 0; j < shape->dense; j++)
		sum += (uint64_t) ((int32_t) row->dense[j] * row->dense[j]);
	for (int32_t g = 0; g < shape->groups; g++)
		if (row->cell[g] != PE_NO_GROUP_CELL)
			sum += (uint64_t) ((int32_t) row->unit * row->unit);
	return sum;
}

/* floor(|x| t / 2^30) with the sign of x */
static int16_t
times(int16_t x, uint64_t t)
{
	int16_t		size = (int16_t) ((uint64_t) (x < 0 ? -x : x) * t >> SHORTEN_BITS);

	return x < 0 ? (int16_t) -size : size;
}

static void
shorten(const pe_feature_map *map, pe_row *row)
{
	uint64_t	length = length_sq(&map->shape, row);
	uint64_t	t;

	if (length <= map->radius_sq)
		return;
	t = pe_integer_root((uint64_t) ((map->radius_sq << (2 * SHORTEN_BITS)) / length));
	for (int32_t j = 0; j < map->shape.dense; j++)
		row->dense[j] = times(row->dense[j], t);
	row->unit = times(row->unit, t);
}

bool
pe_feature_encode(const pe_feature_map *map, const pe_feature_value *value, pe_row *row)
{
	row->unit = PE_ONE;
	for (int32_t i = 0; i < map->features; i++)
	{
		const pe_feature *feature = &map->feature[i];
		uint16_t	cell = PE_NO_GROUP_CELL;

		if (!(feature->number ? encode_number(feature, map->factor[i], &value[i], &row->dense[map->column[i]], &cell)
			  : encode_level(feature, &value[i], &cell)))
			return false;
		if (map->group[i] >= 0)
			row->cell[map->group[i]] = cell;
	}
	if (map->intercept)
		row->dense[map->shape.dense - 1] = PE_ONE;
	if (map->max_norm > 0.0)
		shorten(map, row);
	return true;
}

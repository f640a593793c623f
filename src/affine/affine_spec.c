/*
 * affine_spec.c
 *	  Specifications and rows as bytes.  See affine.h.
 */
#include "affine/affine.h"

#include <math.h>
#include <string.h>

/* No unit of a max_change that a double can be is further from 0. */
#define UNIT_MOST 1200

/* ------------------------------------------------------------------
 * Specifications
 * ------------------------------------------------------------------
 */

static bool
slope_is_sound(const pe_slope_spec *slope)
{
	return isfinite(slope->lower) && isfinite(slope->upper) && slope->lower <= slope->upper;
}

/* All but the slopes. */
static bool
numbers_are_sound(const pe_affine_spec *spec)
{
	return spec->variables >= 1 && spec->variables <= PE_AFFINE_VARIABLES &&
		spec->unit >= -UNIT_MOST && spec->unit <= UNIT_MOST && spec->most >= 1 && spec->most < INT32_MAX;
}

/* Reads one from the start of more bytes. */
static bool
read_start(pe_affine_spec *spec, const char *bytes, size_t size)
{
	memset(spec, 0, sizeof(*spec));
	if (size < PE_AFFINE_SPEC_SIZE(0))
		return false;
	memcpy(spec, bytes, PE_AFFINE_SPEC_SIZE(0));
	if (!numbers_are_sound(spec) || size < PE_AFFINE_SPEC_SIZE(spec->variables))
		return false;
	memcpy(spec, bytes, PE_AFFINE_SPEC_SIZE(spec->variables));
	for (int32_t j = 0; j < spec->variables; j++)
		if (!slope_is_sound(&spec->slope[j]))
			return false;
	return true;
}

bool
pe_affine_spec_read(pe_affine_spec *spec, const char *bytes, size_t size)
{
	return read_start(spec, bytes, size) && size == PE_AFFINE_SPEC_SIZE(spec->variables);
}

/* ------------------------------------------------------------------
 * Rows: the specification, how many there are, all slopes, all offsets
 * ------------------------------------------------------------------
 */

void
pe_affine_spec_add(const pe_affine_spec *spec, pe_affine *rows, const double *slope, pe_i128 offset)
{
	if (rows->rows <= spec->most)
		pe_affine_add(rows, slope, offset);
}

static size_t
slopes_size(const pe_affine_spec *spec, uint64_t rows)
{
	return rows * (size_t) spec->variables * sizeof(double);
}

static size_t
size_of(const pe_affine_spec *spec, uint64_t rows)
{
	return PE_AFFINE_SPEC_SIZE(spec->variables) + sizeof(rows) + slopes_size(spec, rows) + rows * sizeof(pe_i128);
}

size_t
pe_affine_rows_size(const pe_affine_spec *spec, const pe_affine *rows)
{
	return size_of(spec, (uint64_t) rows->rows);
}

void
pe_affine_rows_write(const pe_affine_spec *spec, const pe_affine *rows, char *bytes)
{
	uint64_t	count = (uint64_t) rows->rows;

	memcpy(bytes, spec, PE_AFFINE_SPEC_SIZE(spec->variables));
	bytes += PE_AFFINE_SPEC_SIZE(spec->variables);
	memcpy(bytes, &count, sizeof(count));
	bytes += sizeof(count);
	if (count == 0)
		return;
	memcpy(bytes, rows->slope, slopes_size(spec, count));
	memcpy(bytes + slopes_size(spec, count), rows->offset, count * sizeof(pe_i128));
}

/* How many rows there are, where pe_affine_rows_spec has found a number. */
static uint64_t
count_of(const pe_affine_spec *spec, const char *bytes)
{
	uint64_t	count;

	memcpy(&count, bytes + PE_AFFINE_SPEC_SIZE(spec->variables), sizeof(count));
	return count;
}

/* A worker keeps at most one row more than most. */
bool
pe_affine_rows_spec(pe_affine_spec *spec, const char *bytes, size_t size)
{
	uint64_t	count;

	if (!read_start(spec, bytes, size) || size < size_of(spec, 0))
		return false;
	count = count_of(spec, bytes);
	return count <= (uint64_t) spec->most + 1 && size == size_of(spec, count);
}

static bool
are_sound(const pe_affine_spec *spec, const char *slopes, const char *offsets, uint64_t count)
{
	double		slope;
	pe_i128		offset;

	for (uint64_t i = 0; i < count * (uint64_t) spec->variables; i++)
	{
		memcpy(&slope, slopes + i * sizeof(slope), sizeof(slope));
		if (!isfinite(slope))
			return false;
	}
	for (uint64_t i = 0; i < count; i++)
	{
		memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset));
		if (offset < -PE_OFFSET_MOST || offset > PE_OFFSET_MOST)
			return false;
	}
	return true;
}

bool
pe_affine_rows_read(const pe_affine_spec *spec, pe_affine *rows, const char *bytes, size_t size)
{
	pe_affine_spec own;
	const char *slopes = bytes + size_of(spec, 0);
	const char *offsets;
	double		slope[PE_AFFINE_VARIABLES];
	pe_i128		offset = 0;
	uint64_t	count;

	if (!pe_affine_rows_spec(&own, bytes, size) || memcmp(&own, spec, sizeof(own)) != 0)
		return false;
	count = count_of(spec, bytes);
	offsets = slopes + slopes_size(spec, count);
	if (!are_sound(spec, slopes, offsets, count))
		return false;
	for (uint64_t i = 0; i < count; i++)
	{
		memcpy(slope, slopes + slopes_size(spec, i), slopes_size(spec, 1));
		memcpy(&offset, offsets + i * sizeof(offset), sizeof(offset));
		pe_affine_spec_add(spec, rows, slope, offset);
	}
	pe_wipe(&offset, sizeof(offset));
	return true;
}

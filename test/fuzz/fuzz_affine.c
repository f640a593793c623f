/*
 * fuzz_affine.c
 *	  Any bytes as what the accumulator of slopes is told, and as the rows that a worker hands over.
 *
 * They are refused, and nothing is appended, or they are exactly what is written of what
 * was read.  Rows that were read can be appended to others, never more than are wanted,
 * and put on a lattice: its integers are within what it promises, and the private part
 * of a score moves it by no more than the offsets say.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "affine/affine_lattice.h"
#include "affine/affine.h"
#include "../unit/lattice_scores.h"
#include "shim.h"

/* Rows of a lattice that is looked at. */
#define MOST_ROWS 500

/* What the allocator rounds up to. */
#define SLACK 65536

/* What a lattice promises: bits of a row over the box, and of what it has without a point. */
#define ROW_BITS 59
#define BASE_BITS 102

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

/* ---- what was read is what is written ---- */

static void
check_spec(const char *bytes, size_t size)
{
	pe_affine_spec spec;

	if (!pe_affine_spec_read(&spec, bytes, size))
		return;
	demand(size == PE_AFFINE_SPEC_SIZE(spec.variables), "the size of a specification");
	demand(memcmp(&spec, bytes, size) == 0, "what was read is not what is written");
}

static void
check_written(const pe_affine_spec *spec, const pe_affine *rows, const char *bytes, size_t size)
{
	char	   *written = pe_alloc(size, 1);

	demand(pe_affine_rows_size(spec, rows) == size, "the size of what was read");
	pe_affine_rows_write(spec, rows, written);
	demand(memcmp(written, bytes, size) == 0, "what was read is not what is written");
	pe_free(written);
}

/* ---- on a lattice ---- */

static pe_u128
magnitude(pe_i128 number)
{
	return number < 0 ? -(pe_u128) number : (pe_u128) number;
}

static void
check_integers(const pe_affine_lattice *lattice)
{
	for (int32_t i = 0; i < lattice->rows; i++)
	{
		pe_u128		sum = 0;

		for (int32_t j = 0; j < lattice->variables; j++)
			sum += magnitude(lattice->slope[(size_t) i * (size_t) lattice->variables + (size_t) j]);
		demand(sum < (pe_u128) 1 << (ROW_BITS - PE_LATTICE_BITS), "the slopes of a row");
		demand(magnitude(lattice->base[i]) + magnitude(lattice->offset[i]) < (pe_u128) 1 << BASE_BITS, "what a row has without a point");
	}
}

static void
check_scores(const pe_affine_lattice *lattice)
{
	int64_t		at[PE_AFFINE_VARIABLES];
	double		x[PE_AFFINE_VARIABLES];
	pe_i128		largest = lattice->rows > 0 ? lattice->offset[0] : 0;
	pe_i128		least = largest;
	pe_i128		moved;

	for (int32_t i = 1; i < lattice->rows; i++)
	{
		largest = lattice->offset[i] > largest ? lattice->offset[i] : largest;
		least = lattice->offset[i] < least ? lattice->offset[i] : least;
	}
	for (int corner = 0; corner < 3; corner++)
	{
		for (int32_t j = 0; j < lattice->variables; j++)
			at[j] = corner == 0 ? 0 : (corner == 1 ? 1 : 1 + j % 2) * (((int64_t) 1 << (PE_LATTICE_BITS - 1)) - 1);
		pe_lattice_point(lattice, at, x);
		for (int32_t j = 0; j < lattice->variables; j++)
			demand(x[j] >= lattice->origin[j] && x[j] <= lattice->end[j], "a point outside of the box");
		demand(pe_lattice_inside(lattice, at), "a point outside of no inequalities");
		moved = lattice_score(lattice, at) - lattice_public_score(lattice, at);
		demand(moved >= least && moved <= largest, "a score moved by more than an offset");
	}
}

/* Over a box of these ends, if there is a change that has the unit of the rows. */
static void
check_lattice(const pe_affine *rows, double end)
{
	double		lower[PE_AFFINE_VARIABLES];
	double		upper[PE_AFFINE_VARIABLES];
	double		change = ldexp(0.75, rows->unit + 40);
	pe_polytope set = {.variables = rows->variables, .lower = lower, .upper = upper};
	pe_affine_lattice lattice;

	if (!isnormal(change))
		return;
	demand(pe_affine_unit(change) == rows->unit, "the unit of a change");
	for (int32_t j = 0; j < rows->variables; j++)
	{
		lower[j] = -end;
		upper[j] = j % 3 == 2 ? -end : end;
	}
	pe_affine_lattice_init(&lattice, rows, &set, lower, upper, change);
	check_integers(&lattice);
	check_scores(&lattice);
	pe_affine_lattice_free(&lattice);
}

/* ---- the rows ---- */

static bool
read_rows(const pe_affine_spec *spec, pe_affine *rows, const char *bytes, size_t size)
{
	int32_t		before = rows->rows;
	bool		sound = pe_affine_rows_read(spec, rows, bytes, size);

	demand(sound || rows->rows == before, "rows were appended that were refused");
	demand(rows->rows <= spec->most + 1, "more rows than are wanted");
	return sound;
}

static void
check_appended(const pe_affine_spec *spec, pe_affine *rows, const char *bytes, size_t size)
{
	int64_t		twice = 2 * (int64_t) rows->rows;

	demand(read_rows(spec, rows, bytes, size), "rows that were read once are refused");
	demand(rows->rows == (twice <= spec->most + 1 ? twice : spec->most + 1), "the number of rows of two states");
}

static void
check_rows(const pe_affine_spec *spec, const char *bytes, size_t size)
{
	pe_affine	rows;

	pe_affine_init(&rows, spec->variables, spec->unit);
	if (read_rows(spec, &rows, bytes, size))
	{
		check_written(spec, &rows, bytes, size);
		check_appended(spec, &rows, bytes, size);
		if (rows.rows <= MOST_ROWS)
		{
			check_lattice(&rows, 1);
			check_lattice(&rows, 1e300);
		}
	}
	pe_affine_free(&rows);
}

static void
check_memory(const pe_affine_spec *spec, const char *bytes, size_t size)
{
	pe_affine	rows;
	size_t		allowed;

	(void) pe_test_memory();
	pe_affine_init(&rows, spec->variables, spec->unit);
	(void) read_rows(spec, &rows, bytes, size);
	allowed = pe_affine_memory(spec->variables, (size_t) rows.rows) + SLACK;
	pe_affine_free(&rows);
	demand(pe_test_memory() <= allowed, "more memory than rows are said to take");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *) data;
	pe_affine_spec spec;

	check_spec(bytes, size);
	if (!pe_affine_rows_spec(&spec, bytes, size))
		return 0;
	check_memory(&spec, bytes, size);
	check_rows(&spec, bytes, size);
	return 0;
}

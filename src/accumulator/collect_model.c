/*
 * collect_model.c
 *	  Accumulators of rows of a model: the sums of a pass, and the rows themselves.
 *	  See accumulator.h.
 *
 * Where units may have several rows they are collected, cut when all are there, and
 * only then summed; otherwise a pass holds a few blocks at a time.  Sums are integers,
 * so order and workers do not matter.
 */
#include <string.h>

#include "accumulator/kinds.h"

/* Rows that a pass collects before it is run over them. */
#define PASS_ROWS (8 * PE_BLOCK_ROWS)

/* No sum over a table is larger: entries of a row are below 2^64, and no table has 2^56 rows. */
#define SUM_MOST ((pe_i128) 1 << 120)

static void
begin_sums(pe_accumulator *a)
{
	a->sums = pe_pass_sums(&a->pass, &a->model.map.shape);
	a->sum = pe_alloc(a->sums, sizeof(*a->sum));
}

/*
 * Runs the pass over the rows collected so far, and forgets them; then over as
 * many as were dropped, for the time it takes.
 */
static void
sum_up(pe_accumulator *a)
{
	pe_pass_run(&a->pass, &a->rows, a->sum);
	pe_rows_clear(&a->rows);
	pe_pass_idle(&a->pass, &a->model.map.shape, a->dropped);
	a->dropped = 0;
}

/* ------------------------------------------------------------------
 * Sums of a pass: 128-bit integers
 * ------------------------------------------------------------------
 */

static size_t
sums_size(const pe_accumulator *a)
{
	return a->sums * sizeof(*a->sum);
}

static void
write_sums(const pe_accumulator *a, char *bytes)
{
	memcpy(bytes, a->sum, sums_size(a));
}

static bool
is_sum(pe_i128 number)
{
	return number >= -SUM_MOST && number <= SUM_MOST;
}

static pe_combined
combine_sums(pe_accumulator *a, const char *bytes, size_t size)
{
	if (size != sums_size(a))
		return PE_STATE_UNSOUND;
	for (size_t i = 0; i < a->sums; i++)
	{
		pe_i128		sum;

		memcpy(&sum, bytes + i * sizeof(sum), sizeof(sum));
		if (!is_sum(sum))
			return PE_STATE_UNSOUND;
		a->sum[i] += sum;
		if (!is_sum(a->sum[i]))
			return PE_STATE_OVERFLOW;
	}
	return PE_COMBINED;
}

static const pe_accumulator_kind sums = {sum_up, sums_size, write_sums, combine_sums, pe_accumulator_as_it_is};

/* ------------------------------------------------------------------
 * Rows: how many were dropped, then those that were not (glm/row_tiles.h)
 * ------------------------------------------------------------------
 */

static size_t
rows_size(const pe_accumulator *a)
{
	return sizeof(a->dropped) + pe_rows_size(&a->rows);
}

static void
write_rows(const pe_accumulator *a, char *bytes)
{
	memcpy(bytes, &a->dropped, sizeof(a->dropped));
	pe_rows_write(&a->rows, bytes + sizeof(a->dropped));
}

bool
pe_rows_result_read(pe_rows *rows, uint64_t *dropped, const char *bytes, size_t size)
{
	if (size < sizeof(*dropped))
		return false;
	memcpy(dropped, bytes, sizeof(*dropped));
	return *dropped <= PE_DROPPED_MOST && pe_rows_read(rows, bytes + sizeof(*dropped), size - sizeof(*dropped));
}

static pe_combined
combine_rows(pe_accumulator *a, const char *bytes, size_t size)
{
	uint64_t	dropped;

	if (!pe_rows_result_read(&a->rows, &dropped, bytes, size))
		return PE_STATE_UNSOUND;
	a->dropped += dropped;
	return a->dropped <= PE_DROPPED_MOST ? PE_COMBINED : PE_STATE_OVERFLOW;
}

/* Cuts, and runs the pass if there is one. */
static void
cut_rows(pe_accumulator *a)
{
	if (a->has_cut)
		pe_rows_cut(&a->rows, &a->keys, a->cut.max_rows);
	if (a->pass_bytes == NULL)
		return;
	begin_sums(a);
	a->kind = &sums;
}

static const pe_accumulator_kind rows = {pe_accumulator_as_it_is, rows_size, write_rows, combine_rows, cut_rows};

/* ------------------------------------------------------------------
 * Both
 * ------------------------------------------------------------------
 */

/* The pass, if there is one; a copy, which is aligned. */
static bool
read_pass(pe_accumulator *a, const char *bytes, size_t size)
{
	if (size == 0)
		return true;
	a->pass_bytes = pe_alloc(size, 1);
	memcpy(a->pass_bytes, bytes, size);
	return pe_pass_read(&a->pass, &a->model.map.shape, a->pass_bytes, size);
}

bool
pe_model_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	const char *pass;
	size_t		rest;
	bool		has_sums;

	if (!pe_row_spec_read(&a->model, bytes, size, &pass, &rest) || !read_pass(a, pass, rest) ||
		(a->pass.unit_clip && !a->has_cut))
		return false;
	pe_rows_init(&a->rows, &a->model.map.shape, a->has_cut);
	pe_rows_init(&a->spare, &a->model.map.shape, a->has_cut);
	has_sums = a->pass_bytes != NULL && !a->has_cut;
	if (has_sums)
		begin_sums(a);
	a->kind = has_sums ? &sums : &rows;
	return true;
}

void
pe_model_end(pe_accumulator *a)
{
	pe_rows_free(&a->rows);
	pe_rows_free(&a->spare);
	if (a->sum != NULL)
		pe_wipe(a->sum, sums_size(a));
	pe_free(a->sum);
	pe_free(a->pass_bytes);
	pe_row_spec_free(&a->model);
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

/* Nothing, written down like a row: of a range of units that is not read now, or where no unit has several rows. */
static void
skip(pe_accumulator *a, pe_row *row, const uint64_t *unit)
{
	const pe_row_shape *shape = &a->model.map.shape;

	memset(row->dense, 0, (size_t) shape->dense * sizeof(int16_t));
	memset(row->cell, 0, (size_t) shape->groups * sizeof(uint16_t));
	row->unit = row->label = 0;
	if (a->spare.rows == PE_BLOCK_ROWS)
		pe_rows_clear(&a->spare);
	pe_rows_add(&a->spare, row, unit);
	a->dropped++;
}

/* A row that is dropped, where units are cut, stays to the end like one that counts. */
void
pe_accumulator_add_row(pe_accumulator *a, pe_row *row, const uint64_t *unit, bool counts)
{
	bool		in_range = unit == NULL || pe_unit_in_range(&a->cut, unit);

	if (counts && in_range)
		pe_rows_add(&a->rows, row, unit);
	else if (unit != NULL && in_range)
		pe_rows_add_nothing(&a->rows, unit);
	else
		skip(a, row, unit);
	if (a->kind == &sums && a->rows.rows + a->dropped >= PASS_ROWS)
		sum_up(a);
}

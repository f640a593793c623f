/*
 * collect_slopes.c
 *	  Accumulators of rows of a piecewise affine function.  See accumulator.h.
 */
#include "accumulator/kinds.h"

static size_t
affine_size(const pe_accumulator *a)
{
	return pe_affine_rows_size(&a->affine_spec, &a->affine);
}

static void
write_affine(const pe_accumulator *a, char *bytes)
{
	pe_affine_rows_write(&a->affine_spec, &a->affine, bytes);
}

static pe_combined
combine_affine(pe_accumulator *a, const char *bytes, size_t size)
{
	return pe_affine_rows_read(&a->affine_spec, &a->affine, bytes, size) ? PE_COMBINED : PE_STATE_UNSOUND;
}

static const pe_accumulator_kind affine = {
	pe_accumulator_as_it_is, affine_size, write_affine, combine_affine, pe_accumulator_as_it_is
};

bool
pe_affine_begin(pe_accumulator *a, const char *bytes, size_t size)
{
	if (a->has_cut || !pe_affine_spec_read(&a->affine_spec, bytes, size))
		return false;
	pe_affine_init(&a->affine, a->affine_spec.variables, a->affine_spec.unit);
	a->kind = &affine;
	return true;
}

void
pe_affine_end(pe_accumulator *a)
{
	pe_affine_free(&a->affine);
}

void
pe_accumulator_add_affine(pe_accumulator *a, const double *slope, pe_i128 offset)
{
	pe_affine_spec_add(&a->affine_spec, &a->affine, slope, offset);
}

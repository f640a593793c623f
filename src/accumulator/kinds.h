/*
 * kinds.h
 *	  The kinds of accumulators, as a table of operations: for this room alone.
 *
 * How a row is added differs by what a row is: accumulator.h.
 */
#ifndef PE_ACCUMULATOR_KINDS_H
#define PE_ACCUMULATOR_KINDS_H

#include "accumulator/accumulator.h"

/* No count and no number of rows of a table is larger: two of them add up to an int64. */
#define PE_COUNT_MOST (INT64_C(1) << 61)

/* No table has more rows: 2^32 blocks of 291.  They take their time in the end, so that a state may not claim more. */
#define PE_DROPPED_MOST (UINT64_C(1) << 41)

struct pe_accumulator_kind
{
	/* The body as bytes.  settle comes before, and may sort or sum up. */
	void		(*settle) (pe_accumulator *a);
	size_t		(*size) (const pe_accumulator *a);
	void		(*write) (const pe_accumulator *a, char *bytes);

	/* Adds a body, and checks every number of it. */
	pe_combined (*combine) (pe_accumulator *a, const char *bytes, size_t size);

	/* Does what is left; then the body, maybe of another kind, is the result. */
	void		(*finish) (pe_accumulator *a);
};

/*
 * Each reads what its reading defines and chooses the kind; false if that is
 * unsound, and pe_accumulator_free takes what is allocated.
 */
extern bool pe_cells_begin(pe_accumulator *a, const char *bytes, size_t size);	/* and tables, and sizes */
extern bool pe_model_begin(pe_accumulator *a, const char *bytes, size_t size);
extern bool pe_affine_begin(pe_accumulator *a, const char *bytes, size_t size);
extern bool pe_keys_begin(pe_accumulator *a, const char *bytes, size_t size);
extern bool pe_key_names_begin(pe_accumulator *a, const char *bytes, size_t size);
extern bool pe_key_sums_begin(pe_accumulator *a, const char *bytes, size_t size);
extern bool pe_values_begin(pe_accumulator *a, const char *bytes, size_t size);
extern bool pe_key_values_begin(pe_accumulator *a, const char *bytes, size_t size);

/* Each wipes and frees what belongs to its reading, as far as it was begun; tables: of several, and of sums. */
extern void pe_cells_end(pe_accumulator *a);
extern void pe_tables_end(pe_accumulator *a);
extern void pe_model_end(pe_accumulator *a);
extern void pe_affine_end(pe_accumulator *a);
extern void pe_keys_end(pe_accumulator *a);
extern void pe_key_sums_end(pe_accumulator *a);

/* What kinds with rows of units have in common until they are cut: collect_cells.c. */
extern void pe_collected_units_settle(pe_accumulator *a);
extern size_t pe_collected_units_size(const pe_accumulator *a);
extern void pe_collected_units_write(const pe_accumulator *a, char *bytes);
extern pe_combined pe_collected_units_combine(pe_accumulator *a, const char *bytes, size_t size);

/* Room for gathered rows. */
extern void pe_gathered_begin(pe_accumulator *a);

/* Nothing to settle, nothing left to do. */
extern void pe_accumulator_as_it_is(pe_accumulator *a);

#endif

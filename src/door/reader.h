/*
 * reader.h
 *	  The cell of a row, for the accumulators that read rows.
 *
 * An accumulator is told a selection, a domain and maybe a predicate over it
 * (domain/predicate.h), and gets the values of the domain's attributes as
 * arguments.  The predicate looks at cell numbers and at nothing else, so no row
 * can make it fail, and every row is read whatever it says.
 */
#ifndef PE_DOOR_READER_H
#define PE_DOOR_READER_H

#include "fmgr.h"

#include "domain/predicate.h"
#include "server/values.h"

typedef struct pe_reader
{
	int			first;			/* the argument that is the first attribute */
	pe_domain	domain;
	pe_predicate predicate;		/* without steps: none */
	Oid			type[PE_MAX_ATTRIBUTES];	/* base types of the arguments */
} pe_reader;

/* The context of the aggregate `name`; 0A000 where it is none, or a window function. */
extern MemoryContext pe_reader_context(FunctionCallInfo fcinfo, const char *name);

/*
 * A state is wiped when its result is taken, and *taken remembers it.  0A000 where
 * the executor asks for the result once more, as it does of groups that it keeps
 * for a rescan.
 */
extern void pe_reader_take(bool *taken, const char *name);

/* 22P03: bytes that no worker made of a state of the aggregate `name`. */
extern void pe_reader_refuse_state(const char *name) __attribute__((noreturn));

/*
 * Room for an exact result of so many bytes, not zeroed, in the current memory context.
 * The executor copies what an aggregate returns and drops the original, so it is
 * overwritten when that context is reset.
 */
extern bytea *pe_reader_result(size_t size);

/*
 * Overwrites the bytes of a state that was taken in.  Not where there are groups: they
 * may be a sort's own, which a rescan gives out again.
 */
extern void pe_reader_spent(FunctionCallInfo fcinfo, char *bytes, size_t size);

/*
 * Reads the selection, argument 1, in the current memory context.  22004 if it
 * is null, 22P03 if it is none, 22023 and 42804 if the arguments from `first` on
 * are not what it was made for.
 */
extern void pe_reader_init(pe_reader *reader, FunctionCallInfo fcinfo, int first, const char *name);

/* The same as pe_reader_cell, with a predicate. */
extern int32 pe_reader_selected_cell(const pe_reader *reader, FunctionCallInfo fcinfo, bool *counts);

/* The cell where a coordinate is stored: 0 for PE_DROPPED, without a branch. */
static inline int32
pe_reader_placed(int32 coordinate)
{
	return coordinate & -(int32) (coordinate != PE_DROPPED);
}

/* The cell of one attribute. */
static pg_attribute_always_inline int32
pe_reader_coordinate(const pe_reader *reader, FunctionCallInfo fcinfo, int a, int first)
{
	const pe_attribute *attribute = &reader->domain.attribute[a];

	return PG_ARGISNULL(a + first)
		? pe_cell_of_null(attribute)
		: pe_cell_of_datum(attribute, reader->type[a], PG_GETARG_DATUM(a + first));
}

/*
 * The cell of a row, and whether the row counts.  One that is dropped has a cell too, with
 * 0 for each attribute that drops it, so that the caller can do for it what it does for
 * others.  Inline, and told again which argument is
 * the first attribute, because it is called once for each row.  A row that one
 * attribute drops is read on: the server counts the blocks of values that are
 * stored out of line, and would show how many rows were fetched.
 */
static pg_attribute_always_inline int32
pe_reader_cell(const pe_reader *reader, FunctionCallInfo fcinfo, int first, bool *counts)
{
	int32		cell = 0;
	bool		dropped = false;

	if (reader->predicate.steps != 0)
		return pe_reader_selected_cell(reader, fcinfo, counts);
	for (int a = 0; a < reader->domain.attributes; a++)
	{
		int32		coordinate = pe_reader_coordinate(reader, fcinfo, a, first);

		dropped |= coordinate == PE_DROPPED;
		cell += pe_reader_placed(coordinate) * reader->domain.stride[a];
	}
	*counts = !dropped;
	return cell;
}

#endif

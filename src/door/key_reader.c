/*
 * key_reader.c
 *	  The key of a row.  See reader.h.
 *
 * Every row is read and hashed, independent of its value; one that has no key, or no unit, or that the
 * predicate leaves out, is collected as one without.  The columns of the key come first, then those whose cell is
 * part of it, then those that the predicate looks at.  Behind the first may be values of sums: none
 * of them is looked at, in any row, until sums are read.
 *
 * The key of one column is its bytes.  Of more it is all of them together: the cell of the attributes, and of each
 * column its size and its bytes; it has none where one of them has none, or where they are longer than a key.
 */
#include "postgres.h"

#include "door/reader.h"
#include "door/row_values.h"
#include "server/values.h"

/* How the key of a row is found. */
struct pe_key_finder
{
	int			opens;			/* columns of the key, */
	int			beside;			/* values behind the first of them, */
	Oid			type[PE_KEY_COLUMNS];	/* and their base types */
	Oid			watched[PE_MAX_ATTRIBUTES];	/* likewise of the attributes */
	char		together[PE_KEY_MOST];	/* the key of several */
};

typedef struct key_reader
{
	pe_reader	reader;
	pe_key_finder finder;
} key_reader;

/* The argument of a column, and of an attribute behind all columns. */
static int
argument_of(const pe_key_finder *r, int column)
{
	return PE_ARG_FIRST + column + (column > 0 ? r->beside : 0);
}

/* The bytes of one column; false if it has none. */
static bool
read_column(const pe_key_finder *r, FunctionCallInfo fcinfo, int column, int64 *room, const char **bytes, uint32 *size)
{
	int			argument = argument_of(r, column);
	bool		counts = !PG_ARGISNULL(argument) &&
		pe_key_bytes(r->type[column], PG_GETARG_DATUM(argument), room, bytes, size);

	if (!counts)
	{
		*bytes = "";
		*size = 0;
	}
	return counts;
}

/* Puts bytes behind others, as far as a key has room. */
static bool
append(pe_key_finder *r, uint32 *size, const void *bytes, uint32 more)
{
	bool		fits = more <= PE_KEY_MOST - *size;

	if (fits && more > 0)
		memcpy(r->together + *size, bytes, more);
	*size += fits ? more : 0;
	return fits;
}

/* The key of several columns. */
static bool
read_together(pe_key_finder *r, FunctionCallInfo fcinfo, int32 cell, bool has_cell, uint32 *size)
{
	bool		counts = true;

	*size = 0;
	if (has_cell)
		counts &= append(r, size, &cell, sizeof(cell));
	for (int i = 0; i < r->opens; i++)
	{
		int64		room;
		const char *bytes;
		uint32		length;

		counts &= read_column(r, fcinfo, i, &room, &bytes, &length);
		counts &= append(r, size, &length, sizeof(length));
		counts &= append(r, size, bytes, length);
	}
	return counts;
}

/* Whether the predicate selects the row, and its cell; each value that it looks at is read, for any others. */
static bool
is_selected(const pe_key_finder *r, const pe_accumulator *a, FunctionCallInfo fcinfo, int32 *key_cell)
{
	const pe_domain *domain = &a->key_domain;
	int32		coordinate[PE_MAX_ATTRIBUTES];
	bool		dropped = false;

	*key_cell = 0;
	for (int i = 0; i < domain->attributes + domain->watched; i++)
	{
		int			argument = argument_of(r, r->opens + i);
		int32		cell = pe_cell_of_value(&domain->attribute[i], r->watched[i], PG_GETARG_DATUM(argument),
											PG_ARGISNULL(argument));

		dropped |= cell == PE_DROPPED;
		coordinate[i] = cell & -(int32) (cell != PE_DROPPED);
		if (i < domain->attributes)
			*key_cell += coordinate[i] * domain->stride[i];
	}
	return (a->key_predicate.steps == 0 || pe_predicate_selects(&a->key_predicate, coordinate)) & !dropped;
}

/* The bytes of a row's key, in room or elsewhere; false if it has none. */
static bool
find_bytes(pe_key_finder *r, const pe_accumulator *a, FunctionCallInfo fcinfo, int64 *room, const char **bytes,
		   uint32 *size)
{
	int32		cell;
	bool		counts = is_selected(r, a, fcinfo, &cell);

	*bytes = r->together;
	return counts & (r->opens == 1 && a->key_domain.attributes == 0 ? read_column(r, fcinfo, 0, room, bytes, size)
					 : read_together(r, fcinfo, cell, a->key_domain.attributes > 0, size));
}

int32
pe_key_finder_find(pe_key_finder *r, const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	int64		room;
	const char *bytes;
	uint32		size;
	bool		counts = find_bytes(r, a, fcinfo, &room, &bytes, &size);
	int32		place = pe_accumulator_find_key(a, bytes, size);

	return counts ? place : -1;
}

static void
read_key(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	uint64		unit[2] = {0, 0};
	int64		room;
	const char *bytes;
	uint32		size;
	bool		counts = find_bytes(&((key_reader *) reader)->finder, a, fcinfo, &room, &bytes, &size) &
		pe_reader_reads(reader, a, fcinfo);
	MemoryContext old;

	if (a->key_spec.of_units != 0)
	{
		pe_reader_unit(reader, &a->keys, fcinfo, unit);
		counts &= !PG_ARGISNULL(PE_ARG_UNIT);
	}
	old = MemoryContextSwitchTo(reader->context);
	pe_accumulator_add_key(a, unit, bytes, size, counts);
	MemoryContextSwitchTo(old);
}

static void
check_attributes(pe_key_finder *r, const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	const pe_domain *domain = &a->key_domain;

	for (int i = 0; i < domain->attributes + domain->watched; i++)
	{
		int			argument = argument_of(r, r->opens + i);
		pe_key		key;

		r->watched[i] = pe_reader_type(fcinfo, argument);
		if (!OidIsValid(r->watched[i]) || !pe_type_key(r->watched[i], &key) || key != domain->attribute[i].key ||
			pe_attribute_is_comparison(&domain->attribute[i]))
			pe_reader_refuse_type(argument - PE_ARG_FIRST);
	}
}

static void
check_columns(pe_key_finder *r, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < r->opens; i++)
	{
		pe_key		key;

		r->type[i] = pe_reader_type(fcinfo, argument_of(r, i));
		if (!OidIsValid(r->type[i]) || !pe_type_key(r->type[i], &key))
			pe_reader_refuse_type(argument_of(r, i) - PE_ARG_FIRST);
	}
}

/* The values are as many as were declared. */
static void
init_finder(pe_key_finder *r, const pe_accumulator *a, FunctionCallInfo fcinfo, int beside)
{
	r->opens = 1 + (int) a->key_spec.more;
	r->beside = beside;
	check_attributes(r, a, fcinfo);
	check_columns(r, fcinfo);
}

pe_key_finder *
pe_key_finder_make(const pe_accumulator *a, FunctionCallInfo fcinfo, int beside)
{
	pe_key_finder *r = palloc0(sizeof(*r));

	init_finder(r, a, fcinfo, beside);
	return r;
}

pe_reader *
pe_key_reader(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	key_reader *r = palloc0(sizeof(*r));
	int			beside = (int) Min(a->key_spec.beside, FUNC_MAX_ARGS);

	pe_reader_check_values(pe_reader_arguments(a, fcinfo) - PE_ARG_FIRST, pe_key_values(a) + beside);
	init_finder(&r->finder, a, fcinfo, beside);
	r->reader.read = read_key;
	return &r->reader;
}

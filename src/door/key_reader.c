/*
 * key_reader.c
 *	  The key of a row.  See reader.h.
 *
 * Every row is read and hashed, independent of its value; one that has no key, or no unit, or that the
 * predicate leaves out, is collected as one without.  The columns of the key come first, then those whose cell is
 * part of it, then those that the predicate looks at.
 *
 * The key of one column is its bytes.  Of more it is all of them together: the cell of the attributes, and of each
 * column its size and its bytes; it has none where one of them has none, or where they are longer than a key.
 */
#include "postgres.h"

#include "door/reader.h"
#include "door/row_values.h"
#include "server/values.h"

typedef struct key_reader
{
	pe_reader	reader;
	int			opens;			/* columns of the key, */
	Oid			type[PE_KEY_COLUMNS];	/* and their base types */
	Oid			watched[PE_MAX_ATTRIBUTES];	/* likewise of the attributes */
	char		together[PE_KEY_MOST];	/* the key of several */
} key_reader;

/* The bytes of one column; false if it has none. */
static bool
read_column(const key_reader *r, FunctionCallInfo fcinfo, int column, int64 *room, const char **bytes, uint32 *size)
{
	bool		counts = !PG_ARGISNULL(PE_ARG_FIRST + column) &&
		pe_key_bytes(r->type[column], PG_GETARG_DATUM(PE_ARG_FIRST + column), room, bytes, size);

	if (!counts)
	{
		*bytes = "";
		*size = 0;
	}
	return counts;
}

/* Puts bytes behind others, as far as a key has room. */
static bool
append(key_reader *r, uint32 *size, const void *bytes, uint32 more)
{
	bool		fits = more <= PE_KEY_MOST - *size;

	if (fits && more > 0)
		memcpy(r->together + *size, bytes, more);
	*size += fits ? more : 0;
	return fits;
}

/* The key of several columns. */
static bool
read_together(key_reader *r, FunctionCallInfo fcinfo, int32 cell, bool has_cell, uint32 *size)
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
is_selected(const key_reader *r, const pe_accumulator *a, FunctionCallInfo fcinfo, int32 *key_cell)
{
	int32		coordinate[PE_MAX_ATTRIBUTES];
	bool		dropped = false;

	*key_cell = 0;
	for (int i = 0; i < a->domain.attributes + a->domain.watched; i++)
	{
		int			argument = PE_ARG_FIRST + r->opens + i;
		int32		cell = pe_cell_of_value(&a->domain.attribute[i], r->watched[i], PG_GETARG_DATUM(argument),
											PG_ARGISNULL(argument));

		dropped |= cell == PE_DROPPED;
		coordinate[i] = cell & -(int32) (cell != PE_DROPPED);
		if (i < a->domain.attributes)
			*key_cell += coordinate[i] * a->domain.stride[i];
	}
	return (a->predicate.steps == 0 || pe_predicate_selects(&a->predicate, coordinate)) & !dropped;
}

static void
read_key(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	key_reader *r = (key_reader *) reader;
	uint64		unit[2] = {0, 0};
	int64		room;
	int32		cell;
	const char *bytes = r->together;
	uint32		size;
	bool		counts = is_selected(r, a, fcinfo, &cell) & pe_reader_reads(reader, a, fcinfo);
	MemoryContext old;

	counts &= r->opens == 1 && a->domain.attributes == 0 ? read_column(r, fcinfo, 0, &room, &bytes, &size)
		: read_together(r, fcinfo, cell, a->domain.attributes > 0, &size);
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
check_attributes(key_reader *r, const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < a->domain.attributes + a->domain.watched; i++)
	{
		pe_key		key;

		r->watched[i] = pe_reader_type(fcinfo, PE_ARG_FIRST + r->opens + i);
		if (!OidIsValid(r->watched[i]) || !pe_type_key(r->watched[i], &key) || key != a->domain.attribute[i].key ||
			pe_attribute_is_comparison(&a->domain.attribute[i]))
			pe_reader_refuse_type(r->opens + i);
	}
}

static void
check_columns(key_reader *r, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < r->opens; i++)
	{
		pe_key		key;

		r->type[i] = pe_reader_type(fcinfo, PE_ARG_FIRST + i);
		if (!OidIsValid(r->type[i]) || !pe_type_key(r->type[i], &key))
			pe_reader_refuse_type(i);
	}
}

pe_reader *
pe_key_reader(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	key_reader *r = palloc0(sizeof(*r));

	r->opens = 1 + (int) a->key_spec.more;
	pe_reader_check_values(pe_reader_arguments(a, fcinfo) - PE_ARG_FIRST,
						   r->opens + a->domain.attributes + a->domain.watched);
	check_attributes(r, a, fcinfo);
	check_columns(r, fcinfo);
	r->reader.read = read_key;
	return &r->reader;
}

/*
 * key_reader.c
 *	  The key of a row.  See reader.h.
 *
 * Every row is read and hashed, independent of its value; one that has no key, or no unit, or that the
 * predicate leaves out, is collected as one without.  What the predicate looks at stands behind the key.
 */
#include "postgres.h"

#include "door/reader.h"
#include "door/row_values.h"
#include "server/values.h"

typedef struct key_reader
{
	pe_reader	reader;
	Oid			type;			/* base type of the value */
	Oid			watched[PE_MAX_ATTRIBUTES];	/* and of those that the predicate looks at */
} key_reader;

/* The bytes of the row's key; false if it has none. */
static bool
read_bytes(const key_reader *r, FunctionCallInfo fcinfo, int64 *room, const char **bytes, uint32 *size)
{
	bool		counts = !PG_ARGISNULL(PE_ARG_FIRST) &&
		pe_key_bytes(r->type, PG_GETARG_DATUM(PE_ARG_FIRST), room, bytes, size);

	if (!counts)
	{
		*bytes = "";
		*size = 0;
	}
	return counts;
}

/* Whether the predicate selects the row; each value that it looks at is read, for any others. */
static bool
is_selected(const key_reader *r, const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	int32		coordinate[PE_MAX_ATTRIBUTES];
	bool		dropped = false;

	for (int i = 0; i < a->domain.watched; i++)
	{
		int			argument = PE_ARG_FIRST + 1 + i;
		int32		cell = pe_cell_of_value(&a->domain.attribute[i], r->watched[i], PG_GETARG_DATUM(argument),
											PG_ARGISNULL(argument));

		dropped |= cell == PE_DROPPED;
		coordinate[i] = cell & -(int32) (cell != PE_DROPPED);
	}
	return (a->predicate.steps == 0 || pe_predicate_selects(&a->predicate, coordinate)) & !dropped;
}

static void
read_key(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	uint64		unit[2] = {0, 0};
	int64		room;
	const char *bytes;
	uint32		size;
	bool		counts = read_bytes((key_reader *) reader, fcinfo, &room, &bytes, &size) &
		is_selected((key_reader *) reader, a, fcinfo) & pe_reader_reads(reader, a, fcinfo);
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
check_watched(key_reader *r, const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	for (int i = 0; i < a->domain.watched; i++)
	{
		pe_key		key;

		r->watched[i] = pe_reader_type(fcinfo, PE_ARG_FIRST + 1 + i);
		if (!OidIsValid(r->watched[i]) || !pe_type_key(r->watched[i], &key) || key != a->domain.attribute[i].key ||
			pe_attribute_is_comparison(&a->domain.attribute[i]))
			pe_reader_refuse_type(1 + i);
	}
}

pe_reader *
pe_key_reader(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	key_reader *r = palloc0(sizeof(*r));
	pe_key		key;

	if (a->reading == PE_READ_KEYS)
		pe_reader_check_values(pe_reader_arguments(a, fcinfo) - PE_ARG_FIRST, 1 + a->domain.watched);
	check_watched(r, a, fcinfo);
	r->type = pe_reader_type(fcinfo, PE_ARG_FIRST);
	if (!OidIsValid(r->type) || !pe_type_key(r->type, &key))
		pe_reader_refuse_type(0);
	r->reader.read = read_key;
	return &r->reader;
}

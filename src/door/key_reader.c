/*
 * key_reader.c
 *	  The key of a row.  See reader.h.
 *
 * Every row is read and hashed, independent of its value; one that has no key, or no unit, is
 * collected as one without.
 */
#include "postgres.h"

#include "door/reader.h"
#include "server/values.h"

typedef struct key_reader
{
	pe_reader	reader;
	Oid			type;			/* base type of the value */
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

static void
read_key(pe_reader *reader, pe_accumulator *a, FunctionCallInfo fcinfo)
{
	uint64		unit[2] = {0, 0};
	int64		room;
	const char *bytes;
	uint32		size;
	bool		counts = read_bytes((key_reader *) reader, fcinfo, &room, &bytes, &size) &
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

pe_reader *
pe_key_reader(const pe_accumulator *a, FunctionCallInfo fcinfo)
{
	key_reader *r = palloc0(sizeof(*r));
	pe_key		key;

	pe_reader_check_values(pe_reader_arguments(a, fcinfo) - PE_ARG_FIRST, 1);
	r->type = pe_reader_type(fcinfo, PE_ARG_FIRST);
	if (!OidIsValid(r->type) || !pe_type_key(r->type, &key))
		pe_reader_refuse_type(0);
	r->reader.read = read_key;
	return &r->reader;
}

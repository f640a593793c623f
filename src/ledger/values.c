/*
 * values.c
 *	  PostgreSQL's types as keys of a domain.  See values.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "ledger/values.h"

bool
pe_type_key(Oid type, pe_key *key)
{
	switch (getBaseType(type))
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			*key = PE_KEY_INT;
			return true;
		case FLOAT4OID:
		case FLOAT8OID:
			*key = PE_KEY_FLOAT;
			return true;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			*key = PE_KEY_BYTES;
			return true;
		default:
			return false;
	}
}

bool
pe_type_has_bins(Oid type)
{
	pe_key		key;

	return getBaseType(type) != BOOLOID && pe_type_key(type, &key) && key != PE_KEY_BYTES;
}

static int64
int_of_datum(Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
			return DatumGetBool(value);
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case DATEOID:
			return DatumGetDateADT(value);
		default:				/* bigint and timestamps are 64 bits wide */
			return DatumGetInt64(value);
	}
}

static double
float_of_datum(Oid type, Datum value)
{
	return type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
}

/* The bytes of a text value; the blanks that pad character(n) do not count. */
static void
bytes_of_datum(Oid type, Datum value, const char **data, uint32 *size)
{
	text	   *packed = DatumGetTextPP(value);

	*data = VARDATA_ANY(packed);
	*size = VARSIZE_ANY_EXHDR(packed);
	if (type == BPCHAROID)
		*size = bpchartruelen((char *) *data, *size);
}

pe_point
pe_point_of_datum(Oid type, Datum value)
{
	pe_point	point;
	pe_key		key;

	if (!pe_type_key(type, &key))
		elog(ERROR, "type %u cannot be an attribute", type);
	switch (key)
	{
		case PE_KEY_INT:
			point.i = int_of_datum(type, value);
			break;
		case PE_KEY_FLOAT:
			point.f = float_of_datum(type, value);
			break;
		case PE_KEY_BYTES:
			bytes_of_datum(type, value, &point.b.data, &point.b.size);
			break;
	}
	return point;
}

int32
pe_cell_of_datum(const pe_attribute *attribute, Oid type, Datum value)
{
	const char *data;
	uint32		size;

	switch (attribute->key)
	{
		case PE_KEY_INT:
			return pe_cell_of_int(attribute, int_of_datum(type, value));
		case PE_KEY_FLOAT:
			return pe_cell_of_float(attribute, float_of_datum(type, value));
		case PE_KEY_BYTES:
			bytes_of_datum(type, value, &data, &size);
			return pe_cell_of_bytes(attribute, data, size);
	}
	pe_bug("unknown kind of key");
}

Datum
pe_datum_of_int(Oid type, int64 value)
{
	bool		fits = true;

	switch (type)
	{
		case BOOLOID:
			return BoolGetDatum(value != 0);
		case INT2OID:
			fits = value >= PG_INT16_MIN && value <= PG_INT16_MAX;
			if (fits)
				return Int16GetDatum((int16) value);
			break;
		case INT4OID:
			fits = value >= PG_INT32_MIN && value <= PG_INT32_MAX;
			if (fits)
				return Int32GetDatum((int32) value);
			break;
		case DATEOID:
			fits = IS_VALID_DATE(value);
			if (fits)
				return DateADTGetDatum((DateADT) value);
			break;
		default:
			return Int64GetDatum(value);
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("an edge is out of the range of type %s", format_type_be(type))));
}

void
pe_append_json_value(StringInfo to, Oid type, const char *text)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
			appendStringInfoString(to, text);
			break;
		case BOOLOID:
			appendStringInfoString(to, text[0] == 't' ? "true" : "false");
			break;
		default:
			escape_json(to, text);
	}
}

/*
 * values.c
 *	  PostgreSQL's types as keys of a domain.  See values.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "server/values.h"

/*
 * The everyday kinds are known without a look at the catalog, which each row of
 * a scan would pay for.
 */
static bool
key_of_base(Oid base, pe_key *key)
{
	switch (base)
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
		case UUIDOID:
		case NUMERICOID:
			*key = PE_KEY_BYTES;
			return true;
		default:
			*key = PE_KEY_INT;
			return type_is_enum(base);
	}
}

bool
pe_type_key(Oid type, pe_key *key)
{
	return key_of_base(getBaseType(type), key);
}

bool
pe_type_is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

bool
pe_type_is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

bool
pe_type_is_number(Oid type)
{
	return pe_type_is_integer(type) || pe_type_is_float(type) || type == NUMERICOID;
}

bool
pe_type_is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

#define CATALOG_PREFIX "pg_catalog."

char *
pe_type_name(Oid type)
{
	char	   *name = format_type_be_qualified(type);

	return strncmp(name, CATALOG_PREFIX, strlen(CATALOG_PREFIX)) == 0 ? name + strlen(CATALOG_PREFIX) : name;
}

bool
pe_type_is_time(Oid base)
{
	return base == DATEOID || base == TIMESTAMPOID || base == TIMESTAMPTZOID;
}

bool
pe_type_has_bins(Oid type)
{
	Oid			base = getBaseType(type);

	return pe_type_is_number(base) || pe_type_is_time(base);
}

int64
pe_int_of_datum(Oid type, Datum value)
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
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return DatumGetInt64(value);
		default:				/* an enum's value is the OID of its label */
			return DatumGetObjectId(value);
	}
}

static double
float_of_datum(Oid type, Datum value)
{
	return type == FLOAT4OID ? DatumGetFloat4(value) : DatumGetFloat8(value);
}

/* First byte of an encoded numeric. */
enum
{
	MINUS_INFINITY, NEGATIVE, ZERO, POSITIVE, PLUS_INFINITY, NOT_A_NUMBER
};

/* Signs in the wire format of numeric (numeric_send). */
#define WIRE_NEGATIVE 0x4000
#define WIRE_NAN 0xC000
#define WIRE_PLUS_INFINITY 0xD000
#define WIRE_MINUS_INFINITY 0xF000

static uint16
wire_uint16(const char *wire)
{
	uint16		word;

	memcpy(&word, wire, sizeof(word));
	return pg_ntoh16(word);
}

static char *
put_uint16(char *to, uint16 word)
{
	word = pg_hton16(word);
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word);
}

/*
 * A numeric as bytes whose memcmp order, prefix first, is the order of numbers:
 * its class, then for a finite number its weight and its digits to base 10000,
 * which numeric keeps without zeros at either end.  Of negative numbers all of
 * it is complemented, and ends in a word above any digit's, so that the longer
 * of two comes first.  Nothing is rounded, and no value is an error.
 */
static void
encode_numeric(Datum value, const char **data, uint32 *size)
{
	bytea	   *sent = DatumGetByteaPP(DirectFunctionCall1(numeric_send, value));
	const char *wire = VARDATA_ANY(sent);
	int			digits = wire_uint16(wire);
	uint16		weight = wire_uint16(wire + 2) ^ 0x8000;
	uint16		sign = wire_uint16(wire + 4);
	uint16		flip = sign == WIRE_NEGATIVE ? 0xFFFF : 0;
	char	   *encoded = palloc(1 + (digits + 2) * sizeof(uint16));
	char	   *to = encoded;

	*to++ = sign == WIRE_NAN ? NOT_A_NUMBER
		: sign == WIRE_PLUS_INFINITY ? PLUS_INFINITY
		: sign == WIRE_MINUS_INFINITY ? MINUS_INFINITY
		: digits == 0 ? ZERO
		: sign == WIRE_NEGATIVE ? NEGATIVE : POSITIVE;
	if (digits > 0)
		to = put_uint16(to, weight ^ flip);
	for (int i = 0; i < digits; i++)
		to = put_uint16(to, (uint16) (wire_uint16(wire + 8 + 2 * i) + 1) ^ flip);
	if (flip != 0)
		to = put_uint16(to, 0xFFFF);
	*data = encoded;
	*size = to - encoded;
	pfree(sent);				/* a kilobyte, of each point of a declaration */
}

/* The bytes that stand for a value; the blanks that pad character(n) do not count. */
static void
bytes_of_datum(Oid type, Datum value, const char **data, uint32 *size)
{
	struct varlena *packed;

	if (type == NUMERICOID)
		encode_numeric(value, data, size);
	else if (type == UUIDOID)
	{
		*data = (const char *) DatumGetUUIDP(value)->data;
		*size = UUID_LEN;
	}
	else
	{
		packed = (struct varlena *) DatumGetPointer(value);
		if (VARATT_IS_EXTERNAL(packed) || VARATT_IS_COMPRESSED(packed))
			packed = PG_DETOAST_DATUM_PACKED(value);
		*data = VARDATA_ANY(packed);
		*size = VARSIZE_ANY_EXHDR(packed);
		if (type == BPCHAROID)
			*size = bpchartruelen((char *) *data, *size);
	}
}

pe_point
pe_point_of_datum(Oid type, Datum value)
{
	pe_point	point;
	pe_key		key;

	if (!key_of_base(type, &key))
		elog(ERROR, "type %u cannot be an attribute", type);
	switch (key)
	{
		case PE_KEY_INT:
			point.i = pe_int_of_datum(type, value);
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

bool
pe_type_is_unit(Oid type)
{
	pe_key		key;

	type = getBaseType(type);
	return type == BYTEAOID ||
		(type != BOOLOID && !type_is_enum(type) && pe_type_key(type, &key) && key != PE_KEY_FLOAT);
}

void
pe_unit_bytes(Oid type, Datum value, int64 *room, const char **data, uint32 *size)
{
	pe_key		key;

	if (type == BYTEAOID || (key_of_base(type, &key) && key == PE_KEY_BYTES))
		bytes_of_datum(type, value, data, size);
	else
	{
		*room = pe_int_of_datum(type, value);
		*data = (const char *) room;
		*size = sizeof(*room);
	}
}

/* Whether a value of variable length is longer than keys are, as it is stored: known without fetching it. */
static bool
exceeds_keys(Oid type, Datum value)
{
	return type != UUIDOID && toast_raw_datum_size(value) - VARHDRSZ > PE_KEY_MOST;
}

/* Without zeros behind, as 1 and 1.00 are one number. */
static void
digits_of_numeric(Datum value, const char **data, uint32 *size)
{
	char	   *digits = DatumGetCString(DirectFunctionCall1(numeric_out,
															 DirectFunctionCall1(numeric_trim_scale, value)));

	*data = digits;
	*size = strlen(digits);
}

/* -0 and 0 are one number, and so are all NaN. */
static double
number_of_values(double number)
{
	return isnan(number) ? NAN : number + 0.0;
}

bool
pe_key_bytes(Oid type, Datum value, int64 *room, const char **data, uint32 *size)
{
	return pe_value_bytes(type, value, room, data, size) && pe_datum_is_finite(type, value);
}

bool
pe_value_bytes(Oid type, Datum value, int64 *room, const char **data, uint32 *size)
{
	pe_key		key;
	double		number;

	if (!key_of_base(type, &key))
		elog(ERROR, "type %u has no keys", type);
	if (key == PE_KEY_BYTES && exceeds_keys(type, value))
		return false;
	*data = (const char *) room;
	*size = sizeof(*room);
	if (key == PE_KEY_INT)
		*room = pe_int_of_datum(type, value);
	else if (key == PE_KEY_FLOAT)
	{
		number = number_of_values(float_of_datum(type, value));
		memcpy(room, &number, sizeof(number));
	}
	else if (type == NUMERICOID)
		digits_of_numeric(value, data, size);
	else
		bytes_of_datum(type, value, data, size);
	return *size <= PE_KEY_MOST;
}

static Datum
datum_of_word(Oid type, pe_key key, const char *bytes)
{
	int64		word;
	double		number;

	if (key == PE_KEY_FLOAT)
	{
		memcpy(&number, bytes, sizeof(number));
		return type == FLOAT4OID ? Float4GetDatum((float4) number) : Float8GetDatum(number);
	}
	memcpy(&word, bytes, sizeof(word));
	return type_is_enum(type) ? ObjectIdGetDatum((Oid) word) : pe_datum_of_int(type, word);
}

Datum
pe_datum_of_key(Oid type, const char *bytes, uint32 size)
{
	pe_key		key;
	pg_uuid_t  *uuid;

	if (!key_of_base(type, &key) || (key != PE_KEY_BYTES && size != sizeof(int64)) ||
		(type == UUIDOID && size != UUID_LEN))
		elog(ERROR, "the bytes of a key are of another type");
	if (key != PE_KEY_BYTES)
		return datum_of_word(type, key, bytes);
	if (type == NUMERICOID)
		return DirectFunctionCall3(numeric_in, CStringGetDatum(pnstrdup(bytes, size)),
								   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	if (type != UUIDOID)
		return PointerGetDatum(cstring_to_text_with_len(bytes, size));
	uuid = palloc(sizeof(*uuid));
	memcpy(uuid->data, bytes, UUID_LEN);
	return UUIDPGetDatum(uuid);
}

/*
 * Whether a text is stored out of line or compressed, and longer than all levels:
 * it is none of them, and to fetch it would take a time that its length shows.
 */
static bool
exceeds_levels(const pe_attribute *attribute, Oid type, Datum value)
{
	const struct varlena *stored = (const struct varlena *) DatumGetPointer(value);
	Size		size;

	if ((type != TEXTOID && type != VARCHAROID) || !(VARATT_IS_EXTERNAL(stored) || VARATT_IS_COMPRESSED(stored)))
		return false;
	size = toast_raw_datum_size(value) - VARHDRSZ;
	for (int i = 0; i < attribute->points; i++)
		if (attribute->point[i].b.size >= size)
			return false;
	return true;
}

int32
pe_cell_of_datum(const pe_attribute *attribute, Oid type, Datum value)
{
	const char *data;
	uint32		size;

	switch (attribute->key)
	{
		case PE_KEY_INT:
			return pe_cell_of_int(attribute, pe_int_of_datum(type, value));
		case PE_KEY_FLOAT:
			return pe_cell_of_float(attribute, float_of_datum(type, value));
		case PE_KEY_BYTES:
			/* by its length, however it is stored, as keys */
			if (attribute->kind == PE_MATCHES ? exceeds_keys(type, value) : exceeds_levels(attribute, type, value))
				return pe_cell_of_bytes(attribute, NULL, SIZE_MAX);
			bytes_of_datum(type, value, &data, &size);
			if (type == NUMERICOID && data[0] == NOT_A_NUMBER)
				return pe_cell_of_null(attribute);
			return pe_cell_of_bytes(attribute, data, size);
	}
	pe_bug("unknown kind of key");
}

/* A stored numeric begins with a word: these bits of it, the sign and the weight in the rest, or in the next word. */
#define STORED_FORM 0xC000
#define STORED_SHORT 0x8000
#define STORED_SPECIAL 0xC000
#define STORED_NEGATIVE 0x4000
#define SHORT_NEGATIVE 0x2000
#define SHORT_WEIGHT_NEGATIVE 0x0040
#define SHORT_WEIGHT 0x003F

/* Integers of this size are doubles. */
#define EXACT_INTEGER (INT64CONST(1) << 53)

static uint16
stored_word(const char *data, int n)
{
	uint16		word;

	memcpy(&word, data + n * sizeof(word), sizeof(word));
	return word;
}

/*
 * A numeric of few digits: an integer below 2^53 times or divided by a power of
 * 10000 that is a double too, so that rounding once gives the nearest double.  False
 * for any other one.  What is read here is the form on disk, which pg_upgrade keeps.
 */
static bool
number_of_short_numeric(const char *data, uint32 size, double *number)
{
	static const double power[] = {1, 1e4, 1e8, 1e12, 1e16, 1e20};
	uint16		head = stored_word(data, 0);
	bool		brief = (head & STORED_FORM) == STORED_SHORT;
	int			first = brief ? 1 : 2;
	int			digits = (int) (size / sizeof(uint16)) - first;
	int			weight;
	int64		integer = 0;
	int			exponent;

	if ((head & STORED_FORM) == STORED_SPECIAL || digits > 4)
		return false;
	weight = !brief ? (int16) stored_word(data, 1)
		: (head & SHORT_WEIGHT_NEGATIVE) != 0 ? (int) (head & SHORT_WEIGHT) - (SHORT_WEIGHT + 1)
		: (int) (head & SHORT_WEIGHT);
	exponent = digits > 0 ? weight - (digits - 1) : 0;
	for (int i = 0; i < digits; i++)
		integer = integer * 10000 + stored_word(data, first + i);
	if (integer > EXACT_INTEGER || exponent >= (int) lengthof(power) || -exponent >= (int) lengthof(power))
		return false;
	*number = exponent < 0 ? integer / power[-exponent] : integer * power[exponent];
	if ((head & (brief ? SHORT_NEGATIVE : STORED_NEGATIVE)) != 0)
		*number = -*number;
	return true;
}

double
pe_number_of_numeric(Datum value)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(value);
	double		number;

	if (number_of_short_numeric(VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed), &number))
		return number;
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, PointerGetDatum(packed)));
}

/* In characters, as far as a text has no more bytes than keys.  The same work for all of a size. */
static double
length_of_text(Oid type, Datum value)
{
	bool		characters = GetDatabaseEncoding() == PG_UTF8;
	int			length = 0;
	const char *data;
	uint32		size;

	if (exceeds_keys(type, value))
		return PE_KEY_MOST;
	bytes_of_datum(type, value, &data, &size);
	for (uint32 i = 0; i < size; i++)
		length += !(characters && (data[i] & 0xC0) == 0x80);
	return length;
}

double
pe_number_of_datum(Oid type, Datum value)
{
	switch (type)
	{
		case TEXTOID:
		case VARCHAROID:
			return length_of_text(type, value);
		case FLOAT4OID:
		case FLOAT8OID:
			return float_of_datum(type, value);
		case NUMERICOID:
			return pe_number_of_numeric(value);
		default:
			if (!pe_datum_is_finite(type, value))
				return pe_int_of_datum(type, value) < 0 ? -INFINITY : INFINITY;
			return (double) pe_int_of_datum(type, value);
	}
}

Datum
pe_datum_of_text(Oid type, char *text)
{
	Oid			input;
	Oid			parameter;

	getTypeInputInfo(type, &input, &parameter);
	return OidInputFunctionCall(input, text, parameter, -1);
}

double
pe_number_of_text(Oid type, char *text)
{
	return pe_number_of_datum(type, pe_datum_of_text(type, text));
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

/* As to_jsonb writes it, in UTC. */
static void
append_json_timestamp(StringInfo to, Oid type, char *text)
{
	PGFunction	input = type == TIMESTAMPOID ? timestamp_in : timestamptz_in;
	Datum		value = DirectFunctionCall3(input, CStringGetDatum(text),
											ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	char		buffer[MAXDATELEN + 1];
	int			utc = 0;

	escape_json(to, JsonEncodeDateTime(buffer, value, type, type == TIMESTAMPTZOID ? &utc : NULL));
}

void
pe_append_json_value(StringInfo to, Oid type, char *text)
{
	switch (type)
	{
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			append_json_timestamp(to, type, text);
			break;
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			appendStringInfoString(to, text);
			break;
		case BOOLOID:
			appendStringInfoString(to, text[0] == 't' ? "true" : "false");
			break;
		default:
			escape_json(to, text);
	}
}

bool
pe_datum_is_finite(Oid type, Datum value)
{
	switch (type)
	{
		case FLOAT4OID:
			return isfinite(DatumGetFloat4(value));
		case FLOAT8OID:
			return isfinite(DatumGetFloat8(value));
		case NUMERICOID:
			return !numeric_is_nan(DatumGetNumeric(value)) && !numeric_is_inf(DatumGetNumeric(value));
		case DATEOID:
			return !DATE_NOT_FINITE(DatumGetDateADT(value));
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value));
		default:
			return true;
	}
}

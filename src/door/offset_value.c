/*
 * offset_value.c
 *	  A private value of SQL as an offset in integer units.  See row_values.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "door/row_values.h"

/* PE_OFFSET_MOST is 2 to this. */
#define MOST_BITS 100

StaticAssertDecl(PE_OFFSET_MOST == (pe_i128) 1 << MOST_BITS, "the most that an offset can be, as a numeric");

/* 2^exponent, exactly: products of numerics with so few digits are not rounded. */
static Numeric
power_of_two(int exponent)
{
	Datum		base = DirectFunctionCall3(numeric_in, CStringGetDatum(exponent < 0 ? "0.5" : "2"),
										   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	Datum		power = NumericGetDatum(int64_to_numeric(1));

	for (int i = 0; i < abs(exponent); i++)
		power = DirectFunctionCall2(numeric_mul, power, base);
	return DatumGetNumeric(power);
}

bool
pe_offset_reader_init(pe_offset_reader *reader, Oid type, int32 unit)
{
	*reader = (pe_offset_reader) {.type = type, .unit = unit};
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
			return true;
		case NUMERICOID:
			reader->factor = power_of_two(-unit);
			reader->most = power_of_two(MOST_BITS + unit);
			reader->least = DatumGetNumeric(DirectFunctionCall1(numeric_uminus, NumericGetDatum(reader->most)));
			return true;
		default:
			return false;
	}
}

/* An integer of at most 31 digits. */
static pe_i128
integer_of_text(const char *text)
{
	bool		negative = *text == '-';
	pe_i128		integer = 0;

	for (text += negative; *text != '\0'; text++)
		integer = integer * 10 + (*text - '0');
	return negative ? -integer : integer;
}

/*
 * What is finite and in range has at most as many digits behind the point as numeric
 * can hold after it is multiplied: factor has some only for units above 1, and then
 * those of the value are cut off first, which does not change the floor.
 */
static pe_i128
offset_of_numeric(const pe_offset_reader *reader, Datum value)
{
	value = NumericGetDatum(DatumGetNumeric(value));	/* fetched once */
	if (numeric_is_nan(DatumGetNumeric(value)))
		return -PE_OFFSET_MOST;
	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, value, NumericGetDatum(reader->most))) >= 0)
		return PE_OFFSET_MOST;
	if (DatumGetInt32(DirectFunctionCall2(numeric_cmp, value, NumericGetDatum(reader->least))) <= 0)
		return -PE_OFFSET_MOST;
	if (reader->unit > 0)
		value = DirectFunctionCall1(numeric_floor, value);
	value = DirectFunctionCall1(numeric_floor, DirectFunctionCall2(numeric_mul, value,
																   NumericGetDatum(reader->factor)));
	return integer_of_text(DatumGetCString(DirectFunctionCall1(numeric_out, value)));
}

pe_i128
pe_offset_of_datum(const pe_offset_reader *reader, Datum value, bool isnull)
{
	if (isnull)
		return -PE_OFFSET_MOST;
	switch (reader->type)
	{
		case INT2OID:
			return pe_affine_offset_of_int(DatumGetInt16(value), reader->unit);
		case INT4OID:
			return pe_affine_offset_of_int(DatumGetInt32(value), reader->unit);
		case INT8OID:
			return pe_affine_offset_of_int(DatumGetInt64(value), reader->unit);
		case FLOAT4OID:
			return pe_affine_offset(DatumGetFloat4(value), reader->unit);
		case FLOAT8OID:
			return pe_affine_offset(DatumGetFloat8(value), reader->unit);
		default:
			return offset_of_numeric(reader, value);
	}
}

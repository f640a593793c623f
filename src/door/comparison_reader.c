/*
 * comparison_reader.c
 *	  Two values of a row as the cell of their comparison.  See comparison_reader.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/uuid.h"

#include "door/comparison_reader.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

static pe_whole
whole_of(Oid type, Datum value)
{
	int64		number = pe_int_of_datum(type, value);
	int64		least = type == DATEOID ? PG_INT32_MIN : PG_INT64_MIN;
	int64		greatest = type == DATEOID ? PG_INT32_MAX : PG_INT64_MAX;

	return (pe_whole) {number, ((int) (number == greatest) - (int) (number == least)) & -(int) pe_type_is_time(type)};
}

static Numeric
numeric_of(Oid type, Datum value)
{
	if (type != NUMERICOID)
		value = DirectFunctionCall1(int8_numeric, Int64GetDatum(pe_int_of_datum(type, value)));
	return DatumGetNumeric(value);
}

/* Of a number beyond numeric's range it is anything: SQL has no answer there. */
static Numeric
scaled(Numeric value, Numeric factor, Numeric more)
{
	bool		failed = false;
	Numeric		result = factor != NULL ? numeric_mul_opt_error(value, factor, &failed) : value;

	if (more != NULL && !failed)
		result = numeric_add_opt_error(result, more, &failed);
	return failed ? value : result;
}

static int
compare_numerics(const pe_comparison_reader *r, Datum a, Datum b)
{
	Numeric		left = scaled(numeric_of(r->type[0], a), r->left, NULL);
	Numeric		right = scaled(numeric_of(r->type[1], b), r->right, r->more);
	int			order = DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(left), NumericGetDatum(right)));

	return (int) (order > 0) - (int) (order < 0);
}

static int
compare_bytes(const pe_comparison_reader *r, Datum a, Datum b)
{
	const Datum value[2] = {a, b};
	const char *data[2];
	uint32		size[2];
	int64		room;

	for (int side = 0; side < 2; side++)
		pe_unit_bytes(r->type[side], value[side], &room, &data[side], &size[side]);
	return pe_compare_bytes(data[0], size[0], data[1], size[1]);
}

int32
pe_comparison_reader_cell(const pe_comparison_reader *r, Datum a, bool a_null, Datum b, bool b_null)
{
	int			order = 0;

	a = a_null ? r->instead[0] : a;
	b = b_null ? r->instead[1] : b;
	switch (r->comparison->how)
	{
		case PE_COMPARE_WHOLE:
			order = pe_compare_wholes(r->comparison, whole_of(r->type[0], a), whole_of(r->type[1], b));
			break;
		case PE_COMPARE_FLOAT:
			order = pe_compare_floats(r->comparison, pe_number_of_datum(r->type[0], a),
									  pe_number_of_datum(r->type[1], b));
			break;
		case PE_COMPARE_NUMERIC:
			order = compare_numerics(r, a, b);
			break;
		case PE_COMPARE_BYTES:
			order = compare_bytes(r, a, b);
			break;
		case PE_COMPARE_NOTHING:
			break;
	}
	return pe_compared_cell(order, a_null, b_null);
}

/* ------------------------------------------------------------------
 * Types
 * ------------------------------------------------------------------
 */

static bool
goes_with(pe_comparison_how how, Oid type)
{
	pe_key		key;

	switch (how)
	{
		case PE_COMPARE_WHOLE:
			return pe_type_key(type, &key) && key == PE_KEY_INT;
		case PE_COMPARE_NUMERIC:
			return pe_type_is_number(type) && !pe_type_is_float(type);
		case PE_COMPARE_FLOAT:
			return pe_type_is_number(type);
		case PE_COMPARE_BYTES:
			return type == TEXTOID || type == VARCHAROID || type == UUIDOID;
		default:
			return false;
	}
}

static Datum
instead_of_null(Oid type)
{
	switch (type)
	{
		case NUMERICOID:
			return DirectFunctionCall1(int8_numeric, Int64GetDatum(0));
		case TEXTOID:
		case VARCHAROID:
			return CStringGetTextDatum("");
		case UUIDOID:
			return UUIDPGetDatum(palloc0(sizeof(pg_uuid_t)));
		case FLOAT4OID:
			return Float4GetDatum(0);
		case FLOAT8OID:
			return Float8GetDatum(0);
		default:
			return (Datum) 0;
	}
}

static Numeric
constant(int64 value, int64 nothing)
{
	return value == nothing ? NULL : DatumGetNumeric(DirectFunctionCall1(int8_numeric, Int64GetDatum(value)));
}

bool
pe_comparison_reader_init(pe_comparison_reader *reader, const pe_comparison *comparison, Oid a, Oid b)
{
	*reader = (pe_comparison_reader) {.comparison = comparison, .type = {a, b}};
	if (!goes_with(comparison->how, a) || !goes_with(comparison->how, b) || (a == UUIDOID) != (b == UUIDOID))
		return false;
	reader->instead[0] = instead_of_null(a);
	reader->instead[1] = instead_of_null(b);
	if (comparison->how == PE_COMPARE_NUMERIC)
	{
		reader->left = constant(comparison->left, 1);
		reader->right = constant(comparison->right, 1);
		reader->more = constant(comparison->more, 0);
	}
	return true;
}

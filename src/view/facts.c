/*
 * facts.c
 *	  The functions and operators of the server that cannot fail, each with its reason and the values for
 *	  which that holds.
 *
 * What is not here is refused.  Each fact has a function that looks at the extents of the arguments, says
 * whether the call is total on them, and narrows the extent of its result.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "view/prover.h"

/*
 * Texts that are computed are no longer: a value of 1 GB fails, and so does a row of 1 GB that is sorted or hashed,
 * of at most 1,664 columns.  A long text of a table does not count: what is handed on is where it lies.
 */
#define LONGEST_TEXT 100000

/* Of a numeric before the point: far from its own limit, which is 131072. */
#define MOST_DIGITS 1000

/* Of a numeric before and behind the point, to be a float that is neither too large nor too small. */
#define MOST_OF_FLOAT 300

/* What may be a date or a timestamp when it is converted, in days: years 1 to 9999 and a year around them. */
#define FIRST_DAY (-730119 - 366)
#define LAST_DAY (2921939 + 366)
#define DAY ((pe_i128) USECS_PER_DAY)

/* Beyond this a range is of no use, and products of two of them fit. */
#define WIDEST (((pe_i128) 1) << 62)

/* ------------------------------------------------------------------
 * Ranges
 * ------------------------------------------------------------------
 */

static bool
put_range(pe_extent *result, pe_i128 low, pe_i128 high)
{
	result->has_range = low >= -WIDEST * 4 && high <= WIDEST * 4;
	result->low = low;
	result->high = high;
	result->is_nonzero = result->has_range && (low > 0 || high < 0);
	return true;
}

bool
pe_fits_type(const pe_extent *extent, Oid type)
{
	if (!extent->has_range)
		return false;
	if (type == INT2OID)
		return extent->low >= PG_INT16_MIN && extent->high <= PG_INT16_MAX;
	if (type == INT4OID)
		return extent->low >= PG_INT32_MIN && extent->high <= PG_INT32_MAX;
	return type == INT8OID && extent->low >= PG_INT64_MIN && extent->high <= PG_INT64_MAX;
}

/* The result of whole numbers, which must fit its type. */
static bool
put_whole(const pe_call *call, pe_extent *result, pe_i128 low, pe_i128 high)
{
	pe_extent	wanted = {.has_range = true, .low = low, .high = high};

	if (!pe_fits_type(&wanted, call->type))
		return false;
	return put_range(result, low, high);
}

static bool
have_ranges(const pe_call *call)
{
	for (int i = 0; i < call->count; i++)
		if (!call->argument[i]->has_range)
			return false;
	return true;
}

static bool
is_within(const pe_extent *extent, pe_i128 low, pe_i128 high)
{
	return extent->has_range && extent->low >= low && extent->high <= high;
}

static bool
is_date_like(const pe_extent *days)
{
	return is_within(days, FIRST_DAY, LAST_DAY);
}

static bool
is_time_like(const pe_extent *microseconds)
{
	return is_within(microseconds, FIRST_DAY * DAY, LAST_DAY * DAY);
}

/* ------------------------------------------------------------------
 * Any values
 * ------------------------------------------------------------------
 */

static bool
any_values(const pe_call *call, pe_extent *result)
{
	return true;
}

/* Of length and its like */
static bool
any_text_length(const pe_call *call, pe_extent *result)
{
	return put_range(result, 0, call->argument[0]->length >= 0 ? (pe_i128) call->argument[0]->length * 4
					 : PG_INT32_MAX);
}

/* ------------------------------------------------------------------
 * Whole numbers
 * ------------------------------------------------------------------
 */

static bool
whole_add(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];

	return have_ranges(call) && put_whole(call, result, a->low + b->low, a->high + b->high);
}

static bool
whole_subtract(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];

	return have_ranges(call) && put_whole(call, result, a->low - b->high, a->high - b->low);
}

static void
multiply_ranges(const pe_extent *a, const pe_extent *b, pe_i128 *low, pe_i128 *high)
{
	pe_i128		corner[4] = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};

	*low = *high = corner[0];
	for (int i = 1; i < 4; i++)
	{
		*low = Min(*low, corner[i]);
		*high = Max(*high, corner[i]);
	}
}

static bool
is_narrow(const pe_extent *extent)
{
	return is_within(extent, -WIDEST * 2, WIDEST * 2);
}

static bool
whole_multiply(const pe_call *call, pe_extent *result)
{
	pe_i128		low;
	pe_i128		high;

	if (!have_ranges(call) || !is_narrow(call->argument[0]) || !is_narrow(call->argument[1]))
		return false;
	multiply_ranges(call->argument[0], call->argument[1], &low, &high);
	return put_whole(call, result, low, high);
}

static pe_i128
largest_of(const pe_extent *extent)
{
	return Max(extent->low < 0 ? -extent->low : extent->low, extent->high < 0 ? -extent->high : extent->high);
}

static bool
has_no_zero(const pe_extent *extent)
{
	return extent->is_nonzero || (extent->has_range && (extent->low > 0 || extent->high < 0));
}

/* The smallest number of a type divided by -1 is too large for it. */
static bool
whole_divide(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];
	pe_i128		most;

	if (!have_ranges(call) || !has_no_zero(b))
		return false;
	most = largest_of(a);
	if (b->low <= -1 && b->high >= -1)
		return put_whole(call, result, -most, most);
	if (a->low >= 0 && b->low >= 0)
		return put_whole(call, result, 0, a->high);
	return put_whole(call, result, Max(-most, PG_INT64_MIN), Min(most, PG_INT64_MAX)) ||
		put_range(result, call->type == INT8OID ? PG_INT64_MIN : PG_INT32_MIN,
				  call->type == INT8OID ? PG_INT64_MAX : PG_INT32_MAX);
}

static bool
whole_modulo(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];
	pe_i128		most;

	if (!have_ranges(call) || !has_no_zero(b))
		return false;
	most = largest_of(b) - 1;
	return put_range(result, a->low >= 0 ? 0 : -most, a->high <= 0 ? 0 : most);
}

static bool
whole_negate(const pe_call *call, pe_extent *result)
{
	return have_ranges(call) && put_whole(call, result, -call->argument[0]->high, -call->argument[0]->low);
}

static bool
whole_absolute(const pe_call *call, pe_extent *result)
{
	return have_ranges(call) && put_whole(call, result, 0, largest_of(call->argument[0]));
}

/* To another type of whole numbers, also from numeric: rounding stays within whole ends. */
static bool
whole_convert(const pe_call *call, pe_extent *result)
{
	return have_ranges(call) && put_whole(call, result, call->argument[0]->low, call->argument[0]->high);
}

static bool
boolean_to_whole(const pe_call *call, pe_extent *result)
{
	return put_range(result, 0, 1);
}

/* ------------------------------------------------------------------
 * numeric
 * ------------------------------------------------------------------
 */

static int
digits_of(pe_i128 value)
{
	int			digits = 0;

	for (pe_i128 rest = value < 0 ? -value : value; rest > 0; rest /= 10)
		digits++;
	return digits;
}

static int
sum_or_unknown(int one, int other)
{
	return one < 0 || other < 0 ? -1 : one + other;
}

static bool
put_digits(pe_extent *result, int digits, int scale)
{
	result->digits = digits;
	result->scale = scale;
	return digits >= 0 && digits <= MOST_DIGITS && scale <= MOST_DIGITS;
}

static bool
whole_to_numeric(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];

	if (!a->has_range)
		return false;
	put_range(result, a->low, a->high);
	return put_digits(result, digits_of(largest_of(a)), 0);
}

static void
add_numerics(const pe_call *call, pe_extent *result, bool is_minus)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];

	if (have_ranges(call))
		put_range(result, a->low + (is_minus ? -b->high : b->low), a->high + (is_minus ? -b->low : b->high));
}

static bool
sum_of_numerics(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];

	if (a->digits < 0 || b->digits < 0)
		return false;
	add_numerics(call, result, call->function == F_NUMERIC_SUB);
	return put_digits(result, Max(a->digits, b->digits) + 1,
					  a->scale < 0 || b->scale < 0 ? -1 : Max(a->scale, b->scale));
}

static bool
product_of_numerics(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];
	pe_i128		low;
	pe_i128		high;

	if (a->digits < 0 || b->digits < 0)
		return false;
	if (have_ranges(call) && is_narrow(a) && is_narrow(b))
	{
		multiply_ranges(a, b, &low, &high);
		put_range(result, low, high);
	}
	return put_digits(result, a->digits + b->digits, sum_or_unknown(a->scale, b->scale));
}

/*
 * A divisor that is not 0 is at least 10^-scale.  A quotient has 16 digits from its first one on, which stands
 * behind the point by no more than the scale of a and the digits of b, in fours.
 */
static bool
quotient_of_numerics(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];
	int			scale = a->scale >= 0 ? Max(a->scale + b->digits + 40, b->scale) : -1;

	if (a->digits < 0 || b->digits < 0 || b->scale < 0 || !has_no_zero(b))
		return false;
	return put_digits(result, a->digits + b->scale + 1, scale <= MOST_DIGITS ? scale : -1);
}

static bool
remainder_of_numerics(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];

	if (a->digits < 0 || b->digits < 0 || !has_no_zero(b))
		return false;
	return put_digits(result, Max(a->digits, b->digits), a->scale < 0 || b->scale < 0 ? -1 : Max(a->scale, b->scale));
}

/* numeric(p,s): a value that is rounded up can have one digit more. */
static bool
form_numeric(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	Datum		typmod;
	pe_extent  *form;
	int			digits = a->digits;

	/* of a negative scale a value can be rounded up beyond its range; of one beyond the precision it is below 1 */
	if (!pe_is_constant(call->node[1], &typmod) || DatumGetInt32(typmod) < (int32) VARHDRSZ ||
		((DatumGetInt32(typmod) - VARHDRSZ) & 1024) != 0 ||
		(((DatumGetInt32(typmod) - VARHDRSZ) >> 16) & 0xffff) < ((DatumGetInt32(typmod) - VARHDRSZ) & 0x7ff))
		return false;
	form = pe_extent_of_type(NUMERICOID, DatumGetInt32(typmod));
	if (a->has_range)
		digits = digits_of(largest_of(a));
	if (digits < 0 || form->digits < 0 || digits + (a->scale >= 0 && a->scale <= form->scale ? 0 : 1) > form->digits)
		return false;
	if (a->has_range)
		put_range(result, a->low - 1, a->high + 1);
	return put_digits(result, form->digits, form->scale);
}

/* round, trunc, ceil, floor: to places that are a constant, or to none. */
static bool
round_numeric_to(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	Datum		places = Int32GetDatum(0);

	if (a->digits < 0 || (call->count == 2 && !pe_is_constant(call->node[1], &places)))
		return false;
	if (DatumGetInt32(places) < 0 || DatumGetInt32(places) > MOST_DIGITS)
		return false;
	if (a->has_range)
		put_range(result, a->low, a->high);
	return put_digits(result, a->digits + 1, DatumGetInt32(places));
}

static bool
signed_numeric(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];

	if (a->has_range && call->function != F_SIGN_NUMERIC)
		put_range(result, call->function == F_NUMERIC_UMINUS ? -a->high : 0,
				  call->function == F_NUMERIC_UMINUS ? -a->low : largest_of(a));
	result->digits = call->function == F_SIGN_NUMERIC ? 1 : a->digits;
	result->scale = call->function == F_SIGN_NUMERIC ? 0 : a->scale;
	return true;
}

/* 1e-400 fails as 1e400 does. */
static bool
float_of_numeric(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];

	return a->digits >= 0 && a->digits <= MOST_OF_FLOAT && a->scale >= 0 && a->scale <= MOST_OF_FLOAT;
}

/* ------------------------------------------------------------------
 * Dates and times.  Ranges are finite: an infinite one fails where it is subtracted.
 * ------------------------------------------------------------------
 */

static bool
use_settings(const pe_call *call)
{
	*call->has_settings = true;
	return true;
}

static bool
date_difference(const pe_call *call, pe_extent *result)
{
	return whole_subtract(call, result);
}

static bool
date_and_days(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];
	bool		is_minus = call->function == F_DATE_MII;
	pe_extent	sum = {.has_range = true};

	if (!have_ranges(call))
		return false;
	sum.low = a->low + (is_minus ? -b->high : b->low);
	sum.high = a->high + (is_minus ? -b->low : b->high);
	return is_date_like(&sum) && put_range(result, sum.low, sum.high);
}

static bool
time_of_date(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	pe_i128		zone = call->function == F_TIMESTAMPTZ_DATE ? DAY : 0;

	if (!is_date_like(a) || (zone != 0 && !use_settings(call)))
		return false;
	return put_range(result, a->low * DAY - zone, a->high * DAY + zone);
}

static pe_i128
day_of(pe_i128 microseconds)
{
	return microseconds >= 0 ? microseconds / DAY : -((-microseconds + DAY - 1) / DAY);
}

/* Of any timestamp: infinity is infinity, and dates reach further. */
static bool
date_of_time(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	pe_i128		zone = call->function == F_DATE_TIMESTAMPTZ ? 1 : 0;

	if (zone != 0)
		use_settings(call);
	return !a->has_range || put_range(result, day_of(a->low) - zone, day_of(a->high) + zone);
}

static bool
time_in_zone(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];

	return is_time_like(a) && use_settings(call) && put_range(result, a->low - DAY, a->high + DAY);
}

static bool
time_difference(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];

	return is_time_like(a) && is_time_like(b) && put_range(result, a->low - b->high, a->high - b->low);
}

/* A date or a timestamp, and an interval whose range is known: a constant or a difference. */
static bool
time_and_interval(const pe_call *call, pe_extent *result)
{
	const pe_extent *a = call->argument[0];
	const pe_extent *b = call->argument[1];
	bool		is_date = call->function == F_DATE_PL_INTERVAL || call->function == F_DATE_MI_INTERVAL;
	bool		is_minus = call->function == F_DATE_MI_INTERVAL || call->function == F_TIMESTAMP_MI_INTERVAL ||
		call->function == F_TIMESTAMPTZ_MI_INTERVAL;
	bool		is_zoned = call->function == F_TIMESTAMPTZ_MI_INTERVAL || call->function == F_TIMESTAMPTZ_PL_INTERVAL;
	pe_i128		unit = is_date ? DAY : 1;
	/* months of 28 to 31 days, and a day for the zone */
	pe_i128		slack = (is_zoned ? 1 : 0) * DAY;
	pe_extent	sum = {.has_range = true};

	if (!have_ranges(call) || !(is_date ? is_date_like(a) : is_time_like(a)) ||
		!is_within(b, -LAST_DAY * DAY, LAST_DAY * DAY))
		return false;
	if (is_zoned)
		use_settings(call);
	sum.low = a->low * unit + (is_minus ? -b->high : b->low) - slack;
	sum.high = a->high * unit + (is_minus ? -b->low : b->high) + slack;
	return is_time_like(&sum) && put_range(result, sum.low, sum.high);
}

/* What date_trunc goes back at most, in days; a unit that is not there is refused. */
typedef struct unit_of_time
{
	const char *name;
	int			days;			/* -1: date_trunc has none */
	int			low;			/* of extract; low = high: no range */
	int			high;
	bool		of_dates;
	bool		of_intervals;
} unit_of_time;

static const unit_of_time units[] = {
	{"microseconds", 1, 0, 60000000, false, true},
	{"milliseconds", 1, 0, 60000, false, true},
	{"second", 1, 0, 60, false, true},
	{"minute", 1, 0, 59, false, true},
	{"hour", 1, 0, 24, false, false},
	{"day", 1, 1, 31, true, false},
	{"week", 7, 1, 53, true, false},
	{"month", 31, 1, 12, true, false},
	{"quarter", 92, 1, 4, true, false},
	{"year", 366, 0, 0, true, true},
	{"decade", 3660, 0, 0, true, false},
	{"century", 36600, 0, 0, true, false},
	{"millennium", 366000, 0, 0, true, false},
	{"dow", -1, 0, 6, true, false},
	{"isodow", -1, 1, 7, true, false},
	{"doy", -1, 1, 366, true, false},
	{"isoyear", -1, 0, 0, true, false},
	{"epoch", -1, 0, 0, true, true}
};

static const unit_of_time *
unit_of(Node *node)
{
	Datum		value;
	char	   *name;

	if (exprType(node) != TEXTOID || !pe_is_constant(node, &value))
		return NULL;
	name = TextDatumGetCString(value);
	for (int i = 0; i < lengthof(units); i++)
		if (pg_strcasecmp(name, units[i].name) == 0)
			return &units[i];
	return NULL;
}

static bool
time_truncated(const pe_call *call, pe_extent *result)
{
	const unit_of_time *unit = unit_of(call->node[0]);
	const pe_extent *a = call->argument[1];

	if (unit == NULL || unit->days < 0 || !is_time_like(a))
		return false;
	if (call->function == F_DATE_TRUNC_TEXT_TIMESTAMPTZ)
		use_settings(call);
	return put_range(result, a->low - unit->days * DAY - DAY, a->high + DAY);
}

/* The range of a year, or of an epoch in seconds, of finite values. */
static void
put_field(const char *name, Oid type, const pe_extent *argument, pe_extent *result)
{
	pe_i128		second = type == DATEOID ? 1 : USECS_PER_SEC;
	pe_i128		unit = type == DATEOID ? SECS_PER_DAY : 1;
	pe_i128		start = type == INTERVALOID ? 0 : (pe_i128) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY;

	if (strcmp(name, "epoch") == 0)
		put_range(result, argument->low * unit / second + start - 1, argument->high * unit / second + start + 1);
	else if (type != INTERVALOID && is_within(argument, FIRST_DAY * (type == DATEOID ? 1 : DAY),
											  LAST_DAY * (type == DATEOID ? 1 : DAY)) &&
			 (strcmp(name, "year") == 0 || strcmp(name, "isoyear") == 0))
		put_range(result, -10, 10010);
}

static bool
extract_field(const pe_call *call, pe_extent *result)
{
	const unit_of_time *unit = unit_of(call->node[0]);
	Oid			type = getBaseType(exprType(call->node[1]));

	if (unit == NULL || (type == DATEOID && !unit->of_dates) || (type == INTERVALOID && !unit->of_intervals))
		return false;
	if (type == TIMESTAMPTZOID)
		use_settings(call);
	if (call->type != NUMERICOID)
		return true;
	if (unit->low < unit->high && type != INTERVALOID)
		put_range(result, unit->low, unit->high);
	else if (call->argument[1]->has_range)
		put_field(unit->name, type, call->argument[1], result);
	/* a year or an epoch of infinity is infinite */
	return put_digits(result, call->argument[1]->has_range || result->has_range ? 19 : -1, 6) || true;
}

/* ------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------
 */

static bool
put_length(pe_extent *result, int64 length)
{
	result->length = (int) Min(length, LONGEST_TEXT);
	return length >= 0 && length <= LONGEST_TEXT;
}

/* No longer than its argument. */
static bool
text_part(const pe_call *call, pe_extent *result)
{
	return put_length(result, call->argument[0]->length);
}

/* left and right: no longer than their number says, unless that is negative. */
static bool
text_end(const pe_call *call, pe_extent *result)
{
	const pe_extent *count = call->argument[1];
	int			length = call->argument[0]->length;

	if (count->has_range && count->low >= 0 && count->high <= LONGEST_TEXT)
		return put_length(result, length < 0 ? count->high : Min((pe_i128) length, count->high));
	return put_length(result, length);
}

/* One character can become three.  In other multibyte encodings the system's library may not know all of them. */
static bool
text_case(const pe_call *call, pe_extent *result)
{
	return (GetDatabaseEncoding() == PG_UTF8 || pg_database_encoding_max_length() == 1) &&
		call->argument[0]->length >= 0 && put_length(result, (int64) call->argument[0]->length * 3);
}

/*
 * A field of a jsonb: no longer than the whole as text.  Written out it can be six times as long as it is kept, and
 * kept, numbers take ten times what they take as text.
 */
static bool
json_field(const pe_call *call, pe_extent *result)
{
	int			length = call->argument[0]->length;

	if (!put_length(result, length < 0 ? -1 : (int64) length * 10))
		return false;
	result->length = length;
	return true;
}

static bool
text_joined(const pe_call *call, pe_extent *result)
{
	return call->argument[0]->length >= 0 && call->argument[1]->length >= 0 &&
		put_length(result, (int64) call->argument[0]->length + call->argument[1]->length);
}

static bool
text_substring(const pe_call *call, pe_extent *result)
{
	const pe_extent *length = call->count == 3 ? call->argument[2] : NULL;

	if (length != NULL && (!length->has_range || length->low < 0))
		return false;
	if (length != NULL && length->high <= LONGEST_TEXT &&
		(call->argument[0]->length < 0 || length->high < call->argument[0]->length))
		return put_length(result, length->high);
	return put_length(result, call->argument[0]->length);
}

/* A pattern that ends with an open escape fails. */
static bool
text_like(const pe_call *call, pe_extent *result)
{
	Datum		value;
	char	   *pattern;
	int			escapes = 0;

	if (call->argument[0]->length < 0 || !pe_is_constant(call->node[1], &value))
		return false;
	pattern = TextDatumGetCString(value);
	for (size_t at = strlen(pattern); at > 0 && pattern[at - 1] == '\\'; at--)
		escapes++;
	return escapes % 2 == 0 && strlen(pattern) <= 1000;
}

/* An explicit cast cuts what is too long. */
static bool
text_to_form(const pe_call *call, pe_extent *result)
{
	Datum		typmod;
	Datum		is_explicit;

	if (!pe_is_constant(call->node[1], &typmod) || !pe_is_constant(call->node[2], &is_explicit) ||
		!DatumGetBool(is_explicit) || DatumGetInt32(typmod) < (int32) VARHDRSZ)
		return false;
	result->length = DatumGetInt32(typmod) - VARHDRSZ;
	return true;
}

static bool
boolean_to_text(const pe_call *call, pe_extent *result)
{
	return put_length(result, 5);
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

#define IN_RANGE "the result fits its type for all values of the arguments' ranges"
#define GIVE_RANGES "Give its columns ranges, CHECK (x BETWEEN a AND b), so that the result fits its type; or cast " \
	"to bigint or numeric first."
#define ROUND_TO "the value has room in its type after rounding"
#define NO_ZERO "the divisor is never 0, nor -1 where the result would not fit"
#define DIVIDE_BY "Divide by a constant that is neither 0 nor -1, or by nullif(x, 0) of a column whose range " \
	"excludes -1; of numeric(p,s) by a constant or nullif(x, 0)."
#define HAS_DIGITS "numerics of so few digits are far from the type's limit"
#define GIVE_DIGITS "Declare its columns numeric(p,s), or cast to it: others can be infinite or too large."
#define GIVE_FLOAT "Declare its columns numeric(p,s), or cast to it: others can be infinite, too large, or too small " \
	"and not 0."
#define IS_FINITE "both are finite and the result is a date"
#define GIVE_DATES "Give its columns ranges of dates, CHECK (x BETWEEN '1900-01-01' AND '2100-01-01'): " \
	"infinite ones fail."
#define GIVE_INTERVAL "Give its dates ranges by CHECK, and add a constant interval or a difference of such dates: a " \
	"range of intervals bounds neither months nor days."
#define HAS_FIELD "the type has this field"
#define USE_FIELD "Use a constant field that the type has: a date has no hour, an interval is asked for its epoch."
#define IS_SHORT "the text is short"
#define GIVE_LENGTH "Declare its columns varchar(n) or char(n), or CHECK (length(x) <= n); a pattern is a constant " \
	"without an open escape."
#define NOT_NEGATIVE "the length is not negative"
#define GIVE_COUNT "Use a constant length that is not negative and at most 100000, or CHECK (length(x) <= n)."
#define GIVE_JSON_LENGTH "CHECK (length(x::text) <= 10000), or keep the field in a column of its own."
#define ALWAYS "it is there for all values"

static const pe_fact facts[] = {
	{F_INT2PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT4PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT8PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT24PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT42PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT28PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT82PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT48PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT84PL, whole_add, IN_RANGE, GIVE_RANGES},
	{F_INT2MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT4MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT8MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT24MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT42MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT28MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT82MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT48MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT84MI, whole_subtract, IN_RANGE, GIVE_RANGES},
	{F_INT2MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT4MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT8MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT24MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT42MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT28MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT82MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT48MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT84MUL, whole_multiply, IN_RANGE, GIVE_RANGES},
	{F_INT2DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT4DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT8DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT24DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT42DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT28DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT82DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT48DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT84DIV, whole_divide, NO_ZERO, DIVIDE_BY},
	{F_INT2MOD, whole_modulo, NO_ZERO, DIVIDE_BY},
	{F_INT4MOD, whole_modulo, NO_ZERO, DIVIDE_BY},
	{F_INT8MOD, whole_modulo, NO_ZERO, DIVIDE_BY},
	{F_MOD_INT2_INT2, whole_modulo, NO_ZERO, DIVIDE_BY},
	{F_MOD_INT4_INT4, whole_modulo, NO_ZERO, DIVIDE_BY},
	{F_MOD_INT8_INT8, whole_modulo, NO_ZERO, DIVIDE_BY},
	{F_INT2UM, whole_negate, IN_RANGE, GIVE_RANGES},
	{F_INT4UM, whole_negate, IN_RANGE, GIVE_RANGES},
	{F_INT8UM, whole_negate, IN_RANGE, GIVE_RANGES},
	{F_INT2ABS, whole_absolute, IN_RANGE, GIVE_RANGES},
	{F_INT4ABS, whole_absolute, IN_RANGE, GIVE_RANGES},
	{F_INT8ABS, whole_absolute, IN_RANGE, GIVE_RANGES},
	{F_ABS_INT2, whole_absolute, IN_RANGE, GIVE_RANGES},
	{F_ABS_INT4, whole_absolute, IN_RANGE, GIVE_RANGES},
	{F_ABS_INT8, whole_absolute, IN_RANGE, GIVE_RANGES},
	{F_INT8_INT4, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT8_INT2, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT4_INT2, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT4_INT8, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT2_INT4, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT2_INT8, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT2_NUMERIC, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT4_NUMERIC, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT8_NUMERIC, whole_convert, IN_RANGE, GIVE_RANGES},
	{F_INT4_BOOL, boolean_to_whole, ALWAYS, GIVE_RANGES},
	{F_BOOL_INT4, any_values, ALWAYS, GIVE_RANGES},

	{F_NUMERIC_INT2, whole_to_numeric, HAS_DIGITS, GIVE_DIGITS},
	{F_NUMERIC_INT4, whole_to_numeric, HAS_DIGITS, GIVE_DIGITS},
	{F_NUMERIC_INT8, whole_to_numeric, HAS_DIGITS, GIVE_DIGITS},
	{F_NUMERIC_ADD, sum_of_numerics, HAS_DIGITS, GIVE_DIGITS},
	{F_NUMERIC_SUB, sum_of_numerics, HAS_DIGITS, GIVE_DIGITS},
	{F_NUMERIC_MUL, product_of_numerics, HAS_DIGITS, GIVE_DIGITS},
	{F_NUMERIC_DIV, quotient_of_numerics, NO_ZERO, DIVIDE_BY},
	{F_NUMERIC_MOD, remainder_of_numerics, NO_ZERO, DIVIDE_BY},
	{F_MOD_NUMERIC_NUMERIC, remainder_of_numerics, NO_ZERO, DIVIDE_BY},
	{F_NUMERIC_UMINUS, signed_numeric, ALWAYS, GIVE_DIGITS},
	{F_ABS_NUMERIC, signed_numeric, ALWAYS, GIVE_DIGITS},
	{F_SIGN_NUMERIC, signed_numeric, ALWAYS, GIVE_DIGITS},
	{F_NUMERIC_NUMERIC_INT4, form_numeric, ROUND_TO, "Cast to a numeric(p,s) with room for all values: give its "
			"columns ranges or numeric(p,s)."},
	{F_ROUND_NUMERIC, round_numeric_to, HAS_DIGITS, GIVE_DIGITS},
	{F_ROUND_NUMERIC_INT4, round_numeric_to, HAS_DIGITS, GIVE_DIGITS},
	{F_TRUNC_NUMERIC, round_numeric_to, HAS_DIGITS, GIVE_DIGITS},
	{F_TRUNC_NUMERIC_INT4, round_numeric_to, HAS_DIGITS, GIVE_DIGITS},
	{F_CEIL_NUMERIC, round_numeric_to, HAS_DIGITS, GIVE_DIGITS},
	{F_CEILING_NUMERIC, round_numeric_to, HAS_DIGITS, GIVE_DIGITS},
	{F_FLOOR_NUMERIC, round_numeric_to, HAS_DIGITS, GIVE_DIGITS},
	{F_FLOAT8_INT2, any_values, ALWAYS, GIVE_RANGES},
	{F_FLOAT8_INT4, any_values, ALWAYS, GIVE_RANGES},
	{F_FLOAT8_INT8, any_values, ALWAYS, GIVE_RANGES},
	{F_FLOAT8_FLOAT4, any_values, ALWAYS, GIVE_RANGES},
	{F_FLOAT8_NUMERIC, float_of_numeric, HAS_DIGITS, GIVE_FLOAT},

	{F_DATE_MI, date_difference, IS_FINITE, GIVE_DATES},
	{F_DATE_PLI, date_and_days, IS_FINITE, GIVE_DATES},
	{F_DATE_MII, date_and_days, IS_FINITE, GIVE_DATES},
	{F_INTEGER_PL_DATE, date_and_days, IS_FINITE, GIVE_DATES},
	{F_TIMESTAMP_DATE, time_of_date, IS_FINITE, GIVE_DATES},
	{F_TIMESTAMPTZ_DATE, time_of_date, IS_FINITE, GIVE_DATES},
	{F_DATE_TIMESTAMP, date_of_time, ALWAYS, GIVE_DATES},
	{F_DATE_TIMESTAMPTZ, date_of_time, ALWAYS, GIVE_DATES},
	{F_TIMESTAMP_TIMESTAMPTZ, time_in_zone, IS_FINITE, GIVE_DATES},
	{F_TIMESTAMPTZ_TIMESTAMP, time_in_zone, IS_FINITE, GIVE_DATES},
	{F_TIMESTAMP_MI, time_difference, IS_FINITE, GIVE_DATES},
	{F_TIMESTAMPTZ_MI, time_difference, IS_FINITE, GIVE_DATES},
	{F_DATE_PL_INTERVAL, time_and_interval, IS_FINITE, GIVE_INTERVAL},
	{F_DATE_MI_INTERVAL, time_and_interval, IS_FINITE, GIVE_INTERVAL},
	{F_TIMESTAMP_PL_INTERVAL, time_and_interval, IS_FINITE, GIVE_INTERVAL},
	{F_TIMESTAMP_MI_INTERVAL, time_and_interval, IS_FINITE, GIVE_INTERVAL},
	{F_TIMESTAMPTZ_PL_INTERVAL, time_and_interval, IS_FINITE, GIVE_INTERVAL},
	{F_TIMESTAMPTZ_MI_INTERVAL, time_and_interval, IS_FINITE, GIVE_INTERVAL},
	{F_DATE_TRUNC_TEXT_TIMESTAMP, time_truncated, HAS_FIELD, "Use a constant unit, and give the column a range of "
			"dates by CHECK."},
	{F_DATE_TRUNC_TEXT_TIMESTAMPTZ, time_truncated, HAS_FIELD, "Use a constant unit, and give the column a range "
			"of dates by CHECK."},
	{F_EXTRACT_TEXT_DATE, extract_field, HAS_FIELD, USE_FIELD},
	{F_EXTRACT_TEXT_TIMESTAMP, extract_field, HAS_FIELD, USE_FIELD},
	{F_EXTRACT_TEXT_TIMESTAMPTZ, extract_field, HAS_FIELD, USE_FIELD},
	{F_EXTRACT_TEXT_INTERVAL, extract_field, HAS_FIELD, USE_FIELD},
	{F_DATE_PART_TEXT_TIMESTAMP, extract_field, HAS_FIELD, USE_FIELD},
	{F_DATE_PART_TEXT_TIMESTAMPTZ, extract_field, HAS_FIELD, USE_FIELD},
	{F_DATE_PART_TEXT_INTERVAL, extract_field, HAS_FIELD, USE_FIELD},

	{F_LENGTH_TEXT, any_text_length, ALWAYS, GIVE_LENGTH},
	{F_LENGTH_BPCHAR, any_text_length, ALWAYS, GIVE_LENGTH},
	{F_CHAR_LENGTH_TEXT, any_text_length, ALWAYS, GIVE_LENGTH},
	{F_CHARACTER_LENGTH_TEXT, any_text_length, ALWAYS, GIVE_LENGTH},
	{F_OCTET_LENGTH_TEXT, any_text_length, ALWAYS, GIVE_LENGTH},
	{F_LOWER_TEXT, text_case, IS_SHORT, GIVE_LENGTH},
	{F_UPPER_TEXT, text_case, IS_SHORT, GIVE_LENGTH},
	{F_SUBSTR_TEXT_INT4, text_substring, NOT_NEGATIVE, GIVE_COUNT},
	{F_SUBSTR_TEXT_INT4_INT4, text_substring, NOT_NEGATIVE, GIVE_COUNT},
	{F_SUBSTRING_TEXT_INT4, text_substring, NOT_NEGATIVE, GIVE_COUNT},
	{F_SUBSTRING_TEXT_INT4_INT4, text_substring, NOT_NEGATIVE, GIVE_COUNT},
	{F_LEFT, text_end, IS_SHORT, GIVE_COUNT},
	{F_RIGHT, text_end, IS_SHORT, GIVE_COUNT},
	{F_BTRIM_TEXT, text_part, IS_SHORT, GIVE_LENGTH},
	{F_LTRIM_TEXT, text_part, IS_SHORT, GIVE_LENGTH},
	{F_RTRIM_TEXT, text_part, IS_SHORT, GIVE_LENGTH},
	{F_TEXTCAT, text_joined, IS_SHORT, GIVE_LENGTH},
	{F_TEXTLIKE, text_like, IS_SHORT, GIVE_LENGTH},
	{F_TEXTNLIKE, text_like, IS_SHORT, GIVE_LENGTH},
	{F_VARCHAR_VARCHAR_INT4_BOOL, text_to_form, IS_SHORT, "Cast to varchar(n) explicitly."},
	{F_BPCHAR_BPCHAR_INT4_BOOL, text_to_form, IS_SHORT, "Cast to char(n) explicitly."},
	{F_TEXT_BPCHAR, text_part, IS_SHORT, GIVE_LENGTH},
	{F_TEXT_BOOL, boolean_to_text, ALWAYS, GIVE_LENGTH},

	{F_JSONB_OBJECT_FIELD_TEXT, json_field, IS_SHORT, GIVE_JSON_LENGTH},
	{F_JSONB_OBJECT_FIELD, json_field, IS_SHORT, GIVE_JSON_LENGTH},
	{F_JSONB_TYPEOF, any_values, ALWAYS, USE_FIELD},
	{F_JSONB_EXISTS, any_values, ALWAYS, USE_FIELD}
};

const pe_fact *
pe_fact_of(Oid function)
{
	for (int i = 0; i < lengthof(facts); i++)
		if (facts[i].function == function)
			return &facts[i];
	return NULL;
}

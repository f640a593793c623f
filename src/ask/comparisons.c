/*
 * comparisons.c
 *	  Comparisons of two declared columns as attributes of a request.  See comparisons.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "ask/comparisons.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * Types
 * ------------------------------------------------------------------
 */

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID;
}

static bool
is_local(Oid type)
{
	return type == DATEOID || type == TIMESTAMPOID;
}

pe_compared_kind
pe_compared_kind_of(Oid one, Oid other)
{
	if (pe_type_is_integer(one) && pe_type_is_integer(other))
		return PE_COMPARED_INTEGERS;
	if (pe_type_is_number(one) && pe_type_is_number(other))
		return pe_type_is_float(one) || pe_type_is_float(other) ? PE_COMPARED_FLOATS : PE_COMPARED_NUMERICS;
	if (one == DATEOID && other == DATEOID)
		return PE_COMPARED_DATES;
	if ((is_local(one) && is_local(other)) || (one == TIMESTAMPTZOID && other == TIMESTAMPTZOID))
		return PE_COMPARED_TIMES;
	if (is_text(one) && is_text(other))
		return PE_COMPARED_TEXTS;
	if (one != other)
		return PE_COMPARED_NOT;
	if (one == BOOLOID)
		return PE_COMPARED_TRUTHS;
	if (one == UUIDOID)
		return PE_COMPARED_UUIDS;
	return type_is_enum(one) ? PE_COMPARED_ENUMS : PE_COMPARED_NOT;
}

bool
pe_compared_has_order(pe_compared_kind kind)
{
	return kind != PE_COMPARED_TEXTS && kind != PE_COMPARED_ENUMS;
}

bool
pe_compared_has_arithmetic(pe_compared_kind kind)
{
	return kind >= PE_COMPARED_INTEGERS && kind <= PE_COMPARED_TIMES;
}

static pe_comparison_how
how_of(pe_compared_kind kind)
{
	switch (kind)
	{
		case PE_COMPARED_NUMERICS:
			return PE_COMPARE_NUMERIC;
		case PE_COMPARED_FLOATS:
			return PE_COMPARE_FLOAT;
		case PE_COMPARED_TEXTS:
		case PE_COMPARED_UUIDS:
			return PE_COMPARE_BYTES;
		default:
			return PE_COMPARE_WHOLE;
	}
}

/* ------------------------------------------------------------------
 * One form
 * ------------------------------------------------------------------
 */

pe_compared
pe_compared_plain(const char *one, Oid one_type, const char *other, Oid other_type)
{
	return (pe_compared) {
		.name = {one, other}, .type = {one_type, other_type}, .above = {1, 1, 0}, .below = {1, 1, 1}, .times = 1
	};
}

/* f a against g b + c is g b against f a - c, the other way round. */
static void
exchange_sides(pe_compared *c)
{
	pe_compared was = *c;

	for (int side = 0; side < 2; side++)
	{
		c->name[side] = was.name[1 - side];
		c->type[side] = was.type[1 - side];
		c->above[side] = was.above[1 - side];
		c->below[side] = was.below[1 - side];
	}
	c->above[2] = -was.above[2];
}

static const char *
check_arithmetic(pe_compared_kind kind, const pe_comparison *comparison)
{
	bool		scaled = comparison->left != 1 || comparison->right != 1;

	if (!pe_compared_has_arithmetic(kind))
		return scaled || comparison->more != 0 ? "only numbers, dates and times have arithmetic" : NULL;
	return scaled && (kind == PE_COMPARED_DATES || kind == PE_COMPARED_TIMES)
		? "dates and times are not multiplied" : NULL;
}

static int64
microseconds_of(Oid type)
{
	return type == DATEOID ? USECS_PER_DAY : 1;
}

static const char *
settle_exact(pe_compared *c, pe_compared_kind kind, pe_comparison *comparison, bool *mirrored)
{
	bool		exchanged = strcmp(c->name[0], c->name[1]) > 0;
	const char *why;

	if (c->above[2] == PG_INT64_MIN)
		return "its numbers are too large";
	/* a negative NaN is not less than all others */
	if (kind == PE_COMPARED_NUMERICS && (c->above[0] < 0 || c->above[1] < 0))
		return "a factor of numeric is positive";
	if (exchanged)
		exchange_sides(c);
	if (!pe_comparison_reduce(c->above, c->below, comparison, mirrored) || comparison->right == 0)
		return "its numbers are too large, or zero";
	*mirrored ^= exchanged;
	why = check_arithmetic(kind, comparison);
	if (why != NULL || kind != PE_COMPARED_TIMES)
		return why;
	comparison->left = microseconds_of(c->type[0]);
	comparison->right = microseconds_of(c->type[1]);
	return NULL;
}

static const char *
settle_floats(pe_compared *c, pe_comparison *comparison, bool *mirrored)
{
	*mirrored = c->times == 1 && c->plus == 0 && strcmp(c->name[0], c->name[1]) > 0;
	if (*mirrored)
		exchange_sides(c);
	if (!isfinite(c->times) || !isfinite(c->plus) || (c->times != 1 && c->plus != 0))
		return "a column with a float has one factor, or one number that is added, on its right side";
	comparison->left = comparison->right = 1;
	comparison->times = c->times;
	comparison->plus = c->plus;
	return NULL;
}

const char *
pe_compared_settle(pe_compared *c, pe_comparison *comparison, bool *mirrored)
{
	pe_compared_kind kind = pe_compared_kind_of(c->type[0], c->type[1]);

	*comparison = (pe_comparison) {.how = how_of(kind), .times = 1};
	if (kind == PE_COMPARED_NOT)
		return "values of these types do not compare here";
	return kind == PE_COMPARED_FLOATS ? settle_floats(c, comparison, mirrored)
		: settle_exact(c, kind, comparison, mirrored);
}

static const char *
factor_text(int64 factor)
{
	return factor == 1 ? NULL : psprintf(INT64_FORMAT, factor);
}

/* A duration: in days where it is of days, unless these have no length. */
static const char *
duration_text(const char *sign, int64 microseconds, bool of_timestamptz)
{
	if (of_timestamptz || microseconds % USECS_PER_DAY != 0)
		return psprintf(" %s '" INT64_FORMAT " microseconds'", sign, microseconds);
	return psprintf(" %s '" INT64_FORMAT " days'", sign, microseconds / USECS_PER_DAY);
}

static const char *
more_text(const pe_compared *c, pe_compared_kind kind, int64 more)
{
	const char *sign = more < 0 ? "-" : "+";
	int64		size = more < 0 ? -more : more;

	if (more == 0)
		return "";
	return kind == PE_COMPARED_TIMES ? duration_text(sign, size, c->type[0] == TIMESTAMPTZOID)
		: psprintf(" %s " INT64_FORMAT, sign, size);
}

/* The shortest text that reads as a number; no setting changes it. */
static const char *
float_text(double number)
{
	char	   *text = NULL;

	for (int digits = 15; digits <= 17 && (text == NULL || strtod(text, NULL) != number); digits++)
		text = psprintf("%.*g", digits, number);
	return text;
}

pe_compared_sides
pe_compared_sides_of(const pe_compared *c, const pe_comparison *comparison)
{
	pe_compared_kind kind = pe_compared_kind_of(c->type[0], c->type[1]);
	pe_compared_sides sides = {.name = {c->name[0], c->name[1]}, .more = ""};

	if (kind == PE_COMPARED_FLOATS)
	{
		if (comparison->times != 1)
			sides.factor[1] = float_text(comparison->times);
		if (comparison->plus != 0)
			sides.more = psprintf(" %s %s", comparison->plus < 0 ? "-" : "+", float_text(fabs(comparison->plus)));
		return sides;
	}
	if (kind != PE_COMPARED_TIMES)
	{
		sides.factor[0] = factor_text(comparison->left);
		sides.factor[1] = factor_text(comparison->right);
	}
	sides.more = more_text(c, kind, comparison->more);
	return sides;
}

bool
pe_compared_interval(const Interval *interval, bool of_timestamptz, int64 *microseconds)
{
	pe_i128		all = (pe_i128) interval->day * USECS_PER_DAY + interval->time;

	*microseconds = (int64) all;
	return interval->month == 0 && (interval->day == 0 || !of_timestamptz) && *microseconds == all;
}

/* ------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------
 */

static bool
fail(pe_text_error *error, const char *message, const char *hint)
{
	snprintf(error->message, sizeof(error->message), "%s", message);
	snprintf(error->hint, sizeof(error->hint), "%s", hint);
	return false;
}

/* A column that is an attribute of this name. */
static bool
find_column(pe_dataset *dataset, const pe_compared_text *given, int side, pe_column **found, pe_text_error *error)
{
	char	   *name = pstrdup(given->name[side]);
	int			count = 1;

	*found = pe_columns_find(dataset, &name, &count, NULL, NULL);
	if (count == 1)
		return true;
	error->status = PE_TEXT_NO_ATTRIBUTE;
	error->position = (int) given->position[side];
	return fail(error, psprintf("there is no attribute \"%.*s\"", pe_shown_size(name), name), "");
}

/* Equal texts are equal bytes.  Where the table is gone, no row is read. */
static bool
is_bytewise(const pe_dataset *dataset, const pe_column *column)
{
	pe_column_place place;
	Oid			type;
	int32		modifier;
	Oid			collation;

	if (!pe_column_find_place(dataset, column->name, column->number, column->type, &place))
		return true;
	get_atttypetypmodcoll(place.relation, place.number, &type, &modifier, &collation);
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

/* Floats alone have what is no quotient of numbers of 18 digits. */
static bool
read_decimal(const char *text, pe_compared_kind kind, int64 *above, int64 *below, double *number, pe_text_error *error)
{
	*number = strtod(text, NULL);
	return kind == PE_COMPARED_FLOATS || pe_decimal_quotient(text, above, below) ||
		fail(error, psprintf("number \"%.64s\" cannot be compared with exactly", text),
			 "Use at most 18 digits, and no exponent.");
}

static bool
read_interval(const pe_literal *literal, pe_compared *c, pe_text_error *error)
{
	bool		of_timestamptz = c->type[0] == TIMESTAMPTZOID;
	Datum		interval;

	if (literal->kind != PE_LITERAL_STRING)
		return fail(error, "an interval is added to times", "Put it into single quotes: '7 days'.");
	interval = DirectFunctionCall3(interval_in, CStringGetDatum(literal->text), ObjectIdGetDatum(InvalidOid),
								   Int32GetDatum(-1));
	return pe_compared_interval(DatumGetIntervalP(interval), of_timestamptz, &c->above[2]) ||
		fail(error, "an interval has no fixed length",
			 of_timestamptz ? "Use hours: '24 hours'." : "Use days: '30 days'.");
}

static bool
read_more(const pe_compared_text *given, pe_compared_kind kind, pe_compared *c, pe_text_error *error)
{
	if (given->more == NULL)
		return true;
	if (kind == PE_COMPARED_TIMES)
	{
		if (!read_interval(given->more, c, error))
			return false;
	}
	else if (given->more->kind != PE_LITERAL_NUMBER)
		return fail(error, "a number is added to an attribute that is compared", "");
	else if (!read_decimal(given->more->text, kind, &c->above[2], &c->below[2], &c->plus, error))
		return false;
	if (kind == PE_COMPARED_DATES && c->below[2] != 1)
		return fail(error, "whole days are added to a date", "");
	if (given->minus && c->above[2] != PG_INT64_MIN)
	{
		c->above[2] = -c->above[2];
		c->plus = -c->plus;
	}
	return true;
}

/* A factor of floats stands on the right side. */
static bool
read_factors(const pe_compared_text *given, pe_compared_kind kind, pe_compared *c, bool *exchanged,
			 pe_text_error *error)
{
	double		number[2] = {1, 1};

	for (int side = 0; side < 2; side++)
		if (given->factor[side] != NULL &&
			!read_decimal(given->factor[side], kind, &c->above[side], &c->below[side], &number[side], error))
			return false;
	c->times = number[1];
	*exchanged = kind == PE_COMPARED_FLOATS && number[0] != 1 && number[1] == 1 && given->more == NULL;
	if (*exchanged)
	{
		exchange_sides(c);
		c->times = number[0];
	}
	return *exchanged || kind != PE_COMPARED_FLOATS || number[0] == 1 ||
		fail(error, "the factor of a comparison with a float stands on its right side", "");
}

static void
append_name(StringInfo to, const char *name)
{
	appendStringInfoChar(to, '"');
	for (const char *c = name; *c != '\0'; c++)
		appendStringInfo(to, *c == '"' ? "\"\"" : "%c", *c);
	appendStringInfoChar(to, '"');
}

/* Its text, in which no name can be mistaken. */
static char *
name_of(const pe_compared_sides *sides)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int side = 0; side < 2; side++)
	{
		appendStringInfoString(&text, side == 1 ? " <=> " : "");
		if (sides->factor[side] != NULL)
			appendStringInfo(&text, "%s * ", sides->factor[side]);
		append_name(&text, sides->name[side]);
	}
	appendStringInfoString(&text, sides->more);
	return text.data;
}

/* The place of a computed column of this name among those of the reader; their number: it is not there. */
static int
place_of(const pe_literal_reader *r, const char *name)
{
	int			at = 0;

	while (at < r->count && !(r->columns[at].computed && strcmp(r->columns[at].name, name) == 0))
		at++;
	return at;
}

/* That place, where it is put unless it is there. */
static void
put_column(pe_literal_reader *r, const pe_column *column, pe_declared *found)
{
	found->number = place_of(r, column->name);
	if (found->number == r->count)
	{
		pe_check_attributes(r->count + 1);
		r->columns[r->count++] = *column;
	}
	found->domain = &r->columns[found->number].domain;
}

bool
pe_compared_find(void *reader, const pe_compared_text *given, pe_declared *found, pe_compared_sides *sides,
				 bool *mirrored, pe_text_error *error)
{
	pe_literal_reader *r = reader;
	pe_column  *of[2];
	pe_compared c;
	pe_comparison comparison;
	pe_compared_kind kind;
	bool		exchanged;
	const char *why;

	for (int side = 0; side < 2; side++)
		if (!find_column(r->dataset, given, side, &of[side], error))
			return false;
	if (strcmp(of[0]->name, of[1]->name) == 0)
		return fail(error, "an attribute is compared with itself", "Use IS NOT NULL, or a comparison with a literal.");
	c = pe_compared_plain(of[0]->name, of[0]->type, of[1]->name, of[1]->type);
	kind = pe_compared_kind_of(c.type[0], c.type[1]);
	if (kind == PE_COMPARED_TEXTS && !(is_bytewise(r->dataset, of[0]) && is_bytewise(r->dataset, of[1])))
		return fail(error, "texts of a collation that is not deterministic do not compare here", "");
	if (!read_more(given, kind, &c, error) || !read_factors(given, kind, &c, &exchanged, error))
		return false;
	why = pe_compared_settle(&c, &comparison, mirrored);
	if (why != NULL)
		return fail(error, psprintf("attributes \"%.64s\" and \"%.64s\" are not compared: %s", of[0]->name, of[1]->name,
									why), "");
	*mirrored ^= exchanged;
	*sides = pe_compared_sides_of(&c, &comparison);
	if (c.name[0] != of[0]->name)
	{
		pe_column  *first = of[0];

		of[0] = of[1];
		of[1] = first;
	}
	*found = (pe_declared) {.ordered = pe_compared_has_order(kind)};
	put_column(r, &(pe_column) {
		.name = name_of(sides), .type = INT4OID, .cells = PE_COMPARED_CELLS,
		.declared = Max(of[0]->declared, of[1]->declared), .computed = true, .compared = {of[0], of[1]},
		.domain = pe_attribute_compares(&comparison)
	}, found);
	return true;
}

/* ------------------------------------------------------------------
 * Patterns
 * ------------------------------------------------------------------
 */

bool
pe_matched_is_text(Oid type)
{
	return is_text(type);
}

/* Whether it is known where characters begin: in UTF-8, or where each byte is one. */
static bool
has_characters(void)
{
	return GetDatabaseEncoding() == PG_UTF8 || pg_database_encoding_max_length() == 1;
}

const char *
pe_matched_read(const char *text, bool folded, pe_pattern *pattern, const char **hint)
{
	int			how = (GetDatabaseEncoding() == PG_UTF8 ? PE_PATTERN_CHARACTERS : 0) | (folded ? PE_PATTERN_FOLDED : 0);

	*hint = "";
	if (!has_characters())
		return "LIKE is of databases in UTF-8, or with one byte for each character";
	switch (pe_pattern_read(pattern, text, strlen(text), how))
	{
		case PE_PATTERN_TOO_LONG:
			return psprintf("a pattern of LIKE has more than %d bytes beside %%", PE_PATTERN_MOST);
		case PE_PATTERN_ENDS_ESCAPED:
			*hint = "Two backslashes stand for one.";
			return "a pattern of LIKE ends with the backslash that escapes";
		default:
			return NULL;
	}
}

char *
pe_matched_text(const pe_pattern *pattern)
{
	char		text[PE_PATTERN_TEXT];

	pe_pattern_write(pattern, text);
	return pe_quote_literal(text);
}

/* A declared or an open column of this name; false: there is none. */
static bool
find_text(pe_dataset *dataset, const char *name, pe_column **column)
{
	char	   *one = pstrdup(name);
	int			count = 1;
	int			opens = 0;
	pe_column  *open = palloc(sizeof(*open));
	pe_column  *declared = pe_columns_find(dataset, &one, &count, open, &opens);

	*column = opens > 0 ? open : declared;
	return opens + count > 0;
}

/* Whether the owner has opened it: else nobody may look for what its values have in common. */
static bool
is_opened(const pe_column *column)
{
	return column->bare || column->open;
}

pe_column *
pe_measured_text(pe_dataset *dataset, const char *name)
{
	pe_column  *column;
	char	   *one = pstrdup(name);
	int			count = 1;

	if (!find_text(dataset, name, &column))
		column = pe_columns_load(dataset, &one, &count);	/* which refuses it */
	if (!is_text(column->type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("attribute \"%s\" has type %s, and length is of text and varchar", column->name,
						format_type_be(column->type))));
	if (!is_opened(column))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("column \"%s\" of dataset \"%s\" is not open", column->name, dataset->name),
				 errhint("The owner can open it: dp.add_attribute(%s, %s, open => true).",
						 quote_literal_cstr(dataset->name), quote_literal_cstr(column->name))));
	if (!has_characters())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("length is of databases in UTF-8, or with one byte for each character")));
	return column;
}

bool
pe_matched_find(void *reader, const char *name, const pe_literal *given, bool folded, pe_declared *found,
				const char **canonical, pe_text_error *error)
{
	pe_literal_reader *r = reader;
	pe_column  *column;
	pe_pattern	pattern;
	const char *hint;
	const char *why;
	StringInfoData text;

	if (!find_text(r->dataset, name, &column))
	{
		error->status = PE_TEXT_NO_ATTRIBUTE;
		return fail(error, psprintf("there is no attribute \"%.*s\"", pe_shown_size(name), name), "");
	}
	if (!is_text(column->type))
		return fail(error, psprintf("attribute \"%.64s\" has type %s, and LIKE is of text and varchar", column->name,
									format_type_be(column->type)), "");
	if (!is_opened(column))
		return fail(error, psprintf("attribute \"%.64s\" is not open, and LIKE is of open texts", column->name),
					"Compare it with its levels by IN; the owner can open it by dp.add_attribute with open => true.");
	if (!is_bytewise(r->dataset, column))
		return fail(error, "LIKE is not of a collation that is not deterministic", "");
	if (given->kind != PE_LITERAL_STRING)
		return fail(error, "a pattern of LIKE is a text", "Put it into single quotes: '%a%'.");
	why = pe_matched_read(given->text, folded, &pattern, &hint);
	if (why != NULL)
		return fail(error, why, hint);
	*canonical = pe_matched_text(&pattern);
	initStringInfo(&text);
	append_name(&text, column->name);
	appendStringInfo(&text, " %s %s", folded ? "ILIKE" : "LIKE", *canonical);
	put_column(r, &(pe_column) {
		.name = text.data, .type = column->type, .cells = 3, .declared = column->declared, .computed = true,
		.compared = {column}, .domain = pe_attribute_matches(&pattern)
	}, found);
	return true;
}

void
pe_compared_read(pe_column *to, const pe_column *columns, int count)
{
	for (int i = 0; i < count; i++)
		to[i] = columns[i].compared[0] != NULL ? *columns[i].compared[0] : columns[i];
}

static void
refuse_column(const pe_column *column, const char *what, const char *hint)
{
	const pe_column *right = column->compared[1];

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 right != NULL ? errmsg("%s does not compare columns with each other", what)
			 : errmsg("%s has no LIKE", what),
			 right != NULL
			 ? errdetail("The predicate compares \"%s\" and \"%s\". Nothing was charged.",
						 column->compared[0]->name, right->name)
			 : errdetail("The predicate has %s. Nothing was charged.", column->name),
			 errhint("%s", hint)));
}

void
pe_refuse_compared_pairs(const pe_column *columns, int count, const char *what)
{
	for (int i = 0; i < count; i++)
		if (columns[i].compared[1] != NULL)
			refuse_column(&columns[i], what,
						  "In SELECT, write FILTER in place of WHERE: count(*) FILTER (WHERE a < b).");
}

void
pe_refuse_compared(const pe_column *columns, int count, const char *what)
{
	for (int i = 0; i < count; i++)
		if (columns[i].compared[0] != NULL)
			refuse_column(&columns[i], what, "Counts, sums and averages do: dp.aggregate and SELECT.");
}

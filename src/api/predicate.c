/*
 * predicate.c
 *	  Predicates over the attributes of a dataset.  See predicate.h.
 *
 * The only functions of the server that a predicate calls are the input and
 * output functions of the base types of attributes, by their OIDs, each once per
 * literal and before anything is charged.  These types are built in, or enums
 * (pe_type_key), and so are the functions; domains are passed over, so that no
 * CHECK of anybody's runs.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "api/predicate.h"
#include "server/access.h"
#include "server/values.h"

/* The longest text of a predicate, in bytes. */
#define PREDICATE_SIZE (64 * 1024)

typedef struct reader
{
	pe_dataset *dataset;
	const char *text;
	pe_column  *columns;
	int			count;
	int			position;		/* of the literal that is being read */
} reader;

static int
character_position(const char *text, int position)
{
	return pg_mbstrlen_with_len(text, position) + 1;
}

static bool
find_attribute(void *context, const char *name, pe_predicate_attribute *found)
{
	reader	   *r = context;
	pe_column  *column;

	for (found->number = 0; found->number < r->count; found->number++)
		if (strcmp(r->columns[found->number].name, name) == 0)
			break;
	column = &r->columns[found->number];
	if (found->number == r->count)
	{
		pe_column	loaded;

		if (!pe_column_find(r->dataset, name, &loaded))
			return false;
		pe_check_attributes(r->count + 1);
		*column = loaded;
		r->count++;
	}
	found->domain = &column->domain;
	found->ordered = column->ordered;
	found->points = column->points;
	return true;
}

/* ------------------------------------------------------------------
 * Literals
 * ------------------------------------------------------------------
 */

/* Shows where in the predicate the literal stands that an input function refuses. */
static void
tell_position(void *argument)
{
	const reader *r = argument;

	internalerrquery(r->text);
	internalerrposition(character_position(r->text, r->position));
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_number(Oid type)
{
	return is_integer(type) || type == FLOAT4OID || type == FLOAT8OID || type == NUMERICOID;
}

/* A number that is written with a fraction or an exponent and yet is whole is an integer. */
static bool
read_integer(Oid type, const char *text, Datum *value)
{
	Datum		number = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));

	if (!pe_datum_is_finite(NUMERICOID, number) ||
		!DatumGetBool(DirectFunctionCall2(numeric_eq, number, DirectFunctionCall1(numeric_ceil, number))))
		return false;
	*value = pe_datum_of_int(type, DatumGetInt64(DirectFunctionCall1(numeric_int8, number)));
	return true;
}

/* The type's own reading of a literal, under the session's settings; false with the message. */
static bool
read_datum(Oid type, const pe_literal *literal, Datum *value, pe_predicate_error *error)
{
	Oid			input;
	Oid			parameter;

	if ((literal->kind == PE_LITERAL_NUMBER && !is_number(type)) ||
		(literal->kind == PE_LITERAL_BOOLEAN && type != BOOLOID))
	{
		snprintf(error->message, sizeof(error->message), "\"%.64s\" is not a literal of type %s",
				 literal->text, format_type_be(type));
		if (type != BOOLOID && !is_number(type))
			snprintf(error->hint, sizeof(error->hint), "Put it into single quotes.");
		return false;
	}
	if (is_integer(type) && literal->kind == PE_LITERAL_NUMBER && strpbrk(literal->text, ".eE") != NULL)
	{
		if (read_integer(type, literal->text, value))
			return true;
		snprintf(error->message, sizeof(error->message), "a literal of type %s must be a whole number", format_type_be(type));
		return false;
	}
	getTypeInputInfo(type, &input, &parameter);
	*value = OidInputFunctionCall(input, unconstify(char *, literal->text), parameter, -1);
	if (pe_datum_is_finite(type, *value))
		return true;
	snprintf(error->message, sizeof(error->message), "a literal must be finite");
	return false;
}

/* A string in single quotes as the language has them: whatever the setting, a backslash is a backslash. */
static char *
quoted(const char *text)
{
	StringInfoData to;

	initStringInfo(&to);
	appendStringInfoChar(&to, '\'');
	for (; *text; text++)
	{
		if (*text == '\'')
			appendStringInfoChar(&to, '\'');
		appendStringInfoChar(&to, *text);
	}
	appendStringInfoChar(&to, '\'');
	return to.data;
}

/* A value as a literal: the same text whatever the session's settings, and read back under any. */
static char *
canonical_literal(Oid type, Datum value)
{
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;
	Oid			output;
	bool		varlena;
	char	   *text;

	if (type == BOOLOID)
		return pstrdup(DatumGetBool(value) ? "true" : "false");
	getTypeOutputInfo(type, &output, &varlena);
	if (type == FLOAT4OID || type == FLOAT8OID)
		value = type == FLOAT4OID ? Float4GetDatum(DatumGetFloat4(value) + 0.0f) : Float8GetDatum(DatumGetFloat8(value) + 0.0);
	if (type == NUMERICOID)		/* 1.0 and 1.00 are one number */
		value = DirectFunctionCall1(numeric_trim_scale, value);
	pe_access_begin(&access);
	MemoryContextSwitchTo(here);
	text = OidOutputFunctionCall(output, value);
	pe_access_end(&access);
	if (type == BPCHAROID)		/* the blanks that pad it do not count */
		text[bpchartruelen(text, strlen(text))] = '\0';
	return is_number(type) ? text : quoted(text);
}

static bool
find_literal(void *context, const pe_predicate_attribute *attribute, const pe_literal *literal,
			 pe_point *value, const char **canonical, pe_predicate_error *error)
{
	reader	   *r = context;
	Oid			type = r->columns[attribute->number].type;
	ErrorContextCallback callback = {error_context_stack, tell_position, r};
	Datum		datum;
	bool		read;

	r->position = literal->position;
	error_context_stack = &callback;
	read = read_datum(type, literal, &datum, error);
	error_context_stack = callback.previous;
	if (!read)
		return false;
	*value = pe_point_of_datum(type, datum);
	*canonical = canonical_literal(type, datum);
	return true;
}

/* ------------------------------------------------------------------
 * Predicates
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
raise_error(const char *text, const pe_predicate_error *error)
{
	int			code = error->status == PE_PREDICATE_SYNTAX ? ERRCODE_SYNTAX_ERROR
		: error->status == PE_PREDICATE_NO_ATTRIBUTE ? ERRCODE_UNDEFINED_OBJECT
		: error->status == PE_PREDICATE_TOO_LARGE ? ERRCODE_PROGRAM_LIMIT_EXCEEDED
		: ERRCODE_INVALID_PARAMETER_VALUE;

	ereport(ERROR,
			(errcode(code),
			 errmsg("%s", error->message),
			 error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
			 error->hint[0] != '\0' ? errhint("%s", error->hint) : 0,
			 internalerrquery(text),
			 internalerrposition(character_position(text, error->position))));
	pg_unreachable();
}

pe_predicate *
pe_predicate_argument(pe_dataset *dataset, const char *text, pe_column *columns, int *count)
{
	reader		r = {dataset, text, columns, *count, 0};
	pe_predicate_source source = {&r, find_attribute, find_literal};
	pe_predicate *predicate = palloc(sizeof(*predicate));
	pe_predicate_error error;

	if (strlen(text) > PREDICATE_SIZE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the predicate is longer than %d bytes", PREDICATE_SIZE)));
	if (!pe_predicate_parse(text, &source, predicate, &error))
		raise_error(text, &error);
	*count = r.count;
	return predicate;
}

bool *
pe_predicate_cells(const pe_predicate *predicate, const pe_domain *domain)
{
	bool	   *possible = pe_alloc(domain->cells, sizeof(*possible));
	bool		some;

	if (pe_predicate_possible(predicate, domain, possible, &some) != PE_PREDICATE_OK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the predicate tells too many combinations of cells apart"),
				 errdetail("A request may have at most %d.", PE_PREDICATE_COMBINATIONS),
				 errhint("Use fewer attributes in it.")));
	if (!some)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the predicate selects no cell"),
				 errdetail("It is true for no combination of declared levels and bins.")));
	return possible;
}

/*
 * literals.c
 *	  Literals of the attributes of a dataset.  See literals.h.
 *
 * The only functions of the server that a literal calls are the input and
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

#include "ask/comparisons.h"
#include "ask/literals.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/values.h"

char *
pe_quote_literal(const char *text)
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

static int
character_position(const char *text, int position)
{
	return pg_mbstrlen_with_len(text, position) + 1;
}

/* ------------------------------------------------------------------
 * Open columns, whose levels are the literals of the text
 * ------------------------------------------------------------------
 */

typedef struct pe_listed_literal
{
	pe_point	point;
	const char *canonical;
	struct pe_listed_literal *next;
} listed_literal;

/* Rows with no value of the text, and those without a value, have cells: none is dropped. */
static void
make_levels(pe_column *column, const pe_point *point, char **text, int32 count)
{
	pe_attribute *a = &column->domain;

	memset(a, 0, sizeof(*a));
	*a = (pe_attribute) {.kind = PE_LEVELS, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_CELL, .points = count};
	if (!pe_type_key(column->type, &a->key))
		elog(ERROR, "type of column \"%s\" is not supported", column->name);
	a->point = pe_alloc(count, sizeof(*a->point));
	memcpy(a->point, point, count * sizeof(*point));
	if (pe_attribute_prepare(a) != PE_DOMAIN_OK)
		elog(ERROR, "the literals of column \"%s\" are no levels", column->name);
	column->points = text;
	column->cells = pe_attribute_cells(a);
}

/* The level that stands for all literals, as they are listed. */
static void
make_level(pe_column *column)
{
	static const pe_point any = {.b = {"", 0}};
	static const pe_point zero = {.i = 0};
	pe_key		key;
	char	  **text = palloc(sizeof(char *));

	text[0] = pstrdup("''");
	make_levels(column, pe_type_key(column->type, &key) && key == PE_KEY_BYTES ? &any : &zero, text, 1);
}

/* One that is open and without cells has a list of its literals.  False: there is none of this name. */
static bool
add_column(pe_literal_reader *r, const char *name)
{
	int			count = 1;
	int			opens = 0;
	pe_column	open;
	pe_column  *found = pe_columns_find(r->dataset, (char *[]) {(char *) name}, &count,
										r->listed != NULL ? &open : NULL, &opens);

	if (count + opens == 0)
		return false;
	pe_check_attributes(r->count + 1);
	r->columns[r->count] = opens > 0 ? open : found[0];
	if (opens > 0)
	{
		make_level(&r->columns[r->count]);
		r->listed[r->count] = palloc0(sizeof(listed_literal));
	}
	r->count++;
	return true;
}

/* Each once, in the order of their texts, however the text has them. */
static void
list_literal(listed_literal *first, const pe_point *point, const char *canonical)
{
	listed_literal *before = first;
	listed_literal *made;

	while (before->next != NULL && strcmp(before->next->canonical, canonical) < 0)
		before = before->next;
	if (before->next != NULL && strcmp(before->next->canonical, canonical) == 0)
		return;
	made = palloc(sizeof(*made));
	*made = (listed_literal) {*point, canonical, before->next};
	before->next = made;
}

/* A column that is only tested for NULL keeps the level that is there. */
static void
make_listed(pe_column *column, const listed_literal *first)
{
	int32		count = 0;
	pe_point   *point;
	char	  **text;

	for (const listed_literal *l = first->next; l != NULL; l = l->next)
		count++;
	if (count == 0)
		return;
	point = palloc(count * sizeof(*point));
	text = palloc(count * sizeof(*text));
	count = 0;
	for (const listed_literal *l = first->next; l != NULL; l = l->next)
	{
		point[count] = l->point;
		text[count++] = (char *) l->canonical;
	}
	make_levels(column, point, text, count);
}

bool
pe_literals_listed(pe_literal_reader *r)
{
	bool		any = false;

	for (int i = 0; i < r->count; i++)
		if (r->listed[i] != NULL)
		{
			make_listed(&r->columns[i], r->listed[i]);
			r->listed[i] = NULL;
			any = true;
		}
	return any;
}

static bool
find_attribute(void *context, const char *name, pe_declared *found)
{
	pe_literal_reader *r = context;
	pe_column  *column;

	for (found->number = 0; found->number < r->count; found->number++)
		if (strcmp(r->columns[found->number].name, name) == 0 && !r->columns[found->number].computed &&
			!(r->declared && r->columns[found->number].roll_up != NULL))
			break;
	column = &r->columns[found->number];
	if (found->number == r->count && !add_column(r, name))
		return false;
	found->domain = &column->domain;
	found->ordered = column->ordered;
	found->points = column->points;
	found->listed = column->bare;
	return true;
}

/* Shows where in the text the literal stands that an input function refuses. */
static void
tell_position(void *argument)
{
	const pe_literal_reader *r = argument;

	internalerrquery(r->text);
	internalerrposition(character_position(r->text, r->position));
}

/* A number that is written with a fraction or an exponent and yet is whole is an integer. */
static bool
read_integer(Oid type, const char *text, Datum *value)
{
	Datum		number = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid),
											 Int32GetDatum(-1));

	if (!pe_datum_is_finite(NUMERICOID, number) ||
		!DatumGetBool(DirectFunctionCall2(numeric_eq, number, DirectFunctionCall1(numeric_ceil, number))))
		return false;
	*value = pe_datum_of_int(type, DatumGetInt64(DirectFunctionCall1(numeric_int8, number)));
	return true;
}

/* The type's own reading of a literal, under the session's settings; false with the message. */
static bool
read_datum(Oid type, const pe_literal *literal, Datum *value, pe_text_error *error)
{
	if ((literal->kind == PE_LITERAL_NUMBER && !pe_type_is_number(type)) ||
		(literal->kind == PE_LITERAL_BOOLEAN && type != BOOLOID))
	{
		snprintf(error->message, sizeof(error->message), "\"%.64s\" is not a literal of type %s",
				 literal->text, format_type_be(type));
		if (type != BOOLOID && !pe_type_is_number(type))
			snprintf(error->hint, sizeof(error->hint), "Put it into single quotes.");
		return false;
	}
	if (pe_type_is_integer(type) && literal->kind == PE_LITERAL_NUMBER && strpbrk(literal->text, ".eE") != NULL)
	{
		if (read_integer(type, literal->text, value))
			return true;
		snprintf(error->message, sizeof(error->message), "a literal of type %s must be a whole number",
				 format_type_be(type));
		return false;
	}
	*value = pe_datum_of_text(type, unconstify(char *, literal->text));
	if (pe_datum_is_finite(type, *value))
		return true;
	snprintf(error->message, sizeof(error->message), "a literal must be finite");
	return false;
}

/*
 * A value as a literal: the same text under all settings of a session, and read
 * back under any.
 */
static char *
canonical_literal(Oid type, Datum value)
{
	MemoryContext here = CurrentMemoryContext;
	bool		is_shown_as_set = pe_type_is_float(type) || pe_type_is_time(type);
	pe_access	access;
	Oid			output;
	bool		varlena;
	char	   *text;

	if (type == BOOLOID)
		return pstrdup(DatumGetBool(value) ? "true" : "false");
	getTypeOutputInfo(type, &output, &varlena);
	if (pe_type_is_float(type))
		value = type == FLOAT4OID ? Float4GetDatum(DatumGetFloat4(value) + 0.0f)
			: Float8GetDatum(DatumGetFloat8(value) + 0.0);
	if (type == NUMERICOID)		/* 1.0 and 1.00 are one number */
		value = DirectFunctionCall1(numeric_trim_scale, value);
	if (is_shown_as_set)
		pe_access_begin(&access);
	MemoryContextSwitchTo(here);
	text = OidOutputFunctionCall(output, value);
	if (is_shown_as_set)
		pe_access_end(&access);
	if (type == BPCHAROID)		/* the blanks that pad it do not count */
		text[bpchartruelen(text, strlen(text))] = '\0';
	return pe_type_is_number(type) ? text : pe_quote_literal(text);
}

static bool
find_literal(void *context, const pe_declared *attribute, const pe_literal *literal,
			 pe_point *value, const char **canonical, pe_text_error *error)
{
	pe_literal_reader *r = context;
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
	if (r->listed != NULL && r->listed[attribute->number] != NULL)
	{
		list_literal(r->listed[attribute->number], value, *canonical);
		*value = attribute->domain->point[0];
	}
	return true;
}

pe_literal_source
pe_literals(pe_literal_reader *reader)
{
	return (pe_literal_source) {
		reader, find_attribute, find_literal, reader->compares ? pe_compared_find : NULL,
		reader->compares ? pe_matched_find : NULL, reader->as_written
	};
}

static int
sqlstate_of(pe_text_status status)
{
	switch (status)
	{
		case PE_TEXT_NO_ATTRIBUTE:
			return ERRCODE_UNDEFINED_OBJECT;
		case PE_TEXT_INVALID:
			return ERRCODE_INVALID_PARAMETER_VALUE;
		case PE_TEXT_TOO_LARGE:
			return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
		default:
			return ERRCODE_SYNTAX_ERROR;
	}
}

void
pe_tell_similar(const char *text, pe_text_error *error, char *const *names, int count)
{
	pe_text_error ignored;
	pe_text		t = {.what = "name", .text = text, .at = (size_t) error->position, .error = &ignored};
	char		name[PE_NAME_SIZE];
	int			similar;

	if (error->status != PE_TEXT_NO_ATTRIBUTE || error->hint[0] != '\0' || !pe_text_name(&t, name, "an attribute"))
		return;
	similar = pe_similar_text(name, names, count);
	if (similar >= 0)
		snprintf(error->hint, sizeof(error->hint), "Perhaps you meant \"%.*s\".", pe_shown_size(names[similar]),
				 names[similar]);
}

void
pe_refuse_text(const char *text, const pe_text_error *error)
{
	ereport(ERROR,
			(errcode(sqlstate_of(error->status)),
			 errmsg("%s", error->message),
			 error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
			 error->hint[0] != '\0' ? errhint("%s", error->hint) : 0,
			 internalerrquery(text),
			 internalerrposition(character_position(text, error->position))));
	pg_unreachable();
}

/*
 * attributes.c
 *	  Declaring the attributes of a dataset: levels and bins.
 *
 * A declaration is public and never looks at a row.  Values given in any type,
 * or as literals, become values of the column's type by its own input function.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "common/shortest_dec.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "server/arguments.h"
#include "server/access.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "ledger/series.h"
#include "server/settings.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_add_levels);
PG_FUNCTION_INFO_V1(pe_sql_add_bins);
PG_FUNCTION_INFO_V1(pe_sql_add_steps);
PG_FUNCTION_INFO_V1(pe_sql_add_edges);
PG_FUNCTION_INFO_V1(pe_sql_open_attribute);
PG_FUNCTION_INFO_V1(pe_sql_alter_levels);
PG_FUNCTION_INFO_V1(pe_sql_alter_bins);
PG_FUNCTION_INFO_V1(pe_sql_alter_steps);
PG_FUNCTION_INFO_V1(pe_sql_alter_edges);
PG_FUNCTION_INFO_V1(pe_sql_alter_open);
PG_FUNCTION_INFO_V1(pe_sql_drop_attribute);

/* Bytes of the levels or edges of an attribute, at most. */
#define MOST_BYTES (32 * 1024 * 1024)

/* A declaration in the making. */
typedef struct declaration
{
	pe_dataset *dataset;
	char	   *column;
	Oid			type;			/* base type of the column */
	char	   *outside;
	char	   *nulls;
	pe_attribute attribute;
	Datum	   *value;			/* levels or edges */
	bool		last_given;		/* the caller says whether the last bin is open */
	bool		equal_bins;		/* the edges follow from lower, upper and bins */
	bool		literal;		/* the levels are an array literal */
} declaration;

static void
set_rules(declaration *d, char *outside, char *nulls, pe_kind kind)
{
	bool		known = strcmp(outside, "drop") == 0 || strcmp(outside, "other") == 0 || strcmp(outside, "clamp") == 0;

	if (!known || (kind == PE_LEVELS && outside[0] == 'c'))
		pe_refuse_parameter("outside", outside, kind == PE_LEVELS ? "drop or other" : "clamp, drop or other");
	if (strcmp(nulls, "drop") != 0 && strcmp(nulls, "cell") != 0)
		pe_refuse_parameter("nulls", nulls, "drop or cell");
	d->outside = outside;
	d->nulls = nulls;
	d->attribute.kind = kind;
	d->attribute.outside = (pe_outside) outside[0];
	d->attribute.nulls = (pe_nulls) nulls[0];
}

/*
 * Whether the last bin is open.  Periods of time are: with a closed one, the first
 * instant after a week would count in that week too.
 */
static void
set_last(declaration *d, FunctionCallInfo fcinfo, int n)
{
	char	   *last = PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));

	if (last != NULL && strcmp(last, "open") != 0 && strcmp(last, "closed") != 0)
		pe_refuse_parameter("last", last, "open or closed");
	d->last_given = last != NULL;
	d->attribute.open = last != NULL ? last[0] == 'o'
		: pe_type_is_time(d->type);
}

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

static void
refuse_bins(const declaration *d)
{
	char	   *table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(d->dataset->relation)),
												   get_rel_name(d->dataset->relation));
	const char *column = quote_identifier(d->column);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("column \"%s\" of type %s has no order to make bins of", d->column, format_type_be(d->type)),
			 is_text(d->type)
			 ? errhint("Declare its levels instead. If it holds numbers, make a column of them and declare that: "
					   "ALTER TABLE %s ADD COLUMN %s numeric GENERATED ALWAYS AS (%s::numeric) STORED.",
					   table, quote_identifier(psprintf("%s_number", d->column)), column)
			 : errhint("Declare its levels instead.")));
}

static void
begin_declaration(declaration *d, FunctionCallInfo fcinfo, pe_kind kind, int rules)
{
	AttrNumber	number;

	memset(d, 0, sizeof(*d));
	d->dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));
	if (PG_ARGISNULL(1))
		pe_refuse_null("attribute");
	if (d->dataset->frozen)		/* its relation is another one here, and so are the columns */
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("dataset \"%s\" is frozen", d->dataset->name),
				 errhint("The owner of the table lifts the freeze with dp.attest.")));
	d->column = pe_column_as_given(d->dataset->relation, NameStr(*PG_GETARG_NAME(1)));
	if (rules > 0)
		set_rules(d, pe_text_argument(fcinfo, rules, "outside"), pe_text_argument(fcinfo, rules + 1, "nulls"), kind);
	else
		set_rules(d, "drop", "drop", kind);

	number = get_attnum(d->dataset->relation, d->column);
	if (number <= 0)
		pe_refuse_missing_column(d->dataset, d->column);
	pe_column_check_stored(d->dataset->relation, number);
	pe_dataset_check_public(d->dataset, d->column);
	d->type = getBaseType(get_atttype(d->dataset->relation, number));
	if (!pe_type_key(d->type, &d->attribute.key))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of type %s cannot be an attribute", d->column, format_type_be(d->type)),
				 errhint("Attributes are numbers, booleans, enums, dates, timestamps, uuid or text.")));
	if (kind == PE_BINS && !pe_type_has_bins(d->type))
		refuse_bins(d);
	if (kind == PE_BINS)
		set_last(d, fcinfo, rules + 2);
}

static void
set_points(declaration *d, Datum *values, int count)
{
	d->value = values;
	d->attribute.points = count;
	d->attribute.point = palloc0(Max(count, 1) * sizeof(*d->attribute.point));
	for (int i = 0; i < count; i++)
		d->attribute.point[i] = pe_point_of_datum(d->type, values[i]);
}

/* Prepared as far as that goes, levels are found by their values: the first that is found before its own place. */
static void
refuse_duplicate(const declaration *d)
{
	Oid			output;
	bool		varlena;
	char	   *level;
	int			i = 0;

	while (i < d->attribute.points - 1 && pe_attribute_find_point(&d->attribute, &d->attribute.point[i]) == i)
		i++;
	getTypeOutputInfo(d->type, &output, &varlena);
	level = OidOutputFunctionCall(output, d->value[i]);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("level \"%.*s\" of attribute \"%s\" is given twice", pe_shown_size(level), level, d->column),
			 d->literal && is_text(d->type)
			 ? errhint("Commas part the levels of an array literal: "
					   "one that has a comma in it stands in double quotes there, '{\"a, b\",c}'.") : 0));
}

static void
check_declaration(declaration *d)
{
	bool		levels = d->attribute.kind == PE_LEVELS;
	const char *what = levels ? "levels" : "edges";

	switch (pe_attribute_prepare(&d->attribute))
	{
		case PE_DOMAIN_OK:
			break;
		case PE_DOMAIN_EMPTY:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("attribute \"%s\" needs at least %s", d->column, levels ? "one level" : "two edges")));
			break;
		case PE_DOMAIN_NOT_FINITE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the %s of attribute \"%s\" must be finite", what, d->column)));
			break;
		case PE_DOMAIN_DUPLICATE:
			refuse_duplicate(d);
			break;
		case PE_DOMAIN_NOT_ASCENDING:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the edges of attribute \"%s\" must ascend", d->column),
					 errdetail("Each bin needs a lower edge below its upper edge, after rounding to type %s.",
							   format_type_be(d->type))));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("attribute \"%s\" has too many cells", d->column),
					 errdetail("The limit is %d.", PE_MAX_CELLS)));
	}
}

/* ------------------------------------------------------------------
 * The last bin of whole numbers
 * ------------------------------------------------------------------
 */

/* A whole number as text in the column's type; NULL if the type does not hold it. */
static char *
whole_text(const declaration *d, int64 value)
{
	Oid			output;
	bool		varlena;

	if ((d->type == INT2OID && value > PG_INT16_MAX) || (d->type == INT4OID && value > PG_INT32_MAX))
		return NULL;
	getTypeOutputInfo(d->type, &output, &varlena);
	return OidOutputFunctionCall(output, pe_datum_of_int(d->type, value));
}

/*
 * Whether all bins hold one whole value, except the upper end of a closed last
 * one.
 */
static bool
bins_hold_one_value(const declaration *d)
{
	const pe_point *edge = d->attribute.point;

	for (int i = 1; i < d->attribute.points; i++)
		if (edge[i].i != edge[i - 1].i + 1)
			return false;
	return d->attribute.points > 2;
}

/* A bin more for the upper end, or none: both with an open last bin. */
static char *
hint_of_open_bins(const declaration *d)
{
	int			bins = d->attribute.points - 1;
	int64		upper = d->attribute.point[bins].i;
	char	   *lower = whole_text(d, d->attribute.point[0].i);
	char	   *next = upper < PG_INT64_MAX ? whole_text(d, upper + 1) : NULL;
	char	   *below = psprintf("last => 'open' for values from %s to %s", lower, whole_text(d, upper - 1));

	if (next == NULL)
		return psprintf("Use %s.", below);
	return psprintf("Use %s, last => 'open' for a bin of each value from %s to %s, or %s.",
					d->equal_bins ? psprintf("upper => %s, bins => %d", next, bins + 1)
					: psprintf("one more edge, %s", next),
					lower, whole_text(d, upper), below);
}

/*
 * A closed last bin holds its upper end, too.  Beside bins of one value that is two
 * values where one is meant; beside others it is said.  A single bin is a range.
 */
static void
check_last_bin(const declaration *d)
{
	int			bins = d->attribute.points - 1;
	const pe_point *edge = d->attribute.point;

	if (d->attribute.kind != PE_BINS || d->attribute.open || d->attribute.key != PE_KEY_INT)
		return;
	if (bins_hold_one_value(d))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the last bin of attribute \"%s\" would hold two values, %s and %s", d->column,
						whole_text(d, edge[bins - 1].i), whole_text(d, edge[bins].i)),
				 errdetail("Every other bin holds one. The last one is closed: it holds its upper end."),
				 errhint("%s", hint_of_open_bins(d))));
	if (bins > 1 && !d->last_given)
		ereport(NOTICE,
				(errmsg("the last bin of attribute \"%s\" holds its upper end: it is from %s to %s", d->column,
						whole_text(d, edge[bins - 1].i), whole_text(d, edge[bins].i)),
				 errhint("Use last => 'closed' to say so, or last => 'open' to leave %s out.",
						 whole_text(d, edge[bins].i))));
}

/* Whether the points ascend in the order of the column's type; text is compared bytewise. */
static bool
is_ordered(const declaration *d)
{
	TypeCacheEntry *cache = lookup_type_cache(d->type, TYPECACHE_CMP_PROC_FINFO);

	for (int i = 1; i < d->attribute.points; i++)
		if (DatumGetInt32(FunctionCall2Coll(&cache->cmp_proc_finfo, C_COLLATION_OID,
											d->value[i - 1], d->value[i])) >= 0)
			return false;
	return true;
}

/* Anybody may look at all declarations, and has each in one piece. */
static void
check_length(const declaration *d, char **texts)
{
	Size		length = 0;

	for (int i = 0; i < d->attribute.points; i++)
		length += strlen(texts[i]);
	if (length > MOST_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the levels or edges of attribute \"%s\" are too long", d->column),
				 errdetail("They may have at most %d bytes together.", MOST_BYTES)));
}

/*
 * Stores a declaration; type and points as text in one form, independent of the
 * session's settings.
 */
static void
end_declaration(declaration *d, bool alters)
{
	char	  **texts = palloc(Max(d->attribute.points, 1) * sizeof(char *));
	char	   *type;
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;
	Oid			output;
	bool		varlena;

	check_declaration(d);
	check_last_bin(d);
	getTypeOutputInfo(d->type, &output, &varlena);
	pe_access_begin(&access);
	MemoryContextSwitchTo(here);
	for (int i = 0; i < d->attribute.points; i++)
		texts[i] = d->type == BOOLOID
			? (DatumGetBool(d->value[i]) ? "true" : "false")
			: OidOutputFunctionCall(output, d->value[i]);
	type = pe_type_name(d->type);
	pe_access_end(&access);
	check_length(d, texts);
	pe_attribute_register(d->dataset, d->column, type, &d->attribute,
						  texts, is_ordered(d), d->outside, d->nulls, alters);
	if (alters)
		pe_series_end_using(d->dataset->id, d->column, psprintf("attribute \"%s\" was altered", d->column));
}

/* The labels of an enum, in their order. */
static Datum *
enum_labels(Oid type, int *count)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	Relation	index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
	Datum	   *labels = NULL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
	scan = systable_beginscan_ordered(catalog, index, NULL, 1, &key);
	for (*count = 0; HeapTupleIsValid(tuple = systable_getnext_ordered(scan, ForwardScanDirection)); (*count)++)
	{
		Size		size = (*count + 1) * sizeof(Datum);

		labels = labels == NULL ? palloc(size) : repalloc(labels, size);
		labels[*count] = ObjectIdGetDatum(((Form_pg_enum) GETSTRUCT(tuple))->oid);
	}
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	table_close(catalog, AccessShareLock);
	return labels;
}

/* The levels that the type of the column has by itself. */
static Datum *
own_levels(const declaration *d, int *count)
{
	Datum	   *both;

	if (type_is_enum(d->type))
		return enum_labels(d->type, count);
	if (d->type != BOOLOID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of type %s does not tell its own levels", d->column, format_type_be(d->type)),
				 errhint("Declare levels, or bins: dp.add_attribute(dataset, attribute, lower, upper, bins).")));
	*count = 2;
	both = palloc(2 * sizeof(Datum));
	both[0] = BoolGetDatum(false);
	both[1] = BoolGetDatum(true);
	return both;
}

/* Opens a column whose values nobody lists: levels or bins may come later, or be there already. */
static void
open_column(FunctionCallInfo fcinfo, bool alters)
{
	declaration d;
	pe_access	access;
	char	   *type;
	MemoryContext here = CurrentMemoryContext;

	begin_declaration(&d, fcinfo, PE_LEVELS, 0);
	pe_dataset_check_rows(d.dataset);
	pe_access_begin(&access);
	MemoryContextSwitchTo(here);
	type = pe_type_name(d.type);
	pe_access_end(&access);
	pe_attribute_open(d.dataset, d.column, type, alters);
}

Datum
pe_sql_open_attribute(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(2) || !PG_GETARG_BOOL(2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("open must be true"),
				 errhint("dp.alter_attribute with open => false closes a column.")));
	open_column(fcinfo, false);
	PG_RETURN_VOID();
}

/* The dataset and the name of what is altered or dropped: whether the column is still there does not matter. */
static pe_dataset *
declared_argument(FunctionCallInfo fcinfo, char **attribute)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));

	if (PG_ARGISNULL(1))
		pe_refuse_null("attribute");
	*attribute = pstrdup(NameStr(*PG_GETARG_NAME(1)));
	pe_attributes_as_given(dataset, attribute, 1);
	return dataset;
}

Datum
pe_sql_alter_open(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset;
	char	   *attribute;

	if (PG_ARGISNULL(2))
		pe_refuse_null("open");
	if (PG_GETARG_BOOL(2))
		open_column(fcinfo, true);
	else
	{
		dataset = declared_argument(fcinfo, &attribute);
		pe_attribute_close(dataset, attribute);
	}
	PG_RETURN_VOID();
}

Datum
pe_sql_drop_attribute(PG_FUNCTION_ARGS)
{
	char	   *attribute;
	pe_dataset *dataset = declared_argument(fcinfo, &attribute);

	pe_attribute_drop(dataset, attribute);
	pe_series_end_using(dataset->id, attribute, psprintf("attribute \"%s\" was dropped", attribute));
	PG_RETURN_VOID();
}

/* ------------------------------------------------------------------
 * Values of a declaration: arrays of any type, or literals
 * ------------------------------------------------------------------
 */

/* The elements of argument n as text: an array of any type, or an array literal. */
static char **
list_argument(FunctionCallInfo fcinfo, int n, const char *what, int *count)
{
	Oid			type = pe_argument_type(fcinfo, n);
	ArrayType  *array;
	Datum	   *elements;
	bool	   *nulls;
	char	  **texts;
	Oid			element;
	Oid			output;
	int16		length;
	bool		byvalue;
	char		align;
	bool		varlena;

	if (PG_ARGISNULL(n))
		pe_refuse_null(what);
	if (type == TEXTOID)
		array = DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN, text_to_cstring(PG_GETARG_TEXT_PP(n)),
														TEXTOID, -1));
	else
		array = PG_GETARG_ARRAYTYPE_P(n);
	if (ARR_NDIM(array) > 1)
		pe_refuse_parameter(what, "an array of several dimensions", "a list");
	element = ARR_ELEMTYPE(array);
	get_typlenbyvalalign(element, &length, &byvalue, &align);
	deconstruct_array(array, element, length, byvalue, align, &elements, &nulls, count);
	getTypeOutputInfo(element, &output, &varlena);
	texts = palloc(Max(*count, 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s must not contain nulls", what),
					 errhint("Use nulls => 'cell': rows where the column is NULL are counted in a cell of their own.%s",
							 type == TEXTOID && strcmp(what, "levels") == 0
							 ? " The text NULL itself stands in double quotes in an array literal." : "")));
		texts[i] = OidOutputFunctionCall(output, elements[i]);
	}
	return texts;
}

static Datum
parse_value(const declaration *d, char *text)
{
	Oid			input;
	Oid			parameter;

	getTypeInputInfo(d->type, &input, &parameter);
	return OidInputFunctionCall(input, text, parameter, -1);
}

/* An edge in the column's type; a fraction between integers is rounded up. */
static Datum
parse_edge(const declaration *d, char *text)
{
	Datum		number;

	if (!pe_type_is_integer(d->type))
		return parse_value(d, text);
	number = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	if (!pe_datum_is_finite(NUMERICOID, number))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the edges of attribute \"%s\" must be finite", d->column)));
	return pe_datum_of_int(d->type, DatumGetInt64(DirectFunctionCall1(numeric_int8,
																		DirectFunctionCall1(numeric_ceil, number))));
}

/* NaN counts as NULL and infinities lie outside, so neither can be declared. */
static Datum
parse_finite(const declaration *d, Datum value, const char *what)
{
	if (!pe_datum_is_finite(d->type, value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the %s of attribute \"%s\" must be finite", what, d->column)));
	return value;
}

static Datum
parse_finite_edge(const declaration *d, char *text)
{
	return parse_finite(d, parse_edge(d, text), "edges");
}

static Datum *
listed_levels(declaration *d, FunctionCallInfo fcinfo, int n, int *count)
{
	char	  **texts = list_argument(fcinfo, n, "levels", count);
	Datum	   *values = palloc(Max(*count, 1) * sizeof(Datum));

	d->literal = pe_argument_type(fcinfo, n) == TEXTOID;
	for (int i = 0; i < *count; i++)
		values[i] = parse_finite(d, parse_value(d, texts[i]), "levels");
	return values;
}

/* levels NULL: those of the type. */
static Datum
declare_levels(FunctionCallInfo fcinfo, bool alters)
{
	declaration d;
	Datum	   *values;
	int			count;

	begin_declaration(&d, fcinfo, PE_LEVELS, 3);
	values = PG_ARGISNULL(2) ? own_levels(&d, &count) : listed_levels(&d, fcinfo, 2, &count);
	set_points(&d, values, count);
	end_declaration(&d, alters);
	PG_RETURN_VOID();
}

static Datum
declare_edges(FunctionCallInfo fcinfo, bool alters)
{
	declaration d;
	char	  **texts;
	Datum	   *values;
	int			count;

	begin_declaration(&d, fcinfo, PE_BINS, 3);
	texts = list_argument(fcinfo, 2, "edges", &count);
	values = palloc(Max(count, 1) * sizeof(Datum));
	for (int i = 0; i < count; i++)
		values[i] = parse_finite_edge(&d, texts[i]);
	set_points(&d, values, count);
	end_declaration(&d, alters);
	PG_RETURN_VOID();
}

/* A bound of equal bins as text: of any type, or a literal. */
static char *
bound_argument(FunctionCallInfo fcinfo, int n, const char *what)
{
	Oid			type = pe_argument_type(fcinfo, n);
	Oid			output;
	bool		varlena;

	if (PG_ARGISNULL(n))
		pe_refuse_null(what);
	getTypeOutputInfo(type, &output, &varlena);
	return OidOutputFunctionCall(output, PG_GETARG_DATUM(n));
}

/* lower + (upper - lower) i / bins, to the digits that numeric's division keeps. */
static Datum
equal_numeric_edge(Datum lower, Datum upper, int i, int bins)
{
	Datum		width = DirectFunctionCall2(numeric_sub, upper, lower);
	Datum		step = DirectFunctionCall2(numeric_mul, width, NumericGetDatum(int64_to_numeric(i)));

	step = DirectFunctionCall2(numeric_div, step, NumericGetDatum(int64_to_numeric(bins)));
	return DirectFunctionCall1(numeric_trim_scale, DirectFunctionCall2(numeric_add, lower, step));
}

/* Decimal places beyond those of the bounds: 2^20 bins of any width end in them, or the rest rounds alike. */
#define EDGE_PLACES 40

/* The decimal that stands for a float: the shortest one that reads back as it. */
static Datum
decimal_of_float(Oid type, Datum value)
{
	char		text[DOUBLE_SHORTEST_DECIMAL_LEN];
	Datum		decimal;
	int32		places;

	if (type == FLOAT4OID)
		float_to_shortest_decimal_buf(DatumGetFloat4(value), text);
	else
		double_to_shortest_decimal_buf(DatumGetFloat8(value), text);
	decimal = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	places = DatumGetInt32(DirectFunctionCall1(numeric_scale, decimal));
	return DirectFunctionCall2(numeric_round, decimal, Int32GetDatum(places + EDGE_PLACES));
}

/*
 * The float nearest to the edge between the decimals of the bounds.  In floats
 * -1 + 2 * 13 / 20 would be a step above 0.3, and rows of 0.3 below that edge.
 */
static Datum
equal_float_edge(Oid type, Datum lower, Datum upper, int i, int bins)
{
	MemoryContext digits = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon edge", ALLOCSET_SMALL_SIZES);
	MemoryContext here = MemoryContextSwitchTo(digits);
	Datum		edge = equal_numeric_edge(decimal_of_float(type, lower), decimal_of_float(type, upper), i, bins);
	char	   *text = DatumGetCString(DirectFunctionCall1(numeric_out, edge));
	double		number = type == FLOAT4OID ? strtof(text, NULL) : strtod(text, NULL);	/* 0 below its range */

	MemoryContextSwitchTo(here);
	MemoryContextDelete(digits);	/* a kilobyte, of each of a million edges */
	return type == FLOAT4OID ? Float4GetDatum((float4) number) : Float8GetDatum(number);
}

/* Edge i of equal bins: exact for discrete types, rounded up; a decimal for others. */
static Datum
equal_edge(const declaration *d, Datum lower, Datum upper, int i, int bins)
{
	pe_point	low = pe_point_of_datum(d->type, lower);
	pe_point	high = pe_point_of_datum(d->type, upper);

	if (i == 0 || i == bins)
		return i == 0 ? lower : upper;
	if (d->type == NUMERICOID)
		return equal_numeric_edge(lower, upper, i, bins);
	if (d->attribute.key == PE_KEY_FLOAT)
		return equal_float_edge(d->type, lower, upper, i, bins);
	return pe_datum_of_int(d->type, (int64) (low.i + (((pe_i128) high.i - low.i) * i + bins - 1) / bins));
}

/* ------------------------------------------------------------------
 * Bins of time
 * ------------------------------------------------------------------
 */

/* The local time of day. */
static int64
time_of_day(Datum value)
{
	return DatumGetTimeADT(DirectFunctionCall1(timestamp_time, DirectFunctionCall1(timestamptz_timestamp, value)));
}

/* Whether equal bins are whole days, or divide days into equal parts. */
static bool
bins_keep_days(const declaration *d, const Datum *edge, int bins)
{
	int64		span = pe_point_of_datum(d->type, edge[bins]).i - pe_point_of_datum(d->type, edge[0]).i;
	int64		width = span / bins;

	if (span % bins != 0 || width == 0)
		return false;
	if (d->type == DATEOID || (width % USECS_PER_DAY != 0 && USECS_PER_DAY % width == 0))
		return true;
	for (int i = 1; i < bins && d->type == TIMESTAMPTZOID; i++)
		if (time_of_day(edge[i]) != time_of_day(edge[0]))	/* clocks were set in between */
			return false;
	return width % USECS_PER_DAY == 0;
}

/* Months are not of one length, and what divides a year of them lies within days. */
static void
check_days(const declaration *d, const char *lower, const char *upper, const Datum *edge, int bins)
{
	if (!pe_type_is_time(d->type) || bins == 1 ||
		pe_point_of_datum(d->type, edge[0]).i >= pe_point_of_datum(d->type, edge[bins]).i ||
		bins_keep_days(d, edge, bins))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%d equal bins of attribute \"%s\" from %s to %s are neither whole days nor equal parts of a day",
					bins, d->column, lower, upper),
			 errhint("Say how long a bin is: "
					 "dp.add_attribute(%s, %s, %s, %s, step => '1 month'), or another interval. "
					 "Or list the edges in dp.add_edges, for instance by generate_series.",
					 quote_literal_cstr(d->dataset->name), quote_literal_cstr(d->column),
					 quote_literal_cstr(lower), quote_literal_cstr(upper))));
}

static Interval
step_argument(FunctionCallInfo fcinfo, int n, const declaration *d)
{
	Interval	step;

	if (PG_ARGISNULL(n))
		pe_refuse_null("step");
	if (!pe_type_is_time(d->type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" of type %s has no calendar for a step", d->column, format_type_be(d->type)),
				 errhint("Use bins instead of step, or dp.add_edges.")));
	step = *PG_GETARG_INTERVAL_P(n);
	if (step.time < 0 || step.day < 0 || step.month < 0 || (step.time == 0 && step.day == 0 && step.month == 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("step must be above 0")));
	if (d->type == DATEOID && step.time != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("step must be whole days or months for column \"%s\" of type date", d->column),
				 errhint("Use '1 day', '7 days', '1 month', '3 months' or '1 year'.")));
	return step;
}

/* lower + k steps, at once: from 31 January on, the ends of the months. */
static Datum
step_edge(const declaration *d, Datum lower, const Interval *step, int k)
{
	Interval	whole;
	Datum		by = IntervalPGetDatum(&whole);

	if (pg_mul_s64_overflow(step->time, k, &whole.time) || pg_mul_s32_overflow(step->day, k, &whole.day) ||
		pg_mul_s32_overflow(step->month, k, &whole.month))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("step is too long")));
	if (d->type == TIMESTAMPTZOID)
		return DirectFunctionCall2(timestamptz_pl_interval, lower, by);
	if (d->type == TIMESTAMPOID)
		return DirectFunctionCall2(timestamp_pl_interval, lower, by);
	return DirectFunctionCall1(timestamp_date, DirectFunctionCall2(date_pl_interval, lower, by));
}

static void __attribute__((noreturn))
refuse_upper(const declaration *d, const char *upper, const Interval *step, const Datum *nearest)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(d->type, &output, &varlena);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("steps of %s do not end at upper, %s",
					DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(step))), upper),
			 nearest == d->value ? errhint("The nearest end is %s.", OidOutputFunctionCall(output, nearest[1]))
			 : errhint("The nearest ends are %s and %s.", OidOutputFunctionCall(output, nearest[0]),
					   OidOutputFunctionCall(output, nearest[1]))));
	pg_unreachable();
}

/* The edges from lower to upper, which must be one. */
static void
set_steps(declaration *d, Datum lower, Datum upper, const char *upper_text, const Interval *step)
{
	int64		end = pe_point_of_datum(d->type, upper).i;
	int			count = 1;

	if (pe_point_of_datum(d->type, lower).i >= end)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("upper must be after lower")));
	d->value = palloc(sizeof(Datum));
	for (d->value[0] = lower; pe_point_of_datum(d->type, d->value[count - 1]).i < end &&
		 count < PE_MAX_CELLS + 2; count++)
	{
		CHECK_FOR_INTERRUPTS();
		if ((count & (count - 1)) == 0)
			d->value = repalloc(d->value, 2 * count * sizeof(Datum));
		d->value[count] = step_edge(d, lower, step, count);
	}
	if (count < PE_MAX_CELLS + 2 && pe_point_of_datum(d->type, d->value[count - 1]).i != end)
		refuse_upper(d, upper_text, step, &d->value[count - 2]);
	set_points(d, d->value, count);
}

/* Bins that are one step long, in the calendar of the session's time zone where the column has one. */
static Datum
declare_steps(FunctionCallInfo fcinfo, bool alters)
{
	declaration d;
	Interval	step;
	char	   *upper;

	begin_declaration(&d, fcinfo, PE_BINS, 5);
	step = step_argument(fcinfo, 4, &d);
	upper = bound_argument(fcinfo, 3, "upper");
	set_steps(&d, parse_finite_edge(&d, bound_argument(fcinfo, 2, "lower")),
			  parse_finite_edge(&d, upper), upper, &step);
	end_declaration(&d, alters);
	PG_RETURN_VOID();
}

static Datum
declare_bins(FunctionCallInfo fcinfo, bool alters)
{
	int			bins = PG_ARGISNULL(4) ? 0 : PG_GETARG_INT32(4);
	declaration d;
	Datum		lower;
	Datum		upper;
	Datum	   *values;

	begin_declaration(&d, fcinfo, PE_BINS, 5);
	if (bins < 1 || bins > PE_MAX_CELLS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bins must be between 1 and %d", PE_MAX_CELLS)));
	lower = parse_finite_edge(&d, bound_argument(fcinfo, 2, "lower"));
	upper = parse_finite_edge(&d, bound_argument(fcinfo, 3, "upper"));
	values = palloc((bins + 1) * sizeof(Datum));
	for (int i = 0; i <= bins; i++)
		values[i] = equal_edge(&d, lower, upper, i, bins);
	check_days(&d, bound_argument(fcinfo, 2, "lower"), bound_argument(fcinfo, 3, "upper"), values, bins);
	d.equal_bins = true;
	set_points(&d, values, bins + 1);
	end_declaration(&d, alters);
	PG_RETURN_VOID();
}

/* ------------------------------------------------------------------
 * The functions of SQL
 * ------------------------------------------------------------------
 */

Datum
pe_sql_add_levels(PG_FUNCTION_ARGS)
{
	return declare_levels(fcinfo, false);
}

Datum
pe_sql_alter_levels(PG_FUNCTION_ARGS)
{
	return declare_levels(fcinfo, true);
}

Datum
pe_sql_add_bins(PG_FUNCTION_ARGS)
{
	return declare_bins(fcinfo, false);
}

Datum
pe_sql_alter_bins(PG_FUNCTION_ARGS)
{
	return declare_bins(fcinfo, true);
}

Datum
pe_sql_add_steps(PG_FUNCTION_ARGS)
{
	return declare_steps(fcinfo, false);
}

Datum
pe_sql_alter_steps(PG_FUNCTION_ARGS)
{
	return declare_steps(fcinfo, true);
}

Datum
pe_sql_add_edges(PG_FUNCTION_ARGS)
{
	return declare_edges(fcinfo, false);
}

Datum
pe_sql_alter_edges(PG_FUNCTION_ARGS)
{
	return declare_edges(fcinfo, true);
}

/*
 * public_cells.c
 *	  The declared cells of a dataset's attributes as values of SQL.  See public_cells.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "api/public_cells.h"
#include "ask/complete.h"
#include "ask/literals.h"
#include "domain/literal.h"
#include "ledger/columns.h"
#include "server/access.h"
#include "server/values.h"

static bool
is_whole(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

static Datum
numeric_of_text(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* A billionth below an edge: no expression is expected to separate the two. */
static Datum
numeric_below(Datum edge)
{
	return DirectFunctionCall2(numeric_sub, edge, numeric_of_text("0.000000001"));
}

Datum
pe_public_below(Oid type, Datum edge)
{
	switch (type)
	{
		case FLOAT4OID:
			return Float4GetDatum(nextafterf(DatumGetFloat4(edge), -INFINITY));
		case FLOAT8OID:
			return Float8GetDatum(nextafter(DatumGetFloat8(edge), -INFINITY));
		case NUMERICOID:
			return numeric_below(edge);
		default:
			return pe_datum_of_int(type, pe_point_of_datum(type, edge).i - 1);
	}
}

/* The type modifier and the collation of a column; where it is not found, none are known.  Whether it is NOT NULL. */
static bool
read_column(const pe_dataset *dataset, const char *name, AttrNumber number, Oid type, int32 *typmod, Oid *collation)
{
	pe_column_place place;

	*typmod = -1;
	*collation = InvalidOid;
	if (name == NULL || !pe_column_find_place(dataset, name, number, type, &place))
		return false;
	get_atttypetypmodcoll(place.relation, place.number, &type, typmod, collation);
	(void) getBaseTypeAndTypmod(type, typmod);
	return pe_column_is_not_null(place.relation, place.number);
}

/* Of numeric(p, s). */
static int32
scale_of(int32 typmod)
{
	return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
}

/* A numeric as numeric(p, s) shows it, where it has no more digits. */
static Datum
scaled(Datum value, int32 typmod)
{
	int32		scale = scale_of(typmod);
	Datum		rounded = DirectFunctionCall2(numeric_round, value, Int32GetDatum(scale));

	return DatumGetBool(DirectFunctionCall2(numeric_eq, value, rounded)) ? rounded : value;
}

/* A value as the column holds it: with its digits, or padded.  One that the column cannot hold stays what it is. */
static Datum
read_point(const char *text, Oid type, int32 typmod, Oid input, Oid parameter)
{
	bool		pads = type == BPCHAROID && typmod >= VARHDRSZ && pg_mbstrlen(text) <= typmod - VARHDRSZ;
	Datum		value = OidInputFunctionCall(input, (char *) text, parameter, pads ? typmod : -1);

	return type == NUMERICOID && typmod >= VARHDRSZ ? scaled(value, typmod) : value;
}

static Datum *
read_points(const pe_column *column, int32 typmod)
{
	Datum	   *value = palloc(column->domain.points * sizeof(Datum));
	Oid			input;
	Oid			parameter;

	getTypeInputInfo(column->type, &input, &parameter);
	for (int i = 0; i < column->domain.points; i++)
		value[i] = read_point(column->points[i], column->type, typmod, input, parameter);
	return value;
}

/* The greatest value of numeric(p, s) below an edge. */
static Datum
scaled_below(Datum edge, int32 scale)
{
	Datum		value = DirectFunctionCall2(numeric_trunc, edge, Int32GetDatum(scale));

	if (DatumGetBool(DirectFunctionCall2(numeric_lt, value, edge)))
		return value;
	return DirectFunctionCall2(numeric_sub, value, numeric_of_text(psprintf("1e%d", -scale)));
}

/* The greatest value of a bin below its upper edge: a column of numeric(p, s) has values of s digits alone. */
static Datum
below(const pe_public_attribute *a, Datum edge)
{
	return a->type == NUMERICOID && a->typmod >= VARHDRSZ
		? scaled_below(edge, scale_of(a->typmod)) : pe_public_below(a->type, edge);
}

static void
fill_bins(pe_public_attribute *a, const pe_column *column)
{
	a->low = a->edge;
	a->high = palloc(a->ordered * sizeof(Datum));
	for (int32 i = 0; i < a->ordered; i++)
		a->high[i] = i == a->ordered - 1 && !column->domain.open
			? a->edge[i + 1] : below(a, a->edge[i + 1]);
}

static int32
cell_that(const pe_attribute *domain, bool (*is_it) (const pe_attribute *attribute, int32 cell))
{
	for (int32 i = pe_attribute_ordered_cells(domain); i < pe_attribute_cells(domain); i++)
		if (is_it(domain, i))
			return i;
	return -1;
}

static uint64
hash_with(uint64 hash, const void *bytes, size_t length)
{
	return hash_combine64(hash, hash_bytes_extended(bytes, (int) length, 0));
}

static uint64
hash_of(const pe_column *column)
{
	const pe_attribute *domain = &column->domain;
	const int64 kind[] = {column->number, column->type, domain->kind, domain->outside,
						  domain->nulls, domain->open, domain->points};
	uint64		hash = hash_with(0, kind, sizeof(kind));

	for (int i = 0; i < domain->points; i++)
		hash = hash_with(hash, column->points[i], strlen(column->points[i]));
	return hash;
}

static void
fill(pe_public_attribute *a, const pe_dataset *dataset, const pe_column *column)
{
	Datum	   *point;

	a->name = column->name;
	a->hash = hash_of(column);
	a->type = column->type;
	a->is_there = read_column(dataset, column->name, column->number, column->type, &a->typmod, &a->collation);
	point = read_points(column, a->typmod);
	a->numbers = pe_type_is_number(column->type) && column->domain.kind == PE_BINS;
	a->bins = column->domain.kind == PE_BINS;
	a->whole = is_whole(column->type);
	a->cells = pe_attribute_cells(&column->domain);
	a->ordered = pe_attribute_ordered_cells(&column->domain);
	a->other = cell_that(&column->domain, pe_attribute_is_other);
	a->null = cell_that(&column->domain, pe_attribute_is_null);
	a->drops_null = column->domain.nulls == PE_NULLS_DROP && !a->is_there;
	a->drops_outside = !pe_has_all_values(column);
	a->low = a->high = a->edge = point;
	if (a->bins)
		fill_bins(a, column);
}

static Oid
unit_type(const pe_dataset *dataset)
{
	return dataset->unit == NULL
		? InvalidOid : DatumGetObjectId(DirectFunctionCall1(regtypein, CStringGetDatum(dataset->unit_type)));
}

/* The unit's column names units, whether or not it is open. */
static void
add_open(pe_public_dataset *d, const pe_dataset *dataset, const pe_column *column)
{
	pe_public_open *o = &d->open[d->opens];

	if (d->unit != NULL && strcmp(d->unit, column->name) == 0)
		return;
	*o = (pe_public_open) {.name = column->name, .number = column->number, .type = column->type};
	o->is_there = read_column(dataset, column->name, column->number, column->type, &o->typmod, &o->collation);
	d->opens++;
}

static void
load_attributes(pe_public_dataset *d, pe_dataset *dataset, char **names, int count)
{
	int			opens = 0;
	pe_column  *open = palloc((count + 1) * sizeof(*open));
	pe_column  *columns = names == NULL
		? pe_columns_load(dataset, NULL, &count) : pe_columns_find(dataset, names, &count, open, &opens);

	d->attribute = palloc0(Max(count, 1) * sizeof(pe_public_attribute));
	d->open = palloc0((count + opens + 1) * sizeof(pe_public_open));
	for (int i = 0; i < opens; i++)
		add_open(d, dataset, &open[i]);
	for (int i = 0; i < count; i++)
		if (columns[i].bare)
			add_open(d, dataset, &columns[i]);
		else
			fill(&d->attribute[d->attributes++], dataset, &columns[i]);
}

pe_public_dataset *
pe_public_load(const char *name, char **names, int count)
{
	pe_public_dataset *d = palloc0(sizeof(*d));
	pe_dataset *dataset;

	PE_UNDONE();				/* the caller's transaction keeps no lock of it */
	dataset = pe_dataset_load(name);
	pe_dataset_check_rows(dataset);
	d->id = dataset->id;
	d->version = dataset->version;
	d->public_id = dataset->public_id;
	d->unit = dataset->unit;
	d->max_rows = dataset->max_rows;
	d->unit_type = unit_type(dataset);
	d->unit_is_there = read_column(dataset, d->unit, dataset->unit_number, d->unit_type, &d->unit_typmod,
								   &d->unit_collation);
	d->block_column = dataset->max_blocks > 0 ? dataset->time_attribute : NULL;
	load_attributes(d, dataset, names, count);
	PE_END_UNDONE();
	return d;
}

/* Values in one form under all settings, as literals of a predicate. */
static char **
literals_of(Oid type, const Datum *value, int count)
{
	MemoryContext here = CurrentMemoryContext;
	char	  **text = palloc(count * sizeof(char *));
	pe_access	access;
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(type, &output, &varlena);
	pe_access_begin_reading(&access);
	MemoryContextSwitchTo(here);
	for (int i = 0; i < count; i++)
		text[i] = pe_quote_literal(OidOutputFunctionCall(output, value[i]));
	pe_access_end(&access);
	return text;
}

/* A value and its text. */
typedef struct listed
{
	char	   *text;
	Datum		value;
} listed;

static int
by_text(const void *a, const void *b)
{
	return strcmp(((const listed *) a)->text, ((const listed *) b)->text);
}

int
pe_public_list(pe_public_dataset *d, const pe_public_open *open, Datum *value, int count)
{
	pe_public_attribute *a;
	char	  **text = literals_of(open->type, value, count);
	listed	   *sorted = palloc(count * sizeof(*sorted));
	int			kept = 0;

	for (int i = 0; i < count; i++)
		sorted[i] = (listed) {text[i], value[i]};
	qsort(sorted, count, sizeof(*sorted), by_text);
	for (int i = 0; i < count; i++)
		if (i == 0 || strcmp(sorted[i].text, text[kept - 1]) != 0)
		{
			text[kept] = sorted[i].text;
			value[kept++] = sorted[i].value;
		}
	d->attribute = repalloc(d->attribute, (d->attributes + 1) * sizeof(*d->attribute));
	a = &d->attribute[d->attributes];
	*a = (pe_public_attribute) {
		.name = open->name, .type = open->type, .typmod = open->typmod, .collation = open->collation,
		.whole = is_whole(open->type), .cells = kept + 2, .ordered = kept, .other = kept, .null = kept + 1,
		.is_there = open->is_there, .low = value, .high = value, .edge = value, .listed = text
	};
	return d->attributes++;
}

/* Which literals are its levels, each request says itself. */
static bool
is_as_opened(const pe_public_dataset *d, const pe_column *column)
{
	for (int i = 0; i < d->opens; i++)
		if (strcmp(d->open[i].name, column->name) == 0)
			return d->open[i].number == column->number && d->open[i].type == column->type;
	return false;
}

static bool
is_as_declared(const pe_public_dataset *d, const pe_column *column)
{
	if (column->compared[0] != NULL)
		return is_as_declared(d, column->compared[0]) &&
			(column->compared[1] == NULL || is_as_declared(d, column->compared[1]));
	if (column->bare)
		return is_as_opened(d, column);
	for (int i = 0; i < d->attributes; i++)
		if (strcmp(d->attribute[i].name, column->name) == 0)
			return d->attribute[i].hash == hash_of(column);
	return false;
}

bool
pe_public_is_same(const pe_public_dataset *d, const pe_dataset *dataset, const pe_column *columns, int count)
{
	if (d->id != dataset->id || d->version != dataset->version)
		return false;
	for (int i = 0; i < count && columns[i].name != NULL; i++)
		if (!is_as_declared(d, &columns[i]))
			return false;
	return true;
}

bool
pe_public_is_same_in(const pe_public_dataset *d, const pe_dataset *dataset, const pe_column *columns, int count)
{
	if (d->id != dataset->id)
		return false;
	for (int i = 0; i < d->attributes; i++)
		for (int j = 0; j < count && columns[j].name != NULL; j++)
			if (strcmp(d->attribute[i].name, columns[j].name) == 0 && d->attribute[i].hash != hash_of(&columns[j]))
				return false;
	return true;
}

int32
pe_public_nearest(const char *literal, char *const *levels, int32 count)
{
	return pe_nearest_text(literal, levels, count);
}

bool
pe_public_next(const pe_public_attribute *a, Datum value, Datum *next)
{
	if (a->whole)
		*next = pe_datum_of_int(a->type, pe_point_of_datum(a->type, value).i + 1);
	else if (a->type == NUMERICOID && a->typmod >= VARHDRSZ)
		*next = DirectFunctionCall2(numeric_add, value, numeric_of_text(psprintf("1e%d", -scale_of(a->typmod))));
	else
		return false;
	return true;
}

static Datum
middle_of_numerics(Datum low, Datum high)
{
	return DirectFunctionCall2(numeric_mul, DirectFunctionCall2(numeric_add, low, high), numeric_of_text("0.5"));
}

Datum
pe_public_middle(const pe_public_attribute *a, int32 cell)
{
	Datum		low = a->low[cell];
	Datum		high = a->bins ? a->edge[cell + 1] : low;
	int64		first;
	int64		last;

	switch (a->type)
	{
		case FLOAT4OID:
			return Float4GetDatum(DatumGetFloat4(low) / 2 + DatumGetFloat4(high) / 2);
		case FLOAT8OID:
			return Float8GetDatum(DatumGetFloat8(low) / 2 + DatumGetFloat8(high) / 2);
		case NUMERICOID:
			return middle_of_numerics(low, high);
		default:
			if (!a->whole)
				return low;
			first = pe_point_of_datum(a->type, low).i;
			last = pe_point_of_datum(a->type, a->high[cell]).i;
			return pe_datum_of_int(a->type, first / 2 + last / 2 + (first % 2 + last % 2) / 2);
	}
}

/* ------------------------------------------------------------------
 * As columns of a table
 * ------------------------------------------------------------------
 */

static void
add_collation(StringInfo to, Oid type, Oid collation)
{
	HeapTuple	tuple;

	if (!OidIsValid(collation) || collation == get_typcollation(type))
		return;
	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collation));
	if (!HeapTupleIsValid(tuple))
		return;
	appendStringInfo(to, " COLLATE %s",
					 quote_qualified_identifier(
						 get_namespace_name(((Form_pg_collation) GETSTRUCT(tuple))->collnamespace),
						 NameStr(((Form_pg_collation) GETSTRUCT(tuple))->collname)));
	ReleaseSysCache(tuple);
}

void
pe_public_add_column(StringInfo to, const char *name, Oid type, int32 typmod, Oid collation)
{
	appendStringInfo(to, "%s%s %s", to->len > 0 ? ", " : "", quote_identifier(name),
					 format_type_extended(type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
	add_collation(to, type, collation);
}

/* What stands for values outside of levels is longer than some columns, which then have any length. */
static int32
typmod_of(const pe_public_attribute *a)
{
	bool		is_short = (a->type == BPCHAROID || a->type == VARCHAROID) && a->other >= 0;

	return is_short ? -1 : a->typmod;
}

/* Open columns stand behind those that have cells. */
static void
add_attributes(StringInfo to, const pe_public_dataset *d)
{
	for (int i = 0; i < d->attributes; i++)
		pe_public_add_column(to, d->attribute[i].name, d->attribute[i].type,
							 typmod_of(&d->attribute[i]), d->attribute[i].collation);
	for (int i = 0; i < d->opens; i++)
		pe_public_add_column(to, d->open[i].name, d->open[i].type, d->open[i].typmod, d->open[i].collation);
}

char *
pe_public_columns_of(const char *dataset, char **names, int count, const char **id)
{
	pe_public_dataset *d = pe_public_load(dataset, names, count);
	StringInfoData text;

	*id = d->public_id;
	initStringInfo(&text);
	add_attributes(&text, d);
	return text.data;
}

char *
pe_public_columns(const char *dataset, const char **id)
{
	pe_public_dataset *d = pe_public_load(dataset, NULL, 0);
	bool		unit_is_attribute = false;
	StringInfoData text;

	*id = d->public_id;
	initStringInfo(&text);
	for (int i = 0; i < d->attributes; i++)
		unit_is_attribute |= d->unit != NULL && strcmp(d->unit, d->attribute[i].name) == 0;
	if (d->unit != NULL && !unit_is_attribute)
		pe_public_add_column(&text, d->unit, d->unit_type, d->unit_typmod, d->unit_collation);
	add_attributes(&text, d);
	return text.data;
}

/*
 * synthetic_table.c
 *	  Rows of a model of tables as an ordinary table of the caller's.  See synthetic_table.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "read/published_columns.h"
#include "read/synthetic_table.h"
#include "server/return_rows.h"
#include "server/settings.h"
#include "server/values.h"

/* What stands in the columns of an attribute. */
typedef struct valued
{
	const pe_column *column;
	int			value;			/* their numbers */
	int			other;			/* -1: none */
	Datum	   *point;			/* levels or edges */
	int			digits;			/* of a numeric, behind the point */
} valued;

typedef struct filling
{
	pe_synthetic_table *table;
	pe_published_columns columns;
	valued		attribute[PE_MAX_ATTRIBUTES];
	int32	   *cell[PE_MAX_ATTRIBUTES];	/* of each attribute of the model, by rows */
	int			unit_column;	/* -1: none */
	int64	   *unit;			/* by rows */
} filling;

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

/* Digits of a numeric column: as declared, else two more than the edges have. */
static int
digits_of(const pe_dataset *dataset, const valued *v)
{
	pe_column_place place;
	Oid			type;
	Oid			collation;
	int32		modifier = -1;
	int			digits = 0;

	for (int i = 0; i < v->column->domain.points; i++)
		digits = Max(digits, DatumGetInt32(DirectFunctionCall1(numeric_scale, v->point[i])));
	if (pe_column_find_place(dataset, v->column->name, v->column->number, v->column->type, &place))
	{
		get_atttypetypmodcoll(place.relation, place.number, &type, &modifier, &collation);
		getBaseTypeAndTypmod(type, &modifier);
	}
	if (modifier >= (int32) VARHDRSZ)
		return Max(digits, (modifier - VARHDRSZ) & 0x7ff);
	return digits + 2;
}

static void
add_attribute(filling *f, int a)
{
	const pe_column *column = &f->table->column[a];
	const pe_attribute *domain = &column->domain;
	valued	   *v = &f->attribute[a];

	*v = (valued) {.column = column, .other = -1};
	v->value = pe_published_add(&f->columns, column->name, "", column->type);
	if (domain->outside == PE_OUTSIDE_OTHER)
		v->other = pe_published_add(&f->columns, column->name, "_other", BOOLOID);
	v->point = palloc(domain->points * sizeof(Datum));
	for (int i = 0; i < domain->points; i++)
		v->point[i] = pe_datum_of_text(column->type, column->points[i]);
	if (domain->kind == PE_BINS && column->type == NUMERICOID)
		v->digits = digits_of(f->table->dataset, v);
}

/* ------------------------------------------------------------------
 * Values within a bin
 * ------------------------------------------------------------------
 */

/* Times are drawn to the second where a bin has a second. */
static int64
step_of(Oid type, int64 width)
{
	return (type == TIMESTAMPOID || type == TIMESTAMPTZOID) && width >= USECS_PER_SEC ? USECS_PER_SEC : 1;
}

static Datum
draw_whole(const valued *v, int bin, bool closed, pe_stream *stream)
{
	int64		from = v->column->domain.point[bin].i;
	uint64		width = (uint64) v->column->domain.point[bin + 1].i - (uint64) from;
	int64		step = step_of(v->column->type, width > PG_INT64_MAX ? PG_INT64_MAX : (int64) width);
	uint64		steps = (width - 1) / step + 1;

	if (closed && width % step == 0 && steps < PG_UINT64_MAX)
		steps++;
	return pe_datum_of_int(v->column->type, (int64) ((uint64) from + pe_stream_below(stream, steps) * step));
}

/* A float4 is rounded once more, perhaps to the edge above. */
static Datum
draw_float(const valued *v, int bin, bool closed, pe_stream *stream)
{
	double		from = v->column->domain.point[bin].f;
	double		to = v->column->domain.point[bin + 1].f;
	double		u = pe_stream_unit(stream);
	double		x = fmax(from * (1 - u) + to * u, from);

	if (v->column->type == FLOAT4OID)
		x = (float) x;
	if (x > to || (x == to && !closed))
		x = from;
	return v->column->type == FLOAT4OID ? Float4GetDatum((float) x) : Float8GetDatum(x);
}

/* from + k steps of its last digit. */
static Datum
draw_numeric(const valued *v, int bin, bool closed, pe_stream *stream)
{
	Datum		width = DirectFunctionCall2(numeric_sub, v->point[bin + 1], v->point[bin]);
	int			digits = v->digits;
	Datum		unit = DirectFunctionCall2(numeric_power, DirectFunctionCall1(int4_numeric, Int32GetDatum(10)),
										   DirectFunctionCall1(int4_numeric, Int32GetDatum(digits)));
	Datum		steps = DirectFunctionCall1(numeric_ceil, DirectFunctionCall2(numeric_mul, width, unit));
	Datum		most = DirectFunctionCall1(int8_numeric, Int64GetDatum(INT64CONST(1) << 62));
	int64		k;

	if (DatumGetBool(DirectFunctionCall2(numeric_gt, steps, most)))
		return v->point[bin];	/* more digits than can be drawn */
	k = (int64) pe_stream_below(stream, DatumGetInt64(DirectFunctionCall1(numeric_int8, steps)) + closed);
	steps = DirectFunctionCall1(int8_numeric, Int64GetDatum(k));
	return DirectFunctionCall2(numeric_add, v->point[bin], DirectFunctionCall2(numeric_div, steps, unit));
}

static Datum
draw_in_bin(const valued *v, int bin, pe_stream *stream)
{
	const pe_attribute *domain = &v->column->domain;
	bool		closed = bin == domain->points - 2 && !domain->open;
	Datum		value;

	switch (domain->key)
	{
		case PE_KEY_INT:
			return draw_whole(v, bin, closed, stream);
		case PE_KEY_FLOAT:
			return draw_float(v, bin, closed, stream);
		default:
			value = draw_numeric(v, bin, closed, stream);
			return DirectFunctionCall2(numeric_round, value, Int32GetDatum(v->digits));
	}
}

static void
put_cell(const valued *v, int32 cell, pe_stream *stream, Datum *values, bool *nulls)
{
	const pe_attribute *domain = &v->column->domain;
	bool		is_other = pe_attribute_is_other(domain, cell);

	pe_published_put(v->other, BoolGetDatum(is_other), values, nulls);
	if (is_other || pe_attribute_is_null(domain, cell))
		return;
	pe_published_put(v->value, domain->kind == PE_BINS ? draw_in_bin(v, cell, stream) : v->point[cell], values, nulls);
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const filling *f = argument;
	pe_synthetic_table *t = f->table;

	memset(nulls, true, f->columns.columns * sizeof(bool));
	for (int a = 0; a < t->domain->attributes; a++)
		put_cell(&f->attribute[a], t->whole ? pe_domain_coordinate(t->domain, f->cell[0][row], a) : f->cell[a][row],
				 &t->stream, values, nulls);
	if (f->unit_column >= 0)
		pe_published_put(f->unit_column, Int64GetDatum(f->unit[row]), values, nulls);
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

void
pe_synthetic_check_rows(int64 rows)
{
	if (rows < 0 || rows > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows is " INT64_FORMAT, rows),
				 errhint("Give a number from 0 to %d, or NULL for as many as the release has.", PG_INT32_MAX)));
}

/* Numbers of a row's cells and its unit, its place in the order of drawing, and its group of a joint table. */
static void
check_rows_memory(const pe_synthetic_table *t)
{
	size_t		row = (t->domain->attributes + 3) * sizeof(int32) + sizeof(int64) +
		(t->most > 0 ? sizeof(int32) + sizeof(int64) : 0);
	size_t		bytes = (size_t) t->rows * row;

	if (bytes / 1024 > (size_t) pe_max_memory)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg(INT64_FORMAT " rows need %zu kB, more than pg_epsilon.max_memory", t->rows, bytes / 1024),
				 errhint("Ask for at most %zu rows: rows => %zu; or let a superuser raise pg_epsilon.max_memory.",
						 pe_max_memory * (size_t) 1024 / row, pe_max_memory * (size_t) 1024 / row)));
	pe_check_memory(bytes);
}

static void
draw_cells(filling *f)
{
	pe_synthetic_table *t = f->table;
	int32		rows = (int32) t->rows;

	pe_check_memory(pe_synthetic_draw_memory(&t->model, 0));
	for (int a = 0; a < t->model.attributes; a++)
		f->cell[a] = pe_alloc(Max(rows, 1), sizeof(int32));
	pe_synthetic_draw(&t->model, &t->stream, rows, f->cell);
}

/* Rows that the predicate rules out become others, drawn by chance; where all are ruled out there is none. */
static void
replace_excluded(filling *f)
{
	pe_synthetic_table *t = f->table;
	int32		rows = (int32) t->rows;
	int32	   *kept;
	int32		count = 0;

	if (t->predicate == NULL || t->whole)
		return;
	kept = pe_alloc(Max(rows, 1), sizeof(*kept));
	for (int32 row = 0; row < rows; row++)
	{
		int32		coordinate[PE_MAX_ATTRIBUTES];

		CHECK_FOR_INTERRUPTS();
		for (int a = 0; a < t->domain->attributes; a++)
			coordinate[a] = f->cell[a][row];
		kept[row] = pe_predicate_may_select(t->predicate, coordinate, t->domain->attributes) ? row : -1;
	}
	for (int32 row = 0; row < rows; row++)
		if (kept[row] >= 0)
			kept[count++] = row;
	for (int32 row = 0, next = 0; row < rows && count > 0; row++)
	{
		int32		from;

		if (next < count && kept[next] == row)
		{
			next++;
			continue;
		}
		from = kept[pe_stream_below(&t->stream, count)];
		for (int a = 0; a < t->domain->attributes; a++)
			f->cell[a][row] = f->cell[a][from];
	}
	if (count == 0)
		t->rows = 0;
	pe_free(kept);
}

static void
draw_units(filling *f)
{
	pe_synthetic_table *t = f->table;

	if (f->unit_column < 0)
		return;
	f->unit = pe_alloc(Max(t->rows, 1), sizeof(int64));
	pe_synthetic_units(&t->stream, (int32) t->rows, t->most, t->units, f->unit);
}

static char *
comment_on(const pe_synthetic_table *t)
{
	const char *source = t->release != 0
		? psprintf("release " INT64_FORMAT " of dataset \"%s\", version %d of its data; %s", t->release,
				   t->dataset->name, t->version, pe_charge_text(t->release))
		: psprintf("a rehearsal of dataset \"%s\", of public rows", t->dataset->name);

	return psprintf("synthetic, by dp.synthesize: rows drawn from %s%s; no row is anybody, and what is computed from "
					"them has no known error",
					source,
					t->sizes != 0 ? psprintf("; rows of a unit as in release " INT64_FORMAT, t->sizes) : "");
}

static filling *
begin_filling(pe_synthetic_table *t)
{
	filling    *f = palloc0(sizeof(*f));

	f->table = t;
	for (int a = 0; a < t->domain->attributes; a++)
		add_attribute(f, a);
	f->unit_column = t->most > 0 ? pe_published_add(&f->columns, t->dataset->unit, "", INT8OID) : -1;
	pe_published_place(&f->columns, 0, f->columns.columns);
	return f;
}

void
pe_synthetic_clear(pe_synthetic_table *t)
{
	pe_confinement confinement;

	if (t->rows >= 0)
		check_rows_memory(t);
	if (!OidIsValid(t->target.relation) || pe_published_has(&begin_filling(t)->columns, t->target.relation))
		return;
	pe_target_begin(&t->target, &confinement);
	pe_target_drop(&t->target);
	pe_target_end(&confinement);
}

void
pe_synthetic_make_table(pe_synthetic_table *t)
{
	filling    *f = begin_filling(t);
	pe_confinement confinement;

	if (t->rows < 0)
	{
		t->rows = (int64) fmin(rint(t->model.total), PG_INT32_MAX);
		check_rows_memory(t);
		if (t->rows == 0)
			ereport(NOTICE,
					(errmsg("the table has no rows"),
					 errdetail("With its noise the release counts none, as where all rows have a NULL that is "
							   "dropped.")));
	}
	draw_cells(f);
	replace_excluded(f);
	draw_units(f);

	pe_target_begin(&t->target, &confinement);
	pe_published_make(&f->columns, &t->target, NULL);
	pe_target_insert(&t->target, (int32) t->rows, make_row, f);
	pe_target_finish(&t->target, comment_on(t));
	pe_target_end(&confinement);
	for (int a = 0; a < t->model.attributes; a++)
		pe_free(f->cell[a]);
	pe_free(f->unit);
}

static void
add_edge(StringInfo json, const pe_synthetic_table *t, int first, int second)
{
	appendStringInfoString(json, json->len > 0 ? ", [" : "[[");
	escape_json(json, t->column[first].name);
	appendStringInfoString(json, ", ");
	escape_json(json, t->column[second].name);
	appendStringInfoChar(json, ']');
}

static Datum
edges_of(const pe_synthetic_table *t)
{
	const pe_synthetic *model = &t->model;
	StringInfoData json;

	initStringInfo(&json);
	for (int n = 0; n < model->attributes; n++)
	{
		int			a = model->order[n];

		if (model->parent[a] >= 0)
			add_edge(&json, t, model->parent[a], a);
		for (int b = a + 1; b < model->attributes; b++)
			if ((model->tied[a] >> b & 1) != 0)
				add_edge(&json, t, a, b);
	}
	appendStringInfoString(&json, json.len > 0 ? "]" : "[]");
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

static void
make_result(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_synthetic_table *t = argument;

	values[0] = CStringGetTextDatum(t->target.qualified);
	values[1] = Int64GetDatum(t->rows);
	values[2] = Int64GetDatum(t->release);
	nulls[2] = t->release == 0;
	values[3] = edges_of(t);
}

void
pe_synthetic_return(FunctionCallInfo fcinfo, const pe_synthetic_table *t)
{
	pe_return_rows(fcinfo, 1, 4, make_result, t);
}

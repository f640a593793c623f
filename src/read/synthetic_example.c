/*
 * synthetic_example.c
 *	  Synthetic tables of an example.  See synthetic_example.h.
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "ask/suppress.h"
#include "door/row_values.h"
#include "read/synthetic_example.h"
#include "server/settings.h"

/* Rows that are fetched at a time. */
#define BATCH 10000

typedef struct example
{
	const pe_synthetic_call *call;
	const pe_tables *tables;	/* of all pairs, or of the one attribute */
	int			attributes;
	int64	   *count;			/* the example's, by their cells */
	int64		rows;
} example;

/* ------------------------------------------------------------------
 * The example
 * ------------------------------------------------------------------
 */

static void
check_relation(const pe_synthetic_call *c, Oid relation)
{
	const char *name = get_rel_name(relation);
	ListCell   *cell;

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("there is no relation with OID %u", relation)));
	foreach(cell, pe_datasets_of_family(relation))
	{
		const pe_dataset *dataset = lfirst(cell);

		if (!dataset->dropped)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" cannot be an example", name),
					 errdetail("It has rows of dataset \"%s\", and the rows of an example are public.",
							   dataset->name)));
	}
	for (int a = 0; a < c->problem.attributes; a++)
	{
		const pe_column *column = &c->columns[a];
		AttrNumber	number = get_attnum(relation, column->name);

		if (number <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("\"%s\", the example, has no column \"%s\"", name, column->name)));
		if (getBaseType(get_atttype(relation, number)) != column->type)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of \"%s\", the example, is of another type", column->name, name),
					 errdetail("It is %s, and %s in the dataset.", format_type_be(get_atttype(relation, number)),
							   format_type_be(column->type))));
	}
}

static char *
select_of(const pe_synthetic_call *c, Oid relation)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "SELECT ");
	for (int a = 0; a < c->problem.attributes; a++)
		appendStringInfo(&text, "%s%s", a > 0 ? ", " : "", quote_identifier(c->columns[a].name));
	appendStringInfo(&text, " FROM %s", quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
																   get_rel_name(relation)));
	return text.data;
}

/* Adds a row to all tables. */
static void
add_cells(const example *e, const int32 *cell, int64 *count)
{
	int32		t = 0;

	if (e->attributes == 1)
		count[cell[0]]++;
	for (int a = 0; a < e->attributes; a++)
		for (int b = a + 1; b < e->attributes; b++)
			count[e->tables->first[t++] + (int64) cell[a] * e->tables->cells[b] + cell[b]]++;
}

static void
add_row(example *e, HeapTuple tuple, TupleDesc descriptor)
{
	int32		cell[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < e->attributes; a++)
	{
		const pe_column *column = &e->call->columns[a];
		bool		isnull;
		Datum		value = SPI_getbinval(tuple, descriptor, a + 1, &isnull);

		cell[a] = pe_cell_of_value(&column->domain, column->type, value, isnull);
		if (cell[a] < 0)
			return;				/* it is dropped */
	}
	add_cells(e, cell, e->count);
	e->rows++;
}

static void
read_example(example *e, Oid relation)
{
	char	   *statement = select_of(e->call, relation);
	Portal		cursor;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	cursor = SPI_cursor_open_with_args(NULL, statement, 0, NULL, NULL, NULL, true, 0);
	do
	{
		SPI_cursor_fetch(cursor, true, BATCH);
		for (uint64 i = 0; i < SPI_processed; i++)
			add_row(e, SPI_tuptable->vals[i], SPI_tuptable->tupdesc);
		SPI_freetuptable(SPI_tuptable);
		pe_poll();
	} while (SPI_processed > 0);
	SPI_cursor_close(cursor);
	SPI_finish();
	if (e->rows == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no row of the example has a cell of each attribute")));
}

/* ------------------------------------------------------------------
 * Synthetic tables of it
 * ------------------------------------------------------------------
 */

/* The example is public: a draw that is cancelled reveals nothing. */
static void
hold_nothing(void)
{
}

static void
count_made(const example *e, const pe_synthetic *model, pe_stream *stream, int32 rows, int64 *count)
{
	int32	   *cell[PE_MAX_ATTRIBUTES];
	int32		of_row[PE_MAX_ATTRIBUTES];

	pe_check_memory((size_t) rows * e->attributes * sizeof(int32) + pe_synthetic_draw_memory(model, rows));
	for (int a = 0; a < e->attributes; a++)
		cell[a] = pe_alloc(Max(rows, 1), sizeof(int32));
	pe_synthetic_draw(model, stream, rows, cell);
	for (int32 row = 0; row < rows; row++)
	{
		for (int a = 0; a < e->attributes; a++)
			of_row[a] = cell[a][row];
		add_cells(e, of_row, count);
	}
	for (int a = 0; a < e->attributes; a++)
		pe_free(cell[a]);
}

/* The mean over all tables. */
static double
apart(const example *e, const int64 *made, int32 rows)
{
	int64		cells = e->tables->first[e->tables->tables];
	double		sum = 0;

	for (int64 i = 0; i < cells; i++)
		sum += fabs((double) e->count[i] / (double) e->rows - (rows > 0 ? (double) made[i] / rows : 0));
	return sum / 2 / e->tables->tables;
}

static double
make_one(const example *e)
{
	const pe_synthetic_call *c = e->call;
	pe_min_count rule = pe_suppress_rule_of_published(c->asked.dataset);
	int64	   *made = pe_alloc(e->tables->first[e->tables->tables], sizeof(int64));
	pe_synthetic model;
	pe_stream	stream;
	int64		values;
	int64	   *value = pe_plan_measure_tree(c->asked.plan, e->tables, e->count, &values, hold_nothing);
	int32		rows;
	double		distance;

	if (!pe_tree_model(e->attributes, c->problem.cells, value, values, c->root, (double) rule.rows * rule.units,
					   NULL, &model))
		elog(ERROR, "an example has no tree");
	pe_stream_init(&stream, value, values * sizeof(int64));
	rows = (int32) fmin(rint(model.total), PG_INT32_MAX);
	count_made(e, &model, &stream, rows, made);
	distance = apart(e, made, rows);
	pe_synthetic_free(&model);
	pe_free(value);
	pe_free(made);
	return distance;
}

double
pe_synthetic_example(const pe_synthetic_call *c, Oid relation)
{
	example		e = {.call = c, .tables = &c->tables, .attributes = c->problem.attributes};
	double		sum = 0;

	if (c->full || c->selection != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 c->full ? errmsg("an example does not go with method \"%s\"", PE_METHOD_FULL)
				 : errmsg("an example does not go with a predicate"),
				 c->full ? errhint("Leave example out, or use method => '%s'.", PE_METHOD_TREE)
				 : errhint("Leave predicate out, and give a view of the example with the rows that are meant.")));
	check_relation(c, relation);
	e.count = pe_alloc(e.tables->first[e.tables->tables], sizeof(int64));
	read_example(&e, relation);
	for (int i = 0; i < PE_EXAMPLE_TABLES; i++)
		sum += make_one(&e);
	pe_free(e.count);
	return sum / PE_EXAMPLE_TABLES;
}

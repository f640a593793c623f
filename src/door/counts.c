/*
 * counts.c
 *	  The door for counts: a histogram of a registered table.  See door.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "domain/units.h"
#include "door/door.h"
#include "server/settings.h"

typedef struct counting
{
	const pe_question *question;
	TimestampTz start;
	int64	   *counts;			/* exact, until it is wiped */
	int64		cells;			/* that are counted, of all tables; sizes of units */
	int64_t    *columns;		/* the same of the strategy's columns; NULL: tables, or sizes, are measured */
	pe_i128    *exact;			/* the same of its queries, while they are measured */
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped; NULL without them */
} counting;

static int
attributes_of(const pe_question *question)
{
	return question->domain->attributes + question->domain->watched;
}

static char *
scan_statement(const pe_question *question)
{
	StringInfoData sql;

	initStringInfo(&sql);
	pe_door_begin_statement(&sql, question->dataset);
	for (int i = 0; i < attributes_of(question); i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(question->columns[i].name));
	appendStringInfo(&sql, ") FROM %s t", pe_door_table(question->dataset));
	return sql.data;
}

/* What the accumulator is told where units are counted by how many rows they have. */
static bytea *
sizes_bytes(const pe_question *question)
{
	const pe_sizes_spec sizes = {.most = question->most};
	bytea	   *bytes = pe_door_specification(PE_READ_SIZES, sizeof(sizes) + pe_selection_size(question->domain, question->predicate));

	memcpy(VARDATA(bytes) + PE_READING_HEAD, &sizes, sizeof(sizes));
	pe_selection_write(question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD + sizeof(sizes));
	return bytes;
}

/* Otherwise: the domain, the predicate if there is one, and the tables if there are any. */
static bytea *
selection_bytes(const pe_question *question)
{
	const pe_tables *tables = question->tables;
	bytea	   *bytes;

	if (question->most > 0)
		return sizes_bytes(question);
	if (tables != NULL)
	{
		bytes = pe_door_specification(PE_READ_TABLES, pe_tables_selection_size(tables, question->domain, question->predicate));
		pe_tables_selection_write(tables, question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
		return bytes;
	}
	bytes = pe_door_specification(PE_READ_CELLS, pe_selection_size(question->domain, question->predicate));
	pe_selection_write(question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
	return bytes;
}

/* How the accumulator cuts the rows of units, for the first range of them; NULL without a unit. */
static bytea *
cut_bytes(const pe_question *question)
{
	const pe_dataset *dataset = question->dataset;

	if (dataset->unit == NULL)
		return NULL;
	return pe_door_cut(dataset, pe_door_rows_at_most(dataset->relation, NULL, 0), (size_t) pe_max_memory * 1024,
					   pe_unit_entry_size(question->tables != NULL ? pe_tables_product(question->tables) : 0));
}

static void
prepare(void *argument, pe_scan *scan)
{
	counting   *c = argument;

	c->cut = cut_bytes(c->question);
	scan->statement = scan_statement(c->question);
	scan->parameters = c->cut == NULL ? 1 : 2;
	scan->types[0] = scan->types[1] = BYTEAOID;
	scan->values[0] = PointerGetDatum(selection_bytes(c->question));
	scan->values[1] = PointerGetDatum(c->cut);
}

/* Adds the counts that one scan returns. */
static void
add_counts(void *argument, bytea *bytes)
{
	counting   *c = argument;
	char	   *data = VARDATA_ANY(bytes);

	if (VARSIZE_ANY_EXHDR(bytes) != c->cells * sizeof(int64))
		elog(ERROR, "the scan returned another domain");
	for (int64 cell = 0; cell < c->cells; cell++)
	{
		int64		count;

		memcpy(&count, data + cell * sizeof(count), sizeof(count));
		c->counts[cell] += count;
	}
}

/* Reads the rows into counts per cell, units range by range. */
static void
read_rows(void *argument, pe_scan *scan)
{
	counting   *c = argument;

	pe_door_scan_ranges(scan, c->cut, add_counts, c);
}

/* Overwrites what is exact or secret. */
static void
wipe(void *argument)
{
	counting   *c = argument;

	pe_wipe(c->counts, c->cells * sizeof(int64));
	if (c->columns != NULL)
		pe_wipe(c->columns, c->question->strategy->columns * sizeof(int64));
	if (c->exact != NULL)
		pe_wipe(c->exact, c->question->strategy->rows * sizeof(pe_i128));
	if (c->cut != NULL)
		pe_wipe(VARDATA(c->cut), sizeof(pe_cut));
}

/* The exact counts of the strategy's columns. */
static void
sum_columns(counting *c)
{
	const pe_question *question = c->question;

	if (question->tables != NULL || question->most > 0)
		return;
	c->columns = pe_alloc(question->strategy->columns, sizeof(*c->columns));
	for (int32_t cell = 0; cell < question->domain->cells; cell++)
		if (question->column_of_cell[cell] >= 0)
			c->columns[question->column_of_cell[cell]] += c->counts[cell];
}

static void
hold_interrupts(void)
{
	HOLD_INTERRUPTS();
}

/* Measures, adds noise, waits for the time quantum and stores; no interrupt may come between the draw and the store. */
static void
finish(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	counting   *c = argument;
	const pe_question *question = c->question;
	int32_t		rows = question->strategy->rows;
	int64_t    *measured = pe_alloc(rows, sizeof(*measured));

	if (!could_be_read)
		memset(c->counts, 0, c->cells * sizeof(int64));
	sum_columns(c);
	c->exact = pe_alloc(rows, sizeof(*c->exact));
	pe_plan_measure(question->plan, c->columns != NULL ? c->columns : c->counts, c->exact, measured, hold_interrupts);
	wipe(c);
	pe_door_store(question->plan, question->charge, c->start, measured, rows, reply);
}

/* Of each process a state, its bytes on the way and what it gathers; here the sum of states, the result and a copy of it. */
size_t
pe_door_tables_memory(const pe_tables *tables)
{
	size_t		processes = 1 + (size_t) Max(max_parallel_workers_per_gather, 0);
	size_t		counts = (size_t) tables->first[tables->tables] * sizeof(int64);

	return processes * (2 * counts + pe_gathered_memory(tables)) + 3 * counts;
}

/* What is counted. */
static int64
cells_of(const pe_question *question)
{
	if (question->most > 0)
		return question->most;
	return question->tables != NULL ? question->tables->first[question->tables->tables] : question->domain->cells;
}

void
pe_door_answer(const pe_question *question, pe_charge_reply *reply)
{
	counting	c = {.question = question, .start = GetCurrentTimestamp()};
	pe_visit	visit = {
		.dataset = question->dataset, .columns = question->columns, .count = attributes_of(question),
		.plan = question->plan, .charge = question->charge, .prepare = prepare, .read = read_rows, .finish = finish, .wipe = wipe, .argument = &c
	};

	c.cells = cells_of(question);
	c.counts = pe_alloc(c.cells, sizeof(*c.counts));
	pe_door_visit(&visit, reply);
	pe_free(c.exact);
	pe_free(c.columns);
	pe_free(c.counts);
}

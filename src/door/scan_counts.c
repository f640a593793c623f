/*
 * scan_counts.c
 *	  The door for counts and sums of a registered table.  See door.h.
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
	int64	   *columns;		/* the same of the columns of the strategy, or of those of all parts; NULL: tables, or sizes, are measured */
	int64		width;			/* how many there are */
	pe_i128    *exact;			/* the same of its queries, while they are measured */
	int64		rows;			/* that are measured */
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped; NULL without them */
} counting;

static int
attributes_of(const pe_question *question)
{
	return question->domain->attributes + question->domain->watched + (question->sums != NULL ? question->sums->numbers : 0);
}

static char *
scan_statement(const pe_question *question, const pe_scan *scan)
{
	StringInfoData sql;

	initStringInfo(&sql);
	pe_door_begin_statement(&sql, question->dataset, scan, question->dataset->unit != NULL);
	for (int i = 0; i < attributes_of(question); i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(question->columns[i].name));
	pe_door_end_statement(&sql, question->dataset, scan);
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
	const pe_sums *sums = question->sums;
	bytea	   *bytes;

	if (sums != NULL)
	{
		bytes = pe_door_specification(PE_READ_SUMS, pe_sums_size(sums, tables, question->domain, question->predicate));
		pe_sums_write(sums, tables, question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
		return bytes;
	}
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

/* The cells that rows of units are told apart by; 0: of one domain, whose cells have numbers. */
static pe_u128
cells_of_units(const pe_question *question)
{
	if (question->sums != NULL)
		return pe_sums_product(question->sums, question->domain);
	return question->tables != NULL ? pe_tables_product(question->tables) : 0;
}

/* How the accumulator cuts the rows of units, for the first range of them; NULL without a unit. */
static bytea *
cut_bytes(const pe_question *question, const pe_scan *scan)
{
	const pe_dataset *dataset = question->dataset;

	if (dataset->unit == NULL)
		return NULL;
	return pe_door_cut(dataset, pe_door_rows_at_most(dataset->relation, NULL, 0), pe_door_state_memory(scan),
					   pe_unit_entry_size(cells_of_units(question)));
}

static void
prepare(void *argument, pe_scan *scan)
{
	counting   *c = argument;

	c->cut = cut_bytes(c->question, scan);
	scan->statement = scan_statement(c->question, scan);
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

	pe_door_add_counts(bytes, c->counts, (size_t) c->cells);
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
		pe_wipe(c->columns, c->width * sizeof(int64));
	if (c->exact != NULL)
		pe_wipe(c->exact, c->rows * sizeof(pe_i128));
	if (c->cut != NULL)
		pe_wipe(VARDATA(c->cut), sizeof(pe_cut));
}

static void
add_up(const int64 *count, int64 cells, const int32 *column_of, int64 *columns)
{
	for (int64 cell = 0; cell < cells; cell++)
		if (column_of[cell] >= 0)
			columns[column_of[cell]] += count[cell];
}

/* The exact counts of the strategy's columns, or the sums of those of each part. */
static void
sum_columns(counting *c)
{
	const pe_question *question = c->question;
	const pe_tables *tables = question->tables;
	int64	   *to;

	if (c->width == 0)
		return;
	to = c->columns = pe_alloc(c->width, sizeof(*c->columns));
	if (tables == NULL)
		add_up(c->counts, c->cells, question->column_of_cell, to);
	for (int32_t t = 0; tables != NULL && t < tables->tables; t++)
	{
		add_up(c->counts + tables->first[t], tables->first[t + 1] - tables->first[t], question->column_of[t], to);
		to += question->part[t].strategy->columns;
	}
}

static void
hold_interrupts(void)
{
	HOLD_INTERRUPTS();
}

/* Quantiles are chosen from the counts themselves. */
static void
choose(counting *c, pe_charge_reply *reply)
{
	const pe_question *question = c->question;
	int32	   *chosen = pe_alloc(question->chosen, sizeof(*chosen));
	int64	   *stored = pe_alloc(question->chosen, sizeof(*stored));

	pe_plan_select_quantiles(question->plan, c->counts, chosen, hold_interrupts);
	wipe(c);
	for (int64 i = 0; i < question->chosen; i++)
		stored[i] = chosen[i];
	pe_door_store(question->plan, question->charge, c->start, stored, question->chosen, reply);
}

/* Measures, adds noise, waits for the time quantum and stores; no interrupt may come between the draw and the store. */
static void
finish(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	counting   *c = argument;
	const pe_question *question = c->question;
	int32		shares = question->sums != NULL ? question->tables->tables : 0;
	int64_t    *measured;

	if (!could_be_read)
		memset(c->counts, 0, c->cells * sizeof(int64));
	if (question->chosen > 0)
	{
		choose(c, reply);
		return;
	}
	measured = pe_alloc(shares + c->rows, sizeof(*measured));
	sum_columns(c);
	c->exact = pe_alloc(c->rows, sizeof(*c->exact));
	for (int32 i = 0; i < shares; i++)
		measured[i] = (int64) question->part[i].share;
	pe_plan_measure(question->plan, c->columns != NULL ? c->columns : c->counts, c->exact, measured + shares, hold_interrupts);
	wipe(c);
	pe_door_store(question->plan, question->charge, c->start, measured, shares + c->rows, reply);
}

/* What is counted. */
static int64
cells_of(const pe_question *question)
{
	if (question->most > 0)
		return question->most;
	return question->tables != NULL ? question->tables->first[question->tables->tables] : question->domain->cells;
}

/* How many numbers are counted, handed to the plan, and measured. */
static void
find_sizes(counting *c)
{
	const pe_question *question = c->question;
	const pe_tables *tables = question->tables;

	c->cells = cells_of(question);
	if (question->sums == NULL)
	{
		c->width = tables == NULL && question->most == 0 ? question->strategy->columns : 0;
		c->rows = question->strategy->rows;
		return;
	}
	if (question->chosen > 0)
		return;
	c->rows = pe_plan_rows(question->plan);
	for (int32 i = 0; i < tables->tables; i++)
		c->width += question->part[i].strategy->columns;
}

/* Of each process a state, its bytes on the way and what it gathers; here the sum of states, the result and a copy of it. */
size_t
pe_door_tables_memory(const pe_tables *tables, int numbers)
{
	size_t		processes = 1 + (size_t) Max(max_parallel_workers_per_gather, 0);
	size_t		counts = (size_t) tables->first[tables->tables] * sizeof(int64);

	return processes * (2 * counts + pe_gathered_memory(tables, numbers)) + 3 * counts;
}

void
pe_door_answer(const pe_question *question, pe_charge_reply *reply)
{
	counting	c = {.question = question, .start = GetCurrentTimestamp()};
	pe_visit	visit = {
		.dataset = question->dataset, .columns = question->columns, .count = attributes_of(question),
		.plan = question->plan, .charge = question->charge, .prepare = prepare, .read = read_rows, .finish = finish, .wipe = wipe, .argument = &c
	};

	if (question->sums != NULL && question->chosen == 0 && !pe_plan_is_of_sums(question->plan, question->sums))
		elog(ERROR, "the plan was made for other sums than are read");
	find_sizes(&c);
	c.counts = pe_alloc(c.cells, sizeof(*c.counts));
	pe_door_visit(&visit, reply);
	pe_free(c.exact);
	pe_free(c.columns);
	pe_free(c.counts);
}

/*
 * scan_periods.c
 *	  The door for a period of a series.  See scan_periods.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "door/scan_periods.h"
#include "ledger/series.h"
#include "ledger/time.h"
#include "worker/channel.h"

typedef struct measuring
{
	const pe_period_question *question;
	TimestampTz start;
	int32		periods;		/* that are read */
	int64		cells;			/* of one period, of all tables */
	int64		width;			/* columns of one period, of all tables */
	int32		values;			/* that are measured */
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped; NULL without them */
	int64	   *counts;			/* exact, until they are wiped: by table, then by period, then by cell */
	int64	   *columns;		/* the same of the strategies' columns: by period, then by table */
	pe_i128    *exact;			/* the same of what is measured */
	int64	   *measured;		/* with noise; wiped unless it is stored */
} measuring;

static int
attributes_of(const pe_period_question *question)
{
	return question->domain->attributes + question->domain->watched +
		(question->sums != NULL ? pe_sums_columns(question->sums) : 0);
}

static char *
scan_statement(const pe_period_question *question, const pe_scan *scan)
{
	StringInfoData sql;

	initStringInfo(&sql);
	pe_door_begin_statement(&sql, question->dataset, scan, question->dataset->unit != NULL);
	appendStringInfo(&sql, ", t.%s", quote_identifier(question->dataset->time_attribute));
	for (int i = 1; i < attributes_of(question); i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(question->columns[i].name));
	pe_door_end_statement(&sql, question->dataset, scan);
	return sql.data;
}

/* What the accumulator gets for counts of rows that are units: cells, or tables of blocks. */
static bytea *
rows_bytes(const pe_period_question *question)
{
	size_t		size = pe_selection_size(question->domain, question->predicate);
	bytea	   *bytes;

	if (question->strategy->blocks == NULL)
	{
		bytes = pe_door_specification(PE_READ_CELLS, size);
		pe_selection_write(question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
		return bytes;
	}
	bytes = pe_door_specification(PE_READ_TABLES, pe_tables_size(question->tables) + size);
	pe_tables_selection_write(question->tables, question->domain, question->predicate,
							  VARDATA(bytes) + PE_READING_HEAD);
	return bytes;
}

/* Of units with several rows: with the number of periods that they count in. */
static bytea *
counts_bytes(const pe_period_question *question)
{
	const pe_periods_spec periods = {.most = question->presence->max_periods};
	bytea	   *bytes;

	if (question->dataset->unit == NULL)
		return rows_bytes(question);
	bytes = pe_door_specification(PE_READ_PERIODS, sizeof(periods) +
								  pe_tables_selection_size(question->tables, question->domain, question->predicate));
	memcpy(VARDATA(bytes) + PE_READING_HEAD, &periods, sizeof(periods));
	pe_tables_selection_write(question->tables, question->domain, question->predicate,
							  VARDATA(bytes) + PE_READING_HEAD + sizeof(periods));
	return bytes;
}

static bytea *
specification(const pe_period_question *question)
{
	pe_sums		sums;
	bytea	   *bytes;

	if (question->sums == NULL)
		return counts_bytes(question);
	sums = *question->sums;
	sums.max_periods = question->dataset->unit != NULL ? question->presence->max_periods : 0;
	bytes = pe_door_specification(PE_READ_SUMS, pe_sums_size(&sums, question->tables, question->domain,
															 question->predicate));
	pe_sums_write(&sums, question->tables, question->domain, question->predicate, VARDATA(bytes) + PE_READING_HEAD);
	return bytes;
}

/* Bytes of what is kept of a row of a unit. */
static size_t
entry_size(const pe_period_question *question)
{
	return pe_unit_entry_size(question->sums != NULL ? pe_sums_product(question->sums, question->domain)
							  : pe_tables_product(question->tables));
}

static void
prepare_period(void *argument, pe_scan *scan)
{
	measuring  *m = argument;
	const pe_period_question *question = m->question;
	const pe_dataset *dataset = question->dataset;

	if (pe_time_type(dataset) != question->columns[0].type)
		elog(ERROR, "the time of dataset \"%s\" is of another type", dataset->name);
	if (dataset->unit != NULL)
		m->cut = pe_door_cut(dataset, pe_door_rows_at_most(dataset, NULL, 0), pe_door_state_memory(scan),
							 entry_size(question));
	scan->statement = scan_statement(question, scan);
	scan->parameters = m->cut == NULL ? 1 : 2;
	scan->types[0] = scan->types[1] = BYTEAOID;
	scan->values[0] = PointerGetDatum(specification(question));
	scan->values[1] = PointerGetDatum(m->cut);
}

static size_t
counted(const measuring *m)
{
	return (size_t) m->periods * (size_t) m->cells;
}

/* Adds the counts of one scan, of all units or of a range of them. */
static void
add_counts(void *argument, bytea *bytes)
{
	measuring  *m = argument;

	pe_door_add_counts(bytes, m->counts, counted(m));
}

static void
read_rows(void *argument, pe_scan *scan)
{
	measuring  *m = argument;

	pe_door_scan_ranges(scan, m->cut, add_counts, m);
}

static void
wipe_exact(measuring *m)
{
	pe_wipe(m->counts, counted(m) * sizeof(int64));
	pe_wipe(m->columns, (size_t) m->periods * m->width * sizeof(int64));
	pe_wipe(m->exact, (size_t) m->values * sizeof(pe_i128));
}

/* What was drawn and not stored, too: it leaves nowhere. */
static void
wipe_period(void *argument)
{
	measuring  *m = argument;

	wipe_exact(m);
	pe_wipe(m->measured, (size_t) m->values * sizeof(int64));
	if (m->cut != NULL)
		pe_wipe(VARDATA(m->cut), sizeof(pe_cut));
}

static void
hold_interrupts(void)
{
	HOLD_INTERRUPTS();
}

/* What is counted of a table in one period, and measured of it. */
static int32
cells_of(const measuring *m, int32 table)
{
	const pe_tables *tables = m->question->tables;

	return (int32) ((tables->first[table + 1] - tables->first[table]) / m->periods);
}

static int32
columns_of(const measuring *m, int32 table)
{
	const pe_period_table *t = &m->question->table[table];

	return t->column_of == NULL ? cells_of(m, table) : t->columns;
}

static void
sum_cells(const int64 *count, int32 cells, const int32_t *column_of, int64 *to)
{
	for (int32 cell = 0; cell < cells; cell++)
		if (column_of[cell] >= 0)
			to[column_of[cell]] += count[cell];
}

/* Of each period what the columns of a table's strategy have, to be added from `to` on. */
static void
sum_table(measuring *m, int32 table, const int64 *count, int64 *to)
{
	int32		cells = cells_of(m, table);
	const int32_t *column_of = m->question->table[table].column_of;

	for (int32 s = 0; s < m->periods; s++, to += m->width, count += cells)
		if (column_of != NULL)
			sum_cells(count, cells, column_of, to);
		else
			memcpy(to, count, cells * sizeof(*to));
}

static void
sum_columns(measuring *m)
{
	const int64 *count = m->counts;
	int64	   *to = m->columns;

	for (int32 t = 0; t < m->question->tables->tables; t++)
	{
		sum_table(m, t, count, to);
		count += (size_t) cells_of(m, t) * m->periods;
		to += columns_of(m, t);
	}
}

/* The reply has its own copy: what is wiped is here. */
static void
reply_with(const measuring *m, pe_charge_reply *reply)
{
	reply->values = m->values;
	reply->value = palloc((size_t) Max(reply->values, 1) * sizeof(int64));
	memcpy(reply->value, m->measured, (size_t) reply->values * sizeof(int64));
}

/* Whether rows could be read the owner is shown, who sees the server's rows anyway. */
static void
store(const measuring *m, bool could_be_read, pe_charge_reply *stored)
{
	pe_charge_request charge = *m->question->charge;
	pe_series_request series = *charge.series;

	series.unread = !could_be_read;
	charge.series = &series;
	pe_channel_store_period(m->question->plan, &charge, m->measured, m->values, stored);
}

/* Another session may have stored the period meanwhile: its numbers are the answer, and these are wiped. */
static void
finish_period(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	measuring  *m = argument;
	const pe_period_question *question = m->question;
	pe_charge_reply stored;

	if (!could_be_read)
		memset(m->counts, 0, counted(m) * sizeof(int64));
	sum_columns(m);
	pe_plan_measure_period(question->plan, question->period,
						   m->columns + (size_t) (m->periods - question->taken) * m->width,
						   m->exact, m->measured, hold_interrupts);
	wipe_exact(m);
	pe_door_wait(m->start);
	store(m, could_be_read, &stored);
	if (stored.outcome == PE_CHARGED)
		reply_with(m, reply);
	else
	{
		reply->values = stored.values;
		reply->value = stored.value;
	}
}

/* How many tables, cells, columns and values there are. */
static void
find_sizes(measuring *m)
{
	const pe_period_question *question = m->question;

	m->periods = pe_attribute_cells(&question->domain->attribute[0]);
	m->cells = question->tables->first[question->tables->tables] / m->periods;
	for (int32 t = 0; t < question->tables->tables; t++)
		m->width += columns_of(m, t);
	m->values = (int32) pe_plan_rows(question->plan);
}

void
pe_door_measure_period(const pe_period_question *question, pe_charge_reply *reply)
{
	measuring	m = {.question = question, .start = GetCurrentTimestamp()};
	pe_visit	visit = {
		.dataset = question->dataset, .columns = question->columns + 1, .count = attributes_of(question) - 1,
		.plan = question->plan,
		.charge = question->charge, .presence = question->presence, .prepare = prepare_period, .read = read_rows,
		.finish = finish_period, .wipe = wipe_period, .argument = &m
	};

	if (question->sums != NULL && !pe_plan_is_of_sums(question->plan, question->sums))
		elog(ERROR, "the plan was made for other sums than are read");
	find_sizes(&m);
	m.counts = pe_alloc(counted(&m), sizeof(int64));
	m.columns = pe_alloc((size_t) m.periods * m.width, sizeof(int64));
	m.exact = pe_alloc((size_t) m.values, sizeof(pe_i128));
	m.measured = pe_alloc((size_t) m.values, sizeof(int64));
	pe_door_visit(&visit, reply);
	pe_free(m.measured);
	pe_free(m.exact);
	pe_free(m.columns);
	pe_free(m.counts);
}

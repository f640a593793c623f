/*
 * minima.c
 *	  The door for piecewise affine objectives.  See minima.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "door/affine_sink.h"
#include "worker/channel.h"
#include "door/minima.h"
#include "server/settings.h"
#include "server/shim.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * Rows that come from the accumulator
 * ------------------------------------------------------------------
 */

typedef struct affine_sink
{
	MemoryContext context;		/* in which the rows shall live on */
	pe_affine	rows;
	bool		filled;
} affine_sink;

/* Open while the door's own scan runs. */
static affine_sink *open_sink = NULL;

void
pe_affine_sink_put(const pe_affine *rows, MemoryContext owner)
{
	if (open_sink == NULL || open_sink->filled)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dp_internal.affine_rows collects rows for dp.minimize_max_affine"),
				 errhint("Use dp.minimize_max_affine, or dp.solve_max_affine for rows that you may read.")));
	MemoryContextSetParent(owner, open_sink->context);
	open_sink->rows = *rows;
	open_sink->filled = true;
}

/* ------------------------------------------------------------------
 * Minimising
 * ------------------------------------------------------------------
 */

typedef struct minimising
{
	const pe_minimum_question *question;
	TimestampTz start;
	affine_sink sink;
	double	   *value;			/* the point, then the public minimum */
	int64		most;			/* rows that there is memory for */
} minimising;

static int
values_of(const pe_minimum_question *question)
{
	return question->problem->set.variables + 1;
}

static double *
new_value(const pe_minimum_question *question)
{
	return palloc0(values_of(question) * sizeof(double));
}

/* Rows stay with their aggregate until they are taken over, then with their context. */
static void
wipe(void *argument)
{
	minimising *m = argument;

	open_sink = NULL;
	if (m->sink.filled)
		pe_affine_free(&m->sink.rows);
	m->sink.filled = false;
}

/* Minimises over rows, which are wiped, also when that is cancelled: what was drawn by then goes nowhere, and the charge stays. */
static void
minimise_rows(const pe_minimum_question *question, pe_affine *rows, double *value)
{
	double	   *public_value = value + question->problem->set.variables;

	PG_TRY();
	{
		*public_value = pe_minimum_public(question->problem, rows);
		pe_minimum_run(question->problem, rows, value);
	}
	PG_CATCH();
	{
		pe_affine_free(rows);
		PG_RE_THROW();
	}
	PG_END_TRY();
	pe_affine_free(rows);
}

static void
minimise_nothing(const pe_minimum_question *question, double *value)
{
	pe_affine	rows;

	pe_affine_init(&rows, question->problem->set.variables, pe_affine_unit(question->problem->max_change));
	minimise_rows(question, &rows, value);
}

/* Stores the values, when the time has come (pe_door_wait); they are what leaves. */
static void
store(const pe_minimum_question *question, TimestampTz start, const double *value, pe_charge_reply *reply)
{
	HOLD_INTERRUPTS();
	reply->values = values_of(question);
	reply->value = palloc(reply->values * sizeof(int64));
	memcpy(reply->value, value, reply->values * sizeof(int64));
	pe_door_wait(start);
	reply->release_id = pe_channel_store(&question->charge, reply->charge_id, reply->value, reply->values);
}

/* ------------------------------------------------------------------
 * The door
 * ------------------------------------------------------------------
 */

/* Bytes of rows as they are collected, handed over by workers and taken in: they are there three times. */
static size_t
bytes_at_most(const pe_minimum_problem *problem, uint64 rows)
{
	return 3 * pe_affine_memory(problem->set.variables, rows) + pe_minimum_memory(problem, rows);
}

/* A function has as many rows as an int can count, and no worker's may exceed what a datum can be. */
static bool
rows_fit(const pe_minimum_problem *problem, uint64 rows)
{
	return rows < PG_INT32_MAX && pe_affine_memory(problem->set.variables, rows) <= MaxAllocSize / 2 &&
		bytes_at_most(problem, rows) / 1024 <= (size_t) pe_max_memory;
}

void
pe_minimum_check_memory(const pe_minimum_problem *problem, uint64 rows)
{
	if (!rows_fit(problem, rows))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("a minimum over as many as " UINT64_FORMAT " rows may need more than pg_epsilon.max_memory", rows),
				 errdetail("Nothing was charged."),
				 errhint("The size of a table says how many rows it can have: VACUUM FULL may help, or a superuser can raise pg_epsilon.max_memory.")));
}

/* How many rows fit: at least one, or the request was refused. */
static int64
most_rows(const pe_minimum_problem *problem)
{
	int64		fit = 1;
	int64		too_many = PG_INT32_MAX;

	while (too_many - fit > 1)
	{
		int64		rows = fit + (too_many - fit) / 2;

		if (rows_fit(problem, rows))
			fit = rows;
		else
			too_many = rows;
	}
	return fit;
}

/* Slopes are what no row that counts leaves null. */
static uint64
rows_at_most(const pe_minimum_question *question)
{
	char	  **names = palloc((question->count + 1) * sizeof(char *));

	for (int i = 0; i < question->count; i++)
		names[i] = question->columns[i].name;
	return pe_door_rows_at_most(question->dataset->relation, names, question->count);
}

static char *
scan_statement(const pe_minimum_question *question)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT dp_internal.affine_rows($1, t.%s", quote_identifier(question->dataset->private_column));
	for (int i = 0; i < question->count; i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(question->columns[i].name));
	appendStringInfo(&sql, ") FROM %s t", pe_door_table(question->dataset));
	return sql.data;
}

/* What the accumulator is told. */
static Datum
spec_datum(const pe_minimum_question *question, int64 most)
{
	pe_affine_spec spec = {.variables = question->count, .unit = pe_affine_unit(question->problem->max_change), .most = most};
	size_t		size = PE_AFFINE_SPEC_SIZE(spec.variables);
	bytea	   *bytes = palloc(VARHDRSZ + size);

	for (int i = 0; i < question->count; i++)
	{
		const pe_column *column = &question->columns[i];

		pe_column_bounds(column, &spec.slope[i].lower, &spec.slope[i].upper);
		spec.slope[i].clamp = column->domain.outside == PE_OUTSIDE_CLAMP;
	}
	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), &spec, size);
	return PointerGetDatum(bytes);
}

static void
prepare(void *argument, pe_scan *scan)
{
	minimising *m = argument;
	const pe_minimum_question *question = m->question;

	pe_minimum_check_memory(question->problem, rows_at_most(question));
	m->most = most_rows(question->problem);
	scan->statement = scan_statement(question);
	scan->parameters = 1;
	scan->types[0] = BYTEAOID;
	scan->values[0] = spec_datum(question, m->most);
}

static void
take_nothing(void *argument, bytea *result)
{
	elog(ERROR, "the scan returned a value that was not asked for");
}

static void
read_rows(void *argument, pe_scan *scan)
{
	minimising *m = argument;

	open_sink = &m->sink;
	pe_door_scan(scan, take_nothing, NULL);
	open_sink = NULL;
}

/*
 * The size of a foreign table is not known before it is read, and a table grows.  How
 * many rows there are is public: an error may say so.
 */
static void
check_rows(const minimising *m)
{
	if (m->sink.rows.rows > m->most)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("a minimum over more than " INT64_FORMAT " rows may need more than pg_epsilon.max_memory", m->most),
				 errdetail("That there are more was seen as they were read: what was charged stays charged."),
				 errhint("A superuser can raise pg_epsilon.max_memory. ANALYZE of a foreign table tells its size, and a request that cannot be served is free then.")));
}

/* Minimises over what was collected: over nothing if the rows could not be read. */
static void
minimise_read(minimising *m, bool could_be_read)
{
	if (could_be_read && m->sink.filled)
	{
		check_rows(m);
		m->sink.filled = false;
		minimise_rows(m->question, &m->sink.rows, m->value);
	}
	else
		minimise_nothing(m->question, m->value);
}

static void
finish(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	minimising *m = argument;

	open_sink = NULL;
	minimise_read(m, could_be_read);
	store(m->question, m->start, m->value, reply);
}

/*
 * Reads, minimises and stores; the values are left in m->value if there was a charge.
 * Not before the release is stored does the memory go: what takes time or can fail comes
 * after.
 */
static void
visit_and_minimise(minimising *m, pe_charge_reply *reply)
{
	const pe_minimum_question *question = m->question;
	pe_visit	visit = {
		.dataset = question->dataset, .columns = question->columns, .count = question->count,
		.charge = &question->charge, .prepare = prepare, .read = read_rows, .finish = finish, .wipe = wipe, .argument = m
	};

	pe_progress_begin();
	m->start = GetCurrentTimestamp();
	m->sink.context = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon minimum", ALLOCSET_DEFAULT_SIZES);
	pe_door_visit(&visit, reply);
	MemoryContextDelete(m->sink.context);
}

void
pe_door_minimise(const pe_minimum_question *question, pe_charge_reply *reply)
{
	minimising	m = {.question = question, .value = new_value(question)};

	visit_and_minimise(&m, reply);
}

/* ------------------------------------------------------------------
 * Rows that the caller has collected
 * ------------------------------------------------------------------
 */

typedef struct collected
{
	const pe_minimum_question *question;
	pe_affine  *rows;
	pe_charge_reply *reply;
} collected;

static void
minimise_collected(void *argument, volatile bool *charged)
{
	collected  *c = argument;
	TimestampTz start = GetCurrentTimestamp();
	double	   *value = new_value(c->question);

	pe_channel_reserve(&c->question->charge, c->reply);
	if (c->reply->outcome != PE_CHARGED)
		return;
	*charged = true;
	minimise_rows(c->question, c->rows, value);
	store(c->question, start, value, c->reply);
}

static void
wipe_collected(void *argument)
{
	pe_affine_free(((collected *) argument)->rows);
}

void
pe_minimise_collected(const pe_minimum_question *question, pe_affine *rows, pe_charge_reply *reply)
{
	collected	c = {question, rows, reply};

	pe_progress_begin();
	pe_door_run(minimise_collected, wipe_collected, &c);
}

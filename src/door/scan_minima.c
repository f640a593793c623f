/*
 * scan_minima.c
 *	  The door for piecewise affine objectives.  See questions.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "door/questions.h"
#include "server/settings.h"
#include "server/shim.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * Minimising
 * ------------------------------------------------------------------
 */

typedef struct minimising
{
	const pe_minimum_question *question;
	TimestampTz start;
	MemoryContext context;		/* of the rows, which outlive the scan */
	pe_affine_spec spec;		/* what the accumulator gets */
	pe_affine	rows;
	double	   *value;			/* the point, then the public minimum */
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

/* Overwrites what is exact. */
static void
wipe_minimum(void *argument)
{
	pe_affine_free(&((minimising *) argument)->rows);
}

/*
 * Minimises over rows, which are wiped, also when that is cancelled: what was
 * drawn by then goes nowhere, and the charge stays.
 */
static void
minimise_rows(const pe_minimum_question *question, pe_affine *rows, double *value)
{
	double	   *public_value = value + question->problem->set.variables;

	PG_TRY();
	{
		*public_value = pe_minimum_public(question->problem, rows);
		pe_plan_minimise(question->plan, rows, value);
	}
	PG_CATCH();
	{
		pe_affine_free(rows);
		PG_RE_THROW();
	}
	PG_END_TRY();
	pe_affine_free(rows);
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
				 errmsg("a minimum over as many as " UINT64_FORMAT " rows may need more than pg_epsilon.max_memory",
						rows),
				 errdetail("Nothing was charged."),
				 errhint("The size of a table says how many rows it can have: VACUUM FULL may help, or a superuser "
						 "can raise pg_epsilon.max_memory.")));
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
	return pe_door_rows_at_most(question->dataset, names, question->count);
}

static char *
scan_statement(const pe_minimum_question *question, const pe_scan *scan)
{
	StringInfoData sql;

	initStringInfo(&sql);
	pe_door_begin_statement(&sql, question->dataset, scan, false);
	appendStringInfo(&sql, ", t.%s", quote_identifier(question->dataset->private_column));
	for (int i = 0; i < question->count; i++)
		appendStringInfo(&sql, ", t.%s", quote_identifier(question->columns[i].name));
	pe_door_end_statement(&sql, question->dataset, scan);
	return sql.data;
}

/* How columns become slopes; most: the rows that there is memory for. */
static pe_affine_spec
spec_of(const pe_minimum_question *question, int64 most)
{
	pe_affine_spec spec = {.variables = question->count, .unit = pe_affine_unit(question->problem->max_change),
		.most = most};

	for (int i = 0; i < question->count; i++)
	{
		const pe_column *column = &question->columns[i];

		pe_column_bounds(column, &spec.slope[i].lower, &spec.slope[i].upper);
		spec.slope[i].clamp = column->domain.outside == PE_OUTSIDE_CLAMP;
	}
	return spec;
}

static Datum
spec_datum(const pe_affine_spec *spec)
{
	size_t		size = PE_AFFINE_SPEC_SIZE(spec->variables);
	bytea	   *bytes = pe_door_specification(PE_READ_AFFINE, size);

	memcpy(VARDATA(bytes) + PE_READING_HEAD, spec, size);
	return PointerGetDatum(bytes);
}

static void
prepare_minimum(void *argument, pe_scan *scan)
{
	minimising *m = argument;
	const pe_minimum_question *question = m->question;

	pe_minimum_check_memory(question->problem, rows_at_most(question));
	m->spec = spec_of(question, most_rows(question->problem));
	scan->statement = scan_statement(question, scan);
	scan->parameters = 1;
	scan->types[0] = BYTEAOID;
	scan->values[0] = spec_datum(&m->spec);
}

static void
take_rows(void *argument, bytea *bytes)
{
	minimising *m = argument;
	MemoryContext old = MemoryContextSwitchTo(m->context);

	if (!pe_affine_rows_read(&m->spec, &m->rows, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		elog(ERROR, "the scan returned other rows");
	MemoryContextSwitchTo(old);
}

static void
read_rows(void *argument, pe_scan *scan)
{
	pe_door_scan(scan, take_rows, argument);
}

/*
 * The size of a foreign table is not known before it is read, and a table grows.  How
 * many rows there are is public: an error may say so.
 */
static void
check_rows(const minimising *m)
{
	if (m->rows.rows > m->spec.most)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("a minimum over more than " INT64_FORMAT " rows may need more than pg_epsilon.max_memory",
						m->spec.most),
				 errdetail("More were found while they were read."),
				 errhint("A superuser can raise pg_epsilon.max_memory. ANALYZE of a foreign table tells its size, "
						 "and a request that cannot be served is free then.")));
}

static void
init_rows(minimising *m)
{
	const pe_minimum_problem *problem = m->question->problem;

	pe_affine_init(&m->rows, problem->set.variables, pe_affine_unit(problem->max_change));
}

/* Minimises over what was collected: over nothing if the rows could not be read. */
static void
finish_minimum(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	minimising *m = argument;

	if (could_be_read)
		check_rows(m);
	else
	{
		pe_affine_free(&m->rows);
		init_rows(m);
	}
	minimise_rows(m->question, &m->rows, m->value);
	pe_door_store_doubles(m->question->plan, m->question->charge, m->start, m->value, values_of(m->question), reply);
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
		.plan = question->plan, .charge = question->charge, .prepare = prepare_minimum,
		.read = read_rows, .finish = finish_minimum, .wipe = wipe_minimum, .argument = m
	};

	pe_progress_begin();
	m->start = GetCurrentTimestamp();
	m->context = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon minimum", ALLOCSET_DEFAULT_SIZES);
	init_rows(m);
	pe_door_visit(&visit, reply);
	MemoryContextDelete(m->context);
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
} collected;

static void
minimise_collected(void *argument, double *value)
{
	const collected *c = argument;

	minimise_rows(c->question, c->rows, value);
}

static void
wipe_collected(void *argument)
{
	pe_affine_free(((collected *) argument)->rows);
}

void
pe_minimise_collected(const pe_minimum_question *question, pe_affine *rows, pe_charge_reply *reply)
{
	collected	c = {question, rows};
	pe_collected work = {
		.plan = question->plan, .charge = question->charge, .dataset = question->dataset->name,
		.values = values_of(question), .work = minimise_collected, .wipe = wipe_collected, .argument = &c
	};

	pe_progress_begin();
	pe_door_collected(&work, reply);
}

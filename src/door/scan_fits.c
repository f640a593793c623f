/*
 * scan_fits.c
 *	  The door for models.  See questions.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "door/questions.h"
#include "door/reader.h"
#include "server/settings.h"
#include "server/shim.h"

/* ------------------------------------------------------------------
 * Fitting
 * ------------------------------------------------------------------
 */

typedef struct fitting
{
	const pe_fit_question *question;
	TimestampTz start;
	bool		plain;			/* the owner's, without privacy: nothing is stored */
	MemoryContext context;		/* of the rows, which outlive the scan */
	pe_rows		rows;
	uint64		dropped;		/* rows that were read and did not count */
	bool		in_memory;
	bytea	   *cut;			/* how units are cut, and the key, until it is wiped; NULL without them */
	double	   *w;				/* by scans */
	double	   *covariance;		/* of w, where the method gives it; else NULL */
	pe_fit_population *population;
	bool		fitted;
} fitting;

/* Overwrites what is exact or secret. */
static void
wipe_fit(void *argument)
{
	fitting    *f = argument;

	pe_rows_free(&f->rows);
	if (f->cut != NULL)
		pe_wipe(VARDATA(f->cut), sizeof(pe_cut));
}

static double *
new_weights(const pe_fit_question *question)
{
	return palloc0((question->spec->map.shape.columns + 1) * sizeof(double));
}

/* NULL where the method gives none. */
static double *
new_covariance(const pe_fit_question *question)
{
	Size		columns = question->spec->map.shape.columns;

	if (!pe_fit_tells_covariance(question->problem))
		return NULL;
	return palloc_extended((columns + 1) * columns * sizeof(double), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* What the weights say of a population: room, where they have a covariance. */
static pe_fit_population *
new_population(const pe_fit_question *question)
{
	pe_fit_population *population = palloc0(sizeof(*population));

	population->covariance = new_covariance(question);
	population->unknown = PE_FIT_UNKNOWN_METHOD;
	return population;
}

/* By the plan; without one nothing can be drawn, and the method must be one without privacy. */
static void
run_fit(const pe_fit_question *question, pe_source *source, double *w, double *covariance,
		pe_fit_population *population)
{
	if (pe_fit_is_private(question->problem->method))
		pe_plan_fit(question->plan, source, w, covariance, covariance != NULL ? population : NULL);
	else
		pe_fit_run(question->problem, source, w);
}

/* Fits on rows in memory, which are wiped, also when the fit is cancelled; in the time of all that were read. */
static void
fit_rows(const pe_fit_question *question, pe_rows *rows, uint64 dropped, double *w, double *covariance,
		 pe_fit_population *population)
{
	pe_source	source;

	pe_source_of_rows(&source, rows);
	source.dropped = dropped;
	PG_TRY();
	{
		run_fit(question, &source, w, covariance, population);
	}
	PG_FINALLY();
	{
		pe_rows_free(rows);
	}
	PG_END_TRY();
}

/* ------------------------------------------------------------------
 * The door
 * ------------------------------------------------------------------
 */

/* The columns that no row that counts leaves null. */
static char **
never_null(const pe_fit_question *question, int *count)
{
	char	  **names = palloc((question->count + 1) * sizeof(char *));

	*count = 0;
	for (int i = 0; i < question->count; i++)
		if (i == 0 || question->columns[i].domain.nulls == PE_NULLS_DROP)
			names[(*count)++] = question->columns[i].name;
	return names;
}

/*
 * Whether the rows can stay in memory: collected, handed over by workers and taken
 * in, they are there three times, and no worker's may exceed what a datum can be.
 */
static bool
fits_memory(const pe_fit_question *question, uint64 rows)
{
	size_t		bytes = pe_rows_memory(&question->spec->map.shape, question->dataset->unit != NULL, rows);

	return bytes < MaxAllocSize / 2 &&
		3 * bytes + pe_fit_memory(question->problem) <= (size_t) pe_max_memory * 1024;
}

/* How units are cut for scans of so many rows: a range of them has to be in memory at once. */
static bytea *
cut_bytes(const pe_fit_question *question, uint64 rows, bool in_memory)
{
	size_t		limit = (size_t) pe_max_memory * 1024;
	size_t		row = Max(pe_rows_memory(&question->spec->map.shape, true, PE_BLOCK_ROWS) / PE_BLOCK_ROWS, 1);

	if (question->dataset->unit == NULL)
		return NULL;
	/* divided as if a row were as large as an entry of domain/units.h */
	limit = in_memory ? SIZE_MAX : Min(limit / 3, MaxAllocSize / 2) / row * sizeof(pe_unit_rows);
	return pe_door_cut(question->dataset, in_memory ? 0 : rows, limit, sizeof(pe_unit_rows));
}

static char *
scan_statement(const pe_fit_question *question, const pe_scan *scan)
{
	StringInfoData sql;

	initStringInfo(&sql);
	pe_door_begin_statement(&sql, question->dataset, scan, question->dataset->unit != NULL);
	for (int i = 0; i < question->count; i++)
		appendStringInfo(&sql, "%st.%s", i == PE_ROW_ARGUMENTS ? ", ROW(" : ", ",
						 quote_identifier(question->columns[i].name));
	appendStringInfoString(&sql, question->count > PE_ROW_ARGUMENTS ? ")" : "");
	pe_door_end_statement(&sql, question->dataset, scan);
	return sql.data;
}

/* What the accumulator gets: the specification, and a pass unless it collects. */
static Datum
spec_datum(const pe_fit_question *question, const pe_pass *pass)
{
	const pe_row_shape *shape = &question->spec->map.shape;
	size_t		size = pe_row_spec_size(question->spec);
	size_t		pass_size = pass != NULL ? pe_pass_size(pass, shape) : 0;
	bytea	   *bytes = pe_door_specification(PE_READ_MODEL, size + pass_size);

	pe_row_spec_write(question->spec, VARDATA(bytes) + PE_READING_HEAD);
	if (pass != NULL)
		pe_pass_write(pass, shape, VARDATA(bytes) + PE_READING_HEAD + size);
	return PointerGetDatum(bytes);
}

/* Rows in shards are on nodes that have no snapshot in common, so that two passes may read other rows. */
static void
check_one_table(const pe_fit_question *question, const pe_scan *scan, bool in_memory)
{
	if (scan->distributed && !in_memory && pe_fit_needs_one_table(question->problem->method))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this method needs all rows of a distributed table in memory at once"),
				 errdetail("Its theorem is about one table, and passes that are scans may find other rows on the "
						   "nodes."),
				 errhint("Choose another method, such as newton; or a superuser can raise pg_epsilon.max_memory.")));
}

/* Rows are collected as they are, not by their cells: nothing public would bound the memory that they take. */
static void
check_not_multiplied(const pe_dataset *dataset)
{
	if (dataset->max_rows_read > 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("models of a view that multiplies rows"),
				 errhint("Fit over a view with one row for each unit or each row of a table: aggregate what is "
						 "joined, GROUP BY the unit.")));
}

static void
prepare_fit(void *argument, pe_scan *scan)
{
	fitting    *f = argument;
	const pe_fit_question *question = f->question;
	int			stored;
	char	  **names = never_null(question, &stored);
	uint64		rows = pe_door_rows_at_most(question->dataset, names, stored);

	check_not_multiplied(question->dataset);
	f->in_memory = fits_memory(question, rows);
	check_one_table(question, scan, f->in_memory);
	f->cut = cut_bytes(question, rows, f->in_memory);
	scan->statement = scan_statement(question, scan);
	scan->parameters = f->cut == NULL ? 1 : 2;
	scan->types[0] = scan->types[1] = BYTEAOID;
	scan->values[0] = spec_datum(question, NULL);
	scan->values[1] = PointerGetDatum(f->cut);
	/* a unit may have more rows than the state of a worker can hand over */
	scan->serial = f->cut != NULL && !f->in_memory;
}

static void
take_rows(void *argument, bytea *bytes)
{
	fitting    *f = argument;
	MemoryContext old;

	pe_rows_free(&f->rows);
	if (pe_read_rows_take(bytes, f->context, &f->rows, &f->dropped))
		return;
	/* a plan that another module made may copy what the aggregate returns */
	bytes = DatumGetByteaPP(PointerGetDatum(bytes));
	old = MemoryContextSwitchTo(f->context);
	if (!pe_rows_result_read(&f->rows, &f->dropped, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes)))
		elog(ERROR, "the scan returned other rows");
	MemoryContextSwitchTo(old);
}

/* A source whose passes are scans. */
typedef struct scans
{
	pe_source	source;			/* first */
	const fitting *f;
	pe_scan    *scan;
	pe_i128    *sums;
	size_t		count;
} scans;

static void
add_sums(void *argument, bytea *bytes)
{
	scans	   *s = argument;

	if (VARSIZE_ANY_EXHDR(bytes) != s->count * sizeof(pe_i128))
		elog(ERROR, "the scan returned the sums of another pass");
	for (size_t i = 0; i < s->count; i++)
	{
		pe_i128		sum;

		memcpy(&sum, VARDATA_ANY(bytes) + i * sizeof(sum), sizeof(sum));
		s->sums[i] += sum;
	}
}

static void
run_scan(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	scans	   *s = (scans *) source;
	Datum		spec = spec_datum(s->f->question, pass);

	s->sums = sums;
	s->count = pe_pass_sums(pass, source->shape);
	memset(sums, 0, s->count * sizeof(*sums));
	s->scan->values[0] = spec;
	pe_door_scan_ranges(s->scan, s->f->cut, add_sums, s);
	pfree(DatumGetPointer(spec));
}

static void
read_rows(void *argument, pe_scan *scan)
{
	fitting    *f = argument;
	scans		s = {.source = {.run = run_scan, .shape = &f->question->spec->map.shape}, .f = f, .scan = scan};

	if (f->in_memory)
		pe_door_scan(scan, take_rows, f);
	else
	{
		run_fit(f->question, &s.source, f->w, f->covariance, f->population);
		f->fitted = true;
	}
}

/* Fits on what was collected, unless the fit is done: on nothing if the rows could not be read. */
static void
fit_read(fitting *f, bool could_be_read)
{
	if (f->fitted && could_be_read)
		return;
	if (!could_be_read)
	{
		pe_rows_free(&f->rows);
		f->dropped = 0;
	}
	fit_rows(f->question, &f->rows, f->dropped, f->w, f->covariance, f->population);
}

/* The coefficients of the weights and, behind them, their standard errors of both kinds are what leaves. */
static void
make_values(const pe_fit_question *question, const double *w, const double *covariance,
			const pe_fit_population *population, double *value)
{
	int32_t		terms = pe_row_spec_terms(question->spec);

	pe_row_spec_coefficients(question->spec, w, value);
	pe_row_spec_stderr(question->spec, covariance, value + terms);
	if (population->unknown == PE_FIT_KNOWN)
		pe_row_spec_contrast_stderr(question->spec, population->covariance, value + 2 * terms);
	for (int32_t i = 2 * terms; i < 3 * terms && population->unknown != PE_FIT_KNOWN; i++)
		value[i] = -(double) population->unknown;
}

static void
store(const fitting *f, pe_charge_reply *reply)
{
	const pe_fit_question *question = f->question;
	int			values = PE_MODEL_VALUES(pe_row_spec_terms(question->spec));
	double	   *value = palloc(values * sizeof(double));

	make_values(question, f->w, f->covariance, f->population, value);
	pe_door_store_doubles(question->plan, question->charge, f->start, value, values, reply);
}

static void
finish_fit(void *argument, bool could_be_read, pe_charge_reply *reply)
{
	fitting    *f = argument;

	fit_read(f, could_be_read);
	if (!f->plain)
		store(f, reply);
}

/* Reads, fits and stores; the weights are left in f->w if there was a charge. */
static void
visit_and_fit(fitting *f, const pe_charge_request *charge, pe_charge_reply *reply)
{
	const pe_fit_question *question = f->question;
	pe_visit	visit = {
		.dataset = question->dataset, .columns = question->columns, .count = question->count,
		.plan = question->plan, .charge = charge, .prepare = prepare_fit,
		.read = read_rows, .finish = finish_fit, .wipe = wipe_fit, .argument = f
	};

	pe_progress_begin();
	f->start = GetCurrentTimestamp();
	f->plain = charge == NULL;
	f->context = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon fit", ALLOCSET_DEFAULT_SIZES);
	pe_rows_init(&f->rows, &question->spec->map.shape, question->dataset->unit != NULL);
	f->w = new_weights(question);
	f->covariance = new_covariance(question);
	f->population = new_population(question);
	pe_door_visit(&visit, reply);
	MemoryContextDelete(f->context);
}

void
pe_door_fit(const pe_fit_question *question, pe_charge_reply *reply)
{
	fitting		f = {.question = question};

	visit_and_fit(&f, question->charge, reply);
}

void
pe_door_fit_plain(const pe_fit_question *question, double *coefficient)
{
	fitting		f = {.question = question};
	pe_charge_reply reply = {0};

	visit_and_fit(&f, NULL, &reply);
	pe_row_spec_coefficients(question->spec, f.w, coefficient);
}

/* ------------------------------------------------------------------
 * Rows that the caller has collected
 * ------------------------------------------------------------------
 */

typedef struct collected
{
	const pe_fit_question *question;
	pe_rows    *rows;
} collected;

static void
fit_collected(void *argument, double *value)
{
	const collected *c = argument;
	double	   *w = new_weights(c->question);
	double	   *covariance = new_covariance(c->question);
	pe_fit_population *population = new_population(c->question);

	fit_rows(c->question, c->rows, 0, w, covariance, population);
	make_values(c->question, w, covariance, population, value);
}

static void
wipe_collected(void *argument)
{
	pe_rows_free(((collected *) argument)->rows);
}

void
pe_fit_collected(const pe_fit_question *question, pe_rows *rows, pe_charge_reply *reply)
{
	collected	c = {question, rows};
	pe_collected work = {
		.plan = question->plan, .charge = question->charge, .dataset = question->dataset->name,
		.values = PE_MODEL_VALUES(pe_row_spec_terms(question->spec)),
		.work = fit_collected, .wipe = wipe_collected, .argument = &c
	};

	pe_progress_begin();
	pe_door_collected(&work, reply);
}

void
pe_fit_collected_plain(const pe_fit_question *question, pe_rows *rows, double *coefficient)
{
	double	   *w = new_weights(question);

	fit_rows(question, rows, 0, w, NULL, NULL);
	pe_row_spec_coefficients(question->spec, w, coefficient);
}

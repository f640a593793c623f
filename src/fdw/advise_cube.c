/*
 * advise_cube.c
 *	  dp.advise_cube: the cube for a list of SELECTs, as a tool's log has them, and its errors.
 *
 * Statements are planned and not run, as EXPLAIN does: no row is read, nothing
 * is charged, and who calls needs what EXPLAIN of them needs.  The
 * attributes that one of them distinguishes together become a table of the cube.
 */
#include "postgres.h"

#include <math.h>

#include "executor/executor.h"
#include "fmgr.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"

#include "api/public_cells.h"
#include "fdw/scan_request.h"
#include "fdw/scans.h"
#include "fdw/table_options.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/return_rows.h"

PG_FUNCTION_INFO_V1(pe_sql_advise_cube);

enum
{
	ARG_DATASET, ARG_STATEMENTS, ARG_EPSILON, ARG_BUDGET
};

/* The most roll-ups that are shown. */
#define MOST_ROLL_UPS 256

typedef struct advised_row
{
	const char *part;			/* cube, statement, roll-up */
	int			number;			/* of a statement, from 1; 0: of none */
	const char *question;
	double		error;			/* NaN: not known */
	const char *hint;
} advised_row;

typedef struct advice
{
	const char *dataset;
	char	   *statement;		/* that is looked at */
	char	  **attribute;		/* of the dataset */
	int			attributes;
	const pe_cube *cube;		/* that statements are asked of */
	bool		collects;		/* what they need; else errors */
	List	   *sets;			/* Bitmapset *, of attributes: the largest ones */
	List	   *aggregates;		/* char * */

	/* of the statement */
	char	   *question;
	double		error;

	advised_row *row;
	int			rows;
} advice;

/* ------------------------------------------------------------------
 * A statement
 * ------------------------------------------------------------------
 */

static PlannedStmt *
planned(const char *text)
{
	List	   *parsed = pg_parse_query(text);
	List	   *queries = list_length(parsed) == 1
		? pg_analyze_and_rewrite_fixedparams(linitial_node(RawStmt, parsed), text, NULL, 0, NULL) : NIL;

	if (list_length(queries) != 1 || linitial_node(Query, queries)->commandType != CMD_SELECT ||
		linitial_node(Query, queries)->hasModifyingCTE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("it is not one SELECT")));
	return pg_plan_query(linitial_node(Query, queries), text, 0, NULL);
}

static int
place_of(const advice *a, const char *name)
{
	for (int i = 0; i < a->attributes; i++)
		if (strcmp(a->attribute[i], name) == 0)
			return i;
	return -1;
}

/* A set that is part of another one follows from it. */
static void
add_set(advice *a, Bitmapset *set)
{
	List	   *kept = NIL;
	ListCell   *cell;

	foreach(cell, a->sets)
		if (bms_is_subset(set, lfirst(cell)))
			return;
	foreach(cell, a->sets)
		if (!bms_is_subset(lfirst(cell), set))
			kept = lappend(kept, lfirst(cell));
	a->sets = lappend(kept, set);
}

static void
add_aggregate(advice *a, char *text)
{
	ListCell   *cell;

	foreach(cell, a->aggregates)
		if (strcmp(lfirst(cell), text) == 0)
			return;
	a->aggregates = lappend(a->aggregates, text);
}

/* What a cube has no answer of: it is made of ranks, or of units. */
static void
check_aggregate(const char *text)
{
	if (strncmp(text, "quantile(", 9) == 0 || strncmp(text, "median(", 7) == 0 ||
		strncmp(text, "count(distinct", 14) == 0)
		pe_refuse_translation(psprintf("%s by a cube", text), "Ask for it by itself, or publish it.");
}

static void
check_aggregates(const pe_select *s)
{
	ListCell   *cell;

	foreach(cell, s->over.aggregates)
		check_aggregate(lfirst(cell));
}

static void
collect(advice *a, const pe_select *s)
{
	ListCell   *cell;

	foreach(cell, pe_over_cube_sets(&s->over))
	{
		Bitmapset  *set = NULL;
		int			i = -1;

		while ((i = bms_next_member(lfirst(cell), i)) >= 0)
			set = bms_add_member(set, place_of(a, s->sight->declared->attribute[i].name));
		add_set(a, set);
	}
	foreach(cell, s->over.aggregates)
		add_aggregate(a, lfirst(cell));
}

static void
look_at_select(advice *a, pe_select *s)
{
	const char *dataset = pe_fdw_dataset(s->plan->relation);

	/* a cube is one relation */
	if (s->plan->tables != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("it asks tables of dp.expose_tables, which no cube stands for; "
						"ask the relation of dp.expose")));
	if (strcmp(dataset, a->dataset) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("it asks dataset \"%s\"", dataset)));
	s->cube = (pe_cube *) a->cube;
	pe_select_open(s);
	pe_select_translate(s);
	if (!s->asks)
		return;
	check_aggregates(s);
	if (a->collects)
	{
		collect(a, s);
		return;
	}
	pe_select_price(s, false);
	a->question = a->question != NULL ? psprintf("%s | %s", a->question, pe_select_request_text(s))
		: pe_select_request_text(s);
	a->error = fmax(a->error, pe_select_error(s));
}

/* As EXPLAIN: privileges are checked, and nothing is run. */
static void
look_at_statement(void *argument)
{
	advice	   *a = argument;
	QueryDesc  *query = CreateQueryDesc(planned(a->statement), a->statement, GetActiveSnapshot(), InvalidSnapshot,
										None_Receiver, NULL, NULL, 0);
	List	   *selects;
	ListCell   *cell;

	ExecutorStart(query, EXEC_FLAG_EXPLAIN_ONLY);
	selects = pe_selects_of_statement(query->estate);
	if (selects == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("it asks no dataset")));
	foreach(cell, selects)
		look_at_select(a, lfirst(cell));
	ExecutorFinish(query);
	ExecutorEnd(query);
	FreeQueryDesc(query);
}

/* Functions of a statement are evaluated, and may ask themselves; NULL: no error. */
static ErrorData *
look_at(advice *a, char *statement)
{
	bool		was_explaining = pe_is_explaining;
	ErrorData  *error;

	a->statement = statement;
	a->question = NULL;
	a->error = 0;
	pe_is_explaining = true;
	error = pe_run_undone(look_at_statement, a);
	pe_is_explaining = was_explaining;
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	return error;
}

/* ------------------------------------------------------------------
 * The cube
 * ------------------------------------------------------------------
 */

/* "identity(a) * identity(b)", or the names alone. */
static void
append_set(StringInfo to, const advice *a, const Bitmapset *set, bool names)
{
	int			i = -1;
	bool		any = false;

	while ((i = bms_next_member(set, i)) >= 0)
	{
		const char *name = quote_identifier(a->attribute[i]);

		appendStringInfo(to, names ? "%s%s" : "%sidentity(%s)", !any ? "" : names ? ", " : " * ", name);
		any = true;
	}
	if (!any && !names)
		appendStringInfoString(to, "total");
}

static Bitmapset *
attributes_of_sets(const advice *a)
{
	Bitmapset  *all = NULL;
	ListCell   *cell;

	foreach(cell, a->sets)
		all = bms_add_members(all, lfirst(cell));
	return all;
}

static double
binomial(int n, int k)
{
	double		b = 1;

	for (int i = 1; i <= k; i++)
		b = b * (n - k + i) / i;
	return rint(b);
}

/* Whether the sets are all of k attributes: no two are the same. */
static bool
are_marginals(const advice *a, int k)
{
	ListCell   *cell;

	foreach(cell, a->sets)
		if (bms_num_members(lfirst(cell)) != k)
			return false;
	return list_length(a->sets) > 1 && list_length(a->sets) == binomial(bms_num_members(attributes_of_sets(a)), k);
}

static char *
workload_of_sets(const advice *a)
{
	StringInfoData text;
	ListCell   *cell;
	int			k = bms_num_members(linitial(a->sets));

	if (are_marginals(a, k))
		return psprintf("marginals(%d)", k);
	initStringInfo(&text);
	foreach(cell, a->sets)
	{
		appendStringInfoString(&text, foreach_current_index(cell) > 0 ? " + " : "");
		append_set(&text, a, lfirst(cell), false);
	}
	return text.data;
}

static char **
array_of(List *texts)
{
	char	  **array = palloc(Max(list_length(texts), 1) * sizeof(char *));
	ListCell   *cell;

	foreach(cell, texts)
		array[foreach_current_index(cell)] = lfirst(cell);
	return array;
}

static void
fill_request(const advice *a, double epsilon, char *budget, pe_request *request)
{
	Bitmapset  *attributes = attributes_of_sets(a);
	int			i = -1;

	pe_request_init(request, PE_ASK_SUMS, "dp.advise_cube");
	request->dataset = (char *) a->dataset;
	request->epsilon = epsilon;
	request->budget = budget;
	request->attribute = palloc(Max(bms_num_members(attributes), 1) * sizeof(char *));
	while ((i = bms_next_member(attributes, i)) >= 0)
		request->attribute[request->attributes++] = a->attribute[i];
	request->workload = request->attributes > 0 ? workload_of_sets(a) : NULL;
	request->sums.aggregate = array_of(a->aggregates);
	request->sums.aggregates = list_length(a->aggregates);
}

static char *
array_text(char **text, int count)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < count; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? "," : "", quote_literal_cstr(text[i]));
	return psprintf("ARRAY[%s]::text[]", list.data);
}

/* The call that measures it. */
static char *
call_text(const pe_request *r)
{
	const char *dataset = quote_literal_cstr(r->dataset);
	const char *by = array_text(r->attribute, r->attributes);
	const char *workload = r->workload != NULL ? psprintf(", workload => %s", quote_literal_cstr(r->workload)) : "";
	const char *epsilon = pe_number_text(r->epsilon);

	if (r->sums.aggregates == 1 && r->attributes > 0)
		return psprintf("SELECT release FROM dp.measure(%s, %s%s, epsilon => %s)", dataset, by, workload, epsilon);
	return psprintf("SELECT max(release) AS release FROM dp.aggregate(%s, %s, %s%s, epsilon => %s)", dataset,
					array_text(r->sums.aggregate, r->sums.aggregates), by, workload, epsilon);
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static void
add_row(advice *a, const char *part, int number, const char *question, double error, const char *hint)
{
	a->row[a->rows++] = (advised_row) {part, number, question, error, hint};
}

static const char *
hint_of(const ErrorData *error)
{
	return error->hint != NULL ? psprintf("%s (%s)", error->message, error->hint) : error->message;
}

static void
add_statement(advice *a, int number, char *statement)
{
	ErrorData  *error = look_at(a, statement);

	if (error != NULL)
		add_row(a, "statement", number, statement, NAN, hint_of(error));
	else if (a->question == NULL)
		add_row(a, "statement", number, statement, NAN, "the declared levels and bins tell it, free");
	else
		add_row(a, "statement", number, a->question, a->error, NULL);
}

/* The largest error of the cube's first aggregate over the cells of some attributes. */
static double
error_of_roll_up(const advice *a, const Bitmapset *set)
{
	pe_aggregate_call call = {.cube = (pe_cube *) a->cube};
	pe_request *request = &call.call.request;
	double		errors[PE_MAX_AGGREGATES];
	StringInfoData workload;

	*request = a->cube->stored->request;
	initStringInfo(&workload);
	append_set(&workload, a, set, false);
	request->workload = request->attributes > 0 ? workload.data : NULL;
	pe_aggregate_call_prepare(&call, false);
	pe_aggregate_call_errors(&call, 1000, errors);
	return errors[0];
}

static void
add_roll_up(advice *a, const Bitmapset *set)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "%s by (", (char *) linitial(a->aggregates));
	append_set(&text, a, set, true);
	appendStringInfoChar(&text, ')');
	add_row(a, "roll-up", 0, text.data, error_of_roll_up(a, set), NULL);
}

/* All subsets of the sets, each once; those of the largest sets first, as far as there is room. */
static void
add_roll_ups(advice *a)
{
	List	   *found = list_copy(a->sets);

	for (int i = 0; i < list_length(found) && i < MOST_ROLL_UPS; i++)
	{
		Bitmapset  *set = list_nth(found, i);
		int			out = -1;

		add_roll_up(a, set);
		while ((out = bms_next_member(set, out)) >= 0 && list_length(found) < MOST_ROLL_UPS)
		{
			Bitmapset  *less = bms_del_member(bms_copy(set), out);
			bool		known = false;
			ListCell   *cell;

			foreach(cell, found)
				known |= bms_equal(lfirst(cell), less);
			if (!known)
				found = lappend(found, less);
		}
	}
}

static void
make_row(const void *argument, int32 number, Datum *values, bool *nulls)
{
	const advised_row *row = &((const advice *) argument)->row[number];

	values[0] = CStringGetTextDatum(row->part);
	values[1] = Int32GetDatum(row->number);
	nulls[1] = row->number == 0;
	values[2] = CStringGetTextDatum(row->question);
	pe_put_float(row->error, &values[3], &nulls[3]);
	nulls[4] = row->hint == NULL;
	values[4] = nulls[4] ? (Datum) 0 : CStringGetTextDatum(row->hint);
}

static void
find_attributes(advice *a)
{
	const pe_public_dataset *declared = pe_public_load(a->dataset, NULL, 0);

	a->attributes = declared->attributes;
	a->attribute = palloc(Max(a->attributes, 1) * sizeof(char *));
	for (int i = 0; i < a->attributes; i++)
		a->attribute[i] = declared->attribute[i].name;
}

/* What all that can be answered together need: without any there is nothing to propose. */
static void
propose(advice *a, char **statement, int statements)
{
	a->cube = pe_cube_of_attributes(a->attribute, a->attributes);
	a->collects = true;
	add_aggregate(a, "count(*)");
	for (int i = 0; i < statements; i++)
		(void) look_at(a, statement[i]);
	a->collects = false;
}

Datum
pe_sql_advise_cube(PG_FUNCTION_ARGS)
{
	advice		a = {.dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset")};
	int			statements;
	char	  **statement = pe_names_argument(fcinfo, ARG_STATEMENTS, "statements", "statement", &statements);
	double		epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	char	   *budget = pe_optional_name(fcinfo, ARG_BUDGET);
	pe_request	request;

	find_attributes(&a);
	propose(&a, statement, statements);
	a.row = palloc((statements + MOST_ROLL_UPS + 1) * sizeof(*a.row));
	if (a.sets != NIL)
	{
		fill_request(&a, isnan(epsilon) ? 1 : epsilon, budget, &request);
		a.cube = pe_cube_of_request(&request);
		add_row(&a, "cube", 0, call_text(&request), error_of_roll_up(&a, NULL),
				psprintf("then SELECT dp.expose(%s, 'name of a view', release => ...); this is the error of the total",
						 quote_literal_cstr(a.dataset)));
	}
	for (int i = 0; i < statements; i++)
		add_statement(&a, i + 1, statement[i]);
	if (a.sets != NIL)
		add_roll_ups(&a);
	pe_return_rows(fcinfo, a.rows, 5, make_row, &a);
	PG_RETURN_NULL();
}

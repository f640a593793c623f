/*
 * ask_sizes.c
 *	  dp.rows_per_unit: how many units have one row, two, and so on.
 *
 * Released: for s = 1 .. most the number of units with s rows that count, those
 * with more in the last cell, with noise.  Rows are not cut: a unit is in one
 * cell, or in none if none of its rows counts.  Neighbours differ in one unit,
 * so by add_remove the counts change by one in one cell, by substitute by one
 * in each of two: sensitivity 1 and sqrt(2), in the L1 norm 1 and 2, for any
 * max_rows of the dataset.  That is the strategy that counts cells one by one
 * under rules with max_rows 1 (plan/plan.h), and the door sees to it that such
 * a plan is for such a scan.  Cost and theorem: noise/gaussian.h,
 * noise/laplace.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "ask/answers.h"
#include "server/arguments.h"
#include "ask/ask_predicate.h"
#include "ask/comparisons.h"
#include "ask/ask.h"
#include "ask/suppress.h"
#include "server/return_rows.h"
#include "ask/ask_sizes.h"
#include "ask/ask_blocks.h"
#include "door/door.h"
#include "ledger/budget.h"
#include "ledger/formats.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/settings.h"

PG_FUNCTION_INFO_V1(pe_sql_rows_per_unit);

enum
{
	ARG_DATASET, ARG_MOST, ARG_PREDICATE, ARG_EPSILON, ARG_RHO, ARG_MAX_STDERR, ARG_DELTA, ARG_FRESH, ARG_BUDGET
};

/* In the canonical request. */
#define KIND "rows_per_unit"
#define METHOD "identity"

typedef struct sizes_call
{
	pe_call		call;
	pe_asked	asked;
	int32		most;
	pe_column  *columns;		/* that the predicate looks at */
	pe_domain  *domain;
	pe_predicate *selection;	/* NULL: all rows count */
	pe_strategy strategy;
	pe_confidence confidence;
	double		half;			/* of an interval */
	pe_min_count rule;			/* which lines are shown */
} sizes_call;

/* ------------------------------------------------------------------
 * What is asked
 * ------------------------------------------------------------------
 */

static void
read_arguments(sizes_call *c)
{
	FunctionCallInfo fcinfo = c->call.fcinfo;
	pe_request *request = &c->call.request;

	pe_request_init(request, PE_ASK_SIZES, "dp.rows_per_unit");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	if (PG_ARGISNULL(ARG_MOST))
		pe_refuse_null("most");
	c->most = PG_GETARG_INT32(ARG_MOST);
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->max_stderr = pe_optional_float(fcinfo, ARG_MAX_STDERR, "max_stderr");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
}

static void
check_units(const sizes_call *c)
{
	if (c->most < 1 || c->most > PE_SIZES_MOST)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("most must be from 1 to %d", PE_SIZES_MOST),
				 errdetail("Units with more rows are counted with those that have so many.")));
	if (c->asked.dataset->unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dataset \"%s\" has no unit", c->asked.dataset->name),
				 errdetail("Each row is a unit of its own, so every unit has one row."),
				 errhint("dp.create_dataset takes the unit.")));
}

/* The predicate and what it looks at; no attribute spans cells. */
static void
parse_predicate(sizes_call *c)
{
	pe_dataset *dataset = c->asked.dataset;
	char	   *none[1] = {NULL};
	int			count = 0;

	c->columns = pe_columns_load(dataset, none, &count);
	c->columns = repalloc(c->columns, PE_MAX_ATTRIBUTES * sizeof(*c->columns));
	if (c->call.request.predicate != NULL)
		c->selection = pe_predicate_argument(dataset, c->call.request.predicate, c->columns, &count);
	pe_refuse_compared(c->columns, count, "a count of units by their rows");
	pe_dataset_check_committed(dataset);
	c->domain = pe_columns_domain(c->columns, count, count);
	if (c->selection == NULL)
		return;
	pe_check_memory(pe_predicate_memory(c->selection, c->domain));
	(void) pe_predicate_cells(c->selection, c->domain);
}

/* Every cell counted by itself. */
static void
make_strategy(int most, pe_strategy *strategy)
{
	pe_workload *workload = palloc0(sizeof(*workload));
	const pe_workload *all = workload;
	pe_classes	classes;

	pe_parse_workload(psprintf("identity(%d)", most), workload);
	pe_classes_init(&all, 1, &classes);
	if (pe_strategy_optimal(workload, &classes, NULL, 1, strategy) != PE_STRATEGY_OK)
		elog(ERROR, "cells cannot be counted");
	pe_classes_free(&classes);
}

static void
make_plan(sizes_call *c)
{
	pe_asked   *asked = &c->asked;
	pe_plan_counts counts = {.strategy = &c->strategy, .rules = pe_door_rules_of(asked->dataset, PE_READ_SIZES),
		.scale = 1};

	make_strategy(c->most, &c->strategy);
	pe_asked_resolve_cost(asked, true, false);
	pe_asked_check_plan(asked, pe_plan_of_counts(&asked->ask, &counts, &asked->plan),
						1, asked->ask.accounting == PE_PURE ? PE_EPSILON_MAX : 9e9);
}

static const char *
canonical_predicate(const sizes_call *c)
{
	return c->selection != NULL ? c->selection->canonical : NULL;
}

static char *
canonical_text(const sizes_call *c)
{
	StringInfoData text;

	pe_text_begin(&text, &c->asked, KIND);
	appendStringInfo(&text, ", \"most\": %d", c->most);
	pe_text_add(&text, "predicate", canonical_predicate(c));
	pe_text_end(&text, &c->asked, METHOD);
	return text.data;
}

static void
validate_sizes(pe_call *call)
{
	sizes_call *c = (sizes_call *) call;

	call->asked = &c->asked;
	read_arguments(c);
	pe_asked_open(&c->asked, &call->request);
	pe_dataset_check_rows(c->asked.dataset);
	check_units(c);
	parse_predicate(c);
	pe_asked_choose_budget(&c->asked, true);
	make_plan(c);
	pe_asked_fill_charge(&c->asked, canonical_text(c), METHOD, c->most);
	pe_asked_choose_blocks(&c->asked, c->columns, c->domain, c->selection, PG_UINT32_MAX);
	c->asked.charge.predicate = canonical_predicate(c);
}

/* ------------------------------------------------------------------
 * The answer
 * ------------------------------------------------------------------
 */

static void
ask_for_sizes(pe_call *call)
{
	sizes_call *c = (sizes_call *) call;
	pe_question question = {
		.dataset = c->asked.dataset, .columns = c->columns, .domain = c->domain, .predicate = c->selection,
		.kind = PE_COUNT_SIZES, .sizes = {&c->strategy, c->most}, .plan = c->asked.plan, .charge = &c->asked.charge
	};

	pe_door_answer(&question, &call->reply);
}

static const char *
buys_of_sizes(pe_call *call)
{
	return psprintf(" and buys max_stderr => %.4g", pe_plan_stderr_at(call->asked->plan, call->reply.left));
}

static void
check_sizes(const pe_call *call)
{
	if (call->reply.values != ((const sizes_call *) call)->most)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release " INT64_FORMAT " does not hold so many counts", call->reply.release_id)));
}

static const pe_ask_kind ask_sizes = {
	.validate = validate_sizes, .door = ask_for_sizes, .buys = buys_of_sizes
};

/* How many units have one row more than this number. */
static double
units_of(const sizes_call *c, int32 row)
{
	return ldexp((double) c->call.reply.value[row], -pe_noise_shift(pe_plan_noise(c->asked.plan)));
}

static bool
is_shown(const sizes_call *c, int32 row)
{
	return pe_min_count_shows(&c->rule, units_of(c, row) - c->half);
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const sizes_call *c = argument;
	const pe_noise *noise = pe_plan_noise(c->asked.plan);
	double		units = units_of(c, row);

	values[0] = Int32GetDatum(row + 1);
	values[1] = Float8GetDatum(units);
	values[2] = Float8GetDatum(pe_noise_stderr(noise));
	values[3] = Float8GetDatum(units - c->half);
	values[4] = Float8GetDatum(units + c->half);
	nulls[1] = nulls[2] = nulls[3] = nulls[4] = !is_shown(c, row);
	values[5] = Int64GetDatum(c->call.reply.release_id);
	nulls[5] = c->call.reply.release_id == 0;
}

Datum
pe_sql_rows_per_unit(PG_FUNCTION_ARGS)
{
	sizes_call	c = {.call = {.kind = &ask_sizes, .fcinfo = fcinfo}};
	int32		hidden = 0;

	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	check_sizes(&c.call);
	pe_confidence_init(&c.confidence, pe_plan_noise(c.asked.plan), c.most, PE_MISS);
	c.half = pe_confidence_half(&c.confidence, 1, 1);
	c.rule = pe_suppress_rule(c.asked.dataset, 0);
	c.rule.rows = 1;			/* units are counted */
	for (int32 row = 0; row < c.most; row++)
		hidden += !is_shown(&c, row);
	pe_suppress_tell(&c.rule, hidden, 0, c.most);
	pe_return_rows(fcinfo, c.most, 6, make_row, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * What was found
 * ------------------------------------------------------------------
 */

/* A release as it is stored. */
typedef struct stored
{
	int64		release;
	bytea	   *payload;
	pe_accounting accounting;
	int64		nano;
} stored;

/* The newest one that the current user may read. */
static bool
find_stored(const pe_dataset *dataset, stored *found)
{
	static pe_statement find = {NULL,
		"SELECT id, payload, accounting, coalesce(request::jsonb->>'rho', request::jsonb->>'epsilon')::int8 "
		"FROM dp_ledger.release WHERE dataset_id = $1 AND version = $2 AND payload IS NOT NULL "
		"AND workload IS NULL AND predicate IS NULL AND format <= " PE_FORMAT_TEXT " "
		"AND request::jsonb->>'kind' = '" KIND "' ORDER BY id DESC", 2, {INT8OID, INT4OID}};
	Datum		values[2] = {Int64GetDatum(dataset->id), Int32GetDatum((int32) dataset->version)};
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;
	stored	   *all;
	uint64		rows;
	bool		isnull;

	pe_access_begin(&access);
	rows = pe_access_read(&find, values, NULL);
	all = MemoryContextAllocZero(here, Max(rows, 1) * sizeof(*all));
	for (uint64 i = 0; i < rows; i++)
		all[i] = (stored) {
			pe_access_int64(i, 1), DatumGetByteaPP(pe_access_datum(i, 2, &isnull)),
			pe_accounting_of(pe_access_text(i, 3)), pe_access_int64(i, 4)
		};
	pe_access_end(&access);
	for (uint64 i = 0; i < rows; i++)
		if (pe_dataset_owned_by(dataset, GetUserId()) ||
			pe_release_is_paid(all[i].release, dataset->frozen, GetUserId()))
		{
			*found = all[i];
			return true;
		}
	return false;
}

bool
pe_sizes_find(pe_dataset *dataset, pe_sizes *sizes)
{
	pe_plan_rules rules;
	pe_strategy strategy;
	stored		found;
	int64		values;
	int64	   *value;
	pe_noise   *noise;

	if (dataset->unit == NULL || !find_stored(dataset, &found))
		return false;
	value = pe_payload_read(found.payload, &values);
	rules = pe_door_rules_of(dataset, PE_READ_SIZES);
	make_strategy((int) values, &strategy);
	noise = pe_plan_noise_of(&strategy, &rules, found.accounting, found.nano);
	*sizes = (pe_sizes) {found.release, (int) values, palloc(values * sizeof(double)), pe_noise_stderr(noise)};
	for (int64 i = 0; i < values; i++)
		sizes->units[i] = ldexp((double) value[i], -pe_noise_shift(noise));
	return true;
}

/*
 * sum of part_s x_s / sum of whole_s x_s, in percent, s rows from 1 to most,
 * with its error by the delta method: the counts have independent noise of one
 * variance.
 */
static pe_percentage
percentage(const pe_sizes *sizes, int rows, double (*part) (int size, int rows), double (*whole) (int size, int rows))
{
	double		parts = 0;
	double		wholes = 0;
	double		squares = 0;
	double		ratio;

	for (int s = 1; s <= sizes->most; s++)
	{
		parts += part(s, rows) * sizes->units[s - 1];
		wholes += whole(s, rows) * sizes->units[s - 1];
	}
	ratio = parts / wholes;
	for (int s = 1; s <= sizes->most; s++)
		squares += pow(part(s, rows) - ratio * whole(s, rows), 2);
	return (pe_percentage) {100 * fmin(fmax(ratio, 0), 1), 100 * sizes->stderr_ * sqrt(squares) / fabs(wholes)};
}

static double
one(int size, int rows)
{
	return 1;
}

static double
is_within(int size, int rows)
{
	return size <= rows;
}

static double
all_rows(int size, int rows)
{
	return size;
}

static double
rows_kept(int size, int rows)
{
	return Min(size, rows);
}

pe_percentage
pe_sizes_units_within(const pe_sizes *sizes, int rows)
{
	return percentage(sizes, rows, is_within, one);
}

pe_percentage
pe_sizes_rows_kept(const pe_sizes *sizes, int rows)
{
	return percentage(sizes, rows, rows_kept, all_rows);
}

/* How many standard errors sum of weight_s x_s is. */
static double
errors_in(const pe_sizes *sizes, double (*weight) (int size, int rows))
{
	double		sum = 0;
	double		squares = 0;

	for (int s = 1; s <= sizes->most; s++)
	{
		sum += weight(s, 0) * sizes->units[s - 1];
		squares += pow(weight(s, 0), 2);
	}
	return sum / (sizes->stderr_ * sqrt(squares));
}

bool
pe_sizes_are_told(const pe_sizes *sizes)
{
	return errors_in(sizes, one) > 3 && errors_in(sizes, all_rows) > 3;
}

bool
pe_sizes_are_cut(const pe_sizes *sizes)
{
	return sizes->units[sizes->most - 1] > 3 * sizes->stderr_;
}

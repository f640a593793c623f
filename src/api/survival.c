/*
 * survival.c
 *	  dp.survival of a dataset: the counts of time x event x by that dp.histogram would measure, and the curves that
 *	  read/survival.h makes of them.
 *
 * The request is one of counts like any other, so dp.histogram of the same attributes and workload is a replay of it.
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"

#include "ask/ask.h"
#include "ask/ask_counts.h"
#include "ask/suppress.h"
#include "read/survival.h"
#include "server/arguments.h"

PG_FUNCTION_INFO_V1(pe_sql_survival);

enum
{
	ARG_DATASET, ARG_TIME, ARG_EVENT, ARG_BY, ARG_EPSILON, ARG_RHO, ARG_MAX_STDERR, ARG_DELTA, ARG_PREDICATE,
	ARG_LEVEL, ARG_FRESH, ARG_BUDGET, ARG_ROWS_PER_UNIT
};

typedef struct survival_call
{
	pe_call		call;
	pe_survival_study study;
	pe_aggregation *counts;
} survival_call;

static void
read_arguments(FunctionCallInfo fcinfo, survival_call *c)
{
	pe_request *request = &c->call.request;
	pe_survival_names *names = &c->study.names;

	pe_request_init(request, PE_ASK_COUNTS, "dp.survival");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	names->time = pe_text_argument(fcinfo, ARG_TIME, "time");
	names->event = pe_text_argument(fcinfo, ARG_EVENT, "event");
	names->by = pe_names_argument(fcinfo, ARG_BY, "by", "an attribute of by", &names->bys);
	names->level = pe_optional_text(fcinfo, ARG_LEVEL);
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->max_stderr = pe_optional_float(fcinfo, ARG_MAX_STDERR, "max_stderr");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->method = "optimal";
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
	request->cuts = !PG_ARGISNULL(ARG_ROWS_PER_UNIT);
	request->rows_per_unit = request->cuts ? PG_GETARG_INT32(ARG_ROWS_PER_UNIT) : 0;
}

/* What is counted: time, event, and by. */
static void
name_attributes(survival_call *c)
{
	pe_request *request = &c->call.request;
	const pe_survival_names *names = &c->study.names;

	request->attributes = 2 + names->bys;
	pe_check_attributes(request->attributes);
	request->attribute = palloc(request->attributes * sizeof(char *));
	request->attribute[0] = names->time;
	request->attribute[1] = names->event;
	for (int i = 0; i < names->bys; i++)
		request->attribute[2 + i] = names->by[i];
}

/* Of columns in the order of the request. */
static void
take_columns(pe_survival_study *s, pe_dataset *dataset, const pe_column *columns, int count)
{
	s->dataset = dataset;
	s->columns = columns;
	s->attributes = count;
	s->time = &columns[0];
	s->event = &columns[1];
	s->by = palloc(count * sizeof(*s->by));
	for (int i = 2; i < count; i++)
		s->by[i - 2] = &columns[i];
}

/* What is wrong with the attributes is said of them, before it is of a workload that nobody wrote. */
static void
resolve_attributes(survival_call *c)
{
	pe_request *request = &c->call.request;
	pe_dataset *dataset = pe_dataset_load(request->dataset);
	char	  **names = palloc(request->attributes * sizeof(char *));
	int			count = request->attributes;
	pe_column  *columns;

	memcpy(names, request->attribute, count * sizeof(char *));
	pe_attributes_as_given(dataset, names, count);
	columns = pe_columns_load(dataset, names, &count);
	take_columns(&c->study, dataset, columns, count);
	c->study.domain = pe_columns_domain(columns, count, 0);
	pe_survival_resolve(&c->study);
	request->workload = pe_survival_workload(&c->study);
}

static void
validate_survival(pe_call *call)
{
	survival_call *c = (survival_call *) call;

	read_arguments(call->fcinfo, c);
	name_attributes(c);
	resolve_attributes(c);
	c->counts = pe_aggregation_validate(&call->request, true);
	call->asked = &c->counts->asked;
}

static void
resolve_counts(pe_call *call)
{
	pe_aggregation *g = ((survival_call *) call)->counts;

	pe_aggregation_measure(g);
	pe_aggregation_price(g);
}

static void
ask_for_counts(pe_call *call)
{
	pe_door_answer(&((survival_call *) call)->counts->question, &call->reply);
}

static const pe_ask_kind ask_survival = {
	.validate = validate_survival, .resolve = resolve_counts, .door = ask_for_counts
};

static void
take_counts(survival_call *c)
{
	pe_aggregation *g = c->counts;
	pe_space   *space = &g->space[0];
	pe_survival_study *s = &c->study;

	take_columns(s, g->asked.dataset, g->columns, g->groups);
	s->domain = space->domain;
	s->y = pe_counts_take(g, &c->call.reply, &s->noise);
	s->measured = space->measured;
	s->pure = g->asked.ask.accounting == PE_PURE;
	s->rule = g->min;
	s->release = c->call.reply.release_id;
}

Datum
pe_sql_survival(PG_FUNCTION_ARGS)
{
	survival_call c = {.call = {.kind = &ask_survival, .fcinfo = fcinfo}};

	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	take_counts(&c);
	pe_survival_resolve(&c.study);
	pe_survival_estimate(&c.study);
	pe_survival_return(fcinfo, &c.study);
	return (Datum) 0;
}

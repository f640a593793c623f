/*
 * ask_bounds.c
 *	  dp.bounds: between which powers of two the numbers of an open column lie.
 *
 * Released: the counts of ranges between 0 and the powers of two and minus those, with noise. Ranges
 * are public, and this is a histogram of them like any other: neighbours, sensitivity, cost and theorem
 * are those of strategy/strategy.h, noise/gaussian.h and noise/laplace.h.  What is returned is computed
 * from the noisy counts: the ends of the first and the last range whose count is above what noise
 * reaches by itself.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "ask/answers.h"
#include "server/arguments.h"
#include "ask/ask.h"
#include "ask/suppress.h"
#include "server/return_rows.h"
#include "door/door.h"
#include "door/obtain.h"
#include "ledger/strategies.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_bounds);

enum
{
	ARG_DATASET, ARG_COLUMN, ARG_EPSILON, ARG_RHO, ARG_DELTA, ARG_BUDGET, ARG_FRESH
};

/* Powers of numbers that are not whole; a smaller one is next to 0, and a larger one in the last range. */
#define LEAST_POWER (-32)
#define MOST_POWER 127

/* How near a strategy must be to its method's best: identity always is. */
#define ACCEPTED_GAP 1e-3

/*
 * So many standard errors: among the at most 320 ranges some without a row is
 * above it with a probability below 0.002 (Gauss), or below 0.001 (Laplace: 160
 * exp(-9 sqrt 2)).  It protects nothing, and only keeps noise from being taken
 * for numbers.
 */
#define GAUSS_ERRORS 4.5
#define LAPLACE_ERRORS 9

/* Where noise is smaller than a row, a row counts. */
#define LEAST_COUNT 0.5

typedef struct bounds_call
{
	pe_call		call;
	pe_asked	asked;
	pe_column	column;
	double	   *edge;			/* of the ranges */
	pe_domain  *domain;
	pe_workload workload;
	pe_kept_strategy kept;
	pe_question question;
	bool		none;			/* no range counts */
	double		lower;
	double		upper;
} bounds_call;

static void
read_arguments(FunctionCallInfo fcinfo, pe_request *request)
{
	pe_request_init(request, PE_ASK_BOUNDS, "dp.bounds");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->attribute = palloc(sizeof(char *));
	request->attribute[0] = pe_optional_name(fcinfo, ARG_COLUMN);
	if (request->attribute[0] == NULL)
		pe_refuse_null("column");
	request->attributes = 1;
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
}

/* ------------------------------------------------------------------
 * Ranges
 * ------------------------------------------------------------------
 */

/* The powers of two of a type: of a whole number 2^0 to the last one that it has. */
static void
powers_of(Oid type, int *least, int *most)
{
	*least = 0;
	switch (type)
	{
		case INT2OID:
			*most = 14;
			return;
		case INT4OID:
			*most = 30;
			return;
		case INT8OID:
			*most = 62;
			return;
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			*least = LEAST_POWER;
			*most = MOST_POWER;
			return;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("bounds are for numbers, not for type %s", format_type_be(type)),
					 errhint("dp.keys finds the values of other columns.")));
	}
}

/* An edge as it is written in decimal: exactly, of all these powers. */
static char *
edge_text(Oid type, double edge)
{
	/* the least and the largest number of a type are no power, or none that fits */
	if (pe_type_is_integer(type) && edge >= ldexp(1, 63))
		return psprintf(INT64_FORMAT, PG_INT64_MAX);
	return pe_type_is_integer(type) ? psprintf(INT64_FORMAT, (int64) edge) : psprintf("%.40f", edge);
}

static void
set_edges(bounds_call *c)
{
	Oid			type = c->column.type;
	int			least;
	int			most;
	int			powers;
	int			n = 0;

	powers_of(type, &least, &most);
	powers = most - least + 1;
	c->edge = palloc((2 * powers + 3) * sizeof(double));
	if (pe_type_is_integer(type))
		c->edge[n++] = -ldexp(1, most + 1);
	for (int k = most; k >= least; k--)
		c->edge[n++] = -ldexp(1, k);
	c->edge[n++] = 0;
	for (int k = least; k <= most; k++)
		c->edge[n++] = ldexp(1, k);
	if (pe_type_is_integer(type))
		c->edge[n++] = type == INT8OID ? ldexp(1, 63) : ldexp(1, most + 1) - 1;
	c->column.domain.points = n;
}

static pe_point
edge_point(Oid type, char *text)
{
	Datum		value;

	if (pe_type_is_integer(type))
		return (pe_point) {.i = strtoll(text, NULL, 10)};
	if (type != NUMERICOID)
		return (pe_point) {.f = strtod(text, NULL)};
	value = DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return pe_point_of_datum(type, value);
}

/* The column with the ranges as its bins, for any declaration of it. */
static void
make_domain(bounds_call *c)
{
	pe_attribute *attribute = &c->column.domain;

	memset(attribute, 0, sizeof(*attribute));
	if (!pe_type_key(c->column.type, &attribute->key))
		elog(ERROR, "type of column \"%s\" is not supported", c->column.name);
	attribute->kind = PE_BINS;
	attribute->outside = PE_OUTSIDE_CLAMP;
	attribute->nulls = PE_NULLS_DROP;
	set_edges(c);
	attribute->point = palloc(attribute->points * sizeof(pe_point));
	c->column.points = palloc(attribute->points * sizeof(char *));
	for (int i = 0; i < attribute->points; i++)
	{
		c->column.points[i] = edge_text(c->column.type, c->edge[i]);
		attribute->point[i] = edge_point(c->column.type, c->column.points[i]);
	}
	if (pe_attribute_prepare(attribute) != PE_DOMAIN_OK)
		elog(ERROR, "the ranges of column \"%s\" are no domain", c->column.name);
	c->column.cells = pe_attribute_cells(attribute);
	c->column.ordered = true;
	c->domain = pe_columns_domain(&c->column, 1, 0);
	pe_parse_columns_workload(c->asked.dataset, &c->column, c->domain, "identity", &c->workload);
}

/* ------------------------------------------------------------------
 * The question
 * ------------------------------------------------------------------
 */

static void
validate_bounds(pe_call *call)
{
	bounds_call *c = (bounds_call *) call;
	pe_asked   *asked = call->asked = &c->asked;

	read_arguments(call->fcinfo, &call->request);
	pe_asked_open(asked, &call->request);
	pe_dataset_check_rows(asked->dataset);
	pe_open_column_load(asked->dataset, call->request.attribute[0], &c->column);
	pe_dataset_check_committed(asked->dataset);
	make_domain(c);
	pe_asked_choose_budget(asked, true);
	pe_asked_resolve_cost(asked, false, false);
}

static char *
canonical_text(const pe_asked *asked)
{
	StringInfoData text;

	pe_text_begin(&text, asked, "bounds");
	pe_text_add(&text, "column", asked->request->attribute[0]);
	pe_text_end(&text, asked, pe_method_name(PE_METHOD_IDENTITY));
	return text.data;
}

/* Every range is measured by itself. */
static void
make_plan(bounds_call *c)
{
	pe_asked   *asked = &c->asked;
	pe_plan_counts counts = {.strategy = &c->kept.strategy, .rules = pe_door_rules(asked->dataset), .scale = 1};
	bool		pure = asked->ask.accounting == PE_PURE;
	pe_strategy_key key = {
		.workload = &c->workload, .method = PE_METHOD_IDENTITY, .objective = PE_SUM, .norm = pure ? PE_L1 : PE_L2,
		.neighbours = counts.rules.neighbours, .gap = ACCEPTED_GAP
	};

	pe_strategy_obtain(&key, ACCEPTED_GAP, false, &c->kept);
	pe_asked_check_plan(asked, pe_plan_of_counts(&asked->ask, &counts, &asked->plan), 1, pure ? PE_EPSILON_MAX : 9e9);
}

static void
fill_question(bounds_call *c)
{
	pe_asked   *asked = &c->asked;

	pe_asked_fill_charge(asked, canonical_text(asked), pe_method_name(PE_METHOD_IDENTITY), c->workload.queries);
	asked->charge.strategy_id = c->kept.id;
	c->question = (pe_question) {
		.dataset = asked->dataset, .columns = &c->column, .domain = c->domain, .kind = PE_COUNT_CELLS,
		.cells.strategy = &c->kept.strategy,
		.plan = asked->plan, .charge = &asked->charge
	};
	c->question.cells.column_of = pe_alloc(c->domain->cells, sizeof(int32));
	pe_strategy_columns(&c->kept.strategy, &c->workload, NULL, c->question.cells.column_of);
}

/* ------------------------------------------------------------------
 * Bounds
 * ------------------------------------------------------------------
 */

/* What a range needs to count, by its standard error. */
static double
least_count(const bounds_call *c, double stderr_)
{
	return fmax(LEAST_COUNT, stderr_ * (c->asked.ask.accounting == PE_PURE ? LAPLACE_ERRORS : GAUSS_ERRORS));
}

/* Of a replay: by the strategy that was measured then. */
static void
read_counts(bounds_call *c, pe_answers *answers)
{
	pe_measured measured = {&c->workload, &c->kept.strategy, NULL, NULL};
	pe_min_count rule = pe_suppress_rule(c->asked.dataset, 0);

	if (c->call.reply.strategy_id != 0 && c->call.reply.strategy_id != c->kept.id &&
		!pe_strategy_load_matrix(c->call.reply.strategy_id, &c->workload, &c->kept))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the strategy of release " INT64_FORMAT " is gone", c->call.reply.release_id)));
	if (c->call.reply.values != c->kept.strategy.rows)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release " INT64_FORMAT " does not hold bounds", c->call.reply.release_id)));
	pe_answers_init(answers, &measured, &c->workload, &c->column, c->call.reply.value, pe_plan_noise(c->asked.plan),
					NULL, false);
	pe_suppress_answers_silently(&rule, answers);
}

static void
find_bounds(bounds_call *c)
{
	pe_answers	answers = {0};
	int32		first = -1;
	int32		last = -1;

	read_counts(c, &answers);
	for (int32 i = 0; i < answers.queries; i++)
		if (answers.estimate[i] >= least_count(c, answers.stderr_[i]))
		{
			first = first < 0 ? i : first;
			last = i;
		}
	c->none = first < 0;
	if (c->none)
		return;
	c->lower = c->edge[first];
	c->upper = c->edge[last + 1];
}

static void
resolve_bounds(pe_call *call)
{
	bounds_call *c = (bounds_call *) call;

	make_plan(c);
	fill_question(c);
}

static void
ask_for_bounds(pe_call *call)
{
	pe_door_answer(&((bounds_call *) call)->question, &call->reply);
}

static const char *
paid_for_bounds(pe_call *call)
{
	return psprintf("%s; a range between powers of two counts from a noisy count of %.4g on",
					pe_release_text(&call->reply),
					least_count((bounds_call *) call, pe_noise_stderr(pe_plan_noise(call->asked->plan))));
}

static const pe_ask_kind ask_bounds = {
	.validate = validate_bounds, .resolve = resolve_bounds, .door = ask_for_bounds, .paid = paid_for_bounds
};

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const bounds_call *c = argument;

	nulls[0] = nulls[1] = c->none;
	values[0] = Float8GetDatum(c->lower);
	values[1] = Float8GetDatum(c->upper);
	values[2] = Int64GetDatum(c->call.reply.release_id);
	nulls[2] = c->call.reply.release_id == 0;
}

Datum
pe_sql_bounds(PG_FUNCTION_ARGS)
{
	bounds_call c = {.call = {.kind = &ask_bounds, .fcinfo = fcinfo}};

	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	find_bounds(&c);
	pe_return_rows(fcinfo, 1, 3, make_row, &c);
	return (Datum) 0;
}

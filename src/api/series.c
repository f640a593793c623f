/*
 * series.c
 *	  dp.create_series, dp.quote_series, dp.prolong_series and dp.end_series.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "server/return_rows.h"
#include "ask/ask.h"
#include "ask/ask_series.h"
#include "server/access.h"
#include "server/settings.h"
#include "worker/channel.h"

PG_FUNCTION_INFO_V1(pe_sql_create_series);
PG_FUNCTION_INFO_V1(pe_sql_quote_series);
PG_FUNCTION_INFO_V1(pe_sql_prolong_series);
PG_FUNCTION_INFO_V1(pe_sql_end_series);

/* A name is in every line of its periods, and a key of an index. */
#define LONGEST_NAME 255

/* The arguments by position; of the quote the name is missing, and all others are one place further up. */
enum
{
	ARG_DATASET, ARG_SERIES, ARG_ATTRIBUTES, ARG_WORKLOAD, ARG_OVER,
	ARG_START, ARG_PERIOD, ARG_PERIODS, ARG_EPSILON, ARG_RHO, ARG_MAX_STDERR,
	ARG_DELTA, ARG_PREDICATE, ARG_GRACE, ARG_HISTORY,
	ARG_OPEN_ENDED, ARG_MAX_PERIODS, ARG_OBJECTIVE, ARG_BUDGET, ARG_AGGREGATES,
	ARG_ROWS_PER_UNIT, ARG_CELLS_PER_UNIT,
	ARG_ROWS					/* of the quote alone */
};

typedef struct series_call
{
	pe_call		call;
	pe_serial	serial;
	pe_series	series;

	/* of a quote: of each aggregate */
	double		rows;
	double	   *first;
	double	   *last;
	double	   *worst;
	double	   *added;
	double	   *split;
} series_call;

/* ------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------
 */

static int
place_of(const series_call *c, int argument)
{
	return c->call.quote && argument > ARG_SERIES ? argument - 1 : argument;
}

static Datum
given_argument(const series_call *c, int argument, const char *name)
{
	FunctionCallInfo fcinfo = c->call.fcinfo;

	if (PG_ARGISNULL(place_of(c, argument)))
		pe_refuse_null(name);
	return PG_GETARG_DATUM(place_of(c, argument));
}

/* NULL: counts. */
static void
read_aggregates(series_call *c)
{
	FunctionCallInfo fcinfo = c->call.fcinfo;
	pe_request *request = &c->serial.request;
	bool		limits_cells = !PG_ARGISNULL(place_of(c, ARG_CELLS_PER_UNIT));

	if (!PG_ARGISNULL(place_of(c, ARG_AGGREGATES)))
	{
		request->kind = PE_ASK_SUMS;
		request->sums.aggregate = pe_names_argument(fcinfo, place_of(c, ARG_AGGREGATES), "aggregates",
													"an aggregate", &request->sums.aggregates);
		request->sums.limits_cells = limits_cells;
		request->sums.cells_per_unit = limits_cells ? PG_GETARG_INT32(place_of(c, ARG_CELLS_PER_UNIT)) : 0;
		if (request->sums.aggregates == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("no aggregate is asked for"),
					 errhint("NULL: counts by the workload.")));
		return;
	}
	if (limits_cells)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cells_per_unit is for aggregates that count units")));
	if (request->workload == NULL)
		request->workload = "identity";
}

static void
read_cells(series_call *c)
{
	FunctionCallInfo fcinfo = c->call.fcinfo;
	pe_request *request = &c->serial.request;

	pe_request_init(request, PE_ASK_COUNTS, "dp.create_series");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->attribute = pe_names_argument(fcinfo, place_of(c, ARG_ATTRIBUTES), "attributes",
										   "an attribute", &request->attributes);
	request->workload = pe_optional_text(fcinfo, place_of(c, ARG_WORKLOAD));
	request->epsilon = pe_optional_float(fcinfo, place_of(c, ARG_EPSILON), "epsilon");
	request->rho = pe_optional_float(fcinfo, place_of(c, ARG_RHO), "rho");
	request->max_stderr = pe_optional_float(fcinfo, place_of(c, ARG_MAX_STDERR), "max_stderr");
	request->delta = pe_optional_float(fcinfo, place_of(c, ARG_DELTA), "delta");
	request->predicate = pe_optional_text(fcinfo, place_of(c, ARG_PREDICATE));
	request->method = "optimal";
	request->budget = pe_optional_name(fcinfo, place_of(c, ARG_BUDGET));
	request->cuts = !PG_ARGISNULL(place_of(c, ARG_ROWS_PER_UNIT));
	request->rows_per_unit = request->cuts ? PG_GETARG_INT32(place_of(c, ARG_ROWS_PER_UNIT)) : 0;
	read_aggregates(c);
}

/* At least 1; 0 if it is NULL. */
static int
optional_number(const series_call *c, int argument, const char *name, const char *hint)
{
	FunctionCallInfo fcinfo = c->call.fcinfo;
	int			number;

	if (PG_ARGISNULL(place_of(c, argument)))
		return 0;
	number = PG_GETARG_INT32(place_of(c, argument));
	if (number < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be at least 1", name),
				 errhint("%s", hint)));
	return number;
}

static void
read_time(series_call *c)
{
	FunctionCallInfo fcinfo = c->call.fcinfo;
	pe_series  *series = &c->series;

	series->name = c->call.quote ? "" : pe_text_argument(fcinfo, ARG_SERIES, "series");
	if (!c->call.quote && (series->name[0] == '\0' || strlen(series->name) > LONGEST_NAME))
		pe_refuse_parameter("series",
							pnstrdup(series->name, pg_mbcliplen(series->name, strlen(series->name), LONGEST_NAME)),
							psprintf("a name of 1 to %d bytes", LONGEST_NAME));
	series->over = pe_text_argument(fcinfo, place_of(c, ARG_OVER), "over");
	series->starts = DatumGetTimestampTz(given_argument(c, ARG_START, "start"));
	series->period = *DatumGetIntervalP(given_argument(c, ARG_PERIOD, "period"));
	series->periods = DatumGetInt32(given_argument(c, ARG_PERIODS, "periods"));
	series->grace = *DatumGetIntervalP(given_argument(c, ARG_GRACE, "grace"));
	series->history = optional_number(c, ARG_HISTORY, "history", "NULL: rows of all periods are read.");
	series->max_periods = optional_number(c, ARG_MAX_PERIODS, "max_periods",
										  "It is in how many periods a unit counts.");
	series->open_ended = DatumGetBool(given_argument(c, ARG_OPEN_ENDED, "open_ended"));
	series->objective = pe_text_argument(fcinfo, place_of(c, ARG_OBJECTIVE), "objective");
	series->zone = pstrdup(GetConfigOption("TimeZone", false, false));
}

static void
validate_series(pe_call *call)
{
	series_call *c = (series_call *) call;

	read_cells(c);
	read_time(c);
	c->serial.series = &c->series;
	pe_serial_validate(&c->serial, !call->quote);
	call->asked = c->serial.asked;
	if (!call->quote && pe_asked_rehearses(call->asked))
		pe_serial_refuse_rehearsal();
}

/* ------------------------------------------------------------------
 * dp.create_series
 * ------------------------------------------------------------------
 */

static void
check_frozen(const pe_asked *asked)
{
	if (asked->dataset->frozen)
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("dataset \"%s\" is frozen", asked->dataset->name),
				 errhint("The owner of the table lifts the freeze with dp.attest.")));
}

/* Nothing is measured yet. */
static void
reserve_series(pe_call *call)
{
	PE_UNDONE();
	pe_channel_reserve(call->asked->plan, &call->asked->charge, &call->reply);
	PE_END_UNDONE();
}

static void
make_created(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const series_call *c = argument;
	const pe_asked *asked = c->serial.asked;

	values[0] = CStringGetTextDatum(c->series.name);
	values[1] = Float8GetDatum(pe_cost_amount(pe_plan_cost(asked->plan)).rho_nano / 1e9);
	values[2] = Float8GetDatum(pe_plan_epsilon(asked->plan));
	values[3] = TimestampTzGetDatum(c->serial.periods.due[0]);
	values[4] = TimestampTzGetDatum(c->serial.periods.due[c->series.periods - 1]);
}

static void
resolve_series(pe_call *call)
{
	series_call *c = (series_call *) call;

	pe_serial_resolve(&c->serial);
	call->asked = c->serial.asked;
	if (!call->quote)
		check_frozen(call->asked);
}

/* Nothing where the error depends on rows. */
static const char *
buys_of_series(pe_call *call)
{
	double		scale = ((series_call *) call)->serial.parts.scale;

	return scale > 0
		? psprintf(" and buys max_stderr => %.4g", pe_plan_stderr_at(call->asked->plan, call->reply.left) * scale) : "";
}

static const char *
paid_for_series(pe_call *call)
{
	return psprintf("series \"%s\"", ((series_call *) call)->series.name);
}

static const pe_ask_kind ask_series = {
	.validate = validate_series, .resolve = resolve_series,
	.door = reserve_series, .buys = buys_of_series, .paid = paid_for_series
};

Datum
pe_sql_create_series(PG_FUNCTION_ARGS)
{
	series_call c = {.call = {.kind = &ask_series, .fcinfo = fcinfo}};

	pe_ask_prepare(&c.call);
	pe_ask(&c.call);
	pe_return_rows(fcinfo, 1, 5, make_created, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.quote_series
 * ------------------------------------------------------------------
 */

static double *
errors_at(series_call *c, double variance)
{
	double	   *errors = palloc(c->serial.kind->told(&c->serial).aggregates * sizeof(double));

	c->serial.kind->errors(&c->serial, c->rows, variance, errors);
	return errors;
}

/* The variance of the last report of a series without a strategy over time, at the same cost; NaN: it has none. */
static double
other_variance(const pe_serial *s, bool (*tell) (const pe_over *, int32_t, const pe_presence *, pe_continual_errors *))
{
	pe_continual_errors errors;
	pe_u128		factor;

	if (!pe_continual_factor(&s->time, &s->presence, &factor) ||
		!tell(&s->over, s->series->periods, &s->presence, &errors))
		return NAN;
	return errors.last / (double) factor;
}

static void
find_errors(series_call *c)
{
	pe_serial  *s = &c->serial;
	double		worst = 0;

	for (int t = 0; t < c->series.periods; t++)
		worst = fmax(worst, pe_serial_variance(s, t));
	c->first = errors_at(c, pe_serial_variance(s, 0));
	c->last = errors_at(c, pe_serial_variance(s, c->series.periods - 1));
	c->worst = errors_at(c, worst);
	c->added = errors_at(c, other_variance(s, pe_continual_tell_added));
	c->split = errors_at(c, other_variance(s, pe_continual_tell_split));
}

static const char *
kind_of(const pe_serial *s)
{
	return s->time.open_ended ? "toeplitz" : s->time.window == 1 && s->series->periods > 1 ? "periods" : "optimal";
}

static void
make_quote(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const series_call *c = argument;
	const pe_serial *s = &c->serial;
	const pe_asked *asked = s->asked;
	double		left = 0;
	bool		fits = pe_asked_fits(asked, false, &left);
	const char *aggregate = s->kind->aggregate(s, row);
	const double *const errors[] = {c->first, c->last, c->worst, c->added, c->split};

	values[0] = Float8GetDatum(pe_cost_amount(pe_plan_cost(asked->plan)).rho_nano / 1e9);
	values[1] = Float8GetDatum(pe_plan_epsilon(asked->plan));
	values[2] = Float8GetDatum(asked->ask.delta);
	for (int i = 0; i < 5; i++)
		pe_put_float(errors[i][row], &values[3 + i], &nulls[3 + i]);
	values[8] = CStringGetTextDatum(kind_of(s));
	values[9] = TimestampTzGetDatum(s->periods.due[0]);
	values[10] = TimestampTzGetDatum(s->periods.due[c->series.periods - 1]);
	values[11] = BoolGetDatum(fits);
	values[12] = Float8GetDatum(left);
	nulls[12] = !fits;
	nulls[13] = aggregate == NULL;
	if (aggregate != NULL)
		values[13] = CStringGetTextDatum(aggregate);
	nulls[14] = !s->kind->depends_on_rows(s, row);
	values[14] = Float8GetDatum(c->rows);
}

Datum
pe_sql_quote_series(PG_FUNCTION_ARGS)
{
	series_call c = {.call = {.kind = &ask_series, .fcinfo = fcinfo, .quote = true}};

	c.rows = pe_float_argument(fcinfo, place_of(&c, ARG_ROWS), "rows");
	if (!(c.rows > 0) || isinf(c.rows))
		pe_refuse_parameter("rows", pe_number_text(c.rows), "a finite number above 0");
	pe_ask_prepare(&c.call);
	find_errors(&c);
	pe_return_rows(fcinfo, c.serial.kind->told(&c.serial).aggregates, 15, make_quote, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.prolong_series
 * ------------------------------------------------------------------
 */

static void
tell_prolonged(const pe_serial *s, const pe_charge_reply *reply)
{
	double		rho = pe_cost_amount(pe_plan_cost(s->asked->plan)).rho_nano * 1e-9;

	if (reply->outcome == PE_REFUSED)
		ereport(ERROR,
				(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
				 errmsg("too little of the budget that paid for series \"%s\" is left, or of the dataset's cap",
						s->series->name),
				 errdetail("%d periods instead of %d cost rho %.9g more.",
						   s->series->periods, s->series->paid_periods, rho),
				 errhint("The owner of the table can raise the budget with dp.grant_budget.")));
	ereport(NOTICE,
			(errmsg("charged rho %.4g on dataset \"%s\": series \"%s\" has %d periods",
					rho, s->asked->dataset->name, s->series->name, s->series->periods)));
}

static void
make_prolonged(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const series_call *c = argument;
	const pe_series *series = c->serial.series;

	values[0] = CStringGetTextDatum(series->name);
	values[1] = Float8GetDatum(pe_cost_amount(pe_plan_cost(c->serial.asked->plan)).rho_nano / 1e9);
	values[2] = TimestampTzGetDatum(c->serial.periods.due[series->paid_periods]);
	values[3] = TimestampTzGetDatum(c->serial.periods.due[series->periods - 1]);
}

Datum
pe_sql_prolong_series(PG_FUNCTION_ARGS)
{
	series_call c = {.call = {.fcinfo = fcinfo}};

	if (PG_ARGISNULL(1))
		pe_refuse_null("periods");
	if (pe_settings_rehearse())
		pe_serial_refuse_rehearsal();
	PE_UNDONE();
	pe_serial_load(&c.serial, pe_text_argument(fcinfo, 0, "series"));
	check_frozen(c.serial.asked);
	pe_serial_prolong(&c.serial, PG_GETARG_INT32(1));
	PE_END_UNDONE();
	c.call.asked = c.serial.asked;
	reserve_series(&c.call);
	tell_prolonged(&c.serial, &c.call.reply);
	pe_return_rows(fcinfo, 1, 4, make_prolonged, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.end_series
 * ------------------------------------------------------------------
 */

Datum
pe_sql_end_series(PG_FUNCTION_ARGS)
{
	char	   *name = pe_text_argument(fcinfo, 0, "series");
	pe_series  *series;

	PE_UNDONE();
	series = pe_series_load(name);
	pe_dataset_check_owner(pe_dataset_load_by_id(series->dataset_id));
	PE_END_UNDONE();
	pe_series_end(series, "ended by its dataset's owner");
	PG_RETURN_VOID();
}

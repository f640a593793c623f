/*
 * series_periods.c
 *	  When the periods of a series begin, end and are due.  See series_periods.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/timestamp.h"

#include "ask/series_periods.h"
#include "server/access.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_period_due);

/* n times an interval, field by field. */
static Interval
times(const Interval *interval, int n)
{
	Interval	product;

	if (pg_mul_s64_overflow(interval->time, n, &product.time) || pg_mul_s32_overflow(interval->day, n, &product.day) ||
		pg_mul_s32_overflow(interval->month, n, &product.month))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("the series ends beyond all times")));
	return product;
}

static Datum
local_edge(Datum local_start, const Interval *interval, int n)
{
	Interval	product = times(interval, n);

	return DirectFunctionCall2(timestamp_pl_interval, local_start, IntervalPGetDatum(&product));
}

/* An edge of a column of dates or local times, as such. */
static Datum
edge_of_local(const pe_series *series, Oid type, int n)
{
	Datum		start = DirectFunctionCall1(timestamptz_timestamp, TimestampTzGetDatum(series->starts));
	Datum		local = local_edge(start, &series->period, n);
	Datum		date = DirectFunctionCall1(timestamp_date, local);

	if (type == TIMESTAMPOID)
		return local;
	if (DatumGetTimestamp(DirectFunctionCall1(date_timestamp, date)) != DatumGetTimestamp(local))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("periods of column \"%s\", which has dates, begin at midnight", series->time_attribute),
				 errhint("Let start be a day, and period whole days, weeks, months or years.")));
	return date;
}

/* Edge n of a series that is to be created, in its zone, which the session has meanwhile. */
static Datum
edge(const pe_series *series, Oid type, int n)
{
	Interval	product;

	if (type != TIMESTAMPTZOID)
		return edge_of_local(series, type, n);
	product = times(&series->period, n);
	return DirectFunctionCall2(timestamptz_pl_interval, TimestampTzGetDatum(series->starts),
							   IntervalPGetDatum(&product));
}

static Datum
datum_of(Oid type, int64 value)
{
	return type == DATEOID ? DateADTGetDatum((DateADT) value) : type == TIMESTAMPOID ? TimestampGetDatum(value)
		: TimestampTzGetDatum(value);
}

/* When an edge is, in the same zone. */
static TimestampTz
moment_of(Oid type, Datum value)
{
	if (type == TIMESTAMPTZOID)
		return DatumGetTimestampTz(value);
	return DatumGetTimestampTz(DirectFunctionCall1(type == DATEOID ? date_timestamptz : timestamp_timestamptz, value));
}

static TimestampTz
later(TimestampTz moment, const Interval *interval)
{
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval, TimestampTzGetDatum(moment),
												   IntervalPGetDatum(interval)));
}

static void
check_edges(const pe_series *series, const pe_periods *periods)
{
	for (int n = 0; n < periods->periods; n++)
		if (pe_point_of_datum(periods->type, periods->value[n + 1]).i <=
			pe_point_of_datum(periods->type, periods->value[n]).i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("period must be above 0")));
		else if (periods->due[n] < periods->edge[n + 1])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("grace must not be below 0")));
		else if (TIMESTAMP_NOT_FINITE(periods->due[n]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("start, period and grace must be finite")));
}

/* What is between is undone by the abort of the (sub)transaction where it fails. */
static int
enter_zone(const char *zone)
{
	int			level = NewGUCNestLevel();

	pe_pin_settings(&(pe_setting) PE_SETTING("TimeZone", zone), 1);
	return level;
}

/* All from number `from` on. */
static void
make_edges(pe_series *series, Oid type, int from)
{
	for (int n = from; n <= series->periods; n++)
		series->edge[n] = pe_point_of_datum(type, edge(series, type, n)).i;
}

void
pe_periods_prolong(pe_series *series, Oid type, int periods)
{
	int			first = series->periods + 1;
	int			level = enter_zone(series->zone);

	series->edge = repalloc(series->edge, (periods + 1) * sizeof(int64));
	series->periods = periods;
	make_edges(series, type, first);
	AtEOXact_GUC(true, level);
}

void
pe_periods_make(pe_series *series, Oid type, pe_periods *periods)
{
	int			count = series->periods;
	int			level = enter_zone(series->zone);

	if (TIMESTAMP_NOT_FINITE(series->starts))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("start must be finite")));
	*periods = (pe_periods) {.periods = count, .type = type};
	periods->edge = palloc((count + 1) * sizeof(TimestampTz));
	periods->value = palloc((count + 1) * sizeof(Datum));
	periods->due = palloc(count * sizeof(TimestampTz));
	if (series->edge == NULL)
	{
		series->edge = palloc((count + 1) * sizeof(int64));
		make_edges(series, type, 0);
	}
	for (int n = 0; n <= count; n++)
	{
		periods->value[n] = datum_of(type, series->edge[n]);
		periods->edge[n] = moment_of(type, periods->value[n]);
	}
	for (int n = 0; n < count; n++)
		periods->due[n] = later(periods->edge[n + 1], &series->grace);
	AtEOXact_GUC(true, level);
	check_edges(series, periods);
}

void
pe_periods_column(const pe_periods *periods, int from, int to, pe_column *column)
{
	pe_attribute *domain = &column->domain;

	*column = (pe_column) {.name = "", .type = periods->type, .ordered = true};
	*domain = (pe_attribute) {
		.key = PE_KEY_INT, .kind = PE_BINS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP, .open = true,
		.points = to - from + 2
	};
	domain->point = pe_alloc(domain->points, sizeof(*domain->point));
	for (int i = 0; i < domain->points; i++)
		domain->point[i] = pe_point_of_datum(periods->type, periods->value[from + i]);
	if (pe_attribute_prepare(domain) != PE_DOMAIN_OK)
		elog(ERROR, "the periods of a series are no bins");
	column->cells = pe_attribute_cells(domain);
}

int
pe_periods_due(const pe_periods *periods)
{
	TimestampTz now = GetCurrentTimestamp();
	int			due = 0;

	while (due < periods->periods && periods->due[due] <= now)
		due++;
	return due;
}

Oid
pe_periods_type(const char *name)
{
	return strcmp(name, "date") == 0 ? DATEOID : strcmp(name, "timestamp without time zone") == 0 ? TIMESTAMPOID
		: TIMESTAMPTZOID;
}

/* When the period that ends at an edge is due: of columns of dp_ledger.series. */
Datum
pe_sql_period_due(PG_FUNCTION_ARGS)
{
	Oid			type = pe_periods_type(text_to_cstring(PG_GETARG_TEXT_PP(3)));
	int			level = enter_zone(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	TimestampTz due = later(moment_of(type, datum_of(type, PG_GETARG_INT64(0))), PG_GETARG_INTERVAL_P(1));

	AtEOXact_GUC(true, level);
	PG_RETURN_TIMESTAMPTZ(due);
}

/*
 * publish_series.c
 *	  dp.publish_series: reports of a series as a table of the caller's that grows.
 *
 * It is made and written with the caller's rights, in the caller's transaction
 * (published_table.h).  Its columns:
 *
 *	 report						number of the period, from 1
 *	 starts, ends				of the period
 *	 over						totals, periods, windows(4)
 *	 query						number from 1; the primary key is report, over, query
 *	 ...						what the query says of each attribute (published_columns.h)
 *	 ...						what was measured (published_figures.h)
 *
 * A call adds the reports that are due and have no row in the table, all or
 * none.  The next run makes up for a run that was late, or never; two at once
 * wait for each other.  What is stored never changes, so a row is never written
 * again.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "read/published_figures.h"
#include "read/report.h"

PG_FUNCTION_INFO_V1(pe_sql_publish_series);

/* Columns before those of queries, by number and, as they come first, by their place; those behind are figures. */
enum
{
	REPORT, STARTS, ENDS, OVER, QUERY, FIGURES
};

typedef struct publication
{
	pe_report	report;
	pe_target	target;
	pe_published_columns columns;
	pe_published_figures figures;
	bool	   *is_there;		/* of each period */
	int32	   *row;			/* of the report, the first of each group, that are to be added */
	int32		rows;
	Datum	   *over;			/* of each term */
} publication;

/* ------------------------------------------------------------------
 * Columns and rows
 * ------------------------------------------------------------------
 */

static void
make_columns(publication *p)
{
	static const struct
	{
		const char *name;
		Oid			type;
	}			column[FIGURES] = {
		{"report", INT4OID}, {"starts", TIMESTAMPTZOID}, {"ends", TIMESTAMPTZOID}, {"over", TEXTOID}, {"query", INT4OID}
	};
	const pe_serial *s = &p->report.serial;
	pe_serial_told told = s->kind->told(s);
	int			end;

	pe_labels_init(&p->report.labels, told.workload, told.columns);
	p->columns.labels = &p->report.labels;
	p->columns.column = told.columns;
	for (int i = 0; i < FIGURES; i++)
		(void) pe_published_add(&p->columns, column[i].name, "", column[i].type);
	pe_figures_add(&p->figures, &p->columns, s->aggregation, NULL);
	end = p->columns.columns;
	pe_published_place(&p->columns, REPORT, FIGURES);
	pe_published_add_queries(&p->columns);
	pe_published_place(&p->columns, FIGURES, end);
}

static void
put_figures(const publication *p, int32 row, Datum *value, bool *isnull)
{
	for (int m = 0; m < p->figures.measures; m++)
	{
		pe_report_row at = pe_report_row_at(&p->report, row + m);

		pe_figures_put(&p->figures, m,
					   &(pe_aggregate_result) {at.estimate, at.stderr_, at.lower, at.upper}, value, isnull);
	}
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const publication *p = argument;
	const TimestampTz *edge = p->report.serial.periods.edge;
	pe_report_row at = pe_report_row_at(&p->report, p->row[row]);
	Datum		value[PE_MOST_PUBLISHED];
	bool		isnull[PE_MOST_PUBLISHED];

	memset(isnull, true, sizeof(isnull));
	pe_published_put(REPORT, Int32GetDatum(at.period + 1), value, isnull);
	pe_published_put(STARTS, TimestampTzGetDatum(edge[at.period]), value, isnull);
	pe_published_put(ENDS, TimestampTzGetDatum(edge[at.period + 1]), value, isnull);
	pe_published_put(OVER, p->over[at.term], value, isnull);
	pe_published_put(QUERY, Int32GetDatum(at.query + 1), value, isnull);
	pe_published_put_query(&p->columns, at.query, value, isnull);
	put_figures(p, p->row[row], value, isnull);
	pe_published_reorder(&p->columns, value, isnull, values, nulls);
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

static void
note_report(void *argument, Datum value)
{
	publication *p = argument;
	int32		report = DatumGetInt32(value);

	if (report >= 1 && report <= p->report.serial.series->periods)
		p->is_there[report - 1] = true;
}

/* Which reports are in the table that is there. */
static void
read_table(publication *p)
{
	p->is_there = palloc0(p->report.serial.series->periods * sizeof(bool));
	if (!OidIsValid(p->target.relation))
		return;
	if (!pe_published_has(&p->columns, p->target.relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" no longer has the columns that dp.publish_series made", p->target.table),
				 errhint("Publish the series under another name.")));
	pe_target_read(&p->target, REPORT + 1, note_report, p);
}

/* The first and the last report that is to be added; false: none is. */
static bool
choose_reports(publication *p, int due)
{
	pe_report  *r = &p->report;

	for (r->first = 0; r->first <= due && p->is_there[r->first]; r->first++)
		;
	for (r->last = due; r->last >= r->first && p->is_there[r->last]; r->last--)
		;
	return r->first <= r->last;
}

/* A series that has ended is published up to its end; after that a run says so. */
static bool
choose_due(publication *p)
{
	pe_report  *r = &p->report;
	int			due = r->last;

	if (choose_reports(p, due))
		return true;
	if (due + 1 < r->serial.series->periods)
		pe_serial_check_open(&r->serial);
	return false;
}

static void
choose_rows(publication *p, int32 rows)
{
	int32		each = rows / (p->report.last + 1 - p->report.first);

	p->row = palloc(Max(rows, 1) * sizeof(*p->row));
	for (int32 row = 0; row < rows; row += p->figures.measures)
		if (!p->is_there[p->report.first + row / each])
			p->row[p->rows++] = row;
	p->over = palloc(p->report.serial.over.terms * sizeof(Datum));
	for (int term = 0; term < p->report.serial.over.terms; term++)
		p->over[term] = CStringGetTextDatum(pe_report_term(&p->report, term));
}

static char *
comment_on(const publication *p)
{
	const pe_serial *s = &p->report.serial;

	return psprintf("published by dp.publish_series: series \"%s\" of dataset \"%s\", version %d of its data; "
					"%s%sworkload %s; %s%s; charge " INT64_FORMAT " of rho %.9g",
					s->series->name, s->asked->dataset->name, s->series->version,
					pe_figures_text(s->aggregation), pe_published_roll_ups(&p->columns),
					s->kind->told(s).workload->canonical, s->series->predicate != NULL ? "where " : "all rows",
					s->series->predicate != NULL ? s->series->predicate : "",
					s->series->charge_id, s->series->nano * 1e-9);
}

/* Charged periods are measured before the table is written: what fails leaves the table as it was. */
static void
write_table(publication *p)
{
	pe_confinement confinement;

	if (choose_due(p))
	{
		p->report.published = true;
		choose_rows(p, pe_report_answer(&p->report));
	}
	pe_target_begin(&p->target, &confinement);
	if (!OidIsValid(p->target.relation))
	{
		pe_target_create(&p->target, pe_published_list(&p->columns, "PRIMARY KEY (report, over, query)"));
		pe_target_finish(&p->target, comment_on(p));
	}
	pe_target_insert(&p->target, p->rows, make_row, p);
	pe_target_end(&confinement);
}

Datum
pe_sql_publish_series(PG_FUNCTION_ARGS)
{
	publication *p = palloc0(sizeof(*p));
	const char *name = pe_text_argument(fcinfo, 0, "series");

	if (PG_ARGISNULL(1))
		pe_refuse_null("target");
	PreventCommandIfReadOnly("dp.publish_series()");
	pe_report_load(&p->report, name);
	make_columns(p);
	p->target.function = "dp.publish_series";
	p->target.series_id = p->report.serial.series->id;
	pe_target_find(&p->target, PG_GETARG_TEXT_PP(1), true);
	read_table(p);
	write_table(p);
	PG_RETURN_INT64(p->rows);
}

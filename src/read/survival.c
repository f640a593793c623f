/*
 * survival.c
 *	  dp.survival of a release, dp.survival_summary and dp.compare_survival: free.  See survival.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "ask/stored_release.h"
#include "ask/suppress.h"
#include "noise/interval.h"
#include "read/noisy_answers.h"
#include "read/survival.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "server/settings.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_survival_of_release);
PG_FUNCTION_INFO_V1(pe_sql_survival_summary);
PG_FUNCTION_INFO_V1(pe_sql_compare_survival);

/* The most counts: their covariance is a matrix. */
#define MOST_COUNTS 2048

/* ------------------------------------------------------------------
 * What the attributes are
 * ------------------------------------------------------------------
 */

static void
check_time(const pe_column *column)
{
	bool		bins = column->domain.kind == PE_BINS && column->roll_up == NULL;

	if (bins && pe_type_is_number(column->type))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("attribute \"%s\" is no time of survival", column->name),
			 errdetail("A time is a number, from the start of a unit to its event or its end, and has bins; its "
					   "type is %s.", format_type_be(column->type)),
			 bins ? errhint("Let the owner declare the time since each unit's start, such as days.")
			 : errhint("Let the owner declare bins with dp.add_attribute or dp.alter_attribute.")));
}

/* What has later times in the last bin. */
static char *
clamping_text(const pe_survival_study *s)
{
	return psprintf("dp.alter_attribute(%s, %s, outside => 'clamp')", quote_literal_cstr(s->dataset->name),
					quote_literal_cstr(s->time->name));
}

/* A cell 'other' has times below and above together: who outlives the last edge would not be at risk before it. */
static void
check_outside(const pe_survival_study *s)
{
	if (s->time->domain.outside == PE_OUTSIDE_OTHER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("attribute \"%s\" has times beyond its last edge in a cell 'other'", s->time->name),
				 errdetail("A curve would leave out all who outlive the last edge, and be too low."),
				 errhint("Let the owner say %s.", clamping_text(s))));
}

static void
tell_dropped(const pe_survival_study *s)
{
	static TimestampTz told;

	if (s->time->domain.outside != PE_OUTSIDE_DROP || told == GetCurrentStatementStartTimestamp())
		return;
	told = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("rows whose \"%s\" is beyond its edges are left out", s->time->name),
			 errdetail("If any outlive the last edge, the curve is too low."),
			 errhint("The last edge has to be beyond all times; or let the owner say %s.", clamping_text(s))));
}

static void
check_event(const pe_column *column)
{
	if (column->domain.kind == PE_LEVELS && column->domain.points == 2 && column->roll_up == NULL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("attribute \"%s\" is no event", column->name),
			 errdetail("An event has two levels, that it happened and that it did not; other ends of a time need "
					   "an attribute of their own."),
			 errhint("Let the owner declare a boolean.")));
}

static int32
level_of_text(const pe_column *column, char *text)
{
	pe_point	point = pe_point_of_datum(column->type, pe_datum_of_text(column->type, text));

	return pe_attribute_find_point(&column->domain, &point);
}

/* That it happened: the level that is named, true, or the larger number. */
static int32
level_that_happened(const pe_column *column, char *level)
{
	char	  **points = column->points;
	int32		found = -1;

	if (level != NULL)
		found = level_of_text(column, level);
	else if (column->type == BOOLOID)
		found = level_of_text(column, "true");
	else if (pe_type_is_number(column->type))
		found = pe_number_of_text(column->type, points[1]) > pe_number_of_text(column->type, points[0]);
	if (found < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 level != NULL ? errmsg("attribute \"%s\" does not have level \"%s\"", column->name, level)
				 : errmsg("which level of attribute \"%s\" means that the event happened is not known", column->name),
				 errhint("Name it: event_level => %s or event_level => %s.", quote_literal_cstr(points[0]),
						 quote_literal_cstr(points[1]))));
	return found;
}

static void
check_once(const pe_column *column, const pe_survival_study *s, int before)
{
	bool		again = column == s->time || column == s->event;

	for (int i = 0; i < before; i++)
		again |= column == s->by[i];
	if (again)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("attribute \"%s\" is named twice", column->name)));
}

static void
append_groups(StringInfo text, const pe_survival_study *s, const char *between)
{
	for (int i = 0; i < s->names.bys; i++)
		appendStringInfo(text, "%sidentity(%s)", i > 0 ? " * " : between, quote_identifier(s->by[i]->name));
}

static pe_workload *
workload_of_text(const pe_survival_study *s, const char *text)
{
	pe_workload *workload = palloc0(sizeof(*workload));

	pe_parse_columns_workload(s->dataset, s->columns, s->domain, text, workload);
	return workload;
}

static void
make_labels(pe_survival_study *s)
{
	StringInfoData text;
	pe_workload *workload;

	initStringInfo(&text);
	append_groups(&text, s, "");
	workload = workload_of_text(s, s->names.bys > 0 ? text.data : "total");
	s->groups = workload->queries;
	pe_labels_init(&s->labels, workload, s->columns);
}

static void
find_edges(pe_survival_study *s)
{
	s->bins = pe_attribute_ordered_cells(&s->time->domain);
	s->endless = s->time->domain.outside == PE_OUTSIDE_CLAMP;
	s->edges = s->bins + 1 - s->endless;
	s->edge = palloc((s->bins + 1) * sizeof(double));
	for (int32 i = 0; i <= s->bins; i++)
		s->edge[i] = pe_number_of_text(s->time->type, s->time->points[i]);
}

static void
check_size(const pe_survival_study *s)
{
	double		counts = 2.0 * s->bins * s->groups;

	if (counts > MOST_COUNTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%.0f counts are too many for survival", counts),
				 errdetail("Two levels of \"%s\", %d bins of \"%s\" and %d groups make them; at most %d can be.",
						   s->event->name, s->bins, s->time->name, s->groups, MOST_COUNTS),
				 s->groups == 1 ? errhint("Let the owner declare fewer bins.")
				 : errhint("Use fewer groups, or select some of them with predicate and leave them out of by.")));
	pe_check_memory((size_t) (3 * counts * counts) * sizeof(double)
					+ (size_t) s->groups * s->bins * s->bins * 2 * sizeof(double));
}

void
pe_survival_resolve(pe_survival_study *s)
{
	check_time(s->time);
	check_outside(s);
	check_event(s->event);
	if (s->time == s->event)
		check_once(s->time, s, 0);
	for (int i = 0; i < s->names.bys; i++)
		check_once(s->by[i], s, i);
	s->happened = level_that_happened(s->event, s->names.level);
	find_edges(s);
	make_labels(s);
	check_size(s);
}

char *
pe_survival_workload(const pe_survival_study *s)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "prefix(%s) * identity(%s)", quote_identifier(s->time->name),
					 quote_identifier(s->event->name));
	append_groups(&text, s, " * ");
	return text.data;
}

/* ------------------------------------------------------------------
 * Counts
 * ------------------------------------------------------------------
 */

/* The cells of time in one level of event, in each group. */
static void
append_level(StringInfo text, const pe_survival_study *s, int32 level)
{
	int32		cells = pe_attribute_cells(&s->event->domain);

	appendStringInfo(text, "ranges(%s; ", quote_identifier(s->time->name));
	for (int32 j = 0; j < s->bins; j++)
		appendStringInfo(text, "%s%d-%d", j > 0 ? ", " : "", j, j);
	appendStringInfo(text, ") * matrix(%s; {{", quote_identifier(s->event->name));
	for (int32 i = 0; i < cells; i++)
		appendStringInfo(text, "%s%d", i > 0 ? "," : "", i == level);
	appendStringInfoString(text, "}})");
	append_groups(text, s, " * ");
}

/* Events of each bin and group, then withdrawals. */
static pe_workload *
counts_workload(const pe_survival_study *s)
{
	StringInfoData text;

	initStringInfo(&text);
	append_level(&text, s, s->happened);
	appendStringInfoString(&text, " + ");
	append_level(&text, s, 1 - s->happened);
	return workload_of_text(s, text.data);
}

/* What has these counts: the request that makes them. */
static void
check_determined(const pe_survival_study *s, const pe_workload *workload)
{
	pe_reconstruction r;
	bool		determined;

	if (!pe_reconstruction_init(&s->measured, workload, &r))
		return;					/* refused for its size */
	determined = pe_reconstruction_undetermined(&r) < 0;
	pe_reconstruction_free(&r);
	if (!determined)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " does not determine these curves", s->release),
				 errdetail("It measures workload %s.", s->measured.workload->canonical),
				 errhint("What %s determines is enough; dp.survival with the dataset's name measures it.",
						 pe_survival_workload(s))));
}

/* The number in the workload of count i of a group, as counts/survival.h has them. */
static int32
query_of_count(const pe_survival_study *s, int32 group, int32 i)
{
	return i * s->groups + group;
}

/* From numbers by query to numbers by group and count, for the rows and columns of the covariance. */
static void
arrange(pe_survival_study *s, const pe_answers *answers, const double *unit, double *count)
{
	int32		each = 2 * s->bins;
	size_t		all = (size_t) each * s->groups;
	double		variance = pe_noise_stderr(s->noise) * pe_noise_stderr(s->noise);

	for (size_t i = 0; i < all; i++)
	{
		int32		q = query_of_count(s, i / each, i % each);

		CHECK_FOR_INTERRUPTS();
		count[i] = answers->estimate[q];
		for (size_t k = 0; k < all; k++)
			s->covariance[i * all + k] = variance * unit[q * all + query_of_count(s, k / each, k % each)];
	}
}

/* The part of a group. */
static void
fill_group(pe_survival_study *s, int32 group, const double *count)
{
	size_t		each = 2 * (size_t) s->bins;
	size_t		all = each * s->groups;
	double	   *covariance = palloc(each * each * sizeof(double));

	for (size_t i = 0; i < each; i++)
		memcpy(covariance + i * each, s->covariance + (group * each + i) * all + group * each, each * sizeof(double));
	s->counts[group] = (pe_survival_counts) {
		.bins = s->bins, .endless = s->endless, .count = count + group * each, .covariance = covariance,
		.half = s->pure ? pe_laplace_sum_half(PE_MISS) : pe_normal_half(PE_MISS)
	};
	pe_survival_find(&s->counts[group], &s->curve[group]);
}

void
pe_survival_estimate(pe_survival_study *s)
{
	pe_workload *workload = counts_workload(s);
	pe_answers	answers = {0};
	double	   *count = pe_alloc(workload->queries, sizeof(double));
	double	   *unit;

	check_determined(s, workload);
	pe_answers_init(&answers, &s->measured, workload, s->columns, s->y, s->noise, NULL, false);
	unit = pe_unit_covariance(&s->measured, workload);
	s->covariance = pe_alloc((size_t) workload->queries * workload->queries, sizeof(double));
	arrange(s, &answers, unit, count);
	pe_free(unit);
	s->counts = pe_alloc(s->groups, sizeof(*s->counts));
	s->curve = pe_alloc(s->groups, sizeof(*s->curve));
	for (int32 g = 0; g < s->groups; g++)
		fill_group(s, g, count);
}

/* ------------------------------------------------------------------
 * From a release
 * ------------------------------------------------------------------
 */

enum
{
	RELEASE, TIME, EVENT, BY, LEVEL, UNTIL
};

static void
read_names(FunctionCallInfo fcinfo, pe_survival_names *names)
{
	names->time = pe_text_argument(fcinfo, TIME, "time");
	names->event = pe_text_argument(fcinfo, EVENT, "event");
	names->by = pe_names_argument(fcinfo, BY, "by", "an attribute of by", &names->bys);
	names->level = pe_optional_text(fcinfo, LEVEL);
}

static void
take_release(pe_survival_study *s, pe_release *r)
{
	s->dataset = r->dataset;
	s->columns = r->columns;
	s->attributes = r->attributes;
	s->domain = r->domain;
	s->measured = r->measured;
	s->y = r->value;
	s->noise = pe_release_noise(r);	/* of two attributes or more its errors are known */
	s->pure = r->accounting == PE_PURE;
	s->rule = pe_release_rule(r);
	s->release = r->id;
}

static pe_survival_study *
study_of_release(FunctionCallInfo fcinfo)
{
	pe_survival_study *s = palloc0(sizeof(*s));
	pe_release *r = palloc0(sizeof(*r));

	if (PG_ARGISNULL(RELEASE))
		pe_refuse_null("release");
	r->id = PG_GETARG_INT64(RELEASE);
	read_names(fcinfo, &s->names);
	PE_UNDONE();
	pe_release_read(r);
	PE_END_UNDONE();
	take_release(s, r);
	s->time = pe_release_column(r, s->names.time);
	s->event = pe_release_column(r, s->names.event);
	s->by = palloc((s->names.bys + 1) * sizeof(*s->by));
	for (int i = 0; i < s->names.bys; i++)
		s->by[i] = pe_release_column(r, s->names.by[i]);
	pe_survival_resolve(s);
	pe_survival_estimate(s);
	return s;
}

/* ------------------------------------------------------------------
 * Rows of dp.survival
 * ------------------------------------------------------------------
 */

/* Whether a row is shown: by how many are at risk in the bin before its edge; of the first by those at it. */
static bool
is_shown(const pe_survival_study *s, int32 group, int32 edge)
{
	return pe_min_count_shows(&s->rule, s->curve[group].point[Max(edge - 1, 0)].least_at_risk);
}

static bool
shows_at_risk(const pe_survival_study *s, int32 group, int32 edge)
{
	const pe_survival_point *point = &s->curve[group].point[edge];

	return is_shown(s, group, edge) && (s->rule.units == 0 ||
										(edge < s->bins && pe_min_count_shows(&s->rule, point->least_at_risk)));
}

static void
tell_hidden(const pe_survival_study *s)
{
	int32		hidden = 0;

	for (int32 g = 0; g < s->groups; g++)
		for (int32 e = 0; e < s->edges; e++)
			hidden += !is_shown(s, g, e);
	pe_suppress_tell(&s->rule, hidden, 0, s->groups * s->edges);
}

static void
tell_supposed(const pe_survival_study *s)
{
	tell_dropped(s);
	(void) pe_several_rows_tell(s->rule.rows, "standard errors and intervals are too small for a population");
}

/* Whether anything is known of a curve behind its first edge: not of a group that may have no rows. */
static bool
is_of_rows(const pe_survival *curve)
{
	return curve->known > 0 || curve->point[0].least_at_risk > 0;
}

static void
make_point(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_survival_study *s = argument;
	int32		group = row / s->edges;
	int32		edge = row % s->edges;
	const pe_survival_point *point = &s->curve[group].point[edge];
	bool		shown = is_shown(s, group, edge);

	values[0] = pe_label(&s->labels, group);
	values[1] = Float8GetDatum(s->edge[edge]);
	pe_put_float(shows_at_risk(s, group, edge) ? point->at_risk : NAN, &values[2], &nulls[2]);
	pe_put_float(shown && (edge == 0 || is_of_rows(&s->curve[group])) ? point->survival : NAN, &values[3], &nulls[3]);
	pe_put_float(shown ? point->stderr_ : NAN, &values[4], &nulls[4]);
	pe_put_float(shown ? point->lower : NAN, &values[5], &nulls[5]);
	pe_put_float(shown ? point->upper : NAN, &values[6], &nulls[6]);
	values[7] = Int64GetDatum(s->release);
	nulls[7] = s->release == 0;
}

void
pe_survival_return(FunctionCallInfo fcinfo, pe_survival_study *s)
{
	tell_hidden(s);
	tell_supposed(s);
	pe_return_rows(fcinfo, s->groups * s->edges, 8, make_point, s);
}

Datum
pe_sql_survival_of_release(PG_FUNCTION_ARGS)
{
	pe_survival_return(fcinfo, study_of_release(fcinfo));
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.survival_summary
 * ------------------------------------------------------------------
 */

typedef struct summary
{
	pe_survival_study *study;
	double		until;
} summary;

static const char *const figures[] = {"median", "restricted mean"};

static double
read_until(FunctionCallInfo fcinfo, const pe_survival_study *s)
{
	double		last = s->edge[s->edges - 1];
	double		until = pe_optional_float(fcinfo, UNTIL, "until");

	if (isnan(until))
		return last;
	if (!(until > s->edge[0] && until <= last))
		pe_refuse_parameter("until", pe_number_text(until),
							psprintf("a time above %s and at most %s", pe_number_text(s->edge[0]),
									 pe_number_text(last)));
	return until;
}

/* Whether what the curve is up to a time follows from rows of dp.survival that are shown; NaN: all of it. */
static bool
shows_until(const pe_survival_study *s, int32 group, double time)
{
	for (int32 e = 0; e < s->edges && (e == 0 || !(s->edge[e - 1] >= time)); e++)
		if (!is_shown(s, group, e))
			return false;
	return true;
}

static void
make_figure(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const summary *c = argument;
	const pe_survival_study *s = c->study;
	int32		group = row / lengthof(figures);
	bool		is_mean = row % lengthof(figures) == 1;
	pe_survival_figure f = is_mean ? pe_survival_mean(&s->curve[group], &s->counts[group], s->edge, c->until)
		: pe_survival_median(&s->curve[group], s->edge);

	if (!shows_until(s, group, is_mean ? c->until : f.upper))
		f = (pe_survival_figure) {NAN, NAN, NAN, NAN};
	values[0] = pe_label(&s->labels, group);
	values[1] = CStringGetTextDatum(figures[is_mean]);
	pe_put_float(f.estimate, &values[2], &nulls[2]);
	pe_put_float(f.stderr_, &values[3], &nulls[3]);
	pe_put_float(f.lower, &values[4], &nulls[4]);
	pe_put_float(f.upper, &values[5], &nulls[5]);
	values[6] = Float8GetDatum(c->until);
	nulls[6] = !is_mean;
}

/* The NOTICE of what make_figure hides. */
static void
tell_hidden_figures(const summary *c)
{
	const pe_survival_study *s = c->study;
	int32		hidden = 0;
	int32		partly = 0;

	for (int32 g = 0; g < s->groups; g++)
	{
		bool		median = shows_until(s, g, pe_survival_median(&s->curve[g], s->edge).upper);
		bool		mean = shows_until(s, g, c->until);

		hidden += !median || !mean;
		partly += median != mean;
	}
	pe_suppress_tell(&s->rule, hidden, partly, s->groups);
}

Datum
pe_sql_survival_summary(PG_FUNCTION_ARGS)
{
	summary		c = {.study = study_of_release(fcinfo)};

	c.until = read_until(fcinfo, c.study);
	tell_hidden_figures(&c);
	tell_supposed(c.study);
	pe_return_rows(fcinfo, c.study->groups * lengthof(figures), 7, make_figure, &c);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * dp.compare_survival
 * ------------------------------------------------------------------
 */

typedef struct compared
{
	const pe_survival_study *study;
	pe_survival_test test;
} compared;

static void
make_test(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const compared *c = argument;
	bool		none = c->test.df == 0;

	values[0] = Float8GetDatum(c->test.statistic);
	values[1] = Int32GetDatum(c->test.df);
	values[2] = Float8GetDatum(c->test.p_value);
	values[3] = Float8GetDatum(c->study->edge[c->test.bins]);
	nulls[0] = nulls[1] = nulls[2] = nulls[3] = none;
}

/* Cells for other values and NULL of an attribute of by are no groups. */
static bool
is_no_group(const pe_survival_study *s, int32 group)
{
	bool		no_group = false;

	for (int i = s->names.bys - 1; i >= 0; i--)
	{
		const pe_attribute *domain = &s->by[i]->domain;
		int32		cell = group % pe_attribute_cells(domain);

		group /= pe_attribute_cells(domain);
		no_group |= pe_attribute_is_other(domain, cell) || pe_attribute_is_null(domain, cell);
	}
	return no_group;
}

/* A test is of all groups: it says something of each. */
static void
choose_groups(const pe_survival_study *s)
{
	int32		groups = 0;

	for (int32 g = 0; g < s->groups; g++)
		groups += !(s->counts[g].leave_out = is_no_group(s, g));
	if (groups < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("one group cannot be compared"),
				 errhint("Name an attribute with two values or more in by.")));
	for (int32 g = 0; g < s->groups; g++)
		if (!s->counts[g].leave_out && !is_shown(s, g, 0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a group is not shown, as it may have fewer than %d units", s->rule.units),
					 errhint("Compare larger groups.")));
}

Datum
pe_sql_compare_survival(PG_FUNCTION_ARGS)
{
	compared	c = {.study = study_of_release(fcinfo)};
	const pe_survival_study *s = c.study;

	pe_several_rows_refuse(s->rule.rows, "the log-rank test");
	tell_dropped(s);
	choose_groups(s);
	pe_survival_compare(s->groups, s->counts, s->curve, s->covariance, &c.test);
	pe_return_rows(fcinfo, 1, 4, make_test, &c);
	return (Datum) 0;
}

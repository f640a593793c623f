/*
 * table_one.c
 *	  dp.table_one and its quote: the first table of a study, by groups and for all of them together.
 *
 * It is a request for aggregates, one charge: count(*), of each number its
 * average, deviation, rows and median, and of each other attribute its levels.
 * What is printed of them is post-processing, and of a release of such a request
 * free.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "api/aggregate.h"
#include "ask/complete.h"
#include "ask/stored_release.h"
#include "ask/suppress.h"
#include "read/table_of_release.h"
#include "read/table_tests.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "server/settings.h"
#include "server/values.h"
#include "study/table_one.h"

PG_FUNCTION_INFO_V1(pe_sql_table_one);
PG_FUNCTION_INFO_V1(pe_sql_table_one_of_release);
PG_FUNCTION_INFO_V1(pe_sql_quote_table_one);

/* The arguments by position, the same in both functions that ask but the last one. */
enum
{
	ARG_DATASET, ARG_BY, ARG_ATTRIBUTES, ARG_EPSILON, ARG_RHO, ARG_MAX_STDERR, ARG_DELTA, ARG_PREDICATE,
	ARG_ROWS_PER_UNIT, ARG_FRESH, ARG_BUDGET,
	ARG_ROWS					/* of the quote alone */
};

typedef struct table
{
	const pe_aggregation *g;
	pe_tabulated of;
	pe_table_rows rows;
	pe_table_tests tests;
} table;

/* ------------------------------------------------------------------
 * What is asked for
 * ------------------------------------------------------------------
 */

static bool
is_number(const pe_column *column)
{
	return pe_type_is_number(column->type) && column->domain.kind == PE_BINS;
}

static void
add_aggregate(pe_request *request, const char *form, const char *name)
{
	if (request->sums.aggregates == PE_MAX_AGGREGATES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the attributes are too many for one table"),
				 errdetail("A number takes four of at most %d aggregates, and any other attribute one.",
						   PE_MAX_AGGREGATES - 1),
				 errhint("Ask for several tables.")));
	request->sums.aggregate[request->sums.aggregates++] = psprintf(form, quote_identifier(name),
																   quote_identifier(name));
}

/* A number with a single bin has no ranks. */
static void
add_attribute(pe_request *request, const pe_column *column)
{
	if (!is_number(column))
	{
		add_aggregate(request, "levels(%s)", column->name);
		return;
	}
	add_aggregate(request, "avg(%s)", column->name);
	add_aggregate(request, "stddev(%s)", column->name);
	add_aggregate(request, "regr_count(%s, %s)", column->name);
	if (pe_attribute_ordered_cells(&column->domain) > 1)
		add_aggregate(request, "median(%s)", column->name);
}

static void
name_aggregates(pe_request *request, char **attribute, int attributes)
{
	pe_dataset *dataset = pe_dataset_load(request->dataset);
	pe_column  *columns;

	pe_attributes_as_given(dataset, attribute, attributes);
	columns = pe_columns_load(dataset, attribute, &attributes);
	request->sums.aggregate = palloc(PE_MAX_AGGREGATES * sizeof(char *));
	request->sums.aggregate[request->sums.aggregates++] = "count(*)";
	for (int i = 0; i < attributes; i++)
		add_attribute(request, &columns[i]);
}

static void
check_attributes(int attributes)
{
	if (attributes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no attribute is asked for"),
				 errhint("For example attributes => '{age,sex}'.")));
}

static void
prepare_table(FunctionCallInfo fcinfo, pe_aggregate_call *c, bool needs_budget)
{
	pe_request *request = &c->call.request;
	char	  **attribute;
	int			attributes;

	pe_request_init(request, PE_ASK_SUMS, PE_FRONT_TABLE);
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	attribute = pe_names_argument(fcinfo, ARG_ATTRIBUTES, "attributes", "an attribute", &attributes);
	check_attributes(attributes);
	if (!PG_ARGISNULL(ARG_BY))
	{
		request->attribute = palloc(sizeof(char *));
		request->attribute[request->attributes++] = pe_text_argument(fcinfo, ARG_BY, "by");
	}
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->max_stderr = pe_optional_float(fcinfo, ARG_MAX_STDERR, "max_stderr");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->cuts = !PG_ARGISNULL(ARG_ROWS_PER_UNIT);
	request->rows_per_unit = request->cuts ? PG_GETARG_INT32(ARG_ROWS_PER_UNIT) : 0;
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
	PE_UNDONE();
	name_aggregates(request, attribute, attributes);
	PE_END_UNDONE();
	pe_aggregate_call_prepare(c, needs_budget);
}

/* ------------------------------------------------------------------
 * Figures
 * ------------------------------------------------------------------
 */

/* The aggregate of this word and attribute; -1: it was not asked for. */
static int
find_aggregate(const pe_aggregation *g, const char *word, const char *name)
{
	for (int i = 0; i < g->aggregates; i++)
	{
		const pe_aggregate *a = &g->aggregate[i];

		if (strcmp(pe_aggregate_word(a), word) == 0 && a->condition < 0 && a->column[0] != NULL &&
			strcmp(a->column[0], name) == 0 && (a->kind != PE_AGG_QUANTILE || a->fraction == .5))
			return i;
	}
	return -1;
}

static pe_figure
figure_of(const pe_aggregate_result *r)
{
	return (pe_figure) {r->estimate, r->stderr_};
}

static pe_figure
result_of(const table *t, int32 group, int number)
{
	return figure_of(&t->of.result[(size_t) group * t->g->aggregates + number]);
}

/* A quantile has no standard error: a quarter of its interval. */
static pe_figure
quartile_of(const pe_aggregate_result *r)
{
	return (pe_figure) {r->estimate, (r->upper - r->lower) / 4};
}

static const pe_figure unknown = {NAN, NAN};

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static void
add_total(table *t)
{
	pe_table_row *row = pe_table_add_row(&t->rows, "n", NULL);

	for (int32 q = 0; q <= t->of.groups; q++)
		pe_table_count(result_of(t, q, 0), unknown, row->text[q]);
}

/* Of an attribute that every row has nothing is missing. */
static void
add_missing(table *t, const pe_column *column, int number)
{
	const pe_column *now = column;
	pe_table_row *row;

	if (pe_has_all_values(now) && pe_column_is_never_null(t->g->asked.dataset, now))
		return;
	row = pe_table_add_row(&t->rows, column->name, "(missing)");
	for (int32 q = 0; q <= t->of.groups; q++)
	{
		pe_figure	missing = figure_of(&t->of.missing[(size_t) q * t->g->aggregates + number]);

		pe_table_count(missing, pe_table_percent(missing, result_of(t, q, 0)), row->text[q]);
	}
}

/* Groups that are compared: with a declared value of by, which are shown and have rows. */
static bool
is_compared(const table *t, int32 group)
{
	return t->g->groups > 0 && group < pe_attribute_ordered_cells(&t->g->columns[0].domain) && t->of.shown[group] &&
		pe_table_has_rows(result_of(t, group, 0));
}

static void
begin_tests(table *t)
{
	int32	   *group = palloc(Max(t->of.groups, 1) * sizeof(int32));

	for (int32 q = 0; q < t->of.groups; q++)
		if (is_compared(t, q))
			group[t->tests.groups++] = q;
	t->tests.group = group;
	t->tests.by = t->g->groups > 0 ? t->g->columns[0].name : NULL;
	pe_table_tests_begin(&t->tests, t->rows.release);
}

/* The largest difference of two such groups; NaN: there are no two, or one is not known. */
static double
largest_difference(const table *t, int number, double (*difference) (const table *t, int number, int32 a, int32 b))
{
	double		largest = -1;

	for (int32 a = 0; a < t->of.groups; a++)
		for (int32 b = 0; b < a && is_compared(t, a); b++)
		{
			double		of_two = is_compared(t, b) ? difference(t, number, b, a) : largest;

			if (isnan(of_two))
				return NAN;
			largest = Max(largest, of_two);
		}
	return largest >= 0 ? largest : NAN;
}

static double
difference_of_means(const table *t, int number, int32 a, int32 b)
{
	return pe_table_difference_of_means(result_of(t, a, number).value, result_of(t, a, number + 1).value,
										result_of(t, b, number).value, result_of(t, b, number + 1).value);
}

/* Whether the rows of a group that have a number are above their noise; number: of its average. */
static bool
has_number(const table *t, int32 group, int number)
{
	return pe_table_has_rows(result_of(t, group, number + 2));
}

/* Whether the average is shown of all groups that are compared. */
static bool
is_tested(const table *t, int number)
{
	bool		shown = true;

	for (int q = 0; q < t->tests.groups; q++)
		shown &= t->g->min.units == 0 || !isnan(result_of(t, t->tests.group[q], number).value);
	return shown;
}

static void
add_number(table *t, const pe_column *column)
{
	int			number = find_aggregate(t->g, "avg", column->name);
	int			median = find_aggregate(t->g, "quantile", column->name);
	pe_table_row *row = pe_table_add_row(&t->rows, column->name, "mean (SD)");

	row->difference = largest_difference(t, number, difference_of_means);
	row->p_value = is_tested(t, number) ? pe_table_tests_means(&t->tests, column->name) : NAN;
	for (int32 q = 0; q <= t->of.groups; q++)
		pe_table_mean(has_number(t, q, number) ? result_of(t, q, number) : unknown, result_of(t, q, number + 1),
					  row->text[q]);
	if (median >= 0)
		row = pe_table_add_row(&t->rows, column->name, "median [quartiles]");
	for (int32 q = 0; q <= t->of.groups && median >= 0; q++)
	{
		const pe_aggregate_result *r = &t->of.quartile[median][q * 3];
		pe_figure	quartile[3] = {quartile_of(&r[0]), quartile_of(&r[1]), quartile_of(&r[2])};

		if (!has_number(t, q, number))
			quartile[0] = quartile[1] = quartile[2] = unknown;
		pe_table_median(quartile, pe_type_is_integer(column->type) ? 1 : 0, row->text[q]);
	}
	add_missing(t, column, number + 2);
}

/* How many rows of a group have a value. */
static pe_figure
rows_of(const pe_aggregate_result *cell, int32 values)
{
	pe_figure	all = {0, 0};

	for (int32 c = 0; c < values; c++)
	{
		all.value += cell[c].estimate;
		all.error = hypot(all.error, cell[c].stderr_);
	}
	return all;
}

static const pe_aggregate_result *
cells_of(const table *t, int number, int32 group)
{
	int32		cells = pe_attribute_cells(&t->g->columns[t->g->aggregate[number].attribute].domain);

	return &t->of.cell[number][(size_t) group * cells];
}

static double
difference_of_levels(const table *t, int number, int32 a, int32 b)
{
	int32		values = pe_table_values_of(&t->g->columns[t->g->aggregate[number].attribute]);
	double	   *count = palloc(2 * Max(values, 1) * sizeof(double));

	if (!pe_table_has_rows(rows_of(cells_of(t, number, a), values)) ||
		!pe_table_has_rows(rows_of(cells_of(t, number, b), values)))
		return NAN;
	for (int32 c = 0; c < values; c++)
	{
		count[c] = cells_of(t, number, a)[c].estimate;
		count[values + c] = cells_of(t, number, b)[c].estimate;
		if (isnan(count[c]) || isnan(count[values + c]))
			return NAN;
	}
	return pe_table_difference_of_levels(values, count, count + values);
}

static void
add_levels(table *t, const pe_column *column, int number)
{
	int32		values = pe_table_values_of(column);
	double		difference = largest_difference(t, number, difference_of_levels);
	double		p_value = pe_table_tests_levels(&t->tests, column->name, t->of.cell[number],
												pe_attribute_cells(&column->domain), values,
												t->g->asked.ask.accounting == PE_PURE);

	for (int32 c = 0; c < values; c++)
	{
		pe_table_row *row = pe_table_add_row(&t->rows, column->name, pe_table_cell_name(column, c));

		row->difference = c == 0 ? difference : NAN;
		row->p_value = c == 0 ? p_value : NAN;
		for (int32 q = 0; q <= t->of.groups; q++)
		{
			const pe_aggregate_result *cell = cells_of(t, number, q);

			pe_table_count(figure_of(&cell[c]), pe_table_percent(figure_of(&cell[c]), rows_of(cell, values)),
						   row->text[q]);
		}
	}
	add_missing(t, column, number);
}

static void
add_attribute_rows(table *t, const char *name)
{
	const pe_aggregation *g = t->g;
	int			levels = find_aggregate(g, "levels", name);
	int			number = find_aggregate(g, "avg", name);

	if (levels >= 0)
		add_levels(t, &g->columns[g->aggregate[levels].attribute], levels);
	else if (number >= 0)
		add_number(t, g->number_column[g->aggregate[number].number[0]]);
}

static void
begin_rows(table *t, int64 release)
{
	t->rows = (pe_table_rows) {
		.by = t->g->groups > 0 ? &t->g->columns[0] : NULL, .groups = t->of.groups, .release = release
	};
}

/* All attributes of the request, in its order. */
static void
add_all_rows(table *t)
{
	const pe_aggregation *g = t->g;

	add_total(t);
	for (int i = 1; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_LEVELS || strcmp(pe_aggregate_word(&g->aggregate[i]), "avg") == 0)
			add_attribute_rows(t, g->aggregate[i].column[0]);
}

static void
tell_hidden(const table *t)
{
	int32		hidden = 0;

	for (int32 q = 0; q < t->of.groups; q++)
		hidden += !t->of.shown[q];
	pe_suppress_tell(&t->g->min, hidden, 0, t->of.groups);
}

/* ------------------------------------------------------------------
 * The functions
 * ------------------------------------------------------------------
 */

Datum
pe_sql_table_one(PG_FUNCTION_ARGS)
{
	pe_aggregate_call c = {0};
	table		t = {0};

	prepare_table(fcinfo, &c, true);
	pe_check_memory(pe_aggregation_memory(c.aggregation));
	t.g = pe_aggregate_call_tabulate(&c, &t.of);
	begin_rows(&t, c.call.reply.release_id);
	tell_hidden(&t);
	begin_tests(&t);
	add_all_rows(&t);
	pe_table_return_rows(fcinfo, &t.rows);
	return (Datum) 0;
}

/* The arguments of a release, which needs none. */
enum
{
	OF_RELEASE, OF_BY, OF_ATTRIBUTES
};

static void
check_by(const table *t, const char *by)
{
	const pe_aggregation *g = t->g;
	char		unquoted[PE_NAME_SIZE];

	if (g->groups == 1 && (strcmp(by, g->columns[0].name) == 0 || strcmp(by, pe_column_text(&g->columns[0])) == 0))
		return;
	if (g->groups == 1 && pe_text_unquote(by, unquoted) && strcmp(unquoted, g->columns[0].name) == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " is not by \"%s\"", t->rows.release, by),
			 g->groups == 1 ? errdetail("It is by \"%s\".", pe_column_text(&g->columns[0]))
			 : errdetail("It is of all rows together."),
			 errhint("Another table is another request.")));
}

static void
add_given_rows(table *t, char **attribute, int attributes)
{
	add_total(t);
	for (int i = 0; i < attributes; i++)
	{
		int32		rows = t->rows.count;
		char		unquoted[PE_NAME_SIZE];

		add_attribute_rows(t, attribute[i]);
		if (t->rows.count == rows && pe_text_unquote(attribute[i], unquoted))
			add_attribute_rows(t, pstrdup(unquoted));
		if (t->rows.count == rows)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("the table of release " INT64_FORMAT " does not have attribute \"%s\"",
							t->rows.release, attribute[i]),
					 errhint("Without attributes all of its rows are returned.")));
	}
}

/* Of a request for a table. */
static void
return_table(FunctionCallInfo fcinfo, table *t, const char *by, char **attribute, int attributes)
{
	if (by != NULL)
		check_by(t, by);
	tell_hidden(t);
	begin_tests(t);
	if (attributes > 0)
		add_given_rows(t, attribute, attributes);
	else
		add_all_rows(t);
	pe_table_return_rows(fcinfo, &t->rows);
}

Datum
pe_sql_table_one_of_release(PG_FUNCTION_ARGS)
{
	table		t = {0};
	char	   *by = pe_optional_text(fcinfo, OF_BY);
	char	  **attribute = NULL;
	int			attributes = 0;
	pe_stored_aggregates *stored;
	int64		release;

	if (PG_ARGISNULL(OF_RELEASE))
		pe_refuse_null("release");
	release = PG_GETARG_INT64(OF_RELEASE);
	if (!PG_ARGISNULL(OF_ATTRIBUTES))
	{
		attribute = pe_names_argument(fcinfo, OF_ATTRIBUTES, "attributes", "an attribute", &attributes);
		check_attributes(attributes);
	}
	stored = pe_aggregation_table_of_release(release, &t.of);
	if (stored == NULL)
	{
		pe_table_of_release(release, by, attribute, attributes, &t.rows);
		pe_table_return_rows(fcinfo, &t.rows);
		return (Datum) 0;
	}
	t.g = &stored->aggregation;
	begin_rows(&t, release);
	return_table(fcinfo, &t, by, attribute, attributes);
	return (Datum) 0;
}

/* Reads no row, charges nothing. */
Datum
pe_sql_quote_table_one(PG_FUNCTION_ARGS)
{
	pe_aggregate_call c = {0};

	prepare_table(fcinfo, &c, false);
	pe_return_quote_of_aggregates(fcinfo, &c, ARG_ROWS);
	return (Datum) 0;
}

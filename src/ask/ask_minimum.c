/*
 * ask_minimum.c
 *	  What a minimum is asked for.  See ask_minimum.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "server/arguments.h"
#include "ask/ask_minimum.h"
#include "server/aggregate_options.h"
#include "ask/polytope.h"
#include "server/settings.h"
#include "server/values.h"

/* The largest number of a point. */
#define COORDINATE_MOST 0x1p900

/* Numbers of all inequalities: a charge and a release keep their text, which is below 1 MB. */
#define INEQUALITY_NUMBERS 32768

/* ------------------------------------------------------------------
 * Slopes and offsets
 * ------------------------------------------------------------------
 */

static void
refuse_slope(const pe_column *column, const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("attribute \"%s\" %s, and cannot be a slope", column->name, what),
			 errhint("%s", hint)));
}

/* All that can become of a row without a slope is that it does not count.  The private column is no attribute. */
static void
check_slope(const pe_column *column)
{
	if (column->domain.kind != PE_BINS)
		refuse_slope(column, "has levels", "Declare it with bins or edges.");
	if (column->domain.outside == PE_OUTSIDE_OTHER)
		refuse_slope(column, "counts what lies outside its edges", "Declare it with outside => 'clamp' or 'drop'.");
	if (column->domain.nulls == PE_NULLS_CELL)
		refuse_slope(column, "counts what is null", "Declare it with nulls => 'drop'.");
}

/* In absolute value, of what is not dropped. */
static double
largest_of(const pe_column *column)
{
	return fmax(fabs(pe_number_of_text(column->type, column->points[0])),
				fabs(pe_number_of_text(column->type, column->points[column->domain.points - 1])));
}

static void
load_columns(pe_minimum_validated *m)
{
	const pe_request *request = m->asked.request;
	int			count = request->attributes;

	if (request->of_query)
		return;
	m->columns = pe_columns_load(m->asked.dataset, request->attribute, &count);
	for (int i = 0; i < count; i++)
	{
		check_slope(&m->columns[i]);
		m->steepest[i] = largest_of(&m->columns[i]);
	}
	if (strcmp(request->minimum.offsets, m->asked.dataset->private_column) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" is not the private column of dataset \"%s\"", request->minimum.offsets,
						m->asked.dataset->name),
				 errdetail("Offsets are its column \"%s\".", m->asked.dataset->private_column)));
}

/* ------------------------------------------------------------------
 * Method, options and set
 * ------------------------------------------------------------------
 */

static void
choose_method(pe_minimum_validated *m)
{
	const char *name = m->asked.request->method;

	if (name == NULL)
		m->problem.method = PE_MINIMUM_EXPONENTIAL;
	else if (!pe_minimum_method_named(name, &m->problem.method))
		pe_refuse_parameter("method", name,
							"exponential, laplace_data, laplace_solution, subgradient or subgradient_last");
}

static void
refuse_option(const pe_minimum_problem *problem, const char *wrong)
{
	pe_method_options m = {
		&pe_minimum_option_table, &problem->options, problem->method, pe_minimum_method_name(problem->method), NULL
	};

	pe_refuse_method_option(&m, wrong);
}

static void
read_options(pe_minimum_validated *m)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	char	   *name = NULL;

	pe_options_init(&pe_minimum_option_table, &m->problem.options);
	if (m->asked.request->options == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(m->asked.request->options))
		pe_refuse_parameter("options", "not an object", "a JSON object");
	iterator = JsonbIteratorInit(&m->asked.request->options->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE && !pe_option_set(&pe_minimum_option_table, &m->problem.options, name, NAN))
			refuse_option(&m->problem, name);
		else if (token == WJB_VALUE && value.type != jbvNull)
			(void) pe_option_set(&pe_minimum_option_table, &m->problem.options, name, pe_option_number(name, &value));
	}
}

/* As many as there are slopes; of a query, bounds. */
static int
variables_of(const pe_request *request)
{
	int			variables = request->of_query ? request->minimum.set.lowers : request->attributes;

	if (variables == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("at least one slope must be given")));
	if (variables > PE_AFFINE_VARIABLES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many slopes"),
				 errdetail("A minimum has at most %d variables.", PE_AFFINE_VARIABLES)));
	return variables;
}

/* Points and steps of every method stay finite: whether they do must not be for the offsets to say. */
static void
check_size(const double *lower, const double *upper, int variables)
{
	for (int j = 0; j < variables; j++)
		if (lower[j] < -COORDINATE_MOST || upper[j] > COORDINATE_MOST)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the feasible set is too large"),
					 errdetail("No number of a point may exceed %g.", COORDINATE_MOST)));
}

static void
check_inequalities(const pe_request *request, int variables)
{
	if (request->minimum.set.inequalities > INEQUALITY_NUMBERS / (variables + 1))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many inequalities"),
				 errdetail("There may be %d of so many variables.", INEQUALITY_NUMBERS / (variables + 1))));
}

static void
make_set(pe_minimum_validated *m)
{
	pe_minimum_problem *problem = &m->problem;
	int			variables = variables_of(m->asked.request);
	double	   *lower = palloc(variables * sizeof(double));
	double	   *upper = palloc(variables * sizeof(double));
	double	   *centre = palloc(variables * sizeof(double));
	pe_programme_end end;

	check_inequalities(m->asked.request, variables);
	pe_polytope_make(&m->asked.request->minimum.set, variables, &m->given);
	pe_check_memory(pe_programme_memory(variables, 0, m->given.inequalities));
	end = pe_polytope_tighten(&m->given, lower, upper, centre);
	if (end != PE_PROGRAMME_SOLVED)
		pe_polytope_refuse(end);
	check_size(lower, upper, variables);
	/*
	 * the size of points decides what of the inequalities is rounding
	 * (affine/programme.c)
	 */
	problem->set = m->given;
	problem->set.lower = lower;
	problem->set.upper = upper;
	problem->lower = lower;
	problem->upper = upper;
	problem->centre = centre;
}

/* ------------------------------------------------------------------
 * Cost
 * ------------------------------------------------------------------
 */

static void
make_plan(pe_minimum_validated *m)
{
	pe_asked   *asked = &m->asked;
	pe_plan_status status;
	const char *wrong;

	pe_asked_resolve_cost(asked, false, false);
	status = pe_plan_of_minimum(&asked->ask, &m->problem, &asked->plan, &wrong);
	if (status == PE_PLAN_OPTION)
		refuse_option(&m->problem, wrong);
	pe_asked_check_plan(asked, status, pe_minimum_least_cost(&m->problem), PE_EPSILON_MAX);
	pe_minimum_check_memory(&m->problem, 0);
}

/* ------------------------------------------------------------------
 * The request
 * ------------------------------------------------------------------
 */

/* JSON has no infinite numbers. */
static void
append_numbers(StringInfo text, const double *number, int count)
{
	appendStringInfoChar(text, '[');
	for (int i = 0; i < count; i++)
		appendStringInfo(text, isinf(number[i]) ? "%s\"%s\"" : "%s%s", i > 0 ? ", " : "", pe_number_text(number[i]));
	appendStringInfoChar(text, ']');
}

static void
append_set(StringInfo text, const pe_polytope *set)
{
	appendStringInfoString(text, ", \"lower\": ");
	append_numbers(text, set->lower, set->variables);
	appendStringInfoString(text, ", \"upper\": ");
	append_numbers(text, set->upper, set->variables);
	appendStringInfoString(text, ", \"inequalities\": [");
	for (int k = 0; k < set->inequalities; k++)
	{
		if (k > 0)
			appendStringInfoString(text, ", ");
		append_numbers(text, set->inequality + (size_t) k * (set->variables + 1), set->variables + 1);
	}
	appendStringInfoChar(text, ']');
}

static void
append_options(StringInfo text, const pe_minimum_options *options)
{
	const char *name;
	const char *separator = "";
	double		value;

	appendStringInfoString(text, ", \"options\": {");
	for (int i = 0; (name = pe_option_at(&pe_minimum_option_table, options, i, &value)) != NULL; i++)
		if (!isnan(value))
		{
			appendStringInfo(text, "%s\"%s\": %s", separator, name, pe_number_text(value));
			separator = ", ";
		}
	appendStringInfoChar(text, '}');
}

static char *
canonical_text(const pe_minimum_validated *m)
{
	const pe_minimum_problem *problem = &m->problem;
	const pe_request *request = m->asked.request;
	StringInfoData text;

	pe_text_begin(&text, &m->asked, "minimum");
	if (!request->of_query)
	{
		pe_text_add_names(&text, "slopes", request->attribute, request->attributes);
		pe_text_add(&text, "offsets", request->minimum.offsets);
	}
	appendStringInfo(&text, ", \"max_change\": %s, \"change\": \"%s\"", pe_number_text(problem->max_change),
					 problem->all ? "all" : "one");
	append_set(&text, &m->given);
	append_options(&text, &problem->options);
	pe_text_end(&text, &m->asked, pe_minimum_method_name(problem->method));
	return text.data;
}

static void
fill_question(pe_minimum_validated *m)
{
	m->question.dataset = m->asked.dataset;
	m->question.columns = m->columns;
	m->question.count = m->asked.request->attributes;
	m->question.problem = &m->problem;
	m->question.plan = m->asked.plan;
	m->question.charge = &m->asked.charge;
	pe_asked_fill_charge(&m->asked, canonical_text(m), pe_minimum_method_name(m->problem.method),
						 m->problem.set.variables + 1);
}

pe_minimum_validated *
pe_minimum_validate(const pe_request *request, bool needs_budget)
{
	pe_minimum_validated *m = palloc0(sizeof(*m));

	pe_asked_open(&m->asked, request);
	pe_dataset_check_values(m->asked.dataset);
	m->problem.max_change = m->asked.dataset->max_change;
	m->problem.all = m->asked.dataset->change_all;
	m->problem.steepest = m->steepest;
	choose_method(m);
	pe_asked_choose_budget(&m->asked, needs_budget);
	(void) variables_of(request);
	load_columns(m);
	pe_dataset_check_committed(m->asked.dataset);
	read_options(m);
	make_set(m);
	make_plan(m);
	fill_question(m);
	return m;
}

/* ------------------------------------------------------------------
 * Afterwards
 * ------------------------------------------------------------------
 */

/* ", on average at most 0.13 above the minimum" */
static char *
expectation(const pe_minimum_validated *minimum)
{
	double		gap = pe_minimum_expected_gap(&minimum->problem, minimum->steepest);

	return isnan(gap) ? "" : psprintf(", on average at most %.3g above the minimum", gap);
}

/* Decided before rows are read. */
static const char *
points_of(const pe_minimum_validated *minimum)
{
	pe_lattice_plan plan;

	if (minimum->problem.method != PE_MINIMUM_EXPONENTIAL)
		return "";
	pe_minimum_plan(&minimum->problem, minimum->steepest, &plan);
	return plan.finite ? ", from a finite set of points" : "";
}

const char *
pe_minimum_paid(const pe_minimum_validated *minimum, const pe_charge_reply *reply)
{
	return psprintf("%s, method \"%s\"%s%s", pe_release_text(reply),
					pe_minimum_method_name(minimum->problem.method), points_of(minimum), expectation(minimum));
}

const double *
pe_minimum_values(const pe_minimum_validated *minimum, const pe_charge_reply *reply)
{
	double	   *value = palloc(reply->values * sizeof(double) + 1);

	if (reply->values != minimum->problem.set.variables + 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release " INT64_FORMAT " does not hold a point and a value", reply->release_id)));
	memcpy(value, reply->value, reply->values * sizeof(double));
	return value;
}

void
pe_minimum_row(const pe_minimum_validated *minimum, const double *value, int64 release, Datum *values, bool *nulls)
{
	int			variables = minimum->problem.set.variables;
	Datum	   *x = palloc(variables * sizeof(Datum));

	for (int j = 0; j < variables; j++)
		x[j] = Float8GetDatum(value[j]);
	values[0] = PointerGetDatum(construct_array(x, variables, FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
	values[1] = Float8GetDatum(value[variables]);
	values[2] = Int64GetDatum(release);
	nulls[2] = release == 0;
}

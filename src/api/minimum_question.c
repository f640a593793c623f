/*
 * minimum_question.c
 *	  What a minimum is asked for.  See minimum_question.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"

#include "accounting/mechanisms.h"
#include "accounting/zcdp.h"
#include "api/arguments.h"
#include "api/minimum_question.h"
#include "api/options.h"
#include "server/settings.h"
#include "server/values.h"

/* The largest number of a point. */
#define COORDINATE_MOST 0x1p900

/* Numbers of all inequalities: a charge and a release keep their text, which is below 1 MB. */
#define INEQUALITY_NUMBERS 32768

void
pe_minimum_request_init(pe_minimum_request *request, const char *function)
{
	memset(request, 0, sizeof(*request));
	request->function = function;
	request->epsilon = request->rho = request->delta = NAN;
}

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
	const pe_minimum_request *request = m->request;
	int			count = request->slopes;

	if (request->of_query)
		return;
	m->columns = pe_columns_load(m->dataset, request->slope, &count);
	for (int i = 0; i < count; i++)
	{
		check_slope(&m->columns[i]);
		m->steepest[i] = largest_of(&m->columns[i]);
	}
	if (strcmp(request->offsets, m->dataset->private_column) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" is not the private column of dataset \"%s\"", request->offsets, m->dataset->name),
				 errdetail("Offsets are its column \"%s\".", m->dataset->private_column)));
}

/* ------------------------------------------------------------------
 * Method, options and set
 * ------------------------------------------------------------------
 */

static void
choose_method(pe_minimum_validated *m)
{
	const char *name = m->request->method;

	if (name == NULL)
		m->problem.method = PE_MINIMUM_EXPONENTIAL;
	else if (!pe_minimum_method_named(name, &m->problem.method))
		pe_refuse_parameter("method", name, "exponential, laplace_data, laplace_solution, subgradient or subgradient_last");
}

static void
choose_budget(pe_minimum_validated *m)
{
	m->budget = pe_budget_choose(m->dataset, m->request->budget);
	m->problem.pure = pe_is_pure(m->budget->accounting);
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
	if (m->request->options == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(m->request->options))
		pe_refuse_parameter("options", "not an object", "a JSON object");
	iterator = JsonbIteratorInit(&m->request->options->root);
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

static void
check_options(pe_minimum_validated *m)
{
	const char *wrong = pe_minimum_defaults(&m->problem);

	if (wrong != NULL)
		refuse_option(&m->problem, wrong);
}

/* As many as there are slopes; of a query, bounds. */
static int
variables_of(const pe_minimum_request *request)
{
	int			variables = request->of_query ? request->set.lowers : request->slopes;

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
check_inequalities(const pe_minimum_request *request, int variables)
{
	if (request->set.inequalities > INEQUALITY_NUMBERS / (variables + 1))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many inequalities"),
				 errdetail("There may be %d of so many variables.", INEQUALITY_NUMBERS / (variables + 1))));
}

static void
make_set(pe_minimum_validated *m)
{
	pe_minimum_problem *problem = &m->problem;
	int			variables = variables_of(m->request);
	double	   *lower = palloc(variables * sizeof(double));
	double	   *upper = palloc(variables * sizeof(double));
	double	   *centre = palloc(variables * sizeof(double));
	pe_programme_end end;

	check_inequalities(m->request, variables);
	pe_polytope_make(&m->request->set, variables, &m->asked);
	pe_check_memory(pe_programme_memory(variables, 0, m->asked.inequalities));
	end = pe_polytope_tighten(&m->asked, lower, upper, centre);
	if (end != PE_PROGRAMME_SOLVED)
		pe_polytope_refuse(end);
	check_size(lower, upper, variables);
	/* how large points are tells what of the inequalities is rounding (affine/programme.c) */
	problem->set = m->asked;
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
resolve_rho(pe_minimum_validated *m)
{
	const pe_minimum_request *request = m->request;
	double		delta = !isnan(request->delta) ? request->delta : m->budget->delta / 2;

	pe_check_delta(delta);
	if (isnan(request->rho))
	{
		pe_check_epsilon(request->epsilon);
		m->problem.nano = pe_nano_rho_of_epsilon(request->epsilon, delta);
		m->epsilon = request->epsilon;
		return;
	}
	if (!(request->rho > 0) || isinf(request->rho))
		pe_refuse_parameter("rho", psprintf("%g", request->rho), "a finite number above 0");
	m->problem.nano = pe_nano_rho_down(request->rho);
	m->epsilon = pe_zcdp_epsilon(m->problem.nano * 1e-9, delta);
}

static void
resolve_pure(pe_minimum_validated *m)
{
	const pe_minimum_request *request = m->request;

	if (!isnan(request->delta) || !isnan(request->rho))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rho and delta do not go with pure accounting"),
				 errhint("Use epsilon.")));
	pe_check_epsilon(request->epsilon);
	m->problem.nano = pe_nano_rho_down(request->epsilon);
	m->epsilon = request->epsilon;
}

static void
resolve_cost(pe_minimum_validated *m)
{
	const pe_minimum_request *request = m->request;

	if (isnan(request->epsilon) == isnan(request->rho))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("exactly one of epsilon and rho must be given")));
	if (m->problem.pure)
		resolve_pure(m);
	else
		resolve_rho(m);
	if (m->problem.nano < Max(pe_minimum_least_cost(&m->problem), 1) || m->problem.nano > PE_EPSILON_MAX * 1e9)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cost asked for is out of range"),
				 errdetail("The smallest unit is 1e-9, and the method may have to divide it.")));
}

static pe_cost
cost_of(const pe_minimum_validated *m)
{
	return m->problem.pure ? (pe_cost) {.epsilon_nano = m->problem.nano} : (pe_cost) {.rho_nano = m->problem.nano};
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
append_rows(StringInfo text, const pe_minimum_request *request)
{
	if (request->of_query)
	{
		appendStringInfoString(text, ", \"rows\": \"of a query\"");
		return;
	}
	appendStringInfoString(text, ", \"slopes\": [");
	for (int i = 0; i < request->slopes; i++)
	{
		if (i > 0)
			appendStringInfoString(text, ", ");
		escape_json(text, request->slope[i]);
	}
	appendStringInfoString(text, "], \"offsets\": ");
	escape_json(text, request->offsets);
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

/*
 * Two requests with the same text are the same request, and the second is answered
 * from the first.  How the cost was written is not in it.  That the rows were those of a
 * query is: a release of other rows must not answer for the table.
 */
static char *
canonical_request(const pe_minimum_validated *m)
{
	const pe_minimum_problem *problem = &m->problem;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "{\"kind\": \"minimum\", \"dataset\": ");
	escape_json(&text, m->dataset->name);
	appendStringInfo(&text, ", \"version\": %d", m->dataset->version);
	append_rows(&text, m->request);
	appendStringInfo(&text, ", \"max_change\": %s, \"change\": \"%s\"", pe_number_text(problem->max_change), problem->all ? "all" : "one");
	append_set(&text, &m->asked);
	appendStringInfo(&text, ", \"method\": \"%s\"", pe_minimum_method_name(problem->method));
	append_options(&text, &problem->options);
	appendStringInfo(&text, ", \"accounting\": \"%s\", \"%s\": " INT64_FORMAT "}", problem->pure ? "pure" : "zcdp",
					 problem->pure ? "epsilon" : "rho", problem->nano);
	return text.data;
}

static void
fill_question(pe_minimum_validated *m)
{
	const pe_minimum_request *request = m->request;
	pe_charge_request *charge = &m->question.charge;
	pe_cost		cost = cost_of(m);

	m->question.dataset = m->dataset;
	m->question.columns = m->columns;
	m->question.count = request->slopes;
	m->question.problem = &m->problem;
	charge->dataset_id = m->dataset->id;
	charge->version = m->dataset->version;
	charge->budget_id = m->budget->id;
	charge->role = GetUserNameFromId(GetUserId(), false);
	charge->function = request->function;
	charge->rho = cost.rho_nano;
	charge->delta = cost.delta_atto;
	charge->epsilon = cost.epsilon_nano;
	/* its range is bounded, whatever it draws from (minimum_exponential.c) */
	if (m->problem.method == PE_MINIMUM_EXPONENTIAL && cost.epsilon_nano > 0)
		charge->as_rho = pe_nano_rho_of_range(cost.epsilon_nano);
	charge->fresh = request->fresh;
	charge->request = canonical_request(m);
	charge->attributes = request->slopes;
	charge->attribute = request->slope;
	charge->method = pe_minimum_method_name(m->problem.method);
	charge->queries = m->problem.set.variables + 1;
	charge->sensitivity = "0";
}

pe_minimum_validated *
pe_minimum_validate(const pe_minimum_request *request)
{
	pe_minimum_validated *m = palloc0(sizeof(*m));

	m->request = request;
	m->dataset = pe_dataset_load(request->dataset);
	pe_dataset_check_values(m->dataset);
	m->problem.max_change = m->dataset->max_change;
	m->problem.all = m->dataset->change_all;
	m->problem.steepest = m->steepest;
	choose_method(m);
	choose_budget(m);
	(void) variables_of(request);
	load_columns(m);
	pe_dataset_check_committed(m->dataset);
	read_options(m);
	make_set(m);
	check_options(m);
	resolve_cost(m);
	pe_minimum_check_memory(&m->problem, 0);
	fill_question(m);
	return m;
}

/* ------------------------------------------------------------------
 * Afterwards
 * ------------------------------------------------------------------
 */

static pe_price
price_of(const pe_minimum_validated *m)
{
	return (pe_price) {m->dataset, m->budget, &m->question.charge, m->epsilon};
}

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

void
pe_minimum_tell(const pe_minimum_validated *minimum, const pe_charge_reply *reply)
{
	pe_price	price = price_of(minimum);

	pe_price_tell(&price, reply, psprintf("release " INT64_FORMAT ", method \"%s\"%s%s", reply->release_id,
										  pe_minimum_method_name(minimum->problem.method), points_of(minimum), expectation(minimum)));
}

void
pe_minimum_refuse(const pe_minimum_validated *minimum, const pe_charge_reply *reply)
{
	pe_price	price = price_of(minimum);

	pe_price_refuse(&price, reply, "");
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
}

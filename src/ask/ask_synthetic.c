/*
 * ask_synthetic.c
 *	  A request for the tables that synthetic rows are drawn from.  See ask_synthetic.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "ask/answers.h"
#include "ask/ask_blocks.h"
#include "ask/ask_counts.h"
#include "ask/ask_predicate.h"
#include "ask/ask_synthetic.h"
#include "ask/comparisons.h"
#include "door/door.h"
#include "server/aggregate_options.h"
#include "server/arguments.h"
#include "server/settings.h"

/* ------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------
 */

static int
attribute_of(const pe_synthetic_call *c, const char *option, const char *name)
{
	const pe_request *request = &c->call.request;

	for (int a = 0; a < request->attributes; a++)
		if (strcmp(request->attribute[a], name) == 0)
			return a;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("option \"%s\" names \"%s\", which is none of the attributes", option, name)));
	return -1;
}

/* An array of so many elements; 22023 for anything else.  length 0: any. */
static JsonbContainer *
array_of(const char *option, const JsonbValue *value, int length, const char *expected)
{
	JsonbContainer *array = value->type == jbvBinary ? value->val.binary.data : NULL;

	if (array == NULL || !JsonContainerIsArray(array) || (length > 0 && JsonContainerSize(array) != length))
		pe_refuse_option(option, expected);
	return array;
}

static void
take_shares(pe_synthetic_call *c, const JsonbValue *value)
{
	JsonbContainer *array = array_of("shares", value, PE_TREE_PARTS, "an array of three numbers");

	for (int p = 0; p < PE_TREE_PARTS; p++)
		c->problem.share[p] = pe_option_number("shares", getIthJsonbValueFromContainer(array, p));
}

static void
take_edges(pe_synthetic_call *c, const JsonbValue *value)
{
	static const char *const expected = "an array of pairs of attributes, one pair less than there are attributes";
	JsonbContainer *array = array_of("edges", value, 0, expected);
	int			edges = c->call.request.attributes - 1;

	if (JsonContainerSize(array) != edges)
		pe_refuse_option("edges", expected);
	c->problem.given = true;
	c->problem.share[PE_TREE_EDGES] = 0;
	for (int e = 0; e < edges; e++)
	{
		JsonbContainer *pair = array_of("edges", getIthJsonbValueFromContainer(array, e), 2, expected);

		int			end[2];

		for (int i = 0; i < 2; i++)
			end[i] = attribute_of(c, "edges", pe_option_string("edges", getIthJsonbValueFromContainer(pair, i)));
		c->problem.edge[e][0] = Min(end[0], end[1]);
		c->problem.edge[e][1] = Max(end[0], end[1]);
	}
}

static void
refuse_others(const Jsonb *options)
{
	static const char *const ours[] = {"shares", "edges", "root"};
	Jsonb	   *others = pe_options_without(options, ours, lengthof(ours));

	if (JB_ROOT_COUNT(others) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"%s\" does not take these options: %s", PE_METHOD_TREE,
						JsonbToCString(NULL, &others->root, VARSIZE(others))),
				 errhint("It takes shares, edges and root.")));
}

static void
take_options(pe_synthetic_call *c)
{
	const Jsonb *options = c->call.request.options;
	JsonbValue	value;

	for (int p = 0; p < PE_TREE_PARTS; p++)
		c->problem.share[p] = 1;
	if (options == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options must be a JSON object")));
	refuse_others(options);
	if (pe_option_find(options, "edges", &value))
		take_edges(c, &value);
	if (pe_option_find(options, "shares", &value))
		take_shares(c, &value);
	if (pe_option_find(options, "root", &value))
		c->root = attribute_of(c, "root", pe_option_string("root", &value));
}

/* ------------------------------------------------------------------
 * What is asked
 * ------------------------------------------------------------------
 */

static void
find_columns(pe_synthetic_call *c)
{
	pe_dataset *dataset = c->asked.dataset;
	pe_request *request = &c->call.request;
	int			count = request->attributes;

	pe_attributes_as_given(dataset, request->attribute, request->attributes);
	c->columns = pe_columns_load(dataset, request->attribute, &count);
	c->columns = repalloc(c->columns, PE_MAX_ATTRIBUTES * sizeof(*c->columns));
	if (request->predicate != NULL)
		c->selection = pe_predicate_argument(dataset, request->predicate, c->columns, &count);
	pe_refuse_compared(c->columns, count, "a synthetic table");
	pe_dataset_check_committed(dataset);
	c->domain = pe_columns_domain(c->columns, count, count - request->attributes);
	if (c->selection == NULL)
		return;
	pe_check_memory(pe_predicate_memory(c->selection, c->domain));
	pe_predicate_attributes(c->selection, c->domain, c->possible);
}

static void
find_tables(pe_synthetic_call *c)
{
	c->problem.attributes = c->call.request.attributes;
	for (int a = 0; a < c->problem.attributes; a++)
		c->problem.cells[a] = c->columns[a].cells;
	if (!pe_tree_tables(&c->problem, &c->tables))
		pe_counts_refuse_tables();
	pe_counts_check_tables(c->asked.dataset, &c->tables, pe_tree_memory(&c->problem, &c->tables));
}

static void
make_plan(pe_synthetic_call *c)
{
	pe_asked   *asked = &c->asked;
	pe_plan_rules rules = pe_door_rules(asked->dataset);
	pe_plan_status status;
	const char *what;

	pe_asked_resolve_cost(asked, false, false);
	status = pe_plan_of_tree(&asked->ask, &rules, &c->problem, &asked->plan, &what);
	if (status == PE_PLAN_REFUSED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("these options make no sense"),
				 errdetail("%s.", what)));
	pe_asked_check_plan(asked, status, 1, asked->ask.accounting == PE_PURE ? PE_EPSILON_MAX : 9e9);
}

static const char *
canonical_predicate(const pe_synthetic_call *c)
{
	return c->selection != NULL ? c->selection->canonical : NULL;
}

/* Shares as they divide the cost, and edges, each with the first attribute first. */
static char *
canonical_text(const pe_synthetic_call *c)
{
	const pe_tree_problem *problem = &c->problem;
	int64_t		part[PE_TREE_PARTS];
	StringInfoData text;

	(void) pe_tree_split(problem, part);
	pe_text_begin(&text, &c->asked, PE_SYNTHETIC);
	pe_text_add_names(&text, "attributes", c->call.request.attribute, problem->attributes);
	pe_text_add(&text, "predicate", canonical_predicate(c));
	appendStringInfo(&text, ", \"shares\": [" INT64_FORMAT ", " INT64_FORMAT ", " INT64_FORMAT "], \"edges\": ",
					 part[PE_TREE_ONES], part[PE_TREE_EDGES], part[PE_TREE_PAIRS]);
	if (!problem->given)
		appendStringInfoString(&text, "null");
	for (int e = 0; problem->given && e < problem->attributes - 1; e++)
		appendStringInfo(&text, "%s[%d, %d]%s", e == 0 ? "[" : ", ", problem->edge[e][0], problem->edge[e][1],
						 e == problem->attributes - 2 ? "]" : "");
	if (problem->given && problem->attributes == 1)
		appendStringInfoString(&text, "[]");
	pe_text_end(&text, &c->asked, PE_METHOD_TREE);
	return text.data;
}

static void
validate_tree(pe_call *call)
{
	pe_synthetic_call *c = (pe_synthetic_call *) call;

	call->asked = &c->asked;
	pe_asked_open(&c->asked, &call->request);
	pe_dataset_check_rows(c->asked.dataset);
	find_columns(c);
	take_options(c);
	find_tables(c);
	pe_asked_choose_budget(&c->asked, !call->quote);
	make_plan(c);
	pe_asked_fill_charge(&c->asked, canonical_text(c), PE_METHOD_TREE, 2 * c->problem.attributes - 1);
	pe_asked_choose_blocks(&c->asked, c->columns, c->domain, c->selection, PG_UINT32_MAX);
	c->asked.charge.predicate = canonical_predicate(c);
}

static void
ask_for_tree(pe_call *call)
{
	pe_synthetic_call *c = (pe_synthetic_call *) call;
	pe_question question = {
		.dataset = c->asked.dataset, .columns = c->columns, .domain = c->domain, .predicate = c->selection,
		.kind = PE_MEASURE_TREE, .tables = {NULL, &c->tables}, .plan = c->asked.plan, .charge = &c->asked.charge
	};

	pe_door_answer(&question, &call->reply);
}

static const pe_ask_kind ask_tree = {.validate = validate_tree, .door = ask_for_tree};

/* ------------------------------------------------------------------
 * Method full
 * ------------------------------------------------------------------
 */

static void
check_product(const pe_aggregation *g)
{
	double		cells = 1;

	for (int a = 0; a < g->groups; a++)
		cells *= g->columns[a].cells;
	if (cells > PE_JOINT_CELLS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("method \"%s\" serves at most %d cells of all attributes together, and these have %.0f",
						PE_METHOD_FULL, PE_JOINT_CELLS, cells),
				 errhint("Use method => '%s', fewer attributes, or coarser bins.", PE_METHOD_TREE)));
	pe_check_memory((size_t) cells * sizeof(double));
}

static void
validate_full(pe_call *call)
{
	pe_synthetic_call *c = (pe_synthetic_call *) call;
	pe_request *request = &call->request;

	if (request->options != NULL && (!JB_ROOT_IS_OBJECT(request->options) || JB_ROOT_COUNT(request->options) > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"%s\" has no options", PE_METHOD_FULL),
				 errhint("Those of method \"%s\" are shares, edges and root.", PE_METHOD_TREE)));
	request->options = NULL;
	request->kind = PE_ASK_COUNTS;
	request->workload = request->attributes > 1 ? "marginals(2)" : "identity";
	request->method = "optimal";
	c->counts = pe_aggregation_validate(request, !call->quote);
	call->asked = &c->counts->asked;
	if (pe_asked_rehearses(call->asked))
		pe_refuse_rehearsal("synthetic rows of method \"" PE_METHOD_FULL "\" are",
							"Rehearse method => '" PE_METHOD_TREE "'.");
	check_product(c->counts);
	c->columns = c->counts->columns;
	c->domain = c->counts->domain;
}

static void
resolve_full(pe_call *call)
{
	pe_aggregation *g = ((pe_synthetic_call *) call)->counts;

	pe_aggregation_measure(g);
	pe_aggregation_price(g);
}

static void
ask_for_full(pe_call *call)
{
	pe_door_answer(&((pe_synthetic_call *) call)->counts->question, &call->reply);
}

static const pe_ask_kind ask_full = {.validate = validate_full, .resolve = resolve_full, .door = ask_for_full};

/* The root of the mean variance of the tables of so many attributes. */
static double
stderr_of_full(const pe_aggregation *g, int attributes)
{
	pe_workload workload = {0};
	const double *variance;
	double		sum = 0;

	pe_parse_columns_workload(g->asked.dataset, g->columns, g->domain, psprintf("marginals(%d)", attributes),
							  &workload);
	variance = pe_unit_variances(&g->space[0].measured, &workload);
	for (int32 q = 0; q < workload.queries; q++)
		sum += variance[q];
	return pe_noise_stderr(pe_plan_noise(g->asked.plan)) * sqrt(sum / workload.queries);
}

double
pe_synthetic_stderr(const pe_synthetic_call *c, int attributes)
{
	if (attributes > c->call.request.attributes)
		return 0;
	return c->full ? stderr_of_full(c->counts, attributes)
		: pe_tree_stderr(&c->problem, attributes == 1 ? PE_TREE_ONES : PE_TREE_PAIRS);
}

int64
pe_synthetic_cells(const pe_synthetic_call *c)
{
	return c->full ? c->counts->space[0].workload.queries : c->tables.first[c->tables.tables];
}

void
pe_synthetic_prepare(pe_synthetic_call *c)
{
	c->call.kind = c->full ? &ask_full : &ask_tree;
	pe_ask_prepare(&c->call);
}

void
pe_synthetic_answer(pe_synthetic_call *c)
{
	pe_ask(&c->call);
}

/*
 * synthesize.c
 *	  dp.synthesize: rows from tables that a request measures (ask/ask_synthetic.h), or that were paid for, free.
 *
 * Of a release of counts, tables of one attribute and of two come out of the release as dp.answer gives them.  Where
 * the release has the whole product, and its mean cell is above its noise, rows are drawn from it; else from one joint
 * table that has the tables of pairs, or from a tree of pairs.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "ask/ask_predicate.h"
#include "ask/ask_sizes.h"
#include "ask/ask_synthetic.h"
#include "ask/stored_release.h"
#include "ask/suppress.h"
#include "ask/tree_release.h"
#include "blocks/blocks.h"
#include "read/synthetic_example.h"
#include "read/synthetic_table.h"
#include "server/access.h"
#include "server/compat.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "server/settings.h"
#include "strategy/solve.h"

PG_FUNCTION_INFO_V1(pe_sql_synthesize_release);
PG_FUNCTION_INFO_V1(pe_sql_synthesize);
PG_FUNCTION_INFO_V1(pe_sql_quote_synthetic);

enum
{
	ARG_RELEASE, ARG_TARGET, ARG_ROWS, ARG_REPLACE, ARG_UNIT, ARG_ROWS_PER_UNIT
};

/* ------------------------------------------------------------------
 * Tables of a release
 * ------------------------------------------------------------------
 */

/* "identity(age) * identity(sex)" */
static char *
table_text(const pe_release *r, int attributes, const int *attribute)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < attributes; i++)
		appendStringInfo(&text, "%sidentity(%s)", i > 0 ? " * " : "",
						 quote_identifier(r->columns[attribute[i]].name));
	return text.data;
}

/* Whether a release determines a workload. */
static bool
determines(const pe_release *r, const char *text)
{
	pe_workload workload = {0};
	pe_reconstruction reconstruction;
	bool		determined;

	pe_parse_columns_workload(r->dataset, r->columns, r->domain, text, &workload);
	if (!pe_reconstruction_init(&r->measured, &workload, &reconstruction))
		return false;
	determined = pe_reconstruction_undetermined(&reconstruction) < 0;
	pe_reconstruction_free(&reconstruction);
	pe_workload_free(&workload);
	return determined;
}

/* A group that is not shown to everybody has nobody.  Errors that are not known count as none. */
static double
known(double number)
{
	return isnan(number) ? 0 : number;
}

/*
 * The estimates of a table, and the standard deviation of each, in memory of pe_alloc; the mean of variances.  What is
 * computed on the way goes.
 */
static double
read_table(const pe_release *r, const char *text, double **table, double **deviation)
{
	MemoryContext own = AllocSetContextCreate(CurrentMemoryContext, "a table of a release", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(own);
	pe_release	asked = *r;
	pe_min_count rule = pe_release_rule(r);
	double		variance = 0;
	int32		cells;

	pe_release_reply(&asked, text);
	pe_suppress_answers_silently(&rule, &asked.answers);
	MemoryContextSwitchTo(old);
	cells = asked.answers.queries;
	*table = pe_alloc(cells, sizeof(double));
	*deviation = pe_alloc(cells, sizeof(double));
	for (int32 i = 0; i < cells; i++)
	{
		(*table)[i] = known(asked.answers.estimate[i]);
		(*deviation)[i] = known(asked.answers.stderr_[i]);
		variance += (*deviation)[i] * (*deviation)[i] / cells;
	}
	MemoryContextDelete(own);
	return variance;
}

/* ------------------------------------------------------------------
 * Models
 * ------------------------------------------------------------------
 */

static void
begin_model(const pe_release *r, bool *const *possible, pe_synthetic *model)
{
	double	   *one[PE_MAX_ATTRIBUTES];
	double	   *deviation;

	model->attributes = r->domain->attributes;
	for (int a = 0; a < model->attributes; a++)
	{
		model->possible[a] = possible[a];
		model->variance[a] = read_table(r, table_text(r, 1, &a), &one[a], &deviation);
		pe_classing_init(&model->classing[a], r->columns[a].cells, one[a], PE_DROWNED * sqrt(model->variance[a]));
		pe_free(deviation);
	}
	pe_synthetic_fit(model, one);
	for (int a = 0; a < model->attributes; a++)
		pe_free(one[a]);
}

/* The fitted table of a pair by classes; how much it says; NULL and NaN where the release does not have it. */
static double *
read_pair(const pe_release *r, const pe_synthetic *model, int first, int second, pe_stream *stream, double *weight)
{
	const int	pair[2] = {first, second};
	char	   *text = table_text(r, 2, pair);
	const pe_classing *rows = &model->classing[first];
	const pe_classing *columns = &model->classing[second];
	size_t		classes = (size_t) rows->classes * columns->classes;
	size_t		cells = (size_t) rows->cells * columns->cells;
	double	   *table;
	double	   *deviation;
	double	   *by_class;
	double	   *noise;
	double		variance;

	*weight = NAN;
	if (cells > PE_PRODUCT_CELLS || !determines(r, text))
		return NULL;
	pe_check_memory(cells * 8 * sizeof(double));
	variance = read_table(r, text, &table, &deviation);
	by_class = pe_alloc(classes, sizeof(double));
	noise = pe_alloc(classes, sizeof(double));
	pe_classing_sum_pair(rows, columns, table, by_class);
	for (size_t i = 0; i < cells; i++)
		deviation[i] *= deviation[i];
	pe_classing_sum_pair(rows, columns, deviation, noise);
	for (size_t i = 0; i < classes; i++)
		noise[i] = sqrt(noise[i]);
	pe_synthetic_fit_pair(model, first, second, by_class, variance);
	*weight = pe_synthetic_weight(model, first, second, by_class, noise, stream);
	pe_free(table);
	pe_free(deviation);
	pe_free(noise);
	return by_class;
}

static size_t
pairs_memory(const pe_synthetic *model)
{
	size_t		cells = 0;

	for (int a = 0; a < model->attributes; a++)
		for (int b = a + 1; b < model->attributes; b++)
			cells += (size_t) model->classing[a].classes * model->classing[b].classes;
	return cells * sizeof(double);
}

/*
 * One joint table, where more pairs are known than a tree has.  Attributes of a pair that says less than noise would
 * are independent: else they had in common what others make of them.
 */
static void
join_pairs(pe_synthetic *model, double *const *pair, const double *weight)
{
	int			n = model->attributes;
	int			known = 0;

	for (int i = 0; i < n * n; i++)
		known += pair[i] != NULL;
	if (known < n)
		return;
	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++)
			if (pair[a * n + b] != NULL && !(weight[a * n + b] > 0))
				pe_synthetic_part_pair(model, a, b, pair[a * n + b]);
	pe_check_memory((size_t) pe_synthetic_joint_cells(model) * sizeof(double));
	pe_synthetic_join(model, pair);
}

static void
make_parents(pe_synthetic *model, double *const *pair, const double *weight)
{
	int			n = model->attributes;

	pe_spanning_tree(n, weight, 0, model->parent, model->order);
	for (int a = 0; a < n; a++)
	{
		int			first = Min(a, model->parent[a]);
		int			second = Max(a, model->parent[a]);

		if (first >= 0)
			model->table[a] = pe_pair_by_parent(model, first, second, pair[first * n + second], model->parent[a]);
	}
}

static void
make_pairs(const pe_release *r, pe_synthetic_table *t)
{
	pe_synthetic *model = &t->model;
	int			n;
	double	  **pair;
	double	   *weight;

	begin_model(r, t->possible, model);
	n = model->attributes;
	pair = pe_alloc((size_t) n * n, sizeof(*pair));
	weight = pe_alloc((size_t) n * n, sizeof(double));
	pe_check_memory(pairs_memory(model));
	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++)
			pair[a * n + b] = read_pair(r, model, a, b, &t->stream, &weight[a * n + b]);
	join_pairs(model, pair, weight);
	if (model->joint == NULL)
		make_parents(model, pair, weight);
	for (int i = 0; i < n * n; i++)
		pe_free(pair[i]);
	pe_free(pair);
	pe_free(weight);
}

/* False if the whole product is not there, or drowned. */
static bool
make_whole(const pe_release *r, pe_synthetic_table *t)
{
	pe_synthetic *model = &t->model;
	double	   *table;
	double	   *deviation;

	if (r->domain->attributes < 2 || !pe_domain_has_numbers(r->domain) || !determines(r, "identity"))
		return false;
	model->attributes = 1;
	model->possible[0] = r->possible;
	model->variance[0] = read_table(r, "identity", &table, &deviation);
	pe_classing_init(&model->classing[0], r->domain->cells, table, -INFINITY);
	pe_synthetic_fit(model, &table);
	pe_free(table);
	pe_free(deviation);
	t->whole = model->total >= sqrt(model->variance[0]) * r->domain->cells;
	if (!t->whole)
	{
		pe_synthetic_free(model);
		*model = (pe_synthetic) {0};
	}
	return t->whole;
}

/* ------------------------------------------------------------------
 * Of a release
 * ------------------------------------------------------------------
 */

/* The arguments of both functions, by their places. */
static pe_synthetic_table *
begin_table(FunctionCallInfo fcinfo, int target, int rows)
{
	pe_synthetic_table *t = palloc0(sizeof(*t));

	if (PG_ARGISNULL(target))
		pe_refuse_null("target");
	t->rows = PG_ARGISNULL(rows) ? -1 : PG_GETARG_INT64(rows);
	if (!PG_ARGISNULL(rows))
		pe_synthetic_check_rows(t->rows);
	t->target.function = "dp.synthesize";
	PreventCommandIfReadOnly("dp.synthesize()");
	return t;
}

/* ---- Units ---- */

/* The table of dp.rows_per_unit, for units that the dataset cuts, without what is not shown to others. */
static void
take_sizes(pe_synthetic_table *t, const pe_sizes *sizes)
{
	pe_min_count rule = pe_suppress_rule_of_published(t->dataset);
	double		sum = 0;

	t->sizes = sizes->release;
	t->most = Min(sizes->most, t->dataset->max_rows);
	t->units = palloc0(t->most * sizeof(double));
	for (int i = 0; i < sizes->most; i++)
	{
		double		least = sizes->units[i] - (PE_TREE_HALF * sizes->stderr_ + 1);

		if (sizes->units[i] > 0 && (rule.units == 0 || least >= rule.units))
			t->units[Min(i + 1, t->most) - 1] += sizes->units[i];
	}
	for (int i = 0; i < t->most; i++)
		sum += t->units[i];
	if (!(sum > 0) || !pe_sizes_are_told(sizes))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("release " INT64_FORMAT " is too noisy to say how many rows a unit has", sizes->release),
				 errhint("Give a public number: rows_per_unit => 3.")));
}

/* How many rows synthetic units have: a public number, or what dp.rows_per_unit has measured. */
static void
find_units(FunctionCallInfo fcinfo, int unit, int rows_per_unit, pe_synthetic_table *t)
{
	bool		wanted = !PG_ARGISNULL(unit) && PG_GETARG_BOOL(unit);
	pe_dataset	own = *t->dataset;
	pe_sizes	sizes;
	bool		found;

	if (!wanted && !PG_ARGISNULL(rows_per_unit))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows_per_unit is for synthetic units"),
				 errhint("Give unit => true too.")));
	if (!wanted)
		return;
	if (t->dataset->unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dataset \"%s\" has no units of several rows", t->dataset->name),
				 errdetail("Each row of it is a unit."),
				 errhint("Leave unit out.")));
	if (!PG_ARGISNULL(rows_per_unit))
	{
		t->most = PG_GETARG_INT32(rows_per_unit);
		if (t->most < 1 || t->most > t->dataset->max_rows)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("rows_per_unit is %d", t->most),
					 errhint("Give a number from 1 to %d, as many rows of a unit as count.", t->dataset->max_rows)));
		t->units = palloc0(t->most * sizeof(double));
		t->units[t->most - 1] = 1;
		return;
	}
	PE_UNDONE();
	found = pe_sizes_find(&own, &sizes);
	PE_END_UNDONE();
	if (!found)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no release that you may read says how many rows a unit of dataset \"%s\" has",
						t->dataset->name),
				 errhint("Give a public number, rows_per_unit => %d, or ask dp.rows_per_unit('%s', ...) first.",
						 Min(2, t->dataset->max_rows), t->dataset->name)));
	take_sizes(t, &sizes);
}

static void
find_target(FunctionCallInfo fcinfo, int target, int replace, pe_synthetic_table *t)
{
	pe_target_find(&t->target, PG_GETARG_TEXT_PP(target), !PG_ARGISNULL(replace) && PG_GETARG_BOOL(replace));
}

/* From the numbers of a tree.  A table is for others, so that small groups are hidden in it for the owner too. */
static void
take_tree(pe_synthetic_table *t, const int64 *value, int64 values, int root)
{
	pe_min_count rule = pe_suppress_rule_of_published(t->dataset);
	int32		cells[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < t->domain->attributes; a++)
		cells[a] = t->column[a].cells;
	pe_stream_init(&t->stream, value, values * sizeof(int64));
	if (!pe_tree_model(t->domain->attributes, cells, value, values, root, (double) rule.rows * rule.units,
					   t->possible, &t->model))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release " INT64_FORMAT " does not hold the tables of a tree", t->release)));
}

/* What the predicate of a release leaves. */
static void
take_predicate(const pe_release *r, pe_synthetic_table *t)
{
	int			count = r->domain->attributes;
	pe_column  *all = palloc0(PE_MAX_ATTRIBUTES * sizeof(*all));

	if (r->predicate_text == NULL)
		return;
	memcpy(all, r->columns, count * sizeof(*all));
	t->predicate = pe_predicate_argument(r->dataset, r->predicate_text, all, &count);
	pe_predicate_attributes(t->predicate, pe_columns_domain(all, count, count - r->domain->attributes), t->possible);
}

/* The model of the release whose number is there. */
static void
take_release(pe_synthetic_table *t)
{
	pe_release *r = palloc0(sizeof(*r));
	bool		is_tree;

	r->id = t->release;
	r->published = true;
	PE_UNDONE();
	pe_release_read_row(r);
	is_tree = pe_tree_release_is(r);
	if (is_tree)
		pe_tree_release_read(r);
	else
	{
		pe_release_read(r);
		pe_release_read_values(r);
	}
	take_predicate(r, t);
	PE_END_UNDONE();
	if (r->domain->attributes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " has no attribute that rows could have", t->release),
				 errhint("Take a release with groups.")));
	t->dataset = r->dataset;
	t->version = r->version;
	t->column = r->columns;
	t->domain = r->domain;
	pe_stream_init(&t->stream, r->value, r->values * sizeof(int64));
	if (is_tree)
		take_tree(t, r->value, r->values, 0);
	else if (!make_whole(r, t))
		make_pairs(r, t);
}

Datum
pe_sql_synthesize_release(PG_FUNCTION_ARGS)
{
	pe_synthetic_table *t;

	if (PG_ARGISNULL(ARG_RELEASE))
		pe_refuse_null("release");
	t = begin_table(fcinfo, ARG_TARGET, ARG_ROWS);
	t->release = PG_GETARG_INT64(ARG_RELEASE);
	take_release(t);
	find_units(fcinfo, ARG_UNIT, ARG_ROWS_PER_UNIT, t);
	find_target(fcinfo, ARG_TARGET, ARG_REPLACE, t);
	pe_synthetic_clear(t);
	pe_synthetic_make_table(t);
	pe_synthetic_return(fcinfo, t);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * Of a dataset
 * ------------------------------------------------------------------
 */

/* The arguments of dp.synthesize(dataset), and of its quote. */
enum
{
	ASK_DATASET, ASK_ATTRIBUTES, ASK_TARGET, ASK_EPSILON, ASK_RHO, ASK_DELTA, ASK_ROWS, ASK_PREDICATE, ASK_METHOD,
	ASK_OPTIONS, ASK_FRESH, ASK_BUDGET, ASK_REPLACE, ASK_UNIT, ASK_ROWS_PER_UNIT
};

enum
{
	QUOTE_DATASET, QUOTE_ATTRIBUTES, QUOTE_EPSILON, QUOTE_RHO, QUOTE_DELTA, QUOTE_PREDICATE, QUOTE_METHOD,
	QUOTE_OPTIONS, QUOTE_BUDGET, QUOTE_EXAMPLE
};

static void
read_method(const char *method, pe_synthetic_call *c)
{
	c->full = strcmp(method, PE_METHOD_FULL) == 0;
	if (!c->full && strcmp(method, PE_METHOD_TREE) != 0)
		pe_refuse_parameter("method", method, "\"" PE_METHOD_TREE "\" or \"" PE_METHOD_FULL "\"");
}

/* Both have the dataset and its attributes first. */
static void
read_attributes(FunctionCallInfo fcinfo, pe_request *request)
{
	pe_request_init(request, PE_ASK_TREE, "dp.synthesize");
	request->dataset = pe_text_argument(fcinfo, ASK_DATASET, "dataset");
	request->attribute = pe_names_argument(fcinfo, ASK_ATTRIBUTES, "attributes", "an attribute", &request->attributes);
	pe_check_attributes(request->attributes);
	if (request->attributes == 0)
		pe_refuse_parameter("attributes", "{}", "at least one attribute");
}

static void
read_request(FunctionCallInfo fcinfo, pe_synthetic_call *c)
{
	pe_request *request = &c->call.request;

	read_attributes(fcinfo, request);
	request->epsilon = pe_optional_float(fcinfo, ASK_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ASK_RHO, "rho");
	request->delta = pe_optional_float(fcinfo, ASK_DELTA, "delta");
	request->predicate = pe_optional_text(fcinfo, ASK_PREDICATE);
	read_method(pe_text_argument(fcinfo, ASK_METHOD, "method"), c);
	request->options = PG_ARGISNULL(ASK_OPTIONS) ? NULL : PG_GETARG_JSONB_P(ASK_OPTIONS);
	request->fresh = !PG_ARGISNULL(ASK_FRESH) && PG_GETARG_BOOL(ASK_FRESH);
	request->budget = pe_optional_name(fcinfo, ASK_BUDGET);
}

/* The table's columns have the types of the attributes, by their names. */
static void
check_types(const pe_column *column, int attributes)
{
	for (int a = 0; a < attributes; a++)
	{
		HeapTuple	type = SearchSysCache1(TYPEOID, ObjectIdGetDatum(column[a].type));
		Oid			schema;

		if (!HeapTupleIsValid(type))
			elog(ERROR, "cache lookup failed for type %u", column[a].type);
		schema = ((Form_pg_type) GETSTRUCT(type))->typnamespace;
		ReleaseSysCache(type);
		if (!pe_schema_is_usable(schema, GetUserId()))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for schema %s", get_namespace_name(schema)),
					 errdetail("Column \"%s\" would have type %s.", column[a].name,
							   format_type_be_qualified(column[a].type)),
					 errhint("Let the owner grant USAGE on the schema, or leave the attribute out.")));
	}
}

/* What can fail for the table fails before the charge. */
Datum
pe_sql_synthesize(PG_FUNCTION_ARGS)
{
	pe_synthetic_call *c = palloc0(sizeof(*c));
	pe_synthetic_table *t = begin_table(fcinfo, ASK_TARGET, ASK_ROWS);

	c->call.fcinfo = fcinfo;
	read_request(fcinfo, c);
	pe_synthetic_prepare(c);
	t->dataset = c->call.asked->dataset;
	find_units(fcinfo, ASK_UNIT, ASK_ROWS_PER_UNIT, t);
	find_target(fcinfo, ASK_TARGET, ASK_REPLACE, t);
	check_types(c->columns, c->call.request.attributes);
	t->column = c->columns;
	t->domain = c->domain;
	pe_synthetic_clear(t);
	pe_synthetic_answer(c);
	t->release = c->call.reply.release_id;
	if (c->full)
		take_release(t);
	else
	{
		t->version = c->asked.version;
		t->predicate = c->selection;
		memcpy(t->possible, c->possible, sizeof(t->possible));
		take_tree(t, c->call.reply.value, c->call.reply.values, c->root);
	}
	pe_synthetic_make_table(t);
	pe_synthetic_return(fcinfo, t);
	return (Datum) 0;
}

typedef struct quote
{
	pe_synthetic_call call;
	double		apart;			/* of the example; NaN: none */
} quote;

static void
make_quote(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_synthetic_call *c = &((const quote *) argument)->call;
	const pe_asked *asked = c->call.asked;
	pe_amount	amount = pe_cost_amount(pe_plan_cost(asked->plan));
	double		left = 0;

	values[0] = Float8GetDatum(amount.rho_nano / 1e9);
	nulls[0] = asked->ask.accounting == PE_PURE;
	values[1] = Float8GetDatum(pe_plan_epsilon(asked->plan));
	values[2] = Float8GetDatum(asked->ask.delta);
	values[3] = Float8GetDatum(pe_synthetic_stderr(c, 1));
	values[4] = Float8GetDatum(pe_synthetic_stderr(c, 2));
	nulls[4] = c->call.request.attributes == 1;
	values[5] = Int64GetDatum(pe_synthetic_cells(c));
	values[6] = BoolGetDatum(pe_asked_fits(asked, c->call.replay, &left));
	values[7] = Float8GetDatum(left);
	nulls[7] = !DatumGetBool(values[6]);
	values[8] = BoolGetDatum(c->call.replay);
	values[9] = CStringGetTextDatum(pe_accounting_name(asked->ask.accounting));
	values[10] = Float8GetDatum(((const quote *) argument)->apart);
	nulls[10] = isnan(((const quote *) argument)->apart);
}

/* dp.quote_synthetic: reads no row of the dataset, charges nothing. */
Datum
pe_sql_quote_synthetic(PG_FUNCTION_ARGS)
{
	quote	   *q = palloc0(sizeof(*q));
	pe_synthetic_call *c = &q->call;
	pe_request *request = &c->call.request;

	c->call.fcinfo = fcinfo;
	c->call.quote = true;
	read_attributes(fcinfo, request);
	request->epsilon = pe_optional_float(fcinfo, QUOTE_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, QUOTE_RHO, "rho");
	request->delta = pe_optional_float(fcinfo, QUOTE_DELTA, "delta");
	request->predicate = pe_optional_text(fcinfo, QUOTE_PREDICATE);
	read_method(pe_text_argument(fcinfo, QUOTE_METHOD, "method"), c);
	request->options = PG_ARGISNULL(QUOTE_OPTIONS) ? NULL : PG_GETARG_JSONB_P(QUOTE_OPTIONS);
	request->budget = pe_optional_name(fcinfo, QUOTE_BUDGET);
	pe_synthetic_prepare(c);
	q->apart = PG_ARGISNULL(QUOTE_EXAMPLE) ? NAN : pe_synthetic_example(c, PG_GETARG_OID(QUOTE_EXAMPLE));
	pe_return_rows(fcinfo, 1, 11, make_quote, q);
	return (Datum) 0;
}

/*
 * ask_model.c
 *	  What a fit is asked for.  See ask_model.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "server/arguments.h"
#include "ask/ask_model.h"
#include "server/aggregate_options.h"
#include "ask/ask_predicate.h"
#include "ask/comparisons.h"
#include "ask/ask_blocks.h"
#include "server/settings.h"
#include "server/values.h"

/* The longest name of a model, in bytes. */
#define MAX_NAME 255

static const struct
{
	const char *name;
	pe_model	model;
}			models[] = {
	{"logistic_regression", PE_MODEL_LOGISTIC},
	{"svm", PE_MODEL_SVM},
	{"linear_regression", PE_MODEL_LINEAR}
};

/* ------------------------------------------------------------------
 * Label and features
 * ------------------------------------------------------------------
 */

static pe_model
model_named(const char *name)
{
	for (int i = 0; i < lengthof(models); i++)
		if (strcmp(models[i].name, name) == 0)
			return models[i].model;
	pe_refuse_parameter("kind", name, "logistic_regression, svm or linear_regression");
}

static void
bounds_of(const pe_column *column, double *lower, double *upper)
{
	pe_column_bounds(column, lower, upper);
	if (!(*lower < *upper))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the bounds of attribute \"%s\" are too close together for a model", column->name)));
}

/* The levels of an attribute whose values come in an array of numbers. */
static void
number_levels(const pe_column *column, pe_attribute *levels)
{
	*levels = (pe_attribute) {
		.key = PE_KEY_FLOAT, .kind = PE_LEVELS, .outside = column->domain.outside, .nulls = column->domain.nulls,
		.points = column->domain.points, .point = palloc(column->domain.points * sizeof(pe_point))
	};
	if (!pe_type_has_bins(column->type) && column->type != BOOLOID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("attribute \"%s\" has levels of type %s, which an array of numbers cannot hold",
						column->name, format_type_be(column->type)),
				 errhint("Use dp.fit, which reads the columns themselves.")));
	for (int i = 0; i < levels->points; i++)
		levels->point[i].f = pe_number_of_text(column->type, column->points[i]);
	if (pe_attribute_prepare(levels) != PE_DOMAIN_OK)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the levels of attribute \"%s\" are not different numbers", column->name)));
}

static void
make_feature(const pe_column *column, bool by_array, pe_feature *feature, pe_attribute *levels)
{
	feature->number = column->domain.kind == PE_BINS;
	feature->other = column->domain.outside == PE_OUTSIDE_OTHER;
	feature->null = column->domain.nulls == PE_NULLS_CELL;
	if (feature->number)
	{
		feature->clamp = column->domain.outside == PE_OUTSIDE_CLAMP;
		bounds_of(column, &feature->lower, &feature->upper);
	}
	else
	{
		feature->levels = pe_attribute_ordered_cells(&column->domain);
		if (by_array)
			number_levels(column, levels);
		else
			*levels = column->domain;
	}
}

static void
make_label(const pe_column *column, pe_model model, pe_row_spec *spec)
{
	spec->classes = model != PE_MODEL_LINEAR;
	if (spec->classes)
	{
		if (pe_attribute_cells(&column->domain) != 2)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("label \"%s\" has %d cells, and a classification needs two",
							column->name, pe_attribute_cells(&column->domain)),
					 errdetail("The positive class is the last cell; 'other' and NULL are cells where the "
							   "declaration keeps them.")));
		spec->label = column->domain;
		return;
	}
	if (column->domain.kind != PE_BINS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("label \"%s\" has no declared bounds", column->name),
				 errhint("Declare it with bins or edges.")));
	spec->label_clamp = column->domain.outside == PE_OUTSIDE_CLAMP;
	bounds_of(column, &spec->label_lower, &spec->label_upper);
}

static void
load_columns(pe_model_fit *fit)
{
	const pe_request *request = fit->asked.request;
	char	  **names = palloc((request->attributes + 1) * sizeof(char *));

	if (request->attributes == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("at least one feature must be given")));
	names[0] = request->model.label;
	pe_attributes_as_given(fit->asked.dataset, names, 1);
	memcpy(names + 1, request->attribute, request->attributes * sizeof(char *));
	fit->count = request->attributes + 1;
	fit->columns = pe_columns_load(fit->asked.dataset, names, &fit->count);
}

/* The predicate, and the columns that it watches behind the others. */
static void
add_predicate(pe_model_fit *fit)
{
	pe_column  *watched = palloc0(PE_MAX_ATTRIBUTES * sizeof(*watched));
	int			count = 0;
	pe_predicate *predicate;

	if (fit->asked.request->predicate == NULL)
	{
		(void) pe_domain_prepare(&fit->spec.watched);
		return;
	}
	predicate = pe_predicate_argument(fit->asked.dataset, fit->asked.request->predicate, watched, &count);
	pe_refuse_compared(watched, count, "a model");
	fit->spec.watched = *pe_columns_domain(watched, count, count);
	(void) pe_predicate_cells(predicate, &fit->spec.watched);	/* one that selects nothing is an error */
	fit->spec.predicate = *predicate;
	fit->columns = repalloc(fit->columns, (fit->count + count) * sizeof(*fit->columns));
	memcpy(fit->columns + fit->count, watched, count * sizeof(*watched));
	fit->count += count;
}

static void
make_spec(pe_model_fit *fit)
{
	const pe_request *request = fit->asked.request;
	pe_feature_map *map = &fit->spec.map;

	map->features = request->attributes;
	map->feature = palloc0(request->attributes * sizeof(*map->feature));
	fit->spec.levels = palloc0(request->attributes * sizeof(*fit->spec.levels));
	for (int i = 0; i < request->attributes; i++)
		make_feature(&fit->columns[i + 1], request->of_query, &map->feature[i], &fit->spec.levels[i]);
	make_label(&fit->columns[0], fit->problem.model, &fit->spec);
	if (!pe_feature_map_prepare(map))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the features make too many columns, or max_norm leaves nothing of them"),
				 errdetail("A model has at most %d columns: one for each number, one for each level.",
						   PE_MAX_COLUMNS)));
}

/* ------------------------------------------------------------------
 * Options
 * ------------------------------------------------------------------
 */

static void
refuse_option(const pe_fit_problem *problem, const char *wrong)
{
	pe_method_options m = {
		&pe_fit_option_table, &problem->options, problem->method, pe_fit_method_name(problem->method),
		"intercept and max_norm"
	};

	pe_refuse_method_option(&m, wrong);
}

static void
set_option(pe_model_fit *fit, const char *name, const JsonbValue *value)
{
	if (strcmp(name, "intercept") == 0)
	{
		if (value->type != jbvBool)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"intercept\" must be true or false")));
		fit->spec.map.intercept = value->val.boolean;
	}
	else if (strcmp(name, "max_norm") == 0)
	{
		fit->spec.map.max_norm = pe_option_number(name, value);
		if (!(fit->spec.map.max_norm > 0) || isinf(fit->spec.map.max_norm))
			pe_refuse_parameter(name, psprintf("%g", fit->spec.map.max_norm), "a number above 0");
	}
	else if (!pe_option_set(&pe_fit_option_table, &fit->problem.options, name, NAN))
		refuse_option(&fit->problem, name);
	else
		(void) pe_option_set(&pe_fit_option_table, &fit->problem.options, name, pe_option_number(name, value));
}

static void
read_options(pe_model_fit *fit)
{
	JsonbIterator *iterator;
	JsonbIteratorToken token;
	JsonbValue	value;
	char	   *name = NULL;

	fit->spec.map.intercept = true;
	pe_options_init(&pe_fit_option_table, &fit->problem.options);
	if (fit->asked.request->options == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(fit->asked.request->options))
		pe_refuse_parameter("options", "not an object", "a JSON object");
	iterator = JsonbIteratorInit(&fit->asked.request->options->root);
	while ((token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			name = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE && value.type != jbvNull)
			set_option(fit, name, &value);
	}
}

/* ------------------------------------------------------------------
 * Method and cost
 * ------------------------------------------------------------------
 */

static void
choose_method(pe_model_fit *fit)
{
	const char *name = fit->asked.request->method;

	if (name == NULL || strcmp(name, "auto") == 0)
		fit->problem.method = fit->asked.ask.accounting == PE_PURE ? PE_FIT_NAG_OPT : PE_FIT_NEWTON;
	else if (!pe_fit_method_named(name, &fit->problem.method))
		pe_refuse_parameter("method", name,
							"auto, newton, objpert, one_pass, agd, gd, hb, nag, masg, nag_opt, masg_opt, "
							"sgd, sgd_adv, outpert or privgene (nonprivate, majority and objpert: owners only)");
}

/* A method without privacy reads rows as they are: its result is the owner's alone, and nothing is counted of it. */
static void
check_frozen(const pe_dataset *dataset)
{
	if (dataset->frozen)
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("dataset \"%s\" is frozen", dataset->name),
				 errhint("dp.attest lifts the freeze.")));
}

/* A model without privacy, or with a premise, is the owner's alone; all but the first take a budget. */
static void
choose_budget(pe_model_fit *fit, bool needs_budget)
{
	pe_fit_method method;
	const char *name = fit->asked.request->method;
	bool		named = name != NULL && pe_fit_method_named(name, &method);

	if (named && (!pe_fit_is_private(method) || !pe_fit_is_proved(method)))
		pe_dataset_check_owner(fit->asked.dataset);
	if (named && !pe_fit_is_private(method))
		check_frozen(fit->asked.dataset);
	else
		pe_asked_choose_budget(&fit->asked, needs_budget);
}

/*
 * A row without a level has the cell of 'other' or NULL, or is dropped; of a
 * number's indicators most rows have none.
 */
static bool *
covering_groups(const pe_feature_map *map)
{
	bool	   *covering = palloc0((map->shape.groups + 1) * sizeof(bool));

	for (int f = 0; f < map->features; f++)
		if (map->group[f] >= 0)
			covering[map->group[f]] = !map->feature[f].number;
	return covering;
}

static void
fill_problem(pe_model_fit *fit)
{
	pe_fit_problem *problem = &fit->problem;
	const pe_feature_map *map = &fit->spec.map;

	problem->shape = &map->shape;
	problem->intercept = pe_feature_intercept(map);
	problem->covering = covering_groups(map);
	problem->radius_sq = map->radius_sq;
	problem->radius_1 = map->radius_1;
	problem->max_rows = fit->asked.dataset->unit == NULL ? 1 : fit->asked.dataset->max_rows;
	problem->anonymous = fit->asked.request->of_query;
	problem->substitute = pe_dataset_neighbours(fit->asked.dataset) == PE_SUBSTITUTE;
}

static void
make_plan(pe_model_fit *fit)
{
	pe_fit_problem *problem = &fit->problem;
	pe_asked   *asked = &fit->asked;
	pe_plan_status status;
	const char *what;

	fill_problem(fit);
	if (pe_fit_is_private(problem->method))
		pe_asked_resolve_cost(asked, false, pe_fit_is_approximate(problem->method));
	status = pe_plan_of_model(&asked->ask, problem, &asked->plan, &what);
	if (status == PE_PLAN_OPTION)
		refuse_option(problem, what);
	if (status == PE_PLAN_REFUSED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("method \"%s\" cannot be used here", pe_fit_method_name(problem->method)),
				 errdetail("%s", what)));
	pe_asked_check_plan(asked, status, 1, PE_EPSILON_MAX);
	pe_check_memory(pe_fit_memory(problem));
}

/* ------------------------------------------------------------------
 * The request, and what is kept of the model
 * ------------------------------------------------------------------
 */

static void
append_options(StringInfo text, const pe_model_fit *fit)
{
	const char *name;
	double		value;

	appendStringInfo(text, ", \"options\": {\"intercept\": %s", fit->spec.map.intercept ? "true" : "false");
	if (fit->spec.map.max_norm > 0)
		appendStringInfo(text, ", \"max_norm\": %s", pe_number_text(fit->spec.map.max_norm));
	for (int i = 0; (name = pe_option_at(&pe_fit_option_table, &fit->problem.options, i, &value)) != NULL; i++)
		if (!isnan(value))
			appendStringInfo(text, ", \"%s\": %s", name, pe_number_text(value));
	appendStringInfoChar(text, '}');
}

static char *
canonical_text(const pe_model_fit *fit)
{
	const pe_request *request = fit->asked.request;
	StringInfoData text;

	pe_text_begin(&text, &fit->asked, "model");
	pe_text_add(&text, "model", request->model.kind);
	pe_text_add(&text, "label", fit->columns[0].name);
	pe_text_add_names(&text, "features", request->attribute, request->attributes);
	pe_text_add(&text, "predicate", fit->spec.predicate.steps != 0 ? fit->spec.predicate.canonical : NULL);
	append_options(&text, fit);
	pe_text_end(&text, &fit->asked, pe_fit_method_name(fit->problem.method));
	return text.data;
}

/* The terms of one feature: its number, or its levels, then its indicators. */
static char **
add_terms(const pe_column *column, const pe_feature *feature, char **term)
{
	if (feature->number)
		*term++ = column->name;
	else
		for (int i = 0; i < feature->levels; i++)
			*term++ = psprintf("%s = %s", column->name, column->points[i]);
	if (feature->other)
		*term++ = psprintf("%s is other", column->name);
	if (feature->null)
		*term++ = psprintf("%s is null", column->name);
	return term;
}

static const char *
outside_word(pe_outside outside)
{
	return outside == PE_OUTSIDE_CLAMP ? "clamp" : outside == PE_OUTSIDE_OTHER ? "other" : "drop";
}

/* One attribute of the declaration. */
static void
append_column(StringInfo text, const pe_column *column, bool number)
{
	appendStringInfoString(text, "{\"attribute\": ");
	escape_json(text, column->name);
	appendStringInfoString(text, ", \"type\": ");
	escape_json(text, format_type_be_qualified(column->type));
	appendStringInfo(text, ", \"number\": %s, \"outside\": \"%s\", \"null\": %s, \"open\": %s, \"points\": ",
					 number ? "true" : "false", outside_word(column->domain.outside),
					 column->domain.nulls == PE_NULLS_CELL ? "true" : "false", column->domain.open ? "true" : "false");
	if (number)
	{
		char	   *bounds[2] = {column->points[0], column->points[column->domain.points - 1]};

		pe_text_names(text, bounds, 2);
	}
	else
		pe_text_names(text, column->points, column->domain.points);
	appendStringInfoChar(text, '}');
}

/*
 * What rows of the positive class have: the last of the two cells of the label.
 * Sets which cell that is, for people.
 */
static char *
positive_class(const pe_column *label, const char **which)
{
	const pe_attribute *domain = &label->domain;
	int			last = domain->points - 1;

	*which = domain->nulls == PE_NULLS_CELL ? "rows without a value"
		: domain->outside == PE_OUTSIDE_OTHER ? "values that are not declared"
		: domain->kind == PE_BINS ? "the last bin" : "the last level";
	if (domain->nulls == PE_NULLS_CELL)
		return "NULL";
	if (domain->outside == PE_OUTSIDE_OTHER)
		return "other";
	return domain->kind == PE_BINS ? psprintf("%s to %s", label->points[last - 1], label->points[last])
		: label->points[last];
}

static char *
declaration_of(const pe_model_fit *fit)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "{\"label\": ");
	append_column(&text, &fit->columns[0], !fit->spec.classes);
	appendStringInfoString(&text, ", \"features\": [");
	for (int i = 0; i < fit->asked.request->attributes; i++)
	{
		if (i > 0)
			appendStringInfoString(&text, ", ");
		append_column(&text, &fit->columns[i + 1], fit->spec.map.feature[i].number);
	}
	appendStringInfoChar(&text, ']');
	if (fit->positive != NULL)
	{
		appendStringInfoString(&text, ", \"positive\": ");
		escape_json(&text, fit->positive);
	}
	appendStringInfoChar(&text, '}');
	return text.data;
}

static void
make_record(pe_model_fit *fit)
{
	pe_model_record *record = &fit->record;
	char	  **term;

	record->name = fit->asked.request->model.name;
	record->numbered = fit->asked.request->model.numbered;
	record->kind = fit->asked.request->model.kind;
	record->label = fit->columns[0].name;
	record->declaration = declaration_of(fit);
	record->terms = pe_row_spec_terms(&fit->spec);
	record->term = term = palloc(record->terms * sizeof(char *));
	*term++ = "(Intercept)";
	for (int i = 0; i < fit->asked.request->attributes; i++)
		term = add_terms(&fit->columns[i + 1], &fit->spec.map.feature[i], term);
	Assert(term == record->term + record->terms);
}

static void
fill_question(pe_model_fit *fit)
{
	pe_charge_request *charge = &fit->asked.charge;

	fit->question.dataset = fit->asked.dataset;
	fit->question.columns = fit->columns;
	fit->question.count = fit->count;
	fit->question.spec = &fit->spec;
	fit->question.problem = &fit->problem;
	fit->question.plan = fit->asked.plan;
	fit->question.charge = charge;
	pe_asked_fill_charge(&fit->asked, canonical_text(fit), pe_fit_method_name(fit->problem.method), fit->record.terms);
	pe_asked_choose_blocks(&fit->asked, fit->columns + fit->count - fit->spec.watched.watched, &fit->spec.watched,
						   fit->spec.predicate.steps != 0 ? &fit->spec.predicate : NULL, PG_UINT32_MAX);
	charge->model = &fit->record;
	charge->predicate = fit->spec.predicate.steps != 0 ? fit->spec.predicate.canonical : NULL;
}

/*
 * The name is kept after the charge, in an index: every fault in it is found
 * before.
 */
static void
check_name(const char *name)
{
	if (name != NULL && (name[0] == '\0' || strlen(name) > MAX_NAME))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the name of a model must have 1 to %d bytes", MAX_NAME)));
}

pe_model_fit *
pe_model_validate(const pe_request *request, bool needs_budget)
{
	pe_model_fit *fit = palloc0(sizeof(*fit));

	check_name(request->model.name);
	fit->problem.model = model_named(request->model.kind);
	pe_asked_open(&fit->asked, request);
	pe_dataset_check_rows(fit->asked.dataset);
	pe_asked_cut(&fit->asked);
	choose_budget(fit, needs_budget);
	choose_method(fit);
	load_columns(fit);
	add_predicate(fit);
	pe_dataset_check_committed(fit->asked.dataset);
	read_options(fit);
	make_spec(fit);
	make_plan(fit);
	if (fit->spec.classes)
		fit->positive = positive_class(&fit->columns[0], &fit->positive_cell);
	make_record(fit);
	fill_question(fit);
	return fit;
}

void
pe_model_tell_class(const pe_model_fit *fit)
{
	if (fit->positive != NULL)
		ereport(NOTICE,
				(errmsg("the positive class of \"%s\" is %s (%s)", fit->columns[0].name,
						quote_literal_cstr(fit->positive), fit->positive_cell)));
}

const char *
pe_model_paid(const char *name, const pe_charge_reply *reply)
{
	return name == NULL && reply->release_id == 0 ? "no release, no model"
		: psprintf("%s, model \"%s\"", pe_release_text(reply), name != NULL ? name : "");
}

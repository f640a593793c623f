/*
 * ask_sums.c
 *	  What aggregates are asked for, and what is measured for them.  See ask_sums.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ask/ask_sums.h"
#include "ask/atoms.h"
#include "ask/rest.h"
#include "ask/formulas.h"
#include "ask/answers.h"
#include "server/arguments.h"
#include "ask/literals.h"
#include "ask/ask_predicate.h"
#include "ask/ask_counts.h"
#include "ask/by_columns.h"
#include "ask/ask_blocks.h"
#include "ask/suppress.h"
#include "door/obtain.h"
#include "methods/make.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/values.h"
#include "optimum/optimum.h"
#include "blocks/blocks.h"

/* As of histograms. */
#define AGGREGATE_GAP 1e-6
#define ACCEPTED_GAP 1e-3

/* ------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------
 */

static void
parse_aggregates(pe_aggregation *g)
{
	const pe_request *request = g->asked.request;

	if (request->sums.aggregates == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no aggregate is asked for"),
				 errhint("For example aggregates => '{count(*)}'.")));
	if (request->sums.aggregates > PE_MAX_AGGREGATES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%d aggregates are more than can be asked for at once", request->sums.aggregates),
				 errdetail("At most %d can be. Nothing was charged.", PE_MAX_AGGREGATES)));
	for (g->aggregates = 0; g->aggregates < request->sums.aggregates; g->aggregates++)
	{
		const char *text = request->sums.aggregate[g->aggregates];
		pe_text_error error;

		if (!pe_aggregate_parse(text, g->asked.dataset->unit, &g->aggregate[g->aggregates], &error))
			pe_refuse_text(text, &error);
	}
}

/* Calls visit for every aggregate, those in ratios among them. */
static void
visit_all(pe_aggregation *g, void (*visit) (pe_aggregation *g, pe_aggregate *a, const char *text))
{
	for (int i = 0; i < g->aggregates; i++)
	{
		pe_aggregate *a = &g->aggregate[i];

		visit(g, a, g->asked.request->sums.aggregate[i]);
		for (int p = 0; p < 2 && a->part[p] != NULL; p++)
			visit(g, a->part[p], g->asked.request->sums.aggregate[i]);
	}
}

/* ------------------------------------------------------------------
 * Attributes of groups and of quantiles
 * ------------------------------------------------------------------
 */

/* The place of a name among the first columns, or -1. */
static int
place_of(const pe_column *columns, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(columns[i].name, name) == 0)
			return i;
	return -1;
}

static void
refuse_attribute(const char *name, const char *why, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("attribute \"%s\" %s", name, why),
			 errhint("%s", hint)));
}

static void
check_number(const pe_column *column)
{
	if (!pe_type_is_number(column->type))
		refuse_attribute(column->name, "has no numbers", "Sums, averages and quantiles are of numbers.");
}

/* Quantiles are of bins. */
static void
check_bins(const pe_column *column)
{
	check_number(column);
	if (column->domain.kind != PE_BINS)
		refuse_attribute(column->name, "has no bounds",
						 "The owner declares bounds in place of its levels by dp.alter_attribute(dataset, "
						 "attribute, lower, upper, bins).");
}

static void
load_one(pe_aggregation *g, char *name, pe_column *column)
{
	int			one = 1;

	*column = pe_columns_load(g->asked.dataset, &name, &one)[0];
}

/* Whether each ordered cell of an attribute is one value, and no other value has a cell. */
static void
check_distinct(const pe_column *column)
{
	const pe_attribute *declared = &column->domain;

	if (declared->outside == PE_OUTSIDE_OTHER)
		refuse_attribute(column->name, "has one cell for all values that are not declared",
						 "count(distinct) tells declared values apart. Let the owner declare more levels, or drop "
						 "what is outside.");
	for (int32 bin = 0; declared->kind == PE_BINS && bin < pe_attribute_ordered_cells(declared); bin++)
		if (!pe_bin_is_one_value(declared, bin))
			refuse_attribute(column->name, "has bins of several values",
							 "count(distinct) tells declared values apart: it is of levels, and of bins of one value.");
}

/* Values that are counted have an attribute of their own: of a group that is rolled up the cells are classes. */
static void
add_distinct_attribute(pe_aggregation *g, pe_aggregate *a, const pe_column *found)
{
	int			place;

	if (place_of(g->columns, g->groups, a->column[0]) >= 0 &&
		g->columns[place_of(g->columns, g->groups, a->column[0])].roll_up == NULL)
		refuse_attribute(a->column[0], "is grouped by", "Within a group it has one value.");
	place = place_of(g->columns + g->groups, g->quantiles, a->column[0]);
	if (place < 0)
	{
		place = g->quantiles++;
		pe_check_attributes(g->groups + g->quantiles);
		g->columns[g->groups + place] = *found;
		if (!OidIsValid(found->type))
			load_one(g, a->column[0], &g->columns[g->groups + place]);
	}
	check_distinct(&g->columns[g->groups + place]);
	a->attribute = g->groups + place;
}

static bool
is_named(char *const *name, int names, const char *sought)
{
	for (int i = 0; i < names; i++)
		if (strcmp(name[i], sought) == 0)
			return true;
	return false;
}

/* Whether a column is open and has no levels.  It is loaded; of a release its name is all there is. */
static bool
load_open(pe_aggregation *g, char *name, pe_column *column)
{
	int			count = 1;
	int			opens = 0;
	pe_column  *declared;

	if (g->stored)
	{
		column->name = name;
		return is_named(g->open_name, g->open_names, name);
	}
	declared = pe_columns_find(g->asked.dataset, &name, &count, column, &opens);
	if (count > 0)
		*column = declared[0];
	return opens > 0;
}

/* The values of an open column, which is no attribute. */
static void
add_distinct_open(pe_aggregation *g, pe_aggregate *a, const pe_column *column)
{
	pe_sums    *sums = &g->needed;
	int			i = 0;

	while (i < sums->opens && strcmp(g->open[i].name, column->name) != 0)
		i++;
	if (i == PE_MAX_OPENS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the values of too many open columns are counted"),
				 errdetail("At most %d can be at once.", PE_MAX_OPENS)));
	if (i == sums->opens)
		g->open[sums->opens++] = *column;
	a->open = i;
}

static void
add_distinct(pe_aggregation *g, pe_aggregate *a)
{
	pe_column	column = {0};

	if (load_open(g, a->column[0], &column))
		add_distinct_open(g, a, &column);
	else
		add_distinct_attribute(g, a, &column);
}

/* Levels have a row for each, which only a table has; and quantiles have prefixes of the same cells. */
static void
check_levels(const pe_aggregation *g, const pe_aggregate *a)
{
	if (!pe_aggregation_tabulates(g) && !g->stored)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("levels(%s) is of dp.table_one alone", quote_identifier(a->column[0])),
				 errdetail("It is no single number in each group."),
				 errhint("Ask for count(*) by the attribute.")));
	for (int i = 0; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_QUANTILE && strcmp(g->aggregate[i].column[0], a->column[0]) == 0)
			refuse_attribute(a->column[0], "has both levels and quantiles", "Ask for one of them.");
}

static void
add_quantile_attribute(pe_aggregation *g, pe_aggregate *a, const char *text)
{
	bool		levels = a->kind == PE_AGG_LEVELS;
	int			place;

	if (a->kind == PE_AGG_DISTINCT)
		add_distinct(g, a);
	if (!pe_aggregate_is_of_cells(a))
		return;
	if (levels)
		check_levels(g, a);
	place = place_of(g->columns, g->groups + g->quantiles, a->column[0]);
	if (place >= 0 && place < g->groups)
		refuse_attribute(a->column[0], "is grouped by",
						 levels ? "Within a group it has one level: leave it out."
						 : "Within a group it has one cell: there is no quantile to tell.");
	if (place < 0)
	{
		place = g->groups + g->quantiles;
		pe_check_attributes(place + 1);
		load_one(g, a->column[0], &g->columns[place]);
		if (!levels)
			check_bins(&g->columns[place]);
		if (!levels && pe_attribute_ordered_cells(&g->columns[place].domain) == 1)
			return;				/* its bins say nothing: a grid is laid between its bounds */
		g->quantiles++;
	}
	a->attribute = place;
}

static void
refuse_quantile(pe_aggregation *g, pe_aggregate *a, const char *text)
{
	if (pe_aggregate_is_of_cells(a))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("quantiles do not go with a workload"),
				 errdetail("They are told for the groups of the attributes in by."),
				 errhint("Leave workload out, or measure the workload times prefix(%s) by dp.measure and use "
						 "dp.quantile.", quote_identifier(a->column[0]))));
}

/* Room for numbers behind all attributes. */
static void
load_attributes(pe_aggregation *g)
{
	const pe_request *request = g->asked.request;
	pe_column  *columns;

	pe_check_attributes(request->attributes);
	g->groups = request->attributes;
	columns = pe_aggregation_is_counts(g) ? pe_columns_load(g->asked.dataset, request->attribute, &g->groups)
		: pe_by_columns(g->asked.dataset, request->attribute, &g->groups);
	g->columns = palloc0(PE_MAX_COLUMNS_READ * sizeof(*g->columns));
	memcpy(g->columns, columns, g->groups * sizeof(*columns));
	visit_all(g, add_quantile_attribute);
	if (request->workload != NULL && !g->stored)
		visit_all(g, refuse_quantile);
}

/* ------------------------------------------------------------------
 * Predicate and conditions
 * ------------------------------------------------------------------
 */

/* The attributes of the groups. */
static uint32
grouped(const pe_aggregation *g)
{
	return g->groups < 32 ? (UINT32_C(1) << g->groups) - 1 : PG_UINT32_MAX;
}

/* Which attributes drop a row from all sums: those of groups and of the predicate. */
static uint32
dropping(const pe_aggregation *g)
{
	uint32		bits = grouped(g);

	for (int i = 0; g->selection != NULL && i < g->selection->leaves; i++)
		bits |= UINT32_C(1) << g->selection->leaf[i].attribute;
	return bits;
}

/*
 * A number of a column with levels is there where the value is one of them: "x IN CELLS (0-4)".  NULL: it is no such
 * column.  Bounds alone say where a number of bins is there.
 */
static char *
level_test(const pe_aggregation *g, char *name)
{
	int			count = 1;
	int			opens = 0;
	pe_column	open;
	const pe_column *column = pe_columns_find(g->asked.dataset, &name, &count, &open, &opens);

	return count == 0 || column->domain.kind == PE_BINS ? NULL
		: psprintf("%s IN CELLS (0-%d)", quote_identifier(name), pe_attribute_ordered_cells(&column->domain) - 1);
}

static char *
both_tests(char *one, char *other)
{
	return one == NULL ? other : other == NULL ? one : psprintf("%s AND %s", one, other);
}

static char *
formula_test(const pe_aggregation *g, const pe_formula *formula)
{
	char	   *text = NULL;

	for (int v = 0; v < formula->variables; v++)
		if (formula->variable[v].length == 0)
			text = both_tests(text, level_test(g, pstrdup(formula->variable[v].name)));
	return text;
}

/*
 * What an aggregate's condition has beside its own, which a canonical one has already: count(x) counts rows where x is
 * there, and numbers are of declared levels.
 */
static char *
there_text(const pe_aggregation *g, const pe_aggregate *a)
{
	char	   *text = NULL;

	if (g->stored || (a->kind != PE_AGG_COUNT && a->kind != PE_AGG_NUMBERS))
		return NULL;
	for (int i = 0; i < 2; i++)
		if (a->formula[i] != NULL)
			text = both_tests(text, formula_test(g, a->formula[i]));
		else if (a->column[i] != NULL && a->kind == PE_AGG_NUMBERS)
			text = both_tests(text, level_test(g, a->column[i]));
	return text;
}

/* The text of an aggregate's condition; NULL: it has none. */
static char *
condition_text(const pe_aggregation *g, const pe_aggregate *a)
{
	char	   *there = a->kind == PE_AGG_COUNT && a->column[0] != NULL && a->formula[0] == NULL
		? psprintf("%s IS NOT NULL", quote_identifier(a->column[0])) : there_text(g, a);

	if (there != NULL && a->where != NULL && !g->stored)
		return psprintf("%s AND (%s)", there, a->where);
	return a->where != NULL ? pstrdup(a->where) : there;
}

bool
pe_aggregation_is_there_with_cell(const pe_column *column)
{
	return pe_type_is_integer(column->type) && column->domain.kind == PE_BINS &&
		(column->domain.outside == PE_OUTSIDE_CLAMP || column->domain.outside == PE_OUTSIDE_DROP);
}

static bool
is_of_number(const pe_aggregate *a, const char *name)
{
	for (int i = 0; i < 2; i++)
		if ((a->kind == PE_AGG_NUMBERS && a->column[i] != NULL && a->formula[i] == NULL &&
			 strcmp(a->column[i], name) == 0) ||
			(a->part[i] != NULL && is_of_number(a->part[i], name)))
			return true;
	return false;
}

/*
 * Whether count(x) counts the rows of a number that other aggregates are of:
 * the same rows, and one sum for all of them.
 */
static bool
counts_number(pe_aggregation *g, const pe_aggregate *a)
{
	bool		other = false;
	pe_column	column;

	if (a->kind != PE_AGG_COUNT || a->column[0] == NULL || a->where != NULL)
		return false;
	for (int i = 0; i < g->aggregates; i++)
		other |= is_of_number(&g->aggregate[i], a->column[0]);
	if (other)
		load_one(g, a->column[0], &column);
	return other && pe_aggregation_is_there_with_cell(&column);
}

static bool
has_condition(pe_aggregation *g, const pe_aggregate *a)
{
	return !counts_number(g, a) && condition_text(g, a) != NULL;
}

static void
list_condition(pe_aggregation *g, pe_aggregate *a, const char *text)
{
	if (has_condition(g, a))
		g->where[g->wheres++] = condition_text(g, a);
}

/* In the order in which they were listed. */
static void
add_condition(pe_aggregation *g, pe_aggregate *a, const char *text)
{
	pe_conditions *conditions = &g->conditions;
	const pe_predicate *predicate;
	int			c = 0;

	if (!has_condition(g, a))
		return;
	predicate = &g->parsed[g->taken++];
	while (c < conditions->count && strcmp(conditions->text[c], predicate->canonical) != 0)
		c++;
	if (c == PE_MAX_CONDITIONS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the aggregates have too many conditions"),
				 errdetail("At most %d can be told apart, count(x) being one of them. Nothing was charged.",
						   PE_MAX_CONDITIONS),
				 errhint("Ask for fewer at once. A SELECT's sum of a column with levels, or of an expression, "
						 "has one for each value. Numbers with bounds and bins, dp.add_attribute(dataset, "
						 "attribute, lower, upper, bins), and + - * of them have none: x * x * x, not x ^ 3.")));
	a->condition = c;
	if (c < conditions->count)
		return;
	conditions->text[conditions->count++] = predicate->canonical;
	g->needed.condition[g->needed.conditions++] = *predicate;
}

/* All together: what an open column is compared with in one of them is a level of it in the others too. */
static void
parse_conditions(pe_aggregation *g)
{
	int			count = g->groups + g->quantiles;
	char	   *predicate = g->asked.request->predicate;

	g->where = palloc((1 + 3 * PE_MAX_AGGREGATES) * sizeof(*g->where));
	g->wheres = g->taken = 0;
	if (predicate != NULL)
		g->where[g->wheres++] = predicate;
	visit_all(g, list_condition);
	g->parsed = palloc0((g->wheres + 1) * sizeof(*g->parsed));
	pe_predicate_arguments(g->asked.dataset, g->where, g->wheres, g->stored, g->columns, &count,
						   g->parsed);
	g->watched = count - g->groups - g->quantiles;
	if (predicate != NULL)
	{
		g->selection = &g->parsed[g->taken++];
		g->predicate = g->selection->canonical;
	}
	visit_all(g, add_condition);
	g->needed.dropping = dropping(g);
	pe_sums_prepare(&g->needed);
}

/* ------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------
 */

static pe_number
number_of(const pe_column *column)
{
	bool		whole = pe_type_is_integer(column->type);
	bool		clamp = column->domain.outside == PE_OUTSIDE_CLAMP;
	double		lower;
	double		upper;
	pe_number	number;

	pe_column_bounds(column, &lower, &upper);
	if (!pe_number_init(&number, lower, whole ? floor(upper) : upper, clamp, whole))
		refuse_attribute(column->name, "has bounds that are too close together", "Sums need bounds that differ.");
	return number;
}

pe_column *
pe_aggregation_next_number(pe_aggregation *g)
{
	int			n = g->needed.numbers;
	pe_column  *column = &g->columns[g->groups + g->quantiles + g->watched + n];

	if (n == PE_MAX_NUMBERS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the aggregates are of too many columns"),
				 errdetail("At most %d columns and formulas can be summed at once. Nothing was charged.",
						   PE_MAX_NUMBERS)));
	g->number_column[n] = column;
	return column;
}

static int
find_number(pe_aggregation *g, const pe_aggregate *a, int i)
{
	char	   *name = a->column[i];
	pe_sums    *sums = &g->needed;
	pe_column  *column;
	int			n = 0;

	if (a->formula[i] != NULL)
		return pe_formula_number(g, name, a->formula[i]);
	while (n < sums->numbers && (g->number_column[n]->computed || strcmp(g->number_column[n]->name, name) != 0))
		n++;
	if (n < sums->numbers)
		return n;
	column = pe_aggregation_next_number(g);
	load_one(g, name, column);
	check_number(column);
	sums->number[sums->numbers] = number_of(column);
	return sums->numbers++;
}

static void
add_numbers(pe_aggregation *g, pe_aggregate *a, const char *text)
{
	for (int i = 0; i < 2; i++)
		if (a->column[i] != NULL && (a->kind != PE_AGG_COUNT || counts_number(g, a)) && a->attribute < 0 &&
			a->open < 0)
			a->number[i] = find_number(g, a, i);
}

/*
 * Numbers that every row has, so that the count of rows is theirs too.  They are part of the canonical request: a
 * release is read as it was measured.  A column that is no longer NOT NULL within a version makes such an average
 * wrong, and nothing else: no sensitivity follows from it.
 */
static void
find_always_there(pe_aggregation *g)
{
	for (int n = 0; n < g->needed.numbers; n++)
	{
		const pe_column *column = g->number_column[n];
		bool		there = g->stored ? is_named(g->never_null_name, g->never_null_names, column->name)
			: g->needed.number[n].clamp && pe_type_is_integer(column->type) &&
			pe_column_is_never_null(g->asked.dataset, column);

		if (there || (!g->stored && column->computed && pe_formula_is_always_there(g, n)))
			g->never_null |= UINT32_C(1) << n;
	}
}

/* ------------------------------------------------------------------
 * Units
 * ------------------------------------------------------------------
 */

static void
resolve_cells_per_unit(pe_aggregation *g)
{
	const pe_request *request = g->asked.request;
	const pe_dataset *dataset = g->asked.dataset;

	if (!request->sums.limits_cells)
	{
		g->cells_per_unit = dataset->unit != NULL ? dataset->max_rows : 0;
		return;
	}
	if (dataset->unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cells_per_unit is for datasets with a unit"),
				 errdetail("In dataset \"%s\" each row is a unit, and is in one cell.", dataset->name)));
	if (!g->stored && (request->sums.cells_per_unit < 1 || request->sums.cells_per_unit > 65535))
		pe_refuse_parameter("cells_per_unit", psprintf("%d", request->sums.cells_per_unit), "a number from 1 to 65535");
	g->cells_per_unit = request->sums.cells_per_unit;
}

/* As many dropped rows of a unit as count, unless it is said. */
static void
resolve_lost(pe_aggregation *g, pe_aggregate *a, const char *text)
{
	const pe_dataset *dataset = g->asked.dataset;

	if (a->kind != PE_AGG_LOST)
		return;
	if (dataset->unit == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dropped is for datasets with a unit"),
				 errdetail("In dataset \"%s\" each row is a unit: no row is dropped for want of room.",
						   dataset->name)));
	if (a->most == 0)
		a->most = Min(dataset->max_rows, PE_LOST_MOST);
}

/*
 * The attributes whose values a term distinguishes; false if its groups overlap
 * or are no cells.
 */
static bool
is_grouping(const pe_term *term, uint32 *set)
{
	*set = 0;
	for (int f = 0; f < term->factors; f++)
	{
		if (term->factor[f].constructor == PE_TOTAL)
			continue;
		if (term->factor[f].constructor != PE_IDENTITY || term->factor[f].attribute < 0)
			return false;
		*set |= UINT32_C(1) << term->factor[f].attribute;
	}
	return true;
}

/* ------------------------------------------------------------------
 * Spaces and parts
 * ------------------------------------------------------------------
 */

/* A space over some attributes of the domain, with its workload. */
static int
add_space(pe_aggregation *g, uint32 set, const char *workload)
{
	pe_space   *s = &g->space[g->spaces];
	pe_column  *columns = palloc0(PE_MAX_ATTRIBUTES * sizeof(*columns));

	*s = (pe_space) {.set = set};
	for (int a = 0; a < g->domain->attributes; a++)
		if ((set >> a & 1) != 0)
			columns[s->attributes++] = g->columns[a];
	s->columns = columns;
	s->domain = pe_columns_domain(columns, s->attributes, 0);
	pe_parse_columns_workload(g->asked.dataset, columns, s->domain,
							  workload != NULL ? workload : pe_text_of_identity(columns, s->attributes), &s->workload);
	return g->spaces++;
}

/* Of each class of a group's attribute, whether the predicate leaves any of its declared cells. */
static bool *
classes_left(const pe_attribute *attribute, const bool *left)
{
	int32		cells = pe_attribute_declared_cells(attribute);
	bool	   *has = palloc0(attribute->classes * sizeof(bool));

	for (int32 cell = 0; cell < cells; cell++)
		has[attribute->class_of[cell]] |= left[cell];
	return has;
}

/*
 * A predicate distinguishes the declared cells of an attribute that is rolled
 * up in a watched column, as if the two were independent.  No row is in a class
 * if the predicate leaves none of its cells.
 */
static void
find_possible_of(pe_aggregation *g)
{
	pe_space   *s = &g->space[0];
	pe_domain  *counted = pe_columns_domain(g->columns, g->groups + g->quantiles + g->watched, 0);
	int			first = g->groups + g->quantiles;
	bool	   *left[PE_MAX_ATTRIBUTES] = {NULL};

	pe_predicate_attributes(g->selection, counted, left);
	for (int a = 0; a < g->groups; a++)
	{
		int			watched = place_of(g->columns + first, g->watched, g->columns[a].name);

		s->possible_of[a] = left[a];
		if (g->columns[a].roll_up != NULL && watched >= 0 && left[first + watched] != NULL)
			s->possible_of[a] = classes_left(&g->columns[a].domain, left[first + watched]);
	}
}

/* Cells of groups that are rolled up, without the classes that are ruled out. */
static void
shrink_classes(const pe_aggregation *g)
{
	const pe_space *s = &g->space[0];

	for (int a = 0; a < g->groups; a++)
	{
		const bool *left = g->columns[a].roll_up != NULL ? s->possible_of[a] : NULL;

		for (int32 cell = 0; left != NULL && cell < s->domain->cells; cell++)
			s->possible[cell] = s->possible[cell] && left[pe_domain_coordinate(s->domain, cell, a)];
	}
}

/* Of groups: which cells the predicate leaves, if they have numbers, and which of each attribute. */
static void
find_possible(pe_aggregation *g)
{
	int			count = g->groups + g->quantiles + g->watched;
	pe_domain  *domain;

	if (g->selection == NULL)
		return;
	find_possible_of(g);
	domain = pe_columns_domain(g->columns, count, count - g->groups);
	if (!pe_domain_has_numbers(domain))
		return;
	pe_check_memory(pe_predicate_memory(g->selection, domain));
	g->space[0].possible = pe_predicate_cells(g->selection, domain);
	shrink_classes(g);
}

static void
add_part(pe_aggregation *g, int sum, int space, int term)
{
	if (g->parts == PE_MAX_SUMS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the aggregates need too many sums"),
				 errdetail("At most %d can be measured at once.", PE_MAX_SUMS)));
	g->source[g->parts++] = (pe_source_of_part) {.sum = sum, .space = space, .term = term};
}

/* The first of sums that are measured together has the part of all of them. */
static void
add_by_atom(pe_aggregation *g, int sum)
{
	if (g->together[sum] != sum)
		return;
	add_part(g, sum, g->space_of[sum], -1);
	g->source[g->parts - 1].row_of = pe_atoms_rows(g, sum);
}

/*
 * Units, and values, are counted anew for every term of the workload: how many
 * are in two groups together follows from no sum.
 */
static void
add_by_terms(pe_aggregation *g, int sum, const char *what)
{
	const pe_workload *workload = &g->space[0].workload;

	for (int t = 0; t < workload->terms; t++)
	{
		uint32		set;

		if (!is_grouping(&workload->term[t], &set))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("count(distinct %s) does not go with this workload", what),
					 errdetail("%s may be in several of its groups, and those of groups together do not add up.",
							   g->needed.sum[sum].kind == PE_SUM_UNITS ? "A unit" : "A value"),
					 errhint("Use terms of identity and total: each is counted by itself.")));
		add_part(g, sum, add_space(g, set, NULL), t);
	}
}

/* Of all groups together: in each of them there are few, and they would show little beside their noise. */
static void
add_lost(pe_aggregation *g, int sum)
{
	add_part(g, sum, add_space(g, 0, NULL), -1);
	g->source[g->parts - 1].of_all = true;
}

/* The attribute of a quantile that a sum is by, or -1. */
static int
quantile_attribute(const pe_aggregation *g, const pe_sum *sum)
{
	for (int a = g->groups; a < g->groups + g->quantiles; a++)
		if ((sum->needs & PE_HAS_ATTRIBUTE(a)) != 0)
			return a;
	return -1;
}

/* A factor times the cells of all groups. */
static const char *
times_groups(const pe_aggregation *g, const char *factor)
{
	return g->groups > 0 ? psprintf("%s * %s", pe_text_of_identity(g->columns, g->groups), factor) : factor;
}

/*
 * The ranges of cells from 1, 2, ... on: with the prefixes they show how ranks
 * vary with the total (counts/quantile.h).
 */
static const char *
ranges_above(const char *name, int32 cells)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "ranges(%s; ", name);
	for (int32 from = 1; from < cells; from++)
		appendStringInfo(&text, "%s%d-%d", from > 1 ? ", " : "", from, cells - 1);
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* Whether the cells of an attribute are counted as they are; else up to each edge. */
static bool
has_levels(const pe_aggregation *g, int attribute)
{
	for (int i = 0; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_LEVELS && g->aggregate[i].attribute == attribute)
			return true;
	return false;
}

static void
add_ranks(pe_aggregation *g, int sum, int attribute)
{
	const pe_column *x = &g->columns[attribute];
	const char *name = quote_identifier(x->name);
	int32		cells = pe_attribute_ordered_cells(&x->domain);
	bool		levels = has_levels(g, attribute);
	int			space;

	space = add_space(g, g->space[0].set | UINT32_C(1) << attribute,
					  times_groups(g, psprintf(levels ? "identity(%s)" : "prefix(%s)", name)));
	g->space[space].by_cells = true;
	add_part(g, sum, space, -1);
	if (levels)
		return;
	g->space[space].above_text = times_groups(g, ranges_above(name, cells));
	pe_parse_columns_workload(g->asked.dataset, g->space[space].columns, g->space[space].domain,
							  g->space[space].above_text, &g->space[space].above);
}

/* What is chosen on a grid is no measurement, and has a plan of its own. */
static void
check_grid(pe_aggregation *g)
{
	for (int s = 0; s < g->needed.sums; s++)
		g->on_grid |= g->needed.sum[s].kind == PE_SUM_GRID;
	if (g->on_grid && g->needed.sums > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("quantiles of an attribute with a single bin do not go with other aggregates"),
				 errdetail("They are chosen on a grid between its bounds, all of the same rows."),
				 errhint("Ask for the others in a request of their own.")));
}

/* Whether all rows are counted by groups: such a count is a release of counts (stored_release.c). */
static bool
counts_groups(const pe_aggregation *g)
{
	for (int i = 0; i < g->aggregates; i++)
		if (g->groups > 0 && g->aggregate[i].kind == PE_AGG_COUNT && g->aggregate[i].condition < 0)
			return true;
	return false;
}

/*
 * It follows from the request, the neighbours and the accounting alone, so that
 * a release is read in the basis in which it was measured.  Not from the
 * groups: a sum by some of them answers the same sum by others.
 */
static pe_basis
basis_of(const pe_aggregation *g)
{
	if (g->asked.ask.accounting == PE_PURE)
		return counts_groups(g) ? PE_BASIS_ONE_SIDE : PE_BASIS_BOTH_SIDES;
	return pe_door_rules(g->asked.dataset).neighbours == PE_SUBSTITUTE ? PE_BASIS_ONE_SIDE : PE_BASIS_CENTRED;
}

static void
find_spaces(pe_aggregation *g)
{
	pe_sums    *needed = &g->needed;

	g->space = palloc((1 + PE_MAX_SUMS) * sizeof(*g->space));
	(void) add_space(g, grouped(g), g->asked.request->workload);
	pe_counts_check_rows(&g->space[0].workload);
	check_grid(g);
	if (g->on_grid)
	{
		add_part(g, 0, 0, -1);
		return;
	}
	find_possible(g);
	pe_atoms_find(g);
	for (int s = 0; s < needed->sums; s++)
	{
		int			attribute = quantile_attribute(g, &needed->sum[s]);

		if (g->space_of[s] >= 0)
			add_by_atom(g, s);
		else if (needed->sum[s].kind == PE_SUM_UNITS)
			add_by_terms(g, s, "unit");
		else if (needed->sum[s].kind == PE_SUM_DISTINCT)
			add_by_terms(g, s, quote_identifier(g->columns[attribute].name));
		else if (needed->sum[s].kind == PE_SUM_OPEN)
			add_by_terms(g, s, quote_identifier(g->open[needed->sum[s].a].name));
		else if (needed->sum[s].kind == PE_SUM_LOST)
			add_lost(g, s);
		else if (attribute >= 0)
			add_ranks(g, s, attribute);
		else
			add_part(g, s, 0, -1);
	}
}

/* The aggregates in one form; two that are the same are asked for once. */
static const char *
condition_of(const void *argument, int condition)
{
	return ((const pe_aggregation *) argument)->conditions.text[condition];
}

static void
write_texts(pe_aggregation *g)
{
	for (int i = 0; i < g->aggregates; i++)
		g->text[i] = pe_aggregate_canonical(&g->aggregate[i], condition_of, g);
}

/* The texts and names of a request. */
static void
resolve_names(pe_aggregation *g)
{
	g->rules = pe_door_rules(g->asked.dataset);
	resolve_cells_per_unit(g);
	if (!pe_aggregation_is_counts(g))
		parse_aggregates(g);
	visit_all(g, resolve_lost);
	load_attributes(g);
	parse_conditions(g);
	visit_all(g, add_numbers);
	find_always_there(g);
}

/* The one sum of counts, in all groups. */
static void
count_rows(pe_aggregation *g)
{
	g->aggregates = g->needed.sums = 1;
	g->text[0] = "count(*)";
	g->needed.sum[0].kind = PE_SUM_ONE;
	g->space = palloc(sizeof(*g->space));
	(void) add_space(g, grouped(g), g->asked.request->workload);
	find_possible(g);
	add_part(g, 0, 0, -1);
}

static void
find_sums(pe_aggregation *g)
{
	if (!pe_aggregates_sums(g->aggregate, g->aggregates, g->never_null, g->cells_per_unit, basis_of(g), &g->needed))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the aggregates need too many sums"),
				 errdetail("At most %d can be measured at once.", PE_MAX_SUMS)));
}

/* Which sums they need, and which cells. */
static void
resolve_sums(pe_aggregation *g)
{
	int			count = g->groups + g->quantiles + g->watched;

	g->domain = pe_columns_domain(g->columns, count, g->watched);
	g->needed.sum = palloc0(PE_MAX_SUMS * sizeof(pe_sum));
	g->min = pe_suppress_rule(g->asked.dataset, g->asked.request->min_count);
	if (pe_aggregation_is_counts(g))
		count_rows(g);
	else
	{
		do
			find_sums(g);
		while (pe_suppress_add_counts(g));
		find_spaces(g);
		write_texts(g);
	}
	pe_suppress_find_counts(g);
}

/* The accounting, which decides the noise, is known. */
static void
resolve_method(pe_aggregation *g)
{
	g->method = PE_METHOD_OPTIMAL;
	if (pe_aggregation_is_counts(g))
		pe_counts_resolve_method(g);
}

bool
pe_aggregation_tabulates(const pe_aggregation *g)
{
	return strcmp(g->asked.request->function, PE_FRONT_TABLE) == 0;
}

bool
pe_aggregation_is_counts(const pe_aggregation *g)
{
	return g->asked.request->kind == PE_ASK_COUNTS;
}

pe_aggregation *
pe_aggregation_validate(const pe_request *request, bool needs_budget)
{
	pe_aggregation *g = palloc0(sizeof(*g));

	pe_asked_open(&g->asked, request);
	pe_dataset_check_rows(g->asked.dataset);
	pe_asked_cut(&g->asked);
	resolve_names(g);
	g->complete = pe_complete_now(g->asked.dataset, g->columns, g->groups + g->quantiles + g->watched);
	pe_dataset_check_committed(g->asked.dataset);
	pe_asked_choose_budget(&g->asked, needs_budget);
	resolve_method(g);
	resolve_sums(g);
	pe_counts_check_order(g);
	return g;
}

void
pe_aggregation_restore(pe_aggregation *g)
{
	g->stored = true;
	g->method = pe_aggregation_is_counts(g) ? pe_method_of_text(g->asked.request->method) : PE_METHOD_OPTIMAL;
	resolve_names(g);
	resolve_sums(g);
}

/* ------------------------------------------------------------------
 * What is measured
 * ------------------------------------------------------------------
 */

/* Of several the one that was made for its workload; 0: none. */
static int64
find_strategy(const pe_strategies *all, const pe_space *s)
{
	for (int i = 0; i < all->count; i++)
		if (all->count == 1 || pe_strategy_is_for(all->id[i], &s->workload))
			return all->id[i];
	return 0;
}

void
pe_aggregation_load(pe_space *s, const pe_strategies *strategies)
{
	int64		id;
	bool		there;

	PE_UNDONE();
	id = find_strategy(strategies, s);
	there = pe_strategy_of_charge(id, &s->workload, s->possible, &s->kept);
	PE_END_UNDONE();
	if (!there)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the strategy of a release is gone")));
	s->kept.id = id;
}

/* Whether a release measured a space with a kept strategy. */
static bool
has_stored(const pe_aggregation *g, const pe_strategy_key *key)
{
	pe_strategy_problem problem = {
		.workload = key->workload, .possible = key->possible, .method = key->method, .objective = key->objective,
		.norm = key->norm, .neighbours = key->neighbours, .whole = key->whole
	};

	return g->stored && g->strategies.count > 0 && !pe_strategy_is_workload(&problem);
}

/* Several parts share the cost: a share of 2^-8 still fits. */
#define ROOT_OF_SHARES 16

/* By how much blocks of a space are drawn wider than those of counts: by the largest bound, and by their shares. */
static int64
width_of_blocks(const pe_aggregation *g, const pe_space *s)
{
	int64		most = 1;

	for (int i = 0; i < g->parts; i++)
		if (&g->space[g->source[i].space] == s)
			most = Max(most, pe_sum_bound(&g->needed, &g->needed.sum[g->source[i].sum]));
	return g->parts > 1 ? most * ROOT_OF_SHARES : most;
}

static int
spare_of_blocks(const pe_aggregation *g, const pe_space *s)
{
	double		rows = (double) Min(g->rules.max_rows * width_of_blocks(g, s), PG_INT32_MAX);

	return g->spare > 0 ? g->spare
		: pe_blocks_spare_for((g->rules.neighbours == PE_SUBSTITUTE ? 4 : 1) * fmax(g->of_series, 1) * rows * rows);
}

/* Whether rows are counted in a space, and nothing else. */
static bool
counts_alone(const pe_aggregation *g, const pe_space *s)
{
	for (int i = 0; i < g->parts; i++)
		if (&g->space[g->source[i].space] == s && g->needed.sum[g->source[i].sum].kind != PE_SUM_ONE)
			return false;
	return true;
}

static void
check_units(const pe_aggregation *g, const pe_space *s)
{
	for (int i = 0; i < g->parts; i++)
	{
		const pe_sum *sum = &g->needed.sum[g->source[i].sum];
		bool		units = sum->kind == PE_SUM_UNITS;

		if (&g->space[g->source[i].space] == s && (units || pe_sum_is_of_values(sum)))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the groups tell too many cells apart for count(distinct %s)",
							units ? "unit" : "..."),
					 errhint("Ask for fewer groups.")));
	}
}

/*
 * Of counts alone it is what dp.histogram has for them.  Of sums, and of units
 * in several cells, the sensitivity of substitute is a multiple of that of
 * add_remove: so is the optimum for it.
 */
static pe_strategy_key
strategy_key(const pe_aggregation *g, const pe_space *s)
{
	bool		counts = counts_alone(g, s) && s->by_atom == NULL;
	pe_neighbours neighbours = counts ? g->rules.neighbours : PE_ADD_REMOVE;
	pe_norm		norm = g->asked.ask.accounting == PE_PURE ? PE_L1 : PE_L2;

	return (pe_strategy_key) {
		.workload = &s->workload, .possible = s->possible, .possible_of = s->possible_of,
		.whole = !counts || g->of_series > 0 || pe_counts_nonnegative(g), .method = g->method,
		.objective = PE_SUM, .norm = norm, .neighbours = neighbours,
		.gap = norm == PE_L2 && neighbours == PE_SUBSTITUTE ? ACCEPTED_GAP : AGGREGATE_GAP,
		.bounded = g->bounded
	};
}

bool
pe_aggregation_is_by_blocks(const pe_aggregation *g, const pe_space *s)
{
	pe_strategy_key key = strategy_key(g, s);

	return pe_strategy_is_by_blocks(&key);
}

bool
pe_aggregation_has_numbers_by_blocks(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts; i++)
		if (pe_sum_bound(&g->needed, &g->needed.sum[g->source[i].sum]) > 1 &&
			pe_aggregation_is_by_blocks(g, &g->space[g->source[i].space]))
			return true;
	return false;
}

bool
pe_aggregation_has_blocks(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts; i++)
		if (g->part[i].strategy->blocks != NULL)
			return true;
	return false;
}

void
pe_aggregation_obtain(pe_aggregation *g, pe_space *s)
{
	pe_strategy_key key = strategy_key(g, s);

	if (pe_strategy_is_by_blocks(&key))
		key.spare = spare_of_blocks(g, s);
	else if (pe_aggregation_is_counts(g))
		pe_counts_check_memory(g);
	if (has_stored(g, &key))
		pe_aggregation_load(s, &g->strategies);
	else
		pe_strategy_obtain(&key, ACCEPTED_GAP, false, &s->kept);
	if (s->kept.strategy.blocks != NULL)
		check_units(g, s);
}

/* What follows from blocks takes no cell of the product. */
void
pe_aggregation_settle_cells(pe_space *s)
{
	s->measured = (pe_measured) {&s->workload, &s->kept.strategy, s->possible, NULL};
	s->variance = NULL;
	if (s->kept.strategy.blocks != NULL)
		return;
	pe_columns_check_product(s->domain);
	s->column_of = pe_alloc(s->domain->cells, sizeof(int32));
	pe_strategy_columns(&s->kept.strategy, &s->workload, s->possible, s->column_of);
}

void
pe_aggregation_settle(pe_space *s)
{
	pe_classes	none = {0};

	if (s->kept.strategy.blocks != NULL)
		pe_check_memory(pe_reconstruction_memory(&s->kept.strategy, &s->workload, &none) +
						pe_blocks_apply_memory(s->kept.strategy.blocks));
	pe_aggregation_settle_cells(s);
	s->variance = pe_unit_variances(&s->measured, pe_space_told(s));
	(void) pe_reconstruction_init(&s->measured, pe_space_told(s), &s->own);
	s->total_covariance = NULL;
	if (s->by_atom != NULL)
		pe_atoms_settle(s);
	if (s->above_text != NULL)
		s->above_variance = pe_unit_variances(&s->measured, &s->above);
}

/* The mean variance of a sum that a part answers, over all groups. */
static double
mean_variance(const pe_aggregation *g, int part, int sum)
{
	const pe_space *s = &g->space[g->source[part].space];
	int32		groups = s->by_atom != NULL ? g->space[0].workload.queries : s->workload.queries;
	double		all = 0;

	for (int32 q = 0; q < groups; q++)
		all += s->variance[pe_part_query(g, part, sum, q)];
	return all / groups;
}

static int32
table_cells(const pe_space *s)
{
	return s->domain->cells;
}

/* How many values there are to count; 0: they are not counted. */
static int32_t
values_counted(const pe_aggregation *g, const pe_sum *sum)
{
	if (sum->kind == PE_SUM_OPEN)
		return PE_ANY_VALUES;
	return sum->kind == PE_SUM_DISTINCT
		? pe_attribute_ordered_cells(&g->columns[pe_sum_counted_attribute(sum)].domain) : 0;
}

static void
fill_part(pe_aggregation *g, int i)
{
	const pe_source_of_part *source = &g->source[i];
	const pe_space *s = &g->space[source->space];
	const pe_sum *sum = &g->needed.sum[source->sum];
	pe_plan_part *part = &g->part[i];

	*part = (pe_plan_part) {
		.strategy = &s->kept.strategy, .bound = pe_sum_bound(&g->needed, sum), .is_signed = pe_sum_is_signed(sum),
		.cells = sum->kind == PE_SUM_UNITS ? Min(sum->most, table_cells(s)) : 0,
		.lost = sum->kind == PE_SUM_LOST ? sum->most : 0, .distinct = values_counted(g, sum)
	};
	if (pe_sum_is_of_cells(sum))
		part->needs = (uint16_t) (sum->needs & (PE_HAS_CONDITION(0) - 1));
	part->lacks = sum->lacks;
}

/* The conditions of a sum by atoms are in them. */
static pe_sum
sum_of_part(const pe_aggregation *g, int i)
{
	pe_sum		sum = g->needed.sum[g->source[i].sum];

	if (g->part[i].cells > 0)
		sum.most = g->part[i].cells;
	sum.by_atom = g->source[i].row_of != NULL;
	if (sum.by_atom)
		sum.needs &= ~(PE_HAS_ATTRIBUTE(0) - PE_HAS_CONDITION(0));
	return sum;
}

static bool
counts_rows(const pe_aggregation *g, int part)
{
	return g->needed.sum[g->source[part].sum].kind == PE_SUM_ONE && !g->source[part].is_rest;
}

/* What a row must have for a part to count it, in the cell of its space. */
static uint64
needs_of_part(const pe_aggregation *g, int part)
{
	return sum_of_part(g, part).needs;
}

/*
 * The part that counts the rows of part i, of several that with most conditions:
 * they are of one table, as what is counted by i is counted by it, in the same
 * cell.  Of numbers without one: of one table by space.
 */
static int32
table_of_part(const pe_aggregation *g, int i)
{
	uint64		needs = needs_of_part(g, i);
	int			best = -1;

	if (!pe_plan_part_is_of_rows(&g->part[i]) || g->source[i].is_rest)
		return 0;
	for (int h = 0; h < g->parts; h++)
	{
		uint64		counted = needs_of_part(g, h);

		if (counts_rows(g, h) && g->source[h].space == g->source[i].space && (counted & ~needs) == 0 &&
			(counted == needs || !counts_rows(g, i)) &&
			(best < 0 || (needs_of_part(g, best) & ~counted) == 0))
			best = h;
	}
	return best >= 0 ? 1 + best : 1 + PE_MAX_SUMS + g->source[i].space;
}

/* Of what divides the bound of one number, of the same rows, the first sum; else 0. */
static int32
pair_of_part(const pe_aggregation *g, int i)
{
	const pe_sum *sum = &g->needed.sum[g->source[i].sum];
	int			first = g->source[i].sum;
	int			members = 0;

	if (g->asked.ask.accounting != PE_PURE || pe_sum_degree(sum) == 0)
		return 0;
	for (int j = 0; j < g->parts; j++)
	{
		const pe_sum *other = &g->needed.sum[g->source[j].sum];

		if (pe_sum_degree(other) != pe_sum_degree(sum) || other->a != sum->a ||
			sum_of_part(g, j).needs != sum_of_part(g, i).needs || g->source[j].space != g->source[i].space)
			continue;
		first = Min(first, g->source[j].sum);
		members++;
	}
	return members > 1 ? 1 + first : 0;
}

/* How many parts a sum is measured in. */
static int
parts_of(const pe_aggregation *g, int sum)
{
	int			parts = 0;

	for (int i = 0; i < g->parts; i++)
		parts += pe_part_is_of(&g->source[i], sum);
	return parts;
}

/* A share is of all cells: the groups must determine their total. */
static void
check_shares(const pe_aggregation *g)
{
	pe_space   *s = &g->space[0];
	pe_workload total;
	pe_reconstruction r;

	if (!pe_aggregation_asks_share(g))
		return;
	pe_parse_columns_workload(g->asked.dataset, s->columns, s->domain, "total", &total);
	if (pe_reconstruction_init(&s->measured, &total, &r) && pe_reconstruction_undetermined(&r) >= 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("share does not go with a workload that does not determine the total"),
				 errhint("Add a term: %s + total.", s->workload.canonical)));
}

static void
check_sensitivity(bool served)
{
	if (!served)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the sensitivity of the request is too large")));
}

/*
 * The mean variances of a group's sums for the whole share, for noise of one
 * size.  Of rows as if they were added: what substitute makes of that is of all
 * parts together (pe_plan_share).
 */
static void
add_variances(pe_aggregation *g, int i, double *variance)
{
	bool		pure = g->asked.ask.accounting == PE_PURE;
	int			shift = pe_sum_shift(&g->needed, &g->needed.sum[g->source[i].sum]);
	pe_plan_rules rules = g->rules;
	pe_u128		sensitivity;

	fill_part(g, i);
	if (pe_plan_part_is_of_rows(&g->part[i]))
		rules.neighbours = PE_ADD_REMOVE;
	check_sensitivity(pe_plan_part_sensitivity(&g->part[i], &rules, g->asked.ask.accounting, &sensitivity));
	for (int s = 0; s < g->needed.sums; s++)
		if (pe_part_is_of(&g->source[i], s))
		{
			double		each = (pure ? (double) sensitivity * (double) sensitivity : (double) sensitivity) *
				ldexp(1, 2 * shift) * mean_variance(g, i, s) * parts_of(g, s);

			variance[s] = Max(variance[s], each);
		}
}

/* Of each part; those of one sum divide its share, and each has as much of its cost. */
static double *
costs_of_parts(pe_aggregation *g)
{
	bool		pure = g->asked.ask.accounting == PE_PURE;
	double	   *variance = pe_alloc(g->needed.sums, sizeof(double));
	double	   *of_sum = pe_alloc(g->needed.sums, sizeof(double));
	double	   *cost = pe_alloc(g->parts, sizeof(double));

	for (int i = 0; i < g->parts; i++)
		add_variances(g, i, variance);
	pe_aggregates_costs(&g->needed, g->aggregate, g->aggregates, pure ? PE_L1 : PE_L2, g->together, variance, of_sum);
	for (int i = 0; i < g->parts; i++)
	{
		int			sum = g->source[i].sum;

		cost[i] = of_sum[sum] / pow(parts_of(g, sum), pure ? 3 : 2);
	}
	pe_free(of_sum);
	pe_free(variance);
	return cost;
}

/* What pairs of columns take, under substitute. */
static void
check_pairs(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts && g->rules.neighbours == PE_SUBSTITUTE; i++)
	{
		const pe_strategy *strategy = g->part[i].strategy;

		if (strategy->blocks == NULL && strategy->columns <= PE_OPTIMUM_CELLS)
			pe_check_memory(pe_strategy_each_products_memory(strategy) + strategy->columns * sizeof(pe_u128));
	}
}

static void
share_lost(pe_aggregation *g)
{
	bool		lost[PE_MAX_SUMS];
	uint64		share[PE_MAX_SUMS];

	for (int i = 0; i < g->parts; i++)
	{
		lost[i] = g->part[i].lost > 0;
		share[i] = g->part[i].share;
	}
	pe_share_lost(lost, g->parts, share);
	for (int i = 0; i < g->parts; i++)
		g->part[i].share = share[i];
}

static void
find_shares(pe_aggregation *g)
{
	double	   *cost = costs_of_parts(g);
	double		least;

	check_pairs(g);
	for (int i = 0; i < g->parts; i++)
	{
		g->part[i].table = table_of_part(g, i);
		g->part[i].pair = pair_of_part(g, i);
	}
	check_sensitivity(pe_plan_share(g->part, g->parts, cost, &g->rules, g->asked.ask.accounting, &least));
	share_lost(g);
	pe_rest_share(g, cost);
	pe_free(cost);
}

/* Parts without a share are not measured. */
static void
drop_unshared(pe_aggregation *g)
{
	int			kept = 0;

	for (int i = 0; i < g->parts; i++)
		if (g->part[i].share > 0)
		{
			g->source[kept] = g->source[i];
			g->part[kept++] = g->part[i];
		}
	g->parts = kept;
	if (kept == 1)
		g->part[0].share = PE_WHOLE_SHARE;
}

/* The attributes of the domain for those of a space: attribute a of it is the a-th that its set has. */
static uint32
set_in_domain(const pe_space *s, uint32 set)
{
	uint32		left = s->set;
	uint32		in_domain = 0;

	for (int a = 0; a < s->attributes; a++, left &= left - 1)
		if ((set >> a & 1) != 0)
			in_domain |= left & -left;
	return in_domain;
}

/* Adds a table of a part: of values by them, too. */
static void
add_table(pe_aggregation *g, pe_tables *tables, int i, uint32 set)
{
	int32_t		t = tables->tables++;

	g->sums.sum[t] = sum_of_part(g, i);
	tables->set[t] = set;
	if (g->sums.sum[t].kind == PE_SUM_DISTINCT)
		tables->set[t] |= UINT32_C(1) << pe_sum_counted_attribute(&g->sums.sum[t]);
	if (g->sums.sum[t].by_atom)
		g->sums.atoms = g->needed.atoms;
}

/* Those of blocks, or the one of a space. */
static void
add_tables(pe_aggregation *g, pe_tables *tables, int i, const pe_tables *of_blocks)
{
	const pe_space *s = &g->space[g->source[i].space];

	g->first_table[i] = tables->tables;
	if (s->kept.strategy.blocks == NULL)
		add_table(g, tables, i, s->set);
	for (int32_t t = 0; t < of_blocks->tables; t++)
		add_table(g, tables, i, set_in_domain(s, of_blocks->set[t]));
	g->first_table[i + 1] = tables->tables;
}

static void
refuse_tables(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the tables that the request needs have too many cells together"),
			 errdetail("At most " INT64_FORMAT " can be counted, in at most %d tables.", (int64) PE_MAX_TABLE_CELLS,
					   PE_MAX_SUM_TABLES),
			 errhint("Ask for fewer aggregates or groups at a time.")));
}

/* The tables of blocks of each part; none of others. */
static pe_tables *
tables_of_parts(const pe_aggregation *g, int32_t *count)
{
	pe_tables  *of_blocks = palloc0(g->parts * sizeof(*of_blocks));

	*count = 0;
	for (int i = 0; i < g->parts; i++)
	{
		const pe_blocks *blocks = g->space[g->source[i].space].kept.strategy.blocks;

		if (blocks != NULL && !pe_blocks_tables(blocks, &of_blocks[i]))
			refuse_tables();
		*count += blocks != NULL ? of_blocks[i].tables : 1;
	}
	if (*count > PE_MAX_SUM_TABLES)
		refuse_tables();
	return of_blocks;
}

static void
find_tables(pe_aggregation *g)
{
	pe_tables  *tables = palloc0(sizeof(*tables));
	int32_t		count;
	pe_tables  *of_blocks = tables_of_parts(g, &count);

	g->sums = g->needed;
	g->sums.atoms = 0;
	g->sums.sums = count;
	g->sums.sum = palloc0(count * sizeof(pe_sum));
	tables->set = palloc0(count * sizeof(uint32));
	g->first_table = palloc((g->parts + 1) * sizeof(int32));
	for (int i = 0; i < g->parts; i++)
		add_tables(g, tables, i, &of_blocks[i]);
	if (!pe_tables_span(tables, g->domain) || !pe_sums_place(&g->sums, tables))
		refuse_tables();
	if (g->asked.dataset->unit != NULL && pe_sums_product(&g->sums, g->domain) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the columns have too many values together for a dataset with a unit"),
				 errdetail("The rows of a unit are told apart by their cells and numbers, of which at most "
						   "2^120 combinations have numbers."),
				 errhint("Ask for fewer columns at a time.")));
	pe_check_memory(pe_door_tables_memory(tables, g->sums.numbers));
	g->question.sums.tables = tables;
}

/* Most measurements of a release: as many as are handed to the worker in one piece. */
#define MOST_MEASUREMENTS ((int64) (MaxAllocSize / 2 / sizeof(int64)))

void
pe_aggregation_check_measurements(int64 rows, bool by_blocks)
{
	if (rows > MOST_MEASUREMENTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the request takes " INT64_FORMAT " measurements, more than a release can hold", rows),
				 errdetail("At most " INT64_FORMAT " can be.", MOST_MEASUREMENTS),
				 by_blocks ? errhint("Ask for fewer attributes at a time.")
				 : errhint("Use method => 'optimal', which measures no more than there are cells.")));
	/* exact, noisy, and on its way to the worker */
	pe_check_memory((size_t) rows * (sizeof(pe_i128) + 2 * sizeof(int64)));
}

static void
check_measurements(const pe_aggregation *g)
{
	pe_aggregation_check_measurements(g->parts + pe_aggregation_rows_before(g, g->parts), true);
}

/* Estimates and totals of each sum, and a result of each aggregate. */
size_t
pe_aggregation_memory(const pe_aggregation *g)
{
	return (size_t) g->space[0].workload.queries *
		(g->needed.sums * (sizeof(pe_sum_estimate) + sizeof(pe_sum_total)) +
		 (g->aggregates + g->deciding) * sizeof(pe_aggregate_result));
}

/* ------------------------------------------------------------------
 * Quantiles on a grid
 * ------------------------------------------------------------------
 */

int32
pe_fraction_of(const pe_aggregate *aggregate)
{
	return Max(1, Min(PE_FRACTION_UNIT - 1, (int32) rint(aggregate->fraction * PE_FRACTION_UNIT)));
}

static int
compare_fractions(const void *a, const void *b)
{
	return *(const int32 *) a - *(const int32 *) b;
}

/* In millionths, each once. */
static void
find_fractions(pe_aggregation *g)
{
	pe_quantile_problem *grid = &g->grid;
	int32		kept = 0;

	for (int i = 0; i < g->aggregates; i++)
		g->fraction[i] = pe_fraction_of(&g->aggregate[i]);
	qsort(g->fraction, g->aggregates, sizeof(int32), compare_fractions);
	for (int i = 0; i < g->aggregates; i++)
		if (i == 0 || g->fraction[i] != g->fraction[kept - 1])
			g->fraction[kept++] = g->fraction[i];
	grid->points = pe_sum_places(&g->sums, &g->sums.sum[0]);
	grid->groups = g->space[0].workload.queries;
	grid->fractions = kept;
	grid->fraction = g->fraction;
	g->question.sums.chosen = (int64) grid->groups * kept;
}

bool
pe_aggregation_measures(const pe_aggregation *g, int space)
{
	for (int i = 0; i < g->parts; i++)
		if (g->source[i].space == space)
			return true;
	return false;
}

void
pe_aggregation_measure(pe_aggregation *g)
{
	if (pe_aggregation_is_counts(g))
	{
		pe_counts_measure(g);
		return;
	}
	pe_check_memory(pe_aggregation_memory(g));
	if (g->on_grid)
	{
		pe_columns_check_product(g->space[0].domain);
		find_tables(g);
		find_fractions(g);
		return;
	}
	pe_rest_add(g);
	for (int i = 0; i < g->spaces; i++)
	{
		if (!pe_aggregation_measures(g, i))
			continue;
		pe_aggregation_obtain(g, &g->space[i]);
		pe_aggregation_settle(&g->space[i]);
	}
	check_shares(g);
	find_shares(g);
	drop_unshared(g);
	find_tables(g);
	check_measurements(g);
}

/* ------------------------------------------------------------------
 * The plan and the charge
 * ------------------------------------------------------------------
 */

void
pe_aggregation_check_max_stderr(const pe_aggregation *g)
{
	if (!isnan(g->asked.ask.max_stderr) && !pe_aggregate_is_linear(&g->aggregate[0]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_stderr does not go with %s in front", g->text[0]),
				 errdetail("It bounds the error of the first aggregate, which depends on the rows here."),
				 errhint("Put a count or a sum in front, or use epsilon; dp.quote_aggregate tells errors "
						 "beforehand.")));
}

/* N of the parts is found there, which takes seconds of thousands of columns. */
static pe_plan_status
make_plan(pe_aggregation *g, const pe_plan_ask *ask, double scale)
{
	pe_plan_sums sums = {g->parts, g->part, g->rules, 0, scale};
	pe_plan_status status = pe_plan_of_sums(ask, &sums, &g->asked.plan);

	if (status == PE_PLAN_MADE)
		pe_plan_tell_apart(g->asked.plan, g->part);
	return status;
}

/*
 * At any cost the error of the first aggregate is the same number of deviations
 * of the first part's noise, as found at a cost of 1.  Only Gaussian DP adds
 * something to each variance (noise.h), at most 4e-6 of it.
 */
#define SCALE_ROUNDING 4e-6

double
pe_aggregation_scale(pe_aggregation *g, const pe_aggregate_noise *noise)
{
	double	   *errors = pe_alloc(g->aggregates, sizeof(double));
	double		first;

	pe_aggregation_errors_of(g, noise, 1, 1, errors);
	first = errors[0];
	pe_free(errors);
	return first / pe_noise_stderr(noise->of_part[0]) * (1 + SCALE_ROUNDING);
}

static double
scale_of_first(pe_aggregation *g)
{
	bool		pure = g->asked.ask.accounting == PE_PURE;
	pe_plan_ask ask = g->asked.ask;
	pe_aggregate_noise noise;

	ask.max_stderr = NAN;
	ask.epsilon = pure ? 1 : NAN;
	ask.rho = pure ? NAN : 1;
	pe_asked_check_plan(&g->asked, make_plan(g, &ask, 1), 1, 9e9);
	noise = pe_aggregation_noise(g, INT64_C(1000000000));
	return pe_aggregation_scale(g, &noise);
}

/* Each takes some 200 microseconds, in which interrupts are held. */
#define MOST_SELECTIONS 16384

static void
price_grid(pe_aggregation *g)
{
	const char *what;
	pe_plan_status status;

	if ((int64) g->grid.groups * g->grid.fractions > MOST_SELECTIONS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the quantiles of all groups are too many"),
				 errdetail("At most %d can be chosen at once: nothing can cancel that.", MOST_SELECTIONS),
				 errhint("Ask for fewer groups or quantiles, or declare bins.")));
	status = pe_plan_of_quantiles(&g->asked.ask, &g->rules, &g->grid, &g->asked.plan, &what);
	if (status == PE_PLAN_REFUSED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the quantiles cannot be chosen"),
				 errdetail("%s", what)));
	pe_asked_check_plan(&g->asked, status, pe_quantile_levels(g->grid.fractions), PE_EPSILON_MAX);
	pe_check_memory(pe_quantile_memory(&g->grid));
}

const char *
pe_aggregation_method(const pe_aggregation *g)
{
	return g->on_grid ? "exponential" : pe_method_name(g->method);
}

/* Which sums are measured follows from it: where it changes, what was stored would be read as others. */
int
pe_aggregation_never_null(const pe_aggregation *g, char **name)
{
	int			count = 0;

	for (int n = 0; n < g->needed.numbers; n++)
		if ((g->never_null >> n & 1) != 0)
			name[count++] = g->number_column[n]->name;
	return count;
}

static void
add_never_null(StringInfo text, const pe_aggregation *g)
{
	char	   *names[PE_MAX_NUMBERS];
	int			count = pe_aggregation_never_null(g, names);

	if (count > 0)
		pe_text_add_names(text, "never_null", names, count);
}

/* Whose levels the ledger may have later: what was counted then was not these. */
static void
add_opens(StringInfo text, const pe_aggregation *g)
{
	char	   *names[PE_MAX_OPENS];

	for (int i = 0; i < g->needed.opens; i++)
		names[i] = g->open[i].name;
	if (g->needed.opens > 0)
		pe_text_add_names(text, "open", names, g->needed.opens);
}

static bool
has_sum(const pe_aggregation *g, pe_sum_kind kind)
{
	for (int s = 0; s < g->needed.sums; s++)
		if (g->needed.sum[s].kind == kind)
			return true;
	return false;
}

bool
pe_aggregation_counts_units(const pe_aggregation *g)
{
	return has_sum(g, PE_SUM_UNITS);
}

bool
pe_aggregation_counts_lost(const pe_aggregation *g)
{
	return has_sum(g, PE_SUM_LOST);
}

int
pe_aggregation_readings(const pe_aggregation *g)
{
	int			readings = 0;

	for (int s = 0; s < g->needed.sums; s++)
		readings += g->needed.sum[s].kind == PE_SUM_OPEN;
	return readings;
}

bool
pe_aggregation_counts_values(const pe_aggregation *g)
{
	return has_sum(g, PE_SUM_DISTINCT) || has_sum(g, PE_SUM_OPEN);
}

/* Whether it is all that dp.histogram measures, and has the same release: rows by attributes as they are. */
static bool
is_histogram(const pe_aggregation *g)
{
	for (int i = 0; i < g->groups; i++)
		if (g->columns[i].roll_up != NULL)
			return false;
	return g->aggregates == 1 && strcmp(g->text[0], "count(*)") == 0;
}

/* What is measured follows from it, beside the texts of the aggregates. */
static void
add_measured(StringInfo text, const pe_aggregation *g)
{
	pe_complete_add(text, &g->complete);
	add_never_null(text, g);
	add_opens(text, g);
	if (pe_aggregation_counts_units(g))
		appendStringInfo(text, ", \"cells_per_unit\": %d", g->cells_per_unit);
	pe_formulas_add_text(text, g);
}

void
pe_aggregation_add_text(StringInfo text, pe_aggregation *g)
{
	pe_text_add_names(text, "aggregates", g->text, g->aggregates);
	add_measured(text, g);
}

static char *
canonical_text(pe_aggregation *g, char **names)
{
	StringInfoData text;

	pe_text_begin_measurement(&text, &g->asked, g->text, g->aggregates, names, g->groups,
							  pe_text_of_workload(&g->space[0].workload, g->columns, g->groups), g->predicate);
	add_measured(&text, g);
	pe_text_end(&text, &g->asked, pe_aggregation_method(g));
	return text.data;
}

pe_strategies
pe_strategies_of(int64 strategy_id, const int64 *other, int others)
{
	pe_strategies all = {0};

	if (strategy_id != 0)
		all.id[all.count++] = strategy_id;
	for (int i = 0; i < others && all.count < lengthof(all.id); i++)
		all.id[all.count++] = other[i];
	return all;
}

pe_strategies
pe_aggregation_strategies(const pe_aggregation *g)
{
	pe_strategies all = {0};

	for (int i = 0; i < g->spaces; i++)
	{
		int64		id = g->space[i].kept.id;
		int			at = 0;

		while (at < all.count && all.id[at] != id)
			at++;
		if (!pe_aggregation_measures(g, i) || id == 0 || at < all.count)
			continue;
		if (all.count == lengthof(all.id))
			elog(ERROR, "aggregates need too many strategies");
		all.id[all.count++] = id;
	}
	return all;
}

void
pe_aggregation_name_strategies(const pe_aggregation *g, pe_charge_request *charge)
{
	pe_strategies all = pe_aggregation_strategies(g);

	charge->strategy_id = all.count > 0 ? all.id[0] : 0;
	charge->others = Max(all.count - 1, 0);
	charge->other = memcpy(palloc(sizeof(all.id)), all.id + 1, charge->others * sizeof(int64));
}

static void
fill_sums(pe_aggregation *g)
{
	pe_question *question = &g->question;

	question->kind = g->on_grid ? PE_CHOOSE_QUANTILES : PE_ADD_SUMS;
	question->sums.sums = &g->sums;
	question->sums.parts = g->parts;
	question->sums.part = g->part;
	question->sums.first_table = g->first_table;
	question->sums.column_of = palloc0(g->parts * sizeof(int32 *));
	for (int i = 0; i < g->parts; i++)
		question->sums.column_of[i] = g->space[g->source[i].space].column_of;
}

const pe_question *
pe_aggregation_ask(pe_aggregation *g)
{
	pe_question *question = &g->question;

	question->dataset = g->asked.dataset;
	question->columns = pe_formula_columns(g);
	question->domain = g->domain;
	question->predicate = g->selection;
	if (pe_aggregation_is_counts(g))
		pe_counts_ask(g);
	else
		fill_sums(g);
	return question;
}

static void
fill_question(pe_aggregation *g)
{
	pe_question *question = &g->question;
	pe_charge_request *charge = &g->asked.charge;
	char	  **names = palloc(Max(g->groups, 1) * sizeof(char *));

	for (int i = 0; i < g->groups; i++)
		names[i] = pe_column_text(&g->columns[i]);
	(void) pe_aggregation_ask(g);
	question->plan = g->asked.plan;
	question->charge = charge;
	pe_asked_fill_charge(&g->asked, canonical_text(g, names), pe_aggregation_method(g),
						 g->space[0].workload.queries * g->aggregates);
	pe_asked_choose_blocks(&g->asked, g->columns, g->domain, g->selection, g->needed.dropping);
	charge->attribute = names;
	charge->attributes = g->groups;
	charge->workload = is_histogram(g) ? g->space[0].workload.canonical : NULL;
	charge->predicate = g->predicate;
	pe_aggregation_name_strategies(g, charge);
}

/* Of sums: of the cost that is resolved. */
static void
price_sums(pe_aggregation *g)
{
	double		scale = 1;

	pe_aggregation_check_max_stderr(g);
	/* of what dp.histogram measures it is the same error at the same price */
	if (!isnan(g->asked.ask.max_stderr))
		scale = is_histogram(g) && g->parts == 1 ? sqrt(pe_counts_max_variance(g)) : scale_of_first(g);
	pe_asked_check_plan(&g->asked, make_plan(g, &g->asked.ask, scale), 1,
						g->asked.ask.accounting == PE_PURE ? PE_EPSILON_MAX : 9e9);
}

void
pe_aggregation_price(pe_aggregation *g)
{
	pe_asked_resolve_cost(&g->asked, !g->on_grid, false);
	if (g->on_grid)
		price_grid(g);
	else if (pe_aggregation_is_counts(g))
		pe_counts_price(g);
	else
		price_sums(g);
	fill_question(g);
}

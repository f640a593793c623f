/*
 * scan_request.c
 *	  One scan of a SELECT.  See scan_request.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "server/arguments.h"
#include "ask/formulas.h"
#include "ask/answers.h"
#include "ask/suppress.h"
#include "fdw/joined.h"
#include "fdw/notices.h"
#include "fdw/table_options.h"
#include "fdw/scan_request.h"
#include "fdw/unit_column.h"
#include "server/compat.h"
#include "server/settings.h"

/* ------------------------------------------------------------------
 * Translation
 * ------------------------------------------------------------------
 */

static pe_target_of_select *
plain_target(pe_target_kind kind, const TargetEntry *entry)
{
	pe_target_of_select *target = palloc0(sizeof(*target));

	target->kind = kind;
	target->is_linear = true;
	if (kind == PE_TARGET_GROUPING)
		target->grouping = (const GroupingFunc *) entry->expr;
	return target;
}

static void
append_elements(pe_select *s, const pe_target_of_select *array)
{
	ListCell   *cell;

	if (array->elements == NIL)
		return;
	s->target = repalloc(s->target, (s->computed + list_length(array->elements)) * sizeof(*s->target));
	foreach(cell, array->elements)
	{
		s->target[s->computed] = lfirst(cell);
		s->target[s->computed++]->tested = array->tested;
	}
}

static pe_target_of_select *
target_of(pe_select *s, const TargetEntry *entry, pe_condition *rows)
{
	if (s->keys != NULL && pe_open_keys_has(s->keys, entry))
		return plain_target(PE_TARGET_KEY, entry);
	if (s->tested != NULL && pe_tested_groups_place(s->tested, entry) >= 0)
		return plain_target(PE_TARGET_TESTED, entry);
	if (IsA(entry->expr, Aggref))
		return pe_target_of_aggregate(s->sight, s->where, rows, (const Aggref *) entry->expr, &s->wanted);
	return plain_target(IsA(entry->expr, GroupingFunc) ? PE_TARGET_GROUPING : PE_TARGET_GROUP, entry);
}

/* The rows of an alternative. */
static pe_condition *
rows_of(const pe_select *s, int alternative)
{
	return s->tested == NULL ? pe_condition_always()
		: ((const pe_tested_group *) list_nth(s->tested->groups, alternative))->rows;
}

static void
translate_targets(pe_select *s)
{
	ListCell   *cell;

	s->targets = list_length(s->plan->targets);
	s->alternatives = s->tested != NULL ? list_length(s->tested->groups) : 1;
	s->target = palloc(Max(s->alternatives * s->targets, 1) * sizeof(*s->target));
	for (int i = 0; i < s->alternatives; i++)
		foreach(cell, s->plan->targets)
		{
			pe_target_of_select *target = target_of(s, lfirst(cell), rows_of(s, i));

			target->tested = i;
			s->target[s->computed++] = target;
		}
	for (int i = 0; i < s->alternatives * s->targets; i++)
		append_elements(s, s->target[i]);
}

static void
check_linear(const pe_select *s)
{
	for (int i = 0; i < s->alternatives * s->targets; i++)
		if (!s->target[i]->is_linear)
			pe_refuse_translation("an aggregate other than a count or a sum "
								  "of groups that join combinations of several columns",
								  "Group by expressions of single columns.");
}

/* The row of those that are kept that has the same values, by a hash table of their places. */
static pe_row_of_select *
find_same_row(const pe_select *s, List *kept, const pe_row_of_select *row, int32 *table, uint32 mask)
{
	uint32		at = pe_groups_hash(s->sight, s->groups, row->set, row->class) & mask;

	for (; table[at] >= 0; at = (at + 1) & mask)
	{
		pe_row_of_select *other = list_nth(kept, table[at]);

		if (pe_groups_are_same(s->sight, s->groups, row->set, other->class, row->class))
			return other;
	}
	table[at] = list_length(kept);
	return NULL;
}

/* Rows of a set with the same values become one. */
static List *
merged(const pe_select *s, List *rows)
{
	uint32		mask = pg_nextpower2_32(2 * Max(list_length(rows), 1)) - 1;
	int32	   *table = palloc((mask + 1) * sizeof(int32));
	List	   *kept = NIL;
	ListCell   *cell;

	memset(table, -1, (mask + 1) * sizeof(int32));
	foreach(cell, rows)
	{
		pe_row_of_select *row = lfirst(cell);
		pe_row_of_select *same = find_same_row(s, kept, row, table, mask);

		CHECK_FOR_INTERRUPTS();
		if (same == NULL)
			kept = lappend(kept, row);
		else
		{
			check_linear(s);
			same->queries = list_concat(same->queries, row->queries);
		}
	}
	pfree(table);
	return kept;
}

static List *
rows_of_set(const pe_select *s, int set)
{
	const pe_groups *groups = s->groups;
	int32		count = groups->set[set].rows;
	pe_row_of_select *all = pe_alloc(count, sizeof(*all));
	int32	   *class = pe_alloc((size_t) count * groups->attributes, sizeof(int32));
	List	   *rows = NIL;

	for (int32 i = 0; i < count; i++)
	{
		pe_row_of_select *row = &all[i];

		CHECK_FOR_INTERRUPTS();
		row->set = set;
		row->class = class + (size_t) i * groups->attributes;
		row->queries = list_make1_int(groups->attributes > 0 ? groups->set[set].first + i : 0);
		if (pe_groups_row(groups, set, i, row->class))
			rows = lappend(rows, row);
	}
	return groups->merges ? merged(s, rows) : rows;
}

/* Each row of cells for each alternative of its set. */
static List *
rows_of_alternatives(const pe_select *s, int set, List *rows)
{
	List	   *all = NIL;
	ListCell   *cell;

	if (s->tested == NULL)
		return rows;
	for (int i = 0; i < s->alternatives; i++)
		foreach(cell, ((const pe_tested_group *) list_nth(s->tested->groups, i))->set == set ? rows : NIL)
		{
			pe_row_of_select *row = palloc(sizeof(*row));

			CHECK_FOR_INTERRUPTS();
			*row = *(const pe_row_of_select *) lfirst(cell);
			row->tested = i;
			all = lappend(all, row);
		}
	return all;
}

static void
find_rows(pe_select *s)
{
	bool		none = s->where->kind == PE_COND_NEVER && s->plan->grouped;

	for (int set = 0; set < s->groups->sets; set++)
		/* the set of no column has a row of nothing, too */
		if (!none || (s->plan->sets != NIL && s->groups->set[set].references == NIL))
			s->rows = list_concat(s->rows, rows_of_alternatives(s, set, rows_of_set(s, set)));
}

/* ------------------------------------------------------------------
 * The request
 * ------------------------------------------------------------------
 */

typedef struct numbered_text
{
	char	   *text;
	int			number;
	bool		is_linear;
} numbered_text;

static int
compare_texts(const void *a, const void *b)
{
	const numbered_text *one = a;
	const numbered_text *other = b;
	int			order = other->is_linear - one->is_linear;

	return order != 0 ? order : strcmp(one->text, other->text);
}

static void
renumber(List *terms, const int *place)
{
	ListCell   *cell;

	foreach(cell, terms)
		((pe_summand *) lfirst(cell))->wanted = place[((pe_summand *) lfirst(cell))->wanted];
}

/* In one order, however the SELECT has them: counts and sums first, which max_stderr can be of. */
static void
sort_wanted(pe_select *s)
{
	int			count = list_length(s->wanted.texts);
	numbered_text *sorted = palloc(Max(count, 1) * sizeof(*sorted));
	int		   *place = palloc(Max(count, 1) * sizeof(int));

	for (int i = 0; i < count; i++)
	{
		char	   *text = list_nth(s->wanted.texts, i);

		sorted[i] = (numbered_text) {text, i, pe_aggregate_text_is_linear(text)};
	}
	qsort(sorted, count, sizeof(*sorted), compare_texts);
	s->wanted.texts = NIL;
	for (int i = 0; i < count; i++)
	{
		s->wanted.texts = lappend(s->wanted.texts, sorted[i].text);
		place[sorted[i].number] = i;
	}
	for (int i = 0; i < s->computed; i++)
	{
		renumber(s->target[i]->terms, place);
		renumber(s->target[i]->divisor, place);
	}
}

static bool
list_has_text(const List *list, const char *text)
{
	const ListCell *cell;

	foreach(cell, list)
		if (strcmp(lfirst(cell), text) == 0)
			return true;
	return false;
}

/* With room for one more. */
static char **
texts_of(List *list)
{
	char	  **text = palloc((list_length(list) + 1) * sizeof(char *));
	ListCell   *cell;

	foreach(cell, list)
		text[foreach_current_index(cell)] = lfirst(cell);
	return text;
}

/* Or values: those of two groups do not add up either. */
static bool
counts_people(const pe_select *s)
{
	ListCell   *cell;

	foreach(cell, s->plan->targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (IsA(entry->expr, Aggref) && pe_target_counts_distinct(s->sight, (const Aggref *) entry->expr))
			return true;
	}
	return false;
}

/*
 * The attributes whose part of WHERE is applied to the answer where groups are
 * by them: another filter is the same request then.  Not the column of blocks,
 * as only the blocks that WHERE leaves are charged.  Not where people are
 * counted in groups: some of a person's groups are drawn, and WHERE decides
 * among which.  Not where the foreign table counts fewer rows or groups of each
 * unit than there are: it counts those that WHERE leaves.
 */
static Bitmapset *
filters_of_answer(const pe_select *s)
{
	const pe_public_dataset *declared = s->sight->declared;
	Bitmapset  *filters = NULL;

	if (s->cube != NULL)		/* what it counts is counted already */
		return s->plan->sets != NIL ? NULL : pe_cube_within(s->cube, s->sight);
	if (s->plan->sets != NIL || counts_people(s) || pe_fdw_rows_per_unit(s->plan->relation) > 0 ||
		pe_fdw_cells_per_unit(s->plan->relation) > 0)
		return NULL;
	for (int i = 0; i < declared->attributes; i++)
		if (declared->block_column == NULL || strcmp(declared->attribute[i].name, declared->block_column) != 0)
			filters = bms_add_member(filters, i);
	return filters;
}

/* Rows of a unit are drawn among all that it has, and not among those that WHERE leaves. */
static void
tell_cut_before(pe_select *s, const Bitmapset *applied)
{
	const pe_public_dataset *declared = s->sight->declared;
	int			a = -1;

	if (declared->unit == NULL)
		return;
	while ((a = bms_next_member(applied, a)) >= 0)
	{
		if (pe_condition_leaves(s->where, a) == NULL)
			continue;
		s->filters_answer = true;
		if (!pe_sight_is_told(s->sight, "cut before"))
			pe_notice((errmsg("WHERE is applied to the groups of \"%s\" after rows of a unit beyond max_rows are cut",
							declared->attribute[a].name),
					 errdetail("Where units have more rows than max_rows, "
							   "fewer are counted than by the same WHERE without the group.")));
	}
}

/* Behind all others: max_stderr is of the first. */
static void
ask_for_dropped(pe_select *s)
{
	int			most = pe_fdw_count_dropped(s->plan->relation);

	s->counts_dropped = s->asks && most > 0 && !s->wanted.on_grid && s->sight->declared->unit != NULL;
	if (s->counts_dropped)
		s->wanted.texts = lappend(s->wanted.texts, psprintf("dropped(%d)", most));
}

/* What of WHERE is not applied to the answer; applied: the attributes of what is. */
static const pe_condition *
where_before(const pe_select *s, const Bitmapset **applied)
{
	*applied = bms_intersect(s->groups->filters, pe_groups_attributes(s->groups));
	return pe_condition_without(s->sight, s->where, *applied);
}

static void
begin_request(pe_select *s, List *aggregates)
{
	pe_request *request = &s->call.call.request;

	pe_request_init(request, PE_ASK_SUMS, PE_FRONT_SELECT);
	request->min_count = pe_fdw_min_count(s->plan->relation);
	request->dataset = pstrdup(s->sight->dataset);
	request->sums.aggregate = texts_of(aggregates);
	request->sums.aggregates = list_length(aggregates);
}

/*
 * Over all attributes of the cube, with the rows of its release.  Where that
 * has count(*), so has the request: sums are in the same basis then.
 */
static void
ask_cube(pe_select *s)
{
	pe_request *request = &s->call.call.request;
	const Bitmapset *applied;
	pe_over_cube *o = &s->over;

	*o = (pe_over_cube) {
		.apart = s->cube->stored != NULL &&
		pe_suppress_rule(s->cube->stored->release.dataset, pe_fdw_min_count(s->plan->relation)).units > 0,
		.cube = s->cube, .sight = s->sight, .groups = s->groups, .where = where_before(s, &applied)
	};
	pe_over_cube_begin(o);
	for (int i = 0; i < s->computed; i++)
	{
		pe_target_of_select *t = s->target[i];
		bool		terms = t->terms != NIL;

		t->terms = pe_over_cube_terms(o, &s->wanted, t->terms);
		t->divisor = pe_over_cube_terms(o, &s->wanted, t->divisor);
		t->is_empty |= terms && t->terms == NIL;
	}
	s->asks = s->asks && o->aggregates != NIL;
	begin_request(s, o->aggregates);
	if (s->cube->counts && !list_has_text(o->aggregates, "count(*)"))
		request->sums.aggregate[request->sums.aggregates++] = "count(*)";
	request->attribute = s->cube->attribute;
	request->attributes = s->cube->attributes;
	request->predicate = s->cube->stored != NULL ? s->cube->stored->release.predicate_text : NULL;
	if (s->asks)
		request->workload = pe_over_cube_workload(o);
	s->call.cube = s->cube;
}

static void
fill_request(pe_select *s)
{
	pe_request *request = &s->call.call.request;
	const Bitmapset *applied;
	const pe_condition *where = where_before(s, &applied);

	tell_cut_before(s, applied);
	begin_request(s, s->wanted.texts);
	request->attributes = s->groups->attributes;
	request->attribute = palloc(Max(s->groups->attributes, 1) * sizeof(char *));
	for (int i = 0; i < s->groups->attributes; i++)
		request->attribute[i] = pe_groups_by(s->sight, s->groups, i);
	request->workload = pe_groups_workload(s->sight, s->groups);
	request->predicate = pe_condition_text(s->sight, where);
	request->rows_per_unit = pe_fdw_rows_per_unit(s->plan->relation);
	request->cuts = request->rows_per_unit > 0;
	request->sums.cells_per_unit = pe_fdw_cells_per_unit(s->plan->relation);
	request->sums.limits_cells = request->sums.cells_per_unit > 0;
	request->budget = (char *) pe_fdw_budget(s->plan->relation);
	s->call.reuse = true;
}

/* Tables that are joined are found anew whenever a scan is opened: what they are may have changed since. */
static const pe_seen *
what_is_seen(pe_select *s)
{
	const pe_scan_plan *plan = s->plan->joined != NULL ? s->plan->joined : s->plan;

	return plan->tables != NIL ? pe_joined_seen(plan, &s->plan) : pe_seen_of_table(plan->relation);
}

void
pe_select_open(pe_select *s)
{
	const pe_seen *seen;

	pe_settings_check_select();
	seen = what_is_seen(s);
	if (s->cube == NULL && pe_fdw_is_cube(s->plan->relation))
		s->cube = pe_cube_open(s->plan->relation, pe_scan_reader(s->scan, s->estate));
	s->hide_below = pe_fdw_hide_below(s->plan->relation);
	s->hide_below_all = pe_fdw_hide_below_all(s->plan->relation);
	s->sight = pe_sight_open(s->estate, seen, list_concat_copy(s->plan->where, s->plan->targets));
	if (s->cube != NULL && s->cube->stored != NULL && s->cube->stored->release.dataset->id != s->sight->declared->id)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("release " INT64_FORMAT " is of another dataset than \"%s\"",
						s->cube->stored->release.id, s->sight->dataset),
				 errhint("The owner makes the relation anew by dp.expose(..., release => ..., replace => true).")));
	s->wanted.apart = s->sight->of_cube = s->cube != NULL;
	if (s->cube != NULL)
	{
		s->wanted.within = pe_cube_within(s->cube, s->sight);
		s->wanted.summed = pe_cube_summed(s->cube, s->sight);
		s->wanted.formulas = s->cube->formulas;
		s->wanted.formula = s->cube->formula;
		s->wanted.proposed = s->cube->stored == NULL;
	}
	pe_unit_column_check_groups(s->sight, s->plan->targets, s->plan->where);
}

/* That expressions of GROUP BY look at. */
static Bitmapset *
grouped_attributes(const pe_select *s)
{
	Bitmapset  *grouped = NULL;
	ListCell   *cell;

	foreach(cell, s->plan->targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (entry->ressortgroupref != 0)
			grouped = bms_add_members(grouped, pe_sight_attributes(s->sight, (Node *) entry->expr));
	}
	return grouped;
}

/* Its cells have no numbers in a request. */
static void
check_listed(const pe_select *s)
{
	for (int i = 0; i < s->groups->attributes; i++)
		if (s->sight->declared->attribute[s->groups->attribute[i].attribute].listed != NULL)
			pe_refuse_translation("GROUP BY of a test of a column whose values nobody has listed",
								  "Count each side by FILTER, or by WHERE.");
}

/* An open column is no group of cells: its values stand beside all groups of the others. */
static void
find_groups(pe_select *s)
{
	pe_scan_plan plan = *s->plan;

	s->tested = pe_tested_groups_find(s->sight, s->plan, s->where);
	s->keys = s->tested != NULL ? NULL : pe_open_keys_find(s->sight, s->plan);
	if (s->keys != NULL)
		plan.targets = s->keys->targets;
	else if (s->tested != NULL)
		plan.targets = s->tested->targets;
	s->groups = pe_groups_find(s->sight, &plan, s->where, s->keys != NULL ? NULL : filters_of_answer(s));
	check_listed(s);
}

void
pe_select_translate(pe_select *s)
{
	s->plan->where = pe_unit_column_decided(s->sight, s->plan->where);
	s->plan->targets = pe_unit_column_decided(s->sight, s->plan->targets);
	s->where = pe_condition_of_list(s->sight, s->plan->where, "a test in WHERE");
	if (!pe_condition_may_hold(s->sight, s->where, false))
		s->where = pe_condition_never();
	if (s->cube != NULL)
		s->where = pe_cube_where(s->cube, s->sight, s->where, grouped_attributes(s));
	find_groups(s);
	translate_targets(s);
	find_rows(s);
	s->asks = s->rows != NIL && s->wanted.texts != NIL;
	/* what WHERE leaves nothing of has no values */
	if (s->keys != NULL && s->rows == NIL)
		return;
	if (s->keys != NULL)
	{
		sort_wanted(s);
		pe_open_keys_request(s->keys, s->plan->relation, s->where, s->groups, &s->wanted, s->target, s->computed);
		return;
	}
	if (s->cube != NULL)
	{
		ask_cube(s);
		return;
	}
	sort_wanted(s);
	ask_for_dropped(s);
	fill_request(s);
}

/* ------------------------------------------------------------------
 * The price
 * ------------------------------------------------------------------
 */

/* Of what would be measured; or of what is known, if something is. */
static double *
errors_of(const pe_select *s, bool anew)
{
	double	   *errors = palloc(s->call.aggregation->aggregates * sizeof(double));

	if (!anew)
		pe_aggregate_call_errors(&s->call, 1000, errors);
	else
		pe_aggregation_errors(s->call.aggregation, 1000, pe_aggregate_call_nano(&s->call), errors);
	return errors;
}

/*
 * By how much a row's error is that of one group at most, where groups that an
 * expression of several columns does not tell apart are one row.  Noise of the
 * groups of one table is independent.
 */
static double
factor_of_merged(const pe_select *s)
{
	bool		independent = s->groups->sets == 1;
	int			most = 1;
	ListCell   *cell;

	/* conditions may share what is measured */
	for (int i = 0; i < s->computed; i++)
		independent = independent &&
			(s->target[i]->filter == NULL || s->target[i]->filter->kind == PE_COND_ALWAYS);

	foreach(cell, s->rows)
		most = Max(most, list_length(((const pe_row_of_select *) lfirst(cell))->queries));
	return independent ? sqrt(most) : most;
}

/* At one price: "epsilon 0.1: standard error 12.3". */
static void
append_offer(StringInfo to, pe_select *s, double epsilon)
{
	double		error;

	s->call.call.request.epsilon = epsilon;
	if (s->call.aggregation == NULL)
		pe_aggregate_call_prepare(&s->call, false);
	else
		pe_aggregate_call_reprice(&s->call);
	error = errors_of(s, true)[0] * factor_of_merged(s);
	appendStringInfo(to, "%sepsilon %g", to->len > 0 ? "; " : "", epsilon);
	if (!isnan(error))
		appendStringInfo(to, " with a standard error of %.3g", error);
}

static void
refuse_for_want_of_price(pe_select *s)
{
	static const double offers[] = {0.01, 0.1, 1};
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < lengthof(offers); i++)
		append_offer(&text, s, offers[i]);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no price is set for a SELECT on dataset \"%s\"", s->sight->dataset),
			 errdetail("%s would cost %s. Nothing was charged.", s->call.call.request.sums.aggregate[0], text.data),
			 errhint("SET pg_epsilon.epsilon = 0.1, or pg_epsilon.max_stderr = 100; ALTER ROLE ... SET keeps it.")));
}

static void
refuse_changed(const pe_select *s)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("dataset \"%s\" changed while the statement ran", s->sight->dataset),
			 errdetail("Nothing was charged."),
			 errhint("Run it again.")));
}

/*
 * What was translated is what is asked: a function of the SELECT, or another
 * session, may have declared the dataset anew.
 */
static void
check_declared(const pe_select *s)
{
	const pe_aggregation *g = s->call.aggregation;
	const pe_column *columns = pe_formula_columns(g);
	int			count = PE_MAX_COLUMNS_READ;

	if (s->cube != NULL)
	{
		if (pe_public_is_same_in(s->sight->declared, g->asked.dataset, columns, count))
			return;
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("an attribute of the SELECT was altered after release " INT64_FORMAT,
						s->cube->stored->release.id),
				 errhint("Measure a cube anew, and make the relation of it by dp.expose(..., release => ..., "
						 "replace => true).")));
	}
	if (!pe_public_is_same(s->sight->declared, g->asked.dataset, columns, count))
		refuse_changed(s);
}

/* That what can be hidden is, and that there is room for the wider intervals. */
static void
check_hidden(const pe_select *s)
{
	const pe_aggregation *g = s->call.aggregation;

	if (!s->hide_below_all)
		return;
	if (g->on_grid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pg_epsilon.hide_below_all does not go with a quantile of a column without bins"),
				 errdetail("Such a quantile does not tell whether its group has rows. Nothing was charged."),
				 errhint("SET pg_epsilon.hide_below_all = off, or let the owner declare bins.")));
	pe_check_memory(2 * pe_aggregation_memory(g));
}

/* Keys are priced by epsilon alone: what a standard error would cost depends on delta too. */
static void
price_keys(pe_select *s, bool needs_budget)
{
	const pe_aggregation *g;

	pe_fdw_price(s->plan->relation, &s->epsilon, &s->max_stderr);
	s->is_priced = true;
	if (isnan(s->epsilon) || !isnan(s->max_stderr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 isnan(s->max_stderr) ? errmsg("no price is set for a SELECT on dataset \"%s\"", s->sight->dataset)
				 : errmsg("pg_epsilon.max_stderr does not go with GROUP BY of \"%s\", whose values nobody has listed",
						  s->keys->column[0]->name),
				 errdetail("Nothing was charged."),
				 errhint("SET pg_epsilon.max_stderr = 0, and pg_epsilon.epsilon = 0.1 for instance. EXPLAIN shows the "
						 "error.")));
	s->keys->call.call.request.epsilon = s->epsilon;
	pe_key_call_prepare(&s->keys->call, needs_budget);
	g = s->keys->call.aggregation;
	if (!pe_public_is_same(s->sight->declared, s->keys->call.asked.dataset, s->keys->call.column,
						   lengthof(s->keys->call.column)) ||
		(g != NULL && !pe_public_is_same(s->sight->declared, g->asked.dataset, pe_formula_columns(g),
										 PE_MAX_COLUMNS_READ)))
		refuse_changed(s);
}

void
pe_select_price(pe_select *s, bool needs_budget)
{
	if (!s->asks)
		return;
	pe_settings_check_select();
	if (s->keys != NULL)
	{
		price_keys(s, needs_budget);
		return;
	}
	if (s->cube != NULL)
	{
		pe_aggregate_call_prepare(&s->call, false);
		check_declared(s);
		check_hidden(s);
		return;
	}
	if (!s->is_priced)
		pe_fdw_price(s->plan->relation, &s->epsilon, &s->max_stderr);
	s->is_priced = true;
	s->call.call.request.epsilon = s->epsilon;
	s->call.call.request.max_stderr = s->max_stderr / factor_of_merged(s);
	if (isnan(s->call.call.request.epsilon) && isnan(s->call.call.request.max_stderr))
		refuse_for_want_of_price(s);
	if (!isnan(s->call.call.request.epsilon) && !isnan(s->call.call.request.max_stderr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("both pg_epsilon.epsilon and pg_epsilon.max_stderr are set"),
				 errdetail("Nothing was charged."),
				 errhint("SET one of them to 0, which is: not set.")));
	if (!isnan(s->call.call.request.max_stderr) && !pe_aggregate_text_is_linear(s->call.call.request.sums.aggregate[0]))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pg_epsilon.max_stderr bounds the error of a count or a sum, and the SELECT has none"),
				 errdetail("Nothing was charged."),
				 errhint("Add count(*), or SET pg_epsilon.max_stderr = 0 and pg_epsilon.epsilon.")));
	pe_aggregate_call_prepare(&s->call, needs_budget);
	check_declared(s);
	check_hidden(s);
	if (!isnan(s->max_stderr))
		pe_aggregate_call_check_precision(&s->call, s->max_stderr);
}

pe_payment
pe_select_payment(const pe_select *s)
{
	if (s->keys != NULL)
		return (pe_payment) {&s->keys->call.asked, s->keys->call.replays};
	return (pe_payment) {&s->call.aggregation->asked, pe_aggregate_call_is_paid(&s->call)};
}

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

/* Those of one variant. */
static pe_terms
terms_of(const List *summands, int variant)
{
	pe_weighted *term = palloc(Max(list_length(summands), 1) * sizeof(*term));
	const ListCell *cell;
	int			count = 0;

	foreach(cell, summands)
	{
		const pe_summand *summand = lfirst(cell);

		if (summand->variant == variant)
			term[count++] = (pe_weighted) {summand->factor, summand->wanted};
	}
	return (pe_terms) {term, count};
}

/* The variant of all of them; -1: they have several. */
static int
only_variant(const List *summands)
{
	const ListCell *cell;

	foreach(cell, summands)
		if (((const pe_summand *) lfirst(cell))->variant != ((const pe_summand *) linitial(summands))->variant)
			return -1;
	return summands != NIL ? ((const pe_summand *) linitial(summands))->variant : -1;
}

static int32 *
groups_of(const List *queries, int32 first)
{
	int32	   *group = palloc(Max(list_length(queries), 1) * sizeof(*group));
	const ListCell *cell;

	foreach(cell, queries)
		group[foreach_current_index(cell)] = first + lfirst_int(cell);
	return group;
}

static pe_aggregate_result
sum_of_variant(const pe_select *s, const pe_aggregate_call *call, const List *summands, int variant,
			   const List *queries)
{
	pe_terms	terms = terms_of(summands, variant);

	return pe_aggregate_call_sum(call, groups_of(queries, variant * s->over.queries), list_length(queries), &terms);
}

/* What terms of several variants have in common is not known. */
static pe_aggregate_result
sum_of(const pe_select *s, const pe_aggregate_call *call, const List *summands, const List *queries)
{
	int			variants = Max(list_length(s->over.variants), 1);
	pe_aggregate_result all = {0};

	if (only_variant(summands) >= 0)
		return sum_of_variant(s, call, summands, only_variant(summands), queries);
	for (int i = 0; i < variants; i++)
		if (terms_of(summands, i).terms > 0)
		{
			pe_aggregate_result one = sum_of_variant(s, call, summands, i, queries);

			all = pe_result_sum(&all, &one);
		}
	return all;
}

/* It is of one group: such targets are not added up. */
static pe_aggregate_result
mean_of(const pe_select *s, const pe_aggregate_call *call, const pe_target_of_select *t, const List *queries)
{
	int			variant = only_variant(t->terms);
	pe_aggregate_result above;
	pe_aggregate_result below;

	if (variant >= 0 && variant == only_variant(t->divisor))
	{
		pe_terms	sum = terms_of(t->terms, variant);
		pe_terms	count = terms_of(t->divisor, variant);

		return pe_aggregate_call_quotient(call, variant * s->over.queries + linitial_int(queries), &sum, &count);
	}
	above = sum_of(s, call, t->terms, queries);
	below = sum_of(s, call, t->divisor, queries);
	return pe_result_quotient(&above, &below);
}

static pe_aggregate_result
answer_of(const pe_select *s, const pe_aggregate_call *call, const pe_target_of_select *t, const pe_row_of_select *row)
{
	return t->kind == PE_TARGET_MEAN ? mean_of(s, call, t, row->queries) : sum_of(s, call, t->terms, row->queries);
}

/* The first that is computed of what is measured; NULL: none. */
static const pe_target_of_select *
first_computed(const pe_select *s)
{
	for (int i = 0; i < s->computed; i++)
		if ((s->target[i]->kind == PE_TARGET_SUM || s->target[i]->kind == PE_TARGET_MEAN) && s->target[i]->terms != NIL)
			return s->target[i];
	return NULL;
}

double
pe_select_error(const pe_select *s)
{
	const pe_target_of_select *t = first_computed(s);
	pe_aggregate_call reference;
	double		most = 0;
	ListCell   *cell;

	if (!s->asks || t == NULL)
		return 0;
	reference = pe_aggregate_call_reference(&s->call, 1000);
	foreach(cell, s->rows)
	{
		pe_aggregate_result r = answer_of(s, &reference, t, lfirst(cell));

		CHECK_FOR_INTERRUPTS();
		if (!(r.stderr_ <= most))	/* unknown is worse than any */
			most = r.stderr_;
	}
	return most;
}

/*
 * Whether it may be of a group without rows.  A quantile has no standard error,
 * and is shown where the number of rows is above 0.
 */
static bool
may_be_nothing(const pe_select *s, const pe_target_of_select *t, const pe_row_of_select *row)
{
	pe_aggregate_result r = answer_of(s, &s->together, t, row);

	return isnan(r.estimate) || (!isnan(r.stderr_) && r.lower <= 0 && r.upper >= 0);
}

/* Of a key, which has one group. */
static pe_aggregate_result
answer_of_key(const pe_select *s, const pe_target_of_select *t, const pe_row_of_select *row)
{
	pe_aggregate_call call;

	if (t->of_key)
		return pe_open_keys_sum(s->keys, t->terms, row->key);
	call = pe_key_call_sums(&s->keys->call, row->key);
	return answer_of(s, &call, t, row);
}

static double
figure_of(const pe_aggregate_result *r, pe_figure figure, double hide_below)
{
	switch (figure)
	{
		case PE_STDERR:
			return r->stderr_;
		case PE_LOWER95:
			return r->lower;
		case PE_UPPER95:
			return r->upper;
		default:
			return fabs(r->estimate) < hide_below * r->stderr_ ? NAN : r->estimate;
	}
}

/* The nearest of the whole numbers of a type, which are from least = -(most + 1) to most. */
static int64
whole(double number, int64 least, int64 most)
{
	number = rint(number);
	if (number >= -(double) least)	/* most itself may be no double */
		return most;
	return number <= (double) least ? least : (int64) number;
}

/* All digits that the number has: float8_numeric would keep 15 of them. */
static Datum
numeric_of_number(double number)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(pe_number_text(number)), ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

static Datum
datum_of_number(Oid type, double number)
{
	switch (type)
	{
		case INT2OID:
			return Int16GetDatum((int16) whole(number, PG_INT16_MIN, PG_INT16_MAX));
		case INT4OID:
			return Int32GetDatum((int32) whole(number, PG_INT32_MIN, PG_INT32_MAX));
		case INT8OID:
			return Int64GetDatum(whole(number, PG_INT64_MIN, PG_INT64_MAX));
		case FLOAT4OID:
			return Float4GetDatum((float4) number);
		case NUMERICOID:
			return numeric_of_number(number);
		default:
			return Float8GetDatum(number);
	}
}

static void
put_number(const pe_select *s, const pe_target_of_select *t, const pe_row_of_select *row, Datum *value, bool *isnull)
{
	bool		has_noise = s->asks && t->terms != NIL;
	pe_aggregate_result result = {0};
	double		number;

	if (has_noise)
		result = s->keys != NULL ? answer_of_key(s, t, row) : answer_of(s, &s->call, t, row);
	number = figure_of(&result, t->figure, s->hide_below);
	if (has_noise && s->hide_below_all && s->keys == NULL && t->figure == PE_ESTIMATE && may_be_nothing(s, t, row))
		number = NAN;
	if (t->figure != PE_STDERR)
		number += t->offset;
	*isnull = isnan(number) || (t->is_empty && !t->counts);
	if (!*isnull)
		*value = datum_of_number(t->type, number);
}

/* As PostgreSQL does: of the shape of the fractions, NULL where one of them is. */
static void
put_array(const pe_select *s, const pe_target_of_select *t, const pe_row_of_select *row, Datum *value, bool *isnull)
{
	ListCell   *element = list_head(t->elements);
	Datum	   *number;
	bool	   *missing;
	int			count;
	Oid			type = get_element_type(t->type);
	int16		width;
	bool		by_value;
	char		alignment;
	bool		has_value = t->shape != NULL && t->elements == NIL;

	if (t->shape != NULL)
	{
		deconstruct_array(t->shape, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &number, &missing,
						  &count);
		for (int i = 0; i < count; i++)
			if (!missing[i])
			{
				put_number(s, lfirst(element), row, &number[i], &missing[i]);
				has_value |= !missing[i];
				element = lnext(t->elements, element);
			}
	}
	*isnull = !has_value;
	if (*isnull)
		return;
	get_typlenbyvalalign(type, &width, &by_value, &alignment);
	*value = PointerGetDatum(construct_md_array(number, missing, ARR_NDIM(t->shape), ARR_DIMS(t->shape),
												ARR_LBOUND(t->shape), type, width, by_value, alignment));
}

/* ------------------------------------------------------------------
 * Noise that looks like fact
 * ------------------------------------------------------------------
 */

/* Whether it has noise and can be hidden. */
static bool
is_estimate(const pe_target_of_select *t)
{
	return (t->kind == PE_TARGET_SUM || t->kind == PE_TARGET_MEAN) && t->figure == PE_ESTIMATE && t->terms != NIL;
}

/* How many estimates the answer has: it follows from the declaration and the SELECT alone. */
static double
estimates(const pe_select *s)
{
	double		each = 0;

	for (int i = 0; i < s->computed; i++)
		each += is_estimate(s->target[i]);
	return each / Max(s->alternatives, 1) * list_length(s->rows);
}

/* An average near 0 may be known well. */
static bool
is_count_or_sum(const pe_select *s, const pe_target_of_select *t)
{
	return t->kind == PE_TARGET_SUM && is_estimate(t) &&
		pe_aggregate_text_is_linear(s->call.call.request.sums.aggregate[((pe_summand *) linitial(t->terms))->wanted]);
}

/* The first count or sum of an alternative; NULL: there is none. */
static const pe_target_of_select *
first_sum(const pe_select *s, int alternative)
{
	for (int i = 0; i < s->computed; i++)
		if (s->target[i]->tested == alternative && is_count_or_sum(s, s->target[i]))
			return s->target[i];
	return NULL;
}

/* What is hidden is not ranked. */
static void
tell_noise(const pe_select *s)
{
	pe_near_zero count = {0};
	ListCell   *cell;

	if (first_sum(s, 0) == NULL || s->hide_below >= PE_NEAR_ZERO || s->hide_below_all)
		return;
	foreach(cell, s->rows)
	{
		const pe_row_of_select *row = lfirst(cell);
		const pe_target_of_select *sum = first_sum(s, row->tested);
		pe_aggregate_result r = {.estimate = NAN};

		CHECK_FOR_INTERRUPTS();
		if (sum != NULL)
			r = answer_of(s, &s->call, sum, row);
		if (!isnan(r.estimate))
			pe_near_zero_add(&count, r.estimate, r.stderr_);
	}
	pe_near_zero_tell(&count, ", or SET pg_epsilon.hide_below_all = on");
}

/* A group is hidden if any of its aggregates is: of what is unknown otherwise there is an interval. */
static bool
is_hidden(const pe_select *s, const pe_row_of_select *row, bool *partly)
{
	bool		hidden = false;
	bool		shown = false;

	for (int i = 0; i < s->computed; i++)
		if (s->target[i]->terms != NIL && s->target[i]->tested == row->tested)
		{
			pe_aggregate_result r = answer_of(s, &s->call, s->target[i], row);
			bool		is_nothing = isnan(r.estimate) && isnan(r.lower);

			hidden |= is_nothing;
			shown |= !is_nothing;
		}
	*partly = hidden && shown;
	return hidden;
}

static void
tell_hidden(const pe_select *s)
{
	int32		hidden = 0;
	int32		partly = 0;
	ListCell   *cell;

	if (s->call.aggregation->min.units == 0)
		return;
	foreach(cell, s->rows)
	{
		bool		in_part;

		CHECK_FOR_INTERRUPTS();
		hidden += is_hidden(s, lfirst(cell), &in_part);
		partly += in_part;
	}
	pe_aggregate_call_tell_hidden(&s->call, hidden, partly, list_length(s->rows));
}

/* It is the last aggregate, and the same in every group. */
static void
tell_dropped(const pe_select *s)
{
	const pe_aggregation *g = s->call.aggregation;
	int			last = s->call.call.request.sums.aggregates - 1;
	const pe_aggregate_result *r = pe_aggregate_call_result_of(&s->call, 0, last);

	if (isnan(r->estimate))
		return;					/* of too few units */
	pe_notice((errmsg("the cut to %d rows of each unit dropped about %.0f rows (+- %.3g)", g->asked.dataset->max_rows,
					fmax(rint(r->estimate), 0), r->stderr_),
			 errdetail("Of each unit at most %d of them are counted. The results are about the rows that are left.",
					   g->aggregate[last].most)));
}

/* Of counts of values: where the noise alone is more than all values that there are.  It is public. */
static void
tell_few_values(const pe_select *s)
{
	const pe_aggregation *g = s->call.aggregation;
	const double *errors = errors_of(s, false);

	for (int i = 0; i < g->aggregates; i++)
	{
		int32		values = g->aggregate[i].kind == PE_AGG_DISTINCT && g->aggregate[i].attribute >= 0
			? pe_attribute_ordered_cells(&g->columns[g->aggregate[i].attribute].domain) : 0;

		if (values > 0 && errors[i] > values)
			pe_notice((errmsg("the standard error of %s is %.3g, more than the %d values that are declared",
							s->call.call.request.sums.aggregate[i], errors[i], values),
					 errhint("A larger pg_epsilon.epsilon, or fewer aggregates at once, makes it smaller.")));
	}
}

/* The groups of the attributes beside a key, by the number of their cell; NULL: WHERE leaves nothing of it. */
static const pe_row_of_select **
rows_of_cells(const pe_select *s, int64 *cells)
{
	const pe_groups *groups = s->groups;
	const pe_row_of_select **row_of;
	ListCell   *cell;

	*cells = 1;
	for (int a = 0; a < groups->attributes; a++)
		*cells = pe_size_times(*cells, groups->attribute[a].classes);
	pe_check_memory(pe_size_times(*cells, sizeof(*row_of)));
	row_of = palloc_extended(*cells * sizeof(*row_of), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	foreach(cell, s->rows)
	{
		const pe_row_of_select *row = lfirst(cell);
		int64		at = 0;

		for (int a = 0; a < groups->attributes; a++)
			at = at * groups->attribute[a].classes + row->class[a];
		row_of[at] = row;
	}
	return row_of;
}

/* The row of each key. */
static List *
rows_of_keys(const pe_select *s)
{
	int64		cells;
	const pe_row_of_select **row_of = rows_of_cells(s, &cells);
	List	   *queries = list_make1_int(0);
	List	   *rows = NIL;

	for (int32 key = 0; key < s->keys->call.keys.keys; key++)
	{
		int32		cell = s->keys->cell[key];
		const pe_row_of_select *beside = cell >= 0 && cell < cells ? row_of[cell] : NULL;
		pe_row_of_select *row;

		CHECK_FOR_INTERRUPTS();
		if (beside == NULL)
			continue;
		row = palloc(sizeof(*row));
		*row = *beside;
		row->key = key;
		row->queries = queries;
		rows = lappend(rows, row);
	}
	return rows;
}

void
pe_select_answer(pe_select *s)
{
	double		count = estimates(s);

	if (!s->asks)
		return;
	if (s->keys != NULL)
	{
		pe_open_keys_answer(s->keys);
		s->rows = rows_of_keys(s);
		return;
	}
	pe_aggregate_call_answer(&s->call);
	if (s->hide_below_all && count > 0)
		s->together = pe_aggregate_call_together(&s->call, count);
	tell_hidden(s);
	tell_noise(s);
	tell_few_values(s);
	if (s->counts_dropped)
		tell_dropped(s);
}

/* ------------------------------------------------------------------
 * What is declared
 * ------------------------------------------------------------------
 */

static int
group_place(const pe_groups *groups, int attribute)
{
	for (int i = 0; i < groups->attributes; i++)
		if (groups->attribute[i].attribute == attribute)
			return i;
	return -1;
}

/* Whether a level or bin can occur in a row. */
static bool
may_occur(const pe_select *s, const pe_target_of_select *t, const pe_row_of_select *row, int32 cell)
{
	const bool *left = pe_condition_leaves(s->where, t->attribute);
	const bool *filtered = pe_condition_leaves(t->filter, t->attribute);
	int			place = group_place(s->groups, t->attribute);

	return s->where->kind != PE_COND_NEVER && t->filter->kind != PE_COND_NEVER && (left == NULL || left[cell]) &&
		(filtered == NULL || filtered[cell]) &&
		(place < 0 || pe_groups_has_cell(s->groups, row->set, place, row->class[place], cell));
}

/* The least value of a cell, or its greatest: of numbers that have no next one the edge. */
static Datum
end_of(const pe_public_attribute *a, int32 cell, bool greatest)
{
	if (!greatest)
		return a->low[cell];
	return a->bins && !a->whole ? a->edge[cell + 1] : a->high[cell];
}

static bool
is_beyond(const pe_public_attribute *a, Oid collation, Datum one, Datum other, bool greatest)
{
	TypeCacheEntry *entry = lookup_type_cache(a->type, TYPECACHE_CMP_PROC_FINFO);
	int			order = DatumGetInt32(FunctionCall2Coll(&entry->cmp_proc_finfo, collation, one, other));

	return greatest ? order > 0 : order < 0;
}

static void
put_declared(const pe_select *s, const pe_target_of_select *t, const pe_row_of_select *row, Datum *value, bool *isnull)
{
	const pe_public_attribute *a = &s->sight->declared->attribute[t->attribute];
	bool		greatest = t->kind == PE_TARGET_GREATEST;

	*isnull = true;
	for (int32 cell = 0; cell < a->ordered; cell++)
	{
		if (!may_occur(s, t, row, cell))
			continue;
		if (*isnull || is_beyond(a, t->collation, end_of(a, cell, greatest), *value, greatest))
			*value = end_of(a, cell, greatest);
		*isnull = false;
	}
}

/* The bits of GROUPING(): 1 for each expression that is not in the row's set. */
static Datum
grouping(const pe_select *s, const pe_target_of_select *t, const pe_row_of_select *row)
{
	const ListCell *cell;
	int32		bits = 0;

	foreach(cell, t->grouping->refs)
		bits = bits << 1 | !list_member_int(s->groups->set[row->set].references, lfirst_int(cell));
	return Int32GetDatum(bits);
}

static Datum
tested_value(const pe_select *s, const TargetEntry *entry, const pe_row_of_select *row, bool *isnull)
{
	const pe_tested_group *group = list_nth(s->tested->groups, row->tested);
	int			place = pe_tested_groups_place(s->tested, entry);

	*isnull = group->isnull[place];
	return group->value[place];
}

void
pe_select_row(const pe_select *s, const pe_row_of_select *row, Datum *values, bool *nulls)
{
	int			expression = 0;

	for (int i = 0; i < s->targets; i++)
	{
		const pe_target_of_select *t = s->target[row->tested * s->targets + i];

		nulls[i] = false;
		switch (t->kind)
		{
			case PE_TARGET_TESTED:
				values[i] = tested_value(s, list_nth(s->plan->targets, i), row, &nulls[i]);
				break;
			case PE_TARGET_GROUP:
				values[i] = pe_groups_value(s->sight, s->groups, row->set, expression++, row->class, &nulls[i]);
				break;
			case PE_TARGET_KEY:
				values[i] = pe_open_keys_value(s->keys, list_nth(s->plan->targets, i), row->key, &nulls[i]);
				break;
			case PE_TARGET_GROUPING:
				values[i] = grouping(s, t, row);
				break;
			case PE_TARGET_SUM:
			case PE_TARGET_MEAN:
				put_number(s, t, row, &values[i], &nulls[i]);
				break;
			case PE_TARGET_ARRAY:
				put_array(s, t, row, &values[i], &nulls[i]);
				break;
			default:
				put_declared(s, t, row, &values[i], &nulls[i]);
		}
	}
}

/* ------------------------------------------------------------------
 * EXPLAIN
 * ------------------------------------------------------------------
 */

static char *
array_text(char **text, int count)
{
	Datum	   *elements = palloc(Max(count, 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
		elements[i] = CStringGetTextDatum(text[i]);
	return OidOutputFunctionCall(F_ARRAY_OUT,
								 PointerGetDatum(construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT)));
}

/* Those of the request, and the counts that it needs besides (ask/suppress.h). */
static int
aggregates_asked(const pe_select *s)
{
	return s->call.aggregation != NULL ? s->call.aggregation->aggregates : s->call.call.request.sums.aggregates;
}

static char **
texts_asked(const pe_select *s)
{
	int			count = aggregates_asked(s);
	char	  **text = palloc(Max(count, 1) * sizeof(char *));

	for (int i = 0; i < count; i++)
		text[i] = i < s->call.call.request.sums.aggregates ? s->call.call.request.sums.aggregate[i]
			: s->call.aggregation->text[i];
	return text;
}

char *
pe_select_request_text(const pe_select *s)
{
	const pe_request *request = &s->call.call.request;
	StringInfoData text;

	if (!s->asks)
		return pstrdup("none: the declared levels and bins tell it, free");
	if (s->keys != NULL)
		return pe_open_keys_request_text(s->keys);
	if (s->cube != NULL)
		return pe_over_cube_text(&s->over);
	initStringInfo(&text);
	appendStringInfo(&text, "dp.aggregate(%s, %s", quote_literal_cstr(request->dataset),
					 quote_literal_cstr(array_text(texts_asked(s), aggregates_asked(s))));
	if (request->attributes > 0)
		appendStringInfo(&text, ", \"by\" => %s",
						 quote_literal_cstr(array_text(request->attribute, request->attributes)));
	if (request->predicate != NULL)
		appendStringInfo(&text, ", predicate => %s", quote_literal_cstr(request->predicate));
	if (request->cuts)
		appendStringInfo(&text, ", rows_per_unit => %d", request->rows_per_unit);
	if (request->sums.limits_cells)
		appendStringInfo(&text, ", cells_per_unit => %d", request->sums.cells_per_unit);
	if (request->workload != NULL)
		appendStringInfo(&text, ", workload => %s", quote_literal_cstr(request->workload));
	if (!isnan(request->epsilon))
		appendStringInfo(&text, ", epsilon => %s", pe_number_text(request->epsilon));
	if (!isnan(request->max_stderr))
		appendStringInfo(&text, ", max_stderr => %s", pe_number_text(request->max_stderr));
	appendStringInfoChar(&text, ')');
	return text.data;
}

static char *
quote_of_cube(const pe_select *s)
{
	double		error = pe_select_error(s);

	return isnan(error) ? pstrdup("free")
		: psprintf("free, standard error of the first aggregate at most %.3g", error);
}

char *
pe_select_rehearsal_text(const pe_select *s)
{
	if (!s->asks || s->cube != NULL)
		return NULL;
	if (s->keys != NULL)
		return s->keys->call.asked.dataset != NULL ? pe_asked_rehearsal_text(&s->keys->call.asked) : NULL;
	return s->call.aggregation != NULL ? pe_asked_rehearsal_text(&s->call.aggregation->asked) : NULL;
}

bool
pe_select_rehearses(const pe_select *s)
{
	return pe_select_rehearsal_text(s) != NULL;
}

static char *
quote_of_aggregates(const pe_select *s)
{
	double	   *errors = errors_of(s, false);
	double		error = errors[0] * factor_of_merged(s);	/* of the first aggregate, the largest of all rows */
	int			last = s->call.call.request.sums.aggregates - 1;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "epsilon %.3g", pe_plan_epsilon(s->call.aggregation->asked.plan));
	if (!isnan(error))
		appendStringInfo(&text, ", standard error of %s at most %.3g%s", s->call.call.request.sums.aggregate[0], error,
						 pe_aggregate_needs_rows(&s->call.aggregation->aggregate[0])
						 ? " in a group of 1,000 rows" : "");
	if (s->counts_dropped)
		appendStringInfo(&text, ", of %s %.3g", s->call.call.request.sums.aggregate[last], errors[last]);
	return text.data;
}

/* Each count(DISTINCT) of an open column takes as long again. */
static const char *
readings_text(const pe_aggregation *g)
{
	int			readings = g != NULL ? pe_aggregation_readings(g) : 0;

	return readings == 0 ? "" : readings == 1 ? "; rows are read once more"
		: psprintf("; rows are read %d times more", readings);
}

char *
pe_select_quote_text(const pe_select *s)
{
	pe_payment	payment;
	char	   *quote;
	double		left;

	if (s->cube != NULL)
		return quote_of_cube(s);
	payment = pe_select_payment(s);
	quote = s->keys != NULL ? pe_open_keys_quote_text(s->keys) : quote_of_aggregates(s);
	return psprintf("%s%s; %s", quote,
					readings_text(s->keys != NULL ? s->keys->call.aggregation : s->call.aggregation),
					payment.is_paid ? "paid already: free"
					: pe_settings_reuse_only() ? "not paid: pg_epsilon.reuse = only refuses it"
					: pe_asked_fits(payment.asked, false, &left) ? "would be charged" : "does not fit the budget");
}

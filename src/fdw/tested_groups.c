/*
 * tested_groups.c
 *	  GROUP BY of what conditions decide.  See tested_groups.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "ask/comparisons.h"
#include "ask/sums_call.h"
#include "fdw/beyond.h"
#include "fdw/comparison.h"
#include "fdw/groups.h"
#include "fdw/tested_groups.h"

#define WHAT "an expression of GROUP BY"

/* ------------------------------------------------------------------
 * Which expressions
 * ------------------------------------------------------------------
 */

static bool
is_open(const pe_sight *s, Node *e)
{
	return IsA(e, Var) && ((Var *) e)->varattno > 0 && s->open_of[((Var *) e)->varattno - 1] >= 0;
}

static bool
has_open(Node *e, void *sight)
{
	return e != NULL && (is_open(sight, e) || expression_tree_walker(e, has_open, sight));
}

static bool
is_test(const Node *e)
{
	return (IsA(e, OpExpr) || IsA(e, DistinctExpr) || IsA(e, ScalarArrayOpExpr) || IsA(e, NullTest)) &&
		exprType(e) == BOOLOID;
}

/* Whether some test in an expression is of rows: of two columns with each other, or of an open column. */
static bool
tests_rows(Node *e, void *sight)
{
	if (e == NULL)
		return false;
	if (is_test(e) && has_open(e, sight))
		return true;
	if (is_test(e) && !IsA(e, NullTest) && bms_membership(pe_sight_attributes(sight, e)) == BMS_MULTIPLE)
		return pe_comparison_condition(sight, e, PE_IS_TRUE) != NULL;
	return !is_open(sight, e) && expression_tree_walker(e, tests_rows, sight);
}

/* An open column outside of tests is a key (open_keys.h). */
static bool
has_key(Node *e, void *sight)
{
	return e != NULL && !is_test(e) && (is_open(sight, e) || expression_tree_walker(e, has_key, sight));
}

/* Whether an aggregate of several cells together is the sum of what it is in each: of counts and sums. */
static bool
is_sum(const pe_sight *s, const Aggref *a)
{
	static const char *const names[] = {
		"count", "sum", "regr_count", "stderr_count", "lower95_count", "upper95_count", "stderr_sum", "lower95_sum",
		"upper95_sum"
	};
	const char *name = pe_names_function(s->names, a->aggfnoid)->name;
	bool		found = false;

	for (int i = 0; i < lengthof(names); i++)
		found |= strcmp(name, names[i]) == 0;
	return found && a->aggdistinct == NIL;
}

static bool
adds_up(const pe_sight *s, const pe_scan_plan *plan)
{
	ListCell   *cell;

	foreach(cell, plan->targets)
	{
		const Aggref *a = (const Aggref *) lfirst_node(TargetEntry, cell)->expr;

		if (IsA(a, Aggref) && !is_sum(s, a))
			return false;
	}
	return true;
}

/* Whether each test is of one column, or of rows. */
static bool
has_other_tests(Node *e, void *sight)
{
	if (e == NULL || IsA(e, Var))
		return false;
	if (is_test(e) && !IsA(e, NullTest))
		return bms_membership(pe_sight_attributes(sight, e)) == BMS_MULTIPLE &&
			pe_comparison_condition(sight, e, PE_IS_TRUE) == NULL;
	return expression_tree_walker(e, has_other_tests, sight);
}

/*
 * Cells decide other expressions of several columns, and have noise for each combination of them: of CASE and truths
 * conditions are asked where sums of cells are no answer, or bins are cut.
 */
static bool
is_tested(pe_sight *s, const pe_scan_plan *plan, const pe_condition *where, Node *e)
{
	if (has_key(e, s))
		return false;
	if (tests_rows(e, s))
		return true;
	return plan->sets == NIL && (IsA(e, CaseExpr) || exprType(e) == BOOLOID) && !has_open(e, s) &&
		bms_membership(pe_sight_attributes(s, e)) == BMS_MULTIPLE && !has_other_tests(e, s) &&
		(!adds_up(s, plan) || pe_groups_cuts(s, e, where));
}

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

/*
 * How often arguments of COALESCE may be NULL in several ways, in one group: each time the conditions of all that
 * follows are twice as long.
 */
#define MOST_DOUBLED 4

/* What groups may take while they are found, in bytes: conditions that exclude each other are long. */
#define MOST_MEMORY ((Size) 256 * 1024 * 1024)
#define MOST_PARTS 65536

typedef struct finding
{
	pe_sight   *sight;
	const pe_condition *where;
	int		   *doubled;		/* so often they were, in the group that is looked at */
	Size		before;			/* of the memory context */
} finding;

/* A value of an expression, and the rows that have it. */
typedef struct value_of_rows
{
	Datum		value;
	bool		isnull;
	pe_condition *rows;
} value_of_rows;

static List *values_of(const finding *f, Node *e, pe_condition *rows);

/* What is left of rows by WHERE, too. */
static pe_condition *
left_of(const finding *f, pe_condition *rows)
{
	return pe_condition_and(f->sight, (pe_condition *) f->where, rows);
}

static bool
is_possible(const finding *f, pe_condition *rows)
{
	return pe_condition_may_hold(f->sight, left_of(f, rows), false);
}

/* Whether a column is not NULL in rows; declared: rows without a value are dropped where there is no cell for them. */
static bool
has_value(const finding *f, const pe_condition *rows, int attribute, bool declared)
{
	const pe_public_attribute *a = &f->sight->declared->attribute[attribute];
	const bool *left = pe_condition_may_leave(f->sight, rows, attribute);

	return a->is_there || (a->null < 0 ? declared : left != NULL && !left[a->null]);
}

/* Of rows those for which comparisons are not NULL, where their columns have values. */
static pe_condition *
with_known_truth(const finding *f, pe_condition *rows, bool declared)
{
	pe_condition *known = rows;
	ListCell   *cell;

	foreach(cell, f->sight->comparisons)
	{
		const pe_sight_comparison *c = lfirst(cell);
		bool	   *cells;

		if (c->side[0] < 0 || !has_value(f, rows, c->side[0], declared) || !has_value(f, rows, c->side[1], declared))
			continue;
		cells = palloc0(PE_COMPARED_CELLS * sizeof(bool));
		for (int i = 0; i < c->attribute.ordered; i++)
			cells[i] = true;
		known = pe_condition_and(f->sight, known,
								 pe_condition_cells(f->sight, f->sight->declared->attributes + c->place, cells, false));
	}
	return known;
}

/* Unless no row has it.  NULL for want of values is a group where these have a cell. */
static List *
with_value(const finding *f, List *values, Datum value, bool isnull, pe_condition *rows)
{
	value_of_rows *v = palloc(sizeof(*v));

	if (!pe_condition_may_hold(f->sight, with_known_truth(f, left_of(f, rows), isnull), isnull))
		return values;
	*v = (value_of_rows) {value, isnull, rows};
	return lappend(values, v);
}

/* Those of `rows` for which a test has this truth. */
static pe_condition *
rows_that(const finding *f, Node *test, pe_truth truth, pe_condition *rows)
{
	return pe_condition_and(f->sight, rows, pe_condition_of(f->sight, test, truth, left_of(f, rows), WHAT));
}

static List *
values_of_test(const finding *f, Node *e, pe_condition *rows)
{
	pe_condition *neither = rows_that(f, e, PE_IS_NOT_FALSE, rows_that(f, e, PE_IS_NOT_TRUE, rows));
	List	   *values = with_value(f, NIL, BoolGetDatum(true), false, rows_that(f, e, PE_IS_TRUE, rows));

	values = with_value(f, values, BoolGetDatum(false), false, rows_that(f, e, PE_IS_FALSE, rows));
	return with_value(f, values, (Datum) 0, true, neither);
}

static void
refuse_length(void)
{
	pe_refuse_translation("GROUP BY of conditions that are too long together",
						  "Group by fewer of them, or by single columns.");
}

static void
check_memory(const finding *f)
{
	if (MemoryContextMemAllocated(CurrentMemoryContext, false) > f->before + MOST_MEMORY)
		refuse_length();
}

/* Parts are shared, and written out each time: what has more than a predicate may have bytes is none. */
static void
check_length(const pe_condition *c, int *left)
{
	ListCell   *cell;

	if (--*left < 0)
		refuse_length();
	if (c->kind == PE_COND_AND || c->kind == PE_COND_OR)
		foreach(cell, c->parts)
			check_length(lfirst(cell), left);
}

static List *
values_of_case(const finding *f, const CaseExpr *c, pe_condition *rows)
{
	List	   *values = NIL;
	ListCell   *cell;

	foreach(cell, c->args)
	{
		const CaseWhen *when = lfirst(cell);

		check_memory(f);
		values = list_concat(values, values_of(f, (Node *) when->result,
											   rows_that(f, (Node *) when->expr, PE_IS_TRUE, rows)));
		rows = rows_that(f, (Node *) when->expr, PE_IS_NOT_TRUE, rows);
	}
	return c->defresult != NULL ? list_concat(values, values_of(f, (Node *) c->defresult, rows))
		: with_value(f, values, (Datum) 0, true, rows);
}

static void
check_doubled(const finding *f)
{
	if (++*f->doubled > MOST_DOUBLED)
		pe_refuse_translation(psprintf("COALESCE in GROUP BY with more than %d arguments that are NULL in several "
									   "ways", MOST_DOUBLED), "Give each of them an ELSE, or write fewer of them.");
}

/* The first that is not NULL.  What is NULL in several ways is looked at once. */
static List *
values_of_coalesce(const finding *f, List *expressions, pe_condition *rows)
{
	pe_condition *nulls = NULL;
	List	   *values = NIL;
	ListCell   *cell;

	foreach(cell, values_of(f, linitial(expressions), rows))
	{
		value_of_rows *v = lfirst(cell);

		if (!v->isnull || list_length(expressions) == 1)
		{
			values = lappend(values, v);
			continue;
		}
		if (nulls != NULL)
			check_doubled(f);
		nulls = nulls != NULL ? pe_condition_or(f->sight, nulls, v->rows) : v->rows;
	}
	return nulls == NULL ? values
		: list_concat(values, values_of_coalesce(f, list_copy_tail(expressions, 1), nulls));
}

/* Cells of one column. */
static List *
values_of_column(const finding *f, Node *e, int attribute, pe_condition *rows)
{
	pe_sight   *s = f->sight;
	const bool *left = pe_condition_may_leave(s, left_of(f, rows), attribute);
	pe_values  *v = pe_sight_values(s, e, attribute, left, false);
	int32		cells = s->declared->attribute[attribute].cells;
	List	   *values = NIL;

	pe_sight_check_cuts(s, v, attribute, left, WHAT);
	pe_beyond_tell(s, e, left_of(f, rows));
	pe_beyond_tell_nulls(s, e, false, WHAT);
	for (int32 i = 0; i < cells; i++)
	{
		bool	   *cell = palloc0(cells * sizeof(bool));

		if (left != NULL && !left[i])
			continue;
		if (i == s->declared->attribute[attribute].other && pe_sight_column(s, e) == attribute)
			pe_sight_check_outside(s, attribute, WHAT);
		cell[i] = true;
		values = with_value(f, values, v->value[i], v->isnull[i],
							pe_condition_and(s, rows, pe_condition_cells(s, attribute, cell, false)));
	}
	return values;
}

/* ------------------------------------------------------------------
 * Functions of one of them
 * ------------------------------------------------------------------
 */

/* The only argument of an expression that is no constant; NULL: there are several. */
typedef struct arguments
{
	Node	   *varying;
	int			count;
} arguments;

/* What holds arguments, and is none. */
static bool
holds_arguments(const Node *e)
{
	return IsA(e, List) || IsA(e, CaseWhen);
}

static bool
find_varying(Node *e, void *argument)
{
	arguments  *found = argument;

	if (e != NULL && holds_arguments(e))
		return expression_tree_walker(e, find_varying, argument);
	if (e != NULL && !pe_sight_is_constant(e))
	{
		found->varying = e;
		found->count++;
	}
	return false;
}

typedef struct exchange
{
	Node	   *from;
	Node	   *to;
} exchange;

static Node *
exchanged(Node *e, void *argument)
{
	const exchange *x = argument;

	return e == x->from ? x->to : e != NULL && holds_arguments(e) ? expression_tree_mutator(e, exchanged, argument) : e;
}

static Node *
constant_of(const finding *f, Node *e, const value_of_rows *v)
{
	const pe_named_type *type = pe_names_type(f->sight->names, exprType(e));

	return (Node *) makeConst(exprType(e), exprTypmod(e), exprCollation(e), type->length, v->value, v->isnull,
							  type->by_value);
}

static List *
values_of_function(const finding *f, Node *e, pe_condition *rows)
{
	arguments	found = {NULL, 0};
	List	   *values = NIL;
	ListCell   *cell;

	(void) expression_tree_walker(e, find_varying, &found);
	if (found.count != 1)
		pe_refuse_translation("an expression of GROUP BY over several columns that conditions do not decide",
							  "Group by comparisons, by CASE with constants, or by single columns.");
	foreach(cell, values_of(f, found.varying, rows))
	{
		value_of_rows *v = lfirst(cell);
		exchange	x = {found.varying, constant_of(f, found.varying, v)};

		v->value = pe_sight_constant(f->sight, expression_tree_mutator(e, exchanged, &x), &v->isnull);
		values = lappend(values, v);
	}
	return values;
}

/* Values that are the same may stand several times. */
static List *
values_of(const finding *f, Node *e, pe_condition *rows)
{
	Bitmapset  *attributes = pe_sight_tested(f->sight, e);
	bool		isnull;
	Datum		value;

	check_stack_depth();
	if (!is_possible(f, rows))
		return NIL;
	if (bms_is_empty(attributes))
	{
		value = pe_sight_constant(f->sight, e, &isnull);
		return with_value(f, NIL, value, isnull, rows);
	}
	if (exprType(e) == BOOLOID && !IsA(e, CaseExpr) && !IsA(e, CoalesceExpr))
		return values_of_test(f, e, rows);
	if (bms_membership(attributes) == BMS_SINGLETON &&
		bms_singleton_member(attributes) < f->sight->declared->attributes && !tests_rows(e, f->sight))
		return values_of_column(f, e, bms_singleton_member(attributes), rows);
	if (IsA(e, CaseExpr) && ((CaseExpr *) e)->arg == NULL)
		return values_of_case(f, (CaseExpr *) e, rows);
	if (IsA(e, CoalesceExpr))
		return values_of_coalesce(f, ((CoalesceExpr *) e)->args, rows);
	return values_of_function(f, e, rows);
}

/* Each value once. */
static List *
merged(const finding *f, Node *e, List *values)
{
	pe_named_type *type = pe_names_type(f->sight->names, exprType(e));
	List	   *kept = NIL;
	ListCell   *cell;

	foreach(cell, values)
	{
		value_of_rows *v = lfirst(cell);
		ListCell   *other;
		bool		is_new = true;

		foreach(other, kept)
		{
			value_of_rows *same = lfirst(other);

			if (is_new && pe_same_value(type, exprCollation(e), same->value, same->isnull, v->value, v->isnull))
			{
				same->rows = pe_condition_or(f->sight, same->rows, v->rows);
				is_new = false;
			}
		}
		if (is_new)
			kept = lappend(kept, v);
	}
	return kept;
}

/* ------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------
 */

/* The same group with a value of one of the expressions. */
static pe_tested_group *
with_value_of(const pe_tested_group *group, int expressions, int place, const value_of_rows *v)
{
	pe_tested_group *part = palloc(sizeof(*part));

	*part = *group;
	part->rows = v->rows;
	part->value = palloc(expressions * sizeof(Datum));
	part->isnull = palloc(expressions * sizeof(bool));
	memcpy(part->value, group->value, expressions * sizeof(Datum));
	memcpy(part->isnull, group->isnull, expressions * sizeof(bool));
	part->value[place] = v->value;
	part->isnull[place] = v->isnull;
	return part;
}

/* Each of some groups for each value that one more expression has in it; *doubled: the most of any group. */
static List *
divided(const finding *f, const pe_tested_groups *tested, List *groups, int place, int *doubled)
{
	int			before = *doubled;
	Node	   *e = (Node *) list_nth_node(TargetEntry, tested->expressions, place)->expr;
	List	   *parts = NIL;
	ListCell   *cell;

	foreach(cell, groups)
	{
		const pe_tested_group *group = lfirst(cell);
		int			now = before;
		const finding in_group = {f->sight, f->where, &now, f->before};
		ListCell   *of;

		foreach(of, merged(f, e, values_of(&in_group, e, group->rows)))
		{
			int			left = MOST_PARTS;

			check_length(((value_of_rows *) lfirst(of))->rows, &left);
			parts = lappend(parts, with_value_of(group, list_length(tested->expressions), place, lfirst(of)));
		}
		*doubled = Max(*doubled, now);
	}
	return parts;
}

static void
check_number(const List *groups)
{
	if (list_length(groups) > PE_MAX_CONDITIONS)
		pe_refuse_translation(psprintf("GROUP BY of conditions with more than %d values together", PE_MAX_CONDITIONS),
							  "Group by fewer of them, or by single columns.");
}

/* Those of a grouping set: the expressions in it have values. */
static List *
groups_of_set(const finding *f, const pe_tested_groups *tested, const pe_scan_plan *plan, int set)
{
	const List *references = plan->sets != NIL ? list_nth(plan->sets, set) : NIL;
	int			count = list_length(tested->expressions);
	pe_tested_group *whole = palloc(sizeof(*whole));
	List	   *groups = list_make1(whole);
	int			doubled = 0;

	*whole = (pe_tested_group) {
		set, pe_condition_always(), palloc0(count * sizeof(Datum)), palloc(count * sizeof(bool))
	};
	memset(whole->isnull, true, count * sizeof(bool));
	for (int i = 0; i < count; i++)
	{
		const TargetEntry *entry = list_nth(tested->expressions, i);

		if (plan->sets == NIL || list_member_int(references, entry->ressortgroupref))
			groups = divided(f, tested, groups, i, &doubled);
		check_number(groups);
	}
	return groups;
}

/* PostgreSQL finds a column of a scan by its expression: of two that are the same, it shows the first. */
static void
check_shape(pe_sight *s, const pe_scan_plan *plan, const pe_tested_groups *tested)
{
	ListCell   *cell;
	ListCell   *other;

	foreach(cell, plan->sets != NIL ? tested->expressions : NIL)
		foreach(other, tested->expressions)
			if (lfirst(cell) != lfirst(other) &&
				equal(lfirst_node(TargetEntry, cell)->expr, lfirst_node(TargetEntry, other)->expr))
				pe_refuse_translation("GROUPING SETS, ROLLUP or CUBE with one expression twice",
									  "Write each expression once.");
	foreach(cell, tested->targets)
	{
		const TargetEntry *entry = lfirst(cell);

		if (entry->ressortgroupref != 0 && has_key((Node *) entry->expr, s))
			pe_refuse_translation("GROUP BY of a condition beside a column whose values nobody has listed",
								  "Count each side by FILTER.");
	}
}

pe_tested_groups *
pe_tested_groups_find(pe_sight *s, const pe_scan_plan *plan, const pe_condition *where)
{
	pe_tested_groups *tested = palloc0(sizeof(*tested));
	finding		f = {s, where, NULL, MemoryContextMemAllocated(CurrentMemoryContext, false)};
	ListCell   *cell;

	foreach(cell, s->of_cube ? NIL : plan->targets)
	{
		TargetEntry *entry = lfirst(cell);

		if (entry->ressortgroupref != 0 && is_tested(s, plan, where, (Node *) entry->expr))
			tested->expressions = lappend(tested->expressions, entry);
	}
	if (tested->expressions == NIL)
		return NULL;
	tested->targets = list_difference_ptr(plan->targets, tested->expressions);
	check_shape(s, plan, tested);
	for (int i = 0; i < Max(list_length(plan->sets), 1); i++)
		tested->groups = list_concat(tested->groups, groups_of_set(&f, tested, plan, i));
	return tested;
}

int
pe_tested_groups_place(const pe_tested_groups *tested, const TargetEntry *entry)
{
	int			place = 0;
	ListCell   *cell;

	foreach(cell, tested->expressions)
	{
		if (lfirst(cell) == entry)
			return place;
		place++;
	}
	return -1;
}

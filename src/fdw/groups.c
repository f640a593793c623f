/*
 * groups.c
 *	  The groups of a SELECT.  See groups.h.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bitutils.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "fdw/beyond.h"
#include "fdw/groups.h"
#include "fdw/notices.h"
#include "server/settings.h"

/* ------------------------------------------------------------------
 * Expressions
 * ------------------------------------------------------------------
 */

static int *
members(const Bitmapset *set, int *count)
{
	int		   *member = palloc(Max(bms_num_members(set), 1) * sizeof(int));
	int			a = -1;

	*count = 0;
	while ((a = bms_next_member(set, a)) >= 0)
		member[(*count)++] = a;
	return member;
}

/* Where an expression of several columns cuts: bins, which is refused, or values outside of an attribute. */
static void
check_product_cuts(pe_sight *s, const pe_group_by *g, const int *attribute,
				   int attributes, const bool *const *left, int64 count)
{
	for (int64 i = 0; i < count; i++)
	{
		int64		rest = i;
		int			outside = -1;
		bool		counts = true;

		if (g->values->cut[i] == PE_NOT_CUT)
			continue;
		for (int j = attributes - 1; j >= 0; j--)
		{
			const pe_public_attribute *a = &s->declared->attribute[attribute[j]];
			int32		cell = rest % a->cells;

			rest /= a->cells;
			counts = counts && (left[j] == NULL || left[j][cell]);
			outside = cell == a->other ? attribute[j] : outside;
		}
		if (counts && outside < 0)
			pe_refuse_translation("an expression of GROUP BY over several columns that cuts declared bins",
								  "Group by expressions of single columns.");
		if (counts)
			pe_sight_check_outside(s, outside, "an expression of GROUP BY");
	}
}

/* So many combinations of cells are evaluated twice. */
#define MOST_TWICE 10000

bool
pe_groups_cuts(pe_sight *s, Node *expression, const pe_condition *where)
{
	int			count;
	int		   *attribute = members(pe_sight_attributes(s, expression), &count);
	const bool **left = palloc(count * sizeof(*left));
	int64		combinations = 1;
	pe_values  *values;

	for (int i = 0; i < count; i++)
	{
		left[i] = pe_condition_may_leave(s, where, attribute[i]);
		combinations = pe_size_times(combinations, s->declared->attribute[attribute[i]].cells);
	}
	if (combinations > MOST_TWICE)
		return false;
	values = pe_sight_product(s, expression, attribute, count, left, &combinations);
	for (int64 i = 0; i < combinations; i++)
		if (values->cut[i] != PE_NOT_CUT)
			return true;
	return false;
}

static void
evaluate_product(pe_sight *s, pe_group_by *g, const pe_condition *where)
{
	int			count;
	int		   *attribute = members(g->attributes, &count);
	const bool **left = palloc(count * sizeof(*left));
	int64		combinations;

	for (int i = 0; i < count; i++)
		left[i] = pe_condition_may_leave(s, where, attribute[i]);
	g->values = pe_sight_product(s, g->expression, attribute, count, left, &combinations);
	check_product_cuts(s, g, attribute, count, left, combinations);
}

static void
evaluate_single(pe_sight *s, pe_group_by *g, const pe_condition *where)
{
	int			attribute = bms_singleton_member(g->attributes);
	const bool *left = pe_condition_may_leave(s, where, attribute);

	g->values = pe_sight_values(s, g->expression, attribute, left, true);
	pe_sight_check_cuts(s, g->values, attribute, left, "an expression of GROUP BY");
	if (left == NULL)
		pe_beyond_tell_undeclared(s, g->expression, attribute, false, "an expression of GROUP BY");
}

static void
evaluate(pe_sight *s, pe_group_by *g, const pe_condition *where)
{
	g->attributes = pe_sight_attributes(s, g->expression);
	switch (bms_membership(g->attributes))
	{
		case BMS_EMPTY_SET:
			g->constant = pe_sight_constant(s, g->expression, &g->constant_null);
			break;
		case BMS_SINGLETON:
			evaluate_single(s, g, where);
			break;
		default:
			evaluate_product(s, g, where);
	}
	pe_beyond_tell(s, g->expression, where);
	pe_beyond_tell_nulls(s, g->expression, false, "an expression of GROUP BY");
}

/* PostgreSQL finds a column of a scan by its expression: of two that are the same, it shows the first. */
static void
refuse_twins(const pe_groups *groups, const pe_group_by *g)
{
	for (int i = 0; i < groups->expressions; i++)
		if (equal(groups->expression[i].expression, g->expression))
			pe_refuse_translation("GROUPING SETS, ROLLUP or CUBE with one expression twice",
								  "Write each expression once.");
}

static void
find_expressions(pe_sight *s, pe_groups *groups, const pe_scan_plan *plan, const pe_condition *where)
{
	ListCell   *cell;
	int			target = 0;

	groups->expression = palloc0(Max(list_length(plan->targets), 1) * sizeof(pe_group_by));
	foreach(cell, plan->targets)
	{
		TargetEntry *entry = lfirst(cell);
		pe_group_by *g = &groups->expression[groups->expressions];

		target++;
		if (entry->ressortgroupref == 0)
			continue;
		g->expression = (Node *) entry->expr;
		g->reference = entry->ressortgroupref;
		g->target = target - 1;
		if (plan->sets != NIL)
			refuse_twins(groups, g);
		evaluate(s, g, where);
		groups->merges |= bms_membership(g->attributes) == BMS_MULTIPLE;
		groups->expressions++;
	}
}

/* ------------------------------------------------------------------
 * Classes
 * ------------------------------------------------------------------
 */

/*
 * Whether two cells are in different classes: each is one by itself where a
 * product of attributes needs it.
 */
static bool
are_alike(const pe_groups *groups, int attribute, const bool *left, int32 one, int32 other)
{
	if (left != NULL && left[one] != left[other])
		return false;
	for (int i = 0; i < groups->expressions; i++)
	{
		const pe_group_by *g = &groups->expression[i];

		if (!bms_is_member(attribute, g->attributes))
			continue;
		if (bms_membership(g->attributes) == BMS_MULTIPLE || !pe_values_are_same(g->values, one, other))
			return false;
	}
	return true;
}

/* Cells that are alike have one hash. */
static uint32
hash_of(const pe_groups *groups, int attribute, bool left, int32 cell)
{
	uint32		hash = left;

	for (int i = 0; i < groups->expressions; i++)
	{
		const pe_group_by *g = &groups->expression[i];

		if (!bms_is_member(attribute, g->attributes))
			continue;
		if (bms_membership(g->attributes) == BMS_MULTIPLE)
			return hash_combine(hash, cell);
		hash = hash_combine(hash, pe_values_hash(g->values, cell));
	}
	return hash;
}

/* The classes of cells, in an open hash table of class numbers. */
static void
find_classes(pe_sight *s, pe_groups *groups, pe_grouped_attribute *ga, const bool *left)
{
	int32		cells = s->declared->attribute[ga->attribute].cells;
	const bool *apart = bms_is_member(ga->attribute, groups->filters) ? left : NULL;
	uint32		mask = pg_nextpower2_32(2 * cells) - 1;
	int32	   *table = palloc((mask + 1) * sizeof(int32));

	memset(table, -1, (mask + 1) * sizeof(int32));
	ga->class_of = palloc(cells * sizeof(int32));
	ga->sample = palloc(cells * sizeof(int32));
	ga->left = palloc0(cells * sizeof(bool));
	for (int32 cell = 0; cell < cells; cell++)
	{
		uint32		at = hash_of(groups, ga->attribute, apart != NULL && apart[cell], cell) & mask;

		while (table[at] >= 0 && !are_alike(groups, ga->attribute, apart, ga->sample[table[at]], cell))
			at = (at + 1) & mask;
		if (table[at] < 0)
		{
			table[at] = ga->classes++;
			ga->sample[table[at]] = cell;
		}
		ga->class_of[cell] = table[at];
		if ((left == NULL || left[cell]) && !ga->left[table[at]])
		{
			ga->left[table[at]] = true;
			ga->sample[table[at]] = cell;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

Bitmapset *
pe_groups_attributes(const pe_groups *groups)
{
	Bitmapset  *all = NULL;

	for (int i = 0; i < groups->expressions; i++)
		all = bms_add_members(all, groups->expression[i].attributes);
	return all;
}

static void
find_attributes(pe_sight *s, pe_groups *groups, const pe_condition *where)
{
	int		   *attribute = members(pe_groups_attributes(groups), &groups->attributes);

	groups->attribute = palloc0(Max(groups->attributes, 1) * sizeof(pe_grouped_attribute));
	for (int i = 0; i < groups->attributes; i++)
	{
		groups->attribute[i].attribute = attribute[i];
		find_classes(s, groups, &groups->attribute[i], pe_condition_may_leave(s, where, attribute[i]));
	}
}

/* ------------------------------------------------------------------
 * Grouping sets
 * ------------------------------------------------------------------
 */

static bool
has_expression(const pe_grouping_set *set, const pe_group_by *g)
{
	return list_member_int(set->references, g->reference);
}

/* Whether the expressions of a set are the same in two classes of an attribute. */
static bool
are_one_row(const pe_groups *groups, const pe_grouping_set *set, const pe_grouped_attribute *ga, int32 one, int32 other)
{
	one = ga->sample[one];
	other = ga->sample[other];
	for (int i = 0; i < groups->expressions; i++)
	{
		const pe_group_by *g = &groups->expression[i];

		if (!has_expression(set, g) || !bms_is_member(ga->attribute, g->attributes))
			continue;
		if (bms_membership(g->attributes) == BMS_MULTIPLE || !pe_values_are_same(g->values, one, other))
			return false;
	}
	return true;
}

/* With a filter, rows are of classes that are shown or of those that are not. */
static bool
belongs(const pe_groups *groups, const pe_grouping_set *set,
		const pe_grouped_attribute *ga, int32 row_class, int32 class)
{
	return are_one_row(groups, set, ga, row_class, class) &&
		(!bms_is_member(ga->attribute, groups->filters) || ga->left[row_class] == ga->left[class]);
}

/* How many of the expressions that look at an attribute are in a set, and how many there are. */
static int
looking(const pe_groups *groups, const pe_grouping_set *set, int attribute, int *all)
{
	int			in_set = 0;

	*all = 0;
	for (int i = 0; i < groups->expressions; i++)
	{
		if (!bms_is_member(attribute, groups->expression[i].attributes))
			continue;
		(*all)++;
		in_set += has_expression(set, &groups->expression[i]);
	}
	return in_set;
}

/* The expressions of a set on a class, as a hash. */
static uint32
hash_of_class(const pe_groups *groups, const pe_grouping_set *set, const pe_grouped_attribute *ga, int32 class)
{
	uint32		hash = bms_is_member(ga->attribute, groups->filters) && ga->left[class];

	for (int i = 0; i < groups->expressions; i++)
	{
		const pe_group_by *g = &groups->expression[i];
		int32		cell = ga->sample[class];

		if (has_expression(set, g) && bms_membership(g->attributes) == BMS_SINGLETON &&
			bms_is_member(ga->attribute, g->attributes))
			hash = hash_combine(hash, pe_values_hash(g->values, cell));
	}
	return hash;
}

/* Which row of a set a class is in, by a hash table of rows; the number of rows: a new one. */
static int32
row_of_class(const pe_groups *groups, const pe_grouping_set *set,
			 const pe_grouped_attribute *ga, const pe_set_factor *f, int32 class,
			 int32 *table, uint32 mask)
{
	uint32		at = hash_of_class(groups, set, ga, class) & mask;

	while (table[at] >= 0 && !belongs(groups, set, ga, f->sample[table[at]], class))
		at = (at + 1) & mask;
	if (table[at] < 0)
		table[at] = f->rows;
	return table[at];
}

static void
find_rows(const pe_groups *groups, const pe_grouping_set *set, const pe_grouped_attribute *ga, pe_set_factor *f)
{
	int			all;
	int			in_set = looking(groups, set, ga->attribute, &all);
	bool		each = in_set == all;
	bool		none = in_set == 0 && !bms_is_member(ga->attribute, groups->filters);
	uint32		mask = pg_nextpower2_32(2 * ga->classes) - 1;
	int32	   *table = palloc((mask + 1) * sizeof(int32));

	memset(table, -1, (mask + 1) * sizeof(int32));
	f->row_of = palloc(ga->classes * sizeof(int32));
	f->sample = palloc(ga->classes * sizeof(int32));
	f->left = palloc0(ga->classes * sizeof(bool));
	for (int32 class = 0; class < ga->classes; class++)
	{
		int32		row = each ? class : none ? 0 : row_of_class(groups, set, ga, f, class, table, mask);

		f->row_of[class] = row;
		if (row == f->rows)
			f->sample[f->rows++] = class;
		f->left[row] |= ga->left[class];
		CHECK_FOR_INTERRUPTS();
	}
	pfree(table);
}

/* What a row of a SELECT takes, beside a class for each attribute and a bit of text. */
#define SIZE_OF_ROW 160

/* Before anything of this size is made. */
static void
check_rows(const pe_groups *groups, int64 rows)
{
	if (rows > PE_MAX_CELLS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the SELECT has too many groups"),
				 errdetail("At most %d can be told. Nothing was charged.", PE_MAX_CELLS),
				 errhint("Group by fewer columns, or by coarser expressions.")));
	pe_check_memory(pe_size_times(rows, SIZE_OF_ROW + groups->attributes * sizeof(int32)));
}

static void
find_set(pe_groups *groups, pe_grouping_set *set)
{
	int64		rows = 1;

	set->factor = palloc0(Max(groups->attributes, 1) * sizeof(pe_set_factor));
	set->varies = palloc(Max(groups->attributes, 1) * sizeof(int));
	set->class = palloc0(Max(groups->attributes, 1) * sizeof(int32));
	set->left = true;
	for (int a = 0; a < groups->attributes; a++)
	{
		find_rows(groups, set, &groups->attribute[a], &set->factor[a]);
		if (set->factor[a].rows != 1)
			set->varies[set->varying++] = a;
		else
		{
			set->class[a] = set->factor[a].sample[0];
			set->left &= set->factor[a].left[0];
		}
		rows = pe_size_times(rows, set->factor[a].rows);
		check_rows(groups, rows);
	}
	set->rows = (int32) rows;
}

static List *
all_references(const pe_groups *groups)
{
	List	   *all = NIL;

	for (int i = 0; i < groups->expressions; i++)
		all = lappend_int(all, groups->expression[i].reference);
	return all;
}

static void
find_sets(pe_groups *groups, List *sets)
{
	int64		first = 0;

	groups->sets = Max(list_length(sets), 1);
	groups->set = palloc0(groups->sets * sizeof(pe_grouping_set));
	for (int i = 0; i < groups->sets; i++)
	{
		groups->set[i].references = sets != NIL ? list_nth(sets, i) : all_references(groups);
		find_set(groups, &groups->set[i]);
		groups->set[i].first = (int32) first;
		first += groups->set[i].rows;
		check_rows(groups, first);
	}
}

/* Whether some set has no expression of an attribute. */
static bool
is_left_out(const pe_groups *groups, int attribute)
{
	int			all;

	for (int i = 0; i < groups->sets; i++)
		if (looking(groups, &groups->set[i], attribute, &all) == 0)
			return true;
	return false;
}

/* PostgreSQL would count a row in the sets that do not name the column that it has no value of. */
static void
tell_sets(pe_sight *s, const pe_groups *groups)
{
	for (int a = 0; a < groups->attributes; a++)
	{
		int			attribute = groups->attribute[a].attribute;
		const pe_public_attribute *declared = &s->declared->attribute[attribute];

		if (s->adds_nothing || s->of_cube || (!declared->drops_null && !declared->drops_outside) ||
			!is_left_out(groups, attribute) || pe_sight_is_told(s, psprintf("sets %d", attribute)))
			continue;
		pe_notice((errmsg("rows without a declared value of \"%s\" count in none of the grouping sets, also in those "
						"without it", declared->name),
				 errhint("Ask for each set by a SELECT of its own, or the owner can declare cells for these rows: "
						 "nulls => 'cell', outside => 'other'.")));
	}
}

pe_groups *
pe_groups_find(pe_sight *s, const pe_scan_plan *plan, const pe_condition *where, const Bitmapset *filters)
{
	pe_groups  *groups = palloc0(sizeof(*groups));

	find_expressions(s, groups, plan, where);
	groups->filters = filters;
	find_attributes(s, groups, where);
	find_sets(groups, plan->sets);
	tell_sets(s, groups);
	return groups;
}

/* ------------------------------------------------------------------
 * As a request
 * ------------------------------------------------------------------
 */

static bool
are_all_cells(const pe_sight *s, const pe_grouped_attribute *ga)
{
	return ga->classes == s->declared->attribute[ga->attribute].cells;
}

/* The cells of a class, ascending, as ranges; next: of each cell the next one of its class. */
static void
append_class(StringInfo text, int32 cell, const int32 *next)
{
	const char *separator = "";

	while (cell >= 0)
	{
		int32		from = cell;

		while (next[cell] == cell + 1)
			cell++;
		appendStringInfo(text, cell > from ? "%s%d-%d" : "%s%d", separator, from, cell);
		separator = ", ";
		cell = next[cell];
	}
}

char *
pe_groups_by(const pe_sight *s, const pe_groups *groups, int attribute)
{
	const pe_grouped_attribute *ga = &groups->attribute[attribute];
	const pe_public_attribute *a = &s->declared->attribute[ga->attribute];
	int32	   *next = palloc(a->cells * sizeof(int32));
	int32	   *first = palloc(ga->classes * sizeof(int32));
	StringInfoData text;

	if (are_all_cells(s, ga))
		return a->name;
	memset(first, -1, ga->classes * sizeof(int32));
	for (int32 cell = a->cells - 1; cell >= 0; cell--)
	{
		next[cell] = first[ga->class_of[cell]];
		first[ga->class_of[cell]] = cell;
	}
	initStringInfo(&text);
	appendStringInfo(&text, "%s CELLS (", quote_identifier(a->name));
	for (int32 class = 0; class < ga->classes; class++)
	{
		appendStringInfoString(&text, class > 0 ? "; " : "");
		append_class(&text, first[class], next);
	}
	appendStringInfoChar(&text, ')');
	return text.data;
}

static void
append_matrix(StringInfo text, const char *name, const pe_grouped_attribute *ga, const pe_set_factor *f)
{
	pe_check_memory(pe_size_times(pe_size_times(f->rows, ga->classes), 2));
	appendStringInfo(text, "matrix(%s; {", name);
	for (int32 row = 0; row < f->rows; row++)
	{
		appendStringInfoString(text, row > 0 ? ",{" : "{");
		for (int32 class = 0; class < ga->classes; class++)
			appendStringInfo(text, "%s%d", class > 0 ? "," : "", f->row_of[class] == row);
		appendStringInfoChar(text, '}');
	}
	appendStringInfoString(text, "})");
}

static void
append_factor(StringInfo text, const pe_sight *s, const pe_grouped_attribute *ga, const pe_set_factor *f)
{
	const char *name = quote_identifier(s->declared->attribute[ga->attribute].name);

	if (f->rows == ga->classes)
		appendStringInfo(text, "identity(%s)", name);
	else if (f->rows == 1)
		appendStringInfo(text, "total(%s)", name);
	else
		append_matrix(text, name, ga, f);
}

char *
pe_groups_workload(const pe_sight *s, const pe_groups *groups)
{
	StringInfoData text;

	if (groups->sets == 1 || groups->attributes == 0)
		return NULL;
	initStringInfo(&text);
	for (int i = 0; i < groups->sets; i++)
		for (int a = 0; a < groups->attributes; a++)
		{
			appendStringInfoString(&text, a > 0 ? " * " : i > 0 ? " + " : "");
			append_factor(&text, s, &groups->attribute[a], &groups->set[i].factor[a]);
		}
	return text.data;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

bool
pe_groups_row(const pe_groups *groups, int number, int32 row, int32 *class)
{
	const pe_grouping_set *set = &groups->set[number];
	bool		left = set->left;

	memcpy(class, set->class, groups->attributes * sizeof(int32));
	for (int i = set->varying - 1; i >= 0; i--)
	{
		const pe_set_factor *f = &set->factor[set->varies[i]];

		class[set->varies[i]] = f->sample[row % f->rows];
		left = left && f->left[row % f->rows];
		row /= f->rows;
	}
	return left;
}

/* The place of the classes' cells in the product of an expression's attributes. */
static int64
place_of(const pe_sight *s, const pe_groups *groups, const pe_group_by *g, const int32 *class)
{
	int64		place = 0;

	for (int a = 0; a < groups->attributes; a++)
	{
		const pe_grouped_attribute *ga = &groups->attribute[a];

		if (bms_is_member(ga->attribute, g->attributes))
			place = place * s->declared->attribute[ga->attribute].cells + ga->sample[class[a]];
	}
	return place;
}

Datum
pe_groups_value(const pe_sight *s, const pe_groups *groups, int set, int expression, const int32 *class, bool *isnull)
{
	const pe_group_by *g = &groups->expression[expression];
	int64		place;

	*isnull = true;
	if (!has_expression(&groups->set[set], g))
		return (Datum) 0;
	*isnull = g->constant_null;
	if (g->values == NULL)
		return g->constant;
	place = place_of(s, groups, g, class);
	*isnull = g->values->isnull[place];
	return g->values->value[place];
}

uint32
pe_groups_hash(const pe_sight *s, const pe_groups *groups, int set, const int32 *class)
{
	uint32		hash = 0;

	for (int i = 0; i < groups->expressions; i++)
	{
		const pe_group_by *g = &groups->expression[i];

		if (has_expression(&groups->set[set], g) && g->values != NULL)
			hash = hash_combine(hash, pe_values_hash(g->values, place_of(s, groups, g, class)));
	}
	return hash;
}

bool
pe_groups_are_same(const pe_sight *s, const pe_groups *groups, int set, const int32 *one, const int32 *other)
{
	for (int i = 0; i < groups->expressions; i++)
	{
		const pe_group_by *g = &groups->expression[i];

		if (has_expression(&groups->set[set], g) && g->values != NULL &&
			!pe_values_are_same(g->values, place_of(s, groups, g, one), place_of(s, groups, g, other)))
			return false;
	}
	return true;
}

bool
pe_groups_has_cell(const pe_groups *groups, int set, int attribute, int32 class, int32 cell)
{
	const pe_set_factor *f = &groups->set[set].factor[attribute];

	return f->row_of[groups->attribute[attribute].class_of[cell]] == f->row_of[class];
}

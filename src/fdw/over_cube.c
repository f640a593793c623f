/*
 * over_cube.c
 *	  What a SELECT asks of a cube.  See over_cube.h.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"

#include "fdw/over_cube.h"
#include "server/settings.h"

/* The most boxes of a condition: an OR of columns has one for each of its parts, and of ANDs for each of these. */
#define MOST_BOXES 64

static int
attributes_of(const pe_over_cube *o)
{
	return o->sight->declared->attributes;
}

static const pe_public_attribute *
attribute_of(const pe_over_cube *o, int attribute)
{
	return &o->sight->declared->attribute[attribute];
}

static bool
cube_has(const pe_cube *cube, const char *name)
{
	for (int i = 0; i < cube->attributes; i++)
		if (strcmp(cube->attribute[i], name) == 0)
			return true;
	return false;
}

Bitmapset *
pe_cube_within(const pe_cube *cube, const pe_sight *s)
{
	Bitmapset  *within = NULL;

	for (int i = 0; i < s->declared->attributes; i++)
		if (cube_has(cube, s->declared->attribute[i].name))
			within = bms_add_member(within, i);
	return within;
}

/* The cells of an attribute that the release's predicate leaves; NULL: all. */
static const bool *
cells_left(const pe_cube *cube, const char *name)
{
	for (int i = 0; i < cube->attributes && cube->stored != NULL; i++)
		if (strcmp(cube->attribute[i], name) == 0)
			return cube->stored->aggregation.space[0].possible_of[i];
	return NULL;
}

pe_condition *
pe_cube_where(const pe_cube *cube, const pe_sight *s, pe_condition *where, const Bitmapset *attributes)
{
	int			a = -1;

	while ((a = bms_next_member(attributes, a)) >= 0)
	{
		const bool *left = cells_left(cube, s->declared->attribute[a].name);

		if (left != NULL)
			where = pe_condition_and(s, where, pe_condition_cells(s, a, left, false));
	}
	return where;
}

static void
check_attribute(const pe_over_cube *o, int attribute)
{
	const char *name = attribute_of(o, attribute)->name;

	if (!cube_has(o->cube, name))
		pe_cube_refuse_attribute(o->cube, name);
}

void
pe_over_cube_begin(pe_over_cube *o)
{
	const pe_grouping_set *last = &o->groups->set[o->groups->sets - 1];

	for (int i = 0; i < o->groups->attributes; i++)
		check_attribute(o, o->groups->attribute[i].attribute);
	o->queries = o->groups->attributes > 0 ? last->first + last->rows : 1;
}

/* ------------------------------------------------------------------
 * Conditions as boxes
 * ------------------------------------------------------------------
 */

static void
refuse_boxes(void)
{
	pe_refuse_translation("a condition that joins many columns by OR",
						  "Ask for its parts by FILTER, each with columns joined by AND, and add them up.");
}

/* The rows of a box that meet a test of one attribute too; NULL: none. */
static pe_box *
narrowed(const pe_over_cube *o, const pe_box *box, int attribute, const bool *cells)
{
	int32		count = attribute_of(o, attribute)->cells;
	const bool *old = box->cells[attribute];
	bool	   *both = palloc(count * sizeof(bool));
	pe_box	   *narrow = palloc(sizeof(*narrow));
	int32		left = 0;

	narrow->cells = palloc(attributes_of(o) * sizeof(*narrow->cells));
	memcpy(narrow->cells, box->cells, attributes_of(o) * sizeof(*narrow->cells));
	for (int32 i = 0; i < count; i++)
		left += both[i] = cells[i] && (old == NULL || old[i]);
	narrow->cells[attribute] = left < count ? both : NULL;
	return left > 0 ? narrow : NULL;
}

static List *boxes_of(const pe_over_cube *o, const pe_condition *c, bool negated, List *within);

static List *
boxes_of_cells(const pe_over_cube *o, const pe_condition *c, bool negated, List *within)
{
	int32		count = attribute_of(o, c->attribute)->cells;
	bool	   *cells = palloc(count * sizeof(bool));
	List	   *boxes = NIL;
	ListCell   *cell;

	check_attribute(o, c->attribute);
	for (int32 i = 0; i < count; i++)
		cells[i] = c->cells[i] != negated;
	foreach(cell, within)
	{
		pe_box	   *box = narrowed(o, lfirst(cell), c->attribute, cells);

		if (box != NULL)
			boxes = lappend(boxes, box);
	}
	return boxes;
}

/* A OR B: A, and what of B is not of A.  So boxes have no row in common. */
static List *
boxes_of_any(const pe_over_cube *o, const pe_condition *c, bool negated, List *within)
{
	List	   *boxes = NIL;
	ListCell   *cell;

	foreach(cell, c->parts)
	{
		boxes = list_concat(boxes, boxes_of(o, lfirst(cell), negated, within));
		within = boxes_of(o, lfirst(cell), !negated, within);
		if (list_length(boxes) > MOST_BOXES || list_length(within) > MOST_BOXES)
			refuse_boxes();
	}
	return boxes;
}

static List *
boxes_of_all(const pe_over_cube *o, const pe_condition *c, bool negated, List *within)
{
	ListCell   *cell;

	foreach(cell, c->parts)
		within = boxes_of(o, lfirst(cell), negated, within);
	return within;
}

/* The boxes of some others in which a condition holds, or does not. */
static List *
boxes_of(const pe_over_cube *o, const pe_condition *c, bool negated, List *within)
{
	check_stack_depth();
	switch (c->kind)
	{
		case PE_COND_NEVER:
			return negated ? within : NIL;
		case PE_COND_ALWAYS:
			return negated ? NIL : within;
		case PE_COND_CELLS:
			return boxes_of_cells(o, c, negated, within);
		default:
			return (c->kind == PE_COND_AND) != negated
				? boxes_of_all(o, c, negated, within) : boxes_of_any(o, c, negated, within);
	}
}

/* ------------------------------------------------------------------
 * Terms
 * ------------------------------------------------------------------
 */

static int
place_of_text(List **texts, char *text)
{
	ListCell   *cell;

	foreach(cell, *texts)
		if (strcmp(lfirst(cell), text) == 0)
			return foreach_current_index(cell);
	*texts = lappend(*texts, text);
	return list_length(*texts) - 1;
}

static bool
is_same_box(const pe_over_cube *o, const pe_box *one, const pe_box *other)
{
	for (int a = 0; a < attributes_of(o); a++)
	{
		const bool *cells = one->cells[a];
		const bool *others = other->cells[a];

		if ((cells == NULL) != (others == NULL) ||
			(cells != NULL && memcmp(cells, others, attribute_of(o, a)->cells * sizeof(bool)) != 0))
			return false;
	}
	return true;
}

static int
place_of_box(pe_over_cube *o, pe_box *box)
{
	ListCell   *cell;

	foreach(cell, o->variants)
		if (is_same_box(o, lfirst(cell), box))
			return foreach_current_index(cell);
	o->variants = lappend(o->variants, box);
	return list_length(o->variants) - 1;
}

static pe_box *
all_cells(const pe_over_cube *o)
{
	pe_box	   *box = palloc(sizeof(*box));

	box->cells = palloc0(Max(attributes_of(o), 1) * sizeof(*box->cells));
	return box;
}

List *
pe_over_cube_terms(pe_over_cube *o, const pe_wanted *wanted, const List *terms)
{
	List	   *made = NIL;
	const ListCell *cell;
	ListCell   *box;

	foreach(cell, terms)
	{
		const pe_summand *summand = lfirst(cell);
		List	   *boxes = boxes_of(o, o->where, false, list_make1(all_cells(o)));

		boxes = boxes_of(o, list_nth(wanted->conditions, summand->wanted), false, boxes);
		foreach(box, boxes)
		{
			pe_summand *term = palloc(sizeof(*term));

			term->factor = summand->factor;
			term->wanted = place_of_text(&o->aggregates, list_nth(wanted->texts, summand->wanted));
			term->variant = place_of_box(o, lfirst(box));
			made = lappend(made, term);
		}
	}
	return made;
}

/* ------------------------------------------------------------------
 * The workload
 * ------------------------------------------------------------------
 */

/* A factor over the cells of an attribute: which of them each row adds up. */
typedef struct over_cells
{
	const pe_public_attribute *attribute;
	const pe_grouped_attribute *grouped;	/* NULL: groups are not by it, and there is one row */
	const pe_set_factor *factor;
	const bool *box;			/* NULL: all */
} over_cells;

static int32
rows_of(const over_cells *c)
{
	return c->grouped != NULL ? c->factor->rows : 1;
}

/* The row that a cell is in; -1: none. */
static int32
row_of(const over_cells *c, int32 cell)
{
	if (c->box != NULL && !c->box[cell])
		return -1;
	return c->grouped != NULL ? c->factor->row_of[c->grouped->class_of[cell]] : 0;
}

/* Whether every row is one cell, in their order. */
static bool
is_identity(const over_cells *c)
{
	if (rows_of(c) != c->attribute->cells)
		return false;
	for (int32 i = 0; i < c->attribute->cells; i++)
		if (row_of(c, i) != i)
			return false;
	return true;
}

static bool
is_total(const over_cells *c)
{
	return rows_of(c) == 1 && c->box == NULL;
}

/* The first and last cell of each row; false unless each has all bins between these and no other cell. */
static bool
find_ranges(const over_cells *c, int32 *from, int32 *to)
{
	int32		rows = rows_of(c);

	for (int32 row = 0; row < rows; row++)
		from[row] = -1;
	if (!c->attribute->bins)
		return false;
	for (int32 i = 0; i < c->attribute->cells; i++)
	{
		int32		row = row_of(c, i);

		if (row < 0)
			continue;
		if (i >= c->attribute->ordered || (from[row] >= 0 && to[row] != i - 1))
			return false;
		from[row] = from[row] < 0 ? i : from[row];
		to[row] = i;
	}
	for (int32 row = 0; row < rows; row++)
		if (from[row] < 0)
			return false;
	return true;
}

static void
append_ranges(StringInfo text, const char *name, const int32 *from, const int32 *to, int32 rows)
{
	appendStringInfo(text, "ranges(%s; ", name);
	for (int32 row = 0; row < rows; row++)
		appendStringInfo(text, "%s%d-%d", row > 0 ? ", " : "", from[row], to[row]);
	appendStringInfoChar(text, ')');
}

static void
append_matrix(StringInfo text, const char *name, const over_cells *c)
{
	int32		rows = rows_of(c);

	pe_check_memory(pe_size_times(pe_size_times(rows, c->attribute->cells), 2));
	appendStringInfo(text, "matrix(%s; {", name);
	for (int32 row = 0; row < rows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		appendStringInfoString(text, row > 0 ? ",{" : "{");
		for (int32 i = 0; i < c->attribute->cells; i++)
			appendStringInfo(text, "%s%d", i > 0 ? "," : "", row_of(c, i) == row);
		appendStringInfoChar(text, '}');
	}
	appendStringInfoString(text, "})");
}

static void
append_factor(StringInfo text, const over_cells *c)
{
	const char *name = quote_identifier(c->attribute->name);
	int32	   *from = palloc(rows_of(c) * sizeof(int32));
	int32	   *to = palloc(rows_of(c) * sizeof(int32));

	if (is_identity(c))
		appendStringInfo(text, "identity(%s)", name);
	else if (find_ranges(c, from, to))
		append_ranges(text, name, from, to, rows_of(c));
	else
		append_matrix(text, name, c);
	pfree(from);
	pfree(to);
}

static over_cells
cells_of(const pe_over_cube *o, const pe_grouping_set *set, const pe_box *box, int attribute)
{
	over_cells	c = {attribute_of(o, attribute), NULL, NULL, box->cells[attribute]};

	for (int i = 0; i < o->groups->attributes; i++)
		if (o->groups->attribute[i].attribute == attribute)
		{
			c.grouped = &o->groups->attribute[i];
			c.factor = &set->factor[i];
		}
	return c;
}

/* Groups are by attributes in ascending order, and an attribute that is only in a condition has one row. */
static void
append_term(StringInfo text, const pe_over_cube *o, const pe_grouping_set *set, const pe_box *box)
{
	bool		any = false;

	for (int a = 0; a < attributes_of(o); a++)
	{
		over_cells	c = cells_of(o, set, box, a);

		if (is_total(&c))
			continue;
		appendStringInfoString(text, any ? " * " : "");
		append_factor(text, &c);
		any = true;
	}
	if (!any)
		appendStringInfoString(text, "total");
}

List *
pe_over_cube_sets(const pe_over_cube *o)
{
	int			sets = o->groups->attributes > 0 ? o->groups->sets : 1;
	List	   *all = NIL;
	ListCell   *cell;

	foreach(cell, o->variants)
		for (int i = 0; i < sets; i++)
		{
			Bitmapset  *set = NULL;

			for (int a = 0; a < attributes_of(o); a++)
			{
				over_cells	c = cells_of(o, &o->groups->set[i], lfirst(cell), a);

				set = is_total(&c) ? set : bms_add_member(set, a);
			}
			all = lappend(all, set);
		}
	return all;
}

char *
pe_over_cube_workload(const pe_over_cube *o)
{
	int			sets = o->groups->attributes > 0 ? o->groups->sets : 1;
	StringInfoData text;
	ListCell   *cell;

	if (o->cube->attributes == 0)
		return NULL;
	initStringInfo(&text);
	foreach(cell, o->variants)
		for (int i = 0; i < sets; i++)
		{
			appendStringInfoString(&text, text.len > 0 ? " + " : "");
			append_term(&text, o, &o->groups->set[i], lfirst(cell));
		}
	return text.data;
}

/* ------------------------------------------------------------------
 * In words
 * ------------------------------------------------------------------
 */

static void
append_set(StringInfo text, const pe_over_cube *o, const pe_grouping_set *set)
{
	bool		any = false;

	appendStringInfoChar(text, '(');
	for (int i = 0; i < o->groups->attributes; i++)
	{
		const pe_grouped_attribute *ga = &o->groups->attribute[i];
		const pe_public_attribute *a = attribute_of(o, ga->attribute);

		if (set->factor[i].rows == 1)
			continue;
		appendStringInfo(text, "%s%s", any ? ", " : "", quote_identifier(a->name));
		if (set->factor[i].rows < a->cells)
			appendStringInfo(text, " in %d classes", set->factor[i].rows);
		any = true;
	}
	appendStringInfoChar(text, ')');
}

static void
append_cells(StringInfo text, const pe_public_attribute *a, const bool *cells)
{
	const char *separator = "";

	appendStringInfo(text, "%s IN CELLS (", quote_identifier(a->name));
	for (int32 from = 0; from < a->cells; from++)
	{
		int32		last = from;

		if (!cells[from])
			continue;
		while (last + 1 < a->cells && cells[last + 1])
			last++;
		appendStringInfo(text, last > from ? "%s%d-%d" : "%s%d", separator, from, last);
		separator = ", ";
		from = last;
	}
	appendStringInfoChar(text, ')');
}

static void
append_box(StringInfo text, const pe_over_cube *o, const pe_box *box)
{
	bool		any = false;

	for (int a = 0; a < attributes_of(o); a++)
	{
		if (box->cells[a] == NULL)
			continue;
		appendStringInfoString(text, any ? " and " : "");
		append_cells(text, attribute_of(o, a), box->cells[a]);
		any = true;
	}
	if (!any)
		appendStringInfoString(text, "all rows");
}

char *
pe_over_cube_text(const pe_over_cube *o)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, o->aggregates)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", (char *) lfirst(cell));
	for (int i = 0; i < o->groups->sets && o->groups->attributes > 0; i++)
	{
		appendStringInfoString(&text, i > 0 ? ", " : " by ");
		append_set(&text, o, &o->groups->set[i]);
	}
	foreach(cell, o->variants)
	{
		appendStringInfoString(&text, foreach_current_index(cell) > 0 ? "; " : " of ");
		append_box(&text, o, lfirst(cell));
	}
	return text.data;
}

/*
 * over_cube.c
 *	  What a SELECT asks of a cube.  See over_cube.h.
 */
#include "postgres.h"

#include <math.h>

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
is_among(char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool
cube_has(const pe_cube *cube, const char *name)
{
	return is_among(cube->attribute, cube->attributes, name);
}

static Bitmapset *
attributes_among(const pe_sight *s, char *const *names, int count)
{
	Bitmapset  *among = NULL;

	for (int i = 0; i < s->declared->attributes; i++)
		if (is_among(names, count, s->declared->attribute[i].name))
			among = bms_add_member(among, i);
	return among;
}

Bitmapset *
pe_cube_within(const pe_cube *cube, const pe_sight *s)
{
	return attributes_among(s, cube->attribute, cube->attributes);
}

Bitmapset *
pe_cube_summed(const pe_cube *cube, const pe_sight *s)
{
	return attributes_among(s, cube->number, cube->numbers);
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

/* A box with other weights of one attribute. */
static pe_box *
with_weights(const pe_over_cube *o, const pe_box *box, int attribute, const int32 *weight)
{
	pe_box	   *other = palloc(sizeof(*other));

	other->weight = palloc(attributes_of(o) * sizeof(*other->weight));
	memcpy(other->weight, box->weight, attributes_of(o) * sizeof(*other->weight));
	other->weight[attribute] = weight;
	return other;
}

/* The rows of a box that meet a test of one attribute too; NULL: none. */
static pe_box *
narrowed(const pe_over_cube *o, const pe_box *box, int attribute, const bool *cells)
{
	int32		count = attribute_of(o, attribute)->cells;
	const int32 *old = box->weight[attribute];
	int32	   *both = palloc(count * sizeof(int32));
	int32		left = 0;

	for (int32 i = 0; i < count; i++)
		left += both[i] = cells[i] && (old == NULL || old[i] != 0);
	return left > 0 ? with_weights(o, box, attribute, left < count ? both : NULL) : NULL;
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
is_same_in(const pe_over_cube *o, const pe_box *one, const pe_box *other, int a)
{
	const int32 *weight = one->weight[a];
	const int32 *others = other->weight[a];

	return (weight == NULL) == (others == NULL) &&
		(weight == NULL || memcmp(weight, others, attribute_of(o, a)->cells * sizeof(int32)) == 0);
}

/* The one attribute that two boxes differ in; -1: they are the same, -2: they differ in several. */
static int
differing_attribute(const pe_over_cube *o, const pe_box *one, const pe_box *other)
{
	int			attribute = -1;

	for (int a = 0; a < attributes_of(o); a++)
	{
		if (is_same_in(o, one, other, a))
			continue;
		if (attribute >= 0)
			return -2;
		attribute = a;
	}
	return attribute;
}

static int
place_of_box(pe_over_cube *o, pe_box *box)
{
	ListCell   *cell;

	foreach(cell, o->variants)
		if (differing_attribute(o, lfirst(cell), box) == -1)
			return foreach_current_index(cell);
	o->variants = lappend(o->variants, box);
	return list_length(o->variants) - 1;
}

static pe_box *
all_cells(const pe_over_cube *o)
{
	pe_box	   *box = palloc(sizeof(*box));

	box->weight = palloc0(Max(attributes_of(o), 1) * sizeof(*box->weight));
	return box;
}

/* So many times an aggregate, over a box. */
typedef struct boxed_term
{
	double		factor;
	int			aggregate;
	pe_box	   *box;
} boxed_term;

/* Boxes of one aggregate that differ in one attribute alone. */
typedef struct alike_terms
{
	int			attribute;		/* -1: there is one box */
	List	   *terms;			/* boxed_term * */
} alike_terms;

/* Whether it differs from the first of them in no other attribute than the others do. */
static bool
is_alike(const pe_over_cube *o, alike_terms *alike, const boxed_term *term)
{
	const boxed_term *first = linitial(alike->terms);
	int			attribute = differing_attribute(o, first->box, term->box);

	if (first->aggregate != term->aggregate || attribute < 0 ||
		(alike->attribute >= 0 && alike->attribute != attribute))
		return false;
	alike->attribute = attribute;
	return true;
}

static List *
with_term(const pe_over_cube *o, List *all, boxed_term *term)
{
	alike_terms *made = palloc(sizeof(*made));
	ListCell   *cell;

	foreach(cell, all)
	{
		alike_terms *alike = lfirst(cell);

		if (is_alike(o, alike, term))
		{
			alike->terms = lappend(alike->terms, term);
			return all;
		}
	}
	*made = (alike_terms) {-1, list_make1(term)};
	return lappend(all, made);
}

/* The largest weight that a workload can have, and a number that is whole up to rounding. */
#define MOST_WEIGHT 1e7
#define IS_WHOLE(x) (fabs((x) - rint(x)) <= 1e-9 * fabs(x))

static bool
are_weights(const List *terms, double unit)
{
	const ListCell *cell;

	foreach(cell, terms)
	{
		double		weight = ((const boxed_term *) lfirst(cell))->factor / unit;

		if (!IS_WHOLE(weight) || fabs(weight) > MOST_WEIGHT)
			return false;
	}
	return true;
}

static bool
have_one_factor(const List *terms)
{
	const ListCell *cell;

	foreach(cell, terms)
		if (((const boxed_term *) lfirst(cell))->factor != ((const boxed_term *) linitial(terms))->factor)
			return false;
	return true;
}

/* What all factors are whole multiples of: the first of them, or a decimal unit; 0: nothing. */
static double
unit_of(const List *terms)
{
	double		first = ((const boxed_term *) linitial(terms))->factor;

	if (first != 0 && are_weights(terms, first))
		return first;
	for (double unit = 1; unit >= 1e-7; unit /= 10)
		if (are_weights(terms, unit))
			return unit;
	return 0;
}

/* Terms that are alike as one, whose box has their factors as weights, in units. */
static boxed_term *
joined(const pe_over_cube *o, const alike_terms *alike, double unit)
{
	const boxed_term *first = linitial(alike->terms);
	int32		count = attribute_of(o, alike->attribute)->cells;
	int32	   *weight = palloc0(count * sizeof(int32));
	boxed_term *all = palloc(sizeof(*all));
	ListCell   *cell;

	foreach(cell, alike->terms)
	{
		const boxed_term *term = lfirst(cell);
		const int32 *of_term = term->box->weight[alike->attribute];

		for (int32 i = 0; i < count; i++)
			weight[i] += (of_term != NULL ? of_term[i] : 1) * (int32) rint(term->factor / unit);
	}
	*all = (boxed_term) {unit, first->aggregate, with_weights(o, first->box, alike->attribute, weight)};
	return all;
}

static List *
boxed_terms(pe_over_cube *o, const pe_wanted *wanted, const List *terms)
{
	List	   *all = NIL;
	const ListCell *cell;
	ListCell   *box;

	foreach(cell, terms)
	{
		const pe_summand *summand = lfirst(cell);
		List	   *boxes = boxes_of(o, o->where, false, list_make1(all_cells(o)));

		boxes = boxes_of(o, list_nth(wanted->conditions, summand->wanted), false, boxes);
		foreach(box, boxes)
		{
			boxed_term *term = palloc(sizeof(*term));

			*term = (boxed_term) {
				summand->factor, place_of_text(&o->aggregates, list_nth(wanted->texts, summand->wanted)), lfirst(box)
			};
			all = with_term(o, all, term);
		}
	}
	return all;
}

static pe_summand *
summand_of(pe_over_cube *o, const boxed_term *term)
{
	pe_summand *summand = palloc(sizeof(*summand));

	*summand = (pe_summand) {term->factor, term->aggregate, place_of_box(o, term->box)};
	return summand;
}

List *
pe_over_cube_terms(pe_over_cube *o, const pe_wanted *wanted, const List *terms)
{
	List	   *made = NIL;
	ListCell   *cell;
	ListCell   *each;

	foreach(cell, boxed_terms(o, wanted, terms))
	{
		const alike_terms *alike = lfirst(cell);
		bool		joins = list_length(alike->terms) > 1 && (!o->apart || have_one_factor(alike->terms));
		double		unit = joins ? unit_of(alike->terms) : 0;

		if (unit != 0)
			made = lappend(made, summand_of(o, joined(o, alike, unit)));
		else
			foreach(each, alike->terms)
				made = lappend(made, summand_of(o, lfirst(each)));
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
	const int32 *weight;		/* of each cell; NULL: 1 */
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
	if (c->weight != NULL && c->weight[cell] == 0)
		return -1;
	return c->grouped != NULL ? c->factor->row_of[c->grouped->class_of[cell]] : 0;
}

static int32
weight_of(const over_cells *c, int32 cell)
{
	return c->weight != NULL ? c->weight[cell] : 1;
}

static bool
has_weights(const over_cells *c)
{
	for (int32 i = 0; i < c->attribute->cells; i++)
		if (weight_of(c, i) != 0 && weight_of(c, i) != 1)
			return true;
	return false;
}

/* Whether every row is one cell, in their order. */
static bool
is_identity(const over_cells *c)
{
	if (rows_of(c) != c->attribute->cells || has_weights(c))
		return false;
	for (int32 i = 0; i < c->attribute->cells; i++)
		if (row_of(c, i) != i)
			return false;
	return true;
}

static bool
is_total(const over_cells *c)
{
	return rows_of(c) == 1 && c->weight == NULL;
}

/* The first and last cell of each row; false unless each has all bins between these and no other cell. */
static bool
find_ranges(const over_cells *c, int32 *from, int32 *to)
{
	int32		rows = rows_of(c);

	for (int32 row = 0; row < rows; row++)
		from[row] = -1;
	if (!c->attribute->bins || has_weights(c))
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
			appendStringInfo(text, "%s%d", i > 0 ? "," : "", row_of(c, i) == row ? weight_of(c, i) : 0);
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
	over_cells	c = {attribute_of(o, attribute), NULL, NULL, box->weight[attribute]};

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
append_cells(StringInfo text, const pe_public_attribute *a, const int32 *weight)
{
	const char *separator = "";
	bool		plain = true;

	for (int32 i = 0; i < a->cells; i++)
		plain = plain && (weight[i] == 0 || weight[i] == 1);
	appendStringInfo(text, plain ? "%s IN CELLS (" : "values of %s IN CELLS (", quote_identifier(a->name));
	for (int32 from = 0; from < a->cells; from++)
	{
		int32		last = from;

		if (weight[from] == 0)
			continue;
		while (last + 1 < a->cells && weight[last + 1] != 0)
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
		if (box->weight[a] == NULL)
			continue;
		appendStringInfoString(text, any ? " and " : "");
		append_cells(text, attribute_of(o, a), box->weight[a]);
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

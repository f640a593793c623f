/*
 * predicate_text.c
 *	  One text for predicates that select the same cells.  See predicate_text.h.
 */
#include "domain/predicate_text.h"

#include <stdlib.h>
#include <string.h>

#include "domain/comparison.h"
#include "domain/roll_up.h"

/* The most levels that are listed by name. */
#define LISTED 16

/* A set of cells of one attribute, or AND or OR of several parts. */
typedef struct node
{
	int32_t		step;			/* PE_STEP_AND, PE_STEP_OR; 0: a set */
	int			leaf;			/* whose label a set has */
	uint8_t    *in;				/* per cell */
	struct node **part;
	int			parts;
	int			room;
	char	   *text;			/* NULL: not written yet */
	struct node *next;			/* of all */
} node;

typedef struct writer
{
	const pe_predicate *predicate;
	const pe_leaf_label *label;
	const pe_literal_source *source;
	node	   *all;
} writer;

static node *
make_node(writer *w, int32_t step)
{
	node	   *n = pe_alloc(1, sizeof(*n));

	n->step = step;
	n->next = w->all;
	w->all = n;
	return n;
}

static void
free_nodes(writer *w)
{
	while (w->all != NULL)
	{
		node	   *n = w->all;

		w->all = n->next;
		pe_free(n->in);
		pe_free(n->part);
		pe_free(n->text);
		pe_free(n);
	}
}

/* ------------------------------------------------------------------
 * The text of a set
 * ------------------------------------------------------------------
 */

/* A level or an edge as a literal that reads as it; NULL if its text is not exact. */
static const char *
literal_of(const writer *w, const pe_leaf_label *label, int32_t point)
{
	pe_literal	literal = {.kind = PE_LITERAL_STRING};
	pe_text_error error = {0};
	const char *canonical;
	pe_point	value;

	if (label->declared.points == NULL)
		return NULL;
	literal.text = label->declared.points[point];
	return w->source->literal(w->source->context, &label->declared, &literal, &value, &canonical, &error) &&
		pe_attribute_find_point(label->declared.domain, &value) == point ? canonical : NULL;
}

/* Up to LISTED levels by their names: those that are in, or, of a set with 'other', those that are not. */
static bool
write_levels(const writer *w, pe_text *t, const pe_leaf_label *label, const uint8_t *in, bool has_other, int32_t count)
{
	int32_t		end = pe_attribute_ordered_cells(label->declared.domain);
	const char *name[LISTED] = {NULL};
	int			names = 0;

	for (int32_t cell = 0; cell < end; cell++)
		if ((in[cell] == 0) == has_other && (name[names++] = literal_of(w, label, cell)) == NULL)
			return false;
	if (count == 1 && !has_other && (strcmp(name[0], "true") == 0 || strcmp(name[0], "false") == 0))
	{
		t->size = 0;
		pe_text_write(t, name[0][0] == 't' ? "" : "NOT ");
		pe_text_write(t, label->left);
		return true;
	}
	if (count == 1)
		pe_text_write(t, has_other ? " <> " : " = ");
	else
		pe_text_write(t, has_other ? " NOT IN (" : " IN (");
	for (int i = 0; i < names; i++)
	{
		pe_text_write(t, i > 0 ? ", " : "");
		pe_text_write(t, name[i]);
	}
	pe_text_write(t, count == 1 ? "" : ")");
	return true;
}

/* Whether a bin holds one whole number and nothing else. */
static bool
holds_one(const pe_attribute *a, int32_t bin)
{
	return a->key == PE_KEY_INT && a->point[bin + 1].i - 1 == a->point[bin].i && (bin < a->points - 2 || a->open);
}

/* Ordered cells first .. end - 1 in a row. */
static bool
write_range(const writer *w, pe_text *t, const pe_leaf_label *label, int32_t first, int32_t end)
{
	const pe_attribute *a = label->declared.domain;
	bool		last = end == pe_attribute_ordered_cells(a);
	bool		one = a->kind == PE_BINS && end == first + 1 && holds_one(a, first);
	bool		from = first > 0 || last || one;
	bool		to = !last && !one;
	const char *low = from ? literal_of(w, label, first) : NULL;
	const char *high = to ? literal_of(w, label, end) : NULL;

	if ((from && low == NULL) || (to && high == NULL))
		return false;
	if (from)
		pe_text_writef(t, " %s ", one ? "=" : ">=");
	if (from)
		pe_text_write(t, low);
	if (from && to)
		pe_text_writef(t, " AND %s", label->left);
	if (to)
		pe_text_write(t, " < ");
	if (to)
		pe_text_write(t, high);
	return true;
}

/* Ordered cells, by values; false if cells must be named by their numbers. */
static bool
write_values(const writer *w, pe_text *t, const pe_leaf_label *label, const uint8_t *in, int32_t count)
{
	const pe_attribute *a = label->declared.domain;
	int32_t		first = 0;
	int32_t		end = pe_attribute_ordered_cells(a);
	bool		in_a_row;

	while (!in[first])
		first++;
	while (!in[end - 1])
		end--;
	in_a_row = end - first == count;
	if (a->kind == PE_BINS)
		return in_a_row && write_range(w, t, label, first, end);
	if (in_a_row && count > 2 && label->declared.ordered && a->key != PE_KEY_BYTES)
		return write_range(w, t, label, first, end);
	return count <= LISTED && write_levels(w, t, label, in, false, count);
}

static int32_t
count_in(const uint8_t *in, int32_t cells)
{
	int32_t		count = 0;

	for (int32_t cell = 0; cell < cells; cell++)
		count += in[cell];
	return count;
}

static void
write_cells(pe_text *t, const uint8_t *in, int32_t cells)
{
	pe_text_write(t, " IN CELLS (");
	pe_cells_write(t, in, cells);
	pe_text_write(t, ")");
}

static void
write_attribute(const writer *w, pe_text *t, const pe_leaf_label *label, uint8_t *in, int32_t cells)
{
	const pe_attribute *a = label->declared.domain;
	int32_t		ordered = count_in(in, pe_attribute_ordered_cells(a));
	int32_t		all = count_in(in, cells);
	bool		has_null = a->nulls == PE_NULLS_CELL;
	bool		null = has_null && in[cells - 1];
	int32_t		missing = cells - has_null - all;

	pe_text_write(t, label->left);
	if (all == null && null == has_null)
		pe_text_write(t, " IS NULL");
	else if (!null && missing == 0)
		pe_text_write(t, " IS NOT NULL");
	else if (all == 0)
		pe_text_writef(t, cells == 1 ? " NOT IN CELLS (0)" : " NOT IN CELLS (0-%d)", cells - 1);
	else if (null || (ordered < all && (a->kind == PE_BINS || missing > LISTED)) ||
			 !(ordered < all ? write_levels(w, t, label, in, true, missing) : write_values(w, t, label, in, ordered)))
		write_cells(t, in, cells);
}

/* Two attributes that are compared: by an operator, where one is TRUE in these cells and in no other. */
static void
write_compared(pe_text *t, const pe_leaf_label *label, const uint8_t *in, int32_t cells)
{
	static const char *const of[] = {NULL, "<", "=", "<=", ">", "<>", ">=", NULL};
	int			orders = in[PE_COMPARED_LESS] | in[PE_COMPARED_EQUAL] << 1 | in[PE_COMPARED_GREATER] << 2;
	bool		one = in[PE_COMPARED_ONE_NULL] != 0;
	bool		both = in[PE_COMPARED_BOTH_NULL] != 0;
	const char *operator = NULL;

	if (!one && !both && (label->declared.ordered || orders == 2 || orders == 5))
		operator = of[orders];
	else if (orders == 2 && !one)
		operator = "IS NOT DISTINCT FROM";
	else if (orders == 5 && !both)
		operator = "IS DISTINCT FROM";
	if (operator == NULL && count_in(in, cells) == 0)
		pe_text_write(t, "NOT ");
	pe_text_write(t, label->left);
	pe_text_writef(t, " %s ", operator != NULL ? operator : "<=>");
	pe_text_write(t, label->right);
	if (operator == NULL && count_in(in, cells) == 0)
		pe_text_writef(t, " IN CELLS (0-%d)", cells - 1);
	else if (operator == NULL)
		write_cells(t, in, cells);
}

static void
write_set(const writer *w, node *n)
{
	const pe_predicate_leaf *leaf = &w->predicate->leaf[n->leaf];
	const pe_leaf_label *label = &w->label[n->leaf];
	pe_text		t = {0};

	if (label->right != NULL)
		write_compared(&t, label, n->in, leaf->cells);
	else
		write_attribute(w, &t, label, n->in, leaf->cells);
	n->text = t.canonical;
}

/* ------------------------------------------------------------------
 * AND and OR
 * ------------------------------------------------------------------
 */

/* A part of the same connective is its parts. */
static void
add_part(node *n, node *part)
{
	if (part->step == n->step)
	{
		for (int i = 0; i < part->parts; i++)
			add_part(n, part->part[i]);
		return;
	}
	if (n->parts == n->room)
	{
		node	  **larger = pe_alloc((size_t) (n->room = 2 * n->parts + 4), sizeof(*larger));

		if (n->parts > 0)
			memcpy(larger, n->part, (size_t) n->parts * sizeof(*larger));
		pe_free(n->part);
		n->part = larger;
	}
	n->part[n->parts++] = part;
}

static int
attribute_of(const writer *w, const node *n)
{
	return n->step == 0 ? w->predicate->leaf[n->leaf].attribute : -1;
}

/* Sets of one attribute become the first of them. */
static void
merge_sets(const writer *w, node *n)
{
	node	   *of[PE_MAX_ATTRIBUTES] = {NULL};
	int			kept = 0;

	for (int i = 0; i < n->parts; i++)
	{
		node	   *part = n->part[i];
		int			attribute = attribute_of(w, part);

		if (attribute < 0 || of[attribute] == NULL)
		{
			n->part[kept++] = part;
			if (attribute >= 0)
				of[attribute] = part;
			continue;
		}
		for (int32_t cell = 0; cell < w->predicate->leaf[part->leaf].cells; cell++)
			if (n->step == PE_STEP_AND)
				of[attribute]->in[cell] &= part->in[cell];
			else
				of[attribute]->in[cell] |= part->in[cell];
		pe_free(of[attribute]->text);
		of[attribute]->text = NULL;
	}
	n->parts = kept;
}

/* Sets first; then by text. */
static int
by_text(const void *a, const void *b)
{
	const node *one = *(node *const *) a;
	const node *other = *(node *const *) b;

	if ((one->step == 0) != (other->step == 0))
		return one->step == 0 ? -1 : 1;
	return strcmp(one->text, other->text);
}

static void
sort_parts(node *n)
{
	int			kept = 1;

	qsort(n->part, (size_t) n->parts, sizeof(*n->part), by_text);
	for (int i = 1; i < n->parts; i++)
		if (strcmp(n->part[i]->text, n->part[kept - 1]->text) != 0)
			n->part[kept++] = n->part[i];
	n->parts = kept;
}

static void
join_parts(node *n)
{
	bool		is_and = n->step == PE_STEP_AND;
	pe_text		t = {0};

	for (int i = 0; i < n->parts; i++)
	{
		size_t		from;

		if (i > 0)
			pe_text_write(&t, is_and ? " AND " : " OR ");
		from = t.size;
		pe_text_write(&t, n->part[i]->text);
		if (is_and && n->part[i]->step == PE_STEP_OR)
			pe_text_enclose(&t, from);
	}
	pe_free(n->text);
	n->text = t.canonical;
}

/*
 * With its text, which has an order and nothing twice; one part is that part.  Its parts that are no sets are settled.
 */
static node *
settled(writer *w, node *n)
{
	pe_poll();
	if (n->step != 0)
		merge_sets(w, n);
	for (int i = 0; i < n->parts; i++)
		if (n->part[i]->text == NULL)
			write_set(w, n->part[i]);
	if (n->step == 0 && n->text == NULL)
		write_set(w, n);
	if (n->step == 0)
		return n;
	sort_parts(n);
	if (n->parts == 1)
		return n->part[0];
	join_parts(n);
	return n;
}

static node *
connected(writer *w, int32_t step, node *left, node *right)
{
	node	   *n = left->step == step ? left : make_node(w, step);

	if (n != left)
		add_part(n, settled(w, left));
	add_part(n, right->step == step ? right : settled(w, right));
	return n;
}

/* ------------------------------------------------------------------
 * The program
 * ------------------------------------------------------------------
 */

/* Whether each step stands under an odd number of NOT: from the end, where an operator comes before its operands. */
static bool *
find_negated(const pe_predicate *predicate)
{
	bool	   *negated = pe_alloc((size_t) predicate->steps, sizeof(*negated));
	bool	   *waiting = pe_alloc((size_t) predicate->steps + 1, sizeof(*waiting));
	int			top = 1;

	for (int i = predicate->steps - 1; i >= 0; i--)
	{
		int32_t		step = predicate->step[i];
		bool		under = waiting[--top];

		negated[i] = under;
		if (step == PE_STEP_NOT)
			waiting[top++] = !under;
		else if (step < PE_STEP_NOT)
			waiting[top] = waiting[top + 1] = under, top += 2;
	}
	pe_free(waiting);
	return negated;
}

static node *
make_set(writer *w, int leaf, bool negated)
{
	const pe_predicate_leaf *l = &w->predicate->leaf[leaf];
	node	   *n = make_node(w, 0);

	n->leaf = leaf;
	n->in = pe_alloc((size_t) l->cells, sizeof(*n->in));
	for (int32_t cell = 0; cell < l->cells; cell++)
		n->in[cell] = l->truth[cell] == (negated ? PE_FALSE : PE_TRUE);
	return n;
}

static node *
make_whole(writer *w)
{
	const pe_predicate *predicate = w->predicate;
	bool	   *negated = find_negated(predicate);
	node	  **stack = pe_alloc((size_t) predicate->steps, sizeof(*stack));
	int			top = 0;
	node	   *whole;

	for (int i = 0; i < predicate->steps; i++)
	{
		int32_t		step = predicate->step[i];

		if (step >= 0)
			stack[top++] = make_set(w, step, negated[i]);
		else if (step != PE_STEP_NOT)
		{
			top--;
			stack[top - 1] = connected(w, !negated[i] ? step : step == PE_STEP_AND ? PE_STEP_OR : PE_STEP_AND,
									   stack[top - 1], stack[top]);
		}
	}
	whole = settled(w, stack[0]);
	pe_free(negated);
	pe_free(stack);
	return whole;
}

char *
pe_predicate_text(const pe_predicate *predicate, const pe_leaf_label *label, const pe_literal_source *source)
{
	writer		w = {.predicate = predicate, .label = label, .source = source};
	node	   *whole;
	char	   *text = NULL;

	for (int i = 0; i < predicate->leaves; i++)
		if (label[i].declared.listed)
			return NULL;
	whole = make_whole(&w);
	if (strlen(whole->text) <= PE_PREDICATE_SIZE)
	{
		text = whole->text;
		whole->text = NULL;
	}
	free_nodes(&w);
	return text;
}

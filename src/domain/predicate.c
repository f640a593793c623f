/*
 * predicate.c
 *	  The language of predicates.  See predicate.h.
 */
#include "domain/predicate.h"

#include <stdio.h>
#include <string.h>

#include "domain/predicate_text.h"
#include "domain/roll_up.h"

/*
 * What evaluation keeps at most: at each depth one left side of an OR and one of
 * an AND wait for their right sides.
 */
#define STACK (2 * (PE_PREDICATE_DEPTH + 1) + 1)

/* How tightly an operand holds together: one that is looser than its context needs parentheses. */
typedef enum rank
{
	RANK_OR, RANK_AND, RANK_NOT, RANK_TEST
} rank;

/* What was read of the text: where its canonical text and its steps begin. */
typedef struct operand
{
	size_t		text;
	int			step;
	rank		rank;
} operand;

typedef pe_comparison_op operator;

static const char *const operator_text[] = {"=", "<>", "<", "<=", ">", ">="};

static const char *const keywords[] = {"and", "or", "not", "in", "is", "null", "between", "true", "false", NULL};

typedef struct parser
{
	pe_text		t;
	const pe_literal_source *source;
	pe_predicate *predicate;
	int			depth;
	size_t		tables;			/* bytes of the leaves */
	int			leaf_room;
	int			label_room;
	int			step_room;
	/* of the next leaf */
	const char *name;
	const pe_compared_sides *sides; /* NULL: no comparison of two attributes */
	pe_leaf_label *label;		/* of each leaf */
} parser;

/* ------------------------------------------------------------------
 * Tokens
 * ------------------------------------------------------------------
 */

static bool
need_keyword(pe_text *t, const char *keyword, const char *shown)
{
	return pe_text_takes(t, keyword) || pe_text_unexpected(t, shown);
}

/* Takes an operator if one stands here. */
static bool
take_operator(pe_text *t, operator *op)
{
	char		first = pe_text_next(t);
	char		second = first == '\0' ? '\0' : t->text[t->at + 1];

	if (first == '=')
		*op = PE_OP_EQ;
	else if ((first == '<' && second == '>') || (first == '!' && second == '='))
		*op = PE_OP_NE;
	else if (first == '<')
		*op = second == '=' ? PE_OP_LE : PE_OP_LT;
	else if (first == '>')
		*op = second == '=' ? PE_OP_GE : PE_OP_GT;
	else
		return false;
	t->at += *op == PE_OP_EQ || *op == PE_OP_LT || *op == PE_OP_GT ? 1 : 2;
	return true;
}

/* ------------------------------------------------------------------
 * Program
 * ------------------------------------------------------------------
 */

static void *
grown(void *old, int used, int *room, size_t size)
{
	void	   *larger;

	if (used < *room)
		return old;
	*room = 2 * used + 8;
	larger = pe_alloc((size_t) *room, size);
	if (used > 0)
		memcpy(larger, old, (size_t) used * size);
	pe_free(old);
	return larger;
}

static void
add_step(parser *p, int32_t step)
{
	pe_predicate *predicate = p->predicate;

	predicate->step = grown(predicate->step, predicate->steps, &p->step_room, sizeof(*predicate->step));
	predicate->step[predicate->steps++] = step;
}

static void
write_side(pe_text *t, const pe_compared_sides *sides, int side)
{
	if (sides->factor[side] != NULL)
		pe_text_writef(t, "%s * ", sides->factor[side]);
	pe_text_write_name(t, sides->name[side]);
	if (side == 1)
		pe_text_write(t, sides->more);
}

/* How the leaf that is added last is named. */
static void
add_label(parser *p, const pe_declared *attribute)
{
	pe_text		left = {.keywords = keywords};
	pe_text		right = {.keywords = keywords};

	if (p->sides != NULL)
	{
		write_side(&left, p->sides, 0);
		write_side(&right, p->sides, 1);
	}
	else
		pe_text_write_name(&left, p->name);
	p->label = grown(p->label, p->predicate->leaves, &p->label_room, sizeof(*p->label));
	p->label[p->predicate->leaves] = (pe_leaf_label) {left.canonical, right.canonical, *attribute};
}

static void
free_label(pe_leaf_label *label)
{
	pe_free(label->left);
	pe_free(label->right);
}

/* A new leaf with FALSE in all cells; NULL, with the error, if the tables become too large. */
static pe_predicate_leaf *
add_leaf(parser *p, const pe_declared *attribute, size_t position)
{
	pe_predicate *predicate = p->predicate;
	int32_t		cells = pe_attribute_cells(attribute->domain);
	pe_predicate_leaf *leaf;

	pe_poll();
	if ((size_t) cells > PE_PREDICATE_TABLES - p->tables)
	{
		pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, position, "predicate has too many tests of attributes with many cells");
		return NULL;
	}
	p->tables += (size_t) cells;
	predicate->leaf = grown(predicate->leaf, predicate->leaves, &p->leaf_room, sizeof(*predicate->leaf));
	leaf = &predicate->leaf[predicate->leaves];
	leaf->attribute = attribute->number;
	leaf->cells = cells;
	leaf->truth = pe_alloc((size_t) cells, sizeof(*leaf->truth));
	add_label(p, attribute);
	add_step(p, predicate->leaves++);
	return leaf;
}

static void
negate_table(pe_predicate_leaf *leaf)
{
	for (int32_t cell = 0; cell < leaf->cells; cell++)
		leaf->truth[cell] = (uint8_t) (PE_TRUE - leaf->truth[cell]);
}

static uint8_t
connect(int32_t step, uint8_t a, uint8_t b)
{
	return (step == PE_STEP_AND) == (a < b) ? a : b;
}

/* The leaf that an operand, which ends before step `end`, is alone; NULL if it is more. */
static pe_predicate_leaf *
lone_leaf(const parser *p, const operand *o, int end)
{
	return end - o->step == 1 ? &p->predicate->leaf[p->predicate->step[o->step]] : NULL;
}

static void
add_not(parser *p, const operand *o)
{
	pe_predicate_leaf *leaf = lone_leaf(p, o, p->predicate->steps);

	if (leaf != NULL)
		negate_table(leaf);
	else
		add_step(p, PE_STEP_NOT);
}

/* Connects two operands; two lone leaves of one attribute become one, cell by cell. */
static void
add_connective(parser *p, int32_t step, const operand *left, const operand *right)
{
	pe_predicate *predicate = p->predicate;
	pe_predicate_leaf *a = lone_leaf(p, left, right->step);
	pe_predicate_leaf *b = lone_leaf(p, right, predicate->steps);

	if (a == NULL || b == NULL || a->attribute != b->attribute)
	{
		add_step(p, step);
		return;
	}
	for (int32_t cell = 0; cell < a->cells; cell++)
		a->truth[cell] = connect(step, a->truth[cell], b->truth[cell]);
	p->tables -= (size_t) b->cells;
	pe_free(b->truth);
	predicate->leaves--;		/* b is the last leaf, and its step the last */
	free_label(&p->label[predicate->leaves]);
	predicate->steps--;
}

/* ------------------------------------------------------------------
 * What a test says of each cell
 * ------------------------------------------------------------------
 */

/* What a test says where its attribute is NULL, or of 'other'. */
static void
set_other(pe_predicate_leaf *leaf, const pe_attribute *attribute, uint8_t truth)
{
	if (attribute->outside == PE_OUTSIDE_OTHER)
		leaf->truth[pe_attribute_ordered_cells(attribute)] = truth;
}

static void
set_null(pe_predicate_leaf *leaf, const pe_attribute *attribute, uint8_t truth)
{
	if (attribute->nulls == PE_NULLS_CELL)
		leaf->truth[leaf->cells - 1] = truth;
}

/*
 * How many bins lie below v, or up to v if it is included; -1 if v cuts a bin
 * in two.  The end of a last bin that is closed is a cut from above alone.
 */
static int32_t
bins_below(const pe_attribute *attribute, pe_point v, bool included)
{
	int32_t		bins = attribute->points - 1;
	int32_t		edge = pe_attribute_find_point(attribute, &v);

	if (included && edge == bins && !attribute->open)
		return bins;
	if (included)
	{
		if (attribute->key != PE_KEY_INT || v.i == INT64_MAX)
			return -1;
		v.i++;
		edge = pe_attribute_find_point(attribute, &v);
	}
	return edge < bins || attribute->open ? edge : -1;
}

static bool
fail_level(parser *p, const pe_declared *attribute, const char *name, const pe_value *v)
{
	pe_value_tell_nearest_level(&p->t, attribute, v);
	return pe_text_fail(&p->t, PE_TEXT_INVALID, v->position, "literal %.*s is not a level of attribute \"%.*s\"",
				pe_shown_size(v->canonical), v->canonical, pe_shown_size(name), name);
}

/* The edges that a predicate takes: of a last bin closed or open, of other keys and of integers. */
static const char *const edges_taken[2][2] = {
	{"any edge but the last, <= and > take the last edge",
		"any edge but the last, <= and > take the last edge, or the value just before another"},
	{"any edge", "any edge, <= and > take the value just before one"}
};

static bool
fail_bin(parser *p, const pe_declared *attribute, const char *name, const char *what, const pe_value *v)
{
	pe_text_error *error = p->t.error;
	const pe_attribute *domain = attribute->domain;
	int32_t		edge = pe_attribute_find_point(domain, &v->point);

	if (edge < 0)
		pe_value_tell_nearest(&p->t, attribute, v);
	else
		snprintf(error->detail, sizeof(error->detail),
				 edge < domain->points - 1 ? "A bin begins with the edge %s and holds it."
				 : domain->open ? "The last bin ends with its edge %s and does not hold it."
				 : "The last bin ends with its edge %s and holds it.", attribute->points[edge]);
	snprintf(error->hint, sizeof(error->hint), "A predicate selects whole bins: < and >= take %s.",
			 edges_taken[domain->open][domain->key == PE_KEY_INT]);
	return pe_text_fail(&p->t, PE_TEXT_INVALID, v->position, "\"%.*s %s %.*s\" does not select whole bins",
						pe_shown_size(name), name, what, pe_shown_size(v->canonical), v->canonical);
}

/* How many ordered cells lie below a literal, or up to it if it is included. */
static bool
find_cut(parser *p, const pe_declared *attribute, const char *name, const char *what,
		 const pe_value *v, bool included, int32_t *cut)
{
	if (attribute->domain->kind == PE_BINS)
	{
		*cut = bins_below(attribute->domain, v->point, included);
		return *cut >= 0 || fail_bin(p, attribute, name, what, v);
	}
	if (!attribute->ordered)
	{
		snprintf(p->t.error->hint, sizeof(p->t.error->hint), "Use =, <> or IN.");
		return pe_text_fail(&p->t, PE_TEXT_INVALID, v->position,
							"the levels of attribute \"%.*s\" do not ascend, so %s has no meaning",
							pe_shown_size(name), name, what);
	}
	*cut = pe_attribute_find_point(attribute->domain, &v->point);
	if (*cut < 0)
		return fail_level(p, attribute, name, v);
	*cut += included ? 1 : 0;
	return true;
}

/* The ordered cell that is a literal and nothing else. */
static bool
find_equal(parser *p, const pe_declared *attribute, const char *name, const char *what,
		   const pe_value *v, int32_t *cell)
{
	if (attribute->domain->kind == PE_BINS)
	{
		int32_t		end = bins_below(attribute->domain, v->point, true);

		*cell = bins_below(attribute->domain, v->point, false);
		return (*cell >= 0 && end == *cell + 1) || fail_bin(p, attribute, name, what, v);
	}
	*cell = pe_attribute_find_point(attribute->domain, &v->point);
	return *cell >= 0 || fail_level(p, attribute, name, v);
}

/* A leaf that is TRUE in the ordered cells first .. end - 1. */
static bool
add_range(parser *p, const pe_declared *attribute, int32_t first, int32_t end, size_t position)
{
	pe_predicate_leaf *leaf = add_leaf(p, attribute, position);

	if (leaf == NULL)
		return false;
	for (int32_t cell = first; cell < end; cell++)
		leaf->truth[cell] = PE_TRUE;
	set_other(leaf, attribute->domain, PE_UNKNOWN);
	set_null(leaf, attribute->domain, PE_UNKNOWN);
	return true;
}

/* A leaf for = and IN, before its literals are set. */
static pe_predicate_leaf *
add_equal(parser *p, const pe_declared *attribute, size_t position)
{
	pe_predicate_leaf *leaf = add_leaf(p, attribute, position);

	if (leaf == NULL)
		return NULL;
	set_other(leaf, attribute->domain, attribute->domain->kind == PE_BINS ? PE_UNKNOWN : PE_FALSE);
	set_null(leaf, attribute->domain, PE_UNKNOWN);
	return leaf;
}

static bool
add_comparison(parser *p, const pe_declared *attribute, const char *name, operator op, const pe_value *v)
{
	const char *what = operator_text[op];
	int32_t		ordered = pe_attribute_ordered_cells(attribute->domain);
	int32_t		cell;
	pe_predicate_leaf *leaf;

	if (op == PE_OP_EQ || op == PE_OP_NE)
	{
		if (!find_equal(p, attribute, name, what, v, &cell) ||
			(leaf = add_equal(p, attribute, v->position)) == NULL)
			return false;
		leaf->truth[cell] = PE_TRUE;
		if (op == PE_OP_NE)
			negate_table(leaf);
		return true;
	}
	if (!find_cut(p, attribute, name, what, v, op == PE_OP_LE || op == PE_OP_GT, &cell))
		return false;
	if (op == PE_OP_LT || op == PE_OP_LE)
		return add_range(p, attribute, 0, cell, v->position);
	return add_range(p, attribute, cell, ordered, v->position);
}

/* ------------------------------------------------------------------
 * Grammar
 * ------------------------------------------------------------------
 */

static bool
read_name(parser *p, char *name, size_t *start)
{
	*start = (pe_text_next(&p->t), p->t.at);
	return pe_text_name(&p->t, name, "an attribute or a literal");
}

static bool
find_attribute(parser *p, const char *name, size_t position, pe_declared *attribute)
{
	p->name = name;
	p->sides = NULL;
	return p->source->attribute(p->source->context, name, attribute) ||
		pe_text_fail(&p->t, PE_TEXT_NO_ATTRIBUTE, position, "there is no attribute \"%.*s\"",
					 pe_shown_size(name), name);
}

static bool
parse_between(parser *p, const pe_declared *attribute, const char *name, bool negated)
{
	pe_value	low;
	pe_value	high;
	int32_t		first;
	int32_t		end;

	if (!pe_value_read(&p->t, p->source, attribute, &low) || !need_keyword(&p->t, "and", "AND") ||
		!pe_value_read(&p->t, p->source, attribute, &high) ||
		!find_cut(p, attribute, name, ">=", &low, false, &first) ||
		!find_cut(p, attribute, name, "<=", &high, true, &end) ||
		!add_range(p, attribute, first, end, low.position))
		return false;
	pe_text_write(&p->t, negated ? " NOT BETWEEN " : " BETWEEN ");
	pe_text_write(&p->t, low.canonical);
	pe_text_write(&p->t, " AND ");
	pe_text_write(&p->t, high.canonical);
	return true;
}

static bool
parse_in(parser *p, const pe_declared *attribute, const char *name, bool negated)
{
	size_t		start = p->t.at;
	pe_predicate_leaf *leaf;

	if (!pe_text_take(&p->t, '(', "an opening parenthesis") ||
		(leaf = add_equal(p, attribute, start)) == NULL)
		return false;
	pe_text_write(&p->t, negated ? " NOT IN (" : " IN (");
	for (const char *separator = "";; separator = ", ")
	{
		pe_value	v;
		int32_t		cell;

		if (!pe_value_read(&p->t, p->source, attribute, &v) || !find_equal(p, attribute, name, "=", &v, &cell))
			return false;
		leaf->truth[cell] = PE_TRUE;
		pe_text_write(&p->t, separator);
		pe_text_write(&p->t, v.canonical);
		if (pe_text_next(&p->t) != ',')
			break;
		p->t.at++;
	}
	pe_text_write(&p->t, ")");
	return pe_text_take(&p->t, ')', "a comma or a closing parenthesis");
}

/* Cells in parentheses: a leaf that is TRUE there. */
static pe_predicate_leaf *
take_cells(parser *p, const pe_declared *attribute, const char *name)
{
	size_t		start = p->t.at;
	pe_predicate_leaf *leaf;

	if (!pe_text_take(&p->t, '(', "an opening parenthesis") ||
		(leaf = add_leaf(p, attribute, start)) == NULL)
		return NULL;
	do
	{
		int32_t		first;
		int32_t		last;

		pe_poll();
		if (!pe_cells_take(&p->t, name, leaf->cells, &first, &last))
			return NULL;
		memset(leaf->truth + first, PE_TRUE, (size_t) (last - first) + 1);
	} while (pe_text_next(&p->t) == ',' && ++p->t.at);
	return pe_text_take(&p->t, ')', "a comma or a closing parenthesis") ? leaf : NULL;
}

static void
write_cells(parser *p, const pe_predicate_leaf *leaf, bool negated)
{
	pe_text_write(&p->t, negated ? " NOT IN CELLS (" : " IN CELLS (");
	pe_cells_write(&p->t, leaf->truth, leaf->cells);
	pe_text_write(&p->t, ")");
}

static bool
parse_in_cells(parser *p, const pe_declared *attribute, const char *name, bool negated)
{
	pe_predicate_leaf *leaf;

	if (attribute->listed)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, p->t.at,
							"\"%.*s\" has no numbered cells: its values are not listed", pe_shown_size(name), name);
	leaf = take_cells(p, attribute, name);
	if (leaf != NULL)
		write_cells(p, leaf, negated);
	return leaf != NULL;
}

static bool
parse_is_null(parser *p, const pe_declared *attribute, size_t position)
{
	bool		negated = pe_text_takes(&p->t, "not");
	pe_predicate_leaf *leaf;

	if (!need_keyword(&p->t, "null", negated ? "NULL" : "NULL or NOT NULL") ||
		(leaf = add_leaf(p, attribute, position)) == NULL)
		return false;
	set_null(leaf, attribute->domain, PE_TRUE);
	if (negated)
		negate_table(leaf);
	pe_text_write(&p->t, negated ? " IS NOT NULL" : " IS NULL");
	return true;
}

/* An attribute alone, which is "attribute = true". */
static bool
parse_bare(parser *p, const pe_declared *attribute, const char *name, size_t position)
{
	pe_literal	literal = {PE_LITERAL_BOOLEAN, "true", (int) position};
	pe_value	v;

	if (!pe_value_resolve(&p->t, p->source, attribute, &literal, &v))
	{
		p->t.error->hint[0] = '\0';
		return pe_text_fail(&p->t, PE_TEXT_INVALID, position,
							"attribute \"%.*s\" is not boolean and needs a comparison", pe_shown_size(name), name);
	}
	return add_comparison(p, attribute, name, PE_OP_EQ, &v);
}

/*
 * Whether what follows an attribute can: anything else there is no predicate,
 * for any name.
 */
static bool
check_follows_attribute(parser *p)
{
	static const char *const followers[] = {"and", "or", "not", "in", "is", "between", "like", "ilike"};
	size_t		at = p->t.at;
	operator	op;
	bool		follows = pe_text_next(&p->t) == '\0' || p->t.text[p->t.at] == ')' || take_operator(&p->t, &op);

	p->t.at = at;
	for (size_t i = 0; i < sizeof(followers) / sizeof(followers[0]); i++)
		follows = follows || pe_text_sees(&p->t, followers[i]);
	return follows || pe_text_unexpected(&p->t, "a comparison, BETWEEN, IN, LIKE or IS");
}

static void
write_comparison(parser *p, operator op, const pe_value *v)
{
	pe_text_writef(&p->t, " %s ", operator_text[op]);
	pe_text_write(&p->t, v->canonical);
}

/* ------------------------------------------------------------------
 * Comparisons of two attributes
 * ------------------------------------------------------------------
 */

/* What is written of one, and its memory. */
typedef struct compared
{
	pe_compared_text text;
	char		name[2][PE_NAME_SIZE];
	char	   *factor[2];
} compared;

/* <=>, whose cells follow. */
static bool
takes_order(pe_text *t)
{
	pe_text_next(t);
	if (strncmp(t->text + t->at, "<=>", 3) != 0)
		return false;
	t->at += 3;
	return true;
}

static bool
sees_factor(pe_text *t)
{
	size_t		at = t->at;
	bool		sees = pe_text_sees_literal(t) && t->text[t->at] != '\'' && pe_text_number(t) && pe_text_next(t) == '*';

	t->at = at;
	return sees;
}

static bool
sees_name(pe_text *t)
{
	bool		keyword = false;

	for (int i = 0; keywords[i] != NULL; i++)
		keyword = keyword || pe_text_sees(t, keywords[i]);
	return !keyword && (pe_starts_name(pe_text_next(t)) || t->text[t->at] == '"');
}

/* Whether what stands behind an attribute compares it with another one. */
static bool
sees_comparison(pe_text *t)
{
	size_t		at = t->at;
	operator	op;
	bool		sees = takes_order(t);

	if (!sees && pe_text_takes(t, "is"))
	{
		pe_text_takes(t, "not");
		sees = pe_text_sees(t, "distinct");
	}
	else if (!sees && take_operator(t, &op))
		sees = sees_factor(t) || sees_name(t);
	t->at = at;
	return sees;
}

static bool
read_factor(parser *p, compared *c, int side)
{
	pe_literal	literal;

	if (!pe_text_literal(&p->t, &literal, &c->factor[side]) || !pe_text_take(&p->t, '*', "*"))
		return false;
	c->text.factor[side] = c->factor[side];
	return true;
}

static bool
read_compared_name(parser *p, compared *c, int side)
{
	c->text.name[side] = c->name[side];
	return read_name(p, c->name[side], &c->text.position[side]);
}

/* The right side: its attribute, with a factor in front and more behind. */
static bool
read_right(parser *p, compared *c, pe_literal *more, char **text)
{
	char		sign;

	if (sees_factor(&p->t) && !read_factor(p, c, 1))
		return false;
	if (!read_compared_name(p, c, 1))
		return false;
	sign = pe_text_next(&p->t);
	if (sign != '+' && sign != '-')
		return true;
	p->t.at++;
	c->text.minus = sign == '-';
	c->text.more = more;
	return pe_text_literal(&p->t, more, text);
}

static bool
find_compared(parser *p, const compared *c, pe_declared *found, pe_compared_sides *sides, bool *mirrored)
{
	p->t.error->position = (int) c->text.position[1];
	p->t.error->status = PE_TEXT_INVALID;
	if (p->source->compared(p->source->context, &c->text, found, sides, mirrored, p->t.error))
		return true;
	if (p->t.error->status == PE_TEXT_NO_ATTRIBUTE)
		snprintf(p->t.error->hint, sizeof(p->t.error->hint), "A text stands in single quotes.");
	return false;
}

/* TRUE where an operator holds of the three orders, and UNKNOWN where there is none. */
static bool
add_operator(parser *p, const pe_declared *found, operator op, size_t position)
{
	pe_predicate_leaf *leaf;

	if (!found->ordered && op != PE_OP_EQ && op != PE_OP_NE)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, position, "of these attributes only = and <> can be asked");
	if ((leaf = add_leaf(p, found, position)) == NULL)
		return false;
	for (int order = -1; order <= 1; order++)
		leaf->truth[1 + order] = pe_op_holds(op, order) ? PE_TRUE : PE_FALSE;
	leaf->truth[PE_COMPARED_ONE_NULL] = leaf->truth[PE_COMPARED_BOTH_NULL] = PE_UNKNOWN;
	return true;
}

/* IS DISTINCT FROM is never UNKNOWN. */
static bool
add_distinct(parser *p, const pe_declared *found, bool negated, size_t position)
{
	pe_predicate_leaf *leaf = add_leaf(p, found, position);

	if (leaf == NULL)
		return false;
	for (int32_t cell = 0; cell < leaf->cells; cell++)
	{
		bool		distinct = cell != PE_COMPARED_EQUAL && cell != PE_COMPARED_BOTH_NULL;

		leaf->truth[cell] = distinct != negated ? PE_TRUE : PE_FALSE;
	}
	return true;
}

static void
exchange_cells(pe_predicate_leaf *leaf)
{
	uint8_t		less = leaf->truth[PE_COMPARED_LESS];

	leaf->truth[PE_COMPARED_LESS] = leaf->truth[PE_COMPARED_GREATER];
	leaf->truth[PE_COMPARED_GREATER] = less;
}

static void
write_sides(parser *p, const pe_compared_sides *sides, const char *between)
{
	write_side(&p->t, sides, 0);
	pe_text_writef(&p->t, " %s ", between);
	write_side(&p->t, sides, 1);
}

/* With the right side, what is asked of the order, and the leaf. */
static bool
parse_right(parser *p, compared *c, pe_literal *more, char **text)
{
	bool		cells = takes_order(&p->t);
	bool		distinct = !cells && pe_text_takes(&p->t, "is");
	bool		negated = distinct && pe_text_takes(&p->t, "not");
	operator	op = PE_OP_EQ;
	pe_declared found;
	pe_compared_sides sides;
	bool		mirrored;
	pe_predicate_leaf *leaf;

	if (distinct && (!need_keyword(&p->t, "distinct", "DISTINCT") || !need_keyword(&p->t, "from", "FROM")))
		return false;
	if (!cells && !distinct && !take_operator(&p->t, &op))
		return pe_text_unexpected(&p->t, "a comparison");
	if (!read_right(p, c, more, text) || !find_compared(p, c, &found, &sides, &mirrored))
		return false;
	p->sides = &sides;
	op = mirrored ? pe_op_mirrored(op) : op;
	write_sides(p, &sides, cells ? "<=>" : !distinct ? operator_text[op]
				: negated ? "IS NOT DISTINCT FROM" : "IS DISTINCT FROM");
	if (distinct)
		return add_distinct(p, &found, negated, c->text.position[0]);
	if (!cells)
		return add_operator(p, &found, op, c->text.position[0]);
	if (!need_keyword(&p->t, "in", "IN CELLS") || !need_keyword(&p->t, "cells", "CELLS") ||
		(leaf = take_cells(p, &found, "a comparison")) == NULL)
		return false;
	if (mirrored)
		exchange_cells(leaf);
	write_cells(p, leaf, false);
	return true;
}

/* Behind the left attribute. */
static bool
parse_compared(parser *p, compared *c)
{
	pe_literal	more;
	char	   *text = NULL;
	bool		done = parse_right(p, c, &more, &text);

	pe_free(text);
	pe_free(c->factor[0]);
	pe_free(c->factor[1]);
	return done;
}

/* A factor first. */
static bool
parse_product(parser *p)
{
	compared	c = {.text = {.name = {NULL}}};

	if (read_factor(p, &c, 0) && read_compared_name(p, &c, 0))
		return parse_compared(p, &c);
	pe_free(c.factor[0]);
	return false;
}

/* ------------------------------------------------------------------
 * Patterns
 * ------------------------------------------------------------------
 */

/* Takes [ NOT ] LIKE or ILIKE if it stands behind an attribute. */
static bool
takes_like(pe_text *t, bool *negated, bool *folded)
{
	size_t		at = t->at;

	*negated = pe_text_takes(t, "not");
	*folded = pe_text_takes(t, "ilike");
	if (*folded || pe_text_takes(t, "like"))
		return true;
	t->at = at;
	return false;
}

/* TRUE where the text matches, FALSE where it does not, UNKNOWN where there is none. */
static bool
add_match(parser *p, const char *name, size_t start, const pe_literal *pattern, bool negated, bool folded)
{
	pe_declared found = {0};
	const char *canonical = NULL;
	pe_predicate_leaf *leaf;

	p->t.error->position = pattern->position;
	p->t.error->status = PE_TEXT_INVALID;
	if (!p->source->matched(p->source->context, name, pattern, folded, &found, &canonical, p->t.error))
	{
		if (p->t.error->status == PE_TEXT_NO_ATTRIBUTE)
			p->t.error->position = (int) start;
		return false;
	}
	p->name = name;
	p->sides = NULL;
	found.listed = true;		/* its cells have no numbers to be named by */
	leaf = add_equal(p, &found, start);
	if (leaf == NULL)
		return false;
	leaf->truth[0] = PE_TRUE;
	if (negated)
		negate_table(leaf);
	pe_text_write_name(&p->t, name);
	pe_text_writef(&p->t, " %s%s ", negated ? "NOT " : "", folded ? "ILIKE" : "LIKE");
	pe_text_write(&p->t, canonical);
	return true;
}

static bool
parse_match(parser *p, const char *name, size_t start, bool negated, bool folded)
{
	pe_literal	pattern;
	char	   *text;
	bool		done = pe_text_literal(&p->t, &pattern, &text) && add_match(p, name, start, &pattern, negated, folded);

	pe_free(text);
	return done;
}

static bool
parse_test(parser *p)
{
	char		name[PE_NAME_SIZE];
	pe_declared attribute = {0};
	size_t		start;
	operator	op;
	pe_value	v;
	bool		negated;
	bool		folded;

	if (!read_name(p, name, &start) || !check_follows_attribute(p))
		return false;
	if (p->source->matched != NULL && takes_like(&p->t, &negated, &folded))
		return parse_match(p, name, start, negated, folded);
	if (p->source->compared != NULL && sees_comparison(&p->t))
	{
		compared	c = {.text = {.name = {name}, .position = {start}}};

		return parse_compared(p, &c);
	}
	if (!find_attribute(p, name, start, &attribute))
		return false;
	pe_text_write_name(&p->t, name);
	if (take_operator(&p->t, &op))
	{
		if (!pe_value_read(&p->t, p->source, &attribute, &v) || !add_comparison(p, &attribute, name, op, &v))
			return false;
		write_comparison(p, op, &v);
		return true;
	}
	if (pe_text_takes(&p->t, "is"))
		return parse_is_null(p, &attribute, start);
	negated = pe_text_takes(&p->t, "not");
	if (pe_text_takes(&p->t, "between"))
	{
		if (!parse_between(p, &attribute, name, negated))
			return false;
	}
	else if (pe_text_takes(&p->t, "in"))
	{
		if (!(pe_text_takes(&p->t, "cells") ? parse_in_cells : parse_in) (p, &attribute, name, negated))
			return false;
	}
	else
		return negated ? pe_text_unexpected(&p->t, "BETWEEN, IN or LIKE") : parse_bare(p, &attribute, name, start);
	if (negated)
		negate_table(&p->predicate->leaf[p->predicate->leaves - 1]);
	return true;
}

/* literal op attribute: the same as the attribute first, and written so. */
static bool
parse_literal_first(parser *p)
{
	char		name[PE_NAME_SIZE];
	pe_declared attribute = {0};
	pe_literal	literal;
	char	   *text;
	size_t		start;
	operator	op;
	pe_value	v;
	bool		done;

	done = pe_text_literal(&p->t, &literal, &text) &&
		(take_operator(&p->t, &op) || pe_text_unexpected(&p->t, "a comparison")) &&
		read_name(p, name, &start) &&
		find_attribute(p, name, start, &attribute) &&
		pe_value_resolve(&p->t, p->source, &attribute, &literal, &v) &&
		add_comparison(p, &attribute, name, pe_op_mirrored(op), &v);
	pe_free(text);
	if (!done)
		return false;
	pe_text_write_name(&p->t, name);
	write_comparison(p, pe_op_mirrored(op), &v);
	return true;
}

static bool parse_chain(parser *p, rank connective, operand *whole);

static bool
descend(parser *p, size_t position)
{
	return p->depth++ < PE_PREDICATE_DEPTH ||
		pe_text_fail(&p->t, PE_TEXT_SYNTAX, position, "predicate is nested more than %d deep", PE_PREDICATE_DEPTH);
}

static bool
parse_primary(parser *p, operand *o)
{
	if (pe_text_next(&p->t) == '(')
	{
		if (!descend(p, p->t.at))
			return false;
		p->t.at++;
		if (!parse_chain(p, RANK_OR, o) || !pe_text_take(&p->t, ')', "AND, OR or a closing parenthesis"))
			return false;
		p->depth--;
		return true;
	}
	o->rank = RANK_TEST;
	if (p->source->compared != NULL && sees_factor(&p->t))
		return parse_product(p);
	return pe_text_sees_literal(&p->t) ? parse_literal_first(p) : parse_test(p);
}

static bool
parse_negation(parser *p, operand *o)
{
	operand		inner;

	pe_text_next(&p->t);
	o->text = p->t.size;
	o->step = p->predicate->steps;
	if (!pe_text_sees(&p->t, "not"))
		return parse_primary(p, o);
	if (!descend(p, p->t.at))
		return false;
	pe_text_takes(&p->t, "not");
	pe_text_write(&p->t, "NOT ");
	if (!parse_negation(p, &inner))
		return false;
	p->depth--;
	if (inner.rank < RANK_NOT)
		pe_text_enclose(&p->t, inner.text);
	add_not(p, &inner);
	o->rank = RANK_NOT;
	return true;
}

static bool
parse_operand(parser *p, rank connective, operand *o)
{
	return connective == RANK_OR ? parse_chain(p, RANK_AND, o) : parse_negation(p, o);
}

/* Operands connected by OR, or by AND, as many as there are. */
static bool
parse_chain(parser *p, rank connective, operand *whole)
{
	bool		is_or = connective == RANK_OR;
	operand		next;

	if (!parse_operand(p, connective, whole))
		return false;
	while (pe_text_takes(&p->t, is_or ? "or" : "and"))
	{
		if (whole->rank < connective)
			pe_text_enclose(&p->t, whole->text);
		whole->rank = connective;
		pe_text_write(&p->t, is_or ? " OR " : " AND ");
		if (!parse_operand(p, connective, &next))
			return false;
		if (next.rank < connective)
			pe_text_enclose(&p->t, next.text);
		add_connective(p, is_or ? PE_STEP_OR : PE_STEP_AND, whole, &next);
	}
	return true;
}

/* ------------------------------------------------------------------
 * Programs
 * ------------------------------------------------------------------
 */

/* Whether the program leaves one value, and never needs more room or values than there are. */
static bool
runs(const pe_predicate *predicate)
{
	int			values = 0;

	for (int i = 0; i < predicate->steps; i++)
	{
		int32_t		step = predicate->step[i];

		if (step >= predicate->leaves || step < PE_STEP_OR)
			return false;
		if (step >= 0 && ++values > STACK)
			return false;
		if (step == PE_STEP_NOT && values < 1)
			return false;
		if (step < PE_STEP_NOT && --values < 1)
			return false;
	}
	return values == 1;
}

static void
free_labels(parser *p)
{
	for (int i = 0; i < p->predicate->leaves; i++)
		free_label(&p->label[i]);
	pe_free(p->label);
}

/* The text as it is written, or the one of all that select the same. */
static char *
canonical_text(parser *p)
{
	char	   *text = p->source->as_written ? NULL : pe_predicate_text(p->predicate, p->label, p->source);

	if (text == NULL)
		return p->t.canonical;
	pe_free(p->t.canonical);
	return text;
}

bool
pe_predicate_parse(const char *text, const pe_literal_source *source,
				   pe_predicate *predicate, pe_text_error *error)
{
	parser		p = {
		.t = {.what = "predicate", .keywords = keywords, .text = text, .error = error},
		.source = source, .predicate = predicate
	};
	operand		whole;

	memset(predicate, 0, sizeof(*predicate));
	memset(error, 0, sizeof(*error));
	if (parse_chain(&p, RANK_OR, &whole) &&
		(pe_text_next(&p.t) == '\0' || pe_text_unexpected(&p.t, "AND, OR or the end")))
	{
		if (!runs(predicate))
			pe_bug("a predicate was compiled wrongly");
		predicate->canonical = canonical_text(&p);
		free_labels(&p);
		return true;
	}
	free_labels(&p);
	pe_free(p.t.canonical);
	pe_predicate_free(predicate);
	return false;
}

bool
pe_predicate_selects(const pe_predicate *predicate, const int32_t *coordinate)
{
	uint8_t		stack[STACK];
	int			top = -1;

	for (int i = 0; i < predicate->steps; i++)
	{
		int32_t		step = predicate->step[i];

		if (step >= 0)
		{
			const pe_predicate_leaf *leaf = &predicate->leaf[step];

			stack[++top] = leaf->truth[coordinate[leaf->attribute]];
		}
		else if (step == PE_STEP_NOT)
			stack[top] = (uint8_t) (PE_TRUE - stack[top]);
		else
		{
			top--;
			stack[top] = connect(step, stack[top], stack[top + 1]);
		}
	}
	return stack[0] == PE_TRUE;
}

/* Truths that a leaf can have, a bit for each. */
static uint8_t
truths_of(const pe_predicate_leaf *leaf, const int32_t *coordinate, int told)
{
	uint8_t		truths = 0;

	if (leaf->attribute < told)
		return (uint8_t) (1 << leaf->truth[coordinate[leaf->attribute]]);
	for (int32_t cell = 0; cell < leaf->cells; cell++)
		truths |= (uint8_t) (1 << leaf->truth[cell]);
	return truths;
}

static uint8_t
connect_truths(int32_t step, uint8_t left, uint8_t right)
{
	uint8_t		truths = 0;

	for (uint8_t l = PE_FALSE; l <= PE_TRUE; l++)
		for (uint8_t r = PE_FALSE; r <= PE_TRUE; r++)
			if ((left >> l & right >> r & 1) != 0)
				truths |= (uint8_t) (1 << connect(step, l, r));
	return truths;
}

bool
pe_predicate_may_select(const pe_predicate *predicate, const int32_t *coordinate, int told)
{
	uint8_t		stack[STACK];
	int			top = -1;

	for (int i = 0; i < predicate->steps; i++)
	{
		int32_t		step = predicate->step[i];

		if (step >= 0)
			stack[++top] = truths_of(&predicate->leaf[step], coordinate, told);
		else if (step == PE_STEP_NOT)
			stack[top] = (uint8_t) ((stack[top] & 1) << PE_TRUE | (stack[top] & 2) | stack[top] >> PE_TRUE);
		else
		{
			top--;
			stack[top] = connect_truths(step, stack[top], stack[top + 1]);
		}
	}
	return (stack[0] >> PE_TRUE & 1) != 0;
}

size_t
pe_predicate_memory(const pe_predicate *predicate, const pe_domain *domain)
{
	size_t		size = (size_t) predicate->steps * sizeof(*predicate->step);

	for (int i = 0; i < predicate->leaves; i++)
		size += sizeof(predicate->leaf[i]) + (size_t) predicate->leaf[i].cells;
	for (int a = 0; a < domain->attributes + domain->watched; a++)
		size += (size_t) pe_attribute_cells(&domain->attribute[a]) * 2 * sizeof(int32_t);
	return size + (pe_domain_has_numbers(domain) ? (size_t) domain->cells * 2 * sizeof(bool) : 0);
}

void
pe_predicate_free(pe_predicate *predicate)
{
	for (int i = 0; i < predicate->leaves; i++)
		pe_free(predicate->leaf[i].truth);
	pe_free(predicate->leaf);
	pe_free(predicate->step);
	pe_free(predicate->canonical);
	memset(predicate, 0, sizeof(*predicate));
}

pe_predicate
pe_predicate_behind_one(const pe_predicate *predicate)
{
	pe_predicate behind = *predicate;

	behind.leaf = pe_alloc((size_t) predicate->leaves, sizeof(*behind.leaf));
	for (int i = 0; i < predicate->leaves; i++)
	{
		behind.leaf[i] = predicate->leaf[i];
		behind.leaf[i].attribute++;
	}
	return behind;
}

/* ------------------------------------------------------------------
 * Which cells are possible
 * ------------------------------------------------------------------
 */

/* The cells of an attribute in classes that no leaf distinguishes. */
typedef struct classes
{
	int32_t		count;
	int32_t    *of_cell;
	int32_t    *cell;			/* one of each class */
} classes;

/* Splits the classes by one leaf, numbering them in the order of their first cells. */
static void
refine(classes *c, const pe_predicate_leaf *leaf)
{
	int32_t		before = c->count;
	int32_t    *number = pe_alloc((size_t) before * 3, sizeof(*number));

	c->count = 0;
	for (int32_t cell = 0; cell < leaf->cells; cell++)
	{
		int32_t    *new = &number[c->of_cell[cell] * 3 + leaf->truth[cell]];

		if (*new == 0)
		{
			c->cell[c->count++] = cell;
			*new = c->count;
		}
		c->of_cell[cell] = *new - 1;
	}
	pe_free(number);
}

static void
find_classes(const pe_predicate *predicate, const pe_domain *domain, int attribute, classes *c)
{
	int32_t		cells = pe_attribute_cells(&domain->attribute[attribute]);

	c->count = 1;
	c->of_cell = pe_alloc((size_t) cells, sizeof(*c->of_cell));
	c->cell = pe_alloc((size_t) cells, sizeof(*c->cell));
	for (int i = 0; i < predicate->leaves; i++)
		if (predicate->leaf[i].attribute == attribute)
		{
			pe_poll();
			refine(c, &predicate->leaf[i]);
		}
}

/* The next combination of classes, last attribute fastest; false after the last. */
static bool
next_combination(const classes *c, int attributes, int32_t *chosen, int32_t *coordinate)
{
	for (int a = attributes - 1; a >= 0; a--)
	{
		chosen[a] = chosen[a] + 1 < c[a].count ? chosen[a] + 1 : 0;
		coordinate[a] = c[a].cell[chosen[a]];
		if (chosen[a] != 0)
			return true;
	}
	return false;
}

/*
 * Marks the combinations of classes of the counted attributes that are possible:
 * `watched` combinations in a row share one.
 */
static void
try_combinations(const pe_predicate *predicate, const classes *c, int attributes, int64_t watched, bool *marked)
{
	int32_t		chosen[PE_MAX_ATTRIBUTES] = {0};
	int32_t		coordinate[PE_MAX_ATTRIBUTES];
	int64_t		tried = 0;

	for (int a = 0; a < attributes; a++)
		coordinate[a] = c[a].cell[0];
	do
	{
		if ((tried & 1023) == 0)
			pe_poll();
		if (!marked[tried / watched])
			marked[tried / watched] = pe_predicate_selects(predicate, coordinate);
		tried++;
	} while (next_combination(c, attributes, chosen, coordinate));
}

static void
mark_cells(const pe_domain *domain, const classes *c, const bool *marked, bool *possible, bool *some)
{
	*some = false;
	for (int32_t cell = 0; cell < domain->cells; cell++)
	{
		int64_t		combination = 0;

		for (int a = 0; a < domain->attributes; a++)
			combination = combination * c[a].count + c[a].of_cell[pe_domain_coordinate(domain, cell, a)];
		possible[cell] = marked[combination];
		*some = *some || possible[cell];
	}
}

bool
pe_predicate_possible(const pe_predicate *predicate, const pe_domain *domain, bool *possible, bool *some)
{
	classes		c[PE_MAX_ATTRIBUTES];
	int			attributes = domain->attributes + domain->watched;
	int64_t		counted = 1;
	int64_t		watched = 1;

	for (int a = 0; a < attributes; a++)
	{
		int64_t    *product = a < domain->attributes ? &counted : &watched;

		find_classes(predicate, domain, a, &c[a]);
		/* stays above the limit once it is: no product of two such numbers overflows */
		if (*product <= PE_PREDICATE_COMBINATIONS)
			*product *= c[a].count;
	}
	if (pe_domain_has_numbers(domain) &&
		counted <= PE_PREDICATE_COMBINATIONS && watched <= PE_PREDICATE_COMBINATIONS / counted)
	{
		bool	   *marked = pe_alloc((size_t) counted, sizeof(*marked));

		try_combinations(predicate, c, attributes, watched, marked);
		mark_cells(domain, c, marked, possible, some);
		pe_free(marked);
	}
	else
		counted = 0;
	for (int a = 0; a < attributes; a++)
	{
		pe_free(c[a].of_cell);
		pe_free(c[a].cell);
	}
	return counted > 0;
}

/* ------------------------------------------------------------------
 * What is left of single attributes
 * ------------------------------------------------------------------
 */

/* Keeps the cells of a leaf's attribute in which it has this truth; makes the list if there is none yet. */
static void
keep_possible(const pe_predicate_leaf *leaf, uint8_t truth, bool **possible)
{
	if (*possible == NULL)
	{
		*possible = pe_alloc((size_t) leaf->cells, sizeof(bool));
		memset(*possible, true, (size_t) leaf->cells);
	}
	for (int32_t cell = 0; cell < leaf->cells; cell++)
		(*possible)[cell] = (*possible)[cell] && leaf->truth[cell] == truth;
}

/*
 * Goes through the program from its end, where an operator comes before its operands, and knows of each
 * value what it must be so that the whole is TRUE: itself PE_TRUE, PE_FALSE, or anything, PE_UNKNOWN.
 */
static void
keep_cells(const pe_predicate *predicate, bool *left[])
{
	uint8_t		needed[STACK + 1] = {PE_TRUE};
	int			waiting = 1;

	for (int i = predicate->steps - 1; i >= 0; i--)
	{
		int32_t		step = predicate->step[i];
		uint8_t		need = needed[--waiting];

		if (step >= 0 && need != PE_UNKNOWN)
			keep_possible(&predicate->leaf[step], need, &left[predicate->leaf[step].attribute]);
		else if (step == PE_STEP_NOT)
			needed[waiting++] = (uint8_t) (PE_TRUE - need);
		else if (step < PE_STEP_NOT)
			/* both operands of an AND that is TRUE are, and of an OR that is FALSE */
			for (int operand = 0; operand < 2; operand++)
				needed[waiting++] = need == (step == PE_STEP_AND ? PE_TRUE : PE_FALSE) ? need : PE_UNKNOWN;
	}
}

bool
pe_predicate_shrink(const pe_predicate *predicate, const pe_domain *domain, int told, bool *possible_of[])
{
	bool	   *left[PE_MAX_ATTRIBUTES] = {NULL};
	bool		some = true;

	keep_cells(predicate, left);
	for (int a = 0; a < domain->attributes + domain->watched; a++)
		if (left[a] != NULL)
		{
			size_t		cells = (size_t) pe_attribute_cells(&domain->attribute[a]);
			bool		all = memchr(left[a], false, cells) == NULL;

			some = some && memchr(left[a], true, cells) != NULL;
			if (all || a >= told)
			{
				pe_free(left[a]);
				left[a] = NULL;
			}
		}
	for (int a = 0; a < told && !some; a++)
		pe_free(left[a]);
	if (some)
		memcpy(possible_of, left, (size_t) told * sizeof(*left));
	return some;
}

/* ------------------------------------------------------------------
 * The written form
 *
 * The size of the domain (4 bytes) and the domain; then, if there is a predicate,
 * magic, the numbers of leaves and of steps (4 bytes each), per leaf the attribute
 * (1 byte) and a byte of truth for each of its cells, and the steps (4 bytes each).
 * Integers are in host order, as in the domain.
 * ------------------------------------------------------------------
 */

static const char magic[4] = {'p', 'e', 'p', 1};

size_t
pe_predicate_size(const pe_predicate *predicate)
{
	size_t		size = sizeof(magic) + 2 * sizeof(int32_t) + (size_t) predicate->steps * sizeof(int32_t);

	for (int i = 0; i < predicate->leaves; i++)
		size += 1 + (size_t) predicate->leaf[i].cells;
	return size;
}

size_t
pe_selection_size(const pe_domain *domain, const pe_predicate *predicate)
{
	return sizeof(uint32_t) + pe_domain_size(domain) + (predicate != NULL ? pe_predicate_size(predicate) : 0);
}

static char *
put(char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

void
pe_predicate_write(const pe_predicate *predicate, char *bytes)
{
	int32_t		counts[2] = {predicate->leaves, predicate->steps};
	char	   *to = put(bytes, magic, sizeof(magic));

	to = put(to, counts, sizeof(counts));
	for (int i = 0; i < predicate->leaves; i++)
	{
		*to++ = (char) predicate->leaf[i].attribute;
		to = put(to, predicate->leaf[i].truth, (size_t) predicate->leaf[i].cells);
	}
	put(to, predicate->step, (size_t) predicate->steps * sizeof(int32_t));
}

void
pe_selection_write(const pe_domain *domain, const pe_predicate *predicate, char *bytes)
{
	uint32_t	domain_size = (uint32_t) pe_domain_size(domain);
	char	   *to = put(bytes, &domain_size, sizeof(domain_size));

	pe_domain_write(domain, to);
	if (predicate != NULL)
		pe_predicate_write(predicate, to + domain_size);
}

static bool
take_bytes(const char **at, size_t *left, void *to, size_t size)
{
	if (*left < size)
		return false;
	memcpy(to, *at, size);
	*at += size;
	*left -= size;
	return true;
}

static bool
read_leaf(const pe_domain *domain, pe_predicate_leaf *leaf, const char **at, size_t *left)
{
	unsigned char attribute;

	if (!take_bytes(at, left, &attribute, 1) || attribute >= domain->attributes + domain->watched)
		return false;
	leaf->attribute = attribute;
	leaf->cells = pe_attribute_cells(&domain->attribute[attribute]);
	if (*left < (size_t) leaf->cells)
		return false;
	leaf->truth = pe_alloc((size_t) leaf->cells, sizeof(*leaf->truth));
	take_bytes(at, left, leaf->truth, (size_t) leaf->cells);
	for (int32_t cell = 0; cell < leaf->cells; cell++)
		if (leaf->truth[cell] > PE_TRUE)
			return false;
	return true;
}

static bool
read_steps(const pe_domain *domain, pe_predicate *predicate, const char *at, size_t left)
{
	char		head[sizeof(magic)];
	int32_t		counts[2];

	if (!take_bytes(&at, &left, head, sizeof(head)) || memcmp(head, magic, sizeof(magic)) != 0 ||
		!take_bytes(&at, &left, counts, sizeof(counts)))
		return false;
	/* a leaf takes two bytes at least, a step four: no allocation beyond what the bytes can fill */
	if (counts[0] < 1 || counts[1] < 1 || (size_t) counts[0] > left / 2 || (size_t) counts[1] > left / sizeof(int32_t))
		return false;
	predicate->leaf = pe_alloc((size_t) counts[0], sizeof(*predicate->leaf));
	predicate->leaves = counts[0];
	for (int i = 0; i < predicate->leaves; i++)
		if (!read_leaf(domain, &predicate->leaf[i], &at, &left))
			return false;
	predicate->step = pe_alloc((size_t) counts[1], sizeof(*predicate->step));
	predicate->steps = counts[1];
	return take_bytes(&at, &left, predicate->step, (size_t) counts[1] * sizeof(int32_t)) && left == 0 &&
		runs(predicate);
}

bool
pe_predicate_read(pe_predicate *predicate, const pe_domain *domain, const char *bytes, size_t size)
{
	memset(predicate, 0, sizeof(*predicate));
	if (read_steps(domain, predicate, bytes, size))
		return true;
	pe_predicate_free(predicate);
	return false;
}

bool
pe_selection_read(pe_domain *domain, pe_predicate *predicate, const char *bytes, size_t size)
{
	uint32_t	domain_size;

	memset(domain, 0, sizeof(*domain));
	memset(predicate, 0, sizeof(*predicate));
	if (take_bytes(&bytes, &size, &domain_size, sizeof(domain_size)) && domain_size <= size &&
		pe_domain_read(domain, bytes, domain_size) == PE_DOMAIN_OK &&
		(size == domain_size ? domain->watched == 0
		 : pe_predicate_read(predicate, domain, bytes + domain_size, size - domain_size)))
		return true;
	pe_domain_free(domain);
	return false;
}

/*
 * workload.c
 *	  The language of workloads.  See workload.h.
 *
 * A text is read twice when it gives sizes instead of names: first to learn the
 * sizes, which a later term may give for an earlier one, then to build.  For its
 * canonical text alone it is read once, as if to learn the sizes.
 */
#include "workload/workload.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY_MAX 10000000

/* W'W is computed in doubles, and must be exact where columns are compared. */
#define GRAM_MAX 0x1p53

#define WEIGHT_MIN 1e-3
#define WEIGHT_MAX 1e3

/* Weights multiplied may miss a limit by rounding, and in another order not. */
#define WEIGHT_SLACK 1e-9

struct pe_chunk
{
	struct pe_chunk *next;
	struct pe_chunk *previous;
	int64_t		data[];
};

typedef struct parser
{
	pe_text		t;
	int			nesting;
	bool		named;			/* the shape was given */
	bool		collecting;		/* first reading: sizes only */
	bool		spelling;		/* collecting, and not even sizes: any attributes will do */
	int32_t		lone_columns[PE_MAX_ATTRIBUTES];	/* of a matrix that says no more */
	const pe_literal_source *source;	/* of edges; NULL: none */
	pe_workload *workload;
} parser;

/* How a piece of canonical text binds. */
typedef enum binding
{
	BINDS_PRODUCT, BINDS_WEIGHTED, BINDS_UNION
} binding;

typedef struct piece
{
	int32_t		terms;
	pe_term    *term;
	int64_t		queries;
	int			places;			/* factors side by side */
	bool		whole;			/* over all attributes, and so by itself */
	binding		binds;
	size_t		canonical_from;
	size_t		position;
} piece;

/* ------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------
 */

static void *
keep_memory(parser *p, size_t count, size_t size)
{
	struct pe_chunk *chunk = pe_alloc(1, sizeof(struct pe_chunk) + count * size);

	chunk->next = p->workload->chunks;
	if (chunk->next != NULL)
		chunk->next->previous = chunk;
	p->workload->chunks = chunk;
	return chunk->data;
}

/* Frees what keep gave before the workload is. */
static void
release(parser *p, void *data)
{
	struct pe_chunk *chunk = (struct pe_chunk *) ((char *) data - offsetof(struct pe_chunk, data));

	if (chunk->next != NULL)
		chunk->next->previous = chunk->previous;
	if (chunk->previous != NULL)
		chunk->previous->next = chunk->next;
	else
		p->workload->chunks = chunk->next;
	pe_free(chunk);
}

/* Without this a short text of many products would take gigabytes. */
static void
release_terms(parser *p, pe_term *term, int32_t terms)
{
	for (int32_t t = 0; t < terms; t++)
		release(p, term[t].factor);
	if (terms > 0)
		release(p, term);
}

/* ------------------------------------------------------------------
 * Words and numbers
 * ------------------------------------------------------------------
 */

bool
pe_weight_read(pe_text *t, double *weight)
{
	size_t		start = (pe_text_next(t), t->at);

	if (!pe_text_number(t))
		return false;
	*weight = strtod(t->text + start, NULL);
	if (!(*weight >= WEIGHT_MIN && *weight <= WEIGHT_MAX))
		return pe_text_fail(t, PE_TEXT_INVALID, start, "a weight must be from %g to %g", WEIGHT_MIN, WEIGHT_MAX);
	return pe_text_take(t, '*', "\"*\" after a weight");
}

/* The shortest decimal that reads back as the same weight. */
void
pe_weight_write(pe_text *t, double weight)
{
	char		text[40];

	for (int digits = 6; digits <= 17; digits++)
	{
		snprintf(text, sizeof(text), "%.*g", digits, weight);
		if (strtod(text, NULL) == weight)
			break;
	}
	pe_text_write(t, text);
	pe_text_write(t, " * ");
}

/* ------------------------------------------------------------------
 * Attributes
 * ------------------------------------------------------------------
 */

static bool
needs_order(pe_constructor constructor)
{
	return constructor == PE_PREFIX || constructor == PE_ALL_RANGE ||
		constructor == PE_WIDTH_RANGE || constructor == PE_RANGES;
}

static int
find_attribute(const pe_shape *shape, const char *name)
{
	for (int a = 0; a < shape->attributes; a++)
		if (shape->name[a] != NULL && strcmp(shape->name[a], name) == 0)
			return a;
	return -1;
}

/* How a message names an attribute. */
static void
describe_attribute(const pe_shape *shape, int attribute, char *text, size_t size)
{
	const char *name = shape->name[attribute];

	if (name != NULL)
		snprintf(text, size, "attribute \"%.*s\"", pe_shown_size(name), name);
	else
		snprintf(text, size, "factor %d", attribute + 1);
}

static bool
use_name(parser *p, pe_factor *factor, const char *name)
{
	const pe_shape *shape = &p->workload->shape;

	if (p->spelling)
		return true;
	factor->attribute = find_attribute(shape, name);
	if (factor->attribute < 0)
		return p->named
			? pe_text_fail(&p->t, PE_TEXT_NO_ATTRIBUTE, factor->position,
				   "attribute \"%.*s\" of the workload is not among the attributes asked for",
				   pe_shown_size(name), name)
			: pe_text_fail(&p->t, PE_TEXT_NO_ATTRIBUTE, factor->position,
				   "\"%.*s\" is no number of cells, and there are no attributes here", pe_shown_size(name), name);
	return true;
}

/* First reading: the size at a place, which all terms must agree on. */
static bool
collect_size(parser *p, int place, int32_t cells, int position)
{
	pe_shape   *shape = &p->workload->shape;

	if (place >= PE_MAX_ATTRIBUTES)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, position,
							"a product of the workload has more than %d factors", PE_MAX_ATTRIBUTES);
	if (shape->cells[place] != 0 && shape->cells[place] != cells)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, position,
					"factor %d has %d cells here and %d before", place + 1, cells, shape->cells[place]);
	shape->cells[place] = cells;
	if (place >= shape->attributes)
		shape->attributes = place + 1;
	return true;
}

static bool
use_size(parser *p, pe_factor *factor, int place, int32_t cells)
{
	const pe_shape *shape = &p->workload->shape;
	int32_t		expected;
	char		name[128];

	if (cells == 0)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position, "an attribute has at least one cell");
	if (p->spelling)
		return true;
	if (p->collecting)
		return collect_size(p, place, cells, factor->position);
	if (place >= shape->attributes)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position,
					"the product has more factors than there are attributes");
	factor->attribute = place;
	expected = needs_order(factor->constructor) && shape->ordered[place] > 0
		? shape->ordered[place] : shape->cells[place];
	if (cells == expected)
		return true;
	describe_attribute(shape, place, name, sizeof(name));
	return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position, "%s has %d cells, not %d", name, expected, cells);
}

/* n: the name of an attribute or a number of cells. */
static bool
read_attribute(parser *p, pe_factor *factor, int place)
{
	char		name[PE_NAME_SIZE];
	int32_t		cells;

	factor->position = (pe_text_next(&p->t), (int) p->t.at);
	if (pe_is_digit(p->t.text[p->t.at]))
	{
		if (!pe_text_whole(&p->t, false, PE_MAX_CELLS, "a number of cells", &cells))
			return false;
		pe_text_writef(&p->t, "%d", cells);
		return use_size(p, factor, place, cells);
	}
	if (!pe_text_name(&p->t, name, "the name of an attribute or a number of cells"))
		return false;
	pe_text_write_name(&p->t, name);
	return use_name(p, factor, name);
}

/* The one attribute that is ordered. */
static bool
use_ordered_attribute(parser *p, pe_factor *factor)
{
	const pe_shape *shape = &p->workload->shape;
	int			found = 0;

	if (p->spelling)
		return true;
	if (!p->named)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position,
							"a number of cells is needed here, in parentheses");
	for (int a = 0; a < shape->attributes; a++)
		if (shape->ordered[a] > 0)
		{
			factor->attribute = a;
			found++;
		}
	if (found != 1)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position, found == 0
					? "none of the attributes is ordered" : "several attributes are ordered: name one, in parentheses");
	if (p->source != NULL)
	{
		pe_text_write(&p->t, "(");
		pe_text_write_name(&p->t, shape->name[factor->attribute]);
		pe_text_write(&p->t, ")");
	}
	return true;
}

/* ------------------------------------------------------------------
 * Constructors
 * ------------------------------------------------------------------
 */

/* Sets what follows from the attribute: the cells and the number of queries. */
static bool
size_factor(parser *p, pe_factor *factor)
{
	const pe_shape *shape = &p->workload->shape;
	int64_t		queries = 1;
	char		name[128];

	factor->cells = shape->cells[factor->attribute];
	if (needs_order(factor->constructor))
	{
		factor->cells = shape->ordered[factor->attribute];
		if (factor->cells == 0)
		{
			describe_attribute(shape, factor->attribute, name, sizeof(name));
			return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position,
								"%s is not ordered: its levels do not ascend", name);
		}
	}
	switch (factor->constructor)
	{
		case PE_TOTAL:
			break;
		case PE_IDENTITY:
		case PE_PREFIX:
			queries = factor->cells;
			break;
		case PE_ALL_RANGE:
			queries = (int64_t) factor->cells * (factor->cells + 1) / 2;
			break;
		case PE_WIDTH_RANGE:
			if (factor->width < 1 || factor->width > factor->cells)
				return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position,
							"a range of %d cells does not fit %d", factor->width, factor->cells);
			queries = factor->cells - factor->width + 1;
			break;
		case PE_RANGES:
		case PE_MATRIX:
			return true;		/* counted when they were read */
	}
	if (queries > PE_MAX_QUERIES)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, factor->position,
							"the workload has more than %d queries", PE_MAX_QUERIES);
	factor->queries = (int32_t) queries;
	return true;
}

/* A list of whole numbers that grows; its room is a power of two. */
static void
push(parser *p, int32_t **list, int32_t *count, int32_t number)
{
	if ((*count & (*count - 1)) == 0)
	{
		int32_t    *larger = keep_memory(p, *count > 0 ? 2 * (size_t) *count : 1, sizeof(int32_t));

		if (*count > 0)
			memcpy(larger, *list, (size_t) *count * sizeof(int32_t));
		*list = larger;
	}
	(*list)[(*count)++] = number;
}

/* A range of cells, both included. */
static bool
read_cells(parser *p, int32_t ordered, int32_t *from, int32_t *to)
{
	size_t		start = (pe_text_next(&p->t), p->t.at);

	if (!pe_text_whole(&p->t, false, PE_MAX_CELLS, "the first cell of a range", from) ||
		!pe_text_take(&p->t, '-', "\"-\" and the last cell of the range") ||
		!pe_text_whole(&p->t, false, PE_MAX_CELLS, "the last cell of a range", to))
		return false;
	if (*from > *to)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, start, "a range goes from its first cell to its last");
	if (!p->collecting && ordered > 0 && *to >= ordered)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, start,
							"range %d-%d is beyond the last cell, %d", *from, *to, ordered - 1);
	return true;
}

/* Whether a range of edges stands here, and not of cells: a string, or a number with two points behind it. */
static bool
sees_edges(parser *p)
{
	size_t		start = p->t.at;
	bool		edges = pe_text_next(&p->t) == '\'' || (pe_text_number(&p->t) && pe_text_next(&p->t) == '.');

	p->t.at = start;
	return edges;
}

static bool
take_points(pe_text *t)
{
	if (pe_text_next(t) != '.' || t->text[t->at + 1] != '.')
		return pe_text_unexpected(t, "\"..\" and the upper edge of the range");
	t->at += 2;
	return true;
}

/* An edge as it is written: nobody knows yet which one it is. */
static bool
spell_edge(pe_text *t)
{
	pe_literal	literal;
	char	   *text;
	bool		read = pe_text_literal(t, &literal, &text);

	if (read && literal.kind == PE_LITERAL_STRING)
		pe_text_write_quoted(t, literal.text, '\'');
	else if (read)
		pe_text_write(t, literal.text);
	pe_free(text);
	return read;
}

/* The attribute of a range of edges. */
static bool
find_bins(parser *p, const pe_factor *factor, pe_declared *bins)
{
	char		name[128];

	if (p->source == NULL ||
		!p->source->attribute(p->source->context, p->workload->shape.name[factor->attribute], bins))
		return pe_text_fail(&p->t, PE_TEXT_INVALID, p->t.at,
							"a range of edges needs an attribute: there are none here");
	if (bins->domain->kind == PE_BINS && bins->domain->classes == 0)
		return true;
	describe_attribute(&p->workload->shape, factor->attribute, name, sizeof(name));
	snprintf(p->t.error->hint, sizeof(p->t.error->hint),
			 "Give the numbers of the first and the last cell, from 0, such as 0-3.");
	return pe_text_fail(&p->t, PE_TEXT_INVALID, p->t.at, "%s has %s and no edges", name,
						bins->domain->classes > 0 ? "classes of cells" : "levels");
}

static bool
read_edge(parser *p, const pe_declared *bins, const char *name, int32_t *edge)
{
	pe_value	value;

	if (!pe_value_read(&p->t, p->source, bins, &value))
		return false;
	*edge = pe_attribute_find_point(bins->domain, &value.point);
	if (*edge >= 0)
		return true;
	pe_value_tell_nearest(&p->t, bins, &value);
	return pe_text_fail(&p->t, PE_TEXT_INVALID, value.position, "%.*s is no edge of attribute \"%.*s\"",
						pe_shown_size(value.canonical), value.canonical, pe_shown_size(name), name);
}

/* A range from one edge to another, half-open; as cells, both included. */
static bool
read_edges(parser *p, const pe_factor *factor, int32_t *from, int32_t *to)
{
	size_t		start = (pe_text_next(&p->t), p->t.at);
	const char *name = p->workload->shape.name[factor->attribute];
	pe_declared bins;

	if (!find_bins(p, factor, &bins) || !read_edge(p, &bins, name, from) ||
		!take_points(&p->t) || !read_edge(p, &bins, name, to))
		return false;
	if (*from >= (*to)--)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, start, "a range goes from its lower edge to its upper");
	return true;
}

static bool
spell_edges(pe_text *t)
{
	if (!spell_edge(t) || !take_points(t))
		return false;
	pe_text_write(t, "..");
	return spell_edge(t);
}

/* A range; where no attributes are known, edges stay as they are written. */
static bool
read_range(parser *p, const pe_factor *factor, int32_t *from, int32_t *to)
{
	bool		edges = sees_edges(p);

	*from = *to = 0;
	if (edges && p->spelling)
		return spell_edges(&p->t);
	if (edges ? !read_edges(p, factor, from, to)
		: !read_cells(p, p->workload->shape.ordered[factor->attribute], from, to))
		return false;
	pe_text_writef(&p->t, "%d-%d", *from, *to);
	return true;
}

static bool
read_ranges(parser *p, pe_factor *factor)
{
	int32_t    *list = NULL;
	int32_t		count = 0;
	const char *separator = "; ";

	if (!pe_text_take(&p->t, ';', "\";\" and ranges of cells"))
		return false;
	do
	{
		int32_t		from;
		int32_t		to;

		pe_text_write(&p->t, separator);
		if (!read_range(p, factor, &from, &to))
			return false;
		push(p, &list, &count, from);
		push(p, &list, &count, to);
		separator = ", ";
	} while (pe_text_next(&p->t) == ',' && ++p->t.at);
	factor->range = list;
	factor->queries = count / 2;
	return true;
}

/* One row of a matrix; all have as many entries as the first. */
static bool
read_row(parser *p, int32_t **list, int32_t *count, int32_t *columns)
{
	size_t		start = (pe_text_next(&p->t), p->t.at);
	int32_t		before = *count;
	const char *separator = "{";

	if (!pe_text_take(&p->t, '{', "\"{\" and a row of the matrix"))
		return false;
	do
	{
		int32_t		entry;

		if (*count >= PE_MAX_CELLS * 64)
			return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, start, "the matrix has too many entries");
		if (!pe_text_whole(&p->t, true, ENTRY_MAX, "a whole number", &entry))
			return false;
		push(p, list, count, entry);
		pe_text_write(&p->t, separator);
		pe_text_writef(&p->t, "%d", entry);
		separator = ",";
	} while (pe_text_next(&p->t) == ',' && ++p->t.at);
	pe_text_write(&p->t, "}");
	if (*columns == 0)
		*columns = *count;
	if (*count - before != *columns)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, start, "a row of the matrix has %d entries, the first %d",
					*count - before, *columns);
	return pe_text_take(&p->t, '}', "\",\" or \"}\"");
}

static bool
read_rows(parser *p, pe_factor *factor)
{
	int32_t    *list = NULL;
	int32_t		count = 0;
	int32_t		columns = 0;
	const char *separator = "{";

	if (!pe_text_take(&p->t, '{', "\"{\" and the rows of the matrix"))
		return false;
	do
	{
		pe_text_write(&p->t, separator);
		if (!read_row(p, &list, &count, &columns))
			return false;
		separator = ",";
	} while (pe_text_next(&p->t) == ',' && ++p->t.at);
	pe_text_write(&p->t, "}");
	if (columns > PE_MAX_CELLS)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, factor->position,
							"the matrix has more than %d columns", PE_MAX_CELLS);
	factor->entry = list;
	factor->queries = count / columns;
	factor->cells = columns;
	return pe_text_take(&p->t, '}', "\",\" or \"}\"");
}

/*
 * The attribute of a matrix that does not say it: all cells, or the one at its
 * place.  Beside attributes of one cell these are the same queries, and the one
 * at its place may stand in a product.
 */
static bool
place_matrix(parser *p, pe_factor *factor, int place, piece *made)
{
	const pe_shape *shape = &p->workload->shape;

	if (p->collecting)
	{
		if (place < PE_MAX_ATTRIBUTES && p->lone_columns[place] == 0)
			p->lone_columns[place] = factor->cells;
		return true;
	}
	if (place == 0 && shape->attributes > 1 &&
		factor->cells != shape->cells[0] && factor->cells == pe_shape_cells(shape))
	{
		factor->attribute = PE_ALL_CELLS;
		made->whole = true;
		return true;
	}
	return use_size(p, factor, place, factor->cells);
}

static bool
read_matrix(parser *p, pe_factor *factor, int place, piece *made)
{
	int32_t		columns;
	char		name[128];

	if (pe_text_next(&p->t) == '{')
		return read_rows(p, factor) && place_matrix(p, factor, place, made);
	if (!read_attribute(p, factor, place) || !pe_text_take(&p->t, ';', "\";\" and the rows of the matrix"))
		return false;
	pe_text_write(&p->t, "; ");
	if (!read_rows(p, factor))
		return false;
	columns = factor->cells;
	if (p->collecting || columns == p->workload->shape.cells[factor->attribute])
		return true;
	describe_attribute(&p->workload->shape, factor->attribute, name, sizeof(name));
	return pe_text_fail(&p->t, PE_TEXT_INVALID, factor->position, "%s has %d cells, and the matrix %d columns",
				name, p->workload->shape.cells[factor->attribute], columns);
}

/* What stands in the parentheses of a constructor, without them. */
static bool
read_arguments(parser *p, pe_factor *factor, int place, piece *made)
{
	if (factor->constructor == PE_MATRIX)
		return read_matrix(p, factor, place, made);
	if (!read_attribute(p, factor, place))
		return false;
	if (factor->constructor == PE_WIDTH_RANGE)
	{
		if (!pe_text_take(&p->t, ',', "\",\" and a width") ||
			!pe_text_whole(&p->t, false, PE_MAX_CELLS, "a number of cells", &factor->width))
			return false;
		pe_text_writef(&p->t, ", %d", factor->width);
	}
	if (factor->constructor == PE_RANGES)
		return read_ranges(p, factor);
	return true;
}

static void
one_term(parser *p, piece *made, int factors)
{
	made->terms = 1;
	made->term = keep_memory(p, 1, sizeof(pe_term));
	made->term->weight = 1;
	made->term->largest = 1;
	made->term->queries = 1;
	made->term->factors = factors;
	made->term->factor = keep_memory(p, factors, sizeof(pe_factor));
}

/* Numbers the queries of a term, the last factor fastest. */
static bool
number_term(parser *p, pe_term *term, size_t position)
{
	term->queries = 1;
	for (int f = term->factors - 1; f >= 0; f--)
	{
		term->factor[f].stride = term->queries;
		if (__builtin_mul_overflow(term->queries, (int64_t) term->factor[f].queries, &term->queries) ||
			term->queries > PE_MAX_QUERIES)
			return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, position,
								"the workload has more than %d queries", PE_MAX_QUERIES);
	}
	return true;
}

/* The counts of every combination of cells of some attributes. */
static bool
identity_term(parser *p, pe_term *term, const int *attribute, int factors, size_t position)
{
	term->weight = 1;
	term->largest = 1;
	term->factors = factors;
	term->factor = keep_memory(p, factors, sizeof(pe_factor));
	for (int f = 0; f < factors; f++)
	{
		term->factor[f].constructor = PE_IDENTITY;
		term->factor[f].attribute = attribute[f];
		term->factor[f].position = (int) position;
		if (!size_factor(p, &term->factor[f]))
			return false;
	}
	return number_term(p, term, position);
}

/* identity and total without an argument. */
static bool
whole_factor(parser *p, bool identity, piece *made)
{
	int			attribute[PE_MAX_ATTRIBUTES];
	int			attributes = identity ? p->workload->shape.attributes : 0;

	made->whole = true;
	made->queries = 1;
	if (p->collecting)
		return true;
	for (int a = 0; a < attributes; a++)
		attribute[a] = a;
	made->terms = 1;
	made->term = keep_memory(p, 1, sizeof(pe_term));
	if (!identity_term(p, made->term, attribute, attributes, made->position))
		return false;
	made->queries = made->term->queries;
	return true;
}

/* The next set of k out of n in lexicographic order; false after the last. */
static bool
next_set(int *set, int k, int n)
{
	int			at = k - 1;

	while (at >= 0 && set[at] == n - k + at)
		at--;
	if (at < 0)
		return false;
	set[at]++;
	for (int i = at + 1; i < k; i++)
		set[i] = set[i - 1] + 1;
	return true;
}

static int64_t
binomial(int n, int k)
{
	int64_t		value = 1;

	for (int i = 1; i <= k; i++)
		value = value * (n - k + i) / i;
	return value;
}

static bool
read_marginals(parser *p, piece *made)
{
	int			attributes = p->workload->shape.attributes;
	int			set[PE_MAX_ATTRIBUTES];
	int32_t		k;

	if (!pe_text_take(&p->t, '(', "\"(\" and a number of attributes"))
		return false;
	made->whole = true;
	made->queries = 0;
	if (!pe_text_whole(&p->t, false, PE_MAX_ATTRIBUTES, "a number of attributes", &k) ||
		!pe_text_take(&p->t, ')', "a closing parenthesis"))
		return false;
	pe_text_writef(&p->t, "(%d)", k);
	if (p->collecting)
		return true;
	if (k > attributes)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, made->position,
							"there are %d attributes, fewer than %d", attributes, k);
	if (binomial(attributes, k) > PE_MAX_TERMS)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, made->position,
							"the workload has more than %d terms", PE_MAX_TERMS);
	made->term = keep_memory(p, (size_t) binomial(attributes, k), sizeof(pe_term));
	for (int i = 0; i < k; i++)
		set[i] = i;
	do
	{
		pe_term    *term = &made->term[made->terms++];

		if (!identity_term(p, term, set, k, made->position))
			return false;
		term->first = made->queries;
		made->queries += term->queries;
		if (made->queries > PE_MAX_QUERIES)
			return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, made->position,
								"the workload has more than %d queries", PE_MAX_QUERIES);
	} while (next_set(set, k, attributes));
	return true;
}

static bool
find_constructor(const char *name, pe_constructor *constructor)
{
	static const char *const names[] = {
		[PE_IDENTITY] = "identity", [PE_TOTAL] = "total", [PE_PREFIX] = "prefix", [PE_ALL_RANGE] = "all_range",
		[PE_WIDTH_RANGE] = "width_range", [PE_RANGES] = "ranges", [PE_MATRIX] = "matrix"
	};

	for (int c = PE_IDENTITY; c <= PE_MATRIX; c++)
		if (strcmp(names[c], name) == 0)
		{
			*constructor = (pe_constructor) c;
			return true;
		}
	return false;
}

static double
largest_entry(const pe_factor *factor)
{
	int32_t		largest = 1;

	if (factor->constructor == PE_MATRIX)
		for (size_t i = 0; i < (size_t) factor->queries * factor->cells; i++)
			if (abs(factor->entry[i]) > largest)
				largest = abs(factor->entry[i]);
	return largest;
}

/* A constructor with parentheses, or prefix or all_range without. */
static bool
read_factor(parser *p, pe_constructor constructor, int place, piece *made)
{
	pe_factor  *factor;

	one_term(p, made, 1);
	factor = made->term->factor;
	factor->constructor = constructor;
	factor->position = (int) made->position;
	if (pe_text_next(&p->t) == '(')
	{
		p->t.at++;
		pe_text_write(&p->t, "(");
		if (!read_arguments(p, factor, place, made) || !pe_text_take(&p->t, ')', "a closing parenthesis"))
			return false;
		pe_text_write(&p->t, ")");
	}
	else if (constructor != PE_PREFIX && constructor != PE_ALL_RANGE)
		return pe_text_unexpected(&p->t, "\"(\"");
	else if (!use_ordered_attribute(p, factor))
		return false;
	made->places = 1;
	if (p->collecting)
	{
		release_terms(p, made->term, made->terms);
		made->terms = 0;
		return true;
	}
	if (factor->attribute != PE_ALL_CELLS && !size_factor(p, factor))
		return false;
	made->queries = factor->queries;
	made->term->largest = largest_entry(factor);
	return number_term(p, made->term, made->position);
}

static bool
read_constructor(parser *p, int place, piece *made)
{
	pe_constructor constructor;
	char		name[PE_NAME_SIZE];

	made->canonical_from = p->t.size;
	if (!pe_text_name(&p->t, name, "a constructor of a workload"))
		return false;
	pe_text_write_name(&p->t, name);
	if (strcmp(name, "marginals") == 0)
		return read_marginals(p, made);
	if (!find_constructor(name, &constructor))
		return pe_text_fail(&p->t, PE_TEXT_SYNTAX, made->position,
							"there is no workload constructor \"%.*s\": identity, total, prefix, all_range, "
							"width_range, ranges, marginals or matrix is expected",
							pe_shown_size(name), name);
	if (pe_text_next(&p->t) != '(' && (constructor == PE_IDENTITY || constructor == PE_TOTAL))
		return whole_factor(p, constructor == PE_IDENTITY, made);
	return read_factor(p, constructor, place, made);
}

/* ------------------------------------------------------------------
 * Products and unions
 * ------------------------------------------------------------------
 */

static bool read_union(parser *p, int place, piece *made);

static bool
read_primary(parser *p, int place, piece *made)
{
	memset(made, 0, sizeof(*made));
	pe_text_next(&p->t);
	made->position = p->t.at;
	if (p->t.text[p->t.at] != '(')
		return read_constructor(p, place, made);
	if (++p->nesting > PE_MAX_NESTING)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, p->t.at,
							"more than %d parentheses within each other", PE_MAX_NESTING);
	p->t.at++;
	if (!read_union(p, place, made) || !pe_text_take(&p->t, ')', "\"+\", \"*\" or a closing parenthesis"))
		return false;
	p->nesting--;
	return true;
}

static bool
check_disjoint(parser *p, const pe_term *left, const pe_term *right)
{
	char		name[128];

	for (int l = 0; l < left->factors; l++)
		for (int r = 0; r < right->factors; r++)
			if (left->factor[l].attribute == right->factor[r].attribute)
			{
				describe_attribute(&p->workload->shape, left->factor[l].attribute, name, sizeof(name));
				return pe_text_fail(&p->t, PE_TEXT_INVALID, right->factor[r].position,
							"%s stands twice in a product of the workload", name);
			}
	return true;
}

/* Multiplies the weight of a term. */
static bool
weigh(parser *p, pe_term *term, double weight, size_t position)
{
	term->weight *= weight;
	if (term->weight >= WEIGHT_MIN * (1 - WEIGHT_SLACK) && term->weight <= WEIGHT_MAX * (1 + WEIGHT_SLACK))
		return true;
	return pe_text_fail(&p->t, PE_TEXT_INVALID, position,
						"weights multiplied must be from %g to %g", WEIGHT_MIN, WEIGHT_MAX);
}

/*
 * The product of two terms; the queries of right, so many in its union, run
 * fastest.
 */
static bool
multiply_terms(parser *p, const pe_term *left, const pe_term *right, int64_t right_queries, pe_term *made)
{
	if (!check_disjoint(p, left, right))
		return false;
	made->weight = left->weight;
	made->largest = left->largest * right->largest;
	made->first = left->first * right_queries + right->first;
	made->queries = left->queries * right->queries;
	made->factors = left->factors + right->factors;
	made->factor = keep_memory(p, made->factors, sizeof(pe_factor));
	memcpy(made->factor, left->factor, left->factors * sizeof(pe_factor));
	for (int f = 0; f < left->factors; f++)
		made->factor[f].stride *= right_queries;
	memcpy(made->factor + left->factors, right->factor, right->factors * sizeof(pe_factor));
	return weigh(p, made, right->weight, right->factor->position);
}

static bool
multiply(parser *p, piece *left, const piece *right)
{
	pe_term    *term;
	int64_t		terms = (int64_t) left->terms * right->terms;

	left->places += right->places;
	left->binds = BINDS_PRODUCT;
	if (left->whole || right->whole)
		return pe_text_fail(&p->t, PE_TEXT_SYNTAX, left->whole ? left->position : right->position,
					"a factor of a product must name its attribute");
	if (p->collecting)
		return true;
	if (__builtin_mul_overflow(left->queries, right->queries, &left->queries) || left->queries > PE_MAX_QUERIES)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, left->position,
							"the workload has more than %d queries", PE_MAX_QUERIES);
	if (terms > PE_MAX_TERMS)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, left->position,
							"the workload has more than %d terms", PE_MAX_TERMS);
	term = keep_memory(p, (size_t) terms, sizeof(pe_term));
	for (int32_t l = 0; l < left->terms; l++)
		for (int32_t r = 0; r < right->terms; r++)
			if (!multiply_terms(p, &left->term[l], &right->term[r], right->queries,
								&term[(int64_t) l * right->terms + r]))
				return false;
	release_terms(p, left->term, left->terms);
	release_terms(p, right->term, right->terms);
	left->term = term;
	left->terms = (int32_t) terms;
	return true;
}

/* Whether a piece in parentheses must keep them beside what stands around it. */
static void
enclose_if_needed(parser *p, const piece *made, bool alone)
{
	if (!alone && made->binds != BINDS_PRODUCT)
		pe_text_enclose(&p->t, made->canonical_from);
}

static bool
read_product(parser *p, int place, piece *made)
{
	double		weight = 0;
	size_t		from = p->t.size;
	char		first = pe_text_next(&p->t);
	size_t		position = p->t.at;

	if (pe_is_digit(first) || first == '.')
	{
		if (!pe_weight_read(&p->t, &weight))
			return false;
		pe_weight_write(&p->t, weight);
	}
	if (!read_primary(p, place, made))
		return false;
	enclose_if_needed(p, made, weight == 0 && pe_text_next(&p->t) != '*');
	while (pe_text_next(&p->t) == '*')
	{
		piece		factor;

		p->t.at++;
		pe_text_write(&p->t, " * ");
		if (!read_primary(p, place + made->places, &factor))
			return false;
		enclose_if_needed(p, &factor, false);
		if (!multiply(p, made, &factor))
			return false;
	}
	if (weight != 0)
	{
		made->binds = BINDS_WEIGHTED;
		for (int32_t t = 0; t < made->terms; t++)
			if (!weigh(p, &made->term[t], weight, position))
				return false;
	}
	made->canonical_from = from;
	return true;
}

/* Appends the terms of another piece, in an array that doubles. */
static bool
unite(parser *p, piece *left, const piece *right, int32_t *room)
{
	left->binds = BINDS_UNION;
	left->whole |= right->whole;
	left->places = right->places > left->places ? right->places : left->places;
	if (p->collecting)
		return true;
	if (left->terms + right->terms > PE_MAX_TERMS)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, right->position,
							"the workload has more than %d terms", PE_MAX_TERMS);
	if (left->queries + right->queries > PE_MAX_QUERIES)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, right->position,
							"the workload has more than %d queries", PE_MAX_QUERIES);
	if (left->terms + right->terms > *room)
	{
		pe_term    *larger;

		*room = 2 * (left->terms + right->terms);
		larger = keep_memory(p, *room, sizeof(pe_term));
		memcpy(larger, left->term, left->terms * sizeof(pe_term));
		release(p, left->term);
		left->term = larger;
	}
	for (int32_t t = 0; t < right->terms; t++)
	{
		left->term[left->terms] = right->term[t];
		left->term[left->terms++].first += left->queries;
	}
	left->queries += right->queries;
	release(p, right->term);
	return true;
}

static bool
read_union(parser *p, int place, piece *made)
{
	int32_t		room = 0;

	if (!read_product(p, place, made))
		return false;
	while (pe_text_next(&p->t) == '+')
	{
		piece		next;

		p->t.at++;
		pe_text_write(&p->t, " + ");
		if (!read_product(p, place, &next) || !unite(p, made, &next, &room))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------
 * The whole text
 * ------------------------------------------------------------------
 */

static bool
read_text(parser *p, piece *made)
{
	p->t.at = 0;
	p->nesting = 0;
	p->t.size = 0;
	if (!read_union(p, 0, made))
		return false;
	return pe_text_next(&p->t) == '\0' || pe_text_unexpected(&p->t, "the end, \"+\" or \"*\"");
}

/* First reading of a text without names. */
static bool
collect_shape(parser *p)
{
	pe_shape   *shape = &p->workload->shape;
	piece		made;

	p->collecting = true;
	if (!read_text(p, &made))
		return false;
	p->collecting = false;
	for (int a = 0; a < PE_MAX_ATTRIBUTES; a++)
		if (shape->cells[a] == 0 && p->lone_columns[a] != 0)
		{
			shape->cells[a] = p->lone_columns[a];
			shape->attributes = a + 1 > shape->attributes ? a + 1 : shape->attributes;
		}
	if (shape->attributes == 0)
		return pe_text_fail(&p->t, PE_TEXT_INVALID, 0, "the workload gives no number of cells");
	for (int a = 0; a < shape->attributes; a++)
	{
		if (shape->cells[a] == 0)
			return pe_text_fail(&p->t, PE_TEXT_INVALID, 0,
								"the workload gives no number of cells for factor %d", a + 1);
		shape->ordered[a] = shape->cells[a];
	}
	return true;
}

/* No entry of the unweighted W'W may be beyond what a double holds exactly. */
static bool
check_gram(parser *p, const piece *made)
{
	double		gram = 0;

	for (int32_t t = 0; t < made->terms; t++)
		gram += made->term[t].queries * made->term[t].largest * made->term[t].largest;
	if (gram >= GRAM_MAX)
		return pe_text_fail(&p->t, PE_TEXT_TOO_LARGE, 0, "the entries of the workload's matrices are too large");
	return true;
}

bool
pe_workload_parse(const char *text, const pe_shape *shape, pe_workload *workload, pe_text_error *error)
{
	return pe_workload_parse_edges(text, shape, NULL, workload, error);
}

bool
pe_workload_parse_edges(const char *text, const pe_shape *shape, const pe_literal_source *source,
						pe_workload *workload, pe_text_error *error)
{
	parser		p = {
		.t = {.what = "workload", .text = text, .error = error},
		.named = shape != NULL, .source = source, .workload = workload
	};
	piece		made;

	memset(workload, 0, sizeof(*workload));
	memset(error, 0, sizeof(*error));
	if (shape != NULL)
		workload->shape = *shape;
	if ((p.named || collect_shape(&p)) && read_text(&p, &made) && check_gram(&p, &made))
	{
		workload->terms = made.terms;
		workload->term = made.term;
		workload->queries = (int32_t) made.queries;
		workload->canonical = p.t.canonical;
		return true;
	}
	pe_free(p.t.canonical);
	pe_workload_free(workload);
	return false;
}

char *
pe_workload_canonical(const char *text, pe_text_error *error)
{
	pe_workload workload;
	parser		p = {.t = {.what = "workload", .text = text, .error = error}, .collecting = true,
		.spelling = true, .workload = &workload};
	piece		made;
	bool		read;

	memset(&workload, 0, sizeof(workload));
	memset(error, 0, sizeof(*error));
	read = read_text(&p, &made);
	pe_workload_free(&workload);
	if (read)
		return p.t.canonical;
	pe_free(p.t.canonical);
	return NULL;
}

void
pe_workload_free(pe_workload *workload)
{
	while (workload->chunks != NULL)
	{
		struct pe_chunk *next = workload->chunks->next;

		pe_free(workload->chunks);
		workload->chunks = next;
	}
	pe_free(workload->canonical);
	memset(workload, 0, sizeof(*workload));
}

void
pe_shape_of_domain(const pe_domain *domain, const char *const *names, pe_shape *shape)
{
	memset(shape, 0, sizeof(*shape));
	shape->attributes = domain->attributes;
	for (int a = 0; a < domain->attributes; a++)
	{
		const pe_attribute *attribute = &domain->attribute[a];

		shape->name[a] = names[a];
		shape->cells[a] = pe_attribute_cells(attribute);
		if (pe_attribute_is_ordered(attribute))
			shape->ordered[a] = pe_attribute_ordered_cells(attribute);
	}
}

int32_t
pe_shape_cells(const pe_shape *shape)
{
	int64_t		cells = 1;

	for (int a = 0; a < shape->attributes; a++)
	{
		cells *= shape->cells[a];
		if (cells > PE_MAX_CELLS)
			return PE_MAX_CELLS + 1;
	}
	return (int32_t) cells;
}

/* ------------------------------------------------------------------
 * Queries of a factor and of a term
 * ------------------------------------------------------------------
 */

/* The ranges of all_range that begin before cell i: those of n cells less those of the last n - i. */
static int64_t
ranges_before(int64_t n, int64_t i)
{
	return i * n - i * (i - 1) / 2;
}

static int32_t
first_cell_of_range(int32_t n, int32_t query)
{
	int32_t		low = 0;
	int32_t		high = n;

	while (high - low > 1)
	{
		int32_t		middle = low + (high - low) / 2;

		if (ranges_before(n, middle) <= query)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void
pe_factor_range(const pe_factor *factor, int32_t query, int32_t *from, int32_t *to)
{
	switch (factor->constructor)
	{
		case PE_PREFIX:
			*from = 0;
			*to = query;
			return;
		case PE_ALL_RANGE:
			*from = first_cell_of_range(factor->cells, query);
			*to = *from + (int32_t) (query - ranges_before(factor->cells, *from));
			return;
		case PE_WIDTH_RANGE:
			*from = query;
			*to = query + factor->width - 1;
			return;
		case PE_RANGES:
			*from = factor->range[2 * (size_t) query];
			*to = factor->range[2 * (size_t) query + 1];
			return;
		default:
			pe_bug("a factor without ranges");
	}
}

int32_t
pe_factor_entry(const pe_factor *factor, int32_t query, int32_t cell)
{
	int32_t		from;
	int32_t		to;

	switch (factor->constructor)
	{
		case PE_TOTAL:
			return 1;
		case PE_IDENTITY:
			return cell == query;
		case PE_MATRIX:
			return factor->entry[(size_t) query * factor->cells + cell];
		default:
			pe_factor_range(factor, query, &from, &to);
			return cell >= from && cell <= to;
	}
}

int64_t
pe_term_query(const pe_term *term, int64_t local, int32_t *factor_query)
{
	int64_t		number = term->first;

	for (int f = term->factors - 1; f >= 0; f--)
	{
		factor_query[f] = (int32_t) (local % term->factor[f].queries);
		local /= term->factor[f].queries;
		number += factor_query[f] * term->factor[f].stride;
	}
	return number;
}

void
pe_workload_index(const pe_workload *workload, int32_t *term, int32_t *local)
{
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	for (int32_t t = 0; t < workload->terms; t++)
		for (int64_t i = 0; i < workload->term[t].queries; i++)
		{
			int64_t		number = pe_term_query(&workload->term[t], i, factor_query);

			term[number] = t;
			local[number] = (int32_t) i;
		}
}

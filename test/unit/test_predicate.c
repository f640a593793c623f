/*
 * test_predicate.c
 *	  The language of predicates: what they say of each cell, what they are
 *	  refused for, their canonical text, their written form, and which cells
 *	  they leave.
 *
 * The oracle knows no cut and no table: a test says of a cell what it says of
 * every value in it, and must be refused if it says different things.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/predicate.h"
#include "numbers.h"
#include "shim.h"

/* ---- helpers ---- */

#define cases(count) fewer(count, 100)

/* ---- the attributes ---- */

enum
{
	AGE, SEX, SMOKES, X, K, DAY, HEIGHT, ATTRIBUTES
};

/* The points of an attribute as numbers: of a level of text, its place. */
typedef struct declared
{
	const char *name;
	pe_key		key;
	pe_kind		kind;
	pe_outside	outside;
	pe_nulls	nulls;
	bool		ordered;
	int			points;
	double		point[6];
	const char *text[6];
	bool		open;			/* the last bin */
} declared;

static const declared declaration[ATTRIBUTES] = {
	{"age", PE_KEY_INT, PE_BINS, PE_OUTSIDE_CLAMP, PE_NULLS_CELL, true, 5, {0, 1, 2, 10, 12}, {"0", "1", "2", "10", "12"}, false},
	{"sex", PE_KEY_BYTES, PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, true, 3, {0, 1, 2}, {"f", "it's", "m"}, false},
	{"smokes", PE_KEY_INT, PE_LEVELS, PE_OUTSIDE_DROP, PE_NULLS_DROP, true, 2, {0, 1}, {"false", "true"}, false},
	{"Odd \"x", PE_KEY_FLOAT, PE_BINS, PE_OUTSIDE_OTHER, PE_NULLS_CELL, true, 4, {-1.5, 0, 0.5, 2}, {"-1.5", "0", "0.5", "2"}, false},
	{"in", PE_KEY_INT, PE_LEVELS, PE_OUTSIDE_OTHER, PE_NULLS_DROP, false, 3, {3, 1, 2}, {"3", "1", "2"}, false},
	{"day", PE_KEY_INT, PE_BINS, PE_OUTSIDE_OTHER, PE_NULLS_DROP, true, 4, {-5, -4, 3, 4}, {"-5", "-4", "3", "4"}, true},
	{"height", PE_KEY_FLOAT, PE_BINS, PE_OUTSIDE_CLAMP, PE_NULLS_CELL, true, 3, {0, 0.5, 2}, {"0", "0.5", "2"}, true},
};

/* as a predicate writes the names */
static const char *const shown[ATTRIBUTES] = {"age", "sex", "smokes", "\"Odd \"\"x\"", "\"in\"", "day", "height"};

static pe_attribute attribute[ATTRIBUTES];
static char *kept[1 << 14];		/* canonical literals, until the next parse */
static int	literals;

static int
declare(void **state)
{
	(void) state;
	pe_test_seed(20240301);
	for (int a = 0; a < ATTRIBUTES; a++)
	{
		const declared *d = &declaration[a];

		attribute[a].key = d->key;
		attribute[a].kind = d->kind;
		attribute[a].outside = d->outside;
		attribute[a].nulls = d->nulls;
		attribute[a].open = d->open;
		attribute[a].points = d->points;
		attribute[a].point = pe_alloc((size_t) d->points, sizeof(pe_point));
		for (int i = 0; i < d->points; i++)
			if (d->key == PE_KEY_INT)
				attribute[a].point[i].i = (int64_t) d->point[i];
			else if (d->key == PE_KEY_FLOAT)
				attribute[a].point[i].f = d->point[i];
			else
			{
				attribute[a].point[i].b.data = d->text[i];
				attribute[a].point[i].b.size = (uint32_t) strlen(d->text[i]);
			}
		assert_int_equal(pe_attribute_prepare(&attribute[a]), PE_DOMAIN_OK);
	}
	return 0;
}

static bool
find_attribute(void *context, const char *name, pe_declared *found)
{
	(void) context;
	for (int a = 0; a < ATTRIBUTES; a++)
		if (strcmp(declaration[a].name, name) == 0)
		{
			found->number = a;
			found->domain = &attribute[a];
			found->ordered = declaration[a].ordered;
			found->points = (char *const *) declaration[a].text;
			return true;
		}
	return false;
}

static char *
keep(const char *text)
{
	assert_true(literals < lengthof(kept));
	return kept[literals++] = strdup(text);
}

static bool
find_literal(void *context, const pe_declared *found, const pe_literal *literal,
			 pe_point *value, const char **canonical, pe_text_error *error)
{
	const declared *d = &declaration[found->number];
	pe_literal_kind kind = d->key == PE_KEY_BYTES ? PE_LITERAL_STRING
		: found->number == SMOKES ? PE_LITERAL_BOOLEAN : PE_LITERAL_NUMBER;
	char		text[256];

	(void) context;
	/* a string is read as the type reads it */
	if (literal->kind != kind && literal->kind != PE_LITERAL_STRING)
	{
		snprintf(error->message, sizeof(error->message), "wrong kind");
		snprintf(error->hint, sizeof(error->hint), "another");
		return false;
	}
	if (kind == PE_LITERAL_STRING)
	{
		size_t		at = 0;

		/* keeps the bytes themselves, and doubles quotes for the text */
		value->b.data = keep(literal->text);
		value->b.size = (uint32_t) strlen(literal->text);
		text[at++] = '\'';
		for (const char *c = literal->text; *c && at < sizeof(text) - 4; c++)
		{
			if (*c == '\'')
				text[at++] = '\'';
			text[at++] = *c;
		}
		text[at++] = '\'';
		text[at] = '\0';
	}
	else if (kind == PE_LITERAL_BOOLEAN)
	{
		value->i = literal->text[0] == 't';
		snprintf(text, sizeof(text), "%s", literal->text);
	}
	else
	{
		double		number = strtod(literal->text, NULL);

		if (d->key == PE_KEY_INT)
			value->i = (int64_t) number;
		else
			value->f = number;
		snprintf(text, sizeof(text), "%.17g", number + 0.0);
	}
	*canonical = keep(text);
	return true;
}

static const pe_literal_source source = {NULL, find_attribute, find_literal, NULL, NULL, false};

/* Parses a copy in memory of exactly its size. */
static bool
parse(const char *text, pe_predicate *predicate, pe_text_error *error)
{
	char	   *copy = strdup(text);
	bool		parsed;

	while (literals > 0)
		free(kept[--literals]);
	parsed = pe_predicate_parse(copy, &source, predicate, error);
	free(copy);
	if (!parsed)
	{
		assert_null(predicate->leaf);
		assert_null(predicate->step);
		assert_null(predicate->canonical);
	}
	return parsed;
}

static void
parse_ok(const char *text, pe_predicate *predicate)
{
	pe_text_error error;

	if (!parse(text, predicate, &error))
		fail_msg("%s: %s at %d", text, error.message, error.position);
}

/* ---- the oracle ---- */

typedef enum test
{
	EQ, NE, LT, LE, GT, GE, IS_NULL, TESTS
} test;

static const char *const test_text[] = {"=", "<>", "<", "<=", ">", ">="};

enum
{
	MIXED = 3
};

/* The values in an ordered cell, all of them or the telling ones; returns their number. */
static int
values_of_cell(int a, int cell, double *value)
{
	const declared *d = &declaration[a];
	double		from = d->point[cell];
	double		to;
	int			n = 0;

	value[n++] = from;
	if (d->kind == PE_LEVELS)
		return n;
	to = d->point[cell + 1];
	if (d->key == PE_KEY_INT)
		for (double v = from + 1; v < to; v++)
			value[n++] = v;
	else
	{
		value[n++] = (from + to) / 2;
		value[n++] = nextafter(from, to);
		value[n++] = nextafter(to, from);
	}
	if (cell == d->points - 2 && !d->open)
		value[n++] = to;
	return n;
}

static bool
holds(test t, double value, double literal)
{
	switch (t)
	{
		case EQ:
			return value == literal;
		case NE:
			return value != literal;
		case LT:
			return value < literal;
		case LE:
			return value <= literal;
		case GT:
			return value > literal;
		case GE:
			return value >= literal;
		default:
			abort();
	}
}

/* What a test says of a cell: MIXED if not the same of all its values. */
static int
truth_of(int a, test t, double literal, int cell)
{
	double		value[32];
	int			values;
	int			held = 0;

	if (pe_attribute_is_null(&attribute[a], cell))
		return t == IS_NULL ? PE_TRUE : PE_UNKNOWN;
	if (t == IS_NULL)
		return PE_FALSE;
	if (pe_attribute_is_other(&attribute[a], cell))
		return declaration[a].kind == PE_BINS || t > NE ? PE_UNKNOWN : t == NE ? PE_TRUE : PE_FALSE;
	values = values_of_cell(a, cell, value);
	for (int i = 0; i < values; i++)
		held += holds(t, value[i], literal);
	return held == values ? PE_TRUE : held == 0 ? PE_FALSE : MIXED;
}

static bool
is_point(int a, double literal, int points)
{
	for (int i = 0; i < points; i++)
		if (declaration[a].point[i] == literal)
			return true;
	return false;
}

/* Whether the language has this test. */
static bool
expressible(int a, test t, double literal)
{
	const declared *d = &declaration[a];
	bool		some = false;

	if (t == IS_NULL)
		return true;
	for (int cell = 0; cell < pe_attribute_cells(&attribute[a]); cell++)
	{
		int			truth = truth_of(a, t == NE ? EQ : t, literal, cell);

		if (truth == MIXED)
			return false;
		some = some || truth == PE_TRUE;
	}
	if (d->kind == PE_LEVELS)
		return is_point(a, literal, d->points) && (t <= NE || d->ordered);
	if (t <= NE)
		return some && d->key == PE_KEY_INT;
	if (t == LT || t == GE)
		return is_point(a, literal, d->points);
	return (literal == d->point[d->points - 1] && !d->open) || (d->key == PE_KEY_INT && is_point(a, literal + 1, d->points));
}

static void
write_literal(char *to, int a, double literal)
{
	if (a == SEX)
		strcpy(to, literal == 0 ? "'f'" : literal == 1 ? "'it''s'" : literal == 2 ? "'m'" : "'F'");
	else if (a == SMOKES)
		strcpy(to, literal != 0 ? "true" : "false");
	else
		sprintf(to, "%.17g", literal);
}

/* ---- single tests ---- */

static void
check_leaf(const char *text, int a, test t, double literal, bool negated)
{
	pe_predicate predicate;
	int32_t		coordinate[ATTRIBUTES] = {0};

	parse_ok(text, &predicate);
	assert_int_equal(predicate.leaves, 1);
	assert_int_equal(predicate.steps, 1);
	assert_int_equal(predicate.leaf[0].attribute, a);
	assert_int_equal(predicate.leaf[0].cells, pe_attribute_cells(&attribute[a]));
	for (int cell = 0; cell < predicate.leaf[0].cells; cell++)
	{
		int			truth = truth_of(a, t, literal, cell);

		coordinate[a] = cell;
		if (negated)
			truth = PE_TRUE - truth;
		if (predicate.leaf[0].truth[cell] != truth)
			fail_msg("%s: %d in cell %d, not %d", text, predicate.leaf[0].truth[cell], cell, truth);
		assert_int_equal(pe_predicate_selects(&predicate, coordinate), truth == PE_TRUE);
	}
	pe_predicate_free(&predicate);
}

static void
test_leaves(void **state)
{
	static const test mirrored[] = {EQ, NE, GT, GE, LT, LE};
	static const double halves[] = {-2, -1.5, -1, 0, 0.25, 0.5, 1, 2, 2.5};
	pe_predicate predicate;
	pe_text_error error;
	char		text[256];
	char		literal[64];
	int			accepted = 0;

	(void) state;
	for (int a = 0; a < ATTRIBUTES; a++)
	{
		sprintf(text, "%s is null", shown[a]);
		check_leaf(text, a, IS_NULL, 0, false);
		sprintf(text, "%s IS NOT NULL", shown[a]);
		check_leaf(text, a, IS_NULL, 0, true);
		for (int i = 0; i < 22; i++)
			for (test t = EQ; t <= GE; t++)
			{
				double		v = a == X || a == HEIGHT ? halves[i % lengthof(halves)] : a == SMOKES ? i % 2 : a == SEX ? i % 4 : i - 7;

				write_literal(literal, a, v);
				sprintf(text, "%s %s %s", shown[a], test_text[t], literal);
				if (!expressible(a, t, v))
				{
					if (parse(text, &predicate, &error))
						fail_msg("%s: accepted", text);
					assert_int_equal(error.status, PE_TEXT_INVALID);
					assert_int_equal(error.position, (int) (strlen(text) - strlen(literal)));
					continue;
				}
				accepted++;
				check_leaf(text, a, t, v, false);
				sprintf(text, "NOT %s %s %s", shown[a], test_text[t], literal);
				check_leaf(text, a, t, v, true);
				sprintf(text, "%s %s %s", literal, test_text[mirrored[t]], shown[a]);
				check_leaf(text, a, t, v, false);
				if (t == NE)
				{
					sprintf(text, "%s != %s", shown[a], literal);
					check_leaf(text, a, t, v, false);
					sprintf(text, "%s NOT IN (%s)", shown[a], literal);
					check_leaf(text, a, t, v, false);
				}
				if (t == EQ)
				{
					sprintf(text, "%s IN (%s, %s)", shown[a], literal, literal);
					check_leaf(text, a, t, v, false);
				}
			}
	}
	assert_true(accepted > 60);
	check_leaf("smokes", SMOKES, EQ, 1, false);
	check_leaf("NOT smokes", SMOKES, EQ, 1, true);
	check_leaf("NOT NOT(NOT((smokes)))", SMOKES, EQ, 1, true);
}

/* BETWEEN is two comparisons, IN several, each with its own truth table. */
static void
check_same(const char *text, const char *as)
{
	pe_predicate one;
	pe_predicate other;

	parse_ok(text, &one);
	parse_ok(as, &other);
	assert_int_equal(one.leaves, 1);
	assert_int_equal(other.leaves, 1);	/* tests of one attribute become one */
	assert_memory_equal(one.leaf[0].truth, other.leaf[0].truth, (size_t) one.leaf[0].cells);
	pe_predicate_free(&one);
	pe_predicate_free(&other);
}

static void
test_several_literals(void **state)
{
	(void) state;
	check_same("age BETWEEN 1 AND 9", "age >= 1 AND age <= 9");
	check_same("age BETWEEN 10 AND 12", "age > 9 AND age <= 12");
	check_same("age BETWEEN 10 AND 0", "age >= 10 AND age <= 0");
	check_same("age NOT BETWEEN 1 AND 9", "age < 1 OR age > 9");
	check_same("\"Odd \"\"x\" BETWEEN 0 AND 2", "\"Odd \"\"x\" >= 0");
	check_same("sex BETWEEN 'f' AND 'it''s'", "sex <= 'it''s'");
	check_same("sex NOT BETWEEN 'it''s' AND 'm'", "NOT sex > 'f'");
	check_same("sex IN ('f','m')", "sex = 'f' OR sex = 'm'");
	check_same("sex NOT IN ('f','m')", "sex <> 'f' AND sex <> 'm'");
	check_same("age IN (0, 1)", "age <= 1");
	check_same("day IN (-5)", "day < -4");
	check_same("day = 3", "day >= 3 AND day < 4");
	check_same("height >= 2", "NOT height < 2");
	check_same("\"in\" NOT IN (1, 3)", "NOT (\"in\" = 3 OR \"in\" = 1)");
	/* the largest integer has no successor */
	{
		pe_predicate predicate;
		pe_text_error error;

		assert_false(parse("age <= 9223372036854775807", &predicate, &error));
		assert_int_equal(error.status, PE_TEXT_INVALID);
	}
}

/* ---- random predicates ---- */

/* A tree: a leaf, or NOT of one branch, or AND or OR of two. */
typedef struct tree
{
	char		kind;			/* 't' test, '!' NOT, '&' AND, '|' OR */
	int			attribute;
	test		test;
	double		literal;
	struct tree *branch[2];
} tree;

static tree *
random_tree(int depth)
{
	tree	   *t = calloc(1, sizeof(*t));

	t->kind = depth == 0 ? 't' : "t!&|&|"[random_below(6)];
	if (t->kind == 't')
		do
		{
			t->attribute = random_below(ATTRIBUTES);
			t->test = (test) random_below(TESTS);
			t->literal = t->attribute == X ? random_below(5) / 2.0 - 0.5
				: t->attribute == SMOKES ? random_below(2) : t->attribute == SEX ? random_below(3) : random_below(20) - 6;
		} while (!expressible(t->attribute, t->test, t->literal));
	for (int i = 0; i < (t->kind == 't' ? 0 : t->kind == '!' ? 1 : 2); i++)
		t->branch[i] = random_tree(depth - 1);
	return t;
}

static void
free_tree(tree *t)
{
	if (t == NULL)
		return;
	free_tree(t->branch[0]);
	free_tree(t->branch[1]);
	free(t);
}

static int
evaluate(const tree *t, const int32_t *coordinate)
{
	int			a;
	int			b;

	if (t->kind == 't')
		return truth_of(t->attribute, t->test, t->literal, coordinate[t->attribute]);
	a = evaluate(t->branch[0], coordinate);
	if (t->kind == '!')
		return a == PE_UNKNOWN ? PE_UNKNOWN : a == PE_TRUE ? PE_FALSE : PE_TRUE;
	b = evaluate(t->branch[1], coordinate);
	if (t->kind == '&')
		return a == PE_FALSE || b == PE_FALSE ? PE_FALSE : a == PE_TRUE && b == PE_TRUE ? PE_TRUE : PE_UNKNOWN;
	return a == PE_TRUE || b == PE_TRUE ? PE_TRUE : a == PE_FALSE && b == PE_FALSE ? PE_FALSE : PE_UNKNOWN;
}

/* White space of any kind, or as little as there may be. */
static void
space(char *to, bool plain, bool needed)
{
	if (plain)
		strcat(to, needed ? " " : "");
	else
		for (int i = random_below(3) + needed; i > 0; i--)
			strncat(to, &" \t\n\r\f\v"[random_below(6)], 1);
}

/* A keyword in any case. */
static void
keyword(char *to, bool plain, const char *word)
{
	for (to += strlen(to); *word; word++)
		*to++ = (char) (!plain && random_below(2) ? *word | 0x20 : *word);
	*to = '\0';
}

/* Writes a tree, with all parentheses, in a plain form or at random. */
static void
write_tree(char *to, const tree *t, bool plain)
{
	int			extra = plain ? 0 : random_below(3);

	for (int i = -1; i < extra; i++)
	{
		strcat(to, "(");
		space(to, plain, false);
	}
	if (t->kind == 't')
	{
		strcat(to, shown[t->attribute]);
		space(to, plain, true);
		if (t->test == IS_NULL)
		{
			keyword(to, plain, "IS");
			space(to, plain, true);
			keyword(to, plain, "NULL");
		}
		else
		{
			strcat(to, test_text[t->test]);
			space(to, plain, true);
			write_literal(to + strlen(to), t->attribute, t->literal);
		}
	}
	else if (t->kind == '!')
	{
		keyword(to, plain, "NOT");
		space(to, plain, true);
		write_tree(to, t->branch[0], plain);
	}
	else
	{
		write_tree(to, t->branch[0], plain);
		space(to, plain, false);
		keyword(to, plain, t->kind == '&' ? "AND" : "OR");
		space(to, plain, false);
		write_tree(to, t->branch[1], plain);
	}
	for (int i = -1; i < extra; i++)
	{
		space(to, plain, false);
		strcat(to, ")");
	}
}

static bool
next_coordinate(int32_t *coordinate)
{
	for (int a = ATTRIBUTES - 1; a >= 0; a--)
	{
		if (++coordinate[a] < pe_attribute_cells(&attribute[a]))
			return true;
		coordinate[a] = 0;
	}
	return false;
}

static void
test_random(void **state)
{
	static char text[1 << 20];
	int			selected = 0;

	(void) state;
	for (int round = 0; round < cases(2000); round++)
	{
		tree	   *t = random_tree(random_below(6));
		int32_t		coordinate[ATTRIBUTES] = {0};
		pe_predicate predicate;
		pe_predicate again;

		text[0] = '\0';
		write_tree(text, t, false);
		parse_ok(text, &predicate);
		do
		{
			bool		selects = pe_predicate_selects(&predicate, coordinate);

			selected += selects;
			if (selects != (evaluate(t, coordinate) == PE_TRUE))
				fail_msg("%s", text);
			/* known cells decide; without the last ones what is selected may still be */
			assert_int_equal(pe_predicate_may_select(&predicate, coordinate, ATTRIBUTES), selects);
			for (int known = 0; known < ATTRIBUTES; known++)
				assert_true(!selects || pe_predicate_may_select(&predicate, coordinate, known));
		} while (next_coordinate(coordinate));

		/* spacing, case and parentheses leave no trace; the canonical text is its own */
		text[0] = '\0';
		write_tree(text, t, true);
		parse_ok(text, &again);
		assert_string_equal(again.canonical, predicate.canonical);
		pe_predicate_free(&again);
		parse_ok(predicate.canonical, &again);
		assert_string_equal(again.canonical, predicate.canonical);
		do
			assert_int_equal(pe_predicate_selects(&again, coordinate), pe_predicate_selects(&predicate, coordinate));
		while (next_coordinate(coordinate));
		pe_predicate_free(&again);
		pe_predicate_free(&predicate);
		free_tree(t);
	}
	assert_true(selected > 0);
}

/* ---- cells by their numbers ---- */

/* Any set of cells, of 'other' and NULL too: TRUE there and FALSE elsewhere, and read again from its canonical text. */
static void
check_cells(int a, const bool *in, bool negated)
{
	static char text[4096];
	int32_t		cells = pe_attribute_cells(&attribute[a]);
	char		again[4096];
	pe_predicate predicate;

	sprintf(text, "%s %sIN  Cells(", shown[a], negated ? "not " : "");
	for (int32_t cell = cells - 1; cell >= 0; cell--)
		if (in[cell])
			sprintf(text + strlen(text), random_below(2) ? "%d ," : "%d - %d,", cell, cell);
	text[strlen(text) - 1] = ')';
	for (int read = 0; read < 2; read++)
	{
		parse_ok(text, &predicate);
		assert_int_equal(predicate.leaves, 1);
		assert_int_equal(predicate.leaf[0].attribute, a);
		assert_int_equal(predicate.leaf[0].cells, cells);
		for (int32_t cell = 0; cell < cells; cell++)
			if (read == 0)
				assert_int_equal(predicate.leaf[0].truth[cell], in[cell] != negated ? PE_TRUE : PE_FALSE);
			else				/* what selects the same may be UNKNOWN elsewhere */
				assert_int_equal(predicate.leaf[0].truth[cell] == PE_TRUE, in[cell] != negated);
		if (read > 0)
			assert_string_equal(predicate.canonical, again);
		strcpy(again, predicate.canonical);
		strcpy(text, again);
		pe_predicate_free(&predicate);
	}
}

static void
test_cells(void **state)
{
	(void) state;
	for (int a = 0; a < ATTRIBUTES; a++)
	{
		int32_t		cells = pe_attribute_cells(&attribute[a]);

		for (int set = 1; set < 1 << cells; set++)
		{
			bool		in[16];

			for (int32_t cell = 0; cell < cells; cell++)
				in[cell] = set >> cell & 1;
			check_cells(a, in, false);
			check_cells(a, in, true);
		}
	}
}

/* Tests of one attribute become one leaf, whatever they are. */
static void
test_cells_merged(void **state)
{
	pe_predicate predicate;
	static const uint8_t truth[] = {PE_TRUE, PE_UNKNOWN, PE_TRUE, PE_FALSE, PE_UNKNOWN};

	(void) state;
	/* of age 0, 1, 2, 10 to 12 and NULL: with UNKNOWN where the comparison is */
	parse_ok("age in cells (0, 2, 4) and (age < 1 or age >= 2) or age in cells (1) and age is null", &predicate);
	assert_int_equal(predicate.leaves, 1);
	assert_int_equal(predicate.steps, 1);
	for (int cell = 0; cell < 5; cell++)
		assert_int_equal(predicate.leaf[0].truth[cell], cell == 1 ? PE_FALSE : truth[cell]);
	pe_predicate_free(&predicate);
}

/* ---- canonical text ---- */

static void
check_canonical(const char *text, const char *canonical)
{
	pe_predicate predicate;

	parse_ok(text, &predicate);
	assert_string_equal(predicate.canonical, canonical);
	pe_predicate_free(&predicate);
}

static void
test_canonical(void **state)
{
	(void) state;
	check_canonical(" age<10 ", "age < 10");
	check_canonical("AGE<1e1", "age < 10");
	check_canonical("\"age\"<+10", "age < 10");
	check_canonical("10>age", "age < 10");
	check_canonical(".5 > \"Odd \"\"x\"", "\"Odd \"\"x\" < 0.5");
	check_canonical("age in cells(4,0,2-3,1)", "age IN CELLS (0-4)");
	check_canonical("age IN\nCELLS ( 3 - 4 , 0-1,1, 0 )", "age IN CELLS (0-1, 3-4)");
	check_canonical("age in cells(0) and sex not in cells (2,04)", "age = 0 AND sex <> 'm'");
}

/* The same cells in other words. */
static void
test_canonical_same(void **state)
{
	static const char *const same[][6] = {
		{"age >= 1 AND age < 10", "age between 1 and 9", "age in cells (1-2)", "10 > age and not age < 1",
			"not (age < 1 or age >= 10 or age is null)", "(age = 1 or age >= 2) and age < 10"},
		{"smokes", "smokes = true", "not smokes = false", "smokes in (true)", "smokes in cells (1)", "not not smokes"},
		{"NOT smokes", "smokes = false", "smokes <> true", "smokes is not null and not smokes", "smokes in (false)",
			"not (smokes or smokes)"},
		{"sex <> 'it''s'", "sex!='it''s'", "not sex in ('it''s')", "sex in cells (0, 2-3)", "not (sex = 'it''s')",
			"sex not in ('it''s') and sex is not null"},
		{"\"in\" IN (1, 2)", "\"in\"in(2,1)and\"in\"not in(3)", "\"in\" = 1 or \"in\" = 2", "\"in\" in cells (1-2)",
			"not (\"in\" <> 2 and \"in\" <> 1)", "2 = \"in\" or 1 = \"in\""},
		{"age = 0 AND sex = 'f'", "sex = 'f' and age < 1", "not (sex <> 'f' or age >= 1)", "(age = 0) and sex in ('f')",
			"(sex = 'f' and age < 1) and age < 2", "not (not (age < 1 and sex = 'f'))"},
		{"age IS NULL", "not age is not null", "age in cells (4)", "age not in cells (0-3)", "(age is null)",
			"age is null or age is null"},
		{"age NOT IN CELLS (0-4)", "age < 1 and age >= 2", "not age in cells (0-4)", "age is null and age is not null",
			"age = 0 and age is null", "not (age is null or age is not null)"},
		{"age = 0 OR smokes", "smokes or age < 1", "not (age in cells (1-4) and not smokes)", "smokes or age = 0 or smokes",
			"(smokes or age = 0) and (age = 0 or smokes)", "((age = 0)) or (smokes or age < 1)"},
	};

	(void) state;
	for (int i = 0; i < lengthof(same); i++)
		for (int j = 0; j < 6; j++)
			check_canonical(same[i][j], same[i][0]);
}

static void
test_canonical_parentheses(void **state)
{
	(void) state;
	check_canonical("smokes and(sex='f'or age>=2)", "smokes AND (age >= 2 OR sex = 'f')");
	check_canonical("(smokes and sex='f')or age>=2", "age >= 2 OR sex = 'f' AND smokes");
	check_canonical("smokes and(sex='f'and age>=2)", "age >= 2 AND sex = 'f' AND smokes");
	check_canonical("(smokes or sex='f')or(age>=2)", "age >= 2 OR sex = 'f' OR smokes");
	check_canonical("not(smokes and age>=2)", "NOT smokes OR age < 2");
	check_canonical("(sex='f'or smokes)and(age>=2 or sex='m')", "(age >= 2 OR sex = 'm') AND (sex = 'f' OR smokes)");
	/* what needs more than the laws stays as it is */
	check_canonical("smokes or smokes and age>=2", "smokes OR age >= 2 AND smokes");
	/* an attribute is never lost: it drops rows */
	check_canonical("age >= 2 and (smokes or not smokes)", "age >= 2 AND smokes IS NOT NULL");
}

/* ---- errors ---- */

static void
check_error(const char *text, pe_text_status status, int position, const char *message)
{
	pe_predicate predicate;
	pe_text_error error;

	if (parse(text, &predicate, &error))
		fail_msg("%s: accepted", text);
	if (error.status != status || error.position != position || strstr(error.message, message) == NULL)
		fail_msg("%s: %d at %d, %s", text, error.status, error.position, error.message);
}

static void
test_errors(void **state)
{
	pe_predicate predicate;
	pe_text_error error;

	(void) state;
	check_error("", PE_TEXT_SYNTAX, 0, "predicate ends where an attribute or a literal is expected");
	check_error(" \n", PE_TEXT_SYNTAX, 2, "predicate ends");
	check_error("age", PE_TEXT_INVALID, 0, "attribute \"age\" is not boolean and needs a comparison");
	check_error("age <", PE_TEXT_SYNTAX, 5, "a literal");
	check_error("age < age", PE_TEXT_SYNTAX, 6, "at \"a\": a literal");
	check_error("age ! 3", PE_TEXT_SYNTAX, 4, "at \"!\"");
	check_error("age < 1 1", PE_TEXT_SYNTAX, 8, "AND, OR or the end");
	check_error("age < 1)", PE_TEXT_SYNTAX, 7, "AND, OR or the end");
	check_error("(age < 1", PE_TEXT_SYNTAX, 8, "a closing parenthesis");
	check_error("age::text = '1'", PE_TEXT_SYNTAX, 3, "a comparison");
	check_error("f(age) = 1", PE_TEXT_SYNTAX, 1, "a comparison");
	check_error("age + 1 < 2", PE_TEXT_SYNTAX, 4, "a comparison");
	check_error("t.age < 1", PE_TEXT_SYNTAX, 1, "a comparison");
	check_error("(select 1)", PE_TEXT_SYNTAX, 8, "a comparison");
	check_error("1 = 1", PE_TEXT_SYNTAX, 4, "an attribute");
	check_error("1 + 1 = age", PE_TEXT_SYNTAX, 2, "a comparison");
	check_error("true", PE_TEXT_SYNTAX, 4, "a comparison");
	check_error("age = null", PE_TEXT_SYNTAX, 6, "a literal");
	check_error("age IS TRUE", PE_TEXT_SYNTAX, 7, "NULL or NOT NULL");
	check_error("age IS NOT", PE_TEXT_SYNTAX, 10, "NULL");
	check_error("age NOT < 1", PE_TEXT_SYNTAX, 8, "BETWEEN, IN or LIKE");
	check_error("age IN 1", PE_TEXT_SYNTAX, 7, "an opening parenthesis");
	check_error("age IN ()", PE_TEXT_SYNTAX, 8, "a literal");
	check_error("age IN (1", PE_TEXT_SYNTAX, 9, "a comma or a closing parenthesis");
	check_error("age IN CELLS", PE_TEXT_SYNTAX, 12, "an opening parenthesis");
	check_error("age IN CELLS ()", PE_TEXT_SYNTAX, 14, "the number of a cell");
	check_error("age IN CELLS (1", PE_TEXT_SYNTAX, 15, "a comma or a closing parenthesis");
	check_error("age IN CELLS (1,)", PE_TEXT_SYNTAX, 16, "the number of a cell");
	check_error("age IN CELLS (1; 2)", PE_TEXT_SYNTAX, 15, "a comma or a closing parenthesis");
	check_error("age IN CELLS (1-)", PE_TEXT_SYNTAX, 16, "the number of a cell");
	check_error("age IN CELLS (-1)", PE_TEXT_SYNTAX, 14, "the number of a cell");
	check_error("age IN CELLS (1.0)", PE_TEXT_SYNTAX, 15, "the end of a whole number");
	check_error("age IN CELLS (1e0)", PE_TEXT_SYNTAX, 15, "the end of a whole number");
	check_error("age IN CELLS ('1')", PE_TEXT_SYNTAX, 14, "the number of a cell");
	check_error("age IN CELLS (0, 5)", PE_TEXT_INVALID, 17, "the cells of attribute \"age\" are 0 to 4");
	check_error("age IN CELLS (2-5)", PE_TEXT_INVALID, 16, "the cells of attribute \"age\" are 0 to 4");
	check_error("age IN CELLS (99999999999999999999)", PE_TEXT_INVALID, 14, "the cells of attribute \"age\" are 0 to 4");
	check_error("age IN CELLS (0, 2-1)", PE_TEXT_INVALID, 17, "a range goes from its first cell to its last");
	check_error("weight IN CELLS (0)", PE_TEXT_NO_ATTRIBUTE, 0, "there is no attribute \"weight\"");
	check_error("age BETWEEN 0 OR 1", PE_TEXT_SYNTAX, 14, "AND");
	check_error("in = 1", PE_TEXT_SYNTAX, 0, "an attribute");
	check_error("sex = 'f", PE_TEXT_SYNTAX, 6, "string in predicate has no end");
	check_error("sex = 'f''", PE_TEXT_SYNTAX, 6, "string in predicate has no end");
	check_error("\"age < 1", PE_TEXT_SYNTAX, 0, "quoted name in predicate has no end");
	check_error("\"\" < 1", PE_TEXT_SYNTAX, 0, "quoted name in predicate is empty");
	check_error("age < 1x", PE_TEXT_SYNTAX, 7, "the end of the number");
	check_error("age < 1e", PE_TEXT_SYNTAX, 7, "the end of the number");
	check_error("age < 1.1.1", PE_TEXT_SYNTAX, 9, "the end of the number");
	check_error("age < - 1", PE_TEXT_SYNTAX, 6, "a literal");
	check_error("age < \xc3\xa4", PE_TEXT_SYNTAX, 6, "at \"\xc3\xa4\": a literal");
	check_error("sex = 'f' AND weight < 3", PE_TEXT_NO_ATTRIBUTE, 14, "there is no attribute \"weight\"");
	check_error("\"Age\" < 1", PE_TEXT_NO_ATTRIBUTE, 0, "there is no attribute \"Age\"");
	check_error("1 < weight", PE_TEXT_NO_ATTRIBUTE, 4, "there is no attribute");
	check_error("ctid = 1", PE_TEXT_NO_ATTRIBUTE, 0, "there is no attribute");
	check_error("sex = 1", PE_TEXT_INVALID, 6, "wrong kind");
	check_error("smokes IN (true, 1)", PE_TEXT_INVALID, 17, "wrong kind");
	check_error("sex IN ('f', 'x')", PE_TEXT_INVALID, 13, "literal 'x' is not a level of attribute \"sex\"");
	check_error("\"in\" < 3", PE_TEXT_INVALID, 7, "the levels of attribute \"in\" do not ascend, so < has no meaning");
	check_error("age BETWEEN 0 AND 2", PE_TEXT_INVALID, 18, "\"age <= 2\" does not select whole bins");

	assert_false(parse("age < 7", &predicate, &error));
	assert_string_equal(error.detail, "The nearest edges are 2 and 10.");
	assert_false(parse("age < -7", &predicate, &error));
	assert_string_equal(error.detail, "The first edge is 0.");
	assert_false(parse("age < 70", &predicate, &error));
	assert_string_equal(error.detail, "The last edge is 12.");
	assert_false(parse("age < 12", &predicate, &error));
	assert_string_equal(error.detail, "The last bin ends with its edge 12 and holds it.");
	assert_false(parse("age <= 2", &predicate, &error));
	assert_string_equal(error.detail, "A bin begins with the edge 2 and holds it.");
	assert_non_null(strstr(error.hint, "the value just before another"));
	assert_false(parse("\"Odd \"\"x\" <= 0", &predicate, &error));
	assert_null(strstr(error.hint, "just before"));
	assert_false(parse("height <= 2", &predicate, &error));
	assert_string_equal(error.detail, "The last bin ends with its edge 2 and does not hold it.");
	assert_string_equal(error.hint, "A predicate selects whole bins: < and >= take any edge.");
	assert_false(parse("day <= 4", &predicate, &error));
	assert_non_null(strstr(error.hint, "take any edge, <= and > take the value just before one."));
	assert_false(parse("age", &predicate, &error));
	assert_string_equal(error.hint, "");
}

static void
repeat(char *to, const char *part, int times)
{
	to += strlen(to);
	for (int i = 0; i < times; i++, to += strlen(part))
		strcpy(to, part);
}

static void
test_depth(void **state)
{
	static char text[65536];
	pe_predicate predicate;
	int32_t		coordinate[ATTRIBUTES] = {0};

	(void) state;
	for (int deeper = 0; deeper < 2; deeper++)
	{
		text[0] = '\0';
		repeat(text, "(", PE_PREDICATE_DEPTH + deeper);
		strcat(text, "smokes");
		repeat(text, ")", PE_PREDICATE_DEPTH + deeper);
		if (deeper)
			check_error(text, PE_TEXT_SYNTAX, PE_PREDICATE_DEPTH, "nested");
		else
			check_canonical(text, "smokes");
		text[0] = '\0';
		repeat(text, "NOT ", PE_PREDICATE_DEPTH + deeper);
		strcat(text, "smokes");
		if (deeper)
			check_error(text, PE_TEXT_SYNTAX, 4 * PE_PREDICATE_DEPTH, "nested");
		else
			check_canonical(text, "smokes");	/* an even number of them */
	}

	/* the deepest stack: at each level an OR and an AND wait */
	text[0] = '\0';
	repeat(text, "age < 1 OR sex = 'f' AND (", PE_PREDICATE_DEPTH);
	strcat(text, "age < 1 OR sex = 'f' AND smokes");
	repeat(text, ")", PE_PREDICATE_DEPTH);
	parse_ok(text, &predicate);
	assert_true(pe_predicate_selects(&predicate, coordinate));
	coordinate[AGE] = 1;
	assert_false(pe_predicate_selects(&predicate, coordinate));
	assert_false(pe_predicate_may_select(&predicate, coordinate, ATTRIBUTES));
	coordinate[SMOKES] = 1;
	assert_true(pe_predicate_selects(&predicate, coordinate));
	pe_predicate_free(&predicate);

	/* long chains need no depth */
	text[0] = '\0';
	repeat(text, "age < 1 AND sex = 'f' AND ", 800);
	strcat(text, "smokes");
	parse_ok(text, &predicate);
	assert_int_equal(predicate.leaves, 1601);
	assert_false(pe_predicate_selects(&predicate, coordinate));
	pe_predicate_free(&predicate);
}

/* ---- possible cells ---- */

/* A domain of attributes in this order, of which the last do not count. */
static void
make_domain(pe_domain *domain, int counted)
{
	memset(domain, 0, sizeof(*domain));
	domain->attributes = counted;
	domain->watched = ATTRIBUTES - counted;
	memcpy(domain->attribute, attribute, sizeof(attribute));
	assert_int_equal(pe_domain_prepare(domain), PE_DOMAIN_OK);
}

/*
 * Shrunk attributes hold every cell that is expected; exact: of a conjunction of single
 * attributes they hold no other, and an attribute of which all cells are left has no list.
 */
static void
check_shrunk(const pe_predicate *predicate, const pe_domain *domain, const bool *expected, bool any, bool exact)
{
	bool	   *possible_of[PE_MAX_ATTRIBUTES];
	bool		some = pe_predicate_shrink(predicate, domain, domain->attributes, possible_of);

	assert_true(some || !any);
	assert_true(!some || any || !exact);
	for (int32_t cell = 0; some && cell < domain->cells; cell++)
	{
		bool		left = true;

		for (int a = 0; a < domain->attributes; a++)
			left = left && (possible_of[a] == NULL || possible_of[a][pe_domain_coordinate(domain, cell, a)]);
		assert_true(left || !expected[cell]);
		assert_true(!left || expected[cell] || !exact);
	}
	for (int a = 0; a < domain->attributes && some; a++)
	{
		if (possible_of[a] != NULL)
			assert_non_null(memchr(possible_of[a], false, (size_t) pe_attribute_cells(&domain->attribute[a])));
		pe_free(possible_of[a]);
	}
}

/* Watched attributes are told of, too, where that is asked for. */
static void
test_shrunk_watched(void **state)
{
	bool	   *possible_of[PE_MAX_ATTRIBUTES] = {NULL};
	pe_domain	domain;
	pe_predicate predicate;

	(void) state;
	make_domain(&domain, 0);
	parse_ok("sex = 'f' AND (age < 1 OR smokes)", &predicate);
	assert_true(pe_predicate_shrink(&predicate, &domain, ATTRIBUTES, possible_of));
	assert_true(possible_of[SEX][0] && !possible_of[SEX][1]);
	assert_null(possible_of[AGE]);
	pe_free(possible_of[SEX]);
	pe_predicate_free(&predicate);
}

/* Conjunctions of tests of single attributes, in several shapes: shrinking finds what is possible, cell by cell. */
static void
test_shrunk(void **state)
{
	static const char *const exact[] = {
		"age < 1", "sex = 'f' AND smokes", "NOT (sex = 'f' OR smokes) AND day < 3", "age >= 1 AND sex <> 'm' AND age < 10",
		"NOT (NOT (age < 2 AND smokes))", "smokes AND NOT smokes", "(smokes AND (age < 1 AND (sex = 'm' AND age IS NOT NULL)))",
		"age < 1 OR age IS NULL", "NOT NOT NOT (sex IS NULL OR (age < 2 OR NOT smokes))", "smokes OR NOT smokes"
	};
	static const char *const other[] = {"age < 1 OR smokes", "NOT (age < 1 AND smokes)", "sex = 'f' AND (age < 1 OR smokes)"};

	(void) state;
	for (int i = 0; i < (int) (sizeof(exact) / sizeof(*exact) + sizeof(other) / sizeof(*other)); i++)
		for (int counted = 0; counted <= ATTRIBUTES; counted++)
		{
			bool		is_exact = i < (int) (sizeof(exact) / sizeof(*exact));
			pe_domain	domain;
			pe_predicate predicate;
			bool	   *possible;
			bool		some;

			make_domain(&domain, counted);
			possible = calloc((size_t) domain.cells, sizeof(*possible));
			parse_ok(is_exact ? exact[i] : other[i - (int) (sizeof(exact) / sizeof(*exact))], &predicate);
			assert_true(pe_predicate_possible(&predicate, &domain, possible, &some));
			check_shrunk(&predicate, &domain, possible, some, is_exact);
			pe_predicate_free(&predicate);
			free(possible);
		}
}

/* A product of 4^32 cells has no list of them, and its attributes shrink all the same. */
static void
test_shrunk_large(void **state)
{
	bool	   *possible_of[PE_MAX_ATTRIBUTES] = {NULL};
	bool		some;
	pe_domain	domain = {.attributes = PE_MAX_ATTRIBUTES};
	pe_predicate predicate;

	(void) state;
	for (int a = 0; a < PE_MAX_ATTRIBUTES; a++)
		domain.attribute[a] = attribute[AGE + a % ATTRIBUTES];
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	parse_ok("sex = 'f' AND (age < 1 OR smokes) AND day < 3", &predicate);
	assert_false(pe_predicate_possible(&predicate, &domain, NULL, &some));
	assert_true(pe_predicate_memory(&predicate, &domain) < 4096);
	assert_true(pe_predicate_shrink(&predicate, &domain, PE_MAX_ATTRIBUTES, possible_of));
	assert_null(possible_of[AGE]);
	assert_null(possible_of[SMOKES]);
	assert_true(possible_of[SEX][0] && !possible_of[SEX][1] && !possible_of[SEX][3]);
	assert_true(possible_of[DAY][0] && possible_of[DAY][1] && !possible_of[DAY][2]);
	pe_free(possible_of[SEX]);
	pe_free(possible_of[DAY]);
	pe_predicate_free(&predicate);
}

static void
test_possible(void **state)
{
	static char text[1 << 20];

	(void) state;
	for (int round = 0; round < cases(600); round++)
	{
		tree	   *t = random_tree(random_below(5));
		int32_t		coordinate[ATTRIBUTES] = {0};
		pe_domain	domain;
		pe_predicate predicate;
		bool	   *possible;
		bool	   *expected;
		bool		some;
		bool		any = false;

		make_domain(&domain, random_below(ATTRIBUTES + 1));
		possible = calloc((size_t) domain.cells, sizeof(*possible));
		expected = calloc((size_t) domain.cells, sizeof(*expected));
		text[0] = '\0';
		write_tree(text, t, true);
		parse_ok(text, &predicate);
		do
		{
			int32_t		cell = 0;

			for (int a = 0; a < domain.attributes; a++)
				cell += coordinate[a] * domain.stride[a];
			if (evaluate(t, coordinate) == PE_TRUE)
				any = expected[cell] = true;
		} while (next_coordinate(coordinate));
		assert_true(pe_predicate_possible(&predicate, &domain, possible, &some));
		assert_int_equal(some, any);
		check_shrunk(&predicate, &domain, expected, any, false);
		for (int32_t cell = 0; cell < domain.cells; cell++)
			if (possible[cell] != expected[cell])
				fail_msg("%s: cell %d", text, cell);
		pe_predicate_free(&predicate);
		free_tree(t);
		free(possible);
		free(expected);
	}
}

/* Watched attributes with many cells that the predicate tells apart. */
static void
possible_of_levels(int attributes, int levels, bool fits)
{
	pe_domain	domain;
	pe_predicate predicate;
	bool		possible[1];
	bool		some;

	memset(&domain, 0, sizeof(domain));
	memset(&predicate, 0, sizeof(predicate));
	domain.watched = attributes;
	predicate.leaf = pe_alloc((size_t) attributes * 24, sizeof(*predicate.leaf));
	predicate.step = pe_alloc((size_t) attributes * 48, sizeof(*predicate.step));
	for (int a = 0; a < attributes; a++)
	{
		domain.attribute[a] = attribute[SMOKES];
		domain.attribute[a].points = levels;
		/* bit i of the level */
		for (int bit = 0; levels >> bit > 1; bit++)
		{
			pe_predicate_leaf *leaf = &predicate.leaf[predicate.leaves];

			leaf->attribute = a;
			leaf->cells = levels;
			leaf->truth = pe_alloc((size_t) levels, 1);
			for (int level = 0; level < levels; level++)
				leaf->truth[level] = level >> bit & 1 ? PE_TRUE : PE_FALSE;
			predicate.step[predicate.steps++] = predicate.leaves++;
			if (predicate.leaves > 1)
				predicate.step[predicate.steps++] = PE_STEP_AND;
		}
	}
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	assert_int_equal(pe_predicate_possible(&predicate, &domain, possible, &some), fits);
	if (fits)
	{
		assert_true(some);		/* the last level of each */
		assert_true(possible[0]);
	}
	pe_predicate_free(&predicate);
}

static void
test_possible_too_large(void **state)
{
	(void) state;
	possible_of_levels(1, 1 << 12, true);
	possible_of_levels(6, 4, true);
	possible_of_levels(3, 1 << 12, false);
	possible_of_levels(32, 1 << 4, false);
}

/* ---- the written form ---- */

/* Reads from a copy in memory of exactly that size; what is accepted is what would be written, and runs. */
static bool
read_selection(const char *bytes, size_t size)
{
	pe_domain	domain;
	pe_predicate predicate;
	char	   *copy = malloc(size > 0 ? size : 1);
	bool		accepted;

	memcpy(copy, bytes, size);
	accepted = pe_selection_read(&domain, &predicate, copy, size);
	if (accepted)
	{
		const pe_predicate *given = predicate.steps > 0 ? &predicate : NULL;
		int32_t		coordinate[PE_MAX_ATTRIBUTES] = {0};
		char	   *again;

		assert_int_equal(pe_selection_size(&domain, given), size);
		again = malloc(size);
		pe_selection_write(&domain, given, again);
		assert_memory_equal(again, bytes, size);
		free(again);
		if (given != NULL)
			for (int round = 0; round < 8; round++)
			{
				for (int a = 0; a < domain.attributes + domain.watched; a++)
					coordinate[a] = random_below(pe_attribute_cells(&domain.attribute[a]));
				(void) pe_predicate_selects(&predicate, coordinate);
			}
		pe_predicate_free(&predicate);
		pe_domain_free(&domain);
	}
	free(copy);
	return accepted;
}

static void
test_written(void **state)
{
	pe_domain	domain;
	pe_domain	back_domain;
	pe_predicate predicate;
	pe_predicate back;
	char	   *form;
	size_t		size;
	size_t		domain_size;
	int32_t		coordinate[ATTRIBUTES] = {0};
	int			accepted = 0;

	(void) state;
	make_domain(&domain, 2);
	parse_ok("NOT (sex = 'f' OR age < 1) AND (smokes OR \"Odd \"\"x\" IS NULL AND day = -5)", &predicate);
	size = pe_selection_size(&domain, &predicate);
	form = malloc(size);
	pe_selection_write(&domain, &predicate, form);
	domain_size = sizeof(uint32_t) + pe_domain_size(&domain);

	assert_true(pe_selection_read(&back_domain, &back, form, size));
	assert_int_equal(back_domain.attributes, 2);
	assert_int_equal(back_domain.watched, ATTRIBUTES - 2);
	assert_int_equal(back_domain.stride[ATTRIBUTES - 1], 0);
	do
		assert_int_equal(pe_predicate_selects(&back, coordinate), pe_predicate_selects(&predicate, coordinate));
	while (next_coordinate(coordinate));
	pe_predicate_free(&back);
	pe_domain_free(&back_domain);
	assert_true(read_selection(form, size));

	/* no part of it, and nothing behind it; watched attributes need a predicate */
	for (size_t part = 0; part < size; part++)
		assert_false(read_selection(form, part));
	assert_false(read_selection(form, domain_size));
	{
		char	   *longer = calloc(size + 4, 1);

		memcpy(longer, form, size);
		for (size_t more = 1; more <= 4; more++)
			assert_false(read_selection(longer, size + more));
		free(longer);
	}
	/* every other value of every byte, then several at once */
	for (size_t i = 0; i < size; i++)
		for (int flip = 1; flip < 256; flip += getenv("PG_EPSILON_QUICK") != NULL ? 37 : 1)
		{
			form[i] ^= (char) flip;
			accepted += read_selection(form, size);
			form[i] ^= (char) flip;
		}
	assert_true(accepted > 0);	/* another truth table is another predicate */
	for (int round = 0; round < cases(100000); round++)
	{
		char	   *copy = malloc(size);
		bool		behind = random_below(2);

		memcpy(copy, form, size);
		for (int i = 1 + random_below(4); i > 0; i--)
			copy[behind ? domain_size + (size_t) random_below((int) (size - domain_size)) : (size_t) random_below((int) size)] =
				(char) (random_below(2) ? random_word() : (uint64_t) random_below(8) - 4);
		(void) read_selection(copy, size);
		free(copy);
	}
	free(form);
	pe_predicate_free(&predicate);

	/* without a predicate */
	make_domain(&domain, ATTRIBUTES);
	size = pe_selection_size(&domain, NULL);
	form = malloc(size);
	pe_selection_write(&domain, NULL, form);
	assert_true(read_selection(form, size));
	free(form);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_several_literals),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_cells_merged),
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_canonical_same),
		cmocka_unit_test(test_canonical_parentheses),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_shrunk),
		cmocka_unit_test(test_shrunk_watched),
		cmocka_unit_test(test_shrunk_large),
		cmocka_unit_test(test_possible),
		cmocka_unit_test(test_possible_too_large),
		cmocka_unit_test(test_written),
	};

	return cmocka_run_group_tests(tests, declare, NULL);
}

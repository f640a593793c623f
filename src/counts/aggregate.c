/*
 * aggregate.c
 *	  Aggregates: their texts, their sums, and what follows from these.  See aggregate.h.
 */
#include "counts/aggregate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------
 * Forms
 * ------------------------------------------------------------------
 */

typedef struct dual dual;
typedef struct work work;

typedef dual value_function(work *w, const pe_aggregate *a);

/*
 * All that is known of an aggregate.  One that is made of old sums is an entry
 * of forms, with its value: the rest follows.
 */
struct pe_aggregate_form
{
	const char *name[3];		/* the first one is the canonical one */
	pe_aggregate_kind kind;
	int			columns;		/* of numbers; -1: what count has */
	unsigned	uses;			/* bits of its sums */
	value_function *value;		/* with its gradient */
	/* estimate, error and interval; NULL: not from sums */
	void		(*answer) (work *w, const pe_aggregate *a, const pe_error_law *law, pe_quotient *answer);

	bool		formulas;		/* its numbers may be formulas of attributes */
	bool		symmetric;		/* its two numbers, in either order */

	/* Of what is neither linear nor a quotient: */
	value_function *searched;	/* the value whose ends are searched for */
	double		rows;			/* it is unknown where there may be no more rows than these, */
	int			squares;		/* and where the squares of a number may be 0: bits of numbers */
	double		least;			/* searched is between these in any case */
	double		most;
	void		(*after) (pe_quotient *answer); /* from what was searched to the answer; NULL: it is that */
};

/* That of a name; NULL: there is none. */
static const pe_aggregate_form *form_named(const char *name, size_t size);

/* Whether it is a count or a sum. */
static bool is_linear(const pe_aggregate_form *f);

/* ------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------
 */

static const char *const keywords[] = {"where", "as", "distinct", NULL};

static char *
copy(const char *from, size_t size)
{
	char	   *to = pe_alloc(size + 1, 1);

	memcpy(to, from, size);
	return to;
}

static bool
take_column(pe_text *t, pe_aggregate *a, int i)
{
	char		name[PE_NAME_SIZE];

	if (!pe_text_name(t, name, "the name of an attribute"))
		return false;
	a->column[i] = copy(name, strlen(name));
	return true;
}

static char *
formula_text(const pe_formula *formula)
{
	pe_text_error error;
	pe_text		t = {.what = "aggregate", .keywords = keywords, .text = "", .error = &error};

	pe_formula_write(&t, formula);
	return t.canonical;
}

/* An attribute, or a formula of them. */
static bool
take_formula(pe_text *t, pe_aggregate *a, int i)
{
	pe_formula *formula = pe_alloc(1, sizeof(*formula));
	const char *attribute;

	a->formula[i] = formula;
	if (!pe_formula_parse(t, formula))
		return false;
	attribute = pe_formula_attribute(formula);
	a->column[i] = attribute != NULL ? copy(attribute, strlen(attribute)) : formula_text(formula);
	if (attribute == NULL)
		return true;
	pe_formula_free(formula);
	pe_free(formula);
	a->formula[i] = NULL;
	return true;
}

/* A text that is a formula and nothing else; false: it is another. */
static bool
read_formula(const char *text, pe_formula *formula)
{
	pe_text_error error;
	pe_text		t = {.what = "aggregate", .keywords = keywords, .text = text, .error = &error};

	return pe_formula_parse(&t, formula) && pe_text_next(&t) == 0;
}

bool
pe_formula_is_multiple(const char *text, const char *of, double *factor)
{
	pe_formula *formula = pe_alloc(2, sizeof(*formula));
	pe_rational ratio;
	bool		is_multiple = read_formula(text, &formula[0]) && read_formula(of, &formula[1]) &&
		pe_formula_ratio(&formula[0], &formula[1], &ratio);

	if (is_multiple)
		*factor = (double) ratio.above / (double) ratio.below;
	pe_formula_free(&formula[0]);
	pe_formula_free(&formula[1]);
	pe_free(formula);
	return is_multiple;
}

char *
pe_formula_canonical(const char *text, bool *affine)
{
	pe_formula *formula = pe_alloc(1, sizeof(*formula));
	bool		read = read_formula(text, formula);
	char	   *canonical = read ? formula_text(formula) : NULL;

	*affine = formula->variables == 1 && !formula->variable[0].fills && formula->terms > 0 &&
		formula->term[formula->terms - 1].degree == 1;
	pe_formula_free(formula);
	pe_free(formula);
	return canonical;
}

/* A formula has a value where each attribute has, or coalesce gives one. */
static char *
there(const pe_formula *f)
{
	pe_text_error error;
	pe_text		t = {.what = "predicate", .keywords = keywords, .text = "", .error = &error};

	for (int i = 0; i < f->variables; i++)
	{
		if (f->variable[i].fills)
			continue;
		pe_text_write(&t, t.size > 0 ? " AND " : "");
		pe_text_write_quoted(&t, f->variable[i].name, '"');
		pe_text_write(&t, " IS NOT NULL");
	}
	return t.canonical;
}

/* What a formula counts: its condition, and no column. */
static void
count_formula(pe_aggregate *a)
{
	a->where = there(a->formula[0]);
	pe_formula_free(a->formula[0]);
	pe_free(a->formula[0]);
	pe_free(a->column[0]);
	a->formula[0] = NULL;
	a->column[0] = NULL;
}

/* count(x); of the unit it is count(*), as rows without a unit do not count. */
static bool
take_counted(pe_text *t, const char *unit, pe_aggregate *a)
{
	if (!take_formula(t, a, 0))
		return false;
	if (a->formula[0] != NULL)
	{
		count_formula(a);
		return true;
	}
	if (unit == NULL || strcmp(a->column[0], unit) != 0)
		return true;
	pe_free(a->column[0]);
	a->column[0] = NULL;
	return true;
}

/* count(*), count(x), count(distinct unit), count(distinct x); "unit" in quotes is an attribute of that name. */
static bool
take_count(pe_text *t, const char *unit, pe_aggregate *a)
{
	char		name[PE_NAME_SIZE];
	bool		quoted;

	if (pe_text_next(t) == '*')
		return pe_text_take(t, '*', "*");
	if (!pe_text_takes(t, "distinct"))
		return take_counted(t, unit, a);
	(void) pe_text_next(t);
	quoted = t->text[t->at] == '"';
	if (!pe_text_name(t, name, "\"unit\" or the name of an attribute"))
		return false;
	a->kind = (!quoted && strcmp(name, "unit") == 0) || (unit != NULL && strcmp(name, unit) == 0)
		? PE_AGG_UNITS : PE_AGG_DISTINCT;
	if (a->kind == PE_AGG_DISTINCT)
		a->column[0] = copy(name, strlen(name));
	return true;
}

/* The fraction of quantile(x, fraction). */
static bool
take_fraction(pe_text *t, pe_aggregate *a)
{
	size_t		at;

	if (!pe_text_take(t, ',', "\",\""))
		return false;
	(void) pe_text_next(t);
	at = t->at;
	if (!pe_text_number(t))
		return false;
	a->fraction = strtod(t->text + at, NULL);
	if (a->fraction > 0 && a->fraction < 1)
		return true;
	return pe_text_fail(t, PE_TEXT_INVALID, at, "the fraction of a quantile must be between 0 and 1");
}

static bool take_aggregate(pe_text *t, const char *unit, bool outer, pe_aggregate *a);

static bool
take_ratio(pe_text *t, const char *unit, pe_aggregate *a)
{
	for (int i = 0; i < 2; i++)
	{
		size_t		at;

		if (i == 1 && !pe_text_take(t, ',', "\",\""))
			return false;
		(void) pe_text_next(t);
		at = t->at;
		a->part[i] = pe_alloc(1, sizeof(pe_aggregate));
		if (!take_aggregate(t, unit, false, a->part[i]))
			return false;
		if (!pe_aggregate_is_linear(a->part[i]) || a->part[i]->kind == PE_AGG_LOST)
			return pe_text_fail(t, PE_TEXT_INVALID, at, "a ratio is of counts, counts of units and sums");
	}
	return true;
}

/* dropped, dropped(most) */
static bool
take_most(pe_text *t, pe_aggregate *a)
{
	size_t		at;

	if (pe_text_next(t) != '(')
		return true;
	if (!pe_text_take(t, '(', "\"(\""))
		return false;
	(void) pe_text_next(t);
	at = t->at;
	if (!pe_text_whole(t, false, PE_LOST_MOST, "how many dropped rows of a unit are counted at most", &a->most))
		return false;
	if (a->most == 0)
		return pe_text_fail(t, PE_TEXT_INVALID, at, "dropped(most) counts at least one row of a unit");
	return pe_text_take(t, ')', "\")\"");
}

static bool
take_arguments(pe_text *t, const char *unit, const char *name, pe_aggregate *a)
{
	int			columns = a->form->columns;

	if (a->kind == PE_AGG_SHARE)
		return true;
	if (a->kind == PE_AGG_LOST)
		return take_most(t, a);
	if (!pe_text_take(t, '(', "\"(\""))
		return false;
	if (columns < 0 && !take_count(t, unit, a))
		return false;
	if (a->kind == PE_AGG_RATIO && !take_ratio(t, unit, a))
		return false;
	for (int i = 0; i < columns; i++)
		if ((i > 0 && !pe_text_take(t, ',', "\",\"")) ||
			!(a->form->formulas ? take_formula(t, a, i) : take_column(t, a, i)))
			return false;
	if (a->form->symmetric && strcmp(a->column[0], a->column[1]) > 0)
	{
		char	   *first = a->column[0];

		a->column[0] = a->column[1];
		a->column[1] = first;
	}
	if (a->kind == PE_AGG_QUANTILE && strcmp(name, "median") != 0 && !take_fraction(t, a))
		return false;
	return pe_text_take(t, ')', "\")\"");
}

/* What is between this parenthesis and its own: quotes hide others. */
static size_t
enclosed(const char *text)
{
	size_t		at = 0;
	char		quote = 0;

	for (int depth = 0; text[at] != 0; at++)
	{
		char		c = text[at];

		if (quote != 0)
			quote = c == quote ? 0 : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if (c == '(')
			depth++;
		else if (c == ')' && depth-- == 0)
			break;
	}
	return at;
}

/* Beside what a formula needs. */
static void
set_where(pe_aggregate *a, const char *text, size_t size)
{
	pe_text_error error;
	pe_text		t = {.what = "predicate", .keywords = keywords, .text = "", .error = &error};
	char	   *where = copy(text, size);

	if (a->where == NULL)
	{
		a->where = where;
		return;
	}
	pe_text_write(&t, a->where);
	pe_text_write(&t, " AND (");
	pe_text_write(&t, where);
	pe_text_write(&t, ")");
	pe_free(a->where);
	pe_free(where);
	a->where = t.canonical;
}

static bool
take_where(pe_text *t, pe_aggregate *a)
{
	size_t		size;

	if (!pe_text_takes(t, "where"))
		return true;
	if (a->kind == PE_AGG_RATIO)
		return pe_text_fail(t, PE_TEXT_INVALID, t->at, "where belongs into the parts of a ratio");
	if (!pe_text_take(t, '(', "\"(\""))
		return false;
	size = enclosed(t->text + t->at);
	set_where(a, t->text + t->at, size);
	a->where_position = (int) t->at;
	t->at += size;
	return pe_text_take(t, ')', "\")\"");
}

static bool
take_as(pe_text *t, pe_aggregate *a)
{
	char		name[PE_NAME_SIZE];

	if (!pe_text_takes(t, "as"))
		return true;
	if (!pe_text_name(t, name, "a name"))
		return false;
	a->name = copy(name, strlen(name));
	return true;
}

static bool
take_aggregate(pe_text *t, const char *unit, bool outer, pe_aggregate *a)
{
	char		name[PE_NAME_SIZE];
	size_t		at;

	(void) pe_text_next(t);
	at = t->at;
	a->condition = a->number[0] = a->number[1] = a->attribute = a->open = -1;
	if (!pe_text_name(t, name, "an aggregate"))
		return false;
	a->form = form_named(name, strlen(name));
	if (a->form == NULL)
		return pe_text_fail(t, PE_TEXT_INVALID, at, "unknown aggregate \"%.*s\"", pe_shown_size(name), name);
	a->kind = a->form->kind;
	if (!outer && a->kind == PE_AGG_RATIO)	/* before it is read: nothing is nested deeper */
		return pe_text_fail(t, PE_TEXT_INVALID, at, "a ratio is of counts, counts of units and sums");
	a->fraction = a->kind == PE_AGG_QUANTILE ? .5 : 0;
	return take_arguments(t, unit, name, a) && take_where(t, a) && (!outer || take_as(t, a));
}

bool
pe_aggregate_parse(const char *text, const char *unit, pe_aggregate *aggregate, pe_text_error *error)
{
	pe_text		t = {.what = "aggregate", .keywords = keywords, .text = text, .error = error};

	memset(error, 0, sizeof(*error));
	memset(aggregate, 0, sizeof(*aggregate));
	if (take_aggregate(&t, unit, true, aggregate) && (pe_text_next(&t) == 0 || pe_text_unexpected(&t, "the end")))
		return true;
	pe_aggregate_free(aggregate);
	return false;
}

void
pe_aggregate_free(pe_aggregate *a)
{
	for (int i = 0; i < 2; i++)
	{
		pe_free(a->column[i]);
		if (a->formula[i] != NULL)
			pe_formula_free(a->formula[i]);
		pe_free(a->formula[i]);
		if (a->part[i] != NULL)
			pe_aggregate_free(a->part[i]);
		pe_free(a->part[i]);
	}
	pe_free(a->where);
	pe_free(a->name);
	memset(a, 0, sizeof(*a));
}

const char *
pe_aggregate_word(const pe_aggregate *aggregate)
{
	return aggregate->form->name[0];
}

static void
write_aggregate(pe_text *t, const pe_aggregate *a,
				const char *(*where) (const void *argument, int condition), const void *argument)
{
	pe_text_write(t, pe_aggregate_word(a));
	if (a->kind != PE_AGG_SHARE)
		pe_text_write(t, "(");
	if (a->kind == PE_AGG_UNITS)
		pe_text_write(t, "distinct unit");
	else if (a->kind == PE_AGG_COUNT && a->column[0] == NULL)
		pe_text_write(t, "*");
	else if (a->kind == PE_AGG_DISTINCT)
		pe_text_write(t, "distinct ");
	else if (a->kind == PE_AGG_LOST)
		pe_text_writef(t, "%d", a->most);
	for (int i = 0; i < 2; i++)
	{
		if (i > 0 && (a->column[i] != NULL || a->part[i] != NULL))
			pe_text_write(t, ", ");
		if (a->formula[i] != NULL)
			pe_text_write(t, a->column[i]);
		else if (a->kind == PE_AGG_DISTINCT && i == 0 && strcmp(a->column[0], "unit") == 0)
			pe_text_write_quoted(t, a->column[0], '"');
		else if (a->column[i] != NULL)
			pe_text_write_name(t, a->column[i]);
		if (a->part[i] != NULL)
			write_aggregate(t, a->part[i], where, argument);
	}
	if (a->kind == PE_AGG_QUANTILE)
		pe_text_writef(t, ", %.9g", a->fraction);
	if (a->kind != PE_AGG_SHARE)
		pe_text_write(t, ")");
	/* of count(x) the condition has x in it: what was written says the same */
	if (a->where != NULL && a->condition >= 0)
	{
		pe_text_write(t, " where (");
		pe_text_write(t, where(argument, a->condition));
		pe_text_write(t, ")");
	}
}

char *
pe_aggregate_canonical(const pe_aggregate *aggregate,
					   const char *(*where) (const void *argument, int condition), const void *argument)
{
	pe_text_error error;
	pe_text		t = {.what = "aggregate", .keywords = keywords, .text = "", .error = &error};

	write_aggregate(&t, aggregate, where, argument);
	return t.canonical;
}

/* ------------------------------------------------------------------
 * Sums
 * ------------------------------------------------------------------
 */

/* Where sums are collected. */
typedef struct collector
{
	pe_sums    *sums;
	uint32_t	always;
	int32_t		units;
	bool		fits;
	int			all;			/* aggregates, and those of ratios */
	pe_aggregate *each[3 * PE_MAX_AGGREGATES];
	bool		one_side[PE_MAX_NUMBERS];
	bool		both_sides[PE_MAX_NUMBERS];
	bool		squares[PE_MAX_NUMBERS];	/* of both sides, and their product */
} collector;

/* of: bits of the numbers that the sum is of; others matter where they can be absent. */
static uint64_t
needs_of(const collector *c, const pe_aggregate *a, uint64_t of)
{
	uint64_t	needs = a->condition >= 0 ? PE_HAS_CONDITION(a->condition) : 0;

	if (a->attribute >= 0)
		needs |= PE_HAS_ATTRIBUTE(a->attribute);
	for (int i = 0; i < 2; i++)
		if (a->number[i] >= 0 && (c->always >> a->number[i] & 1) == 0)
			needs |= PE_HAS_NUMBER(a->number[i]);
	return needs | of;
}

/* The number of this sum, which is added unless it is there. */
static int
add_sum(collector *c, pe_sum sum)
{
	pe_sums    *sums = c->sums;
	int			s = 0;

	while (s < sums->sums && memcmp(&sums->sum[s], &sum, sizeof(sum)) != 0)
		s++;
	if (s < sums->sums)
		return s;
	c->fits &= s < PE_MAX_SUMS;
	if (!c->fits)
		return -1;
	sums->sum[sums->sums++] = sum;
	return s;
}

static int
add_of_numbers(collector *c, const pe_aggregate *a, pe_sum_kind kind, int first, int second)
{
	bool		one = kind == PE_SUM_ONE;
	pe_sum		sum;

	memset(&sum, 0, sizeof(sum));	/* they are compared as bytes */
	sum.kind = (uint8_t) kind;
	sum.a = (uint8_t) (one ? 0 : a->number[first]);
	sum.b = (uint8_t) (kind == PE_SUM_PRODUCT ? a->number[second] : 0);
	if (sum.b < sum.a && kind == PE_SUM_PRODUCT)	/* u v and v u are one sum */
	{
		sum.b = sum.a;
		sum.a = (uint8_t) a->number[second];
	}
	sum.needs = needs_of(c, a, (one ? 0 : PE_HAS_NUMBER(sum.a)) | (kind == PE_SUM_PRODUCT ? PE_HAS_NUMBER(sum.b) : 0));
	return add_sum(c, sum);
}

/* Of no numbers. */
static int
add_of_kind(collector *c, const pe_aggregate *a, pe_sum_kind kind, int32_t most)
{
	pe_sum		sum;

	memset(&sum, 0, sizeof(sum));
	sum.needs = needs_of(c, a, 0);
	sum.kind = (uint8_t) kind;
	sum.most = most;
	sum.a = kind == PE_SUM_OPEN ? (uint8_t) a->open : 0;
	return add_sum(c, sum);
}

static int
add_units(collector *c, const pe_aggregate *a)
{
	return c->units == 0 ? add_of_numbers(c, a, PE_SUM_ONE, 0, 0) : add_of_kind(c, a, PE_SUM_UNITS, c->units);
}

/* What each use sums. */
static const struct
{
	pe_sum_kind kind;
	int			number;
}			used[] = {
	[PE_USE_N] = {PE_SUM_ONE, 0}, [PE_USE_S] = {PE_SUM_VALUE, 0}, [PE_USE_Q] = {PE_SUM_SQUARE, 0},
	[PE_USE_S2] = {PE_SUM_VALUE, 1}, [PE_USE_Q2] = {PE_SUM_SQUARE, 1}, [PE_USE_P] = {PE_SUM_PRODUCT, 0},
};

/* ----------
 * Bases of numbers
 * ----------
 */

static bool
is_of_number(const pe_aggregate *a, int n)
{
	return a->kind == PE_AGG_NUMBERS && (a->number[0] == n || a->number[1] == n);
}

/* Rows that are counted as they are. */
static bool
is_count(const collector *c, const pe_aggregate *a)
{
	return a->kind == PE_AGG_COUNT || (a->kind == PE_AGG_UNITS && c->units == 0);
}

/* The sums of an average, and of a variance. */
#define AVERAGED (1u << PE_USE_N | 1u << PE_USE_S)
#define SPREAD (AVERAGED | 1u << PE_USE_Q)

/* Whether a number is summed, or something is made of these sums of it, and nothing else. */
static bool
all_are(const collector *c, int n, unsigned uses)
{
	bool		any = false;

	for (int i = 0; i < c->all; i++)
	{
		const pe_aggregate *a = c->each[i];

		if (!is_of_number(a, n))
			continue;
		any = true;
		if (a->form->columns != 1 || !(is_linear(a->form) || (a->form->uses & ~uses) == 0))
			return false;
	}
	return any;
}

/* Whether two count the same rows, their conditions aside. */
static bool
is_beside(const collector *c, const pe_aggregate *a, const pe_aggregate *b)
{
	const uint64_t conditions = PE_HAS_ATTRIBUTE(0) - PE_HAS_CONDITION(0);

	return ((needs_of(c, a, 0) ^ needs_of(c, b, 0)) & ~conditions) == 0;
}

/* Whether a count of the rows of a number is measured for others anyway. */
static bool
is_counted(const collector *c, int n)
{
	for (int i = 0; i < c->all; i++)
		for (int j = 0; j < c->all; j++)
		{
			const pe_aggregate *b = c->each[j];
			bool		counts = is_count(c, b) || b->kind == PE_AGG_SHARE ||
				(b->kind == PE_AGG_NUMBERS && !c->one_side[b->number[0]]);

			if (is_of_number(c->each[i], n) && counts && is_beside(c, c->each[i], b))
				return true;
		}
	return false;
}

static int
numbers_with(const collector *c, const bool *have)
{
	int			count = 0;

	for (int n = 0; n < c->sums->numbers; n++)
		count += have[n];
	return count;
}

/* Of more numbers a count that they have in common is better: of Laplace noise. */
#define MOST_BOTH_SIDES 2

static void
find_one_side(collector *c, pe_basis basis)
{
	bool		again = true;

	for (int n = 0; n < c->sums->numbers; n++)
		c->one_side[n] = all_are(c, n, 0) && (c->sums->number[n].lower == 0 || c->sums->number[n].upper == 0);
	while (again)
	{
		again = false;
		for (int n = 0; n < c->sums->numbers; n++)
			if (c->one_side[n] && is_counted(c, n))
			{
				c->one_side[n] = false;
				again = true;
			}
	}
	if (basis == PE_BASIS_BOTH_SIDES && numbers_with(c, c->one_side) > MOST_BOTH_SIDES)
		memset(c->one_side, 0, sizeof(c->one_side));
}

static void
find_both_sides(collector *c)
{
	for (int i = 0; i < c->all; i++)
		if (c->each[i]->kind == PE_AGG_SHARE)
			return;
	for (int n = 0; n < c->sums->numbers; n++)
	{
		c->both_sides[n] = !c->one_side[n] && all_are(c, n, AVERAGED);
		c->squares[n] = !c->one_side[n] && !c->both_sides[n] && all_are(c, n, SPREAD);
	}
	if (numbers_with(c, c->both_sides) + numbers_with(c, c->squares) <= MOST_BOTH_SIDES)
		return;
	memset(c->both_sides, 0, sizeof(c->both_sides));
	memset(c->squares, 0, sizeof(c->squares));
}

static void
find_bases(collector *c, pe_aggregate *aggregate, int aggregates, pe_basis basis)
{
	for (int i = 0; i < aggregates; i++)
	{
		c->each[c->all++] = &aggregate[i];
		for (int p = 0; p < 2 && aggregate[i].part[p] != NULL; p++)
			c->each[c->all++] = aggregate[i].part[p];
	}
	if (basis != PE_BASIS_CENTRED)
		find_one_side(c, basis);
	if (basis == PE_BASIS_BOTH_SIDES)
		find_both_sides(c);
}

/* The aggregate whose distances from both bounds say how many rows another one counts; NULL: none. */
static const pe_aggregate *
counted_by(const collector *c, const pe_aggregate *a)
{
	for (int i = 0; i < c->all; i++)
	{
		const pe_aggregate *b = c->each[i];

		if (b->kind == PE_AGG_NUMBERS && (c->both_sides[b->number[0]] || c->squares[b->number[0]]) &&
			needs_of(c, a, 0) == needs_of(c, b, 0))
			return b;
	}
	return NULL;
}

static void
add_sides(collector *c, pe_aggregate *a, const pe_aggregate *of, bool above, bool below)
{
	if (above)
		a->sum[PE_USE_ABOVE] = add_of_numbers(c, of, PE_SUM_ABOVE, 0, 0);
	if (below)
		a->sum[PE_USE_BELOW] = add_of_numbers(c, of, PE_SUM_BELOW, 0, 0);
}

static void
add_squares(collector *c, pe_aggregate *a, const pe_aggregate *of)
{
	a->sum[PE_USE_ABOVE_SQUARE] = add_of_numbers(c, of, PE_SUM_ABOVE_SQUARE, 0, 0);
	a->sum[PE_USE_BETWEEN] = add_of_numbers(c, of, PE_SUM_BETWEEN, 0, 0);
	a->sum[PE_USE_BELOW_SQUARE] = add_of_numbers(c, of, PE_SUM_BELOW_SQUARE, 0, 0);
}

/* False if the sums of an aggregate are not those. */
static bool
collect_sides(collector *c, pe_aggregate *a)
{
	const pe_aggregate *of = is_count(c, a) ? counted_by(c, a) : a->kind == PE_AGG_NUMBERS ? a : NULL;
	int			n = of != NULL ? of->number[0] : 0;

	if (of == NULL)
		return false;
	if (c->squares[n])
		add_squares(c, a, of);
	else if (c->both_sides[n])
		add_sides(c, a, of, true, true);
	else if (c->one_side[n])
		add_sides(c, a, of, c->sums->number[n].lower == 0, c->sums->number[n].lower != 0);
	else
		return false;
	return true;
}

static void
collect(collector *c, pe_aggregate *a)
{
	for (int i = 0; i < PE_AGG_SUMS; i++)
		a->sum[i] = -1;
	if (a->kind == PE_AGG_RATIO)
	{
		collect(c, a->part[0]);
		collect(c, a->part[1]);
		return;
	}
	if (collect_sides(c, a))
		return;
	if (a->kind == PE_AGG_UNITS)
		a->sum[PE_USE_N] = add_units(c, a);
	else if (a->kind == PE_AGG_DISTINCT)
		a->sum[PE_USE_N] = add_of_kind(c, a, a->open >= 0 ? PE_SUM_OPEN : PE_SUM_DISTINCT, 0);
	else if (a->kind == PE_AGG_LOST)
		a->sum[PE_USE_N] = add_of_kind(c, a, PE_SUM_LOST, a->most);
	else if (a->kind == PE_AGG_QUANTILE && a->attribute < 0)
		a->sum[PE_USE_N] = add_of_numbers(c, a, PE_SUM_GRID, 0, 0);
	else
		for (int use = PE_USE_N; use <= PE_USE_P; use++)
			if ((a->form->uses >> use & 1) != 0)
				a->sum[use] = add_of_numbers(c, a, used[use].kind, used[use].number, 1);
}

bool
pe_aggregates_sums(pe_aggregate *aggregate, int aggregates, uint32_t always, int32_t units, pe_basis basis,
				   pe_sums *sums)
{
	collector	c = {.sums = sums, .always = always, .units = units, .fits = true};

	sums->sums = 0;
	find_bases(&c, aggregate, aggregates, basis);
	for (int i = 0; i < aggregates; i++)
		collect(&c, &aggregate[i]);
	return c.fits;
}

/* ------------------------------------------------------------------
 * Values with their gradients
 * ------------------------------------------------------------------
 */

#define VARIABLES (2 * PE_AGG_SUMS)

/* A value, and its derivatives by the sums it is made of. */
struct dual
{
	double		v;
	double		d[VARIABLES];
};

static dual
plus(dual a, dual b, double by)
{
	a.v += by * b.v;
	for (int i = 0; i < VARIABLES; i++)
		a.d[i] += by * b.d[i];
	return a;
}

static dual
scaled(dual a, double by)
{
	return plus((dual) {0}, a, by);
}

static dual
times(dual a, dual b)
{
	for (int i = 0; i < VARIABLES; i++)
		a.d[i] = a.d[i] * b.v + a.v * b.d[i];
	a.v *= b.v;
	return a;
}

static dual
over(dual a, dual b)
{
	for (int i = 0; i < VARIABLES; i++)
		a.d[i] = (a.d[i] - a.v / b.v * b.d[i]) / b.v;
	a.v /= b.v;
	return a;
}

static dual
root(dual a)
{
	double		r = sqrt(a.v);

	a = scaled(a, .5 / r);
	a.v = r;
	return a;
}

/* What an aggregate is worked out from. */
struct work
{
	const pe_sums *sums;
	const pe_sum_estimate *estimate;
	const pe_sum_noise *noise;	/* NULL: each sum has its own */
	const pe_sum_total *total;	/* of a share */
	int			variables;
	int			sum[VARIABLES]; /* which one each variable is */
};

/* A sum as a variable; the same sum is the same variable.  One that is not measured is 0, as its weight is. */
static dual
variable(work *w, int sum)
{
	dual		x = {0};
	int			at = 0;

	if (sum < 0)
		return x;
	while (at < w->variables && w->sum[at] != sum)
		at++;
	if (at == w->variables)
		w->sum[w->variables++] = sum;
	x.v = w->estimate[sum].value;
	x.d[at] = 1;
	return x;
}

static const pe_number *
number_of(const work *w, const pe_aggregate *a, int i)
{
	return &w->sums->number[a->number[i]];
}

/* What is measured of a number is above and below its middle. */
static bool
has_both_sides(const pe_aggregate *a)
{
	return a->sum[PE_USE_ABOVE] >= 0 && a->sum[PE_USE_BELOW] >= 0;
}

static dual
sides_of(work *w, const pe_aggregate *a, double below)
{
	return plus(variable(w, a->sum[PE_USE_ABOVE]), variable(w, a->sum[PE_USE_BELOW]), below);
}

/* What is measured of it are the squares of both, and their product. */
static bool
has_squares(const pe_aggregate *a)
{
	return a->sum[PE_USE_BETWEEN] >= 0;
}

static dual
squares_of(work *w, const pe_aggregate *a, double between, double below)
{
	dual		above = variable(w, a->sum[PE_USE_ABOVE_SQUARE]);

	return plus(plus(above, variable(w, a->sum[PE_USE_BETWEEN]), between),
				variable(w, a->sum[PE_USE_BELOW_SQUARE]), below);
}

/* What a row adds to all three. */
static double
squares_of_row(const pe_sums *sums, const pe_aggregate *a)
{
	const pe_sum *sum = &sums->sum[a->sum[PE_USE_BETWEEN]];

	return ldexp((double) pe_sum_bound(sums, sum), pe_sum_shift(sums, sum));
}

static dual
value_of_rows(work *w, const pe_aggregate *a)
{
	if (has_squares(a))
		return scaled(squares_of(w, a, 1, 1), 1 / squares_of_row(w->sums, a));
	if (has_both_sides(a))
		return scaled(sides_of(w, a, 1), .5 / w->sums->number[w->sums->sum[a->sum[PE_USE_ABOVE]].a].most);
	return variable(w, a->sum[PE_USE_N]);
}

/* How the sum of a number is used. */
static int
use_of(int i)
{
	return i == 0 ? PE_USE_S : PE_USE_S2;
}

static dual
centred_of(work *w, const pe_aggregate *a, int i)
{
	if (i == 0 && has_squares(a))
		return scaled(squares_of(w, a, 0, -1), .25 / number_of(w, a, 0)->most);
	return i == 0 && has_both_sides(a) ? scaled(sides_of(w, a, -1), .5) : variable(w, a->sum[use_of(i)]);
}

static dual
value_of_sum(work *w, const pe_aggregate *a)
{
	const pe_number *number = number_of(w, a, 0);
	double		step = pe_number_step(number);
	dual		sum;

	/* the distance from the bound that is 0 */
	if (number->lower == 0 && a->sum[PE_USE_ABOVE] >= 0)
		return scaled(variable(w, a->sum[PE_USE_ABOVE]), step);
	if (number->upper == 0 && a->sum[PE_USE_BELOW] >= 0)
		return scaled(variable(w, a->sum[PE_USE_BELOW]), -step);
	sum = scaled(centred_of(w, a, 0), step);
	/* a count whose weight is 0 is none that the sum is made of */
	return pe_number_middle(number) == 0 ? sum : plus(sum, value_of_rows(w, a), pe_number_middle(number));
}

static dual
mean_of(work *w, const pe_aggregate *a, int i)
{
	const pe_number *number = number_of(w, a, i);
	dual		n = value_of_rows(w, a);
	dual		mean = scaled(over(centred_of(w, a, i), n), pe_number_step(number));

	mean.v += pe_number_middle(number);
	return mean;
}

static dual
value_of_avg(work *w, const pe_aggregate *a)
{
	return mean_of(w, a, 0);
}

static dual
value_of_second_avg(work *w, const pe_aggregate *a)
{
	return mean_of(w, a, 1);
}

/* U */
static dual
square_of(work *w, const pe_aggregate *a, int i)
{
	double		most = number_of(w, a, i)->most;

	if (i == 0 && has_squares(a))
		return scaled(squares_of(w, a, -1, 1), .25);
	return scaled(plus(variable(w, a->sum[i == 0 ? PE_USE_Q : PE_USE_Q2]), value_of_rows(w, a), most * most), .5);
}

/* U - S^2 / N of a number, in units of its step: N - 1 times the variance. */
static dual
squares_about_mean(work *w, const pe_aggregate *a, int i)
{
	dual		n = value_of_rows(w, a);
	dual		s = centred_of(w, a, i);

	return plus(square_of(w, a, i), over(times(s, s), n), -1);
}

/* Divided by the rows, or by one fewer. */
static dual
over_rows(work *w, const pe_aggregate *a, dual x, int fewer)
{
	dual		n = value_of_rows(w, a);

	n.v -= fewer;
	return over(x, n);
}

static dual
variance_of(work *w, const pe_aggregate *a, int fewer)
{
	double		step = pe_number_step(number_of(w, a, 0));
	dual		squares = squares_about_mean(w, a, 0);

	return scaled(over_rows(w, a, squares, fewer), step * step);
}

static dual
value_of_var(work *w, const pe_aggregate *a)
{
	return variance_of(w, a, 1);
}

static dual
value_of_var_pop(work *w, const pe_aggregate *a)
{
	return variance_of(w, a, 0);
}

static dual
products_about_means(work *w, const pe_aggregate *a)
{
	dual		n = variable(w, a->sum[PE_USE_N]);

	return plus(variable(w, a->sum[PE_USE_P]),
				over(times(variable(w, a->sum[PE_USE_S]), variable(w, a->sum[PE_USE_S2])), n), -1);
}

static dual
covariance_of(work *w, const pe_aggregate *a, int fewer)
{
	double		unit = pe_number_step(number_of(w, a, 0)) * pe_number_step(number_of(w, a, 1));

	return scaled(over_rows(w, a, products_about_means(w, a), fewer), unit);
}

static dual
value_of_covar_samp(work *w, const pe_aggregate *a)
{
	return covariance_of(w, a, 1);
}

static dual
value_of_covar_pop(work *w, const pe_aggregate *a)
{
	return covariance_of(w, a, 0);
}

static dual
value_of_corr(work *w, const pe_aggregate *a)
{
	return over(products_about_means(w, a), root(times(squares_about_mean(w, a, 0), squares_about_mean(w, a, 1))));
}

/* regr_slope(y, x): x is the second. */
static dual
value_of_slope(work *w, const pe_aggregate *a)
{
	double		unit = pe_number_step(number_of(w, a, 0)) / pe_number_step(number_of(w, a, 1));

	return scaled(over(products_about_means(w, a), squares_about_mean(w, a, 1)), unit);
}

/* regr_intercept(y, x): y on the line where x is 0. */
static dual
value_of_intercept(work *w, const pe_aggregate *a)
{
	return plus(mean_of(w, a, 0), times(value_of_slope(w, a), mean_of(w, a, 1)), -1);
}

static dual
value_of_stddev(work *w, const pe_aggregate *a)
{
	return root(value_of_var(w, a));
}

static dual
value_of_stddev_pop(work *w, const pe_aggregate *a)
{
	return root(value_of_var_pop(w, a));
}

static dual
value_of_part(work *w, const pe_aggregate *a, int i)
{
	return a->part[i]->form->value(w, a->part[i]);
}

static dual
value_of_r2(work *w, const pe_aggregate *a)
{
	dual		corr = value_of_corr(w, a);

	return times(corr, corr);
}

static dual
value_of_ratio(work *w, const pe_aggregate *a)
{
	dual		above = value_of_part(w, a, 0);

	return over(above, value_of_part(w, a, 1));
}

/* ------------------------------------------------------------------
 * Answers and their intervals
 * ------------------------------------------------------------------
 */

/* The standard deviations that the variables add to a value. */
static void
deviations_of(const work *w, const dual *x, double *deviation)
{
	for (int i = 0; i < w->variables; i++)
		deviation[i] = x->d[i] * sqrt(w->estimate[w->sum[i]].variance);
}

static const pe_sum_noise *
noise_of(const work *w, int i)
{
	return w->noise != NULL && w->noise[w->sum[i]].part != NULL ? &w->noise[w->sum[i]] : NULL;
}

/* Whether a variable has the noise of this source. */
static bool
is_of_source(const work *w, int i, int source)
{
	return noise_of(w, i) != NULL && noise_of(w, i)->source == source;
}

/* Whether no variable in front has noise in common with this one. */
static bool
is_first_of_source(const work *w, int i)
{
	for (int j = 0; j < i; j++)
		if (is_of_source(w, j, noise_of(w, i)->source))
			return false;
	return true;
}

/* Adds a part that any variable of a source has. */
static int
add_part(const work *w, const dual *x, int source, int part, double *to)
{
	bool		any = false;
	double		sum = 0;

	for (int i = 0; i < w->variables; i++)
		if (is_of_source(w, i, source))
		{
			double		deviation = noise_of(w, i)->part[part] * noise_of(w, i)->unit;

			any |= deviation != 0;
			sum += x->d[i] * deviation;
		}
	if (any)
		*to = sum;
	return any;
}

/*
 * The standard deviations that independent parts of noise add to a value, with
 * their signs.  Part i is the same one for all values of the same variables.
 */
static int
parts_of(const work *w, const dual *x, double *part)
{
	int			parts = 0;

	for (int i = 0; i < w->variables; i++)
	{
		const pe_sum_noise *noise = noise_of(w, i);

		if (noise == NULL)
			part[parts++] = x->d[i] * sqrt(w->estimate[w->sum[i]].variance);
		else if (is_first_of_source(w, i))
			for (int p = 0; p < noise->parts; p++)
				parts += add_part(w, x, noise->source, p, part + parts);
	}
	return parts;
}

/* Room for the parts of two values. */
static double *
room_for_parts(const work *w, size_t *most)
{
	*most = VARIABLES;
	for (int i = 0; i < w->variables; i++)
		if (noise_of(w, i) != NULL)
			*most += (size_t) noise_of(w, i)->parts;
	return pe_alloc(2 * *most, sizeof(double));
}

static double
error_of(const work *w, const dual *x)
{
	double		error = 0;
	size_t		most;
	double	   *part = room_for_parts(w, &most);
	int			parts = parts_of(w, x, part);

	for (int i = 0; i < parts; i++)
		error = hypot(error, part[i]);
	pe_free(part);
	return error;
}

static void
answer_linear(work *w, const pe_aggregate *a, const pe_error_law *law, pe_quotient *answer)
{
	dual		x = a->form->value(w, a);
	size_t		most;
	double	   *part = room_for_parts(w, &most);
	int			parts = parts_of(w, &x, part);
	double		half = pe_error_half(law, part, parts);

	*answer = (pe_quotient) {x.v, error_of(w, &x), x.v - half, x.v + half};
	pe_free(part);
}

static void
answer_quotient(work *w, dual above, dual below, const pe_error_law *law, pe_quotient *answer)
{
	size_t		most;
	double	   *above_part = room_for_parts(w, &most);
	double	   *below_part = above_part + most;
	int			parts = parts_of(w, &above, above_part);

	(void) parts_of(w, &below, below_part);
	pe_quotient_of(law, &(pe_linear_estimate) {above.v, above_part},
				   &(pe_linear_estimate) {below.v, below_part}, parts, answer);
	pe_free(above_part);
}

static void
answer_ratio(work *w, const pe_aggregate *a, const pe_error_law *law, pe_quotient *answer)
{
	dual		above = value_of_part(w, a, 0);
	dual		below = value_of_part(w, a, 1);

	answer_quotient(w, above, below, law, answer);
}

/* middle + step S / N */
static void
answer_mean(work *w, const pe_aggregate *a, int i, const pe_error_law *law, pe_quotient *answer)
{
	double		middle = pe_number_middle(number_of(w, a, i));
	double		step = pe_number_step(number_of(w, a, i));
	dual		s = centred_of(w, a, i);
	dual		n = value_of_rows(w, a);

	answer_quotient(w, s, n, law, answer);
	*answer = (pe_quotient) {
		middle + step * answer->estimate, step * answer->stderr_, middle + step * answer->lower,
		middle + step * answer->upper
	};
}

static void
answer_avg(work *w, const pe_aggregate *a, const pe_error_law *law, pe_quotient *answer)
{
	answer_mean(w, a, 0, law, answer);
}

static void
answer_second_avg(work *w, const pe_aggregate *a, const pe_error_law *law, pe_quotient *answer)
{
	answer_mean(w, a, 1, law, answer);
}

/* N / T, which share their noise: N is c / v_T times T, and a rest that is independent of T. */
static void
answer_share(work *w, const pe_aggregate *a, const pe_error_law *law, pe_quotient *answer)
{
	const pe_sum_estimate *n = &w->estimate[a->sum[PE_USE_N]];
	const pe_sum_total *total = w->total;
	double		t = sqrt(total->estimate.variance);
	double		along = t > 0 ? total->covariance / t : 0;
	double		above[2] = {along, sqrt(fmax(n->variance - along * along, 0))};
	double		below[2] = {t, 0};
	pe_error_law one = *law;

	one.factor = pe_error_most(law, 1);	/* no more than one Laplace number */
	pe_quotient_of(&one, &(pe_linear_estimate) {n->value, above},
				   &(pe_linear_estimate) {total->estimate.value, below}, 2, answer);
}

/* ------------------------------------------------------------------
 * What is not linear in sums
 * ------------------------------------------------------------------
 */

/*
 * Sums within z standard errors of what was measured, as long as the vector of
 * all is.  No two are of one function: their noise is independent.
 */
typedef struct around
{
	work	   *w;
	const pe_aggregate *aggregate;
	value_function *value;
	const pe_sum_estimate *measured;
	pe_sum_estimate *moved;
	double		z;
	double		z_of_two;		/* of the two factors of a correlation (Bonferroni) */
	double		direction[VARIABLES];	/* of length 1 */
} around;

/* The value z standard errors away. */
static dual
value_at(around *r, const double *direction)
{
	for (int i = 0; i < r->w->variables; i++)
	{
		int			s = r->w->sum[i];

		r->moved[s].value = r->measured[s].value + r->z * sqrt(r->measured[s].variance) * direction[i];
	}
	return r->value(r->w, r->aggregate);
}

/* To length 1; false if it has none. */
static bool
normalise(double *direction, int count)
{
	double		length = 0;

	for (int i = 0; i < count; i++)
		length = hypot(length, direction[i]);
	for (int i = 0; i < count && length > 0; i++)
		direction[i] /= length;
	return length > 0 && isfinite(length);
}

/* The steepest way from here. */
static bool
find_steepest(const around *r, const dual *x, int side, double *direction)
{
	deviations_of(r->w, x, direction);
	for (int i = 0; i < r->w->variables; i++)
		direction[i] *= side;
	return normalise(direction, r->w->variables);
}

/* The most shorter steps that are tried, and the most steps. */
#define SHORTER 12
#define STEPS 100

/* Goes on from the best direction so far towards another one, if that leads further. */
static bool
go_towards(around *r, double *direction, int side, dual *x)
{
	for (int t = 0; t < SHORTER; t++)
	{
		dual		next = value_at(r, direction);

		if (side * next.v > side * x->v)
		{
			bool		goes_on = fabs(next.v - x->v) > 1e-7 * fabs(next.v);

			memcpy(r->direction, direction, sizeof(r->direction));
			*x = next;
			return goes_on;
		}
		for (int i = 0; i < r->w->variables; i++)
			direction[i] += r->direction[i];
		if (!normalise(direction, r->w->variables))
			return false;
	}
	return false;
}

/*
 * The largest value, or the least of side -1, at these distances: at it, the
 * direction is the steepest one.  The steps go there, which is again and again
 * the steepest direction (where the value is convex each is better than the
 * last), or a shorter way.
 */
static double
furthest(around *r, value_function *value, int side)
{
	double		direction[VARIABLES];
	dual		x;

	r->value = value;
	memcpy(r->moved, r->measured, (size_t) r->w->sums->sums * sizeof(*r->moved));
	x = value(r->w, r->aggregate);
	if (!find_steepest(r, &x, side, r->direction))
		return x.v;
	x = value_at(r, r->direction);
	for (int step = 0; step < STEPS && find_steepest(r, &x, side, direction) && go_towards(r, direction, side, &x);
		 step++)
		;
	return x.v;
}

static dual
value_of_first_squares(work *w, const pe_aggregate *a)
{
	return squares_about_mean(w, a, 0);
}

static dual
value_of_second_squares(work *w, const pe_aggregate *a)
{
	return squares_about_mean(w, a, 1);
}

#define FIRST 1
#define SECOND 2

/* What it divides by, and takes roots of, is above 0 wherever the sums may be. */
static bool
is_known(around *r)
{
	const pe_aggregate_form *f = r->aggregate->form;

	if (!(furthest(r, value_of_rows, -1) > f->rows))
		return false;
	return ((f->squares & FIRST) == 0 || furthest(r, value_of_first_squares, -1) > 0) &&
		((f->squares & SECOND) == 0 || furthest(r, value_of_second_squares, -1) > 0);
}

static void
within_bounds(const pe_aggregate_form *f, pe_quotient *answer)
{
	answer->estimate = fmax(f->least, fmin(f->most, answer->estimate));
	answer->lower = fmax(f->least, fmin(f->most, answer->lower));
	answer->upper = fmax(f->least, fmin(f->most, answer->upper));
}

static void
answer_around(around *r, pe_quotient *answer)
{
	const pe_aggregate_form *f = r->aggregate->form;
	dual		x;

	*answer = (pe_quotient) {NAN, NAN, f->least, f->most};
	if (f->squares == (FIRST | SECOND))
		r->z = r->z_of_two;
	if (!is_known(r))
		return;
	answer->lower = furthest(r, f->searched, -1);
	answer->upper = furthest(r, f->searched, 1);
	memcpy(r->moved, r->measured, (size_t) r->w->sums->sums * sizeof(*r->moved));
	x = f->searched(r->w, r->aggregate);
	answer->estimate = x.v;
	answer->stderr_ = error_of(r->w, &x);
	within_bounds(f, answer);
}

/* A variance that is not above 0 is none. */
static void
check_variance(pe_quotient *answer)
{
	if (!(answer->estimate > 0))
		answer->estimate = answer->stderr_ = NAN;
}

static void
take_root(pe_quotient *answer)
{
	check_variance(answer);
	answer->estimate = sqrt(answer->estimate);
	answer->stderr_ /= 2 * answer->estimate;
	answer->lower = sqrt(answer->lower);
	answer->upper = sqrt(answer->upper);
}

static void
take_square(pe_quotient *answer)
{
	double		lower = answer->lower * answer->lower;
	double		upper = answer->upper * answer->upper;
	bool		may_be_0 = answer->lower <= 0 && answer->upper >= 0;

	answer->stderr_ *= 2 * fabs(answer->estimate);
	answer->estimate *= answer->estimate;
	answer->lower = may_be_0 ? 0 : fmin(lower, upper);
	answer->upper = fmax(lower, upper);
}

static void
answer_moments(work *w, const pe_aggregate *a, const pe_error_law *law, pe_quotient *answer)
{
	double		z = pe_error_most(law, VARIABLES);
	around		r = {.w = w, .aggregate = a, .measured = w->estimate, .z = z, .z_of_two = z * law->halved};

	r.moved = pe_alloc((size_t) w->sums->sums, sizeof(*r.moved));
	w->estimate = r.moved;
	answer_around(&r, answer);
	w->estimate = r.measured;
	pe_free(r.moved);
	if (a->form->after != NULL)
		a->form->after(answer);
}

/* ------------------------------------------------------------------
 * All aggregates
 * ------------------------------------------------------------------
 */

#define N (1u << PE_USE_N)
#define S (1u << PE_USE_S)
#define Q (1u << PE_USE_Q)
#define S2 (1u << PE_USE_S2)
#define Q2 (1u << PE_USE_Q2)
#define P (1u << PE_USE_P)

/* What is asked by name.  Of SQL's statistics the definitions are PostgreSQL's. */
static const pe_aggregate_form forms[] = {
	{{"count"}, PE_AGG_COUNT, -1, N, value_of_rows, .answer = answer_linear},
	{{"sum"}, PE_AGG_NUMBERS, 1, N | S, value_of_sum, .answer = answer_linear, .formulas = true},
	{{"avg"}, PE_AGG_NUMBERS, 1, N | S, value_of_avg, .answer = answer_avg, .formulas = true},
	{{"quantile", "median"}, PE_AGG_QUANTILE, 1, N, value_of_rows, .answer = NULL},
	{{"levels"}, PE_AGG_LEVELS, 1, N, value_of_rows, .answer = NULL},
	{{"dropped"}, PE_AGG_LOST, 0, N, value_of_rows, .answer = answer_linear},
	{{"share"}, PE_AGG_SHARE, 0, N, value_of_rows, .answer = answer_share},
	{{"ratio"}, PE_AGG_RATIO, 0, 0, value_of_ratio, .answer = answer_ratio},
	{{"var", "variance", "var_samp"}, PE_AGG_NUMBERS, 1, N | S | Q, value_of_var, .answer = answer_moments,
		.searched = value_of_var, .rows = 1, .least = 0, .most = INFINITY, .after = check_variance},
	{{"stddev", "stddev_samp"}, PE_AGG_NUMBERS, 1, N | S | Q, value_of_stddev, .answer = answer_moments,
		.searched = value_of_var, .rows = 1, .least = 0, .most = INFINITY, .after = take_root},
	{{"var_pop"}, PE_AGG_NUMBERS, 1, N | S | Q, value_of_var_pop, .answer = answer_moments,
		.searched = value_of_var_pop, .least = 0, .most = INFINITY, .after = check_variance},
	{{"stddev_pop"}, PE_AGG_NUMBERS, 1, N | S | Q, value_of_stddev_pop, .answer = answer_moments,
		.searched = value_of_var_pop, .least = 0, .most = INFINITY, .after = take_root},
	{{"covar_samp"}, PE_AGG_NUMBERS, 2, N | S | S2 | P, value_of_covar_samp, .answer = answer_moments,
		.searched = value_of_covar_samp, .rows = 1, .least = -INFINITY, .most = INFINITY},
	{{"covar_pop"}, PE_AGG_NUMBERS, 2, N | S | S2 | P, value_of_covar_pop, .answer = answer_moments,
		.searched = value_of_covar_pop, .least = -INFINITY, .most = INFINITY},
	{{"corr"}, PE_AGG_NUMBERS, 2, N | S | Q | S2 | Q2 | P, value_of_corr, .answer = answer_moments, .symmetric = true,
		.searched = value_of_corr, .squares = FIRST | SECOND, .least = -1, .most = 1},
	{{"regr_r2"}, PE_AGG_NUMBERS, 2, N | S | Q | S2 | Q2 | P, value_of_r2, .answer = answer_moments,
		.searched = value_of_corr, .squares = FIRST | SECOND, .least = -1, .most = 1, .after = take_square},
	{{"regr_count"}, PE_AGG_NUMBERS, 2, N, value_of_rows, .answer = answer_linear, .formulas = true},
	{{"regr_avgx"}, PE_AGG_NUMBERS, 2, N | S2, value_of_second_avg, .answer = answer_second_avg},
	{{"regr_avgy"}, PE_AGG_NUMBERS, 2, N | S, value_of_avg, .answer = answer_avg},
	{{"regr_slope"}, PE_AGG_NUMBERS, 2, N | S | S2 | Q2 | P, value_of_slope, .answer = answer_moments,
		.searched = value_of_slope, .squares = SECOND, .least = -INFINITY, .most = INFINITY},
	{{"regr_intercept"}, PE_AGG_NUMBERS, 2, N | S | S2 | Q2 | P, value_of_intercept, .answer = answer_moments,
		.searched = value_of_intercept, .squares = SECOND, .least = -INFINITY, .most = INFINITY},
};

#undef N
#undef S
#undef Q
#undef S2
#undef Q2
#undef P

static bool
is_named(const pe_aggregate_form *f, const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(f->name) / sizeof(f->name[0]) && f->name[i] != NULL; i++)
		if (strlen(f->name[i]) == size && memcmp(f->name[i], name, size) == 0)
			return true;
	return false;
}

static const pe_aggregate_form *
form_named(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (is_named(&forms[i], name, size))
			return &forms[i];
	return NULL;
}

static bool
is_linear(const pe_aggregate_form *f)
{
	return f->answer == answer_linear;
}

bool
pe_aggregate_is_sum(const pe_aggregate *aggregate)
{
	return aggregate->form->value == value_of_sum;
}

void
pe_aggregate_count_of(const pe_aggregate *aggregate, pe_aggregate *count)
{
	memset(count, 0, sizeof(*count));
	count->form = form_named("count", strlen("count"));
	count->kind = aggregate->kind;
	count->most = aggregate->most;
	count->attribute = aggregate->attribute;
	memcpy(count->sum, aggregate->sum, sizeof(count->sum));
	for (int use = PE_USE_S; use <= PE_USE_P; use++)
		count->sum[use] = -1;
}

bool
pe_aggregate_is_linear(const pe_aggregate *aggregate)
{
	return is_linear(aggregate->form);
}

bool
pe_aggregate_needs_rows(const pe_aggregate *aggregate)
{
	return !pe_aggregate_is_linear(aggregate) && aggregate->kind != PE_AGG_LEVELS;
}

/* That of the word in front of the parenthesis. */
static const pe_aggregate_form *
form_of_text(const char *text)
{
	return form_named(text, strcspn(text, "("));
}

bool
pe_aggregate_text_is_linear(const char *text)
{
	const pe_aggregate_form *f = form_of_text(text);

	return f != NULL && is_linear(f);
}

const char *
pe_aggregate_of_numbers(const char *name, int *numbers)
{
	const pe_aggregate_form *f = form_of_text(name);

	if (f == NULL || f->kind != PE_AGG_NUMBERS)
		return NULL;
	*numbers = f->columns;
	return f->name[0];
}

void
pe_aggregate_answer_of(const pe_sums *sums, const pe_aggregate *aggregate, const pe_sum_estimate *estimate,
					   const pe_sum_noise *noise, const pe_sum_total *total, const pe_error_law *law,
					   pe_quotient *answer)
{
	work		w = {.sums = sums, .estimate = estimate, .noise = noise, .total = total};

	aggregate->form->answer(&w, aggregate, law, answer);
	if (isfinite(answer->estimate) && !isnan(answer->stderr_))
		return;
	answer->estimate = answer->stderr_ = NAN;
}

void
pe_aggregate_add_weights(const pe_sums *sums, const pe_aggregate *aggregate, double by, double *weight)
{
	pe_sum_estimate *none = pe_alloc((size_t) sums->sums, sizeof(*none));
	work		w = {.sums = sums, .estimate = none};
	dual		x = aggregate->form->value(&w, aggregate);

	for (int i = 0; i < w.variables; i++)
		weight[w.sum[i]] += by * x.d[i];
	pe_free(none);
}

/* ------------------------------------------------------------------
 * Shares
 * ------------------------------------------------------------------
 */

void
pe_aggregates_reference(const pe_sums *sums, double rows, pe_sum_estimate *estimate)
{
	for (int32_t s = 0; s < sums->sums; s++)
	{
		const pe_sum *sum = &sums->sum[s];
		double		a = sums->number[sum->a].most;
		double		b = sums->number[sum->b].most;
		double		each = 1;

		if (sum->kind == PE_SUM_VALUE)
			each = a / 2;
		else if (sum->kind == PE_SUM_ABOVE)
			each = a + a / 2;
		else if (sum->kind == PE_SUM_BELOW)
			each = a - a / 2;
		else if (sum->kind == PE_SUM_ABOVE_SQUARE)
			each = a * a * (2 + 1. / 4 + 1. / 3);
		else if (sum->kind == PE_SUM_BETWEEN)
			each = 2 * a * a * (1 - 1. / 4 - 1. / 3);
		else if (sum->kind == PE_SUM_BELOW_SQUARE)
			each = a * a * (1. / 4 + 1. / 3);
		else if (sum->kind == PE_SUM_SQUARE)	/* u^2 is most^2 (1/4 + 1/3) in the mean */
			each = a * a * (2 * (1. / 4 + 1. / 3) - 1);
		else if (sum->kind == PE_SUM_PRODUCT)
			each = a * b * (1. / 4 + 1. / 6);
		estimate[s] = (pe_sum_estimate) {rows * each, 0};
	}
}

/*
 * Rows of a query at which gradients are taken: those of averages are
 * proportional to 1/rows, so that it decides nothing.
 */
#define REFERENCE_ROWS 1e6

/*
 * A gradient may be 0 at the reference and nowhere else: a sum that is used
 * costs at least this part of the dearest one.
 */
#define LEAST_COST (1. / 256)

/* The largest of a gradient's entries. */
static double
largest_of(const work *w, const dual *x)
{
	double		largest = 0;

	for (int i = 0; i < w->variables; i++)
		largest = fmax(largest, fabs(x->d[i]));
	return largest;
}

/*
 * coefficient[s]: the squared gradient of an aggregate by each sum, in any unit: squares of those that there are can be
 * beyond all numbers.  Where the reference divides by 0 no sum is dearer than another.
 */
static void
gradient(const pe_sums *sums, const pe_aggregate *a, const pe_sum_estimate *reference,
		 const double *variance, double *coefficient)
{
	work		w = {.sums = sums, .estimate = reference};
	dual		x = a->form->value(&w, a);
	double		largest = largest_of(&w, &x);
	double		most = 0;

	memset(coefficient, 0, (size_t) sums->sums * sizeof(*coefficient));
	for (int i = 0; i < w.variables && largest > 0; i++)
	{
		double		part = x.d[i] / largest;

		coefficient[w.sum[i]] = isfinite(part) && isfinite(largest) ? part * part : 1 / variance[w.sum[i]];
		most = fmax(most, coefficient[w.sum[i]] * variance[w.sum[i]]);
	}
	for (int i = 0; i < w.variables && !pe_aggregate_is_linear(a); i++)
		coefficient[w.sum[i]] = fmax(coefficient[w.sum[i]], LEAST_COST * most / variance[w.sum[i]]);
}

/*
 * The shares that minimise sum_s c_s / l_s (PE_L1: c_s / l_s^2) are
 * proportional to this; the least is the sum's square (cube).
 */
static double
root_of_cost(double cost, pe_norm norm)
{
	return norm == PE_L1 ? cbrt(cost) : sqrt(cost);
}

static size_t
measured_with(const int *together, size_t sum)
{
	return together != NULL ? (size_t) together[sum] : sum;
}

/* Adds an aggregate's costs, each relative to the least that the aggregate has alone. */
static void
add_costs(size_t sums, const int *together, const double *coefficient, const double *variance, pe_norm norm,
		  double *cost)
{
	double	   *own = pe_alloc(sums, sizeof(double));
	double		sum = 0;

	for (size_t s = 0; s < sums; s++)
		own[measured_with(together, s)] += coefficient[s] * variance[s];
	for (size_t s = 0; s < sums; s++)
		sum += root_of_cost(own[s], norm);
	for (size_t s = 0; s < sums && sum > 0; s++)
		cost[s] += own[s] / (norm == PE_L1 ? sum * sum * sum : sum * sum);
	pe_free(own);
}

void
pe_share_lost(const bool *lost, int count, uint64_t *share)
{
	uint64_t	whole = PE_WHOLE_SHARE - PE_MAX_SUMS;
	bool		beside = false;
	uint64_t	many = 0;

	for (int s = 0; s < count; s++)
	{
		beside |= !lost[s] && share[s] > 0;
		many += lost[s];
	}
	for (int s = 0; s < count && many > 0; s++)
		if (lost[s])
			share[s] = whole / (beside ? PE_LOST_SHARE : 1) / many;
		else if (share[s] >= PE_LOST_SHARE)
			share[s] = share[s] / PE_LOST_SHARE * (PE_LOST_SHARE - 1);
		else if (share[s] > 0)
			share[s] = 1;
}

void
pe_aggregates_costs(const pe_sums *sums, const pe_aggregate *aggregate, int aggregates, pe_norm norm,
					const int *together, const double *variance, double *cost)
{
	size_t		count = (size_t) sums->sums;
	pe_sum_estimate *reference = pe_alloc(count, sizeof(*reference));
	double	   *coefficient = pe_alloc(count, sizeof(double));

	memset(cost, 0, count * sizeof(double));
	pe_aggregates_reference(sums, REFERENCE_ROWS, reference);
	for (int i = 0; i < aggregates; i++)
	{
		gradient(sums, &aggregate[i], reference, variance, coefficient);
		add_costs(count, together, coefficient, variance, norm, cost);
	}
	for (size_t s = 0; s < count; s++)
		if (sums->sum[s].kind == PE_SUM_LOST)
			cost[s] = 0;
	pe_free(coefficient);
	pe_free(reference);
}

void
pe_aggregates_share(const pe_sums *sums, const pe_aggregate *aggregate, int aggregates, pe_norm norm,
					const int *together, const double *variance, uint64_t *share)
{
	size_t		count = (size_t) sums->sums;
	double	   *cost = pe_alloc(count, sizeof(double));
	double		whole = 0;
	bool		lost[PE_MAX_SUMS];

	pe_aggregates_costs(sums, aggregate, aggregates, norm, together, variance, cost);
	for (size_t s = 0; s < count; s++)
		whole += root_of_cost(cost[s], norm);
	/* rounded down, so that they add up to at most the whole */
	for (size_t s = 0; s < count; s++)
	{
		double		own = cost[measured_with(together, s)];

		share[s] = own > 0
			? (uint64_t) fmax(1, floor(root_of_cost(own, norm) / whole * (double) (PE_WHOLE_SHARE - PE_MAX_SUMS))) : 0;
	}
	for (size_t s = 0; s < count; s++)
		lost[s] = sums->sum[s].kind == PE_SUM_LOST;
	pe_share_lost(lost, sums->sums, share);
	pe_free(cost);
}

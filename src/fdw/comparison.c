/*
 * comparison.c
 *	  Comparisons of two columns in SQL, and patterns.  See comparison.h.
 *
 * Both sides are read as c1 x + c2 y + d with quotients of whole numbers c1, c2
 * and d: days of dates, microseconds of times.  One with a float is not
 * rearranged: what is rounded is rounded as it is written.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/timestamp.h"

#include "ask/comparisons.h"
#include "fdw/comparison.h"
#include "fdw/notices.h"
#include "fdw/open_keys.h"
#include "server/compat.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * Quotients
 * ------------------------------------------------------------------
 */

typedef struct quotient
{
	int64		above;
	int64		below;			/* positive; they have no common divisor */
} quotient;

static const quotient nothing = {0, 1};
static const quotient one = {1, 1};

static bool
reduce(pe_i128 above, pe_i128 below, quotient *q)
{
	pe_i128		divisor = pe_common_divisor(above, below);

	*q = (quotient) {(int64) (above / divisor), (int64) (below / divisor)};
	return q->above == above / divisor && q->below == below / divisor && q->above != PG_INT64_MIN;
}

static bool
multiply(quotient a, quotient b, quotient *q)
{
	return reduce((pe_i128) a.above * b.above, (pe_i128) a.below * b.below, q);
}

static bool
add(quotient a, quotient b, quotient *q)
{
	pe_i128		sum;

	return !__builtin_add_overflow((pe_i128) a.above * b.below, (pe_i128) b.above * a.below, &sum) &&
		reduce(sum, (pe_i128) a.below * b.below, q);
}

/* ------------------------------------------------------------------
 * Sides
 * ------------------------------------------------------------------
 */

typedef struct side
{
	Oid			type;			/* base type of the values; days of dates, microseconds of times and intervals */
	int			columns;
	int			column[2];		/* attributes */
	quotient	factor[2];
	quotient	more;
	bool		days;			/* an interval with days */
} side;

static bool side_of(pe_sight *s, Node *e, side *f);

static bool
is_exact(Oid type)
{
	return pe_type_is_integer(type) || type == NUMERICOID;
}

static bool
constant_side(pe_sight *s, Node *e, side *f)
{
	bool		isnull;
	Datum		value = pe_sight_constant(s, e, &isnull);
	int64		microseconds;

	if (isnull)
		return false;
	if (is_exact(f->type))
		return pe_decimal_quotient(OutputFunctionCall(&pe_names_type(s->names, exprType(e))->output, value),
								   &f->more.above, &f->more.below);
	if (f->type != INTERVALOID || !pe_compared_interval(DatumGetIntervalP(value), false, &microseconds))
		return false;
	f->days = DatumGetIntervalP(value)->day != 0;
	return reduce(microseconds, 1, &f->more);
}

static bool
column_side(pe_sight *s, Node *e, side *f)
{
	int			column = pe_sight_column(s, e);

	if (column < 0)
		return false;
	f->columns = 1;
	f->column[0] = column;
	f->factor[0] = one;
	/* of wider numbers than the column's: values are the same */
	if (!is_exact(f->type))
		f->type = s->declared->attribute[column].type;
	return true;
}

static bool
scale_side(side *f, quotient factor)
{
	bool		fits = multiply(f->more, factor, &f->more);

	for (int i = 0; i < f->columns; i++)
		fits = fits && multiply(f->factor[i], factor, &f->factor[i]);
	return fits;
}

static bool
add_column(side *f, int column, quotient factor)
{
	int			at = 0;

	while (at < f->columns && f->column[at] != column)
		at++;
	if (at == 2)
		return false;
	f->column[at] = column;
	if (at == f->columns)
		f->factor[f->columns++] = nothing;
	return add(f->factor[at], factor, &f->factor[at]);
}

/* a + sign b */
static bool
add_side(side *a, const side *b, int sign)
{
	side		other = *b;
	bool		fits = scale_side(&other, (quotient) {sign, 1}) && add(a->more, other.more, &a->more);

	for (int i = 0; i < other.columns; i++)
		fits = fits && add_column(a, other.column[i], other.factor[i]);
	return fits;
}

/* Dates become times at midnight. */
static bool
in_microseconds(side *f)
{
	if (f->type != DATEOID)
		return true;
	f->type = TIMESTAMPOID;
	return multiply(f->more, (quotient) {USECS_PER_DAY, 1}, &f->more);
}

/* What a + b or a - b is, of times; false if it is nothing that is known here.  What is added has one unit then. */
static bool
unite_times(side *a, side *b, char operator, Oid result)
{
	if (result == DATEOID)
		return (a->type == DATEOID || (b->type == DATEOID && operator == '+')) &&
			(is_exact(a->type) || is_exact(b->type));
	if (result == INT4OID)
		return a->type == DATEOID && b->type == DATEOID && operator == '-';
	if (result == INTERVALOID)
		return operator == '-' && in_microseconds(a) && in_microseconds(b) && a->type == b->type &&
			(a->type == TIMESTAMPOID || a->type == TIMESTAMPTZOID);
	if (result != TIMESTAMPOID && result != TIMESTAMPTZOID)
		return false;
	if (operator == '+' && a->type == INTERVALOID)
		return !(a->days && result == TIMESTAMPTZOID) && in_microseconds(b) && b->type == result;
	return b->type == INTERVALOID && b->columns == 0 && !(b->days && result == TIMESTAMPTZOID) &&
		in_microseconds(a) && a->type == result;
}

static bool
sum_side(side *a, side *b, char operator, Oid result, side *f)
{
	bool		numbers = is_exact(result) && is_exact(a->type) && is_exact(b->type);

	if (!numbers && !unite_times(a, b, operator, result))
		return false;
	*f = *a;
	f->type = result;
	return add_side(f, b, operator == '-' ? -1 : 1);
}

static bool
product_side(const side *a, const side *b, Oid result, side *f)
{
	const side *constant = a->columns == 0 ? a : b;

	if (constant->columns != 0 || !is_exact(result) || !is_exact(a->type) || !is_exact(b->type))
		return false;
	*f = constant == a ? *b : *a;
	f->type = result;
	return scale_side(f, constant->more);
}

static bool
is_pinned(Oid operator)
{
	return operator < FirstNormalObjectId;
}

static bool
operator_side(pe_sight *s, OpExpr *o, side *f)
{
	const char *name = pe_names_operator(s->names, o->opno)->name;
	side		a;
	side		b;

	if (!is_pinned(o->opno) || strlen(name) != 1 || !side_of(s, linitial(o->args), &a))
		return false;
	if (list_length(o->args) == 1)
	{
		*f = a;
		return is_exact(f->type) && (*name == '+' || (*name == '-' && scale_side(f, (quotient) {-1, 1})));
	}
	if (!side_of(s, lsecond(o->args), &b))
		return false;
	if (*name == '+' || *name == '-')
		return sum_side(&a, &b, *name, o->opresulttype, f);
	return *name == '*' && product_side(&a, &b, o->opresulttype, f);
}

/* Dates as timestamps, and whole numbers as numeric. */
static bool
cast_side(pe_sight *s, FuncExpr *f, side *to)
{
	if (list_length(f->args) != 1 || !is_pinned(f->funcid) || f->funcformat == COERCE_EXPLICIT_CALL ||
		!side_of(s, linitial(f->args), to))
		return false;
	if (to->type == DATEOID && f->funcresulttype == TIMESTAMPOID)
		return in_microseconds(to);
	if (!is_exact(to->type) || f->funcresulttype != NUMERICOID)
		return false;
	to->type = NUMERICOID;
	return true;
}

static bool
side_of(pe_sight *s, Node *e, side *f)
{
	check_stack_depth();
	*f = (side) {.type = pe_names_type(s->names, exprType(e))->base, .more = nothing};
	if (pe_sight_is_constant(e))
		return constant_side(s, e, f);
	e = pe_sight_bare(s, e);
	if (IsA(e, Var))
		return column_side(s, e, f);
	if (IsA(e, OpExpr))
		return operator_side(s, (OpExpr *) e, f);
	return IsA(e, FuncExpr) && cast_side(s, (FuncExpr *) e, f);
}

/* ------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------
 */

/* As it is written: one column against another one. */
static pe_compared
columns_compared(pe_sight *s, int a, int b)
{
	const pe_public_attribute *left = &s->declared->attribute[a];
	const pe_public_attribute *right = &s->declared->attribute[b];

	return pe_compared_plain(left->name, left->type, right->name, right->type);
}

/* Whether both sides are values that compare: days with days, microseconds with microseconds. */
static bool
unite_sides(side *a, side *b)
{
	if (is_exact(a->type) && is_exact(b->type))
		return true;
	if ((a->type == DATEOID) != (b->type == DATEOID) && !(in_microseconds(a) && in_microseconds(b)))
		return false;
	return a->type == b->type;
}

/* Dates are compared by days. */
static bool
in_days(side *f, pe_compared_kind kind)
{
	bool		microseconds = f->type == TIMESTAMPOID || f->type == INTERVALOID;

	return kind != PE_COMPARED_DATES || !microseconds || multiply(f->more, (quotient) {1, USECS_PER_DAY}, &f->more);
}

/* *apart: each side has a column, and is NULL where that is. */
static bool
compare_exactly(pe_sight *s, Node *left, Node *right, pe_compared *c, bool *apart)
{
	side		a;
	side		b;
	pe_compared_kind kind;

	if (!side_of(s, left, &a) || !side_of(s, right, &b) || !unite_sides(&a, &b))
		return false;
	*apart = a.columns == 1 && b.columns == 1;
	if (!add_side(&a, &b, -1) || a.columns != 2 || a.factor[0].above == 0 || a.factor[1].above == 0)
		return false;
	*c = columns_compared(s, a.column[0], a.column[1]);
	kind = pe_compared_kind_of(c->type[0], c->type[1]);
	if (!pe_compared_has_arithmetic(kind) || kind == PE_COMPARED_FLOATS || !in_days(&a, kind))
		return false;
	/* NaN and infinities stay what they are with positive factors and what is added, and in no difference */
	if (kind == PE_COMPARED_NUMERICS && !*apart)
		return false;
	c->above[0] = a.factor[0].above;
	c->below[0] = a.factor[0].below;
	c->above[1] = -a.factor[1].above;
	c->below[1] = a.factor[1].below;
	c->above[2] = -a.more.above;
	c->below[2] = a.more.below;
	return true;
}

/* Whether x * g or x + c of one column is computed in double precision, or is a whole number that a double holds. */
static bool
is_as_double(const OpExpr *o, const Node *constant)
{
	if (o->opresulttype == INT2OID || o->opresulttype == INT4OID)
		return exprType(constant) == INT2OID || exprType(constant) == INT4OID;
	return o->opresulttype == FLOAT8OID && exprType(constant) == FLOAT8OID;
}

/* x, x * g or x + c in double precision. */
static bool
float_side(pe_sight *s, Node *e, int *column, double *times, double *plus)
{
	Node	   *bare = pe_sight_bare(s, e);
	OpExpr	   *o = (OpExpr *) bare;
	Node	   *constant;
	const char *name;
	bool		isnull;
	Datum		number;
	double		value;

	*times = 1;
	*plus = 0;
	*column = pe_sight_column(s, bare);
	if (IsA(bare, Var))
		return *column >= 0;
	if (!IsA(bare, OpExpr) || !is_pinned(o->opno) || list_length(o->args) != 2)
		return false;
	name = pe_names_operator(s->names, o->opno)->name;
	constant = pe_sight_is_constant(lsecond(o->args)) ? lsecond(o->args) : linitial(o->args);
	*column = pe_sight_column(s, constant == lsecond(o->args) ? linitial(o->args) : lsecond(o->args));
	if (*column < 0 || !pe_sight_is_constant(constant) || !is_as_double(o, constant))
		return false;
	number = pe_sight_constant(s, constant, &isnull);
	value = isnull ? 0 : pe_number_of_datum(exprType(constant), number);
	if (strcmp(name, "*") == 0)
		*times = value;
	else if (strcmp(name, "+") == 0)
		*plus = value;
	else if (strcmp(name, "-") == 0 && constant == lsecond(o->args))
		*plus = -value;
	else
		return false;
	return !isnull;
}

/* At most one side has arithmetic, and is the right one then. */
static bool
compare_floats(pe_sight *s, Node *left, Node *right, pe_compared *c, bool *exchanged)
{
	int			column[2];
	double		times[2];
	double		plus[2];
	int			side;

	if (!float_side(s, left, &column[0], &times[0], &plus[0]) ||
		!float_side(s, right, &column[1], &times[1], &plus[1]) || column[0] == column[1])
		return false;
	*exchanged = times[0] != 1 || plus[0] != 0;
	if (*exchanged && (times[1] != 1 || plus[1] != 0))
		return false;
	side = *exchanged ? 0 : 1;
	*c = columns_compared(s, column[1 - side], column[side]);
	c->times = times[side];
	c->plus = plus[side];
	return pe_compared_kind_of(c->type[0], c->type[1]) == PE_COMPARED_FLOATS;
}

/* Columns and nothing else, of types without arithmetic; texts under a collation that compares bytes. */
static bool
compare_plainly(pe_sight *s, Node *left, Node *right, Oid collation, pe_compared *c)
{
	int			a = pe_sight_column(s, left);
	int			b = pe_sight_column(s, right);
	pe_compared_kind kind;

	if (a < 0 || b < 0 || a == b)
		return false;
	*c = columns_compared(s, a, b);
	kind = pe_compared_kind_of(c->type[0], c->type[1]);
	return kind == PE_COMPARED_TRUTHS || kind == PE_COMPARED_UUIDS || kind == PE_COMPARED_ENUMS ||
		(kind == PE_COMPARED_TEXTS && pe_names_is_bytewise(s->names, collation) &&
		 pe_names_is_bytewise(s->names, s->declared->attribute[a].collation) &&
		 pe_names_is_bytewise(s->names, s->declared->attribute[b].collation));
}

/* A comparison, whether its sides are exchanged, and whether each is NULL where its column is. */
static bool
find_compared(pe_sight *s, const OpExpr *o, pe_compared *c, bool *exchanged, bool *apart)
{
	Node	   *left = linitial(o->args);
	Node	   *right = lsecond(o->args);

	*exchanged = false;
	*apart = true;
	if (pe_type_is_float(exprType(left)) || pe_type_is_float(exprType(right)))
		return compare_floats(s, left, right, c, exchanged);
	return compare_plainly(s, left, right, o->inputcollid, c) || compare_exactly(s, left, right, c, apart);
}

/* ------------------------------------------------------------------
 * Attributes
 * ------------------------------------------------------------------
 */

static char *
side_text(const pe_compared_sides *sides, int side)
{
	return psprintf("%s%s%s%s", sides->factor[side] != NULL ? sides->factor[side] : "",
					sides->factor[side] != NULL ? " * " : "", quote_identifier(sides->name[side]),
					side == 1 ? sides->more : "");
}

static pe_sight_comparison *
add_comparison(pe_sight *s, char *left, char *right)
{
	pe_sight_comparison *new = palloc0(sizeof(*new));

	new->left = left;
	new->right = right;
	new->place = list_length(s->comparisons);
	new->side[0] = new->side[1] = -1;
	s->comparisons = lappend(s->comparisons, new);
	return new;
}

static const pe_public_attribute *
side_of_name(const pe_sight *s, const char *name)
{
	return &s->declared->attribute[pe_sight_column_of_name(s->declared, name)];
}

/* Its number, behind those of the columns. */
static int
attribute_of(pe_sight *s, const pe_compared_sides *sides, bool has_order)
{
	const pe_public_attribute *one = side_of_name(s, sides->name[0]);
	const pe_public_attribute *other = side_of_name(s, sides->name[1]);
	char	   *left = side_text(sides, 0);
	char	   *right = side_text(sides, 1);
	ListCell   *cell;
	pe_sight_comparison *new;

	foreach(cell, s->comparisons)
	{
		const pe_sight_comparison *known = lfirst(cell);

		if (strcmp(known->left, left) == 0 && strcmp(known->right, right) == 0)
			return s->declared->attributes + foreach_current_index(cell);
	}
	new = add_comparison(s, left, right);
	new->has_order = has_order;
	new->side[0] = (int) (one - s->declared->attribute);
	new->side[1] = (int) (other - s->declared->attribute);
	new->drops_null = (one->is_there || one->null < 0) && (other->is_there || other->null < 0);
	new->attribute = (pe_public_attribute) {
		.name = psprintf("%s <=> %s", left, right), .cells = PE_COMPARED_CELLS, .ordered = 3,
		.other = PE_COMPARED_ONE_NULL, .null = PE_COMPARED_BOTH_NULL,
		.is_there = one->is_there && other->is_there
	};
	return s->declared->attributes + new->place;
}

/* What the operator of SQL is in a cell; false: NULL.  A constant is distinct from NULL. */
static bool
value_in_cell(pe_comparison_op op, bool distinct, bool apart, int32 cell, bool *value)
{
	if (distinct)
		*value = cell != PE_COMPARED_EQUAL && (cell != PE_COMPARED_BOTH_NULL || !apart);
	else if (cell <= PE_COMPARED_GREATER)
		*value = pe_op_holds(op, cell - 1);
	return distinct || cell <= PE_COMPARED_GREATER;
}

static bool
has_truth(pe_truth truth, bool known, bool value)
{
	switch (truth)
	{
		case PE_IS_TRUE:
			return known && value;
		case PE_IS_FALSE:
			return known && !value;
		case PE_IS_NOT_TRUE:
			return !known || !value;
		default:
			return !known || value;
	}
}

/* The operator, as the catalog says; false if it is none of those. */
static bool
find_operator(pe_sight *s, const OpExpr *o, pe_comparison_op *op)
{
	static const pe_comparison_op of[] = {
		[BTLessStrategyNumber] = PE_OP_LT, [BTLessEqualStrategyNumber] = PE_OP_LE,
		[BTEqualStrategyNumber] = PE_OP_EQ, [BTGreaterEqualStrategyNumber] = PE_OP_GE,
		[BTGreaterStrategyNumber] = PE_OP_GT, [PE_COMPARISON_NE] = PE_OP_NE
	};
	static const char *const names[] = {"=", "<>", "<", "<=", ">", ">="};
	const pe_named_operator *named = pe_names_operator(s->names, o->opno);

	if (named->kind < BTLessStrategyNumber || named->kind > PE_COMPARISON_NE || !is_pinned(o->opno))
		return false;
	*op = of[named->kind];
	return strcmp(named->name, names[*op]) == 0;
}

/* ------------------------------------------------------------------
 * Patterns
 * ------------------------------------------------------------------
 */

/* LIKE, or ILIKE, of texts; negated: NOT. */
static bool
is_like(pe_sight *s, Node *e, bool *negated, bool *folded)
{
	const OpExpr *o = (const OpExpr *) e;
	const char *name;

	if (!IsA(e, OpExpr) || list_length(o->args) != 2 || !is_pinned(o->opno) ||
		exprType(linitial(o->args)) != TEXTOID || exprType(lsecond(o->args)) != TEXTOID)
		return false;
	name = pe_names_operator(s->names, o->opno)->name;
	*negated = name[0] == '!';
	name += *negated;
	*folded = strcmp(name, "~~*") == 0;
	return *folded || strcmp(name, "~~") == 0;
}

static void
check_collation(pe_sight *s, const pe_public_open *column, const OpExpr *o, bool folded)
{
	if (!pe_names_is_bytewise(s->names, o->inputcollid) || !pe_names_is_bytewise(s->names, column->collation))
		pe_refuse_translation("LIKE in a collation that has different texts equal",
							  "The owner can declare levels of the column.");
	if (folded && o->inputcollid != C_COLLATION_OID)
		pe_refuse_translation("ILIKE of a column whose values nobody has listed",
							  psprintf("Under COLLATE \"C\", where the letters of ASCII have capitals, it is: "
									   "%s COLLATE \"C\" ILIKE ...", quote_identifier(column->name)));
}

static void
read_pattern(pe_sight *s, const pe_public_open *column, const char *text, bool folded, pe_pattern *pattern)
{
	const char *hint;
	const char *why = pe_matched_read(text, folded, pattern, &hint);

	if (why != NULL)
		ereport(ERROR,
				(errcode(hint[0] != '\0' ? ERRCODE_INVALID_ESCAPE_SEQUENCE : ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("column \"%s\" is not matched: %s", column->name, why),
				 errdetail("Nothing was charged."), hint[0] != '\0' ? errhint("%s", hint) : 0));
}

/* Of one pattern there is one attribute, however it is written. */
static pe_sight_comparison *
find_match(pe_sight *s, const pe_public_open *open, char *text, bool folded)
{
	const char *column = quote_identifier(open->name);
	ListCell   *cell;
	pe_sight_comparison *new;

	foreach(cell, s->comparisons)
	{
		pe_sight_comparison *known = lfirst(cell);

		if (known->written != NIL && known->folded == folded && strcmp(known->left, column) == 0 &&
			strcmp(known->right, text) == 0)
			return known;
	}
	new = add_comparison(s, pstrdup(column), text);
	new->folded = folded;
	new->attribute = (pe_public_attribute) {
		.name = psprintf("%s %s %s", column, folded ? "ILIKE" : "LIKE", text), .cells = 3, .ordered = 1,
		.other = 1, .null = 2, .is_there = open->is_there
	};
	return new;
}

void
pe_comparison_find_pattern(pe_sight *s, Node *e)
{
	const OpExpr *o = (const OpExpr *) e;
	const pe_public_open *column;
	pe_sight_comparison *match;
	pe_pattern	pattern;
	bool		negated;
	bool		folded;
	bool		isnull;
	int			open;
	Datum		value;

	if (s->of_cube || !is_like(s, e, &negated, &folded) || !pe_sight_is_constant(lsecond(o->args)))
		return;
	open = pe_sight_open_column(s, linitial(o->args));
	if (open < 0 || !pe_matched_is_text(s->declared->open[open].type))
		return;
	column = &s->declared->open[open];
	check_collation(s, column, o, folded);
	value = pe_sight_constant(s, lsecond(o->args), &isnull);
	if (isnull)
		return;
	read_pattern(s, column, TextDatumGetCString(value), folded, &pattern);
	match = find_match(s, column, pe_matched_text(&pattern), folded);
	match->is_long = pe_open_text_bytes(column) > PE_KEY_MOST;
	match->written = lappend(match->written, e);
}

/* What PostgreSQL would match too. */
static void
tell_long(pe_sight *s, const pe_sight_comparison *match)
{
	if (match->is_long && !pe_sight_is_told(s, psprintf("long %s", match->left)))
		pe_notice((errmsg("values of %s longer than %d bytes are as no pattern of LIKE", match->left, PE_KEY_MOST),
				 errdetail("NOT LIKE is true for them.")));
}

/* A match has a value where its column has one. */
static pe_condition *
match_condition(pe_sight *s, Node *e, pe_truth truth)
{
	pe_sight_comparison *match = pe_sight_written(s, e);
	bool		negated = false;
	bool		folded = false;
	bool		cells[3];

	if (match == NULL || !is_like(s, e, &negated, &folded))
		return NULL;
	tell_long(s, match);
	cells[0] = has_truth(truth, true, !negated);
	cells[1] = has_truth(truth, true, negated);
	cells[2] = has_truth(truth, false, false);
	return pe_condition_cells(s, s->declared->attributes + match->place, cells, true);
}

static char *
match_text(const pe_sight_comparison *c, const bool *cells)
{
	char	   *test;

	if (cells[0] == cells[1])
		return psprintf("%s IS %sNULL", c->left, cells[0] ? "NOT " : "");
	test = psprintf("%s %s%s %s", c->left, cells[0] ? "" : "NOT ", c->folded ? "ILIKE" : "LIKE", c->right);
	return cells[2] ? psprintf("(%s IS NULL OR %s)", c->left, test) : test;
}

/* ------------------------------------------------------------------
 * Lengths
 * ------------------------------------------------------------------
 */

/* The open column, a text, whose length in characters this is; NULL: it is another expression. */
static const pe_public_open *
measured_column(pe_sight *s, Node *e)
{
	static const char *const names[] = {"length", "char_length", "character_length"};
	const FuncExpr *f = (const FuncExpr *) e;
	const pe_named_function *function;
	bool		is_length = false;
	int			open;

	if (!IsA(e, FuncExpr) || list_length(f->args) != 1 || exprType(linitial(f->args)) != TEXTOID)
		return NULL;
	function = pe_names_function(s->names, f->funcid);
	for (int i = 0; i < lengthof(names); i++)
		is_length |= function->builtin && strcmp(function->name, names[i]) == 0;
	open = is_length ? pe_sight_open_column(s, linitial(f->args)) : -1;
	return open >= 0 && pe_matched_is_text(s->declared->open[open].type) ? &s->declared->open[open] : NULL;
}

void
pe_comparison_find_length(pe_sight *s, Node *e)
{
	const pe_public_open *column = s->of_cube ? NULL : measured_column(s, e);
	pe_sight_comparison *length;

	if (column == NULL)
		return;
	length = add_comparison(s, pstrdup(quote_identifier(column->name)), "");
	length->is_length = true;
	length->written = list_make1(e);
}

/* PostgreSQL knows how long they are; the lesser one of fewer characters is known of all of them. */
static void
tell_longer(pe_sight *s, const pe_public_open *column, int most)
{
	int			bytes = pe_open_text_bytes(column);

	if (bytes > PE_KEY_MOST && most > PE_KEY_MOST / 4 && !pe_sight_is_told(s, psprintf("length of %s", column->name)))
		pe_notice((errmsg("values of \"%s\" longer than %d bytes count as %d characters", column->name, PE_KEY_MOST,
						most),
				 errhint("least(length(%s), %d) has the same value in every row.", quote_identifier(column->name),
						 PE_KEY_MOST / 4)));
}

/* The greatest one that the type allows, and that is counted. */
static int
most_characters(const pe_public_open *column)
{
	return column->typmod > VARHDRSZ ? Min(column->typmod - VARHDRSZ, PE_KEY_MOST) : PE_KEY_MOST;
}

/* Of least(length, constant), in either order, the length and the constant, from 1 on; NULL: it is something else. */
static Node *
taken_from_least(pe_sight *s, Node *e, int *constant)
{
	const MinMaxExpr *least = (const MinMaxExpr *) e;
	bool		first;
	bool		isnull;
	Node	   *number;
	Datum		value;

	if (!IsA(e, MinMaxExpr) || least->op != IS_LEAST || list_length(least->args) != 2 || least->minmaxtype != INT4OID)
		return NULL;
	first = pe_sight_is_constant(linitial(least->args));
	number = first ? linitial(least->args) : lsecond(least->args);
	if (!pe_sight_is_constant(number))
		return NULL;
	value = pe_sight_constant(s, number, &isnull);
	*constant = isnull ? 0 : DatumGetInt32(value);
	return *constant < 1 ? NULL : first ? lsecond(least->args) : linitial(least->args);
}

/* least of NULL and a constant is the constant. */
char *
pe_comparison_length_text(pe_sight *s, Node *e)
{
	int			most = PE_KEY_MOST;
	int			constant;
	Node	   *least = taken_from_least(s, e, &constant);
	pe_sight_comparison *length = pe_sight_written(s, least != NULL ? least : e);
	const pe_public_open *column;
	char	   *text;

	if (length == NULL || !length->is_length)
		return NULL;
	column = measured_column(s, linitial(length->written));
	most = Min(least != NULL ? constant : most, most_characters(column));
	tell_longer(s, column, most);
	text = psprintf("length(%s, %d)", length->left, most);
	return least != NULL && !column->is_there ? psprintf("coalesce(%s, %d)", text, constant) : text;
}

/* ------------------------------------------------------------------
 * Conditions
 * ------------------------------------------------------------------
 */

pe_condition *
pe_comparison_condition(pe_sight *s, Node *e, pe_truth truth)
{
	bool		distinct = IsA(e, DistinctExpr);
	pe_comparison_op op;
	pe_compared c;
	pe_comparison comparison;
	bool		exchanged;
	bool		apart;
	bool		mirrored;
	bool		has_order;
	bool		cells[PE_COMPARED_CELLS];
	pe_compared_sides sides;
	pe_condition *match = match_condition(s, e, truth);

	if (match != NULL)
		return match;
	if (s->of_cube || !(IsA(e, OpExpr) || distinct) || list_length(((OpExpr *) e)->args) != 2 ||
		!find_operator(s, (OpExpr *) e, &op) || !find_compared(s, (OpExpr *) e, &c, &exchanged, &apart) ||
		pe_compared_settle(&c, &comparison, &mirrored) != NULL)
		return NULL;
	has_order = pe_compared_has_order(pe_compared_kind_of(c.type[0], c.type[1]));
	if (!has_order && op != PE_OP_EQ && op != PE_OP_NE)
		return NULL;
	if (mirrored != exchanged)
		op = pe_op_mirrored(op);
	for (int32 cell = 0; cell < PE_COMPARED_CELLS; cell++)
	{
		bool		value = false;
		bool		known = value_in_cell(op, distinct, apart, cell, &value);

		cells[cell] = has_truth(truth, known, value);
	}
	sides = pe_compared_sides_of(&c, &comparison);
	return pe_condition_cells(s, attribute_of(s, &sides, has_order), cells, true);
}

/* The operator that is true in these cells; NULL: none is. */
static const char *
operator_of(const bool *cells)
{
	static const char *const of[] = {NULL, "<", "=", "<=", ">", "<>", ">=", NULL};
	int			orders = cells[PE_COMPARED_LESS] | cells[PE_COMPARED_EQUAL] << 1 | cells[PE_COMPARED_GREATER] << 2;

	if (!cells[PE_COMPARED_ONE_NULL] && !cells[PE_COMPARED_BOTH_NULL])
		return of[orders];
	if (orders == 2 && !cells[PE_COMPARED_ONE_NULL])
		return "IS NOT DISTINCT FROM";
	return orders == 5 && !cells[PE_COMPARED_BOTH_NULL] ? "IS DISTINCT FROM" : NULL;
}

char *
pe_comparison_text(const pe_sight *s, int attribute, const bool *cells)
{
	const pe_sight_comparison *c = list_nth(s->comparisons, attribute - s->declared->attributes);
	const char *operator = c->written == NIL ? operator_of(cells) : NULL;
	StringInfoData text;
	const char *separator = "";

	if (c->written != NIL)
		return match_text(c, cells);
	if (operator != NULL)
		return psprintf("%s %s %s", c->left, operator, c->right);
	initStringInfo(&text);
	appendStringInfo(&text, "%s <=> %s IN CELLS (", c->left, c->right);
	for (int32 cell = 0; cell < PE_COMPARED_CELLS; cell++)
		if (cells[cell])
		{
			appendStringInfo(&text, "%s%d", separator, cell);
			separator = ", ";
		}
	appendStringInfoChar(&text, ')');
	return text.data;
}

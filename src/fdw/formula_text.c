/*
 * formula_text.c
 *	  Arithmetic of SQL on several columns as a formula of a request.  See formula_text.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"

#include "ask/sums_call.h"
#include "fdw/comparison.h"
#include "fdw/formula_text.h"
#include "server/values.h"

static char *text_of(pe_sight *s, Node *e);

/* Digits, in parentheses if there is a sign: NULL for NULL, NaN and infinities. */
static char *
constant_text(pe_sight *s, Node *e)
{
	pe_named_type *type;
	bool		isnull;
	Datum		value;
	char	   *text;

	if (!pe_type_is_number(exprType(e)))
		return NULL;
	type = pe_names_type(s->names, exprType(e));
	value = pe_sight_constant(s, e, &isnull);
	if (isnull)
		return NULL;
	text = OutputFunctionCall(&type->output, value);
	if (strspn(text, "0123456789.-+e") != strlen(text))
		return NULL;
	return text;
}

static char *
enclosed(char *text)
{
	return text != NULL && *text == '-' ? psprintf("(%s)", text) : text;
}

/* With a point: a divisor of whole digits would divide with a remainder. */
static char *
divisor_text(pe_sight *s, Node *e)
{
	char	   *text = constant_text(s, e);

	return text != NULL && strpbrk(text, ".e") == NULL ? psprintf("%s.0", text) : text;
}

static char *
column_text(pe_sight *s, Node *e)
{
	int			column = pe_sight_column(s, e);

	if (column < 0 || !pe_sight_has_numbers(s, column))
		return NULL;
	return pstrdup(quote_identifier(s->declared->attribute[column].name));
}

/* Formulas count dates as their type does. */
static char *
constant_date_text(pe_sight *s, Node *e)
{
	bool		isnull;
	DateADT		date;

	if (exprType(e) != DATEOID)
		return NULL;
	date = DatumGetDateADT(pe_sight_constant(s, e, &isnull));
	return isnull || DATE_NOT_FINITE(date) ? NULL : enclosed(psprintf("%d", (int) date));
}

/* A date is a number where another one is subtracted from it. */
static char *
date_text(pe_sight *s, Node *e)
{
	const pe_public_attribute *a;
	int			column;

	if (pe_sight_is_constant(e))
		return constant_date_text(s, e);
	column = pe_sight_column(s, e);
	a = column >= 0 ? &s->declared->attribute[column] : NULL;
	return a != NULL && a->type == DATEOID && a->bins ? pstrdup(quote_identifier(a->name)) : NULL;
}

static char *
days_text(pe_sight *s, Node *left, Node *right)
{
	char	   *from = date_text(s, left);
	char	   *to = from != NULL ? date_text(s, right) : NULL;

	return to != NULL ? psprintf("(%s - %s)", from, to) : NULL;
}

/* coalesce(x, constant): PostgreSQL leaves out what stands behind the constant. */
static char *
coalesce_text(pe_sight *s, CoalesceExpr *c)
{
	Node	   *first = linitial(c->args);
	int			number = pe_sight_column(s, first);
	bool		of_levels = number >= 0 && !s->declared->attribute[number].numbers;
	char	   *column = list_length(c->args) != 2 || of_levels ? NULL
		: pe_sight_written(s, first) != NULL ? pe_comparison_length_text(s, first) : column_text(s, first);
	char	   *constant = column != NULL && pe_sight_is_constant(lsecond(c->args))
		? constant_text(s, lsecond(c->args)) : NULL;

	return constant != NULL ? psprintf("coalesce(%s, %s)", column, constant) : NULL;
}

/* Whole numbers divided by whole numbers are none. */
static char *
quotient_text(pe_sight *s, OpExpr *o)
{
	char	   *above = text_of(s, linitial(o->args));
	char	   *below = above != NULL && !pe_type_is_integer(o->opresulttype) && pe_sight_is_constant(lsecond(o->args))
		? divisor_text(s, lsecond(o->args)) : NULL;

	return below != NULL ? psprintf("(%s / %s)", above, enclosed(below)) : NULL;
}

static char *
operator_text(pe_sight *s, OpExpr *o)
{
	const pe_named_operator *operator = pe_names_operator(s->names, o->opno);
	const char *name = operator->name;
	char	   *left;
	char	   *right;

	if (!operator->builtin || !pe_type_is_number(o->opresulttype) || strlen(name) != 1 || strchr("+-*/", *name) == NULL)
		return NULL;
	if (list_length(o->args) == 1)
	{
		right = text_of(s, linitial(o->args));
		return right != NULL ? psprintf("(%s %s)", name, right) : NULL;
	}
	if (*name == '/')
		return quotient_text(s, o);
	if (*name == '-' && exprType(linitial(o->args)) == DATEOID)
		return days_text(s, linitial(o->args), lsecond(o->args));
	left = text_of(s, linitial(o->args));
	right = left != NULL ? text_of(s, lsecond(o->args)) : NULL;
	return right != NULL ? psprintf("(%s %s %s)", left, name, right) : NULL;
}

/* Casts that pe_sight_bare leaves, and that change no value all the same. */
static char *
cast_text(pe_sight *s, FuncExpr *f)
{
	Oid			from;

	if (list_length(f->args) != 1 || f->funcformat == COERCE_EXPLICIT_CALL)
		return NULL;
	from = exprType(linitial(f->args));
	if (!pe_type_is_number(from) ||
		!(f->funcresulttype == FLOAT8OID || f->funcresulttype == NUMERICOID ||
		  (pe_type_is_integer(from) && pe_type_is_integer(f->funcresulttype))))
		return NULL;
	return text_of(s, linitial(f->args));
}

static char *
text_of(pe_sight *s, Node *e)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	e = pe_sight_bare(s, e);
	if (pe_sight_is_constant(e))
		return enclosed(constant_text(s, e));
	if (IsA(e, Var))
		return column_text(s, e);
	if (IsA(e, CoalesceExpr))
		return coalesce_text(s, (CoalesceExpr *) e);
	if (IsA(e, OpExpr))
		return operator_text(s, (OpExpr *) e);
	if (IsA(e, FuncExpr) && pe_sight_written(s, e) == NULL)
		return cast_text(s, (FuncExpr *) e);
	return pe_comparison_length_text(s, e);
}

char *
pe_formula_of(pe_sight *s, Node *e, bool *affine)
{
	char	   *text = text_of(s, e);

	*affine = false;
	return text != NULL ? pe_formula_canonical(text, affine) : NULL;
}

/* ------------------------------------------------------------------
 * Overflow
 * ------------------------------------------------------------------
 */

/* What values of an expression lie between, by what is declared; unknown: infinities. */
typedef struct range
{
	double		low;
	double		high;
} range;

static const range unknown = {-INFINITY, INFINITY};

static range range_of(pe_sight *s, Node *e, const pe_condition *rows);

static range
range_of_column(const pe_sight *s, int column, const pe_condition *rows)
{
	const pe_public_attribute *a = &s->declared->attribute[column];
	const bool *left = pe_condition_leaves(rows, column);
	range		r = {INFINITY, -INFINITY};

	for (int32 i = 0; i < a->ordered; i++)
		if (left == NULL || left[i])
		{
			r.low = Min(r.low, pe_number_of_datum(a->type, a->low[i]));
			r.high = Max(r.high, pe_number_of_datum(a->type, a->high[i]));
		}
	return r.low <= r.high ? r : (range) {0, 0};	/* no row has a value */
}

static range
product_of(range a, range b)
{
	double		end[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
	range		r = {end[0], end[0]};

	for (int i = 1; i < 4; i++)
		r = (range) {Min(r.low, end[i]), Max(r.high, end[i])};
	return r;
}

/* The least value of a type of whole numbers, which goes to -(least + 1); of others -infinity. */
static double
least_of_type(Oid type)
{
	return type == INT2OID ? -0x1p15 : type == INT4OID ? -0x1p31 : type == INT8OID ? -0x1p63 : -INFINITY;
}

static void
check_type(Oid type, range r)
{
	double		least = least_of_type(type);

	if (!isfinite(r.low) || !isfinite(r.high) || (r.low >= least && r.high < -least))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("%s out of range", format_type_be(type)),
			 errdetail("By the declared bounds, a value lies between %.15g and %.15g. Nothing was charged.",
					   r.low, r.high),
			 errhint("Cast a column to a wider type, as in x::%s.", type == INT8OID ? "numeric" : "bigint")));
}

static range
range_of_operator(pe_sight *s, const OpExpr *o, const pe_condition *rows)
{
	const pe_named_operator *operator = pe_names_operator(s->names, o->opno);
	range		left = range_of(s, linitial(o->args), rows);
	range		right = list_length(o->args) == 2 ? range_of(s, lsecond(o->args), rows) : left;
	range		r = unknown;

	if (!operator->builtin || !pe_type_is_number(o->opresulttype) || strlen(operator->name) != 1 ||
		!isfinite(left.low) || !isfinite(left.high) || !isfinite(right.low) || !isfinite(right.high))
		return unknown;
	if (*operator->name == '-')
		r = list_length(o->args) == 1 ? (range) {0 - left.high, 0 - left.low}
			: (range) {left.low - right.high, left.high - right.low};
	else if (*operator->name == '+')
		r = list_length(o->args) == 1 ? left : (range) {left.low + right.low, left.high + right.high};
	else if (*operator->name == '*')
		r = product_of(left, right);
	check_type(o->opresulttype, r);
	return r;
}

static range
range_of(pe_sight *s, Node *e, const pe_condition *rows)
{
	bool		isnull;
	Datum		value;
	double		number;
	int			column;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	e = pe_sight_bare(s, e);
	column = IsA(e, Var) ? pe_sight_column(s, e) : -1;
	if (pe_sight_is_constant(e) && pe_type_is_number(exprType(e)))
	{
		value = pe_sight_constant(s, e, &isnull);
		number = isnull ? INFINITY : pe_number_of_datum(exprType(e), value);
		return (range) {number, number};
	}
	if (column >= 0 && pe_sight_has_numbers(s, column))
		return range_of_column(s, column, rows);
	if (IsA(e, OpExpr))
		return range_of_operator(s, (OpExpr *) e, rows);
	if (IsA(e, FuncExpr) && cast_text(s, (FuncExpr *) e) != NULL)
		return range_of(s, linitial(((FuncExpr *) e)->args), rows);
	return unknown;
}

void
pe_formula_check_range(pe_sight *s, Node *e, const pe_condition *rows)
{
	(void) range_of(s, e, rows);
}

/*
 * target_list.c
 *	  Aggregates of SQL as aggregates of a request.  See target_list.h.
 *
 * A column that numbers are declared of is summed by its values, as
 * dp.aggregate does.  Any other argument is evaluated on the cells of its
 * column: the sums are then counts of cells, each times the value there.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "ask/sums_call.h"
#include "fdw/beyond.h"
#include "fdw/formula_text.h"
#include "fdw/notices.h"
#include "fdw/open_keys.h"
#include "fdw/target_list.h"
#include "server/compat.h"
#include "server/values.h"

#define ANSWERED \
	"Answered are count, sum, avg, min, max, percentile_cont, percentile_disc, " \
	"the aggregates for statistics such as stddev, corr and regr_slope, " \
	"and stderr_count, lower95_count, upper95_count and the like, " \
	"median, quantile, people and ratio of schema dp."

/* The number of an aggregate among those wanted. */
static int
want(pe_wanted *wanted, char *text, const pe_sight *s, const pe_condition *where)
{
	char	   *condition = pe_condition_text(s, where);
	ListCell   *cell;
	int			number = 0;

	if (wanted->apart)
	{
		wanted->texts = lappend(wanted->texts, text);
		wanted->conditions = lappend(wanted->conditions, (pe_condition *) where);
		return list_length(wanted->texts) - 1;
	}
	if (condition != NULL)
		text = psprintf("%s where (%s)", text, condition);
	foreach(cell, wanted->texts)
	{
		if (strcmp(lfirst(cell), text) == 0)
			return number;
		number++;
	}
	wanted->texts = lappend(wanted->texts, text);
	return number;
}

static List *
with_term(List *terms, double factor, int wanted)
{
	pe_summand    *term = palloc(sizeof(*term));

	*term = (pe_summand) {factor, wanted, 0};
	return lappend(terms, term);
}

/* ------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------
 */

/* Terms of a sum, and of the count of what is summed. */
typedef struct sum_terms
{
	pe_sight   *sight;
	const pe_condition *rows;	/* what WHERE leaves */
	pe_wanted  *wanted;
	bool		adds;			/* a sum, which a row of 0 does not change */
	List	   *sum;			/* aggregates as text with a factor and a condition: */
	List	   *count;
} sum_terms;

typedef struct piece
{
	double		factor;
	char	   *text;
	pe_condition *where;
} piece;

/* Whether rows that WHERE leaves can meet a condition: what cannot be there is not paid for. */
static bool
is_possible(const pe_sight *s, const pe_condition *rows, pe_condition *where)
{
	return pe_condition_and(s, (pe_condition *) rows, where)->kind != PE_COND_NEVER;
}

static List *
with_piece(const sum_terms *t, List *pieces, double factor, char *text, pe_condition *where)
{
	piece	   *p = palloc(sizeof(*p));

	*p = (piece) {factor, text, where};
	if (!is_possible(t->sight, t->rows, where))
		return pieces;
	if (!isfinite(factor))
		pe_refuse_translation("a sum or an average of Infinity, NaN or numbers beyond double precision",
							  "Sum finite numbers, and compute with the result.");
	return lappend(pieces, p);
}

static List *
wanted_terms(sum_terms *t, List *pieces)
{
	List	   *terms = NIL;
	ListCell   *cell;

	foreach(cell, pieces)
	{
		const piece *p = lfirst(cell);

		terms = with_term(terms, p->factor, want(t->wanted, p->text, t->sight, p->where));
	}
	return terms;
}

static double
number_of(Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return pe_number_of_datum(type, value);
		default:
			pe_refuse_translation(psprintf("a sum of type %s", format_type_be(type)),
								  "Sums and averages are of numbers.");
	}
}

static void add_pieces(sum_terms *t, Node *e, double factor, pe_condition *where);

/* The rows that a sum of the column has a number of: what lies outside of bins has a cell, and no number. */
static pe_condition *
has_number(const sum_terms *t, int attribute, pe_condition *where)
{
	pe_sight   *s = t->sight;
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	const bool *left = pe_condition_leaves(pe_condition_and(s, (pe_condition *) t->rows, where), attribute);
	bool	   *cells = palloc(a->cells * sizeof(bool));

	if (a->other < 0)
		return pe_condition_always();
	if (left == NULL || left[a->other])
		pe_sight_tell_unsummed(s, attribute);
	for (int32 i = 0; i < a->cells; i++)
		cells[i] = i != a->other;
	return pe_condition_cells(s, attribute, cells, false);
}

/*
 * count(x) of numbers.  A cube has no conditions: there it is a count of the
 * rows that sum(x) is made of, except where x has values that are no number.
 */
static char *
count_text(const pe_sight *s, const char *x, const Bitmapset *attributes)
{
	bool		of_sum = s->of_cube;
	int			a = -1;

	while (of_sum && (a = bms_next_member(attributes, a)) >= 0)
		of_sum = s->declared->attribute[a].numbers && s->declared->attribute[a].other < 0;
	return of_sum ? psprintf("regr_count(%s, %s)", x, x) : psprintf("count(%s)", x);
}

/* A column whose values are summed. */
static void
add_column(sum_terms *t, int column, double factor, pe_condition *where)
{
	const char *name = quote_identifier(t->sight->declared->attribute[column].name);

	t->sum = with_piece(t, t->sum, factor, psprintf("sum(%s)", name), where);
	t->count = with_piece(t, t->count, 1, count_text(t->sight, name, bms_make_singleton(column)),
						  pe_condition_and(t->sight, where, has_number(t, column, where)));
}

/* The formula of a cube that another one is so many times; NULL: there is none. */
static char *
measured_formula(const pe_wanted *w, const char *text, double *factor)
{
	for (int i = 0; i < w->formulas; i++)
		if (pe_formula_is_multiple(text, w->formula[i], factor))
			return w->formula[i];
	return NULL;
}

/*
 * A formula of several columns, or of powers of one, whose values are summed;
 * false if it is none.  A multiple of one column, too, where it is not one by
 * SQL's own operators.
 */
static bool
add_formula(sum_terms *t, Node *e, bool may_be_affine, double factor, pe_condition *where)
{
	bool		affine;
	char	   *text = pe_formula_of(t->sight, e, &affine);
	Bitmapset  *attributes = pe_sight_tested(t->sight, e);
	double		multiple;
	int			a = -1;

	if (text == NULL || (affine && !may_be_affine))
		return false;
	if (measured_formula(t->wanted, text, &multiple) != NULL)
	{
		text = measured_formula(t->wanted, text, &multiple);
		factor *= multiple;
	}
	t->sum = with_piece(t, t->sum, factor, psprintf("sum(%s)", text), where);
	while ((a = bms_next_member(attributes, a)) >= 0 && a < t->sight->declared->attributes)
		where = pe_condition_and(t->sight, where, has_number(t, a, where));
	t->count = with_piece(t, t->count, 1, count_text(t->sight, text, attributes), where);
	return true;
}

static void
add_constant(sum_terms *t, Node *e, double factor, pe_condition *where)
{
	bool		isnull;
	Datum		value = pe_sight_constant(t->sight, e, &isnull);
	double		number;

	if (isnull)
		return;
	number = factor * number_of(exprType(e), value);
	if (number != 0)
		t->sum = with_piece(t, t->sum, number, "count(*)", where);
	t->count = with_piece(t, t->count, 1, "count(*)", where);
}

/* The most different values of an argument: each is a count with a condition of its own. */
#define MOST_VALUES 64

/* Sets of cells with equal values. */
typedef struct value_sets
{
	int			count;
	int32		sample[MOST_VALUES];
	uint32		hash[MOST_VALUES];
	bool	   *cells[MOST_VALUES];
} value_sets;

static void
add_to_set(value_sets *sets, const pe_values *v, int32 cells, int32 i)
{
	uint32		hash = pe_values_hash(v, i);
	int			set = 0;

	while (set < sets->count && !(sets->hash[set] == hash && pe_values_are_same(v, sets->sample[set], i)))
		set++;
	if (set == MOST_VALUES)
		pe_refuse_translation(psprintf("an aggregate of an expression with more than %d values", MOST_VALUES),
							  "Aggregate a column whose bounds are declared, or + - * of them: x * x * x, not x ^ 3.");
	if (set == sets->count)
	{
		sets->sample[set] = i;
		sets->hash[set] = hash;
		sets->cells[set] = palloc0(cells * sizeof(bool));
		sets->count++;
	}
	sets->cells[set][i] = true;
}

/* Cells of one attribute, in sets of equal values. */
static void
add_values(sum_terms *t, Node *e, int attribute, double factor, pe_condition *where)
{
	pe_sight   *s = t->sight;
	int32		cells = s->declared->attribute[attribute].cells;
	const bool *left = pe_condition_leaves(pe_condition_and(s, (pe_condition *) t->rows, where), attribute);
	pe_values  *v = pe_sight_values(s, e, attribute, left, false);
	bool	   *there = palloc0(cells * sizeof(bool));
	value_sets	sets = {0};

	pe_sight_check_cuts(s, v, attribute, left, "the argument of an aggregate");
	pe_beyond_tell(s, e, pe_condition_and(s, (pe_condition *) t->rows, where));
	pe_beyond_tell_nulls(s, e, t->adds, "the argument of an aggregate");
	if (left == NULL)
		pe_beyond_tell_undeclared(s, e, attribute, t->adds, "the argument of an aggregate");
	for (int32 i = 0; i < cells; i++)
	{
		if (left != NULL && !left[i])
			continue;
		if (i == s->declared->attribute[attribute].other && pe_sight_column(s, e) == attribute)
			pe_sight_check_outside(s, attribute, "the argument of an aggregate");
		there[i] = !v->isnull[i];
		if (there[i])
			add_to_set(&sets, v, cells, i);
		CHECK_FOR_INTERRUPTS();
	}
	for (int i = 0; i < sets.count; i++)
	{
		double		number = factor * number_of(v->type->id, v->value[sets.sample[i]]);

		if (number != 0)
			t->sum = with_piece(t, t->sum, number, "count(*)",
								pe_condition_and(s, where, pe_condition_cells(s, attribute, sets.cells[i], false)));
	}
	t->count = with_piece(t, t->count, 1, "count(*)",
						  pe_condition_and(s, where, pe_condition_cells(s, attribute, there, false)));
}

static bool
is_nothing(pe_sight *s, Node *e)
{
	bool		isnull;
	Datum		value;

	if (e == NULL)
		return true;
	if (!pe_sight_is_constant(e))
		return false;
	value = pe_sight_constant(s, e, &isnull);
	return isnull || number_of(exprType(e), value) == 0;
}

static void
add_case(sum_terms *t, const CaseExpr *c, double factor, pe_condition *where)
{
	ListCell   *cell;

	foreach(cell, c->args)
	{
		const CaseWhen *when = lfirst(cell);
		pe_condition *rows = pe_condition_and(t->sight, (pe_condition *) t->rows, where);
		pe_condition *taken = pe_condition_of(t->sight, (Node *) when->expr, PE_IS_TRUE, rows, "a test in CASE");
		pe_condition *passed;

		t->sight->adds_nothing = t->adds && lnext(c->args, cell) == NULL && is_nothing(t->sight, (Node *) c->defresult);
		passed = pe_condition_of(t->sight, (Node *) when->expr, PE_IS_NOT_TRUE, rows, "a test in CASE");
		t->sight->adds_nothing = false;
		add_pieces(t, (Node *) when->result, factor, pe_condition_and(t->sight, where, taken));
		where = pe_condition_and(t->sight, where, passed);
	}
	if (c->defresult != NULL)
		add_pieces(t, (Node *) c->defresult, factor, where);
}

/*
 * least(x, 40) is CASE WHEN x < 40 THEN x ELSE 40 END, also where x is NULL, and greatest the same with >=, which ends
 * at an edge, too; NULL: it is another expression.
 */
static CaseExpr *
chosen(Node *e)
{
	const MinMaxExpr *m = (const MinMaxExpr *) e;
	TypeCacheEntry *type;
	Node	   *varying;
	Const	   *constant;
	CaseExpr   *c;

	if (!IsA(e, MinMaxExpr) || list_length(m->args) != 2 || !pe_type_is_number(m->minmaxtype))
		return NULL;
	varying = IsA(linitial(m->args), Const) ? lsecond(m->args) : linitial(m->args);
	constant = IsA(linitial(m->args), Const) ? linitial(m->args) : lsecond(m->args);
	if (!IsA(constant, Const) || constant->constisnull)
		return NULL;
	type = lookup_type_cache(m->minmaxtype, TYPECACHE_LT_OPR);
	c = makeNode(CaseExpr);
	c->casetype = m->minmaxtype;
	c->args = list_make1(makeNode(CaseWhen));
	linitial_node(CaseWhen, c->args)->expr =
		make_opclause(m->op == IS_LEAST ? type->lt_opr : get_negator(type->lt_opr), BOOLOID, false, (Expr *) varying,
					  (Expr *) constant, InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) linitial_node(CaseWhen, c->args)->expr);
	linitial_node(CaseWhen, c->args)->result = (Expr *) varying;
	c->defresult = (Expr *) constant;
	return c;
}

/* x ^ 2 and power(x, 2) are x * x; NULL: it is another expression. */
static Node *
squared(pe_sight *s, Node *e)
{
	Oid			function = IsA(e, OpExpr) ? get_opcode(((OpExpr *) e)->opno)
		: IsA(e, FuncExpr) ? ((FuncExpr *) e)->funcid : InvalidOid;
	List	   *arguments = IsA(e, OpExpr) ? ((OpExpr *) e)->args : IsA(e, FuncExpr) ? ((FuncExpr *) e)->args : NIL;
	Oid			type = exprType(e);
	const pe_named_function *named;
	bool		isnull;
	Datum		power;

	if (list_length(arguments) != 2 || (type != FLOAT8OID && type != NUMERICOID) ||
		!pe_sight_is_constant(lsecond(arguments)))
		return NULL;
	named = pe_names_function(s->names, function);
	if (!named->builtin || (strcmp(named->name, "dpow") != 0 && strcmp(named->name, "numeric_power") != 0 &&
							strcmp(named->name, "pow") != 0 && strcmp(named->name, "power") != 0))
		return NULL;
	power = pe_sight_constant(s, lsecond(arguments), &isnull);
	if (isnull || number_of(type, power) != 2)
		return NULL;
	return (Node *) make_op(NULL, list_make2(makeString("pg_catalog"), makeString("*")),
							linitial(arguments), copyObject(linitial(arguments)), NULL, -1);
}

static CaseWhen *
when(Node *test, int32 number)
{
	CaseWhen   *w = makeNode(CaseWhen);

	w->expr = (Expr *) test;
	w->result = (Expr *) makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(number), false, true);
	return w;
}

/* test::int is CASE WHEN test THEN 1 WHEN NOT test THEN 0 END. */
static bool
add_truth(sum_terms *t, Node *e, double factor, pe_condition *where)
{
	CaseExpr   *c;
	Node	   *test;

	if (!IsA(e, FuncExpr) || ((FuncExpr *) e)->funcid != F_INT4_BOOL)
		return false;
	test = linitial(((FuncExpr *) e)->args);
	c = makeNode(CaseExpr);
	c->casetype = INT4OID;
	c->args = list_make2(when(test, 1), when((Node *) makeBoolExpr(NOT_EXPR, list_make1(test), -1), 0));
	add_case(t, c, factor, where);
	return true;
}

/* A number times an expression, or divided by it; false if it is neither. */
static bool
add_multiple(sum_terms *t, const OpExpr *o, double factor, pe_condition *where)
{
	const pe_named_operator *operator = pe_names_operator(t->sight->names, o->opno);
	const char *name = operator->name;
	bool		first = list_length(o->args) == 2 && pe_sight_is_constant(linitial(o->args));
	bool		second = list_length(o->args) == 2 && pe_sight_is_constant(lsecond(o->args));
	bool		is_product = strcmp(name, "*") == 0;
	bool		is_ratio = strcmp(name, "/") == 0 && second &&
		(o->opresulttype == NUMERICOID || o->opresulttype == FLOAT8OID);
	Node	   *constant = first ? linitial(o->args) : second ? lsecond(o->args) : NULL;
	bool		isnull;
	Datum		value;
	double		number;

	if (constant == NULL || !operator->builtin || (!is_product && !is_ratio))
		return false;
	value = pe_sight_constant(t->sight, constant, &isnull);
	if (isnull)
		return true;
	number = number_of(exprType(constant), value);
	if (is_ratio && number == 0)
		ereport(ERROR, (errcode(ERRCODE_DIVISION_BY_ZERO), errmsg("division by zero")));
	add_pieces(t, first ? lsecond(o->args) : linitial(o->args), is_ratio ? factor / number : factor * number, where);
	return true;
}

static bool
add_negative(sum_terms *t, const OpExpr *o, double factor, pe_condition *where)
{
	const pe_named_operator *operator = pe_names_operator(t->sight->names, o->opno);

	if (list_length(o->args) != 1 || !operator->builtin || strcmp(operator->name, "-") != 0)
		return false;
	add_pieces(t, linitial(o->args), -factor, where);
	return true;
}

/* A number more or less: so many times as there are values. */
static bool
add_offset(sum_terms *t, const OpExpr *o, double factor, pe_condition *where)
{
	const pe_named_operator *operator = pe_names_operator(t->sight->names, o->opno);
	const char *name = operator->name;
	bool		minus = strcmp(name, "-") == 0;
	bool		first = list_length(o->args) == 2 && pe_sight_is_constant(linitial(o->args));
	bool		second = list_length(o->args) == 2 && pe_sight_is_constant(lsecond(o->args));
	Node	   *constant = first ? linitial(o->args) : second ? lsecond(o->args) : NULL;
	int			counted = list_length(t->count);
	bool		isnull;
	Datum		value;
	double		number;

	if (constant == NULL || !operator->builtin || (!minus && strcmp(name, "+") != 0))
		return false;
	value = pe_sight_constant(t->sight, constant, &isnull);
	if (isnull)
		return true;
	number = factor * (minus && second ? -1 : 1) * number_of(exprType(constant), value);
	add_pieces(t, first ? lsecond(o->args) : linitial(o->args), minus && first ? -factor : factor, where);
	for (int added = list_length(t->count); counted < added; counted++)
	{
		const piece *p = list_nth(t->count, counted);

		t->sum = with_piece(t, t->sum, number, p->text, p->where);
	}
	return true;
}

/* Whether there are too many levels for a condition of each. */
static bool
has_many(const pe_sight *s, int attribute)
{
	return pe_sight_has_numbers(s, attribute) && s->declared->attribute[attribute].ordered > PE_MAX_CONDITIONS;
}

/* The same operator with the value of a CASE in its place, under the casts that stand around it. */
static Expr *
with_argument(OpExpr *o, int place, Expr *value)
{
	OpExpr	   *copy = copyObject(o);
	Node	  **at = (Node **) &lfirst(list_nth_cell(copy->args, place));

	while (!IsA(*at, CaseExpr))
		at = IsA(*at, RelabelType) ? (Node **) &((RelabelType *) *at)->arg
			: (Node **) &lfirst(list_head(((FuncExpr *) *at)->args));
	*at = (Node *) value;
	return (Expr *) copy;
}

/*
 * x * CASE WHEN test THEN y ELSE z END is CASE WHEN test THEN x * y ELSE x * z END, and so with + and -; NULL: there is
 * no CASE with tests, or there are two.
 */
static CaseExpr *
distributed(const pe_sight *s, Node *e)
{
	OpExpr	   *o = (OpExpr *) e;
	const char *name = IsA(e, OpExpr) ? pe_names_operator(s->names, o->opno)->name : "";
	CaseExpr   *c = NULL;
	int			place = 0;
	ListCell   *cell;

	if (!IsA(e, OpExpr) || !pe_names_operator(s->names, o->opno)->builtin || strlen(name) != 1 ||
		strchr("*+-/", *name) == NULL)
		return NULL;
	foreach(cell, o->args)
	{
		Node	   *argument = pe_sight_bare(s, lfirst(cell));

		if (!IsA(argument, CaseExpr) || ((CaseExpr *) argument)->arg != NULL)
			continue;
		if (c != NULL)
			return NULL;
		c = copyObject((CaseExpr *) argument);
		place = foreach_current_index(cell);
	}
	if (c == NULL)
		return NULL;
	c->casetype = o->opresulttype;
	foreach(cell, c->args)
		lfirst_node(CaseWhen, cell)->result = with_argument(o, place, lfirst_node(CaseWhen, cell)->result);
	if (c->defresult != NULL)
		c->defresult = with_argument(o, place, c->defresult);
	return c;
}

/* Whether a sum is made of its columns' values, and not of what an expression is on cells.  Dates are subtracted. */
static bool
has_numbers(const pe_sight *s, Node *e)
{
	Bitmapset  *attributes = pe_sight_tested(s, e);
	bool		several = bms_num_members(attributes) > 1;
	int			a = -1;

	while ((a = bms_next_member(attributes, a)) >= 0)
		if (a >= s->declared->attributes
			? ((pe_sight_comparison *) list_nth(s->comparisons, a - s->declared->attributes))->is_length
			: s->declared->attribute[a].numbers || has_many(s, a) ||
			(several && (s->declared->attribute[a].type == DATEOID || pe_sight_has_numbers(s, a))))
			return true;
	return false;
}

/* Whether a sum is of days from a date, or to one, that are too many for a condition of each. */
static bool
has_many_days(const pe_sight *s, int attribute)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];

	return !s->of_cube && a->type == DATEOID && a->bins && a->ordered > PE_MAX_CONDITIONS;
}

/* Whether a cube that has no sum of a column has counts of each of its values. */
static bool
is_counted(const sum_terms *t, int column)
{
	const pe_public_attribute *a = &t->sight->declared->attribute[column];

	if (!bms_is_member(column, t->wanted->within) || bms_is_member(column, t->wanted->summed) || !a->whole ||
		a->ordered > MOST_VALUES)
		return false;
	for (int32 i = 0; i < a->ordered; i++)
		if (!pe_same_value(pe_names_type(t->sight->names, a->type), a->collation, a->low[i], false, a->high[i], false))
			return false;
	return true;
}

static void
add_pieces(sum_terms *t, Node *e, double factor, pe_condition *where)
{
	int			column;
	Bitmapset  *attributes;
	CaseExpr   *cases;
	Node	   *square;
	bool		single;			/* cells of one column */

	e = pe_sight_bare(t->sight, e);
	column = pe_sight_column(t->sight, e);
	attributes = pe_sight_tested(t->sight, e);
	single = bms_num_members(attributes) == 1 && bms_next_member(attributes, -1) < t->sight->declared->attributes;
	if (IsA(e, OpExpr) && has_numbers(t->sight, e))
		pe_formula_check_range(t->sight, e, pe_condition_and(t->sight, (pe_condition *) t->rows, where));
	if (bms_is_empty(attributes))
		add_constant(t, e, factor, where);
	else if (column >= 0 && (t->sight->declared->attribute[column].numbers || has_many(t->sight, column)) &&
			 !is_counted(t, column))
		add_column(t, column, factor, where);
	else if (IsA(e, CaseExpr) && ((CaseExpr *) e)->arg == NULL &&
			 (!single || has_numbers(t->sight, e)))
		add_case(t, (CaseExpr *) e, factor, where);
	else if ((!single || has_numbers(t->sight, e)) && (cases = distributed(t->sight, e)) != NULL)
		add_case(t, cases, factor, where);
	else if (single && has_numbers(t->sight, e) && (cases = chosen(e)) != NULL)
		add_case(t, cases, factor, where);
	else if (!t->sight->of_cube && has_numbers(t->sight, e) && (square = squared(t->sight, e)) != NULL)
		add_pieces(t, square, factor, where);
	else if ((bms_num_members(attributes) > 1 || !t->sight->of_cube) && has_numbers(t->sight, e) &&
			 add_formula(t, e, false, factor, where))
		return;
	else if (IsA(e, OpExpr) && (!single || has_numbers(t->sight, e)) &&
			 (add_multiple(t, (OpExpr *) e, factor, where) || add_negative(t, (OpExpr *) e, factor, where) ||
			  add_offset(t, (OpExpr *) e, factor, where)))
		return;
	else if (!t->sight->of_cube && has_numbers(t->sight, e) && add_formula(t, e, true, factor, where))
		return;
	else if (single && has_many_days(t->sight, bms_singleton_member(attributes)) &&
			 add_formula(t, e, true, factor, where))
		return;
	else if (single)
		add_values(t, e, bms_singleton_member(attributes), factor, where);
	else if (!add_truth(t, e, factor, where))
		pe_refuse_translation("an aggregate of an expression over several columns",
							  "Answered are sums and averages of + - * of numbers with declared bounds, of at most "
							  "three columns multiplied, divided by constants with a point, and CASE with tests "
							  "around them.");
}

/* ------------------------------------------------------------------
 * Aggregates
 * ------------------------------------------------------------------
 */

/* An aggregate that is being translated. */
typedef struct translation
{
	pe_sight   *sight;
	pe_wanted  *wanted;
	const pe_condition *where;
	const Aggref *aggregate;
	const char *name;
	pe_condition *filter;
	pe_target_of_select *target;
} translation;

static Node *
argument(const translation *t, int number)
{
	return (Node *) ((TargetEntry *) list_nth(t->aggregate->args, number))->expr;
}

#define COLLECT "Count the values in a subquery, SELECT x, count(*) ... GROUP BY x, and collect its rows."

/* What is asked in place of an aggregate that is not answered. */
static const char *
cure_of_aggregate(const char *name)
{
	static const char *const cure[][2] = {
		{"bool_or", "Count the rows: count(*) FILTER (WHERE x)."},
		{"bool_and", "Count the rows of the other truth: count(*) FILTER (WHERE NOT x)."},
		{"every", "Count the rows of the other truth: count(*) FILTER (WHERE NOT x)."},
		{"mode", "Count the values: SELECT x, count(*) ... GROUP BY x ORDER BY count(*) DESC LIMIT 1."},
		{"array_agg", COLLECT},
		{"string_agg", COLLECT},
		{"json_agg", COLLECT},
		{"jsonb_agg", COLLECT}
	};

	for (int i = 0; i < lengthof(cure); i++)
		if (strcmp(name, cure[i][0]) == 0)
			return cure[i][1];
	return ANSWERED;
}

static void
refuse_aggregate(const translation *t)
{
	pe_refuse_translation(psprintf("aggregate %s", t->name), cure_of_aggregate(t->name));
}

static void
refuse_number(const translation *t, int number)
{
	pe_refuse_translation(psprintf("aggregate %s of anything but a number with declared bounds", t->name),
						  pe_type_is_number(exprType(argument(t, number)))
						  ? "The owner declares bounds by dp.add_attribute(dataset, attribute, lower, upper, bins)."
						  : "Use a column of numbers.");
}

/* The name of a column that numbers are declared of. */
static const char *
number_argument(const translation *t, int number)
{
	int			column = pe_sight_column(t->sight, argument(t, number));

	if (column < 0)
		pe_refuse_translation(psprintf("aggregate %s of an expression", t->name),
							  "Use the column alone; what is added to it or multiplied can be applied to the answer.");
	if (!pe_sight_has_numbers(t->sight, column))
		refuse_number(t, number);
	return quote_identifier(t->sight->declared->attribute[column].name);
}

/* Whether it is an open column, whose levels are literals of the statement. */
static bool
is_listed(const translation *t, int column)
{
	return column >= 0 && t->sight->declared->attribute[column].listed != NULL;
}

/* What one aggregate of the request returns. */
static void
use(translation *t, char *text, bool is_linear)
{
	if (t->filter->kind == PE_COND_NEVER)
		return;
	t->target->terms = with_term(NIL, 1, want(t->wanted, text, t->sight, t->filter));
	t->target->is_linear = is_linear;
}

static void
use_units(translation *t)
{
	if (t->sight->declared->unit == NULL)
		pe_refuse_translation("count(DISTINCT) of units",
							  "The dataset has no unit: each row is one, and count(*) counts them.");
	use(t, "count(distinct unit)", false);
}

/* An attribute named unit is not the word. */
static const char *
quoted_for_distinct(const char *name)
{
	return strcmp(name, "unit") == 0 ? "\"unit\"" : quote_identifier(name);
}

/* Whether the argument has the values of the column as they are declared. */
static bool
is_of_type(const translation *t, int column)
{
	Node	   *e = argument(t, 0);

	while (IsA(e, RelabelType))
		e = (Node *) ((RelabelType *) e)->arg;
	return IsA(e, Var) &&
		pe_names_type(t->sight->names, exprType(e))->base == t->sight->declared->attribute[column].type;
}

/* Once per session. */
static void
tell_declared(const char *name)
{
	static bool is_told = false;

	if (!is_told)
		pe_notice((errmsg("min(%1$s) and max(%1$s) are of what is declared, not of what occurs",
						  quote_identifier(name)),
				 errdetail("They are free. A quantile is of the rows, with noise, and is charged.")));
	is_told = true;
}

static void
use_declared(translation *t, pe_target_kind kind)
{
	int			column = pe_sight_column(t->sight, argument(t, 0));

	if (column < 0)
	{
		(void) pe_sight_attributes(t->sight, argument(t, 0));	/* which says what is wrong with a column */
		pe_refuse_translation(psprintf("%s of an expression", t->name),
							  "min and max tell what is declared of a column.");
	}
	if (!is_of_type(t, column))
		pe_refuse_translation(psprintf("%s of a column that is cast", t->name), "Cast the result.");
	t->target->kind = kind;
	t->target->is_linear = false;
	t->target->attribute = column;
	t->target->collation = t->aggregate->inputcollid;
	t->target->filter = t->filter;
	tell_declared(t->sight->declared->attribute[column].name);
}

/* Once per session. */
static void
tell_distinct(const char *name)
{
	static bool is_told = false;

	if (!is_told)
		pe_notice((errmsg("count(DISTINCT %s) counts the values that occur, with noise, and is charged",
						quote_identifier(name)),
				 errdetail("In earlier versions it was the number of declared values, which dp.attributes shows, "
						   "free.")));
	is_told = true;
}

/* All values that occur, but those that are too long. */
static void
use_open(translation *t, const pe_public_open *column)
{
	if (pe_open_text_bytes(column) > PE_KEY_MOST)
		pe_notice((errmsg("count(DISTINCT %s) does not count values longer than %d bytes",
						quote_identifier(column->name), PE_KEY_MOST)));
	use(t, psprintf("count(distinct %s)", quoted_for_distinct(column->name)), false);
}

static NullTest *
is_there(Node *x)
{
	NullTest   *test = makeNode(NullTest);

	test->arg = (Expr *) x;
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	return test;
}

/* Values that are not declared are counted in PostgreSQL: a label that an enum was given later, too. */
static void
tell_uncounted(const translation *t, Node *x, int column)
{
	const pe_condition *rows = pe_condition_and(t->sight, (pe_condition *) t->where, t->filter);

	if (pe_condition_leaves(rows, column) == NULL)
		pe_condition_tell_undeclared(t->sight, (Node *) is_there(x), column, "the argument of count");
}

/* Of a column as it is, or a cast that keeps apart what differs. */
static void
use_distinct(translation *t)
{
	int			open = pe_sight_open_column(t->sight, argument(t, 0));
	int			column = pe_sight_column(t->sight, argument(t, 0));

	if (column >= 0)
		tell_uncounted(t, argument(t, 0), column);
	if (open < 0 && column < 0)
	{
		(void) pe_sight_attributes(t->sight, argument(t, 0));	/* which says what is wrong with a column */
		pe_refuse_translation("count(DISTINCT) of an expression",
							  "count(DISTINCT) counts the values of a column. Of an expression, count the rows of each "
							  "value: GROUP BY it.");
	}
	if (t->wanted->apart)
		pe_refuse_translation("count(DISTINCT) over a cube",
							  "A cube has counts and sums. Ask the dataset, by dp.expose of it.");
	if (!pe_names_is_bytewise(t->sight->names, t->aggregate->inputcollid))
		pe_refuse_translation("count(DISTINCT) in a collation that has different texts equal",
							  "Use the collation of the column, or COLLATE \"C\".");
	if (open >= 0)
	{
		use_open(t, &t->sight->declared->open[open]);
		return;
	}
	tell_distinct(t->sight->declared->attribute[column].name);
	use(t, psprintf("count(distinct %s)", quoted_for_distinct(t->sight->declared->attribute[column].name)), false);
}

static void
count_distinct(translation *t)
{
	if (pe_sight_column(t->sight, argument(t, 0)) == PE_COLUMN_UNIT)
		use_units(t);
	else
		use_distinct(t);
}

/* Whether the cells of a cube say in which rows a column has a value; of one that is made, if WHERE needs them. */
static bool
has_cells(const translation *t, int column)
{
	const pe_public_attribute *a = &t->sight->declared->attribute[column];

	return bms_is_member(column, t->wanted->within) &&
		(!t->wanted->proposed || !a->numbers || a->other >= 0 || pe_condition_leaves(t->where, column) != NULL);
}

/* Whether x is CASE WHEN test THEN y END, which has a value where the test is true and y has one. */
static bool
is_filtered(const translation *t, Node *x)
{
	const CaseExpr *c = (const CaseExpr *) x;
	bool		isnull = true;

	if (!IsA(x, CaseExpr) || c->arg != NULL || list_length(c->args) != 1)
		return false;
	if (c->defresult != NULL && !pe_sight_is_constant((Node *) c->defresult))
		return false;
	if (c->defresult != NULL)
		(void) pe_sight_constant(t->sight, (Node *) c->defresult, &isnull);
	return isnull;
}

static void count_where_there(translation *t, Node *x);

static void
count_filtered(translation *t, const CaseExpr *c)
{
	const CaseWhen *when = linitial(c->args);
	pe_condition *rows = pe_condition_and(t->sight, (pe_condition *) t->where, t->filter);

	t->filter = pe_condition_and(t->sight, t->filter,
								 pe_condition_of(t->sight, (Node *) when->expr, PE_IS_TRUE, rows, "a test in CASE"));
	count_where_there(t, (Node *) when->result);
}

/* count(x): rows where x is there. */
static void
count_where_there(translation *t, Node *x)
{
	Bitmapset  *attributes = pe_sight_attributes(t->sight, x);
	int			column = pe_sight_column(t->sight, x);
	char	   *formula;
	char	   *measured;
	double		multiple;
	bool		affine;
	bool		isnull;

	if (bms_is_empty(attributes))
	{
		(void) pe_sight_constant(t->sight, x, &isnull);
		if (!isnull)
			use(t, "count(*)", true);
		return;
	}
	if (bms_num_members(attributes) > 1 && is_filtered(t, x))
		count_filtered(t, (CaseExpr *) x);
	else if (bms_num_members(attributes) > 1 && (formula = pe_formula_of(t->sight, x, &affine)) != NULL)
	{
		measured = measured_formula(t->wanted, formula, &multiple);
		use(t, count_text(t->sight, measured != NULL ? measured : formula, attributes), true);
	}
	else if (column >= 0 && !is_listed(t, column) && !has_cells(t, column))
	{
		tell_uncounted(t, x, column);
		use(t, count_text(t->sight, quote_identifier(t->sight->declared->attribute[column].name), attributes), true);
	}
	else
	{
		pe_condition *rows = pe_condition_and(t->sight, (pe_condition *) t->where, t->filter);

		t->filter = pe_condition_and(t->sight, t->filter,
									 pe_condition_of(t->sight, (Node *) is_there(x), PE_IS_TRUE, rows,
													 "the argument of count"));
		use(t, "count(*)", true);
	}
}

static void
count(translation *t)
{
	if (t->aggregate->args == NIL)
		use(t, "count(*)", true);
	else if (t->aggregate->aggdistinct != NIL)
		count_distinct(t);
	else
		count_where_there(t, argument(t, 0));
}

static sum_terms
pieces_of(translation *t, bool adds)
{
	sum_terms	terms = {t->sight, t->where, t->wanted, adds, NIL, NIL};

	if (pe_sight_column(t->sight, argument(t, 0)) == PE_COLUMN_UNIT)
		(void) pe_sight_attributes(t->sight, argument(t, 0));	/* which refuses it */
	add_pieces(&terms, argument(t, 0), 1, t->filter);
	return terms;
}

static void
sum(translation *t)
{
	sum_terms	terms = pieces_of(t, true);

	t->target->terms = wanted_terms(&terms, terms.sum);
	t->target->is_linear = true;
	t->target->is_empty = terms.count == NIL;
}

static char *
with_where(const pe_sight *s, const piece *p)
{
	char	   *condition = pe_condition_text(s, p->where);

	return condition != NULL ? psprintf("%s where (%s)", p->text, condition) : p->text;
}

/*
 * One sum over one count is a ratio of the request's own, with an error of its
 * own.  A count over itself has no noise: such a ratio would not be measured at
 * all.
 */
static bool
average_is_ratio(const sum_terms *terms)
{
	return list_length(terms->sum) == 1 && list_length(terms->count) == 1 &&
		strcmp(with_where(terms->sight, linitial(terms->sum)), with_where(terms->sight, linitial(terms->count))) != 0;
}

/*
 * An average of a multiple of a column, more or less a number: these are
 * applied to the column's average, whose error is far less than that of a sum
 * divided by a count.
 */
static bool
average_is_of_column(translation *t, const sum_terms *terms)
{
	const piece *count = terms->count != NIL ? linitial(terms->count) : NULL;
	const piece *sum = NULL;
	double		offset = 0;
	ListCell   *cell;

	foreach(cell, terms->sum)
	{
		const piece *p = lfirst(cell);

		if (p->where == count->where && strcmp(p->text, count->text) == 0)
			offset += p->factor;
		else if (sum == NULL && strncmp(p->text, "sum(", 4) == 0)
			sum = p;
		else
			return false;
	}
	if (sum == NULL || list_length(terms->count) != 1)
		return false;
	t->target->is_linear = false;
	t->target->offset = offset;
	t->target->terms = with_term(NIL, sum->factor,
								 want(t->wanted, psprintf("avg(%s", sum->text + 4), t->sight, sum->where));
	return true;
}

static void
average(translation *t)
{
	int			column = pe_sight_column(t->sight, argument(t, 0));
	sum_terms	terms;

	if (column >= 0 && t->sight->declared->attribute[column].numbers &&
		(!bms_is_member(column, t->wanted->within) || bms_is_member(column, t->wanted->summed)))
	{
		use(t, psprintf("avg(%s)", quote_identifier(t->sight->declared->attribute[column].name)), false);
		return;
	}
	terms = pieces_of(t, false);
	t->target->is_empty = terms.count == NIL;
	if (average_is_of_column(t, &terms))
		return;
	if (!t->wanted->apart && average_is_ratio(&terms))
	{
		const piece *p = linitial(terms.sum);
		char	   *text = psprintf("ratio(%s, %s)", with_where(t->sight, p),
									with_where(t->sight, linitial(terms.count)));

		t->target->is_linear = false;
		t->target->terms = with_term(NIL, p->factor, want(t->wanted, text, t->sight, pe_condition_always()));
		return;
	}
	t->target->kind = PE_TARGET_MEAN;
	t->target->is_linear = false;
	t->target->terms = wanted_terms(&terms, terms.sum);
	t->target->divisor = wanted_terms(&terms, terms.count);
}

/* An aggregate of one number or two, by its name in the request: one that is linear counts. */
static void
of_numbers(translation *t)
{
	int			numbers = 0;
	const char *word = pe_aggregate_of_numbers(t->name, &numbers);
	const char *first = number_argument(t, 0);
	char	   *text = numbers == 1 ? psprintf("%s(%s)", word, first)
		: psprintf("%s(%s, %s)", word, first, number_argument(t, 1));

	t->target->counts = pe_aggregate_text_is_linear(text);
	use(t, text, t->target->counts);
}

/* Results that are computed are numbers. */
static void
check_result(const translation *t)
{
	const pe_target_of_select *target = t->target;
	bool		computed = target->kind == PE_TARGET_SUM || target->kind == PE_TARGET_MEAN;

	if (computed && !target->is_empty && !pe_type_is_number(target->type))
		refuse_aggregate(t);
}

static double
checked_fraction(const translation *t, Datum value, bool isnull)
{
	if (isnull || !(DatumGetFloat8(value) > 0) || !(DatumGetFloat8(value) < 1))
		pe_refuse_translation(psprintf("%s of a fraction that is not above 0 and below 1", t->name),
							  "min and max tell the declared bounds.");
	return DatumGetFloat8(value);
}

static Datum
constant_fraction(const translation *t, Node *e, bool *isnull)
{
	if (!pe_sight_is_constant(e))
		pe_refuse_translation(psprintf("%s of a fraction that rows decide", t->name), "Use a constant.");
	return pe_sight_constant(t->sight, e, isnull);
}

static const char *
quantile_argument(const translation *t)
{
	const char *name = number_argument(t, 0);

	if (!t->sight->declared->attribute[pe_sight_column(t->sight, argument(t, 0))].numbers)
		refuse_number(t, 0);
	if (t->sight->of_cube && !t->wanted->proposed)
		pe_refuse_translation("a quantile over a cube",
							  "A cube has counts and sums. Ask the dataset, by dp.expose of it.");
	t->wanted->on_grid |= t->sight->declared->attribute[pe_sight_column(t->sight, argument(t, 0))].ordered == 1;
	return name;
}

static void
use_quantile(translation *t, double fraction)
{
	use(t, psprintf("quantile(%s, %.15g)", quantile_argument(t), fraction), false);
}

/* WITHIN GROUP (ORDER BY x): descending, it is the other end's. */
static void
one_percentile(translation *t, double fraction)
{
	SortGroupClause *order = linitial(t->aggregate->aggorder);
	Oid			family;
	Oid			input;
	pe_ordering_kind kind;
	bool		descends = get_ordering_op_properties(order->sortop, &family, &input, &kind) &&
		(int) kind == BTGreaterStrategyNumber;

	use_quantile(t, descends ? 1 - fraction : fraction);
}

static void
percentiles(translation *t, ArrayType *fractions)
{
	Datum	   *value;
	bool	   *isnull;
	int			count;

	deconstruct_array(fractions, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &value, &isnull, &count);
	t->target->kind = PE_TARGET_ARRAY;
	t->target->is_linear = false;
	t->target->shape = fractions;
	for (int i = 0; i < count; i++)
	{
		translation one = *t;

		if (isnull[i])
			continue;
		one.target = palloc(sizeof(pe_target_of_select));
		*one.target = *t->target;
		one.target->kind = PE_TARGET_SUM;
		one.target->type = get_element_type(t->target->type);
		one.target->elements = NIL;
		one_percentile(&one, checked_fraction(t, value[i], false));
		check_result(&one);
		t->target->elements = lappend(t->target->elements, one.target);
	}
}

static void
percentile(translation *t)
{
	Node	   *direct = linitial(t->aggregate->aggdirectargs);
	bool		isnull;
	Datum		fraction = constant_fraction(t, direct, &isnull);

	if (exprType(direct) == FLOAT8OID)
		one_percentile(t, checked_fraction(t, fraction, isnull));
	else if (!isnull)
		percentiles(t, DatumGetArrayTypeP(fraction));
	else
		t->target->kind = PE_TARGET_ARRAY;
}

static void
median(translation *t)
{
	use(t, psprintf("median(%s)", quantile_argument(t)), false);
}

static void
quantile(translation *t)
{
	bool		isnull;
	Datum		fraction = constant_fraction(t, argument(t, 1), &isnull);

	use_quantile(t, checked_fraction(t, fraction, isnull));
}

/* A cube has the sums, each by itself. */
static void
ratio_of_sums(translation *t)
{
	const char *above = number_argument(t, 0);
	const char *below = number_argument(t, 1);

	t->target->kind = PE_TARGET_MEAN;
	t->target->terms = with_term(NIL, 1, want(t->wanted, psprintf("sum(%s)", above), t->sight, t->filter));
	t->target->divisor = with_term(NIL, 1, want(t->wanted, psprintf("sum(%s)", below), t->sight, t->filter));
}

static void
ratio(translation *t)
{
	char	   *condition = pe_condition_text(t->sight, t->filter);
	char	   *where = condition != NULL ? psprintf(" where (%s)", condition) : "";

	t->target->is_linear = false;
	if (t->filter->kind == PE_COND_NEVER)
		return;
	if (t->wanted->apart)
	{
		ratio_of_sums(t);
		return;
	}
	t->target->terms = with_term(NIL, 1, want(t->wanted,
											  psprintf("ratio(sum(%s)%s, sum(%s)%s)",
													   number_argument(t, 0), where, number_argument(t, 1), where),
											  t->sight, pe_condition_always()));
}

static void
least(translation *t)
{
	use_declared(t, PE_TARGET_LEAST);
}

static void
greatest(translation *t)
{
	use_declared(t, PE_TARGET_GREATEST);
}

typedef struct known_aggregate
{
	const char *name;
	void		(*translate) (translation *t);
	pe_figure	figure;
} known_aggregate;

/* Others are of numbers, and have the same names in a request. */
static const known_aggregate of_postgres[] = {
	{"count", count, PE_ESTIMATE}, {"sum", sum, PE_ESTIMATE}, {"avg", average, PE_ESTIMATE},
	{"percentile_cont", percentile, PE_ESTIMATE}, {"percentile_disc", percentile, PE_ESTIMATE},
	{"min", least, PE_ESTIMATE}, {"max", greatest, PE_ESTIMATE}
};

static const known_aggregate of_statistics = {NULL, of_numbers, PE_ESTIMATE};

static const known_aggregate of_own[] = {
	{"stderr_count", count, PE_STDERR}, {"lower95_count", count, PE_LOWER95}, {"upper95_count", count, PE_UPPER95},
	{"stderr_sum", sum, PE_STDERR}, {"lower95_sum", sum, PE_LOWER95}, {"upper95_sum", sum, PE_UPPER95},
	{"stderr_avg", average, PE_STDERR}, {"lower95_avg", average, PE_LOWER95}, {"upper95_avg", average, PE_UPPER95},
	{"median", median, PE_ESTIMATE}, {"quantile", quantile, PE_ESTIMATE},
	{"people", use_units, PE_ESTIMATE}, {"ratio", ratio, PE_ESTIMATE}
};

static const known_aggregate *
find_known(const known_aggregate *known, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

static const known_aggregate *
find_of_postgres(const char *name)
{
	const known_aggregate *known = find_known(of_postgres, lengthof(of_postgres), name);
	int			numbers;

	return known == NULL && pe_aggregate_of_numbers(name, &numbers) != NULL ? &of_statistics : known;
}

static bool
is_of_own(const pe_named_function *function)
{
	return !function->builtin && function->schema == get_namespace_oid("dp", true);
}

bool
pe_target_counts_distinct(const pe_sight *s, const Aggref *aggregate)
{
	const pe_named_function *function = pe_names_function(s->names, aggregate->aggfnoid);

	return aggregate->aggdistinct != NIL || (is_of_own(function) && strcmp(function->name, "people") == 0);
}

/* Only counts and what is declared can be of distinct values, and only percentiles have an order. */
static void
check_form(const translation *t)
{
	bool		extreme = strcmp(t->name, "min") == 0 || strcmp(t->name, "max") == 0;

	if (t->aggregate->aggdistinct != NIL && strcmp(t->name, "count") != 0 && !extreme)
		pe_refuse_translation(psprintf("%s(DISTINCT ...)", t->name),
							  "A value counts once, however many rows have it: it is no sum over rows. Use "
							  "count(DISTINCT x), or the aggregate of all rows.");
	if (t->aggregate->aggorder != NIL && !AGGKIND_IS_ORDERED_SET(t->aggregate->aggkind) &&
		t->aggregate->aggdistinct == NIL)
		pe_refuse_translation(psprintf("%s(... ORDER BY ...)", t->name), ANSWERED);
}

/* Of an open column these are known: whether it is there, how many values it has, and which literal it is. */
static void
check_open(const translation *t)
{
	ListCell   *cell;

	foreach(cell, t->aggregate->args)
	{
		Node	   *e = (Node *) lfirst_node(TargetEntry, cell)->expr;

		if (pe_sight_open_column(t->sight, e) >= 0 && strcmp(t->name, "count") != 0)
			pe_refuse_translation(psprintf("%s(%s...) of a column whose values nobody has listed", t->name,
										   t->aggregate->aggdistinct != NIL ? "DISTINCT " : ""),
								  "The owner can declare levels or bounds of it, for instance those that dp.keys or "
								  "dp.bounds has found.");
	}
}

pe_target_of_select *
pe_target_of_aggregate(pe_sight *s, const pe_condition *where, pe_condition *rows, const Aggref *aggregate,
					   pe_wanted *wanted)
{
	const pe_named_function *function = pe_names_function(s->names, aggregate->aggfnoid);
	translation t = {s, wanted, where, aggregate, function->name,
					 rows, palloc0(sizeof(pe_target_of_select))};
	const known_aggregate *known = function->builtin ? find_of_postgres(t.name)
		: is_of_own(function) ? find_known(of_own, lengthof(of_own), t.name) : NULL;

	if (known == NULL)
		refuse_aggregate(&t);
	check_form(&t);
	if (aggregate->aggfilter != NULL)
		t.filter = pe_condition_and(s, rows, pe_condition_of(s, (Node *) aggregate->aggfilter, PE_IS_TRUE,
															 pe_condition_and(s, (pe_condition *) where, rows),
															 "a test in FILTER"));
	if (!is_possible(s, where, t.filter))
		t.filter = pe_condition_never();
	t.target->kind = PE_TARGET_SUM;
	t.target->is_linear = true;
	t.target->figure = known->figure;
	t.target->counts = known->translate == count;
	t.target->is_empty = t.filter->kind == PE_COND_NEVER;
	t.target->type = aggregate->aggtype;
	t.target->typmod = -1;
	check_open(&t);
	known->translate(&t);
	check_result(&t);
	return t.target;
}

/* The transition function of our aggregates, which the wrapper recognises by their names and never calls. */
PG_FUNCTION_INFO_V1(pe_sql_of_dataset);

Datum
pe_sql_of_dataset(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("this aggregate is for SELECTs on a dataset"),
			 errdetail("It is not computed from rows."),
			 errhint("Use it on a relation that dp.expose made, in a SELECT over it alone.")));
}

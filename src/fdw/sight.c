/*
 * sight.c
 *	  Expressions of SQL, evaluated on public cells.  See sight.h.
 *
 * A wrong verdict about a cut gives a wrong answer and never a leak: no row is read here.
 */
#include "postgres.h"

#include <math.h>

#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/formatting.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "fdw/options.h"
#include "fdw/sight.h"
#include "server/compat.h"
#include "server/settings.h"
#include "server/values.h"

/* The most values of a bin that are tried one by one. */
#define MOST_VALUES 1000

/* The most combinations of cells that an expression of several columns is evaluated on. */
#define MOST_COMBINATIONS 65536

void
pe_refuse_translation(const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s is not answered from a dataset", what),
			 errdetail("Nothing was charged."),
			 errhint("%s", hint)));
}

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

static int
attribute_of_name(const pe_public_dataset *declared, const char *name)
{
	for (int i = 0; i < declared->attributes; i++)
		if (strcmp(declared->attribute[i].name, name) == 0)
			return i;
	return declared->unit != NULL && strcmp(declared->unit, name) == 0 ? PE_COLUMN_UNIT : PE_COLUMN_UNKNOWN;
}

/* The name of the attribute that a column stands for. */
static const char *
name_of_column(Oid relation, Form_pg_attribute column)
{
	const char *name = pe_fdw_attribute(relation, column->attnum);

	return name != NULL ? name : NameStr(column->attname);
}

static void
check_type(const pe_sight *s, int attribute, Form_pg_attribute column)
{
	Oid			declared = attribute == PE_COLUMN_UNIT ? s->declared->unit_type : s->declared->attribute[attribute].type;

	if (attribute != PE_COLUMN_UNKNOWN && getBaseType(column->atttypid) != declared)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" has type %s, and attribute of dataset \"%s\" has type %s",
						NameStr(column->attname), format_type_be(column->atttypid), s->dataset, format_type_be(declared)),
				 errhint("Make the foreign table anew, by dp.expose or IMPORT FOREIGN SCHEMA.")));
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The attributes that expressions look at by their columns' names, each once, in one order however they are written. */
static char **
names_of(Relation rel, List *expressions, int *count)
{
	List	   *vars = pull_var_clause((Node *) expressions, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	char	  **name = palloc((list_length(vars) + 1) * sizeof(char *));
	ListCell   *cell;
	int			kept = 0;

	*count = 0;
	foreach(cell, vars)
		if (lfirst_node(Var, cell)->varattno > 0)
			name[(*count)++] = pstrdup(name_of_column(RelationGetRelid(rel), TupleDescAttr(RelationGetDescr(rel), lfirst_node(Var, cell)->varattno - 1)));
	qsort(name, *count, sizeof(char *), compare_names);
	for (int i = 0; i < *count; i++)
		if (i == 0 || strcmp(name[i], name[kept - 1]) != 0)
			name[kept++] = name[i];
	*count = kept;
	return name;
}

pe_sight *
pe_sight_open(EState *estate, Oid relation, const char *dataset, List *expressions)
{
	pe_sight   *s = palloc0(sizeof(*s));
	Relation	rel = table_open(relation, AccessShareLock);
	int			count;
	char	  **names = names_of(rel, expressions, &count);

	s->dataset = dataset;
	s->declared = pe_public_load(dataset, names, count);
	s->columns = CreateTupleDescCopy(RelationGetDescr(rel));
	s->attribute_of = palloc(Max(s->columns->natts, 1) * sizeof(int));
	for (int i = 0; i < s->columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(s->columns, i);

		s->attribute_of[i] = column->attisdropped ? PE_COLUMN_UNKNOWN : attribute_of_name(s->declared, name_of_column(relation, column));
		check_type(s, s->attribute_of[i], column);
	}
	table_close(rel, NoLock);
	s->low = MakeSingleTupleTableSlot(s->columns, &TTSOpsVirtual);
	s->high = MakeSingleTupleTableSlot(s->columns, &TTSOpsVirtual);
	s->estate = estate;
	s->econtext = CreateExprContext(estate);
	s->middle = pe_cut_bins == PE_CUT_MIDDLE;
	return s;
}

Bitmapset *
pe_sight_attributes(const pe_sight *s, Node *expression)
{
	List	   *vars = pull_var_clause(expression, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	Bitmapset  *found = NULL;
	ListCell   *cell;

	foreach(cell, vars)
	{
		const Var  *var = lfirst_node(Var, cell);
		int			a = var->varattno > 0 ? s->attribute_of[var->varattno - 1] : PE_COLUMN_UNKNOWN;
		const char *name = var->varattno > 0 ? NameStr(TupleDescAttr(s->columns, var->varattno - 1)->attname) : "a system column";

		if (a == PE_COLUMN_UNIT)
			pe_refuse_translation(psprintf("column \"%s\", the unit of privacy,", name),
								  psprintf("It may stand in count(DISTINCT %s) alone.", quote_identifier(name)));
		if (a == PE_COLUMN_UNKNOWN)
			pe_refuse_translation(var->varattno == 0 ? "a whole row" : psprintf("column \"%s\"", name),
								  psprintf("The attributes of dataset \"%s\" are in dp.attributes.", s->dataset));
		found = bms_add_member(found, a);
	}
	return found;
}

static bool
is_builtin(Oid function)
{
	return get_func_namespace(function) == PG_CATALOG_NAMESPACE;
}

static bool
is_one_of(const char *name, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool
is_lossless(Oid function)
{
	static const char *const names[] = {"int4", "int8", "numeric", "float8"};

	return is_builtin(function) && is_one_of(get_func_name(function), names, lengthof(names));
}

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Whether a cast to a wider type: each value stays what it is. */
static bool
widens(const FuncExpr *function)
{
	Oid			from;

	if (list_length(function->args) != 1 || !is_lossless(function->funcid))
		return false;
	from = exprType(linitial(function->args));
	if (is_integer(from))
		return !is_integer(function->funcresulttype) || get_typlen(function->funcresulttype) >= get_typlen(from);
	return function->funcresulttype == FLOAT8OID && (from == FLOAT4OID || from == NUMERICOID);
}

Node *
pe_sight_bare(Node *e)
{
	for (;;)
	{
		if (IsA(e, RelabelType))
			e = (Node *) ((RelabelType *) e)->arg;
		else if (IsA(e, FuncExpr) && widens((FuncExpr *) e))
			e = linitial(((FuncExpr *) e)->args);
		else
			return e;
	}
}

int
pe_sight_column(const pe_sight *s, Node *e)
{
	e = pe_sight_bare(e);
	if (!IsA(e, Var) || ((Var *) e)->varattno <= 0)
		return PE_COLUMN_UNKNOWN;
	return s->attribute_of[((Var *) e)->varattno - 1];
}

/* ------------------------------------------------------------------
 * Evaluation
 * ------------------------------------------------------------------
 */

typedef struct known_state
{
	Node	   *expression;
	ExprState  *state;
} known_state;

static ExprState *
state_of(pe_sight *s, Node *expression)
{
	known_state *made;
	ListCell   *cell;
	MemoryContext old;

	foreach(cell, s->states)
		if (((known_state *) lfirst(cell))->expression == expression)
			return ((known_state *) lfirst(cell))->state;
	old = MemoryContextSwitchTo(GetMemoryChunkContext(s));
	made = palloc(sizeof(*made));
	made->expression = expression;
	made->state = ExecInitExprWithParams((Expr *) expression, s->estate->es_param_list_info);
	s->states = lappend(s->states, made);
	MemoryContextSwitchTo(old);
	return made->state;
}

/* On the row of a slot; the value lives until the next cell. */
static Datum
evaluate(pe_sight *s, Node *expression, TupleTableSlot *slot, bool *isnull)
{
	s->econtext->ecxt_scantuple = slot;
	return ExecEvalExprSwitchContext(state_of(s, expression), s->econtext, isnull);
}

/* The value that CASE x WHEN compares with stands for x. */
static bool
has_case_value(Node *node, void *context)
{
	if (node == NULL)
		return false;
	return IsA(node, CaseTestExpr) || expression_tree_walker(node, has_case_value, context);
}

bool
pe_sight_is_constant(Node *expression)
{
	return !contain_var_clause(expression) && !has_case_value(expression, NULL);
}

static void
clear(pe_sight *s, TupleTableSlot *slot)
{
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, s->columns->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
}

Datum
pe_sight_constant(pe_sight *s, Node *expression, bool *isnull)
{
	Datum		value;

	clear(s, s->low);
	value = evaluate(s, expression, s->low, isnull);
	return *isnull ? value : datumCopy(value, get_typbyval(exprType(expression)), get_typlen(exprType(expression)));
}

static Oid
collation_of(Oid type)
{
	return OidIsValid(get_typcollation(type)) ? C_COLLATION_OID : InvalidOid;
}

bool
pe_same_value(Oid type, Datum one, bool one_null, Datum other, bool other_null)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_EQ_OPR_FINFO);

	if (one_null || other_null)
		return one_null && other_null;
	if (!OidIsValid(entry->eq_opr))
		return datum_image_eq(one, other, entry->typbyval, entry->typlen);
	return DatumGetBool(FunctionCall2Coll(&entry->eq_opr_finfo, collation_of(type), one, other));
}

uint32
pe_hash_value(Oid type, Datum value, bool isnull)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_HASH_PROC_FINFO);

	if (isnull || !OidIsValid(entry->hash_proc))
		return isnull;
	return DatumGetUInt32(FunctionCall1Coll(&entry->hash_proc_finfo, collation_of(type), value));
}

char *
pe_value_text(Oid type, Datum value, bool isnull)
{
	Oid			output;
	bool		varlena;

	if (isnull)
		return pstrdup("NULL");
	getTypeOutputInfo(type, &output, &varlena);
	return OidOutputFunctionCall(output, value);
}

/* ------------------------------------------------------------------
 * Whether an expression is steady on a bin
 * ------------------------------------------------------------------
 */

static Datum *
elements(Oid type, Datum array, bool **nulls, int *count)
{
	Datum	   *element;
	int16		length;
	bool		by_value;
	char		alignment;

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(DatumGetArrayTypeP(array), type, length, by_value, alignment, &element, nulls, count);
	return element;
}

/* The arguments that look at a column; the last of them in *varying. */
static int
varying_arguments(List *arguments, Node **varying)
{
	int			count = 0;
	ListCell   *cell;

	foreach(cell, arguments)
		if (!pe_sight_is_constant(lfirst(cell)))
		{
			*varying = lfirst(cell);
			count++;
		}
	return count;
}

static bool is_monotone(Node *e);

/* extract(epoch from x) and the like: a time as one number. */
static bool
is_monotone_field(const FuncExpr *f)
{
	static const char *const functions[] = {"extract", "date_part"};
	static const char *const fields[] = {"epoch", "julian", "year", "isoyear", "decade", "century", "millennium"};
	const Const *field;

	if (list_length(f->args) != 2 || !is_one_of(get_func_name(f->funcid), functions, lengthof(functions)))
		return false;
	field = linitial(f->args);
	return IsA(field, Const) && !field->constisnull && is_one_of(TextDatumGetCString(field->constvalue), fields, lengthof(fields));
}

/* Which argument such a function follows; -1: it is none. */
static int
followed_argument(const FuncExpr *f)
{
	static const char *const first[] = {
		"floor", "ceil", "ceiling", "trunc", "round", "int2", "int4", "int8", "numeric", "float4", "float8",
		"date", "timestamp", "timestamptz", "width_bucket", "sign", "sqrt"
	};
	static const char *const second[] = {"date_trunc", "date_bin", "timezone"};
	const char *name = get_func_name(f->funcid);

	if (!is_builtin(f->funcid))
		return -1;
	if (is_one_of(name, second, lengthof(second)) || is_monotone_field(f))
		return 1;
	return is_one_of(name, first, lengthof(first)) ? 0 : -1;
}

static bool
is_monotone_function(const FuncExpr *f)
{
	int			followed = followed_argument(f);
	Node	   *varying = NULL;

	return followed >= 0 && followed < list_length(f->args) && varying_arguments(f->args, &varying) == 1 &&
		varying == list_nth(f->args, followed) && is_monotone(varying);
}

static bool
is_monotone_operator(const OpExpr *o)
{
	static const char *const names[] = {"+", "-", "*"};
	const char *name = get_opname(o->opno);
	Node	   *varying = NULL;

	if (name == NULL || !is_builtin(get_opcode(o->opno)) || varying_arguments(o->args, &varying) != 1 || !is_monotone(varying))
		return false;
	if (strcmp(name, "/") == 0)
		return varying == linitial(o->args);
	return is_one_of(name, names, lengthof(names));
}

/* Whether it follows one column up or down all the way. */
static bool
is_monotone(Node *e)
{
	switch (nodeTag(e))
	{
		case T_Var:
			return true;
		case T_RelabelType:
			return is_monotone((Node *) ((RelabelType *) e)->arg);
		case T_CoerceToDomain:
			return is_monotone((Node *) ((CoerceToDomain *) e)->arg);
		case T_FuncExpr:
			return is_monotone_function((FuncExpr *) e);
		case T_OpExpr:
			return is_monotone_operator((OpExpr *) e);
		default:
			return false;
	}
}

/* The same at both ends. */
static bool
agrees(pe_sight *s, Node *e)
{
	bool		low_null;
	bool		high_null;
	Datum		low = evaluate(s, e, s->low, &low_null);
	Datum		high = evaluate(s, e, s->high, &high_null);

	return pe_same_value(exprType(e), low, low_null, high, high_null);
}

/* A comparison of a B-tree with a constant. */
typedef struct comparison
{
	Oid			procedure;
	Oid			collation;
	Node	   *varying;
	bool		varying_first;
	Datum		constant;
} comparison;

/* The order on a row; 0 and *unknown where the value is NULL. */
static int
compare(pe_sight *s, const comparison *c, TupleTableSlot *slot, bool *unknown)
{
	bool		isnull;
	Datum		value = evaluate(s, c->varying, slot, &isnull);

	*unknown |= isnull;
	if (isnull)
		return 0;
	return DatumGetInt32(OidFunctionCall2Coll(c->procedure, c->collation, c->varying_first ? value : c->constant, c->varying_first ? c->constant : value));
}

/* Equality with a constant that is on one side of the whole bin, or all of it. */
static bool
is_apart(pe_sight *s, const comparison *c)
{
	bool		low_null = false;
	bool		high_null = false;
	int			low;
	int			high;

	if (!OidIsValid(c->procedure))
		return false;
	low = compare(s, c, s->low, &low_null);
	high = compare(s, c, s->high, &high_null);
	if (low_null || high_null)
		return low_null && high_null;
	return (low < 0 && high < 0) || (low > 0 && high > 0) || (low == 0 && high == 0);
}

static Oid
procedure_of(const pe_comparison_meaning *meaning)
{
	return get_opfamily_proc(meaning->opfamily_id, meaning->oplefttype, meaning->oprighttype, BTORDER_PROC);
}

static bool
is_steady_comparison(pe_sight *s, OpExpr *o, bool *answered)
{
	List	   *meanings = pe_comparison_meanings(o->opno);
	Node	   *varying = NULL;
	const pe_comparison_meaning *b;
	comparison	c = {.collation = o->inputcollid};
	bool		isnull;

	*answered = meanings != NIL && list_length(o->args) == 2 && varying_arguments(o->args, &varying) == 1 && is_monotone(varying);
	if (!*answered)
		return false;
	b = linitial(meanings);
	if (pe_comparison_kind(b) != BTEqualStrategyNumber && pe_comparison_kind(b) != PE_COMPARISON_NE)
		return agrees(s, (Node *) o);
	c.procedure = procedure_of(b);
	c.varying = varying;
	c.varying_first = varying == linitial(o->args);
	c.constant = evaluate(s, c.varying_first ? lsecond(o->args) : linitial(o->args), s->low, &isnull);
	return isnull || is_apart(s, &c);
}

/* IN: each element by itself. */
static bool
is_steady_list(pe_sight *s, ScalarArrayOpExpr *o, bool *answered)
{
	List	   *meanings = pe_comparison_meanings(o->opno);
	Node	   *array = lsecond(o->args);
	Oid			type = get_element_type(exprType(array));
	comparison	c = {.collation = o->inputcollid, .varying = linitial(o->args), .varying_first = true};
	bool		isnull;
	Datum		value;
	Datum	   *element;
	bool	   *nulls;
	int			count;

	*answered = meanings != NIL && OidIsValid(type) && is_monotone(c.varying) && pe_sight_is_constant(array);
	if (!*answered)
		return false;
	value = evaluate(s, array, s->low, &isnull);
	if (isnull)
		return true;
	c.procedure = procedure_of(linitial(meanings));
	element = elements(type, value, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		c.constant = element[i];
		if (!nulls[i] && !is_apart(s, &c))
			return false;
	}
	return true;
}

/* What a field of a time is constant within; NULL: nothing that is looked at. */
static const char *
grain_of_field(const char *field)
{
	static const char *const grain[][2] = {
		{"hour", "hour"}, {"day", "day"}, {"dow", "day"}, {"isodow", "day"}, {"doy", "day"}, {"week", "week"}, {"isoyear", "week"},
		{"month", "month"}, {"quarter", "quarter"}, {"year", "year"}, {"decade", "year"}, {"century", "year"}, {"millennium", "year"}
	};

	for (int i = 0; i < lengthof(grain); i++)
		if (pg_strcasecmp(field, grain[i][0]) == 0)
			return grain[i][1];
	return NULL;
}

/* The same of a format of to_char. */
static const char *
grain_of_format(const char *format)
{
	static const char *const fine[] = {"MI", "SS", "MS", "US", "FF"};
	static const char *const hours[] = {"HH", "AM", "PM", "A.M", "P.M", "TZ", "OF"};
	char	   *upper = str_toupper(format, strlen(format), C_COLLATION_OID);

	for (int i = 0; i < lengthof(fine); i++)
		if (strstr(upper, fine[i]) != NULL)
			return NULL;
	for (int i = 0; i < lengthof(hours); i++)
		if (strstr(upper, hours[i]) != NULL)
			return "hour";
	return "day";
}

static Datum
truncated(const char *grain, Oid type, Datum time)
{
	Datum		unit = CStringGetTextDatum(grain);

	if (type == TIMESTAMPTZOID)
		return DirectFunctionCall2(timestamptz_trunc, unit, time);
	if (type == DATEOID)
		time = DirectFunctionCall1(date_timestamp, time);
	return DirectFunctionCall2(timestamp_trunc, unit, time);
}

/* extract, date_part and to_char of a time: constant where the time, cut down to their grain, is. */
static bool
is_steady_in_time(pe_sight *s, const FuncExpr *f, bool *answered)
{
	const char *name = get_func_name(f->funcid);
	bool		is_field = strcmp(name, "extract") == 0 || strcmp(name, "date_part") == 0;
	bool		is_format = strcmp(name, "to_char") == 0;
	Node	   *time;
	Node	   *how;
	Oid			type;
	bool		low_null;
	bool		high_null;
	Datum		low;
	Datum		high;
	const char *grain;

	*answered = false;
	if (!is_builtin(f->funcid) || (!is_field && !is_format) || list_length(f->args) != 2)
		return false;
	time = is_field ? lsecond(f->args) : linitial(f->args);
	how = is_field ? linitial(f->args) : lsecond(f->args);
	type = exprType(time);
	if (!pe_type_is_time(type) || !is_monotone(time) || !pe_sight_is_constant(how))
		return false;
	low = evaluate(s, how, s->low, &low_null);
	if (low_null)
		return false;
	grain = is_field ? grain_of_field(TextDatumGetCString(low)) : grain_of_format(TextDatumGetCString(low));
	if (grain == NULL)
		return false;
	*answered = true;
	low = evaluate(s, time, s->low, &low_null);
	high = evaluate(s, time, s->high, &high_null);
	return !low_null && !high_null && DatumGetTimestamp(truncated(grain, type, low)) == DatumGetTimestamp(truncated(grain, type, high));
}

static bool is_steady(pe_sight *s, Node *e);

static bool
child_is_not_steady(Node *child, void *sight)
{
	ListCell   *cell;

	if (child == NULL)
		return false;
	if (IsA(child, List))
	{
		foreach(cell, (List *) child)
			if (child_is_not_steady(lfirst(cell), sight))
				return true;
		return false;
	}
	if (IsA(child, CaseWhen))
		return expression_tree_walker(child, child_is_not_steady, sight);
	return !is_steady(sight, child);
}

/* AND is false where one of them is, and OR true; else all must be steady. */
static bool
is_steady_join(pe_sight *s, const BoolExpr *b)
{
	bool		all = true;
	ListCell   *cell;

	foreach(cell, b->args)
	{
		bool		steady = is_steady(s, lfirst(cell));
		bool		isnull;
		Datum		value;

		if (steady && b->boolop != NOT_EXPR)
		{
			value = evaluate(s, lfirst(cell), s->low, &isnull);
			if (!isnull && DatumGetBool(value) == (b->boolop == OR_EXPR))
				return true;
		}
		all = all && steady;
	}
	return all;
}

/* The branch that is taken at both ends, and the tests before it. */
static bool
is_steady_case(pe_sight *s, const CaseExpr *c)
{
	ListCell   *cell;

	if (c->arg != NULL)
		return !expression_tree_walker((Node *) c, child_is_not_steady, s);
	foreach(cell, c->args)
	{
		CaseWhen   *when = lfirst(cell);
		bool		isnull;
		bool		taken = DatumGetBool(evaluate(s, (Node *) when->expr, s->low, &isnull));

		if (!is_steady(s, (Node *) when->expr))
			return false;
		if (taken && !isnull)
			return is_steady(s, (Node *) when->result);
	}
	return c->defresult == NULL || is_steady(s, (Node *) c->defresult);
}

/* Whether an expression has one value from the low row to the high one. */
static bool
is_steady(pe_sight *s, Node *e)
{
	bool		answered = false;
	bool		steady = false;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (pe_sight_is_constant(e))
		return true;
	if (is_monotone(e))
		return agrees(s, e);
	if (IsA(e, OpExpr))
		steady = is_steady_comparison(s, (OpExpr *) e, &answered);
	else if (IsA(e, ScalarArrayOpExpr))
		steady = is_steady_list(s, (ScalarArrayOpExpr *) e, &answered);
	else if (IsA(e, FuncExpr))
		steady = is_steady_in_time(s, (FuncExpr *) e, &answered);
	else if (IsA(e, BoolExpr))
		return is_steady_join(s, (BoolExpr *) e);
	else if (IsA(e, CaseExpr))
		return is_steady_case(s, (CaseExpr *) e);
	else if (IsA(e, NullTest) && is_monotone((Node *) ((NullTest *) e)->arg))
		return true;			/* a bin has values; but nullif(x, 20) is NULL at one of them */
	return answered ? steady : !expression_tree_walker(e, child_is_not_steady, s);
}

/* ------------------------------------------------------------------
 * Values beside the levels
 * ------------------------------------------------------------------
 */

static bool
is_text(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BPCHAROID;
}

/* Greater than all levels. */
static Datum
number_outside(const pe_public_attribute *a, bool *isnull)
{
	Datum		one = DirectFunctionCall1(int4_numeric, Int32GetDatum(1));
	Datum		most = a->low[0];

	*isnull = a->type != NUMERICOID;
	if (*isnull)
		return (Datum) 0;
	for (int32 i = 1; i < a->ordered; i++)
		most = DirectFunctionCall2(numeric_larger, most, a->low[i]);
	return DirectFunctionCall2(numeric_add, most, one);
}

static Datum
float_outside(const pe_public_attribute *a)
{
	bool		is_float4 = a->type == FLOAT4OID;
	double		most = -INFINITY;

	for (int32 i = 0; i < a->ordered; i++)
		most = fmax(most, is_float4 ? DatumGetFloat4(a->low[i]) : DatumGetFloat8(a->low[i]));
	return is_float4 ? Float4GetDatum(nextafterf((float4) most, INFINITY)) : Float8GetDatum(nextafter(most, INFINITY));
}

/* Something that is none of the levels; NULL where nothing is at hand. */
static Datum
outside_value(const pe_public_attribute *a, bool *isnull)
{
	int64		most = 0;

	*isnull = !is_text(a->type) && !(a->whole && !a->bins);
	if (*isnull)
		return (Datum) 0;
	if (is_text(a->type))
		return CStringGetTextDatum("(other)");
	for (int32 i = 0; i < a->ordered; i++)
		most = i == 0 ? pe_point_of_datum(a->type, a->low[i]).i : Max(most, pe_point_of_datum(a->type, a->low[i]).i);
	return pe_datum_of_int(a->type, most + 1);
}

static bool
is_level(const pe_public_attribute *a, Oid type, Datum value, bool isnull)
{
	if (isnull || a->bins || (type != a->type && !(is_text(type) && is_text(a->type))))
		return false;
	for (int32 i = 0; i < a->ordered; i++)
		if (pe_same_value(type, a->low[i], false, value, false))
			return true;
	return false;
}

/*
 * What stands for values outside where an expression does not tell them apart: of bins any value, for only whether it is NULL
 * is asked then; of levels one that equals none of them.
 */
static Datum
stand_in(const pe_public_attribute *a, bool *isnull)
{
	*isnull = false;
	if (a->bins)
		return a->edge[0];
	if (a->type == FLOAT4OID || a->type == FLOAT8OID)
		return float_outside(a);
	return a->type == NUMERICOID ? number_outside(a, isnull) : outside_value(a, isnull);
}

/* Where a test compares the column with levels alone, values that are none of them are all the same to it. */
static bool
compares_levels(pe_sight *s, const pe_public_attribute *a, Oid operator, List *arguments)
{
	List	   *meanings = pe_comparison_meanings(operator);
	Node	   *value = NULL;
	ListCell   *cell;
	bool		isnull;
	Datum		constant;
	Datum	   *element;
	bool	   *nulls;
	int			count;
	Oid			type;

	foreach(cell, arguments)
		if (pe_sight_is_constant(lfirst(cell)))
			value = lfirst(cell);
		else if (!IsA(pe_sight_bare(lfirst(cell)), Var))
			return false;
	if (meanings == NIL || value == NULL)
		return false;
	count = pe_comparison_kind((pe_comparison_meaning *) linitial(meanings));
	if (count != BTEqualStrategyNumber && count != PE_COMPARISON_NE)
		return false;
	constant = evaluate(s, value, s->low, &isnull);
	type = get_element_type(exprType(value));
	if (!OidIsValid(type))
		return is_level(a, exprType(value), constant, isnull);
	if (isnull)
		return true;
	element = elements(type, constant, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (!is_level(a, type, element[i], nulls[i]))
			return false;
	return true;
}

typedef struct outside_walk
{
	pe_sight   *sight;
	int			number;
	const pe_public_attribute *attribute;
} outside_walk;

/* Whether an expression could tell values outside apart. */
static bool
tells_outside(Node *e, void *argument)
{
	outside_walk *walk = argument;

	if (e == NULL || pe_sight_is_constant(e))
		return false;
	if (IsA(e, NullTest) && IsA(pe_sight_bare((Node *) ((NullTest *) e)->arg), Var))
		return false;
	if (IsA(e, OpExpr) && compares_levels(walk->sight, walk->attribute, ((OpExpr *) e)->opno, ((OpExpr *) e)->args))
		return false;
	if (IsA(e, ScalarArrayOpExpr) && compares_levels(walk->sight, walk->attribute, ((ScalarArrayOpExpr *) e)->opno, ((ScalarArrayOpExpr *) e)->args))
		return false;
	if (IsA(e, Var))
		return pe_sight_column(walk->sight, e) == walk->number;
	return expression_tree_walker(e, tells_outside, argument);
}

bool
pe_sight_tells_outside(pe_sight *s, Node *e, int attribute)
{
	outside_walk walk = {s, attribute, &s->declared->attribute[attribute]};

	return walk.attribute->other >= 0 && !IsA(pe_sight_bare(e), Var) && tells_outside(e, &walk);
}

/* ------------------------------------------------------------------
 * All cells
 * ------------------------------------------------------------------
 */

typedef enum end
{
	LOW, HIGH, MIDDLE
} end;

static void
put_value(pe_sight *s, TupleTableSlot *slot, int attribute, Datum value, bool isnull)
{
	for (int i = 0; i < s->columns->natts; i++)
		if (s->attribute_of[i] == attribute)
		{
			slot->tts_values[i] = value;
			slot->tts_isnull[i] = isnull;
		}
}

/* Puts an attribute's cell into the columns of a row that stand for it. */
static void
put_cell(pe_sight *s, TupleTableSlot *slot, int attribute, int32 cell, end which)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	bool		isnull = cell >= a->ordered;
	Datum		value = (Datum) 0;

	if (cell == a->other)
		value = outside_value(a, &isnull);
	else if (!isnull)
		value = which == LOW ? a->low[cell] : which == HIGH ? a->high[cell] : pe_public_middle(a, cell);
	put_value(s, slot, attribute, value, isnull);
}

static int64
values_of_bin(const pe_public_attribute *a, int32 cell)
{
	int64		width;

	if (!a->whole || cell >= a->ordered)
		return PG_INT64_MAX;
	if (pg_sub_s64_overflow(pe_point_of_datum(a->type, a->high[cell]).i, pe_point_of_datum(a->type, a->low[cell]).i, &width))
		return PG_INT64_MAX;
	return width < PG_INT64_MAX ? width + 1 : width;
}

/* One value after the other, where there are not many. */
static bool
is_steady_by_trial(pe_sight *s, Node *e, int attribute, int32 cell)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	int64		first;
	int64		count = values_of_bin(a, cell);

	if (count > MOST_VALUES)
		return false;
	first = pe_point_of_datum(a->type, a->low[cell]).i;
	for (int64 v = 1; v < count; v++)
	{
		for (int i = 0; i < s->columns->natts; i++)
			if (s->attribute_of[i] == attribute)
				s->high->tts_values[i] = pe_datum_of_int(a->type, first + v);
		if (!agrees(s, e))
			return false;
	}
	return true;
}

static bool
is_cut(pe_sight *s, Node *e, int attribute, int32 cell)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];

	if (cell == a->null)
		return false;
	if (cell == a->other)
		return pe_sight_tells_outside(s, e, attribute);
	if (!a->bins || IsA(pe_sight_bare(e), Var))
		return false;			/* the column itself shows the low edge */
	return !is_steady(s, e) && !is_steady_by_trial(s, e, attribute, cell);
}

static pe_values *
make_values(Node *e, int64 count)
{
	pe_values  *v = palloc(sizeof(*v));

	v->type = exprType(e);
	v->value = palloc0(count * sizeof(Datum));
	v->isnull = palloc0(count * sizeof(bool));
	v->cut = palloc0(count * sizeof(bool));
	return v;
}

/* A value that outlives the cell. */
static void
keep(pe_values *v, int64 i, pe_sight *s, Node *e)
{
	Datum		value = evaluate(s, e, s->low, &v->isnull[i]);

	if (!v->isnull[i])
		v->value[i] = datumCopy(value, get_typbyval(v->type), get_typlen(v->type));
}

/* Values outside that an expression does not tell apart: the column alone shows NULL where its type has no name for them. */
static void
put_outside(pe_sight *s, Node *e, int attribute)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	bool		isnull;
	Datum		value;

	if (IsA(pe_sight_bare(e), Var) || pe_sight_tells_outside(s, e, attribute))
		return;
	value = stand_in(a, &isnull);
	put_value(s, s->low, attribute, value, isnull);
	put_value(s, s->high, attribute, value, isnull);
}

/* The column alone: a value outside the levels of a type that has no name for it is NULL. */
static void
put_both(pe_sight *s, Node *e, int attribute, int32 cell)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];

	put_cell(s, s->low, attribute, cell, LOW);
	put_cell(s, s->high, attribute, cell, HIGH);
	if (cell == a->other && !is_text(a->type) && IsA(pe_sight_bare(e), Var))
		put_cell(s, s->low, attribute, a->cells, LOW);
	else if (cell == a->other)
		put_outside(s, e, attribute);
}

pe_values *
pe_sight_values(pe_sight *s, Node *e, int attribute)
{
	int32		cells = s->declared->attribute[attribute].cells;
	pe_values  *v = make_values(e, cells);

	clear(s, s->low);
	clear(s, s->high);
	for (int32 cell = 0; cell < cells; cell++)
	{
		put_both(s, e, attribute, cell);
		v->cut[cell] = is_cut(s, e, attribute, cell);
		if (v->cut[cell] && cell < s->declared->attribute[attribute].ordered)
			put_cell(s, s->low, attribute, cell, MIDDLE);
		keep(v, cell, s, e);
		ResetExprContext(s->econtext);
		CHECK_FOR_INTERRUPTS();
	}
	return v;
}

Datum
pe_sight_of_null(pe_sight *s, Node *e, int attribute, bool *isnull)
{
	Datum		value;

	clear(s, s->low);
	put_value(s, s->low, attribute, (Datum) 0, true);
	value = evaluate(s, e, s->low, isnull);
	if (!*isnull)
		value = datumCopy(value, get_typbyval(exprType(e)), get_typlen(exprType(e)));
	ResetExprContext(s->econtext);
	return value;
}

pe_values *
pe_sight_product(pe_sight *s, Node *e, const int *attribute, int attributes)
{
	int64		count = 1;
	pe_values  *v;

	for (int i = 0; i < attributes; i++)
		count *= s->declared->attribute[attribute[i]].cells;
	if (count > MOST_COMBINATIONS)
		pe_refuse_translation("an expression of columns with many cells together", "Group by the columns themselves.");
	v = make_values(e, count);
	clear(s, s->low);
	clear(s, s->high);
	for (int64 c = 0; c < count; c++)
	{
		int64		rest = c;

		for (int i = attributes - 1; i >= 0; i--)
		{
			int32		cells = s->declared->attribute[attribute[i]].cells;

			put_both(s, e, attribute[i], rest % cells);
			rest /= cells;
		}
		v->cut[c] = !is_steady(s, e);
		keep(v, c, s, e);
		ResetExprContext(s->econtext);
		CHECK_FOR_INTERRUPTS();
	}
	return v;
}

/* ------------------------------------------------------------------
 * Cuts
 * ------------------------------------------------------------------
 */

static char *
bin_text(const pe_public_attribute *a, int32 cell)
{
	return psprintf("%s to %s", pe_value_text(a->type, a->edge[cell], false), pe_value_text(a->type, a->edge[cell + 1], false));
}

/* One NOTICE for all tests that cut the same bin. */
static bool
is_told(pe_sight *s, const char *message)
{
	ListCell   *cell;

	foreach(cell, s->told)
		if (strcmp(lfirst(cell), message) == 0)
			return true;
	s->told = lappend(s->told, pstrdup(message));
	return false;
}

void
pe_sight_refuse_cut(pe_sight *s, int attribute, int32 cell, const char *what)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	bool		is_bin = cell < a->ordered;
	char	   *message = is_bin ? psprintf("%s of \"%s\" cuts the declared bin %s in two", what, a->name, bin_text(a, cell))
		: psprintf("%s of \"%s\" tells values outside of what is declared apart", what, a->name);

	if (s->middle && is_told(s, message))
		return;
	ereport(s->middle ? NOTICE : ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", message),
			 !s->middle ? errdetail("Nothing was charged.")
			 : is_bin ? errdetail("It is decided at the middle of each bin.") : errdetail("They count as one value that is none of the levels."),
			 s->middle ? 0 : is_bin
			 ? errhint("Use an edge of a bin, or SET pg_epsilon.cut_bins = middle, which decides at the middle of each bin.")
			 : errhint("Compare with declared levels, or SET pg_epsilon.cut_bins = middle.")));
}

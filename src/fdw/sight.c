/*
 * sight.c
 *	  Expressions of SQL, evaluated on public cells.  See sight.h.
 *
 * A wrong verdict about a cut gives a wrong answer and never a leak: no row is read here.
 */
#include "postgres.h"

#include <math.h>

#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/fmgrprotos.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "fdw/levels.h"
#include "fdw/notices.h"
#include "fdw/open_literals.h"
#include "fdw/table_options.h"
#include "fdw/steady.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/values.h"

/* The most values of a bin that are tried one by one. */
#define MOST_VALUES 1000

/* The most combinations of cells that an expression of several columns is evaluated on. */
#define MOST_COMBINATIONS 65536

/* The most attributes whose values outside of bins, below and above, are tried together. */
#define MOST_SIDES 4

int64
pe_size_times(int64 one, int64 other)
{
	int64		product;

	return pg_mul_s64_overflow(one, other, &product) ? PG_INT64_MAX : product;
}

void
pe_refuse_translation(const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s is not answered from a dataset", what),
			 errdetail("Nothing was charged."),
			 errhint("%s", hint)));
}

char *
pe_registration_text(const char *name, const char *relation, const char *unit, const char *dataset)
{
	return psprintf("SELECT dp.create_dataset(%s, %s, unit => %s, same_cap_as => %s)", quote_literal_cstr(name),
					quote_literal_cstr(relation), unit != NULL ? quote_literal_cstr(unit) : "...",
					quote_literal_cstr(dataset));
}

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

static int
open_of_name(const pe_public_dataset *declared, const char *name)
{
	for (int i = 0; i < declared->opens; i++)
		if (strcmp(declared->open[i].name, name) == 0)
			return i;
	return -1;
}

int
pe_sight_column_of_name(const pe_public_dataset *declared, const char *name)
{
	for (int i = 0; i < declared->attributes; i++)
		if (strcmp(declared->attribute[i].name, name) == 0)
			return i;
	if (open_of_name(declared, name) >= 0)
		return PE_COLUMN_OPEN;
	return declared->unit != NULL && strcmp(declared->unit, name) == 0 ? PE_COLUMN_UNIT : PE_COLUMN_UNKNOWN;
}

pe_seen *
pe_seen_of_table(Oid relation)
{
	Relation	rel = table_open(relation, AccessShareLock);
	pe_seen    *seen = palloc0(sizeof(*seen));

	seen->relation = relation;
	seen->dataset = pe_fdw_dataset(relation);
	seen->id = pe_fdw_dataset_id(relation);
	seen->columns = CreateTupleDescCopy(RelationGetDescr(rel));
	seen->attribute = palloc0(Max(seen->columns->natts, 1) * sizeof(char *));
	for (int i = 0; i < seen->columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(seen->columns, i);

		if (!column->attisdropped)
			seen->attribute[i] = pe_fdw_column_name(relation, column->attnum);
	}
	table_close(rel, NoLock);
	return seen;
}

/* Views outlive their dataset, and somebody may have registered another one under its name. */
static void
check_identity(const pe_sight *s, const pe_seen *seen)
{
	if (seen->id != NULL && strcmp(seen->id, s->declared->public_id) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("foreign table \"%s\" stands for a dataset that is no longer registered",
						get_rel_name(seen->relation)),
				 errdetail("Another dataset is called \"%s\" now. Nothing was charged.", s->dataset),
				 errhint("Make the foreign table anew, by dp.expose with replace => true, or IMPORT FOREIGN SCHEMA.")));
}

static void
check_type(const pe_sight *s, int attribute, int open, Form_pg_attribute column)
{
	Oid			declared;

	if (attribute == PE_COLUMN_UNKNOWN)
		return;
	declared = attribute == PE_COLUMN_UNIT ? s->declared->unit_type
		: open >= 0 ? s->declared->open[open].type
		: s->declared->attribute[attribute].type;
	if (getBaseType(column->atttypid) != declared)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" has type %s, and attribute of dataset \"%s\" has type %s",
						NameStr(column->attname), format_type_be(column->atttypid),
						s->dataset, format_type_be(declared)),
				 errhint("Make the foreign table anew, by dp.expose with replace => true, or IMPORT FOREIGN SCHEMA.")));
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The attributes that expressions look at by their columns' names, each once, in one order however they are written. */
static char **
names_of(const pe_seen *seen, List *expressions, int *count)
{
	List	   *vars = pull_var_clause((Node *) expressions, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS);
	char	  **name = palloc((list_length(vars) + 1) * sizeof(char *));
	ListCell   *cell;
	int			kept = 0;

	*count = 0;
	foreach(cell, vars)
		if (lfirst_node(Var, cell)->varattno > 0 && seen->attribute[lfirst_node(Var, cell)->varattno - 1] != NULL)
			name[(*count)++] = seen->attribute[lfirst_node(Var, cell)->varattno - 1];
	qsort(name, *count, sizeof(char *), compare_names);
	for (int i = 0; i < *count; i++)
		if (i == 0 || strcmp(name[i], name[kept - 1]) != 0)
			name[kept++] = name[i];
	*count = kept;
	return name;
}

static void
find_outside(pe_sight *s)
{
	int			count = Max(s->declared->attributes, 1);

	s->outside = palloc0(count * sizeof(pe_stand_in));
	s->is_outside = palloc0(count * sizeof(bool));
	for (int i = 0; i < s->declared->attributes; i++)
	{
		(void) pe_names_type(s->names, s->declared->attribute[i].type);
		pe_levels_find_outside(s, i);
	}
}

pe_sight *
pe_sight_open(EState *estate, const pe_seen *seen, List *expressions)
{
	pe_sight   *s = palloc0(sizeof(*s));
	int			count;
	char	  **names = names_of(seen, expressions, &count);

	s->seen = seen;
	s->dataset = seen->dataset;
	s->declared = pe_public_load(seen->dataset, names, count);
	check_identity(s, seen);
	s->columns = seen->columns;
	s->attribute_of = palloc(Max(s->columns->natts, 1) * sizeof(int));
	s->open_of = palloc(Max(s->columns->natts, 1) * sizeof(int));
	for (int i = 0; i < s->columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(s->columns, i);

		s->attribute_of[i] = seen->attribute[i] == NULL
			? PE_COLUMN_UNKNOWN : pe_sight_column_of_name(s->declared, seen->attribute[i]);
		s->open_of[i] = s->attribute_of[i] == PE_COLUMN_OPEN ? open_of_name(s->declared, seen->attribute[i]) : -1;
		check_type(s, s->attribute_of[i], s->open_of[i], column);
	}
	s->low = MakeSingleTupleTableSlot(s->columns, &TTSOpsVirtual);
	s->high = MakeSingleTupleTableSlot(s->columns, &TTSOpsVirtual);
	s->between = MakeSingleTupleTableSlot(s->columns, &TTSOpsVirtual);
	s->estate = estate;
	s->econtext = CreateExprContext(estate);
	s->state_memory = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon expressions", ALLOCSET_SMALL_SIZES);
	s->middle = pe_fdw_cut_bins(seen->relation) == PE_CUT_MIDDLE;
	s->names = pe_names_new();
	pe_names_collect(s->names, expressions);
	pe_literals_of_open(s, expressions);
	find_outside(s);
	pe_levels_tell_undeclared(s, expressions);
	return s;
}

/* What is found of an expression. */
typedef struct seeing
{
	const pe_sight *sight;
	bool		matches;		/* LIKE of an open column is an attribute */
	Bitmapset  *found;
} seeing;

static int
attribute_of_column(const pe_sight *s, const Var *var)
{
			int			a = var->varattno > 0 ? s->attribute_of[var->varattno - 1] : PE_COLUMN_UNKNOWN;
	const char *name = var->varattno > 0
		? NameStr(TupleDescAttr(s->columns, var->varattno - 1)->attname) : "a system column";

	if (a == PE_COLUMN_UNIT)
		pe_refuse_translation(psprintf("column \"%s\", the unit of privacy,", name),
							  psprintf("It may stand in count(DISTINCT %1$s), count(%1$s) and "
									   "%1$s IS NOT NULL alone. How many units have 1, 2, ... rows: "
									   "SELECT * FROM dp.rows_per_unit(%2$s, most => 10, epsilon => 0.1).",
									   quote_identifier(name), quote_literal_cstr(s->dataset)));
	if (a == PE_COLUMN_OPEN)
		pe_refuse_translation(psprintf("column \"%s\", whose values nobody has listed,", name),
							  psprintf("It may stand in GROUP BY as it is: SELECT %1$s, count(*) FROM ... "
									   "GROUP BY %1$s, and in conditions by =, <>, IN and LIKE with constants. "
									   "The owner can declare levels of it, for instance those "
									   "that dp.keys has found.", quote_identifier(name)));
	if (a == PE_COLUMN_UNKNOWN)
		pe_refuse_translation(var->varattno == 0 ? "a whole row" : psprintf("column \"%s\"", name),
							  psprintf("The attributes of dataset \"%s\" are in dp.attributes; "
									   "dp.expose(..., replace => true) makes the view follow them.", s->dataset));
	return a;
}

pe_sight_comparison *
pe_sight_written(const pe_sight *s, Node *e)
{
	ListCell   *cell;

	foreach(cell, s->comparisons)
	{
		pe_sight_comparison *c = lfirst(cell);

		if (list_member(c->written, e))
			return c;
	}
	return NULL;
}

static bool
see(Node *e, void *argument)
{
	seeing	   *seen = argument;
	const pe_sight *s = seen->sight;
	pe_sight_comparison *written = seen->matches && e != NULL && (IsA(e, OpExpr) || IsA(e, FuncExpr))
		? pe_sight_written(s, e) : NULL;

	if (written != NULL)
		seen->found = bms_add_member(seen->found, s->declared->attributes + written->place);
	else if (e != NULL && IsA(e, Var))
		seen->found = bms_add_member(seen->found, attribute_of_column(seen->sight, (Var *) e));
	else
		return expression_tree_walker(e, see, argument);
	return false;
}

Bitmapset *
pe_sight_attributes(const pe_sight *s, Node *expression)
{
	seeing		seen = {.sight = s};

	(void) see(expression, &seen);
	return seen.found;
}

Bitmapset *
pe_sight_tested(const pe_sight *s, Node *expression)
{
	seeing		seen = {.sight = s, .matches = true};

	(void) see(expression, &seen);
	return seen.found;
}

const pe_public_attribute *
pe_sight_attribute(const pe_sight *s, int number)
{
	if (number < s->declared->attributes)
		return &s->declared->attribute[number];
	return &((pe_sight_comparison *) list_nth(s->comparisons, number - s->declared->attributes))->attribute;
}

bool
pe_sight_drops_null(const pe_sight *s, int number)
{
	return pe_sight_compares(s, number) &&
		((pe_sight_comparison *) list_nth(s->comparisons, number - s->declared->attributes))->drops_null;
}

bool
pe_sight_compares(const pe_sight *s, int number)
{
	return number >= s->declared->attributes &&
		((pe_sight_comparison *) list_nth(s->comparisons, number - s->declared->attributes))->written == NIL;
}

static bool
is_lossless(const pe_sight *s, Oid function)
{
	static const char *const names[] = {"int4", "int8", "numeric", "float8"};
	const pe_named_function *f = pe_names_function(s->names, function);

	for (int i = 0; i < lengthof(names); i++)
		if (f->builtin && strcmp(f->name, names[i]) == 0)
			return true;
	return false;
}

/* Whether a cast to a wider type: each value stays what it is. */
static bool
widens(const pe_sight *s, const FuncExpr *function)
{
	Oid			from;

	if (list_length(function->args) != 1 || !is_lossless(s, function->funcid))
		return false;
	from = exprType(linitial(function->args));
	if (pe_type_is_integer(from))
		return !pe_type_is_integer(function->funcresulttype) ||
			pe_names_type(s->names, function->funcresulttype)->length >= pe_names_type(s->names, from)->length;
	return function->funcresulttype == FLOAT8OID && (from == FLOAT4OID || from == NUMERICOID);
}

/*
 * Whether different values stay different after a cast: equality of character
 * ignores blanks, that of citext ignores case.
 */
bool
pe_sight_keeps_values_apart(const pe_sight *s, const RelabelType *cast)
{
	Oid			from = pe_names_type(s->names, exprType((Node *) cast->arg))->base;
	Oid			to = pe_names_type(s->names, cast->resulttype)->base;

	return from == to || (to < FirstNormalObjectId && to != BPCHAROID);
}

bool
pe_sight_has_numbers(const pe_sight *s, int attribute)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];

	return a->numbers || (!s->of_cube && !a->bins && a->listed == NULL && a->ordered > 1 && pe_type_is_number(a->type));
}

Node *
pe_sight_bare(const pe_sight *s, Node *e)
{
	for (;;)
	{
		if (IsA(e, RelabelType) && pe_sight_keeps_values_apart(s, (RelabelType *) e))
			e = (Node *) ((RelabelType *) e)->arg;
		else if (IsA(e, FuncExpr) && widens(s, (FuncExpr *) e))
			e = linitial(((FuncExpr *) e)->args);
		else
			return e;
	}
}

static bool
is_column(const pe_sight *s, Node *e)
{
	return IsA(pe_sight_bare(s, e), Var);
}

int
pe_sight_column(const pe_sight *s, Node *e)
{
	e = pe_sight_bare(s, e);
	if (!IsA(e, Var) || ((Var *) e)->varattno <= 0)
		return PE_COLUMN_UNKNOWN;
	return s->attribute_of[((Var *) e)->varattno - 1];
}

int
pe_sight_open_column(const pe_sight *s, Node *e)
{
	e = pe_sight_bare(s, e);
	return IsA(e, Var) && ((Var *) e)->varattno > 0 ? s->open_of[((Var *) e)->varattno - 1] : -1;
}

Node *
pe_sight_counted(const pe_sight *s, const Aggref *aggregate)
{
	const pe_named_function *function = pe_names_function(s->names, aggregate->aggfnoid);

	return function->builtin && strcmp(function->name, "count") == 0 && aggregate->aggdistinct == NIL &&
		list_length(aggregate->args) == 1 ? (Node *) linitial_node(TargetEntry, aggregate->args)->expr : NULL;
}

/* ------------------------------------------------------------------
 * Evaluation
 * ------------------------------------------------------------------
 */

typedef struct known_state
{
	Node	   *expression;		/* the key */
	ExprState  *state;
} known_state;

/* Of each expression once, found by its address. */
static ExprState *
state_of(pe_sight *s, Node *expression)
{
	HASHCTL		control = {.keysize = sizeof(Node *), .entrysize = sizeof(known_state), .hcxt = s->state_memory};
	known_state *known;
	ExprState  *state;
	MemoryContext old;

	if (s->states == NULL)
		s->states = hash_create("expressions of a SELECT", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	known = hash_search(s->states, &expression, HASH_FIND, NULL);
	if (known != NULL)
		return known->state;
	old = MemoryContextSwitchTo(s->state_memory);
	state = ExecInitExprWithParams((Expr *) expression, s->estate->es_param_list_info);
	MemoryContextSwitchTo(old);
	known = hash_search(s->states, &expression, HASH_ENTER, NULL);
	known->state = state;
	return state;
}

/*
 * An error leaves SQL functions where they were: they would go on with the
 * earlier values, on buffers that were given back.
 */
static void
forget_failed_states(pe_sight *s)
{
	if (!s->failed)
		return;
	MemoryContextReset(s->state_memory);
	s->states = NULL;
	s->failed = false;
}

Datum
pe_sight_evaluate(pe_sight *s, Node *expression, TupleTableSlot *row, bool *isnull)
{
	MemoryContext here = CurrentMemoryContext;
	volatile Datum value = (Datum) 0;

	CHECK_FOR_INTERRUPTS();
	forget_failed_states(s);
	PG_TRY();
	{
		s->econtext->ecxt_scantuple = row;
		value = ExecEvalExprSwitchContext(state_of(s, expression), s->econtext, isnull);
	}
	PG_CATCH();
	{
		s->failed = true;
		pe_names_rethrow(here);
	}
	PG_END_TRY();
	return value;
}

/* The value that CASE x WHEN compares with stands for x; where the elements of an array are cast, for each of them. */
static bool
has_case_value(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, ArrayCoerceExpr))
		return has_case_value((Node *) ((ArrayCoerceExpr *) node)->arg, context);
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

static Datum
kept(const pe_named_type *type, Datum value, bool isnull)
{
	return isnull ? (Datum) 0 : datumCopy(value, type->by_value, type->length);
}

Datum
pe_sight_constant(pe_sight *s, Node *expression, bool *isnull)
{
	Datum		value;

	clear(s, s->low);
	value = pe_sight_evaluate(s, expression, s->low, isnull);
	return kept(pe_names_type(s->names, exprType(expression)), value, *isnull);
}

bool
pe_same_value(pe_named_type *type, Oid collation, Datum one, bool one_null, Datum other, bool other_null)
{
	if (one_null || other_null)
		return one_null && other_null;
	if (!type->has_equality)
		return datum_image_eq(one, other, type->by_value, type->length);
	return DatumGetBool(FunctionCall2Coll(&type->equality, collation, one, other));
}

uint32
pe_hash_value(pe_named_type *type, Oid collation, Datum value, bool isnull)
{
	if (isnull || !type->has_hash)
		return isnull;
	return DatumGetUInt32(FunctionCall1Coll(&type->hash, collation, value));
}

bool
pe_values_are_same(const pe_values *v, int64 one, int64 other)
{
	return pe_same_value(v->type, v->collation, v->value[one], v->isnull[one], v->value[other], v->isnull[other]);
}

uint32
pe_values_hash(const pe_values *v, int64 one)
{
	return pe_hash_value(v->type, v->collation, v->value[one], v->isnull[one]);
}

char *
pe_value_text(pe_sight *s, Oid type, Datum value)
{
	return OutputFunctionCall(&pe_names_type(s->names, type)->output, value);
}

/* ------------------------------------------------------------------
 * Rows that stand for cells
 * ------------------------------------------------------------------
 */

void
pe_sight_put(pe_sight *s, TupleTableSlot *row, int attribute, Datum value, bool isnull)
{
	for (int i = 0; i < s->columns->natts; i++)
		if (s->attribute_of[i] == attribute)
		{
			row->tts_values[i] = value;
			row->tts_isnull[i] = isnull;
		}
}

/* Puts the ends of a cell into both rows. */
static void
put_ends(pe_sight *s, int attribute, Datum low, Datum high, bool isnull)
{
	pe_sight_put(s, s->low, attribute, low, isnull);
	pe_sight_put(s, s->high, attribute, high, isnull);
}

static Datum
infinite_numeric(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/* The least value of a type with bins, or the greatest. */
static Datum
extreme_of(Oid type, bool greatest)
{
	switch (type)
	{
		case INT2OID:
			return Int16GetDatum(greatest ? PG_INT16_MAX : PG_INT16_MIN);
		case INT4OID:
			return Int32GetDatum(greatest ? PG_INT32_MAX : PG_INT32_MIN);
		case FLOAT4OID:
			return Float4GetDatum(greatest ? INFINITY : -INFINITY);
		case FLOAT8OID:
			return Float8GetDatum(greatest ? INFINITY : -INFINITY);
		case NUMERICOID:
			return infinite_numeric(greatest ? "Infinity" : "-Infinity");
		case DATEOID:
			return DateADTGetDatum(greatest ? DATEVAL_NOEND : DATEVAL_NOBEGIN);
		default:
			return Int64GetDatum(greatest ? PG_INT64_MAX : PG_INT64_MIN);
	}
}

/* The value above the last bin; without a next value as near as one below an edge is. */
static Datum
value_above(const pe_public_attribute *a)
{
	Datum		last = a->high[a->ordered - 1];

	switch (a->type)
	{
		case FLOAT4OID:
			return Float4GetDatum(nextafterf(DatumGetFloat4(last), INFINITY));
		case FLOAT8OID:
			return Float8GetDatum(nextafter(DatumGetFloat8(last), INFINITY));
		case NUMERICOID:
			return DirectFunctionCall2(numeric_add, last, infinite_numeric("0.000000001"));
		default:
			return pe_datum_of_int(a->type, pe_point_of_datum(a->type, last).i + 1);
	}
}

static bool
is_extreme(const pe_public_attribute *a, Datum value, bool greatest)
{
	return a->whole &&
		pe_point_of_datum(a->type, value).i == pe_point_of_datum(a->type, extreme_of(a->type, greatest)).i;
}

/* Puts the values below the first bin, or above the last one, into the rows; false if there are none. */
static bool
put_side(pe_sight *s, int attribute, bool above)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	Datum		extreme = extreme_of(a->type, above);

	if (is_extreme(a, above ? a->high[a->ordered - 1] : a->low[0], above))
		return false;
	put_ends(s, attribute, above ? value_above(a) : extreme, above ? extreme : pe_public_below(a->type, a->low[0]),
			 false);
	return true;
}

/* Puts a cell into the columns of both rows that stand for an attribute; of values outside of bins nothing yet. */
static void
put_cell(pe_sight *s, int attribute, int32 cell)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	bool		is_other = cell == a->other && cell >= 0;
	const pe_stand_in *o = &s->outside[attribute];

	s->is_outside[attribute] = is_other && !a->bins && !o->only;
	if (is_other)
		put_ends(s, attribute, o->value, o->value, o->isnull);
	else if (cell >= a->ordered)
		put_ends(s, attribute, (Datum) 0, (Datum) 0, true);
	else
		put_ends(s, attribute, a->low[cell], a->high[cell], false);
}

/* ------------------------------------------------------------------
 * What an expression is on a combination of cells
 * ------------------------------------------------------------------
 */

/* A combination of cells, and what is found there. */
typedef struct combination
{
	pe_sight   *sight;
	Node	   *expression;
	const int  *attribute;
	int			attributes;
	const int32 *cell;

	pe_bin_cut		cut;
	bool		begun;
	Datum		value;
	bool		isnull;
} combination;

static bool
is_other(const combination *c, int i)
{
	return c->cell[i] == c->sight->declared->attribute[c->attribute[i]].other;
}

static bool
is_on_other(const combination *c)
{
	for (int i = 0; i < c->attributes; i++)
		if (is_other(c, i))
			return true;
	return false;
}

/* The attributes of a combination that are outside of bins; side: NULL, or where they are put. */
static int
sides_of(const combination *c, int *side)
{
	int			sides = 0;

	for (int i = 0; i < c->attributes; i++)
	{
		if (!is_other(c, i) || !c->sight->declared->attribute[c->attribute[i]].bins)
			continue;
		if (side != NULL)
			side[sides] = c->attribute[i];
		sides++;
	}
	return sides;
}

/* Whether all values of a type are levels, so that no row is on the cell of the others. */
static bool
is_empty(const combination *c)
{
	for (int i = 0; i < c->attributes; i++)
		if (is_other(c, i) && !c->sight->declared->attribute[c->attribute[i]].bins &&
			c->sight->outside[c->attribute[i]].isnull)
			return true;
	return false;
}

/* NULL is one value. */
static bool
is_null(const combination *c)
{
	for (int i = 0; i < c->attributes; i++)
		if (is_other(c, i) || c->cell[i] < c->sight->declared->attribute[c->attribute[i]].ordered)
			return false;
	return true;
}

static void
note(combination *c)
{
	pe_sight   *s = c->sight;
	pe_named_type *type = pe_names_type(s->names, exprType(c->expression));
	bool		isnull;
	Datum		value;

	if (!is_null(c) && !pe_is_steady(s, c->expression))
	{
		c->cut = is_on_other(c)
			? PE_CUT_OUTSIDE : Max(pe_cut_of(s, c->expression), s->middle ? PE_NOT_CUT : PE_CUT_BY_RANGE);
		return;
	}
	value = pe_sight_evaluate(s, c->expression, s->low, &isnull);
	if (c->begun && !pe_same_value(type, C_COLLATION_OID, c->value, c->isnull, value, isnull))
		c->cut = PE_CUT_OUTSIDE;
	else if (!c->begun)
	{
		c->value = kept(type, value, isnull);
		c->isnull = isnull;
	}
	c->begun = true;
}

/* Below and above the bins, in all combinations. */
static void
note_sides(void *argument)
{
	combination *c = argument;
	int		   *side = palloc(c->attributes * sizeof(int));
	int			sides = sides_of(c, side);

	if (sides > MOST_SIDES)
		c->cut = PE_CUT_OUTSIDE;
	for (int choice = 0; choice < 1 << sides && c->cut == PE_NOT_CUT; choice++)
	{
		bool		exists = true;

		for (int i = 0; i < sides; i++)
			exists = exists && put_side(c->sight, side[i], (choice >> i & 1) != 0);
		if (exists)
			note(c);
	}
}

/* Whether an error is of the expression, and not that the statement was cancelled or the server is out of something. */
static bool
is_of_values(int sqlstate)
{
	static const int rethrown[] = {ERRCODE_QUERY_CANCELED, ERRCODE_INSUFFICIENT_RESOURCES,
								   ERRCODE_SYSTEM_ERROR, ERRCODE_TRANSACTION_ROLLBACK};

	for (int i = 0; i < lengthof(rethrown); i++)
		if (ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_TO_CATEGORY(rethrown[i]))
			return false;
	return true;
}

/* Evaluates where no row that counts may be; false if an expression fails there, which is no error of the statement. */
static bool
succeeds(void (*evaluates) (void *), void *argument)
{
	ErrorData  *error = pe_run_undone(evaluates, argument);

	if (error != NULL && !is_of_values(error->sqlerrcode))
		ReThrowError(error);
	return error == NULL;
}

/* What is outside of bins reaches to the ends of the type: where the expression fails there, it is not known. */
static void
try_sides(combination *c)
{
	if (!succeeds(note_sides, c))
		c->cut = PE_CUT_OUTSIDE;
	if (c->cut == PE_NOT_CUT && !c->begun)
		c->isnull = true;		/* the bins hold all values of the type */
}

/* What stands for cells that an expression cuts: the middles of bins, and where values outside are shown. */
static void
put_middles(combination *c)
{
	pe_sight   *s = c->sight;

	for (int i = 0; i < c->attributes; i++)
	{
		const pe_public_attribute *a = &s->declared->attribute[c->attribute[i]];
		const pe_stand_in *o = &s->outside[c->attribute[i]];
		Datum		middle;

		if (c->cell[i] < a->ordered)
		{
			middle = pe_public_middle(a, c->cell[i]);
			put_ends(s, c->attribute[i], middle, middle, false);
		}
		else if (is_other(c, i))
			put_ends(s, c->attribute[i], o->shown_null ? o->value : o->shown, o->shown_null ? o->value : o->shown,
					 o->isnull);
	}
}

static void
decide(combination *c)
{
	pe_sight   *s = c->sight;
	Datum		value;

	c->isnull = true;
	if (!s->middle)
		return;
	put_middles(c);
	value = pe_sight_evaluate(s, c->expression, s->low, &c->isnull);
	c->value = kept(pe_names_type(s->names, exprType(c->expression)), value, c->isnull);
}

/* One value after the other, where there are not many. */
static int64
values_of_bin(const pe_public_attribute *a, int32 cell)
{
	int64		width;

	if (!a->whole || cell >= a->ordered)
		return PG_INT64_MAX;
	if (pg_sub_s64_overflow(pe_point_of_datum(a->type, a->high[cell]).i,
							pe_point_of_datum(a->type, a->low[cell]).i, &width))
		return PG_INT64_MAX;
	return width < PG_INT64_MAX ? width + 1 : width;
}

static void
try_values(combination *c)
{
	pe_sight   *s = c->sight;
	const pe_public_attribute *a = &s->declared->attribute[c->attribute[0]];
	pe_named_type *type = pe_names_type(s->names, exprType(c->expression));
	int64		count = values_of_bin(a, c->cell[0]);
	int64		first;

	if (count > MOST_VALUES)
		return;
	first = pe_point_of_datum(a->type, a->low[c->cell[0]]).i;
	for (int64 v = 0; v < count; v++)
	{
		bool		isnull;
		Datum		value;

		put_ends(s, c->attribute[0], pe_datum_of_int(a->type, first + v), pe_datum_of_int(a->type, first + v), false);
		value = pe_sight_evaluate(s, c->expression, s->low, &isnull);
		if (v == 0)
			c->value = kept(type, value, c->isnull = isnull);
		else if (!pe_same_value(type, C_COLLATION_OID, c->value, c->isnull, value, isnull))
			return;
		CHECK_FOR_INTERRUPTS();
	}
	c->cut = PE_NOT_CUT;
}

/* Whether a cell holds one value, bit for bit. */
static bool
holds_one_value(const combination *c, int i)
{
	const pe_public_attribute *a = &c->sight->declared->attribute[c->attribute[i]];

	if (c->cell[i] >= a->ordered)
		return c->cell[i] != a->other;
	if (a->whole)
		return values_of_bin(a, c->cell[i]) == 1;
	return !a->bins && (a->type == TEXTOID || a->type == VARCHAROID) &&
		pe_names_is_bytewise(c->sight->names, a->collation);
}

static bool
hold_one_value(const combination *c)
{
	for (int i = 0; i < c->attributes; i++)
		if (!holds_one_value(c, i))
			return false;
	return true;
}

/* On one value nothing is cut. */
static void
take_value(combination *c)
{
	Datum		value = pe_sight_evaluate(c->sight, c->expression, c->sight->low, &c->isnull);

	c->value = kept(pe_names_type(c->sight->names, exprType(c->expression)), value, c->isnull);
}

/* The column itself; not where a value outside may equal a level. */
static bool
shows_column(const combination *c)
{
	return c->attributes == 1 && is_column(c->sight, c->expression) &&
		!(is_other(c, 0) && !pe_names_is_bytewise(c->sight->names, exprCollation(c->expression)));
}

/* The column itself shows the low edge of a bin, and of values outside what stands for them. */
static void
show_column(combination *c)
{
	pe_sight   *s = c->sight;
	const pe_stand_in *o = &s->outside[c->attribute[0]];

	if (is_other(c, 0))
		put_ends(s, c->attribute[0], o->shown, o->shown, o->shown_null);
	take_value(c);
}

static void
find_value(combination *c)
{
	pe_sight   *s = c->sight;

	for (int i = 0; i < c->attributes; i++)
		put_cell(s, c->attribute[i], c->cell[i]);
	if (shows_column(c))
		show_column(c);
	else if (is_empty(c))
		c->isnull = true;
	else if (hold_one_value(c))
		take_value(c);
	else
	{
		if (sides_of(c, NULL) > 0)
			try_sides(c);
		else
			note(c);
		if (c->cut != PE_NOT_CUT && c->attributes == 1)
			try_values(c);
		if (c->cut != PE_NOT_CUT)
			decide(c);
	}
	for (int i = 0; i < c->attributes; i++)
		s->is_outside[c->attribute[i]] = false;
	ResetExprContext(s->econtext);
	CHECK_FOR_INTERRUPTS();
}

/* ------------------------------------------------------------------
 * Beyond the bins
 * ------------------------------------------------------------------
 */

/* An end of the bins, and what an expression is beyond it. */
typedef struct beyond_end
{
	combination *bin;			/* at that end */
	bool		above;
	bool		near;			/* so far as the bins are wide, and not to the end of the type */
	pe_beyond	found;
} beyond_end;

static int64
whole_beyond(const pe_public_attribute *a, bool above)
{
	int64		low = pe_point_of_datum(a->type, a->low[0]).i;
	int64		high = pe_point_of_datum(a->type, a->high[a->ordered - 1]).i;
	int64		most = pe_point_of_datum(a->type, extreme_of(a->type, above)).i;
	int64		width;
	int64		at;

	if (pg_sub_s64_overflow(high, low, &width) ||
		pg_add_s64_overflow(above ? high : low, above ? width + 1 : -width - 1, &at))
		return most;
	return above ? Min(at, most) : Max(at, most);
}

/* A value beyond an end, so far as the bins are wide. */
static Datum
value_beyond(const pe_public_attribute *a, bool above)
{
	Datum		low = a->edge[0];
	Datum		high = a->edge[a->ordered];
	Datum		from = above ? high : low;
	Datum		to = above ? low : high;

	switch (a->type)
	{
		case FLOAT4OID:
			return Float4GetDatum(2 * DatumGetFloat4(from) - DatumGetFloat4(to));
		case FLOAT8OID:
			return Float8GetDatum(2 * DatumGetFloat8(from) - DatumGetFloat8(to));
		case NUMERICOID:
			return DirectFunctionCall2(numeric_add, from, DirectFunctionCall2(numeric_sub, from, to));
		default:
			return pe_datum_of_int(a->type, whole_beyond(a, above));
	}
}

static void
note_beyond(void *argument)
{
	beyond_end *e = argument;
	combination *c = e->bin;
	pe_sight   *s = c->sight;
	int			attribute = c->attribute[0];
	pe_named_type *type = pe_names_type(s->names, exprType(c->expression));
	bool		isnull;
	Datum		value;

	if (!put_side(s, attribute, e->above))
		return;
	if (e->near)
		pe_sight_put(s, e->above ? s->high : s->low, attribute,
					 value_beyond(&s->declared->attribute[attribute], e->above), false);
	if (!pe_is_steady(s, c->expression))
	{
		e->found = pe_cut_of(s, c->expression) == PE_CUT_BY_EXPRESSION ? PE_BEYOND_ANOTHER : PE_BEYOND_SELECTED;
		return;
	}
	value = pe_sight_evaluate(s, c->expression, s->low, &isnull);
	if (!pe_same_value(type, C_COLLATION_OID, c->value, c->isnull, value, isnull))
		e->found = type->id == BOOLOID && !isnull && DatumGetBool(value) ? PE_BEYOND_SELECTED : PE_BEYOND_ANOTHER;
}

/* Whether an expression could be evaluated there. */
static bool
try_beyond(beyond_end *e, bool near)
{
	e->near = near;
	e->found = PE_BEYOND_AS_IN_BIN;
	return succeeds(note_beyond, e);
}

static void
find_in_bin(void *argument)
{
	find_value(argument);
}

/* Whether an expression could be evaluated in the bin itself. */
static bool
try_bin(combination *c)
{
	bool		found = succeeds(find_in_bin, c);

	c->sight->is_outside[c->attribute[0]] = false;
	return found;
}

/*
 * x + 1 fails at the end of its type, and is what it is before that.  A part of
 * an expression that fails in the bin is not evaluated there, as CASE and AND
 * have it: the tests before it are looked at by themselves.
 */
pe_beyond
pe_sight_beyond(pe_sight *s, Node *expression, int attribute, bool above)
{
	int32		cell = above ? s->declared->attribute[attribute].ordered - 1 : 0;
	combination c = {.sight = s, .expression = expression, .attribute = &attribute, .attributes = 1, .cell = &cell};
	beyond_end	e = {.bin = &c, .above = above};

	clear(s, s->low);
	clear(s, s->high);
	if (!try_bin(&c))
		return PE_BEYOND_AS_IN_BIN;
	if (!try_beyond(&e, false) && !try_beyond(&e, true))
		e.found = PE_BEYOND_ANOTHER;
	ResetExprContext(s->econtext);
	return e.found;
}

/* ------------------------------------------------------------------
 * All cells
 * ------------------------------------------------------------------
 */

/* Cells on which an expression is evaluated: those that are left, or the others. */
typedef struct evaluation
{
	pe_sight   *sight;
	Node	   *expression;
	const int  *attribute;
	int			attributes;
	const bool *const *left;
	bool		others;
	int64		count;
	pe_values  *values;
} evaluation;

static pe_values *
make_values(pe_sight *s, Node *e, int64 count)
{
	pe_values  *v = palloc(sizeof(*v));

	pe_check_memory(pe_size_times(count, sizeof(Datum) + sizeof(bool) + sizeof(pe_bin_cut)));
	v->expression = e;
	v->type = pe_names_type(s->names, exprType(e));
	v->collation = OidIsValid(exprCollation(e)) ? exprCollation(e) : v->type->collates ? C_COLLATION_OID : InvalidOid;
	v->value = palloc0(count * sizeof(Datum));
	v->isnull = palloc(count * sizeof(bool));
	v->cut = palloc0(count * sizeof(pe_bin_cut));
	memset(v->isnull, true, count * sizeof(bool));
	return v;
}

/* The cells of a combination by its number; whether all of them are left. */
static bool
cells_of(const evaluation *e, int64 number, int32 *cell)
{
	bool		left = true;

	for (int i = e->attributes - 1; i >= 0; i--)
	{
		int32		cells = e->sight->declared->attribute[e->attribute[i]].cells;

		cell[i] = number % cells;
		left = left && (e->left[i] == NULL || e->left[i][cell[i]]);
		number /= cells;
	}
	return left;
}

static void
evaluate_all(void *argument)
{
	evaluation *e = argument;
	int32	   *cell = palloc(e->attributes * sizeof(int32));

	clear(e->sight, e->sight->low);
	clear(e->sight, e->sight->high);
	for (int64 i = 0; i < e->count; i++)
	{
		combination c = {.sight = e->sight, .expression = e->expression,
						 .attribute = e->attribute, .attributes = e->attributes, .cell = cell};

		if (cells_of(e, i, cell) == e->others)
			continue;
		find_value(&c);
		e->values->value[i] = c.value;
		e->values->isnull[i] = c.isnull;
		e->values->cut[i] = c.cut;
	}
}

static void
forget_others(evaluation *e)
{
	int32	   *cell = palloc(e->attributes * sizeof(int32));

	memset(e->sight->is_outside, false, e->sight->declared->attributes * sizeof(bool));
	for (int64 i = 0; i < e->count; i++)
		if (!cells_of(e, i, cell))
		{
			e->values->isnull[i] = true;
			e->values->cut[i] = PE_NOT_CUT;
		}
}

/* No row that counts is in the others. */
static void
evaluate_others(evaluation *e)
{
	bool		all = true;

	for (int i = 0; i < e->attributes; i++)
		all = all && e->left[i] == NULL;
	if (all)
		return;
	e->others = true;
	if (!succeeds(evaluate_all, e))
		forget_others(e);
}

pe_values *
pe_sight_values(pe_sight *s, Node *expression, int attribute, const bool *left, bool others)
{
	int32		cells = s->declared->attribute[attribute].cells;
	evaluation	e = {s, expression, &attribute, 1, &left, false, cells, make_values(s, expression, cells)};

	evaluate_all(&e);
	if (others)
		evaluate_others(&e);
	return e.values;
}

pe_values *
pe_sight_product(pe_sight *s, Node *expression, const int *attribute,
				 int attributes, const bool *const *left, int64 *count)
{
	evaluation	e = {.sight = s, .expression = expression, .attribute = attribute,
					 .attributes = attributes, .left = left};

	*count = 1;
	for (int i = 0; i < attributes; i++)
		*count = pe_size_times(*count, s->declared->attribute[attribute[i]].cells);
	if (*count > MOST_COMBINATIONS)
		pe_refuse_translation("an expression of columns with many cells together",
							  "Group by the columns themselves, or by CASE with comparisons of two, as in CASE WHEN "
							  "a - b > 7 THEN 'long' ELSE 'short' END.");
	e.count = *count;
	e.values = make_values(s, expression, e.count);
	evaluate_all(&e);
	evaluate_others(&e);
	return e.values;
}

typedef struct null_value
{
	pe_sight   *sight;
	Node	   *expression;
	Datum		value;
	bool		isnull;
} null_value;

static void
evaluate_null(void *argument)
{
	null_value *n = argument;

	clear(n->sight, n->sight->low);
	n->value = pe_sight_evaluate(n->sight, n->expression, n->sight->low, &n->isnull);
	n->value = kept(pe_names_type(n->sight->names, exprType(n->expression)), n->value, n->isnull);
}

/* A test of a column where that is NaN. */
typedef struct nan_value
{
	pe_sight   *sight;
	Node	   *expression;
	int			attribute;
	Datum		value;
	bool		isnull;
} nan_value;

bool
pe_sight_of_null(pe_sight *s, Node *expression, Datum *value, bool *isnull)
{
	null_value	n = {.sight = s, .expression = expression};
	bool		found = succeeds(evaluate_null, &n);

	ResetExprContext(s->econtext);
	*value = n.value;
	*isnull = n.isnull;
	return found;
}

static void
evaluate_nan(void *argument)
{
	nan_value  *n = argument;
	pe_sight   *s = n->sight;
	Datum		nan = pe_datum_of_text(s->declared->attribute[n->attribute].type, "NaN");

	clear(s, s->low);
	clear(s, s->high);
	put_ends(s, n->attribute, nan, nan, false);
	n->value = pe_sight_evaluate(s, n->expression, s->low, &n->isnull);
}

/* A literal NaN. */
static bool
names_nan(Node *e, void *context)
{
	if (e == NULL)
		return false;
	if (IsA(e, Const))
		return !((Const *) e)->constisnull && pe_type_is_number(((Const *) e)->consttype) &&
			isnan(pe_number_of_datum(((Const *) e)->consttype, ((Const *) e)->constvalue));
	return expression_tree_walker(e, names_nan, context);
}

bool
pe_sight_of_nan(pe_sight *s, Node *test, int attribute, Datum *value, bool *isnull)
{
	Oid			type = s->declared->attribute[attribute].type;
	nan_value	n = {.sight = s, .expression = test, .attribute = attribute};
	bool		found = (pe_type_is_float(type) || (type == NUMERICOID && names_nan(test, NULL))) &&
		succeeds(evaluate_nan, &n);

	ResetExprContext(s->econtext);
	*value = n.value;
	*isnull = n.isnull;
	return found;
}

bool
pe_sight_of_dropped(pe_sight *s, Node *e, int attribute, Datum *value, bool *isnull, bool *known)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	const pe_stand_in *o = &s->outside[attribute];
	int32		cell = a->other;	/* there is none */
	combination c = {.sight = s, .expression = e, .attribute = &attribute, .attributes = 1, .cell = &cell};

	if (!a->bins && o->isnull)
		return false;
	clear(s, s->low);
	clear(s, s->high);
	if (!a->bins)
		put_ends(s, attribute, o->value, o->value, false);
	s->is_outside[attribute] = !a->bins && !o->only;
	try_sides(&c);
	s->is_outside[attribute] = false;
	ResetExprContext(s->econtext);
	*value = c.value;
	*isnull = c.isnull;
	*known = c.cut == PE_NOT_CUT;
	return c.begun || !*known;
}

/* ------------------------------------------------------------------
 * Cuts
 * ------------------------------------------------------------------
 */

static char *
bin_text(pe_sight *s, const pe_public_attribute *a, int32 cell)
{
	return psprintf("%s to %s", pe_value_text(s, a->type, a->edge[cell]), pe_value_text(s, a->type, a->edge[cell + 1]));
}

static char *
literal(pe_sight *s, const pe_public_attribute *a, Datum value)
{
	char	   *text = pe_value_text(s, a->type, value);

	return pe_type_is_number(a->type) ? text : quote_literal_cstr(text);
}

/* "x >= 10 AND x < 20": the bins from one to another. */
static char *
range_text(pe_sight *s, const pe_public_attribute *a, int32 first, int32 last)
{
	const char *name = quote_identifier(a->name);
	bool		closed = pe_same_value(pe_names_type(s->names, a->type), InvalidOid,
									   a->high[last], false, a->edge[last + 1], false);

	return psprintf("%s >= %s AND %s %s %s", name, literal(s, a, a->edge[first]),
					name, closed ? "<=" : "<", literal(s, a, a->edge[last + 1]));
}

bool
pe_sight_is_told(pe_sight *s, const char *about)
{
	ListCell   *cell;

	foreach(cell, s->told)
		if (strcmp(lfirst(cell), about) == 0)
			return true;
	s->told = lappend(s->told, pstrdup(about));
	return false;
}

#define COARSER "Use a coarser expression, or ask the owner for finer bins."
#define OR_MIDDLE ", or SET pg_epsilon.cut_bins = middle, which decides at the middle of each bin."

/* A bin of an attribute, and whether an expression has one value at its ends. */
typedef struct bin_ends
{
	pe_sight   *sight;
	const pe_values *values;
	int			attribute;
	int32		cell;
	bool		agree;
} bin_ends;

/* At the two values that were put. */
static bool
has_one_value(pe_sight *s, const pe_values *v)
{
	bool		low_null;
	bool		high_null;
	Datum		low = pe_sight_evaluate(s, v->expression, s->low, &low_null);
	Datum		high;

	low = kept(v->type, low, low_null);
	high = pe_sight_evaluate(s, v->expression, s->high, &high_null);
	return pe_same_value(v->type, C_COLLATION_OID, low, low_null, high, high_null);
}

static void
compare_ends(void *argument)
{
	bin_ends   *b = argument;

	put_cell(b->sight, b->attribute, b->cell);
	b->agree = has_one_value(b->sight, b->values);
}

/*
 * Whether an expression may have one value in a bin all the same: it has one at its
 * ends, which says nothing of the values between, and they are too many to try.
 */
static bool
is_unknown(pe_sight *s, const pe_values *v, int attribute, int32 cell)
{
	bin_ends	b = {s, v, attribute, cell, true};

	return v->cut[cell] == PE_CUT_BY_EXPRESSION &&
		values_of_bin(&s->declared->attribute[attribute], cell) > MOST_VALUES &&
		(!succeeds(compare_ends, &b) || b.agree);
}

/* cut: how many bins are cut, this one first. */
static char *
cut_text(pe_sight *s, const pe_public_attribute *a, int32 cell, bool unknown, int32 cut)
{
	char	   *more = cut > 1 ? psprintf(", and %d more", cut - 1) : "";

	return unknown
		? psprintf("is not known to have one value in the declared bin %s%s", bin_text(s, a, cell), more)
		: psprintf("cuts the declared bin %s%s%s in two", bin_text(s, a, cell), more, cut > 1 ? "," : "");
}

/* Of the column itself all is known. */
static char *
cure_of_unknown(pe_sight *s, const pe_public_attribute *a, int32 cell, const char *beside)
{
	return psprintf("Compare the column itself with edges of bins, as in %s%s%s", range_text(s, a, cell, cell),
					pe_type_is_time(a->type) ? ", or use date_trunc" : "", beside);
}

/* Whether an expression is the same at the first value of a bin and at the next one. */
static void
compare_first_values(void *argument)
{
	bin_ends   *b = argument;
	const pe_public_attribute *a = &b->sight->declared->attribute[b->attribute];
	Datum		next;

	if (!pe_public_next(a, a->low[b->cell], &next))
		return;
	put_ends(b->sight, b->attribute, a->low[b->cell], next, false);
	b->agree = has_one_value(b->sight, b->values);
}

/* An edge is the first value of its bin: x > edge cuts it, and so does x <= edge. */
static bool
is_cut_behind_edge(pe_sight *s, const pe_values *v, int attribute, int32 cell)
{
	bin_ends	b = {s, v, attribute, cell, true};

	return v->cut[cell] == PE_CUT_BY_RANGE && succeeds(compare_first_values, &b) && !b.agree;
}

/* Without pg_epsilon.cut_bins = middle, which is no cure of what is refused with it too. */
static void
refuse_cut(pe_sight *s, const pe_public_attribute *a, int32 cell, bool unknown, const char *what, const char *cure)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s of \"%s\" %s", what, a->name, cut_text(s, a, cell, unknown, 1)),
			 errdetail("Nothing was charged."),
			 errhint("%s", cure)));
}

static void
refuse_equality(pe_sight *s, const pe_public_attribute *a, int32 cell, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s of \"%s\" asks for one value inside the declared bin %s", what, a->name, bin_text(s, a, cell)),
			 errdetail("Only ranges are decided at the middle of a bin. Nothing was charged."),
			 errhint("Ask for the bin: %s.", range_text(s, a, cell, cell))));
}

static void
refuse_most(pe_sight *s, const pe_public_attribute *a, int32 first, bool unknown, int32 cut, int32 bins,
			const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 unknown
			 ? errmsg("%s of \"%s\" is not known to have one value in %d of %d declared bins", what, a->name, cut,
					  bins)
			 : errmsg("%s of \"%s\" cuts %d of %d declared bins", what, a->name, cut, bins),
			 errdetail("An expression is decided at the middle of bins where it cuts half of them at most. "
					   "Nothing was charged."),
			 errhint("%s", unknown ? cure_of_unknown(s, a, first, ".") : COARSER)));
}

static void
tell_cut(pe_sight *s, int attribute, int32 cell, bool unknown, int32 cut, const char *what)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];

	if (pe_sight_is_told(s, psprintf("cut %d", attribute)))
		return;
	pe_notice((errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s of \"%s\" %s", what, a->name, cut_text(s, a, cell, unknown, cut)),
			 errdetail("It is decided at the middle of each bin.")));
}

void
pe_sight_tell_nulls(pe_sight *s, int attribute, const char *what, const char *how)
{
	if (s->adds_nothing || !s->declared->attribute[attribute].drops_null ||
		pe_sight_is_told(s, psprintf("nulls %d", attribute)))
		return;
	pe_notice((errmsg("%s of \"%s\" %s for NULL, and the dataset does not count rows without a value of it",
					what, s->declared->attribute[attribute].name, how),
			 errhint("The owner can declare a cell for them: nulls => 'cell'.")));
}

void
pe_sight_tell_nan(pe_sight *s, int attribute, bool as_null, const char *what)
{
	if (s->adds_nothing || pe_sight_is_told(s, psprintf("nan %d", attribute)))
		return;
	pe_notice((as_null
			 ? errmsg("%s of \"%s\" is true for NULL, and rows with NaN are counted, too",
					  what, s->declared->attribute[attribute].name)
			 : errmsg("%s of \"%s\" is true for NaN, and rows with NaN are left out",
					  what, s->declared->attribute[attribute].name),
			 errdetail("NaN counts as NULL here. In PostgreSQL it is greater than every number.")));
}

/* Not where a literal was named already, which is no declared level. */
static bool
is_literal_told(const pe_sight *s, int attribute)
{
	const char *literal = psprintf("%d:", attribute);
	ListCell   *cell;

	foreach(cell, s->told)
		if (strncmp(lfirst(cell), literal, strlen(literal)) == 0)
			return true;
	return false;
}

void
pe_sight_tell_undeclared(pe_sight *s, int attribute, const char *what, const char *how)
{
	if (s->adds_nothing || !s->declared->attribute[attribute].drops_outside || is_literal_told(s, attribute) ||
		pe_sight_is_told(s, psprintf("beyond %d", attribute)))
		return;
	pe_notice((errmsg("%s of \"%s\" %s for values that are not declared, and the dataset does not count rows with them",
					what, s->declared->attribute[attribute].name, how),
			 errhint("The owner can declare a cell for them: outside => 'other'.")));
}

void
pe_sight_tell_unsummed(pe_sight *s, int attribute)
{
	if (pe_sight_is_told(s, psprintf("unsummed %d", attribute)))
		return;
	pe_notice((errmsg("sums and averages of \"%s\" leave out values outside of its bins (outside => other)",
					s->declared->attribute[attribute].name),
			 errdetail("count(*) and count of the column include them.")));
}

void
pe_sight_check_outside(pe_sight *s, int attribute, const char *what)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	const pe_stand_in *o = &s->outside[attribute];
	char	   *value = a->bins || o->isnull ? "NULL" : literal(s, a, o->shown_null ? o->value : o->shown);

	if (s->middle && pe_sight_is_told(s, psprintf("outside %d", attribute)))
		return;
	ereport(s->middle ? NOTICE : ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s of \"%s\" tells values outside of what is declared apart", what, a->name),
			 s->middle ? errdetail("They count as one value, %s.", value) : errdetail("Nothing was charged."),
			 s->middle ? 0 : a->bins
			 ? errhint("Leave them out: WHERE %s. Or SET pg_epsilon.cut_bins = middle.",
					   range_text(s, a, 0, a->ordered - 1))
			 : errhint("Compare with declared levels, group by the column alone and compute with its answer, "
					   "or SET pg_epsilon.cut_bins = middle.")));
}

void
pe_sight_check_cuts(pe_sight *s, const pe_values *v, int attribute, const bool *left, const char *what)
{
	const pe_public_attribute *a = &s->declared->attribute[attribute];
	int32		bins = 0;
	int32		cut = 0;
	int32		first = 0;
	bool		by_expression = false;
	bool		unknown;

	for (int32 i = 0; i < a->cells; i++)
	{
		if (left != NULL && !left[i])
			continue;
		bins += i < a->ordered;
		if (v->cut[i] == PE_NOT_CUT)
			continue;
		if (v->cut[i] == PE_CUT_OUTSIDE)
		{
			pe_sight_check_outside(s, attribute, what);
			continue;
		}
		if (s->middle && v->cut[i] == PE_CUT_BY_EQUALITY)
			refuse_equality(s, a, i, what);
		by_expression |= v->cut[i] == PE_CUT_BY_EXPRESSION;
		first = cut++ == 0 ? i : first;
	}
	if (cut == 0)
		return;
	unknown = is_unknown(s, v, attribute, first);
	if (!s->middle)
		refuse_cut(s, a, first, unknown, what, v->cut[first] == PE_CUT_BY_EQUALITY
				   ? psprintf("Ask for the bin: %s.", range_text(s, a, first, first))
				   : unknown ? cure_of_unknown(s, a, first, cut > bins / 2 ? "." : OR_MIDDLE)
				   : by_expression && cut > bins / 2 ? COARSER
				   : is_cut_behind_edge(s, v, attribute, first)
				   ? "A bin begins with its low edge: compare by >= or <, not by > or <=" OR_MIDDLE
				   : "Use an edge of a bin" OR_MIDDLE);
	if (by_expression && cut > bins / 2)
		refuse_most(s, a, first, unknown, cut, bins, what);
	tell_cut(s, attribute, first, unknown, cut, what);
}

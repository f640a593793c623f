/*
 * names.c
 *	  What the catalog says of the parts of an expression.  See names.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "fdw/names.h"
#include "server/compat.h"

pe_names *
pe_names_new(void)
{
	pe_names   *names = palloc0(sizeof(*names));

	names->context = CurrentMemoryContext;
	return names;
}

static void
refuse_missing(const char *what, Oid id)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s that the SELECT uses does not exist any more", what),
			 errdetail("Its OID was %u. Nothing was charged.", id),
			 errhint("A function of the SELECT, or another session, dropped it.")));
}

void
pe_names_rethrow(MemoryContext context)
{
	ErrorData  *error;

	if (geterrcode() != ERRCODE_INTERNAL_ERROR)
		PG_RE_THROW();
	MemoryContextSwitchTo(context);
	error = CopyErrorData();
	FlushErrorState();
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("an expression of the SELECT could not be evaluated"),
			 errdetail("The server said: %s. Nothing was charged.", error->message),
			 errhint("A function of the SELECT, or another session, may have dropped what the expression uses.")));
	pg_unreachable();
}

/* ------------------------------------------------------------------
 * One at a time
 * ------------------------------------------------------------------
 */

/* Entries begin with their OID. */
static void *
find_entry(List *entries, Oid id)
{
	ListCell   *cell;

	foreach(cell, entries)
		if (*(Oid *) lfirst(cell) == id)
			return lfirst(cell);
	return NULL;
}

const pe_named_function *
pe_names_function(pe_names *names, Oid function)
{
	pe_named_function *f = find_entry(names->functions, function);
	MemoryContext old;
	char	   *name;

	if (f != NULL)
		return f;
	name = get_func_name(function);
	if (name == NULL)
		refuse_missing("a function", function);
	old = MemoryContextSwitchTo(names->context);
	f = palloc0(sizeof(*f));
	f->id = function;
	f->name = pstrdup(name);
	f->schema = get_func_namespace(function);
	f->builtin = f->schema == PG_CATALOG_NAMESPACE;
	names->functions = lappend(names->functions, f);
	MemoryContextSwitchTo(old);
	return f;
}

/* Which comparison an operator is, and the function that orders its operands. */
static void
find_order(pe_names *names, pe_named_operator *o)
{
	List	   *meanings = pe_comparison_meanings(o->id);
	const pe_comparison_meaning *meaning;
	Oid			order;

	if (meanings == NIL)
		return;
	meaning = linitial(meanings);
	order = get_opfamily_proc(meaning->opfamily_id, meaning->oplefttype, meaning->oprighttype, BTORDER_PROC);
	if (!OidIsValid(order))
		return;
	fmgr_info_cxt(order, &o->order, names->context);
	o->kind = pe_comparison_kind(meaning);
}

pe_named_operator *
pe_names_operator(pe_names *names, Oid operator)
{
	pe_named_operator *o = find_entry(names->operators, operator);
	MemoryContext old;
	char	   *name;

	if (o != NULL)
		return o;
	name = get_opname(operator);
	if (name == NULL)
		refuse_missing("an operator", operator);
	old = MemoryContextSwitchTo(names->context);
	o = palloc0(sizeof(*o));
	o->id = operator;
	o->name = pstrdup(name);
	o->builtin = get_func_namespace(get_opcode(operator)) == PG_CATALOG_NAMESPACE;
	find_order(names, o);
	names->operators = lappend(names->operators, o);
	MemoryContextSwitchTo(old);
	return o;
}

int
pe_names_order(pe_named_operator *operator, Oid collation, Datum value, Datum constant, bool value_first)
{
	int			order = DatumGetInt32(FunctionCall2Coll(&operator->order, collation,
														value_first ? value : constant,
														value_first ? constant : value));

	return value_first ? order : order < 0 ? 1 : order > 0 ? -1 : 0;
}

static void
find_functions(pe_names *names, pe_named_type *t)
{
	TypeCacheEntry *entry = lookup_type_cache(t->id, TYPECACHE_EQ_OPR_FINFO | TYPECACHE_HASH_PROC_FINFO);
	Oid			output;
	bool		varlena;

	t->has_equality = OidIsValid(entry->eq_opr);
	if (t->has_equality)
		fmgr_info_copy(&t->equality, &entry->eq_opr_finfo, names->context);
	t->has_hash = OidIsValid(entry->hash_proc);
	if (t->has_hash)
		fmgr_info_copy(&t->hash, &entry->hash_proc_finfo, names->context);
	getTypeOutputInfo(t->id, &output, &varlena);
	fmgr_info_cxt(output, &t->output, names->context);
}

pe_named_type *
pe_names_type(pe_names *names, Oid type)
{
	pe_named_type *t = find_entry(names->types, type);
	MemoryContext old;

	if (t != NULL)
		return t;
	if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
		refuse_missing("a type", type);
	old = MemoryContextSwitchTo(names->context);
	t = palloc0(sizeof(*t));
	t->id = type;
	t->base = getBaseType(type);
	t->element = get_element_type(t->base);
	get_typlenbyvalalign(type, &t->length, &t->by_value, &t->alignment);
	t->collates = OidIsValid(get_typcollation(type));
	find_functions(names, t);
	names->types = lappend(names->types, t);
	MemoryContextSwitchTo(old);
	return t;
}

typedef struct named_collation
{
	Oid			id;
	bool		bytewise;
} named_collation;

bool
pe_names_is_bytewise(pe_names *names, Oid collation)
{
	named_collation *c = find_entry(names->collations, collation);
	MemoryContext old;

	if (!OidIsValid(collation))
		return true;
	if (c != NULL)
		return c->bytewise;
	if (!SearchSysCacheExists1(COLLOID, ObjectIdGetDatum(collation)))
		refuse_missing("a collation", collation);
	old = MemoryContextSwitchTo(names->context);
	c = palloc(sizeof(*c));
	*c = (named_collation) {collation, get_collation_isdeterministic(collation)};
	names->collations = lappend(names->collations, c);
	MemoryContextSwitchTo(old);
	return c->bytewise;
}

/* ------------------------------------------------------------------
 * All of an expression
 * ------------------------------------------------------------------
 */

/* The type of a node that has values. */
static Oid
type_of(Node *node)
{
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
		case T_Aggref:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_BoolExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_CoerceToDomain:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
		case T_ArrayExpr:
		case T_RowExpr:
			return exprType(node);
		default:
			return InvalidOid;
	}
}

static bool
collect(Node *node, void *names)
{
	Oid			type;

	if (node == NULL)
		return false;
	type = type_of(node);
	if (OidIsValid(type))
	{
		Oid			element = pe_names_type(names, type)->element;

		if (OidIsValid(element))
			(void) pe_names_type(names, element);
		(void) pe_names_is_bytewise(names, exprInputCollation(node));
		(void) pe_names_is_bytewise(names, exprCollation(node));
	}
	if (IsA(node, FuncExpr))
		(void) pe_names_function(names, ((FuncExpr *) node)->funcid);
	else if (IsA(node, Aggref))
		(void) pe_names_function(names, ((Aggref *) node)->aggfnoid);
	else if (IsA(node, OpExpr) || IsA(node, DistinctExpr) || IsA(node, NullIfExpr))
		(void) pe_names_operator(names, ((OpExpr *) node)->opno);
	else if (IsA(node, ScalarArrayOpExpr))
		(void) pe_names_operator(names, ((ScalarArrayOpExpr *) node)->opno);
	return expression_tree_walker(node, collect, names);
}

void
pe_names_collect(pe_names *names, List *expressions)
{
	(void) collect((Node *) expressions, names);
}

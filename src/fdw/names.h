/*
 * names.h
 *	  What the catalog says of the functions, operators, types and collations of an expression.
 *
 * It is looked up for all expressions of a SELECT before the first of them is
 * evaluated: a user's function may drop what another expression uses, and a
 * name that is looked up then is missing.
 */
#ifndef PE_FDW_NAMES_H
#define PE_FDW_NAMES_H

#include "postgres.h"

#include "fmgr.h"
#include "nodes/pg_list.h"

typedef struct pe_named_function
{
	Oid			id;
	char	   *name;
	bool		builtin;		/* of schema pg_catalog */
	Oid			schema;
} pe_named_function;

typedef struct pe_named_operator
{
	Oid			id;
	char	   *name;
	bool		builtin;		/* its function is */
	int			kind;			/* what it compares by, as pe_comparison_kind; 0: it is no comparison of a B-tree */
	FmgrInfo	order;			/* of such a one: the function that orders */
} pe_named_operator;

typedef struct pe_named_type
{
	Oid			id;
	Oid			base;
	Oid			element;		/* of an array */
	int16		length;
	bool		by_value;
	char		alignment;
	bool		collates;
	bool		has_equality;
	bool		has_hash;
	FmgrInfo	equality;
	FmgrInfo	hash;
	FmgrInfo	output;
} pe_named_type;

typedef struct pe_names
{
	MemoryContext context;
	List	   *functions;
	List	   *operators;
	List	   *types;
	List	   *collations;
} pe_names;

extern pe_names *pe_names_new(void);

/* Looks up all that a list of expressions is made of.  55000 if something is missing. */
extern void pe_names_collect(pe_names *names, List *expressions);

/* What was looked up, or is now; 55000 if it is missing. */
extern const pe_named_function *pe_names_function(pe_names *names, Oid function);
extern pe_named_operator *pe_names_operator(pe_names *names, Oid operator);
extern pe_named_type *pe_names_type(pe_names *names, Oid type);

/* The order of a value and a constant by a comparison's function, in which either may stand first. */
extern int	pe_names_order(pe_named_operator *operator, Oid collation, Datum value, Datum constant, bool value_first);

/* Whether texts that a collation calls equal are the same bytes; also where there is none. */
extern bool pe_names_is_bytewise(pe_names *names, Oid collation);

/* In PG_CATCH, with the memory context of before: an internal error of an expression is one of the user's, 55000. */
extern void pe_names_rethrow(MemoryContext context) __attribute__((noreturn));

#endif

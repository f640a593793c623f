/*
 * condition.h
 *	  Conditions of SQL as sets of cells: what WHERE, FILTER and CASE become.
 *
 * Two conditions that select the same cells have the same text: one is answered
 * from the other.
 */
#ifndef PE_FDW_CONDITION_H
#define PE_FDW_CONDITION_H

#include "fdw/sight.h"

typedef enum pe_condition_kind
{
	PE_COND_NEVER, PE_COND_ALWAYS, PE_COND_CELLS, PE_COND_AND, PE_COND_OR
} pe_condition_kind;

typedef struct pe_condition
{
	pe_condition_kind kind;
	int			attribute;		/* PE_COND_CELLS */
	bool	   *cells;			/* those that it selects */
	bool		unnamed;		/* rows that the attribute's declaration drops are selected too */
	List	   *parts;			/* PE_COND_AND, PE_COND_OR: of different attributes, where they are cells */
	char	   *text;			/* of a part of a join, by which it is sorted; NULL: not needed yet */
} pe_condition;

/* Which truth of an expression is meant. */
typedef enum pe_truth
{
	PE_IS_TRUE, PE_IS_FALSE, PE_IS_NOT_TRUE, PE_IS_NOT_FALSE
} pe_truth;

extern pe_condition *pe_condition_always(void);
extern pe_condition *pe_condition_never(void);
/*
 * unnamed: whether it is true for NULL and for values outside that are dropped.
 * All cells are no condition where nothing is dropped or these are selected
 * too.  Else the condition is kept: it drops the rows that it is not true for.
 */
extern pe_condition *pe_condition_cells(const pe_sight *sight, int attribute, const bool *cells, bool unnamed);

/*
 * The condition that an expression has this truth.  It is evaluated on the
 * cells that another condition leaves: an error on a cell without a row that
 * counts is none.  what: "a test in WHERE".  0A000 if cells do not decide it.
 */
extern pe_condition *pe_condition_of(pe_sight *sight, Node *expression, pe_truth truth,
									 const pe_condition *within, const char *what);

/* NOTICE where a test of an attribute may be true for values that are not declared, whose rows are dropped. */
extern void pe_condition_tell_undeclared(pe_sight *sight, Node *test, int attribute, const char *what);

/* That all of a list of expressions are true. */
extern pe_condition *pe_condition_of_list(pe_sight *sight, List *expressions, const char *what);

extern pe_condition *pe_condition_and(const pe_sight *sight, pe_condition *one, pe_condition *other);
extern pe_condition *pe_condition_or(const pe_sight *sight, pe_condition *one, pe_condition *other);

/*
 * False if no row meets it, as columns that are NOT NULL have values; declared: nor other columns whose NULLs the
 * declaration drops, where they are compared.
 */
extern bool pe_condition_may_hold(const pe_sight *sight, const pe_condition *condition, bool declared);

/* The cells of an attribute that an AND leaves; NULL: all. */
extern const bool *pe_condition_leaves(const pe_condition *condition, int attribute);

/* The same of each part of an OR, too: a row of another cell is not left. */
extern const bool *pe_condition_may_leave(const pe_sight *sight, const pe_condition *condition, int attribute);

/* The condition without what it says of single attributes of a set. */
extern pe_condition *pe_condition_without(const pe_sight *sight, const pe_condition *condition,
										  const Bitmapset *attributes);

/* In the language of predicates; NULL: always. */
extern char *pe_condition_text(const pe_sight *sight, const pe_condition *condition);

#endif

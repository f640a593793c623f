/*
 * joins.h
 *	  A dataset as rows of one table with what keys look up beside them: the shape that plain SELECT joins by.
 *
 * A view is *joins alone* if it is one SELECT of tables, whose conditions are equalities of plain
 * columns and nothing else.  A table of it is a *spine* if it is on no nullable side and every
 * other table is looked up from it, directly or along a chain, by a unique key.  The row that is
 * looked up in a table, or none, is then a function of the row of the spine.
 *
 * A dataset of a table has that table alone, which is its spine.
 *
 * Nothing here is trusted: what it says decides which dataset a SELECT asks and whether that has
 * the rows that were meant.  A wrong word is a wrong answer and no leak.
 */
#ifndef PE_VIEW_JOINS_H
#define PE_VIEW_JOINS_H

#include "access/attnum.h"
#include "nodes/bitmapset.h"

#include "ledger/dataset.h"

/* x = y of two plain columns of tables, which have numbers from 0. */
typedef struct pe_join_equality
{
	int			one;
	AttrNumber	one_column;
	int			other;
	AttrNumber	other_column;
} pe_join_equality;

typedef struct pe_join_table
{
	Oid			relation;
	int			columns;		/* that it has or had */
	char	   *name;			/* with its schema */
	char	   *alias;			/* as SQL */
	bool		is_outer;		/* rows where nothing is looked up stay, with NULLs */
	bool		is_public;
} pe_join_table;

/* How a table is looked up from a spine. */
typedef struct pe_join_link
{
	List	   *equalities;		/* pe_join_equality *, all that hold for it; one is its own side */
	Bitmapset  *parents;		/* the tables that it is looked up from */
	bool		refers;			/* there always is one: by a validated foreign key of columns that are never NULL */
	List	   *nullable;		/* numbers of the columns of such a key that may be NULL: it would refer without them */
} pe_join_link;

typedef struct pe_join_spine
{
	int			table;
	pe_join_link *link;			/* of each table; of the spine itself none */
} pe_join_spine;

/* An output column of the view that is a plain column of a table. */
typedef struct pe_join_output
{
	char	   *name;
	int			table;
	AttrNumber	column;
	bool		is_there;		/* the view's joins say that it is NULL in no row */
	bool		marks;			/* it is NULL only where no row of its table is there */
} pe_join_output;

typedef struct pe_joins
{
	int			tables;
	pe_join_table *table;
	List	   *equalities;		/* pe_join_equality *, all */
	int			spines;			/* at least one */
	pe_join_spine *spine;
	int			outputs;
	pe_join_output *output;
} pe_joins;

/*
 * The joins of a dataset, under AccessShareLock on all tables that stays to the end of the
 * transaction.  NULL, with the reason as a sentence without its subject, if they are not joins alone.
 * Errors are those of a view that cannot be looked at.
 */
extern pe_joins *pe_joins_of(const pe_dataset *dataset, const char **why);

#endif

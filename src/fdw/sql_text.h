/*
 * sql_text.h
 *	  Expressions as SQL over names that are said, for the statements of hints: tables may be foreign ones that stand
 *	  for others.
 */
#ifndef PE_FDW_SQL_TEXT_H
#define PE_FDW_SQL_TEXT_H

#include "postgres.h"

#include "nodes/parsenodes.h"

/* A table of Vars: its name, and those of its columns (String *). */
extern RangeTblEntry *pe_sql_table(const char *name, List *columns);

/* The names of a foreign table's columns, as its base table or its dataset has them. */
extern List *pe_sql_columns(Oid relation);

/* tables: by the number of Vars, from 1; qualified: each column with the name of its table. */
extern char *pe_sql_text(List *tables, Node *expression, bool qualified);

/*
 * SELECT c FROM t WHERE ... GROUP BY ... HAVING ... of a SELECT over a table of dp.expose_tables, with its base table.
 * column: c.  NULL: it is another SELECT.
 */
extern char *pe_sql_grouped_select(const Query *select, AttrNumber column);

#endif

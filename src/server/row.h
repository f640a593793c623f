/*
 * row.h
 *	  Rows of the ledger's tables by their keys, one at a time and without a plan.
 *
 * What every charge does to the ledger is the same few rows each time.  A plan
 * for them, however well kept, is set up anew at each execution, which takes
 * longer than the rows do.  So they are found by an index and written as a
 * subscriber of logical replication writes: with all constraints, indexes and
 * triggers for rows of their tables, but no defaults.
 *
 * No privileges are checked.  What is read is as it is now, under any snapshot
 * of the transaction; what is written is seen by everything after it.
 */
#ifndef PE_SERVER_ROW_H
#define PE_SERVER_ROW_H

#include "nodes/pg_list.h"

/* A row of a table in schema dp_ledger, and its values; in the memory context that was current. */
typedef struct pe_row pe_row;

/* A column that is written (access.h). */
struct pe_field;

/* Waits for the right to write in a table, until the transaction ends. */
extern void pe_table_lock(const char *table);

/* The rows whose first columns in an index have these values, in the order of the index. */
extern List *pe_rows(const char *table, const char *index, const Datum *key, int keys);

/* The last one of them; NULL if there is none. */
extern pe_row *pe_row_last(const char *table, const char *index, const Datum *key, int keys);

/* A row of the last result of a statement (access.h), to be read while that is there. */
extern pe_row *pe_row_of_result(uint64 number);

typedef enum pe_row_lock_result
{
	PE_ROW_LOCKED,				/* until the transaction ends; its values are the newest */
	PE_ROW_HELD,				/* by another transaction, and the caller does not wait */
	PE_ROW_GONE
} pe_row_lock_result;

extern pe_row_lock_result pe_row_lock(pe_row *row);

/* Values of a column; a timestamptz is an int64 too.  NULL is 0, and NULL where there are pointers. */
extern bool pe_row_is_null(const pe_row *row, const char *column);
extern int64 pe_row_int64(const pe_row *row, const char *column);
extern bool pe_row_bool(const pe_row *row, const char *column);
extern char *pe_row_text(const pe_row *row, const char *column);
extern bytea *pe_row_bytea(const pe_row *row, const char *column);
extern double pe_row_float8(const pe_row *row, const char *column);
extern size_t pe_row_size(const pe_row *row, const char *column);	/* in bytes, of one of variable length */
extern Datum pe_row_datum(const pe_row *row, const char *column);
extern char **pe_row_texts(const pe_row *row, const char *column, int *count);

/* Whether the current transaction wrote the row, or a subtransaction of it that is not undone. */
extern bool pe_row_changed_here(const pe_row *row);

/* Adds to an integer; NULL stays NULL. */
extern void pe_row_add(pe_row *row, const char *column, int64 value);

/* A new row: columns that are not among the fields are NULL. */
extern void pe_row_insert(const char *table, const struct pe_field *fields, int count);

/* Writes a row that pe_row_lock locked, with new values of some columns. */
extern void pe_row_update(pe_row *row, const struct pe_field *fields, int count);

/* The next number of a sequence in schema dp_ledger. */
extern int64 pe_row_next(const char *sequence);

#endif

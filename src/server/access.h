/*
 * access.h
 *	  SQL on the ledger's tables, as their owner and as no other role.
 *
 * The tables of schema dp_ledger are closed to all roles but superusers.  Between
 * pe_access_begin and pe_access_end the current user is the bootstrap
 * superuser in a restricted security context, search_path is pg_catalog and
 * pg_temp, and values are written in one fixed form under all settings of the session.
 * An error in between is undone by the abort of the (sub)transaction.
 */
#ifndef PE_SERVER_ACCESS_H
#define PE_SERVER_ACCESS_H

#include "catalog/pg_type_d.h"
#include "executor/instrument.h"
#include "executor/spi.h"
#include "utils/resowner.h"

#define PE_MAX_PARAMETERS 48

/* A statement, planned at its first use in a session and kept. */
typedef struct pe_statement
{
	SPIPlanPtr	plan;			/* NULL before the first use */
	const char *sql;
	int			parameters;
	Oid			types[PE_MAX_PARAMETERS];
} pe_statement;

typedef struct pe_access
{
	Oid			saved_user;
	int			saved_context;
	int			guc_level;
	BufferUsage buffers;
	WalUsage	wal;
} pe_access;

/* A configuration parameter and the value it must have. */
typedef struct pe_setting
{
	const char *name;
	const char *value;

	/* where the server keeps it, which is faster to look at than to find its name; NULL: not known here */
	const bool *flag;
	const int  *number;
	int			wanted;			/* the number that is the value */
} pe_setting;

#define PE_SETTING(text, to, ...) {.name = (text), .value = (to), __VA_ARGS__}

/* Sets parameters until the current GUC nest level ends; those that this server does not know are passed over. */
extern void pe_pin_settings(const pe_setting *settings, int count);

/* What would show nested statements to the session, or their plans: the ledger's, and those that scan. */
extern void pe_pin_shown(void);

/*
 * For the ledger's worker, which runs nothing but the ledger's statements: its
 * settings are pinned once, and not again by pe_access_begin.
 */
extern void pe_access_pin_for_good(void);

/* 25000 in a parallel operation. */
extern void pe_access_begin(pe_access *access);

/* 25000 in a parallel operation, where the ledger can only be read; pe_access_begin asks too. */
extern void pe_access_check_serial(void);

/* For nothing but reads, which the leader of a parallel operation may do too; 25000 in a worker of one. */
extern void pe_access_begin_reading(pe_access *access);
extern void pe_access_end(pe_access *access);

/* Runs a statement that writes, or a read under the transaction's snapshot; returns the number of rows. */
extern uint64 pe_access_write(pe_statement *statement, Datum *values, const char *nulls);

/* A column that is written, named once, beside its value. */
typedef struct pe_field
{
	const char *column;
	Oid			type;
	Datum		value;
	bool		isnull;
	const char *sql;			/* what the column becomes, where $column is the value of a field; NULL: the value */
} pe_field;

#define PE_DATUM(name, oid, datum) ((pe_field) {.column = (name), .type = (oid), .value = (datum)})
#define PE_BOOL(name, truth) PE_DATUM(name, BOOLOID, BoolGetDatum(truth))
#define PE_INT4(name, number) PE_DATUM(name, INT4OID, Int32GetDatum(number))
#define PE_INT8(name, number) PE_DATUM(name, INT8OID, Int64GetDatum(number))
#define PE_FLOAT8(name, number) PE_DATUM(name, FLOAT8OID, Float8GetDatum(number))
#define PE_OID(name, oid) PE_DATUM(name, OIDOID, ObjectIdGetDatum(oid))
#define PE_TIMESTAMPTZ(name, time) PE_DATUM(name, TIMESTAMPTZOID, Int64GetDatum(time))
#define PE_BYTEA(name, bytes) PE_DATUM(name, BYTEAOID, PointerGetDatum(bytes))
#define PE_INT8S(name, number, count) PE_DATUM(name, INT8ARRAYOID, pe_array_of_int64s(number, count))
#define PE_TEXTS(name, text, count) PE_DATUM(name, TEXTARRAYOID, pe_array_of_texts(text, count))
#define PE_TEXT(name, text) pe_field_text(name, text)

/* The field, but NULL unless the condition holds. */
#define PE_IF(condition, field) pe_field_with(field, !(condition), NULL)

/* A column without a value of its own, and one that becomes what SQL makes of its value: not in rows (row.h). */
#define PE_SQL(name, text) ((pe_field) {.column = (name), .type = INT4OID, .isnull = true, .sql = (text)})
#define PE_AS(text, field) pe_field_with(field, false, text)

/* A table of fields and how many there are. */
#define PE_FIELDS(fields) (fields), lengthof(fields)

/* Text that is NULL is NULL. */
extern pe_field pe_field_text(const char *column, const char *text);
extern pe_field pe_field_with(pe_field field, bool isnull, const char *sql);
extern Datum pe_array_of_texts(char **text, int count);

/* The same of whole numbers; and back: NULL, and no number, if there is no array. */
extern Datum pe_array_of_int64s(const int64 *number, int count);
extern int64 *pe_int64s_of_array(Datum array, int *count);

/*
 * Writes like pe_access_write, with one statement for each place in the source, where the columns are
 * the same at each call.  An update finds its rows by the first fields, its keys.  rest is SQL that
 * follows, and after an insert may begin with FROM.  For example
 *
 *		pe_field	fields[] = {
 *			PE_INT8("id", dataset->id),
 *			PE_TEXT("unit", dataset->unit),
 *			PE_SQL("version", "version + 1")
 *		};
 *
 *		pe_access_update(&kept, "dataset", PE_FIELDS(fields), 1, "AND NOT dropped");
 *
 * runs UPDATE dp_ledger.dataset SET unit = $2, version = version + 1 WHERE id = $1 AND NOT dropped.
 */
extern uint64 pe_access_insert(pe_statement *kept, const char *table, const pe_field *fields, int count,
							   const char *rest);
extern uint64 pe_access_update(pe_statement *kept, const char *table, const pe_field *fields, int count, int keys,
							   const char *rest);

/* The same of other SQL. */
extern uint64 pe_access_named(pe_statement *kept, const char *sql, const pe_field *fields, int count);

/*
 * Runs a SELECT under the latest snapshot, in any isolation level; in a parallel
 * operation, where none can be taken, under the one that is active.  Returns the
 * number of rows.
 */
extern uint64 pe_access_read(pe_statement *statement, Datum *values, const char *nulls);

/*
 * For several reads that must fit together: a SELECT under the snapshot that is
 * active, which the caller has pushed, all of it or by a cursor.  The caller
 * fetches with pe_access_fetch and closes with pe_access_close.
 */
extern uint64 pe_access_read_again(pe_statement *statement, Datum *values);

/*
 * As pe_access_read_again, for who called pe_access_begin: he is the one whose rights
 * the statement's functions look at (pe_access_asker).
 */
extern uint64 pe_access_read_for(const pe_access *access, pe_statement *statement);
extern Oid	pe_access_asker(void);
extern Portal pe_access_cursor(pe_statement *statement, Datum *values);

/* Column (from 1) of a row of the last result, in the caller's memory; NULL for null text. */
extern char *pe_access_text(uint64 row, int column);
extern char **pe_access_texts(uint64 row, int column, int *count);	/* a text[] that is not null */
extern int64 *pe_access_int64s(uint64 row, int column, int *count);	/* an int8[]; none if it is null */

/* The elements of a text[], in the current memory context; XX001 if one is NULL, which the ledger never writes. */
extern char **pe_texts_of_array(Datum array, int *count);
extern int64 pe_access_int64(uint64 row, int column);	/* also an OID or xid, to be cast; 0 for null */
extern Datum pe_access_datum(uint64 row, int column, bool *isnull);

/* What other modules may hook into a nested statement; all are variables of the process. */
typedef enum pe_hidden
{
	PE_HIDE_EXECUTION,			/* its execution: for the scan of a table */
	PE_HIDE_STATEMENT			/* its plan and its privileges too: for statements on the ledger */
} pe_hidden;

/*
 * Runs body where no hook of other modules is called that could show how many
 * rows its statements read, or that they were: pg_stat_statements,
 * auto_explain, pg_stat_kcache, pgaudit and their kin.  The hooks are put back
 * at the end, an error or not.
 */
extern void pe_run_hidden(pe_hidden what, void (*body) (void *), void *argument);

/* Rows of a cursor of pe_access_cursor, as of SPI_cursor_fetch; and its end. */
extern void pe_access_fetch(Portal portal, long rows);
extern void pe_access_close(Portal portal);

/*
 * The statements between run in a subtransaction that is always undone, so that none
 * of its locks stays with the caller's transaction: a prepared transaction would keep
 * them for ever.  The buffers they use are not counted, and messages below ERROR do
 * not reach the client.  What they allocate in the current memory context stays.  An
 * error goes on to the caller.  As after PG_TRY, nothing may leave the block early.
 */
#define PE_UNDONE() \
	{ \
		pe_undone	undone_; \
		pe_undone_begin(&undone_); \
		PG_TRY(); \
		{ \
			pe_undone_silence()

#define PE_END_UNDONE() \
		} \
		PG_CATCH(); \
		{ \
			ReThrowError(pe_undone_catch(&undone_)); \
		} \
		PG_END_TRY(); \
		pe_undone_end(&undone_); \
	}

/* The same of a function; returns the error that ended it, to be rethrown or not; NULL if there was none. */
extern ErrorData *pe_run_undone(void (*body) (void *), void *argument);

/* An expression is evaluated for EXPLAIN alone, which charges nothing. */
extern bool pe_is_explaining;

/* For the macros above. */
typedef struct pe_undone
{
	MemoryContext context;
	ResourceOwner owner;
	BufferUsage buffers;
	WalUsage	wal;
} pe_undone;

extern void pe_undone_begin(pe_undone *undone);
extern void pe_undone_silence(void);
extern void pe_undone_end(pe_undone *undone);

/* In a PG_CATCH: ends it, and returns the error. */
extern ErrorData *pe_undone_catch(pe_undone *undone);

#endif

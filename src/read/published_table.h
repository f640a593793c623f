/*
 * published_table.h
 *	  A table of the caller's that dp.publish makes or replaces, or dp.publish_series makes and adds to.
 *
 * Nothing of others runs with the caller's rights.  A table that is there is
 * replaced only if the ledger remembers that dp.publish made it for the caller,
 * and added to only if it is of the same series; the caller owns it, and
 * nothing is on it that runs when it is written (ledger/relation.h).  It is
 * locked before that is looked at, so nothing can be put on it later.  All that
 * is written is written by the table's OID: a name could come to be another's.
 */
#ifndef PE_READ_PUBLISHED_TABLE_H
#define PE_READ_PUBLISHED_TABLE_H

#include "access/tupdesc.h"

typedef struct pe_target
{
	const char *function;		/* dp.publish, dp.publish_series */
	int64		series_id;		/* of the series that it is of, else 0; both are the caller's to set */
	Oid			schema;
	char	   *table;
	char	   *qualified;		/* both, quoted */
	Oid			relation;		/* the table that is there; InvalidOid: none */
} pe_target;

/* A restricted operation with a pinned search_path. */
typedef struct pe_confinement
{
	Oid			user;
	int			context;
	int			guc_level;
} pe_confinement;

/*
 * Finds and locks what is there.  Errors: 42P07 a table is there that is not to be
 * replaced, or is of another series, 42501 it is another's, 55000 something is on it; those of the name.
 */
extern void pe_target_find(pe_target *target, text *name, bool replace);

/*
 * Until pe_target_end everything runs in a restricted operation.  A temporary table
 * cannot be made in one: then the search_path alone is pinned.
 */
extern void pe_target_begin(const pe_target *target, pe_confinement *confinement);
extern void pe_target_end(const pe_confinement *confinement);

/* Drops the table that is there.  2BP01 what depends on it, 55006 it is in use, 55000 it is a dataset's. */
extern void pe_target_drop(pe_target *target);

/* Makes the table, of columns as CREATE TABLE has them; drops the one that is there. */
extern void pe_target_create(pe_target *target, const char *columns);

/* Hands on a column, by its number from 1, of all rows of the table that is there, as they are now; it has no nulls. */
extern void pe_target_read(const pe_target *target, int column,
						   void (*take) (void *argument, Datum value), void *argument);

/* Deletes all rows of the table that is there: others see them until the transaction ends. */
extern void pe_target_empty(const pe_target *target);

/* Inserts rows; make fills in the values of each, which live until the next one. */
typedef void (*pe_target_row) (const void *argument, int32 row, Datum *values, bool *nulls);
extern void pe_target_insert(const pe_target *target, int32 rows, pe_target_row make, const void *argument);

/* "charge 7 of rho 0.01 on 2026-11-29", the charge that a release was made for: for a comment. */
extern char *pe_charge_text(int64 release);

/* Comments on the table, and has the ledger remember it. */
extern void pe_target_finish(const pe_target *target, const char *comment);

#endif

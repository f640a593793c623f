/*
 * time.h
 *	  The column of a dataset that says when a row arrived.
 *
 * The owner declares it, and that it is filled on insert and never changed: a row is in one period of a
 * series then, and what it loses is what the series was charged (time/continual.h).  A row whose
 * time is changed can be in two periods and loses up to as much again at each change.
 *
 * The owner can have the database hold it: two triggers on each table of the
 * dataset, which are the owner's own, refuse to change, delete, add or truncate
 * rows of periods that are over (owner/time_column.c), replicated ones too.  Whether
 * they are there and fire is asked before every measurement of a series:
 * partitions and children come later.  DROP, DETACH PARTITION, ALTER TABLE that
 * computes rows anew, triggers that fire after ours and triggers that were
 * disabled in between stay the owner's word.
 */
#ifndef PE_LEDGER_TIME_H
#define PE_LEDGER_TIME_H

#include "ledger/dataset.h"

/*
 * Declares it, in the caller's transaction; an act (acts.h).  22023 for a
 * column whose values are no times, or the unit's; 55000 for another one than
 * blocks are of.
 */
extern void pe_time_declare(const pe_dataset *dataset, const char *column, bool append_only, bool hold);

/*
 * Puts the triggers on its table and on all that inherit from it, with the caller's rights, or takes
 * them off.  0A000 of foreign tables, and of a time that is generated.
 */
extern void pe_time_hold(const pe_dataset *dataset, const char *column, bool hold);

/* Whether it was declared that triggers hold the time, and they are on all these tables and fire. */
extern bool pe_time_is_held(const pe_dataset *dataset);

/* 55000 if it was declared, and one is missing: a partition or a child may have come since. */
extern void pe_time_check_held(const pe_dataset *dataset);

/*
 * What rows of a table may not be touched: values of the time from `from` on
 * and before `to`, as days or microseconds since 2000.
 */
typedef struct pe_held_time
{
	char	   *attribute;
	int64		from;
	int64		to;				/* no more than from: none */
} pe_held_time;

/*
 * Of the dataset of this name, if the table is its own or a part of it: the
 * periods that are over, of series that go on.
 */
extern pe_held_time pe_time_held(const char *dataset, Oid relation);

/*
 * The base type of a column that can be declared; 42703 if there is none, 22023
 * if its values are no times, or it is the unit's.
 */
extern Oid	pe_time_column_type(const pe_dataset *dataset, const char *column);

/*
 * The base type of the declared column; 55000 if none is declared, it is no
 * longer what was, or as pe_time_check_held.
 */
extern Oid	pe_time_type(const pe_dataset *dataset);

#endif

/*
 * time.h
 *	  The column of a dataset that says when a row arrived.
 *
 * The owner declares it, and that it is filled on insert and never changed: a row is in one period of a
 * series then, and what it loses is what the series was charged (strategy/continual.h).  A row whose
 * time is changed can be in two periods and loses up to as much again at each change.
 *
 * The owner can have the database hold it: two triggers on the table, which are the owner's own, refuse to change, delete, add or
 * truncate rows of periods that are over (api/time.c).  DROP, partitions that are detached or truncated, and whoever disables triggers stay the owner's word.
 */
#ifndef PE_LEDGER_TIME_H
#define PE_LEDGER_TIME_H

#include "ledger/dataset.h"

/* Declares it, in the caller's transaction; an act (acts.h).  22023 for a column whose values are no times, or the unit's; 55000 for another one than blocks are of. */
extern void pe_time_declare(const pe_dataset *dataset, const char *column, bool append_only);

/* Puts the triggers on its table, with the caller's rights, or takes them off. */
extern void pe_time_hold(const pe_dataset *dataset, bool hold);

/* Whether they are on it, and fire. */
extern bool pe_time_is_held(const pe_dataset *dataset);

/* What rows of a table may not be touched: values of the time from `from` on and before `to`, as days or microseconds since 2000. */
typedef struct pe_held_time
{
	char	   *attribute;
	int64		from;
	int64		to;				/* no more than from: none */
} pe_held_time;

/* Of the dataset of this name, if the table is its own or a part of it: the periods that are over, of series that go on. */
extern pe_held_time pe_time_held(const char *dataset, Oid relation);

/* The base type of a column that can be declared; 42703 if there is none, 22023 if its values are no times, or it is the unit's. */
extern Oid	pe_time_column_type(const pe_dataset *dataset, const char *column);

/* The base type of the declared column; 55000 if none is declared, or it is no longer what was. */
extern Oid	pe_time_type(const pe_dataset *dataset);

#endif

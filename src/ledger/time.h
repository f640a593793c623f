/*
 * time.h
 *	  The column of a dataset that says when a row arrived.
 *
 * The owner declares it, and that it is filled on insert and never changed: a row is in one period of a
 * series then, and what it loses is what the series was charged (strategy/continual.h).  A row whose
 * time is changed can be in two periods and loses up to as much again at each change.  Nothing enforces the declaration.
 */
#ifndef PE_LEDGER_TIME_H
#define PE_LEDGER_TIME_H

#include "ledger/dataset.h"

/* Declares it, in the caller's transaction; an act (acts.h).  22023 for a column whose values are no times, or the unit's. */
extern void pe_time_declare(const pe_dataset *dataset, const char *column, bool append_only);

/* The base type of the declared column; 55000 if none is declared, or it is no longer what was. */
extern Oid	pe_time_type(const pe_dataset *dataset);

#endif

/*
 * scan_periods.h
 *	  The door for a period of a series.
 *
 * Released: y_t of time/continual.h, once for each period: the measurement that the ledger stores (ledger/series.h
 * says why a draw that it does not store may be repeated).  Neighbours,
 * sensitivity, cost and theorem: plan/plan_series.c.
 *
 * One scan, under one snapshot, reads the rows of all periods that y_t takes,
 * as cells of the domain, or into the tables of blocks or sums: the time is the
 * first attribute, and its bins are the periods.  A row whose time is NULL, infinite,
 * before the first of these periods or after t is in none, and does not count.
 * So each row is in the cell of one period, the one that its raw time says, and
 * a predicate is one of the cells as for any request.
 *
 * Where a unit may have several rows, at most max_rows of each unit count in
 * each of these periods (and a unit in so many cells, where units are counted),
 * and only in the first max_periods of them in which it has any
 * (domain/units.h).  The bins begin with the same period at every reading,
 * unless there is a history: then the plan's factor is that of a cut that
 * moves.
 */
#ifndef PE_DOOR_SCAN_PERIODS_H
#define PE_DOOR_SCAN_PERIODS_H

#include "door/door.h"

/* What is measured of a table. */
typedef struct pe_period_table
{
	/*
	 * of each of its cells, without their time: the column of a strategy;
	 * negative: none counts it.  NULL: blocks measure the cells themselves
	 */
	const int32_t *column_of;
	int32		columns;		/* how many there are; not of blocks */
} pe_period_table;

/* A period that is due, validated: everything here is public. */
typedef struct pe_period_question
{
	const pe_dataset *dataset;
	const pe_column *columns;	/* the time, the counted ones, the watched ones; then the numbers of sums */
	const pe_domain *domain;	/* of them; the bins of the time are the periods that are read, in order */
	/*
	 * the last ones of them, that y_t takes; those before say which periods of
	 * a unit count
	 */
	int32		taken;
	const pe_predicate *predicate;	/* NULL: all rows count */
	const pe_strategy *strategy;	/* of counts */
	const pe_sums *sums;		/* NULL: counts.  With the time in front, like the tables (pe_sums_behind_one) */
	/*
	 * of each sum; of counts those that blocks need (pe_blocks_tables), or one
	 * of all attributes.  The domain spans them
	 */
	const pe_tables *tables;
	const pe_period_table *table;	/* of each of them, in the order of the plan's parts */
	const pe_presence *presence;
	const pe_plan *plan;
	int32		period;			/* t, from 0 */
	const pe_charge_request *charge;
} pe_period_question;

/*
 * Measures and stores a period, unless it is stored.  PE_CHARGED: an attempt
 * was made, and the values are stored now, or were by another session
 * meanwhile; PE_REPLAYED, PE_REFUSED as of others.  Errors as of
 * pe_door_answer, and 55000 if the series has ended.
 */
extern void pe_door_measure_period(const pe_period_question *question, pe_charge_reply *reply);

#endif

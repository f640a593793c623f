/*
 * series_periods.h
 *	  When the periods of a series begin, end and are due.
 *
 * Period t (from 0) is from edge t up to edge t + 1, which is not in it.  Edge
 * t is the start plus t times the period, by the calendar of the time zone in
 * which the series was created, as it was then; the session's is not asked.
 * Months of different lengths, and days of 23 hours, follow from the start and
 * not from the period before.  Values of date and timestamp columns are local
 * times of that zone.  A period is due when it is over and the grace has passed.
 */
#ifndef PE_ASK_SERIES_PERIODS_H
#define PE_ASK_SERIES_PERIODS_H

#include "ledger/columns.h"
#include "ledger/series.h"

typedef struct pe_periods
{
	int			periods;
	Oid			type;			/* of the time */
	TimestampTz *edge;			/* periods + 1 */
	Datum	   *value;			/* the same in the type of the time */
	TimestampTz *due;			/* of each period */
} pe_periods;

/*
 * Of a series that is to be created the edges are made, and kept by it.  22023
 * if the period is not above 0, the grace below 0, or edges are not of the
 * type; 22008 beyond all times.
 */
extern void pe_periods_make(pe_series *series, Oid type, pe_periods *periods);

/* More edges of one that has some: these stay.  Then pe_periods_make. */
extern void pe_periods_prolong(pe_series *series, Oid type, int periods);

/*
 * The time as a column whose bins are the periods from .. to; rows of others
 * are dropped.
 */
extern void pe_periods_column(const pe_periods *periods, int from, int to, pe_column *column);

/* The type of the time, by the name that the ledger has. */
extern Oid	pe_periods_type(const char *name);

/* The number of periods, from the first one, that are due now. */
extern int	pe_periods_due(const pe_periods *periods);

#endif

/*
 * series.h
 *	  A series of reports, validated: as it is asked for, or as it was paid for.
 *
 * No row is read here, and nothing is charged.
 */
#ifndef PE_API_SERIES_H
#define PE_API_SERIES_H

#include "api/aggregate.h"
#include "api/periods.h"
#include "api/question.h"
#include "ledger/series.h"
#include "strategy/continual.h"

/* Lengths that reports of open-ended series are answered with: powers of 2, up to PE_MAX_PERIODS. */
#define PE_ANSWERING 13

typedef struct pe_serial
{
	pe_request	request;		/* for the cells, or the sums */
	pe_series  *series;
	pe_asked   *asked;			/* that of the next two which is there */
	pe_histogram *histogram;	/* counts of one period; */
	pe_aggregation *aggregation;	/* or sums */
	pe_over		over;
	pe_continual time;
	pe_continual first;			/* of one that was prolonged: of its first periods */
	pe_continual *answering[PE_ANSWERING];	/* of an open-ended one: pe_serial_answering */
	pe_presence presence;
	pe_periods	periods;
	pe_plan_series parts;		/* what plans are made of */
	pe_plan_sums sums;			/* likewise; of counts not filled in */
	double	   *variance;		/* of each query of `over`, of a count of one cell, for noise of variance 1 */
} pe_serial;

/* Validates what is to be created: series and request are as they were given.  Inside PE_UNDONE. */
extern void pe_serial_validate(pe_serial *serial, bool needs_budget);

/* Finds the strategies, and the plan of the whole: asked->plan, with its charge.  Not inside PE_UNDONE, which would silence the progress. */
extern void pe_serial_resolve(pe_serial *serial);

/* One that was paid for, by its name, to be read by who may.  Inside PE_UNDONE.  Errors: those of pe_series_load; 55000 the attributes were declared anew. */
extern void pe_serial_load(pe_serial *serial, const char *name);

/*
 * What period t (from 0) is answered with, to the bit whatever the number of periods is now: of an open-ended series a strategy of so many periods as the
 * next power of 2.  Its query for a term of over is term * periods + t.
 */
extern const pe_continual *pe_serial_answering(pe_serial *serial, int period);

/* What is told of each period: the groups, or the queries of cells; how many numbers of each; and how many were measured. */
extern const pe_workload *pe_serial_workload(const pe_serial *serial);
extern const pe_column *pe_serial_columns(const pe_serial *serial);
extern int	pe_serial_aggregates(const pe_serial *serial);
extern int64 pe_serial_values(const pe_serial *serial);

/* Of an aggregate its name, or itself; NULL: counts. */
extern const char *pe_serial_aggregate(const pe_serial *serial, int number);

/* The largest variance over time of the report of a period (from 0). */
extern double pe_serial_variance(const pe_serial *serial, int period);

/* The largest errors of what is told over time, for noise of so much variance: one, or of each aggregate, at so many rows. */
extern void pe_serial_errors(pe_serial *serial, double rows, double variance, double *stderr_);

/* The noise of all periods, of counts; XX001 if there is none. */
extern const pe_noise *pe_serial_noise(const pe_serial *serial);

/* XX001: the row of a series is not what its charges say. */
extern void pe_serial_refuse_damaged(const pe_serial *serial) __attribute__((noreturn));

/* Whether more of its periods can be measured; and 55000 if they cannot. */
extern bool pe_serial_goes_on(const pe_serial *serial);
extern void pe_serial_check_open(const pe_serial *serial);

/*
 * Plans one that was paid for with so many periods in all: asked->plan, with its charge.  Errors: 55000 it has ended, or the time was declared
 * anew; 42501 another role paid; 0A000 it is not open-ended; 22023 not more periods; XX001 it is not what was paid for.  Inside PE_UNDONE.
 */
extern void pe_serial_prolong(pe_serial *serial, int periods);

/*
 * Measures a period of one that was paid for, unless it is stored; its numbers.  Errors: 55000 the series has ended, or the time was declared anew;
 * XX001 it is not what was paid for; those of pe_door_measure_period; PE001 an attempt that is charged and does not fit.
 */
extern int64 *pe_serial_measure(pe_serial *serial, int period);

#endif

/*
 * report.h
 *	  Reports of a series: what is stored of its periods, and what is due and is measured now.
 *
 * Everything reported here follows from stored measurements, which everybody
 * who may read the series is given alike (ledger/series.h): a report is free,
 * and the same at every call.
 */
#ifndef PE_READ_REPORT_H
#define PE_READ_REPORT_H

#include "ask/label.h"
#include "ask/ask_series.h"

typedef struct pe_report
{
	const char *name;
	pe_serial	serial;
	int			first;			/* period that is reported, from 0 */
	int			last;			/* likewise; and all up to it are read.  Below first: none */
	int64	  **measured;		/* of each period; NULL: nothing is stored */
	TimestampTz *stored;		/* when, of each period that was stored before; else 0 */
	int32		estimates;		/* that follow from one measurement: of queries, or of sums */
	double	   *e;				/* of each period, so many: what its measurement alone says */
	double	   *over_variance;	/* by period and term of over, for noise of variance 1 */
	double	   *estimate;		/* of counts: of each of these, of each query */
	pe_aggregate_result *result;	/* of sums: of each of these, of each group, of each aggregate */
	pe_labels	labels;
	const double *variance;		/* of the cells' queries */
	double		noise;			/* of counts: its standard deviation */
	double		width;			/* likewise: half of an interval, in standard errors */
	bool		published;		/* for everybody: what is not shown to others is not shown to the owner either */
	pe_min_count rule;			/* which groups are shown (suppress.h) */
} pe_report;

/*
 * Reads what is stored.  last is the last period that is due, or stored
 * already; of a series that has ended, the last that is stored.  Errors: those
 * of pe_serial_load.
 */
extern void pe_report_load(pe_report *report, const char *name);

/*
 * Measures the periods up to last that are not stored, in order, and makes the answers from first to last; the
 * number of its rows.  Errors: those of pe_serial_measure, and 54000.
 */
extern int32 pe_report_answer(pe_report *report);

/* What a row says; all numbers from 0. */
typedef struct pe_report_row
{
	int			period;
	int			term;			/* of over */
	int32		query;			/* of the cells, or groups */
	int			aggregate;
	double		estimate;		/* NaN: unknown, like what follows */
	double		stderr_;
	double		lower;
	double		upper;
} pe_report_row;

extern pe_report_row pe_report_row_at(const pe_report *report, int32 row);

/* A term of over as it was written: totals, periods, windows(4). */
extern char *pe_report_term(const pe_report *report, int term);

#endif

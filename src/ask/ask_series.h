/*
 * ask_series.h
 *	  A series of reports, validated: as it is asked for, or as it was paid for.
 *
 * No row is read here, and nothing is charged.
 */
#ifndef PE_ASK_ASK_SERIES_H
#define PE_ASK_ASK_SERIES_H

#include "ask/ask_sums.h"
#include "ask/series_periods.h"
#include "ask/ask_counts.h"
#include "door/scan_periods.h"
#include "ledger/series.h"
#include "time/continual.h"

/* Lengths that reports of open-ended series are answered with: powers of 2, up to PE_MAX_PERIODS. */
#define PE_ANSWERING 13

typedef struct pe_serial_kind pe_serial_kind;

typedef struct pe_serial
{
	const pe_serial_kind *kind;
	pe_request	request;		/* for the cells, or the sums */
	pe_series  *series;
	pe_asked   *asked;			/* that of the next two which is there */
	pe_aggregation *counts;		/* of one period; */
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

/*
 * Finds the strategies, and the plan of the whole: asked->plan, with its
 * charge.  Not inside PE_UNDONE, which would silence the progress.
 */
extern void pe_serial_resolve(pe_serial *serial);

/*
 * One that was paid for, by its name, to be read by who may.  Inside PE_UNDONE.
 * Errors: those of pe_series_load; 55000 the attributes were declared anew;
 * XX001 it is not what was paid for.
 */
extern void pe_serial_load(pe_serial *serial, const char *name);

/*
 * What period t (from 0) is answered with, the same to the bit for any number
 * of periods now.  An open-ended series has a strategy of as many periods as
 * the next power of 2.  Its query for a term of over is term * periods + t.
 */
extern const pe_continual *pe_serial_answering(pe_serial *serial, int period);

/* The largest variance over time of the report of a period (from 0). */
extern double pe_serial_variance(const pe_serial *serial, int period);

/* XX001: the row of a series is not what its charges say. */
/* 0A000: a series, and what is measured of it, is a promise in the ledger. */
extern void pe_serial_refuse_rehearsal(void) __attribute__((noreturn));
extern void pe_serial_refuse_damaged(const pe_serial *serial) __attribute__((noreturn));

/* Whether more of its periods can be measured; and 55000 if they cannot. */
extern bool pe_serial_goes_on(const pe_serial *serial);
extern void pe_serial_check_open(const pe_serial *serial);

/*
 * Plans one that was paid for with so many periods in all: asked->plan, with
 * its charge.  Errors: 55000 it has ended, or the time was declared anew; 42501
 * another role paid; 0A000 it is not open-ended; 22023 not more periods.
 * Inside PE_UNDONE.
 */
extern void pe_serial_prolong(pe_serial *serial, int periods);

/*
 * Measures a period of one that was paid for, unless it is stored; its numbers.
 * Errors: 55000 the series has ended, or the time was declared anew; XX001 it
 * is not what was paid for; those of pe_door_measure_period; PE001 an attempt
 * that is charged and does not fit.
 */
extern int64 *pe_serial_measure(pe_serial *serial, int period);

/* ---- Counts (series_counts.c) and sums (series_sums.c) ---- */

/* What is reported of each period, and what that is measured with. */
typedef struct pe_serial_told
{
	const pe_workload *workload;	/* the groups, or the queries of cells */
	const pe_column *columns;
	int			aggregates;		/* numbers of each; 1: counts */
	int			attributes;		/* of the groups and of what else is asked of rows */
	const char *predicate;
	int64		strategy_id;
} pe_serial_told;

struct pe_serial_kind
{
	/* Validates the request: asked.  0A000 for what a series cannot have.  load: of one that was paid for. */
	void		(*validate) (pe_serial *serial, bool needs_budget);
	void		(*load) (pe_serial *serial);
	pe_serial_told (*told) (const pe_serial *serial);

	/* The name of an aggregate, or itself; NULL: counts.  Whether its error depends on rows. */
	const char *(*aggregate) (const pe_serial *serial, int number);
	bool		(*depends_on_rows) (const pe_serial *serial, int number);

	/* Bits of the strategy over time, as of pe_continual_problem; NULL: 0. */
	int			(*bits_of_time) (const pe_serial *serial);

	/*
	 * Finds what is measured of a period.  54000 if a report would take too
	 * much; check_size asks that for the periods that there are now.
	 */
	void		(*find_strategy) (pe_serial *serial);
	void		(*check_size) (const pe_serial *serial);
	void		(*fill_parts) (pe_serial *serial);
	int64		(*values) (const pe_serial *serial);	/* that are measured in each period */

	/*
	 * The error that max_stderr bounds, in standard deviations of the noise, of
	 * a report of variance 1; 0: it depends on rows.
	 */
	double		(*scale) (pe_serial *serial);

	/*
	 * The largest errors of the reports over time, at this variance of the
	 * noise: one, or one for each aggregate at this number of rows.
	 */
	void		(*errors) (pe_serial *serial, double rows, double variance, double *stderr_);

	/*
	 * What the canonical text says of it: attributes as their values are
	 * distinguished, and more; and what the row of the series keeps.
	 */
	char	  **(*names) (const pe_serial *serial, int *names);
	void		(*add_text) (StringInfo text, const pe_serial *serial);
	void		(*keep) (pe_serial *serial);

	/* Columns behind the first one, which is the time; domain, predicate and what is counted of a question. */
	void		(*ask) (const pe_serial *serial, pe_period_question *question, pe_column *columns);
};

extern const pe_serial_kind pe_serial_counts;
extern const pe_serial_kind pe_serial_sums;

/* The periods that one reading takes, at most. */
extern int	pe_serial_periods_read(const pe_serial *serial);

/* 55000: the attributes were declared anew since. */
extern void pe_serial_check_declared(const pe_serial *serial);

/*
 * The noise of all periods, of counts; of the parts of sums, at a cost of nano
 * for the first periods.  XX001 if there is none.
 */
extern const pe_noise *pe_serial_noise(const pe_serial *serial);
extern pe_aggregate_noise pe_serial_noise_of_sums(const pe_serial *serial, int64 nano);

#endif

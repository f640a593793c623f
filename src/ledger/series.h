/*
 * series.h
 *	  Series of reports in the ledger: paid once, measured period by period.
 *
 * A series is charged when it is created, for all of its periods (plan/plan_series.c), and its row is written by the
 * transaction of that charge.  Its periods cost nothing more.  What is released of a period is one measurement, the one
 * that is stored: a draw that was not stored never leaves the server, and
 * whether it is stored does not depend on it.  So what leaves has the law of
 * one draw, although a period may be drawn again after a crash.  Four rules:
 *
 *	  an attempt		Before rows are read a line of the chain says so, with the
 *						tables that are read, and with a cost of 0: it is refused
 *						where charges are, in a frozen ledger, behind the anchor
 *						file and on a standby.
 *	  three are free	An attempt that is cancelled shows how long it took.  From
 *						the fourth on one costs what the period alone loses.
 *	  one is stored		The worker holds the dataset's row, looks for the period,
 *						and stores nothing if it is there: what came late is
 *						wiped, and the reply has what is stored.
 *	  a line each		The line of a stored measurement has its SHA-256.  It is
 *						committed, and in the anchor file, before anybody is
 *						answered.  A row that is lost or changed without its line
 *						is damage, and is not drawn again.  A restore that loses
 *						it loses the ledger's end: the dataset is frozen, and
 *						dp.attest ends the series.
 *
 * A measurement of rows that could not be read is stored like any other, as
 * that of an empty table.  The row says that it is one, which the owner of the
 * dataset alone is shown; the line and its hash do not.
 *
 * A series is of one version of the data, and of the time that was declared when it was created.  It ends with either.
 */
#ifndef PE_LEDGER_SERIES_H
#define PE_LEDGER_SERIES_H

#include "datatype/timestamp.h"

#include "ledger/dataset.h"
#include "ledger/wire.h"

/* Attempts at one period that the series has paid for. */
#define PE_FREE_ATTEMPTS 3

/*
 * The functions of the lines that prolong one: for all of its blocks, and, of
 * those that it comes to, what it had cost before.
 */
#define PE_PROLONG "dp.prolong_series"
#define PE_PROLONG_NEW "dp.prolong_series, new blocks"

/*
 * The row of a series.  Its edges are kept, and not only what they were made of: rules of time zones change, and a row
 * that came to be in another period would lose as much again.
 */
typedef struct pe_series
{
	int64		id;				/* this and the next three: not of one that is to be created */
	int64		charge_id;
	bool		ended;
	int64		nano;			/* of rho, what its first periods cost */
	char	   *name;
	int64		dataset_id;
	int			version;
	int			declared;		/* its attributes are as they were declared at that number */
	int64		budget_id;
	char	  **attribute;
	int			attributes;
	char	   *workload;
	char	   *predicate;		/* NULL: none */
	int64		strategy_id;	/* of the cells; 0: the workload itself */
	int			aggregates;		/* 0: counts */
	char	  **aggregate;
	int			never_nulls;	/* numbers that every row had (ask/ask_sums.h) */
	char	  **never_null;
	int			cells_per_unit; /* 0: units are not counted */
	int			shares;			/* of the cost: one of each sum that is measured */
	int64	   *share;
	char	   *over;
	char	   *time_attribute;
	char	   *time_type;
	int			time_number;	/* of the column */
	bool		append_only;
	TimestampTz starts;
	char	   *zone;
	int64	   *edge;			/* periods + 1, as values of the time are; NULL: not yet made */
	Interval	period;
	Interval	grace;
	int			periods;
	int			first_periods;	/* that it was created with: nano is of them */
	int			paid_periods;	/* of one that is being prolonged: that it has had so far */
	int			history;		/* 0: all */
	int			max_periods;	/* in which a unit counts; 0: each row is a unit */
	int			rows_per_unit;	/* that count in each of these; 0 likewise */
	bool		open_ended;
	char	   *objective;		/* sum or max */
	char	   *strategy;		/* over time, as bytes */
	int			strategy_size;
	double	   *stderr_;		/* of each period */
	pe_accounting accounting;
} pe_series;

/* What a charge request has to do with a series. */
struct pe_series_request
{
	const pe_series *created;	/* or prolonged; NULL: an attempt, or a measurement to be stored */
	int64		id;				/* of one that is to be created 0 */
	int			period;			/* from 0 */
	bool		unread;			/* of a measurement: the rows could not be read */
};

extern void pe_series_request_write(StringInfo to, const pe_series_request *series);
extern pe_series_request *pe_series_request_read(StringInfo from);

/* ----------
 * In the worker, under the lock of the dataset's row
 * ----------
 */

/* The number of a series to be created; 42710 if there is one of the name, ended or not. */
extern int64 pe_series_number(const pe_series *series);

/* Writes its row. */
extern void pe_series_insert(const pe_series *series, const pe_charge_request *request, const pe_charge_price *price,
							 int64 id, int64 charge_id);

/* Lets it have more periods: 55000 if it has others than the charge was made for. */
extern void pe_series_prolong(const pe_series *series, int64 id, int64 nano);

/*
 * What it has cost so far, in nano of rho; the last of the blocks that it has
 * paid for; and whether it has paid for all of these.
 */
extern int64 pe_series_paid(const pe_series_request *request);
extern int64 pe_series_last_block(const pe_series_request *request);
extern bool pe_series_has_blocks(const pe_series_request *request, pe_time_blocks blocks);

/*
 * The measurement of a period that is stored; false if there is none.  Without
 * a lock it may be stored meanwhile.  XX001 if a line says that one was stored
 * and it is lost, which must not be drawn again, or if it is not what its line
 * says.
 */
extern bool pe_series_stored(const pe_series_request *request, pe_charge_reply *reply);

/* Its name; 55000 if it has ended, or is of another dataset or version. */
extern char *pe_series_check_open(const pe_series_request *request, int64 dataset_id, int64 version);

/* The number of the next attempt, from 1; and that it was begun. */
extern int	pe_series_next_attempt(const pe_series_request *request);
extern void pe_series_count_attempt(const pe_series_request *request, int attempt);

/* Stores a measurement, which no other one is stored beside. */
extern void pe_series_store(const pe_series_request *request, int64 charge_id, bytea *payload);

/* ----------
 * In a backend
 * ----------
 */

/*
 * The series of this name, read by who may: who has a role whose budget paid
 * for it, and the dataset's owner.  42704 if there is none.
 */
extern pe_series *pe_series_load(const char *name);

/* The stored measurement of a period (from 0), of so many numbers, and when it was stored; NULL if there is none. */
extern int64 *pe_series_read(const pe_series *series, int period, int64 *values, TimestampTz *stored);

/*
 * What is stored is answered only if the anchor file knows of it: a worker that
 * ended between its commit and the file, or could not write it, has said
 * nothing, and a restore to before it would draw a second time.  Between stored
 * measurements and their answer.
 */
extern void pe_series_anchor(const pe_series *series, const pe_dataset *dataset);

/*
 * Measurements of a period come one after the other, until the (sub)transaction
 * ends: the second one finds what the first has stored, and is no attempt.  A
 * crash lets it go; what two do at once all the same is stored once.
 */
extern void pe_series_lock(const pe_series *series, int period);

/*
 * What was paid for: the canonical request of its charge, and of the one that
 * prolonged it to so many periods as it has.  NULL if there is none.
 */
extern char *pe_series_paid_request(const pe_series *series);
extern char *pe_series_prolonged_request(const pe_series *series);

/* 42501 unless the budget that paid for a series is open to the current user. */
extern void pe_series_check_payer(const pe_series *series, const pe_dataset *dataset);

/* Ends a series, in the caller's transaction, who owns the dataset; an act (acts.h).  Reports that are stored stay. */
extern void pe_series_end(const pe_series *series, const char *because);

/* dp.attest: all series of a dataset that go on.  Between pe_access_begin and pe_access_end. */
extern void pe_series_end_all(int64 dataset_id, const char *because);

/* Those of a dataset that name an attribute, in the caller's transaction, with a NOTICE of each. */
extern void pe_series_end_using(int64 dataset_id, const char *attribute, const char *because);

#endif

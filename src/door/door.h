/*
 * door.h
 *	  The one way that data leave a registered table for a role that may not
 *	  read it.
 *
 * Released: the integers A x + noise for the strategy A and the counts x per
 * cell of the declared domain (of blocks: of some of its tables,
 * blocks/blocks.h), or what counts/dawa.h makes of the counts, stored
 * in the ledger, or of the numbers of units that have so many rows (ask/ask_sizes.c), and nothing else about the
 * rows: not an error, not the time beyond a quantum, not a statistic.  The
 * rows of a unit of privacy are cut to max_rows by what that unit's own rows are
 * (domain/units.h), in as many scans as the size of the table asks for.  A
 * predicate is evaluated row by row in the accumulator and never in WHERE, so
 * what is read, and what shows of that, is the same for all predicates.
 * Neighbours, sensitivity, cost and theorem: strategy/strategy.h, noise/gaussian.h,
 * noise/laplace.h, counts/dawa.h.
 *
 * The order never changes: validate, charge (committed), read the rows, draw
 * the noise, wait, store the release (committed), return.
 */
#ifndef PE_DOOR_DOOR_H
#define PE_DOOR_DOOR_H

#include "datatype/timestamp.h"
#include "executor/spi.h"

#include "accumulator/accumulator.h"
#include "domain/predicate.h"
#include "strategy/strategy.h"
#include "ledger/wire.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "plan/plan.h"

/* What is counted, and what of it leaves. */
typedef enum pe_question_kind
{
	PE_COUNT_CELLS,				/* rows per cell, through a strategy; of dawa what it makes of them */
	PE_COUNT_TABLES,			/* rows per cell of several tables, through blocks */
	PE_COUNT_SIZES,				/* units by how many rows they have, through a strategy */
	PE_ADD_SUMS,				/* numbers in the cells of a table for each sum, each through its own strategy */
	PE_CHOOSE_QUANTILES,		/* the one sum is a grid: so many quantiles are chosen from its counts */
	PE_MEASURE_TREE				/* rows per cell of the tables of all pairs: a tree of them is chosen and measured */
} pe_question_kind;

/* A question that has been validated: everything here is public. */
typedef struct pe_question
{
	const pe_dataset *dataset;
	const pe_column *columns;	/* of all attributes of the domain, then of sums, then of comparisons (formulas.h) */
	const pe_domain *domain;
	const pe_predicate *predicate;	/* NULL: all rows count */
	const pe_plan *plan;
	const pe_charge_request *charge;
	pe_question_kind kind;
	union
	{
		struct
		{
			const pe_strategy *strategy;
			int32	   *column_of;	/* of each cell: of the strategy; negative: none counts it */
		}			cells;
		struct
		{
			const pe_strategy *strategy;	/* of a tree: NULL */
			const pe_tables *tables;
		}			tables;
		struct
		{
			const pe_strategy *strategy;	/* of as many columns */
			int32		most;	/* the last size: of those with more rows too */
		}			sizes;
		struct					/* of both kinds with numbers */
		{
			const pe_sums *sums;
			const pe_tables *tables;	/* one for each sum */
			int			parts;
			const pe_plan_part *part;	/* of several the shares stand in front of what is stored */
			const int32 *first_table;	/* of each part, and the end: blocks have several */
			int32	  **column_of;	/* of each cell of the table of each part, as of cells; NULL: of blocks */
			int64		chosen; /* how many quantiles */
		}			sums;
	};
} pe_question;

/*
 * Answers a question: from the release store, or by a charge and one scan.  The
 * reply is PE_CHARGED with the new release and its measurements, PE_REPLAYED,
 * or PE_REFUSED; of a rehearsal (ledger/example.h) PE_CHARGED without a charge and a
 * release.  Errors: those of pe_channel_reserve; before any charge 42501
 * (the role may write to the table, or its owner may not read it), 0A000 (the
 * relation is of a kind that cannot be read).  Once rows
 * are read only a cancel, a shutdown, a serialisation failure, and what no value
 * decides (blocks of the table that cannot be read, no shared memory for parallel
 * workers) is an error; anything else is answered as an empty table.
 */
extern void pe_door_answer(const pe_question *question, pe_charge_reply *reply);

/*
 * What reading tables may take, in this process and in parallel workers; for
 * pe_check_memory before anything is charged. numbers: of sums; -1: counts
 * alone.
 */
extern size_t pe_door_tables_memory(const pe_tables *tables, int numbers);

/* ------------------------------------------------------------------
 * What scan_counts.c and models.c are made of
 * ------------------------------------------------------------------
 */

/* The scan of a visit: one SELECT of one row of one bytea. */
typedef struct pe_scan
{
	const char *statement;
	int			parameters;
	Oid			types[2];
	Datum		values[2];
	bool		without_cut;	/* the second one is handed on as null */
	bool		serial;			/* without parallel workers */
	bool		distributed;	/* set by the door before prepare: the rows are in shards */
	bool		of_units;		/* rows are cut by their units, which the statement reads; true by the door if there
								 * are any, and false by a prepare that needs none where unit_is_key */
	bool		unit_is_key;	/* set by the door before prepare: no two rows are of one unit, by the catalog */
	pe_times	times;			/* set by the door before prepare: which rows the charge is for */
	SPIPlanPtr	plan;			/* set by the door */
} pe_scan;

/* A visit to a registered table, validated: everything here is public. */
typedef struct pe_visit
{
	const pe_dataset *dataset;
	const pe_column *columns;	/* whose declarations must still hold */
	int			count;
	const pe_plan *plan;		/* whose cost is charged */
	/* NULL: the owner reads, without privacy, and errors are his to see; so they are in a rehearsal to all */
	const pe_charge_request *charge;
	/*
	 * of a period of a series: what its plan must have been made for; NULL: no
	 * series
	 */
	const pe_presence *presence;

	/* Under the lock, before anything is charged: makes the statement and its parameters. */
	void		(*prepare) (void *argument, pe_scan *scan);
	/* Charged: reads the rows, by scans under one snapshot. */
	void		(*read) (void *argument, pe_scan *scan);
	/* Charged and read, or could_be_read is false: what is left to do, to the store. */
	void		(*finish) (void *argument, bool could_be_read, pe_charge_reply *reply);
	/* Overwrites what is exact or secret: at the end, and before an error goes on to the caller.  May come twice. */
	void		(*wipe) (void *argument);
	void	   *argument;
} pe_visit;

/*
 * 42501 if the role may change rows of the dataset, which its owner may: it
 * would learn from the change of the answers.
 */
extern void pe_door_check_asker(const pe_dataset *dataset, Oid role);

/* 55000 if the dataset is of a view that is no longer proved as it was: for what the door is not asked about. */
extern void pe_door_check_view(const pe_dataset *dataset);

/*
 * Charges, and if the charge was made (reply->outcome) reads the rows and finishes.
 * If they could not be read, which only the server's log says, the answer is that of
 * an empty table.  Errors as of pe_door_answer.
 */
extern void pe_door_visit(const pe_visit *visit, pe_charge_reply *reply);

/*
 * Runs body, which charges, says so in *charged, and goes on to the store; then wipes
 * in any case.  After an error that comes once it has charged, the ledger's worker
 * learns that no release follows, and the asker by the error's detail that the charge of `reply`, on
 * a dataset of this name, stands.  dataset: NULL for a period of a series.
 */
extern void pe_door_run(void (*body) (void *argument, volatile bool *charged), void (*wipe) (void *argument),
						void *argument, const char *dataset, const pe_charge_reply *reply);

/* What the sensitivity of a plan on the dataset depends on. */
extern pe_plan_rules pe_door_rules(const pe_dataset *dataset);

/*
 * The same where the scan reads like this: where units are counted by how many rows they have,
 * a unit is in one cell, however large max_rows is, and no row is cut.
 */
extern pe_plan_rules pe_door_rules_of(const pe_dataset *dataset, pe_reading reading);

/* Whether a question counts rows that the cut leaves out, or sizes of units: it reads units, though unit_is_key. */
extern bool pe_door_needs_units(const pe_question *question);

/* The table of a dataset as SQL names it. */
extern char *pe_door_table(const pe_dataset *dataset);

/*
 * The accumulator's call up to its values, each with ", " before it: parameter 1 is the specification, and
 * parameter 2 the cut, if there is one.  Then what follows the values: the table.  Where the rows are in shards
 * the values are one record (door/record_call.h).
 */
extern void pe_door_begin_statement(StringInfo sql, const pe_dataset *dataset, const pe_scan *scan, bool has_cut);
extern void pe_door_end_statement(StringInfo sql, const pe_dataset *dataset, const pe_scan *scan);

/*
 * The most bytes that a state of the scan may have: what there is memory for, and what a state can be on its
 * way.  Between nodes a state travels as text, two digits a byte, and a text ends at 1 GB.
 */
extern size_t pe_door_state_memory(const pe_scan *scan);

/* A specification for the accumulator, with so many bytes to be written behind its head. */
extern bytea *pe_door_specification(pe_reading reading, size_t size);

/*
 * The most rows that a table can have, by its size: as many as fit its blocks if
 * they had nothing but the columns `stored`, which no row that counts leaves null.
 * A foreign table counts with what ANALYZE left of it, and shards with what their nodes say.  Where there are more
 * (another access method), more memory is taken.  A view that does not multiply the rows of a unit has at most those of
 * its private tables together, and of one that does so many cells of a unit are read.
 */
extern uint64 pe_door_rows_at_most(const pe_dataset *dataset, char **stored, int count);

/*
 * How an accumulator cuts the rows of units (domain/units.h), with entries of
 * this size: a pe_cut of the first range, with its key. Where all rows of a
 * unit are in one shard it says so, and each shard cuts its own.
 */
extern bytea *pe_door_cut(const pe_dataset *dataset, uint64 rows, size_t memory, size_t entry);

/*
 * Runs the scan once, or once for each range of units, and hands on what it returns, unless it is null, before
 * the scan ends: bytes, which are wiped then, or what pe_read_rows_take takes.
 */
extern void pe_door_scan(const pe_scan *scan, void (*take) (void *argument, bytea *result), void *argument);
extern void pe_door_scan_ranges(const pe_scan *scan, bytea *cut, void (*take) (void *argument, bytea *result),
								void *argument);

/* For a `take`: adds the counts of so many cells. */
extern void pe_door_add_counts(const bytea *bytes, int64 *counts, size_t cells);

/*
 * Stores what a plan drew for a charge, at the end of the time quantum; reply gets the values and
 * the number of the release.  The caller holds interrupts since the draw.
 */
extern void pe_door_store(const pe_plan *plan, const pe_charge_request *charge, TimestampTz start,
						  int64 *value, int64 values, pe_charge_reply *reply);

/* The same of doubles, as their bits; holds the interrupts itself. */
extern void pe_door_store_doubles(const pe_plan *plan, const pe_charge_request *charge, TimestampTz start,
								  const double *value, int64 values, pe_charge_reply *reply);

/* What is to be done with rows that the caller may read and has collected. */
typedef struct pe_collected
{
	const pe_plan *plan;
	const pe_charge_request *charge;
	const char *dataset;		/* its name */
	int64		values;
	void		(*work) (void *argument, double *value);	/* charged: works out the values that leave */
	void		(*wipe) (void *argument);	/* overwrites the rows, after an error too.  May come twice. */
	void	   *argument;
} pe_collected;

/* Charges, and if the charge was made works and stores. */
extern void pe_door_collected(const pe_collected *collected, pe_charge_reply *reply);

/*
 * Sleeps to the next multiple of the time quantum after start.  Comes right before
 * the store, with interrupts held: when a release was stored can be seen, by its own
 * timestamp and from other sessions, and shows as much as when it was returned.  A
 * cancel ends the sleep, so that what is stored then was stored at a time that
 * the canceller knows.
 */
extern PGDLLEXPORT void pe_door_wait(TimestampTz start);	/* a test calls it by its name */

#endif

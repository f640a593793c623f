/*
 * activity.h
 *	  Requests that run, and what became of those of each dataset, for operators:
 *	  in the server's shared memory, where the library is preloaded.  Elsewhere
 *	  nothing is kept, and every function here that writes does nothing.
 *
 * Privacy.  Other sessions see this while rows are read, so nothing here may follow from
 * rows sooner or finer than what the asker gets:
 *
 * - A phase follows from the request alone.  "reading" begins when the charge is committed,
 *   before the first row, and ends when the time quantum has passed (pe_door_wait), not
 *   when the scan ends.  Scans, passes and ranges of units have no phases.
 * - Progress is what the asker's client is sent in NOTICEs (shim.h), at the same time, at most
 *   once a second.  It is for the asking role and the dataset's owner.
 * - Memory is what was computed before the charge, from declarations and the request.
 *   What is allocated while rows are read is not shown.
 * - No question is shown: no attribute, predicate, workload, cost or release.
 * - Charges, replays, refusals and strategies count events that do not depend on rows.  Errors
 *   while reading do, and bytes of releases may: they are for the dataset's owner, who is trusted.
 *
 * Who sees a row is decided by the views (sql): the asking role and its members, the
 * dataset's owner, and, without what is said to be for these, pg_read_all_stats.
 */
#ifndef PE_SERVER_ACTIVITY_H
#define PE_SERVER_ACTIVITY_H

typedef enum pe_phase
{
	PE_PHASE_IDLE,				/* no request runs */
	PE_PHASE_PREPARING,			/* validated, its strategy found, its plan made */
	PE_PHASE_CHARGING,			/* the ledger is asked */
	PE_PHASE_READING,			/* it is charged; until the time quantum has passed */
	PE_PHASE_STORING,			/* the release is on its way to the ledger */
	PE_PHASE_ANSWERING			/* of what is paid the answer is computed */
} pe_phase;

/* What is counted for each dataset since the server's start. */
typedef enum pe_counter
{
	PE_COUNT_CHARGES,
	PE_COUNT_REPLAYS,			/* answered by what was paid */
	PE_COUNT_REFUSALS,			/* by the ledger: too little is left, or it is frozen */
	PE_COUNT_READING_ERRORS,	/* rows that could not be read */
	PE_COUNT_STRATEGIES,		/* that were optimised */
	PE_COUNT_RELEASE_BYTES,		/* of releases that were stored, 8 a number */
	PE_COUNTERS
} pe_counter;

/* In _PG_init, in the postmaster: asks for the memory.  Elsewhere it does nothing. */
extern void pe_activity_init(void);

/*
 * The statements between are a request of the current user.  They may be within another
 * one, which goes on afterwards.  An error goes on to the caller; as after PG_TRY, nothing
 * may leave the block early, and from 16 on no other PG_TRY may be in the same function.
 */
#define PE_ACTIVE() \
	{ \
		pe_activity	outer_; \
		pe_activity_begin(&outer_); \
		PG_TRY(); \
		{

#define PE_END_ACTIVE() \
		} \
		PG_FINALLY(); \
		{ \
			pe_activity_end(&outer_); \
		} \
		PG_END_TRY(); \
	}

/*
 * Of the request that runs, which names its dataset once, with the owner of its table.  Without one nothing is noted or
 * counted.
 */
extern void pe_activity_dataset(int64 dataset_id, Oid owner);
extern void pe_activity_phase(pe_phase phase);
extern void pe_activity_memory(size_t bytes);	/* the largest counts, and while it is prepared alone */
extern size_t pe_activity_computed(void);	/* what counts by now: a request is prepared apart, and then asked */
extern void pe_activity_progress(const char *what, int step, int steps, double gap);
extern void pe_activity_count(pe_counter counter, uint64 more);

/* What is known of a request. */
typedef struct pe_activity
{
	int			pid;			/* 0: the place is free */
	Oid			database;
	Oid			role;
	int64		dataset_id;		/* 0: not known yet */
	pe_phase	phase;
	int64		started;		/* the statement: TimestampTz */
	size_t		memory;			/* bytes; 0: none was computed */
	char		what[40];		/* whose progress was reported; empty: none was */
	int			step;
	int			steps;
	double		gap;
	struct pe_counted *counters;	/* of its dataset; NULL: it is not known */
} pe_activity;

extern void pe_activity_begin(pe_activity *outer);
extern void pe_activity_end(const pe_activity *outer);

/* ----------
 * For the views.  Both raise 55000 where the library is not preloaded.
 * ----------
 */

/* The requests that run in this database; their number. */
extern int	pe_activities(pe_activity **running);

/* What was counted of a dataset of this database and this installation of the extension. */
typedef struct pe_dataset_counts
{
	int64		dataset_id;
	uint64		count[PE_COUNTERS];
} pe_dataset_counts;

/* The datasets that have counters; their number. */
extern int	pe_activity_counts(pe_dataset_counts **counted);

#endif

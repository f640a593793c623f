/*
 * settings.h
 *	  The configuration parameters pg_epsilon.*.
 */
#ifndef PE_SERVER_SETTINGS_H
#define PE_SERVER_SETTINGS_H

extern int	pe_max_memory;		/* kB */
extern int	pe_charge_timeout;	/* ms */
extern int	pe_worker_linger;	/* ms */
extern int	pe_time_quantum;	/* ms */
extern int	pe_strategy_cache;	/* kB */
extern char *pe_anchor_file;	/* empty: none */
extern char *pe_anchor_command; /* empty: none */
extern char *pe_sole_standby;	/* a name, and -NAME of one that is given up; empty: none */

/* 58030 if an anchor cannot be what is written: what has one by its configuration must not go on without it. */
extern void pe_settings_check_anchor(void);

/* Of plain SELECT. */
#define PE_SELECT_EPSILON_MAX 1000
extern double pe_select_epsilon;	/* what one costs; 0: not set */
extern double pe_select_max_stderr; /* the standard error that it may have; 0: not set */
extern double pe_hide_below;	/* estimates within so many standard errors of 0 are NULL */
extern int	pe_hide_below_all;	/* and those that may be 0, for all of an answer together */
extern int	pe_cut_bins;		/* what becomes of a test that cuts a bin */

enum
{
	PE_CUT_UNKNOWN = -1, PE_CUT_ERROR, PE_CUT_MIDDLE
};

enum
{
	PE_HIDE_UNKNOWN = -1, PE_HIDE_OFF, PE_HIDE_ON
};

/* Whether a parameter was set: by the session, a role, a database or the server. */
extern bool pe_setting_is_given(const char *name);

/* What is written for these: PE_CUT_UNKNOWN, NaN and PE_HIDE_UNKNOWN if it is nothing. */
extern int	pe_cut_bins_of(const char *text);
extern double pe_hide_below_of(const char *text);
extern int	pe_hide_below_all_of(const char *text);

/* 22023 if one of them was set, before the library was loaded, to what is no value of it. */
extern void pe_settings_check_select(void);

/* Whether nothing may be charged: only what is known is answered.  22023 as above. */
extern bool pe_settings_reuse_only(void);

/* Whether requests are rehearsals (ledger/example.h).  22023 as above: who mistyped it would be charged. */
extern bool pe_settings_rehearse(void);

/* 53200 if a request needs more than pe_max_memory allows. */
extern void pe_check_memory(size_t bytes);

/* Defines the parameters; called once, when the library is loaded. */
extern void pe_settings_define(void);

/* ----------
 * The SQLSTATEs that PostgreSQL does not have.
 * ----------
 */

/* too little budget is left for a request */
#define ERRCODE_PE_BUDGET_EXCEEDED MAKE_SQLSTATE('P', 'E', '0', '0', '1')

/* the dataset is frozen: its ledger is not where it was written, or was tampered with */
#define ERRCODE_PE_FROZEN MAKE_SQLSTATE('P', 'E', '0', '0', '2')

/* ----------
 * The kinds of advisory locks that the ledger takes: field 4 of their tags.
 *
 * A session finds the ledger's worker through the tag of a lock (mailbox.h), and a
 * name that somebody chose becomes part of the tag of another (registration.c): so no
 * two kinds may ever be the same number.  They are all here, and none is given one
 * by hand.  SQL's own advisory locks have 1 and 2.
 * ----------
 */

typedef enum pe_lock_kind
{
	PE_LOCK_TABLE = 0x7065,		/* a table that is being registered */
	PE_LOCK_NAME,				/* a name that a dataset is being given */
	PE_LOCK_GRANTS,				/* a dataset on which a budget is being granted */
	PE_LOCK_PERIOD,				/* a period of a series that is being measured */
	PE_LOCK_WORKER				/* held by the ledger's worker */
} pe_lock_kind;

#endif

/*
 * request.h
 *	  What is asked of a dataset, by any front, and what all kinds of requests have: the
 *	  cost, the canonical text, the charge, and what is said of it.
 *
 * A front fills a pe_request and nothing else.  Nothing here reads a row or
 * charges: every fault is an ordinary error and free.
 */
#ifndef PE_ASK_REQUEST_H
#define PE_ASK_REQUEST_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "server/arguments.h"
#include "ask/polytope.h"
#include "ledger/budget.h"
#include "ledger/columns.h"
#include "ledger/wire.h"
#include "plan/plan.h"

/* The function of requests that a plain SELECT makes. */
#define PE_FRONT_SELECT "SELECT"

/* The function of requests for tables of a study (tabulate.h). */
#define PE_FRONT_TABLE "dp.table_one"

/* What is asked for; keys, bounds, trees and sizes (units by how many rows they have) have nothing of their own. */
typedef enum pe_request_kind
{
	PE_ASK_COUNTS, PE_ASK_SUMS, PE_ASK_SIZES, PE_ASK_KEYS, PE_ASK_BOUNDS, PE_ASK_MODEL, PE_ASK_MINIMUM, PE_ASK_TREE
} pe_request_kind;

/* As it was asked; NULL, NaN, 0 and false: not given. */
typedef struct pe_request
{
	const char *function;		/* of SQL, for the record */
	char	   *dataset;
	char	  **attribute;		/* that are counted; features; slopes */
	int			attributes;
	char	   *predicate;
	char	   *method;
	double		epsilon;
	double		rho;
	double		max_stderr;
	double		delta;
	Jsonb	   *options;
	char	   *budget;
	bool		cuts;			/* rows_per_unit is given */
	int			rows_per_unit;
	bool		fresh;
	int			min_count;		/* of the relation that is read (suppress.h); 0: none */
	int			declared;		/* of what was paid for: attributes are as they were declared then; 0: as they are */

	/*
	 * rows come from a query, without their units: as float8[], of a minimum
	 * without names
	 */
	bool		of_query;

	char	   *workload;		/* of counts and sums */

	pe_request_kind kind;
	union
	{
		struct
		{
			bool		nonnegative;
		}			counts;
		struct
		{
			char	  **aggregate;
			int			aggregates;
			bool		limits_cells;	/* cells_per_unit is given */
			int			cells_per_unit;
		}			sums;
		struct
		{
			char	   *kind;
			char	   *label;
			char	   *name;
			bool		numbered;	/* the release's number is put behind the name */
		}			model;
		struct
		{
			char	   *offsets;
			pe_polytope_argument set;
		}			minimum;
	};
} pe_request;

/* Nothing given. */
extern void pe_request_init(pe_request *request, pe_request_kind kind, const char *function);

/* What every kind of request becomes. */
typedef struct pe_asked
{
	const pe_request *request;
	pe_dataset *dataset;
	int			version;		/* of its data, as the canonical text says */
	pe_budget  *budget;			/* NULL: none, which a quote may have, and a method without privacy */
	pe_plan_ask ask;
	pe_plan    *plan;
	pe_charge_request charge;
} pe_asked;

/*
 * Loads the dataset, and its example if the setting says that this is a rehearsal (ledger/example.h); then chooses
 * the budget, and with it the accounting.  What is to be answered needs a budget (42501 otherwise), a quote and
 * a rehearsal do not.
 */
extern void pe_asked_open(pe_asked *asked, const pe_request *request);

/* Notes for operators that the request that runs is one on its dataset (server/activity.h). */
extern void pe_asked_show(const pe_asked *asked);
extern void pe_asked_choose_budget(pe_asked *asked, bool needs_budget);

/* Whether the example answers, and nothing is charged. */
extern bool pe_asked_rehearses(const pe_asked *asked);

/* What of it EXPLAIN shows; NULL: it is none. */
extern char *pe_asked_rehearsal_text(const pe_asked *asked);

/* 0A000, of what ("a series is") there is no rehearsal. */
extern void pe_refuse_rehearsal(const char *what, const char *hint) __attribute__((noreturn));

/* Cuts units to so many rows as were asked for; 22023 for more than the dataset's max_rows. */
extern void pe_asked_cut(pe_asked *asked);

/*
 * Fills in asked->ask.  counts: max_stderr may be asked for; approximate: an (epsilon, delta)
 * method, whose delta is charged.  22023 for what does not go together.
 */
extern void pe_asked_resolve_cost(pe_asked *asked, bool counts, bool approximate);

/* What is charged of delta where none is given: a small part of what the budget keeps for charges. */
extern double pe_asked_delta_of_charge(const pe_asked *asked);

/*
 * The error of a plan that could not be made, except what a kind says of its
 * options.  least: cost in nano-units; most: in units.
 */
extern void pe_asked_check_plan(const pe_asked *asked, pe_plan_status status, int64 least, double most);

/*
 * The canonical text, JSON.  Two requests with the same text are the same request, and the
 * second is answered from the first.  How the cost was written, what a model is called and
 * how the answer is post-processed are not in it.  That the rows were those of a query is:
 * a release of other rows must not answer for the table.  Between beginning and end comes
 * what the kind adds.
 */
extern void pe_text_begin(StringInfo text, const pe_asked *asked, const char *kind);
extern void pe_text_add(StringInfo text, const char *key, const char *value);	/* NULL: null */
extern void pe_text_add_names(StringInfo text, const char *key, char **name, int count);

/* The kind of all that is made of sums and counts; and the beginning of its text. */
#define PE_MEASUREMENT "measurement"
extern void pe_text_begin_measurement(StringInfo text, const pe_asked *asked, char **aggregate, int aggregates,
									  char **attribute, int attributes, const char *workload, const char *predicate);

/* The workload of all cells, with the names of its attributes; and the text of any, in which it is "identity". */
extern char *pe_text_of_identity(const pe_column *columns, int count);
extern const char *pe_text_of_workload(const pe_workload *workload, const pe_column *columns, int count);

/* which declarations the attributes are of, when all are loaded */
extern void pe_text_add_declared(StringInfo text, const pe_asked *asked);
extern void pe_text_names(StringInfo text, char **name, int count);
extern void pe_text_end(StringInfo text, const pe_asked *asked, const char *method);

/* Fills in what the charge of every kind says; text: the canonical request. */
extern void pe_asked_fill_charge(pe_asked *asked, const char *text, const char *method, int32 queries);

/* Whether the budget has paid for this very request already.  Inside PE_UNDONE. */
extern bool pe_asked_is_replay(const pe_asked *asked);

/*
 * The NOTICE of a charge (price.c), and that of a replay, if it is
 * one.  what: what was paid for ("release 17").
 */
extern void pe_asked_tell(const pe_asked *asked, const pe_charge_reply *reply, const char *what);

/* The NOTICE of a rehearsal; what: as above; paid: what is rehearsed is known already, and would cost nothing. */
extern void pe_asked_tell_rehearsal(const pe_asked *asked, const char *what, bool paid);

/* "release 17", or of a rehearsal "no release". */
extern char *pe_release_text(const pe_charge_reply *reply);

/* "2026-11-28 03:20, data version 1": in the session's time zone. */
extern char *pe_replay_text(int version, TimestampTz made);

/*
 * The NOTICE of an answer that is replayed: when it was made.  Once in a
 * session for each dataset, and only of an answer from before the session: its
 * own answers are no news to it.  It follows from the ledger alone, and from
 * what the asker is given anyway: dp.releases has the same time.
 */
extern void pe_replay_tell(const pe_dataset *dataset, int version, TimestampTz made);

/* Four digits, rounded down: what is said to be left is never more than is. */
extern char *pe_text_rounded_down(double value);

/* PE001.  buys: what all that is left would buy (" and buys ..."), or "". */
extern void pe_asked_refuse(const pe_asked *asked, const pe_charge_reply *reply,
							const char *buys) __attribute__((noreturn));

/*
 * 22023 where the standard error that a setting asks for takes more than half of
 * what is left of the budget: a setting is not looked at for each request, as
 * an argument is.
 */
extern void pe_asked_check_precision(const pe_asked *asked, double setting);

/*
 * What a quote shows of the price: whether the budget has it, and the epsilon
 * left after it.
 */
extern bool pe_asked_fits(const pe_asked *asked, bool replay, double *epsilon_left);

/*
 * Returns the row of dp.quote_fit and dp.quote_minimum: rho, epsilon, delta,
 * method, fits, epsilon_left_after, replay, accounting.
 */
extern void pe_asked_return_quote(FunctionCallInfo fcinfo, const pe_asked *asked, bool replay);

#endif

/*
 * wire.h
 *	  What a backend and the ledger's worker say to each other, and how it is written.
 */
#ifndef PE_LEDGER_WIRE_H
#define PE_LEDGER_WIRE_H

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "accounting/filter.h"
#include "base/mem.h"
#include "ledger/time_blocks.h"

typedef struct pe_plan pe_plan; /* plan/plan.h */
typedef struct pe_series_request pe_series_request; /* series.h */

/* A model that a release is, for dp_ledger.model (models.h). */
typedef struct pe_model_record
{
	const char *name;			/* NULL: after its release */
	bool		numbered;		/* its number is put behind the name in any case: there will be more of them */
	const char *kind;			/* logistic_regression, svm, linear_regression */
	const char *label;
	const char *declaration;	/* JSON: how values become terms */
	int			terms;
	char	  **term;
} pe_model_record;

/*
 * The values of its release, bits of doubles: the coefficients of the terms,
 * then their standard errors by noise, NaN where none is known, then those of
 * what odds ratios are of, by noise and sampling (pe_row_spec_contrast_stderr),
 * or instead of each less than 0 why none is known (pe_fit_unknown).
 */
#define PE_MODEL_VALUES(terms) (3 * (terms))

/* What a backend asks of the ledger before it reads any row; what that costs stands in its plan. */
typedef struct pe_charge_request
{
	int64		dataset_id;
	int64		version;		/* the version of the data it means */
	int			declarations;	/* of the dataset when it was looked at */
	int			declared;		/* the number at which its attributes are declared as it means them */
	int64		budget_id;
	const char *role;			/* the current user who asks */
	const char *function;		/* of SQL, for the record */
	bool		fresh;			/* no replay */
	bool		replay_only;	/* no charge: the dataset was frozen when it was looked at */
	bool		known_only;		/* no charge: the role's setting says so */
	bool		rehearsal;		/* public rows are read, and this never reaches the worker (example.h) */
	const char *request;		/* the canonical request, JSON */

	/* what a release needs besides: the record of how to read its payload */
	int			attributes;
	char	  **attribute;
	/*
	 * NULL: a model, and attribute its features; a minimum, and attribute its
	 * slopes; or units by their number of rows
	 */
	const char *workload;
	const pe_model_record *model;	/* NULL: counts, a minimum, or sizes of units */
	const char *predicate;		/* canonical; NULL: none */
	const char *method;
	int32		queries;
	int64		strategy_id;	/* what is measured; 0: the workload itself */
	int			others;			/* further ones, of parts with other strategies */
	const int64 *other;

	pe_time_blocks	blocks;			/* whose rows are read; of a dataset without blocks it is not looked at */

	const pe_series_request *series;	/* NULL: none is created, and none measured */

	List	   *relations;		/* OIDs of what is read, the dataset's own table first; NIL: that and its descendants */
} pe_charge_request;

/* What a plan says of its cost and its noise, as the worker reads it. */
typedef struct pe_charge_price
{
	pe_accounting accounting;	/* of the budgets that it is for */
	pe_amount	amount;			/* rho and delta, or the epsilon of a pure mechanism */
	int64		as_rho;			/* nano, of a pure mechanism on a cap in rho; 0: what any pure one costs */
	/*
	 * decimal: squared L2; L1 for a pure mechanism; "0" of a model, a minimum,
	 * or dawa, which draw several times
	 */
	const char *sensitivity;
} pe_charge_price;

typedef enum pe_charge_outcome
{
	PE_CHARGED = 'c',			/* committed: read the rows, then store */
	PE_REPLAYED = 'r',			/* the answer is there already */
	PE_REFUSED = 'x',			/* the filter does not admit it; nothing was charged */
	PE_BUSY = 'b'				/* somebody is changing the dataset or the budget; nothing was charged */
} pe_charge_outcome;

/* What does not suffice.  Of the cap nothing else is shown: what is left of it says what others spent. */
typedef enum pe_shortage
{
	PE_SHORT_BUDGET,			/* rho, or the epsilon of a pure budget */
	PE_SHORT_DELTA,				/* the budget's delta alone */
	PE_SHORT_CAP,				/* the budget would admit the charge */
	PE_SHORT_REQUEST,			/* it is more than one request of the budget may cost, and left is what one may */
	PE_SHORT_UNKNOWN			/* nothing: only what is paid for was asked for */
} pe_shortage;

typedef struct pe_charge_reply
{
	pe_charge_outcome outcome;
	int64		charge_id;		/* 0 for a replay that cost nothing */
	bool		costs;			/* of an attempt at a period of a series: it is one that is charged */
	int64		release_id;		/* of a replay */
	TimestampTz made;			/* of a replay: when it was stored */
	int64		left;			/* nano, of the budget alone: rho, or epsilon if it is pure */
	int64		delta_left;		/* atto, likewise */
	pe_shortage shortage;		/* of PE_REFUSED */
	int64		strategy_id;	/* of a replay: what was measured */
	int			others;
	const int64 *other;
	int64		values;			/* of a replay: the measurements */
	int64	   *value;
	bool		unsent;			/* in the session: what is to be stored for the charge was not sent, or was refused */
} pe_charge_reply;

/* Measurements as the payload of a release, and back; an error if the bytes are not one. */
extern bytea *pe_payload_write(const int64 *value, int64 values);
extern int64 *pe_payload_read(const bytea *payload, int64 *values);

/* Messages between a backend and the worker. */
extern void pe_request_write(StringInfo to, const pe_plan *plan, const pe_charge_request *request);
extern void pe_request_read(StringInfo from, pe_charge_request *request, pe_charge_price *price);
extern void pe_reply_write(StringInfo to, const pe_charge_reply *reply);
extern void pe_reply_read(StringInfo from, pe_charge_reply *reply);

#endif

/*
 * open_keys.h
 *	  A SELECT grouped by an open column: its groups are the values that dp.keys finds.
 *
 * Nothing is asked but what dp.keys asks, with WHERE as its predicate: a value is a row of the answer where the
 * noisy count of those that have it passes the threshold, and count(*) is that noisy count.  Other aggregates, and
 * count(*) where a unit has several rows, are measured for each value in the same request (ask/keys_call.h).  HAVING,
 * ORDER BY and LIMIT are applied to the answer.  Several open columns, and groups of declared ones beside them, are one
 * key together: of their combinations those are found that enough rows have.
 */
#ifndef PE_FDW_OPEN_KEYS_H
#define PE_FDW_OPEN_KEYS_H

#include "ask/keys_call.h"
#include "ask/sums_call.h"
#include "fdw/condition.h"
#include "fdw/groups.h"
#include "fdw/pushdown.h"
#include "fdw/target_list.h"

typedef struct pe_open_keys
{
	pe_sight   *sight;
	int			opens;			/* columns, each once */
	const pe_public_open *column[PE_KEY_COLUMNS];
	AttrNumber	number[PE_KEY_COLUMNS];	/* of the foreign table's columns */
	List	   *targets;		/* of the plan, without those that are made of these columns */
	int			besides;		/* attributes that groups are by, too */
	pe_key_call call;
	Datum	   *value;			/* of each key the columns', once it is answered */
	int32	   *cell;			/* and the number of the attributes' cell */
	TupleTableSlot *row;		/* for expressions of the columns */
} pe_open_keys;

/*
 * NULL: no expression of GROUP BY is of an open column.  In the plan count(column) becomes a count of rows.  0A000 for
 * what is not answered.
 */
extern pe_open_keys *pe_open_keys_find(pe_sight *sight, pe_scan_plan *plan);

/* The most bytes of a text of an open column, as far as a key's length matters; of other types none. */
extern int	pe_open_text_bytes(const pe_public_open *column);

/* Whether a target is an expression of one of the columns. */
extern bool pe_open_keys_has(const pe_open_keys *keys, const TargetEntry *entry);

/*
 * Makes the request: of these rows, by these groups beside the columns, for these aggregates.  Of the targets that are
 * computed it says which are the count of a key, and others get the numbers that the aggregates of a key have.
 */
extern void pe_open_keys_request(pe_open_keys *keys, Oid relation, const pe_condition *where,
								 const pe_groups *groups, const pe_wanted *wanted,
								 pe_target_of_select **target, int targets);

/* Charges and measures, or replays. */
extern void pe_open_keys_answer(pe_open_keys *keys);

/* So many times the count of a key. */
extern pe_aggregate_result pe_open_keys_sum(const pe_open_keys *keys, const List *terms, int32 key);

/* The value of an expression of one of the columns for a key. */
extern Datum pe_open_keys_value(const pe_open_keys *keys, const TargetEntry *entry, int32 key, bool *isnull);

/* The request as a call of dp.keys, and its cost, error and threshold, for EXPLAIN. */
extern char *pe_open_keys_request_text(const pe_open_keys *keys);
extern char *pe_open_keys_quote_text(const pe_open_keys *keys);

#endif

/*
 * open_keys.h
 *	  A SELECT grouped by an open column: its groups are the values that dp.keys finds.
 *
 * Nothing is asked but what dp.keys asks, with WHERE as its predicate: a value is a row of the answer where the
 * noisy count of those that have it passes the threshold, and count(*) is that noisy count.  HAVING, ORDER BY and
 * LIMIT are applied to the answer.
 */
#ifndef PE_FDW_OPEN_KEYS_H
#define PE_FDW_OPEN_KEYS_H

#include "ask/keys_call.h"
#include "ask/sums_call.h"
#include "fdw/condition.h"
#include "fdw/pushdown.h"
#include "fdw/target_list.h"

typedef struct pe_open_keys
{
	pe_sight   *sight;
	const pe_public_open *column;
	AttrNumber	number;			/* of the foreign table's column */
	List	   *targets;		/* of the plan, without those that are made of the column */
	const char *counted;		/* what is counted, as SQL has it */
	pe_key_call call;
	Datum	   *value;			/* of each key, once it is answered */
	TupleTableSlot *row;		/* for expressions of the column */
} pe_open_keys;

/*
 * NULL: no expression of GROUP BY is of an open column.  In the plan count(column) becomes a count of rows.  0A000 for
 * what is not answered.
 */
extern pe_open_keys *pe_open_keys_find(pe_sight *sight, pe_scan_plan *plan);

/* Whether a target is an expression of the column. */
extern bool pe_open_keys_has(const pe_open_keys *keys, const TargetEntry *entry);

/* Makes the request: of these rows, for these aggregates. */
extern void pe_open_keys_request(pe_open_keys *keys, Oid relation, const pe_condition *where,
								 const pe_wanted *wanted);

/* Charges and measures, or replays. */
extern void pe_open_keys_answer(pe_open_keys *keys);

/* So many times the count of a key. */
extern pe_aggregate_result pe_open_keys_sum(const pe_open_keys *keys, const List *terms, int32 key);

/* The value of an expression of the column for a key. */
extern Datum pe_open_keys_value(const pe_open_keys *keys, const TargetEntry *entry, int32 key, bool *isnull);

/* The request as a call of dp.keys, and what it costs, for EXPLAIN. */
extern char *pe_open_keys_request_text(const pe_open_keys *keys);
extern char *pe_open_keys_quote_text(const pe_open_keys *keys);

#endif

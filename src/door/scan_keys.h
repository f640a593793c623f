/*
 * scan_keys.h
 *	  The door for keys that nobody has listed.
 *
 * Released: of the values of an open column, those with a noisy count at or above the threshold, and that
 * noisy count (counts/key_threshold.h has neighbours, sensitivity, cost and theorem), stored in
 * the ledger, and nothing else about the rows: not how many keys there are, how long they are, the
 * order they come in, an error, the time beyond a quantum.  A predicate selects rows by their cells, before any of
 * this: a row that it leaves out is one that is not there.
 *
 * Rows are read as numbers of keys (domain/keys.h), in ranges of units and of keys whose number follows from the
 * size of the table and pg_epsilon.max_memory.  Each range of keys has as many slots as the table can have rows
 * there; noise is drawn for all of them, whether or not there is a key.  Then one more scan, of the same
 * snapshot, reads the keys of the numbers that passed.
 *
 * Beside keys sums may be asked for, of the rows of each key that passed.  A third reading of the same snapshot, in as
 * many ranges of units as the first, adds up its rows by the place of their key among those.  What is done for a row is
 * the same whether its key is among them or not.  The noise of all sums is drawn once they are all read; cost and
 * theorem are in counts/key_threshold.h.  Then fewer keys may be released, as many as there is memory for sums of them:
 * that follows from the request and from pg_epsilon.max_memory.
 *
 * Where values of other open columns are counted by keys, the pairs of a key that passed and a value are read as
 * scan_values.h has it, in readings of their own behind these.
 *
 * A key may be of several open columns, and of the cell of declared attributes: these values together are a value of
 * one column that a row has, so all of the above is about them.  Which cells there are is public; a cell
 * beside an open value is not, and passes or does not with it.
 */
#ifndef PE_DOOR_SCAN_KEYS_H
#define PE_DOOR_SCAN_KEYS_H

#include "door/door.h"

/* The most keys of a release; of more, some at random are left out. */
#define PE_KEYS_RELEASED (1 << 18)

/* A question that has been validated: everything here is public. */
typedef struct pe_key_question
{
	const pe_dataset *dataset;	/* max_rows: how many keys of a unit count */
	const pe_column *columns;	/* the open ones, and behind them those of the domain */
	int			opens;
	const pe_domain *domain;	/* of attributes whose cell is part of the key, and watched ones; NULL: none */
	const pe_predicate *predicate;	/* NULL: every row may have a key */
	const pe_question *sums;	/* of PE_ADD_SUMS, whose domain spans nothing, for each key; NULL: none */
	const pe_plan *plan;
	const pe_charge_request *charge;
} pe_key_question;

/*
 * Finds the keys, or replays.  The reply's values are for pe_answered_keys.  Errors as of
 * pe_door_answer.
 */
extern void pe_door_keys(const pe_key_question *question, pe_charge_reply *reply);

/*
 * Into how many ranges of keys a table of at most so many rows is divided, and how many
 * slots each of them has: what one is looked for in.
 */
extern void pe_door_divide_keys(bool of_units, uint64 rows, size_t memory, uint32 *ranges, size_t *slots);

/* A released key, in the text form of its column. */
typedef struct pe_answered_key
{
	char	   *key;			/* of several: an array of the cell's number, if there is one, and all texts */
	int64		value;			/* in units of 2^-shift */
	const int64 *sum;			/* what was measured of its sums; NULL: there are none */
} pe_answered_key;

typedef struct pe_answered_keys
{
	int			shift;
	int64		threshold;		/* in the same units */
	int64		nano_of_sums;	/* what all sums cost, */
	int32		shares;			/* and of it their parts, of several (plan.h) */
	const int64 *share;
	int64		sums;			/* that are measured of each key; 0: none */
	int32		most;			/* keys that could be released */
	int32		keys;
	pe_answered_key *key;		/* in the order of the column's type; texts bytewise */
} pe_answered_keys;

/* The values of a release; XX001 if they are none. */
extern void pe_answered_keys_read(const int64 *value, int64 values, pe_answered_keys *keys);

#endif

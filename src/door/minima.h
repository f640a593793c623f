/*
 * minima.h
 *	  The door for piecewise affine objectives: a private minimum on a registered table.
 *
 * Released: a point, and the minimum of the function without its offsets
 * (minimum/minimum.h and the file of the method say what the point is of the rows,
 * for which neighbours, and by which theorem), stored in the ledger; and nothing else
 * about the private column: not a value, an error, the time beyond a quantum.  Rows,
 * their number and the slopes are public by the owner's declaration.
 */
#ifndef PE_DOOR_MINIMA_H
#define PE_DOOR_MINIMA_H

#include "door/door.h"
#include "minimum/minimum.h"

/* A question that has been validated: everything here is public. */
typedef struct pe_minimum_question
{
	const pe_dataset *dataset;
	const pe_column *columns;	/* the slopes, in the order of the variables; not of rows that were collected */
	int			count;
	const pe_minimum_problem *problem;
	const pe_plan *plan;
	const pe_charge_request *charge;
} pe_minimum_question;

/*
 * Minimises, or replays.  The reply's values are the point and the public minimum, as
 * the bits of doubles.  Errors as of pe_door_answer; 53200 if the rows could be too many
 * for pg_epsilon.max_memory.
 */
extern void pe_door_minimise(const pe_minimum_question *question, pe_charge_reply *reply);

/* 53200 if so many rows, and what is done with them, may need more than pg_epsilon.max_memory. */
extern void pe_minimum_check_memory(const pe_minimum_problem *problem, uint64 rows);

/*
 * For rows that the caller may read and has collected: charges, minimises and stores.
 * Their offsets are wiped, whatever happens.
 */
extern void pe_minimise_collected(const pe_minimum_question *question, pe_affine *rows, pe_charge_reply *reply);

#endif

/*
 * questions.h
 *	  The doors for models and for piecewise affine objectives.
 *
 * Released: the coefficients of a fit (fit/fit.h and the file of its method
 * say what that is of the rows, for which neighbours, and by which theorem) and their standard
 * errors, made of noised numbers of the same fit and of public ones (fit/spread.c), stored
 * in the ledger, and nothing else about the rows: not their number, a loss, an
 * error, the time beyond a quantum.  A unit's rows are cut to max_rows before
 * anything else (glm/row_tiles.h).
 *
 * Where the rows fit into pg_epsilon.max_memory, by the size of the table, they are
 * read once and stay for the fit; otherwise every pass of the fit is a scan, of the
 * same snapshot.  The sums are the same bits.
 */
#ifndef PE_DOOR_QUESTIONS_H
#define PE_DOOR_QUESTIONS_H

#include "glm/row_spec.h"
#include "door/door.h"
#include "fit/fit.h"
#include "minimum/minimum.h"

/* A fit that has been validated: everything here is public. */
typedef struct pe_fit_question
{
	const pe_dataset *dataset;
	const pe_column *columns;	/* label, features, watched: in the order of the specification */
	int			count;
	const pe_row_spec *spec;
	const pe_fit_problem *problem;
	const pe_plan *plan;
	const pe_charge_request *charge;
} pe_fit_question;

/*
 * Fits, or replays.  The reply's values are the coefficients of
 * pe_row_spec_coefficients and then as many standard errors of
 * pe_row_spec_stderr, as the bits of doubles.  Errors as of pe_door_answer.
 */
extern void pe_door_fit(const pe_fit_question *question, pe_charge_reply *reply);

/*
 * The same without privacy, and without a charge: pe_fit_is_private is false of the
 * method, and the caller has checked that the current user owns the dataset.
 */
extern void pe_door_fit_plain(const pe_fit_question *question, double *coefficient);

/*
 * For rows that the caller may read and has collected: charges, fits and stores.
 * They are wiped, after an error too.  Of the question, columns are not looked at.
 */
extern void pe_fit_collected(const pe_fit_question *question, pe_rows *rows, pe_charge_reply *reply);
extern void pe_fit_collected_plain(const pe_fit_question *question, pe_rows *rows, double *coefficient);

/* ----------
 * The door for piecewise affine objectives: a private minimum on a registered table.
 *
 * Released: a point, and the minimum of the function without its offsets
 * (minimum/minimum.h and the file of the method say what the point is of the rows,
 * for which neighbours, and by which theorem), stored in the ledger; and nothing else
 * about the private column: not a value, an error, the time beyond a quantum.  Rows,
 * their number and the slopes are public by the owner's declaration.
 * ----------
 */

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
 * Their offsets are wiped, after an error too.
 */
extern void pe_minimise_collected(const pe_minimum_question *question, pe_affine *rows, pe_charge_reply *reply);

#endif

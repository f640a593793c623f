/*
 * ask_minimum.h
 *	  What a minimum is asked for, validated: for dp.minimize_max_affine and its
 *	  aggregate.
 *
 * No row is read here, and nothing is charged: every fault is an ordinary
 * error and free.
 */
#ifndef PE_ASK_ASK_MINIMUM_H
#define PE_ASK_ASK_MINIMUM_H

#include "ask/request.h"
#include "door/questions.h"

typedef struct pe_minimum_validated
{
	pe_asked	asked;
	pe_column  *columns;		/* the slopes; NULL of a query */
	pe_polytope given;			/* the set as it was given; the problem's has the tight box */
	pe_minimum_problem problem;

	/*
	 * no slope of a variable is larger, by its declaration; of a query the
	 * caller sets it
	 */
	double		steepest[PE_AFFINE_VARIABLES];
	pe_minimum_question question;
} pe_minimum_validated;

/* Validates.  What is to be minimised needs a budget, a quote does not. */
extern pe_minimum_validated *pe_minimum_validate(const pe_request *request, bool needs_budget);

/* What was paid for. */
extern const char *pe_minimum_paid(const pe_minimum_validated *minimum, const pe_charge_reply *reply);

/* What is returned: x, the public value and the release. */
extern void pe_minimum_row(const pe_minimum_validated *minimum, const double *value, int64 release, Datum *values,
						   bool *nulls);

/* The values of a reply, checked to be as many as there are. */
extern const double *pe_minimum_values(const pe_minimum_validated *minimum, const pe_charge_reply *reply);

#endif

/*
 * minimum_question.h
 *	  What a minimum is asked for, validated: for dp.minimize_max_affine and its
 *	  aggregate.
 *
 * No row is read here, and nothing is charged: whatever is wrong is an ordinary
 * error and free.
 */
#ifndef PE_API_MINIMUM_QUESTION_H
#define PE_API_MINIMUM_QUESTION_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "api/polytope_argument.h"
#include "api/price.h"
#include "door/minima.h"

/* As it was asked; NULL and NaN: not given. */
typedef struct pe_minimum_request
{
	const char *function;		/* of SQL, for the record */
	char	   *dataset;
	bool		of_query;		/* rows come from a query: no slopes and offsets are named */
	char	  **slope;
	int			slopes;
	char	   *offsets;
	pe_polytope_argument set;
	char	   *method;
	double		epsilon;
	double		rho;
	double		delta;
	Jsonb	   *options;
	char	   *budget;
	bool		fresh;
} pe_minimum_request;

typedef struct pe_minimum_validated
{
	const pe_minimum_request *request;
	pe_dataset *dataset;
	pe_budget  *budget;
	pe_column  *columns;		/* the slopes; NULL of a query */
	pe_polytope asked;			/* the set as it was given; the problem's has the tight box */
	pe_minimum_problem problem;
	double		epsilon;		/* what the charge is, at the delta it was asked for */
	double		steepest[PE_AFFINE_VARIABLES];	/* no slope of a variable is larger, by its declaration; of a query the caller sets it */
	pe_minimum_question question;
} pe_minimum_validated;

/* Nothing given. */
extern void pe_minimum_request_init(pe_minimum_request *request, const char *function);

/* Validates. */
extern pe_minimum_validated *pe_minimum_validate(const pe_minimum_request *request);

/* After it: tells what was charged, or refuses what was not. */
extern void pe_minimum_tell(const pe_minimum_validated *minimum, const pe_charge_reply *reply);
extern void pe_minimum_refuse(const pe_minimum_validated *minimum, const pe_charge_reply *reply) __attribute__((noreturn));

/* What is returned: x, the public value and the release. */
extern void pe_minimum_row(const pe_minimum_validated *minimum, const double *value, int64 release, Datum *values, bool *nulls);

/* The values of a reply, checked to be as many as there are. */
extern const double *pe_minimum_values(const pe_minimum_validated *minimum, const pe_charge_reply *reply);

#endif

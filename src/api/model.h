/*
 * model.h
 *	  What a fit is asked for, validated: for dp.fit and the aggregates.
 *
 * No row is read here, and nothing is charged: whatever is wrong is an ordinary
 * error and free.
 */
#ifndef PE_API_MODEL_H
#define PE_API_MODEL_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "api/price.h"
#include "door/fits.h"

/* As it was asked; NULL and NaN: not given. */
typedef struct pe_model_request
{
	const char *function;		/* of SQL, for the record */
	char	   *dataset;
	char	   *model;
	char	   *label;
	char	  **feature;
	int			features;
	char	   *method;
	double		epsilon;
	double		rho;
	double		delta;
	char	   *predicate;
	Jsonb	   *options;
	char	   *name;
	bool		numbered;		/* the release's number is put behind the name */
	char	   *budget;
	bool		cuts;			/* rows_per_unit is given */
	int			rows_per_unit;
	bool		fresh;
	bool		by_array;		/* rows come as float8[], without their units: levels are numbers */
} pe_model_request;

typedef struct pe_model_fit
{
	const pe_model_request *request;
	pe_dataset *dataset;
	pe_budget  *budget;			/* NULL without privacy */
	pe_column  *columns;		/* label, features, watched */
	int			count;
	pe_row_spec spec;
	pe_fit_problem problem;
	pe_model_record record;
	double		epsilon;		/* what the charge is, at the delta it was asked for */
	pe_fit_question question;
} pe_model_fit;

/* Nothing given. */
extern void pe_model_request_init(pe_model_request *request, const char *function);

/* Validates.  42501 if the method has no privacy and the current user does not own the dataset. */
extern pe_model_fit *pe_model_validate(const pe_model_request *request);

/* After the fit: tells what was charged, or refuses what was not. */
extern void pe_model_tell(const pe_model_fit *fit, const pe_charge_reply *reply, const char *name);
extern void pe_model_refuse(const pe_model_fit *fit, const pe_charge_reply *reply) __attribute__((noreturn));

#endif

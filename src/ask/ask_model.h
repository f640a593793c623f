/*
 * ask_model.h
 *	  What a fit is asked for, validated: for dp.fit and the aggregates.
 *
 * No row is read here, and nothing is charged: every fault is an ordinary
 * error and free.
 */
#ifndef PE_ASK_ASK_MODEL_H
#define PE_ASK_ASK_MODEL_H

#include "ask/request.h"
#include "door/questions.h"

typedef struct pe_model_fit
{
	pe_asked	asked;
	pe_column  *columns;		/* label, features, watched */
	int			count;
	pe_row_spec spec;
	pe_fit_problem problem;
	pe_model_record record;
	pe_fit_question question;
	char	   *positive;		/* what rows of the positive class have, as text; NULL: there are no classes */
	const char *positive_cell;	/* which of the cells of the label that is, for people */
} pe_model_fit;

/*
 * Validates.  42501 if the method has no privacy and the current user does not own the
 * dataset.  What is to be fitted needs a budget, a quote does not.
 */
extern pe_model_fit *pe_model_validate(const pe_request *request, bool needs_budget);

/* Names the positive class, which coefficients above 0 make more likely, where there are classes. */
extern void pe_model_tell_class(const pe_model_fit *fit);

/* What was paid for; name: of the model, or NULL. */
extern const char *pe_model_paid(const char *name, const pe_charge_reply *reply);

/* ----------
 * The last argument of the aggregates that fit models (aggregate_options.h).
 * ----------
 */

/*
 * Reads the options: dataset, label, features, method, epsilon, rho, delta, model and budget
 * are those of dp.fit, every other key is an option of the method.
 */
extern void pe_model_options_read(const Jsonb *options, pe_request *request);

#endif

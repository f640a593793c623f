/*
 * odds_ratios.c
 *	  dp.odds_ratios: what a logistic regression says of a population, free.
 *
 * Its release holds what noise and sampling do to each, or why that is not
 * known (fit/spread.c): post-processing.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "ask/stored_release.h"
#include "fit/fit.h"
#include "ledger/models.h"
#include "read/predictor.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/return_rows.h"

PG_FUNCTION_INFO_V1(pe_sql_odds_ratios);

/* 97.5 % of a normal distribution. */
#define HALF 1.959963984540054

typedef struct odds
{
	const pe_predictor *predictor;
	const pe_kept_model *model;
	const double *error;		/* of the logarithm of each, or the code of a reason; NULL: of none */
} odds;

/* By pe_fit_unknown. */
static const char *const reasons[] = {
	NULL,
	"no theory gives the error of this method: method newton has one",
	"gradients were clipped: fit it with the option clip of the longest row, the root of the number of features "
	"and the intercept",
	"a penalty l2 biases it",
	"units of several rows are no sample of rows",
	"the noise drowns how the features vary together",
	"the steps had not arrived: fit it with more iterations",
	"rows were shortened to max_norm: fit it without"
};

/* An earlier version kept no errors of this kind. */
static const double *
read_errors(const pe_kept_model *model)
{
	pe_release	r = {.id = model->release_id};

	if (model->release_id == 0)
		return NULL;
	PE_UNDONE();
	pe_release_read_row(&r);
	pe_release_read_values(&r);
	PE_END_UNDONE();
	return r.values == PE_MODEL_VALUES(model->terms) ? (const double *) r.value + 2 * model->terms : NULL;
}

static const char *
reason_of(const odds *o, int term)
{
	int			code = o->error != NULL && o->error[term] < 0 ? (int) -o->error[term] : PE_FIT_KNOWN;

	if (o->model->release_id == 0)
		return "it was fitted without privacy, and keeps no errors";
	if (o->error == NULL)
		return "an earlier version of pg_epsilon fitted it";
	if (code > 0 && code < lengthof(reasons))
		return reasons[code];
	return pe_predictor_reference(o->predictor, term) == term ? "others are compared with it" : NULL;
}

/* The constant has no odds ratio. */
static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const odds *o = argument;
	int			term = row + 1;
	int			reference = pe_predictor_reference(o->predictor, term);
	const char *reason = reason_of(o, term);
	double		ratio = o->model->coefficient[term] - (reference >= 0 ? o->model->coefficient[reference] : 0);

	values[0] = CStringGetTextDatum(o->model->term[term]);
	values[1] = Float8GetDatum(exp(ratio));
	nulls[2] = nulls[3] = reason != NULL;
	nulls[4] = !nulls[2];
	if (nulls[4])
	{
		values[2] = Float8GetDatum(exp(ratio - HALF * o->error[term]));
		values[3] = Float8GetDatum(exp(ratio + HALF * o->error[term]));
	}
	else
		values[4] = CStringGetTextDatum(reason);
}

Datum
pe_sql_odds_ratios(PG_FUNCTION_ARGS)
{
	char	   *name = pe_text_argument(fcinfo, 0, "model");
	odds		o = {pe_predictor_load(name), pe_model_load(name), NULL};

	(void) pe_predictor_reference(o.predictor, 0);	/* that it has odds */
	o.error = read_errors(o.model);
	pe_return_rows(fcinfo, o.model->terms - 1, 5, make_row, &o);
	return (Datum) 0;
}

/*
 * fit.c
 *	  dp.fit: a private model of a registered table, for roles that may not read it.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/float.h"

#include "server/arguments.h"
#include "ask/ask.h"
#include "ask/ask_model.h"
#include "server/return_rows.h"
#include "server/access.h"
#include "ledger/models.h"

PG_FUNCTION_INFO_V1(pe_sql_fit);
PG_FUNCTION_INFO_V1(pe_sql_quote_fit);
PG_FUNCTION_INFO_V1(pe_sql_drop_model);

enum
{
	ARG_DATASET, ARG_KIND, ARG_LABEL, ARG_FEATURES, ARG_METHOD, ARG_EPSILON, ARG_RHO, ARG_DELTA,
	ARG_PREDICATE, ARG_OPTIONS, ARG_MODEL, ARG_FRESH, ARG_BUDGET, ARG_ROWS_PER_UNIT
};

typedef struct fit_call
{
	pe_call		call;
	pe_model_fit *fit;
	char	   *name;			/* of the model */
	double	   *coefficient;
	double	   *deviation;		/* of the noise of each; NaN: not known */
} fit_call;

static void
read_arguments(FunctionCallInfo fcinfo, pe_request *request)
{
	pe_request_init(request, PE_ASK_MODEL, "dp.fit");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->model.kind = pe_text_argument(fcinfo, ARG_KIND, "kind");
	request->model.label = pe_text_argument(fcinfo, ARG_LABEL, "label");
	request->attribute = pe_names_argument(fcinfo, ARG_FEATURES, "features", "a feature", &request->attributes);
	request->method = pe_optional_text(fcinfo, ARG_METHOD);
	request->epsilon = pe_optional_float(fcinfo, ARG_EPSILON, "epsilon");
	request->rho = pe_optional_float(fcinfo, ARG_RHO, "rho");
	request->delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->options = PG_ARGISNULL(ARG_OPTIONS) ? NULL : PG_GETARG_JSONB_P(ARG_OPTIONS);
	request->model.name = pe_optional_text(fcinfo, ARG_MODEL);
	request->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
	request->cuts = !PG_ARGISNULL(ARG_ROWS_PER_UNIT);
	if (request->cuts)
		request->rows_per_unit = PG_GETARG_INT32(ARG_ROWS_PER_UNIT);
}

static void
validate_fit(pe_call *call)
{
	fit_call   *c = (fit_call *) call;

	read_arguments(call->fcinfo, &call->request);
	c->fit = pe_model_validate(&call->request, !call->quote);
	call->asked = &c->fit->asked;
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const fit_call *c = argument;

	values[0] = CStringGetTextDatum(c->fit->record.term[row]);
	values[1] = Float8GetDatum(c->coefficient[row]);
	nulls[2] = isnan(c->deviation[row]);
	values[2] = Float8GetDatum(c->deviation[row]);
	nulls[3] = c->name == NULL;
	if (c->name != NULL)
		values[3] = CStringGetTextDatum(c->name);
	nulls[4] = c->call.reply.release_id == 0;
	values[4] = Int64GetDatum(c->call.reply.release_id);
	nulls[5] = c->fit->positive == NULL;
	if (c->fit->positive != NULL)
		values[5] = CStringGetTextDatum(c->fit->positive);
}

static void
ask_for_fit(pe_call *call)
{
	pe_door_fit(&((fit_call *) call)->fit->question, &call->reply);
}

static void
take_fit(pe_call *call)
{
	fit_call   *c = (fit_call *) call;

	PE_UNDONE();
	if (call->reply.release_id != 0)
		c->name = pe_model_name(call->reply.release_id, call->request.model.name);
	PE_END_UNDONE();
}

/* After what was charged is said. */
static void
read_coefficients(fit_call *c)
{
	const pe_charge_reply *reply = &c->call.reply;
	int			terms = c->fit->record.terms;

	if (reply->values != PE_MODEL_VALUES(terms))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("release " INT64_FORMAT " does not hold the coefficients of its terms",
						reply->release_id)));
	c->coefficient = (double *) reply->value;
	c->deviation = c->coefficient + terms;
}

static const char *
paid_for_fit(pe_call *call)
{
	return pe_model_paid(((fit_call *) call)->name, &call->reply);
}

static const pe_ask_kind ask_fit = {
	.validate = validate_fit, .door = ask_for_fit, .take = take_fit, .paid = paid_for_fit
};

/* There is no noise, so there are no standard errors. */
static void
fit_plainly(fit_call *c)
{
	int			terms = c->fit->record.terms;

	c->coefficient = palloc0(terms * sizeof(double));
	c->deviation = palloc(terms * sizeof(double));
	for (int i = 0; i < terms; i++)
		c->deviation[i] = get_float8_nan();
	pe_door_fit_plain(&c->fit->question, c->coefficient);
	if (pe_asked_rehearses(&c->fit->asked))
	{
		pe_asked_tell_rehearsal(&c->fit->asked, "no model", false);
		return;
	}
	c->name = pe_model_keep_plain(c->fit->asked.dataset, &c->fit->asked.charge, c->coefficient);
}

Datum
pe_sql_fit(PG_FUNCTION_ARGS)
{
	fit_call	c = {.call = {.kind = &ask_fit, .fcinfo = fcinfo}};

	pe_ask_prepare(&c.call);
	pe_model_tell_class(c.fit);
	if (pe_fit_is_private(c.fit->problem.method))
	{
		pe_ask(&c.call);
		read_coefficients(&c);
	}
	else
		fit_plainly(&c);
	pe_return_rows(fcinfo, c.fit->record.terms, 6, make_row, &c);
	return (Datum) 0;
}

/* Reads no row, charges nothing. */
Datum
pe_sql_quote_fit(PG_FUNCTION_ARGS)
{
	fit_call	c = {.call = {.kind = &ask_fit, .fcinfo = fcinfo, .quote = true}};

	pe_ask_prepare(&c.call);
	pe_model_tell_class(c.fit);
	pe_asked_return_quote(fcinfo, c.call.asked, c.call.replay && pe_fit_is_private(c.fit->problem.method));
	return (Datum) 0;
}

Datum
pe_sql_drop_model(PG_FUNCTION_ARGS)
{
	pe_model_drop(pe_text_argument(fcinfo, 0, "model"));
	PG_RETURN_VOID();
}

/*
 * model_options.c
 *	  The options of the aggregates that fit models.  See ask_model.h.
 */
#include "postgres.h"

#include "ask/ask_model.h"
#include "server/aggregate_options.h"

static void
take_features(const Jsonb *options, pe_request *request)
{
	JsonbValue	value;

	if (!pe_option_find(options, "features", &value))
		return;
	if (value.type != jbvBinary || !JsonContainerIsArray(value.val.binary.data))
		pe_refuse_option("features", "an array of strings");
	request->attributes = JsonContainerSize(value.val.binary.data);
	request->attribute = palloc((request->attributes + 1) * sizeof(char *));
	for (int i = 0; i < request->attributes; i++)
		request->attribute[i] = pe_option_string("features", getIthJsonbValueFromContainer(value.val.binary.data, i));
}

static void
require(const void *given, const char *name)
{
	if (given == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the options lack \"%s\"", name),
				 errhint("They need dataset, label, features, and epsilon or rho.")));
}

void
pe_model_options_read(const Jsonb *options, pe_request *request)
{
	static const char *const ours[] = {
		"dataset", "label", "features", "method", "epsilon", "rho", "delta", "model", "budget"
	};

	pe_option_take_string(options, "dataset", &request->dataset);
	pe_option_take_string(options, "label", &request->model.label);
	take_features(options, request);
	pe_option_take_string(options, "method", &request->method);
	pe_option_take_number(options, "epsilon", &request->epsilon);
	pe_option_take_number(options, "rho", &request->rho);
	pe_option_take_number(options, "delta", &request->delta);
	pe_option_take_string(options, "model", &request->model.name);
	pe_option_take_string(options, "budget", &request->budget);
	require(request->dataset, "dataset");
	require(request->model.label, "label");
	require(request->attribute, "features");
	request->options = pe_options_without(options, ours, lengthof(ours));
}

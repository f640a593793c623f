/*
 * model_options.c
 *	  The options of the aggregates that fit models.  See model_options.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "api/arguments.h"
#include "api/model_options.h"

/* ------------------------------------------------------------------
 * The argument
 * ------------------------------------------------------------------
 */

static Aggref *
aggregate_of(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref = AggGetAggref(fcinfo);

	if (aggref == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this function can only be used by its aggregate")));
	return aggref;
}

Oid
pe_aggregate_argument_type(FunctionCallInfo fcinfo, int argument)
{
	return list_nth_oid(aggregate_of(fcinfo)->aggargtypes, argument);
}

/* The value of a parameter of the statement; false if there is none. */
static bool
parameter_value(FunctionCallInfo fcinfo, const Param *param, Datum *value, bool *isnull)
{
	ParamListInfo list = castNode(AggState, fcinfo->context)->ss.ps.state->es_param_list_info;
	ParamExternData room;
	ParamExternData *data;

	if (param->paramkind != PARAM_EXTERN || list == NULL || param->paramid < 1 || param->paramid > list->numParams)
		return false;
	data = list->paramFetch != NULL ? list->paramFetch(list, param->paramid, false, &room) : &list->params[param->paramid - 1];
	*value = data->value;
	*isnull = data->isnull;
	return data->ptype == param->paramtype;
}

static bool
constant_value(FunctionCallInfo fcinfo, Expr *expression, Datum *value, bool *isnull)
{
	while (IsA(expression, RelabelType))
		expression = ((RelabelType *) expression)->arg;
	if (IsA(expression, Param))
		return parameter_value(fcinfo, (Param *) expression, value, isnull);
	if (!IsA(expression, Const))
		return false;
	*value = ((Const *) expression)->constvalue;
	*isnull = ((Const *) expression)->constisnull;
	return true;
}

char *
pe_constant_text(FunctionCallInfo fcinfo, int argument)
{
	Aggref	   *aggref = aggregate_of(fcinfo);
	TargetEntry *entry = list_nth_node(TargetEntry, aggref->args, argument);
	Datum		value;
	bool		isnull;

	if (!constant_value(fcinfo, entry->expr, &value, &isnull))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the options must be a constant"),
				 errdetail("They are read once for each query, and no row has a say in them.")));
	if (isnull)
		pe_refuse_null("options");
	return TextDatumGetCString(value);
}

/* ------------------------------------------------------------------
 * The JSON
 * ------------------------------------------------------------------
 */

static void
refuse_option(const char *name, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("option \"%s\" must be %s", name, expected)));
}

/* The value of a key; false if it is not there or null. */
static bool
find(const Jsonb *options, const char *name, JsonbValue *value)
{
	return getKeyJsonValueFromContainer((JsonbContainer *) &options->root, name, strlen(name), value) != NULL &&
		value->type != jbvNull;
}

static char *
string_of(const char *name, const JsonbValue *value)
{
	if (value->type != jbvString)
		refuse_option(name, "a string");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

static void
take_string(const Jsonb *options, const char *name, char **to)
{
	JsonbValue	value;

	if (find(options, name, &value))
		*to = string_of(name, &value);
}

static void
take_number(const Jsonb *options, const char *name, double *to)
{
	JsonbValue	value;

	if (!find(options, name, &value))
		return;
	if (value.type != jbvNumeric)
		refuse_option(name, "a number");
	*to = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value.val.numeric)));
}

static void
take_features(const Jsonb *options, pe_model_request *request)
{
	JsonbValue	value;

	if (!find(options, "features", &value))
		return;
	if (value.type != jbvBinary || !JsonContainerIsArray(value.val.binary.data))
		refuse_option("features", "an array of strings");
	request->features = JsonContainerSize(value.val.binary.data);
	request->feature = palloc((request->features + 1) * sizeof(char *));
	for (int i = 0; i < request->features; i++)
		request->feature[i] = string_of("features", getIthJsonbValueFromContainer(value.val.binary.data, i));
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

/* What is left: the options of the method. */
static Jsonb *
without_ours(const Jsonb *options)
{
	static const char *const ours[] = {
		"dataset", "label", "features", "method", "epsilon", "rho", "delta", "name", "budget"
	};
	Datum		names[lengthof(ours)];
	ArrayType  *array;

	for (int i = 0; i < lengthof(ours); i++)
		names[i] = CStringGetTextDatum(ours[i]);
	array = construct_array(names, lengthof(ours), TEXTOID, -1, false, TYPALIGN_INT);
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_delete_array, PointerGetDatum(options), PointerGetDatum(array)));
}

void
pe_model_options_read(const char *json, pe_model_request *request)
{
	Jsonb	   *options = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(json)));

	if (!JB_ROOT_IS_OBJECT(options))
		pe_refuse_parameter("options", json, "a JSON object");
	take_string(options, "dataset", &request->dataset);
	take_string(options, "label", &request->label);
	take_features(options, request);
	take_string(options, "method", &request->method);
	take_number(options, "epsilon", &request->epsilon);
	take_number(options, "rho", &request->rho);
	take_number(options, "delta", &request->delta);
	take_string(options, "name", &request->name);
	take_string(options, "budget", &request->budget);
	require(request->dataset, "dataset");
	require(request->label, "label");
	require(request->feature, "features");
	request->options = without_ours(options);
}

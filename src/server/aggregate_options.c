/*
 * aggregate_options.c
 *	  Options of aggregates.  See aggregate_options.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/params.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "server/arguments.h"
#include "server/aggregate_options.h"

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
	data = list->paramFetch != NULL
		? list->paramFetch(list, param->paramid, false, &room) : &list->params[param->paramid - 1];
	*value = data->value;
	*isnull = data->isnull;
	return data->ptype == param->paramtype;
}

static bool constant_value(FunctionCallInfo fcinfo, Expr *expression, Datum *value, bool *isnull);

/* What a driver sends as text and the statement casts; the planner folds it only where it knows the parameter. */
static bool
converted_value(FunctionCallInfo fcinfo, const CoerceViaIO *conversion, Datum *value, bool *isnull)
{
	Oid			output;
	Oid			input;
	Oid			parameter;
	bool		varlena;

	if (!constant_value(fcinfo, conversion->arg, value, isnull))
		return false;
	getTypeOutputInfo(exprType((Node *) conversion->arg), &output, &varlena);
	getTypeInputInfo(conversion->resulttype, &input, &parameter);
	if (!*isnull)
		*value = OidInputFunctionCall(input, OidOutputFunctionCall(output, *value), parameter, -1);
	return true;
}

static bool
constant_value(FunctionCallInfo fcinfo, Expr *expression, Datum *value, bool *isnull)
{
	while (IsA(expression, RelabelType))
		expression = ((RelabelType *) expression)->arg;
	if (IsA(expression, CoerceViaIO))
		return converted_value(fcinfo, (CoerceViaIO *) expression, value, isnull);
	if (IsA(expression, Param))
		return parameter_value(fcinfo, (Param *) expression, value, isnull);
	if (!IsA(expression, Const))
		return false;
	*value = ((Const *) expression)->constvalue;
	*isnull = ((Const *) expression)->constisnull;
	return true;
}

Jsonb *
pe_constant_options(FunctionCallInfo fcinfo, int argument)
{
	Aggref	   *aggref = aggregate_of(fcinfo);
	TargetEntry *entry = list_nth_node(TargetEntry, aggref->args, argument);
	Datum		value;
	bool		isnull;
	Jsonb	   *options;

	if (!constant_value(fcinfo, entry->expr, &value, &isnull))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the options must be a constant"),
				 errdetail("Options are evaluated once per query and must not depend on rows.")));
	if (isnull)
		pe_refuse_null("options");
	options = DatumGetJsonbP(value);
	if (!JB_ROOT_IS_OBJECT(options))
		pe_refuse_parameter("options", JsonbToCString(NULL, &options->root, VARSIZE(options)), "a JSON object");
	return options;
}

/* ------------------------------------------------------------------
 * The JSON
 * ------------------------------------------------------------------
 */

void
pe_refuse_option(const char *name, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("option \"%s\" must be %s", name, expected)));
}

bool
pe_option_find(const Jsonb *options, const char *name, JsonbValue *value)
{
	return getKeyJsonValueFromContainer((JsonbContainer *) &options->root, name, strlen(name), value) != NULL &&
		value->type != jbvNull;
}

char *
pe_option_string(const char *name, const JsonbValue *value)
{
	if (value->type != jbvString)
		pe_refuse_option(name, "a string");
	return pnstrdup(value->val.string.val, value->val.string.len);
}

void
pe_option_take_string(const Jsonb *options, const char *name, char **to)
{
	JsonbValue	value;

	if (pe_option_find(options, name, &value))
		*to = pe_option_string(name, &value);
}

char **
pe_option_strings(const Jsonb *options, const char *name, int *count)
{
	JsonbValue	value;
	JsonbContainer *array = pe_option_find(options, name, &value) && value.type == jbvBinary ? value.val.binary.data
		: NULL;
	char	  **string;

	*count = array != NULL && JsonContainerIsArray(array) ? JsonContainerSize(array) : 0;
	string = palloc(Max(*count, 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
		string[i] = pe_option_string(name, getIthJsonbValueFromContainer(array, i));
	return string;
}

double
pe_option_number(const char *name, const JsonbValue *value)
{
	if (value->type != jbvNumeric)
		pe_refuse_option(name, "a number");
	return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value->val.numeric)));
}

void
pe_option_take_number(const Jsonb *options, const char *name, double *to)
{
	JsonbValue	value;

	if (pe_option_find(options, name, &value))
		*to = pe_option_number(name, &value);
}

Jsonb *
pe_options_without(const Jsonb *options, const char *const *names, int count)
{
	Datum	   *elements = palloc((count + 1) * sizeof(Datum));
	ArrayType  *array;

	for (int i = 0; i < count; i++)
		elements[i] = CStringGetTextDatum(names[i]);
	array = construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT);
	return DatumGetJsonbP(DirectFunctionCall2(jsonb_delete_array, PointerGetDatum(options), PointerGetDatum(array)));
}

/* ------------------------------------------------------------------
 * Options of methods
 * ------------------------------------------------------------------
 */

/* "clip, iterations and l2". */
static char *
taken_options(const pe_method_options *m)
{
	const char *last = NULL;
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < m->table->count; i++)
	{
		if (!pe_option_taken(&m->table->option[i], m->method))
			continue;
		if (last != NULL)
			appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", last);
		last = m->table->option[i].name;
	}
	if (last == NULL)
		return "no options of its own";
	appendStringInfo(&text, "%s%s", text.len > 0 ? " and " : "", last);
	return text.data;
}

/* "a whole number from 1 to 100". */
static char *
expected_value(const pe_option *option)
{
	return psprintf("a %snumber %s %g %s %g", option->whole ? "whole " : "",
					option->open ? "above" : "from", option->least,
					option->open ? "and at most" : "to", option->most);
}

static char *
mistake(const pe_method_options *m, const char *wrong)
{
	double		value = NAN;
	const pe_option *option = pe_option_named(m->table, m->values, wrong, &value);

	if (option == NULL)
		return psprintf("there is no option \"%s\"", wrong);
	if (!pe_option_taken(option, m->method))
		return psprintf("method \"%s\" does not take option \"%s\"", m->name, wrong);
	if (isnan(value))
		return psprintf("method \"%s\" needs option \"%s\"", m->name, wrong);
	if (!pe_option_makes_sense(option, value))
		return psprintf("option \"%s\" must be %s", wrong, expected_value(option));
	return psprintf("method \"%s\" does not take this value of option \"%s\" with this model, "
					"or beside the other options", m->name, wrong);
}

void
pe_refuse_method_option(const pe_method_options *m, const char *wrong)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg_internal("%s", mistake(m, wrong)),
			 m->others != NULL
			 ? errhint("Method \"%s\" takes %s; all methods take %s.", m->name, taken_options(m), m->others)
			 : errhint("Method \"%s\" takes %s.", m->name, taken_options(m))));
}

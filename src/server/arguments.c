/*
 * arguments.c
 *	  Arguments of the SQL functions.  See arguments.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "server/arguments.h"

char *
pe_text_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		pe_refuse_null(name);
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

double
pe_float_argument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		pe_refuse_null(name);
	return PG_GETARG_FLOAT8(n);
}

char *
pe_optional_text(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

char *
pe_optional_name(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(n)));
}

double
pe_optional_float(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		return NAN;
	if (isnan(PG_GETARG_FLOAT8(n)))
		pe_refuse_parameter(name, "NaN", "a number");
	return PG_GETARG_FLOAT8(n);
}

Oid
pe_argument_type(FunctionCallInfo fcinfo, int n)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, n);
	Oid		   *types;
	int			count;

	if (OidIsValid(type))
		return type;
	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	return types[n];
}

/* Argument n of a function that takes one text too: an array of it, or the array whose literal it is. */
static ArrayType *
array_argument(FunctionCallInfo fcinfo, int n)
{
	Datum		one[1];
	char	   *given;

	if (pe_argument_type(fcinfo, n) != TEXTOID)
		return PG_GETARG_ARRAYTYPE_P(n);
	given = text_to_cstring(PG_GETARG_TEXT_PP(n));
	if (given[0] == '{')
		return DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN, given, TEXTOID, -1));
	one[0] = PG_GETARG_DATUM(n);
	return construct_array(one, 1, TEXTOID, -1, false, TYPALIGN_INT);
}

char **
pe_names_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *each, int *count)
{
	ArrayType  *array;
	Datum	   *elements;
	bool	   *nulls;
	char	  **names;

	if (PG_ARGISNULL(n))
		pe_refuse_null(name);
	array = array_argument(fcinfo, n);
	if (ARR_NDIM(array) > 1)
		pe_refuse_parameter(name, "an array of several dimensions", "a list");
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, count);
	names = palloc((*count + 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			pe_refuse_null(each);
		names[i] = TextDatumGetCString(elements[i]);
	}
	return names;
}

char *
pe_names_literal(const char *const *name, int count)
{
	Datum	   *element = palloc(count * sizeof(Datum));

	for (int i = 0; i < count; i++)
		element[i] = CStringGetTextDatum(name[i]);
	return quote_literal_cstr(OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(
		construct_array(element, count, TEXTOID, -1, false, TYPALIGN_INT))));
}

void
pe_check_epsilon(double epsilon)
{
	if (!pe_epsilon_valid(epsilon))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon must be a number above 0 and at most %g", PE_EPSILON_MAX)));
}

void
pe_check_delta(double delta)
{
	if (!pe_delta_valid(delta))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta must be a number above 0 and below 1")));
}

char *
pe_number_text(double number)
{
	char	   *text = palloc(DOUBLE_SHORTEST_DECIMAL_LEN);

	double_to_shortest_decimal_buf(number, text);
	return text;
}

void
pe_refuse_null(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("%s must not be null", name)));
}

void
pe_refuse_parameter(const char *name, const char *value, const char *expected)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for %s: \"%s\"", name, value),
			 errhint("It must be %s.", expected)));
}

/* "a, b or c". */
static char *
alternatives(const char *const *words, int count)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < count; i++)
		appendStringInfo(&text, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", words[i]);
	return text.data;
}

int
pe_choice_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *const *words, int count)
{
	char	   *given = pe_text_argument(fcinfo, n, name);

	for (int i = 0; i < count; i++)
		if (strcmp(given, words[i]) == 0)
			return i;
	pe_refuse_parameter(name, given, alternatives(words, count));
}

pe_accounting
pe_accounting_argument(FunctionCallInfo fcinfo, int n)
{
	char	   *given = pe_text_argument(fcinfo, n, "accounting");
	pe_accounting accounting;

	if (!pe_accounting_named(given, &accounting))
		pe_refuse_parameter("accounting", given, "gdp, zcdp or pure");
	return accounting;
}

pe_method
pe_method_argument(FunctionCallInfo fcinfo, int n)
{
	return pe_method_of_text(pe_text_argument(fcinfo, n, "method"));
}

pe_method
pe_method_of_text(const char *name)
{
	const char *names[PE_METHODS];
	pe_method	method;

	if (pe_method_of_name(name, &method))
		return method;
	for (int i = 0; i < PE_METHODS; i++)
		names[i] = pe_method_name((pe_method) i);
	pe_refuse_parameter("method", name, alternatives(names, PE_METHODS));
}

void
pe_check_method(pe_method method, pe_norm norm)
{
	const char *names[PE_METHODS];
	int			count = 0;

	if (pe_method_serves(method, norm))
		return;
	for (int i = 0; i < PE_METHODS; i++)
		if (pe_method_serves((pe_method) i, norm))
			names[count++] = pe_method_name((pe_method) i);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("method \"%s\" does not go with %s noise",
					pe_method_name(method), norm == PE_L1 ? "Laplace" : "Gaussian"),
			 errdetail("Pure accounting draws Laplace noise, whose sensitivity is in the L1 norm; "
					   "gdp and zcdp draw Gaussian noise, with the L2 norm."),
			 errhint("It must be %s.", alternatives(names, count))));
}

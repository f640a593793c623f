/*
 * arguments.c
 *	  Arguments of the SQL functions.  See arguments.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "accounting/filter.h"
#include "api/arguments.h"

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

char **
pe_names_argument(FunctionCallInfo fcinfo, int n, const char *name, const char *each, int *count)
{
	Datum	   *elements;
	bool	   *nulls;
	char	  **names;

	if (PG_ARGISNULL(n))
		pe_refuse_null(name);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(n), NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR, &elements, &nulls, count);
	names = palloc((*count + 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			pe_refuse_null(each);
		names[i] = pstrdup(NameStr(*DatumGetName(elements[i])));
	}
	return names;
}

pe_dataset *
pe_own_dataset(const char *name)
{
	pe_dataset *dataset = pe_dataset_load(name);

	pe_dataset_check_owner(dataset);
	return dataset;
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

void
pe_refuse_feature(const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s is not supported", what),
			 errhint("%s", hint)));
}

char *
pe_method_argument(FunctionCallInfo fcinfo, int n)
{
	static const char *const later[] = {
		"coa", "gaussian", "identity", "wavelet", "hierarchical", "adaptive", "smoothing", "lowrank", "dawa"
	};
	char	   *method = pe_text_argument(fcinfo, n, "method");

	for (int i = 0; i < lengthof(later); i++)
		if (strcmp(method, later[i]) == 0)
			pe_refuse_feature(psprintf("method \"%s\"", method), "Use method => 'optimal'.");
	if (strcmp(method, "optimal") != 0)
		pe_refuse_parameter("method", method, "optimal");
	return method;
}

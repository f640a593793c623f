/*
 * polytope_argument.c
 *	  The feasible set of a minimum.  See arguments.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "server/arguments.h"
#include "server/aggregate_options.h"
#include "ask/polytope.h"
#include "ask/request.h"

/* No scaled inequality has so much on its left side: a point's numbers are below 2^900. */
#define SIDE_MOST 0x1p1000

/* ------------------------------------------------------------------
 * SQL
 * ------------------------------------------------------------------
 */

static double *
numbers_of_array(ArrayType *array, const char *name, int *count)
{
	Datum	   *elements;
	bool	   *nulls;
	double	   *number;

	deconstruct_array(array, FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &nulls, count);
	number = palloc((*count + 1) * sizeof(double));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			pe_refuse_null(psprintf("an element of %s", name));
		number[i] = DatumGetFloat8(elements[i]);
	}
	return number;
}

static double *
bounds_of_argument(FunctionCallInfo fcinfo, int n, const char *name, int *count)
{
	ArrayType  *array;

	if (PG_ARGISNULL(n))
		pe_refuse_null(name);
	array = PG_GETARG_ARRAYTYPE_P(n);
	if (ARR_NDIM(array) > 1)
		pe_refuse_parameter(name, "an array of arrays", "an array of one dimension");
	return numbers_of_array(array, name, count);
}

static void
inequalities_of_argument(FunctionCallInfo fcinfo, int n, pe_polytope_argument *argument)
{
	ArrayType  *array;
	int			count;

	if (PG_ARGISNULL(n))
		return;
	array = PG_GETARG_ARRAYTYPE_P(n);
	if (ARR_NDIM(array) == 0)
		return;
	if (ARR_NDIM(array) != 2)
		pe_refuse_parameter("inequalities", psprintf("an array of %d dimensions", ARR_NDIM(array)),
							"an array of two dimensions, a row for each");
	argument->inequality = numbers_of_array(array, "inequalities", &count);
	argument->inequalities = ARR_DIMS(array)[0];
	argument->width = ARR_DIMS(array)[1];
}

void
pe_polytope_of_arrays(FunctionCallInfo fcinfo, int first, pe_polytope_argument *argument)
{
	argument->lower = bounds_of_argument(fcinfo, first, "lower", &argument->lowers);
	argument->upper = bounds_of_argument(fcinfo, first + 1, "upper", &argument->uppers);
	inequalities_of_argument(fcinfo, first + 2, argument);
}

/* ------------------------------------------------------------------
 * JSON
 * ------------------------------------------------------------------
 */

static JsonbContainer *
array_of(const char *name, const JsonbValue *value, const char *expected)
{
	if (value->type != jbvBinary || !JsonContainerIsArray(value->val.binary.data))
		pe_refuse_option(name, expected);
	return value->val.binary.data;
}

static double *
bounds_of_json(const Jsonb *options, const char *name, double none, int *count)
{
	JsonbValue	value;
	JsonbContainer *array;
	double	   *number;

	if (!pe_option_find(options, name, &value))
		return NULL;
	array = array_of(name, &value, "an array of numbers, null for no bound");
	*count = JsonContainerSize(array);
	number = palloc((*count + 1) * sizeof(double));
	for (int i = 0; i < *count; i++)
	{
		JsonbValue *element = getIthJsonbValueFromContainer(array, i);

		number[i] = element->type == jbvNull ? none : pe_option_number(name, element);
	}
	return number;
}

static void
inequalities_of_json(const Jsonb *options, pe_polytope_argument *argument)
{
	static const char name[] = "inequalities";
	static const char expected[] = "an array of arrays of numbers, all of one length";
	JsonbValue	value;
	JsonbContainer *rows;

	if (!pe_option_find(options, name, &value))
		return;
	rows = array_of(name, &value, expected);
	argument->inequalities = JsonContainerSize(rows);
	for (int k = 0; k < argument->inequalities; k++)
	{
		JsonbContainer *row = array_of(name, getIthJsonbValueFromContainer(rows, k), expected);

		if (k == 0)
		{
			argument->width = JsonContainerSize(row);
			argument->inequality = pe_alloc((size_t) argument->inequalities * argument->width + 1, sizeof(double));
		}
		if (JsonContainerSize(row) != argument->width)
			pe_refuse_option(name, expected);
		for (int j = 0; j < argument->width; j++)
			argument->inequality[(size_t) k * argument->width + j] =
				pe_option_number(name, getIthJsonbValueFromContainer(row, j));
	}
}

void
pe_polytope_of_json(const Jsonb *options, pe_polytope_argument *argument)
{
	argument->lower = bounds_of_json(options, "lower", -INFINITY, &argument->lowers);
	argument->upper = bounds_of_json(options, "upper", INFINITY, &argument->uppers);
	inequalities_of_json(options, argument);
}

/* ------------------------------------------------------------------
 * The set
 * ------------------------------------------------------------------
 */

static void
check_length(const char *name, int given, int expected)
{
	if (given != expected)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must have %d numbers, and has %d", name, expected, given)));
}

/*
 * Numbers as they were given, without the sign of 0, which means nothing here.
 */
static const double *
bounds(const char *name, const double *given, int count, int variables, double none)
{
	double	   *bound = palloc((variables + 1) * sizeof(double));

	if (given != NULL)
		check_length(name, count, variables);
	for (int j = 0; j < variables; j++)
	{
		bound[j] = given != NULL ? given[j] + 0.0 : none;
		if (isnan(bound[j]) || bound[j] == -none)
			pe_refuse_parameter(name, isnan(bound[j]) ? "NaN" : "an infinity",
								"numbers, or infinite where there is no bound");
	}
	return bound;
}

/*
 * The same half-space with the largest of g_1 .. g_d from 1 to 2: squares of
 * its numbers are numbers then, for any input, and what is the same set is the
 * same request.
 */
static void
scale_inequality(double *row, int variables)
{
	double		most = 0;
	int			exponent;

	for (int j = 0; j < variables; j++)
		most = Max(most, fabs(row[j]));
	if (most == 0)
		most = 1;				/* holds everywhere or nowhere, for any divisor */
	frexp(most, &exponent);
	for (int j = 0; j <= variables; j++)
		row[j] = Max(-SIDE_MOST, Min(SIDE_MOST, ldexp(row[j], 1 - exponent))) + 0.0;
}

static const double *
inequalities(const pe_polytope_argument *argument, int variables)
{
	size_t		count = (size_t) argument->inequalities * (variables + 1);
	double	   *number;

	if (argument->inequalities == 0)
		return NULL;
	check_length("each of inequalities", argument->width, variables + 1);
	number = pe_alloc(count, sizeof(double));
	for (size_t i = 0; i < count; i++)
	{
		number[i] = argument->inequality[i];
		if (!isfinite(number[i]))
			pe_refuse_parameter("inequalities", isnan(number[i]) ? "NaN" : "an infinity", "finite numbers");
	}
	for (int k = 0; k < argument->inequalities; k++)
		scale_inequality(number + (size_t) k * (variables + 1), variables);
	return number;
}

void
pe_polytope_make(const pe_polytope_argument *argument, int variables, pe_polytope *set)
{
	set->variables = variables;
	set->lower = bounds("lower", argument->lower, argument->lowers, variables, -INFINITY);
	set->upper = bounds("upper", argument->upper, argument->uppers, variables, INFINITY);
	set->inequalities = argument->inequalities;
	set->inequality = inequalities(argument, variables);
	for (int j = 0; j < variables; j++)
		if (set->lower[j] > set->upper[j])
			pe_polytope_refuse(PE_PROGRAMME_EMPTY);
}

void
pe_polytope_refuse(pe_programme_end end)
{
	switch (end)
	{
		case PE_PROGRAMME_EMPTY:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the feasible set is empty"),
					 errdetail("No point satisfies all of lower, upper and inequalities.")));
			break;
		case PE_PROGRAMME_UNBOUNDED:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the feasible set is not bounded"),
					 errhint("Give finite bounds, or inequalities that bound every variable from both sides.")));
			break;
		case PE_PROGRAMME_THIN:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the feasible set has no interior"),
					 errhint("Leave out a variable that the others determine, instead of an equation.")));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the feasible set cannot be told from an empty or a very large one"),
					 errhint("Give numbers of more similar size.")));
	}
	pg_unreachable();
}

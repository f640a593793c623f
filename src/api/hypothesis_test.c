/*
 * hypothesis_test.c
 *	  dp.hypothesis_test: arguments in, a row out.
 */
#include "postgres.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "read/hypotheses.h"
#include "server/aggregate_options.h"
#include "server/arguments.h"
#include "server/return_rows.h"

PG_FUNCTION_INFO_V1(pe_sql_hypothesis_test);

enum
{
	RELEASE, KIND, ATTRIBUTES, OPTIONS
};

/* With fewer no p-value is below 5 %; more take minutes. */
#define LEAST_REPLICATES 99
#define MOST_REPLICATES 1000000

/* An array of numbers; 22023 for anything else. */
static double *
numbers_of(const char *name, const JsonbValue *value, int *count)
{
	JsonbContainer *array = value->type == jbvBinary ? value->val.binary.data : NULL;
	double	   *number;

	if (array == NULL || !JsonContainerIsArray(array))
		pe_refuse_option(name, "an array of numbers");
	*count = JsonContainerSize(array);
	number = palloc((*count + 1) * sizeof(double));
	for (int i = 0; i < *count; i++)
	{
		number[i] = pe_option_number(name, getIthJsonbValueFromContainer(array, i));
		if (!isfinite(number[i]))
			pe_refuse_option(name, "finite numbers");
	}
	return number;
}

static void
take_replicates(const Jsonb *options, pe_hypothesis *h)
{
	double		replicates = PE_REPLICATES;

	pe_option_take_number(options, "replicates", &replicates);
	if (!(replicates >= LEAST_REPLICATES && replicates <= MOST_REPLICATES) || replicates != floor(replicates))
		pe_refuse_option("replicates", "a whole number from 99 to 1000000");
	h->replicates = (int) replicates;
}

/* They are divided by their sum, so that thirds can be written. */
static void
take_probabilities(const Jsonb *options, pe_hypothesis *h)
{
	JsonbValue	value;
	double	   *probability;
	double		sum = 0;

	if (!pe_option_find(options, "probabilities", &value))
		return;
	probability = numbers_of("probabilities", &value, &h->probabilities);
	for (int i = 0; i < h->probabilities; i++)
	{
		/* a level that cannot be there has no expected count to be divided by */
		if (probability[i] <= 0)
			pe_refuse_option("probabilities", "numbers above 0");
		sum += probability[i];
	}
	if (!(fabs(sum - 1) < 1e-3))
		pe_refuse_option("probabilities", "numbers that add up to 1");
	for (int i = 0; i < h->probabilities; i++)
		probability[i] /= sum;
	h->probability = probability;
}

static void
take_scores(const Jsonb *options, pe_hypothesis *h)
{
	JsonbValue	value;
	int			found = 0;

	if (!pe_option_find(options, "scores", &value))
		return;
	if (value.type != jbvBinary || !JsonContainerIsObject(value.val.binary.data))
		pe_refuse_option("scores", "an object with an array for each attribute");
	for (int i = 0; i < h->attributes && i < 2; i++)
	{
		JsonbValue	key = {.type = jbvString};
		JsonbValue *of;

		key.val.string.val = h->attribute[i];
		key.val.string.len = strlen(h->attribute[i]);
		of = findJsonbValueFromContainer(value.val.binary.data, JB_FOBJECT, &key);
		if (of == NULL)
			continue;
		h->score[i] = numbers_of("scores", of, &h->scores[i]);
		found++;
	}
	if (found < (int) JsonContainerSize(value.val.binary.data))
		pe_refuse_option("scores", "keys that are attributes of the test");
}

/* What each kind takes. */
static void
read_options(const Jsonb *options, pe_hypothesis *h)
{
	const char *const known[] = {"replicates",
		h->kind == PE_HYPOTHESIS_GOODNESS ? "probabilities" : h->kind == PE_HYPOTHESIS_TREND ? "scores" : "replicates"};

	if (options == NULL)
		return;
	if (!JB_ROOT_IS_OBJECT(options))
		pe_refuse_parameter("options", "JSON that is no object", "an object");
	if (JB_ROOT_COUNT(pe_options_without(options, known, lengthof(known))) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a test of kind \"%s\" has no such option", pe_hypothesis_kinds[h->kind]),
				 errhint("It takes replicates%s.", strcmp(known[1], known[0]) == 0 ? "" :
						 psprintf(" and %s", known[1]))));
	take_replicates(options, h);
	take_probabilities(options, h);
	take_scores(options, h);
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_test_result *result = argument;

	pe_put_float(result->statistic, &values[0], &nulls[0]);
	pe_put_float(result->df, &values[1], &nulls[1]);
	pe_put_float(result->p_value, &values[2], &nulls[2]);
	pe_put_float(result->estimate, &values[3], &nulls[3]);
	pe_put_float(result->lower, &values[4], &nulls[4]);
	pe_put_float(result->upper, &values[5], &nulls[5]);
}

Datum
pe_sql_hypothesis_test(PG_FUNCTION_ARGS)
{
	pe_hypothesis h = {0};
	pe_test_result result;

	if (PG_ARGISNULL(RELEASE))
		pe_refuse_null("release");
	h.kind = pe_choice_argument(fcinfo, KIND, "kind", pe_hypothesis_kinds, PE_HYPOTHESES);
	h.attribute = pe_names_argument(fcinfo, ATTRIBUTES, "attributes", "an attribute", &h.attributes);
	read_options(PG_ARGISNULL(OPTIONS) ? NULL : PG_GETARG_JSONB_P(OPTIONS), &h);
	if (h.kind == PE_HYPOTHESIS_GOODNESS && h.probability == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a test of kind \"goodness\" needs public probabilities"),
				 errhint("Give one for each level: options => '{\"probabilities\": [0.5, 0.5]}'.")));
	pe_hypothesis_answer(PG_GETARG_INT64(RELEASE), &h, &result);
	pe_return_rows(fcinfo, 1, 6, make_row, &result);
	return (Datum) 0;
}

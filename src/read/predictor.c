/*
 * predictor.c
 *	  A kept model, ready to predict.  See predictor.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "server/float_array.h"
#include "read/predictor.h"
#include "glm/features.h"
#include "ledger/models.h"
#include "server/values.h"

typedef struct input
{
	char	   *name;
	int			name_size;
	const char *type_name;		/* for messages */
	Oid			type;			/* as which values are compared: integers as numeric, enums as text */
	FmgrInfo	in;
	Oid			in_parameter;
	pe_feature	feature;
	double		middle;			/* number: of the bounds */
	pe_attribute level;			/* not number: by values of type */
	pe_attribute number;		/* not number: by numbers */
	bool		has_number;
	const double *coefficient;	/* of its terms */
} input;

struct pe_predictor
{
	char	   *model;
	bool		probability;
	double		intercept;
	int			inputs;
	input	   *input;
};

/* ------------------------------------------------------------------
 * Preparation
 * ------------------------------------------------------------------
 */

/*
 * The types of a declaration as format_type_be_qualified writes them, without the
 * schema of those that are the server's own.  Any other one is
 * an enum: its values are known by their text, so that the model needs neither the
 * type nor a right to look at it.
 */
static const struct
{
	const char *name;
	Oid			type;
}			types[] = {
	{"boolean", BOOLOID},
	{"smallint", NUMERICOID},
	{"integer", NUMERICOID},
	{"bigint", NUMERICOID},
	{"numeric", NUMERICOID},
	{"real", FLOAT4OID},
	{"double precision", FLOAT8OID},
	{"character", BPCHAROID},
	{"uuid", UUIDOID},
	{"date", DATEOID},
	{"timestamp without time zone", TIMESTAMPOID},
	{"timestamp with time zone", TIMESTAMPTZOID}
};

static Oid
type_named(const char *name)
{
	for (int i = 0; i < lengthof(types); i++)
		if (strcmp(types[i].name, name) == 0)
			return types[i].type;
	return TEXTOID;
}

static void refuse_declaration(const char *name) __attribute__((noreturn));

static void
refuse_declaration(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the declaration of a model lacks \"%s\"", name)));
}

/* A field of the declaration, which this extension wrote. */
static JsonbValue
field(JsonbContainer *object, const char *name, enum jbvType type)
{
	JsonbValue	value;

	if (!JsonContainerIsObject(object) ||
		getKeyJsonValueFromContainer(object, name, strlen(name), &value) == NULL || value.type != type)
		refuse_declaration(name);
	return value;
}

static char *
string_field(JsonbContainer *object, const char *name)
{
	JsonbValue	value = field(object, name, jbvString);

	return pnstrdup(value.val.string.val, value.val.string.len);
}

/* A field that is an array of at least one value. */
static JsonbContainer *
array_field(JsonbContainer *object, const char *name)
{
	JsonbContainer *array = field(object, name, jbvBinary).val.binary.data;

	if (!JsonContainerIsArray(array) || JsonContainerSize(array) == 0)
		refuse_declaration(name);
	return array;
}

/* Element i of an array field, which must be of this type. */
static JsonbValue *
element(JsonbContainer *array, int i, const char *name, enum jbvType type)
{
	JsonbValue *value = getIthJsonbValueFromContainer(array, i);

	if (value->type != type)
		refuse_declaration(name);
	return value;
}

static char **
points_field(JsonbContainer *object, int *count)
{
	JsonbContainer *array = array_field(object, "points");
	char	  **points;

	*count = JsonContainerSize(array);
	points = palloc((*count + 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		JsonbValue *value = element(array, i, "points", jbvString);

		points[i] = pnstrdup(value->val.string.val, value->val.string.len);
	}
	return points;
}

static void
prepare_levels(pe_attribute *levels, const char *name)
{
	if (pe_attribute_prepare(levels) != PE_DOMAIN_OK)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the levels of attribute \"%s\" in a model are not sound", name)));
}

static pe_attribute
levels_like(const pe_feature *feature, pe_key key, int count)
{
	return (pe_attribute) {
		.key = key, .kind = PE_LEVELS, .outside = feature->other ? PE_OUTSIDE_OTHER : PE_OUTSIDE_DROP,
		.nulls = feature->null ? PE_NULLS_CELL : PE_NULLS_DROP,
		.points = count, .point = palloc0((count + 1) * sizeof(pe_point))
	};
}

static void
make_levels(input *in, char **points, int count)
{
	pe_key		key = PE_KEY_BYTES;

	in->feature.levels = count;
	(void) pe_type_key(in->type, &key);
	in->level = levels_like(&in->feature, key, count);
	for (int i = 0; i < count; i++)
		in->level.point[i] = pe_point_of_datum(in->type, InputFunctionCall(&in->in, points[i], in->in_parameter, -1));
	prepare_levels(&in->level, in->name);

	in->has_number = pe_type_has_bins(in->type) || in->type == BOOLOID;
	if (!in->has_number)
		return;
	in->number = levels_like(&in->feature, PE_KEY_FLOAT, count);
	for (int i = 0; i < count; i++)
		in->number.point[i].f = pe_number_of_text(in->type, points[i]);
	/* different values may be equal as numbers: then rows are not arrays */
	in->has_number = pe_attribute_prepare(&in->number) == PE_DOMAIN_OK;
}

static void
make_input(input *in, JsonbContainer *declared)
{
	Oid			function;
	int			count;
	char	  **points = points_field(declared, &count);
	char	   *outside = string_field(declared, "outside");

	in->name = string_field(declared, "attribute");
	in->name_size = strlen(in->name);
	in->type_name = string_field(declared, "type");
	if (strncmp(in->type_name, "pg_catalog.", strlen("pg_catalog.")) == 0)
		in->type_name += strlen("pg_catalog.");
	in->type = type_named(in->type_name);
	getTypeInputInfo(in->type, &function, &in->in_parameter);
	fmgr_info(function, &in->in);
	in->feature.number = field(declared, "number", jbvBool).val.boolean;
	in->feature.clamp = strcmp(outside, "clamp") == 0;
	in->feature.other = strcmp(outside, "other") == 0;
	in->feature.null = field(declared, "null", jbvBool).val.boolean;
	if (in->feature.number)
	{
		if (!pe_type_has_bins(in->type))
			refuse_declaration("type");
		in->feature.lower = pe_number_of_text(in->type, points[0]);
		in->feature.upper = pe_number_of_text(in->type, points[count - 1]);
		if (field(declared, "open", jbvBool).val.boolean)
			in->feature.upper = nextafter(in->feature.upper, in->feature.lower);
		in->middle = in->feature.lower / 2 + in->feature.upper / 2;
	}
	else
		make_levels(in, points, count);
}

static int
terms_of(const pe_feature *feature)
{
	return (feature->number ? 1 : feature->levels) + (feature->other ? 1 : 0) + (feature->null ? 1 : 0);
}

pe_predictor *
pe_predictor_load(const char *name)
{
	pe_kept_model *model = pe_model_load(name);
	Jsonb	   *declaration = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(model->declaration)));
	JsonbContainer *features = array_field(&declaration->root, "features");
	pe_predictor *predictor = palloc0(sizeof(*predictor));
	const double *coefficient = model->coefficient;

	predictor->model = model->name;
	predictor->probability = strcmp(model->kind, "logistic_regression") == 0;
	predictor->inputs = JsonContainerSize(features);
	predictor->input = palloc0((predictor->inputs + 1) * sizeof(input));
	predictor->intercept = *coefficient++;
	for (int i = 0; i < predictor->inputs; i++)
	{
		make_input(&predictor->input[i], element(features, i, "features", jbvBinary)->val.binary.data);
		predictor->input[i].coefficient = coefficient;
		coefficient += terms_of(&predictor->input[i].feature);
	}
	if (coefficient != model->coefficient + model->terms)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("model \"%s\" does not have the coefficients of its terms", name)));
	return predictor;
}

int
pe_predictor_reference(const pe_predictor *predictor, int term)
{
	int			first = 1;

	if (!predictor->probability)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("model \"%s\" has no odds", predictor->model),
				 errdetail("Odds ratios are of models of kind \"logistic_regression\".")));
	for (int i = 0; i < predictor->inputs; i++)
	{
		const pe_feature *feature = &predictor->input[i].feature;

		if (term >= first && term < first + terms_of(feature))
			return feature->number ? -1 : first;
		first += terms_of(feature);
	}
	return -1;
}

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

/* Adds the term of an indicator of a number; false where it is not declared. */
static bool
add_indicator(const input *in, bool declared, int term, double *sum)
{
	if (declared)
		*sum += in->coefficient[0] * in->middle + in->coefficient[term];
	return declared;
}

static bool
add_number(const input *in, double value, double *sum)
{
	const pe_feature *feature = &in->feature;

	if (isnan(value))
		return add_indicator(in, feature->null, feature->other ? 2 : 1, sum);
	if (value < feature->lower || value > feature->upper)
	{
		if (!feature->clamp)
			return add_indicator(in, feature->other, 1, sum);
		value = value < feature->lower ? feature->lower : feature->upper;
	}
	*sum += in->coefficient[0] * value;
	return true;
}

static bool
add_cell(const input *in, int32 cell, double *sum)
{
	if (cell == PE_DROPPED)
		return false;
	*sum += in->coefficient[cell];
	return true;
}

static bool
add_null(const input *in, double *sum)
{
	return in->feature.number ? add_number(in, get_float8_nan(), sum) : add_cell(in, pe_cell_of_null(&in->level), sum);
}

static double
finish_prediction(const pe_predictor *predictor, double sum)
{
	return predictor->probability ? 1 / (1 + exp(-sum)) : sum;
}

/* ------------------------------------------------------------------
 * Objects
 * ------------------------------------------------------------------
 */

static void refuse_json(const input *in) __attribute__((noreturn));

static void
refuse_json(const input *in)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the value of feature \"%s\" is not of type %s", in->name, in->type_name)));
}

static Datum
parsed(const input *in, char *text)
{
	return InputFunctionCall((FmgrInfo *) &in->in, text, in->in_parameter, -1);
}

/* Text is what JSON has for dates and times, for NaN and infinity. */
static double
number_of_json(const input *in, const JsonbValue *value)
{
	if (value->type == jbvNumeric && !pe_type_is_time(in->type))
		return pe_number_of_numeric(NumericGetDatum(value->val.numeric));
	if (value->type != jbvString)
		refuse_json(in);
	return pe_number_of_datum(in->type, parsed(in, pnstrdup(value->val.string.val, value->val.string.len)));
}

static int32
cell_of_text(const input *in, char *text, int size)
{
	if (in->type == BPCHAROID)
		size = bpchartruelen(text, size);
	if (in->type == BPCHAROID || in->type == TEXTOID)
		return pe_cell_of_bytes(&in->level, text, size);
	return pe_cell_of_datum(&in->level, in->type, parsed(in, pnstrdup(text, size)));
}

static int32
cell_of_number(const input *in, Numeric number)
{
	char	   *text;

	switch (in->type)
	{
		case NUMERICOID:
			return pe_cell_of_datum(&in->level, NUMERICOID, NumericGetDatum(number));
		case FLOAT4OID:
			return pe_cell_of_float(&in->level, (float) pe_number_of_numeric(NumericGetDatum(number)));
		case FLOAT8OID:
			return pe_cell_of_float(&in->level, pe_number_of_numeric(NumericGetDatum(number)));
		default:
			text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(number)));
			return cell_of_text(in, text, strlen(text));
	}
}

static int32
cell_of_json(const input *in, const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return cell_of_text(in, value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return cell_of_number(in, value->val.numeric);
		case jbvBool:
			if (in->type == BOOLOID)
				return pe_cell_of_int(&in->level, value->val.boolean);
			if (in->type == TEXTOID || in->type == BPCHAROID)
				return value->val.boolean ? cell_of_text(in, "true", 4) : cell_of_text(in, "false", 5);
			break;
		default:
			break;
	}
	refuse_json(in);
}

bool
pe_predict_object(const pe_predictor *predictor, Jsonb *row, double *prediction)
{
	double		sum = predictor->intercept;

	if (!JB_ROOT_IS_OBJECT(row))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the features must be a JSON object"),
				 errhint("Its keys are the names of the features: to_jsonb(row) has them.")));
	for (int i = 0; i < predictor->inputs; i++)
	{
		const input *in = &predictor->input[i];
		JsonbValue	value;
		bool		added;

		if (getKeyJsonValueFromContainer(&row->root, in->name, in->name_size, &value) == NULL || value.type == jbvNull)
			added = add_null(in, &sum);
		else if (in->feature.number)
			added = add_number(in, number_of_json(in, &value), &sum);
		else
			added = add_cell(in, cell_of_json(in, &value), &sum);
		if (!added)
			return false;
	}
	*prediction = finish_prediction(predictor, sum);
	return true;
}

/* ------------------------------------------------------------------
 * Arrays
 * ------------------------------------------------------------------
 */

static bool
add_number_or_level(const input *in, double value, double *sum)
{
	if (in->feature.number)
		return add_number(in, value, sum);
	if (!in->has_number)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("feature \"%s\" has levels of type %s, which an array of numbers cannot hold",
						in->name, in->type_name),
				 errhint("Use dp.predict.")));
	return add_cell(in, pe_cell_of_float(&in->number, value), sum);
}

bool
pe_predict_array(const pe_predictor *predictor, ArrayType *row, double *prediction)
{
	double		sum = predictor->intercept;
	bool		added = true;
	pe_float_array walk;

	if (!pe_float_array_has(row, predictor->inputs))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("features must have one dimension and as many elements as model \"%s\" has features (%d)",
						predictor->model, predictor->inputs)));
	pe_float_array_begin(&walk, row);
	for (int i = 0; i < predictor->inputs; i++)
		added &= add_number_or_level(&predictor->input[i], pe_float_array_next(&walk), &sum);
	*prediction = finish_prediction(predictor, sum);
	return added;
}

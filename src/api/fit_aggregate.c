/*
 * fit_aggregate.c
 *	  dp.logistic_regression, dp.svm, dp.linear_regression: private models of the rows
 *	  of a query, for roles that may read them.
 *
 * The options name a registered dataset, whose declarations say how values become
 * terms and on whose account the fit is.  What the rows are is the query's matter:
 * who asks may read them, and vouches for it that a unit of the dataset has no more
 * than max_rows of them.  Nothing is cut.
 *
 * Everything that can be wrong with the declaration is so before any row is looked
 * at: each group is validated at its first row, or at its end if it has none, and
 * charged at its end.  An empty group is fitted, charged and answered as any other
 * one.  Equal aggregates of one query are evaluated once, and so charged once; where
 * a query asks for the result of the same rows again (a rescan), it is kept with them.
 * The same query again is charged again, as there may be other rows behind the same
 * text.
 *
 * There is no combine function and none to serialise a state, and the state is
 * `internal`: no SQL sees it.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "funcapi.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "server/float_array.h"
#include "ask/ask.h"
#include "ask/ask_model.h"
#include "server/aggregate_options.h"
#include "door/reader.h"
#include "door/row_values.h"
#include "server/access.h"
#include "ledger/models.h"
#include "server/settings.h"
#include "server/shim.h"

PG_FUNCTION_INFO_V1(pe_sql_logistic_regression_add);
PG_FUNCTION_INFO_V1(pe_sql_logistic_regression_final);
PG_FUNCTION_INFO_V1(pe_sql_svm_add);
PG_FUNCTION_INFO_V1(pe_sql_svm_final);
PG_FUNCTION_INFO_V1(pe_sql_linear_regression_add);
PG_FUNCTION_INFO_V1(pe_sql_linear_regression_final);

#define ARG_LABEL 1
#define ARG_FEATURES 2

/* Where the options are among the aggregate's own arguments. */
#define OPTIONS 2

/* One group. */
typedef struct state
{
	pe_call		call;
	MemoryContext context;		/* of this and of everything below */
	pe_model_fit *fit;
	char	   *name;			/* of the model */
	double	   *coefficient;	/* and behind them the standard errors */
	Oid			label_type;		/* base type */
	pe_feature_value *feature;
	pe_row		row;
	pe_rows		rows;
	size_t		bytes;			/* of rows */
	size_t	   *all_bytes;		/* of the rows of all groups of the aggregate; NULL in a group without rows */
	bool		fitted;
	Datum		result;			/* fitted */
} state;

/* ------------------------------------------------------------------
 * A group
 * ------------------------------------------------------------------
 */

/* Whether the query may have more than one group. */
static bool
is_grouped(FunctionCallInfo fcinfo)
{
	const Agg  *agg = castNode(Agg, castNode(AggState, fcinfo->context)->ss.ps.plan);

	return agg->numCols > 0 || agg->groupingSets != NIL;
}

static void
check_label(const state *s)
{
	const pe_column *label = &s->fit->columns[0];

	if (s->label_type != label->type)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the label is of type %s, and attribute \"%s\" of type %s",
						format_type_be(s->label_type), label->name, format_type_be(label->type))));
}

static void
validate_fit(pe_call *call)
{
	state	   *s = (state *) call;
	pe_request *request = &call->request;

	pe_model_options_read(pe_constant_options(call->fcinfo, OPTIONS), request);
	request->fresh = true;
	request->of_query = true;
	request->model.numbered = is_grouped(call->fcinfo);
	s->fit = pe_model_validate(request, true);
	call->asked = &s->fit->asked;
	check_label(s);
}

static void
ask_for_fit(pe_call *call)
{
	state	   *s = (state *) call;

	pe_fit_collected(&s->fit->question, &s->rows, &call->reply);
}

static void
take_fit(pe_call *call)
{
	state	   *s = (state *) call;

	memcpy(s->coefficient, call->reply.value, PE_MODEL_VALUES(s->fit->record.terms) * sizeof(double));
	PE_UNDONE();
	s->name = pe_model_name(call->reply.release_id, call->request.model.name);
	PE_END_UNDONE();
	pe_model_tell_class(s->fit);
}

static const char *
paid_for_fit(pe_call *call)
{
	return pe_model_paid(((state *) call)->name, &call->reply);
}

static const pe_ask_kind ask_fit = {
	.validate = validate_fit, .door = ask_for_fit, .take = take_fit, .paid = paid_for_fit
};

static void
forget(void *argument)
{
	state	   *s = argument;

	pe_rows_free(&s->rows);
	if (s->all_bytes != NULL)
		*s->all_bytes -= s->bytes;
}

/* A group without rows; anything wrong with the options is an error here. */
static state *
new_state(FunctionCallInfo fcinfo, MemoryContext parent, const char *function)
{
	MemoryContext context = AllocSetContextCreate(parent, "pg_epsilon rows", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	state	   *s = palloc0(sizeof(*s));
	const pe_row_shape *shape;

	s->context = context;
	s->call = (pe_call) {.kind = &ask_fit, .fcinfo = fcinfo};
	pe_request_init(&s->call.request, PE_ASK_MODEL, function);
	s->call.request.model.kind = pstrdup(function + strlen("dp."));
	s->label_type = getBaseType(pe_aggregate_argument_type(fcinfo, 0));
	pe_ask_prepare(&s->call);
	shape = &s->fit->spec.map.shape;
	s->feature = palloc0((s->call.request.attributes + 1) * sizeof(*s->feature));
	s->row.dense = palloc0((shape->dense + 1) * sizeof(int16));
	s->row.cell = palloc0((shape->groups + 1) * sizeof(uint16));
	pe_rows_init(&s->rows, shape, false);
	pe_guard_set(context, forget, s);
	MemoryContextSwitchTo(old);
	return s;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

/* What the groups of one aggregate take together is counted with its transition function. */
static state *
first_row(FunctionCallInfo fcinfo, MemoryContext parent, const char *function)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	state	   *s = new_state(fcinfo, parent, function);

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof(size_t));
	s->all_bytes = flinfo->fn_extra;
	return s;
}

/* Before a row that needs a block of its own. */
static void
check_memory(state *s)
{
	size_t		bytes = pe_rows_memory(&s->rows.shape, false, s->rows.rows + 1);
	size_t		all = *s->all_bytes + (bytes - s->bytes);

	if (all + pe_fit_memory(&s->fit->problem) > (size_t) pe_max_memory * 1024)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("the rows of the aggregate need more than pg_epsilon.max_memory"),
				 errdetail("Nothing was charged for this group."),
				 errhint("dp.fit scans a table that is larger than memory; "
						 "or let a superuser raise pg_epsilon.max_memory.")));
	*s->all_bytes = all;
	s->bytes = bytes;
}

static void
read_label(state *s, FunctionCallInfo fcinfo)
{
	s->row.label = pe_label_of_value(&s->fit->spec, s->label_type, PG_GETARG_DATUM(ARG_LABEL), PG_ARGISNULL(ARG_LABEL));
}

/* An array that is null has nothing but NULL in it. */
static void
read_features(state *s, ArrayType *array)
{
	const pe_row_spec *spec = &s->fit->spec;
	pe_float_array walk = {0};

	if (array != NULL)
		pe_float_array_begin(&walk, array);
	for (int f = 0; f < s->call.request.attributes; f++)
	{
		double		value = array != NULL ? pe_float_array_next(&walk) : get_float8_nan();

		if (spec->map.feature[f].number)
			s->feature[f].number = value;	/* NaN is NULL */
		else
		{
			s->feature[f].null = isnan(value);
			s->feature[f].cell = pe_cell_of_float(&spec->levels[f], value);
		}
	}
}

static ArrayType *
array_argument(const state *s, FunctionCallInfo fcinfo)
{
	ArrayType  *array = PG_ARGISNULL(ARG_FEATURES) ? NULL : PG_GETARG_ARRAYTYPE_P(ARG_FEATURES);

	if (array != NULL && !pe_float_array_has(array, s->call.request.attributes))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("features must have one dimension and as many elements as the options name (%d)",
						s->call.request.attributes)));
	return array;
}

static void
add_row(state *s, FunctionCallInfo fcinfo)
{
	MemoryContext old;

	read_label(s, fcinfo);
	read_features(s, array_argument(s, fcinfo));
	if (s->row.label == PE_NO_LABEL || !pe_feature_encode(&s->fit->spec.map, s->feature, &s->row))
		return;
	if (s->rows.rows % PE_BLOCK_ROWS == 0)
		check_memory(s);
	old = MemoryContextSwitchTo(s->context);
	pe_rows_add(&s->rows, &s->row, NULL);
	MemoryContextSwitchTo(old);
}

static Datum
add_to_fit(FunctionCallInfo fcinfo, const char *function)
{
	MemoryContext context = pe_reader_context(fcinfo, function);
	state	   *s = PG_ARGISNULL(0) ? first_row(fcinfo, context, function) : (state *) PG_GETARG_POINTER(0);

	add_row(s, fcinfo);
	PG_RETURN_POINTER(s);
}

/* ------------------------------------------------------------------
 * The fit
 * ------------------------------------------------------------------
 */

static void
fit_plainly(state *s)
{
	pe_fit_collected_plain(&s->fit->question, &s->rows, s->coefficient);
	for (int i = s->fit->record.terms; i < PE_MODEL_VALUES(s->fit->record.terms); i++)
		s->coefficient[i] = get_float8_nan();
	s->name = pe_model_keep_plain(s->fit->asked.dataset, &s->fit->asked.charge, s->coefficient);
}

static Datum
make_term(const state *s, int term, TupleDesc desc)
{
	double		deviation = s->coefficient[s->fit->record.terms + term];
	Datum		values[5] = {0};
	bool		nulls[5] = {false, false, isnan(deviation), s->name == NULL, s->call.reply.release_id == 0};

	values[0] = CStringGetTextDatum(s->fit->record.term[term]);
	values[1] = Float8GetDatum(s->coefficient[term]);
	values[2] = Float8GetDatum(deviation);
	if (!nulls[3])
		values[3] = CStringGetTextDatum(s->name);
	values[4] = Int64GetDatum(s->call.reply.release_id);
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/* An array of dp.model_term, which is what the aggregate returns. */
static Datum
make_terms(const state *s, Oid type)
{
	int			terms = s->fit->record.terms;
	Datum	   *elements = palloc((terms + 1) * sizeof(Datum));
	TupleDesc	desc = lookup_rowtype_tupdesc_copy(type, -1);

	for (int i = 0; i < terms; i++)
		elements[i] = make_term(s, i, desc);
	return PointerGetDatum(construct_array(elements, terms, type, -1, false, TYPALIGN_DOUBLE));
}

static void
fit_group(state *s, Oid type)
{
	MemoryContext old = MemoryContextSwitchTo(s->context);

	s->coefficient = palloc0(PE_MODEL_VALUES(s->fit->record.terms) * sizeof(double));
	if (pe_fit_is_private(s->fit->problem.method))
		pe_ask(&s->call);
	else
		fit_plainly(s);
	s->result = make_terms(s, type);
	s->fitted = true;
	MemoryContextSwitchTo(old);
}

static Datum
end_fit(FunctionCallInfo fcinfo, const char *function)
{
	MemoryContext context = pe_reader_context(fcinfo, function);
	state	   *s = PG_ARGISNULL(0) ? new_state(fcinfo, context, function) : (state *) PG_GETARG_POINTER(0);

	if (!s->fitted)
		fit_group(s, get_element_type(get_fn_expr_rettype(fcinfo->flinfo)));
	return datumCopy(s->result, false, -1);
}

/* ------------------------------------------------------------------
 * SQL
 * ------------------------------------------------------------------
 */

Datum
pe_sql_logistic_regression_add(PG_FUNCTION_ARGS)
{
	return add_to_fit(fcinfo, "dp.logistic_regression");
}

Datum
pe_sql_logistic_regression_final(PG_FUNCTION_ARGS)
{
	return end_fit(fcinfo, "dp.logistic_regression");
}

Datum
pe_sql_svm_add(PG_FUNCTION_ARGS)
{
	return add_to_fit(fcinfo, "dp.svm");
}

Datum
pe_sql_svm_final(PG_FUNCTION_ARGS)
{
	return end_fit(fcinfo, "dp.svm");
}

Datum
pe_sql_linear_regression_add(PG_FUNCTION_ARGS)
{
	return add_to_fit(fcinfo, "dp.linear_regression");
}

Datum
pe_sql_linear_regression_final(PG_FUNCTION_ARGS)
{
	return end_fit(fcinfo, "dp.linear_regression");
}

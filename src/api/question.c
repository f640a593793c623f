/*
 * question.c
 *	  The arguments of dp.histogram and of its quotes.  See question.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/json.h"
#include "utils/memutils.h"

#include "accounting/filter.h"
#include "accounting/mechanisms.h"
#include "accounting/zcdp.h"
#include "api/answers.h"
#include "api/arguments.h"
#include "api/predicate.h"
#include "api/question.h"
#include "door/obtain.h"
#include "server/settings.h"
#include "server/shim.h"

/* How near to the optimum a strategy is made for a histogram, and how near one must be that is there already. */
#define HISTOGRAM_GAP 1e-6
#define ACCEPTED_GAP 1e-3

/* The arguments by position, the same in all functions. */
enum
{
	ARG_DATASET, ARG_ATTRIBUTES, ARG_WORKLOAD, ARG_EPSILON, ARG_RHO, ARG_MAX_STDERR, ARG_DELTA,
	ARG_PREDICATE, ARG_METHOD, ARG_NONNEGATIVE, ARG_FRESH, ARG_BUDGET, ARG_ROWS_PER_UNIT
};

/* ------------------------------------------------------------------
 * Attributes and workload
 * ------------------------------------------------------------------
 */

/* The names asked for: text[], or text that is one name or an array literal.  Without names all rows are one cell. */
static char **
attribute_names(FunctionCallInfo fcinfo, int *count)
{
	ArrayType  *array;
	Datum	   *elements;
	bool	   *nulls;
	char	  **names;

	if (PG_ARGISNULL(ARG_ATTRIBUTES))
		pe_refuse_null("attributes");
	if (get_fn_expr_argtype(fcinfo->flinfo, ARG_ATTRIBUTES) == TEXTOID)
	{
		char	   *given = text_to_cstring(PG_GETARG_TEXT_PP(ARG_ATTRIBUTES));

		if (given[0] != '{')
		{
			*count = 1;
			names = palloc(sizeof(char *));
			names[0] = given;
			return names;
		}
		array = DatumGetArrayTypeP(OidInputFunctionCall(F_ARRAY_IN, given, TEXTOID, -1));
	}
	else
		array = PG_GETARG_ARRAYTYPE_P(ARG_ATTRIBUTES);

	if (ARR_NDIM(array) > 1)
		pe_refuse_parameter("attributes", "an array of several dimensions", "a list");
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, count);
	pe_check_attributes(*count);
	names = palloc((*count + 1) * sizeof(char *));
	for (int i = 0; i < *count; i++)
	{
		if (nulls[i])
			pe_refuse_null("an attribute");
		names[i] = TextDatumGetCString(elements[i]);
	}
	return names;
}

/* The method; the accounting, which decides the noise, is known. */
static void
resolve_method(FunctionCallInfo fcinfo, pe_histogram *h)
{
	h->method = pe_method_argument(fcinfo, ARG_METHOD);
	pe_check_method(h->method, h->noise.norm);
	if (h->nonnegative && h->method == PE_METHOD_DIRECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nonnegative does not go with method \"direct\""),
				 errdetail("It measures the queries alone, each by itself, and estimates no cells."),
				 errhint("Use another method, or leave nonnegative out.")));
}

/* The predicate, and the columns that it alone names behind the others. */
static void
parse_predicate(FunctionCallInfo fcinfo, pe_histogram *h)
{
	int			count = h->attributes;

	if (PG_ARGISNULL(ARG_PREDICATE))
		return;
	h->columns = repalloc(h->columns, PE_MAX_ATTRIBUTES * sizeof(*h->columns));
	h->selection = pe_predicate_argument(h->dataset, text_to_cstring(PG_GETARG_TEXT_PP(ARG_PREDICATE)), h->columns, &count);
	pe_dataset_check_committed(h->dataset);	/* for the columns that were loaded now */
	h->predicate = h->selection->canonical;
	h->watched = count - h->attributes;
}

/* A partition is of neighbouring cells. */
static void
check_ordered(const pe_histogram *h)
{
	if (h->method == PE_METHOD_DAWA && !pe_shape_is_ordered(&h->workload.shape))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"dawa\" is for a single attribute whose cells all have an order"),
				 errdetail("It counts neighbouring cells together; cells for other values and for NULL have no neighbours."),
				 errhint("Use another method.")));
}

/* What the answer will take, besides the strategy. */
static void
check_memory(const pe_histogram *h)
{
	pe_classes	classes;
	const pe_workload *workload = &h->workload;
	size_t		cells = h->domain->cells;

	pe_classes_init(&workload, 1, &classes);
	pe_check_memory(pe_reconstruction_memory(&h->workload, &classes)
					+ cells * (sizeof(int64) + sizeof(int32)) + (size_t) classes.cells * sizeof(int64)
					+ (size_t) h->workload.queries * 4 * sizeof(double)	/* estimate, error, variance, label */
					+ (h->selection != NULL ? pe_predicate_memory(h->selection, h->domain) : 0));
	pe_classes_free(&classes);
}

/* ------------------------------------------------------------------
 * Cost
 * ------------------------------------------------------------------
 */

static void
check_positive(const char *name, double value)
{
	if (!(value > 0) || isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a finite number above 0", name)));
}

static void
refuse_of_pure(const char *name, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s does not go with pure accounting", name),
			 errdetail("It counts epsilon alone, and delta is 0."),
			 errhint("%s", hint)));
}

static void
resolve_delta(FunctionCallInfo fcinfo, pe_histogram *h)
{
	if (h->pure)
	{
		if (!PG_ARGISNULL(ARG_DELTA))
			refuse_of_pure("delta", "Leave delta out.");
		if (!PG_ARGISNULL(ARG_RHO))
			refuse_of_pure("rho", "Use epsilon or max_stderr.");
		return;
	}
	h->delta = h->budget != NULL ? h->budget->delta / 2 : h->dataset->delta / 2;
	if (!PG_ARGISNULL(ARG_DELTA))
		h->delta = PG_GETARG_FLOAT8(ARG_DELTA);
	pe_check_delta(h->delta);
}

/* What cannot be asked of a method whose errors depend on the data. */
static void
refuse_of_dawa(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("max_stderr does not go with method \"dawa\""),
			 errdetail("The bias of its answers depends on the data and is unknown."),
			 errhint("Use epsilon.")));
}

/* Whether noise of this cost can be drawn. */
static bool
can_be_charged(const pe_histogram *h)
{
	if (h->pure && h->noise.nano > PE_EPSILON_MAX * 1e9)
		return false;
	return h->method == PE_METHOD_DAWA ? h->noise.nano >= PE_DAWA_LEAST_NANO
		: h->noise.nano > 0 && !isinf(pe_noise_stderr(&h->noise));
}

static void
resolve_cost(FunctionCallInfo fcinfo, pe_histogram *h)
{
	int			given = !PG_ARGISNULL(ARG_EPSILON) + !PG_ARGISNULL(ARG_RHO) + !PG_ARGISNULL(ARG_MAX_STDERR);
	int64	   *nano = &h->noise.nano;

	if (given != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("exactly one of epsilon, rho and max_stderr must be given")));
	resolve_delta(fcinfo, h);
	if (!PG_ARGISNULL(ARG_EPSILON))
	{
		double		epsilon = PG_GETARG_FLOAT8(ARG_EPSILON);

		pe_check_epsilon(epsilon);
		*nano = h->pure ? pe_nano_rho_down(epsilon) : pe_nano_rho_of_epsilon(epsilon, h->delta);
	}
	else if (!PG_ARGISNULL(ARG_RHO))
	{
		check_positive("rho", PG_GETARG_FLOAT8(ARG_RHO));
		*nano = pe_nano_rho_down(PG_GETARG_FLOAT8(ARG_RHO));
	}
	else if (h->method == PE_METHOD_DAWA)
		refuse_of_dawa();
	else
	{
		check_positive("max_stderr", PG_GETARG_FLOAT8(ARG_MAX_STDERR));
		*nano = pe_noise_least_nano(&h->noise, PG_GETARG_FLOAT8(ARG_MAX_STDERR), sqrt(pe_histogram_max_variance(h)));
	}
	if (!can_be_charged(h))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cost asked for is out of range"),
				 h->pure
				 ? errdetail("A charge is a whole number of 1e-9 of epsilon, at least %d and at most %g of epsilon.",
							 h->method == PE_METHOD_DAWA ? PE_DAWA_LEAST_NANO : 1, PE_EPSILON_MAX)
				 : errdetail("A charge is a whole number of 1e-9 of rho, at least one and at most 9e9.")));
}

double
pe_histogram_max_variance(pe_histogram *h)
{
	double		most = 0;

	if (h->variance == NULL)
		h->variance = pe_unit_variances(&h->measured, &h->workload);
	for (int32 q = 0; q < h->workload.queries; q++)
		most = Max(most, h->variance[q]);
	return most;
}

double
pe_histogram_epsilon(const pe_histogram *h)
{
	return h->pure ? h->noise.nano / 1e9 : pe_zcdp_epsilon(h->noise.nano * 1e-9, h->delta);
}

/* ------------------------------------------------------------------
 * The request as the ledger knows it
 * ------------------------------------------------------------------
 */

/*
 * Two requests with the same text are the same request, and the second is
 * answered from the first.  How the cost was written and how the answer is
 * post-processed are not in it.
 */
static char *
canonical_request(const pe_histogram *h)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "{\"kind\": \"histogram\", \"dataset\": ");
	escape_json(&text, h->dataset->name);
	appendStringInfo(&text, ", \"version\": %d, \"attributes\": [", h->dataset->version);
	for (int i = 0; i < h->attributes; i++)
	{
		if (i > 0)
			appendStringInfoString(&text, ", ");
		escape_json(&text, h->columns[i].name);
	}
	appendStringInfoString(&text, "], \"workload\": ");
	escape_json(&text, h->workload.canonical);
	appendStringInfoString(&text, ", \"predicate\": ");
	if (h->predicate != NULL)
		escape_json(&text, h->predicate);
	else
		appendStringInfoString(&text, "null");
	if (h->dataset->unit != NULL)
		appendStringInfo(&text, ", \"rows_per_unit\": %d", h->dataset->max_rows);
	appendStringInfo(&text, ", \"method\": \"%s\", \"accounting\": \"%s\", \"%s\": " INT64_FORMAT "}",
					 pe_method_name(h->method), h->pure ? "pure" : "zcdp", h->pure ? "epsilon" : "rho", h->noise.nano);
	return text.data;
}

static char *
decimal(pe_u128 number)
{
	char		digits[40];
	int			at = lengthof(digits);

	digits[--at] = '\0';
	do
		digits[--at] = '0' + (int) (number % 10);
	while ((number /= 10) != 0);
	return pstrdup(digits + at);
}

/*
 * What the noise of a pure request costs a cap in rho.  dawa's second draw has a sensitivity
 * that the first one decides: it costs what any pure mechanism does.
 */
static int64
pure_as_rho(const pe_histogram *h)
{
	pe_intervals intervals;

	if (h->method != PE_METHOD_DAWA)
		return pe_nano_rho_of_laplace(h->noise.nano, h->noise.sensitivity);
	pe_intervals_init(&intervals, h->dawa.columns);
	return pe_nano_rho_of_pure(h->dawa.counts_nano) +
		(h->dawa.partition_nano > 0
		 ? pe_nano_rho_of_laplace(h->dawa.partition_nano, pe_interval_sensitivity(&intervals, h->dawa.neighbours, h->dawa.max_rows)) : 0);
}

static void
fill_question(FunctionCallInfo fcinfo, pe_histogram *h)
{
	pe_charge_request *charge = &h->question.charge;

	h->question.dataset = h->dataset;
	h->question.columns = h->columns;
	h->question.domain = h->domain;
	h->question.predicate = h->selection;
	h->question.strategy = &h->kept.strategy;
	h->question.column_of_cell = pe_alloc(h->domain->cells, sizeof(int32));
	pe_strategy_columns(&h->kept.strategy, &h->workload, h->possible, h->question.column_of_cell);
	h->question.noise = h->noise;
	h->question.dawa = h->method == PE_METHOD_DAWA ? &h->dawa : NULL;
	charge->dataset_id = h->dataset->id;
	charge->version = h->dataset->version;
	charge->budget_id = h->budget != NULL ? h->budget->id : 0;
	charge->role = GetUserNameFromId(GetUserId(), false);
	charge->function = "dp.histogram";
	charge->rho = h->pure ? 0 : h->noise.nano;
	charge->epsilon = h->pure ? h->noise.nano : 0;
	charge->as_rho = h->pure ? pure_as_rho(h) : 0;
	charge->fresh = !PG_ARGISNULL(ARG_FRESH) && PG_GETARG_BOOL(ARG_FRESH);
	charge->request = canonical_request(h);
	charge->attributes = h->attributes;
	charge->attribute = palloc(h->attributes * sizeof(char *));
	for (int i = 0; i < h->attributes; i++)
		charge->attribute[i] = h->columns[i].name;
	charge->workload = h->workload.canonical;
	charge->predicate = h->predicate;
	charge->method = pe_method_name(h->method);
	charge->queries = h->workload.queries;
	charge->strategy_id = h->kept.id;
	charge->sensitivity = h->method == PE_METHOD_DAWA ? "0" : decimal(h->noise.sensitivity);
}

pe_histogram *
pe_histogram_arguments(FunctionCallInfo fcinfo, bool needs_budget)
{
	pe_histogram *h = palloc0(sizeof(*h));
	char	  **names = attribute_names(fcinfo, &h->attributes);

	h->dataset = pe_dataset_load(pe_text_argument(fcinfo, ARG_DATASET, "dataset"));
	pe_dataset_check_rows(h->dataset);
	if (!PG_ARGISNULL(ARG_ROWS_PER_UNIT))
		pe_dataset_cut_to(h->dataset, PG_GETARG_INT32(ARG_ROWS_PER_UNIT));
	h->columns = pe_columns_load(h->dataset, names, &h->attributes);
	pe_dataset_check_committed(h->dataset);
	if (!PG_ARGISNULL(ARG_BUDGET))
		h->budget = pe_budget_choose(h->dataset, NameStr(*PG_GETARG_NAME(ARG_BUDGET)));
	else
		h->budget = needs_budget ? pe_budget_choose(h->dataset, NULL) : pe_budget_find(h->dataset);
	h->nonnegative = !PG_ARGISNULL(ARG_NONNEGATIVE) && PG_GETARG_BOOL(ARG_NONNEGATIVE);
	h->pure = pe_is_pure(h->budget != NULL ? h->budget->accounting : h->dataset->accounting);
	h->noise.norm = h->pure ? PE_L1 : PE_L2;
	resolve_method(fcinfo, h);

	parse_predicate(fcinfo, h);
	h->domain = pe_columns_domain(h->columns, h->attributes + h->watched, h->watched);
	pe_parse_columns_workload(h->dataset, h->columns, h->domain, pe_text_argument(fcinfo, ARG_WORKLOAD, "workload"), &h->workload);
	check_ordered(h);
	check_memory(h);
	if (h->selection != NULL)
		h->possible = pe_predicate_cells(h->selection, h->domain);
	return h;
}

/* Most measurements of a release: as many as are handed to the worker in one piece. */
#define MOST_MEASUREMENTS ((int32) (MaxAllocSize / 2 / sizeof(int64)))

/* What becomes of the measurements, of which some methods take many more than there are cells. */
static void
check_measurements(const pe_strategy *strategy)
{
	if (strategy->rows > MOST_MEASUREMENTS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the request takes %d measurements, more than a release can hold", strategy->rows),
				 errdetail("At most %d can be.", MOST_MEASUREMENTS),
				 errhint("Use method => 'optimal', which measures no more than there are cells.")));
	/* exact, noisy, and on its way to the worker */
	pe_check_memory((size_t) strategy->rows * (sizeof(pe_i128) + 2 * sizeof(int64)));
}

/* The sensitivity, and the errors of the queries: whatever could fail in it fails before the charge. */
static void
resolve_noise(pe_histogram *h)
{
	if (!pe_sensitivity(h->dataset, &h->kept.strategy, h->noise.norm, &h->noise.sensitivity))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the sensitivity of the request is too large")));
	(void) pe_histogram_max_variance(h);
}

/* What a private partition is computed from, but for the cost. */
static void
resolve_dawa(pe_histogram *h)
{
	const pe_workload *workload = &h->workload;
	pe_classes	classes;

	pe_classes_init(&workload, 1, &classes);
	pe_check_memory(pe_dawa_memory(classes.cells));
	h->dawa = (pe_dawa_plan) {
		.columns = h->kept.strategy.columns, .v = pe_ordered_gram(workload, &classes, &h->kept.strategy),
		.neighbours = pe_dataset_neighbours(h->dataset), .max_rows = h->dataset->max_rows
	};
	pe_classes_free(&classes);
	/* of the search behind the door, where the caller's settings are not in force */
	pe_progress_begin();
}

void
pe_histogram_resolve(FunctionCallInfo fcinfo, pe_histogram *h)
{
	pe_strategy_key key = {&h->workload, h->possible, h->method, PE_SUM, h->noise.norm, HISTOGRAM_GAP, h->bounded};

	pe_strategy_obtain(&key, ACCEPTED_GAP, false, &h->kept);
	check_measurements(&h->kept.strategy);
	h->measured = (pe_measured) {&h->workload, &h->kept.strategy, h->possible};
	if (h->method == PE_METHOD_DAWA)
		resolve_dawa(h);
	else
		resolve_noise(h);
	resolve_cost(fcinfo, h);
	if (h->method == PE_METHOD_DAWA)
		pe_dawa_split(&h->dawa, h->noise.nano);
	fill_question(fcinfo, h);
}

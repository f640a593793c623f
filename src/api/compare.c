/*
 * compare.c
 *	  dp.compare: how good every method is for a workload that is given by
 *	  sizes.  No data but an example that is public.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "accounting/filter.h"
#include "accounting/conversion.h"
#include "ask/answers.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "server/settings.h"
#include "server/shim.h"
#include "door/obtain.h"
#include "counts/dawa.h"
#include "plan/plan.h"

PG_FUNCTION_INFO_V1(pe_sql_compare);

/* The arguments by position. */
enum
{
	ARG_WORKLOAD, ARG_EPSILON, ARG_DELTA, ARG_METHODS, ARG_EXAMPLE
};

/* As near to the optimum as dp.optimize and dp.histogram make it. */
#define GAP 1e-6

/* Releases that are drawn of a method whose errors depend on the data, and the largest sum of counts it takes. */
#define SIMULATED 200
#define LARGEST_SUM ((int64) 1 << 62)

/* One unit adds or removes one row. */
static const pe_plan_rules one_row = {.neighbours = PE_ADD_REMOVE, .max_rows = 1};

/* What is known of a method; NaN: nobody knows. */
typedef struct found
{
	pe_method	method;
	double		rmse;
	double		objective;
	double		milliseconds;
} found;

typedef struct comparison
{
	pe_workload workload;
	pe_norm		norm;			/* of all methods but dawa */
	pe_plan_ask ask;			/* what a release costs, likewise */
	pe_plan_ask pure_ask;		/* of dawa */
	int64		pure_nano;		/* the same in 1e-9 */
	const int64 *example;		/* per cell; NULL: none */
	int			methods;
	found	   *row;
	double		bound;			/* of every strategy's objective, the best that was found; 0: none */
} comparison;

/* ------------------------------------------------------------------
 * Methods whose expected errors are known
 * ------------------------------------------------------------------
 */

static double
noise_stderr(const comparison *c, const pe_strategy *strategy)
{
	pe_plan_counts counts = {.strategy = strategy, .rules = one_row};
	pe_plan    *plan;

	pe_check_memory(pe_strategy_sensitivity_memory(strategy, one_row.neighbours));
	if (pe_plan_of_counts(&c->ask, &counts, &plan) != PE_PLAN_MADE)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the noise of the workload's answers is too wide")));
	return pe_noise_stderr(pe_plan_noise(plan));
}

/* The root of the mean of all queries' variances for noise of variance 1; weights are not in it. */
static double
unit_rms(const comparison *c, const pe_strategy *strategy)
{
	pe_measured measured = {&c->workload, strategy, NULL, NULL};
	double	   *variance;
	double		sum = 0;

	pe_check_memory((size_t) c->workload.queries * sizeof(double));
	variance = pe_unit_variances(&measured, &c->workload);
	for (int32 q = 0; q < c->workload.queries; q++)
		sum += variance[q];
	return sqrt(sum / c->workload.queries);
}

/* The bounds that strategies were kept with are not equally near to the optimum, but true of all of them. */
static void
compute(comparison *c, found *row)
{
	pe_strategy_key key = {
		.workload = &c->workload, .method = row->method, .objective = PE_SUM, .norm = c->norm,
		.neighbours = one_row.neighbours, .gap = GAP, .bounded = true
	};
	pe_kept_strategy kept;
	const pe_strategy *strategy = &kept.strategy;

	pe_strategy_obtain(&key, GAP, true, &kept);
	row->rmse = noise_stderr(c, strategy) * unit_rms(c, strategy);
	row->objective = strategy->objective;
	row->milliseconds = kept.milliseconds;
	c->bound = Max(c->bound, strategy->lower_bound);
}

/* ------------------------------------------------------------------
 * dawa, whose errors depend on the data
 * ------------------------------------------------------------------
 */

typedef struct simulation
{
	const pe_workload *workload;
	pe_classes	classes;
	pe_strategy ordered;		/* the columns of the plan */
	pe_plan    *plan;
	int64_t    *counts;			/* of the columns */
	int64_t    *released;
	double	   *error;			/* of each class */
	double	   *answer;			/* the errors of all queries */
} simulation;

static void
begin_simulation(const comparison *c, simulation *s)
{
	int32		cells = pe_shape_cells(&c->workload.shape);
	int32_t    *column_of_cell = pe_alloc(cells, sizeof(int32_t));
	pe_plan_counts counts = {.strategy = &s->ordered, .rules = one_row};

	s->workload = &c->workload;
	pe_classes_init(&s->workload, 1, &s->classes);
	pe_check_memory(pe_dawa_memory(s->classes.cells) + (size_t) s->classes.cells * s->classes.cells * sizeof(double)
					+ (size_t) c->workload.queries * sizeof(double));
	if (pe_ordered_columns(s->workload, &s->classes, NULL, &s->ordered) != PE_STRATEGY_OK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the workload tells more classes of cells apart than method \"dawa\" serves")));
	counts.gram = pe_ordered_gram(s->workload, &s->classes, &s->ordered);
	if (pe_plan_of_counts(&c->pure_ask, &counts, &s->plan) != PE_PLAN_MADE)
		elog(ERROR, "method dawa has no plan");
	s->counts = pe_alloc(s->ordered.columns, sizeof(int64_t));
	s->released = pe_alloc(s->ordered.columns, sizeof(int64_t));
	s->error = pe_alloc(s->classes.cells, sizeof(double));
	s->answer = pe_alloc(c->workload.queries, sizeof(double));
	pe_strategy_columns(&s->ordered, s->workload, NULL, column_of_cell);
	for (int32 cell = 0; cell < cells; cell++)
		if (column_of_cell[cell] >= 0)
			s->counts[column_of_cell[cell]] += c->example[cell];
}

/* The example is public: a draw that is cancelled reveals nothing. */
static void
hold_nothing(void)
{
}

/* One release, and the sum of all queries' squared errors; a class that no query asks for has none. */
static double
simulate(simulation *s)
{
	double		sum = 0;

	pe_plan_measure(s->plan, s->counts, NULL, s->released, hold_nothing);
	for (int32 class = 0; class < s->classes.cells; class++)
	{
		int32		column = s->ordered.column_of[class];

		if (column >= 0)
			s->error[class] = ldexp((double) s->released[column], -PE_ESTIMATE_BITS) - (double) s->counts[column];
	}
	pe_workload_apply(s->workload, &s->classes, s->error, s->answer);
	for (int32 q = 0; q < s->workload->queries; q++)
		sum += s->answer[q] * s->answer[q];
	return sum;
}

static void
simulate_dawa(const comparison *c, found *row)
{
	simulation	s;
	TimestampTz start = GetCurrentTimestamp();
	double		sum = 0;

	begin_simulation(c, &s);
	pe_progress_begin();
	for (int i = 0; i < SIMULATED; i++)
	{
		sum += simulate(&s);
		pe_progress("simulating method dawa", i + 1, SIMULATED, 0);
	}
	row->rmse = sqrt(sum / SIMULATED / c->workload.queries);
	row->milliseconds = (GetCurrentTimestamp() - start) / 1000.0 / SIMULATED;
}

static void
compare_dawa(comparison *c, found *row)
{
	row->rmse = row->objective = row->milliseconds = NAN;
	if (c->example != NULL)
		simulate_dawa(c, row);
	else
		ereport(NOTICE,
				(errmsg("the error of method \"dawa\" depends on the data"),
				 errhint("Give the counts of a public example, one for each cell: example => '{...}'.")));
}

/* ------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------
 */

static void
refuse_cost(int least)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the cost asked for is out of range"),
			 errdetail("A charge is a whole number of 1e-9 of rho, or of a pure epsilon, at least %d.", least)));
}

/* What dp.histogram would charge for (epsilon, delta), or for a pure epsilon. */
static void
read_cost(FunctionCallInfo fcinfo, comparison *c)
{
	double		epsilon = pe_float_argument(fcinfo, ARG_EPSILON, "epsilon");
	double		delta = pe_optional_float(fcinfo, ARG_DELTA, "delta");

	pe_check_epsilon(epsilon);
	c->norm = isnan(delta) ? PE_L1 : PE_L2;
	c->pure_nano = pe_nano_rho_down(epsilon);
	c->pure_ask = (pe_plan_ask) {.accounting = PE_PURE, .epsilon = epsilon, .rho = NAN, .max_stderr = NAN};
	c->ask = c->pure_ask;
	if (c->norm == PE_L2)
	{
		pe_check_delta(delta);
		c->ask.accounting = PE_GDP;
		c->ask.delta = delta;
	}
	if ((c->norm == PE_L2 ? pe_nano_rho_of_epsilon(PE_GDP, epsilon, delta) : c->pure_nano) <= 0)
		refuse_cost(1);
}

/* The counts of an example: as many as there are cells, none below 0. */
static void
read_example(FunctionCallInfo fcinfo, comparison *c)
{
	int32		cells = pe_shape_cells(&c->workload.shape);
	ArrayType  *array;
	const int64 *count;
	int64		sum = 0;

	if (PG_ARGISNULL(ARG_EXAMPLE))
		return;
	array = PG_GETARG_ARRAYTYPE_P(ARG_EXAMPLE);
	if (array_contains_nulls(array))
		pe_refuse_null("a count of the example");
	if (cells > PE_MAX_CELLS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("an example is for at most %d cells", PE_MAX_CELLS)));
	if (ARR_NDIM(array) != 1 || ARR_DIMS(array)[0] != cells)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the example must have a count for each of the workload's %d cells", cells)));
	count = (const int64 *) ARR_DATA_PTR(array);
	for (int32 cell = 0; cell < cells; cell++)
		if (count[cell] < 0 || count[cell] > LARGEST_SUM - sum)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the example's counts must not be negative, nor too large together")));
		else
			sum += count[cell];
	c->example = count;
}

/*
 * dawa is for a single ordered attribute, and always has a pure epsilon: that
 * promises more than the others.
 */
static void
check_method(const comparison *c, pe_method method)
{
	if (method != PE_METHOD_DAWA)
		pe_check_method(method, c->norm);
	else if (!pe_shape_is_ordered(&c->workload.shape))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"dawa\" is for a single ordered attribute"),
				 errhint("Leave it out of methods.")));
	else if (c->pure_nano < PE_DAWA_LEAST_NANO)
		refuse_cost(PE_DAWA_LEAST_NANO);
}

/* Unless somebody names them: all that serve the norm, and dawa where there is an example for it. */
static bool
is_listed(const comparison *c, pe_method method)
{
	if (method != PE_METHOD_DAWA)
		return pe_method_serves(method, c->norm);
	return pe_shape_is_ordered(&c->workload.shape) && c->pure_nano >= PE_DAWA_LEAST_NANO &&
		(c->norm == PE_L1 || c->example != NULL);
}

static void
list_methods(comparison *c)
{
	c->row = palloc0(PE_METHODS * sizeof(found));
	for (int i = 0; i < PE_METHODS; i++)
		if (is_listed(c, (pe_method) i))
			c->row[c->methods++].method = (pe_method) i;
}

static void
read_methods(FunctionCallInfo fcinfo, comparison *c)
{
	Datum	   *elements;
	bool	   *nulls;

	if (PG_ARGISNULL(ARG_METHODS))
	{
		list_methods(c);
		return;
	}
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(ARG_METHODS), TEXTOID, -1,
					  false, TYPALIGN_INT, &elements, &nulls, &c->methods);
	c->row = palloc0((c->methods + 1) * sizeof(found));
	for (int i = 0; i < c->methods; i++)
	{
		if (nulls[i])
			pe_refuse_null("a method");
		c->row[i].method = pe_method_of_text(TextDatumGetCString(elements[i]));
		check_method(c, c->row[i].method);
	}
}

/* ------------------------------------------------------------------
 * The function
 * ------------------------------------------------------------------
 */

static void
set_number(double number, Datum *value, bool *null)
{
	*null = isnan(number);
	*value = Float8GetDatum(number);
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const comparison *c = argument;
	const found *f = &c->row[row];

	values[0] = CStringGetTextDatum(pe_method_name(f->method));
	set_number(f->rmse, &values[1], &nulls[1]);
	set_number(c->bound > 0 ? sqrt(f->objective / c->bound) : NAN, &values[2], &nulls[2]);
	set_number(f->milliseconds, &values[3], &nulls[3]);
}

/* Each method in memory that is gone before the next. */
static void
compare(comparison *c, found *row)
{
	MemoryContext own = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon comparison", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(own);

	(row->method == PE_METHOD_DAWA ? compare_dawa : compute) (c, row);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(own);
}

Datum
pe_sql_compare(PG_FUNCTION_ARGS)
{
	comparison	c = {.methods = 0};

	pe_parse_workload(pe_text_argument(fcinfo, ARG_WORKLOAD, "workload"), &c.workload);
	read_cost(fcinfo, &c);
	read_example(fcinfo, &c);
	read_methods(fcinfo, &c);
	for (int i = 0; i < c.methods; i++)
		compare(&c, &c.row[i]);
	pe_return_rows(fcinfo, c.methods, 4, make_row, &c);
	return (Datum) 0;
}

/*
 * optimize.c
 *	  Strategies for workloads that are given by sizes: no data, everybody may
 *	  ask.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "ask/answers.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "blocks/blocks.h"
#include "server/access.h"
#include "server/settings.h"
#include "door/obtain.h"

PG_FUNCTION_INFO_V1(pe_sql_optimize);
PG_FUNCTION_INFO_V1(pe_sql_strategy_matrix);
PG_FUNCTION_INFO_V1(pe_sql_workload_matrix);
PG_FUNCTION_INFO_V1(pe_sql_gram);

/* ------------------------------------------------------------------
 * dp.optimize
 * ------------------------------------------------------------------
 */

typedef struct optimization
{
	pe_workload workload;
	pe_kept_strategy kept;
} optimization;

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const optimization *o = argument;
	const pe_strategy *strategy = &o->kept.strategy;

	values[0] = Int64GetDatum(o->kept.id);
	nulls[0] = o->kept.id == 0; /* a standby keeps nothing */
	values[1] = CStringGetTextDatum(pe_method_name(o->kept.method));
	values[2] = pe_product_numeric(o->workload.shape.cells, o->workload.shape.attributes);
	values[3] = Int32GetDatum(strategy->rows);
	values[4] = Float8GetDatum(strategy->objective);
	values[5] = Float8GetDatum(strategy->lower_bound);
	values[6] = Float8GetDatum(pe_strategy_gap(strategy));
	nulls[5] = nulls[6] = strategy->lower_bound == 0;	/* more cells than can be optimised for */
	values[7] = Int32GetDatum(strategy->iterations);
	values[8] = Float8GetDatum(o->kept.milliseconds);
	values[9] = CStringGetTextDatum(pe_strategy_form(strategy));
}

/* Only the optimum is made for the largest variance, and for Gaussian noise. */
static void
check_key(const pe_strategy_key *key)
{
	if (key->method == PE_METHOD_DAWA)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"dawa\" has no strategy"),
				 errdetail("What it measures depends on the data."),
				 errhint("dp.compare(..., example => ...) shows how good it is on data like yours.")));
	pe_check_method(key->method, key->norm);
	if (key->objective == PE_MAX && (key->method != PE_METHOD_OPTIMAL || key->norm != PE_L2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("objective \"max\" is for method \"optimal\" and norm \"l2\" only"),
				 errhint("Use objective => 'sum', or leave method and norm out.")));
	if (!(key->gap >= 1e-9 && key->gap <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("gap must be a number from 1e-9 to 1")));
}

Datum
pe_sql_optimize(PG_FUNCTION_ARGS)
{
	static const char *const objectives[] = {[PE_SUM] = "sum", [PE_MAX] = "max"};
	static const char *const norms[] = {[PE_L2] = "l2", [PE_L1] = "l1"};
	static const char *const neighbours[] = {[PE_ADD_REMOVE] = "add_remove", [PE_SUBSTITUTE] = "substitute"};
	optimization o;
	pe_strategy_key key = {.workload = &o.workload, .bounded = true};

	pe_parse_workload(pe_text_argument(fcinfo, 0, "workload"), &o.workload);
	key.method = pe_method_argument(fcinfo, 1);
	key.gap = pe_float_argument(fcinfo, 2, "gap");
	key.objective = (pe_objective) pe_choice_argument(fcinfo, 3, "objective", objectives, lengthof(objectives));
	key.norm = (pe_norm) pe_choice_argument(fcinfo, 4, "norm", norms, lengthof(norms));
	key.neighbours = (pe_neighbours) pe_choice_argument(fcinfo, 5, "neighbours", neighbours, lengthof(neighbours));
	check_key(&key);
	pe_strategy_obtain(&key, key.gap, true, &o.kept);
	pe_return_rows(fcinfo, 1, 10, make_row, &o);
	return (Datum) 0;
}

/* ------------------------------------------------------------------
 * Matrices, for inspection
 * ------------------------------------------------------------------
 */

/* An empty matrix of so many rows and columns; *entry is where they go, by rows. */
static ArrayType *
new_matrix(int32 rows, int32 columns, double **entry)
{
	size_t		size = ARR_OVERHEAD_NONULLS(2) + (size_t) rows * columns * sizeof(double);
	ArrayType  *array;

	if (columns > PE_MAX_CELLS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a matrix with a column for each cell has more than %d columns", PE_MAX_CELLS)));
	if (!AllocSizeIsValid(size))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a matrix of %d rows and %d columns is too large for an array", rows, columns)));
	pe_check_memory(2 * size);
	array = palloc0(size);
	SET_VARSIZE(array, size);
	array->ndim = 2;
	array->elemtype = FLOAT8OID;
	ARR_DIMS(array)[0] = rows;
	ARR_DIMS(array)[1] = columns;
	ARR_LBOUND(array)[0] = ARR_LBOUND(array)[1] = 1;
	*entry = (double *) ARR_DATA_PTR(array);
	return array;
}

/* What others ask of their datasets is for the views to show, to whom it concerns. */
static void
load_strategy(int64 id, pe_kept_strategy *kept, pe_workload *workload)
{
	if (!pe_strategy_load(id, kept, workload))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("strategy " INT64_FORMAT " does not exist", id),
				 errhint("Strategies that no charge refers to make room for newer ones; dp.optimize makes it again.")));
	if (workload->shape.name[0] != NULL && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("strategy " INT64_FORMAT " was made for a question about a dataset", id),
				 errhint("dp.optimize makes the same for a workload that is given by sizes.")));
}

Datum
pe_sql_strategy_matrix(PG_FUNCTION_ARGS)
{
	pe_kept_strategy kept = {0};
	pe_workload workload = {0};
	const pe_strategy *strategy = &kept.strategy;
	int32	   *column_of_cell;
	double	   *by_column;
	double	   *entry;
	ArrayType  *matrix;
	int32		cells;

	PE_UNDONE();
	load_strategy(PG_GETARG_INT64(0), &kept, &workload);
	PE_END_UNDONE();
	if (strategy->blocks != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("strategy " INT64_FORMAT " is a list of %d blocks, not one matrix",
						PG_GETARG_INT64(0), strategy->blocks->blocks)));
	cells = pe_shape_cells(&workload.shape);
	matrix = new_matrix(strategy->rows, cells, &entry);
	by_column = pe_alloc((size_t) strategy->rows * strategy->columns, sizeof(double));
	column_of_cell = pe_alloc(cells, sizeof(int32));
	pe_strategy_matrix(strategy, by_column);
	pe_strategy_columns(strategy, &workload, NULL, column_of_cell);
	for (int32 i = 0; i < strategy->rows; i++)
		for (int32 cell = 0; cell < cells; cell++)
			if (column_of_cell[cell] >= 0)
				entry[(size_t) i * cells + cell] = by_column[(size_t) i * strategy->columns + column_of_cell[cell]];
	PG_RETURN_ARRAYTYPE_P(matrix);
}

/* Which class each cell of a workload's shape is in. */
static int32 *
class_of_cells(const pe_workload *workload, pe_classes *classes)
{
	int32		cells = pe_shape_cells(&workload->shape);
	int32	   *class_of = pe_alloc(cells, sizeof(int32));

	pe_classes_init(&workload, 1, classes);
	for (int32 cell = 0; cell < cells; cell++)
		class_of[cell] = pe_classes_of_cell(classes, &workload->shape, cell);
	return class_of;
}

Datum
pe_sql_workload_matrix(PG_FUNCTION_ARGS)
{
	pe_workload workload;
	pe_classes	classes;
	int32		factor_query[PE_MAX_ATTRIBUTES];
	int32	   *class_of;
	int32	   *row;
	int32		cells;
	double	   *entry;
	ArrayType  *matrix;

	pe_parse_workload(pe_text_argument(fcinfo, 0, "workload"), &workload);
	cells = pe_shape_cells(&workload.shape);
	matrix = new_matrix(workload.queries, cells, &entry);
	class_of = class_of_cells(&workload, &classes);
	row = pe_alloc(classes.cells, sizeof(int32));
	for (int32 t = 0; t < workload.terms; t++)
		for (int64 local = 0; local < workload.term[t].queries; local++)
		{
			int64		query = pe_term_query(&workload.term[t], local, factor_query);

			pe_poll();
			pe_term_row(&workload.term[t], &classes, factor_query, row);
			for (int32 cell = 0; cell < cells; cell++)
				entry[query * cells + cell] = row[class_of[cell]];
		}
	PG_RETURN_ARRAYTYPE_P(matrix);
}

Datum
pe_sql_gram(PG_FUNCTION_ARGS)
{
	pe_workload workload;
	pe_classes	classes;
	int32	   *class_of;
	int32		cells;
	double	   *over_classes;
	double	   *entry;
	ArrayType  *matrix;

	pe_parse_workload(pe_text_argument(fcinfo, 0, "workload"), &workload);
	cells = pe_shape_cells(&workload.shape);
	matrix = new_matrix(cells, cells, &entry);
	class_of = class_of_cells(&workload, &classes);
	over_classes = pe_alloc((size_t) classes.cells * classes.cells, sizeof(double));
	pe_workload_gram(&workload, &classes, true, over_classes);
	for (int32 i = 0; i < cells; i++)
		for (int32 j = 0; j < cells; j++)
			entry[(size_t) i * cells + j] = over_classes[(size_t) class_of[i] * classes.cells + class_of[j]];
	PG_RETURN_ARRAYTYPE_P(matrix);
}

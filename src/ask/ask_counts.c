/*
 * ask_counts.c
 *	  What counts are asked for.  See ask_counts.h.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "counts/dawa.h"
#include "ask/answers.h"
#include "server/arguments.h"
#include "ask/ask_counts.h"
#include "server/settings.h"
#include "server/shim.h"
#include "optimum/optimum.h"
#include "blocks/blocks.h"

/* ------------------------------------------------------------------
 * Method and workload
 * ------------------------------------------------------------------
 */

bool
pe_counts_nonnegative(const pe_aggregation *g)
{
	return pe_aggregation_is_counts(g) && g->asked.request->counts.nonnegative;
}

void
pe_counts_resolve_method(pe_aggregation *g)
{
	g->method = pe_method_of_text(g->asked.request->method);
	pe_check_method(g->method, g->asked.ask.accounting == PE_PURE ? PE_L1 : PE_L2);
	if (pe_counts_nonnegative(g) && g->method == PE_METHOD_DIRECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nonnegative does not go with method \"direct\""),
				 errdetail("It measures the queries alone, each by itself, and estimates no cells."),
				 errhint("Use another method, or leave nonnegative out.")));
}

/* A partition is of neighbouring cells. */
void
pe_counts_check_order(const pe_aggregation *g)
{
	if (g->method == PE_METHOD_DAWA && !pe_shape_is_ordered(&g->space[0].workload.shape))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("method \"dawa\" is for a single attribute whose cells all have an order"),
				 errdetail("It counts neighbouring cells together; cells for other values and for NULL have "
						   "no neighbours."),
				 errhint("Use another method.")));
}

/* Most rows that a function returns; what has more queries is measured, and asked for in parts. */
#define MOST_ROWS 10000000

void
pe_counts_check_rows(const pe_workload *workload)
{
	if (workload->queries > MOST_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the workload has %d queries, more than can be returned at once", workload->queries),
				 errdetail("At most %d can be.", MOST_ROWS),
				 errhint("dp.measure with the same arguments measures them; then dp.answer and dp.publish "
						 "give any part.")));
}

void
pe_counts_check_memory(const pe_aggregation *g)
{
	const pe_workload *workload = &g->space[0].workload;
	size_t		cells = g->space[0].domain->cells;
	pe_classes	classes;

	pe_columns_check_product(g->space[0].domain);
	pe_classes_init(&workload, 1, &classes);
	pe_check_memory(pe_reconstruction_memory(NULL, workload, &classes)
					+ cells * (sizeof(int64) + sizeof(int32)) + (size_t) classes.cells * sizeof(int64)
					+ (size_t) workload->queries * 4 * sizeof(double)); /* estimate, error, variance, label */
	pe_classes_free(&classes);
}

double *
pe_counts_variances(pe_aggregation *g)
{
	pe_space   *s = &g->space[0];

	if (s->variance == NULL)
		s->variance = pe_unit_variances(&s->measured, &s->workload);
	return s->variance;
}

/* Of blocks from their factors, without looking at every query. */
static void
summarise_variances(pe_aggregation *g)
{
	pe_space   *s = &g->space[0];
	double	   *variance;

	if (g->max_variance > 0)
		return;
	if (s->kept.strategy.blocks != NULL)
	{
		pe_blocks_errors errors;

		pe_blocks_error(s->kept.strategy.blocks, &s->workload, &errors);
		g->max_variance = errors.largest;
		g->mean_variance = errors.mean;
		return;
	}
	variance = pe_counts_variances(g);
	for (int32 q = 0; q < s->workload.queries; q++)
	{
		g->max_variance = Max(g->max_variance, variance[q]);
		g->mean_variance += variance[q];
	}
	g->mean_variance /= s->workload.queries;
}

double
pe_counts_max_variance(pe_aggregation *g)
{
	summarise_variances(g);
	return g->max_variance;
}

double
pe_counts_mean_variance(pe_aggregation *g)
{
	summarise_variances(g);
	return g->mean_variance;
}

/* ------------------------------------------------------------------
 * What is measured
 * ------------------------------------------------------------------
 */

void
pe_counts_refuse_tables(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the tables that the request needs have too many cells together"),
			 errdetail("At most " INT64_FORMAT " can be counted.", (int64) PE_MAX_TABLE_CELLS),
			 errhint("Ask for fewer attributes at a time.")));
}

void
pe_counts_check_tables(const pe_dataset *dataset, const pe_tables *tables, size_t more)
{
	if (dataset->unit != NULL && pe_tables_product(tables) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the attributes have too many cells together for a dataset with a unit"),
				 errdetail("The cut numbers the cells of a unit's rows, and at most 2^120 cells have numbers."),
				 errhint("Ask for fewer attributes at a time.")));
	pe_check_memory(pe_door_tables_memory(tables, -1) + more);
}

/* The tables that blocks are measured from. */
static void
find_tables(pe_aggregation *g)
{
	const pe_blocks *blocks = g->space[0].kept.strategy.blocks;
	pe_tables  *tables = palloc0(sizeof(*tables));

	if (!pe_blocks_tables(blocks, tables))
		pe_counts_refuse_tables();
	pe_counts_check_tables(g->asked.dataset, tables, pe_blocks_apply_memory(blocks));
	g->question.kind = PE_COUNT_TABLES;
	g->question.tables.strategy = &g->space[0].kept.strategy;
	g->question.tables.tables = tables;
}

void
pe_counts_check_nonnegative(const pe_aggregation *g)
{
	const pe_strategy *strategy = &g->space[0].kept.strategy;
	const pe_blocks *blocks = strategy->blocks;

	if (!pe_counts_nonnegative(g) || blocks == NULL)
		return;
	if (blocks->kind != PE_BLOCKS_MARGINALS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nonnegative does not go with a plan of kind \"%s\"", pe_strategy_form(strategy)),
				 errdetail("It is for tables of identity and total, and for at most %d classes of cells.",
						   PE_OPTIMUM_CELLS),
				 errhint("Leave nonnegative out.")));
	pe_check_memory(pe_blocks_nonnegative_memory(blocks));
}

void
pe_counts_ask(pe_aggregation *g)
{
	if (g->space[0].kept.strategy.blocks != NULL)
	{
		find_tables(g);
		return;
	}
	g->question.kind = PE_COUNT_CELLS;
	g->question.cells.strategy = &g->space[0].kept.strategy;
	g->question.cells.column_of = g->space[0].column_of;
}

bool
pe_strategy_of_charge(int64 id, const pe_workload *workload, const bool *possible, pe_kept_strategy *kept)
{
	pe_classes	classes;
	bool		there;

	if (id != 0)
		return pe_strategy_load_matrix(id, workload, kept);
	pe_classes_init(&workload, 1, &classes);
	there = pe_workload_counts_once(workload) &&
		pe_strategy_optimal(workload, &classes, possible, 1, &kept->strategy) == PE_STRATEGY_OK;
	return there;
}

void
pe_counts_measure(pe_aggregation *g)
{
	pe_space   *s = &g->space[0];

	if (g->stored)
		pe_aggregation_load(s, &g->strategies);
	else
	{
		pe_aggregation_obtain(g, s);
		pe_aggregation_check_measurements(s->kept.strategy.rows, s->kept.strategy.blocks != NULL);
		pe_counts_check_nonnegative(g);
	}
	pe_aggregation_settle_cells(s);
	g->part[0] = pe_plan_whole(&s->kept.strategy);
}

/* ------------------------------------------------------------------
 * The plan
 * ------------------------------------------------------------------
 */

/* What a private partition is computed from. */
static const double *
ordered_gram(pe_aggregation *g)
{
	const pe_workload *workload = &g->space[0].workload;
	const double *gram;
	pe_classes	classes;

	pe_classes_init(&workload, 1, &classes);
	pe_check_memory(pe_dawa_memory(classes.cells));
	gram = pe_ordered_gram(workload, &classes, &g->space[0].kept.strategy);
	pe_classes_free(&classes);
	/* of the search behind the door, where the caller's settings are not in force */
	pe_progress_begin();
	return gram;
}

/* What cannot be asked of a method whose errors depend on the data. */
static void
check_ask(const pe_aggregation *g)
{
	if (g->method == PE_METHOD_DAWA && !isnan(g->asked.ask.max_stderr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_stderr does not go with method \"dawa\""),
				 errdetail("The bias of its answers depends on the data and is unknown."),
				 errhint("Use epsilon.")));
}

/* With the errors of the queries: what could fail in it fails before the charge. */
void
pe_counts_price(pe_aggregation *g)
{
	pe_plan_counts counts = {.strategy = &g->space[0].kept.strategy, .rules = g->rules};
	bool		dawa = g->method == PE_METHOD_DAWA;

	check_ask(g);
	if (dawa)
		counts.gram = ordered_gram(g);
	else
	{
		pe_check_memory(pe_strategy_sensitivity_memory(counts.strategy, counts.rules.neighbours));
		counts.scale = sqrt(pe_counts_max_variance(g));
	}
	pe_asked_check_plan(&g->asked, pe_plan_of_counts(&g->asked.ask, &counts, &g->asked.plan),
						dawa ? pe_plan_least_dawa() : 1, g->asked.ask.accounting == PE_PURE ? PE_EPSILON_MAX : 9e9);
}

/* ------------------------------------------------------------------
 * What was measured
 * ------------------------------------------------------------------
 */

/* The noise and the lattices of the blocks: of the plan, or of what was measured then. */
static const pe_noise *
noise_of(const pe_aggregation *g, int64 release, bool measured_then, const int **lattice)
{
	int64		nano = pe_nano_left(pe_cost_amount(pe_plan_cost(g->asked.plan)), g->asked.ask.accounting);
	pe_noise   *noise;

	*lattice = pe_plan_lattices_of_part(&g->part[0], &g->rules, g->asked.ask.accounting, nano);
	if (!measured_then || g->method == PE_METHOD_DAWA)
		return pe_plan_noise(g->asked.plan);
	pe_check_memory(pe_strategy_sensitivity_memory(g->part[0].strategy, g->rules.neighbours));
	noise = pe_plan_noise_of_part(&g->part[0], &g->rules, g->asked.ask.accounting, nano);
	if (noise == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the strategy of release " INT64_FORMAT " is too large", release)));
	return noise;
}

const int64 *
pe_counts_take(pe_aggregation *g, const pe_charge_reply *reply, const pe_noise **noise)
{
	pe_space   *s = &g->space[0];
	bool		replayed = reply->outcome == PE_REPLAYED;
	int64		strategy_id = s->kept.id;
	pe_strategies strategies = pe_strategies_of(replayed ? reply->strategy_id : strategy_id, NULL, 0);
	const int64 *y = pe_aggregation_measured(g, reply->release_id, reply->value, reply->values, &strategies);

	*noise = noise_of(g, reply->release_id, s->kept.id != strategy_id, &s->measured.lattice);
	return y;
}

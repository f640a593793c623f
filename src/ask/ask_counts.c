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
#include "ask/ask_predicate.h"
#include "ask/ask_counts.h"
#include "ask/ask_sums.h"
#include "ask/ask_blocks.h"
#include "door/obtain.h"
#include "server/settings.h"
#include "server/shim.h"
#include "optimum/optimum.h"
#include "blocks/blocks.h"

/*
 * How near to the optimum a strategy is made for a histogram, and how near one must be that is there already.
 * Under substitution a smaller gap takes more time than it is worth.
 */
#define HISTOGRAM_GAP 1e-6
#define ACCEPTED_GAP 1e-3

/* ------------------------------------------------------------------
 * Attributes and workload
 * ------------------------------------------------------------------
 */

static pe_norm
norm_of(const pe_histogram *h)
{
	return h->asked.ask.accounting == PE_PURE ? PE_L1 : PE_L2;
}

/* The method; the accounting, which decides the noise, is known. */
static void
resolve_method(pe_histogram *h)
{
	h->method = pe_method_of_text(h->asked.request->method);
	pe_check_method(h->method, norm_of(h));
	if (h->asked.request->counts.nonnegative && h->method == PE_METHOD_DIRECT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nonnegative does not go with method \"direct\""),
				 errdetail("It measures the queries alone, each by itself, and estimates no cells."),
				 errhint("Use another method, or leave nonnegative out.")));
}

/* The predicate, and the columns that it alone names behind the others. */
static void
parse_predicate(pe_histogram *h)
{
	int			count = h->attributes;

	if (h->asked.request->predicate == NULL)
		return;
	h->columns = repalloc(h->columns, PE_MAX_ATTRIBUTES * sizeof(*h->columns));
	h->selection = pe_predicate_argument(h->asked.dataset, h->asked.request->predicate, h->columns, &count);
	pe_dataset_check_committed(h->asked.dataset);	/* for the columns that were loaded now */
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
				 errdetail("It counts neighbouring cells together; cells for other values and for NULL have "
						   "no neighbours."),
				 errhint("Use another method.")));
}

/* Most rows that a function returns; what has more queries is measured, and asked for in parts. */
#define MOST_ROWS 10000000

void
pe_histogram_check_rows(const pe_workload *workload)
{
	if (workload->queries > MOST_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the workload has %d queries, more than can be returned at once", workload->queries),
				 errdetail("At most %d can be.", MOST_ROWS),
				 errhint("dp.measure with the same arguments measures them; then dp.answer and dp.publish "
						 "give any part.")));
}

static bool
measures_whole(const pe_histogram *h)
{
	return h->asked.request->counts.nonnegative || h->asked.request->counts.whole;
}

/*
 * What the strategy is for: in one period of a series rows are added or
 * removed, and the factor of time has the rest (plan/plan_series.c).
 */
static pe_neighbours
neighbours_of(const pe_histogram *h)
{
	return h->asked.request->counts.whole ? PE_ADD_REMOVE : pe_dataset_neighbours(h->asked.dataset);
}

static pe_strategy_key
strategy_key(const pe_histogram *h)
{
	pe_norm		norm = norm_of(h);
	pe_neighbours neighbours = neighbours_of(h);

	return (pe_strategy_key) {
		.workload = &h->workload, .possible = h->possible, .possible_of = h->possible_of, .whole = measures_whole(h),
		.spare = h->spare,
		.method = h->method, .objective = PE_SUM, .norm = norm, .neighbours = neighbours,
		.gap = norm == PE_L2 && neighbours == PE_SUBSTITUTE ? ACCEPTED_GAP : HISTOGRAM_GAP,
		.bounded = h->bounded
	};
}

/* What the answer will take, besides the strategy. */
static void
check_memory(pe_histogram *h)
{
	pe_plan_rules rules = pe_door_rules(h->asked.dataset);
	pe_strategy_key key = strategy_key(h);
	pe_classes	classes;
	const pe_workload *workload = &h->workload;
	size_t		cells = h->domain->cells;

	if (pe_strategy_is_by_blocks(&key))
	{
		h->by_blocks = true;
		h->spare = pe_blocks_spare(rules.neighbours, rules.max_rows);
		return;					/* it is known once they are there */
	}
	pe_columns_check_product(h->domain);
	pe_classes_init(&workload, 1, &classes);
	pe_check_memory(pe_reconstruction_memory(NULL, &h->workload, &classes)
					+ cells * (sizeof(int64) + sizeof(int32)) + (size_t) classes.cells * sizeof(int64)
					+ (size_t) h->workload.queries * 4 * sizeof(double));	/* estimate, error, variance, label */
	pe_classes_free(&classes);
}

double *
pe_histogram_variances(pe_histogram *h)
{
	if (h->variance == NULL)
		h->variance = pe_unit_variances(&h->measured, &h->workload);
	return h->variance;
}

/* Of blocks from their factors, without looking at every query. */
static void
summarise_variances(pe_histogram *h)
{
	double	   *variance;

	if (h->max_variance > 0)
		return;
	if (h->kept.strategy.blocks != NULL)
	{
		pe_blocks_errors errors;

		pe_blocks_error(h->kept.strategy.blocks, &h->workload, &errors);
		h->max_variance = errors.largest;
		h->mean_variance = errors.mean;
		return;
	}
	variance = pe_histogram_variances(h);
	for (int32 q = 0; q < h->workload.queries; q++)
	{
		h->max_variance = Max(h->max_variance, variance[q]);
		h->mean_variance += variance[q];
	}
	h->mean_variance /= h->workload.queries;
}

double
pe_histogram_max_variance(pe_histogram *h)
{
	summarise_variances(h);
	return h->max_variance;
}

double
pe_histogram_mean_variance(pe_histogram *h)
{
	summarise_variances(h);
	return h->mean_variance;
}

/* ------------------------------------------------------------------
 * The request as the ledger knows it
 * ------------------------------------------------------------------
 */

static char *
canonical_text(const pe_histogram *h, char **names)
{
	char	   *count = "count(*)";
	StringInfoData text;

	pe_text_begin_measurement(&text, &h->asked, &count, 1, names, h->attributes,
							  pe_text_of_workload(&h->workload, h->columns, h->attributes), h->predicate);
	pe_complete_add(&text, &h->complete);
	pe_text_end(&text, &h->asked, pe_method_name(h->method));
	return text.data;
}

static char **
declared_names(const pe_histogram *h)
{
	char	  **names = palloc(Max(h->attributes, 1) * sizeof(char *));

	for (int i = 0; i < h->attributes; i++)
		names[i] = h->columns[i].name;
	return names;
}

/* The tables that blocks are measured from. */
static void
find_tables(pe_histogram *h)
{
	const pe_blocks *blocks = h->kept.strategy.blocks;
	pe_tables  *tables = palloc0(sizeof(*tables));

	if (!pe_blocks_tables(blocks, tables))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the tables that the request needs have too many cells together"),
				 errdetail("At most " INT64_FORMAT " can be counted.", (int64) PE_MAX_TABLE_CELLS),
				 errhint("Ask for fewer attributes at a time.")));
	if (h->asked.dataset->unit != NULL && pe_tables_product(tables) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the attributes have too many cells together for a dataset with a unit"),
				 errdetail("The rows of a unit are told apart by their cells, of which at most 2^120 have numbers."),
				 errhint("Ask for fewer attributes at a time.")));
	pe_check_memory(pe_door_tables_memory(tables, -1) + pe_blocks_apply_memory(blocks));
	h->question.kind = PE_COUNT_TABLES;
	h->question.tables.strategy = &h->kept.strategy;
	h->question.tables.tables = tables;
}

void
pe_histogram_check_nonnegative(const pe_histogram *h)
{
	const pe_blocks *blocks = h->kept.strategy.blocks;

	if (!h->asked.request->counts.nonnegative || blocks == NULL)
		return;
	if (blocks->kind != PE_BLOCKS_MARGINALS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nonnegative does not go with a plan of kind \"%s\"", pe_strategy_form(&h->kept.strategy)),
				 errdetail("It is for tables of identity and total, and for at most %d classes of cells.",
						   PE_OPTIMUM_CELLS),
				 errhint("Leave nonnegative out.")));
	pe_check_memory(pe_blocks_nonnegative_memory(blocks));
}

static void
fill_question(pe_histogram *h)
{
	pe_charge_request *charge = &h->asked.charge;
	char	  **names = declared_names(h);

	h->question.dataset = h->asked.dataset;
	h->question.columns = h->columns;
	h->question.domain = h->domain;
	h->question.predicate = h->selection;
	if (h->kept.strategy.blocks != NULL)
		find_tables(h);
	else
	{
		h->question.kind = PE_COUNT_CELLS;
		h->question.cells.strategy = &h->kept.strategy;
		h->question.cells.column_of = pe_alloc(h->domain->cells, sizeof(int32_t));
		pe_strategy_columns(&h->kept.strategy, &h->workload, h->possible, h->question.cells.column_of);
	}
	h->question.plan = h->asked.plan;
	h->question.charge = charge;
	pe_asked_fill_charge(&h->asked, canonical_text(h, names), pe_method_name(h->method), h->workload.queries);
	pe_asked_choose_blocks(&h->asked, h->columns, h->domain, h->selection, PG_UINT32_MAX);
	charge->attribute = names;
	charge->workload = h->workload.canonical;
	charge->predicate = h->predicate;
	charge->strategy_id = h->kept.id;
}

/* The cells that the predicate leaves: of the product, if it is not too large, and of each attribute. */
static void
find_possible(pe_histogram *h)
{
	bool	   *of[PE_MAX_ATTRIBUTES] = {NULL};

	if (pe_domain_has_numbers(h->domain))
	{
		pe_check_memory(pe_predicate_memory(h->selection, h->domain));
		h->possible = pe_predicate_cells(h->selection, h->domain);
	}
	pe_predicate_attributes(h->selection, h->domain, of);
	memcpy(h->possible_of, of, sizeof(of));
}

pe_histogram *
pe_histogram_validate(const pe_request *request, bool needs_budget)
{
	pe_histogram *h = palloc0(sizeof(*h));

	pe_asked_open(&h->asked, request);
	pe_dataset_check_rows(h->asked.dataset);
	pe_asked_cut(&h->asked);
	h->attributes = request->attributes;
	h->columns = pe_columns_load(h->asked.dataset, request->attribute, &h->attributes);
	pe_dataset_check_committed(h->asked.dataset);
	pe_asked_choose_budget(&h->asked, needs_budget);
	resolve_method(h);

	parse_predicate(h);
	h->complete = pe_complete_now(h->asked.dataset, h->columns, h->attributes + h->watched);
	h->domain = pe_columns_domain(h->columns, h->attributes + h->watched, h->watched);
	pe_parse_columns_workload(h->asked.dataset, h->columns, h->domain, request->workload, &h->workload);
	check_ordered(h);
	if (h->selection != NULL)
		find_possible(h);
	check_memory(h);
	return h;
}

/* What a private partition is computed from. */
static const double *
ordered_gram(pe_histogram *h)
{
	const pe_workload *workload = &h->workload;
	const double *gram;
	pe_classes	classes;

	pe_classes_init(&workload, 1, &classes);
	pe_check_memory(pe_dawa_memory(classes.cells));
	gram = pe_ordered_gram(workload, &classes, &h->kept.strategy);
	pe_classes_free(&classes);
	/* of the search behind the door, where the caller's settings are not in force */
	pe_progress_begin();
	return gram;
}

/* What cannot be asked of a method whose errors depend on the data. */
static void
check_ask(const pe_histogram *h)
{
	if (h->method == PE_METHOD_DAWA && !isnan(h->asked.ask.max_stderr))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_stderr does not go with method \"dawa\""),
				 errdetail("The bias of its answers depends on the data and is unknown."),
				 errhint("Use epsilon.")));
}

/*
 * The plan, and the errors of the queries: what could fail in it fails before
 * the charge.
 */
static void
make_plan(pe_histogram *h)
{
	pe_plan_counts counts = {.strategy = &h->kept.strategy, .rules = pe_door_rules(h->asked.dataset)};
	bool		dawa = h->method == PE_METHOD_DAWA;

	pe_asked_resolve_cost(&h->asked, true, false);
	check_ask(h);
	if (dawa)
		counts.gram = ordered_gram(h);
	else
	{
		pe_check_memory(pe_strategy_sensitivity_memory(counts.strategy, counts.rules.neighbours));
		counts.scale = sqrt(pe_histogram_max_variance(h));
	}
	pe_asked_check_plan(&h->asked, pe_plan_of_counts(&h->asked.ask, &counts, &h->asked.plan),
						dawa ? pe_plan_least_dawa() : 1, norm_of(h) == PE_L1 ? PE_EPSILON_MAX : 9e9);
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
pe_histogram_find_strategy(pe_histogram *h)
{
	pe_strategy_key key = strategy_key(h);

	pe_strategy_obtain(&key, ACCEPTED_GAP, false, &h->kept);
	pe_aggregation_check_measurements(h->kept.strategy.rows, h->kept.strategy.blocks != NULL);
	pe_histogram_check_nonnegative(h);
	h->measured = (pe_measured) {&h->workload, &h->kept.strategy, h->possible, NULL};
}

void
pe_histogram_resolve(pe_histogram *h)
{
	pe_histogram_find_strategy(h);
	make_plan(h);
	fill_question(h);
}

/*
 * series_counts.c
 *	  A series of counts: each period's cells are measured with one strategy.  See ask_series.h.
 */
#include "postgres.h"

#include <math.h>

#include "ask/ask_predicate.h"
#include "ask/ask_series.h"
#include "ask/comparisons.h"
#include "blocks/blocks.h"
#include "server/settings.h"

static void
validate_counts(pe_serial *s, bool needs_budget)
{
	pe_aggregation *g = s->counts = pe_aggregation_validate(&s->request, needs_budget);

	s->asked = &g->asked;
	pe_refuse_compared(g->columns, g->groups + g->quantiles + g->watched, "a series of reports");
	g->rules.neighbours = PE_ADD_REMOVE;	/* of one period: substitute is in the factor of time */
	g->of_series = 1;
}

static void
load_counts(pe_serial *s)
{
	pe_aggregation *g;
	pe_space   *space;

	validate_counts(s, false);
	g = s->counts;
	space = &g->space[0];
	pe_serial_check_declared(s);
	g->asked.ask.accounting = s->series->accounting;
	if (!pe_strategy_of_charge(s->series->strategy_id, &space->workload, space->possible, &space->kept))
		pe_serial_refuse_damaged(s);
	space->kept.id = s->series->strategy_id;
	pe_aggregation_settle_cells(space);
}

static pe_serial_told
counts_told(const pe_serial *s)
{
	const pe_aggregation *g = s->counts;
	const pe_space *space = &g->space[0];

	return (pe_serial_told) {
		.workload = &space->workload, .columns = g->columns, .aggregates = 1, .attributes = g->groups + g->watched,
		.predicate = g->predicate, .strategy_id = space->kept.id
	};
}

static const char *
aggregate(const pe_serial *s, int number)
{
	return NULL;
}

static bool
depends_on_rows(const pe_serial *s, int number)
{
	return false;
}

/* The tables that are counted of a period: of blocks, or one of all attributes. */
static void
find_tables(const pe_aggregation *g, pe_tables *tables)
{
	const pe_space *space = &g->space[0];

	if (space->kept.strategy.blocks != NULL)
	{
		if (!pe_blocks_tables(space->kept.strategy.blocks, tables))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the tables that the series needs have too many cells together"),
					 errdetail("At most " INT64_FORMAT " can be counted.", PE_MAX_TABLE_CELLS),
					 errhint("Ask for fewer attributes at a time.")));
		return;
	}
	*tables = (pe_tables) {.tables = 1, .set = pe_alloc(1, sizeof(*tables->set))};
	tables->set[0] = space->set;
	if (!pe_tables_span(tables, g->domain))
		elog(ERROR, "the cells of a series are too many");
}

/* Rows of a unit are distinguished by their cells of all periods (units.h). */
static void
check_unit_cells(const pe_serial *s, const pe_tables *tables, int periods)
{
	pe_u128		cells = pe_tables_product(tables);

	if (s->asked->dataset->unit != NULL && (cells == 0 || cells > PE_WIDE_CELLS / (pe_u128) periods))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the attributes have too many cells together for a series on a dataset with a unit"),
				 errhint("Ask for fewer attributes at a time.")));
}

/* Exact counts, those of the strategy's columns, and the state of each process; blocks, one table at a time. */
static void
check_reading(const pe_serial *s, const pe_tables *tables, int periods)
{
	const pe_blocks *blocks = s->counts->space[0].kept.strategy.blocks;
	int64		most = blocks != NULL ? PE_MAX_TABLE_CELLS : PE_MAX_CELLS;
	int64		cells = tables->first[tables->tables];

	if (cells > most / periods)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the periods of the series have too many cells together"),
				 errdetail("A report reads %d periods of " INT64_FORMAT " cells, and may read " INT64_FORMAT " cells.",
						   periods, cells, most),
				 errhint("Use fewer cells, fewer periods, or history.")));
	check_unit_cells(s, tables, periods);
	pe_check_memory((size_t) cells * periods * 5 * sizeof(int64) +
					(blocks != NULL ? pe_blocks_apply_memory(blocks) : 0));
}

/* One scan counts all periods. */
static void
check_size(const pe_serial *s)
{
	pe_tables	tables;

	find_tables(s->counts, &tables);
	check_reading(s, &tables, pe_serial_periods_read(s));
	pe_tables_free(&tables);
}

/* Whether its sensitivities, times the factor of time, are served. */
static bool
strategy_is_served(const pe_serial *s)
{
	const pe_plan_series parts = {
		.cells = &s->counts->space[0].kept.strategy, .rules = pe_door_rules(s->asked->dataset), .time = &s->time,
		.presence = s->presence
	};

	return pe_plan_noise_of_series(&parts, s->asked->ask.accounting, 1, NULL) != NULL;
}

/*
 * Columns of blocks are shorter by as much as the factor of time is, and by
 * more where that is not enough: not every kind keeps to it to the bit.
 */
static void
find_blocks(pe_serial *s)
{
	pe_aggregation *g = s->counts;
	double		rows = s->asked->dataset->max_rows;
	pe_u128		factor = 1;
	int			least;

	(void) pe_continual_factor(&s->time, &s->presence, &factor);
	least = pe_blocks_spare_for((double) factor * rows * rows);
	for (g->spare = least; g->spare <= least + 12; g->spare += 4)
	{
		pe_counts_measure(g);
		if (strategy_is_served(s))
			return;
	}
}

static void
find_strategy(pe_serial *s)
{
	pe_aggregation *g = s->counts;

	if (pe_aggregation_is_by_blocks(g, &g->space[0]))
	{
		pe_counts_check_rows(&g->space[0].workload);
		find_blocks(s);
	}
	else
		pe_counts_measure(g);
	check_size(s);
}

static void
fill_parts(pe_serial *s)
{
	s->parts.cells = &s->counts->space[0].kept.strategy;
}

static int64
values(const pe_serial *s)
{
	return s->counts->space[0].kept.strategy.rows;
}

static double
scale(pe_serial *s)
{
	return sqrt(pe_counts_max_variance(s->counts));
}

const pe_noise *
pe_serial_noise(const pe_serial *s)
{
	pe_noise  **noise = pe_plan_noise_of_series(&s->parts, s->series->accounting, s->series->nano, NULL);

	if (noise == NULL)
		pe_serial_refuse_damaged(s);
	return noise[0];
}

static void
errors(pe_serial *s, double rows, double variance, double *stderr_)
{
	*stderr_ = pe_noise_stderr(pe_serial_noise(s)) * sqrt(variance * pe_counts_max_variance(s->counts));
}

static char **
names(const pe_serial *s, int *count)
{
	*count = s->request.attributes;
	return s->request.attribute;
}

/* Attributes, workload and predicate say all. */
static void
add_text(StringInfo text, const pe_serial *s)
{
}

static void
keep_counts(pe_serial *s)
{
}

static const pe_period_table *
columns_of_cells(const pe_space *space, int32_t tables)
{
	pe_period_table *table = palloc0(tables * sizeof(*table));

	if (space->kept.strategy.blocks == NULL)
		*table = (pe_period_table) {space->column_of, space->kept.strategy.columns};
	return table;
}

/* With the time in front. */
static const pe_tables *
tables_of_periods(const pe_aggregation *g, const pe_domain *domain)
{
	pe_tables  *tables = palloc0(sizeof(*tables));

	find_tables(g, tables);
	for (int32_t t = 0; t < tables->tables; t++)
		tables->set[t] = tables->set[t] << 1 | 1;
	if (!pe_tables_span(tables, domain))
		elog(ERROR, "the tables of a series are too large");
	return tables;
}

/* The predicate is over the time and all others. */
static void
ask_counts(const pe_serial *s, pe_period_question *question, pe_column *columns)
{
	const pe_aggregation *g = s->counts;
	int			count = g->groups + 1;

	memcpy(columns + 1, g->columns, g->groups * sizeof(*columns));
	if (s->request.predicate != NULL)
		question->predicate = pe_predicate_argument(g->asked.dataset, s->request.predicate, columns, &count);
	question->domain = pe_columns_domain(columns, count, count - g->groups - 1);
	question->tables = tables_of_periods(g, question->domain);
	question->strategy = &g->space[0].kept.strategy;
	question->table = columns_of_cells(&g->space[0], question->tables->tables);
}

const pe_serial_kind pe_serial_counts = {
	.validate = validate_counts, .load = load_counts, .told = counts_told, .aggregate = aggregate,
	.depends_on_rows = depends_on_rows,
	.find_strategy = find_strategy,
	.check_size = check_size, .fill_parts = fill_parts, .values = values, .scale = scale, .errors = errors,
	.names = names, .add_text = add_text, .keep = keep_counts, .ask = ask_counts
};

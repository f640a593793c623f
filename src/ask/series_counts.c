/*
 * series_counts.c
 *	  A series of counts: each period's cells are measured with one strategy.  See ask_series.h.
 */
#include "postgres.h"

#include <math.h>

#include "ask/ask_predicate.h"
#include "ask/ask_series.h"
#include "blocks/blocks.h"
#include "server/settings.h"

static void
validate_counts(pe_serial *s, bool needs_budget)
{
	s->histogram = pe_histogram_validate(&s->request, needs_budget);
	s->asked = &s->histogram->asked;
}

static void
load_counts(pe_serial *s)
{
	pe_histogram *h;

	validate_counts(s, false);
	h = s->histogram;
	pe_serial_check_declared(s);
	h->asked.ask.accounting = s->series->accounting;
	if (!pe_strategy_of_charge(s->series->strategy_id, &h->workload, h->possible, &h->kept))
		pe_serial_refuse_damaged(s);
	h->kept.id = s->series->strategy_id;
	h->measured = (pe_measured) {&h->workload, &h->kept.strategy, h->possible, NULL};
}

static pe_serial_told
counts_told(const pe_serial *s)
{
	const pe_histogram *h = s->histogram;

	return (pe_serial_told) {
		.workload = &h->workload, .columns = h->columns, .aggregates = 1, .attributes = h->attributes + h->watched,
		.predicate = h->predicate, .strategy_id = h->kept.id
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
find_tables(const pe_histogram *h, pe_tables *tables)
{
	if (h->kept.strategy.blocks != NULL)
	{
		if (!pe_blocks_tables(h->kept.strategy.blocks, tables))
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the tables that the series needs have too many cells together"),
					 errdetail("At most " INT64_FORMAT " can be counted.", PE_MAX_TABLE_CELLS),
					 errhint("Ask for fewer attributes at a time.")));
		return;
	}
	pe_columns_check_product(h->domain);
	*tables = (pe_tables) {.tables = 1, .set = pe_alloc(1, sizeof(*tables->set))};
	tables->set[0] = (uint32) ((UINT64_C(1) << h->attributes) - 1);
	if (!pe_tables_span(tables, h->domain))
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
	const pe_blocks *blocks = s->histogram->kept.strategy.blocks;
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

	find_tables(s->histogram, &tables);
	check_reading(s, &tables, pe_serial_periods_read(s));
	pe_tables_free(&tables);
}

/* Whether its sensitivities, times the factor of time, are served. */
static bool
strategy_is_served(const pe_serial *s)
{
	const pe_plan_series parts = {
		.cells = &s->histogram->kept.strategy, .rules = pe_door_rules(s->asked->dataset), .time = &s->time,
		.presence = s->presence
	};

	return pe_plan_noise_of_series(&parts, s->asked->ask.accounting, 1) != NULL;
}

/*
 * Columns of blocks are shorter by as much as the factor of time is, and by
 * more where that is not enough: not every kind keeps to it to the bit.
 */
static void
find_blocks(pe_serial *s)
{
	pe_histogram *h = s->histogram;
	double		rows = s->asked->dataset->max_rows;
	pe_u128		factor = 1;
	int			least;

	(void) pe_continual_factor(&s->time, &s->presence, &factor);
	least = pe_blocks_spare_for((double) factor * rows * rows);
	for (h->spare = least; h->spare <= least + 12; h->spare += 4)
	{
		pe_histogram_find_strategy(h);
		if (strategy_is_served(s))
			return;
	}
}

static void
find_strategy(pe_serial *s)
{
	if (s->histogram->by_blocks)
	{
		pe_histogram_check_rows(&s->histogram->workload);
		find_blocks(s);
	}
	else
		pe_histogram_find_strategy(s->histogram);
	check_size(s);
}

static void
fill_parts(pe_serial *s)
{
	s->parts.cells = &s->histogram->kept.strategy;
}

static int64
values(const pe_serial *s)
{
	return s->histogram->kept.strategy.rows;
}

static double
scale(pe_serial *s)
{
	return sqrt(pe_histogram_max_variance(s->histogram));
}

const pe_noise *
pe_serial_noise(const pe_serial *s)
{
	pe_noise  **noise = pe_plan_noise_of_series(&s->parts, s->series->accounting, s->series->nano);

	if (noise == NULL)
		pe_serial_refuse_damaged(s);
	return noise[0];
}

static void
errors(pe_serial *s, double rows, double variance, double *stderr_)
{
	*stderr_ = pe_noise_stderr(pe_serial_noise(s)) * sqrt(variance * pe_histogram_max_variance(s->histogram));
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

/* NULL: blocks measure the cells of their tables. */
static const int32_t **
columns_of_cells(const pe_histogram *h)
{
	const int32_t **column_of = palloc(sizeof(*column_of));
	int32	   *columns;

	if (h->kept.strategy.blocks != NULL)
		return NULL;
	columns = pe_alloc(h->domain->cells, sizeof(*columns));
	pe_strategy_columns(&h->kept.strategy, &h->workload, h->possible, columns);
	*column_of = columns;
	return column_of;
}

/* With the time in front. */
static const pe_tables *
tables_of_periods(const pe_histogram *h, const pe_domain *domain)
{
	pe_tables  *tables = palloc0(sizeof(*tables));

	find_tables(h, tables);
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
	const pe_histogram *h = s->histogram;
	int			count = h->attributes + 1;

	memcpy(columns + 1, h->columns, h->attributes * sizeof(*columns));
	if (s->request.predicate != NULL)
		question->predicate = pe_predicate_argument(h->asked.dataset, s->request.predicate, columns, &count);
	question->domain = pe_columns_domain(columns, count, count - h->attributes - 1);
	question->tables = tables_of_periods(h, question->domain);
	question->strategy = &h->kept.strategy;
	question->column_of = columns_of_cells(h);
}

const pe_serial_kind pe_serial_counts = {
	.validate = validate_counts, .load = load_counts, .told = counts_told, .aggregate = aggregate,
	.depends_on_rows = depends_on_rows,
	.find_strategy = find_strategy,
	.check_size = check_size, .fill_parts = fill_parts, .values = values, .scale = scale, .errors = errors,
	.names = names, .add_text = add_text, .keep = keep_counts, .ask = ask_counts
};

/*
 * series_sums.c
 *	  A series of sums: aggregates over time.  See ask_series.h.
 *
 * Each period's sums are measured like those of a release, under the plan of
 * the whole series (plan/plan_series.c).  What a report says follows from sums
 * over time of these measurements, which are linear: averages of all rows up to
 * a period, and not averages of averages.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "server/arguments.h"
#include "ask/formulas.h"
#include "ask/ask_series.h"
#include "ask/comparisons.h"
#include "blocks/blocks.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/settings.h"

/* ------------------------------------------------------------------
 * What may be asked
 * ------------------------------------------------------------------
 */

/* A unit is in one period alone, the same at every reading, or periods are not added up. */
static bool
tells_units(const pe_serial *s)
{
	bool		in_one = s->series->max_periods == 1 && s->series->history == 0 && s->asked->dataset->append_only;

	for (int t = 0; t < s->over.terms; t++)
		if (s->over.term[t].width != 1 && !in_one)
			return false;
	return true;
}

static void
check_aggregates(const pe_serial *s)
{
	const pe_aggregation *g = s->aggregation;

	if (pe_aggregation_counts_lost(g))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dropped does not go with a series"),
				 errdetail("It counts what one cut of the rows of units leaves out."),
				 errhint("Ask for it by dp.aggregate, for the rows of one period.")));
	if (pe_aggregation_counts_values(g))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("count(distinct) of a column does not go with a series"),
				 errdetail("How many values occur in several periods does not follow from those of each."),
				 errhint("Ask for it by dp.aggregate, for the rows of one period.")));
	if (g->on_grid)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("quantiles of an attribute with a single bin do not go with a series"),
				 errdetail("They are chosen on a grid, and what is chosen of periods does not add up."),
				 errhint("Quantiles of an attribute with bins do.")));
	if (pe_aggregation_counts_units(g) && !tells_units(s))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("count(distinct unit) does not go with totals and windows"),
				 errdetail("A unit of several periods would be counted in each of them."),
				 errhint("Use over => 'periods'; or, if the time is declared append_only, max_periods => 1 "
						 "without history: then a unit counts in its first period alone.")));
}

static int
attributes_of(const pe_aggregation *g)
{
	return g->groups + g->quantiles + g->watched;
}

static void
validate_sums(pe_serial *s, bool needs_budget)
{
	s->aggregation = pe_aggregation_validate(&s->request, needs_budget);
	s->aggregation->of_series = 1;
	s->asked = &s->aggregation->asked;
	pe_refuse_compared(s->aggregation->columns, attributes_of(s->aggregation), "a series of reports");
	if (pe_has_formulas(s->aggregation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a series does not add up formulas of columns"),
				 errhint("Ask for sums of single columns, or declare a generated column.")));
	check_aggregates(s);
}

/* A series can be read with one kept strategy. */
static int64
only_strategy(const pe_aggregation *g)
{
	pe_strategies all = pe_aggregation_strategies(g);

	if (all.count > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the aggregates of a series need more than one strategy that is kept"),
				 errdetail("Quantiles of each column have one, and so do groups that overlap."),
				 errhint("Ask for quantiles of one column at a time.")));
	return all.count > 0 ? all.id[0] : 0;
}

static pe_serial_told
sums_told(const pe_serial *s)
{
	const pe_aggregation *g = s->aggregation;

	return (pe_serial_told) {
		.workload = &g->space[0].workload, .columns = g->space[0].columns, .aggregates = g->aggregates,
		.attributes = attributes_of(g),
		.predicate = g->predicate, .strategy_id = only_strategy(g)
	};
}

static const char *
aggregate(const pe_serial *s, int number)
{
	const pe_aggregation *g = s->aggregation;

	return g->aggregate[number].name != NULL ? g->aggregate[number].name : g->text[number];
}

static bool
depends_on_rows(const pe_serial *s, int number)
{
	return !pe_aggregate_is_linear(&s->aggregation->aggregate[number]);
}

/* ------------------------------------------------------------------
 * What is measured
 * ------------------------------------------------------------------
 */

/* One scan counts the tables of all periods; exact sums, those of the columns, and the state of each process. */
static void
check_size(const pe_serial *s)
{
	int			periods = pe_serial_periods_read(s);
	const pe_aggregation *g = s->aggregation;
	const pe_tables *tables = g->question.sums.tables;
	int64		cells = tables->first[tables->tables];

	if (cells > PE_MAX_TABLE_CELLS / periods)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the periods of the series have too many cells together"),
				 errdetail("A report reads %d periods of " INT64_FORMAT " cells, and may read " INT64_FORMAT " cells.",
						   periods, cells, PE_MAX_TABLE_CELLS),
				 errhint("Use fewer groups or aggregates, fewer periods, or history.")));
	if (g->asked.dataset->unit != NULL && pe_sums_product(&g->sums, g->domain) > PE_WIDE_CELLS / (pe_u128) periods)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the columns have too many values together for a series on a dataset with a unit"),
				 errhint("Ask for fewer columns at a time.")));
	pe_check_memory((size_t) cells * periods * 5 * sizeof(int64));
}

static int64 *
shares_of(const pe_aggregation *g)
{
	int64	   *share = palloc(Max(g->parts, 1) * sizeof(int64));

	for (int i = 0; i < g->parts; i++)
		share[i] = (int64) g->part[i].share;
	return share;
}

static void
add_shares(StringInfo text, const int64 *share, int shares)
{
	appendStringInfoString(text, ", \"shares\": [");
	for (int i = 0; i < shares; i++)
		appendStringInfo(text, "%s" INT64_FORMAT, i > 0 ? ", " : "", share[i]);
	appendStringInfoChar(text, ']');
}

/* The shares are not those of its aggregates: an earlier version measured other parts, or the row is damaged. */
static void __attribute__((noreturn))
refuse_shares(const pe_serial *s)
{
	char	   *paid;
	StringInfoData shares;

	initStringInfo(&shares);
	add_shares(&shares, s->series->share, s->series->shares);
	PE_UNDONE();
	paid = pe_series_paid_request(s->series);
	PE_END_UNDONE();
	if (s->series->share == NULL || paid == NULL || strstr(paid, shares.data) == NULL)
		pe_serial_refuse_damaged(s);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("series \"%s\" was paid with an earlier version of pg_epsilon, and cannot go on or be read "
					"any more", s->series->name),
			 errdetail("It measured other sums than this version does for the same aggregates. Nothing was charged."),
			 errhint("What dp.publish_series has written stays. dp.create_series begins another one, which is "
					 "charged.")));
}

static void
measure_sums(pe_serial *s)
{
	pe_aggregation *g = s->aggregation;

	g->rules.neighbours = PE_ADD_REMOVE;	/* of one period: substitute is in the factor of time */
	pe_aggregation_measure(g);
	if (g->stored && (s->series->shares != g->parts || s->series->share == NULL ||
					  !pe_aggregation_take_shares(g, s->series->share)))
		refuse_shares(s);
}

/*
 * Integers of time, of blocks and of numbers are served together: fewer bits of
 * time are more of blocks, whose kinds need them.  Errors are a thousandth
 * larger.
 */
#define BITS_WITH_BLOCKS 10

static int
bits_of_time(const pe_serial *s)
{
	return pe_aggregation_has_numbers_by_blocks(s->aggregation) ? BITS_WITH_BLOCKS : 0;
}

/* Whether the sensitivities of what is measured, times the factor of time, are served. */
static bool
parts_are_served(const pe_serial *s)
{
	const pe_plan_sums sums = {.parts = s->aggregation->parts, .part = s->aggregation->part};
	const pe_plan_series parts = {
		.sums = &sums, .rules = pe_door_rules(s->asked->dataset), .time = &s->time, .presence = s->presence
	};

	return pe_plan_noise_of_series(&parts, s->asked->ask.accounting, 1, NULL) != NULL;
}

/*
 * Columns of blocks are shorter by as much as the factor of time is, and by
 * more where that is not enough: not every kind keeps to it to the bit.
 */
static void
find_strategy(pe_serial *s)
{
	pe_aggregation *g = s->aggregation;
	pe_aggregation *asked = palloc(sizeof(*asked));
	pe_u128		factor = 1;

	(void) pe_continual_factor(&s->time, &s->presence, &factor);
	*asked = *g;
	for (int more = 0; more <= 12; more += 4)
	{
		*g = *asked;
		g->of_series = ldexp((double) factor, 2 * more);
		measure_sums(s);
		if (parts_are_served(s) || !pe_aggregation_has_blocks(g))
			break;
	}
	check_size(s);
}

static void
load_sums(pe_serial *s)
{
	pe_aggregation *g = s->aggregation = palloc0(sizeof(*g));

	s->asked = &g->asked;
	pe_asked_open(&g->asked, &s->request);
	pe_asked_cut(&g->asked);
	pe_dataset_check_committed(g->asked.dataset);
	pe_serial_check_declared(s);
	pe_asked_choose_budget(&g->asked, false);
	g->asked.ask.accounting = s->series->accounting;
	g->strategies = pe_strategies_of(s->series->strategy_id, NULL, 0);
	g->version = s->series->version;
	g->never_null_name = s->series->never_null;
	g->never_null_names = s->series->never_nulls;
	g->of_series = 1;			/* its strategy is kept */
	pe_aggregation_restore(g);
	measure_sums(s);
}

static void
fill_parts(pe_serial *s)
{
	pe_aggregation *g = s->aggregation;

	s->sums = (pe_plan_sums) {.parts = g->parts, .part = g->part};
	s->parts.sums = &s->sums;
}

static int64
values(const pe_serial *s)
{
	return pe_aggregation_rows_before(s->aggregation, s->aggregation->parts);
}

/* ------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------
 */

/* Of each part, as of pe_aggregate_noise; all: one after the other. */
static int **
lattices_of_parts(const pe_aggregation *g, int *all)
{
	int		  **lattice = palloc0(g->parts * sizeof(*lattice));

	for (int i = 0; i < g->parts; i++)
	{
		const pe_blocks *blocks = g->part[i].strategy->blocks;

		if (blocks != NULL)
			lattice[i] = all;
		all += blocks != NULL ? blocks->blocks : 1;
	}
	return lattice;
}

pe_aggregate_noise
pe_serial_noise_of_sums(const pe_serial *s, int64 nano)
{
	pe_accounting accounting = s->asked->ask.accounting;
	int		   *lattice;
	pe_noise  **of_part = pe_plan_noise_of_series(&s->parts, accounting, nano, &lattice);

	if (of_part == NULL && s->series->id == 0)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the sensitivity of the request is too large"),
				 errhint("Use fewer periods, rows_per_unit or max_periods, or ask for fewer attributes at a time.")));
	if (of_part == NULL)
		pe_serial_refuse_damaged(s);
	return (pe_aggregate_noise) {
		of_part, NULL, lattices_of_parts(s->aggregation, lattice),
		s->series->open_ended ? PE_MAX_PERIODS : s->series->periods, PE_MISS
	};
}

static double
scale(pe_serial *s)
{
	pe_aggregate_noise noise;

	pe_aggregation_check_max_stderr(s->aggregation);
	if (!pe_aggregate_is_linear(&s->aggregation->aggregate[0]))
		return 0;
	noise = pe_serial_noise_of_sums(s, INT64_C(1000000000));
	return pe_aggregation_scale(s->aggregation, &noise);
}

static void
errors(pe_serial *s, double rows, double variance, double *stderr_)
{
	pe_aggregate_noise noise = pe_serial_noise_of_sums(s, s->series->nano);

	pe_aggregation_errors_of(s->aggregation, &noise, rows, variance, stderr_);
}

/* ------------------------------------------------------------------
 * What is paid for
 * ------------------------------------------------------------------
 */

static char **
names(const pe_serial *s, int *count)
{
	const pe_aggregation *g = s->aggregation;
	char	  **name = palloc(Max(g->groups, 1) * sizeof(char *));

	for (int i = 0; i < g->groups; i++)
		name[i] = pe_column_text(&g->columns[i]);
	*count = g->groups;
	return name;
}

static void
add_text(StringInfo text, const pe_serial *s)
{
	pe_aggregation *g = s->aggregation;

	pe_text_add_names(text, "aggregates", g->text, g->aggregates);
	if (s->series->never_nulls > 0)
		pe_text_add_names(text, "never_null", s->series->never_null, s->series->never_nulls);
	if (pe_aggregation_counts_units(g))
		appendStringInfo(text, ", \"cells_per_unit\": %d", g->cells_per_unit);
	add_shares(text, shares_of(g), g->parts);
}

/* In one form, with the name that it was given. */
static char *
named_text(const pe_aggregation *g, int i)
{
	const char *name = g->aggregate[i].name;

	return name == NULL ? g->text[i] : psprintf("%s AS %s", g->text[i], quote_identifier(name));
}

static void
keep_sums(pe_serial *s)
{
	pe_aggregation *g = s->aggregation;
	pe_series  *series = s->series;

	series->aggregates = g->aggregates;
	series->aggregate = palloc(g->aggregates * sizeof(char *));
	for (int i = 0; i < g->aggregates; i++)
		series->aggregate[i] = named_text(g, i);
	series->never_null = palloc(PE_MAX_NUMBERS * sizeof(char *));
	series->never_nulls = pe_aggregation_never_null(g, series->never_null);
	series->cells_per_unit = pe_aggregation_counts_units(g) ? g->cells_per_unit : 0;
	series->shares = g->parts;
	series->share = shares_of(g);
}

/* ------------------------------------------------------------------
 * What is read of a period
 * ------------------------------------------------------------------
 */

static const pe_period_table *
columns_of_tables(const pe_aggregation *g)
{
	pe_period_table *table = palloc(g->first_table[g->parts] * sizeof(*table));

	for (int i = 0; i < g->parts; i++)
		for (int32 t = g->first_table[i]; t < g->first_table[i + 1]; t++)
			table[t] = (pe_period_table) {g->space[g->source[i].space].column_of, g->part[i].strategy->columns};
	return table;
}

static void
ask_sums(const pe_serial *s, pe_period_question *question, pe_column *columns)
{
	const pe_aggregation *g = s->aggregation;
	int			attributes = attributes_of(g);
	pe_sums    *sums = palloc(sizeof(*sums));
	pe_tables  *tables = palloc(sizeof(*tables));
	pe_predicate *predicate = palloc(sizeof(*predicate));

	memcpy(columns + 1, g->columns, (attributes + g->needed.numbers) * sizeof(*columns));
	question->domain = pe_columns_domain(columns, attributes + 1, g->watched);
	if (g->selection != NULL)
	{
		*predicate = pe_predicate_behind_one(g->selection);
		question->predicate = predicate;
	}
	pe_sums_behind_one(&g->sums, g->question.sums.tables, sums, tables);
	if (!pe_tables_span(tables, question->domain) || !pe_sums_place(sums, tables))
		elog(ERROR, "the tables of a series are too large");
	question->sums = sums;
	question->tables = tables;
	question->table = columns_of_tables(g);
}

const pe_serial_kind pe_serial_sums = {
	.validate = validate_sums, .load = load_sums, .told = sums_told, .aggregate = aggregate,
	.depends_on_rows = depends_on_rows, .bits_of_time = bits_of_time,
	.find_strategy = find_strategy,
	.check_size = check_size, .fill_parts = fill_parts, .values = values, .scale = scale, .errors = errors,
	.names = names, .add_text = add_text, .keep = keep_sums, .ask = ask_sums
};

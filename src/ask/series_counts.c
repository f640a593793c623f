/*
 * series_counts.c
 *	  A series of counts: each period's cells are measured with one strategy.  See ask_series.h.
 */
#include "postgres.h"

#include <math.h>

#include "ask/ask_predicate.h"
#include "ask/ask_series.h"
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
	if (!pe_strategy_of_charge(s->series->strategy_id, &h->workload, h->possible, &h->kept) ||
		h->kept.strategy.blocks != NULL)
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

/* One scan counts all of them; exact counts, those of the strategy's columns, and the state of each process. */
static void
check_size(const pe_serial *s)
{
	int			periods = pe_serial_periods_read(s);
	double		cells = (double) s->histogram->domain->cells * periods;

	if (cells > PE_MAX_CELLS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the periods of the series have too many cells together"),
				 errdetail("A report reads %d periods of %d cells, and may read %d cells.", periods,
						   s->histogram->domain->cells, PE_MAX_CELLS),
				 errhint("Use fewer cells, fewer periods, or history.")));
	pe_check_memory((size_t) cells * 5 * sizeof(int64));
}

/* Cells in blocks would be read table by table. */
static void
find_strategy(pe_serial *s)
{
	check_size(s);
	pe_histogram_find_strategy(s->histogram);
	if (s->histogram->kept.strategy.blocks != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the workload tells too many classes of cells apart for a series"),
				 errdetail("At most 4096 can be."),
				 errhint("Ask for fewer attributes at a time.")));
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

static const int32_t **
columns_of_cells(const pe_histogram *h)
{
	const int32_t **column_of = palloc(sizeof(*column_of));
	int32	   *columns = pe_alloc(h->domain->cells, sizeof(*columns));

	pe_strategy_columns(&h->kept.strategy, &h->workload, h->possible, columns);
	*column_of = columns;
	return column_of;
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
	pe_columns_check_product(question->domain);
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

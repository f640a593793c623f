/*
 * report.c
 *	  Reports of a series, and dp.report.  See report.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/xlog.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "ask/request.h"
#include "ledger/standby.h"
#include "read/report.h"
#include "ask/suppress.h"
#include "server/return_rows.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/shim.h"
#include "blocks/reconstruct.h"

PG_FUNCTION_INFO_V1(pe_sql_report);

/* Most rows that a function returns. */
#define MOST_ROWS 10000000

/* ------------------------------------------------------------------
 * What is stored, and what is due
 * ------------------------------------------------------------------
 */

/*
 * A caller with the right to read gets all stored periods; only what is due is
 * measured.
 */
static void
read_stored(pe_report *r)
{
	pe_serial  *s = &r->serial;

	for (int t = 0; t < s->series->periods; t++)
	{
		int64		values;

		r->measured[t] = pe_series_read(s->series, t, &values, &r->stored[t]);
		if (r->measured[t] != NULL && values != s->kind->values(s))
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("period %d of series \"%s\" does not hold the measurements of its strategy",
							t + 1, s->series->name)));
	}
}

static void __attribute__((noreturn))
refuse_early(const pe_serial *s, int period)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("report %d of series \"%s\" is not due yet", period + 1, s->series->name),
			 errdetail("It is due at %s.", timestamptz_to_str(s->periods.due[period]))));
	pg_unreachable();
}

/*
 * Number of periods that can be reported: due, or stored already; of a series
 * that has ended only the stored ones.
 */
static int
periods_to_tell(const pe_report *r)
{
	const pe_serial *s = &r->serial;
	int			count = pe_serial_goes_on(s) ? pe_periods_due(&s->periods) : 0;

	while (count < s->series->periods && r->measured[count] != NULL)
		count++;
	return count;
}

static void
choose_period(pe_report *r, int period)
{
	if (period < 1 || period > r->serial.series->periods)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("period must be from 1 to %d", r->serial.series->periods)));
	if (period - 1 > r->last)
	{
		pe_serial_check_open(&r->serial);
		refuse_early(&r->serial, period - 1);
	}
	r->first = r->last = period - 1;
}

/* In order: a later one never is there without those before it. */
static void
measure_due(pe_report *r)
{
	for (int t = 0; t <= r->last; t++)
		if (r->measured[t] == NULL)
			r->measured[t] = pe_serial_measure(&r->serial, t);
}

static void
make_room(pe_report *r, size_t memory)
{
	pe_check_memory(memory + (size_t) (r->last + 1) * r->estimates * sizeof(double));
	r->e = pe_alloc((size_t) (r->last + 1) * r->estimates, sizeof(double));
}

/* What each period's measurement alone says of the cells' queries, in units of the answers. */
static void
estimate_counts(pe_report *r)
{
	const pe_serial *s = &r->serial;
	const pe_space *space = &s->counts->space[0];
	int		   *lattice = pe_plan_series_lattices(&s->parts, s->series->accounting, s->series->nano);
	pe_measured measured = space->measured;
	pe_reconstruction reconstruction;

	if (measured.strategy->blocks != NULL)
		measured.lattice = lattice;
	if (lattice == NULL || !pe_reconstruction_init(&measured, &space->workload, &reconstruction))
		elog(ERROR, "the measurements of series \"%s\" cannot be told", s->series->name);
	r->estimates = space->workload.queries;
	make_room(r, pe_reconstruction_memory(&space->kept.strategy, &space->workload, &reconstruction.classes));
	for (int t = 0; t <= r->last; t++)
	{
		double	   *e = r->e + (size_t) t * r->estimates;

		pe_reconstruction_estimate(&reconstruction, r->measured[t], e);
		for (int32 q = 0; measured.lattice == NULL && q < space->workload.queries; q++)
			e[q] = ldexp(e[q], -lattice[0]);
	}
	pe_reconstruction_free(&reconstruction);
}

/* The same of sums. */
static void
estimate_sums(pe_report *r, const pe_aggregate_noise *noise)
{
	const pe_aggregation *g = r->serial.aggregation;

	r->estimates = pe_aggregation_estimates(g);
	make_room(r, 0);
	for (int t = 0; t <= r->last; t++)
	{
		CHECK_FOR_INTERRUPTS();
		pe_aggregation_estimate(g, noise, r->measured[t], r->e + (size_t) t * r->estimates);
	}
}

/*
 * The half width of an interval in standard errors, for any weights on all
 * numbers of all periods (noise/interval.h), also of later ones.
 */
static double
width_of_interval(const pe_serial *s, const pe_noise *noise)
{
	int			periods = s->series->open_ended ? PE_MAX_PERIODS : s->series->periods;
	pe_confidence confidence;
	double		half;

	pe_confidence_init(&confidence, noise,
					   (int32) Min((int64) s->counts->space[0].kept.strategy.rows * periods, PG_INT32_MAX), PE_MISS);
	half = pe_confidence_half(&confidence, 1, 0) / pe_noise_stderr(noise);
	pe_confidence_free(&confidence);
	return half;
}

/* Of one query over time: |b|^2. */
static double
variance_of(const pe_continual *time, int32 query)
{
	double	   *weight = pe_alloc(time->periods, sizeof(*weight));
	double		variance = 0;

	pe_continual_weights(time, query, weight);
	for (int s = 0; s < time->periods; s++)
		variance += weight[s] * weight[s];
	pe_free(weight);
	return variance;
}

/*
 * For each period that is reported, and each term: hands on its sum over time
 * of the estimates of periods, and the variance of that.
 */
static void
combine_periods(pe_report *r, const pe_aggregate_noise *noise,
				void (*take) (pe_report *r, size_t at, const pe_aggregate_noise *noise, double *estimate))
{
	pe_serial  *s = &r->serial;
	double	   *estimate = pe_alloc(r->estimates, sizeof(double));
	size_t		at = 0;

	r->over_variance = pe_alloc((size_t) (r->last + 1 - r->first) * s->over.terms, sizeof(double));
	for (int t = r->first; t <= r->last; t++)
		for (int term = 0; term < s->over.terms; term++, at++)
		{
			const pe_continual *time = pe_serial_answering(s, t);

			CHECK_FOR_INTERRUPTS();
			pe_continual_combine(time, term * time->periods + t, r->estimates, r->e, estimate);
			r->over_variance[at] = variance_of(time, term * time->periods + t);
			take(r, at, noise, estimate);
		}
	pe_free(estimate);
}

static void
take_counts(pe_report *r, size_t at, const pe_aggregate_noise *noise, double *estimate)
{
	memcpy(r->estimate + at * r->estimates, estimate, r->estimates * sizeof(double));
}

/*
 * In how many periods of a term a unit has rows at most: a row that is one is in
 * a single one.  Where rows may change after a period was read, a unit can count
 * in more of them than max_periods.
 */
static int
periods_of_unit(const pe_report *r, int period, int term)
{
	const pe_series *series = r->serial.series;
	int			width = r->serial.over.term[term].width;
	int			periods = width == 0 ? period + 1 : Min(width, period + 1);

	if (series->max_periods == 0)
		return 1;
	return series->append_only ? Min(periods, series->max_periods) : periods;
}

static void
take_sums(pe_report *r, size_t at, const pe_aggregate_noise *noise, double *estimate)
{
	pe_aggregation *g = r->serial.aggregation;

	pe_aggregate_result *result = r->result + at * g->space[0].workload.queries * g->aggregates;
	int			terms = r->serial.over.terms;

	pe_aggregation_answers(g, noise, estimate, r->over_variance[at], result);
	pe_suppress_results(g, g->count, periods_of_unit(r, r->first + (int) at / terms, (int) at % terms), result);
}

static int32
check_rows(const pe_report *r)
{
	pe_serial_told told = r->serial.kind->told(&r->serial);
	double		rows = (double) (r->last + 1 - r->first)
		* r->serial.over.terms * told.workload->queries * told.aggregates;

	if (rows > MOST_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the reports have more rows than can be returned at once"),
				 errdetail("At most %d can be.", MOST_ROWS),
				 errhint("Ask for one period at a time.")));
	return (int32) rows;
}

void
pe_report_load(pe_report *r, const char *name)
{
	memset(r, 0, sizeof(*r));
	r->name = name;
	PE_UNDONE();
	pe_serial_load(&r->serial, name);
	r->measured = palloc0(r->serial.series->periods * sizeof(*r->measured));
	r->stored = palloc0(r->serial.series->periods * sizeof(*r->stored));
	read_stored(r);
	PE_END_UNDONE();
	r->last = periods_to_tell(r) - 1;
}

static void
answer_counts(pe_report *r, int32 rows)
{
	const pe_noise *noise = pe_serial_noise(&r->serial);

	estimate_counts(r);
	r->estimate = pe_alloc(rows, sizeof(*r->estimate));
	combine_periods(r, NULL, take_counts);
	r->variance = pe_counts_variances(r->serial.counts);
	r->noise = pe_noise_stderr(noise);
	r->width = width_of_interval(&r->serial, noise);
}

static void
answer_sums(pe_report *r, int32 rows)
{
	pe_aggregate_noise noise = pe_serial_noise_of_sums(&r->serial, r->serial.series->nano);

	estimate_sums(r, &noise);
	r->result = pe_alloc(rows, sizeof(*r->result));
	combine_periods(r, &noise, take_sums);
}

/* The memory for so many rows of a report, and for what they follow from. */
static void
check_answers(const pe_report *r, int32 rows)
{
	const pe_serial *s = &r->serial;
	pe_serial_told told = s->kind->told(s);
	size_t		estimates = s->aggregation != NULL ? pe_aggregation_estimates(s->aggregation) : told.workload->queries;

	pe_check_memory((size_t) (r->last + 1) * estimates * sizeof(double)
					+ rows * (s->aggregation != NULL ? sizeof(*r->result) : sizeof(*r->estimate))
					+ pe_labels_memory(told.workload, told.columns));
}

/* Who it is shown to decides; of sums the counts decide that were measured with them. */
static void
find_rule(pe_report *r)
{
	const pe_dataset *dataset = r->serial.asked->dataset;
	pe_serial_told told = r->serial.kind->told(&r->serial);

	r->rule = r->published ? pe_suppress_rule_of_published(dataset) : pe_suppress_rule(dataset, 0);
	pe_suppress_check_workload(&r->rule, dataset, told.workload);
	if (r->serial.aggregation != NULL)
		r->serial.aggregation->min = r->rule;
}

int32
pe_report_answer(pe_report *r)
{
	int32		rows = check_rows(r);
	pe_serial_told told;

	find_rule(r);
	check_answers(r, Max(rows, 0));
	measure_due(r);
	PE_UNDONE();
	pe_series_anchor(r->serial.series, r->serial.asked->dataset);
	pe_standby_await(r->serial.asked->dataset->cap_id);
	PE_END_UNDONE();
	if (rows <= 0)
		return 0;
	if (r->serial.aggregation != NULL)
		answer_sums(r, rows);
	else
		answer_counts(r, rows);
	told = r->serial.kind->told(&r->serial);
	pe_labels_init(&r->labels, told.workload, told.columns);
	return rows;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static void
fill_count(const pe_report *r, int32 row, pe_report_row *at)
{
	const pe_serial *s = &r->serial;
	pe_min_count rule = r->rule;

	at->estimate = r->estimate[row];
	at->stderr_ = r->noise
		* sqrt(r->over_variance[(at->period - r->first) * s->over.terms + at->term] * r->variance[at->query]);
	at->lower = at->estimate - r->width * at->stderr_;
	at->upper = at->estimate + r->width * at->stderr_;
	rule.rows *= periods_of_unit(r, at->period, at->term);
	if (!pe_min_count_shows(&rule, at->lower))
		at->estimate = at->stderr_ = at->lower = at->upper = NAN;
}

pe_report_row
pe_report_row_at(const pe_report *r, int32 row)
{
	const pe_serial *s = &r->serial;
	pe_serial_told told = s->kind->told(s);
	int			aggregates = told.aggregates;
	int32		queries = told.workload->queries;
	int32		group = row / aggregates;
	pe_report_row at = {
		.period = r->first + group / queries / s->over.terms, .term = group / queries % s->over.terms,
		.query = group % queries, .aggregate = row % aggregates
	};

	if (r->result == NULL)
		fill_count(r, row, &at);
	else
	{
		at.estimate = r->result[row].estimate;
		at.stderr_ = r->result[row].stderr_;
		at.lower = r->result[row].lower;
		at.upper = r->result[row].upper;
	}
	return at;
}

char *
pe_report_term(const pe_report *r, int term)
{
	int			width = r->serial.over.term[term].width;

	return width == 0 ? "totals" : width == 1 ? "periods" : psprintf("windows(%d)", width);
}

/* ------------------------------------------------------------------
 * dp.report
 * ------------------------------------------------------------------
 */

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_report *r = argument;
	const TimestampTz *edge = r->serial.periods.edge;
	pe_report_row at = pe_report_row_at(r, row);
	const char *aggregate = r->serial.kind->aggregate(&r->serial, at.aggregate);

	values[0] = Int32GetDatum(at.period + 1);
	values[1] = TimestampTzGetDatum(edge[at.period]);
	values[2] = TimestampTzGetDatum(edge[at.period + 1]);
	values[3] = CStringGetTextDatum(pe_report_term(r, at.term));
	values[4] = Int32GetDatum(at.query + 1);
	values[5] = pe_label(&r->labels, at.query);
	nulls[6] = aggregate == NULL;
	if (aggregate != NULL)
		values[6] = CStringGetTextDatum(aggregate);
	pe_put_float(at.estimate, &values[7], &nulls[7]);
	pe_put_float(at.stderr_, &values[8], &nulls[8]);
	pe_put_float(at.lower, &values[9], &nulls[9]);
	pe_put_float(at.upper, &values[10], &nulls[10]);
}

/* A standby measures nothing: it reports only what is stored. */
static void
keep_to_stored(pe_report *r)
{
	int			stored = 0;

	if (!RecoveryInProgress())
		return;
	while (stored <= r->last && r->measured[stored] != NULL)
		stored++;
	if (stored <= r->last)
		ereport(NOTICE,
				(errmsg("report %d of series \"%s\" is due, and not stored here", stored + 1, r->serial.series->name),
				 errdetail("The server is a standby, where nothing is measured.")));
	r->last = stored - 1;
}

/* The last one says when the report was measured, unless that is now. */
static void
tell_stored(const pe_report *r)
{
	if (r->last >= r->first && r->stored[r->last] != 0)
		pe_replay_tell(r->serial.asked->dataset, r->serial.series->version, r->stored[r->last]);
}

Datum
pe_sql_report(PG_FUNCTION_ARGS)
{
	pe_report	r;
	int32		rows;

	pe_report_load(&r, pe_text_argument(fcinfo, 0, "series"));
	if (!PG_ARGISNULL(1))
		choose_period(&r, PG_GETARG_INT32(1));
	else
		keep_to_stored(&r);
	rows = pe_report_answer(&r);
	tell_stored(&r);
	pe_return_rows(fcinfo, rows, 11, make_row, &r);
	return (Datum) 0;
}

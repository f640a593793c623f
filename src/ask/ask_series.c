/*
 * ask_series.c
 *	  A series of reports, validated.  See ask_series.h.
 */
#include "postgres.h"

#include <math.h>

#include "common/sha2.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "server/arguments.h"
#include "ask/literals.h"
#include "ask/ask_predicate.h"
#include "ask/ask_series.h"
#include "ask/ask_blocks.h"
#include "blocks/blocks.h"
#include "ledger/chain.h"
#include "ledger/formats.h"
#include "ledger/time.h"
#include "server/access.h"
#include "server/activity.h"
#include "server/settings.h"
#include "server/shim.h"

/* A strategy over so many periods is one message to the ledger's worker; one of an open end needs no bytes. */
#define MOST_OPTIMISED 1024

/* ------------------------------------------------------------------
 * What may be asked
 * ------------------------------------------------------------------
 */

/* Units have no number of periods of their own accord: one would say silently which rows count. */
static void
check_units(const pe_dataset *dataset, const pe_series *series)
{
	if (dataset->unit != NULL && series->max_periods == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_periods is missing"),
				 errdetail("Dataset \"%s\" protects all rows with the same %s, which can be of several periods.",
						   dataset->name, dataset->unit),
				 errhint("Give max_periods: a unit's rows count in the first periods in which it has any, so "
						 "many of them. dp.quote_series tells what each number costs.")));
	if (dataset->unit == NULL && series->max_periods > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_periods is for datasets with a unit"),
				 errdetail("Each row of dataset \"%s\" is protected by itself, and is in one period.", dataset->name)));
}

static void
check_dataset(const pe_serial *s)
{
	const pe_dataset *dataset = s->asked->dataset;

	check_units(dataset, s->series);
	if (s->asked->ask.accounting == PE_PURE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a series needs a budget that counts rho"),
				 errdetail("What is best measured over time is best for Gaussian noise, and not for that of "
						   "a pure budget."),
				 errhint("Ask for each period by itself: dp.histogram with a predicate on its time; or use a "
						 "budget of accounting gdp or zcdp.")));
}

static void
check_number(const char *name, int number, int least, int most)
{
	if (number < least || number > most)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be from %d to %d", name, least, most)));
}

static bool
wants_max(const pe_series *series)
{
	return strcmp(series->objective, "max") == 0;
}

static void
check_options(const pe_series *series)
{
	check_number("periods", series->periods, 1, series->open_ended ? PE_MAX_PERIODS : MOST_OPTIMISED);
	check_number("history", series->history, 0, PE_MAX_PERIODS);
	if (strcmp(series->objective, "sum") != 0 && !wants_max(series))
		pe_refuse_parameter("objective", series->objective, "sum or max");
	if (series->open_ended && series->history > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("history does not go with open_ended"),
				 errdetail("What an open-ended series measures looks back to its first period.")));
	if (wants_max(series) && (series->open_ended || series->history > 0))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("objective \"max\" does not go with history or open_ended"),
				 errhint("Use objective => 'sum'.")));
}

/* What is declared of the time now. */
static void
take_time(pe_serial *s)
{
	const pe_dataset *dataset = s->asked->dataset;

	(void) pe_time_type(dataset);
	if (dataset->cap_id != dataset->id)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dataset \"%s\" shares the cap of dataset \"%s\"", dataset->name,
						pe_dataset_of_cap(dataset)->name),
				 errdetail("The lines of a series stand in the chain of its own dataset."),
				 errhint("Create the series on a dataset that has a cap of its own.")));
	s->series->time_attribute = dataset->time_attribute;
	s->series->time_type = dataset->time_type;
	s->series->time_number = dataset->time_number;
	s->series->append_only = dataset->append_only;
}

static void
parse_over(pe_serial *s)
{
	pe_text_error error;

	if (!pe_over_parse(s->series->over, &s->over, &error))
		pe_refuse_text(s->series->over, &error);
	s->series->over = s->over.canonical;
}

int
pe_serial_periods_read(const pe_serial *s)
{
	return s->series->history > 0 ? Min(s->series->history, s->series->periods) : s->series->periods;
}

void
pe_serial_validate(pe_serial *s, bool needs_budget)
{
	check_options(s->series);
	parse_over(s);
	s->kind = s->request.kind == PE_ASK_COUNTS ? &pe_serial_counts : &pe_serial_sums;
	s->kind->validate(s, needs_budget);
	check_dataset(s);
	take_time(s);
	s->series->rows_per_unit = s->asked->dataset->unit != NULL ? s->asked->dataset->max_rows : 0;
	pe_periods_make(s->series, pe_periods_type(s->series->time_type), &s->periods);
	pe_check_attributes(1 + s->kind->told(s).attributes);	/* the time is one more */
	pe_door_check_view(s->asked->dataset);
	if (needs_budget)
		pe_door_check_asker(s->asked->dataset, GetUserId());
}

/* ------------------------------------------------------------------
 * Strategies
 * ------------------------------------------------------------------
 */

static pe_continual_problem
problem_of(const pe_serial *s)
{
	return (pe_continual_problem) {
		.over = &s->over, .periods = s->series->periods, .history = s->series->history,
		.open_ended = s->series->open_ended,
		.objective = wants_max(s->series) ? PE_MAX : PE_SUM, .gap = PE_CONTINUAL_GAP
	};
}

/* A row that is a unit is in one period. */
static void
fill_presence(pe_serial *s)
{
	const pe_dataset *dataset = s->asked->dataset;

	s->presence = (pe_presence) {
		.row_is_unit = dataset->unit == NULL, .max_periods = s->series->max_periods,
		.append_only = s->series->append_only,
		.neighbours = pe_dataset_neighbours(dataset)
	};
}

static void
refuse_time(pe_strategy_status status)
{
	if (status != PE_STRATEGY_OK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("no strategy can be made for so many periods"),
				 errhint("Use fewer periods, or open_ended.")));
}

static void
optimise_time(pe_serial *s)
{
	pe_continual_problem problem = problem_of(s);

	problem.bits = s->kind->bits_of_time != NULL ? s->kind->bits_of_time(s) : 0;
	pe_check_memory(pe_continual_memory(&problem));
	pe_progress_begin();
	refuse_time(pe_continual_choose(&problem, &s->presence, &s->time));
	s->series->strategy_size = s->series->open_ended ? 0 : (int) pe_strategy_size(&s->time.strategy);
	s->series->strategy = palloc(Max(s->series->strategy_size, 1));
	if (!s->series->open_ended)
		pe_strategy_write(&s->time.strategy, s->series->strategy);
}

void
pe_serial_refuse_damaged(const pe_serial *s)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("series \"%s\" is not what was paid for", s->series->name)));
	pg_unreachable();
}

/* Of all periods, and of the first ones where there are more since. */
static void
make_open_ended(pe_serial *s)
{
	pe_continual_problem problem = problem_of(s);

	refuse_time(pe_continual_make(&problem, &s->time));
	problem.periods = s->series->first_periods;
	if (s->series->periods > s->series->first_periods)
		refuse_time(pe_continual_make(&problem, &s->first));
}

/* What was kept; an open end has the same integers each time. */
static void
restore_time(pe_serial *s)
{
	pe_continual_problem problem = problem_of(s);
	pe_strategy strategy;

	if (pe_strategy_bytes_are_newer(s->series->strategy, s->series->strategy_size))
		pe_format_refuse(psprintf("series \"%s\"", s->series->name));
	if (s->series->open_ended)
		make_open_ended(s);
	else if (pe_strategy_read(&strategy, s->series->strategy, s->series->strategy_size) != PE_STRATEGY_OK ||
			 !pe_continual_restore(&problem, &strategy, &s->time))
		pe_serial_refuse_damaged(s);
}

static void
fill_parts(pe_serial *s)
{
	s->parts = (pe_plan_series) {.time = &s->time, .presence = s->presence, .rules = pe_door_rules(s->asked->dataset)};
	s->kind->fill_parts(s);
	s->presence.similar = pe_plan_series_similar(&s->parts);
	if (s->first.periods > 0)
		s->parts.first = &s->first;
	s->variance = pe_alloc(s->time.queries, sizeof(double));
	pe_continual_variances(&s->time, s->variance);
}

/* What max_stderr bounds: the worst report, of aggregates the first one. */
static void
fill_scale(pe_serial *s)
{
	double		most = 0;

	for (int32 q = 0; q < s->time.queries; q++)
		most = fmax(most, s->variance[q]);
	s->parts.scale = sqrt(most) * s->kind->scale(s);
}

/* ------------------------------------------------------------------
 * What is paid for
 * ------------------------------------------------------------------
 */

static void
add_interval(StringInfo text, const char *key, const Interval *interval)
{
	appendStringInfo(text, ", \"%s\": \"%d months %d days " INT64_FORMAT " microseconds\"", key, interval->month,
					 interval->day, interval->time);
}

static void
add_hash(StringInfo text, const char *key, const bytea *hash)
{
	appendStringInfo(text, ", \"%s\": \"", key);
	for (int i = 0; i < PG_SHA256_DIGEST_LENGTH; i++)
		appendStringInfo(text, "%02x", (uint8) VARDATA_ANY(hash)[i]);
	appendStringInfoChar(text, '"');
}

/* Of the bytes that every period is measured with. */
static void
add_strategy(StringInfo text, const pe_series *series)
{
	add_hash(text, "strategy_sha256", pe_sha256(series->strategy, series->strategy_size, "", 0));
}

static void
add_edges(StringInfo text, const pe_series *series, int periods)
{
	StringInfoData edges;

	initStringInfo(&edges);
	for (int n = 0; n <= periods; n++)
		pq_sendint64(&edges, series->edge[n]);
	add_hash(text, "edges_sha256", pe_sha256(edges.data, edges.len, "", 0));
}

/* Microseconds since 2000 do not depend on a zone or a style. */
static void
add_time(StringInfo text, const pe_series *series, int periods)
{
	pe_text_add(text, "over", series->over);
	pe_text_add(text, "time", series->time_attribute);
	pe_text_add(text, "time_type", series->time_type);
	appendStringInfo(text, ", \"append_only\": %s, \"start\": " INT64_FORMAT, series->append_only ? "true" : "false",
					 series->starts);
	pe_text_add(text, "time_zone", series->zone);
	add_interval(text, "length", &series->period);
	add_interval(text, "grace", &series->grace);
	appendStringInfo(text, ", \"periods\": %d, \"history\": %d, \"open_ended\": %s", periods, series->history,
					 series->open_ended ? "true" : "false");
	if (series->max_periods > 0)
		appendStringInfo(text, ", \"max_periods\": %d", series->max_periods);
	pe_text_add(text, "objective", series->objective);
	if (periods > series->first_periods)
		appendStringInfo(text, ", \"first_periods\": %d", series->first_periods);
	add_edges(text, series, periods);
	add_strategy(text, series);
}

/* All that noise and sensitivity depend on.  nano: what the first periods cost, all of one that was not prolonged. */
static char *
canonical_text(const pe_serial *s, int periods, int64 nano)
{
	pe_serial_told told = s->kind->told(s);
	StringInfoData text;
	int			names;
	char	  **name = s->kind->names(s, &names);

	pe_text_begin(&text, s->asked, "series");
	pe_text_add(&text, "series", s->series->name);
	pe_text_add_names(&text, "attributes", name, names);
	pe_text_add(&text, "workload", told.workload->canonical);
	pe_text_add(&text, "predicate", told.predicate);
	s->kind->add_text(&text, s);
	pe_text_add(&text, "neighbours", s->asked->dataset->neighbours);
	if (s->asked->dataset->unit != NULL)
		appendStringInfo(&text, ", \"rows_per_unit\": %d", s->asked->dataset->max_rows);
	add_time(&text, s->series, periods);
	pe_text_add_declared(&text, s->asked);
	pe_text_add(&text, "accounting", pe_accounting_name(s->asked->ask.accounting));
	appendStringInfo(&text, ", \"rho\": " INT64_FORMAT "}", nano);
	return text.data;
}

static void
fill_charge(pe_serial *s, const pe_series_request *series)
{
	pe_charge_request *charge = &s->asked->charge;
	pe_serial_told told = s->kind->told(s);
	bool		is_new = series->id == 0;
	int64		nano = is_new ? pe_cost_amount(pe_plan_cost(s->asked->plan)).rho_nano : s->series->nano;
	int			periods = is_new || series->created != NULL ? s->series->periods : s->series->first_periods;

	pe_asked_fill_charge(s->asked, canonical_text(s, periods, nano), "optimal",
						 told.workload->queries * told.aggregates);
	charge->attribute = s->kind->names(s, &charge->attributes);
	pe_asked_choose_times(s->asked, s->series->edge[0], s->series->edge[s->series->periods] - 1);
	charge->fresh = true;		/* there is no release to be found */
	charge->workload = told.workload->canonical;
	charge->predicate = told.predicate;
	charge->strategy_id = told.strategy_id;
	charge->series = series;
}

double
pe_serial_variance(const pe_serial *s, int period)
{
	double		largest = 0;

	for (int32 q = period; q < s->time.queries; q += s->series->periods)
		largest = fmax(largest, s->variance[q]);
	return largest;
}

/* The largest error of each report, for the view: of the first aggregate, unless it depends on rows. */
static void
fill_errors(pe_serial *s)
{
	double	   *of_one = palloc(s->kind->told(s).aggregates * sizeof(double));

	s->kind->errors(s, 1, 1, of_one);
	if (s->kind->depends_on_rows(s, 0))
		of_one[0] = NAN;
	s->series->stderr_ = palloc(s->series->periods * sizeof(double));
	for (int t = 0; t < s->series->periods; t++)
		s->series->stderr_[t] = of_one[0] * sqrt(pe_serial_variance(s, t));
}

void
pe_serial_resolve(pe_serial *s)
{
	pe_asked   *asked = s->asked;
	pe_series_request *series = palloc0(sizeof(*series));

	fill_presence(s);
	optimise_time(s);
	s->kind->find_strategy(s);
	fill_parts(s);
	pe_asked_resolve_cost(asked, true, false);
	fill_scale(s);
	pe_asked_check_plan(asked, pe_plan_of_series(&asked->ask, &s->parts, &asked->plan), 1, 9e9);
	s->series->accounting = asked->ask.accounting;
	s->series->nano = pe_cost_amount(pe_plan_cost(asked->plan)).rho_nano;
	fill_errors(s);
	series->created = s->series;
	s->series->first_periods = s->series->periods;
	s->kind->keep(s);
	fill_charge(s, series);
}

/* ------------------------------------------------------------------
 * One that was paid for
 * ------------------------------------------------------------------
 */

static void
check_text(const pe_serial *s, const char *paid, int periods)
{
	if (paid == NULL || strcmp(paid, canonical_text(s, periods, s->series->nano)) != 0)
		pe_serial_refuse_damaged(s);
}

/* The row is what the charges say, of the first periods and of all. */
static void
check_paid(const pe_serial *s)
{
	check_text(s, pe_series_paid_request(s->series), s->series->first_periods);
	if (s->series->periods > s->series->first_periods)
		check_text(s, pe_series_prolonged_request(s->series), s->series->periods);
}

static void
fill_request(pe_serial *s)
{
	const pe_series *series = s->series;

	pe_request_init(&s->request, series->aggregates > 0 ? PE_ASK_SUMS : PE_ASK_COUNTS, "dp.report");
	s->request.dataset = pe_dataset_recall(series->dataset_id)->name;
	s->request.declared = series->declared;
	s->request.attribute = series->attribute;
	s->request.attributes = series->attributes;
	s->request.workload = series->workload;
	s->request.predicate = series->predicate;
	s->request.cuts = series->rows_per_unit > 0;
	s->request.rows_per_unit = series->rows_per_unit;
	s->request.method = "optimal";
	if (series->aggregates == 0)
		return;
	s->request.sums.aggregate = series->aggregate;
	s->request.sums.aggregates = series->aggregates;
	s->request.sums.cells_per_unit = series->cells_per_unit;
	s->request.sums.limits_cells = series->cells_per_unit > 0;
}

void
pe_serial_check_declared(const pe_serial *s)
{
	const pe_dataset *dataset = s->asked->dataset;

	if (dataset->id != s->series->dataset_id || s->series->version < dataset->declared_version)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the attributes of dataset \"%s\" were declared anew after series \"%s\" was created",
						dataset->name, s->series->name)));
}

void
pe_serial_load(pe_serial *s, const char *name)
{
	s->series = pe_series_load(name);
	fill_request(s);
	parse_over(s);
	s->kind = s->series->aggregates > 0 ? &pe_serial_sums : &pe_serial_counts;
	s->kind->load(s);
	s->asked->version = s->series->version;
	if (s->series->edge == NULL)
		pe_serial_refuse_damaged(s);
	pe_periods_make(s->series, pe_periods_type(s->series->time_type), &s->periods);
	fill_presence(s);
	restore_time(s);
	fill_parts(s);
	check_paid(s);				/* before anything of it is shown, measured or prolonged */
}

const pe_continual *
pe_serial_answering(pe_serial *s, int period)
{
	pe_continual_problem problem = problem_of(s);
	int			power = 0;

	if (!s->series->open_ended)
		return &s->time;
	while (1 << power < period + 1)
		power++;
	problem.periods = 1 << power;
	if (s->answering[power] == NULL)
	{
		s->answering[power] = palloc0(sizeof(pe_continual));
		refuse_time(pe_continual_make(&problem, s->answering[power]));
	}
	return s->answering[power];
}

/* ------------------------------------------------------------------
 * Measuring a period
 * ------------------------------------------------------------------
 */

/*
 * Whether rows are still what was declared of them when the series was paid
 * for: now, and not when the first of many periods was measured.
 */
static void
check_time(const pe_serial *s)
{
	const pe_dataset *dataset = pe_dataset_recall(s->series->dataset_id);
	const pe_series *series = s->series;

	if (dataset->time_attribute == NULL || strcmp(dataset->time_attribute, series->time_attribute) != 0 ||
		strcmp(dataset->time_type, series->time_type) != 0 || dataset->time_number != series->time_number ||
		(series->append_only && !dataset->append_only))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the time of dataset \"%s\" was declared anew after series \"%s\" was created", dataset->name,
						series->name),
				 errhint("Reports that are stored are still returned.")));
}

bool
pe_serial_goes_on(const pe_serial *s)
{
	return !s->series->ended && s->series->version == s->asked->dataset->version && !s->asked->dataset->past;
}

void
pe_serial_check_open(const pe_serial *s)
{
	if (!pe_serial_goes_on(s))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("series \"%s\" has ended", s->series->name),
				 errdetail("No more of its periods can be measured."),
				 errhint("Reports that are stored are still returned.")));
}

/*
 * The plan, whose cost an attempt beyond the free ones is charged, and the
 * charge; of what was paid for, and of nothing else.
 */
static void
plan_period(pe_serial *s, const pe_series_request *series)
{
	pe_asked   *asked = s->asked;

	asked->ask.delta = pe_delta_of_conversion(asked->dataset->delta, asked->dataset->delta_share);
	pe_asked_check_plan(asked, pe_plan_of_period(&asked->ask, &s->parts, s->series->nano, series->period,
												 &asked->plan), 1, 9e9);
	fill_charge(s, series);
	asked->charge.budget_id = s->series->budget_id;
}

/* ------------------------------------------------------------------
 * More periods
 * ------------------------------------------------------------------
 */

static void
check_prolonged(const pe_serial *s, int periods)
{
	pe_serial_check_open(s);
	check_time(s);
	pe_time_check_held(s->asked->dataset);
	pe_series_check_payer(s->series, s->asked->dataset);
	pe_door_check_view(s->asked->dataset);
	pe_door_check_asker(s->asked->dataset, GetUserId());
	if (!s->series->open_ended)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("series \"%s\" is not open-ended", s->series->name),
				 errdetail("What it measures was chosen for its periods."),
				 errhint("Create another series, with open_ended => true if it is to be prolonged.")));
	check_number("periods", periods, s->series->periods + 1, PE_MAX_PERIODS);
}

/* The first periods and their noise stay; the plan's cost is the difference to those that are paid for. */
void
pe_serial_prolong(pe_serial *s, int periods)
{
	pe_asked   *asked = s->asked;
	pe_series_request *series = palloc0(sizeof(*series));
	pe_continual paid = s->time;

	check_prolonged(s, periods);
	s->series->paid_periods = s->series->periods;
	pe_periods_prolong(s->series, s->periods.type, periods);
	pe_periods_make(s->series, s->periods.type, &s->periods);
	s->kind->check_size(s);
	make_open_ended(s);
	fill_parts(s);
	asked->ask.delta = pe_delta_of_conversion(asked->dataset->delta, asked->dataset->delta_share);
	pe_asked_check_plan(asked, pe_plan_of_prolonged(&asked->ask, &s->parts, &paid, s->series->nano, &asked->plan), 1,
						9e9);
	fill_errors(s);
	*series = (pe_series_request) {.created = s->series, .id = s->series->id};
	s->request.function = PE_PROLONG;
	fill_charge(s, series);
	asked->charge.budget_id = s->series->budget_id;
}

/* ------------------------------------------------------------------
 * What is read of a period
 * ------------------------------------------------------------------
 */

/* The time before the attributes of the cells. */
static void
fill_columns(const pe_serial *s, pe_period_question *question)
{
	pe_column  *columns = palloc0((1 + PE_MAX_ATTRIBUTES + PE_MAX_NUMBERS) * sizeof(*columns));

	question->taken = question->period + 1 - pe_continual_since(&s->time, question->period);
	pe_periods_column(&s->periods, pe_continual_reads_since(&s->time, &s->presence, question->period),
					  question->period, &columns[0]);
	question->columns = columns;
	s->kind->ask(s, question, columns);
}

void
pe_serial_refuse_rehearsal(void)
{
	pe_refuse_rehearsal("a series is", "Rehearse one of its reports by dp.histogram or dp.aggregate; "
						"reports that are stored are still returned.");
}

/* Inside PE_UNDONE, which gives the lock back. */
static void
measure_period(pe_serial *s, int period, pe_charge_reply *reply)
{
	pe_series_request series = {.id = s->series->id, .period = period};
	pe_period_question question = {
		.dataset = s->asked->dataset, .presence = &s->presence, .period = period
	};

	pe_series_lock(s->series, period);
	reply->outcome = PE_REPLAYED;
	if (pe_series_stored(&series, reply))
		return;
	if (pe_settings_rehearse())
		pe_serial_refuse_rehearsal();
	pe_serial_check_open(s);
	check_time(s);
	plan_period(s, &series);
	fill_columns(s, &question);
	question.plan = s->asked->plan;
	question.charge = &s->asked->charge;
	pe_door_measure_period(&question, reply);
}

static void
measure_undone(pe_serial *s, int period, pe_charge_reply *reply)
{
	PE_UNDONE();
	measure_period(s, period, reply);
	PE_END_UNDONE();
}

/* Of an attempt beyond the free ones. */
static void
tell_cost(const pe_serial *s, const pe_charge_reply *reply)
{
	double		rho;

	if (!reply->costs)
		return;
	rho = pe_cost_amount(pe_plan_cost(s->asked->plan)).rho_nano * 1e-9;
	if (reply->outcome == PE_REFUSED)
		ereport(ERROR,
				(errcode(ERRCODE_PE_BUDGET_EXCEEDED),
				 errmsg("too little of the budget that paid for series \"%s\" is left, or of the dataset's cap",
						s->series->name),
				 errdetail("Three attempts at the period were begun and nothing was stored. One more costs rho %.9g.",
						   rho),
				 errhint("The owner of the table can raise the budget with dp.grant_budget.")));
	ereport(NOTICE,
			(errmsg("charged rho %.9g on dataset \"%s\": three attempts at the period were begun and "
					"nothing was stored", rho, s->asked->dataset->name)));
}

int64 *
pe_serial_measure(pe_serial *s, int period)
{
	pe_charge_reply reply = {0};

	PE_ACTIVE();
	pe_asked_show(s->asked);
	measure_undone(s, period, &reply);
	PE_END_ACTIVE();
	tell_cost(s, &reply);
	if (reply.values != s->kind->values(s))
		pe_serial_refuse_damaged(s);
	return reply.value;
}

/*
 * advise.c
 *	  dp.advise: what answers of a certain precision would cost.
 *
 * The caller guesses how many rows are in each group; everything else is
 * public.  No row is read, nothing is charged.  Errors fall as the cost grows,
 * so the least cost is found by bisection.  It is reported as an epsilon of
 * three digits, rounded up, and as the rho that a request of this epsilon is
 * charged.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "ask/ask_sums.h"
#include "server/arguments.h"
#include "ask/ask_counts.h"
#include "server/return_rows.h"
#include "server/access.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_advise);

enum
{
	ARG_DATASET, ARG_AGGREGATES, ARG_BY, ARG_PREDICATE, ARG_GUESS, ARG_BUDGET
};

/* The standard errors that are reported, relative to the guess. */
static const double precisions[] = {0.01, 0.05, 0.1};

/* The precision at which ways to count are compared. */
#define COMPARED 0.05

/* The least cost is found up to this, relative to it. */
#define SEARCHED 2e-3

/* Nano-units of a whole unit of rho or epsilon. */
#define WHOLE INT64_C(1000000000)

typedef struct advice
{
	const char *question;
	double		precision;
	double		epsilon;		/* NaN: there is no such cost */
	double		rho;			/* NaN of a pure mechanism */
	bool		has_budget;
	bool		fits;
	const char *hint;
} advice;

/* A call. */
typedef struct call
{
	pe_request	request;		/* as it was asked */
	double		guess;
	int			count;
	advice	   *row;
} call;

/* ------------------------------------------------------------------
 * The least cost
 * ------------------------------------------------------------------
 */

static int64
most_nano(const pe_aggregation *g)
{
	return (int64) (g->asked.ask.accounting == PE_PURE ? PE_EPSILON_MAX * 1e9 : 9e18);
}

/* The largest error of some aggregates, relative to the guess, at this cost; infinite where it is unknown. */
static double
error_at(pe_aggregation *g, double guess, int64 nano)
{
	double		error[PE_MAX_AGGREGATES];
	double		most = 0;

	pe_aggregation_relative_errors(g, guess, nano, error);
	for (int i = 0; i < g->aggregates; i++)
		most = isnan(error[i]) ? INFINITY : fmax(most, error[i]);
	return most;
}

/* Where errors are in proportion to the noise, as nearly all are, this is the least cost. */
static double
guessed_nano(pe_aggregation *g, double guess, double precision)
{
	double		ratio = error_at(g, guess, WHOLE) / precision;

	if (isinf(ratio))
		return 1e9;
	return 1e9 * (g->asked.ask.accounting == PE_PURE ? ratio : ratio * ratio);
}

/* The least cost at which the error is at most precision; 0 if there is none. */
static int64
least_nano(pe_aggregation *g, double guess, double precision)
{
	double		most = (double) most_nano(g);
	double		start = fmin(guessed_nano(g, guess, precision), most);
	double		enough = fmax(start * (1 + SEARCHED / 2), 1);
	double		little = start * (1 - SEARCHED / 2);

	for (double step = 2; enough <= most && error_at(g, guess, (int64) enough) > precision; step *= step)
	{
		little = enough;
		enough *= step;
	}
	if (enough > most)
		return 0;
	for (double step = 2; little >= 1 && error_at(g, guess, (int64) little) <= precision; step *= step)
	{
		enough = little;
		little /= step;
	}
	while (enough - little > SEARCHED * enough && enough > 1)
	{
		double		middle = floor((enough + little) / 2);

		if (middle < 1 || middle <= little)
			break;
		if (error_at(g, guess, (int64) middle) <= precision)
			enough = middle;
		else
			little = middle;
	}
	return (int64) ceil(enough);
}

/* Three digits, rounded up. */
static double
rounded_up(double value)
{
	double		scale = pow(10, 2 - floor(log10(value)));
	double		rounded = ceil(value * scale - 1e-9) / scale;

	return strtod(psprintf("%.3g", rounded), NULL);
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static advice *
add_row(call *c, const char *question, double precision)
{
	advice	   *row = &c->row[c->count++];

	*row = (advice) {.question = question, .precision = precision, .epsilon = NAN, .rho = NAN};
	return row;
}

static const char *
with_left(const char *hint, const pe_asked *asked, const advice *row)
{
	if (!row->has_budget || row->fits)
		return hint;
	return psprintf("%s; epsilon %s is left", hint, pe_text_rounded_down(pe_budget_epsilon_left(asked->budget)));
}

static void
put_price(advice *row, const pe_asked *asked)
{
	double		left;

	row->epsilon = pe_plan_epsilon(asked->plan);
	if (asked->ask.accounting != PE_PURE)
		row->rho = pe_cost_amount(pe_plan_cost(asked->plan)).rho_nano / 1e9;
	row->has_budget = asked->budget != NULL;
	row->fits = pe_asked_fits(asked, false, &left);
}

/* Prices a request of this cost, and then one of the epsilon that it is, rounded up. */
static void
price(pe_aggregation *g, pe_request *request, int64 nano, advice *row)
{
	bool		pure = g->asked.ask.accounting == PE_PURE;
	double		epsilon;

	request->epsilon = pure ? nano / 1e9 : NAN;
	request->rho = pure ? NAN : nano / 1e9;
	pe_aggregation_price(g);
	epsilon = rounded_up(pe_plan_epsilon(g->asked.plan));
	if (!(epsilon <= PE_EPSILON_MAX))
		return;
	request->epsilon = epsilon;
	request->rho = NAN;
	pe_aggregation_price(g);
	put_price(row, &g->asked);
	row->epsilon = epsilon;
}

/* Three digits, or all in front of the point. */
static char *
figure(double value)
{
	return psprintf(fabs(value) >= 999.5 && fabs(value) < 1e15 ? "%.0f" : "%.3g", value);
}

/* What the error is at this cost, as a hint. */
static const char *
hint_of(pe_aggregation *g, double guess, double precision, int64 nano)
{
	double		error;
	double		relative;

	if (g->aggregates > 1)
		return "together in one request, for one charge";
	if (g->aggregate[0].kind == PE_AGG_QUANTILE)
		return psprintf("standard error of its rank %s, of %s rows in a group",
						figure(precision * guess), figure(guess));
	pe_aggregation_errors(g, guess, nano, &error);
	pe_aggregation_relative_errors(g, guess, nano, &relative);
	return psprintf("standard error %s, of %s in a group",
					figure(precision * error / relative), figure(error / relative));
}

/* Rows for aggregates of one request. */
static void
advise(call *c, const char *question, pe_aggregation *g, pe_request *request)
{
	if (g->on_grid)
	{
		advice	   *row = add_row(c, question, NAN);

		row->hint = "chosen on a grid between the bounds: its error depends on the rows";
		return;
	}
	for (int i = 0; i < lengthof(precisions); i++)
	{
		advice	   *row = add_row(c, question, precisions[i]);
		int64		nano = least_nano(g, c->guess, precisions[i]);

		if (nano > 0)
			price(g, request, nano, row);
		row->hint = isnan(row->epsilon) ? "no cost is enough: guess more rows, or ask for coarser groups"
			: with_left(hint_of(g, c->guess, precisions[i], nano), &g->asked, row);
	}
}

/* Some of the aggregates of the call in a request of their own. */
static pe_aggregation *
aggregation_of(const call *c, pe_request *request, char **aggregate, int aggregates)
{
	pe_aggregation *g;

	*request = c->request;
	request->sums.aggregate = aggregate;
	request->sums.aggregates = aggregates;
	PE_UNDONE();
	g = pe_aggregation_validate(request, false);
	PE_END_UNDONE();
	pe_aggregation_measure(g);
	return g;
}

static void
advise_aggregates(call *c)
{
	const pe_request *asked = &c->request;
	pe_request *request = palloc((asked->sums.aggregates + 1) * sizeof(*request));

	for (int i = 0; i < asked->sums.aggregates; i++)
	{
		pe_aggregation *g = aggregation_of(c, &request[i], &asked->sums.aggregate[i], 1);

		advise(c, g->text[0], g, &request[i]);
	}
	if (asked->sums.aggregates > 1)
		advise(c, "all of them",
			   aggregation_of(c, &request[asked->sums.aggregates], asked->sums.aggregate, asked->sums.aggregates),
			   &request[asked->sums.aggregates]);
}

/* ------------------------------------------------------------------
 * Ways to count
 * ------------------------------------------------------------------
 */

/* prefix of one attribute, within the cells of the others. */
static const char *
prefixes(const pe_aggregation *g, int attribute)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int a = 0; a < g->groups; a++)
		appendStringInfo(&text, "%s%s(%s)", a > 0 ? " * " : "",
						 a == attribute ? "prefix" : "identity", quote_identifier(g->columns[a].name));
	return text.data;
}

/* A way to count, and how many groups there are in each of its counts, at least; with a predicate on average. */
typedef struct way
{
	const char *workload;
	double		groups;
} way;

/* The groups that the predicate leaves. */
static double
possible_groups(const pe_aggregation *g)
{
	const pe_space *s = &g->space[0];
	double		count = 0;

	for (int32 c = 0; c < s->domain->cells; c++)
		count += s->possible == NULL || s->possible[c];
	return count;
}

static int32
cells_of(const pe_aggregation *g, int attribute)
{
	return pe_attribute_cells(&g->columns[attribute].domain);
}

/* The cells of the largest table of k attributes. */
static double
largest_table(const pe_aggregation *g, int k)
{
	double		product = 1;
	uint32		taken = 0;

	for (int i = 0; i < k; i++)
	{
		int			best = -1;

		for (int a = 0; a < g->groups; a++)
			if ((taken >> a & 1) == 0 && (best < 0 || cells_of(g, a) > cells_of(g, best)))
				best = a;
		taken |= UINT32_C(1) << best;
		product *= cells_of(g, best);
	}
	return product;
}

/* At most PE_MAX_ATTRIBUTES + 2. */
static int
find_ways(const pe_aggregation *g, way *ways)
{
	int			count = 0;
	int			k = g->groups > 2 ? 2 : 1;

	ways[count++] = (way) {"identity", 1};
	if (g->groups > 1)
		ways[count++] = (way) {psprintf("marginals(%d)", k), fmax(possible_groups(g) / largest_table(g, k), 1)};
	for (int a = 0; a < g->groups; a++)
		if (g->columns[a].ordered && pe_type_has_bins(g->columns[a].type) &&
			pe_attribute_ordered_cells(&g->columns[a].domain) > 2)
			ways[count++] = (way) {prefixes(g, a), 1};
	return count;
}

static void
price_counts(pe_request *request, advice *row)
{
	pe_aggregation *g;

	PE_UNDONE();
	g = pe_aggregation_validate(request, false);
	PE_END_UNDONE();
	pe_aggregation_measure(g);
	pe_aggregation_price(g);
	put_price(row, &g->asked);
	row->epsilon = rounded_up(row->epsilon);
}

/*
 * The cost of a workload whose largest standard error is that of the compared
 * precision; then of its epsilon, rounded up.
 */
static void
advise_way(call *c, const way *w)
{
	pe_request *request = palloc(sizeof(*request));
	advice	   *row = add_row(c, psprintf("dp.measure, %s", w->workload), COMPARED);

	*request = c->request;
	request->kind = PE_ASK_COUNTS;
	memset(&request->counts, 0, sizeof(request->counts));
	request->workload = pstrdup(w->workload);
	request->method = "optimal";
	request->max_stderr = COMPARED * c->guess * w->groups;
	price_counts(request, row);
	request->max_stderr = NAN;
	request->epsilon = row->epsilon;
	if (row->epsilon <= PE_EPSILON_MAX)
		price_counts(request, row);
}

static const char *
compared(const call *c, const way *w, double epsilon, double least)
{
	double		rows = c->guess * w->groups;
	const char *place = epsilon == least ? "the cheapest" : psprintf("%.3g times the cheapest", epsilon / least);

	return psprintf("standard error %s, of counts of %s; %s", figure(COMPARED * rows), figure(rows), place);
}

static void
advise_ways(call *c, const pe_aggregation *g)
{
	way			ways[PE_MAX_ATTRIBUTES + 2];
	int			count = find_ways(g, ways);
	advice	   *row = c->row + c->count;
	double		least = INFINITY;

	if (count < 2)
		return;
	for (int i = 0; i < count; i++)
	{
		advise_way(c, &ways[i]);
		least = fmin(least, row[i].epsilon);
	}
	for (int i = 0; i < count; i++)
		row[i].hint = with_left(compared(c, &ways[i], row[i].epsilon, least), &g->asked, &row[i]);
}

/* Whether rows are counted, all of them. */
static bool
counts_rows(const pe_aggregation *g)
{
	for (int i = 0; i < g->aggregates; i++)
		if (g->aggregate[i].kind == PE_AGG_COUNT && g->aggregate[i].condition < 0)
			return true;
	return false;
}

/* ------------------------------------------------------------------
 * dp.advise
 * ------------------------------------------------------------------
 */

static void
read_arguments(FunctionCallInfo fcinfo, call *c)
{
	pe_request *request = &c->request;

	pe_request_init(request, PE_ASK_SUMS, "dp.aggregate");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->sums.aggregate = pe_names_argument(fcinfo, ARG_AGGREGATES, "aggregates",
												"an aggregate", &request->sums.aggregates);
	request->attribute = pe_names_argument(fcinfo, ARG_BY, "by", "an attribute of by", &request->attributes);
	request->predicate = pe_optional_text(fcinfo, ARG_PREDICATE);
	request->budget = pe_optional_name(fcinfo, ARG_BUDGET);
	c->guess = pe_float_argument(fcinfo, ARG_GUESS, "guess");
	if (!(c->guess > 0) || isinf(c->guess))
		pe_refuse_parameter("guess", pe_number_text(c->guess), "a finite number above 0");
}

static void
make_row(const void *argument, int32 i, Datum *values, bool *nulls)
{
	const advice *row = &((const call *) argument)->row[i];

	values[0] = CStringGetTextDatum(row->question);
	values[1] = Float8GetDatum(row->precision);
	nulls[1] = isnan(row->precision);
	values[2] = Float8GetDatum(row->epsilon);
	nulls[2] = isnan(row->epsilon);
	values[3] = Float8GetDatum(row->rho);
	nulls[3] = isnan(row->rho);
	values[4] = BoolGetDatum(row->fits);
	nulls[4] = !row->has_budget;
	values[5] = CStringGetTextDatum(row->hint);
}

/* It compares with counts of the same attributes by dp.histogram, which rolls none up. */
static void
refuse_roll_ups(const pe_aggregation *g)
{
	for (int i = 0; i < g->groups; i++)
		if (g->columns[i].roll_up != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("dp.advise does not take roll-ups"),
					 errdetail("Attribute \"%s\" is rolled up.", g->columns[i].name),
					 errhint("dp.quote_aggregate tells the price of aggregates of classes.")));
}

Datum
pe_sql_advise(PG_FUNCTION_ARGS)
{
	call		c = {0};
	pe_request	request;
	pe_aggregation *g;

	read_arguments(fcinfo, &c);
	g = aggregation_of(&c, &request, c.request.sums.aggregate, c.request.sums.aggregates);
	refuse_roll_ups(g);
	c.row = palloc((lengthof(precisions) * (c.request.sums.aggregates + 1) + PE_MAX_ATTRIBUTES + 2) * sizeof(advice));
	advise_aggregates(&c);
	if (counts_rows(g))
		advise_ways(&c, g);
	pe_return_rows(fcinfo, c.count, 6, make_row, &c);
	return (Datum) 0;
}

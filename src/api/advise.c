/*
 * advise.c
 *	  dp.advise: what answers of a certain precision would cost.
 *
 * The caller guesses how many rows are in each group; everything else is public.  No row is read, nothing is charged.
 * Errors fall as the cost grows, so the least cost is found by bisection.  It is told as an epsilon of three digits, rounded
 * up, and as the rho that a request of this epsilon is charged.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "api/aggregate.h"
#include "api/arguments.h"
#include "api/question.h"
#include "api/rows.h"
#include "server/access.h"

PG_FUNCTION_INFO_V1(pe_sql_advise);

enum
{
	ARG_DATASET, ARG_AGGREGATES, ARG_BY, ARG_PREDICATE, ARG_GUESS, ARG_BUDGET
};

/* The standard errors that are told, relative to the guess. */
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

/* What one aggregate is at the guess, as a hint. */
static const char *
hint_of(pe_aggregation *g, double guess, double precision)
{
	double		error;
	double		relative;

	if (g->aggregates > 1)
		return "together in one request, for one charge";
	if (g->aggregate[0].kind == PE_AGG_QUANTILE)
		return psprintf("standard error of its rank %.3g, of %.4g rows in a group", precision * guess, guess);
	pe_aggregation_errors(g, guess, WHOLE, &error);
	pe_aggregation_relative_errors(g, guess, WHOLE, &relative);
	return psprintf("standard error %.3g, of %.4g in a group", precision * error / relative, error / relative);
}

/* Rows for aggregates of one request. */
static void
advise(call *c, const char *question, pe_aggregation *g, pe_request *request)
{
	for (int i = 0; i < lengthof(precisions); i++)
	{
		advice	   *row = add_row(c, question, precisions[i]);
		int64		nano = least_nano(g, c->guess, precisions[i]);

		if (nano > 0)
			price(g, request, nano, row);
		row->hint = isnan(row->epsilon) ? "no cost is enough: guess more rows, or ask for coarser groups"
			: with_left(hint_of(g, c->guess, precisions[i]), &g->asked, row);
	}
}

/* Some of the aggregates of the call in a request of their own. */
static pe_aggregation *
aggregation_of(const call *c, pe_request *request, char **aggregate, int aggregates)
{
	pe_aggregation *g;

	*request = c->request;
	request->aggregate = aggregate;
	request->aggregates = aggregates;
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
	pe_request *request = palloc((asked->aggregates + 1) * sizeof(*request));

	for (int i = 0; i < asked->aggregates; i++)
	{
		pe_aggregation *g = aggregation_of(c, &request[i], &asked->aggregate[i], 1);

		advise(c, g->text[0], g, &request[i]);
	}
	if (asked->aggregates > 1)
		advise(c, "all of them", aggregation_of(c, &request[asked->aggregates], asked->aggregate, asked->aggregates), &request[asked->aggregates]);
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
		appendStringInfo(&text, "%s%s(%s)", a > 0 ? " * " : "", a == attribute ? "prefix" : "identity", quote_identifier(g->columns[a].name));
	return text.data;
}

/* Workloads of the counts, at most PE_MAX_ATTRIBUTES + 2. */
static int
workloads(const pe_aggregation *g, const char **text)
{
	int			count = 0;

	text[count++] = "identity";
	if (g->groups > 1)
		text[count++] = g->groups > 2 ? "marginals(2)" : "marginals(1)";
	for (int a = 0; a < g->groups; a++)
		if (g->columns[a].ordered && pe_attribute_ordered_cells(&g->columns[a].domain) > 2)
			text[count++] = prefixes(g, a);
	return count;
}

/* The cost of a workload whose largest standard error is that of the compared precision. */
static void
advise_workload(call *c, const char *workload)
{
	pe_request *request = palloc(sizeof(*request));
	advice	   *row = add_row(c, psprintf("dp.measure, workload %s", workload), COMPARED);
	pe_histogram *h;

	*request = c->request;
	request->workload = pstrdup(workload);
	request->method = "optimal";
	request->max_stderr = COMPARED * c->guess;
	PE_UNDONE();
	h = pe_histogram_validate(request, false);
	PE_END_UNDONE();
	pe_histogram_resolve(h);
	put_price(row, &h->asked);
	row->epsilon = rounded_up(row->epsilon);
}

static const char *
compared(double epsilon, double least)
{
	return epsilon == least ? "the cheapest of these for this error of a count" : psprintf("%.3g times the epsilon of the cheapest", epsilon / least);
}

static void
advise_workloads(call *c, const pe_aggregation *g)
{
	const char *workload[PE_MAX_ATTRIBUTES + 2];
	int			count = workloads(g, workload);
	int			first = c->count;
	double		least = INFINITY;

	if (count < 2)
		return;
	for (int i = 0; i < count; i++)
	{
		advise_workload(c, workload[i]);
		least = fmin(least, c->row[first + i].epsilon);
	}
	for (int i = first; i < c->count; i++)
		c->row[i].hint = with_left(compared(c->row[i].epsilon, least), &g->asked, &c->row[i]);
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

	pe_request_init(request, "dp.aggregate");
	request->dataset = pe_text_argument(fcinfo, ARG_DATASET, "dataset");
	request->aggregate = pe_names_argument(fcinfo, ARG_AGGREGATES, "aggregates", "an aggregate", &request->aggregates);
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
	values[2] = Float8GetDatum(row->epsilon);
	nulls[2] = isnan(row->epsilon);
	values[3] = Float8GetDatum(row->rho);
	nulls[3] = isnan(row->rho);
	values[4] = BoolGetDatum(row->fits);
	nulls[4] = !row->has_budget;
	values[5] = CStringGetTextDatum(row->hint);
}

Datum
pe_sql_advise(PG_FUNCTION_ARGS)
{
	call		c = {0};
	pe_request	request;
	pe_aggregation *g;

	read_arguments(fcinfo, &c);
	g = aggregation_of(&c, &request, c.request.aggregate, c.request.aggregates);
	c.row = palloc((lengthof(precisions) * (c.request.aggregates + 1) + PE_MAX_ATTRIBUTES + 2) * sizeof(advice));
	advise_aggregates(&c);
	if (counts_rows(g))
		advise_workloads(&c, g);
	pe_return_rows(fcinfo, c.count, 6, make_row, &c);
	return (Datum) 0;
}

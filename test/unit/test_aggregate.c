/*
 * test_aggregate.c
 *	  Aggregates: their language, the sums they need, gradients against numerical differentiation, and shares of the cost.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK set
 * there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts/aggregate.h"
#include "numbers.h"
#include "shim.h"

/* ------------------------------------------------------------------
 * The language
 * ------------------------------------------------------------------
 */

static const char *
where_of(const void *argument, int condition)
{
	(void) argument;
	return condition == 0 ? "a" : "b";
}

/* Conditions 0 and 1 are those of the aggregate, or of the parts of a ratio. */
static void
number_conditions(pe_aggregate *a)
{
	a->condition = a->where != NULL ? 0 : -1;
	for (int i = 0; i < 2 && a->part[i] != NULL; i++)
		a->part[i]->condition = a->part[i]->where != NULL ? i : -1;
}

static void
test_canonical(void **state)
{
	static const char *const texts[][2] = {
		{"count(*)", "count(*)"}, {"  COUNT ( * )  ", "count(*)"}, {"Count(x)", "count(x)"}, {"count(\"X y\")", "count(\"X y\")"}, {"count(person)", "count(*)"}, {"count(Person) where (a)", "count(*) where (a)"},
		{"count(distinct unit)", "count(distinct unit)"}, {"count(DISTINCT person)", "count(distinct unit)"},
		{"count(distinct \"unit\")", "count(distinct \"unit\")"}, {"count( distinct  x )", "count(distinct x)"}, {"count(\"distinct\")", "count(\"distinct\")"},
		{"sum(x)", "sum(x)"}, {"avg( X )", "avg(x)"}, {"var(x)", "var(x)"}, {"variance(x)", "var(x)"}, {"var_samp(x)", "var(x)"},
		{"stddev(x)", "stddev(x)"}, {"stddev_samp(x)", "stddev(x)"}, {"corr(x,y)", "corr(x, y)"}, {"regr_slope( y , x )", "regr_slope(y, x)"},
		{"median(x)", "quantile(x, 0.5)"}, {"quantile(x,.25)", "quantile(x, 0.25)"}, {"quantile(x, 5e-1)", "quantile(x, 0.5)"},
		{"dropped(5)", "dropped(5)"}, {"DROPPED ( 65535 ) as d", "dropped(65535)"}, {"dropped(1) where (a)", "dropped(1) where (a)"},
		{"share", "share"}, {"SHARE AS s", "share"}, {"sum(x) as \"The Sum\"", "sum(x)"},
		{"ratio(sum(x), count(*))", "ratio(sum(x), count(*))"}, {"ratio(count(x),count(distinct unit)) as r", "ratio(count(x), count(distinct unit))"},
		{"sum(x) where (a)", "sum(x) where (a)"}, {"share where(a)", "share where (a)"}, {"count(*) WHERE ( a ) as n", "count(*) where (a)"},
		{"ratio(count(*) where (a), count(*) where (b))", "ratio(count(*) where (a), count(*) where (b))"},
		{"ratio(count(*), sum(x) where (b))", "ratio(count(*), sum(x) where (b))"},
		{"sum(\"where\") where (a)", "sum(\"where\") where (a)"}, {"sum(\"as\") as \"as\"", "sum(\"as\")"},
	};

	(void) state;
	for (int i = 0; i < lengthof(texts); i++)
	{
		pe_aggregate a;
		pe_aggregate again;
		pe_text_error error;
		char	   *canonical;

		if (!pe_aggregate_parse(texts[i][0], "person", &a, &error))
			fail_msg("%s: %s", texts[i][0], error.message);
		number_conditions(&a);
		canonical = pe_aggregate_canonical(&a, where_of, NULL);
		assert_string_equal(canonical, texts[i][1]);
		/* it is its own form */
		assert_true(pe_aggregate_parse(canonical, NULL, &again, &error));
		assert_int_equal(again.kind, a.kind);
		assert_true(again.fraction == a.fraction);
		pe_aggregate_free(&again);
		pe_aggregate_free(&a);
		pe_free(canonical);
	}
}

/* What stands between the parentheses of where is left to the language of predicates. */
static void
test_where(void **state)
{
	static const char *const texts[][2] = {
		{"count(*) where (a = ')')", "a = ')'"}, {"count(*) where (\"b)\" or (c and (d)))", "\"b)\" or (c and (d))"},
		{"count(*) where (a = 'it''s (')", "a = 'it''s ('"}, {"count(*) where ()", ""}, {"sum(x) where ( a in ('(', '\"') ) as n", " a in ('(', '\"') "},
	};

	(void) state;
	for (int i = 0; i < lengthof(texts); i++)
	{
		pe_aggregate a;
		pe_text_error error;

		assert_true(pe_aggregate_parse(texts[i][0], NULL, &a, &error));
		assert_string_equal(a.where, texts[i][1]);
		assert_memory_equal(texts[i][0] + a.where_position, texts[i][1], strlen(texts[i][1]));
		pe_aggregate_free(&a);
	}
}

static void
test_errors(void **state)
{
	static const struct
	{
		const char *text;
		pe_text_status status;
		int			position;
	}			errors[] = {
		{"", PE_TEXT_SYNTAX, 0}, {"count", PE_TEXT_SYNTAX, 5}, {"count(", PE_TEXT_SYNTAX, 6}, {"count(*", PE_TEXT_SYNTAX, 7}, {"count()", PE_TEXT_SYNTAX, 6},
		{"sum(*)", PE_TEXT_SYNTAX, 4}, {"sum(x))", PE_TEXT_SYNTAX, 6}, {"total(x)", PE_TEXT_INVALID, 0}, {"where (x)", PE_TEXT_SYNTAX, 0},
		{"corr(x)", PE_TEXT_SYNTAX, 6}, {"corr(x, y, z)", PE_TEXT_SYNTAX, 9}, {"share(x)", PE_TEXT_SYNTAX, 5},
		{"dropped()", PE_TEXT_SYNTAX, 8}, {"dropped(0)", PE_TEXT_INVALID, 8}, {"dropped(-1)", PE_TEXT_SYNTAX, 8}, {"dropped(65536)", PE_TEXT_TOO_LARGE, 8},
		{"dropped(2, 3)", PE_TEXT_SYNTAX, 9}, {"dropped(x)", PE_TEXT_SYNTAX, 8}, {"ratio(dropped(1), count(*))", PE_TEXT_INVALID, 6},
		{"count(distinct x, y)", PE_TEXT_SYNTAX, 16}, {"count(distinct)", PE_TEXT_SYNTAX, 14},
		{"quantile(x)", PE_TEXT_SYNTAX, 10}, {"quantile(x, 0)", PE_TEXT_INVALID, 12}, {"quantile(x, 1)", PE_TEXT_INVALID, 12}, {"quantile(x, 2)", PE_TEXT_INVALID, 12},
		{"quantile(x, -.1)", PE_TEXT_INVALID, 12}, {"quantile(x, y)", PE_TEXT_SYNTAX, 12}, {"quantile(x, 1e-999)", PE_TEXT_INVALID, 12}, {"median(x, .5)", PE_TEXT_SYNTAX, 8},
		{"ratio(count(*))", PE_TEXT_SYNTAX, 14}, {"ratio(avg(x), count(*))", PE_TEXT_INVALID, 6}, {"ratio(count(*), share)", PE_TEXT_INVALID, 16},
		{"ratio(ratio(count(*), count(*)), count(*))", PE_TEXT_INVALID, 6}, {"ratio(count(*) as n, count(*))", PE_TEXT_SYNTAX, 15},
		{"ratio(count(*), count(*)) where (x)", PE_TEXT_INVALID, 31}, {"count(*) where x", PE_TEXT_SYNTAX, 15}, {"count(*) where (x", PE_TEXT_SYNTAX, 17},
		{"count(*) as n where (x)", PE_TEXT_SYNTAX, 14}, {"count(*) as", PE_TEXT_SYNTAX, 11}, {"count(*) count(*)", PE_TEXT_SYNTAX, 9},
	};

	(void) state;
	for (int i = 0; i < lengthof(errors); i++)
	{
		pe_aggregate a;
		pe_text_error error;

		if (pe_aggregate_parse(errors[i].text, "person", &a, &error))
			fail_msg("%s is accepted", errors[i].text);
		if (error.status != errors[i].status || error.position != errors[i].position || error.message[0] == 0)
			fail_msg("%s: %d at %d: %s", errors[i].text, error.status, error.position, error.message);
	}
}

/* No text, of pieces in any order, is read beyond its end or left half allocated (under the sanitizers). */
static void
test_any_text(void **state)
{
	static const char *const pieces[] = {
		"count(*)", "sum", "(", ")", "x", ",", " where (", " as ", "distinct ", "unit", "ratio(", "\"", "'", "0.5", "quantile(x, ", "share", "*", " ", "\xc3", "median(x)", "dropped", "7"
	};
	int			accepted = 0;

	(void) state;
	for (int i = 0; i < fewer(200000, 50); i++)
	{
		char		text[200] = "";
		char	   *exact;
		pe_aggregate a;
		pe_text_error error;

		for (int n = between(1, 9); n > 0; n--)
			strcat(text, pieces[random_below(lengthof(pieces))]);
		exact = pe_alloc(strlen(text) + 1, 1);
		memcpy(exact, text, strlen(text));
		if (pe_aggregate_parse(exact, "person", &a, &error))
		{
			accepted++;
			pe_aggregate_free(&a);
		}
		else
			assert_true(error.status != PE_TEXT_OK && error.position >= 0 && error.position <= (int) strlen(text));
		pe_free(exact);
	}
	assert_true(accepted > fewer(2000, 50) / 20);
}

/* ------------------------------------------------------------------
 * Requests: aggregates of numbers x, y, z
 * ------------------------------------------------------------------
 */

#define MOST_ASKED 8

typedef struct request
{
	int			aggregates;
	pe_aggregate aggregate[MOST_ASKED];
	pe_sums		sums;
	pe_sum		sum[PE_MAX_SUMS];
} request;

static void
resolve(request *r, pe_aggregate *a)
{
	for (int i = 0; i < 2; i++)
	{
		if (a->column[i] != NULL && a->kind != PE_AGG_COUNT && a->kind != PE_AGG_QUANTILE && a->kind != PE_AGG_DISTINCT)
			a->number[i] = a->column[i][0] - 'x';
		if (a->part[i] != NULL)
			resolve(r, a->part[i]);
	}
	if (a->kind == PE_AGG_DISTINCT && a->column[0][0] == 'o')
		a->open = strcmp(a->column[0], "other") == 0;
	else if (a->kind == PE_AGG_QUANTILE || a->kind == PE_AGG_DISTINCT)
		a->attribute = 1;
	if (a->where != NULL || (a->kind == PE_AGG_COUNT && a->column[0] != NULL))
		a->condition = a->where != NULL ? a->where[0] - 'a' : 9;
}

static pe_basis basis;			/* of what is asked; centred but where a test says otherwise */

/* texts end with NULL */
static void
ask(request *r, uint32_t always, int units, const char *const *texts)
{
	pe_text_error error;

	memset(r, 0, sizeof(*r));
	r->sums.sum = r->sum;
	r->sums.numbers = 3;
	assert_true(pe_number_init(&r->sums.number[0], 0, 100, true, true));
	assert_true(pe_number_init(&r->sums.number[1], -50, 50, true, true));
	assert_true(pe_number_init(&r->sums.number[2], 1000, 1100, true, false));
	for (; texts[r->aggregates] != NULL; r->aggregates++)
	{
		if (!pe_aggregate_parse(texts[r->aggregates], NULL, &r->aggregate[r->aggregates], &error))
			fail_msg("%s: %s", texts[r->aggregates], error.message);
		resolve(r, &r->aggregate[r->aggregates]);
	}
	assert_true(pe_aggregates_sums(r->aggregate, r->aggregates, always, units, basis, &r->sums));
}

#define ASK(r, always, units, ...) ask(r, always, units, (const char *const[]) {__VA_ARGS__, NULL})

static void
free_request(request *r)
{
	for (int i = 0; i < r->aggregates; i++)
		pe_aggregate_free(&r->aggregate[i]);
}

/* How many sums are of a kind. */
static int
sums_of(const request *r, pe_sum_kind kind)
{
	int			count = 0;

	for (int s = 0; s < r->sums.sums; s++)
		count += r->sum[s].kind == kind;
	return count;
}

static void
test_sums(void **state)
{
	request		r;

	(void) state;
	/* the same twice is one; the average needs what the sum does */
	ASK(&r, 7, 0, "count(*)", "count(*) as n", "sum(x)", "avg(x)", "ratio(sum(x), count(*))");
	assert_int_equal(r.sums.sums, 2);
	free_request(&r);
	/* where x can be absent its count is another */
	ASK(&r, 0, 0, "count(*)", "sum(x)", "avg(x)");
	assert_int_equal(r.sums.sums, 3);
	assert_true(r.sum[r.aggregate[1].sum[PE_USE_N]].needs == PE_HAS_NUMBER(0) && r.sum[r.aggregate[0].sum[PE_USE_N]].needs == 0);
	assert_true(r.sum[r.aggregate[1].sum[PE_USE_S]].needs == PE_HAS_NUMBER(0));
	free_request(&r);
	/* a correlation is of rows that have both */
	ASK(&r, 0, 0, "sum(x)", "corr(x, y)", "regr_slope(y, x)");
	assert_int_equal(sums_of(&r, PE_SUM_ONE), 2);
	assert_int_equal(sums_of(&r, PE_SUM_VALUE), 3);
	assert_int_equal(sums_of(&r, PE_SUM_SQUARE), 2);
	for (int s = 0; s < r.sums.sums; s++)
		if (s != r.aggregate[0].sum[PE_USE_N] && s != r.aggregate[0].sum[PE_USE_S])
			assert_true(r.sum[s].needs == (PE_HAS_NUMBER(0) | PE_HAS_NUMBER(1)));
	free_request(&r);
	/* where both are always there, sums of each are shared with others */
	ASK(&r, 3, 0, "sum(x)", "var(x)", "corr(x, y)", "avg(y)");
	assert_int_equal(sums_of(&r, PE_SUM_ONE), 1);
	assert_int_equal(sums_of(&r, PE_SUM_VALUE), 2);
	assert_int_equal(sums_of(&r, PE_SUM_SQUARE), 2);
	assert_int_equal(sums_of(&r, PE_SUM_PRODUCT), 1);
	free_request(&r);
	/* one of them can be absent */
	ASK(&r, 1, 0, "sum(x)", "corr(x, y)");
	assert_true(r.sum[r.aggregate[1].sum[PE_USE_S]].needs == (PE_HAS_NUMBER(0) | PE_HAS_NUMBER(1)));
	assert_true(r.sum[r.aggregate[1].sum[PE_USE_S2]].needs == PE_HAS_NUMBER(1));
	assert_true(r.sum[r.aggregate[1].sum[PE_USE_N]].needs == PE_HAS_NUMBER(1));
	free_request(&r);
	/* conditions tell sums apart */
	ASK(&r, 7, 0, "count(*)", "count(*) where (a)", "sum(x) where (a)", "avg(x) where (b)");
	assert_int_equal(sums_of(&r, PE_SUM_ONE), 3);
	assert_int_equal(sums_of(&r, PE_SUM_VALUE), 2);
	assert_true(r.sum[r.aggregate[2].sum[PE_USE_S]].needs == (PE_HAS_NUMBER(0) | PE_HAS_CONDITION(0)));
	free_request(&r);
	/* units are rows, or counted by themselves; ranks need the attribute */
	ASK(&r, 7, 0, "count(distinct unit)", "count(*)");
	assert_int_equal(r.sums.sums, 1);
	free_request(&r);
	ASK(&r, 7, 4, "count(distinct unit)", "count(*)", "median(x)");
	assert_int_equal(r.sums.sums, 3);
	assert_true(r.sum[0].kind == PE_SUM_UNITS && r.sum[0].most == 4);
	assert_true(r.sum[2].kind == PE_SUM_ONE && r.sum[2].needs == PE_HAS_ATTRIBUTE(1));
	free_request(&r);
	/* rows that the cut left out are told apart by how many of a unit are counted */
	ASK(&r, 7, 4, "dropped(3)", "count(*)", "dropped(4)", "dropped(3) as d", "dropped(3) where (a)");
	assert_int_equal(sums_of(&r, PE_SUM_LOST), 3);
	assert_true(r.sum[0].kind == PE_SUM_LOST && r.sum[0].most == 3 && r.aggregate[3].sum[PE_USE_N] == 0);
	free_request(&r);
	/* values are told apart by their attribute and the condition; "unit" is an attribute */
	ASK(&r, 7, 4, "count(distinct y)", "count(distinct unit)", "count(distinct y) as d", "count(distinct y) where (a)", "count(*)");
	assert_int_equal(sums_of(&r, PE_SUM_DISTINCT), 2);
	assert_int_equal(sums_of(&r, PE_SUM_UNITS), 1);
	assert_true(r.aggregate[0].sum[PE_USE_N] == r.aggregate[2].sum[PE_USE_N]);
	assert_true(r.sum[0].most == 0 && pe_sum_counted_attribute(&r.sum[0]) == 1);
	free_request(&r);
	/* those of open columns by their column, too */
	ASK(&r, 7, 4, "count(distinct open)", "count(distinct other)", "count(distinct open) as d", "count(distinct open) where (a)", "count(distinct y)");
	assert_true(sums_of(&r, PE_SUM_OPEN) == 3 && sums_of(&r, PE_SUM_DISTINCT) == 1);
	assert_true(r.aggregate[0].sum[PE_USE_N] == r.aggregate[2].sum[PE_USE_N]);
	assert_true(r.sum[0].a == 0 && r.sum[1].a == 1 && r.sum[0].needs == 0 && r.sum[2].needs != 0);
	free_request(&r);
}

/* How many sums of each kind aggregates need in a basis: x has a bound at 0, y and z have none. */
static void
test_bases(void **state)
{
	static const struct
	{
		pe_basis	basis;
		uint32_t	always;
		const char *text[5];
		int			ones;
		int			values;
		int			above;
		int			below;
		int			squares;
	}			cases[] = {
		{PE_BASIS_CENTRED, 7, {"sum(x)"}, 1, 1, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"sum(x)"}, 0, 0, 1, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"sum(x)", "sum(x) where (a)"}, 0, 0, 2, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"sum(x)", "sum(y)"}, 1, 2, 0, 0, 0},	/* the count is there for y */
		{PE_BASIS_ONE_SIDE, 0, {"sum(x)", "sum(y)"}, 1, 1, 1, 0, 0},	/* of other rows */
		{PE_BASIS_ONE_SIDE, 7, {"sum(x)", "count(*)"}, 1, 1, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"sum(x) where (a)", "count(*)"}, 2, 1, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 0, {"sum(x)", "count(*)"}, 1, 0, 1, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"ratio(sum(x), count(*))"}, 1, 1, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"sum(x)", "avg(x)"}, 1, 1, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"sum(x)", "var(x)"}, 1, 1, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"sum(x)", "share"}, 1, 1, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"avg(x)"}, 1, 1, 0, 0, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"sum(x)"}, 0, 0, 1, 0, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"avg(x)"}, 0, 0, 1, 1, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"sum(y)"}, 0, 0, 1, 1, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"avg(x)", "count(*)", "sum(x)"}, 0, 0, 1, 1, 0},
		{PE_BASIS_BOTH_SIDES, 0, {"avg(x)", "count(*)"}, 1, 0, 1, 1, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"avg(x)", "count(*) where (a)"}, 1, 0, 1, 1, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"ratio(sum(x), count(*))"}, 0, 0, 1, 1, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"avg(x)", "avg(y)", "count(*)"}, 0, 0, 2, 2, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"avg(x)", "avg(y)", "avg(z)"}, 1, 3, 0, 0, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"avg(x)", "share"}, 1, 1, 0, 0, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"avg(x)", "var(x)"}, 0, 0, 0, 0, 1},
		{PE_BASIS_BOTH_SIDES, 0, {"stddev_pop(y)", "sum(y)", "count(*) where (a)"}, 1, 0, 0, 0, 1},
		{PE_BASIS_BOTH_SIDES, 7, {"var(x)", "avg(y)", "count(*)"}, 0, 0, 1, 1, 1},
		{PE_BASIS_BOTH_SIDES, 7, {"var(x)", "var(y)", "var(z)"}, 1, 3, 0, 0, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"var(x)", "corr(x, y)"}, 1, 2, 0, 0, 0},
		{PE_BASIS_ONE_SIDE, 7, {"var(x)"}, 1, 1, 0, 0, 0},
		{PE_BASIS_BOTH_SIDES, 7, {"regr_avgy(x, y)"}, 1, 1, 0, 0, 0},
	};

	(void) state;
	for (int i = 0; i < lengthof(cases); i++)
	{
		request		r;

		basis = cases[i].basis;
		ask(&r, cases[i].always, 0, cases[i].text);
		if (sums_of(&r, PE_SUM_ONE) != cases[i].ones || sums_of(&r, PE_SUM_VALUE) != cases[i].values ||
			sums_of(&r, PE_SUM_ABOVE) != cases[i].above || sums_of(&r, PE_SUM_BELOW) != cases[i].below ||
			sums_of(&r, PE_SUM_ABOVE_SQUARE) != cases[i].squares || sums_of(&r, PE_SUM_BETWEEN) != cases[i].squares ||
			sums_of(&r, PE_SUM_BELOW_SQUARE) != cases[i].squares)
			fail_msg("case %d: %d, %d, %d, %d", i, sums_of(&r, PE_SUM_ONE), sums_of(&r, PE_SUM_VALUE), sums_of(&r, PE_SUM_ABOVE),
					 sums_of(&r, PE_SUM_BELOW));
		free_request(&r);
	}
	basis = PE_BASIS_CENTRED;
}

/* ------------------------------------------------------------------
 * Values and errors
 * ------------------------------------------------------------------
 */

static pe_error_law normal_law;

/* Rows as they are, and what SQL says of them: means, and sums about them. */
#define ROWS 500

typedef struct moments
{
	double		n, x, y, z;
	double		xx, yy, xy;
} moments;

static moments
moments_of(double x[ROWS][3])
{
	moments		m = {.n = ROWS};

	for (int i = 0; i < ROWS; i++)
	{
		m.x += x[i][0] / ROWS;
		m.y += x[i][1] / ROWS;
		m.z += x[i][2] / ROWS;
	}
	for (int i = 0; i < ROWS; i++)
	{
		m.xx += pow(x[i][0] - m.x, 2);
		m.yy += pow(x[i][1] - m.y, 2);
		m.xy += (x[i][0] - m.x) * (x[i][1] - m.y);
	}
	return m;
}

/* Half an interval in standard errors, where these are small: of one number, and of what divides by two squares. */
#define OF_ONE 1.96001
#define OF_TWO 2.24151

typedef struct exact
{
	const char *text;
	double		value;
	double		half;
} exact;

#define MOST_EXACT 32

static int
find_exact(double x[ROWS][3], exact *to)
{
	const moments m = moments_of(x);
	const exact all[] = {
		{"count(*)", m.n, OF_ONE}, {"sum(x)", m.n * m.x, OF_ONE}, {"sum(z)", m.n * m.z, OF_ONE}, {"avg(y)", m.y, OF_ONE},
		{"ratio(sum(z), sum(x))", m.z / m.x, OF_ONE},
		{"var(x)", m.xx / (m.n - 1), OF_ONE}, {"stddev(y)", sqrt(m.yy / (m.n - 1)), OF_ONE},
		{"var_pop(x)", m.xx / m.n, OF_ONE}, {"stddev_pop(y)", sqrt(m.yy / m.n), OF_ONE},
		{"covar_samp(x, y)", m.xy / (m.n - 1), OF_ONE}, {"covar_pop(y, x)", m.xy / m.n, OF_ONE},
		{"regr_count(y, x)", m.n, OF_ONE}, {"regr_avgx(y, x)", m.x, OF_ONE}, {"regr_avgy(y, x)", m.y, OF_ONE},
		{"corr(x, y)", m.xy / sqrt(m.xx * m.yy), OF_TWO}, {"regr_slope(y, x)", m.xy / m.xx, OF_ONE},
		{"regr_r2(y, x)", m.xy * m.xy / (m.xx * m.yy), OF_TWO},
		{"regr_intercept(y, x)", m.y - m.xy / m.xx * m.x, OF_ONE},
	};

	assert_true(lengthof(all) <= MOST_EXACT);
	memcpy(to, all, sizeof(all));
	return lengthof(all);
}

static void
add_up(const request *r, double x[ROWS][3], pe_sum_estimate *estimate)
{
	const uint64_t has = UINT64_MAX;
	const uint8_t counts = 1;

	for (int i = 0; i < ROWS; i++)
	{
		int32_t		u[3];

		for (int n = 0; n < 3; n++)
			assert_true(pe_number_place(&r->sums.number[n], x[i][n], &u[n]));
		for (int s = 0; s < r->sums.sums; s++)
		{
			int64_t		weight;

			pe_sum_weigh(&r->sums, &r->sum[s], u, 1, &has, &counts, 1, &weight);
			estimate[s].value += ldexp((double) weight, pe_sum_shift(&r->sums, &r->sum[s]));
		}
	}
}

/* The numerical gradient of the very function, with the same variances. */
static double
error_by_differences(const request *r, const pe_aggregate *a, const pe_sum_estimate *estimate)
{
	double		variance = 0;

	for (int s = 0; s < r->sums.sums; s++)
	{
		pe_sum_estimate there[16];
		double		step = 1e-4 * (1 + fabs(estimate[s].value));
		pe_quotient up;
		pe_quotient down;

		for (int i = 0; i < r->sums.sums; i++)
			there[i] = (pe_sum_estimate) {estimate[i].value, 0};
		there[s].value = estimate[s].value + step;
		pe_aggregate_answer_of(&r->sums, a, there, NULL, NULL, &normal_law, &up);
		there[s].value = estimate[s].value - step;
		pe_aggregate_answer_of(&r->sums, a, there, NULL, NULL, &normal_law, &down);
		variance += pow((up.estimate - down.estimate) / (2 * step), 2) * estimate[s].variance;
	}
	return sqrt(variance);
}

static void
check_value(const exact *e, double x[ROWS][3])
{
	request		r;
	pe_sum_estimate estimate[16] = {{0}};
	pe_quotient answer;
	double		by_differences;

	ask(&r, 7, 0, (const char *const[]) {e->text, NULL});
	assert_true(r.sums.sums <= 16);
	add_up(&r, x, estimate);
	for (int s = 0; s < r.sums.sums; s++)
		estimate[s].variance = uniform(.1, 4);
	pe_aggregate_answer_of(&r.sums, &r.aggregate[0], estimate, NULL, NULL, &normal_law, &answer);
	by_differences = error_by_differences(&r, &r.aggregate[0], estimate);
	if (!close_to(answer.estimate, e->value, strchr(e->text, 'z') != NULL ? 1e-5 : 1e-9))
		fail_msg("%s is %.12g, not %.12g", e->text, answer.estimate, e->value);
	if (!close_to(answer.stderr_, by_differences, 1e-4))
		fail_msg("the error of %s is %.12g, not %.12g", e->text, answer.stderr_, by_differences);
	if (!close_to(answer.upper - answer.lower, 2 * e->half * answer.stderr_, 1e-2))
		fail_msg("the interval of %s is %.12g long", e->text, answer.upper - answer.lower);
	free_request(&r);
}

static void
test_values(void **state)
{
	(void) state;
	for (int round = 0; round < fewer(50, 10); round++)
	{
		static double x[ROWS][3];
		exact		all[MOST_EXACT];
		int			asked;

		for (int i = 0; i < ROWS; i++)
		{
			x[i][0] = between(0, 100);
			x[i][1] = fmin(50, fmax(-50, rint(x[i][0] / 2 - 25 + between(-20, 20))));
			x[i][2] = uniform(1000, 1100);
		}
		asked = find_exact(x, all);
		for (int i = 0; i < asked; i++)
			for (basis = PE_BASIS_CENTRED; basis <= PE_BASIS_BOTH_SIDES; basis++)
				check_value(&all[i], x);
		basis = PE_BASIS_CENTRED;
	}
}

/* Unknown where a denominator is within 1.96 of its errors of 0, or a variance is not above 0; there is an interval all the same. */
static void
test_unknown(void **state)
{
	request		r;
	pe_quotient answer;
	pe_sum_estimate estimate[8] = {{0}};
	pe_sum_total total = {{100, 0}, 0};

	(void) state;
	ASK(&r, 7, 0, "avg(x)", "var(x)", "stddev(x)", "ratio(sum(x), count(*))", "share", "sum(x)", "count(*)");
	for (int known = 0; known < 2; known++)
	{
		estimate[0] = (pe_sum_estimate) {known ? 3 : 1.95, 1};
		estimate[1] = (pe_sum_estimate) {0, 1};
		estimate[2] = (pe_sum_estimate) {0, 1};
		total.estimate = (pe_sum_total) {{known ? 3 : 1.95, 1}, 0}.estimate;
		for (int i = 0; i < 7; i++)
		{
			pe_aggregate_answer_of(&r.sums, &r.aggregate[i], estimate, NULL, &total, &normal_law, &answer);
			assert_true(isnan(answer.estimate) == (!known && i < 5));
			assert_true(isnan(answer.stderr_) == isnan(answer.estimate));
			assert_true(isfinite(answer.upper) == !isnan(answer.estimate));
			assert_true(answer.lower <= answer.upper && (known || i > 4 || answer.lower == (i == 1 || i == 2 ? 0 : -INFINITY)));
		}
	}
	/* no rows, and nothing that is not known of them: nothing is divided by 0 */
	memset(estimate, 0, sizeof(estimate));
	memset(&total, 0, sizeof(total));
	for (int i = 0; i < 7; i++)
	{
		pe_aggregate_answer_of(&r.sums, &r.aggregate[i], estimate, NULL, &total, &normal_law, &answer);
		assert_true(isnan(answer.estimate) == (i < 5));
		assert_true(i < 5 || (answer.estimate == 0 && answer.stderr_ == 0));
	}
	/* one row has no variance, and where squares are too few there is none */
	estimate[0] = (pe_sum_estimate) {1, 1e-9};
	pe_aggregate_answer_of(&r.sums, &r.aggregate[1], estimate, NULL, NULL, &normal_law, &answer);
	assert_true(isnan(answer.estimate));
	estimate[0] = (pe_sum_estimate) {100, 1e-9};
	estimate[2].value = -100 * 100 * 100.5;
	pe_aggregate_answer_of(&r.sums, &r.aggregate[2], estimate, NULL, NULL, &normal_law, &answer);
	assert_true(isnan(answer.estimate) && answer.lower == 0 && answer.upper >= 0 && isfinite(answer.upper));
	free_request(&r);
	/* a correlation stays within [-1, 1] */
	ASK(&r, 7, 0, "corr(x, y)");
	estimate[r.aggregate[0].sum[PE_USE_N]] = (pe_sum_estimate) {1000, 1};
	estimate[r.aggregate[0].sum[PE_USE_S]] = estimate[r.aggregate[0].sum[PE_USE_S2]] = (pe_sum_estimate) {0, 1};
	estimate[r.aggregate[0].sum[PE_USE_Q]] = estimate[r.aggregate[0].sum[PE_USE_Q2]] = (pe_sum_estimate) {0, 1};
	estimate[r.aggregate[0].sum[PE_USE_P]] = (pe_sum_estimate) {1e9, 1};
	pe_aggregate_answer_of(&r.sums, &r.aggregate[0], estimate, NULL, NULL, &normal_law, &answer);
	assert_true(answer.estimate == 1 && answer.upper == 1);
	/* its square is at least 0, where the correlation may be on both sides of it */
	free_request(&r);
	ASK(&r, 7, 0, "regr_r2(x, y)");
	estimate[r.aggregate[0].sum[PE_USE_P]] = (pe_sum_estimate) {1e3, 1e10};
	pe_aggregate_answer_of(&r.sums, &r.aggregate[0], estimate, NULL, NULL, &normal_law, &answer);
	assert_true(answer.estimate > 0 && answer.lower == 0 && answer.upper > answer.estimate && answer.upper < 1);
	estimate[r.aggregate[0].sum[PE_USE_P]] = (pe_sum_estimate) {-1e6, 1};
	pe_aggregate_answer_of(&r.sums, &r.aggregate[0], estimate, NULL, NULL, &normal_law, &answer);
	assert_true(answer.lower > 0 && answer.lower < answer.estimate && answer.estimate < answer.upper);
	free_request(&r);
	ASK(&r, 7, 0, "corr(x, y)");
	/* little is known of the squares of y */
	estimate[r.aggregate[0].sum[PE_USE_Q2]].variance = 1e14;
	pe_aggregate_answer_of(&r.sums, &r.aggregate[0], estimate, NULL, NULL, &normal_law, &answer);
	assert_true(isnan(answer.estimate) && answer.lower == -1 && answer.upper == 1);
	free_request(&r);
}

/* share = N / T, which share their noise: C = [[v_N, c], [c, v_T]]. */
static void
test_share(void **state)
{
	request		r;
	pe_quotient answer;

	(void) state;
	ASK(&r, 7, 0, "share");
	for (int round = 0; round < 100; round++)
	{
		pe_sum_estimate n = {uniform(0, 1000), uniform(1, 9)};
		double		c = uniform(0, 1) * n.variance;
		pe_sum_total total = {{n.value + uniform(100, 2000), n.variance + uniform(1, 9)}, c};
		double		t = total.estimate.value;

		pe_aggregate_answer_of(&r.sums, &r.aggregate[0], &n, NULL, &total, &normal_law, &answer);
		assert_true(close_to(answer.estimate, n.value / t, 1e-12));
		assert_true(close_to(answer.stderr_ * answer.stderr_,
							 n.variance / (t * t) + n.value * n.value / pow(t, 4) * total.estimate.variance - 2 * n.value / pow(t, 3) * c, 1e-9));
	}
	free_request(&r);
}

/* ------------------------------------------------------------------
 * Shares
 * ------------------------------------------------------------------
 */

static double
share_of(const uint64_t *share, int s)
{
	return (double) share[s] / (double) PE_WHOLE_SHARE;
}

/* Variances of all sums for the whole share: the squared sensitivity at sensitivity 1 of counts, times scale^2. */
static void
find_shares(const request *r, pe_norm norm, double scale, double *variance, uint64_t *share)
{
	uint64_t	sum = 0;

	for (int s = 0; s < r->sums.sums; s++)
		variance[s] = pow((double) pe_sum_bound(&r->sums, &r->sum[s]) * ldexp(1, pe_sum_shift(&r->sums, &r->sum[s])) * scale, 2);
	pe_aggregates_share(&r->sums, r->aggregate, r->aggregates, norm, NULL, variance, share);
	for (int s = 0; s < r->sums.sums; s++)
		sum += share[s];
	assert_true(sum <= PE_WHOLE_SHARE);
	assert_true(sum > PE_WHOLE_SHARE / 10 * 9);
}

/* The error that an aggregate is told at shares. */
static double
error_at(const request *r, const pe_aggregate *a, pe_norm norm, const double *variance, const uint64_t *share, const double *value)
{
	pe_sum_estimate estimate[PE_MAX_SUMS];
	pe_quotient answer;

	for (int s = 0; s < r->sums.sums; s++)
	{
		double		l = share[s] > 0 ? share_of(share, s) : 1;

		estimate[s] = (pe_sum_estimate) {value[s], share[s] > 0 ? variance[s] / (norm == PE_L1 ? l * l : l) : 0};
	}
	pe_aggregate_answer_of(&r->sums, a, estimate, NULL, NULL, &normal_law, &answer);
	return answer.stderr_;
}

/* sum alone: |mid| : half, and the error of a direct measurement, sc max(|lower|, |upper|): 707, 354, 7778. */
static void
test_share_of_sum(void **state)
{
	static const struct
	{
		const char *text;
		double		mid;
		double		half;
		double		stderr_;
	}			sums[] = {{"sum(x)", 50, 50, 707.107}, {"sum(y)", 0, 50, 353.553}, {"sum(z)", 1050, 50, 7778.175}};

	(void) state;
	for (int i = 0; i < 3; i++)
	{
		request		r;
		double		variance[8];
		uint64_t	share[8];
		const double nothing[8] = {0};
		double		largest = fabs(sums[i].mid) + sums[i].half;

		ask(&r, 7, 0, (const char *const[]) {sums[i].text, NULL});
		find_shares(&r, PE_L2, sqrt(1 / .02), variance, share);
		assert_true(fabs(share_of(share, r.aggregate[0].sum[PE_USE_N]) - fabs(sums[i].mid) / largest) < 1e-9);
		assert_true(fabs(share_of(share, r.aggregate[0].sum[PE_USE_S]) - sums[i].half / largest) < 1e-9);
		assert_true(close_to(error_at(&r, &r.aggregate[0], PE_L2, variance, share, nothing), sums[i].stderr_, 1e-5));
		free_request(&r);
	}
}

/* avg: 1/3 : 2/3; 2000 rows of mean 50 are .2165 off at rho .01, whatever the middle is. */
static void
test_share_of_avg(void **state)
{
	static const char *const texts[] = {"avg(x)", "avg(y)", "avg(z)"};

	(void) state;
	for (int i = 0; i < 3; i++)
	{
		request		r;
		double		variance[8];
		uint64_t	share[8];
		double		value[8] = {0};

		ask(&r, 7, 0, (const char *const[]) {texts[i], NULL});
		find_shares(&r, PE_L2, sqrt(1 / .02), variance, share);
		assert_true(fabs(share_of(share, r.aggregate[0].sum[PE_USE_N]) - 1. / 3) < 1e-9);
		assert_true(fabs(share_of(share, r.aggregate[0].sum[PE_USE_S]) - 2. / 3) < 1e-9);
		value[r.aggregate[0].sum[PE_USE_N]] = 2000;
		assert_true(fabs(error_at(&r, &r.aggregate[0], PE_L2, variance, share, value) - .21651) < 1e-4);
		free_request(&r);
	}
}

/* The sum over the aggregates of variances, each relative to the least that it has alone, at the reference. */
static double
objective(const request *r, pe_norm norm, const double *variance, const uint64_t *share)
{
	pe_sum_estimate reference[PE_MAX_SUMS];
	double		value[PE_MAX_SUMS];
	double		sum = 0;

	pe_aggregates_reference(&r->sums, 1e6, reference);
	for (int s = 0; s < r->sums.sums; s++)
		value[s] = reference[s].value;
	for (int i = 0; i < r->aggregates; i++)
	{
		uint64_t	alone[PE_MAX_SUMS];

		pe_aggregates_share(&r->sums, &r->aggregate[i], 1, norm, NULL, variance, alone);
		sum += pow(error_at(r, &r->aggregate[i], norm, variance, share, value) / error_at(r, &r->aggregate[i], norm, variance, alone, value), 2);
	}
	return sum;
}

/* Rows that the cut left out have a sixteenth, and what is left is shared as if they were not asked for. */
static void
test_share_of_lost(void **state)
{
	request		r;
	request		other;
	double		variance[PE_MAX_SUMS];
	uint64_t	share[PE_MAX_SUMS];
	uint64_t	alone[PE_MAX_SUMS];

	(void) state;
	for (int n = 0; n < 2; n++)
	{
		pe_norm		norm = n == 0 ? PE_L2 : PE_L1;

		ASK(&other, 7, 4, "count(*)", "avg(x)");
		find_shares(&other, norm, 1, variance, alone);
		ASK(&r, 7, 4, "count(*)", "avg(x)", "dropped(3)", "dropped(7)");
		find_shares(&r, norm, 1, variance, share);
		for (int s = 0; s < r.sums.sums; s++)
			assert_true(fabs(share_of(share, s) - (s < 2 ? 15. / 16 * share_of(alone, s) : 1. / 32)) < 1e-9);
		free_request(&r);
		ASK(&r, 7, 4, "dropped(3)", "dropped(7)", "dropped(1)");
		find_shares(&r, norm, 1, variance, share);
		for (int s = 0; s < 3; s++)
			assert_true(fabs(share_of(share, s) - 1. / 3) < 1e-9);
		free_request(&r);
		free_request(&other);
	}
}

/* No other shares that add up to as much do better; no aggregate alone does better than in front of others. */
static void
test_shares(void **state)
{
	static const char *const texts[] = {"count(*)", "sum(x)", "avg(y)", "stddev(x)", "corr(x, y)", "ratio(sum(x), count(*))", "var(z)", "count(*) where (a)"};

	(void) state;
	for (int round = 0; round < fewer(200, 10); round++)
	{
		pe_norm		norm = round % 2 == 0 ? PE_L2 : PE_L1;
		const char *chosen[MOST_ASKED + 1] = {NULL};
		request		r;
		double		variance[PE_MAX_SUMS];
		uint64_t	share[PE_MAX_SUMS];
		double		best;

		for (int i = between(1, 4) - 1; i >= 0; i--)
			chosen[i] = texts[random_below(lengthof(texts))];
		ask(&r, round % 3 == 0 ? 0 : 7, 0, chosen);
		find_shares(&r, norm, uniform(.1, 10), variance, share);
		best = objective(&r, norm, variance, share);
		for (int other = 0; other < 20; other++)
		{
			uint64_t	moved[PE_MAX_SUMS];
			int			from = random_below(r.sums.sums);
			int			to = random_below(r.sums.sums);
			uint64_t	by = share[from] / (uint64_t) between(2, 100);

			memcpy(moved, share, sizeof(moved));
			if (share[from] == 0 || share[to] == 0)
				continue;
			moved[from] -= by;
			moved[to] += by;
			assert_true(objective(&r, norm, variance, moved) >= best * (1 - 1e-9));
		}
		free_request(&r);
	}
}

/* Bounds of any size get shares: only their proportions matter. */
static void
test_extreme_bounds(void **state)
{
	static const double sizes[] = {1e-250, 1e-100, 1, 1e100, 1e300};

	(void) state;
	for (int i = 0; i < lengthof(sizes); i++)
	{
		request		r;
		double		variance[8];
		uint64_t	share[8];

		ASK(&r, 7, 0, "sum(x)", "avg(x)");
		assert_true(pe_number_init(&r.sums.number[0], sizes[i] * .5, sizes[i], true, false));
		find_shares(&r, PE_L2, 1, variance, share);
		assert_true(share_of(share, 0) > .3 && share_of(share, 1) > .2);
		assert_true(isfinite(error_at(&r, &r.aggregate[0], PE_L2, variance, share, (const double[8]) {1000, 10})));
		free_request(&r);
	}
}

static int
reproducible(void **state)
{
	(void) state;
	pe_test_seed(20261124);
	normal_law = pe_error_law_of(false, .05);
	return 0;
}

/*
 * Counts of b and of not b are measured, all is both: of 10,000 rows, half of them in b, the rate errs by .0005, and by
 * .0011 if all were measured by itself with as much noise as b.
 */
static void
test_common_noise(void **state)
{
	static const double of_b[] = {1, 0, 0};
	static const double of_all[] = {1, 1, 0};
	request		r;
	pe_sum_estimate estimate[PE_MAX_SUMS] = {{0}};
	pe_sum_noise noise[PE_MAX_SUMS] = {{0}};
	pe_quotient answer;
	double		error = sqrt(50);
	int			b;
	int			all;

	(void) state;
	ASK(&r, 7, 0, "ratio(count(*) where (a), count(*))", "count(*)", "avg(x) where (a)");
	b = r.aggregate[0].part[0]->sum[PE_USE_N];
	all = r.aggregate[0].part[1]->sum[PE_USE_N];
	estimate[b] = (pe_sum_estimate) {5000, 50};
	estimate[all] = (pe_sum_estimate) {10000, 100};
	noise[b] = (pe_sum_noise) {of_b, 3, error, 0};
	noise[all] = (pe_sum_noise) {of_all, 3, error, 0};
	pe_aggregate_answer_of(&r.sums, &r.aggregate[0], estimate, noise, NULL, &normal_law, &answer);
	assert_true(answer.estimate == .5 && fabs(answer.stderr_ - .0005) < 1e-9);
	assert_true(fabs((answer.upper - answer.lower) / answer.stderr_ - 2 * 1.96) < 1e-3);
	/* what is of another source is independent */
	noise[all].source = 1;
	pe_aggregate_answer_of(&r.sums, &r.aggregate[0], estimate, noise, NULL, &normal_law, &answer);
	assert_true(fabs(answer.stderr_ - sqrt(50 + .25 * 100) / 10000) < 1e-9);
	noise[all].source = 0;
	pe_aggregate_answer_of(&r.sums, &r.aggregate[1], estimate, noise, NULL, &normal_law, &answer);
	assert_true(fabs(answer.stderr_ - 10) < 1e-9);
	/* an average's sum has noise of its own, which does not stand among the others */
	estimate[r.aggregate[2].sum[PE_USE_S]] = (pe_sum_estimate) {0, 2 * 50};
	pe_aggregate_answer_of(&r.sums, &r.aggregate[2], estimate, noise, NULL, &normal_law, &answer);
	assert_true(fabs(answer.stderr_ - .5 * sqrt(100) / 5000) < 1e-9);
	free_request(&r);
}

/* Sums that are measured together have one share, and add up to the whole with the others. */
static void
test_shares_together(void **state)
{
	request		r;
	double		variance[PE_MAX_SUMS];
	int			together[PE_MAX_SUMS];
	uint64_t	share[PE_MAX_SUMS];

	(void) state;
	ASK(&r, 7, 0, "count(*) where (a)", "count(*) where (b)", "sum(y)");
	for (int s = 0; s < r.sums.sums; s++)
	{
		variance[s] = 1;
		together[s] = r.sum[s].kind == PE_SUM_ONE ? 0 : s;
	}
	/* two counts and a sum that costs as much as each: the shares go with the roots of their costs */
	pe_aggregates_share(&r.sums, r.aggregate, r.aggregates, PE_L2, together, variance, share);
	for (int s = 1; s < r.sums.sums; s++)
		assert_true(r.sum[s].kind != PE_SUM_ONE || share[s] == share[0]);
	assert_true(fabs((double) share[0] / (double) share[r.aggregate[2].sum[PE_USE_S]] - sqrt(2)) < 1e-6);
	assert_true(share[0] + share[r.aggregate[2].sum[PE_USE_S]] <= PE_WHOLE_SHARE);
	assert_true(share[0] + share[r.aggregate[2].sum[PE_USE_S]] > PE_WHOLE_SHARE / 10 * 9);
	free_request(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_any_text),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_bases),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_share_of_sum),
		cmocka_unit_test(test_share_of_avg),
		cmocka_unit_test(test_share_of_lost),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_extreme_bounds),
		cmocka_unit_test(test_common_noise),
		cmocka_unit_test(test_shares_together),
	};

	return cmocka_run_group_tests(tests, reproducible, NULL);
}

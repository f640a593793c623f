/*
 * test_objpert.c
 *	  Objective perturbation: its accounting, the minimiser, and the law of what is
 *	  released.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fit/methods.h"
#include "accounting/conversion.h"
#include "glm/minimise.h"
#include "numbers.h"
#include "shim.h"
#include "statistics.h"
#include "fit_tables.h"
#include "allowance.h"

/* ----------
 * Accounting
 * ----------
 */

/* P[N(0, 1) > z] */
static double
tail(double z)
{
	return 0.5 * erfc(z / sqrt(2.0));
}

/* delta as math has it: E max(0, 1 - exp(a - |Z|)), Z ~ N(0, r^2), a = epsilon - c - r^2 / 2. */
static double
delta_by_formula(double epsilon, double log_det, double sigma)
{
	double		r = 1 / sigma;
	double		a = epsilon - log_det - r * r / 2;
	double		t = fmax(a, 0);

	return 2 * (tail(t / r) - exp(a + r * r / 2) * tail(t / r + r));
}

/* The same by Simpson's rule over 40 standard deviations. */
static double
delta_by_integral(double epsilon, double log_det, double sigma)
{
	const int	n = 40000;
	double		r = 1 / sigma;
	double		a = epsilon - log_det - r * r / 2;
	double		sum = 0;

	for (int i = 0; i <= n; i++)
	{
		double		z = 40.0 * i / n;
		double		h = fmax(0, -expm1(a - r * z));

		sum += (i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2) * h * exp(-z * z / 2);
	}
	return 2 * sum * 40.0 / n / 3 / sqrt(2 * M_PI);
}

static void
test_golden(void **state)
{
	const struct
	{
		double		epsilon;
		double		sigma;
		double		digits;
	}			golden[] = {{0.05, 101.5, 0.05}, {0.1, 52.3, 0.05}, {0.4, 13.8, 0.05}, {1.6, 3.7, 0.05}};

	(void) state;
	for (int i = 0; i < lengthof(golden); i++)
	{
		double		epsilon = golden[i].epsilon;
		double		sigma = pe_objpert_sigma(epsilon, 1e-8, 0.1 * epsilon, 1);

		print_message("epsilon %g: s/R %.4f\n", epsilon, sigma);
		assert_true(fabs(sigma - golden[i].sigma) <= golden[i].digits);
	}
}

/* It is the least sigma whose delta is small enough, by the formula and by its integral. */
static void
test_sigma(void **state)
{
	const double epsilons[] = {0.01, 0.2, 1, 5};
	const double deltas[] = {1e-4, 1e-9};

	(void) state;
	for (int i = 0; i < lengthof(epsilons); i++)
		for (int j = 0; j < lengthof(deltas); j++)
		{
			double		log_det = 0.2 * epsilons[i];
			double		sigma = pe_objpert_sigma(epsilons[i], deltas[j], log_det, 1);

			assert_true(delta_by_formula(epsilons[i], log_det, sigma) <= deltas[j] * (1 + 1e-9));
			assert_true(delta_by_formula(epsilons[i], log_det, sigma * 0.9999) > deltas[j]);
			assert_true(fabs(delta_by_integral(epsilons[i], log_det, sigma) / deltas[j] - 1) < 1e-4);
		}
}

static void
test_monotone(void **state)
{
	double		last = INFINITY;

	(void) state;
	for (double epsilon = 0.01; epsilon < 20; epsilon *= 1.3)
	{
		double		sigma = pe_objpert_sigma(epsilon, 1e-8, 0.1 * epsilon, 1);

		assert_true(sigma < last);
		assert_true(pe_objpert_sigma(epsilon, 1e-9, 0.1 * epsilon, 1) > sigma);
		assert_true(pe_objpert_sigma(epsilon, 1e-8, 0.2 * epsilon, 1) > sigma);
		assert_true(pe_objpert_sigma(epsilon, 1e-8, 0.1 * epsilon, 2) > sigma);
		last = sigma;
	}
	assert_true(isinf(pe_objpert_sigma(1, 1e-8, 1, 1)));
	assert_true(isinf(pe_objpert_sigma(1, 1e-8, 2, 1)));
}

static void
plan_of(table *t, double epsilon)
{
	t->problem.nano = pe_nano_rho_down(epsilon);
	t->problem.delta = 1e-8;
	assert_null(pe_fit_defaults(&t->problem));
	assert_true(pe_fit_plan_make(&t->problem));
}

/* The plan's noises together are what the theorem asks for, with what the regulariser costs counted. */
static void
check_plan(int32_t k, bool substitute, double l2, pe_model model)
{
	pe_amount	cost;
	table		t;
	pe_fit_plan *plan = &t.problem.plan;
	double		rows = substitute ? 2 * k : k;
	double		beta;
	double		log_det;
	double		both;

	table_init(&t, 5, 0, model, PE_FIT_OBJPERT);
	t.problem.max_rows = k;
	t.problem.substitute = substitute;
	t.problem.options.l2 = l2;
	plan_of(&t, 0.7);
	beta = 5.0 * (model == PE_MODEL_LOGISTIC ? 0.25 : 1);
	log_det = k * log1p(beta / plan->lambda);
	assert_true(log_det <= 0.07 * (1 + 1e-12));
	assert_true(plan->lambda >= l2);
	both = rows * rows / (plan->sigma * plan->sigma) + 4 / (plan->output * plan->output);
	assert_true(rows * 2 * delta_by_formula(0.7, log_det, 1 / sqrt(both)) / 2 <= 1e-8 * (1 + 1e-9));
	assert_true(rows * 2 * delta_by_formula(0.7, log_det, 0.999 / sqrt(both)) / 2 > 1e-8);
	cost = fit_cost(&t.problem);
	assert_int_equal(cost.rho_nano, pe_nano_rho_of_pure(PE_ZCDP, 700000000));
	assert_int_equal(cost.delta_atto, 10000000000);
	assert_int_equal(cost.epsilon_nano, 0);
	table_free(&t);
}

static void
test_plan(void **state)
{
	table		t;

	(void) state;
	check_plan(1, false, 0, PE_MODEL_LOGISTIC);
	check_plan(1, false, 0, PE_MODEL_SVM);
	check_plan(3, false, 0, PE_MODEL_LOGISTIC);
	check_plan(1, true, 0, PE_MODEL_SVM);
	check_plan(2, true, 1e4, PE_MODEL_LOGISTIC);

	/* refused: no delta, and an epsilon that asks for too much noise */
	table_init(&t, 2, 0, PE_MODEL_LOGISTIC, PE_FIT_OBJPERT);
	assert_null(pe_fit_defaults(&t.problem));
	t.problem.nano = 1000000000;
	t.problem.delta = 0;
	assert_false(pe_fit_plan_make(&t.problem));
	t.problem.delta = 1e-9;
	assert_true(pe_fit_plan_make(&t.problem));
	t.problem.nano = 1000;
	assert_false(pe_fit_plan_make(&t.problem));
	t.problem.nano = 1000000000;
	t.problem.model = PE_MODEL_LINEAR;
	assert_non_null(pe_fit_refusal(&t.problem));
	t.problem.model = PE_MODEL_LOGISTIC;
	assert_null(pe_fit_refusal(&t.problem));
	t.problem.accounting = PE_PURE;
	assert_non_null(pe_fit_refusal(&t.problem));
	table_free(&t);
}

/* ----------
 * The minimiser
 * ----------
 */
static void
check_minimum(table *t, double lambda, const double *b, const char *name)
{
	int32_t		n = t->shape.columns;
	double		radius = sqrt((double) t->problem.radius_sq) / PE_ONE;
	pe_smooth	f = {
		.source = &t->source,
		.loss = t->problem.model == PE_MODEL_LOGISTIC ? PE_LOSS_LOGISTIC : PE_LOSS_HUBER,
		.radius_sq = t->problem.radius_sq,
		.lambda = lambda,
		.linear = b,
	};
	long double at[TABLE_COLUMNS] = {0};
	long double expected[TABLE_COLUMNS];
	long double gradient[TABLE_COLUMNS];
	long double certified;
	pe_place	minimum;
	int32_t		iterations = pe_minimise(&f, 0x1p-16 * radius, 100, false, &minimum);

	certified = minimum.length + (long double) t->rows.rows * PE_PRECISE_ERROR * radius;
	for (int32_t j = 0; j < n; j++)
		at[j] = (long double) minimum.v[j] * ldexp(1, -minimum.scale);
	table_objective(t, at, lambda, b, gradient, NULL);
	assert_true(minimum.length <= 0x1p-16 * radius);
	assert_true(table_length(gradient, n) <= certified);

	table_minimise(t, lambda, b, expected);
	for (int32_t j = 0; j < n; j++)
		expected[j] -= at[j];
	print_message("%s: %d iterations, gradient %.3g (at most %.3g), distance %.3g (at most %.3g)\n", name, iterations,
				  (double) table_length(gradient, n), (double) certified,
				  (double) table_length(expected, n), (double) certified / lambda);
	/* what the test itself finds is as near as 1e-15 (1 + rows) / lambda */
	assert_true(table_length(expected, n) <= (certified + 1e-14L * (1 + (long double) t->rows.rows)) / lambda);
	pe_place_free(&minimum);
}

typedef void (*filler) (table *t);

static void
fill_nothing(table *t)
{
	(void) t;
}

static void
fill_one(table *t)
{
	const double x[TABLE_COLUMNS] = {1, -1, 0.5, 0.25};

	table_add(t, x, 2, 1);
}

static void
fill_one_class(table *t)
{
	const double truth[TABLE_COLUMNS] = {[4] = 50};

	table_fill(t, 300, truth);
}

static void
fill_separable(table *t)
{
	const double truth[TABLE_COLUMNS] = {1000, -700, 300};

	table_fill(t, 400, truth);
}

static void
fill_constant(table *t)
{
	for (int i = 0; i < 200; i++)
	{
		const double x[TABLE_COLUMNS] = {1, 1, 0, table_uniform() < 0.5 ? 1 : -1};

		table_add(t, x, 0, table_uniform() < 0.7);
	}
}

static void
fill_random(table *t)
{
	const double truth[TABLE_COLUMNS] = {2, -1, 0.5, 3, 0.3};

	table_fill(t, 1000, truth);
}

/* Rows so small that the weights become large. */
static void
fill_tiny(table *t)
{
	for (int i = 0; i < 600; i++)
	{
		double		sign = i % 2 == 0 ? 1 : -1;
		const double x[TABLE_COLUMNS] = {sign / PE_ONE, -sign * 3 / PE_ONE};

		table_add(t, x, -1, i % 2 == 0);
	}
}

static void
test_minimum(void **state)
{
	const struct
	{
		filler		fill;
		const char *name;
	}			cases[] = {
		{fill_nothing, "no rows"}, {fill_one, "one row"}, {fill_one_class, "one class"}, {fill_separable, "separable"},
		{fill_constant, "constant columns"}, {fill_random, "random"}, {fill_tiny, "tiny rows"},
	};
	const double lambdas[] = {500, 3, 0.01};

	(void) state;
	for (int i = 0; i < lengthof(cases); i++)
		for (int l = 0; l < lengthof(lambdas); l++)
			for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
			{
				table		t;
				double		b[TABLE_COLUMNS];
				char		name[80];

				table_init(&t, 5, 4, model, PE_FIT_OBJPERT);
				cases[i].fill(&t);
				for (int j = 0; j < TABLE_COLUMNS; j++)
					b[j] = 0.1 * lambdas[l] * table_normal();
				snprintf(name, sizeof(name), "%s, %s, lambda %g", cases[i].name,
						 model == PE_MODEL_SVM ? "hinge" : "logistic", lambdas[l]);
				check_minimum(&t, lambdas[l], b, name);
				check_minimum(&t, lambdas[l], NULL, name);
				table_free(&t);
			}
}

/* So many iterations and no fewer are made, and they do no harm. */
static void
test_iterations(void **state)
{
	table		t;
	pe_place	place;
	pe_smooth	f;

	(void) state;
	table_init(&t, 5, 4, PE_MODEL_LOGISTIC, PE_FIT_OBJPERT);
	fill_random(&t);
	f = (pe_smooth) {.source = &t.source, .loss = PE_LOSS_LOGISTIC, .radius_sq = t.problem.radius_sq, .lambda = 1};
	assert_int_equal(pe_minimise(&f, 1e-3, 25, true, &place), 25);
	assert_true(place.length <= 1e-3);
	pe_place_free(&place);
	assert_true(pe_minimise(&f, 1e-3, 25, false, &place) < 10);
	assert_true(place.length <= 1e-3);
	pe_place_free(&place);
	assert_int_equal(pe_minimise(&f, 0, 2, false, &place), 2);
	assert_true(place.length > 1e-3);
	pe_place_free(&place);
	table_free(&t);
}

/* A source that writes down the kinds of its passes. */
#define MOST_PASSES 400

typedef struct counting
{
	pe_source	source;
	pe_source  *inner;
	int			passes;
	char		kind[MOST_PASSES + 1];
} counting;

static void
run_and_count(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	counting   *c = (counting *) source;

	if (c->passes == MOST_PASSES)
		fail_msg("more than %d passes", MOST_PASSES);
	c->kind[c->passes++] = (char) ('a' + (int) pass->kind);
	c->inner->run(c->inner, pass, sums);
}

/* Fits, and tells the passes. */
static void
count_fit(table *t, counting *c, double *w)
{
	memset(c, 0, sizeof(*c));
	c->source = t->source;
	c->inner = &t->source;
	c->source.run = run_and_count;
	run_fit(pe_fit_objpert, &t->problem, &c->source, w);
	assert_int_equal(c->passes, pe_fit_passes(&t->problem));
}

/* How many iterations the search takes for a linear term of the plan; more than the public number fail. */
static int32_t
search(table *t, pe_source *source)
{
	double		radius = sqrt((double) t->problem.radius_sq) / PE_ONE;
	double		b[TABLE_COLUMNS];
	pe_smooth	f = {
		.source = source,
		.loss = t->problem.model == PE_MODEL_LOGISTIC ? PE_LOSS_LOGISTIC : PE_LOSS_HUBER,
		.radius_sq = t->problem.radius_sq,
		.lambda = t->problem.plan.lambda,
		.linear = b,
	};
	pe_place	place;
	int32_t		iterations;

	for (int32_t j = 0; j < t->shape.columns; j++)
		b[j] = t->problem.plan.sigma * radius * table_normal();
	iterations = pe_minimise(&f, 0x1p-16 * radius, (int32_t) t->problem.options.iterations, false, &place);
	if (!(place.length <= 0x1p-16 * radius))
		fail_msg("not certified after %d iterations", iterations);
	pe_place_free(&place);
	return iterations;
}

/*
 * It ends, whatever is asked for: much epsilon, all of which could go to a regulariser
 * that is next to nothing, and the largest of regularisers.  Rows are few and separable.
 */
static void
test_ends(void **state)
{
	const struct
	{
		double		epsilon;
		double		share;
		double		l2;
	}			cases[] = {{100, 0.999, 0}, {1e6, 0.1, 0}, {0.01, 0.001, 0}, {1, 0.1, 0x1p41}};
	double		truth[TABLE_COLUMNS] = {1000};

	(void) state;
	for (int i = 0; i < lengthof(cases); i++)
		for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
		{
			table		t;
			counting	c;
			double		w[TABLE_COLUMNS];

			table_init(&t, 21, 0, model, PE_FIT_OBJPERT);
			table_fill(&t, 300, truth);
			t.problem.options.share = cases[i].share;
			t.problem.options.l2 = cases[i].l2;
			plan_of(&t, cases[i].epsilon);
			assert_null(pe_fit_refusal(&t.problem));
			count_fit(&t, &c, w);
			print_message("epsilon %g, Lambda %g: %d iterations\n", cases[i].epsilon, t.problem.plan.lambda, search(&t, &t.source));
			table_free(&t);
		}
}

/* ----------
 * Passes: their number and kinds are public
 * ----------
 */

/* Fewer iterations than the public number are refused, more are not. */
static void
test_public_number(void **state)
{
	const double numbers[] = {1, 2, 16, 23, 24, 31, 32, 100};

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
		for (int i = 0; i < lengthof(numbers); i++)
		{
			table		t;
			const char *wrong;

			table_init(&t, 2, 0, model, PE_FIT_OBJPERT);
			t.problem.options.iterations = numbers[i];
			wrong = pe_fit_defaults(&t.problem);
			if (numbers[i] < (32))
				assert_true(wrong != NULL && strcmp(wrong, "iterations") == 0);
			else
				assert_null(wrong);
			table_free(&t);
		}
}

#define EDGE 0.7

/* Rows with one feature, which an edge separates. */
static void
add_separable(table *t, long rows, double edge)
{
	for (long i = 0; i < rows; i++)
	{
		double		x = 2 * table_uniform() - 1;

		table_add(t, &x, -1, x > edge);
	}
}

/* The passes of fits on rows and on one row more are the same, at options of any kind. */
static void
check_neighbours(pe_model model, long rows, double epsilon, double share, double iterations)
{
	const double far[1] = {-1};
	counting	c[2];

	for (int side = 0; side < 2; side++)
	{
		table		t;
		double		w[TABLE_COLUMNS];

		table_state = 5;
		table_init(&t, 2, 0, model, PE_FIT_OBJPERT);
		add_separable(&t, rows, EDGE);
		if (side == 1)
			table_add(&t, far, -1, 1);
		t.problem.options.share = share;
		t.problem.options.iterations = iterations;
		plan_of(&t, epsilon);
		count_fit(&t, &c[side], w);
		table_free(&t);
	}
	assert_int_equal(c[0].passes, c[1].passes);
	assert_string_equal(c[0].kind, c[1].kind);
}

static void
test_passes(void **state)
{
	const double epsilons[] = {0.001, 1, 100};
	const double shares[] = {NAN, 0.001, 0.9};
	const double iterations[] = {NAN, 35};

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
		for (int e = 0; e < lengthof(epsilons); e++)
			for (int s = 0; s < lengthof(shares); s++)
				for (int i = 0; i < lengthof(iterations); i++)
				{
					check_neighbours(model, 0, epsilons[e], shares[s], iterations[i]);
					check_neighbours(model, 500, epsilons[e], shares[s], iterations[i]);
				}
	check_neighbours(PE_MODEL_SVM, 20000, 10, NAN, NAN);
}

/* ----------
 * The search ends within the public number
 * ----------
 */

static void
check_separable(pe_model model, long rows, double edge, double epsilon)
{
	table		t;

	table_init(&t, 2, 0, model, PE_FIT_OBJPERT);
	add_separable(&t, rows, edge);
	plan_of(&t, epsilon);
	print_message("%s, %ld separable rows, edge %g, epsilon %g: %d of %g iterations\n", model == PE_MODEL_SVM ? "hinge" : "logistic",
				  rows, edge, epsilon, search(&t, &t.source), t.problem.options.iterations);
	table_free(&t);
}

/* OBJPERT_ROWS=1000000 in the environment: so many rows besides. */
static void
test_separable(void **state)
{
	const double epsilons[] = {0.1, 1, 10};
	const double edges[] = {0, EDGE, -0.9};
	const char *more = getenv("OBJPERT_ROWS");
	long		rows[] = {1000, 20000, 100000, more == NULL ? 0 : atol(more)};

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
		for (int r = 0; r < lengthof(rows); r++)
			for (int e = 0; e < lengthof(epsilons); e++)
				check_separable(model, rows[r], edges[e], epsilons[e]);
}

/* One of the ways to make it hard: scales apart, features alike, few that are not 0, one class. */
static void
add_hard(table *t, int kind, int columns)
{
	double		x[TABLE_COLUMNS] = {0};
	double		common = 2 * table_uniform() - 1;
	double		margin = 0;

	for (int j = 0; j + 1 < columns; j++)
	{
		double		sign = j % 2 == 0 ? 1 : -1;
		double		u = 2 * table_uniform() - 1;

		if (kind == 0)
			x[j] = u * pow(10, -3.0 * j / columns);
		else if (kind == 1)
			x[j] = 0.9 * common + 0.1 * u;
		else if (kind == 2)
			x[j] = fabs(u) < 0.02 ? (u > 0 ? 1 : -1) : 0;
		else
			x[j] = u;
		margin += sign * (kind == 0 ? u : x[j]) * (kind == 3 ? 0 : 100);
	}
	margin += kind == 2 ? -2 : kind == 3 ? -6 : 0;
	table_add(t, x, -1, table_uniform() < 1 / (1 + exp(-margin)));
}

static void
test_hard(void **state)
{
	const int	columns[] = {1, 2, 5, 20};
	int			most[2] = {0, 0};

	(void) state;
	table_state = 11;
	for (int i = 0; i < 160; i++)
	{
		pe_model	model = i % 2 == 0 ? PE_MODEL_LOGISTIC : PE_MODEL_SVM;
		int			rows = (int) exp(table_uniform() * log(10000));
		int			d = columns[i / 2 % 4];
		table		t;

		table_init(&t, d, 0, model, PE_FIT_OBJPERT);
		for (int r = 0; r < rows; r++)
			add_hard(&t, i / 8 % 4, d);
		for (double epsilon = 0.001; epsilon < 200; epsilon *= 10)
		{
			int			iterations;

			plan_of(&t, epsilon);
			iterations = search(&t, &t.source);
			if (iterations > most[model == PE_MODEL_SVM])
				most[model == PE_MODEL_SVM] = iterations;
		}
		table_free(&t);
	}
	print_message("at most %d iterations, and with a hinge %d\n", most[0], most[1]);
	/* there is room: what the number is for is never seen */
	assert_true(most[0] <= 12 && most[1] <= 16);
}

/* Rows with up to three features, each so many times. */
typedef struct pile
{
	int64_t		times;
	int32_t		feature[3];		/* of PE_ONE */
	int16_t		label;
} pile;

#define MOST_PILES 16

typedef struct piles
{
	pe_source	source;
	int			count;
	int64_t		times[MOST_PILES];
	table		one[MOST_PILES];
} piles;

static void
run_piles(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	piles	   *p = (piles *) source;
	size_t		count = pe_pass_sums(pass, source->shape);

	assert_true(count <= PE_MAX_CANDIDATES);
	memset(sums, 0, count * sizeof(*sums));
	for (int i = 0; i < p->count; i++)
	{
		pe_i128		row[PE_MAX_CANDIDATES];

		p->one[i].source.run(&p->one[i].source, pass, row);
		for (size_t j = 0; j < count; j++)
			sums[j] += p->times[i] * row[j];
	}
}

/* The most iterations over so many linear terms, with much epsilon. */
static int
search_piles(pe_model model, int columns, const pile *rows, int count, int draws)
{
	static piles p;
	table		t;
	int			most = 0;

	table_init(&t, columns, 0, model, PE_FIT_OBJPERT);
	plan_of(&t, 10);
	p = (piles) {.source = {.run = run_piles, .shape = &t.shape}, .count = count};
	for (int i = 0; i < count; i++)
	{
		double		x[3];

		for (int j = 0; j < 3; j++)
			x[j] = (double) rows[i].feature[j] / PE_ONE;
		p.times[i] = rows[i].times;
		table_init(&p.one[i], columns, 0, model, PE_FIT_OBJPERT);
		table_add(&p.one[i], x, -1, rows[i].label);
	}
	for (int i = 0; i < fewer(draws, 10); i++)
	{
		int32_t		iterations = search(&t, &p.source);

		most = iterations > most ? iterations : most;
	}
	for (int i = 0; i < count; i++)
		table_free(&p.one[i]);
	table_free(&t);
	return most;
}

/*
 * Many equal rows hold the minimum of a hinge nearer to a kink than a float tells: the second
 * derivative has to be that of the side on which the minimum is.
 */
static void
test_kink(void **state)
{
	const int64_t times[] = {1 << 20, 1 << 24, 1 << 28};

	(void) state;
	table_state = 23;
	for (int i = 0; i < lengthof(times); i++)
	{
		const pile	rows = {times[i], {-1010}, 1};
		int			most = search_piles(PE_MODEL_SVM, 2, &rows, 1, 2000);

		print_message("%lld equal rows: at most %d iterations\n", (long long) times[i], most);
		assert_true(most <= 16);
	}
}

/* Between two kinks a step was taken that made the gradient shorter and the function larger, and the next one led back. */
static void
test_round_trip(void **state)
{
	const pile	rows[] = {
		{155871, {0}, 1}, {22, {-16383}, 0}, {512, {1513}, 1}, {1, {-3}, 0}, {1, {-2725}, 1}, {3, {-397}, 1},
		{5, {-3546}, 0}, {38, {-6272}, 1}, {6, {1515}, 0}, {881743, {-1300}, 1}, {3, {0}, 1}, {26, {-3579}, 0},
		{256, {-2491}, 1}, {16, {-11}, 1}, {131072, {431}, 1}
	};

	(void) state;
	table_state = 29;
	assert_true(search_piles(PE_MODEL_SVM, 2, rows, lengthof(rows), 500) <= 20);
}

/* Along a line the slope stayed as it was up to a kink near its end, and secants crept there, a tenth of the way each. */
static void
test_creeping(void **state)
{
	const pile	rows[] = {
		{1024, {-6265, -983, -287}, 0}, {4987896, {5831, 13245, -2161}, 0}, {5931641, {97, 465, 16383}, 1},
		{32768, {0, -9698, -617}, 1}, {370727, {324, 1, 27}, 0}, {3, {3038, 0, -9091}, 1},
		{16777216, {-1027, -3644, 3738}, 1}, {1, {10198, 426, -12154}, 1}, {3444, {-12039, 6295, -10222}, 0},
		{1, {2, -2, 0}, 0}
	};
	int			most;

	(void) state;
	table_state = 37;
	most = search_piles(PE_MODEL_SVM, 4, rows, lengthof(rows), 500);
	print_message("a kink far along a line: at most %d iterations\n", most);
	assert_true(most <= 27);
}

/*
 * What a search for hard tables found: rows of many sizes pull at scales that are far apart.
 * Sixteen iterations were never enough for it.
 */
static void
test_scales(void **state)
{
	const pile	rows[] = {
		{1763487, {0, -31}, 1}, {13777, {-771, 2709}, 1}, {46340, {0, 0}, 1}, {16777216, {0, -15545}, 0},
		{45, {-147, 0}, 1}, {2435, {-15711, -28}, 1}, {1, {-1169, -7264}, 1}, {512, {-55, 39}, 1},
		{8192, {20, 0}, 1}, {3526975, {0, 132}, 1}, {128, {2257, -996}, 1}, {16777216, {0, -149}, 0},
		{2, {7699, 0}, 1}, {13777, {0, 0}, 1}, {9741, {-86, -34}, 0}, {46340, {0, 0}, 1}
	};
	int			most;

	(void) state;
	table_state = 31;
	most = search_piles(PE_MODEL_LOGISTIC, 3, rows, lengthof(rows), 1000);
	print_message("scales far apart: at most %d iterations\n", most);
	assert_true(most <= 28);
}

/* Newton's method sees a small lambda where there are no rows: the function is quadratic there. */
static void
test_small_lambda(void **state)
{
	const double b[TABLE_COLUMNS] = {1, -2, 3};
	table		t;
	pe_place	place;
	pe_smooth	f;

	(void) state;
	table_init(&t, 5, 4, PE_MODEL_LOGISTIC, PE_FIT_OBJPERT);
	f = (pe_smooth) {
		.source = &t.source, .loss = PE_LOSS_LOGISTIC, .radius_sq = t.problem.radius_sq, .lambda = 1e-14, .linear = b
	};
	/* a step is at most 4 times as long as the way so far: 1e14 is 5^20 */
	assert_true(pe_minimise(&f, 0x1p-16, 100, false, &place) <= 30);
	assert_true(place.length <= 0x1p-16);
	pe_place_free(&place);
	table_free(&t);
}

/* ----------
 * The law
 * ----------
 */

/*
 * With one column the minimiser falls with b: P[w <= t] = P[-b <= G(t)] = Phi(G(t) / s).
 * The noise on the output is too small to be seen.
 */
static void
check_one_column(pe_model model, int rows, long n, const char *name)
{
	table		t;
	long		seen[20] = {0};
	double		mass[20];

	table_init(&t, 1, 0, model, PE_FIT_OBJPERT);
	for (int i = 0; i < rows; i++)
		table_add(&t, NULL, -1, i % 4 == 0);
	plan_of(&t, 1.5);
	for (long i = 0; i < n; i++)
	{
		double		w;
		long double at;
		long double gradient;

		run_fit(pe_fit_objpert, &t.problem, &t.source, &w);
		at = w;
		table_objective(&t, &at, t.problem.plan.lambda, NULL, &gradient, NULL);
		seen[(int) fmin(19, floor(20 * normal_cdf((double) gradient / t.problem.plan.sigma)))]++;
	}
	for (int i = 0; i < 20; i++)
		mass[i] = 1.0 / 20;
	check_chi_square(name, seen, mass, 20, n);
	table_free(&t);
}

static void
test_law(void **state)
{
	(void) state;
	check_one_column(PE_MODEL_LOGISTIC, 0, scaled(4000), "no rows");
	check_one_column(PE_MODEL_LOGISTIC, 17, scaled(4000), "logistic, 17 rows");
	check_one_column(PE_MODEL_SVM, 17, scaled(4000), "hinge, 17 rows");
}

/*
 * A search that did not arrive: what is released is the answer of a table without rows,
 * N(0, (s / Lambda)^2) in each column.
 */
static void
test_not_certified(void **state)
{
	table		t;
	long		seen[20] = {0};
	double		mass[20];
	long		n = scaled(4000);
	double		radius;

	(void) state;
	table_init(&t, 2, 0, PE_MODEL_LOGISTIC, PE_FIT_OBJPERT);
	add_separable(&t, 300, EDGE);
	plan_of(&t, 1.5);
	/* no option allows this */
	t.problem.options.iterations = 1;
	radius = sqrt((double) t.problem.radius_sq) / PE_ONE;
	for (long i = 0; i < n; i++)
	{
		double		w[TABLE_COLUMNS];

		run_fit(pe_fit_objpert, &t.problem, &t.source, w);
		seen[(int) fmin(19, floor(20 * normal_cdf(w[0] * t.problem.plan.lambda / (t.problem.plan.sigma * radius))))]++;
	}
	for (int i = 0; i < 20; i++)
		mass[i] = 1.0 / 20;
	check_chi_square("a search that did not arrive", seen, mass, 20, n);
	table_free(&t);
}

/* With a regulariser so strong that the linear term moves nothing, the noise on the output is what is left. */
static void
test_output_noise(void **state)
{
	table		t;
	double		sum = 0;
	double		squares = 0;
	long		n = scaled(4000);
	double		sigma;

	(void) state;
	table_init(&t, 1, 0, PE_MODEL_LOGISTIC, PE_FIT_OBJPERT);
	plan_of(&t, 1);
	t.problem.plan.sigma = 1e-9;
	sigma = t.problem.plan.output * 1.125 * 0x1p-15 / t.problem.plan.lambda;
	for (long i = 0; i < n; i++)
	{
		double		w;

		run_fit(pe_fit_objpert, &t.problem, &t.source, &w);
		sum += w / sigma;
		squares += w * w / (sigma * sigma);
	}
	check_z("mean", sum / sqrt((double) n));
	check_z("variance", (squares - (double) n) / sqrt(2.0 * (double) n));
	table_free(&t);
}

/* ----------
 * A whole fit
 * ----------
 */
static void
test_fit(void **state)
{
	const double truth[TABLE_COLUMNS] = {2, -1, 0.5, 3, 0.3};
	long double best[TABLE_COLUMNS];

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
	{
		table		t;
		double		w[TABLE_COLUMNS];
		double		distance = 0;

		table_init(&t, 5, 4, model, PE_FIT_OBJPERT);
		table_fill(&t, 2000, truth);
		plan_of(&t, 4);
		run_fit(pe_fit_objpert, &t.problem, &t.source, w);
		table_minimise(&t, t.problem.plan.lambda, NULL, best);
		for (int32_t j = 0; j < t.shape.columns; j++)
			distance += (w[j] - (double) best[j]) * (w[j] - (double) best[j]);
		/* |w - best| <= |b| / Lambda plus the noise on the output */
		print_message("distance from the minimiser without noise %.4g\n", sqrt(distance));
		assert_true(sqrt(distance) < 20 * t.problem.plan.sigma * 3 / t.problem.plan.lambda);
		table_free(&t);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_sigma),
		cmocka_unit_test(test_monotone),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_minimum),
		cmocka_unit_test(test_iterations),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_public_number),
		cmocka_unit_test(test_passes),
		cmocka_unit_test(test_separable),
		cmocka_unit_test(test_hard),
		cmocka_unit_test(test_kink),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_creeping),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_small_lambda),
		cmocka_unit_test(test_law),
		cmocka_unit_test(test_not_certified),
		cmocka_unit_test(test_output_noise),
		cmocka_unit_test(test_fit),
	};

	return cmocka_run_group_tests_name("objpert", tests, NULL, NULL);
}

/*
 * test_blocks_symmetric.c
 *	  Blocks over a core and symmetric attributes: known optima, the objective and every
 *	  query's variance recomputed from the integers and held against the dense solver,
 *	  shares, predicates, what is not served.
 *
 * Random cases come from a fixed seed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <time.h>

#include "base/linalg.h"
#include "blocks/blocks.h"
#include "dense_optimum.h"
#include "numbers.h"
#include "reference_symmetric.h"
#include "shim.h"
#include "workloads.h"

#define WHOLE (UINT64_C(1) << PE_SHARE_BITS)

/* A problem from a text, and what is made of it. */
typedef struct fixture
{
	pe_shape	shape;
	pe_workload workload;
	pe_classes	classes;
	pe_strategy_problem problem;
	pe_blocks	blocks;
	double		lower;
	bool		served;
} fixture;

static void
begin(fixture *f, const pe_shape *shape, const char *source)
{
	const pe_workload *workload = &f->workload;
	pe_text_error error;

	memset(f, 0, sizeof(*f));
	f->shape = *shape;
	if (!pe_workload_parse(source, shape, &f->workload, &error))
		fail_msg("%s: %s", source, error.message);
	pe_classes_init(&workload, 1, &f->classes);
	f->problem = (pe_strategy_problem) {.workload = workload, .classes = &f->classes, .method = PE_METHOD_OPTIMAL, .gap = 1e-8};
}

static bool
make(fixture *f)
{
	f->served = pe_blocks_symmetric(&f->problem, &f->blocks, &f->lower);
	return f->served;
}

static void
end(fixture *f)
{
	if (f->served)
		pe_blocks_free(&f->blocks);
	pe_classes_free(&f->classes);
	pe_workload_free(&f->workload);
}

static void
add_attribute(pe_shape *shape, const char *name, int cells)
{
	if (cells == 0)
		return;
	shape->name[shape->attributes] = name;
	shape->cells[shape->attributes] = shape->ordered[shape->attributes] = cells;
	shape->attributes++;
}

/* The shape of a reference: the core stands between the others. */
static void
reference_shape(const pe_symmetric_reference *r, pe_shape *shape)
{
	static const char *const names[] = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"};
	const char *size = r->sizes;
	int			number = 0;

	memset(shape, 0, sizeof(*shape));
	while (*size != '\0')
	{
		add_attribute(shape, names[number++], (int) strtol(size, (char **) &size, 10));
		if (number == 1)
			add_attribute(shape, "core", r->core);
	}
	add_attribute(shape, "other", r->other);
}

/* ---- what is recomputed from the integers ---- */

/* A'A of an axis' matrix. */
static double *
square_of_matrix(const pe_axis *axis, int m)
{
	int			n = axis->cells;
	int			rows = pe_axis_rows(axis, m);
	double	   *a = matrix(rows, n);
	double	   *x = matrix(n, n);

	if (axis->matrix[m].centred)
		for (int i = 0; i < n * n; i++)
			a[i] = (i / n == i % n ? n : 0) - 1;
	else
		pe_strategy_matrix(&axis->matrix[m].strategy, a);	/* by rows */
	pe_la_gemm(false, true, n, n, rows, 1.0, a, n, a, n, 0.0, x, n);
	pe_free(a);
	return x;
}

/* W'W of a factor on an attribute, over the columns of the blocks; 11' if there is none. */
static double *
gram_on(const fixture *f, const pe_term *term, int attribute)
{
	const pe_factor *factor = pe_term_on(term, attribute);
	int			n = f->blocks.columns[attribute];
	double	   *g = matrix(n, n);
	int			queries = factor == NULL ? 1 : factor->queries;
	double	   *row = matrix(n, 1);

	for (int q = 0; q < queries; q++)
	{
		for (int cell = 0; cell < f->shape.cells[attribute]; cell++)
			if (f->blocks.column_of[attribute][cell] >= 0)
				row[f->blocks.column_of[attribute][cell]] = factor == NULL ? 1 : pe_factor_entry(factor, q, cell);
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++)
				g[i + j * n] += row[i] * row[j];
	}
	pe_free(row);
	return g;
}

/* k (x) g, both freed */
static double *
kronecker(double *k, int m, double *g, int n)
{
	double	   *to = matrix(m * n, m * n);

	for (int j = 0; j < m * n; j++)
		for (int i = 0; i < m * n; i++)
			to[i + j * m * n] = k[i / n + j / n * m] * g[i % n + j % n * n];
	pe_free(k);
	pe_free(g);
	return to;
}

static double *
one(void)
{
	double	   *g = matrix(1, 1);

	g[0] = 1.0;
	return g;
}

static double *
gram_of_core(const fixture *f, const pe_term *term)
{
	const pe_axis *axis = &f->blocks.axis[0];
	double	   *g = one();
	int			size = 1;

	for (int k = 0; k < axis->attributes; k++)
	{
		g = kronecker(g, size, gram_on(f, term, axis->attribute[k]), f->blocks.columns[axis->attribute[k]]);
		size *= f->blocks.columns[axis->attribute[k]];
	}
	return g;
}

/* The weighted sum of variances from factors: what blocks.h says of estimates. */
static double
objective_of(const fixture *f)
{
	const pe_blocks *blocks = &f->blocks;
	const pe_axis *axis = &blocks->axis[0];
	size_t		size = pe_la_square(axis->cells);
	double	  **inverse = pe_alloc((size_t) axis->matrices, sizeof(double *));
	double		sum = 0.0;

	for (int m = 0; m < axis->matrices; m++)
	{
		inverse[m] = square_of_matrix(axis, m);
		pseudo_inverse(axis->cells, inverse[m], 1e-11);
	}
	for (int32_t t = 0; t < f->workload.terms; t++)
	{
		const pe_term *term = &f->workload.term[t];
		double	   *g = gram_of_core(f, term);
		double	   *error = matrix(axis->matrices, 1);

		for (int m = 0; m < axis->matrices; m++)
			error[m] = pe_la_dot(size, g, inverse[m]);
		for (int32_t b = 0; b < blocks->blocks; b++)
		{
			double		part = error[pe_blocks_choice(blocks, b, 0)] * pe_blocks_relative_variance(blocks, b);

			for (int a = 1; a < blocks->axes; a++)
			{
				double		n = blocks->axis[a].cells;
				bool		asked = pe_term_on(term, blocks->axis[a].attribute[0]) != NULL;
				bool		there = pe_blocks_choice(blocks, b, a) >= 0;

				part *= there && asked ? (n - 1) / (n * n) : there ? 0 : asked ? 1 / n : 1;
			}
			sum += term->weight * term->weight * part;
		}
		pe_free(g);
		pe_free(error);
	}
	for (int m = 0; m < axis->matrices; m++)
		pe_free(inverse[m]);
	pe_free(inverse);
	return sum;
}

/* ---- known optima ---- */

/* The text with identity(core) by another name, so that the core is one. */
static void
rename_identity(const char *source, text *to)
{
	const char *found;

	to->size = 0;
	while ((found = strstr(source, "identity(core)")) != NULL)
	{
		add(to, "%.*swidth_range(core, 1)", (int) (found - source), source);
		source = found + strlen("identity(core)");
	}
	add(to, "%s", source);
}

static void
test_references(void **state)
{
	for (int k = 0; k < lengthof(pe_symmetric_references); k++)
	{
		const pe_symmetric_reference *r = &pe_symmetric_references[k];
		pe_shape	shape;
		text		source;
		fixture		f;
		double		objective;

		reference_shape(r, &shape);
		rename_identity(r->workload, &source);
		begin(&f, &shape, source.data);
		assert_int_equal(make(&f), strstr(source.data, "core") != NULL);
		if (f.served)
			objective = objective_of(&f);
		else
		{
			/* two of them do not ask for the core */
			pe_blocks_errors errors;

			assert_true(f.served = pe_blocks_marginals(&f.problem, &f.blocks, &f.lower));
			pe_blocks_error(&f.blocks, &f.workload, &errors);
			objective = errors.weighted_sum;
		}
		if (!close_to(f.lower, r->optimum, 1e-8) || !close_to(objective, r->optimum, 1e-7) || objective < f.lower * (1 - 1e-10))
			fail_msg("%s: %.12g <= %.12g <= %.12g", source.data, f.lower, r->optimum, objective);
		assert_true(pe_blocks_shares_hold(&f.blocks));
		end(&f);
	}
}

/* The last reference: five blocks, 85 x 2 x 5 x 2 cells. */
static void
test_time(void **state)
{
	const pe_symmetric_reference *r = &pe_symmetric_references[lengthof(pe_symmetric_references) - 1];
	clock_t		start;
	pe_shape	shape;
	fixture		f;
	double		objective;

	reference_shape(r, &shape);
	begin(&f, &shape, r->workload);
	f.problem.gap = 1e-6;
	start = clock();
	assert_true(make(&f));
	start = clock() - start;
	objective = objective_of(&f);
	assert_true(close_to(objective, 239285.053, 1e-6));
	assert_true(objective <= f.lower * (1 + 1e-6));
	assert_int_equal(f.blocks.blocks, 5);
	if (!quick() && start > CLOCKS_PER_SEC / 5)
		fail_msg("it takes %.3f s", (double) start / CLOCKS_PER_SEC);
	end(&f);
}

/* Large attributes leave fewer bits to the core: enough of them. */
static void
test_large(void **state)
{
	pe_shape	shape = {0};
	fixture		f;

	add_attribute(&shape, "core", 8);
	add_attribute(&shape, "a0", 100000);
	add_attribute(&shape, "a1", 70);
	add_attribute(&shape, "a2", 1000);
	begin(&f, &shape, "ranges(core; 0-3, 2-5)*identity(a0)*identity(a1) + all_range(core)*identity(a1)*identity(a2) + 1000*total");
	f.problem.gap = 1e-6;
	assert_true(make(&f));
	assert_true(objective_of(&f) <= f.lower * (1 + 1e-6));
	pe_blocks_free(&f.blocks);
	f.problem.gap = 1e-12;		/* the finest */
	assert_true(make(&f));
	pe_blocks_free(&f.blocks);
	f.problem.norm = PE_L1;
	assert_true(make(&f));
	end(&f);
}

/* ---- against the dense solver ---- */

/* The certificate, the objective, the columns, and the variance of each query. */
static void
compare_with_dense(const fixture *f)
{
	double		objective = compare_blocks(&f->workload, &f->blocks, f->lower, 1e-6);

	assert_true(close_to(objective, objective_of(f), 1e-9));
}

/* One or two core attributes and one to three others, 256 cells at most. */
static void
random_union(pe_shape *shape, text *source)
{
	static const char *const names[] = {"a0", "a1", "a2"};
	int			others = between(1, 3);
	int			cores = between(1, 2);
	int			terms = between(1, 4);

	memset(shape, 0, sizeof(*shape));
	for (int a = 0; a < others; a++)
		add_attribute(shape, names[a], between(1, 3));
	add_attribute(shape, "core", cores == 1 ? between(2, 9) : between(2, 3));
	if (cores == 2)
		add_attribute(shape, "other", between(2, 3));
	add_attribute(shape, "z", 1);
	source->size = 0;
	for (int t = 0; t < terms; t++)
	{
		add(source, "%s%d", t > 0 ? " + " : "", between(1, 3));
		for (int a = 0; a < shape->attributes - 1; a++)
			if (a >= others && (t == 0 || between(0, 3) > 0))
			{
				add(source, " * ");
				random_factor(source, shape, a);
			}
			else if (a < others && between(0, 1) > 0)
				add(source, " * identity(%s)", shape->name[a]);
		add(source, " * total(z)");
	}
}

static void
test_dense(void **state)
{
	int			served = 0;

	for (int k = fewer(60, 10); k > 0; k--)
	{
		pe_shape	shape;
		text		source;
		fixture		f;

		pe_test_seed(k);
		random_union(&shape, &source);
		begin(&f, &shape, source.data);
		f.problem.gap = 1e-12;
		if (make(&f))
		{
			compare_with_dense(&f);
			served++;
		}
		end(&f);
	}
	assert_true(quick() || served > 50);
}

/* Factors that differ in one number are not taken for one. */
static void
test_alike(void **state)
{
	static const char *const pairs[][2] = {
		{"ranges(core; 0-1, 2-2)", "ranges(core; 0-1, 2-3)"},
		{"matrix(core; {{1,2,0,1}})", "matrix(core; {{1,2,0,2}})"},
		{"width_range(core, 2)", "width_range(core, 3)"},
		{"prefix(core)", "identity(core)"},
		{"prefix(core)*prefix(other)", "prefix(core)"},
	};

	for (int k = 0; k < lengthof(pairs); k++)
	{
		pe_shape	shape = {0};
		text		source = {.size = 0};
		fixture		f;

		add_attribute(&shape, "a0", 3);
		add_attribute(&shape, "core", 4);
		add_attribute(&shape, "a1", 2);
		add_attribute(&shape, "other", 2);
		add(&source, "%s*identity(a0) + %s*identity(a1)", pairs[k][0], pairs[k][1]);
		begin(&f, &shape, source.data);
		f.problem.gap = 1e-12;
		assert_true(make(&f));
		assert_true(f.blocks.axis[0].matrices > 1);
		compare_with_dense(&f);
		end(&f);
	}
}

/* Conditions on single attributes, of the core and of another. */
static void
test_predicate(void **state)
{
	static const bool core[] = {false, true, true, false, true, true, true};
	static const bool other[] = {true, false, true, true};
	const bool *possible_of[PE_MAX_ATTRIBUTES] = {other, core};
	pe_shape	shape = {0};
	fixture		f;

	add_attribute(&shape, "a0", 4);
	add_attribute(&shape, "core", 7);
	add_attribute(&shape, "a1", 2);
	begin(&f, &shape, "all_range(core)*identity(a0) + prefix(core)*identity(a1) + 2*identity(a0)*identity(a1)");
	f.problem.gap = 1e-12;
	f.problem.possible_of = possible_of;
	assert_true(make(&f));
	assert_int_equal(f.blocks.axis[0].cells, 5);
	assert_int_equal(f.blocks.axis[1].cells, 3);
	compare_with_dense(&f);
	end(&f);
}

/* ---- shares ---- */

static uint64_t
sum_of_shares(const pe_blocks *blocks)
{
	uint64_t	sum = 0;

	for (int32_t b = 0; b < blocks->blocks; b++)
		sum += blocks->share[b];
	return sum;
}

static void
multiply_share(pe_blocks *blocks, int32_t b, double factor)
{
	blocks->share[b] = (uint64_t) ((double) blocks->share[b] * factor);
}

/* They sum to more than the whole, and to no more at any column; a thousandth more is too much. */
static void
test_shares(void **state)
{
	pe_shape	shape = {0};
	fixture		f;
	double		sum;

	add_attribute(&shape, "core", 12);
	add_attribute(&shape, "a0", 3);
	add_attribute(&shape, "a1", 2);
	begin(&f, &shape, "all_range(core)*identity(a0) + 2*prefix(core)*identity(a1) + identity(a0)*identity(a1) + identity(core)");
	assert_true(make(&f));
	sum = (double) sum_of_shares(&f.blocks) / (double) WHOLE;
	assert_true(sum > 1.16 && sum < 1.18);
	/* a0 and a1: the core is asked by its total alone, which is measured by ones */
	assert_true(pe_blocks_largest(&f.blocks, f.blocks.blocks - 1) == 3 * 2 * 2 * 1);
	assert_true(pe_blocks_shares_hold(&f.blocks));
	for (int32_t b = 0; b < f.blocks.blocks; b++)
		multiply_share(&f.blocks, b, 1.001);
	assert_false(pe_blocks_shares_hold(&f.blocks));
	end(&f);
}

/* Measuring the core's matrix for one part of the sensitivity, beside counting its columns. */
static double
beside_counts(const fixture *f)
{
	const pe_axis *axis = &f->blocks.axis[0];
	double	   *g = gram_of_core(f, &f->workload.term[0]);
	double	   *x = square_of_matrix(axis, 0);
	double		counts = 0.0;
	double		error;

	for (int j = 0; j < axis->cells; j++)
		counts += g[j + j * axis->cells];
	pseudo_inverse(axis->cells, x, 1e-11);
	error = pe_la_dot(pe_la_square(axis->cells), g, x) * pow((double) axis->matrix[0].largest, 2.0);
	pe_free(g);
	pe_free(x);
	return error / counts;
}

/* With columns of one norm the shares of L1 are the best: moving a part from one block to another costs. */
static void
test_l1(void **state)
{
	pe_shape	shape = {0};
	fixture		f;
	double		best;

	add_attribute(&shape, "core", 24);
	add_attribute(&shape, "a0", 3);
	add_attribute(&shape, "a1", 5);
	begin(&f, &shape, "2*prefix(core)*identity(a0) + all_range(core)*identity(a1) + prefix(core) + identity(a0)*identity(a1)");
	f.problem.norm = PE_L1;
	assert_true(make(&f));
	assert_true(f.lower == 0.0 && f.blocks.norm == PE_L1 && f.blocks.axis[0].matrices == 4);
	assert_true(pe_blocks_shares_hold(&f.blocks));
	assert_true((double) sum_of_shares(&f.blocks) > (1 - 1e-4) * (double) WHOLE);
	assert_true(beside_counts(&f) < 0.8);
	best = objective_of(&f);
	for (int32_t b = 0; b < f.blocks.blocks; b++)
		for (int sign = -1; sign <= 1; sign += 2)
		{
			uint64_t	before[8];
			double		factor = 1.0 + 0.01 * sign;
			double		left = (double) sum_of_shares(&f.blocks) - (double) f.blocks.share[b];

			memcpy(before, f.blocks.share, (size_t) f.blocks.blocks * sizeof(uint64_t));
			for (int32_t other = 0; other < f.blocks.blocks; other++)
				multiply_share(&f.blocks, other, other == b ? factor : 1.0 - 0.01 * sign * (double) before[b] / left);
			assert_true(objective_of(&f) > best);
			memcpy(f.blocks.share, before, (size_t) f.blocks.blocks * sizeof(uint64_t));
		}
	end(&f);
}

/* ---- what is not served ---- */

static bool
is_served(const pe_shape *shape, const char *source, pe_objective objective)
{
	fixture		f;
	bool		served;

	begin(&f, shape, source);
	f.problem.objective = objective;
	served = make(&f);
	assert_true(served == (pe_blocks_symmetric_memory(&f.problem) > 0));
	end(&f);
	return served;
}

static void
test_refusals(void **state)
{
	pe_shape	shape = {0};

	add_attribute(&shape, "core", 8);
	add_attribute(&shape, "a0", 3);
	add_attribute(&shape, "large", 4097);
	assert_true(is_served(&shape, "prefix(core)*identity(a0)", PE_SUM));
	assert_false(is_served(&shape, "prefix(core)*identity(a0)", PE_MAX));
	assert_false(is_served(&shape, "identity(core)*identity(a0) + total(core)", PE_SUM));
	assert_false(is_served(&shape, "prefix(large)*identity(a0)", PE_SUM));
	assert_false(is_served(&shape, "prefix(core)*width_range(large, 5)", PE_SUM));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_dense),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_predicate),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_l1),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

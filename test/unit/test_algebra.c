/*
 * test_algebra.c
 *	  The implicit algebra of workloads and their classes, against W written out.
 *
 * Random cases come from a fixed seed, so failures repeat.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "workload/algebra.h"
#include "shim.h"
#include "workloads.h"

typedef struct problem
{
	pe_shape	shape;
	text		source;
	pe_workload workload;
	pe_classes	classes;
	int32_t		cells;
	double	   *w;				/* queries x cells */
	int32_t    *class_of;		/* of each cell */
	int32_t    *first;			/* a cell of each class */
} problem;

static void
begin(problem *p)
{
	pe_text_error error;
	const pe_workload *workload = &p->workload;

	random_shape(&p->shape);
	random_workload(&p->source, &p->shape, true);
	if (!pe_workload_parse(p->source.data, &p->shape, &p->workload, &error))
		fail_msg("%s: %s", p->source.data, error.message);
	p->cells = pe_shape_cells(&p->shape);
	p->w = write_out(&p->workload);
	pe_classes_init(&workload, 1, &p->classes);
	p->class_of = pe_alloc(p->cells, sizeof(int32_t));
	p->first = pe_alloc(p->classes.cells, sizeof(int32_t));
	for (int32_t cell = p->cells - 1; cell >= 0; cell--)
	{
		p->class_of[cell] = pe_classes_of_cell(&p->classes, &p->shape, cell);
		p->first[p->class_of[cell]] = cell;
	}
}

static void
end(problem *p)
{
	pe_workload_free(&p->workload);
	pe_classes_free(&p->classes);
	pe_free(p->w);
	pe_free(p->class_of);
	pe_free(p->first);
}

/* The weight of a class in a query. */
static double
weight(const problem *p, int32_t query, int32_t class)
{
	return p->w[(size_t) query * p->cells + p->first[class]];
}

static double
random_number(void)
{
	return between(-1000, 1000) / 100.0;
}

static void
assert_near(const problem *p, const char *what, double got, double wanted)
{
	if (!(fabs(got - wanted) <= 1e-9 * (1 + fabs(wanted))))
		fail_msg("%s of %s: %.17g, not %.17g", what, p->source.data, got, wanted);
}

/* Cells of one class have the same weight in every query. */
static void
check_classes(const problem *p)
{
	for (int32_t cell = 0; cell < p->cells; cell++)
		for (int32_t q = 0; q < p->workload.queries; q++)
			if (p->w[(size_t) q * p->cells + cell] != weight(p, q, p->class_of[cell]))
				fail_msg("query %d of %s tells cells of a class apart", q, p->source.data);
}

static double *
term_weights(const problem *p)
{
	double	   *weights = pe_alloc(p->workload.queries, sizeof(double));
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	for (int32_t t = 0; t < p->workload.terms; t++)
		for (int64_t i = 0; i < p->workload.term[t].queries; i++)
			weights[pe_term_query(&p->workload.term[t], i, factor_query)] = p->workload.term[t].weight;
	return weights;
}

static void
check_gram(const problem *p, bool weighted)
{
	int32_t		n = p->classes.cells;
	double	   *gram = pe_alloc((size_t) n * n, sizeof(double));
	double	   *weights = term_weights(p);

	pe_workload_gram(&p->workload, &p->classes, weighted, gram);
	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j < n; j++)
		{
			double		sum = 0;

			for (int32_t q = 0; q < p->workload.queries; q++)
				sum += weight(p, q, i) * weight(p, q, j) * (weighted ? weights[q] * weights[q] : 1);
			if (weighted)
				assert_near(p, "weighted gram", gram[(size_t) i * n + j], sum);
			else if (gram[(size_t) i * n + j] != sum)
				fail_msg("gram of %s at %d %d: %g, not %g", p->source.data, i, j, gram[(size_t) i * n + j], sum);
		}
	pe_free(gram);
	pe_free(weights);
}

static void
check_apply(const problem *p)
{
	int32_t		n = p->classes.cells;
	double	   *x = pe_alloc(n, sizeof(double));
	double	   *answer = pe_alloc(p->workload.queries, sizeof(double));
	double	   *squares = pe_alloc(p->workload.queries, sizeof(double));

	for (int32_t c = 0; c < n; c++)
		x[c] = random_number();
	pe_workload_apply(&p->workload, &p->classes, x, answer);
	pe_workload_apply_squares(&p->workload, &p->classes, x, squares);
	for (int32_t q = 0; q < p->workload.queries; q++)
	{
		double		sum = 0;
		double		sum_squares = 0;

		for (int32_t c = 0; c < n; c++)
		{
			sum += weight(p, q, c) * x[c];
			sum_squares += weight(p, q, c) * weight(p, q, c) * x[c];
		}
		assert_near(p, "W x", answer[q], sum);
		assert_near(p, "squares", squares[q], sum_squares);
	}
	pe_free(x);
	pe_free(answer);
	pe_free(squares);
}

static void
check_quadratic(const problem *p)
{
	int32_t		n = p->classes.cells;
	double	   *q = pe_alloc((size_t) n * n, sizeof(double));
	double	   *answer = pe_alloc(p->workload.queries, sizeof(double));

	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j <= i; j++)
			q[(size_t) i * n + j] = q[(size_t) j * n + i] = random_number();
	pe_workload_quadratic(&p->workload, &p->classes, q, answer);
	for (int32_t k = 0; k < p->workload.queries; k++)
	{
		double		sum = 0;

		for (int32_t i = 0; i < n; i++)
			for (int32_t j = 0; j < n; j++)
				sum += weight(p, k, i) * q[(size_t) i * n + j] * weight(p, k, j);
		assert_near(p, "w'Q w", answer[k], sum);
	}
	pe_free(q);
	pe_free(answer);
}

static void
check_rows(const problem *p)
{
	int32_t    *row = pe_alloc(p->classes.cells, sizeof(int32_t));
	int32_t    *term = pe_alloc(p->workload.queries, sizeof(int32_t));
	int32_t    *local = pe_alloc(p->workload.queries, sizeof(int32_t));
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	pe_workload_index(&p->workload, term, local);
	for (int32_t q = 0; q < p->workload.queries; q++)
	{
		const pe_term *of = &p->workload.term[term[q]];

		assert_int_equal(pe_term_query(of, local[q], factor_query), q);
		pe_term_row(of, &p->classes, factor_query, row);
		for (int32_t c = 0; c < p->classes.cells; c++)
			if (row[c] != weight(p, q, c))
				fail_msg("row %d of %s", q, p->source.data);
	}
	pe_free(row);
	pe_free(term);
	pe_free(local);
}

/* The rank of rows x n, by elimination. */
static int
rank_of(double *a, int rows, int n)
{
	int			rank = 0;

	for (int c = 0; c < n && rank < rows; c++)
	{
		int			best = rank;

		for (int i = rank; i < rows; i++)
			if (fabs(a[(size_t) i * n + c]) > fabs(a[(size_t) best * n + c]))
				best = i;
		if (fabs(a[(size_t) best * n + c]) < 1e-9)
			continue;
		for (int j = 0; j < n; j++)
		{
			double		swap = a[(size_t) best * n + j];

			a[(size_t) best * n + j] = a[(size_t) rank * n + j];
			a[(size_t) rank * n + j] = swap;
		}
		for (int i = rank + 1; i < rows; i++)
		{
			double		factor = a[(size_t) i * n + c] / a[(size_t) rank * n + c];

			for (int j = c; j < n; j++)
				a[(size_t) i * n + j] -= factor * a[(size_t) rank * n + j];
		}
		rank++;
	}
	return rank;
}

/* The candidates of a basis span what the workload spans: neither adds to the other's rank. */
static void
check_basis(const problem *p)
{
	pe_workload basis;
	double	   *b;
	double	   *both;
	int			rank;

	pe_workload_basis(&p->workload, &basis);
	b = write_out(&basis);
	both = pe_alloc((size_t) (basis.queries + p->workload.queries) * p->cells, sizeof(double));
	memcpy(both, b, (size_t) basis.queries * p->cells * sizeof(double));
	memcpy(both + (size_t) basis.queries * p->cells, p->w, (size_t) p->workload.queries * p->cells * sizeof(double));
	rank = rank_of(both, basis.queries + p->workload.queries, p->cells);
	memcpy(both, p->w, (size_t) p->workload.queries * p->cells * sizeof(double));
	if (rank_of(b, basis.queries, p->cells) != rank || rank_of(both, p->workload.queries, p->cells) != rank)
		fail_msg("the basis of %s spans something else", p->source.data);
	pe_free(b);
	pe_free(both);
	pe_workload_basis_free(&basis);
}

static void
test_random(void **state)
{
	(void) state;
	pe_test_seed(1);
	for (int i = 0; i < cases(2000); i++)
	{
		problem		p;

		begin(&p);
		check_classes(&p);
		check_gram(&p, false);
		check_gram(&p, true);
		check_apply(&p);
		check_quadratic(&p);
		check_rows(&p);
		check_basis(&p);
		end(&p);
	}
}

/* A million cells of which a workload tells seven apart are seven classes. */
static void
test_classes(void **state)
{
	pe_shape	shape = {2, {"age", "zip"}, {12, 80000}, {10, 0}};
	pe_workload workload;
	pe_text_error error;
	const pe_workload *p = &workload;
	pe_classes	classes;

	(void) state;
	assert_true(pe_workload_parse("ranges(age; 2-5, 4-7)", &shape, &workload, &error));
	pe_classes_init(&p, 1, &classes);
	assert_int_equal(classes.cells, 5);	/* 0-1, 2-3, 4-5, 6-7, and the rest with other and NULL */
	assert_int_equal(pe_classes_of_cell(&classes, &shape, 4 * 80000 + 123), 2);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
	assert_true(pe_workload_parse("total", &shape, &workload, &error));
	pe_classes_init(&p, 1, &classes);
	assert_int_equal(classes.cells, 1);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_adaptive.c
 *	  Weighted eigenvectors: values computed elsewhere, the design's own claims, and
 *	  that it ends on any workload.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "published/published.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "reference_strategies.h"
#include "numbers.h"
#include "shim.h"

/* Half a unit of the references' last decimal, and what the iteration lacks, in either place. */
#define DECIMALS 1e-4

/* With equal eigenvalues the eigenvectors are another library's, and the least error with them another one. */
#define OTHER_VECTORS 1.5e-3

/* ---- helpers ---- */

/* V = W'W; w is m x n by columns */
static double *
gram(const double *w, int m, int n)
{
	double	   *v = matrix(n, n);

	pe_la_syrk(true, n, m, 1.0, w, m, 0.0, v, n);
	pe_la_mirror(n, v, n);
	return v;
}

/* ---- what a design claims ---- */

/* Squared norms of the factor's columns; returns the largest. */
static double
column_norms(const pe_design *design, double *norms)
{
	double		largest = 0.0;

	for (int j = 0; j < design->n; j++)
	{
		norms[j] = 0.0;
		for (int i = 0; i < design->rows; i++)
			norms[j] += pow(design->factor[i + j * design->rows], 2.0);
		largest = fmax(largest, norms[j]);
	}
	return largest;
}

/* tr(V (A'A)^+) of the factor, whose rows are orthogonal: sum of a'Va / |a|^4. */
static double
factor_error(const pe_design *design, const double *v)
{
	int			n = design->n;
	double	   *image = matrix(design->rows, n);
	double		sum = 0.0;

	pe_la_symm(true, design->rows, n, 1.0, v, n, design->factor, design->rows, 0.0, image, design->rows);
	for (int i = 0; i < design->rows; i++)
	{
		double		form = 0.0;
		double		size = 0.0;

		for (int j = 0; j < n; j++)
		{
			form += image[i + j * design->rows] * design->factor[i + j * design->rows];
			size += pow(design->factor[i + j * design->rows], 2.0);
		}
		sum += form / (size * size);
	}
	pe_free(image);
	return sum;
}

/* tr(V X^-1) */
static double
completed_error(const pe_design *design, const double *v)
{
	int			n = design->n;
	double	   *r = matrix(n, n);
	double	   *c = matrix(n, n);
	double		sum = 0.0;

	memcpy(r, design->x, (size_t) (n * n) * sizeof(double));
	memcpy(c, v, (size_t) (n * n) * sizeof(double));
	assert_true(pe_la_cholesky(n, r, n));
	pe_la_cholesky_solve(n, n, r, n, c, n);
	for (int j = 0; j < n; j++)
		sum += c[j + j * n];
	pe_free(c);
	pe_free(r);
	return sum;
}

/* X is A'A where they must agree, and 1 on its diagonal. */
static void
check_completion(const pe_design *design)
{
	int			n = design->n;

	for (int j = 0; j < n; j++)
	{
		assert_true(design->x[j + j * n] == 1.0);
		for (int i = 0; i < j; i++)
		{
			double		sum = 0.0;

			for (int k = 0; k < design->rows; k++)
				sum += design->factor[k + i * design->rows] * design->factor[k + j * design->rows];
			assert_true(fabs(design->x[i + j * n] - sum) <= 1e-12);
			assert_true(design->x[i + j * n] == design->x[j + i * n]);
		}
	}
}

static void
check_design(const char *name, const pe_adapted *adapted, const double *v, double gap)
{
	const pe_design *design = &adapted->design;
	double	   *norms = matrix(design->n, 1);
	double		longest = column_norms(design, norms);

	if (fabs(longest - 1.0) > 1e-12 || !close_to(adapted->uncompleted, factor_error(design, v), 1e-6))
		fail_msg("%s %d: longest column %.15g, error %.12g, is %.12g", name, design->n, longest, adapted->uncompleted,
				 factor_error(design, v));
	assert_true(adapted->lower <= adapted->uncompleted * (1.0 + 1e-12));
	assert_true(design->finished == (adapted->uncompleted / adapted->lower - 1.0 <= gap));
	assert_true(design->objective <= adapted->uncompleted * (1.0 + 1e-9));
	if (design->x != NULL)
	{
		check_completion(design);
		if (!close_to(design->objective, completed_error(design, v), 1e-5))
			fail_msg("%s %d: completed %.12g, is %.12g", name, design->n, design->objective, completed_error(design, v));
	}
	else
		assert_true(design->objective == adapted->uncompleted);
	pe_free(norms);
}

/* ---- values computed elsewhere ---- */

/* Are there two equal eigenvalues that count? */
static bool
has_equal_eigenvalues(const double *v, int n)
{
	double	   *a = matrix(n, n);
	double	   *value = matrix(n, 1);
	double	   *z = matrix(n, n);
	double	   *work = pe_alloc(pe_la_eigen_work(n), sizeof(double));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));
	bool		equal = false;

	memcpy(a, v, (size_t) (n * n) * sizeof(double));
	assert_true(pe_la_eigen(n, a, value, z, work, iwork));
	for (int i = 1; i < n; i++)
		equal = equal || (value[i - 1] > 1e-9 * value[n - 1] && close_to(value[i - 1], value[i], 1e-10));
	pe_free(iwork);
	pe_free(work);
	pe_free(z);
	pe_free(value);
	pe_free(a);
	return equal;
}

static void
check_reference(const pe_reference *reference)
{
	double	   *v = pe_test_gram(reference);
	double		tolerance = has_equal_eigenvalues(v, reference->n) ? OTHER_VECTORS : DECIMALS;
	pe_adapted	adapted;
	double		ratio;

	pe_adaptive(v, reference->n, PE_ADAPTIVE_GAP, NULL, &adapted);
	ratio = sqrt(adapted.uncompleted / reference->optimum);
	if (fabs(ratio - reference->adaptive) > tolerance)
		fail_msg("%s %d: %.6f times the optimum, expected %.4f (%d steps, gap %.1e)", reference->name, reference->n, ratio,
				 reference->adaptive, adapted.design.iterations, adapted.uncompleted / adapted.lower - 1.0);
	check_design(reference->name, &adapted, v, PE_ADAPTIVE_GAP);
	/* no strategy is better than the optimum */
	assert_true(adapted.design.objective >= reference->optimum * (1.0 - 3e-5));
	if (getenv("PG_EPSILON_VERBOSE") != NULL)
		print_message("%s %d: %.4f, completed %.4f; %d steps, gap %.1e\n", reference->name, reference->n, ratio,
					  sqrt(adapted.design.objective / reference->optimum), adapted.design.iterations,
					  adapted.uncompleted / adapted.lower - 1.0);
	pe_adapted_free(&adapted);
	pe_free(v);
}

static void
test_references(void **state)
{
	int			checked = 0;

	for (int i = 0; i < PE_REFERENCES; i++)
		if (pe_references[i].adaptive > 0.0 && (!quick() || pe_references[i].n <= 64))
		{
			check_reference(&pe_references[i]);
			checked++;
		}
	assert_true(quick() || checked == 34);
}

/* ---- any workload ---- */

static void
check_random(const char *name, double *v, int n)
{
	pe_adapted	adapted;

	pe_adaptive(v, n, PE_ADAPTIVE_GAP, NULL, &adapted);
	assert_true(adapted.design.iterations <= 3000);
	check_design(name, &adapted, v, PE_ADAPTIVE_GAP);
	pe_adapted_free(&adapted);
}

static void
test_random(void **state)
{
	for (int turn = 0; turn < (quick() ? 6 : 60); turn++)
	{
		int			n = between(1, 40);
		int			m = turn % 3 == 0 ? between(1, 5) : between(n, 2 * n);
		double	   *w = matrix(m, n);
		double	   *v;

		for (int j = 0; j < n; j++)
		{
			double		column = turn % 2 == 0 ? 1.0 : exp(uniform(-4.0, 4.0));

			for (int i = 0; i < m; i++)
				w[i + j * m] = column * (between(-1, 2) + (i == 0 ? 0.5 : 0.0));
		}
		v = gram(w, m, n);
		check_random("random", v, n);
		pe_free(v);
		pe_free(w);
	}
}

/* One query: A is that query, the longest column 1, and the error its square; completion counts the other columns. */
static void
test_rank_one(void **state)
{
	for (int n = 1; n <= 30; n++)
	{
		double	   *w = matrix(1, n);
		double	   *v;
		double		largest = 0.0;
		pe_adapted	adapted;

		for (int j = 0; j < n; j++)
		{
			w[j] = n % 2 == 0 ? 1.0 : uniform(-1.0, 1.0);
			largest = fmax(largest, w[j] * w[j]);
		}
		v = gram(w, 1, n);
		pe_adaptive(v, n, PE_ADAPTIVE_GAP, NULL, &adapted);
		assert_int_equal(adapted.design.rows, 1);
		assert_true(close_to(adapted.uncompleted, largest, 1e-9));
		assert_true(adapted.design.finished);
		/* equal columns of norm 1 leave nothing to complete */
		assert_true((adapted.design.x == NULL) == (n % 2 == 0 && n > 1));
		pe_adapted_free(&adapted);
		pe_free(v);
		pe_free(w);
	}
}

/* Numbers of any size. */
static void
test_scales(void **state)
{
	static const double scales[] = {1e-290, 1e-30, 1.0, 1e30, 1e290};
	double		steps[5];

	for (int k = 0; k < 5; k++)
	{
		double		v[9] = {2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 1.0};
		pe_adapted	adapted;

		for (int i = 0; i < 9; i++)
			v[i] *= scales[k];
		pe_adaptive(v, 3, PE_ADAPTIVE_GAP, NULL, &adapted);
		steps[k] = adapted.uncompleted / scales[k];
		assert_true(close_to(steps[k], steps[0], 1e-9));
		assert_true(adapted.design.finished && adapted.design.x != NULL);
		pe_adapted_free(&adapted);
	}
	/* columns that differ by ten orders of magnitude: it ends, with numbers */
	for (int turn = 0; turn < 10; turn++)
	{
		double		w[36];
		double	   *v;

		for (int i = 0; i < 36; i++)
			w[i] = between(-3, 3) * pow(10.0, i / 6 * 2 - 6);
		w[0] = 1e-6;
		v = gram(w, 6, 6);
		check_random("badly scaled", v, 6);
		pe_free(v);
	}
}

/* ---- the host ---- */

typedef struct told
{
	int32_t		calls;
	double		objective;
	double		measure;
} told;

static void
listen(void *argument, int32_t iteration, double objective, double measure)
{
	told	   *t = argument;

	t->calls++;
	assert_int_equal(iteration, t->calls);
	t->objective = objective;
	t->measure = measure;
}

static void
test_host(void **state)
{
	pe_reference reference = {.n = 24, .v = pe_test_prefix};
	double	   *v = pe_test_gram(&reference);
	told		heard = {0};
	pe_trace	trace = {listen, &heard};
	uint64_t	polls = pe_test_polls();
	uint64_t	steps = pe_test_steps();
	pe_adapted	adapted;

	pe_test_memory();
	pe_adaptive(v, reference.n, 1e-4, &trace, &adapted);
	assert_true(pe_test_memory() <= pe_adaptive_memory(reference.n));
	assert_int_equal(heard.calls, adapted.design.iterations);
	assert_true(heard.objective == adapted.uncompleted);
	assert_true(heard.measure <= 1e-4 && adapted.design.finished && adapted.design.iterations > 1);
	assert_int_equal(pe_test_steps() - steps, adapted.design.iterations);
	assert_true(pe_test_polls() - polls >= (uint64_t) adapted.design.iterations);
	pe_adapted_free(&adapted);
	/* what cannot be reached is not waited for */
	pe_adaptive(v, reference.n, 0.0, NULL, &adapted);
	assert_true(!adapted.design.finished && adapted.design.iterations == 3000);
	assert_true(adapted.uncompleted / adapted.lower - 1.0 <= 1e-6);
	pe_adapted_free(&adapted);
	pe_free(v);
}

static void
test_memory(void **state)
{
	for (int n = 1; n <= 160; n += 53)
	{
		pe_reference reference = {.n = n, .v = pe_test_prefix};
		double	   *v = pe_test_gram(&reference);
		pe_adapted	adapted;

		pe_test_memory();
		pe_adaptive(v, n, 1e-2, NULL, &adapted);
		assert_true(pe_test_memory() + (size_t) (n * n) * sizeof(double) <= pe_adaptive_memory(n));
		pe_adapted_free(&adapted);
		pe_free(v);
	}
	for (int n = 256; n <= 4096; n *= 2)
		assert_true(pe_adaptive_memory(n) <= 44 * (size_t) n * (size_t) n);
}

static void
of_order_two(void *v)
{
	pe_adapted	adapted;

	pe_adaptive(v, 2, PE_ADAPTIVE_GAP, NULL, &adapted);
}

static void
test_refusals(void **state)
{
	double		infinite[] = {1.0, 0.0, 0.0, INFINITY};
	double		nothing[] = {0.0, 0.0, 0.0, 0.0};

	assert_true(pe_test_is_bug(of_order_two, infinite));
	assert_true(pe_test_is_bug(of_order_two, nothing));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_rank_one),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_refusals),
	};

	pe_test_seed(20120827);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_closed_form.c
 *	  Strategies that can be written down: their certificates by other means, the
 *	  values that are known, and the solver's own answer to the same question.
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

#include "optimum/optimum.h"
#include "base/mem.h"
#include "certificate.h"
#include "numbers.h"
#include "reference_strategies.h"
#include "shim.h"

#define EXACT 1e-9				/* what a closed form may be off */

/* The certificate holds, is far closer than a search would have it, and the solver agrees. */
static void
check(const char *name, const double *v, int n, const int32_t *count, int attributes)
{
	pe_optimum	form;
	pe_optimum	solved;

	assert_true(pe_closed_form(v, n, count, attributes, &form));
	assert_int_equal(form.n, n);
	assert_int_equal(form.iterations, 0);
	if (form.upper / form.lower - 1.0 > EXACT || form.upper < form.lower)
		fail_msg("%s %d: %.15g .. %.15g", name, n, form.lower, form.upper);
	assert_true(certificate_holds(name, v, &form, 1e-9));
	pe_optimum_solve(v, n, GAP, &solved);
	if (solved.rank != form.rank || form.lower > solved.upper || solved.lower > form.upper)
		fail_msg("%s %d: %.12g, rank %d; solver %.12g, rank %d", name, n, form.upper, form.rank, solved.upper, solved.rank);
	pe_optimum_free(&form);
	pe_optimum_free(&solved);
}

static bool
fits(const double *v, int n, const int32_t *count, int attributes)
{
	pe_optimum	form;
	bool		found = pe_closed_form(v, n, count, attributes, &form);

	if (found)
		pe_optimum_free(&form);
	return found;
}

/* ---- diagonal ---- */

static void
test_diagonal(void **state)
{
	for (int i = 0; i < 40; i++)
	{
		int			n = between(1, 30);
		double	   *v = matrix(n, n);
		double		sum = 0.0;
		pe_optimum	form;

		for (int j = 0; j < n; j++)
			sum += v[j + j * n] = exp((double) between(-40, 40));
		assert_true(pe_closed_form(v, n, NULL, 0, &form));
		assert_true(close_to(form.upper, sum, 1e-13) && form.lower <= sum && form.full);
		assert_true(certificate_holds("diagonal", v, &form, 1e-12));
		for (int j = 0; j < n; j++)
			for (int k = 0; k < n; k++)
				assert_true(form.x[j + k * n] == (j == k));
		pe_optimum_free(&form);
		pe_free(v);
	}
}

/* ---- rotations ---- */

/* All rotations of a few queries. */
static double *
rotations(int n, int queries, bool windows)
{
	double	   *v = matrix(n, n);
	double	   *w = matrix(n, 1);

	for (int q = 0; q < queries; q++)
	{
		int			width = between(1, n);

		for (int i = 0; i < n; i++)
			w[i] = windows ? i < width : between(-3, 3);
		w[0] += !windows && q == 0 ? 10.0 : 0.0;
		for (int r = 0; r < n; r++)
			for (int j = 0; j < n; j++)
				for (int i = 0; i < n; i++)
					v[i + j * n] += w[(i + r) % n] * w[(j + r) % n];
	}
	pe_free(w);
	return v;
}

static void
test_rotations(void **state)
{
	double	   *v;

	pe_test_seed(3);
	for (int i = 0; i < (quick() ? 6 : 120); i++)
	{
		int			n = between(2, 40);

		v = rotations(n, between(1, 2), i % 2 == 0);
		check("rotations", v, n, NULL, 0);
		/* one entry, and its mirror image, out of line */
		v[n - 1] += 1.0;
		v[(n - 1) * n] += 1.0;
		assert_true(n == 2 || n == 3 || !fits(v, n, NULL, 0));
		pe_free(v);
	}
}

/* ---- permutations of each attribute's cells ---- */

/* Weighted sum of products of identity and total, one for each set of attributes, some left out. */
static double *
products(const int32_t *count, int attributes, const double *weight)
{
	int			n = 1;
	double	   *v;

	for (int a = 0; a < attributes; a++)
		n *= count[a];
	v = matrix(n, n);
	for (int set = 0; set < 1 << attributes; set++)
		for (int j = 0; j < n && weight[set] != 0.0; j++)
			for (int i = 0; i < n; i++)
			{
				int			left = i;
				int			right = j;
				bool		equal = true;

				for (int a = attributes - 1; a >= 0 && equal; a--)
				{
					equal = !(set >> a & 1) || left % count[a] == right % count[a];
					left /= count[a];
					right /= count[a];
				}
				v[i + (size_t) j * (size_t) n] += equal ? weight[set] * weight[set] : 0.0;
			}
	return v;
}

static void
test_products(void **state)
{
	pe_test_seed(4);
	for (int i = 0; i < (quick() ? 8 : 120); i++)
	{
		int32_t		count[3];
		int			attributes = between(1, 3);
		double		weight[8];
		double	   *v;
		int			n = 1;

		for (int a = 0; a < attributes; a++)
			n *= count[a] = between(1, 4);
		for (int set = 0; set < 8; set++)
			weight[set] = between(0, 2) == 0 ? between(1, 5) : 0.0;
		weight[between(0, (1 << attributes) - 1)] = 1.5;
		v = products(count, attributes, weight);
		check("products", v, n, count, attributes);
		pe_free(v);
	}
}

/* ---- values computed elsewhere ---- */

/* Rank and optimum of windows on a circle, of all marginals of some attributes, of a total with the cells. */
static void
test_references(void **state)
{
	int			checked = 0;

	for (int i = 0; i < PE_REFERENCES; i++)
	{
		const pe_reference *reference = &pe_references[i];
		bool		windows = reference->v == pe_test_windows;
		int32_t		count[12];
		int			attributes = 0;
		double	   *v;
		pe_optimum	form;

		/* the first attribute varies fastest there, the last one here */
		while (reference->dims[attributes] > 0)
			attributes++;
		for (int a = 0; a < attributes; a++)
			count[a] = reference->dims[attributes - 1 - a];
		if (reference->v == pe_test_total_identity)
			count[attributes++] = reference->n;
		if ((attributes == 0 && !windows) || (quick() && !windows && reference->n > 100))
			continue;
		v = pe_test_gram(reference);
		assert_true(pe_closed_form(v, reference->n, count, attributes, &form));
		if (form.rank != reference->rank || !close_to(form.upper, reference->optimum, 1e-9) ||
			!close_to(form.lower, reference->optimum, 1e-9))
			fail_msg("%s %d: %.12g .. %.12g rank %d", reference->name, reference->n, form.lower, form.upper, form.rank);
		if (reference->n <= 128)
			assert_true(certificate_holds(reference->name, v, &form, 1e-9));
		pe_optimum_free(&form);
		pe_free(v);
		checked++;
	}
	assert_true(quick() || checked == 21);
}

/* What looks alike and is not: other sizes, another order, an entry that differs, prefixes. */
static void
test_refusals(void **state)
{
	static const int32_t right[] = {2, 3, 5};
	static const int32_t wrong[] = {3, 2, 5};
	static const int32_t short_of[] = {2, 3};
	static const double weight[8] = {1, 1, 0, 1, 0, 0, 1, 0};
	double	   *v = products(right, 3, weight);
	double		infinite[] = {1.0, 0.5, 0.5, INFINITY};
	double		empty[] = {1.0, 0.0, 0.0, 0.0};

	assert_true(fits(v, 30, right, 3));
	assert_false(fits(v, 30, wrong, 3));
	assert_false(fits(v, 30, short_of, 2));
	assert_false(fits(v, 30, NULL, 0));
	v[29] = v[29 * 30] = nextafter(v[29], 10.0);
	assert_false(fits(v, 30, right, 3));
	for (int j = 0; j < 30; j++)
		for (int i = 0; i < 30; i++)
			v[i + j * 30] = 30 - (i > j ? i : j);
	assert_false(fits(v, 30, right, 3));
	assert_false(fits(infinite, 2, NULL, 0));
	assert_false(fits(empty, 2, NULL, 0));
	pe_free(v);
}

/* ---- every other transitive group ---- */

/* A V that the dihedral group leaves alone: no form here knows it, and the solver stops at once. */
static void
test_transitive(void **state)
{
	double	   *v = matrix(60, 60);
	pe_optimum	optimum;

	/* rotations, then reflections; V_gh = f(g^-1 h), f(g) = f(g^-1) */
	for (int j = 0; j < 60; j++)
		for (int i = 0; i < 60; i++)
		{
			int			flip = i / 30 != j / 30;
			int			turn = i / 30 == 0 ? (j % 30 - i % 30 + 30) % 30 : (i % 30 - j % 30 + 30) % 30;
			int			near = turn < 30 - turn ? turn : 30 - turn;

			v[i + j * 60] = (flip ? 0.5 * (turn % 7 == 3) + 0.1 * (turn == 11) : 1.0 / (1.0 + near)) + 10.0 * (i == j);
		}
	assert_false(fits(v, 60, NULL, 0));
	pe_optimum_solve(v, 60, GAP, &optimum);
	assert_int_equal(optimum.iterations, 1);
	assert_true(certificate_holds("dihedral", v, &optimum, 1e-9));
	pe_optimum_free(&optimum);
	pe_free(v);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diagonal),
		cmocka_unit_test(test_rotations),
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_transitive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

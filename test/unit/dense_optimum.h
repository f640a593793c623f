/*
 * dense_optimum.h
 *	  Blocks against the optimum over all cells that the dense solver finds, query by query.
 *
 * What blocks do to the cells is written out by block_tables.h, the queries by workloads.h.
 */
#ifndef PE_TEST_DENSE_OPTIMUM_H
#define PE_TEST_DENSE_OPTIMUM_H

#include "base/linalg.h"
#include "optimum/optimum.h"
#include "blocks/blocks.h"
#include "block_tables.h"
#include "numbers.h"
#include "workloads.h"

/* X^+ in place, symmetric n x n; roots below `zero` of the largest eigenvalue count as 0. */
static inline void
pseudo_inverse(int n, double *x, double zero)
{
	double	   *value = matrix(n, 1);
	double	   *z = matrix(n, n);
	double	   *scaled = matrix(n, n);
	double	   *work = matrix((int) pe_la_eigen_work(n), 1);
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));

	assert_true(pe_la_eigen(n, x, value, z, work, iwork));
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			scaled[i + k * n] = value[k] > zero * value[n - 1] ? z[i + k * n] / value[k] : 0.0;
	pe_la_gemm(false, true, n, n, n, 1.0, scaled, n, z, n, 0.0, x, n);
	pe_free(value);
	pe_free(z);
	pe_free(scaled);
	pe_free(work);
	pe_free(iwork);
}

/* W by rows over all cells, weighted; 0 where the predicate leaves no cell. */
static inline double *
weighted_queries(const pe_workload *workload, const pe_blocks *blocks)
{
	int			cells = cells_of_all(blocks);
	double	   *w = write_out(workload);
	int32_t		query[PE_MAX_ATTRIBUTES];

	for (int32_t t = 0; t < workload->terms; t++)
		for (int64_t local = 0; local < workload->term[t].queries; local++)
			for (int64_t q = pe_term_query(&workload->term[t], local, query), i = 0; i < cells; i++)
				w[q * cells + i] *= cell_is_ruled_out(blocks, (int) i) ? 0.0 : workload->term[t].weight;
	return w;
}

/* X of all blocks over the cells: the sum of A_b'A_b over the noise of block b. */
static inline double *
information(const pe_blocks *blocks)
{
	int			cells = cells_of_all(blocks);
	int			rows = (int) blocks->first[blocks->blocks];
	int64_t    *entry = blocks_matrix(blocks);
	double	   *a = matrix(rows, cells);
	double	   *x = matrix(cells, cells);

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t i = blocks->first[b] * cells; i < blocks->first[b + 1] * cells; i++)
			a[i] = (double) entry[i] / sqrt(pe_blocks_relative_variance(blocks, b));
	pe_la_gemm(false, true, cells, cells, rows, 1.0, a, cells, a, cells, 0.0, x, cells);
	pe_free(entry);
	pe_free(a);
	return x;
}

static inline double
quadratic(int n, const double *x, const double *w)
{
	double		sum = 0.0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < n && w[j] != 0.0; i++)
			sum += w[i] * w[j] * x[i + j * n];
	return sum;
}

/* X^+ of the dense optimum, over all cells: of a column that repeats another, 0. */
static inline double *
dense_inverse(const double *v, int cells, pe_optimum *optimum)
{
	double	   *reduced = matrix(cells, cells);
	double	   *x;
	double	   *spread = matrix(cells, cells);
	int32_t    *column_of = pe_alloc((size_t) cells, sizeof(int32_t));
	bool	   *taken = pe_alloc((size_t) cells, sizeof(bool));
	int			n;

	memcpy(reduced, v, pe_la_square(cells) * sizeof(double));
	n = pe_optimum_reduce(reduced, cells, column_of);
	pe_optimum_solve(reduced, n, 1e-12, optimum);
	x = matrix(n, n);
	if (optimum->full)
		memcpy(x, optimum->x, pe_la_square(n) * sizeof(double));
	else
	{
		pe_la_syrk(true, n, optimum->rank, 1.0, optimum->factor, optimum->rank, 0.0, x, n);
		pe_la_mirror(n, x, n);
	}
	pseudo_inverse(n, x, 1e-10);
	for (int i = 0; i < cells; i++)
	{
		if (column_of[i] >= 0 && taken[column_of[i]])
			column_of[i] = -1;
		if (column_of[i] >= 0)
			taken[column_of[i]] = true;
	}
	for (int j = 0; j < cells; j++)
		for (int i = 0; i < cells; i++)
			if (column_of[i] >= 0 && column_of[j] >= 0)
				spread[i + j * cells] = x[column_of[i] + column_of[j] * n];
	pe_free(reduced);
	pe_free(x);
	pe_free(column_of);
	pe_free(taken);
	return spread;
}

/*
 * The certificate to 1e-8, the objective to `rounding', every column, and the variance of each query; returns the
 * objective.  Rounding lengthens columns by their small entries: what F feels to second order moves a variance ten
 * times as much, with rows of mixed signs more; where several factors share the bits, F feels it to first order.
 */
static inline double
compare_blocks(const pe_workload *workload, const pe_blocks *blocks, double lower_bound, double rounding)
{
	int			cells = cells_of_all(blocks);
	double	   *v = matrix(cells, cells);
	double	   *w = weighted_queries(workload, blocks);
	double	   *x = information(blocks);
	double	   *inverse;
	double		objective = 0.0;
	bool		mixed = strstr(workload->canonical, "matrix") != NULL;
	double		tolerance = rounding > 1e-5 ? 2 * rounding : mixed ? 100 * rounding : 10 * rounding;
	pe_optimum	optimum;
	pe_blocks_errors errors;

	pe_blocks_error(blocks, workload, &errors);
	assert_int_equal(pe_blocks_undetermined(blocks, workload), -1);
	pe_la_gemm(false, true, cells, cells, workload->queries, 1.0, w, cells, w, cells, 0.0, v, cells);
	inverse = dense_inverse(v, cells, &optimum);
	for (int j = 0; j < cells; j++)
		assert_true(x[j + j * cells] <= 1.0 + 1e-14);
	pseudo_inverse(cells, x, 1e-10);
	for (int q = 0; q < workload->queries; q++)
	{
		double		variance = quadratic(cells, x, w + (size_t) q * (size_t) cells);
		double		expected = quadratic(cells, inverse, w + (size_t) q * (size_t) cells);

		if (!close_to(variance, expected, tolerance))
			fail_msg("%s: query %d has %.10g, not %.10g", workload->canonical, q, variance, expected);
		objective += variance;
	}
	if (!close_to(lower_bound, optimum.upper, 1e-8) || !close_to(objective, optimum.upper, rounding) ||
		!close_to(errors.weighted_sum, objective, 1e-9))
		fail_msg("%s: %.12g, %.12g, not %.12g", workload->canonical, lower_bound, objective, optimum.upper);
	pe_free(v);
	pe_free(w);
	pe_free(x);
	pe_free(inverse);
	pe_optimum_free(&optimum);
	return objective;
}

#endif

/*
 * level_weights.h
 *	  The best weights of a wavelet's levels, by a closed formula.
 */
#ifndef PE_TEST_LEVEL_WEIGHTS_H
#define PE_TEST_LEVEL_WEIGHTS_H

#include <math.h>
#include <string.h>

#include "published/published.h"
#include "base/mem.h"

#define LEAST_WEIGHT 1e-4

/* Sums over each level's rows h of h'V h / |h|^4, with the norm that h has before it is cut. */
static inline void
level_errors(const pe_levels *levels, const double *v, double *errors)
{
	size_t		n = (size_t) levels->n;
	size_t		rows = (size_t) levels->rows;
	int32_t    *matrix = pe_alloc(rows * n, sizeof(*matrix));

	pe_levels_matrix(levels, matrix);
	memset(errors, 0, (size_t) levels->levels * sizeof(double));
	for (size_t k = 0; k < rows; k++)
	{
		int32_t		level = levels->row[k].level;
		double		width = level == 0 ? levels->wavelet : ldexp(levels->wavelet, 1 - level);
		double		form = 0;

		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; matrix[k + i * rows] != 0 && j < n; j++)
				form += matrix[k + i * rows] * v[i + j * n] * matrix[k + j * rows];
		errors[level] += form / (width * width);
	}
	pe_free(matrix);
}

/*
 * The weights of a wavelet's levels that make the expected error least; the largest
 * is 1.  With e_l the error that level l contributes with weight 1 (the sum over its
 * rows h of h'V h / |h|^4, V and the rows padded by zeros to the power of two), they
 * minimise
 *
 *	 L2: (sum c_l^2) sum e_l / c_l^2, c_l proportional to e_l^(1/4), least (sum sqrt e_l)^2,
 *	 L1: (sum c_l)^2 sum e_l / c_l^2, c_l proportional to e_l^(1/3), least (sum e_l^(1/3))^3.
 *
 * If n is no power of two, pe_levels_error is at most that, as least squares on the
 * rows that were cut are at least as good.  No weight is below 1e-4, so that A keeps
 * its rank where nothing of a level is asked for.  A tree is a bug of the caller.
 */
static inline void
levels_optimal_weights(const pe_levels *levels, const double *v, pe_norm norm, double *weights)
{
	double		power = norm == PE_L1 ? 1.0 / 3.0 : 0.25;
	double		largest = 0.0;

	if (levels->wavelet == 0)
		pe_bug("the rows of a tree are not orthogonal");
	level_errors(levels, v, weights);
	for (int32_t l = 0; l < levels->levels; l++)
		largest = fmax(largest, weights[l]);
	for (int32_t l = 0; l < levels->levels; l++)
		weights[l] = largest > 0.0 ? fmax(pow(fmax(weights[l], 0.0) / largest, power), LEAST_WEIGHT) : 1.0;
}

#endif

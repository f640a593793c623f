/*
 * optimal_l1.c
 *	  The best known strategy under the L1 norm, for Laplace noise.  See
 *	  strategy.h.
 *
 * The candidates differ in what they are expected to err and in nothing that
 * privacy depends on: the sensitivity is computed from the integers that are
 * chosen, whichever they are.
 */
#include <string.h>

#include "core/linalg.h"
#include "core/reconstruct.h"
#include "core/strategy.h"

/* V over the columns of a strategy: the weighted W'W of one class for each. */
static double *
gram_of_columns(const pe_workload *workload, const pe_classes *classes, const pe_strategy *strategy)
{
	size_t		all = classes->cells;
	size_t		n = strategy->columns;
	double	   *gram = pe_alloc(all * all, sizeof(double));
	double	   *v = pe_alloc(n * n, sizeof(double));
	int32_t    *class_of = pe_alloc(n, sizeof(int32_t));

	pe_workload_gram(workload, classes, true, gram);
	for (size_t c = 0; c < all; c++)
		if (strategy->column_of[c] >= 0)
			class_of[strategy->column_of[c]] = (int32_t) c;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			v[i * n + j] = gram[class_of[i] * all + class_of[j]];
	pe_free(gram);
	pe_free(class_of);
	return v;
}

/* Delta_1^2 of a strategy that pe_strategy_optimal or this file made. */
static double
squared_sensitivity(const pe_strategy *strategy)
{
	pe_u128		sensitivity;

	if (!pe_strategy_sensitivity_l1(strategy, PE_ADD_REMOVE, 1, &sensitivity))
		pe_bug("a strategy beyond its bounds");
	return (double) sensitivity * (double) sensitivity;
}

/* The objective of the integers of pe_strategy_optimal under this norm. */
static double
objective_of_optimum(const pe_strategy *strategy)
{
	pe_u128		sensitivity_sq;

	if (!pe_strategy_sensitivity_sq(strategy, PE_ADD_REMOVE, 1, &sensitivity_sq))
		pe_bug("a strategy beyond its bounds");
	return strategy->objective / (double) sensitivity_sq * squared_sensitivity(strategy);
}

/* tr V: every column counted, Delta_1 = 1. */
static double
objective_of_columns(const double *v, int32_t n)
{
	double		sum = 0;

	for (int32_t j = 0; j < n; j++)
		sum += v[(size_t) j * n + j];
	return sum;
}

/* T = I for a strategy with a basis. */
static int32_t *
unit_triangle(int32_t rows)
{
	int32_t    *triangle = pe_alloc((size_t) rows * (rows + 1) / 2, sizeof(int32_t));

	for (int32_t j = 0; j < rows; j++)
		triangle[(size_t) j * (j + 1) / 2 + j] = 1;
	return triangle;
}

/* Delta_1^2 tr(N'V N), N = B^+: the rows of the basis measured; 0 if that cannot be told. */
static double
objective_of_basis(const pe_strategy *rows_of_basis, const double *v)
{
	int32_t		n = rows_of_basis->columns;
	int32_t		rows = rows_of_basis->rows;
	double	   *inverse = pe_alloc((size_t) n * rows, sizeof(double));
	double	   *product = pe_alloc((size_t) n * rows, sizeof(double));
	double		sum = 0;

	if (pe_basis_inverse(rows_of_basis, inverse))
	{
		pe_la_symm(false, n, rows, 1, v, n, inverse, n, 0, product, n);
		for (size_t i = 0; i < (size_t) n * rows; i++)
			sum += inverse[i] * product[i];
	}
	pe_free(inverse);
	pe_free(product);
	return sum > 0 ? sum * squared_sensitivity(rows_of_basis) : 0;
}

static void
measure_columns(pe_strategy *strategy)
{
	pe_free(strategy->triangle);
	pe_free(strategy->basis);
	strategy->triangle = NULL;
	strategy->basis = NULL;
	strategy->rows = strategy->inner = strategy->columns;
}

/* Replaces the integers that are optimal for L2 by better ones for L1, if there are any. */
static void
choose(const pe_workload *workload, const pe_classes *classes, pe_strategy *strategy)
{
	double	   *v = gram_of_columns(workload, classes, strategy);
	double		by_column = objective_of_columns(v, strategy->columns);

	strategy->objective = objective_of_optimum(strategy);
	if (strategy->basis != NULL)
	{
		pe_strategy rows_of_basis = *strategy;
		double		by_row;

		rows_of_basis.triangle = unit_triangle(strategy->rows);
		by_row = objective_of_basis(&rows_of_basis, v);
		if (by_row > 0 && by_row < strategy->objective)
		{
			pe_free(strategy->triangle);
			strategy->triangle = rows_of_basis.triangle;
			strategy->objective = by_row;
		}
		else
			pe_free(rows_of_basis.triangle);
	}
	if (by_column <= strategy->objective)
	{
		measure_columns(strategy);
		strategy->objective = by_column;
	}
	pe_free(v);
}

pe_strategy_status
pe_strategy_optimal_l1(const pe_workload *workload, const pe_classes *classes, const bool *possible, double gap,
					   pe_strategy *strategy)
{
	pe_strategy_status status = pe_strategy_optimal(workload, classes, possible, gap, strategy);

	/* without a triangle it is optimal here too: it attains the bound for L2, and its Delta_1 is its Delta_2 */
	if (status == PE_STRATEGY_OK && strategy->triangle != NULL)
		choose(workload, classes, strategy);
	return status;
}

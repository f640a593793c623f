/*
 * optimal_l1.c
 *	  The best known strategy under the L1 norm, for Laplace noise.  See
 *	  strategy.h.
 *
 * The candidates differ in what they are expected to err and in nothing that
 * privacy depends on: the sensitivity is computed from the very integers that
 * are chosen.
 */
#include "base/linalg.h"
#include "optimum/optimum.h"
#include "strategy/solve.h"
#include "strategy/rounding.h"
#include "strategy/strategy.h"

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

int32_t *
pe_unit_triangle(int32_t rows)
{
	int32_t    *triangle = pe_alloc((size_t) rows * (rows + 1) / 2, sizeof(int32_t));

	for (int32_t j = 0; j < rows; j++)
		triangle[(size_t) j * (j + 1) / 2 + j] = 1;
	return triangle;
}

/*
 * Delta_1^2 tr(N'V N), N = B^+: the rows of the basis measured; 0 if that is
 * not known.
 */
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

/* Puts another matrix in the place of the one that is there. */
static void
replace_matrix(pe_strategy *strategy, const pe_strategy *other)
{
	pe_free(strategy->triangle);
	pe_free(strategy->dense);
	pe_free(strategy->basis);
	*strategy = *other;
}

/* What both say of classes and columns, and no matrix: every column counted. */
static pe_strategy
without_matrix(const pe_strategy *strategy)
{
	pe_strategy columns = *strategy;

	columns.triangle = columns.dense = columns.basis = NULL;
	columns.rows = columns.inner = columns.columns;
	return columns;
}

static void
try_columns(const double *v, pe_strategy *strategy)
{
	pe_strategy columns = without_matrix(strategy);

	columns.objective = objective_of_columns(v, columns.columns);
	if (columns.objective <= strategy->objective)
		replace_matrix(strategy, &columns);
}

/* The rows of the basis that the optimum for L2 has, if it has one. */
static void
try_basis(const double *v, pe_strategy *strategy)
{
	pe_strategy rows_of_basis = *strategy;

	if (strategy->basis == NULL)
		return;
	rows_of_basis.triangle = pe_unit_triangle(strategy->rows);
	rows_of_basis.objective = objective_of_basis(&rows_of_basis, v);
	if (rows_of_basis.objective > 0 && rows_of_basis.objective < strategy->objective)
	{
		pe_free(strategy->triangle);
		*strategy = rows_of_basis;
	}
	else
		pe_free(rows_of_basis.triangle);
}

/* All columns and a few sums of them. */
static void
try_p_identity(const double *v, int bits, pe_strategy *strategy)
{
	const pe_p_identity_options options = {0};
	pe_strategy dense = without_matrix(strategy);
	int32_t		n = strategy->columns;
	pe_design	design;

	pe_p_identity(v, n, &options, NULL, &design);
	if (design.objective < strategy->objective &&
		pe_round_dense(&(pe_real_strategy) {design.factor, design.rows, n, n, v, PE_L1, bits}, &dense))
	{
		if (dense.objective < strategy->objective)
			replace_matrix(strategy, &dense);
		else
			pe_free(dense.dense);
	}
	pe_design_free(&design);
}

void
pe_choose_l1(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	double	   *v = gram_of_columns(problem->workload, problem->classes, strategy);

	strategy->objective = objective_of_optimum(strategy);
	try_basis(v, strategy);
	try_columns(v, strategy);
	try_p_identity(v, problem->bits, strategy);
	pe_free(v);
}

pe_strategy_status
pe_make_optimal_l1(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	pe_strategy_status status = pe_make_optimal(problem, strategy);

	/* without a triangle it is optimal here too: it attains the bound for L2, and its Delta_1 is its Delta_2 */
	if (status == PE_STRATEGY_OK && strategy->triangle != NULL)
		pe_choose_l1(problem, strategy);
	return status;
}

pe_strategy_status
pe_strategy_optimal_l1(const pe_workload *workload, const pe_classes *classes, const bool *possible, double gap,
					   pe_strategy *strategy)
{
	pe_strategy_problem problem = {
		.workload = workload, .classes = classes, .possible = possible,
		.method = PE_METHOD_OPTIMAL, .objective = PE_SUM, .norm = PE_L2, .gap = gap
	};

	return pe_make_optimal_l1(&problem, strategy);
}

size_t
pe_strategy_optimal_l1_memory(const pe_workload *workload, const pe_classes *classes)
{
	const pe_p_identity_options options = {0};
	size_t		optimum = pe_strategy_optimal_memory(workload, classes);
	int32_t		n = classes->cells;
	int32_t		rows;
	size_t		search;
	size_t		rounding;

	if (pe_workload_counts_once(workload) || n > PE_OPTIMUM_CELLS)
		return optimum;
	rows = n + pe_p_identity_sums(n, &options);
	search = pe_p_identity_memory(n, &options);
	rounding = (size_t) rows * n * sizeof(double) + pe_round_dense_memory(rows, n, n);
	/* besides: V, and the integers of the optimum for L2 with their basis */
	rounding = (size_t) n * n * (sizeof(double) + 2 * sizeof(int32_t)) + (search > rounding ? search : rounding);
	return optimum > rounding ? optimum : rounding;
}

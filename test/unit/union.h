/*
 * union.h
 *	  A workload over attributes a0, a1, ... with what a strategy of blocks is made from, and an
 *	  axis' matrix as doubles: for the tests of Kronecker and product blocks.
 */
#ifndef PE_TEST_UNION_H
#define PE_TEST_UNION_H

#include <string.h>

#include "base/linalg.h"
#include "blocks/blocks.h"
#include "numbers.h"
#include "workloads.h"

typedef struct made
{
	pe_shape	shape;
	char		names[PE_MAX_ATTRIBUTES][16];
	pe_workload workload;
	pe_classes	classes;
	pe_strategy_problem problem;
	pe_blocks	blocks;
	double		lower_bound;
} made;

/* From the shape that is there; false if the workload is none over it. */
static inline bool
try_parse(made *m, const char *workload)
{
	const pe_workload *list = &m->workload;
	pe_text_error error;

	if (!pe_workload_parse(workload, &m->shape, &m->workload, &error))
		return false;
	pe_classes_init(&list, 1, &m->classes);
	m->problem = (pe_strategy_problem) {.workload = &m->workload, .classes = &m->classes, .gap = 1e-6};
	return true;
}

static inline void
parse(made *m, int attributes, const int *cells, const char *workload)
{
	memset(m, 0, sizeof(*m));
	m->shape.attributes = attributes;
	for (int a = 0; a < attributes; a++)
	{
		snprintf(m->names[a], sizeof(m->names[a]), "a%d", a);
		m->shape.name[a] = m->names[a];
		m->shape.cells[a] = m->shape.ordered[a] = cells[a];
	}
	if (!try_parse(m, workload))
		fail_msg("%s is no workload", workload);
}

static inline void
discard(made *m)
{
	pe_blocks_free(&m->blocks);
	pe_classes_free(&m->classes);
	pe_workload_free(&m->workload);
}

/* A cell of each column of an attribute. */
static inline int32_t *
cells_of_columns(const made *m, int attribute)
{
	int32_t    *cell = pe_alloc((size_t) m->blocks.columns[attribute], sizeof(int32_t));

	for (int32_t c = m->blocks.cells[attribute] - 1; c >= 0; c--)
		if (m->blocks.column_of[attribute][c] >= 0)
			cell[m->blocks.column_of[attribute][c]] = c;
	return cell;
}

/* w'x w of a query of a factor, x over the columns of its attribute. */
static inline double
variance_of(const made *m, const pe_factor *factor, int32_t query, const double *x)
{
	int32_t		n = m->blocks.columns[factor->attribute];
	int32_t    *cell = cells_of_columns(m, factor->attribute);
	double	   *w = matrix(n, 1);
	double		variance = 0;

	for (int32_t i = 0; i < n; i++)
		w[i] = pe_factor_entry(factor, query, cell[i]);
	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; w[i] != 0 && j < n; j++)
			variance += x[(size_t) i * n + j] * w[i] * w[j];
	pe_free(w);
	pe_free(cell);
	return variance;
}

/* (A'A)^-1 of an axis' matrix, after 11' was added times a large number where there is a centre; and D, by integers. */
static inline double *
inverse_of(const pe_axis *axis, pe_norm norm, double *largest)
{
	const pe_strategy *strategy = &axis->matrix[0].strategy;
	int32_t		n = axis->cells;
	double	   *a = matrix(n, strategy->rows);
	double	   *x = matrix(n, n);

	*largest = 0;
	pe_strategy_matrix(strategy, a);
	for (int32_t j = 0; j < n; j++)
	{
		double		sum = 0;

		for (int32_t i = 0; i < strategy->rows; i++)
			sum += norm == PE_L1 ? fabs(a[(size_t) i * n + j]) : a[(size_t) i * n + j] * a[(size_t) i * n + j];
		*largest = fmax(*largest, sum);
	}
	pe_la_gemm(false, true, n, n, strategy->rows, 1, a, n, a, n, 0, x, n);
	for (size_t i = 0; axis->centre != NULL && i < (size_t) n * n; i++)
		x[i] += x[0] + 1;
	if (!pe_la_inverse(n, x, n))
		fail_msg("a matrix of an axis is not of full rank");
	pe_free(a);
	return x;
}

#endif

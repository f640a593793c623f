/*
 * blocks_estimate.c
 *	  Answers from the measurements of blocks, and their variances.  See blocks.h, Estimates.
 *
 * Of a block only x_b = (x) ((I - d 1') M^+) y_b is used, an array over the columns of its axes,
 * as (w - (w'd) 1)'M^+ = w'(I - d 1') M^+.  It does not depend on the term.  A term puts together its
 * blocks axis by axis: where W are its queries along an axis, the arrays X of blocks that sum over it and
 * those Z of blocks that do not, alike in all other axes, become one, (W d) X + W Z.  So the
 * array of the whole term is reached over a tree, and nothing is larger than the arrays of its blocks
 * or of its queries, as the axes that shrink are done first.
 */
#include "blocks/blocks_terms.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "strategy/solve.h"

/* ------------------------------------------------------------------
 * From the measurements of a block to an array over its columns
 * ------------------------------------------------------------------
 */

typedef struct solver
{
	pe_block_terms terms;
	const double *y;
	/*
	 * M^+ of each matrix of an axis, columns x rows by columns; NULL until it
	 * is asked for
	 */
	double	  **inverse[PE_MAX_ATTRIBUTES];
	double	  **x;				/* x_b of each block; NULL until it is asked for, and with one term */
} solver;

/* R^-1 Q' of a dense M = Q R, inner x rows; r becomes R^-1. */
static double *
inverse_of_dense(const pe_strategy *strategy, const double *r)
{
	int32_t		n = strategy->inner;
	int32_t		rows = strategy->rows;
	double	   *m = pe_la_vector(pe_la_size(rows, n));
	double	   *q = pe_la_vector(pe_la_size(rows, n));
	double	   *inverse = pe_la_vector(pe_la_size(n, rows));

	for (size_t i = 0; i < pe_la_size(rows, n); i++)
		m[i] = strategy->dense[i];
	pe_la_gemm(false, false, rows, n, n, 1, m, rows, r, n, 0, q, rows);
	pe_la_gemm(false, true, n, rows, n, 1, r, n, q, rows, 0, inverse, n);
	pe_free(m);
	pe_free(q);
	return inverse;
}

/* B^+ M^+, columns x rows, of a strategy that is not the identity. */
static double *
inverse_of_strategy(const pe_strategy *strategy)
{
	int32_t		n = strategy->inner;
	double	   *inverse = pe_la_vector(pe_la_square(n));

	pe_strategy_triangle(strategy, inverse);
	if (!pe_la_triangle_inverse(n, inverse, n))
		pe_bug("a triangle with a zero on its diagonal");
	if (strategy->dense != NULL)
	{
		double	   *r = inverse;

		inverse = inverse_of_dense(strategy, r);
		pe_free(r);
	}
	if (strategy->basis != NULL)
	{
		double	   *z = inverse;
		double	   *b = pe_la_vector(pe_la_size(strategy->columns, n));

		if (!pe_basis_inverse(strategy, b))
			pe_damaged("the rows of its basis are not independent");
		inverse = pe_la_vector(pe_la_size(strategy->columns, strategy->rows));
		pe_la_gemm(false, false, strategy->columns, strategy->rows, n, 1, b, strategy->columns, z, n, 0, inverse,
				   strategy->columns);
		pe_free(z);
		pe_free(b);
	}
	return inverse;
}

/* [outer][rows][inner] becomes [outer][columns][inner]; y is freed. */
static double *
apply_inverse(const double *inverse, int32_t columns, int32_t rows, double *y, size_t outer, size_t inner)
{
	double	   *x = pe_la_vector(outer * (size_t) columns * inner);
	int32_t		width = (int32_t) inner;

	if (inner == 1)
		pe_la_gemm(false, false, columns, (int32_t) outer, rows, 1, inverse, columns, y, rows, 0, x, columns);
	else
		for (size_t o = 0; o < outer; o++)
			pe_la_gemm(false, true, width, columns, rows, 1, y + o * (size_t) rows * inner, width, inverse, columns,
					   0, x + o * (size_t) columns * inner, width);
	pe_free(y);
	return x;
}

/* (I - d 1') M^+ along one axis. */
static double *
solve_axis(solver *s, int a, int matrix, double *y, size_t outer, size_t inner)
{
	const pe_axis *axis = &s->terms.axis[a];
	const pe_axis_matrix *m = &axis->matrix[matrix];
	size_t		n = (size_t) axis->cells;

	if (!pe_axis_is_diagonal(axis, matrix))
	{
		if (s->inverse[a] == NULL)
			s->inverse[a] = pe_alloc((size_t) axis->matrices, sizeof(double *));
		if (s->inverse[a][matrix] == NULL)
			s->inverse[a][matrix] = inverse_of_strategy(&m->strategy);
		y = apply_inverse(s->inverse[a][matrix], axis->cells, m->strategy.rows, y, outer, inner);
	}
	if (axis->centre != NULL)
		pe_axis_recentre(axis, y, outer, inner);
	for (size_t i = 0; m->centred && i < outer * n * inner; i++)
		y[i] /= (double) n;
	return y;
}

static double *
solve_block(solver *s, int32_t block)
{
	const pe_blocks *blocks = s->terms.blocks;
	size_t		inner = (size_t) (blocks->first[block + 1] - blocks->first[block]);
	size_t		outer = 1;
	double	   *x = pe_la_vector(inner);

	memcpy(x, s->y + blocks->first[block], inner * sizeof(double));
	for (int a = 0; a < blocks->axes; a++)
	{
		int			matrix = pe_blocks_choice(blocks, block, a);

		if (matrix < 0)
			continue;
		inner /= (size_t) pe_axis_rows(&blocks->axis[a], matrix);
		x = solve_axis(s, a, matrix, x, outer, inner);
		outer *= (size_t) blocks->axis[a].cells;
	}
	return x;
}

/* x_b, to be freed: a copy, if other terms may ask for it. */
static double *
take_block(solver *s, int32_t block)
{
	size_t		columns = pe_blocks_columns_from(s->terms.blocks, block, 0);
	double	   *copy;

	if (s->terms.workload->terms == 1)
		return solve_block(s, block);
	if (s->x[block] == NULL)
		s->x[block] = solve_block(s, block);
	copy = pe_la_vector(columns);
	memcpy(copy, s->x[block], columns * sizeof(double));
	return copy;
}

/* ------------------------------------------------------------------
 * Estimates
 * ------------------------------------------------------------------
 */

/*
 * The numbers of an array before and behind those of the axis at a depth: axes deeper than it have become
 * queries, those before it still have columns, where the members take a matrix of them.
 */
static void
extents(const pe_view *view, int depth, const int8_t *key, size_t *outer, size_t *inner)
{
	*outer = 1;
	*inner = 1;
	for (int d = 0; d < view->axes; d++)
	{
		const pe_side *side = view->side[view->order[d]];
		int32_t		size = d > depth ? side->queries : key[d] >= 0 ? side->axis->cells : 1;

		if (d != depth)
			*(view->order[d] < view->order[depth] ? outer : inner) *= (size_t) size;
	}
}

/* to + from; one of them is freed. */
static double *
merge(double *to, double *from, size_t count)
{
	for (size_t i = 0; to != NULL && i < count; i++)
		to[i] += from[i];
	if (to == NULL)
		return from;
	pe_free(from);
	return to;
}

/* (W d) summed + W taken; both are freed. */
static double *
combine_side(const pe_side *side, double *summed, double *taken, size_t outer, size_t inner)
{
	size_t		queries = (size_t) side->queries;
	double	   *out = taken != NULL ? pe_side_contract(side, taken, outer, inner)
		: pe_la_vector(outer * queries * inner);

	for (size_t o = 0; summed != NULL && o < outer; o++)
		for (size_t q = 0; q < queries; q++)
			for (size_t i = 0; side->total[q] != 0 && i < inner; i++)
				out[(o * queries + q) * inner + i] += side->total[q] * summed[o * inner + i];
	pe_free(summed);
	pe_free(taken);
	return out;
}

/* The members from first to end are alike in all axes before depth; those from depth on become queries. */
static double *
estimate_from(solver *s, const pe_view *view, int depth, int32_t first, int32_t end)
{
	const pe_member *member = &view->member[first];
	const pe_side *side;
	double	   *summed = NULL;
	double	   *taken = NULL;
	size_t		outer;
	size_t		inner;

	if (depth == view->axes)
		return take_block(s, member->block);
	side = view->side[view->order[depth]];
	extents(view, depth, member->key, &outer, &inner);
	for (int32_t next; first < end; first = next)
	{
		double	   *part;

		next = pe_view_group(view, depth, first, end);
		part = estimate_from(s, view, depth + 1, first, next);
		if (view->member[first].key[depth] < 0)
			summed = merge(summed, part, outer * inner);
		else
			taken = merge(taken, part, outer * (size_t) side->axis->cells * inner);
	}
	return combine_side(side, summed, taken, outer, inner);
}

static void
estimate_term(solver *s, const pe_term *term, double *estimate)
{
	pe_view		view;
	double	   *array;

	pe_view_init(&s->terms, term, true, &view);
	array = view.members > 0 ? estimate_from(s, &view, 0, 0, view.members) : pe_la_vector((size_t) term->queries);
	pe_view_scatter(&view, array, estimate);
	pe_free(array);
	pe_view_free(&view);
}

void
pe_blocks_estimate(const pe_blocks *blocks, const pe_workload *workload, const double *y, double *estimate)
{
	solver		s = {.y = y};

	pe_block_terms_init(blocks, workload, &s.terms);
	s.x = pe_alloc((size_t) blocks->blocks, sizeof(double *));
	for (int32_t t = 0; t < workload->terms; t++)
		estimate_term(&s, &workload->term[t], estimate);
	for (int32_t b = 0; b < blocks->blocks; b++)
		pe_free(s.x[b]);
	pe_free(s.x);
	for (int a = 0; a < blocks->axes; a++)
	{
		for (int m = 0; s.inverse[a] != NULL && m < blocks->axis[a].matrices; m++)
			pe_free(s.inverse[a][m]);
		pe_free(s.inverse[a]);
	}
	pe_block_terms_free(&s.terms);
}

/* ------------------------------------------------------------------
 * Variances
 * ------------------------------------------------------------------
 */

static void
variance_of_term(pe_block_terms *terms, const pe_term *term, double *variance)
{
	pe_coefficients of_axis[PE_MAX_ATTRIBUTES];
	pe_view		view;
	double	   *array;

	pe_view_init(terms, term, false, &view);
	pe_view_variances(terms, &view, of_axis);
	array = pe_view_product(&view, of_axis, terms->relative);
	pe_view_scatter(&view, array, variance);
	pe_free(array);
	pe_view_free(&view);
}

void
pe_blocks_variance(const pe_blocks *blocks, const pe_workload *workload, double *variance)
{
	pe_block_terms terms;

	pe_block_terms_init(blocks, workload, &terms);
	for (int32_t t = 0; t < workload->terms; t++)
		variance_of_term(&terms, &workload->term[t], variance);
	pe_block_terms_free(&terms);
}

/* ------------------------------------------------------------------
 * With the total
 *
 * Weights that are 1 in every cell have no part orthogonal to a centre.  So the
 * total follows from the one block that sums over all axes with a centre, and is
 * t'y_b, t = (x) M_a^+'1 over the axes without.  A query e'y varies with it as
 * e_b't times the variance of y_b: as the answer to it, of t times that variance.
 * ------------------------------------------------------------------
 */

/* M^+'1 = M C 1 */
static double *
total_along(const pe_axis *axis, int matrix)
{
	const pe_strategy *strategy = &axis->matrix[matrix].strategy;
	int32_t		rows = strategy->rows;
	double	   *with = pe_strategy_covariance_with_total(strategy);
	double	   *entries;
	double	   *weight;

	if (pe_axis_is_diagonal(axis, matrix))
		return with;
	entries = pe_la_vector(pe_la_size(rows, axis->cells));
	weight = pe_la_vector((size_t) rows);
	pe_strategy_matrix(strategy, entries);
	/* by rows: the transpose of a matrix by columns */
	pe_la_gemv(true, axis->cells, rows, 1, entries, axis->cells, with, 0, weight);
	pe_free(entries);
	pe_free(with);
	return weight;
}

/* t times the variance of the block. */
static void
put_total(const pe_blocks *blocks, int32_t block, double *y)
{
	size_t		count = 1;

	y[0] = pe_blocks_relative_variance(blocks, block);
	for (int a = 0; a < blocks->axes; a++)
	{
		int			matrix = pe_blocks_choice(blocks, block, a);
		size_t		rows = matrix >= 0 ? (size_t) pe_axis_rows(&blocks->axis[a], matrix) : 1;
		double	   *weight = matrix >= 0 ? total_along(&blocks->axis[a], matrix) : NULL;

		/* from behind: no number is written over before it is read */
		for (size_t i = count * rows; weight != NULL && i-- > 0;)
			y[i] = y[i / rows] * weight[i % rows];
		count *= rows;
		pe_free(weight);
	}
}

void
pe_blocks_covariance_with_total(const pe_blocks *blocks, const pe_workload *workload, double *covariance)
{
	double	   *y = pe_la_vector((size_t) blocks->first[blocks->blocks]);

	for (int32_t b = 0; b < blocks->blocks; b++)
		if (pe_blocks_centred_axes(blocks, b) == 0)
			put_total(blocks, b, y + blocks->first[b]);
	pe_blocks_estimate(blocks, workload, y, covariance);
	pe_free(y);
}

/* ------------------------------------------------------------------
 * Memory
 * ------------------------------------------------------------------
 */

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Numbers that matrices of an axis take, inverted, and while they are. */
static size_t
numbers_of_axis(const pe_axis *axis)
{
	size_t		n = (size_t) axis->cells;
	size_t		numbers = 0;
	size_t		most = 0;

	for (int m = 0; m < axis->matrices; m++)
	{
		size_t		rows = (size_t) pe_axis_rows(axis, m);

		if (pe_axis_is_diagonal(axis, m))
			continue;
		numbers += n * rows;
		most = larger(most, 4 * n * n + 3 * n * rows);
	}
	return numbers + most;
}

/* Numbers that the queries along an axis take. */
static size_t
numbers_of_side(const pe_side *side)
{
	size_t		classes = (size_t) side->classes.cells;
	size_t		numbers = (size_t) side->queries * (size_t) (side->axis->matrices + 8) + 4 * classes;
	bool		diagonal = true;

	for (int m = 0; m < side->axis->matrices; m++)
		diagonal = diagonal && pe_axis_is_diagonal(side->axis, m);
	if (!diagonal)
		numbers += pe_workload_quadratic_memory(&side->part, &side->classes) / sizeof(double) + classes * classes;
	return numbers;
}

size_t
pe_blocks_estimate_memory(const pe_blocks *blocks, const pe_workload *workload)
{
	size_t		largest = 0;	/* of all arrays over queries or columns */
	size_t		summed = 0;		/* beside it stand those of blocks that sum over one axis more, and so on */
	size_t		numbers = 8 * (size_t) blocks->blocks;
	size_t		sides = workload->terms < PE_KEPT_SIDES ? (size_t) workload->terms : PE_KEPT_SIDES;
	size_t		of_axis[PE_MAX_ATTRIBUTES] = {0};
	pe_block_terms terms;

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		size_t		columns = pe_blocks_columns_from(blocks, b, 0);

		numbers += workload->terms > 1 ? columns : 0;
		largest = larger(largest, columns);
	}
	pe_block_terms_init(blocks, workload, &terms);
	for (int32_t t = 0; t < workload->terms; t++)
	{
		const pe_term *term = &workload->term[t];
		pe_view		view;

		pe_view_init(&terms, term, false, &view);
		for (int k = 0; k < view.axes; k++)
			of_axis[view.axis[k]] = larger(of_axis[view.axis[k]], numbers_of_side(view.side[k]));
		largest = larger(largest, (size_t) term->queries);
		pe_view_free(&view);
	}
	pe_block_terms_free(&terms);
	for (int a = 0; a < blocks->axes; a++)
	{
		numbers += numbers_of_axis(&blocks->axis[a]) + sides * of_axis[a];
		summed += blocks->axis[a].centre != NULL ? largest / (size_t) blocks->axis[a].cells + 1 : 0;
	}
	return (numbers + 5 * largest + summed) * sizeof(double);
}

/*
 * wavelets.c
 *	  Haar wavelets and trees.  See published.h.
 */
#include "published/published.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

/* Part of the largest weight that the others have at least. */

/* More than the levels of any strategy: the columns are counted in 32 bits. */
#define MOST_LEVELS 33

/* ---- rows ---- */

/* Rows that strategies of n columns have at most: ceil(n / 2^h) for every h. */
static size_t
most_rows(int32_t n)
{
	return 2 * (size_t) n + MOST_LEVELS;
}

static void
levels_init(int32_t n, int32_t wavelet, pe_levels *levels)
{
	if (n < 1)
		pe_bug("levels without columns");
	memset(levels, 0, sizeof(*levels));
	levels->n = n;
	levels->wavelet = wavelet;
	levels->row = pe_alloc(most_rows(n), sizeof(*levels->row));
}

static int32_t
lesser(int64_t a, int32_t b)
{
	return a < b ? (int32_t) a : b;
}

/* A level of intervals of this width; their second parts, from `middle' columns on, count negatively. */
static void
add_level(pe_levels *levels, int64_t width, int64_t middle)
{
	int32_t		n = levels->n;

	for (int64_t first = 0; first < n; first += width)
		levels->row[levels->rows++] = (pe_level_row) {
			.level = levels->levels,
			.first = (int32_t) first,
			.middle = lesser(first + middle, n),
			.end = lesser(first + width, n)
		};
	levels->levels++;
}

void
pe_levels_haar(int32_t n, pe_levels *levels)
{
	int64_t		size = 1;

	while (size < n)
		size *= 2;
	levels_init(n, (int32_t) size, levels);
	add_level(levels, size, size);
	for (int64_t width = size; width > 1; width /= 2)
		add_level(levels, width, width / 2);
}

void
pe_levels_tree(int32_t n, int32_t branching, bool with_root, pe_levels *levels)
{
	int64_t		width = 1;

	if (branching < 2)
		pe_bug("a tree that does not branch");
	while (width < n)
		width *= branching;
	levels_init(n, 0, levels);
	if (!with_root && width > 1)
		width /= branching;
	for (; width >= 1; width /= branching)
		add_level(levels, width, width);
}

void
pe_levels_free(pe_levels *levels)
{
	pe_free(levels->row);
	memset(levels, 0, sizeof(*levels));
}

/* The entry of a row at a column of its interval. */
static int32_t
entry(const pe_level_row *row, int32_t column)
{
	return column < row->middle ? 1 : -1;
}

void
pe_levels_matrix(const pe_levels *levels, int32_t *matrix)
{
	size_t		rows = (size_t) levels->rows;

	memset(matrix, 0, rows * (size_t) levels->n * sizeof(int32_t));
	for (size_t i = 0; i < rows; i++)
		for (int32_t j = levels->row[i].first; j < levels->row[i].end; j++)
			matrix[i + (size_t) j * rows] = entry(&levels->row[i], j);
}

/* ---- errors ---- */

/* Delta^2: every column has one entry of each level. */
static double
sensitivity_sq(const pe_levels *levels, const double *weights, pe_norm norm)
{
	double		sum = 0.0;

	for (int32_t l = 0; l < levels->levels; l++)
	{
		double		weight = weights != NULL ? weights[l] : 1.0;

		sum += norm == PE_L1 ? weight : weight * weight;
	}
	return norm == PE_L1 ? sum * sum : sum;
}

/* The upper triangle of A'A. */
static double *
normal_matrix(const pe_levels *levels, const double *weights)
{
	size_t		n = (size_t) levels->n;
	double	   *x = pe_alloc(n * n, sizeof(double));

	for (int32_t k = 0; k < levels->rows; k++)
	{
		const pe_level_row *row = &levels->row[k];
		double		weight = weights != NULL ? weights[row->level] : 1.0;

		for (int32_t j = row->first; j < row->end; j++)
			for (int32_t i = row->first; i <= j; i++)
				x[(size_t) i + (size_t) j * n] += weight * weight * entry(row, i) * entry(row, j);
	}
	return x;
}

/* tr(V C) for the upper triangle of C. */
static double
trace_of_product(int32_t n, const double *v, const double *c)
{
	double		sum = 0.0;

	for (int32_t j = 0; j < n; j++)
	{
		const double *left = v + (size_t) j * (size_t) n;
		const double *right = c + (size_t) j * (size_t) n;

		for (int32_t i = 0; i < j; i++)
			sum += 2.0 * left[i] * right[i];
		sum += left[j] * right[j];
	}
	return sum;
}

double
pe_levels_error(const pe_levels *levels, const double *weights, const double *v, pe_norm norm)
{
	int32_t		n = levels->n;
	double	   *x = normal_matrix(levels, weights);
	double		error = INFINITY;

	pe_poll();
	if (pe_la_cholesky(n, x, n) && pe_la_triangle_inverse(n, x, n))
	{
		pe_poll();
		pe_la_triangle_square(n, x, n);
		error = sensitivity_sq(levels, weights, norm) * trace_of_product(n, v, x);
	}
	pe_free(x);
	return error;
}

/* sum of u_i V_ij u_j over an interval */
static double
form_on(const double *v, int32_t n, const double *u, int32_t first, int32_t end)
{
	double		sum = 0.0;

	for (int32_t j = first; j < end; j++)
	{
		const double *column = v + (size_t) j * (size_t) n;
		double		product = 0.0;

		for (int32_t i = first; i < end; i++)
			product += column[i] * u[i];
		sum += product * u[j];
	}
	return sum;
}

/*
 * tr(V X^-1) for a tree's X = A'A.  X grows from that of the leaves, I, by 11' on the
 * interval of one node after the other, the smaller ones first.  With u = X^-1 1
 * there,
 *
 *	 (X + 11')^-1 = X^-1 - uu' / (1 + 1'u),
 *
 * (Sherman and Morrison), and u becomes u / (1 + 1'u), whose parts are those that the
 * intervals around it need.
 */
static double
tree_trace(const pe_levels *tree, const double *v)
{
	int32_t		n = tree->n;
	double	   *u = pe_alloc((size_t) n, sizeof(double));
	double		trace = 0.0;

	for (int32_t j = 0; j < n; j++)
	{
		u[j] = 1.0;
		trace += v[j + (size_t) j * (size_t) n];
	}
	for (int32_t k = tree->rows - n; k-- > 0;)
	{
		const pe_level_row *row = &tree->row[k];
		double		sum = 1.0;

		for (int32_t j = row->first; j < row->end; j++)
			sum += u[j];
		trace -= form_on(v, n, u, row->first, row->end) / sum;
		for (int32_t j = row->first; j < row->end; j++)
			u[j] /= sum;
	}
	pe_free(u);
	return trace;
}

static double
tree_error(const pe_levels *tree, const double *v, pe_norm norm)
{
	pe_poll();
	return sensitivity_sq(tree, NULL, norm) * tree_trace(tree, v);
}

double
pe_levels_tree_error(const double *v, int32_t n, int32_t branching, bool with_root, pe_norm norm)
{
	pe_levels	tree;
	double		error;

	pe_levels_tree(n, branching, with_root, &tree);
	error = tree_error(&tree, v, norm);
	pe_levels_free(&tree);
	return error;
}

void
pe_levels_best_tree(const double *v, int32_t n, pe_norm norm, pe_levels *levels)
{
	double		least = INFINITY;
	int32_t		best = 2;
	bool		with_root = true;

	for (int32_t branching = 2; branching <= PE_MOST_BRANCHING; branching++)
		for (int root = 1; root >= 0; root--)
		{
			double		error = pe_levels_tree_error(v, n, branching, root == 1, norm);

			if (error < least)
			{
				least = error;
				best = branching;
				with_root = root == 1;
			}
		}
	pe_levels_tree(n, best, with_root, levels);
}

/* ---- memory ---- */

/* X, the rows of a tree that is tried, and a vector; 16 bytes are what an allocation takes besides, and more. */
size_t
pe_levels_memory(int32_t n)
{
	return sizeof(double) * (pe_la_square(n) + (size_t) n) + 2 * most_rows(n) * sizeof(pe_level_row) + 1024;
}

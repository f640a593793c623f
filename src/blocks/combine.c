/*
 * combine.c
 *	  Several releases of the same rows as one measurement.  See combine.h.
 */
#include "blocks/combine.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "optimum/optimum.h"

/*
 * Columns are dependent if the square of what is left of each, of length 1
 * before, is at most this: more than rounding leaves of nothing in a matrix of
 * order 4096, and less than what columns that are independent leave.
 */
#define DEPENDENT 1e-10

/* ------------------------------------------------------------------
 * Classes and groups
 * ------------------------------------------------------------------
 */

/* The first cell of a joint class, by the attributes of a measurement. */
static void
first_cell(const pe_measurement *m, const pe_classes *joint, int32_t class, int32_t *cell)
{
	int32_t		at[PE_MAX_ATTRIBUTES];

	for (int a = joint->attributes - 1; a >= 0; class /= joint->count[a--])
		at[a] = joint->first[a][class % joint->count[a]];
	for (int a = 0; a < m->measured.workload->shape.attributes; a++)
		cell[a] = at[m->place[a]];
}

/* The class of the measurement's own workload that a cell is in. */
static int32_t
own_class(const pe_measurement *m, const pe_classes *own, const int32_t *cell)
{
	int32_t		index = 0;

	for (int a = 0; a < m->measured.workload->shape.attributes; a++)
		index = index * own->count[a] + own->class_of[a][cell[a]];
	return index;
}

/* The columns of blocks that a cell of a possible class is in, as one number. */
static int64_t
key_of_blocks(const pe_blocks *blocks, const int32_t *cell)
{
	int64_t		key = 0;

	for (int a = 0; a < blocks->attributes; a++)
		key = key * (blocks->columns[a] + 2) + (blocks->column_of[a] != NULL ? blocks->column_of[a][cell[a]] : 0) + 1;
	return key;
}

/* Which of the joint classes have a cell that the predicate leaves. */
static bool *
possible_classes(const pe_combination *c, const bool *possible)
{
	const pe_shape *shape = &c->workload->shape;
	int32_t		cells = possible != NULL ? pe_shape_cells(shape) : 0;
	bool	   *of_class = pe_alloc(c->classes.cells, sizeof(bool));

	memset(of_class, possible == NULL, c->classes.cells * sizeof(bool));
	for (int32_t cell = 0; cell < cells; cell++)
		if (possible[cell])
			of_class[pe_classes_of_cell(&c->classes, shape, cell)] = true;
	return of_class;
}

/* Of a measurement by blocks: classes with the same columns are one. */
static void
find_columns_of_blocks(pe_combination *c, int i, const bool *possible)
{
	const pe_measurement *m = &c->measurement[i];
	int64_t    *key = pe_alloc(c->classes.cells, sizeof(int64_t));
	int32_t		cell[PE_MAX_ATTRIBUTES];

	for (int32_t k = 0; k < c->classes.cells; k++)
	{
		int32_t		column = 0;
		int64_t		wanted;

		first_cell(m, &c->classes, k, cell);
		wanted = possible[k] ? key_of_blocks(m->measured.strategy->blocks, cell) : PE_RULED_OUT;
		while (column < c->columns[i] && key[column] != wanted)
			column++;
		if (wanted >= 0 && column == c->columns[i])
			key[c->columns[i]++] = wanted;
		c->column_of[(size_t) k * c->count + i] = wanted >= 0 ? column : PE_RULED_OUT;
	}
	pe_free(key);
}

static void
find_columns_of(pe_combination *c, int i, const bool *possible)
{
	const pe_measurement *m = &c->measurement[i];
	int32_t		cell[PE_MAX_ATTRIBUTES];
	pe_classes	own;

	pe_classes_init(&m->measured.workload, 1, &own);
	if (own.cells != m->measured.strategy->classes)
		pe_bug("a strategy for another workload");
	for (int32_t k = 0; k < c->classes.cells; k++)
	{
		first_cell(m, &c->classes, k, cell);
		c->column_of[(size_t) k * c->count + i] =
			possible[k] ? m->measured.strategy->column_of[own_class(m, &own, cell)] : PE_RULED_OUT;
	}
	c->columns[i] = m->measured.strategy->columns;
	pe_classes_free(&own);
}

static void
find_columns(pe_combination *c, const bool *possible)
{
	bool	   *of_class = possible_classes(c, possible);

	c->column_of = pe_alloc((size_t) c->classes.cells * c->count, sizeof(int32_t));
	c->columns = pe_alloc(c->count, sizeof(int32_t));
	for (int i = 0; i < c->count; i++)
		if (c->measurement[i].measured.strategy->blocks != NULL)
			find_columns_of_blocks(c, i, of_class);
		else
			find_columns_of(c, i, of_class);
	pe_free(of_class);
}

/* The group of a class among those so far; how many there are if it begins one. */
static int32_t
group_like(const pe_combination *c, const int32_t *column)
{
	for (int32_t g = 0; g < c->groups; g++)
		if (memcmp(column, c->column_of + (size_t) c->class_of[g] * c->count, c->count * sizeof(int32_t)) == 0)
			return g;
	return c->groups;
}

static void
find_groups(pe_combination *c)
{
	c->group_of = pe_alloc(c->classes.cells, sizeof(int32_t));
	c->members = pe_alloc(c->classes.cells, sizeof(int32_t));
	c->class_of = pe_alloc(c->classes.cells, sizeof(int32_t));
	for (int32_t k = 0; k < c->classes.cells; k++)
	{
		const int32_t *column = c->column_of + (size_t) k * c->count;
		int32_t		best = PE_RULED_OUT;

		for (int i = 0; i < c->count; i++)
			best = column[i] > best ? column[i] : best;
		if (best >= 0)
		{
			best = group_like(c, column);
			if (c->members[best]++ == 0)
				c->class_of[c->groups++] = k;
		}
		c->group_of[k] = best;
	}
}

/* All workloads over the joint shape, that asked behind the others; false if one cannot be. */
static bool
spread(pe_combination *c, pe_workload *over, const pe_workload **list)
{
	list[c->count] = c->workload;
	for (int i = 0; i < c->count; i++)
	{
		if (!pe_workload_over(c->measurement[i].measured.workload, &c->workload->shape,
							  c->measurement[i].place, &over[i]))
		{
			while (--i >= 0)
				pe_workload_basis_free(&over[i]);
			return false;
		}
		list[i] = &over[i];
	}
	return true;
}

pe_combination_status
pe_combination_init(const pe_measurement *measurement, int count, const pe_workload *workload,
					const bool *possible, pe_combination *c)
{
	pe_workload *over = pe_alloc(count, sizeof(pe_workload));
	const pe_workload **list = pe_alloc(count + 1, sizeof(pe_workload *));

	*c = (pe_combination) {.measurement = measurement, .count = count, .workload = workload};
	if (!spread(c, over, list))
	{
		pe_free(over);
		pe_free(list);
		return PE_COMBINATION_MATRIX;
	}
	pe_classes_init(list, count + 1, &c->classes);
	for (int i = 0; i < count; i++)
		pe_workload_basis_free(&over[i]);
	pe_free(over);
	pe_free(list);
	if (c->classes.cells > PE_OPTIMUM_CELLS)
	{
		pe_combination_free(c);
		return PE_COMBINATION_TOO_LARGE;
	}
	find_columns(c, possible);
	find_groups(c);
	return PE_COMBINATION_OK;
}

void
pe_combination_free(pe_combination *c)
{
	pe_classes_free(&c->classes);
	pe_free(c->column_of);
	pe_free(c->columns);
	pe_free(c->group_of);
	pe_free(c->members);
	pe_free(c->class_of);
	pe_free(c->r);
	memset(c, 0, sizeof(*c));
}

size_t
pe_combination_memory(const pe_combination *c)
{
	size_t		largest = 0;
	size_t		square = pe_la_square(c->groups + 1);

	for (int i = 0; i < c->count; i++)
	{
		const pe_strategy *s = c->measurement[i].measured.strategy;
		size_t		numbers = pe_la_size(s->rows, 2 * c->columns[i] + 4) + pe_la_square(c->columns[i]);

		largest = numbers > largest ? numbers : largest;
	}
	/* A_i and the matrix of the groups, or the triangle with the rows below it; then two of the classes */
	return (largest + 4 * square + 2 * pe_la_square(c->classes.cells)) * sizeof(double) +
		pe_workload_quadratic_memory(c->workload, &c->classes);
}

/* ------------------------------------------------------------------
 * The triangle
 * ------------------------------------------------------------------
 */

/* The first joint class of each column of a measurement. */
static int32_t *
classes_of_columns(const pe_combination *c, int i)
{
	int32_t    *class = pe_alloc(c->columns[i], sizeof(int32_t));

	for (int32_t k = c->classes.cells - 1; k >= 0; k--)
		if (c->column_of[(size_t) k * c->count + i] >= 0)
			class[c->column_of[(size_t) k * c->count + i]] = k;
	return class;
}

/* The matrices of an axis, by rows. */
static double **
matrices_of_axis(const pe_axis *axis)
{
	double	  **matrix = pe_alloc(axis->matrices, sizeof(double *));

	for (int m = 0; m < axis->matrices; m++)
	{
		matrix[m] = pe_alloc(pe_la_size(pe_axis_rows(axis, m), axis->cells), sizeof(double));
		if (axis->matrix[m].centred)
			for (int32_t i = 0; i < axis->cells; i++)
				for (int32_t j = 0; j < axis->cells; j++)
					matrix[m][(size_t) i * axis->cells + j] = (i == j ? axis->cells : 0) - 1;
		else
			pe_strategy_matrix(&axis->matrix[m].strategy, matrix[m]);
	}
	return matrix;
}

/* The column of an axis that a cell is in, or PE_NOT_ASKED. */
static int32_t
column_of_axis(const pe_blocks *blocks, const pe_axis *axis, const int32_t *cell)
{
	int32_t		index = 0;

	for (int i = 0; i < axis->attributes; i++)
	{
		int			attribute = axis->attribute[i];
		int32_t		column = blocks->column_of[attribute][cell[attribute]];

		if (column < 0)
			return PE_NOT_ASKED;
		index = index * blocks->columns[attribute] + column;
	}
	return index;
}

/* One column of a block, the product of its matrices' columns, from its first row on; the rows are `step` apart. */
static void
fill_column(const pe_blocks *blocks, int32_t block, double **const *matrix, const int32_t *cell, size_t step, double *a)
{
	int64_t		done = 1;

	a[0] = 1;
	for (int x = 0; x < blocks->axes; x++)
	{
		const pe_axis *axis = &blocks->axis[x];
		int			m = pe_blocks_choice(blocks, block, x);
		int32_t		column = m >= 0 ? column_of_axis(blocks, axis, cell) : 0;
		int32_t		rows = m >= 0 ? pe_axis_rows(axis, m) : 1;

		/* from the last on: what is read has not been written over yet */
		for (int64_t i = done - 1; i >= 0 && m >= 0; i--)
			for (int32_t r = rows - 1; r >= 0; r--)
				a[(size_t) (i * rows + r) * step] =
					column >= 0 ? a[(size_t) i * step] * matrix[x][m][(size_t) r * axis->cells + column] : 0;
		done *= rows;
	}
}

/* Blocks by rows. */
static void
matrix_of_blocks(const pe_combination *c, int i, double *a)
{
	const pe_measurement *m = &c->measurement[i];
	const pe_blocks *blocks = m->measured.strategy->blocks;
	int32_t    *class = classes_of_columns(c, i);
	double	 ***matrix = pe_alloc(blocks->axes, sizeof(*matrix));
	int32_t		cell[PE_MAX_ATTRIBUTES];

	for (int x = 0; x < blocks->axes; x++)
		matrix[x] = matrices_of_axis(&blocks->axis[x]);
	for (int32_t k = 0; k < c->columns[i]; k++)
	{
		pe_poll();
		first_cell(m, &c->classes, class[k], cell);
		for (int32_t b = 0; b < blocks->blocks; b++)
			fill_column(blocks, b, matrix, cell, c->columns[i], a + (size_t) blocks->first[b] * c->columns[i] + k);
	}
	for (int x = 0; x < blocks->axes; x++)
	{
		for (int j = 0; j < blocks->axis[x].matrices; j++)
			pe_free(matrix[x][j]);
		pe_free(matrix[x]);
	}
	pe_free(matrix);
	pe_free(class);
}

/* Divides rows and what was measured by the deviation of their block's noise. */
static void
scale_blocks(const pe_measurement *m, int32_t columns, double *a, double *y)
{
	const pe_blocks *blocks = m->measured.strategy->blocks;

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		double		scale = 1 / sqrt(pe_blocks_relative_variance(blocks, b));

		for (int64_t r = blocks->first[b]; r < blocks->first[b + 1]; r++)
		{
			y[r] = ldexp((double) m->y[r], -m->measured.lattice[b]) * scale;
			for (int32_t k = 0; k < columns; k++)
				a[(size_t) r * columns + k] *= scale;
		}
	}
}

/* A_i, by rows, and y_i, in units of the answers: all with the same noise. */
static double *
matrix_of(const pe_combination *c, int i, double *y)
{
	const pe_measurement *m = &c->measurement[i];
	const pe_strategy *strategy = m->measured.strategy;
	double	   *a = pe_alloc(pe_la_size(strategy->rows, c->columns[i]), sizeof(double));

	if (strategy->blocks != NULL)
	{
		matrix_of_blocks(c, i, a);
		scale_blocks(m, c->columns[i], a, y);
		return a;
	}
	pe_strategy_matrix(strategy, a);
	for (int32_t r = 0; r < strategy->rows; r++)
		y[r] = (double) m->y[r] * m->unit;
	return a;
}

/* The column of a group in a measurement; below 0: it does not see the group. */
static int32_t
column_of_group(const pe_combination *c, int32_t group, int i)
{
	return c->column_of[(size_t) c->class_of[group] * c->count + i];
}

/* n += A_i'A_i over the groups, scaled to a largest diagonal of 1. */
static void
add_gram(const pe_combination *c, int i, double *n)
{
	int32_t		rows = c->measurement[i].measured.strategy->rows;
	int32_t		columns = c->columns[i];
	double	   *y = pe_alloc(rows, sizeof(double));
	double	   *a = matrix_of(c, i, y);
	double	   *gram = pe_alloc(pe_la_square(columns), sizeof(double));
	double		largest;

	pe_poll();
	pe_la_syrk(false, columns, rows, 1, a, columns, 0, gram, columns);
	pe_la_mirror(columns, gram, columns);
	largest = pe_la_largest_diagonal(columns, gram);
	for (int32_t g = 0; g < c->groups; g++)
		for (int32_t h = 0; h < c->groups; h++)
		{
			int32_t		from = column_of_group(c, g, i);
			int32_t		to = column_of_group(c, h, i);

			if (from >= 0 && to >= 0 && largest > 0)
				n[(size_t) g * c->groups + h] += gram[(size_t) from * columns + to] / largest;
		}
	pe_free(gram);
	pe_free(a);
	pe_free(y);
}

/* Scales columns to length 1; one of zeros stays. */
static void
scale_gram(int32_t groups, double *n)
{
	double	   *scale = pe_alloc(groups, sizeof(double));

	for (int32_t g = 0; g < groups; g++)
		scale[g] = n[(size_t) g * groups + g] > 0 ? 1 / sqrt(n[(size_t) g * groups + g]) : 0;
	for (int32_t g = 0; g < groups; g++)
		for (int32_t h = 0; h < groups; h++)
			n[(size_t) g * groups + h] *= scale[g] * scale[h];
	pe_free(scale);
}

/* Numbers the groups anew: group pivot[g] becomes g. */
static void
order_groups(pe_combination *c, const int32_t *pivot)
{
	int32_t    *class_of = pe_alloc(c->classes.cells, sizeof(int32_t));
	int32_t    *members = pe_alloc(c->classes.cells, sizeof(int32_t));
	int32_t    *number = pe_alloc(c->classes.cells, sizeof(int32_t));

	for (int32_t g = 0; g < c->groups; g++)
	{
		class_of[g] = c->class_of[pivot[g]];
		members[g] = c->members[pivot[g]];
		number[pivot[g]] = g;
	}
	for (int32_t k = 0; k < c->classes.cells; k++)
		if (c->group_of[k] >= 0)
			c->group_of[k] = number[c->group_of[k]];
	pe_free(c->class_of);
	pe_free(c->members);
	pe_free(number);
	c->class_of = class_of;
	c->members = members;
}

/* Puts independent groups in front. */
static void
find_rank(pe_combination *c)
{
	double	   *n = pe_alloc(pe_la_square(c->groups), sizeof(double));
	double	   *work = pe_alloc(2 * (size_t) c->groups, sizeof(double));
	int32_t    *pivot = pe_alloc(c->groups, sizeof(int32_t));

	for (int i = 0; i < c->count; i++)
		add_gram(c, i, n);
	scale_gram(c->groups, n);
	c->rank = pe_la_cholesky_pivoted(c->groups, n, c->groups, DEPENDENT, pivot, work);
	order_groups(c, pivot);
	pe_free(n);
	pe_free(work);
	pe_free(pivot);
}

/* Rows of (A_i | y_i) / s_i over the groups, below the triangle in a block of so many rows. */
static void
stack_rows(const pe_combination *c, int i, const double *a, const double *y, int32_t count, double *below, int32_t room)
{
	double		noise = c->measurement[i].stderr_;

	for (int32_t g = 0; g < c->groups; g++)
	{
		int32_t		column = column_of_group(c, g, i);

		for (int32_t k = 0; k < count; k++)
			below[(size_t) g * room + k] = column >= 0 ? a[(size_t) k * c->columns[i] + column] / noise : 0;
	}
	for (int32_t k = 0; k < count; k++)
		below[(size_t) c->groups * room + k] = y[k] / noise;
}

/* Takes the rows of a measurement into the triangle, as many at a time as it has itself. */
static void
add_rows(pe_combination *c, int i, double *block)
{
	int32_t		rows = c->measurement[i].measured.strategy->rows;
	int32_t		n = c->groups + 1;
	double	   *y = pe_alloc(rows, sizeof(double));
	double	   *a = matrix_of(c, i, y);

	for (int32_t first = 0; first < rows; first += n)
	{
		int32_t		count = rows - first < n ? rows - first : n;

		pe_poll();
		for (int32_t j = 0; j < n; j++)
			memcpy(block + (size_t) j * 2 * n, c->r + (size_t) j * n, n * sizeof(double));
		stack_rows(c, i, a + (size_t) first * c->columns[i], y + first, count, block + n, 2 * n);
		pe_la_qr_triangle(n + count, n, block, 2 * n, c->r, n);
	}
	pe_free(a);
	pe_free(y);
}

void
pe_combination_solve(pe_combination *c)
{
	int32_t		n = c->groups + 1;
	double	   *block;

	find_rank(c);
	block = pe_alloc(2 * pe_la_square(n), sizeof(double));
	c->r = pe_alloc(pe_la_square(n), sizeof(double));
	for (int i = 0; i < c->count; i++)
		add_rows(c, i, block);
	pe_free(block);
}

/* ------------------------------------------------------------------
 * Answers
 * ------------------------------------------------------------------
 */

/* A random vector over the classes to which every query that is determined is orthogonal. */
static void
probe(const void *argument, double *z)
{
	const pe_combination *c = argument;
	int32_t		n = c->groups + 1;
	double	   *sums = pe_alloc(n, sizeof(double));

	for (int32_t g = c->rank; g < c->groups; g++)
		sums[g] = pe_probe_number();
	pe_la_gemv(false, c->rank, c->groups - c->rank, -1, c->r + (size_t) c->rank * n, n, sums + c->rank, 0, sums);
	pe_la_triangle_solve(false, c->rank, 1, c->r, n, sums, n);
	pe_probe_classes(c->classes.cells, c->group_of, c->members, sums, z);
	pe_free(sums);
}

int32_t
pe_combination_undetermined(const pe_combination *c)
{
	return pe_probe_queries(c->workload, &c->classes, c->group_of, probe, c);
}

void
pe_combination_estimate(const pe_combination *c, double *estimate)
{
	int32_t		n = c->groups + 1;
	double	   *x = pe_alloc(n, sizeof(double));
	double	   *over_classes = pe_alloc(c->classes.cells, sizeof(double));

	memcpy(x, c->r + (size_t) c->groups * n, c->rank * sizeof(double));
	pe_la_triangle_solve(false, c->rank, 1, c->r, n, x, n);
	for (int32_t g = 0; g < c->rank; g++)
		over_classes[c->class_of[g]] = x[g];	/* a query has the same weight in all classes of a group */
	pe_workload_apply(c->workload, &c->classes, over_classes, estimate);
	pe_free(x);
	pe_free(over_classes);
}

void
pe_combination_variance(const pe_combination *c, double *variance)
{
	int32_t		n = c->rank;
	double	   *r = pe_alloc(pe_la_square(n), sizeof(double));
	double	   *q = pe_alloc(pe_la_square(c->classes.cells), sizeof(double));

	for (int32_t j = 0; j < n; j++)
		memcpy(r + (size_t) j * n, c->r + (size_t) j * (c->groups + 1), (j + 1) * sizeof(double));
	if (!pe_la_triangle_inverse(n, r, n))
		pe_bug("columns that were independent are not");
	pe_la_triangle_square(n, r, n);
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i <= j; i++)
			q[(size_t) c->class_of[i] * c->classes.cells + c->class_of[j]] =
				q[(size_t) c->class_of[j] * c->classes.cells + c->class_of[i]] = r[(size_t) j * n + i];
	pe_workload_quadratic(c->workload, &c->classes, q, variance);
	for (int32_t i = 0; i < c->workload->queries; i++)
		if (variance[i] < 0)	/* rounding can leave a little below zero where the truth is zero */
			variance[i] = 0;
	pe_free(r);
	pe_free(q);
}

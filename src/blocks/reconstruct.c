/*
 * reconstruct.c
 *	  From measurements back to answers.  See reconstruct.h.
 */
#include "blocks/reconstruct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "optimum/optimum.h"
#include "blocks/blocks.h"

/* ------------------------------------------------------------------
 * Classes of two workloads
 * ------------------------------------------------------------------
 */

/* Which of the joint classes have a cell that the predicate leaves. */
static bool *
possible_classes(const pe_reconstruction *r)
{
	const pe_shape *shape = &r->workload->shape;
	int32_t		cells = pe_shape_cells(shape);
	bool	   *possible = pe_alloc(r->classes.cells, sizeof(bool));

	if (r->measured->possible == NULL)	/* every class has a cell */
		memset(possible, true, (size_t) r->classes.cells * sizeof(bool));
	for (int32_t cell = 0; r->measured->possible != NULL && cell < cells; cell++)
		if (r->measured->possible[cell])
			possible[pe_classes_of_cell(&r->classes, shape, cell)] = true;
	return possible;
}

/* The class of `coarse` that the cells of a class of `fine` are in. */
static int32_t
class_of_class(const pe_classes *coarse, const pe_classes *fine, int32_t class)
{
	int32_t		index = 0;
	int32_t		stride = 1;

	for (int a = fine->attributes - 1; a >= 0; a--)
	{
		index += coarse->class_of[a][fine->first[a][class % fine->count[a]]] * stride;
		stride *= coarse->count[a];
		class /= fine->count[a];
	}
	return index;
}

static void
find_columns(pe_reconstruction *r)
{
	const pe_strategy *strategy = r->measured->strategy;
	bool	   *possible = possible_classes(r);
	pe_classes	measured;

	pe_classes_init(&r->measured->workload, 1, &measured);
	if (measured.cells != strategy->classes)
		pe_bug("a strategy for another workload");
	r->column_of = pe_alloc(r->classes.cells, sizeof(int32_t));
	r->members = pe_alloc(strategy->columns, sizeof(int32_t));
	r->diagonal = strategy->triangle == NULL && strategy->dense == NULL;
	for (int32_t c = 0; c < r->classes.cells; c++)
	{
		r->column_of[c] = possible[c] ? strategy->column_of[class_of_class(&measured, &r->classes, c)] : PE_RULED_OUT;
		if (r->column_of[c] >= 0 && ++r->members[r->column_of[c]] > 1)
			r->diagonal = false;
	}
	pe_classes_free(&measured);
	pe_free(possible);
}

/* Whether two workloads have the same queries in the same order, for all that their texts say. */
static bool
is_same_workload(const pe_workload *a, const pe_workload *b)
{
	if (a->shape.attributes != b->shape.attributes)
		return false;
	for (int i = 0; i < a->shape.attributes; i++)
		if (a->shape.cells[i] != b->shape.cells[i] || a->shape.ordered[i] != b->shape.ordered[i])
			return false;
	return a->queries == b->queries && strcmp(a->canonical, b->canonical) == 0;
}

bool
pe_reconstruction_init(const pe_measured *measured, const pe_workload *workload, pe_reconstruction *r)
{
	const pe_workload *both[2] = {measured->workload, workload};

	memset(r, 0, sizeof(*r));
	r->measured = measured;
	r->workload = workload;
	pe_classes_init(both, 2, &r->classes);
	if (measured->strategy->direct)
	{
		r->same = is_same_workload(measured->workload, workload);
		return true;
	}
	if (measured->strategy->blocks != NULL)
		return true;
	find_columns(r);
	if (r->diagonal || r->classes.cells <= PE_OPTIMUM_CELLS)
		return true;
	pe_reconstruction_free(r);
	return false;
}

void
pe_reconstruction_free(pe_reconstruction *r)
{
	pe_classes_free(&r->classes);
	pe_free(r->column_of);
	pe_free(r->members);
	memset(r, 0, sizeof(*r));
}

/* ------------------------------------------------------------------
 * What is determined
 * ------------------------------------------------------------------
 */

double *
pe_strategy_row_space(const pe_strategy *strategy)
{
	size_t		size = (size_t) strategy->columns * strategy->inner;
	double	   *q;

	if (strategy->basis == NULL)
		return NULL;
	q = pe_alloc(size, sizeof(double));
	for (size_t i = 0; i < size; i++)
		q[i] = strategy->basis[i];
	pe_la_qr(strategy->columns, strategy->inner, q, strategy->columns, NULL, 1);
	return q;
}

double
pe_probe_number(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return (double) (word >> 11) * 0x1p-52 - 1;
}

void
pe_probe_columns(const pe_strategy *strategy, const double *q, double *u)
{
	int32_t		n = strategy->columns;
	double	   *along;

	memset(u, 0, n * sizeof(double));
	if (q == NULL)
		return;
	for (int32_t a = 0; a < n; a++)
		u[a] = pe_probe_number();
	along = pe_alloc(strategy->inner, sizeof(double));
	for (int pass = 0; pass < 2; pass++)	/* twice for the rounding */
	{
		pe_la_gemv(true, n, strategy->inner, 1, q, n, u, 0, along);
		pe_la_gemv(false, n, strategy->inner, -1, q, n, along, 1, u);
	}
	pe_free(along);
}

void
pe_probe_classes(int32_t classes, const int32_t *column_of, const int32_t *members, double *sums, double *z)
{
	for (int32_t c = 0; c < classes; c++)
	{
		int32_t		a = column_of[c];

		z[c] = a == PE_NOT_ASKED || (a >= 0 && members[a] > 1) ? pe_probe_number() : 0;
		if (a >= 0)
			sums[a] -= z[c];
	}
	for (int32_t c = 0; c < classes; c++)
		if (column_of[c] >= 0)
			z[c] += sums[column_of[c]] / members[column_of[c]];
}

/* A reconstruction, and orthonormal rows that span what B's rows do, or NULL. */
typedef struct span
{
	const pe_reconstruction *r;
	const double *q;
} span;

/*
 * A random vector over the classes to which every query that is determined is
 * orthogonal: anything for a class that no column has, sums of 0 within a column
 * up to what B does not span.
 */
static void
probe_span(const void *argument, double *z)
{
	const span *s = argument;
	const pe_reconstruction *r = s->r;
	double	   *sums = pe_alloc(r->measured->strategy->columns, sizeof(double));

	pe_probe_columns(r->measured->strategy, s->q, sums);
	pe_probe_classes(r->classes.cells, r->column_of, r->members, sums, z);
	pe_free(sums);
}

/* outside[i] = the sum of squares of query i on the probes. */
static void
apply_probes(const pe_workload *workload, const pe_classes *classes, void (*probe) (const void *argument, double *z),
			 const void *argument, double *outside)
{
	double	   *z = pe_alloc(classes->cells, sizeof(double));
	double	   *answer = pe_alloc(workload->queries, sizeof(double));

	for (int p = 0; p < PE_PROBES; p++)
	{
		pe_poll();
		probe(argument, z);
		pe_workload_apply(workload, classes, z, answer);
		for (int32_t i = 0; i < workload->queries; i++)
			outside[i] += answer[i] * answer[i];
	}
	pe_free(z);
	pe_free(answer);
}

int32_t
pe_probe_queries(const pe_workload *workload, const pe_classes *classes, const int32_t *column_of,
				 void (*probe) (const void *argument, double *z), const void *argument)
{
	double	   *outside = pe_alloc(workload->queries, sizeof(double));
	double	   *whole = pe_alloc(workload->queries, sizeof(double));
	double	   *ones = pe_alloc(classes->cells, sizeof(double));
	int32_t		found = -1;

	for (int32_t c = 0; c < classes->cells; c++)
		ones[c] = column_of[c] != PE_RULED_OUT;
	pe_workload_apply_squares(workload, classes, ones, whole);
	apply_probes(workload, classes, probe, argument, outside);
	for (int32_t i = workload->queries - 1; i >= 0; i--)
		if (outside[i] > PE_OUTSIDE * whole[i])
			found = i;
	pe_free(outside);
	pe_free(whole);
	pe_free(ones);
	return found;
}

int32_t
pe_reconstruction_undetermined(const pe_reconstruction *r)
{
	double	   *q;
	int32_t		found;

	if (r->measured->strategy->direct)
		return r->same ? -1 : 0;
	if (r->measured->strategy->blocks != NULL)
		return pe_blocks_undetermined(r->measured->strategy->blocks, r->workload);
	q = pe_strategy_row_space(r->measured->strategy);
	found = pe_probe_queries(r->workload, &r->classes, r->column_of, probe_span, &(span) {r, q});
	pe_free(q);
	return found;
}

/* ------------------------------------------------------------------
 * Estimates and variances
 * ------------------------------------------------------------------
 */

/* The queries from an estimate over the columns. */
static void
answer_from_columns(const pe_reconstruction *r, const double *x, double *estimate)
{
	double	   *over_classes = pe_alloc(r->classes.cells, sizeof(double));

	for (int32_t c = 0; c < r->classes.cells; c++)
		if (r->column_of[c] >= 0)
			over_classes[c] = x[r->column_of[c]] / r->members[r->column_of[c]];
	pe_workload_apply(r->workload, &r->classes, over_classes, estimate);
	pe_free(over_classes);
}

/* Each measurement is an answer; returns whether it is. */
static bool
is_answered_directly(const pe_reconstruction *r)
{
	if (r->measured->strategy->direct && !r->same)
		pe_bug("answers to other queries than were measured by themselves");
	return r->same;
}

/* The measurements of blocks in units of the answers. */
static double *
scaled_blocks(const pe_measured *measured, const int64_t *y)
{
	const pe_blocks *blocks = measured->strategy->blocks;
	double	   *z = pe_alloc(blocks->first[blocks->blocks], sizeof(double));

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t i = blocks->first[b]; i < blocks->first[b + 1]; i++)
			z[i] = ldexp((double) y[i], -measured->lattice[b]);
	return z;
}

static void
estimate_from_blocks(const pe_reconstruction *r, const int64_t *y, double *estimate)
{
	double	   *z = scaled_blocks(r->measured, y);

	pe_blocks_estimate(r->measured->strategy->blocks, r->workload, z, estimate);
	pe_free(z);
}

/* A gap of so much is as good as the residual that others are held to. */
#define NONNEGATIVE_GAP 1e-6

static double
nonnegative_from_blocks(const pe_reconstruction *r, const int64_t *y, double *estimate)
{
	const pe_blocks *blocks = r->measured->strategy->blocks;
	double	   *z = scaled_blocks(r->measured, y);
	double	   *nearest = pe_alloc(blocks->first[blocks->blocks], sizeof(double));
	double		gap = pe_blocks_nonnegative(blocks, z, nearest);

	pe_blocks_estimate(blocks, r->workload, nearest, estimate);
	pe_free(nearest);
	pe_free(z);
	return gap / NONNEGATIVE_GAP * PE_NONNEGATIVE_RESIDUAL;
}

void
pe_reconstruction_estimate(const pe_reconstruction *r, const int64_t *y, double *estimate)
{
	double	   *x;

	if (is_answered_directly(r))
	{
		for (int32_t i = 0; i < r->workload->queries; i++)
			estimate[i] = (double) y[i];
		return;
	}
	if (r->measured->strategy->blocks != NULL)
	{
		estimate_from_blocks(r, y, estimate);
		return;
	}
	x = pe_alloc(r->measured->strategy->columns, sizeof(double));
	pe_strategy_solve(r->measured->strategy, y, x);
	answer_from_columns(r, x, estimate);
	pe_free(x);
}

double
pe_reconstruction_estimate_nonnegative(const pe_reconstruction *r, const int64_t *y, double *estimate)
{
	double	   *x;
	double		certificate;

	if (r->measured->strategy->direct)
		pe_bug("counts from queries that are measured by themselves");
	if (r->measured->strategy->blocks != NULL)
		return nonnegative_from_blocks(r, y, estimate);
	x = pe_alloc(r->measured->strategy->columns, sizeof(double));
	certificate = pe_strategy_solve_nonnegative(r->measured->strategy, y, x);
	answer_from_columns(r, x, estimate);
	pe_free(x);
	return certificate;
}

/* sums[q] = the sum of a power of query q's weights. */
static void
power_sums_of_diagonal(const pe_reconstruction *r, int power, double *sums)
{
	double	   *d = pe_alloc(r->classes.cells, sizeof(double));

	for (int32_t c = 0; c < r->classes.cells; c++)
		d[c] = r->column_of[c] >= 0;
	pe_workload_apply_power(r->workload, &r->classes, power, d, sums);
	pe_free(d);
}

/* C over the classes: a column's estimate is shared out among its classes. */
static double *
covariance_of_classes(const pe_reconstruction *r)
{
	int32_t		classes = r->classes.cells;
	int32_t		n = r->measured->strategy->columns;
	double	   *c = pe_alloc(pe_la_square(n), sizeof(double));
	double	   *q = pe_alloc(pe_la_square(classes), sizeof(double));

	pe_strategy_covariance(r->measured->strategy, c);
	for (int32_t i = 0; i < classes; i++)
	{
		int32_t		a = r->column_of[i];

		for (int32_t j = 0; a >= 0 && j < classes; j++)
		{
			int32_t		b = r->column_of[j];

			if (b >= 0)
				q[(size_t) i * classes + j] = c[(size_t) a * n + b] / ((double) r->members[a] * r->members[b]);
		}
	}
	pe_free(c);
	return q;
}

void
pe_reconstruction_variance(const pe_reconstruction *r, double *variance)
{
	double	   *q;

	if (is_answered_directly(r))
	{
		for (int32_t i = 0; i < r->workload->queries; i++)
			variance[i] = 1;
		return;
	}
	if (r->measured->strategy->blocks != NULL)
	{
		pe_blocks_variance(r->measured->strategy->blocks, r->workload, variance);
		return;
	}
	if (r->diagonal)
	{
		power_sums_of_diagonal(r, 2, variance);
		return;
	}
	q = covariance_of_classes(r);
	pe_workload_quadratic(r->workload, &r->classes, q, variance);
	pe_free(q);
	/* rounding can leave a little below zero where the truth is zero */
	for (int32_t i = 0; i < r->workload->queries; i++)
		if (variance[i] < 0)
			variance[i] = 0;
}

/* covariance += factor v v', the lower triangle. */
static void
add_square(int32_t queries, double factor, const double *v, double *covariance)
{
	for (int32_t j = 0; factor > 0 && j < queries; j++)
		for (int32_t i = j; v[j] != 0 && i < queries; i++)
			covariance[(size_t) j * queries + i] += factor * v[j] * v[i];
}

/* Measurement by measurement: what it adds to each estimate. */
static void
covariance_from_blocks(const pe_reconstruction *r, double *covariance)
{
	const pe_blocks *blocks = r->measured->strategy->blocks;
	double	   *y = pe_alloc(blocks->first[blocks->blocks], sizeof(double));
	double	   *estimate = pe_alloc(r->workload->queries, sizeof(double));

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t i = blocks->first[b]; i < blocks->first[b + 1]; i++)
		{
			pe_poll();
			y[i] = 1;
			pe_blocks_estimate(blocks, r->workload, y, estimate);
			add_square(r->workload->queries, pe_blocks_relative_variance(blocks, b), estimate, covariance);
			y[i] = 0;
		}
	pe_free(y);
	pe_free(estimate);
}

/* Class by class: each column is counted by itself. */
static void
covariance_of_diagonal(const pe_reconstruction *r, double *covariance)
{
	double	   *x = pe_alloc(r->classes.cells, sizeof(double));
	double	   *answer = pe_alloc(r->workload->queries, sizeof(double));

	for (int32_t c = 0; c < r->classes.cells; c++)
	{
		pe_poll();
		x[c] = 1;
		pe_workload_apply(r->workload, &r->classes, x, answer);
		add_square(r->workload->queries, r->column_of[c] >= 0 ? 1 : 0, answer, covariance);
		x[c] = 0;
	}
	pe_free(x);
	pe_free(answer);
}

/* W Q W', column by column: Q is symmetric. */
static void
covariance_of_queries(const pe_reconstruction *r, double *covariance)
{
	int32_t		classes = r->classes.cells;
	int32_t		queries = r->workload->queries;
	double	   *q = covariance_of_classes(r);
	double	   *wq = pe_alloc((size_t) queries * classes, sizeof(double));
	double	   *row = pe_alloc(classes, sizeof(double));

	for (int32_t c = 0; c < classes; c++)
	{
		pe_poll();
		pe_workload_apply(r->workload, &r->classes, q + (size_t) c * classes, wq + (size_t) c * queries);
	}
	for (int32_t i = 0; i < queries; i++)
	{
		pe_poll();
		for (int32_t c = 0; c < classes; c++)
			row[c] = wq[(size_t) c * queries + i];
		pe_workload_apply(r->workload, &r->classes, row, covariance + (size_t) i * queries);
	}
	pe_free(q);
	pe_free(wq);
	pe_free(row);
}

void
pe_reconstruction_covariance(const pe_reconstruction *r, double *covariance)
{
	int32_t		queries = r->workload->queries;

	memset(covariance, 0, (size_t) queries * queries * sizeof(double));
	if (is_answered_directly(r))
		for (int32_t i = 0; i < queries; i++)
			covariance[(size_t) i * queries + i] = 1;
	else if (r->measured->strategy->blocks != NULL)
		covariance_from_blocks(r, covariance);
	else if (r->diagonal)
		covariance_of_diagonal(r, covariance);
	else
		covariance_of_queries(r, covariance);
	pe_la_mirror(queries, covariance, queries);
}

/*
 * With s_k the sum of the weights' k-th powers, s_4^2 <= s_2 s_6, equal only where all
 * weights that are not zero are +-g: then s_2 = n g^2 and s_4 = n g^4.
 */
static void
count_equal_weights(const pe_reconstruction *r, const double *variance, int32_t *summands)
{
	double	   *fourth = pe_alloc(r->workload->queries, sizeof(double));
	double	   *sixth = pe_alloc(r->workload->queries, sizeof(double));

	power_sums_of_diagonal(r, 4, fourth);
	power_sums_of_diagonal(r, 6, sixth);
	for (int32_t i = 0; i < r->workload->queries; i++)
	{
		double		product = variance[i] * sixth[i];

		/* in doubles it is certain only of integers that they hold */
		if (variance[i] > 0 && product < 0x1p53 && product == fourth[i] * fourth[i])
			summands[i] = (int32_t) (variance[i] * variance[i] / fourth[i]);
	}
	pe_free(fourth);
	pe_free(sixth);
}

/* What distinguishes rows over the columns: their products with two vectors. */
typedef struct mark
{
	double		product[2];
} mark;

static int
compare_marks(const void *a, const void *b)
{
	const mark *x = a;
	const mark *y = b;

	for (int i = 0; i < 2; i++)
		if (x->product[i] != y->product[i])
			return x->product[i] < y->product[i] ? -1 : 1;
	return 0;
}

/* 30 bits for a column, the same each time: as those of splitmix64. */
static double
entry_of_vector(int which, int32_t column)
{
	uint64_t	z = (2 * (uint64_t) column + which + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double) (z >> 34);
}

static mark *
marks_of_basis(const pe_strategy *strategy)
{
	mark	   *marks = pe_alloc(strategy->rows, sizeof(mark));

	for (int32_t i = 0; i < strategy->rows; i++)
		for (int32_t j = 0; j < strategy->columns; j++)
			for (int k = 0; k < 2; k++)
				marks[i].product[k] += strategy->basis[(size_t) i * strategy->columns + j] * entry_of_vector(k, j);
	qsort(marks, strategy->rows, sizeof(mark), compare_marks);
	return marks;
}

/* A query that is determined has one weight for all classes of a column: the first stands for them. */
static mark *
marks_of_queries(const pe_reconstruction *r)
{
	mark	   *marks = pe_alloc(r->workload->queries, sizeof(mark));
	double	   *x = pe_alloc(r->classes.cells, sizeof(double));
	double	   *product = pe_alloc(r->workload->queries, sizeof(double));
	bool	   *seen = pe_alloc(r->measured->strategy->columns, sizeof(bool));

	for (int k = 0; k < 2; k++)
	{
		memset(seen, 0, r->measured->strategy->columns * sizeof(bool));
		for (int32_t c = 0; c < r->classes.cells; c++)
		{
			int32_t		a = r->column_of[c];

			x[c] = a >= 0 && !seen[a] ? entry_of_vector(k, a) : 0;
			if (a >= 0)
				seen[a] = true;
		}
		pe_workload_apply(r->workload, &r->classes, x, product);
		for (int32_t q = 0; q < r->workload->queries; q++)
			marks[q].product[k] = product[q];
	}
	pe_free(x);
	pe_free(product);
	pe_free(seen);
	return marks;
}

/* Whether the rows of the basis are measured by themselves. */
static bool
measures_basis(const pe_strategy *strategy)
{
	const int32_t *entry = strategy->triangle;

	if (strategy->basis == NULL || entry == NULL)
		return false;
	for (int32_t j = 0; j < strategy->inner; j++)
		for (int32_t i = 0; i <= j; i++)
			if (*entry++ != (i == j))
				return false;
	return true;
}

static void
find_rows_of_basis(const pe_reconstruction *r, int32_t *summands)
{
	mark	   *rows = marks_of_basis(r->measured->strategy);
	mark	   *queries = marks_of_queries(r);

	for (int32_t q = 0; q < r->workload->queries; q++)
		summands[q] = bsearch(&queries[q], rows, r->measured->strategy->rows, sizeof(mark), compare_marks) != NULL;
	pe_free(rows);
	pe_free(queries);
}

void
pe_reconstruction_summands(const pe_reconstruction *r, const double *variance, int32_t *summands)
{
	bool		direct = is_answered_directly(r);
	bool		units = r->diagonal && pe_workload_weights_within(r->workload, -1, 1);

	for (int32_t i = 0; i < r->workload->queries; i++)
		summands[i] = direct ? 1 : units ? (int32_t) variance[i] : 0;
	if (r->diagonal && !units)
		count_equal_weights(r, variance, summands);
	else if (measures_basis(r->measured->strategy))
		find_rows_of_basis(r, summands);
}

size_t
pe_reconstruction_memory(const pe_strategy *strategy, const pe_workload *workload, const pe_classes *classes)
{
	size_t		n = classes->cells;

	if (strategy != NULL && strategy->blocks != NULL)
		return pe_blocks_estimate_memory(strategy->blocks, workload) + 5 * (size_t) workload->queries * sizeof(double);
	if (n > PE_OPTIMUM_CELLS)
		return 6 * n * sizeof(double) + 5 * (size_t) workload->queries * sizeof(double);
	return 6 * n * n * sizeof(double) + pe_workload_quadratic_memory(workload, classes)
		+ 5 * (size_t) workload->queries * sizeof(double);
}

/*
 * round_dense.c
 *	  From a real strategy matrix to a dense one of integers.  See rounding.h.
 */
#include "strategy/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"

/* The lattice is 2^-k; finer while rounding costs too much. */
#define FIRST_BITS 16
#define MOST_BITS 24
#define BITS_STEP 4

/* Of a column's norm, what the columns before must leave of it: below that M counts as singular. */
#define LEAST_PIVOT 1e-10

/* An entry that is not 0, away from 0 by the real number, and what its integer falls short of that. */
typedef struct part
{
	double		rest;
	int32_t		row;
} part;

/* ------------------------------------------------------------------
 * A column
 * ------------------------------------------------------------------
 */

/* The largest rest first. */
static int
compare_parts(const void *a, const void *b)
{
	const part *left = a;
	const part *right = b;

	if (left->rest != right->rest)
		return left->rest < right->rest ? 1 : -1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* A kept entry that is a unit by itself stays: the column then is longer than it should be. */
static void
shorten_largest(int32_t *column, int32_t rows, int32_t kept)
{
	int32_t		largest = 0;

	for (int32_t i = 1; i < rows; i++)
		if (abs(column[i]) > abs(column[largest]))
			largest = i;
	if (largest == kept && column[kept] == 1)
		return;
	column[largest] += column[largest] < 0 ? 1 : -1;
}

/*
 * For L1: every magnitude is cut to an integer, and those that lost most get a unit
 * back until their sum is that of the real column, to the nearest integer.  kept:
 * the row of an entry that does not become 0, or -1.
 */
static void
round_column_l1(const double *real, int32_t rows, double scale, int32_t kept, int32_t *column, part *parts)
{
	int32_t		count = 0;
	int64_t		missing = 0;
	double		sum = 0;

	for (int32_t i = 0; i < rows; i++)
	{
		double		size = fabs(real[i]) * scale;
		int32_t		whole = (int32_t) size;

		if (i == kept && whole == 0)
			whole = 1;
		else if (size > whole)
			parts[count++] = (part) {size - whole, i};
		sum += size;
		missing -= whole;
		column[i] = real[i] < 0 ? -whole : whole;
	}
	missing += llrint(sum);
	qsort(parts, count, sizeof(*parts), compare_parts);
	for (int32_t at = 0; missing > 0 && at < count; at++, missing--)
		column[parts[at].row] += real[parts[at].row] < 0 ? -1 : 1;
	if (missing < 0)
		shorten_largest(column, rows, kept);
}

static void
round_column(const double *real, int32_t rows, double scale, int32_t kept, int32_t *column)
{
	for (int32_t i = 0; i < rows; i++)
		column[i] = (int32_t) lrint(real[i] * scale);
	if (kept >= 0 && column[kept] == 0)
		column[kept] = 1;
}

/* ------------------------------------------------------------------
 * The matrix
 * ------------------------------------------------------------------
 */

/* The norm of the largest column of A, or of A B with a basis. */
static double
largest_norm(const pe_real_strategy *real, const double *a, int32_t columns)
{
	double		largest = 0;

	for (int32_t j = 0; j < columns; j++)
	{
		double		norm = 0;

		for (size_t k = (size_t) j * real->rows; k < (size_t) (j + 1) * real->rows; k++)
			norm += real->norm == PE_L1 ? fabs(a[k]) : a[k] * a[k];
		largest = fmax(largest, norm);
	}
	return real->norm == PE_L1 ? largest : sqrt(largest);
}

/* Delta of the real strategy, of add_remove. */
static double
real_sensitivity(const pe_real_strategy *real, const pe_strategy *strategy)
{
	size_t		columns = strategy->columns;
	double	   *basis;
	double	   *product;
	double		largest;

	if (strategy->basis == NULL)
		return largest_norm(real, real->factor, real->inner);
	basis = pe_alloc(columns * real->inner, sizeof(double));
	product = pe_alloc(columns * real->rows, sizeof(double));
	for (size_t k = 0; k < columns * real->inner; k++)
		basis[k] = strategy->basis[k];	/* by rows: the transpose by columns */
	pe_la_gemm(false, true, real->rows, (int32_t) columns, real->inner, 1, real->factor, real->rows,
			   basis, (int32_t) columns, 0, product, real->rows);
	largest = largest_norm(real, product, (int32_t) columns);
	pe_free(basis);
	pe_free(product);
	return largest;
}

/* Every column of R leaves something to its diagonal. */
static bool
pivots_suffice(int32_t n, const double *r)
{
	for (int32_t j = 0; j < n; j++)
	{
		double		largest = 0;

		for (int32_t i = 0; i < j; i++)
			largest = fmax(largest, fabs(r[(size_t) j * n + i]));
		if (!(fabs(r[(size_t) j * n + j]) > LEAST_PIVOT * largest))
			return false;
	}
	return true;
}

/* tr(V (A'A)^-1) of a (rows x inner by columns), which is destroyed; 0 if it is not of full column rank. */
static double
expected_error(double *a, int32_t rows, int32_t inner, const double *v)
{
	double	   *r = pe_alloc((size_t) inner * inner, sizeof(double));
	double		sum = 0;
	bool		regular;

	pe_poll();
	pe_la_qr(rows, inner, a, rows, r, inner);
	regular = pivots_suffice(inner, r) && pe_la_triangle_inverse(inner, r, inner);
	if (regular)
		pe_la_triangle_square(inner, r, inner);
	for (int32_t j = 0; regular && j < inner; j++)
	{
		for (int32_t i = 0; i < j; i++)
			sum += 2 * r[(size_t) j * inner + i] * v[(size_t) j * inner + i];
		sum += r[(size_t) j * inner + j] * v[(size_t) j * inner + j];
	}
	pe_free(r);
	return sum > 0 && isfinite(sum) ? sum : 0;
}

/* Delta^2 tr(V (A'A)^-1) of the real strategy; 0 if it is singular. */
static double
real_objective(const pe_real_strategy *real, const pe_strategy *strategy)
{
	size_t		size = (size_t) real->rows * real->inner;
	double	   *a = pe_alloc(size, sizeof(double));
	double		sensitivity = real_sensitivity(real, strategy);
	double		error;

	memcpy(a, real->factor, size * sizeof(double));
	error = expected_error(a, real->rows, real->inner, real->v);
	pe_free(a);
	return sensitivity * sensitivity * error;
}

/* M on one lattice, zero rows and all. */
static int32_t *
round_matrix(const pe_real_strategy *real, bool adjust, double scale)
{
	int32_t    *m = pe_alloc((size_t) real->rows * real->inner, sizeof(int32_t));
	part	   *parts = pe_alloc(real->rows, sizeof(*parts));

	for (int32_t j = 0; j < real->inner; j++)
	{
		const double *column = real->factor + (size_t) j * real->rows;
		int32_t		kept = j < real->diagonal ? j : -1;

		if (adjust)
			round_column_l1(column, real->rows, scale, kept, m + (size_t) j * real->rows, parts);
		else
			round_column(column, real->rows, scale, kept, m + (size_t) j * real->rows);
	}
	pe_free(parts);
	return m;
}

/* Leaves zero rows out, in place; returns how many rows are left. */
static int32_t
drop_zero_rows(int32_t *m, int32_t rows, int32_t inner)
{
	int32_t    *to = pe_alloc(rows, sizeof(int32_t));
	int32_t		left = 0;
	int32_t    *end = m;

	for (int32_t i = 0; i < rows; i++)
	{
		to[i] = 0;
		for (int32_t j = 0; j < inner; j++)
			to[i] |= m[(size_t) j * rows + i];
		left += to[i] != 0;
	}
	for (int32_t j = 0; j < inner; j++)
		for (int32_t i = 0; i < rows; i++)
			if (to[i] != 0)
				*end++ = m[(size_t) j * rows + i];
	pe_free(to);
	return left;
}

/* Delta^2 of the integers, of add_remove; 0 if they are beyond what can be measured. */
static double
squared_sensitivity(const pe_strategy *strategy, pe_norm norm)
{
	pe_u128		sensitivity;

	if (norm == PE_L2)
		return pe_strategy_sensitivity_sq(strategy, PE_ADD_REMOVE, 1, &sensitivity) ? (double) sensitivity : 0;
	if (!pe_strategy_sensitivity_l1(strategy, PE_ADD_REMOVE, 1, &sensitivity))
		return 0;
	return (double) sensitivity * (double) sensitivity;
}

/* The objective of the integers; 0 if they cannot be measured or are not of full column rank. */
static double
objective_of(const pe_strategy *strategy, const pe_real_strategy *real)
{
	size_t		size = (size_t) strategy->rows * strategy->inner;
	double	   *a;
	double		error;

	if (strategy->rows < strategy->inner)
		return 0;
	a = pe_alloc(size, sizeof(double));
	for (size_t k = 0; k < size; k++)
		a[k] = strategy->dense[k];
	error = expected_error(a, strategy->rows, strategy->inner, real->v);
	pe_free(a);
	return error * squared_sensitivity(strategy, real->norm);
}

/* On one lattice, if that is better than what *best holds. */
static void
try_lattice(const pe_real_strategy *real, double scale, pe_strategy *best)
{
	pe_strategy tried = *best;

	tried.inner = real->inner;
	tried.dense = round_matrix(real, real->norm == PE_L1 && best->basis == NULL, scale);
	tried.rows = drop_zero_rows(tried.dense, real->rows, real->inner);
	tried.objective = objective_of(&tried, real);
	if (tried.objective > 0 && (best->dense == NULL || tried.objective < best->objective))
	{
		pe_free(best->dense);
		*best = tried;
	}
	else
		pe_free(tried.dense);
}

bool
pe_round_dense(const pe_real_strategy *real, pe_strategy *strategy)
{
	pe_strategy best = *strategy;
	double		unit = largest_norm(real, real->factor, real->inner);
	double		goal;

	if (strategy->triangle != NULL || strategy->dense != NULL || strategy->direct)
		pe_bug("a strategy that has a matrix already");
	if (real->rows < real->inner || !pe_la_finite((size_t) real->rows * real->inner, real->factor) || !(unit > 0))
		return false;
	goal = real_objective(real, strategy) * (1 + PE_ROUNDING_LOSS);
	for (int bits = pe_rounding_bits(FIRST_BITS, real->bits);
		 bits <= pe_rounding_bits(MOST_BITS, real->bits) && (best.dense == NULL || best.objective > goal);
		 bits += BITS_STEP)
		try_lattice(real, ldexp(1, bits) / unit, &best);
	if (best.dense == NULL)
		return false;
	*strategy = best;
	return true;
}

size_t
pe_round_dense_memory(int32_t rows, int32_t inner, int32_t columns)
{
	size_t		size = (size_t) rows * inner;

	/* two matrices of integers; one of doubles and R; or, before, what the sensitivity takes with a basis */
	size_t		rounding = 2 * size * sizeof(int32_t) + (size + (size_t) inner * inner) * sizeof(double);
	size_t		product = (size_t) columns * ((size_t) rows + inner) * sizeof(double) + size * sizeof(double);

	return (rounding > product ? rounding : product) + (size_t) rows * (sizeof(part) + 2 * sizeof(int64_t));
}

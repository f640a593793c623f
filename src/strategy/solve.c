/*
 * solve.c
 *	  Least squares with a strategy's rows.  See solve.h.
 */
#include "strategy/solve.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* A column of M is dependent on those before it if this part of it or less is not along them. */
#define DEPENDENT 1e-10

/* The next rows of M below what is in the block, which has room for so many. */
static void
stack_rows(const pe_strategy *strategy, int32_t first, int32_t count, double *below, int32_t room)
{
	for (int32_t j = 0; j < strategy->inner; j++)
		for (int32_t i = 0; i < count; i++)
			below[(size_t) j * room + i] = strategy->dense[(size_t) j * strategy->rows + first + i];
}

static void
stack_triangle(const double *r, int32_t n, double *block, int32_t room)
{
	for (int32_t j = 0; j < n; j++)
		memcpy(block + (size_t) j * room, r + (size_t) j * n, n * sizeof(double));
}

/*
 * R of a dense M, in blocks: below the triangle of the rows so far stand the next
 * ones.  So it takes the room of two triangles, however many rows there are.
 */
static void
triangle_of_dense(const pe_strategy *strategy, double *r)
{
	int32_t		n = strategy->inner;
	int32_t		room = strategy->rows < 2 * n ? strategy->rows : 2 * n;
	double	   *block = pe_alloc((size_t) room * n, sizeof(double));
	int32_t		top = 0;

	for (int32_t done = 0; done < strategy->rows;)
	{
		int32_t		next = strategy->rows - done < room - top ? strategy->rows - done : room - top;

		pe_poll();
		if (top > 0)
			stack_triangle(r, n, block, room);
		stack_rows(strategy, done, next, block + top, room);
		pe_la_qr_triangle(top + next, n, block, room, r, n);
		done += next;
		top = n;
	}
	pe_free(block);
}

static void
check_independent(const double *r, int32_t n)
{
	for (int32_t j = 0; j < n; j++)
	{
		double		norm = 0;

		for (int32_t i = 0; i <= j; i++)
			norm = hypot(norm, r[(size_t) j * n + i]);
		if (!(fabs(r[(size_t) j * n + j]) > DEPENDENT * norm))
			pe_damaged("its columns are not independent");
	}
}

void
pe_strategy_triangle(const pe_strategy *strategy, double *r)
{
	int32_t		n = strategy->inner;
	const int32_t *entry = strategy->triangle;

	if (strategy->dense != NULL)
	{
		triangle_of_dense(strategy, r);
		check_independent(r, n);
		return;
	}
	memset(r, 0, pe_la_square(n) * sizeof(double));
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i <= j; i++)
			r[(size_t) j * n + i] = entry != NULL ? *entry++ : i == j;
}

static double *
triangle_of(const pe_strategy *strategy)
{
	double	   *r = pe_alloc(pe_la_square(strategy->inner), sizeof(double));

	pe_strategy_triangle(strategy, r);
	return r;
}

bool
pe_basis_inverse(const pe_strategy *strategy, double *inverse)
{
	int32_t		n = strategy->columns;
	int32_t		rows = strategy->inner;
	double	   *q = pe_alloc((size_t) n * rows, sizeof(double));
	double	   *r = pe_alloc(pe_la_square(rows), sizeof(double));
	bool		independent = true;

	/* B' = Q R, so B = R'Q' and B^+ = Q R'^-1: the transpose of R^-1 Q' */
	for (size_t i = 0; i < (size_t) n * rows; i++)
		q[i] = strategy->basis[i];
	pe_la_qr(n, rows, q, n, r, rows);
	independent = pe_la_triangle_inverse(rows, r, rows);
	for (int32_t j = 0; j < rows; j++)
		for (int32_t i = 0; i < j; i++)
		{
			r[(size_t) i * rows + j] = r[(size_t) j * rows + i];
			r[(size_t) j * rows + i] = 0;
		}
	if (independent)
		pe_la_gemm(false, false, n, rows, rows, 1, q, n, r, rows, 0, inverse, n);
	pe_free(q);
	pe_free(r);
	return independent;
}

static double *
basis_inverse(const pe_strategy *strategy)
{
	double	   *inverse = pe_alloc((size_t) strategy->columns * strategy->inner, sizeof(double));

	if (!pe_basis_inverse(strategy, inverse))
		pe_damaged("the rows of its basis are not independent");
	return inverse;
}

/* rest = y - M z */
static void
residual_of_dense(const pe_strategy *strategy, const int64_t *y, const double *z, double *rest)
{
	for (int32_t i = 0; i < strategy->rows; i++)
		rest[i] = (double) y[i];
	for (int32_t l = 0; l < strategy->inner; l++)
		for (int32_t i = 0; i < strategy->rows; i++)
			rest[i] -= strategy->dense[(size_t) l * strategy->rows + i] * z[l];
}

/* z += (R'R)^-1 M'rest */
static void
step_of_dense(const pe_strategy *strategy, const double *r, const double *rest, double *z)
{
	int32_t		n = strategy->inner;
	double	   *step = pe_alloc(n, sizeof(double));

	for (int32_t l = 0; l < n; l++)
		for (int32_t i = 0; i < strategy->rows; i++)
			step[l] += strategy->dense[(size_t) l * strategy->rows + i] * rest[i];
	pe_la_triangle_solve(true, n, 1, r, n, step, n);
	pe_la_triangle_solve(false, n, 1, r, n, step, n);
	for (int32_t l = 0; l < n; l++)
		z[l] += step[l];
	pe_free(step);
}

/* z = M^+ y, z being zero. */
static void
solve_dense(const pe_strategy *strategy, const int64_t *y, double *z)
{
	double	   *r = triangle_of(strategy);
	double	   *rest = pe_alloc(strategy->rows, sizeof(double));

	for (int pass = 0; pass < 2; pass++)	/* the second one refines */
	{
		residual_of_dense(strategy, y, z, rest);
		step_of_dense(strategy, r, rest, z);
	}
	pe_free(r);
	pe_free(rest);
}

/* z = T^-1 y, or y itself. */
static void
solve_square(const pe_strategy *strategy, const int64_t *y, double *z)
{
	double	   *r;

	for (int32_t i = 0; i < strategy->rows; i++)
		z[i] = (double) y[i];
	if (strategy->triangle == NULL)
		return;
	r = triangle_of(strategy);
	pe_la_triangle_solve(false, strategy->rows, 1, r, strategy->rows, z, strategy->rows);
	pe_free(r);
}

void
pe_strategy_solve(const pe_strategy *strategy, const int64_t *y, double *x)
{
	double	   *z;

	if (strategy->direct)
		pe_bug("counts from queries that are measured by themselves");
	z = pe_alloc(strategy->inner, sizeof(double));
	(strategy->dense != NULL ? solve_dense : solve_square) (strategy, y, z);
	if (strategy->basis != NULL)
	{
		double	   *inverse = basis_inverse(strategy);

		pe_la_gemv(false, strategy->columns, strategy->inner, 1, inverse, strategy->columns, z, 0, x);
		pe_free(inverse);
	}
	else
		memcpy(x, z, strategy->inner * sizeof(double));
	pe_free(z);
}

void
pe_strategy_covariance(const pe_strategy *strategy, double *c)
{
	int32_t		n = strategy->columns;
	int32_t		rows = strategy->inner;
	double	   *r = triangle_of(strategy);

	if (!pe_la_triangle_inverse(rows, r, rows))
		pe_bug("a triangle with a zero on its diagonal");
	pe_poll();
	if (strategy->basis == NULL)
	{
		pe_la_triangle_square(rows, r, rows);
		for (int32_t j = 0; j < n; j++)
			for (int32_t i = 0; i <= j; i++)
				c[(size_t) j * n + i] = c[(size_t) i * n + j] = r[(size_t) j * n + i];
	}
	else
	{
		double	   *inverse = basis_inverse(strategy);
		double	   *product = pe_alloc((size_t) n * rows, sizeof(double));

		/* r's lower triangle is zero, so it is a full matrix as well */
		pe_la_gemm(false, false, n, rows, rows, 1, inverse, n, r, rows, 0, product, n);
		pe_la_syrk(false, n, rows, 1, product, n, 0, c, n);
		pe_la_mirror(n, c, n);
		pe_free(inverse);
		pe_free(product);
	}
	pe_free(r);
}

double *
pe_strategy_covariance_with_total(const pe_strategy *strategy)
{
	size_t		n = (size_t) strategy->columns;
	double	   *with = pe_alloc(n, sizeof(double));
	double	   *c;

	if (pe_strategy_counts_columns(strategy))
	{
		for (size_t j = 0; j < n; j++)
			with[j] = 1;
		return with;
	}
	c = pe_alloc(n * n, sizeof(double));
	pe_strategy_covariance(strategy, c);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			with[i] += c[j * n + i];
	pe_free(c);
	return with;
}

/*
 * nonnegative.c
 *	  Estimates without negative cells.  See solve.h.
 */
#include "strategy/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"

/*
 * Weight of the squared error of the total.  Entries of A'A are at most 1 here,
 * so 1'(A'A)^-1 1 >= 1 on every set of cells, and each step leaves a hundredth
 * of the error; more would cost digits of A'A beside it.
 */
#define TOTAL_WEIGHT 100

/* What holds x near the point before, where A does not: at first, and by what it grows if that is too little. */
#define HOLD 1e-9
#define HOLD_LEAST 1e-13
#define HOLD_GROWTH 100

/* Below this, relatively, a sign is rounding. */
#define SIGN 1e-12

/* Exchanges of all cells of a wrong sign that may fail to make fewer of them. */
#define PATIENCE 3

/* Steps, and factorisations in all of them, before it is given up. */
#define MOST_STEPS 200
#define MOST_PIVOTS 5000

/* Part of 1 outside the row space, squared and relative, up to which the total is determined. */
#define OUTSIDE 1e-7

typedef struct problem
{
	int32_t		rows;
	int32_t		n;
	const double *a;			/* by rows; scaled by one over its largest column */
	const double *y;			/* scaled alike */
	bool		keeps_total;
	double		total;
	double		hold;
	double		lambda;			/* multiplier of the total */
	double	   *matrix;			/* A'A + hold I + TOTAL_WEIGHT 11' */
	double	   *factor;			/* of its rows and columns in `free` */
	double	   *ay;				/* A'y */
	double	   *side;			/* right hand side of the step */
	double	   *slope;			/* matrix x - side */
	double	   *error;			/* A x - y */
	bool	   *is_free;
	int32_t    *free;			/* cells that are not held at 0 */
	int32_t		free_cells;
	bool		factored;		/* `factor` is of these */
	int			pivots;
	double	   *x;
} problem;

/* For a relative error: 1 where there is nothing to compare with. */
static double
scale_of(int32_t n, const double *x)
{
	double		most = pe_la_largest(n, x);

	return most > 0 ? most : 1;
}

static double
sum_of(int32_t n, const double *x)
{
	double		sum = 0;

	for (int32_t i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

/* ------------------------------------------------------------------
 * One step: minimise x'Mx / 2 - side'x over x >= 0
 * ------------------------------------------------------------------
 */

static void
list_free(problem *p)
{
	p->free_cells = 0;
	for (int32_t j = 0; j < p->n; j++)
		if (p->is_free[j])
			p->free[p->free_cells++] = j;
	p->factored = false;
}

static bool
factorise(problem *p)
{
	int32_t		f = p->free_cells;

	if (p->factored)
		return true;
	pe_poll();
	p->pivots++;
	for (int32_t j = 0; j < f; j++)
		for (int32_t i = 0; i <= j; i++)
			p->factor[(size_t) j * f + i] = p->matrix[(size_t) p->free[j] * p->n + p->free[i]];
	p->factored = f == 0 || pe_la_cholesky(f, p->factor, f);
	return p->factored;
}

/* x for the cells that are free now, and the slope everywhere. */
static void
solve_free(problem *p)
{
	double	   *x = p->error;	/* of n numbers at least */

	for (int32_t i = 0; i < p->free_cells; i++)
		x[i] = p->side[p->free[i]];
	if (p->free_cells > 0)
		pe_la_cholesky_solve(p->free_cells, 1, p->factor, p->free_cells, x, p->free_cells);
	memset(p->x, 0, p->n * sizeof(double));
	for (int32_t i = 0; i < p->free_cells; i++)
		p->x[p->free[i]] = x[i];
	memcpy(p->slope, p->side, p->n * sizeof(double));
	pe_la_gemv(false, p->n, p->n, 1, p->matrix, p->n, p->x, -1, p->slope);
}

/* The cells of a wrong sign, as a list; returns how many. */
static int32_t
find_wrong(const problem *p, int32_t *wrong)
{
	double		x_sign = -SIGN * scale_of(p->n, p->x);
	double		slope_sign = -SIGN * scale_of(p->n, p->side);
	int32_t		count = 0;

	for (int32_t j = 0; j < p->n; j++)
		if (p->is_free[j] ? p->x[j] < x_sign : p->slope[j] < slope_sign)
			wrong[count++] = j;
	return count;
}

/* False if the matrix is not positive definite in doubles, or the limit is reached. */
static bool
pivot(problem *p)
{
	int32_t    *wrong = pe_alloc(p->n, sizeof(int32_t));
	int32_t		fewest = p->n + 1;
	int			patience = PATIENCE;
	bool		done = false;

	while (!done && p->pivots < MOST_PIVOTS && factorise(p))
	{
		int32_t		count;

		solve_free(p);
		count = find_wrong(p, wrong);
		done = count == 0;
		if (count < fewest)
		{
			fewest = count;
			patience = PATIENCE;
		}
		else
			patience--;
		for (int32_t i = patience >= 0 ? 0 : count - 1; i < count; i++)
			p->is_free[wrong[i]] = !p->is_free[wrong[i]];
		if (!done)
			list_free(p);
	}
	pe_free(wrong);
	return done;
}

/* ------------------------------------------------------------------
 * The steps
 * ------------------------------------------------------------------
 */

static void
make_matrix(problem *p)
{
	pe_la_syrk(false, p->n, p->rows, 1, p->a, p->n, 0, p->matrix, p->n);
	pe_la_mirror(p->n, p->matrix, p->n);
	for (size_t i = 0; p->keeps_total && i < (size_t) p->n * p->n; i++)
		p->matrix[i] += TOTAL_WEIGHT;
	for (int32_t j = 0; j < p->n; j++)
		p->matrix[(size_t) j * p->n + j] += p->hold;
	p->factored = false;
}

static double
error_of_total(const problem *p)
{
	return p->keeps_total ? sum_of(p->n, p->x) - p->total : 0;
}

/* The certificate. */
static double
residual(const problem *p)
{
	double		x_scale = scale_of(p->n, p->x);
	double		slope_scale = scale_of(p->n, p->ay);
	double		most = p->keeps_total ? fabs(error_of_total(p)) / p->total : 0;

	/* by rows is A' by columns */
	memcpy(p->error, p->y, p->rows * sizeof(double));
	pe_la_gemv(true, p->n, p->rows, 1, p->a, p->n, p->x, -1, p->error);
	pe_la_gemv(false, p->n, p->rows, 1, p->a, p->n, p->error, 0, p->slope);
	for (int32_t j = 0; j < p->n; j++)
		most = fmax(most, fabs(fmin(p->x[j] / x_scale, (p->slope[j] - p->lambda) / slope_scale)));
	return most;
}

/* False if the matrix of the step does not serve. */
static bool
step(problem *p)
{
	for (int32_t j = 0; j < p->n; j++)
		p->side[j] = p->ay[j] + p->hold * p->x[j] + p->lambda
			+ (p->keeps_total ? TOTAL_WEIGHT * p->total : 0);
	if (!pivot(p))
		return false;
	for (int32_t j = 0; j < p->n; j++)
		p->x[j] = fmax(p->x[j], 0);
	p->lambda -= TOTAL_WEIGHT * error_of_total(p);
	return true;
}

/* Keeps the best point that the steps came to in x. */
static double
iterate(problem *p)
{
	double	   *best = pe_alloc(p->n, sizeof(double));
	double		least = INFINITY;

	for (int i = 0; i < MOST_STEPS && p->pivots < MOST_PIVOTS && least > PE_NONNEGATIVE_RESIDUAL; i++)
	{
		double		now;

		if (!step(p))
		{
			p->hold = fmax(p->hold * HOLD_GROWTH, HOLD_LEAST);
			make_matrix(p);
			continue;
		}
		now = residual(p);
		if (now < least)
		{
			least = now;
			memcpy(best, p->x, p->n * sizeof(double));
		}
	}
	memcpy(p->x, best, p->n * sizeof(double));
	pe_free(best);
	return least;
}

/* One over the norm of the largest column. */
static double
scale_of_matrix(int32_t rows, int32_t n, const double *a)
{
	double		most = 0;

	for (int32_t j = 0; j < n; j++)
	{
		double		norm = 0;

		for (int32_t i = 0; i < rows; i++)
			norm = hypot(norm, a[(size_t) i * n + j]);
		most = fmax(most, norm);
	}
	return most > 0 ? 1 / most : 1;
}

static void
multiply(size_t count, double *numbers, double factor)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] *= factor;
}

static void
free_problem(problem *p)
{
	pe_free(p->matrix);
	pe_free(p->factor);
	pe_free(p->ay);
	pe_free(p->side);
	pe_free(p->slope);
	pe_free(p->error);
	pe_free(p->is_free);
	pe_free(p->free);
}

double
pe_nonnegative_least_squares(int32_t rows, int32_t columns, double *a, double *y,
							 const double *total, double *x)
{
	size_t		n = columns;
	double		scale = scale_of_matrix(rows, columns, a);
	problem		p = {.rows = rows, .n = columns, .a = a, .y = y, .x = x};
	double		least;

	multiply((size_t) rows * n, a, scale);
	multiply(rows, y, scale);
	p.keeps_total = total != NULL;
	p.total = total != NULL ? *total : 0;
	p.hold = rows < columns ? HOLD : 0;
	p.matrix = pe_alloc(n * n, sizeof(double));
	p.factor = pe_alloc(n * n, sizeof(double));
	p.ay = pe_alloc(n, sizeof(double));
	p.side = pe_alloc(n, sizeof(double));
	p.slope = pe_alloc(n, sizeof(double));
	p.error = pe_alloc(rows > columns ? rows : columns, sizeof(double));
	p.is_free = pe_alloc(n, sizeof(bool));
	p.free = pe_alloc(n, sizeof(int32_t));
	pe_la_gemv(false, columns, rows, 1, p.a, columns, p.y, 0, p.ay);
	for (size_t j = 0; j < n; j++)
		p.is_free[j] = x[j] > 0;
	list_free(&p);
	make_matrix(&p);
	least = iterate(&p);
	free_problem(&p);
	return least;
}

/* ------------------------------------------------------------------
 * Where A is the identity
 * ------------------------------------------------------------------
 */

static int
descending(const void *a, const void *b)
{
	double		left = *(const double *) a;
	double		right = *(const double *) b;

	return (left < right) - (left > right);
}

/* x_j - shift where that is above 0; shift is that of the largest k entries whose k-th stays above 0. */
void
pe_nonnegative_nearest(int32_t columns, double total, double *x)
{
	double	   *sorted = pe_alloc(columns, sizeof(double));
	double		sum = 0;
	double		shift = 0;

	memcpy(sorted, x, columns * sizeof(double));
	qsort(sorted, columns, sizeof(double), descending);
	for (int32_t k = 0; k < columns; k++)
	{
		sum += sorted[k];
		if (k > 0 && sorted[k] <= (sum - total) / (k + 1))
			break;
		shift = (sum - total) / (k + 1);
	}
	for (int32_t j = 0; j < columns; j++)
		x[j] = fmax(x[j] - shift, 0);
	pe_free(sorted);
}

/* ------------------------------------------------------------------
 * A strategy
 * ------------------------------------------------------------------
 */

/* Whether 1 is in the row space: 1 - B^+ B 1 = 0. */
static bool
determines_total(const pe_strategy *strategy)
{
	int32_t		n = strategy->columns;
	double	   *inverse;
	double	   *sums;
	double	   *rest;
	double		outside = 0;

	if (strategy->basis == NULL)
		return true;
	inverse = pe_alloc((size_t) n * strategy->inner, sizeof(double));
	sums = pe_alloc(strategy->inner, sizeof(double));
	rest = pe_alloc(n, sizeof(double));
	if (!pe_basis_inverse(strategy, inverse))
		pe_damaged("the rows of its basis are not independent");
	for (int32_t i = 0; i < strategy->inner; i++)
		for (int32_t j = 0; j < n; j++)
			sums[i] += strategy->basis[(size_t) i * n + j];
	pe_la_gemv(false, n, strategy->inner, 1, inverse, n, sums, 0, rest);
	for (int32_t j = 0; j < n; j++)
		outside += (rest[j] - 1) * (rest[j] - 1);
	pe_free(inverse);
	pe_free(sums);
	pe_free(rest);
	return outside <= OUTSIDE * n;
}

/* a = R B by rows, inner x columns. */
static void
reduced_matrix(const pe_strategy *strategy, double *a)
{
	int32_t		n = strategy->columns;
	int32_t		inner = strategy->inner;
	double	   *r = pe_alloc((size_t) inner * inner, sizeof(double));
	double	   *basis = pe_alloc((size_t) n * inner, sizeof(double));

	pe_strategy_triangle(strategy, r);
	for (int32_t i = 0; i < inner; i++)
		for (int32_t j = 0; j < n; j++)
			basis[(size_t) i * n + j] = strategy->basis != NULL ? strategy->basis[(size_t) i * n + j] : i == j;
	/* by rows is the transpose by columns: B'R' */
	pe_la_gemm(false, true, n, inner, inner, 1, basis, n, r, inner, 0, a, n);
	pe_free(r);
	pe_free(basis);
}

/* x holds x^. */
static double
solve_dense(const pe_strategy *strategy, const double *total, double *x)
{
	int32_t		n = strategy->columns;
	int32_t		inner = strategy->inner;
	double	   *a = pe_alloc((size_t) inner * n, sizeof(double));
	double	   *measured = pe_alloc(inner, sizeof(double));
	double		least;

	reduced_matrix(strategy, a);
	pe_la_gemv(true, n, inner, 1, a, n, x, 0, measured);
	least = pe_nonnegative_least_squares(inner, n, a, measured, total, x);
	pe_free(measured);
	pe_free(a);
	return least;
}

static double
solve_triangle(const pe_strategy *strategy, const int64_t *y, const double *total, double *x)
{
	double	   *a = pe_alloc((size_t) strategy->rows * strategy->columns, sizeof(double));
	double	   *measured = pe_alloc(strategy->rows, sizeof(double));
	double		least;

	pe_strategy_matrix(strategy, a);
	for (int32_t i = 0; i < strategy->rows; i++)
		measured[i] = (double) y[i];
	least = pe_nonnegative_least_squares(strategy->rows, strategy->columns, a, measured, total, x);
	pe_free(measured);
	pe_free(a);
	return least;
}

double
pe_strategy_solve_nonnegative(const pe_strategy *strategy, const int64_t *y, double *x)
{
	bool		determined;
	double		least = 0;
	double		total;

	pe_strategy_solve(strategy, y, x);
	determined = determines_total(strategy);
	total = sum_of(strategy->columns, x);
	if (determined && total <= 0)
	{
		memset(x, 0, strategy->columns * sizeof(double));
		return 0;
	}
	if (strategy->dense != NULL)
		least = solve_dense(strategy, determined ? &total : NULL, x);
	else if (strategy->triangle != NULL)
		least = solve_triangle(strategy, y, determined ? &total : NULL, x);
	else
		pe_nonnegative_nearest(strategy->columns, total, x);
	/* what is left of the total's error by rounding */
	if (determined)
		multiply(strategy->columns, x, total / sum_of(strategy->columns, x));
	return least;
}

/*
 * residual.c
 *	  One attribute of a union: what its factors ask beside a weighted sum of the cells.
 *	  See residual.h.
 */
#include "blocks/residual.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "strategy/solve.h"
#include "strategy/rounding.h"

/*
 * Relative to the largest diagonal entry: what counts as 0, what is added to a
 * V of smaller rank, and before an inversion.
 */
#define RANK_TOLERANCE 1e-11
#define RIDGE 1e-8
#define SLIGHT 1e-10

/* e is near enough to D d; what most of its entries are at most, and the sweeps that make columns even. */
#define CENTRE_TOLERANCE 7e-4
#define MOST_UNITS 64
#define SWEEPS 10
#define REACH 8
#define TOO_LONG 100.0

/* ------------------------------------------------------------------
 * Centres
 * ------------------------------------------------------------------
 */

/* (I - 1 d') G (I - d 1') = G - g 1' - 1 g' + d'g 11', g = G d */
static void
take_rest(int32_t n, const double *gram, const double *d, double *rest)
{
	double	   *g = pe_la_vector((size_t) n);
	double		total;

	pe_la_gemv(false, n, n, 1, gram, n, d, 0, g);
	total = pe_la_dot((size_t) n, d, g);
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			rest[(size_t) j * n + i] = gram[(size_t) j * n + i] - g[i] - g[j] + total;
	pe_la_mirror(n, rest, n);
	pe_free(g);
}

static void
add_to_diagonal(int32_t n, double *x, double value)
{
	for (int32_t i = 0; i < n; i++)
		x[(size_t) i * n + i] += value;
}

/* The rank of the rest is the same around every centre. */
static bool
rest_is_of_full_rank(const pe_residual *r)
{
	double	   *d = pe_la_vector((size_t) r->n);
	double	   *rest = pe_la_vector(pe_la_square(r->n));
	double	   *work = pe_la_vector(2 * (size_t) r->n);
	int32_t    *pivot = pe_alloc((size_t) r->n, sizeof(int32_t));
	int32_t		rank;

	for (int32_t i = 0; i < r->n; i++)
		d[i] = 1.0 / r->n;
	take_rest(r->n, r->v, d, rest);
	rank = pe_la_cholesky_pivoted(r->n, rest, r->n, RANK_TOLERANCE * pe_la_largest_diagonal(r->n, r->v), pivot, work);
	pe_free(d);
	pe_free(rest);
	pe_free(work);
	pe_free(pivot);
	return rank >= r->n - 1;
}

/* Divides by the sum; 1/n if that is not above 0. */
static void
scale_or_level(int32_t n, double *x)
{
	double		sum = 0;

	for (int32_t i = 0; i < n; i++)
		sum += x[i];
	for (int32_t i = 0; i < n; i++)
		x[i] = sum > 0 && isfinite(sum) ? x[i] / sum : 1.0 / n;
}

static void
find_pole(pe_residual *r)
{
	double	   *inverse = pe_la_vector(pe_la_square(r->n));

	memcpy(inverse, r->v, pe_la_square(r->n) * sizeof(double));
	add_to_diagonal(r->n, inverse, SLIGHT * pe_la_largest_diagonal(r->n, r->v));
	if (pe_la_inverse(r->n, inverse, r->n))
		for (size_t k = 0; k < pe_la_square(r->n); k++)
			r->dual[k % (size_t) r->n] += inverse[k];
	scale_or_level(r->n, r->dual);
	for (int32_t i = 0; i < r->n; i++)
		r->pole[i] = fmax(r->dual[i], 0);
	scale_or_level(r->n, r->pole);
	pe_free(inverse);
}

void
pe_residual_init(int32_t n, int factors, double **gram, double *v, pe_residual *r)
{
	*r = (pe_residual) {.n = n, .factors = factors, .gram = gram, .v = v, .dual = pe_la_vector((size_t) n),
		.pole = pe_la_vector((size_t) n)};
	find_pole(r);
	if (!rest_is_of_full_rank(r))
		add_to_diagonal(n, v, RIDGE * pe_la_largest_diagonal(n, v));
}

void
pe_residual_free(pe_residual *r)
{
	for (int f = 0; f < r->factors; f++)
		pe_free(r->gram[f]);
	pe_free(r->gram);
	pe_free(r->v);
	pe_free(r->dual);
	pe_free(r->pole);
}

void
pe_residual_centre(const pe_residual *r, double mix, double *d)
{
	for (int32_t i = 0; i < r->n; i++)
		d[i] = mix * r->pole[i] + (1 - mix) / r->n;
}

/* x'G x */
static double
quadratic(int32_t n, const double *gram, const double *x)
{
	double	   *product = pe_la_vector((size_t) n);
	double		result;

	pe_la_gemv(false, n, n, 1, gram, n, x, 0, product);
	result = pe_la_dot((size_t) n, x, product);
	pe_free(product);
	return fmax(result, 0);
}

void
pe_residual_outside(const pe_residual *r, const double *d, double *outside)
{
	for (int f = 0; f < r->factors; f++)
		outside[f] = quadratic(r->n, r->gram[f], d);
}

/* ------------------------------------------------------------------
 * The optimum around a centre
 * ------------------------------------------------------------------
 */

/* The optimum, X = G'G of rank n - 1 with the largest diagonal entry 1, for the rest of V, which is filled. */
static void
solve_rest(const pe_residual *r, const double *d, double gap, double *rest, pe_optimum *optimum)
{
	take_rest(r->n, r->v, d, rest);
	pe_optimum_solve(rest, r->n, gap, optimum);
}

/*
 * tr(R X^+) of the rest R of G, X = factor'factor with the kernel d: as 1'd = 1, (X + 11')^-1 is the same on all w
 * with w'd = 0, for w = X z = (X + 11')(z - (1'z) d).
 */
static double
error_of_factor(const pe_residual *r, int f, const double *d, const double *inverse)
{
	double	   *rest = pe_la_vector(pe_la_square(r->n));
	double		error;

	take_rest(r->n, r->gram[f], d, rest);
	error = fmax(pe_la_dot(pe_la_square(r->n), rest, inverse), DBL_MIN);
	pe_free(rest);
	return error;
}

void
pe_residual_inside(const pe_residual *r, const double *d, double gap, double *inside, double *y)
{
	double	   *x = pe_la_vector(pe_la_square(r->n));
	pe_optimum	optimum;

	solve_rest(r, d, gap, x, &optimum);
	if (optimum.full)
		memcpy(x, optimum.x, pe_la_square(r->n) * sizeof(double));
	else
		pe_la_syrk(true, r->n, optimum.rank, 1, optimum.factor, optimum.rank, 0, x, r->n);
	pe_la_mirror(r->n, x, r->n);
	for (size_t i = 0; i < pe_la_square(r->n); i++)
		x[i] += 1;
	if (!pe_la_inverse(r->n, x, r->n))
		pe_bug("an optimum of smaller rank than its workload");
	for (int f = 0; f < r->factors; f++)
		inside[f] = error_of_factor(r, f, d, x);
	memcpy(y, optimum.y, (size_t) r->n * sizeof(double));
	pe_scale_to_one(r->n, y);
	pe_optimum_free(&optimum);
	pe_free(x);
}

/* ------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------
 */

/* |e / D - d|^2 / |d|^2 for e = round(scale d); D the sum, which is returned. */
static int32_t
try_scale(const double *d, int32_t n, double scale, int32_t *e, double *error)
{
	int32_t		sum = 0;
	double		square = 0;

	for (int32_t i = 0; i < n; i++)
		sum += e[i] = (int32_t) lrint(scale * d[i]);
	*error = 0;
	for (int32_t i = 0; i < n; i++)
	{
		double		off = (double) e[i] / sum - d[i];

		*error += off * off;
		square += d[i] * d[i];
	}
	*error /= square;
	return sum;
}

/*
 * Most columns have the least weight, which becomes 1, 2, ... until the others fit: where neighbours
 * have the same weight the rows of B are (1, -1) there.
 */
int32_t
pe_residual_integers(const double *d, int32_t n, int32_t *e)
{
	double		least = d[0];
	int32_t		sum = 0;
	double		error = 1;

	for (int32_t i = 1; i < n; i++)
		least = fmin(least, d[i]);
	for (int units = 1; units <= MOST_UNITS && error > CENTRE_TOLERANCE * CENTRE_TOLERANCE; units++)
		sum = try_scale(d, n, units / least, e, &error);
	return sum;
}

static int32_t
common_divisor(int32_t a, int32_t b)
{
	while (b != 0)
	{
		int32_t		rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Two columns, and the entries that a row of B has there. */
typedef struct link
{
	int32_t		column[2];
	int32_t		entry[2];
	int32_t		inside;			/* how far it is from the ends of the chain */
} link;

typedef struct weighted_column
{
	int32_t		e;
	int32_t		column;
} weighted_column;

static int
compare_columns(const void *a, const void *b)
{
	const weighted_column *left = a;
	const weighted_column *right = b;

	return left->e != right->e ? (left->e > right->e) - (left->e < right->e)
		: (left->column > right->column) - (left->column < right->column);
}

/* The coarse ones first, as the first row of T alone has multiples of the first; what has an end last. */
static int
compare_links(const void *a, const void *b)
{
	const link *left = a;
	const link *right = b;

	return left->entry[0] != right->entry[0] ? (left->entry[0] < right->entry[0]) - (left->entry[0] > right->entry[0])
		: (left->inside < right->inside) - (left->inside > right->inside);
}

/* A chain of all columns in the order of e > 0: n - 1 links, (1, -1) between columns of the same weight. */
static link *
make_links(const int32_t *e, int32_t n)
{
	weighted_column *order = pe_alloc((size_t) n, sizeof(*order));
	link	   *links = pe_alloc((size_t) n, sizeof(*links));

	for (int32_t i = 0; i < n; i++)
		order[i] = (weighted_column) {e[i], i};
	qsort(order, (size_t) n, sizeof(*order), compare_columns);
	for (int32_t i = 0; i < n - 1; i++)
	{
		int32_t		divisor = common_divisor(order[i].e, order[i + 1].e);

		links[i] = (link) {{order[i].column, order[i + 1].column}, {order[i + 1].e / divisor, -order[i].e / divisor},
			i < n - 2 - i ? i : n - 2 - i};
	}
	qsort(links, (size_t) n - 1, sizeof(*links), compare_links);
	pe_free(order);
	return links;
}

static int32_t *
make_basis(const link *links, int32_t n)
{
	int32_t    *basis = pe_alloc(pe_la_size(n - 1, n), sizeof(int32_t));

	for (int32_t k = 0; k < n - 1; k++)
		for (int i = 0; i < 2; i++)
			basis[(size_t) k * n + links[k].column[i]] = links[k].entry[i];
	return basis;
}

/* A = T B, whose columns are to be as long as the target. */
typedef struct evening
{
	pe_strategy *strategy;
	const link *links;
	double	   *a;				/* by rows */
	double	   *square;			/* of the columns' norms */
	double	   *target;
	double		gained;			/* in this sweep */
} evening;

/* A column that is too long makes the sensitivity larger, one that is too short wastes a little noise. */
static double
cost_of(double square, double target)
{
	return (square - target) * (square - target) * (square > target ? TOO_LONG : 1);
}

static int32_t *
entry_of(const evening *m, int32_t row, int32_t k)
{
	return m->strategy->triangle + (size_t) k * ((size_t) k + 1) / 2 + row;
}

/*
 * Adds `sign' to T's entry in a row, and takes it from that in another one (-1:
 * none), if that brings the columns nearer.
 */
static void
move_entries(evening *m, int32_t k, int32_t row, int32_t other, int sign)
{
	size_t		n = (size_t) m->strategy->columns;
	const link *l = &m->links[k];
	double	   *of_row = m->a + (size_t) row * n;
	double	   *of_other = m->a + (size_t) (other < 0 ? 0 : other) * n;
	double		after[2];
	double		change = 0;

	if ((row == k && *entry_of(m, row, k) + sign < 1) || (other == k && *entry_of(m, other, k) - sign < 1))
		return;
	for (int i = 0; i < 2; i++)
	{
		int32_t		c = l->column[i];
		double		by = sign * l->entry[i];

		after[i] = m->square[c] + by * (2 * of_row[c] + by);
		if (other >= 0)
			after[i] -= by * (2 * of_other[c] - by);
		change += cost_of(after[i], m->target[c]) - cost_of(m->square[c], m->target[c]);
	}
	if (!(change < 0))
		return;
	m->gained -= change;
	for (int i = 0; i < 2; i++)
	{
		int32_t		c = l->column[i];

		m->square[c] = after[i];
		of_row[c] += sign * l->entry[i];
		if (other >= 0)
			of_other[c] -= sign * l->entry[i];
	}
	*entry_of(m, row, k) += sign;
	if (other >= 0)
		*entry_of(m, other, k) -= sign;
}

/* All single moves, and those of two entries of a column that are not far from each other. */
static void
sweep_entries(evening *m)
{
	pe_poll();
	m->gained = 0;
	for (int32_t k = 1; k < m->strategy->inner; k++)
		for (int32_t row = 0; row <= k; row++)
			for (int sign = -1; sign <= 1; sign += 2)
			{
				move_entries(m, k, row, -1, sign);
				for (int32_t other = row + 1; other <= k && other <= row + REACH; other++)
					move_entries(m, k, row, other, sign);
			}
}

static double
left_over(const evening *m)
{
	double		sum = 0;

	for (int32_t j = 0; j < m->strategy->columns; j++)
		sum += cost_of(m->square[j], m->target[j]);
	return sum;
}

/*
 * Moves entries of T by one as long as that brings the columns of T B nearer to the squared norms of X, each
 * times the same scale: that of the one that has the first, coarse link alone, if there is such a column.  At the
 * optimum the objective changes with these norms alone, to the first order, so that what is left of
 * rounding is of the second.
 */
static void
even_out(pe_strategy *strategy, const link *links, const double *x)
{
	size_t		n = (size_t) strategy->columns;
	evening		m = {strategy, links, pe_la_vector((size_t) strategy->rows * n), pe_la_vector(n), pe_la_vector(n), 0};
	double		scale = 0;

	pe_strategy_matrix(strategy, m.a);
	for (size_t i = 0; i < (size_t) strategy->rows * n; i++)
		m.square[i % n] += m.a[i] * m.a[i];
	for (size_t j = 0; j < n; j++)
	{
		int			ends = 0;

		for (int32_t k = 1; k < strategy->inner; k++)
			ends += links[k].column[0] == (int32_t) j || links[k].column[1] == (int32_t) j;
		if (ends == 0 || scale == 0)
			scale = m.square[j] / x[j];
	}
	for (size_t j = 0; j < n; j++)
		m.target[j] = x[j] * scale;
	for (int sweep = 0; sweep < SWEEPS && (sweep == 0 || m.gained > 0.1 * left_over(&m)); sweep++)
		sweep_entries(&m);
	pe_free(m.a);
	pe_free(m.square);
	pe_free(m.target);
}

/*
 * G of X = G'G, rank x n, or n x n where rounding has made X one of full rank:
 * then in the place of X; NULL if that fails.
 */
static double *
factor_of(pe_optimum *optimum)
{
	size_t		n = (size_t) optimum->n;

	if (!optimum->full)
		return optimum->factor;
	if (!pe_la_cholesky(optimum->n, optimum->x, optimum->n))
		return NULL;
	for (size_t j = 0; j < n; j++)
		memset(optimum->x + j * n + j + 1, 0, (n - j - 1) * sizeof(double));
	return optimum->x;
}

/* T of the optimum in real numbers; false if it does not fit. */
static bool
round_optimum(const pe_strategy_problem *problem, double length, const double *rest,
			  pe_optimum *optimum, const link *links, pe_strategy *strategy)
{
	int32_t		n = strategy->columns;
	int32_t		rows = optimum->full ? n : optimum->rank;
	pe_strategy_problem finer = *problem;
	pe_rounding m = {.problem = &finer, .n = n, .v = (double *) rest, .goal = optimum->upper,
		.tolerance = 1e-7, .strategy = strategy};
	double	   *x = pe_la_vector((size_t) n);
	double	   *factor = factor_of(optimum);
	bool		done;

	finer.bits = (int) ceil(length);
	for (size_t i = 0; factor != NULL && i < pe_la_size(rows, n); i++)
		factor[i] *= exp2(length - finer.bits);
	done = factor != NULL && pe_rounding_with_basis(&m, factor, rows);
	for (int32_t j = 0; j < n && done; j++)
		x[j] = pe_la_dot((size_t) rows, factor + (size_t) j * (size_t) rows, factor + (size_t) j * (size_t) rows);
	if (done)
		even_out(strategy, links, x);
	pe_free(x);
	return done;
}

void
pe_scale_to_one(int32_t n, double *y)
{
	scale_or_level(n, y);
}

double
pe_strategy_error(const pe_strategy *strategy, pe_norm norm, const double *gram)
{
	int32_t		n = strategy->columns;
	double	   *covariance = pe_la_vector(pe_la_square(n));
	pe_u128	   *norms = pe_alloc((size_t) n, sizeof(*norms));
	double		largest = 0;
	double		error = -1;

	if (pe_strategy_column_norms(strategy, norm, norms))
	{
		for (int32_t j = 0; j < n; j++)
			largest = fmax(largest, (double) norms[j]);
		pe_strategy_covariance(strategy, covariance);
		error = fmax(pe_la_dot(pe_la_square(n), gram, covariance), 0) * largest * (norm == PE_L1 ? largest : 1);
	}
	pe_free(covariance);
	pe_free(norms);
	return error;
}

bool
pe_residual_strategy(const pe_residual *r, const pe_strategy_problem *problem, double length, const int32_t *e,
					 int32_t denominator, pe_strategy *strategy, pe_split *split)
{
	double	   *rest = pe_la_vector(pe_la_square(r->n));
	double	   *d = pe_la_vector((size_t) r->n);
	link	   *links = make_links(e, r->n);
	pe_optimum	optimum;
	bool		done;

	*strategy = (pe_strategy) {.classes = r->n, .columns = r->n, .inner = r->n - 1,
		.rows = r->n - 1, .basis = make_basis(links, r->n),
		.column_of = pe_alloc((size_t) r->n, sizeof(int32_t))};
	for (int32_t i = 0; i < r->n; i++)
	{
		strategy->column_of[i] = i;
		d[i] = (double) e[i] / denominator;
	}
	solve_rest(r, d, fmin(problem->gap / 4, 1e-7), rest, &optimum);
	done = round_optimum(problem, length, rest, &optimum, links, strategy);
	pe_residual_outside(r, d, split->outside);
	for (int f = 0; f < r->factors && done; f++)
	{
		take_rest(r->n, r->gram[f], d, rest);
		split->inside[f] = pe_strategy_error(strategy, problem->norm, rest);
		done = split->inside[f] >= 0;
	}
	strategy->objective = optimum.upper;
	pe_free(links);
	pe_optimum_free(&optimum);
	pe_free(rest);
	pe_free(d);
	return done;
}

/* ------------------------------------------------------------------
 * Lower bounds
 * ------------------------------------------------------------------
 */

/* Eigenvalues are taken to be wrong by this much of the largest, as optimum.h has it, and the sum by as much. */
static double
rounding_of(int32_t n)
{
	return fmin(n, 4 * sqrt(n)) * DBL_EPSILON;
}

double
pe_nuclear_square(int32_t n, const double *gram, const double *y)
{
	double	   *m = pe_la_vector(pe_la_square(n));
	double	   *value = pe_la_vector((size_t) n);
	double	   *work = pe_la_vector(pe_la_eigenvalues_work(n));
	double		trace = 0;

	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			m[(size_t) j * n + i] = gram[(size_t) j * n + i] * sqrt(y[i] * y[j]);
	if (pe_la_eigenvalues(n, m, value, work))
		for (int32_t i = 0; i < n; i++)
			trace += sqrt(fmax(value[i] - rounding_of(n) * value[n - 1], 0));
	pe_free(m);
	pe_free(value);
	pe_free(work);
	return trace * trace * (1 - rounding_of(n));
}

/* x / |x| */
static void
scale_to_length_one(int32_t n, double *x)
{
	double		length = sqrt(pe_la_dot((size_t) n, x, x));

	for (int32_t i = 0; i < n; i++)
		x[i] /= length;
}

/* The parts of M = Y^.5 G Y^.5: with x = Y^.5 e, Y^.5 (G - G x x'G / x'G x) Y^.5. */
static void
pinch(int32_t n, const double *gram, const double *y, const double *x, double *inside, double *outside)
{
	double	   *rest = pe_la_vector(pe_la_square(n));
	double	   *g = pe_la_vector((size_t) n);

	pe_la_gemv(false, n, n, 1, gram, n, x, 0, g);
	*outside = fmax(pe_la_dot((size_t) n, x, g), 0) * (1 - rounding_of(n));
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			rest[(size_t) j * n + i] = gram[(size_t) j * n + i] - (*outside > 0 ? g[i] * g[j] / *outside : 0);
	*inside = pe_nuclear_square(n, rest, y);
	pe_free(rest);
	pe_free(g);
}

void
pe_residual_pinch(const pe_residual *r, const double *y, double tilt, pe_split *split)
{
	size_t		n = (size_t) r->n;
	double	   *e = pe_la_vector(n);
	double	   *x = pe_la_vector(n);
	double		kept = 0;

	for (size_t i = 0; i < n; i++)
		x[i] = r->dual[i] / sqrt(y[i]);
	scale_to_length_one(r->n, x);
	for (size_t i = 0; i < n; i++)
		e[i] = (1 - tilt) * sqrt(y[i]) + tilt * x[i];
	scale_to_length_one(r->n, e);
	for (size_t i = 0; i < n; i++)
	{
		kept += e[i] * sqrt(y[i]);
		x[i] = e[i] * sqrt(y[i]);
	}
	split->absent = kept * kept * (1 - rounding_of(r->n));
	for (int f = 0; f < r->factors; f++)
		pinch(r->n, r->gram[f], y, x, &split->inside[f], &split->outside[f]);
	pe_free(e);
	pe_free(x);
}

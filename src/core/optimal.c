/*
 * optimal.c
 *	  From the optimum in real numbers to the integers that are measured.  See
 *	  strategy.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/basis.h"
#include "core/linalg.h"
#include "core/optimum.h"
#include "core/reconstruct.h"
#include "core/strategy.h"

/* The lattice of T is 2^-k; finer while the certificate falls short of what was asked. */
#define FIRST_BITS 16
#define MOST_BITS 24
#define BITS_STEP 4

/* With a basis of large integers T is small, and needs a finer lattice; its entries stay below 2^30. */
#define MOST_BITS_OF_BASIS 28
#define ENTRY_BITS 30

/*
 * Where no basis of the queries can be had, or its rounding costs too much, all
 * cells are measured: X =
 * (1 - eta) X + eta I, which costs about eta of the variance.  A smaller eta
 * than 2^-(k - 2.5) makes the rounding of T matter more than it saves.
 */
#define MOST_RIDGE 8e-5			/* for k = FIRST_BITS */
#define LEAST_RIDGE 4e-7		/* for k = MOST_BITS */

/* What a strategy is made from. */
typedef struct maker
{
	const pe_workload *workload;
	const pe_classes *classes;
	double		gap;
	int32_t		n;				/* columns */
	int32_t    *representative; /* class of each column */
	double	   *gram;			/* W'W over the columns, exact */
	double	   *v;				/* the same, weighted; gram itself if nothing is */
	pe_strategy *strategy;
} maker;

static size_t
square(int32_t n)
{
	return (size_t) n * n;
}

/* ------------------------------------------------------------------
 * Columns
 * ------------------------------------------------------------------
 */

static void
mark_ruled_out(const pe_workload *workload, const pe_classes *classes, const bool *possible, int32_t *column_of)
{
	int32_t		cells = pe_shape_cells(&workload->shape);

	if (possible == NULL)
		return;
	for (int32_t c = 0; c < classes->cells; c++)
		column_of[c] = PE_RULED_OUT;
	for (int32_t cell = 0; cell < cells; cell++)
		if (possible[cell])
			column_of[pe_classes_of_cell(classes, &workload->shape, cell)] = 0;
}

bool
pe_workload_counts_once(const pe_workload *workload)
{
	if (workload->terms != 1)
		return false;
	for (int f = 0; f < workload->term[0].factors; f++)
		if (workload->term[0].factor[f].constructor != PE_IDENTITY &&
			workload->term[0].factor[f].constructor != PE_TOTAL)
			return false;
	return true;
}

/* W itself: a column for every class that is left. */
static pe_strategy_status
measure_workload(const pe_workload *workload, pe_strategy *strategy)
{
	double		weight = workload->term[0].weight;

	for (int32_t c = 0; c < strategy->classes; c++)
		if (strategy->column_of[c] != PE_RULED_OUT)
			strategy->column_of[c] = strategy->columns++;
	strategy->rows = strategy->inner = strategy->columns;
	strategy->objective = weight * weight * strategy->columns;
	strategy->lower_bound = strategy->objective;
	return strategy->columns > 0 ? PE_STRATEGY_OK : PE_STRATEGY_EMPTY;
}

static void
clear_ruled_out(const maker *m, double *gram)
{
	int32_t		classes = m->classes->cells;

	for (int32_t c = 0; c < classes; c++)
		if (m->strategy->column_of[c] == PE_RULED_OUT)
			for (int32_t i = 0; i < classes; i++)
				gram[(size_t) c * classes + i] = gram[(size_t) i * classes + c] = 0;
}

static bool
is_weighted(const pe_workload *workload)
{
	for (int32_t t = 0; t < workload->terms; t++)
		if (workload->term[t].weight != 1)
			return true;
	return false;
}

/* The weighted Gram matrix over the columns. */
static double *
weighted_gram(const maker *m)
{
	double	   *all = pe_alloc(square(m->classes->cells), sizeof(double));
	double	   *v = pe_alloc(square(m->n), sizeof(double));

	pe_workload_gram(m->workload, m->classes, true, all);
	for (int32_t i = 0; i < m->n; i++)
		for (int32_t j = 0; j < m->n; j++)
			v[(size_t) i * m->n + j] = all[(size_t) m->representative[i] * m->classes->cells + m->representative[j]];
	pe_free(all);
	return v;
}

/* Classes become columns: ruled out, not asked, or one of those with the same weights in every query. */
static void
make_columns(maker *m)
{
	int32_t		classes = m->classes->cells;
	int32_t    *column_of = pe_alloc(classes, sizeof(int32_t));

	m->gram = pe_alloc(square(classes), sizeof(double));
	pe_workload_gram(m->workload, m->classes, false, m->gram);
	clear_ruled_out(m, m->gram);
	m->n = pe_optimum_reduce(m->gram, classes, column_of);
	m->representative = pe_alloc(m->n + 1, sizeof(int32_t));
	for (int32_t c = classes - 1; c >= 0; c--)
	{
		if (column_of[c] >= 0)
			m->representative[column_of[c]] = c;
		if (m->strategy->column_of[c] != PE_RULED_OUT)
			m->strategy->column_of[c] = column_of[c] >= 0 ? column_of[c] : PE_NOT_ASKED;
	}
	pe_free(column_of);
	m->strategy->columns = m->n;
	if (m->n > 0)
		m->v = is_weighted(m->workload) ? weighted_gram(m) : m->gram;
}

/* Queries that share no cell: with a diagonal V nothing is better than to count each column. */
static bool
is_diagonal(const maker *m)
{
	for (int32_t j = 0; j < m->n; j++)
		for (int32_t i = 0; i < j; i++)
			if (m->v[(size_t) j * m->n + i] != 0)
				return false;
	return true;
}

static void
measure_columns(maker *m)
{
	m->strategy->rows = m->strategy->inner = m->n;
	for (int32_t i = 0; i < m->n; i++)
		m->strategy->objective += m->v[(size_t) i * m->n + i];
	m->strategy->lower_bound = m->strategy->objective;
}

/* ------------------------------------------------------------------
 * Rounding
 * ------------------------------------------------------------------
 */

/* |a| of an entry, and the row it stands in */
typedef struct sized
{
	int32_t		size;
	int32_t		row;
} sized;

static int
compare_sized(const void *a, const void *b)
{
	const sized *left = a;
	const sized *right = b;

	if (left->size != right->size)
		return left->size < right->size ? 1 : -1;
	return left->row < right->row ? -1 : left->row > right->row;
}

/* Moves an entry away from 0, or towards it; returns what its square loses by that. */
static double
move_entry(int32_t *entry, bool grow)
{
	double		before = *entry;

	*entry += (*entry < 0) == grow ? -1 : 1;
	return before * before - (double) *entry * *entry;
}

/* What its square would gain or lose. */
static double
square_of_move(int32_t entry, bool grow)
{
	double		size = entry < 0 ? -(double) entry : entry;

	return grow ? 2 * size + 1 : 2 * size - 1;
}

/*
 * Moves entries of a column by one, the largest that fits each time, until its
 * squared norm is as near below target as the smallest entry allows.  This takes
 * away the first order of what rounding costs: the largest column norm is the
 * sensitivity, and every column that falls short of it wastes noise.
 */
static void
adjust_column(int32_t *column, int32_t count, double target, sized *order)
{
	double		missing = target;
	int32_t		at = 0;

	for (int32_t i = 0; i < count; i++)
	{
		order[i] = (sized) {column[i] < 0 ? -column[i] : column[i], i};
		missing -= (double) column[i] * column[i];
	}
	qsort(order, count, sizeof(*order), compare_sized);
	while (count > 0 && order[count - 1].size < 2)
		count--;				/* neither 0 nor the last unit of a diagonal entry is touched */
	for (; missing < 0 && at < count; at++)
		while (missing < 0 && (at == count - 1 || square_of_move(column[order[at].row], false) <= -missing) &&
			   abs(column[order[at].row]) > 1)
			missing += move_entry(&column[order[at].row], false);
	for (at = 0; at < count; at++)
		while (square_of_move(column[order[at].row], true) <= missing)
			missing += move_entry(&column[order[at].row], true);
}

/* T = round(2^bits R), R upper triangular with stride r.  target: squared norms of R's columns, or NULL. */
static int32_t *
round_triangle(const double *r, int32_t n, int bits, const double *target)
{
	int32_t    *triangle = pe_alloc(square(n) / 2 + n, sizeof(int32_t));
	sized	   *order = pe_alloc(n, sizeof(*order));
	int32_t    *column = triangle;

	for (int32_t j = 0; j < n; column += ++j)
	{
		for (int32_t i = 0; i <= j; i++)
			column[i] = (int32_t) lrint(ldexp(r[(size_t) j * n + i], bits));
		if (column[j] < 1)
			column[j] = 1;		/* invertible, whatever the cost */
		if (target != NULL)
			adjust_column(column, j + 1, floor(ldexp(target[j], 2 * bits)), order);
	}
	pe_free(order);
	return triangle;
}

static double *
unpack_triangle(const int32_t *triangle, int32_t n)
{
	double	   *r = pe_alloc(square(n), sizeof(double));

	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i <= j; i++)
			r[(size_t) j * n + i] = *triangle++;
	return r;
}

/* sum_ij V_ij (T'T)^-1_ij, V symmetric: both triangles. */
static double
expected_error(const int32_t *triangle, int32_t n, const double *v)
{
	double	   *c = unpack_triangle(triangle, n);
	double		sum = 0;

	if (!pe_la_triangle_inverse(n, c, n))
		pe_bug("a triangle with a zero on its diagonal");
	pe_la_triangle_square(n, c, n);
	for (int32_t j = 0; j < n; j++)
	{
		for (int32_t i = 0; i < j; i++)
			sum += 2 * c[(size_t) j * n + i] * v[(size_t) j * n + i];
		sum += c[(size_t) j * n + j] * v[(size_t) j * n + j];
	}
	pe_free(c);
	return sum;
}

/*
 * The integers on one lattice, and what they are worth.  v: W'W in the
 * coordinates that T's columns stand for.  False if they are beyond what can be
 * measured.
 */
static bool
make_triangle(maker *m, const double *r, int32_t n, int bits, const double *target, const double *v)
{
	pe_strategy *strategy = m->strategy;
	pe_u128		sensitivity_sq;

	pe_poll();
	pe_free(strategy->triangle);
	strategy->rows = strategy->inner = n;
	strategy->triangle = round_triangle(r, n, bits, target);
	if (!pe_strategy_sensitivity_sq(strategy, PE_ADD_REMOVE, 1, &sensitivity_sq))
		return false;
	strategy->objective = (double) sensitivity_sq * expected_error(strategy->triangle, n, v);
	return true;
}

static bool
is_good(const maker *m)
{
	return m->strategy->objective <= m->strategy->lower_bound * (1 + m->gap);
}

/* ------------------------------------------------------------------
 * From X to A
 * ------------------------------------------------------------------
 */

/* X of full rank, destroyed: X = R'R. */
static void
factor_full(maker *m, double *x)
{
	double	   *target = pe_alloc(m->n, sizeof(double));
	int			bits = FIRST_BITS;

	for (int32_t i = 0; i < m->n; i++)
		target[i] = x[(size_t) i * m->n + i];
	if (!pe_la_cholesky(m->n, x, m->n))
		pe_bug("the optimum is not positive definite");
	do
	{
		if (!make_triangle(m, x, m->n, bits, target, m->v))
			pe_bug("a strategy beyond its bounds");
		bits += BITS_STEP;
	} while (bits <= MOST_BITS && !is_good(m));
	pe_free(target);
}

/* Puts a strategy back that was made before, if it is not worse; the other one is freed. */
static void
keep_better(maker *m, pe_strategy *before)
{
	pe_strategy *strategy = m->strategy;
	pe_strategy worse = *before;

	if (before->objective <= strategy->objective)
	{
		worse = *strategy;
		*strategy = *before;
	}
	pe_free(worse.triangle);
	pe_free(worse.basis);
}

/* X = (1 - eta) G'G + eta I. */
static void
measure_with_ridge(maker *m, const pe_optimum *optimum, double ridge)
{
	double	   *x = pe_alloc(square(m->n), sizeof(double));

	pe_la_syrk(true, m->n, optimum->rank, 1 - ridge, optimum->factor, optimum->rank, 0, x, m->n);
	pe_la_mirror(m->n, x, m->n);
	for (int32_t i = 0; i < m->n; i++)
		x[(size_t) i * m->n + i] += ridge;
	factor_full(m, x);
	pe_free(x);
}

/* Where weights of very different sizes make rounding cost more than the ridge, a larger one is better. */
static void
measure_everything(maker *m, const pe_optimum *optimum)
{
	double		ridge = fmin(fmax(m->gap / 2, LEAST_RIDGE), MOST_RIDGE);

	measure_with_ridge(m, optimum, ridge);
	while (ridge < MOST_RIDGE && !is_good(m) && pe_strategy_gap(m->strategy) > 4 * ridge)
	{
		pe_strategy before = *m->strategy;

		m->strategy->triangle = NULL;
		ridge = fmin(8 * ridge, MOST_RIDGE);
		measure_with_ridge(m, optimum, ridge);
		keep_better(m, &before);
	}
}

/* R of the QR factorisation of a (rows x n), with a positive diagonal; false if it is not of rank n. */
static bool
triangle_of(double *a, int32_t rows, int32_t n, double *r)
{
	pe_la_qr(rows, n, a, rows, r, n);
	for (int32_t i = 0; i < n; i++)
	{
		double		diagonal = r[(size_t) i * n + i];
		double		column = 0;

		for (int32_t j = 0; j <= i; j++)
			column = fmax(column, fabs(r[(size_t) i * n + j]));
		if (!(fabs(diagonal) > 1e-7 * column))
			return false;
		if (diagonal > 0)
			continue;
		for (int32_t j = i; j < n; j++)
			r[(size_t) j * n + i] = -r[(size_t) j * n + i];
	}
	return true;
}

/* The finest lattice on which R's entries stay below 2^ENTRY_BITS. */
static int
most_bits(const double *r, int32_t n)
{
	double		largest = 0;
	int			exponent;

	for (size_t i = 0; i < square(n); i++)
		largest = fmax(largest, fabs(r[i]));
	(void) frexp(largest, &exponent);
	return exponent < ENTRY_BITS - MOST_BITS_OF_BASIS ? MOST_BITS_OF_BASIS : ENTRY_BITS - exponent;
}

/* R of P in X = B'P B, v: the workload in B's coordinates. */
static bool
round_basis(maker *m, const double *r, int32_t rows, const double *v)
{
	int			most = most_bits(r, rows);
	int			bits = most < FIRST_BITS ? most : FIRST_BITS;
	bool		done;

	do
	{
		done = make_triangle(m, r, rows, bits, NULL, v);
		bits += BITS_STEP;
	} while (done && bits <= most && !is_good(m));
	return done;
}

/*
 * Of X = G'G the part P in X = B'P B: with N = B^+, P = (G N)'(G N) = R'R, and
 * the workload in B's coordinates is N'V N.
 */
static bool
factor_basis(maker *m, const pe_optimum *optimum, int32_t rows)
{
	double	   *inverse = pe_alloc((size_t) m->n * rows, sizeof(double));
	double	   *r = NULL;
	double	   *product = NULL;
	double	   *v = NULL;
	bool		done;

	m->strategy->rows = m->strategy->inner = rows;
	done = optimum->rank >= rows && pe_basis_inverse(m->strategy, inverse);
	if (done)
	{
		/* not before the inverse, which takes room itself */
		r = pe_alloc(square(rows), sizeof(double));
		product = pe_alloc((size_t) m->n * optimum->rank, sizeof(double));
		pe_la_gemm(false, false, optimum->rank, rows, m->n, 1, optimum->factor, optimum->rank, inverse, m->n,
				   0, product, optimum->rank);
		done = triangle_of(product, optimum->rank, rows, r);
	}
	if (done)
	{
		v = pe_alloc(square(rows), sizeof(double));
		pe_la_symm(false, m->n, rows, 1, m->v, m->n, inverse, m->n, 0, product, m->n);
		pe_la_gemm(true, false, rows, rows, m->n, 1, inverse, m->n, product, m->n, 0, v, rows);
	}
	pe_free(inverse);
	pe_free(product);
	done = done && round_basis(m, r, rows, v);
	pe_free(r);
	pe_free(v);
	return done;
}

static void
factor_deficient(maker *m, const pe_optimum *optimum)
{
	pe_strategy *strategy = m->strategy;
	int32_t		rows = pe_basis_select(m->workload, m->classes, m->representative, m->n, m->gram, &strategy->basis);
	bool		usable = rows > 0 && rows < m->n && factor_basis(m, optimum, rows);
	pe_strategy with_basis = *strategy;

	if (usable && is_good(m))
		return;
	if (!usable)
	{
		pe_free(strategy->basis);
		with_basis.objective = INFINITY;
		pe_free(strategy->triangle);
		with_basis.basis = with_basis.triangle = NULL;
	}
	strategy->basis = strategy->triangle = NULL;
	measure_everything(m, optimum);
	keep_better(m, &with_basis);
}

static void
optimise(maker *m)
{
	pe_optimum	optimum;

	pe_optimum_solve(m->v, m->n, m->gap / 2, &optimum);	/* the other half is for the rounding */
	m->strategy->iterations = optimum.iterations;
	m->strategy->lower_bound = optimum.lower;
	if (optimum.full)
		factor_full(m, optimum.x);
	else
		factor_deficient(m, &optimum);
	pe_optimum_free(&optimum);
}

pe_strategy_status
pe_strategy_optimal(const pe_workload *workload, const pe_classes *classes, const bool *possible, double gap,
					pe_strategy *strategy)
{
	maker		m = {.workload = workload, .classes = classes, .gap = gap, .strategy = strategy};

	memset(strategy, 0, sizeof(*strategy));
	strategy->classes = classes->cells;
	strategy->column_of = pe_alloc(classes->cells, sizeof(int32_t));
	mark_ruled_out(workload, classes, possible, strategy->column_of);
	if (pe_workload_counts_once(workload))
		return measure_workload(workload, strategy);
	if (classes->cells > PE_OPTIMUM_CELLS)
		return PE_STRATEGY_TOO_LARGE;
	make_columns(&m);
	if (m.n > 0 && is_diagonal(&m))
		measure_columns(&m);
	else if (m.n > 0)
		optimise(&m);
	if (m.v != m.gram)
		pe_free(m.v);
	pe_free(m.gram);
	pe_free(m.representative);
	return m.n > 0 ? PE_STRATEGY_OK : PE_STRATEGY_EMPTY;
}

size_t
pe_strategy_optimal_memory(const pe_workload *workload, const pe_classes *classes)
{
	size_t		n = classes->cells;
	size_t		queries;
	pe_workload candidates;

	if (pe_workload_counts_once(workload) || n > PE_OPTIMUM_CELLS)
		return n * sizeof(int32_t);
	pe_workload_basis(workload, &candidates);
	queries = candidates.queries;
	pe_workload_basis_free(&candidates);
	/* the Gram matrix twice; the optimum, and in its room what follows it; a basis, and what finds it */
	return n * n * (2 * sizeof(double) + sizeof(int32_t)) + pe_optimum_memory((int32_t) n)
		+ queries * (2 * sizeof(int32_t) + 5 * sizeof(double));
}

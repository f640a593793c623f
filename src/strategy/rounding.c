/*
 * rounding.c
 *	  From a design in real numbers to the integers that are measured.  See
 *	  rounding.h.
 */
#include "strategy/rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "optimum/optimum.h"
#include "strategy/solve.h"

/* The lattice of T is 2^-k; finer while the certificate falls short of what was asked. */
#define FIRST_BITS 16
#define MOST_BITS 24
#define BITS_STEP 4

/* With a basis of large integers T is small, and needs a finer lattice; its entries stay below 2^30. */
#define MOST_BITS_OF_BASIS 28
#define ENTRY_BITS 30

/*
 * Where the queries have no basis, or its rounding costs too much, all
 * cells are measured: X =
 * (1 - eta) X + eta I, which costs about eta of the variance.  A smaller eta
 * than 2^-(k - 2.5) makes the rounding of T matter more than it saves.
 */
#define MOST_RIDGE 8e-5			/* for k = FIRST_BITS */
#define LEAST_RIDGE 4e-7		/* for k = MOST_BITS */

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

/* The same of conditions on single attributes: a class goes if all cells of one of its attributes' classes do. */
static void
mark_attributes(const pe_classes *classes, const pe_shape *shape, const bool *const *possible_of, int32_t *column_of)
{
	int32_t		inner = 1;		/* classes of the attributes that follow */

	for (int a = shape->attributes - 1; a >= 0; inner *= classes->count[a--])
	{
		bool	   *left = pe_alloc(classes->count[a], sizeof(bool));

		for (int32_t cell = 0; cell < shape->cells[a]; cell++)
			left[classes->class_of[a][cell]] |= possible_of[a] == NULL || possible_of[a][cell];
		for (int32_t c = 0; c < classes->cells; c++)
			if (!left[c / inner % classes->count[a]])
				column_of[c] = PE_RULED_OUT;
		pe_free(left);
	}
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

/* A strategy without columns yet. */
static void
begin_strategy(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	memset(strategy, 0, sizeof(*strategy));
	strategy->classes = problem->classes->cells;
	strategy->column_of = pe_alloc(problem->classes->cells, sizeof(int32_t));
	mark_ruled_out(problem->workload, problem->classes, problem->possible, strategy->column_of);
	if (problem->possible_of != NULL)
		mark_attributes(problem->classes, &problem->workload->shape, problem->possible_of, strategy->column_of);
}

static double
squared_sensitivity(const pe_strategy *strategy, pe_norm norm, pe_neighbours neighbours)
{
	pe_u128		sensitivity;

	if (norm == PE_L2)
		return pe_strategy_sensitivity_sq(strategy, neighbours, 1, &sensitivity) ? (double) sensitivity : 0;
	if (!pe_strategy_sensitivity_l1(strategy, neighbours, 1, &sensitivity))
		return 0;
	return (double) sensitivity * (double) sensitivity;
}

bool
pe_rounding_substitute(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	double		before;

	if (problem->neighbours == PE_ADD_REMOVE)
		return true;
	before = squared_sensitivity(strategy, problem->norm, PE_ADD_REMOVE);
	if (before > 0)
		strategy->objective *= squared_sensitivity(strategy, problem->norm, PE_SUBSTITUTE) / before;
	return before > 0 && strategy->objective > 0;
}

bool
pe_counts_total(const pe_strategy_problem *problem)
{
	return problem->neighbours == PE_SUBSTITUTE && problem->method == PE_METHOD_OPTIMAL && problem->norm == PE_L2 &&
		problem->workload->queries > 1 && problem->workload->queries <= PE_TOTAL_CELLS;
}

/* Every column and their total: A = [I; 1'], A'A = I + 11', no two columns and 0 farther than 2^.5 apart. */
static void
add_total(pe_strategy *strategy)
{
	strategy->rows = strategy->columns + 1;
	strategy->dense = pe_alloc((size_t) strategy->rows * strategy->columns, sizeof(int32_t));
	for (int32_t j = 0; j < strategy->columns; j++)
		strategy->dense[(size_t) j * strategy->rows + j] = strategy->dense[(size_t) (j + 1) * strategy->rows - 1] = 1;
	strategy->objective = strategy->lower_bound;
}

pe_strategy_status
pe_rounding_count_classes(const pe_strategy_problem *problem, pe_strategy *strategy)
{
	double		weight = problem->workload->term[0].weight;

	begin_strategy(problem, strategy);
	for (int32_t c = 0; c < strategy->classes; c++)
		if (strategy->column_of[c] != PE_RULED_OUT)
			strategy->column_of[c] = strategy->columns++;
	strategy->rows = strategy->inner = strategy->columns;
	if (strategy->columns == 0)
	{
		pe_strategy_free(strategy);
		return PE_STRATEGY_EMPTY;
	}
	strategy->objective = weight * weight * (problem->objective == PE_MAX ? 1 : strategy->columns);
	strategy->lower_bound = strategy->objective;
	if (problem->neighbours == PE_SUBSTITUTE)
	{
		strategy->lower_bound *= 2.0 * strategy->columns / (strategy->columns + 1.0);
		if (pe_counts_total(problem) && strategy->columns > 1)
			add_total(strategy);
		else if (!pe_rounding_substitute(problem, strategy))
			pe_bug("counts beyond their bounds");
	}
	return PE_STRATEGY_OK;
}

static void
clear_ruled_out(const pe_rounding *m, double *gram)
{
	int32_t		classes = m->problem->classes->cells;

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
weighted_gram(const pe_rounding *m)
{
	double	   *all = pe_alloc(pe_la_square(m->problem->classes->cells), sizeof(double));
	double	   *v = pe_alloc(pe_la_square(m->n), sizeof(double));

	pe_workload_gram(m->problem->workload, m->problem->classes, true, all);
	for (int32_t i = 0; i < m->n; i++)
		for (int32_t j = 0; j < m->n; j++)
			v[(size_t) i * m->n + j] =
				all[(size_t) m->representative[i] * m->problem->classes->cells + m->representative[j]];
	pe_free(all);
	return v;
}

static void
make_columns(pe_rounding *m)
{
	int32_t		classes = m->problem->classes->cells;
	int32_t    *column_of = pe_alloc(classes, sizeof(int32_t));

	m->gram = pe_alloc(pe_la_square(classes), sizeof(double));
	pe_workload_gram(m->problem->workload, m->problem->classes, false, m->gram);
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
		m->v = is_weighted(m->problem->workload) ? weighted_gram(m) : m->gram;
}

pe_strategy_status
pe_rounding_begin(pe_rounding *m, const pe_strategy_problem *problem, pe_strategy *strategy)
{
	memset(m, 0, sizeof(*m));
	m->problem = problem;
	m->strategy = strategy;
	if (problem->classes->cells > PE_OPTIMUM_CELLS)
		return PE_STRATEGY_TOO_LARGE;
	begin_strategy(problem, strategy);
	make_columns(m);
	if (m->n > 0)
		return PE_STRATEGY_OK;
	pe_rounding_end(m);
	pe_strategy_free(strategy);
	return PE_STRATEGY_EMPTY;
}

void
pe_rounding_end(pe_rounding *m)
{
	if (m->v != m->gram)
		pe_free(m->v);
	pe_free(m->gram);
	pe_free(m->representative);
}

bool
pe_rounding_is_diagonal(const pe_rounding *m)
{
	for (int32_t j = 0; j < m->n; j++)
		for (int32_t i = 0; i < j; i++)
			if (m->v[(size_t) j * m->n + i] != 0)
				return false;
	return true;
}

void
pe_rounding_count_columns(pe_rounding *m)
{
	m->strategy->rows = m->strategy->inner = m->n;
	m->strategy->objective = 0;
	for (int32_t i = 0; i < m->n; i++)
		m->strategy->objective += m->v[(size_t) i * m->n + i];
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
	int32_t    *triangle = pe_alloc(pe_la_square(n) / 2 + n, sizeof(int32_t));
	sized	   *order = pe_alloc(n, sizeof(*order));
	int32_t    *column = triangle;

	for (int32_t j = 0; j < n; column += ++j)
	{
		for (int32_t i = 0; i <= j; i++)
			column[i] = (int32_t) lrint(ldexp(r[(size_t) j * n + i], bits));
		if (column[j] < 1)
			column[j] = 1;		/* invertible, at any cost */
		if (target != NULL)
			adjust_column(column, j + 1, floor(ldexp(target[j], 2 * bits)), order);
	}
	pe_free(order);
	return triangle;
}

static double *
unpack_triangle(const int32_t *triangle, int32_t n)
{
	double	   *r = pe_alloc(pe_la_square(n), sizeof(double));

	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i <= j; i++)
			r[(size_t) j * n + i] = *triangle++;
	return r;
}

/* sum_ij V_ij C_ij, both symmetric, of C the upper triangle. */
static double
sum_of_errors(int32_t n, const double *c, const double *v)
{
	double		sum = 0;

	for (int32_t j = 0; j < n; j++)
	{
		for (int32_t i = 0; i < j; i++)
			sum += 2 * c[(size_t) j * n + i] * v[(size_t) j * n + i];
		sum += c[(size_t) j * n + j] * v[(size_t) j * n + j];
	}
	return sum;
}

/*
 * What T's inverse says over the columns: N C N', N = B^+ by columns (NULL: the
 * identity); C, inner x inner, upper triangle, is destroyed.
 */
static double
error_over_columns(const pe_rounding *m, double *c, int32_t inner, const double *inverse)
{
	double	   *product;
	double	   *over;
	double		error;

	for (int32_t j = 0; j < inner; j++)
		for (int32_t i = 0; i < j; i++)
			c[(size_t) i * inner + j] = c[(size_t) j * inner + i];
	if (inverse == NULL)
		return m->error(m->argument, c);
	product = pe_alloc((size_t) m->n * inner, sizeof(double));
	over = pe_alloc(pe_la_square(m->n), sizeof(double));
	pe_la_gemm(false, false, m->n, inner, inner, 1, inverse, m->n, c, inner, 0, product, m->n);
	pe_la_gemm(false, true, m->n, m->n, inner, 1, product, m->n, inverse, m->n, 0, over, m->n);
	error = m->error(m->argument, over);
	pe_free(product);
	pe_free(over);
	return error;
}

/* The coordinates that T's columns stand for: the columns themselves, or those of a basis. */
typedef struct frame
{
	int32_t		n;
	const double *v;			/* the workload in them */
	const double *inverse;		/* B^+, columns x n; NULL: the identity */
} frame;

/* The objective of T for Delta = 1. */
static double
expected_error(const pe_rounding *m, const int32_t *triangle, const frame *f)
{
	double	   *c = unpack_triangle(triangle, f->n);
	double		error;

	if (!pe_la_triangle_inverse(f->n, c, f->n))
		pe_bug("a triangle with a zero on its diagonal");
	pe_la_triangle_square(f->n, c, f->n);
	error = m->error == NULL ? sum_of_errors(f->n, c, f->v) : error_over_columns(m, c, f->n, f->inverse);
	pe_free(c);
	return error;
}

/* The integers on one lattice, and what they are worth.  False if they are beyond what can be measured. */
static bool
make_triangle(pe_rounding *m, const double *r, const frame *f, int bits, const double *target)
{
	pe_strategy *strategy = m->strategy;
	pe_u128		sensitivity_sq;

	pe_poll();
	pe_free(strategy->triangle);
	strategy->rows = strategy->inner = f->n;
	strategy->triangle = round_triangle(r, f->n, bits, target);
	if (!pe_strategy_sensitivity_sq(strategy, m->neighbours, 1, &sensitivity_sq))
		return false;
	strategy->objective = (double) sensitivity_sq * expected_error(m, strategy->triangle, f);
	return true;
}

bool
pe_rounding_is_good(const pe_rounding *m)
{
	return m->strategy->objective <= m->goal * (1 + m->tolerance);
}

/* ------------------------------------------------------------------
 * From X to A
 * ------------------------------------------------------------------
 */

bool
pe_rounding_full(pe_rounding *m, double *x)
{
	frame		columns = {m->n, m->v, NULL};
	double	   *target = pe_alloc(m->n, sizeof(double));
	int			bits = pe_rounding_bits(FIRST_BITS, m->problem->bits);
	bool		definite;

	for (int32_t i = 0; i < m->n; i++)
		target[i] = x[(size_t) i * m->n + i];
	definite = pe_la_cholesky(m->n, x, m->n);
	if (definite)
		do
		{
			if (!make_triangle(m, x, &columns, bits, target))
				pe_bug("a strategy beyond its bounds");
			bits += BITS_STEP;
		} while (bits <= pe_rounding_bits(MOST_BITS, m->problem->bits) && !pe_rounding_is_good(m));
	pe_free(target);
	return definite;
}

void
pe_rounding_keep_better(pe_rounding *m, pe_strategy *before)
{
	pe_strategy *strategy = m->strategy;
	pe_strategy worse = *before;

	if (before->objective <= strategy->objective)
	{
		worse = *strategy;
		*strategy = *before;
	}
	pe_free(worse.triangle);
	pe_free(worse.dense);
	pe_free(worse.basis);
}

/* x = (1 - ridge) X + ridge d I, rounded. */
static void
measure_with_ridge(pe_rounding *m, const double *x, double ridge)
{
	double	   *raised = pe_alloc(pe_la_square(m->n), sizeof(double));
	double		d = pe_la_largest_diagonal(m->n, x);

	for (size_t i = 0; i < pe_la_square(m->n); i++)
		raised[i] = (1 - ridge) * x[i];
	for (int32_t i = 0; i < m->n; i++)
		raised[(size_t) i * m->n + i] += ridge * d;
	if (!pe_rounding_full(m, raised))
		pe_bug("a matrix with a ridge is not positive definite");
	pe_free(raised);
}

/* Where weights of very different sizes make rounding cost more than the ridge, a larger one is better. */
void
pe_rounding_singular(pe_rounding *m, const double *x)
{
	double		ridge = fmin(fmax(m->tolerance / 2, LEAST_RIDGE), MOST_RIDGE);

	measure_with_ridge(m, x, ridge);
	while (ridge < MOST_RIDGE && m->strategy->objective > m->goal * (1 + fmax(m->tolerance, 4 * ridge)))
	{
		pe_strategy before = *m->strategy;

		m->strategy->triangle = NULL;
		ridge = fmin(8 * ridge, MOST_RIDGE);
		measure_with_ridge(m, x, ridge);
		pe_rounding_keep_better(m, &before);
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

	for (size_t i = 0; i < pe_la_square(n); i++)
		largest = fmax(largest, fabs(r[i]));
	(void) frexp(largest, &exponent);
	return exponent < ENTRY_BITS - MOST_BITS_OF_BASIS ? MOST_BITS_OF_BASIS : ENTRY_BITS - exponent;
}

/* R of P in X = B'P B. */
static bool
round_basis(pe_rounding *m, const double *r, const frame *rows)
{
	int			most = pe_rounding_bits(most_bits(r, rows->n), m->problem->bits);
	int			bits = most < FIRST_BITS ? most : FIRST_BITS;
	bool		done;

	do
	{
		done = make_triangle(m, r, rows, bits, NULL);
		bits = m->problem->bits > 0 && bits < most && bits + BITS_STEP > most ? most : bits + BITS_STEP;
	} while (done && bits <= most && !pe_rounding_is_good(m));
	return done;
}

/*
 * Of X = G'G the part P in X = B'P B: with N = B^+, P = (G N)'(G N) = R'R, and
 * the workload in B's coordinates is N'V N.
 */
bool
pe_rounding_with_basis(pe_rounding *m, const double *factor, int32_t factor_rows)
{
	int32_t		rows = m->strategy->inner;
	double	   *inverse = pe_alloc((size_t) m->n * rows, sizeof(double));
	double	   *r = NULL;
	double	   *product = NULL;
	double	   *v = NULL;
	bool		done = factor_rows >= rows && pe_basis_inverse(m->strategy, inverse);

	if (done)
	{
		/* not before the inverse, which takes room itself */
		r = pe_alloc(pe_la_square(rows), sizeof(double));
		product = pe_alloc((size_t) m->n * factor_rows, sizeof(double));
		pe_la_gemm(false, false, factor_rows, rows, m->n, 1, factor, factor_rows, inverse, m->n,
				   0, product, factor_rows);
		done = triangle_of(product, factor_rows, rows, r);
	}
	if (done)
	{
		v = pe_alloc(pe_la_square(rows), sizeof(double));
		pe_la_symm(false, m->n, rows, 1, m->v, m->n, inverse, m->n, 0, product, m->n);
		pe_la_gemm(true, false, rows, rows, m->n, 1, inverse, m->n, product, m->n, 0, v, rows);
	}
	pe_free(product);
	if (m->error == NULL)
	{
		pe_free(inverse);
		inverse = NULL;
	}
	done = done && round_basis(m, r, &(frame) {rows, v, inverse});
	pe_free(inverse);
	pe_free(r);
	pe_free(v);
	return done;
}

/* G'G */
static double *
square_of_factor(int32_t n, const double *factor, int32_t rows)
{
	double	   *x = pe_alloc(pe_la_square(n), sizeof(double));

	pe_la_syrk(true, n, rows, 1, factor, rows, 0, x, n);
	pe_la_mirror(n, x, n);
	return x;
}

/*
 * Gives the strategy a basis and its number of rows as inner; false, without
 * one, if there is none of fewer rows than columns.
 */
static bool
find_basis(pe_rounding *m)
{
	pe_strategy *strategy = m->strategy;

	strategy->inner = pe_basis_select(m->problem->workload, m->problem->classes, m->representative, m->n, m->gram,
									  &strategy->basis);
	strategy->rows = strategy->inner;
	if (strategy->inner > 0 && strategy->inner < m->n)
		return true;
	pe_free(strategy->basis);
	strategy->basis = NULL;
	strategy->rows = strategy->inner = m->n;
	return false;
}

void
pe_rounding_factor(pe_rounding *m, const double *factor, int32_t rows)
{
	pe_strategy *strategy = m->strategy;
	bool		usable = find_basis(m) && pe_rounding_with_basis(m, factor, rows);
	pe_strategy with_basis = *strategy;
	double	   *x;

	if (usable && pe_rounding_is_good(m))
		return;
	if (!usable)
	{
		pe_free(strategy->basis);
		pe_free(strategy->triangle);
		with_basis.objective = INFINITY;
		with_basis.basis = with_basis.triangle = NULL;
	}
	strategy->basis = strategy->triangle = NULL;
	x = square_of_factor(m->n, factor, rows);
	pe_rounding_singular(m, x);
	pe_free(x);
	pe_rounding_keep_better(m, &with_basis);
}

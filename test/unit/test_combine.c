/*
 * test_combine.c
 *	  Several releases as one measurement, against dense least squares in long double over
 *	  cells: random sets of releases over parts of the attributes in any order, random strategies,
 *	  noise and predicates.
 *
 * The reference knows no classes, groups or factors: A is written out over the cells.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "methods/make.h"
#include "blocks/combine.h"
#include "block_tables.h"
#include "shim.h"
#include "workloads.h"

#define MOST 4					/* releases of a set */
#define COUNTS 100000			/* of the size of what they measured */

/* ---- a random set ---- */

typedef struct set
{
	pe_shape	shape;
	int32_t		cells;
	bool	   *possible;		/* NULL: all */
	bool	   *possible_of[PE_MAX_ATTRIBUTES]; /* of each attribute; NULL: all */
	int			count;
	text		source[MOST];
	pe_shape	own[MOST];
	pe_workload workload[MOST];
	bool	   *own_possible[MOST];
	pe_strategy strategy[MOST];
	int64_t    *y[MOST];
	int		   *lattice[MOST];	/* of blocks */
	pe_measurement measurement[MOST];
} set;

static void
coordinates(const pe_shape *shape, int32_t cell, int32_t *at)
{
	for (int a = shape->attributes - 1; a >= 0; cell /= shape->cells[a--])
		at[a] = cell % shape->cells[a];
}

/* The cell of a release's own shape that a cell is part of. */
static int32_t
own_cell(const set *s, int i, int32_t cell)
{
	int32_t		at[PE_MAX_ATTRIBUTES];
	int32_t		own = 0;

	coordinates(&s->shape, cell, at);
	for (int a = 0; a < s->own[i].attributes; a++)
		own = own * s->own[i].cells[a] + at[s->measurement[i].place[a]];
	return own;
}

/* Some of the attributes, in a random order. */
static void
random_part(set *s, int i)
{
	int			order[PE_MAX_ATTRIBUTES];
	int			n = s->shape.attributes;

	for (int a = 0; a < n; a++)
		order[a] = a;
	for (int a = n - 1; a > 0; a--)
	{
		int			b = between(0, a);
		int			swap = order[a];

		order[a] = order[b];
		order[b] = swap;
	}
	s->own[i].attributes = between(1, n);
	for (int a = 0; a < s->own[i].attributes; a++)
	{
		s->measurement[i].place[a] = order[a];
		s->own[i].name[a] = s->shape.name[order[a]];
		s->own[i].cells[a] = s->shape.cells[order[a]];
		s->own[i].ordered[a] = s->shape.ordered[order[a]];
	}
}

/* PE_METHODS: blocks. */
static pe_strategy_status
make(set *s, int i, pe_method method)
{
	const pe_workload *w = &s->workload[i];
	pe_classes	classes;
	const bool *possible_of[PE_MAX_ATTRIBUTES];
	pe_strategy_problem problem = {
		.workload = w, .classes = &classes, .possible = s->own_possible[i], .possible_of = possible_of, .method = method, .gap = 1e-3
	};
	pe_strategy_status status;

	for (int a = 0; a < w->shape.attributes; a++)
		possible_of[a] = s->possible_of[s->measurement[i].place[a]];
	pe_classes_init(&w, 1, &classes);
	status = method == PE_METHODS ? pe_make_blocks(&problem, &s->strategy[i]) : pe_strategy_make(&problem, &s->strategy[i]);
	pe_classes_free(&classes);
	if (status == PE_STRATEGY_OK)
		pe_strategy_bind(&s->strategy[i], w);
	return status;
}

static double
sensitivity(const pe_strategy *strategy)
{
	pe_u128		squared;

	if (strategy->blocks != NULL)
		return 1;				/* their shares are of 1 */
	assert_true(pe_strategy_sensitivity_sq(strategy, PE_ADD_REMOVE, 1, &squared));
	return sqrt((double) squared);
}

static void
random_lattices(set *s, int i)
{
	int32_t		blocks = s->strategy[i].blocks->blocks;

	s->lattice[i] = pe_alloc(blocks, sizeof(int));
	for (int32_t b = 0; b < blocks; b++)
		s->lattice[i][b] = between(0, 8);
}

/* False if there is nothing to measure. */
static bool
random_release(set *s, int i)
{
	static const pe_method methods[] = {
		PE_METHOD_OPTIMAL, PE_METHOD_IDENTITY, PE_METHOD_DIRECT, PE_METHOD_HIERARCHICAL, PE_METHODS, PE_METHODS
	};
	pe_text_error error;

	random_part(s, i);
	do
		random_workload(&s->source[i], &s->own[i], false);
	while (!pe_workload_parse(s->source[i].data, &s->own[i], &s->workload[i], &error));
	if (s->possible != NULL)
		s->own_possible[i] = pe_alloc(pe_shape_cells(&s->own[i]), sizeof(bool));
	for (int32_t cell = 0; s->possible != NULL && cell < s->cells; cell++)
		if (s->possible[cell])
			s->own_possible[i][own_cell(s, i, cell)] = true;
	if (s->workload[i].queries > 150 || make(s, i, methods[between(0, lengthof(methods) - 1)]) != PE_STRATEGY_OK)
	{
		pe_workload_free(&s->workload[i]);
		pe_free(s->own_possible[i]);
		s->own_possible[i] = NULL;
		return false;
	}
	s->measurement[i].unit = ldexp(1, -between(0, 8));
	s->measurement[i].stderr_ = sensitivity(&s->strategy[i]) * pow(10, 3 * random_unit() - 1.5);
	if (s->strategy[i].blocks != NULL)
		random_lattices(s, i);
	s->y[i] = pe_alloc(s->strategy[i].rows, sizeof(int64_t));
	for (int32_t k = 0; k < s->strategy[i].rows; k++)
		s->y[i][k] = (int64_t) (sensitivity(&s->strategy[i]) * between(-COUNTS, COUNTS) / s->measurement[i].unit);
	s->measurement[i].measured = (pe_measured) {&s->workload[i], &s->strategy[i], s->own_possible[i], s->lattice[i]};
	s->measurement[i].y = s->y[i];
	return true;
}

/* A predicate on each attribute by itself. */
static void
random_conditions(set *s)
{
	int32_t		at[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < s->shape.attributes; a++)
	{
		s->possible_of[a] = pe_alloc(s->shape.cells[a], sizeof(bool));
		for (int32_t c = 0; c < s->shape.cells[a]; c++)
			s->possible_of[a][c] = between(0, 2) > 0;
		s->possible_of[a][between(0, s->shape.cells[a] - 1)] = true;
	}
	s->possible = pe_alloc(s->cells, sizeof(bool));
	for (int32_t cell = 0; cell < s->cells; cell++)
	{
		coordinates(&s->shape, cell, at);
		s->possible[cell] = true;
		for (int a = 0; a < s->shape.attributes; a++)
			s->possible[cell] = s->possible[cell] && s->possible_of[a][at[a]];
	}
}

static void
random_set(set *s)
{
	memset(s, 0, sizeof(*s));
	random_shape(&s->shape);
	s->cells = pe_shape_cells(&s->shape);
	if (between(0, 2) == 0)
		random_conditions(s);
	else if (between(0, 2) == 0)
	{
		s->possible = pe_alloc(s->cells, sizeof(bool));
		for (int32_t cell = 0; cell < s->cells; cell++)
			s->possible[cell] = between(0, 3) > 0;
		s->possible[between(0, s->cells - 1)] = true;
	}
	for (int wanted = between(1, MOST); s->count < wanted;)
		if (random_release(s, s->count))
			s->count++;
}

static void
discard(set *s)
{
	for (int i = 0; i < s->count; i++)
	{
		pe_strategy_free(&s->strategy[i]);
		pe_workload_free(&s->workload[i]);
		pe_free(s->own_possible[i]);
		pe_free(s->y[i]);
		pe_free(s->lattice[i]);
	}
	for (int a = 0; a < s->shape.attributes; a++)
		pe_free(s->possible_of[a]);
	pe_free(s->possible);
}

/* ---- least squares in long double ---- */

typedef struct reference
{
	int32_t		cells;
	int32_t		rank;
	long double *span;			/* orthonormal, rank x cells, by rows: of all rows of all A_i */
	long double *r;				/* the Cholesky factor of the normal matrix over them, rank x rank, lower, by rows */
	long double *x;				/* L^-1 of its right hand side */
} reference;

static long double
product(int32_t n, const long double *a, const long double *b)
{
	long double sum = 0;

	for (int32_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Takes from v what is along the span, twice for the rounding; returns its length. */
static long double
outside(const reference *ref, long double *v)
{
	for (int pass = 0; pass < 2; pass++)
		for (int32_t k = 0; k < ref->rank; k++)
		{
			long double along = product(ref->cells, v, ref->span + (size_t) k * ref->cells);

			for (int32_t c = 0; c < ref->cells; c++)
				v[c] -= along * ref->span[(size_t) k * ref->cells + c];
		}
	return sqrtl(product(ref->cells, v, v));
}

/* Row k of A_i over the cells. */
static void
row_over_cells(const set *s, int i, const double *a, const int32_t *column, int32_t k, long double *row)
{
	for (int32_t cell = 0; cell < s->cells; cell++)
	{
		int32_t		c = column[own_cell(s, i, cell)];

		row[cell] = c >= 0 && (s->possible == NULL || s->possible[cell]) ? a[(size_t) k * s->strategy[i].columns + c] : 0;
	}
}

/* The same of blocks: their matrix written out. */
static void
row_of_blocks(const set *s, int i, const int64_t *a, int32_t k, long double *row)
{
	int32_t		own = pe_shape_cells(&s->own[i]);

	for (int32_t cell = 0; cell < s->cells; cell++)
		row[cell] = s->possible == NULL || s->possible[cell] ? a[(size_t) k * own + own_cell(s, i, cell)] : 0;
}

/* Calls add for all rows of blocks. */
static void
each_row_of_blocks(const set *s, int i, reference *ref, void (*add) (reference *ref, long double *row, long double y, long double weight))
{
	const pe_blocks *blocks = s->strategy[i].blocks;
	int64_t    *a = blocks_matrix(blocks);
	long double *row = pe_alloc(s->cells, sizeof(long double));

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t k = blocks->first[b]; k < blocks->first[b + 1]; k++)
		{
			row_of_blocks(s, i, a, (int32_t) k, row);
			add(ref, row, ldexpl(s->y[i][k], -s->lattice[i][b]),
				1 / (long double) (s->measurement[i].stderr_ * sqrt(pe_blocks_relative_variance(blocks, b))));
		}
	pe_free(a);
	pe_free(row);
}

/* Calls add for all rows of all releases. */
static void
each_row(const set *s, reference *ref, void (*add) (reference *ref, long double *row, long double y, long double weight))
{
	for (int i = 0; i < s->count; i++)
	{
		double	   *a;
		int32_t    *column;
		long double *row;

		if (s->strategy[i].blocks != NULL)
		{
			each_row_of_blocks(s, i, ref, add);
			continue;
		}
		a = pe_alloc((size_t) s->strategy[i].rows * s->strategy[i].columns, sizeof(double));
		column = pe_alloc(pe_shape_cells(&s->own[i]), sizeof(int32_t));
		row = pe_alloc(s->cells, sizeof(long double));
		pe_strategy_matrix(&s->strategy[i], a);
		pe_strategy_columns(&s->strategy[i], &s->workload[i], s->own_possible[i], column);
		for (int32_t k = 0; k < s->strategy[i].rows; k++)
		{
			row_over_cells(s, i, a, column, k, row);
			add(ref, row, (long double) s->y[i][k] * s->measurement[i].unit, 1 / (long double) s->measurement[i].stderr_);
		}
		pe_free(a);
		pe_free(column);
		pe_free(row);
	}
}

static void
add_to_span(reference *ref, long double *row, long double y, long double weight)
{
	long double whole = sqrtl(product(ref->cells, row, row));
	long double length = outside(ref, row);

	(void) y;
	(void) weight;
	if (!(length > 1e-9L * whole))
		return;
	for (int32_t c = 0; c < ref->cells; c++)
		ref->span[(size_t) ref->rank * ref->cells + c] = row[c] / length;
	ref->rank++;
}

static void
add_to_normal(reference *ref, long double *row, long double y, long double weight)
{
	long double *along = pe_alloc(ref->rank + 1, sizeof(long double));

	for (int32_t k = 0; k < ref->rank; k++)
		along[k] = product(ref->cells, row, ref->span + (size_t) k * ref->cells) * weight;
	for (int32_t k = 0; k < ref->rank; k++)
	{
		ref->x[k] += along[k] * y * weight;
		for (int32_t l = 0; l <= k; l++)
			ref->r[(size_t) k * ref->rank + l] += along[k] * along[l];
	}
	pe_free(along);
}

/* x = L^-1 x. */
static void
forward(const reference *ref, long double *x)
{
	for (int32_t k = 0; k < ref->rank; k++)
		x[k] = (x[k] - product(k, ref->r + (size_t) k * ref->rank, x)) / ref->r[(size_t) k * ref->rank + k];
}

static void
begin(const set *s, reference *ref)
{
	int32_t		n;

	*ref = (reference) {.cells = s->cells, .span = pe_alloc((size_t) s->cells * s->cells, sizeof(long double))};
	each_row(s, ref, add_to_span);
	n = ref->rank;
	ref->r = pe_alloc((size_t) n * n, sizeof(long double));
	ref->x = pe_alloc(n, sizeof(long double));
	each_row(s, ref, add_to_normal);
	for (int32_t k = 0; k < n; k++)
		for (int32_t l = 0; l <= k; l++)
		{
			long double left = ref->r[(size_t) k * n + l] - product(l, ref->r + (size_t) k * n, ref->r + (size_t) l * n);

			ref->r[(size_t) k * n + l] = k == l ? sqrtl(left) : left / ref->r[(size_t) l * n + l];
		}
	forward(ref, ref->x);
}

static void
end(reference *ref)
{
	pe_free(ref->span);
	pe_free(ref->r);
	pe_free(ref->x);
}

/* A query over the cells: false if it is not determined. */
static bool
refer(const set *s, const reference *ref, const double *w, double *estimate, double *variance)
{
	long double *v = pe_alloc(s->cells, sizeof(long double));
	long double *along = pe_alloc(ref->rank + 1, sizeof(long double));
	long double whole;
	bool		determined;

	for (int32_t c = 0; c < s->cells; c++)
		v[c] = s->possible == NULL || s->possible[c] ? w[c] : 0;
	for (int32_t k = 0; k < ref->rank; k++)
		along[k] = product(s->cells, v, ref->span + (size_t) k * s->cells);
	whole = sqrtl(product(s->cells, v, v));
	determined = outside(ref, v) <= 1e-9L * whole;
	forward(ref, along);
	*estimate = (double) product(ref->rank, along, ref->x);
	*variance = (double) product(ref->rank, along, along);
	pe_free(v);
	pe_free(along);
	return determined;
}

/* ---- comparing ---- */

typedef struct answered
{
	int			blocks;			/* releases of blocks */
	int			determined;		/* workloads */
	int			not;
	double		estimate;		/* the largest relative differences */
	double		variance;
} answered;

static void
compare_answers(const set *s, const reference *ref, const pe_workload *asked, const pe_combination *c, answered *so_far)
{
	double	   *w = write_out(asked);
	double	   *estimate = pe_alloc(asked->queries, sizeof(double));
	double	   *variance = pe_alloc(asked->queries, sizeof(double));
	double		scale = COUNTS;
	double		most = 0;

	pe_combination_estimate(c, estimate);
	pe_combination_variance(c, variance);
	for (int32_t q = 0; q < asked->queries; q++)
	{
		double		true_estimate;
		double		true_variance;

		assert_true(refer(s, ref, w + (size_t) q * s->cells, &true_estimate, &true_variance));
		scale = fmax(scale, fabs(true_estimate));
		most = fmax(most, fabs(estimate[q] - true_estimate));
		if (true_variance > 0)
			so_far->variance = fmax(so_far->variance, fabs(variance[q] / true_variance - 1));
		else
			assert_true(variance[q] == 0);
	}
	so_far->estimate = fmax(so_far->estimate, most / scale);
	pe_free(w);
	pe_free(estimate);
	pe_free(variance);
}

static int32_t
first_undetermined(const set *s, const reference *ref, const pe_workload *asked)
{
	double	   *w = write_out(asked);
	double		estimate;
	double		variance;
	int32_t		q = 0;

	while (q < asked->queries && refer(s, ref, w + (size_t) q * s->cells, &estimate, &variance))
		q++;
	pe_free(w);
	return q < asked->queries ? q : -1;
}

/* Workload `source` over the joint shape, of the set. */
static void
compare_to_dense(const set *s, const reference *ref, const char *source, answered *so_far)
{
	pe_text_error error;
	pe_workload asked;
	pe_combination c;
	pe_combination_status status;
	int32_t		missing;

	if (!pe_workload_parse(source, &s->shape, &asked, &error))
		return;
	status = pe_combination_init(s->measurement, s->count, &asked, s->possible, &c);
	if (status == PE_COMBINATION_OK)
	{
		pe_combination_solve(&c);
		missing = first_undetermined(s, ref, &asked);
		assert_int_equal(pe_combination_undetermined(&c), missing);
		if (missing < 0)
			compare_answers(s, ref, &asked, &c, so_far);
		*(missing < 0 ? &so_far->determined : &so_far->not) += 1;
		pe_combination_free(&c);
	}
	else
		assert_int_equal(status, PE_COMBINATION_MATRIX);
	pe_workload_free(&asked);
}

static void
test_dense(void **state)
{
	answered	so_far = {0};
	int			rounds = fewer(100, 10);

	(void) state;
	pe_test_seed(23);
	for (int round = 0; round < rounds; round++)
	{
		set			s;
		reference	ref;
		text		source;

		random_set(&s);
		for (int i = 0; i < s.count; i++)
			so_far.blocks += s.strategy[i].blocks != NULL;
		begin(&s, &ref);
		random_workload(&source, &s.shape, true);
		compare_to_dense(&s, &ref, source.data, &so_far);
		compare_to_dense(&s, &ref, "total", &so_far);
		for (int i = 0; i < s.count; i++)
			compare_to_dense(&s, &ref, s.source[i].data, &so_far);
		end(&ref);
		discard(&s);
	}
	print_message("%d releases of blocks; %d workloads determined, %d not; estimates to %.1e, variances to %.1e\n",
				  so_far.blocks, so_far.determined, so_far.not, so_far.estimate, so_far.variance);
	assert_true(so_far.determined > rounds && so_far.not > rounds / 10 && so_far.blocks > rounds / 4);
	assert_true(so_far.estimate < 1e-9 && so_far.variance < 1e-9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_blocks_estimate.c
 *	  Answers from blocks, their variances, what is determined: against least squares over all
 *	  cells; errors from factors against the list of variances; large ones against figures.
 *
 * Blocks and workloads are random, over at most 64 cells, and are written out cell by cell
 * (block_tables.h, workloads.h).
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/linalg.h"
#include "blocks/blocks.h"
#include "blocks/reconstruct.h"
#include "block_tables.h"
#include "shim.h"
#include "workloads.h"

#define MOST_CELLS 64

/* ---- random blocks of full rank ---- */

/* An upper triangle with a large diagonal, so that least squares in doubles can be compared. */
static int32_t *
sound_triangle(int32_t n)
{
	int32_t    *entry = random_entries((size_t) n * ((size_t) n + 1) / 2, 1);

	for (int32_t j = 0; j < n; j++)
		entry[(j + 1) * (j + 2) / 2 - 1] = n + between(0, 2);
	return entry;
}

/* Identity, triangle, dense or either of these with a basis of fewer rows, all well conditioned. */
static void
sound_strategy(pe_strategy *s, int32_t n)
{
	int			form = between(0, n > 1 ? 4 : 2);

	plain_strategy(s, n);
	if (form >= 3)
	{
		s->inner = s->rows = between(1, n - 1);
		s->basis = pe_alloc((size_t) (s->inner * n), sizeof(int32_t));
		for (int32_t i = 0; i < s->inner; i++)
			for (int32_t j = i; j < n; j++)
				s->basis[i * n + j] = j == i ? 1 : j >= s->inner ? between(-1, 1) : 0;
	}
	if (form == 1 || form == 3)
		s->triangle = sound_triangle(s->inner);
	else if (form > 0)
	{
		s->rows = s->inner + between(0, 2);
		s->dense = random_entries((size_t) (s->rows * s->inner), 1);
		for (int32_t j = 0; j < s->inner; j++)
			s->dense[j * s->rows + j] = 2 * s->inner;
	}
}

static void
sound_product_axis(pe_axis *axis)
{
	pe_strategy *strategy = &axis->matrix[0].strategy;

	random_product_axis(axis);
	pe_free(strategy->triangle);
	strategy->triangle = sound_triangle(strategy->inner);
}

static void
random_axes(pe_blocks *blocks)
{
	int			core = between(0, 2);	/* attributes of an axis without a centre */

	for (int a = 0; a < blocks->attributes;)
	{
		if (a == 0 && core > 0)
		{
			pe_axis    *axis = add_axis(blocks, 0, core < blocks->attributes ? core : blocks->attributes, 3);

			for (int m = 0; m < 3; m++)
				sound_strategy(&axis->matrix[m].strategy, axis->cells);
			a += axis->attributes;
		}
		else if (blocks->columns[a] == 1 || (a > 0 && between(0, 5) == 0))
			a++;				/* in no axis */
		else if (between(0, 1) == 0)
			sound_product_axis(add_axis(blocks, a++, 1, 1));
		else
			add_centred_axis(blocks, a++, 1);
	}
}

/* One block for each set of axes with a centre; some are missing. */
static void
random_sets(pe_blocks *blocks, bool all)
{
	int			centred = 0;
	int32_t		taken = 0;

	for (int a = 0; a < blocks->axes; a++)
		centred += blocks->axis[a].centre != NULL;
	make_blocks(blocks, 1 << centred);
	for (int set = 0; set < 1 << centred; set++)
	{
		int			bit = 0;

		if (!all && set != 0 && between(0, 2) == 0)
			continue;
		for (int a = 0; a < blocks->axes; a++)
			blocks->choice[taken * blocks->axes + a] =
				(int8_t) (blocks->axis[a].centre == NULL ? between(0, 2) : (set >> bit++ & 1) - 1);
		blocks->share[taken++] = (uint64_t) between(1, 1000) << 29;
	}
	blocks->blocks = taken;
}

/* Columns in an order of their own: of single cells, but for some that are ruled out, or of several, some of none. */
static void
merge_columns(pe_blocks *blocks, int a, bool single)
{
	int32_t		columns = between(0, 1) ? blocks->cells[a] : between(1, blocks->cells[a]);

	blocks->columns[a] = columns;
	for (int32_t c = 0; c < blocks->cells[a]; c++)
		blocks->column_of[a][c] = c < columns ? columns - 1 - c : single ? PE_RULED_OUT : between(PE_RULED_OUT, columns - 1);
}

/* Over a shape; all: everything that the columns tell apart is measured. */
static void
blocks_for(const pe_shape *shape, bool all, pe_blocks *blocks)
{
	begin_blocks(blocks, PE_BLOCKS_SYMMETRIC, PE_L2, shape->attributes, shape->cells);
	for (int a = 0; a < shape->attributes; a++)
		merge_columns(blocks, a, all);
	random_axes(blocks);
	random_sets(blocks, all);
	assert_true(pe_blocks_prepare(blocks));
}

/* ---- the same by least squares over all cells ---- */

typedef struct dense
{
	int			cells;
	int			rows;
	int64_t    *a;				/* rows x cells by rows */
	double	   *relative;		/* of each row: the variance of its noise */
	double	   *pinv;			/* (A'S^-1 A)^+, cells x cells */
	double	   *projection;		/* on the row space, cells x cells */
} dense;

static void
dense_init(const pe_blocks *blocks, dense *d)
{
	int			n = cells_of_all(blocks);
	double	   *gram = matrix(n, n);
	double	   *z = matrix(n, n);
	double	   *value = pe_la_vector((size_t) n);
	double	   *work = pe_la_vector(pe_la_eigen_work(n));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(n), sizeof(int32_t));

	*d = (dense) {.cells = n, .rows = (int) blocks->first[blocks->blocks], .a = blocks_matrix(blocks)};
	d->relative = pe_la_vector((size_t) d->rows);
	d->pinv = matrix(n, n);
	d->projection = matrix(n, n);
	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t r = blocks->first[b]; r < blocks->first[b + 1]; r++)
			d->relative[r] = pe_blocks_relative_variance(blocks, b);
	for (int r = 0; r < d->rows; r++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				gram[i * n + j] += (double) (d->a[r * n + i] * d->a[r * n + j]) / d->relative[r];
	assert_true(pe_la_eigen(n, gram, value, z, work, iwork));
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n && value[k] > 1e-11 * value[n - 1]; i++)
			for (int j = 0; j < n; j++)
			{
				d->pinv[i * n + j] += z[k * n + i] * z[k * n + j] / value[k];
				d->projection[i * n + j] += z[k * n + i] * z[k * n + j];
			}
	pe_free(gram);
	pe_free(z);
	pe_free(value);
	pe_free(work);
	pe_free(iwork);
}

static void
dense_free(dense *d)
{
	pe_free(d->a);
	pe_free(d->relative);
	pe_free(d->pinv);
	pe_free(d->projection);
}

/* to = M from */
static void
multiply(int n, const double *m, const double *from, double *to)
{
	for (int i = 0; i < n; i++)
		to[i] = pe_la_dot((size_t) n, m + i * n, from);
}

/* Whether w, without what is ruled out, is in the row space. */
static bool
is_determined(const dense *d, const double *w)
{
	double		along[125];
	double		outside = 0;
	double		whole = 0;

	multiply(d->cells, d->projection, w, along);
	for (int i = 0; i < d->cells; i++)
	{
		outside = fmax(outside, fabs(w[i] - along[i]));
		whole = fmax(whole, fabs(w[i]));
	}
	return outside <= 1e-6 * whole;
}

/* w'(A'S^-1 A)^+ A'S^-1 y, and its variance, by its coefficients of each row. */
static void
answer_densely(const dense *d, const double *w, const double *y, double *estimate, double *variance)
{
	double		u[125];

	multiply(d->cells, d->pinv, w, u);
	*estimate = *variance = 0;
	for (int r = 0; r < d->rows; r++)
	{
		double		coefficient = 0;

		for (int i = 0; i < d->cells; i++)
			coefficient += u[i] * (double) d->a[r * d->cells + i] / d->relative[r];
		*estimate += coefficient * y[r];
		*variance += coefficient * coefficient * d->relative[r];
	}
}

/* ---- random cases ---- */

typedef struct workload_case
{
	pe_shape	shape;
	text		text;
	pe_workload workload;
	pe_blocks	blocks;
	dense		dense;
	double	   *w;				/* queries x cells, 0 where a predicate leaves nothing */
	double	   *y;
	double	   *estimate;
	double	   *variance;
} workload_case;

static void
parse(const char *source, const pe_shape *shape, pe_workload *workload)
{
	pe_text_error error;

	if (!pe_workload_parse(source, shape, workload, &error))
		fail_msg("%s: %s", source, error.message);
}

static void
case_init(workload_case *c, bool all)
{
	do
		random_shape(&c->shape);
	while (pe_shape_cells(&c->shape) > MOST_CELLS);
	random_workload(&c->text, &c->shape, true);
	parse(c->text.data, &c->shape, &c->workload);
	blocks_for(&c->shape, all, &c->blocks);
	dense_init(&c->blocks, &c->dense);
	c->w = write_out(&c->workload);
	for (int32_t q = 0; q < c->workload.queries; q++)
		for (int i = 0; i < c->dense.cells; i++)
			if (cell_is_ruled_out(&c->blocks, i))
				c->w[q * c->dense.cells + i] = 0;
	c->y = pe_la_vector((size_t) c->dense.rows);
	for (int r = 0; r < c->dense.rows; r++)
		c->y[r] = between(-1000, 1000);
	c->estimate = pe_la_vector((size_t) c->workload.queries);
	c->variance = pe_la_vector((size_t) c->workload.queries);
}

static void
case_free(workload_case *c)
{
	pe_workload_free(&c->workload);
	pe_blocks_free(&c->blocks);
	dense_free(&c->dense);
	pe_free(c->w);
	pe_free(c->y);
	pe_free(c->estimate);
	pe_free(c->variance);
}

static bool
has_matrix_over_all(const pe_workload *workload)
{
	for (int32_t t = 0; t < workload->terms; t++)
		if (pe_term_on(&workload->term[t], PE_ALL_CELLS) != NULL)
			return true;
	return false;
}

static bool
nearly(double a, double b, double unit)
{
	return fabs(a - b) <= 1e-7 * (unit + fabs(b));
}

static void
check_errors(const workload_case *c)
{
	pe_blocks_errors errors;
	double		largest = 0;
	double		sum = 0;
	double		weighted = 0;
	double		weighted_largest = 0;

	pe_blocks_error(&c->blocks, &c->workload, &errors);
	for (int32_t t = 0; t < c->workload.terms; t++)
		for (int64_t i = 0; i < c->workload.term[t].queries; i++)
		{
			int32_t		factor_query[PE_MAX_ATTRIBUTES];
			double		v = c->variance[pe_term_query(&c->workload.term[t], i, factor_query)];
			double		weight = c->workload.term[t].weight;

			largest = fmax(largest, v);
			sum += v;
			weighted += weight * weight * v;
			weighted_largest = fmax(weighted_largest, weight * weight * v);
		}
	assert_true(nearly(errors.largest, largest, 0));
	assert_true(nearly(errors.mean * c->workload.queries, sum, 0));
	assert_true(nearly(errors.weighted_sum, weighted, 0));
	assert_true(nearly(errors.weighted_largest, weighted_largest, 0));
}

/* What each measurement adds by itself: with its variance these are the covariance. */
static void
check_weights(const workload_case *c, const pe_reconstruction *r, const double *covariance)
{
	int32_t		n = c->workload.queries;
	int64_t		rows = c->blocks.first[c->blocks.blocks];
	double	   *weights = matrix(rows, n);
	double	   *sum = matrix(n, n);
	double		largest = 0;

	pe_reconstruction_weights(r, weights);
	for (int32_t b = 0; b < c->blocks.blocks; b++)
		for (int64_t m = c->blocks.first[b]; m < c->blocks.first[b + 1]; m++)
			for (int32_t i = 0; i < n; i++)
				for (int32_t k = 0; k < n; k++)
					sum[i * n + k] += weights[m * n + i] * weights[m * n + k] * pe_blocks_relative_variance(&c->blocks, b);
	for (int32_t i = 0; i < n * n; i++)
		largest = fmax(largest, fabs(covariance[i]));
	for (int32_t i = 0; i < n * n; i++)
		assert_true(fabs(sum[i] - covariance[i]) <= 1e-7 * largest + 1e-9);
	pe_free(weights);
	pe_free(sum);
}

/* The covariance of all queries: its diagonal, and a sum of queries with signs, which is a query too. */
static void
check_covariance(workload_case *c)
{
	int32_t		n = c->workload.queries;
	pe_strategy strategy = {0};
	pe_measured measured = {&c->workload, &strategy, NULL, NULL};
	pe_reconstruction r;
	double	   *covariance = matrix(n, n);
	double	   *w = matrix(c->dense.cells, 1);
	double		sum = 0;
	double		estimate;
	double		variance;

	pe_strategy_of_blocks(&strategy, &c->blocks, 0, 0);
	assert_true(pe_reconstruction_init(&measured, &c->workload, &r));
	pe_reconstruction_covariance(&r, covariance);
	for (int32_t i = 0; i < n; i++)
	{
		assert_true(nearly(covariance[i * n + i], c->variance[i], 1e-3));
		for (int32_t k = 0; k < n; k++)
			sum += covariance[i * n + k] * (i % 2 == k % 2 ? 1 : -1);
		for (int32_t cell = 0; cell < c->dense.cells; cell++)
			w[cell] += c->w[i * c->dense.cells + cell] * (i % 2 == 0 ? 1 : -1);
	}
	answer_densely(&c->dense, w, c->y, &estimate, &variance);
	assert_true(fabs(sum - variance) < 1e-6 * (1 + variance) + 1e-3);
	check_weights(c, &r, covariance);
	pe_reconstruction_free(&r);
	pe_free(covariance);
	pe_free(w);
}

/* Estimates, variances and what is determined of one case; returns whether all queries are. */
static bool
check_case(workload_case *c)
{
	int32_t		first = -1;

	pe_blocks_estimate(&c->blocks, &c->workload, c->y, c->estimate);
	pe_blocks_variance(&c->blocks, &c->workload, c->variance);
	for (int32_t q = 0; q < c->workload.queries; q++)
	{
		const double *w = c->w + q * c->dense.cells;
		double		estimate;
		double		variance;

		if (!is_determined(&c->dense, w))
		{
			first = first < 0 ? q : first;
			continue;
		}
		answer_densely(&c->dense, w, c->y, &estimate, &variance);
		if (!nearly(c->estimate[q], estimate, 1000) || !nearly(c->variance[q], variance, 1e-3))
			fail_msg("%s: query %d: %g, variance %g; not %g, %g", c->text.data, q, c->estimate[q], c->variance[q], estimate, variance);
	}
	if (pe_blocks_undetermined(&c->blocks, &c->workload) != first)
		fail_msg("%s: %d, not %d", c->text.data, pe_blocks_undetermined(&c->blocks, &c->workload), first);
	check_errors(c);
	if (first < 0 && c->workload.queries <= 200)
		check_covariance(c);
	return first < 0;
}

/* Answers from measurements without noise are the true ones. */
static void
check_unbiased(workload_case *c)
{
	const dense *d = &c->dense;
	double		x[125];

	for (int i = 0; i < d->cells; i++)
		x[i] = cell_is_ruled_out(&c->blocks, i) ? 0 : between(0, 100);
	for (int r = 0; r < d->rows; r++)
	{
		c->y[r] = 0;
		for (int i = 0; i < d->cells; i++)
			c->y[r] += (double) d->a[r * d->cells + i] * x[i];
	}
	pe_blocks_estimate(&c->blocks, &c->workload, c->y, c->estimate);
	for (int32_t q = 0; q < c->workload.queries; q++)
	{
		const double *w = c->w + q * d->cells;

		if (is_determined(d, w))
			assert_true(fabs(c->estimate[q] - pe_la_dot((size_t) d->cells, w, x)) < 1e-8);
	}
}

/* How queries vary with the total, from what each measurement counts in both.  Whether the total is determined. */
static bool
check_with_total(workload_case *c)
{
	const pe_blocks *blocks = &c->blocks;
	pe_workload total;
	double	   *of_total = pe_la_vector((size_t) c->dense.rows);
	double	   *expected = pe_la_vector((size_t) c->workload.queries);
	double		own = 0;
	double		variance = 0;
	bool		determined;

	parse("total", &c->shape, &total);
	determined = pe_blocks_undetermined(blocks, &total) == -1;
	for (int32_t b = 0; b < blocks->blocks && determined; b++)
		for (int64_t r = blocks->first[b]; r < blocks->first[b + 1]; r++)
		{
			memset(c->y, 0, (size_t) c->dense.rows * sizeof(double));
			c->y[r] = 1;
			pe_blocks_estimate(blocks, &total, c->y, &of_total[r]);
			pe_blocks_estimate(blocks, &c->workload, c->y, c->estimate);
			own += pow(of_total[r], 2) * pe_blocks_relative_variance(blocks, b);
			for (int32_t q = 0; q < c->workload.queries; q++)
				expected[q] += of_total[r] * c->estimate[q] * pe_blocks_relative_variance(blocks, b);
		}
	if (determined)
	{
		pe_blocks_covariance_with_total(blocks, &total, &variance);
		assert_true(close_to(variance, own, 1e-9));
		pe_blocks_covariance_with_total(blocks, &c->workload, c->estimate);
		for (int32_t q = 0; q < c->workload.queries; q++)
			if (fabs(c->estimate[q] - expected[q]) > 1e-9 * own * (1 + fabs(expected[q] / own)))
				fail_msg("%s: query %d varies with the total by %g, not %g", c->workload.canonical, q, c->estimate[q], expected[q]);
	}
	pe_workload_free(&total);
	pe_free(of_total);
	pe_free(expected);
	return determined;
}

/* Small parts of which there is a number for each block, cell or axis. */
#define SLACK 300000

/* The same by reconstruct.h, the measurements of each block in units of its own; and its memory. */
static void
check_reconstruction(workload_case *c)
{
	pe_strategy strategy;
	int		   *lattice = pe_alloc((size_t) c->blocks.blocks, sizeof(int));
	int64_t    *y = pe_alloc((size_t) c->dense.rows, sizeof(int64_t));
	double	   *expected = pe_la_vector((size_t) c->workload.queries);
	int32_t    *summands = pe_alloc((size_t) c->workload.queries, sizeof(int32_t));
	pe_measured measured = {&c->workload, &strategy, NULL, lattice};
	pe_reconstruction r;

	pe_strategy_of_blocks(&strategy, &c->blocks, 1, 0);
	for (int32_t b = 0; b < c->blocks.blocks; b++)
	{
		lattice[b] = between(0, 20);
		for (int64_t i = c->blocks.first[b]; i < c->blocks.first[b + 1]; i++)
		{
			y[i] = between(-1000000, 1000000);
			c->y[i] = ldexp((double) y[i], -lattice[b]);
		}
	}
	pe_blocks_estimate(&c->blocks, &c->workload, c->y, expected);
	assert_true(pe_reconstruction_init(&measured, &c->workload, &r));
	(void) pe_test_memory();
	pe_reconstruction_estimate(&r, y, c->estimate);
	assert_memory_equal(c->estimate, expected, (size_t) c->workload.queries * sizeof(double));
	pe_reconstruction_variance(&r, c->estimate);
	assert_memory_equal(c->estimate, c->variance, (size_t) c->workload.queries * sizeof(double));
	assert_int_equal(pe_reconstruction_undetermined(&r), pe_blocks_undetermined(&c->blocks, &c->workload));
	assert_true(pe_test_memory() <= pe_reconstruction_memory(&strategy, &c->workload, &r.classes) +
				(size_t) c->dense.rows * sizeof(double) + SLACK);
	pe_reconstruction_summands(&r, c->variance, summands);
	for (int32_t q = 0; q < c->workload.queries; q++)
		assert_int_equal(summands[q], 0);
	pe_reconstruction_free(&r);
	pe_free(lattice);
	pe_free(y);
	pe_free(expected);
	pe_free(summands);
}

/* All that the columns tell apart is measured, or some of it. */
static void
test_random(void **state)
{
	int			determined = 0;
	int			totals = 0;
	int			count = cases(1500);

	pe_test_seed(1);
	for (int i = 0; i < count; i++)
	{
		workload_case c;

		case_init(&c, i % 3 != 0);
		if (has_matrix_over_all(&c.workload))
			assert_int_not_equal(pe_blocks_undetermined(&c.blocks, &c.workload), -1);
		else
		{
			determined += check_case(&c);
			check_unbiased(&c);
			check_reconstruction(&c);
			totals += c.dense.rows <= 60 && check_with_total(&c);
		}
		case_free(&c);
	}
	assert_true(determined > count / 4 && determined < 9 * count / 10);
	assert_true(totals > count / 20);
}

/* ---- large ones ---- */

static char names[32][4];

/* So many attributes a0, a1, ... of equal size. */
static void
equal_shape(pe_shape *shape, int attributes, int32_t cells)
{
	memset(shape, 0, sizeof(*shape));
	shape->attributes = attributes;
	for (int a = 0; a < attributes; a++)
	{
		snprintf(names[a], sizeof(names[a]), "a%d", a);
		shape->name[a] = names[a];
		shape->cells[a] = shape->ordered[a] = cells;
	}
}

/* All tables of so many attributes: as many marginals as F* and one variance say. */
static void
check_marginals(int attributes, int32_t cells, int k, double optimum)
{
	char		source[32];
	pe_shape	shape;
	pe_workload workload;
	const pe_workload *both[1] = {&workload};
	pe_classes	classes;
	pe_strategy_problem problem = {.workload = &workload, .classes = &classes, .objective = PE_SUM, .norm = PE_L2, .gap = 1e-6};
	pe_blocks	blocks;
	pe_blocks_errors errors;
	double	   *y;
	double	   *estimate;
	double		lower_bound;

	snprintf(source, sizeof(source), "marginals(%d)", k);
	equal_shape(&shape, attributes, cells);
	parse(source, &shape, &workload);
	pe_classes_init(both, 1, &classes);
	assert_true(pe_blocks_marginals(&problem, &blocks, &lower_bound));
	pe_blocks_error(&blocks, &workload, &errors);
	assert_true(close_to(errors.weighted_sum, optimum, 1e-9));
	assert_true(close_to(errors.mean, optimum / workload.queries, 1e-9));
	assert_true(close_to(errors.largest, errors.mean, 1e-8));
	assert_true(errors.weighted_largest == errors.largest);
	y = pe_la_vector((size_t) blocks.first[blocks.blocks]);
	estimate = pe_la_vector((size_t) workload.queries);
	(void) pe_test_memory();
	pe_blocks_estimate(&blocks, &workload, y, estimate);
	assert_int_equal(pe_blocks_undetermined(&blocks, &workload), -1);
	assert_true(pe_test_memory() <= pe_blocks_estimate_memory(&blocks, &workload) + SLACK);
	pe_free(y);
	pe_free(estimate);
	pe_blocks_free(&blocks);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

static void
test_marginals(void **state)
{
	check_marginals(12, 10, 2, 326305.9425);
	check_marginals(20, 10, 2, 2620638.367);
	check_marginals(20, 10, 3, 807736840.1);
}

/* Two axes with the optimum of one attribute each. */
static void
kronecker_blocks(const char *source, int32_t cells, pe_blocks *blocks)
{
	int32_t		sizes[2] = {cells, cells};
	pe_shape	shape;
	pe_workload workload;
	const pe_workload *both[1] = {&workload};
	pe_classes	classes;

	equal_shape(&shape, 1, cells);
	parse(source, &shape, &workload);
	pe_classes_init(both, 1, &classes);
	begin_blocks(blocks, PE_BLOCKS_KRONECKER, PE_L2, 2, sizes);
	for (int a = 0; a < 2; a++)
	{
		pe_axis    *axis = add_axis(blocks, a, 1, 1);

		assert_int_equal(pe_strategy_optimal(&workload, &classes, NULL, 1e-6, &axis->matrix[0].strategy), PE_STRATEGY_OK);
	}
	make_blocks(blocks, 1);
	memset(blocks->choice, 0, 2);
	assert_true(pe_blocks_prepare(blocks));
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

static void
test_kronecker(void **state)
{
	pe_blocks	blocks;
	pe_shape	shape;
	pe_workload workload;
	pe_blocks_errors errors;

	kronecker_blocks("prefix", 16, &blocks);
	equal_shape(&shape, 2, 16);
	parse("prefix(a0) * prefix(a1)", &shape, &workload);
	pe_blocks_error(&blocks, &workload, &errors);
	assert_true(close_to(errors.weighted_sum, 2085.324813, 1e-5));
	pe_workload_free(&workload);
	pe_blocks_free(&blocks);

	/* 1.08e9 queries: nothing is done for each of them */
	kronecker_blocks("all_range", 256, &blocks);
	equal_shape(&shape, 2, 256);
	parse("all_range(a0) * all_range(a1)", &shape, &workload);
	pe_blocks_error(&blocks, &workload, &errors);
	assert_true(close_to(errors.weighted_sum, 7.668984189e10, 1e-6));
	assert_true(close_to(errors.largest, 146.461, 1e-4));
	assert_int_equal(pe_blocks_undetermined(&blocks, &workload), -1);
	pe_workload_free(&workload);
	pe_blocks_free(&blocks);
}

/*
 * The largest of more combinations than are looked at one by one, along axes with two numbers for each query;
 * one block has nearly all of the budget, so that the numbers of the others decide.
 */
static void
check_front(int shared)
{
	int32_t		sizes[2] = {60, 60};
	pe_blocks	blocks;
	pe_shape	shape;
	pe_workload workload;
	pe_blocks_errors errors;
	double	   *variance;
	double		largest = 0;
	double		sum = 0;

	pe_test_seed(2);
	begin_blocks(&blocks, PE_BLOCKS_PRODUCT, PE_L2, 2, sizes);
	for (int a = 0; a < 2; a++)
		sound_product_axis(add_axis(&blocks, a, 1, 1));
	make_sets(&blocks, 2);
	assert_true(pe_blocks_prepare(&blocks));
	for (int32_t b = 0; b < blocks.blocks; b++)
		blocks.share[b] = b == shared ? UINT64_C(1) << 40 : 1000;
	equal_shape(&shape, 2, 60);
	parse("2 * all_range(a0) * all_range(a1)", &shape, &workload);
	pe_blocks_error(&blocks, &workload, &errors);
	variance = pe_la_vector((size_t) workload.queries);
	pe_blocks_variance(&blocks, &workload, variance);
	for (int32_t q = 0; q < workload.queries; q++)
	{
		largest = fmax(largest, variance[q]);
		sum += variance[q];
	}
	assert_true(workload.queries > 3000000);
	assert_true(close_to(errors.largest, largest, 1e-9));
	assert_true(close_to(errors.weighted_largest, 4 * largest, 1e-9));
	assert_true(close_to(errors.mean, sum / workload.queries, 1e-9));
	assert_true(close_to(errors.weighted_sum, 4 * sum, 1e-9));
	pe_free(variance);
	pe_workload_free(&workload);
	pe_blocks_free(&blocks);
}

static void
test_front(void **state)
{
	for (int shared = 0; shared < 4; shared += quick() ? 3 : 1)
		check_front(shared);
}

/* One cell of a0 by all ranges of a1 takes nothing like columns by queries. */
static void
test_growth(void **state)
{
	pe_blocks	blocks;
	pe_shape	shape;
	pe_workload workload;
	double	   *y;
	double	   *estimate;
	size_t		most;

	kronecker_blocks("all_range", 128, &blocks);
	equal_shape(&shape, 2, 128);
	parse("ranges(a0; 3-9) * all_range(a1)", &shape, &workload);
	y = pe_la_vector((size_t) blocks.first[1]);
	estimate = pe_la_vector((size_t) workload.queries);
	(void) pe_test_memory();
	pe_blocks_estimate(&blocks, &workload, y, estimate);
	pe_blocks_variance(&blocks, &workload, estimate);
	assert_int_equal(pe_blocks_undetermined(&blocks, &workload), -1);
	most = pe_test_memory();
	assert_true(most < 2000000);	/* 128 x 8256 numbers are 8 million bytes */
	assert_in_range(pe_blocks_estimate_memory(&blocks, &workload), most, 8 * most);	/* of one term one side is kept */
	pe_free(y);
	pe_free(estimate);
	pe_workload_free(&workload);
	pe_blocks_free(&blocks);
}

/* ---- single cases ---- */

static int32_t
undetermined(const pe_blocks *blocks, const pe_shape *shape, const char *source)
{
	pe_workload workload;
	int32_t		query;

	parse(source, shape, &workload);
	query = pe_blocks_undetermined(blocks, &workload);
	pe_workload_free(&workload);
	return query;
}

/* a0 has a cell without a column, a1 cells in one column; a block sums over them all. */
static void
test_cells_without_column(void **state)
{
	int32_t		sizes[2] = {3, 3};
	pe_blocks	blocks;
	pe_shape	shape;
	pe_axis    *axis;

	equal_shape(&shape, 2, 3);
	begin_blocks(&blocks, PE_BLOCKS_PRODUCT, PE_L2, 2, sizes);
	blocks.columns[0] = blocks.columns[1] = 2;
	blocks.column_of[0][2] = PE_NOT_ASKED;
	blocks.column_of[1][2] = 1;
	axis = add_axis(&blocks, 0, 1, 1);
	sound_product_axis(axis);
	axis->centre[0] = 1;
	axis->centre[1] = 3;
	axis->denominator = 4;
	axis->matrix[0].strategy.basis[0] = 3;
	axis->matrix[0].strategy.basis[1] = -1;
	add_centred_axis(&blocks, 1, 1);
	make_sets(&blocks, 2);
	assert_true(pe_blocks_prepare(&blocks));

	assert_int_equal(undetermined(&blocks, &shape, "total"), -1);
	assert_int_equal(undetermined(&blocks, &shape, "identity(a0)"), 0);
	/* w'd = 1 and 2 are the weights of the cell without a column; their mean is 2 and 2 */
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a0; {{4,0,1},{2,2,2}})"), -1);
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a0; {{4,0,1},{4,0,2}})"), 1);
	assert_int_equal(undetermined(&blocks, &shape, "identity(a1)"), 1);
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a1; {{1,0,0},{0,1,1}})"), -1);
	assert_int_equal(undetermined(&blocks, &shape, "total + total + total + total + matrix(a0; {{0,0,0}}) * identity(a1)"), -1);
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a0; {{0,0,0},{1,1,1}}) * identity(a1)"), 4);
	blocks.choice[6] = blocks.choice[7] = -1;	/* the block of both is gone */
	blocks.blocks = 3;
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a0; {{4,0,1},{1,1,1}}) * matrix(a1; {{1,1,1},{1,0,0}})"), 1);
	/* what has no part along the centre needs no sum */
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a0; {{3,-1,0}})"), -1);
	blocks.choice[0] = 0;		/* the block of nothing is now one of both */
	blocks.choice[1] = 0;
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a0; {{3,-1,0}}) * matrix(a1; {{2,-1,-1}})"), -1);
	assert_int_equal(undetermined(&blocks, &shape, "matrix(a0; {{3,-1,0}}) + total"), 1);
	pe_blocks_free(&blocks);
}

/* ---- what is refused ---- */

static void
estimate_of_two(void *arg)
{
	pe_blocks_errors errors;
	workload_case *c = arg;

	pe_blocks_error(&c->blocks, &c->workload, &errors);
}

static void
test_refused(void **state)
{
	int32_t		sizes[2] = {2, 3};
	workload_case c;

	begin_blocks(&c.blocks, PE_BLOCKS_MARGINALS, PE_L2, 2, sizes);
	add_centred_axis(&c.blocks, 0, 1);
	add_centred_axis(&c.blocks, 1, 1);
	make_sets(&c.blocks, 2);
	assert_true(pe_blocks_prepare(&c.blocks));
	equal_shape(&c.shape, 2, 2);
	c.shape.cells[1] = c.shape.ordered[1] = 3;

	parse("total + matrix({{1,0,0,0,0,0},{0,1,0,0,0,1}}) + identity", &c.shape, &c.workload);
	assert_int_equal(pe_blocks_undetermined(&c.blocks, &c.workload), 1);
	assert_true(pe_test_stops_with_bug(estimate_of_two, &c));
	pe_workload_free(&c.workload);

	parse("identity", &c.shape, &c.workload);
	assert_false(pe_test_stops_with_bug(estimate_of_two, &c));
	c.blocks.choice[0] = 0;		/* the block of nothing becomes a second one of a0 */
	assert_true(pe_test_stops_with_bug(estimate_of_two, &c));
	c.blocks.choice[0] = -1;
	pe_workload_free(&c.workload);

	c.shape.cells[1] = c.shape.ordered[1] = 4;
	parse("identity", &c.shape, &c.workload);
	assert_true(pe_test_stops_with_bug(estimate_of_two, &c));
	pe_workload_free(&c.workload);
	pe_blocks_free(&c.blocks);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_marginals),
		cmocka_unit_test(test_kronecker),
		cmocka_unit_test(test_front),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_cells_without_column),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

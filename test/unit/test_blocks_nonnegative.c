/*
 * test_blocks_nonnegative.c
 *	  Marginals without negative cells: against the solver for dense matrices where that has
 *	  the same answer, and what every answer must satisfy.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "blocks/reconstruct.h"
#include "made_marginals.h"

#define SMALL 256				/* cells of the product of all attributes, at most */

/* ---- measurements of a table of all attributes ---- */

typedef struct measured
{
	made		made;
	int			cells;			/* of the product of all axes */
	int			rows;
	double	   *a;				/* rows x cells, by rows */
	double	   *noise;			/* relative variance of each row */
	double	   *x;				/* true counts */
	double	   *y;
	double	   *nearest;
	double		certificate;
} measured;

/* The cell of an axis in a cell of the product of a set of axes, which is number `at` of it. */
static int
coordinate(const pe_blocks *blocks, uint32_t set, int at, int axis)
{
	for (int a = blocks->axes - 1; a > axis; a--)
		if (set >> a & 1)
			at /= blocks->axis[a].cells;
	return at % blocks->axis[axis].cells;
}

static void
write_matrix(measured *m)
{
	const pe_blocks *blocks = &m->made.blocks;
	uint32_t	all = (UINT32_C(1) << blocks->axes) - 1;

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int64_t r = blocks->first[b]; r < blocks->first[b + 1]; r++)
		{
			m->noise[r] = pe_blocks_relative_variance(blocks, b);
			for (int j = 0; j < m->cells; j++)
			{
				double		entry = 1;

				for (int a = 0; a < blocks->axes; a++)
					if (m->made.axes[b] >> a & 1)
						entry *= coordinate(blocks, m->made.axes[b], (int) (r - blocks->first[b]), a) == coordinate(blocks, all, j, a) ?
							blocks->axis[a].cells - 1 : -1;
				m->a[r * m->cells + j] = entry;
			}
		}
}

/* y = A x + sigma noise */
static void
draw(measured *m, double sigma)
{
	for (int r = 0; r < m->rows; r++)
	{
		m->y[r] = sigma * sqrt(m->noise[r]) * normal();
		for (int j = 0; j < m->cells; j++)
			m->y[r] += m->a[r * m->cells + j] * m->x[j];
	}
}

/* Counts most of which are 0. */
static void
begin(measured *m, int attributes, const int *cells, const char *workload, pe_norm norm)
{
	memset(m, 0, sizeof(*m));
	parse(&m->made, attributes, cells, workload);
	m->made.problem.norm = norm;
	make(&m->made);
	m->cells = 1;
	for (int a = 0; a < m->made.blocks.axes; a++)
		m->cells *= m->made.blocks.axis[a].cells;
	assert_true(m->cells <= SMALL);
	m->rows = (int) m->made.blocks.first[m->made.blocks.blocks];
	m->a = pe_alloc((size_t) m->rows * (size_t) m->cells, sizeof(double));
	m->noise = pe_alloc((size_t) m->rows, sizeof(double));
	m->x = pe_alloc((size_t) m->cells, sizeof(double));
	m->y = pe_alloc((size_t) m->rows, sizeof(double));
	m->nearest = pe_alloc((size_t) m->rows, sizeof(double));
	write_matrix(m);
	for (int j = 0; j < m->cells; j++)
		m->x[j] = between(0, 3) == 0 ? between(0, 100) : 0;
}

static void
end(measured *m)
{
	pe_free(m->a);
	pe_free(m->noise);
	pe_free(m->x);
	pe_free(m->y);
	pe_free(m->nearest);
	discard(&m->made);
}

/* Cell `at` of the table of a set of axes: the sum over the blocks below it of y / prod n, spread evenly over the other axes. */
static double
cell_of(const measured *m, const double *y, uint32_t set, int at)
{
	const pe_blocks *blocks = &m->made.blocks;
	double		sum = 0;

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		int			row = 0;
		double		part = 1;

		if (m->made.axes[b] & ~set)
			continue;
		for (int a = 0; a < blocks->axes; a++)
		{
			if (set >> a & 1)
				part /= blocks->axis[a].cells;
			if (m->made.axes[b] >> a & 1)
				row = row * blocks->axis[a].cells + coordinate(blocks, set, at, a);
		}
		sum += part * y[blocks->first[b] + row];
	}
	return sum;
}

static int
cells_of(const measured *m, uint32_t set)
{
	int			cells = 1;

	for (int a = 0; a < m->made.blocks.axes; a++)
		cells *= set >> a & 1 ? m->made.blocks.axis[a].cells : 1;
	return cells;
}

/* Sum of squared differences over variances, without the total. */
static double
distance(const measured *m, const double *y, const double *z)
{
	double		sum = 0;

	for (int r = 1; r < m->rows; r++)
		sum += (y[r] - z[r]) * (y[r] - z[r]) / m->noise[r];
	return sum;
}

/* No table has a negative cell; the total is kept; what is returned is A times tables. */
static void
check_tables(const measured *m)
{
	const pe_blocks *blocks = &m->made.blocks;
	double		total = fmax(m->y[0], 0);

	assert_int_equal(m->made.axes[0], 0);
	assert_true(close_to(m->nearest[0], total, 1e-12));
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		uint32_t	set = m->made.axes[b];
		int			cells = cells_of(m, set);

		for (int at = 0; at < cells; at++)
			if (cell_of(m, m->nearest, set, at) < -1e-9 * total)
				fail_msg("%s: a cell of %.3g", m->made.workload.canonical, cell_of(m, m->nearest, set, at));
		for (int a = 0; a < blocks->axes; a++)
			for (int at = 0; set >> a & 1 && at < cells; at++)
			{
				double		sum = 0;

				for (int other = 0; other < cells; other++)
				{
					bool		along = true;

					for (int i = 0; i < blocks->axes; i++)
						along = along && (i == a || !(set >> i & 1) || coordinate(blocks, set, at, i) == coordinate(blocks, set, other, i));
					sum += along ? m->nearest[blocks->first[b] + other] : 0;
				}
				assert_true(fabs(sum) <= 1e-9 * total * cells);
			}
	}
}

static void
solve(measured *m)
{
	uint64_t	polls = pe_test_polls();

	pe_test_memory();
	m->certificate = pe_blocks_nonnegative(&m->made.blocks, m->y, m->nearest);
	assert_true(pe_test_memory() <= pe_blocks_nonnegative_memory(&m->made.blocks));
	assert_true(m->certificate >= 0 && m->certificate <= PE_NONNEGATIVE_RESIDUAL);
	assert_true(m->y[0] <= 0 || pe_test_polls() > polls);
	check_tables(m);
}

/* ---- against the dense solver ---- */

/*
 * Where the sets of axes form a tree, tables that agree on what they share are margins of one
 * table of all axes without negative cells.
 */
static void
check_dense(int attributes, const int *cells, const char *workload, pe_norm norm, double sigma)
{
	measured	m;
	int			most;
	double	   *a;
	double	   *y;
	double	   *x;
	double	   *margins;

	begin(&m, attributes, cells, workload, norm);
	draw(&m, sigma);
	solve(&m);
	most = m.rows - 1;
	a = matrix(most, m.cells);
	y = matrix(most, 1);
	x = matrix(m.cells, 1);
	margins = matrix(m.rows, 1);
	for (int r = 0; r < most; r++)
	{
		y[r] = m.y[r + 1] / sqrt(m.noise[r + 1]);
		for (int j = 0; j < m.cells; j++)
			a[r * m.cells + j] = m.a[(r + 1) * m.cells + j] / sqrt(m.noise[r + 1]);
	}
	if (m.y[0] > 0)
	{
		assert_true(pe_nonnegative_least_squares(most, m.cells, a, y, &m.y[0], x) <= PE_NONNEGATIVE_RESIDUAL);
		for (int r = 0; r < m.rows; r++)
		{
			for (int j = 0; j < m.cells; j++)
				margins[r] += m.a[r * m.cells + j] * x[j];
			if (fabs(margins[r] - m.nearest[r]) > 1e-4 * sigma * sqrt(m.noise[r]))
				fail_msg("%s: row %d is %.12g, not %.12g", workload, r, m.nearest[r], margins[r]);
		}
		assert_true(distance(&m, m.nearest, m.y) <= distance(&m, margins, m.y) * (1 + 1e-6));
	}
	pe_free(a);
	pe_free(y);
	pe_free(x);
	pe_free(margins);
	end(&m);
}

static void
test_one_table(void **state)
{
	for (int i = 0; i < cases(60); i++)
	{
		double		sigma = pow(10, between(-1, 2));

		check_dense(1, (int[]) {between(2, 40)}, "identity(a0)", PE_L2, sigma);
		check_dense(2, (int[]) {between(2, 7), between(2, 7)}, "identity(a0) * identity(a1) + 3 * identity(a0)", PE_L2, sigma);
		check_dense(3, (int[]) {between(1, 4), between(2, 4), between(2, 4)}, "marginals(3) + marginals(1) + 2 * marginals(2)",
					i % 2 ? PE_L1 : PE_L2, sigma);
	}
}

static void
test_trees(void **state)
{
	for (int i = 0; i < cases(40); i++)
	{
		double		sigma = pow(10, between(-1, 2));

		check_dense(2, (int[]) {between(2, 8), between(2, 8)}, "marginals(1)", PE_L2, sigma);
		check_dense(3, (int[]) {between(2, 5), between(2, 5), between(2, 5)}, "identity(a0) * identity(a1) + identity(a1) * identity(a2)",
					i % 2 ? PE_L1 : PE_L2, sigma);
		check_dense(4, (int[]) {between(2, 3), between(2, 3), between(2, 3), 3},
					"identity(a0) * identity(a1) + 2 * identity(a1) * identity(a2) + identity(a1) * identity(a3) + total", PE_L2, sigma);
	}
}

/* ---- cycles ---- */

/* No step towards tables of counts, or even ones, brings them nearer. */
static void
check_cycle(int attributes, const int *cells, const char *workload, double sigma)
{
	measured	m;
	double	   *tables;

	begin(&m, attributes, cells, workload, PE_L2);
	draw(&m, sigma);
	solve(&m);
	tables = matrix(m.rows, 1);
	for (int i = 0; i < 20 && m.y[0] > 0; i++)
	{
		double		sum = 0;
		double		slope = 0;

		for (int j = 0; j < m.cells; j++)
			sum += m.x[j] = i == 0 ? m.x[j] + 1e-9 : i == 1 ? 1 : random_unit();
		for (int r = 0; r < m.rows; r++)
		{
			tables[r] = 0;
			for (int j = 0; j < m.cells; j++)
				tables[r] += m.a[r * m.cells + j] * m.x[j] * m.y[0] / sum;
			if (r > 0)
				slope += (m.nearest[r] - m.y[r]) * (tables[r] - m.nearest[r]) / m.noise[r];
		}
		assert_true(slope >= -1e-3 * sqrt(distance(&m, tables, m.nearest)) * sigma);
	}
	pe_free(tables);
	end(&m);
}

static void
test_cycles(void **state)
{
	for (int i = 0; i < cases(60); i++)
	{
		double		sigma = pow(10, between(-1, 2));

		check_cycle(3, (int[]) {between(2, 6), between(2, 6), between(2, 6)}, "marginals(2)", sigma);
		check_cycle(4, (int[]) {between(2, 4), between(2, 4), between(2, 4), between(2, 4)}, "marginals(2) + 3 * marginals(1)", sigma);
		check_cycle(5, (int[]) {2, 3, 2, 3, 2}, "marginals(3) + identity(a0) * identity(a1) * identity(a2) * identity(a3)", sigma);
	}
}

/* ---- what is left as it is ---- */

/* Tables without negative cells are the nearest to themselves, whatever noise is added that no table has. */
static void
test_unchanged(void **state)
{
	for (int i = 0; i < cases(50); i++)
	{
		measured	m;
		double	   *exact;

		begin(&m, 3, (int[]) {between(1, 5), between(2, 5), between(2, 5)}, "marginals(2) + identity(a0)", PE_L2);
		m.x[0] += 1;
		draw(&m, 0);
		exact = matrix(m.rows, 1);
		memcpy(exact, m.y, (size_t) m.rows * sizeof(double));
		for (int32_t b = 1; b < m.made.blocks.blocks; b++)
			for (int64_t r = m.made.blocks.first[b]; r < m.made.blocks.first[b + 1]; r++)
				m.y[r] += 1e3 * b;
		solve(&m);
		assert_true(m.certificate == 0);
		for (int r = 0; r < m.rows; r++)
			assert_true(fabs(m.nearest[r] - exact[r]) <= 1e-9 * (1e3 + fabs(exact[0])) * m.cells);
		pe_free(exact);
		end(&m);
	}
}

static void
test_no_total(void **state)
{
	measured	m;

	begin(&m, 3, (int[]) {3, 2, 4}, "marginals(2)", PE_L2);
	for (int total = -1; total <= 0; total++)
	{
		draw(&m, 10);
		m.y[0] = total;
		solve(&m);
		assert_true(m.certificate == 0);
		for (int r = 0; r < m.rows; r++)
			assert_true(m.nearest[r] == 0);
	}
	end(&m);
}

static void
solve_other_kind(void *argument)
{
	measured   *m = argument;

	pe_blocks_nonnegative(&m->made.blocks, m->y, m->nearest);
}

static void
test_other_kinds(void **state)
{
	measured	m;

	begin(&m, 2, (int[]) {3, 2}, "marginals(1)", PE_L2);
	m.made.blocks.kind = PE_BLOCKS_PRODUCT;
	assert_true(pe_test_is_bug(solve_other_kind, &m));
	end(&m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_table),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_no_total),
		cmocka_unit_test(test_other_kinds),
	};

	pe_test_seed(20261124);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

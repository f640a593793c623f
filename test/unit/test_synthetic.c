/*
 * test_synthetic.c
 *	  Synthetic rows: fitted tables, trees, and rows that have the tables exactly, up to rounding.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counts/synthetic.h"
#include "shim.h"

static void
assert_near(double a, double b, double within)
{
	assert_true(fabs(a - b) <= within);
}

static pe_stream
stream_of(int seed)
{
	pe_stream	stream;

	pe_stream_init(&stream, &seed, sizeof(seed));
	return stream;
}

static double
sum_of(int count, const double *x)
{
	double		sum = 0;

	for (int i = 0; i < count; i++)
		sum += x[i];
	return sum;
}

static void
test_classing(void **state)
{
	const double noisy[] = {10, -3, 2.9, 3, 100};
	const double pair[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	const int	expected[] = {0, 3, 3, 1, 2};
	const double one_each[] = {1, 2};
	double		sums[4];
	double		both[4];
	pe_classing c;
	pe_classing all;

	(void) state;
	pe_classing_init(&c, 5, noisy, 3);
	assert_int_equal(c.classes, 4);
	assert_true(c.has_rest);
	for (int i = 0; i < 5; i++)
		assert_int_equal(c.class_of[i], expected[i]);
	pe_classing_sum(&c, noisy, sums);
	assert_near(sums[3], -.1, 1e-12);
	assert_near(sums[1], 3, 0);
	pe_classing_init(&all, 2, one_each, -INFINITY);
	assert_false(all.has_rest);
	assert_int_equal(all.classes, 2);
	pe_free(all.class_of);
	pe_classing_init(&all, 2, one_each, INFINITY);
	assert_int_equal(all.classes, 1);
	pe_classing_sum_pair(&c, &all, pair, both);
	assert_near(both[0], 1 + 2, 0);
	assert_near(both[3], 3 + 4 + 5 + 6, 0);
	pe_free(all.class_of);
	pe_free(c.class_of);
}

/* A model of attributes with these cells, without noise, each cell a class; tables are given. */
static void
make_model(pe_synthetic *m, int attributes, const int *cells, double *const *table)
{
	*m = (pe_synthetic) {.attributes = attributes};
	for (int a = 0; a < attributes; a++)
	{
		pe_classing_init(&m->classing[a], cells[a], table[a], -INFINITY);
		m->variance[a] = 1;
	}
	pe_synthetic_fit(m, table);
}

static void
test_fit(void **state)
{
	double		first[] = {50, -2, 1, 51};
	double		second[] = {60, 44};
	double	   *table[] = {first, second};
	pe_synthetic m = {.attributes = 2, .variance = {4, 4}};

	(void) state;
	pe_classing_init(&m.classing[0], 4, first, 3);
	pe_classing_init(&m.classing[1], 2, second, 3);
	pe_synthetic_fit(&m, table);
	/* 100 with variance 16, 104 with 8 */
	assert_near(m.total, (100 / 16. + 104 / 8.) / (1 / 16. + 1 / 8.), 1e-9);
	for (int a = 0; a < 2; a++)
	{
		assert_near(sum_of(m.classing[a].cells, m.one[a]), m.total, 1e-9);
		assert_near(sum_of(m.classing[a].classes, m.margin[a]), m.total, 1e-9);
		assert_int_equal(m.parent[a], -1);
	}
	/* the drowned cells have half each of what is at least 0 */
	assert_near(m.one[0][1], m.one[0][2], 0);
	assert_true(m.one[0][1] >= 0);
	assert_near(m.one[0][1] * 2, m.margin[0][2], 1e-12);
	pe_synthetic_free(&m);
	memset(first, 0, sizeof(first));
	second[0] = -7;
	second[1] = 2;
	make_model(&m, 2, (const int[]) {4, 2}, table);
	assert_near(m.total, 0, 0);
	pe_synthetic_free(&m);
}

/* Cells that cannot have rows have none: of a class of their own, of the rest with others, and where all is 0. */
static void
test_impossible(void **state)
{
	static const bool possible[4] = {true, false, true, false};
	double		first[] = {50, 40, 1, -2};
	double		second[] = {30, 24};
	double	   *table[] = {first, second};
	double		pair[] = {30, 20, 90, -50, 1, 3};
	int32_t		cell[2][100];
	int32_t    *cells[] = {cell[0], cell[1]};
	pe_stream	stream;

	(void) state;
	pe_stream_init(&stream, "impossible", 10);
	for (int empty = 0; empty < 2; empty++)
	{
		pe_synthetic m = {.attributes = 2, .variance = {4, 4}, .possible = {possible}};

		pe_classing_init(&m.classing[0], 4, first, 3 - 1000 * empty);
		pe_classing_init(&m.classing[1], 2, second, 3 - 1000 * empty);
		pe_synthetic_fit(&m, table);
		assert_true(m.one[0][1] == 0 && m.one[0][3] == 0);
		assert_near(m.one[0][0] + m.one[0][2], m.total, 1e-9);
		if (empty == 0)
		{
			assert_near(m.total, (51 / 8. + 54 / 8.) / (1 / 8. + 1 / 8.), 1e-9);
			pe_synthetic_fit_pair(&m, 0, 1, pair, 1);
			assert_true(pair[2] == 0 && pair[3] == 0);
			assert_near(sum_of(6, pair), m.total, 1e-6);
		}
		pe_synthetic_draw(&m, &stream, 100, cells);
		for (int row = 0; row < 100; row++)
			assert_true(possible[cell[0][row]]);
		pe_synthetic_free(&m);
		memset(first, 0, sizeof(first));
		second[0] = second[1] = -1;
	}
}

static void
check_margins(int rows, int columns, const double *table, const double *row, const double *column)
{
	for (int i = 0; i < rows; i++)
		assert_near(sum_of(columns, table + i * columns), row[i], 1e-6);
	for (int j = 0; j < columns; j++)
	{
		double		sum = 0;

		for (int i = 0; i < rows; i++)
		{
			assert_true(table[i * columns + j] >= 0);
			sum += table[i * columns + j];
		}
		assert_near(sum, column[j], 1e-6);
	}
}

static void
test_fit_pair(void **state)
{
	double		first[] = {30, 70};
	double		second[] = {20, 30, 50};
	double	   *table[] = {first, second};
	double		pair[] = {25, 4, 5, -8, 22, 51};
	double		good[] = {20, 5, 5, 0, 25, 45};
	double		zero[] = {0, 0, 0, 10, 5, 3};
	double		nothing[] = {0, 0};
	double		nothing_3[] = {0, 0, 0};
	pe_synthetic m;

	(void) state;
	make_model(&m, 2, (const int[]) {2, 3}, table);
	pe_synthetic_fit_pair(&m, 0, 1, pair, 9);
	check_margins(2, 3, pair, first, second);
	assert_true(pair[3] < 5);
	/* what is consistent stays */
	pe_synthetic_fit_pair(&m, 0, 1, good, 9);
	assert_near(good[0], 20, 1e-6);
	assert_near(good[3], 0, 1e-6);
	assert_near(good[5], 45, 1e-6);
	/* a row and a column without anything are filled */
	pe_fit_margins(2, 3, zero, first, second);
	check_margins(2, 3, zero, first, second);
	pe_fit_margins(2, 3, zero, nothing, nothing_3);
	assert_near(sum_of(6, zero), 0, 0);
	pe_synthetic_free(&m);
}

/* ---- Trees ---- */

#define NODES 5

/* The largest sum of all trees, by their Pruefer codes. */
static double
best_tree(const double *weight)
{
	double		best = -INFINITY;

	for (int code = 0; code < NODES * NODES * NODES; code++)
	{
		int			letters[NODES - 2] = {code % NODES, code / NODES % NODES, code / NODES / NODES};
		int			degree[NODES];
		double		sum = 0;

		for (int i = 0; i < NODES; i++)
			degree[i] = 1;
		for (int i = 0; i < NODES - 2; i++)
			degree[letters[i]]++;
		for (int i = 0; i < NODES - 1; i++)
		{
			int			leaf = 0;
			int			other;

			while (degree[leaf] != 1)
				leaf++;
			if (i < NODES - 2)
				other = letters[i];
			else
				for (other = leaf + 1; degree[other] != 1; other++)
					;
			sum += weight[leaf < other ? leaf * NODES + other : other * NODES + leaf];
			degree[leaf]--;
			degree[other]--;
		}
		best = fmax(best, sum);
	}
	return best;
}

static void
test_tree(void **state)
{
	double		weight[NODES * NODES];
	int			parent[NODES];
	int			order[NODES];
	const int	edge[][2] = {{3, 1}, {1, 4}, {0, 2}};

	(void) state;
	for (int round = 0; round < 50; round++)
	{
		pe_stream	stream = stream_of(round);
		int			place[NODES];
		double		sum = 0;

		for (int i = 0; i < NODES * NODES; i++)
			weight[i] = pe_stream_unit(&stream) - .5;
		pe_spanning_tree(NODES, weight, round % NODES, parent, order);
		assert_int_equal(order[0], round % NODES);
		for (int n = 0; n < NODES; n++)
			place[order[n]] = n;
		for (int a = 0; a < NODES; a++)
		{
			int			p = parent[a];

			assert_int_equal(p < 0, a == order[0]);
			if (p < 0)
				continue;
			assert_true(place[p] < place[a]);
			sum += weight[p < a ? p * NODES + a : a * NODES + p];
		}
		assert_near(sum, best_tree(weight), 1e-12);
	}
	/* a forest: what nothing leads to is a root too */
	pe_root_tree(NODES, 3, edge, 4, parent, order);
	assert_int_equal(order[0], 4);
	assert_int_equal(parent[4], -1);
	assert_int_equal(parent[1], 4);
	assert_int_equal(parent[3], 1);
	assert_int_equal(parent[0], -1);
	assert_int_equal(parent[2], 0);
}

static void
test_information(void **state)
{
	const double equal[] = {10, 0, 0, 10};
	const double apart[] = {6, 14, 3, 7};
	const double none[] = {0, 0, 0, 0};
	double		half[] = {50, 50};
	double	   *table[] = {half, half};
	double		tied[] = {50, 0, 0, 50};
	double		loose[] = {25, 25, 25, 25};
	const double deviation[] = {3, 3, 3, 3};
	pe_stream	stream = stream_of(1);
	double	   *turned;
	pe_synthetic m;

	(void) state;
	assert_near(pe_mutual_information(2, 2, equal), log(2), 1e-12);
	assert_near(pe_mutual_information(2, 2, apart), 0, 1e-12);
	assert_near(pe_mutual_information(2, 2, none), 0, 0);
	make_model(&m, 2, (const int[]) {2, 2}, table);
	assert_true(pe_synthetic_weight(&m, 0, 1, tied, deviation, &stream) > .5);
	assert_true(pe_synthetic_weight(&m, 0, 1, loose, deviation, &stream) <= 0);
	tied[1] = 7;
	turned = pe_pair_by_parent(&m, 0, 1, tied, 1);
	assert_near(turned[2], 7, 0);
	assert_near(turned[1], 0, 0);
	pe_free(turned);
	turned = pe_pair_by_parent(&m, 0, 1, tied, 0);
	assert_near(turned[1], 7, 0);
	pe_free(turned);
	pe_synthetic_free(&m);
}

/* ---- Drawing ---- */

static void
test_stream(void **state)
{
	pe_stream	a = stream_of(1);
	pe_stream	b = stream_of(1);
	pe_stream	c = stream_of(2);
	int			same = 0;
	double		sum = 0;
	double		squares = 0;

	(void) state;
	for (int i = 0; i < 1000; i++)
	{
		uint64_t	x = pe_stream_next(&a);

		assert_true(x == pe_stream_next(&b));
		same += x == pe_stream_next(&c);
		assert_true(pe_stream_below(&a, 7) < 7);
		pe_stream_below(&b, 7);
	}
	assert_int_equal(same, 0);
	for (int i = 0; i < 10000; i++)
	{
		double		x = pe_stream_normal(&a);

		sum += x;
		squares += x * x;
	}
	assert_near(sum / 10000, 0, .06);
	assert_near(squares / 10000, 1, .08);
}

static void
test_round_table(void **state)
{
	const double table[] = {1.25, 0, 3.5, 2.25, 3};
	const double none[] = {0, 0, 0};
	double		mean[5] = {0};
	int32_t		rounded[5];

	(void) state;
	for (int seed = 0; seed < 4000; seed++)
	{
		pe_stream	stream = stream_of(seed);
		int			sum = 0;

		pe_round_table(&stream, 5, table, 10, rounded);
		for (int i = 0; i < 5; i++)
		{
			assert_true(fabs(rounded[i] - table[i]) < 1);
			sum += rounded[i];
			mean[i] += rounded[i] / 4000.;
		}
		assert_int_equal(sum, 10);
	}
	for (int i = 0; i < 5; i++)
		assert_near(mean[i], table[i], .04);
	for (int rows = 0; rows < 8; rows++)
	{
		pe_stream	stream = stream_of(rows);

		pe_round_table(&stream, 3, none, rows, rounded);
		assert_int_equal(rounded[0] + rounded[1] + rounded[2], rows);
	}
}

/* Random tables, some cells 0: margins are exact, every cell is the one below or above, and its mean is the table's. */
static void
test_round_pair(void **state)
{
	(void) state;
	for (int round = 0; round < 300; round++)
	{
		pe_stream	stream = stream_of(round);
		int			n = 1 + (int) pe_stream_below(&stream, 7);
		int			m = 1 + (int) pe_stream_below(&stream, 7);
		double		table[49];
		int32_t		made[49];
		int32_t		row[7] = {0};
		int32_t		column[7] = {0};
		int32_t		rounded[49];

		/* margins that a table with these zeros can have */
		for (int i = 0; i < n * m; i++)
		{
			made[i] = pe_stream_below(&stream, 3) == 0 ? 0 : (int32_t) pe_stream_below(&stream, 5);
			table[i] = made[i] == 0 ? 0 : .1 + pe_stream_unit(&stream);
			row[i / m] += made[i];
			column[i % m] += made[i];
		}
		pe_round_pair(&stream, n, m, table, row, column, rounded);
		for (int i = 0; i < n * m; i++)
		{
			assert_true(rounded[i] >= 0);
			row[i / m] -= rounded[i];
			column[i % m] -= rounded[i];
			if (made[i] == 0)
				assert_int_equal(rounded[i], 0);
		}
		for (int i = 0; i < n; i++)
			assert_int_equal(row[i], 0);
		for (int j = 0; j < m; j++)
			assert_int_equal(column[j], 0);
	}
}

static void
test_round_pair_mean(void **state)
{
	const int32_t margin[] = {3, 4, 3};
	const double table[] = {1.5, 1.25, .25, 1, 2, 1, .5, .75, 1.75};
	double		mean[9] = {0};

	(void) state;
	for (int seed = 0; seed < 4000; seed++)
	{
		pe_stream	stream = stream_of(seed);
		double		copy[9];
		int32_t		rounded[9];

		memcpy(copy, table, sizeof(copy));
		pe_round_pair(&stream, 3, 3, copy, margin, margin, rounded);
		for (int i = 0; i < 9; i++)
		{
			assert_true(fabs(rounded[i] - table[i]) < 1);
			mean[i] += rounded[i] / 4000.;
		}
	}
	for (int i = 0; i < 9; i++)
		assert_near(mean[i], table[i], .04);
}

/* Margins that the zeros of the table do not allow are kept all the same. */
static void
test_round_impossible(void **state)
{
	const int32_t row[] = {5, 1};
	const int32_t column[] = {1, 5};
	double		table[] = {3, 0, 0, 3};
	int32_t		rounded[4];
	pe_stream	stream = stream_of(1);

	(void) state;
	pe_round_pair(&stream, 2, 2, table, row, column, rounded);
	assert_int_equal(rounded[0] + rounded[1], 5);
	assert_int_equal(rounded[2] + rounded[3], 1);
	assert_int_equal(rounded[0] + rounded[2], 1);
}

#define ROWS 1000

/* Three attributes in a chain, the first two of them tied, one cell of the third drowned. */
static void
make_chain(pe_synthetic *m)
{
	static double first[] = {500.5, 300.25, 199.25};
	static double second[] = {300.25, 500.5, 199.25};
	static double third[] = {600, 397, 1, 2};
	static const double tied[] = {0, 500.5, 0, 300.25, 0, 0, 0, 0, 199.25};
	double	   *table[] = {first, second, third};
	double		loose[] = {200, 100, 0, 300, 200, 3, 100, 97, 0};

	*m = (pe_synthetic) {.attributes = 3, .variance = {1, 1, 1}};
	pe_classing_init(&m->classing[0], 3, first, 5);
	pe_classing_init(&m->classing[1], 3, second, 5);
	pe_classing_init(&m->classing[2], 4, third, 5);
	pe_synthetic_fit(m, table);
	pe_root_tree(3, 2, (const int[][2]) {{0, 1}, {1, 2}}, 0, m->parent, m->order);
	m->table[1] = pe_pair_by_parent(m, 0, 1, tied, 0);
	pe_synthetic_fit_pair(m, 1, 2, loose, 1);
	m->table[2] = pe_pair_by_parent(m, 1, 2, loose, 1);
}

static void
draw(const pe_synthetic *m, int seed, int rows, int32_t cell[3][ROWS])
{
	int32_t    *cells[] = {cell[0], cell[1], cell[2]};
	pe_stream	stream = stream_of(seed);

	pe_synthetic_draw(m, &stream, rows, cells);
}

static void
test_draw(void **state)
{
	static int32_t cell[3][ROWS];
	static int32_t again[3][ROWS];
	const int	partner[] = {1, 0, 2};
	pe_synthetic m;
	int			in_order = 0;

	(void) state;
	make_chain(&m);
	for (int rows = 0; rows <= ROWS; rows = 3 * rows + 1)
	{
		double		unit = rows / m.total;
		double		pair[12] = {0};

		draw(&m, rows, rows, cell);
		draw(&m, rows, rows, again);
		for (int a = 0; a < 3; a++)
		{
			double		count[4] = {0};

			assert_memory_equal(cell[a], again[a], rows * sizeof(int32_t));
			for (int i = 0; i < rows; i++)
				count[cell[a][i]]++;
			for (int i = 0; i < m.classing[a].cells; i++)
				assert_true(fabs(count[i] - unit * m.one[a][i]) < 1 + 1e-9);
		}
		for (int i = 0; i < rows; i++)
		{
			if (rows > 500)
				assert_int_equal(cell[1][i], partner[cell[0][i]]);
			pair[cell[1][i] * 3 + m.classing[2].class_of[cell[2][i]]]++;
		}
		for (int i = 0; i < 9; i++)
			assert_near(pair[i], unit * m.table[2][i], 4);
	}
	draw(&m, 1, ROWS, cell);
	draw(&m, 2, ROWS, again);
	assert_memory_not_equal(cell, again, sizeof(cell));
	/* rows are in no order */
	for (int i = 1; i < ROWS; i++)
		in_order += cell[0][i] >= cell[0][i - 1];
	assert_true(in_order < 800);
	assert_true(pe_synthetic_draw_memory(&m, ROWS) > ROWS * sizeof(int32_t));
	pe_synthetic_free(&m);
}

/* One attribute, of one cell or without anything in it. */
static void
test_small(void **state)
{
	double		one[] = {5, 0};
	double	   *table[] = {one, one};
	static int32_t cell[3][ROWS];
	pe_synthetic m;

	(void) state;
	make_model(&m, 1, (const int[]) {1}, table);
	draw(&m, 1, 5, cell);
	for (int i = 0; i < 5; i++)
		assert_int_equal(cell[0][i], 0);
	pe_synthetic_free(&m);
	one[0] = 0;
	make_model(&m, 2, (const int[]) {2, 1}, table);
	pe_root_tree(2, 1, (const int[][2]) {{0, 1}}, 1, m.parent, m.order);
	m.table[0] = pe_alloc(2, sizeof(double));
	draw(&m, 1, 0, cell);
	draw(&m, 1, 10, cell);
	one[0] = one[1] = 0;
	for (int i = 0; i < 10; i++)
		one[cell[0][i]]++;
	assert_near(one[0], 5, 0);
	pe_synthetic_free(&m);
}

/* ----------
 * All attributes together
 * ----------
 */

/* The table of two of three attributes with three classes each. */
static void
sum_pair(const double *joint, int first, int second, double *sums)
{
	memset(sums, 0, 9 * sizeof(double));
	for (int i = 0; i < 27; i++)
	{
		int			cell[] = {i / 9, i / 3 % 3, i % 3};

		sums[cell[first] * 3 + cell[second]] += joint[i];
	}
}

/* The last cell of the first attribute is drowned beside another one. */
static void
make_joint(pe_synthetic *m, double pair[3][9], int pairs)
{
	static double ones[] = {400, 300, 299, 1};
	static double even[] = {400, 300, 300};
	double	   *one[] = {ones, even, even};
	double	   *given[9] = {[0 * 3 + 1] = pair[0], [1 * 3 + 2] = pairs > 1 ? pair[1] : NULL, [0 * 3 + 2] = pairs > 2 ? pair[2] : NULL};
	double		joint[27];
	double		sum = 0;

	*m = (pe_synthetic) {.attributes = 3, .variance = {1, 1, 1}};
	pe_classing_init(&m->classing[0], 4, ones, 299.5);
	pe_classing_init(&m->classing[1], 3, even, 5);
	pe_classing_init(&m->classing[2], 3, even, 5);
	pe_synthetic_fit(m, one);
	/* any table whose margins are these: of three pairs that belong together */
	for (int i = 0; i < 27; i++)
		joint[i] = 1 + i * i % 11;
	for (int round = 0; round < 500; round++)
		for (int a = 0; a < 3; a++)
		{
			double		sums[3] = {0};
			int			step = a == 0 ? 9 : a == 1 ? 3 : 1;

			for (int i = 0; i < 27; i++)
				sums[i / step % 3] += joint[i];
			for (int i = 0; i < 27; i++)
				joint[i] *= m->margin[a][i / step % 3] / sums[i / step % 3];
		}
	sum_pair(joint, 0, 1, pair[0]);
	sum_pair(joint, 1, 2, pair[1]);
	sum_pair(joint, 0, 2, pair[2]);
	pe_synthetic_join(m, given);
	for (int i = 0; i < 27; i++)
		sum += m->joint[i];
	assert_near(sum, 1000, 1e-3);
}

static void
test_join(void **state)
{
	static const int ends[][2] = {{0, 1}, {1, 2}, {0, 2}};
	double		pair[3][9];
	double		sums[9];
	pe_synthetic m;

	(void) state;
	for (int pairs = 1; pairs <= 3; pairs++)
	{
		make_joint(&m, pair, pairs);
		assert_int_equal(pe_synthetic_joint_cells(&m), 27);
		for (int e = 0; e < pairs; e++)
		{
			sum_pair(m.joint, ends[e][0], ends[e][1], sums);
			for (int i = 0; i < 9; i++)
				assert_near(sums[i], pair[e][i], .05);
			assert_true((m.tied[ends[e][0]] >> ends[e][1] & 1) != 0);
		}
		/* of largest entropy: of a tree, each attribute depends on its neighbour alone */
		for (int i = 0; i < 27 && pairs == 2; i++)
			assert_near(m.joint[i], pair[0][i / 3] * pair[1][i % 9] / m.margin[1][i / 3 % 3], .05);
		pe_synthetic_free(&m);
	}
	/* a pair that is said to have nothing in common */
	make_joint(&m, pair, 3);
	pe_synthetic_part_pair(&m, 0, 2, pair[2]);
	for (int i = 0; i < 9; i++)
		assert_near(pair[2][i], m.margin[0][i / 3] * m.margin[2][i % 3] / 1000, 1e-9);
	pe_synthetic_free(&m);
}

static void
test_join_nothing(void **state)
{
	double		none[] = {0, 0};
	double	   *table[] = {none, none};
	double	   *pair[4] = {NULL, none};
	pe_synthetic m;

	(void) state;
	make_model(&m, 2, (const int[]) {2, 2}, table);
	pe_synthetic_join(&m, pair);
	assert_null(m.joint);
	m.classing[0].classes = PE_JOINT_CELLS / 2;
	assert_int_equal(pe_synthetic_joint_cells(&m), PE_JOINT_CELLS);
	m.classing[0].classes++;
	assert_int_equal(pe_synthetic_joint_cells(&m), 0);
	m.classing[0].classes = 2;
	pe_synthetic_free(&m);
}

/* Tables of one attribute are exact up to rounding, the first pair too; others have the rounding of a few cells. */
static void
test_draw_joint(void **state)
{
	static int32_t cell[3][ROWS];
	static int32_t again[3][ROWS];
	double		pair[3][9];
	pe_synthetic m;

	(void) state;
	make_joint(&m, pair, 3);
	for (int rows = 0; rows <= ROWS; rows = 3 * rows + 1)
	{
		double		seen[3][9] = {{0}};
		static const int ends[][2] = {{0, 1}, {1, 2}, {0, 2}};

		draw(&m, rows, rows, cell);
		draw(&m, rows, rows, again);
		for (int a = 0; a < 3; a++)
		{
			double		count[4] = {0};

			assert_memory_equal(cell[a], again[a], rows * sizeof(int32_t));
			for (int i = 0; i < rows; i++)
				count[cell[a][i]]++;
			for (int i = 0; i < m.classing[a].cells; i++)
				assert_true(fabs(count[i] - rows / m.total * m.one[a][i]) < 1 + 1e-9);
		}
		for (int e = 0; e < 3; e++)
		{
			for (int i = 0; i < rows; i++)
				seen[e][m.classing[ends[e][0]].class_of[cell[ends[e][0]][i]] * 3 +
						m.classing[ends[e][1]].class_of[cell[ends[e][1]][i]]]++;
			for (int i = 0; i < 9; i++)
				assert_near(seen[e][i], rows / m.total * pair[e][i], 9);
		}
	}
	assert_true(pe_synthetic_draw_memory(&m, ROWS) > ROWS * (2 * sizeof(int32_t) + sizeof(int64_t)));
	pe_synthetic_free(&m);
}

/* ----------
 * Units
 * ----------
 */

static void
test_units(void **state)
{
	static const double units[] = {3, 0, 1};
	int64_t		unit[ROWS];

	(void) state;
	for (int rows = 0; rows <= ROWS; rows = 3 * rows + 1)
	{
		pe_stream	stream = stream_of(rows);
		int			sizes[ROWS + 2] = {0};
		int			of_size[4] = {0};

		pe_synthetic_units(&stream, rows, 3, units, unit);
		for (int i = 0; i < rows; i++)
		{
			/* one after the other, from 1 */
			assert_true(unit[i] == (i == 0 ? 1 : unit[i - 1]) || unit[i] == unit[i - 1] + 1);
			sizes[unit[i]]++;
		}
		for (int i = 1; i <= rows; i++)
		{
			assert_true(sizes[i] <= 3);
			of_size[sizes[i]]++;
		}
		/* three units of one row to one of three: half of the rows each */
		assert_near(of_size[1], rows / 2., 3);
		assert_near(of_size[3], rows / 6., 2);
		assert_true(of_size[2] <= 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classing), cmocka_unit_test(test_fit),
		cmocka_unit_test(test_impossible), cmocka_unit_test(test_fit_pair),
		cmocka_unit_test(test_tree), cmocka_unit_test(test_information), cmocka_unit_test(test_stream),
		cmocka_unit_test(test_round_table), cmocka_unit_test(test_round_pair), cmocka_unit_test(test_round_pair_mean),
		cmocka_unit_test(test_round_impossible), cmocka_unit_test(test_draw), cmocka_unit_test(test_small),
		cmocka_unit_test(test_join), cmocka_unit_test(test_join_nothing), cmocka_unit_test(test_draw_joint),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

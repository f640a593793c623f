/*
 * test_blocks.c
 *	  Lists of blocks: answers and tables against matrices written out, what is drawn against all
 *	  neighbours, bytes.
 *
 * Sums over blocks of |A_b d|^2 / sensitivity_b are computed in integers, multiples of 2^-60, so
 * that a bound is exceeded by what it is exceeded by and not by rounding.  Includes
 * blocks_neighbours.c to reach the bounds that only large lists need.  Random cases come from a
 * fixed seed; with PG_EPSILON_QUICK set there are fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "blocks/blocks_neighbours.c"
#include "block_questions.h"
#include "block_tables.h"
#include "shim.h"

#define cases(count) fewer(count, 20)

static const pe_blocks_kind kinds[] = {PE_BLOCKS_MARGINALS, PE_BLOCKS_SYMMETRIC, PE_BLOCKS_KRONECKER, PE_BLOCKS_PRODUCT};

/* ---- answers ---- */

/* A random table without rows in cells that are ruled out. */
static int64_t *
random_counts(const pe_blocks *blocks, int64_t most)
{
	int64_t    *x = pe_alloc((size_t) cells_of_all(blocks), sizeof(*x));

	for (int cell = 0; cell < cells_of_all(blocks); cell++)
		x[cell] = cell_is_ruled_out(blocks, cell) ? 0 : (int64_t) (random_word() % (uint64_t) most);
	return x;
}

static void
check_answers(const pe_blocks *blocks, int64_t most)
{
	int			cells = cells_of_all(blocks);
	int64_t    *a = blocks_matrix(blocks);
	int64_t    *x = random_counts(blocks, most);
	pe_i128    *y = pe_alloc((size_t) blocks->first[blocks->blocks], sizeof(*y));
	pe_tables	tables;
	int64_t    *counts;

	assert_true(pe_blocks_tables(blocks, &tables));
	counts = counts_of_tables(blocks, &tables, x);
	pe_blocks_apply(blocks, &tables, counts, y);
	for (int64_t row = 0; row < blocks->first[blocks->blocks]; row++)
	{
		pe_i128		sum = 0;

		for (int cell = 0; cell < cells; cell++)
			sum += (pe_i128) a[row * cells + cell] * x[cell];
		assert_true(sum == y[row]);
	}
	pe_free(counts);
	pe_tables_free(&tables);
	pe_free(y);
	pe_free(x);
	pe_free(a);
}

static void
test_answers(void **state)
{
	(void) state;
	pe_test_seed(1);
	for (int i = 0; i < cases(1000); i++)
	{
		pe_blocks	blocks;

		random_blocks(&blocks, kinds[i % 4], i % 2 == 0 ? PE_L2 : PE_L1, 64, true);
		check_answers(&blocks, i % 3 == 0 ? INT64_MAX / 64 : 1000);
		pe_blocks_free(&blocks);
	}
}

/* Entries as large as they may be, and all the rows there can be in one cell: T b overflows on the way to T B x. */
static void
test_large_answers(void **state)
{
	const int32_t two[] = {2, 2};
	const int32_t most = 1 << 20;
	const int64_t x[4] = {0, INT64_MAX, 0, 0};
	pe_blocks	blocks;
	pe_tables	tables;
	pe_i128		y[4];

	(void) state;
	begin_blocks(&blocks, PE_BLOCKS_KRONECKER, PE_L2, 2, two);
	for (int a = 0; a < 2; a++)
	{
		pe_strategy *s = &add_axis(&blocks, a, 1, 1)->matrix[0].strategy;

		plain_strategy(s, 2);
		s->basis = random_entries(4, 0);
		s->triangle = random_entries(3, 0);
		/* (m, 0 - m; 0, 1) (m, m; m, m) = (0, 0; m, m) */
		s->triangle[0] = most;
		s->triangle[1] = -most;
		s->triangle[2] = 1;
		for (int i = 0; i < 4; i++)
			s->basis[i] = most;
	}
	make_sets(&blocks, 2);
	memcpy(blocks.choice, (int8_t[]) {0, 0}, 2);
	blocks.blocks = 1;
	assert_true(pe_blocks_prepare(&blocks) && pe_blocks_tables(&blocks, &tables));
	assert_true(pe_blocks_largest(&blocks, 0) == (pe_u128) 1 << 80);
	pe_blocks_apply(&blocks, &tables, x, y);
	assert_true(y[0] == 0 && y[1] == 0 && y[2] == 0 && y[3] == (pe_i128) INT64_MAX << 40);
	pe_tables_free(&tables);
	pe_blocks_free(&blocks);
}

/* What is not asked for counts in blocks that sum over it, alone; memory is what is told. */
static void
test_memory(void **state)
{
	pe_blocks	blocks;
	pe_tables	tables;
	int64_t    *counts;
	pe_i128    *y;
	size_t		taken;
	const int32_t cells[] = {30, 20, 10};

	(void) state;
	begin_blocks(&blocks, PE_BLOCKS_MARGINALS, PE_L2, 3, cells);
	for (int a = 0; a < 3; a++)
		add_centred_axis(&blocks, a, 1);
	make_sets(&blocks, 3);
	assert_true(pe_blocks_prepare(&blocks) && pe_blocks_tables(&blocks, &tables));
	assert_int_equal(tables.tables, 1);
	counts = pe_alloc((size_t) tables.first[1], sizeof(*counts));
	y = pe_alloc((size_t) blocks.first[blocks.blocks], sizeof(*y));
	(void) pe_test_memory();
	pe_blocks_apply(&blocks, &tables, counts, y);
	taken = pe_test_memory();
	assert_true(taken <= pe_blocks_apply_memory(&blocks) && taken >= pe_blocks_apply_memory(&blocks) / 2);
	pe_free(y);
	pe_free(counts);
	pe_tables_free(&tables);
	pe_blocks_free(&blocks);
}

/* ---- tables ---- */

static void
check_tables(const pe_blocks *blocks)
{
	pe_tables	tables;

	assert_true(pe_blocks_tables(blocks, &tables));
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		bool		held = false;

		for (int32_t t = 0; t < tables.tables; t++)
			held = held || (pe_blocks_set(blocks, b) & ~tables.set[t]) == 0;
		assert_true(held);
	}
	for (int32_t t = 0; t < tables.tables; t++)
	{
		bool		needed = false;

		for (int32_t other = 0; other < tables.tables; other++)
			assert_true(other == t || (tables.set[t] & ~tables.set[other]) != 0);
		for (int32_t b = 0; b < blocks->blocks; b++)
			needed = needed || pe_blocks_set(blocks, b) == tables.set[t];
		assert_true(needed);
	}
	pe_tables_free(&tables);
}

static void
test_tables(void **state)
{
	const int32_t cells[] = {2, 3, 2, 2, 3, 2, 2};
	pe_blocks	blocks;

	(void) state;
	pe_test_seed(2);
	for (int i = 0; i < cases(200); i++)
	{
		begin_blocks(&blocks, PE_BLOCKS_MARGINALS, PE_L2, 7, cells);
		add_centred_axis(&blocks, 0, 2);
		for (int a = 2; a < 7; a++)
			add_centred_axis(&blocks, a, 1);
		make_blocks(&blocks, between(1, 20));
		for (int32_t c = 0; c < blocks.blocks * blocks.axes; c++)
			blocks.choice[c] = (int8_t) between(-1, 0);
		check_tables(&blocks);
		pe_blocks_free(&blocks);
	}
}

/* A table beyond what there may be: nothing is left to free. */
static void
test_tables_too_large(void **state)
{
	const int32_t cells[] = {50000, 50000};
	pe_blocks	blocks;
	pe_tables	tables;

	(void) state;
	begin_blocks(&blocks, PE_BLOCKS_MARGINALS, PE_L2, 2, cells);
	add_centred_axis(&blocks, 0, 1);
	add_centred_axis(&blocks, 1, 1);
	make_sets(&blocks, 2);
	assert_false(pe_blocks_tables(&blocks, &tables));
	assert_null(tables.set);
	assert_false(pe_blocks_prepare(&blocks));
	assert_null(blocks.first);
	blocks.blocks = 3;
	assert_true(pe_blocks_prepare(&blocks));
	pe_blocks_free(&blocks);
}

/* ---- what is drawn ---- */

/* Multisets of at most `most` cells: counts, cells of each. */
typedef struct units
{
	int			most;
	int			count;
	int		   *cell;			/* most of each, -1 behind its rows */
} units;

static void
add_units(units *u, int cells, int first, int rows, int *chosen)
{
	for (int i = 0; i < u->most; i++)
		u->cell[u->count * u->most + i] = i < rows ? chosen[i] : -1;
	u->count++;
	for (int c = first; c < cells && rows < u->most; c++)
	{
		chosen[rows] = c;
		add_units(u, cells, c, rows + 1, chosen);
	}
}

/*
 * The empty unit and those of `most` rows in one cell: norms are convex, and every other unit is a mean of these, so
 * that no two units are further apart than two of them.
 */
static units
units_of_one_cell(int cells, int most)
{
	units		u = {most, cells + 1, pe_alloc((size_t) ((cells + 1) * most), sizeof(int))};

	for (int i = 0; i < most; i++)
		for (int unit = 0; unit <= cells; unit++)
			u.cell[unit * most + i] = unit - 1;
	return u;
}

static units
all_units(int cells, int most)
{
	units		u = {most, 0, NULL};
	int			count = 1;
	int			chosen[3];

	for (int i = 1; i <= most; i++)
		count = count * (cells + i) / i;
	u.cell = pe_alloc((size_t) (count * most), sizeof(int));
	add_units(&u, cells, 0, 0, chosen);
	assert_int_equal(u.count, count);
	return u;
}

typedef struct drawn
{
	const pe_blocks *blocks;
	int			cells;
	int64_t    *a;
	pe_u128    *sensitivity;
	int		   *lattice;
	int64_t    *gram;			/* PE_L2: sum_b 4^lattice A_b'A_b / sensitivity, 2^-60, rounded down */
} drawn;

/* What the answers differ by, d = x - x', in parts of what the noise allows, 2^-60. */
static pe_i128
distance(const drawn *w, const int *x, const int *other, int most)
{
	pe_i128		sum = 0;

	if (w->blocks->norm == PE_L2)
	{
		for (int i = 0; i < 2 * most; i++)
			for (int j = 0; j < 2 * most; j++)
			{
				int			first = i < most ? x[i] : other[i - most];
				int			second = j < most ? x[j] : other[j - most];

				if (first >= 0 && second >= 0)
					sum += ((i < most) == (j < most) ? 1 : -1) * (pe_i128) w->gram[first * w->cells + second];
			}
		return sum;
	}
	for (int32_t b = 0; b < w->blocks->blocks; b++)
	{
		pe_i128		norm = 0;

		for (int64_t row = w->blocks->first[b]; row < w->blocks->first[b + 1]; row++)
		{
			int64_t		difference = 0;

			for (int i = 0; i < most; i++)
				difference += (x[i] >= 0 ? w->a[row * w->cells + x[i]] : 0) - (other[i] >= 0 ? w->a[row * w->cells + other[i]] : 0);
			norm += difference < 0 ? -difference : difference;
		}
		sum += (pe_i128) (((pe_u128) norm << (w->lattice[b] + 60)) / w->sensitivity[b]);
	}
	return sum;
}

static void
fill_gram(drawn *w)
{
	size_t		cells = (size_t) w->cells;

	w->gram = pe_alloc(cells * cells, sizeof(*w->gram));
	for (size_t i = 0; i < cells * cells; i++)
		for (int32_t b = 0; b < w->blocks->blocks; b++)
		{
			pe_i128		product = 0;

			for (int64_t row = w->blocks->first[b]; row < w->blocks->first[b + 1]; row++)
				product += (pe_i128) w->a[(size_t) row * cells + i / cells] * w->a[(size_t) row * cells + i % cells];
			w->gram[i] += (int64_t) ((product * ((pe_i128) 1 << (2 * w->lattice[b])) * (INT64_C(1) << 60)) / (pe_i128) w->sensitivity[b]);
		}
}

/* The largest distance of all neighbours; of those that no others are further apart than, if all are too many. */
static pe_i128
worst_of(const drawn *w, pe_neighbours neighbours, int most, bool all)
{
	units		u = all ? all_units(w->cells, most) : units_of_one_cell(w->cells, most);
	pe_i128		worst = 0;

	for (int i = 0; i < u.count; i++)
		for (int j = 0; j < (neighbours == PE_SUBSTITUTE ? i : 1); j++)
		{
			pe_i128		apart = distance(w, u.cell + i * most, u.cell + j * most, most);

			worst = apart > worst ? apart : worst;
		}
	pe_free(u.cell);
	return worst;
}

/* In parts of what is allowed: 1 at most, but for the rounding of the test. */
static double
check_neighbours(const pe_blocks *blocks, pe_neighbours neighbours, int max_rows, bool all)
{
	drawn		w = {.blocks = blocks, .cells = cells_of_all(blocks), .a = blocks_matrix(blocks)};
	double		worst;

	w.sensitivity = pe_alloc((size_t) blocks->blocks, sizeof(*w.sensitivity));
	w.lattice = pe_alloc((size_t) blocks->blocks, sizeof(*w.lattice));
	assert_true(pe_blocks_calibrate(blocks, neighbours, max_rows, w.sensitivity, w.lattice));
	if (blocks->norm == PE_L2)
		fill_gram(&w);
	worst = (double) worst_of(&w, neighbours, max_rows, all) * 0x1p-60;
	if (!(worst <= 1 + 0x1p-48))
		fail_msg("kind %d, norm %d, neighbours %d, %d rows: %.12g", blocks->kind, blocks->norm, neighbours, max_rows, worst);
	pe_free(w.gram);
	pe_free(w.lattice);
	pe_free(w.sensitivity);
	pe_free(w.a);
	return worst;
}

#define MOST_ROWS 3

/* So many rows that all neighbours can be looked at. */
static int
most_rows(const pe_blocks *blocks, pe_neighbours neighbours)
{
	int			cells = cells_of_all(blocks);

	if (blocks->norm == PE_L1)
		return cells <= 6 ? 3 : cells <= 12 ? 2 : 1;
	if (neighbours == PE_ADD_REMOVE)
		return 3;
	return cells <= 8 ? 3 : cells <= 16 ? 2 : 1;
}

/* Whether the shares of a list are exact: what one row adds reaches what is allowed. */
static bool
is_tight(const pe_blocks *blocks, pe_neighbours neighbours)
{
	int			uneven = 0;
	bool		all_there = true;

	for (int a = 0; a < blocks->axes; a++)
	{
		bool		even = true;

		for (int m = 0; m < blocks->axis[a].matrices; m++)
			even = even && blocks->axis[a].matrix[m].even;
		uneven += !even;
		for (int i = 0; i < blocks->axis[a].attributes; i++)
			all_there = all_there && blocks->columns[blocks->axis[a].attribute[i]] == blocks->cells[blocks->axis[a].attribute[i]];
	}
	if (neighbours == PE_SUBSTITUTE)
		return all_there && blocks->norm == PE_L2 && (blocks->kind == PE_BLOCKS_MARGINALS || (blocks->kind == PE_BLOCKS_SYMMETRIC));
	return uneven <= 1;
}

static void
check_drawn(const pe_blocks *blocks)
{
	for (pe_neighbours neighbours = PE_ADD_REMOVE; neighbours <= PE_SUBSTITUTE; neighbours++)
		for (int rows = 1; rows <= MOST_ROWS; rows++)
		{
			double		worst = check_neighbours(blocks, neighbours, rows, rows <= most_rows(blocks, neighbours));

			if (is_tight(blocks, neighbours) && worst < 1 - 1e-9)
				fail_msg("kind %d, neighbours %d, %d rows: only %.12g", blocks->kind, neighbours, rows, worst);
		}
}

/* Larger shares: refused, or what they stand for holds all the same. */
static void
check_larger_shares(pe_blocks *blocks)
{
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		uint64_t	before = blocks->share[b];

		blocks->share[b] += before / 1000;
		if (pe_blocks_shares_hold(blocks))
			check_neighbours(blocks, PE_ADD_REMOVE, 1, true);
		assert_true(blocks->kind != PE_BLOCKS_MARGINALS || !pe_blocks_shares_hold(blocks));
		blocks->share[b] = before;
	}
	for (int32_t b = 0; b < blocks->blocks; b++)
		blocks->share[b] += blocks->share[b] / 1000;
	assert_false(pe_blocks_shares_hold(blocks));
}

/* Each kind in both norms, of few cells and of many. */
static void
test_neighbours(void **state)
{
	(void) state;
	pe_test_seed(3);
	for (int i = 0; i < cases(1200); i++)
	{
		pe_blocks	blocks;

		random_blocks(&blocks, kinds[i % 4], i / 4 % 4 < 3 ? PE_L2 : PE_L1, i / 16 % 4 == 0 ? 64 : 16, i % 3 == 0);
		check_drawn(&blocks);
		check_larger_shares(&blocks);
		pe_blocks_free(&blocks);
	}
}

/* What is taken where pairs, or corners, are too many is never less than what they give, and at most 4. */
static void
check_bounds(const pe_blocks *blocks)
{
	int64_t		apart = (int64_t) pe_blocks_neighbours(blocks, PE_SUBSTITUTE);
	interval   *t = pe_alloc(1 + INT8_MAX, sizeof(*t));
	corners		c;

	assert_true(choose_axes(blocks, &c));
	fill_corners(&c);
	/* pairs are rounded by a few units */
	assert_true(apart_by_intervals(&c, t) + 4 * SLACK >= apart || apart == WHOLE);
	assert_true(apart_by_blocks(blocks) + 4 * SLACK >= apart || apart == WHOLE);
	pe_free(c.f);
	pe_free(t);
}

static void
test_bounds(void **state)
{
	(void) state;
	pe_test_seed(6);
	for (int i = 0; i < cases(800); i++)
	{
		pe_blocks	blocks;

		random_blocks(&blocks, kinds[i % 4], PE_L2, 64, i % 3 == 0);
		check_bounds(&blocks);
		pe_blocks_free(&blocks);
	}
}

/* A constant row over cells of which one is not asked for, as one part of two: its column is apart from the others by 0. */
static void
check_not_asked(bool several)
{
	const int32_t cells[] = {2, 3, 2};
	pe_blocks	blocks;
	double		apart;

	begin_blocks(&blocks, PE_BLOCKS_PRODUCT, PE_L2, 3, cells);
	blocks.column_of[1][2] = PE_NOT_ASKED;
	blocks.columns[1] = 2;
	for (int a = several ? 0 : 1; a < 2; a++)
	{
		pe_strategy *s = &add_axis(&blocks, a, 1, 1)->matrix[0].strategy;

		plain_strategy(s, 2);
		s->rows = s->inner = 1;
		s->basis = random_entries(2, 0);
		s->triangle = random_entries(1, 0);
		s->basis[0] = s->basis[1] = s->triangle[0] = 1;
	}
	add_centred_axis(&blocks, 2, 1);
	make_blocks(&blocks, 2);
	/* all blocks take the first of two such axes; the second, or else the first, is in one block, n I - 11' in the other */
	memcpy(blocks.choice, several ? (int8_t[]) {0, 0, -1, 0, -1, 0} : (int8_t[]) {0, -1, -1, 0}, several ? 6 : 4);
	assert_true(pe_blocks_prepare(&blocks));
	apart = (double) pe_blocks_neighbours(&blocks, PE_SUBSTITUTE) * 0x1p-40;
	assert_true(apart >= 2.5 && apart <= (several ? 3 : 2.5) + 1e-9);
	check_neighbours(&blocks, PE_SUBSTITUTE, 1, true);
	pe_blocks_free(&blocks);
}

static void
test_not_asked(void **state)
{
	(void) state;
	check_not_asked(false);
	check_not_asked(true);
}

/* Products of columns are exact up to where they might not be. */
static void
test_products(void **state)
{
	int32_t		triangle[] = {INT32_MAX, INT32_MAX, 0};
	pe_strategy s = {.columns = 2, .rows = 2, .inner = 2, .triangle = triangle};
	int64_t		product[4];

	(void) state;
	assert_true(pe_strategy_products(&s, product));
	assert_true(product[1] == (int64_t) INT32_MAX * INT32_MAX && product[2] == product[1]);
	triangle[2] = INT32_MAX;
	assert_false(pe_strategy_products(&s, product));
}

/* All sets of at most k of d attributes of n cells, with the optimal shares of the k-way tables. */
static void
marginals(pe_blocks *blocks, int d, int32_t n, int k)
{
	int32_t		cells[PE_MAX_ATTRIBUTES];
	double		root[PE_MAX_ATTRIBUTES];
	double		total = 0;

	for (int a = 0; a < d; a++)
		cells[a] = n;
	begin_blocks(blocks, PE_BLOCKS_MARGINALS, PE_L2, d, cells);
	for (int a = 0; a < d; a++)
		add_centred_axis(blocks, a, 1);
	make_sets(blocks, k);
	for (int r = 0; r <= k; r++)
	{
		double		tables = 1;		/* of k attributes that hold r given ones */

		for (int i = 0; i < k - r; i++)
			tables *= (double) (d - r - i) / (i + 1);
		root[r] = sqrt(tables * pow(n, k - 2 * (k - r))) * pow((n - 1.0) / n, r);
	}
	for (int32_t b = 0; b < blocks->blocks; b++)
		total += root[__builtin_popcount(pe_blocks_set(blocks, b))];
	for (int32_t b = 0; b < blocks->blocks; b++)
		blocks->share[b] = (uint64_t) (root[__builtin_popcount(pe_blocks_set(blocks, b))] / total * 0x1p40);
	assert_true(pe_blocks_prepare(blocks) && pe_blocks_shares_hold(blocks));
}

/* The least of all patterns, against figures of another program (by the number of attributes that agree). */
static void
test_patterns(void **state)
{
	static const struct
	{
		int			attributes;
		int			cells;
		int			k;
		double		apart;
	}			known[] = {
		{6, 10, 2, 2.0331179497}, {10, 2, 2, 2.0560970859}, {10, 2, 3, 2.2624884287}, {12, 10, 2, 2.0148833450}
	};

	(void) state;
	for (int i = 0; i < lengthof(known); i++)
	{
		pe_blocks	blocks;

		marginals(&blocks, known[i].attributes, known[i].cells, known[i].k);
		assert_true(close_to((double) pe_blocks_neighbours(&blocks, PE_SUBSTITUTE), known[i].apart * 0x1p40, 1e-9));
		pe_blocks_free(&blocks);
	}
}

/* More axes than there are corners of: a bound for each block. */
static void
test_many_axes(void **state)
{
	pe_blocks	blocks;
	double		apart;

	(void) state;
	marginals(&blocks, 21, 4, 2);
	apart = (double) pe_blocks_neighbours(&blocks, PE_SUBSTITUTE) * 0x1p-40;
	assert_true(apart > 2 && apart < 2 * (1 + 1.0 / 3));
	pe_blocks_free(&blocks);
}

/* One block of one axis of two cells with T = (a, b; 0, c). */
static void
one_triangle(pe_blocks *blocks, pe_norm norm, int32_t a, int32_t b, int32_t c)
{
	const int32_t two[] = {2};
	pe_strategy *s;

	begin_blocks(blocks, PE_BLOCKS_KRONECKER, norm, 1, two);
	s = &add_axis(blocks, 0, 1, 1)->matrix[0].strategy;
	plain_strategy(s, 2);
	s->triangle = pe_alloc(3, sizeof(int32_t));
	memcpy(s->triangle, (int32_t[]) {a, b, c}, 3 * sizeof(int32_t));
	make_blocks(blocks, 1);
	blocks->choice[0] = 0;
}

static void
check_drawn_as(pe_norm norm, int32_t entry, uint64_t share, int32_t max_rows, pe_u128 expected, int expected_lattice)
{
	pe_blocks	blocks;
	pe_u128		sensitivity;
	int			lattice;
	bool		fits;

	one_triangle(&blocks, norm, entry, 0, entry);
	assert_true(pe_blocks_prepare(&blocks));
	blocks.share[0] = share;
	fits = pe_blocks_calibrate(&blocks, PE_ADD_REMOVE, max_rows, &sensitivity, &lattice);
	assert_int_equal(fits, expected > 0);
	assert_true(!fits || (sensitivity == expected && lattice == expected_lattice));
	pe_blocks_free(&blocks);
}

/* k^2 N D 4^lattice 2^40 / share, rounded up, and PE_L1's. */
static void
test_calibrate(void **state)
{
	const uint64_t whole = UINT64_C(1) << 40;
	const pe_u128 one = 1;

	(void) state;
	check_drawn_as(PE_L2, 1, whole, 1, one << 40, 20);
	check_drawn_as(PE_L1, 1, whole, 1, one << 40, 40);
	check_drawn_as(PE_L2, 1 << 20, whole, 1, one << 40, 0);
	check_drawn_as(PE_L2, (1 << 20) - 1, whole, 1, (((one << 20) - 1) * ((one << 20) - 1)) << 2, 1);
	check_drawn_as(PE_L2, 3, whole, 7, (one * 9 * 49) << 32, 16);
	check_drawn_as(PE_L1, 3, whole, 7, (one * 21) << 36, 36);
	check_drawn_as(PE_L2, 1 << 20, whole / 3, 1, (one << 80) / (whole / 3) + 1, 0);
	check_drawn_as(PE_L2, 1 << 30, whole, (1 << 18) - 1, (((one << 18) - 1) * ((one << 18) - 1)) << 60, 0);
	check_drawn_as(PE_L2, 1 << 30, whole, 1 << 18, 0, 0);
	check_drawn_as(PE_L2, 1 << 30, whole - 1, INT32_MAX, 0, 0);
	check_drawn_as(PE_L2, 1 << 30, 1, 1, 0, 0);
	check_drawn_as(PE_L1, 1 << 30, 1, INT32_MAX, 0, 0);
	check_drawn_as(PE_L2, 1, 1, 1, one << 40, 0);
}

/* One block of axes of two cells, with these entries twice on the diagonals. */
static bool
is_prepared(pe_norm norm, int axes, const int32_t *entry)
{
	const int32_t two[] = {2, 2, 2};
	pe_blocks	blocks;
	bool		prepared;

	begin_blocks(&blocks, PE_BLOCKS_KRONECKER, norm, axes, two);
	for (int a = 0; a < axes; a++)
	{
		pe_strategy *s = &add_axis(&blocks, a, 1, 1)->matrix[0].strategy;

		plain_strategy(s, 2);
		s->triangle = random_entries(3, 0);
		s->triangle[0] = s->triangle[2] = entry[a];
	}
	make_blocks(&blocks, 1);
	memset(blocks.choice, 0, (size_t) axes);
	prepared = pe_blocks_prepare(&blocks);
	assert_true(prepared == (blocks.first != NULL));
	pe_blocks_free(&blocks);
	return prepared;
}

/* What cannot be drawn, or whose matrices do not fit, is not prepared. */
static void
test_refused(void **state)
{
	pe_blocks	blocks;

	(void) state;
	assert_false(is_prepared(PE_L2, 2, (int32_t[]) {1 << 24, 1 << 24}));	/* 2^96 */
	assert_true(is_prepared(PE_L2, 2, (int32_t[]) {1 << 24, (1 << 24) - 1}));
	assert_false(is_prepared(PE_L2, 3, (int32_t[]) {1 << 30, 1 << 30, 1 << 30}));
	assert_false(is_prepared(PE_L1, 3, (int32_t[]) {1 << 21, 1 << 21, 1 << 20}));	/* 2^62 */
	assert_true(is_prepared(PE_L1, 3, (int32_t[]) {1 << 21, 1 << 21, (1 << 20) - 1}));
	one_triangle(&blocks, PE_L2, 0, 0, 0);
	assert_false(pe_blocks_prepare(&blocks));
	pe_blocks_free(&blocks);
	one_triangle(&blocks, PE_L2, 1, 0, 1);
	blocks.axis[0].matrix[0].strategy.columns = 1;
	assert_false(pe_blocks_prepare(&blocks));
	blocks.axis[0].matrix[0].strategy.columns = 2;
	blocks.choice[0] = 1;
	assert_false(pe_blocks_prepare(&blocks));
	pe_blocks_free(&blocks);
}

/* ---- bytes ---- */

static char *
written(const pe_blocks *blocks, size_t *size)
{
	char	   *bytes;

	*size = pe_blocks_size(blocks);
	bytes = pe_alloc(*size + 1, 1);
	pe_blocks_write(blocks, bytes);
	return bytes;
}

/* Reads a copy of just this size, so that a sanitizer sees what is read beyond; what is not refused is written the same. */
static bool
reads(const char *bytes, size_t size)
{
	char	   *copy = malloc(size > 0 ? size : 1);
	pe_blocks  *blocks;
	char	   *again;
	size_t		size_again;

	memcpy(copy, bytes, size);
	blocks = pe_blocks_read(copy, size);
	free(copy);
	if (blocks == NULL)
		return false;
	assert_true(pe_blocks_shares_hold(blocks));
	again = written(blocks, &size_again);
	assert_true(size_again == size && memcmp(bytes, again, size) == 0);
	pe_free(again);
	ask_blocks(blocks);
	pe_blocks_free(blocks);
	pe_free(blocks);
	return true;
}

static void
check_same(const pe_blocks *blocks, const pe_blocks *again)
{
	int64_t    *a = blocks_matrix(blocks);
	int64_t    *b = blocks_matrix(again);

	assert_true(again->kind == blocks->kind && again->norm == blocks->norm && again->axes == blocks->axes);
	assert_int_equal(again->first[again->blocks], blocks->first[blocks->blocks]);
	assert_memory_equal(a, b, (size_t) (blocks->first[blocks->blocks] * cells_of_all(blocks)) * sizeof(*a));
	assert_memory_equal(again->share, blocks->share, (size_t) blocks->blocks * sizeof(*blocks->share));
	for (int x = 0; x < blocks->axes; x++)
	{
		assert_int_equal(blocks->axis[x].centre == NULL, again->axis[x].centre == NULL);
		assert_int_equal(blocks->axis[x].denominator, again->axis[x].denominator);
		if (blocks->axis[x].centre != NULL)
			assert_memory_equal(blocks->axis[x].centre, again->axis[x].centre, (size_t) blocks->axis[x].cells * sizeof(int32_t));
	}
	pe_free(a);
	pe_free(b);
}

static void
check_bytes(const pe_blocks *blocks)
{
	size_t		size;
	char	   *bytes = written(blocks, &size);
	pe_blocks  *again = pe_blocks_read(bytes, size);

	assert_non_null(again);
	check_same(blocks, again);
	pe_blocks_free(again);
	pe_free(again);
	assert_false(reads(bytes, size + 1));
	for (size_t shorter = 0; shorter < size; shorter += 1 + size / 50)
		assert_false(reads(bytes, shorter));
	for (int flips = 0; flips < 100; flips++)
	{
		size_t		at = (size_t) between(0, (int) size - 1);
		char		before = bytes[at];

		bytes[at] = (char) (flips % 2 == 0 ? between(-128, 127) : before + between(-1, 1));
		(void) reads(bytes, size);
		bytes[at] = before;
	}
	pe_free(bytes);
}

/* How many of the first blocks take these axes with a centre. */
static int
taking(const pe_blocks *blocks, int32_t first, uint32_t set)
{
	int			taking = 0;

	for (int32_t b = 0; b < first; b++)
		taking += pe_blocks_centred_axes(blocks, b) == set;
	return taking;
}

/* Keeps of blocks that take the same axes with a centre the first, and of marginals those of which all margins are kept. */
static void
drop_unsound(pe_blocks *blocks)
{
	int32_t		kept = 0;

	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		uint32_t	set = pe_blocks_centred_axes(blocks, b);
		bool		sound = taking(blocks, kept, set) == 0;

		for (uint32_t left = blocks->kind == PE_BLOCKS_MARGINALS ? set : 0; left != 0; left &= left - 1)
			sound = sound && taking(blocks, kept, set & ~(left & -left)) == 1;
		memmove(blocks->choice + kept * blocks->axes, blocks->choice + b * blocks->axes, (size_t) blocks->axes);
		blocks->share[kept] = blocks->share[b];
		kept += sound;
	}
	blocks->blocks = kept;
	pe_free(blocks->first);
	assert_true(pe_blocks_prepare(blocks));
}

static void
test_bytes(void **state)
{
	(void) state;
	pe_test_seed(4);
	for (int i = 0; i < cases(200); i++)
	{
		pe_blocks	blocks;

		random_blocks(&blocks, kinds[i % 4], i % 8 < 4 ? PE_L2 : PE_L1, 64, true);
		drop_unsound(&blocks);
		if (blocks.blocks > 0)
			check_bytes(&blocks);
		pe_blocks_free(&blocks);
	}
}

/* All tables of three of 20 attributes; and one number, which is in no table of an attribute. */
static void
test_bytes_sizes(void **state)
{
	const int32_t cells[] = {4};
	pe_blocks	blocks;
	size_t		size;
	char	   *bytes;

	(void) state;
	marginals(&blocks, 20, 10, 3);
	assert_int_equal(blocks.blocks, 1351);
	bytes = written(&blocks, &size);
	assert_true(size <= 16000 && reads(bytes, size));
	pe_free(bytes);
	pe_blocks_free(&blocks);
	begin_blocks(&blocks, PE_BLOCKS_MARGINALS, PE_L2, 1, cells);
	blocks.columns[0] = 0;
	pe_free(blocks.column_of[0]);
	blocks.column_of[0] = NULL;
	make_blocks(&blocks, 1);
	assert_true(pe_blocks_prepare(&blocks));
	bytes = written(&blocks, &size);
	assert_true(reads(bytes, size));
	check_answers(&blocks, 1000);
	pe_free(bytes);
	pe_blocks_free(&blocks);
}

/* Two centred axes, one with a matrix T (D I - e 1') and one with none of its own: every part once. */
static void
all_parts(pe_blocks *blocks)
{
	const int32_t cells[] = {3, 3, 2};
	pe_axis    *axis;

	begin_blocks(blocks, PE_BLOCKS_PRODUCT, PE_L2, 3, cells);
	axis = add_axis(blocks, 0, 1, 2);
	for (int m = 0; m < 2; m++)
		plain_strategy(&axis->matrix[m].strategy, 3);
	random_product_axis(add_axis(blocks, 1, 1, 1));
	add_centred_axis(blocks, 2, 1);
	make_blocks(blocks, 3);
	memcpy(blocks->choice, (int8_t[]) {0, -1, -1, 1, 0, -1, 0, -1, 0}, 9);
	assert_true(pe_blocks_prepare(blocks));
}

static bool
is_read(const pe_blocks *blocks)
{
	size_t		size;
	char	   *bytes = written(blocks, &size);
	bool		read = reads(bytes, size);

	pe_free(bytes);
	return read;
}

/* A number that is not sound is refused, and then the list as it was read. */
#define refuses(what, wrong) \
	do { \
		__typeof__(what) before = (what); \
		assert_true(is_read(&blocks)); \
		(what) = (wrong); \
		assert_false(is_read(&blocks)); \
		(what) = before; \
	} while (0)

static void
test_bytes_refused(void **state)
{
	pe_blocks	blocks;

	(void) state;
	pe_test_seed(5);
	all_parts(&blocks);
	refuses(blocks.kind, PE_BLOCKS_MARGINALS);
	refuses(blocks.kind, PE_BLOCKS_SYMMETRIC);
	refuses(blocks.kind, PE_BLOCKS_KRONECKER);
	refuses(blocks.kind, 0);
	refuses(blocks.norm, 2);
	refuses(blocks.share[1], 0);
	refuses(blocks.share[1], blocks.share[1] + 2);
	refuses(blocks.share[1], UINT64_MAX);
	refuses(blocks.choice[3], 2);
	refuses(blocks.choice[3], -1);	/* sums over an axis without a centre */
	refuses(blocks.choice[3], -2);
	refuses(blocks.choice[8], -1);	/* a block twice */
	refuses(blocks.column_of[0][1], 3);
	refuses(blocks.column_of[0][1], -3);
	refuses(blocks.column_of[0][1], 0);	/* a column without a cell */
	refuses(blocks.columns[0], 2);
	refuses(blocks.axis[1].attribute[0], 0);	/* twice, and another one with columns in no axis */
	refuses(blocks.axis[1].attribute[0], 3);
	refuses(blocks.axis[1].denominator, blocks.axis[1].denominator + 1);
	refuses(blocks.axis[1].centre[0], blocks.axis[1].centre[0] + 1);
	refuses(blocks.axis[1].centre[0], INT32_MIN);
	refuses(blocks.axis[1].centre[0], INT32_MAX);
	refuses(blocks.axis[2].centre[1], 2);
	refuses(blocks.axis[1].matrices, 0);
	refuses(blocks.attributes, 0);
	refuses(blocks.axis[1].matrix[0].strategy.basis[0], 1);	/* not 0 at the centre */
	refuses(blocks.axis[0].matrix[0].strategy.objective, 0);
	blocks.share[1] += blocks.share[0] - 1;
	blocks.share[0] = 1;
	assert_true(is_read(&blocks));
	pe_blocks_free(&blocks);
}

/* What estimates rely on: blocks that differ only in a matrix of the core, and a centre of an axis of two attributes. */
static void
test_estimates_refused(void **state)
{
	const int32_t cells[] = {3, 2, 2};
	pe_blocks	blocks;

	(void) state;
	begin_blocks(&blocks, PE_BLOCKS_SYMMETRIC, PE_L2, 2, cells);
	for (int m = 0; m < 2; m++)
		plain_strategy(&(m == 0 ? add_axis(&blocks, 0, 1, 2) : blocks.axis)->matrix[m].strategy, 3);
	add_centred_axis(&blocks, 1, 1);
	make_blocks(&blocks, 2);
	memcpy(blocks.choice, (int8_t[]) {0, -1, 1, 0}, 4);
	assert_true(pe_blocks_prepare(&blocks));
	refuses(blocks.choice[3], -1);
	pe_blocks_free(&blocks);
	for (int attributes = 1; attributes <= 2; attributes++)
	{
		begin_blocks(&blocks, PE_BLOCKS_SYMMETRIC, PE_L2, 3, cells);
		add_centred_axis(&blocks, 0, attributes);
		for (int a = attributes; a < 3; a++)
			add_centred_axis(&blocks, a, 1);
		make_sets(&blocks, 2);
		assert_true(pe_blocks_prepare(&blocks));
		assert_int_equal(is_read(&blocks), attributes == 1);
		pe_blocks_free(&blocks);
	}
	marginals(&blocks, 3, 2, 2);
	blocks.choice[3 * (blocks.blocks - 1)] = 0;
	assert_false(is_read(&blocks));	/* all three attributes, and of two not all */
	blocks.kind = PE_BLOCKS_PRODUCT;
	assert_true(is_read(&blocks));
	pe_blocks_free(&blocks);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_large_answers),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_tables_too_large),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_many_axes),
		cmocka_unit_test(test_calibrate),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_sizes),
		cmocka_unit_test(test_bytes_refused),
		cmocka_unit_test(test_estimates_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

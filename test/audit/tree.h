/*
 * tree.h
 *	  Audits of the tables that synthetic rows are drawn from: the two parts with tables, and the choice of edges.
 *	  Part of audit.c.
 *
 * Tables are of two attributes with two cells, the tree is given, and so all that is released are numbers with noise.
 *
 * Edges are those of a tree of three attributes, of which one has to be left out.  A row raises the scores of two pairs
 * and lowers that of the third as much as it can.  The vector has a 1 for each pair that was chosen.
 */
#ifndef PE_AUDIT_TREE_H
#define PE_AUDIT_TREE_H

#include "counts/measured_tree.h"
#include "allowance.h"

#define TREE_DRAWS 250000
#define EDGES_DRAWS 1000000

/* ----------
 * Tables
 * ----------
 */
#define TREE_CELLS 4
#define TREE_ONES 4

/* So many rows that are not the unit's are in each cell that none drowns. */
#define TREE_BASE 100000

/* Of the table of both, the numbers of the first, of the second, and of both. */
static void
prepare_tree(subject *s)
{
	s->a.cells = TREE_CELLS;
	s->a.rows = TREE_ONES + TREE_CELLS;
	for (int cell = 0; cell < TREE_CELLS; cell++)
	{
		s->a.entry[cell / 2][cell] = 1;
		s->a.entry[2 + cell % 2][cell] = 1;
		s->a.entry[TREE_ONES + cell][cell] = 1;
	}
	for (int i = 0; i < s->a.rows; i++)
		s->a.weight[i] = s->of.mechanism->l1 ? 0 : i < TREE_ONES ? 1 : 2;
}

static void
measure_tree(const subject *s, const contribution *c, pe_i128 *y)
{
	for (int i = 0; i < s->a.rows; i++)
	{
		y[i] = 0;
		for (int cell = 0; cell < TREE_CELLS; cell++)
			y[i] += (pe_i128) (TREE_BASE + c->count[cell]) * s->a.entry[i][cell];
	}
}

/* max_rows and nano: what is told, for faults. */
static void
release_tree_as(const subject *s, int max_rows, int64_t nano, pe_i128 *exact, size_t count, int64_t *released)
{
	const bool	pure = s->of.mechanism->accounting == PE_PURE;
	const size_t rows = (size_t) s->a.rows;
	pe_tree_problem problem = {
		.attributes = 2, .cells = {2, 2}, .given = true, .edge = {{0, 1}}, .share = {1, 0, 1},
		.neighbours = s->of.neighbours, .max_rows = max_rows, .accounting = pure ? PE_PURE : PE_ZCDP, .nano = nano,
		.allowance = plenty(pure)
	};
	pe_tables	tables;

	if (!pe_tree_tables(&problem, &tables))
		pe_bug("no tables");
	for (size_t c = 0; c < count; c += rows)
	{
		int64_t		cells[TREE_CELLS];
		int64_t		values;
		int64_t    *value;

		for (int i = 0; i < TREE_CELLS; i++)
			cells[i] = (int64_t) exact[c + TREE_ONES + (size_t) i];
		plenty(pure);
		value = pe_tree_measure(&problem, &tables, cells, &values);
		/* before the numbers of both attributes are five of format, before the table of the edge two of its ends */
		if (values != 5 + TREE_ONES + 2 + TREE_CELLS)
			pe_bug("a cell is drowned");
		memcpy(released + c, value + 5, TREE_ONES * sizeof(*value));
		memcpy(released + c + TREE_ONES, value + 5 + TREE_ONES + 2, TREE_CELLS * sizeof(*value));
		pe_free(value);
	}
	pe_tables_free(&tables);
}

static void
release_tree(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_tree_as(s, s->of.max_rows, s->of.nano, exact, count, released);
}

/* Two kinds of Laplace noise, of which the audit looks at one way of taking them together. */
#define LEAST_OF_TREE_PURE 0.3

static const mechanism tree = {"tree", PE_ZCDP, false, release_tree, NULL, prepare_tree, measure_tree, LEAST_SHARE, TREE_DRAWS};
static const mechanism tree_pure = {"tree", PE_PURE, true, release_tree, NULL, prepare_tree, measure_tree, LEAST_OF_TREE_PURE, TREE_DRAWS};

/* ----------
 * Edges
 * ----------
 */
#define TREE_PAIRS 3

/* What is published of each attribute: as many rows in both cells, this many for each row of a unit. */
#define TREE_MARGIN 8

/*
 * The exact table of a pair: 0 and 1 are the pairs of the first attribute, 2 is that of the others.  A pure epsilon is
 * lost where the third is seldom left out, a divergence where the unit's rows decide it.
 */
static void
pair_table(const subject *s, int pair, const contribution *c, int64_t *x)
{
	const bool	pure = s->of.mechanism->accounting == PE_PURE;
	const bool	substitute = s->of.neighbours == PE_SUBSTITUTE;
	const int64_t k = s->of.max_rows;
	const int64_t half = k * TREE_MARGIN / 2;

	x[0] = x[1] = x[2] = x[3] = half;
	if (pair < 2)
		x[3] -= k;
	else if (pure)
	{
		x[0] -= 2 * k;
		x[1] += substitute ? 2 * k : k;
		x[2] = x[1];
		x[3] += 2 * k;
	}
	else
	{
		x[0] -= k;
		x[1] += substitute ? 0 : k;
	}
	x[0] += c->count[0];
	x[3] += c->count[1];
}

static void
measure_edges(const subject *s, const contribution *c, pe_i128 *y)
{
	const int64_t margin[2] = {s->of.max_rows * TREE_MARGIN, s->of.max_rows * TREE_MARGIN};

	for (int pair = 0; pair < TREE_PAIRS; pair++)
	{
		int64_t		x[4];

		pair_table(s, pair, c, x);
		y[pair] = pe_tree_score(2, 2, x, margin, margin);
	}
}

/* A unit's rows are in the first cells of all attributes, or in the last. */
static void
prepare_edges(subject *s)
{
	s->a.cells = 2;
	s->a.rows = TREE_PAIRS;
	for (int pair = 0; pair < TREE_PAIRS; pair++)
		for (int cell = 0; cell < 2; cell++)
			s->a.entry[pair][cell] = (pair < 2) == (cell == 0) ? 1 : -1;
}

static void
release_edges(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	const bool	pure = s->of.mechanism->accounting == PE_PURE;
	pe_tree_problem problem = {
		.attributes = 3, .cells = {2, 2, 2}, .share = {1, 1, 1}, .neighbours = s->of.neighbours,
		.max_rows = s->of.max_rows, .accounting = pure ? PE_PURE : PE_ZCDP
	};

	memset(released, 0, count * sizeof(*released));
	for (size_t c = 0; c < count; c += TREE_PAIRS)
	{
		const pe_i128 score[9] = {[1] = exact[c], [2] = exact[c + 1], [5] = exact[c + 2]};
		int			edge[PE_MAX_ATTRIBUTES][2];

		problem.allowance = plenty(pure);
		pe_tree_choose(&problem, s->of.nano, score, edge);
		for (int e = 0; e < 2; e++)
			released[c + (size_t) (edge[e][0] + edge[e][1] - 1)] = 1;
	}
}

static const mechanism edges = {"edges", PE_ZCDP, false, release_edges, NULL, prepare_edges, measure_edges, 0.3, EDGES_DRAWS};
static const mechanism edges_pure = {"edges", PE_PURE, true, release_edges, NULL, prepare_edges, measure_edges, LEAST_SHARE, EDGES_DRAWS};

/* ----------
 * Faults: scores that move by more than they are said to
 * ----------
 */
/* The same by scores of another kind: one unit of one row, which may come to the first cells. */
static void
prepare_other_edges(subject *s)
{
	contribution none = {0};
	contribution row = {.count = {1}};
	pe_i128		score[2][TREE_PAIRS];

	s->a.cells = 1;
	s->a.rows = TREE_PAIRS;
	s->of.mechanism->measure(s, &none, score[0]);
	s->of.mechanism->measure(s, &row, score[1]);
	for (int pair = 0; pair < TREE_PAIRS; pair++)
		s->a.entry[pair][0] = (int64_t) (score[1][pair] - score[0][pair]);
}

/* What independent attributes would have is left as it is, and so whole numbers are units of one part of all rows. */
static void
measure_unrounded(const subject *s, const contribution *c, pe_i128 *y)
{
	static const int64_t other[2][4] = {{4, 4, 4, 4}, {3, 4, 4, 4}};
	const int64_t margin = TREE_MARGIN;

	(void) s;
	for (int pair = 0; pair < TREE_PAIRS; pair++)
	{
		y[pair] = 0;
		for (int i = 0; i < 4; i++)
		{
			int64_t		apart = margin * margin - 2 * margin * (other[pair == 2][i] + (i == 0 ? c->count[0] : 0));

			y[pair] += apart < 0 ? -apart : apart;
		}
	}
}

/* The exact numbers of the attributes stand for those that are published. */
static void
measure_by_exact_ones(const subject *s, const contribution *c, pe_i128 *y)
{
	static const int64_t other[2][4] = {{0, 0, 0, 2}, {0, 1, 3, 1}};

	(void) s;
	for (int pair = 0; pair < TREE_PAIRS; pair++)
	{
		int64_t		x[4];
		int64_t		row_margin[2];
		int64_t		column_margin[2];

		for (int i = 0; i < 4; i++)
			x[i] = other[pair == 2][i] + (i == 0 ? c->count[0] : 0);
		for (int i = 0; i < 2; i++)
		{
			row_margin[i] = x[2 * i] + x[2 * i + 1];
			column_margin[i] = x[i] + x[2 + i];
		}
		y[pair] = pe_tree_score(2, 2, x, row_margin, column_margin);
	}
}

static const mechanism edges_unrounded = {"edges", PE_PURE, true, release_edges, NULL, prepare_other_edges, measure_unrounded, 0, EDGES_DRAWS};
static const mechanism edges_by_exact_ones = {"edges", PE_PURE, true, release_edges, NULL, prepare_other_edges, measure_by_exact_ones, 0, EDGES_DRAWS};

#endif

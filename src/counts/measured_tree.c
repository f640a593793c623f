/*
 * measured_tree.c
 *	  The tables of a tree of attributes, chosen and measured.  See measured_tree.h.
 */
#include "counts/measured_tree.h"

#include <math.h>
#include <string.h>

#include "noise/noise.h"

/* ------------------------------------------------------------------
 * What is public
 * ------------------------------------------------------------------
 */

/* Joins the parts of a and b; false if they are one already.  part: a number for each attribute, the same in a part. */
static bool
join_parts(int attributes, int *part, int a, int b)
{
	int			from = part[b];

	if (part[a] == from)
		return false;
	for (int i = 0; i < attributes; i++)
		if (part[i] == from)
			part[i] = part[a];
	return true;
}

static void
begin_parts(int attributes, int *part)
{
	for (int a = 0; a < attributes; a++)
		part[a] = a;
}

bool
pe_tree_is_tree(const pe_tree_problem *problem)
{
	int			part[PE_MAX_ATTRIBUTES];

	begin_parts(problem->attributes, part);
	for (int e = 0; e < problem->attributes - 1; e++)
		if (!join_parts(problem->attributes, part, problem->edge[e][0], problem->edge[e][1]))
			return false;
	return true;
}

const char *
pe_tree_refusal(const pe_tree_problem *problem)
{
	for (int p = 0; p < PE_TREE_PARTS; p++)
		if (!(problem->share[p] > 0 && problem->share[p] <= 1e6) &&
			!(p == PE_TREE_EDGES && problem->given && problem->share[p] == 0))
			return "shares are three numbers above 0 and at most 1000000, the second one 0 where edges are given";
	if (problem->given && !pe_tree_is_tree(problem))
		return "edges are as many pairs of the attributes as join all of them, and no more";
	return NULL;
}

bool
pe_tree_split(const pe_tree_problem *problem, int64_t part[PE_TREE_PARTS])
{
	double		share[PE_TREE_PARTS];
	double		sum = 0;
	int			edges = problem->attributes - 1;

	for (int p = 0; p < PE_TREE_PARTS; p++)
	{
		bool		draws = p == PE_TREE_ONES || (edges > 0 && !(p == PE_TREE_EDGES && problem->given));

		share[p] = draws ? problem->share[p] : 0;
		sum += share[p];
	}
	part[PE_TREE_EDGES] = (int64_t) (share[PE_TREE_EDGES] / sum * (double) problem->nano);
	part[PE_TREE_PAIRS] = (int64_t) (share[PE_TREE_PAIRS] / sum * (double) problem->nano);
	part[PE_TREE_ONES] = problem->nano - part[PE_TREE_EDGES] - part[PE_TREE_PAIRS];
	return part[PE_TREE_ONES] > 0 &&
		(edges == 0 || part[PE_TREE_PAIRS] > 0) &&
		(edges == 0 || problem->given || part[PE_TREE_EDGES] >= edges);
}

int64_t
pe_tree_edge_nano(const pe_tree_problem *problem, int64_t part, int e)
{
	int			edges = problem->attributes - 1;

	return part / edges + (e < part % edges);
}

/* How far apart the rows of a unit can be between neighbours, in the L1 norm. */
static pe_u128
moved_rows(const pe_tree_problem *problem)
{
	return (pe_u128) problem->max_rows * (problem->neighbours == PE_SUBSTITUTE ? 2 : 1);
}

pe_u128
pe_tree_sensitivity(const pe_tree_problem *problem, int part)
{
	pe_u128		tables = (pe_u128) (part == PE_TREE_ONES ? problem->attributes : problem->attributes - 1);

	return tables * moved_rows(problem) * (problem->accounting == PE_PURE ? 1 : (pe_u128) problem->max_rows);
}

pe_u128
pe_tree_score_sensitivity(const pe_tree_problem *problem)
{
	return moved_rows(problem);
}

double
pe_tree_stderr(const pe_tree_problem *problem, int part)
{
	int64_t		nano[PE_TREE_PARTS];

	if (!pe_tree_split(problem, nano) || nano[part] == 0)
		return 0;
	return pe_noise_stderr_of(problem->accounting, pe_tree_sensitivity(problem, part), nano[part]);
}

bool
pe_tree_tables(const pe_tree_problem *problem, pe_tables *tables)
{
	int			d = problem->attributes;

	*tables = (pe_tables) {.attributes = d, .tables = d == 1 ? 1 : d * (d - 1) / 2};
	tables->set = pe_alloc(tables->tables, sizeof(*tables->set));
	memcpy(tables->cells, problem->cells, sizeof(tables->cells));
	if (d == 1)
		tables->set[0] = 1;
	for (int a = 0, t = 0; a < d; a++)
		for (int b = a + 1; b < d; b++)
			tables->set[t++] = UINT32_C(1) << a | UINT32_C(1) << b;
	if (pe_tables_prepare(tables))
		return true;
	pe_tables_free(tables);
	return false;
}

/* The number of the table of a < b. */
static int32_t
table_of(const pe_tables *tables, int a, int b)
{
	int32_t		t = 0;

	while (tables->set[t] != (UINT32_C(1) << a | UINT32_C(1) << b))
		t++;
	return t;
}

/* ------------------------------------------------------------------
 * What is released
 *
 * FORMAT, the number of edges, the least count of a class of its own, the variances of both kinds of tables as the bits
 * of doubles; the tables of single attributes; of each edge its attributes, the first one less, and its table.
 * ------------------------------------------------------------------
 */
#define FORMAT 1

enum
{
	AT_FORMAT, AT_EDGES, AT_LEAST, AT_ONE_VARIANCE, AT_PAIR_VARIANCE, HEAD
};

static int64_t
bits_of(double x)
{
	int64_t		bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static double
double_of(int64_t bits)
{
	double		x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* A count as it is, or 0 where a group of so few is not shown (counts/min_count.h). */
static double
shown(int64_t count, double variance, double least)
{
	return least > 0 && (double) count - (PE_TREE_HALF * sqrt(variance) + 1) < least ? 0 : (double) count;
}

/* Classes and margins of what the first part released.  Classes are by all counts, as when it was measured. */
static void
begin_model(const int64_t *value, double least, pe_synthetic *model)
{
	double	   *one[PE_MAX_ATTRIBUTES];
	const int64_t *next = value + HEAD;

	for (int a = 0; a < model->attributes; a++)
	{
		int32_t		cells = model->classing[a].cells;

		one[a] = pe_alloc(cells, sizeof(double));
		for (int32_t i = 0; i < cells; i++)
			one[a][i] = (double) next[i];
		pe_classing_init(&model->classing[a], cells, one[a], (double) value[AT_LEAST]);
		model->variance[a] = double_of(value[AT_ONE_VARIANCE]);
		for (int32_t i = 0; i < cells; i++)
			one[a][i] = shown(next[i], model->variance[a], least);
		next += cells;
	}
	pe_synthetic_fit(model, one);
	for (int a = 0; a < model->attributes; a++)
		pe_free(one[a]);
}

/* ------------------------------------------------------------------
 * Measuring
 * ------------------------------------------------------------------
 */

typedef struct measuring
{
	const pe_tree_problem *problem;
	const pe_tables *tables;
	const int64_t *counts;
	int64_t		part[PE_TREE_PARTS];
	int64_t    *value;
	int64_t		values;
	pe_synthetic model;			/* of what is released so far */
	int			edge[PE_MAX_ATTRIBUTES][2];
} measuring;

static int64_t
all_cells(const pe_tree_problem *problem)
{
	int64_t		cells = 0;

	for (int a = 0; a < problem->attributes; a++)
		cells += problem->cells[a];
	return cells;
}

/* Adds the exact table of an attribute up from a table that has it. */
static void
add_one(const measuring *m, int a, pe_i128 *exact)
{
	const pe_tree_problem *problem = m->problem;
	int			other = a == 0 ? 1 : 0;
	const int64_t *count = m->counts;
	int32_t		cells = problem->attributes > 1 ? problem->cells[other] : 1;
	size_t		across = a < other ? (size_t) cells : 1;
	size_t		along = a < other ? 1 : (size_t) problem->cells[a];

	if (problem->attributes > 1)
		count += m->tables->first[table_of(m->tables, a < other ? a : other, a < other ? other : a)];
	else
		across = 1;
	for (int32_t i = 0; i < problem->cells[a]; i++)
		for (int32_t j = 0; j < cells; j++)
			exact[i] += count[(size_t) i * across + (size_t) j * along];
}

static void
measure_ones(measuring *m)
{
	const pe_tree_problem *problem = m->problem;
	int64_t		cells = all_cells(problem);
	double		one_stderr = pe_tree_stderr(problem, PE_TREE_ONES);
	double		pair_stderr = pe_tree_stderr(problem, PE_TREE_PAIRS);
	pe_i128    *exact = pe_alloc(cells, sizeof(*exact));
	pe_i128    *next = exact;

	for (int a = 0; a < problem->attributes; a++)
	{
		add_one(m, a, next);
		next += problem->cells[a];
	}
	m->value = pe_alloc(HEAD + cells, sizeof(*m->value));
	m->value[AT_FORMAT] = FORMAT;
	m->value[AT_EDGES] = problem->attributes - 1;
	m->value[AT_LEAST] = (int64_t) fmin(ceil(PE_DROWNED * one_stderr), 0x1p62);
	m->value[AT_ONE_VARIANCE] = bits_of(one_stderr * one_stderr);
	m->value[AT_PAIR_VARIANCE] = bits_of(pair_stderr * pair_stderr);
	pe_noise_draw(problem->allowance, pe_tree_sensitivity(problem, PE_TREE_ONES), m->part[PE_TREE_ONES], exact, cells,
				  m->value + HEAD);
	m->values = HEAD + cells;
	pe_wipe(exact, cells * sizeof(*exact));
	pe_free(exact);
	m->model.attributes = problem->attributes;
	for (int a = 0; a < problem->attributes; a++)
		m->model.classing[a].cells = problem->cells[a];
	begin_model(m->value, 0, &m->model);
}

/* The exact table of a < b by classes; wiped by the caller. */
static int64_t *
class_table(const measuring *m, int a, int b)
{
	const pe_classing *first = &m->model.classing[a];
	const pe_classing *second = &m->model.classing[b];
	const int64_t *count = m->counts + m->tables->first[table_of(m->tables, a, b)];
	int64_t    *sums = pe_alloc((size_t) first->classes * second->classes, sizeof(*sums));

	for (int32_t i = 0; i < first->cells; i++)
		for (int32_t j = 0; j < second->cells; j++)
			sums[(size_t) first->class_of[i] * second->classes + second->class_of[j]] +=
				count[(size_t) i * second->cells + j];
	return sums;
}

static size_t
class_cells(const measuring *m, int a, int b)
{
	return (size_t) m->model.classing[a].classes * m->model.classing[b].classes;
}

/* The margin of what was released, in whole numbers. */
static int64_t *
whole_margin(const measuring *m, int a)
{
	int32_t		classes = m->model.classing[a].classes;
	int64_t    *whole = pe_alloc(classes, sizeof(*whole));

	for (int32_t i = 0; i < classes; i++)
		whole[i] = (int64_t) fmin(rint(m->model.margin[a][i]), 0x1p62);
	return whole;
}

pe_i128
pe_tree_score(int32_t rows, int32_t columns, const int64_t *exact, const int64_t *row_margin,
			  const int64_t *column_margin)
{
	pe_i128		total = 0;
	pe_i128		score = 0;

	for (int32_t i = 0; i < rows; i++)
		total += row_margin[i];
	if (total == 0)
		total = 1;
	for (int32_t i = 0; i < rows; i++)
		for (int32_t j = 0; j < columns; j++)
		{
			pe_i128		product = (pe_i128) row_margin[i] * column_margin[j];
			pe_i128		apart = (product + total / 2) / total - exact[(size_t) i * columns + j];

			score += apart < 0 ? -apart : apart;
		}
	return score;
}

/* The scores of all pairs, a < b, at a * attributes + b; wiped by the caller. */
static pe_i128 *
score_pairs(const measuring *m)
{
	int			d = m->problem->attributes;
	pe_i128    *score = pe_alloc((size_t) d * d, sizeof(*score));
	int64_t    *margin[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < d; a++)
		margin[a] = whole_margin(m, a);
	for (int a = 0; a < d; a++)
		for (int b = a + 1; b < d; b++)
		{
			int64_t    *exact = class_table(m, a, b);

			score[a * d + b] = pe_tree_score(m->model.classing[a].classes, m->model.classing[b].classes, exact,
											 margin[a], margin[b]);
			pe_wipe(exact, class_cells(m, a, b) * sizeof(*exact));
			pe_free(exact);
		}
	for (int a = 0; a < d; a++)
		pe_free(margin[a]);
	return score;
}

/* One edge among the pairs that are apart. */
static void
choose_edge(const pe_tree_problem *problem, int64_t nano, const pe_i128 *score, int *part, int *edge)
{
	int			d = problem->attributes;
	pe_i128		loss[PE_MAX_ATTRIBUTES * PE_MAX_ATTRIBUTES];
	int			pair[PE_MAX_ATTRIBUTES * PE_MAX_ATTRIBUTES];
	int32_t		pairs = 0;
	int			chosen;

	for (int a = 0; a < d; a++)
		for (int b = a + 1; b < d; b++)
			if (part[a] != part[b])
			{
				pair[pairs] = a * d + b;
				loss[pairs++] = -score[a * d + b];
			}
	chosen = pair[pe_draw_least(problem->allowance, loss, pairs, pe_tree_score_sensitivity(problem), false, nano)];
	pe_wipe(loss, sizeof(loss));
	edge[0] = chosen / d;
	edge[1] = chosen % d;
	(void) join_parts(d, part, edge[0], edge[1]);
}

void
pe_tree_choose(const pe_tree_problem *problem, int64_t nano, const pe_i128 *score, int (*edge)[2])
{
	int			part[PE_MAX_ATTRIBUTES];

	begin_parts(problem->attributes, part);
	for (int e = 0; e < problem->attributes - 1; e++)
		choose_edge(problem, pe_tree_edge_nano(problem, nano, e), score, part, edge[e]);
}

static void
choose_edges(measuring *m)
{
	int			d = m->problem->attributes;
	pe_i128    *score;

	if (m->problem->given)
	{
		for (int e = 0; e < d - 1; e++)
		{
			const int  *edge = m->problem->edge[e];
			bool		ascends = edge[0] < edge[1];

			m->edge[e][0] = edge[ascends ? 0 : 1];
			m->edge[e][1] = edge[ascends ? 1 : 0];
		}
		return;
	}
	score = score_pairs(m);
	pe_tree_choose(m->problem, m->part[PE_TREE_EDGES], score, m->edge);
	pe_wipe(score, (size_t) d * d * sizeof(*score));
	pe_free(score);
}

/* The exact tables of all edges, one after the other; wiped by the caller. */
static pe_i128 *
edge_tables(const measuring *m, size_t cells)
{
	pe_i128    *exact = pe_alloc(cells, sizeof(*exact));
	pe_i128    *next = exact;

	for (int e = 0; e < m->problem->attributes - 1; e++)
	{
		size_t		count = class_cells(m, m->edge[e][0], m->edge[e][1]);
		int64_t    *table = class_table(m, m->edge[e][0], m->edge[e][1]);

		for (size_t i = 0; i < count; i++)
			next[i] = table[i];
		next += count;
		pe_wipe(table, count * sizeof(*table));
		pe_free(table);
	}
	return exact;
}

static void
measure_pairs(measuring *m)
{
	const pe_tree_problem *problem = m->problem;
	int			edges = problem->attributes - 1;
	size_t		cells = 0;
	int64_t    *all;
	int64_t    *noisy;
	const int64_t *from;
	pe_i128    *exact;

	for (int e = 0; e < edges; e++)
		cells += class_cells(m, m->edge[e][0], m->edge[e][1]);
	noisy = pe_alloc(cells, sizeof(*noisy));
	exact = edge_tables(m, cells);
	pe_noise_draw(problem->allowance, pe_tree_sensitivity(problem, PE_TREE_PAIRS), m->part[PE_TREE_PAIRS], exact, cells,
				  noisy);
	pe_wipe(exact, cells * sizeof(*exact));
	pe_free(exact);
	all = pe_alloc((size_t) m->values + 2 * edges + cells, sizeof(*all));
	memcpy(all, m->value, (size_t) m->values * sizeof(*all));
	from = noisy;
	for (int e = 0; e < edges; e++)
	{
		size_t		count = class_cells(m, m->edge[e][0], m->edge[e][1]);

		all[m->values++] = m->edge[e][0];
		all[m->values++] = m->edge[e][1];
		memcpy(all + m->values, from, count * sizeof(*all));
		m->values += (int64_t) count;
		from += count;
	}
	pe_free(noisy);
	pe_free(m->value);
	m->value = all;
}

int64_t *
pe_tree_measure(const pe_tree_problem *problem, const pe_tables *tables, const int64_t *counts, int64_t *values)
{
	measuring	m = {.problem = problem, .tables = tables, .counts = counts};

	if (!pe_tree_split(problem, m.part))
		pe_bug("a tree is measured whose cost cannot be divided");
	measure_ones(&m);
	if (problem->attributes > 1)
	{
		choose_edges(&m);
		measure_pairs(&m);
	}
	pe_synthetic_free(&m.model);
	*values = m.values;
	return m.value;
}

size_t
pe_tree_memory(const pe_tree_problem *problem, const pe_tables *tables)
{
	size_t		cells = (size_t) (tables->first[tables->tables] + all_cells(problem));

	return cells * (2 * sizeof(pe_i128) + 3 * sizeof(int64_t));
}

/* ------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------
 */

/* The table of one edge, fitted, in a model whose tree is rooted; the numbers that it has. */
static int64_t
take_pair(const int64_t *value, double variance, double least, pe_synthetic *model)
{
	int			a = (int) value[0];
	int			b = (int) value[1];
	int64_t		count = (int64_t) model->classing[a].classes * model->classing[b].classes;
	double	   *table = pe_alloc(count, sizeof(double));
	int			child = model->parent[a] == b ? a : b;

	for (int64_t i = 0; i < count; i++)
		table[i] = shown(value[2 + i], variance, least);
	pe_synthetic_fit_pair(model, a, b, table, variance);
	model->table[child] = pe_pair_by_parent(model, a, b, table, child == a ? b : a);
	pe_free(table);
	return 2 + count;
}

/* The edges, and whether numbers and edges are as they have to be. */
static bool
read_edges(const int64_t *value, int64_t values, const pe_synthetic *model, int (*edge)[2])
{
	int			part[PE_MAX_ATTRIBUTES];
	int			d = model->attributes;
	int64_t		at = HEAD;

	begin_parts(d, part);
	for (int a = 0; a < d; a++)
		at += model->classing[a].cells;
	for (int e = 0; e < d - 1; e++)
	{
		if (values - at < 2 || value[at] < 0 || value[at] >= value[at + 1] || value[at + 1] >= d)
			return false;
		edge[e][0] = (int) value[at];
		edge[e][1] = (int) value[at + 1];
		if (!join_parts(d, part, edge[e][0], edge[e][1]))
			return false;
		at += 2 + (int64_t) model->classing[edge[e][0]].classes * model->classing[edge[e][1]].classes;
	}
	return at == values;
}

bool
pe_tree_model(int attributes, const int32_t *cells, const int64_t *value, int64_t values, int root, double least,
			  bool *const *possible, pe_synthetic *model)
{
	int			edge[PE_MAX_ATTRIBUTES][2];
	int64_t		at = HEAD;

	*model = (pe_synthetic) {.attributes = attributes};
	for (int a = 0; a < attributes; a++)
	{
		model->classing[a].cells = cells[a];
		model->possible[a] = possible != NULL ? possible[a] : NULL;
		at += cells[a];
	}
	if (values < at || value[AT_FORMAT] != FORMAT || value[AT_EDGES] != attributes - 1)
		return false;
	begin_model(value, least, model);
	if (!read_edges(value, values, model, edge))
	{
		pe_synthetic_free(model);
		return false;
	}
	pe_root_tree(attributes, attributes - 1, (const int (*)[2]) edge, root, model->parent, model->order);
	for (int e = 0; e < attributes - 1; e++)
		at += take_pair(value + at, double_of(value[AT_PAIR_VARIANCE]), least, model);
	return true;
}

bool
pe_tree_open(int attributes, const int32_t *cells, const int64_t *value, int64_t values, pe_tree_released *tables)
{
	pe_synthetic model;
	const int64_t *next = value + HEAD;

	if (!pe_tree_model(attributes, cells, value, values, 0, 0, NULL, &model))
		return false;
	*tables = (pe_tree_released) {.attributes = attributes};
	for (int a = 0; a < attributes; a++)
	{
		tables->classing[a] = model.classing[a];
		model.classing[a].class_of = NULL;
		tables->one[a] = next;
		next += cells[a];
	}
	for (int e = 0; e < attributes - 1; e++)
	{
		for (int i = 0; i < 2; i++)
			tables->edge[e][i] = (int) next[i];
		tables->pair[e] = next + 2;
		next += 2 + (int64_t) tables->classing[next[0]].classes * tables->classing[next[1]].classes;
	}
	pe_synthetic_free(&model);
	return true;
}

void
pe_tree_close(pe_tree_released *tables)
{
	for (int a = 0; a < tables->attributes; a++)
		pe_free(tables->classing[a].class_of);
}

/*
 * blocks_symmetric_solve.c
 *	  The best matrices over a core, and their integers.  See blocks_symmetric.c
 *	  for V_g.
 *
 * All groups share one dual vector y over the columns of the core
 * (pe_optimum_solve_sum).  A group may distinguish fewer columns than the core
 * has, and its rows may span less: rounding is that of rounding.h over the
 * group's own columns, whose matrix is then spread out over all of them.  For
 * PE_L1 each group then gets the best matrix that is known for it alone.
 */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "blocks/blocks_symmetric.h"

/* ------------------------------------------------------------------
 * The optimum
 * ------------------------------------------------------------------
 */

/* A workload over the core with these weights, squared, of the patterns; its columns.  False if it asks for nothing. */
static bool
begin_part(pe_core *c, const double *square, pe_core_group *g)
{
	double	   *weight = pe_la_vector((size_t) c->problem->workload->terms);

	for (int32_t p = 0; p < c->patterns; p++)
		weight[c->example[p]] = square != NULL ? sqrt(square[p]) : 1.0;
	pe_workload_part(c->problem->workload, c->axis->attribute, c->axis->attributes, weight, &g->part);
	pe_free(weight);
	g->problem = (pe_strategy_problem) {.workload = &g->part, .classes = &c->classes, .method = PE_METHOD_OPTIMAL,
		.objective = PE_SUM, .norm = PE_L2, .neighbours = PE_ADD_REMOVE, .gap = c->problem->gap,
		.possible_of = c->possible_of, .bits = g->bits};
	if (pe_rounding_begin(&g->rounding, &g->problem, &g->strategy) == PE_STRATEGY_OK)
		return true;
	pe_workload_basis_free(&g->part);
	return false;
}

static void
end_part(pe_core_group *g)
{
	pe_rounding_end(&g->rounding);
	pe_strategy_free(&g->strategy);
	pe_workload_basis_free(&g->part);
}

/* V_g over the columns that the whole core has. */
static double *
gram_of(const pe_core_group *g, const pe_rounding *whole)
{
	double	   *v = pe_la_vector(pe_la_square(whole->n));

	for (int32_t j = 0; j < whole->n; j++)
		for (int32_t i = 0; i < whole->n; i++)
		{
			int32_t		row = g->strategy.column_of[whole->representative[i]];
			int32_t		column = g->strategy.column_of[whole->representative[j]];

			if (row >= 0 && column >= 0)
				v[i + pe_la_size(whole->n, j)] = g->rounding.v[row + pe_la_size(g->rounding.n, column)];
		}
	return v;
}

/*
 * X_g's columns that the group distinguishes: from rows x n to
 * rows x rounding.n.
 */
static double *
columns_of(const pe_core_group *g, const pe_rounding *whole, const double *from, int32_t rows)
{
	double	   *to = pe_la_vector(pe_la_size(rows, g->rounding.n));

	for (int32_t j = 0; j < g->rounding.n; j++)
		for (int32_t k = 0; k < rows; k++)
			to[k + pe_la_size(rows, j)] =
				from[k + pe_la_size(rows, whole->strategy->column_of[g->rounding.representative[j]])];
	return to;
}

/* What the columns cost: y of all that the group does not distinguish. */
static void
take_prices(pe_core_group *g, const pe_rounding *whole, const double *y)
{
	g->price = pe_la_vector((size_t) g->rounding.n);
	for (int32_t j = 0; j < whole->n; j++)
	{
		int32_t		column = g->strategy.column_of[whole->representative[j]];

		if (column >= 0)
			g->price[column] += y[j];
	}
}

/* X_g or its factor over the group's columns, with unit largest diagonal entry. */
static void
take_optimum(pe_core_group *g, const pe_rounding *whole)
{
	pe_optimum *optimum = &g->optimum;
	int32_t		rows = optimum->full ? optimum->n : optimum->rank;
	double	   *from = optimum->full ? optimum->x : optimum->factor;
	double	   *x = columns_of(g, whole, from, rows);
	double		largest = 0.0;

	pe_free(from);
	for (int32_t j = 0; j < g->rounding.n; j++)
	{
		const double *column = x + pe_la_size(rows, j);
		double		entry = optimum->full ? column[j] : pe_la_dot((size_t) rows, column, column);

		largest = fmax(largest, entry);
		g->paid += g->price[j] * entry;
	}
	for (size_t k = 0; k < pe_la_size(rows, g->rounding.n); k++)
		x[k] /= optimum->full ? largest : sqrt(largest);
	optimum->x = optimum->full ? x : NULL;
	optimum->factor = optimum->full ? NULL : x;
	/* of full rank over the columns that it has */
	if (!optimum->full && rows == g->rounding.n)
	{
		optimum->x = pe_la_vector(pe_la_square(rows));
		pe_la_syrk(true, rows, rows, 1.0, x, rows, 0.0, optimum->x, rows);
		pe_la_mirror(rows, optimum->x, rows);
	}
}

/* X of all groups, and the bound. */
static void
solve(pe_core *c, const pe_rounding *whole, double *lower_bound)
{
	const double **v = pe_alloc((size_t) c->groups, sizeof(*v));
	pe_optimum *part = pe_alloc((size_t) c->groups, sizeof(*part));
	pe_optimum	all;

	for (int g = 0; g < c->groups; g++)
		v[g] = c->group[g].v = gram_of(&c->group[g], whole);
	pe_optimum_solve_sum(v, c->groups, whole->n, c->problem->gap / 2, &all, part);
	*lower_bound = all.lower * (1.0 - 2.0 * PE_CORE_PROPORTIONAL);
	for (int g = 0; g < c->groups; g++)
	{
		pe_free(c->group[g].v);
		c->group[g].optimum = part[g];
		take_prices(&c->group[g], whole, all.y);
		take_optimum(&c->group[g], whole);
	}
	pe_optimum_free(&all);
	pe_free(part);
	pe_free(v);
}

/* The parts of all groups; false, with those that were begun ended, if one is empty. */
static bool
begin_all(pe_core *c)
{
	for (int g = 0; g < c->groups; g++)
		if (!begin_part(c, c->group[g].square, &c->group[g]))
		{
			while (g > 0)
				end_part(&c->group[--g]);
			return false;
		}
	return true;
}

bool
pe_core_solve(pe_core *c, double *lower_bound)
{
	pe_core_group whole = {0};
	bool		begun;

	if (!begin_part(c, NULL, &whole))
		return false;
	begun = begin_all(c);
	if (begun)
		solve(c, &whole.rounding, lower_bound);
	end_part(&whole);
	return begun;
}

void
pe_core_end(pe_core *c)
{
	for (int g = 0; g < c->groups; g++)
		end_part(&c->group[g]);
}

/* ------------------------------------------------------------------
 * Integers
 * ------------------------------------------------------------------
 */

static int32_t
greatest_divisor(int32_t a, int32_t b)
{
	while (b != 0)
	{
		int32_t		rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

/* A factor that all entries have in common makes the squared norms large for nothing. */
static void
divide_triangle(pe_strategy *strategy)
{
	size_t		entries = (size_t) strategy->inner * ((size_t) strategy->inner + 1) / 2;
	int32_t		divisor = 0;

	for (size_t k = 0; k < entries && divisor != 1; k++)
		divisor = greatest_divisor(divisor, strategy->triangle[k]);
	for (size_t k = 0; k < entries && divisor > 1; k++)
		strategy->triangle[k] /= divisor;
}

/* sum of y_j |T_j|^2, and the largest |T_j|^2; 0 if they do not fit. */
static double
priced(const pe_core_group *g, double *largest)
{
	pe_u128    *norms = pe_alloc((size_t) g->rounding.n, sizeof(*norms));
	double		sum = 0.0;

	*largest = 0.0;
	if (pe_strategy_column_norms(&g->strategy, PE_L2, norms))
		for (int32_t j = 0; j < g->rounding.n; j++)
		{
			sum += g->price[j] * (double) norms[j];
			*largest = fmax(*largest, (double) norms[j]);
		}
	pe_free(norms);
	return sum;
}

/*
 * Rounding multiplies this by the largest |T_j|^2.  What counts is the cost of all columns: X_g is
 * not the best for V_g alone, and what makes shorter columns longer would seem to cost nothing.
 */
static double
priced_error(void *argument, const double *inverse)
{
	pe_core_group *g = argument;
	double		largest;
	double		sum = priced(g, &largest);

	return sum / largest * pe_la_dot(pe_la_square(g->rounding.n), g->rounding.v, inverse);
}

/* T from X_g. */
static void
round_optimum(pe_core_group *g)
{
	pe_rounding *m = &g->rounding;
	double	   *x;
	bool		definite;

	if (g->optimum.x == NULL)
	{
		pe_rounding_factor(m, g->optimum.factor, g->optimum.rank);
		return;
	}
	x = pe_la_vector(pe_la_square(m->n));
	memcpy(x, g->optimum.x, pe_la_square(m->n) * sizeof(double));
	definite = pe_rounding_full(m, x);
	pe_free(x);
	if (!definite)
		pe_rounding_singular(m, g->optimum.x);
}

/* T for L1, group by group: no bound is known that would tie them together. */
static void
choose_l1(pe_core_group *g, double largest)
{
	pe_u128		sensitivity;

	g->strategy.objective = g->error * largest;
	pe_choose_l1(&g->problem, &g->strategy);
	if (!pe_strategy_sensitivity_l1(&g->strategy, PE_ADD_REMOVE, 1, &sensitivity))
		pe_bug("a strategy beyond its bounds");
	g->error = g->strategy.objective / ((double) sensitivity * (double) sensitivity);
}

/* With the finest integers if asked: an objective of 0 is never reached. */
static void
round_group(pe_core_group *g, const pe_strategy_problem *problem, bool finest)
{
	pe_rounding *m = &g->rounding;
	double		largest;

	pe_free(g->strategy.triangle);
	pe_free(g->strategy.basis);
	g->strategy.triangle = g->strategy.basis = NULL;
	m->goal = finest ? 0.0 : g->paid * g->optimum.upper;
	m->tolerance = problem->gap / 4;
	m->error = priced_error;
	m->argument = g;
	round_optimum(g);
	divide_triangle(&g->strategy);
	g->error = g->strategy.objective / priced(g, &largest);
	g->length = g->paid * g->error / g->strategy.objective * largest;
	if (problem->norm == PE_L1)
		choose_l1(g, largest);
}

void
pe_core_round(pe_core *c, bool finest)
{
	for (int g = 0; g < c->groups; g++)
		round_group(&c->group[g], c->problem, finest);
}

static int32_t *
copy_of(const int32_t *from, size_t count)
{
	int32_t    *to = from != NULL ? pe_alloc(count, sizeof(*to)) : NULL;

	if (from != NULL)
		memcpy(to, from, count * sizeof(*to));
	return to;
}

/* The basis over all columns of the axis: its own rows, or those of I, spread out. */
static void
spread_basis(const pe_core *c, const pe_strategy *from, pe_strategy *to)
{
	size_t		cells = (size_t) to->columns;
	size_t		next = 0;

	to->basis = pe_alloc((size_t) from->inner * cells, sizeof(int32_t));
	for (int32_t class = 0; class < c->classes.cells; class++)
	{
		int32_t		column = from->column_of[class];

		for (int32_t i = 0; i < from->inner && column >= 0; i++)
			to->basis[(size_t) i * cells + next] =
				from->basis != NULL ? from->basis[(size_t) i * (size_t) from->columns + (size_t) column] : i == column;
		next += column != PE_RULED_OUT;
	}
}

void
pe_core_matrix(const pe_core *c, const pe_core_group *g, pe_strategy *to)
{
	const pe_strategy *from = &g->strategy;
	int32_t		cells = c->axis->cells;
	size_t		inner = (size_t) from->inner;

	*to = (pe_strategy) {.classes = cells, .columns = cells, .rows = from->rows, .inner = from->inner,
		.column_of = pe_alloc((size_t) cells, sizeof(int32_t)),
		.triangle = copy_of(from->triangle, inner * (inner + 1) / 2),
		.dense = copy_of(from->dense, (size_t) from->rows * inner)};
	for (int32_t j = 0; j < cells; j++)
		to->column_of[j] = j;
	if (from->basis == NULL && from->columns == cells)
		return;
	spread_basis(c, from, to);
	if (to->triangle == NULL && to->dense == NULL)
		to->triangle = pe_unit_triangle(from->inner);
}

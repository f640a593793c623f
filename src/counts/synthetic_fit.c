/*
 * synthetic_fit.c
 *	  Noisy tables made consistent, without negative cells.  See synthetic.h.
 */
#include "counts/synthetic.h"

#include <math.h>
#include <string.h>

#include "strategy/solve.h"

void
pe_classing_init(pe_classing *classing, int32_t cells, const double *noisy, double least)
{
	int32_t		own = 0;

	*classing = (pe_classing) {.cells = cells, .class_of = pe_alloc(cells, sizeof(int32_t))};
	for (int32_t i = 0; i < cells; i++)
		classing->class_of[i] = noisy[i] >= least ? own++ : -1;
	classing->has_rest = own < cells;
	classing->classes = own + classing->has_rest;
	for (int32_t i = 0; i < cells; i++)
		if (classing->class_of[i] < 0)
			classing->class_of[i] = own;
}

void
pe_classing_sum(const pe_classing *classing, const double *table, double *sums)
{
	memset(sums, 0, classing->classes * sizeof(double));
	for (int32_t i = 0; i < classing->cells; i++)
		sums[classing->class_of[i]] += table[i];
}

void
pe_classing_sum_pair(const pe_classing *first, const pe_classing *second, const double *table, double *sums)
{
	memset(sums, 0, (size_t) first->classes * second->classes * sizeof(double));
	for (int32_t i = 0; i < first->cells; i++)
		for (int32_t j = 0; j < second->cells; j++)
			sums[(size_t) first->class_of[i] * second->classes + second->class_of[j]] +=
				table[(size_t) i * second->cells + j];
}

static bool
is_possible(const pe_synthetic *model, int a, int32_t cell)
{
	return model->possible[a] == NULL || model->possible[a][cell];
}

static double
total_of(const pe_synthetic *model, double *const *noisy)
{
	double		sum = 0;
	double		weights = 0;

	for (int a = 0; a < model->attributes; a++)
	{
		int32_t		cells = 0;
		double		weight;

		for (int32_t i = 0; i < model->classing[a].cells; i++)
			cells += is_possible(model, a, i);
		weight = 1 / (cells * fmax(model->variance[a], 1e-12));
		for (int32_t i = 0; i < model->classing[a].cells; i++)
			sum += is_possible(model, a, i) ? weight * noisy[a][i] : 0;
		weights += weight;
	}
	return fmax(sum / weights, 0);
}

static double *
spread_classes(const pe_synthetic *model, int a)
{
	const pe_classing *classing = &model->classing[a];
	double	   *one = pe_alloc(classing->cells, sizeof(double));
	int32_t    *members = pe_alloc(classing->classes, sizeof(int32_t));

	for (int32_t i = 0; i < classing->cells; i++)
		members[classing->class_of[i]] += is_possible(model, a, i);
	for (int32_t i = 0; i < classing->cells; i++)
		if (is_possible(model, a, i))
			one[i] = model->margin[a][classing->class_of[i]] / members[classing->class_of[i]];
	pe_free(members);
	return one;
}

/* pe_nonnegative_nearest of the cells in filled rows and columns; the others get 0. */
static void
nearest_filled(int32_t rows, int32_t columns, const bool *row, const bool *column, double total, double *table)
{
	size_t		cells = (size_t) rows * columns;
	double	   *filled = pe_alloc(cells, sizeof(double));
	int32_t		count = 0;

	for (size_t i = 0; i < cells; i++)
		if (row[i / columns] && column[i % columns])
			filled[count++] = table[i];
	pe_nonnegative_nearest(count, total, filled);
	count = 0;
	for (size_t i = 0; i < cells; i++)
		table[i] = row[i / columns] && column[i % columns] ? filled[count++] : 0;
	pe_free(filled);
}

/* The margin of an attribute, and which classes have a cell that is possible. */
static void
fit_margin(pe_synthetic *model, int a, const double *noisy)
{
	static const bool one_row = true;
	const pe_classing *classing = &model->classing[a];
	double	   *possible = pe_alloc(classing->cells, sizeof(double));

	model->margin[a] = pe_alloc(classing->classes, sizeof(double));
	model->filled[a] = pe_alloc(classing->classes, sizeof(bool));
	for (int32_t i = 0; i < classing->cells; i++)
		if (is_possible(model, a, i))
		{
			possible[i] = noisy[i];
			model->filled[a][classing->class_of[i]] = true;
		}
	pe_classing_sum(classing, possible, model->margin[a]);
	nearest_filled(1, classing->classes, &one_row, model->filled[a], model->total, model->margin[a]);
	pe_free(possible);
}

void
pe_synthetic_fit(pe_synthetic *model, double *const *noisy)
{
	model->total = total_of(model, noisy);
	for (int a = 0; a < model->attributes; a++)
	{
		fit_margin(model, a, noisy[a]);
		model->one[a] = spread_classes(model, a);
		model->order[a] = a;
		model->parent[a] = -1;
	}
}

/* ------------------------------------------------------------------
 * Pairs
 * ------------------------------------------------------------------
 */

static double
sum_of(int32_t count, const double *x, size_t step)
{
	double		sum = 0;

	for (int32_t i = 0; i < count; i++)
		sum += x[i * step];
	return sum;
}

/*
 * Adds to lines of a table what their margins lack, as far as the margin is better known than the sum of the line.
 * across, along: from one line to the next, and within a line, whose filled cells alone are corrected.
 */
static void
correct_lines(int32_t lines, int32_t length, size_t across, size_t along, double *table, double variance,
			  const double *margin, double margin_variance, const bool *filled)
{
	int32_t		count = 0;
	double		known;
	double		weight;

	for (int32_t j = 0; j < length; j++)
		count += filled[j];
	known = count * variance;
	weight = known > 0 ? known / (known + margin_variance) : 1;
	for (int32_t i = 0; i < lines; i++)
	{
		double	   *line = table + i * across;
		double		add = weight * (margin[i] - sum_of(length, line, along)) / count;

		for (int32_t j = 0; j < length; j++)
			line[j * along] += filled[j] ? add : 0;
	}
}

void
pe_synthetic_fit_pair(const pe_synthetic *model, int first, int second, double *table, double variance)
{
	int32_t		rows = model->classing[first].classes;
	int32_t		columns = model->classing[second].classes;

	const bool *row = model->filled[first];
	const bool *column = model->filled[second];

	for (int32_t i = 0; i < rows; i++)
		for (int32_t j = 0; j < columns; j++)
			if (!row[i] || !column[j])
				table[(size_t) i * columns + j] = 0;
	correct_lines(rows, columns, columns, 1, table, variance, model->margin[first], model->variance[first], column);
	correct_lines(columns, rows, 1, columns, table, variance, model->margin[second], model->variance[second], row);
	nearest_filled(rows, columns, row, column, model->total, table);
	pe_fit_margins(rows, columns, table, model->margin[first], model->margin[second]);
}

/* Most rounds of proportional fitting, and how near is near, relatively to the total. */
#define ROUNDS 100
#define NEAR 1e-10

/* Lines that have nothing get what their margin wants in the proportions of the other margin. */
static void
fill_lines(int32_t lines, int32_t length, size_t across, size_t along, double *table, const double *margin,
		   const double *other, double total)
{
	for (int32_t i = 0; i < lines; i++)
	{
		double	   *line = table + i * across;

		if (margin[i] <= 0 || sum_of(length, line, along) > 0)
			continue;
		for (int32_t j = 0; j < length; j++)
			line[j * along] = margin[i] * other[j] / total;
	}
}

/* Scales lines to their margins; returns how far their sums were off. */
static double
scale_lines(int32_t lines, int32_t length, size_t across, size_t along, double *table, const double *margin)
{
	double		off = 0;

	for (int32_t i = 0; i < lines; i++)
	{
		double	   *line = table + i * across;
		double		sum = sum_of(length, line, along);
		double		factor = sum > 0 ? fmax(margin[i], 0) / sum : 0;

		off += fabs(sum - margin[i]);
		for (int32_t j = 0; j < length; j++)
			line[j * along] *= factor;
	}
	return off;
}

void
pe_fit_margins(int32_t rows, int32_t columns, double *table, const double *row_margin, const double *column_margin)
{
	double		total = sum_of(rows, row_margin, 1);

	if (total <= 0)
	{
		memset(table, 0, (size_t) rows * columns * sizeof(double));
		return;
	}
	fill_lines(rows, columns, columns, 1, table, row_margin, column_margin, total);
	fill_lines(columns, rows, 1, columns, table, column_margin, row_margin, total);
	for (int round = 0; round < ROUNDS; round++)
	{
		double		off = scale_lines(columns, rows, 1, columns, table, column_margin);

		off += scale_lines(rows, columns, columns, 1, table, row_margin);
		if (off <= NEAR * total)
			break;
	}
}

void
pe_synthetic_part_pair(const pe_synthetic *model, int first, int second, double *table)
{
	int32_t		rows = model->classing[first].classes;
	int32_t		columns = model->classing[second].classes;

	memset(table, 0, (size_t) rows * columns * sizeof(double));
	pe_fit_margins(rows, columns, table, model->margin[first], model->margin[second]);
}

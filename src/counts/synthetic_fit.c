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

static double
total_of(const pe_synthetic *model, double *const *noisy)
{
	double		sum = 0;
	double		weights = 0;

	for (int a = 0; a < model->attributes; a++)
	{
		double		weight = 1 / (model->classing[a].cells * fmax(model->variance[a], 1e-12));

		for (int32_t i = 0; i < model->classing[a].cells; i++)
			sum += weight * noisy[a][i];
		weights += weight;
	}
	return fmax(sum / weights, 0);
}

static double *
spread_classes(const pe_classing *classing, const double *class)
{
	double	   *one = pe_alloc(classing->cells, sizeof(double));
	int32_t    *members = pe_alloc(classing->classes, sizeof(int32_t));

	for (int32_t i = 0; i < classing->cells; i++)
		members[classing->class_of[i]]++;
	for (int32_t i = 0; i < classing->cells; i++)
		one[i] = class[classing->class_of[i]] / members[classing->class_of[i]];
	pe_free(members);
	return one;
}

void
pe_synthetic_fit(pe_synthetic *model, double *const *noisy)
{
	model->total = total_of(model, noisy);
	for (int a = 0; a < model->attributes; a++)
	{
		const pe_classing *classing = &model->classing[a];

		model->margin[a] = pe_alloc(classing->classes, sizeof(double));
		pe_classing_sum(classing, noisy[a], model->margin[a]);
		pe_nonnegative_nearest(classing->classes, model->total, model->margin[a]);
		model->one[a] = spread_classes(classing, model->margin[a]);
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
 * across, along: from one line to the next, and within a line.
 */
static void
correct_lines(int32_t lines, int32_t length, size_t across, size_t along, double *table, double variance,
			  const double *margin, double margin_variance)
{
	double		known = length * variance;
	double		weight = known > 0 ? known / (known + margin_variance) : 1;

	for (int32_t i = 0; i < lines; i++)
	{
		double	   *line = table + i * across;
		double		add = weight * (margin[i] - sum_of(length, line, along)) / length;

		for (int32_t j = 0; j < length; j++)
			line[j * along] += add;
	}
}

void
pe_synthetic_fit_pair(const pe_synthetic *model, int first, int second, double *table, double variance)
{
	int32_t		rows = model->classing[first].classes;
	int32_t		columns = model->classing[second].classes;

	correct_lines(rows, columns, columns, 1, table, variance, model->margin[first], model->variance[first]);
	correct_lines(columns, rows, 1, columns, table, variance, model->margin[second], model->variance[second]);
	pe_nonnegative_nearest(rows * columns, model->total, table);
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

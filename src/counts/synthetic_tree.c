/*
 * synthetic_tree.c
 *	  Which pairs of attributes are a tree.  See synthetic.h.
 */
#include "counts/synthetic.h"

#include <math.h>

double
pe_mutual_information(int32_t rows, int32_t columns, const double *table)
{
	double	   *row = pe_alloc(rows, sizeof(double));
	double	   *column = pe_alloc(columns, sizeof(double));
	double		total = 0;
	double		information = 0;

	for (int32_t i = 0; i < rows; i++)
		for (int32_t j = 0; j < columns; j++)
		{
			double		x = table[(size_t) i * columns + j];

			row[i] += x;
			column[j] += x;
			total += x;
		}
	for (int32_t i = 0; i < rows; i++)
		for (int32_t j = 0; j < columns; j++)
		{
			double		x = table[(size_t) i * columns + j];

			if (x > 0)
				information += x / total * log(x * total / (row[i] * column[j]));
		}
	pe_free(row);
	pe_free(column);
	return information;
}

double
pe_synthetic_weight(const pe_synthetic *model, int first, int second, const double *table, const double *deviation,
					pe_stream *stream)
{
	int32_t		rows = model->classing[first].classes;
	int32_t		columns = model->classing[second].classes;
	size_t		cells = (size_t) rows * columns;
	double	   *example = pe_alloc(cells, sizeof(double));
	double		variance = 0;
	double		weight;

	if (model->total <= 0)
	{
		pe_free(example);
		return 0;
	}
	for (size_t i = 0; i < cells; i++)
	{
		example[i] = model->margin[first][i / columns] * model->margin[second][i % columns] / model->total +
			deviation[i] * pe_stream_normal(stream);
		variance += deviation[i] * deviation[i] / cells;
	}
	pe_synthetic_fit_pair(model, first, second, example, variance);
	weight = pe_mutual_information(rows, columns, table) - pe_mutual_information(rows, columns, example);
	pe_free(example);
	return weight;
}

static double
weight_of(int attributes, const double *weight, int a, int b)
{
	return a < b ? weight[a * attributes + b] : weight[b * attributes + a];
}

/* Prim's algorithm; where no edge leads on, a further attribute is a root. */
void
pe_spanning_tree(int attributes, const double *weight, int root, int *parent, int *order)
{
	bool		in[PE_MAX_ATTRIBUTES] = {false};

	for (int n = 0; n < attributes; n++)
	{
		double		best = -INFINITY;
		int			next = -1;
		int			from = -1;

		for (int a = 0; n > 0 && a < attributes; a++)
			for (int b = 0; in[a] && b < attributes; b++)
				if (!in[b] && weight_of(attributes, weight, a, b) > best)
				{
					best = weight_of(attributes, weight, a, b);
					next = b;
					from = a;
				}
		for (int b = n == 0 ? root : 0; next < 0; b++)
			if (!in[b])
				next = b;
		in[next] = true;
		parent[next] = from;
		order[n] = next;
	}
}

void
pe_root_tree(int attributes, int edges, const int (*edge)[2], int root, int *parent, int *order)
{
	double		weight[PE_MAX_ATTRIBUTES * PE_MAX_ATTRIBUTES];

	for (int i = 0; i < attributes * attributes; i++)
		weight[i] = NAN;
	for (int e = 0; e < edges; e++)
	{
		int			a = edge[e][0] < edge[e][1] ? edge[e][0] : edge[e][1];
		int			b = edge[e][0] < edge[e][1] ? edge[e][1] : edge[e][0];

		weight[a * attributes + b] = 0;
	}
	pe_spanning_tree(attributes, weight, root, parent, order);
}

double *
pe_pair_by_parent(const pe_synthetic *model, int first, int second, const double *table, int parent)
{
	int32_t		rows = model->classing[first].classes;
	int32_t		columns = model->classing[second].classes;
	double	   *turned = pe_alloc((size_t) rows * columns, sizeof(double));

	for (int32_t i = 0; i < rows; i++)
		for (int32_t j = 0; j < columns; j++)
			turned[parent == first ? (size_t) i * columns + j : (size_t) j * rows + i] =
				table[(size_t) i * columns + j];
	return turned;
}

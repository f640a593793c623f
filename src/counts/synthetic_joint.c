/*
 * synthetic_joint.c
 *	  The table of all attributes together that has the tables of pairs.  See synthetic.h.
 */
#include "counts/synthetic.h"

#include <math.h>

/* Most rounds of proportional fitting, and how near is near, relatively to the total, for each pair. */
#define ROUNDS 60
#define NEAR 1e-5

int64_t
pe_synthetic_joint_cells(const pe_synthetic *model)
{
	int64_t		cells = 1;

	for (int a = 0; a < model->attributes && cells <= PE_JOINT_CELLS; a++)
		cells *= model->classing[a].classes;
	return cells <= PE_JOINT_CELLS ? cells : 0;
}

/* The joint table as it looks from a pair: cells are [before][rows][between][columns][behind]. */
typedef struct view
{
	size_t		before;
	size_t		rows;
	size_t		between;
	size_t		columns;
	size_t		behind;
} view;

static view
view_of(const pe_synthetic *model, int first, int second)
{
	view		v = {1, (size_t) model->classing[first].classes, 1, (size_t) model->classing[second].classes, 1};

	for (int a = 0; a < model->attributes; a++)
	{
		size_t		classes = (size_t) model->classing[a].classes;

		v.before *= a < first ? classes : 1;
		v.between *= a > first && a < second ? classes : 1;
		v.behind *= a > second ? classes : 1;
	}
	return v;
}

/* Adds the joint table up to that of the pair; or multiplies it by the factors of the pair. */
static void
visit(const view *v, double *joint, double *table, bool multiply)
{
	double	   *next = joint;

	for (size_t o = 0; o < v->before; o++)
		for (size_t i = 0; i < v->rows; i++)
			for (size_t m = 0; m < v->between; m++)
				for (size_t j = 0; j < v->columns; j++, next += v->behind)
				{
					double	   *cell = &table[i * v->columns + j];
					double		sum = 0;

					for (size_t k = 0; multiply && k < v->behind; k++)
						next[k] *= *cell;
					for (size_t k = 0; !multiply && k < v->behind; k++)
						sum += next[k];
					*cell += sum;
				}
}

/* One step of fitting; returns how far the pair's table was off. */
static double
fit_pair(const view *v, double *joint, const double *wanted)
{
	size_t		cells = v->rows * v->columns;
	double	   *factor = pe_alloc(cells, sizeof(double));
	double		off = 0;

	pe_poll();
	visit(v, joint, factor, false);
	for (size_t i = 0; i < cells; i++)
	{
		off += fabs(factor[i] - wanted[i]);
		factor[i] = factor[i] > 0 ? wanted[i] / factor[i] : 0;
	}
	visit(v, joint, factor, true);
	pe_free(factor);
	return off;
}

/* What independent attributes would have. */
static double *
independent(const pe_synthetic *model)
{
	size_t		cells = (size_t) pe_synthetic_joint_cells(model);
	double	   *joint = pe_alloc(cells, sizeof(double));
	size_t		done = 1;

	joint[0] = model->total;
	for (int a = 0; a < model->attributes; a++)
	{
		size_t		classes = (size_t) model->classing[a].classes;

		for (size_t i = done; i-- > 0;)
			for (size_t c = classes; c-- > 0;)
				joint[i * classes + c] = joint[i] * (model->margin[a][c] / model->total);
		done *= classes;
	}
	return joint;
}

void
pe_synthetic_join(pe_synthetic *model, double *const *pair)
{
	int			n = model->attributes;
	int			pairs = 0;
	double		off = INFINITY;

	for (int i = 0; i < n * n; i++)
		pairs += pair[i] != NULL;
	if (!(model->total > 0) || pe_synthetic_joint_cells(model) == 0)
		return;
	model->joint = independent(model);
	for (int round = 0; round < ROUNDS && off > NEAR * model->total * pairs; round++)
	{
		off = 0;
		for (int a = 0; a < n; a++)
			for (int b = a + 1; b < n; b++)
				if (pair[a * n + b] != NULL)
				{
					view		v = view_of(model, a, b);

					model->tied[a] |= UINT32_C(1) << b;
					off += fit_pair(&v, model->joint, pair[a * n + b]);
				}
	}
}

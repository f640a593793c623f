/*
 * blocks_nonnegative.c
 *	  Marginals without negative cells.  See blocks.h.
 *
 * Block R measures omega_R, the part of the table of R that sums to zero along each of
 * its axes, with noise of variance e_R in every direction; the table of A is T_A omega =
 * sum_{R in A} omega_R (x) 1/n.  Every omega gives tables that are margins of each other, so that all that is left
 * to ask is
 *
 *		min sum_R |omega_R - measured_R|^2 / (2 e_R),  T_A omega >= 0 for the largest A,
 *
 * with the total as it is.  With multipliers lambda >= 0 omega = measured + E T' lambda; the dual
 * is least squares with bounds, and T E T' has the eigenvalues e_R sum_A prod_{A \ R} 1/n.
 * Each table is divided by the standard error of its cells.  The dual is solved by conjugate gradients on
 * the cells that are at 0, with projected steps where a multiplier becomes 0 and with
 * a step along what should leave 0 where that is most of the error (after MPRGP: Dostal and Schoberl, "Minimizing
 * quadratic functions subject to bound constraints with the rate of convergence and
 * finite termination", Comput. Optim. Appl. 30, 2005).  The local conditions are those of
 * Mullins, Fuentes, Xiao, Kifer, Musco, Sheldon, "Efficient and Private Marginal Reconstruction with Local
 * Non-Negativity", NeurIPS 2024.
 *
 * What is returned has no negative cell at all: omega is drawn to 0, a uniform table, until the
 * last one is gone.  The certificate compares its sum with the dual's.
 */
#include "blocks/blocks.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "blocks/closure.h"

#define GOAL 1e-10				/* of the certificate: it is computed afresh in the end, from what rounding leaves */
#define MOST_STEPS 3000
#define CHECK_STEPS 10			/* from one look at the certificate to the next */
#define ROUNDING 1e-12			/* a cell that is so little below 0, in parts of the total, is 0 */
#define STEP 1.9				/* of a projected gradient, times 1 over the largest eigenvalue */

/* Vectors have the layout of y. */
typedef struct ascent
{
	const pe_blocks *blocks;
	pe_closure	closure;		/* of axes */
	int32_t    *block;			/* of each set */
	size_t		rows;
	double		total;
	double	   *noise;			/* e of each block; 0 of the total, which stays */
	double	   *scale;			/* of each block's table, 0 if it is not one of the largest */
	double		step;
	double	   *measured;
	double	   *omega;
	double	   *lambda;
	double	   *slack;			/* S T omega, S the scales: the gradient */
	double	   *direction;
	double	   *change;			/* of omega, for one unit of a direction */
	double	   *image;			/* of slack */
	double		dual;			/* at the last change of cells, and the most so far */
	double		best_dual;
	double		shrink;			/* what omega is to be multiplied by */
} ascent;

/* ---- tables and their parts ---- */

/* The values of a set, seen from one of its axes: outer x cells x inner. */
typedef struct view
{
	size_t		outer;
	size_t		cells;
	size_t		inner;
} view;

static view
view_along(const ascent *s, pe_attribute_set set, int axis)
{
	view		v = {1, (size_t) s->blocks->axis[axis].cells, 1};

	for (int a = 0; a < s->blocks->axes; a++)
		if (a != axis && pe_set_has(set, a))
		{
			if (a < axis)
				v.outer *= (size_t) s->blocks->axis[a].cells;
			else
				v.inner *= (size_t) s->blocks->axis[a].cells;
		}
	return v;
}

/* mean += the mean along an axis; value -= it. */
static void
split(view v, double *value, double *mean)
{
	for (size_t o = 0; o < v.outer; o++, value += v.cells * v.inner, mean += v.inner)
		for (size_t i = 0; i < v.inner; i++)
		{
			double		sum = 0.0;

			for (size_t c = 0; c < v.cells; c++)
				sum += value[c * v.inner + i];
			sum /= (double) v.cells;
			mean[i] += sum;
			for (size_t c = 0; c < v.cells; c++)
				value[c * v.inner + i] -= sum;
		}
}

/* value += sum / cells in every cell. */
static void
spread(view v, double *value, const double *sum)
{
	double		part = 1.0 / (double) v.cells;

	for (size_t o = 0; o < v.outer; o++, sum += v.inner)
		for (size_t c = 0; c < v.cells; c++, value += v.inner)
			for (size_t i = 0; i < v.inner; i++)
				value[i] += part * sum[i];
}

static double *
values_of(const ascent *s, int32_t set, double *vector)
{
	return vector + s->blocks->first[s->block[set]];
}

/* T or, with transpose, T', in place: attribute by attribute as in closure.h. */
static void
transform(const ascent *s, bool transpose, double *vector)
{
	for (int a = 0; a < s->blocks->axes; a++)
		for (int32_t k = s->closure.pair[a]; k < s->closure.pair[a + 1]; k++)
		{
			view		v = view_along(s, s->closure.set[s->closure.with[k]], a);
			double	   *with = values_of(s, s->closure.with[k], vector);
			double	   *without = values_of(s, s->closure.without[k], vector);

			if (transpose)
				split(v, with, without);
			else
				spread(v, with, without);
		}
}

static void
multiply_blocks(const ascent *s, const double *factor, double *vector)
{
	for (int32_t b = 0; b < s->blocks->blocks; b++)
		for (int64_t i = s->blocks->first[b]; i < s->blocks->first[b + 1]; i++)
			vector[i] *= factor[b];
}

/* parts = E T' S x */
static void
parts_of(const ascent *s, const double *x, double *parts)
{
	pe_poll();
	memcpy(parts, x, s->rows * sizeof(double));
	multiply_blocks(s, s->scale, parts);
	transform(s, true, parts);
	multiply_blocks(s, s->noise, parts);
}

/* tables = S T parts */
static void
tables_of(const ascent *s, const double *parts, double *tables)
{
	memcpy(tables, parts, s->rows * sizeof(double));
	transform(s, false, tables);
	multiply_blocks(s, s->scale, tables);
}

/* omega and slack of lambda. */
static void
evaluate(ascent *s)
{
	parts_of(s, s->lambda, s->omega);
	for (size_t i = 0; i < s->rows; i++)
		s->omega[i] += s->measured[i];
	tables_of(s, s->omega, s->slack);
}

/* ---- what is given ---- */

/* 1 / n^2 and (n - 1) / n for each axis, and the tables that no other holds: scale 1. */
static void
take_axes(ascent *s, double *inside, double *outside)
{
	for (int32_t k = 0; k < s->closure.sets; k++)
		s->scale[s->block[k]] = 1.0;
	for (int a = 0; a < s->blocks->axes; a++)
	{
		double		n = s->blocks->axis[a].cells;

		inside[a] = (n - 1.0) / n;
		outside[a] = 1.0 / (n * n);
		for (int32_t k = s->closure.pair[a]; k < s->closure.pair[a + 1]; k++)
			s->scale[s->block[s->closure.without[k]]] = 0.0;
	}
}

static double
cells_of(const ascent *s, int32_t block)
{
	return (double) (s->blocks->first[block + 1] - s->blocks->first[block]);
}

/* Tables in units of their cells' standard errors; the largest eigenvalue. */
static void
take_scales(ascent *s)
{
	double		inside[PE_MAX_ATTRIBUTES];
	double		outside[PE_MAX_ATTRIBUTES];
	double		one[PE_MAX_ATTRIBUTES];
	double	   *value = pe_la_vector((size_t) s->closure.sets);
	double		largest = 0.0;

	take_axes(s, inside, outside);
	for (int32_t k = 0; k < s->closure.sets; k++)
		value[k] = s->noise[s->block[k]];
	pe_closure_sum_below(&s->closure, inside, outside, value);
	for (int32_t k = 0; k < s->closure.sets; k++)
	{
		double		variance = value[k];

		value[k] = s->scale[s->block[k]] > 0.0 && variance > 0.0 ? 1.0 / variance : 0.0;
		s->scale[s->block[k]] = sqrt(value[k]);
	}
	for (int a = 0; a < s->blocks->axes; a++)
	{
		one[a] = 1.0;
		outside[a] = sqrt(outside[a]);
	}
	pe_closure_sum_above(&s->closure, one, outside, value);
	for (int32_t k = 0; k < s->closure.sets; k++)
		largest = fmax(largest, s->noise[s->block[k]] * value[k]);
	s->step = largest > 0.0 ? STEP / largest : 0.0;
	pe_free(value);
}

/* What is measured of each part: the rest of y is noise that says nothing. */
static void
take_measured(ascent *s, const double *y)
{
	memcpy(s->measured, y, s->rows * sizeof(double));
	for (int a = 0; a < s->blocks->axes; a++)
		for (int32_t k = s->closure.pair[a]; k < s->closure.pair[a + 1]; k++)
			split(view_along(s, s->closure.set[s->closure.with[k]], a),
				  values_of(s, s->closure.with[k], s->measured), s->change);
	for (int32_t b = 0; b < s->blocks->blocks; b++)
		for (int64_t i = s->blocks->first[b]; i < s->blocks->first[b + 1]; i++)
			s->measured[i] /= cells_of(s, b);
}

/* The block of each set, and the variances of its parts. */
static void
take_blocks(ascent *s)
{
	const pe_blocks *blocks = s->blocks;
	pe_attribute_set *set = pe_alloc((size_t) blocks->blocks, sizeof(*set));

	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int a = 0; a < blocks->axes; a++)
			set[b] |= pe_blocks_choice(blocks, b, a) >= 0 ? pe_set_of(a) : 0;
	if (!pe_closure_init(set, blocks->blocks, blocks->blocks, &s->closure))
		pe_bug("a block without those of its margins");
	for (int32_t b = 0; b < blocks->blocks; b++)
	{
		s->block[pe_closure_find(&s->closure, set[b])] = b;
		s->noise[b] = set[b] != 0 ? pe_blocks_relative_variance(blocks, b) / (cells_of(s, b) * cells_of(s, b)) : 0.0;
	}
	pe_free(set);
}

/* ---- the dual ---- */

/* The largest part of the way to the uniform tables that a cell below 0 needs. */
static double
way_to_uniform(const ascent *s)
{
	double		way = 0.0;

	for (int32_t b = 0; b < s->blocks->blocks; b++)
		for (int64_t i = s->blocks->first[b]; i < s->blocks->first[b + 1] && s->scale[b] > 0.0; i++)
			if (s->slack[i] < -ROUNDING * s->total * s->scale[b])
				way = fmax(way, s->slack[i] / (s->slack[i] - s->total / cells_of(s, b) * s->scale[b]));
	return way;
}

/* Sum of |factor omega - measured|^2 / (2 e). */
static double
distance(const ascent *s, double factor)
{
	double		sum = 0.0;

	for (int32_t b = 0; b < s->blocks->blocks; b++)
		for (int64_t i = s->blocks->first[b]; i < s->blocks->first[b + 1] && s->noise[b] > 0.0; i++)
		{
			double		error = factor * s->omega[i] - s->measured[i];

			sum += error * error / (2.0 * s->noise[b]);
		}
	return sum;
}

/* At omega of lambda: what no tables without negative cells are below. */
static double
dual_of(const ascent *s)
{
	return distance(s, 1.0) - pe_la_dot(s->rows, s->lambda, s->slack);
}

/* How far the tables, without their negative cells, are from the nearest ones, relatively. */
static double
certificate(ascent *s)
{
	double		above;
	double		below = dual_of(s);

	s->shrink = 1.0 - way_to_uniform(s);
	above = distance(s, s->shrink);
	return above > 0.0 ? fmax((above - below) / above, 0.0) : 0.0;
}

/*
 * The squares of the projected gradient: where lambda is positive, reduced to
 * what a step can use; and where it is 0.
 */
static void
gradients(const ascent *s, double *usable, double *chopped)
{
	*usable = *chopped = 0.0;
	for (size_t i = 0; i < s->rows; i++)
		if (s->lambda[i] > 0.0)
			*usable += fmin(s->lambda[i] / s->step, s->slack[i]) * s->slack[i];
		else if (s->slack[i] < 0.0)
			*chopped += s->slack[i] * s->slack[i];
}

/*
 * direction = the gradient where lambda is positive, less `part` of the
 * direction; or with chopped where it wants to leave 0.
 */
static void
take_direction(ascent *s, bool chopped, double part)
{
	for (size_t i = 0; i < s->rows; i++)
		if (chopped)
			s->direction[i] = s->lambda[i] > 0.0 ? 0.0 : fmin(s->slack[i], 0.0);
		else
			s->direction[i] = s->lambda[i] > 0.0 ? s->slack[i] - part * s->direction[i] : 0.0;
}

/* How far until a multiplier is 0. */
static double
feasible_step(const ascent *s)
{
	double		step = INFINITY;

	for (size_t i = 0; i < s->rows; i++)
		if (s->direction[i] > 0.0)
			step = fmin(step, s->lambda[i] / s->direction[i]);
	return step;
}

static void
move(ascent *s, double step)
{
	for (size_t i = 0; i < s->rows; i++)
	{
		s->lambda[i] = fmax(s->lambda[i] - step * s->direction[i], 0.0);
		s->omega[i] -= step * s->change[i];
		s->slack[i] -= step * s->image[i];
	}
}

/*
 * Past the first multiplier that becomes 0: the whole step, those below 0 put to 0, which does best but may
 * lower the dual.  After that, until it has come back, projected gradients, which never do.
 */
static void
expand(ascent *s, double best, double most)
{
	bool		bold = s->dual >= s->best_dual;

	move(s, bold ? best : most);
	for (size_t i = 0; i < s->rows && !bold; i++)
		if (s->lambda[i] > 0.0)
			s->lambda[i] = fmax(s->lambda[i] - s->step * s->slack[i], 0.0);
	evaluate(s);
	take_direction(s, false, 0.0);
	s->dual = dual_of(s);
	s->best_dual = fmax(s->best_dual, s->dual);
}

/* After a step of conjugate gradients, the next direction. */
static void
conjugate(ascent *s, double curvature)
{
	double		part = 0.0;

	for (size_t i = 0; i < s->rows; i++)
		part += s->lambda[i] > 0.0 ? s->slack[i] * s->image[i] : 0.0;
	take_direction(s, false, part / curvature);
}

/* One step; false if none helps. */
static bool
improve(ascent *s)
{
	double		usable;
	double		chopped;
	double		curvature;
	double		best;
	double		most;

	gradients(s, &usable, &chopped);
	if (chopped > usable)
		take_direction(s, true, 0.0);
	parts_of(s, s->direction, s->change);
	tables_of(s, s->change, s->image);
	curvature = pe_la_dot(s->rows, s->direction, s->image);
	most = feasible_step(s);
	best = curvature > 0.0 ? pe_la_dot(s->rows, s->slack, s->direction) / curvature : most;
	if (!isfinite(best) || (usable == 0.0 && chopped == 0.0))
		return false;
	if (best > most || curvature <= 0.0)
		expand(s, best, most);
	else
	{
		move(s, best);
		if (chopped > usable)
			take_direction(s, false, 0.0);
		else
			conjugate(s, curvature);
	}
	return true;
}

static double
ascend(ascent *s)
{
	double		gap;
	bool		moves = true;

	evaluate(s);
	gap = certificate(s);
	for (int i = 0; i < MOST_STEPS && gap > GOAL && moves; i += CHECK_STEPS)
	{
		for (int k = 0; k < CHECK_STEPS && moves; k++)
			moves = improve(s);
		gap = certificate(s);
	}
	evaluate(s);
	return certificate(s);
}

static void
ascent_init(ascent *s, const pe_blocks *blocks, const double *y)
{
	double	  **vectors[] = {&s->measured, &s->omega, &s->lambda, &s->slack, &s->direction, &s->change, &s->image};

	*s = (ascent) {.blocks = blocks, .rows = (size_t) blocks->first[blocks->blocks],
		.block = pe_alloc((size_t) blocks->blocks, sizeof(int32_t)), .noise = pe_la_vector((size_t) blocks->blocks),
		.scale = pe_la_vector((size_t) blocks->blocks)};
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
		*vectors[i] = pe_la_vector(s->rows);
	take_blocks(s);
	take_scales(s);
	take_measured(s, y);
	s->total = *values_of(s, 0, s->measured);
}

static void
ascent_free(ascent *s)
{
	pe_closure_free(&s->closure);
	pe_free(s->block);
	pe_free(s->noise);
	pe_free(s->scale);
	pe_free(s->measured);
	pe_free(s->omega);
	pe_free(s->lambda);
	pe_free(s->slack);
	pe_free(s->direction);
	pe_free(s->change);
	pe_free(s->image);
}

double
pe_blocks_nonnegative(const pe_blocks *blocks, const double *y, double *nearest)
{
	double		gap = 0.0;
	ascent		s;

	if (blocks->kind != PE_BLOCKS_MARGINALS)
		pe_bug("nonnegative tables of blocks that are no marginals");
	ascent_init(&s, blocks, y);
	memset(nearest, 0, s.rows * sizeof(double));
	if (s.total > 0.0)
	{
		gap = ascend(&s);
		for (int32_t b = 0; b < blocks->blocks; b++)
			for (int64_t i = blocks->first[b]; i < blocks->first[b + 1]; i++)
				nearest[i] = s.omega[i] * cells_of(&s, b) * (s.noise[b] > 0.0 ? s.shrink : 1.0);
	}
	ascent_free(&s);
	return gap;
}

size_t
pe_blocks_nonnegative_memory(const pe_blocks *blocks)
{
	return (size_t) blocks->first[blocks->blocks] * 7 * sizeof(double) + (size_t) blocks->blocks * 256;
}

/*
 * programme.c
 *	  Linear programmes of few variables by an interior point method.  See programme.h.
 *
 * All constraints of a programme have one form, row.z + slack = right with slack >= 0: the
 * functions, where z's last number is the height t of the epigraph, the inequalities,
 * and the ends of the box.  Only three functions know which row is what.  Newton's
 * direction does not depend on the scales of rows and columns, and neither does a
 * Cholesky factor's accuracy, so that nothing is scaled but the point of departure.
 */
#include "affine/programme.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"

/* Rows that are weighted at a time for the normal equations. */
#define BLOCK 256

/* Iterations after which the best that was found is returned. */
#define MOST_ITERATIONS 150

/* pe_affine_minimise_in moves no further where slacks times multipliers are so small. */
#define ARRIVED 1e-10

/* A step goes so far towards the nearest slack or multiplier that would be 0. */
#define STEP_PART 0.995

/* Relative complementarity below which solutions are proposed and judged. */
#define NEAR 1e-3

/* Inequalities hold to this part of their terms. */
#define FEASIBLE 0x1p-44

/* A direction with less slope does not descend. */
#define DESCENT 1e-9

/* pe_polytope_tighten: the least part of the box, and the least width in terms of the given one. */
#define THIN_PART 0x1p-20
#define THIN_WIDTH 1e-9

/* The least slack of the centre in the terms of an inequality: points in doubles are that near to real ones. */
#define THIN_ROUNDING 0x1p-48

/* The nearest point is found to that, and the header promises ten times it. */
#define NEAREST 1e-10

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

/* Rows that lie together: functions or inequalities. */
typedef struct part
{
	const double *row;
	int32_t		stride;
	int32_t		count;
	double		height;			/* coefficient of t */
} part;

/* min cost.z + quadratic/2 |z - y|^2 */
typedef struct programme
{
	int32_t		d;				/* variables without t */
	int32_t		n;				/* with it */
	int32_t		rows;			/* of both parts */
	int32_t		pairs;			/* rows and the 2 d ends of the box */
	part		part[2];
	const double *lower;
	const double *upper;
	bool		fixed[PE_AFFINE_VARIABLES];
	bool	   *absent;			/* pairs: an end that is infinite, or of a fixed coordinate */
	double	   *right;			/* pairs */
	double		cost[PE_AFFINE_VARIABLES + 1];
	double		quadratic;
	const double *y;
} programme;

/* A point, its slacks and multipliers, and a direction of each. */
typedef struct iterate
{
	double		z[PE_AFFINE_VARIABLES + 1];
	double		dz[PE_AFFINE_VARIABLES + 1];
	double	   *slack;			/* pairs, as all of these */
	double	   *multiplier;
	double	   *dslack;
	double	   *dmultiplier;
	double	   *missing;		/* right - row.z - slack */
	double	   *target;			/* what slack times multiplier should lose */
	double	   *work;
	bool	   *active;
	double	   *weighted;		/* BLOCK rows of n */
	double		normal[(PE_AFFINE_VARIABLES + 1) * (PE_AFFINE_VARIABLES + 1)];
	double		factor[(PE_AFFINE_VARIABLES + 1) * (PE_AFFINE_VARIABLES + 1)];
	double		dual[PE_AFFINE_VARIABLES + 1];	/* gradient of the Lagrangian */
} iterate;

#define PAIR_ARRAYS 10			/* right, those of an iterate and those of a solution */

static double *
new_vector(size_t count)
{
	return pe_alloc(count, sizeof(double));
}

/* Offsets may be exact: the programme's are, and so is what it makes of them. */
static void
free_vector(double *x, size_t count)
{
	pe_wipe(x, count * sizeof(double));
	pe_free(x);
}

static double
dot(int32_t count, const double *x, const double *y)
{
	double		sum = 0;

	for (int32_t j = 0; j < count; j++)
		sum += x[j] * y[j];
	return sum;
}

/* out = rows times z */
static void
multiply(const programme *p, const double *z, double *out)
{
	const double t = p->n > p->d ? z[p->d] : 0;

	for (int k = 0; k < 2; k++)
	{
		const part *part = &p->part[k];

		for (int32_t i = 0; i < part->count; i++)
			out[i] = part->height * t;
		if (part->count > 0)
			pe_la_gemv(true, p->d, part->count, 1, part->row, part->stride, z, 1, out);
		out += part->count;
	}
	for (int32_t j = 0; j < p->d; j++)
	{
		out[j] = -z[j];
		out[p->d + j] = z[j];
	}
}

/* out = start + transposed rows times x */
static void
multiply_transposed(const programme *p, const double *x, const double *start, double *out)
{
	memcpy(out, start, (size_t) p->n * sizeof(double));
	for (int k = 0; k < 2; k++)
	{
		const part *part = &p->part[k];

		if (part->count > 0)
			pe_la_gemv(false, p->d, part->count, 1, part->row, part->stride, x, 1, out);
		for (int32_t i = 0; i < part->count && part->height != 0; i++)
			out[p->d] += part->height * x[i];
		x += part->count;
	}
	for (int32_t j = 0; j < p->d; j++)
		out[j] += x[p->d + j] - x[j];
}

/* Adds one part's rows, each times the root of its weight, to the normal matrix. */
static void
add_part(const programme *p, iterate *at, const part *part, const double *weight)
{
	int32_t		n = p->n;
	int32_t		filled = 0;

	for (int32_t i = 0; i < part->count; i++)
	{
		const double *row = part->row + (size_t) i * (size_t) part->stride;
		double		root = sqrt(weight[i]);
		double	   *to = at->weighted + (size_t) filled * (size_t) n;

		if (root > 0)
		{
			for (int32_t j = 0; j < p->d; j++)
				to[j] = root * row[j];
			if (n > p->d)
				to[p->d] = root * part->height;
			filled++;
		}
		if (filled > 0 && (filled == BLOCK || i == part->count - 1))
		{
			pe_la_syrk(false, n, filled, 1, at->weighted, n, 1, at->normal, n);
			filled = 0;
		}
	}
}

/* normal = quadratic + the sum of weight row row' */
static void
build_normal(const programme *p, iterate *at, const double *weight)
{
	int32_t		n = p->n;

	memset(at->normal, 0, sizeof(at->normal));
	for (int k = 0; k < 2; k++)
	{
		add_part(p, at, &p->part[k], weight);
		weight += p->part[k].count;
	}
	for (int32_t j = 0; j < p->d; j++)
		at->normal[j * (n + 1)] += weight[j] + weight[p->d + j];
	for (int32_t j = 0; j < n; j++)
		at->normal[j * (n + 1)] += p->quadratic;
	pe_la_mirror(n, at->normal, n);
	for (int32_t j = 0; j < p->d; j++)
		for (int32_t k = 0; k < n && p->fixed[j]; k++)
			at->normal[j * n + k] = at->normal[k * n + j] = j == k;
}

/*
 * The factor of the normal matrix.  The last bit of the diagonal is added, more if that
 * does not help, so that directions without any weight stay where they are.  More at once
 * would be more than the weights of directions in which a programme is nearly level.
 */
static bool
factorise(const programme *p, iterate *at)
{
	int32_t		n = p->n;
	size_t		size = (size_t) n * (size_t) n;

	if (!pe_la_finite(size, at->normal))
		return false;
	for (double ridge = DBL_EPSILON; ridge < 1; ridge *= 0x1p8)
	{
		memcpy(at->factor, at->normal, size * sizeof(double));
		for (int32_t j = 0; j < n; j++)
			at->factor[j * (n + 1)] = at->normal[j * (n + 1)] > DBL_MIN ? at->normal[j * (n + 1)] * (1 + ridge) : 1;
		if (pe_la_cholesky(n, at->factor, n))
			return true;
	}
	return false;
}

/* out = normal^-1 right, with two steps of refinement against what the ridge changed. */
static void
solve(const programme *p, const iterate *at, const double *right, double *out)
{
	int32_t		n = p->n;
	double		rest[PE_AFFINE_VARIABLES + 1];

	memset(out, 0, (size_t) n * sizeof(double));
	for (int round = 0; round < 3; round++)
	{
		memcpy(rest, right, (size_t) n * sizeof(double));
		for (int32_t j = 0; j < p->d; j++)
			if (p->fixed[j])
				rest[j] = 0;
		pe_la_gemv(false, n, n, -1, at->normal, n, out, 1, rest);
		pe_la_cholesky_solve(n, 1, at->factor, n, rest, n);
		for (int32_t j = 0; j < n; j++)
			out[j] += rest[j];
	}
}

/* ------------------------------------------------------------------
 * Programmes
 * ------------------------------------------------------------------
 */
static void
set_right(programme *p, const double *offset)
{
	const part *sides = &p->part[1];
	double	   *right = p->right + p->part[0].count;

	for (int32_t i = 0; i < p->part[0].count; i++)
		p->right[i] = offset == NULL ? 0 : -offset[i];
	for (int32_t k = 0; k < sides->count; k++)
		right[k] = sides->row[(size_t) k * (size_t) sides->stride + (size_t) p->d];
	right += sides->count;
	for (int32_t j = 0; j < p->d; j++)
	{
		bool	   *absent = p->absent + p->rows + j;

		p->fixed[j] = p->lower[j] == p->upper[j];
		absent[0] = p->fixed[j] || isinf(p->lower[j]);
		absent[p->d] = p->fixed[j] || isinf(p->upper[j]);
		right[j] = absent[0] ? 1 : -p->lower[j];
		right[p->d + j] = absent[p->d] ? 1 : p->upper[j];
	}
}

/* With f NULL there is no t, and the objective is the caller's to set. */
static void
programme_init(programme *p, const pe_plain_affine *f, const pe_polytope *set)
{
	memset(p, 0, sizeof(*p));
	p->d = set->variables;
	p->n = p->d + (f != NULL);
	if (f != NULL)
	{
		p->part[0] = (part) {f->slope, p->d, f->rows, -1};
		p->cost[p->d] = 1;
	}
	p->part[1] = (part) {set->inequality, p->d + 1, set->inequalities, 0};
	p->rows = p->part[0].count + p->part[1].count;
	p->pairs = p->rows + 2 * p->d;
	p->lower = set->lower;
	p->upper = set->upper;
	p->right = new_vector((size_t) p->pairs);
	p->absent = pe_alloc((size_t) p->pairs, sizeof(*p->absent));
	set_right(p, f == NULL ? NULL : f->offset);
}

static void
programme_free(programme *p)
{
	free_vector(p->right, (size_t) p->pairs);
	pe_free(p->absent);
}

static iterate *
new_iterate(const programme *p)
{
	iterate    *at = pe_alloc(1, sizeof(*at));

	at->slack = new_vector((size_t) p->pairs);
	at->multiplier = new_vector((size_t) p->pairs);
	at->dslack = new_vector((size_t) p->pairs);
	at->dmultiplier = new_vector((size_t) p->pairs);
	at->missing = new_vector((size_t) p->pairs);
	at->target = new_vector((size_t) p->pairs);
	at->work = new_vector((size_t) p->pairs);
	at->active = pe_alloc((size_t) p->pairs, sizeof(*at->active));
	at->weighted = new_vector((size_t) BLOCK * (size_t) p->n);
	return at;
}

static void
free_iterate(const programme *p, iterate *at)
{
	size_t		pairs = (size_t) p->pairs;

	free_vector(at->slack, pairs);
	free_vector(at->multiplier, pairs);
	free_vector(at->dslack, pairs);
	free_vector(at->dmultiplier, pairs);
	free_vector(at->missing, pairs);
	free_vector(at->target, pairs);
	free_vector(at->work, pairs);
	pe_free(at->active);
	free_vector(at->weighted, (size_t) BLOCK * (size_t) p->n);
	pe_wipe(at, sizeof(*at));
	pe_free(at);
}

/* ------------------------------------------------------------------
 * The iteration
 * ------------------------------------------------------------------
 */

/* missing and dual at the point. */
static void
measure_iterate(const programme *p, iterate *at)
{
	double		start[PE_AFFINE_VARIABLES + 1];

	multiply(p, at->z, at->work);
	for (int32_t i = 0; i < p->pairs; i++)
		at->missing[i] = p->absent[i] ? 0 : p->right[i] - at->work[i] - at->slack[i];
	for (int32_t j = 0; j < p->n; j++)
		start[j] = p->cost[j] + (p->quadratic > 0 ? p->quadratic * (at->z[j] - p->y[j]) : 0);
	multiply_transposed(p, at->multiplier, start, at->dual);
}

static double
complementarity(const programme *p, const iterate *at)
{
	return dot(p->pairs, at->slack, at->multiplier);
}

/*
 * Newton's direction towards slack multiplier - target = 0 without missing and dual:
 * with weight = multiplier / slack,
 *	  row.dz + dslack = missing,
 *	  dmultiplier = -target / slack - weight dslack,
 *	  normal dz = -dual - sum of row (-target / slack - weight missing).
 */
static void
find_direction(const programme *p, iterate *at)
{
	double		right[PE_AFFINE_VARIABLES + 1];

	for (int32_t i = 0; i < p->pairs; i++)
		at->work[i] = -(at->target[i] + at->multiplier[i] * at->missing[i]) / at->slack[i];
	multiply_transposed(p, at->work, at->dual, right);
	for (int32_t j = 0; j < p->n; j++)
		right[j] = -right[j];
	solve(p, at, right, at->dz);
	multiply(p, at->dz, at->work);
	for (int32_t i = 0; i < p->pairs; i++)
	{
		at->dslack[i] = p->absent[i] ? 0 : at->missing[i] - at->work[i];
		at->dmultiplier[i] = -(at->target[i] + at->multiplier[i] * at->dslack[i]) / at->slack[i];
	}
}

/* The largest step up to most for which x + step dx >= 0. */
static double
longest_step(int32_t count, const double *x, const double *dx, double most)
{
	double		step = most;

	for (int32_t i = 0; i < count; i++)
		if (x[i] + step * dx[i] < 0)
			step = -x[i] / dx[i];
	return step;
}

/* Mehrotra's centring: the cube of what the predictor would leave of the complementarity. */
static void
set_target(const programme *p, iterate *at)
{
	double		primal = longest_step(p->pairs, at->slack, at->dslack, 1);
	double		dual = longest_step(p->pairs, at->multiplier, at->dmultiplier, 1);
	double		now = complementarity(p, at);
	double		then = 0;
	double		left;
	int32_t		present = 0;

	for (int32_t i = 0; i < p->pairs; i++)
	{
		present += !p->absent[i];
		then += (at->slack[i] + primal * at->dslack[i]) * (at->multiplier[i] + dual * at->dmultiplier[i]);
	}
	left = now > 0 ? then / now : 0;
	for (int32_t i = 0; i < p->pairs; i++)
		if (!p->absent[i])
			at->target[i] += at->dslack[i] * at->dmultiplier[i] - left * left * left * now / present;
}

/*
 * Where the predictor takes away a larger part of the slack than of the multiplier, the
 * constraint holds with equality at the solution (Tapia's indicator; the two parts add up to 1).
 */
static void
find_active(const programme *p, iterate *at)
{
	for (int32_t i = 0; i < p->pairs; i++)
		at->active[i] = !p->absent[i] && at->dmultiplier[i] * at->slack[i] > at->dslack[i] * at->multiplier[i];
}

static void
move(int32_t count, double *x, double step, const double *dx)
{
	for (int32_t i = 0; i < count; i++)
		x[i] += step * dx[i];
}

/* Both steps are the same where the objective is quadratic. */
static void
take_step(const programme *p, iterate *at)
{
	double		primal = fmin(1, STEP_PART * longest_step(p->pairs, at->slack, at->dslack, 2));
	double		dual = fmin(1, STEP_PART * longest_step(p->pairs, at->multiplier, at->dmultiplier, 2));

	if (p->quadratic > 0)
		primal = dual = fmin(primal, dual);
	move(p->n, at->z, primal, at->dz);
	move(p->pairs, at->slack, primal, at->dslack);
	move(p->pairs, at->multiplier, dual, at->dmultiplier);
}

/* The matrix of the predictor and of the corrector; false if it cannot be factorised. */
static bool
weigh_all(const programme *p, iterate *at)
{
	for (int32_t i = 0; i < p->pairs; i++)
	{
		at->work[i] = at->multiplier[i] / at->slack[i];
		at->target[i] = at->multiplier[i] * at->slack[i];
	}
	build_normal(p, at, at->work);
	return factorise(p, at);
}

/* One predictor and corrector; false if the direction is none. */
static bool
predict_and_correct(const programme *p, iterate *at)
{
	find_direction(p, at);
	find_active(p, at);
	set_target(p, at);
	find_direction(p, at);
	return pe_la_finite((size_t) p->n, at->dz);
}

/* False if there is no direction to be had. */
static bool
iterate_once(const programme *p, iterate *at)
{
	if (!weigh_all(p, at) || !predict_and_correct(p, at))
		return false;
	take_step(p, at);
	return true;
}

/* A matrix and a direction that lead nowhere. */
static void
stand_still(const programme *p, iterate *at)
{
	memset(at->dz, 0, sizeof(at->dz));
	memset(at->dslack, 0, (size_t) p->pairs * sizeof(double));
	memset(at->dmultiplier, 0, (size_t) p->pairs * sizeof(double));
}

static void
make_identity(const programme *p, iterate *at)
{
	memset(at->factor, 0, sizeof(at->factor));
	for (int32_t j = 0; j < p->n; j++)
		at->factor[j * (p->n + 1)] = 1;
}

/* The work of iterate_once in any case; once it has arrived, or there is no direction, it stays where it is. */
static void
iterate_in_full(const programme *p, iterate *at, bool *arrived)
{
	*arrived = *arrived || complementarity(p, at) <= ARRIVED * (1 + fabs(at->z[p->d]));
	if (!weigh_all(p, at))
	{
		make_identity(p, at);
		*arrived = true;
	}
	if (!predict_and_correct(p, at))
		*arrived = true;
	if (*arrived)
		stand_still(p, at);
	take_step(p, at);
}

/* ------------------------------------------------------------------
 * Points of departure
 * ------------------------------------------------------------------
 */

/* What counts as a long way in a coordinate. */
static double
length_of(const programme *p, const double *x, int32_t j)
{
	double		width = p->upper[j] - p->lower[j];

	return isfinite(width) ? width : 1 + fabs(x[j]);
}

/* A point inside the box: near to x, or in the middle where x is NULL. */
static void
place_inside(const programme *p, const double *x, double *z)
{
	for (int32_t j = 0; j < p->d; j++)
	{
		double		lower = p->lower[j];
		double		upper = p->upper[j];

		if (isfinite(upper) && isfinite(lower))
		{
			double		margin = x == NULL ? 0.5 : 0.01;
			double		left = lower + margin * (upper - lower);

			z[j] = x == NULL ? left : fmax(left, fmin(upper - margin * (upper - lower), x[j]));
		}
		else if (isfinite(lower))
			z[j] = fmax(lower + 0.01 * (1 + fabs(lower)), x == NULL ? lower + 1 : x[j]);
		else if (isfinite(upper))
			z[j] = fmin(upper - 0.01 * (1 + fabs(upper)), x == NULL ? upper - 1 : x[j]);
		else
			z[j] = x == NULL ? 0 : x[j];
	}
}

/* How much a row changes along such ways. */
static double
size_of_row(const programme *p, const double *row, const double *x)
{
	double		size = 0;

	for (int32_t j = 0; j < p->d; j++)
		size += fabs(row[j]) * (p->fixed[j] ? 0 : length_of(p, x, j));
	return size > 0 ? size : 1;
}

/* The height of the point, above all functions by what the highest of them changes.  Returns the mean slack. */
static double
raise(const programme *p, iterate *at)
{
	const part *functions = &p->part[0];
	int32_t		highest = 0;
	double		sum = 0;
	double		top;

	for (int32_t i = 0; i < functions->count; i++)
	{
		at->slack[i] = p->right[i] - at->work[i];
		if (at->slack[i] < at->slack[highest])
			highest = i;
	}
	top = at->slack[highest];
	at->z[p->d] = size_of_row(p, functions->row + (size_t) highest * (size_t) functions->stride, at->z) - top;
	for (int32_t i = 0; i < functions->count; i++)
	{
		at->slack[i] += at->z[p->d];
		sum += 1 / at->slack[i];
	}
	return 1 / sum;
}

/* Slacks of inequalities may be larger than they are: the iteration makes up for it. */
static void
set_slacks(const programme *p, iterate *at)
{
	const part *sides = &p->part[1];
	int32_t		i = p->part[0].count;

	for (int32_t k = 0; k < sides->count; k++, i++)
		at->slack[i] = fmax(p->right[i] - at->work[i],
							0.01 * size_of_row(p, sides->row + (size_t) k * (size_t) sides->stride, at->z));
	for (; i < p->pairs; i++)
		at->slack[i] = p->absent[i] ? 1 : p->right[i] - at->work[i];
}

/* Of the quadratic objective: its size in terms of the way to y and of the box. */
static double
size_of_way(const programme *p, const iterate *at)
{
	double		way = 0;

	for (int32_t j = 0; j < p->d; j++)
		way = fmax(way, fmax(fabs(at->z[j] - p->y[j]), 0.1 * length_of(p, at->z, j)));
	return way;
}

/* Departs from near x (NULL: the middle), all products of slacks and multipliers alike. */
static void
depart(const programme *p, iterate *at, const double *x)
{
	double		product;

	memset(at->z, 0, sizeof(at->z));
	place_inside(p, x, at->z);
	multiply(p, at->z, at->work);
	product = p->n > p->d ? raise(p, at) : size_of_way(p, at) * size_of_way(p, at) / p->pairs;
	set_slacks(p, at);
	for (int32_t i = 0; i < p->pairs; i++)
		at->multiplier[i] = p->absent[i] ? 0 : product / at->slack[i];
}

/* ------------------------------------------------------------------
 * Sums in twice the precision of double
 * ------------------------------------------------------------------
 */
typedef struct wide
{
	double		high;
	double		low;
} wide;

/* sum += x, and what the sum rounds off goes to low (Knuth). */
static void
wide_add(wide *sum, double x)
{
	double		high = sum->high + x;
	double		part = high - sum->high;

	sum->low += (sum->high - (high - part)) + (x - part);
	sum->high = high;
}

static void
wide_add_product(wide *sum, double x, double y)
{
	double		product = x * y;

	sum->low += fma(x, y, -product);
	wide_add(sum, product);
}

/* ------------------------------------------------------------------
 * Solutions
 * ------------------------------------------------------------------
 */

/* The best that was found, and multipliers high + low on their way to a bound. */
typedef struct solution
{
	const pe_plain_affine *f;
	double	   *x;
	double		value;
	double		bound;
	double		rounding;		/* of the functions at x, roughly */
	double		reach;			/* the size of points, for what is rounding in inequalities */
	double	   *high;			/* pairs */
	double	   *low;
	wide		sum[PE_AFFINE_VARIABLES + 1];	/* cost + transposed rows times the multipliers */
	double		size[PE_AFFINE_VARIABLES + 1];	/* of its terms */
} solution;

/* Do the inequalities hold at x, to rounding? */
static bool
is_feasible(const programme *p, const double *x, double reach)
{
	const part *sides = &p->part[1];

	reach = fmax(reach, pe_la_largest(p->d, x));
	for (int32_t k = 0; k < sides->count; k++)
	{
		const double *row = sides->row + (size_t) k * (size_t) sides->stride;
		double		size = fabs(row[p->d]);

		for (int32_t j = 0; j < p->d; j++)
			size += fabs(row[j]) * reach;
		if (dot(p->d, row, x) - row[p->d] > FEASIBLE * size)
			return false;
	}
	return true;
}

/* Takes z, brought into the box, if it is better than what was found. */
static void
consider(const programme *p, const double *z, solution *found)
{
	double		x[PE_AFFINE_VARIABLES];
	double		value;

	if (!pe_la_finite((size_t) p->d, z))
		return;
	for (int32_t j = 0; j < p->d; j++)
		x[j] = fmax(p->lower[j], fmin(p->upper[j], z[j]));
	value = pe_affine_value(found->f, x);
	if (value >= found->value || !is_feasible(p, x, found->reach))
		return;
	memcpy(found->x, x, (size_t) p->d * sizeof(double));
	found->value = value;
}

/* weight = multiplier of the constraints that count, and the matrix of these weights. */
static bool
weigh_active(const programme *p, iterate *at, bool all)
{
	for (int32_t i = 0; i < p->pairs; i++)
		at->target[i] = all || at->active[i] ? at->multiplier[i] : 0;
	build_normal(p, at, at->target);
	return factorise(p, at);
}

/* Goes from z to where the active constraints hold with equality, least squares by their multipliers. */
static void
polish_point(const programme *p, iterate *at, const double *from, solution *found)
{
	const double zero[PE_AFFINE_VARIABLES + 1] = {0};
	double		right[PE_AFFINE_VARIABLES + 1];
	double		z[PE_AFFINE_VARIABLES + 1];

	memcpy(z, from, (size_t) p->n * sizeof(double));
	for (int round = 0; round < 3; round++)
	{
		multiply(p, z, at->work);
		for (int32_t i = 0; i < p->pairs; i++)
			at->work[i] = at->target[i] * (p->right[i] - at->work[i]);
		multiply_transposed(p, at->work, zero, right);
		solve(p, at, right, at->dz);
		move(p->n, z, 1, at->dz);
	}
	consider(p, z, found);
}

/*
 * Points near to where the iteration is and near to 0: where many points are minima, the
 * iteration ends in the middle of them, and that may be so far away that a function's
 * value is rounding.
 */
static void
polish_points(const programme *p, iterate *at, solution *found)
{
	double		origin[PE_AFFINE_VARIABLES + 1] = {0};

	for (int32_t j = 0; j < p->d; j++)
		origin[j] = fmax(p->lower[j], fmin(p->upper[j], 0));
	polish_point(p, at, at->z, found);
	polish_point(p, at, origin, found);
}

static void
add_term(solution *found, int32_t i, int32_t j, double x)
{
	wide_add_product(&found->sum[j], found->high[i], x);
	wide_add_product(&found->sum[j], found->low[i], x);
	found->size[j] += fabs(found->high[i] * x);
}

/* sum and size of the multipliers; those of the box on demand. */
static void
add_up(const programme *p, solution *found, bool box)
{
	int32_t		i = 0;

	for (int32_t j = 0; j < p->n; j++)
	{
		found->sum[j] = (wide) {p->cost[j], 0};
		found->size[j] = fabs(p->cost[j]);
	}
	for (int k = 0; k < 2; k++)
		for (int32_t r = 0; r < p->part[k].count; r++, i++)
		{
			const double *row = p->part[k].row + (size_t) r * (size_t) p->part[k].stride;

			for (int32_t j = 0; j < p->d && found->high[i] > 0; j++)
				add_term(found, i, j, row[j]);
			if (p->part[k].height != 0)
				add_term(found, i, p->d, p->part[k].height);
		}
	for (int32_t j = 0; j < p->d && box; j++)
	{
		add_term(found, i + j, j, -1);
		add_term(found, i + p->d + j, j, 1);
	}
}

/* high + low += x, no less than 0. */
static void
add_to_multiplier(solution *found, int32_t i, double x)
{
	wide		sum = {found->high[i], found->low[i]};

	wide_add(&sum, x);
	found->high[i] = sum.high + sum.low;
	found->low[i] = sum.low - (found->high[i] - sum.high);
	if (!(found->high[i] > 0))
		found->high[i] = found->low[i] = 0;
}

/* Changes the multipliers, least squares in proportion to themselves, so that their sums are 0. */
static void
polish_multipliers(const programme *p, iterate *at, solution *found, bool all)
{
	double		right[PE_AFFINE_VARIABLES + 1];

	for (int32_t i = 0; i < p->pairs; i++)
	{
		found->high[i] = all || at->active[i] ? at->multiplier[i] : 0;
		found->low[i] = 0;
	}
	for (int round = 0; round < 3; round++)
	{
		add_up(p, found, true);
		for (int32_t j = 0; j < p->n; j++)
			right[j] = -(found->sum[j].high + found->sum[j].low);
		solve(p, at, right, at->dz);
		multiply(p, at->dz, at->work);
		for (int32_t i = 0; i < p->pairs; i++)
			if (at->target[i] > 0)
				add_to_multiplier(found, i, at->target[i] * at->work[i]);
	}
}

/* What the sum of a coordinate costs: its least product with a way from x within the box. */
static double
cost_of_coordinate(const programme *p, const solution *found, int32_t j)
{
	double		sum = found->sum[j].high + found->sum[j].low;
	double		end = sum > 0 ? p->lower[j] : p->upper[j];

	if (sum == 0)
		return 0;
	if (isfinite(end))
		return fabs(sum * (end - found->x[j]));
	/* programme.h: 0 to rounding of numbers of twice the precision, or no bound */
	return fabs(sum) <= PE_PROGRAMME_ZERO * found->size[j] ? 0 : INFINITY;
}

/*
 * The gap that the multipliers prove at x: each constraint's multiplier times its slack
 * there, all above 0, and the coordinates' costs.  Sums are exact to twice the
 * precision, since a box may be large.
 */
static void
judge(const programme *p, solution *found)
{
	double		gap = 0;
	double		total;
	int32_t		i = 0;

	if (!isfinite(found->value))
		return;
	add_up(p, found, false);
	total = p->cost[p->d] - (found->sum[p->d].high + found->sum[p->d].low);
	for (; i < p->part[0].count; i++)
	{
		pe_plain_affine row = {p->d, 1, p->part[0].row + (size_t) i * (size_t) p->d, NULL};
		double		offset = -p->right[i];

		row.offset = &offset;
		if (found->high[i] > 0)
			gap += found->high[i] * (found->value - pe_affine_value(&row, found->x));
	}
	for (int32_t k = 0; k < p->part[1].count; k++, i++)
		if (found->high[i] > 0)
			gap += found->high[i] *
				(p->right[i] - dot(p->d, p->part[1].row + (size_t) k * (size_t) p->part[1].stride, found->x));
	for (int32_t j = 0; j < p->d; j++)
		gap += cost_of_coordinate(p, found, j);
	if (total > 0 && isfinite(gap))
		found->bound = fmax(found->bound, found->value - gap / total);
}

/* Are value and bound as near as asked, or as the rounding of the bound's terms at x lets them be? */
static bool
is_near(const programme *p, const solution *found, double gap)
{
	double		apart = found->value - found->bound;
	double		terms = 0;

	if (!isfinite(apart))
		return false;
	for (int32_t j = 0; j < p->d; j++)
		terms += found->size[j] * fabs(found->x[j]);
	return apart <= fmax(gap * (1 + fabs(found->value)), PE_PROGRAMME_ROUNDING * terms);
}

/* Proposes a point and a bound from where the iteration is. */
static void
propose(const programme *p, iterate *at, solution *found, bool all)
{
	if (!weigh_active(p, at, all))
		return;
	polish_points(p, at, found);
	polish_multipliers(p, at, found, all);
	judge(p, found);
}

static bool
is_solved(const programme *p, iterate *at, solution *found, double gap)
{
	double		size = 1 + fabs(at->z[p->d]);
	double		left = complementarity(p, at);

	if (!(left <= NEAR * size))
		return false;
	consider(p, at->z, found);
	propose(p, at, found, false);
	if (!is_near(p, found, gap) && left <= gap * size)
		propose(p, at, found, true);
	return is_near(p, found, gap);
}

/* The largest number of a point of the box. */
static double
largest_end(int32_t d, const double *lower, const double *upper)
{
	return fmax(pe_la_largest(d, lower), pe_la_largest(d, upper));
}

/*
 * How large points are by the right sides of inequalities.  One that holds everywhere
 * can have any right side: no larger than the box lets them be, and where it is open, by the least that
 * is not 0.
 */
static double
size_of_sides(const part *sides, int32_t d, const double *lower, const double *upper)
{
	double		end = largest_end(d, lower, upper);
	double		most = 0;
	double		least = INFINITY;

	for (int32_t k = 0; k < sides->count; k++)
	{
		const double *row = sides->row + (size_t) k * (size_t) sides->stride;
		double		slope = pe_la_largest(d, row);

		if (slope == 0 || row[d] == 0)
			continue;
		most = fmax(most, fabs(row[d]) / slope);
		least = fmin(least, fabs(row[d]) / slope);
	}
	return fmin(most, isfinite(end) ? end : least);
}

/* What is rounding in the inequalities: as large as points are, or else the way to the box's ends. */
static double
size_of_points(const programme *p, const double *z)
{
	double		size = size_of_sides(&p->part[1], p->d, p->lower, p->upper);

	for (int32_t j = 0; j < p->d; j++)
		size = fmax(size, 0x1p-20 * length_of(p, z, j));
	return size;
}

/* Minimises f over a set that is not empty, on which f has a minimum, from x (may be NULL). */
static pe_programme_end
minimise(const pe_plain_affine *f, const pe_polytope *set, const double *x, double gap, pe_affine_minimum *minimum)
{
	programme	p;
	iterate    *at;
	solution	found = {.f = f, .x = minimum->x, .value = INFINITY, .bound = -INFINITY};
	bool		solved = false;

	programme_init(&p, f, set);
	at = new_iterate(&p);
	found.high = new_vector((size_t) p.pairs);
	found.low = new_vector((size_t) p.pairs);
	depart(&p, at, x);
	found.reach = size_of_points(&p, at->z);
	for (minimum->iterations = 0; minimum->iterations < MOST_ITERATIONS; minimum->iterations++)
	{
		pe_poll();
		measure_iterate(&p, at);
		solved = minimum->iterations > 0 && is_solved(&p, at, &found, gap);
		if (solved || !iterate_once(&p, at))
			break;
	}
	if (!isfinite(found.value))
	{
		found.reach = INFINITY;
		consider(&p, at->z, &found);
	}
	minimum->value = found.value;
	minimum->bound = fmin(found.bound, found.value);
	free_vector(found.high, (size_t) p.pairs);
	free_vector(found.low, (size_t) p.pairs);
	free_iterate(&p, at);
	programme_free(&p);
	return solved ? PE_PROGRAMME_SOLVED : PE_PROGRAMME_STALLED;
}

/* ------------------------------------------------------------------
 * Is there a point, is there a minimum?
 * ------------------------------------------------------------------
 */

/* Functions that are made of a set. */
typedef struct made
{
	double	   *row;
	double	   *offset;
	int32_t		rows;
} made;

static made
new_made(int32_t rows, int32_t variables)
{
	return (made) {new_vector((size_t) rows * (size_t) variables), new_vector((size_t) rows), 0};
}

static void
free_made(made *m)
{
	pe_free(m->row);
	pe_free(m->offset);
}

/* Adds (g.x - h) / unit. */
static void
add_made(made *m, int32_t variables, const double *g, double h, double unit)
{
	for (int32_t j = 0; j < variables; j++)
		m->row[(size_t) m->rows * (size_t) variables + (size_t) j] = g[j] / unit;
	m->offset[m->rows++] = -h / unit;
}

static bool
box_is_empty(const pe_polytope *set)
{
	for (int32_t j = 0; j < set->variables; j++)
		if (!(set->lower[j] <= set->upper[j]))
			return true;
	return false;
}

/* Does the inequality hold nowhere in the box, by more than rounding? */
static bool
holds_nowhere(const pe_polytope *set, const double *row)
{
	double		least = -row[set->variables];
	double		size = 0;

	for (int32_t j = 0; j < set->variables; j++)
	{
		double		term = row[j] == 0 ? 0 : fmin(row[j] * set->lower[j], row[j] * set->upper[j]);

		least += term;
		size += fabs(term);
	}
	return least > FEASIBLE * size;
}

/*
 * The inequalities by how far a point is outside; false if one holds nowhere.
 * size: of the right sides, as of points.
 */
static bool
make_violations(const pe_polytope *set, made *m, double *size)
{
	int32_t		d = set->variables;
	part		sides = {set->inequality, d + 1, set->inequalities, 0};

	*size = size_of_sides(&sides, d, set->lower, set->upper);
	for (int32_t k = 0; k < set->inequalities; k++)
	{
		const double *row = set->inequality + (size_t) k * (size_t) (d + 1);
		double		most = pe_la_largest(d, row);

		if (holds_nowhere(set, row))
			return false;
		if (most == 0)
			continue;
		add_made(m, d, row, row[d], most);
	}
	return true;
}

/* What no point needs to be inside by: a row without slopes sees to it that there is a minimum. */
static double
enough_depth(const pe_polytope *set, double size)
{
	for (int32_t j = 0; j < set->variables; j++)
		if (isfinite(set->upper[j] - set->lower[j]))
			size = fmax(size, set->upper[j] - set->lower[j]);
	return size > 0 ? size : 1;
}

/* A point of the set, far inside where that is possible. */
static pe_programme_end
find_point(const pe_polytope *set, double *x)
{
	int32_t		d = set->variables;
	pe_polytope box = {.variables = d, .lower = set->lower, .upper = set->upper};
	pe_affine_minimum least = {.x = x};
	made		m;
	double		size;
	bool		empty;

	if (box_is_empty(set))
		return PE_PROGRAMME_EMPTY;
	for (int32_t j = 0; j < d; j++)
		x[j] = fmax(set->lower[j], fmin(set->upper[j], 0));
	if (set->inequalities == 0)
		return PE_PROGRAMME_SOLVED;
	m = new_made(set->inequalities + 1, d);
	empty = !make_violations(set, &m, &size);
	if (!empty)
	{
		pe_plain_affine f = {d, m.rows + 1, m.row, m.offset};

		m.offset[m.rows] = -enough_depth(set, size);
		minimise(&f, &box, NULL, PE_PROGRAMME_LEAST_GAP, &least);
		empty = least.bound > FEASIBLE * fmax(size, pe_la_largest(d, x));
	}
	free_made(&m);
	return empty ? PE_PROGRAMME_EMPTY : PE_PROGRAMME_SOLVED;
}

/*
 * Directions in which the set has no end are those of the cone g.u <= 0, u_j >= 0 or
 * u_j <= 0 where the box has one end.  The function descends for ever in one of them if
 * and only if all a_i.u < 0, also where the a_i are divided by something.
 */
typedef struct cone
{
	double		lower[PE_AFFINE_VARIABLES];
	double		upper[PE_AFFINE_VARIABLES];
	double		unit[PE_AFFINE_VARIABLES];	/* of a coordinate: the largest slope */
	bool		open;			/* it is more than the point 0 by its box */
} cone;

static void
cone_init(cone *c, const pe_plain_affine *f, const pe_polytope *set)
{
	c->open = false;
	for (int32_t j = 0; j < set->variables; j++)
	{
		c->lower[j] = isinf(set->lower[j]) ? -1 : 0;
		c->upper[j] = isinf(set->upper[j]) ? 1 : 0;
		c->open = c->open || c->lower[j] < c->upper[j];
		c->unit[j] = 0;
		for (int32_t i = 0; i < f->rows; i++)
			c->unit[j] = fmax(c->unit[j], fabs(f->slope[(size_t) i * (size_t) f->variables + (size_t) j]));
		for (int32_t k = 0; k < set->inequalities && c->unit[j] == 0; k++)
			c->unit[j] = fabs(set->inequality[(size_t) k * (size_t) (set->variables + 1) + (size_t) j]);
		if (c->unit[j] == 0)
			c->unit[j] = 1;
	}
}

/* row in the cone's units, the largest number 1; false if there is none but 0 where the cone is open. */
static bool
scale_row(const cone *c, int32_t d, const double *row, double *scaled)
{
	double		most = 0;

	for (int32_t j = 0; j < d; j++)
	{
		scaled[j] = row[j] / c->unit[j];
		if (c->lower[j] < c->upper[j])
			most = fmax(most, fabs(scaled[j]));
	}
	for (int32_t j = 0; j < d && most > 0; j++)
		scaled[j] /= most;
	return most > 0;
}

/* Rows of the function and of the set in the cone; false if a function is level in all directions. */
static bool
scale_rows(const cone *c, const pe_plain_affine *f, const pe_polytope *set, double *slope, double *inequality)
{
	int32_t		d = f->variables;

	for (int32_t i = 0; i < f->rows; i++, slope += d)
		if (!scale_row(c, d, f->slope + (size_t) i * (size_t) d, slope))
			return false;
	for (int32_t k = 0; k < set->inequalities; k++, inequality += d + 1)
	{
		scale_row(c, d, set->inequality + (size_t) k * (size_t) (d + 1), inequality);
		inequality[d] = 0;
	}
	return true;
}

/* Has f no minimum over the set, which is not empty? */
static bool
descends_for_ever(const pe_plain_affine *f, const pe_polytope *set)
{
	int32_t		d = f->variables;
	double		x[PE_AFFINE_VARIABLES];
	pe_affine_minimum least = {.x = x};
	double	   *slope;
	double	   *inequality;
	bool		descends;
	cone		c;

	cone_init(&c, f, set);
	if (!c.open)
		return false;
	slope = new_vector((size_t) f->rows * (size_t) d);
	inequality = new_vector((size_t) set->inequalities * (size_t) (d + 1));
	descends = scale_rows(&c, f, set, slope, inequality);
	if (descends)
	{
		pe_plain_affine level = {d, f->rows, slope, NULL};
		pe_polytope directions = {d, set->inequalities, c.lower, c.upper, inequality};

		minimise(&level, &directions, NULL, PE_PROGRAMME_LEAST_GAP, &least);
		descends = least.value < -DESCENT;
	}
	pe_free(slope);
	pe_free(inequality);
	return descends;
}

/* A function of one row at least, from x, a point of the set. */
static pe_programme_end
minimise_from(const pe_plain_affine *f, const pe_polytope *set, const double *x, double gap, pe_affine_minimum *minimum)
{
	if (descends_for_ever(f, set))
		return PE_PROGRAMME_UNBOUNDED;
	return minimise(f, set, x, gap, minimum);
}

pe_programme_end
pe_affine_minimise(const pe_plain_affine *f, const pe_polytope *set, double gap, pe_affine_minimum *minimum)
{
	double		x[PE_AFFINE_VARIABLES];

	minimum->iterations = 0;
	minimum->value = minimum->bound = -INFINITY;
	if (find_point(set, x) == PE_PROGRAMME_EMPTY)
		return PE_PROGRAMME_EMPTY;
	memcpy(minimum->x, x, (size_t) set->variables * sizeof(double));
	if (f->rows == 0)
		return PE_PROGRAMME_SOLVED;
	return minimise_from(f, set, set->inequalities > 0 ? x : NULL, gap, minimum);
}

void
pe_affine_minimise_in(const pe_plain_affine *f, const pe_polytope *set, int iterations, double *x)
{
	double		from[PE_AFFINE_VARIABLES];
	solution	found = {.f = f, .x = x, .value = INFINITY, .bound = -INFINITY};
	bool		arrived = false;
	programme	p;
	iterate    *at;

	if (find_point(set, from) == PE_PROGRAMME_EMPTY)
		pe_bug("a set without a point");
	memcpy(x, from, (size_t) set->variables * sizeof(double));
	programme_init(&p, f, set);
	at = new_iterate(&p);
	depart(&p, at, set->inequalities > 0 ? from : NULL);
	found.reach = size_of_points(&p, at->z);
	for (int i = 0; i < iterations; i++)
	{
		pe_poll();
		measure_iterate(&p, at);
		consider(&p, at->z, &found);
		iterate_in_full(&p, at, &arrived);
	}
	free_iterate(&p, at);
	programme_free(&p);
}

/* ------------------------------------------------------------------
 * Sets
 * ------------------------------------------------------------------
 */

/*
 * One end of the set in a coordinate: the least sign x_j, in parts of a length from an
 * origin, by its bound, so that no point is cut off.
 */
static pe_programme_end
find_end(const pe_polytope *set, int32_t j, double sign, double origin, double length, const double *x, double *end)
{
	double		slope[PE_AFFINE_VARIABLES] = {0};
	double		offset = -sign * origin / length;
	double		at[PE_AFFINE_VARIABLES];
	pe_plain_affine f = {set->variables, 1, slope, &offset};
	pe_affine_minimum least = {.x = at};
	pe_programme_end how;

	slope[j] = sign / length;
	how = minimise_from(&f, set, x, PE_PROGRAMME_LEAST_GAP, &least);
	if (how == PE_PROGRAMME_UNBOUNDED)
		return how;
	*end = fmax(set->lower[j], fmin(set->upper[j], origin + sign * least.bound * length));
	return isfinite(*end) ? PE_PROGRAMME_SOLVED : PE_PROGRAMME_STALLED;
}

/* The smallest box around the set. */
static pe_programme_end
find_ends(const pe_polytope *set, const double *x, double *lower, double *upper)
{
	pe_programme_end how = PE_PROGRAMME_SOLVED;

	for (int32_t j = 0; j < set->variables && how == PE_PROGRAMME_SOLVED; j++)
	{
		double		width = set->upper[j] - set->lower[j];
		double		length = isfinite(width) && width > 0 ? width : 1 + fabs(x[j]);
		double		origin = isfinite(set->lower[j]) ? set->lower[j] : isfinite(set->upper[j]) ? set->upper[j] : x[j];

		lower[j] = set->lower[j];
		upper[j] = set->upper[j];
		if (width == 0)
			continue;
		how = find_end(set, j, 1, origin, length, x, &lower[j]);
		if (how == PE_PROGRAMME_SOLVED)
			how = find_end(set, j, -1, origin, length, x, &upper[j]);
		if (how == PE_PROGRAMME_SOLVED && upper[j] - lower[j] <= THIN_WIDTH * length)
			how = PE_PROGRAMME_THIN;
	}
	return how;
}

/*
 * A largest box of the proportions of lower .. upper, of r times its size, lies inside
 * where g.(x - centre) + r |g|.half <= h for all inequalities, and for the ends: the
 * largest r is minus the least of the largest (g.x - h) / |g|.half.
 */
static void
make_rooms(const pe_polytope *set, const double *lower, const double *upper, made *m)
{
	int32_t		d = set->variables;

	for (int32_t k = 0; k < set->inequalities; k++)
	{
		const double *row = set->inequality + (size_t) k * (size_t) (d + 1);
		double		unit = 0;

		for (int32_t j = 0; j < d; j++)
			unit += fabs(row[j]) * (upper[j] - lower[j]) / 2;
		if (unit > 0)
			add_made(m, d, row, row[d], unit);
	}
	for (int32_t j = 0; j < d; j++)
	{
		double		unit[PE_AFFINE_VARIABLES] = {0};

		unit[j] = 1;
		add_made(m, d, unit, upper[j], (upper[j] - lower[j]) / 2);
		unit[j] = -1;
		add_made(m, d, unit, -lower[j], (upper[j] - lower[j]) / 2);
	}
}

/* Is there more room around the centre, r times the size of the box, than rounding takes? */
static bool
is_roomy(const pe_polytope *set, const double *lower, const double *upper, double r)
{
	const double *row = set->inequality;

	for (int32_t k = 0; k < set->inequalities; k++, row += set->variables + 1)
	{
		double		most = pe_la_largest(set->variables, row);
		double		room = 0;
		double		terms = 0;

		for (int32_t j = 0; j < set->variables && most > 0; j++)
		{
			room += fabs(row[j]) / most * (upper[j] / 2 - lower[j] / 2);
			terms += fabs(row[j]) / most * fmax(fabs(lower[j]), fabs(upper[j]));
		}
		if (r * room < THIN_ROUNDING * terms)
			return false;
	}
	return true;
}

static pe_programme_end
find_centre(const pe_polytope *set, const double *lower, const double *upper, double *centre)
{
	pe_polytope box = {.variables = set->variables, .lower = lower, .upper = upper};
	pe_affine_minimum least = {.x = centre};
	made		m = new_made(set->inequalities + 2 * set->variables, set->variables);
	pe_plain_affine f = {set->variables, 0, m.row, m.offset};

	make_rooms(set, lower, upper, &m);
	f.rows = m.rows;
	minimise(&f, &box, NULL, PE_PROGRAMME_LEAST_GAP, &least);
	free_made(&m);
	return -least.value < THIN_PART || !is_roomy(set, lower, upper, -least.value)
		? PE_PROGRAMME_THIN : PE_PROGRAMME_SOLVED;
}

static pe_programme_end
tighten_box(const pe_polytope *set, double *lower, double *upper, double *centre)
{
	for (int32_t j = 0; j < set->variables; j++)
		if (isinf(set->lower[j]) || isinf(set->upper[j]))
			return PE_PROGRAMME_UNBOUNDED;
	for (int32_t j = 0; j < set->variables; j++)
	{
		lower[j] = set->lower[j];
		upper[j] = set->upper[j];
		centre[j] = lower[j] + (upper[j] / 2 - lower[j] / 2);
		if (lower[j] == upper[j])
			return PE_PROGRAMME_THIN;
	}
	return PE_PROGRAMME_SOLVED;
}

pe_programme_end
pe_polytope_tighten(const pe_polytope *set, double *lower, double *upper, double *centre)
{
	double		x[PE_AFFINE_VARIABLES];
	pe_programme_end how = find_point(set, x);

	if (how != PE_PROGRAMME_SOLVED)
		return how;
	if (set->inequalities == 0)
		return tighten_box(set, lower, upper, centre);
	how = find_ends(set, x, lower, upper);
	return how == PE_PROGRAMME_SOLVED ? find_centre(set, lower, upper, centre) : how;
}

/*
 * How far the point is from the nearest at most.  The objective, with the coefficient 1, is
 * by at most gap = multipliers.slacks + |dual|^2 / 2 above its minimum, and the square
 * of the distance at most twice that.
 */
static double
distance_off(const programme *p, const iterate *at, double size)
{
	double		gap = complementarity(p, at) + dot(p->n, at->dual, at->dual) / 2;

	return is_feasible(p, at->z, size) ? sqrt(2 * gap) : INFINITY;
}

/* From x, which becomes the nearest that was seen: in the end rounding may spoil what was better. */
static void
find_nearest(const pe_polytope *set, const double *y, double *x)
{
	programme	p;
	iterate    *at;
	double		least = INFINITY;
	double		size;

	programme_init(&p, NULL, set);
	p.quadratic = 1;
	p.y = y;
	at = new_iterate(&p);
	depart(&p, at, x);
	size = size_of_points(&p, at->z);
	for (int i = 0; i < MOST_ITERATIONS && !(least <= NEAREST * size); i++)
	{
		double		off;

		pe_poll();
		measure_iterate(&p, at);
		off = distance_off(&p, at, size);
		for (int32_t j = 0; j < p.d && (off < least || isinf(least)); j++)
			x[j] = fmax(p.lower[j], fmin(p.upper[j], at->z[j]));
		least = fmin(least, off);
		if (!iterate_once(&p, at))
			break;
	}
	free_iterate(&p, at);
	programme_free(&p);
}

/* The nearest point of the box is the nearest of all if it is in the set. */
void
pe_polytope_nearest(const pe_polytope *set, const double *y, double *x)
{
	int32_t		d = set->variables;
	double		near[PE_AFFINE_VARIABLES];
	bool		inside = true;

	for (int32_t j = 0; j < d; j++)
		near[j] = fmax(set->lower[j], fmin(set->upper[j], y[j]));
	for (int32_t k = 0; k < set->inequalities && inside; k++)
	{
		const double *row = set->inequality + (size_t) k * (size_t) (d + 1);

		inside = dot(d, row, near) <= row[d];
	}
	if (!inside)
		find_nearest(set, y, near);
	memcpy(x, near, (size_t) d * sizeof(double));
}

/* An iteration's arrays, and copies of the rows that say whether there is a minimum. */
size_t
pe_programme_memory(int32_t variables, int32_t rows, int32_t inequalities)
{
	size_t		d = (size_t) variables;
	size_t		all = (size_t) rows + (size_t) inequalities + 1;
	size_t		pair = PAIR_ARRAYS * sizeof(double) + 2 * sizeof(bool);

	return (all + 2 * d) * (pair + (d + 2) * sizeof(double)) + BLOCK * (d + 1) * sizeof(double) + sizeof(iterate);
}

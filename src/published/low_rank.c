/*
 * low_rank.c
 *	  The low-rank mechanism.  See published.h.
 */
#include "published/published.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"

#define FIRST_PENALTY 1.0
#define MOST_PENALTY 1e6		/* to start with */
#define DOUBLED_EVERY 10		/* updates of the multipliers */
#define SETTLED 1e-4			/* relative change of L that ends alternations */
#define POWER_STEPS 12			/* of the power iteration for the length of gradient steps */
#define LEAST_SQUARE 1e-8		/* of the largest squared singular value of L: what counts to its rank */
#define LARGEST_RIDGE 0x1p-1		/* of the rows that are appended */
#define LEAST_RIDGE 0x1p-10
#define SEED 0x9e3779b97f4a7c15 /* of the start: any number would do */

const pe_low_rank_options pe_low_rank_defaults = {
	.residual = 3e-4,
	.outer = 200,
	.alternations = 5,
	.gradients = 5
};

/*
 * The search, for R divided by its largest entry.  An iterate for L is kept with G
 * times it, so that gradients at points between iterates cost no product.
 */
typedef struct search
{
	const pe_low_rank_options *options;
	pe_norm		norm;
	int32_t		rank;
	int32_t		n;
	int32_t		rows;			/* of L */
	double		size;			/* |R|_F */
	double		penalty;
	const double *r;			/* rank x n */
	double	   *multipliers;	/* pi, rank x n */
	double	   *target;			/* R + pi / penalty; also R - B L */
	double	   *b;				/* B', rows x rank */
	double	   *normal;			/* penalty L L' + I, rows x rows; then G = B'B */
	double	   *pull;			/* B' target, rows x n: the gradient is G L - pull */
	double	   *l;				/* rows x n, and */
	double	   *gl;				/* G times it */
	double	   *before;			/* the iterate before */
	double	   *gbefore;
	double	   *next;			/* the one that is tried */
	double	   *gnext;
	double	   *vector;			/* for the power iteration and the projection */
	double	   *image;
} search;

static double *
matrix(int32_t rows, int32_t columns)
{
	return pe_alloc(pe_la_size(rows, columns), sizeof(double));
}

static double
sum_of_squares(size_t count, const double *x)
{
	double		sum = 0.0;

	for (size_t i = 0; i < count; i++)
		sum += x[i] * x[i];
	return sum;
}

int32_t
pe_low_rank_rows(int32_t rank)
{
	return rank + (rank + 4) / 5;
}

/* ---- the ball ---- */

static int
compare_descending(const void *a, const void *b)
{
	double		left = *(const double *) a;
	double		right = *(const double *) b;

	return left < right ? 1 : left > right ? -1 : 0;
}

static double
length(const double *x, int32_t count, pe_norm norm)
{
	double		sum = 0.0;

	if (norm == PE_L2)
		return sqrt(sum_of_squares((size_t) count, x));
	for (int32_t i = 0; i < count; i++)
		sum += fabs(x[i]);
	return sum;
}

/* What is taken off every absolute value, so that those above it have the sum 1. */
static double
excess(const double *x, int32_t count, double *sorted)
{
	double		sum = 0.0;
	double		taken = 0.0;

	for (int32_t i = 0; i < count; i++)
		sorted[i] = fabs(x[i]);
	qsort(sorted, (size_t) count, sizeof(double), compare_descending);
	for (int32_t i = 0; i < count; i++)
	{
		sum += sorted[i];
		if (sorted[i] * (i + 1) <= sum - 1.0)
			break;
		taken = (sum - 1.0) / (i + 1);
	}
	return taken;
}

/* The nearest point of the unit ball. */
static void
project(double *x, int32_t count, pe_norm norm, double *sorted)
{
	double		size = length(x, count, norm);
	double		taken;

	if (size <= 1.0)
		return;
	if (norm == PE_L2)
	{
		for (int32_t i = 0; i < count; i++)
			x[i] /= size;
		return;
	}
	taken = excess(x, count, sorted);
	for (int32_t i = 0; i < count; i++)
		x[i] = copysign(fmax(fabs(x[i]) - taken, 0.0), x[i]);
}

/* ---- the start ---- */

/* From -1 to 1 (splitmix64). */
static double
draw(uint64_t *state)
{
	uint64_t	word = *state += 0x9e3779b97f4a7c15;

	word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
	word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
	return ldexp((double) ((word ^ (word >> 31)) >> 11), -52) - 1.0;
}

/* Orthonormal rows, or columns if there are fewer of them, divided by sqrt rows: never of low rank. */
static void
start(search *s)
{
	bool		wide = s->rows <= s->n;
	int32_t		longer = wide ? s->n : s->rows;
	int32_t		shorter = wide ? s->rows : s->n;
	double		scale = 1.0 / sqrt(s->rows);
	double	   *q = s->next;
	uint64_t	state = SEED;

	for (size_t i = 0; i < pe_la_size(longer, shorter); i++)
		q[i] = draw(&state);
	pe_la_qr(longer, shorter, q, longer, NULL, 0);
	for (int32_t j = 0; j < s->n; j++)
		for (int32_t i = 0; i < s->rows; i++)
			s->l[(size_t) i + pe_la_size(j, s->rows)] =
				scale * (wide ? q[(size_t) j + pe_la_size(i, s->n)] : q[(size_t) i + pe_la_size(j, s->rows)]);
}

static void
search_init(search *s, const double *r, int32_t rank, int32_t n)
{
	int32_t		rows = s->rows = pe_low_rank_rows(rank);

	s->rank = rank;
	s->n = n;
	s->r = r;
	s->size = sqrt(sum_of_squares(pe_la_size(rank, n), s->r));
	s->multipliers = matrix(rank, n);
	s->target = matrix(rank, n);
	s->b = matrix(rows, rank);
	s->normal = matrix(rows, rows);
	s->pull = matrix(rows, n);
	s->l = matrix(rows, n);
	s->gl = matrix(rows, n);
	s->before = matrix(rows, n);
	s->gbefore = matrix(rows, n);
	s->next = matrix(rows, n);
	s->gnext = matrix(rows, n);
	s->vector = matrix(rows, 1);
	s->image = matrix(rows, 1);
}

static void
search_free(search *s)
{
	pe_free(s->multipliers);
	pe_free(s->target);
	pe_free(s->b);
	pe_free(s->normal);
	pe_free(s->pull);
	pe_free(s->l);
	pe_free(s->gl);
	pe_free(s->before);
	pe_free(s->gbefore);
	pe_free(s->next);
	pe_free(s->gnext);
	pe_free(s->vector);
	pe_free(s->image);
}

/* ---- B ---- */

/* B = (penalty R + pi) L' (penalty L L' + I)^-1, which is made of target = R + pi / penalty. */
static void
solve_b(search *s)
{
	int32_t		rows = s->rows;

	for (size_t i = 0; i < pe_la_size(s->rank, s->n); i++)
		s->target[i] = s->r[i] + s->multipliers[i] / s->penalty;
	pe_la_syrk(false, rows, s->n, s->penalty, s->l, rows, 0.0, s->normal, rows);
	for (int32_t i = 0; i < rows; i++)
		s->normal[(size_t) i + pe_la_size(i, rows)] += 1.0;
	pe_la_mirror(rows, s->normal, rows);
	if (!pe_la_cholesky(rows, s->normal, rows))
		pe_bug("a sum of squares and the identity is not positive definite");
	pe_la_gemm(false, true, rows, s->rank, s->n, s->penalty, s->l, rows, s->target, s->rank, 0.0, s->b, rows);
	pe_la_cholesky_solve(rows, s->rank, s->normal, rows, s->b, rows);
}

/* ---- L ---- */

/* An estimate of G's largest eigenvalue from below, at most 0 only if G is. */
static double
curvature(search *s)
{
	int32_t		rows = s->rows;
	double		value = 0.0;

	for (int32_t i = 0; i < rows; i++)
		s->vector[i] = 1.0 + (double) i / rows;
	for (int step = 0; step < POWER_STEPS; step++)
	{
		double		size = length(s->vector, rows, PE_L2);

		for (int32_t i = 0; i < rows && size > 0.0; i++)
			s->vector[i] /= size;
		pe_la_gemv(false, rows, rows, 1.0, s->normal, rows, s->vector, 0.0, s->image);
		value = fmax(value, length(s->image, rows, PE_L2));
		memcpy(s->vector, s->image, (size_t) rows * sizeof(double));
	}
	return value;
}

/* G X, X rows x n */
static void
multiply(search *s, const double *x, double *gx)
{
	pe_la_symm(false, s->rows, s->n, 1.0, s->normal, s->rows, x, s->rows, 0.0, gx, s->rows);
}

static void
swap(double **a, double **b)
{
	double	   *t = *a;

	*a = *b;
	*b = t;
}

/* next = projection of Y - (G Y - pull) / curvature, Y = L + momentum (L - before) */
static void
try_step(search *s, double momentum, double curvature)
{
	for (int32_t j = 0; j < s->n; j++)
	{
		size_t		at = pe_la_size(j, s->rows);

		for (size_t i = at; i < at + (size_t) s->rows; i++)
		{
			double		y = s->l[i] + momentum * (s->l[i] - s->before[i]);
			double		gy = s->gl[i] + momentum * (s->gl[i] - s->gbefore[i]);

			s->next[i] = y - (gy - s->pull[i]) / curvature;
		}
		project(s->next + at, s->rows, s->norm, s->vector);
	}
	multiply(s, s->next, s->gnext);
}

/*
 * Is <D, G D> <= curvature |D|^2 for D = next - Y?  Then the quadratic function lies
 * below its model with this curvature, which is all that the method relies on.
 */
static bool
step_is_sound(const search *s, double momentum, double curvature)
{
	double		bent = 0.0;
	double		size = 0.0;

	for (size_t i = 0; i < pe_la_size(s->rows, s->n); i++)
	{
		double		d = s->next[i] - s->l[i] - momentum * (s->l[i] - s->before[i]);
		double		gd = s->gnext[i] - s->gl[i] - momentum * (s->gl[i] - s->gbefore[i]);

		bent += d * gd;
		size += d * d;
	}
	return bent <= curvature * size;
}

/* One step with a curvature that does; |G|_F always does, with any rounding. */
static void
step_soundly(search *s, double momentum, double *curvature, double most)
{
	pe_poll();
	try_step(s, momentum, *curvature);
	while (*curvature < most && !step_is_sound(s, momentum, *curvature))
	{
		*curvature = fmin(2.0 * *curvature, most);
		try_step(s, momentum, *curvature);
	}
}

/* |A - B| / |A| */
static double
change(size_t count, const double *a, const double *b)
{
	double		moved = 0.0;

	for (size_t i = 0; i < count; i++)
		moved += (a[i] - b[i]) * (a[i] - b[i]);
	return moved > 0.0 ? sqrt(moved / sum_of_squares(count, a)) : 0.0;
}

/* G and the pull of B */
static void
model_l(search *s)
{
	pe_la_syrk(false, s->rows, s->rank, 1.0, s->b, s->rows, 0.0, s->normal, s->rows);
	pe_la_mirror(s->rows, s->normal, s->rows);
	pe_la_gemm(false, false, s->rows, s->n, s->rank, 1.0, s->b, s->rows, s->target, s->rank, 0.0, s->pull, s->rows);
	multiply(s, s->l, s->gl);
	memcpy(s->before, s->l, pe_la_size(s->rows, s->n) * sizeof(double));
	memcpy(s->gbefore, s->gl, pe_la_size(s->rows, s->n) * sizeof(double));
}

/* The method of Nesterov, with the momentum of Beck and Teboulle.  Returns the largest relative change in a step. */
static double
solve_l(search *s)
{
	size_t		count = pe_la_size(s->rows, s->n);
	double		most;
	double		bound;
	double		t = 1.0;
	double		farthest = 0.0;

	model_l(s);
	most = sqrt(sum_of_squares(pe_la_size(s->rows, s->rows), s->normal));
	bound = fmin(curvature(s), most);
	for (int32_t step = 0; step < s->options->gradients && bound > 0.0; step++)
	{
		double		next = (1.0 + sqrt(1.0 + 4.0 * t * t)) / 2.0;
		double		moved;

		step_soundly(s, (t - 1.0) / next, &bound, most);
		moved = change(count, s->next, s->l);
		farthest = fmax(farthest, moved);
		swap(&s->before, &s->l);
		swap(&s->gbefore, &s->gl);
		swap(&s->l, &s->next);
		swap(&s->gl, &s->gnext);
		t = next;
		if (moved <= SETTLED)
			break;
	}
	return farthest;
}

/* ---- the multipliers ---- */

/* target = R - B L; returns its norm relative to R's. */
static double
miss(search *s)
{
	memcpy(s->target, s->r, pe_la_size(s->rank, s->n) * sizeof(double));
	pe_la_gemm(true, false, s->rank, s->n, s->rows, -1.0, s->b, s->rows, s->l, s->rows, 1.0, s->target, s->rank);
	return sqrt(sum_of_squares(pe_la_size(s->rank, s->n), s->target)) / s->size;
}

/*
 * The ball of the L1 norm has corners: projections empty rows of L, and a row once
 * empty stays so, as its column of B is 0 then and nothing pulls it.  With fewer rows
 * than the rank R = B L cannot be had any more.
 */
static bool
has_collapsed(const search *s)
{
	int32_t		alive = 0;

	for (int32_t i = 0; i < s->rows; i++)
		for (int32_t j = 0; j < s->n; j++)
			if (s->l[(size_t) i + pe_la_size(j, s->rows)] != 0.0)
			{
				alive++;
				break;
			}
	return alive < s->rank;
}

static void
alternate(search *s)
{
	for (int32_t turn = 0; turn < s->options->alternations; turn++)
	{
		pe_poll();
		solve_b(s);
		if (solve_l(s) <= SETTLED)
			break;
	}
}

static void
raise_multipliers(search *s, int32_t iteration)
{
	for (size_t i = 0; i < pe_la_size(s->rank, s->n); i++)
		s->multipliers[i] += s->penalty * s->target[i];
	if (iteration % DOUBLED_EVERY == 0)
		s->penalty *= 2.0;
}

/* From the start, with this penalty at first.  False if L collapsed. */
static bool
run_penalty(search *s, double penalty, const pe_trace *trace, double scale, pe_design *design)
{
	s->penalty = penalty;
	memset(s->multipliers, 0, pe_la_size(s->rank, s->n) * sizeof(double));
	start(s);
	for (int32_t iteration = 1; iteration <= s->options->outer && !design->finished; iteration++)
	{
		double		missed;

		alternate(s);
		if (has_collapsed(s))
			return false;
		missed = miss(s);
		design->iterations++;
		design->finished = missed <= s->options->residual;
		pe_progress("optimising the strategy", design->iterations, 0, missed);
		if (trace != NULL)
			trace->tell(trace->argument, design->iterations,
						sum_of_squares(pe_la_size(s->rows, s->rank), s->b) * scale * scale, missed);
		raise_multipliers(s, iteration);
	}
	return true;
}

/* ---- what L is worth ---- */

/* The longest column becomes one of norm 1. */
static void
normalise(double *l, int32_t rows, int32_t n, pe_norm norm)
{
	double		longest = 0.0;

	for (int32_t j = 0; j < n; j++)
		longest = fmax(longest, length(l + pe_la_size(j, rows), rows, norm));
	for (size_t i = 0; i < pe_la_size(rows, n) && longest > 0.0; i++)
		l[i] /= longest;
}

/*
 * Z diag(1 / value) Z', with nothing for values that do not count: the inverse of
 * L L' or of L'L on what L reaches.  a is destroyed.
 */
static double *
pseudo_inverse(int32_t order, double *a)
{
	double	   *value = pe_alloc((size_t) order, sizeof(double));
	double	   *z = matrix(order, order);
	double	   *work = pe_alloc(pe_la_eigen_work(order), sizeof(double));
	int32_t    *iwork = pe_alloc(pe_la_eigen_iwork(order), sizeof(int32_t));

	pe_poll();
	if (!pe_la_eigen(order, a, value, z, work, iwork))
		pe_bug("a strategy that has no singular values");
	for (int32_t k = 0; k < order; k++)
	{
		bool		counts = value[k] > LEAST_SQUARE * value[order - 1];
		double		factor = counts ? 1.0 / sqrt(value[k]) : 0.0;

		for (int32_t i = 0; i < order; i++)
			z[(size_t) i + pe_la_size(k, order)] *= factor;
	}
	pe_la_syrk(false, order, order, 1.0, z, order, 0.0, a, order);
	pe_la_mirror(order, a, order);
	pe_free(iwork);
	pe_free(work);
	pe_free(z);
	pe_free(value);
	return a;
}

/* B = R L^+, rank x rows, from the smaller of L L' and L'L. */
static double *
best_answers(const double *r, int32_t rank, int32_t n, const double *l, int32_t rows)
{
	bool		wide = rows <= n;
	int32_t		order = wide ? rows : n;
	double	   *b = matrix(rank, rows);
	double	   *a = matrix(order, order);
	double	   *half = matrix(rank, order);

	pe_la_syrk(!wide, order, wide ? n : rows, 1.0, l, rows, 0.0, a, order);
	pseudo_inverse(order, a);
	if (wide)
	{
		pe_la_gemm(false, true, rank, rows, n, 1.0, r, rank, l, rows, 0.0, half, rank);
		pe_la_symm(true, rank, rows, 1.0, a, rows, half, rank, 0.0, b, rank);
	}
	else
	{
		pe_la_symm(true, rank, n, 1.0, a, n, r, rank, 0.0, half, rank);
		pe_la_gemm(false, true, rank, rows, n, 1.0, half, rank, l, rows, 0.0, b, rank);
	}
	pe_free(half);
	pe_free(a);
	return b;
}

/* Objective and residual of design.factor, whose longest column has norm 1, for R / scale. */
static void
judge(const double *r, int32_t rank, double scale, pe_low_rank_result *result)
{
	const pe_design *design = &result->design;
	int32_t		n = design->n;
	double	   *b = best_answers(r, rank, n, design->factor, design->rows);
	double	   *missed = matrix(rank, n);

	memcpy(missed, r, pe_la_size(rank, n) * sizeof(double));
	pe_la_gemm(false, false, rank, n, design->rows, -1.0, b, rank, design->factor, design->rows, 1.0, missed, rank);
	result->design.objective = sum_of_squares(pe_la_size(rank, design->rows), b) * scale * scale;
	result->residual = sum_of_squares(pe_la_size(rank, n), missed) * scale * scale;
	pe_free(missed);
	pe_free(b);
}

/* R divided by its largest entry, so that numbers of any size neither overflow nor vanish. */
static double *
scaled(const double *r, int32_t rank, int32_t n, double *scale)
{
	double	   *copy;

	if (rank < 1 || n < rank || !pe_la_finite(pe_la_size(rank, n), r))
		pe_bug("a row factor that cannot be one");
	*scale = pe_la_largest(pe_la_size(rank, n), r);
	if (!(*scale > 0.0))
		pe_bug("a workload that asks for nothing");
	copy = matrix(rank, n);
	for (size_t i = 0; i < pe_la_size(rank, n); i++)
		copy[i] = r[i] / *scale;
	return copy;
}

void
pe_low_rank(const double *r, int32_t rank, int32_t n, pe_norm norm, const pe_low_rank_options *options,
			const pe_trace *trace, pe_low_rank_result *result)
{
	double		scale;
	double	   *copy = scaled(r, rank, n, &scale);
	search		s;

	memset(result, 0, sizeof(*result));
	s.options = options != NULL ? options : &pe_low_rank_defaults;
	s.norm = norm;
	search_init(&s, copy, rank, n);
	for (double penalty = FIRST_PENALTY; !run_penalty(&s, penalty, trace, scale, &result->design); penalty *= 2.0)
		if (penalty >= MOST_PENALTY)
			break;
	result->design.n = n;
	result->design.rows = s.rows;
	result->design.factor = s.l;
	s.l = NULL;
	search_free(&s);
	normalise(result->design.factor, result->design.rows, n, norm);
	judge(copy, rank, scale, result);
	pe_free(copy);
}

/* L Q Q', Q (n x rank) an orthonormal basis of R's rows. */
static void
project_rows(double *l, int32_t rows, int32_t n, const double *r, int32_t rank)
{
	double	   *q = matrix(n, rank);
	double	   *coordinates = matrix(rows, rank);

	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < rank; i++)
			q[(size_t) j + pe_la_size(i, n)] = r[(size_t) i + pe_la_size(j, rank)];
	pe_poll();
	pe_la_qr(n, rank, q, n, NULL, 0);
	pe_la_gemm(false, false, rows, rank, n, 1.0, l, rows, q, n, 0.0, coordinates, rows);
	pe_la_gemm(false, true, rows, n, rank, 1.0, coordinates, rows, q, n, 0.0, l, rows);
	pe_free(coordinates);
	pe_free(q);
}

void
pe_low_rank_project(const double *r, int32_t rank, pe_norm norm, pe_low_rank_result *result)
{
	pe_design  *design = &result->design;
	double		scale;
	double	   *copy = scaled(r, rank, design->n, &scale);

	project_rows(design->factor, design->rows, design->n, copy, rank);
	normalise(design->factor, design->rows, design->n, norm);
	judge(copy, rank, scale, result);
	pe_free(copy);
}

/* tr(R (L'L + eta^2 I)^-1 R'); gram: L'L, lower triangle.  Infinite if that cannot be had. */
static double
appended_trace(const double *gram, const double *r, int32_t rank, int32_t n, double eta)
{
	double	   *x = matrix(n, n);
	double	   *half = matrix(n, rank);
	double		trace = INFINITY;

	memcpy(x, gram, pe_la_size(n, n) * sizeof(double));
	for (int32_t j = 0; j < n; j++)
	{
		x[(size_t) j + pe_la_size(j, n)] += eta * eta;
		for (int32_t i = 0; i < rank; i++)
			half[(size_t) j + pe_la_size(i, n)] = r[(size_t) i + pe_la_size(j, rank)];
	}
	pe_poll();
	if (pe_la_cholesky(n, x, n))
	{
		pe_la_triangle_solve(true, n, rank, x, n, half, n);
		trace = sum_of_squares(pe_la_size(n, rank), half);
	}
	pe_free(half);
	pe_free(x);
	return trace;
}

/* Delta of L, whose longest column has norm 1, with rows eta e_j appended */
static double
appended_length(double eta, pe_norm norm)
{
	return norm == PE_L1 ? 1.0 + eta : sqrt(1.0 + eta * eta);
}

/* The best eta; sets the objective, for R / scale. */
static double
best_ridge(const double *r, int32_t rank, double scale, pe_norm norm, pe_design *design)
{
	int32_t		n = design->n;
	double	   *gram = matrix(n, n);
	double		best = LARGEST_RIDGE;
	double		least = INFINITY;

	pe_la_syrk(true, n, design->rows, 1.0, design->factor, design->rows, 0.0, gram, n);
	pe_la_mirror(n, gram, n);
	for (double eta = LARGEST_RIDGE; eta >= LEAST_RIDGE; eta /= 2.0)
	{
		double		error = pow(appended_length(eta, norm), 2.0) * appended_trace(gram, r, rank, n, eta);

		if (error < least)
		{
			least = error;
			best = eta;
		}
	}
	design->objective = least * scale * scale;
	pe_free(gram);
	return best;
}

void
pe_low_rank_append(const double *r, int32_t rank, pe_norm norm, pe_low_rank_result *result)
{
	pe_design  *design = &result->design;
	int32_t		n = design->n;
	int32_t		rows = design->rows + n;
	double		scale;
	double	   *copy = scaled(r, rank, n, &scale);
	double		eta = best_ridge(copy, rank, scale, norm, design);
	double	   *factor = matrix(rows, n);

	for (int32_t j = 0; j < n; j++)
	{
		memcpy(factor + pe_la_size(j, rows), design->factor + pe_la_size(j, design->rows),
			   (size_t) design->rows * sizeof(double));
		factor[(size_t) (design->rows + j) + pe_la_size(j, rows)] = eta;
	}
	normalise(factor, rows, n, norm);
	pe_free(design->factor);
	design->factor = factor;
	design->rows = rows;
	result->residual = 0.0;
	pe_free(copy);
}

/* Matrices of the search, of judging its result and of appending rows to it (the most of these), and vectors. */
size_t
pe_low_rank_memory(int32_t rank, int32_t n)
{
	int32_t		rows = pe_low_rank_rows(rank);
	int32_t		order = rows < n ? rows : n;
	size_t		searching = 4 * pe_la_size(rank, n) + pe_la_size(rows, rank) +
		pe_la_size(rows, rows) + 7 * pe_la_size(rows, n);
	size_t		judging = 3 * pe_la_size(rank, n) + pe_la_size(rows, n) + pe_la_size(rank, rows) +
		pe_la_size(rank, order) +
		2 * pe_la_size(order, order) + pe_la_eigen_work(order) + pe_la_eigen_iwork(order);
	size_t		appending = 2 * (pe_la_size(rank, n) + pe_la_size(rows, n) + pe_la_size(n, n));

	if (searching < judging)
		searching = judging;
	if (searching < appending)
		searching = appending;
	return sizeof(double) * (searching + 16 * (size_t) n) + 4096;
}

void
pe_low_rank_free(pe_low_rank_result *result)
{
	pe_design_free(&result->design);
	memset(result, 0, sizeof(*result));
}

/*
 * optimum.c
 *	  The best possible strategy under L2: reduction, search, result.  See
 *	  optimum.h, and optimum_eval.h for the quantities.
 */
#include "optimum/optimum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum_eval.h"

#define EVALUATIONS 60			/* at most */
#define PATIENCE 12				/* evaluations without any gain, then rounding is at its end */
#define IDLE_COARSE 2			/* of them, then the Hessian was too coarse */
#define NEWTON_EVALUATIONS 8	/* then the interior point method takes over */
#define NEWTON_SLOW 2			/* or after so many that did not reduce the gap three times */
#define NEWTON_STEP 2.0			/* of the quadrature */
#define INTERIOR_STEP 1.5
#define LONGEST_STEP 3.0		/* of Newton's method in log y */
#define NEARLY_FULL 0.9			/* rank / n from which Newton's method comes first all the same */
#define NEWTON_DONE 1e-2		/* then the gap at which the interior point method goes on from there */
#define STAY_INSIDE 0.995		/* part of the way to the boundary that is gone */
#define FIRST_SLACK 0.1			/* 1 - max X_ii at the interior point method's start */
#define LATER_SLACK 0.1			/* the same in parts of the gap, where Newton's method was */

/* ---- reduction ---- */

/* The kept column that column j repeats, or -1. */
static int32_t
repeated(const double *v, int32_t n, int32_t j, const int32_t *kept, int32_t count)
{
	const double *column = v + (size_t) j * (size_t) n;

	for (int32_t k = 0; k < count; k++)
	{
		int32_t		i = kept[k];

		if (column[i] == column[j] && v[i + (size_t) i * (size_t) n] == column[j])
			return k;
	}
	return -1;
}

int32_t
pe_optimum_reduce(double *v, int32_t n, int32_t *column_of)
{
	int32_t    *kept = pe_alloc((size_t) n, sizeof(int32_t));
	int32_t		count = 0;

	for (int32_t j = 0; j < n; j++)
	{
		column_of[j] = -1;
		if (v[j + (size_t) j * (size_t) n] == 0.0)
			continue;
		column_of[j] = repeated(v, n, j, kept, count);
		if (column_of[j] >= 0)
			continue;
		column_of[j] = count;
		kept[count++] = j;
	}
	/* kept[k] >= k, so no entry is overwritten before it is read */
	for (int32_t b = 0; b < count; b++)
		for (int32_t a = 0; a < count; a++)
			v[a + (size_t) b * (size_t) count] = v[kept[a] + (size_t) kept[b] * (size_t) n];
	pe_free(kept);
	return count;
}

/* ---- search ---- */

typedef struct search
{
	pe_dual		dual;
	double		goal;			/* gap to be reached */
	bool		interior;		/* which method */
	bool		fresh;			/* the interior point method has no slacks yet */
	double		slack;			/* of its start */
	int32_t		evaluations;
	int32_t		newton_evaluations;
	int32_t		slow;			/* of Newton's evaluations */
	int32_t		idle;			/* evaluations since the last gain */
	bool		fine;			/* directions from a coarse Hessian do not do */
	double		lower;
	double		upper;
	bool		normalised;		/* upper belongs to X scaled to unit diagonal, not to X / max X_ii */
	bool		direct;			/* and was found without row factors */
	bool		current;		/* the dual still holds what upper belongs to */
	double	   *lower_y;
	double	   *upper_y;
	double	   *z;				/* slacks of X_ii <= 1 */
	double	   *shift;
	double	   *right;
	double	   *du;
	double	   *dy;
	double	   *dz;
	double	   *correction;
} search;

#define VECTORS 9

static void
search_init(search *s, const double *const *v, int32_t parts, int32_t n, double goal)
{
	double	   *vectors;
	size_t		order;

	memset(s, 0, sizeof(*s));
	pe_dual_init(&s->dual, v, parts, n, true);
	order = (size_t) s->dual.order;
	vectors = pe_alloc(VECTORS * order, sizeof(double));
	s->lower_y = vectors;
	s->upper_y = vectors + order;
	s->z = vectors + 2 * order;
	s->shift = vectors + 3 * order;
	s->right = vectors + 4 * order;
	s->du = vectors + 5 * order;
	s->dy = vectors + 6 * order;
	s->dz = vectors + 7 * order;
	s->correction = vectors + 8 * order;
	s->goal = goal;
	s->upper = INFINITY;
	s->interior = s->dual.rank < NEARLY_FULL * s->dual.dimension;
	s->fresh = true;
	s->slack = FIRST_SLACK;
	pe_dual_start(&s->dual, s->dual.y);
	memcpy(s->lower_y, s->dual.y, order * sizeof(double));
	memcpy(s->upper_y, s->dual.y, order * sizeof(double));
}

static double
gap_of(const search *s)
{
	return s->lower > 0.0 ? s->upper / s->lower - 1.0 : INFINITY;
}

/* The interior point method's start: the largest X_ii is less than 1 by slack. */
static void
take_slacks(search *s)
{
	pe_dual    *dual = &s->dual;
	double		ratio = pe_dual_largest(dual) / (1.0 - s->slack);

	pe_dual_rescale(dual, ratio * ratio);
	for (int32_t i = 0; i < dual->order; i++)
		s->z[i] = 1.0 - dual->diagonal[i];
	s->fresh = false;
}

/* The scale of y at which the evaluated point is used next. */
static void
settle_scale(search *s)
{
	pe_dual    *dual = &s->dual;
	double		ratio;

	if (!s->interior)
	{
		/* the mean of X_ii with weights y becomes 1 */
		ratio = dual->trace / pe_dual_sum(dual);
		pe_dual_rescale(dual, ratio * ratio);
	}
	else if (s->fresh)
		take_slacks(s);
}

static void
improve_upper(search *s, double upper, bool normalised)
{
	if (!(upper < s->upper))
		return;
	s->upper = upper;
	s->normalised = normalised;
	s->direct = s->dual.direct;
	s->current = true;
	memcpy(s->upper_y, s->dual.y, (size_t) s->dual.order * sizeof(double));
}

static void
take_bounds(search *s)
{
	pe_dual    *dual = &s->dual;
	double		before = gap_of(s);
	double		lower = dual->trace_lower * dual->trace_lower / pe_dual_sum(dual);

	s->current = false;
	if (lower > s->lower)
	{
		s->lower = lower;
		memcpy(s->lower_y, dual->y, (size_t) dual->order * sizeof(double));
	}
	improve_upper(s, (dual->trace + dual->slack) * pe_dual_largest(dual), false);
	if (dual->direct && dual->parts == 1)
		improve_upper(s, pe_dual_normalised(dual), true);
	if (gap_of(s) > before / 3.0)
		s->slow++;
	s->idle = gap_of(s) < before ? 0 : s->idle + 1;
	s->fine = s->fine || s->idle >= IDLE_COARSE || (!s->interior && s->slow > 0);
}

/* ---- Newton's method in log y ---- */

/* S du = kappa o log X, which makes every X_ii 1 to first order */
static bool
newton_step(search *s)
{
	pe_dual    *dual = &s->dual;

	memset(s->shift, 0, (size_t) dual->order * sizeof(double));
	if (!pe_dual_system(dual, NEWTON_STEP, s->fine, s->shift))
		return false;
	for (int32_t i = 0; i < dual->order; i++)
		s->right[i] = dual->kappa[i] * log(dual->diagonal[i]);
	pe_dual_solve(dual, s->right, s->du);
	for (int32_t i = 0; i < dual->order; i++)
		dual->y[i] *= exp(fmin(fmax(s->du[i], -LONGEST_STEP), LONGEST_STEP));
	return true;
}

static bool
newton_fails(const search *s)
{
	return s->slow >= NEWTON_SLOW || s->newton_evaluations > NEWTON_EVALUATIONS;
}

static void
begin_interior(search *s)
{
	s->interior = true;
	s->fresh = true;
	s->slack = FIRST_SLACK;
	s->idle = 0;
	s->fine = false;
	pe_dual_use_factors(&s->dual);
	pe_dual_start(&s->dual, s->dual.y);
}

/*
 * Where V is of nearly full rank the best y is 0 for some columns, if for any: Newton's method
 * finds all others, and the interior point method begins where that was evaluated.
 */
static bool
newton_is_done(const search *s)
{
	return !s->dual.direct && s->dual.rank < s->dual.dimension && gap_of(s) <= NEWTON_DONE;
}

static void
continue_interior(search *s)
{
	s->interior = true;
	s->slack = LATER_SLACK * gap_of(s);
	s->idle = 0;
	s->fine = false;
	take_slacks(s);
}

/* ---- the interior point method ---- */

/*
 * One linearisation of  y z = mu,  X(y)_ii + z_i = 1  with the given mu and
 * second-order correction: (S + c y z) du = c mu - (c y - kappa) - c correction,
 * every row times c = copies.
 */
static void
interior_direction(search *s, double mu)
{
	pe_dual    *dual = &s->dual;
	const double *y = dual->y;

	for (int32_t i = 0; i < dual->order; i++)
		s->right[i] = dual->copies[i] * (mu - y[i] - s->correction[i]) + dual->kappa[i];
	pe_dual_solve(dual, s->right, s->du);
	for (int32_t i = 0; i < dual->order; i++)
	{
		s->dy[i] = y[i] * s->du[i];
		s->dz[i] = (mu - y[i] * s->z[i] - s->correction[i] - s->z[i] * s->dy[i]) / y[i];
	}
}

/* The mean of y z over all coordinates, after a step. */
static double
mean_product(const search *s, double step)
{
	const pe_dual *dual = &s->dual;
	double		sum = 0.0;

	for (int32_t i = 0; i < dual->order; i++)
		sum += dual->copies[i] * (dual->y[i] + step * s->dy[i]) * (s->z[i] + step * s->dz[i]);
	return sum / dual->n;
}

/* Mehrotra's predictor and corrector */
static bool
interior_step(search *s)
{
	pe_dual    *dual = &s->dual;
	int32_t		order = dual->order;
	double		mu;
	double		step;
	double		centring;

	for (int32_t i = 0; i < order; i++)
	{
		s->shift[i] = dual->copies[i] * dual->y[i] * s->z[i];
		s->correction[i] = s->dy[i] = s->dz[i] = 0.0;
	}
	mu = mean_product(s, 0.0);
	if (!pe_dual_system(dual, INTERIOR_STEP, s->fine, s->shift))
		return false;
	interior_direction(s, 0.0);
	step = fmin(pe_longest_step(order, dual->y, s->dy), pe_longest_step(order, s->z, s->dz));
	/* the last floor keeps columns of tiny weight from stalling the search */
	centring = fmax(fmax(pow(mean_product(s, step) / mu, 3.0), 1e-4),
					0.2 * s->goal * dual->trace / (dual->n * mu));
	for (int32_t i = 0; i < order && step > 0.1; i++)
		s->correction[i] = s->dy[i] * s->dz[i];
	interior_direction(s, centring * mu);
	step = fmin(1.0, STAY_INSIDE * pe_longest_step(order, dual->y, s->dy));
	for (int32_t i = 0; i < order; i++)
		dual->y[i] += step * s->dy[i];
	step = fmin(1.0, STAY_INSIDE * pe_longest_step(order, s->z, s->dz));
	for (int32_t i = 0; i < order; i++)
		s->z[i] += step * s->dz[i];
	return true;
}

/* ---- the loop ---- */

/* One evaluation and what it proves; false if it could not be made. */
static bool
evaluate(search *s)
{
	pe_poll();
	s->evaluations++;
	if (!s->interior)
		s->newton_evaluations++;
	if (!pe_dual_evaluate(&s->dual))
	{
		s->current = false;
		return false;
	}
	settle_scale(s);
	take_bounds(s);
	pe_progress("optimising the strategy", s->evaluations, 0, gap_of(s));
	return true;
}

static void
run_search(search *s)
{
	while (s->evaluations < EVALUATIONS && s->idle < PATIENCE)
	{
		bool		good = evaluate(s);

		if (good && gap_of(s) <= s->goal)
			return;
		if (!s->interior && good && newton_is_done(s))
			continue_interior(s);
		else if (!s->interior && good && newton_fails(s))
			good = false;
		if (good)
		{
			good = s->interior ? interior_step(s) : newton_step(s);
			s->current = false;
		}
		if (good)
			continue;
		if (s->interior)
			return;
		begin_interior(s);
	}
}

/* ---- the result ---- */

/* diag(d) U diag(s^.5) for one block in work, so that X_b is it times its transpose. */
static void
strategy_block(search *s, const pe_dual_block *block)
{
	pe_dual    *dual = &s->dual;

	for (int32_t k = 0; k < block->rank; k++)
	{
		const double *u = block->u + (size_t) k * (size_t) block->size;
		double	   *to = dual->work + (size_t) k * (size_t) block->size;
		double		root = sqrt(block->s[k]);

		for (int32_t i = 0; i < block->size; i++)
			to[i] = u[i] * root * dual->root[i];
	}
	pe_poll();
	pe_la_syrk(false, block->size, block->rank, 1.0, dual->work, block->size, 0.0, dual->scratch, block->size);
	pe_la_mirror(block->size, dual->scratch, block->size);
}

/* d = 1 / sqrt(y X_ii), or with the largest X_ii, in root */
static void
scale_of_result(search *s)
{
	pe_dual    *dual = &s->dual;
	double		largest = pe_dual_largest(dual);

	for (int32_t i = 0; i < dual->order; i++)
		dual->root[i] = 1.0 / sqrt(dual->y[i] * (s->normalised ? dual->diagonal[i] : largest));
}

/* The blocks of a part of V begin with this one. */
static int32_t
first_block(const pe_dual *dual, int32_t part)
{
	return dual->split ? 2 * part : part;
}

static double *
take_strategy(search *s, int32_t part)
{
	pe_dual    *dual = &s->dual;
	int32_t		n = dual->n;
	double	   *x;

	if (dual->blocks == 1)
	{
		strategy_block(s, &dual->block[0]);
		x = dual->scratch;
		dual->scratch = NULL;
	}
	else
	{
		x = pe_alloc(pe_la_square(n), sizeof(double));
		for (int32_t b = first_block(dual, part); b < first_block(dual, part + 1); b++)
		{
			strategy_block(s, &dual->block[b]);
			pe_dual_add_block(dual, b, x);
		}
	}
	/* 1 up to rounding: not above it */
	for (int32_t i = 0; i < n; i++)
		x[i + (size_t) i * (size_t) n] = fmin(x[i + (size_t) i * (size_t) n], 1.0);
	return x;
}

/* Row k of the factor is basis o (u_k s_k^.5 d), the blocks' rows one below the other. */
static double *
take_factor(const pe_dual *dual, int32_t part, int32_t rank)
{
	double	   *factor = pe_la_vector(pe_la_size(rank, dual->n));

	for (int32_t j = 0; j < dual->n; j++)
	{
		double	   *to = factor + (size_t) j * (size_t) rank;
		int32_t		index = pe_dual_index(dual, j);

		for (int32_t b = first_block(dual, part); b < first_block(dual, part + 1); b++)
		{
			const pe_dual_block *block = &dual->block[b];
			double		scale = pe_dual_basis(dual, b, j) * dual->root[index];

			for (int32_t k = 0; k < block->rank; k++, to++)
				if (index < block->size)
					*to = scale * sqrt(block->s[k]) * block->u[index + (size_t) k * (size_t) block->size];
		}
	}
	return factor;
}

/* Columns of length at most 1, exactly the largest of them 1 up to rounding. */
static void
normalise_factor(double *factor, int32_t rank, int32_t n)
{
	double		largest = 0.0;
	double		length;

	for (int32_t j = 0; j < n; j++)
		largest = fmax(largest, pe_la_dot((size_t) rank, factor + pe_la_size(rank, j), factor + pe_la_size(rank, j)));
	length = sqrt(largest);
	for (size_t i = 0; i < (size_t) rank * (size_t) n; i++)
		factor[i] /= length;
}

/* The dual holds what upper belongs to, and root how that is scaled. */
static void
settle_result(search *s, pe_optimum *result)
{
	pe_dual    *dual = &s->dual;

	if (!s->current)
	{
		/* in the way in which upper was found: the numbers must be the same */
		dual->direct = s->direct;
		memcpy(dual->y, s->upper_y, (size_t) dual->order * sizeof(double));
		if (!pe_dual_evaluate(dual))
			pe_bug("an evaluation of the strategy cannot be repeated");
	}
	scale_of_result(s);
	*result = (pe_optimum) {.n = dual->n, .rank = dual->rank, .upper = s->upper, .lower = s->lower,
		.iterations = s->evaluations};
	result->y = pe_alloc((size_t) dual->n, sizeof(double));
	for (int32_t i = 0; i < dual->n; i++)
		result->y[i] = s->lower_y[pe_dual_index(dual, i)];
}

static void
take_result(search *s, pe_optimum *result)
{
	pe_dual    *dual = &s->dual;

	settle_result(s, result);
	result->full = dual->rank == dual->n;
	if (result->full)
	{
		result->x = take_strategy(s, 0);
		return;
	}
	/* room first: the workspaces have done their work */
	pe_free(dual->scratch);
	pe_free(dual->work);
	dual->scratch = dual->work = NULL;
	result->factor = take_factor(dual, 0, dual->rank);
	normalise_factor(result->factor, dual->rank, dual->n);
}

/* tr V_g X_g^+ is the sum of the roots times what X was divided by. */
static void
take_part(search *s, int32_t part, pe_optimum *result)
{
	pe_dual    *dual = &s->dual;

	*result = (pe_optimum) {.n = dual->n};
	for (int32_t b = first_block(dual, part); b < first_block(dual, part + 1); b++)
	{
		result->rank += dual->block[b].rank;
		for (int32_t k = 0; k < dual->block[b].rank; k++)
			result->upper += dual->block[b].s[k];
	}
	/* of one alone as it was found, with what rounding can add */
	result->upper = dual->parts == 1 ? s->upper : result->upper * pe_dual_largest(dual);
	result->full = result->rank == dual->n;
	if (result->full)
		result->x = take_strategy(s, part);
	else
		result->factor = take_factor(dual, part, result->rank);
}

void
pe_optimum_check_gram(const double *v, int32_t n)
{
	if (n > PE_OPTIMUM_CELLS)
		pe_bug("a Gram matrix of an impossible size");
	pe_design_check_gram(v, n);
	for (int32_t i = 0; i < n; i++)
		if (!(v[i + pe_la_size(i, n)] > 0.0))
			pe_bug("a Gram matrix with a column that no query asks for");
}

static void
solve(search *s, const double *const *v, int32_t parts, int32_t n, double gap)
{
	search_init(s, v, parts, n, gap);
	run_search(s);
	if (!isfinite(s->upper))
		pe_bug("a Gram matrix beyond the range of floating point");
}

static void
search_free(search *s)
{
	pe_free(s->lower_y);
	pe_dual_free(&s->dual);
}

void
pe_optimum_solve(const double *v, int32_t n, double gap, pe_optimum *result)
{
	search		s;

	pe_optimum_check_gram(v, n);
	solve(&s, &v, 1, n, gap);
	take_result(&s, result);
	search_free(&s);
}

void
pe_optimum_solve_sum(const double *const *v, int32_t parts, int32_t n, double gap, pe_optimum *result, pe_optimum *part)
{
	search		s;

	if (parts < 1 || n > PE_OPTIMUM_CELLS)
		pe_bug("Gram matrices of an impossible size");
	for (int32_t g = 0; g < parts; g++)
		pe_design_check_gram(v[g], n);
	solve(&s, v, parts, n, gap);
	settle_result(&s, result);
	for (int32_t g = 0; g < parts; g++)
		take_part(&s, g, &part[g]);
	search_free(&s);
}

size_t
pe_optimum_memory(int32_t n)
{
	/* the workspaces, v, the vectors of the search and of the result, and small change */
	return pe_dual_memory(n) + pe_la_square(n) * sizeof(double)
		+ (VECTORS + 1) * (size_t) n * sizeof(double) + sizeof(search);
}

void
pe_optimum_free(pe_optimum *result)
{
	pe_free(result->y);
	pe_free(result->x);
	pe_free(result->factor);
	memset(result, 0, sizeof(*result));
}

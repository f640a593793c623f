/*
 * optimum_max.c
 *	  The strategy whose worst query is best.  See optimum.h.
 *
 * What is maximised is 2 T(y, p) - sum y - (sum p)^2 / 2, whose maximum has
 *
 *	 X_ii = 1 where y_i > 0,   a_q = w_q' X^-1 w_q = sigma = sum p where p_q > 0,
 *
 * and sigma is the least largest variance.  It is found by the primal-dual
 * interior point method of optimum.c for y and p at once: with P^.5 W Y^.5 = U
 * diag(s) Z', u = log y, v = log p, kappa = y X_ii on the columns and p a on the
 * queries,
 *
 *	 d kappa - kappa (du, dv) = -S (du, dv),
 *	 S = sum_kl s_k s_l / (s_k + s_l) h_kl h_kl',   h_kl = (z_k o z_l, -u_k o u_l),
 *
 * which is optimum_eval.h's S of the stacked vectors (z_k, u_k) up to the signs
 * of the mixed blocks, which follow from solving for -dv.
 *
 * With more queries than the system of equations can have, both are improved by
 * multiplication instead, y by X_ii^omega and p by a_q^omega, the iteration of
 * optimal design (Silvey, Titterington, Torsney, "An algorithm for optimal designs on
 * a design space", 1978).  In logarithms it contracts by |1 - omega lambda|, lambda
 * the eigenvalues of kappa^-1 S, which lie between 0 and 1: omega below 2.  From a
 * gap of 1e-2 on it is slow, for half of the queries of all_range end at the same
 * variance.
 */
#include "optimum/optimum.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/optimum_eval.h"

#define NEWTON_QUERIES 4096		/* most queries of the interior point method */
#define EVALUATIONS 80			/* of it, at most */
#define MULTIPLICATIONS 120		/* otherwise */
#define OMEGA 1.8
#define PATIENCE 12				/* evaluations without any gain, then rounding is at its end */
#define IDLE_BOLD 4				/* of them, then long steps do not do */
#define IDLE_COARSE 2			/* of them, then the Hessian was too coarse */
#define STEP 1.5				/* of the quadrature */
#define FIRST_SLACK 0.1			/* of X_ii <= 1 and of a_q <= sigma, at the start */
#define SCALE_STEPS 30			/* each leaves 3/4 of what the scale is off in logarithms */
#define FALL 0.8				/* most part of itself that a coordinate loses in a step */
#define RISE 20.0				/* and gains */
#define CAUTIOUS_FALL 0.5
#define CAUTIOUS_RISE 2.0
#define CAUTIOUS_CENTRING 0.3
#define SHARE 0.1				/* of all queries together in p, in units of the gap */
#define LARGEST_SHARE 1e-3
#define LEAST_SHARE 1e-10

typedef struct search
{
	pe_max_dual dual;
	double		goal;			/* gap to be reached */
	int32_t		evaluations;
	int32_t		idle;			/* evaluations since the last gain */
	bool		fine;			/* directions from a coarse Hessian do not do */
	bool		cautious;		/* short steps along the central path */
	double		lower;
	double		upper;
	double	   *best;			/* rank x n: the strategy of upper */

	/* the Newton system; vectors over columns and queries */
	int32_t		order;
	pe_dual		system;
	double	   *z;				/* slacks */
	double	   *tie;
	double	   *shift;
	double	   *right;
	double	   *du;
	double	   *dy;
	double	   *dz;
	double	   *correction;
} search;

#define VECTORS 8

static double
gap_of(const search *s)
{
	return s->lower > 0.0 ? s->upper / s->lower - 1.0 : INFINITY;
}

static void
take_bounds(search *s)
{
	const pe_max_dual *dual = &s->dual;
	double		before = gap_of(s);
	double		upper = dual->worst * dual->largest * (1.0 + 2.0 * dual->rounding);
	double		lower = dual->trace_lower * dual->trace_lower / (pe_max_dual_sum(dual) * pe_max_dual_sigma(dual));

	s->lower = fmax(s->lower, lower);
	if (upper < s->upper)
	{
		s->upper = upper;
		pe_max_dual_strategy(dual, s->best);
	}
	s->idle = gap_of(s) < before ? 0 : s->idle + 1;
	s->fine = s->fine || s->idle >= IDLE_COARSE;
}

/* One evaluation and what it proves; false if it could not be made. */
static bool
evaluate(search *s)
{
	pe_poll();
	s->evaluations++;
	if (!pe_max_dual_evaluate(&s->dual))
		return false;
	take_bounds(s);
	pe_progress("optimising the strategy", s->evaluations, 0, gap_of(s));
	return true;
}

/* ---- the interior point method ---- */

static void
init_system(search *s)
{
	size_t		order = (size_t) s->order;
	pe_dual    *system = &s->system;
	double	   *vectors = pe_la_vector(VECTORS * order);

	s->z = vectors;
	s->tie = vectors + order;
	s->shift = vectors + 2 * order;
	s->right = vectors + 3 * order;
	s->du = vectors + 4 * order;
	s->dy = vectors + 5 * order;
	s->dz = vectors + 6 * order;
	s->correction = vectors + 7 * order;
	system->order = system->n = s->order;
	system->rank = s->dual.rank;
	system->blocks = 1;
	system->block = pe_alloc(1, sizeof(pe_dual_block));
	system->block[0] = (pe_dual_block) {.size = s->order, .rank = s->dual.rank, .s = s->dual.s,
		.u = pe_la_vector(order * (size_t) s->dual.rank)};
	system->kappa = s->dual.kappa;
	system->tie = s->tie;
	system->root = pe_la_vector(order);
	system->scale = pe_la_vector(order);
	system->right = pe_alloc(order, sizeof(float));
	system->scratch = pe_la_vector(order * order);
	system->work = pe_alloc(order * (size_t) s->dual.rank, sizeof(float));
}

static void
free_system(search *s)
{
	pe_free(s->z);
	pe_free(s->system.block[0].u);
	pe_free(s->system.block);
	pe_free(s->system.root);
	pe_free(s->system.scale);
	pe_free(s->system.right);
	pe_free(s->system.scratch);
	pe_free(s->system.work);
}

/* The scale of y and of p at which X_ii and a_q are FIRST_SLACK below what they may be; then the slacks. */
static void
begin_interior(search *s)
{
	pe_max_dual *dual = &s->dual;
	double		ratio = dual->largest / (1.0 - FIRST_SLACK);	/* (y/p)^.5 is to grow so much */
	double		scale = dual->worst * ratio / ((1.0 - FIRST_SLACK) * pe_max_dual_sigma(dual));

	pe_max_dual_rescale(dual, scale * ratio * ratio, scale);
	for (int32_t i = 0; i < s->order; i++)
		s->z[i] = i < dual->n ? 1.0 - dual->kappa[i] / dual->y[i]
			: pe_max_dual_sigma(dual) - dual->variance[i - dual->n];
}

/* The mean of y z, after a step. */
static double
mean_product(const search *s, double step)
{
	const double *y = s->dual.y;
	double		sum = 0.0;

	for (int32_t i = 0; i < s->order; i++)
		sum += (y[i] + step * s->dy[i]) * (s->z[i] + step * s->dz[i]);
	return sum / s->order;
}

/*
 * S, and what sigma adds as the sum of all p, factored; a p that is 0 for
 * rounding would make it singular.
 */
static bool
prepare_system(search *s)
{
	const pe_max_dual *dual = &s->dual;

	pe_max_dual_stack(dual, s->system.block[0].u);
	for (int32_t i = 0; i < s->order; i++)
	{
		if (!(dual->kappa[i] > 0.0))
			return false;
		s->shift[i] = dual->y[i] * s->z[i];
		s->tie[i] = i < dual->n ? 0.0 : dual->y[i] / sqrt(1.0 - dual->share);
	}
	return pe_dual_system(&s->system, STEP, s->fine, s->shift);
}

/*
 * One linearisation of  y z = mu,  X_ii + z_i = 1,  a_q + z_q = sigma  with the
 * given mu and second-order correction.
 */
static void
interior_direction(search *s, double mu)
{
	const pe_max_dual *dual = &s->dual;
	const double *y = dual->y;
	double		sigma = pe_max_dual_sigma(dual);

	for (int32_t i = 0; i < s->order; i++)
		if (i < dual->n)
			s->right[i] = mu + dual->kappa[i] - y[i] - s->correction[i];
		else
			s->right[i] = sigma * y[i] + s->correction[i] - mu - dual->kappa[i];
	pe_dual_solve(&s->system, s->right, s->du);
	for (int32_t i = 0; i < s->order; i++)
	{
		s->dy[i] = y[i] * (i < dual->n ? s->du[i] : -s->du[i]);
		s->dz[i] = (mu - y[i] * s->z[i] - s->correction[i] - s->z[i] * s->dy[i]) / y[i];
	}
}

/*
 * Each coordinate goes as far as it may by itself: one that falls to zero, of a
 * query that does not matter, must not hold up all others.
 */
static void
move(const search *s, double *x, const double *dx)
{
	double		fall = s->cautious ? CAUTIOUS_FALL : FALL;
	double		rise = s->cautious ? CAUTIOUS_RISE : RISE;

	for (int32_t i = 0; i < s->order; i++)
		x[i] += fmin(fmax(dx[i], -fall * x[i]), rise * x[i]);
}

/* Mehrotra's predictor and corrector */
static bool
interior_step(search *s)
{
	double	   *y = s->dual.y;
	double		mu;
	double		step;
	double		centring;

	if (!prepare_system(s))
		return false;
	memset(s->correction, 0, (size_t) s->order * sizeof(double));
	memset(s->dy, 0, (size_t) s->order * sizeof(double));
	memset(s->dz, 0, (size_t) s->order * sizeof(double));
	mu = mean_product(s, 0.0);
	interior_direction(s, 0.0);
	step = fmin(pe_longest_step(s->order, y, s->dy), pe_longest_step(s->order, s->z, s->dz));
	/* the last floor keeps what has tiny weight from stalling the search */
	centring = fmax(fmax(pow(mean_product(s, step) / mu, 3.0), 1e-4),
					0.2 * s->goal * s->dual.trace / (s->order * mu));
	if (s->cautious)
		centring = fmax(centring, CAUTIOUS_CENTRING);
	for (int32_t i = 0; i < s->order && step > 0.1 && !s->cautious; i++)
		s->correction[i] = s->dy[i] * s->dz[i];
	interior_direction(s, centring * mu);
	move(s, y, s->dy);
	move(s, s->z, s->dz);
	return true;
}

/*
 * The scale of y and of p at which the sums over X_ii + z_i = 1 and a_q + z_q = sigma
 * with weights y and p hold for y z = mu: T = sum y - n mu = sigma sum p - m mu.
 * What keeps y and p positive changes these sums, and neither bound sees it.
 */
static void
settle_scale(search *s)
{
	pe_max_dual *dual = &s->dual;
	double		columns = 1.0;
	double		queries = 1.0;
	double		sum = pe_max_dual_sum(dual);
	double		square_sum = pe_max_dual_sigma(dual) * pe_max_dual_sigma(dual);
	double		mu;

	memset(s->dy, 0, (size_t) s->order * sizeof(double));
	memset(s->dz, 0, (size_t) s->order * sizeof(double));
	mu = mean_product(s, 0.0);
	for (int i = 0; i < SCALE_STEPS; i++)
	{
		double		trace = dual->trace * sqrt(columns * queries);

		columns = (trace + dual->n * mu) / sum;
		queries = sqrt((trace + dual->queries * mu) / square_sum);
	}
	pe_max_dual_rescale(dual, columns, queries);
}

/* From the start again, with short steps: slower, and what long ones fail at is rare. */
static bool
begin_cautious(search *s)
{
	s->cautious = true;
	s->idle = -PATIENCE;		/* it has to catch up first */
	pe_max_dual_start(&s->dual);
	if (!evaluate(s))
		return false;
	begin_interior(s);
	return true;
}

static void
run_interior(search *s)
{
	bool		good = true;

	init_system(s);
	begin_interior(s);
	while (gap_of(s) > s->goal && s->evaluations < EVALUATIONS && s->idle < PATIENCE)
	{
		good = good && interior_step(s) && evaluate(s);
		if (good)
			settle_scale(s);
		if (good && (s->cautious || s->idle < IDLE_BOLD))
			continue;
		if (s->cautious || gap_of(s) <= s->goal)
			break;
		good = begin_cautious(s);
	}
	free_system(s);
}

/* ---- multiplication ---- */

/* x <- x (value / mean)^OMEGA, then sum x = 1; the mean is weighted by x. */
static void
multiply(int32_t n, double *x, const double *product)
{
	double		sum = 0.0;
	double		mean = 0.0;
	double		total = 0.0;

	for (int32_t i = 0; i < n; i++)
	{
		sum += x[i];
		mean += product[i];
	}
	mean /= sum;
	for (int32_t i = 0; i < n; i++)
		if (x[i] > 0.0)
			total += x[i] *= pow(product[i] / x[i] / mean, OMEGA);
	for (int32_t i = 0; i < n; i++)
		x[i] /= total;
}

static void
run_multiplication(search *s)
{
	pe_max_dual *dual = &s->dual;
	bool		good = true;

	while (good && gap_of(s) > s->goal && s->evaluations < MULTIPLICATIONS && s->idle < PATIENCE)
	{
		multiply(dual->n, dual->y, dual->kappa);
		multiply(dual->queries, dual->y + dual->n, dual->kappa + dual->n);
		good = evaluate(s);
	}
}

/* ---- the result ---- */

/* Columns of length at most 1, the largest of them 1 up to rounding. */
static void
normalise(double *factor, int32_t rank, int32_t n)
{
	double		largest = 0.0;

	for (int32_t j = 0; j < n; j++)
	{
		double		length = 0.0;

		for (int32_t k = 0; k < rank; k++)
			length += factor[k + (size_t) j * (size_t) rank] * factor[k + (size_t) j * (size_t) rank];
		largest = fmax(largest, length);
	}
	for (size_t i = 0; i < (size_t) rank * (size_t) n; i++)
		factor[i] /= sqrt(largest);
}

/* X from G in full rank. */
static double *
strategy_of(const double *factor, int32_t n)
{
	double	   *x = pe_la_vector(pe_la_square(n));

	pe_la_syrk(true, n, n, 1.0, factor, n, 0.0, x, n);
	pe_la_mirror(n, x, n);
	/* 1 up to rounding: not above it */
	for (int32_t i = 0; i < n; i++)
		x[i + (size_t) i * (size_t) n] = fmin(x[i + (size_t) i * (size_t) n], 1.0);
	return x;
}

static void
take_result(const search *s, int32_t n, int32_t rank, pe_design *design)
{
	normalise(s->best, rank, n);
	*design = (pe_design) {.n = n, .objective = s->upper, .iterations = s->evaluations,
		.finished = gap_of(s) <= s->goal};
	if (rank == n)
	{
		design->x = strategy_of(s->best, n);
		pe_free(s->best);
		return;
	}
	design->rows = rank;
	design->factor = s->best;
}

static void
check_source(const pe_query_source *source, int32_t n)
{
	if (n < 1 || n > PE_OPTIMUM_CELLS || source->queries < 1)
		pe_bug("queries over an impossible number of columns");
	if (!pe_la_finite(pe_la_square(n), source->gram))
		pe_bug("queries that are not finite");
	for (int32_t i = 0; i < n; i++)
		if (!(source->gram[i + (size_t) i * (size_t) n] > 0.0))
			pe_bug("a column that no query asks for");
}

void
pe_optimum_max(const pe_query_source *source, int32_t n, double gap,
			   pe_design *design, double *lower, double *upper)
{
	search		s = {.goal = gap, .upper = INFINITY, .order = n + source->queries};
	int32_t		rank;

	check_source(source, n);
	pe_max_dual_init(&s.dual, source, n, fmin(fmax(SHARE * gap, LEAST_SHARE), LARGEST_SHARE));
	rank = s.dual.rank;
	s.best = pe_la_vector((size_t) rank * (size_t) n);
	if (!evaluate(&s))
		pe_bug("queries beyond the range of floating point");
	if (source->queries <= NEWTON_QUERIES)
		run_interior(&s);
	else
		run_multiplication(&s);
	pe_max_dual_free(&s.dual);
	*lower = s.lower;
	*upper = s.upper;
	take_result(&s, n, rank, design);
}

size_t
pe_optimum_max_memory(int32_t queries, int32_t n)
{
	size_t		order = (size_t) n + (size_t) queries;
	size_t		strategy = pe_la_square(n) * sizeof(double);

	if (queries > NEWTON_QUERIES)
		return pe_max_dual_memory(queries, n) + 2 * strategy;
	return pe_max_dual_memory(queries, n) + 2 * strategy
		+ (VECTORS + 3 + order) * order * sizeof(double) + order * (size_t) n * (sizeof(double) + sizeof(float));
}

/*
 * p_identity.c
 *	  Strategies that count every column and a few sums besides.  See optimum.h.
 *
 * The objective is minimised over Theta >= 0 by a two-metric projection method:
 * entries that are 0 and would become negative stay, the others move along an
 * L-BFGS direction and are cut off at 0 (Bertsekas, "Projected Newton methods for
 * optimization problems with simple constraints", SIAM J. Control Optim. 20, 1982).
 */
#include "optimum/optimum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "base/mem.h"
#include "optimum/lbfgs.h"

#define CELLS_PER_SUM 16		/* the paper's p = n / 16 */
#define DECREASE 1e-4			/* of what the slope promises, for a step to be taken */
/*
 * of the objective, by a bound that is 10^5 times what happens: a larger Theta
 * is none
 */
#define MOST_ROUNDING 1e-2
#define SHORTEST_STEP 1e-12
#define FIRST_STEP 0.1			/* of the entry that moves most; Theta is about 1 */
#define OPERATIONS 3e11			/* in floating point, of all starts together, about */
#define MOST_STARTS 5			/* the paper's number */
#define LEAST_EVALUATIONS 300	/* of one start: fewer leave too much on the table */
#define MOST_EVALUATIONS 2000	/* more hardly matter */
#define IDLE_ITERATIONS 10		/* after so many that gain less than IDLE_GAIN together, relatively, it ends */
#define IDLE_GAIN 1e-6
#define MOST_COLUMNS 256		/* with more, and more than four to a sum, groups of them come first */
#define GROUPED_OPERATIONS 2e10	/* then, at each size of groups */
#define GROUPED_EVALUATIONS 400	/* that a start is taken to need */
#define GROUPED_LEAST 100
#define COARSE_GAIN 1e-4		/* as IDLE_GAIN, among groups */
#define SAME_LIKENESS 1e-9		/* relative difference */

/* ------------------------------------------------------------------
 * The objective
 * ------------------------------------------------------------------
 */

/* Matrices are p x n by columns, as Theta is, except V and those of order p. */
typedef struct problem
{
	const double *v;			/* n x n */
	int32_t		n;
	int32_t		p;
	double		mean;			/* of V's diagonal: everything else is in this unit, far from overflow */
	double	   *own;			/* n: what stands for V_jj, in this unit */
	double	   *part;			/* n: 1; of a group of g columns g^-.5 */
	double	   *sum;			/* n: s_j = 1 + part_j sum_i Theta_ij, the diagonal of D^-1 */
	double	   *scaled;			/* Theta D^-1 */
	double	   *product;		/* Theta U, U = D^-1 V D^-1 / mean */
	double	   *solved;			/* Y = C^-1 Theta */
	double	   *root;			/* p x p: C = I + Theta Theta' = R'R */
	double	   *inner;			/* p x p */
	double		size_of_sums;	/* tr C */
} problem;

static size_t
entries(const problem *f)
{
	return (size_t) f->p * f->n;
}

static void
problem_init(problem *f, const double *v, int32_t n, int32_t p)
{
	*f = (problem) {.v = v, .n = n, .p = p};
	for (int32_t j = 0; j < n; j++)
		f->mean += v[(size_t) j * n + j] / n;
	f->mean = fmax(f->mean, DBL_MIN);
	f->own = pe_alloc(n, sizeof(double));
	f->part = pe_alloc(n, sizeof(double));
	for (int32_t j = 0; j < n; j++)
	{
		f->own[j] = v[(size_t) j * n + j] / f->mean;
		f->part[j] = 1;
	}
	f->sum = pe_alloc(n, sizeof(double));
	f->scaled = pe_alloc(entries(f), sizeof(double));
	f->product = pe_alloc(entries(f), sizeof(double));
	f->solved = pe_alloc(entries(f), sizeof(double));
	f->root = pe_alloc((size_t) p * p, sizeof(double));
	f->inner = pe_alloc((size_t) p * p, sizeof(double));
}

static void
problem_free(problem *f)
{
	pe_free(f->own);
	pe_free(f->part);
	pe_free(f->sum);
	pe_free(f->scaled);
	pe_free(f->product);
	pe_free(f->solved);
	pe_free(f->root);
	pe_free(f->inner);
}

/* sum, scaled and product */
static void
weigh_columns(problem *f, const double *theta)
{
	for (int32_t j = 0; j < f->n; j++)
	{
		const double *column = theta + (size_t) j * f->p;

		f->sum[j] = 1;
		for (int32_t i = 0; i < f->p; i++)
			f->sum[j] += f->part[j] * column[i];
		for (int32_t i = 0; i < f->p; i++)
			f->scaled[(size_t) j * f->p + i] = column[i] * f->sum[j];
	}
	pe_la_symm(true, f->p, f->n, 1 / f->mean, f->v, f->n, f->scaled, f->p, 0, f->product, f->p);
	for (int32_t j = 0; j < f->n; j++)
		for (int32_t i = 0; i < f->p; i++)
			f->product[(size_t) j * f->p + i] *= f->sum[j];
}

/* root, size_of_sums and solved; false if Theta is too large for I to be seen beside it. */
static bool
solve_sums(problem *f, const double *theta)
{
	pe_la_syrk(false, f->p, f->n, 1, theta, f->p, 0, f->root, f->p);
	f->size_of_sums = 0;
	for (int32_t i = 0; i < f->p; i++)
		f->size_of_sums += f->root[(size_t) i * f->p + i] += 1;
	pe_la_mirror(f->p, f->root, f->p);
	if (!pe_la_finite((size_t) f->p * f->p, f->root) || !pe_la_cholesky(f->p, f->root, f->p))
		return false;
	memcpy(f->solved, theta, entries(f) * sizeof(double));
	pe_la_cholesky_solve(f->p, f->n, f->root, f->p, f->solved, f->p);
	return true;
}

/* U_jj */
static double
weight_of_column(const problem *f, int32_t j)
{
	return f->sum[j] * f->sum[j] * f->own[j];
}

/* (U M)_jj, M = I - Theta'Y: what column j contributes to the objective tr(U M). */
static double
share_of_column(const problem *f, int32_t j)
{
	double		share = weight_of_column(f, j);

	for (size_t k = (size_t) j * f->p; k < (size_t) (j + 1) * f->p; k++)
		share -= f->product[k] * f->solved[k];
	return share;
}

/*
 * With Y M = C^-1 Theta M the objective changes with Theta itself by -2 Y U M, and
 * with s_j by 2 (U M)_jj / s_j.  Y U = C^-1 (Theta U), Y U M = Y U - (Y U Theta') Y.
 *
 * tr(U M) = tr U - tr(C^-1 Theta U Theta'): an error E in C, of eps |C|, makes one
 * of at most |E| tr(U) / 4 in it.  Where that could matter Theta counts as too large.
 */
static double
evaluate(problem *f, const double *theta, double *gradient)
{
	double		objective = 0;
	double		whole = 0;

	pe_poll();
	weigh_columns(f, theta);
	if (!solve_sums(f, theta))
		return INFINITY;
	memcpy(gradient, f->product, entries(f) * sizeof(double));
	pe_la_cholesky_solve(f->p, f->n, f->root, f->p, gradient, f->p);
	pe_la_gemm(false, true, f->p, f->p, f->n, 1, gradient, f->p, theta, f->p, 0, f->inner, f->p);
	pe_la_gemm(false, false, f->p, f->n, f->p, 2, f->inner, f->p, f->solved, f->p, -2, gradient, f->p);
	for (int32_t j = 0; j < f->n; j++)
	{
		double		share = share_of_column(f, j);

		objective += share;
		whole += weight_of_column(f, j);
		for (int32_t i = 0; i < f->p; i++)
			gradient[(size_t) j * f->p + i] += 2 * share / f->sum[j] * f->part[j];
	}
	if (!(DBL_EPSILON * whole * f->size_of_sums < MOST_ROUNDING * objective) || !pe_la_finite(entries(f), gradient))
		return INFINITY;
	return objective;
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */

typedef struct search
{
	problem		f;
	size_t		size;
	double	   *vectors;		/* all of them */
	double	   *theta;
	double	   *gradient;
	double		objective;
	double	   *trial;
	double	   *trial_gradient;
	double	   *direction;
	double	   *free;			/* 0 for an entry that is held, 1 for others */
	pe_lbfgs	memory;
	int32_t		evaluations;
	int32_t		most_evaluations;
} search;

#define VECTORS (6 + 2 * PE_LBFGS_PAIRS)

static void
search_init(search *s, const double *v, int32_t n, int32_t p)
{
	memset(s, 0, sizeof(*s));
	problem_init(&s->f, v, n, p);
	s->size = entries(&s->f);
	s->vectors = pe_alloc(VECTORS * s->size, sizeof(double));
	s->theta = s->vectors;
	s->gradient = s->vectors + s->size;
	s->trial = s->vectors + 2 * s->size;
	s->trial_gradient = s->vectors + 3 * s->size;
	s->direction = s->vectors + 4 * s->size;
	s->free = s->vectors + 5 * s->size;
	pe_lbfgs_init(&s->memory, s->size, s->vectors + 6 * s->size);
}

static void
search_free(search *s)
{
	pe_free(s->vectors);
	problem_free(&s->f);
}

/* An entry that is 0 and that the gradient would make negative. */
static bool
is_held(const search *s, size_t k)
{
	return s->theta[k] == 0 && s->gradient[k] > 0;
}

/*
 * The direction of L-BFGS, every vector cut to the entries that are free: an
 * entry that is held hardly ever was part of a step.
 */
static void
make_direction(search *s)
{
	for (size_t k = 0; k < s->size; k++)
		s->free[k] = !is_held(s, k);
	pe_lbfgs_direction(&s->memory, s->gradient, s->free, s->direction);
}

/* gradient'(trial - theta) */
static double
promised(const search *s)
{
	double		sum = 0;

	for (size_t k = 0; k < s->size; k++)
		sum += s->gradient[k] * (s->trial[k] - s->theta[k]);
	return sum;
}

/* Goes along the direction, shorter and shorter, until the objective falls as it should; false if it never does. */
static bool
find_trial(search *s, double *objective)
{
	double		length = 1;

	while (length > SHORTEST_STEP && s->evaluations < s->most_evaluations)
	{
		double		slope;
		double		bend;

		for (size_t k = 0; k < s->size; k++)
			s->trial[k] = fmax(s->theta[k] + length * s->direction[k], 0);
		slope = promised(s);
		*objective = evaluate(&s->f, s->trial, s->trial_gradient);
		s->evaluations++;
		if (slope < 0 && *objective <= s->objective + DECREASE * slope)
			return true;
		/* the minimum of the parabola through what is known, within bounds */
		bend = *objective - s->objective - slope;
		length *= bend > 0 && isfinite(bend) ? fmin(fmax(-slope / (2 * bend), 0.1), 0.5) : 0.1;
	}
	return false;
}

/* Remembers the step to the trial, if the gradient grew along it, and goes there. */
static void
take_trial(search *s, double objective)
{
	double	   *swap;

	pe_lbfgs_remember(&s->memory, s->theta, s->trial, s->gradient, s->trial_gradient);
	swap = s->theta;
	s->theta = s->trial;
	s->trial = swap;
	swap = s->gradient;
	s->gradient = s->trial_gradient;
	s->trial_gradient = swap;
	s->objective = objective;
}

/* The gradient says where to go and not how far; false if it says nothing. */
static bool
shorten_first_step(search *s)
{
	double		largest = 0;

	for (size_t k = 0; k < s->size; k++)
		largest = fmax(largest, fabs(s->direction[k]));
	for (size_t k = 0; k < s->size; k++)
		s->direction[k] *= largest > 0 ? FIRST_STEP / largest : 0;
	return largest > 0;
}

/* One iteration; false if nothing more can be gained. */
static bool
iterate(search *s)
{
	double		objective;

	make_direction(s);
	if (s->memory.pairs == 0 && !shorten_first_step(s))
		return false;
	if (find_trial(s, &objective))
	{
		take_trial(s, objective);
		return true;
	}
	if (s->memory.pairs == 0)
		return false;
	s->memory.pairs = 0;				/* what is remembered misleads: the gradient itself is tried next */
	return s->evaluations < s->most_evaluations;
}

/* Numbers in [0, 1) from a fixed sequence (Steele, Lea, Flood 2014): no privacy hangs on them. */
static double
next_uniform(uint64_t *state)
{
	uint64_t	word = (*state += UINT64_C(0x9e3779b97f4a7c15));

	word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (double) ((word ^ (word >> 31)) >> 11) * 0x1p-53;
}

/* Where a report of what happens goes, and how many iterations there were. */
typedef struct report
{
	const pe_trace *trace;
	int32_t		iterations;
} report;

static void
report_gain(report *r, const search *s, double gain)
{
	r->iterations++;
	pe_progress("optimising the strategy", r->iterations, 0, gain);
	if (r->trace != NULL)
		r->trace->tell(r->trace->argument, r->iterations, s->objective * s->f.mean, gain);
}

/* From the Theta that is there to a local minimum; false if the evaluations did not suffice. */
static bool
run_p_identity(search *s, double least_gain, report *r)
{
	double		before[IDLE_ITERATIONS];
	double		gain = INFINITY;
	int32_t		count = 0;

	s->memory.pairs = 0;
	s->objective = evaluate(&s->f, s->theta, s->gradient);
	s->evaluations = 1;
	while (gain > least_gain)
	{
		double	   *oldest = &before[count % IDLE_ITERATIONS];

		if (s->evaluations >= s->most_evaluations)
			return false;
		gain = count++ < IDLE_ITERATIONS ? INFINITY : *oldest / s->objective - 1;
		*oldest = s->objective;
		if (!iterate(s))
			return s->evaluations < s->most_evaluations;
		report_gain(r, s, gain);
	}
	return true;
}

/* What was found so far. */
typedef struct found
{
	double	   *theta;
	double		objective;
	bool		finished;
} found;

static void
keep_better(const search *s, bool finished, found *best)
{
	if (!(s->objective < best->objective))
		return;
	best->objective = s->objective;
	best->finished = finished;
	memcpy(best->theta, s->theta, s->size * sizeof(double));
}

/* From random Theta, and from one with a single sum. */
static void
run_starts(search *s, int32_t starts, double least_gain, report *r, found *best)
{
	uint64_t	random = 0;

	for (int32_t start = starts; start >= 0; start--)
	{
		/* the last one is for V that are all but of rank 1, where sums are in each other's way */
		int32_t		sums = start > 0 ? s->f.p : 1;
		bool		finished;

		for (size_t k = 0; k < s->size; k++)
			s->theta[k] = (int32_t) (k % s->f.p) < sums ? next_uniform(&random) : 0;
		finished = run_p_identity(s, least_gain, r);
		keep_better(s, finished, best);
	}
}

/* ------------------------------------------------------------------
 * What is looked for, and the result
 * ------------------------------------------------------------------
 */

int32_t
pe_p_identity_sums(int32_t n, const pe_p_identity_options *options)
{
	if (options->sums > 0)
		return options->sums;
	return n < CELLS_PER_SUM ? 1 : n / CELLS_PER_SUM;
}

/* Operations of an evaluation: 2 p n^2 for the product with V, 9 p^2 n for all else. */
static double
cost_of(double n, double p)
{
	return 2 * p * n * n + 9 * p * p * n;
}

/* Whether Theta is looked for in groups of columns first. */
static bool
is_grouped(int32_t n, int32_t p)
{
	return n > MOST_COLUMNS && n / 4 > p;
}

/* What a search may take: starts, and evaluations of each. */
typedef struct limits
{
	int32_t		starts;
	int32_t		evaluations;
} limits;

static limits
limits_of(int32_t n, int32_t p, bool grouped, const pe_p_identity_options *options)
{
	double		evaluations = (grouped ? GROUPED_OPERATIONS : OPERATIONS) / cost_of(n, p);
	limits		l = {options->starts, options->evaluations};

	if (l.starts == 0)
		l.starts = (int32_t) fmin(fmax(evaluations / (grouped ? GROUPED_EVALUATIONS : MOST_EVALUATIONS), 1),
								  MOST_STARTS);
	if (l.evaluations == 0)
		l.evaluations = (int32_t) fmin(fmax(evaluations, grouped ? GROUPED_LEAST : LEAST_EVALUATIONS),
									   MOST_EVALUATIONS);
	return l;
}

/* A = [I; Theta] D by columns */
static double *
factor_of(const double *theta, int32_t n, int32_t p)
{
	double	   *a = pe_alloc((size_t) n * (n + p), sizeof(double));

	for (int32_t j = 0; j < n; j++)
	{
		double	   *column = a + (size_t) j * (n + p);
		double		sum = 1;

		for (int32_t i = 0; i < p; i++)
			sum += theta[(size_t) j * p + i];
		column[j] = 1 / sum;
		for (int32_t i = 0; i < p; i++)
			column[n + i] = theta[(size_t) j * p + i] / sum;
	}
	return a;
}

/* ------------------------------------------------------------------
 * Groups of columns
 *
 * Of many columns those that are most alike are paired, and Theta is looked for
 * first with columns that are the same within a pair.  With S the columns of
 * the groups, of G = S'S columns each,
 *
 *	 Theta = Phi G^-.5 S',  Theta Theta' = Phi Phi',  V_G = G^-.5 S'V S G^-.5
 *
 * make the objective that of Phi and V_G, except what columns contribute by
 * themselves, the sum of V_jj over a group: what is found is worth as much
 * among all columns, and the search among them begins there.
 * ------------------------------------------------------------------
 */

/* The unpaired column after i that is most like it, the first of equals; or -1. */
static int32_t
most_alike(const problem *f, int32_t i, const int32_t *group_of)
{
	const double *column = f->v + (size_t) i * f->n;
	double		largest = -INFINITY;
	int32_t		found = -1;

	for (int32_t j = i + 1; j < f->n; j++)
	{
		double		likeness = column[j] / sqrt(f->v[(size_t) j * f->n + j]);

		if (group_of[j] >= 0 || !(likeness > largest * (1 + SAME_LIKENESS)))
			continue;
		largest = likeness;
		found = j;
	}
	return found;
}

/* Returns the number of groups. */
static int32_t
pair_columns(const problem *f, int32_t *group_of)
{
	int32_t		groups = 0;

	memset(group_of, -1, f->n * sizeof(int32_t));
	for (int32_t i = 0; i < f->n; i++)
	{
		int32_t		other;

		if (group_of[i] >= 0)
			continue;
		other = most_alike(f, i, group_of);
		group_of[i] = groups;
		if (other >= 0)
			group_of[other] = groups;
		groups++;
	}
	return groups;
}

/* V_G by the parts of columns and of groups */
static void
fill_gram(const problem *f, const int32_t *group_of, const double *part, int32_t groups, double *gram)
{
	for (int32_t j = 0; j < f->n; j++)
		for (int32_t i = 0; i < f->n; i++)
			gram[(size_t) group_of[j] * groups + group_of[i]] += f->v[(size_t) j * f->n + i]
				* (part[group_of[i]] / f->part[i]) * (part[group_of[j]] / f->part[j]);
}

/* The problem of the groups, with V_G in gram (groups x groups, zeros). */
static void
search_init_groups(search *s, const problem *f, const int32_t *group_of, int32_t groups, double *gram)
{
	double	   *part = pe_alloc(groups, sizeof(double));
	double	   *own = pe_alloc(groups, sizeof(double));

	for (int32_t j = 0; j < f->n; j++)
	{
		part[group_of[j]] += 1 / (f->part[j] * f->part[j]);
		own[group_of[j]] += f->own[j];
	}
	for (int32_t group = 0; group < groups; group++)
		part[group] = 1 / sqrt(part[group]);
	fill_gram(f, group_of, part, groups, gram);
	search_init(s, gram, groups, f->p);
	s->f.mean = f->mean;
	memcpy(s->f.own, own, groups * sizeof(double));
	memcpy(s->f.part, part, groups * sizeof(double));
	pe_free(part);
	pe_free(own);
}

static void minimise(search *s, bool grouped, double gain, const pe_p_identity_options *options,
					 report *r, found *best);

/* Theta from the groups of columns; false if they have none that is better than 0. */
static bool
begin_with_groups(search *s, const pe_p_identity_options *options, report *r, double nothing)
{
	const problem *f = &s->f;
	int32_t    *group_of = pe_alloc(f->n, sizeof(int32_t));
	int32_t		groups = pair_columns(f, group_of);
	double	   *gram = pe_alloc((size_t) groups * groups, sizeof(double));
	found		best = {pe_alloc((size_t) groups * f->p, sizeof(double)), nothing, true};
	search		coarse;

	search_init_groups(&coarse, f, group_of, groups, gram);
	minimise(&coarse, true, COARSE_GAIN, options, r, &best);
	for (int32_t j = 0; j < f->n; j++)
		for (int32_t i = 0; i < f->p; i++)
			s->theta[(size_t) j * f->p + i] =
				best.theta[(size_t) group_of[j] * f->p + i] * (coarse.f.part[group_of[j]] / f->part[j]);
	search_free(&coarse);
	pe_free(group_of);
	pe_free(gram);
	pe_free(best.theta);
	return best.objective < nothing;
}

/* What is better than what was found. */
static void
minimise(search *s, bool grouped, double gain, const pe_p_identity_options *options, report *r, found *best)
{
	bool		groups = is_grouped(s->f.n, s->f.p);
	limits		l = limits_of(s->f.n, s->f.p, grouped || groups, options);

	s->most_evaluations = l.evaluations;
	if (groups && begin_with_groups(s, options, r, best->objective))
	{
		bool		finished = run_p_identity(s, gain, r);

		keep_better(s, finished, best);
	}
	else
		run_starts(s, l.starts, gain, r, best);
}

void
pe_p_identity(const double *v, int32_t n, const pe_p_identity_options *options,
			  const pe_trace *trace, pe_design *design)
{
	int32_t		p = pe_p_identity_sums(n, options);
	report		r = {trace, 0};
	found		best = {NULL, n, true};	/* Theta = 0, in units of the mean */
	search		s;

	pe_optimum_check_gram(v, n);
	search_init(&s, v, n, p);
	best.theta = pe_alloc(s.size, sizeof(double));
	minimise(&s, false, IDLE_GAIN, options, &r, &best);
	*design = (pe_design) {.n = n, .rows = n + p, .finished = best.finished, .iterations = r.iterations};
	design->objective = best.objective * s.f.mean;
	search_free(&s);
	design->factor = factor_of(best.theta, n, p);
	pe_free(best.theta);
}

/* Numbers of a search, and of those of its groups. */
static size_t
numbers_of_search(size_t n, size_t p)
{
	/* the vectors, the best, and the problem's */
	size_t		numbers = (VECTORS + 1 + 3) * p * n + 2 * p * p + 3 * n;
	size_t		groups = (n + 1) / 2;

	if (!is_grouped((int32_t) n, (int32_t) p))
		return numbers;
	return numbers + n + groups * groups + 2 * groups + numbers_of_search(groups, p);
}

size_t
pe_p_identity_memory(int32_t n, const pe_p_identity_options *options)
{
	size_t		p = pe_p_identity_sums(n, options);
	size_t		searching = numbers_of_search(n, p);
	size_t		result = p * n + (size_t) n * (n + p);

	return (searching > result ? searching : result) * sizeof(double);
}

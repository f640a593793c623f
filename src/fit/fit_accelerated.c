/*
 * fit_accelerated.c
 *	  Gradient descent with and without momentum under noise: gd, hb, nag, masg,
 *	  nag_opt and masg_opt of Kuru, Birbil, Gurbuzbalaban and Yildirim,
 *	  "Differentially private accelerated optimization algorithms" (arXiv
 *	  2008.01989).
 *
 * Released: up to T noisy sums of clipped gradients, each at a point made from
 * what was released before, and, unless option `rows` is given, a noisy number
 * of rows.  The iterates are functions of these: all of them may be released,
 * not the last alone.
 *
 * Neighbours, sensitivity: those of a gradient and of a count in measure.h, in
 * the L2 norm (rho) or the L1 norm (pure; the clip is then in that norm).
 * Units of several rows are clipped as a whole unless option unit_clip is 0.
 *
 * Cost: problem->nano, of rho or of a pure epsilon, divided into a fiftieth for
 * the number of rows, where it is measured, and integers for the steps whose
 * sum is what is left at most.  Theorem: composition.  Where the number of rows
 * is measured, the shares of the -opt methods and their number of steps depend
 * on it.  Their sum does not, and each is fixed before its own noise is drawn,
 * given what was released: the fully adaptive composition of
 * accounting/filter.h.
 *
 * Batches (option `batch`, which takes option `rows`): every unit joins a
 * step's batch with probability q = batch / rows, rounded down, and the step's
 * noise is that of a larger epsilon (pe_unsampled_epsilon in
 * accounting/conversion.h, with the theorem).  Under a pure cost and add_remove
 * alone.  A sampled Gaussian has no rho worth having; sgd is accounted for
 * that.  Sums are divided by batch, never by how many units came.
 *
 * Division of the cost.  gd, hb, nag, masg: equal.  nag_opt and masg_opt: with
 * a_t the weight of step t's noise in the paper's bound on F(x_T) - F*, the
 * shares that make the bound smallest, a_t^(1/3) of epsilon (sum a_t b_t^2
 * subject to sum 1/b_t) or a_t^(1/2) of rho (subject to sum 1/b_t^2), and the
 * number of steps up to T whose bound is smallest.  The paper has the signs of
 * its equation (35) and the direction of its a_t wrong, and takes Laplace noise
 * of standard deviation b for one of scale b.
 *
 * Smoothness L: R^2/4 (logistic) or R^2 from the declared bounds, plus mu.
 * Option `smoothness` puts another number in the place of the first, for users
 * who know a better one that does not come from the data or was noised: the
 * step is c / L.
 */
#include "fit/methods.h"

#include <math.h>
#include <string.h>

#include "fit/measure.h"

/* mu, where l2 is not given, in parts of the smoothness. */
#define SMOOTHNESS_OF_MU 1000

/* ----------
 * Schedules
 * ----------
 */
typedef struct shape
{
	double		mu;
	double		smoothness;		/* L, mu included */
	double		rate;			/* c / L */
} shape;

static double
mu_of(const pe_fit_problem *problem, double rows)
{
	if (isnan(problem->options.l2))
		return problem->options.smoothness / SMOOTHNESS_OF_MU;
	return problem->options.l2 / rows;
}

static const pe_fit_operations *
rules_of(const pe_fit_problem *problem)
{
	return pe_fit_operations_of(problem->method);
}

/* Rates and stages: of masg the first stage forgets the start, each later one halves the noise of the one before. */
static void
set_stages(const pe_fit_problem *problem, const shape *s, pe_schedule *schedule)
{
	double		root = sqrt(s->smoothness / s->mu);
	double		end = rules_of(problem)->multistage ? ceil(2 * root * log(root)) : INFINITY;
	double		rate = s->rate;
	int32_t		stage = 1;

	for (int32_t t = 0; t < schedule->steps; t++)
	{
		while (t >= end)
		{
			stage++;
			rate = ldexp(s->rate, -2 * stage);
			end += ldexp(ceil(root * log(8)), stage);
		}
		schedule->rate[t] = rate;
		schedule->stage[t] = stage;
		schedule->momentum[t] = 0;
		if (rules_of(problem)->momentum)
			schedule->momentum[t] = (1 - sqrt(s->mu * rate)) / (1 + sqrt(s->mu * rate));
	}
}

/* What the noise of step t and the start lose, in logarithms, when step t is taken. */
static double
log_kept(const shape *s, const pe_schedule *schedule, int32_t t)
{
	int32_t		before = t > 0 ? schedule->stage[t - 1] : 0;

	return log1p(-sqrt(schedule->rate[t] * s->mu)) + (schedule->stage[t] - before) * log(2);
}

/* ln of the weight of step t's noise right after it. */
static double
log_weight(const shape *s, const pe_schedule *schedule, int32_t t)
{
	return log(schedule->rate[t] * (1 + schedule->rate[t] * s->smoothness));
}

static double
log_sum(double a, double b)
{
	double		larger = fmax(a, b);

	return larger + log1p(exp(fmin(a, b) - larger));
}

/* The noise of one step that took all of the cost, in the units of the bound: b^2 d, or half a variance times d. */
static double
noise_unit(const pe_fit_problem *problem, double rows, int64_t nano)
{
	double		length = problem->options.clip * pe_fit_unit_rows(problem) *
		(problem->substitute ? 2 : 1) / rows;
	double		cost = (double) nano * 1e-9;

	return problem->shape->columns * length * length / (problem->accounting == PE_PURE ? cost * cost : 4 * cost);
}

/* A bound on F(start) - F*: the losses are not negative. */
static double
gap_of(const pe_fit_problem *problem, const shape *s)
{
	double		length = fabs(problem->options.start) * sqrt(problem->shape->columns);
	double		margin = length * sqrt((double) problem->radius_sq) / PE_ONE;
	double		loss = log(2) + margin;

	if (!isnan(problem->options.gap0))
		return problem->options.gap0;
	if (problem->model == PE_MODEL_SVM)
		loss = 1.125 + margin;
	if (problem->model == PE_MODEL_LINEAR)
		loss = (1 + margin) * (1 + margin) / 2;
	return loss + s->mu / 2 * length * length;
}

/*
 * The number of steps whose bound is smallest:
 * noise (sum of a_t^(1/p))^p + a_0 gap, p = 3 (pure) or 2.
 */
static int32_t
best_steps(const pe_fit_problem *problem, const shape *s, const pe_schedule *schedule, double noise)
{
	double		power = problem->accounting == PE_PURE ? 3 : 2;
	double		gap = gap_of(problem, s);
	double		least = INFINITY;
	double		log_roots = -INFINITY;	/* of the sum of a_t^(1/p) */
	double		log_start = 0;
	int32_t		best = 1;

	for (int32_t t = 0; t < schedule->steps; t++)
	{
		double		kept = log_kept(s, schedule, t);
		double		bound;

		log_start += kept;
		log_roots = t == 0 ? log_weight(s, schedule, t) / power :
			log_sum(log_roots + kept / power, log_weight(s, schedule, t) / power);
		bound = noise * exp(power * log_roots) + gap * exp(log_start);
		if (bound < least)
		{
			least = bound;
			best = t + 1;
		}
	}
	return best;
}

/* Parts of 1 for the steps, by the weights of their noise. */
static void
set_parts(const pe_fit_problem *problem, const shape *s, const pe_schedule *schedule, double *part)
{
	double		power = problem->accounting == PE_PURE ? 3 : 2;
	double		log_later = 0;
	double		sum = 0;

	for (int32_t t = schedule->steps - 1; t >= 0; t--)
	{
		/* a_t is largest for late steps; early ones may underflow to nothing */
		part[t] = exp((log_weight(s, schedule, t) - log_weight(s, schedule, schedule->steps - 1) + log_later) / power);
		log_later += log_kept(s, schedule, t);
		sum += part[t];
	}
	for (int32_t t = 0; t < schedule->steps; t++)
		part[t] /= sum;
}

/* One unit for every step, and of the rest its part, rounded down. */
static void
set_costs(const pe_fit_problem *problem, const shape *s, int64_t nano, pe_schedule *schedule)
{
	double	   *part = pe_alloc((size_t) schedule->steps, sizeof(*part));
	int64_t		rest = nano - schedule->steps;
	int64_t		sum = 0;

	for (int32_t t = 0; t < schedule->steps; t++)
		part[t] = 1.0 / schedule->steps;
	if (rules_of(problem)->optimised)
		set_parts(problem, s, schedule, part);
	for (int32_t t = 0; t < schedule->steps; t++)
	{
		double		share = (double) rest * part[t];
		int64_t		more = share < (double) (rest - sum) ? (int64_t) share : rest - sum;

		/* parts add up to 1 up to rounding: what is not left is not given */
		if (more > rest - sum)
			more = rest - sum;
		sum += more;
		schedule->nano[t] = 1 + more;
	}
	pe_free(part);
}

void
pe_schedule_make(const pe_fit_problem *problem, double rows, int64_t nano, pe_schedule *schedule)
{
	shape		s;

	schedule->steps = (int32_t) problem->options.iterations;
	if (schedule->steps < 1 || nano < schedule->steps)
		pe_bug("a schedule without a cost for every step");
	schedule->rate = pe_alloc((size_t) schedule->steps, sizeof(*schedule->rate));
	schedule->momentum = pe_alloc((size_t) schedule->steps, sizeof(*schedule->momentum));
	schedule->stage = pe_alloc((size_t) schedule->steps, sizeof(*schedule->stage));
	schedule->nano = pe_alloc((size_t) schedule->steps, sizeof(*schedule->nano));

	s.mu = mu_of(problem, rows);
	s.smoothness = problem->options.smoothness + s.mu;
	s.rate = problem->options.rate / s.smoothness;
	set_stages(problem, &s, schedule);
	if (rules_of(problem)->optimised)
		schedule->steps = best_steps(problem, &s, schedule, noise_unit(problem, rows, nano));
	set_costs(problem, &s, nano, schedule);
}

void
pe_schedule_free(pe_schedule *schedule)
{
	pe_free(schedule->rate);
	pe_free(schedule->momentum);
	pe_free(schedule->stage);
	pe_free(schedule->nano);
}

/* ----------
 * Steps
 * ----------
 */
typedef struct state
{
	const pe_fit_problem *problem;
	pe_source  *source;
	pe_pass		pass;
	double		divisor;		/* of a sum of gradients */
	double		mu;
	size_t		columns;
	double	   *x;				/* the iterate, */
	double	   *before;			/* the one before it, */
	double	   *z;				/* where the gradient is taken */
	double	   *gradient;
} state;

static void
state_init(const pe_fit_problem *problem, pe_source *source, double rows, state *st)
{
	bool		fits;

	st->problem = problem;
	st->source = source;
	st->columns = (size_t) problem->shape->columns;
	st->divisor = rows;
	st->mu = mu_of(problem, rows);
	pe_gradient_pass(problem, problem->options.clip, &st->pass);
	if (problem->options.batch > 0)
	{
		st->divisor = problem->options.batch;
		st->pass.sample = pe_sample_of(problem->options.batch / rows, &fits);
	}
	st->x = pe_alloc(st->columns, sizeof(double));
	st->before = pe_alloc(st->columns, sizeof(double));
	st->z = pe_alloc(st->columns, sizeof(double));
	st->gradient = pe_alloc(st->columns, sizeof(double));
	for (size_t j = 0; j < st->columns; j++)
		st->x[j] = st->before[j] = problem->options.start;
}

static void
state_free(state *st)
{
	pe_gradient_free(&st->pass);
	pe_free(st->x);
	pe_free(st->before);
	pe_free(st->z);
	pe_free(st->gradient);
}

/* Batches only where pe_unsampled_epsilon is about them. */
static void
check_batches(const pe_fit_problem *problem)
{
	bool		fits = true;

	if (problem->options.batch > 0)
	{
		(void) pe_sample_of(problem->options.batch / problem->options.rows, &fits);
		if (!fits || problem->accounting != PE_PURE || problem->substitute)
			pe_bug("batches that are not accounted for");
	}
}

/* A noisy gradient at z of the mean loss and the regulariser. */
static void
measure_gradient(state *st, int64_t nano)
{
	pe_measure_gradient(st->problem, st->source, &st->pass, st->z, nano, st->gradient);
	for (size_t j = 0; j < st->columns; j++)
		st->gradient[j] = st->gradient[j] / st->divisor + st->mu * st->z[j];
}

static void
step(state *st, const pe_schedule *schedule, int32_t t)
{
	double		momentum = schedule->momentum[t];
	bool		ball = rules_of(st->problem)->ball;

	/* a stage starts anew, without momentum */
	if (t > 0 && schedule->stage[t] != schedule->stage[t - 1])
		memcpy(st->before, st->x, st->columns * sizeof(double));
	for (size_t j = 0; j < st->columns; j++)
		st->z[j] = ball ? st->x[j] : st->x[j] + momentum * (st->x[j] - st->before[j]);
	measure_gradient(st, schedule->nano[t]);
	for (size_t j = 0; j < st->columns; j++)
	{
		double		next = st->z[j] - schedule->rate[t] * st->gradient[j];

		if (ball)
			next += momentum * (st->x[j] - st->before[j]);
		st->before[j] = st->x[j];
		st->x[j] = next;
	}
}

void
pe_fit_accelerated(const pe_fit_problem *problem, pe_source *source, double *w)
{
	int64_t		nano_count = pe_count_share(problem, problem->nano);
	pe_schedule schedule;
	double		rows;
	state		st;

	check_batches(problem);
	rows = pe_first_order_rows(problem, source, nano_count);
	pe_schedule_make(problem, rows, problem->nano - nano_count, &schedule);
	state_init(problem, source, rows, &st);
	for (int32_t t = 0; t < schedule.steps; t++)
	{
		step(&st, &schedule, t);
		if (problem->trace != NULL)
			problem->trace(problem->trace_argument, t + 1, st.x);
	}
	memcpy(w, st.x, st.columns * sizeof(double));
	state_free(&st);
	pe_schedule_free(&schedule);
}

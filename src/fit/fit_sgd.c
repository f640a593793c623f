/*
 * fit_sgd.c
 *	  Stochastic gradient descent on random batches (DP-SGD): sgd, and sgd_adv, the
 *	  baseline of Lee and Kifer (KDD 2018), accounted for correctly.
 *
 * Released: plan.steps noisy sums of clipped gradients over batches, and, unless option
 * `rows` is given, a noisy number of rows.  All iterates are functions of these.
 *
 * Neighbours: a unit is added or removed; not substitute.  Every unit joins a batch with
 * probability q, its rows as a whole (pass.h).  Sensitivity of a batch's sum: k clip, or clip
 * where units are clipped as a whole, in integers (measure.h).
 *
 * Cost: (epsilon, delta) of the whole.  plan.nano_step is what a step would cost without
 * sampling; fit/sampling.c chooses it and has the theorem: Renyi divergences of
 * integer orders of the sampled Gaussian (Mironov, Talwar, Zhang, arXiv 1908.10530),
 * which hold for the discrete Gaussian on integers as they stand.
 *
 * Abadi et al., "Deep learning with differential privacy", CCS 2016.  Sums are divided
 * by the expected size of a batch, q rows, never by how many units came.  What the
 * regulariser does to a step is taken implicitly, w / (1 + rate mu), which no rate makes
 * unstable.  sgd gives the mean of the iterates of the second half of the steps, which
 * costs nothing and has less noise than the last one; sgd_adv the last one, as the paper does.
 */
#include "fit/methods.h"

#include <math.h>
#include <string.h>

#include "fit/measure.h"

/* How far the weights are thought to be from where they start: of 4, 8 and 16 the best on two tables (bank, adult). */
#define DISTANCE 8

typedef struct descent
{
	const pe_fit_problem *problem;
	pe_source  *source;
	pe_pass		pass;
	double		batch;			/* its expected size */
	double		mu;
	double		rate;
	size_t		columns;
	double	   *w;
	double	   *gradient;
} descent;

/*
 * The rate: 1 / L is safe for any rows.  The bound of a hinge counts every row as if it
 * were in the narrow band where the loss is curved, which they never are all: 2 / L, the
 * largest rate at which descent does not move away even if they were.  Where the noise is
 * large, less: T steps of noise alone go rate s sqrt(T) far in the mean square, s the
 * length of one step's noise, and that is not to be more than the way there is to go (the
 * rate that the analysis of stochastic descent asks for).  All of this is public, or was
 * measured before.
 */
static double
rate_of(const descent *d)
{
	const pe_fit_problem *problem = d->problem;
	const pe_fit_options *o = &problem->options;
	double		safe = (problem->model == PE_MODEL_SVM ? 2 : 1) / o->smoothness;
	double		noise = o->clip * pe_fit_unit_rows(problem) / d->batch *
		sqrt((double) d->columns * 5e8 / (double) problem->plan.nano_step);

	if (!isnan(o->rate))
		return o->rate;
	return fmin(safe, DISTANCE / (noise * sqrt(problem->plan.steps)));
}

static void
step(descent *d)
{
	double		rate = d->rate;

	pe_measure_gradient(d->problem, d->source, &d->pass, d->w, d->problem->plan.nano_step, d->gradient);
	for (size_t j = 0; j < d->columns; j++)
		d->w[j] = (d->w[j] - rate * d->gradient[j] / d->batch) / (1 + rate * d->mu);
}

/* What a trace shows and the fit ends with: after the first half the mean of what followed it, the number-th now. */
static void
average(const descent *d, int32_t number, double *mean)
{
	for (size_t j = 0; j < d->columns; j++)
		mean[j] += (d->w[j] - mean[j]) / number;
}

/* The mean of the iterates after step last_alone; that one itself if it is the last. */
static void
fit_sampled(const pe_fit_problem *problem, pe_source *source, int32_t last_alone, double *w)
{
	const pe_fit_plan *plan = &problem->plan;
	double		rows;
	descent		d;

	if (plan->nano_step <= 0 || plan->steps < 1 || problem->substitute || problem->accounting == PE_PURE)
		pe_bug("sampled steps without a plan");
	rows = pe_first_order_rows(problem, source, plan->nano_count);
	d.problem = problem;
	d.source = source;
	d.columns = (size_t) problem->shape->columns;
	d.batch = rows * pe_sample_probability(plan->sample);
	d.mu = problem->options.l2 / rows;
	d.w = pe_alloc(d.columns, sizeof(double));
	d.gradient = pe_alloc(d.columns, sizeof(double));
	d.rate = rate_of(&d);
	pe_gradient_pass(problem, problem->options.clip, &d.pass);
	d.pass.sample = plan->sample;
	for (size_t j = 0; j < d.columns; j++)
		d.w[j] = problem->options.start;

	for (int32_t t = 1; t <= plan->steps; t++)
	{
		step(&d);
		if (t <= last_alone + 1)
			memcpy(w, d.w, d.columns * sizeof(double));
		else
			average(&d, t - last_alone, w);
		if (problem->trace != NULL)
			problem->trace(problem->trace_argument, t, w);
	}
	pe_gradient_free(&d.pass);
	pe_free(d.w);
	pe_free(d.gradient);
}

void
pe_fit_sgd(const pe_fit_problem *problem, pe_source *source, double *w)
{
	fit_sampled(problem, source, problem->plan.steps / 2, w);
}

void
pe_fit_sgd_adv(const pe_fit_problem *problem, pe_source *source, double *w)
{
	fit_sampled(problem, source, problem->plan.steps, w);
}

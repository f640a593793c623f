/*
 * first_order.c
 *	  Options, the number of rows and batches of the first-order methods.
 *
 * Nothing here sees a row but through pe_measure_count.
 */
#include "fit/first_order.h"

#include <float.h>
#include <math.h>

#include "fit/measure.h"

/* Part of the cost that goes to the number of rows where it is not given: 1 in so many. */
#define COUNT_PART 50

/* ----------
 * Options
 * ----------
 */
static void
fill_in(double *value, double standard)
{
	if (isnan(*value))
		*value = standard;
}

/* The longest row in the norm of the accounting, in units of a feature. */
static double
radius_of(const pe_fit_problem *problem)
{
	return (problem->pure ? (double) problem->radius_1 : sqrt((double) problem->radius_sq)) / PE_ONE;
}

/* The largest second derivative of a row's loss along any direction, from the declared bounds alone. */
static double
smoothness_of(const pe_fit_problem *problem)
{
	double		radius_sq = (double) problem->radius_sq / ((double) PE_ONE * PE_ONE);

	/* l'' is at most 1/4, of a hinge smoothed over [1 - h, 1 + h] 1 / (2 h) = 1, of a squared loss 1 */
	return problem->model == PE_MODEL_LOGISTIC ? radius_sq / 4 : radius_sq;
}

/* Whether batch and rows make a probability. */
static const char *
check_batch(const pe_fit_options *o)
{
	if (isnan(o->rows))
		return "rows";
	return o->batch <= o->rows ? NULL : "batch";
}

const char *
pe_accelerated_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;
	bool		chooses = problem->method == PE_FIT_NAG_OPT || problem->method == PE_FIT_MASG_OPT;

	fill_in(&o->iterations, chooses ? 1000 : 100);
	fill_in(&o->rate, 1);
	fill_in(&o->start, 0);
	fill_in(&o->batch, 0);
	fill_in(&o->clip, radius_of(problem));
	fill_in(&o->smoothness, smoothness_of(problem));
	/* unset on purpose: l2 (smoothness / 1000 a row) and gap0 (a bound) where the number of rows is not known yet */
	if (!(o->rate <= 1))
		return "rate";
	if (problem->method != PE_FIT_GD && o->l2 == 0)
		return "l2";
	return o->batch > 0 ? check_batch(o) : NULL;
}

/* The settings of Lee and Kifer's program, where T and the batch follow from n. */
static void
sgd_adv_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	fill_in(&o->iterations, fmin(100000, fmax(1, rint(o->rows * ((double) problem->nano * 1e-9) / 500))));
	if (isnan(o->sampling))
		fill_in(&o->batch, fmin(o->rows, floor(sqrt(o->rows) + 10)));
	fill_in(&o->rate, 0.1);
	fill_in(&o->clip, fmin(3, radius_of(problem)));
	fill_in(&o->l2, 0.001 * o->rows);
}

/*
 * sgd: a thousand steps on a hundredth of the rows each.  Its rate stays unset, for it
 * depends on the noise and on the number of rows (fit_sgd.c).
 */
const char *
pe_sampled_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	if (problem->method == PE_FIT_SGD_ADV)
	{
		if (isnan(o->rows))
			return "rows";
		sgd_adv_defaults(problem);
	}
	fill_in(&o->iterations, 1000);
	fill_in(&o->start, 0);
	fill_in(&o->clip, radius_of(problem));
	if (problem->method == PE_FIT_SGD)
	{
		fill_in(&o->smoothness, smoothness_of(problem));
		fill_in(&o->l2, 0);
	}
	if (!isnan(o->batch))
	{
		if (!isnan(o->sampling))
			return "sampling";
		if (!(o->batch > 0))
			return "batch";
		if (check_batch(o) != NULL)
			return check_batch(o);
		o->sampling = o->batch / o->rows;
		o->batch = NAN;
	}
	fill_in(&o->sampling, 0.01);
	return NULL;
}

int32_t
pe_first_order_passes(const pe_fit_problem *problem)
{
	return (int32_t) problem->options.iterations + (isnan(problem->options.rows) ? 1 : 0);
}

/* ----------
 * The number of rows
 * ----------
 */
int64_t
pe_count_share(const pe_fit_problem *problem, int64_t nano)
{
	if (!isnan(problem->options.rows))
		return 0;
	return nano / COUNT_PART > 1 ? nano / COUNT_PART : 1;
}

double
pe_first_order_rows(const pe_fit_problem *problem, pe_source *source, int64_t nano)
{
	if (!isnan(problem->options.rows))
		return problem->options.rows;
	return pe_measure_count(problem, source, nano);
}

/* ----------
 * Batches
 * ----------
 */
uint64_t
pe_sample_of(double q, bool *fits)
{
	uint64_t	sample = q > 0 && q < 1 ? (uint64_t) ldexp(q, 64) : 0;

	*fits = q >= 1 || sample > 0;
	return sample;
}

double
pe_sample_probability(uint64_t sample)
{
	if (sample == 0)
		return 1;
	return fmin(1, nextafter(ldexp((double) sample, -64), INFINITY));
}

/*
 * first_order.c
 *	  Options, the number of rows and batches of the first-order methods.
 *
 * Nothing here sees a row but through pe_measure_count.
 */
#include "fit/methods.h"

#include <float.h>
#include <math.h>

#include "fit/measure.h"

/* Part of the cost that goes to the number of rows where it is not given: 1 in so many. */
#define COUNT_PART 50

/* ----------
 * Options
 * ----------
 */
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
	const pe_fit_operations *method = pe_fit_operations_of(problem->method);

	pe_option_default(&o->iterations, method->optimised ? 1000 : 100);
	pe_option_default(&o->rate, 1);
	pe_option_default(&o->start, 0);
	pe_option_default(&o->batch, 0);
	pe_fit_default_clip(problem, pe_fit_radius(problem));
	pe_option_default(&o->smoothness, smoothness_of(problem));
	/* unset on purpose: l2 (smoothness / 1000 a row) and gap0 (a bound) where the number of rows is not known yet */
	if (!(o->rate <= 1))
		return "rate";
	if (method->momentum && o->l2 == 0)
		return "l2";
	return o->batch > 0 ? check_batch(o) : NULL;
}

/* What sgd and sgd_adv have in common: batch / rows becomes sampling. */
static const char *
sampled_defaults(pe_fit_options *o)
{
	pe_option_default(&o->iterations, 1000);
	pe_option_default(&o->start, 0);
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
	pe_option_default(&o->sampling, 0.01);
	return NULL;
}

/* The settings of Lee and Kifer's program, where T and the batch follow from n. */
const char *
pe_sgd_adv_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	if (isnan(o->rows))
		return "rows";
	pe_option_default(&o->iterations, fmin(100000, fmax(1, rint(o->rows * ((double) problem->nano * 1e-9) / 500))));
	if (isnan(o->sampling))
		pe_option_default(&o->batch, fmin(o->rows, floor(sqrt(o->rows) + 10)));
	pe_option_default(&o->rate, 0.1);
	pe_fit_default_clip(problem, fmin(3, pe_fit_radius(problem)));
	pe_option_default(&o->l2, 0.001 * o->rows);
	return sampled_defaults(o);
}

/*
 * A thousand steps on a hundredth of the rows each.  The rate stays unset, for it
 * depends on the noise and on the number of rows (fit_sgd.c).
 */
const char *
pe_sgd_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	pe_fit_default_clip(problem, pe_fit_radius(problem));
	pe_option_default(&o->smoothness, smoothness_of(problem));
	pe_option_default(&o->l2, 0);
	return sampled_defaults(o);
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

/*
 * fit.c
 *	  Private fitting: the methods' names, their options, and what they ask for.
 *
 * Nothing here sees a row.
 */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "glm/minimise.h"
#include "fit/first_order.h"
#include "fit/measure.h"

/* More passes than this are refused: nobody would wait for them. */
#define MOST_PASSES 1000000

static const char *const names[PE_FIT_METHODS] = {
	[PE_FIT_NEWTON] = "newton",
	[PE_FIT_OBJPERT] = "objpert",
	[PE_FIT_ONE_PASS] = "one_pass",
	[PE_FIT_AGD] = "agd",
	[PE_FIT_GD] = "gd",
	[PE_FIT_HB] = "hb",
	[PE_FIT_NAG] = "nag",
	[PE_FIT_MASG] = "masg",
	[PE_FIT_NAG_OPT] = "nag_opt",
	[PE_FIT_MASG_OPT] = "masg_opt",
	[PE_FIT_SGD] = "sgd",
	[PE_FIT_SGD_ADV] = "sgd_adv",
	[PE_FIT_OUTPERT] = "outpert",
	[PE_FIT_PRIVGENE] = "privgene",
	[PE_FIT_NONPRIVATE] = "nonprivate",
	[PE_FIT_MAJORITY] = "majority",
};

bool
pe_fit_method_named(const char *name, pe_fit_method *method)
{
	for (int i = 0; i < PE_FIT_METHODS; i++)
	{
		if (strcmp(name, names[i]) == 0)
		{
			*method = (pe_fit_method) i;
			return true;
		}
	}
	return false;
}

const char *
pe_fit_method_name(pe_fit_method method)
{
	return names[method];
}

bool
pe_fit_is_approximate(pe_fit_method method)
{
	return method == PE_FIT_OBJPERT || method == PE_FIT_SGD || method == PE_FIT_SGD_ADV;
}

bool
pe_fit_is_private(pe_fit_method method)
{
	return method != PE_FIT_NONPRIVATE && method != PE_FIT_MAJORITY;
}

bool
pe_fit_is_proved(pe_fit_method method)
{
	return method != PE_FIT_OBJPERT;
}

/* ----------
 * Options
 * ----------
 */
#define BIT(method) (UINT32_C(1) << PE_FIT_##method)
#define ACCELERATED (BIT(GD) | BIT(HB) | BIT(NAG) | BIT(MASG) | BIT(NAG_OPT) | BIT(MASG_OPT))
#define SAMPLED (BIT(SGD) | BIT(SGD_ADV))
#define GRADIENTS (BIT(NEWTON) | BIT(AGD) | ACCELERATED | SAMPLED)

/* An option: who knows it, and which values make sense. */
typedef struct option
{
	const char *name;
	size_t		offset;
	uint32_t	methods;
	double		least;
	double		most;
	bool		open;			/* least itself makes no sense */
	bool		whole;
} option;

#define AT(field) #field, offsetof(pe_fit_options, field)

static const option options[] = {
	{AT(iterations), GRADIENTS | BIT(OUTPERT) | BIT(OBJPERT) | BIT(PRIVGENE) | BIT(NONPRIVATE), 1, 100000, false, true},
	{AT(l2), GRADIENTS | BIT(ONE_PASS) | BIT(OBJPERT) | BIT(NONPRIVATE), 0, 1e15, false, false},
	{AT(clip), GRADIENTS, 0x1p-10, 1e6, false, false},
	{AT(rows), ACCELERATED | SAMPLED | BIT(OUTPERT), 1, 1e15, false, false},
	{AT(share), BIT(NEWTON) | BIT(ONE_PASS) | BIT(AGD) | BIT(OBJPERT), 0.001, 0.999, false, false},
	{AT(decay), BIT(NEWTON) | BIT(PRIVGENE), 0.01, 1, false, false},
	{AT(floor), BIT(NEWTON) | BIT(ONE_PASS), 0, 1000, true, false},
	{AT(rate), ACCELERATED | SAMPLED | BIT(OUTPERT), 0, 1e6, true, false},
	{AT(start), ACCELERATED | SAMPLED, -1e6, 1e6, false, false},
	{AT(batch), ACCELERATED | SAMPLED, 0, 1e15, false, false},
	{AT(sampling), SAMPLED, 0, 1, true, false},
	{AT(smoothness), ACCELERATED | BIT(SGD), 0x1p-30, 1e9, false, false},
	{AT(gamma), BIT(AGD), 0.001, 1, false, false},
	{AT(candidates), BIT(AGD), 1, PE_MAX_CANDIDATES - 1, false, true},
	{AT(loss_cap), BIT(AGD) | BIT(PRIVGENE), 0.001, 1000, false, false},
	{AT(step_max), BIT(AGD) | BIT(PRIVGENE), 0, 1000, true, false},
	{AT(adjust), BIT(AGD), 0, 100000, false, true},
	{AT(splits), BIT(AGD), 1, 100000, false, false},
	{AT(gap0), BIT(NAG_OPT) | BIT(MASG_OPT), 0, 1e6, true, false},
	{AT(hinge), BIT(AGD), 0, 1, false, true},
};

#define OPTIONS ((int) (sizeof(options) / sizeof(options[0])))

static double *
value_of(pe_fit_options *values, const option *o)
{
	return (double *) ((char *) values + o->offset);
}

void
pe_fit_options_init(pe_fit_options *values)
{
	for (int i = 0; i < OPTIONS; i++)
		*value_of(values, &options[i]) = NAN;
}

bool
pe_fit_option_set(pe_fit_options *values, const char *name, double value)
{
	for (int i = 0; i < OPTIONS; i++)
	{
		if (strcmp(options[i].name, name) == 0)
		{
			*value_of(values, &options[i]) = value;
			return true;
		}
	}
	return false;
}

const char *
pe_fit_option(const pe_fit_options *values, int number, double *value)
{
	if (number >= OPTIONS)
		return NULL;
	*value = *value_of((pe_fit_options *) values, &options[number]);
	return options[number].name;
}

/*
 * The public number of iterations of objpert.  Nobody may ask for less: a search that
 * ends later than this tells of the rows (fit_objpert.c, 7).  A search for hard
 * tables found some that take 25, and with a hinge even 57; others take 8.
 */
#define OBJPERT_ITERATIONS 32

static bool
makes_sense(const pe_fit_problem *problem, const option *o, double value)
{
	if ((o->methods >> problem->method & 1) == 0)
		return false;
	if (o->offset == offsetof(pe_fit_options, hinge) && problem->model != PE_MODEL_SVM)
		return false;
	if (o->offset == offsetof(pe_fit_options, iterations) && problem->method == PE_FIT_OBJPERT &&
		value < OBJPERT_ITERATIONS)
		return false;
	if (!(value >= o->least && value <= o->most) || (o->open && value == o->least))
		return false;
	return !o->whole || value == floor(value);
}

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

/* ---- defaults, by method ---- */

/*
 * A logistic gradient is seldom longer than half of a row: |l'| = 1/2 is where the
 * model knows nothing.  Gradients of a hinge are 0 or as long as the row.
 */
static double
clip_of(const pe_fit_problem *problem)
{
	return radius_of(problem) * (problem->model == PE_MODEL_LOGISTIC ? 0.5 : 1);
}

/*
 * Of a squared loss the curvature is right from the first step, and what the first
 * steps measured is forgotten: fewer of them, and most of the cost for the last.  There
 * it is also worth more to be careful where the noise hides the curvature.
 */
static void
newton_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;
	bool		linear = problem->model == PE_MODEL_LINEAR;

	fill_in(&o->iterations, linear ? 4 : 8);
	fill_in(&o->share, 0.2);
	fill_in(&o->decay, linear ? 0.5 : 0.8);
	fill_in(&o->floor, linear ? 2 : 0.7);
	fill_in(&o->clip, clip_of(problem));
	fill_in(&o->l2, 0);
}

static void
one_pass_defaults(pe_fit_problem *problem)
{
	fill_in(&problem->options.share, 0.5);
	fill_in(&problem->options.floor, problem->model == PE_MODEL_LINEAR ? 2 : 0.7);
	fill_in(&problem->options.l2, 0);
}

static void
agd_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	fill_in(&o->iterations, 30);
	fill_in(&o->share, 0.3);
	fill_in(&o->gamma, 0.1);
	fill_in(&o->candidates, 20);
	fill_in(&o->loss_cap, 3);
	fill_in(&o->clip, fmin(3, radius_of(problem)));
	fill_in(&o->step_max, 2);
	fill_in(&o->adjust, 10);
	fill_in(&o->l2, 0);
	fill_in(&o->hinge, 0);
}

static void
privgene_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	fill_in(&o->iterations, 50);
	fill_in(&o->loss_cap, 3);
	fill_in(&o->step_max, 0.5);
	fill_in(&o->decay, 0.95);
}

static void
perturbed_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	if (problem->method == PE_FIT_OBJPERT)
	{
		fill_in(&o->iterations, OBJPERT_ITERATIONS);
		fill_in(&o->share, 0.1);
		fill_in(&o->l2, 0);
	}
	else
	{
		fill_in(&o->iterations, 20);
		fill_in(&o->rate, 2);
	}
}

static void
plain_defaults(pe_fit_problem *problem)
{
	fill_in(&problem->options.iterations, 60);
	fill_in(&problem->options.l2, 0);
}

/* NULL, or the name of an option that makes no sense beside the others. */
static const char *
set_defaults(pe_fit_problem *problem)
{
	switch (problem->method)
	{
		case PE_FIT_NEWTON:
			newton_defaults(problem);
			break;
		case PE_FIT_ONE_PASS:
			one_pass_defaults(problem);
			break;
		case PE_FIT_AGD:
			agd_defaults(problem);
			break;
		case PE_FIT_PRIVGENE:
			privgene_defaults(problem);
			break;
		case PE_FIT_SGD:
		case PE_FIT_SGD_ADV:
			return pe_sampled_defaults(problem);
		case PE_FIT_OBJPERT:
		case PE_FIT_OUTPERT:
			perturbed_defaults(problem);
			break;
		case PE_FIT_NONPRIVATE:
			plain_defaults(problem);
			break;
		case PE_FIT_MAJORITY:
		case PE_FIT_METHODS:
			break;
		default:
			return pe_accelerated_defaults(problem);
	}
	return NULL;
}

const char *
pe_fit_defaults(pe_fit_problem *problem)
{
	for (int i = 0; i < OPTIONS; i++)
	{
		double		value = *value_of(&problem->options, &options[i]);

		if (!isnan(value) && !makes_sense(problem, &options[i], value))
			return options[i].name;
	}
	return set_defaults(problem);
}

/* ----------
 * Refusals
 * ----------
 */

/* The paper states its division for an epsilon at this delta. */
#define DELTA_OF_SPLITS 1e-8

/*
 * With a planned number of rounds each gets its part, share of it for the selection.
 * Of the paper's division (Lee and Kifer 2018, section 4): epsilon / (2 splits) for each
 * of a selection and a gradient, the one of Laplace noise, the other of the classical
 * Gaussian.  A division is no more than that: what is spent is counted in nano.
 */
void
pe_fit_agd_costs(const pe_fit_problem *problem, int64_t *gradient, int64_t *selection)
{
	const pe_fit_options *o = &problem->options;
	double		nano = (double) problem->nano;
	double		rho = nano * 1e-9;
	double		of_gradient = nano * (1 - o->share) / o->iterations;
	double		of_selection = nano * o->share / o->iterations;

	if (!isnan(o->splits))
	{
		double		part = (rho + 2 * sqrt(rho * -log(DELTA_OF_SPLITS))) / (2 * o->splits);

		of_gradient = part * part / (4 * log(1.25 / DELTA_OF_SPLITS)) * 1e9;
		of_selection = part * part / 2 * 1e9;
	}
	*gradient = (int64_t) fmin(of_gradient, fmin(nano, 0x1p62));
	*selection = (int64_t) fmin(of_selection, fmin(nano, 0x1p62));
}

int64_t
pe_fit_agd_increment(const pe_fit_problem *problem, int64_t gradient)
{
	int64_t		increment = (int64_t) (problem->options.gamma * (double) gradient);

	return increment > 1 ? increment : 1;
}
static bool
samples(const pe_fit_problem *problem)
{
	return problem->method == PE_FIT_SGD || problem->method == PE_FIT_SGD_ADV || problem->options.batch > 0;
}

/* The least share of the cost that one measurement of a method gets, as a fraction; 1 where it is not divided here. */
static double
least_share(const pe_fit_problem *problem)
{
	const pe_fit_options *o = &problem->options;
	double		sum = 0;

	if (problem->method == PE_FIT_ONE_PASS)
		return fmin(o->share, 1 - o->share);
	if (problem->method == PE_FIT_PRIVGENE)
		return 1 / o->iterations;
	if (problem->method == PE_FIT_AGD)
	{
		int64_t		gradient;
		int64_t		selection;

		pe_fit_agd_costs(problem, &gradient, &selection);
		/* not one round */
		if (gradient > problem->nano - selection)
			return 0;
		return (double) (gradient < selection ? gradient : selection) / (double) problem->nano;
	}
	if (problem->method != PE_FIT_NEWTON)
		return 1;
	for (int t = 0; t < (int) o->iterations; t++)
		sum += pow(o->decay, t);
	return fmin(o->share, (1 - o->share) * pow(o->decay, o->iterations - 1) / sum);
}

static const char *
pure_refusal(const pe_fit_problem *problem)
{
	if (pe_fit_is_approximate(problem->method))
		return "The theorem of this method is about epsilon and delta, which a pure budget does not have.";
	if (problem->method == PE_FIT_AGD)
		return "This method weights measurements by their rho, which a pure budget does not have.";
	return NULL;
}

/* The shortest rows, squared, of which the second derivative is known to some percent: they are integers. */
#define SHORTEST_ROWS (1 << 14)

/*
 * What the minimiser of objpert needs to end, whatever the rows are.  Weights are
 * multiples of 2^-61 at best, so that the gradient of Lambda/2 |w|^2 is known to
 * Lambda 2^-62 sqrt(columns), which must be well below the 2^-16 R that is certified.
 */
static const char *
objpert_refusal(const pe_fit_problem *problem)
{
	double		radius = sqrt((double) problem->radius_sq) / PE_ONE;

	if (problem->radius_sq < SHORTEST_ROWS)
		return "Rows are cut to so small a norm here that their rounding is not small.";
	if (problem->options.l2 * sqrt(problem->shape->columns) > 0x1p42 * radius)
		return "Option l2 is so large here that weights cannot be told from 0.";
	return NULL;
}

static const char *
model_refusal(const pe_fit_problem *problem)
{
	if (problem->model == PE_MODEL_LINEAR &&
		(problem->method == PE_FIT_OBJPERT || problem->method == PE_FIT_OUTPERT))
		return "The theorem of this method needs bounded gradients, which a regression does not have.";
	if (problem->method == PE_FIT_OUTPERT && !(problem->options.rate <= 2))
		return "The theorem of this method needs a rate of at most 2, the inverse of the largest curvature being 1.";
	if (problem->model == PE_MODEL_LINEAR &&
		(problem->method == PE_FIT_AGD || problem->method == PE_FIT_PRIVGENE))
		return "This method is for two classes.";
	return problem->method == PE_FIT_OBJPERT ? objpert_refusal(problem) : NULL;
}

const char *
pe_fit_refusal(const pe_fit_problem *problem)
{
	const char *refusal = problem->pure ? pure_refusal(problem) : NULL;

	if (refusal == NULL)
		refusal = model_refusal(problem);
	if (refusal != NULL || !pe_fit_is_private(problem->method))
		return refusal;
	if (problem->substitute && samples(problem))
		return "Sampling is accounted for units that come and go, not for units that change their rows.";
	if (problem->anonymous && problem->max_rows > 1 && samples(problem))
		return "Sampling is accounted for whole units, and which rows are of one unit is not known here.";
	if (!problem->pure && problem->options.batch > 0 && !pe_fit_is_approximate(problem->method))
		return "A sampled Gaussian has no cost in rho that is below that of all rows; sgd is accounted for in epsilon and delta.";
	if (!pe_measure_fits(problem))
		return "A unit may have so many rows here that no sampler serves the noise.";
	if (!((double) problem->nano * least_share(problem) >= 2))
		return "The cost is too small to be divided among the measurements.";
	if (pe_fit_passes(problem) > MOST_PASSES)
		return "It would read the rows too often.";
	return NULL;
}

/* ----------
 * Passes and memory
 * ----------
 */

/*
 * Of agd: a round that moves costs a gradient and a selection, a pass each; a retry
 * costs at least gamma gradients and a selection, and needs one pass, as the gradient
 * is measured again from the same sums.
 */
static double
agd_passes(const pe_fit_problem *problem)
{
	int64_t		gradient;
	int64_t		selection;
	int64_t		retry;
	double		nano = (double) problem->nano;

	pe_fit_agd_costs(problem, &gradient, &selection);
	retry = pe_fit_agd_increment(problem, gradient) + selection;
	return floor(fmax(2 * nano / (double) (gradient + selection), nano / (double) retry));
}

int32_t
pe_fit_passes(const pe_fit_problem *problem)
{
	double		passes;

	switch (problem->method)
	{
		case PE_FIT_NEWTON:
			passes = problem->options.iterations + 1;
			break;
		case PE_FIT_ONE_PASS:
		case PE_FIT_MAJORITY:
			passes = 1;
			break;
		case PE_FIT_AGD:
			passes = agd_passes(problem);
			break;
		case PE_FIT_OBJPERT:
			passes = PE_MINIMISE_PASSES(problem->options.iterations);
			break;
		case PE_FIT_NONPRIVATE:
			passes = PE_MINIMISE_PASSES(problem->options.iterations) + 1;
			break;
		case PE_FIT_OUTPERT:
			passes = problem->options.iterations + (isnan(problem->options.rows) ? 2 : 1);
			break;
		case PE_FIT_PRIVGENE:
			passes = problem->options.iterations;
			break;
		default:
			passes = pe_first_order_passes(problem);
	}
	return (int32_t) fmin(passes, INT32_MAX);
}

size_t
pe_fit_memory(const pe_fit_problem *problem)
{
	size_t		columns = (size_t) problem->shape->columns;
	size_t		vectors = 64 * columns * sizeof(double);

	switch (problem->method)
	{
		case PE_FIT_NEWTON:
		case PE_FIT_ONE_PASS:
		case PE_FIT_OBJPERT:
		case PE_FIT_NONPRIVATE:
			/* a matrix, its eigenvectors, and twice as much to find them */
			return vectors + 4 * (columns + 1) * (columns + 1) * sizeof(double);
		default:
			return vectors;
	}
}

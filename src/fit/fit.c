/*
 * fit.c
 *	  Private fitting: the table of the methods, their options, what they ask for,
 *	  and running one.
 *
 * Nothing here sees a row.
 */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "fit/measure.h"
#include "fit/methods.h"
#include "glm/minimise.h"
#include "glm/unit_clip.h"

/* More passes than this are refused: nobody would wait for them. */
#define MOST_PASSES 1000000

/* ----------
 * Options
 * ----------
 */
#define BIT(method) (UINT32_C(1) << PE_FIT_##method)
#define ACCELERATED (BIT(GD) | BIT(HB) | BIT(NAG) | BIT(MASG) | BIT(NAG_OPT) | BIT(MASG_OPT))
#define SAMPLED (BIT(SGD) | BIT(SGD_ADV))
#define GRADIENTS (BIT(NEWTON) | BIT(AGD) | ACCELERATED | SAMPLED)

#define AT(field) #field, offsetof(pe_fit_options, field)

static const pe_option options[] = {
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
	{AT(unit_clip), GRADIENTS | BIT(ONE_PASS) | BIT(PRIVGENE), 0, 1, false, true},
};

const pe_option_table pe_fit_option_table = PE_OPTION_TABLE(options);

/*
 * The public number of iterations of objpert.  Nobody may ask for less: a
 * search that ends later than this depends on the rows (fit_objpert.c, 7).  A
 * search for hard tables found some that take 25, and with a hinge even 57;
 * others take 8.
 */
#define OBJPERT_ITERATIONS 32

/* The longest row in the norm of the accounting, in units of a feature. */
double
pe_fit_radius(const pe_fit_problem *problem)
{
	return (problem->accounting == PE_PURE ? (double) problem->radius_1 : sqrt((double) problem->radius_sq)) / PE_ONE;
}

bool
pe_fit_clips_units(const pe_fit_problem *problem)
{
	return problem->max_rows > 1 && !problem->anonymous && problem->options.unit_clip == 1;
}

int32_t
pe_fit_unit_rows(const pe_fit_problem *problem)
{
	return problem->max_rows < 1 || pe_fit_clips_units(problem) ? 1 : problem->max_rows;
}

double
pe_fit_unit_length(const pe_fit_problem *problem)
{
	return pe_fit_clips_units(problem) ? sqrt(problem->max_rows) : 1;
}

void
pe_fit_default_clip(pe_fit_problem *problem, double of_row)
{
	pe_option_default(&problem->options.clip,
					  pe_fit_clips_units(problem) ? pe_fit_radius(problem) * pe_fit_unit_length(problem) : of_row);
}

pe_loss
pe_fit_loss(const pe_fit_problem *problem)
{
	if (problem->model == PE_MODEL_LOGISTIC)
		return PE_LOSS_LOGISTIC;
	if (problem->model == PE_MODEL_LINEAR)
		return PE_LOSS_SQUARED;
	return problem->options.hinge == 1 ? PE_LOSS_HINGE : PE_LOSS_HUBER;
}

/* ---- defaults, by method ---- */

/*
 * A logistic gradient is seldom longer than half of a row: |l'| = 1/2 is where the
 * model knows nothing.  Gradients of a hinge are 0 or as long as the row.
 */
static double
clip_of(const pe_fit_problem *problem)
{
	return pe_fit_radius(problem) * (problem->model == PE_MODEL_LOGISTIC ? 0.5 : 1);
}

/*
 * Of a squared loss the curvature is right from the first step, and what the first
 * steps measured is forgotten: fewer of them, and most of the cost for the last.  There
 * it is also worth more to be careful where the noise hides the curvature.
 */
static const char *
newton_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;
	bool		linear = problem->model == PE_MODEL_LINEAR;

	pe_option_default(&o->iterations, linear ? 4 : 8);
	pe_option_default(&o->share, 0.2);
	pe_option_default(&o->decay, linear ? 0.5 : 0.8);
	pe_option_default(&o->floor, linear ? 2 : 0.7);
	pe_fit_default_clip(problem, clip_of(problem));
	pe_option_default(&o->l2, 0);
	return NULL;
}

static const char *
one_pass_defaults(pe_fit_problem *problem)
{
	pe_option_default(&problem->options.share, 0.5);
	pe_option_default(&problem->options.floor, problem->model == PE_MODEL_LINEAR ? 2 : 0.7);
	pe_option_default(&problem->options.l2, 0);
	return NULL;
}

static const char *
agd_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	pe_option_default(&o->iterations, 30);
	pe_option_default(&o->share, 0.3);
	pe_option_default(&o->gamma, 0.1);
	pe_option_default(&o->candidates, 20);
	pe_option_default(&o->loss_cap, 3);
	pe_fit_default_clip(problem, fmin(3, pe_fit_radius(problem)));
	pe_option_default(&o->step_max, 2);
	pe_option_default(&o->adjust, 10);
	pe_option_default(&o->l2, 0);
	if (!isnan(o->hinge) && problem->model != PE_MODEL_SVM)
		return "hinge";
	pe_option_default(&o->hinge, 0);
	return NULL;
}

static const char *
privgene_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	pe_option_default(&o->iterations, 50);
	pe_option_default(&o->loss_cap, 3);
	pe_option_default(&o->step_max, 0.5);
	pe_option_default(&o->decay, 0.95);
	return NULL;
}

static const char *
objpert_defaults(pe_fit_problem *problem)
{
	pe_fit_options *o = &problem->options;

	pe_option_default(&o->iterations, OBJPERT_ITERATIONS);
	pe_option_default(&o->share, 0.1);
	pe_option_default(&o->l2, 0);
	return o->iterations < OBJPERT_ITERATIONS ? "iterations" : NULL;
}

static const char *
outpert_defaults(pe_fit_problem *problem)
{
	pe_option_default(&problem->options.iterations, 20);
	pe_option_default(&problem->options.rate, 2);
	return NULL;
}

static const char *
nonprivate_defaults(pe_fit_problem *problem)
{
	pe_option_default(&problem->options.iterations, 60);
	pe_option_default(&problem->options.l2, 0);
	return NULL;
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

/* ---- the least share of the cost that one measurement gets, as a fraction ---- */

static double
newton_share(const pe_fit_problem *problem)
{
	const pe_fit_options *o = &problem->options;
	double		sum = 0;

	for (int t = 0; t < (int) o->iterations; t++)
		sum += pow(o->decay, t);
	return fmin(o->share, (1 - o->share) * pow(o->decay, o->iterations - 1) / sum);
}

static double
one_pass_share(const pe_fit_problem *problem)
{
	return fmin(problem->options.share, 1 - problem->options.share);
}

static double
privgene_share(const pe_fit_problem *problem)
{
	return 1 / problem->options.iterations;
}

/* 0: there is not one round. */
static double
agd_share(const pe_fit_problem *problem)
{
	int64_t		gradient;
	int64_t		selection;

	pe_fit_agd_costs(problem, &gradient, &selection);
	if (gradient > problem->nano - selection)
		return 0;
	return (double) (gradient < selection ? gradient : selection) / (double) problem->nano;
}

/* ---- reasons of one method ---- */

#define GRADIENTS_WITHOUT_BOUND "The theorem of this method needs bounded gradients, which a regression does not have."

/*
 * The shortest rows, squared, whose second derivative is known to some percent:
 * they are integers.
 */
#define SHORTEST_ROWS (1 << 14)

/*
 * What the minimiser of objpert needs to end, for any rows.  Weights are
 * multiples of 2^-61 at best, so that the gradient of Lambda/2 |w|^2 is known
 * to Lambda 2^-62 sqrt(columns), which must be well below the 2^-16 R that is
 * certified.
 */
static const char *
objpert_refusal(const pe_fit_problem *problem)
{
	double		radius = sqrt((double) problem->radius_sq) / PE_ONE;

	if (problem->model == PE_MODEL_LINEAR)
		return GRADIENTS_WITHOUT_BOUND;
	if (problem->radius_sq < SHORTEST_ROWS)
		return "Rows are cut to so small a norm here that their rounding is not small.";
	if (problem->options.l2 * sqrt(problem->shape->columns) > 0x1p42 * radius)
		return "Option l2 is so large here that weights cannot be told from 0.";
	return NULL;
}

static const char *
outpert_refusal(const pe_fit_problem *problem)
{
	if (problem->model == PE_MODEL_LINEAR)
		return GRADIENTS_WITHOUT_BOUND;
	if (!(problem->options.rate <= 2))
		return "The theorem of this method needs a rate of at most 2, the inverse of the largest curvature being 1.";
	return NULL;
}

static const char *
privgene_refusal(const pe_fit_problem *problem)
{
	return problem->model == PE_MODEL_LINEAR ? "This method is for two classes." : NULL;
}

static const char *
agd_refusal(const pe_fit_problem *problem)
{
	if (problem->accounting == PE_PURE)
		return "This method weights measurements by their rho, which a pure budget does not have.";
	return privgene_refusal(problem);
}

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

/* ----------
 * The table
 * ----------
 */

#define FIRST_ORDER .counts = true, .passes_each = 1
#define DESCENT FIRST_ORDER, .defaults = pe_accelerated_defaults, .plan = pe_plan_accelerated, .run = pe_fit_accelerated
#define SAMPLED_STEPS FIRST_ORDER, .approximate = true, .plan = pe_plan_sampled

#define TELLS_LOGISTIC (1U << PE_MODEL_LOGISTIC)
#define TELLS_SVM (1U << PE_MODEL_SVM)
#define TELLS_LINEAR (1U << PE_MODEL_LINEAR)

#define SEARCH_STEP (PE_MINIMISE_PASSES(1) - PE_MINIMISE_PASSES(0))

static const pe_fit_operations methods[PE_FIT_METHODS] = {
	[PE_FIT_NEWTON] = {"newton", .matrix = true, .tells = TELLS_LOGISTIC | TELLS_LINEAR, .passes_each = 1, .passes = 1,
		.defaults = newton_defaults, .least_share = newton_share, .run = pe_fit_newton},
	[PE_FIT_OBJPERT] = {"objpert", .approximate = true, .premise = true, .one_table = true, .matrix = true,
		.passes_each = SEARCH_STEP, .passes = PE_MINIMISE_PASSES(0),
		.defaults = objpert_defaults, .refusal = objpert_refusal, .plan = pe_plan_objpert, .run = pe_fit_objpert},
	[PE_FIT_ONE_PASS] = {"one_pass", .matrix = true, .tells = TELLS_LOGISTIC | TELLS_LINEAR | TELLS_SVM, .passes = 1,
		.defaults = one_pass_defaults, .least_share = one_pass_share, .run = pe_fit_one_pass},
	[PE_FIT_AGD] = {"agd", .most_passes = agd_passes,
		.defaults = agd_defaults, .refusal = agd_refusal, .least_share = agd_share, .run = pe_fit_agd},
	[PE_FIT_GD] = {"gd", DESCENT},
	[PE_FIT_HB] = {"hb", DESCENT, .momentum = true, .ball = true},
	[PE_FIT_NAG] = {"nag", DESCENT, .momentum = true},
	[PE_FIT_MASG] = {"masg", DESCENT, .momentum = true, .multistage = true},
	[PE_FIT_NAG_OPT] = {"nag_opt", DESCENT, .momentum = true, .optimised = true},
	[PE_FIT_MASG_OPT] = {"masg_opt", DESCENT, .momentum = true, .multistage = true, .optimised = true},
	[PE_FIT_SGD] = {"sgd", SAMPLED_STEPS, .defaults = pe_sgd_defaults, .run = pe_fit_sgd},
	[PE_FIT_SGD_ADV] = {"sgd_adv", SAMPLED_STEPS, .defaults = pe_sgd_adv_defaults, .run = pe_fit_sgd_adv},
	[PE_FIT_OUTPERT] = {"outpert", FIRST_ORDER, .one_table = true, .passes = 1,
		.defaults = outpert_defaults, .refusal = outpert_refusal, .run = pe_fit_outpert},
	[PE_FIT_PRIVGENE] = {"privgene", .passes_each = 1,
		.defaults = privgene_defaults, .refusal = privgene_refusal, .least_share = privgene_share,
		.run = pe_fit_privgene},
	[PE_FIT_NONPRIVATE] = {"nonprivate", .plain = true, .matrix = true, .passes_each = SEARCH_STEP,
		.passes = PE_MINIMISE_PASSES(0) + 1,
		.defaults = nonprivate_defaults, .run = pe_fit_nonprivate},
	[PE_FIT_MAJORITY] = {"majority", .plain = true, .passes = 1, .run = pe_fit_majority},
};

const pe_fit_operations *
pe_fit_operations_of(pe_fit_method method)
{
	return &methods[method];
}

bool
pe_fit_method_named(const char *name, pe_fit_method *method)
{
	for (int i = 0; i < PE_FIT_METHODS; i++)
	{
		if (strcmp(name, methods[i].name) == 0)
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
	return methods[method].name;
}

bool
pe_fit_is_approximate(pe_fit_method method)
{
	return methods[method].approximate;
}

bool
pe_fit_is_private(pe_fit_method method)
{
	return !methods[method].plain;
}

bool
pe_fit_tells_covariance(const pe_fit_problem *problem)
{
	return (methods[problem->method].tells >> problem->model & 1) != 0;
}

bool
pe_fit_is_proved(pe_fit_method method)
{
	return !methods[method].premise;
}

bool
pe_fit_needs_one_table(pe_fit_method method)
{
	return methods[method].one_table;
}

const char *
pe_fit_defaults(pe_fit_problem *problem)
{
	const pe_fit_operations *method = &methods[problem->method];
	const char *mistaken = pe_option_mistaken(&pe_fit_option_table, &problem->options, (int) problem->method);
	double		unset;

	/* which rows are of one unit must be known */
	if (problem->max_rows > 1 &&
		pe_option_taken(pe_option_named(&pe_fit_option_table, &problem->options, "unit_clip", &unset),
						(int) problem->method))
		pe_option_default(&problem->options.unit_clip, !problem->anonymous && problem->max_rows <= PE_UNIT_ROWS_MOST);
	return mistaken == NULL && method->defaults != NULL ? method->defaults(problem) : mistaken;
}

const char *
pe_fit_refusal(const pe_fit_problem *problem)
{
	const pe_fit_operations *method = &methods[problem->method];
	bool		samples = (method->approximate && method->counts) || problem->options.batch > 0;
	const char *refusal = NULL;

	if (problem->accounting == PE_PURE && method->approximate)
		return "The theorem of this method is about epsilon and delta, which a pure budget does not have.";
	if (method->refusal != NULL)
		refusal = method->refusal(problem);
	if (refusal != NULL || method->plain)
		return refusal;
	if (problem->substitute && samples)
		return "Sampling is accounted for units that come and go, not for units that change their rows.";
	if (problem->anonymous && problem->max_rows > 1 && samples)
		return "Sampling is accounted for whole units, and which rows are of one unit is not known here.";
	if (problem->anonymous && problem->max_rows > 1 && problem->options.unit_clip == 1)
		return "Which rows are of one unit is not known here, so no unit's sum can be clipped.";
	if (problem->accounting != PE_PURE && problem->options.batch > 0 && !method->approximate)
		return "A sampled Gaussian has no cost in rho that is below that of all rows; "
			"sgd is accounted for in epsilon and delta.";
	if (!pe_measure_fits(problem))
		return "A unit may have so many rows here that no sampler serves the noise.";
	if (!((double) problem->nano * (method->least_share != NULL ? method->least_share(problem) : 1) >= 2))
		return "The cost is too small to be divided among the measurements.";
	if (pe_fit_passes(problem) > MOST_PASSES)
		return "It would read the rows too often.";
	return NULL;
}

/* A method without iterations has none in its options either. */
int32_t
pe_fit_passes(const pe_fit_problem *problem)
{
	const pe_fit_operations *method = &methods[problem->method];
	double		passes = method->passes;

	if (method->most_passes != NULL)
		passes = method->most_passes(problem);
	if (method->passes_each > 0)
		passes += method->passes_each * problem->options.iterations;
	if (method->counts && isnan(problem->options.rows))
		passes += 1;
	return (int32_t) fmin(passes, INT32_MAX);
}

/*
 * A matrix, its eigenvectors, and twice as much to find them; five for the
 * covariances; where units are clipped, the scores of a tile's rows.
 */
size_t
pe_fit_memory(const pe_fit_problem *problem)
{
	size_t		columns = (size_t) problem->shape->columns;
	size_t		matrix = (columns + 1) * (columns + 1) * sizeof(double);

	return (pe_fit_clips_units(problem) ? 128 : 64) * columns * sizeof(double) +
		(methods[problem->method].matrix ? 4 * matrix : 0) +
		(pe_fit_tells_covariance(problem) ? 5 * matrix : 0);
}

/* ----------
 * Running one
 * ----------
 */
/* A source that reports how many passes it has made. */
typedef struct told_source
{
	pe_source	source;
	pe_source  *inner;
	int			passes;
	int			most;
} told_source;

static void
run_and_tell(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	told_source *told = (told_source *) source;

	told->inner->run(told->inner, pass, sums);
	told->passes++;
	pe_progress("fitting the model", told->passes, told->most, 0);
}

void
pe_fit_run(const pe_fit_problem *problem, pe_source *source, double *w)
{
	told_source told = {*source, source, 0, pe_fit_passes(problem)};

	if (told.most < 1)
		told.most = 1;
	told.source.run = run_and_tell;
	methods[problem->method].run(problem, &told.source, w);
	for (int32_t j = 0; j < problem->shape->columns; j++)
	{
		if (!isfinite(w[j]))
			pe_bug("a fit ended in numbers that are not finite");
	}
}

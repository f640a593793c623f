/*
 * fit.h
 *	  Private fitting of generalised linear models: the methods, and what they
 *	  are given.
 *
 * A method sees the rows through passes (glm/pass.h) alone, and what a pass
 * returns it sees through noise alone (fit/measure.h, noise/selection.h),
 * each with a share of the cost that was fixed before the first row was read.
 * Anything else that a method does is post-processing.  The number of passes is
 * public.  Each method's own file states what is released, the sensitivity, the
 * cost and the theorem.
 *
 * The weights that come out are of the scaled features: margin = sum_j w_j
 * x_j / PE_ONE.
 */
#ifndef PE_FIT_FIT_H
#define PE_FIT_FIT_H

#include "accounting/cost.h"
#include "base/option_table.h"
#include "glm/pass.h"

typedef enum pe_model
{
	PE_MODEL_LOGISTIC,			/* logistic loss */
	PE_MODEL_SVM,				/* hinge smoothed by Huber, h = 1/2; plain hinge if options say so */
	PE_MODEL_LINEAR				/* squared loss */
} pe_model;

typedef enum pe_fit_method
{
	PE_FIT_NEWTON, PE_FIT_OBJPERT, PE_FIT_ONE_PASS, PE_FIT_AGD,
	PE_FIT_GD, PE_FIT_HB, PE_FIT_NAG, PE_FIT_MASG, PE_FIT_NAG_OPT, PE_FIT_MASG_OPT,
	PE_FIT_SGD, PE_FIT_SGD_ADV, PE_FIT_OUTPERT, PE_FIT_PRIVGENE,
	PE_FIT_NONPRIVATE, PE_FIT_MAJORITY, PE_FIT_METHODS
} pe_fit_method;

/*
 * Options; NaN: the method's default (pe_fit_defaults fills them in).
 */
typedef struct pe_fit_options
{
	double		iterations;		/* all but one_pass and majority; agd: planned; objpert: its default at least */
	double		l2;				/* Lambda: Lambda/2 |w|^2 is added to the SUM of the losses; gd .. masg_opt:
								 * unset is smoothness / 1000 for every row */
	/*
	 * of a row's gradient and of a unit's, in the norm of the accounting, in
	 * units of a feature
	 */
	double		clip;
	double		rows;			/* a public guess of the number of rows, where a method divides by it */
	/*
	 * newton, one_pass: of the cost for the second moment; agd: for selections;
	 * objpert: of epsilon for Lambda; sgd none
	 */
	double		share;
	double		decay;			/* newton: quotient of successive shares; privgene: of steps */
	double		floor;			/* newton, one_pass: least eigenvalue, in noise times sqrt(columns) */
	/*
	 * learning rate (sgd, unset: 1/L, svm 2/L, less for much noise);
	 * gd .. masg_opt: c <= 1, outpert: <= 2, in units of 1/L
	 */
	double		rate;
	double		start;			/* first value of every weight */
	double		batch;			/* expected rows of a batch, with `rows`; gd .. masg_opt (pure only): 0 all */
	double		sampling;		/* sgd, sgd_adv: the probability that a unit is in a batch, instead of batch */
	double		smoothness;		/* gd .. masg_opt, sgd: of a row's loss, instead of the bound by the declared
								 * bounds; it must not come from the data unless it was noised */
	double		gamma;			/* agd */
	double		candidates;		/* agd: steps besides 0 */
	double		loss_cap;		/* agd, privgene: C_obj */
	double		step_max;		/* agd: first range of steps; privgene: the first step */
	/*
	 * agd: rounds between adjustments of the range (tau); 0: none, and steps of
	 * equal ratios
	 */
	double		adjust;
	double		splits;			/* agd: the paper's division of epsilon instead of a planned number; NaN: planned */
	double		gap0;			/* nag_opt, masg_opt: a guess of F(start) - F*; unset: a bound */
	double		hinge;			/* svm with agd: 1: plain hinge */
	/*
	 * 1: what all rows of a unit give together is clipped; unset where each
	 * unit has one row
	 */
	double		unit_clip;
} pe_fit_options;

/* What fit/fit_plan.c worked out before anything is charged. */
typedef struct pe_fit_plan
{
	/*
	 * sgd, sgd_adv: the cost of one step without its sampling, to which its
	 * noise is calibrated
	 */
	int64_t		nano_step;
	int64_t		nano_count;		/* sgd: rho of the noisy number of rows; 0 if it is given */
	uint64_t	sample;			/* sgd, sgd_adv: q 2^64; 0: all */
	int32_t		steps;			/* sgd, sgd_adv */
	double		lambda;			/* objpert: regulariser on the sum, of real features x / PE_ONE */
	/*
	 * objpert: standard deviation of the linear term, in units of the radius
	 * sqrt(radius_sq) / PE_ONE
	 */
	double		sigma;
	double		output;			/* objpert: standard deviation of the noise on the output, in errors of the minimiser */
} pe_fit_plan;

/*
 * The weights as an estimate of those of the population that the rows are a
 * sample of: the covariance of what noise and sampling do, or why it is not
 * known.  A code is public, or follows from what was released.
 */
typedef enum pe_fit_unknown
{
	PE_FIT_KNOWN,
	PE_FIT_UNKNOWN_METHOD,		/* no theory, or none of this model */
	PE_FIT_UNKNOWN_CLIP,		/* gradients are clipped below the longest row: a bias */
	PE_FIT_UNKNOWN_L2,			/* likewise of a penalty */
	PE_FIT_UNKNOWN_UNITS,		/* several rows of a unit are no sample */
	PE_FIT_UNKNOWN_NOISE,		/* the noise drowns how the features vary */
	PE_FIT_UNKNOWN_STEPS,		/* more is left to the minimiser than the weights err */
	PE_FIT_UNKNOWN_SHORTENED	/* max_norm is below the longest row: the weights are of shorter ones */
} pe_fit_unknown;

typedef struct pe_fit_population
{
	double	   *covariance;		/* room: columns x columns, in units of the weights */
	pe_fit_unknown unknown;
} pe_fit_population;

typedef struct pe_fit_problem
{
	pe_model	model;
	pe_fit_method method;
	pe_fit_options options;		/* with defaults filled in */
	const pe_row_shape *shape;
	int32_t		intercept;		/* its column, or -1 */
	/*
	 * of each group of the shape: every row is in one of its cells, and only
	 * differences between their weights mean anything where there is an
	 * intercept; NULL: of none.  For the covariance
	 */
	const bool *covering;
	pe_u128		radius_sq;		/* |x|_2^2, and */
	int64_t		radius_1;		/* |x|_1, of every row, at most */
	int32_t		max_rows;		/* of a unit: k */
	bool		anonymous;		/* rows come without their units: where one has several, no method can sample units */
	bool		substitute;
	pe_accounting accounting;	/* PE_PURE: nano is of a pure epsilon, else of rho */
	int64_t		nano;			/* the cost, all of it; of an (epsilon, delta) method the epsilon */
	double		delta;			/* of an (epsilon, delta) method */
	pe_fit_plan plan;
	pe_allowance *allowance;	/* of one run, from which each draw takes its part; NULL: nothing can be drawn */
	/*
	 * of a run: room for that of the weights, columns x columns, in units of
	 * the weights; NULL: not asked for
	 */
	double	   *covariance;
	pe_fit_population *population;	/* of a run that has a covariance: likewise; NULL: not asked for */
	void		(*trace) (void *argument, int32_t step, const double *w);	/* benchmarks only; NULL */
	void	   *trace_argument;
} pe_fit_problem;

/* The method of a name, and the name; false for none. */
extern bool pe_fit_method_named(const char *name, pe_fit_method *method);
extern const char *pe_fit_method_name(pe_fit_method method);

/* The options: pe_fit_options by their names. */
extern const pe_option_table pe_fit_option_table;

/*
 * Puts defaults where options are unset.  Returns NULL, or the name of an option
 * that the method does not know or whose value makes no sense.
 */
extern const char *pe_fit_defaults(pe_fit_problem *problem);

/* Why this method cannot be had (a sentence for errdetail), or NULL: pure, substitute, model. */
extern const char *pe_fit_refusal(const pe_fit_problem *problem);

/* Whether the method's theorem is about (epsilon, delta); whether it reads rows without noise (owners only). */
extern bool pe_fit_is_approximate(pe_fit_method method);
extern bool pe_fit_is_private(pe_fit_method method);

/*
 * Whether its theorem has no premise: objpert's search ends in its number of
 * passes on every table that was seen (owners only).
 */
extern bool pe_fit_is_proved(pe_fit_method method);

/*
 * Whether its theorem is about one table that all passes read: the minimiser of
 * one objective (objpert), or steps that are not expansive for the number of
 * rows that was counted (outpert).  Of others each pass is measured by itself,
 * for any rows.
 */
extern bool pe_fit_needs_one_table(pe_fit_method method);

/*
 * Whether a run can report the covariance that noise gives the weights, which
 * the problem then asks for (fit/spread.c: what it is made of has been
 * released, so it may leave with the weights).  That is so of one_pass, and of
 * newton except for an SVM: a smoothed hinge is curved where few rows are, and
 * nothing that is released says how many.
 */
extern bool pe_fit_tells_covariance(const pe_fit_problem *problem);

/* What a row's loss is: of an SVM Huber's hinge, unless options ask for the plain one. */
extern pe_loss pe_fit_loss(const pe_fit_problem *problem);

/* How often it reads the rows at most: public. */
extern int32_t pe_fit_passes(const pe_fit_problem *problem);

/* Bytes besides the rows. */
extern size_t pe_fit_memory(const pe_fit_problem *problem);

/*
 * Fits.  w: columns numbers, finite.  The random source must not fail.  Reports
 * progress after each pass.
 */
extern void pe_fit_run(const pe_fit_problem *problem, pe_source *source, double *w);

/* ----------
 * What a fit costs, and how much noise that buys: worked out before anything
 * is charged.
 * ----------
 */

/*
 * Fills in problem->plan for problem->nano, which of an (epsilon, delta) method is the
 * epsilon of the whole in 1e-9.  False if the cost cannot be met, such as epsilon too
 * small for the number of steps.
 */
extern bool pe_fit_plan_make(pe_fit_problem *problem);

/*
 * What the draws of one run take together at most, in nano-units: the cost itself, or of
 * sgd and sgd_adv, whose steps are counted without their sampling, the sum of these
 * (sampling.c proves what they cost with it).
 */
extern int64_t pe_fit_drawn(const pe_fit_problem *problem);

/*
 * objpert (objpert.c): regulariser and noise for an epsilon and delta, which the whole
 * fit then meets; the theorem is in fit/fit_objpert.c.
 */
extern bool pe_plan_objpert(pe_fit_problem *problem);

/*
 * The least standard deviation of objective perturbation, in units of what the
 * neighbours' gradients differ by at most, rounded up: for (epsilon, delta), when the
 * logarithm of the determinants' ratio is at most log_det, and gradients are a sum of
 * `rows' rows'.  Infinity if there is none.
 */
extern double pe_objpert_sigma(double epsilon, double delta, double log_det, double rows);

/* gd .. masg_opt: nano itself: each step takes at least one nano-unit of it. */
extern bool pe_plan_accelerated(pe_fit_problem *problem);

/* sgd, sgd_adv (sampling.c): noise for Poisson-sampled steps, by Renyi divergences of integer order. */
extern bool pe_plan_sampled(pe_fit_problem *problem);

/*
 * The epsilon at delta, rounded up, of so many sampled steps, where each would
 * cost nano_step of rho without sampling, after a release of nano_count.
 */
extern double pe_sampled_epsilon(double q, int32_t steps, int64_t nano_step, int64_t nano_count, double delta);

#endif

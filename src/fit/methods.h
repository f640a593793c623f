/*
 * methods.h
 *	  One table over the methods of fit.h, and what their files share.
 *
 * A method is a file with its run and its theorem, an entry of the table (fit.c)
 * and its options (fit.c).
 */
#ifndef PE_FIT_METHODS_H
#define PE_FIT_METHODS_H

#include "fit/fit.h"

typedef struct pe_fit_operations
{
	const char *name;
	bool		approximate;	/* its theorem is about (epsilon, delta) */
	bool		plain;			/* it reads rows without noise: owners only */
	bool		premise;		/* its theorem has a premise: owners only */
	bool		one_table;		/* its theorem is about one table that all its passes read */
	bool		matrix;			/* it holds matrices of columns x columns */
	/*
	 * bits of models, by their numbers: it reports the covariance of the
	 * weights (spread.c)
	 */
	unsigned	tells;
	bool		counts;			/* it measures the number of rows where option `rows` does not give it */

	/*
	 * It reads the rows `passes_each' times for each iteration and `passes'
	 * times besides, or as often as `most_passes' says.
	 */
	int			passes_each;
	int			passes;

	/* gd .. masg_opt (fit_accelerated.c) */
	bool		momentum;
	bool		ball;			/* heavy: the gradient is taken before the momentum */
	bool		multistage;
	bool		optimised;		/* shares and the number of steps follow from a bound */

	double		(*most_passes) (const pe_fit_problem *problem);

	/*
	 * Puts defaults where options are unset; NULL, or the name of an option
	 * that makes no sense beside the others or the model.
	 */
	const char *(*defaults) (pe_fit_problem *problem);

	/* Why the method cannot be had, besides what holds for all; NULL: no reason of its own. */
	const char *(*refusal) (const pe_fit_problem *problem);

	/*
	 * The least share of the cost that one measurement gets, as a fraction;
	 * NULL: the cost is not divided before the fit.
	 */
	double		(*least_share) (const pe_fit_problem *problem);

	/* Works out problem->plan; NULL: there is nothing to work out.  False: the cost cannot be met. */
	bool		(*plan) (pe_fit_problem *problem);

	void		(*run) (const pe_fit_problem *problem, pe_source *source, double *w);
} pe_fit_operations;

extern const pe_fit_operations *pe_fit_operations_of(pe_fit_method method);

/* ---- one file each ---- */
extern void pe_fit_newton(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_one_pass(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_agd(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_privgene(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_accelerated(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_sgd(const pe_fit_problem *problem, pe_source *source, double *w);	/* second half's mean */
extern void pe_fit_sgd_adv(const pe_fit_problem *problem, pe_source *source, double *w);	/* the last */
extern void pe_fit_objpert(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_outpert(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_nonprivate(const pe_fit_problem *problem, pe_source *source, double *w);
extern void pe_fit_majority(const pe_fit_problem *problem, pe_source *source, double *w);

/*
 * How many rows' worth of a gradient or a score a unit gives at most: k, or 1 where units are
 * clipped (glm/unit_clip.h), which is no question where each has one row.
 */
extern bool pe_fit_clips_units(const pe_fit_problem *problem);
extern int32_t pe_fit_unit_rows(const pe_fit_problem *problem);

/*
 * What a unit may give, in parts of what a row may: the root of k where units are clipped, for
 * sums of k gradients or scores that have nothing to do with each other grow so; else 1.
 */
extern double pe_fit_unit_length(const pe_fit_problem *problem);

/*
 * The default clip, given that of rows by themselves.  Where units are clipped it is the root of
 * k times the longest row: shorter clips were better for units whose rows have nothing to do with
 * each other, but worse than none where these agree.
 */
extern void pe_fit_default_clip(pe_fit_problem *problem, double of_row);

/* The longest row in the norm of the accounting, in units of a feature. */
extern double pe_fit_radius(const pe_fit_problem *problem);

/* ----------
 * agd
 * ----------
 */

/* What it pays for a gradient at first, for a selection, and for measuring a gradient of some cost again. */
extern void pe_fit_agd_costs(const pe_fit_problem *problem, int64_t *gradient, int64_t *selection);
extern int64_t pe_fit_agd_increment(const pe_fit_problem *problem, int64_t gradient);

/* ----------
 * newton and one_pass: steps with the inverse of a noisy curvature, post-processing
 * ----------
 */
typedef struct pe_curvature
{
	int32_t		columns;
	double	   *vector;			/* eigenvectors by columns */
	double	   *value;			/* of each: c times the eigenvalue, at least the floor, plus l2 */
	double	   *measured;		/* of each: the eigenvalue of the noisy moment itself */
	double		floor;			/* of eigenvalues */
	double		derivative;		/* c */
	bool		decomposed;		/* the eigenvectors are the moment's */
	double	   *turned;			/* work */
} pe_curvature;

/*
 * From a noisy second moment (destroyed) whose diagonal entries have this noise:
 * eigenvalues below options.floor noise sqrt(columns) are raised to it, then c times
 * each plus options.l2 is the curvature.
 */
extern void pe_curvature_init(pe_curvature *curvature, const pe_fit_problem *problem, double *moment, double noise);

/* w = w - curvature^-1 gradient, brought to the numbers that weights can be. */
extern void pe_curvature_step(pe_curvature *curvature, const double *gradient, double *w);

extern void pe_curvature_free(pe_curvature *curvature);

/*
 * What noise does to the weights (spread.c), where problem->covariance asks for
 * it; else all of these do nothing.  noise: of a diagonal entry of the moment.
 * Each step is announced before it is made: the weights at which its gradient
 * was measured (NULL: it depends on none), the released gradient plus l2 times
 * them, and the noise of one of its entries.
 */
typedef struct pe_spread
{
	const pe_fit_problem *problem;
	const pe_curvature *curvature;	/* NULL: not asked for */
	double		noise;
	double	   *covariance;		/* the problem's: along eigenvectors until the end, by the noise of gradients */
	/*
	 * entry (i, j), by columns: what noise (i, j) of the moment moves along
	 * eigenvector i
	 */
	double	   *slope;
	double	   *turned;			/* work */
	double	   *left;			/* what the step leaves of an error: a matrix along eigenvectors */
	double	   *derivative;		/* of the sum of gradients by the weights, likewise; then work */
	bool		supposes;		/* that rows are normally distributed */
	int32_t		steps;			/* that were announced */
	double	   *sampled;		/* of a population: the covariance by sampling and what steps left, likewise */
	int32_t		silents;		/* directions that no coefficient depends on */
	double	   *silent;			/* these, turned, orthonormal, by columns */
	double	   *work;			/* as large */
} pe_spread;

extern void pe_spread_init(pe_spread *spread, const pe_fit_problem *problem,
						   const pe_curvature *curvature, double noise);
extern void pe_spread_step(pe_spread *spread, const double *w, const double *gradient, double noise);

/*
 * Of a population, at the weights after the last step, before the end.
 */
extern void pe_spread_population(pe_spread *spread, const double *w);

/* Fills problem->covariance, with NaN where the moment could not be decomposed, and frees. */
extern void pe_spread_end(pe_spread *spread);

/* ----------
 * outpert (fit_outpert.c)
 * ----------
 */
/* Public numbers; `rows' is N. */
typedef struct pe_outpert
{
	double		rows;
	double		sensitivity;	/* S, of substitute twice that */
	double		error;
	int			bits;			/* h = 2^-bits */
	uint64_t	steps;			/* the L2 sensitivity in units of h */
} pe_outpert;

extern void pe_outpert_prepare(const pe_fit_problem *problem, double rows, pe_outpert *o);

/* round(w_T / h): what noise must be added to. */
extern void pe_outpert_exact(const pe_fit_problem *problem, pe_source *source, const pe_outpert *o, pe_i128 *exact);

/* ----------
 * First-order methods: gd .. masg_opt (fit_accelerated.c) and sgd, sgd_adv (fit_sgd.c)
 *
 * They minimise the mean loss plus mu/2 |w|^2, mu = l2 / rows.
 * ----------
 */

/* Their defaults.  batch / rows of sgd becomes sampling. */
extern const char *pe_accelerated_defaults(pe_fit_problem *problem);
extern const char *pe_sgd_defaults(pe_fit_problem *problem);
extern const char *pe_sgd_adv_defaults(pe_fit_problem *problem);

/*
 * The number of rows, which these methods divide by, is not public.  It is option
 * `rows`, a guess that must not come from the data, or it is measured: a fiftieth of a
 * cost of nano, at least one unit.
 */
extern int64_t pe_count_share(const pe_fit_problem *problem, int64_t nano);
extern double pe_first_order_rows(const pe_fit_problem *problem, pe_source *source, int64_t nano);

/*
 * A probability as the integer that a pass compares its coins with (pass.h),
 * rounded down: 0 stands for 1, and also for what is too small, which `fits`
 * distinguishes.  And an upper bound of the probability that such an integer
 * stands for.
 */
extern uint64_t pe_sample_of(double q, bool *fits);
extern double pe_sample_probability(uint64_t sample);

/* The steps of an accelerated method, from 0. */
typedef struct pe_schedule
{
	int32_t		steps;
	double	   *rate;			/* alpha_t */
	double	   *momentum;		/* beta_t */
	int32_t    *stage;			/* from 1 */
	int64_t    *nano;			/* what the step may cost, its sampling included; their sum is at most the whole */
} pe_schedule;

/* Works it out for a number of rows that is public or was released; nano is at least the number of iterations. */
extern void pe_schedule_make(const pe_fit_problem *problem, double rows, int64_t nano, pe_schedule *schedule);
extern void pe_schedule_free(pe_schedule *schedule);

#endif

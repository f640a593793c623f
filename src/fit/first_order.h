/*
 * first_order.h
 *	  What gd, hb, nag, masg, nag_opt, masg_opt (fit_accelerated.c) and sgd, sgd_adv
 *	  (fit_sgd.c) share: options, the number of rows, batches, schedules.
 *
 * These methods minimise the mean loss plus mu/2 |w|^2, mu = l2 / rows.
 */
#ifndef PE_FIT_FIRST_ORDER_H
#define PE_FIT_FIRST_ORDER_H

#include "fit/fit.h"

/*
 * Puts defaults where options are unset; NULL, or the name of an option that makes no
 * sense beside the others.  batch / rows of sgd becomes sampling.
 */
extern const char *pe_accelerated_defaults(pe_fit_problem *problem);
extern const char *pe_sampled_defaults(pe_fit_problem *problem);

/* How often they read the rows at most. */
extern int32_t pe_first_order_passes(const pe_fit_problem *problem);

/*
 * The number of rows, which these methods divide by, is not public.  It is option
 * `rows`, a guess that must not come from the data, or it is measured: a fiftieth of a
 * cost of nano, at least one unit.
 */
extern int64_t pe_count_share(const pe_fit_problem *problem, int64_t nano);
extern double pe_first_order_rows(const pe_fit_problem *problem, pe_source *source, int64_t nano);

/*
 * A probability as the integer that a pass compares its coins with (pass.h), rounded
 * down: 0 stands for 1, and also for what is too small, which `fits` tells apart.  And
 * an upper bound of the probability that such an integer stands for.
 */
extern uint64_t pe_sample_of(double q, bool *fits);
extern double pe_sample_probability(uint64_t sample);

/*
 * A pure step on a random batch: every unit joins it with probability q.  If the step
 * without sampling is e-DP when a unit is added or removed, with sampling it is
 * ln(1 + q (exp(e) - 1))-DP: with P0 and P1 the laws without and with the unit, given
 * the batch of the others, r = P1 / P0 in [exp(-e), exp(e)],
 *
 *		(1 - q + q r) <= 1 + q (exp(e) - 1), and
 *		1 / (1 - q + q r) <= 1 / (1 - q + q exp(-e)) <= 1 - q + q exp(e),
 *
 * since (1 - q + q / x) (1 - q + q x) = 1 + q (1-q) (x + 1/x - 2) >= 1; and a ratio that is
 * bounded for every batch of the others is bounded for their mixture.  (Li, Qardaji and
 * Su, ASIACCS 2012; Balle, Barthe and Gaboardi, arXiv 1807.01647, Theorem 8.  Kuru et al.
 * use a theorem for batches of fixed size and units that are replaced, whose number is
 * public.)  Not for substitute: there the unit is in the batch in both cases.
 *
 * The largest cost without sampling, rounded down, of a step that may cost nano.
 */
extern int64_t pe_unsampled_epsilon(int64_t nano, uint64_t sample);

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

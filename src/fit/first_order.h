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

/*
 * fit_plan.h
 *	  What a fit costs, and how much noise that buys: worked out before anything
 *	  is charged.
 */
#ifndef PE_FIT_FIT_PLAN_H
#define PE_FIT_FIT_PLAN_H

#include "fit/fit.h"

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

/* gd .. masg_opt: nano itself, of which each step takes a nano-unit at least. */
extern bool pe_plan_accelerated(pe_fit_problem *problem);

/* sgd, sgd_adv (sampling.c): noise for Poisson-sampled steps, by Renyi divergences of integer order. */
extern bool pe_plan_sampled(pe_fit_problem *problem);

/*
 * The epsilon at delta, rounded up, of so many sampled steps, each of which would cost
 * nano_step of rho without sampling, after a release of nano_count.
 */
extern double pe_sampled_epsilon(double q, int32_t steps, int64_t nano_step, int64_t nano_count, double delta);

#endif

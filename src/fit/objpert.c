/*
 * objpert.c
 *	  Regulariser and noise of objective perturbation.
 *
 * The theorem, with its proof, is in fit/fit_objpert.c: for neighbours that
 * differ by rows rows, at most k of them on one side,
 *
 *	  delta(epsilon) <= 2 rows delta_G(epsilon - k log(1 + beta / Lambda)),
 *
 * where delta_G is that of a Gaussian of sensitivity 1 and standard deviation
 * sigma = 1 / sqrt(r^2 + m^2), r = rows R / s of the linear term's noise s,
 * m = 2 / output of the noise on the output.  What pe_gaussian_sigma gives for
 * (epsilon - ..., delta / (2 rows)) is divided between the two.
 */
#include "fit/fit.h"

#include <math.h>

#include "accounting/conversion.h"
#include "glm/minimise.h"

/*
 * Share of r^2 + m^2 for the noise on the output: it makes s larger by 1 %.  That
 * noise is far below the other's effect until there are some 10^7 rows.
 */
#define OUTPUT_SHARE 0.02

/*
 * Lambda / beta, at least, for any epsilon.  It is no more than the sixteenth
 * part of one row; a smaller one would cost more of epsilon, divide what the
 * minimiser is known to, which noise has to cover, and where rows are separable
 * put the minimum so far out that finding it takes as long as the data want.
 */
#define LEAST_RATIO 0x1p-4

/* Of delta, what is kept for a search that does not arrive: fit_objpert.c, 7. */
#define SEARCH_SHARE 0x1p-10

/* The largest s / R: fit/fit_objpert.c counts on it. */
#define MOST_SIGMA 0x1p20

/* A value less a relative error of 16 roundings: below what it stands for. */
static double
rounded_down(double value)
{
	return value * (1 - 16 * PE_ROUNDOFF);
}

/* 2 rows is exact, the quotient is off by a rounding and delta's double by two of them. */
double
pe_objpert_sigma(double epsilon, double delta, double log_det, double rows)
{
	double		left = rounded_down(epsilon) - log_det;

	if (!(left > 0))
		return INFINITY;
	return pe_gaussian_sigma(rounded_down(left), rounded_down(delta / (2 * rows)));
}

/* R^2 l'', at least: three roundings. */
static double
row_curvature(const pe_fit_problem *problem)
{
	double		square = (double) problem->radius_sq / ((double) PE_ONE * PE_ONE);

	return pe_round_up(square * pe_loss_curvature(pe_fit_loss(problem)), 8 * PE_ROUNDOFF * square);
}

/* k log(1 + beta / lambda), at least: a quotient, a call of libm and a product. */
static double
log_determinants(double beta, double lambda, double rows)
{
	double		value = rows * log1p(beta / lambda);

	return pe_round_up(value, 2 * PE_LIBM_ERROR * value);
}

/*
 * Lambda is any number; what it costs is worked out from the number itself.  An
 * epsilon whose cost in rho is no longer counted, or a delta of less than an atto
 * unit, is refused.
 */
bool
pe_plan_objpert(pe_fit_problem *problem)
{
	double		epsilon = (double) problem->nano / 1e9;
	int64_t		atto = pe_atto_down(problem->delta);
	double		k = problem->max_rows;
	double		rows = problem->substitute ? 2 * k : k;
	double		beta = row_curvature(problem);
	double		ratio = fmax(LEAST_RATIO, 1 / expm1(problem->options.share * epsilon / k));
	pe_fit_plan *plan = &problem->plan;
	double		delta = (double) atto / 1e18 * (1 - SEARCH_SHARE);
	double		sigma;

	if (problem->nano <= 0 || pe_nano_rho_of_pure(problem->accounting, problem->nano) < 0 ||
		atto <= 0 || !(problem->delta < 1))
		return false;
	plan->lambda = fmax(problem->options.l2, beta * ratio);
	sigma = pe_objpert_sigma(epsilon, delta, log_determinants(beta, plan->lambda, k), rows);
	plan->sigma = rows * sigma / sqrt(1 - OUTPUT_SHARE);
	plan->sigma = pe_round_up(plan->sigma, 8 * PE_ROUNDOFF * plan->sigma);
	plan->output = 2 * sigma / sqrt(OUTPUT_SHARE);
	plan->output = pe_round_up(plan->output, 8 * PE_ROUNDOFF * plan->output);
	return plan->sigma <= MOST_SIGMA;
}

/*
 * sampling.c
 *	  How much noise the steps of a fit on random batches need.
 *
 * A step (fit/fit_sgd.c) releases f(S) + Y: S is a batch that every unit
 * joins with probability q, independently; f is an integer vector, the sum of the
 * contributions of S's units, each of length C at most; Y has independent
 * coordinates N_Z(0, sigma^2).  The noise is calibrated to what the step would cost
 * without sampling, rho = C^2 / (2 sigma^2) = nano_step 1e-9, so that C and k, the
 * rows of a unit, appear nowhere here.
 *
 * Neighbours: a unit is added or removed (its rows as a whole, at most k).  Not for
 * substitute, not for shuffled batches or batches of fixed size.
 *
 * Theorem.  For every integer alpha >= 2 a step's Renyi divergence of order alpha is,
 * in both directions, at most
 *
 *		1/(alpha-1) ln sum over k of C(alpha, k) (1-q)^(alpha-k) q^k exp((k^2 - k) rho),
 *
 * which is pe_rdp_subsampled_gaussian(q, 1 / sqrt(2 rho), alpha).  Mironov, Talwar and
 * Zhang (arXiv 1908.10530) prove it for the continuous Gaussian; it holds for the
 * discrete one on integer vectors without any change:
 *
 * Let the data have one unit more in one case.  Given the batch of all others, the
 * outputs are P0 = N_Z shifted by f, and (1-q) P0 + q P1, where P1 is P0 shifted by the
 * integer vector v of that unit, |v| <= C.  exp((alpha-1) D_alpha) is jointly convex,
 * so the divergence is at most the largest over the batches of the others.  Without
 * loss of generality f = 0.  P0 and P1 have the same normalisation Z because v is a
 * vector of integers, so that r(x) = P1(x) / P0(x) = exp((2 x v - v^2) / (2 sigma^2)).
 *
 * Forward.  E_P0[(1 - q + q r)^alpha] is the sum above with E_P0[r^k] in the place of
 * the last factor, and
 *
 *		E_P0[r^k] = 1/Z sum over x of exp(-|x - k v|^2 / (2 sigma^2)) exp((k^2 - k) |v|^2 / (2 sigma^2))
 *				  = exp((k^2 - k) |v|^2 / (2 sigma^2)):
 *
 * k v is a vector of integers too, and the sum over a shifted lattice is Z again.  This
 * is exact (for a real k it would not be), and increases with |v|.
 *
 * Backward.  E_P0[(1 - q + q r)^(1 - alpha)] is no larger.  The map x -> v - x changes
 * P0 and P1, so it turns r into 1/r and P0 into r P0.  Averaged over x and its image,
 * the two expectations are those of g(alpha) and g(1 - alpha), halved, with
 *
 *		g(s) = a^s + r b^s,  a = 1 - q + q r,  b = 1 - q + q / r,
 *
 * and by symmetry r >= 1, so b <= 1 <= a.  h(u) = g(1/2 + u) - g(1/2 - u) =
 * 2 sqrt(a) sinh(u ln a) - 2 r sqrt(b) sinh(u ln 1/b) vanishes at u = 1/2, where it
 * is a + r b - 1 - r = 0.  a b = 1 + q (1-q) (r + 1/r - 2) >= 1, so ln a >= ln 1/b,
 * and sinh(u ln a) / sinh(u ln 1/b) does not decrease in u: h(u) >= 0 for
 * u >= 1/2, which is alpha >= 1.  (Theorem 5 there, for any two laws that an involution
 * exchanges.)
 *
 * Steps see what earlier steps released and are random in themselves: their bounds of
 * one order add up (Mironov, arXiv 1702.07476, Proposition 1), and so does alpha rho of
 * a count that was noised before.  Canonne, Kamath and Steinke (arXiv 2004.00010,
 * Proposition 12) turn the sum into (epsilon, delta).  Orders are tried on a grid; each
 * by itself is a proof.
 */
#include "fit/fit.h"

#include <float.h>
#include <math.h>

#include "accounting/conversion.h"
#include "fit/methods.h"

/* Every order up to the first, then about this factor from one to the next. */
#define ALPHA_DENSE 40
#define ALPHA_FACTOR 1.06
#define MAX_ALPHAS 160

/*
 * The search for one order ends within a part of this of its noise, except the
 * last one.
 */
#define COARSE 64

typedef struct search
{
	double		q;				/* rounded up */
	double		steps;
	int64_t		nano_count;
	double		epsilon;		/* rounded down */
	double		delta;
	int			alphas;
	int			alpha[MAX_ALPHAS];
} search;

/* The epsilon that order alpha proves for steps of nano_step without sampling. */
static double
epsilon_of_order(const search *s, int alpha, int64_t nano_step)
{
	/* three roundings on the way to sigma, each half an epsilon: rounded down */
	double		sigma = sqrt(5e8 / (double) nano_step) * (1 - 4 * DBL_EPSILON);
	double		tau = s->steps * pe_rdp_subsampled_gaussian(s->q, sigma, alpha) +
		alpha * ((double) s->nano_count * 1e-9);

	return pe_renyi_epsilon(tau * (1 + 4 * DBL_EPSILON), alpha - 1, s->delta);
}

/*
 * ln(1 + C(alpha, k) (1-q)^(alpha-k) q^k (exp((k^2 - k) rho) - 1)) / (alpha -
 * 1): one term of the sum for k = 2 or alpha.
 */
static double
one_term(const search *s, double alpha, double k, double rho)
{
	double		exponent = k * (k - 1) * rho;
	double		log_choose = k == 2 && alpha > 2 ? log(alpha * (alpha - 1) / 2) : 0;
	double		log_none = alpha > k ? (alpha - k) * log1p(-s->q) : 0;
	double		log_grown = exponent > 30 ? exponent : log(expm1(exponent));
	double		log_term = log_choose + log_none + k * log(s->q) + log_grown;

	return (log_term > 30 ? log_term : log1p(exp(log_term))) / (alpha - 1);
}

/*
 * Whether an order is hopeless, at a glance: divergences increase with the order, and
 * are at least what one term of the sum gives.  To take this for a proof of failure
 * only makes the noise larger.
 */
static bool
is_hopeless(const search *s, int alpha, int64_t nano_step)
{
	double		rho = (double) nano_step * 1e-9;
	double		lower = s->q < 1 ? fmin(alpha, fmax(2, floor(1 / s->q))) : alpha;
	double		divergence = s->q < 1 ? fmax(one_term(s, lower, 2, rho), one_term(s, alpha, alpha, rho)) : alpha * rho;
	double		tau = s->steps * divergence + alpha * ((double) s->nano_count * 1e-9);

	return pe_renyi_epsilon(tau * (1 - 1e-9), alpha - 1, s->delta) > s->epsilon * (1 + 1e-9);
}

/* Whether order alpha proves that steps of nano_step without sampling stay within epsilon. */
static bool
proves(const search *s, int alpha, int64_t nano_step)
{
	return !is_hopeless(s, alpha, nano_step) && epsilon_of_order(s, alpha, nano_step) <= s->epsilon;
}

/* The grid. */
static void
set_orders(search *s)
{
	s->alphas = 0;
	for (int alpha = 2; alpha <= PE_ALPHA_MAX && s->alphas < MAX_ALPHAS;
		 alpha += alpha < ALPHA_DENSE ? 1 : (int) (alpha * (ALPHA_FACTOR - 1)))
		s->alpha[s->alphas++] = alpha;
}

/*
 * The largest cost that the order proves, above one that it proves already: to within a
 * COARSE part, or exactly.
 */
static int64_t
largest_of_order(const search *s, int alpha, int64_t proved, bool exactly)
{
	int64_t		step = proved / COARSE + 1;
	int64_t		fails;

	while (proved <= INT64_MAX / 16 && proves(s, alpha, proved + step))
	{
		proved += step;
		step *= 2;
	}
	fails = proved + step;
	while (fails - proved > (exactly ? 1 : 1 + proved / COARSE))
	{
		int64_t		middle = proved + (fails - proved) / 2;

		if (proves(s, alpha, middle))
			proved = middle;
		else
			fails = middle;
	}
	return proved;
}

/* Where the search begins: the order that a Gaussian of this epsilon and delta takes, without sampling. */
static int
first_order(const search *s)
{
	double		order = 2 * -log(s->delta) / s->epsilon;
	int			i = 0;

	while (i < s->alphas - 1 && s->alpha[i] < order)
		i++;
	return i;
}

/*
 * A cost that the order proves, not far below the largest, or 0.  By the first term of
 * the sum, sampling divides the cost by about q^2.
 */
static int64_t
first_cost(const search *s, int alpha)
{
	double		total = (double) pe_zcdp_nano_rho(s->epsilon, s->delta);
	int64_t		guess = (int64_t) fmin(total / (s->steps * s->q * s->q), 1e17);

	for (; guess > 0; guess = guess / 4 * 3)
	{
		if (proves(s, alpha, guess))
			return guess;
	}
	return 0;
}

/* The largest cost of a step that an order of the grid proves; 0 if there is none. */
static int64_t
largest_step(const search *s)
{
	int			first = first_order(s);
	int64_t		best = first_cost(s, s->alpha[first]);

	/* roughly, from the first order outwards: few of the others take a search */
	for (int i = 0; i < 2 * s->alphas; i++)
	{
		int			at = i % 2 == 0 ? first + i / 2 : first - (i + 1) / 2;
		int64_t		next = best + best / COARSE + 1;

		if (at >= 0 && at < s->alphas && proves(s, s->alpha[at], next))
			best = largest_of_order(s, s->alpha[at], next, false);
	}
	for (int i = 0; i < s->alphas; i++)
	{
		if (proves(s, s->alpha[i], best + 1))
			best = largest_of_order(s, s->alpha[i], best + 1, true);
	}
	return best;
}

double
pe_sampled_epsilon(double q, int32_t steps, int64_t nano_step, int64_t nano_count, double delta)
{
	search		s = {.q = q, .steps = steps, .nano_count = nano_count, .delta = delta};
	double		best = INFINITY;

	if (nano_step <= 0 || nano_count < 0 || steps < 1)
		return INFINITY;
	set_orders(&s);
	for (int i = 0; i < s.alphas; i++)
		best = fmin(best, epsilon_of_order(&s, s.alpha[i], nano_step));
	return fmax(best, 0);
}

bool
pe_plan_sampled(pe_fit_problem *problem)
{
	pe_fit_plan *plan = &problem->plan;
	int64_t		atto = pe_atto_down(problem->delta);
	search		s;
	bool		fits;

	if (problem->substitute || problem->accounting == PE_PURE || problem->nano <= 0 || atto <= 0)
		return false;
	s.epsilon = (double) problem->nano * 1e-9 * (1 - 2 * DBL_EPSILON);
	s.delta = (double) atto * 1e-18 * (1 - 2 * DBL_EPSILON);
	if (!pe_epsilon_valid(s.epsilon) || !pe_delta_valid(s.delta))
		return false;

	plan->steps = (int32_t) problem->options.iterations;
	plan->sample = pe_sample_of(problem->options.sampling, &fits);
	plan->nano_count = pe_count_share(problem, pe_zcdp_nano_rho(s.epsilon, s.delta));
	if (plan->steps < 1 || !fits)
		return false;

	s.q = pe_sample_probability(plan->sample);
	s.steps = plan->steps;
	s.nano_count = plan->nano_count;
	set_orders(&s);
	plan->nano_step = largest_step(&s);
	return plan->nano_step > 0 && pe_fit_drawn(problem) > 0 &&
		pe_nano_rho_of_pure(problem->accounting, problem->nano) > 0;
}

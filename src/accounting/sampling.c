/*
 * sampling.c
 *	  How much noise the steps of a fit on random batches need.
 *
 * A step (mechanism/fit_sgd.c) releases f(S) + Y: S is a batch that every unit
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
#include "accounting/fit_plan.h"

#include <float.h>
#include <math.h>

#include "accounting/mechanisms.h"
#include "accounting/zcdp.h"
#include "mechanism/first_order.h"

/* Every order up to the first, then about this factor from one to the next. */
#define ALPHA_DENSE 40
#define ALPHA_FACTOR 1.06
#define MAX_ALPHAS 160

/* The search for one order ends within a part of this of its noise, but for the last one. */
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

/* Whether order alpha proves that steps of nano_step without sampling stay within epsilon. */
static bool
proves(const search *s, int alpha, int64_t nano_step)
{
	/* three roundings on the way to sigma, each half an epsilon: rounded down */
	double		sigma = sqrt(5e8 / (double) nano_step) * (1 - 4 * DBL_EPSILON);
	double		tau = s->steps * pe_rdp_subsampled_gaussian(s->q, sigma, alpha) +
		alpha * ((double) s->nano_count * 1e-9);

	return pe_renyi_epsilon(tau * (1 + 4 * DBL_EPSILON), alpha - 1, s->delta) <= s->epsilon;
}

/*
 * The orders of the grid that can prove anything: without any loss they already do,
 * and they are not far above the one that a Gaussian without sampling would take.
 */
static void
choose_orders(search *s)
{
	double		most = 4 * (2 * -log(s->delta) / s->epsilon + 1);

	s->alphas = 0;
	for (int alpha = 2; alpha <= PE_ALPHA_MAX && s->alphas < MAX_ALPHAS;
		 alpha += alpha < ALPHA_DENSE ? 1 : (int) (alpha * (ALPHA_FACTOR - 1)))
	{
		if (alpha > ALPHA_DENSE && alpha > most)
			break;
		if (pe_renyi_epsilon(0, alpha - 1, s->delta) <= s->epsilon)
			s->alpha[s->alphas++] = alpha;
	}
}

/*
 * The largest cost that the order proves, above one that it proves already, to within
 * a part of `part` (0: exactly).
 */
static int64_t
largest_of_order(const search *s, int alpha, int64_t proved, int64_t part)
{
	int64_t		step = proved / COARSE + 1;
	int64_t		fails;

	while (proved <= INT64_MAX / 4 && proves(s, alpha, proved + step))
	{
		proved += step;
		step *= 2;
	}
	fails = proved + step;
	while (fails - proved > 1 && fails - proved > (part == 0 ? 0 : proved / part))
	{
		int64_t		middle = proved + (fails - proved) / 2;

		if (proves(s, alpha, middle))
			proved = middle;
		else
			fails = middle;
	}
	return proved;
}

/* The largest cost of a step that an order of the grid proves; 0 if there is none. */
static int64_t
largest_step(const search *s)
{
	int64_t		best = 0;

	/* roughly, from the largest order down: the best of them, and few others, take a search */
	for (int i = s->alphas - 1; i >= 0; i--)
	{
		int64_t		next = best + best / COARSE + 1;

		if (proves(s, s->alpha[i], next))
			best = largest_of_order(s, s->alpha[i], next, COARSE);
	}
	for (int i = 0; i < s->alphas; i++)
	{
		if (proves(s, s->alpha[i], best + 1))
			best = largest_of_order(s, s->alpha[i], best + 1, 0);
	}
	return best;
}

bool
pe_plan_sampled(pe_fit_problem *problem, pe_cost *cost)
{
	pe_fit_plan *plan = &problem->plan;
	int64_t		atto = pe_atto_down(problem->delta);
	search		s;
	bool		fits;

	if (problem->substitute || problem->pure || problem->nano <= 0 || atto <= 0)
		return false;
	s.epsilon = (double) problem->nano * 1e-9 * (1 - 2 * DBL_EPSILON);
	s.delta = (double) atto * 1e-18 * (1 - 2 * DBL_EPSILON);
	if (!pe_epsilon_valid(s.epsilon) || !pe_delta_valid(s.delta))
		return false;

	plan->steps = (int32_t) problem->options.iterations;
	plan->sample = pe_sample_of(problem->options.sampling, &fits);
	plan->nano_count = pe_count_share(problem, pe_nano_rho_of_epsilon(s.epsilon, s.delta));
	if (plan->steps < 1 || !fits)
		return false;

	s.q = pe_sample_probability(plan->sample);
	s.steps = plan->steps;
	s.nano_count = plan->nano_count;
	choose_orders(&s);
	plan->nano_step = largest_step(&s);
	if (plan->nano_step == 0)
		return false;

	*cost = (pe_cost) {pe_nano_rho_of_pure(problem->nano), atto, 0};
	return cost->rho_nano > 0;
}

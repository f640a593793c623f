/*
 * fit_objpert.c
 *	  Objective perturbation: the minimiser of an objective with a random linear
 *	  term.
 *
 * Released: round((w^ + Y) / h), w^ a certified approximation of the minimiser
 * of
 *
 *	  J_D(w) = sum over rows of l_i(x_i.w) + Lambda/2 |w|^2 + b.w,   b ~ N(0, s^2 I),
 *
 * Y ~ N(0, t^2 I), h a power of two.  b and Y are continuous Gaussians; only
 * the integers floor(b / g) and floor(Y / h) are drawn, exactly (gauss.h).
 *
 * Neighbours: D and D' have their rows in common except k of a unit that is
 * added or removed, m = k; or for k rows that are replaced by k others, m = 2
 * k.  Below, U and U' are the rows that only D and only D' has: each at most k,
 * together at most m.
 *
 * Units cannot be clipped as a whole: 1. to 3. are about the minimiser of a sum
 * of convex losses, whose gradient no clipped sum is.
 *
 * Required: |x_i| <= R (public); |l'| <= 1, 0 <= l'' <= beta / R^2 almost
 * everywhere, l' Lipschitz: logistic (1/4), Huber's hinge (1).  Fewer than 2^34
 * rows.
 *
 * Theorem.  The output is (epsilon, delta)-DP with
 *
 *	  delta <= 2 m delta_G(epsilon - c),   c = k log(1 + beta / Lambda),
 *
 * delta_G that of a Gaussian of sensitivity v and standard deviation 1,
 * v^2 = r^2 + q^2, r = m R / s, q = 2 eta / t; eta is the distance below.
 * (fit/objpert.c solves this for s and t; the ledger is charged what epsilon
 * costs of a pure mechanism, and delta, which every (epsilon, delta)-DP release
 * keeps.)  Chaudhuri, Monteleoni and Sarwate 2011, and Kifer, Smith and
 * Thakurta 2012, are the origin; Redberg, Koskela and Wang, arXiv 2401.00583,
 * have such a bound for one row and the exact minimiser; Iyengar et al., S&P
 * 2019, release an approximate one with noise of its own.  The proof is here in
 * full.
 *
 * 1. w* = argmin J_D.  G_D(w) = sum l_i'(x_i.w) x_i + Lambda w is Lipschitz and
 *	  strongly monotone, so it is a bijection whose inverse is Lipschitz, and
 *	  w* = G_D^-1(-b).  By the area formula w* has the density
 *	  f_D(w) = phi_s(G_D(w)) det DG_D(w) at almost all w, where phi_s is that of
 *	  N(0, s^2 I) and DG_D >= Lambda exists almost everywhere (of Huber's hinge:
 *	  off the kinks).
 *
 * 2. Determinants.  DG_D = H + S, DG_D' = H + S', H >= Lambda of the common
 *	  rows and of the regulariser, S and S' >= 0 of the others.  log det DG_D -
 *	  log det DG_D' <= log det(I + H^-1/2 S H^-1/2).  That matrix S has rank at
 *	  most k and trace at most k beta: by concavity of the logarithm this is at
 *	  most c.
 *
 * 3. Exponents.  G_D' = G_D - u, u a sum over U and U' of +-l_i' x_i.  At
 *	  w = w*, where G_D = -b, the logarithm of phi_s(G_D) / phi_s(G_D') is
 *	  |u|^2 / (2 s^2) + u.b / s^2.  |u| <= m R.  u depends on b through l_i';
 *	  but |u.b| <= R sum over j <= m of |b.x_j| / |x_j|, and each b.x_j / |x_j|
 *	  is N(0, s^2), x_j being a constant.  So
 *
 *		log f_D(w*) / f_D'(w*) <= c + r^2 / 2 + (1/m) sum of r |Z_j|,   Z_j ~ N(0, 1).
 *
 * 4. The minimiser is approximate.  b^ = g floor(b / g) has |b^ - b| <= g
 *	  sqrt(d).  w^ is a point where the gradient of the objective with b^ is at
 *	  most tau long, so at most tau + g sqrt(d) for the one with b; by strong
 *	  convexity, and with w^ then rounded to multiples of h, |w^ -
 *	  w*| <= (tau + g sqrt(d)) / Lambda + h sqrt(d) / 2 <= eta.  How w^ was
 *	  found does not matter.  tau: the computed gradient is certified to be at
 *	  most 2^-16 R (minimise.h, all roundings in double included), and the rows'
 *	  derivatives, each wrong by at most 2^-50, change it by at most 2^34 2^-50
 *	  R.
 *
 * 5. Given D and w*, b = -G_D(w*) is determined, hence b^, hence w^.  So the
 *	  pair (w*, w^ + Y) is a composition: w*, then a Gaussian around a centre
 *	  within eta of w* whether the data are D or D'.  Given w* the centres
 *	  differ by at most 2 eta, and the loss of the second part is a Gaussian
 *	  with mean a^2 / 2 and variance a^2 for some a <= q.  The output is a
 *	  function of w^ + Y: w^ is a multiple of h, so
 *	  floor((w^ + Y) / h) = w^ / h + floor(Y / h).  It is post-processing of the
 *	  pair.
 *
 * 6. delta <= E h(L) under D, L the loss of the pair, h(x) = max(0, 1 -
 *	  exp(epsilon - x)), increasing.  Given b, E h(x + loss of the second part)
 *	  is the delta of a Gaussian at epsilon - x and so increases with a: a = q
 *	  is the worst, for any b.  A mean is at most the largest, and h >= 0, so
 *	  that
 *
 *		E h(L) <= sum over j <= m and both signs of E h(c + v^2 / 2 +- r Z_j + q Z'),
 *
 *	  and r Z_j + q Z' ~ N(0, v^2): each of the 2 m terms is delta_G(epsilon -
 *	  c).
 *
 * Besides: the samplers exclude events of probability below 2 exp(-2^13) (a
 * number of b / g beyond 2^53; gauss.h), which is nothing.  The theorem is not
 * about a dataset of more rows: 2^34 of them are days of passes.
 *
 * 7. The search is of a public number of passes, and all are always made
 *	  (minimise.h: what kind each is, and how many, is the same for all rows).
 *	  If it has not arrived by then, what is released is
 *	  round(-b' / Lambda) + Y, b' a linear term of its own: the answer of a
 *	  table without rows, which is not about the data.  Let p be the largest
 *	  chance of that, b being random, over all tables.  The release then differs
 *	  from the one above with probability at most p on each of two neighbours,
 *	  so that it is (epsilon, delta + (1 + e^epsilon) p)-DP.  The noise is
 *	  planned for delta less SEARCH_SHARE of it (fit/objpert.c), so that the
 *	  theorem holds for
 *
 *		p <= 2^-10 delta / (1 + e^epsilon).
 *
 *	  This bound on p is a premise.  It is not proved, and no proof is near:
 *	  Newton's method for these losses has bounds that grow with the largest
 *	  margin, which the rows may make as large as sqrt(n / Lambda), and cutting
 *	  planes take some 200 passes a column.  Somebody who may add rows of many
 *	  weights and sizes can look for a table that breaks it.  Of two such
 *	  tables, one row apart, found when 16 iterations were made, the search did
 *	  not arrive with the chances 0.24 and 0.33: their releases differed by a
 *	  delta of 0.09.  Looking on (climbing over the kinds of rows and how many
 *	  there are of each, up to 2^24) found logistic tables that take 25
 *	  iterations of 32; with a hinge still one, of 27 kinds of rows and four
 *	  columns, that half of the time takes more than 32, up to 57.  So the
 *	  premise is false for some tables; for those that nobody made for it
 *	  nothing is known against it (at most 8 iterations in test_hard).  For
 *	  every p the time of a fit, its passes and its NOTICEs show nothing, and
 *	  fewer iterations than the public number are refused to everybody: they
 *	  would make p large.  Because of the premise the method is the owner's
 *	  alone (pe_fit_is_proved).
 */
#include "fit/fit.h"

#include <math.h>

#include "fit/methods.h"
#include "glm/minimise.h"
#include "noise/gauss.h"

/* Of R: what the computed gradient is certified to, and tau, which includes the rows' errors. */
#define CERTIFIED 0x1p-16
#define TAU (CERTIFIED + 0x1p34 * PE_PRECISE_ERROR)

/* g sqrt(d) <= tau / 16, h sqrt(d) <= tau / Lambda / 16: eta is below tau / Lambda (1 + 1/16 + 1/32). */
#define LATTICE 16.0
#define ETA 1.125

/* Larger than any relative error of the few operations in double on public numbers here. */
#define SLACK (1 + 0x1p-40)

/* Numbers that all are public. */
typedef struct perturbation
{
	double		radius;			/* R, at least */
	int			linear_bits;	/* g = 2^-linear_bits */
	int			output_bits;	/* h */
	pe_gauss	linear;			/* b / g */
	pe_gauss	output;			/* Y / h */
} perturbation;

/* The largest b with 2^-b >= x / 2 and 2^-b <= x. */
static int
bits_of(double x)
{
	int			exponent;

	/* x = f 2^exponent, 1/2 <= f < 1 */
	frexp(x, &exponent);
	return 1 - exponent;
}

/* N(0, sigma^2) in units of 2^-bits, with a variance that is rounded up to an integer. */
static void
prepare_noise(pe_gauss *noise, double sigma, int bits)
{
	double		scaled = ldexp(sigma, bits) * SLACK;

	if (!(scaled * scaled < 0x1p119))
		pe_bug("objective perturbation was not planned");
	pe_gauss_init(noise, (pe_u128) ceil(scaled * scaled), 1);
}

static void
prepare_perturbation(perturbation *p, const pe_fit_problem *problem)
{
	double		radius = sqrt((double) problem->radius_sq) / PE_ONE;
	double		tau = TAU * radius * SLACK * SLACK;
	double		distance = tau / problem->plan.lambda * SLACK;
	double		lattice = LATTICE * sqrt(problem->shape->columns) * SLACK;

	p->radius = radius * SLACK;
	p->linear_bits = bits_of(tau / lattice);
	p->output_bits = bits_of(distance / lattice);
	prepare_noise(&p->linear, problem->plan.sigma * p->radius, p->linear_bits);
	prepare_noise(&p->output, problem->plan.output * ETA * distance, p->output_bits);
}

static void
draw_linear_term(const perturbation *p, int32_t columns, pe_bits *bits, double *b)
{
	for (int32_t j = 0; j < columns; j++)
		b[j] = ldexp((double) pe_gauss_floor_draw(&p->linear, bits), -p->linear_bits);
}

/* A number v 2^-scale as the nearest multiple of 2^-bits; both are below 2^58 and 2^110. */
static pe_i128
on_lattice(int64_t v, int32_t scale, int bits)
{
	int			shift = scale - bits;

	if (shift < -64 || shift > 126)
		pe_bug("objective perturbation has no lattice");
	if (shift <= 0)
		return (pe_i128) v * ((pe_i128) 1 << -shift);
	return ((pe_i128) v + ((pe_i128) 1 << (shift - 1))) >> shift;
}

/* The minimiser of the objective without rows. */
static void
minimise_nothing(const perturbation *p, double lambda, pe_u128 radius_sq, pe_bits *bits, pe_place *place)
{
	double	   *b = pe_alloc((size_t) place->columns, sizeof(*b));

	draw_linear_term(p, place->columns, bits, b);
	for (int32_t j = 0; j < place->columns; j++)
		b[j] = -b[j] / lambda;
	pe_place_set(place, b, NULL, radius_sq);
	pe_wipe(b, (size_t) place->columns * sizeof(*b));
	pe_free(b);
}

/* The place that is released: the one that was found if it is certified.  Both are worked out in any case. */
static const pe_place *
certified(const perturbation *p, const pe_place *found, const pe_place *nothing)
{
	return found->length <= CERTIFIED * p->radius ? found : nothing;
}

static void
release(const perturbation *p, const pe_place *minimum, pe_bits *bits, double *w)
{
	for (int32_t j = 0; j < minimum->columns; j++)
	{
		pe_i128		exact = on_lattice(minimum->v[j], minimum->scale, p->output_bits);

		w[j] = ldexp((double) (exact + pe_gauss_floor_draw(&p->output, bits)), -p->output_bits);
		pe_wipe(&exact, sizeof(exact));
	}
}

void
pe_fit_objpert(const pe_fit_problem *problem, pe_source *source, double *w)
{
	int32_t		columns = problem->shape->columns;
	double	   *b = pe_alloc((size_t) columns, sizeof(*b));
	pe_smooth	objective = {
		.source = source,
		.loss = pe_fit_loss(problem),
		.radius_sq = problem->radius_sq,
		.lambda = problem->plan.lambda,
		.linear = b,
	};
	perturbation p;
	pe_place	minimum;
	pe_place	nothing;
	pe_bits		bits;

	if (problem->model == PE_MODEL_LINEAR)
		pe_bug("objective perturbation of a regression");
	prepare_perturbation(&p, problem);
	pe_allowance_take(problem->allowance, problem->nano);	/* for both draws: the theorem is about the pair */
	pe_bits_init(&bits);
	draw_linear_term(&p, columns, &bits, b);
	pe_place_init(&nothing, columns);
	minimise_nothing(&p, problem->plan.lambda, problem->radius_sq, &bits, &nothing);
	pe_minimise(&objective, CERTIFIED * p.radius, (int32_t) problem->options.iterations, true, &minimum);
	release(&p, certified(&p, &minimum, &nothing), &bits, w);
	pe_bits_wipe(&bits);
	pe_place_free(&minimum);
	pe_place_free(&nothing);
	pe_wipe(b, (size_t) columns * sizeof(*b));
	pe_free(b);
	if (problem->trace != NULL)
		problem->trace(problem->trace_argument, 1, w);
}

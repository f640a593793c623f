/*
 * zcdp.c
 *	  What zCDP promises, and what single mechanisms cost in it.  See conversion.h for the
 *	  statements and their sources.
 *
 * Every formula is written as a sum of terms of one sign before it is evaluated,
 * wherever the published form cancels; then a small multiple of the rounding
 * error of the result bounds the error.
 */
#include "accounting/filter.h"

#include <math.h>

/*
 * epsilon = tau + ln(1 - 1/alpha) + (ln(1/delta) - ln alpha) / (alpha - 1) with
 * alpha = 1 + t and ln(1 - 1/alpha) = -log1p(1/t).
 *
 * The bound on the error: tau passes two additions; each logarithm errs by
 * PE_LIBM_ERROR (16 roundings) and passes at most four operations, the rounding
 * of 1/t among them, which log1p does not amplify.  The 1 that is added to the
 * logarithms over t covers that delta's double is half a unit away from the
 * decimal that it stands for.
 */
double
pe_renyi_epsilon(double tau, double t, double delta)
{
	double		log_ratio;
	double		log_alpha;
	double		log_inverse_delta;
	double		value;
	double		error;

	if (!(tau >= 0) || !(t > 0) || isinf(t) || !pe_delta_valid(delta))
		return INFINITY;

	log_ratio = log1p(1 / t);
	log_alpha = log1p(t);
	log_inverse_delta = -log(delta);
	value = (tau - log_ratio) + (log_inverse_delta - log_alpha) / t;
	error = PE_ROUNDOFF *
		(3 * tau + 24 * log_ratio + 24 * (log_inverse_delta + log_alpha + 1) / t);
	return pe_round_up(value, error);
}

/*
 * The t = alpha - 1 that makes pe_renyi_epsilon((1 + t) rho, t, delta)
 * smallest, with l = ln(1/delta).
 *
 * The derivative of that epsilon by t is rho + (log1p(t) - l) / t^2, so the
 * best t is the root of f(t) = rho t^2 + log1p(t) - l, which increases from -l.
 * Both terms of f are at most l at the root, hence the upper end of the
 * bracket; log1p(t) <= t gives the lower end.  Newton's method runs inside the
 * bracket and falls back on halving it (in logarithms).  Any t that it returns
 * is valid; an error in t enters epsilon squared.
 */
static double
best_order(double rho, double l)
{
	double		lo = 2 * l / (1 + sqrt(1 + 4 * rho * l));
	double		hi = fmin(fmin(sqrt(l / rho), expm1(l)), 1e150);
	double		t = hi;

	for (int i = 0; i < 200; i++)
	{
		double		f = rho * t * t + log1p(t) - l;
		double		next = t - f / (2 * rho * t + 1 / (1 + t));

		if (fabs(next - t) <= 1e-13 * t)
			break;
		if (f > 0)
			hi = t;
		else
			lo = t;
		if (!(next > lo && next < hi))
			next = sqrt(lo) * sqrt(hi);
		t = next;
	}
	return t;
}

double
pe_zcdp_epsilon(double rho, double delta)
{
	double		floor_epsilon;
	double		t;
	double		tau;

	if (!(rho >= 0) || isinf(rho) || !pe_delta_valid(delta))
		return INFINITY;
	if (rho == 0)
		return 0;

	/*
	 * Two roundings for the product and its factor; two more because rho
	 * stands for a number of nano-units times 1e-9.
	 */
	floor_epsilon = pe_round_up(rho, 2 * PE_ROUNDOFF * rho);
	t = best_order(rho, -log(delta));
	tau = (1 + t) * rho;
	tau = pe_round_up(tau, 4 * PE_ROUNDOFF * tau);
	return fmax(floor_epsilon, pe_renyi_epsilon(tau, t, delta));
}

/*
 * Bisection over r on the predicate epsilon(r) <= epsilon, epsilon(r) being what
 * pe_zcdp_epsilon(r * 1e-9, delta) returns.
 *
 * epsilon(r) strictly increases, so the r of a given epsilon(r) is found again.
 * Proof: the exact function is the larger of rho and an infimum over alpha > 1
 * of terms with slope alpha in rho, so it grows by at least 1e-9 per nano-unit.
 * What is computed lies above it by at most twice the error bounds plus a few
 * steps of the double grid: for epsilon <= 1e5 these are below 2.5e-10 for the
 * part that scales with epsilon (22 roundings of 1.1e-16 times 1e5), and below
 * 1e-10 for the logarithms over t (t >= 0.0025 for delta <= 1/2, since
 * t >= 2l / (1 + sqrt(1 + 4 rho l)) with l = ln(1/delta) and rho <= 1e5).  The
 * order found errs by about 1e-13, squared.  Together that is less than one
 * step of 1e-9.
 *
 * Outside that range the result still satisfies the predicate, because lo is
 * only ever moved to an r that does.
 */
int64_t
pe_zcdp_nano_rho(double epsilon, double delta)
{
	int64_t		lo = 0;
	int64_t		hi;

	if (!(epsilon > 0) || isinf(epsilon) || !pe_delta_valid(delta))
		return 0;

	/* epsilon(r) > r * 1e-9, so that hi is too large */
	hi = (int64_t) (fmin(epsilon, 4e9) * 1e9) + 2;
	while (hi - lo > 1)
	{
		int64_t		middle = lo + (hi - lo) / 2;

		if (pe_zcdp_epsilon((double) middle * 1e-9, delta) <= epsilon)
			lo = middle;
		else
			hi = middle;
	}
	return lo;
}

double
pe_pure_to_zcdp(double epsilon)
{
	double		value;

	if (!(epsilon >= 0))
		return INFINITY;
	if (epsilon == 0)
		return 0;

	/* one call of libm, one product, and twice the half unit of epsilon's decimal */
	value = epsilon * tanh(epsilon / 2);
	return pe_round_up(value, 20 * PE_ROUNDOFF * value);
}

/*
 * x + exp(-x) - 1 for x >= 0.  Below 1/2 by the series
 * x^2/2 (1 - x/3 (1 - x/4 (1 - ...))), in which nothing cancels much; above, the
 * value is at least a fifth of x.
 */
static double
laplace_loss(double x)
{
	double		series = 1;

	if (x >= 0.5)
		return x + expm1(-x);
	for (int k = 20; k >= 3; k--)
		series = 1 - x / k * series;
	return x * x / 2 * series;
}

/*
 * (sinh x - x) / sinh x for x > 0: below 1 by the series of sinh x - x, all of
 * whose terms are positive.  When sinh overflows, the result is 1.
 */
static double
sinh_excess(double x)
{
	double		series = 1;

	if (x >= 1)
		return 1 - x / sinh(x);
	for (int k = 10; k >= 2; k--)
		series = 1 + x * x / (2 * k * (2 * k + 1)) * series;
	return x * x / 6 * (x / sinh(x)) * series;
}

/*
 * 2 q / (1 - q^2) = 1 / sinh a, so that with x = a D
 *
 *		rho = x - (1 - exp(-x)) a / sinh a
 *			= (x + exp(-x) - 1) + (1 - exp(-x)) (sinh a - a) / sinh a,
 *
 * a sum of two positive terms.
 */
double
pe_discrete_laplace_rho(double a, int64_t sensitivity)
{
	double		x;

	if (!(a >= 0) || sensitivity < 0)
		return INFINITY;
	if (a == 0 || sensitivity == 0)
		return 0;
	if (isinf(a))
		return INFINITY;

	x = a * (double) sensitivity;
	return pe_round_up_relative(laplace_loss(x) - expm1(-x) * sinh_excess(a));
}

/*
 * h coth h - 1 for h > 0: below 1 as the sum of 2k h^(2k) / (2k+1)! divided by
 * sinh h / h.
 */
static double
coth_excess(double h)
{
	double		power = 1;
	double		sum = 0;

	if (h >= 1)
		return h * (1 + 2 / expm1(2 * h)) - 1;
	for (int k = 1; k <= 10; k++)
	{
		power *= h * h / (2 * k * (2 * k + 1));
		sum += 2 * k * power;
	}
	return sum * (h / sinh(h));
}

/* ln(sinh h / h) for h > 0, below 1 by the series of sinh h / h - 1. */
static double
log_sinh_ratio(double h)
{
	double		power = 1;
	double		sum = 0;

	if (h >= 1)
		return h + log1p(-exp(-2 * h)) - log(2 * h);
	for (int k = 1; k <= 10; k++)
	{
		power *= h * h / (2 * k * (2 * k + 1));
		sum += power;
	}
	return log1p(sum);
}

/*
 * With h = eta / 2, eta / (exp(eta) - 1) = h coth h - h, and also
 * = exp(-h) h / sinh h.  The first for y, the second for ln y give
 *
 *		rho = (h coth h - 1) + ln(sinh h / h),
 *
 * two positive terms, h^2/3 and h^2/6 for small h.
 */
double
pe_bounded_range_rho(double eta)
{
	double		h = eta / 2;

	if (!(eta >= 0))
		return INFINITY;
	if (h == 0)
		return eta == 0 ? 0 : DBL_TRUE_MIN;
	return pe_round_up_relative(coth_excess(h) + log_sinh_ratio(h));
}


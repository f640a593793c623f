/*
 * fit_outpert.c
 *	  Output perturbation: gradient descent whose last weights get noise.
 *
 * Released: round(w_T / h) + Y for w_T after T steps, all from exact passes,
 *
 *	  w_(t+1) = w_t - a_D grad F_D(w_t),  w_0 = 0,  F_D(w) = sum over rows of l_i(x_i.w),
 *
 * h a public power of two, Y discrete Gaussian or discrete Laplace noise of step 1.
 *
 * Neighbours: k rows of a unit are added or removed.  Replacing them is both, one
 * after the other: twice the sensitivity.
 *
 * Required: |x_i| <= R, |l'| <= 1, 0 <= l'' <= beta / R^2 (logistic, Huber's hinge).  No
 * gradient is clipped: none is longer than R, and a clip that binds would make
 * grad F_D the gradient of no convex function, so that 1. below would not hold.  For the same
 * reason what a unit's rows give together is not clipped.
 *
 * The step a_D.  A guess N of the number of rows is public (or was released); the number n
 * itself is not.  With rate r <= 2, c = 2 / r and x = n / N,
 *
 *	  a_D = (r / beta) g(x) / N,   g(x) = 1 - x / (4 c) for x <= 2 c, c / x beyond.
 *
 * Sensitivity: |w_T(D) - w_T(D')|_2 <= S = T (r / beta) k R / N, for every n.  D' = D
 * without k rows, n' = n - k (or fewer; the bound grows with k):
 *
 * 1. w -> w - a_D' grad F_D'(w) is not expansive, since F_D' is convex with a gradient
 *	  whose Lipschitz constant is at most n' beta, and a_D' n' beta = r x' g(x') <= 2: x (1 - x
 *	  / (4 c)) <= c always.
 *
 * 2. At one w the two steps differ by at most (r / beta) k R / N.  With U' = grad F_D'(w), |U'| <=
 *	  n' R, and u the rows' own gradient, |u| <= k R:
 *
 *		a_D (U' + u) - a_D' U' = (r / beta) (g(x) u - (g(x') - g(x)) U') / N,
 *
 *	  whose length is at most (r / beta) R (k g(x) + n' (g(x') - g(x))) / N.  g falls, with
 *	  slope -1 / (4 c) up to 2 c and less steeply, -c / x^2, beyond; it is differentiable.
 *	  If x' <= 2 c: g(x') - g(x) <= (k / N) / (4 c), so k g(x) + x' k / (4 c) <= k: for x <= 2 c because
 *	  g(x) = 1 - x / (4 c) <= 1 - x' / (4 c), beyond because g(x) <= 1/2 and x' / (4 c) <= 1/2.
 *	  If x' > 2 c: g(x') - g(x) <= (k / N) c / x'^2, so k g(x) + k c / x' <= k/2 + k/2.
 *
 * 3. So T steps add up to S.  (Wu et al., SIGMOD 2017, have this for the mean of a
 *	  public number of rows.)
 *
 * What is computed is not quite that: weights are rounded to a lattice (minimise.h), a row's
 * derivative is good to e = 2^-50, and double rounds.  Each step adds such an error, and
 * by 1. it does not grow afterwards.  With |w_t| <= W = 2 T R / beta (a_D n <= 2 / beta), a
 * step's error is at most
 *
 *	  (R / beta) 2^-46 + W 2^-52 + sqrt(d) 2^-(s + 31):
 *
 * rows 2 e R / beta and the gradient's roundings as much again several times over;
 * two roundings of w; at most a step of the lattice, where s is a scale that pe_weights_set
 * reaches for every w as long as W.  `error' is T times that, and
 *
 *	  |round(w / h) - round(w' / h)|_2 <= (S + 2 error) / h + sqrt(d),
 *
 * rounded up to an integer, is what the noise is for; in the L1 norm sqrt(d) times it.
 *
 * Cost: nano, of rho (gaussian.h) or of a pure epsilon (laplace.h); where N is not
 * given, a part of it is for a noisy number of rows, which is drawn first.
 */
#include "fit/methods.h"

#include <math.h>

#include "glm/minimise.h"
#include "noise/noise.h"

/* Larger than any relative error of the few operations in double on public numbers here. */
#define SLACK (1 + 0x1p-40)

/* S is at least so many h, unless weights would not fit; they are below 2^WEIGHT_BITS h. */
#define STEPS_BITS 16
#define WEIGHT_BITS 60

/* R / beta = 1 / (R max l'') */
static double
unit_step(const pe_fit_problem *problem)
{
	return PE_ONE / (sqrt((double) problem->radius_sq) * pe_loss_curvature(pe_fit_loss(problem)));
}

/* A scale that pe_weights_set reaches for |w| <= most: |v| < 2^26, and all margins below 2^42. */
static int
least_scale(double most, double radius, double columns)
{
	int			scale = 30;

	while (ldexp(most, scale) + 1 > 0x1p26 || (ldexp(most, scale) + sqrt(columns)) * radius > 0x1p42)
		scale--;
	return scale;
}

void
pe_outpert_prepare(const pe_fit_problem *problem, double rows, pe_outpert *o)
{
	const pe_fit_options *options = &problem->options;
	double		steps = options->iterations;
	double		columns = problem->shape->columns;
	double		unit = unit_step(problem);
	double		most = 2 * steps * unit * SLACK;
	int			scale = least_scale(most, sqrt((double) problem->radius_sq), columns);
	double		units;

	if (problem->model == PE_MODEL_LINEAR || !(options->rate <= 2) || !(rows >= 1))
		pe_bug("output perturbation has no sensitivity here");
	o->rows = rows;
	o->sensitivity = steps * options->rate * unit * problem->max_rows / rows * SLACK;
	if (problem->substitute)
		o->sensitivity *= 2;
	o->error = steps * (unit * 0x1p-46 + most * 0x1p-52 + sqrt(columns) * ldexp(1, -scale - PE_FINE_BITS)) * SLACK;
	o->bits = STEPS_BITS - ilogb(o->sensitivity);
	if (o->bits > WEIGHT_BITS - 1 - ilogb(most))
		o->bits = WEIGHT_BITS - 1 - ilogb(most);
	units = ldexp(o->sensitivity + 2 * o->error, o->bits) + sqrt(columns);
	if (!(units < 0x1p46))
		pe_bug("output perturbation of too many steps");
	o->steps = (uint64_t) ceil(units * SLACK) + 1;
}

/* The number of rows, exactly: it is not released. */
static double
count_rows(pe_source *source)
{
	pe_i128		sums[2] = {0, 0};
	pe_pass		pass = {.kind = PE_PASS_COUNT};
	double		rows;

	source->run(source, &pass, sums);
	rows = (double) sums[0];
	pe_wipe(sums, sizeof(sums));
	return rows;
}

/* a_D */
static double
step_length(const pe_fit_problem *problem, const pe_outpert *o, double rows)
{
	double		radius = sqrt((double) problem->radius_sq) / PE_ONE;
	double		c = 2 / problem->options.rate;
	double		x = rows / o->rows;
	double		g = x <= 2 * c ? 1 - x / (4 * c) : c / x;

	return problem->options.rate * unit_step(problem) / radius * g / o->rows;
}

static void
descend(pe_place *place, const pe_smooth *f, double length)
{
	pe_place_evaluate(place, f);
	for (int32_t j = 0; j < place->columns; j++)
		place->w[j] -= length * place->gradient[j];
	pe_place_set(place, place->w, NULL, f->radius_sq);
}

void
pe_outpert_exact(const pe_fit_problem *problem, pe_source *source, const pe_outpert *o, pe_i128 *exact)
{
	pe_smooth	f = {.source = source, .loss = pe_fit_loss(problem), .radius_sq = problem->radius_sq};
	double		length = step_length(problem, o, count_rows(source));
	pe_place	place;

	pe_place_init(&place, problem->shape->columns);
	pe_place_set(&place, place.w, NULL, f.radius_sq);
	for (int32_t t = 0; t < (int32_t) problem->options.iterations; t++)
		descend(&place, &f, length);
	for (int32_t j = 0; j < place.columns; j++)
		exact[j] = (pe_i128) rint(ldexp(place.w[j], o->bits));
	pe_place_free(&place);
}

/* The L1 sensitivity is at most sqrt(d) times that of L2, and its rounding: steps has a unit more than it needs. */
static void
add_noise(const pe_fit_problem *problem, const pe_outpert *o, pe_i128 *exact, int64_t nano, int64_t *released)
{
	size_t		columns = (size_t) problem->shape->columns;
	double		steps_l1 = ceil((double) o->steps * sqrt((double) columns) * SLACK);

	pe_noise_draw(problem->allowance, problem->accounting == PE_PURE ? (pe_u128) steps_l1
				  : (pe_u128) o->steps * o->steps, nano, exact, columns, released);
}

void
pe_fit_outpert(const pe_fit_problem *problem, pe_source *source, double *w)
{
	size_t		columns = (size_t) problem->shape->columns;
	int64_t		of_rows = pe_count_share(problem, problem->nano);
	pe_i128    *exact = pe_alloc(columns, sizeof(*exact));
	int64_t    *released = pe_alloc(columns, sizeof(*released));
	pe_outpert	o;

	pe_outpert_prepare(problem, pe_first_order_rows(problem, source, of_rows), &o);
	pe_outpert_exact(problem, source, &o, exact);
	add_noise(problem, &o, exact, problem->nano - of_rows, released);
	for (size_t j = 0; j < columns; j++)
		w[j] = ldexp((double) released[j], -o.bits);
	pe_free(exact);
	pe_free(released);
	if (problem->trace != NULL)
		problem->trace(problem->trace_argument, 1, w);
}

/*
 * fit_agd.c
 *	  Gradient descent with a privately chosen step and a noise that adapts: Algorithm 2
 *	  of Lee and Kifer, "Concentrated Differentially Private Gradient Descent with Adaptive
 *	  per-Iteration Privacy Budget", KDD 2018, as it was meant.
 *
 * A round measures the sum of clipped gradients at w with noise of cost g, and chooses
 * one of the steps 0, a, 2a, .. along the negative normed measurement, by the sum of the
 * clipped losses there.  If 0 is chosen, the direction was noise: the gradient is
 * measured once more from the same sums, at cost gamma g, the two are averaged by their
 * costs, g grows by as much, and a step is chosen again.
 *
 * Released: those measurements (measure.h: neighbours, sensitivities), and the numbers
 * of the chosen steps: the exponential mechanism (select.h).  The regulariser's part of a
 * loss is public and added to all.  All else is post-processing.
 *
 * Sensitivity of a selection, which depends on differences of scores only.  A row x whose
 * margin is m at w has the margin m - alpha u'x at the step alpha, and |u'x| <= |u| R with
 * R^2 = radius_sq, the public bound of |x|^2; u is the direction in the integers that the
 * pass uses.  So all its margins lie in an interval of length S = a |u| R, a the longest
 * step, and its losses in an interval of that length, since they change by at most 1 for
 * each 1 of the margin; clipping to [0, loss_cap] does not increase that.  All scores move
 * by a common number and something between 0 and D = min(S, loss_cap), which is what
 * select.h calls monotone; k rows: k D, or sqrt(k) D where what they give together is clipped
 * to that (glm/unit_clip.h).  substitute: twice that.  S is public: steps and u are
 * functions of what was released before, and the filter allows that.
 *
 * D is an upper bound of float32 losses in integers, as in fit_privgene.c: for |m| <= 48
 * and S, loss_cap <= 16 a loss of at most loss_cap errs by less than 2 units of 2^-15 at
 * either end of the interval (u'x and a moved margin in float32 by 2^-16, the loss by
 * 2^-18, rounding by half a unit), and SLACK is 8.  For |m| > 48 a row's losses do not
 * differ.  For longer ways or higher caps D = loss_cap.
 *
 * Cost: what was spent is counted in integers, and a primitive runs only if it fits into
 * what is left of problem->nano: a privacy filter, which allows costs that depend on what
 * was released before (accounting/filter.h).  It ends when a round, or a retry with its
 * selection, no longer fits.
 *
 * Other than the printed algorithm: selections by the exponential mechanism, which costs
 * 4.9 times less than Laplace noise for the same accuracy; unnormalised measurements are
 * averaged; costs are fixed by a planned number of rounds (options iterations, share), or
 * with the option splits by the paper's division.  Steepest descent stalls where a hinge
 * bends and the range only shrinks; adjust 0 has steps of equal ratios instead (an SVM of
 * much budget gains a point of accuracy by it).  A measurement that does not fit is not
 * made, instead of being thrown away.
 */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "fit/measure.h"
#include "fit/methods.h"
#include "noise/noise.h"

/* The range of steps grows by so much over the largest of the last ones. */
#define GROWTH 1.1

/* No range is larger: no step of use is, and steps of any number of rounds stay finite in float32. */
#define LARGEST_RANGE 0x1p30

/* Up to this the sensitivity follows from the longest step. */
#define SHORT_WAY 16.0

/* Units of a loss that float32 may add. */
#define SLACK 8

/* So many steps of equal ratios double. */
#define STEPS_OF_A_DOUBLING 3

typedef struct descent
{
	const pe_fit_problem *problem;
	pe_source  *source;
	int32_t		columns;
	double	   *w;
	double	   *gradient;		/* the average of what was measured in this round */
	double	   *again;			/* a measurement more */
	double	   *direction;		/* of length 1 */
	pe_pass		gradients;
	pe_pass		losses;
	int64_t		left;			/* of the cost */
	int64_t		of_gradient;	/* what this round's measurements cost so far, and the next round's first will */
	int64_t		of_selection;
	double		range;			/* of steps */
	double		largest;		/* of the steps since the range was adjusted */
} descent;

/* ----------
 * Choosing a step
 * ----------
 */

/* The regulariser at w - alpha direction in units of the losses: public, the same for all data. */
static pe_i128
regulariser(const descent *d, double alpha)
{
	double		sum = 0;

	for (int32_t j = 0; j < d->columns; j++)
	{
		double		v = d->w[j] - alpha * d->direction[j];

		sum += v * v;
	}
	return (pe_i128) fmin(ldexp(d->problem->options.l2 / 2 * sum, PE_LOSS_BITS), 0x1p100);
}

/* The direction of the measured gradient of the regularised sum. */
static void
set_direction(descent *d)
{
	double		norm = 0;

	for (int32_t j = 0; j < d->columns; j++)
	{
		d->direction[j] = d->gradient[j] + d->problem->options.l2 * d->w[j];
		norm += d->direction[j] * d->direction[j];
	}
	norm = sqrt(norm);
	for (int32_t j = 0; j < d->columns && norm > 0; j++)
		d->direction[j] /= norm;
}

/*
 * Steps of equal distances in a range that follows the last ones or, with adjust 0, of
 * equal ratios: short ones when they are called for, and long ones again after that.
 */
static double
step_of(const descent *d, int32_t candidate)
{
	const pe_fit_options *o = &d->problem->options;

	if (o->adjust > 0)
		return d->range * candidate / o->candidates;
	return candidate == 0 ? 0 : d->range * exp2((candidate - o->candidates) / STEPS_OF_A_DOUBLING);
}

/* How far a margin moves at most on the longest step; rounded up. */
static double
longest_way(const descent *d)
{
	const pe_weights *u = &d->losses.direction;
	double		radius = sqrt((double) d->problem->radius_sq) / PE_ONE;
	double		longest = 0;
	double		sum = 0;

	for (int32_t c = 0; c < d->losses.candidates; c++)
		longest = fmax(longest, (double) d->losses.alpha[c]);
	for (int32_t j = 0; j < d->columns; j++)
		sum += (double) u->v[j] * u->v[j];
	return longest * radius * ldexp(sqrt(sum), -u->scale) * (1 + 1e-9);
}

/* How far the scores that one row changes can move apart, in units of a loss. */
static pe_u128
spread(const descent *d)
{
	double		way = longest_way(d);
	double		units = ceil(ldexp(way, PE_LOSS_BITS)) + SLACK;

	if (!(way <= SHORT_WAY) || d->problem->options.loss_cap > SHORT_WAY || units > d->losses.cap)
		return (pe_u128) d->losses.cap;
	return (pe_u128) units;
}

/* The number of a step, 0 for none; the caller has seen that it can be paid for. */
static int32_t
choose_step(descent *d)
{
	const pe_fit_problem *problem = d->problem;
	pe_u128		rows = (pe_u128) pe_fit_unit_rows(problem);
	pe_exact_sums scores;
	int32_t		chosen;

	pe_weights_set(&d->losses.weights, d->w, d->columns, problem->radius_sq);
	pe_weights_set(&d->losses.direction, d->direction, d->columns, problem->radius_sq);
	for (int32_t c = 0; c < d->losses.candidates; c++)
		d->losses.alpha[c] = (float) step_of(d, c);
	d->losses.clip = (pe_u128) ((double) spread(d) * pe_fit_unit_length(problem));
	pe_exact_run(d->source, &d->losses, &scores);
	for (int32_t c = 0; c < d->losses.candidates; c++)
		scores.sums[c] += regulariser(d, d->losses.alpha[c]);
	chosen = pe_draw_least(problem->allowance, scores.sums, d->losses.candidates, rows * d->losses.clip,
						   !problem->substitute, d->of_selection);
	pe_exact_wipe(&scores);
	d->left -= d->of_selection;
	return chosen;
}

/* ----------
 * A round
 * ----------
 */

/* One measurement more of the same sums, averaged with what there is by cost. */
static void
measure_again(descent *d, const pe_exact_sums *sums, int64_t nano)
{
	double		before = (double) d->of_gradient;
	double		more = (double) nano;

	pe_measure_sums(d->problem, &d->gradients, sums, nano, d->again);
	d->left -= nano;
	for (int32_t j = 0; j < d->columns; j++)
		d->gradient[j] = (before * d->gradient[j] + more * d->again[j]) / (before + more);
	d->of_gradient += nano;
}

/* True if w moved; false if the cost is used up. */
static bool
search(descent *d, const pe_exact_sums *sums)
{
	for (;;)
	{
		int64_t		more = pe_fit_agd_increment(d->problem, d->of_gradient);
		int32_t		chosen;

		set_direction(d);
		chosen = choose_step(d);
		if (chosen > 0)
		{
			for (int32_t j = 0; j < d->columns; j++)
				d->w[j] -= (double) d->losses.alpha[chosen] * d->direction[j];
			d->largest = fmax(d->largest, (double) d->losses.alpha[chosen]);
			return true;
		}
		if (d->left < more + d->of_selection)
			return false;
		measure_again(d, sums, more);
	}
}

static bool
one_round(descent *d)
{
	pe_exact_sums sums;
	bool		moved;

	if (d->left < d->of_gradient + d->of_selection)
		return false;
	pe_weights_set(&d->gradients.weights, d->w, d->columns, d->problem->radius_sq);
	pe_exact_run(d->source, &d->gradients, &sums);
	pe_measure_sums(d->problem, &d->gradients, &sums, d->of_gradient, d->gradient);
	d->left -= d->of_gradient;
	moved = search(d, &sums);
	pe_exact_wipe(&sums);
	return moved;
}

static void
rounds(descent *d)
{
	int32_t		adjust = (int32_t) d->problem->options.adjust;

	for (int32_t round = 1; one_round(d); round++)
	{
		if (d->problem->trace != NULL)
			d->problem->trace(d->problem->trace_argument, round, d->w);
		if (adjust > 0 && round % adjust == 0)
		{
			d->range = fmin(GROWTH * d->largest, LARGEST_RANGE);
			d->largest = 0;
		}
	}
}

/* ----------
 * Preparation
 * ----------
 */
static void
prepare_losses(descent *d)
{
	const pe_fit_options *o = &d->problem->options;

	memset(&d->losses, 0, sizeof(d->losses));
	d->losses.kind = PE_PASS_LOSSES;
	d->losses.loss = d->gradients.loss;
	d->losses.unit_clip = pe_fit_clips_units(d->problem);
	d->losses.candidates = (int32_t) o->candidates + 1;
	d->losses.cap = (int32_t) fmax(1, ldexp(o->loss_cap, PE_LOSS_BITS));
	d->losses.weights.v = pe_alloc((size_t) d->columns, sizeof(int32_t));
	d->losses.direction.v = pe_alloc((size_t) d->columns, sizeof(int32_t));
}

void
pe_fit_agd(const pe_fit_problem *problem, pe_source *source, double *w)
{
	size_t		columns = (size_t) problem->shape->columns;
	double	   *work = pe_alloc(3 * columns, sizeof(*work));
	descent		d;

	memset(&d, 0, sizeof(d));
	d.problem = problem;
	d.source = source;
	d.columns = problem->shape->columns;
	d.w = w;
	d.gradient = work;
	d.again = work + columns;
	d.direction = work + 2 * columns;
	d.left = problem->nano;
	pe_fit_agd_costs(problem, &d.of_gradient, &d.of_selection);
	d.range = problem->options.step_max;
	pe_gradient_pass(problem, problem->options.clip, &d.gradients);
	prepare_losses(&d);
	memset(w, 0, columns * sizeof(*w));
	rounds(&d);
	pe_gradient_free(&d.gradients);
	pe_free(d.losses.weights.v);
	pe_free(d.losses.direction.v);
	pe_free(work);
}

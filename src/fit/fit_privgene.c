/*
 * fit_privgene.c
 *	  One coordinate at a time, chosen privately: PrivGene (Zhang et al., SIGMOD
 *	  2013) as greedy coordinate descent, in the form that the papers compare
 *	  with.
 *
 * In each round one of the 2 d steps w + s e_j, w - s e_j is taken, by the sum
 * of the clipped losses there; s falls by the factor decay.  Released: the
 * numbers of the chosen steps, by the exponential mechanism or, for a pure
 * epsilon, permute-and-flip (select.h); all else is post-processing.  Cost:
 * problem->nano / iterations for each, the last one gets what rounding left
 * (adaptive composition).
 *
 * Sensitivity.  A selection depends on differences of scores only.  One row
 * adds to each of the 2 d scores its loss at a margin that is at most s away
 * from its margin m at w, since |x_j| <= PE_ONE; the losses change by at most 1
 * for each 1 of the margin, and clipping at loss_cap does not increase that.
 * So what a row adds lies in an interval of length 2 s around its loss at m,
 * and in [0, loss_cap]: all scores move by a common number and something
 * between 0 and D = min(2 s, loss_cap), which is what select.h calls monotone;
 * k rows: k D, or sqrt(k) D where what they give together is clipped to
 * that (glm/unit_clip.h).  substitute: twice that.
 *
 * That argument is about float32 losses; D is made an upper bound of it in
 * integers: for |m| <= 48 and s, loss_cap <= 16 margins stay below 64, where a
 * loss errs by less than 2^-19 (glm/loss.h), a margin moved in float32 by less
 * than 2^-16, and rounding to units of 2^-15 costs half of one each time: less
 * than 2 units for each side of the interval, and SLACK is 4.  For |m| > 48 all
 * of a row's losses are above 16, and clipped to loss_cap, or below 2^-40, and
 * rounded to 0: they do not differ at all.  For longer steps or higher caps
 * D = loss_cap.
 */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "fit/measure.h"
#include "fit/methods.h"
#include "noise/noise.h"

/* Up to this the sensitivity follows from the step. */
#define SHORT_STEP 16.0

/* Units of a loss that float32 may add on each side. */
#define SLACK 4

/* How far the scores that one row changes can move apart, in units of a loss. */
static pe_u128
spread(const pe_fit_problem *problem, int32_t cap, float step)
{
	double		both = 2 * (ceil(ldexp((double) step, PE_LOSS_BITS)) + SLACK);

	if ((double) step > SHORT_STEP || problem->options.loss_cap > SHORT_STEP || both > cap)
		return (pe_u128) cap;
	return (pe_u128) both;
}

static int32_t
choose_coordinate(const pe_fit_problem *problem, pe_source *source, pe_pass *pass, int64_t nano)
{
	pe_u128		rows = (pe_u128) pe_fit_unit_rows(problem);
	pe_exact_sums scores;
	int32_t		chosen;

	pass->clip = (pe_u128) ((double) spread(problem, pass->cap, pass->step) * pe_fit_unit_length(problem));
	pe_exact_run(source, pass, &scores);
	chosen = pe_draw_least(problem->allowance, scores.sums, (int32_t) scores.count,
						   rows * pass->clip, !problem->substitute, nano);
	pe_exact_wipe(&scores);
	return chosen;
}

void
pe_fit_privgene(const pe_fit_problem *problem, pe_source *source, double *w)
{
	const pe_fit_options *o = &problem->options;
	int32_t		columns = problem->shape->columns;
	int32_t		rounds = (int32_t) o->iterations;
	int64_t		each = problem->nano / rounds;
	double		step = o->step_max;
	pe_pass		pass;

	/* the weights' memory and the loss are those of a gradient */
	pe_gradient_pass(problem, 1, &pass);
	pass.kind = PE_PASS_COORDINATES;
	pass.cap = (int32_t) fmax(1, ldexp(o->loss_cap, PE_LOSS_BITS));
	memset(w, 0, (size_t) columns * sizeof(*w));
	for (int32_t round = 1; round <= rounds; round++)
	{
		int32_t		chosen;

		pass.step = (float) step;
		pe_weights_set(&pass.weights, w, columns, problem->radius_sq);
		chosen = choose_coordinate(problem, source, &pass, round < rounds ? each : problem->nano - (rounds - 1) * each);
		w[chosen % columns] += (chosen < columns ? 1 : -1) * (double) pass.step;
		if (problem->trace != NULL)
			problem->trace(problem->trace_argument, round, w);
		step *= o->decay;
	}
	pe_gradient_free(&pass);
}

/*
 * fit_plain.c
 *	  Fits without noise, for owners only: what private ones are compared with.
 *
 * Released: a function of the rows.  Neither is private; nothing is charged,
 * since no charge would make it so.  The api admits owners of the table alone
 * (pe_fit_is_private).
 *
 * nonprivate: the minimiser of the sum of the losses and l2/2 |w|^2, an SVM's
 * with Huber's hinge, after at most `iterations' steps.  How many depends on
 * the rows; their owner sees it.  With l2 = 0 there need be none (classes
 * that a plane separates): the weights then are as far as the steps went.
 *
 * majority: the answer that needs no feature.  The intercept is 1 if at least
 * half of the labels are 1 and else -1, of a regression the labels' mean;
 * everything else is 0, the intercept too where there is no column for it.
 */
#include "fit/fit.h"

#include <math.h>
#include <string.h>

#include "fit/methods.h"
#include "glm/minimise.h"

/* The gradient's length, in rows times R, that is as good as none. */
#define GOAL 0x1p-40

static void
count(const pe_fit_problem *problem, pe_source *source, double *rows, double *labels)
{
	pe_i128		sums[2] = {0, 0};
	pe_pass		pass = {.kind = PE_PASS_COUNT, .loss = pe_fit_loss(problem)};

	source->run(source, &pass, sums);
	*rows = (double) sums[0];
	*labels = (double) sums[1];
}

static void
report_plain(const pe_fit_problem *problem, const double *w)
{
	if (problem->trace != NULL)
		problem->trace(problem->trace_argument, 1, w);
}

void
pe_fit_majority(const pe_fit_problem *problem, pe_source *source, double *w)
{
	double		rows;
	double		labels;

	count(problem, source, &rows, &labels);
	memset(w, 0, (size_t) problem->shape->columns * sizeof(*w));
	if (problem->intercept >= 0 && problem->model == PE_MODEL_LINEAR)
		w[problem->intercept] = rows > 0 ? labels / rows / PE_ONE : 0;
	else if (problem->intercept >= 0)
		w[problem->intercept] = 2 * labels >= rows ? 1 : -1;
	report_plain(problem, w);
}

void
pe_fit_nonprivate(const pe_fit_problem *problem, pe_source *source, double *w)
{
	pe_smooth	f = {
		.source = source,
		.loss = pe_fit_loss(problem),
		.radius_sq = problem->radius_sq,
		.lambda = problem->options.l2,
	};
	double		rows;
	double		labels;
	pe_place	minimum;

	count(problem, source, &rows, &labels);
	pe_minimise(&f, GOAL * (rows + 1) * sqrt((double) problem->radius_sq) / PE_ONE,
				(int32_t) problem->options.iterations, false, &minimum);
	memcpy(w, minimum.w, (size_t) minimum.columns * sizeof(*w));
	pe_place_free(&minimum);
	report_plain(problem, w);
}

/*
 * fit_run.c
 *	  Private fitting: one method is run.
 */
#include "fit/fit.h"

#include <math.h>

/* A source that tells how many passes it has made. */
typedef struct told_source
{
	pe_source	source;
	pe_source  *inner;
	int			passes;
	int			most;
} told_source;

static void
run_and_tell(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	told_source *told = (told_source *) source;

	told->inner->run(told->inner, pass, sums);
	told->passes++;
	pe_progress("fitting the model", told->passes, told->most, 0);
}

static void
run_method(const pe_fit_problem *problem, pe_source *source, double *w)
{
	switch (problem->method)
	{
		case PE_FIT_NEWTON:
			pe_fit_newton(problem, source, w);
			break;
		case PE_FIT_ONE_PASS:
			pe_fit_one_pass(problem, source, w);
			break;
		case PE_FIT_AGD:
			pe_fit_agd(problem, source, w);
			break;
		case PE_FIT_PRIVGENE:
			pe_fit_privgene(problem, source, w);
			break;
		case PE_FIT_SGD:
		case PE_FIT_SGD_ADV:
			pe_fit_sgd(problem, source, w);
			break;
		case PE_FIT_OBJPERT:
			pe_fit_objpert(problem, source, w);
			break;
		case PE_FIT_OUTPERT:
			pe_fit_outpert(problem, source, w);
			break;
		case PE_FIT_NONPRIVATE:
		case PE_FIT_MAJORITY:
			pe_fit_plain(problem, source, w);
			break;
		default:
			pe_fit_accelerated(problem, source, w);
	}
}

void
pe_fit_run(const pe_fit_problem *problem, pe_source *source, double *w)
{
	told_source told = {*source, source, 0, pe_fit_passes(problem)};

	if (told.most < 1)
		told.most = 1;
	told.source.run = run_and_tell;
	run_method(problem, &told.source, w);
	for (int32_t j = 0; j < problem->shape->columns; j++)
	{
		if (!isfinite(w[j]))
			pe_bug("a fit ended in numbers that are not finite");
	}
}

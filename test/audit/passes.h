/*
 * passes.h
 *	  Audits of how often a fit reads the rows: what its time and its NOTICEs show.
 *
 * Every private method is run as a whole, a few times, on tables and on their neighbours:
 * no row beside one, and rows that an edge separates beside one more, on the wrong side.
 * The kinds of all passes, in their order, and the number of times that progress was told
 * must be those of every other run.  agd's passes follow from its selections, which
 * are paid for: their number must only stay within the public one.  (That their law is
 * paid for is what the audit of whole fits is about: they are functions of its draws.)
 *
 * Minimisation and counts read the rows once, in statements without a loop.
 *
 * The planted fault is objective perturbation as it was: a search that stops when it is
 * certified.  Call audit_passes once, after the targets.
 */
#ifndef PE_AUDIT_PASSES_H
#define PE_AUDIT_PASSES_H

#include "fit/fit.h"
#include "glm/minimise.h"
#include "allowance.h"

#define PASSES_RUNS 3
#define PASSES_ROWS 300
#define PASSES_EDGE 0.7

typedef void (*fit_function) (const pe_fit_problem *problem, pe_source *source, double *w);

/* A source that remembers what it was asked for. */
typedef struct watched_source
{
	pe_source	source;			/* first */
	pe_source  *inner;
	uint64_t	kinds;			/* a hash of the passes' kinds */
	int32_t		passes;
} watched_source;

static void
run_watched(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	watched_source *watched = (watched_source *) source;

	watched->passes++;
	watched->kinds = (watched->kinds ^ (uint64_t) pass->kind) * UINT64_C(0x100000001b3) + 1;
	watched->inner->run(watched->inner, pass, sums);
}

/* So many separable rows, and then one that is not. */
static void
passes_table(table *t, pe_model model, int rows, bool one_more)
{
	stream		s = {17};
	double		wrong = -1;

	table_start(t, 1, 0, 0);
	for (int i = 0; i < rows; i++)
	{
		double		x = 2 * stream_uniform(&s) - 1;

		table_add(t, &x, NULL, x > PASSES_EDGE, model != PE_MODEL_LINEAR);
	}
	if (one_more)
		table_add(t, &wrong, NULL, 1, model != PE_MODEL_LINEAR);
}

/* False for what cannot be had. */
static bool
passes_problem(const table *t, pe_model model, pe_fit_method method, bool pure, pe_fit_problem *p)
{

	problem_of(t, model, method, 500000000, p);
	p->accounting = pure ? PE_PURE : PE_ZCDP;
	p->delta = 1e-6;
	if (method >= PE_FIT_GD && method <= PE_FIT_OUTPERT)
		p->options.rows = 100;
	return pe_fit_defaults(p) == NULL && pe_fit_refusal(p) == NULL && pe_fit_plan_make(p);
}

/* Objective perturbation with the number of passes that the rows need. */
static void
fit_until_certified(const pe_fit_problem *problem, pe_source *source, double *w)
{
	double		radius = sqrt((double) problem->radius_sq) / PE_ONE;
	pe_smooth	f = {
		.source = source, .loss = PE_LOSS_HUBER, .radius_sq = problem->radius_sq, .lambda = problem->plan.lambda
	};
	pe_place	place;

	pe_minimise(&f, 0x1p-16 * radius, (int32_t) problem->options.iterations, false, &place);
	memcpy(w, place.w, (size_t) place.columns * sizeof(*w));
	pe_place_free(&place);
}

/* One run: its passes, and how often progress was told. */
static watched_source
watch_fit(const pe_fit_problem *problem, pe_source *source, fit_function run, uint64_t *told)
{
	watched_source watched = {*source, source, 0, 0};
	uint64_t	before = pe_test_steps();
	double		w[COLUMNS];

	watched.source.run = run_watched;
	run(problem, &watched.source, w);
	*told = pe_test_steps() - before;
	return watched;
}

/* Whether all runs on both neighbours make the same passes, or agd's no more than the public number; -1: none can be had. */
static int
passes_are_public(pe_model model, pe_fit_method method, bool pure, int rows, fit_function run)
{
	watched_source first = {0};
	uint64_t	first_told = 0;

	for (int i = 0; i < 2 * PASSES_RUNS; i++)
	{
		pe_fit_problem p;
		watched_source seen;
		uint64_t	told;
		bool		same;
		table		t;

		passes_table(&t, model, rows, i % 2 == 1);
		if (!passes_problem(&t, model, method, pure, &p))
		{
			table_free(&t);
			return -1;
		}
		seen = watch_fit(&p, &t.source, run, &told);
		table_free(&t);
		if (i == 0)
		{
			first = seen;
			first_told = told;
		}
		same = seen.passes == first.passes && seen.kinds == first.kinds && told == first_told;
		if (method == PE_FIT_AGD ? seen.passes > pe_fit_passes(&p) : !same || seen.passes > pe_fit_passes(&p))
			return 0;
	}
	return 1;
}

static void
fit_of_its_cost(const pe_fit_problem *problem, pe_source *source, double *w)
{
	(void) run_fit(pe_fit_run, problem, source, w);
}

static void
audit_passes_of(pe_fit_method method)
{
	int			had = 0;
	bool		public_ones = true;

	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_LINEAR; model++)
		for (int pure = 0; pure < 2; pure++)
			for (int rows = 0; rows <= PASSES_ROWS; rows += PASSES_ROWS)
			{
				int			found = passes_are_public(model, method, pure != 0, rows, fit_of_its_cost);

				had += found >= 0;
				public_ones = public_ones && found != 0;
			}
	ok(had > 0 && public_ones, pe_fit_method_name(method), "neighbours have the same passes and messages");
}

static void
audit_passes(void)
{
	pe_test_seed(SEED);
	printf("# passes of whole fits on neighbours\n");
	for (pe_fit_method method = 0; method < PE_FIT_METHODS; method++)
		if (pe_fit_is_private(method))
			audit_passes_of(method);
	ok(passes_are_public(PE_MODEL_SVM, PE_FIT_OBJPERT, false, PASSES_ROWS, fit_until_certified) == 0,
	   "objpert that stops when it is certified", "caught");
	ok(passes_are_public(PE_MODEL_SVM, PE_FIT_OBJPERT, false, 0, fit_until_certified) == 0,
	   "objpert that stops when it is certified, one row", "caught");
}

#endif

/*
 * fits.h
 *	  Audits of what private models are made of: noisy sums of passes, selections, and
 *	  whole fits.  Part of audit.c.
 *
 * A table has rows of few kinds, which are this file's cells: a unit contributes up to
 * max_rows rows of any kinds, and what each gives to the sums is found by running the
 * pass on it alone.  All neighbours are then listed as for a tally (neighbours.h).  Both
 * tables of a pair go through the pass as a whole, and its sums through the product's
 * own functions (measure.h, select.h), as they are, with the sensitivity that these work
 * out.
 *
 * Of a selection the vector has a 1 in the place that was chosen.  Of a whole fit it
 * holds the weights in units of 2^-10.
 */
#ifndef PE_AUDIT_FITS_H
#define PE_AUDIT_FITS_H

#include "fit/measure.h"
#include "noise/selection.h"
#include "models.h"
#include "allowance.h"

/*
 * Of a full run, and a fifth of them in the short one: each of these fetches
 * random bytes of its own, as in the server, which takes its time.
 */
#define SUM_DRAWS 1000000
#define SELECTION_DRAWS 1000000
#define FIT_DRAWS 20000

#define COLUMNS 2
#define CANDIDATES 2

/* What one row can add to a score. */
#define SCORE_CAP (3 << PE_LOSS_BITS)

/* A unit of the weights of a fit. */
#define WEIGHT_BITS 10

/* Half of the rows' radius sqrt(2): at weights of 0 a gradient is as long, or cut. */
#define CLIP 0.5

static const struct
{
	double		x;
	int			label;
}			kinds[] = {{1, 0}, {1, 1}, {-1, 0}, {-1, 1}, {0.5, 1}};

/* Rows of every kind that are not the unit's. */
#define OTHERS 2

/* ----------
 * Tables
 * ----------
 */
static void
add_kind(table *t, int kind, int rows)
{
	for (int i = 0; i < rows; i++)
		table_add(t, &kinds[kind].x, NULL, kinds[kind].label, true);
}

/* The problem, without its table: shape and radii are those of all tables here. */
static void
make_problem(const subject *s, pe_fit_method method, pe_fit_problem *problem)
{
	static table empty;

	if (empty.shape.columns == 0)
		table_start(&empty, COLUMNS - 1, 0, 0);
	problem_of(&empty, PE_MODEL_LOGISTIC, method, s->of.nano, problem);
	problem->max_rows = s->of.max_rows;
	problem->substitute = s->of.neighbours == PE_SUBSTITUTE;
	problem->accounting = s->of.mechanism->accounting;
}

/* The sums of a pass over so many rows of each kind, and of the unit's. */
static void
sums_of(const subject *s, const contribution *c, int others, pe_i128 *y)
{
	bool		moment = strcmp(s->of.workload, "second moment") == 0;
	double		w[COLUMNS] = {0, 0};
	pe_fit_problem problem;
	pe_pass		pass;
	table		t;

	make_problem(s, PE_FIT_NEWTON, &problem);
	table_start(&t, COLUMNS - 1, 0, 0);
	for (int kind = 0; kind < s->a.cells; kind++)
		add_kind(&t, kind, others + c->count[kind]);
	pe_gradient_pass(&problem, CLIP, &pass);
	pe_weights_set(&pass.weights, w, COLUMNS, problem.radius_sq);
	if (moment)
		pass.kind = PE_PASS_MOMENT;
	t.source.run(&t.source, &pass, y);
	pe_gradient_free(&pass);
	table_free(&t);
}

/* ----------
 * Sums
 * ----------
 */
static void
prepare_sums(subject *s)
{
	bool		moment = strcmp(s->of.workload, "second moment") == 0;
	pe_u128		k = (pe_u128) s->of.max_rows;
	bool		substitute = s->of.neighbours == PE_SUBSTITUTE;
	pe_fit_problem problem;
	pe_pass		pass;

	s->a.cells = lengthof(kinds);
	s->a.rows = moment ? COLUMNS * (COLUMNS + 1) / 2 : COLUMNS;
	for (int kind = 0; kind < s->a.cells; kind++)
	{
		contribution one = {0};
		pe_i128		y[MAX_ROWS];

		one.count[kind] = 1;
		sums_of(s, &one, 0, y);
		for (int i = 0; i < s->a.rows; i++)
			s->a.entry[i][kind] = (int64_t) y[i];
	}
	make_problem(s, PE_FIT_NEWTON, &problem);
	pe_gradient_pass(&problem, CLIP, &pass);
	/* what the header of measure.h says; the off-diagonal entry counts twice in L2 */
	if (s->of.mechanism->accounting == PE_PURE)
		s->sensitivity = k * (substitute ? 2 : 1) *
			(moment ? ((pe_u128) (problem.radius_1 * problem.radius_1) + problem.radius_sq) / 2 : pass.clip);
	else if (moment)
		s->sensitivity = k * k * (substitute ? 2 : 1) * problem.radius_sq * problem.radius_sq;
	else
		s->sensitivity = k * k * (substitute ? 4 : 1) * pass.clip;
	if (moment && s->of.mechanism->accounting != PE_PURE)
		s->a.weight[1] = 2;
	pe_gradient_free(&pass);
}

static void
measure_sums(const subject *s, const contribution *c, pe_i128 *y)
{
	sums_of(s, c, OTHERS, y);
}

/* A source that gives sums that are there already. */
typedef struct given_source
{
	pe_source	source;
	const pe_i128 *sums;
	size_t		count;
} given_source;

static void
give_sums(pe_source *source, const pe_pass *pass, pe_i128 *sums)
{
	given_source *given = (given_source *) source;

	if (pe_pass_sums(pass, source->shape) != given->count)
		pe_bug("other sums are asked for");
	memcpy(sums, given->sums, given->count * sizeof(*sums));
}

/* Noise on copies of the sums; nano and k: what the product's function is told, for faults. */
static void
release_sums_as(const subject *s, int64_t nano, int max_rows, double clip, pe_i128 *exact, size_t count, int64_t *released)
{
	bool		moment = strcmp(s->of.workload, "second moment") == 0;
	size_t		rows = (size_t) s->a.rows;
	double		w[COLUMNS] = {0, 0};
	pe_fit_problem problem;
	pe_pass		pass;
	given_source given;

	make_problem(s, PE_FIT_NEWTON, &problem);
	problem.max_rows = max_rows;
	pe_gradient_pass(&problem, clip, &pass);
	given.source.run = give_sums;
	given.source.shape = problem.shape;
	given.source.rows = NULL;
	given.count = rows;
	for (size_t c = 0; c < count; c += rows)
	{
		double		real[COLUMNS * COLUMNS];
		double		noise;

		given.sums = exact + c;
		if (moment)
		{
			problem.allowance = plenty((problem.accounting == PE_PURE));
			pe_measure_moment(&problem, &given.source, nano, real, &noise);
			released[c] = (int64_t) rint(real[0] * PE_ONE * PE_ONE);
			released[c + 1] = (int64_t) rint(real[1] * PE_ONE * PE_ONE);
			released[c + 2] = (int64_t) rint(real[3] * PE_ONE * PE_ONE);
			continue;
		}
		problem.allowance = plenty((problem.accounting == PE_PURE));
		pe_measure_gradient(&problem, &given.source, &pass, w, nano, real);
		for (size_t i = 0; i < rows; i++)
			released[c + i] = (int64_t) rint(real[i] / pe_pass_unit(&pass));
	}
	pe_gradient_free(&pass);
}

static void
release_sums(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_sums_as(s, s->of.nano, s->of.max_rows, CLIP, exact, count, released);
}

static const mechanism sums = {"sums", PE_ZCDP, false, release_sums, NULL, prepare_sums, measure_sums, LEAST_SHARE, SUM_DRAWS};
static const mechanism sums_pure = {"sums", PE_PURE, true, release_sums, NULL, prepare_sums, measure_sums, LEAST_SHARE, SUM_DRAWS};

/* ----------
 * Selections
 * ----------
 */

/*
 * A row adds the cap to one score or to the other.  Scores without the unit are the same:
 * there a selection tells most.
 */
static void
prepare_scores(subject *s)
{
	s->a.cells = CANDIDATES;
	s->a.rows = CANDIDATES;
	for (int i = 0; i < CANDIDATES; i++)
		s->a.entry[i][i] = SCORE_CAP;
	s->sensitivity = (pe_u128) s->of.max_rows * SCORE_CAP;
}

static void
measure_scores(const subject *s, const contribution *c, pe_i128 *y)
{
	for (int i = 0; i < CANDIDATES; i++)
	{
		y[i] = 10 * SCORE_CAP;
		for (int kind = 0; kind < s->a.cells; kind++)
			y[i] += (pe_i128) c->count[kind] * s->a.entry[i][kind];
	}
}

static void
release_selection_as(const subject *s, pe_u128 sensitivity, bool monotone, int64_t nano,
					 pe_i128 *exact, size_t count, int64_t *released)
{
	memset(released, 0, count * sizeof(*released));
	for (size_t c = 0; c < count; c += CANDIDATES)
		released[c + (size_t) pe_select_least(exact + c, CANDIDATES, sensitivity, monotone,
											  s->of.mechanism->accounting, nano)] = 1;
}

static void
release_selection(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_selection_as(s, s->sensitivity, s->of.neighbours != PE_SUBSTITUTE, s->of.nano, exact, count, released);
}

/* The divergence of two numbers has few bins, and is below rho = eta^2 / 8 by a tenth or so. */
#define LEAST_OF_SELECTION 0.4

static const mechanism selection = {"selection", PE_ZCDP, false, release_selection, NULL, prepare_scores, measure_scores, LEAST_OF_SELECTION, SELECTION_DRAWS};
static const mechanism selection_gdp = {"selection", PE_GDP, false, release_selection, NULL, prepare_scores, measure_scores, LEAST_OF_SELECTION, SELECTION_DRAWS};
static const mechanism selection_pure = {"selection", PE_PURE, true, release_selection, NULL, prepare_scores, measure_scores, LEAST_SHARE, SELECTION_DRAWS};

/* ----------
 * Whole fits
 * ----------
 */

/* The table stands in `exact` as the number of rows of each kind. */
static void
prepare_fit(subject *s)
{
	s->a.cells = lengthof(kinds);
	s->a.rows = lengthof(kinds);
	for (int kind = 0; kind < s->a.cells; kind++)
		s->a.entry[kind][kind] = 1;
}

/* Rows that are not the unit's. */
static int
others_of_fit(int kind)
{
	return kind == 0 || kind == 3;
}

static void
measure_fit(const subject *s, const contribution *c, pe_i128 *y)
{
	for (int kind = 0; kind < s->a.cells; kind++)
		y[kind] = others_of_fit(kind) + c->count[kind];
}

static void
release_fit_as(const subject *s, int64_t nano, pe_i128 *exact, size_t count, int64_t *released)
{
	size_t		rows = (size_t) s->a.rows;
	pe_fit_problem problem;
	pe_fit_method method;

	if (!pe_fit_method_named(s->of.workload, &method))
		pe_bug("no such method");
	make_problem(s, method, &problem);
	problem.nano = nano;
	/* few rounds, of which each tells more */
	if (method == PE_FIT_AGD || method == PE_FIT_PRIVGENE)
		problem.options.iterations = 3;
	/* short ways, for which a selection is sharper */
	if (method == PE_FIT_AGD)
		problem.options.step_max = 0.5;
	if (pe_fit_defaults(&problem) != NULL || pe_fit_refusal(&problem) != NULL)
		pe_bug("a fit that cannot be had");
	memset(released, 0, count * sizeof(*released));
	for (size_t c = 0; c < count; c += rows)
	{
		double		w[COLUMNS];
		table		t;

		table_start(&t, COLUMNS - 1, 0, 0);
		table_use_units(&t, 0);
		for (size_t kind = 0; kind < rows; kind++)
		{
			t.unit = kind + 1;
			add_kind(&t, (int) kind, others_of_fit((int) kind));
			t.unit = 0;
			add_kind(&t, (int) kind, (int) exact[c + kind] - others_of_fit((int) kind));
		}
		run_fit(pe_fit_run, &problem, &t.source, w);
		for (int j = 0; j < COLUMNS; j++)
			released[c + (size_t) j] = (int64_t) rint(ldexp(w[j], WEIGHT_BITS));
		table_free(&t);
	}
}

static void
release_fit(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	release_fit_as(s, s->of.nano, exact, count, released);
}

/* Noise adds up over a fit, and what is left of it in two numbers is far from the whole: no share is asked for. */
static const mechanism fit = {"fit", PE_ZCDP, false, release_fit, NULL, prepare_fit, measure_fit, 0, FIT_DRAWS};
static const mechanism fit_pure = {"fit", PE_PURE, true, release_fit, NULL, prepare_fit, measure_fit, 0, FIT_DRAWS};

#endif

/*
 * audit.c
 *	  Audits of the mechanisms from tally to released vector.
 *
 *	 audit [draws [mechanism]]	for each of two neighbours, default 10^7; one mechanism only,
 *								and that with all the draws, for the hours that they may take
 *
 * For every mechanism, rule of neighbours and strategy in the table below: the
 * worst pairs of neighbouring tallies are found by listing all neighbours
 * (neighbours.h); tally, strategy and mechanism are run on both, as the server
 * runs them; and from the draws a lower bound of what is lost is computed
 * (bounds.h) and held against the charge.  A bound above the charge is a proof,
 * but for a probability below 1e-9, that more is lost than is charged.
 *
 * Looked at: the vector projected on the difference of the exact answers, every
 * coordinate, every difference of two coordinates, and the low bits of every
 * coordinate; for a pure charge, also how far all coordinates are beyond those
 * answers.  Each is sorted into bins, and
 *
 * - for events E (a bin, all bins from one on, all bins up to one, and of low
 *	 bits every residue) P(E) <= exp(epsilon) Q(E) + delta must hold: for a pure
 *	 charge with delta = 0, for a charge of rho with (epsilon, delta) on its curve
 *	 (pe_epsilon_of_rho);
 * - a charge of rho bounds KL(P || Q), the limit of the Renyi divergences as
 *	 their order falls to 1.  For any f, KL >= E_P f - ln E_Q exp(f) (Donsker,
 *	 Varadhan); f is fitted to one half of the draws, the other half gives the
 *	 bound.  For Gaussian noise that comes near rho itself;
 * - a charge of Gaussian DP bounds Phi^-1(P(E)) - Phi^-1(Q(E)) by mu, mu^2 / 2 = rho.
 *
 * An audit that never finds anything proves little, so that for the true
 * mechanisms the bound must also reach a share of the charge, and planted
 * faults (faults.h) must each be caught.
 *
 * What private models are made of is audited in the same way (fits.h), with fewer draws,
 * and whole fits on tables of a few rows, with a few; so are the minimisation of piecewise
 * affine functions (minima.h), counts by way of a private partition (dawa.h), strategies of blocks (blocks.h), keys that
 * nobody has listed (keys.h), aggregates (aggregates.h) and the tables of synthetic rows (tree.h).  How
 * often whole fits read the rows is compared between neighbours (passes.h).
 *
 * The random bytes are those of the shim's reproducible stream, begun anew for
 * every row of the table: a failure repeats.  The noise of many releases is drawn
 * by one call for several copies of the exact answers: for the first of a target's
 * two pairs by calls short enough for the sampler without a table, and by some for
 * one copy as in the server; for the second by calls that take the table.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounting/conversion.h"
#include "strategy/strategy.h"
#include "noise/gaussian.h"
#include "noise/laplace.h"
#include "noise/private.h"
#include "evidence.h"
#include "shim.h"

#define SEED 20240611

/* The bound must reach this share of the charge, or the audit has no power. */
#define LEAST_SHARE 0.6

/* Faults are caught with so many draws; with more they would be as well. */
#define FAULT_DRAWS 1000000

/* What a full run has. */
#define FULL_DRAWS 10000000

#define PILOT 4096

/* Numbers of one call, at most. */
#define LONG_CALL 1024

/* ------------------------------------------------------------------
 * What is audited
 * ------------------------------------------------------------------
 */

struct subject;

/* Adds noise to count numbers, copies of the rows of the subject's strategy. */
typedef void (*release_function) (const struct subject *s, pe_i128 *exact, size_t count, int64_t *released);

struct contribution;

typedef struct mechanism
{
	const char *name;
	pe_accounting accounting;	/* PE_PURE: charged in nano-units of epsilon, not of rho */
	bool		l1;				/* the norm of its sensitivity; L2: squared */
	release_function release;
	bool		(*sensitivity) (const pe_strategy *strategy, pe_neighbours neighbours, int32_t max_rows,
								pe_u128 *sensitivity);

	/* not of a strategy (fits.h): the matrix and the sensitivity; the exact numbers of a table */
	void		(*prepare) (struct subject *s);
	void		(*measure) (const struct subject *s, const struct contribution *c, pe_i128 *y);
	double		least_share;
	uint64_t	most_draws;
} mechanism;

typedef struct target
{
	const mechanism *mechanism;
	pe_neighbours neighbours;
	int			max_rows;
	const char *workload;
	int			ruled_out;		/* a cell that a predicate rules out, or -1 */
	int64_t		nano;			/* the charge */
	int64_t		base;			/* rows of the first cell that are not the unit's */
} target;

/* A target, and what is made from it. */
typedef struct subject
{
	target		of;
	matrix		a;
	pe_strategy strategy;
	int32_t		column_of_cell[MAX_CELLS];
	int			shift[MAX_ROWS];	/* a row is released in units of 2^-shift */
	pe_u128		sensitivity;	/* as the server computes it */
	pe_u128		listed;			/* by the list of neighbours */
	pe_u128		without_zero;	/* the same without contributions of nothing */
	pair		worst[2];
} subject;

static void
gaussian_release(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_gaussian_release(PE_ZCDP, exact, count, s->sensitivity, s->of.nano, released);
}

static const mechanism gaussian = {"gaussian", PE_ZCDP, false, gaussian_release, pe_strategy_sensitivity_sq,
	NULL, NULL, LEAST_SHARE, UINT64_MAX};

/* As the server releases counts: in units of 2^-shift. */
static void
gdp_release(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	const pe_noise noise = {PE_GDP, s->sensitivity, s->of.nano, 0, false};

	pe_noise_release(&noise, exact, count, released);
}

/* With 10^7 draws both probabilities of an event are known so well that little of mu is left open. */
#define LEAST_OF_GDP 0.91

static const mechanism gdp = {"gdp", PE_GDP, false, gdp_release, pe_strategy_sensitivity_sq,
	NULL, NULL, 0.8, UINT64_MAX};

static void
fill_shifts(subject *s)
{
	const pe_noise noise = {s->of.mechanism->accounting, s->sensitivity, s->of.nano, 0, false};

	for (int i = 0; i < s->a.rows; i++)
		s->shift[i] = pe_noise_shift(&noise);
}

static void
laplace_release(const subject *s, pe_i128 *exact, size_t count, int64_t *released)
{
	pe_laplace_release(exact, count, s->sensitivity, s->of.nano, released);
}

static const mechanism laplace = {"laplace", PE_PURE, true, laplace_release, pe_strategy_sensitivity_l1,
	NULL, NULL, LEAST_SHARE, UINT64_MAX};

/* People: of a strategy that is not the identity the sensitivity is a bound. */
static const mechanism people = {"people", PE_ZCDP, false, gaussian_release, pe_strategy_people_sq,
	NULL, NULL, LEAST_SHARE, UINT64_MAX};
static const mechanism people_pure = {"people", PE_PURE, true, laplace_release, pe_strategy_people_l1,
	NULL, NULL, LEAST_SHARE, UINT64_MAX};

/* Whether a unit is counted once in a cell (strategy/people.c), in max_rows cells. */
static bool
counts_people(const mechanism *m)
{
	return m->sensitivity == pe_strategy_people_sq || m->sensitivity == pe_strategy_people_l1;
}

#include "fits.h"
#include "minima.h"
#include "dawa.h"
#include "blocks.h"
#include "aggregates.h"
#include "tree.h"

#define MARGINALS "total(2) * identity(3) + identity(2) * total(3)"

/* rho 0.5: sigma is the sensitivity; 0.125: twice; 0.055555555: three times */
static const target targets[] = {
	{&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 500000000, 3},
	{&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 125000000, 3},
	{&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 55555555, 3},
	{&gaussian, PE_ADD_REMOVE, 1, "identity(4)", -1, 500000000, INT64_C(1) << 60},
	{&gaussian, PE_ADD_REMOVE, 3, "identity(4)", -1, 500000000, 3},
	{&gaussian, PE_SUBSTITUTE, 1, "identity(4)", -1, 125000000, 3},
	{&gaussian, PE_SUBSTITUTE, 3, "identity(4)", -1, 500000000, 3},
	{&gaussian, PE_ADD_REMOVE, 1, "total(4)", 2, 500000000, 3},
	{&gaussian, PE_SUBSTITUTE, 1, "total(4)", 2, 500000000, 3},
	{&gaussian, PE_SUBSTITUTE, 3, "total(4)", 2, 55555555, 3},
	{&gaussian, PE_ADD_REMOVE, 1, "prefix(4)", -1, 500000000, 3},
	{&gaussian, PE_ADD_REMOVE, 3, "prefix(4)", -1, 125000000, 3},
	{&gaussian, PE_SUBSTITUTE, 1, "prefix(4)", -1, 500000000, 3},
	{&gaussian, PE_SUBSTITUTE, 3, "prefix(4)", 1, 125000000, 3},
	{&gaussian, PE_ADD_REMOVE, 1, "all_range(8)", -1, 500000000, 3},
	{&gaussian, PE_SUBSTITUTE, 1, "all_range(8)", -1, 125000000, 3},
	{&gaussian, PE_ADD_REMOVE, 1, MARGINALS, -1, 500000000, 3},
	{&gaussian, PE_ADD_REMOVE, 3, MARGINALS, -1, 125000000, 3},
	{&gaussian, PE_SUBSTITUTE, 1, MARGINALS, 4, 500000000, 3},
	{&gdp, PE_ADD_REMOVE, 1, "identity(4)", -1, 500000000, 3},
	{&gdp, PE_ADD_REMOVE, 3, "identity(4)", -1, 55555555, 3},
	{&gdp, PE_SUBSTITUTE, 1, "total(4)", 2, 500000000, 3},
	{&gdp, PE_SUBSTITUTE, 3, "prefix(4)", 1, 125000000, 3},
	{&gdp, PE_ADD_REMOVE, 1, "all_range(8)", -1, 500000000, 3},
	{&gdp, PE_SUBSTITUTE, 1, MARGINALS, 4, 500000000, 3},
	{&laplace, PE_ADD_REMOVE, 1, "identity(4)", -1, 1000000000, 3},
	{&laplace, PE_ADD_REMOVE, 3, "identity(4)", -1, 500000000, 3},
	{&laplace, PE_SUBSTITUTE, 1, "identity(4)", -1, 1000000000, 3},
	{&laplace, PE_SUBSTITUTE, 1, "total(4)", 2, 1000000000, 3},
	{&laplace, PE_ADD_REMOVE, 1, "prefix(4)", -1, 1000000000, 3},
	{&laplace, PE_SUBSTITUTE, 3, "prefix(4)", 1, 1000000000, 3},
	{&laplace, PE_ADD_REMOVE, 1, "all_range(8)", -1, 1000000000, 3},
	{&laplace, PE_SUBSTITUTE, 1, MARGINALS, 4, 1000000000, 3},
	{&people, PE_ADD_REMOVE, 3, "identity(4)", -1, 500000000, 3},
	{&people, PE_ADD_REMOVE, 3, "identity(4)", -1, 55555555, INT64_C(1) << 60},
	{&people, PE_SUBSTITUTE, 2, "identity(6)", -1, 500000000, 3},
	{&people, PE_ADD_REMOVE, 2, "prefix(4)", -1, 500000000, 3},
	{&people, PE_SUBSTITUTE, 2, "prefix(4)", 1, 125000000, 3},
	{&people, PE_ADD_REMOVE, 3, "all_range(8)", -1, 500000000, 3},
	{&people, PE_SUBSTITUTE, 1, "all_range(8)", -1, 500000000, 3},
	{&people_pure, PE_ADD_REMOVE, 3, "identity(4)", -1, 1000000000, 3},
	{&people_pure, PE_SUBSTITUTE, 2, "identity(6)", -1, 1000000000, 3},
	{&people_pure, PE_ADD_REMOVE, 2, "prefix(4)", -1, 1000000000, 3},
	{&blocks_zcdp, PE_ADD_REMOVE, 1, MARGINALS, -1, 500000000, 3},
	{&blocks_zcdp, PE_ADD_REMOVE, 3, MARGINALS, -1, 125000000, 3},
	{&blocks_zcdp, PE_SUBSTITUTE, 1, MARGINALS, -1, 500000000, 3},
	{&blocks_gdp, PE_ADD_REMOVE, 1, MARGINALS, -1, 500000000, 3},
	{&blocks_gdp, PE_ADD_REMOVE, 3, MARGINALS, -1, 55555555, 3},
	{&blocks_gdp, PE_SUBSTITUTE, 1, MARGINALS, -1, 500000000, 3},
	{&blocks_pure, PE_ADD_REMOVE, 1, MARGINALS, -1, 1000000000, 3},
	{&blocks_pure, PE_ADD_REMOVE, 3, MARGINALS, -1, 500000000, 3},
	{&blocks_pure, PE_SUBSTITUTE, 1, MARGINALS, -1, 1000000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 1, "sum", -1, 500000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 3, "avg", -1, 125000000, 3},
	{&aggregate_zcdp, PE_SUBSTITUTE, 1, "avg and var", -1, 500000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 1, "people, two groups", -1, 500000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 1, "dropped", -1, 500000000, 3},
	{&aggregate_zcdp, PE_SUBSTITUTE, 1, "dropped", -1, 500000000, 3},
	{&aggregate_gdp, PE_ADD_REMOVE, 1, "dropped", -1, 500000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 3, "values", -1, 125000000, 3},
	{&aggregate_gdp, PE_SUBSTITUTE, 1, "values", -1, 500000000, 3},
	{&aggregate_pure, PE_SUBSTITUTE, 1, "values", -1, 1000000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 3, "open values", -1, 125000000, 3},
	{&aggregate_gdp, PE_SUBSTITUTE, 1, "open values", -1, 500000000, 3},
	{&aggregate_pure, PE_SUBSTITUTE, 1, "open values", -1, 1000000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 3, "few values", -1, 125000000, 3},
	{&aggregate_gdp, PE_SUBSTITUTE, 3, "few values", -1, 125000000, 3},
	{&aggregate_pure, PE_ADD_REMOVE, 3, "few values", -1, 500000000, 3},
	{&aggregate_pure, PE_SUBSTITUTE, 1, "dropped", -1, 1000000000, 3},
	{&aggregate_gdp, PE_ADD_REMOVE, 1, "avg", -1, 500000000, 3},
	{&aggregate_gdp, PE_ADD_REMOVE, 1, "rest", -1, 500000000, 3},
	{&aggregate_zcdp, PE_ADD_REMOVE, 2, "rest", -1, 500000000, 3},
	{&aggregate_gdp, PE_SUBSTITUTE, 1, "sum", -1, 500000000, 3},
	{&aggregate_gdp, PE_SUBSTITUTE, 1, "people, two groups", -1, 55555555, 3},
	{&aggregate_gdp, PE_ADD_REMOVE, 1, "people, one group", -1, 500000000, 3},
	{&aggregate_pure, PE_ADD_REMOVE, 1, "avg and var", -1, 1000000000, 3},
	{&aggregate_pure, PE_SUBSTITUTE, 1, "avg and var", -1, 1000000000, 3},
	{&aggregate_zcdp, PE_SUBSTITUTE, 1, "avg", -1, 500000000, 3},
	{&aggregate_pure, PE_ADD_REMOVE, 1, "avg", -1, 1000000000, 3},
	{&aggregate_pure, PE_SUBSTITUTE, 1, "avg", -1, 1000000000, 3},
	{&aggregate_pure, PE_SUBSTITUTE, 1, "sum", -1, 1000000000, 3},
	{&aggregate_pure, PE_ADD_REMOVE, 1, "people, two groups", -1, 1000000000, 3},
	{&sums, PE_ADD_REMOVE, 1, "gradient", -1, 500000000, 0},
	{&sums, PE_SUBSTITUTE, 3, "gradient", -1, 500000000, 0},
	{&sums, PE_ADD_REMOVE, 3, "second moment", -1, 500000000, 0},
	{&sums, PE_SUBSTITUTE, 1, "second moment", -1, 500000000, 0},
	{&sums_pure, PE_SUBSTITUTE, 3, "gradient", -1, 1000000000, 0},
	{&sums_pure, PE_ADD_REMOVE, 3, "second moment", -1, 1000000000, 0},
	{&selection, PE_ADD_REMOVE, 1, "scores", -1, 500000000, 0},
	{&selection, PE_ADD_REMOVE, 3, "scores", -1, 500000000, 0},
	{&selection, PE_SUBSTITUTE, 3, "scores", -1, 500000000, 0},
	{&selection_gdp, PE_ADD_REMOVE, 3, "scores", -1, 500000000, 0},
	{&selection_gdp, PE_SUBSTITUTE, 1, "scores", -1, 500000000, 0},
	{&selection_pure, PE_ADD_REMOVE, 3, "scores", -1, 1000000000, 0},
	{&selection_pure, PE_SUBSTITUTE, 1, "scores", -1, 1000000000, 0},
	{&fit, PE_ADD_REMOVE, 1, "newton", -1, 500000000, 0},
	{&fit, PE_SUBSTITUTE, 3, "newton", -1, 500000000, 0},
	{&fit, PE_ADD_REMOVE, 1, "one_pass", -1, 500000000, 0},
	{&fit, PE_ADD_REMOVE, 1, "agd", -1, 500000000, 0},
	{&fit, PE_SUBSTITUTE, 3, "agd", -1, 500000000, 0},
	{&fit, PE_ADD_REMOVE, 1, "privgene", -1, 500000000, 0},
	{&fit_pure, PE_ADD_REMOVE, 1, "privgene", -1, 1000000000, 0},
	{&cube, PE_ADD_REMOVE, 1, "two numbers", -1, 1000000000, 3},
	{&cube, PE_ADD_REMOVE, 1, "two numbers", -1, 3000000000, INT64_C(1) << 60},
	{&minimum_pure, PE_ADD_REMOVE, 1, "laplace_data, one", -1, 1000000000, 0},
	{&minimum_pure, PE_ADD_REMOVE, 1, "laplace_data, all", -1, 1000000000, 0},
	{&minimum, PE_ADD_REMOVE, 1, "laplace_data, one", -1, 500000000, 0},
	{&minimum, PE_ADD_REMOVE, 1, "laplace_data, all", -1, 500000000, 0},
	{&minimum_pure, PE_ADD_REMOVE, 1, "laplace_solution", -1, 1000000000, 0},
	{&minimum, PE_ADD_REMOVE, 1, "laplace_solution", -1, 500000000, 0},
	{&minimum_pure, PE_ADD_REMOVE, 1, "exponential, one", -1, 1000000000, 0},
	{&minimum_pure, PE_ADD_REMOVE, 1, "exponential, all", -1, 1000000000, 0},
	{&minimum, PE_ADD_REMOVE, 1, "exponential, all", -1, 125000000, 0},
	{&minimum_pure, PE_ADD_REMOVE, 1, "subgradient", -1, 2000000000, 0},
	{&minimum_pure, PE_ADD_REMOVE, 1, "subgradient_last", -1, 2000000000, 0},
	{&minimum, PE_ADD_REMOVE, 1, "subgradient_last", -1, 250000000, 0},
	{&intervals, PE_ADD_REMOVE, 1, "eight columns", -1, 1000000000, 0},
	{&intervals, PE_ADD_REMOVE, 3, "seven columns", -1, 1000000000, 0},
	{&dawa, PE_ADD_REMOVE, 1, "two columns, apart", -1, 1000000000, 0},
	{&dawa, PE_SUBSTITUTE, 1, "two columns, a row moves", -1, 1000000000, 0},
	{&dawa, PE_ADD_REMOVE, 3, "two columns, together", -1, 1000000000, 0},
	{&dawa, PE_ADD_REMOVE, 1, "eight columns", -1, 1000000000, 0},
	{&dawa, PE_ADD_REMOVE, 1, "seven columns", -1, 1000000000, 0},
	{&tree, PE_ADD_REMOVE, 1, "tables", -1, 500000000, 0},
	{&tree, PE_ADD_REMOVE, 3, "tables", -1, 125000000, 0},
	{&tree, PE_SUBSTITUTE, 1, "tables", -1, 500000000, 0},
	{&tree_pure, PE_ADD_REMOVE, 3, "tables", -1, 1000000000, 0},
	{&tree_pure, PE_SUBSTITUTE, 1, "tables", -1, 1000000000, 0},
	{&edges, PE_ADD_REMOVE, 1, "scores", -1, 500000000, 0},
	{&edges, PE_SUBSTITUTE, 1, "scores", -1, 500000000, 0},
	{&edges_pure, PE_ADD_REMOVE, 1, "scores", -1, 2000000000, 0},
	{&edges_pure, PE_ADD_REMOVE, 3, "scores", -1, 2000000000, 0},
	{&edges_pure, PE_SUBSTITUTE, 1, "scores", -1, 2000000000, 0},
};

/* ------------------------------------------------------------------
 * Preparation
 * ------------------------------------------------------------------
 */

static void
make_strategy(subject *s)
{
	pe_workload workload;
	pe_text_error error;
	pe_classes	classes;
	const pe_workload *one = &workload;
	bool		possible[MAX_CELLS];

	if (!pe_workload_parse(s->of.workload, NULL, &workload, &error))
		pe_bug(error.message);
	s->a.cells = pe_shape_cells(&workload.shape);
	for (int cell = 0; cell < s->a.cells; cell++)
		possible[cell] = cell != s->of.ruled_out;
	pe_classes_init(&one, 1, &classes);
	if ((s->of.mechanism->l1 ? pe_strategy_optimal_l1 : pe_strategy_optimal)
		(&workload, &classes, possible, 1e-6, &s->strategy) != PE_STRATEGY_OK)
		pe_bug("no strategy");
	s->a.rows = s->strategy.rows;
	pe_strategy_columns(&s->strategy, &workload, possible, s->column_of_cell);
	pe_classes_free(&classes);
	pe_workload_free(&workload);
}

/* The strategy over cells, from its matrix over columns. */
static void
make_matrix(subject *s)
{
	double		entry[MAX_ROWS * MAX_CELLS];

	pe_strategy_matrix(&s->strategy, entry);
	for (int i = 0; i < s->a.rows; i++)
		for (int cell = 0; cell < s->a.cells; cell++)
			s->a.entry[i][cell] = s->column_of_cell[cell] < 0 ? 0 :
				(int64_t) entry[i * s->strategy.columns + s->column_of_cell[cell]];
}

static void
prepare(const target *of, subject *s)
{
	pair		unused[2];

	memset(s, 0, sizeof(*s));
	s->of = *of;
	if (of->mechanism->prepare != NULL)
		of->mechanism->prepare(s);
	else
	{
		make_strategy(s);
		make_matrix(s);
	}
	if (of->mechanism->sensitivity != NULL && !of->mechanism->sensitivity(&s->strategy, of->neighbours, of->max_rows, &s->sensitivity))
		pe_bug("no sensitivity");
	if (of->mechanism->prepare == NULL)
		fill_shifts(s);
	s->a.once = counts_people(of->mechanism);
	s->listed = worst_neighbours(&s->a, of->max_rows, of->neighbours, of->mechanism->l1, true, s->worst);
	s->without_zero = worst_neighbours(&s->a, of->max_rows, of->neighbours, of->mechanism->l1, false, unused);
}

/* The exact answers for a table in which the unit gives c: tally, columns, strategy. */
static void
measure(const subject *s, const contribution *c, pe_i128 *y)
{
	int64_t		x[MAX_CELLS] = {0};

	if (s->of.mechanism->measure != NULL)
	{
		s->of.mechanism->measure(s, c, y);
		return;
	}
	for (int cell = 0; cell < s->a.cells; cell++)
		if (s->column_of_cell[cell] >= 0)
			x[s->column_of_cell[cell]] += (cell == 0 ? s->of.base : 2 * cell) + c->count[cell];
	pe_strategy_apply(&s->strategy, x, y);
}

/* ------------------------------------------------------------------
 * Drawing
 * ------------------------------------------------------------------
 */

/* One pair of neighbours and what was drawn for it. */
typedef struct trial
{
	const subject *subject;
	release_function release;
	bool		table;			/* calls are so long that the noise comes from a table */
	pe_i128		exact[2][MAX_ROWS];
	evidence	e;
} trial;

/* The released vector less Q's exact answers: known numbers, so that nothing is lost by it. */
static void
centre(const trial *t, const int64_t *released, int64_t *r)
{
	for (int i = 0; i < t->subject->a.rows; i++)
		r[i] = (int64_t) ((uint64_t) released[i] - ((uint64_t) t->exact[1][i] << t->subject->shift[i]));
}

/* Runs copies releases of P (side 0) or Q (side 1); released gets rows numbers for each. */
static void
draw(const trial *t, int side, size_t copies, int64_t *released)
{
	static pe_i128 exact[LONG_CALL + MAX_ROWS];
	size_t		rows = (size_t) t->subject->a.rows;

	for (size_t c = 0; c < copies; c++)
		memcpy(exact + c * rows, t->exact[side], rows * sizeof(*exact));
	t->release(t->subject, exact, copies * rows, released);
}

/* Bins by some first draws, which are not counted. */
static void
choose_bins(trial *t)
{
	static int64_t released[LONG_CALL + MAX_ROWS];
	int64_t		r[MAX_ROWS];

	for (int draws = 0; draws < 2 * PILOT; draws++)
	{
		draw(t, draws % 2, 1, released);
		centre(t, released, r);
		widen_bins(&t->e, r, draws == 0);
	}
	fix_bins(&t->e);
}

static void
count_draws(trial *t, int half, int side, size_t copies)
{
	static int64_t released[LONG_CALL + MAX_ROWS];
	int64_t		r[MAX_ROWS];

	draw(t, side, copies, released);
	for (size_t c = 0; c < copies; c++)
	{
		centre(t, released + c * (size_t) t->subject->a.rows, r);
		count_vector(&t->e, half, side, r);
	}
}

/*
 * Many copies in a call, as many as take the one sampler or the other, and now
 * and then one copy, as in the server.  Rounds belong to the halves in turn.
 */
static void
run(trial *t, uint64_t draws)
{
	size_t		rows = (size_t) t->subject->a.rows;
	size_t		many = (t->table ? LONG_CALL : PE_GAUSSIAN_TABLE_COUNT - 1) / rows;

	for (uint64_t round = 0; t->e.n[0] + t->e.n[1] < draws; round++)
		for (int call = t->table ? 1 : 0; call < 17; call++)
		{
			size_t		copies = call == 0 ? 1 : many;

			count_draws(t, round % 2, 0, copies);
			count_draws(t, round % 2, 1, copies);
			t->e.n[round % 2] += copies;
		}
}

static void
start_trial(trial *t, const subject *s, const pair *pair, release_function release)
{
	int			rows = s->a.rows;

	memset(t, 0, sizeof(*t));
	t->subject = s;
	t->release = release;
	measure(s, &pair->p, t->exact[0]);
	measure(s, &pair->q, t->exact[1]);
	for (int i = 0; i < rows; i++)
	{
		if (t->exact[0][i] - t->exact[1][i] != (pe_i128) pair->p.image[i] - pair->q.image[i])
			pe_bug("the matrix applied is not the matrix shown");
		t->e.direction[i] = ldexp((double) (t->exact[0][i] - t->exact[1][i]), s->shift[i]);
	}
	start_evidence(&t->e, rows, s->of.mechanism->accounting, s->of.nano);
	for (int i = 0; i < rows; i++)
		t->e.weight[i] = s->a.weight[i] > 0 ? ldexp(s->a.weight[i], -2 * s->shift[i]) : 1;
	choose_bins(t);
}

/*
 * Audits a mechanism, or what a fault makes of it: each of the samplers on a
 * worst pair of its own, so that the one cannot make up for the other.  A fit chooses its
 * samplers itself, and has one pair; so does a minimisation, a private partition, and a tree.
 */
static void
audit(const subject *s, release_function release, uint64_t draws, verdict *v)
{
	static trial t;
	bool		whole = s->of.mechanism->prepare == prepare_fit || s->of.mechanism->prepare == prepare_minimum ||
		s->of.mechanism->prepare == prepare_dawa || s->of.mechanism->prepare == prepare_tree ||
		s->of.mechanism->release == release_edges;
	int			pairs = whole ? 1 : 2;

	pe_test_seed(SEED);
	memset(v, 0, sizeof(*v));
	for (int i = 0; i < pairs; i++)
	{
		start_trial(&t, s, &s->worst[i], release);
		t.table = i == 1;
		run(&t, draws);
		judge(&t.e, v);
	}
}

#include "faults.h"

/* ------------------------------------------------------------------
 * The run
 * ------------------------------------------------------------------
 */

static int	tests = 0;
static int	failures = 0;

static void
ok(bool passed, const char *name, const char *what)
{
	tests++;
	failures += !passed;
	printf("%s %d - %s: %s\n", passed ? "ok" : "not ok", tests, name, what);
	fflush(stdout);
}

#include "perturbed.h"
#include "passes.h"

static void
name_strategy(const target *of, char *name, size_t size)
{
	char		predicate[40] = "";

	if (of->ruled_out >= 0)
		snprintf(predicate, sizeof(predicate), " without cell %d", of->ruled_out);
	snprintf(name, size, "%s%s%s", of->workload, predicate,
			 of->base >> 60 ? " of 2^60 rows" : of->base >> 53 ? " of 2^53 rows" : "");
}

static void
name_target(const target *of, char *name, size_t size)
{
	char		strategy[80];

	name_strategy(of, strategy, sizeof(strategy));
	snprintf(name, size, "%s, %s(%d), %s, %s %.4g", of->mechanism->name, of->neighbours == PE_SUBSTITUTE ? "substitute" : "add_remove",
			 of->max_rows, strategy, of->mechanism->accounting == PE_PURE ? "epsilon" : "rho", (double) of->nano / NANO);
}

static void
print_header(uint64_t draws)
{
	printf("# %llu draws for each tally of a pair; lower bounds, out of the charge, as a share of it.\n",
		   (unsigned long long) draws);
	printf("# epsilon is that of events, at the delta shown; rho that of the divergence.\n");
	printf("# %-9s %-13s %-62s %-14s %-40s %-30s %s\n", "mechanism", "neighbours", "strategy", "charge",
		   "lower bound, share: epsilon", "rho", "verdict");
}

static void
print_row(const subject *s, const verdict *v, const char *word)
{
	char		text[80];

	snprintf(text, sizeof(text), "%s(%d)", s->of.neighbours == PE_SUBSTITUTE ? "substitute" : "add_remove", s->of.max_rows);
	printf("# %-9s %-13s", s->of.mechanism->name, text);
	name_strategy(&s->of, text, sizeof(text));
	printf(" %-62s", text);
	snprintf(text, sizeof(text), "%s %.4g", s->of.mechanism->accounting == PE_PURE ? "epsilon" : "rho", (double) s->of.nano / NANO);
	printf(" %-14s", text);
	print_findings(v, word);
}

static uint64_t
at_most(uint64_t draws, uint64_t most)
{
	return draws < most ? draws : most;
}

#include "keys.h"

/* The mechanism that was asked for alone; NULL: all. */
static const char *only;

/* What takes longer has fewer draws where all run: its most in a full run of 10^7, a fifth of that in the short one of 10^6. */
static uint64_t
draws_of(const mechanism *m, uint64_t draws)
{
	if (m->most_draws == UINT64_MAX || only != NULL)
		return draws;
	return at_most(draws, draws >= FULL_DRAWS || m->most_draws < FULL_DRAWS / 100 ? m->most_draws : m->most_draws / 5);
}

/*
 * Two columns of blocks are as far apart in the L1 norm as their norms allow, columns of people add up as
 * far as pairs of them do, and of aggregates no row changes all sums as much as it can: no pair of neighbours loses all of that.
 */
static bool
is_bounded(const subject *s)
{
	return (s->of.neighbours == PE_SUBSTITUTE &&
			(s->of.mechanism == &blocks_pure || (s->of.mechanism->prepare == prepare_aggregate && !has_units()))) ||
		(counts_people(s->of.mechanism) && !pe_strategy_counts_columns(&s->strategy));
}

static void
audit_target(const target *of, uint64_t draws)
{
	subject		s;
	char		name[160];
	verdict		v;
	bool		below;
	double		share;
	double		least;

	prepare(of, &s);
	name_target(of, name, sizeof(name));
	if (of->mechanism->sensitivity != NULL && !is_bounded(&s))
		ok(s.sensitivity == s.listed, name, "the sensitivity is what the list of all neighbours says");
	if (of->mechanism->prepare == prepare_sums || of->mechanism->prepare == prepare_blocks || of->mechanism->prepare == prepare_aggregate ||
		(counts_people(of->mechanism) && is_bounded(&s)))
		ok(s.sensitivity >= s.listed && (double) s.sensitivity < (is_bounded(&s) ? 2.5 : 1.001) * (double) s.listed, name,
		   "the sensitivity is what the list of all neighbours says, but for rounding");
	audit(&s, of->mechanism->release, draws_of(of->mechanism, draws), &v);
	below = v.epsilon.share <= 1 && v.rho.share <= 1;
	share = of->mechanism->accounting == PE_PURE ? v.epsilon.share : v.rho.share;
	least = (of->mechanism == &gdp || of->mechanism == &blocks_gdp || of->mechanism == &aggregate_gdp) && draws >= FULL_DRAWS ? LEAST_OF_GDP : of->mechanism->least_share;
	if (is_bounded(&s))
		least *= (double) s.listed / (double) s.sensitivity;
	print_row(&s, &v, !below ? "ABOVE THE CHARGE" : share >= least ? "holds" : "NO POWER");
	ok(below, name, "never above the charge");
	if (least > 0)
		ok(share >= least, name, "the audit comes near the charge");
	if (of->mechanism->prepare == NULL)
		pe_strategy_free(&s.strategy);
}

static void
audit_fault(const fault *f, uint64_t draws)
{
	subject		s;
	verdict		v;
	const finding *by;

	prepare(&f->of, &s);
	audit(&s, f->release, draws, &v);
	by = v.rho.share > v.epsilon.share ? &v.rho : &v.epsilon;
	print_row(&s, &v, by->share > 1 ? "caught" : "NOT CAUGHT");
	printf("#   %s: %s %s\n", f->name, by->share > 1 ? "caught by" : "nearest was", by->where);
	ok(by->share > 1, f->name, "caught");
	if (f->of.mechanism->prepare == NULL)
		pe_strategy_free(&s.strategy);
}

int
main(int argc, char **argv)
{
	uint64_t	draws = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	time_t		start = time(NULL);

	only = argc > 2 ? argv[2] : NULL;
	if (argc > 3 || draws < 1000)
	{
		fprintf(stderr, "usage: audit [draws [mechanism]]\n");
		return 2;
	}
	print_header(draws);
	for (int i = 0; i < lengthof(targets); i++)
		if (only == NULL || strcmp(only, targets[i].mechanism->name) == 0)
			audit_target(&targets[i], draws);
	if (only == NULL || strcmp(only, "perturbed") == 0)
		audit_perturbed(only != NULL ? (int) draws : PERTURBED_DRAWS);
	if (only == NULL || strcmp(only, "passes") == 0)
		audit_passes();
	if (only == NULL || strcmp(only, "keys") == 0)
		audit_keys(draws);
	printf("# planted faults, at most %d draws, 10^7 where a few percent are missing\n", FAULT_DRAWS);
	for (int i = 0; i < lengthof(faults); i++)
		if (only == NULL || strcmp(only, faults[i].of.mechanism->name) == 0)
		{
			uint64_t	needed = faults[i].of.mechanism == &gdp || faults[i].release == blocks_shares_up ? FULL_DRAWS : FAULT_DRAWS;

			if (needed <= draws || needed == FAULT_DRAWS)
				audit_fault(&faults[i], at_most(needed, draws_of(faults[i].of.mechanism, draws)));
			else
				printf("# %s: it takes 10^7 draws\n", faults[i].name);
		}
	printf("# %d s\n", (int) (time(NULL) - start));
	printf("1..%d\n", tests);
	return failures > 0;
}

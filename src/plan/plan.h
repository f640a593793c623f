/*
 * plan.h
 *	  What a request will draw, and the one cost that pays for it.
 *
 * A plan is made of a validated request before anything is charged.  It holds the cost and
 * the noise that is calibrated to this cost, and nobody outside this room can pair one plan's
 * cost with another noise: a pe_plan, a pe_cost and a pe_noise have no fields elsewhere.  The
 * ledger charges the plan's cost, the door draws through the plan.
 *
 * Sensitivity is computed here, in integers, from the very strategy that is measured, under
 * the dataset's rules: neighbours and the rows of a unit (strategy/strategy.h, with the
 * theorem).  Calibration is to the integer cost itself (noise/noise.h).
 *
 * One run of a plan draws from an allowance that is made of its cost (accounting/cost.h).  Where a scan
 * fails a fit runs once more, on nothing: what a first run drew never leaves.  Kinds
 * of plans, and where it is said what they release, for which neighbours, by which theorem:
 *
 *	  measurement	A_i x_i with noise for several vectors x_i of sums and counts, of a histogram one:
 *				plan_measurement.c, noise/gaussian.h, noise/laplace.h
 *	  dawa		estimates by way of a private partition: counts/dawa.h
 *	  model		fit/fit.h and the file of its method; of an (epsilon, delta) method fit/fit.h
 *	  minimum	minimum/minimum.h and the file of its method
 *	  quantiles	counts/quantile_select.h
 *	  series	sum_s L_ts A x_s with noise, for every period t of a series: plan_series.c
 *	  keys		keys that nobody has listed, above a threshold, and sums of those that pass: counts/key_threshold.h
 *	  tree		tables of attributes and of the pairs of a tree, which is chosen: counts/measured_tree.h
 *
 * Everything in a plan is public; it depends on no row.
 */
#ifndef PE_PLAN_PLAN_H
#define PE_PLAN_PLAN_H

#include "accounting/cost.h"
#include "counts/measured_tree.h"
#include "counts/quantile_select.h"
#include "domain/sums.h"
#include "domain/keys.h"
#include "fit/fit.h"
#include "minimum/minimum.h"
#include "noise/noise.h"
#include "time/continual.h"

typedef struct pe_plan pe_plan;

typedef enum pe_plan_status
{
	PE_PLAN_MADE,
	PE_PLAN_SENSITIVE,			/* the sensitivity is too large to be served */
	PE_PLAN_COST,				/* no noise can be drawn for the cost asked for */
	PE_PLAN_SHARES,				/* the cost is too small to be divided */
	PE_PLAN_OPTION,				/* what: an option that the method does not know, or its value makes no sense */
	PE_PLAN_REFUSED				/* what: why the method cannot be had, a sentence */
} pe_plan_status;

/* How the cost was asked for: exactly one of epsilon, rho and max_stderr is a number, the others are NaN. */
typedef struct pe_plan_ask
{
	pe_accounting accounting;	/* of the budget; PE_PURE: neither rho nor delta is asked for */
	pe_accounting cap;			/* of models and minima: as in pe_plan_rules */
	double		epsilon;
	double		rho;
	double		max_stderr;		/* of counts by a strategy */
	double		delta;			/* at which epsilon is meant; an (epsilon, delta) method is charged it */
} pe_plan_ask;

/*
 * What sensitivities and the price depend on, by the dataset's declaration; of private values
 * max_change is above 0, and neighbours and max_rows are not looked at.
 */
typedef struct pe_plan_rules
{
	pe_neighbours neighbours;
	int32_t		max_rows;		/* of a unit */
	/*
	 * units are counted by the number of their rows, each in one cell
	 * (PE_READ_SIZES): max_rows is 1
	 */
	bool		by_size;
	/*
	 * each cell of a measurement is there once for every key (PE_READ_KEY_SUMS):
	 * of parts alone, no dataset declares it
	 */
	bool		by_keys;
	double		max_change;		/* 0: rows are private */
	bool		change_all;
	pe_accounting cap;			/* which may count rho while the budget is pure */
} pe_plan_rules;

typedef struct pe_plan_counts
{
	const pe_strategy *strategy;	/* what is measured, or for dawa the columns; it must outlive the plan */
	pe_plan_rules rules;
	const double *gram;			/* dawa: W'W over the columns (counts/dawa.h); NULL: the strategy is measured */
	double		scale;			/* standard deviations of noise in the error that max_stderr bounds */
} pe_plan_counts;

/* Values that nobody has listed: as many as there are rows. */
#define PE_ANY_VALUES INT32_MAX

/* One vector of sums, or of counts, and what is measured of it. */
typedef struct pe_plan_part
{
	const pe_strategy *strategy;	/* over the cells that the sums are by; it must outlive the plan */
	int64_t		bound;			/* the most that one row adds to a cell, as an absolute value */
	bool		is_signed;		/* whether it can be below 0 */
	/*
	 * > 0: units are counted, each once in at most so many cells; 0: rows, as
	 * the rules cut them
	 */
	int32_t		cells;
	int32_t		lost;			/* > 0: rows that the cut left out, at most so many of a unit; cells is 0 */
	int32_t		distinct;		/* > 0: values are counted, of at most so many; cells and lost are 0 */
	uint64_t	share;			/* of the cost, in 2^-PE_SHARE_BITS */

	/*
	 * > 0: parts of rows of one table, with one strategy: each row is in the
	 * same cell of all of them, and what counts rows (bound 1, not signed)
	 * counts every row that another part of the table counts.  0: its own
	 */
	int32_t		table;

	/*
	 * > 0: of PE_PURE, several parts of one table and with one share: no row adds
	 * less than 0 to any, or more than the bound to all together.  0: none
	 */
	int32_t		pair;

	/*
	 * bits of numbers: no row counts that has not all of `needs`, or that has
	 * all of `lacks`; 0: that is not known.  Of parts of rows
	 */
	uint16_t	needs;
	uint16_t	lacks;

	/*
	 * by pe_plan_find_apart: N of substitute in 2^-PE_SHARE_BITS, beside the
	 * sensitivity of rows that are added; 0: the part pays for its own
	 */
	uint64_t	apart;
} pe_plan_part;

/* Counts, with the whole cost. */
extern pe_plan_part pe_plan_whole(const pe_strategy *strategy);

typedef struct pe_plan_sums
{
	int			parts;
	/*
	 * copied, and apart found anew; pe_plan_shares_hold
	 */
	const pe_plan_part *part;
	pe_plan_rules rules;
	int			bounded;		/* the part whose noise max_stderr bounds, */
	double		scale;			/* that error is so many standard deviations of it */
} pe_plan_sums;

/*
 * A series of reports, one cost for all of it (plan_series.c): of counts by a
 * strategy, or of sums.  Of the rules max_rows, and of parts their cells, are
 * of a unit in one period.  first: what the series was when it was created, if
 * it has been prolonged since: the noise is what it was.
 */
typedef struct pe_plan_series
{
	/*
	 * measured in each period; NULL: sums are; all that is pointed at must
	 * outlive the plan, except the parts
	 */
	const pe_strategy *cells;
	/*
	 * its parts, copied, and which one max_stderr bounds; its rules and scale
	 * are not looked at
	 */
	const pe_plan_sums *sums;
	const pe_continual *time;	/* all periods */
	const pe_continual *first;	/* NULL: time */
	pe_presence presence;		/* the neighbours are those of the rules */
	pe_plan_rules rules;
	double		scale;			/* standard deviations of noise in the error that max_stderr bounds */
} pe_plan_series;

/* ----------
 * Making
 * ----------
 */
extern pe_plan_status pe_plan_of_counts(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan **plan);

extern pe_plan_status pe_plan_of_sums(const pe_plan_ask *ask, const pe_plan_sums *sums, pe_plan **plan);

/*
 * Fills in nano, delta, defaults of options and the fit's own plan; the problem is copied, and
 * what it points at must outlive the plan.  A method without privacy costs nothing and cannot
 * be run by a plan.
 */
extern pe_plan_status pe_plan_of_model(const pe_plan_ask *ask, pe_fit_problem *problem,
									   pe_plan **plan, const char **what);
extern pe_plan_status pe_plan_of_minimum(const pe_plan_ask *ask, pe_minimum_problem *problem,
										 pe_plan **plan, const char **what);

/*
 * Quantiles on a public grid: takes neighbours and max_rows from the rules, which the cut of the rows follows
 * (pe_plan_follows), and fills in accounting and nano.  PE_PLAN_REFUSED for numbers that make no
 * sense, PE_PLAN_SHARES for a cost below one nano-unit for each level.  The fractions must outlive the plan.
 */
extern pe_plan_status pe_plan_of_quantiles(const pe_plan_ask *ask, const pe_plan_rules *rules,
										   pe_quantile_problem *problem, pe_plan **plan, const char **what);

/*
 * Of keys: rules' max_rows is how many keys of a unit count, each once; delta
 * is charged, and ask's delta is the one at which epsilon is meant.
 * PE_PLAN_COST also where accounting is pure, or delta is below 1e-18.
 */
extern pe_plan_status pe_plan_of_keys(const pe_plan_ask *ask, const pe_plan_rules *rules, double delta, pe_plan **plan);

/*
 * The same, and for every key that passes the sums: of rows alone, none of blocks.  share: of the cost, in
 * 2^-PE_SHARE_BITS, what the counts of units take; the sums take the rest.  Their rules are the given ones, by keys.
 */
extern pe_plan_status pe_plan_of_key_sums(const pe_plan_ask *ask, const pe_plan_rules *rules, double delta,
										  const pe_plan_sums *sums, uint64_t share, pe_plan **plan);

/*
 * Of the tables of a tree: takes neighbours and max_rows from the rules, and fills in accounting and nano.
 * PE_PLAN_REFUSED for numbers that make no sense, PE_PLAN_SHARES for a cost that cannot be divided.
 */
extern pe_plan_status pe_plan_of_tree(const pe_plan_ask *ask, const pe_plan_rules *rules, pe_tree_problem *problem,
									  pe_plan **plan, const char **what);

/* Of a series as it is created: PE_PLAN_COST also where accounting is pure. */
extern pe_plan_status pe_plan_of_series(const pe_plan_ask *ask, const pe_plan_series *series, pe_plan **plan);

/*
 * Of one that goes on: series->first is there, and its first part cost nano; of
 * ask accounting, cap and delta are read.  The cost is that of the whole, at
 * the noise of the first part, less that of `paid`, the periods that this
 * payer, or block of time, has paid for before; NULL: none, and it pays for the
 * whole.  At least 1 nano-unit.
 */
extern pe_plan_status pe_plan_of_prolonged(const pe_plan_ask *ask, const pe_plan_series *series,
										   const pe_continual *paid, int64_t nano, pe_plan **plan);

/*
 * Of period t of one that was paid for, and whose first part cost nano: what
 * measures it.  The cost is that of one draw of this period alone, rounded up,
 * for a draw that the payment does not cover (ledger/series.h).
 */
extern pe_plan_status pe_plan_of_period(const pe_plan_ask *ask, const pe_plan_series *series,
										int64_t nano, int32_t t, pe_plan **plan);

/* The least cost in nano-units that counts by dawa can divide. */
extern int64_t pe_plan_least_dawa(void);

/* ----------
 * Reading
 * ----------
 */
extern const pe_cost *pe_plan_cost(const pe_plan *plan);

/* Whether the plan was made under these rules: the door asks it before it charges, for it cuts the rows by them. */
extern bool pe_plan_follows(const pe_plan *plan, const pe_plan_rules *rules);

/* Its cost as an epsilon: pure, of an (epsilon, delta) method, or at the delta that was asked for. */
extern double pe_plan_epsilon(const pe_plan *plan);

/*
 * The noise of a measurement of one part, and its sensitivity (squared where rho
 * is counted); NULL and 0 of others, which draw several times.
 */
extern const pe_noise *pe_plan_noise(const pe_plan *plan);
extern pe_u128 pe_plan_sensitivity(const pe_plan *plan);

/* Of keys: tau in units of 2^-pe_noise_shift of the noise, and the noise of each count; NULL of other kinds. */
extern int64_t pe_plan_key_threshold(const pe_plan *plan);
extern const pe_noise *pe_plan_key_noise(const pe_plan *plan);

/* Of its cost, what the sums of keys take. */
extern int64_t pe_plan_nano_of_key_sums(const pe_plan *plan);

/* The standard deviation of the noise on counts if the plan cost nano instead. */
extern double pe_plan_stderr_at(const pe_plan *plan, int64_t nano);

/*
 * The noise of a release of a strategy that cost nano, read again; NULL if there is none.  Free it with pe_free.
 * Of blocks it is the noise of one with D = 1 and the whole share, which is the unit of variances (blocks/blocks.h).
 */
extern pe_noise *pe_plan_noise_of(const pe_strategy *strategy, const pe_plan_rules *rules,
								  pe_accounting accounting, int64_t nano);

/* Whether it adds up rows that the cut leaves: not units, values, or rows that it left out. */
extern bool pe_plan_part_is_of_rows(const pe_plan_part *part);

/* Whether a part is a later one of a pair, or of several: its share is that of the first. */
extern bool pe_plan_part_is_second(const pe_plan_part *part, int i);

/*
 * Whether the shares of the parts that any one row counts in add up to at most
 * the whole: a part that lacks numbers and one that needs them have no row in
 * common.  PE_MOST_LACKS sets of numbers may be lacking at most.
 */
#define PE_MOST_LACKS 8
extern bool pe_plan_shares_hold(const pe_plan_part *part, int parts);

/*
 * Fills in apart of all parts of a measurement, from their shares
 * (plan_neighbours.c).  False if it is beyond what is served.
 */
extern bool pe_plan_find_apart(pe_plan_part *part, int parts, const pe_plan_rules *rules, pe_accounting accounting);

/* The same of the parts that a plan was made of, as it found them. */
extern void pe_plan_tell_apart(const pe_plan *plan, pe_plan_part *part);

/*
 * The shares that minimise sum_b N cost_b / share_b (PE_PURE: of squares), where
 * N is how far parts of rows are apart together and 1 of others; of cost 0: 0.
 * cost: of each part, for noise of its sensitivity with the whole share; of rows
 * under substitute of rows that are added.  *least: the sum, with the whole
 * cost.  False as pe_plan_find_apart.
 */
extern bool pe_plan_share(pe_plan_part *part, int parts, const double *cost, const pe_plan_rules *rules,
						  pe_accounting accounting, double *least);

/* The same of a part, with the N that it has. */
extern pe_noise *pe_plan_noise_of_part(const pe_plan_part *part, const pe_plan_rules *rules,
									   pe_accounting accounting, int64_t nano);

/*
 * The sensitivity of a part (squared, unless the accounting is pure) with the N that it has, rounded up; of blocks that
 * of one with D = 1 and the whole share; false if it is too large to be served.
 */
extern bool pe_plan_part_sensitivity(const pe_plan_part *part, const pe_plan_rules *rules,
									 pe_accounting accounting, pe_u128 *sensitivity);

/*
 * The noise of each period of a series whose first part cost nano, read again:
 * of sums that of each part, else one.  And in which units its measurements
 * are: 2^-lattice[b] of block or part b, of another strategy 2^-lattice[0].
 * NULL if there is none.  Free them with pe_free.  Both at once, unless lattice
 * is NULL, for the factor of time of many periods takes milliseconds.
 */
extern pe_noise **pe_plan_noise_of_series(const pe_plan_series *series, pe_accounting accounting, int64_t nano,
										   int **lattice);
extern int *pe_plan_series_lattices(const pe_plan_series *series, pe_accounting accounting, int64_t nano);

/* How many numbers of what is read a part is measured from: columns, or of blocks the cells of their tables. */
extern int64_t pe_plan_part_columns(const pe_plan_part *part);

/*
 * What pe_presence calls similar, from the very columns that are measured; 0
 * unless neighbours are PE_SUBSTITUTE.
 */
extern uint64_t pe_plan_series_similar(const pe_plan_series *series);

/* In which units the blocks of a release are: 2^-lattice[b].  NULL for other strategies.  Free it with pe_free. */
extern int *pe_plan_lattices_of_part(const pe_plan_part *part, const pe_plan_rules *rules,
									 pe_accounting accounting, int64_t nano);
extern int *pe_plan_lattices(const pe_strategy *strategy, const pe_plan_rules *rules,
							 pe_accounting accounting, int64_t nano);

/* ----------
 * Drawing
 * ----------
 */

/*
 * Numbers per column of the strategy of each part, of blocks per cell of the
 * tables that they need (pe_blocks_tables), one part after the other, noised:
 * pe_plan_rows numbers in released, in units of 2^-pe_noise_shift of the part's
 * noise, of blocks of 2^-pe_plan_lattices_of_part.  exact: room for as
 * many, wiped at the end; where pe_poll does not return, the caller wipes it.
 * hold is called when the draw that decides the release comes next: nothing
 * polls after it.
 */
extern void pe_plan_measure(const pe_plan *plan, const int64_t *columns, pe_i128 *exact,
							int64_t *released, void (*hold) (void));

/*
 * y_t of period t of a series, cells->rows numbers in released, of sums
 * pe_plan_rows, in units of pe_plan_series_lattices.  counts: from
 * pe_continual_since to t, one period after the other, each as pe_plan_measure
 * takes it.  A period that was drawn and not stored may be drawn again: nothing
 * of it has left.
 */
extern void pe_plan_measure_period(const pe_plan *plan, int32_t t, const int64_t *counts,
								   pe_i128 *exact, int64_t *released, void (*hold) (void));

/* Whether a plan of a series was made for this declaration of units in time: the door asks it before it charges. */
extern bool pe_plan_follows_presence(const pe_plan *plan, const pe_presence *presence);

/* Whether its parts are these sums, with their bounds and cells: the door asks it before it charges. */
extern bool pe_plan_is_of_sums(const pe_plan *plan, const pe_sums *sums);

/*
 * Whether of parts of one table each row is in the same cell, and their counts
 * count every row that another one counts, as N of them says; and of values that
 * are counted each table is by them last, they are no more than the part says,
 * and no two groups are added up: the door asks it too.  tables: of the sums;
 * column_of: of each part, as the door reads it.
 */
extern bool pe_plan_is_by_tables(const pe_plan *plan, const pe_sums *sums, const pe_tables *tables,
								 const pe_domain *domain, int32_t *const *column_of);

/* The numbers that a measurement draws: those of the strategies of all parts, one after the other. */
extern int64_t pe_plan_rows(const pe_plan *plan);

/* pe_quantile_select on what the plan was made for; hold as above. */
extern void pe_plan_select_quantiles(const pe_plan *plan, const int64_t *count, int32_t *chosen, void (*hold) (void));

/* Whether it measures a tree of these tables: the door asks it before it charges. */
extern bool pe_plan_is_of_tree(const pe_plan *plan, const pe_tables *tables);

/* pe_tree_measure on what the plan was made for; hold as above. */
extern int64_t *pe_plan_measure_tree(const pe_plan *plan, const pe_tables *tables, const int64_t *counts,
									 int64_t *values, void (*hold) (void));

/*
 * pe_fit_run and pe_minimum_run on what the plan was made for.  covariance, population: of fit.h, NULL if they are not
 * asked for.
 */
extern void pe_plan_fit(const pe_plan *plan, pe_source *source, double *w, double *covariance,
						pe_fit_population *population);
extern void pe_plan_minimise(const pe_plan *plan, const pe_affine *f, double *x);

/*
 * A run of a plan of keys, in parts with disjoint keys; its cost is taken once.
 * Each slot with a count above 0 has a key and what it adds up to for all rows;
 * others have none.  Draws for all slots, and leaves of the keys that pass at
 * most `most` in passed; returns how many.  Polls nowhere.
 */
typedef struct pe_plan_key_run pe_plan_key_run;

typedef struct pe_released_key
{
	pe_u128		number;
	int64_t		value;			/* the noisy count, in units of 2^-pe_noise_shift */
} pe_released_key;

extern pe_plan_key_run *pe_plan_begin_keys(const pe_plan *plan);
extern size_t pe_plan_draw_keys(const pe_plan_key_run *run, const pe_key_count *slot, size_t slots,
								pe_released_key *passed, size_t most);

/*
 * The sums of the keys that passed, once in a run: columns as pe_plan_measure takes them, of one key after the other;
 * released: pe_plan_rows numbers of each key, in its units.  Polls nowhere.
 */
extern void pe_plan_draw_key_sums(pe_plan_key_run *run, const int64_t *columns, size_t keys, int64_t *released);
extern void pe_plan_end_keys(pe_plan_key_run *run);

#endif

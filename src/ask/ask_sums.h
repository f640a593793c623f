/*
 * ask_sums.h
 *	  Aggregates of a dataset, validated: for dp.aggregate, its quote, and what is read of such releases.
 *
 * No row is read here, and nothing is charged: every fault is an ordinary error
 * and free.
 */
#ifndef PE_ASK_ASK_SUMS_H
#define PE_ASK_ASK_SUMS_H

#include "ask/complete.h"
#include "ask/label.h"
#include "ask/stored_release.h"
#include "ask/request.h"
#include "counts/aggregate.h"
#include "counts/min_count.h"
#include "door/door.h"
#include "ledger/strategies.h"
#include "blocks/reconstruct.h"

struct pe_known_pair;
struct pe_aggregate_result;

/* Attributes that sums are by, and what is measured of them. */
typedef struct pe_space
{
	int			attributes;
	const pe_column *columns;
	uint32		set;			/* which of the domain's attributes they are */
	pe_domain  *domain;
	pe_workload workload;
	bool	   *possible;		/* of each cell, whether the predicate leaves it; NULL: all, or too many cells */
	const bool *possible_of[PE_MAX_ATTRIBUTES]; /* likewise of each attribute, for blocks; NULL: all */
	pe_kept_strategy kept;
	pe_measured measured;
	int32	   *column_of;		/* of each cell: a column of the strategy; NULL: of blocks */
	double	   *variance;		/* of each query for noise of variance 1; of counts NULL: not computed yet */
	pe_reconstruction own;		/* of the workload */

	/*
	 * of each query with the total of all cells, for noise of variance 1; NULL:
	 * not computed yet
	 */
	double	   *total_covariance;
	double		total_variance;

	/* of ranks: what is above the inner edges of the last attribute, in each group */
	bool		by_cells;		/* of quantiles and levels: its queries are those of the groups times cells */
	bool		derived;		/* answers follow from what was measured elsewhere (known.c) */
	const char *above_text;		/* NULL: no ranks */
	pe_workload above;
	double	   *above_variance;

	struct pe_atom_space *by_atom;	/* atoms.h; NULL: its cells are those of the attributes alone */
} pe_space;

/* One of the vectors that are measured. */
typedef struct pe_source_of_part
{
	int			sum;			/* of those that the aggregates need; of several the first */
	int			space;
	int			term;			/* of units: of the groups' workload; else -1 */
	int		   *row_of;			/* of each sum, by atoms: its row of the space, -1: none; NULL: of the sum alone */
	bool		of_all;			/* its space has one query, of all groups together */

	/*
	 * it counts the rows of one sum that another one does not (rest.h)
	 */
	bool		is_rest;
	int			all;
	int			some;
} pe_source_of_part;

/* The conditions of aggregates, each once. */
typedef struct pe_conditions
{
	int			count;
	char	   *text[PE_MAX_CONDITIONS];	/* canonical */
} pe_conditions;

/* The kept strategies of the spaces that are measured, each once, in their order. */
typedef struct pe_strategies
{
	int			count;
	int64		id[1 + PE_MAX_ATTRIBUTES];
} pe_strategies;

/* The counts that decide of an aggregate whether it is shown: of all of its group, and of what it is made of. */
#define PE_DECIDED_BY 3

/* The most columns that are read, and formulas; of a comparison two are. */
#define PE_MAX_COLUMNS_READ (2 * PE_MAX_ATTRIBUTES + PE_MAX_NUMBERS + PE_MAX_FACTORS + PE_MAX_OPENS)

typedef struct pe_aggregation
{
	pe_asked	asked;
	pe_plan_rules rules;		/* under which each part's sensitivity is taken */
	int			aggregates;		/* those that the request names, and behind them what suppress.h adds */
	pe_aggregate aggregate[PE_MAX_AGGREGATES];
	char	   *text[PE_MAX_AGGREGATES];	/* canonical */
	pe_conditions conditions;
	char	  **where;			/* the predicate and all conditions, as they were written, */
	pe_predicate *parsed;		/* and what they mean */
	int			wheres;
	int			taken;			/* of them, by aggregates */

	pe_column  *columns;		/* groups, attributes of quantiles, watched ones; then numbers. Others have no name */
	int			groups;
	int			quantiles;		/* attributes of quantiles, and of values that are counted */
	int			watched;
	pe_domain  *domain;
	pe_predicate *selection;	/* NULL: all rows count */
	const char *predicate;		/* canonical */
	int32		cells_per_unit; /* 0: rows are units */
	const pe_column *number_column[PE_MAX_NUMBERS];
	const pe_column *factor_column[PE_MAX_FACTORS];	/* of formulas (formulas.h) */
	pe_column	open[PE_MAX_OPENS];	/* whose values are counted; of a release their names alone */
	uint32		never_null;		/* bit n is set if every row has number n */
	pe_complete complete;		/* of groups, quantiles and watched ones */

	/* of a release that is read again */
	bool		stored;
	char	  **never_null_name;	/* what was there in every row then */
	int			never_null_names;
	char	  **open_name;		/* columns that were open then, and had no levels */
	int			open_names;
	char	  **decimals;		/* the scales of numeric columns then (formulas.h) */
	int			decimals_count;
	pe_strategies strategies;	/* none: the workloads themselves were measured */
	int			version;		/* of the data */

	pe_sums		needed;			/* what the aggregates are made of */
	int		   *together;		/* of each: the first of those that are measured together with it, */
	int		   *space_of;		/* by atoms in this space; -1: it is measured by itself */
	int			spaces;
	pe_space   *space;			/* the first is that of the groups */
	int			parts;
	pe_source_of_part source[PE_MAX_SUMS];
	pe_plan_part part[PE_MAX_SUMS];
	int32	   *first_table;	/* of each part, and the end */
	pe_sums		sums;			/* one for each table */
	double		of_series;		/* the factor of time of a series, whose sums are of one period; 0: no series */
	pe_question question;

	/* of counts, which are the one sum of count(*) by a method of choice (ask_counts.h) */
	pe_method	method;
	bool		bounded;		/* a quote, which shows how good a strategy can be at best */
	int			spare;			/* of blocks: pe_blocks_spare, where it is another than a release's; else 0 */
	double		max_variance;	/* the largest and the mean of all; 0: not computed yet */
	double		mean_variance;

	/* which groups are shown (suppress.h) */
	pe_min_count min;
	int			deciding;
	pe_aggregate *decides;		/* counts */
	int			decided_by[PE_MAX_AGGREGATES][PE_DECIDED_BY];	/* -1: none */
	struct pe_aggregate_result *count;	/* what was answered last: [group * deciding + i] */

	/* quantiles on a grid, which are asked for by themselves: nothing is measured */
	bool		on_grid;
	pe_quantile_problem grid;
	int32		fraction[PE_MAX_AGGREGATES];	/* ascending */
} pe_aggregation;

/* The name of a column for an aggregate (sums_name.c): two that differ may have the same one. */
extern char *pe_aggregation_name(const pe_aggregation *aggregation, int number);

/*
 * Validates a request for sums or counts.  What is to be answered needs a
 * budget (42501 otherwise); a quote does not.  Inside PE_UNDONE.
 */
extern pe_aggregation *pe_aggregation_validate(const pe_request *request, bool needs_budget);

/*
 * The same of a release that is read again, whose request, dataset and accounting are there, and what it says under
 * "of a release".  Neither budget nor privilege is asked for.  Inside PE_UNDONE.
 */
extern void pe_aggregation_restore(pe_aggregation *aggregation);

/* Whether it is dp.histogram's: one count of all rows, by a method of choice. */
extern bool pe_aggregation_is_counts(const pe_aggregation *aggregation);

/* Whether it is of a table, whose front alone can ask for levels. */
extern bool pe_aggregation_tabulates(const pe_aggregation *aggregation);

/* The column of a number that is added next, for the caller to fill.  54000 if there are too many. */
extern pe_column *pe_aggregation_next_number(pe_aggregation *aggregation);

/*
 * Finds the strategies and shares; and makes the plan and the charge.  Not
 * inside PE_UNDONE: a computation reports its progress.
 */
extern void pe_aggregation_measure(pe_aggregation *aggregation);
extern void pe_aggregation_price(pe_aggregation *aggregation);

/* Once it is measured: what the door reads for it, without a plan and a charge; and what a charge says of it. */
extern const pe_question *pe_aggregation_ask(pe_aggregation *aggregation);
extern void pe_aggregation_add_text(StringInfo text, pe_aggregation *aggregation);
extern void pe_aggregation_name_strategies(const pe_aggregation *aggregation, pe_charge_request *charge);

/* Whether any part is measured by blocks. */
extern bool pe_aggregation_has_blocks(const pe_aggregation *aggregation);

/* Whether sums of numbers will be measured by blocks. */
extern bool pe_aggregation_has_numbers_by_blocks(const pe_aggregation *aggregation);

/* What the answers of all groups take, without their labels; for pe_check_memory. */
extern size_t pe_aggregation_memory(const pe_aggregation *aggregation);

/* Numbers that every row has, and the kept strategies of a request. */
extern int	pe_aggregation_never_null(const pe_aggregation *aggregation, char **name);
extern pe_strategies pe_aggregation_strategies(const pe_aggregation *aggregation);

/* Those that a charge, or a reply, names: one, 0: none, and others. */
extern pe_strategies pe_strategies_of(int64 strategy_id, const int64 *other, int others);

/* Whether any aggregate is a share of all cells. */
extern bool pe_aggregation_asks_share(const pe_aggregation *aggregation);

/* Whether units are counted by any aggregate, rows that the cut left out, and values. */
extern bool pe_aggregation_counts_units(const pe_aggregation *aggregation);
extern bool pe_aggregation_counts_lost(const pe_aggregation *aggregation);
extern bool pe_aggregation_counts_values(const pe_aggregation *aggregation);

/* How often rows are read beside once: for the values of open columns. */
extern int	pe_aggregation_readings(const pe_aggregation *aggregation);

/* 54000 if a release cannot hold so many measurements. */
extern void pe_aggregation_check_measurements(int64 rows, bool by_blocks);

/* 22023 if max_stderr is asked for and the error of the first aggregate depends on rows. */
extern void pe_aggregation_check_max_stderr(const pe_aggregation *aggregation);

/* Whether a number is there exactly where its attribute has a cell that is not that of NULL. */
extern bool pe_aggregation_is_there_with_cell(const pe_column *column);

/* The fraction of a quantile in millionths. */
extern int32 pe_fraction_of(const pe_aggregate *aggregate);

/* Whether any sum is by a space: else it has no strategy. */
extern bool pe_aggregation_measures(const pe_aggregation *aggregation, int space);

/* Finds the strategy of a space; whether it will be one of blocks.  Not inside PE_UNDONE, likewise. */
extern void pe_aggregation_obtain(pe_aggregation *aggregation, pe_space *space);
extern bool pe_aggregation_is_by_blocks(const pe_aggregation *aggregation, const pe_space *space);

/* Takes the one of these strategies, which a charge names, that a space was measured with; XX001 if it is gone. */
extern void pe_aggregation_load(pe_space *space, const pe_strategies *strategies);
extern const char *pe_aggregation_method(const pe_aggregation *aggregation);

/* What follows from the strategy of a space; and what takes no look at its queries. */
extern void pe_aggregation_settle(pe_space *space);
extern void pe_aggregation_settle_cells(pe_space *space);

/* The answers to all groups from what a release holds; free.  Those that decide what is shown are in `count`. */
typedef struct pe_aggregate_result
{
	double		estimate;		/* NaN: unknown; there may be an interval all the same */
	double		stderr_;		/* likewise */
	double		lower;			/* may be infinite; NaN: nothing is known, or there is no interval of this kind */
	double		upper;
} pe_aggregate_result;

/*
 * result[group * aggregates + i].  value: as it was stored, the shares in front.  strategies: what it was measured
 * with; nano: what it cost; miss: what intervals miss at most.  XX001 if it does not fit.
 */
extern pe_aggregate_result *pe_aggregation_results(pe_aggregation *aggregation, int64 release, const int64 *value,
												   int64 values, const pe_strategies *strategies, int64 nano,
												   double miss);

/* The measurements that a release holds, with the strategies and the shares of then.  XX001 if they do not fit. */
extern const int64 *pe_aggregation_measured(pe_aggregation *aggregation, int64 release, const int64 *value,
											int64 values, const pe_strategies *strategies);

/* The strategies and the shares of then, where so many measurements of each key stand elsewhere.  Errors likewise. */
extern void pe_aggregation_take(pe_aggregation *aggregation, int64 release, const int64 *share, int32 shares,
								int64 rows, const pe_strategies *strategies);

/* How many of them stand in front of those of a part. */
extern int64 pe_aggregation_rows_before(const pe_aggregation *aggregation, int part);

/* The shares as they were paid for; false if they cannot be. */
extern bool pe_aggregation_take_shares(pe_aggregation *aggregation, const int64 *share);

/*
 * 55000: what a release holds is not what is measured for its request now, so
 * an earlier version made it.
 */
extern void pe_aggregation_refuse_earlier(int64 release) __attribute__((noreturn));

/* What the parts were measured with. */
typedef struct pe_aggregate_noise
{
	pe_noise  **of_part;
	pe_noise  **joined;			/* of the best estimate of a part with a rest: pe_rest_noise; else NULL */
	int		  **lattice;		/* of each part: pe_plan_lattices_of_part */

	/*
	 * that they were: answers are made of so many measurements of each at most;
	 * 1 of a release
	 */
	int32		times;
	double		miss;			/* what intervals of answers miss at most */
} pe_aggregate_noise;

/* Of a release that cost nano, with intervals of 95 %. */
extern pe_aggregate_noise pe_aggregation_noise(const pe_aggregation *aggregation, int64 nano);

/*
 * What one measurement of all parts alone says, with the numbers of its parts
 * one after the other: so many linear estimates, in units of the integers.
 * Sums of them, whose variance is `variance` times that of one, are answered
 * like one.
 */
extern int32 pe_aggregation_estimates(const pe_aggregation *aggregation);
extern void pe_aggregation_estimate(const pe_aggregation *aggregation, const pe_aggregate_noise *noise,
									const int64 *value, double *estimate);

/*
 * The same of part i of a request alone, from part j of `of`, which measured y:
 * over what pair says (known.h), NULL: over the same groups.  Returns how many
 * they are.
 */
extern int32 pe_aggregation_estimate_part(const pe_aggregation *of, const pe_aggregate_noise *noise, int j,
										  const pe_aggregation *aggregation, int i,
										  const struct pe_known_pair *pair, const int64 *y, double *estimate);
extern void pe_aggregation_answers(pe_aggregation *aggregation, const pe_aggregate_noise *noise,
								   const double *estimate, double variance, pe_aggregate_result *result);

/*
 * A table: what aggregates are in each group, and behind the groups in all of
 * them together, which are cells of attributes (no workload).  What is not shown
 * is unknown.
 */
typedef struct pe_tabulated
{
	int32		groups;			/* without that of all */
	pe_aggregate_result *result;	/* [group * aggregates + i]; of levels none */
	pe_aggregate_result *missing;	/* likewise: rows of the first aggregate, count(*), that it does not count; */
	pe_aggregate_result **cell; /* of levels: of each aggregate [group * cells + c]; */
	pe_aggregate_result **quartile; /* of a median: [group * 3 + q] */
	const pe_sum_estimate *sum; /* [group * sums + s], of the groups alone */
	bool	   *shown;			/* each group, and all together */
} pe_tabulated;

/* From estimates as above, of one measurement.  Not on a grid. */
extern void pe_aggregation_tabulate(pe_aggregation *aggregation, const pe_aggregate_noise *noise,
									const double *estimate, pe_tabulated *table);

/* The same from what a release holds; as pe_aggregation_results. */
extern void pe_aggregation_tabulate_release(pe_aggregation *aggregation, int64 release, const int64 *value,
											int64 values, const pe_strategies *strategies, int64 nano,
											pe_tabulated *table);

/* What errors of a release's answers are computed from. */
typedef struct pe_aggregate_errors
{
	const pe_aggregation *aggregation;
	pe_aggregate_noise noise;
	pe_error_law law;
	const double *mix;			/* pe_rest_estimate; NULL: all measure sums of their own */
} pe_aggregate_errors;

/* Of one that is not of quantiles on a grid. */
extern pe_aggregate_errors pe_aggregation_errors_with(const pe_aggregation *aggregation, pe_aggregate_noise noise,
													  double miss);

/* Sums of answers. */
typedef struct pe_weighted
{
	double		factor;
	int			number;			/* of an aggregate that counts rows or adds up */
} pe_weighted;

typedef struct pe_terms
{
	const pe_weighted *term;
	int			terms;
} pe_terms;

/*
 * Terms of several groups added up, and of one group divided, with Fieller's
 * set; result: all that were answered.  What two terms count is the same noise
 * in both; errors of groups that are not counted cell by cell are added up.
 */
extern pe_aggregate_result pe_aggregation_sum(const pe_aggregate_errors *errors, const pe_aggregate_result *result,
											  const int32 *group, int groups, const pe_terms *terms);
/* The same of one of the counts that decide; count: [group * deciding + number], as it was answered. */
extern pe_aggregate_result pe_aggregation_count_sum(const pe_aggregate_errors *errors, const pe_aggregate_result *count,
													const int32 *group, int groups, int number);
extern pe_aggregate_result pe_aggregation_quotient(const pe_aggregate_errors *errors,
												   const pe_aggregate_result *result, int32 group,
												   const pe_terms *above, const pe_terms *below);

/*
 * The error of the first aggregate, a linear one, in standard deviations of the
 * first part's noise, at any cost; rounded up.
 */
extern double pe_aggregation_scale(pe_aggregation *aggregation, const pe_aggregate_noise *noise);

/* As pe_aggregation_errors, of such sums. */
extern void pe_aggregation_errors_of(pe_aggregation *aggregation, const pe_aggregate_noise *noise, double rows,
									 double variance, double *stderr_);

/* What would be answered at these values, of all groups: result[group * aggregates + i]. */
extern pe_aggregate_result *pe_aggregation_reference(pe_aggregation *aggregation, const pe_aggregate_noise *noise,
													 double rows);

/*
 * The largest standard error of each aggregate over all groups, at a cost of nano; of those that depend on rows at
 * reference values for so many in each group.
 */
extern void pe_aggregation_errors(pe_aggregation *aggregation, double rows, int64 nano, double *stderr_);

/*
 * The same relative to what the aggregate is at these values, the largest over
 * all groups; of a quantile the standard error of its rank, relative to the
 * rows.  Infinite where that is 0, and NaN where the error is unknown.
 */
extern void pe_aggregation_relative_errors(pe_aggregation *aggregation, double rows, int64 nano, double *error);

/* A release of aggregates, read again. */
typedef struct pe_stored_aggregates
{
	pe_release	release;
	pe_request	request;
	pe_aggregation aggregation;
	pe_aggregate_noise noise;	/* of one that is asked many times; of_part NULL: it is made for each */
	const int64 *measured;		/* by pe_aggregation_read: of all parts, one after the other */
	pe_aggregate_result *result;	/* as of pe_aggregation_results */
} pe_stored_aggregates;

/*
 * The release of this id, to be published: what is not shown is unknown.
 * Post-processing, which costs nothing.  Errors: those of pe_release_answer, and
 * 22023 if it has no aggregates.  Not inside PE_UNDONE.
 */
extern pe_stored_aggregates *pe_aggregation_of_release(int64 id);

/* The release of a table, as the current user may see it; NULL if it is none. */
extern pe_stored_aggregates *pe_aggregation_table_of_release(int64 id, pe_tabulated *table);

/*
 * The same in steps, inside PE_UNDONE: what was asked, of a row of the ledger,
 * as_counts: by dp.histogram; then, once pe_aggregation_measure has found its
 * strategies, what was measured.
 */
extern pe_stored_aggregates *pe_aggregation_restored_of(const pe_release *row, bool as_counts);
extern void pe_aggregation_read(pe_stored_aggregates *stored);

/*
 * A request over the attributes, the predicate and the rows of a release, to be
 * answered from it: validated, and neither measured nor priced.  Inside
 * PE_UNDONE.
 */
extern pe_aggregation *pe_aggregation_over_release(const pe_release *release, const pe_request *request);

#endif

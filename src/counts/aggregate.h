/*
 * aggregate.h
 *	  Aggregates: what sums they need, how the cost is shared among these, and
 *	  what follows from them, with its error.  Post-processing and public things
 *	  alone.
 *
 *		aggregate := basic [ WHERE '(' predicate ')' ] [ AS name ]
 *		basic     := count(*) | count(f) | count(DISTINCT unit) | count(DISTINCT x) | sum(f) | avg(f)
 *				   | statistic(x) | statistic(y, x) | median(x) | quantile(x, fraction)
 *				   | share | ratio(aggregate, aggregate) | dropped [ '(' most ')' ] | levels(x)
 *
 * A statistic is an aggregate of SQL's of that name: the forms of aggregate.c.
 * x and y are attributes, f is an attribute or a formula of several (formula.h),
 * which is a number like others.  count(f) counts the rows where all of its
 * attributes are there.  unit is the word or the name of the unit's column:
 * count of that column is count(*).  count(DISTINCT x) is how many of the values
 * of x that are declared, or any if x is open, occur among the rows that count, each by itself.  Where
 * the order of two numbers does not matter, as of corr, they stand in the order
 * of their names.
 * Both aggregates of a ratio are counts, counts of units or sums.
 * dropped counts the rows that the cut of units left out, at most `most` of
 * each unit, of all groups together: it has one answer, which is that of every
 * group.
 *
 * Sums are of integers u = (value - middle) / step (domain/sums.h).  With N, S,
 * Q, P the estimated count, sum of u, of 2 u^2 - most^2, and of u v:
 *
 *		sum  = middle N + step S			avg = middle + step S / N
 *		var  = step^2 (U - S^2 / N) / (N - 1),  U = (Q + most^2 N) / 2, like var_samp; stddev its root
 *		corr, regr_slope from N, both S and Q, and P, of rows that have both numbers
 *		a quantile from ranks at the edges of bins (quantile.h), or on the grid of u (quantile_select.h)
 *		share = N / the N of all cells		ratio = a / b
 *
 * Where that is better a number is measured by its distances A from the lower
 * and B from the upper bound (domain/sums.h).  Under substitute, and of Laplace
 * noise, a sum of a number that has a bound at 0 is one of them: its error is
 * that of sensitivity max(|lower|, |upper|), and no count is needed.  Of Laplace
 * noise both are measured for averages: N = (A + B) / (2 most), S = (A - B) / 2.
 * A row adds 2 most to both together, so that neither has to share with the
 * other (Alda and Rubinstein, The Bernstein mechanism, AAAI 2017).  For variances
 * the sums A, C, B of the squares of both and of twice their product are measured:
 * N = (A + C + B) / (4 most^2), S = (A - B) / (4 most), U = (A - C + B) / 4.
 *
 * Standard errors are by the delta method: the gradient at the estimates, with
 * the variances of the sums, which are independent; of a share with their
 * covariance.  Sums of one function by atoms (domain/sums.h) have noise in
 * common: each is then linear in independent parts of it.
 *
 * Intervals.  Of a count that is measured by itself: noise/interval.h, as of a
 * histogram.  Of other counts and sums: quotient.h.  Of averages, ratios and shares:
 * Fieller's sets (quotient.h).  Of all others: the values that they have at
 * sums whose distance from those measured is at most z, in standard
 * errors, z that of one normal number.  For a quotient this is
 * Fieller's set; of others the probability is the same as far as values of the
 * same result are flat at that distance, which test_coverage looks at.  A
 * variance is at least 0 and a correlation in [-1, 1].  An estimate is unknown
 * where its interval has no end within these: where the rows, or the squares
 * that are divided by, may be 0; and a variance where it is not above 0.
 *
 * Shares of the cost minimise the sum over the aggregates of their variances,
 * each relative to the least that it has alone, at reference values
 * (pe_aggregates_share).  For sum alone the variance is then that of a
 * measurement of the sum itself, with sensitivity max(|lower|, |upper|).
 * dropped is not among them, as nobody would pay for it with half of the cost:
 * beside others it has 1 / PE_LOST_SHARE of the cost, however often it is asked.
 */
#ifndef PE_COUNTS_AGGREGATE_H
#define PE_COUNTS_AGGREGATE_H

#include "base/text.h"
#include "counts/formula.h"
#include "counts/quotient.h"
#include "domain/sums.h"
#include "strategy/share.h"

/* The most aggregates of a request. */
#define PE_MAX_AGGREGATES 64

typedef enum pe_aggregate_kind
{
	PE_AGG_COUNT,				/* rows; of count(x) those where x is there */
	PE_AGG_UNITS,
	PE_AGG_NUMBERS,				/* of one number or two */
	PE_AGG_QUANTILE,
	PE_AGG_SHARE,
	PE_AGG_RATIO,
	PE_AGG_LOST,				/* rows that the cut left out */
	PE_AGG_DISTINCT,			/* values of an attribute */
	PE_AGG_LEVELS				/* rows by each cell of an attribute: of a table (tabulate.h), and no single number */
} pe_aggregate_kind;

#define PE_LOST_SHARE 16
#define PE_LOST_MOST 65535

/* All that aggregate.c knows of one. */
typedef struct pe_aggregate_form pe_aggregate_form;

/* The most sums that one aggregate is made of. */
#define PE_AGG_SUMS 11

/* How an aggregate uses its sums. */
enum
{
	PE_USE_N, PE_USE_S, PE_USE_Q, PE_USE_S2, PE_USE_Q2, PE_USE_P, PE_USE_ABOVE, PE_USE_BELOW, PE_USE_ABOVE_SQUARE,
	PE_USE_BETWEEN, PE_USE_BELOW_SQUARE
};

/* What numbers are measured as where that is better than 1 and u. */
typedef enum pe_basis
{
	PE_BASIS_CENTRED,			/* never */
	PE_BASIS_ONE_SIDE,			/* sums of numbers with a bound at 0: the distance from it, without a count */
	PE_BASIS_BOTH_SIDES			/* and, of Laplace noise, sums, averages and variances: the distances from both
								 * bounds, or their products */
} pe_basis;

typedef struct pe_aggregate
{
	const pe_aggregate_form *form;
	pe_aggregate_kind kind;
	char	   *column[2];		/* names of attributes, or canonical formulas; NULL: none */
	pe_formula *formula[2];		/* NULL: an attribute */
	char	   *where;			/* the predicate as it was written; NULL: none */
	int			where_position; /* in the text */
	double		fraction;		/* of a quantile */
	int32_t		most;			/* of rows that the cut left out, of a unit; 0: not given */
	struct pe_aggregate *part[2];	/* of a ratio */
	char	   *name;			/* AS; NULL: none */

	/* set by who resolves the names */
	int			number[2];		/* of column[]; -1: it is no number */
	/*
	 * of a quantile of bins, of levels, and of values that are counted: its
	 * place in the domain; -1: it is of a grid, and number[0] is there
	 */
	int			attribute;
	int			open;			/* of values that nobody has listed: which of the open columns; else -1 */
	int			condition;		/* -1: none */

	/* by pe_aggregates_sums: numbers of sums, -1: not used, or its weight is 0 */
	int			sum[PE_AGG_SUMS];
} pe_aggregate;

/*
 * Parses one aggregate; false with error filled.  unit: the name of the unit's
 * column, NULL: none.  pe_aggregate_free frees it.
 */
extern bool pe_aggregate_parse(const char *text, const char *unit, pe_aggregate *aggregate, pe_text_error *error);
extern void pe_aggregate_free(pe_aggregate *aggregate);

/*
 * The canonical text of what is summed; NULL: it is no formula.  pe_free it.
 * *affine: it is a multiple of one attribute, and a constant.
 */
extern char *pe_formula_canonical(const char *text, bool *affine);

/* Whether the formula of a canonical text is so many times that of another one. */
extern bool pe_formula_is_multiple(const char *text, const char *of, double *factor);

/* Whether it is made of the cells of an attribute in each group, and not of sums. */
static inline bool
pe_aggregate_is_of_cells(const pe_aggregate *aggregate)
{
	return aggregate->kind == PE_AGG_QUANTILE || aggregate->kind == PE_AGG_LEVELS;
}

/* What it is called in texts. */
extern const char *pe_aggregate_word(const pe_aggregate *aggregate);

/* What one of this name is called, and of how many numbers it is; NULL: no aggregate of numbers. */
extern const char *pe_aggregate_of_numbers(const char *name, int *numbers);

/* In one form; where: the canonical text of its condition, NULL: none; of a ratio those of its parts.  pe_free it. */
extern char *pe_aggregate_canonical(const pe_aggregate *aggregate,
									const char *(*where) (const void *argument, int condition), const void *argument);

/*
 * Whether its error is known before it is asked: counts, counts of units and
 * sums.  The text is one that pe_aggregate_parse takes.
 */
extern bool pe_aggregate_is_linear(const pe_aggregate *aggregate);
extern bool pe_aggregate_text_is_linear(const char *text);

/* Whether its error depends on the rows of its group. */
extern bool pe_aggregate_needs_rows(const pe_aggregate *aggregate);

/*
 * The sums that aggregates need, each once, in sums->sum, which has room for
 * PE_MAX_SUMS; sums->numbers and conditions are there.  always: bit n is set if
 * number n is there in every row.  units: cells of a unit that is counted once
 * in each; 0: rows are units.  A quantile's sum counts rows; its table has one
 * attribute more.  False if they are too many.
 */
extern bool pe_aggregates_sums(pe_aggregate *aggregate, int aggregates, uint32_t always, int32_t units, pe_basis basis,
							   pe_sums *sums);

/* Whether it is a sum of values, which does not say of how many rows. */
extern bool pe_aggregate_is_sum(const pe_aggregate *aggregate);

/*
 * The count of the rows, or units, that one is made of, not a ratio, from sums
 * that are known; of a quantile the total of its ranks.  It has no text.
 */
extern void pe_aggregate_count_of(const pe_aggregate *aggregate, pe_aggregate *count);

/* Of a linear one: adds what each sum counts in it, times by, to weight[sum]. */
extern void pe_aggregate_add_weights(const pe_sums *sums, const pe_aggregate *aggregate, double by, double *weight);

/* What is known of the sums of one query. */
typedef struct pe_sum_estimate
{
	double		value;			/* in the units of the integers, shortened ones multiplied back */
	double		variance;
} pe_sum_estimate;

/*
 * The noise of a sum that has some in common with other sums: standard
 * deviations, with signs, along so many independent parts, the same for all of
 * them.  part NULL: its noise is its own.
 */
typedef struct pe_sum_noise
{
	const double *part;
	int			parts;
	double		unit;			/* what part is in */
	int			source;			/* sums that differ in it have nothing in common */
} pe_sum_noise;

/* What all cells together have: of a share. */
typedef struct pe_sum_total
{
	pe_sum_estimate estimate;
	double		covariance;		/* with the query */
} pe_sum_total;

/*
 * Not of quantiles.  noise: of each sum; NULL: each has its own.  total: of a
 * share, whose sum has its own; else NULL.  An estimate that is NaN is unknown;
 * its interval is reported all the same.
 */
extern void pe_aggregate_answer_of(const pe_sums *sums, const pe_aggregate *aggregate, const pe_sum_estimate *estimate,
								   const pe_sum_noise *noise, const pe_sum_total *total, const pe_error_law *law,
								   pe_quotient *answer);

/* The estimates of a query with so many rows at reference values: means halfway from the middle to the upper bound,
 * numbers as spread as equally likely ones between their bounds are, correlations of one half.  Variances are 0. */
extern void pe_aggregates_reference(const pe_sums *sums, double rows, pe_sum_estimate *estimate);

/*
 * cost[s] of every sum: the shares l that minimise the sum over the aggregates
 * of their variances, each relative to the least that it has alone, minimise
 * sum_s cost[s] / l[s] (PE_L1: l[s]^2).  Of sums that are measured together the
 * first one has the costs of all, and the others have 0.  Rows that the cut left
 * out have 0: pe_share_lost.  variance, together: as below.
 */
extern void pe_aggregates_costs(const pe_sums *sums, const pe_aggregate *aggregate, int aggregates, pe_norm norm,
								const int *together, const double *variance, double *cost);

/*
 * Gives rows that the cut left out 1 / PE_LOST_SHARE of the whole together, or
 * all of it where nothing else has a share; others keep the rest, and at least 1
 * each.  lost, share: of each sum, or of each part of a measurement.
 */
extern void pe_share_lost(const bool *lost, int count, uint64_t *share);

/*
 * share[s] of every sum, adding up to at most PE_WHOLE_SHARE.  variance: of each sum for the whole share, in one unit
 * for all; a sum that no aggregate weighs gets none: share 0.  together[s]: the first of the sums that are measured
 * together with s, which have one share, and the same one in share; NULL: each by itself.
 */
extern void pe_aggregates_share(const pe_sums *sums, const pe_aggregate *aggregate, int aggregates, pe_norm norm,
								const int *together, const double *variance, uint64_t *share);

#endif

/*
 * quantile_select.h
 *	  Quantiles of a column without useful bins: exponential mechanisms on a
 *	  public grid.
 *
 * Released: for each group of rows and each fraction q a point of a public
 * grid, below which about a part q of the group's rows lies.  Groups are public
 * and share no row; a row has a point of the grid.
 *
 * Positions.  Each point of the grid has 2^PE_SLOT_BITS slots, and the rows of
 * a point are put into them as evenly as can be: row number j (from 0) into the
 * slot whose bits are those of j in reverse.  So one more row of a point is one
 * more row of one slot, and all others stay: k rows more or less in the grid
 * are k rows more or less in the slots.  A position is a boundary of slots.
 * What is drawn are positions, what is released are their points.  A column
 * with many equal values is divided by positions like any other; without slots
 * all rows of one point would fall to one side.
 *
 * One selection.  Of the rows between two positions, m of them, for a fraction
 * p/d: the exponential mechanism over all positions e between, with the integer
 * score |d #{rows below e} - p m|.
 *
 * Several fractions (Kaplan, Schnapp and Stemmer, "Differentially Private
 * Approximate Quantiles", ICML 2022, arXiv 2110.05429): the middle one is
 * selected first, and the rows below it and those above serve the fractions
 * below and above, as fractions of their part.  Level l has up to 2^l
 * selections for each group, on rows that no two of them share; m fractions
 * take ceil(log2(m + 1)) levels.
 *
 * Neighbours and max_rows k: those of strategy/strategy.h.
 *
 * Sensitivity.  One row more below e changes d #{..} - p m by d - p, one not
 * below e by -p.  So the changes of all scores lie in an interval of length 2
 * max(p, d-p), for each row that comes or goes (and this is attained: left and
 * right of the fraction the signs differ, so the scores are not monotone).
 * Given the positions of the levels before, which are public, a row counts in
 * one selection of a level at most.  Let the selections i have sensitivities K
 * max(p_i, d_i - p_i), which the exponential mechanism for scores that are not
 * monotone doubles.  If c_i rows come or go in selection i, the intervals are
 * of lengths D_i with sum_i D_i / (2 K max(p_i, d_i - p_i)) <= sum_i c_i / K,
 * and
 *
 *	  add_remove	sum c_i <= k: K = k.
 *	  substitute	k rows go and k come, also in other selections: K = 2 k.
 *	  substitute, if the level has one selection	of a row that goes and one that comes d #{..} - p m changes by at
 *				most d, to one side, as m stays: the score within [-d, d].  min(go, come) such pairs and the
 *				rest alone, at most k together: k d, which is never more than 2 k max(p, d-p).
 *
 * So a level has bounded range eta (noise/noise.h: pe_draw_from_runs) for the
 * eta of its part of the cost.
 *
 * Cost.  nano is divided among the levels; each is a mechanism of bounded
 * range, which costs eta^2 / 8 of rho (Cesar and Rogers, arXiv 2004.07223), eta
 * as a pure epsilon, and of Gaussian DP what accounting/conversion.h says.
 * Levels are adaptive and add up (accounting/cost.h).  delta is 0.
 *
 * Time depends on the numbers of points, groups and fractions, and by random
 * numbers of tries on rows.
 */
#ifndef PE_COUNTS_QUANTILE_SELECT_H
#define PE_COUNTS_QUANTILE_SELECT_H

#include "accounting/cost.h"
#include "noise/noise.h"
#include "strategy/strategy.h"

/* Fractions are in units of 1e-6. */
#define PE_FRACTION_UNIT 1000000

/* The most points of a grid: whole numbers from -65534 to 65534. */
#define PE_QUANTILE_POINTS 131069

#define PE_SLOT_BITS 20

/* Everything but the counts is public. */
typedef struct pe_quantile_problem
{
	int32_t		points;			/* of the grid, 1 to PE_QUANTILE_POINTS */
	int32_t		groups;			/* at least 1 */
	int32_t		fractions;		/* at least 1 */
	const int32_t *fraction;	/* ascending strictly, from 1 to PE_FRACTION_UNIT - 1 */
	pe_neighbours neighbours;
	int32_t		max_rows;
	pe_accounting accounting;	/* pe_plan_of_quantiles fills in this, */
	int64_t		nano;			/* and the cost, all of it */
	pe_allowance *allowance;	/* of one run, from which each level takes its part; NULL: nothing can be drawn */
} pe_quantile_problem;

/* NULL, or what is wrong with the public numbers, a sentence. */
extern const char *pe_quantile_refusal(const pe_quantile_problem *problem);

/* ceil(log2(fractions + 1)): how many selections are paid for, and the least nano.  The part of level l (from 0). */
extern int32_t pe_quantile_levels(int32_t fractions);
extern int64_t pe_quantile_level_nano(int64_t nano, int32_t levels, int32_t level);

/*
 * The rows of groups x points, none below 0, 2^50 of a group at most; they are
 * left as they are, and what is computed from them is wiped.  chosen:
 * groups x fractions, points of the grid from 0, which ascend with the
 * fractions.  Never polls.
 */
extern void pe_quantile_select(const pe_quantile_problem *problem, const int64_t *count, int32_t *chosen);

/* Bytes that it takes at most, besides its arguments. */
extern size_t pe_quantile_memory(const pe_quantile_problem *problem);

/* ----------
 * Its parts, for unit tests.
 * ----------
 */

/* Rows of a group by positions: before[i] of points less than i. */
typedef struct pe_ranks
{
	int32_t		points;
	int			slot_bits;		/* PE_SLOT_BITS, but of small tests */
	const int64_t *before;		/* points + 1 */
} pe_ranks;

/* A selection for the fraction p/d of the rows between two positions. */
typedef struct pe_part
{
	const pe_ranks *ranks;
	uint64_t	from;
	uint64_t	to;
	int64_t		p;
	int64_t		d;
	int64_t		before;			/* rows below from: pe_part_count */
	int64_t		rows;			/* m */
	pe_u128		sensitivity;
	/*
	 * how fast weights fall by the score: it decides where runs are cut, and
	 * nothing else
	 */
	double		rate;
} pe_part;

/*
 * The rows in the slots of a point below this one, if it has so many, for any
 * slot_bits.
 */
extern int64_t pe_rows_in_slots(int64_t rows, uint64_t slot, int slot_bits);

/* The rows below a position. */
extern int64_t pe_rows_below(const pe_ranks *ranks, uint64_t position);

/* Fills in before and rows. */
extern void pe_part_count(pe_part *part);

/* |d #{rows below} - p m| of a position. */
extern pe_u128 pe_part_score(const void *part, uint64_t position);

/* sensitivity_i of the above; selections: of the level. */
extern pe_u128 pe_part_sensitivity(const pe_quantile_problem *problem, int64_t p, int64_t d, size_t selections);

/* All positions between, in runs within which weights differ by a factor of 2, the last ones by any. */
extern void pe_part_runs(const pe_part *part, pe_runs *runs);

#endif

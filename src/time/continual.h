/*
 * continual.h
 *	  Strategies over time: what is measured in each period of a series, so that
 *	  all reports together are as good as they can be.
 *
 * A series has T periods; x_s is what arrives in period s, one number for each
 * cell.  In period t
 *
 *		y_t = sum_(s <= t) L_ts A x_s + noise
 *
 * is measured: L is lower triangular, of integers, and A the strategy of the
 * cells.  A report of period t is answered from y_0 .. y_t.  That rows of later
 * periods are not there yet costs nothing: for every positive definite X there
 * is a lower triangular L with L'L = X (the Cholesky factor of X with its order
 * reversed, reversed again), and in the L2 norm errors and sensitivities are
 * those of X.  B = W L^-1 has B_qj = 0 for j > t, a query of period t asking
 * for no later one, exactly, and so a number that is published stays what it
 * is: later measurements do not improve it, for L is square.
 *
 * In the reversed order of periods L is upper triangular, T in strategy.h's
 * words: `strategy` is that, with its rounding, its bytes and its certificate.
 * What the objective is of: one row of a unit, and add_remove.
 *
 * Released: all y_t, one after the other.  Rows of later periods may depend on
 * earlier answers: y_t is a Gaussian mechanism with rho_t = |sum_s L_ts A
 * d_s|^2 / (2 sigma^2) given those before it, d the difference of two
 * neighbours, and sum_t rho_t <= rho on every path, which is what filters of
 * rho rest on (accounting/filter.h).
 *
 * Neighbours and sensitivity: of the whole series, and not of a period.  It is
 * the product of two integers: that of A for one period (k rows of a unit,
 * add_remove: strategy.h, blocks.h), squared, and the factor of time C, from
 * pe_continual_factor:
 *
 *	  the unit is the row	C = max_s sum_t L_ts^2 = c.  Its row is in one
 *							period; it may be absent from readings.
 *	  a unit has rows in	Of each unit and period at most k rows count, and of
 *	  several periods		its periods with rows the p first.
 *		the cut is fixed	(append_only, and no history) the set S of periods
 *							that count only grows at its end.
 *							|sum_(s in S) L_ts A d_s| <= k |a| sum_S |L_ts|,
 *							also where some readings miss rows, or a unit's
 *							cells change.  So C = the smaller of p^2 c and the
 *							bound of people.c for |L|, p the most columns: sum
 *							of the p largest r_i.
 *		the cut moves		S may be another at each reading, where closed
 *							periods lose rows or get late ones:
 *							C = sum_t (sum of the p largest |L_ts|)^2.
 *	  substitute			4 times, by the triangle inequality: from one
 *							neighbour to the table without the unit, and on.
 *							Less where it is known how similar rows are:
 *
 * Substitute.  Let v, v' be what two rows of a period add to A x, divided by the
 * square root of its S: no longer than 1, and v'v >= c, c = similar - 1 of
 * pe_presence, which the plan finds from A.  With x, y >= 0 or both below,
 *
 *		|x v - y v'|^2 <= x^2 + y^2 - 2 x y c =: d(x, y),
 *
 * and (|x| + |y|)^2 =: d(x, y) where signs differ.  A row that is dropped is 0,
 * and loses no more than add_remove does.
 *
 *	  the unit is the row,	|L_s (x) v - L_s' (x) v'|^2 <= |L_s|^2 + |L_s'|^2 -
 *	  or p = 1; rows stay	2 c L_s'L_s' where that product is not negative, and
 *	  (append_only, and no	with c = -1 where it is.  C is the most of all pairs
 *	  history)				of periods, s = s' among them, and of add_remove.
 *	  the unit is the row,	A reading may miss either row, or see it in another
 *	  rows may go			cell: C = the most over pairs of sum_t of max(L_ts^2,
 *							L_ts'^2, d(L_ts, L_ts')).
 *	  c >= 0 and L >= 0		what two units add has no negative product at any
 *							reading: twice add_remove, of every kind.
 *
 * The least of those that apply.  Each grows with the number of periods, as d
 * is not negative.
 *
 * Which holds is what the owner has declared of the rows: pe_presence.  The
 * whole cost is paid once, for all periods (plan/plan_series.c).
 *
 * Each period by itself (`separate`) is the strategy L = I: C = 1, p, or T.  It
 * wins where units are in many periods, and the plan of a series asks for both:
 * pe_continual_choose.
 *
 * How a front uses it, for prefix over 52 weeks and ten cells:
 *
 *		pe_over		over;
 *		pe_continual c;
 *
 *		pe_over_parse("totals", &over, &error);
 *		pe_continual_choose(&(pe_continual_problem) {.over = &over,
 *								.periods = 52, .gap = PE_CONTINUAL_GAP},
 *							&(pe_presence) {.row_is_unit = true}, &c);
 *		... the strategy of the cells as for a histogram: pe_strategy cells, by
 *			methods/make.h ...
 *		pe_plan_of_series(&ask, &(pe_plan_series) {.cells = &cells,
 *								.rules = rules, .time = &c,
 *								.presence = presence, .scale = scale}, &plan);
 *		... pe_continual_errors for the quote; the ledger charges
 *			pe_plan_cost(plan) once, at creation, and keeps
 *			pe_strategy_write(&c.strategy), from which pe_continual_restore
 *			makes c again ...
 *
 *		In period t one scan reads periods pe_continual_reads_since(&c,
 *		&presence, t) .. t and cuts units; of those from
 *		pe_continual_since(&c, t) on it is counts[s - since][cell].
 *		The ledger stores, as (series, t):
 *
 *		pe_plan_measure_period(plan, t, counts, exact, released, hold);
 *
 *		A report, free, from what is stored; b[s] = 0 for s > t:
 *
 *		pe_continual_weights(&c, query, b);
 *		... of each stored y_s, in units of the answers, what it says of the
 *			cells' workload: e_s = W A^+ y_s (reconstruct.h) ...
 *		pe_continual_combine(&c, query, numbers, e, estimate);	sum_s b_s e_s
 *		standard error = pe_noise_stderr(pe_plan_noise_of_series(..))
 *			sqrt(variance[query] * variance of the cells' query)
 */
#ifndef PE_TIME_CONTINUAL_H
#define PE_TIME_CONTINUAL_H

#include "strategy/strategy.h"
#include "workload/over.h"

/* The gap of the optimum that a series is made with: it is solved once, and every report has it. */
#define PE_CONTINUAL_GAP 1e-6

/*
 * What is asked for.  history: rows of so many periods are read, this one with
 * them, and those before may be deleted; 0: all.  open_ended: L_ts = a_(t-s),
 * a_k = round(2^16 C(2k, k) / 4^k), the same integers for every number of
 * periods, so that a series can be prolonged; for totals they are within some
 * percent of the optimum.  separate: each period by itself; then history says
 * only that rows are deleted.  open_ended goes with neither.  With any of the
 * three the objective is the sum, and the caller refuses PE_MAX (else pe_bug).
 */
typedef struct pe_continual_problem
{
	const pe_over *over;		/* must outlive what is made of it */
	int32_t		periods;		/* T, from 1 to PE_MAX_PERIODS */
	int32_t		history;
	bool		open_ended;
	bool		separate;
	pe_objective objective;
	double		gap;
	int			bits;			/* no column of L is much longer than 2^bits, unless it is open-ended; 0: 16 */
} pe_continual_problem;

typedef struct pe_continual
{
	const pe_over *over;
	int32_t		periods;
	int32_t		queries;		/* pe_over_queries */
	int32_t		window;			/* a reading takes so many periods; 1 where each is by itself; 0: all */
	bool		forgets;		/* there was a history: rows before it may be deleted */
	bool		open_ended;
	pe_workload workload;		/* the queries over the periods in reverse */
	pe_strategy strategy;		/* L in reverse: upper triangular, or each period counted */
} pe_continual;

/* What the owner has declared of a unit's rows in time. */
typedef struct pe_presence
{
	bool		row_is_unit;	/* and a row has one time, which does not change */
	int32_t		max_periods;	/* of others: p, from 1 on; more than there are: all */
	bool		append_only;	/* rows of closed periods are neither deleted nor changed nor late */
	pe_neighbours neighbours;
	uint64_t	similar;		/* 1 + c of the head of this file, in 2^-PE_SHARE_BITS, rounded down; 0: unknown */
} pe_presence;

/* ---- making (continual.c) ---- */

/* PE_STRATEGY_TOO_LARGE: more than PE_MAX_PERIODS.  Polls and reports progress. */
extern pe_strategy_status pe_continual_make(const pe_continual_problem *problem, pe_continual *series);

/*
 * The better of what is asked for and, unless it is open-ended, each period by
 * itself: by the sum of squared errors (PE_MAX: the largest), at their
 * sensitivities.
 */
extern pe_strategy_status pe_continual_choose(const pe_continual_problem *problem,
											  const pe_presence *presence, pe_continual *series);

/*
 * From a strategy that was kept (pe_strategy_read), which is the series' from
 * then on.  False, with nothing taken, if it is not one of this problem: of
 * another size, with a part that looks ahead or too far back, or of other
 * integers than an open-ended one has.  Whether periods are separate is seen
 * from the strategy.
 */
extern bool pe_continual_restore(const pe_continual_problem *problem, pe_strategy *strategy, pe_continual *series);

extern void pe_continual_free(pe_continual *series);

/* Bytes that this takes at most, with the result. */
extern size_t pe_continual_memory(const pe_continual_problem *problem);

/* ---- L ---- */

/* L_ts, from 0; 0 for s > t. */
extern int32_t pe_continual_entry(const pe_continual *series, int32_t t, int32_t s);

/* The first period that y_t takes. */
extern int32_t pe_continual_since(const pe_continual *series, int32_t t);

/*
 * The first period whose rows are read for y_t: that one, or period 0 where the
 * cut of a unit's periods is fixed, since which of them count is seen from all
 * periods before (continual_sensitivity.c).
 */
extern int32_t pe_continual_reads_since(const pe_continual *series, const pe_presence *presence, int32_t t);

/*
 * z = sum_s L_ts x_s, for y_t = A z: exact.  counts: x_s for s from
 * pe_continual_since to t, one after the other, `columns` numbers each.  A
 * number beyond pe_continual_most counts as that, with its sign, which no count
 * of rows reaches; as it changes between neighbours no more than the number
 * does, sensitivities hold.  Then |z| < 2^62.  Does not poll: there are exact
 * numbers in its memory.
 */
extern void pe_continual_weigh(const pe_continual *series, int32_t t, size_t columns,
							   const int64_t *counts, int64_t *z);
extern int64_t pe_continual_most(const pe_continual *series);

/* ---- answers: post-processing, in doubles ---- */

/* Row `query` of B = W L^-1: T numbers, those behind the query's period exactly 0. */
extern void pe_continual_weights(const pe_continual *series, int32_t query, double *weight);

/* sum_s b_s e_s of vectors e_s of so many numbers, s = 0 .. the query's period, one after the other. */
extern void pe_continual_combine(const pe_continual *series, int32_t query, size_t numbers,
								 const double *e, double *estimate);

/* |b_q|^2 of all queries: the variance in units of that of the noise. */
extern void pe_continual_variances(const pe_continual *series, double *variance);

/* ---- sensitivity (continual_sensitivity.c) ---- */

/* C of the head of this file, exact; false if it does not fit 96 bits. */
extern bool pe_continual_factor(const pe_continual *series, const pe_presence *presence, pe_u128 *factor);

/* The same of period t alone: what one more draw of y_t loses.  No more than C. */
extern bool pe_continual_factor_of_period(const pe_continual *series, const pe_presence *presence,
										  int32_t t, pe_u128 *factor);

/*
 * The factor that a prolonged series is charged by.  paid: the budget, or the
 * block of time, was charged for the part, and pays the factor of the whole
 * less that of the part.  Otherwise it pays the whole: a row of a new period
 * loses as much as a row of an old one.  Both series are open-ended, or both
 * have each period by itself; else pe_bug.
 */
extern bool pe_continual_prolonged(const pe_continual *part, const pe_continual *whole,
								   const pe_presence *presence, bool paid, pe_u128 *factor);

/* ---- what is reported (continual_errors.c) ---- */

/*
 * Variances of answers for a count of one cell, in units of the variance of a
 * count of one period alone, for a unit of one row: those of y_t times C.  Of a
 * period it is the largest of its queries, weighted where worst and mean are.
 */
typedef struct pe_continual_errors
{
	double		first;
	double		last;
	double		worst;
	double		mean;			/* of all queries */
} pe_continual_errors;

extern bool pe_continual_tell(const pe_continual *series, const pe_presence *presence, pe_continual_errors *errors);

/*
 * The same without a strategy over time.  added: each period is counted, and
 * reports add them up.  split: each report asks its queries of all rows again,
 * on 1 / T of the budget.  Where rows may be deleted, as with a history,
 * presence is not append_only.
 */
extern bool pe_continual_tell_added(const pe_over *over, int32_t periods,
									const pe_presence *presence, pe_continual_errors *errors);
extern bool pe_continual_tell_split(const pe_over *over, int32_t periods,
									const pe_presence *presence, pe_continual_errors *errors);

#endif

/*
 * rest.h
 *	  Counts of some of the rows of others, and what is measured of the rest.
 *
 * count(*) and avg(x) of an x that may be absent count all rows, and those that
 * have x.  Beside both the rest is measured: the rows without x.  What needs x
 * counts none of them, so the rest has a share that costs nothing: the one of
 * what needs x (plan/plan_measurement.c).  All rows are then some and the rest
 * as well, and some are all without the rest; the estimates are the best ones
 * of what was measured, by least squares.
 *
 * Shares are those that minimise the sum over the sums of their costs times
 * their variances; of the count of all rows half of it (WEIGHT_OF_ALL).
 *
 * The count of all rows is a release of counts, too.  Its best estimate is then
 * one measurement: each number of its strategy is a mean of what the parts
 * measured, as these have one strategy.  Its noise is that of the share which
 * has as much variance, and its law the one of any weights (noise/interval.h):
 * the same argument holds where each summand has a width of its own, and a
 * lattice that is 2^10 times finer than that.
 *
 * Of rows that are added or removed, of Gaussian noise, and not in a series.
 */
#ifndef PE_ASK_REST_H
#define PE_ASK_REST_H

#include "ask/ask_sums.h"

/* Adds parts for the rest; they have no share yet. */
extern void pe_rest_add(pe_aggregation *aggregation);

/*
 * Gives them shares, and others new ones, which were the best without a rest;
 * cost: of each part for the whole share.
 */
extern void pe_rest_share(pe_aggregation *aggregation, const double *cost);

/*
 * The best estimate of each part's sum, as weights of what the parts measured
 * with these variances: [part * parts + measured].  The identity for all others.
 */
extern void pe_rest_estimate(const pe_aggregation *aggregation, const double *variance, double *mix);

/*
 * The best estimates of the counts of all rows in place of what was measured of
 * them, in units of 2^-shift of noise with the shares that they are given here.
 * Of the other parts nothing changes.  measured: of all parts of a release that
 * cost nano; itself where there is no rest.
 */
extern const int64 *pe_rest_join(pe_aggregation *aggregation, int64 nano, const int64 *measured);

/* That noise, of a part with a rest. */
extern pe_noise *pe_rest_noise(const pe_aggregation *aggregation, int part, int64 nano);

/* The part that measures a sum by itself; -1: none. */
extern int	pe_rest_part(const pe_aggregation *aggregation, int sum);

/* Whether a part counts all rows that there is a rest of. */
extern bool pe_rest_has(const pe_aggregation *aggregation, int part);

/* Whether there is any. */
extern bool pe_rest_is_any(const pe_aggregation *aggregation);

/* Whether a part counts rows by the groups alone, or a rest of them. */
extern bool pe_rest_is_of_groups(const pe_aggregation *aggregation, int part);

/* Of one that is estimated from others too, the part of all rows: estimates with the same one have noise in common. */
extern int	pe_rest_all(const pe_aggregation *aggregation, int part);

#endif

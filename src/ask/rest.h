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
 * Shares.  Of the count of all rows it is what it would be without a rest: by
 * itself it is a release of counts.  The others are those that minimise the sum
 * over the sums of their costs times their variances.
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

/* Whether there is any. */
extern bool pe_rest_is_any(const pe_aggregation *aggregation);

/* Whether a part counts rows by the groups alone, or a rest of them. */
extern bool pe_rest_is_of_groups(const pe_aggregation *aggregation, int part);

/* Of one that is estimated from others too, the part of all rows: estimates with the same one have noise in common. */
extern int	pe_rest_all(const pe_aggregation *aggregation, int part);

#endif

/*
 * quotient.h
 *	  How far off what is linear in independent noise can be, and a quotient of
 *	  two such numbers: post-processing, in doubles.
 *
 * Linear.  An error sum_i w_i Y_i of independent symmetric parts, given by
 * their standard deviations.  With h = pe_error_half of these,
 * P[|error| <= h] >= 1 - miss; 0.95 where nothing else is said.
 *
 * Quotient.  a and b are estimates of A and B, r = A / B.  a - r b is linear,
 * and its mean is 0.  So Fieller's set { r : |a - r b| <= h(r) }, h(r) of the
 * parts of a - r b, holds A / B with a probability of at least 0.95, for any A
 * and B: also where b is little more than its noise (Fieller, "Some Problems in
 * Interval Estimation", 1954).
 *
 * h is a norm of the weights: the quantiles of a symmetric log-concave law are
 * (Bobkov, "Convex bodies and norms associated to convex measures", 2010).  So
 * h(r) is convex, the set is an interval exactly if |b| > h of b alone, and
 * otherwise all numbers, or all but an interval: then all are reported, from
 * -infinity to infinity, and there is no estimate.  Intervals that are bounded
 * hold A / B less often than all do, by what the others hold more often.
 */
#ifndef PE_COUNTS_QUOTIENT_H
#define PE_COUNTS_QUOTIENT_H

#include <stdbool.h>

/* The law of the parts of an error. */
typedef struct pe_error_law
{
	bool		laplace;		/* each part is the Laplace noise of one measurement; else all are normal */
	double		factor;			/* half an interval, in standard deviations, for any parts; 0: by the former */
	double		miss;			/* what an interval misses at most */
	double		one;			/* half an interval of one part, in standard deviations, */
	double		several;		/* and of any number of parts */
	double		halved;			/* how much wider an interval is that misses half as much, of normal numbers */
} pe_error_law;

/* 0 < miss <= 0.05 */
extern pe_error_law pe_error_law_of(bool laplace, double miss);

/* Half the width of an interval that holds the truth with a probability of at least 1 - miss. */
extern double pe_error_half(const pe_error_law *law, const double *part, int parts);

/* The most standard deviations that this can be. */
extern double pe_error_most(const pe_error_law *law, int parts);

typedef struct pe_linear_estimate
{
	double		value;
	const double *part;			/* its standard deviations, with the signs of their weights */
} pe_linear_estimate;

typedef struct pe_quotient
{
	double		estimate;		/* NaN: the set is not bounded */
	double		stderr_;		/* by the delta method; NaN likewise */
	double		lower;			/* -infinity and infinity where it is not bounded */
	double		upper;
} pe_quotient;

/* above / below: part i is the same noise in both. */
extern void pe_quotient_of(const pe_error_law *law, const pe_linear_estimate *above,
						   const pe_linear_estimate *below, int parts, pe_quotient *quotient);

#endif

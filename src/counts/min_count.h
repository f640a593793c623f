/*
 * min_count.h
 *	  Minimum frequency: whether a group is shown.  Here it is decided, for every
 *	  function that returns values; ask/suppress.h says for whom, and by which count.
 *
 * Rule.  A group is shown where the lower end of the 95 % interval of its number
 * of units is at least k, and nowhere else.  Of a group that is not shown every
 * number is unknown: estimate, standard error and both ends.
 *
 * Interval.  That of the group's own count, as it is reported beside it
 * (noise/interval.h, counts/quotient.h): the estimate plus and minus h, where
 * P[|S| <= h] >= 1 - 1/20 for the noise S of the estimate.  Of rows, a unit has
 * at most r: n units have no more than r n rows, so that a count of rows is
 * compared with r k.
 *
 * Why .025.  S is symmetric: it is a sum of independent numbers, each of a law
 * that is symmetric (noise/gaussian.h, noise/laplace.h), with public weights.
 * So P[S > h] <= 1/40.  A group of n <= k - 1 units has a count of at most
 * r (k - 1), and is shown only where r (k - 1) + S - h >= r k.  Then S >= h + r
 * > h, which has a probability of at most .025.  For one question: who asks a
 * group anew, and pays for it, tries anew.
 *
 * It is a rule of presentation and no part of the proof of privacy: a function
 * of released numbers and of public ones, so post-processing, which costs
 * nothing.  Nor does it protect what it hides from sums: where a total and all
 * of its groups except one are shown, their difference shows that one, with the
 * noise that all of them have.
 */
#ifndef PE_COUNTS_MIN_COUNT_H
#define PE_COUNTS_MIN_COUNT_H

#include <stdbool.h>

typedef struct pe_min_count
{
	int			units;			/* k; 0: every group is shown */
	int			rows;			/* r: that a unit has at most among those counted; 1 of counts of units */
} pe_min_count;

/* lower: the lower end of the interval of a group's count; NaN, which is unknown, shows nothing. */
extern bool pe_min_count_shows(const pe_min_count *rule, double lower);

#endif

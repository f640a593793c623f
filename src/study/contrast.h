/*
 * contrast.h
 *	  Two numbers from one release compared: their difference, or their ratio, with an interval.
 *
 * What the noise of one release adds to both is known together, so a part that they share falls out: of a difference
 * the variance is var(a) + var(b) - 2 cov(a, b), by the strategy as it was measured.
 *
 * Intervals hold what the rows have with a probability of at least 95 %; chance in a sample is no part of them.
 *
 *	 difference of counts, sums		linear: noise/interval.h, as of any weights
 *	 ratio of these					Fieller's set (counts/quotient.h)
 *	 shares of all rows				their difference is (a - b) / n: likewise
 *	 averages P / n					where both n, and for a ratio both P, are at least PE_CONTRAST_KNOWN standard
 *									deviations, by the delta method, of a ratio of its logarithm; else
 *									from Fieller's sets of both, where each misses half as much
 *
 * Averages are between the bounds of their number, and so are their difference and ratio: intervals and estimates end
 * there.  An average whose n may be 0, by its interval, is not known.
 */
#ifndef PE_STUDY_CONTRAST_H
#define PE_STUDY_CONTRAST_H

#include "counts/quotient.h"
#include "study/noisy.h"

#define PE_CONTRAST_KNOWN 12

/* Of two numbers. */
extern void pe_contrast_difference(const pe_noisy *numbers, pe_quotient *result);
extern void pe_contrast_ratio(const pe_noisy *numbers, pe_quotient *result);

/*
 * Of averages, whose four numbers are P and n of the one, P and n of the other, of a number between bounds; average:
 * both, NaN: not known.
 */
extern void pe_contrast_of_averages(const pe_noisy *numbers, const double bounds[2], bool ratio, pe_quotient *result,
									double average[2]);

#endif

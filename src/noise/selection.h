/*
 * selection.h
 *	  Private selection: the number of a small integer loss.
 *
 * Released: an index i.  Where rho is counted: the exponential mechanism, P(i) proportional
 * to exp(-score_i eta / sensitivity), scores integers of range `sensitivity`, which
 * all move the same way between neighbours (monotone: eta is then the range of the
 * privacy loss); what eta costs: selection.c.  Under
 * substitute they are not monotone, and the range is twice as large.
 * PE_PURE: permute-and-flip (McKenna and Sheldon, arXiv 2010.12603),
 * where monotone scores too allow half the noise.  Proofs: selection.c.
 *
 * Exact: scores are integers, the temperature is a rational, every decision is one
 * of lazy_exp.h.
 *
 * The number of decisions depends on the scores, and so does the time, by about 20 ns
 * for each.  A fixed number of tries would change the distribution in a way that
 * depends on the data.  The door pads the time of a whole answer, in which there is a pass
 * over the rows for each selection.
 */
#ifndef PE_NOISE_SELECTION_H
#define PE_NOISE_SELECTION_H

#include "accounting/conversion.h"
#include "base/mem.h"
#include "noise/bits.h"
#include "noise/runs.h"

/*
 * The index of one of count scores, small ones likelier.  sensitivity: the most
 * that a score changes between neighbours (k included); monotone: all scores move
 * the same way.  nano: the cost, of rho, or of a pure epsilon.
 * Interrupts are not polled.
 */
extern int32_t pe_select_least(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
							   pe_accounting accounting, int64_t nano);

/*
 * The same by the exponential mechanism at a pure epsilon too, where it has the rate of
 * permute-and-flip and is never better: for methods that are stated with it.
 */
extern int32_t pe_select_exponential(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
									 pe_accounting accounting, int64_t nano);

/*
 * The exponential mechanism for candidates in runs (runs.h), whose scores are not monotone: P(c) proportional to
 * exp(-score_c eta / (2 sensitivity)).  Returns the candidate.
 */
extern uint64_t pe_select_of_runs(const pe_runs *runs, pe_accounting accounting, int64_t nano);

/* The same with bits and a margin of the caller's, as below. */
extern uint64_t pe_select_of_runs_with(const pe_runs *runs, pe_accounting accounting, int64_t nano,
									   double margin, pe_bits *bits);

/*
 * pe_select_least with bits of the caller's and another margin for decisions in double, for
 * unit tests: infinity leaves every decision to the exact comparison.  The law does not
 * depend on it.
 */
extern int32_t pe_select_with(const pe_i128 *score, int32_t count, pe_u128 sensitivity, bool monotone,
							  pe_accounting accounting, int64_t nano, double margin, pe_bits *bits);

#endif

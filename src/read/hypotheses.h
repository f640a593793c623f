/*
 * hypotheses.h
 *	  Tests of hypotheses from a paid release, free: for dp.hypothesis_test, and for p-values beside other answers.
 */
#ifndef PE_READ_HYPOTHESES_H
#define PE_READ_HYPOTHESES_H

#include "study/hypothesis.h"

typedef enum pe_hypothesis_kind
{
	PE_HYPOTHESIS_CHI2,			/* two attributes */
	PE_HYPOTHESIS_TREND,		/* likewise, both ordered or with scores */
	PE_HYPOTHESIS_PROPORTIONS,	/* outcome, group: two levels each */
	PE_HYPOTHESIS_MEANS,		/* number, group */
	PE_HYPOTHESIS_GOODNESS		/* one attribute */
} pe_hypothesis_kind;

#define PE_HYPOTHESES (PE_HYPOTHESIS_GOODNESS + 1)
extern const char *const pe_hypothesis_kinds[PE_HYPOTHESES];

typedef struct pe_hypothesis
{
	pe_hypothesis_kind kind;
	char	  **attribute;
	int			attributes;
	int			replicates;		/* 0: PE_REPLICATES */
	const double *probability;	/* of goodness: of each cell */
	int			probabilities;
	const double *score[2];		/* of trend: of each attribute's cells; NULL: 1, 2, ... */
	int			scores[2];
} pe_hypothesis;

/*
 * The test from what a release holds, summed over its other attributes; cells for 'other' and NULL are not counted.
 * Post-processing, which costs nothing: the same release and hypothesis give the same p-value.  Errors: those of
 * pe_release_answer; 22023 where the release does not hold what the test needs, with what to measure.
 * All is NaN where a cell that the test is made of is not shown (suppress.h).  Not inside PE_UNDONE.
 */
extern void pe_hypothesis_answer(int64 release, const pe_hypothesis *hypothesis, pe_test_result *result);

#endif

/*
 * answers.h
 *	  A workload as text of SQL's, and the answers to its queries.
 */
#ifndef PE_ASK_ANSWERS_H
#define PE_ASK_ANSWERS_H

#include "ask/label.h"
#include "blocks/reconstruct.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "noise/interval.h"

/*
 * Parses the text of a workload that gives its own numbers of cells.  Errors,
 * with the position in the text: 42601 syntax, 42704 unknown attribute, 22023
 * what the attributes do not allow, 54000 too large.
 */
extern void pe_parse_workload(const char *text, pe_workload *workload);

/* The same over the counted attributes of a domain, which are the leading columns; they give edges a meaning. */
extern void pe_parse_columns_workload(pe_dataset *dataset, const pe_column *columns, const pe_domain *domain,
									  const char *text, pe_workload *workload);

/*
 * The canonical text of a workload over attributes that are not known, as
 * pe_workload_canonical makes it.  Errors: those of the former that do not depend on
 * attributes, and 54000 if the canonical text could not be parsed for its length.
 */
extern char *pe_canonical_workload(const char *text);

/* The variance of every query of a workload for noise of variance 1; 22023 or 54000 if it cannot be had. */
extern double *pe_unit_variances(const pe_measured *measured, const pe_workload *workload);

/* The covariance of all of them, likewise: queries x queries. */
extern double *pe_unit_covariance(const pe_measured *measured, const pe_workload *workload);

/* All queries of a workload with their labels.  A query that is not shown is NaN in all numbers (suppress.h). */
typedef struct pe_answers
{
	bool		joined;			/* given: each measurement is a mean of several, whose law is that of any weights */
	pe_labels	labels;
	int32		queries;
	double	   *estimate;
	double	   *stderr_;
	double	   *lower;			/* 95 % intervals */
	double	   *upper;
} pe_answers;

/* What they take, with what their labels do; for pe_check_memory before anything is charged. */
extern size_t pe_answers_memory(const pe_workload *workload, const pe_column *columns);

/*
 * Answers a workload from measurements y with noise; NULL: the errors are not
 * known, and all standard errors and intervals are NaN.  variance: those of
 * pe_unit_variances, or NULL.
 *
 * An interval holds the true answer with a probability of at least 0.95 (interval.h).
 *
 * nonnegative: from the nearest counts that are not negative.  Standard errors are those
 * without.  So is the interval, cut off at 0 where no query has a negative weight, as
 * no true answer is below, and then widened where it does not hold the estimate: neither
 * can lose the true answer.
 */
extern void pe_answers_init(pe_answers *answers, const pe_measured *measured, const pe_workload *workload,
							const pe_column *columns, const int64 *y, const pe_noise *noise, const double *variance,
							bool nonnegative);

/*
 * The interval around an estimate: variance and summands as of
 * pe_confidence_half, and the shift of the noise (noise.h).
 */
extern void pe_interval_around(pe_confidence *confidence, double variance, int32 summands, int shift, double estimate,
							   double *lower, double *upper);

/* ----------
 * One NOTICE where most groups of an answer say nothing.  It is computed from a
 * noisy answer alone.
 * ----------
 */

/* How many standard errors are near. */
#define PE_NEAR_ZERO 3

/* One estimate for each group, all zero at first. */
typedef struct pe_near_zero
{
	int32		groups;
	int32		near;
} pe_near_zero;

/* Standard errors that are NaN are not known: no group of them is near. */
extern void pe_near_zero_add(pe_near_zero *count, double estimate, double stderr_);

/* Once per statement of the client.  more: the end of the hint, NULL: none. */
extern void pe_near_zero_tell(const pe_near_zero *count, const char *more);

/* The same of all queries. */
extern void pe_answers_tell_noise(const pe_answers *answers);

#endif

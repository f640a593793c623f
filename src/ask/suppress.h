/*
 * suppress.h
 *	  Minimum frequency: who is bound by it, which count decides, and what becomes of what is not shown.
 *
 * dp.set_min_count is a property of the dataset, and holds for everybody but its
 * owner, in each function that returns values.  A relation of plain SELECT can
 * have a higher k of its own.  What is published is for others: there it holds
 * for the owner too.  Whether a group is shown is decided in counts/min_count.h.
 *
 * Which count.  Of a query of counts its own.  Of an aggregate the count of the
 * rows that it is made of: those of the group that meet its condition and have
 * its numbers; of a ratio those of both parts; of a quantile the total of its
 * ranks.  Where units are counted under the same condition that count decides,
 * and else rows do: which of the two follows from the request alone, as two
 * tries would show more.  Where the request counts all rows, or all units, of a
 * group, that decides besides, so that a group is shown in all columns or none.
 *
 * A sum does not say of how many rows it is: such a request also measures their
 * count, behind its own aggregates, and pays for it.  So does the owner's, as
 * others replay it.  A release of before has none, and its sums are not shown.
 *
 * A query whose weights are not all 0 or 1 is of no group, and is refused.
 */
#ifndef PE_ASK_SUPPRESS_H
#define PE_ASK_SUPPRESS_H

#include "ask/answers.h"
#include "ask/ask_sums.h"

/* The rule that binds the current user.  more: of a relation, which can raise k; 0: none. */
extern pe_min_count pe_suppress_rule(const pe_dataset *dataset, int more);

/* The same of what everybody can read then. */
extern pe_min_count pe_suppress_rule_of_published(const pe_dataset *dataset);

/* ----------
 * Counts
 * ----------
 */

/* 22023 if a workload weighs cells otherwise than by 0 and 1. */
extern void pe_suppress_check_workload(const pe_min_count *rule, const pe_dataset *dataset,
									   const pe_workload *workload);

/* 0A000 for what has no interval, before it is charged. */
extern void pe_suppress_check_interval(const pe_min_count *rule, const pe_dataset *dataset, const char *what,
									   const char *hint);

/* Makes NaN what is not shown: how much that is, which one NOTICE says. */
extern int32 pe_suppress_answers_silently(const pe_min_count *rule, pe_answers *answers);
extern void pe_suppress_answers(const pe_min_count *rule, pe_answers *answers);

/* The NOTICE.  partly: how many of those that are hidden are so in some columns and not in all. */
extern void pe_suppress_tell(const pe_min_count *rule, int32 hidden, int32 partly, int32 groups);

/* ----------
 * Aggregates
 * ----------
 */

/*
 * Adds the counts that are missing to a request whose sums are known: whether
 * there are any, so that its sums have to be found again.
 */
extern bool pe_suppress_add_counts(pe_aggregation *aggregation);

/* Once all sums are known: the counts that decide.  Errors: of a new request those of the two checks above. */
extern void pe_suppress_find_counts(pe_aggregation *aggregation);

/* The rule for one of the counts that decide; of a sum over so many periods. */
extern pe_min_count pe_suppress_rule_of_count(const pe_aggregation *aggregation, int number, int periods);

/*
 * Whether an aggregate of a group is shown, by the counts that were answered
 * with it; of a sum over so many periods a unit has as many times its rows.
 */
extern bool pe_suppress_shows(const pe_aggregation *aggregation, const pe_aggregate_result *count, int32 group,
							  int aggregate, int periods);

/* Makes NaN what is not shown of all groups. */
extern void pe_suppress_results(const pe_aggregation *aggregation, const pe_aggregate_result *count, int periods,
								pe_aggregate_result *result);

/* What is shown of what is not. */
extern const pe_aggregate_result pe_suppressed;

#endif

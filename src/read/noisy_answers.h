/*
 * noisy_answers.h
 *	  Answers of a release together with the exact law of their noise, for what is computed from several of them.
 */
#ifndef PE_READ_NOISY_ANSWERS_H
#define PE_READ_NOISY_ANSWERS_H

#include "ask/ask_sums.h"
#include "study/noisy.h"

/*
 * Of a release that was read (its counts, or a part).  undetermined: the first query that does not follow, and nothing
 * is returned; -1: all do.  Errors: 22023 of method dawa, 54000 too many queries.
 */
extern pe_noisy pe_noisy_answers(pe_release *release, const pe_workload *workload, int32 *undetermined);

/*
 * n, sum of u and sum of u^2 of a number of a release, each of all queries of a workload's text, one after the
 * other; u is the integer of domain/sums.h.  squares: the last too.  Inside PE_UNDONE; the release's row is read.
 * False if the release does not hold them; it is then of no part.
 */
extern bool pe_noisy_sums(pe_release *release, pe_stored_aggregates *parts, const char *number, const char *workload,
						  bool squares, pe_noisy *sums, pe_number *bounds);

/*
 * Tests, and intervals for a population, take rows for independent draws; of a unit with several rows they are none.
 * refuse: 0A000 if a unit may count with several rows; tell: a NOTICE of it, and whether it is so.
 */
extern void pe_several_rows_refuse(int max_rows, const char *what);
extern bool pe_several_rows_tell(int max_rows, const char *what);

#endif

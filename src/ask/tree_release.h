/*
 * tree_release.h
 *	  Paid tables of a tree (counts/measured_tree.h), read again.
 */
#ifndef PE_ASK_TREE_RELEASE_H
#define PE_ASK_TREE_RELEASE_H

#include "ask/stored_release.h"

/* Whether the row of a release says that it is one. */
extern bool pe_tree_release_is(const pe_release *release);

/* Its columns, domain and values, where the row is there; XX001 if they do not fit.  Inside PE_UNDONE. */
extern void pe_tree_release_read(pe_release *release);

/*
 * Answers a workload from its tables (counts/tree_answers.h), as pe_release_answer does, which calls it.  An interval
 * is that of the noise, and wider by what rounding to whole numbers can have added.  A query that no table determines
 * is NaN, and a NOTICE has how many are.  22023 where a term is of no table.
 */
extern void pe_tree_release_answer(pe_release *release, const char *workload);

#endif

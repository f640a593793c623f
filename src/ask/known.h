/*
 * known.h
 *	  What stored releases know of a request: nothing that was paid is bought twice.
 *
 * Nothing here reads a row, and finding a release does not read what was measured.  It looks only at releases that
 * the current user may replay: what others asked, and what they have left, shows nowhere.
 */
#ifndef PE_ASK_KNOWN_H
#define PE_ASK_KNOWN_H

#include "ask/ask_sums.h"
#include "ask/ask_counts.h"
#include "ask/stored_release.h"

/* Releases are looked at until the cubes of their numbers of columns add up to this: about a second. */
#define PE_KNOWN_WORK 5e9

/*
 * Which rows a request or a release counts: two with the same text, of one
 * dataset, count the same rows.  It has the version of the data, the canonical
 * predicate, the attributes that may drop rows among the counted ones and those
 * that the predicate names, without those that were complete, and with a unit
 * how many of its rows count and the list of attributes, on which the choice of
 * these rows depends.
 */
extern char *pe_rows_text(pe_dataset *dataset, int version, const pe_column *columns, int attributes,
						  const char *predicate, const pe_complete *complete);
extern char *pe_aggregation_rows_text(const pe_aggregation *aggregation);
extern const char *pe_release_rows_text(const pe_release *release);

/* Attributes of several lists together. */
typedef struct pe_joint
{
	pe_column  *columns;
	int			attributes;
	pe_domain  *domain;
	pe_shape	shape;
	bool	   *possible;		/* per cell, whether the predicate leaves it; NULL: all */
} pe_joint;

/*
 * Adds those of a list that are not there yet, behind the others, and sets
 * which ones they are.  All zero at first.
 */
extern void pe_joint_add(pe_joint *joint, const pe_column *columns, int attributes, int *place);

/* Fills in the rest; 54000 if they have too many cells together. */
extern void pe_joint_close(pe_joint *joint, pe_dataset *dataset, const char *predicate);

/* What was measured, and what is asked, over their attributes together. */
typedef struct pe_known_pair
{
	pe_joint	joint;
	pe_workload measured_over;
	pe_workload asked_over;
	pe_measured measured;
} pe_known_pair;

/* A workload with the attributes that it is over. */
typedef struct pe_over_columns
{
	const pe_column *columns;
	int			attributes;
	const pe_workload *workload;
} pe_over_columns;

/*
 * Puts a workload that was measured (lattice as of pe_measured) and one that is
 * asked over the attributes of both.  False where that cannot be.  Then the
 * variance of each query for noise of variance 1; NULL if they are not all
 * determined.
 */
extern bool pe_known_join(pe_known_pair *pair, pe_dataset *dataset, const char *predicate,
						  const pe_over_columns *measured, const pe_strategy *strategy, const int *lattice,
						  const pe_over_columns *asked);
extern double *pe_known_variances(const pe_known_pair *pair);

/* A release over the attributes that it and a request have together. */
typedef struct pe_known
{
	pe_release	release;
	pe_known_pair pair;
	double		max_stderr;		/* of the request's queries */
} pe_known;

/*
 * The id of the release from which the largest standard error of the request's queries is smallest, of those that
 * determine all of them with no standard error above most[q] (NULL: no bound), and that error; 0 if there is none.
 * Inside PE_UNDONE.
 */
extern int64 pe_known_find(const pe_aggregation *counts, const double *most, double *max_stderr);

/* Reads that release; inside PE_UNDONE.  Then answers the request from it. */
extern void pe_known_read(const pe_aggregation *counts, int64 id, pe_known *known);
extern void pe_known_answer(const pe_aggregation *counts, const pe_known *known, pe_answers *answers);

/* What keeps a release from being read, or makes it too large to be looked at; other errors are the caller's. */
extern void pe_known_pass_over(ErrorData *error);

/* The NOTICE: which release, and from when. */
extern void pe_known_tell(const pe_release *release);

/* The budgets that are open to the current user, int8[]; for an owner, all: what they paid for may be used. */
extern Datum pe_known_budgets(const pe_dataset *dataset);

/* Aggregates that are answered from a release of others. */
typedef struct pe_known_sums
{
	pe_release	release;
	pe_aggregation *aggregation;	/* the request's, with the errors of what was measured */
	pe_aggregate_noise noise;
	const double *estimate;		/* as of pe_aggregation_estimate */
} pe_known_sums;

/*
 * The release from whose sums all aggregates of a request follow, over the same
 * rows, each sum with at most the noise that the request's plan would add; NULL
 * if there is none.  Not inside PE_UNDONE.
 */
extern pe_known_sums *pe_known_aggregates(const pe_aggregation *aggregation);

#endif

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
	int32		undetermined;	/* the first query that is not determined; -1: all are, or it is not known */
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
extern double *pe_known_variances(pe_known_pair *pair);

/* The NOTICE: which release, and from when. */
extern void pe_known_tell(const pe_release *release);

/* What is answered from a release. */
typedef struct pe_known
{
	pe_release	release;
	double		max_stderr;		/* of counts: the largest of their queries */
	pe_aggregation *aggregation;	/* the request's, with the errors of what was measured */
	pe_aggregate_noise noise;
	double	   *estimate;		/* as of pe_aggregation_estimate; of counts NULL: */
	pe_known_pair pair;			/* they follow from these together, */
	const int64 *measured;		/* and this */
	bool		joined;			/* as of pe_answers */
} pe_known;

/*
 * The release from whose sums all of a request follow, over the same rows, each
 * sum with at most the noise that the request's plan would add; NULL if there
 * is none.  Of counts the one whose largest standard error is smallest.  Not
 * inside PE_UNDONE.
 */
extern pe_known *pe_known_find(pe_aggregation *aggregation);

/* What a release lacks to answer a request. */
typedef struct pe_known_lack
{
	int			aggregate;		/* the first that does not follow from its sums; -1: all do, and */
	int32		query;			/* this query is not determined; -1: they have no answer together */
} pe_known_lack;

/*
 * From one release, whose measurements are read, with the noise that it has (of
 * one without values, which is to be measured, the errors alone); NULL, with
 * what it lacks, if it does not determine all of the request.  The request is
 * over the release (pe_aggregation_over_release).  Not inside PE_UNDONE.
 */
extern pe_known *pe_known_from(pe_aggregation *aggregation, pe_stored_aggregates *stored, pe_known_lack *lack);

/* Of counts: the same with any noise, for its id and its largest standard error alone. */
extern pe_known *pe_known_most_precise(pe_aggregation *counts);

/* Answers counts from it. */
extern void pe_known_answer(const pe_aggregation *counts, const pe_known *known, pe_answers *answers);

#endif

/*
 * survival.h
 *	  Survival of a study, from counts of time x event x by: for dp.survival that charges, and for all that is read of
 *	  releases.
 *
 * Nothing here reads a row or charges.  The mathematics is counts/survival.h's.
 */
#ifndef PE_READ_SURVIVAL_H
#define PE_READ_SURVIVAL_H

#include "fmgr.h"

#include "ask/answers.h"
#include "counts/min_count.h"
#include "counts/survival.h"

/* As it is asked: names of attributes. */
typedef struct pe_survival_names
{
	char	   *time;
	char	   *event;
	char	  **by;
	int			bys;
	char	   *level;			/* of the event, that means that it happened; NULL: true, or the larger number */
} pe_survival_names;

/* Counts that are paid for, and what is made of them. */
typedef struct pe_survival_study
{
	pe_survival_names names;

	/* the counts, filled in by the caller */
	pe_dataset *dataset;
	const pe_column *columns;	/* that are counted */
	int			attributes;
	pe_domain  *domain;
	pe_measured measured;
	const int64 *y;
	const pe_noise *noise;
	bool		pure;			/* Laplace noise */
	pe_min_count rule;
	int64		release;		/* 0: of a rehearsal */

	/* by pe_survival_resolve */
	const pe_column *time;
	const pe_column *event;
	const pe_column **by;
	int32		happened;		/* the cell of event */
	int32		bins;
	bool		endless;
	int32		edges;			/* rows of a curve */
	double	   *edge;			/* bins + 1 */
	int32		groups;
	pe_labels	labels;			/* of the groups */

	/* by pe_survival_estimate */
	pe_survival_counts *counts; /* of each group */
	double	   *covariance;		/* of all groups */
	pe_survival *curve;
} pe_survival_study;

/*
 * Finds what the columns of time, event and by (pointers into columns) are.  22023 for a time without bins of
 * numbers, an event without two levels, or with two of unknown meaning, and for one column in two places;
 * 54000 for too many counts.
 */
extern void pe_survival_resolve(pe_survival_study *study);

/* What is measured for it: each group's curve asks for how many are at risk at each edge, and had the event before. */
extern char *pe_survival_workload(const pe_survival_study *study);

/* The curves; 22023 if the counts do not determine them. */
extern void pe_survival_estimate(pe_survival_study *study);

/* The rows of dp.survival. */
extern void pe_survival_return(FunctionCallInfo fcinfo, pe_survival_study *study);

#endif

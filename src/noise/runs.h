/*
 * runs.h
 *	  Candidates of a selection in runs, so that a selection from very many need not list them.
 *
 * Candidates are numbers.  A run is a part of them that stand next to each other, with a lower bound of
 * their scores.  Where the runs are cut decides how long a draw takes, and nothing of its law.
 */
#ifndef PE_NOISE_RUNS_H
#define PE_NOISE_RUNS_H

#include "base/mem.h"

/* The most runs of one selection, and the most candidates: 2^40. */
#define PE_MOST_RUNS 100
#define PE_CANDIDATE_BITS 40

typedef struct pe_run
{
	uint64_t	first;
	uint64_t	width;			/* candidates; 0: no run */
	pe_u128		least;			/* no score of them is smaller */
} pe_run;

/* One selection: each candidate stands in one run. */
typedef struct pe_runs
{
	int32_t		count;
	pe_run		run[PE_MOST_RUNS];
	pe_u128		sensitivity;
	pe_u128		(*score) (const void *argument, uint64_t candidate);
	const void *argument;
} pe_runs;

/* Fills in selection i of several that are drawn together. */
typedef void (*pe_runs_make) (const void *argument, size_t i, pe_runs *runs);

#endif

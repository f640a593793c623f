/*
 * release.h
 *	  Paid answers, read again.
 */
#ifndef PE_API_RELEASE_H
#define PE_API_RELEASE_H

#include "api/answers.h"
#include "ledger/strategies.h"
#include "noise/noise.h"

/* A stored release, read by somebody who may. */
typedef struct pe_release
{
	int64		id;
	int			version;		/* of the data it is from */
	int			attributes;
	char	  **names;
	char	   *workload_text;	/* NULL: no counts, */
	bool		is_minimum;		/* but a minimum; else a model */
	bytea	   *payload;
	pe_dataset *dataset;
	pe_column  *columns;
	pe_domain  *domain;
	pe_workload workload;
	char	   *predicate_text; /* NULL: none */
	bool	   *possible;		/* per cell, whether the predicate leaves it; NULL: all */
	bool		is_dawa;		/* by that method: its errors are unknown */
	pe_accounting accounting;	/* its noise */
	int64		nano;			/* what it cost, of epsilon for PE_L1 */
	int64		strategy_id;	/* 0: the workload itself was measured */
	pe_kept_strategy kept;
	pe_measured measured;
	int64		values;
	int64	   *value;
	pe_answers	answers;
} pe_release;

/*
 * Reads the release of this id and answers a workload from what it measured,
 * NULL: the workload that was paid for.  Post-processing, which costs nothing.
 * Errors: 42704 there is none that the current user may read, 55000 the
 * attributes were declared anew, 22023 the release does not determine the
 * workload.
 */
extern void pe_release_answer(pe_release *release, const char *workload);

#endif

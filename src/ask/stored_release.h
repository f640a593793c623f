/*
 * stored_release.h
 *	  Paid answers, read again.
 */
#ifndef PE_ASK_STORED_RELEASE_H
#define PE_ASK_STORED_RELEASE_H

#include "datatype/timestamp.h"

#include "ask/answers.h"
#include "ask/complete.h"
#include "counts/min_count.h"
#include "ledger/strategies.h"
#include "plan/plan.h"

/* A stored release, read by somebody who may. */
typedef struct pe_release
{
	int64		id;
	int			version;		/* of the data it is from */
	int			attributes;
	char	  **names;
	char	   *kind;			/* of the canonical request: "measurement", ... */
	char	   *workload_text;	/* of counts alone; NULL: others */
	pe_dataset *dataset;
	pe_column  *columns;
	pe_domain  *domain;
	pe_workload workload;
	char	   *predicate_text; /* NULL: none */
	pe_complete complete;
	bool	   *possible;		/* per cell, whether the predicate leaves it; NULL: all */
	char	   *method;
	bool		is_dawa;		/* by that method: its errors are unknown */
	pe_accounting accounting;	/* its noise */
	int64		nano;			/* what it cost, of epsilon for PE_L1 */
	int64		strategy_id;	/* 0: the workload itself was measured */
	int			others;			/* further ones, of aggregates */
	const int64 *other;
	pe_kept_strategy kept;
	pe_measured measured;
	pe_plan_part part;			/* the counts, with their share of the cost */
	const char *rows_text;		/* which rows count (known.h) */
	int64		values;
	const int64 *value;			/* NULL: not read yet */

	/* of the canonical request of a measurement */
	char	  **aggregate;
	int			aggregates;
	char	   *grouping;		/* the workload, NULL: all cells */
	int			cells_per_unit;
	char	  **never_null;
	int			never_nulls;
	char	  **open;			/* columns whose values were counted, and that nobody had listed */
	int			opens;
	char	  **decimals;
	int			decimals_count;

	TimestampTz created;
	bool		published;		/* for everybody: what is not shown to others is not answered to the owner either */
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

/* The rule by which groups of it are shown; answers of pe_release_answer are shown by it, those of others are not. */
extern pe_min_count pe_release_rule(const pe_release *release);

/* The same of a release that was read; all of it. */
extern void pe_release_reply(pe_release *release, const char *workload);

/*
 * What the ledger says of a release, in the order of pe_release_of_row, which
 * fills it in; the dataset is the caller's to find.  Inside PE_UNDONE.
 */
#define PE_RELEASE_NANO \
	"coalesce(rho, epsilon, (request::jsonb->>'rho')::int8, (request::jsonb->>'epsilon')::int8, 0)"
#define PE_RELEASE_ROW "id, version, attributes, workload, coalesce(strategy_id, 0), other_strategies, " \
	PE_RELEASE_NANO ", predicate, accounting, method, created, request::jsonb, format, declared"
#define PE_RELEASE_DECLARED 14	/* the last one */
extern void pe_release_of_row(uint64 row, pe_release *release);

/*
 * The row of the release of this id.  pe_release_check_version: 55000 if the attributes were
 * declared anew since.  Inside PE_UNDONE.
 */
extern void pe_release_read_row(pe_release *release);
extern void pe_release_check_version(const pe_release *release);

/* The row of a release whose payload the door gave (door/cube.h): the reader's own rights are not asked for. */
extern void pe_release_read_given(pe_release *release, const bytea *payload);

/* The values, if they are not read yet.  Inside PE_UNDONE. */
extern void pe_release_read_values(pe_release *release);

/*
 * The release of this id, to be answered by who asks for more than one workload
 * of one release; inside PE_UNDONE.  Errors as above.
 */
extern void pe_release_read(pe_release *release);

/*
 * The same for who needs more than the counts of all rows: what was measured, and the release as if it were of the
 * counts alone, if it has them; then as if it were of another part.  Inside PE_UNDONE.
 */
struct pe_stored_aggregates;
extern struct pe_stored_aggregates *pe_release_read_parts(pe_release *release, bool *has_counts);
extern void pe_release_take_part(pe_release *release, struct pe_stored_aggregates *parts, int part);

/* Its attribute of a name, which may stand in double quotes as SQL has it; 42704 if it has none. */
extern const pe_column *pe_release_column(const pe_release *release, const char *name);

/* The noise of each measurement; NULL where the errors are not known. */
extern const pe_noise *pe_release_noise(const pe_release *release);

#endif

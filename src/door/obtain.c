/*
 * obtain.c
 *	  The strategy of a request: from the table, or computed and kept.  See obtain.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "access/xlog.h"
#include "libpq/pqformat.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "door/obtain.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/shim.h"
#include "strategy/optimum.h"
#include "worker/channel.h"
#include "methods/make.h"

static bool
is_kept(const pe_strategy_key *key, double accepted_gap, pe_kept_strategy *found)
{
	bool		kept;

	PE_UNDONE();
	kept = pe_strategy_find(key, accepted_gap, found);
	PE_END_UNDONE();
	return kept;
}

static void
refuse_strategy(const pe_strategy_key *key, pe_strategy_status status, int32 classes)
{
	if (status == PE_STRATEGY_EMPTY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the workload counts no cell"),
				 key->possible != NULL ? errdetail("The predicate rules out every cell that it asks for.") : 0));
	if (status == PE_STRATEGY_BEYOND)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the integers of method \"%s\" for the workload are beyond what can be measured", pe_method_name(key->method)),
				 errhint("Use another method.")));
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the workload tells %d classes of cells apart, more than can be optimised for", classes),
			 errdetail("At most %d can be.", PE_OPTIMUM_CELLS),
			 errhint("Ask for fewer attributes or coarser bins; products of identity and total have no such limit.")));
}

static pe_strategy_problem
problem_of(const pe_strategy_key *key, const pe_classes *classes)
{
	return (pe_strategy_problem) {key->workload, classes, key->possible, key->method, key->objective, key->norm, key->gap, key->neighbours};
}

/* A bound of all strategies for one that was made without. */
static void
add_bound(const pe_strategy_key *key, const pe_classes *classes, pe_strategy *strategy)
{
	pe_strategy_problem problem = problem_of(key, classes);

	if (!key->bounded || strategy->lower_bound > 0 || key->method == PE_METHOD_DAWA)
		return;
	pe_check_memory(pe_strategy_make_memory(&problem));
	if (pe_strategy_bound(&problem, &strategy->lower_bound) != PE_STRATEGY_OK)
		strategy->lower_bound = 0;
}

/* The same of one that was kept, in memory that is gone afterwards. */
static void
add_bound_to_kept(const pe_strategy_key *key, pe_strategy *strategy)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext own = AllocSetContextCreate(caller, "pg_epsilon bound", ALLOCSET_DEFAULT_SIZES);
	pe_classes	classes;

	MemoryContextSwitchTo(own);
	pe_classes_init(&key->workload, 1, &classes);
	pe_progress_begin();
	add_bound(key, &classes, strategy);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(own);
}

/* The strategy by its method, which is timed, and a bound of all strategies, which is not. */
static void
make_strategy(const pe_strategy_key *key, pe_strategy *strategy, double *milliseconds)
{
	pe_classes	classes;
	pe_strategy_problem problem = problem_of(key, &classes);
	pe_strategy_status status;
	TimestampTz start;

	pe_classes_init(&key->workload, 1, &classes);
	pe_check_memory(pe_strategy_make_memory(&problem));
	pe_progress_begin();
	start = GetCurrentTimestamp();
	status = pe_strategy_make(&problem, strategy);
	*milliseconds = (GetCurrentTimestamp() - start) / 1000.0;
	if (status != PE_STRATEGY_OK)
		refuse_strategy(key, status, classes.cells);
	add_bound(key, &classes, strategy);
}

/* Solves in memory that is gone afterwards; the strategy as bytes in the caller's. */
static bytea *
solve(const pe_strategy_key *key, double *milliseconds)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext own = AllocSetContextCreate(caller, "pg_epsilon optimisation", ALLOCSET_DEFAULT_SIZES);
	pe_strategy strategy;
	bytea	   *bytes;
	size_t		size;

	MemoryContextSwitchTo(own);
	make_strategy(key, &strategy, milliseconds);
	size = pe_strategy_size(&strategy);
	MemoryContextSwitchTo(caller);
	bytes = MemoryContextAllocHuge(caller, VARHDRSZ + size);
	SET_VARSIZE(bytes, VARHDRSZ + size);
	pe_strategy_write(&strategy, VARDATA(bytes));
	MemoryContextDelete(own);
	return bytes;
}

void
pe_strategy_obtain(const pe_strategy_key *key, double accepted_gap, bool keep_all, pe_kept_strategy *found)
{
	pe_strategy_problem problem = problem_of(key, NULL);
	bool		keep = keep_all || !pe_strategy_is_workload(&problem);
	StringInfoData message;
	bytea	   *bytes;

	memset(found, 0, sizeof(*found));
	if (keep && is_kept(key, accepted_gap, found))
	{
		add_bound_to_kept(key, &found->strategy);
		return;
	}
	bytes = solve(key, &found->milliseconds);
	if (pe_strategy_read(&found->strategy, VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ) != PE_STRATEGY_OK)
		elog(ERROR, "a strategy cannot be read back");
	found->method = key->method;
	pe_strategy_attach(found, key->workload);
	if (keep && !RecoveryInProgress())
	{
		initStringInfo(&message);
		pq_sendbyte(&message, PE_MESSAGE_KEEP);
		pe_strategy_message(&message, key, found->milliseconds, VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ);
		found->id = pe_channel_keep(&message);
		pfree(message.data);
	}
	pfree(bytes);
}

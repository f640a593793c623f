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
#include "server/activity.h"
#include "server/settings.h"
#include "server/shim.h"
#include "optimum/optimum.h"
#include "blocks/blocks.h"
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

/* What keeps a workload from being measured by blocks. */
static void
refuse_blocks(const pe_strategy_problem *problem)
{
	int			attribute = 0;
	double		number;
	const char *name;

	switch (pe_blocks_blame(problem, &attribute, &number))
	{
		case PE_BLAME_MATRIX:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("a matrix over all cells is in a workload of %.0f classes of cells", number),
					 errdetail("With it at most %d can be told apart.", PE_OPTIMUM_CELLS),
					 errhint("Write it as products of queries on single attributes, or ask for fewer attributes.")));
			break;
		case PE_BLAME_ATTRIBUTE:
			name = problem->workload->shape.name[attribute];
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 name != NULL ? errmsg("the workload tells %.0f classes of cells of attribute \"%s\" apart",
										   number, name)
					 : errmsg("the workload tells %.0f classes of cells of factor %d apart", number, attribute + 1),
					 errdetail("Of an attribute that is not asked by identity and total alone, at most %d can be.",
							   PE_OPTIMUM_CELLS),
					 errhint("Ask for coarser ranges of it.")));
			break;
		case PE_BLAME_PRODUCT:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("a product of the workload has %.0f cells", number),
					 errdetail("At most %d can be measured together.", PE_PRODUCT_CELLS),
					 errhint("Ask for fewer attributes in one product, or coarser ranges.")));
			break;
		case PE_BLAME_BLOCKS:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the workload needs too many tables"),
					 errdetail("At most %d tables, of " INT64_FORMAT " cells together, can be measured at once.",
							   PE_MAX_BLOCKS, (int64) PE_MAX_TABLE_CELLS),
					 errhint("Ask for fewer attributes at a time.")));
			break;
	}
}

static void
refuse_strategy(const pe_strategy_problem *problem, pe_strategy_status status)
{
	int32		classes = problem->classes->cells;

	if (status == PE_STRATEGY_EMPTY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the workload counts no cell"),
				 problem->possible != NULL ? errdetail("The predicate rules out every cell that it asks for.") : 0));
	if (status == PE_STRATEGY_BEYOND)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the integers of method \"%s\" for the workload are beyond what can be measured",
						pe_method_name(problem->method)),
				 errhint("Use another method.")));
	if (pe_blocks_serve(problem))
		refuse_blocks(problem);
	if (pe_shape_cells(&problem->workload->shape) > PE_MAX_CELLS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("method \"%s\" is for at most %d cells", pe_method_name(problem->method), PE_MAX_CELLS),
				 errhint("Use method => 'optimal', or ask for fewer attributes at a time.")));
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the workload tells %d classes of cells apart, more than method \"%s\" can", classes,
					pe_method_name(problem->method)),
			 errdetail("At most %d can be.", PE_OPTIMUM_CELLS),
			 errhint("Use method => 'optimal', or coarser bins.")));
}

static pe_strategy_problem
problem_of(const pe_strategy_key *key, const pe_classes *classes)
{
	return (pe_strategy_problem) {
		.workload = key->workload, .classes = classes, .possible = key->possible, .possible_of = key->possible_of,
		.method = key->method,
		.objective = key->objective, .norm = key->norm, .gap = key->gap, .neighbours = key->neighbours,
		.whole = key->whole, .spare = key->spare
	};
}

bool
pe_strategy_is_by_blocks(const pe_strategy_key *key)
{
	pe_strategy_problem problem;
	pe_classes	classes;
	bool		serve;

	pe_classes_init(&key->workload, 1, &classes);
	problem = problem_of(key, &classes);
	serve = pe_blocks_serve(&problem);
	pe_classes_free(&classes);
	return serve;
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
		refuse_strategy(&problem, status);
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
	pe_activity_count(PE_COUNT_STRATEGIES, keep);	/* others are made faster than read */
	if (pe_strategy_read(&found->strategy, VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ) != PE_STRATEGY_OK)
		elog(ERROR, "a strategy cannot be read back");
	found->method = key->method;
	pe_strategy_attach(found, key->workload);
	if (keep && !RecoveryInProgress() && !pe_settings_rehearse())
	{
		initStringInfo(&message);
		pq_sendbyte(&message, PE_MESSAGE_KEEP);
		pe_strategy_message(&message, key, found->milliseconds, VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ);
		found->id = pe_channel_keep(&message);
		pfree(message.data);
	}
	pfree(bytes);
}

/*
 * pg_epsilon_settings.c
 *	  Lets tests run on a server whose transactions are read only by default.
 *
 * With default_transaction_read_only = on, what a test does to set its scene (CREATE
 * TABLE, INSERT, dp.create_dataset) could not run.  Loaded by session_preload_libraries,
 * this library lets such a statement write, and none but it: the functions of an
 * analyst run in the read-only transaction that the default gives, also inside a
 * statement that writes what they return.  A transaction whose test says READ ONLY or
 * READ WRITE itself is left alone.
 *
 * `make install` leaves this out, as pg_epsilon_test.c.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "server/compat.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

/* What writes in the caller's transaction.  No other function of pg_epsilon may need to. */
static const char *const writers[] = {
	"create_dataset", "drop_dataset", "new_version", "add_attribute", "add_edges", "alter_attribute", "alter_edges", "drop_attribute", "grant_budget", "revoke_budget",
	"attest", "expire_release", "expire_releases", "drop_model", "publish", "publish_series", "synthesize", "move_dataset", "set_time", "set_min_count", "set_example",
	"end_series", "expose", "expose_tables"
};

static ProcessUtility_hook_type next_utility;
static ExecutorStart_hook_type next_start;
static ExecutorRun_hook_type next_run;
static ExecutorFinish_hook_type next_finish;

/* The transaction says itself whether it is read only. */
static bool chosen = false;

/* A function of an analyst runs: what it does on the way is its own, not the test's. */
static bool asking = false;

static void
forget_choice(XactEvent event, void *arg)
{
	chosen = false;
}

/* Whether it is the default that makes this transaction read only: not its own words, nor a standby. */
static bool
by_default(void)
{
	return DefaultXactReadOnly && !chosen && !RecoveryInProgress();
}

static bool
names_read_only(List *options)
{
	ListCell   *cell;

	foreach(cell, options)
		if (strcmp(lfirst_node(DefElem, cell)->defname, "transaction_read_only") == 0)
			return true;
	return false;
}

/* Whether a statement chooses for its transaction: BEGIN READ ONLY, SET TRANSACTION READ WRITE, SET transaction_read_only. */
static bool
chooses(Node *statement)
{
	VariableSetStmt *set;

	if (IsA(statement, TransactionStmt))
		return names_read_only(((TransactionStmt *) statement)->options);
	if (!IsA(statement, VariableSetStmt))
		return false;
	set = (VariableSetStmt *) statement;
	if (set->kind == VAR_SET_MULTI)
		return strcmp(set->name, "TRANSACTION") == 0 && names_read_only(set->args);
	return set->name != NULL && strcmp(set->name, "transaction_read_only") == 0;
}

/* Whether it is SELECT setval(), as a restored dump has it. */
static bool
sets_sequence(PlannedStmt *statement)
{
	ListCell   *cell;

	if (statement->commandType != CMD_SELECT)
		return false;
	foreach(cell, statement->planTree->targetlist)
	{
		Expr	   *value = lfirst_node(TargetEntry, cell)->expr;

		if (IsA(value, FuncExpr) && (((FuncExpr *) value)->funcid == F_SETVAL_REGCLASS_INT8 ||
									 ((FuncExpr *) value)->funcid == F_SETVAL_REGCLASS_INT8_BOOL))
			return true;
	}
	return false;
}

static bool
writes(PlannedStmt *statement)
{
	return GetCommandLogLevel((Node *) statement) <= LOGSTMT_MOD || statement->hasModifyingCTE || statement->rowMarks != NIL ||
		sets_sequence(statement);
}

/*
 * Lets a statement write if it is one that writes; whether that was needed.  After an
 * error nothing need be put back: the end of the transaction or subtransaction does it.
 */
static bool
lend(PlannedStmt *statement)
{
	if (!XactReadOnly || !by_default() || asking || !writes(statement))
		return false;
	XactReadOnly = false;
	return true;
}

static void
take_back(bool lent)
{
	if (lent)
		XactReadOnly = true;
}

static void
settings_utility(PlannedStmt *statement, const char *text, bool keep_tree, ProcessUtilityContext context, ParamListInfo parameters,
				 QueryEnvironment *environment, DestReceiver *receiver, QueryCompletion *completion)
{
	bool		lent = lend(statement);
	bool		choice = chooses(statement->utilityStmt);

	(next_utility ? next_utility : standard_ProcessUtility) (statement, text, keep_tree, context, parameters, environment, receiver, completion);
	take_back(lent);
	if (choice)
		chosen = true;
}

static void
settings_start(QueryDesc *query, int flags)
{
	bool		lent = lend(query->plannedstmt);

	(next_start ? next_start : standard_ExecutorStart) (query, flags);
	take_back(lent);
}

static void
settings_run(PE_RUN_PARAMETERS)
{
	bool		lent = lend(query->plannedstmt);

	(next_run ? next_run : standard_ExecutorRun) (PE_RUN_ARGUMENTS);
	take_back(lent);
}

static void
settings_finish(QueryDesc *query)
{
	bool		lent = lend(query->plannedstmt);

	(next_finish ? next_finish : standard_ExecutorFinish) (query);
	take_back(lent);
}

/* Functions that somebody calls, and not the aggregates of a scan: those are volatile. */
static bool
is_ours(Oid function)
{
	char	   *schema = get_namespace_name(get_func_namespace(function));

	return schema != NULL && (strcmp(schema, "dp") == 0 || strcmp(schema, "dp_internal") == 0) &&
		func_volatile(function) == PROVOLATILE_VOLATILE;
}

static bool
is_writer(Oid function)
{
	char	   *name = get_func_name(function);

	for (int i = 0; i < lengthof(writers); i++)
		if (name != NULL && strcmp(name, writers[i]) == 0)
			return true;
	return false;
}

/*
 * Whether the statement asks for a model without privacy, which is for owners, and which
 * their own transaction writes.  The function is the analyst's; the method's name tells.
 */
static bool
without_privacy(void)
{
	const char *text = debug_query_string;

	return text != NULL && (strstr(text, "nonprivate") != NULL || strstr(text, "majority") != NULL);
}

/* Around a call of one of them.  What was is kept in the caller's place for it, two bits. */
static void
settings_call(FmgrHookEventType event, FmgrInfo *function, Datum *before)
{
	if (event != FHET_START)
	{
		XactReadOnly = (DatumGetInt32(*before) & 1) != 0;
		asking = (DatumGetInt32(*before) & 2) != 0;
		return;
	}
	*before = Int32GetDatum((XactReadOnly ? 1 : 0) | (asking ? 2 : 0));
	if (by_default())
	{
		asking = !is_writer(function->fn_oid) && !without_privacy();
		XactReadOnly = asking;
	}
}

void
_PG_init(void)
{
	RegisterXactCallback(forget_choice, NULL);
	next_utility = ProcessUtility_hook;
	ProcessUtility_hook = settings_utility;
	next_start = ExecutorStart_hook;
	ExecutorStart_hook = settings_start;
	next_run = ExecutorRun_hook;
	ExecutorRun_hook = settings_run;
	next_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = settings_finish;
	needs_fmgr_hook = is_ours;
	fmgr_hook = settings_call;
}

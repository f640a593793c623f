/*
 * scan.c
 *	  The executor's part of plain SELECT: CREATE FOREIGN DATA WRAPPER pg_epsilon.
 *
 * The wrapper owns no privilege and no data.  It asks what the current user
 * could ask by dp.aggregate, as that user.
 *
 * What is refused by its shape is refused as the executor starts.  All scans of
 * a statement are known then.  The first that is run translates and prices all
 * of them, and checks that the budget has enough for all together, before any
 * of them asks.
 *
 * In a parallel operation nothing can be charged.  A statement with a parallel
 * part is therefore asked before it begins, as the executor starts: its scans
 * are known from its plan.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/xact.h"
#include "commands/explain.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "nodes/plannodes.h"

#include "fdw/import.h"
#include "fdw/joined.h"
#include "fdw/notices.h"
#include "fdw/parameters.h"
#include "fdw/scans.h"
#include "fdw/scan_request.h"
#include "fdw/table_options.h"
#include "server/access.h"
#include "server/compat.h"
#include "server/settings.h"

PG_FUNCTION_INFO_V1(pe_sql_fdw_handler);

/* The scans of one execution. */
typedef struct pe_statement_scans
{
	EState	   *estate;
	bool		is_ahead;		/* it has a parallel part: all is asked before that begins */
	List	   *selects;
	bool		prepared;
	bool		rehearses;		/* as the setting was when it began */
	TimestampTz prepared_at;	/* the client's statement */
	MemoryContextCallback forget;
} pe_statement_scans;

typedef struct pe_scan_state
{
	pe_select  *select;			/* NULL: nothing is returned */
	pe_statement_scans *statement;
	bool		answered;
	char	   *request;		/* of a statement that is explained while it is run: what was asked, */
	char	   *quote;			/* and its price, before it was paid */
	char	   *rehearsal;
	int			next;
} pe_scan_state;

static List *statements = NIL;

static void begin(ForeignScanState *node, int flags);

/* ------------------------------------------------------------------
 * Refusals
 * ------------------------------------------------------------------
 */

/* Why a plan is refused, and the same as the beginning of a sentence. */
static const char *
reason(const pe_scan_plan *plan)
{
	return plan->kind == PE_SCAN_ROWS ? "rows of a dataset are not shown"
		: plan->why[0] != '\0' ? plan->why : "its rows are joined or grouped with what is no part of it";
}

static char *
sentence(const pe_scan_plan *plan)
{
	char	   *text = pstrdup(reason(plan));

	text[0] = pg_toupper((unsigned char) text[0]);
	return text;
}

/* How a part that is not translated is asked. */
static const char *
cure(const pe_scan_plan *plan)
{
	if (pe_fdw_base_table(plan->relation) != NULL)
		return "Join tables of dp.expose_tables with JOIN or LEFT JOIN by the equalities of keys; aggregate such a "
			"join in a subquery, then join, sort and compute around it. Another table the owner can join in a view.";
	return plan->why[0] != '\0'
		? "Aggregate in a subquery over this relation alone, then join, sort and compute around it."
		: "Aggregate in a subquery over this relation alone, then join, sort and compute around it. "
		"What another table says of each row, the owner can load as a column.";
}

static void
refuse_scan(const pe_scan_plan *plan)
{
	const char *base = pe_fdw_base_table(plan->relation);

	if (plan->lookups != NIL)
		pe_joined_refuse_lookups(plan);
	if (plan->kind == PE_SCAN_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("%s", reason(plan)),
				 errdetail("It answers aggregates: SELECT count(*), avg(...) ... GROUP BY. Nothing was charged."),
				 base == NULL
				 ? errhint("SELECT DISTINCT of a column shows its declared levels, free.")
				 : errhint("SELECT DISTINCT of a column shows its declared levels, free. If %s is public, its rows are "
						   "there.", base)));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("this SELECT is not answered from a dataset"),
			 errdetail("%s. Nothing was charged.", sentence(plan)),
			 errhint("%s", cure(plan))));
}

/* Before anything is charged: a function that says wrongly that it is safe there may have come here. */
static void
check_serial(void)
{
	if (IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("a dataset is not asked in a parallel operation"),
				 errdetail("A function with this SELECT is called in one. Nothing was charged."),
				 errhint("SET max_parallel_workers_per_gather = 0, or declare the function PARALLEL UNSAFE.")));
}

/* ------------------------------------------------------------------
 * All scans of a statement
 * ------------------------------------------------------------------
 */

static void
forget_statement(void *argument)
{
	statements = list_delete_ptr(statements, argument);
}

/* Open until the scan ends, so that no function of the statement drops or alters it. */
static Relation
open_relation(Oid id)
{
	Relation	relation = try_table_open(id, AccessShareLock);

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("the relation of a dataset was dropped while the statement ran"),
				 errdetail("Nothing was charged.")));
	return relation;
}

/* All that a plan reads. */
static List *
open_relations(const pe_scan_plan *plan)
{
	List	   *relations = NIL;
	ListCell   *cell;

	foreach(cell, plan->tables)
		relations = lappend(relations, open_relation((Oid) intVal(lsecond(lfirst_node(List, cell)))));
	return relations != NIL ? relations : list_make1(open_relation(plan->relation));
}

static pe_select *
new_select(EState *estate, const ForeignScan *scan, pe_scan_plan *plan)
{
	pe_select  *select = palloc0(sizeof(*select));

	select->scan = scan;
	select->plan = plan;
	select->estate = estate;
	return select;
}

/* NULL: it returns nothing. */
static pe_select *
read_select(EState *estate, const ForeignScan *scan, int flags)
{
	pe_scan_plan *plan = pe_scan_plan_read(scan->fdw_private);

	if (plan->kind == PE_SCAN_GROUPS)
		return new_select(estate, scan, plan);
	if (plan->kind != PE_SCAN_EMPTY && (flags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		refuse_scan(plan);
	return NULL;
}

static bool
is_ours(const ForeignScan *scan)
{
	return OidIsValid(scan->fs_server) && GetFdwRoutineByServerId(scan->fs_server)->BeginForeignScan == begin;
}

List *
pe_selects_of_statement(EState *estate)
{
	List	   *selects = NIL;
	ListCell   *cell;

	foreach(cell, pe_scans_of_plan(estate->es_plannedstmt))
	{
		const pe_scan_of_plan *found = lfirst(cell);
		pe_select  *select = is_ours(found->scan) && !found->is_dead ? read_select(estate, found->scan, 0) : NULL;

		if (select == NULL)
			continue;
		if (select->plan->parameters != NIL)
			pe_refuse_translation("a test with a sub-select", "Write its value.");
		selects = lappend(selects, select);
	}
	return selects;
}

/* All that a statement with a parallel part will ask. */
static void
add_all(pe_statement_scans *statement)
{
	ListCell   *cell;

	foreach(cell, pe_scans_of_plan(statement->estate->es_plannedstmt))
	{
		const pe_scan_of_plan *found = lfirst(cell);
		pe_select  *select = is_ours(found->scan) ? read_select(statement->estate, found->scan, 0) : NULL;

		if (select == NULL || found->is_dead)
			continue;
		select->relations = open_relations(select->plan);
		statement->selects = lappend(statement->selects, select);
	}
}

static pe_statement_scans *
statement_of(EState *estate)
{
	ListCell   *cell;
	pe_statement_scans *made;
	MemoryContext old;

	foreach(cell, statements)
		if (((pe_statement_scans *) lfirst(cell))->estate == estate)
			return lfirst(cell);
	made = MemoryContextAllocZero(estate->es_query_cxt, sizeof(*made));
	made->estate = estate;
	made->rehearses = pe_settings_rehearse();
	made->forget.func = forget_statement;
	made->forget.arg = made;
	old = MemoryContextSwitchTo(TopMemoryContext);
	statements = lappend(statements, made);
	MemoryContextSwitchTo(old);
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &made->forget);
	made->is_ahead = estate->es_plannedstmt->parallelModeNeeded;
	if (made->is_ahead)
		add_all(made);
	return made;
}

/* NULL: no row of it will be asked for. */
static pe_select *
find_select(const pe_statement_scans *statement, const ForeignScan *scan)
{
	ListCell   *cell;

	foreach(cell, statement->selects)
		if (((pe_select *) lfirst(cell))->scan == scan)
			return lfirst(cell);
	return NULL;
}

static void
fill_parameters(const pe_statement_scans *statement, pe_select *select)
{
	select->plan = pe_parameters_fill(statement->estate, select->plan, is_ours, statement->is_ahead);
}

/* A statement is a rehearsal as a whole, also where a function of it, or who fetches from it, changes the setting. */
static void
check_rehearsal(const pe_statement_scans *statement, const pe_select *select)
{
	if (select->asks && select->cube == NULL && pe_select_rehearses(select) != statement->rehearses)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pg_epsilon.rehearse was changed while the statement ran"),
				 errdetail("A statement is a rehearsal as a whole, or none. What is refused was not charged."),
				 errhint("Run it again.")));
}

/* Rows of an example beside those of a release would be taken for one another. */
static void
check_cubes(const pe_statement_scans *statement)
{
	bool		rehearses = false;
	bool		has_cube = false;
	ListCell   *cell;

	foreach(cell, statement->selects)
	{
		has_cube |= ((const pe_select *) lfirst(cell))->cube != NULL;
		rehearses |= pe_select_rehearses(lfirst(cell));
	}
	if (has_cube && rehearses)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a statement does not mix a rehearsal with a cube, which is of a release"),
				 errdetail("Nothing was charged."),
				 errhint("Ask the cube in a statement of its own.")));
}

/* False if the door will refuse to charge it. */
static bool
prepare_statement(pe_statement_scans *statement)
{
	pe_payment *payment = palloc(list_length(statement->selects) * sizeof(*payment));
	int			payments = 0;
	ListCell   *cell;

	check_serial();
	foreach(cell, statement->selects)
		fill_parameters(statement, lfirst(cell));
	foreach(cell, statement->selects)
		pe_select_open(lfirst(cell));
	foreach(cell, statement->selects)
		pe_select_translate(lfirst(cell));
	foreach(cell, statement->selects)
	{
		pe_select  *select = lfirst(cell);

		pe_select_price(select, true);
		check_rehearsal(statement, select);
		if (select->asks && select->cube == NULL)
			payment[payments++] = pe_select_payment(select);
	}
	check_cubes(statement);
	if (payments > 1)
		pe_asked_check_together(payment, payments);
	statement->prepared = true;
	statement->prepared_at = GetCurrentStatementStartTimestamp();
	return pe_asked_can_be_paid(payment, payments);
}

/* What is refused has no NOTICEs about an answer. */
static void
prepare_in_silence(pe_statement_scans *statement)
{
	pe_held_notices before;
	volatile bool answers = false;

	pe_notices_hold(&before);
	PG_TRY();
	{
		answers = prepare_statement(statement);
	}
	PG_FINALLY();
	{
		pe_notices_release(&before, answers);
	}
	PG_END_TRY();
}

/* Of a cursor it may be long ago that all were prepared: attributes may have been declared anew since. */
static void
prepare_again(pe_select *select)
{
	pe_select	fresh = {
		.scan = select->scan, .plan = select->plan, .relations = select->relations, .estate = select->estate,
		.is_priced = select->is_priced, .epsilon = select->epsilon, .max_stderr = select->max_stderr
	};

	check_serial();
	*select = fresh;
	pe_select_open(select);
	pe_select_translate(select);
	pe_select_price(select, true);
}

/* ------------------------------------------------------------------
 * One scan
 * ------------------------------------------------------------------
 */

/* EXPLAIN ANALYZE shows what it has paid, not that it is paid now. */
static void
note_price(pe_scan_state *state)
{
	state->request = pe_select_request_text(state->select);
	if (state->select->asks)
		state->quote = pe_select_quote_text(state->select);
	state->rehearsal = pe_select_rehearsal_text(state->select);
}

static void
answer(pe_scan_state *state)
{
	EState	   *estate = state->select->estate;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);

	if (!state->statement->prepared)
		prepare_in_silence(state->statement);
	fill_parameters(state->statement, state->select);
	if (state->select->sight == NULL || state->statement->prepared_at != GetCurrentStatementStartTimestamp())
	{
		prepare_again(state->select);
		check_rehearsal(state->statement, state->select);
	}
	if (estate->es_instrument != 0)
		note_price(state);
	pe_select_answer(state->select);
	state->answered = true;
	MemoryContextSwitchTo(old);
}

/* The statement knows all of a plan, or each scan as it begins. */
static void
join_statement(pe_scan_state *state)
{
	pe_statement_scans *statement = statement_of(state->select->estate);
	pe_select  *known = find_select(statement, state->select->scan);

	state->statement = statement;
	if (known != NULL)
		state->select = known;
	else if (!statement->is_ahead)
		statement->selects = lappend(statement->selects, state->select);
	if (known != NULL && statement->is_ahead)
		answer(state);
}

static void
begin(ForeignScanState *node, int flags)
{
	EState	   *estate = node->ss.ps.state;
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	pe_scan_state *state = palloc0(sizeof(*state));

	node->fdw_state = state;
	state->select = read_select(estate, (ForeignScan *) node->ss.ps.plan, flags);
	if (state->select != NULL && (flags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		join_statement(state);
	if (state->select != NULL && state->select->relations == NIL)
		state->select->relations = open_relations(state->select->plan);
	MemoryContextSwitchTo(old);
}

static TupleTableSlot *
iterate(ForeignScanState *node)
{
	pe_scan_state *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	if (state->select == NULL)
		return slot;
	if (!state->answered)
		answer(state);
	if (state->next == list_length(state->select->rows))
		return slot;
	/* columns that nothing reads follow the targets */
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
	pe_select_row(state->select, list_nth(state->select->rows, state->next++), slot->tts_values, slot->tts_isnull);
	return ExecStoreVirtualTuple(slot);
}

/* The answer stays: reading it again is no charge. */
static void
rescan(ForeignScanState *node)
{
	((pe_scan_state *) node->fdw_state)->next = 0;
}

static void
end(ForeignScanState *node)
{
	pe_scan_state *state = node->fdw_state;
	ListCell   *cell;

	if (state == NULL || state->select == NULL)
		return;
	foreach(cell, state->select->relations)
		table_close(lfirst(cell), NoLock);
	state->select->relations = NIL;
}

/* ------------------------------------------------------------------
 * EXPLAIN
 * ------------------------------------------------------------------
 */

/* What EXPLAIN finds out, as far as it comes. */
typedef struct explained
{
	pe_select  *select;
	char	   *request;
	char	   *quote;
	char	   *rehearsal;
} explained;

static void
find_out(void *argument)
{
	explained  *e = argument;
	pe_select  *s = e->select;

	if (s->plan->parameters != NIL)
	{
		pe_parameters_check(s->estate, s->plan, is_ours, s->estate->es_plannedstmt->parallelModeNeeded);
		e->request = pstrdup("known when its subquery has run");
		return;
	}
	if (e->select->sight == NULL)
	{
		pe_select_open(e->select);
		pe_select_translate(e->select);
	}
	e->request = pe_select_request_text(e->select);
	pe_select_price(e->select, false);
	e->request = pe_select_request_text(e->select);
	if (e->select->asks)
		e->quote = pe_select_quote_text(e->select);
	e->rehearsal = pe_select_rehearsal_text(e->select);
}

/* Functions of the SELECT are evaluated here, and may ask themselves. */
static ErrorData *
find_out_free(explained *e)
{
	bool		was_explaining = pe_is_explaining;
	pe_held_notices before;
	ErrorData  *error;

	pe_is_explaining = true;
	pe_notices_hold(&before);
	error = pe_run_undone(find_out, e);
	pe_notices_release(&before, error == NULL);
	pe_is_explaining = was_explaining;
	return error;
}

static void
explain_select(pe_scan_state *state, ExplainState *es)
{
	explained	e = {state->select, state->request, state->quote, state->rehearsal};
	ErrorData  *error = NULL;

	check_serial();
	if (state->request == NULL)
		error = find_out_free(&e);
	if (error != NULL && error->sqlerrcode == ERRCODE_QUERY_CANCELED)
		ReThrowError(error);
	if (state->select->cube != NULL)
		ExplainPropertyText("Cube", pe_cube_text(state->select->cube), es);
	if (e.rehearsal != NULL)
		ExplainPropertyText("Rehearsal", e.rehearsal, es);
	if (e.request != NULL)
		ExplainPropertyText("Request", e.request, es);
	if (state->select->filters_answer)
		ExplainPropertyText("Filter", "of the answer; rows were cut before it", es);
	if (e.quote != NULL)
		ExplainPropertyText("Quote", e.quote, es);
	if (error != NULL)
		ExplainPropertyText("Refused", error->hint != NULL
							? psprintf("%s (%s)", error->message, error->hint) : error->message, es);
}

static void
explain(ForeignScanState *node, ExplainState *es)
{
	pe_scan_state *state = node->fdw_state;
	pe_scan_plan *plan = pe_scan_plan_read(((ForeignScan *) node->ss.ps.plan)->fdw_private);

	if (plan->kind == PE_SCAN_ROWS || plan->kind == PE_SCAN_UNTRANSLATED)
		ExplainPropertyText("Refused", reason(plan), es);
	else if (state->select != NULL)
		explain_select(state, es);
}

Datum
pe_sql_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = pe_fdw_size;
	routine->GetForeignPaths = pe_fdw_paths;
	routine->GetForeignUpperPaths = pe_fdw_upper_paths;
	routine->GetForeignPlan = pe_fdw_plan;
	routine->BeginForeignScan = begin;
	routine->IterateForeignScan = iterate;
	routine->ReScanForeignScan = rescan;
	routine->EndForeignScan = end;
	routine->ExplainForeignScan = explain;
	routine->ImportForeignSchema = pe_fdw_import;
	PG_RETURN_POINTER(routine);
}

/*
 * row.c
 *	  Rows of the ledger's tables by their keys.  See row.h.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "nodes/nodes.h"
#include "optimizer/optimizer.h"
#include "pgstat.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "server/access.h"
#include "server/compat.h"
#include "server/row.h"

struct pe_row
{
	Oid			table;
	TupleDesc	desc;
	Datum	   *value;
	bool	   *isnull;
	ItemPointerData place;		/* of a row that was found */
	TransactionId writer;
};

/* A relation of the extension: they are there as long as it is. */
static Oid
relation_named(const char *name)
{
	Oid			relation = get_relname_relid(name, get_namespace_oid("dp_ledger", false));

	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"dp_ledger.%s\" does not exist", name),
				 errhint("Something that belongs to the extension pg_epsilon was removed.")));
	return relation;
}

/* A table by its name.  One that is dropped while its lock is waited for is looked for again. */
static Relation
open_table(const char *name, LOCKMODE mode)
{
	Relation	relation;

	while ((relation = try_table_open(relation_named(name), mode)) == NULL)
		;
	return relation;
}

void
pe_table_lock(const char *table)
{
	table_close(open_table(table, RowExclusiveLock), NoLock);
}

static pe_row *
empty_row(Oid table, TupleDesc desc)
{
	pe_row	   *row = palloc0(sizeof(*row));

	row->table = table;
	row->desc = desc;
	row->value = palloc0(desc->natts * sizeof(Datum));
	row->isnull = palloc(desc->natts * sizeof(bool));
	memset(row->isnull, true, desc->natts * sizeof(bool));
	return row;
}

/* Takes the values out of a slot; they live in a copy of its tuple. */
static void
take_values(pe_row *row, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecCopySlotHeapTuple(slot);
	bool		isnull;

	heap_deform_tuple(tuple, slot->tts_tupleDescriptor, row->value, row->isnull);
	row->place = slot->tts_tid;
	row->writer = DatumGetTransactionId(slot_getsysattr(slot, MinTransactionIdAttributeNumber, &isnull));
}

/* ------------------------------------------------------------------
 * Finding and locking
 * ------------------------------------------------------------------
 */

static void
init_keys(Relation index, ScanKey scan_key, const Datum *key, int keys)
{
	for (int i = 0; i < keys; i++)
	{
		Oid			type = index->rd_opcintype[i];
		Oid			equals = get_opfamily_member(index->rd_opfamily[i], type, type, BTEqualStrategyNumber);

		ScanKeyEntryInitialize(&scan_key[i], 0, i + 1, BTEqualStrategyNumber, InvalidOid,
							   index->rd_indcollation[i], get_opcode(equals), key[i]);
	}
}

static IndexScanDesc
begin_scan(Relation relation, Relation index, Snapshot snapshot, ScanKey key, int keys)
{
	IndexScanDesc scan = pe_index_beginscan(relation, index, snapshot, keys);

	index_rescan(scan, key, keys, NULL, 0);
	return scan;
}

/* A new snapshot cannot be had in a parallel operation. */
static Snapshot
latest_snapshot(void)
{
	return RegisterSnapshot(IsInParallelMode() ? GetActiveSnapshot() : GetLatestSnapshot());
}

/* Rows with these keys, at most so many. */
static List *
scan_index(const char *table, const char *index_name, const Datum *key, int keys, ScanDirection direction, int most)
{
	Relation	relation = open_table(table, AccessShareLock);
	Relation	index = index_open(relation_named(index_name), AccessShareLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	Snapshot	snapshot = latest_snapshot();
	ScanKeyData scan_key[INDEX_MAX_KEYS];
	IndexScanDesc found;
	TupleDesc	desc = NULL;
	List	   *rows = NIL;

	init_keys(index, scan_key, key, keys);
	found = begin_scan(relation, index, snapshot, scan_key, keys);
	while (list_length(rows) < most && index_getnext_slot(found, direction, slot))
	{
		pe_row	   *row;

		if (desc == NULL)
			desc = CreateTupleDescCopy(RelationGetDescr(relation));
		row = empty_row(RelationGetRelid(relation), desc);
		take_values(row, slot);
		rows = lappend(rows, row);
	}
	index_endscan(found);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, NoLock);
	table_close(relation, NoLock);
	return rows;
}

/*
 * The same, not counted: pg_stat_xact_all_tables would show how many there are.
 */
static List *
scan(const char *table, const char *index_name, const Datum *key, int keys, ScanDirection direction, int most)
{
	bool		counted = pgstat_track_counts;
	List	   *volatile rows = NIL;

	PG_TRY();
	{
		pgstat_track_counts = false;
		rows = scan_index(table, index_name, key, keys, direction, most);
	}
	PG_FINALLY();
	{
		pgstat_track_counts = counted;
	}
	PG_END_TRY();
	return rows;
}

List *
pe_rows(const char *table, const char *index, const Datum *key, int keys)
{
	return scan(table, index, key, keys, ForwardScanDirection, INT_MAX);
}

pe_row *
pe_row_last(const char *table, const char *index, const Datum *key, int keys)
{
	List	   *rows = scan(table, index, key, keys, BackwardScanDirection, 1);

	return rows != NIL ? linitial(rows) : NULL;
}

pe_row_lock_result
pe_row_lock(pe_row *row)
{
	Relation	relation = table_open(row->table, RowExclusiveLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	Snapshot	snapshot = latest_snapshot();
	TM_FailureData failure;
	TM_Result	result = table_tuple_lock(relation, &row->place, snapshot, slot, GetCurrentCommandId(false),
										  LockTupleExclusive,
										  LockWaitSkip, TUPLE_LOCK_FLAG_FIND_LAST_VERSION, &failure);

	if (result == TM_Ok)
		take_values(row, slot);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
	return result == TM_Ok ? PE_ROW_LOCKED : result == TM_WouldBlock ? PE_ROW_HELD : PE_ROW_GONE;
}

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

pe_row *
pe_row_of_result(uint64 number)
{
	pe_row	   *row = empty_row(InvalidOid, SPI_tuptable->tupdesc);

	heap_deform_tuple(SPI_tuptable->vals[number], row->desc, row->value, row->isnull);
	return row;
}

/* The same texts are asked for again and again: the place that a column had the last time is looked at first. */
static AttrNumber
number_of_column(TupleDesc desc, const char *name)
{
	static int16 last[256];
	int16	   *hint = &last[((uintptr_t) name ^ desc->tdtypeid) % lengthof(last)];

	if (*hint < desc->natts && strcmp(NameStr(TupleDescAttr(desc, *hint)->attname), name) == 0)
		return *hint + 1;
	for (int n = 0; n < desc->natts; n++)
		if (strcmp(NameStr(TupleDescAttr(desc, n)->attname), name) == 0)
			return (*hint = n) + 1;
	return 0;
}

static int
column_named(const pe_row *row, const char *name)
{
	AttrNumber	number = number_of_column(row->desc, name);

	if (number == 0)
		elog(ERROR, "a table of the ledger has no column \"%s\"", name);
	return number - 1;
}

bool
pe_row_is_null(const pe_row *row, const char *column)
{
	return row->isnull[column_named(row, column)];
}

int64
pe_row_int64(const pe_row *row, const char *column)
{
	int			i = column_named(row, column);

	if (row->isnull[i])
		return 0;
	switch (TupleDescAttr(row->desc, i)->atttypid)
	{
		case INT8OID:
		case TIMESTAMPTZOID:
			return DatumGetInt64(row->value[i]);
		case INT4OID:
			return DatumGetInt32(row->value[i]);
		case OIDOID:
			return DatumGetObjectId(row->value[i]);
		default:
			elog(ERROR, "column \"%s\" of the ledger is not an integer", column);
	}
}

bool
pe_row_bool(const pe_row *row, const char *column)
{
	int			i = column_named(row, column);

	return !row->isnull[i] && DatumGetBool(row->value[i]);
}

char *
pe_row_text(const pe_row *row, const char *column)
{
	int			i = column_named(row, column);

	return row->isnull[i] ? NULL : TextDatumGetCString(row->value[i]);
}

double
pe_row_float8(const pe_row *row, const char *column)
{
	int			i = column_named(row, column);

	return row->isnull[i] ? 0 : DatumGetFloat8(row->value[i]);
}

Datum
pe_row_datum(const pe_row *row, const char *column)
{
	int			i = column_named(row, column);

	return row->isnull[i] ? (Datum) 0 : row->value[i];
}

char **
pe_row_texts(const pe_row *row, const char *column, int *count)
{
	return pe_texts_of_array(row->value[column_named(row, column)], count);
}

size_t
pe_row_size(const pe_row *row, const char *column)
{
	int			i = column_named(row, column);

	return row->isnull[i] ? 0 : toast_raw_datum_size(row->value[i]);
}

bool
pe_row_changed_here(const pe_row *row)
{
	return TransactionIdIsCurrentTransactionId(row->writer);
}

bytea *
pe_row_bytea(const pe_row *row, const char *column)
{
	int			i = column_named(row, column);

	return row->isnull[i] ? NULL : DatumGetByteaPCopy(row->value[i]);
}

/* ------------------------------------------------------------------
 * Fields
 * ------------------------------------------------------------------
 */

pe_field
pe_field_with(pe_field field, bool isnull, const char *sql)
{
	field.isnull = field.isnull || isnull;
	if (sql != NULL)
		field.sql = sql;
	return field;
}

pe_field
pe_field_text(const char *column, const char *text)
{
	return PE_IF(text != NULL, PE_DATUM(column, TEXTOID, CStringGetTextDatum(text != NULL ? text : "")));
}

Datum
pe_array_of_texts(char **text, int count)
{
	Datum	   *elements = palloc((count + 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
		elements[i] = CStringGetTextDatum(text[i]);
	return PointerGetDatum(construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT));
}

Datum
pe_array_of_int64s(const int64 *number, int count)
{
	Datum	   *element = palloc((count + 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
		element[i] = Int64GetDatum(number[i]);
	return PointerGetDatum(construct_array(element, count, INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

int64 *
pe_int64s_of_array(Datum array, int *count)
{
	Datum	   *element;
	int64	   *number;

	*count = 0;
	if (array == (Datum) 0)
		return NULL;
	deconstruct_array(DatumGetArrayTypeP(array), INT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &element, NULL, count);
	number = palloc((*count + 1) * sizeof(int64));
	for (int i = 0; i < *count; i++)
		number[i] = DatumGetInt64(element[i]);
	return number;
}

static void
set_fields(pe_row *row, const pe_field *fields, int count)
{
	for (int i = 0; i < count; i++)
	{
		int			column = column_named(row, fields[i].column);

		Assert(TupleDescAttr(row->desc, column)->atttypid == fields[i].type);
		row->value[column] = fields[i].value;
		row->isnull[column] = fields[i].isnull;
	}
}

void
pe_row_add(pe_row *row, const char *column, int64 value)
{
	int			i = column_named(row, column);

	if (!row->isnull[i])
		row->value[i] = Int64GetDatum(DatumGetInt64(row->value[i]) + value);
}

/* ------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------
 */

/* The CHECK constraints of a table, ready to be run. */
typedef struct checks
{
	Oid			table;
	bool		stale;
	MemoryContext context;		/* of this and of what it points at */
	ExprState **expression;		/* as the relation's descriptor counts them */
} checks;

/* Of all tables written in this session. */
static List *all_checks = NIL;

/* Something of a table, or of any, was altered. */
static void
mark_stale(Datum unused, Oid table)
{
	ListCell   *cell;

	foreach(cell, all_checks)
	{
		checks	   *c = lfirst(cell);

		c->stale = c->stale || table == InvalidOid || table == c->table;
	}
}

static checks *
prepare_checks(Relation relation)
{
	TupleConstr *constraints = RelationGetDescr(relation)->constr;
	int			count = constraints != NULL ? constraints->num_check : 0;
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "pg_epsilon constraints", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	checks	   *c = palloc0(sizeof(*c));

	c->table = RelationGetRelid(relation);
	c->context = context;
	c->expression = palloc0(Max(count, 1) * sizeof(*c->expression));
	for (int i = 0; i < count; i++)
		if (pe_is_enforced(&constraints->check[i]))
			c->expression[i] = ExecInitExpr(expression_planner(stringToNode(constraints->check[i].ccbin)), NULL);
	MemoryContextSwitchTo(old);
	return c;
}

/*
 * The executor would parse and prepare all constraints of a table at each
 * statement, which takes longer than everything else about a row.  Prepared once
 * they are good until the table is altered.
 */
static ExprState **
checks_of(Relation relation)
{
	static bool watching = false;
	ListCell   *cell;
	checks	   *c;
	MemoryContext old;

	if (!watching)
		CacheRegisterRelcacheCallback(mark_stale, (Datum) 0);
	watching = true;
	foreach(cell, all_checks)
	{
		c = lfirst(cell);
		if (c->table == RelationGetRelid(relation) && !c->stale)
			return c->expression;
		if (!c->stale)
			continue;
		all_checks = foreach_delete_current(all_checks, cell);
		MemoryContextDelete(c->context);
	}
	c = prepare_checks(relation);
	old = MemoryContextSwitchTo(TopMemoryContext);
	all_checks = lappend(all_checks, c);
	MemoryContextSwitchTo(old);
	return c->expression;
}

/* The row as the executor wants it. */
static TupleTableSlot *
slot_of(EState *estate, Relation relation, const pe_row *row)
{
	TupleTableSlot *slot = ExecInitExtraTupleSlot(estate, RelationGetDescr(relation), &TTSOpsVirtual);

	memcpy(slot->tts_values, row->value, row->desc->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, row->isnull, row->desc->natts * sizeof(bool));
	return ExecStoreVirtualTuple(slot);
}

static void
update_in(EState *estate, ResultRelInfo *result, Relation relation, const pe_row *row)
{
	TupleTableSlot *old = table_slot_create(relation, &estate->es_tupleTable);
	EPQState	epq;

	old->tts_tid = row->place;
	pe_begin_recheck(&epq, estate);
	ExecSimpleRelationUpdate(result, estate, &epq, old, slot_of(estate, relation, row));
	EvalPlanQualEnd(&epq);
}

static void
write_row(pe_row *row, bool update)
{
	Relation	relation = table_open(row->table, RowExclusiveLock);
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);

	InitResultRelInfo(result, relation, 0, NULL, 0);
	/* where triggers look for it: they would open the table anew, and nobody would close it */
	estate->es_opened_result_relations = list_make1(result);
	pe_prepared_checks(result) = checks_of(relation);
	estate->es_output_cid = GetCurrentCommandId(true);
	ExecOpenIndices(result, false);
	AfterTriggerBeginQuery();
	if (update)
		update_in(estate, result, relation, row);
	else
		ExecSimpleRelationInsert(result, estate, slot_of(estate, relation, row));
	AfterTriggerEndQuery(estate);
	ExecCloseIndices(result);
	ExecResetTupleTable(estate->es_tupleTable, false);
	FreeExecutorState(estate);
	table_close(relation, NoLock);
	CommandCounterIncrement();
}

void
pe_row_insert(const char *table, const pe_field *fields, int count)
{
	Relation	relation = open_table(table, RowExclusiveLock);
	pe_row	   *row = empty_row(RelationGetRelid(relation), CreateTupleDescCopy(RelationGetDescr(relation)));

	table_close(relation, NoLock);
	set_fields(row, fields, count);
	write_row(row, false);
}

void
pe_row_update(pe_row *row, const pe_field *fields, int count)
{
	set_fields(row, fields, count);
	write_row(row, true);
}

int64
pe_row_next(const char *sequence)
{
	return nextval_internal(relation_named(sequence), false);
}

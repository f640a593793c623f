/*
 * published_table.c
 *	  A table of the caller's that is published.  See published_table.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/comment.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "read/published_table.h"
#include "server/access.h"
#include "server/compat.h"
#include "ledger/relation.h"
#include "ledger/dataset.h"

/* ------------------------------------------------------------------
 * What is there
 * ------------------------------------------------------------------
 */

static void
parse_name(pe_target *t, text *name)
{
	RangeVar   *parsed = makeRangeVarFromNameList(textToQualifiedNameList(name));

	t->schema = RangeVarGetCreationNamespace(parsed);
	t->table = parsed->relname;
	t->qualified = pstrdup(quote_qualified_identifier(get_namespace_name(t->schema), t->table));
	t->relation = get_relname_relid(t->table, t->schema);
}

static void
check_made_for_user(const pe_target *t, bool replace)
{
	int64		series_id = 0;
	pe_published made = replace && get_rel_relkind(t->relation) == RELKIND_RELATION
		? pe_published_find(t->relation, &series_id) : PE_NOT_PUBLISHED;

	if (made == PE_NOT_PUBLISHED || (t->series_id != 0 && series_id != t->series_id))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", t->table),
				 replace ? errdetail("It is not a table that %s made%s.", t->function,
									 t->series_id != 0 ? " of this series" : "")
				 : errhint("replace => true replaces a table that %s made.", t->function)));
	if (made == PE_PUBLISHED_FOR_ANOTHER)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", t->table),
				 errdetail("A published table is written again by the role that published it, and owns it itself.")));
}

/* CREATE TABLE would say it too late for a caller that pays before. */
static void
check_schema(const pe_target *t)
{
	if (!pe_schema_takes_tables(t->schema, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA, get_namespace_name(t->schema));
}

/* What is on a table would run with the caller's rights. */
static void
check_unburdened(const pe_target *t)
{
	char	   *burden = pe_relation_burden(t->relation);

	if (burden != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" cannot be %s", t->table, t->series_id != 0 ? "added to" : "replaced"),
				 errdetail("It has %s.", burden),
				 errhint("Remove that, or publish under another name.")));
}

/*
 * Sessions that make one table wait for each other here, before they pay: the second one finds the table of the first.
 * Names with one hash wait for each other too, which costs time alone.
 */
static void
lock_name(const pe_target *t)
{
	uint16		hash = (uint16) (hash_bytes((const unsigned char *) t->table, strlen(t->table)) | 1);

	if (!isTempNamespace(t->schema))
		LockDatabaseObject(NamespaceRelationId, t->schema, hash, ExclusiveLock);
}

/* Others may read it on, but not change it, or put anything on it.  Nobody's table is locked but the caller's own. */
void
pe_target_find(pe_target *t, text *name, bool replace)
{
	parse_name(t, name);
	if (!OidIsValid(t->relation))
	{
		check_schema(t);
		lock_name(t);
		parse_name(t, name);
	}
	while (OidIsValid(t->relation))
	{
		Oid			locked = t->relation;

		check_made_for_user(t, replace);
		LockRelationOid(locked, ShareRowExclusiveLock);
		parse_name(t, name);
		if (t->relation == locked)
			break;				/* else it came to be another one meanwhile */
	}
	if (!OidIsValid(t->relation))
	{
		check_schema(t);
		lock_name(t);
		return;
	}
	check_made_for_user(t, replace);
	check_unburdened(t);
}

/* ------------------------------------------------------------------
 * Writing
 * ------------------------------------------------------------------
 */

void
pe_target_begin(const pe_target *t, pe_confinement *confinement)
{
	static const pe_setting path[] = {PE_SETTING("search_path", "pg_catalog, pg_temp")};
	int			restricted = isTempNamespace(t->schema) ? 0 : SECURITY_RESTRICTED_OPERATION;

	PreventCommandIfReadOnly(psprintf("%s()", t->function));
	GetUserIdAndSecContext(&confinement->user, &confinement->context);
	SetUserIdAndSecContext(confinement->user, confinement->context | restricted);
	confinement->guc_level = NewGUCNestLevel();
	pe_pin_settings(path, lengthof(path));
}

void
pe_target_end(const pe_confinement *confinement)
{
	AtEOXact_GUC(true, confinement->guc_level);
	SetUserIdAndSecContext(confinement->user, confinement->context);
}

void
pe_target_drop(pe_target *t)
{
	ObjectAddress address = {.classId = RelationRelationId, .objectId = t->relation};
	Relation	table = table_open(t->relation, AccessExclusiveLock);

	if (pe_relation_is_known(t->relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" cannot be replaced by one with other columns", t->table),
				 errdetail("It is registered as a dataset, or was."),
				 errhint("Give another name.")));
	CheckTableNotInUse(table, "DROP TABLE");
	table_close(table, NoLock);
	performDeletion(&address, DROP_RESTRICT, 0);
	CommandCounterIncrement();
	t->relation = InvalidOid;
}

static bool
was_made_here(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool		here = HeapTupleIsValid(tuple) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return here;
}

/* CREATE TABLE goes by name: a schema that is renamed meanwhile may have brought another table under it. */
void
pe_target_create(pe_target *t, const char *columns)
{
	int			result;

	if (OidIsValid(t->relation))
		pe_target_drop(t);
	SPI_connect();
	result = SPI_execute(psprintf("CREATE TABLE %s (%s)", t->qualified, columns), false, 0);
	if (result < 0)
		elog(ERROR, "a statement of %s failed: %s", t->function, SPI_result_code_string(result));
	SPI_finish();
	t->relation = get_relname_relid(t->table, t->schema);
	if (!was_made_here(t->relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the schema of table \"%s\" was changed meanwhile", t->table),
				 errhint("Publish it again.")));
}

static void
check_privilege(const pe_target *t, AclMode mode)
{
	AclResult	result = pg_class_aclcheck(t->relation, GetUserId(), mode);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_TABLE, t->table);
}

void
pe_target_read(const pe_target *t, int column, void (*take) (void *argument, Datum value), void *argument)
{
	Relation	table = table_open(t->relation, AccessShareLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan;
	bool		isnull;

	check_privilege(t, ACL_SELECT);
	scan = table_beginscan(table, snapshot, 0, NULL);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		take(argument, slot_getattr(slot, column, &isnull));
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	table_close(table, NoLock);
}

void
pe_target_empty(const pe_target *t)
{
	Relation	table = table_open(t->relation, RowExclusiveLock);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TupleTableSlot *slot = table_slot_create(table, NULL);
	TableScanDesc scan;

	check_privilege(t, ACL_DELETE);
	scan = table_beginscan(table, snapshot, 0, NULL);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		simple_table_tuple_delete(table, &slot->tts_tid, snapshot);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	table_close(table, NoLock);
	CommandCounterIncrement();
}

static void
insert_all(EState *estate, ResultRelInfo *result, Relation table, int32 rows, pe_target_row make, const void *argument)
{
	TupleTableSlot *slot = ExecInitExtraTupleSlot(estate, RelationGetDescr(table), &TTSOpsVirtual);
	MemoryContext per_row = GetPerTupleMemoryContext(estate);

	for (int32 row = 0; row < rows; row++)
	{
		MemoryContext old = MemoryContextSwitchTo(per_row);

		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(slot);
		make(argument, row, slot->tts_values, slot->tts_isnull);
		MemoryContextSwitchTo(old);
		ExecSimpleRelationInsert(result, estate, ExecStoreVirtualTuple(slot));
		ExecClearTuple(slot);
		ResetPerTupleExprContext(estate);
	}
}

void
pe_target_insert(const pe_target *t, int32 rows, pe_target_row make, const void *argument)
{
	Relation	table = table_open(t->relation, RowExclusiveLock);
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);

	check_privilege(t, ACL_INSERT);
	InitResultRelInfo(result, table, 0, NULL, 0);
	estate->es_opened_result_relations = list_make1(result);
	estate->es_output_cid = GetCurrentCommandId(true);
	ExecOpenIndices(result, false);
	/* a new table may have triggers that an event trigger put on it */
	AfterTriggerBeginQuery();
	insert_all(estate, result, table, rows, make, argument);
	AfterTriggerEndQuery(estate);
	ExecCloseIndices(result);
	ExecResetTupleTable(estate->es_tupleTable, false);
	FreeExecutorState(estate);
	table_close(table, NoLock);
	CommandCounterIncrement();
}

char *
pe_charge_text(int64 release)
{
	static pe_statement find = {NULL, "SELECT c.id, c.rho, pg_catalog.left(c.at, 10), c.epsilon "
								"FROM dp_ledger.release r "
	"JOIN dp_ledger.charge c ON c.id = r.charge_id WHERE r.id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(release)};
	pe_access	access;
	int64		rho;
	int64		epsilon;
	int64		charge;
	char	   *date;

	PE_UNDONE();
	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		elog(ERROR, "release " INT64_FORMAT " has no charge", release);
	charge = pe_access_int64(0, 1);
	rho = pe_access_int64(0, 2);
	date = pe_access_text(0, 3);
	epsilon = pe_access_int64(0, 4);
	pe_access_end(&access);
	PE_END_UNDONE();
	return psprintf("charge " INT64_FORMAT " of %s %.9g on %s", charge, epsilon > 0 ? "epsilon" : "rho",
					(epsilon > 0 ? epsilon : rho) * 1e-9, date);
}

void
pe_target_finish(const pe_target *t, const char *comment)
{
	CreateComments(t->relation, RelationRelationId, 0, comment);
	CommandCounterIncrement();
	pe_published_remember(t->relation, t->series_id);
}

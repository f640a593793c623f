/*
 * relation.c
 *	  The relatives of a registered table.  See relation.h.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "miscadmin.h"
#include "foreign/foreign.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "ledger/relation.h"
#include "ledger/shards.h"
#include "server/access.h"
#include "server/values.h"

/* ------------------------------------------------------------------
 * Ancestors and descendants
 * ------------------------------------------------------------------
 */

/* A scan of pg_inherits for the rows where an OID column has a value; snapshot NULL: the latest. */
static SysScanDesc
scan_inherits(Relation inherits, Oid index, AttrNumber column, Oid value, Snapshot snapshot)
{
	ScanKeyData key;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(value));
	return systable_beginscan(inherits, index, true, snapshot, 1, &key);
}

/* Those that are there already are not added again. */
static List *
add_parents(List *found, Relation inherits, Oid relation)
{
	SysScanDesc scan = scan_inherits(inherits, InheritsRelidSeqnoIndexId, Anum_pg_inherits_inhrelid, relation, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		found = list_append_unique_oid(found, ((Form_pg_inherits) GETSTRUCT(tuple))->inhparent);
	systable_endscan(scan);
	return found;
}

/* The same of children as the active snapshot sees them. */
static List *
add_children(List *found, Relation inherits, Oid relation)
{
	SysScanDesc scan = scan_inherits(inherits, InheritsParentIndexId, Anum_pg_inherits_inhparent, relation,
									 GetActiveSnapshot());
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		if (!((Form_pg_inherits) GETSTRUCT(tuple))->inhdetachpending)
			found = list_append_unique_oid(found, ((Form_pg_inherits) GETSTRUCT(tuple))->inhrelid);
	systable_endscan(scan);
	return found;
}

static List *
ancestors_of(List *relations)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *ancestors = NIL;
	ListCell   *cell;

	foreach(cell, relations)
		ancestors = add_parents(ancestors, inherits, lfirst_oid(cell));
	foreach(cell, ancestors)	/* those that are added meanwhile as well */
		ancestors = add_parents(ancestors, inherits, lfirst_oid(cell));
	table_close(inherits, AccessShareLock);
	return ancestors;
}

List *
pe_relation_heirs(Oid relation, LOCKMODE lock)
{
	return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relation)) ? find_all_inheritors(relation, lock, NULL)
		: list_make1_oid(relation);
}

List *
pe_relation_family(Oid relation)
{
	List	   *descendants = pe_relation_heirs(relation, NoLock);
	List	   *family = list_concat_unique_oid(ancestors_of(descendants), descendants);

	return list_concat_unique_oid(family, pe_shards_here(family));
}

/* ------------------------------------------------------------------
 * Changes of the caller's own transaction
 * ------------------------------------------------------------------
 */

static bool
is_written_here(HeapTuple tuple)
{
	return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
}

/* Whether the caller's own transaction wrote a row of a catalog that is of a relation. */
static bool
wrote_in(Oid catalog, Oid index, AttrNumber column, Oid relation)
{
	Relation	rows = table_open(catalog, AccessShareLock);
	bool		found = false;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	scan = systable_beginscan(rows, index, true, NULL, 1, &key);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
		found = is_written_here(tuple);
	systable_endscan(scan);
	table_close(rows, AccessShareLock);
	return found;
}

/*
 * Whether it wrote a relation, or its columns, indexes or constraints: rows that it had deleted before are read, and
 * need not have what these say.
 */
static bool
changed_here(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool		changed = !HeapTupleIsValid(tuple) || is_written_here(tuple);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return changed || (TransactionIdIsValid(GetTopTransactionIdIfAny()) &&
					   (wrote_in(AttributeRelationId, AttributeRelidNumIndexId, Anum_pg_attribute_attrelid, relation) ||
						wrote_in(IndexRelationId, IndexIndrelidIndexId, Anum_pg_index_indrelid, relation) ||
						wrote_in(ConstraintRelationId, ConstraintRelidTypidNameIndexId, Anum_pg_constraint_conrelid,
								 relation)));
}

/* The relation and its descendants as they are without the caller's own transaction. */
static List *
committed_descendants(Oid relation)
{
	Relation	inherits = table_open(InheritsRelationId, AccessShareLock);
	List	   *descendants = list_make1_oid(relation);
	ListCell   *cell;

	PushCopiedSnapshot(GetLatestSnapshot());
	GetActiveSnapshot()->curcid = FirstCommandId;
	foreach(cell, descendants)	/* those that are added meanwhile as well */
		descendants = add_children(descendants, inherits, lfirst_oid(cell));
	PopActiveSnapshot();
	table_close(inherits, AccessShareLock);
	return descendants;
}

void
pe_relation_check_committed(Oid relation)
{
	List	   *seen = pe_relation_heirs(relation, NoLock);
	List	   *committed = committed_descendants(relation);
	bool		changed = list_difference_oid(seen, committed) != NIL || list_difference_oid(committed, seen) != NIL;
	ListCell   *cell;

	foreach(cell, seen)
		changed = changed || changed_here(lfirst_oid(cell));
	if (changed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\", or one that inherits from it, was changed in this transaction",
						get_rel_name(relation)),
				 errhint("COMMIT first.")));
}

/* ------------------------------------------------------------------
 * Who may change rows
 * ------------------------------------------------------------------
 */

/* The privileges by which rows change; a trigger's function could do anything. */
#define WRITING (ACL_INSERT | ACL_UPDATE | ACL_DELETE | ACL_TRUNCATE | ACL_TRIGGER)

/* Whether one of them was granted to role, to PUBLIC, or to a role that it is a member of. */
static bool
lets_write(const Acl *acl, Oid role)
{
	const AclItem *item = ACL_DAT(acl);

	for (int i = 0; i < ACL_NUM(acl); i++)
		if ((ACLITEM_GET_PRIVS(item[i]) & WRITING) != 0 &&
			(item[i].ai_grantee == ACL_ID_PUBLIC || is_member_of_role(role, item[i].ai_grantee)))
			return true;
	return false;
}

static bool
table_lets_write(HeapTuple tuple, Oid role)
{
	bool		isnull;
	Datum		acl = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &isnull);

	return lets_write(isnull ? acldefault(OBJECT_TABLE, ((Form_pg_class) GETSTRUCT(tuple))->relowner)
					  : DatumGetAclP(acl), role);
}

/* The same of a column's own privileges. */
static bool
column_lets_write(Oid relation, Oid role)
{
	Relation	attributes = table_open(AttributeRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&key, Anum_pg_attribute_attrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	scan = systable_beginscan(attributes, AttributeRelidNumIndexId, true, NULL, 1, &key);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		acl = heap_getattr(tuple, Anum_pg_attribute_attacl, RelationGetDescr(attributes), &isnull);

		found = !isnull && lets_write(DatumGetAclP(acl), role);
	}
	systable_endscan(scan);
	table_close(attributes, AccessShareLock);
	return found;
}

static bool
is_writable_by(Oid relation, Oid role)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool		writable;

	if (!HeapTupleIsValid(tuple))
		return false;			/* it is gone */
	writable = is_member_of_role(role, ROLE_PG_WRITE_ALL_DATA) ||
		is_member_of_role(role, ((Form_pg_class) GETSTRUCT(tuple))->relowner) ||
		table_lets_write(tuple, role) || column_lets_write(relation, role);
	ReleaseSysCache(tuple);
	return writable;
}

Oid
pe_relation_writable_by(Oid relation, Oid role)
{
	List	   *family;
	ListCell   *cell;

	/* nothing is locked yet: what others granted meanwhile is known by these messages alone */
	AcceptInvalidationMessages();
	family = pe_relation_family(relation);
	list_sort(family, list_oid_cmp);
	foreach(cell, family)
		if (is_writable_by(lfirst_oid(cell), role))
			return lfirst_oid(cell);
	return InvalidOid;
}

/* Whether a foreign table stands for a dataset itself: what it answers is noisy, and paid by another budget. */
static bool
stands_for_dataset(Oid relation)
{
	ForeignServer *server = GetForeignServer(GetForeignTable(relation)->serverid);
	Oid			handler = GetForeignDataWrapper(server->fdwid)->fdwhandler;
	char	   *name = OidIsValid(handler) ? get_func_name(handler) : NULL;

	return name != NULL && strcmp(name, "fdw_handler") == 0 &&
		get_func_namespace(handler) == get_namespace_oid("dp_internal", true);
}

static void
check_foreign(Form_pg_class class)
{
	if (class->relkind == RELKIND_FOREIGN_TABLE && stands_for_dataset(class->oid))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" stands for a dataset and has no rows", NameStr(class->relname)),
				 errhint("Register the table that holds the rows.")));
}

/* ------------------------------------------------------------------
 * Functions that run while the server plans
 *
 * The planner computes the constant parts of the expressions of indexes, extended statistics
 * and partition keys: what they call runs before a row is read, in the asker's own session
 * with the rights of the table's owner, and can read the asker's open cursors.  So these
 * functions are those of superusers.  Constraints are not looked at (door.c), row security is
 * off, and nothing is called by columns that are stored, by defaults and by triggers.
 * ------------------------------------------------------------------
 */

static void
check_function(Oid function, const char *what, const char *name)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return;					/* it is gone, and so is what called it */
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	if (!superuser_arg(owner))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s \"%s\" calls function %s of role \"%s\"", what, name, format_procedure(function),
						GetUserNameFromId(owner, true)),
				 errdetail("The server runs such functions while it plans, in the session of the role that asks, "
						   "whose open cursors they can read."),
				 errhint("A superuser can own the function: ALTER FUNCTION ... OWNER TO. Or do without it.")));
}

/* The functions and operators in the expressions of an object, as the server keeps them; its own are not among them. */
static void
check_calls(Oid class, Oid object, const char *what, const char *name)
{
	Relation	depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(class));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(object));
	scan = systable_beginscan(depend, DependDependerIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend on = (Form_pg_depend) GETSTRUCT(tuple);

		if (on->refclassid == ProcedureRelationId)
			check_function(on->refobjid, what, name);
		else if (on->refclassid == OperatorRelationId)
			check_function(get_opcode(on->refobjid), what, name);
	}
	systable_endscan(scan);
	table_close(depend, AccessShareLock);
}

/* Whether the catalog row of an object has an expression in one of two columns. */
static bool
has_expression(int cache, Oid object, AttrNumber one, AttrNumber other)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(object));
	bool		has = HeapTupleIsValid(tuple) && (!heap_attisnull(tuple, one, NULL) ||
												  !heap_attisnull(tuple, other, NULL));

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return has;
}

static char *
statistics_name(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(oid));
	char	   *name = !HeapTupleIsValid(tuple) ? ""
		: pstrdup(NameStr(((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxname));

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return name;
}

static void
check_planned_calls(Oid oid)
{
	Relation	relation = try_relation_open(oid, AccessShareLock);
	ListCell   *cell;

	if (relation == NULL)
		return;
	foreach(cell, RelationGetIndexList(relation))
		if (has_expression(INDEXRELID, lfirst_oid(cell), Anum_pg_index_indexprs, Anum_pg_index_indpred))
			check_calls(RelationRelationId, lfirst_oid(cell), "index", get_rel_name(lfirst_oid(cell)));
	foreach(cell, RelationGetStatExtList(relation))
		if (has_expression(STATEXTOID, lfirst_oid(cell), Anum_pg_statistic_ext_stxexprs,
						   Anum_pg_statistic_ext_stxexprs))
			check_calls(StatisticExtRelationId, lfirst_oid(cell), "statistics object",
						statistics_name(lfirst_oid(cell)));
	if (has_expression(PARTRELID, oid, Anum_pg_partitioned_table_partexprs, Anum_pg_partitioned_table_partexprs))
		check_calls(RelationRelationId, oid, "the partition key of table", RelationGetRelationName(relation));
	relation_close(relation, AccessShareLock);
}

/* A table that is made a view by a rule is one no longer: what it shows was not proved. */
static bool
is_served(char relkind, bool is_view)
{
	if (is_view)
		return relkind == RELKIND_VIEW;
	return relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE || relkind == RELKIND_FOREIGN_TABLE ||
		relkind == RELKIND_MATVIEW;
}

void
pe_relation_check(Oid relation, bool is_view)
{
	List	   *family = pe_relation_heirs(relation, NoLock);
	ListCell   *cell;

	pe_shards_check(relation);
	foreach(cell, family)
	{
		HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));
		Form_pg_class class;

		if (!HeapTupleIsValid(tuple))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the table of the dataset is gone")));
		class = (Form_pg_class) GETSTRUCT(tuple);
		if (!is_served(class->relkind, is_view))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("\"%s\" is not a %s", NameStr(class->relname), is_view ? "view" : "table"),
					 errhint("Register the table that holds the rows, or a view that joins several.")));
		check_foreign(class);
		if (class->relpersistence == RELPERSISTENCE_TEMP)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("\"%s\" is a temporary table", NameStr(class->relname)),
					 errhint("Register a permanent table: a budget outlives the session.")));
		if (class->relforcerowsecurity)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("row security of \"%s\" is forced on its owner", NameStr(class->relname)),
					 errhint("Use ALTER TABLE ... NO FORCE ROW LEVEL SECURITY; a dataset counts all rows.")));
		ReleaseSysCache(tuple);
		check_planned_calls(lfirst_oid(cell));
	}
}

Oid
pe_relation_owner(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

Datum
pe_oid_array(List *list)
{
	Datum	   *oids = palloc(list_length(list) * sizeof(Datum));
	int			n = 0;
	ListCell   *cell;

	foreach(cell, list)
		oids[n++] = ObjectIdGetDatum(lfirst_oid(cell));
	return PointerGetDatum(construct_array(oids, n, OIDOID, sizeof(Oid), true, TYPALIGN_INT));
}

bool
pe_relation_has_domain_of_other(Oid relation, char **column, char **owner)
{
	static pe_statement find = {NULL, "WITH RECURSIVE d AS (SELECT a.attname, a.atttypid, c.relowner "
		"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid "
		"WHERE c.oid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped UNION "
		"SELECT d.attname, t.typbasetype, d.relowner FROM d JOIN pg_catalog.pg_type t ON t.oid = d.atttypid "
		"WHERE t.typtype = 'd') SELECT d.attname::text, pg_catalog.pg_get_userbyid(t.typowner)::text FROM d "
		"JOIN pg_catalog.pg_type t ON t.oid = d.atttypid WHERE t.typtype = 'd' "
		"AND NOT pg_catalog.pg_has_role(t.typowner, d.relowner, 'USAGE') ORDER BY 1 LIMIT 1", 1, {OIDARRAYOID}};
	Datum		values[1] = {pe_oid_array(pe_relation_family(relation))};
	pe_access	access;
	bool		found;

	pe_access_begin(&access);
	found = pe_access_read(&find, values, NULL) > 0;
	if (found)
	{
		*column = pe_access_text(0, 1);
		*owner = pe_access_text(0, 2);
	}
	pe_access_end(&access);
	return found;
}

char *
pe_relation_partial_index(Oid relation)
{
	static pe_statement find = {NULL, "SELECT c.relname::text FROM pg_catalog.pg_index i "
		"JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = ANY ($1) AND i.indpred IS NOT NULL "
		"ORDER BY 1 LIMIT 1", 1, {OIDARRAYOID}};
	Datum		values[1] = {pe_oid_array(pe_relation_heirs(relation, NoLock))};
	pe_access	access;
	char	   *name = NULL;

	pe_access_begin(&access);
	if (pe_access_read(&find, values, NULL) > 0)
		name = pe_access_text(0, 1);
	pe_access_end(&access);
	return name;
}

bool
pe_relation_is_key(Oid relation, const char *column)
{
	static pe_statement find = {NULL, "SELECT FROM pg_catalog.pg_index i "
		"JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] "
		"WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indnkeyatts = 1 AND i.indpred IS NULL "
		"AND a.attname::text = $2", 2, {OIDOID, TEXTOID}};
	Datum		values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(column)};
	pe_access	access;
	bool		found;

	pe_access_begin(&access);
	found = pe_access_read(&find, values, NULL) > 0;
	pe_access_end(&access);
	return found;
}

#define PERSONS \
	"'(customer|client|patient|person|people|member|user|subscriber|account|guest|student|subject|donor|household)'"

/* Names like those of persons come first, then columns of foreign keys: they point at something for sure. */
List *
pe_relation_pointers(Oid relation, const char *key, bool *person)
{
	static pe_statement find = {NULL, "SELECT a.attname::text, (a.attname ~* " PERSONS ")::text "
		"FROM pg_catalog.pg_attribute a, "
		"LATERAL (SELECT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.conrelid = a.attrelid "
		"AND c.contype = 'f' AND a.attnum = ANY (c.conkey)) AS is_foreign_key) f "
		"WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND (f.is_foreign_key "
		"OR a.attname ~* '(^|_)(id|uuid|guid)$' OR a.attname ~ '[a-z0-9]I[Dd]$') AND ($2 = '' OR ($2 !~* "
		PERSONS " AND a.attname ~* " PERSONS ")) ORDER BY a.attname ~* " PERSONS " DESC, f.is_foreign_key DESC, "
		"a.attnum", 2, {OIDOID, TEXTOID}};
	Datum		values[2] = {ObjectIdGetDatum(relation), CStringGetTextDatum(key != NULL ? key : "")};
	MemoryContext here = CurrentMemoryContext;
	List	   *pointers = NIL;
	List	   *names = NIL;
	List	   *persons = NIL;
	uint64		rows;
	ListCell   *cell;
	pe_access	access;

	pe_access_begin(&access);
	rows = pe_access_read(&find, values, NULL);
	MemoryContextSwitchTo(here);
	for (uint64 row = 0; row < rows; row++)
	{
		names = lappend(names, pe_access_text(row, 1));
		persons = lappend(persons, pe_access_text(row, 2));
	}
	pe_access_end(&access);
	*person = false;
	foreach(cell, names)
		if (pe_type_is_unit(getBaseType(get_atttype(relation, get_attnum(relation, lfirst(cell))))) &&
			!pe_relation_is_key(relation, lfirst(cell)))
		{
			*person |= pointers == NIL && strcmp(list_nth(persons, foreach_current_index(cell)), "true") == 0;
			pointers = lappend(pointers, lfirst(cell));
		}
	return pointers;
}

bool
pe_relation_has_policies(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool		has = HeapTupleIsValid(tuple) && ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return has;
}

Oid
pe_relation_whole(Oid relation)
{
	List	   *ancestors = ancestors_of(list_make1_oid(relation));

	return ancestors != NIL ? llast_oid(ancestors) : InvalidOid;
}

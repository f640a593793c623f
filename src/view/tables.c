/*
 * tables.c
 *	  What a table of a view is: public or private, its family, and whose it must be.
 *
 * A table is public if PUBLIC may read it, or if the owner of the view says so; every other one is
 * private.  So a table that nobody thought of is protected.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ledger/relation.h"
#include "server/compat.h"
#include "view/prover.h"

char *
pe_relation_text(Oid relation)
{
	char	   *name = get_rel_name(relation);

	return name == NULL ? "?" : quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)), name);
}

/* Whether an access list grants a privilege to PUBLIC itself. */
static bool
grants_public(int cache, Oid object, AttrNumber column, AclMode mode)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(object));
	bool		grants = false;
	bool		isnull;
	Datum		acl;

	if (!HeapTupleIsValid(tuple))
		return false;
	acl = SysCacheGetAttr(cache, tuple, column, &isnull);
	/* of a table and a schema no list grants PUBLIC nothing */
	if (!isnull)
	{
		Acl		   *list = DatumGetAclP(acl);
		const AclItem *item = ACL_DAT(list);

		for (int i = 0; i < ACL_NUM(list); i++)
			grants = grants || (item[i].ai_grantee == ACL_ID_PUBLIC && (ACLITEM_GET_PRIVS(item[i]) & mode) != 0);
	}
	ReleaseSysCache(tuple);
	return grants;
}

static bool
is_public(const pe_prover *prover, Oid relation, char relkind)
{
	if (list_member_oid(prover->words->public_tables, relation))
		return true;
	return (relkind == RELKIND_RELATION || relkind == RELKIND_PARTITIONED_TABLE) &&
		grants_public(RELOID, relation, Anum_pg_class_relacl, ACL_SELECT) &&
		grants_public(NAMESPACEOID, get_rel_namespace(relation), Anum_pg_namespace_nspacl, ACL_USAGE);
}

static void
check_kind(pe_block *block, const pe_source *source, char relkind)
{
	Oid			schema = get_rel_namespace(source->relation);

	if (schema == PG_CATALOG_NAMESPACE || IsToastNamespace(schema) ||
		strcmp(get_namespace_name(schema), "information_schema") == 0)
		pe_block_refuse(block, psprintf("\"%s\" of the system catalog", source->name),
						"What the catalog holds depends on what everybody does.", "Keep what is needed in a table.");
	if (relkind != RELKIND_RELATION && relkind != RELKIND_PARTITIONED_TABLE && relkind != RELKIND_FOREIGN_TABLE &&
		relkind != RELKIND_MATVIEW)
		pe_block_refuse(block, psprintf("\"%s\"", source->name), "It is no table.", "Read tables and views.");
	if (relkind != RELKIND_MATVIEW)
		pe_relation_check(source->relation, false);
}

/* Of one relation of the family; what cannot be seen by the planner's own means could make plans differ. */
static void
check_member(pe_block *block, const pe_source *source, Oid member)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(member));
	bool		has_policies;
	bool		is_unseen;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", member);
	has_policies = ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;
	is_unseen = ((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_FOREIGN_TABLE &&
		((Form_pg_class) GETSTRUCT(tuple))->reltuples < 0;
	ReleaseSysCache(tuple);
	if (has_policies)
		pe_block_refuse(block, psprintf("row security on \"%s\"", get_rel_name(member)),
						"Which rows are read then depends on policies.",
						"ALTER TABLE ... DISABLE ROW LEVEL SECURITY, or keep these rows in a table without it.");
	if (is_unseen)
		pe_block_refuse(block, psprintf("foreign table \"%s\" without statistics", get_rel_name(member)),
						"The other server would be asked while the statement is planned.", "ANALYZE it.");
}

/* The role that registers the view puts a cap on these rows. */
static void
check_owner(pe_block *block, const pe_source *source, Oid relation)
{
	Oid			owner = pe_relation_owner(relation);

	if (!has_privs_of_role(block->prover->owner, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the owner of view \"%s\" does not own table \"%s\"", block->prover->view_name,
						get_rel_name(relation)),
				 errdetail("It is read in %s and is private: not every role may read it.", block->name),
				 errhint("Its owner can register a view over it, or a role that has the privileges of all owners; "
						 "a table that is public knowledge can be named in public_tables.")));
}

void
pe_table_classify(pe_block *block, pe_source *source)
{
	RangeTblEntry *entry = source->entry;
	char		relkind;
	Oid			whole;
	ListCell   *cell;

	source->relation = entry->relid;
	LockRelationOid(source->relation, AccessShareLock);
	relkind = get_rel_relkind(source->relation);
	check_kind(block, source, relkind);
	source->members = entry->inh ? find_all_inheritors(source->relation, AccessShareLock, NULL)
		: list_make1_oid(source->relation);
	foreach(cell, source->members)
		check_member(block, source, lfirst_oid(cell));
	whole = pe_relation_whole(source->relation);
	source->family = OidIsValid(whole) ? whole : source->relation;
	source->is_private = !is_public(block->prover, source->relation, relkind);
	if (source->is_private)
		foreach(cell, source->members)
			check_owner(block, source, lfirst_oid(cell));
	block->prover->reads = list_concat_unique_oid(block->prover->reads, source->members);
}

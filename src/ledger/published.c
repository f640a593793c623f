/*
 * published.c
 *	  The tables that dp.publish and dp.publish_series made.  See relation.h.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "server/access.h"
#include "ledger/relation.h"
#include "ledger/dataset.h"

/* Whether row of the last result, see pe_published_find, is of the table. */
static bool
is_of(uint64 row, Oid relation, bool local)
{
	if (!local)
		return pe_access_int64(row, 6) != 0;
	return (Oid) pe_access_int64(row, 1) == relation && (Oid) pe_access_int64(row, 2) == get_rel_type_id(relation);
}

pe_published
pe_published_find(Oid relation, int64 *series_id)
{
	static pe_statement find = {NULL, "SELECT relation_oid, row_type_oid, owner_oid, owner, identity, "
		"relation_schema = $2 AND relation_name = $3, coalesce(series_id, 0) FROM dp_ledger.published "
		"WHERE relation_oid = $1 OR (relation_schema = $2 AND relation_name = $3)", 3,
	{OIDOID, TEXTOID, TEXTOID}};
	Datum		values[3] = {
		ObjectIdGetDatum(relation), CStringGetTextDatum(get_namespace_name(get_rel_namespace(relation))),
		CStringGetTextDatum(get_rel_name(relation))
	};
	Oid			user = GetUserId();
	char	   *name = GetUserNameFromId(user, false);
	pe_published found = PE_NOT_PUBLISHED;
	pe_access	access;
	uint64		rows;

	pe_access_begin(&access);
	rows = pe_access_read(&find, values, NULL);
	for (uint64 row = 0; row < rows && found == PE_NOT_PUBLISHED; row++)
	{
		bool		local = pe_identity_is_local(pe_access_text(row, 5), (Oid) pe_access_int64(row, 1));
		bool		of_user = local ? (Oid) pe_access_int64(row, 3) == user : strcmp(pe_access_text(row, 4), name) == 0;

		if (!is_of(row, relation, local))
			continue;
		*series_id = pe_access_int64(row, 7);
		found = of_user && pe_relation_owner(relation) == user ? PE_PUBLISHED_FOR_USER : PE_PUBLISHED_FOR_ANOTHER;
	}
	pe_access_end(&access);
	return found;
}

/* Of the system and the database that an identity has in front. */
#define SAME_PART(number) \
	"pg_catalog.split_part(identity, '/', " number ") = pg_catalog.split_part($identity, '/', " number ")"

void
pe_published_remember(Oid relation, int64 series_id)
{
	static pe_statement forget;
	static pe_statement insert;
	pe_field	fields[] = {
		PE_OID("relation_oid", relation),
		PE_OID("row_type_oid", get_rel_type_id(relation)),
		PE_TEXT("relation_schema", get_namespace_name(get_rel_namespace(relation))),
		PE_TEXT("relation_name", get_rel_name(relation)),
		PE_OID("owner_oid", GetUserId()),
		PE_TEXT("owner", GetUserNameFromId(GetUserId(), false)),
		PE_TEXT("identity", pe_current_identity(relation)),
		PE_IF(series_id != 0, PE_INT8("series_id", series_id))
	};
	pe_access	access;

	pe_access_begin(&access);
	/* what was written of the table, elsewhere under its name, and here of the user's tables that are gone */
	pe_access_named(&forget, "DELETE FROM dp_ledger.published p WHERE CASE WHEN " SAME_PART("1") " AND " SAME_PART("3")
					" THEN relation_oid = $relation_oid OR (owner_oid = $owner_oid AND NOT EXISTS "
					"(SELECT FROM pg_catalog.pg_class c WHERE c.oid = p.relation_oid AND c.reltype = p.row_type_oid)) "
					"ELSE relation_schema = $relation_schema AND relation_name = $relation_name "
					"END", PE_FIELDS(fields));
	pe_access_insert(&insert, "published", PE_FIELDS(fields), "");
	pe_access_end(&access);
}

char *
pe_relation_burden(Oid relation)
{
	static pe_statement find = {NULL, "SELECT b.what FROM ("
		"SELECT 1, 'constraint \"' || conname || '\"' || CASE WHEN conrelid <> $1 "
		"THEN ' of table ' || conrelid::pg_catalog.regclass ELSE '' END FROM pg_catalog.pg_constraint "
		"WHERE (conrelid = $1 AND contype NOT IN ('p', 'u', 'n', 't')) OR confrelid = $1 "
		"UNION ALL SELECT 2, 'trigger \"' || tgname || '\"' FROM pg_catalog.pg_trigger WHERE tgrelid = $1 "
		"UNION ALL SELECT 3, 'rule \"' || rulename || '\"' FROM pg_catalog.pg_rewrite WHERE ev_class = $1 "
		"UNION ALL SELECT 4, 'policy \"' || polname || '\"' FROM pg_catalog.pg_policy WHERE polrelid = $1 "
		"UNION ALL SELECT 5, 'row level security' FROM pg_catalog.pg_class "
		"WHERE oid = $1 AND (relrowsecurity OR relforcerowsecurity) UNION ALL SELECT 6, 'child ' "
		"|| inhrelid::pg_catalog.regclass FROM pg_catalog.pg_inherits WHERE inhparent = $1 "
		"UNION ALL SELECT 6, 'parent ' || inhparent::pg_catalog.regclass FROM pg_catalog.pg_inherits "
		"WHERE inhrelid = $1 UNION ALL SELECT 7, 'default of column \"' || a.attname || '\"' "
		"FROM pg_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid "
		"AND a.attnum = d.adnum WHERE d.adrelid = $1 UNION ALL SELECT 8, 'index \"' || c.relname "
		"|| '\", which computes' FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid "
		"WHERE i.indrelid = $1 AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)) AS b (kind, what) "
		"ORDER BY b.kind, b.what LIMIT 1", 1, {OIDOID}};
	Datum		values[1] = {ObjectIdGetDatum(relation)};
	char	   *burden = NULL;
	pe_access	access;

	pe_access_begin(&access);
	if (pe_access_read(&find, values, NULL) > 0)
		burden = pe_access_text(0, 1);
	pe_access_end(&access);
	return burden;
}

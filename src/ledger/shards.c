/*
 * shards.c
 *	  Distributed tables.  See shards.h.
 */
#include "postgres.h"

#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ledger/families.h"
#include "ledger/relation.h"
#include "ledger/shards.h"
#include "server/access.h"

/* Nobody but a superuser can have a table of this name in this schema. */
static bool
citus_is_installed(void)
{
	return OidIsValid(get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE));
}

static Datum
relation_and_heirs(Oid relation)
{
	return pe_oid_array(pe_relation_heirs(relation, NoLock));
}

/* The one number that a statement returns. */
static int64
number_from(pe_statement *statement, Datum *values)
{
	pe_access	access;
	int64		number;

	pe_access_begin_reading(&access);
	number = pe_access_read(statement, values, NULL) > 0 ? pe_access_int64(0, 1) : 0;
	pe_access_end(&access);
	return number;
}

/* Of one about the relation and its heirs. */
static int64
number_of(pe_statement *statement, Oid relation)
{
	Datum		values[1] = {relation_and_heirs(relation)};

	return number_from(statement, values);
}

bool
pe_shards_hold(Oid relation)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_partition "
		"WHERE logicalrelid::oid = ANY ($1)",
	1, {OIDARRAYOID}};

	return citus_is_installed() && number_of(&find, relation) > 0;
}

bool
pe_shards_hold_rows(const pe_dataset *dataset)
{
	ListCell   *cell;

	if (!citus_is_installed())
		return false;
	foreach(cell, pe_families_tables(dataset))
		if (pe_shards_hold(lfirst_oid(cell)))
			return true;
	return false;
}

/* Whether each table is distributed by the hash of this column. */
static bool
are_by(Oid relation, const char *column)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.count(*) FROM pg_catalog.unnest($1) AS r "
		"LEFT JOIN pg_catalog.pg_dist_partition p ON p.logicalrelid::oid = r "
		"WHERE p.logicalrelid IS NULL OR p.partmethod <> 'h' OR p.partkey IS NULL "
		"OR pg_catalog.quote_ident(pg_catalog.column_to_column_name(p.logicalrelid, p.partkey)) <> $2", 2,
		{OIDARRAYOID, TEXTOID}};
	Datum		values[2] = {relation_and_heirs(relation), CStringGetTextDatum(column)};

	return number_from(&find, values) == 0;
}

/* Equal values of all these distributed tables are on one node, in shards that are joined there. */
static bool
are_together(List *relations)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.count(DISTINCT colocationid) "
		"FROM pg_catalog.pg_dist_partition WHERE logicalrelid::oid = ANY ($1)",
	1, {OIDARRAYOID}};
	Datum		values[1] = {pe_oid_array(pe_families_heirs(relations))};

	return number_from(&find, values) == 1;
}

/* Of a public table: its rows are not in shards that only some of the nodes have. */
static bool
is_divided(Oid relation)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_partition "
		"WHERE logicalrelid::oid = ANY ($1) AND partmethod <> 'n'",
	1, {OIDARRAYOID}};

	return number_of(&find, relation) > 0;
}

bool
pe_shards_have_units(const pe_dataset *dataset)
{
	static const char by[] = "column ";
	ListCell   *cell;

	if (!citus_is_installed())
		return false;
	foreach(cell, pe_families_of(dataset))
	{
		const pe_family *family = lfirst(cell);

		if (family->is_past)
			continue;
		if (family->is_public ? is_divided(family->relation)
			: strncmp(family->rule, by, strlen(by)) != 0 || !are_by(family->relation, family->rule + strlen(by)))
			return false;
	}
	return are_together(pe_families_private(dataset));
}

void
pe_shards_check_view(const pe_dataset *dataset, bool has_settings)
{
	if (!pe_shards_hold_rows(dataset))
		return;
	if (!pe_shards_have_units(dataset))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rows of one \"%s\" of the view may be on several nodes", dataset->unit),
				 errdetail("Each private table must be distributed by the column that says whose its rows are, "
						   "all of them co-located; public tables must be reference tables, or local."),
				 errhint("create_distributed_table('orders', 'customer_id', colocate_with => 'customers'), "
						 "create_reference_table('products').")));
	if (has_settings)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("the view over distributed tables has an expression that depends on settings"),
				 errdetail("Settings such as TimeZone are those of each node."),
				 errhint("Name the time zone: AT TIME ZONE 'UTC'.")));
}

int64
pe_shards_count(const pe_dataset *dataset)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_shard "
		"WHERE logicalrelid::oid = ($1)[1]", 1, {OIDARRAYOID}};
	List	   *tables = pe_families_private(dataset);

	return citus_is_installed() && tables != NIL ? Max(number_of(&find, linitial_oid(tables)), 1) : 1;
}

List *
pe_shards_here(List *relations)
{
	static pe_statement find = {NULL, "SELECT c.oid::int8 FROM pg_catalog.pg_dist_shard s "
		"JOIN pg_catalog.pg_class t ON t.oid = s.logicalrelid::oid CROSS JOIN LATERAL "
		"(SELECT pg_catalog.parse_ident(pg_catalog.shard_name(s.logicalrelid, s.shardid)) AS parts) n "
		"JOIN pg_catalog.pg_class c ON c.relname = n.parts[pg_catalog.array_upper(n.parts, 1)] "
		"AND c.relnamespace = t.relnamespace WHERE t.oid = ANY ($1) ORDER BY 1", 1, {OIDARRAYOID}};
	Datum		values[1];
	List	   *shards = NIL;
	pe_access	access;
	uint64		count;

	if (relations == NIL || !citus_is_installed())
		return NIL;
	values[0] = pe_oid_array(relations);
	pe_access_begin_reading(&access);
	count = pe_access_read(&find, values, NULL);
	for (uint64 i = 0; i < count; i++)
		shards = lappend_oid(shards, (Oid) pe_access_int64(i, 1));
	pe_access_end(&access);
	return shards;
}

static bool
is_shard(Oid relation)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.count(*) FROM pg_catalog.unnest($1) r "
		"WHERE pg_catalog.relation_is_a_known_shard(r)",
	1, {OIDARRAYOID}};

	return number_of(&find, relation) > 0;
}

/* Where metadata are kept in step each node knows the table. */
static bool
is_coordinator(Oid relation)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.count(*) FROM pg_catalog.pg_dist_local_group "
		"WHERE groupid = 0 AND $1 IS NOT NULL",
	1, {OIDARRAYOID}};

	return number_of(&find, relation) > 0;
}

void
pe_shards_check(Oid relation)
{
	if (!citus_is_installed())
		return;
	if (is_shard(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is a shard of a distributed table, or has one that inherits from it",
						get_rel_name(relation)),
				 errhint("Register the distributed table, on the coordinator.")));
	if (pe_shards_hold(relation) && !is_coordinator(relation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("distributed table \"%s\" can be a dataset on the coordinator only", get_rel_name(relation)),
				 errdetail("The ledger of the dataset is on one node, and charges are made there."),
				 errhint("Connect to the coordinator.")));
}

uint64
pe_shards_blocks(Oid relation)
{
	static pe_statement find = {NULL, "SELECT pg_catalog.sum(pg_catalog.citus_relation_size(logicalrelid))::int8 "
	"FROM pg_catalog.pg_dist_partition WHERE logicalrelid::oid = ANY ($1)", 1, {OIDARRAYOID}};

	if (!citus_is_installed())
		return 0;
	return ((uint64) number_of(&find, relation) + BLCKSZ - 1) / BLCKSZ;
}

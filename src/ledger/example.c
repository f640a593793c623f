/*
 * example.c
 *	  The example of a dataset.  See example.h.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ledger/columns.h"
#include "ledger/example.h"
#include "ledger/relation.h"
#include "ledger/shards.h"
#include "server/compat.h"
#include "server/settings.h"

char *
pe_example_text(const pe_dataset *dataset)
{
	return quote_qualified_identifier(dataset->example_schema, dataset->example_name);
}

Oid
pe_example_find(const pe_dataset *dataset)
{
	Oid			schema;
	Oid			relation;

	if (dataset->example_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dataset \"%s\" has no example to rehearse with", dataset->name),
				 errdetail("pg_epsilon.rehearse is on. Nothing was charged."),
				 errhint("The owner can give it one with dp.set_example; "
						 "SET pg_epsilon.rehearse = off asks the dataset, which is charged.")));
	if (dataset->frozen)
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("dataset \"%s\" is frozen", dataset->name),
				 errhint("The owner of the table lifts the freeze with dp.attest.")));
	schema = get_namespace_oid(dataset->example_schema, true);
	relation = OidIsValid(schema) ? get_relname_relid(dataset->example_name, schema) : InvalidOid;
	if (!OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the example %s of dataset \"%s\" is gone", pe_example_text(dataset), dataset->name),
				 errhint("The owner can give it another with dp.set_example.")));
	return relation;
}

/* ------------------------------------------------------------------
 * Whether its rows are public
 * ------------------------------------------------------------------
 */

static bool
is_plain(Oid relation)
{
	char		kind = get_rel_relkind(relation);

	return (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE || kind == RELKIND_MATVIEW) &&
		get_rel_persistence(relation) != RELPERSISTENCE_TEMP;
}

/* Of the table and of all that inherit from it, since their rows are read with it. */
static void
check_kind(Oid relation)
{
	ListCell   *cell;

	foreach(cell, pe_relation_heirs(relation, NoLock))
		if (!is_plain(lfirst_oid(cell)) || pe_shards_hold(lfirst_oid(cell)))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" cannot be an example", get_rel_name(lfirst_oid(cell))),
					 errdetail("An example is a permanent table, a partitioned table or a materialized view "
							   "of this server."),
					 errhint("CREATE TABLE ... AS, or CREATE MATERIALIZED VIEW, keeps what it shows.")));
	pe_relation_check(relation, false);
}

static void
check_public(const pe_dataset *dataset, Oid relation)
{
	ListCell   *cell;

	if (pg_class_aclcheck(relation, ACL_ID_PUBLIC, ACL_SELECT) != ACLCHECK_OK ||
		!pe_schema_is_usable(get_rel_namespace(relation), ACL_ID_PUBLIC))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" cannot be the example of dataset \"%s\"", get_rel_name(relation), dataset->name),
				 errdetail("The rows of an example are public, and not every role may read these."),
				 errhint("GRANT SELECT ON it, and USAGE ON its SCHEMA, TO PUBLIC if they are.")));
	if (pe_relation_has_policies(relation))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" cannot be the example of dataset \"%s\"", get_rel_name(relation), dataset->name),
				 errdetail("It has row level security, and the rows of an example are public.")));
	foreach(cell, pe_datasets_of_family(relation))
	{
		const pe_dataset *other = lfirst(cell);

		if (!other->dropped)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" cannot be the example of dataset \"%s\"", get_rel_name(relation), dataset->name),
					 errdetail("It has rows of dataset \"%s\".", other->name)));
	}
}

/* ------------------------------------------------------------------
 * Whether it has the columns
 * ------------------------------------------------------------------
 */

/* Attributes have the column's own name.  Whether a plan counts NULLs apart follows from the dataset's table. */
static void
check_column(const pe_dataset *dataset, Oid relation, const char *column)
{
	AttrNumber	declared = get_attnum(dataset->relation, column);
	AttrNumber	number = get_attnum(relation, column);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("\"%s\", the example of dataset \"%s\", has no column \"%s\"", get_rel_name(relation),
						dataset->name, column),
				 errhint("Make it with the columns of the table: CREATE TABLE ... (LIKE ...).")));
	pe_column_check_stored(relation, number);
	if (getBaseType(get_atttype(relation, number)) != getBaseType(get_atttype(dataset->relation, declared)))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of \"%s\", the example of dataset \"%s\", is of another type", column,
						get_rel_name(relation), dataset->name),
				 errdetail("It is %s, and %s in the table of the dataset.",
						   format_type_be(get_atttype(relation, number)),
						   format_type_be(get_atttype(dataset->relation, declared)))));
	if (pe_column_is_not_null(dataset->relation, declared) && !pe_column_is_not_null(relation, number))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of \"%s\", the example of dataset \"%s\", may have NULL", column,
						get_rel_name(relation), dataset->name),
				 errdetail("In the table of the dataset it is NOT NULL, and so it is planned."),
				 errhint("ALTER TABLE ... ALTER ... SET NOT NULL.")));
}

void
pe_example_check(const pe_dataset *dataset, Oid relation, char **columns, int count)
{
	if (!OidIsValid(pe_relation_owner(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the example of dataset \"%s\" is gone", dataset->name),
				 errhint("Ask again.")));
	check_kind(relation);
	check_public(dataset, relation);
	if (dataset->unit != NULL)
	{
		check_column(dataset, relation, dataset->unit);
		(void) pe_unit_column_type(relation, dataset->unit);
	}
	if (dataset->private_column != NULL)
		check_column(dataset, relation, dataset->private_column);
	if (dataset->time_attribute != NULL)
		check_column(dataset, relation, dataset->time_attribute);
	for (int i = 0; i < count; i++)
		check_column(dataset, relation, columns[i]);
}

void
pe_example_check_declared(const pe_dataset *dataset, Oid relation)
{
	int			count;
	char	  **columns = pe_attribute_names(dataset, &count);

	pe_dataset_check_there(dataset);
	pe_example_check(dataset, relation, columns, count);
}

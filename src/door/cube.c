/*
 * cube.c
 *	  A paid release for the readers of a relation.  See cube.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "door/cube.h"
#include "ledger/budget.h"
#include "ledger/chain.h"
#include "ledger/dataset.h"
#include "ledger/relation.h"
#include "server/access.h"

/* SELECT on the relation, or on some of its columns: which of them the statement reads, the executor has checked. */
static void
check_reader(Oid relation, Oid reader)
{
	if (pg_class_aclcheck(relation, reader, ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relation, reader, ACL_SELECT, ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FOREIGN_TABLE, get_rel_name(relation));
}

/* An option of the relation, as it is now; 55000 if it has none. */
static char *
option_of(Oid relation, const char *name)
{
	ListCell   *cell;

	foreach(cell, GetForeignTable(relation)->options)
	{
		DefElem    *option = lfirst(cell);

		if (strcmp(option->defname, name) == 0)
			return defGetString(option);
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("foreign table \"%s\" has no option \"%s\"", get_rel_name(relation), name),
			 errhint("Make it anew by dp.expose(..., release => ..., replace => true).")));
}

/* The dataset of a release, and its payload, NULL if it has expired; false: there is none. */
static bool
find_release(int64 id, int64 *dataset, bytea **payload)
{
	static pe_statement find = {NULL, "SELECT dataset_id, payload FROM dp_ledger.release WHERE id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(id)};
	pe_access	access;
	bool		found;
	bool		expired = true;
	Datum		bytes = (Datum) 0;

	pe_access_begin(&access);
	found = pe_access_read(&find, key, NULL) == 1;
	if (found)
	{
		*dataset = pe_access_int64(0, 1);
		bytes = pe_access_datum(0, 2, &expired);
	}
	pe_access_end(&access);
	*payload = expired ? NULL : DatumGetByteaPP(bytes);
	return found;
}

/* Whether a role may replay a release of a dataset. */
static bool
may_replay(int64 release, int64 id, Oid role)
{
	const pe_dataset *dataset = pe_dataset_load_by_id(id);

	return dataset != NULL &&
		(pe_dataset_owned_by(dataset, role) || pe_release_is_paid(release, dataset->frozen, role));
}

static void
check_there(int64 release, const bytea *payload)
{
	if (payload == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("release " INT64_FORMAT " has expired", release),
				 errhint("Measure it anew, and make the relation of that release.")));
}

bytea *
pe_door_cube(Oid relation, Oid reader, int64 *release)
{
	Oid			owner;
	char	   *digest;
	int64		dataset;
	bytea	   *payload;

	AcceptInvalidationMessages();	/* the catalog as it is now, in a transaction that has been open for long, too */
	owner = pe_relation_owner(relation);
	digest = option_of(relation, PE_CUBE_DIGEST);
	*release = pg_strtoint64(option_of(relation, PE_CUBE_RELEASE));
	check_reader(relation, reader);
	if (!find_release(*release, &dataset, &payload) || !may_replay(*release, dataset, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the owner of foreign table \"%s\" may not read release " INT64_FORMAT,
						get_rel_name(relation), *release),
				 errdetail("Role \"%s\" neither owns its dataset nor may draw on a budget that paid for it.",
						   GetUserNameFromId(owner, false))));
	check_there(*release, payload);
	if (strcmp(pe_payload_digest(payload), digest) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("release " INT64_FORMAT " is not the one that foreign table \"%s\" was made of",
						*release, get_rel_name(relation)),
				 errdetail("Its payload has another hash than the table's option \"%s\".", PE_CUBE_DIGEST),
				 errhint("The owner makes the relation anew by dp.expose(..., release => ..., replace => true).")));
	return payload;
}

char *
pe_door_cube_digest(int64 release)
{
	int64		dataset;
	bytea	   *payload;

	if (!find_release(release, &dataset, &payload) || !may_replay(release, dataset, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("release " INT64_FORMAT " does not exist, or is not yours to read", release),
				 errhint("The view dp.releases lists those that are.")));
	check_there(release, payload);
	return pe_payload_digest(payload);
}

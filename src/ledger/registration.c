/*
 * registration.c
 *	  Tables become datasets, move and go.  See dataset.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "domain/units.h"
#include "server/access.h"
#include "ledger/acts.h"
#include "server/settings.h"
#include "ledger/relation.h"
#include "ledger/budget.h"
#include "ledger/lineage.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "ledger/families.h"
#include "server/row.h"
#include "server/values.h"

#define HASH_SIZE 32

static void
lock_to_end(uint32 what, pe_lock_kind kind)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, what, 0, kind);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

void
pe_registration_lock(Oid relation)
{
	List	   *locked = NIL;
	List	   *more;
	ListCell   *cell;

	/* relatives may have come while others were waited for, which the caches do not know yet */
	while ((more = list_difference_oid(pe_relation_family(relation), locked)) != NIL)
	{
		list_sort(more, list_oid_cmp);	/* in one order, so that two do not wait for each other */
		foreach(cell, more)
			lock_to_end(lfirst_oid(cell), PE_LOCK_TABLE);
		locked = list_concat(locked, more);
		AcceptInvalidationMessages();
	}
}

/* Two names with one hash wait for each other, too. */
static void
lock_name(const char *name)
{
	lock_to_end(DatumGetUInt32(hash_any((const unsigned char *) name, strlen(name))), PE_LOCK_NAME);
}

/* Whether it shared the cap that the new one is to share, or had one of its own, as the new one is to have. */
static bool
had_cap_of(const pe_dataset *old, const pe_dataset *declared)
{
	return declared->cap_id == 0 ? old->cap_id == old->id : old->cap_id == declared->cap_id && old->cap_id != old->id;
}

/*
 * The row that drop_dataset left of the same relation, under the same kind of cap; NULL if there is none.
 * 42710 if the relation, an ancestor or a descendant is a dataset with another cap; 55000 if one
 * of the others was, and lost something that a cap of this one would not count.  What a view, or a dataset with
 * another cap, has read counts by its lines (lineage.h), so that a view begins anew.
 */
static pe_dataset *
find_unregistered(const pe_dataset *declared)
{
	Oid			relation = declared->relation;
	pe_dataset *same = NULL;
	ListCell   *cell;

	foreach(cell, pe_datasets_of_family(relation))
	{
		pe_dataset *old = lfirst(cell);

		if (!pe_families_entitled(old, relation))
			continue;
		if (!old->dropped && (declared->cap_id == 0 || old->cap_id != declared->cap_id))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("table \"%s\", or one it inherits from or that inherits from it, is dataset \"%s\" already",
							get_rel_name(relation), old->name),
					 errhint("Datasets of the same tables share a cap: same_cap_as => %s.",
							 quote_literal_cstr(old->name))));
		if (!old->dropped || old->view_identity != NULL || declared->view_identity != NULL)
			continue;
		if (old->relation == relation)
			same = same == NULL && had_cap_of(old, declared) ? old : same;
		else if (old->view_identity == NULL && old->cap_id != declared->cap_id &&
				 (old->spent.rho_nano > 0 || old->spent.epsilon_nano > 0))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" has rows in common with one that was dataset \"%s\"",
							get_rel_name(relation), old->name),
					 errdetail("That lost %s, which a cap of this one would not count.", pe_spending(old->spent)),
					 errhint("Register that table again.")));
	}
	return same;
}

/*
 * 55000 if a registered dataset of the relation's owner is of a table of this
 * name that is gone: a restore may have replaced it.
 */
static void
check_not_replaced(const pe_dataset *old, Oid relation)
{
	if (!old->dropped && !OidIsValid(pe_relation_owner(old->relation)) &&
		pe_dataset_owned_by(old, pe_relation_owner(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a table \"%s\" that is gone is dataset \"%s\"", get_rel_name(relation), old->name),
				 errhint("After a restore, dp.attest lets the dataset go on with this table; dp.drop_dataset gives "
						 "it up.")));
}

/* Whether a row was written of the relation: under its name, or under its OID in a database of this number. */
static bool
is_of_relation(const pe_row *row, Oid relation)
{
	unsigned	database;

	if (strcmp(pe_row_text(row, "relation_schema"), get_namespace_name(get_rel_namespace(relation))) == 0 &&
		strcmp(pe_row_text(row, "relation_name"), get_rel_name(relation)) == 0)
		return true;
	return (Oid) pe_row_int64(row, "relation_oid") == relation &&
		sscanf(pe_row_text(row, "identity"), "%*u/%*u/%u", &database) == 1 && database == MyDatabaseId;
}

/*
 * PE002 if what is spent of the relation, under its name or its OID, is written
 * in a row that is not of here: a restored table must not begin a new ledger.
 * It has one already if it is known: then what was unregistered under its name
 * was another table.
 */
static void
check_not_frozen(Oid relation, bool known)
{
	ListCell   *cell;

	foreach(cell, pe_rows("dataset", "dataset_pkey", NULL, 0))
	{
		pe_dataset *old;

		if (!is_of_relation(lfirst(cell), relation))
			continue;
		old = pe_dataset_of_row(lfirst(cell));
		if (old->frozen && !(known && old->dropped))
			ereport(ERROR,
					(errcode(ERRCODE_PE_FROZEN),
					 errmsg("table \"%s\" is frozen as dataset \"%s\"", get_rel_name(relation), old->name),
					 errdetail("Its ledger was written in another cluster, timeline or database."),
					 errhint("The owner of the table lifts the freeze with dp.attest, and can then register it "
							 "anew.")));
		check_not_replaced(old, relation);
	}
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/*
 * 55000 if a column that was declared has given its name to another one and is still there:
 * what was spent was measured by it.
 */
static void
check_not_exchanged(const pe_dataset *old, const char *column, AttrNumber number)
{
	if (column != NULL && get_attnum(old->relation, column) != number && pe_column_name(old->relation, number) != NULL)
		pe_raise_column_changed(old, column, number);
}

bool
pe_dataset_same_protection(const pe_dataset *old, const pe_dataset *declared)
{
	/* of a view the rules of its tables say whose rows they are, not the name of a column */
	if (old->view_identity != NULL || declared->view_identity != NULL)
		return strcmp(old->neighbours, declared->neighbours) == 0 && pe_families_agree(old, declared);
	return same_text(old->unit, declared->unit) && strcmp(old->neighbours, declared->neighbours) == 0 &&
		same_text(old->private_column, declared->private_column) && old->max_change == declared->max_change &&
		old->change_all == declared->change_all;
}

/* Whether blocks of time are the same; how many of them a unit is in may differ. */
static bool
same_blocks(const pe_dataset *old, const pe_dataset *declared)
{
	if (old->max_blocks == 0 || declared->max_blocks == 0)
		return old->max_blocks == declared->max_blocks;
	return old->block_months == declared->block_months && old->block_days == declared->block_days &&
		strcmp(old->block_zone, declared->block_zone) == 0 &&
		strcmp(old->time_attribute, declared->time_attribute) == 0;
}

/* Whether what was spent under one declaration means the same under the other. */
static bool
same_terms(const pe_dataset *old, const pe_dataset *declared)
{
	return pe_dataset_same_protection(old, declared) && old->accounting == declared->accounting &&
		same_blocks(old, declared);
}

/* What is written of the unit's column, and of the private one; NULL without one. */
static char *
unit_type(const pe_dataset *declared)
{
	return declared->unit != NULL ? pe_type_name(pe_unit_column_type(declared->relation, declared->unit)) : NULL;
}

static char *
private_type(const pe_dataset *declared)
{
	return declared->private_column != NULL
		? pe_type_name(pe_private_column_type(declared->relation, declared->private_column)) : NULL;
}

static void __attribute__((noreturn))
refuse_other_terms(const pe_dataset *old)
{
	char	   *now = old->unit != NULL ? pe_column_name(old->relation, old->unit_number) : NULL;

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the table was a dataset with another unit, other neighbours, other blocks or another accounting"),
			 errdetail("What was spent then was measured in those terms and cannot be carried over."),
			 now != NULL && strcmp(now, old->unit) != 0
			 ? errhint("The unit was column \"%s\", which is \"%s\" now: give it its name again.", old->unit, now)
			 : 0));
	pg_unreachable();
}

/*
 * Where nothing was ever charged nothing was measured, and the unit may be
 * another one: an owner has forgotten it, say.
 */
static void
change_unit(const pe_dataset *old, const pe_dataset *declared)
{
	static pe_statement change;
	pe_field	fields[] = {
		PE_INT8("id", old->id),
		PE_TEXT("unit", declared->unit),
		PE_TEXT("unit_type", unit_type(declared))
	};
	pe_dataset	with_unit = *old;

	with_unit.unit = declared->unit;
	if (!same_terms(&with_unit, declared) ||
		pe_access_update(&change, "dataset", PE_FIELDS(fields), 1, "AND dropped AND charges = 0") != 1)
		refuse_other_terms(old);
}

/* max_rows may differ: what a unit lost was measured for all of its rows that counted then. */
static void
resume(const pe_dataset *old, const pe_dataset *declared, pe_amount limit)
{
	static pe_statement update;
	bool		has_blocks = declared->max_blocks > 0;
	pe_field	fields[] = {
		PE_INT8("id", old->id),
		PE_TEXT("dataset", declared->name),
		PE_BOOL("dropped", false),
		PE_FLOAT8("epsilon", declared->epsilon),
		PE_FLOAT8("delta", declared->delta),
		PE_FLOAT8("delta_share", declared->delta_share),
		PE_LIMIT_FIELDS(declared->accounting, limit),
		PE_TEXT("owner", GetUserNameFromId(pe_relation_owner(old->relation), false)),
		PE_INT4("max_rows", declared->max_rows),
		PE_TEXT("unit_type", unit_type(declared)),
		PE_TEXT("private_type", private_type(declared)),
		PE_AS("coalesce($time_type, time_type)", PE_IF(has_blocks, PE_TEXT("time_type", declared->time_type))),
		PE_IF(has_blocks, PE_INT4("max_blocks", declared->max_blocks)),
		PE_SQL("version", "version + 1"),
		PE_SQL("declared_version", "version + 1")
	};
	pe_amount	nothing = {0};

	if (!same_terms(old, declared))
		change_unit(old, declared);
	else
		check_not_exchanged(old, old->unit, old->unit_number);
	check_not_exchanged(old, old->private_column, old->private_number);
	check_not_exchanged(old, old->max_blocks > 0 ? old->time_attribute : NULL, old->time_number);
	pe_check_share(old->spent, old->delta_share, declared->delta_share);
	if (!pe_filter_accepts(limit, old->spent, nothing))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cap is below what the table has lost already"),
				 errdetail("As dataset \"%s\" it lost %s.", old->name, pe_spending(old->spent))));
	pe_access_update(&update, "dataset", PE_FIELDS(fields), 1, "");
}

/* So many bytes that are zero. */
static bytea *
new_bytes(int size)
{
	bytea	   *bytes = palloc0(VARHDRSZ + size);

	SET_VARSIZE(bytes, VARHDRSZ + size);
	return bytes;
}

/* The dataset whose cap is shared stays while it is. */
static void
lock_cap(int64 cap_id)
{
	static pe_statement lock = {NULL, "SELECT FROM dp_ledger.dataset WHERE id = $1 AND NOT dropped "
		"AND cap_id IS NULL FOR UPDATE", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(cap_id)};

	if (pe_access_write(&lock, values, NULL) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the dataset whose cap is to be shared was dropped meanwhile")));
}

/* 55000 if the budgets came to exceed the cap together by what was carried to it: it would decide then. */
static void
check_grants(const pe_dataset *before)
{
	pe_dataset *dataset = pe_dataset_load(before->name);
	pe_amount	promised;
	pe_amount	cap_left;
	pe_access	access;

	if (dataset->spent.rho_nano == before->spent.rho_nano && dataset->spent.epsilon_nano == before->spent.epsilon_nano)
		return;
	pe_access_begin(&access);
	pe_grants_read(dataset->cap_id, 0, dataset->accounting, &promised, &cap_left);
	if (!pe_filter_accepts(cap_left, promised, (pe_amount) {0}))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the budgets on dataset \"%s\" would exceed its cap together", dataset->name),
				 errdetail("The cap counts what the other table has lost already."),
				 errhint("Revoke budgets first; dp.grant_budget grants them again.")));
	pe_access_end(&access);
}

/* Under the locks of the name and of the table. */
static void
register_table(const pe_dataset *declared)
{
	static pe_statement insert;
	Oid			relation = declared->relation;
	pe_amount	limit = pe_budget_limit(declared->accounting, declared->epsilon, declared->delta,
										declared->delta_share);
	bool		has_values = declared->private_column != NULL;
	bool		has_blocks = declared->max_blocks > 0;
	bool		is_view = declared->view_identity != NULL;
	bytea	   *key = new_bytes(HASH_SIZE);
	pe_field	fields[] = {
		PE_TEXT("dataset", declared->name),
		PE_OID("relation_oid", relation),
		PE_TEXT("relation_schema", get_namespace_name(get_rel_namespace(relation))),
		PE_TEXT("relation_name", get_rel_name(relation)),
		PE_TEXT("owner", GetUserNameFromId(pe_relation_owner(relation), false)),
		PE_TEXT("identity", pe_current_identity(relation)),
		PE_BYTEA("unit_key", key),
		PE_BYTEA("chain_head", new_bytes(HASH_SIZE)),
		PE_TEXT("unit", declared->unit),
		PE_TEXT("unit_type", unit_type(declared)),
		PE_INT4("max_rows", declared->max_rows),
		PE_TEXT("neighbours", declared->neighbours),
		PE_TEXT("private_column", declared->private_column),
		PE_TEXT("private_type", private_type(declared)),
		PE_IF(has_values, PE_FLOAT8("max_change", declared->max_change)),
		PE_IF(has_values, PE_TEXT("change", declared->change_all ? "all" : "one")),
		PE_TEXT("accounting", pe_accounting_name(declared->accounting)),
		PE_FLOAT8("epsilon", declared->epsilon),
		PE_FLOAT8("delta", declared->delta),
		PE_FLOAT8("delta_share", declared->delta_share),
		PE_LIMIT_FIELDS(declared->accounting, limit),
		PE_SQL("rho_spent", "0 * $rho_limit"),
		PE_SQL("delta_spent", "0 * $delta_limit"),
		PE_SQL("epsilon_spent", "0 * $epsilon_limit"),
		PE_IF(has_blocks, PE_TEXT("time_attribute", declared->time_attribute)),
		PE_IF(has_blocks, PE_TEXT("time_type", declared->time_type)),
		PE_IF(has_blocks, PE_INT4("max_blocks", declared->max_blocks)),
		PE_IF(has_blocks, PE_INT4("block_months", declared->block_months)),
		PE_IF(has_blocks, PE_INT4("block_days", declared->block_days)),
		PE_IF(has_blocks, PE_TEXT("block_zone", declared->block_zone)),
		PE_IF(declared->cap_id != 0, PE_INT8("cap_id", declared->cap_id)),
		PE_TEXT("view_identity", declared->view_identity),
		PE_IF(is_view, PE_TEXTS("view_keys", declared->view_key, declared->view_keys)),
		PE_IF(is_view, PE_TEXTS("view_functions", declared->view_function, declared->view_functions)),
		PE_IF(is_view, PE_BOOL("never_fails", declared->never_fails)),
		PE_IF(declared->max_rows_read > 0, PE_INT4("max_rows_read", declared->max_rows_read)),
		PE_IF(is_view, PE_TEXTS("view_settings", declared->view_setting, declared->view_settings))
	};
	MemoryContext context = CurrentMemoryContext;
	pe_dataset	to_be = *declared;
	pe_dataset *old;
	pe_act		act;
	pe_access	access;

	if (to_be.cap_id == 0)
		to_be.cap_id = -1;		/* nobody has it yet */
	pe_random_bytes(VARDATA(key), HASH_SIZE);
	pe_access_begin(&access);
	if (declared->cap_id != 0)
		lock_cap(declared->cap_id);
	if (pe_dataset_row(declared->name) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("dataset \"%s\" already exists", declared->name)));
	old = find_unregistered(declared);
	pe_families_check(&to_be, pe_families_of(&to_be));
	pe_families_check_replaced(&to_be, pe_families_of(&to_be));
	check_not_frozen(relation, old != NULL);
	if (old != NULL)
	{
		pe_act_begin(&act, old->id, PE_ACT_DATASET, "create_dataset", NULL);
		act.before = MemoryContextStrdup(context, act.before);	/* it outlives the access */
		resume(old, declared, limit);
		pe_columns_place(old->id);
	}
	else
	{
		pe_access_insert(&insert, "dataset", PE_FIELDS(fields), "RETURNING id");
		pe_act_begin_new(&act, pe_access_int64(0, 1), "create_dataset");
		pe_columns_place(act.dataset_id);
		if (is_view)
			pe_families_write(act.dataset_id, declared->families, false);
	}
	pe_access_end(&access);
	to_be = *pe_dataset_load(declared->name);
	pe_lineage_carry(&to_be);
	check_grants(&to_be);
	pe_act_end(&act, NULL);
}

void
pe_dataset_register(const pe_dataset *declared)
{
	ListCell   *cell;

	lock_name(declared->name);
	pe_registration_lock(declared->relation);
	foreach(cell, declared->families)
		pe_registration_lock(((pe_family *) lfirst(cell))->relation);
	if (!OidIsValid(pe_relation_owner(declared->relation)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", declared->relation)));
	register_table(declared);
}

bool
pe_relation_is_known(Oid relation)
{
	pe_access	access;
	ListCell   *cell;
	bool		known = false;

	pe_access_begin(&access);
	foreach(cell, pe_datasets_of_family(relation))
		known = known || ((pe_dataset *) lfirst(cell))->relation == relation;
	pe_access_end(&access);
	return known;
}

void
pe_dataset_place(int64 id, Oid relation, bool same_table)
{
	static pe_statement place;
	pe_field	fields[] = {
		PE_INT8("id", id),
		PE_OID("relation_oid", relation),
		PE_TEXT("identity", pe_current_identity(relation)),
		PE_TEXT("owner", GetUserNameFromId(pe_relation_owner(relation), false))
	};
	pe_access	access;

	pe_access_begin(&access);
	pe_access_update(&place, "dataset", PE_FIELDS(fields), 1, "");
	if (!same_table)
		pe_columns_place(id);
	pe_access_end(&access);
}

/* 42710 if another dataset is of the relation or of a relative. */
static void
check_not_registered(const pe_dataset *dataset, Oid relation)
{
	ListCell   *cell;

	foreach(cell, pe_datasets_of_family(relation))
	{
		pe_dataset *other = lfirst(cell);

		if (!other->dropped && (other->id != dataset->id || dataset->relation == relation) &&
			(other->id == dataset->id || other->cap_id != dataset->cap_id))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("table \"%s\", or one it inherits from or that inherits from it, is dataset \"%s\" already",
							get_rel_name(relation), other->name)));
	}
}

/* 55000 unless the columns of the table are those that were declared. */
static void
check_columns(const char *name)
{
	pe_dataset *dataset = pe_dataset_load(name);
	int			count;
	pe_column  *columns = pe_columns_load(dataset, NULL, &count);

	pe_columns_check(dataset, columns, count);
}

void
pe_dataset_move(const pe_dataset *dataset, Oid relation, const char *reason)
{
	static pe_statement move = {NULL, "UPDATE dp_ledger.dataset d "
		"SET relation_oid = $2, identity = $3, relation_schema = n.nspname, relation_name = c.relname "
		"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
		"WHERE d.id = $1 AND c.oid = $2 AND d.relation_oid = $4 AND "
		"NOT d.dropped", 4, {INT8OID, OIDOID, TEXTOID, OIDOID}};
	Datum		values[4] = {
		Int64GetDatum(dataset->id), ObjectIdGetDatum(relation), CStringGetTextDatum(pe_current_identity(relation)),
		ObjectIdGetDatum(dataset->relation)
	};
	pe_dataset	to_be = *dataset;
	pe_dataset *moved;
	pe_access	access;

	to_be.relation = relation;
	pe_registration_lock(relation);
	pe_grants_lock(dataset->cap_id);
	check_not_registered(dataset, relation);
	pe_families_check(&to_be, pe_families_of(&to_be));
	pe_access_begin(&access);
	if (pe_access_write(&move, values, NULL) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dataset \"%s\" was changed meanwhile", dataset->name)));
	pe_columns_place(dataset->id);
	pe_access_end(&access);
	check_columns(dataset->name);
	moved = pe_dataset_load(dataset->name);
	pe_lineage_carry(moved);
	check_grants(moved);
	pe_lineage_record_move(dataset, dataset->relation, relation, reason);
}

/* Others go on spending of a cap that is shared. */
static void
check_not_shared(const pe_dataset *dataset)
{
	static pe_statement find = {NULL, "SELECT dataset FROM dp_ledger.dataset WHERE cap_id = $1 AND NOT dropped "
		"ORDER BY id LIMIT 1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset->id)};

	if (pe_access_write(&find, values, NULL) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dataset \"%s\" shares the cap of dataset \"%s\"", pe_access_text(0, 1), dataset->name),
				 errhint("Drop that one first.")));
}

void
pe_dataset_unregister(const pe_dataset *dataset)
{
	static pe_statement mark = {NULL, "UPDATE dp_ledger.dataset SET dropped = true, append_only = false, held = false, "
		"time_attribute = CASE WHEN max_blocks IS NOT NULL THEN time_attribute END, time_type = CASE "
		"WHEN max_blocks IS NOT NULL THEN time_type END WHERE id = $1", 1, {INT8OID}};
	static pe_statement attributes = {NULL, "DELETE FROM dp_ledger.attribute WHERE dataset_id = $1", 1, {INT8OID}};
	static pe_statement budgets = {NULL, "UPDATE dp_ledger.budget "
		"SET rho_limit = rho_spent, delta_limit = delta_spent, epsilon_limit = epsilon_spent "
		"WHERE dataset_id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset->id)};
	pe_act		act;
	pe_access	access;

	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "drop_dataset", NULL);
	pe_access_begin(&access);
	check_not_shared(dataset);
	pe_access_write(&mark, values, NULL);
	pe_access_write(&attributes, values, NULL);
	pe_budgets_total(dataset->id, 0);
	pe_access_write(&budgets, values, NULL);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

/* What was spent is by the families of before: they stay as past ones, of a cap that has lost something. */
void
pe_dataset_take_proof(const pe_dataset *dataset, const pe_dataset *proved)
{
	static pe_statement write;
	pe_field	fields[] = {
		PE_INT8("id", dataset->id),
		PE_TEXT("view_identity", proved->view_identity)
	};
	bool		spent = dataset->spent.rho_nano > 0 || dataset->spent.epsilon_nano > 0;
	ListCell   *cell;
	pe_act		act;
	pe_access	access;

	foreach(cell, proved->families)
		pe_registration_lock(((pe_family *) lfirst(cell))->relation);
	/* tables that were made again look as before, and are others */
	if (strcmp(dataset->view_identity, proved->view_identity) == 0 &&
		pe_families_are_same(pe_families_of(dataset), proved->families))
		return;
	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "take_view", NULL);
	pe_access_begin(&access);
	pe_families_check(proved, proved->families);
	pe_access_update(&write, "dataset", PE_FIELDS(fields), 1, "");
	pe_families_write(dataset->id, proved->families, spent);
	pe_access_end(&access);
	pe_lineage_carry(dataset);
	check_grants(dataset);
	pe_act_end(&act, NULL);
}

int
pe_dataset_new_version(const pe_dataset *dataset)
{
	static pe_statement bump = {NULL, "UPDATE dp_ledger.dataset SET version = version + 1 WHERE id = $1 "
		"RETURNING version", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset->id)};
	pe_act		act;
	pe_access	access;
	int			version;

	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "new_version", NULL);
	pe_access_begin(&access);
	if (pe_access_write(&bump, values, NULL) != 1)
		elog(ERROR, "a dataset is gone");
	version = (int) pe_access_int64(0, 1);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
	return version;
}

void
pe_dataset_set_min_count(const pe_dataset *dataset, int units)
{
	static pe_statement write = {NULL, "UPDATE dp_ledger.dataset SET min_count = nullif($2, 0) WHERE id = $1",
	2, {INT8OID, INT4OID}};
	Datum		values[2] = {Int64GetDatum(dataset->id), Int32GetDatum(units)};
	pe_act		act;
	pe_access	access;

	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "set_min_count", NULL);
	pe_access_begin(&access);
	if (pe_access_write(&write, values, NULL) != 1)
		elog(ERROR, "a dataset is gone");
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

void
pe_dataset_set_example(const pe_dataset *dataset, Oid relation)
{
	static pe_statement write;
	bool		given = OidIsValid(relation);
	pe_field	fields[] = {
		PE_INT8("id", dataset->id),
		PE_TEXT("example_schema", given ? get_namespace_name(get_rel_namespace(relation)) : NULL),
		PE_TEXT("example_name", given ? get_rel_name(relation) : NULL)
	};
	pe_act		act;
	pe_access	access;

	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "set_example", NULL);
	pe_access_begin(&access);
	if (pe_access_update(&write, "dataset", PE_FIELDS(fields), 1, "") != 1)
		elog(ERROR, "a dataset is gone");
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

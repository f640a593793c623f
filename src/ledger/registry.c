/*
 * registry.c
 *	  Datasets and their attributes.  See registry.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "accounting/zcdp.h"
#include "domain/units.h"
#include "server/access.h"
#include "ledger/acts.h"
#include "server/errors.h"
#include "ledger/family.h"
#include "ledger/lineage.h"
#include "server/locks.h"
#include "ledger/registry.h"
#include "server/row.h"
#include "server/values.h"

#define HASH_SIZE 32

static pe_dataset *
dataset_of_row(const pe_row *row)
{
	pe_dataset *dataset = palloc0(sizeof(*dataset));
	char	   *change = pe_row_text(row, "change");

	dataset->id = pe_row_int64(row, "id");
	dataset->name = pe_row_text(row, "dataset");
	dataset->relation = (Oid) pe_row_int64(row, "relation_oid");
	dataset->owner = pe_row_text(row, "owner");
	dataset->unit = pe_row_text(row, "unit");
	dataset->unit_type = pe_row_text(row, "unit_type");
	dataset->max_rows = (int) pe_row_int64(row, "max_rows");
	dataset->neighbours = pe_row_text(row, "neighbours");
	dataset->accounting = pe_row_text(row, "accounting");
	dataset->private_column = pe_row_text(row, "private_column");
	dataset->private_type = pe_row_text(row, "private_type");
	dataset->max_change = pe_row_float8(row, "max_change");
	dataset->change_all = change != NULL && strcmp(change, "all") == 0;
	dataset->epsilon = pe_row_float8(row, "epsilon");
	dataset->delta = pe_row_float8(row, "delta");
	dataset->rho_limit = pe_row_int64(row, "rho_limit");
	dataset->rho_spent = pe_row_int64(row, "rho_spent");
	dataset->delta_limit = pe_row_int64(row, "delta_limit");
	dataset->delta_spent = pe_row_int64(row, "delta_spent");
	dataset->epsilon_limit = pe_row_int64(row, "epsilon_limit");
	dataset->epsilon_spent = pe_row_int64(row, "epsilon_spent");
	dataset->version = (int) pe_row_int64(row, "version");
	dataset->declared_version = (int) pe_row_int64(row, "declared_version");
	dataset->identity = pe_row_text(row, "identity");
	dataset->dropped = pe_row_bool(row, "dropped");
	dataset->frozen = pe_identity_is_frozen(dataset->identity, dataset->relation);
	dataset->changed_here = pe_row_changed_here(row);
	return dataset;
}

/* Every dataset there is or was, the newest first. */
static List *
all_datasets(void)
{
	List	   *datasets = NIL;
	ListCell   *cell;

	foreach(cell, pe_rows("dataset", "dataset_pkey", NULL, 0))
		datasets = lcons(dataset_of_row(lfirst(cell)), datasets);
	return datasets;
}

/* The row of a dataset that is registered under a name; NULL if there is none. */
static pe_row *
row_named(const char *name)
{
	Datum		key[1] = {CStringGetTextDatum(name)};

	return pe_row_last("dataset", "dataset_name", key, 1);
}

pe_dataset *
pe_dataset_load(const char *name)
{
	pe_row	   *row;

	pe_access_check_serial();
	row = row_named(name);
	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dataset \"%s\" does not exist", name),
				 errhint("The view dp.datasets lists the datasets.")));
	return dataset_of_row(row);
}

pe_dataset *
pe_dataset_load_by_id(int64 id)
{
	Datum		key[1] = {Int64GetDatum(id)};
	pe_row	   *row = pe_row_last("dataset", "dataset_pkey", key, 1);

	return row != NULL && !pe_row_bool(row, "dropped") ? dataset_of_row(row) : NULL;
}

pe_dataset *
pe_dataset_recall(int64 id)
{
	Datum		key[1] = {Int64GetDatum(id)};
	pe_row	   *row = pe_row_last("dataset", "dataset_pkey", key, 1);

	return row != NULL ? dataset_of_row(row) : NULL;
}

pe_neighbours
pe_dataset_neighbours(const pe_dataset *dataset)
{
	if (strcmp(dataset->neighbours, "add_remove") == 0)
		return PE_ADD_REMOVE;
	if (strcmp(dataset->neighbours, "substitute") == 0)
		return PE_SUBSTITUTE;
	elog(ERROR, "neighbours \"%s\" of dataset \"%s\" are not served", dataset->neighbours, dataset->name);
}

bool
pe_dataset_has_values(const pe_dataset *dataset)
{
	return strcmp(dataset->neighbours, "values") == 0;
}

void
pe_dataset_check_rows(const pe_dataset *dataset)
{
	if (pe_dataset_has_values(dataset))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dataset \"%s\" protects values, not rows", dataset->name),
				 errhint("Use dp.minimize_max_affine.")));
}

void
pe_dataset_check_values(const pe_dataset *dataset)
{
	if (!pe_dataset_has_values(dataset))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dataset \"%s\" protects rows, not values", dataset->name),
				 errhint("The owner of a table can register it with neighbours => 'values'.")));
}

/* Those that are registered before those that were. */
List *
pe_datasets_of_user(void)
{
	List	   *registered = NIL;
	List	   *dropped = NIL;
	ListCell   *cell;

	foreach(cell, all_datasets())
	{
		pe_dataset *dataset = lfirst(cell);

		if (!pe_dataset_owned_by(dataset, GetUserId()))
			continue;
		if (dataset->dropped)
			dropped = lappend(dropped, dataset);
		else
			registered = lappend(registered, dataset);
	}
	return list_concat(registered, dropped);
}

bool
pe_is_pure(const char *accounting)
{
	return strcmp(accounting, "pure") == 0;
}

pe_cost
pe_limit(const char *accounting, double epsilon, double delta)
{
	return pe_is_pure(accounting) ? pe_pure_limit(epsilon) : pe_budget_limit(epsilon, delta);
}

char *
pe_spending(int64 rho_nano, int64 epsilon_nano)
{
	return epsilon_nano > 0 ? psprintf("epsilon %g", epsilon_nano * 1e-9) : psprintf("rho %g", rho_nano * 1e-9);
}

pe_cost
pe_dataset_left(const pe_dataset *dataset)
{
	pe_cost		limit = {dataset->rho_limit, dataset->delta_limit, dataset->epsilon_limit};
	pe_cost		spent = {dataset->rho_spent, dataset->delta_spent, dataset->epsilon_spent};

	return pe_cost_less(limit, spent);
}

double
pe_dataset_epsilon_left(const pe_dataset *dataset)
{
	pe_cost		left = pe_dataset_left(dataset);

	if (pe_is_pure(dataset->accounting))
		return left.epsilon_nano / 1e9;
	return pe_zcdp_epsilon(left.rho_nano * 1e-9, dataset->delta / 2);
}

void
pe_dataset_check_committed(const pe_dataset *dataset)
{
	if (dataset->changed_here)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dataset \"%s\" was changed in this transaction", dataset->name),
				 errdetail("Charges are committed in another transaction, which cannot see the change."),
				 errhint("COMMIT first.")));
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

bool
pe_is_owner(const char *identity, Oid relation, const char *owner, Oid role)
{
	Oid			owner_oid = pe_identity_is_frozen(identity, relation) ? InvalidOid : pe_relation_owner(relation);

	if (!OidIsValid(owner_oid))
		owner_oid = get_role_oid(owner, true);
	return OidIsValid(owner_oid) ? has_privs_of_role(role, owner_oid) : superuser_arg(role);
}

bool
pe_dataset_owned_by(const pe_dataset *dataset, Oid role)
{
	return pe_is_owner(dataset->identity, dataset->relation, dataset->owner, role);
}

void
pe_dataset_check_owner(const pe_dataset *dataset)
{
	if (!pe_dataset_owned_by(dataset, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of the table of dataset \"%s\"", dataset->name)));
}

char *
pe_current_identity(Oid relation)
{
	return psprintf(UINT64_FORMAT "/%u/%u/%u", GetSystemIdentifier(), GetWALInsertionTimeLine(),
					MyDatabaseId, relation);
}

bool
pe_identity_is_frozen(const char *identity, Oid relation)
{
	/* the insertion timeline is not known in recovery, where nothing can be charged anyway */
	return !RecoveryInProgress() && strcmp(identity, pe_current_identity(relation)) != 0;
}

bool
pe_identity_is_local(const char *identity, Oid relation)
{
	uint64		system;
	unsigned	timeline;
	unsigned	database;
	unsigned	of;

	return sscanf(identity, UINT64_FORMAT "/%u/%u/%u", &system, &timeline, &database, &of) == 4 &&
		system == GetSystemIdentifier() && database == MyDatabaseId && of == relation;
}

static Datum
oid_array(List *list)
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
	static pe_statement find = {NULL, "WITH RECURSIVE d AS (SELECT a.attname, a.atttypid, c.relowner FROM pg_catalog.pg_class c "
		"JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid WHERE c.oid = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped "
		"UNION SELECT d.attname, t.typbasetype, d.relowner FROM d JOIN pg_catalog.pg_type t ON t.oid = d.atttypid WHERE t.typtype = 'd') "
		"SELECT d.attname::text, pg_catalog.pg_get_userbyid(t.typowner)::text FROM d JOIN pg_catalog.pg_type t ON t.oid = d.atttypid "
	"WHERE t.typtype = 'd' AND NOT pg_catalog.pg_has_role(t.typowner, d.relowner, 'USAGE') ORDER BY 1 LIMIT 1", 1, {OIDARRAYOID}};
	Datum		values[1] = {oid_array(pe_relation_family(relation))};
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
	static pe_statement find = {NULL, "SELECT c.relname::text FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid "
	"WHERE i.indrelid = ANY ($1) AND i.indpred IS NOT NULL ORDER BY 1 LIMIT 1", 1, {OIDARRAYOID}};
	Datum		values[1] = {oid_array(find_all_inheritors(relation, NoLock, NULL))};
	pe_access	access;
	char	   *name = NULL;

	pe_access_begin(&access);
	if (pe_access_read(&find, values, NULL) > 0)
		name = pe_access_text(0, 1);
	pe_access_end(&access);
	return name;
}

/* ------------------------------------------------------------------
 * Attributes
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
raise_column_changed(const pe_dataset *dataset, const char *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("column \"%s\" is no longer what was declared for dataset \"%s\"", column, dataset->name),
			 errhint("The owner can drop the dataset and register it again; what was spent is kept.")));
	pg_unreachable();
}

void
pe_column_check_stored(Oid relation, AttrNumber number)
{
	char		generated = get_attgenerated(relation, number);

	if (generated != '\0' && generated != ATTRIBUTE_GENERATED_STORED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is a virtual generated column", get_attname(relation, number, false)),
				 errdetail("It is computed as rows are read, which one of them can make fail."),
				 errhint("Make it a stored generated column.")));
}

/* The base type of a column of the relation; InvalidOid if there is none. */
static Oid
column_type(const pe_dataset *dataset, const char *column)
{
	AttrNumber	number = get_attnum(dataset->relation, column);

	if (number <= 0)
		return InvalidOid;
	pe_column_check_stored(dataset->relation, number);
	return getBaseType(get_atttype(dataset->relation, number));
}

/* The type of an attribute: that of its column, checked to be what was declared. */
static Oid
attribute_type(const pe_dataset *dataset, const char *attribute, const char *declared)
{
	Oid			type;

	/* the relation of this OID is another one; the declaration still says what was paid for */
	if (dataset->frozen)
		return DatumGetObjectId(DirectFunctionCall1(regtypein, CStringGetDatum(declared)));
	if (!OidIsValid(pe_relation_owner(dataset->relation)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the table of dataset \"%s\" is gone", dataset->name)));
	type = column_type(dataset, attribute);
	if (!OidIsValid(type) || strcmp(format_type_be(type), declared) != 0)
		raise_column_changed(dataset, attribute);
	return type;
}

/* ------------------------------------------------------------------
 * The unit of privacy, and the private column
 * ------------------------------------------------------------------
 */

static AttrNumber
column_number(Oid relation, const char *column)
{
	AttrNumber	number = get_attnum(relation, column);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist", column, get_rel_name(relation))));
	pe_column_check_stored(relation, number);
	return number;
}

/* Whether a column can be the unit: its type, and its collation as far as that makes other bytes equal. */
static bool
can_be_unit(Oid relation, const char *column)
{
	AttrNumber	number = get_attnum(relation, column);
	Oid			type;
	int32		modifier;
	Oid			collation;

	get_atttypetypmodcoll(relation, number, &type, &modifier, &collation);
	return pe_type_is_unit(type) && (!OidIsValid(collation) || get_collation_isdeterministic(collation));
}

Oid
pe_unit_column_type(Oid relation, const char *column)
{
	AttrNumber	number = column_number(relation, column);

	if (!can_be_unit(relation, column))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" cannot be the unit", column),
				 errdetail("Its type is %s, or its collation is not deterministic.", format_type_be(get_atttype(relation, number))),
				 errhint("A unit is an integer, numeric, text, varchar, char, uuid, bytea, date or timestamp, equal where its bytes are.")));
	return getBaseType(get_atttype(relation, number));
}

Oid
pe_private_column_type(Oid relation, const char *column)
{
	Oid			declared = get_atttype(relation, column_number(relation, column));
	Oid			type = getBaseType(declared);

	if (type != INT2OID && type != INT4OID && type != INT8OID && type != NUMERICOID && type != FLOAT4OID && type != FLOAT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" cannot be the private column", column),
				 errdetail("Its type is %s.", format_type_be(declared)),
				 errhint("A private column is smallint, integer, bigint, numeric, real or double precision.")));
	return type;
}

static void
check_column_type(const pe_dataset *dataset, const char *column, const char *declared)
{
	Oid			type = column_type(dataset, column);

	if (!OidIsValid(type) || strcmp(format_type_be(type), declared) != 0)
		raise_column_changed(dataset, column);
}

/* 55000 if the unit's column or the private one is no longer of the type that was declared. */
static void
check_declared_columns(const pe_dataset *dataset)
{
	if (dataset->frozen)
		return;
	if (dataset->unit != NULL)
	{
		check_column_type(dataset, dataset->unit, dataset->unit_type);
		if (!can_be_unit(dataset->relation, dataset->unit))
			raise_column_changed(dataset, dataset->unit);
	}
	if (dataset->private_column != NULL)
		check_column_type(dataset, dataset->private_column, dataset->private_type);
}

void
pe_unit_key_load(const pe_dataset *dataset, uint8 *key)
{
	static pe_statement find = {NULL, "SELECT unit_key FROM dp.dataset WHERE id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset->id)};
	pe_access	access;
	bytea	   *bytes;
	bool		isnull;

	pe_access_begin(&access);
	if (pe_access_read(&find, values, NULL) != 1)
		elog(ERROR, "dataset \"%s\" is gone", dataset->name);
	bytes = DatumGetByteaPP(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &isnull));
	if (VARSIZE_ANY_EXHDR(bytes) != PE_UNIT_KEY)
		elog(ERROR, "the key of dataset \"%s\" is stored wrongly", dataset->name);
	memcpy(key, VARDATA_ANY(bytes), PE_UNIT_KEY);
	pe_wipe(VARDATA_ANY(bytes), PE_UNIT_KEY);
	pe_access_end(&access);
}

/* Whether a generated column of a table is computed from another column of it. */
static bool
is_computed_from(Relation table, const char *column, const char *other)
{
	AttrNumber	number = get_attnum(RelationGetRelid(table), column);
	AttrNumber	from = get_attnum(RelationGetRelid(table), other);
	Bitmapset  *read = NULL;

	if (number <= 0 || from <= 0 || TupleDescAttr(RelationGetDescr(table), number - 1)->attgenerated == '\0')
		return false;
	pull_varattnos(build_column_default(table, number), 1, &read);
	return bms_is_member(from - FirstLowInvalidHeapAttributeNumber, read);
}

/* Attributes are public where values are protected. */
void
pe_dataset_check_public(const pe_dataset *dataset, const char *column)
{
	bool		is_private = false;
	ListCell   *cell;

	if (!pe_dataset_has_values(dataset) || dataset->frozen)
		return;
	foreach(cell, find_all_inheritors(dataset->relation, AccessShareLock, NULL))
	{
		Relation	table = table_open(lfirst_oid(cell), NoLock);

		is_private = is_private || is_computed_from(table, column, dataset->private_column);
		table_close(table, NoLock);
	}
	if (is_private || strcmp(column, dataset->private_column) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" cannot be an attribute", column),
				 is_private ? errdetail("It is computed from column \"%s\", whose values are what dataset \"%s\" protects.",
										dataset->private_column, dataset->name)
				 : errdetail("Its values are what dataset \"%s\" protects.", dataset->name)));
}

void
pe_columns_check(const pe_dataset *dataset, const pe_column *columns, int count)
{
	check_declared_columns(dataset);
	for (int i = 0; i < count; i++)
		pe_dataset_check_public(dataset, columns[i].name);
	for (int i = 0; i < count; i++)
		if (column_type(dataset, columns[i].name) != columns[i].type)
			raise_column_changed(dataset, columns[i].name);
}

/* The place of a label in the order of its enum. */
static float4
place_of_label(pe_dataset *dataset, const pe_column *column, const char *label)
{
	HeapTuple	tuple = SearchSysCache2(ENUMTYPOIDNAME, ObjectIdGetDatum(column->type), CStringGetDatum(label));
	float4		place;

	if (!HeapTupleIsValid(tuple))
		raise_column_changed(dataset, column->name);
	if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)))
		dataset->changed_here = true;
	place = ((Form_pg_enum) GETSTRUCT(tuple))->enumsortorder;
	ReleaseSysCache(tuple);
	return place;
}

/*
 * Whoever owns an enum can give its labels other names: that of a label may be gone,
 * be that of another one by now, or only until the caller's own transaction ends.
 */
static void
check_labels(pe_dataset *dataset, const pe_column *column, int count)
{
	float4		last = 0;

	for (int i = 0; i < count; i++)
	{
		float4		place = place_of_label(dataset, column, column->points[i]);

		if (column->ordered && i > 0 && place <= last)
			raise_column_changed(dataset, column->name);
		last = place;
	}
}

/* The declared texts as points: parsed by the type's own input function. */
static void
parse_points(pe_dataset *dataset, pe_column *column, int count)
{
	Oid			input;
	Oid			parameter;

	getTypeInputInfo(column->type, &input, &parameter);
	column->domain.points = count;
	column->domain.point = pe_alloc(count, sizeof(*column->domain.point));
	if (type_is_enum(column->type))
		check_labels(dataset, column, count);
	for (int i = 0; i < count; i++)
		column->domain.point[i] =
			pe_point_of_datum(column->type, OidInputFunctionCall(input, column->points[i], parameter, -1));
}

static void
column_of_row(pe_dataset *dataset, const pe_row *row, pe_column *column)
{
	int			count;

	column->name = pe_row_text(row, "attribute");
	column->type = attribute_type(dataset, column->name, pe_row_text(row, "type"));
	column->points = pe_row_texts(row, "points", &count);
	column->domain.kind = strcmp(pe_row_text(row, "kind"), "levels") == 0 ? PE_LEVELS : PE_BINS;
	column->domain.outside = (pe_outside) pe_row_text(row, "outside")[0];
	column->domain.nulls = (pe_nulls) pe_row_text(row, "nulls")[0];
	column->ordered = pe_row_bool(row, "ordered");
	if (!pe_type_key(column->type, &column->domain.key))
		elog(ERROR, "type of attribute \"%s\" is not supported", column->name);
	if (pe_row_changed_here(row))
		dataset->changed_here = true;
	parse_points(dataset, column, count);
	if (pe_attribute_prepare(&column->domain) != PE_DOMAIN_OK)
		elog(ERROR, "attribute \"%s\" of dataset \"%s\" is stored wrongly", column->name, dataset->name);
	column->cells = pe_attribute_cells(&column->domain);
}

static void
check_not_repeated(char **names, int which)
{
	for (int i = 0; i < which; i++)
		if (strcmp(names[i], names[which]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("attribute \"%s\" is given twice", names[which])));
}

static pe_row *
find_attribute(const pe_dataset *dataset, const char *name)
{
	Datum		key[2] = {Int64GetDatum(dataset->id), CStringGetTextDatum(name)};

	return pe_row_last("attribute", "attribute_pkey", key, 2);
}

static int
by_position(const ListCell *a, const ListCell *b)
{
	int64		i = pe_row_int64(lfirst(a), "position");
	int64		j = pe_row_int64(lfirst(b), "position");

	return (i > j) - (i < j);
}

/* The rows that declare the attributes of these names; NULL: all of them, in the order of their declaration. */
static List *
find_attributes(const pe_dataset *dataset, char **names, int count)
{
	Datum		key[1] = {Int64GetDatum(dataset->id)};
	List	   *rows = NIL;

	if (names == NULL)
	{
		rows = pe_rows("attribute", "attribute_pkey", key, 1);
		list_sort(rows, by_position);
	}
	for (int i = 0; names != NULL && i < count; i++)
	{
		pe_row	   *row = find_attribute(dataset, names[i]);

		check_not_repeated(names, i);
		if (row == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("attribute \"%s\" of dataset \"%s\" does not exist", names[i], dataset->name),
					 errhint("SELECT * FROM dp.describe(%s) lists what may be asked.", quote_literal_cstr(dataset->name))));
		rows = lappend(rows, row);
	}
	return rows;
}

pe_column *
pe_columns_load(pe_dataset *dataset, char **names, int *count)
{
	List	   *rows = find_attributes(dataset, names, *count);
	MemoryContext here = CurrentMemoryContext;
	pe_column  *columns;
	pe_access	access;

	pe_access_begin(&access);	/* points are read as they were written */
	MemoryContextSwitchTo(here);
	*count = list_length(rows);
	columns = palloc0(Max(*count, 1) * sizeof(*columns));
	for (int i = 0; i < *count; i++)
		column_of_row(dataset, list_nth(rows, i), &columns[i]);
	pe_access_end(&access);
	check_declared_columns(dataset);
	return columns;
}

bool
pe_column_find(pe_dataset *dataset, const char *name, pe_column *column)
{
	pe_row	   *row = find_attribute(dataset, name);
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;

	memset(column, 0, sizeof(*column));
	if (row == NULL)
		return false;
	pe_access_begin(&access);
	MemoryContextSwitchTo(here);
	column_of_row(dataset, row, column);
	pe_access_end(&access);
	return true;
}

void
pe_check_attributes(int count)
{
	if (count > PE_MAX_ATTRIBUTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many attributes"),
				 errdetail("A request may have at most %d attributes.", PE_MAX_ATTRIBUTES)));
}

pe_domain *
pe_columns_domain(const pe_column *columns, int count, int watched)
{
	pe_domain  *domain = palloc0(sizeof(*domain));

	pe_check_attributes(count);
	domain->attributes = count - watched;
	domain->watched = watched;
	for (int i = 0; i < count; i++)
		domain->attribute[i] = columns[i].domain;
	if (pe_domain_prepare(domain) != PE_DOMAIN_OK)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the attributes have too many cells together"),
				 errdetail("A request may have at most %d cells.", PE_MAX_CELLS),
				 errhint("Ask for fewer attributes at a time.")));
	return domain;
}

/* ------------------------------------------------------------------
 * Registration
 * ------------------------------------------------------------------
 */

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

static int
newest_first(const ListCell *a, const ListCell *b)
{
	int64		i = ((const pe_dataset *) lfirst(a))->id;
	int64		j = ((const pe_dataset *) lfirst(b))->id;

	return (i < j) - (i > j);
}

/* The datasets of a table that are of here, added to a list. */
static List *
add_datasets(List *datasets, Oid relation)
{
	Datum		key[1] = {ObjectIdGetDatum(relation)};
	ListCell   *cell;

	foreach(cell, pe_rows("dataset", "dataset_relation", key, 1))
	{
		pe_dataset *dataset = dataset_of_row(lfirst(cell));

		if (!dataset->frozen)
			datasets = lappend(datasets, dataset);
	}
	return datasets;
}

/*
 * The datasets of the relation, its ancestors and its descendants, where they are
 * of here, the newest first.  Every question asks for them.
 */
static List *
family_datasets(Oid relation)
{
	List	   *datasets = NIL;
	ListCell   *cell;

	foreach(cell, pe_relation_family(relation))
		datasets = add_datasets(datasets, lfirst_oid(cell));
	list_sort(datasets, newest_first);
	return datasets;
}

void
pe_dataset_check_alone(const pe_dataset *dataset)
{
	ListCell   *cell;

	foreach(cell, family_datasets(dataset->relation))
	{
		pe_dataset *other = lfirst(cell);

		if (!other->dropped && other->id != dataset->id)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("datasets \"%s\" and \"%s\" have rows in common", dataset->name, other->name),
					 errdetail("One of their tables came to inherit from the other."),
					 errhint("The owner can drop one of them.")));
	}
}

/*
 * The row that drop_dataset left of the same relation; NULL if there is none.
 * 42710 if the relation, an ancestor or a descendant is a dataset; 55000 if one
 * of the others was, and lost something that a cap of this one would not count.
 */
static pe_dataset *
find_unregistered(Oid relation)
{
	pe_dataset *same = NULL;
	ListCell   *cell;

	foreach(cell, family_datasets(relation))
	{
		pe_dataset *old = lfirst(cell);

		if (!old->dropped)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("table \"%s\", or one it inherits from or that inherits from it, is dataset \"%s\" already",
							get_rel_name(relation), old->name)));
		if (old->relation == relation)
			same = same == NULL ? old : same;
		else if (old->rho_spent > 0 || old->epsilon_spent > 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" has rows in common with one that was dataset \"%s\"",
							get_rel_name(relation), old->name),
					 errdetail("That lost %s, which a cap of this one would not count.", pe_spending(old->rho_spent, old->epsilon_spent)),
					 errhint("Register that table again.")));
	}
	return same;
}

/* 55000 if a registered dataset of the relation's owner is of a table of this name that is gone: a restore may have replaced it. */
static void
check_not_replaced(const pe_dataset *old, Oid relation)
{
	if (!old->dropped && !OidIsValid(pe_relation_owner(old->relation)) &&
		pe_dataset_owned_by(old, pe_relation_owner(relation)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a table \"%s\" that is gone is dataset \"%s\"", get_rel_name(relation), old->name),
				 errhint("After a restore, dp.attest lets the dataset go on with this table; dp.drop_dataset gives it up.")));
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
		old = dataset_of_row(lfirst(cell));
		if (old->frozen && !(known && old->dropped))
			ereport(ERROR,
					(errcode(ERRCODE_PE_FROZEN),
					 errmsg("table \"%s\" is frozen as dataset \"%s\"", get_rel_name(relation), old->name),
					 errdetail("Its ledger was written in another cluster, timeline or database."),
					 errhint("The owner of the table lifts the freeze with dp.attest, and can then register it anew.")));
		check_not_replaced(old, relation);
	}
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
pe_dataset_same_protection(const pe_dataset *old, const pe_dataset *declared)
{
	return same_text(old->unit, declared->unit) && strcmp(old->neighbours, declared->neighbours) == 0 &&
		same_text(old->private_column, declared->private_column) && old->max_change == declared->max_change &&
		old->change_all == declared->change_all;
}

/* Whether what was spent under one declaration means the same under the other. */
static bool
same_terms(const pe_dataset *old, const pe_dataset *declared)
{
	return pe_dataset_same_protection(old, declared) && strcmp(old->accounting, declared->accounting) == 0;
}

/* What is written of the unit's column, and of the private one; nothing without one. */
static Datum
unit_type_text(const pe_dataset *declared)
{
	return declared->unit != NULL
		? CStringGetTextDatum(format_type_be(pe_unit_column_type(declared->relation, declared->unit))) : (Datum) 0;
}

static Datum
private_type_text(const pe_dataset *declared)
{
	return declared->private_column != NULL
		? CStringGetTextDatum(format_type_be(pe_private_column_type(declared->relation, declared->private_column))) : (Datum) 0;
}

/* Of the parameters rho and delta (the next one), or epsilon, those that the accounting does not count are NULL. */
static void
mark_not_counted(char *nulls, int rho, int epsilon, const char *accounting)
{
	if (pe_is_pure(accounting))
		nulls[rho] = nulls[rho + 1] = 'n';
	else
		nulls[epsilon] = 'n';
}

/* max_rows may differ: what a unit lost was measured for all of its rows that counted then. */
static void
resume(const pe_dataset *old, const pe_dataset *declared, pe_cost limit)
{
	static pe_statement update = {NULL, "UPDATE dp.dataset SET dataset = $2, dropped = false, epsilon = $3, delta = $4, "
		"rho_limit = $5, delta_limit = $6, owner = $7, max_rows = $8, unit_type = $9, epsilon_limit = $10, private_type = $11, "
		"version = version + 1, declared_version = version + 1 WHERE id = $1", 11,
	{INT8OID, TEXTOID, FLOAT8OID, FLOAT8OID, INT8OID, INT8OID, TEXTOID, INT4OID, TEXTOID, INT8OID, TEXTOID}};
	Datum		values[11] = {
		Int64GetDatum(old->id), CStringGetTextDatum(declared->name), Float8GetDatum(declared->epsilon), Float8GetDatum(declared->delta),
		Int64GetDatum(limit.rho_nano), Int64GetDatum(limit.delta_atto),
		CStringGetTextDatum(GetUserNameFromId(pe_relation_owner(old->relation), false)), Int32GetDatum(declared->max_rows),
		unit_type_text(declared), Int64GetDatum(limit.epsilon_nano), private_type_text(declared)
	};
	char		nulls[] = "           ";
	pe_cost		spent = {old->rho_spent, old->delta_spent, old->epsilon_spent};
	pe_cost		nothing = {0};

	if (!same_terms(old, declared))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the table was a dataset with another unit, other neighbours or another accounting"),
				 errdetail("What was spent then was measured in those terms and cannot be carried over.")));
	if (!pe_filter_accepts(limit, spent, nothing))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cap is below what the table has lost already"),
				 errdetail("As dataset \"%s\" it lost %s.", old->name, pe_spending(old->rho_spent, old->epsilon_spent))));
	mark_not_counted(nulls, 4, 9, declared->accounting);
	if (declared->unit == NULL)
		nulls[8] = 'n';
	if (declared->private_column == NULL)
		nulls[10] = 'n';
	pe_access_write(&update, values, nulls);
}

void
pe_dataset_register(const pe_dataset *declared)
{
	static pe_statement insert = {NULL, "INSERT INTO dp.dataset (dataset, relation_oid, relation_schema, relation_name, owner, "
		"neighbours, accounting, epsilon, delta, rho_limit, delta_limit, unit_key, identity, chain_head, "
		"max_rows, unit, unit_type, epsilon_limit, private_column, private_type, max_change, change, "
		"rho_spent, delta_spent, epsilon_spent) "
		"VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, "
		"0 * $10, 0 * $11, 0 * $18) RETURNING id", 22,
		{TEXTOID, OIDOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, FLOAT8OID, FLOAT8OID, INT8OID, INT8OID,
	BYTEAOID, TEXTOID, BYTEAOID, INT4OID, TEXTOID, TEXTOID, INT8OID, TEXTOID, TEXTOID, FLOAT8OID, TEXTOID}};
	Oid			relation = declared->relation;
	pe_cost		limit = pe_limit(declared->accounting, declared->epsilon, declared->delta);
	pe_dataset *old;
	pe_act		act;
	pe_access	access;
	MemoryContext context = CurrentMemoryContext;
	bytea	   *key = palloc(VARHDRSZ + HASH_SIZE);
	bytea	   *genesis = palloc0(VARHDRSZ + HASH_SIZE);
	char		nulls[] = "                      ";
	Datum		values[22] = {CStringGetTextDatum(declared->name)};
	HeapTuple	tuple;

	SET_VARSIZE(key, VARHDRSZ + HASH_SIZE);
	SET_VARSIZE(genesis, VARHDRSZ + HASH_SIZE);
	pe_random_bytes(VARDATA(key), HASH_SIZE);

	lock_name(declared->name);
	pe_registration_lock(relation);
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	values[1] = ObjectIdGetDatum(relation);
	values[2] = CStringGetTextDatum(get_namespace_name(((Form_pg_class) GETSTRUCT(tuple))->relnamespace));
	values[3] = CStringGetTextDatum(NameStr(((Form_pg_class) GETSTRUCT(tuple))->relname));
	values[4] = CStringGetTextDatum(GetUserNameFromId(((Form_pg_class) GETSTRUCT(tuple))->relowner, false));
	ReleaseSysCache(tuple);
	values[5] = CStringGetTextDatum(declared->neighbours);
	values[6] = CStringGetTextDatum(declared->accounting);
	values[7] = Float8GetDatum(declared->epsilon);
	values[8] = Float8GetDatum(declared->delta);
	values[9] = Int64GetDatum(limit.rho_nano);
	values[10] = Int64GetDatum(limit.delta_atto);
	values[11] = PointerGetDatum(key);
	values[12] = CStringGetTextDatum(pe_current_identity(relation));
	values[13] = PointerGetDatum(genesis);
	values[14] = Int32GetDatum(declared->max_rows);
	values[15] = declared->unit != NULL ? CStringGetTextDatum(declared->unit) : (Datum) 0;
	values[16] = unit_type_text(declared);
	values[17] = Int64GetDatum(limit.epsilon_nano);
	values[18] = declared->private_column != NULL ? CStringGetTextDatum(declared->private_column) : (Datum) 0;
	values[19] = private_type_text(declared);
	values[20] = Float8GetDatum(declared->max_change);
	values[21] = CStringGetTextDatum(declared->change_all ? "all" : "one");
	mark_not_counted(nulls, 9, 17, declared->accounting);
	if (declared->unit == NULL)
		nulls[15] = nulls[16] = 'n';
	if (declared->private_column == NULL)
		nulls[18] = nulls[19] = nulls[20] = nulls[21] = 'n';

	pe_access_begin(&access);
	if (row_named(declared->name) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("dataset \"%s\" already exists", declared->name)));
	old = find_unregistered(relation);
	check_not_frozen(relation, old != NULL);
	if (old != NULL)
	{
		pe_act_begin(&act, old->id, PE_ACT_DATASET, "create_dataset", NULL);
		act.before = MemoryContextStrdup(context, act.before);	/* it outlives the access */
		resume(old, declared, limit);
	}
	else
	{
		pe_access_write(&insert, values, nulls);
		pe_act_begin_new(&act, pe_access_int64(0, 1), "create_dataset");
	}
	pe_access_end(&access);
	pe_lineage_carry(pe_dataset_load(declared->name));
	pe_act_end(&act, NULL);
}

bool
pe_relation_is_known(Oid relation)
{
	pe_access	access;
	ListCell   *cell;
	bool		known = false;

	pe_access_begin(&access);
	foreach(cell, family_datasets(relation))
		known = known || ((pe_dataset *) lfirst(cell))->relation == relation;
	pe_access_end(&access);
	return known;
}

void
pe_dataset_place(int64 id, Oid relation)
{
	static pe_statement place = {NULL, "UPDATE dp.dataset SET relation_oid = $2, identity = $3, owner = $4 WHERE id = $1", 4,
	{INT8OID, OIDOID, TEXTOID, TEXTOID}};
	Datum		values[4] = {
		Int64GetDatum(id), ObjectIdGetDatum(relation), CStringGetTextDatum(pe_current_identity(relation)),
		CStringGetTextDatum(GetUserNameFromId(pe_relation_owner(relation), false))
	};
	pe_access	access;

	pe_access_begin(&access);
	pe_access_write(&place, values, NULL);
	pe_access_end(&access);
}

/* 42710 if another dataset is of the relation or of a relative. */
static void
check_not_registered(const pe_dataset *dataset, Oid relation)
{
	ListCell   *cell;

	foreach(cell, family_datasets(relation))
	{
		pe_dataset *other = lfirst(cell);

		if (!other->dropped && (other->id != dataset->id || dataset->relation == relation))
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
	static pe_statement move = {NULL, "UPDATE dp.dataset d SET relation_oid = $2, identity = $3, relation_schema = n.nspname, "
		"relation_name = c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	"WHERE d.id = $1 AND c.oid = $2 AND d.relation_oid = $4 AND NOT d.dropped", 4, {INT8OID, OIDOID, TEXTOID, OIDOID}};
	Datum		values[4] = {
		Int64GetDatum(dataset->id), ObjectIdGetDatum(relation), CStringGetTextDatum(pe_current_identity(relation)),
		ObjectIdGetDatum(dataset->relation)
	};
	pe_access	access;

	pe_registration_lock(relation);
	check_not_registered(dataset, relation);
	pe_access_begin(&access);
	if (pe_access_write(&move, values, NULL) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dataset \"%s\" was changed meanwhile", dataset->name)));
	pe_access_end(&access);
	check_columns(dataset->name);
	pe_lineage_carry(pe_dataset_load(dataset->name));
	pe_lineage_record_move(dataset, dataset->relation, relation, reason);
}

void
pe_dataset_unregister(const pe_dataset *dataset)
{
	static pe_statement mark = {NULL, "UPDATE dp.dataset SET dropped = true WHERE id = $1", 1, {INT8OID}};
	static pe_statement attributes = {NULL, "DELETE FROM dp.attribute WHERE dataset_id = $1", 1, {INT8OID}};
	static pe_statement budgets = {NULL, "UPDATE dp.budget SET rho_limit = rho_spent, delta_limit = delta_spent, "
		"epsilon_limit = epsilon_spent "
		"WHERE dataset_id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset->id)};
	pe_act		act;
	pe_access	access;

	pe_act_begin(&act, dataset->id, PE_ACT_DATASET, "drop_dataset", NULL);
	pe_access_begin(&access);
	pe_access_write(&mark, values, NULL);
	pe_access_write(&attributes, values, NULL);
	pe_access_write(&budgets, values, NULL);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

int
pe_dataset_new_version(const pe_dataset *dataset)
{
	static pe_statement bump = {NULL, "UPDATE dp.dataset SET version = version + 1 WHERE id = $1 RETURNING version", 1, {INT8OID}};
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
pe_attribute_register(const pe_dataset *dataset, const char *attribute, const char *type,
					  pe_kind kind, char **points, int count, bool ordered, int cells,
					  const char *outside, const char *nulls)
{
	static pe_statement present = {NULL, "SELECT FROM dp.attribute WHERE dataset_id = $1 AND attribute = $2", 2,
	{INT8OID, TEXTOID}};
	static pe_statement insert = {NULL, "INSERT INTO dp.attribute (dataset_id, attribute, position, type, kind, points, ordered, "
		"cells, outside, nulls) SELECT $1, $2, count(*) + 1, $3, $4, $5, $6, $7, $8, $9 "
		"FROM dp.attribute WHERE dataset_id = $1", 9,
	{INT8OID, TEXTOID, TEXTOID, TEXTOID, TEXTARRAYOID, BOOLOID, INT4OID, TEXTOID, TEXTOID}};
	Datum	   *texts = palloc(count * sizeof(Datum));
	Datum		values[9];
	pe_act		act;
	pe_access	access;

	for (int i = 0; i < count; i++)
		texts[i] = CStringGetTextDatum(points[i]);
	values[0] = Int64GetDatum(dataset->id);
	values[1] = CStringGetTextDatum(attribute);
	values[2] = CStringGetTextDatum(type);
	values[3] = CStringGetTextDatum(kind == PE_LEVELS ? "levels" : "bins");
	values[4] = PointerGetDatum(construct_array(texts, count, TEXTOID, -1, false, TYPALIGN_INT));
	values[5] = BoolGetDatum(ordered);
	values[6] = Int32GetDatum(cells);
	values[7] = CStringGetTextDatum(outside);
	values[8] = CStringGetTextDatum(nulls);

	pe_act_begin(&act, dataset->id, PE_ACT_ATTRIBUTE, "add_attribute", attribute);
	pe_access_begin(&access);
	if (pe_access_write(&present, values, NULL) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("attribute \"%s\" of dataset \"%s\" already exists", attribute, dataset->name),
				 errhint("A declaration is public and final; to change it, drop the dataset and register it again.")));
	pe_access_write(&insert, values, NULL);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

/*
 * columns.c
 *	  Attributes, the unit and the private column of a dataset.  See columns.h.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "domain/literal.h"
#include "domain/units.h"
#include "server/access.h"
#include "ledger/acts.h"
#include "ledger/relation.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "server/compat.h"
#include "server/row.h"
#include "server/settings.h"
#include "server/values.h"

char *
pe_column_name(Oid relation, AttrNumber number)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relation), Int16GetDatum(number));
	char	   *name = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (!((Form_pg_attribute) GETSTRUCT(tuple))->attisdropped)
		name = pstrdup(NameStr(((Form_pg_attribute) GETSTRUCT(tuple))->attname));
	ReleaseSysCache(tuple);
	return name;
}

/* NOT NULL of a foreign table is what its owner says, and no constraint. */
static bool
has_foreign_partition(Oid relation)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relation, NoLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
			return true;
	return false;
}

/* Whether its constraints hold for all rows: partitions have those of their table, and children need not. */
static bool
constrains_all_rows(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	bool		is_alone;

	if (!HeapTupleIsValid(tuple))
		return false;
	is_alone = ((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_RELATION &&
		!((Form_pg_class) GETSTRUCT(tuple))->relhassubclass;
	ReleaseSysCache(tuple);
	return is_alone || (get_rel_relkind(relation) == RELKIND_PARTITIONED_TABLE && !has_foreign_partition(relation));
}

static bool
is_marked_not_null(Oid relation, AttrNumber number)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relation), Int16GetDatum(number));
	bool		is_marked = HeapTupleIsValid(tuple) && ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return is_marked;
}

bool
pe_column_is_not_null(Oid relation, AttrNumber number)
{
	return is_marked_not_null(relation, number) && pe_not_null_is_valid(relation, number) &&
		constrains_all_rows(relation);
}

/* The relation that has the recorded names; InvalidOid: none has. */
static Oid
relation_by_name(const pe_dataset *dataset)
{
	Oid			schema = get_namespace_oid(dataset->relation_schema, true);

	return OidIsValid(schema) ? get_relname_relid(dataset->relation_name, schema) : InvalidOid;
}

bool
pe_column_find_place(const pe_dataset *dataset, const char *name, AttrNumber number, Oid type, pe_column_place *place)
{
	Oid			named = dataset->frozen ? relation_by_name(dataset) : InvalidOid;
	Oid			found;

	*place = (pe_column_place) {.relation = dataset->relation, .number = number};
	if (OidIsValid(named))
		*place = (pe_column_place) {.relation = named, .number = get_attnum(named, name)};
	found = place->number > 0 ? get_atttype(place->relation, place->number) : InvalidOid;
	return OidIsValid(found) && getBaseType(found) == type;
}

bool
pe_column_is_never_null(const pe_dataset *dataset, const pe_column *column)
{
	pe_column_place place;

	return pe_column_find_place(dataset, column->name, column->number, column->type, &place) &&
		pe_column_is_not_null(place.relation, place.number);
}

/* What is not what was declared, where sentences say what the owner can do, and what else where it was renamed. */
static void __attribute__((noreturn))
raise_changed(const pe_dataset *dataset, const char *column, AttrNumber declared, const char *cure, const char *beside)
{
	AttrNumber	number = get_attnum(dataset->relation, column);
	char	   *now = pe_column_name(dataset->relation, declared);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("column \"%s\" is no longer what was declared for dataset \"%s\"", column, dataset->name),
			 number == declared ? 0
			 : number <= 0 ? errdetail("The table has no column of this name.")
			 : errdetail("The column of this name is not the one that was declared."),
			 number != declared && now != NULL
			 ? errhint("The declared column is \"%s\" now: give it its name again.%s", now, beside)
			 : errhint("The owner can %s", cure)));
	pg_unreachable();
}

/* A renamed unit is another unit to a new registration, which refuses what was spent in terms of the old one. */
void
pe_raise_column_changed(const pe_dataset *dataset, const char *column, AttrNumber declared)
{
	raise_changed(dataset, column, declared, "drop the dataset and register it again; what was spent is kept.", "");
}

/* The same of an attribute, which is declared anew by itself. */
static void __attribute__((noreturn))
raise_attribute_changed(const pe_dataset *dataset, const char *attribute, AttrNumber declared)
{
	const char *cure = get_attnum(dataset->relation, attribute) > 0
		? "declare it anew with dp.alter_attribute, or end it with dp.drop_attribute; "
		"answers that were paid stay readable."
		: "end it with dp.drop_attribute; answers that were paid stay readable.";

	raise_changed(dataset, attribute, declared, cure, psprintf(" Or the owner can %s", cure));
}

/* The names of the columns that a relation has; none if it is gone. */
static char **
names_of_columns(Oid relation, int *count)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	int			most = HeapTupleIsValid(tuple) ? ((Form_pg_class) GETSTRUCT(tuple))->relnatts : 0;
	char	  **names = palloc((most + 1) * sizeof(char *));

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	*count = 0;
	for (AttrNumber number = 1; number <= most; number++)
		if ((names[*count] = pe_column_name(relation, number)) != NULL)
			(*count)++;
	return names;
}

/* The only column whose name in double quotes is cut to this one by type name, which has room for 63 bytes; or NULL. */
static char *
column_cut_short(Oid relation, const char *name)
{
	int			count;
	char	  **names = names_of_columns(relation, &count);
	size_t		size = strlen(name) - 1;	/* without the quote in front */
	char	   *found = NULL;

	for (int i = 0; i < count; i++)
		if (strncmp(names[i], name + 1, size) == 0 && strlen(names[i]) + 2 >= NAMEDATALEN)
		{
			if (found != NULL)
				return NULL;
			found = names[i];
		}
	return found;
}

char *
pe_column_as_given(Oid relation, const char *name)
{
	char		unquoted[PE_NAME_SIZE];
	char	   *cut;

	if (get_attnum(relation, name) == InvalidAttrNumber && pe_text_unquote(name, unquoted) &&
		get_attnum(relation, unquoted) != InvalidAttrNumber)
		return pstrdup(unquoted);
	if (name[0] == '"' && get_attnum(relation, name) == InvalidAttrNumber &&
		(cut = column_cut_short(relation, name)) != NULL)
		return cut;
	return pstrdup(name);
}

/* The name of a column that was perhaps meant; NULL if none is like it. */
static char *
column_similar(Oid relation, const char *name)
{
	int			count;
	char	  **names = names_of_columns(relation, &count);
	int			found = pe_similar_text(name, names, count);

	/* customer for customer_id */
	for (int i = 0; found < 0 && i < count; i++)
		if (strlen(name) > 2 && pg_strncasecmp(names[i], name, strlen(name)) == 0)
			found = i;
	return found < 0 ? NULL : names[found];
}

void
pe_refuse_missing_column(const pe_dataset *dataset, const char *column)
{
	char	   *similar;

	pe_dataset_check_there(dataset);
	similar = column_similar(dataset->relation, column);
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the table of dataset \"%s\" has no column \"%s\"", dataset->name, column),
			 similar != NULL ? errhint("Perhaps you meant \"%s\".", similar) : 0));
	pg_unreachable();
}

static bool
is_virtual(Oid relation, AttrNumber number)
{
	char		generated = get_attgenerated(relation, number);

	return generated != '\0' && generated != ATTRIBUTE_GENERATED_STORED;
}

void
pe_column_check_stored(Oid relation, AttrNumber number)
{
	if (is_virtual(relation, number))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" is a virtual generated column", get_attname(relation, number, false)),
				 errdetail("It is computed as rows are read, which one of them can make fail."),
				 errhint("Make it a stored generated column.")));
}

Oid
pe_declared_column_type(const pe_dataset *dataset, const char *column, AttrNumber declared)
{
	AttrNumber	number = get_attnum(dataset->relation, column);

	if (number <= 0 || number != declared)
		return InvalidOid;
	pe_column_check_stored(dataset->relation, number);
	return getBaseType(get_atttype(dataset->relation, number));
}

/*
 * The type of this name as it was declared.  That of an enum can be gone by
 * now, or be another one's: what was paid for is read by its labels, which are
 * texts.
 */
static Oid
type_named(const char *declared)
{
	LOCAL_FCINFO(fcinfo, 1);
	Oid			type;
	pe_key		key;

	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0] = (NullableDatum) {CStringGetTextDatum(declared), false};
	type = DatumGetObjectId(to_regtype(fcinfo));
	return !fcinfo->isnull && getBaseType(type) == type && pe_type_key(type, &key) ? type : TEXTOID;
}

/*
 * The type of an attribute: that of its column, checked to be what was
 * declared, if that is what it is declared as now.
 */
static Oid
attribute_type(const pe_dataset *dataset, const char *attribute, AttrNumber number, const char *declared, bool past)
{
	Oid			type;

	/* the relation of this OID is another one, or the column may be; the declaration still says what was paid for */
	if (dataset->frozen || past)
		return type_named(declared);
	pe_dataset_check_there(dataset);
	type = pe_declared_column_type(dataset, attribute, number);
	if (!OidIsValid(type) || strcmp(pe_type_name(type), declared) != 0)
		raise_attribute_changed(dataset, attribute, number);
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
	char	   *similar = number <= 0 ? column_similar(relation, column) : NULL;

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of table \"%s\" does not exist", column, get_rel_name(relation)),
				 similar != NULL ? errhint("Perhaps you meant \"%s\".", similar) : 0));
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
				 errdetail("Its type is %s, or its collation is not deterministic.",
						   format_type_be(get_atttype(relation, number))),
				 errhint("A unit is an integer, numeric, text, varchar, char, uuid, bytea, date or timestamp, "
						 "equal where its bytes are.")));
	return getBaseType(get_atttype(relation, number));
}

Oid
pe_private_column_type(Oid relation, const char *column)
{
	Oid			declared = get_atttype(relation, column_number(relation, column));
	Oid			type = getBaseType(declared);

	if (type != INT2OID && type != INT4OID && type != INT8OID && type != NUMERICOID && type != FLOAT4OID &&
		type != FLOAT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" cannot be the private column", column),
				 errdetail("Its type is %s.", format_type_be(declared)),
				 errhint("A private column is smallint, integer, bigint, numeric, real or double precision.")));
	return type;
}

/* Two renames can give its name to another column of its type, so its number counts too. */
static void
check_column(const pe_dataset *dataset, const char *column, AttrNumber number, const char *declared)
{
	Oid			type = pe_declared_column_type(dataset, column, number);

	if (!OidIsValid(type) || strcmp(pe_type_name(type), declared) != 0)
		pe_raise_column_changed(dataset, column, number);
}

/* 55000 if the unit's column, the private one or that of the blocks is no longer the one that was declared. */
static void
check_declared_columns(const pe_dataset *dataset)
{
	if (dataset->frozen)
		return;
	if (dataset->unit != NULL)
	{
		check_column(dataset, dataset->unit, dataset->unit_number, dataset->unit_type);
		if (!can_be_unit(dataset->relation, dataset->unit))
			pe_raise_column_changed(dataset, dataset->unit, dataset->unit_number);
	}
	if (dataset->private_column != NULL)
		check_column(dataset, dataset->private_column, dataset->private_number, dataset->private_type);
	if (dataset->max_blocks > 0)
		check_column(dataset, dataset->time_attribute, dataset->time_number, dataset->time_type);
}

void
pe_unit_key_load(const pe_dataset *dataset, uint8 *key)
{
	static pe_statement find = {NULL, "SELECT unit_key FROM dp_ledger.dataset WHERE id = $1", 1, {INT8OID}};
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
	foreach(cell, pe_relation_heirs(dataset->relation, AccessShareLock))
	{
		Relation	table = table_open(lfirst_oid(cell), NoLock);

		is_private = is_private || is_computed_from(table, column, dataset->private_column);
		table_close(table, NoLock);
	}
	if (is_private || strcmp(column, dataset->private_column) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("column \"%s\" cannot be an attribute", column),
				 is_private ? errdetail("It is computed from column \"%s\", whose values are what dataset \"%s\" "
										"protects.",
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
		if (pe_declared_column_type(dataset, columns[i].name, columns[i].number) != columns[i].type)
			raise_attribute_changed(dataset, columns[i].name, columns[i].number);
}

/* Sets the place of a label in the order of its enum; false if there is no such label. */
static bool
find_label(pe_dataset *dataset, Oid type, const char *label, float4 *place)
{
	HeapTuple	tuple = SearchSysCache2(ENUMTYPOIDNAME, ObjectIdGetDatum(type), CStringGetDatum(label));

	if (!HeapTupleIsValid(tuple))
		return false;
	if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)))
		dataset->changed_here = true;
	*place = ((Form_pg_enum) GETSTRUCT(tuple))->enumsortorder;
	ReleaseSysCache(tuple);
	return true;
}

/*
 * The owner of an enum can give its labels other names: that of a label may be gone,
 * be that of another one by now, or only until the caller's own transaction ends.
 */
static bool
has_labels(pe_dataset *dataset, const pe_column *column, int count)
{
	float4		place = 0;
	float4		last = 0;

	for (int i = 0; i < count; i++)
	{
		if (!find_label(dataset, column->type, column->points[i], &place) ||
			(column->ordered && i > 0 && place <= last))
			return false;
		last = place;
	}
	return true;
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
	if (type_is_enum(column->type) && !has_labels(dataset, column, count))
		raise_attribute_changed(dataset, column->name, column->number);
	for (int i = 0; i < count; i++)
		column->domain.point[i] =
			pe_point_of_datum(column->type, OidInputFunctionCall(input, column->points[i], parameter, -1));
}

/* It is open, and no levels or bins are declared. */
static bool
is_bare(const pe_row *row)
{
	return strcmp(pe_row_text(row, "kind"), "open") == 0;
}

/* What the row alone says of a column. */
static void
declaration_of_row(const pe_row *row, pe_column *column)
{
	column->name = pe_row_text(row, "attribute");
	column->number = (AttrNumber) pe_row_int64(row, "attnum");
	column->declared = (int) pe_row_int64(row, "since");
	column->open = pe_row_bool(row, "open");
	column->bare = is_bare(row);
	column->ordered = pe_row_bool(row, "ordered");
	column->points = pe_row_texts(row, "points", &column->domain.points);
	column->domain.kind = strcmp(pe_row_text(row, "kind"), "bins") == 0 ? PE_BINS : PE_LEVELS;
	column->domain.outside = (pe_outside) pe_row_text(row, "outside")[0];
	column->domain.nulls = (pe_nulls) pe_row_text(row, "nulls")[0];
	column->domain.open = column->domain.kind == PE_BINS && strcmp(pe_row_text(row, "last"), "open") == 0;
}

static bool
is_in_force(const pe_row *row)
{
	return pe_row_int64(row, "until") == 0;
}

/* What a declared column has without its cells. */
static void
bare_column_of_row(pe_dataset *dataset, const pe_row *row, pe_column *column)
{
	bool		past = !is_in_force(row);

	declaration_of_row(row, column);
	column->type = attribute_type(dataset, column->name, column->number, pe_row_text(row, "type"), past);
	dataset->past |= past;
	if (pe_row_changed_here(row))
		dataset->changed_here = true;
}

/*
 * What is declared now was when the dataset was looked at, or else the request may have others that were altered since.
 */
static void
note_used(pe_dataset *dataset, int since)
{
	if (since > dataset->declarations)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("attributes of dataset \"%s\" were altered while the request was made", dataset->name),
				 errhint("Ask again.")));
	dataset->used = Max(dataset->used, since);
}

static void
column_of_row(pe_dataset *dataset, const pe_row *row, pe_column *column)
{
	bare_column_of_row(dataset, row, column);
	note_used(dataset, column->declared);
	if (column->bare)
		return;
	if (!is_in_force(row) && type_is_enum(column->type) && !has_labels(dataset, column, column->domain.points))
		column->type = TEXTOID;	/* likewise */
	if (!pe_type_key(column->type, &column->domain.key))
		elog(ERROR, "type of attribute \"%s\" is not supported", column->name);
	parse_points(dataset, column, column->domain.points);
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

/* A column without cells is no attribute yet. */
static void
check_has_cells(const pe_dataset *dataset, const pe_row *row)
{
	if (is_bare(row))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of dataset \"%s\" has neither levels nor bins", pe_row_text(row, "attribute"),
						dataset->name),
				 errdetail("It is open: dp.keys and dp.bounds may look for its values, predicates may compare it "
						   "with values by =, <>, IN and LIKE, and SELECT may group by it."),
				 errhint("The owner can declare its levels or bins with dp.add_attribute, for instance those that "
						 "dp.keys has found.")));
}

/* Whether a row is one of the declarations that are meant: those in force, or those of before. */
static bool
is_meant(const pe_dataset *dataset, const pe_row *row)
{
	int64		until = pe_row_int64(row, "until");

	if (dataset->as_of == 0)
		return until == 0;
	return pe_row_int64(row, "since") <= dataset->as_of && (until == 0 || dataset->as_of < until);
}

static List *
meant_of(const pe_dataset *dataset, List *rows)
{
	ListCell   *cell;

	foreach(cell, rows)
		if (!is_meant(dataset, lfirst(cell)))
			rows = foreach_delete_current(rows, cell);
	return rows;
}

static pe_row *
find_attribute(const pe_dataset *dataset, const char *name)
{
	Datum		key[2] = {Int64GetDatum(dataset->id), CStringGetTextDatum(name)};
	List	   *rows = meant_of(dataset, pe_rows("attribute", "attribute_pkey", key, 2));

	return rows != NIL ? linitial(rows) : NULL;
}

static int
by_position(const ListCell *a, const ListCell *b)
{
	int64		i = pe_row_int64(lfirst(a), "position");
	int64		j = pe_row_int64(lfirst(b), "position");

	return (i > j) - (i < j);
}

void
pe_attributes_as_given(const pe_dataset *dataset, char **names, int count)
{
	char		unquoted[PE_NAME_SIZE];

	for (int i = 0; i < count; i++)
		if (pe_text_unquote(names[i], unquoted) && find_attribute(dataset, names[i]) == NULL &&
			find_attribute(dataset, unquoted) != NULL)
			names[i] = pstrdup(unquoted);
}

char **
pe_attribute_names(const pe_dataset *dataset, int *count)
{
	Datum		key[1] = {Int64GetDatum(dataset->id)};
	List	   *rows = meant_of(dataset, pe_rows("attribute", "attribute_pkey", key, 1));
	char	  **names = palloc((list_length(rows) + 1) * sizeof(char *));

	*count = list_length(rows);
	for (int i = 0; i < *count; i++)
		names[i] = pe_row_text(list_nth(rows, i), "attribute");
	return names;
}

static void __attribute__((noreturn))
refuse_unknown(const pe_dataset *dataset, const char *name)
{
	int			count;
	char	  **names = pe_attribute_names(dataset, &count);
	int			similar = pe_similar_text(name, names, count);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("attribute \"%s\" of dataset \"%s\" does not exist", name, dataset->name),
			 dataset->unit != NULL && strcmp(dataset->unit, name) == 0
			 ? errdetail("It is the unit of privacy, whose values are not answered.") : 0,
			 similar >= 0 ? errhint("Perhaps you meant \"%s\". SELECT * "
									"FROM dp.describe(%s) lists what may be asked; the owner can declare more with "
									"dp.add_attribute.", names[similar], quote_literal_cstr(dataset->name))
			 : errhint("SELECT * FROM dp.describe(%s) lists what may be asked; the owner can declare more with "
					   "dp.add_attribute.", quote_literal_cstr(dataset->name))));
	pg_unreachable();
}

/* The rows that declare the attributes of these names; NULL: all of them, in the order of their declaration. */
static List *
find_attributes(const pe_dataset *dataset, char **names, int count)
{
	Datum		key[1] = {Int64GetDatum(dataset->id)};
	List	   *rows = NIL;

	if (names == NULL)
	{
		rows = meant_of(dataset, pe_rows("attribute", "attribute_pkey", key, 1));
		list_sort(rows, by_position);
	}
	for (int i = 0; names != NULL && i < count; i++)
	{
		pe_row	   *row = find_attribute(dataset, names[i]);

		check_not_repeated(names, i);
		if (row == NULL)
			refuse_unknown(dataset, names[i]);
		check_has_cells(dataset, row);
		rows = lappend(rows, row);
	}
	return rows;
}

/* Texts, values and tables of values, as measured: so many bytes for each of the stored list, and for each point. */
#define BYTES_OF_TEXT 6
#define BYTES_OF_POINT 100

/* What the declarations of a request take. */
static void
check_points(const List *rows)
{
	size_t		bytes = 0;
	ListCell   *cell;

	foreach(cell, rows)
		bytes += BYTES_OF_TEXT * pe_row_size(lfirst(cell), "points") +
			BYTES_OF_POINT * (size_t) pe_row_int64(lfirst(cell), "cells");
	pe_check_memory(bytes);
}

/* The columns that the rows declare: one access for all, because each pins the settings. */
static pe_column *
columns_of_rows(pe_dataset *dataset, const List *rows)
{
	MemoryContext here = CurrentMemoryContext;
	pe_column  *columns;
	pe_access	access;

	pe_access_begin(&access);	/* points are read as they were written */
	MemoryContextSwitchTo(here);
	columns = palloc0(Max(list_length(rows), 1) * sizeof(*columns));
	for (int i = 0; i < list_length(rows); i++)
		column_of_row(dataset, list_nth(rows, i), &columns[i]);
	pe_access_end(&access);
	return columns;
}

pe_column *
pe_columns_load(pe_dataset *dataset, char **names, int *count)
{
	List	   *rows = find_attributes(dataset, names, *count);
	pe_column  *columns;

	if (names != NULL)
		check_points(rows);
	columns = columns_of_rows(dataset, rows);
	*count = list_length(rows);
	check_declared_columns(dataset);
	return columns;
}

/* ------------------------------------------------------------------
 * What became of columns
 * ------------------------------------------------------------------
 */

char *
pe_column_fault(const pe_dataset *dataset, const char *column, AttrNumber declared, const char *type)
{
	AttrNumber	number = get_attnum(dataset->relation, column);

	if (dataset->frozen)
		return NULL;
	if (!OidIsValid(pe_relation_owner(dataset->relation)))
		return pstrdup("the table is gone");
	if (number <= 0)
		return psprintf("the table has no column \"%s\"", column);
	if (number != declared)
		return psprintf("column \"%s\" is not the one that was declared", column);
	if (strcmp(pe_type_name(getBaseType(get_atttype(dataset->relation, number))), type) != 0)
		return psprintf("column \"%s\" is of type %s now", column,
						format_type_be(get_atttype(dataset->relation, number)));
	return is_virtual(dataset->relation, number)
		? psprintf("column \"%s\" is a virtual generated column now", column) : NULL;
}

static void
show_column(pe_dataset *dataset, const pe_row *row, pe_shown_column *shown)
{
	pe_column  *column = &shown->column;

	declaration_of_row(row, column);
	column->cells = (int) pe_row_int64(row, "cells");
	shown->type = pe_row_text(row, "type");
	shown->fault = pe_column_fault(dataset, column->name, column->number, shown->type);
	if (dataset->frozen || shown->fault != NULL)
		return;
	column->type = getBaseType(get_atttype(dataset->relation, column->number));
	if (type_is_enum(column->type) && !column->bare && !has_labels(dataset, column, column->domain.points))
		shown->fault = psprintf("type %s has no longer the labels that were declared", format_type_be(column->type));
}

pe_shown_column *
pe_columns_show(pe_dataset *dataset, int *count)
{
	List	   *rows = find_attributes(dataset, NULL, 0);
	MemoryContext here = CurrentMemoryContext;
	pe_shown_column *shown;
	pe_access	access;

	pe_access_begin(&access);	/* types are named as they were when they were declared */
	MemoryContextSwitchTo(here);
	*count = list_length(rows);
	shown = palloc0(Max(*count, 1) * sizeof(*shown));
	for (int i = 0; i < *count; i++)
		show_column(dataset, list_nth(rows, i), &shown[i]);
	pe_access_end(&access);
	return shown;
}

/* row: NULL: nothing is declared of this name. */
static void
load_open(pe_dataset *dataset, const char *name, const pe_row *row, pe_column *column)
{
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;

	if (row == NULL || !pe_row_bool(row, "open"))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("column \"%s\" of dataset \"%s\" is not open", name, dataset->name),
				 errdetail("Nobody may look for values that the owner of the table has neither listed nor opened."),
				 errhint("The owner can open it: dp.add_attribute(%s, %s, open => true).",
						 quote_literal_cstr(dataset->name), quote_literal_cstr(name))));
	memset(column, 0, sizeof(*column));
	pe_access_begin(&access);	/* the type is named as it was when it was declared */
	MemoryContextSwitchTo(here);
	bare_column_of_row(dataset, row, column);
	note_used(dataset, (int) pe_row_int64(row, "opened"));
	pe_access_end(&access);
	check_declared_columns(dataset);
}

void
pe_open_column_load(pe_dataset *dataset, const char *name, pe_column *column)
{
	load_open(dataset, name, find_attribute(dataset, name), column);
}

pe_column *
pe_columns_find(pe_dataset *dataset, char **names, int *count, pe_column *open, int *opens)
{
	List	   *rows = NIL;

	for (int i = 0; i < *count; i++)
	{
		pe_row	   *row = find_attribute(dataset, names[i]);

		if (row == NULL)
			continue;
		if (open != NULL && is_bare(row))
		{
			load_open(dataset, names[i], row, &open[(*opens)++]);
			continue;
		}
		check_has_cells(dataset, row);
		rows = lappend(rows, row);
	}
	check_points(rows);
	*count = list_length(rows);
	return columns_of_rows(dataset, rows);
}

void
pe_check_attributes(int count)
{
	if (count > PE_MAX_ATTRIBUTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many attributes"),
				 errdetail("A request may have at most %d attributes; a comparison of two columns is one of them.",
						   PE_MAX_ATTRIBUTES),
				 errhint("Ask in parts.")));
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
		elog(ERROR, "attributes that were prepared are no domain");
	return domain;
}

void
pe_columns_check_product(const pe_domain *domain)
{
	if (!pe_domain_has_numbers(domain))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the attributes have too many cells together"),
				 errdetail("A request may have at most %d cells.", PE_MAX_CELLS),
				 errhint("Ask for fewer attributes at a time.")));
}

void
pe_column_bounds(const pe_column *column, double *lower, double *upper)
{
	*lower = INFINITY;
	*upper = -INFINITY;
	for (int32 i = 0; i < column->domain.points; i++)	/* levels have any order */
	{
		double		number = pe_number_of_text(column->type, column->points[i]);

		*lower = fmin(*lower, number);
		*upper = fmax(*upper, number);
	}
	if (column->domain.open && *lower < *upper)
		*upper = nextafter(*upper, *lower);
}

#define NUMBER_OF(column) "coalesce((SELECT c.attnum FROM pg_catalog.pg_attribute c " \
	"WHERE c.attrelid = d.relation_oid AND c.attname = " column " AND c.attnum > 0 AND NOT c.attisdropped), 0)"

void
pe_columns_place(int64 dataset_id)
{
	static pe_statement dataset = {NULL, "UPDATE dp_ledger.dataset d "
		"SET unit_attnum = " NUMBER_OF("d.unit") ", private_attnum = " NUMBER_OF("d.private_column")
	", time_attnum = " NUMBER_OF("d.time_attribute") " WHERE id = $1", 1, {INT8OID}};
	static pe_statement attributes = {NULL, "UPDATE dp_ledger.attribute a SET attnum = " NUMBER_OF("a.attribute")
	" FROM dp_ledger.dataset d WHERE d.id = $1 AND a.dataset_id = d.id", 1, {INT8OID}};
	static pe_statement series = {NULL, "UPDATE dp_ledger.series s SET time_attnum = " NUMBER_OF("s.time_attribute")
	" FROM dp_ledger.dataset d WHERE d.id = $1 AND s.dataset_id = d.id", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset_id)};

	pe_access_write(&dataset, values, NULL);
	pe_access_write(&attributes, values, NULL);
	pe_access_write(&series, values, NULL);
}

/* ------------------------------------------------------------------
 * What the owner declares
 * ------------------------------------------------------------------
 */

/*
 * 55000 if what is declared of this name already is of another column of the
 * table, or of another type: what dp.keys found is of that one.
 */
static void
check_same_column(const pe_dataset *dataset, const char *attribute, const char *type)
{
	const pe_row *row = find_attribute(dataset, attribute);

	if (row != NULL && (pe_row_int64(row, "attnum") != get_attnum(dataset->relation, attribute) ||
						strcmp(pe_row_text(row, "type"), type) != 0))
		raise_attribute_changed(dataset, attribute, (AttrNumber) pe_row_int64(row, "attnum"));
}

/* A new number of declarations: requests that looked at the dataset before are refused. */
static void
count_declaration(int64 dataset_id)
{
	static pe_statement count = {NULL, "UPDATE dp_ledger.dataset SET declarations = declarations + 1 "
		"WHERE id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset_id)};

	pe_access_write(&count, values, NULL);
}

/*
 * What is declared of a name goes out of force with a new number of
 * declarations; what was paid for is still read by it. Under the lock of the
 * dataset's row.  False if nothing was declared.
 */
static bool
end_attribute(int64 dataset_id, const char *attribute)
{
	static pe_statement end = {NULL, "UPDATE dp_ledger.attribute a SET until = d.declarations FROM dp_ledger.dataset d "
	"WHERE d.id = $1 AND a.dataset_id = d.id AND a.attribute = $2 AND a.until IS NULL", 2, {INT8OID, TEXTOID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), CStringGetTextDatum(attribute)};

	count_declaration(dataset_id);
	return pe_access_write(&end, values, NULL) > 0;
}

static void __attribute__((noreturn))
refuse_not_declared(const pe_dataset *dataset, const char *attribute)
{
	const char *what = NULL;

	if (dataset->unit != NULL && strcmp(dataset->unit, attribute) == 0)
		what = "the unit";
	else if (dataset->private_column != NULL && strcmp(dataset->private_column, attribute) == 0)
		what = "the private column";
	else if (dataset->time_attribute != NULL && strcmp(dataset->time_attribute, attribute) == 0)
		what = dataset->max_blocks > 0 ? "the column of the blocks" : "the time";
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("attribute \"%s\" of dataset \"%s\" does not exist", attribute, dataset->name),
			 what != NULL ? errdetail("The column is %s of the dataset, and is not declared as an attribute.", what)
			 : 0,
			 what == NULL ? errhint("SELECT * FROM dp.describe(%s) lists the attributes; dp.add_attribute declares "
									"one.", quote_literal_cstr(dataset->name))
			 : strcmp(what, "the time") == 0 ? errhint("dp.set_time declares another column as the time.")
			 : errhint("To protect something else, drop the dataset and register it again; what was spent is kept.")));
	pg_unreachable();
}

/* The place of an attribute that is new, after all that there ever were. */
#define NEXT_POSITION "(SELECT count(*) + 1 FROM dp_ledger.attribute WHERE dataset_id = $dataset_id)"

/* The last fields of an attribute, which only a new row gets. */
#define OF_NEW_ROW 4

/* Writes a declaration in force; of one that was altered what is open and its place stay. */
static void
write_attribute(const pe_field *fields, int count)
{
	static pe_statement complete;
	static pe_statement insert;

	/* it was not open */
	if (pe_access_update(&complete, "attribute", fields, count - OF_NEW_ROW, 2, "AND until IS NULL") == 0)
		pe_access_insert(&insert, "attribute", fields, count, "FROM dp_ledger.dataset d WHERE d.id = $dataset_id");
}

/* After end_attribute: false if nothing was declared. */
static bool
rewrite_attribute(const pe_field *fields, int count)
{
	static pe_statement insert;

	return pe_access_insert(&insert, "attribute", fields, count, "FROM dp_ledger.dataset d JOIN dp_ledger.attribute a "
							"ON a.dataset_id = d.id AND a.attribute = $attribute AND a.until = d.declarations "
							"WHERE d.id = $dataset_id") == 1;
}

void
pe_attribute_register(const pe_dataset *dataset, const char *attribute, const char *type,
					  const pe_attribute *domain, char **points, bool ordered,
					  const char *outside, const char *nulls, bool alters)
{
	static pe_statement present = {NULL, "SELECT FROM dp_ledger.attribute "
		"WHERE dataset_id = $1 AND attribute = $2 AND kind <> 'open' AND until IS NULL", 2,
	{INT8OID, TEXTOID}};
	Datum		key[2] = {Int64GetDatum(dataset->id), CStringGetTextDatum(attribute)};
	bool		bins = domain->kind == PE_BINS;
	pe_field	fields[] = {
		PE_INT8("dataset_id", dataset->id),
		PE_TEXT("attribute", attribute),
		PE_TEXT("type", type),
		PE_TEXT("kind", bins ? "bins" : "levels"),
		PE_TEXTS("points", points, domain->points),
		PE_BOOL("ordered", ordered),
		PE_INT4("cells", pe_attribute_cells(domain)),
		PE_TEXT("outside", outside),
		PE_TEXT("nulls", nulls),
		PE_INT4("attnum", get_attnum(dataset->relation, attribute)),
		PE_TEXT("last", !bins ? NULL : domain->open ? "open" : "closed"),
		PE_SQL("since", "d.declarations"),
		PE_SQL("position", alters ? "a.position" : NEXT_POSITION),
		PE_SQL("open", alters ? "a.open" : "false"),
		/* what dp.keys found stays what it is while the column does */
		PE_SQL("opened", alters ? "CASE WHEN a.type = $type AND a.attnum = $attnum THEN a.opened WHEN a.open THEN "
								  "d.declarations END" : "NULL")
	};
	pe_act		act;
	pe_access	access;

	if (!alters)
		check_same_column(dataset, attribute, type);
	pe_act_begin(&act, dataset->id, PE_ACT_ATTRIBUTE, alters ? "alter_attribute" : "add_attribute", attribute);
	pe_access_begin(&access);
	if (alters)
	{
		if (!end_attribute(dataset->id, attribute) || !rewrite_attribute(PE_FIELDS(fields)))
			refuse_not_declared(dataset, attribute);
	}
	else if (pe_access_write(&present, key, NULL) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("attribute \"%s\" of dataset \"%s\" already exists", attribute, dataset->name),
				 errhint("dp.alter_attribute and dp.alter_edges declare it anew. Answers that were paid keep the "
						 "old declaration; nothing is refunded.")));
	else
		write_attribute(PE_FIELDS(fields));
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

void
pe_attribute_drop(const pe_dataset *dataset, const char *attribute)
{
	pe_act		act;
	pe_access	access;

	if (dataset->max_blocks > 0 && strcmp(dataset->time_attribute, attribute) == 0 &&
		find_attribute(dataset, attribute) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("attribute \"%s\" of dataset \"%s\" cannot be dropped", attribute, dataset->name),
				 errdetail("The cap holds for each block of it: without it every request would be charged to all "
						   "blocks."),
				 errhint("dp.alter_attribute and dp.alter_edges declare other bins. To drop it, drop the dataset "
						 "and register it again.")));
	pe_act_begin(&act, dataset->id, PE_ACT_ATTRIBUTE, "drop_attribute", attribute);
	pe_access_begin(&access);
	if (!end_attribute(dataset->id, attribute))
		refuse_not_declared(dataset, attribute);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

void
pe_attribute_open(const pe_dataset *dataset, const char *attribute, const char *type, bool alters)
{
	static pe_statement present = {NULL, "SELECT FROM dp_ledger.attribute "
		"WHERE dataset_id = $1 AND attribute = $2 AND open AND until IS NULL", 2,
	{INT8OID, TEXTOID}};
	static pe_statement open = {NULL, "UPDATE dp_ledger.attribute a "
		"SET open = true, opened = coalesce(a.opened, d.declarations) FROM dp_ledger.dataset d "
		"WHERE d.id = $1 AND a.dataset_id = d.id AND a.attribute = $2 AND a.until IS NULL", 2,
	{INT8OID, TEXTOID}};
	static pe_statement insert;
	Datum		values[2] = {Int64GetDatum(dataset->id), CStringGetTextDatum(attribute)};
	pe_field	fields[] = {
		PE_INT8("dataset_id", dataset->id),
		PE_TEXT("attribute", attribute),
		PE_TEXT("type", type),
		PE_TEXT("kind", "open"),
		PE_SQL("points", "'{}'"),
		PE_BOOL("ordered", false),
		PE_INT4("cells", 0),
		PE_TEXT("outside", "drop"),
		PE_TEXT("nulls", "drop"),
		PE_BOOL("open", true),
		PE_INT4("attnum", get_attnum(dataset->relation, attribute)),
		PE_SQL("position", NEXT_POSITION),
		PE_SQL("since", "declarations"),
		PE_SQL("opened", "declarations")
	};
	pe_act		act;
	pe_access	access;

	check_same_column(dataset, attribute, type);
	pe_act_begin(&act, dataset->id, PE_ACT_ATTRIBUTE, alters ? "alter_attribute" : "add_attribute", attribute);
	pe_access_begin(&access);
	if (pe_access_write(&present, values, NULL) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("column \"%s\" of dataset \"%s\" is open already", attribute, dataset->name)));
	if (pe_access_write(&open, values, NULL) == 0)	/* it has no levels or bins */
	{
		if (alters)
			refuse_not_declared(dataset, attribute);
		pe_access_insert(&insert, "attribute", PE_FIELDS(fields), "FROM dp_ledger.dataset WHERE id = $dataset_id");
	}
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

void
pe_attribute_close(const pe_dataset *dataset, const char *attribute)
{
	static pe_statement close = {NULL, "UPDATE dp_ledger.attribute SET open = false "
		"WHERE dataset_id = $1 AND attribute = $2 AND until IS NULL AND open AND kind <> 'open'", 2,
	{INT8OID, TEXTOID}};
	Datum		values[2] = {Int64GetDatum(dataset->id), CStringGetTextDatum(attribute)};
	const pe_row *row = find_attribute(dataset, attribute);
	pe_act		act;
	pe_access	access;

	if (row == NULL)
		refuse_not_declared(dataset, attribute);
	pe_act_begin(&act, dataset->id, PE_ACT_ATTRIBUTE, "alter_attribute", attribute);
	pe_access_begin(&access);
	if (pe_access_write(&close, values, NULL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 pe_row_bool(row, "open") ? errmsg("column \"%s\" of dataset \"%s\" is nothing but open", attribute,
												   dataset->name)
				 : errmsg("column \"%s\" of dataset \"%s\" is not open", attribute, dataset->name),
				 pe_row_bool(row, "open") ? errhint("dp.drop_attribute closes it.") : 0));
	count_declaration(dataset->id);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

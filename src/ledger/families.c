/*
 * families.c
 *	  The tables under a dataset.  See families.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ledger/families.h"
#include "ledger/relation.h"
#include "server/access.h"
#include "server/row.h"

/* ------------------------------------------------------------------
 * Of a dataset
 * ------------------------------------------------------------------
 */

static pe_family *
family_of_row(const pe_row *row)
{
	pe_family  *family = palloc0(sizeof(*family));

	family->relation = (Oid) pe_row_int64(row, "relation_oid");
	family->is_public = pe_row_bool(row, "is_public");
	family->is_named = pe_row_bool(row, "is_named");
	family->carries = (int) pe_row_int64(row, "carries");
	family->is_past = pe_row_bool(row, "is_past");
	family->rule = pe_row_text(row, "rule");
	family->said = pe_row_text(row, "said");
	return family;
}

/* Of a table: its rule is the text that the proof of a view gives the same column (view/proof.h). */
static List *
family_of_table(const pe_dataset *dataset)
{
	pe_family  *family = palloc0(sizeof(*family));

	family->relation = dataset->relation;
	family->carries = 1;
	family->rule = dataset->unit == NULL ? pstrdup("row") : psprintf("column %s", quote_identifier(dataset->unit));
	family->said = family->rule;
	return list_make1(family);
}

List *
pe_families_of(const pe_dataset *dataset)
{
	Datum		key[1] = {Int64GetDatum(dataset->id)};
	List	   *families = NIL;
	ListCell   *cell;

	if (dataset->view_identity == NULL)
		return family_of_table(dataset);
	if (dataset->families != NIL)
		return dataset->families;
	foreach(cell, pe_rows("dataset_table", "dataset_table_dataset", key, 1))
		families = lappend(families, family_of_row(lfirst(cell)));
	return families;
}

static List *
tables_of(const pe_dataset *dataset, bool is_public)
{
	List	   *tables = NIL;
	ListCell   *cell;

	foreach(cell, pe_families_of(dataset))
	{
		const pe_family *family = lfirst(cell);

		/* one that is missing after a restore is seen by the proof */
		if (!family->is_past && family->is_public == is_public && OidIsValid(family->relation))
			tables = list_append_unique_oid(tables, family->relation);
	}
	return tables;
}

List *
pe_families_private(const pe_dataset *dataset)
{
	return tables_of(dataset, false);
}

List *
pe_families_public(const pe_dataset *dataset)
{
	return tables_of(dataset, true);
}

List *
pe_families_tables(const pe_dataset *dataset)
{
	List	   *tables = list_make1_oid(dataset->relation);

	if (dataset->view_identity == NULL)
		return tables;
	tables = list_concat_unique_oid(tables, pe_families_private(dataset));
	return list_concat_unique_oid(tables, pe_families_public(dataset));
}

List *
pe_families_heirs(List *relations)
{
	List	   *heirs = NIL;
	ListCell   *cell;

	foreach(cell, relations)
		heirs = list_concat_unique_oid(heirs, pe_relation_heirs(lfirst_oid(cell), NoLock));
	return heirs;
}

List *
pe_families_read(const pe_dataset *dataset)
{
	return list_concat_unique_oid(pe_relation_heirs(dataset->relation, NoLock),
								  pe_families_heirs(pe_families_private(dataset)));
}

/* ------------------------------------------------------------------
 * Of several
 * ------------------------------------------------------------------
 */

List *
pe_families_of_table(Oid relation, bool is_public)
{
	Datum		key[1] = {ObjectIdGetDatum(relation)};
	List	   *ids = NIL;
	ListCell   *cell;

	foreach(cell, pe_rows("dataset_table", "dataset_table_relation", key, 1))
	{
		int64	   *id;

		if (pe_row_bool(lfirst(cell), "is_public") != is_public || (is_public && pe_row_bool(lfirst(cell), "is_past")))
			continue;
		id = palloc(sizeof(*id));
		*id = pe_row_int64(lfirst(cell), "dataset_id");
		ids = lappend(ids, id);
	}
	return ids;
}

static bool
has_spent(const pe_dataset *dataset)
{
	return dataset->spent.rho_nano > 0 || dataset->spent.epsilon_nano > 0 || dataset->spent.delta_atto > 0;
}

/* Those that share the cap, and the one whose it is. */
static List *
datasets_of_cap(int64 cap_id)
{
	List	   *datasets = NIL;
	ListCell   *cell;

	if (cap_id <= 0)
		return NIL;				/* it is to be one of its own */
	foreach(cell, pe_rows("dataset", "dataset_pkey", NULL, 0))
	{
		pe_dataset *dataset;

		if (pe_row_int64(lfirst(cell), "id") != cap_id && pe_row_int64(lfirst(cell), "cap_id") != cap_id)
			continue;
		dataset = pe_dataset_of_row(lfirst(cell));
		/* one that was dropped before anything was spent left nothing by its rules */
		if (!dataset->frozen && (!dataset->dropped || has_spent(dataset)))
			datasets = lappend(datasets, dataset);
	}
	return datasets;
}

/* The private families of a dataset. */
static List *
private_rules(const pe_dataset *dataset)
{
	List	   *rules = NIL;
	ListCell   *cell;

	foreach(cell, pe_families_of(dataset))
		if (!((pe_family *) lfirst(cell))->is_public)
			rules = lappend(rules, lfirst(cell));
	return rules;
}

List *
pe_families_of_cap(int64 cap_id, int64 first)
{
	List	   *rules = NIL;
	ListCell   *cell;

	foreach(cell, datasets_of_cap(cap_id))
	{
		const pe_dataset *dataset = lfirst(cell);

		rules = dataset->id == first ? list_concat(private_rules(dataset), rules)
			: list_concat(rules, private_rules(dataset));
	}
	return rules;
}

/* The two have a table in common, or one is a part of the other. */
static bool
overlap(Oid one, Oid other)
{
	return OidIsValid(one) && OidIsValid(other) && (one == other || list_member_oid(pe_relation_family(one), other));
}

bool
pe_families_entitled(const pe_dataset *dataset, Oid relation)
{
	Oid			owner = pe_relation_owner(relation);
	Oid			of_view = pe_relation_owner(dataset->relation);

	return dataset->view_identity == NULL || dataset->relation == relation || !OidIsValid(owner) ||
		(OidIsValid(of_view) && has_privs_of_role(of_view, owner));
}

/* A family that other datasets have as a private one. */
static void
check_private_elsewhere(const pe_dataset *dataset, const pe_family *family)
{
	ListCell   *cell;

	foreach(cell, pe_datasets_of_family(family->relation))
	{
		const pe_dataset *other = lfirst(cell);

		if (other->id == dataset->id || (other->dropped && !(family->is_public && has_spent(other))) ||
			!pe_families_entitled(other, family->relation))
			continue;
		if (family->is_public)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("table \"%s\" cannot be public: it is private in dataset \"%s\"",
							get_rel_name(family->relation), other->name),
					 errdetail("The rows of a table are somebody's, or nobody's, in all datasets.")));
		if (other->cap_id != dataset->cap_id)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_OBJECT),
					 errmsg("table \"%s\", or one it inherits from or that inherits from it, is dataset \"%s\" already",
							get_rel_name(family->relation), other->name),
					 errdetail("Its rows have one cap."),
					 errhint("Datasets of the same tables share a cap: same_cap_as => %s.",
							 quote_literal_cstr(other->name))));
	}
}

/* A private family that an owner who may say so has called public. */
static void
check_public_elsewhere(const pe_dataset *dataset, const pe_family *family)
{
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, pe_relation_family(family->relation))
	{
		Oid			owner = pe_relation_owner(lfirst_oid(cell));

		foreach(inner, pe_families_of_table(lfirst_oid(cell), true))
		{
			const pe_dataset *other = pe_dataset_recall(*(int64 *) lfirst(inner));
			Oid			by = other == NULL || other->frozen || other->dropped || other->id == dataset->id ? InvalidOid
				: pe_relation_owner(other->relation);

			if (OidIsValid(by) && OidIsValid(owner) && has_privs_of_role(by, owner))
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_OBJECT),
						 errmsg("table \"%s\" is public in dataset \"%s\"", get_rel_name(family->relation),
								other->name),
						 errdetail("The rows of a table are somebody's, or nobody's, in all datasets."),
						 errhint("Drop that dataset, or its owner can take the table out of its view.")));
		}
	}
}

static void
check_rule(const pe_dataset *dataset, const pe_family *family, List *rules)
{
	ListCell   *cell;

	foreach(cell, rules)
	{
		const pe_family *kept = lfirst(cell);

		if (overlap(family->relation, kept->relation) && strcmp(family->rule, kept->rule) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("rows of table \"%s\" belong to units by another rule in this cap",
							get_rel_name(family->relation)),
					 errdetail("Here it is %s, and the cap counts what was lost by %s.", family->rule, kept->rule),
					 errhint("A person's rows are the same in all datasets of a cap.")));
	}
}

void
pe_families_check(const pe_dataset *dataset, List *families)
{
	List	   *rules = pe_families_of_cap(dataset->cap_id, 0);
	ListCell   *cell;

	foreach(cell, families)
	{
		const pe_family *family = lfirst(cell);

		if (family->is_past || !OidIsValid(family->relation))
			continue;
		check_private_elsewhere(dataset, family);
		if (family->is_public)
			continue;
		check_public_elsewhere(dataset, family);
		check_rule(dataset, family, rules);
	}
}

static void
check_replaced(const pe_dataset *dataset, Oid relation)
{
	static pe_statement find = {NULL, "SELECT t.dataset_id FROM dp_ledger.dataset_table t "
		"JOIN dp_ledger.dataset d ON d.id = t.dataset_id WHERE NOT t.is_public AND NOT d.dropped "
		"AND t.relation_schema = $1 AND t.relation_name = $2 AND coalesce(d.cap_id, d.id) <> $3 "
		"AND NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = t.relation_oid)", 3,
	{TEXTOID, TEXTOID, INT8OID}};
	Datum		values[3] = {
		CStringGetTextDatum(get_namespace_name(get_rel_namespace(relation))),
		CStringGetTextDatum(get_rel_name(relation)), Int64GetDatum(dataset->cap_id)
	};
	uint64		count = pe_access_read(&find, values, NULL);
	int64	   *id = palloc((count + 1) * sizeof(*id));

	for (uint64 row = 0; row < count; row++)
		id[row] = pe_access_int64(row, 1);
	for (uint64 row = 0; row < count; row++)
	{
		const pe_dataset *old = pe_dataset_recall(id[row]);

		if (old != NULL && pe_dataset_owned_by(old, pe_relation_owner(relation)))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("a table \"%s\" that is gone is in the view of dataset \"%s\"", get_rel_name(relation),
							old->name),
					 errhint("dp.move_dataset or dp.attest lets that dataset go on with this table; dp.drop_dataset "
							 "gives it up.")));
	}
}

void
pe_families_check_replaced(const pe_dataset *dataset, List *families)
{
	ListCell   *cell;

	foreach(cell, families)
		if (!((const pe_family *) lfirst(cell))->is_public)
			check_replaced(dataset, ((const pe_family *) lfirst(cell))->relation);
}

bool
pe_families_agree(const pe_dataset *one, const pe_dataset *other)
{
	List	   *rules = private_rules(one);
	bool		common = false;
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, private_rules(other))
		foreach(inner, rules)
		{
			const pe_family *a = lfirst(cell);
			const pe_family *b = lfirst(inner);

			if (!overlap(a->relation, b->relation))
				continue;
			common = true;
			if (strcmp(a->rule, b->rule) != 0)
				return false;
		}
	return common;
}

bool
pe_families_are_same(List *stored, List *proved)
{
	int			current = 0;
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, stored)
	{
		const pe_family *a = lfirst(cell);
		bool		found = a->is_past;

		current += !a->is_past;
		foreach(inner, proved)
		{
			const pe_family *b = lfirst(inner);

			found = found || (a->relation == b->relation && a->is_public == b->is_public &&
							  strcmp(a->rule, b->rule) == 0);
		}
		if (!found)
			return false;
	}
	return current == list_length(proved);
}

/* ------------------------------------------------------------------
 * Written
 * ------------------------------------------------------------------
 */

static void
insert_family(int64 dataset_id, const pe_family *family)
{
	static pe_statement insert;
	pe_field	fields[] = {
		PE_INT8("dataset_id", dataset_id),
		PE_OID("relation_oid", family->relation),
		PE_TEXT("relation_schema", get_namespace_name(get_rel_namespace(family->relation))),
		PE_TEXT("relation_name", get_rel_name(family->relation)),
		PE_BOOL("is_public", family->is_public),
		PE_BOOL("is_named", family->is_named),
		PE_INT4("carries", family->carries),
		PE_BOOL("is_past", false),
		PE_TEXT("rule", family->rule),
		PE_TEXT("said", family->said)
	};

	pe_access_insert(&insert, "dataset_table", PE_FIELDS(fields), "");
}

void
pe_families_write(int64 dataset_id, List *families, bool keep)
{
	static pe_statement age = {NULL, "UPDATE dp_ledger.dataset_table SET is_past = true "
		"WHERE dataset_id = $1 AND NOT is_public", 1, {INT8OID}};
	static pe_statement forget = {NULL, "DELETE FROM dp_ledger.dataset_table "
		"WHERE dataset_id = $1 AND ($2 OR is_public)", 2, {INT8OID, BOOLOID}};
	static pe_statement again = {NULL, "DELETE FROM dp_ledger.dataset_table p WHERE dataset_id = $1 AND is_past "
		"AND EXISTS (SELECT FROM dp_ledger.dataset_table n WHERE n.dataset_id = $1 AND NOT n.is_past "
		"AND n.relation_oid = p.relation_oid AND n.rule = p.rule)", 1, {INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), BoolGetDatum(!keep)};
	ListCell   *cell;

	pe_access_write(&forget, values, NULL);
	pe_access_write(&age, values, NULL);
	foreach(cell, families)
		insert_family(dataset_id, lfirst(cell));
	pe_access_write(&again, values, NULL);
}

void
pe_families_place(int64 dataset_id, bool local)
{
	static pe_statement place = {NULL, "UPDATE dp_ledger.dataset_table r "
		"SET relation_oid = coalesce((SELECT c.oid FROM pg_catalog.pg_class c "
		"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = r.relation_name "
		"AND n.nspname = r.relation_schema), 0) WHERE dataset_id = $1 AND NOT ($2 AND EXISTS (SELECT "
		"FROM pg_catalog.pg_class c WHERE c.oid = r.relation_oid))", 2, {INT8OID, BOOLOID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), BoolGetDatum(local)};
	pe_access	access;

	pe_access_begin(&access);
	pe_access_write(&place, values, NULL);
	pe_access_end(&access);
}

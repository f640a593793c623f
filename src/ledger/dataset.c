/*
 * dataset.c
 *	  Datasets, as the owner declared them.  See dataset.h.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "accounting/conversion.h"
#include "domain/literal.h"
#include "server/access.h"
#include "ledger/relation.h"
#include "ledger/dataset.h"
#include "ledger/families.h"
#include "ledger/formats.h"
#include "ledger/promotion.h"
#include "server/row.h"

pe_accounting
pe_accounting_of(const char *name)
{
	pe_accounting accounting;

	if (!pe_accounting_named(name, &accounting))
		elog(ERROR, "accounting \"%s\" is not served", name);
	return accounting;
}

pe_amount
pe_limit_of_row(const pe_row *row)
{
	return (pe_amount) {pe_row_int64(row, "rho_limit"), pe_row_int64(row, "delta_limit"),
		pe_row_int64(row, "epsilon_limit")};
}

pe_amount
pe_spent_of_row(const pe_row *row)
{
	return (pe_amount) {pe_row_int64(row, "rho_spent"), pe_row_int64(row, "delta_spent"),
		pe_row_int64(row, "epsilon_spent")};
}

/*
 * Limits, what is spent, and how it is counted are those of the cap; a ledger that is frozen, or
 * was changed here, is so for all that share it.
 */
static void
take_cap(pe_dataset *dataset)
{
	Datum		key[1] = {Int64GetDatum(dataset->cap_id)};
	pe_row	   *row = pe_row_last("dataset", "dataset_pkey", key, 1);
	pe_dataset *cap;

	if (row == NULL)
		elog(ERROR, "the cap of dataset \"%s\" is gone", dataset->name);
	cap = pe_dataset_of_row(row);
	dataset->accounting = cap->accounting;
	dataset->epsilon = cap->epsilon;
	dataset->delta = cap->delta;
	dataset->delta_share = cap->delta_share;
	dataset->limit = cap->limit;
	dataset->spent = cap->spent;
	dataset->frozen = dataset->frozen || cap->frozen;
	dataset->changed_here = dataset->changed_here || cap->changed_here;
}

pe_dataset *
pe_dataset_of_row(const pe_row *row)
{
	pe_dataset *dataset = palloc0(sizeof(*dataset));
	char	   *change = pe_row_text(row, "change");

	dataset->id = pe_row_int64(row, "id");
	dataset->name = pe_row_text(row, "dataset");
	PE_CHECK_FORMAT(pe_row_int64(row, "format"), "dataset \"%s\"", dataset->name);
	dataset->relation = (Oid) pe_row_int64(row, "relation_oid");
	dataset->owner = pe_row_text(row, "owner");
	dataset->unit = pe_row_text(row, "unit");
	dataset->unit_type = pe_row_text(row, "unit_type");
	dataset->unit_number = (AttrNumber) pe_row_int64(row, "unit_attnum");
	dataset->max_rows = (int) pe_row_int64(row, "max_rows");
	dataset->neighbours = pe_row_text(row, "neighbours");
	dataset->accounting = pe_accounting_of(pe_row_text(row, "accounting"));
	dataset->private_column = pe_row_text(row, "private_column");
	dataset->private_type = pe_row_text(row, "private_type");
	dataset->private_number = (AttrNumber) pe_row_int64(row, "private_attnum");
	dataset->max_change = pe_row_float8(row, "max_change");
	dataset->change_all = change != NULL && strcmp(change, "all") == 0;
	dataset->time_attribute = pe_row_text(row, "time_attribute");
	dataset->time_type = pe_row_text(row, "time_type");
	dataset->time_number = (AttrNumber) pe_row_int64(row, "time_attnum");
	dataset->append_only = pe_row_bool(row, "append_only");
	dataset->held = pe_row_bool(row, "held");
	dataset->max_blocks = (int) pe_row_int64(row, "max_blocks");
	dataset->block_months = (int) pe_row_int64(row, "block_months");
	dataset->block_days = (int) pe_row_int64(row, "block_days");
	dataset->block_zone = pe_row_text(row, "block_zone");
	dataset->epsilon = pe_row_float8(row, "epsilon");
	dataset->delta = pe_row_float8(row, "delta");
	dataset->delta_share = pe_row_float8(row, "delta_share");
	dataset->limit = pe_limit_of_row(row);
	dataset->spent = pe_spent_of_row(row);
	dataset->version = (int) pe_row_int64(row, "version");
	dataset->declared_version = (int) pe_row_int64(row, "declared_version");
	dataset->declarations = (int) pe_row_int64(row, "declarations");
	dataset->min_count = (int) pe_row_int64(row, "min_count");
	dataset->example_schema = pe_row_text(row, "example_schema");
	dataset->example_name = pe_row_text(row, "example_name");
	dataset->public_id = pe_row_text(row, "public_id");
	dataset->identity = pe_row_text(row, "identity");
	dataset->dropped = pe_row_bool(row, "dropped");
	dataset->frozen = pe_identity_is_frozen(dataset->identity, dataset->relation);
	dataset->changed_here = pe_row_changed_here(row);
	dataset->view_identity = pe_row_text(row, "view_identity");
	if (dataset->view_identity != NULL)
	{
		dataset->view_key = pe_row_texts(row, "view_keys", &dataset->view_keys);
		dataset->view_function = pe_row_texts(row, "view_functions", &dataset->view_functions);
		dataset->view_setting = pe_row_texts(row, "view_settings", &dataset->view_settings);
		dataset->never_fails = pe_row_bool(row, "never_fails");
		dataset->max_rows_read = (int) pe_row_int64(row, "max_rows_read");
	}
	dataset->cap_id = pe_row_int64(row, "cap_id");
	if (dataset->cap_id != 0)
		take_cap(dataset);
	else
		dataset->cap_id = dataset->id;
	return dataset;
}

/* Every dataset there is or was, the newest first. */
static List *
all_datasets(void)
{
	List	   *datasets = NIL;
	ListCell   *cell;

	foreach(cell, pe_rows("dataset", "dataset_pkey", NULL, 0))
		datasets = lcons(pe_dataset_of_row(lfirst(cell)), datasets);
	return datasets;
}

/* The row of a dataset that is registered under a name; NULL if there is none. */
pe_row *
pe_dataset_row(const char *name)
{
	Datum		key[1] = {CStringGetTextDatum(name)};

	return pe_row_last("dataset", "dataset_name", key, 1);
}

/* The name of a registered dataset that was perhaps meant: everybody may list them; NULL if none is like it. */
static char *
similar_name(const char *name)
{
	List	   *rows = pe_rows("dataset", "dataset_pkey", NULL, 0);
	char	  **names = palloc((list_length(rows) + 1) * sizeof(char *));
	int			count = 0;
	int			found;
	ListCell   *cell;

	foreach(cell, rows)
		if (!pe_row_bool(lfirst(cell), "dropped"))
			names[count++] = pe_row_text(lfirst(cell), "dataset");
	found = pe_similar_text(name, names, count);
	return found < 0 ? NULL : names[found];
}

static void __attribute__((noreturn))
refuse_unknown(const char *name)
{
	char	   *similar = similar_name(name);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("dataset \"%s\" does not exist", name),
			 similar != NULL ? errhint("Perhaps you meant \"%s\". The view dp.datasets lists the datasets.", similar)
			 : errhint("The view dp.datasets lists the datasets.")));
	pg_unreachable();
}

pe_dataset *
pe_dataset_load(const char *name)
{
	char		unquoted[PE_NAME_SIZE];
	pe_row	   *row;

	pe_access_check_serial();
	row = pe_dataset_row(name);
	if (row == NULL && pe_text_unquote(name, unquoted))
		row = pe_dataset_row(unquoted);
	if (row == NULL)
		refuse_unknown(name);
	if (pe_promotion_await(pe_row_text(row, "identity"), (Oid) pe_row_int64(row, "relation_oid")))
		return pe_dataset_recall(pe_row_int64(row, "id"));
	return pe_dataset_of_row(row);
}

pe_dataset *
pe_dataset_of_cap(const pe_dataset *dataset)
{
	return pe_dataset_recall(dataset->cap_id);
}

void
pe_dataset_cut_to(pe_dataset *dataset, int rows)
{
	if (rows < 1 || rows > dataset->max_rows)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rows_per_unit must be from 1 to %d, the max_rows of dataset \"%s\"", dataset->max_rows,
						dataset->name),
				 dataset->unit == NULL ? errdetail("The dataset has no unit: each row is protected by itself.") : 0));
	dataset->max_rows = rows;
}

pe_dataset *
pe_dataset_load_by_id(int64 id)
{
	Datum		key[1] = {Int64GetDatum(id)};
	pe_row	   *row = pe_row_last("dataset", "dataset_pkey", key, 1);

	return row != NULL && !pe_row_bool(row, "dropped") ? pe_dataset_of_row(row) : NULL;
}

pe_dataset *
pe_dataset_recall(int64 id)
{
	Datum		key[1] = {Int64GetDatum(id)};
	pe_row	   *row = pe_row_last("dataset", "dataset_pkey", key, 1);

	return row != NULL ? pe_dataset_of_row(row) : NULL;
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

double
pe_epsilon_of_nano(pe_accounting accounting, int64 nano, double delta, double delta_share)
{
	if (accounting == PE_PURE)
		return nano / 1e9;
	return pe_epsilon_of_rho(accounting, nano * 1e-9, pe_delta_of_conversion(delta, delta_share));
}

void
pe_check_share(pe_amount spent, double delta_share, double asked)
{
	pe_amount	nothing = {0};

	if (delta_share != asked && !pe_filter_accepts(nothing, spent, nothing))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("delta_share cannot change once something was spent"),
				 errdetail("%s was spent with delta_share %g.", pe_spending(spent), delta_share),
				 errhint("Use delta_share => %.15g.", delta_share)));
}

char *
pe_spending(pe_amount spent)
{
	return spent.epsilon_nano > 0 ? psprintf("epsilon %g", spent.epsilon_nano * 1e-9)
		: psprintf("rho %g", spent.rho_nano * 1e-9);
}

double
pe_dataset_epsilon_left(const pe_dataset *dataset)
{
	int64		nano = pe_nano_left(pe_amount_less(dataset->limit, dataset->spent), dataset->accounting);

	return pe_epsilon_of_nano(dataset->accounting, nano, dataset->delta, dataset->delta_share);
}

void
pe_dataset_check_there(const pe_dataset *dataset)
{
	if (!dataset->frozen && !OidIsValid(pe_relation_owner(dataset->relation)))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the table of dataset \"%s\" is gone", dataset->name),
				 errhint("The owner can let the dataset continue with another table, by dp.move_dataset, "
						 "or end it, by dp.drop_dataset.")));
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

pe_dataset *
pe_dataset_load_own(const char *name)
{
	pe_dataset *dataset = pe_dataset_load(name);

	pe_dataset_check_owner(dataset);
	return dataset;
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

/* ------------------------------------------------------------------
 * Others with rows in common
 * ------------------------------------------------------------------
 */

static int
newest_first(const ListCell *a, const ListCell *b)
{
	int64		i = ((const pe_dataset *) lfirst(a))->id;
	int64		j = ((const pe_dataset *) lfirst(b))->id;

	return (i < j) - (i > j);
}

/* Added to a list if it is of here. */
static List *
add_dataset(List *datasets, pe_dataset *dataset)
{
	ListCell   *cell;

	if (dataset == NULL || dataset->frozen)
		return datasets;
	foreach(cell, datasets)
		if (((pe_dataset *) lfirst(cell))->id == dataset->id)
			return datasets;
	return lappend(datasets, dataset);
}

/* The datasets of a table, or of views that have it as a private one, added to a list. */
static List *
add_datasets(List *datasets, Oid relation)
{
	Datum		key[1] = {ObjectIdGetDatum(relation)};
	ListCell   *cell;

	foreach(cell, pe_rows("dataset", "dataset_relation", key, 1))
		datasets = add_dataset(datasets, pe_dataset_of_row(lfirst(cell)));
	foreach(cell, pe_families_of_table(relation, false))
		datasets = add_dataset(datasets, pe_dataset_recall(*(int64 *) lfirst(cell)));
	return datasets;
}

List *
pe_datasets_of_family(Oid relation)
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
	ListCell   *inner;

	foreach(cell, pe_families_private(dataset))
		foreach(inner, pe_datasets_of_family(lfirst_oid(cell)))
		{
			pe_dataset *other = lfirst(inner);

			if (!other->dropped && other->cap_id != dataset->cap_id && pe_families_entitled(other, lfirst_oid(cell)))
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						 errmsg("datasets \"%s\" and \"%s\" have rows in common", dataset->name, other->name),
						 errdetail("One of their tables came to inherit from the other."),
						 errhint("The owner can drop one of them.")));
		}
	if (dataset->view_identity != NULL)
		pe_families_check(dataset, pe_families_of(dataset));
}

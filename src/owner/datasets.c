/*
 * datasets.c
 *	  What the owner of a table calls: datasets and budgets (attributes.c has the rest).
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#include "accounting/filter.h"
#include "server/arguments.h"
#include "owner/changes.h"
#include "owner/views.h"
#include "server/access.h"
#include "ledger/budget.h"
#include "ledger/relation.h"
#include "server/settings.h"
#include "server/values.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "ledger/example.h"
#include "ledger/families.h"
#include "ledger/time.h"
#include "view/proof.h"

/* Default of dp.create_dataset. */
#define CAP_DELTA 1e-9

/* So many columns that could be the unit are named. */
#define MOST_NAMED 6

PG_FUNCTION_INFO_V1(pe_sql_create_dataset);
PG_FUNCTION_INFO_V1(pe_sql_drop_dataset);
PG_FUNCTION_INFO_V1(pe_sql_move_dataset);
PG_FUNCTION_INFO_V1(pe_sql_new_version);
PG_FUNCTION_INFO_V1(pe_sql_set_min_count);
PG_FUNCTION_INFO_V1(pe_sql_set_example);
PG_FUNCTION_INFO_V1(pe_sql_grant_budget);
PG_FUNCTION_INFO_V1(pe_sql_revoke_budget);
PG_FUNCTION_INFO_V1(pe_sql_is_frozen);
PG_FUNCTION_INFO_V1(pe_sql_is_owner);
PG_FUNCTION_INFO_V1(pe_sql_is_payer);

/* ------------------------------------------------------------------
 * Datasets
 * ------------------------------------------------------------------
 */

static void
check_budget_numbers(pe_accounting accounting, double epsilon, double delta, double delta_share)
{
	pe_amount	limit;

	pe_check_epsilon(epsilon);
	if (accounting != PE_PURE)
		pe_check_delta(delta);
	limit = pe_budget_limit(accounting, epsilon, delta, delta_share);
	if (limit.rho_nano == 0 && limit.epsilon_nano == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon %g at delta %g admits no charge", epsilon, delta)));
}

/*
 * delta or delta_share of a cap or a budget: as given, else the default; 0 in
 * pure accounting, which admits no other.
 */
static double
delta_argument(FunctionCallInfo fcinfo, int n, const char *name, pe_accounting accounting, double by_default)
{
	double		delta = PG_ARGISNULL(n) ? by_default : PG_GETARG_FLOAT8(n);

	if (accounting != PE_PURE)
		return delta;
	if (delta != 0 && delta != by_default)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s does not go with pure accounting", name),
				 errdetail("It counts epsilon alone, and delta is 0."),
				 errhint("Leave %s out.", name)));
	return 0;
}

static double
share_argument(FunctionCallInfo fcinfo, int n, pe_accounting accounting, double by_default)
{
	double		share = delta_argument(fcinfo, n, "delta_share", accounting, by_default);

	if (!pe_share_valid(accounting, share))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta_share must be a number of at least 0 and below 1"),
				 errdetail("It is the part of delta for charges with a delta of their own; "
						   "the rest turns rho into epsilon.")));
	return share;
}

static char *
neighbours_argument(FunctionCallInfo fcinfo, int n)
{
	char	   *neighbours = pe_text_argument(fcinfo, n, "neighbours");

	if (strcmp(neighbours, "add_remove") != 0 &&
		strcmp(neighbours, "substitute") != 0 && strcmp(neighbours, "values") != 0)
		pe_refuse_parameter("neighbours", neighbours, "add_remove, substitute or values");
	return neighbours;
}

static void
check_unit(const pe_dataset *declared)
{
	if (declared->max_rows < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_rows must be at least 1")));
	if (declared->unit == NULL && declared->max_rows != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_rows must be 1 where each row is a unit")));
	if (declared->unit != NULL)
		(void) pe_unit_column_type(declared->relation, declared->unit);
}

/* Names as "x", "y" and "z", the first few of them. */
static char *
list_of_names(List *names)
{
	StringInfoData list;
	int			shown = Min(list_length(names), MOST_NAMED);

	initStringInfo(&list);
	for (int i = 0; i < shown; i++)
		appendStringInfo(&list, "%s\"%s\"", i == 0 ? "" : i == list_length(names) - 1 ? " and " : ", ",
						 (char *) list_nth(names, i));
	if (list_length(names) > shown)
		appendStringInfo(&list, " and %d more", list_length(names) - shown);
	return list.data;
}

/*
 * Says what is protected where more could be expected: each row, or one row of
 * each unit.  By the catalog, not by rows.
 */
static void
tell_unit(const pe_dataset *declared, bool max_rows_given)
{
	bool		is_key = declared->unit != NULL && pe_relation_is_key(declared->relation, declared->unit);
	bool		person = false;
	List	   *names = declared->unit == NULL || is_key
		? pe_relation_pointers(declared->relation, declared->unit, &person) : NIL;

	if (names != NIL)
		ereport(NOTICE,
				(errmsg("each row is protected by itself; if a person has several rows, give unit => %s",
						person ? quote_literal_cstr(linitial(names)) : "the column that says whose a row is"),
				 errdetail("Several rows of table \"%s\" may have the same value of %s.",
						   get_rel_name(declared->relation), list_of_names(names)),
				 errhint("The unit is the column that says whose a row is; max_rows says how many rows of each count. "
						 "While nothing is charged, dp.drop_dataset and dp.create_dataset change both.")));
	if (declared->unit != NULL && !max_rows_given && !is_key)
		ereport(NOTICE,
				(errmsg("max_rows is 1: one row of each \"%s\" counts", declared->unit),
				 errhint("Give max_rows => n to count up to n rows of each, or max_rows => 1 to confirm. "
						 "dp.rows_per_unit answers how many rows they have.")));
}

/* What says how values move: private_column, max_change and change, arguments n and on. */
static void
check_no_values(FunctionCallInfo fcinfo, int n)
{
	if (!PG_ARGISNULL(n) || !PG_ARGISNULL(n + 1) || !PG_ARGISNULL(n + 2))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("private_column, max_change and change go with neighbours => 'values'")));
}

static void
values_arguments(FunctionCallInfo fcinfo, int n, pe_dataset *declared)
{
	char	   *change = PG_ARGISNULL(n + 2) ? "one" : pe_text_argument(fcinfo, n + 2, "change");

	if (PG_ARGISNULL(n) || PG_ARGISNULL(n + 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neighbours => 'values' needs private_column and max_change"),
				 errhint("They name the protected column and the largest change of its values that stays hidden.")));
	declared->private_column = pstrdup(NameStr(*PG_GETARG_NAME(n)));
	declared->max_change = PG_GETARG_FLOAT8(n + 1);
	declared->change_all = strcmp(change, "all") == 0;
	if (!(declared->max_change > 0) || isinf(declared->max_change))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_change must be a finite number above 0")));
	if (!declared->change_all && strcmp(change, "one") != 0)
		pe_refuse_parameter("change", change, "one or all");
}

static void
check_values(const pe_dataset *declared)
{
	if (declared->unit != NULL || declared->max_rows != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unit and max_rows do not go with neighbours => 'values'"),
				 errdetail("Rows are public then, and only the private column of each is protected.")));
	(void) pe_private_column_type(declared->relation, declared->private_column);
}

/* Whole days or whole months: blocks of anything else have no calendar. */
static void
block_argument(const Interval *block, pe_dataset *declared)
{
	if (block->time != 0 || block->day < 0 || block->month < 0 || (block->day > 0) == (block->month > 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block must be whole days, or whole months"),
				 errhint("Use '1 day', '7 days', '1 month', '3 months' or '1 year'.")));
	declared->block_days = block->day;
	declared->block_months = block->month;
}

static void
max_blocks_argument(FunctionCallInfo fcinfo, int n, pe_dataset *declared)
{
	if (PG_ARGISNULL(n) && declared->unit != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_blocks must be given where there is a unit"),
				 errdetail("It says in how many blocks a unit has rows at most. "
						   "Each of them may lose all that the cap allows."),
				 errhint("It is your promise; nothing enforces it.")));
	declared->max_blocks = PG_ARGISNULL(n) ? 1 : PG_GETARG_INT32(n);
	if (declared->max_blocks < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_blocks must be at least 1")));
	if (declared->unit == NULL && declared->max_blocks != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_blocks must be 1 where each row is a unit")));
}

/* What says how time is divided: block, block_column and max_blocks, arguments n and on. */
static void
blocks_arguments(FunctionCallInfo fcinfo, int n, pe_dataset *declared)
{
	if (PG_ARGISNULL(n) && PG_ARGISNULL(n + 1) && PG_ARGISNULL(n + 2))
		return;
	if (PG_ARGISNULL(n) || PG_ARGISNULL(n + 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block and block_column go together, and max_blocks with them"),
				 errhint("They say how long a block of time is, and which column says when a row arrived.")));
	if (pe_dataset_has_values(declared))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("blocks do not go with neighbours => 'values'"),
				 errdetail("Rows are public then, and what is read of them is all of them.")));
	block_argument(PG_GETARG_INTERVAL_P(n), declared);
	max_blocks_argument(fcinfo, n + 2, declared);
	declared->time_attribute = pstrdup(NameStr(*PG_GETARG_NAME(n + 1)));
	declared->block_zone = pstrdup(GetConfigOption("TimeZone", false, false));
}

static void
check_relation_owner(Oid relation)
{
	Oid			owner = pe_relation_owner(relation);

	if (!OidIsValid(owner))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	if (!has_privs_of_role(GetUserId(), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", get_rel_name(relation))));
}

/* Names of columns as SQL writes them, in double quotes or not. */
static void
take_columns(pe_dataset *declared)
{
	char	  **name[] = {&declared->unit, &declared->private_column, &declared->time_attribute};

	for (int i = 0; i < lengthof(name); i++)
		if (*name[i] != NULL)
			*name[i] = pe_column_as_given(declared->relation, *name[i]);
}

/* A foreign server can fail over a single row, which no noise of ours hides. */
static void
warn_of_foreign_rows(Oid relation)
{
	ListCell   *cell;

	foreach(cell, find_all_inheritors(relation, NoLock, NULL))
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_FOREIGN_TABLE)
		{
			ereport(WARNING,
					(errmsg("table \"%s\" is foreign", get_rel_name(lfirst_oid(cell))),
					 errdetail("If its server fails over a row, the answer is that of an empty table: "
							   "whether such a row is there is not protected."),
					 errhint("Register a table whose rows can all be read.")));
			return;
		}
}

/*
 * ALTER DOMAIN ... ADD CHECK hands every value of a domain to a function of the
 * domain's owner, with or without the right to read it.
 */
static void
warn_of_domains(Oid relation)
{
	char	   *column;
	char	   *owner;

	if (pe_relation_has_domain_of_other(relation, &column, &owner))
		ereport(WARNING,
				(errmsg("column \"%s\" is of a domain that belongs to role \"%s\"", column, owner),
				 errdetail("The owner of a domain can see the values of its columns, "
						   "by ALTER DOMAIN ... ADD CHECK, without a privilege on the table."),
				 errhint("Use ALTER DOMAIN ... OWNER TO, or another type.")));
}

/* PostgreSQL shows every role the size of each table and index. */
static void
warn_of_sizes(Oid relation)
{
	char	   *partial = pe_relation_partial_index(relation);

	if (get_rel_relkind(relation) == RELKIND_PARTITIONED_TABLE ||
		list_length(find_all_inheritors(relation, NoLock, NULL)) > 1)
		ereport(WARNING,
				(errmsg("table \"%s\" has its rows in several tables", get_rel_name(relation)),
				 errdetail("How many are in each is open to every role, in pg_class and by pg_relation_size."),
				 errhint("Let nothing private decide in which of them a row is.")));
	if (partial != NULL)
		ereport(WARNING,
				(errmsg("index \"%s\" has a condition", partial),
				 errdetail("How many rows meet it is open to every role, in pg_class: an exact count."),
				 errhint("Use an index over all rows.")));
}

/* Row security restricts neither the owner nor a dataset, which reads the rows as the owner. */
static void
warn_of_policies(Oid relation)
{
	if (pe_relation_has_policies(relation))
		ereport(WARNING,
				(errmsg("row level security of table \"%s\" does not bind a dataset", get_rel_name(relation)),
				 errdetail("A dataset counts all rows, as the owner of the table sees them. "
						   "Policies do not hide rows from it."),
				 errhint("Register a table that has only the rows that may be counted.")));
}

/* Parts of one table can be datasets with a cap each. */
static void
warn_of_parts(Oid relation)
{
	Oid			whole = pe_relation_whole(relation);

	if (OidIsValid(whole))
		ereport(WARNING,
				(errmsg("table \"%s\" is a part of table \"%s\"", get_rel_name(relation), get_rel_name(whole)),
				 errdetail("Rows in other parts are not counted. "
						   "Each part that is a dataset has a cap of its own, and a person may have rows in several."),
				 errhint("Register \"%s\", and let a predicate choose the rows.", get_rel_name(whole))));
}

/* What a dataset of the relation does not protect, by the catalog alone. */
static void
warn_of_relation(Oid relation)
{
	warn_of_foreign_rows(relation);
	warn_of_domains(relation);
	warn_of_sizes(relation);
	warn_of_policies(relation);
	warn_of_parts(relation);
}

Datum
pe_sql_create_dataset(PG_FUNCTION_ARGS)
{
	pe_dataset	declared = {0};
	List	   *public_tables = NIL;
	ListCell   *cell;

	declared.name = pe_text_argument(fcinfo, 0, "dataset");
	declared.relation = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	declared.epsilon = PG_ARGISNULL(2) ? 0 : PG_GETARG_FLOAT8(2);
	declared.accounting = pe_accounting_argument(fcinfo, 7);
	declared.delta = delta_argument(fcinfo, 3, "delta", declared.accounting, CAP_DELTA);
	declared.delta_share = share_argument(fcinfo, 8, declared.accounting, pe_default_share(declared.accounting));
	declared.neighbours = neighbours_argument(fcinfo, 4);
	declared.unit = PG_ARGISNULL(5) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(5)));
	declared.max_rows = PG_ARGISNULL(6) ? 1 : PG_GETARG_INT32(6);
	if (pe_dataset_has_values(&declared))
		values_arguments(fcinfo, 9, &declared);
	else
		check_no_values(fcinfo, 9);
	blocks_arguments(fcinfo, 12, &declared);
	pe_cap_argument(fcinfo, 15, &declared);

	if (!OidIsValid(declared.relation))
		pe_refuse_null("relation");
	if (PG_ARGISNULL(3) && declared.accounting != PE_PURE)
		pe_refuse_null("delta");
	if (declared.name[0] == '\0')
		pe_refuse_parameter("dataset", declared.name, "a name that is not empty");
	check_relation_owner(declared.relation);
	check_budget_numbers(declared.accounting, declared.epsilon, declared.delta, declared.delta_share);
	pe_relation_check(declared.relation, pe_view_is_view(declared.relation));
	take_columns(&declared);
	pe_view_arguments(fcinfo, 16, &declared, &public_tables);
	if (pe_view_is_view(declared.relation))
		pe_view_declare(&declared, public_tables);
	foreach(cell, pe_families_private(&declared))
	{
		pe_relation_check(lfirst_oid(cell), false);
		warn_of_relation(lfirst_oid(cell));
	}
	if (pe_dataset_has_values(&declared))
		check_values(&declared);
	else
		check_unit(&declared);
	pe_cap_check_unit(&declared);
	if (declared.max_blocks > 0)
		declared.time_type = pe_type_name(pe_time_column_type(&declared, declared.time_attribute));
	pe_dataset_register(&declared);
	if (declared.view_identity != NULL)
		pe_view_tell(&declared);
	if (!pe_dataset_has_values(&declared))
		tell_unit(&declared, !PG_ARGISNULL(6));
	PG_RETURN_VOID();
}

Datum
pe_sql_drop_dataset(PG_FUNCTION_ARGS)
{
	pe_dataset_unregister(pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset")));
	PG_RETURN_VOID();
}

/* Who owns the table owns what is said of it: a move hands neither to another role. */
static void
check_same_owner(const pe_dataset *dataset, Oid relation)
{
	Oid			owner = pe_relation_owner(dataset->relation);

	if (!OidIsValid(owner))
		owner = get_role_oid(dataset->owner, true);
	if (owner != pe_relation_owner(relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has another owner than dataset \"%s\"", get_rel_name(relation), dataset->name),
				 errhint("Use ALTER TABLE ... OWNER TO.")));
}

Datum
pe_sql_move_dataset(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));
	Oid			relation = PG_GETARG_OID(1);
	char	   *reason = pe_text_argument(fcinfo, 2, "reason");

	if (reason[0] == '\0')
		pe_refuse_parameter("reason", reason, "a text that is not empty");
	LockRelationOid(relation, AccessShareLock);	/* what is checked stays so until the transaction ends */
	check_relation_owner(relation);
	check_same_owner(dataset, relation);
	if (dataset->frozen)
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("dataset \"%s\" is frozen", dataset->name),
				 errhint("The owner of the table lifts the freeze with dp.attest.")));
	pe_relation_check(relation, pe_view_is_view(relation));
	pe_view_move(dataset, relation);
	if (dataset->view_identity == NULL)
		warn_of_relation(relation);
	pe_dataset_move(dataset, relation, reason);
	pe_changes_tell(dataset->name);
	PG_RETURN_VOID();
}

Datum
pe_sql_new_version(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));

	if (dataset->view_identity != NULL && !dataset->frozen)
		pe_view_renew(dataset);
	PG_RETURN_INT32(pe_dataset_new_version(dataset));
}

Datum
pe_sql_set_min_count(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));
	int			units = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT32(1);

	pe_dataset_check_rows(dataset);
	if (!PG_ARGISNULL(1) && units < 1)
		pe_refuse_parameter("k", psprintf("%d", units), "at least 1, or NULL: groups of any size are shown");
	pe_dataset_set_min_count(dataset, units);
	PG_RETURN_VOID();
}

Datum
pe_sql_set_example(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset"));
	Oid			relation = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);

	if (OidIsValid(relation))
		pe_example_check_declared(dataset, relation);
	pe_dataset_set_example(dataset, relation);
	PG_RETURN_VOID();
}

Datum
pe_sql_is_frozen(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(pe_identity_is_frozen(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1)));
}

Datum
pe_sql_is_owner(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(pe_is_owner(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1),
							   text_to_cstring(PG_GETARG_TEXT_PP(2)), pe_access_asker()));
}

Datum
pe_sql_is_payer(PG_FUNCTION_ARGS)
{
	bool		frozen = pe_identity_is_frozen(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1));

	PG_RETURN_BOOL(pe_is_payer(frozen, PG_GETARG_OID(2), text_to_cstring(PG_GETARG_TEXT_PP(3)), pe_access_asker()));
}

/* ------------------------------------------------------------------
 * Budgets
 * ------------------------------------------------------------------
 */

/* A pure charge can be counted by every cap, one in rho by a cap of its own accounting alone. */
static void
check_fits_cap(const pe_dataset *dataset, pe_accounting accounting, double share, bool overcommit)
{
	const char *cap = pe_accounting_name(dataset->accounting);

	if (accounting == dataset->accounting && share > 0 && dataset->delta_share == 0 && !overcommit)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cap of dataset \"%s\" keeps no delta for charges", dataset->name),
				 errhint("Leave delta_share out.")));
	if (accounting == PE_PURE || accounting == dataset->accounting)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 dataset->accounting == PE_PURE
			 ? errmsg("the cap of dataset \"%s\" admits pure budgets only", dataset->name)
			 : errmsg("the cap of dataset \"%s\" admits %s and pure budgets only", dataset->name, cap),
			 errhint("Use accounting => '%s'.", cap)));
}

/* The epsilon that one request may cost, at the budget's delta for rho; 0: no limit. */
static double
most_argument(FunctionCallInfo fcinfo, int n, pe_accounting accounting, double delta, double delta_share)
{
	double		most = PG_ARGISNULL(n) ? 0 : PG_GETARG_FLOAT8(n);
	pe_amount	limit = pe_budget_limit(accounting, most, delta, delta_share);

	if (!PG_ARGISNULL(n) && limit.rho_nano <= 0 && limit.epsilon_nano <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("most_per_request %g admits no request", most),
				 errhint("It is an epsilon above 0 and at most %g; NULL: no limit.", PE_EPSILON_MAX)));
	return most;
}

static bool
per_block_argument(FunctionCallInfo fcinfo, int n)
{
	if (PG_ARGISNULL(n))
		pe_refuse_null("per_block");
	return PG_GETARG_BOOL(n);
}

static void
check_per_block(const pe_dataset *dataset, pe_accounting accounting, bool per_block)
{
	if (per_block && dataset->max_blocks == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dataset \"%s\" has no blocks of time", dataset->name),
				 errhint("dp.create_dataset takes block and block_column.")));
	if (per_block && accounting != dataset->accounting)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a budget per block has the accounting of the cap"),
				 errhint("Use accounting => '%s', or leave it out.", pe_accounting_name(dataset->accounting))));
}

Datum
pe_sql_grant_budget(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_dataset_of_cap(pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset")));
	double		epsilon = pe_float_argument(fcinfo, 2, "epsilon");
	pe_accounting accounting = PG_ARGISNULL(4) ? dataset->accounting : pe_accounting_argument(fcinfo, 4);
	bool		pure = accounting == PE_PURE;
	double		delta = delta_argument(fcinfo, 3, "delta", accounting, pure ? 0 : dataset->delta);
	double		share = share_argument(fcinfo, 5, accounting, pure ? 0 : dataset->delta_share);
	double		most;
	pe_grant	grant;

	if (PG_ARGISNULL(1))
		pe_refuse_null("grantee");
	if (PG_ARGISNULL(6))
		pe_refuse_null("overcommit");
	check_fits_cap(dataset, accounting, share, PG_GETARG_BOOL(6));
	check_budget_numbers(accounting, epsilon, delta, share);
	most = most_argument(fcinfo, 7, accounting, delta, share);
	check_per_block(dataset, accounting, per_block_argument(fcinfo, 8));
	grant = (pe_grant) {
		.role = pstrdup(NameStr(*PG_GETARG_NAME(1))), .epsilon = epsilon, .delta = delta, .delta_share = share,
		.accounting = accounting, .overcommit = PG_GETARG_BOOL(6),
		.most_per_request = most, .per_block = per_block_argument(fcinfo, 8)
	};
	grant.role_oid = get_role_oid(grant.role, false);
	pe_budget_set(dataset, &grant);
	PG_RETURN_VOID();
}

Datum
pe_sql_revoke_budget(PG_FUNCTION_ARGS)
{
	char	   *role = NameStr(*PG_GETARG_NAME(1));
	pe_dataset *dataset = pe_dataset_of_cap(pe_dataset_load_own(pe_text_argument(fcinfo, 0, "dataset")));

	if (!pe_budget_revoke(dataset, role, get_role_oid(role, false)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role \"%s\" has no budget on dataset \"%s\"", role, dataset->name)));
	PG_RETURN_VOID();
}

/*
 * owner.c
 *	  What the owner of a table calls: datasets and budgets (attribute.c has the rest).
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "accounting/filter.h"
#include "api/arguments.h"
#include "ledger/budget.h"
#include "ledger/door.h"
#include "ledger/registry.h"

/* Default of dp.create_dataset. */
#define CAP_DELTA 1e-9

PG_FUNCTION_INFO_V1(pe_sql_create_dataset);
PG_FUNCTION_INFO_V1(pe_sql_drop_dataset);
PG_FUNCTION_INFO_V1(pe_sql_new_version);
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
check_budget_numbers(const char *accounting, double epsilon, double delta)
{
	pe_cost		limit;

	pe_check_epsilon(epsilon);
	if (!pe_is_pure(accounting))
		pe_check_delta(delta);
	limit = pe_limit(accounting, epsilon, delta);
	if (limit.rho_nano == 0 && limit.epsilon_nano == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("epsilon %g at delta %g admits no charge", epsilon, delta)));
}

static char *
accounting_argument(FunctionCallInfo fcinfo, int n)
{
	char	   *accounting = pe_text_argument(fcinfo, n, "accounting");

	if (strcmp(accounting, "zcdp") != 0 && !pe_is_pure(accounting))
		pe_refuse_parameter("accounting", accounting, "zcdp or pure");
	return accounting;
}

/* The delta of a cap or a budget: given, else that by default; 0 in pure accounting, which admits no other. */
static double
delta_argument(FunctionCallInfo fcinfo, int n, const char *accounting, double by_default)
{
	double		delta = PG_ARGISNULL(n) ? by_default : PG_GETARG_FLOAT8(n);

	if (!pe_is_pure(accounting))
		return delta;
	if (delta != 0 && delta != by_default)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delta does not go with pure accounting"),
				 errdetail("It counts epsilon alone, and delta is 0."),
				 errhint("Leave delta out.")));
	return 0;
}

static void
check_neighbours(const char *neighbours)
{
	if (strcmp(neighbours, "add_remove") == 0 || strcmp(neighbours, "substitute") == 0)
		return;
	if (strcmp(neighbours, "values") == 0)
		pe_refuse_feature("this relation of neighbours", "Use neighbours => 'add_remove' or 'substitute'.");
	pe_refuse_parameter("neighbours", neighbours, "add_remove or substitute");
}

static void
check_unit(Oid relation, const char *unit, int max_rows)
{
	if (max_rows < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_rows must be at least 1")));
	if (unit == NULL && max_rows != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_rows must be 1 where each row is a unit")));
	if (unit != NULL)
		(void) pe_unit_column_type(relation, unit);
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
					 errdetail("If its server fails over a row, the answer is that of an empty table: whether such a row is there is not protected."),
					 errhint("Register a table whose rows can all be read.")));
			return;
		}
}

Datum
pe_sql_create_dataset(PG_FUNCTION_ARGS)
{
	char	   *name = pe_text_argument(fcinfo, 0, "dataset");
	Oid			relation = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	double		epsilon = pe_float_argument(fcinfo, 2, "epsilon");
	char	   *accounting = accounting_argument(fcinfo, 7);
	double		delta = delta_argument(fcinfo, 3, accounting, CAP_DELTA);
	char	   *neighbours = pe_text_argument(fcinfo, 4, "neighbours");
	char	   *unit = PG_ARGISNULL(5) ? NULL : NameStr(*PG_GETARG_NAME(5));
	int			max_rows = PG_ARGISNULL(6) ? 1 : PG_GETARG_INT32(6);

	if (!OidIsValid(relation))
		pe_refuse_null("relation");
	if (PG_ARGISNULL(3) && !pe_is_pure(accounting))
		pe_refuse_null("delta");
	if (name[0] == '\0')
		pe_refuse_parameter("dataset", name, "a name that is not empty");
	check_relation_owner(relation);
	check_budget_numbers(accounting, epsilon, delta);
	check_neighbours(neighbours);
	if (!PG_ARGISNULL(8) || !PG_ARGISNULL(9) || !PG_ARGISNULL(10))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("private_column, max_change and change go with neighbours => 'values'")));
	pe_door_check_relation(relation);
	warn_of_foreign_rows(relation);
	check_unit(relation, unit, max_rows);
	pe_dataset_register(name, relation, epsilon, delta, unit, max_rows, neighbours, accounting);
	PG_RETURN_VOID();
}

Datum
pe_sql_drop_dataset(PG_FUNCTION_ARGS)
{
	pe_dataset_unregister(pe_own_dataset(pe_text_argument(fcinfo, 0, "dataset")));
	PG_RETURN_VOID();
}

Datum
pe_sql_new_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(pe_dataset_new_version(pe_own_dataset(pe_text_argument(fcinfo, 0, "dataset"))));
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
							   text_to_cstring(PG_GETARG_TEXT_PP(2)), GetUserId()));
}

Datum
pe_sql_is_payer(PG_FUNCTION_ARGS)
{
	bool		frozen = pe_identity_is_frozen(text_to_cstring(PG_GETARG_TEXT_PP(0)), PG_GETARG_OID(1));

	PG_RETURN_BOOL(pe_is_payer(frozen, PG_GETARG_OID(2), text_to_cstring(PG_GETARG_TEXT_PP(3)), GetUserId()));
}

/* ------------------------------------------------------------------
 * Budgets
 * ------------------------------------------------------------------
 */

/* A pure cap cannot count rho. */
static void
check_fits_cap(const pe_dataset *dataset, const char *accounting)
{
	if (pe_is_pure(dataset->accounting) && !pe_is_pure(accounting))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cap of dataset \"%s\" admits pure budgets only", dataset->name),
				 errhint("Use accounting => 'pure'.")));
}

Datum
pe_sql_grant_budget(PG_FUNCTION_ARGS)
{
	pe_dataset *dataset = pe_own_dataset(pe_text_argument(fcinfo, 1, "dataset"));
	double		epsilon = pe_float_argument(fcinfo, 2, "epsilon");
	char	   *accounting = accounting_argument(fcinfo, 4);
	double		delta = delta_argument(fcinfo, 3, accounting, pe_is_pure(accounting) ? 0 : dataset->delta);
	char	   *role;

	if (PG_ARGISNULL(0))
		pe_refuse_null("grantee");
	role = pstrdup(NameStr(*PG_GETARG_NAME(0)));
	check_fits_cap(dataset, accounting);
	check_budget_numbers(accounting, epsilon, delta);
	pe_budget_set(dataset, role, get_role_oid(role, false), epsilon, delta, accounting);
	PG_RETURN_VOID();
}

Datum
pe_sql_revoke_budget(PG_FUNCTION_ARGS)
{
	char	   *role = NameStr(*PG_GETARG_NAME(0));
	pe_dataset *dataset = pe_own_dataset(pe_text_argument(fcinfo, 1, "dataset"));

	if (!pe_budget_revoke(dataset, get_role_oid(role, false)))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("role \"%s\" has no budget on dataset \"%s\"", role, dataset->name)));
	PG_RETURN_VOID();
}

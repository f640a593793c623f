/*
 * budget.c
 *	  Budgets.  See budget.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "accounting/filter.h"
#include "server/access.h"
#include "ledger/acts.h"
#include "ledger/budget.h"
#include "ledger/time_blocks.h"
#include "server/row.h"

typedef struct candidate
{
	pe_budget	budget;
	bool		changed_here;
} candidate;

static void
candidate_of_row(const pe_row *row, candidate *c)
{
	c->budget.id = pe_row_int64(row, "id");
	c->budget.role = pe_row_text(row, "role_name");
	c->budget.role_oid = (Oid) pe_row_int64(row, "role_oid");
	c->budget.accounting = pe_accounting_of(pe_row_text(row, "accounting"));
	c->budget.epsilon = pe_row_float8(row, "epsilon");
	c->budget.delta = pe_row_float8(row, "delta");
	c->budget.delta_share = pe_row_float8(row, "delta_share");
	c->budget.limit = pe_limit_of_row(row);
	c->budget.spent = pe_spent_of_row(row);
	c->budget.most = pe_row_int64(row, "most");
	c->budget.per_block = pe_row_bool(row, "per_block");
	c->changed_here = pe_row_changed_here(row);
}

/* The ledger has the name at the last charge or grant, and the role may have another one since. */
static char *
name_now(bool frozen, const pe_budget *budget)
{
	char	   *name = frozen ? NULL : GetUserNameFromId(budget->role_oid, true);

	return name != NULL ? name : budget->role;
}

static int
by_role_name(const ListCell *a, const ListCell *b)
{
	return strcmp(pe_row_text(lfirst(a), "role_name"), pe_row_text(lfirst(b), "role_name"));
}

/* The role of a budget: by its OID, or by its name where the OIDs are of another cluster. */
static Oid
role_of(bool frozen, Oid role_oid, const char *role_name)
{
	return frozen ? get_role_oid(role_name, true) : role_oid;
}

/*
 * A superuser has the privileges of every role: a budget is open to him by
 * membership alone, or a test of his spends what is another's.
 */
static bool
may_spend(Oid user, Oid role)
{
	return superuser_arg(user) ? is_member_of_role_nosuper(user, role) : has_privs_of_role(user, role);
}

/*
 * The one who hears of a charge is not the one who pays it in a SECURITY
 * DEFINER function and in REFRESH MATERIALIZED VIEW.
 */
bool
pe_budget_is_told(const pe_dataset *dataset, const pe_budget *budget)
{
	Oid			session = GetSessionUserId();
	Oid			outer = GetOuterUserId();	/* what SET ROLE says */

	return superuser_arg(session) || may_spend(session, budget->role_oid) || may_spend(outer, budget->role_oid) ||
		pe_dataset_owned_by(dataset, outer);
}

bool
pe_is_payer(bool frozen, Oid role_oid, const char *role_name, Oid user)
{
	Oid			role = role_of(frozen, role_oid, role_name);

	return OidIsValid(role) && may_spend(user, role);
}

static List *
rows_of(const pe_dataset *dataset)
{
	Datum		key[1] = {Int64GetDatum(dataset->cap_id)};
	List	   *rows;

	pe_access_check_serial();
	rows = pe_rows("budget", "budget_dataset_id_role_oid_key", key, 1);
	list_sort(rows, by_role_name);
	return rows;
}

/* The budgets that the current user could draw on; his own alone, if he has one. */
static candidate *
load_candidates(const pe_dataset *dataset, const char *role, int *count)
{
	Oid			user = GetUserId();
	Oid			picked = role != NULL ? get_role_oid(role, true) : InvalidOid;
	List	   *rows = rows_of(dataset);
	candidate  *candidates = palloc0((list_length(rows) + 1) * sizeof(*candidates));
	ListCell   *cell;
	int			n = 0;

	foreach(cell, rows)
	{
		candidate	c;
		Oid			of;

		candidate_of_row(lfirst(cell), &c);
		of = role_of(dataset->frozen, c.budget.role_oid, c.budget.role);
		if (!pe_is_payer(dataset->frozen, c.budget.role_oid, c.budget.role, user) || (role != NULL && of != picked))
			continue;
		c.budget.role = name_now(dataset->frozen, &c.budget);
		if (role == NULL && of == user)
		{
			candidates[0] = c;
			n = 1;
			break;
		}
		candidates[n++] = c;
	}
	*count = n;
	return candidates;
}

static char *
role_list(const candidate *candidates, int count)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < count; i++)
		appendStringInfo(&list, "%s\"%s\"", i > 0 ? ", " : "", candidates[i].budget.role);
	return list.data;
}

/* The ledger has the name of who asks, and must not have one that a ROLLBACK takes away again. */
static void
check_role_committed(void)
{
	HeapTuple	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	bool		changed = !HeapTupleIsValid(tuple) ||
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (changed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the current role was created or changed in this transaction"),
				 errdetail("Charges are committed in another transaction, which cannot see the change."),
				 errhint("COMMIT first.")));
}

pe_budget *
pe_budget_choose(const pe_dataset *dataset, const char *role)
{
	int			count;
	candidate  *candidates = load_candidates(dataset, role, &count);

	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 role == NULL
				 ? errmsg("you have no budget on dataset \"%s\"", dataset->name)
				 : errmsg("role \"%s\" has no budget on dataset \"%s\" that you may use", role, dataset->name),
				 superuser() ? errhint("A superuser spends no budget of a role that he is not a member of. Use SET "
									   "ROLE, or grant one with dp.grant_budget.")
				 : errhint("The owner of the table grants one with dp.grant_budget.")));
	if (count > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("several budgets on dataset \"%s\" are open to you", dataset->name),
				 errdetail("They were granted to the roles %s.", role_list(candidates, count)),
				 errhint("Choose one with budget => 'role'.")));
	if (candidates[0].changed_here)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the budget of role \"%s\" on dataset \"%s\" was changed in this transaction",
						candidates[0].budget.role, dataset->name),
				 errdetail("Charges are committed in another transaction, which cannot see the change."),
				 errhint("COMMIT first.")));
	check_role_committed();
	return &candidates[0].budget;
}

pe_budget *
pe_budget_find(const pe_dataset *dataset, const char *role)
{
	int			count;
	candidate  *candidates = load_candidates(dataset, role, &count);

	return count == 1 ? &candidates[0].budget : NULL;
}

List *
pe_budgets_seen(const pe_dataset *dataset)
{
	bool		owner = pe_dataset_owned_by(dataset, GetUserId());
	List	   *seen = NIL;
	ListCell   *cell;

	foreach(cell, rows_of(dataset))
	{
		candidate  *c = palloc(sizeof(*c));

		candidate_of_row(lfirst(cell), c);
		if (owner || pe_is_payer(dataset->frozen, c->budget.role_oid, c->budget.role, GetUserId()))
			seen = lappend(seen, &c->budget);
	}
	return seen;
}

int64
pe_budget_left_after(const pe_budget *budget, pe_amount charge)
{
	pe_amount	left = pe_amount_less(budget->limit, budget->spent);

	if (!pe_filter_allows(budget->most, charge) || !pe_filter_accepts(budget->limit, budget->spent, charge))
		return -1;
	return pe_nano_left(pe_amount_less(left, charge), budget->accounting);
}

double
pe_budget_epsilon(const pe_budget *budget, int64 nano)
{
	return pe_epsilon_of_nano(budget->accounting, nano, budget->delta, budget->delta_share);
}

double
pe_budget_epsilon_left(const pe_budget *budget)
{
	pe_amount	nothing = {0};

	return pe_budget_epsilon(budget, Max(pe_budget_left_after(budget, nothing), 0));
}

/*
 * The limit of a budget that other grants have not counted.  What a
 * budget per block has spent in one block it may still spend in the others.
 */
static pe_amount
nothing_promised(const pe_budget *former)
{
	return former->per_block ? (pe_amount) {0} : former->spent;
}

/* The row of a role: by its OID, or by its name where the role of that row is gone and was made anew. */
static bool
find_row(const pe_dataset *dataset, const pe_grant *grant, pe_budget *former)
{
	static pe_statement find = {NULL, "SELECT id FROM dp_ledger.budget "
		"WHERE dataset_id = $1 AND (role_oid = $2 OR (role_name = $3 AND NOT EXISTS "
		"(SELECT FROM pg_catalog.pg_authid a WHERE a.oid = role_oid))) "
		"ORDER BY role_oid <> $2, coalesce(rho_spent, epsilon_spent) DESC FOR UPDATE OF budget", 3,
	{INT8OID, OIDOID, TEXTOID}};
	Datum		values[3] = {Int64GetDatum(dataset->id), ObjectIdGetDatum(grant->role_oid),
		CStringGetTextDatum(grant->role)};
	Datum		key[1];
	candidate	found;

	if (pe_access_write(&find, values, NULL) == 0)
		return false;
	key[0] = Int64GetDatum(pe_access_int64(0, 1));
	candidate_of_row(pe_row_last("budget", "budget_pkey", key, 1), &found);
	*former = found.budget;
	if (former->role_oid != grant->role_oid)
		former->limit = nothing_promised(former);	/* nobody could spend the rest, so no other grant counted it */
	return true;
}

/* Sets all three quantities.  One that the accounting does not count stays NULL. */
#define SET(what, value) what "_spent = CASE WHEN " what "_spent IS NOT NULL THEN " value " END, " \
	what "_limit = CASE WHEN " what "_limit IS NOT NULL THEN greatest(" what "_limit, " value ") END"

void
pe_budgets_total(int64 dataset_id, int64 budget_id)
{
	static pe_statement total = {NULL, "UPDATE dp_ledger.budget b "
		"SET per_block = false, " SET("rho", "s.rho") ", " SET("delta", "s.delta") ", "
		SET("epsilon", "s.epsilon") " FROM (SELECT o.id, coalesce(sum(c.rho), 0)::pg_catalog.int8 AS rho, "
									"coalesce(sum(c.delta), 0)::pg_catalog.int8 AS delta, "
		"coalesce(sum(c.epsilon), 0)::pg_catalog.int8 AS epsilon FROM dp_ledger.budget o "
		"LEFT JOIN dp_ledger.charge c ON c.budget_id = o.id AND c.dataset_id = $1 "
		"WHERE o.dataset_id = $1 AND o.per_block AND $2 IN (0, o.id) GROUP BY o.id) s "
		"WHERE b.id = s.id", 2, {INT8OID, INT8OID}};
	static pe_statement forget = {NULL, "DELETE FROM dp_ledger.block s USING dp_ledger.budget b "
		"WHERE s.dataset_id = $1 AND b.id = s.budget_id AND NOT b.per_block", 1,
	{INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), Int64GetDatum(budget_id)};

	(void) pe_access_write(&total, values, NULL);
	(void) pe_access_write(&forget, values, NULL);
}

/* A total becomes one of each block: the charges say what each has lost. */
static void
count_by_block(int64 dataset_id, int64 budget_id)
{
	static pe_statement mark = {NULL, "UPDATE dp_ledger.budget SET per_block = true WHERE id = $1", 1, {INT8OID}};
	static pe_statement write = {NULL, "UPDATE dp_ledger.budget "
		"SET " SET("rho", "$2") ", " SET("delta", "$3") ", " SET("epsilon", "$4") " WHERE id = $1", 4,
	{INT8OID, INT8OID, INT8OID, INT8OID}};
	Datum		values[4] = {Int64GetDatum(budget_id)};
	pe_amount	most;

	(void) pe_access_write(&mark, values, NULL);
	most = pe_time_blocks_rebuild(dataset_id, budget_id);
	values[1] = Int64GetDatum(most.rho_nano);
	values[2] = Int64GetDatum(most.delta_atto);
	values[3] = Int64GetDatum(most.epsilon_nano);
	(void) pe_access_write(&write, values, NULL);
}

/* The row as it is where it counts like the grant; what may be spent then was not promised. */
static void
count_like(const pe_dataset *dataset, const pe_grant *grant, pe_budget *former)
{
	if (former->per_block == grant->per_block)
		return;
	if (grant->per_block)
		count_by_block(dataset->id, former->id);
	else
		pe_budgets_total(dataset->id, former->id);
	(void) find_row(dataset, grant, former);
	former->limit = nothing_promised(former);
}

/*
 * Delta for charges: the budget's own share, but at most the part of the cap's that its
 * rho is of the cap's, and what the others leave.
 */
static int64
share_of_delta(const pe_dataset *dataset, pe_amount limit, int64 delta_spent, int64 available)
{
	int64		whole = dataset->limit.rho_nano;
	pe_i128		share = whole > 0 ? (pe_i128) dataset->limit.delta_atto * Min(limit.rho_nano, whole) / whole : 0;

	share = Min(share, delta_spent + Max(available, 0));
	return Min(limit.delta_atto, Max(delta_spent, (int64) share));
}

/* A budget that is raised, while all that may still be spent is more than is left of the cap. */
static void
check_within_cap(const pe_dataset *dataset, pe_amount promised, pe_amount cap_left, pe_amount unspent, pe_amount raised)
{
	if ((raised.rho_nano <= 0 && raised.delta_atto <= 0 && raised.epsilon_nano <= 0) ||
		pe_filter_accepts(cap_left, promised, pe_cap_amount(unspent, 0, dataset->accounting)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the budgets on dataset \"%s\" would exceed its cap together", dataset->name),
			 errdetail("Whether a charge fits into the cap would tell a role what others have spent."),
			 errhint("Grant less, revoke other budgets, or use overcommit => true.")));
}

static void
check_spent(const pe_grant *grant, pe_amount limit, const pe_budget *former)
{
	pe_amount	nothing = {0};
	pe_amount	spent = former->spent;
	pe_accounting accounting = former->accounting;

	if (pe_filter_accepts(nothing, spent, nothing))
		return;
	if (accounting != grant->accounting)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("role \"%s\" has spent of a budget with another accounting", grant->role),
				 errdetail("It spent %s, which cannot be carried over.", pe_spending(spent)),
				 errhint("Use accounting => '%s', or grant another role a budget.", pe_accounting_name(accounting))));
	pe_check_share(spent, former->delta_share, grant->delta_share);
	if (!pe_filter_accepts(limit, spent, nothing))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the budget is below what role \"%s\" has spent already", grant->role),
				 errdetail("It spent %s.", pe_spending(spent)),
				 errhint("dp.revoke_budget takes back what is not spent.")));
}

/* What was spent stays; nothing, where another accounting counted or the row is new. */
#define SPENT(what) \
	PE_SQL(what "_spent", present ? "CASE WHEN $" what "_limit IS NOT NULL THEN coalesce(" what "_spent, 0) END" \
		   : "0 * $" what "_limit")

static void
write_grant(const pe_dataset *dataset, const pe_grant *grant, pe_amount limit, bool present, int64 id)
{
	static pe_statement insert;
	static pe_statement update;
	bool		pure = grant->accounting == PE_PURE;
	bool		has_most = grant->most_per_request > 0;
	pe_amount	most = pe_budget_limit(grant->accounting, grant->most_per_request, grant->delta, grant->delta_share);
	pe_field	fields[] = {
		present ? PE_INT8("id", id) : PE_INT8("dataset_id", dataset->id),
		PE_TEXT("role_name", grant->role),
		PE_OID("role_oid", grant->role_oid),
		PE_TEXT("accounting", pe_accounting_name(grant->accounting)),
		PE_FLOAT8("epsilon", grant->epsilon),
		PE_FLOAT8("delta", grant->delta),
		PE_FLOAT8("delta_share", grant->delta_share),
		PE_LIMIT_FIELDS(grant->accounting, limit),
		SPENT("rho"), SPENT("delta"), SPENT("epsilon"),
		PE_IF(has_most, PE_FLOAT8("most_per_request", grant->most_per_request)),
		PE_IF(has_most, PE_INT8("most", pure ? most.epsilon_nano : most.rho_nano)),
		PE_BOOL("per_block", grant->per_block)
	};

	if (present)
		pe_access_update(&update, "budget", PE_FIELDS(fields), 1, "");
	else
		pe_access_insert(&insert, "budget", PE_FIELDS(fields), "");
}

void
pe_budget_set(const pe_dataset *dataset, const pe_grant *grant)
{
	pe_amount	limit = pe_budget_limit(grant->accounting, grant->epsilon, grant->delta, grant->delta_share);
	pe_budget	former = {0};
	pe_amount	promised;
	pe_amount	cap_left;
	pe_amount	counted = {0};	/* of what is spent, by which less may still be: of a fresh block nothing */
	pe_act		act;
	pe_access	access;
	bool		present;

	pe_act_begin(&act, dataset->id, PE_ACT_BUDGET, "grant_budget", grant->role);
	pe_access_begin(&access);
	pe_grants_lock(dataset->id);
	present = find_row(dataset, grant, &former);
	if (present)
		count_like(dataset, grant, &former);
	if (!grant->per_block)
		counted = former.spent;
	pe_grants_read(dataset->id, former.id, dataset->accounting, &promised, &cap_left);
	if (grant->accounting != PE_PURE && !grant->overcommit)
		limit.delta_atto = share_of_delta(dataset, limit, counted.delta_atto,
										  cap_left.delta_atto - promised.delta_atto);
	if (present)
		check_spent(grant, limit, &former);
	if (!grant->overcommit)
		check_within_cap(dataset, promised, cap_left, pe_amount_less(limit, counted),
						 pe_amount_less(limit, former.limit));
	write_grant(dataset, grant, limit, present, former.id);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

bool
pe_budget_revoke(const pe_dataset *dataset, const char *role, Oid role_oid)
{
	static pe_statement revoke = {NULL, "UPDATE dp_ledger.budget SET rho_limit = rho_spent, delta_limit = delta_spent, "
		"epsilon_limit = epsilon_spent "
		"WHERE dataset_id = $1 AND role_oid = $2", 2, {INT8OID, OIDOID}};
	static pe_statement find = {NULL, "SELECT id FROM dp_ledger.budget WHERE dataset_id = $1 "
		"AND role_oid = $2", 2, {INT8OID, OIDOID}};
	Datum		values[2] = {Int64GetDatum(dataset->id), ObjectIdGetDatum(role_oid)};
	pe_act		act;
	pe_access	access;
	bool		found;

	pe_act_begin(&act, dataset->id, PE_ACT_BUDGET, "revoke_budget", role);
	pe_access_begin(&access);
	if (dataset->max_blocks > 0 && pe_access_write(&find, values, NULL) > 0)
		pe_budgets_total(dataset->id, pe_access_int64(0, 1));
	found = pe_access_write(&revoke, values, NULL) > 0;
	pe_access_end(&access);
	if (found)
		pe_act_end(&act, NULL);
	return found;
}

void
pe_budgets_place(const pe_dataset *dataset, bool local)
{
	static pe_statement forget = {NULL, "UPDATE dp_ledger.budget SET role_oid = NULL "
		"WHERE dataset_id = $1 AND NOT ($2 AND EXISTS (SELECT FROM pg_catalog.pg_authid a "
		"WHERE a.oid = role_oid))", 2, {INT8OID, BOOLOID}};
	/* two rows under one name: one of them is of a role that was renamed, and nobody can say which */
	static pe_statement find = {NULL, "UPDATE dp_ledger.budget b SET role_oid = a.oid FROM pg_catalog.pg_authid a "
		"WHERE b.dataset_id = $1 AND b.role_oid IS NULL AND a.rolname = b.role_name AND NOT EXISTS "
		"(SELECT FROM dp_ledger.budget o WHERE o.dataset_id = $1 AND o.id <> b.id AND (o.role_name = b.role_name "
		"OR o.role_oid = a.oid))", 1,
	{INT8OID}};
	static pe_statement missing = {NULL, "SELECT role_name FROM dp_ledger.budget "
		"WHERE dataset_id = $1 AND role_oid IS NULL ORDER BY id", 1,
	{INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset->id), BoolGetDatum(local)};
	pe_access	access;
	uint64		rows;

	pe_access_begin(&access);
	pe_access_write(&forget, values, NULL);
	pe_access_write(&find, values, NULL);
	rows = pe_access_write(&missing, values, NULL);
	for (uint64 row = 0; row < rows && !dataset->dropped; row++)
		ereport(NOTICE,
				(errmsg("the budget of role \"%s\" on dataset \"%s\" cannot be used", pe_access_text(row, 1),
						dataset->name),
				 errdetail("There is no such role here, or several budgets were granted under its name."),
				 errhint("Create the role if need be and grant the budget again; what was spent is kept.")));
	pe_access_end(&access);
}

bool
pe_release_is_paid(int64 id, bool frozen, Oid role)
{
	static pe_statement payers = {NULL, "SELECT b.role_oid::int8, b.role_name FROM dp_ledger.release r "
		"JOIN dp_ledger.charge c ON c.id = r.charge_id OR c.release_id = r.id "
		"JOIN dp_ledger.budget b ON b.id = c.budget_id WHERE r.id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(id)};
	pe_access	access;
	bool		paid = false;
	uint64		rows;

	pe_access_begin_reading(&access);
	rows = pe_access_read(&payers, values, NULL);
	for (uint64 row = 0; row < rows && !paid; row++)
		paid = pe_is_payer(frozen, (Oid) pe_access_int64(row, 1), pe_access_text(row, 2), role);
	pe_access_end(&access);
	return paid;
}

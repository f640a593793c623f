/*
 * grants.c
 *	  What the budgets of a dataset may still charge its cap.  See budget.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lock.h"

#include "server/access.h"
#include "ledger/budget.h"
#include "server/settings.h"

void
pe_grants_lock(int64 dataset_id)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) (dataset_id >> 32), (uint32) dataset_id, PE_LOCK_GRANTS);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

/* So much that no cap has it, where a sum is beyond int64. */
static int64
sum_of(int64 a, int64 b)
{
	return a < 0 || b < 0 || a > PG_INT64_MAX - b ? PG_INT64_MAX : a + b;
}

/* Three columns of a row, from this one on. */
static pe_amount
cost_in(uint64 row, int column)
{
	return (pe_amount) {
		pe_access_int64(row, column), pe_access_int64(row, column + 1), pe_access_int64(row, column + 2)
	};
}

void
pe_grants_read(int64 dataset_id, int64 except, pe_accounting cap, pe_amount *promised, pe_amount *cap_left)
{
	static pe_statement read = {NULL, "SELECT d.rho_limit - d.rho_spent, d.delta_limit - d.delta_spent, d.epsilon_limit - d.epsilon_spent, "
		"b.rho_limit - b.rho_spent, b.delta_limit - b.delta_spent, b.epsilon_limit - b.epsilon_spent "
		"FROM dp_ledger.dataset d LEFT JOIN dp_ledger.budget b ON b.dataset_id = d.id AND b.id <> $2 "
		"AND EXISTS (SELECT FROM pg_catalog.pg_authid a WHERE a.oid = b.role_oid) WHERE d.id = $1", 2, {INT8OID, INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), Int64GetDatum(except)};
	uint64		rows = pe_access_read(&read, values, NULL);

	*promised = (pe_amount) {0};
	*cap_left = (pe_amount) {-1, -1, -1};
	for (uint64 row = 0; row < rows; row++)
	{
		pe_amount	budget = pe_cap_amount(cost_in(row, 4), 0, cap);

		*cap_left = cost_in(row, 1);
		promised->rho_nano = sum_of(promised->rho_nano, budget.rho_nano);
		promised->delta_atto = sum_of(promised->delta_atto, budget.delta_atto);
		promised->epsilon_nano = sum_of(promised->epsilon_nano, budget.epsilon_nano);
	}
}

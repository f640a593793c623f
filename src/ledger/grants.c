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

#define LIVES(budget) "EXISTS (SELECT FROM pg_catalog.pg_authid a WHERE a.oid = " budget ".role_oid)"

/* The most that a block of dataset d has lost otherwise than to budgets that are granted for each block. */
#define LOST_OTHERWISE \
	"SELECT greatest(max(t.rho), 0) AS rho, greatest(max(t.delta), 0) AS delta, " \
	"greatest(max(t.epsilon), 0) AS epsilon FROM (SELECT sum(l.sign * l.rho_spent)::pg_catalog.int8 AS rho, " \
	"sum(l.sign * l.delta_spent)::pg_catalog.int8 AS delta, " \
	"sum(l.sign * l.epsilon_spent)::pg_catalog.int8 AS epsilon " \
	"FROM (SELECT DISTINCT block FROM dp_ledger.block WHERE dataset_id = d.id) p, " \
	"LATERAL (SELECT DISTINCT ON (k.budget_id) k.*, CASE WHEN k.budget_id = 0 THEN 1 ELSE -1 END AS sign " \
	"FROM dp_ledger.block k LEFT JOIN dp_ledger.budget o ON o.id = k.budget_id " \
	"WHERE k.dataset_id = d.id AND (k.budget_id = 0 OR " LIVES("o") ") AND k.block <= p.block " \
	"AND (k.block > '-9223372036854775808'::pg_catalog.int8 OR p.block = k.block) " \
	"ORDER BY k.budget_id, k.block DESC) l GROUP BY p.block) t"

void
pe_grants_read(int64 dataset_id, int64 except, pe_accounting cap, pe_amount *promised, pe_amount *cap_left)
{
	static pe_statement read = {NULL, "SELECT d.rho_limit - d.rho_spent, d.delta_limit - d.delta_spent, "
		"d.epsilon_limit - d.epsilon_spent, b.rho_limit - b.rho_spent, b.delta_limit - b.delta_spent, "
		"b.epsilon_limit - b.epsilon_spent FROM (SELECT d.id, d.rho_limit, d.delta_limit, d.epsilon_limit, "
		"d.rho_spent, d.delta_spent, d.epsilon_spent FROM dp_ledger.dataset d "
		"WHERE d.id = $1 AND d.max_blocks IS NULL UNION ALL SELECT d.id, d.rho_limit, d.delta_limit, "
		"d.epsilon_limit, s.rho, s.delta, s.epsilon FROM dp_ledger.dataset d, LATERAL (" LOST_OTHERWISE ") s "
		"WHERE d.id = $1 AND d.max_blocks IS NOT NULL) d LEFT JOIN "
		"(SELECT id, dataset_id, role_oid, rho_limit, delta_limit, epsilon_limit, CASE WHEN per_block "
		"THEN 0 ELSE rho_spent END AS rho_spent, CASE WHEN per_block THEN 0 ELSE delta_spent END AS delta_spent, "
		"CASE WHEN per_block THEN 0 ELSE epsilon_spent END AS epsilon_spent "
		"FROM dp_ledger.budget) b ON b.dataset_id = d.id AND b.id <> $2 AND " LIVES("b") " "
		"WHERE d.id = $1", 2, {INT8OID, INT8OID}};
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

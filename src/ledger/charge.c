/*
 * charge.c
 *	  The ledger's own transactions.  See charge.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "common/sha2.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "accounting/filter.h"
#include "ledger/access.h"
#include "ledger/chain.h"
#include "ledger/charge.h"
#include "ledger/errors.h"
#include "ledger/models.h"
#include "ledger/registry.h"
#include "ledger/strategies.h"

/* ------------------------------------------------------------------
 * Hashes and payloads
 * ------------------------------------------------------------------
 */

bytea *
pe_sha256(const void *first, size_t first_size, const void *second, size_t second_size)
{
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(PG_SHA256);
	bytea	   *hash = palloc(VARHDRSZ + PG_SHA256_DIGEST_LENGTH);

	SET_VARSIZE(hash, VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	if (pg_cryptohash_init(ctx) < 0 ||
		pg_cryptohash_update(ctx, first, first_size) < 0 ||
		pg_cryptohash_update(ctx, second, second_size) < 0 ||
		pg_cryptohash_final(ctx, (uint8 *) VARDATA(hash), PG_SHA256_DIGEST_LENGTH) < 0)
		elog(ERROR, "SHA-256 failed");
	pg_cryptohash_free(ctx);
	return hash;
}

bytea *
pe_request_hash(const char *request)
{
	return pe_sha256(request, strlen(request), "", 0);
}

bytea *
pe_payload_write(const int64 *value, int64 values)
{
	StringInfoData bytes;

	pq_begintypsend(&bytes);
	enlargeStringInfo(&bytes, values * sizeof(int64));
	for (int64 i = 0; i < values; i++)
		pq_sendint64(&bytes, value[i]);
	return pq_endtypsend(&bytes);
}

int64 *
pe_payload_read(const bytea *payload, int64 *values)
{
	StringInfoData bytes;
	int64	   *value;

	initStringInfo(&bytes);
	appendBinaryStringInfo(&bytes, VARDATA_ANY(payload), VARSIZE_ANY_EXHDR(payload));
	if (bytes.len % sizeof(int64) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the payload of a release is damaged")));
	*values = bytes.len / sizeof(int64);
	value = palloc(Max(*values, 1) * sizeof(int64));
	for (int64 i = 0; i < *values; i++)
		value[i] = pq_getmsgint64(&bytes);
	return value;
}

/* ------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------
 */

void
pe_request_write(StringInfo to, const pe_charge_request *request)
{
	pq_sendint64(to, request->dataset_id);
	pq_sendint64(to, request->version);
	pq_sendint64(to, request->budget_id);
	pq_sendint64(to, request->rho);
	pq_sendint64(to, request->delta);
	pq_sendint64(to, request->epsilon);
	pq_sendbyte(to, request->fresh);
	pq_sendbyte(to, request->replay_only);
	pq_sendbyte(to, request->predicate != NULL);
	pq_sendbyte(to, request->workload != NULL);
	pq_sendbyte(to, request->model != NULL);
	pq_sendint32(to, request->attributes);
	pq_sendint32(to, request->queries);
	pq_sendint64(to, request->strategy_id);
	appendBinaryStringInfo(to, request->role, strlen(request->role) + 1);
	appendBinaryStringInfo(to, request->function, strlen(request->function) + 1);
	appendBinaryStringInfo(to, request->request, strlen(request->request) + 1);
	if (request->workload != NULL)
		appendBinaryStringInfo(to, request->workload, strlen(request->workload) + 1);
	if (request->model != NULL)
		pe_model_record_write(to, request->model);
	appendBinaryStringInfo(to, request->method, strlen(request->method) + 1);
	appendBinaryStringInfo(to, request->sensitivity, strlen(request->sensitivity) + 1);
	if (request->predicate != NULL)
		appendBinaryStringInfo(to, request->predicate, strlen(request->predicate) + 1);
	for (int i = 0; i < request->attributes; i++)
		appendBinaryStringInfo(to, request->attribute[i], strlen(request->attribute[i]) + 1);
}

void
pe_request_read(StringInfo from, pe_charge_request *request)
{
	bool		has_predicate;
	bool		has_workload;
	bool		has_model;

	request->dataset_id = pq_getmsgint64(from);
	request->version = pq_getmsgint64(from);
	request->budget_id = pq_getmsgint64(from);
	request->rho = pq_getmsgint64(from);
	request->delta = pq_getmsgint64(from);
	request->epsilon = pq_getmsgint64(from);
	request->fresh = pq_getmsgbyte(from) != 0;
	request->replay_only = pq_getmsgbyte(from) != 0;
	has_predicate = pq_getmsgbyte(from) != 0;
	has_workload = pq_getmsgbyte(from) != 0;
	has_model = pq_getmsgbyte(from) != 0;
	request->attributes = pq_getmsgint(from, 4);
	request->queries = pq_getmsgint(from, 4);
	request->strategy_id = pq_getmsgint64(from);
	request->role = pstrdup(pq_getmsgrawstring(from));
	request->function = pstrdup(pq_getmsgrawstring(from));
	request->request = pstrdup(pq_getmsgrawstring(from));
	request->workload = has_workload ? pstrdup(pq_getmsgrawstring(from)) : NULL;
	request->model = has_model ? pe_model_record_read(from) : NULL;
	request->method = pstrdup(pq_getmsgrawstring(from));
	request->sensitivity = pstrdup(pq_getmsgrawstring(from));
	request->predicate = has_predicate ? pstrdup(pq_getmsgrawstring(from)) : NULL;
	request->attribute = palloc0((request->attributes + 1) * sizeof(char *));
	for (int i = 0; i < request->attributes; i++)
		request->attribute[i] = pstrdup(pq_getmsgrawstring(from));
}

void
pe_reply_write(StringInfo to, const pe_charge_reply *reply)
{
	pq_sendbyte(to, reply->outcome);
	pq_sendint64(to, reply->charge_id);
	pq_sendint64(to, reply->release_id);
	pq_sendint64(to, reply->left);
	pq_sendint64(to, reply->strategy_id);
	pq_sendint64(to, reply->values);
	appendBinaryStringInfo(to, (const char *) reply->value, reply->values * sizeof(int64));
}

void
pe_reply_read(StringInfo from, pe_charge_reply *reply)
{
	reply->outcome = (pe_charge_outcome) pq_getmsgbyte(from);
	reply->charge_id = pq_getmsgint64(from);
	reply->release_id = pq_getmsgint64(from);
	reply->left = pq_getmsgint64(from);
	reply->strategy_id = pq_getmsgint64(from);
	reply->values = pq_getmsgint64(from);
	reply->value = palloc(Max(reply->values, 1) * sizeof(int64));
	pq_copymsgbytes(from, (char *) reply->value, reply->values * sizeof(int64));
}

/* ------------------------------------------------------------------
 * Replay
 * ------------------------------------------------------------------
 */

/*
 * The newest release of the same request in the same version of the data: paid
 * by this budget, or else by any; of several the one whose model has the name that
 * is asked for.  Sets *paid to which it is.
 */
static bool
find_release(const pe_charge_request *request, pe_charge_reply *reply, bool *paid)
{
	static pe_statement find = {NULL, "SELECT r.id, r.payload, p.paid, coalesce(r.strategy_id, 0) FROM dp.release r, "
		"LATERAL (SELECT EXISTS (SELECT FROM dp.charge c WHERE c.budget_id = $4 AND (c.id = r.charge_id OR c.release_id = r.id)) AS paid) p "
		"WHERE r.dataset_id = $1 AND r.version = $2 AND r.request_hash = $3 AND r.request = $5 AND r.payload IS NOT NULL "
		"ORDER BY p.paid DESC, EXISTS (SELECT FROM dp.model m WHERE m.model = $6 AND m.release_id = r.id) DESC, r.id DESC LIMIT 1", 6,
	{INT8OID, INT4OID, BYTEAOID, INT8OID, TEXTOID, TEXTOID}};
	const char *name = request->model != NULL ? request->model->name : NULL;
	Datum		values[6] = {
		Int64GetDatum(request->dataset_id), Int32GetDatum((int32) request->version),
		PointerGetDatum(pe_request_hash(request->request)), Int64GetDatum(request->budget_id),
		CStringGetTextDatum(request->request), CStringGetTextDatum(name != NULL ? name : "")
	};
	bool		isnull;

	if (request->fresh || pe_access_write(&find, values, NULL) == 0)
		return false;
	reply->release_id = pe_access_int64(0, 1);
	reply->value = pe_payload_read(DatumGetByteaPP(pe_access_datum(0, 2, &isnull)), &reply->values);
	*paid = pe_access_int64(0, 3) != 0;
	reply->strategy_id = pe_access_int64(0, 4);
	return true;
}

/* ------------------------------------------------------------------
 * The filter and the charge
 * ------------------------------------------------------------------
 */

typedef struct ledger_state
{
	char	   *dataset;
	bool		cap_pure;
	pe_cost		cap_limit;
	pe_cost		cap_spent;
	int64		charges;
	bytea	   *head;
	char	   *budget_role;
	bool		pure;			/* the budget is */
	pe_cost		limit;
	pe_cost		spent;
} ledger_state;

static pe_cost
cost_of_row(int column)
{
	pe_cost		cost = {pe_access_int64(0, column), pe_access_int64(0, column + 1), pe_access_int64(0, column + 2)};

	return cost;
}

static void __attribute__((noreturn))
raise_frozen(const char *dataset, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_FROZEN),
			 errmsg("dataset \"%s\" is frozen", dataset),
			 errdetail("%s", detail),
			 errhint("Answers that were paid are returned; the owner of the table lifts the freeze with dp.attest.")));
	pg_unreachable();
}

static void __attribute__((noreturn))
raise_stale(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the dataset or the budget was changed while the request was made"),
			 errhint("Ask again.")));
	pg_unreachable();
}

/* The last link must be what the head says: a row put back or edited breaks it. */
static void
check_chain(const pe_charge_request *request, const ledger_state *state)
{
	static pe_statement last = {NULL, "SELECT hash FROM dp.charge WHERE dataset_id = $1 AND seq = $2", 2, {INT8OID, INT8OID}};
	static pe_statement count = {NULL, "SELECT coalesce(max(seq), 0) FROM dp.charge WHERE dataset_id = $1", 1, {INT8OID}};
	Datum		values[2] = {Int64GetDatum(request->dataset_id), Int64GetDatum(state->charges)};
	bool		isnull = false;
	bool		same = state->charges == 0;

	if (state->charges > 0 && pe_access_write(&last, values, NULL) == 1)
	{
		bytea	   *hash = DatumGetByteaPP(pe_access_datum(0, 1, &isnull));

		same = VARSIZE_ANY_EXHDR(hash) == VARSIZE_ANY_EXHDR(state->head) &&
			memcmp(VARDATA_ANY(hash), VARDATA_ANY(state->head), VARSIZE_ANY_EXHDR(hash)) == 0;
	}
	pe_access_write(&count, values, NULL);
	if (!same || pe_access_int64(0, 1) != state->charges)
		raise_frozen(state->dataset, "The chain of its charges is broken.");
}

/*
 * Locks the dataset and the budget and reads them.  False, with nothing locked
 * that matters, if somebody else holds one: the worker serves others and must
 * not wait.
 */
static bool
lock_state(const pe_charge_request *request, ledger_state *state)
{
	static pe_statement dataset = {NULL, "SELECT dataset, relation_oid::int8, identity, version, "
		"coalesce(rho_limit, 0), coalesce(delta_limit, 0), coalesce(epsilon_limit, 0), "
		"coalesce(rho_spent, 0), coalesce(delta_spent, 0), coalesce(epsilon_spent, 0), charges, chain_head, accounting "
		"FROM dp.dataset WHERE id = $1 AND NOT dropped FOR UPDATE SKIP LOCKED",
	1, {INT8OID}};
	static pe_statement present = {NULL, "SELECT FROM dp.dataset d, dp.budget b WHERE d.id = $1 AND NOT d.dropped AND b.id = $2 "
	"AND b.dataset_id = d.id", 2, {INT8OID, INT8OID}};
	static pe_statement budget = {NULL, "SELECT coalesce((SELECT a.rolname::text FROM pg_catalog.pg_authid a "
		"WHERE a.oid = role_oid), role_name), coalesce(rho_limit, 0), coalesce(delta_limit, 0), coalesce(epsilon_limit, 0), "
		"coalesce(rho_spent, 0), coalesce(delta_spent, 0), coalesce(epsilon_spent, 0), accounting "
		"FROM dp.budget WHERE id = $2 AND dataset_id = $1 FOR UPDATE OF budget SKIP LOCKED", 2, {INT8OID, INT8OID}};
	Datum		values[2] = {Int64GetDatum(request->dataset_id), Int64GetDatum(request->budget_id)};
	bool		isnull;

	if (pe_access_write(&present, values, NULL) == 0)
		raise_stale();
	if (pe_access_write(&dataset, values, NULL) == 0)
		return false;
	state->dataset = pe_access_text(0, 1);
	if (pe_access_int64(0, 4) != request->version)
		raise_stale();
	if (pe_identity_is_frozen(pe_access_text(0, 3), (Oid) pe_access_int64(0, 2)))
		raise_frozen(state->dataset, "Its ledger was written in another cluster, timeline or database.");
	if (request->replay_only)
		raise_stale();			/* attested meanwhile: nobody would read the rows */
	state->cap_limit = cost_of_row(5);
	state->cap_spent = cost_of_row(8);
	state->charges = pe_access_int64(0, 11);
	state->head = DatumGetByteaPP(pe_access_datum(0, 12, &isnull));
	state->cap_pure = pe_is_pure(pe_access_text(0, 13));

	if (pe_access_write(&budget, values, NULL) == 0)
		return false;
	state->budget_role = pe_access_text(0, 1);
	state->limit = cost_of_row(2);
	state->spent = cost_of_row(5);
	state->pure = pe_is_pure(pe_access_text(0, 8));
	if (state->pure != (request->epsilon > 0))
		raise_stale();
	check_chain(request, state);
	return true;
}

static int64
write_charge(const pe_charge_request *request, const ledger_state *state, pe_cost cap_cost, int64 release_id)
{
	/* the names as they are now: where the OIDs mean nothing, in another cluster, they are all there is */
	static pe_statement budget = {NULL, "UPDATE dp.budget SET rho_spent = rho_spent + $2, delta_spent = delta_spent + $3, "
		"role_name = $4, epsilon_spent = epsilon_spent + $5 WHERE id = $1", 5, {INT8OID, INT8OID, INT8OID, TEXTOID, INT8OID}};
	static pe_statement dataset = {NULL, "UPDATE dp.dataset SET rho_spent = rho_spent + $2, delta_spent = delta_spent + $3, "
		"epsilon_spent = epsilon_spent + $5, charges = charges + 1, chain_head = $4, owner = pg_catalog.pg_get_userbyid(c.relowner), "
		"relation_schema = n.nspname, relation_name = c.relname "
		"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
	"WHERE id = $1 AND c.oid = relation_oid", 5, {INT8OID, INT8OID, INT8OID, BYTEAOID, INT8OID}};
	pe_charge_line line = {
		.dataset_id = request->dataset_id, .seq = state->charges + 1, .dataset = state->dataset,
		.role = request->role, .budget_id = request->budget_id, .budget_role = state->budget_role,
		.function = request->function, .request = request->request, .release_id = release_id,
		.strategy_id = release_id == 0 ? request->strategy_id : 0,
		.amount = {[PE_RHO] = request->rho, [PE_DELTA] = request->delta,
		[PE_EPSILON] = request->epsilon, [PE_CAP_RHO] = cap_cost.rho_nano, [PE_CAP_DELTA] = cap_cost.delta_atto,
		[PE_CAP_EPSILON] = cap_cost.epsilon_nano},
		.absent = {[PE_RHO] = state->pure, [PE_DELTA] = state->pure, [PE_EPSILON] = !state->pure,
		[PE_CAP_RHO] = state->cap_pure, [PE_CAP_DELTA] = state->cap_pure, [PE_CAP_EPSILON] = !state->cap_pure}
	};
	bytea	   *hash = pe_chain_append(&line, VARDATA_ANY(state->head), VARSIZE_ANY_EXHDR(state->head));
	Datum		own[5] = {
		Int64GetDatum(request->budget_id), Int64GetDatum(request->rho), Int64GetDatum(request->delta),
		CStringGetTextDatum(state->budget_role), Int64GetDatum(request->epsilon)
	};
	Datum		cap[5] = {
		Int64GetDatum(request->dataset_id), Int64GetDatum(cap_cost.rho_nano),
		Int64GetDatum(cap_cost.delta_atto), PointerGetDatum(hash), Int64GetDatum(cap_cost.epsilon_nano)
	};

	pe_access_write(&budget, own, NULL);
	if (pe_access_write(&dataset, cap, NULL) != 1)
		raise_stale();			/* the table was dropped meanwhile */
	return line.id;
}

pe_cost
pe_request_cost(const pe_charge_request *request)
{
	return (pe_cost) {request->rho, request->delta, request->epsilon};
}

/* Charges if both filters accept.  A release that exists costs the cap nothing more. */
static void
charge_or_refuse(const pe_charge_request *request, pe_charge_reply *reply)
{
	pe_cost		cost = pe_request_cost(request);
	pe_cost		cap_cost = {0};
	ledger_state state;

	if (!lock_state(request, &state))
	{
		reply->outcome = PE_BUSY;
		return;
	}
	reply->left = pe_nano_left(pe_cost_less(state.limit, state.spent), state.pure,
							   pe_cost_less(state.cap_limit, state.cap_spent), state.cap_pure);
	if (reply->release_id == 0)
		cap_cost = pe_cap_cost(cost, state.cap_pure);
	if (!pe_filter_accepts(state.limit, state.spent, cost) ||
		!pe_filter_accepts(state.cap_limit, state.cap_spent, cap_cost))
	{
		reply->outcome = PE_REFUSED;
		return;
	}
	if (reply->release_id == 0)
		pe_strategy_check_kept(request->strategy_id);
	reply->charge_id = write_charge(request, &state, cap_cost, reply->release_id);
	reply->left = pe_nano_left(pe_cost_less(pe_cost_less(state.limit, state.spent), cost), state.pure,
							   pe_cost_less(pe_cost_less(state.cap_limit, state.cap_spent), cap_cost), state.cap_pure);
	reply->outcome = reply->release_id == 0 ? PE_CHARGED : PE_REPLAYED;
}

void
pe_charge_reserve(const pe_charge_request *request, pe_charge_reply *reply)
{
	bool		paid = false;
	pe_access	access;

	memset(reply, 0, sizeof(*reply));
	pe_access_begin(&access);
	if (find_release(request, reply, &paid) && paid)
		reply->outcome = PE_REPLAYED;
	else if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a standby cannot charge"),
				 errhint("Answers that were paid on the primary are replayed here; ask the rest there.")));
	else
		charge_or_refuse(request, reply);
	if (request->model != NULL && (reply->outcome == PE_REPLAYED || reply->outcome == PE_CHARGED))
		pe_model_reserve_name(request, reply);
	if (reply->outcome != PE_REPLAYED)
	{
		/* not paid for: what another budget's release says stays here */
		reply->release_id = 0;
		reply->strategy_id = 0;
		reply->values = 0;
	}
	pe_access_end(&access);
}

int64
pe_charge_store(const pe_charge_request *request, int64 charge_id, const int64 *value, int64 values)
{
	static pe_statement insert = {NULL, "INSERT INTO dp.release (id, charge_id, dataset_id, version, request, request_hash, attributes, "
		"workload, method, queries, sensitivity_sq, rho, payload, strategy_id, predicate, sensitivity_l1, epsilon) "
		"VALUES (pg_catalog.nextval('dp.release_id_seq'), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::pg_catalog.numeric, $11, $12, "
		"NULLIF($13, 0), $14, $15::pg_catalog.numeric, $16) ON CONFLICT (charge_id) DO NOTHING", 16,
		{INT8OID, INT8OID, INT4OID, TEXTOID, BYTEAOID, TEXTARRAYOID, TEXTOID, TEXTOID, INT4OID, TEXTOID, INT8OID,
	BYTEAOID, INT8OID, TEXTOID, TEXTOID, INT8OID}};
	static pe_statement find = {NULL, "SELECT id FROM dp.release WHERE charge_id = $1", 1, {INT8OID}};
	Datum	   *names = palloc((request->attributes + 1) * sizeof(Datum));
	Datum		row[16] = {0};
	char		nulls[] = "                ";
	bool		pure = request->epsilon > 0;
	pe_access	access;
	int64		id;

	for (int i = 0; i < request->attributes; i++)
		names[i] = CStringGetTextDatum(request->attribute[i]);
	row[0] = Int64GetDatum(charge_id);
	row[1] = Int64GetDatum(request->dataset_id);
	row[2] = Int32GetDatum((int32) request->version);
	row[3] = CStringGetTextDatum(request->request);
	row[4] = PointerGetDatum(pe_request_hash(request->request));
	row[5] = PointerGetDatum(construct_array(names, request->attributes, TEXTOID, -1, false, TYPALIGN_INT));
	if (request->workload != NULL)
		row[6] = CStringGetTextDatum(request->workload);
	else
		nulls[6] = 'n';
	row[7] = CStringGetTextDatum(request->method);
	row[8] = Int32GetDatum(request->queries);
	row[9] = row[14] = CStringGetTextDatum(request->sensitivity);
	row[10] = Int64GetDatum(request->rho);
	row[11] = PointerGetDatum(pe_payload_write(value, values));
	row[12] = Int64GetDatum(request->strategy_id);
	if (request->predicate != NULL)
		row[13] = CStringGetTextDatum(request->predicate);
	else
		nulls[13] = 'n';
	row[15] = Int64GetDatum(request->epsilon);
	nulls[pure ? 9 : 14] = nulls[pure ? 10 : 15] = 'n';
	if (request->workload == NULL)
		nulls[9] = nulls[10] = nulls[14] = nulls[15] = 'n';	/* its noise was of many kinds, or of another one */

	pe_access_begin(&access);
	/* it is there already if a worker died between its commit and its answer */
	pe_access_write(&insert, row, nulls);
	pe_access_write(&find, row, NULL);
	id = pe_access_int64(0, 1);
	if (request->model != NULL)
		pe_model_keep(request, id, value);
	pe_access_end(&access);
	return id;
}

void
pe_release_expire(int64 id)
{
	static pe_statement expire = {NULL, "UPDATE dp.release SET payload = NULL WHERE id = $1", 1, {INT8OID}};
	static pe_statement forget = {NULL, "DELETE FROM dp.model WHERE release_id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(id)};
	pe_access	access;

	pe_access_begin(&access);
	(void) pe_access_write(&expire, key, NULL);
	(void) pe_access_write(&forget, key, NULL);
	pe_access_end(&access);
}

/*
 * attest.c
 *	  The owner vouches for a ledger.  See attest.h.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "server/access.h"
#include "ledger/series.h"
#include "ledger/anchor.h"
#include "ledger/attest.h"
#include "ledger/budget.h"
#include "ledger/chain.h"
#include "ledger/relation.h"
#include "server/settings.h"
#include "ledger/lineage.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"
#include "ledger/families.h"

/* What the locked row of a dataset says of where it was written. */
typedef struct record
{
	bool		dropped;
	Oid			relation;
	char	   *schema;
	char	   *name;
	char	   *identity;
	char	   *head;			/* hexadecimal */
} record;

static void
raise_changed(const pe_dataset *dataset)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the table of dataset \"%s\" was changed meanwhile", dataset->name),
			 errhint("Call dp.attest again.")));
}

/* Locks the row of a dataset, which must be as it was loaded: another may have attested meanwhile. */
static void
lock_record(const pe_dataset *dataset, record *r)
{
	static pe_statement lock = {NULL, "SELECT dropped, relation_schema, relation_name, identity, "
		"pg_catalog.encode(chain_head, 'hex'), relation_oid FROM dp_ledger.dataset WHERE id = $1 "
		"FOR UPDATE", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset->id)};
	pe_access	access;

	pe_access_begin(&access);
	if (pe_access_write(&lock, values, NULL) != 1)
		elog(ERROR, "a dataset is gone");
	r->dropped = pe_access_int64(0, 1) != 0;
	r->schema = pe_access_text(0, 2);
	r->name = pe_access_text(0, 3);
	r->identity = pe_access_text(0, 4);
	r->head = pe_access_text(0, 5);
	r->relation = (Oid) pe_access_int64(0, 6);
	pe_access_end(&access);
	if (r->dropped != dataset->dropped || r->relation != dataset->relation ||
		strcmp(r->identity, dataset->identity) != 0)
		raise_changed(dataset);
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

/* The table of the recorded name, or the view if it was one; InvalidOid if there is none. */
static Oid
table_named(const record *r, bool is_view)
{
	Oid			schema = get_namespace_oid(r->schema, true);
	Oid			relation = OidIsValid(schema) ? get_relname_relid(r->name, schema) : InvalidOid;
	char		kind = OidIsValid(relation) ? get_rel_relkind(relation) : '\0';

	if (is_view ? kind == RELKIND_VIEW : kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE ||
		kind == RELKIND_FOREIGN_TABLE || kind == RELKIND_MATVIEW)
		return relation;
	return InvalidOid;
}

/* Whether the dataset was written in this database, for a table that still is but has another name. */
static bool
was_renamed(const pe_dataset *dataset, const record *r, Oid relation)
{
	return pe_identity_is_local(r->identity, dataset->relation) &&
		dataset->relation != relation && OidIsValid(pe_relation_owner(dataset->relation));
}

/*
 * The table that the dataset is of here: of the recorded name, and the current
 * user's.  Otherwise an error, or for an unregistered dataset InvalidOid.
 */
static Oid
find_table(const pe_dataset *dataset, const record *r)
{
	int			level = !r->dropped ? ERROR : dataset->frozen ? NOTICE : DEBUG1;
	Oid			relation = table_named(r, dataset->view_identity != NULL);
	char	   *name = quote_qualified_identifier(r->schema, r->name);

	if (was_renamed(dataset, r, relation))
		ereport(level,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the table of dataset \"%s\" was renamed", dataset->name),
				 errdetail("The ledger knows it as %s; it is \"%s\" now.", name, get_rel_name(dataset->relation)),
				 errhint("Give it that name again and call dp.attest; then it can be renamed.")));
	else if (!OidIsValid(relation))
		ereport(level,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("there is no table %s, which is dataset \"%s\"", name, dataset->name),
				 errhint("Restore it%s, and call dp.attest again.",
						 r->dropped ? "" : ", or unregister the dataset with dp.drop_dataset")));
	else if (!has_privs_of_role(GetUserId(), pe_relation_owner(relation)))
		ereport(level,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s, which is dataset \"%s\"", name, dataset->name),
				 errhint("A superuser can call dp.attest, or give you the table.")));
	else if (r->dropped && pe_relation_is_known(relation))
		ereport(level,
				(errmsg("table %s goes on as another dataset than \"%s\", which was unregistered", name,
						dataset->name)));
	else
		return relation;
	return InvalidOid;
}

/* The lock keeps what was found true to the end of the transaction. */
static Oid
lock_table(const pe_dataset *dataset, const record *r)
{
	Oid			relation = find_table(dataset, r);

	if (!OidIsValid(relation))
		return InvalidOid;
	LockRelationOid(relation, AccessShareLock);
	pe_registration_lock(relation);
	if (find_table(dataset, r) != relation)
		raise_changed(dataset);
	pe_relation_check(relation, dataset->view_identity != NULL);
	return relation;
}

/* 55000 unless the table has the declared columns, that of the unit with them, and is no part of another dataset. */
static void
check_declarations(int64 dataset_id)
{
	pe_dataset *dataset = pe_dataset_load_by_id(dataset_id);
	int			count;

	pe_dataset_check_alone(dataset);
	(void) pe_columns_load(dataset, NULL, &count);
}

/* ------------------------------------------------------------------
 * The line of the chain
 * ------------------------------------------------------------------
 */

static char *
request_text(const record *r, const char *identity, const char *reason, const char *finding)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, "{\"reason\": ");
	escape_json(&text, reason);
	appendStringInfo(&text, ", \"identity\": \"%s\", \"before\": ", identity);
	escape_json(&text, r->identity);
	appendStringInfo(&text, ", \"head\": \"%s\", \"finding\": ", r->head);
	if (finding != NULL)
		escape_json(&text, finding);
	else
		appendStringInfoString(&text, "null");
	appendStringInfoChar(&text, '}');
	return text.data;
}

/* One of the three quantities: spent no less than the sum, the limit no less than what is spent. */
#define RAISE(what) \
	what "_spent = CASE WHEN " what "_spent IS NOT NULL " \
	"THEN greatest(" what "_spent, s." what "::pg_catalog.int8) END, " \
	what "_limit = CASE WHEN " what "_limit IS NOT NULL " \
	"THEN greatest(" what "_limit, " what "_spent, s." what "::pg_catalog.int8) END"

/* What is spent becomes no less than the sums of the charges say, and the limits no less than what is spent. */
static void
raise_spent(Datum *values)
{
	static pe_statement cap = {NULL, "UPDATE dp_ledger.dataset "
		"SET " RAISE("rho") ", " RAISE("delta") ", " RAISE("epsilon")
		" FROM (SELECT sum(cap_rho) AS rho, sum(cap_delta) AS delta, sum(cap_epsilon) AS epsilon FROM dp_ledger.charge "
	"WHERE dataset_id = $1) s WHERE id = $1 AND max_blocks IS NULL", 1, {INT8OID}};
	static pe_statement budgets = {NULL, "UPDATE dp_ledger.budget "
		"SET " RAISE("rho") ", " RAISE("delta") ", " RAISE("epsilon")
		" FROM (SELECT budget_id, sum(rho) AS rho, sum(delta) AS delta, sum(epsilon) AS epsilon FROM dp_ledger.charge "
	"WHERE dataset_id = $1 GROUP BY budget_id) s WHERE dataset_id = $1 AND s.budget_id = id "
	"AND NOT per_block", 1, {INT8OID}};

	pe_access_write(&cap, values, NULL);
	pe_access_write(&budgets, values, NULL);
}

/* Of one quantity: where blocks count by themselves, what one of them has lost and no charge says. */
#define MISSING_OF(row, by_block, what) \
	"(CASE WHEN " by_block " THEN greatest(coalesce(m." what ", 0), " \
	"coalesce(" row "." what "_spent, 0) - coalesce(k." what ", 0), 0) " \
	"ELSE coalesce(" row "." what "_spent, 0) - coalesce(s." what ", 0) END)::pg_catalog.int8 AS " what
#define MISSING(row, by_block) \
	MISSING_OF(row, by_block, "rho") ", " MISSING_OF(row, by_block, "delta") ", " MISSING_OF(row, by_block, "epsilon")

/* The most that a block has lost by the charges, of each account. */
#define MOST_CHARGED \
	"(SELECT budget_id, max(rho) AS rho, max(delta) AS delta, max(epsilon) AS epsilon FROM dp_ledger.block_charged " \
	"WHERE dataset_id = $1 GROUP BY budget_id)"

/* What is spent and no charge says: of the cap (row 0), and of each budget where there is such. */
static uint64
read_missing(Datum *values)
{
	static pe_statement missing = {NULL, "SELECT 0 AS id, '' AS role, " MISSING("d", "d.max_blocks IS NOT NULL") " "
		"FROM dp_ledger.dataset d CROSS JOIN (SELECT sum(cap_rho) AS rho, sum(cap_delta) AS delta, "
		"sum(cap_epsilon) AS epsilon FROM dp_ledger.charge WHERE dataset_id = $1) s "
		"LEFT JOIN dp_ledger.block_missing m ON m.dataset_id = $1 AND m.budget_id = 0 "
		"LEFT JOIN " MOST_CHARGED " k ON k.budget_id = 0 WHERE d.id = $1 UNION ALL SELECT * FROM "
		"(SELECT b.id, b.role_name, " MISSING("b", "b.per_block") " FROM dp_ledger.budget b LEFT JOIN "
		"(SELECT budget_id, sum(rho) AS rho, sum(delta) AS delta, sum(epsilon) AS epsilon FROM dp_ledger.charge "
		"WHERE dataset_id = $1 GROUP BY budget_id) s ON s.budget_id = b.id "
		"LEFT JOIN dp_ledger.block_missing m ON m.dataset_id = $1 AND m.budget_id = b.id "
		"LEFT JOIN " MOST_CHARGED " k ON k.budget_id = b.id WHERE b.dataset_id = $1) b "
		"WHERE (rho, delta, epsilon) <> (0, 0, 0) ORDER BY id", 1, {INT8OID}};

	return pe_access_write(&missing, values, NULL);
}

/* Fills in what row of the last result says is missing. */
static void
line_of_missing(pe_charge_line *line, uint64 row)
{
	int64		epsilon = pe_access_int64(row, 5);
	pe_line_amount first;

	line->budget_id = pe_access_int64(row, 1);
	line->budget_role = pe_access_text(row, 2);
	first = line->budget_id == 0 ? PE_CAP_RHO : PE_RHO;
	memset(line->amount, 0, sizeof(line->amount));
	memset(line->absent, false, sizeof(line->absent));
	line->absent[PE_EPSILON] = line->absent[PE_CAP_EPSILON] = true;
	line->amount[first] = pe_access_int64(row, 3);
	line->amount[first + 1] = pe_access_int64(row, 4);
	line->amount[first + 2] = epsilon;
	line->absent[first + 2] = epsilon == 0;
	line->absent[first] = line->absent[first + 1] = epsilon != 0;
}

/*
 * Writes who attests what and why after the lines that there are.  Where the
 * chain was broken the line carries what is spent of the cap and no charge says,
 * and one more line for each budget what is so of it: the sums agree again.
 * *link becomes what the anchor file is to remember.
 */
static void
write_lines(const pe_dataset *dataset, const pe_chain_check *check, const char *request, pe_anchor_link *link)
{
	static pe_statement head = {NULL, "UPDATE dp_ledger.dataset SET charges = $2, chain_head = $3, acts = $4 "
		"WHERE id = $1", 4,
	{INT8OID, INT8OID, BYTEAOID, INT8OID}};
	bool		broken = check->finding != NULL;
	pe_time_blocks every = {0};
	Datum		values[4] = {Int64GetDatum(dataset->id)};
	pe_charge_line *line;
	bytea	   *hash = NULL;
	char	   *role = GetUserNameFromId(GetUserId(), false);
	pe_access	access;
	uint64		lines;

	pe_access_begin(&access);
	if (broken)
		raise_spent(values);
	pe_series_end_all(dataset->id, "attested");
	lines = broken ? read_missing(values) : Min(read_missing(values), 1);
	line = palloc0(lines * sizeof(*line));
	for (uint64 i = 0; i < lines; i++)
		line_of_missing(&line[i], i);
	for (uint64 i = 0; i < lines; i++)
	{
		line[i].dataset_id = dataset->id;
		line[i].seq = check->last_seq + 1 + i;
		line[i].dataset = dataset->name;
		line[i].role = role;
		line[i].function = broken && i == 0 ? PE_ATTEST_BROKEN : PE_ATTEST;
		line[i].request = request;
		line[i].blocks = dataset->max_blocks > 0 ? pe_time_blocks_limited(every) : every;
		hash = i == 0 ? pe_chain_append(&line[i], check->head, sizeof(check->head))
			: pe_chain_append(&line[i], VARDATA_ANY(hash), VARSIZE_ANY_EXHDR(hash));
	}
	if (broken && dataset->max_blocks > 0)
		pe_time_blocks_restore(dataset->id);
	values[1] = Int64GetDatum(check->last_seq + lines);
	values[2] = PointerGetDatum(hash);
	values[3] = Int64GetDatum(check->last_act);
	pe_access_write(&head, values, NULL);
	link->charges = check->last_seq + lines;
	memcpy(link->head, VARDATA(hash), sizeof(link->head));
	pe_access_end(&access);
}

/* ------------------------------------------------------------------
 * Checking
 * ------------------------------------------------------------------
 */

/*
 * What is wrong with the ledger as the anchor knows it.  A row that was
 * written here is of the table that it names, also where that is gone; any other
 * one is of the table that it is to be for.
 */
static char *
check_anchor(const pe_dataset *dataset, Oid relation, const pe_chain_check *check)
{
	MemoryContext context = CurrentMemoryContext;
	Oid			known = pe_identity_is_local(dataset->identity, dataset->relation) ? dataset->relation : relation;
	const char *fault;
	char	   *result;
	pe_access	access;

	pe_access_begin(&access);
	fault = pe_anchor_fault(dataset->id, known, check->last_seq, check->head, true);
	result = fault != NULL ? MemoryContextStrdup(context, fault) : NULL;
	pe_access_end(&access);
	return result;
}

void
pe_ledger_verify(const pe_dataset *dataset, pe_chain_check *check)
{
	pe_chain_check_all(dataset->id, check);
	/* elsewhere the file knows another table by that OID */
	if (check->finding == NULL && pe_identity_is_local(dataset->identity, dataset->relation))
		check->finding = check_anchor(dataset, dataset->relation, check);
}

/* ------------------------------------------------------------------
 * Attesting
 * ------------------------------------------------------------------
 */

static void
check_chain(const pe_dataset *dataset, pe_chain_check *check)
{
	pe_chain_check_all(dataset->id, check);
	if (check->finding != NULL && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_PE_FROZEN),
				 errmsg("the ledger of dataset \"%s\" is broken", dataset->name),
				 errdetail("What dp.verify_ledger finds: %s.", check->finding),
				 errhint("A superuser can find out what happened; dp.attest called by a superuser takes the "
						 "charges as they are.")));
}

static pe_attested *
result_of(const pe_dataset *dataset, const record *r, char *finding)
{
	static pe_statement read = {NULL, "SELECT charges, coalesce(rho_spent, 0) FROM dp_ledger.dataset "
		"WHERE id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset->id)};
	pe_attested *attested = palloc0(sizeof(*attested));
	pe_access	access;

	attested->dataset = dataset->name;
	attested->relation = quote_qualified_identifier(r->schema, r->name);
	attested->finding = finding;
	attested->dropped = r->dropped;
	pe_access_begin(&access);
	pe_access_write(&read, values, NULL);
	attested->charges = pe_access_int64(0, 1);
	attested->rho_spent = pe_access_int64(0, 2) * 1e-9;
	pe_access_end(&access);
	return attested;
}

/* What was wrong, of the chain and beside it; NULL: nothing. */
static char *
both(char *finding, char *anchor_fault)
{
	if (finding == NULL || anchor_fault == NULL)
		return finding != NULL ? finding : anchor_fault;
	return psprintf("%s; %s", finding, anchor_fault);
}

/* A sequence of the ledger that is behind its table moves to its last number. */
#define MOVE(table) \
	"SELECT pg_catalog.setval('dp_ledger." table "_id_seq', t.id) " \
	"FROM (SELECT max(id) AS id FROM dp_ledger." table ") t, " \
	"dp_ledger." table "_id_seq s WHERE t.id > s.last_value - CASE WHEN s.is_called THEN 0 ELSE 1 END"

/* Logical replication brings rows, and not how far the sequences are that number them. */
static void
move_sequences(void)
{
	static pe_statement move = {NULL, MOVE("dataset") " UNION ALL " MOVE("budget") " UNION ALL " MOVE("charge")
		" UNION ALL " MOVE("release") " UNION ALL " MOVE("strategy") " UNION ALL " MOVE("model")
		" UNION ALL " MOVE("series"), 0, {0}};
	pe_access	access;

	pe_access_begin(&access);
	(void) pe_access_write(&move, NULL, NULL);
	pe_access_end(&access);
}

/*
 * Places the row of a dataset, whose table is locked, and writes the line; NULL
 * if another call did so meanwhile and nothing is left to be attested.  The anchor
 * file takes the new head before the transaction ends: if that is rolled back the
 * ledger is behind the file, and as frozen as before.
 */
static pe_attested *
write_attestation(const pe_dataset *dataset, const record *r, Oid relation, bool moved, const char *reason)
{
	pe_anchor_link link = {.relation = relation};
	pe_chain_check check;
	char	   *finding;

	check_chain(dataset, &check);
	finding = both(check.finding, check_anchor(dataset, relation, &check));
	if (!moved && finding == NULL)	/* another attested meanwhile */
		return NULL;
	if (moved)
	{
		move_sequences();
		pe_dataset_place(dataset->id, relation, pe_identity_is_local(r->identity, relation));
		pe_families_place(dataset->id, pe_identity_is_local(r->identity, dataset->relation));
		pe_lineage_place(dataset->id, pe_identity_is_local(r->identity, dataset->relation));
		pe_budgets_place(dataset, pe_identity_is_local(r->identity, dataset->relation));
		if (!r->dropped)
			check_declarations(dataset->id);
	}
	write_lines(dataset, &check, request_text(r, pe_current_identity(relation), reason, finding), &link);
	pe_anchor_advance(&link, 1);
	return result_of(dataset, r, finding);
}

/* NULL if nothing is to be attested, or nothing can be. */
static pe_attested *
attest(const pe_dataset *dataset, const char *reason)
{
	bool		moved = dataset->frozen || !OidIsValid(pe_relation_owner(dataset->relation));
	Oid			relation = dataset->relation;
	pe_chain_check check;
	record		r;

	check_chain(dataset, &check);
	if (!moved && check.finding == NULL && check_anchor(dataset, relation, &check) == NULL)
		return NULL;
	lock_record(dataset, &r);
	if (moved)
		relation = lock_table(dataset, &r);
	if (!OidIsValid(relation))
		return NULL;
	return write_attestation(dataset, &r, relation, moved, reason);
}

List *
pe_attest(const char *reason)
{
	List	   *done = NIL;
	ListCell   *cell;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a standby cannot attest"),
				 errhint("Attest on the primary, or here after the promotion.")));
	if (pe_datasets_of_user() == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of a dataset"),
				 errhint("The owners of the tables, or a superuser, attest.")));
	foreach(cell, pe_datasets_of_user())
	{
		pe_attested *attested = attest(lfirst(cell), reason);

		if (attested != NULL)
			done = lappend(done, attested);
	}
	return done;
}

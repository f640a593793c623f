/*
 * chain.c
 *	  The hash chain of a dataset's charges.  See chain.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "server/access.h"
#include "ledger/chain.h"
#include "ledger/charge.h"
#include "server/row.h"

/* Lines that are read at a time; one can be of megabytes. */
#define BATCH 32

/* ------------------------------------------------------------------
 * A line
 * ------------------------------------------------------------------
 */

/* In the text and in the table. */
static const char *const amount_name[PE_AMOUNTS] = {"rho", "delta", "epsilon", "cap_rho", "cap_delta", "cap_epsilon"};

static void
append_name(StringInfo text, const char *key, const char *value)
{
	appendStringInfo(text, ", \"%s\": ", key);
	escape_json(text, value);
}

static void
append_number(StringInfo text, const char *key, int64 value)
{
	appendStringInfo(text, ", \"%s\": " INT64_FORMAT, key, value);
}

/* Everything that a line says, in one fixed form: what the chain hashes. */
static char *
canonical_text(const pe_charge_line *line)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "{\"charge\": " INT64_FORMAT, line->id);
	append_number(&text, "dataset_id", line->dataset_id);
	append_name(&text, "dataset", line->dataset);
	append_number(&text, "seq", line->seq);
	append_name(&text, "at", line->at);
	append_name(&text, "role", line->role);
	append_number(&text, "budget_id", line->budget_id);
	append_name(&text, "budget", line->budget_role);
	append_name(&text, "function", line->function);
	for (int i = 0; i < PE_AMOUNTS; i++)
		if (!line->absent[i])
			append_number(&text, amount_name[i], line->amount[i]);
	if (line->release_id != 0)
		append_number(&text, "release", line->release_id);
	if (line->strategy_id != 0)
		append_number(&text, "strategy", line->strategy_id);
	appendStringInfo(&text, ", \"request\": %s}", line->request);
	return text.data;
}

static bytea *
link_hash(const pe_charge_line *line, const void *head, size_t head_size)
{
	char	   *text = canonical_text(line);

	return pe_sha256(head, head_size, text, strlen(text));
}

bytea *
pe_chain_append(pe_charge_line *line, const void *head, size_t head_size)
{
	pe_row	   *row = pe_row_new("charge");
	bytea	   *hash;

	line->id = pe_row_next("charge_id_seq");
	line->at = pstrdup(timestamptz_to_str(GetCurrentTimestamp()));
	hash = link_hash(line, head, head_size);
	pe_row_set(row, "id", Int64GetDatum(line->id));
	pe_row_set(row, "dataset_id", Int64GetDatum(line->dataset_id));
	pe_row_set(row, "seq", Int64GetDatum(line->seq));
	pe_row_set_text(row, "dataset", line->dataset);
	pe_row_set_text(row, "at", line->at);
	pe_row_set_text(row, "role_name", line->role);
	pe_row_set(row, "budget_id", Int64GetDatum(line->budget_id));
	pe_row_set_text(row, "budget_role", line->budget_role);
	pe_row_set_text(row, "function", line->function);
	for (int i = 0; i < PE_AMOUNTS; i++)
		if (!line->absent[i])
			pe_row_set(row, amount_name[i], Int64GetDatum(line->amount[i]));
	pe_row_set_text(row, "request", line->request);
	if (line->release_id != 0)
		pe_row_set(row, "release_id", Int64GetDatum(line->release_id));
	if (line->strategy_id != 0)
		pe_row_set(row, "strategy_id", Int64GetDatum(line->strategy_id));
	pe_row_set(row, "hash", PointerGetDatum(hash));
	pe_row_insert(row);
	return hash;
}

/* ------------------------------------------------------------------
 * All lines
 * ------------------------------------------------------------------
 */

/* Text of the last result that lives as long as the batch. */
static char *
text_of(uint64 row, int column)
{
	return SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
}

static bytea *
bytea_of(uint64 row, int column)
{
	bool		isnull;

	return DatumGetByteaPP(SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull));
}

static bool
is_hash(const bytea *bytes, const char *hash)
{
	return VARSIZE_ANY_EXHDR(bytes) == PG_SHA256_DIGEST_LENGTH &&
		memcmp(VARDATA_ANY(bytes), hash, PG_SHA256_DIGEST_LENGTH) == 0;
}

bool
pe_chain_ends(int64 dataset_id, int64 charges, const char *head)
{
	Datum		key[1] = {Int64GetDatum(dataset_id)};
	pe_row	   *last = pe_row_last("charge", "charge_dataset_id_seq_key", key, 1);

	if (last == NULL)
		return charges == 0;
	return pe_row_int64(last, "seq") == charges && is_hash(pe_row_bytea(last, "hash"), head);
}

#define LINES \
	"SELECT c.id, c.dataset_id, c.seq, c.dataset, c.at, c.role_name, c.budget_id, c.budget_role, c.function, c.rho, c.delta, " \
	"c.epsilon, c.cap_rho, c.cap_delta, c.cap_epsilon, c.request, c.release_id, c.strategy_id, c.hash, " \
	"b.id IS NOT NULL OR c.budget_id = 0 FROM dp.charge c LEFT JOIN dp.budget b ON b.id = c.budget_id " \
	"AND b.dataset_id = c.dataset_id WHERE c.dataset_id = $1 ORDER BY c.seq"

static void
line_of_row(uint64 row, pe_charge_line *line)
{
	memset(line, 0, sizeof(*line));
	line->id = pe_access_int64(row, 1);
	line->dataset_id = pe_access_int64(row, 2);
	line->seq = pe_access_int64(row, 3);
	line->dataset = text_of(row, 4);
	line->at = text_of(row, 5);
	line->role = text_of(row, 6);
	line->budget_id = pe_access_int64(row, 7);
	line->budget_role = text_of(row, 8);
	line->function = text_of(row, 9);
	for (int i = 0; i < PE_AMOUNTS; i++)
	{
		line->amount[i] = pe_access_int64(row, 10 + i);
		line->absent[i] = text_of(row, 10 + i) == NULL;
	}
	line->request = text_of(row, 16);
	line->release_id = pe_access_int64(row, 17);
	line->strategy_id = pe_access_int64(row, 18);
}

/* What is wrong with a line; NULL: nothing. */
static const char *
fault_of(const pe_chain_check *check, const pe_charge_line *line, uint64 row)
{
	if (line->seq != check->last_seq + 1)
		return "a charge before charge " INT64_FORMAT " is missing";
	if (!is_hash(bytea_of(row, 19), check->head))
		return "charge " INT64_FORMAT " is not what was written, or one before it was changed";
	if (pe_access_int64(row, 20) == 0)
		return "charge " INT64_FORMAT " names a budget that is gone";
	return NULL;
}

/*
 * Follows the chain by one line.  The hash is always computed from the lines as
 * they are: so where a broken chain was attested, its line proves that they are
 * what they were then, and what was wrong before it is no longer reported.
 */
static void
follow(pe_chain_check *check, uint64 row, MemoryContext context)
{
	pe_charge_line line;
	const char *fault;

	line_of_row(row, &line);
	memcpy(check->head, VARDATA_ANY(link_hash(&line, check->head, PG_SHA256_DIGEST_LENGTH)), PG_SHA256_DIGEST_LENGTH);
	fault = fault_of(check, &line, row);
	if (strcmp(line.function, PE_ATTEST_BROKEN) == 0 && is_hash(bytea_of(row, 19), check->head))
	{
		check->first_bad = 0;
		check->finding = NULL;
	}
	else if (fault != NULL && check->finding == NULL)
	{
		MemoryContext batch = MemoryContextSwitchTo(context);

		check->first_bad = line.id;
		check->finding = psprintf(fault, line.id);
		MemoryContextSwitchTo(batch);
	}
	check->charges++;
	check->last_seq = line.seq;
}

static void
follow_all(pe_chain_check *check, Datum *values, MemoryContext context)
{
	static pe_statement lines = {NULL, LINES, 1, {INT8OID}};
	Portal		portal = pe_access_cursor(&lines, values);
	MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon chain", ALLOCSET_DEFAULT_SIZES);

	for (;;)
	{
		MemoryContext spi;

		pe_access_fetch(portal, BATCH);	/* leaves SPI's own context current */
		if (SPI_processed == 0)
			break;
		spi = MemoryContextSwitchTo(batch);
		for (uint64 row = 0; row < SPI_processed; row++)
			follow(check, row, context);
		MemoryContextSwitchTo(spi);
		SPI_freetuptable(SPI_tuptable);
		MemoryContextReset(batch);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(batch);
	pe_access_close(portal);
}

/* The dataset's row must say how many lines there are, and the last hash. */
static void
check_head(pe_chain_check *check, Datum *values)
{
	static pe_statement head = {NULL, "SELECT charges, chain_head, coalesce(rho_spent, 0) FROM dp.dataset WHERE id = $1", 1, {INT8OID}};
	int64		said;

	if (pe_access_read_again(&head, values) != 1)
		elog(ERROR, "a dataset is gone");
	said = pe_access_int64(0, 1);
	check->rho_spent = pe_access_int64(0, 3);
	if (check->finding == NULL && said > check->last_seq)
		check->finding = psprintf("charges are missing at the end: " INT64_FORMAT, said - check->last_seq);
	else if (check->finding == NULL && (said != check->last_seq || !is_hash(bytea_of(0, 2), check->head)))
		check->finding = "the head of the chain is not that of its last charge";
	check->last_seq = Max(check->last_seq, said);
}

/* What was spent of the cap and of every budget must be the sums of the lines. */
static void
check_sums(pe_chain_check *check, Datum *values)
{
	static pe_statement differing = {NULL, "SELECT NULL::text AS role, 0 AS id FROM dp.dataset d, "
		"(SELECT sum(cap_rho) AS rho, sum(cap_delta) AS delta, sum(cap_epsilon) AS epsilon FROM dp.charge WHERE dataset_id = $1) s "
		"WHERE d.id = $1 AND (d.rho_spent <> coalesce(s.rho, 0) OR d.delta_spent <> coalesce(s.delta, 0) "
		"OR coalesce(d.epsilon_spent, 0) <> coalesce(s.epsilon, 0)) "
		"UNION ALL SELECT b.role_name, b.id FROM dp.budget b LEFT JOIN "
		"(SELECT budget_id, sum(rho) AS rho, sum(delta) AS delta, sum(epsilon) AS epsilon FROM dp.charge WHERE dataset_id = $1 "
		"GROUP BY budget_id) s ON s.budget_id = b.id WHERE b.dataset_id = $1 AND (coalesce(b.rho_spent, 0) <> coalesce(s.rho, 0) "
		"OR coalesce(b.delta_spent, 0) <> coalesce(s.delta, 0) OR coalesce(b.epsilon_spent, 0) <> coalesce(s.epsilon, 0)) "
	"ORDER BY 2 LIMIT 1", 1, {INT8OID}};

	if (pe_access_read_again(&differing, values) > 0 && check->finding == NULL)
		check->finding = text_of(0, 1) == NULL
			? "what is spent of the cap is not the sum of the charges"
			: psprintf("what is spent of the budget of role \"%s\" is not the sum of its charges", text_of(0, 1));
}

void
pe_chain_check_all(int64 dataset_id, pe_chain_check *check)
{
	Datum		values[1] = {Int64GetDatum(dataset_id)};
	MemoryContext context = CurrentMemoryContext;
	pe_access	access;

	memset(check, 0, sizeof(*check));
	pe_access_begin(&access);
	PushCopiedSnapshot(GetLatestSnapshot());
	follow_all(check, values, context);
	check_head(check, values);
	check_sums(check, values);
	PopActiveSnapshot();
	if (check->finding != NULL)
		check->finding = MemoryContextStrdup(context, check->finding);
	pe_access_end(&access);
}

/*
 * chain.c
 *	  The hash chain of a dataset's charges and acts.  See chain.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/cryptohash.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "server/access.h"
#include "ledger/acts.h"
#include "ledger/chain.h"
#include "ledger/formats.h"
#include "ledger/series.h"
#include "server/row.h"

/* ------------------------------------------------------------------
 * SHA-256
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
pe_text_hash(const void *first, size_t first_size, const char *text)
{
	const char *utf8 = pg_server_to_any(text, strlen(text), PG_UTF8);

	return pe_sha256(first, first_size, utf8, strlen(utf8));
}

bytea *
pe_request_hash(const char *request)
{
	return pe_text_hash("", 0, request);
}

char *
pe_payload_digest(const bytea *payload)
{
	bytea	   *hash = pe_sha256(VARDATA_ANY(payload), VARSIZE_ANY_EXHDR(payload), "", 0);
	int			size = VARSIZE_ANY_EXHDR(hash);
	char	   *hex = palloc0(2 * size + 1);

	hex_encode(VARDATA_ANY(hash), size, hex);
	return hex;
}

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

static bool
has_numbered(pe_time_blocks blocks)
{
	return blocks.first <= blocks.last;
}

static void
append_blocks(StringInfo text, pe_time_blocks blocks)
{
	if (has_numbered(blocks))
	{
		append_number(text, "block_from", blocks.first);
		append_number(text, "block_to", blocks.last);
	}
	appendStringInfo(text, ", \"other_times\": %s", blocks.others ? "true" : "false");
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
	for (int i = 0; i < line->others; i++)
		append_number(&text, "other_strategy", line->other[i]);
	if (line->series_id != 0)
		append_number(&text, "series", line->series_id);
	if (line->blocks.limited)
		append_blocks(&text, line->blocks);
	if (line->relations != NULL)
		appendStringInfo(&text, ", \"relations\": %s", line->relations);
	appendStringInfo(&text, ", \"request\": %s}", line->request);
	return text.data;
}

static bytea *
link_hash(const pe_charge_line *line, const void *head, size_t head_size)
{
	char	   *text = canonical_text(line);

	return pe_text_hash(head, head_size, text);
}

/* NULL where the accounting does not count it. */
#define AMOUNT(i) PE_IF(!line->absent[i], PE_INT8(amount_name[i], line->amount[i]))

static void
insert_line(const pe_charge_line *line, bytea *hash)
{
	bool		numbered = line->blocks.limited && has_numbered(line->blocks);
	pe_field	fields[] = {
		PE_INT8("id", line->id),
		PE_INT8("dataset_id", line->dataset_id),
		PE_INT8("seq", line->seq),
		PE_TEXT("dataset", line->dataset),
		PE_TEXT("at", line->at),
		PE_TEXT("role_name", line->role),
		PE_INT8("budget_id", line->budget_id),
		PE_TEXT("budget_role", line->budget_role),
		PE_TEXT("function", line->function),
		AMOUNT(PE_RHO), AMOUNT(PE_DELTA), AMOUNT(PE_EPSILON),
		AMOUNT(PE_CAP_RHO), AMOUNT(PE_CAP_DELTA), AMOUNT(PE_CAP_EPSILON),
		PE_TEXT("relations", line->relations),
		PE_TEXT("request", line->request),
		PE_IF(line->release_id != 0, PE_INT8("release_id", line->release_id)),
		PE_IF(line->strategy_id != 0, PE_INT8("strategy_id", line->strategy_id)),
		PE_IF(line->others > 0, PE_INT8S("other_strategies", line->other, line->others)),
		PE_IF(line->series_id != 0, PE_INT8("series_id", line->series_id)),
		PE_IF(numbered, PE_INT8("block_from", line->blocks.first)),
		PE_IF(numbered, PE_INT8("block_to", line->blocks.last)),
		PE_IF(line->blocks.limited, PE_BOOL("other_times", line->blocks.others)),
		PE_INT4("format", PE_FORMAT),
		PE_BYTEA("hash", hash)
	};

	pe_row_insert("charge", PE_FIELDS(fields));
}

bytea *
pe_chain_append(pe_charge_line *line, const void *head, size_t head_size)
{
	bytea	   *hash;

	line->id = pe_row_next("charge_id_seq");
	line->at = pstrdup(timestamptz_to_str(GetCurrentTimestamp()));
	hash = link_hash(line, head, head_size);
	insert_line(line, hash);
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

static bytea *
genesis(void)
{
	bytea	   *hash = palloc0(VARHDRSZ + PG_SHA256_DIGEST_LENGTH);

	SET_VARSIZE(hash, VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	return hash;
}

/* Whether the acts after so many charges lead from the hash of the last one to the head. */
static bool
acts_lead(int64 dataset_id, int64 charges, const bytea *hash, const char *head)
{
	Datum		key[2] = {Int64GetDatum(dataset_id), Int64GetDatum(charges)};
	ListCell   *cell;

	if (VARSIZE_ANY_EXHDR(hash) != PG_SHA256_DIGEST_LENGTH)
		return false;
	foreach(cell, pe_rows("act", "act_place", key, 2))
	{
		pe_act_line line;

		pe_act_of_row(lfirst(cell), &line);
		hash = pe_act_hash(&line, VARDATA_ANY(hash));
	}
	return is_hash(hash, head);
}

bool
pe_chain_ends(int64 dataset_id, int64 charges, const char *head)
{
	Datum		key[1] = {Int64GetDatum(dataset_id)};
	pe_row	   *last = pe_row_last("charge", "charge_dataset_id_seq_key", key, 1);
	bytea	   *hash;

	if ((last != NULL ? pe_row_int64(last, "seq") : 0) != charges)
		return false;
	hash = last != NULL ? pe_row_bytea(last, "hash") : genesis();
	return is_hash(hash, head) || acts_lead(dataset_id, charges, hash, head);
}

#define LINES \
	"SELECT c.*, b.id IS NOT NULL OR c.budget_id = 0 AS has_budget " \
	"FROM dp_ledger.charge c LEFT JOIN dp_ledger.budget b ON b.id = c.budget_id " \
	"AND b.dataset_id = c.dataset_id WHERE c.dataset_id = $1 ORDER BY c.seq"

/* Each value changes the text of the line: a missing one becomes a number that the ledger never writes. */
static pe_time_blocks
blocks_of_row(const pe_row *row)
{
	bool		from = !pe_row_is_null(row, "block_from");
	bool		to = !pe_row_is_null(row, "block_to");
	bool		others = pe_row_bool(row, "other_times");

	if (!from && !to)
		return (pe_time_blocks) {.limited = !pe_row_is_null(row, "other_times"), .first = 1, .others = others};
	return (pe_time_blocks) {
		.limited = true, .first = from ? pe_row_int64(row, "block_from") : PG_INT64_MIN,
		.last = to ? pe_row_int64(row, "block_to") : PG_INT64_MAX - 1, .others = others
	};
}

static void
line_of_row(const pe_row *row, pe_charge_line *line)
{
	memset(line, 0, sizeof(*line));
	line->id = pe_row_int64(row, "id");
	PE_CHECK_FORMAT(pe_row_int64(row, "format"), "charge " INT64_FORMAT, line->id);
	line->dataset_id = pe_row_int64(row, "dataset_id");
	line->seq = pe_row_int64(row, "seq");
	line->dataset = pe_row_text(row, "dataset");
	line->at = pe_row_text(row, "at");
	line->role = pe_row_text(row, "role_name");
	line->budget_id = pe_row_int64(row, "budget_id");
	line->budget_role = pe_row_text(row, "budget_role");
	line->function = pe_row_text(row, "function");
	for (int i = 0; i < PE_AMOUNTS; i++)
	{
		line->amount[i] = pe_row_int64(row, amount_name[i]);
		line->absent[i] = pe_row_is_null(row, amount_name[i]);
	}
	line->request = pe_row_text(row, "request");
	line->release_id = pe_row_int64(row, "release_id");
	line->strategy_id = pe_row_int64(row, "strategy_id");
	line->other = pe_int64s_of_array(pe_row_datum(row, "other_strategies"), &line->others);
	line->relations = pe_row_text(row, "relations");
	line->series_id = pe_row_int64(row, "series_id");
	line->blocks = blocks_of_row(row);
}

/* What is wrong with a line; NULL: nothing. */
static const char *
fault_of(const pe_chain_check *check, const pe_charge_line *line, const pe_row *row)
{
	if (line->seq != check->last_seq + 1)
		return "a charge before charge " INT64_FORMAT " is missing";
	if (!is_hash(pe_row_bytea(row, "hash"), check->head))
		return "charge " INT64_FORMAT " is not what was written, or something before it was changed";
	if (!pe_row_bool(row, "has_budget"))
		return "charge " INT64_FORMAT " names a budget that is gone";
	return NULL;
}

/* The hash after one more line, as it is. */
static void
take_line(pe_chain_check *check, bool is_charge, int64 number, const char *text, const bytea *stored)
{
	bytea	   *hash = pe_text_hash(check->head, PG_SHA256_DIGEST_LENGTH, text);

	memcpy(check->head, VARDATA_ANY(hash), PG_SHA256_DIGEST_LENGTH);
	if (check->each != NULL)
		check->each(check->argument, is_charge, number, text, stored);
}

/*
 * Follows the chain by one line.  The hash is always computed from the lines as
 * they are: so where a broken chain was attested, its line proves that they are
 * what they were then, and what was wrong before it is no longer reported.
 */
static void
follow(pe_chain_check *check, const pe_row *row, MemoryContext context)
{
	pe_charge_line line;
	const char *fault;

	line_of_row(row, &line);
	take_line(check, true, line.seq, canonical_text(&line), pe_row_bytea(row, "hash"));
	fault = fault_of(check, &line, row);
	if (strcmp(line.function, PE_ATTEST_BROKEN) == 0 && is_hash(pe_row_bytea(row, "hash"), check->head))
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

/* ------------------------------------------------------------------
 * Acts, between the charges
 * ------------------------------------------------------------------
 */

/* One at a time: they can be long, too. */
typedef struct act_reader
{
	Portal		portal;
	MemoryContext context;		/* of the line */
	bool		there;
	pe_act_line line;
} act_reader;

#define ACTS "SELECT * FROM dp_ledger.act WHERE dataset_id = $1 ORDER BY charges, seq"

/* The charges that were fetched stay. */
static void
read_act(act_reader *reader)
{
	SPITupleTable *charges = SPI_tuptable;
	uint64		processed = SPI_processed;
	MemoryContext old = CurrentMemoryContext;

	pe_access_fetch(reader->portal, 1);
	MemoryContextReset(reader->context);
	MemoryContextSwitchTo(reader->context);
	reader->there = SPI_processed > 0;
	if (reader->there)
		pe_act_of_row(pe_row_of_result(0), &reader->line);
	SPI_freetuptable(SPI_tuptable);
	SPI_tuptable = charges;
	SPI_processed = processed;
	MemoryContextSwitchTo(old);
}

static void
open_acts(act_reader *reader, Datum *values)
{
	static pe_statement acts = {NULL, ACTS, 1, {INT8OID}};

	reader->portal = pe_access_cursor(&acts, values);
	reader->context = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon act", ALLOCSET_DEFAULT_SIZES);
	read_act(reader);
}

static void
follow_act(pe_chain_check *check, const pe_act_line *line, MemoryContext context)
{
	const char *fault = NULL;

	take_line(check, false, line->seq, pe_act_text(line), line->hash);
	if (line->seq != check->last_act + 1)
		fault = "an act before act " INT64_FORMAT " is missing";
	else if (!is_hash(line->hash, check->head))
		fault = "act " INT64_FORMAT " is not what was written, or something before it was changed";
	if (fault != NULL && check->finding == NULL)
	{
		MemoryContext here = MemoryContextSwitchTo(context);

		check->finding = psprintf(fault, line->seq);
		MemoryContextSwitchTo(here);
	}
	check->last_act = line->seq;
}

/* The acts that came before a charge. */
static void
follow_acts(pe_chain_check *check, act_reader *reader, int64 charge, MemoryContext context)
{
	for (; reader->there && reader->line.charges < charge; read_act(reader))
		follow_act(check, &reader->line, context);
}

static void
follow_all(pe_chain_check *check, Datum *values, MemoryContext context)
{
	static pe_statement lines = {NULL, LINES, 1, {INT8OID}};
	Portal		portal = pe_access_cursor(&lines, values);
	MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon chain", ALLOCSET_DEFAULT_SIZES);
	act_reader	acts;

	open_acts(&acts, values);

	for (;;)
	{
		MemoryContext spi;

		pe_access_fetch(portal, BATCH);	/* leaves SPI's own context current */
		if (SPI_processed == 0)
			break;
		spi = MemoryContextSwitchTo(batch);
		for (uint64 i = 0; i < SPI_processed; i++)
		{
			pe_row	   *row = pe_row_of_result(i);

			follow_acts(check, &acts, pe_row_int64(row, "seq"), context);
			follow(check, row, context);
		}
		MemoryContextSwitchTo(spi);
		SPI_freetuptable(SPI_tuptable);
		MemoryContextReset(batch);
		CHECK_FOR_INTERRUPTS();
	}
	follow_acts(check, &acts, PG_INT64_MAX, context);
	MemoryContextDelete(acts.context);
	MemoryContextDelete(batch);
	pe_access_close(acts.portal);
	pe_access_close(portal);
}

/* The dataset's row must say how many lines there are, and the last hash. */
static void
check_head(pe_chain_check *check, Datum *values)
{
	static pe_statement head = {NULL, "SELECT charges, chain_head, coalesce(rho_spent, 0), acts "
		"FROM dp_ledger.dataset WHERE id = $1", 1, {INT8OID}};
	int64		said;
	int64		said_acts;

	if (pe_access_read_again(&head, values) != 1)
		elog(ERROR, "a dataset is gone");
	said = pe_access_int64(0, 1);
	said_acts = pe_access_int64(0, 4);
	check->rho_spent = pe_access_int64(0, 3);
	if (check->finding == NULL && said > check->last_seq)
		check->finding = psprintf("charges are missing at the end: " INT64_FORMAT, said - check->last_seq);
	else if (check->finding == NULL && said_acts > check->last_act)
		check->finding = psprintf("acts are missing at the end: " INT64_FORMAT, said_acts - check->last_act);
	else if (check->finding == NULL && (said != check->last_seq || said_acts != check->last_act ||
										!is_hash(bytea_of(0, 2), check->head)))
		check->finding = "the head of the chain is not that of its last charge or act";
	check->last_seq = Max(check->last_seq, said);
}

/* What every block has lost must be the sums of the lines that have it, and what is spent the most of them. */
static void
check_blocks(pe_chain_check *check, Datum *values)
{
	static pe_statement differing = {NULL, "WITH a AS (SELECT 0::pg_catalog.int8 AS id, NULL::text AS role, "
		"rho_spent, delta_spent, epsilon_spent FROM dp_ledger.dataset WHERE id = $1 AND max_blocks IS NOT NULL "
		"UNION ALL SELECT id, role_name, rho_spent, delta_spent, epsilon_spent FROM dp_ledger.budget "
		"WHERE dataset_id = $1 AND per_block) SELECT a.role, a.id FROM a, LATERAL "
		"(SELECT coalesce(max(rho), 0) AS rho, coalesce(max(delta), 0) AS delta, coalesce(max(epsilon), 0) "
		"AS epsilon FROM dp_ledger.block_charged c WHERE c.dataset_id = $1 AND c.budget_id = a.id) m "
		"WHERE (coalesce(a.rho_spent, 0), coalesce(a.delta_spent, 0), coalesce(a.epsilon_spent, 0)) <> (m.rho, "
		"m.delta, m.epsilon) UNION ALL SELECT a.role, coalesce(a.id, b.budget_id) FROM (SELECT * "
		"FROM dp_ledger.block WHERE dataset_id = $1) b FULL JOIN (SELECT * FROM dp_ledger.block_charged "
		"WHERE dataset_id = $1) c USING (budget_id, block) LEFT JOIN a ON a.id = budget_id "
		"WHERE (b.rho_spent, b.delta_spent, b.epsilon_spent) IS DISTINCT FROM (c.rho, c.delta, c.epsilon) "
		"ORDER BY 2 LIMIT 1", 1, {INT8OID}};

	if (pe_access_read_again(&differing, values) > 0 && check->finding == NULL)
		check->finding = text_of(0, 1) == NULL
			? "what blocks have lost of the cap is not the sum of the charges"
			: psprintf("what blocks have lost of the budget of role \"%s\" is not the sum of its charges",
					   text_of(0, 1));
}

/*
 * What was spent of the cap and of every budget must be the sums of the lines,
 * where blocks do not count by themselves.
 */
static void
check_sums(pe_chain_check *check, Datum *values)
{
	static pe_statement differing = {NULL, "SELECT NULL::text AS role, 0 AS id FROM dp_ledger.dataset d, "
		"(SELECT sum(cap_rho) AS rho, sum(cap_delta) AS delta, sum(cap_epsilon) AS epsilon FROM dp_ledger.charge "
		"WHERE dataset_id = $1) s WHERE d.id = $1 AND d.max_blocks IS NULL AND (d.rho_spent <> coalesce(s.rho, 0) "
		"OR d.delta_spent <> coalesce(s.delta, 0) OR coalesce(d.epsilon_spent, 0) <> coalesce(s.epsilon, 0)) "
		"UNION ALL SELECT b.role_name, b.id FROM dp_ledger.budget b LEFT JOIN "
		"(SELECT budget_id, sum(rho) AS rho, sum(delta) AS delta, sum(epsilon) AS epsilon FROM dp_ledger.charge "
		"WHERE dataset_id = $1 GROUP BY budget_id) s ON s.budget_id = b.id "
		"WHERE b.dataset_id = $1 AND NOT b.per_block AND (coalesce(b.rho_spent, 0) <> coalesce(s.rho, 0) "
		"OR coalesce(b.delta_spent, 0) <> coalesce(s.delta, 0) OR coalesce(b.epsilon_spent, 0) "
		"<> coalesce(s.epsilon, 0)) ORDER BY 2 LIMIT 1", 1, {INT8OID}};

	if (pe_access_read_again(&differing, values) > 0 && check->finding == NULL)
		check->finding = text_of(0, 1) == NULL
			? "what is spent of the cap is not the sum of the charges"
			: psprintf("what is spent of the budget of role \"%s\" is not the sum of its charges", text_of(0, 1));
}

/*
 * Every series is what was paid for, and what is stored and was tried of its
 * periods is what the lines say.  One that is older than a broken chain which
 * was attested is no longer looked at: it has ended.
 */
static void
check_series(pe_chain_check *check, Datum *values)
{
	static pe_statement differing = {NULL, "WITH alive AS (SELECT s.*, c.seq, c.rho AS paid "
		"FROM dp_ledger.series s LEFT JOIN dp_ledger.charge c ON c.id = s.charge_id AND c.dataset_id = $1 "
		"AND c.series_id = s.id WHERE s.dataset_id = $1 AND NOT EXISTS (SELECT FROM dp_ledger.charge a "
		"WHERE a.dataset_id = $1 AND a.function = '" PE_ATTEST_BROKEN "' AND (c.seq IS NULL "
		"OR a.seq > c.seq))), report AS (SELECT c.id, c.series_id, (c.request::pg_catalog.jsonb "
		"OPERATOR(pg_catalog.->>) 'period')::int4 AS period, c.request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) "
		"'sha256' AS sha256 FROM dp_ledger.charge c JOIN alive s ON s.id = c.series_id "
		"WHERE c.dataset_id = $1 AND c.request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) 'kind' = 'report'), "
		"attempt AS (SELECT c.series_id, s.series, (c.request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) "
		"'period')::int4 AS period, max((c.request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) 'attempt')::int4) "
		"AS last FROM dp_ledger.charge c JOIN alive s ON s.id = c.series_id "
		"WHERE c.dataset_id = $1 AND c.request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) 'kind' = 'attempt' "
		"GROUP BY 1, 2, 3) SELECT series, 'series \"%s\" is not what was paid for' AS what FROM alive "
		"WHERE paid IS DISTINCT FROM rho UNION ALL SELECT s.series, 'series \"%s\" was prolonged otherwise than it "
		"was paid for' FROM alive s, LATERAL (SELECT coalesce(sum(p.rho), 0) AS rho, "
		"coalesce(max((p.request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) 'periods')::int4), s.first_periods) "
		"AS periods FROM dp_ledger.charge p WHERE p.dataset_id = $1 AND p.series_id = s.id "
		"AND p.function = '" PE_PROLONG "') p WHERE p.rho <> s.prolonged_rho OR p.periods <> s.periods "
		"UNION ALL SELECT series, 'series \"%s\" goes on after the ledger was attested' FROM alive "
		"WHERE ended IS NULL AND EXISTS (SELECT FROM dp_ledger.charge a WHERE a.dataset_id = $1 "
		"AND a.function = '" PE_ATTEST "' AND a.seq > alive.seq) "
		"UNION ALL SELECT s.series, 'a measurement of series \"%s\" is not what was stored' FROM alive s "
		"JOIN dp_ledger.series_period p ON p.series_id = s.id WHERE p.payload IS NOT NULL AND NOT EXISTS (SELECT "
		"FROM report r WHERE r.id = p.charge_id AND r.series_id = s.id AND r.period = p.period "
		"AND r.sha256 = pg_catalog.encode(pg_catalog.sha256(p.payload), 'hex')) "
		"UNION ALL SELECT s.series, 'a measurement of series \"%s\" is missing' FROM alive s "
		"JOIN report r ON r.series_id = s.id WHERE NOT EXISTS (SELECT FROM dp_ledger.series_period p "
		"WHERE p.series_id = s.id AND p.charge_id = r.id) "
		"UNION ALL SELECT coalesce(s.series, a.series), 'attempts to measure series \"%s\" are not those of the "
		"lines' FROM alive s JOIN dp_ledger.series_period p ON p.series_id = s.id "
		"FULL JOIN attempt a ON a.series_id = s.id AND a.period = p.period "
		"WHERE a.last IS DISTINCT FROM p.attempts UNION ALL SELECT s.series, 'series \"%s\" goes on after its end' "
		"FROM alive s WHERE s.ended IS NULL AND EXISTS (SELECT FROM dp_ledger.act e "
		"WHERE e.dataset_id = $1 AND e.act = 'end_series' AND e.subject = s.series) "
		"UNION ALL SELECT c.request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) 'series', 'series \"%s\" is "
		"missing' FROM dp_ledger.charge c WHERE c.dataset_id = $1 AND c.function = 'dp.create_series' "
		"AND NOT EXISTS (SELECT FROM dp_ledger.series s WHERE s.id = c.series_id) AND NOT EXISTS (SELECT "
		"FROM dp_ledger.charge a WHERE a.dataset_id = $1 AND a.function = '" PE_ATTEST_BROKEN "' "
		"AND a.seq > c.seq) ORDER BY 1, 2 LIMIT 1", 1, {INT8OID}};

	if (pe_access_read_again(&differing, values) > 0 && check->finding == NULL)
		check->finding = psprintf(text_of(0, 2), text_of(0, 1));
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
	check_blocks(check, values);
	check_series(check, values);
	PopActiveSnapshot();
	if (check->finding != NULL)
		check->finding = MemoryContextStrdup(context, check->finding);
	pe_access_end(&access);
}

void
pe_chain_lines(int64 dataset_id, pe_chain_check *check)
{
	Datum		values[1] = {Int64GetDatum(dataset_id)};
	pe_access	access;

	pe_access_begin(&access);
	PushCopiedSnapshot(GetLatestSnapshot());
	follow_all(check, values, CurrentMemoryContext);
	PopActiveSnapshot();
	pe_access_end(&access);
}

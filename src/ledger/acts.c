/*
 * acts.c
 *	  What owners do to a dataset.  See acts.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/timestamp.h"

#include "server/access.h"
#include "ledger/acts.h"
#include "ledger/chain.h"
#include "ledger/formats.h"

/* ------------------------------------------------------------------
 * A line
 * ------------------------------------------------------------------
 */

/* Every text is a string of JSON, the values too: no two lines have one text. */
static void
append_text(StringInfo text, const char *key, const char *value)
{
	appendStringInfo(text, ", \"%s\": ", key);
	if (value != NULL)
		escape_json(text, value);
	else
		appendStringInfoString(text, "null");
}

char *
pe_act_text(const pe_act_line *line)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "{\"act\": " INT64_FORMAT ", \"dataset_id\": " INT64_FORMAT ", \"charges\": " INT64_FORMAT,
					 line->seq, line->dataset_id, line->charges);
	append_text(&text, "dataset", line->dataset);
	append_text(&text, "at", line->at);
	append_text(&text, "role", line->role);
	append_text(&text, "function", line->act);
	append_text(&text, "subject", line->subject);
	append_text(&text, "old", line->old_value);
	append_text(&text, "new", line->new_value);
	append_text(&text, "reason", line->reason);
	appendStringInfoChar(&text, '}');
	return text.data;
}

bytea *
pe_act_hash(const pe_act_line *line, const void *head)
{
	return pe_text_hash(head, PG_SHA256_DIGEST_LENGTH, pe_act_text(line));
}

void
pe_act_of_row(const pe_row *row, pe_act_line *line)
{
	line->dataset_id = pe_row_int64(row, "dataset_id");
	line->seq = pe_row_int64(row, "seq");
	PE_CHECK_FORMAT(pe_row_int64(row, "format"), "act " INT64_FORMAT, line->seq);
	line->charges = pe_row_int64(row, "charges");
	line->dataset = pe_row_text(row, "dataset");
	line->at = pe_row_text(row, "at");
	line->role = pe_row_text(row, "role_name");
	line->act = pe_row_text(row, "act");
	line->subject = pe_row_text(row, "subject");
	line->old_value = pe_row_text(row, "old_value");
	line->new_value = pe_row_text(row, "new_value");
	line->reason = pe_row_text(row, "reason");
	line->hash = pe_row_bytea(row, "hash");
}

static void
insert_line(const pe_act_line *line)
{
	pe_field	fields[] = {
		PE_INT8("dataset_id", line->dataset_id),
		PE_INT8("seq", line->seq),
		PE_INT8("charges", line->charges),
		PE_TEXT("dataset", line->dataset),
		PE_TEXT("at", line->at),
		PE_TEXT("role_name", line->role),
		PE_TEXT("act", line->act),
		PE_TEXT("subject", line->subject),
		PE_TEXT("old_value", line->old_value),
		PE_TEXT("new_value", line->new_value),
		PE_TEXT("reason", line->reason),
		PE_INT4("format", PE_FORMAT),
		PE_BYTEA("hash", line->hash)
	};

	pe_row_insert("act", PE_FIELDS(fields));
}

bytea *
pe_act_append(pe_act_line *line, const void *head)
{
	bytea	   *hash = pe_act_hash(line, head);

	line->hash = hash;
	insert_line(line);
	return hash;
}

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

static pe_statement dataset_value = {NULL, "SELECT "
	"pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('dataset', dataset, 'relation', relation_schema "
	"|| '.' || relation_name, 'owner', owner, 'registered', NOT dropped, 'unit', unit, 'max_rows', max_rows, "
	"'neighbours', neighbours, 'private_column', private_column, 'max_change', max_change, 'change', change, "
	"'time', time_attribute, 'append_only', nullif(append_only, false), 'max_blocks', max_blocks, 'block_months', "
	"nullif(block_months, 0), 'block_days', nullif(block_days, 0), 'block_zone', block_zone, 'accounting', "
	"accounting, 'epsilon', epsilon, 'delta', delta, 'delta_share', delta_share, 'version', version, 'same_cap_as', "
	"(SELECT k.dataset FROM dp_ledger.dataset k WHERE k.id = d.cap_id), 'view', view_identity, 'tables', "
	"(SELECT pg_catalog.jsonb_object_agg(t.relation_schema || '.' || t.relation_name, t.rule) "
	"FROM dp_ledger.dataset_table t WHERE t.dataset_id = d.id AND NOT t.is_past), 'keys', nullif(view_keys, '{}'), "
	"'functions', nullif(view_functions, '{}'), 'never_fails', nullif(never_fails, false), 'max_rows_read', "
	"max_rows_read, 'min_count', min_count, 'example', example_schema || '.' || example_name)) "
	"FROM dp_ledger.dataset d WHERE id = $1 AND $2 IS NULL", 2,
{INT8OID, TEXTOID}};

/* Points that are too long to be read are shown by their hash: only whether they are the same matters then. */
static pe_statement attribute_value = {NULL, "SELECT pg_catalog.jsonb_build_object('type', type, 'kind', kind, "
	"'cells', cells, 'outside', outside, 'nulls', nulls) || CASE WHEN open "
	"THEN pg_catalog.jsonb_build_object('open', true) ELSE '{}' END || CASE WHEN last IS NULL "
	"THEN '{}' ELSE pg_catalog.jsonb_build_object('last', last) END || CASE "
	"WHEN pg_catalog.length(points::text) <= 2000 THEN pg_catalog.jsonb_build_object('points', points) "
	"ELSE pg_catalog.jsonb_build_object('points_sha256', "
	"pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(points::text, 'UTF8')), 'hex')) END "
	"FROM dp_ledger.attribute WHERE dataset_id = $1 AND attribute = $2 AND until IS NULL", 2, {INT8OID, TEXTOID}};

static pe_statement budget_value = {NULL, "SELECT "
	"pg_catalog.jsonb_strip_nulls(pg_catalog.jsonb_build_object('accounting', accounting, 'epsilon', epsilon, "
	"'delta', delta, 'delta_share', delta_share, 'rho_limit', rho_limit / 1e9::float8, 'epsilon_limit', "
	"epsilon_limit / 1e9::float8, 'most_per_request', most_per_request, 'per_block', nullif(per_block, false))) "
	"FROM dp_ledger.budget WHERE dataset_id = $1 AND role_oid = (SELECT oid FROM pg_catalog.pg_authid "
	"WHERE rolname = $2)", 2, {INT8OID, TEXTOID}};

/* JSON; NULL if there is nothing.  Within an access. */
static char *
value_of(const pe_act *act)
{
	pe_statement *statement = act->kind == PE_ACT_DATASET ? &dataset_value
		: act->kind == PE_ACT_ATTRIBUTE ? &attribute_value : &budget_value;
	Datum		values[2] = {
		Int64GetDatum(act->dataset_id), act->subject != NULL ? CStringGetTextDatum(act->subject) : (Datum) 0
	};

	if (act->kind == PE_ACT_RELEASE || pe_access_write(statement, values, act->subject != NULL ? "  " : " n") == 0)
		return NULL;
	return pe_access_text(0, 1);
}

/* Of a dataset, what is not the same before and afterwards. */
static void
keep_differences(char **before, char **after)
{
	static pe_statement differing = {NULL, "SELECT (SELECT pg_catalog.jsonb_object_agg(key, value) "
		"FROM pg_catalog.jsonb_each($1::pg_catalog.jsonb) "
		"WHERE value IS DISTINCT FROM $2::pg_catalog.jsonb -> key), "
		"(SELECT pg_catalog.jsonb_object_agg(key, value) FROM pg_catalog.jsonb_each($2::pg_catalog.jsonb) "
		"WHERE value IS DISTINCT FROM $1::pg_catalog.jsonb -> key)", 2, {TEXTOID, TEXTOID}};
	Datum		values[2] = {CStringGetTextDatum(*before), CStringGetTextDatum(*after)};

	pe_access_write(&differing, values, NULL);
	*before = pe_access_text(0, 1);
	*after = pe_access_text(0, 2);
}

/* ------------------------------------------------------------------
 * Acts
 * ------------------------------------------------------------------
 */

void
pe_act_begin(pe_act *act, int64 dataset_id, pe_act_kind kind, const char *name, const char *subject)
{
	static pe_statement lock = {NULL, "SELECT FROM dp_ledger.dataset WHERE id = $1 FOR UPDATE", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset_id)};
	pe_access	access;

	*act = (pe_act) {.dataset_id = dataset_id, .kind = kind, .name = name, .subject = subject};
	pe_access_begin(&access);
	if (pe_access_write(&lock, values, NULL) != 1)
		elog(ERROR, "a dataset is gone");
	act->before = value_of(act);
	pe_access_end(&access);
}

void
pe_act_begin_new(pe_act *act, int64 dataset_id, const char *name)
{
	*act = (pe_act) {.dataset_id = dataset_id, .kind = PE_ACT_DATASET, .name = name};
}

/* After the last line of the dataset, whose row is locked. */
static void
append_line(pe_act_line *line)
{
	static pe_statement read = {NULL, "SELECT acts, charges, dataset, chain_head FROM dp_ledger.dataset "
		"WHERE id = $1", 1, {INT8OID}};
	static pe_statement write = {NULL, "UPDATE dp_ledger.dataset SET acts = $2, chain_head = $3 "
		"WHERE id = $1", 3, {INT8OID, INT8OID, BYTEAOID}};
	Datum		values[3] = {Int64GetDatum(line->dataset_id)};
	char		head[PG_SHA256_DIGEST_LENGTH] = {0};
	bytea	   *stored;
	bool		isnull;

	if (pe_access_write(&read, values, NULL) != 1)
		elog(ERROR, "a dataset is gone");
	line->seq = pe_access_int64(0, 1) + 1;
	line->charges = pe_access_int64(0, 2);
	line->dataset = pe_access_text(0, 3);
	stored = DatumGetByteaPP(pe_access_datum(0, 4, &isnull));
	/* a head of another size was not written by the ledger: the chain stays broken */
	memcpy(head, VARDATA_ANY(stored), Min(VARSIZE_ANY_EXHDR(stored), sizeof(head)));
	values[2] = PointerGetDatum(pe_act_append(line, head));
	values[1] = Int64GetDatum(line->seq);
	pe_access_write(&write, values, NULL);
}

void
pe_act_end(const pe_act *act, const char *reason)
{
	char	   *role = GetUserNameFromId(GetUserId(), false);
	char	   *before = act->before;
	char	   *after;
	pe_act_line line;
	pe_access	access;

	pe_access_begin(&access);
	after = value_of(act);
	if (act->kind == PE_ACT_DATASET && before != NULL)
		keep_differences(&before, &after);
	line = (pe_act_line) {
		.dataset_id = act->dataset_id, .at = pstrdup(timestamptz_to_str(GetCurrentTimestamp())), .role = role,
		.act = act->name, .subject = act->subject, .old_value = before, .new_value = after, .reason = reason
	};
	append_line(&line);
	pe_access_end(&access);
}

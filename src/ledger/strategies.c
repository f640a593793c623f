/*
 * strategies.c
 *	  Strategies that were computed, kept in a table.  See strategies.h.
 */
#include "postgres.h"

#include "access/htup_details.h"	/* VARDATA and its kin, in every version */
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "common/sha2.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "server/access.h"
#include "server/settings.h"
#include "ledger/chain.h"
#include "ledger/formats.h"
#include "ledger/strategies.h"
#include "methods/make.h"
#include "blocks/blocks.h"

/* ------------------------------------------------------------------
 * The key
 * ------------------------------------------------------------------
 */

/* Which cells a predicate leaves, as a hash. */
static void
append_possible(StringInfo text, const char *field, const bool *possible, int32 cells)
{
	bytea	   *hash = pe_sha256(possible, cells * sizeof(bool), "", 0);

	appendStringInfo(text, ", \"%s\": \"", field);
	for (int i = 0; i < PG_SHA256_DIGEST_LENGTH; i++)
		appendStringInfo(text, "%02x", (unsigned char) VARDATA(hash)[i]);
	appendStringInfoChar(text, '"');
}

/* Two keys with the same text have the same strategies, except for how good they must be. */
static char *
key_text(const pe_strategy_key *key)
{
	const pe_shape *shape = &key->workload->shape;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "{\"method\": \"%s\", \"objective\": \"%s\", \"norm\": \"%s\", \"neighbours\": \"%s\", "
							"\"cells\": [",
					 pe_method_name(key->method), key->objective == PE_MAX ? "max" : "sum",
					 key->norm == PE_L1 ? "l1" : "l2",
					 key->neighbours == PE_SUBSTITUTE ? "substitute" : "add_remove");
	for (int a = 0; a < shape->attributes; a++)
	{
		appendStringInfo(&text, "%s[", a > 0 ? ", " : "");
		if (shape->name[a] != NULL)
			escape_json(&text, shape->name[a]);
		else
			appendStringInfoString(&text, "null");
		appendStringInfo(&text, ", %d, %d]", shape->cells[a], shape->ordered[a]);
	}
	appendStringInfoString(&text, "], \"workload\": ");
	escape_json(&text, key->workload->canonical);
	if (key->spare > 0)
		appendStringInfo(&text, ", \"spare\": %d", key->spare);
	if (key->whole)
		appendStringInfoString(&text, ", \"whole\": true");
	if (key->possible != NULL)
		append_possible(&text, "possible", key->possible, pe_shape_cells(shape));
	for (int a = 0; key->possible == NULL && key->possible_of != NULL && a < shape->attributes; a++)
		if (key->possible_of[a] != NULL)
			append_possible(&text, psprintf("possible %d", a + 1), key->possible_of[a], shape->cells[a]);
	appendStringInfoChar(&text, '}');
	return text.data;
}

/* ------------------------------------------------------------------
 * Reading
 * ------------------------------------------------------------------
 */

static void
refuse_damaged(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("strategy " INT64_FORMAT " is damaged", id)));
}

void
pe_strategy_attach(pe_kept_strategy *found, const pe_workload *workload)
{
	pe_strategy *strategy = &found->strategy;
	pe_classes	classes;

	if (strategy->blocks != NULL)
	{
		if (!pe_blocks_fit(strategy->blocks, &workload->shape))
			refuse_damaged(found->id);
		return;
	}
	pe_classes_init(&workload, 1, &classes);
	if (classes.cells != strategy->classes || (strategy->direct && strategy->rows != workload->queries))
		refuse_damaged(found->id);
	pe_classes_free(&classes);
	pe_strategy_bind(strategy, workload);
}

static void
read_bytes(const bytea *bytes, pe_kept_strategy *found)
{
	const char *from = VARDATA_ANY(bytes);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);

	if (pe_strategy_bytes_are_newer(from, size))
		pe_format_refuse(psprintf("strategy " INT64_FORMAT, found->id));
	if (pe_strategy_read(&found->strategy, from, size) != PE_STRATEGY_OK)
		refuse_damaged(found->id);
}

/* Reads the one row (id, method, milliseconds, matrix) that a statement finds, if it finds one. */
static bool
read_kept(pe_statement *find, Datum *values, pe_kept_strategy *found)
{
	bytea	   *bytes = NULL;
	pe_access	access;
	bool		isnull;

	pe_access_begin(&access);
	if (pe_access_read(find, values, NULL) == 1)
	{
		found->id = pe_access_int64(0, 1);
		if (!pe_method_of_name(pe_access_text(0, 2), &found->method))
			refuse_damaged(found->id);
		found->milliseconds = DatumGetFloat8(pe_access_datum(0, 3, &isnull));
		bytes = DatumGetByteaPP(pe_access_datum(0, 4, &isnull));
	}
	pe_access_end(&access);
	/* outside: what is allocated in between is gone now */
	if (bytes != NULL)
		read_bytes(bytes, found);
	return bytes != NULL;
}

bool
pe_strategy_find(const pe_strategy_key *key, double accepted_gap, pe_kept_strategy *found)
{
	static pe_statement find = {NULL, "SELECT id, method, milliseconds, matrix FROM dp_ledger.strategy "
	"WHERE key_hash = $1 AND key = $2 AND gap <= $3 ORDER BY gap, id LIMIT 1", 3, {BYTEAOID, TEXTOID, FLOAT8OID}};
	char	   *text = key_text(key);
	Datum		values[3] = {
		PointerGetDatum(pe_request_hash(text)), CStringGetTextDatum(text), Float8GetDatum(accepted_gap)
	};

	if (!read_kept(&find, values, found))
		return false;
	pe_strategy_attach(found, key->workload);
	return true;
}

static bool
read_by_id(int64 id, pe_kept_strategy *found)
{
	static pe_statement find = {NULL, "SELECT id, method, milliseconds, matrix FROM dp_ledger.strategy "
		"WHERE id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(id)};

	return read_kept(&find, values, found);
}

bool
pe_strategy_load_matrix(int64 id, const pe_workload *workload, pe_kept_strategy *found)
{
	if (!read_by_id(id, found))
		return false;
	pe_strategy_attach(found, workload);
	return true;
}

bool
pe_strategy_is_for(int64 id, const pe_workload *workload)
{
	static pe_statement find = {NULL, "SELECT FROM dp_ledger.strategy WHERE id = $1 AND workload = $2", 2,
	{INT8OID, TEXTOID}};
	Datum		values[2] = {Int64GetDatum(id), CStringGetTextDatum(workload->canonical)};
	pe_access	access;
	bool		is;

	pe_access_begin(&access);
	is = pe_access_read(&find, values, NULL) == 1;
	pe_access_end(&access);
	return is;
}

/* The shape of a stored strategy: names if there are any, cells and ordered cells. */
static void
read_shape(pe_shape *shape, int column)
{
	static pe_statement rows = {NULL, "SELECT c, o, n FROM dp_ledger.strategy, ROWS FROM (pg_catalog.unnest(cells), "
		"pg_catalog.unnest(ordered), pg_catalog.unnest(attributes)) WITH ORDINALITY u(c, o, n, i) WHERE id = $1 "
		"ORDER BY i",
	1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(column)};
	uint64		count = pe_access_read(&rows, values, NULL);

	memset(shape, 0, sizeof(*shape));
	shape->attributes = (int) Min(count, PE_MAX_ATTRIBUTES);
	for (int a = 0; a < shape->attributes; a++)
	{
		shape->cells[a] = (int32) pe_access_int64(a, 1);
		shape->ordered[a] = (int32) pe_access_int64(a, 2);
		shape->name[a] = pe_access_text(a, 3);
	}
}

bool
pe_strategy_load(int64 id, pe_kept_strategy *found, pe_workload *workload)
{
	static pe_statement find = {NULL, "SELECT workload FROM dp_ledger.strategy WHERE id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(id)};
	pe_text_error error;
	pe_shape	shape;
	pe_access	access;
	char	   *text;

	if (!read_by_id(id, found))
		return false;
	pe_access_begin(&access);
	if (pe_access_read(&find, values, NULL) != 1)
	{
		pe_access_end(&access);
		return false;
	}
	text = pe_access_text(0, 1);
	read_shape(&shape, id);
	pe_access_end(&access);
	if (!pe_workload_parse(text, shape.attributes == 0 || shape.name[0] != NULL ? &shape : NULL, workload, &error))
		refuse_damaged(id);
	pe_strategy_attach(found, workload);
	return true;
}

/* ------------------------------------------------------------------
 * Keeping: the message to the worker, and what it does
 * ------------------------------------------------------------------
 */

static void
send_text(StringInfo to, const char *text)
{
	appendBinaryStringInfo(to, text, strlen(text) + 1);
}

void
pe_strategy_message(StringInfo to, const pe_strategy_key *key, double milliseconds, const char *bytes, size_t size)
{
	const pe_shape *shape = &key->workload->shape;

	send_text(to, key_text(key));
	send_text(to, key->workload->canonical);
	send_text(to, pe_method_name(key->method));
	pq_sendfloat8(to, key->gap);
	pq_sendfloat8(to, milliseconds);
	pq_sendint32(to, shape->attributes);
	for (int a = 0; a < shape->attributes; a++)
	{
		pq_sendint32(to, shape->cells[a]);
		pq_sendint32(to, shape->ordered[a]);
		send_text(to, shape->name[a] != NULL ? shape->name[a] : "");
	}
	appendBinaryStringInfo(to, bytes, size);
}

/*
 * What is older and no charge refers to goes, once it and the newer ones fill the
 * cache.  Each counts as some bytes more than it has: so many are never kept that
 * the worker would be long at counting them.
 */
static void
make_room(int64 newest)
{
	static pe_statement remove = {NULL, "DELETE FROM dp_ledger.strategy WHERE id IN (SELECT id FROM (SELECT s.id, "
		"pg_catalog.sum(8192 + pg_catalog.octet_length(s.matrix) + pg_catalog.octet_length(s.key) "
		"+ pg_catalog.octet_length(s.workload)) OVER (ORDER BY s.id DESC) AS size FROM dp_ledger.strategy s "
		"WHERE NOT EXISTS (SELECT FROM dp_ledger.charge c WHERE c.strategy_id = s.id) "
		"AND NOT EXISTS (SELECT FROM dp_ledger.charge c WHERE c.other_strategies IS NOT NULL "
		"AND s.id OPERATOR(pg_catalog.=) ANY (c.other_strategies))) u "
		"WHERE u.size > $1 AND u.id <> $2)",
	2, {INT8OID, INT8OID}};
	Datum		values[2] = {Int64GetDatum((int64) pe_strategy_cache * 1024), Int64GetDatum(newest)};

	pe_access_write(&remove, values, NULL);
}

static Datum
array_of(Datum *elements, int count, Oid type)
{
	if (type == TEXTOID)
		return PointerGetDatum(construct_array(elements, count, type, -1, false, TYPALIGN_INT));
	return PointerGetDatum(construct_array(elements, count, type, sizeof(int32), true, TYPALIGN_INT));
}

/* The shape in a message, as three columns: names if there are any, cells and ordered cells. */
static void
receive_shape(StringInfo message, pe_field *fields)
{
	int			attributes = pq_getmsgint(message, 4);
	Datum		name[PE_MAX_ATTRIBUTES];
	Datum		cells[PE_MAX_ATTRIBUTES];
	Datum		ordered[PE_MAX_ATTRIBUTES];
	bool		named = false;

	for (int a = 0; a < attributes; a++)
	{
		const char *text;

		cells[a] = Int32GetDatum(pq_getmsgint(message, 4));
		ordered[a] = Int32GetDatum(pq_getmsgint(message, 4));
		text = pq_getmsgrawstring(message);
		named |= text[0] != '\0';
		name[a] = CStringGetTextDatum(text);
	}
	fields[0] = PE_IF(named, PE_DATUM("attributes", TEXTARRAYOID, array_of(name, attributes, TEXTOID)));
	fields[1] = PE_DATUM("cells", INT4ARRAYOID, array_of(cells, attributes, INT4OID));
	fields[2] = PE_DATUM("ordered", INT4ARRAYOID, array_of(ordered, attributes, INT4OID));
}

/* Inserts a row that begins with what it is found by, unless another backend was first. */
static int64
keep_row(const pe_field *fields, int count)
{
	static pe_statement find;
	static pe_statement insert;
	pe_access	access;
	bool		found;
	int64		id;

	pe_access_begin(&access);
	found = pe_access_named(&find, "SELECT id FROM dp_ledger.strategy WHERE key_hash = $key_hash AND key = $key "
							"AND gap <= $gap ORDER BY gap, id LIMIT 1", fields, 3) > 0;
	if (!found)
		pe_access_insert(&insert, "strategy", fields, count, "RETURNING id");
	id = pe_access_int64(0, 1);
	if (!found)
		make_room(id);
	pe_access_end(&access);
	return id;
}

int64
pe_strategy_keep(StringInfo message)
{
	const char *key = pq_getmsgrawstring(message);
	const char *workload = pq_getmsgrawstring(message);
	const char *method = pq_getmsgrawstring(message);
	double		gap = pq_getmsgfloat8(message);
	double		milliseconds = pq_getmsgfloat8(message);
	pe_field	shape[3];
	pe_strategy strategy;
	bytea	   *matrix;
	int			size;

	receive_shape(message, shape);
	size = message->len - message->cursor;
	matrix = palloc(VARHDRSZ + size);
	SET_VARSIZE(matrix, VARHDRSZ + size);
	pq_copymsgbytes(message, VARDATA(matrix), size);
	if (pe_strategy_read(&strategy, VARDATA(matrix), size) != PE_STRATEGY_OK)
		elog(ERROR, "a strategy came damaged");
	{
		pe_field	fields[] = {
			PE_BYTEA("key_hash", pe_request_hash(key)),
			PE_TEXT("key", key),
			PE_FLOAT8("gap", gap),
			PE_SQL("id", "pg_catalog.nextval('dp_ledger.strategy_id_seq')"),
			PE_TEXT("workload", workload),
			PE_TEXT("method", method),
			PE_FLOAT8("milliseconds", milliseconds),
			shape[0], shape[1], shape[2],
			PE_INT4("columns", strategy.columns),
			PE_INT4("rank", strategy.rows),
			PE_FLOAT8("objective", strategy.objective),
			PE_FLOAT8("lower_bound", strategy.lower_bound),
			PE_INT4("iterations", strategy.iterations),
			PE_BYTEA("matrix", matrix)
		};

		return keep_row(PE_FIELDS(fields));
	}
}

void
pe_strategy_check_kept(int64 id)
{
	static pe_statement find = {NULL, "SELECT FROM dp_ledger.strategy WHERE id = $1 FOR KEY SHARE", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(id)};

	if (id != 0 && pe_access_write(&find, values, NULL) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the strategy of the request was removed meanwhile"),
				 errdetail("Nothing was charged."),
				 errhint("Ask again.")));
}

/*
 * series.c
 *	  Series of reports in the ledger.  See series.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "ledger/acts.h"
#include "ledger/anchor.h"
#include "ledger/budget.h"
#include "ledger/chain.h"
#include "ledger/formats.h"
#include "ledger/series.h"
#include "server/access.h"
#include "server/row.h"
#include "server/settings.h"

/* ------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------
 */

static void
write_text(StringInfo to, const char *text)
{
	appendBinaryStringInfo(to, text, strlen(text) + 1);
}

static char *
read_text(StringInfo from)
{
	return pstrdup(pq_getmsgrawstring(from));
}

static void
write_interval(StringInfo to, const Interval *interval)
{
	pq_sendint64(to, interval->time);
	pq_sendint32(to, interval->day);
	pq_sendint32(to, interval->month);
}

static void
read_interval(StringInfo from, Interval *interval)
{
	interval->time = pq_getmsgint64(from);
	interval->day = pq_getmsgint(from, 4);
	interval->month = pq_getmsgint(from, 4);
}

static void
write_texts(StringInfo to, char **text, int count)
{
	pq_sendint32(to, count);
	for (int i = 0; i < count; i++)
		write_text(to, text[i]);
}

/* A text has at least the byte that ends it. */
static char **
read_texts(StringInfo from, int *count)
{
	char	  **text;

	*count = pq_getmsgint(from, 4);
	if (*count < 0 || *count > from->len)
		elog(ERROR, "a series with too many texts");
	text = palloc((*count + 1) * sizeof(*text));
	for (int i = 0; i < *count; i++)
		text[i] = read_text(from);
	return text;
}

static void
write_sums(StringInfo to, const pe_series *s)
{
	write_texts(to, s->aggregate, s->aggregates);
	write_texts(to, s->never_null, s->never_nulls);
	pq_sendint32(to, s->cells_per_unit);
	pq_sendint32(to, s->shares);
	for (int i = 0; i < s->shares; i++)
		pq_sendint64(to, s->share[i]);
}

static void
read_sums(StringInfo from, pe_series *s)
{
	s->aggregate = read_texts(from, &s->aggregates);
	s->never_null = read_texts(from, &s->never_nulls);
	s->cells_per_unit = pq_getmsgint(from, 4);
	s->shares = pq_getmsgint(from, 4);
	if (s->shares < 0 || s->shares > from->len)
		elog(ERROR, "a series with too many sums");
	s->share = palloc((s->shares + 1) * sizeof(int64));
	for (int i = 0; i < s->shares; i++)
		s->share[i] = pq_getmsgint64(from);
}

/* What of it is not in the rest of the request. */
static void
write_series(StringInfo to, const pe_series *s)
{
	write_text(to, s->name);
	write_text(to, s->over);
	write_text(to, s->time_attribute);
	write_text(to, s->time_type);
	pq_sendint32(to, s->time_number);
	write_text(to, s->zone);
	write_text(to, s->objective);
	pq_sendbyte(to, s->append_only);
	pq_sendbyte(to, s->open_ended);
	pq_sendint64(to, s->starts);
	write_interval(to, &s->period);
	write_interval(to, &s->grace);
	pq_sendint32(to, s->periods);
	pq_sendint32(to, s->paid_periods);
	pq_sendint32(to, s->history);
	pq_sendint32(to, s->max_periods);
	pq_sendint32(to, s->rows_per_unit);
	write_sums(to, s);
	pq_sendint32(to, s->strategy_size);
	appendBinaryStringInfo(to, s->strategy, s->strategy_size);
	for (int i = 0; i <= s->periods; i++)
		pq_sendint64(to, s->edge[i]);
	for (int i = 0; i < s->periods; i++)
		pq_sendfloat8(to, s->stderr_[i]);
}

static pe_series *
read_series(StringInfo from)
{
	pe_series  *s = palloc0(sizeof(*s));

	s->name = read_text(from);
	s->over = read_text(from);
	s->time_attribute = read_text(from);
	s->time_type = read_text(from);
	s->time_number = (int) pq_getmsgint(from, 4);
	s->zone = read_text(from);
	s->objective = read_text(from);
	s->append_only = pq_getmsgbyte(from) != 0;
	s->open_ended = pq_getmsgbyte(from) != 0;
	s->starts = pq_getmsgint64(from);
	read_interval(from, &s->period);
	read_interval(from, &s->grace);
	s->periods = pq_getmsgint(from, 4);
	s->paid_periods = pq_getmsgint(from, 4);
	if (s->periods < 1 || s->periods > from->len)
		elog(ERROR, "a series without periods");
	s->history = pq_getmsgint(from, 4);
	s->max_periods = pq_getmsgint(from, 4);
	s->rows_per_unit = pq_getmsgint(from, 4);
	read_sums(from, s);
	s->strategy_size = pq_getmsgint(from, 4);
	s->strategy = palloc(Max(s->strategy_size, 1));
	pq_copymsgbytes(from, s->strategy, s->strategy_size);
	s->edge = palloc((s->periods + 1) * sizeof(int64));
	for (int i = 0; i <= s->periods; i++)
		s->edge[i] = pq_getmsgint64(from);
	s->stderr_ = palloc(s->periods * sizeof(double));
	for (int i = 0; i < s->periods; i++)
		s->stderr_[i] = pq_getmsgfloat8(from);
	return s;
}

void
pe_series_request_write(StringInfo to, const pe_series_request *series)
{
	pq_sendint64(to, series->id);
	pq_sendint32(to, series->period);
	pq_sendbyte(to, series->unread);
	pq_sendbyte(to, series->created != NULL);
	if (series->created != NULL)
		write_series(to, series->created);
}

pe_series_request *
pe_series_request_read(StringInfo from)
{
	pe_series_request *series = palloc0(sizeof(*series));

	series->id = pq_getmsgint64(from);
	series->period = pq_getmsgint(from, 4);
	series->unread = pq_getmsgbyte(from) != 0;
	if (pq_getmsgbyte(from) != 0)
		series->created = read_series(from);
	return series;
}

/* ------------------------------------------------------------------
 * In the worker
 * ------------------------------------------------------------------
 */

int64
pe_series_number(const pe_series *series)
{
	Datum		key[1] = {CStringGetTextDatum(series->name)};

	if (pe_row_last("series", "series_series_key", key, 1) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("a series \"%s\" exists already", series->name),
				 errdetail("Nothing was charged."),
				 errhint("Give it another name.")));
	return pe_row_next("series_id_seq");
}

static Datum
bytes_datum(const char *bytes, int size)
{
	bytea	   *datum = palloc(VARHDRSZ + size);

	SET_VARSIZE(datum, VARHDRSZ + size);
	memcpy(VARDATA(datum), bytes, size);
	return PointerGetDatum(datum);
}

#define NUMBERS(name, number, count) PE_DATUM(name, FLOAT8ARRAYOID, numbers_datum(number, count))

static Datum
numbers_datum(const double *number, int count)
{
	Datum	   *element = palloc((count + 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
		element[i] = Float8GetDatum(number[i]);
	return PointerGetDatum(construct_array(element, count, FLOAT8OID, 8, FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

void
pe_series_insert(const pe_series *series, const pe_charge_request *request, const pe_charge_price *price, int64 id,
				 int64 charge_id)
{
	bool		has_sums = series->aggregates > 0;
	pe_field	fields[] = {
		PE_INT8("id", id),
		PE_TEXT("series", series->name),
		PE_INT8("charge_id", charge_id),
		PE_INT8("dataset_id", request->dataset_id),
		PE_INT4("version", (int32) request->version),
		PE_INT4("declared", request->declared),
		PE_INT8("budget_id", request->budget_id),
		PE_TEXT("role_name", request->role),
		PE_TEXTS("attributes", request->attribute, request->attributes),
		PE_TEXT("workload", request->workload),
		PE_TEXT("predicate", request->predicate),
		PE_IF(request->strategy_id != 0, PE_INT8("strategy_id", request->strategy_id)),
		PE_IF(has_sums, PE_TEXTS("aggregates", series->aggregate, series->aggregates)),
		PE_IF(has_sums, PE_TEXTS("never_null", series->never_null, series->never_nulls)),
		PE_IF(has_sums, PE_INT4("cells_per_unit", series->cells_per_unit)),
		PE_IF(has_sums, PE_INT8S("shares", series->share, series->shares)),
		PE_TEXT("over_periods", series->over),
		PE_TEXT("time_attribute", series->time_attribute),
		PE_TEXT("time_type", series->time_type),
		PE_INT4("time_attnum", series->time_number),
		PE_BOOL("append_only", series->append_only),
		PE_TIMESTAMPTZ("starts", series->starts),
		PE_TEXT("time_zone", series->zone),
		PE_INT8S("edges", series->edge, series->periods + 1),
		PE_DATUM("period", INTERVALOID, IntervalPGetDatum(&series->period)),
		PE_DATUM("grace", INTERVALOID, IntervalPGetDatum(&series->grace)),
		PE_INT4("periods", series->periods),
		PE_INT4("first_periods", series->periods),
		PE_INT4("history", series->history),
		PE_IF(series->max_periods > 0, PE_INT4("max_periods", series->max_periods)),
		PE_IF(series->rows_per_unit > 0, PE_INT4("rows_per_unit", series->rows_per_unit)),
		PE_BOOL("open_ended", series->open_ended),
		PE_TEXT("objective", series->objective),
		PE_DATUM("strategy", BYTEAOID, bytes_datum(series->strategy, series->strategy_size)),
		NUMBERS("stderrs", series->stderr_, series->periods),
		PE_INT4("format", PE_FORMAT),
		PE_TEXT("accounting", pe_accounting_name(price->accounting)),
		PE_INT8("rho", price->amount.rho_nano),
		PE_INT8("prolonged_rho", 0),
		PE_TIMESTAMPTZ("created", GetCurrentTransactionStartTimestamp())
	};

	pe_row_insert("series", PE_FIELDS(fields));
}

void
pe_series_prolong(const pe_series *series, int64 id, int64 nano)
{
	Datum		key[1] = {Int64GetDatum(id)};
	pe_row	   *row = pe_row_last("series", "series_pkey", key, 1);
	pe_field	fields[] = {
		PE_INT4("periods", series->periods),
		PE_INT8S("edges", series->edge, series->periods + 1),
		NUMBERS("stderrs", series->stderr_, series->periods)
	};

	if (row == NULL || pe_row_lock(row) != PE_ROW_LOCKED || pe_row_int64(row, "periods") != series->paid_periods)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the series was changed while the request was made"),
				 errhint("Ask again.")));
	pe_row_add(row, "prolonged_rho", nano);
	pe_row_update(row, PE_FIELDS(fields));
}

int64
pe_series_paid(const pe_series_request *request)
{
	Datum		key[1] = {Int64GetDatum(request->id)};
	pe_row	   *row = pe_row_last("series", "series_pkey", key, 1);

	return row != NULL ? pe_row_int64(row, "rho") + pe_row_int64(row, "prolonged_rho") : 0;
}

/* The blocks of the lines that paid for it: one row, from the first to the last. */
static void
read_blocks(const pe_series_request *request)
{
	static pe_statement read = {NULL, "SELECT min(c.block_from), max(c.block_to) FROM dp_ledger.series s "
		"JOIN dp_ledger.charge c ON c.series_id = s.id AND (c.id = s.charge_id "
		"OR c.function IN ('" PE_PROLONG "', '" PE_PROLONG_NEW "')) WHERE s.id = $1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(request->id)};

	(void) pe_access_write(&read, values, NULL);
}

int64
pe_series_last_block(const pe_series_request *request)
{
	read_blocks(request);
	return pe_access_int64(0, 2);
}

bool
pe_series_has_blocks(const pe_series_request *request, pe_time_blocks blocks)
{
	read_blocks(request);
	return blocks.limited && !blocks.others && pe_access_int64(0, 1) <= blocks.first &&
		blocks.last <= pe_access_int64(0, 2);
}

/* The row of a period; NULL: nobody has tried to measure it. */
static pe_row *
period_row(const pe_series_request *request)
{
	Datum		key[2] = {Int64GetDatum(request->id), Int32GetDatum(request->period + 1)};

	return pe_row_last("series_period", "series_period_pkey", key, 2);
}

static void __attribute__((noreturn))
raise_damaged(const pe_series_request *request, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("the ledger is damaged: what was stored of period %d of a series %s", request->period + 1, what),
			 errdetail("Nothing is measured in its place: what was published stays what it is."),
			 errhint("dp.verify_ledger says what else is damaged.")));
	pg_unreachable();
}

/* Whether a line says that a measurement of the period was stored.  In the text of a name quotes are escaped. */
static bool
was_stored(const pe_series_request *request)
{
	static pe_statement find = {NULL, "SELECT FROM dp_ledger.charge WHERE series_id = $1 "
		"AND pg_catalog.starts_with(request, $2) AND pg_catalog.strpos(request, $3) > 0 "
		"LIMIT 1", 3, {INT8OID, TEXTOID, TEXTOID}};
	Datum		values[3] = {
		Int64GetDatum(request->id), CStringGetTextDatum("{\"kind\": \"report\", "),
		CStringGetTextDatum(psprintf(", \"period\": %d, \"sha256\": ", request->period + 1))
	};
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;
	bool		found;

	pe_access_begin(&access);
	found = pe_access_read(&find, values, NULL) > 0;
	pe_access_end(&access);
	MemoryContextSwitchTo(here);
	return found;
}

static bool
ends_with(const char *text, const char *end)
{
	size_t		size = strlen(text);

	return size >= strlen(end) && strcmp(text + size - strlen(end), end) == 0;
}

/* The line of a row must be of its period, and say its payload. */
static void
check_line(const pe_series_request *request, int64 charge_id, const bytea *payload)
{
	Datum		key[1] = {Int64GetDatum(charge_id)};
	pe_row	   *line = pe_row_last("charge", "charge_pkey", key, 1);
	char	   *said = psprintf(", \"period\": %d, \"sha256\": \"%s\"}", request->period + 1,
								pe_payload_digest(payload));

	if (line == NULL || pe_row_int64(line, "series_id") != request->id ||
		!ends_with(pe_row_text(line, "request"), said))
		raise_damaged(request, "is not what its line says");
}

/* What the row of a period has; false if it has nothing. */
static bool
read_stored(const pe_series_request *request, pe_charge_reply *reply)
{
	pe_row	   *row = period_row(request);
	bytea	   *payload = row != NULL ? pe_row_bytea(row, "payload") : NULL;

	if (payload == NULL)
		return false;
	check_line(request, pe_row_int64(row, "charge_id"), payload);
	reply->value = pe_payload_read(payload, &reply->values);
	reply->made = pe_row_int64(row, "stored");
	return true;
}

/* Row and line are written at once, but perhaps only after the row was looked for. */
bool
pe_series_stored(const pe_series_request *request, pe_charge_reply *reply)
{
	if (read_stored(request, reply))
		return true;
	if (!was_stored(request))
		return false;
	if (!read_stored(request, reply))
		raise_damaged(request, "is lost");
	return true;
}

char *
pe_series_check_open(const pe_series_request *request, int64 dataset_id, int64 version)
{
	Datum		key[1] = {Int64GetDatum(request->id)};
	pe_row	   *row = pe_row_last("series", "series_pkey", key, 1);

	if (row == NULL || pe_row_int64(row, "dataset_id") != dataset_id || pe_row_text(row, "ended_because") != NULL ||
		pe_row_int64(row, "version") != version)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the series has ended"),
				 errdetail("No more of its periods can be measured."),
				 errhint("Reports that are stored are still returned.")));
	if (request->period < 0 || request->period >= pe_row_int64(row, "periods"))
		elog(ERROR, "a period that the series does not have");
	return pe_row_text(row, "series");
}

int
pe_series_next_attempt(const pe_series_request *request)
{
	pe_row	   *row = period_row(request);

	return row != NULL ? (int) pe_row_int64(row, "attempts") + 1 : 1;
}

/* The row of a period, locked: only the worker writes it. */
static pe_row *
locked_period(const pe_series_request *request)
{
	pe_row	   *row = period_row(request);

	if (row == NULL || pe_row_lock(row) != PE_ROW_LOCKED)
		elog(ERROR, "a period of a series is locked");
	return row;
}

void
pe_series_count_attempt(const pe_series_request *request, int attempt)
{
	pe_field	fields[] = {
		PE_INT8("series_id", request->id),
		PE_INT4("period", request->period + 1),
		PE_INT4("attempts", attempt)
	};

	if (attempt > 1)
		pe_row_update(locked_period(request), PE_FIELDS(fields));
	else
		pe_row_insert("series_period", PE_FIELDS(fields));
}

void
pe_series_store(const pe_series_request *request, int64 charge_id, bytea *payload)
{
	pe_row	   *row = locked_period(request);
	pe_field	fields[] = {
		PE_INT8("charge_id", charge_id),
		PE_BYTEA("payload", payload),
		PE_BOOL("could_be_read", !request->unread),
		PE_TIMESTAMPTZ("stored", GetCurrentTransactionStartTimestamp())
	};

	if (pe_row_bytea(row, "payload") != NULL)
		elog(ERROR, "a period of a series is stored already");
	pe_row_update(row, PE_FIELDS(fields));
}

/* ------------------------------------------------------------------
 * In a backend
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
refuse_series(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("series \"%s\" does not exist, or is not yours to read", name),
			 errhint("The view dp.series lists those that are.")));
	pg_unreachable();
}

static char *
bytes_of(Datum datum, int *size)
{
	bytea	   *bytes = DatumGetByteaPP(datum);

	*size = VARSIZE_ANY_EXHDR(bytes);
	return memcpy(palloc(Max(*size, 1)), VARDATA_ANY(bytes), *size);
}

static pe_series *
series_of_row(const pe_row *row)
{
	pe_series  *s = palloc0(sizeof(*s));
	int			edges;

	s->name = pe_row_text(row, "series");
	PE_CHECK_FORMAT(pe_row_int64(row, "format"), "series \"%s\"", s->name);
	s->id = pe_row_int64(row, "id");
	s->dataset_id = pe_row_int64(row, "dataset_id");
	s->version = (int) pe_row_int64(row, "version");
	s->declared = (int) pe_row_int64(row, "declared");
	s->charge_id = pe_row_int64(row, "charge_id");
	s->budget_id = pe_row_int64(row, "budget_id");
	s->attribute = pe_row_texts(row, "attributes", &s->attributes);
	s->workload = pe_row_text(row, "workload");
	s->predicate = pe_row_text(row, "predicate");
	s->strategy_id = pe_row_int64(row, "strategy_id");
	s->over = pe_row_text(row, "over_periods");
	s->time_attribute = pe_row_text(row, "time_attribute");
	s->time_type = pe_row_text(row, "time_type");
	s->time_number = (int) pe_row_int64(row, "time_attnum");
	s->append_only = pe_row_bool(row, "append_only");
	s->starts = pe_row_int64(row, "starts");
	s->zone = pe_row_text(row, "time_zone");
	s->period = *DatumGetIntervalP(pe_row_datum(row, "period"));
	s->grace = *DatumGetIntervalP(pe_row_datum(row, "grace"));
	s->periods = (int) pe_row_int64(row, "periods");
	s->first_periods = (int) pe_row_int64(row, "first_periods");
	s->max_periods = (int) pe_row_int64(row, "max_periods");
	s->rows_per_unit = (int) pe_row_int64(row, "rows_per_unit");
	s->edge = pe_int64s_of_array(pe_row_datum(row, "edges"), &edges);
	if (edges != s->periods + 1)
		s->edge = NULL;
	s->history = (int) pe_row_int64(row, "history");
	s->open_ended = pe_row_bool(row, "open_ended");
	s->objective = pe_row_text(row, "objective");
	s->strategy = bytes_of(pe_row_datum(row, "strategy"), &s->strategy_size);
	s->accounting = pe_accounting_of(pe_row_text(row, "accounting"));
	s->nano = pe_row_int64(row, "rho");
	s->ended = pe_row_text(row, "ended_because") != NULL;
	s->share = pe_int64s_of_array(pe_row_datum(row, "shares"), &s->shares);
	if (s->shares == 0)
		return s;
	s->aggregate = pe_row_texts(row, "aggregates", &s->aggregates);
	s->never_null = pe_row_texts(row, "never_null", &s->never_nulls);
	s->cells_per_unit = (int) pe_row_int64(row, "cells_per_unit");
	return s;
}

static pe_series *
find_series(const char *name)
{
	Datum		key[1] = {CStringGetTextDatum(name)};
	pe_row	   *row = pe_row_last("series", "series_series_key", key, 1);

	return row != NULL ? series_of_row(row) : NULL;
}

/* Whether the budget that paid is open to the current user. */
static bool
is_payer(const pe_series *series, bool frozen)
{
	Datum		key[1] = {Int64GetDatum(series->budget_id)};
	pe_row	   *row = pe_row_last("budget", "budget_pkey", key, 1);

	return row != NULL && pe_row_int64(row, "dataset_id") == series->dataset_id &&
		pe_is_payer(frozen, (Oid) pe_row_int64(row, "role_oid"), pe_row_text(row, "role_name"), GetUserId());
}

pe_series *
pe_series_load(const char *name)
{
	pe_series  *series;
	pe_dataset *dataset;

	pe_access_check_serial();
	series = find_series(name);
	dataset = series != NULL ? pe_dataset_load_by_id(series->dataset_id) : NULL;
	if (dataset == NULL || (!is_payer(series, dataset->frozen) && !pe_dataset_owned_by(dataset, GetUserId())))
		refuse_series(name);
	return series;
}

int64 *
pe_series_read(const pe_series *series, int period, int64 *values, TimestampTz *stored)
{
	pe_series_request request = {.id = series->id, .period = period};
	pe_charge_reply reply = {0};

	if (!read_stored(&request, &reply))
		return NULL;
	*values = reply.values;
	*stored = reply.made;
	return reply.value;
}

/*
 * A ledger is frozen where the file knows other charges of it: nothing is drawn
 * there, and its attestation ends the series.
 */
void
pe_series_anchor(const pe_series *series, const pe_dataset *dataset)
{
	static pe_statement find = {NULL, "SELECT seq, hash FROM dp_ledger.charge "
		"WHERE series_id = $1 AND dataset_id = $2 ORDER BY seq DESC LIMIT 1", 2,
	{INT8OID, INT8OID}};
	Datum		key[2] = {Int64GetDatum(series->id), Int64GetDatum(dataset->id)};
	pe_anchor_link link = {.relation = dataset->relation};
	bool		behind;
	bool		isnull;
	pe_access	access;

	if (dataset->frozen)
		return;
	pe_access_begin(&access);
	behind = pe_access_read(&find, key, NULL) == 1;
	if (behind)
	{
		link.charges = pe_access_int64(0, 1);
		memcpy(link.head, VARDATA_ANY(DatumGetByteaPP(pe_access_datum(0, 2, &isnull))), sizeof(link.head));
		behind = pe_anchor_fault(dataset->id, link.relation, link.charges, link.head, false) == NULL;
	}
	pe_access_end(&access);
	if (behind)
		pe_anchor_reach(&link);
}

void
pe_series_lock(const pe_series *series, int period)
{
	LOCKTAG		tag;

	if (RecoveryInProgress())
		return;					/* nothing is measured there */
	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, (uint32) series->id, (uint32) period, PE_LOCK_PERIOD);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

char *
pe_series_paid_request(const pe_series *series)
{
	Datum		key[1] = {Int64GetDatum(series->charge_id)};
	pe_row	   *row = pe_row_last("charge", "charge_pkey", key, 1);

	return row != NULL && pe_row_int64(row, "series_id") == series->id && pe_row_int64(row, "rho") == series->nano
		? pe_row_text(row, "request") : NULL;
}

/* By the number of periods: it may have been prolonged once more since the row was read. */
char *
pe_series_prolonged_request(const pe_series *series)
{
	static pe_statement find = {NULL, "SELECT request FROM dp_ledger.charge "
		"WHERE series_id = $1 AND dataset_id = $2 AND function = '" PE_PROLONG "' "
		"AND pg_catalog.strpos(request, $3) > 0 ORDER BY seq DESC LIMIT 1", 3, {INT8OID, INT8OID, TEXTOID}};
	Datum		key[3] = {Int64GetDatum(series->id), Int64GetDatum(series->dataset_id),
		CStringGetTextDatum(psprintf(", \"periods\": %d, ", series->periods))};
	char	   *request;
	pe_access	access;

	pe_access_begin(&access);
	request = pe_access_read(&find, key, NULL) == 1 ? pe_access_text(0, 1) : NULL;
	pe_access_end(&access);
	return request;
}

void
pe_series_check_payer(const pe_series *series, const pe_dataset *dataset)
{
	if (!is_payer(series, dataset->frozen))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("the budget that paid for series \"%s\" is not yours", series->name),
				 errdetail("What prolongs a series is paid by the same budget.")));
}

void
pe_series_end(const pe_series *series, const char *because)
{
	static pe_statement end = {NULL, "UPDATE dp_ledger.series SET ended = pg_catalog.now(), ended_because = $2 "
		"WHERE id = $1 AND ended IS NULL", 2,
	{INT8OID, TEXTOID}};
	Datum		values[2] = {Int64GetDatum(series->id), CStringGetTextDatum(because)};
	pe_act		act;
	pe_access	access;
	uint64		rows;

	pe_act_begin(&act, series->dataset_id, PE_ACT_RELEASE, "end_series", series->name);
	pe_access_begin(&access);
	rows = pe_access_write(&end, values, NULL);
	pe_access_end(&access);
	if (rows == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("series \"%s\" has ended already", series->name)));
	pe_act_end(&act, NULL);
}

void
pe_series_end_all(int64 dataset_id, const char *because)
{
	static pe_statement end = {NULL, "UPDATE dp_ledger.series SET ended = pg_catalog.now(), ended_because = $2 "
		"WHERE dataset_id = $1 AND ended IS NULL", 2,
	{INT8OID, TEXTOID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), CStringGetTextDatum(because)};

	pe_access_write(&end, values, NULL);
}

/*
 * What canonical texts are made of: names in double quotes, literals, and other
 * names and numbers, those of functions with their parenthesis.
 */
#define WORDS "\"(?:[^\"]|\"\")*\"|''(?:[^'']|'''')*''|[^ -#%-/:-@[-^`{-~]+[(]?"

/*
 * Names are looked for in the canonical texts.  What was found amiss here would
 * show when a period is measured: it is measured by attributes in force only.
 */
void
pe_series_end_using(int64 dataset_id, const char *attribute, const char *because)
{
	static pe_statement end = {NULL, "UPDATE dp_ledger.series SET ended = pg_catalog.now(), ended_because = $2 "
		"WHERE dataset_id = $1 AND ended IS NULL AND ($3 = ANY (attributes) OR EXISTS (SELECT FROM "
		"(SELECT predicate UNION ALL SELECT pg_catalog.unnest(aggregates) UNION ALL SELECT rolled_up "
		"FROM pg_catalog.unnest(attributes) rolled_up WHERE NOT EXISTS (SELECT FROM dp_ledger.attribute d "
		"WHERE d.dataset_id = $1 AND d.attribute = rolled_up)) used (canonical), "
		"pg_catalog.regexp_matches(canonical, '" WORDS "', 'g') word WHERE word[1] = '\"' "
		"|| pg_catalog.replace($3, '\"', '\"\"') || '\"' OR (word[1] = $3 AND $3 !~ '[''\"(]'))) "
		"RETURNING series", 3, {INT8OID, TEXTOID, TEXTOID}};
	Datum		values[3] = {Int64GetDatum(dataset_id), CStringGetTextDatum(because), CStringGetTextDatum(attribute)};
	List	   *ended = NIL;
	MemoryContext context = CurrentMemoryContext;
	pe_access	access;
	ListCell   *cell;
	uint64		rows;

	pe_access_begin(&access);
	rows = pe_access_write(&end, values, NULL);
	MemoryContextSwitchTo(context);
	for (uint64 row = 0; row < rows; row++)
		ended = lappend(ended, pe_access_text(row, 1));
	pe_access_end(&access);
	foreach(cell, ended)
		ereport(NOTICE,
				(errmsg("series \"%s\" has ended: %s", (char *) lfirst(cell), because),
				 errhint("Reports that are stored are still returned.")));
}

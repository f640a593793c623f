/*
 * wire.c
 *	  Requests, replies and payloads as bytes.  See wire.h.
 */
#include "postgres.h"

#include "libpq/pqformat.h"
#include "port/pg_bswap.h"

#include "ledger/models.h"
#include "ledger/series.h"
#include "ledger/wire.h"
#include "plan/plan.h"
#include "server/compat.h"

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
	size_t		size = VARSIZE_ANY_EXHDR(payload);
	int64	   *value;

	if (size % sizeof(int64) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("the payload of a release is damaged")));
	*values = size / sizeof(int64);
	value = palloc(Max(size, sizeof(int64)));
	memcpy(value, VARDATA_ANY(payload), size);
	for (int64 i = 0; i < *values; i++)
		value[i] = (int64) pg_ntoh64((uint64) value[i]);
	return value;
}

static char *
decimal(pe_u128 number)
{
	char		digits[40];
	int			at = lengthof(digits);

	digits[--at] = '\0';
	do
		digits[--at] = '0' + (int) (number % 10);
	while ((number /= 10) != 0);
	return pstrdup(digits + at);
}

/* The price comes from the plan and from nowhere else. */
static void
write_price(StringInfo to, const pe_plan *plan)
{
	pe_amount	amount = pe_cost_amount(pe_plan_cost(plan));
	char	   *sensitivity = decimal(pe_plan_sensitivity(plan));

	pq_sendbyte(to, (uint8) pe_cost_accounting(pe_plan_cost(plan)));
	pq_sendint64(to, amount.rho_nano);
	pq_sendint64(to, amount.delta_atto);
	pq_sendint64(to, amount.epsilon_nano);
	pq_sendint64(to, pe_cost_as_rho(pe_plan_cost(plan)));
	appendBinaryStringInfo(to, sensitivity, strlen(sensitivity) + 1);
}

static void
read_price(StringInfo from, pe_charge_price *price)
{
	int			accounting = pq_getmsgbyte(from);

	if (accounting > PE_PURE)
		elog(ERROR, "no accounting has number %d", accounting);
	price->accounting = (pe_accounting) accounting;
	price->amount.rho_nano = pq_getmsgint64(from);
	price->amount.delta_atto = pq_getmsgint64(from);
	price->amount.epsilon_nano = pq_getmsgint64(from);
	price->as_rho = pq_getmsgint64(from);
	price->sensitivity = pstrdup(pq_getmsgrawstring(from));
}

static void
write_blocks(StringInfo to, pe_time_blocks blocks)
{
	pq_sendbyte(to, blocks.limited);
	pq_sendbyte(to, blocks.others);
	pq_sendint64(to, blocks.first);
	pq_sendint64(to, blocks.last);
}

static pe_time_blocks
read_blocks(StringInfo from)
{
	pe_time_blocks	blocks;

	blocks.limited = pq_getmsgbyte(from) != 0;
	blocks.others = pq_getmsgbyte(from) != 0;
	blocks.first = pq_getmsgint64(from);
	blocks.last = pq_getmsgint64(from);
	return blocks;
}

static void
write_others(StringInfo to, const int64 *other, int others)
{
	pq_sendint32(to, others);
	for (int i = 0; i < others; i++)
		pq_sendint64(to, other[i]);
}

static const int64 *
read_others(StringInfo from, int *others)
{
	int64	   *other;

	*others = pq_getmsgint(from, 4);
	if (*others < 0 || *others > from->len)
		elog(ERROR, "a message has %d strategies", *others);
	other = palloc((*others + 1) * sizeof(int64));
	for (int i = 0; i < *others; i++)
		other[i] = pq_getmsgint64(from);
	return other;
}

void
pe_request_write(StringInfo to, const pe_plan *plan, const pe_charge_request *request)
{
	ListCell   *cell;

	if (request->rehearsal)
		elog(ERROR, "a rehearsal has no place in the ledger");
	write_price(to, plan);
	pq_sendint64(to, request->dataset_id);
	pq_sendint64(to, request->version);
	pq_sendint32(to, request->declarations);
	pq_sendint32(to, request->declared);
	pq_sendint64(to, request->budget_id);
	pq_sendbyte(to, request->fresh);
	pq_sendbyte(to, request->replay_only);
	pq_sendbyte(to, request->known_only);
	pq_sendbyte(to, request->predicate != NULL);
	pq_sendbyte(to, request->workload != NULL);
	pq_sendbyte(to, request->model != NULL);
	pq_sendbyte(to, request->series != NULL);
	pq_sendint32(to, request->attributes);
	pq_sendint32(to, request->queries);
	pq_sendint64(to, request->strategy_id);
	write_others(to, request->other, request->others);
	appendBinaryStringInfo(to, request->role, strlen(request->role) + 1);
	appendBinaryStringInfo(to, request->function, strlen(request->function) + 1);
	appendBinaryStringInfo(to, request->request, strlen(request->request) + 1);
	if (request->workload != NULL)
		appendBinaryStringInfo(to, request->workload, strlen(request->workload) + 1);
	if (request->model != NULL)
		pe_model_record_write(to, request->model);
	appendBinaryStringInfo(to, request->method, strlen(request->method) + 1);
	if (request->predicate != NULL)
		appendBinaryStringInfo(to, request->predicate, strlen(request->predicate) + 1);
	for (int i = 0; i < request->attributes; i++)
		appendBinaryStringInfo(to, request->attribute[i], strlen(request->attribute[i]) + 1);
	write_blocks(to, request->blocks);
	if (request->series != NULL)
		pe_series_request_write(to, request->series);
	pq_sendint32(to, list_length(request->relations));
	foreach(cell, request->relations)
		pq_sendint32(to, lfirst_oid(cell));
}

void
pe_request_read(StringInfo from, pe_charge_request *request, pe_charge_price *price)
{
	bool		has_predicate;
	bool		has_workload;
	bool		has_model;
	bool		has_series;

	read_price(from, price);
	request->dataset_id = pq_getmsgint64(from);
	request->version = pq_getmsgint64(from);
	request->declarations = pq_getmsgint(from, 4);
	request->declared = pq_getmsgint(from, 4);
	request->budget_id = pq_getmsgint64(from);
	request->fresh = pq_getmsgbyte(from) != 0;
	request->replay_only = pq_getmsgbyte(from) != 0;
	request->known_only = pq_getmsgbyte(from) != 0;
	has_predicate = pq_getmsgbyte(from) != 0;
	has_workload = pq_getmsgbyte(from) != 0;
	has_model = pq_getmsgbyte(from) != 0;
	has_series = pq_getmsgbyte(from) != 0;
	request->attributes = pq_getmsgint(from, 4);
	request->queries = pq_getmsgint(from, 4);
	request->strategy_id = pq_getmsgint64(from);
	request->other = read_others(from, &request->others);
	request->role = pstrdup(pq_getmsgrawstring(from));
	request->function = pstrdup(pq_getmsgrawstring(from));
	request->request = pstrdup(pq_getmsgrawstring(from));
	request->workload = has_workload ? pstrdup(pq_getmsgrawstring(from)) : NULL;
	request->model = has_model ? pe_model_record_read(from) : NULL;
	request->method = pstrdup(pq_getmsgrawstring(from));
	request->predicate = has_predicate ? pstrdup(pq_getmsgrawstring(from)) : NULL;
	request->attribute = palloc0((request->attributes + 1) * sizeof(char *));
	for (int i = 0; i < request->attributes; i++)
		request->attribute[i] = pstrdup(pq_getmsgrawstring(from));
	request->blocks = read_blocks(from);
	request->series = has_series ? pe_series_request_read(from) : NULL;
	request->relations = NIL;
	for (int left = pq_getmsgint(from, 4); left > 0; left--)
		request->relations = lappend_oid(request->relations, pq_getmsgint(from, 4));
}

void
pe_reply_write(StringInfo to, const pe_charge_reply *reply)
{
	pq_sendbyte(to, reply->outcome);
	pq_sendint64(to, reply->charge_id);
	pq_sendbyte(to, reply->costs);
	pq_sendint64(to, reply->release_id);
	pq_sendint64(to, reply->made);
	pq_sendint64(to, reply->left);
	pq_sendint64(to, reply->delta_left);
	pq_sendbyte(to, reply->shortage);
	pq_sendint64(to, reply->strategy_id);
	write_others(to, reply->other, reply->others);
	pq_sendint64(to, reply->values);
	appendBinaryStringInfo(to, (const char *) reply->value, reply->values * sizeof(int64));
}

void
pe_reply_read(StringInfo from, pe_charge_reply *reply)
{
	reply->outcome = (pe_charge_outcome) pq_getmsgbyte(from);
	reply->charge_id = pq_getmsgint64(from);
	reply->costs = pq_getmsgbyte(from) != 0;
	reply->release_id = pq_getmsgint64(from);
	reply->made = pq_getmsgint64(from);
	reply->left = pq_getmsgint64(from);
	reply->delta_left = pq_getmsgint64(from);
	reply->shortage = (pe_shortage) pq_getmsgbyte(from);
	reply->strategy_id = pq_getmsgint64(from);
	reply->other = read_others(from, &reply->others);
	reply->values = pq_getmsgint64(from);
	reply->value = palloc(Max(reply->values, 1) * sizeof(int64));
	pq_copymsgbytes(from, (char *) reply->value, reply->values * sizeof(int64));
	reply->unsent = true;
}

/*
 * sums_release.c
 *	  Releases of aggregates, read again.  See ask_sums.h.
 *
 * What was asked is in the canonical request, and what was measured follows from it: nothing here looks at the table.
 */
#include "postgres.h"

#include "catalog/pg_type.h"

#include "ask/ask_sums.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/values.h"

/* What the canonical request says beside the row of the release. */
static void
read_request(pe_stored_aggregates *s)
{
	static pe_statement find = {NULL,
		"SELECT ARRAY(SELECT jsonb_array_elements_text(q->'aggregates')), nullif(q->>'workload', 'identity'), "
		"(q->>'cells_per_unit')::int8, ARRAY(SELECT jsonb_array_elements_text(q->'never_null')), "
		"coalesce((q->>'rho')::int8, (q->>'epsilon')::int8) "
	"FROM (SELECT request::jsonb AS q FROM dp_ledger.release WHERE id = $1) r", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(s->release.id)};
	pe_request *request = &s->request;
	pe_aggregation *g = &s->aggregation;
	pe_access	access;

	pe_access_begin(&access);
	if (pe_access_read(&find, key, NULL) != 1)
		elog(ERROR, "release " INT64_FORMAT " is gone", s->release.id);
	request->sums.aggregate = pe_access_texts(0, 1, &request->sums.aggregates);
	request->workload = pe_access_text(0, 2);
	request->sums.cells_per_unit = (int) pe_access_int64(0, 3);
	g->never_null_name = pe_access_texts(0, 4, &g->never_null_names);
	s->release.nano = pe_access_int64(0, 5);	/* in the row it stands for counts alone */
	pe_access_end(&access);
	request->sums.limits_cells = request->sums.cells_per_unit > 0;
	request->attribute = s->release.names;
	request->attributes = s->release.attributes;
	request->predicate = s->release.predicate_text;
}

static void
refuse_kind(const pe_release *r)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " has no aggregates", r->id)));
}

static void
restore(pe_stored_aggregates *s)
{
	pe_release *r = &s->release;
	pe_aggregation *g = &s->aggregation;

	pe_release_read_row(r);
	if (r->kind == NULL || strcmp(r->kind, PE_MEASUREMENT) != 0)
		refuse_kind(r);
	pe_release_check_version(r);
	r->value = pe_payload_read(r->payload, &r->values);
	pe_request_init(&s->request, PE_ASK_SUMS, "dp.aggregate");
	read_request(s);
	g->asked.request = &s->request;
	g->asked.dataset = r->dataset;
	g->asked.ask.accounting = r->accounting;
	g->asked.ask.cap = r->dataset->accounting;
	g->strategies = pe_strategies_of(r->strategy_id, r->other, r->others);
	g->version = r->version;
	g->complete = r->complete;
	pe_aggregation_restore(g);
}

pe_stored_aggregates *
pe_aggregation_restored(int64 id)
{
	pe_stored_aggregates *s = palloc0(sizeof(*s));

	s->release.id = id;
	restore(s);
	return s;
}

void
pe_aggregation_read(pe_stored_aggregates *s)
{
	const pe_release *r = &s->release;

	pe_aggregation_measure(&s->aggregation);
	if (!s->aggregation.on_grid)
		s->measured = pe_aggregation_measured(&s->aggregation, r->id, r->value, r->values,
											  &s->aggregation.strategies);
}

pe_stored_aggregates *
pe_aggregation_of_release(int64 id)
{
	pe_stored_aggregates *s;
	const pe_release *r;

	PE_UNDONE();
	s = pe_aggregation_restored(id);
	PE_END_UNDONE();
	r = &s->release;
	pe_aggregation_measure(&s->aggregation);
	s->result = pe_aggregation_results(&s->aggregation, id, r->value, r->values, &s->aggregation.strategies,
									   r->nano, PE_MISS);
	return s;
}

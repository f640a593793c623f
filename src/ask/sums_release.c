/*
 * sums_release.c
 *	  Releases of aggregates, read again.  See ask_sums.h.
 *
 * What was asked is in the canonical request, and what was measured follows from it: nothing here looks at the table.
 */
#include "postgres.h"

#include "ask/ask_sums.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/values.h"

static void
fill_request(const pe_release *r, bool as_counts, pe_request *request)
{
	pe_request_init(request, as_counts ? PE_ASK_COUNTS : PE_ASK_SUMS, "dp.aggregate");
	request->attribute = r->names;
	request->attributes = r->attributes;
	request->predicate = r->predicate_text;
	request->method = r->method;
	request->workload = as_counts ? r->workload_text : r->grouping;
	if (as_counts)
		return;
	request->sums.aggregate = r->aggregate;
	request->sums.aggregates = r->aggregates;
	request->sums.cells_per_unit = r->cells_per_unit;
	request->sums.limits_cells = r->cells_per_unit > 0;
}

pe_stored_aggregates *
pe_aggregation_restored_of(const pe_release *r, bool as_counts)
{
	pe_stored_aggregates *s = palloc0(sizeof(*s));
	pe_aggregation *g = &s->aggregation;

	s->release = *r;
	fill_request(r, as_counts, &s->request);
	g->asked.request = &s->request;
	g->asked.dataset = r->dataset;
	g->asked.ask.accounting = r->accounting;
	g->asked.ask.cap = r->dataset->accounting;
	g->strategies = pe_strategies_of(r->strategy_id, r->other, r->others);
	g->version = r->version;
	g->complete = r->complete;
	g->never_null_name = r->never_null;
	g->never_null_names = r->never_nulls;
	pe_aggregation_restore(g);
	return s;
}

void
pe_aggregation_read(pe_stored_aggregates *s)
{
	pe_release *r = &s->release;

	pe_release_read_values(r);
	if (!s->aggregation.on_grid)
		s->measured = pe_aggregation_measured(&s->aggregation, r->id, r->value, r->values,
											  &s->aggregation.strategies);
}

static void
refuse_kind(int64 id)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " has no aggregates", id)));
}

pe_stored_aggregates *
pe_aggregation_of_release(int64 id)
{
	pe_release	row = {.id = id};
	pe_release *r;
	pe_stored_aggregates *s;

	PE_UNDONE();
	pe_release_read_row(&row);
	if (row.kind == NULL || strcmp(row.kind, PE_MEASUREMENT) != 0)
		refuse_kind(id);
	pe_release_check_version(&row);
	s = pe_aggregation_restored_of(&row, false);
	r = &s->release;
	pe_release_read_values(r);
	PE_END_UNDONE();
	pe_aggregation_measure(&s->aggregation);
	s->result = pe_aggregation_results(&s->aggregation, id, r->value, r->values, &s->aggregation.strategies,
									   r->nano, PE_MISS);
	return s;
}

/*
 * label.h
 *	  Labels of queries and cells: which part of the domain they count, as jsonb.
 */
#ifndef PE_API_LABEL_H
#define PE_API_LABEL_H

#include "core/workload.h"
#include "ledger/registry.h"

/*
 * A key per attribute that the query restricts: a level is its value, a bin
 * {"from": a, "to": b, "last": bool} (half-open unless last), {"other": true},
 * null for NULL.  query from 0.
 */
extern Datum pe_label_of_query(const pe_workload *workload, const pe_domain *domain,
							   const pe_column *columns, int32 query);

/* The same for a cell: all attributes are restricted. */
extern Datum pe_label_of_cell(const pe_domain *domain, const pe_column *columns, int32 cell);

#endif

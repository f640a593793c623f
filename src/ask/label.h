/*
 * label.h
 *	  Labels of queries: which part of the domain they count, as jsonb.
 *
 * A key per attribute that the query restricts.  A level is its value; a bin or
 * a range {"from": a, "to": b, "last": bool}, half-open unless last; a row of a
 * matrix {"row": 3}, counted from 1; {"other": true}; null for NULL; of an attribute
 * that is rolled up {"cells": "0-30"}, the numbers of a class's declared cells, or the
 * label of its only one, and of a range {"from_cells": "0-30", "to_cells": "59-89"}, its
 * first and last class.  A query
 * over everything is {}; a row of a matrix over all cells {"row": 3} itself.
 */
#ifndef PE_ASK_LABEL_H
#define PE_ASK_LABEL_H

#include "utils/jsonb.h"

#include "workload/workload.h"
#include "ledger/columns.h"
#include "ledger/dataset.h"

typedef struct pe_labels
{
	const pe_workload *workload;
	const pe_column *columns;
	JsonbValue *name;			/* of each attribute */
	JsonbValue **point;			/* its levels or edges, each made when a label asks for it, */
	MemoryContext context;		/* here; of the labels themselves nothing is kept */
	pe_attribute *declared;		/* as it is without a roll-up */
	int32	   *term;			/* where each query stands: pe_workload_index */
	int32	   *local;
} pe_labels;

/* What they take, for pe_check_memory: the indexes and all values of the columns. */
extern size_t pe_labels_memory(const pe_workload *workload, const pe_column *columns);

/* Prepares labels of a workload over the leading columns. */
extern void pe_labels_init(pe_labels *labels, const pe_workload *workload, const pe_column *columns);

/* The label of query q (from 0). */
extern Datum pe_label(const pe_labels *labels, int32 query);

#endif

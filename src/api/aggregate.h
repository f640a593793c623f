/*
 * aggregate.h
 *	  What the quotes of dp.aggregate and of dp.table_one have in common.
 */
#ifndef PE_API_AGGREGATE_H
#define PE_API_AGGREGATE_H

#include "ask/sums_call.h"

/* A row for each aggregate of a prepared quote; argument n: the rows in a group that errors are of. */
extern void pe_return_quote_of_aggregates(FunctionCallInfo fcinfo, pe_aggregate_call *call, int n);

#endif

/*
 * record_call.h
 *	  A call of dp_internal.read_rows made of the record that dp_internal.read_records gets.
 *
 * An engine that spreads a table over nodes (Citus) hands the arguments of an aggregate
 * on as one record, and asks that their number and types be those that the aggregate was
 * declared with.  So VARIADIC "any" cannot travel, and a record can: its own descriptor
 * says what it is made of.
 *
 * A record comes from anybody: it must be anonymous, since a named type can be altered
 * between two rows, and a call is good for records of one descriptor.
 */
#ifndef PE_DOOR_RECORD_CALL_H
#define PE_DOOR_RECORD_CALL_H

#include "fmgr.h"

typedef struct pe_record_call pe_record_call;

/* The argument of dp_internal.read_records that holds the unit and the values. */
#define PE_ARG_RECORD 3

/*
 * A call for records like the one of fcinfo, in the current memory context.
 * 22004 without one, 42804 if its type has a name.
 */
extern pe_record_call *pe_record_call_make(FunctionCallInfo fcinfo);

/* The call with the values of the record of fcinfo; NULL: the record is of another descriptor. */
extern FunctionCallInfo pe_record_call_fill(pe_record_call *call, FunctionCallInfo fcinfo);

#endif

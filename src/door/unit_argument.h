/*
 * unit_argument.h
 *	  The unit of a row, for the accumulators that cut the rows of units.
 *
 * Their arguments: state, what a row becomes, cut, unit, values.  The cut holds the
 * dataset's key.  It is a parameter of the scan, so no text of a statement has it;
 * what follows from it is wiped with the state.
 */
#ifndef PE_DOOR_UNIT_ARGUMENT_H
#define PE_DOOR_UNIT_ARGUMENT_H

#include "fmgr.h"

#include "domain/units.h"

#define PE_ARG_CUT 2
#define PE_ARG_UNIT 3

/* The cut; 22P03 if it is none.  name: of the aggregate. */
extern void pe_cut_argument(FunctionCallInfo fcinfo, pe_cut *cut, const char *name);

/* The base type of the unit; 42804 if it cannot be one. */
extern Oid	pe_unit_argument_type(FunctionCallInfo fcinfo, const char *name);

/* The hash of the row's unit; all rows without one are of the same, which has no bytes. */
extern void pe_unit_argument_hash(FunctionCallInfo fcinfo, Oid type, const pe_unit_keys *keys, uint64 unit[2]);

#endif

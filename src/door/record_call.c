/*
 * record_call.c
 *	  A record as the arguments of a call.  See record_call.h.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "utils/typcache.h"

#include "door/record_call.h"
#include "door/reader.h"

struct pe_record_call
{
	TupleDesc	desc;
	FmgrInfo	function;		/* for the types of arguments alone: it is never called */
	Datum	   *values;
	bool	   *nulls;
	FunctionCallInfo call;
};

static HeapTupleHeader
record_of(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(PE_ARG_RECORD))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the record of " PE_READ_RECORDS " must not be null")));
	return PG_GETARG_HEAPTUPLEHEADER(PE_ARG_RECORD);
}

/* An expression that has an argument of each type, which get_fn_expr_argtype reads. */
static Node *
call_expression(TupleDesc desc)
{
	List	   *arguments = NIL;

	for (int i = 0; i < PE_ARG_UNIT; i++)
		arguments = lappend(arguments, makeNullConst(BYTEAOID, -1, InvalidOid));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		arguments = lappend(arguments, makeNullConst(attribute->atttypid, attribute->atttypmod,
													 attribute->attcollation));
	}
	return (Node *) makeFuncExpr(InvalidOid, BYTEAOID, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

pe_record_call *
pe_record_call_make(FunctionCallInfo fcinfo)
{
	pe_record_call *r = palloc0(sizeof(*r));
	HeapTupleHeader record = record_of(fcinfo);
	int			arguments;

	if (HeapTupleHeaderGetTypeId(record) != RECORDOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the record of " PE_READ_RECORDS " is of a named type"),
				 errhint("Use ROW(...).")));
	r->desc = lookup_rowtype_tupdesc_copy(RECORDOID, HeapTupleHeaderGetTypMod(record));
	arguments = PE_ARG_UNIT + r->desc->natts;
	r->values = palloc0(r->desc->natts * sizeof(Datum));
	r->nulls = palloc0(r->desc->natts * sizeof(bool));
	r->function.fn_expr = call_expression(r->desc);
	r->call = palloc0(SizeForFunctionCallInfo(arguments));
	InitFunctionCallInfoData(*r->call, &r->function, arguments, InvalidOid, fcinfo->context, NULL);
	return r;
}

FunctionCallInfo
pe_record_call_fill(pe_record_call *r, FunctionCallInfo fcinfo)
{
	HeapTupleHeader record = record_of(fcinfo);
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(record), .t_data = record};

	if (HeapTupleHeaderGetTypeId(record) != r->desc->tdtypeid || HeapTupleHeaderGetTypMod(record) != r->desc->tdtypmod)
		return NULL;
	heap_deform_tuple(&tuple, r->desc, r->values, r->nulls);
	for (int i = 0; i < PE_ARG_UNIT; i++)
		r->call->args[i] = fcinfo->args[i];
	for (int i = 0; i < r->desc->natts; i++)
		r->call->args[PE_ARG_UNIT + i] = (NullableDatum) {.value = r->values[i], .isnull = r->nulls[i]};
	return r->call;
}

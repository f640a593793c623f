/*
 * return_rows.c
 *	  Returning many rows from a set-returning function.  See return_rows.h.
 */
#include "postgres.h"

#include <math.h>

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "server/return_rows.h"

void
pe_return_rows(FunctionCallInfo fcinfo, int32 rows, int columns,
			   void (*make) (const void *argument, int32 row, Datum *values, bool *nulls),
			   const void *argument)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	Datum	   *values = palloc0(columns * sizeof(Datum));
	bool	   *nulls = palloc0(columns * sizeof(bool));
	MemoryContext per_row;

	/* the caller's own description: a result of one column is no row type */
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	per_row = AllocSetContextCreate(CurrentMemoryContext, "pg_epsilon row", ALLOCSET_DEFAULT_SIZES);
	for (int32 row = 0; row < rows; row++)
	{
		MemoryContext old = MemoryContextSwitchTo(per_row);

		CHECK_FOR_INTERRUPTS();
		memset(nulls, 0, columns * sizeof(bool));
		make(argument, row, values, nulls);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		MemoryContextSwitchTo(old);
		MemoryContextReset(per_row);
	}
	MemoryContextDelete(per_row);
}

void
pe_put_float(double number, Datum *value, bool *isnull)
{
	*value = Float8GetDatum(number);
	*isnull = isnan(number);
}

Datum
pe_product_numeric(const int32 *factor, int factors)
{
	Datum		product = DirectFunctionCall1(int4_numeric, Int32GetDatum(1));

	for (int i = 0; i < factors; i++)
		product = DirectFunctionCall2(numeric_mul, product,
									  DirectFunctionCall1(int4_numeric, Int32GetDatum(factor[i])));
	return product;
}

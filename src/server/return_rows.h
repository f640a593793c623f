/*
 * return_rows.h
 *	  Returning many rows from a set-returning function.
 */
#ifndef PE_SERVER_RETURN_ROWS_H
#define PE_SERVER_RETURN_ROWS_H

#include "fmgr.h"

/*
 * Returns rows 0 .. rows - 1 of columns values each.  make fills values and
 * nulls (all false before); it runs in a memory context that is emptied after
 * each row.
 */
extern void pe_return_rows(FunctionCallInfo fcinfo, int32 rows, int columns,
						   void (*make) (const void *argument, int32 row, Datum *values, bool *nulls),
						   const void *argument);

/* A float8; NULL if it is NaN, which is unknown. */
extern void pe_put_float(double number, Datum *value, bool *isnull);

/* The product of some numbers as numeric, exact: that of many attributes is beyond 64 bits. */
extern Datum pe_product_numeric(const int32 *factor, int factors);

#endif

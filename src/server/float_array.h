/*
 * float_array.h
 *	  A row of features as float8[].
 */
#ifndef PE_SERVER_FLOAT_ARRAY_H
#define PE_SERVER_FLOAT_ARRAY_H

#include "utils/array.h"
#include "utils/float.h"

typedef struct pe_float_array
{
	const double *next;			/* only those that are not null are there */
	const bits8 *nulls;			/* NULL: none */
	int			at;
} pe_float_array;

/* Whether the array has one dimension and so many elements. */
static inline bool
pe_float_array_has(ArrayType *array, int elements)
{
	return ARR_NDIM(array) == 1 && ARR_DIMS(array)[0] == elements;
}

static inline void
pe_float_array_begin(pe_float_array *walk, ArrayType *array)
{
	walk->next = (const double *) ARR_DATA_PTR(array);
	walk->nulls = ARR_NULLBITMAP(array);
	walk->at = 0;
}

/* The next element; NaN for NULL. */
static inline double
pe_float_array_next(pe_float_array *walk)
{
	int			at = walk->at++;

	if (walk->nulls != NULL && (walk->nulls[at / BITS_PER_BYTE] & (1 << (at % BITS_PER_BYTE))) == 0)
		return get_float8_nan();
	return *walk->next++;
}

#endif

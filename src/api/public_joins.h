/*
 * public_joins.h
 *	  The joins of a dataset, as far as they are public: who may read the catalog reads a view's definition.
 */
#ifndef PE_API_PUBLIC_JOINS_H
#define PE_API_PUBLIC_JOINS_H

#include "view/joins.h"

typedef struct pe_public_joins
{
	char	   *dataset;
	char	   *public_id;
	char	   *unit;			/* an output; NULL: each row */
	int64		cap;			/* datasets of one cap have the same */
	pe_joins   *joins;			/* NULL: it is not joins alone, */
	const char *why;			/* for that reason, */
	ErrorData  *error;			/* or nothing else is known of it: why it is asked no more */
} pe_public_joins;

/*
 * Under locks on the tables, which stay to the end of the transaction; and of another id than is
 * asked for NULL, likewise if there is none of the name.  One of an id whose table is gone has its
 * error: others may answer.  NULL as the id: any.
 */
extern pe_public_joins *pe_public_joins_load(const char *dataset, const char *id);

/* The output that is the unit of a dataset of joins; NULL: it has none, or it is no plain column. */
extern const pe_join_output *pe_public_joins_unit(const pe_public_joins *dataset);

#endif

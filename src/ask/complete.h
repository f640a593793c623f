/*
 * complete.h
 *	  Attributes that dropped no row when they were measured.
 *
 * By their declaration they may drop rows: those with NULL.  But the column was
 * NOT NULL, and all its values have a cell.  So a request that differs from
 * another in such attributes alone counts the same rows.  The constraint may be
 * dropped and rows with NULL may come, within a version of the data: which
 * attributes were complete stands in the canonical request.  No sensitivity
 * follows from it.
 */
#ifndef PE_ASK_COMPLETE_H
#define PE_ASK_COMPLETE_H

#include "lib/stringinfo.h"

#include "ledger/columns.h"

typedef struct pe_complete
{
	char	  **name;			/* sorted, each once */
	int			names;
} pe_complete;

/* Whether each value of a column has a cell: NULL and NaN apart. */
extern bool pe_has_all_values(const pe_column *column);

/* Those among columns of a dataset, now. */
extern pe_complete pe_complete_now(const pe_dataset *dataset, const pe_column *columns, int count);

/* In the canonical request, if there are any, under the key complete. */
extern void pe_complete_add(StringInfo text, const pe_complete *complete);

extern bool pe_is_complete(const pe_complete *complete, const char *name);

#endif

/*
 * table_rows.h
 *	  Rows of a Table One, as dp.table_one returns them.
 */
#ifndef PE_READ_TABLE_ROWS_H
#define PE_READ_TABLE_ROWS_H

#include "fmgr.h"

#include "ledger/columns.h"

typedef struct pe_table_row
{
	const char *attribute;
	const char *level;			/* NULL: of all rows */
	char	  **text;			/* of each group, and of all together */
	double		difference;		/* NaN: there is none */
	double		p_value;
} pe_table_row;

typedef struct pe_table_rows
{
	const pe_column *by;		/* whose cells are the groups; NULL: all rows are one */
	int32		groups;
	int64		release;		/* 0: none */
	pe_table_row *row;
	int32		count;
} pe_table_rows;

/* A new row, whose texts are empty and have room for PE_TABLE_TEXT bytes. */
extern pe_table_row *pe_table_add_row(pe_table_rows *rows, const char *attribute, const char *level);

/* What a cell is called: a level, a range, or in parentheses what is no value. */
extern const char *pe_table_cell_name(const pe_column *column, int32 cell);

/* Cells that are values: the declared ones, and the one of all others. */
extern int32 pe_table_values_of(const pe_column *column);

extern void pe_table_return_rows(FunctionCallInfo fcinfo, const pe_table_rows *rows);

#endif

/*
 * published_columns.h
 *	  Columns of a published table: what a query says of each attribute, in values of the column's own type.
 *
 *	 <a>						a level, where every query of the attribute is one
 *	 <a>_from, <a>_to			bins and ranges: edges; of levels the first and the last
 *	 <a>_cells					of an attribute that is rolled up: the declared cells of a class;
 *								of ranges <a>_from_cells and <a>_to_cells, the first class and the last
 *	 <a>_row					row of a matrix over the attribute
 *	 <a>_cell					'value', 'other', 'null', 'all' or 'row', where there is not only one of these
 *	 matrix_row					row of a matrix over all cells
 *
 * They follow from the workload alone.  A name that is taken gets a number behind it.
 */
#ifndef PE_READ_PUBLISHED_COLUMNS_H
#define PE_READ_PUBLISHED_COLUMNS_H

#include "ask/label.h"
#include "read/published_table.h"
#include "counts/aggregate.h"

/* At most four for each attribute and each aggregate, and some that say which row it is. */
#define PE_MOST_PUBLISHED (4 * PE_MAX_ATTRIBUTES + 4 * PE_MAX_AGGREGATES + 6)

/* What a query says of an attribute. */
typedef enum pe_published_part
{
	PE_PART_VALUE, PE_PART_OTHER, PE_PART_NULL, PE_PART_ALL, PE_PART_ROW, PE_PARTS
} pe_published_part;

/* Where an attribute's columns are; -1: it has none. */
typedef struct pe_published_places
{
	int			value;			/* or from */
	int			to;
	int			row;
	int			cell;
} pe_published_places;

typedef struct pe_published_columns
{
	const pe_labels *labels;
	const pe_column *column;	/* the attributes of the labels' workload */

	int			columns;
	char	   *name[PE_MOST_PUBLISHED];
	Oid			type[PE_MOST_PUBLISHED];
	int			ordered;
	int			order[PE_MOST_PUBLISHED];	/* in which the table has them */
	pe_published_places place[PE_MAX_ATTRIBUTES];
	int			matrix_row;		/* -1: no such column */
	Datum	   *point[PE_MAX_ATTRIBUTES];	/* levels or edges in the column's type; classes as text */
	Datum		part_name[PE_PARTS];
} pe_published_columns;

/* A name with a suffix, within the length of a name. */
extern char *pe_published_name(const char *base, const char *suffix);
extern bool pe_published_is_taken(const pe_published_columns *p, const char *name);

/* Adds a column, which has no place in the table yet; its number. */
extern int	pe_published_add(pe_published_columns *p, const char *base, const char *suffix, Oid type);

/* The next place in the table is that of columns from .. to - 1. */
extern void pe_published_place(pe_published_columns *p, int from, int to);

/* The columns of queries, for the labels' workload, in their place; and what stands in them. */
extern void pe_published_add_queries(pe_published_columns *p);

/* Their values of query q, from 0; sets nothing else, and nulls must be true before. */
extern void pe_published_put_query(const pe_published_columns *p, int32 q, Datum *values, bool *nulls);

/* A value, which is not null; a column below 0 is none. */
extern void pe_published_put(int column, Datum value, Datum *values, bool *nulls);

/* From the order in which columns were added to that of the table. */
extern void pe_published_reorder(const pe_published_columns *p, const Datum *value,
								 const bool *isnull, Datum *values, bool *nulls);

/* The columns as CREATE TABLE has them; key: the constraint behind them, NULL: none. */
extern char *pe_published_list(const pe_published_columns *p, const char *key);

/* Whether a table has these columns, and no others. */
extern bool pe_published_has(const pe_published_columns *p, Oid relation);

/*
 * Makes the table of a target; one that is there and has these columns is emptied, so that privileges, indexes and
 * views on it stay.
 */
extern void pe_published_make(const pe_published_columns *p, pe_target *target, const char *key);

/* "by day CELLS (0-30; 31-58); ", the attributes that are rolled up; "" if none is. */
extern const char *pe_published_roll_ups(const pe_published_columns *p);

#endif

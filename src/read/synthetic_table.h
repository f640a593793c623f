/*
 * synthetic_table.h
 *	  Rows of a model of tables (counts/synthetic.h) as an ordinary table of the caller's.
 *
 * Columns, in the order of the attributes:
 *
 *	 <a>			a level as it is; a value drawn evenly within a bin, whole where the type's values are (of a
 *					numeric as many digits as the column has); NULL for the cells NULL and 'other'
 *	 <a>_other		whether it is 'other', of an attribute that has this cell
 *	 <unit>			where units are asked for: the number of a synthetic unit, a bigint, in the name of the
 *					dataset's unit
 *
 * Rows of one synthetic unit have nothing else in common: no request has measured that.
 *
 * No row is where the predicate of the release cannot be true.  Cells of one attribute that it rules out have 0 in the
 * model; a row that is ruled out by several attributes together becomes another one that was drawn.
 *
 * A name that is taken gets a number behind it.  Everything follows from what was released: a release gives the same
 * rows each time.
 */
#ifndef PE_READ_SYNTHETIC_TABLE_H
#define PE_READ_SYNTHETIC_TABLE_H

#include "counts/synthetic.h"
#include "domain/predicate.h"
#include "ledger/columns.h"
#include "read/published_table.h"

typedef struct pe_synthetic_table
{
	pe_target	target;
	int64		release;
	const pe_dataset *dataset;
	int			version;		/* of its data */
	const pe_column *column;	/* of each attribute of the domain that spans cells */
	const pe_domain *domain;
	const pe_predicate *predicate;	/* over the domain, then what it looks at besides; NULL: all rows counted */
	bool	   *possible[PE_MAX_ATTRIBUTES];	/* of each attribute, what it leaves; NULL: all cells */
	pe_synthetic model;
	bool		whole;			/* the model is of one attribute: the cells of the domain together */
	pe_stream	stream;			/* from what was released */
	int64		rows;			/* below 0: the total of the model */
	int32		most;			/* rows of a unit; 0: without units */
	double	   *units;			/* in proportion, how many have 1, 2, ... most rows */
	int64		sizes;			/* the release that says so; 0: nobody has measured it */
} pe_synthetic_table;

/* 22023 unless rows can be asked for. */
extern void pe_synthetic_check_rows(int64 rows);

/*
 * Before anything is paid: refuses what is known to fail, and drops a table that is there with other columns.  Needs
 * target, dataset, column, domain, rows and most.  Errors: 53200 too many rows; those of pe_target_drop.
 */
extern void pe_synthetic_clear(pe_synthetic_table *table);

/* Makes or empties the table that target has found, and fills it; rows is then how many. */
extern void pe_synthetic_make_table(pe_synthetic_table *table);

/* A row for the SQL functions: target, rows, release, edges. */
extern void pe_synthetic_return(FunctionCallInfo fcinfo, const pe_synthetic_table *table);

#endif

/*
 * table_options.h
 *	  Options of the foreign tables that stand for datasets.
 */
#ifndef PE_FDW_TABLE_OPTIONS_H
#define PE_FDW_TABLE_OPTIONS_H

#include "postgres.h"

#include "access/attnum.h"
#include "nodes/pg_list.h"

/* The dataset that a foreign table stands for: its option, or its name. */
extern const char *pe_fdw_dataset(Oid relation);

/* The id of that dataset, by an option; NULL: any dataset of the name. */
extern const char *pe_fdw_dataset_id(Oid relation);

/* Whether it is made of a release, which answers all that is asked of it. */
extern bool pe_fdw_is_cube(Oid relation);

/* The attribute that a column stands for, or the base table's column: by its option, or its own name. */
extern char *pe_fdw_column_name(Oid relation, AttrNumber column);

/* The table that dp.expose_tables made it for, with its schema; NULL: it stands for a dataset. */
extern const char *pe_fdw_base_table(Oid relation);

/* The table of that name; invalid: there is none. */
extern Oid	pe_fdw_base_relation(Oid relation);

/* The datasets that answer for such a table. */
typedef struct pe_bound_dataset
{
	char	   *name;
	char	   *id;
} pe_bound_dataset;

extern List *pe_fdw_datasets(Oid relation);

/*
 * What a SELECT costs, or how precise it is: the session's settings, else the
 * table's options.  NaN: not given.
 */
extern void pe_fdw_price(Oid relation, double *epsilon, double *max_stderr);

/*
 * What becomes of a test that cuts a bin, and what is hidden: the session's
 * setting if there is one, else the table's option.
 */
extern int	pe_fdw_cut_bins(Oid relation);
extern double pe_fdw_hide_below(Oid relation);
extern bool pe_fdw_hide_below_all(Oid relation);

/* A higher minimum frequency than the dataset's (ask/suppress.h); 0: none. */
extern int	pe_fdw_min_count(Oid relation);

/* How many rows and cells of a unit count, by options; 0: as the dataset says. */
extern int	pe_fdw_rows_per_unit(Oid relation);
extern int	pe_fdw_cells_per_unit(Oid relation);

/* Of each unit at most so many rows that the cut dropped are counted, and shown by a NOTICE; 0: none are. */
extern int	pe_fdw_count_dropped(Oid relation);

/* The budget that pays, by an option; NULL: the caller's own. */
extern const char *pe_fdw_budget(Oid relation);

#endif

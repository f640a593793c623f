/*
 * target_list.h
 *	  What a SELECT computes of each group: aggregates of SQL, and this extension's own, from aggregates of a request.
 */
#ifndef PE_FDW_TARGET_LIST_H
#define PE_FDW_TARGET_LIST_H

#include "fdw/condition.h"
#include "nodes/primnodes.h"
#include "utils/array.h"

/* The aggregates of a request, each once. */
typedef struct pe_wanted
{
	List	   *texts;			/* char * */
	bool		apart;			/* of a cube: conditions stand beside the texts, and not in them */
	List	   *conditions;		/* pe_condition *, of each text */
	Bitmapset  *within;			/* the attributes that it has counts by */
	Bitmapset  *summed;			/* and those that it has sums of */
	int			formulas;
	char	  **formula;		/* that it has sums of: others are answered as multiples of them */
	bool		proposed;		/* it is made for what is asked: numbers are counted where they are summed */
	bool		on_grid;		/* a quantile of a column with a single bin, which is asked for by itself */
} pe_wanted;

/* So many times one of them. */
typedef struct pe_summand
{
	double		factor;
	int			wanted;
	int			variant;		/* of a cube: which of its conditions it has (over_cube.h); else 0 */
} pe_summand;

typedef enum pe_target_kind
{
	PE_TARGET_GROUP,			/* an expression of GROUP BY */
	PE_TARGET_KEY,				/* the same, of an open column (open_keys.h) */
	PE_TARGET_TESTED,			/* the same, that conditions decide (tested_groups.h) */
	PE_TARGET_GROUPING,			/* GROUPING() */
	PE_TARGET_SUM,				/* of terms */
	PE_TARGET_MEAN,				/* a sum of terms, divided by another one */
	PE_TARGET_ARRAY,			/* of other targets */
	PE_TARGET_LEAST,			/* what is declared of an attribute */
	PE_TARGET_GREATEST
} pe_target_kind;

typedef enum pe_figure
{
	PE_ESTIMATE, PE_STDERR, PE_LOWER95, PE_UPPER95
} pe_figure;

typedef struct pe_target_of_select
{
	pe_target_kind kind;
	pe_figure	figure;
	int			tested;			/* of rows in which group of tested_groups.h; 0 without them */
	Oid			type;			/* of the result */
	int32		typmod;
	List	   *terms;			/* pe_summand *; none: 0 */
	List	   *divisor;
	double		offset;			/* that the answer gets beside */
	bool		is_linear;		/* groups that are one can be added up */
	bool		counts;			/* of no row it is 0, not NULL */
	bool		is_empty;		/* nothing is left to compute it of */
	bool		of_key;			/* it is the count that a key is found by (open_keys.h) */
	int			attribute;		/* of what is declared */
	Oid			collation;		/* in whose order */
	pe_condition *filter;		/* likewise */
	const GroupingFunc *grouping;
	ArrayType  *shape;			/* of an array: the fractions; it has their dimensions and NULLs */
	List	   *elements;		/* pe_target_of_select *, of those that are not NULL */
} pe_target_of_select;

/* The target of an aggregate of some of the rows that WHERE leaves; 0A000 if there is none. */
extern pe_target_of_select *pe_target_of_aggregate(pe_sight *sight, const pe_condition *where, pe_condition *rows,
												   const Aggref *aggregate, pe_wanted *wanted);

/* Whether an aggregate counts units, or values. */
extern bool pe_target_counts_distinct(const pe_sight *sight, const Aggref *aggregate);

#endif

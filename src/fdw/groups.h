/*
 * groups.h
 *	  The groups of a SELECT: classes of cells in which all GROUP BY expressions are the same.
 *
 * Of each attribute that the expressions look at, cells with the same values form a class, and the classes are what is
 * asked for: months over daily bins cost what months cost.
 */
#ifndef PE_FDW_GROUPS_H
#define PE_FDW_GROUPS_H

#include "fdw/condition.h"
#include "fdw/pushdown.h"

/* An expression of GROUP BY. */
typedef struct pe_group_by
{
	Node	   *expression;
	Index		reference;		/* ressortgroupref */
	int			target;			/* its place among the targets */
	Bitmapset  *attributes;
	pe_values  *values;			/* on the cells of its attribute, or on their product, in ascending order */
	Datum		constant;		/* of no attribute */
	bool		constant_null;
} pe_group_by;

/* An attribute that groups are by. */
typedef struct pe_grouped_attribute
{
	int			attribute;
	int32		classes;
	int32	   *class_of;		/* of each cell; numbered by their first cells */
	int32	   *sample;			/* of each class: its first cell that WHERE leaves, or its first */
	bool	   *left;			/* of each class: whether WHERE leaves any of its cells */
} pe_grouped_attribute;

/* What a grouping set distinguishes of one attribute. */
typedef struct pe_set_factor
{
	int32		rows;
	int32	   *row_of;			/* of each class */
	int32	   *sample;			/* of each row: a class */
	bool	   *left;
} pe_set_factor;

typedef struct pe_grouping_set
{
	List	   *references;		/* of the expressions in it */
	pe_set_factor *factor;		/* of each grouped attribute */
	int			varying;
	int		   *varies;			/* those of its factors that have several rows; of the others: */
	int32	   *class;			/* their classes in each row */
	bool		left;			/* whether WHERE leaves all of these */
	int32		rows;			/* all together */
	int32		first;			/* its place among the queries */
} pe_grouping_set;

typedef struct pe_groups
{
	int			expressions;
	pe_group_by *expression;
	int			attributes;
	pe_grouped_attribute *attribute;	/* ascending */
	int			sets;
	pe_grouping_set *set;
	const Bitmapset *filters;	/* attributes whose part of WHERE is applied to the answer */
	bool		merges;			/* rows of a set may have the same values and be one group */
} pe_groups;

/*
 * Finds the groups.  where: what is left.  filters: cells of these attributes
 * that WHERE excludes are counted and not shown, so their classes do not mix
 * cells of both kinds.
 */
extern pe_groups *pe_groups_find(pe_sight *sight, const pe_scan_plan *plan,
								 const pe_condition *where, const Bitmapset *filters);

/* Whether an expression of several attributes cuts cells; false where their combinations are many. */
extern bool pe_groups_cuts(pe_sight *sight, Node *expression, const pe_condition *where);

/* The attributes that groups are by. */
extern Bitmapset *pe_groups_attributes(const pe_groups *groups);

/* Elements of `by`, and the workload; NULL: the cells of all of them. */
extern char *pe_groups_by(const pe_sight *sight, const pe_groups *groups, int attribute);
extern char *pe_groups_workload(const pe_sight *sight, const pe_groups *groups);

/* Which classes a row of a set is of, first ones; false if WHERE leaves nothing of it. */
extern bool pe_groups_row(const pe_groups *groups, int set, int32 row, int32 *class);

/* The value of an expression in a row. */
extern Datum pe_groups_value(const pe_sight *sight, const pe_groups *groups, int set,
							 int expression, const int32 *class, bool *isnull);

/* Whether all expressions are the same in two rows of a set, as GROUP BY has it; such rows have one hash. */
extern bool pe_groups_are_same(const pe_sight *sight, const pe_groups *groups,
							   int set, const int32 *one, const int32 *other);
extern uint32 pe_groups_hash(const pe_sight *sight, const pe_groups *groups, int set, const int32 *class);

/* Of an attribute that is grouped by: whether a cell is in the row of this class. */
extern bool pe_groups_has_cell(const pe_groups *groups, int set, int attribute, int32 class, int32 cell);

#endif

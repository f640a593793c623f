/*
 * tested_groups.h
 *	  GROUP BY of what conditions decide: a < b, CASE WHEN a < b THEN 'late' ELSE 'on time' END, url LIKE '%google%'.
 *
 * Each value of such an expression is a condition on rows.  A row of the answer is a group of cells under one of these
 * conditions, and its aggregates are those of FILTER.  The conditions exclude each other, so that all of them together
 * cost what one does (ask/atoms.h).
 */
#ifndef PE_FDW_TESTED_GROUPS_H
#define PE_FDW_TESTED_GROUPS_H

#include "fdw/condition.h"
#include "fdw/pushdown.h"

/* A combination of values. */
typedef struct pe_tested_group
{
	int			set;			/* of GROUPING SETS; 0 without them */
	pe_condition *rows;
	Datum	   *value;			/* of each expression; NULL of one that is not in the set */
	bool	   *isnull;
} pe_tested_group;

typedef struct pe_tested_groups
{
	List	   *targets;		/* of the plan, without these expressions */
	List	   *expressions;	/* TargetEntry * */
	List	   *groups;			/* pe_tested_group *, that WHERE leaves */
} pe_tested_groups;

/* NULL: cells decide all expressions of GROUP BY.  0A000 for what is not answered. */
extern pe_tested_groups *pe_tested_groups_find(pe_sight *sight, const pe_scan_plan *plan, const pe_condition *where);

/* The place of a target among the expressions; -1: it is none. */
extern int	pe_tested_groups_place(const pe_tested_groups *tested, const TargetEntry *entry);

#endif

/*
 * pushdown.h
 *	  What a scan of a dataset asks, from the planner to the executor.
 */
#ifndef PE_FDW_PUSHDOWN_H
#define PE_FDW_PUSHDOWN_H

#include "postgres.h"

#include "foreign/fdwapi.h"
#include "nodes/pathnodes.h"

typedef enum pe_scan_kind
{
	PE_SCAN_ROWS,				/* refused: rows are not shown */
	PE_SCAN_UNTRANSLATED,		/* refused: something of it is not translated */
	PE_SCAN_EMPTY,				/* returns nothing, LIMIT 0 */
	PE_SCAN_GROUPS				/* asks */
} pe_scan_kind;

/* Read from a plan's private list, and made for it. */
typedef struct pe_scan_plan
{
	pe_scan_kind kind;
	char	   *why;			/* of a refused one: the part that is not translated; "": none in particular */
	Oid			relation;
	List	   *where;			/* conjuncts */
	List	   *targets;		/* TargetEntry: groups, which have a ressortgroupref, Aggref, GroupingFunc */
	bool		grouped;		/* there is a row for each group, which may be none; else exactly one */
	List	   *sets;			/* of GROUPING SETS: lists of ressortgroupref; NIL: one set of all */
	/* of sub-selects that depend on nothing else: lists of the Param and the plan's number */
	List	   *parameters;
	/* of tables of dp.expose_tables: lists of the number of Vars, the relation, and 1 where IN or EXISTS has it */
	List	   *tables;
	List	   *optional;		/* of those of outer joins: lists of the number and the conjuncts of ON */
	/* of a refused one: IN with a SELECT that has groups, as lists of what is looked up and the text of the SELECT */
	List	   *lookups;
	const struct pe_scan_plan *joined;	/* the plan over tables that this one is of; not written */
} pe_scan_plan;

extern List *pe_scan_plan_write(const pe_scan_plan *plan);
extern pe_scan_plan *pe_scan_plan_read(List *fdw_private);

/* The planner's part of the wrapper. */
extern void pe_fdw_size(PlannerInfo *root, RelOptInfo *rel, Oid relation);
extern void pe_fdw_paths(PlannerInfo *root, RelOptInfo *rel, Oid relation);
extern void pe_fdw_upper_paths(PlannerInfo *root, UpperRelationKind stage,
							   RelOptInfo *input, RelOptInfo *output, void *extra);
extern ForeignScan *pe_fdw_plan(PlannerInfo *root, RelOptInfo *rel, Oid relation, ForeignPath *path,
								List *targets, List *clauses, Plan *outer);

#endif

/*
 * over_cube.h
 *	  What a SELECT asks of a cube: counts and sums of cells, without a condition.
 *
 * A request has one WHERE, and a cube's release has none of a reader's.  So each
 * condition becomes a part of the workload: the cells that it selects are added
 * up.  Conditions are made of boxes, which are sets of cells of single
 * attributes; each different box is a *variant*, and the queries of the groups
 * are asked once for each variant.  A sum of values of one column is a box whose
 * cells have weights, and so has the error of one query.
 */
#ifndef PE_FDW_OVER_CUBE_H
#define PE_FDW_OVER_CUBE_H

#include "ask/cube.h"
#include "fdw/groups.h"
#include "fdw/target_list.h"

/* The weights of cells, 1 and 0 of a condition: of each attribute, NULL: all are 1. */
typedef struct pe_box
{
	const int32 **weight;
} pe_box;

/* A request over a cube, which is being made. */
typedef struct pe_over_cube
{
	const pe_cube *cube;
	const pe_sight *sight;
	const pe_groups *groups;
	const pe_condition *where;	/* that is not applied to the answer */
	bool		apart;			/* each value is a box of its own: a box with weights is no group (ask/suppress.h) */
	List	   *aggregates;		/* char *, each once */
	List	   *variants;		/* pe_box * */
	int32		queries;		/* of each variant */
} pe_over_cube;

/* The attributes of a sight that a cube has counts by, and sums of. */
extern Bitmapset *pe_cube_within(const pe_cube *cube, const pe_sight *sight);
extern Bitmapset *pe_cube_summed(const pe_cube *cube, const pe_sight *sight);

/* A condition, and that the release's predicate leaves the cells of these attributes: others are no groups. */
extern pe_condition *pe_cube_where(const pe_cube *cube, const pe_sight *sight, pe_condition *where,
								   const Bitmapset *attributes);

/* 0A000 if the cube has not all attributes that groups are by. */
extern void pe_over_cube_begin(pe_over_cube *over);

/* Terms over the wanted texts, as terms over aggregates and variants; none of what no row meets. */
extern List *pe_over_cube_terms(pe_over_cube *over, const pe_wanted *wanted, const List *terms);

/* The attributes whose cells are distinguished together: Bitmapset *, of each variant and grouping set. */
extern List *pe_over_cube_sets(const pe_over_cube *over);

/* The workload of all variants. */
extern char *pe_over_cube_workload(const pe_over_cube *over);

/* What is asked, in words: groups, and the conditions of variants. */
extern char *pe_over_cube_text(const pe_over_cube *over);

#endif

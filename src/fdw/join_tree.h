/*
 * join_tree.h
 *	  What a SELECT joins, taken from its tree of joins while it is planned.
 *
 * The tree is read as the planner leaves it, once outer joins that a condition makes inner ones have
 * become that and sub-selects are pulled up.  No path that joins rows of ours is ever run: the scans
 * below it are refused.
 */
#ifndef PE_FDW_JOIN_TREE_H
#define PE_FDW_JOIN_TREE_H

#include "postgres.h"

#include "nodes/pathnodes.h"

/*
 * The rows are those of a product of tables that meet `where`.  Each gets one row of each optional
 * table by the equalities of its ON, or NULLs.  IN and EXISTS are as an inner join with
 * `looked_up`, if at most one row of it is there.
 */
typedef struct pe_join_tree
{
	List	   *tables;			/* numbers of the range table */
	List	   *looked_up;		/* those of IN and EXISTS */
	List	   *optional;		/* lists of such a number and the conjuncts of its ON */
	List	   *natural;		/* lists of the tables on the left, those on the right, and the names that are equal */
	List	   *where;			/* conjuncts */
	char	   *why;			/* it is no such join; NULL: it is */
} pe_join_tree;

extern pe_join_tree *pe_join_tree_of(const Query *query);

#endif

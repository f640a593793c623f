/*
 * blocks_symmetric.h
 *	  A core and its groups of blocks: private to blocks_symmetric*.c.
 */
#ifndef PE_BLOCKS_BLOCKS_SYMMETRIC_H
#define PE_BLOCKS_BLOCKS_SYMMETRIC_H

#include "optimum/optimum.h"
#include "blocks/blocks.h"
#include "blocks/closure.h"
#include "strategy/rounding.h"

/* Most matrices of the core: choice of pe_blocks has no more. */
#define PE_CORE_GROUPS 127

/* Numbers that differ by this part are proportional: so much can the bound lose by it. */
#define PE_CORE_PROPORTIONAL 1e-12

/* Sets with one matrix of the core. */
typedef struct pe_core_group
{
	double	   *square;			/* of each pattern: V_g is the sum of these times the G_t */
	int			bits;			/* a limit for T's columns: pe_strategy_problem's */
	pe_workload part;			/* the same as a workload over the core */
	pe_strategy_problem problem;
	pe_rounding rounding;
	pe_strategy strategy;		/* T, over rounding.n columns; PE_L1: any matrix */
	double	   *v;				/* V_g over the columns of the whole core */
	pe_optimum	optimum;		/* X_g, over the same, the diagonal of their sum at most 1 */
	double	   *price;			/* y of the group's columns */
	double		paid;			/* sum of y_j (X_g)_jj */
	double		error;			/* tr(V_g (T'T)^+) */
	pe_u128    *norms;			/* of T's columns, over all columns of the axis */
	double		longest;		/* of them */
	double		length;			/* PE_L2: the same in the scale of X_g */
	double		share;			/* of all of its blocks */
} pe_core_group;

typedef struct pe_core
{
	const pe_strategy_problem *problem;
	pe_blocks  *blocks;
	pe_axis    *axis;			/* of the core: blocks->axis[0] */
	pe_classes	classes;		/* of its attributes; refers to the problem's */
	const bool *possible_of[PE_MAX_ATTRIBUTES];

	int32_t		patterns;
	int32_t    *pattern;		/* of each term */
	int32_t    *example;		/* of each pattern: a term */

	pe_closure	closure;		/* over the axes that follow, from 0 */
	int32_t    *group_of;		/* of each set */
	double	   *part;			/* of each set: m_R V_R^.5 / V_g^.5 */
	double	   *share;			/* of each set */
	int			groups;
	pe_core_group group[PE_CORE_GROUPS];
} pe_core;

/*
 * X of all groups, within half of the problem's gap, and a lower bound of the objective.  False,
 * with nothing to end, if one of them asks for nothing that a predicate leaves.
 */
extern bool pe_core_solve(pe_core *core, double *lower_bound);
extern void pe_core_end(pe_core *core);

/*
 * T of all groups, of the finest integers if asked; for PE_L1 the best that is
 * known.
 */
extern void pe_core_round(pe_core *core, bool finest);

/* T of a group over all columns of the axis. */
extern void pe_core_matrix(const pe_core *core, const pe_core_group *group, pe_strategy *strategy);

#endif

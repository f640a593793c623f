/*
 * polytope.h
 *	  The feasible set of a minimum, as SQL and JSON give it.
 */
#ifndef PE_ASK_POLYTOPE_H
#define PE_ASK_POLYTOPE_H

#include "fmgr.h"
#include "utils/jsonb.h"

#include "affine/programme.h"

/* As it was given; NULL: not at all. */
typedef struct pe_polytope_argument
{
	double	   *lower;
	int			lowers;
	double	   *upper;
	int			uppers;
	double	   *inequality;		/* row-major */
	int			inequalities;
	int			width;			/* numbers of each */
} pe_polytope_argument;

/*
 * From arguments lower, upper and inequalities, in this order from `first` on;
 * 22004 if one of the first two is null.
 */
extern void pe_polytope_of_arrays(FunctionCallInfo fcinfo, int first, pe_polytope_argument *argument);

/* From the keys of the same names.  A null in lower or upper is no bound. */
extern void pe_polytope_of_json(const Jsonb *options, pe_polytope_argument *argument);

/*
 * The set of so many variables; without bounds where none are given.  22023 if something
 * is of another length, is NaN, or is an inequality that is not finite.
 */
extern void pe_polytope_make(const pe_polytope_argument *argument, int variables, pe_polytope *set);

/* 22023 in the words of what is wrong with a set. */
extern void pe_polytope_refuse(pe_programme_end end) __attribute__((noreturn));

#endif

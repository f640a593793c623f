/*
 * atoms.h
 *	  Conditions of aggregates as an attribute: what is measured of sums that
 *	  differ in their conditions alone, and how the estimates vary together.
 *
 * Sums of one *function* differ in their conditions alone: count(*) and
 * count(*) where (b) are, and so are sum(x) where (b) and sum(x) where (c).
 * They are measured together, over the cells of the groups times the *classes*
 * of atoms: atoms that no row distinguishes are one class, and those that no
 * row has are none.  The *rows* are sets of classes, one for each sum.
 *
 * What is asked of the optimiser are these rows; of a ratio of two sums of one
 * function the rows that both have, and those that one of them has, from which
 * both follow.  Rows that do not overlap are classes, and every class is
 * measured by itself, for as many groups as there may be.  Rows that overlap
 * need a strategy that is kept, and a release has one at most.  Where it has
 * another one, or there are too many classes of cells, each class is measured
 * by itself if that has less variance than rows measured one by one; else each
 * sum is measured by itself, as sums of different functions are.
 *
 * Nothing of privacy follows from any of this: a row of the table is in one
 * cell of groups times atoms (domain/sums.h), and the sensitivity is that of
 * the strategy's columns.
 */
#ifndef PE_ASK_ATOMS_H
#define PE_ASK_ATOMS_H

#include "ask/ask_sums.h"

/* What a space by atoms has beside its workload, which is what is asked of the optimiser. */
struct pe_atom_space
{
	int32		atoms;
	int32		classes;
	int32	   *class_of;		/* of each atom; -1: no row has it */
	int			rows;
	bool	   *row;			/* rows x classes */
	bool		by_class;		/* each class of each group is measured by itself, */
	bool		alike;			/* with as much noise in all groups: part is of any of them */
	const char *groups;			/* the workload of groups as a factor; NULL: none */
	pe_workload told;			/* of each group every row */
	int			parts;			/* of noise, in each group */
	double	   *part;			/* groups x rows x parts: standard deviations along them, for noise of 1 */
};

/*
 * Finds which of the needed sums are measured together, and makes their spaces:
 * fills together and space_of.  The space of the groups is there.
 */
extern void pe_atoms_find(pe_aggregation *aggregation);

/* Of a sum, the row of its space by atoms that each sum is of the same part; -1: none. */
extern int *pe_atoms_rows(const pe_aggregation *aggregation, int sum);

/* Once the strategy of a space is known: the columns of the table's places, and how estimates vary together. */
extern void pe_atoms_settle(pe_space *space);

/* What is answered of a space: its own workload, or of every group all rows. */
static inline const pe_workload *
pe_space_told(const pe_space *space)
{
	return space->by_atom != NULL ? &space->by_atom->told : &space->workload;
}

/* Whether a part answers a sum, and which query of its space's a group of it is. */
static inline bool
pe_part_is_of(const pe_source_of_part *source, int sum)
{
	return source->row_of != NULL ? source->row_of[sum] >= 0 : source->sum == sum;
}

static inline int32
pe_part_query(const pe_aggregation *aggregation, int part, int sum, int32 group)
{
	const pe_source_of_part *source = &aggregation->source[part];

	return source->row_of == NULL ? (source->of_all ? 0 : group)
		: group * aggregation->space[source->space].by_atom->rows + source->row_of[sum];
}

/* The noise of a sum that is measured by atoms, for measurements of standard deviation 1. */
extern pe_sum_noise pe_atoms_noise(const pe_aggregation *aggregation, int part, int sum, int32 group);

#endif

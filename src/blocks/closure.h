/*
 * closure.h
 *	  Sets of attributes with all of their subsets, and sums over subsets and supersets.
 *
 * A union of terms is measured in blocks, one for every subset of the attributes of a term
 * (blocks.h).  Both sums go attribute by attribute over the pairs of a set with the attribute
 * and the same set without it, which is in the list too: as many operations as the sets have
 * members, not one for each pair of a set and a subset (Yates' algorithm).
 */
#ifndef PE_BLOCKS_CLOSURE_H
#define PE_BLOCKS_CLOSURE_H

#include <stdbool.h>

#include "base/mem.h"

/* Bit a is set if attribute a is in it. */
typedef pe_u128 pe_attribute_set;

#define PE_SET_ATTRIBUTES 128

static inline pe_attribute_set
pe_set_of(int attribute)
{
	return (pe_attribute_set) 1 << attribute;
}

static inline bool
pe_set_has(pe_attribute_set set, int attribute)
{
	return (set >> attribute & 1) != 0;
}

typedef struct pe_closure
{
	int32_t		sets;
	pe_attribute_set *set;		/* the smaller ones first, then by number; the first is empty */
	int32_t    *slot;			/* a hash table: the number of a set + 1, or 0 */
	uint32_t	slot_mask;

	/* for attribute a, from pair[a] to pair[a + 1]: the numbers of a set with it, and of the same without it */
	int32_t		pair[PE_SET_ATTRIBUTES + 1];
	int32_t    *with;
	int32_t    *without;
} pe_closure;

/* All subsets of `count` sets.  False, with nothing to free, if they are more than `most`. */
extern bool pe_closure_init(const pe_attribute_set *set, int32_t count, int32_t most, pe_closure *closure);
extern void pe_closure_free(pe_closure *closure);

/* The number of a set, or -1. */
extern int32_t pe_closure_find(const pe_closure *closure, pe_attribute_set set);

/* In place, R <- sum over A that contain R of value[A] prod_{a in R} inside[a] prod_{a in A \ R} outside[a]. */
extern void pe_closure_sum_above(const pe_closure *closure, const double *inside, const double *outside, double *value);

/* Its transpose, A <- sum over R in A of the same products with value[R]. */
extern void pe_closure_sum_below(const pe_closure *closure, const double *inside, const double *outside, double *value);

#endif

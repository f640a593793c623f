/*
 * closure.c
 *	  Sets of attributes with all of their subsets.  See closure.h.
 */
#include "blocks/closure.h"

#include <stdlib.h>
#include <string.h>

static int
members(pe_attribute_set set)
{
	return __builtin_popcountll((uint64_t) set) + __builtin_popcountll((uint64_t) (set >> 64));
}

static int
lowest(pe_attribute_set set)
{
	return (uint64_t) set != 0 ? __builtin_ctzll((uint64_t) set) : 64 + __builtin_ctzll((uint64_t) (set >> 64));
}

/* Fibonacci hashing of both halves. */
static uint32_t
first_slot(const pe_closure *closure, pe_attribute_set set)
{
	uint64_t	folded = (uint64_t) set ^ (uint64_t) (set >> 64) * UINT64_C(0xC2B2AE3D27D4EB4F);

	return (uint32_t) (folded * UINT64_C(0x9E3779B97F4A7C15) >> 32) & closure->slot_mask;
}

/* The slot of a set, or the free one where it belongs: there are twice as many slots as sets. */
static int32_t *
slot_of(const pe_closure *closure, pe_attribute_set set)
{
	uint32_t	slot = first_slot(closure, set);

	while (closure->slot[slot] != 0 && closure->set[closure->slot[slot] - 1] != set)
		slot = (slot + 1) & closure->slot_mask;
	return &closure->slot[slot];
}

int32_t
pe_closure_find(const pe_closure *closure, pe_attribute_set set)
{
	return *slot_of(closure, set) - 1;
}

static bool
add_set(pe_closure *closure, int32_t most, pe_attribute_set set)
{
	int32_t    *slot = slot_of(closure, set);

	if (*slot != 0)
		return true;
	if (closure->sets == most)
		return false;
	closure->set[closure->sets++] = set;
	*slot = closure->sets;
	return true;
}

/* The sets, then, set by set, each without one of its members. */
static bool
add_all(pe_closure *closure, int32_t most, const pe_attribute_set *set, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		if (!add_set(closure, most, set[i]))
			return false;
	for (int32_t i = 0; i < closure->sets; i++)
		for (pe_attribute_set left = closure->set[i]; left != 0; left &= left - 1)
			if (!add_set(closure, most, closure->set[i] ^ pe_set_of(lowest(left))))
				return false;
	return true;
}

static int
smaller_first(const void *a, const void *b)
{
	pe_attribute_set left = *(const pe_attribute_set *) a;
	pe_attribute_set right = *(const pe_attribute_set *) b;
	int			difference = members(left) - members(right);

	return difference != 0 ? difference : (left > right) - (left < right);
}

static void
sort_sets(pe_closure *closure)
{
	qsort(closure->set, (size_t) closure->sets, sizeof(*closure->set), smaller_first);
	memset(closure->slot, 0, ((size_t) closure->slot_mask + 1) * sizeof(*closure->slot));
	for (int32_t i = 0; i < closure->sets; i++)
		*slot_of(closure, closure->set[i]) = i + 1;
}

static void
list_pairs(pe_closure *closure)
{
	pe_attribute_set all = 0;
	size_t		pairs = 0;

	for (int32_t i = 0; i < closure->sets; i++)
	{
		all |= closure->set[i];
		pairs += (size_t) members(closure->set[i]);
	}
	closure->with = pe_alloc(pairs + 1, sizeof(*closure->with));
	closure->without = pe_alloc(pairs + 1, sizeof(*closure->without));
	for (int a = 0; a < PE_SET_ATTRIBUTES; a++)
	{
		int32_t		pair = closure->pair[a];

		for (int32_t i = 0; i < closure->sets && pe_set_has(all, a); i++)
			if (pe_set_has(closure->set[i], a))
			{
				closure->with[pair] = i;
				closure->without[pair++] = pe_closure_find(closure, closure->set[i] ^ pe_set_of(a));
			}
		closure->pair[a + 1] = pair;
	}
}

bool
pe_closure_init(const pe_attribute_set *set, int32_t count, int32_t most, pe_closure *closure)
{
	uint32_t	slots = 2;
	bool		fits;

	while (slots < 2 * (uint32_t) most)
		slots *= 2;
	memset(closure, 0, sizeof(*closure));
	closure->set = pe_alloc((size_t) most, sizeof(*closure->set));
	closure->slot = pe_alloc(slots, sizeof(*closure->slot));
	closure->slot_mask = slots - 1;
	fits = add_all(closure, most, set, count);
	if (fits)
	{
		sort_sets(closure);
		list_pairs(closure);
	}
	else
		pe_closure_free(closure);
	return fits;
}

void
pe_closure_free(pe_closure *closure)
{
	pe_free(closure->set);
	pe_free(closure->slot);
	pe_free(closure->with);
	pe_free(closure->without);
	memset(closure, 0, sizeof(*closure));
}

void
pe_closure_sum_above(const pe_closure *closure, const double *inside, const double *outside, double *value)
{
	for (int a = 0; a < PE_SET_ATTRIBUTES; a++)
		for (int32_t k = closure->pair[a]; k < closure->pair[a + 1]; k++)
		{
			value[closure->without[k]] += outside[a] * value[closure->with[k]];
			value[closure->with[k]] *= inside[a];
		}
}

void
pe_closure_sum_below(const pe_closure *closure, const double *inside, const double *outside, double *value)
{
	for (int a = 0; a < PE_SET_ATTRIBUTES; a++)
		for (int32_t k = closure->pair[a]; k < closure->pair[a + 1]; k++)
			value[closure->with[k]] = inside[a] * value[closure->with[k]] + outside[a] * value[closure->without[k]];
}

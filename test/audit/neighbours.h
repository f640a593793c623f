/*
 * neighbours.h
 *	  All neighbours of a tally, one by one.
 *
 * A unit contributes any u in N^cells with sum u <= max_rows, nothing included.
 * Where it is counted once in a cell (people), u is in {0, 1}^cells.
 * add_remove: x and x + u; substitute: x + u and x + v.  Here they are listed,
 * not reasoned about, so that a sensitivity has something to be held against.
 */
#ifndef PE_AUDIT_NEIGHBOURS_H
#define PE_AUDIT_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "strategy/strategy.h"

#define MAX_CELLS 8
#define MAX_ROWS 8

/* of at most 3 rows in 8 cells: 11 choose 3 */
#define MAX_CONTRIBUTIONS 165

/* The matrix over cells: a column of zeros for a cell that is not counted. */
typedef struct matrix
{
	int			cells;
	int			rows;
	int64_t		entry[MAX_ROWS][MAX_CELLS];
	int			weight[MAX_ROWS];	/* of a row in squared distances; 0: 1 */
	bool		once;			/* a unit gives at most one row to each cell */
} matrix;

/* What a unit gives, and what it does to the measurements. */
typedef struct contribution
{
	int			count[MAX_CELLS];
	int64_t		image[MAX_ROWS];
} contribution;

/* Two neighbours: what the unit gives in one and in the other. */
typedef struct pair
{
	contribution p;
	contribution q;
} pair;

typedef struct contributions
{
	int			count;
	contribution each[MAX_CONTRIBUTIONS];
} contributions;

/* All with at most left rows from cell on, besides what now holds.  The empty one comes first. */
static inline void
list_contributions(const matrix *a, int left, int cell, const contribution *now, contributions *list)
{
	list->each[list->count++] = *now;
	for (; left > 0 && cell < a->cells; cell++)
	{
		contribution more = *now;

		more.count[cell]++;
		for (int i = 0; i < a->rows; i++)
			more.image[i] += a->entry[i][cell];
		list_contributions(a, left - 1, cell + a->once, &more, list);
	}
}

/* |p - q|: squared in L2, as it is in L1. */
static inline pe_u128
distance(const matrix *a, const contribution *p, const contribution *q, bool l1)
{
	pe_u128		sum = 0;

	for (int i = 0; i < a->rows; i++)
	{
		pe_i128		d = (pe_i128) p->image[i] - q->image[i];

		sum += (pe_u128) (l1 ? (d < 0 ? -d : d) : d * d) * (a->weight[i] > 0 ? (pe_u128) a->weight[i] : 1);
	}
	return sum;
}

static inline bool
is_nothing(const contribution *c, int rows)
{
	for (int i = 0; i < rows; i++)
		if (c->image[i] != 0)
			return false;
	return true;
}

/*
 * The sensitivity, and the first and the last of the pairs that reach it.
 * zero: false leaves out contributions that no measurement sees (a planted fault).
 */
static inline pe_u128
worst_neighbours(const matrix *a, int max_rows, pe_neighbours rule, bool l1, bool zero, pair worst[2])
{
	static contributions list;
	contribution nothing;
	pe_u128		most = 0;

	memset(&nothing, 0, sizeof(nothing));
	list.count = 0;
	list_contributions(a, max_rows, 0, &nothing, &list);
	for (int i = 0; i < list.count; i++)
		for (int j = 0; j < (rule == PE_SUBSTITUTE ? list.count : 1); j++)
		{
			pe_u128		d = distance(a, &list.each[i], &list.each[j], l1);

			if (d < most || (!zero && (is_nothing(&list.each[i], a->rows) || is_nothing(&list.each[j], a->rows))))
				continue;
			worst[1] = (pair) {list.each[i], list.each[j]};
			if (d > most)
				worst[0] = worst[1];
			most = d;
		}
	return most;
}

#endif

/*
 * people.c
 *	  The sensitivity where a unit is counted at most once in each column.  See
 *	  strategy.h.
 *
 * Released: A x with noise, x_j the number of units with a row that counts in
 * column j; the cut keeps a unit in at most m columns.  Neighbouring tables
 * differ in one unit, whose contribution to x is the sum of e_j over a set S of
 * at most m columns, also none.  With G = A'A:
 *
 *	 add_remove:  |sum over S of a_i|^2
 *		= sum over i in S of (G_ii + sum over j in S, j != i, of G_ij)
 *
 * where the inner sum has at most m - 1 terms: at most r_i = G_ii + the sum of
 * the m - 1 largest positive G_ij.  So Delta^2 is at most the sum of the m
 * largest r_i.
 *
 *	 substitute:  |sum over S of a_i - sum over T of a_j|^2
 *
 * where columns of both cancel: S and T have none in common, and together at
 * most 2 m.  For i in S the inner sum is over at most m - 1 others of S, with
 * G_ij, and at most m of T, with -G_ij: at most r_i = G_ii + the sum of the m -
 * 1 largest positive G_ij + the sum of the m largest positive -G_ij, and the
 * same for i in T.  So Delta^2 is at most the sum of the 2 m largest r_i.  By
 * the triangle inequality it is also at most four times that of add_remove.
 *
 * r_i <= m max_j |a_j|^2 (2 m for substitute) as |G_ij| <= max_j |a_j|^2: never
 * more than m (2 m) copies of one column.  Where columns are counted one by one
 * G = I, and the sums are min(m, columns) and min(2 m, columns), which are
 * reached.
 *
 * L1: |sum over S of a_i|_1 is at most the sum of the m largest |a_j|_1, of the
 * 2 m largest for substitute; of a direct strategy m (2 m) times the largest.
 */
#include "strategy/strategy.h"

#include "base/mem.h"

/* No sampler serves more; sums of some 2^20 numbers that stop here stay in 128 bits. */
#define LIMIT ((pe_u128) 1 << 96)

/* ------------------------------------------------------------------
 * The sum of the largest of some numbers
 * ------------------------------------------------------------------
 */

/* The least of a heap is on top. */
static void
sift_down(pe_u128 *heap, size_t size, size_t at)
{
	pe_u128		moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < size; at = child)
	{
		if (child + 1 < size && heap[child + 1] < heap[child])
			child++;
		if (heap[child] >= moved)
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

/* Of the `most` largest of count numbers, each at most LIMIT; their order changes. */
static pe_u128
sum_of_largest(pe_u128 *number, size_t count, size_t most)
{
	size_t		size = most < count ? most : count;
	pe_u128		sum = 0;

	for (size_t i = size / 2; i-- > 0;)
		sift_down(number, size, i);
	for (size_t i = size; i < count && size > 0; i++)
		if (number[i] > number[0])
		{
			number[0] = number[i];
			sift_down(number, size, 0);
		}
	for (size_t i = 0; i < size; i++)
		sum += number[i];
	return sum < LIMIT ? sum : LIMIT;
}

/* ------------------------------------------------------------------
 * L2
 * ------------------------------------------------------------------
 */

/* r_i of all columns, of either kind of neighbours. */
typedef struct people
{
	size_t		columns;
	size_t		most;			/* m */
	pe_u128    *part;			/* of a row of G */
	pe_u128    *added;			/* of add_remove */
	pe_u128    *replaced;		/* of substitute */
} people;

/* The sum of the `most` largest positive entries of a row of G, or of -G, without the diagonal. */
static pe_u128
sum_of_part(people *p, int32_t column, const pe_i128 *product, int sign, size_t most)
{
	for (size_t j = 0; j < p->columns; j++)
	{
		pe_i128		entry = sign * product[j];

		p->part[j] = entry > 0 && j != (size_t) column ? (pe_u128) entry : 0;
	}
	return sum_of_largest(p->part, p->columns, most);
}

static pe_u128
at_most_limit(pe_u128 number)
{
	return number < LIMIT ? number : LIMIT;
}

static void
bound_column(void *argument, int32_t column, pe_i128 *product)
{
	people	   *p = argument;
	pe_u128		added = (pe_u128) product[column] + sum_of_part(p, column, product, 1, p->most - 1);

	p->added[column] = at_most_limit(added);
	p->replaced[column] = at_most_limit(added + sum_of_part(p, column, product, -1, p->most));
}

/* LIMIT: it does not fit. */
static pe_u128
sum_of_bounds(people *p, pe_neighbours neighbours)
{
	pe_u128		added = sum_of_largest(p->added, p->columns, p->most);
	pe_u128		replaced = sum_of_largest(p->replaced, p->columns, 2 * p->most);

	if (neighbours == PE_ADD_REMOVE)
		return added;
	return replaced < 4 * added ? replaced : 4 * added;
}

static pe_u128
bound_of_products(const pe_strategy *strategy, pe_neighbours neighbours, int32_t cells_per_unit)
{
	people		p = {.columns = (size_t) strategy->columns, .most = (size_t) cells_per_unit};
	pe_u128		sum = LIMIT;

	p.part = pe_alloc(p.columns, sizeof(*p.part));
	p.added = pe_alloc(p.columns, sizeof(*p.added));
	p.replaced = pe_alloc(p.columns, sizeof(*p.replaced));
	if (pe_strategy_each_products(strategy, false, bound_column, &p))
		sum = sum_of_bounds(&p, neighbours);
	pe_free(p.part);
	pe_free(p.added);
	pe_free(p.replaced);
	return sum > 0 ? sum : 1;
}

/* How many columns two neighbours differ in at most, each once. */
static size_t
columns_told_apart(const pe_strategy *strategy, pe_neighbours neighbours, int32_t cells_per_unit)
{
	size_t		most = neighbours == PE_SUBSTITUTE ? 2 * (size_t) cells_per_unit : (size_t) cells_per_unit;

	if (cells_per_unit < 1)
		pe_bug("a unit is counted in at least one cell");
	return most < (size_t) strategy->columns ? most : (size_t) strategy->columns;
}

bool
pe_strategy_people_sq(const pe_strategy *strategy, pe_neighbours neighbours, int32_t cells_per_unit,
					  pe_u128 *sensitivity_sq)
{
	*sensitivity_sq = columns_told_apart(strategy, neighbours, cells_per_unit);
	if (strategy->blocks != NULL)
		return false;
	if (!pe_strategy_counts_columns(strategy))
		*sensitivity_sq = bound_of_products(strategy, neighbours, cells_per_unit);
	return *sensitivity_sq < LIMIT;
}

/* ------------------------------------------------------------------
 * L1
 * ------------------------------------------------------------------
 */

static bool
direct_l1(const pe_strategy *strategy, size_t most, pe_u128 *sensitivity)
{
	pe_u128		largest = 1;

	if (!pe_direct_largest_l1(strategy, false, &largest))
		return false;
	*sensitivity = largest * most;
	return true;
}

bool
pe_strategy_people_l1(const pe_strategy *strategy, pe_neighbours neighbours, int32_t cells_per_unit,
					  pe_u128 *sensitivity)
{
	size_t		columns = (size_t) strategy->columns;
	size_t		most = columns_told_apart(strategy, neighbours, cells_per_unit);
	pe_u128    *norm;
	bool		fits;

	if (strategy->blocks != NULL)
		return false;
	if (strategy->direct)
		return direct_l1(strategy, most, sensitivity);
	*sensitivity = most;
	if (pe_strategy_counts_columns(strategy))
		return true;
	norm = pe_alloc(columns, sizeof(*norm));
	fits = pe_strategy_column_norms(strategy, PE_L1, norm);
	if (fits)
		*sensitivity = sum_of_largest(norm, columns, most);
	pe_free(norm);
	if (*sensitivity < 1)
		*sensitivity = 1;
	return fits && *sensitivity < LIMIT;
}

size_t
pe_strategy_people_memory(const pe_strategy *strategy)
{
	if (pe_strategy_counts_columns(strategy))
		return 0;
	return pe_strategy_each_products_memory(strategy) + 3 * (size_t) strategy->columns * sizeof(pe_u128);
}

/*
 * blocks_error.c
 *	  The errors of a workload as a whole, from its factors.  See blocks.h.
 *
 * The variance of a query of a term is a sum over blocks of products over axes of a number that its
 * query along the axis has.  The sum over all queries is the same with the sums of these numbers.
 * The largest one is had by queries that along no axis another one is above in all
 * numbers; where a term has many queries only these are looked at.
 */
#include "blocks/blocks_terms.h"

#include <math.h>
#include <stdlib.h>

#include "base/linalg.h"

/* So many combinations of queries are looked at one by one. */
#define PLENTY 1e6

/* A query is above another one if it is below it by rounding alone. */
#define ROUNDING 1e-12

/* ------------------------------------------------------------------
 * Fewer queries along an axis
 * ------------------------------------------------------------------
 */

/* The values of some queries, or, without a list of them, the sum of all. */
static double *
reduced_values(const double *values, int32_t queries, const int32_t *list, int32_t count)
{
	double	   *to;

	if (values == NULL)
		return NULL;
	to = pe_la_vector(list != NULL ? (size_t) count : 1);
	for (int32_t i = 0; list != NULL && i < count; i++)
		to[i] = values[list[i]];
	for (int32_t q = 0; list == NULL && q < queries; q++)
		to[0] += values[q];
	return to;
}

static pe_coefficients
reduce(const pe_coefficients *from, int matrices, const int32_t *list, int32_t count)
{
	pe_coefficients to = {.count = list != NULL ? count : 1};

	to.summed = reduced_values(from->summed, from->count, list, count);
	to.taken = pe_alloc((size_t) matrices + 1, sizeof(double *));
	for (int m = 0; m < matrices; m++)
		to.taken[m] = reduced_values(from->taken[m], from->count, list, count);
	return to;
}

static void
free_reduced(pe_coefficients *c, int matrices)
{
	for (int m = 0; m < matrices; m++)
		pe_free(c->taken[m]);
	pe_free(c->taken);
	pe_free(c->summed);
}

/* ------------------------------------------------------------------
 * Queries that no other one is above
 * ------------------------------------------------------------------
 */

/* The numbers of an axis' queries that matter to a view. */
typedef struct numbers
{
	int			count;
	const double *of[INT8_MAX + 2];
} numbers;

typedef struct candidate
{
	double		sum;
	int32_t		query;
} candidate;

static int
compare_candidates(const void *a, const void *b)
{
	double		first = ((const candidate *) a)->sum;
	double		second = ((const candidate *) b)->sum;

	return (first < second) - (first > second);
}

static bool
is_above(const numbers *n, int32_t query, int32_t other)
{
	for (int i = 0; i < n->count; i++)
		if (n->of[i][query] < n->of[i][other] * (1 - ROUNDING))
			return false;
	return true;
}

/* Queries with a larger sum are looked at first: of those with a smaller one none is above them. */
static int32_t *
find_front(const numbers *n, int32_t queries, int32_t *count)
{
	candidate  *all = pe_alloc((size_t) queries, sizeof(candidate));
	int32_t    *front = pe_alloc((size_t) queries, sizeof(int32_t));

	for (int32_t q = 0; q < queries; q++)
	{
		all[q].query = q;
		for (int i = 0; i < n->count; i++)
			all[q].sum += n->of[i][q];
	}
	qsort(all, (size_t) queries, sizeof(candidate), compare_candidates);
	*count = 0;
	for (int32_t q = 0; q < queries; q++)
	{
		bool		below = false;

		pe_poll();
		for (int32_t i = 0; i < *count && !below; i++)
			below = is_above(n, front[i], all[q].query);
		if (!below)
			front[(*count)++] = all[q].query;
	}
	pe_free(all);
	return front;
}

static numbers
numbers_of_axis(const pe_view *view, const pe_coefficients *c, int k)
{
	int			matrices = view->side[k]->axis->matrices;
	numbers		n = {0};

	if (c->summed != NULL)
		n.of[n.count++] = c->summed;
	for (int m = 0; m < matrices; m++)
	{
		bool		used = false;

		for (int32_t i = 0; i < view->members && !used; i++)
			used = view->member[i].key[k] == m;
		if (used)
			n.of[n.count++] = c->taken[m];
	}
	return n;
}

/* The front along one axis of a view; an axis of one matrix always has the same. */
static pe_coefficients
reduce_to_front(pe_view *view, const pe_coefficients *from, int k)
{
	pe_side    *side = view->side[k];
	numbers		n = numbers_of_axis(view, from, k);
	pe_coefficients to;

	if (side->front == NULL)
		side->front = find_front(&n, side->queries, &side->ahead);
	to = reduce(from, side->axis->matrices, side->front, side->ahead);
	if (side->axis->matrices > 1)
	{
		pe_free(side->front);
		side->front = NULL;
	}
	return to;
}

/* ------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------
 */

/*
 * The next axis to be reduced, the one with the fewest queries; -1: there is no
 * need, or only one has more than one query left.
 */
static int
next_axis(const pe_view *view, const pe_coefficients *of_axis, const bool *done)
{
	double		combinations = 1;
	int			next = -1;

	for (int k = 0; k < view->axes; k++)
	{
		combinations *= of_axis[k].count;
		if (!done[k] && (next < 0 || of_axis[k].count < of_axis[next].count))
			next = k;
	}
	return next >= 0 && combinations > PLENTY && combinations > of_axis[next].count ? next : -1;
}

static double
largest_of_term(const pe_block_terms *terms, pe_view *view, const pe_coefficients *full)
{
	pe_coefficients of_axis[PE_MAX_ATTRIBUTES];
	bool		done[PE_MAX_ATTRIBUTES] = {false};
	size_t		count = 1;
	double		largest;
	double	   *array;

	for (int k = 0; k < view->axes; k++)
		of_axis[k] = full[k];
	for (int k; (k = next_axis(view, of_axis, done)) >= 0; done[k] = true)
		of_axis[k] = reduce_to_front(view, &full[k], k);
	for (int k = 0; k < view->axes; k++)
		count *= (size_t) of_axis[k].count;
	array = pe_view_product(view, of_axis, terms->relative);
	largest = pe_la_largest(count, array);
	pe_free(array);
	for (int k = 0; k < view->axes; k++)
		if (done[k])
			free_reduced(&of_axis[k], view->side[k]->axis->matrices);
	return largest;
}

static double
sum_of_term(const pe_block_terms *terms, const pe_view *view, const pe_coefficients *full)
{
	pe_coefficients of_axis[PE_MAX_ATTRIBUTES];
	double	   *array;
	double		sum;

	for (int k = 0; k < view->axes; k++)
		of_axis[k] = reduce(&full[k], view->side[k]->axis->matrices, NULL, 0);
	array = pe_view_product(view, of_axis, terms->relative);
	sum = array[0];
	pe_free(array);
	for (int k = 0; k < view->axes; k++)
		free_reduced(&of_axis[k], view->side[k]->axis->matrices);
	return sum;
}

void
pe_blocks_error(const pe_blocks *blocks, const pe_workload *workload, pe_blocks_errors *errors)
{
	pe_block_terms terms;
	double		queries = 0;

	*errors = (pe_blocks_errors) {0};
	pe_block_terms_init(blocks, workload, &terms);
	for (int32_t t = 0; t < workload->terms; t++)
	{
		const pe_term *term = &workload->term[t];
		double		weight_sq = term->weight * term->weight;
		pe_coefficients full[PE_MAX_ATTRIBUTES];
		pe_view		view;
		double		largest;
		double		sum;

		pe_view_init(&terms, term, false, &view);
		pe_view_variances(&terms, &view, full);
		largest = largest_of_term(&terms, &view, full);
		sum = sum_of_term(&terms, &view, full);
		pe_view_free(&view);
		errors->largest = fmax(errors->largest, largest);
		errors->weighted_largest = fmax(errors->weighted_largest, weight_sq * largest);
		errors->mean += sum;
		errors->weighted_sum += weight_sq * sum;
		queries += (double) term->queries;
	}
	if (queries > 0)
		errors->mean /= queries;
	pe_block_terms_free(&terms);
}

/*
 * blocks_terms.c
 *	  What the terms of a workload ask of blocks, axis by axis.  See blocks_terms.h.
 */
#include "blocks/blocks_terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/linalg.h"
#include "strategy/solve.h"

/* ------------------------------------------------------------------
 * Axes and sets
 * ------------------------------------------------------------------
 */

static bool
has_axis(const pe_blocks *blocks, int attribute)
{
	for (int a = 0; a < blocks->axes; a++)
		for (int i = 0; i < blocks->axis[a].attributes; i++)
			if (blocks->axis[a].attribute[i] == attribute)
				return true;
	return false;
}

static void
add_missing_axes(pe_block_terms *terms)
{
	terms->one = 1;
	for (int a = 0; a < terms->blocks->attributes; a++)
		if (!has_axis(terms->blocks, a))
			terms->axis[terms->axes++] = (pe_axis) {
				.attributes = 1, .attribute = {a}, .cells = 1, .centre = &terms->one, .denominator = 1
			};
}

static bool
is_in_no_axis(const pe_block_terms *terms, int attribute)
{
	for (int a = terms->blocks->axes; a < terms->axes; a++)
		if (terms->axis[a].attribute[0] == attribute)
			return true;
	return false;
}

int32_t
pe_block_terms_column(const pe_block_terms *terms, int attribute, int32_t cell)
{
	const int32_t *column_of = terms->blocks->column_of[attribute];

	if (is_in_no_axis(terms, attribute))
		return column_of != NULL && column_of[cell] == PE_RULED_OUT ? PE_RULED_OUT : 0;
	return column_of[cell];
}

static void
find_first_cells(pe_block_terms *terms, int attribute)
{
	int32_t		columns = is_in_no_axis(terms, attribute) ? 1 : terms->blocks->columns[attribute];
	int32_t    *first = pe_alloc((size_t) columns, sizeof(int32_t));

	for (int32_t cell = terms->blocks->cells[attribute] - 1; cell >= 0; cell--)
	{
		int32_t		column = pe_block_terms_column(terms, attribute, cell);

		if (column >= 0)
			first[column] = cell;
	}
	terms->first_cell[attribute] = first;
}

static int
compare_sets(const void *a, const void *b)
{
	uint32_t	first = ((const pe_set_of_block *) a)->set;
	uint32_t	second = ((const pe_set_of_block *) b)->set;

	return (first > second) - (first < second);
}

static void
check_taken(const pe_blocks *blocks, int32_t block)
{
	for (int a = 0; a < blocks->axes; a++)
		if (blocks->axis[a].centre == NULL && pe_blocks_choice(blocks, block, a) < 0)
			pe_bug("a block that sums over an axis without a centre");
}

static void
sort_sets(pe_block_terms *terms)
{
	int32_t		count = terms->blocks->blocks;

	terms->sets = pe_alloc((size_t) count, sizeof(pe_set_of_block));
	for (int32_t b = 0; b < count; b++)
	{
		check_taken(terms->blocks, b);
		terms->sets[b] = (pe_set_of_block) {pe_blocks_centred_axes(terms->blocks, b), b};
	}
	qsort(terms->sets, (size_t) count, sizeof(pe_set_of_block), compare_sets);
	for (int32_t b = 1; b < count; b++)
		if (terms->sets[b].set == terms->sets[b - 1].set)
			pe_bug("two blocks of the same axes");
}

void
pe_block_terms_init(const pe_blocks *blocks, const pe_workload *workload, pe_block_terms *terms)
{
	if (!pe_blocks_fit(blocks, &workload->shape))
		pe_bug("blocks for another workload");
	memset(terms, 0, sizeof(*terms));
	terms->blocks = blocks;
	terms->workload = workload;
	terms->axes = blocks->axes;
	for (int a = 0; a < blocks->axes; a++)
	{
		if (blocks->axis[a].centre != NULL && blocks->axis[a].attributes > 1)
			pe_bug("a centre of several attributes");
		terms->axis[a] = blocks->axis[a];
	}
	add_missing_axes(terms);
	for (int a = 0; a < blocks->attributes; a++)
		find_first_cells(terms, a);
	sort_sets(terms);
	terms->relative = pe_la_vector((size_t) blocks->blocks);
}

/* ------------------------------------------------------------------
 * A term along one axis
 * ------------------------------------------------------------------
 */

/* The class of part that each column of the axis is in. */
static void
find_classes(const pe_block_terms *terms, pe_side *side)
{
	const pe_axis *axis = side->axis;

	side->class_of = pe_alloc((size_t) axis->cells, sizeof(int32_t));
	side->same = side->classes.cells == axis->cells;
	for (int32_t c = 0; c < axis->cells; c++)
	{
		int32_t		left = c;
		int32_t		stride = 1;

		for (int i = axis->attributes - 1; i >= 0; i--)
		{
			int			attribute = axis->attribute[i];
			int32_t		columns = axis->attributes == 1 ? axis->cells : terms->blocks->columns[attribute];
			int32_t		cell = terms->first_cell[attribute][left % columns];

			side->class_of[c] += side->classes.class_of[i][cell] * stride;
			stride *= side->classes.count[i];
			left /= columns;
		}
		side->same = side->same && side->class_of[c] == c;
	}
}

/* Numbers the queries of a term by its attributes. */
static void
number_by_attributes(pe_term *term, int attributes)
{
	int64_t		stride = 1;

	for (int a = attributes - 1; a >= 0; a--)
		for (int f = 0; f < term->factors; f++)
			if (term->factor[f].attribute == a)
			{
				term->factor[f].stride = stride;
				stride *= term->factor[f].queries;
			}
}

static double *
vector_of_integers(const int32_t *from, int32_t count)
{
	double	   *to = pe_la_vector((size_t) count);

	for (int32_t i = 0; i < count; i++)
		to[i] = from[i];
	return to;
}

/* w'd: a whole number divided by the denominator, so that 0 is exact. */
static void
find_totals(pe_side *side)
{
	double	   *centre = vector_of_integers(side->axis->centre, side->axis->cells);

	side->total = pe_side_contract(side, centre, 1, 1);
	side->square = pe_la_vector((size_t) side->queries);
	for (int32_t q = 0; q < side->queries; q++)
	{
		side->total[q] /= side->axis->denominator;
		side->square[q] = side->total[q] * side->total[q];
	}
	pe_free(centre);
}

pe_side *
pe_side_make(const pe_block_terms *terms, const pe_term *term, const pe_axis *axis)
{
	pe_side    *side = pe_alloc(1, sizeof(*side));
	pe_workload alone = *terms->workload;
	const pe_workload *part = &side->part;
	const double weight = 1;

	alone.terms = 1;
	alone.term = (pe_term *) term;
	side->axis = axis;
	for (int i = 0; i < axis->attributes; i++)
		side->factor[i] = pe_term_on(term, axis->attribute[i]);
	pe_workload_part(&alone, axis->attribute, axis->attributes, &weight, &side->part);
	number_by_attributes(&side->part.term[0], axis->attributes);
	pe_classes_init(&part, 1, &side->classes);
	side->queries = side->part.queries;
	find_classes(terms, side);
	if (axis->centre != NULL)
		find_totals(side);
	side->variance = pe_alloc((size_t) axis->matrices + 1, sizeof(double *));
	return side;
}

void
pe_side_free(pe_side *side)
{
	if (side == NULL)
		return;
	for (int m = 0; m < side->axis->matrices; m++)
		pe_free(side->variance[m]);
	pe_workload_basis_free(&side->part);
	pe_classes_free(&side->classes);
	pe_free(side->class_of);
	pe_free(side->total);
	pe_free(side->square);
	pe_free(side->variance);
	pe_free(side->rest);
	pe_free(side->front);
	pe_free(side);
}

/* Whether two lists of the same length are the same. */
static bool
are_same_numbers(const int32_t *a, const int32_t *b, size_t count)
{
	return a == b || (a != NULL && b != NULL && memcmp(a, b, count * sizeof(int32_t)) == 0);
}

bool
pe_factors_are_same(const pe_factor *a, const pe_factor *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a->constructor == b->constructor && a->cells == b->cells && a->queries == b->queries &&
		a->width == b->width &&
		are_same_numbers(a->range, b->range, 2 * (size_t) a->queries) &&
		are_same_numbers(a->entry, b->entry, (size_t) a->queries * (size_t) a->cells);
}

static bool
is_side_of(const pe_side *side, const pe_term *term)
{
	for (int i = 0; i < side->axis->attributes; i++)
		if (!pe_factors_are_same(side->factor[i], pe_term_on(term, side->axis->attribute[i])))
			return false;
	return true;
}

static pe_side *
side_of(pe_block_terms *terms, const pe_term *term, int axis)
{
	pe_side   **kept = terms->side[axis];
	int			last;

	for (int i = 0; i < PE_KEPT_SIDES && kept[i] != NULL; i++)
		if (is_side_of(kept[i], term))
			return kept[i];
	last = terms->replaced[axis]++ % PE_KEPT_SIDES;
	pe_side_free(kept[last]);
	return kept[last] = pe_side_make(terms, term, &terms->axis[axis]);
}

/* [outer][columns][inner] becomes [outer][classes][inner]. */
static double *
sum_classes(const pe_side *side, const double *x, size_t outer, size_t inner)
{
	size_t		columns = (size_t) side->axis->cells;
	size_t		classes = (size_t) side->classes.cells;
	double	   *over = pe_la_vector(outer * classes * inner);

	for (size_t o = 0; o < outer; o++)
		for (size_t c = 0; c < columns; c++)
		{
			double	   *to = over + (o * classes + (size_t) side->class_of[c]) * inner;

			for (size_t i = 0; i < inner; i++)
				to[i] += x[(o * columns + c) * inner + i];
		}
	return over;
}

double *
pe_side_contract(const pe_side *side, const double *x, size_t outer, size_t inner)
{
	double	   *over = side->same ? NULL : sum_classes(side, x, outer, inner);
	double	   *out = pe_term_contract(&side->part.term[0], &side->classes, 1, over != NULL ? over : x, outer, inner);

	pe_free(over);
	return out;
}

/* ------------------------------------------------------------------
 * Variances along one axis
 * ------------------------------------------------------------------
 */

void
pe_axis_recentre(const pe_axis *axis, double *x, size_t outer, size_t inner)
{
	size_t		n = (size_t) axis->cells;
	double	   *sums = pe_la_vector(inner);

	for (size_t o = 0; o < outer; o++, x += n * inner)
	{
		memset(sums, 0, inner * sizeof(double));
		for (size_t c = 0; c < n; c++)
			for (size_t i = 0; i < inner; i++)
				sums[i] += x[c * inner + i];
		for (size_t c = 0; c < n; c++)
			for (size_t i = 0; i < inner; i++)
				x[c * inner + i] -= (double) axis->centre[c] / axis->denominator * sums[i];
	}
	pe_free(sums);
}

double *
pe_side_members(const pe_side *side)
{
	double	   *members = pe_la_vector((size_t) side->classes.cells);

	for (int32_t c = 0; c < side->axis->cells; c++)
		members[side->class_of[c]] += 1;
	return members;
}

/* Of w M^+ with M^+ = scale (I - c 1'), c = 1 / n or d or 0: from the sums of the weights and of their squares. */
static double *
variance_of_diagonal(const pe_side *side, bool centred)
{
	size_t		n = (size_t) side->axis->cells;
	double	   *ones = pe_la_vector(n);
	double	   *members = pe_side_members(side);
	double	   *sums;
	double	   *v;

	for (size_t c = 0; c < n; c++)
		ones[c] = 1;
	sums = pe_side_contract(side, ones, 1, 1);
	v = pe_term_contract(&side->part.term[0], &side->classes, 2, members, 1, 1);
	for (int32_t q = 0; q < side->queries; q++)
	{
		double		s = centred ? sums[q] / (double) n : side->total != NULL ? side->total[q] : 0;

		v[q] += s * (s * (double) n - 2 * sums[q]);
		if (centred)
			v[q] /= (double) n * (double) n;
	}
	pe_free(ones);
	pe_free(members);
	pe_free(sums);
	return v;
}

/* The covariance of the columns, of the part orthogonal to the centre, as sums over classes. */
static double *
covariance_of_classes(const pe_side *side, const pe_strategy *strategy)
{
	size_t		n = (size_t) side->axis->cells;
	size_t		k = (size_t) side->classes.cells;
	double	   *c = pe_la_vector(n * n);
	double	   *q = pe_la_vector(k * k);

	pe_strategy_covariance(strategy, c);
	if (side->axis->centre != NULL)
	{
		pe_axis_recentre(side->axis, c, 1, n);
		pe_axis_recentre(side->axis, c, n, 1);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			q[(size_t) side->class_of[i] * k + (size_t) side->class_of[j]] += c[i * n + j];
	pe_free(c);
	return q;
}

static double *
variance_of_strategy(const pe_side *side, const pe_strategy *strategy)
{
	double	   *q = covariance_of_classes(side, strategy);
	double	   *v = pe_la_vector((size_t) side->queries);

	pe_workload_quadratic(&side->part, &side->classes, q, v);
	pe_free(q);
	return v;
}

const double *
pe_side_variance(pe_side *side, int matrix)
{
	const pe_axis_matrix *m = &side->axis->matrix[matrix];
	double	   *v = side->variance[matrix];

	if (v != NULL)
		return v;
	pe_poll();
	v = pe_axis_is_diagonal(side->axis, matrix) ? variance_of_diagonal(side, m->centred)
		: variance_of_strategy(side, &m->strategy);
	/* rounding can leave a little below zero where the truth is zero */
	for (int32_t q = 0; q < side->queries; q++)
		if (v[q] < 0)
			v[q] = 0;
	return side->variance[matrix] = v;
}

void
pe_block_terms_free(pe_block_terms *terms)
{
	for (int a = 0; a < terms->axes; a++)
		for (int i = 0; i < PE_KEPT_SIDES; i++)
			pe_side_free(terms->side[a][i]);
	for (int a = 0; a < terms->blocks->attributes; a++)
		pe_free(terms->first_cell[a]);
	pe_free(terms->sets);
	pe_free(terms->relative);
}

/* ------------------------------------------------------------------
 * A term and its blocks
 * ------------------------------------------------------------------
 */

static bool
is_named(const pe_term *term, const pe_axis *axis)
{
	for (int i = 0; i < axis->attributes; i++)
		if (pe_term_on(term, axis->attribute[i]) != NULL)
			return true;
	return false;
}

/* How much larger an array becomes when an axis' columns become queries. */
static double
growth(const pe_view *view, int place)
{
	return (double) view->side[place]->queries / view->side[place]->axis->cells;
}

static void
order_by_growth(pe_view *view)
{
	for (int k = 1; k < view->axes; k++)
		for (int i = k; i > 0 && growth(view, view->order[i]) > growth(view, view->order[i - 1]); i--)
		{
			int			swap = view->order[i];

			view->order[i] = view->order[i - 1];
			view->order[i - 1] = swap;
		}
}

static void
add_member(const pe_block_terms *terms, pe_view *view, int32_t block)
{
	pe_member  *member = &view->member[view->members++];

	member->block = block;
	for (int k = 0; k < view->axes; k++)
	{
		int			axis = view->axis[view->order[k]];

		member->key[k] = axis < terms->blocks->axes ? (int8_t) pe_blocks_choice(terms->blocks, block, axis) : -1;
	}
}

static int
compare_members(const void *a, const void *b)
{
	return memcmp(((const pe_member *) a)->key, ((const pe_member *) b)->key, sizeof(((const pe_member *) a)->key));
}

/* The blocks whose set is within the one asked: subset by subset, or all one after the other. */
static void
find_members(const pe_block_terms *terms, uint32_t asked, pe_view *view)
{
	int32_t		blocks = terms->blocks->blocks;
	int			bits = __builtin_popcount(asked);
	int32_t		most = bits < 17 && 1 << bits < blocks ? 1 << bits : blocks;
	uint32_t	set = 0;

	view->member = pe_alloc((size_t) most, sizeof(pe_member));
	for (int32_t b = 0; most == blocks && b < blocks; b++)
		if ((terms->sets[b].set & ~asked) == 0)
			add_member(terms, view, terms->sets[b].block);
	for (int32_t i = 0; most < blocks && i < most; i++, set = (set - asked) & asked)
	{
		const pe_set_of_block *found = bsearch(&(pe_set_of_block) {set, 0}, terms->sets, (size_t) blocks,
											   sizeof(*terms->sets), compare_sets);

		if (found != NULL)
			add_member(terms, view, found->block);
	}
	qsort(view->member, (size_t) view->members, sizeof(pe_member), compare_members);
}

void
pe_view_init(pe_block_terms *terms, const pe_term *term, bool by_growth, pe_view *view)
{
	uint32_t	asked = 0;

	pe_poll();
	if (pe_term_on(term, PE_ALL_CELLS) != NULL)
		pe_bug("a matrix over all cells asked of blocks");
	memset(view, 0, sizeof(*view));
	view->term = term;
	for (int a = 0; a < terms->axes; a++)
	{
		const pe_axis *axis = &terms->axis[a];

		if (axis->centre != NULL && !is_named(term, axis))
			continue;
		if (axis->centre != NULL && a < terms->blocks->axes)
			asked |= UINT32_C(1) << a;
		view->side[view->axes] = side_of(terms, term, a);
		view->order[view->axes] = view->axes;
		view->axis[view->axes++] = a;
	}
	if (by_growth)
		order_by_growth(view);
	find_members(terms, asked, view);
}

void
pe_view_free(pe_view *view)
{
	pe_free(view->member);
}

int32_t
pe_view_group(const pe_view *view, int depth, int32_t first, int32_t end)
{
	int32_t		next = first + 1;

	while (next < end && view->member[next].key[depth] == view->member[first].key[depth])
		next++;
	return next;
}

void
pe_view_variances(pe_block_terms *terms, const pe_view *view, pe_coefficients *of_axis)
{
	for (int32_t i = 0; i < view->members; i++)
	{
		int32_t		b = view->member[i].block;

		if (terms->relative[b] == 0)
			terms->relative[b] = pe_blocks_relative_variance(terms->blocks, b);
		for (int k = 0; k < view->axes; k++)
			if (view->member[i].key[k] >= 0)
				pe_side_variance(view->side[k], view->member[i].key[k]);
	}
	for (int k = 0; k < view->axes; k++)
		of_axis[k] = (pe_coefficients) {view->side[k]->queries, view->side[k]->square, view->side[k]->variance};
}

/* The members from first to end share the keys before depth; the array is over the axes from depth on. */
static double *
product_from(const pe_view *view, const pe_coefficients *of_axis, const double *of_block,
			 int depth, int32_t first, int32_t end)
{
	const pe_coefficients *axis = &of_axis[depth];
	double	   *out;
	size_t		rest = 1;

	if (depth == view->axes)
	{
		out = pe_la_vector(1);
		*out = of_block[view->member[first].block];
		return out;
	}
	for (int k = depth + 1; k < view->axes; k++)
		rest *= (size_t) of_axis[k].count;
	out = pe_la_vector((size_t) axis->count * rest);
	for (int32_t next; first < end; first = next)
	{
		int			key = view->member[first].key[depth];
		const double *coefficient = key < 0 ? axis->summed : axis->taken[key];
		double	   *part;

		next = pe_view_group(view, depth, first, end);
		part = product_from(view, of_axis, of_block, depth + 1, first, next);
		for (int32_t q = 0; q < axis->count; q++)
			for (size_t i = 0; coefficient[q] != 0 && i < rest; i++)
				out[(size_t) q * rest + i] += coefficient[q] * part[i];
		pe_free(part);
	}
	return out;
}

double *
pe_view_product(const pe_view *view, const pe_coefficients *of_axis, const double *of_block)
{
	size_t		count = 1;

	if (view->members > 0)
		return product_from(view, of_axis, of_block, 0, 0, view->members);
	for (int k = 0; k < view->axes; k++)
		count *= (size_t) of_axis[k].count;
	return pe_la_vector(count);
}

void
pe_view_scatter(const pe_view *view, const double *from, double *answer)
{
	const pe_factor *digit[PE_MAX_ATTRIBUTES];
	int32_t		at[PE_MAX_ATTRIBUTES] = {0};
	int			digits = 0;
	int64_t		number = view->term->first;

	for (int k = 0; k < view->axes; k++)
		for (int i = 0; i < view->side[k]->axis->attributes; i++)
		{
			digit[digits] = pe_term_on(view->term, view->side[k]->axis->attribute[i]);
			digits += digit[digits] != NULL;
		}
	for (int64_t i = 0; i < view->term->queries; i++)
	{
		answer[number] = from[i];
		for (int d = digits - 1; d >= 0; d--)
		{
			number += digit[d]->stride;
			if (++at[d] < digit[d]->queries)
				break;
			number -= digit[d]->stride * digit[d]->queries;
			at[d] = 0;
		}
	}
}

/*
 * blocks_determined.c
 *	  What blocks determine.  See blocks.h, Estimates.
 *
 * A query is determined if it has one weight for all cells of a column; and if for every set of axes
 * such that w - (w'd) 1 is not zero along those of the set, nor w'd along the others, there is a block
 * with rows that span w - (w'd) 1.  The first is asked of each attribute, the second of each axis, and of
 * combinations of axes only for queries that differ in the answers.
 *
 * Cells without a column count in a sum over the axis, and nothing else counts them: they must have the
 * weight w'd, without a centre 0.
 *
 * Weights are compared by their products with random vectors, as in reconstruct.c.
 */
#include "blocks/blocks_terms.h"

#include <string.h>

#include "base/linalg.h"
#include "blocks/reconstruct.h"

/* ------------------------------------------------------------------
 * Random vectors over the classes of a side
 * ------------------------------------------------------------------
 */

typedef struct probe
{
	const pe_block_terms *terms;
	const pe_side *side;
	const pe_strategy *strategy;	/* fill_rows: whose rows */
	double	   *row_space;
} probe;

typedef void (*fill_probe) (const probe *p, double *z);

static void
add_columns(const pe_side *side, const double *columns, double *z)
{
	for (int32_t c = 0; c < side->axis->cells; c++)
		z[side->class_of[c]] += columns[c];
}

/*
 * Nothing for weights that are the same for all cells of each column, and w'd
 * for cells without one; an axis of one attribute.
 */
static void
fill_cells(const probe *p, double *z)
{
	const pe_axis *axis = p->side->axis;
	int			attribute = axis->attribute[0];
	const int32_t *class_of = p->side->classes.class_of[0];
	double	   *columns = pe_la_vector((size_t) axis->cells);
	double		rest = 0;

	for (int32_t cell = 0; cell < p->terms->blocks->cells[attribute]; cell++)
	{
		int32_t		column = pe_block_terms_column(p->terms, attribute, cell);
		double		number = column != PE_RULED_OUT ? pe_probe_number() : 0;

		z[class_of[cell]] += number;
		if (column >= 0)
			columns[column] -= number;
		else
			rest += number;
	}
	for (int32_t c = 0; axis->centre != NULL && c < axis->cells; c++)
		columns[c] -= rest * axis->centre[c] / axis->denominator;
	add_columns(p->side, columns, z);
	pe_free(columns);
}

/* Nothing for equal weights. */
static void
fill_differences(const probe *p, double *z)
{
	int32_t		n = p->side->axis->cells;
	double	   *columns = pe_la_vector((size_t) n);
	double		sum = 0;

	for (int32_t c = 0; c < n; c++)
		sum += columns[c] = pe_probe_number();
	for (int32_t c = 0; c < n; c++)
		columns[c] -= sum / n;
	add_columns(p->side, columns, z);
	pe_free(columns);
}

/* Nothing for what the rows of the strategy span, the part along the centre taken off. */
static void
fill_rows(const probe *p, double *z)
{
	double	   *columns = pe_la_vector((size_t) p->side->axis->cells);

	pe_probe_columns(p->strategy, p->row_space, columns);
	if (p->side->axis->centre != NULL)
		pe_axis_recentre(p->side->axis, columns, 1, 1);
	add_columns(p->side, columns, z);
	pe_free(columns);
}

/* Which queries are not orthogonal to what fill makes. */
static bool *
find_outside(const probe *p, fill_probe fill, const double *members)
{
	const pe_side *side = p->side;
	const pe_term *term = &side->part.term[0];
	double	   *whole = pe_term_contract(term, &side->classes, 2, members, 1, 1);
	double	   *outside = pe_la_vector((size_t) side->queries);
	bool	   *flags = pe_alloc((size_t) side->queries, sizeof(bool));

	for (int i = 0; i < PE_PROBES; i++)
	{
		double	   *z = pe_la_vector((size_t) side->classes.cells);
		double	   *product;

		pe_poll();
		fill(p, z);
		product = pe_term_contract(term, &side->classes, 1, z, 1, 1);
		for (int32_t q = 0; q < side->queries; q++)
			outside[q] += product[q] * product[q];
		pe_free(z);
		pe_free(product);
	}
	for (int32_t q = 0; q < side->queries; q++)
		flags[q] = outside[q] > PE_OUTSIDE * whole[q];
	pe_free(whole);
	pe_free(outside);
	return flags;
}

/* ------------------------------------------------------------------
 * Attribute by attribute: one weight for a column
 * ------------------------------------------------------------------
 */

/* The first queries of a term's factor, or -1. */
typedef struct firsts
{
	int64_t		stride;
	int32_t		divided;		/* that distinguishes cells of a column */
	int32_t		some;			/* with a weight that is not zero */
} firsts;

static int32_t
first_true(const bool *flags, int32_t count)
{
	const bool *found = count > 0 ? memchr(flags, true, (size_t) count) : NULL;

	return found != NULL ? (int32_t) (found - flags) : -1;
}

/* The cells of each class that a predicate leaves. */
static double *
cells_of_classes(const pe_block_terms *terms, const pe_side *side)
{
	int			attribute = side->axis->attribute[0];
	double	   *cells = pe_la_vector((size_t) side->classes.cells);

	for (int32_t c = 0; c < terms->blocks->cells[attribute]; c++)
		cells[side->classes.class_of[0][c]] += pe_block_terms_column(terms, attribute, c) != PE_RULED_OUT;
	return cells;
}

/*
 * Whether every cell is in the class of its column: then no query distinguishes
 * them.
 */
static bool
are_columns_whole(const pe_block_terms *terms, const pe_side *side)
{
	int			attribute = side->axis->attribute[0];

	for (int32_t c = 0; c < terms->blocks->cells[attribute]; c++)
	{
		int32_t		column = pe_block_terms_column(terms, attribute, c);

		if (column == PE_NOT_ASKED || (column >= 0 && side->class_of[column] != side->classes.class_of[0][c]))
			return false;
	}
	return true;
}

static firsts
firsts_of_side(const pe_block_terms *terms, const pe_side *side, const pe_term *term)
{
	const pe_factor *factor = pe_term_on(term, side->axis->attribute[0]);
	firsts		f = {factor != NULL ? factor->stride : 0, -1, -1};
	double	   *cells = cells_of_classes(terms, side);
	double	   *squares = pe_term_contract(&side->part.term[0], &side->classes, 2, cells, 1, 1);

	for (int32_t q = 0; q < side->queries && f.some < 0; q++)
		if (squares[q] > 0)
			f.some = q;
	if (!are_columns_whole(terms, side))
	{
		bool	   *outside = find_outside(&(probe) {.terms = terms, .side = side}, fill_cells, cells);

		f.divided = first_true(outside, side->queries);
		pe_free(outside);
	}
	pe_free(cells);
	pe_free(squares);
	return f;
}

/* An attribute of an axis of several. */
static firsts
firsts_of_attribute(const pe_block_terms *terms, int attribute, const pe_term *term)
{
	pe_axis		axis = {.attributes = 1, .attribute = {attribute}, .cells = terms->blocks->columns[attribute]};
	pe_side    *side = pe_side_make(terms, term, &axis);
	firsts		f = firsts_of_side(terms, side, term);

	pe_side_free(side);
	return f;
}

/*
 * The first query with one factor that distinguishes cells of a column, and no
 * other one zero.
 */
static int64_t
first_divided(const pe_block_terms *terms, const pe_view *view)
{
	firsts		f[PE_MAX_ATTRIBUTES];
	int			count = 0;
	int64_t		first = -1;

	for (int k = 0; k < view->axes; k++)
		for (int i = 0; i < view->side[k]->axis->attributes; i++)
			f[count++] = view->side[k]->axis->attributes == 1 ? firsts_of_side(terms, view->side[k], view->term)
				: firsts_of_attribute(terms, view->side[k]->axis->attribute[i], view->term);
	for (int a = 0; a < count; a++)
	{
		int64_t		number = f[a].divided < 0 ? -1 : view->term->first;

		for (int i = 0; i < count && number >= 0; i++)
			number = f[i].some < 0 ? -1 : number + f[i].stride * (i == a ? f[i].divided : f[i].some);
		if (number >= 0 && (first < 0 || number < first))
			first = number;
	}
	return first;
}

/* ------------------------------------------------------------------
 * Axis by axis: what the queries ask of blocks
 * ------------------------------------------------------------------
 */

/* Queries along an axis with the same answers. */
typedef struct kinds
{
	int32_t		count;
	int32_t    *of_query;
	int64_t    *number;			/* of each kind: what its first query adds to a query's number */
	int32_t    *query;			/* that one */
} kinds;

/* Splits each kind by a flag. */
static void
split(kinds *k, int32_t queries, const bool *flags)
{
	int32_t    *split_to = pe_alloc(2 * (size_t) k->count, sizeof(int32_t));
	int32_t		count = 0;

	for (int32_t q = 0; q < queries; q++)
	{
		int32_t    *to = &split_to[2 * (size_t) k->of_query[q] + flags[q]];

		if (*to == 0)
			*to = ++count;
		k->of_query[q] = *to - 1;
	}
	k->count = count;
	pe_free(split_to);
}

/* What a query along an axis adds to the number of a query. */
static int64_t
number_of(const pe_side *side, const pe_term *term, int32_t query)
{
	int64_t		number = 0;

	for (int i = side->axis->attributes - 1; i >= 0; i--)
	{
		const pe_factor *factor = pe_term_on(term, side->axis->attribute[i]);

		if (factor == NULL)
			continue;
		number += factor->stride * (query % factor->queries);
		query /= factor->queries;
	}
	return number;
}

static void
find_first_of_kinds(kinds *k, const pe_side *side, const pe_term *term)
{
	k->number = pe_alloc((size_t) k->count, sizeof(int64_t));
	k->query = pe_alloc((size_t) k->count, sizeof(int32_t));
	memset(k->number, 0x7f, (size_t) k->count * sizeof(int64_t));
	for (int32_t q = 0; q < side->queries; q++)
	{
		int64_t		number = number_of(side, term, q);
		int32_t		kind = k->of_query[q];

		if (number >= k->number[kind])
			continue;
		k->number[kind] = number;
		k->query[kind] = q;
	}
}

/* The answers of an axis: kinds of queries; how many of {sum, rest} they need, and what there is of each. */
typedef struct answers
{
	kinds		kinds;
	pe_coefficients has;		/* 1 where it is needed and a block that sums, or takes the matrix, has it; else 0 */
	double	   *needs;
} answers;

static bool *
find_rest(const probe *p)
{
	const pe_side *side = p->side;
	double	   *members = pe_side_members(side);
	bool	   *rest;

	if (side->axis->centre != NULL)
		rest = find_outside(p, fill_differences, members);
	else
	{
		double	   *squares = pe_term_contract(&side->part.term[0], &side->classes, 2, members, 1, 1);

		rest = pe_alloc((size_t) side->queries, sizeof(bool));
		for (int32_t q = 0; q < side->queries; q++)
			rest[q] = squares[q] > 0;
		pe_free(squares);
	}
	pe_free(members);
	return rest;
}

/* Which queries are outside of the row space of a matrix; NULL: none. */
static bool *
find_outside_matrix(const probe *p, int matrix)
{
	const pe_axis *axis = p->side->axis;
	const pe_strategy *strategy = &axis->matrix[matrix].strategy;
	probe		rows = {.side = p->side, .strategy = strategy};
	double	   *members;
	bool	   *outside;

	if (axis->matrix[matrix].centred || strategy->inner >= axis->cells - (axis->centre != NULL))
		return NULL;
	members = pe_side_members(p->side);
	rows.row_space = pe_strategy_row_space(strategy);
	outside = find_outside(&rows, fill_rows, members);
	pe_free(rows.row_space);
	pe_free(members);
	return outside;
}

/* Fills has and needs, the flags being there. */
static void
fill_answers(answers *a, const pe_side *side, bool *const *outside)
{
	int			matrices = side->axis->matrices;
	int32_t		count = a->kinds.count;

	a->needs = pe_la_vector((size_t) count);
	a->has = (pe_coefficients) {.count = count, .summed = pe_la_vector((size_t) count)};
	a->has.taken = pe_alloc((size_t) matrices + 1, sizeof(double *));
	for (int m = 0; m < matrices; m++)
		a->has.taken[m] = pe_la_vector((size_t) count);
	for (int32_t k = 0; k < count; k++)
	{
		int32_t		q = a->kinds.query[k];

		a->has.summed[k] = side->total != NULL && side->total[q] != 0;
		a->needs[k] = a->has.summed[k] + side->rest[q];
		for (int m = 0; m < matrices; m++)
			a->has.taken[m][k] = side->rest[q] && (outside[m] == NULL || !outside[m][q]);
	}
}

static void
find_answers(const pe_block_terms *terms, const pe_view *view, int k, answers *a)
{
	pe_side    *side = view->side[k];
	probe		p = {.terms = terms, .side = side};
	int			matrices = side->axis->matrices;
	bool	  **outside = pe_alloc((size_t) matrices + 1, sizeof(bool *));
	bool	   *total = pe_alloc((size_t) side->queries, sizeof(bool));

	if (side->rest == NULL)
		side->rest = find_rest(&p);
	for (int32_t q = 0; q < side->queries; q++)
		total[q] = side->total != NULL && side->total[q] != 0;
	a->kinds = (kinds) {.count = 1, .of_query = pe_alloc((size_t) side->queries, sizeof(int32_t))};
	split(&a->kinds, side->queries, side->rest);
	split(&a->kinds, side->queries, total);
	for (int32_t i = 0; i < view->members; i++)
	{
		int			m = view->member[i].key[k];

		if (m < 0 || outside[m] != NULL)
			continue;
		outside[m] = find_outside_matrix(&p, m);
		if (outside[m] != NULL)
			split(&a->kinds, side->queries, outside[m]);
	}
	find_first_of_kinds(&a->kinds, side, view->term);
	fill_answers(a, side, outside);
	for (int m = 0; m < matrices; m++)
		pe_free(outside[m]);
	pe_free(outside);
	pe_free(total);
}

static void
free_answers(answers *a, int matrices)
{
	for (int m = 0; m < matrices; m++)
		pe_free(a->has.taken[m]);
	pe_free(a->has.taken);
	pe_free(a->has.summed);
	pe_free(a->needs);
	pe_free(a->kinds.of_query);
	pe_free(a->kinds.number);
	pe_free(a->kinds.query);
}

/* The first combination of kinds for which there are fewer blocks than it needs. */
static int64_t
first_without_block(const pe_view *view, const answers *of_axis, const double *ones)
{
	pe_coefficients has[PE_MAX_ATTRIBUTES];
	int32_t		at[PE_MAX_ATTRIBUTES] = {0};
	int64_t		first = -1;
	double	   *blocks;
	int			k = 0;

	for (int i = 0; i < view->axes; i++)
		has[i] = of_axis[i].has;
	blocks = pe_view_product(view, has, ones);
	for (size_t i = 0; k >= 0; i++)
	{
		double		needs = 1;
		int64_t		number = view->term->first;

		for (k = 0; k < view->axes; k++)
		{
			needs *= of_axis[k].needs[at[k]];
			number += of_axis[k].kinds.number[at[k]];
		}
		if (blocks[i] < needs && (first < 0 || number < first))
			first = number;
		for (k = view->axes - 1; k >= 0 && ++at[k] == has[k].count; k--)
			at[k] = 0;
	}
	pe_free(blocks);
	return first;
}

static int64_t
undetermined_of_term(pe_block_terms *terms, const pe_term *term, const double *ones)
{
	answers		of_axis[PE_MAX_ATTRIBUTES];
	pe_view		view;
	int64_t		divided;
	int64_t		missing;

	if (pe_term_on(term, PE_ALL_CELLS) != NULL)
		return term->first;		/* nobody has asked for it: it is not taken apart */
	pe_view_init(terms, term, false, &view);
	divided = first_divided(terms, &view);
	for (int k = 0; k < view.axes; k++)
		find_answers(terms, &view, k, &of_axis[k]);
	missing = first_without_block(&view, of_axis, ones);
	for (int k = 0; k < view.axes; k++)
		free_answers(&of_axis[k], view.side[k]->axis->matrices);
	pe_view_free(&view);
	return divided >= 0 && (missing < 0 || divided < missing) ? divided : missing;
}

int32_t
pe_blocks_undetermined(const pe_blocks *blocks, const pe_workload *workload)
{
	pe_block_terms terms;
	double	   *ones = pe_la_vector((size_t) blocks->blocks);
	int64_t		first = -1;

	for (int32_t b = 0; b < blocks->blocks; b++)
		ones[b] = 1;
	pe_block_terms_init(blocks, workload, &terms);
	for (int32_t t = 0; t < workload->terms; t++)
	{
		int64_t		found = undetermined_of_term(&terms, &workload->term[t], ones);

		if (found >= 0 && (first < 0 || found < first))
			first = found;
	}
	pe_block_terms_free(&terms);
	pe_free(ones);
	return (int32_t) first;
}

/*
 * algebra.c
 *	  W'W, W x and w'Q w from the structure of a workload.  See algebra.h.
 */
#include "workload/algebra.h"

#include <string.h>

/* ------------------------------------------------------------------
 * A term, attribute by attribute
 * ------------------------------------------------------------------
 */

/* What a term asks along one attribute; factor NULL: the sum over it. */
typedef struct axis
{
	const pe_factor *factor;
	const int32_t *class_of;
	const int32_t *first;
	int32_t		classes;
	int32_t		queries;
	int64_t		stride;
} axis;

static bool
is_whole(const pe_term *term)
{
	return term->factors == 1 && term->factor[0].attribute == PE_ALL_CELLS;
}

static void
axes_of_term(const pe_term *term, const pe_classes *classes, axis *axes)
{
	for (int a = 0; a < classes->attributes; a++)
		axes[a] = (axis) {NULL, classes->class_of[a], classes->first[a], classes->count[a], 1, 0};
	for (int f = 0; f < term->factors; f++)
	{
		const pe_factor *factor = &term->factor[f];
		axis	   *along = &axes[factor->attribute];

		along->queries = factor->queries;
		along->stride = factor->stride;
		if (factor->constructor != PE_TOTAL)
			along->factor = factor;
	}
}

/* The one attribute of a term over all cells: a class for each. */
static axis
axis_of_whole(const pe_term *term, const pe_classes *classes)
{
	return (axis) {&term->factor[0], NULL, NULL, classes->cells, term->factor[0].queries, term->factor[0].stride};
}

static double
matrix_entry(const axis *along, int32_t query, int32_t class)
{
	int32_t		cell = along->first != NULL ? along->first[class] : class;

	return along->factor->entry[(size_t) query * along->factor->cells + cell];
}

/* A range of cells as the classes from .. to; a range holds whole classes. */
static void
range_of_classes(const axis *along, int32_t query, int32_t *from, int32_t *to)
{
	pe_factor_range(along->factor, query, from, to);
	*from = along->class_of[*from];
	*to = along->class_of[*to];
}

/* ------------------------------------------------------------------
 * W'W
 * ------------------------------------------------------------------
 */

static void
gram_of_cumulative(const axis *along, double *g)
{
	int32_t		n = along->factor->cells;
	bool		all = along->factor->constructor == PE_ALL_RANGE;

	for (int32_t i = 0; i < n; i++)
		for (int32_t j = 0; j <= i; j++)
		{
			double		count = all ? (double) (j + 1) * (n - i) : n - i;

			g[(size_t) i * along->classes + j] = count;
			g[(size_t) j * along->classes + i] = count;
		}
}

/* How many of all windows begin at or after lo and at or before hi, for both cells. */
static void
gram_of_windows(const axis *along, double *g)
{
	int32_t		n = along->factor->cells;
	int32_t		width = along->factor->width;

	for (int32_t i = 0; i < along->classes; i++)
		for (int32_t j = 0; j <= i; j++)
		{
			int32_t		low = along->first[i] - width + 1;	/* first[i] >= first[j] */
			int32_t		high = along->first[j] < n - width ? along->first[j] : n - width;
			double		count;

			low = low > 0 ? low : 0;
			count = along->first[i] < n && high >= low ? high - low + 1 : 0;
			g[(size_t) i * along->classes + j] = count;
			g[(size_t) j * along->classes + i] = count;
		}
}

/* Each range adds 1 to a square; squares are added up from their corners. */
static void
gram_of_ranges(const axis *along, double *g)
{
	size_t		n = (size_t) along->classes + 1;
	double	   *corner = pe_alloc(n * n, sizeof(double));

	for (int32_t q = 0; q < along->queries; q++)
	{
		int32_t		from;
		int32_t		to;

		range_of_classes(along, q, &from, &to);
		to++;
		corner[from * n + from] += 1;
		corner[from * n + to] -= 1;
		corner[to * n + from] -= 1;
		corner[to * n + to] += 1;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = 1; j < n; j++)
			corner[i * n + j] += corner[i * n + j - 1];
	for (size_t i = 1; i < n; i++)
		for (size_t j = 0; j < n; j++)
			corner[i * n + j] += corner[(i - 1) * n + j];
	for (int32_t i = 0; i < along->classes; i++)
		memcpy(g + (size_t) i * along->classes, corner + i * n, along->classes * sizeof(double));
	pe_free(corner);
}

static void
gram_of_matrix(const axis *along, double *g)
{
	double	   *row = pe_alloc(along->classes, sizeof(double));

	for (int32_t q = 0; q < along->queries; q++)
	{
		pe_poll();
		for (int32_t c = 0; c < along->classes; c++)
			row[c] = matrix_entry(along, q, c);
		for (int32_t i = 0; i < along->classes; i++)
		{
			double	   *to = g + (size_t) i * along->classes;

			if (row[i] == 0)
				continue;
			for (int32_t j = 0; j < along->classes; j++)
				to[j] += row[i] * row[j];
		}
	}
	pe_free(row);
}

/* W'W of one factor, over the classes of its attribute. */
static double *
gram_of_axis(const axis *along)
{
	size_t		n = along->classes;
	double	   *g = pe_alloc(n * n, sizeof(double));

	if (along->factor == NULL)
	{
		for (size_t i = 0; i < n * n; i++)
			g[i] = 1;
		return g;
	}
	switch (along->factor->constructor)
	{
		case PE_TOTAL:
			break;
		case PE_IDENTITY:
			for (size_t i = 0; i < n; i++)
				g[i * n + i] = 1;
			break;
		case PE_PREFIX:
		case PE_ALL_RANGE:
			gram_of_cumulative(along, g);
			break;
		case PE_WIDTH_RANGE:
			gram_of_windows(along, g);
			break;
		case PE_RANGES:
			gram_of_ranges(along, g);
			break;
		case PE_MATRIX:
			gram_of_matrix(along, g);
			break;
	}
	return g;
}

/* to += k (x) g, of m x m and n x n */
static void
add_kronecker(const double *k, size_t m, const double *g, size_t n, double *to)
{
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < m; j++)
		{
			double		factor = k[i * m + j];

			if (factor == 0)
				continue;
			for (size_t a = 0; a < n; a++)
				for (size_t b = 0; b < n; b++)
					to[(i * n + a) * m * n + j * n + b] += factor * g[a * n + b];
		}
}

static void
add_gram_of_term(const pe_term *term, const pe_classes *classes, double weight_sq, double *gram)
{
	axis		axes[PE_MAX_ATTRIBUTES];
	int			attributes = classes->attributes;
	double	   *product = pe_alloc(1, sizeof(double));
	size_t		size = 1;

	product[0] = weight_sq;
	if (is_whole(term))
	{
		axes[0] = axis_of_whole(term, classes);
		attributes = 1;
	}
	else
		axes_of_term(term, classes, axes);
	for (int a = 0; a < attributes; a++)
	{
		size_t		n = axes[a].classes;
		bool		last = a == attributes - 1;
		double	   *g = gram_of_axis(&axes[a]);
		double	   *larger = last ? gram : pe_alloc(size * n * size * n, sizeof(double));

		add_kronecker(product, size, g, n, larger);
		pe_free(product);
		pe_free(g);
		product = last ? NULL : larger;
		size *= n;
	}
}

void
pe_workload_gram(const pe_workload *workload, const pe_classes *classes, bool weighted, double *gram)
{
	memset(gram, 0, (size_t) classes->cells * classes->cells * sizeof(double));
	for (int32_t t = 0; t < workload->terms; t++)
	{
		const pe_term *term = &workload->term[t];

		pe_poll();
		add_gram_of_term(term, classes, weighted ? term->weight * term->weight : 1, gram);
	}
}

/* ------------------------------------------------------------------
 * W x
 *
 * An array of counts along several attributes, contracted with the factor of
 * one attribute after the other: [outer][classes][inner] becomes
 * [outer][queries][inner].
 * ------------------------------------------------------------------
 */

static void
add_row(double *to, const double *from, size_t n, double factor)
{
	for (size_t i = 0; i < n; i++)
		to[i] += factor * from[i];
}

/* Sums over all classes before each. */
static void
cumulate(const double *in, int32_t classes, size_t inner, double *sums)
{
	memset(sums, 0, inner * sizeof(double));
	for (int32_t c = 0; c < classes; c++)
		for (size_t i = 0; i < inner; i++)
			sums[(c + 1) * inner + i] = sums[c * inner + i] + in[c * inner + i];
}

static void
contract_ranges(const axis *along, const double *in, size_t inner, double *sums, double *out)
{
	cumulate(in, along->classes, inner, sums);
	for (int32_t q = 0; q < along->queries; q++)
	{
		int32_t		from;
		int32_t		to;

		range_of_classes(along, q, &from, &to);
		for (size_t i = 0; i < inner; i++)
			out[q * inner + i] = sums[((size_t) to + 1) * inner + i] - sums[from * inner + i];
	}
}

/* A weight of W to an even power, or itself for 1. */
static double
to_power(double entry, int power)
{
	double		result = power == 1 ? entry : 1;

	for (int i = 0; i < power / 2; i++)
		result *= entry * entry;
	return result;
}

static bool
is_of_ranges(const pe_factor *factor)
{
	return factor != NULL && factor->constructor != PE_IDENTITY && factor->constructor != PE_MATRIX;
}

/* One slice; out is zero.  The weights of W are taken to a power. */
static void
contract_slice(const axis *along, int power, const double *in, size_t inner, double *sums, double *out)
{
	if (along->factor == NULL)
	{
		for (int32_t c = 0; c < along->classes; c++)
			add_row(out, in + c * inner, inner, 1);
		return;
	}
	switch (along->factor->constructor)
	{
		case PE_IDENTITY:
			memcpy(out, in, along->queries * inner * sizeof(double));
			return;
		case PE_MATRIX:
			for (int32_t q = 0; q < along->queries; q++)
				for (int32_t c = 0; c < along->classes; c++)
				{
					double		entry = matrix_entry(along, q, c);

					if (entry != 0)
						add_row(out + q * inner, in + c * inner, inner, to_power(entry, power));
				}
			return;
		default:
			contract_ranges(along, in, inner, sums, out);
	}
}

static double *
contract(const axis *along, int power, const double *in, size_t outer, size_t inner)
{
	double	   *out = pe_alloc(outer * along->queries * inner, sizeof(double));
	double	   *sums = is_of_ranges(along->factor)
		? pe_alloc(((size_t) along->classes + 1) * inner, sizeof(double)) : NULL;

	for (size_t o = 0; o < outer; o++)
		contract_slice(along, power, in + o * along->classes * inner, inner, sums,
					   out + o * along->queries * inner);
	pe_free(sums);
	return out;
}

/* Which attribute comes next: those that shrink the array most come first. */
static int
next_axis(const axis *axes, int attributes, const bool *done)
{
	int			best = -1;

	for (int a = 0; a < attributes; a++)
		if (!done[a] && (best < 0 || (double) axes[a].queries / axes[a].classes <
						 (double) axes[best].queries / axes[best].classes))
			best = a;
	return best;
}

/* Puts an array [queries of attribute 0] .. [of the last] where the workload numbers them. */
static void
scatter(const pe_term *term, const axis *axes, int attributes, bool last_fastest, const double *from, double *answer)
{
	int32_t		at[PE_MAX_ATTRIBUTES] = {0};
	int64_t		number = term->first;

	for (int64_t i = 0; i < term->queries; i++)
	{
		answer[number] = from[i];
		for (int step = 0; step < attributes; step++)
		{
			int			a = last_fastest ? attributes - 1 - step : step;

			number += axes[a].stride;
			if (++at[a] < axes[a].queries)
				break;
			number -= axes[a].stride * axes[a].queries;
			at[a] = 0;
		}
	}
}

static int
all_axes(const pe_term *term, const pe_classes *classes, axis *axes)
{
	if (is_whole(term))
	{
		axes[0] = axis_of_whole(term, classes);
		return 1;
	}
	axes_of_term(term, classes, axes);
	return classes->attributes;
}

double *
pe_term_contract(const pe_term *term, const pe_classes *classes, int power, const double *x, size_t outer, size_t inner)
{
	axis		axes[PE_MAX_ATTRIBUTES];
	bool		done[PE_MAX_ATTRIBUTES] = {false};
	int			attributes = all_axes(term, classes, axes);
	double	   *array = NULL;

	for (int step = 0; step < attributes; step++)
	{
		int			along = next_axis(axes, attributes, done);
		size_t		before = outer;
		size_t		behind = inner;
		double	   *next;

		for (int a = 0; a < along; a++)
			before *= done[a] ? axes[a].queries : axes[a].classes;
		for (int a = along + 1; a < attributes; a++)
			behind *= done[a] ? axes[a].queries : axes[a].classes;
		next = contract(&axes[along], power, step == 0 ? x : array, before, behind);
		pe_free(array);
		array = next;
		done[along] = true;
	}
	return array;
}

static void
apply_term(const pe_term *term, const pe_classes *classes, int power, const double *x, double *answer)
{
	axis		axes[PE_MAX_ATTRIBUTES];
	int			attributes = all_axes(term, classes, axes);
	double	   *array = pe_term_contract(term, classes, power, x, 1, 1);

	scatter(term, axes, attributes, true, array, answer);
	pe_free(array);
}

static void
apply(const pe_workload *workload, const pe_classes *classes, int power, const double *x, double *answer)
{
	for (int32_t t = 0; t < workload->terms; t++)
	{
		pe_poll();
		apply_term(&workload->term[t], classes, power, x, answer);
	}
}

void
pe_workload_apply(const pe_workload *workload, const pe_classes *classes, const double *x, double *answer)
{
	apply(workload, classes, 1, x, answer);
}

void
pe_workload_apply_squares(const pe_workload *workload, const pe_classes *classes, const double *d, double *answer)
{
	apply(workload, classes, 2, d, answer);
}

void
pe_workload_apply_power(const pe_workload *workload, const pe_classes *classes, int power,
						const double *d, double *answer)
{
	apply(workload, classes, power, d, answer);
}

bool
pe_workload_weights_within(const pe_workload *workload, int32_t least, int32_t most)
{
	for (int32_t t = 0; t < workload->terms; t++)
		for (int f = 0; f < workload->term[t].factors; f++)
		{
			const pe_factor *factor = &workload->term[t].factor[f];

			if (factor->constructor != PE_MATRIX)
				continue;
			for (int64_t i = 0; i < (int64_t) factor->queries * factor->cells; i++)
				if (factor->entry[i] < least || factor->entry[i] > most)
					return false;
		}
	return true;
}

/* ------------------------------------------------------------------
 * w'Q w
 *
 * The rows and columns of Q are over the attributes that are left; the last of
 * them is contracted, on both sides at once.  [outer][R k][R k] becomes
 * [outer][queries][R][R], so the attribute done last runs fastest in the end.
 * ------------------------------------------------------------------
 */

/* One k x k block, with rows ld apart, into out[0], out[step], ... */
static void
pair_ranges(const axis *along, const double *block, size_t ld, double *area, double *out, size_t step)
{
	size_t		n = (size_t) along->classes + 1;

	for (size_t i = 1; i < n; i++)
	{
		double		row = 0;

		for (size_t j = 1; j < n; j++)
		{
			row += block[(i - 1) * ld + j - 1];
			area[i * n + j] = area[(i - 1) * n + j] + row;
		}
	}
	for (int32_t q = 0; q < along->queries; q++)
	{
		int32_t		from;
		int32_t		to;

		range_of_classes(along, q, &from, &to);
		to++;
		out[q * step] = (area[to * n + to] - area[from * n + to]) - (area[to * n + from] - area[from * n + from]);
	}
}

static void
pair_matrix(const axis *along, const double *block, size_t ld, double *out, size_t step)
{
	for (int32_t q = 0; q < along->queries; q++)
	{
		double		sum = 0;

		pe_poll();
		for (int32_t i = 0; i < along->classes; i++)
		{
			double		left = matrix_entry(along, q, i);
			double		row = 0;

			if (left == 0)
				continue;
			for (int32_t j = 0; j < along->classes; j++)
				row += matrix_entry(along, q, j) * block[i * ld + j];
			sum += left * row;
		}
		out[q * step] = sum;
	}
}

static void
pair_block(const axis *along, const double *block, size_t ld, double *area, double *out, size_t step)
{
	if (along->factor == NULL)
	{
		double		sum = 0;

		for (int32_t i = 0; i < along->classes; i++)
			for (int32_t j = 0; j < along->classes; j++)
				sum += block[i * ld + j];
		out[0] = sum;
		return;
	}
	switch (along->factor->constructor)
	{
		case PE_IDENTITY:
			for (int32_t i = 0; i < along->queries; i++)
				out[i * step] = block[i * ld + i];
			return;
		case PE_MATRIX:
			pair_matrix(along, block, ld, out, step);
			return;
		default:
			pair_ranges(along, block, ld, area, out, step);
	}
}

static double *
contract_pair(const axis *along, const double *in, size_t outer, size_t rest)
{
	size_t		k = along->classes;
	size_t		size = rest * k;
	size_t		step = rest * rest;
	double	   *out = pe_alloc(outer * along->queries * step, sizeof(double));
	double	   *area = pe_alloc((k + 1) * (k + 1), sizeof(double));

	for (size_t o = 0; o < outer; o++)
		for (size_t r = 0; r < rest; r++)
			for (size_t s = 0; s < rest; s++)
				pair_block(along, in + o * size * size + r * k * size + s * k, size, area,
						   out + o * along->queries * step + r * rest + s, step);
	pe_free(area);
	return out;
}

static void
quadratic_of_term(const pe_term *term, const pe_classes *classes, const double *q, double *answer)
{
	axis		axes[PE_MAX_ATTRIBUTES];
	int			attributes = is_whole(term) ? 1 : classes->attributes;
	double	   *array = NULL;
	size_t		outer = 1;
	size_t		rest = classes->cells;

	if (is_whole(term))
		axes[0] = axis_of_whole(term, classes);
	else
		axes_of_term(term, classes, axes);
	for (int a = attributes - 1; a >= 0; a--)
	{
		double	   *next;

		rest /= axes[a].classes;
		if (axes[a].classes == 1 && axes[a].factor == NULL)
			continue;			/* nothing to sum over */
		next = contract_pair(&axes[a], array != NULL ? array : q, outer, rest);
		pe_free(array);
		array = next;
		outer *= axes[a].queries;
	}
	scatter(term, axes, attributes, false, array != NULL ? array : q, answer);
	pe_free(array);
}

void
pe_workload_quadratic(const pe_workload *workload, const pe_classes *classes, const double *q, double *answer)
{
	for (int32_t t = 0; t < workload->terms; t++)
	{
		pe_poll();
		quadratic_of_term(&workload->term[t], classes, q, answer);
	}
}

static size_t
quadratic_memory_of_term(const pe_term *term, const pe_classes *classes)
{
	axis		axes[PE_MAX_ATTRIBUTES];
	size_t		before = 0;
	size_t		most = 0;
	size_t		outer = 1;
	size_t		rest = classes->cells;

	if (is_whole(term))
		return (term->queries + (rest + 1) * (rest + 1)) * sizeof(double);
	axes_of_term(term, classes, axes);
	for (int a = classes->attributes - 1; a >= 0; a--)
	{
		size_t		after;
		size_t		area = ((size_t) axes[a].classes + 1) * ((size_t) axes[a].classes + 1);

		rest /= axes[a].classes;
		outer *= axes[a].queries;
		after = outer * rest * rest;
		most = before + after + area > most ? before + after + area : most;
		before = after;
	}
	return most * sizeof(double);
}

size_t
pe_workload_quadratic_memory(const pe_workload *workload, const pe_classes *classes)
{
	size_t		most = 0;

	for (int32_t t = 0; t < workload->terms; t++)
	{
		size_t		bytes = quadratic_memory_of_term(&workload->term[t], classes);

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* ------------------------------------------------------------------
 * Single rows
 * ------------------------------------------------------------------
 */

void
pe_term_row(const pe_term *term, const pe_classes *classes, const int32_t *factor_query, int32_t *row)
{
	axis		axes[PE_MAX_ATTRIBUTES];
	int32_t		query[PE_MAX_ATTRIBUTES] = {0};

	if (is_whole(term))
	{
		memcpy(row, term->factor[0].entry + (size_t) factor_query[0] * classes->cells,
			   classes->cells * sizeof(int32_t));
		return;
	}
	axes_of_term(term, classes, axes);
	for (int f = 0; f < term->factors; f++)
		query[term->factor[f].attribute] = factor_query[f];
	for (int32_t c = 0; c < classes->cells; c++)
	{
		int64_t		product = 1;
		int32_t		left = c;

		for (int a = classes->attributes - 1; a >= 0 && product != 0; a--)
		{
			if (axes[a].factor != NULL)
				product *= pe_factor_entry(axes[a].factor, query[a], axes[a].first[left % axes[a].classes]);
			left /= axes[a].classes;
		}
		row[c] = (int32_t) product;
	}
}

/* prefix and all_range span what single cells span: windows of width 1. */
static void
single_cells(pe_factor *factor)
{
	if (factor->constructor != PE_PREFIX && factor->constructor != PE_ALL_RANGE)
		return;
	factor->constructor = PE_WIDTH_RANGE;
	factor->width = 1;
	factor->queries = factor->cells;
}

void
pe_workload_basis(const pe_workload *workload, pe_workload *basis)
{
	*basis = *workload;
	basis->canonical = NULL;
	basis->chunks = NULL;
	basis->term = pe_alloc(workload->terms, sizeof(pe_term));
	basis->queries = 0;
	for (int32_t t = 0; t < workload->terms; t++)
	{
		const pe_term *from = &workload->term[t];
		pe_term    *to = &basis->term[t];

		*to = *from;
		to->factor = pe_alloc(from->factors, sizeof(pe_factor));
		to->first = basis->queries;
		to->queries = 1;
		for (int f = from->factors - 1; f >= 0; f--)
		{
			to->factor[f] = from->factor[f];
			single_cells(&to->factor[f]);
			to->factor[f].stride = to->queries;
			to->queries *= to->factor[f].queries;
		}
		basis->queries += (int32_t) to->queries;
	}
}

void
pe_workload_basis_free(pe_workload *basis)
{
	for (int32_t t = 0; t < basis->terms; t++)
		pe_free(basis->term[t].factor);
	pe_free(basis->term);
}

/* The place of an attribute in a list, or -1. */
static int
place_of(const int *attribute, int attributes, int wanted)
{
	for (int a = 0; a < attributes; a++)
		if (attribute[a] == wanted)
			return a;
	return -1;
}

/* The factors of a term on some attributes. */
static void
part_of_term(const pe_term *from, const int *attribute, int attributes, pe_term *to)
{
	to->factor = pe_alloc((size_t) from->factors + 1, sizeof(pe_factor));
	to->factors = 0;
	to->queries = 1;
	for (int f = 0; f < from->factors; f++)
	{
		int			place = place_of(attribute, attributes, from->factor[f].attribute);

		if (from->factor[f].attribute == PE_ALL_CELLS)
			pe_bug("a part of a matrix over all cells");
		if (place < 0)
			continue;
		to->factor[to->factors] = from->factor[f];
		to->factor[to->factors++].attribute = place;
	}
	for (int f = to->factors - 1; f >= 0; f--)
	{
		to->factor[f].stride = to->queries;
		to->queries *= to->factor[f].queries;
	}
}

void
pe_workload_part(const pe_workload *workload, const int *attribute, int attributes,
				 const double *weight, pe_workload *part)
{
	int64_t		queries = 0;

	memset(part, 0, sizeof(*part));
	part->shape.attributes = attributes;
	for (int a = 0; a < attributes; a++)
	{
		part->shape.name[a] = workload->shape.name[attribute[a]];
		part->shape.cells[a] = workload->shape.cells[attribute[a]];
		part->shape.ordered[a] = workload->shape.ordered[attribute[a]];
	}
	part->term = pe_alloc((size_t) workload->terms, sizeof(pe_term));
	for (int32_t t = 0; t < workload->terms; t++)
	{
		pe_term    *term = &part->term[part->terms];

		if (!(weight[t] > 0))
			continue;
		*term = workload->term[t];
		term->weight = weight[t];
		term->first = queries;
		part_of_term(&workload->term[t], attribute, attributes, term);
		queries += term->queries;
		part->terms++;
	}
	part->queries = (int32_t) queries;
}

/* Whether cells of the shape are the workload's own, in their order. */
static bool
is_same_product(const pe_workload *workload, const pe_shape *shape, const int *place)
{
	for (int a = 0; a < workload->shape.attributes; a++)
		if (place[a] != a)
			return false;
	return workload->shape.attributes == shape->attributes;
}

bool
pe_workload_over(const pe_workload *workload, const pe_shape *shape, const int *place, pe_workload *over)
{
	bool		same = is_same_product(workload, shape, place);

	for (int32_t t = 0; t < workload->terms; t++)
		if (is_whole(&workload->term[t]) && !same)
			return false;
	*over = *workload;
	over->shape = *shape;
	over->chunks = NULL;
	over->term = pe_alloc((size_t) workload->terms, sizeof(pe_term));
	for (int32_t t = 0; t < workload->terms; t++)
	{
		const pe_term *from = &workload->term[t];
		pe_term    *to = &over->term[t];

		*to = *from;
		to->factor = pe_alloc((size_t) from->factors + 1, sizeof(pe_factor));
		for (int f = 0; f < from->factors; f++)
		{
			to->factor[f] = from->factor[f];
			if (to->factor[f].attribute != PE_ALL_CELLS)
				to->factor[f].attribute = place[to->factor[f].attribute];
		}
	}
	return true;
}

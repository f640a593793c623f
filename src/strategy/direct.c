/*
 * direct.c
 *	  The queries of a workload measured as they are.  See strategy.h.
 */
#include "strategy/strategy.h"

#include <string.h>

/* Below this all integers are doubles. */
#define EXACT_IN_DOUBLES 0x1p53

/* Terms of the sums over all pairs of columns, up to which they are added up: some seconds. */
#define PAIRS_WORK (UINT64_C(1) << 32)

/* A bound strategy, unpacked. */
typedef struct bound
{
	const pe_workload *workload;
	pe_classes	classes;
	int32_t		columns;
	int32_t    *class_of;		/* of each column, one that stands for it */
} bound;

static void
begin(const pe_strategy *strategy, bound *b)
{
	if (strategy->workload == NULL)
		pe_bug("a direct strategy without its workload");
	b->workload = strategy->workload;
	b->columns = strategy->columns;
	pe_classes_init(&b->workload, 1, &b->classes);
	if (b->classes.cells != strategy->classes)
		pe_bug("a strategy for another workload");
	b->class_of = pe_alloc(strategy->columns, sizeof(int32_t));
	for (int32_t c = 0; c < strategy->classes; c++)
		if (strategy->column_of[c] >= 0)
			b->class_of[strategy->column_of[c]] = c;
}

static void
end(bound *b)
{
	pe_free(b->class_of);
	pe_classes_free(&b->classes);
}

/* ------------------------------------------------------------------
 * Sensitivity
 * ------------------------------------------------------------------
 */

bool
pe_direct_largest_sq(const pe_strategy *strategy, bool pairs, pe_u128 *largest)
{
	bound		b;
	size_t		n = strategy->classes;
	double	   *gram;
	bool		exact = true;

	begin(strategy, &b);
	gram = pe_alloc(n * n, sizeof(double));
	pe_workload_gram(b.workload, &b.classes, false, gram);
	for (int32_t j = 0; j < b.columns && exact; j++)
	{
		const double *row = gram + b.class_of[j] * n;
		double		norm_sq = row[b.class_of[j]];

		/* by Cauchy-Schwarz no entry is larger than those of the diagonal */
		exact = norm_sq < EXACT_IN_DOUBLES;
		if (exact && norm_sq > *largest)
			*largest = (pe_u128) norm_sq;
		for (int32_t i = 0; i < j && exact && pairs; i++)
		{
			int64_t		distance_sq = (int64_t) norm_sq + (int64_t) gram[b.class_of[i] * (n + 1)] -
				2 * (int64_t) row[b.class_of[i]];

			if ((pe_u128) distance_sq > *largest)
				*largest = (pe_u128) distance_sq;
		}
	}
	end(&b);
	pe_free(gram);
	return exact;
}

/* By Cauchy-Schwarz no entry is larger than those of the diagonal. */
static bool
gram_is_exact(const bound *b, const double *gram)
{
	for (int32_t j = 0; j < b->columns; j++)
		if (gram[(size_t) b->class_of[j] * ((size_t) b->classes.cells + 1)] >= EXACT_IN_DOUBLES)
			return false;
	return true;
}

/* Hands on the rows of G over the columns. */
static void
hand_on(const bound *b, const double *gram,
		void (*take) (void *argument, int32_t column, pe_i128 *product), void *argument)
{
	pe_i128    *product = pe_alloc((size_t) b->columns, sizeof(*product));

	for (int32_t j = 0; j < b->columns; j++)
	{
		const double *row = gram + (size_t) b->class_of[j] * (size_t) b->classes.cells;

		pe_poll();
		for (int32_t i = 0; i < b->columns; i++)
			product[i] = (int64_t) row[b->class_of[i]];
		take(argument, j, product);
	}
	pe_free(product);
}

bool
pe_direct_each_products(const pe_strategy *strategy, void (*take) (void *argument, int32_t column, pe_i128 *product),
						void *argument)
{
	size_t		n = (size_t) strategy->classes;
	bound		b;
	double	   *gram;
	bool		exact;

	begin(strategy, &b);
	gram = pe_alloc(n * n, sizeof(double));
	pe_workload_gram(b.workload, &b.classes, false, gram);
	exact = gram_is_exact(&b, gram);
	if (exact)
		hand_on(&b, gram, take, argument);
	pe_free(gram);
	end(&b);
	return exact;
}

static bool
is_zeros_and_ones(const pe_factor *factor)
{
	if (factor->constructor != PE_MATRIX)
		return true;
	for (size_t i = 0; i < (size_t) factor->queries * factor->cells; i++)
		if (factor->entry[i] != 0 && factor->entry[i] != 1)
			return false;
	return true;
}

static bool
counts_cells_once(const pe_workload *workload)
{
	for (int32_t t = 0; t < workload->terms; t++)
		for (int f = 0; f < workload->term[t].factors; f++)
			if (!is_zeros_and_ones(&workload->term[t].factor[f]))
				return false;
	return true;
}

static int64_t
magnitude(int64_t entry)
{
	return entry < 0 ? -entry : entry;
}

/* sum[j] += |w_j|; with difference its part below the diagonal, by rows, += |w_j - w_i|. */
static void
add_magnitudes(const bound *b, const int32_t *row, int64_t *sum, int64_t *difference)
{
	for (int32_t j = 0; j < b->columns; j++)
	{
		int64_t		entry = row[b->class_of[j]];

		sum[j] += magnitude(entry);
		for (int32_t i = 0; i < j && difference != NULL; i++)
			difference[(size_t) j * b->columns + i] += magnitude(entry - row[b->class_of[i]]);
	}
}

static void
add_all_magnitudes(const bound *b, int64_t *sum, int64_t *difference)
{
	int32_t    *row = pe_alloc(b->classes.cells, sizeof(int32_t));
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	for (int32_t t = 0; t < b->workload->terms; t++)
		for (int64_t i = 0; i < b->workload->term[t].queries; i++)
		{
			const pe_term *term = &b->workload->term[t];

			pe_poll();
			(void) pe_term_query(term, i, factor_query);
			pe_term_row(term, &b->classes, factor_query, row);
			add_magnitudes(b, row, sum, difference);
		}
	pe_free(row);
}

static pe_u128
largest_of(size_t count, const int64_t *numbers)
{
	int64_t		largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = numbers[i] > largest ? numbers[i] : largest;
	return (pe_u128) largest;
}

/* The sums stay below 2^54: the parser sees to the squares of the entries, which are not smaller. */
bool
pe_direct_largest_l1(const pe_strategy *strategy, bool pairs, pe_u128 *largest)
{
	size_t		n = strategy->columns;
	bool		added = pairs && n <= PE_L1_PAIRS && (uint64_t) strategy->rows * n * n / 2 <= PAIRS_WORK;
	bound		b;
	int64_t    *sum;
	int64_t    *difference;
	pe_u128		most;

	begin(strategy, &b);
	if (counts_cells_once(b.workload))
	{
		end(&b);
		return pe_direct_largest_sq(strategy, pairs, largest);
	}
	sum = pe_alloc(n, sizeof(*sum));
	difference = added ? pe_alloc(n * n, sizeof(*difference)) : NULL;
	add_all_magnitudes(&b, sum, difference);
	most = largest_of(n, sum);
	if (pairs && n > 1)
	{
		pe_u128		apart = added ? largest_of(n * n, difference) : 2 * most;

		most = apart > most ? apart : most;
	}
	if (most > *largest)
		*largest = most;
	pe_free(sum);
	pe_free(difference);
	end(&b);
	return true;
}

size_t
pe_direct_memory(const pe_strategy *strategy)
{
	size_t		n = strategy->classes;

	/* the Gram matrix and what makes it; one row and its sums; classes */
	return 3 * n * n * sizeof(double) + 8 * n * sizeof(double);
}

/* ------------------------------------------------------------------
 * W x
 *
 * Attribute by attribute, from the first to the last: of an array of sums over
 * the classes of the attributes left, each query of the factor makes one without
 * the first of them.
 * ------------------------------------------------------------------
 */

typedef struct term_sums
{
	const pe_classes *classes;
	const pe_factor *along[PE_MAX_ATTRIBUTES];	/* the factor on each attribute; NULL: the sum over it */
	pe_i128    *y;
} term_sums;

/* The cells that a query counts once, as the classes from .. to; a factor NULL has one query, of all. */
static void
range_of_classes(const term_sums *s, int attribute, int32_t query, int32_t *from, int32_t *to)
{
	const pe_factor *factor = s->along[attribute];

	if (factor == NULL || factor->constructor == PE_TOTAL)
	{
		*from = 0;
		*to = s->classes->count[attribute] - 1;
		return;
	}
	*from = *to = query;
	if (factor->constructor != PE_IDENTITY)
		pe_factor_range(factor, query, from, to);
	*from = s->classes->class_of[attribute][*from];
	*to = s->classes->class_of[attribute][*to];
}

/* The sums of x over the classes before each, of inner numbers each. */
static void
cumulate(const pe_i128 *x, int32_t classes, size_t inner, pe_i128 *before)
{
	for (size_t i = 0; i < classes * inner; i++)
		before[inner + i] = before[i] + x[i];
}

/* One query along an attribute. */
static void
sum_of_query(const term_sums *s, int attribute, int32_t query, const pe_i128 *x, const pe_i128 *before, size_t inner,
			 pe_i128 *sum)
{
	const pe_factor *factor = s->along[attribute];
	int32_t		from;
	int32_t		to;

	if (factor != NULL && factor->constructor == PE_MATRIX)
	{
		memset(sum, 0, inner * sizeof(*sum));
		for (int32_t c = 0; c < s->classes->count[attribute]; c++)
			for (size_t i = 0; i < inner; i++)
				sum[i] += (pe_i128) pe_factor_entry(factor, query, s->classes->first[attribute][c]) * x[c * inner + i];
		return;
	}
	range_of_classes(s, attribute, query, &from, &to);
	for (size_t i = 0; i < inner; i++)
		sum[i] = before[((size_t) to + 1) * inner + i] - before[from * inner + i];
}

/* All queries of the attributes from this one on, of an array x of size numbers. */
static void
sum_along(const term_sums *s, int attribute, const pe_i128 *x, size_t size, int64_t number)
{
	const pe_factor *factor;
	size_t		inner;
	pe_i128    *before;
	pe_i128    *sum;

	if (attribute == s->classes->attributes)
	{
		s->y[number] = x[0];
		return;
	}
	factor = s->along[attribute];
	inner = size / s->classes->count[attribute];
	before = pe_alloc(size + inner, sizeof(*before));
	sum = pe_alloc(inner, sizeof(*sum));
	cumulate(x, s->classes->count[attribute], inner, before);
	for (int32_t q = 0; q < (factor != NULL ? factor->queries : 1); q++)
	{
		sum_of_query(s, attribute, q, x, before, inner, sum);
		sum_along(s, attribute + 1, sum, inner, number + (factor != NULL ? q * factor->stride : 0));
	}
	pe_wipe(before, (size + inner) * sizeof(*before));
	pe_wipe(sum, inner * sizeof(*sum));
	pe_free(before);
	pe_free(sum);
}

/* A matrix with a column for every cell, which is a class by itself. */
static void
sum_whole(const pe_term *term, int32_t cells, const pe_i128 *x, pe_i128 *y)
{
	const pe_factor *factor = &term->factor[0];

	for (int32_t q = 0; q < factor->queries; q++)
	{
		pe_i128    *sum = &y[term->first + q * factor->stride];

		*sum = 0;
		for (int32_t c = 0; c < cells; c++)
			*sum += (pe_i128) factor->entry[(size_t) q * cells + c] * x[c];
	}
}

static void
sum_term(const pe_term *term, const pe_classes *classes, const pe_i128 *x, pe_i128 *y)
{
	term_sums	s = {.classes = classes, .y = y};

	if (term->factors == 1 && term->factor[0].attribute == PE_ALL_CELLS)
	{
		sum_whole(term, classes->cells, x, y);
		return;
	}
	for (int f = 0; f < term->factors; f++)
		s.along[term->factor[f].attribute] = &term->factor[f];
	sum_along(&s, 0, x, classes->cells, term->first);
}

void
pe_direct_apply(const pe_strategy *strategy, const int64_t *x, pe_i128 *y)
{
	bound		b;
	pe_i128    *over_classes;

	begin(strategy, &b);
	over_classes = pe_alloc(strategy->classes, sizeof(*over_classes));
	for (int32_t j = 0; j < b.columns; j++)
		over_classes[b.class_of[j]] = x[j];
	for (int32_t t = 0; t < b.workload->terms; t++)
		sum_term(&b.workload->term[t], &b.classes, over_classes, y);
	pe_wipe(over_classes, strategy->classes * sizeof(*over_classes));
	pe_free(over_classes);
	end(&b);
}

void
pe_direct_matrix(const pe_strategy *strategy, double *a)
{
	bound		b;
	int32_t    *row;
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	begin(strategy, &b);
	row = pe_alloc(strategy->classes, sizeof(int32_t));
	for (int32_t t = 0; t < b.workload->terms; t++)
		for (int64_t i = 0; i < b.workload->term[t].queries; i++)
		{
			const pe_term *term = &b.workload->term[t];
			int64_t		number = pe_term_query(term, i, factor_query);

			pe_poll();
			pe_term_row(term, &b.classes, factor_query, row);
			for (int32_t j = 0; j < b.columns; j++)
				a[(size_t) number * b.columns + j] = row[b.class_of[j]];
		}
	pe_free(row);
	end(&b);
}

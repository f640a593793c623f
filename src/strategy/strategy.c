/*
 * strategy.c
 *	  Integer strategy matrices: the object, its sensitivity, A x, and bytes.
 *	  See strategy.h.
 */
#include "strategy/strategy.h"

#include <float.h>
#include <string.h>

#include "base/linalg.h"
#include "optimum/optimum.h"

/* The place of T's entry in its packed form, row <= column. */
static size_t
packed(int32_t row, int32_t column)
{
	return (size_t) column * (column + 1) / 2 + row;
}

/* ------------------------------------------------------------------
 * Sensitivity and measurement
 * ------------------------------------------------------------------
 */

/* Whether every column is counted by itself. */
static bool
is_identity(const pe_strategy *strategy)
{
	return strategy->triangle == NULL && strategy->dense == NULL && !strategy->direct;
}

/* Column l of M: only the leading entries are stored; NULL: that of the identity. */
static const int32_t *
column_of_m(const pe_strategy *strategy, int32_t l, int32_t *entries)
{
	*entries = strategy->triangle != NULL ? l + 1 : strategy->rows;
	if (strategy->triangle != NULL)
		return strategy->triangle + packed(0, l);
	return strategy->dense != NULL ? strategy->dense + (size_t) l * strategy->rows : NULL;
}

/* a += factor M_l */
static void
add_column_of_m(const pe_strategy *strategy, int32_t l, int64_t factor, int64_t *a)
{
	int32_t		entries;
	const int32_t *column = column_of_m(strategy, l, &entries);

	if (column == NULL)
		a[l] += factor;
	for (int32_t i = 0; column != NULL && i < entries; i++)
		a[i] += column[i] * factor;
}

/*
 * Column j of A = M B, exact: what largest_row_sum bounds fits 64 bits, partial
 * sums included.
 */
static void
column_of_matrix(const pe_strategy *strategy, int32_t j, int64_t *a)
{
	memset(a, 0, strategy->rows * sizeof(*a));
	if (strategy->basis == NULL)
		add_column_of_m(strategy, j, 1, a);
	for (int32_t l = 0; strategy->basis != NULL && l < strategy->inner; l++)
	{
		int64_t		factor = strategy->basis[(size_t) l * strategy->columns + j];

		if (factor != 0)
			add_column_of_m(strategy, l, factor, a);
	}
}

/* Times counts below 2^63, 127 bits. */
#define ROW_SUM_MAX 0x1p62

static double
largest_of(int32_t count, const double *numbers)
{
	double		largest = 1;

	for (int32_t i = 0; i < count; i++)
		largest = numbers[i] > largest ? numbers[i] : largest;
	return largest;
}

/* The sums of magnitudes in the rows of B. */
static void
row_sums_of_basis(const pe_strategy *strategy, double *sum)
{
	for (int32_t i = 0; i < strategy->inner; i++)
	{
		sum[i] = strategy->basis == NULL;
		for (int32_t j = 0; strategy->basis != NULL && j < strategy->columns; j++)
		{
			double		entry = strategy->basis[(size_t) i * strategy->columns + j];

			sum[i] += entry < 0 ? -entry : entry;
		}
	}
}

/* The same of M, each magnitude times what it multiplies at most. */
static void
row_sums_of_m(const pe_strategy *strategy, const double *basis_sum, double *sum)
{
	for (int32_t l = 0; l < strategy->inner; l++)
	{
		int32_t		entries;
		const int32_t *column = column_of_m(strategy, l, &entries);

		for (int32_t i = 0; column != NULL && i < entries; i++)
		{
			double		entry = column[i];

			sum[i] += (entry < 0 ? -entry : entry) * basis_sum[l];
		}
	}
}

/* The largest sum of magnitudes in a row of M or B, those of M times what they multiply at most. */
static double
largest_row_sum(const pe_strategy *strategy)
{
	double	   *basis_sum = pe_alloc(strategy->inner, sizeof(double));
	double	   *sum = pe_alloc(strategy->rows, sizeof(double));
	double		of_basis;
	double		of_m;

	row_sums_of_basis(strategy, basis_sum);
	row_sums_of_m(strategy, basis_sum, sum);
	of_basis = largest_of(strategy->inner, basis_sum);
	of_m = largest_of(strategy->rows, sum);
	pe_free(basis_sum);
	pe_free(sum);
	return of_basis > of_m ? of_basis : of_m;
}

/* Sums of squares of at most 2^20 entries below 2^38 stay below 2^96. */
static bool
add_square(int64_t entry, pe_u128 *sum)
{
	const int64_t limit = INT64_C(1) << 38;

	if (entry >= limit || entry <= -limit)
		return false;
	*sum += (pe_u128) entry * (pe_u128) entry;
	return true;
}

/* |a|^2; false if it is beyond what add_square bounds. */
static bool
square_of(const int64_t *a, int32_t rows, pe_u128 *norm_sq)
{
	*norm_sq = 0;
	for (int32_t i = 0; i < rows; i++)
		if (!add_square(a[i], norm_sq))
			return false;
	return true;
}

/* The largest |a_j|^2, and at least 1. */
static bool
largest_norm(const pe_strategy *strategy, pe_u128 *largest)
{
	int64_t    *a = pe_alloc(strategy->rows, sizeof(*a));
	bool		fits = true;

	for (int32_t column = 0; column < strategy->columns && fits; column++)
	{
		pe_u128		norm_sq;

		pe_poll();
		column_of_matrix(strategy, column, a);
		fits = square_of(a, strategy->rows, &norm_sq);
		if (norm_sq > *largest)
			*largest = norm_sq;
	}
	pe_free(a);
	return fits;
}

/* Columns whose distances are computed together: the products of two panels then run at the speed of DGEMM. */
#define PANEL 128

/* Below this all integers are doubles. */
#define EXACT_IN_DOUBLES ((pe_u128) 1 << 53)

/* The columns of A as doubles, one after the other, and their squared norms. */
static void
columns_as_doubles(const pe_strategy *strategy, double *a, double *norm_sq)
{
	int64_t    *column = pe_alloc(strategy->rows, sizeof(*column));

	for (int32_t j = 0; j < strategy->columns; j++)
	{
		pe_poll();
		column_of_matrix(strategy, j, column);
		norm_sq[j] = 0;
		for (int32_t i = 0; i < strategy->rows; i++)
		{
			a[(size_t) j * strategy->rows + i] = (double) column[i];
			norm_sq[j] += (double) column[i] * (double) column[i];
		}
	}
	pe_free(column);
}

/* The largest |a_i - a_j|^2 where no column's square reaches EXACT_IN_DOUBLES. */
static pe_u128
largest_distance_of_small(const pe_strategy *strategy)
{
	int32_t		rows = strategy->rows;
	double	   *a = pe_alloc((size_t) rows * strategy->columns, sizeof(*a));
	double	   *norm_sq = pe_alloc(strategy->columns, sizeof(*norm_sq));
	double	   *product = pe_alloc(PANEL * PANEL, sizeof(*product));
	int64_t		largest = 0;

	columns_as_doubles(strategy, a, norm_sq);
	for (int32_t first = 0; first < strategy->columns; first += PANEL)
	{
		int32_t		width = strategy->columns - first < PANEL ? strategy->columns - first : PANEL;
		bool		is_triangle = strategy->triangle != NULL && strategy->basis == NULL;
		int32_t		depth = is_triangle ? first + width : rows;	/* below it A = T is zero */

		pe_poll();
		for (int32_t other = first; other < strategy->columns; other += PANEL)
		{
			int32_t		others = strategy->columns - other < PANEL ? strategy->columns - other : PANEL;

			pe_la_gemm(true, false, width, others, depth, 1, a + (size_t) first * rows, rows,
					   a + (size_t) other * rows, rows, 0, product, width);
			for (int32_t j = 0; j < others; j++)
				for (int32_t i = 0; i < width; i++)
				{
					int64_t		distance_sq = (int64_t) norm_sq[first + i] + (int64_t) norm_sq[other + j] -
						2 * (int64_t) product[j * width + i];

					largest = distance_sq > largest ? distance_sq : largest;
				}
		}
	}
	pe_free(product);
	pe_free(norm_sq);
	pe_free(a);
	return (pe_u128) largest;
}

/* The same for columns of any size; raises *largest. */
static bool
largest_distance_of_large(const pe_strategy *strategy, pe_u128 *largest)
{
	int32_t		rows = strategy->rows;
	int64_t    *a = pe_alloc((size_t) rows * strategy->columns, sizeof(*a));
	bool		fits = true;

	for (int32_t j = 0; j < strategy->columns && fits; j++)
	{
		int64_t    *column = a + (size_t) j * rows;

		pe_poll();
		column_of_matrix(strategy, j, column);
		for (int32_t other = 0; other < j && fits; other++)
		{
			pe_u128		distance_sq = 0;

			for (int32_t i = 0; i < rows && fits; i++)
				fits = add_square(column[i] - a[(size_t) other * rows + i], &distance_sq);
			if (distance_sq > *largest)
				*largest = distance_sq;
		}
	}
	pe_free(a);
	return fits;
}

/* Raises *largest, the largest |a_j|^2, to the largest |a_i - a_j|^2. */
static bool
largest_distance(const pe_strategy *strategy, pe_u128 *largest)
{
	pe_u128		distance_sq = strategy->columns > 1 ? 2 : 0;	/* between columns of the identity */

	if (*largest >= EXACT_IN_DOUBLES)
		return largest_distance_of_large(strategy, largest);
	if (!is_identity(strategy))
		distance_sq = largest_distance_of_small(strategy);
	if (distance_sq > *largest)
		*largest = distance_sq;
	return true;
}

/* The largest |a_j|^2 of A = M B, and of their differences if asked. */
static bool
largest_sq(const pe_strategy *strategy, bool pairs, pe_u128 *largest)
{
	if (!is_identity(strategy) &&
		(largest_row_sum(strategy) >= ROW_SUM_MAX || !largest_norm(strategy, largest)))
		return false;
	return !pairs || largest_distance(strategy, largest);
}

bool
pe_strategy_sensitivity_sq(const pe_strategy *strategy, pe_neighbours neighbours, int32_t max_rows,
						   pe_u128 *sensitivity_sq)
{
	pe_u128		largest = 1;
	pe_u128		copies_sq = (pe_u128) max_rows * (pe_u128) max_rows;

	if (max_rows < 1)
		pe_bug("a unit has at least one row");
	if (!(strategy->direct ? pe_direct_largest_sq : largest_sq) (strategy, neighbours == PE_SUBSTITUTE, &largest))
		return false;
	if (largest > (((pe_u128) 1 << 96) - 1) / copies_sq)
		return false;
	*sensitivity_sq = largest * copies_sq;
	return true;
}

size_t
pe_strategy_sensitivity_memory(const pe_strategy *strategy, pe_neighbours neighbours)
{
	if (strategy->direct)
		return pe_direct_memory(strategy);
	if (is_identity(strategy) || neighbours == PE_ADD_REMOVE)
		return 2 * ((size_t) strategy->rows + strategy->inner) * sizeof(int64_t);
	return pe_strategy_distances_memory(strategy->rows, strategy->columns);
}

size_t
pe_strategy_distances_memory(int32_t rows, int32_t columns)
{
	/* A, norms, one column */
	return ((size_t) rows * ((size_t) columns + 2) + 2 * (size_t) columns + PANEL * PANEL) * sizeof(double);
}

/* ------------------------------------------------------------------
 * Products of columns, one column after the other
 * ------------------------------------------------------------------
 */

typedef void (*product_taker) (void *argument, int32_t column, pe_i128 *product);

/*
 * Of `width` columns from `first` on with those before `end`: by panels, as the
 * distances; no square reaches EXACT_IN_DOUBLES.
 */
static void
products_of_panel(const pe_strategy *strategy, const double *a, int32_t first, int32_t width, int32_t end,
				  double *product)
{
	int32_t		rows = strategy->rows;
	bool		is_triangle = strategy->triangle != NULL && strategy->basis == NULL;

	for (int32_t other = 0; other < end; other += PANEL)
	{
		int32_t		others = end - other < PANEL ? end - other : PANEL;
		/* below it one of the two is zero, if A = T */
		int32_t		depth = other < first ? other + others : first + width;

		pe_la_gemm(true, false, width, others, is_triangle ? depth : rows, 1, a + (size_t) first * rows, rows,
				   a + (size_t) other * rows, rows, 0, product + (size_t) other * width, width);
	}
}

static void
each_product_of_small(const pe_strategy *strategy, bool below, product_taker take, void *argument)
{
	size_t		n = (size_t) strategy->columns;
	double	   *a = pe_alloc((size_t) strategy->rows * n, sizeof(*a));
	double	   *norm_sq = pe_alloc(n, sizeof(*norm_sq));
	double	   *panel = pe_alloc(PANEL * n, sizeof(*panel));
	pe_i128    *product = pe_alloc(n, sizeof(*product));

	columns_as_doubles(strategy, a, norm_sq);
	for (int32_t first = 0; first < strategy->columns; first += PANEL)
	{
		int32_t		width = strategy->columns - first < PANEL ? strategy->columns - first : PANEL;
		int32_t		end = below ? first + width : strategy->columns;

		pe_poll();
		products_of_panel(strategy, a, first, width, end, panel);
		for (int32_t i = 0; i < width; i++)
		{
			for (size_t j = 0; j < (size_t) end; j++)
				product[j] = (int64_t) panel[j * (size_t) width + (size_t) i];
			take(argument, first + i, product);
		}
	}
	pe_free(product);
	pe_free(panel);
	pe_free(norm_sq);
	pe_free(a);
}

/* Entries below 2^38 and squares below 2^96 (add_square): no sum reaches 2^127. */
static pe_i128
product_of_large(const int64_t *a, const int64_t *b, size_t rows)
{
	pe_i128		sum = 0;

	for (size_t i = 0; i < rows; i++)
		sum += (pe_i128) a[i] * b[i];
	return sum;
}

static void
each_product_of_large(const pe_strategy *strategy, bool below, product_taker take, void *argument)
{
	size_t		n = (size_t) strategy->columns;
	size_t		rows = (size_t) strategy->rows;
	int64_t    *a = pe_alloc(rows * n, sizeof(*a));
	pe_i128    *product = pe_alloc(n, sizeof(*product));

	for (size_t j = 0; j < n; j++)
		column_of_matrix(strategy, (int32_t) j, a + j * rows);
	for (size_t i = 0; i < n; i++)
	{
		pe_poll();
		for (size_t j = 0; j < (below ? i + 1 : n); j++)
			product[j] = product_of_large(a + i * rows, a + j * rows, rows);
		take(argument, (int32_t) i, product);
	}
	pe_free(product);
	pe_free(a);
}

static void
each_product_of_identity(const pe_strategy *strategy, product_taker take, void *argument)
{
	size_t		n = (size_t) strategy->columns;
	pe_i128    *product = pe_alloc(n, sizeof(*product));

	for (size_t i = 0; i < n; i++)
	{
		pe_poll();
		memset(product, 0, n * sizeof(*product));
		product[i] = 1;
		take(argument, (int32_t) i, product);
	}
	pe_free(product);
}

bool
pe_strategy_each_products(const pe_strategy *strategy, bool below, product_taker take, void *argument)
{
	pe_u128		largest = 1;

	if (strategy->blocks != NULL)
		return false;
	if (strategy->direct)
		return pe_direct_each_products(strategy, take, argument);
	if (!largest_sq(strategy, false, &largest) || largest >= (pe_u128) 1 << 96)
		return false;
	if (is_identity(strategy))
		each_product_of_identity(strategy, take, argument);
	else
		(largest < EXACT_IN_DOUBLES ? each_product_of_small : each_product_of_large) (strategy, below, take, argument);
	return true;
}

size_t
pe_strategy_each_products_memory(const pe_strategy *strategy)
{
	size_t		n = (size_t) strategy->columns;
	size_t		panel = PANEL * n * sizeof(double) + n * sizeof(pe_i128);

	if (strategy->direct)
		return pe_direct_memory(strategy) + n * sizeof(pe_i128);
	if (is_identity(strategy))
		return n * sizeof(pe_i128);
	return pe_strategy_distances_memory(strategy->rows, strategy->columns) + panel;
}

bool
pe_strategy_counts_columns(const pe_strategy *strategy)
{
	return is_identity(strategy) && strategy->blocks == NULL;
}

/* By Cauchy-Schwarz no sum on the way to a product of two columns reaches this where no square does. */
#define PRODUCT_MAX ((pe_u128) 1 << 62)

/* More operations take seconds. */
#define MOST_PRODUCTS 0x1p33

/* A by columns, and whether no |a_j|^2 reaches PRODUCT_MAX. */
static bool
columns_for_products(const pe_strategy *strategy, int64_t *a)
{
	bool		fits = largest_row_sum(strategy) < ROW_SUM_MAX;

	for (int32_t j = 0; j < strategy->columns && fits; j++)
	{
		int64_t    *column = a + (size_t) j * (size_t) strategy->rows;
		pe_u128		norm_sq;

		pe_poll();
		column_of_matrix(strategy, j, column);
		fits = square_of(column, strategy->rows, &norm_sq) && norm_sq < PRODUCT_MAX;
	}
	return fits;
}

bool
pe_strategy_products(const pe_strategy *strategy, int64_t *product)
{
	size_t		n = (size_t) strategy->columns;
	size_t		rows = (size_t) strategy->rows;
	bool		upper = strategy->triangle != NULL && strategy->basis == NULL;
	int64_t    *a;
	bool		fits;

	if (strategy->direct || (double) n * (double) n * (double) rows > MOST_PRODUCTS)
		return false;
	a = pe_alloc(n * rows, sizeof(*a));
	fits = columns_for_products(strategy, a);
	for (size_t j = 0; j < n && fits; j++)
	{
		pe_poll();
		for (size_t i = 0; i <= j; i++)
		{
			int64_t		sum = 0;

			for (size_t k = 0; k < (upper ? i + 1 : rows); k++)
				sum += a[i * rows + k] * a[j * rows + k];
			product[i * n + j] = product[j * n + i] = sum;
		}
	}
	pe_free(a);
	return fits;
}

static pe_u128
magnitude(int64_t entry)
{
	return entry < 0 ? -(pe_u128) entry : (pe_u128) entry;
}

/* |a|_1, or |a - b|_1 where b is not NULL; entries are below 2^62. */
static pe_u128
l1_distance(const int64_t *a, const int64_t *b, int32_t rows)
{
	pe_u128		sum = 0;

	for (int32_t i = 0; i < rows; i++)
		sum += magnitude(b == NULL ? a[i] : a[i] - b[i]);
	return sum;
}

/* |a + b|_1 of such entries */
static pe_u128
l1_sum(const int64_t *a, const int64_t *b, int32_t rows)
{
	pe_u128		sum = 0;

	for (int32_t i = 0; i < rows; i++)
		sum += magnitude(a[i] + b[i]);
	return sum;
}

/* max_j |a_j|_1 */
static pe_u128
largest_column_l1(const pe_strategy *strategy)
{
	int64_t    *a = pe_alloc(strategy->rows, sizeof(*a));
	pe_u128		largest = 1;

	for (int32_t j = 0; j < strategy->columns; j++)
	{
		pe_u128		norm;

		pe_poll();
		column_of_matrix(strategy, j, a);
		norm = l1_distance(a, NULL, strategy->rows);
		largest = norm > largest ? norm : largest;
	}
	pe_free(a);
	return largest;
}

bool
pe_strategy_column_norms(const pe_strategy *strategy, pe_norm norm, pe_u128 *norms)
{
	int64_t    *a;
	bool		fits = true;

	if (strategy->direct || largest_row_sum(strategy) >= ROW_SUM_MAX)
		return false;
	a = pe_alloc(strategy->rows, sizeof(*a));
	for (int32_t j = 0; j < strategy->columns && fits; j++)
	{
		pe_poll();
		norms[j] = 1;
		if (is_identity(strategy))
			continue;
		column_of_matrix(strategy, j, a);
		if (norm == PE_L1)
			norms[j] = l1_distance(a, NULL, strategy->rows);
		else
			fits = square_of(a, strategy->rows, &norms[j]);
	}
	pe_free(a);
	return fits;
}

/* The same of two columns whose norms are below 2^62, five times as fast. */
static uint64_t
l1_distance_of_small(const int64_t *a, const int64_t *b, int32_t rows)
{
	uint64_t	sum = 0;

	for (int32_t i = 0; i < rows; i++)
		sum += (uint64_t) (a[i] < b[i] ? b[i] - a[i] : a[i] - b[i]);
	return sum;
}

/* max_ij |a_i - a_j|_1 of at most PE_L1_PAIRS columns, none of a norm above `norm` */
static pe_u128
largest_difference_l1(const pe_strategy *strategy, pe_u128 norm)
{
	bool		small = norm < (pe_u128) 1 << 62;
	size_t		rows = strategy->rows;
	int64_t    *a = pe_alloc(strategy->columns * rows, sizeof(*a));
	pe_u128		largest = 0;

	for (int32_t j = 0; j < strategy->columns; j++)
	{
		pe_poll();
		column_of_matrix(strategy, j, a + j * rows);
		for (int32_t i = 0; i < j; i++)
		{
			pe_u128		distance = small ? l1_distance_of_small(a + j * rows, a + i * rows, strategy->rows)
				: l1_distance(a + j * rows, a + i * rows, strategy->rows);

			largest = distance > largest ? distance : largest;
		}
	}
	pe_free(a);
	return largest;
}

bool
pe_strategy_each_distances_l1(const pe_strategy *strategy,
							  void (*take) (void *argument, int32_t column, const pe_u128 *distance,
											const pe_u128 *sum),
							  void *argument)
{
	size_t		rows = (size_t) strategy->rows;
	size_t		columns = (size_t) strategy->columns;
	int64_t    *a;
	pe_u128    *distance;

	if (strategy->blocks != NULL || strategy->direct || strategy->columns > PE_L1_PAIRS ||
		largest_row_sum(strategy) >= ROW_SUM_MAX)
		return false;
	a = pe_alloc(columns * rows, sizeof(*a));
	distance = pe_alloc(2 * columns, sizeof(*distance));
	for (int32_t i = 0; i < strategy->columns; i++)
	{
		pe_poll();
		column_of_matrix(strategy, i, a + (size_t) i * rows);
		for (int32_t j = 0; j <= i; j++)
		{
			distance[j] = l1_distance(a + (size_t) i * rows, a + (size_t) j * rows, strategy->rows);
			distance[columns + (size_t) j] = l1_sum(a + (size_t) i * rows, a + (size_t) j * rows, strategy->rows);
		}
		take(argument, i, distance, distance + columns);
	}
	pe_free(distance);
	pe_free(a);
	return true;
}

/*
 * The largest |a_j|_1 of A = M B, and of their differences, or a bound of them,
 * if asked.
 */
static bool
largest_l1(const pe_strategy *strategy, bool pairs, pe_u128 *largest)
{
	pe_u128		difference;

	if (largest_row_sum(strategy) >= ROW_SUM_MAX)
		return false;
	if (!is_identity(strategy))
		*largest = largest_column_l1(strategy);
	/* of the identity two columns are exactly that far apart, if there are two */
	difference = 2 * *largest;
	if (pairs && !is_identity(strategy) && strategy->columns <= PE_L1_PAIRS)
		difference = largest_difference_l1(strategy, *largest);
	if (pairs && strategy->columns > 1 && difference > *largest)
		*largest = difference;
	return true;
}

bool
pe_strategy_sensitivity_l1(const pe_strategy *strategy, pe_neighbours neighbours, int32_t max_rows,
						   pe_u128 *sensitivity)
{
	pe_u128		largest = 1;

	if (max_rows < 1)
		pe_bug("a unit has at least one row");
	if (!(strategy->direct ? pe_direct_largest_l1 : largest_l1) (strategy, neighbours == PE_SUBSTITUTE, &largest))
		return false;
	/* at most 2 2^20 entries below 2^62, or a direct one's below 2^55, times 2^31 */
	*sensitivity = largest * (pe_u128) max_rows;
	return true;
}

/*
 * What follows is computed modulo 2^128: where the end fits, it is exact, for
 * any values on the way.  x, b and y have a row of `width` numbers for each
 * entry of a vector: so many vectors side by side.
 */

/* to += factor from, rows of numbers */
static void
add_row(pe_u128 *to, int64_t factor, const pe_u128 *from, size_t width)
{
	for (size_t k = 0; k < width; k++)
		to[k] += (pe_u128) factor * from[k];
}

/* b = B x */
static void
multiply_basis(const pe_strategy *strategy, size_t width, const pe_u128 *x, pe_u128 *b)
{
	if (strategy->basis == NULL)
	{
		memcpy(b, x, (size_t) strategy->columns * width * sizeof(*b));
		return;
	}
	memset(b, 0, (size_t) strategy->inner * width * sizeof(*b));
	for (int32_t i = 0; i < strategy->inner; i++)
		for (int32_t j = 0; j < strategy->columns; j++)
			add_row(b + (size_t) i * width, strategy->basis[(size_t) i * strategy->columns + j],
					x + (size_t) j * width, width);
}

/* T b in place: column j of T needs row j of b alone, and changes what is above it. */
static void
multiply_triangle(const pe_strategy *strategy, size_t width, pe_u128 *b)
{
	for (int32_t j = 0; strategy->triangle != NULL && j < strategy->rows; j++)
	{
		const int32_t *column = strategy->triangle + packed(0, j);
		pe_u128    *row = b + (size_t) j * width;

		for (int32_t i = 0; i < j; i++)
			add_row(b + (size_t) i * width, column[i], row, width);
		for (size_t k = 0; k < width; k++)
			row[k] *= (pe_u128) column[j];
	}
}

/* y = M b */
static void
multiply_dense(const pe_strategy *strategy, size_t width, const pe_u128 *b, pe_u128 *y)
{
	memset(y, 0, (size_t) strategy->rows * width * sizeof(*y));
	for (int32_t l = 0; l < strategy->inner; l++)
	{
		const int32_t *column = strategy->dense + (size_t) l * strategy->rows;

		for (int32_t i = 0; i < strategy->rows; i++)
			add_row(y + (size_t) i * width, column[i], b + (size_t) l * width, width);
	}
}

void
pe_strategy_apply_wide(const pe_strategy *strategy, size_t width, const pe_u128 *x, pe_u128 *y)
{
	size_t		inner = (size_t) strategy->inner * width;
	pe_u128    *b = y;

	if (strategy->direct)
		pe_bug("a direct strategy has no matrix");
	if (strategy->dense != NULL)
		b = pe_alloc(inner, sizeof(*b));
	multiply_basis(strategy, width, x, b);
	multiply_triangle(strategy, width, b);
	if (strategy->dense == NULL)
		return;
	multiply_dense(strategy, width, b, y);
	pe_wipe(b, inner * sizeof(*b));
	pe_free(b);
}

void
pe_strategy_apply(const pe_strategy *strategy, const int64_t *x, pe_i128 *y)
{
	size_t		columns = (size_t) strategy->columns;
	pe_u128    *wide;

	if (strategy->direct)
	{
		pe_direct_apply(strategy, x, y);
		return;
	}
	wide = pe_alloc(columns, sizeof(*wide));
	for (size_t j = 0; j < columns; j++)
		wide[j] = (pe_u128) x[j];
	pe_strategy_apply_wide(strategy, 1, wide, (pe_u128 *) y);
	pe_wipe(wide, columns * sizeof(*wide));
	pe_free(wide);
}

void
pe_strategy_bind(pe_strategy *strategy, const pe_workload *workload)
{
	if (!strategy->direct)
		return;
	if (workload->queries != strategy->rows)
		pe_bug("a strategy for another workload");
	strategy->workload = workload;
}

void
pe_strategy_matrix(const pe_strategy *strategy, double *a)
{
	int64_t    *column;

	if (strategy->direct)
	{
		pe_direct_matrix(strategy, a);
		return;
	}
	column = pe_alloc(strategy->rows, sizeof(*column));
	for (int32_t j = 0; j < strategy->columns; j++)
	{
		pe_poll();
		column_of_matrix(strategy, j, column);
		for (int32_t i = 0; i < strategy->rows; i++)
			a[(size_t) i * strategy->columns + j] = (double) column[i];
	}
	pe_free(column);
}

double
pe_strategy_gap(const pe_strategy *strategy)
{
	return strategy->objective / strategy->lower_bound - 1;
}

void
pe_strategy_columns(const pe_strategy *strategy, const pe_workload *workload, const bool *possible,
					int32_t *column_of_cell)
{
	int32_t		cells = pe_shape_cells(&workload->shape);
	pe_classes	classes;

	if (cells > PE_MAX_CELLS)
		pe_bug("columns of cells that have no numbers");
	pe_classes_init(&workload, 1, &classes);
	if (classes.cells != strategy->classes)
		pe_bug("a strategy for another workload");
	for (int32_t cell = 0; cell < cells; cell++)
		column_of_cell[cell] = possible == NULL || possible[cell]
			? strategy->column_of[pe_classes_of_cell(&classes, &workload->shape, cell)] : PE_RULED_OUT;
	pe_classes_free(&classes);
}

/* ------------------------------------------------------------------
 * What was read
 * ------------------------------------------------------------------
 */

/* Whether every column has a class. */
static bool
columns_are_sound(const pe_strategy *strategy)
{
	bool	   *seen = pe_alloc(strategy->columns, sizeof(bool));
	int32_t		found = 0;
	bool		sound = true;

	for (int32_t c = 0; c < strategy->classes && sound; c++)
	{
		int32_t		column = strategy->column_of[c];

		sound = column >= PE_RULED_OUT && column < strategy->columns;
		if (sound && column >= 0 && !seen[column])
		{
			seen[column] = true;
			found++;
		}
	}
	pe_free(seen);
	return sound && found == strategy->columns;
}

/* Whether T is invertible, and A x can be computed. */
static bool
entries_are_sound(const pe_strategy *strategy)
{
	for (int32_t i = 0; strategy->triangle != NULL && i < strategy->rows; i++)
		if (strategy->triangle[packed(i, i)] <= 0)
			return false;
	return strategy->direct || largest_row_sum(strategy) < ROW_SUM_MAX;
}

bool
pe_strategy_is_sound(const pe_strategy *strategy)
{
	return columns_are_sound(strategy) && entries_are_sound(strategy);
}

void
pe_strategy_free(pe_strategy *strategy)
{
	pe_free(strategy->column_of);
	pe_free(strategy->triangle);
	pe_free(strategy->dense);
	pe_free(strategy->basis);
	if (strategy->blocks != NULL)
		pe_blocks_free(strategy->blocks);
	pe_free(strategy->blocks);
	memset(strategy, 0, sizeof(*strategy));
}

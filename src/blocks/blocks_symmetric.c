/*
 * blocks_symmetric.c
 *	  Blocks of workloads in which some attributes are asked by identity and total only, and all
 *	  others have few columns together: the core.  See blocks.h.
 *
 * Term t asks for the core's part of its rows, with Gram matrix G_t, of each cell of the
 * attributes S_t, and has weight c_t, its square.  For a set R of the other attributes
 *
 *		V_R = sum over t with S_t containing R of c_t / prod_{i in S_t} n_i  G_t,    m_R = prod_{i in R} (n_i - 1).
 *
 * Permutations of the cells of an attribute that is asked by identity and total leave W'W as it is.  The
 * dual of optimum.h is concave, so one of its maximisers y depends on the cell of the core alone.  Then W'W
 * and Y are block diagonal in (x){11'/n, I - 11'/n}, and with y over the core
 *
 *		T(y) = sum_R m_R tr (Y^.5 V_R Y^.5)^.5,   X = sum_R X_R (x) (the projector of R),
 *		F* = max T^2 / sum y,   the column of core cell c: sum_R m_R (X_R)_cc.
 *
 * So block R measures T_R (x) (n I - 11'), T_R'T_R = X_R up to scale, with a share proportional to
 * m_R max_c (X_R)_cc.  The blocks reach their largest columns at different cells of the core, so that the
 * shares may sum to more than the whole.  Centred parts have columns of one norm: the check in integers looks at
 * every cell of the core (blocks_sensitivity.c).
 *
 * V_R depends on R through one number for each different G_t.  Sets for which these numbers are proportional form
 * a group with one matrix: V_g^.5 = sum_R m_R V_R^.5.
 */
#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "blocks/blocks_symmetric.h"

/* Different G_t, and entries of all matrices of the core. */
#define MOST_PATTERNS 4096
#define MOST_ENTRIES (INT64_C(1) << 26)

/* ------------------------------------------------------------------
 * Axes
 * ------------------------------------------------------------------
 */

/* False if there is no core, or too large a one. */
static bool
make_axes(pe_core *c)
{
	pe_blocks  *blocks = c->blocks;
	pe_axis    *axis = blocks->axis = pe_alloc((size_t) blocks->attributes + 1, sizeof(pe_axis));
	int64_t		cells = 1;
	int64_t		classes = 1;

	blocks->axes = 1;
	for (int a = 0; a < blocks->attributes && classes <= PE_OPTIMUM_CELLS; a++)
	{
		int			k = axis->attributes;

		if (pe_attribute_is_symmetric(c->problem->workload, a))
		{
			if (blocks->columns[a] > 1)
				pe_axis_centred(&axis[blocks->axes++], a, blocks->columns[a]);
			continue;
		}
		axis->attribute[axis->attributes++] = a;
		cells *= blocks->columns[a];
		classes *= c->problem->classes->count[a];
		c->classes.count[k] = c->problem->classes->count[a];
		c->classes.class_of[k] = c->problem->classes->class_of[a];
		c->classes.first[k] = c->problem->classes->first[a];
		c->possible_of[k] = c->problem->possible_of != NULL ? c->problem->possible_of[a] : NULL;
	}
	axis->cells = (int32_t) cells;
	c->axis = axis;
	c->classes.attributes = axis->attributes;
	c->classes.cells = (int32_t) classes;
	return axis->attributes > 0 && classes <= PE_OPTIMUM_CELLS;
}

/* ------------------------------------------------------------------
 * Terms
 * ------------------------------------------------------------------
 */

static bool
same_factor(const pe_factor *a, const pe_factor *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	/* of windows the number gives their width */
	if (a->constructor != b->constructor || a->cells != b->cells || a->queries != b->queries)
		return false;
	if (a->constructor == PE_RANGES)
		return memcmp(a->range, b->range, 2 * (size_t) a->queries * sizeof(int32_t)) == 0;
	return a->constructor != PE_MATRIX ||
		memcmp(a->entry, b->entry, (size_t) a->queries * (size_t) a->cells * sizeof(int32_t)) == 0;
}

static bool
same_core(const pe_core *c, int32_t s, int32_t t)
{
	const pe_term *term = c->problem->workload->term;

	for (int k = 0; k < c->axis->attributes; k++)
		if (!same_factor(pe_term_on(&term[s], c->axis->attribute[k]), pe_term_on(&term[t], c->axis->attribute[k])))
			return false;
	return true;
}

/* False if there are too many different ones. */
static bool
find_patterns(pe_core *c)
{
	int32_t		terms = c->problem->workload->terms;

	c->pattern = pe_alloc((size_t) terms, sizeof(int32_t));
	c->example = pe_alloc(MOST_PATTERNS, sizeof(int32_t));
	for (int32_t t = 0; t < terms; t++)
	{
		int32_t		p = 0;

		while (p < c->patterns && !same_core(c, c->example[p], t))
			p++;
		if (p == MOST_PATTERNS)
			return false;
		if (p == c->patterns)
			c->example[c->patterns++] = t;
		c->pattern[t] = p;
	}
	return true;
}

/* False if the sets have too many subsets. */
static bool
find_sets(pe_core *c, pe_attribute_set *set)
{
	const pe_workload *workload = c->problem->workload;

	for (int32_t t = 0; t < workload->terms; t++)
		for (int a = 1; a < c->blocks->axes; a++)
			if (pe_term_on(&workload->term[t], c->blocks->axis[a].attribute[0]) != NULL)
				set[t] |= pe_set_of(a - 1);
	return pe_closure_init(set, workload->terms, PE_MAX_BLOCKS, &c->closure);
}

/* What block R has of a pattern: square[p * sets + R], V_R as the sum of these times the G_t. */
static double *
squares_of_sets(const pe_core *c, const pe_attribute_set *set)
{
	const pe_workload *workload = c->problem->workload;
	size_t		sets = (size_t) c->closure.sets;
	double	   *square = pe_la_vector(sets * (size_t) c->patterns);
	double		inverse[PE_SET_ATTRIBUTES] = {0};

	for (int a = 1; a < c->blocks->axes; a++)
		inverse[a - 1] = 1.0 / c->blocks->axis[a].cells;
	for (int32_t t = 0; t < workload->terms; t++)
		square[(size_t) c->pattern[t] * sets + (size_t) pe_closure_find(&c->closure, set[t])] +=
			workload->term[t].weight * workload->term[t].weight;
	for (int32_t p = 0; p < c->patterns; p++)
		pe_closure_sum_above(&c->closure, inverse, inverse, square + (size_t) p * sets);
	return square;
}

/* A product over the attributes of a set. */
static double
product_over(const pe_core *c, int32_t set, double (*factor) (double cells))
{
	double		product = 1.0;

	for (int a = 1; a < c->blocks->axes; a++)
		if (pe_set_has(c->closure.set[set], a - 1))
			product *= factor(c->blocks->axis[a].cells);
	return product;
}

static double
one_less(double cells)
{
	return cells - 1.0;
}

/* ------------------------------------------------------------------
 * Groups
 * ------------------------------------------------------------------
 */

/* The group of a row of sum 1; -1: none. */
static int
find_group(const pe_core *c, const double *row)
{
	for (int g = 0; g < c->groups; g++)
	{
		int32_t		p = 0;

		while (p < c->patterns && fabs(row[p] - c->group[g].square[p]) <= PE_CORE_PROPORTIONAL * row[p])
			p++;
		if (p == c->patterns)
			return g;
	}
	return -1;
}

/* part[R] becomes m_R |V_R|^.5, and the group's row that of its example with sum 1. */
static bool
assign_sets(pe_core *c, const double *square)
{
	size_t		sets = (size_t) c->closure.sets;
	double	   *row = pe_la_vector((size_t) c->patterns);
	bool		fits = true;

	for (int32_t k = 0; k < c->closure.sets && fits; k++)
	{
		double		sum = 0.0;
		int			g;

		for (int32_t p = 0; p < c->patterns; p++)
			sum += square[(size_t) p * sets + (size_t) k];
		for (int32_t p = 0; p < c->patterns; p++)
			row[p] = square[(size_t) p * sets + (size_t) k] / sum;
		g = find_group(c, row);
		fits = g >= 0 || c->groups < PE_CORE_GROUPS;
		if (g < 0 && fits)
		{
			g = c->groups++;
			c->group[g].square = pe_la_vector((size_t) c->patterns);
			memcpy(c->group[g].square, row, (size_t) c->patterns * sizeof(double));
		}
		c->group_of[k] = g;
		c->part[k] = product_over(c, k, one_less) * sqrt(sum);
	}
	pe_free(row);
	return fits;
}

/* Parts of each group that sum to 1, and V_g. */
static void
scale_groups(pe_core *c)
{
	double		sum[PE_CORE_GROUPS] = {0};

	for (int32_t k = 0; k < c->closure.sets; k++)
		sum[c->group_of[k]] += c->part[k];
	for (int32_t k = 0; k < c->closure.sets; k++)
		c->part[k] /= sum[c->group_of[k]];
	for (int g = 0; g < c->groups; g++)
		for (int32_t p = 0; p < c->patterns; p++)
			c->group[g].square[p] *= sum[g] * sum[g];
}

/* False if there are too many sets or groups. */
static bool
find_groups(pe_core *c)
{
	pe_attribute_set *set = pe_alloc((size_t) c->problem->workload->terms, sizeof(*set));
	bool		fits = find_patterns(c) && find_sets(c, set);

	if (fits)
	{
		double	   *square = squares_of_sets(c, set);

		c->group_of = pe_alloc((size_t) c->closure.sets, sizeof(int32_t));
		c->part = pe_la_vector((size_t) c->closure.sets);
		c->share = pe_la_vector((size_t) c->closure.sets);
		fits = assign_sets(c, square) && pe_la_square(c->axis->cells) * (size_t) c->groups <= MOST_ENTRIES;
		pe_free(square);
	}
	pe_free(set);
	if (fits)
		scale_groups(c);
	return fits;
}

/* ------------------------------------------------------------------
 * Matrices and shares
 * ------------------------------------------------------------------
 */

/* The matrices of the axis from the groups, and the norms of their columns; false if they do not fit. */
static bool
make_matrices(pe_core *c)
{
	pe_axis    *axis = c->axis;

	for (int m = 0; m < c->groups; m++)
	{
		pe_core_group *g = &c->group[m];

		pe_strategy_free(&axis->matrix[m].strategy);
		pe_core_matrix(c, g, &axis->matrix[m].strategy);
		axis->matrices = m + 1;
		if (!pe_axis_norms(axis, m, c->problem->norm, g->norms))
			return false;
		g->longest = 0.0;
		for (int32_t j = 0; j < axis->cells; j++)
			g->longest = fmax(g->longest, (double) g->norms[j]);
	}
	return true;
}

/* The squared L1 norm of a centred part, 4 (n - 1)^2, times what a query has of it, beside that of L2. */
static double
l1_factor(double cells)
{
	return 4.0 * (cells - 1.0) / cells;
}

/*
 * V_R = (part / m_R)^2 V_g.  PE_L2: the shares of the optimum.  PE_L1: with the whole share the part of block R in the
 * objective is B_R = (part longest)^2 error prod 4 (n - 1)/n, and the sum of B_R / share^2 is
 * least for shares proportional to B_R^(1/3).
 */
static void
propose_shares(pe_core *c)
{
	for (int g = 0; g < c->groups; g++)
		c->group[g].share = 0.0;
	for (int32_t k = 0; k < c->closure.sets; k++)
	{
		pe_core_group *g = &c->group[c->group_of[k]];
		double		norm = c->part[k] * g->longest;

		c->share[k] = c->problem->norm == PE_L2 ? c->part[k] * g->length
			: cbrt(norm * norm * product_over(c, k, l1_factor) * g->error);
		g->share += c->share[k];
	}
}

/* The largest over the columns of what the shares add up to. */
static double
largest_column(const pe_core *c)
{
	double		largest = 0.0;

	for (int32_t j = 0; j < c->axis->cells; j++)
	{
		double		sum = 0.0;

		for (int g = 0; g < c->groups; g++)
			sum += c->group[g].share * ((double) c->group[g].norms[j] / c->group[g].longest);
		largest = fmax(largest, sum);
	}
	return largest;
}

/* The objective of the matrices and shares for PE_L2. */
static double
objective(const pe_core *c)
{
	double		sum = 0.0;

	for (int g = 0; g < c->groups; g++)
		sum += c->group[g].strategy.objective / c->group[g].paid;
	return sum * largest_column(c);
}

/* Rounded down; what the check rounds up, one for each matrix, and shares of 0 that become 1 are kept free. */
static void
round_shares(pe_core *c)
{
	double		whole = ldexp(1.0, PE_SHARE_BITS) * (1.0 - 1e-12) - c->groups - c->closure.sets;
	double		scale = whole / largest_column(c);

	c->blocks->share = pe_alloc((size_t) c->closure.sets, sizeof(uint64_t));
	for (int32_t k = 0; k < c->closure.sets; k++)
		c->blocks->share[k] = (uint64_t) fmax(floor(c->share[k] * scale), 1.0);
}

/* ------------------------------------------------------------------
 * All of it
 * ------------------------------------------------------------------
 */

/* The norm of a centred part as it enters D_b. */
static double
norm_of_l2(double cells)
{
	return cells * (cells - 1.0);
}

static double
norm_of_l1(double cells)
{
	return 2.0 * (cells - 1.0);
}

/*
 * How long the columns of each group's matrix may be, in bits: D_b is below 2^96, for PE_L1 below 2^62, where a column
 * of n numbers may be n^.5 longer than for L2.
 */
static void
limit_bits(pe_core *c)
{
	bool		squares = c->problem->norm == PE_L2;

	for (int32_t k = 0; k < c->closure.sets; k++)
	{
		int		   *limit = &c->group[c->group_of[k]].bits;
		double		others = log2(product_over(c, k, squares ? norm_of_l2 : norm_of_l1));
		int			bits = (int) fmax(squares ? (94.0 - others) / 2.0 - c->problem->spare : 55.0 - others, 1.0);

		*limit = *limit == 0 || bits < *limit ? bits : *limit;
	}
}

/* The integers; and the finest ones, if all together are not as good as they have to be. */
static bool
round_all(pe_core *c, double lower_bound)
{
	bool		good = false;

	c->axis->matrix = pe_alloc((size_t) c->groups, sizeof(pe_axis_matrix));
	for (int g = 0; g < c->groups; g++)
		c->group[g].norms = pe_alloc((size_t) c->axis->cells, sizeof(pe_u128));
	for (int attempt = 0; attempt < 2 && !good; attempt++)
	{
		pe_core_round(c, attempt == 1);
		if (!make_matrices(c))
			return false;
		propose_shares(c);
		good = c->problem->norm == PE_L1 || objective(c) <= lower_bound * (1.0 + c->problem->gap);
	}
	return true;
}

static void
make_blocks(pe_core *c)
{
	pe_blocks  *blocks = c->blocks;
	size_t		axes = (size_t) blocks->axes;

	blocks->blocks = c->closure.sets;
	blocks->choice = pe_alloc((size_t) blocks->blocks * axes, sizeof(*blocks->choice));
	for (int32_t k = 0; k < blocks->blocks; k++)
	{
		int8_t	   *choice = blocks->choice + (size_t) k * axes;

		choice[0] = (int8_t) c->group_of[k];
		for (size_t a = 1; a < axes; a++)
			choice[a] = pe_set_has(c->closure.set[k], (int) a - 1) ? 0 : -1;
	}
	round_shares(c);
}

/* False if something of the core is not asked for, or the integers do not fit. */
static bool
optimise(pe_core *c, double *lower_bound)
{
	bool		fits;

	limit_bits(c);
	fits = pe_core_solve(c, lower_bound);
	if (!fits)
		return false;
	fits = round_all(c, *lower_bound);
	if (fits)
		make_blocks(c);
	pe_core_end(c);
	if (c->problem->norm == PE_L1)
		*lower_bound = 0;
	return fits && pe_blocks_prepare(c->blocks);
}

static void
core_free(pe_core *c)
{
	for (int g = 0; g < c->groups; g++)
	{
		pe_free(c->group[g].square);
		pe_free(c->group[g].norms);
		pe_free(c->group[g].price);
		pe_optimum_free(&c->group[g].optimum);
	}
	pe_closure_free(&c->closure);
	pe_free(c->pattern);
	pe_free(c->example);
	pe_free(c->group_of);
	pe_free(c->part);
	pe_free(c->share);
}

/* Axes and groups; false, with nothing to free, if there are none. */
static bool
core_begin(pe_core *c, const pe_strategy_problem *problem, pe_blocks *blocks)
{
	memset(c, 0, sizeof(*c));
	c->problem = problem;
	c->blocks = blocks;
	if (problem->objective != PE_SUM || !pe_blocks_begin(problem, blocks))
		return false;
	blocks->kind = PE_BLOCKS_SYMMETRIC;
	if (make_axes(c) && find_groups(c))
		return true;
	core_free(c);
	pe_blocks_free(blocks);
	return false;
}

bool
pe_blocks_symmetric(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound)
{
	pe_core    *c = pe_alloc(1, sizeof(*c));
	bool		begun = core_begin(c, problem, blocks);
	bool		fits = begun && optimise(c, lower_bound);

	if (begun)
		core_free(c);
	if (begun && !fits)
		pe_blocks_free(blocks);
	pe_free(c);
	return fits;
}

size_t
pe_blocks_symmetric_memory(const pe_strategy_problem *problem)
{
	pe_core    *c = pe_alloc(1, sizeof(*c));
	pe_blocks	blocks;
	size_t		memory = 0;

	if (core_begin(c, problem, &blocks))
	{
		/* of each group the optimum's part and X; one such part for all of them */
		memory = ((size_t) c->groups + 1) *
			(pe_optimum_memory(c->classes.cells) + pe_la_square(c->classes.cells) * sizeof(double));
		core_free(c);
		pe_blocks_free(&blocks);
	}
	pe_free(c);
	return memory;
}

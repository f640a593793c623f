/*
 * plan_neighbours.c
 *	  How far one row that becomes another moves a whole measurement: N; and the
 *	  shares of the cost that its parts have, N included.
 *
 * Part b measures A_b x_b, x_b[z] the sum over the rows in cell z of f_b(row),
 * with |f_b| <= B_b.  D_b = B_b^2 max_z |a_b,z|^2 is its squared sensitivity for
 * one row that is added or removed, w_b = s_b / D_b for its share s_b.  Drawn
 * with variance k^2 D_b N / (2 rho s_b), all parts together lose at most rho if
 *
 *		N >= sum_b w_b |f_b(r) a_b,z(r) - f_b(r') a_b,z(r')|^2		(*)
 *
 * for all rows r and r'; one of them may count nowhere.  A unit of k rows is
 * changed in k steps of one row each, and norms add up.  add_remove has
 * r' nowhere, and N = 1 as no shares add up to more.
 *
 * Tables.  Parts of one table are measured by the same matrix A, and a row is in
 * the same cell of all of them; a part of f = 1 counts every row that another
 * part of the table counts.  So a row is nowhere in a table, or in a cell z with
 * 1 for every part of f = 1, and some number, perhaps 0, for all others.  Where
 * a row is in one table says nothing of another: a number that is absent drops
 * it from one of them alone.  N is the sum of what (*) is at most in each table.
 *
 * In one table, with P = |a_z|^2, P' = |a_z'|^2, C = a_z'a_z', D = max P, and the
 * shares S_1 of f = 1, S_s of numbers with a sign, S_u of others added up, it is
 * at most the largest of
 *
 *		(S_1 (P + P' - 2 C) + S_s (P + P' + 2 |C|) + S_u max(P, P', P + P' - 2 C)) / D
 *
 * over all pairs of cells, z = z' among them, and of a cell and nowhere (P' = C
 * = 0): |f a_z - f' a_z'|^2 is convex in (f, f'), so that it is largest at ends,
 * (B, B), (B, -B) and so on of a number with a sign, (B, 0), (0, B), (B, B) of
 * one without.  It is exact for counts, and for one number with its count,
 * whose ends can be reached at the same z and z'.
 *
 * Pairs are looked at in integers, of cells that are counted one by one by hand.
 * Of blocks, of more than PE_OPTIMUM_CELLS columns and of direct strategies
 *
 *		S_1 N_1 + 4 S_s + S_u max(1, N_1)
 *
 * is at least as much, N_1 of counts alone (blocks.h, strategy.h): P, P' and |C|
 * are at most D.
 *
 * PE_PURE: the same with L1 norms, B in place of B^2, k in place of k^2, and
 *
 *		S_1 |a_z - a_z'| + S_s max(|a_z + a_z'|, |a_z - a_z'|) + S_u max(|a_z|, |a_z'|, |a_z - a_z'|)
 *
 * in units of the largest |a_z|; S_1 N_1 + 2 S_s + S_u max(1, N_1) of blocks and of
 * more than PE_L1_PAIRS columns.
 *
 * The parts of a pair, two or more of PE_PURE, have one share s and one bound B, and
 * a row adds f_i a_z to part i, 0 <= f_i and f_1 + f_2 + ... <= B: without a change s
 * (f_1 + f_2 + ...) |a_z| / B is at most s.  Under substitute it is at most the sum of
 * both rows, |a_z| + |a_z'|, which (B, 0, ...) and (0, B, ...) reach.  So pairs with
 * shares S_p add S_p (|a_z| + |a_z'|).
 *
 * Of keys (rules by_keys) each cell is there once for every key.  A row may go
 * from a cell under one key to any cell under another, and the columns of two
 * keys are orthogonal: such a pair differs by P + P' at most, of a table by twice
 * its shares.  Two rows under one key differ as above.
 *
 * The shares of parts of rows add up to at most 1 here: none counts the rest of
 * the rows of another one (plan_measurement.c).
 *
 * Units, in at most so many cells each, and rows that the cut left out are cut by
 * themselves: such a part pays for its own neighbours with its own share
 * (plan_measurement.c), for any rows of the unit that count.  Parts of
 * rows lose no more than their shares add up to, and all shares add up to at most 1.
 */
#include "plan/private.h"

#include <math.h>

#include "base/mem.h"
#include "optimum/optimum.h"
#include "strategy/share.h"

#define WHOLE ((pe_u128) PE_WHOLE_SHARE)

/* So that what pairs differ by, in units of 2^-PE_SHARE_BITS, is below 2^127. */
#define LARGEST_SQUARE ((pe_u128) 1 << 84)

/* The shares of a table by what its parts add: together at most the whole. */
typedef struct table_shares
{
	uint64_t	one;
	uint64_t	with_sign;
	uint64_t	without_sign;
	uint64_t	paired;
} table_shares;

/* The same of what each of them is multiplied by, of D and in units of 2^-PE_SHARE_BITS. */
typedef struct table_shares table_factors;

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

bool
pe_plan_part_is_of_rows(const pe_plan_part *part)
{
	return part->cells == 0 && part->lost == 0 && part->distinct == 0;
}

static bool
adds_one(const pe_plan_part *part)
{
	return part->bound == 1 && !part->is_signed;
}

static bool
is_same_table(const pe_plan_part *one, const pe_plan_part *other)
{
	return one == other || (one->table > 0 && one->table == other->table);
}

/* Whether part i is the first of its table. */
static bool
is_first(const pe_plan_part *part, int i)
{
	for (int j = 0; j < i; j++)
		if (is_same_table(&part[j], &part[i]))
			return false;
	return true;
}

/* The first part in front that a part is in a pair with; -1: none. */
static int
first_of_pair(const pe_plan_part *part, int i)
{
	for (int j = 0; j < i && part[i].pair > 0; j++)
		if (part[j].pair == part[i].pair)
			return j;
	return -1;
}

bool
pe_plan_part_is_second(const pe_plan_part *part, int i)
{
	return first_of_pair(part, i) >= 0;
}

static void
check_tables(const pe_plan_part *part, int parts)
{
	for (int i = 0; i < parts; i++)
		for (int j = 0; j < i; j++)
			if (is_same_table(&part[i], &part[j]) &&
				(part[i].strategy != part[j].strategy || !pe_plan_part_is_of_rows(&part[i]) ||
				 !pe_plan_part_is_of_rows(&part[j])))
				pe_bug("a table that is measured in two ways");
}

/* Two or more of one table, with one bound and one share, of Laplace noise. */
static void
check_pairs(const pe_plan_part *part, int parts, pe_accounting accounting)
{
	for (int i = 0; i < parts; i++)
	{
		int			first = first_of_pair(part, i);
		int			members = 0;

		for (int j = 0; j < parts; j++)
			members += part[i].pair > 0 && part[j].pair == part[i].pair;
		if (members > 0 && (accounting != PE_PURE || members < 2 || part[i].is_signed))
			pe_bug("a pair that cannot be");
		if (first >= 0 && (!is_same_table(&part[i], &part[first]) || part[i].bound != part[first].bound ||
						   part[i].share != part[first].share))
			pe_bug("a pair of parts that differ");
	}
}

/* Of the table of part i. */
static table_shares
shares_of_table(const pe_plan_part *part, int parts, int i)
{
	table_shares shares = {0};

	for (int j = i; j < parts; j++)
	{
		if (!is_same_table(&part[j], &part[i]) || pe_plan_part_is_second(part, j))
			continue;
		if (part[j].pair > 0)
			shares.paired += part[j].share;
		else if (part[j].is_signed)
			shares.with_sign += part[j].share;
		else if (adds_one(&part[j]))
			shares.one += part[j].share;
		else
			shares.without_sign += part[j].share;
	}
	return shares;
}

/* ------------------------------------------------------------------
 * Pairs
 * ------------------------------------------------------------------
 */

static pe_u128
larger(pe_u128 a, pe_u128 b)
{
	return a > b ? a : b;
}

/* What two rows of one table differ by: in cells with norms p and q, apart, and on opposite sides. */
static pe_u128
differ_by(const table_shares *s, pe_u128 p, pe_u128 q, pe_u128 apart, pe_u128 opposite)
{
	return s->one * apart + s->with_sign * opposite + s->without_sign * larger(larger(p, q), apart) +
		s->paired * (p + q);
}

/* part / whole in units of 2^-PE_SHARE_BITS, rounded up; part is below 2^86. */
static uint64_t
ratio_up(pe_u128 part, pe_u128 whole)
{
	return (uint64_t) ((part * WHOLE + whole - 1) / whole);
}

/* Of pairs of cells in one matrix: what they differ by at most, or the factors of each share. */
typedef struct pairs
{
	const table_shares *shares; /* NULL: the factors are asked for, of two cells */
	bool		pure;
	pe_u128    *norm;			/* |a_z|^2 of every column, or |a_z|_1 */
	int32_t		columns;
	pe_u128		most;
	pe_u128		apart;
	pe_u128		opposite;
} pairs;

static void
take_pair(pairs *p, int32_t i, int32_t j, pe_u128 apart, pe_u128 opposite)
{
	if (p->shares != NULL)
		p->most = larger(p->most, differ_by(p->shares, p->norm[i], p->norm[j], apart, opposite));
	else if (i != j)
	{
		p->apart = larger(p->apart, apart);
		p->opposite = larger(p->opposite, opposite);
	}
}

/* Besides a cell and nowhere. */
static void
take_nowhere(pairs *p, int32_t i)
{
	if (p->shares != NULL)
		p->most = larger(p->most, differ_by(p->shares, p->norm[i], 0, p->norm[i], p->norm[i]));
}

static void
take_products(void *argument, int32_t i, pe_i128 *product)
{
	pairs	   *p = argument;

	for (int32_t j = 0; j <= i; j++)
	{
		pe_u128		both = p->norm[i] + p->norm[j];
		pe_u128		twice = 2 * (pe_u128) (product[j] < 0 ? -product[j] : product[j]);

		take_pair(p, i, j, product[j] < 0 ? both + twice : both - twice, both + twice);
	}
	take_nowhere(p, i);
}

static void
take_distances(void *argument, int32_t i, const pe_u128 *distance, const pe_u128 *sum)
{
	pairs	   *p = argument;

	for (int32_t j = 0; j <= i; j++)
		take_pair(p, i, j, distance[j], larger(distance[j], sum[j]));
	take_nowhere(p, i);
}

static pe_u128
largest_norm(const pairs *p)
{
	pe_u128		largest = 0;

	for (int32_t j = 0; j < p->columns; j++)
		largest = larger(largest, p->norm[j]);
	return largest;
}

/* Looks at all pairs of a matrix; 0 if they are not looked at, else D. */
static pe_u128
look_at_pairs(const pe_strategy *strategy, pairs *p)
{
	pe_u128		largest;

	p->columns = strategy->columns;
	if (strategy->blocks != NULL || strategy->columns > PE_OPTIMUM_CELLS)
		return 0;
	p->norm = pe_alloc((size_t) strategy->columns, sizeof(*p->norm));
	largest = pe_strategy_column_norms(strategy, p->pure ? PE_L1 : PE_L2, p->norm) ? largest_norm(p) : 0;
	if (largest >= LARGEST_SQUARE ||
		!(p->pure ? pe_strategy_each_distances_l1(strategy, take_distances, p)
		  : pe_strategy_each_products(strategy, true, take_products, p)))
		largest = 0;
	pe_free(p->norm);
	return largest;
}

/* ------------------------------------------------------------------
 * Of a table
 * ------------------------------------------------------------------
 */

/* N_1 of counts; false if it is beyond what is served. */
static bool
counts_apart(const pe_strategy *strategy, bool pure, uint64_t *apart)
{
	bool		(*sensitivity) (const pe_strategy *strategy, pe_neighbours neighbours, int32_t max_rows,
								pe_u128 *value) = pure ? pe_strategy_sensitivity_l1 : pe_strategy_sensitivity_sq;
	pe_u128		alone;
	pe_u128		both;

	if (strategy->blocks != NULL)
	{
		*apart = pe_blocks_neighbours(strategy->blocks, PE_SUBSTITUTE);
		return true;
	}
	if (!sensitivity(strategy, PE_ADD_REMOVE, 1, &alone) || !sensitivity(strategy, PE_SUBSTITUTE, 1, &both) ||
		alone >= LARGEST_SQUARE)
		return false;
	*apart = ratio_up(both, alone);
	return true;
}

/* Of each share where pairs are not looked at. */
static bool
bounded_factors(const pe_strategy *strategy, bool pure, table_factors *factors)
{
	uint64_t	apart;

	if (!counts_apart(strategy, pure, &apart))
		return false;
	*factors = (table_factors) {apart, (pure ? 2 : 4) * PE_WHOLE_SHARE, larger(apart, WHOLE), 2 * PE_WHOLE_SHARE};
	return true;
}

static pe_u128
weigh(const table_shares *s, const table_factors *f)
{
	return (pe_u128) s->one * f->one + (pe_u128) s->with_sign * f->with_sign +
		(pe_u128) s->without_sign * f->without_sign + (pe_u128) s->paired * f->paired;
}

/* Cells that are counted one by one: nowhere, the same cell, two cells. */
static pe_u128
differ_by_cells(const table_shares *s, int32_t cells, bool pure)
{
	pe_u128		most = larger(differ_by(s, 1, 0, 1, 1), differ_by(s, 1, 1, 0, pure ? 2 : 4));

	return cells > 1 ? larger(most, differ_by(s, 1, 1, 2, 2)) : most;
}

/* What (*) is at most, in units of 2^-PE_SHARE_BITS. */
static bool
table_differs(const pe_strategy *strategy, const table_shares *s, bool pure, pe_u128 *most)
{
	pairs		p = {.shares = s, .pure = pure};
	pe_u128		largest;
	table_factors factors;

	if (pe_strategy_counts_columns(strategy))
	{
		*most = differ_by_cells(s, strategy->columns, pure);
		return true;
	}
	largest = look_at_pairs(strategy, &p);
	if (largest > 0)
		*most = (p.most + largest - 1) / largest;
	else if (bounded_factors(strategy, pure, &factors))
		*most = (weigh(s, &factors) + WHOLE - 1) / WHOLE;
	else
		return false;
	return true;
}

/* ------------------------------------------------------------------
 * Of a measurement
 * ------------------------------------------------------------------
 */

/* Whether there is nothing but one part of rows, with the whole cost: it is drawn for its own neighbours. */
static bool
is_alone(const pe_plan_part *part, int parts, const pe_plan_rules *rules)
{
	return parts == 1 && part->share == PE_WHOLE_SHARE && !rules->by_keys;
}

/* What (*) is at most where a row goes from one key to another; L2. */
static pe_u128
keys_differ(const table_shares *s)
{
	return 2 * ((pe_u128) s->one + s->with_sign + s->without_sign);
}

bool
pe_plan_find_apart(pe_plan_part *part, int parts, const pe_plan_rules *rules, pe_accounting accounting)
{
	bool		together = rules->neighbours == PE_SUBSTITUTE && !is_alone(part, parts, rules);
	pe_u128		apart = 0;
	pe_u128		shares = 0;

	check_tables(part, parts);
	check_pairs(part, parts, accounting);
	for (int i = 0; i < parts && together; i++)
	{
		table_shares s = shares_of_table(part, parts, i);
		pe_u128		most;

		if (part[i].lacks != 0)
			pe_bug("a part of the rest of the rows under substitute");
		if (!pe_plan_part_is_of_rows(&part[i]))
			continue;
		shares += pe_plan_part_is_second(part, i) ? 0 : part[i].share;
		if (!is_first(part, i))
			continue;
		if (!table_differs(part[i].strategy, &s, accounting == PE_PURE, &most))
			return false;
		apart += rules->by_keys ? larger(most, keys_differ(&s)) : most;
	}
	for (int i = 0; i < parts; i++)
		part[i].apart = together && pe_plan_part_is_of_rows(&part[i])
			? (uint64_t) ((apart * WHOLE + shares - 1) / shares) : 0;
	return true;
}

/* ------------------------------------------------------------------
 * Shares
 *
 * What is least is N sum_b c_b / s_b (PE_PURE: N^2 sum_b c_b / s_b^2).  N is the
 * sum over the tables of N_t, each the larger of two forms that are linear in the
 * shares: of two cells, and of one.  The best shares in one table, up to a
 * factor, are proportional to the root of c_b over a price, the coefficient of b
 * in a mean of both forms, with weights 1 - theta and theta (Lagrange).  With K_t
 * what is least there, the tables have N_t proportional to the root of K_t.
 * ------------------------------------------------------------------
 */

typedef struct sharing
{
	const pe_plan_part *part;
	int			parts;
	double	   *cost;			/* of a pair all together, of later parts 0 */
	bool		pure;
	bool		by_keys;
	double	   *weight;			/* of each part, before they are made to add up */
} sharing;

/* The parts of a table that have a cost, and what their shares are multiplied by. */
typedef struct table_sharing
{
	sharing    *s;
	int			first;			/* its first part */
	table_factors two;			/* of two cells, or of one and nowhere */
	double		apart;			/* N_t for the weights as they are */
} table_sharing;

/* Square roots, cube roots of Laplace noise: what is least is the sum of those of all costs, to this power. */
static double
root_of(const sharing *s, double cost)
{
	return s->pure ? cbrt(cost) : sqrt(cost);
}

/* x, or x^2 of Laplace noise */
static double
power_of(const sharing *s, double x)
{
	return s->pure ? x * x : x;
}

static bool
shares_table(const table_sharing *t, int i)
{
	return is_same_table(&t->s->part[t->first], &t->s->part[i]) && t->s->cost[i] > 0;
}

static double
factor_of_two_cells(const table_sharing *t, int i)
{
	const pe_plan_part *part = &t->s->part[i];
	uint64_t	factor = part->pair > 0 ? t->two.paired : part->is_signed ? t->two.with_sign
		: adds_one(part) ? t->two.one : t->two.without_sign;

	return (double) factor / (double) PE_WHOLE_SHARE;
}

static double
factor_of_one_cell(const table_sharing *t, int i)
{
	const pe_plan_part *part = &t->s->part[i];

	if (part->pair > 0)
		return 2;
	return part->is_signed ? (t->s->pure ? 2 : 4) : !adds_one(part);
}

/* Weights for this theta; what is least with them. */
static double
weigh_table(table_sharing *t, double theta)
{
	const sharing *s = t->s;
	double		one = 0;
	double		two = 0;
	double		all = 0;

	for (int i = t->first; i < s->parts; i++)
		if (shares_table(t, i))
		{
			double		price = (1 - theta) * factor_of_two_cells(t, i) + theta * factor_of_one_cell(t, i);

			s->weight[i] = root_of(s, s->cost[i] / price);
			one += s->weight[i] * factor_of_one_cell(t, i);
			two += s->weight[i] * factor_of_two_cells(t, i);
			all += s->cost[i] / power_of(s, s->weight[i]);
		}
	t->apart = fmax(one, two);
	return power_of(s, t->apart) * all;
}

#define MOST_THETA (1 - 1e-9)
#define STEPS 64

/* K_t, at the best theta: what is least falls, and then grows. */
static double
find_theta(table_sharing *t)
{
	double		low = 0;
	double		high = MOST_THETA;

	for (int step = 0; step < STEPS; step++)
	{
		double		third = (high - low) / 3;

		if (weigh_table(t, low + third) <= weigh_table(t, high - third))
			high -= third;
		else
			low += third;
	}
	return weigh_table(t, low);
}

/* Of more columns, where pairs take seconds, shares are found as for orthogonal ones; N is theirs all the same. */
#define MOST_PLANNED 1024

static bool
find_factors(const pe_strategy *strategy, bool pure, table_factors *two)
{
	const uint64_t whole = PE_WHOLE_SHARE;
	const uint64_t times = pe_strategy_counts_columns(strategy) && strategy->columns > 1 ? 2 : 1;
	pairs		p = {.pure = pure};
	pe_u128		largest;

	*two = (table_factors) {times * whole, times * whole, times * whole, times * whole};
	if (pe_strategy_counts_columns(strategy))
		return true;
	if (strategy->blocks == NULL && strategy->columns > MOST_PLANNED)
	{
		*two = (table_factors) {2 * whole, 2 * whole, 2 * whole, 2 * whole};
		return true;
	}
	largest = look_at_pairs(strategy, &p);
	if (largest == 0)
		return bounded_factors(strategy, pure, two);
	two->one = two->without_sign = (uint64_t) larger(whole, ratio_up(p.apart, largest));
	two->with_sign = (uint64_t) larger(whole, ratio_up(p.opposite, largest));
	two->paired = 2 * whole;
	return true;
}

/* Weights of a table whose N_t is the root of K_t, which is returned; -1 if it is beyond what is served. */
static double
share_table(sharing *s, int first)
{
	table_sharing t = {.s = s, .first = first};
	double		root;

	if (!find_factors(s->part[first].strategy, s->pure, &t.two))
		return -1;
	if (s->by_keys)
		t.two = (table_factors) {
			larger(t.two.one, 2 * WHOLE), larger(t.two.with_sign, 2 * WHOLE), larger(t.two.without_sign, 2 * WHOLE),
			t.two.paired
		};
	root = root_of(s, find_theta(&t));
	for (int i = first; i < s->parts; i++)
		if (shares_table(&t, i))
			s->weight[i] *= t.apart > 0 ? root / t.apart : 0;
	return root;
}

/* The same of all parts of rows; their weights then add up to what their cost is. */
static bool
share_tables(sharing *s)
{
	double		roots = 0;
	double		sum = 0;

	for (int i = 0; i < s->parts; i++)
	{
		double		root = pe_plan_part_is_of_rows(&s->part[i]) && is_first(s->part, i) ? share_table(s, i) : 0;

		if (root < 0)
			return false;
		roots += root;
	}
	for (int i = 0; i < s->parts; i++)
		sum += pe_plan_part_is_of_rows(&s->part[i]) ? s->weight[i] : 0;
	for (int i = 0; i < s->parts; i++)
		if (pe_plan_part_is_of_rows(&s->part[i]) && sum > 0)
			s->weight[i] *= roots / sum;
	return true;
}

bool
pe_plan_share(pe_plan_part *part, int parts, const double *cost, const pe_plan_rules *rules,
			  pe_accounting accounting, double *least)
{
	sharing		s = {.part = part, .parts = parts, .pure = accounting == PE_PURE, .by_keys = rules->by_keys};
	double		sum = 0;
	bool		served;

	check_tables(part, parts);
	s.weight = pe_alloc((size_t) parts, sizeof(double));
	s.cost = pe_alloc((size_t) parts, sizeof(double));
	for (int i = 0; i < parts; i++)
		s.cost[pe_plan_part_is_second(part, i) ? first_of_pair(part, i) : i] += cost[i];
	for (int i = 0; i < parts; i++)
		s.weight[i] = root_of(&s, s.cost[i]);
	served = rules->neighbours != PE_SUBSTITUTE || share_tables(&s);
	for (int i = 0; i < parts; i++)
		sum += s.weight[i];
	/* rounded down, so that they add up to at most the whole */
	for (int i = 0; i < parts && served; i++)
		part[i].share = s.cost[i] > 0
			? (uint64_t) fmax(1, floor(s.weight[i] / sum * (double) (PE_WHOLE_SHARE - PE_MAX_SUMS))) : 0;
	for (int i = 0; i < parts; i++)
		if (pe_plan_part_is_second(part, i))
			part[i].share = part[first_of_pair(part, i)].share;
	*least = s.pure ? sum * sum * sum : sum * sum;
	pe_free(s.cost);
	pe_free(s.weight);
	return served;
}

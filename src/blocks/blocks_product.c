/*
 * blocks_product.c
 *	  Unions over several ordered attributes: residuals around centres.  See
 *	  blocks.h and residual.h.
 *
 * Terms t with weight^2 c_t name sets A_t of attributes, with factors W_ta; R
 * goes over all their subsets.  Block R takes the rest of each attribute in R.
 * With the split of each factor (residual.h) the weighted sum of variances is
 * sum_R v_R / share_R,
 *
 *		v_R = sum over t with R in A_t of c_t prod_{a in A_t \ R} outside_ta prod_{a in R} inside_ta,
 *
 * least for shares proportional to v_R^.5: (sum_R v_R^.5)^2.  PE_L1: inside has
 * Delta_1^2, shares go with cube roots.  No part of W'W between different R
 * matters, for the strategy has none.
 *
 * Lower bound: the same sum with the pinched parts of residual.h, of each
 * attribute for one y.  Along R the terms' parts are stacked; (tr V^.5)^2 is
 * superadditive, so their squares may be added up.
 *
 * An attribute that every term names needs no centre: it stands in every block.
 * One that is asked by identity and total alone has the centre 1/n, where
 * inside = (n - 1)^2 / n and outside = 1/n are the parts of the lower bound
 * too.
 */
#include "blocks/blocks_terms.h"

#include <math.h>
#include <string.h>

#include "base/linalg.h"
#include "blocks/marginals.h"
#include "blocks/residual.h"

/*
 * The norms of a block's matrices together stay below 2^46 times the root of its share, so that what the block is
 * drawn with stays below 2^96 also for a few rows in a unit; shares are taken to be a quarter of the mean at
 * least.  PE_L1: 2^40, and as much as columns are longer.
 */
#define ALL_BITS 46
#define ALL_BITS_L1 40
#define LEAST_SHARE_BITS 92		/* a share is at least D_b divided by so much */
#define MOST_BITS 24

/* Centres are looked for between 1/n and this mix. */
#define MOST_MIX 0.95
#define FIRST_MIX 0.15
#define NODES 5
#define PASSES 3

/* For the lower bound. */
#define LEAST_TILT (-0.4)
#define TILT 0.1
#define TILTS 6
#define GOLDEN_STEPS 16
#define SEARCH_GAP 1e-6			/* in the last round; ten times that in each before */

typedef enum role
{
	COUNTED = 1,				/* n I - 11' */
	SPLIT,						/* a centre */
	WHOLE,						/* every term names it */
	CONSTANT					/* one column */
} role;

/* An attribute that terms name. */
typedef struct side
{
	role		role;
	int			attribute;
	int			axis;			/* of the blocks */
	int			factors;		/* different ones */
	int32_t    *term;			/* of each: the first with it */
	double	   *weight;			/* of each, in the sum that is optimised; together 1 */
	double	  **gram;			/* of each, over the columns; not COUNTED */
	pe_residual residual;		/* SPLIT */
	int			like;			/* the first that is split alike */
	double		mix;
	double		from;			/* where it is looked for */
	double		to;
	double		node[NODES];
	pe_split	at[NODES];		/* of real numbers, inside as a logarithm */
	double	   *y[NODES];		/* the dual solutions */
	pe_split	split;			/* what the form is evaluated with */
	pe_split	bound;
} side;

typedef struct form
{
	const pe_strategy_problem *problem;
	pe_strategy_problem parts;	/* of one attribute */
	double		length;			/* of columns, in bits */
	pe_blocks  *blocks;
	int			sides;
	side		side[PE_MAX_ATTRIBUTES];
	int32_t    *factor;			/* factor[t * sides + s] = the number of the factor, or -1 */
	pe_attribute_set *set;		/* of each term: its sides that are COUNTED or SPLIT */
	pe_closure	closure;
	double	   *value;			/* v of each set */
} form;

/* ------------------------------------------------------------------
 * The form
 * ------------------------------------------------------------------
 */

static void
add_subsets(form *f, int32_t term, int number, pe_attribute_set set, double product)
{
	for (; number < f->sides; number++)
	{
		const side *s = &f->side[number];
		int32_t		factor = f->factor[(size_t) term * (size_t) f->sides + (size_t) number];

		if (factor < 0)
		{
			product *= s->split.absent;
			continue;
		}
		if (s->role == SPLIT || s->role == COUNTED)
			add_subsets(f, term, number + 1, set | pe_set_of(number), product * s->split.inside[factor]);
		product *= s->role == WHOLE ? s->split.inside[factor] : s->split.outside[factor];
	}
	f->value[pe_closure_find(&f->closure, set)] += product;
}

/* Fills the values; their least weighted sum. */
static double
evaluate(form *f, pe_norm norm)
{
	double		sum = 0;

	pe_poll();
	memset(f->value, 0, (size_t) f->closure.sets * sizeof(double));
	for (int32_t t = 0; t < f->problem->workload->terms; t++)
		add_subsets(f, t, 0, 0, f->problem->workload->term[t].weight * f->problem->workload->term[t].weight);
	for (int32_t k = 0; k < f->closure.sets; k++)
		sum += norm == PE_L1 ? cbrt(f->value[k]) : sqrt(f->value[k]);
	return norm == PE_L1 ? sum * sum * sum : sum * sum;
}

static pe_split
make_split(int factors)
{
	return (pe_split) {pe_la_vector((size_t) factors), pe_la_vector((size_t) factors), 1};
}

static void
free_split(pe_split *split)
{
	pe_free(split->inside);
	pe_free(split->outside);
}

static void
free_side(side *s)
{
	if (s->residual.n > 0)
		pe_residual_free(&s->residual);
	else
		for (int i = 0; s->gram != NULL && i < s->factors; i++)
			pe_free(s->gram[i]);
	if (s->residual.n == 0)
		pe_free(s->gram);
	for (int k = 0; k < NODES; k++)
	{
		free_split(&s->at[k]);
		pe_free(s->y[k]);
	}
	free_split(&s->split);
	free_split(&s->bound);
	pe_free(s->term);
	pe_free(s->weight);
}

static void
free_sets(form *f)
{
	if (f->closure.set != NULL)
		pe_closure_free(&f->closure);
	pe_free(f->set);
	pe_free(f->value);
	f->set = NULL;
	f->value = NULL;
}

static void
free_form(form *f)
{
	for (int i = 0; i < f->sides; i++)
		free_side(&f->side[i]);
	free_sets(f);
	pe_free(f->factor);
}

/* ------------------------------------------------------------------
 * Factors
 * ------------------------------------------------------------------
 */

/* The number of a term's factor among those of a side; a new one if there is none like it. */
static int32_t
number_of_factor(const pe_workload *workload, side *s, int32_t term)
{
	const pe_factor *factor = pe_term_on(&workload->term[term], s->attribute);

	if (factor == NULL)
		return -1;
	for (int i = 0; i < s->factors; i++)
		if (pe_factors_are_same(factor, pe_term_on(&workload->term[s->term[i]], s->attribute)))
			return i;
	s->term[s->factors] = term;
	return s->factors++;
}

/* What a factor weighs for its strategy: the weights of its terms, times what they ask of other attributes. */
static void
weigh_factors(const form *f, int number)
{
	const pe_workload *workload = f->problem->workload;
	const side *s = &f->side[number];
	double		sum = 0;

	for (int32_t t = 0; t < workload->terms; t++)
	{
		int32_t		i = f->factor[(size_t) t * (size_t) f->sides + (size_t) number];
		double		weight = workload->term[t].weight;

		if (i < 0)
			continue;
		weight *= weight * (double) workload->term[t].queries / pe_term_on(&workload->term[t], s->attribute)->queries;
		s->weight[i] += weight;
		sum += weight;
	}
	for (int i = 0; i < s->factors; i++)
		s->weight[i] /= sum;
}

static role
role_of(const form *f, int number)
{
	const pe_workload *workload = f->problem->workload;
	bool		everywhere = true;

	for (int32_t t = 0; t < workload->terms; t++)
		everywhere = everywhere && f->factor[(size_t) t * (size_t) f->sides + (size_t) number] >= 0;
	if (everywhere)
		return WHOLE;
	return pe_attribute_is_symmetric(workload, f->side[number].attribute) ? COUNTED : SPLIT;
}

/*
 * A side for each attribute with columns that can be distinguished, or that is
 * not asked by identity.
 */
static void
find_sides(form *f)
{
	const pe_workload *workload = f->problem->workload;
	size_t		terms = (size_t) workload->terms;

	for (int a = 0; a < f->blocks->attributes; a++)
		if (f->blocks->columns[a] > 1 || (f->blocks->columns[a] == 1 && !pe_attribute_is_symmetric(workload, a)))
			f->side[f->sides++] = (side) {.attribute = a, .term = pe_alloc(terms, sizeof(int32_t)),
				.weight = pe_la_vector(terms)};
	f->factor = pe_alloc(terms * (size_t) f->sides + 1, sizeof(int32_t));
	for (int32_t t = 0; t < workload->terms; t++)
		for (int s = 0; s < f->sides; s++)
			f->factor[(size_t) t * (size_t) f->sides + (size_t) s] = number_of_factor(workload, &f->side[s], t);
	for (int s = 0; s < f->sides; s++)
	{
		weigh_factors(f, s);
		f->side[s].role = role_of(f, s);
		f->side[s].like = s;
	}
}

/* The logarithm of how long each strategy's columns may be so that no block's norm is beyond what can be served. */
static double
find_length(const form *f, int32_t blocks)
{
	double		length = MOST_BITS;

	for (int32_t t = 0; t < f->problem->workload->terms; t++)
	{
		double		left = f->problem->norm == PE_L1 ? ALL_BITS_L1
			: ALL_BITS - f->problem->spare - log2(4.0 * blocks) / 2;
		int			solved = 0;

		for (int k = 0; k < f->sides; k++)
		{
			const side *s = &f->side[k];

			if (f->factor[(size_t) t * (size_t) f->sides + (size_t) k] < 0)
				continue;
			if (s->role == COUNTED)
				left -= log2(f->blocks->columns[s->attribute]) + (f->problem->norm == PE_L1);
			else if (!pe_attribute_is_symmetric(f->problem->workload, s->attribute))
				solved++;
		}
		length = solved > 0 ? fmin(length, left / solved) : length;
	}
	return length;
}

/* ------------------------------------------------------------------
 * Columns and Gram matrices
 * ------------------------------------------------------------------
 */

/* A part of the workload: one attribute, and of the side's factors the one with a number, or all (-1). */
static void
part_of_side(const form *f, const side *s, int number, pe_workload *part)
{
	double	   *weight = pe_la_vector((size_t) f->problem->workload->terms);

	for (int i = 0; i < s->factors; i++)
		if (number < 0 || number == i)
			weight[s->term[i]] = number < 0 ? sqrt(s->weight[i]) : 1;
	pe_workload_part(f->problem->workload, &s->attribute, 1, weight, part);
	pe_free(weight);
}

/* The class of each column. */
static int32_t *
classes_of_columns(const form *f, const side *s, const pe_classes *classes)
{
	int32_t    *class_of = pe_alloc((size_t) f->blocks->columns[s->attribute], sizeof(int32_t));

	for (int32_t c = 0; c < f->blocks->cells[s->attribute]; c++)
		if (f->blocks->column_of[s->attribute][c] >= 0)
			class_of[f->blocks->column_of[s->attribute][c]] = classes->class_of[0][c];
	return class_of;
}

/* G of a factor over the columns. */
static double *
gram_of_factor(const form *f, const side *s, int number, const pe_classes *classes, const int32_t *class_of)
{
	int32_t		n = f->blocks->columns[s->attribute];
	double	   *over_classes = pe_la_vector(pe_la_square(classes->cells));
	double	   *gram = pe_la_vector(pe_la_square(n));
	pe_workload part;

	part_of_side(f, s, number, &part);
	pe_workload_gram(&part, classes, false, over_classes);
	for (int32_t j = 0; j < n; j++)
		for (int32_t i = 0; i < n; i++)
			gram[(size_t) j * n + i] = over_classes[(size_t) class_of[j] * classes->cells + class_of[i]];
	pe_workload_basis_free(&part);
	pe_free(over_classes);
	return gram;
}

/* gram of all factors. */
static void
find_grams(const form *f, side *s)
{
	pe_workload part;
	const pe_workload *list = &part;
	pe_classes	classes;
	int32_t    *class_of;

	part_of_side(f, s, -1, &part);
	pe_classes_init(&list, 1, &classes);
	class_of = classes_of_columns(f, s, &classes);
	s->gram = pe_alloc((size_t) s->factors, sizeof(double *));
	for (int i = 0; i < s->factors; i++)
		s->gram[i] = gram_of_factor(f, s, i, &classes, class_of);
	pe_free(class_of);
	pe_classes_free(&classes);
	pe_workload_basis_free(&part);
}

/* The sum of the factors' G, with these weights; NULL: 1. */
static double *
sum_of_grams(const side *s, int32_t n, const double *weight)
{
	double	   *sum = pe_la_vector(pe_la_square(n));

	for (int i = 0; i < s->factors; i++)
		for (size_t k = 0; k < pe_la_square(n); k++)
			sum[k] += (weight != NULL ? weight[i] : 1) * s->gram[i][k];
	return sum;
}

/*
 * Columns with the same weights in all factors become one, those without weights too: the terms that sum over the
 * attribute count them.
 */
static void
merge_columns(const form *f, side *s)
{
	int32_t		before = f->blocks->columns[s->attribute];
	int32_t    *column_of = f->blocks->column_of[s->attribute];
	int32_t    *merged = pe_alloc((size_t) before, sizeof(int32_t));
	int32_t		n;
	double	   *v;

	find_grams(f, s);
	v = sum_of_grams(s, before, NULL);
	n = pe_optimum_reduce(v, before, merged);
	f->blocks->columns[s->attribute] = n;
	for (int32_t c = 0; c < before; c++)
		if (merged[c] < 0)
		{
			merged[c] = n;
			f->blocks->columns[s->attribute] = n + 1;
		}
	for (int32_t c = 0; c < f->blocks->cells[s->attribute]; c++)
		if (column_of[c] >= 0)
			column_of[c] = merged[column_of[c]];
	for (int i = 0; i < s->factors; i++)
		pe_free(s->gram[i]);
	pe_free(s->gram);
	pe_free(v);
	pe_free(merged);
	find_grams(f, s);
}

/* ------------------------------------------------------------------
 * Sides
 * ------------------------------------------------------------------
 */

static void
start_counted(const form *f, side *s)
{
	double		n = f->blocks->columns[s->attribute];
	double		noise = f->problem->norm == PE_L1 ? 4 * (n - 1) / n : 1;	/* the square of 2 (n - 1), for n (n - 1) */

	s->split.inside[0] = s->bound.inside[0] = (n - 1) * (n - 1) / n;
	s->split.outside[0] = s->bound.outside[0] = 1 / n;
	s->split.inside[0] *= noise;
	pe_axis_centred(&f->blocks->axis[f->blocks->axes++], s->attribute, f->blocks->columns[s->attribute]);
}

/* What one strategy for several factors is worth to each; false if it is beyond what can be measured. */
static bool
value_whole(const form *f, const pe_strategy *strategy, side *s)
{
	int32_t		n = strategy->columns;
	bool		fits = true;
	double	   *v;
	pe_optimum	optimum;

	find_grams(f, s);
	v = sum_of_grams(s, n, s->weight);
	pe_optimum_solve(v, n, SEARCH_GAP, &optimum);
	pe_scale_to_one(n, optimum.y);
	for (int i = 0; i < s->factors; i++)
	{
		s->split.inside[i] = pe_strategy_error(strategy, f->problem->norm, s->gram[i]);
		s->bound.inside[i] = pe_nuclear_square(n, s->gram[i], optimum.y);
		fits = fits && s->split.inside[i] >= 0;
	}
	pe_optimum_free(&optimum);
	pe_free(v);
	return fits;
}

/* The optimum of all factors together. */
static bool
start_whole(form *f, side *s)
{
	double	   *weight = pe_la_vector((size_t) f->problem->workload->terms);
	bool		made;

	for (int i = 0; i < s->factors; i++)
		weight[s->term[i]] = sqrt(s->weight[i]);
	made = pe_axis_optimal(&f->parts, s->attribute, weight, f->blocks);
	pe_free(weight);
	if (made)
	{
		const pe_strategy *strategy = &f->blocks->axis[f->blocks->axes - 1].matrix[0].strategy;

		s->split.inside[0] = strategy->objective;
		s->bound.inside[0] = strategy->lower_bound;
		if (s->factors > 1)
			made = value_whole(f, strategy, s);
	}
	return made;
}

static bool
splits_alike(const side *a, const side *b)
{
	size_t		bytes = pe_la_square(a->residual.n) * sizeof(double);

	if (b->role != SPLIT || a->factors != b->factors || a->residual.n != b->residual.n ||
		memcmp(a->residual.v, b->residual.v, bytes) != 0)
		return false;
	for (int i = 0; i < a->factors; i++)
		if (memcmp(a->gram[i], b->gram[i], bytes) != 0)
			return false;
	return true;
}

static void
start_split(form *f, int number)
{
	side	   *s = &f->side[number];
	int32_t		n;

	merge_columns(f, s);
	n = f->blocks->columns[s->attribute];
	if (n == 1)
	{
		s->role = CONSTANT;
		for (int i = 0; i < s->factors; i++)
			s->split.outside[i] = s->bound.outside[i] = s->gram[i][0];
		return;
	}
	pe_residual_init(n, s->factors, s->gram, sum_of_grams(s, n, s->weight), &s->residual);
	for (int k = 0; k < NODES; k++)
	{
		s->at[k] = make_split(s->factors);
		s->y[k] = pe_la_vector((size_t) n);
	}
	for (s->like = 0; !splits_alike(s, &f->side[s->like]);)
		s->like++;
	f->blocks->axis[f->blocks->axes++] = (pe_axis) {.attributes = 1, .attribute = {s->attribute},
		.cells = n, .matrices = 1,
		.matrix = pe_alloc(1, sizeof(pe_axis_matrix)), .centre = pe_alloc((size_t) n, sizeof(int32_t))};
}

/* False if one is too large. */
static bool
start_sides(form *f)
{
	for (int k = 0; k < f->sides; k++)
	{
		side	   *s = &f->side[k];

		s->split = make_split(s->factors);
		s->bound = make_split(s->factors);
		s->axis = f->blocks->axes;
		if (s->role == COUNTED)
			start_counted(f, s);
		else if (s->role == WHOLE && !start_whole(f, s))
			return false;
		else if (s->role == SPLIT && f->blocks->columns[s->attribute] > PE_OPTIMUM_CELLS)
			return false;
		else if (s->role == SPLIT)
			start_split(f, k);
	}
	return true;
}

/* The sets of the terms, and all their subsets; false if they are too many. */
static bool
find_sets(form *f)
{
	int32_t		terms = f->problem->workload->terms;

	f->set = pe_alloc((size_t) terms, sizeof(*f->set));
	for (int32_t t = 0; t < terms; t++)
		for (int k = 0; k < f->sides; k++)
			if ((f->side[k].role == SPLIT || f->side[k].role == COUNTED) &&
				f->factor[(size_t) t * (size_t) f->sides + (size_t) k] >= 0)
				f->set[t] |= pe_set_of(k);
	if (!pe_closure_init(f->set, terms, PE_MAX_BLOCKS, &f->closure))
		return false;
	f->value = pe_la_vector((size_t) f->closure.sets);
	return true;
}

/* ------------------------------------------------------------------
 * Centres
 * ------------------------------------------------------------------
 */

/* The splits at the nodes of Chebyshev between two mixes. */
static void
tabulate(side *s, double from, double to, double gap)
{
	double	   *d = pe_la_vector((size_t) s->residual.n);

	for (int k = 0; k < NODES; k++)
	{
		s->node[k] = (from + to) / 2 - (to - from) / 2 * cos(acos(-1) * (2 * k + 1) / (2 * NODES));
		pe_residual_centre(&s->residual, s->node[k], d);
		pe_residual_outside(&s->residual, d, s->at[k].outside);
		pe_residual_inside(&s->residual, d, gap, s->at[k].inside, s->y[k]);
		for (int i = 0; i < s->factors; i++)
			s->at[k].inside[i] = log(s->at[k].inside[i]);
	}
	pe_free(d);
}

/* The split at a mix, by the polynomial through the nodes; outside is one of the second degree. */
static void
interpolate(const side *s, double mix, pe_split *split)
{
	memset(split->inside, 0, (size_t) s->factors * sizeof(double));
	memset(split->outside, 0, (size_t) s->factors * sizeof(double));
	for (int k = 0; k < NODES; k++)
	{
		double		weight = 1;

		for (int l = 0; l < NODES; l++)
			weight *= l != k ? (mix - s->node[l]) / (s->node[k] - s->node[l]) : 1;
		for (int i = 0; i < s->factors; i++)
		{
			split->inside[i] += weight * s->at[k].inside[i];
			split->outside[i] += weight * s->at[k].outside[i];
		}
	}
	for (int i = 0; i < s->factors; i++)
	{
		split->inside[i] = exp(split->inside[i]);
		split->outside[i] = fmax(split->outside[i], 0);
	}
}

/* The objective where a side and all like it have a mix. */
static double
evaluate_mix(form *f, int like, double mix)
{
	for (int k = like; k < f->sides; k++)
		if (f->side[k].role == SPLIT && f->side[k].like == like)
		{
			f->side[k].mix = mix;
			interpolate(&f->side[like], mix, &f->side[k].split);
		}
	return evaluate(f, PE_L2);
}

/* Golden sections; leaves the best mix there. */
static void
search_mix(form *f, int like, double from, double to)
{
	const double ratio = (sqrt(5) - 1) / 2;
	double		left = to - ratio * (to - from);
	double		right = from + ratio * (to - from);
	double		at_left = evaluate_mix(f, like, left);
	double		at_right = evaluate_mix(f, like, right);

	for (int i = 0; i < GOLDEN_STEPS; i++)
		if (at_left < at_right)
		{
			to = right;
			right = left;
			at_right = at_left;
			left = to - ratio * (to - from);
			at_left = evaluate_mix(f, like, left);
		}
		else
		{
			from = left;
			left = right;
			at_left = at_right;
			right = from + ratio * (to - from);
			at_right = evaluate_mix(f, like, right);
		}
	(void) evaluate_mix(f, like, at_left < at_right ? left : right);
}

static bool
leads(const form *f, int number)
{
	return f->side[number].role == SPLIT && f->side[number].like == number;
}

/* Prepares a search so near to the mixes that there are; the first, in all of their range. */
static void
prepare_search(form *f, bool first, double near, double gap)
{
	for (int k = 0; k < f->sides; k++)
	{
		side	   *s = &f->side[k];

		s->from = first ? 0 : fmax(s->mix - near, 0);
		s->to = first ? MOST_MIX : fmin(s->mix + near, MOST_MIX);
		if (leads(f, k))
			tabulate(s, s->from, s->to, gap);
		if (first)
			s->mix = FIRST_MIX;
		if (s->role == SPLIT)
			interpolate(&f->side[s->like], s->mix, &s->split);
	}
}

/* One centre after the other, some times; then the same from nearer nodes. */
static void
search_centres(form *f)
{
	static const double near[] = {1, 0.08, 0.02};
	static const double gap[] = {100 * SEARCH_GAP, 10 * SEARCH_GAP, SEARCH_GAP};

	for (int round = 0; round < 3; round++)
	{
		prepare_search(f, round == 0, near[round], gap[round]);
		for (int pass = 0; pass < PASSES; pass++)
			for (int k = 0; k < f->sides; k++)
				if (leads(f, k))
					search_mix(f, k, f->side[k].from, f->side[k].to);
	}
}

/* ------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------
 */

/* A copy by way of bytes. */
static void
copy_strategy(const pe_strategy *from, pe_strategy *to)
{
	size_t		size = pe_strategy_size(from);
	char	   *bytes = pe_alloc(size, 1);

	pe_strategy_write(from, bytes);
	if (pe_strategy_read(to, bytes, size) != PE_STRATEGY_OK)
		pe_bug("a strategy that cannot be copied");
	pe_free(bytes);
}

/* The integers of an axis with a centre. */
static bool
finish_split(form *f, side *s)
{
	pe_axis    *axis = &f->blocks->axis[s->axis];
	int32_t		n = s->residual.n;
	double	   *d = pe_la_vector((size_t) n);
	bool		made;

	pe_residual_centre(&s->residual, s->mix, d);
	axis->denominator = pe_residual_integers(d, n, axis->centre);
	made = pe_residual_strategy(&s->residual, &f->parts, f->length, axis->centre, axis->denominator,
								&axis->matrix[0].strategy, &s->split);
	pe_free(d);
	return made;
}

/* The same as an axis that is alike. */
static void
copy_split(form *f, const side *from, side *to)
{
	pe_axis    *axis = &f->blocks->axis[to->axis];
	const pe_axis *like = &f->blocks->axis[from->axis];
	size_t		factors = (size_t) to->factors * sizeof(double);

	axis->denominator = like->denominator;
	memcpy(axis->centre, like->centre, (size_t) like->cells * sizeof(int32_t));
	copy_strategy(&like->matrix[0].strategy, &axis->matrix[0].strategy);
	memcpy(to->split.inside, from->split.inside, factors);
	memcpy(to->split.outside, from->split.outside, factors);
}

static bool
finish_sides(form *f)
{
	for (int k = 0; k < f->sides; k++)
	{
		side	   *s = &f->side[k];

		if (s->role == SPLIT && s->like == k && !finish_split(f, s))
			return false;
		if (s->role == SPLIT && s->like != k)
			copy_split(f, &f->side[s->like], s);
	}
	return true;
}

static void
scale_shares(double *share, int32_t blocks)
{
	double		sum = 0;

	for (int32_t b = 0; b < blocks; b++)
		sum += share[b];
	for (int32_t b = 0; b < blocks; b++)
		share[b] /= sum;
}

/* The best shares; a block that is hardly asked for has as much as it takes to draw it. */
static void
share_blocks(form *f)
{
	pe_blocks  *blocks = f->blocks;
	bool		l1 = f->problem->norm == PE_L1;
	double	   *share = pe_la_vector((size_t) f->closure.sets);

	(void) evaluate(f, f->problem->norm);
	for (int32_t b = 0; b < blocks->blocks; b++)
		share[b] = l1 ? cbrt(f->value[b]) : sqrt(f->value[b]);
	scale_shares(share, blocks->blocks);
	for (int32_t b = 0; b < blocks->blocks && !l1; b++)
		share[b] = fmax(share[b], ldexp((double) pe_blocks_largest(blocks, b), -LEAST_SHARE_BITS));
	scale_shares(share, blocks->blocks);
	pe_shares_round(share, blocks->blocks, blocks->share);
	pe_free(share);
}

/* A block for each set; false if they are too large. */
static bool
make_blocks(form *f)
{
	pe_blocks  *blocks = f->blocks;

	blocks->blocks = f->closure.sets;
	blocks->share = pe_alloc((size_t) blocks->blocks, sizeof(*blocks->share));
	blocks->choice = pe_alloc((size_t) blocks->blocks * (size_t) blocks->axes + 1, sizeof(*blocks->choice));
	for (int32_t b = 0; b < blocks->blocks; b++)
		for (int k = 0; k < f->sides; k++)
			if (f->side[k].role == SPLIT || f->side[k].role == COUNTED)
				blocks->choice[(size_t) b * (size_t) blocks->axes + (size_t) f->side[k].axis] =
					pe_set_has(f->closure.set[b], k) ? 0 : -1;
	return pe_blocks_prepare(blocks);
}

/* Attributes without an axis have no columns. */
static void
drop_columns(pe_blocks *blocks)
{
	uint32_t	used = 0;

	for (int a = 0; a < blocks->axes; a++)
		used |= UINT32_C(1) << blocks->axis[a].attribute[0];
	for (int a = 0; a < blocks->attributes; a++)
		if ((used >> a & 1) == 0)
		{
			pe_free(blocks->column_of[a]);
			blocks->column_of[a] = NULL;
			blocks->columns[a] = 0;
		}
}

/* ------------------------------------------------------------------
 * The lower bound
 * ------------------------------------------------------------------
 */

/* Gives a side and all like it a split. */
static void
set_split(form *f, int like, const pe_split *split)
{
	for (int k = like; k < f->sides; k++)
	{
		side	   *s = &f->side[k];

		if (s->role != SPLIT || s->like != like)
			continue;
		memcpy(s->split.inside, split->inside, (size_t) s->factors * sizeof(double));
		memcpy(s->split.outside, split->outside, (size_t) s->factors * sizeof(double));
		s->split.absent = split->absent;
	}
}

/* Raises the bound by the y and the tilt of a side that are best for it; candidates of all of them. */
static double
improve_bound(form *f, int like, pe_split *candidate, double bound)
{
	side	   *s = &f->side[like];

	for (int k = 0; k < NODES * TILTS; k++)
	{
		double		value;

		set_split(f, like, &candidate[k]);
		value = evaluate(f, PE_L2);
		if (value > bound)
		{
			pe_split	swap = s->bound;

			bound = value;
			s->bound = candidate[k];
			candidate[k] = swap;
		}
	}
	set_split(f, like, &s->bound);
	return bound;
}

static pe_split *
make_candidates(const side *s)
{
	pe_split   *candidate = pe_alloc(NODES * TILTS, sizeof(*candidate));

	for (int k = 0; k < NODES * TILTS; k++)
	{
		candidate[k] = make_split(s->factors);
		pe_residual_pinch(&s->residual, s->y[k / TILTS], LEAST_TILT + TILT * (k % TILTS), &candidate[k]);
	}
	return candidate;
}

/* The splits of a bound in the place of the others, which are lost. */
static void
start_bound(form *f)
{
	for (int k = 0; k < f->sides; k++)
	{
		side	   *s = &f->side[k];
		pe_split	split = s->split;

		if (leads(f, k))
			pe_residual_pinch(&s->residual, s->y[NODES / 2], 0, &s->bound);
		if (s->role == SPLIT)
		{
			set_split(f, s->like, &f->side[s->like].bound);
			continue;
		}
		s->split = s->bound;
		s->bound = split;
	}
}

/* What is evaluated with the splits of bounds, the best of some. */
static double
find_bound(form *f)
{
	pe_split   *candidate[PE_MAX_ATTRIBUTES];
	double		bound;

	start_bound(f);
	bound = evaluate(f, PE_L2);
	for (int k = 0; k < f->sides; k++)
		candidate[k] = leads(f, k) ? make_candidates(&f->side[k]) : NULL;
	for (int pass = 0; pass < PASSES; pass++)
		for (int k = 0; k < f->sides; k++)
			if (candidate[k] != NULL)
				bound = improve_bound(f, k, candidate[k], bound);
	for (int k = 0; k < f->sides; k++)
	{
		for (int i = 0; candidate[k] != NULL && i < NODES * TILTS; i++)
			free_split(&candidate[k][i]);
		pe_free(candidate[k]);
	}
	return bound * (1 - 1e-12);
}

static bool
make_form(form *f, double *lower_bound)
{
	find_sides(f);
	f->parts = *f->problem;
	f->parts.objective = PE_SUM;
	f->blocks->axis = pe_alloc(PE_MAX_ATTRIBUTES, sizeof(*f->blocks->axis));
	if (!find_sets(f))
		return false;
	f->length = find_length(f, f->closure.sets);
	f->parts.bits = (int) f->length;
	free_sets(f);
	/* an attribute may turn out to have one column: then there are fewer sets */
	if (f->parts.bits < 2 || !start_sides(f) || !find_sets(f))
		return false;
	search_centres(f);
	if (!finish_sides(f))
		return false;
	drop_columns(f->blocks);
	if (!make_blocks(f))
		return false;
	share_blocks(f);
	*lower_bound = f->problem->norm == PE_L2 && f->problem->objective == PE_SUM ? find_bound(f) : 0;
	return true;
}

bool
pe_blocks_product(const pe_strategy_problem *problem, pe_blocks *blocks, double *lower_bound)
{
	form		f = {.problem = problem, .blocks = blocks};
	bool		made;

	if (problem->workload->terms < 2 || !pe_blocks_begin(problem, blocks))
		return false;
	blocks->kind = PE_BLOCKS_PRODUCT;
	made = make_form(&f, lower_bound);
	free_form(&f);
	if (!made)
		pe_blocks_free(blocks);
	return made;
}

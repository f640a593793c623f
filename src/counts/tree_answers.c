/*
 * tree_answers.c
 *	  Answers from the tables that a tree measured.  See tree_answers.h.
 */
#include "counts/tree_answers.h"

#include <math.h>

/* A table, of one attribute (second is -1) or of two; its counts are by classes. */
typedef struct counted
{
	int			part;
	int			attribute[2];
	int32_t		classes[2];
	const int64_t *count;
} counted;

/* The weights of a factor's queries over the classes of a table's attribute: NaN where cells of a class differ. */
typedef struct weighing
{
	int32_t		queries;
	double	   *weight;			/* queries x classes */
	int64_t		stride;
} weighing;

/* The factor of a term on an attribute, NULL: it sums over it. */
static const pe_factor *
factor_on(const pe_term *term, int attribute)
{
	for (int f = 0; f < term->factors; f++)
		if (term->factor[f].attribute == attribute && term->factor[f].constructor != PE_TOTAL)
			return &term->factor[f];
	return NULL;
}

static bool
find_edge(const pe_tree_released *t, int a, int b, counted *found)
{
	for (int e = 0; e < t->attributes - 1; e++)
		if (t->edge[e][0] == a && t->edge[e][1] == b)
		{
			*found = (counted) {
				PE_TREE_PAIRS, {a, b}, {t->classing[a].classes, t->classing[b].classes}, t->pair[e]
			};
			return true;
		}
	return false;
}

static counted
table_of_one(const pe_tree_released *t, int a)
{
	return (counted) {PE_TREE_ONES, {a, -1}, {t->classing[a].cells, 1}, t->one[a]};
}

/* The table that a term is answered from; false if there is none. */
static bool
find_table(const pe_tree_released *t, const pe_term *term, counted *found)
{
	int			named[PE_MAX_ATTRIBUTES];
	int			names = 0;
	int			smallest = 0;

	if (factor_on(term, PE_ALL_CELLS) != NULL)
		return false;
	for (int a = 0; a < t->attributes; a++)
	{
		if (factor_on(term, a) != NULL)
			named[names++] = a;
		if (t->classing[a].cells < t->classing[smallest].cells)
			smallest = a;
	}
	if (names == 2)
		return find_edge(t, named[0], named[1], found);
	*found = table_of_one(t, names == 1 ? named[0] : smallest);
	return names < 2;
}

/* The table of one attribute has each cell as a class of its own. */
static int32_t
class_of(const pe_tree_released *t, const counted *c, int side, int32_t cell)
{
	return c->part == PE_TREE_ONES ? cell : t->classing[c->attribute[side]].class_of[cell];
}

static weighing
weigh(const pe_tree_released *t, const counted *c, int side, const pe_term *term)
{
	int			a = c->attribute[side];
	const pe_factor *factor = a < 0 ? NULL : factor_on(term, a);
	int32_t		classes = c->classes[side];
	weighing	w = {factor == NULL ? 1 : factor->queries, NULL, factor == NULL ? 0 : factor->stride};
	bool	   *seen = pe_alloc((size_t) w.queries * classes, sizeof(bool));

	w.weight = pe_alloc((size_t) w.queries * classes, sizeof(double));
	if (factor == NULL)
		for (int32_t i = 0; i < classes; i++)
			w.weight[i] = 1;
	for (int32_t q = 0; factor != NULL && q < w.queries; q++)
		for (int32_t cell = 0; cell < t->classing[a].cells; cell++)
		{
			size_t		at = (size_t) q * classes + class_of(t, c, side, cell);
			/* what is beyond the cells that a factor runs over has no weight */
			int32_t		entry = cell < factor->cells ? pe_factor_entry(factor, q, cell) : 0;

			w.weight[at] = seen[at] && w.weight[at] != entry ? NAN : entry;
			seen[at] = true;
		}
	pe_free(seen);
	return w;
}

static pe_tree_answer
answer_query(const counted *c, const double *first, const double *second)
{
	pe_tree_answer answer = {0, 0, 0, c->part};

	for (int32_t i = 0; i < c->classes[0]; i++)
		for (int32_t j = 0; first[i] != 0 && j < c->classes[1]; j++)
		{
			double		weight = first[i] * second[j];

			answer.estimate += weight * (double) c->count[(size_t) i * c->classes[1] + j];
			answer.squares += weight * weight;
			answer.weights += fabs(weight);
		}
	if (isnan(answer.estimate))
		answer.squares = answer.weights = NAN;
	return answer;
}

static void
answer_term(const pe_tree_released *t, const counted *c, const pe_term *term, pe_tree_answer *answer)
{
	weighing	first = weigh(t, c, 0, term);
	weighing	second = weigh(t, c, 1, term);

	for (int32_t i = 0; i < first.queries; i++)
	{
		pe_poll();
		for (int32_t j = 0; j < second.queries; j++)
			answer[term->first + i * first.stride + j * second.stride] =
				answer_query(c, first.weight + (size_t) i * c->classes[0], second.weight + (size_t) j * c->classes[1]);
	}
	pe_free(first.weight);
	pe_free(second.weight);
}

int32_t
pe_tree_answers(const pe_tree_released *tables, const pe_workload *workload, pe_tree_answer *answer)
{
	for (int32_t i = 0; i < workload->terms; i++)
	{
		counted		c;

		if (!find_table(tables, &workload->term[i], &c))
			return i;
		answer_term(tables, &c, &workload->term[i], answer);
	}
	return -1;
}

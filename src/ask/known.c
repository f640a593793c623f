/*
 * known.c
 *	  What stored releases know of a request.  See known.h.
 *
 * The variance of an aggregate grows with that of each of its sums
 * (counts/aggregate.h): where every sum follows from a release with at most the
 * noise that a new measurement would have, no standard error is larger, for any
 * rows.
 *
 * A sum may follow from two parts, whose noise is independent: what is above or
 * below of a number (domain/sums.h) from its centred sum and its count, and a
 * count from what is above and below.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ask/ask_counts.h"
#include "ask/ask_predicate.h"
#include "ask/atoms.h"
#include "ask/known.h"
#include "ask/rest.h"
#include "ask/suppress.h"
#include "blocks/blocks.h"
#include "ledger/budget.h"
#include "ledger/formats.h"
#include "ledger/standby.h"
#include "noise/interval.h"
#include "server/access.h"
#include "server/settings.h"

/* So many of the newest releases may serve; of them the dearest are looked at, for sums so many. */
#define MOST_RELEASES "1000"
#define MOST_OF_SUMS 20

/* Counts of more queries are not looked for: their errors are not computed one by one. */
#define MOST_QUERIES 10000000

/* Releases are looked at until the cubes of their numbers of columns add up to this: about a second. */
#define MOST_WORK 5e9

/* Noises of the same size are the same up to rounding. */
#define ROUNDING 1e-9

/* ------------------------------------------------------------------
 * Which rows
 * ------------------------------------------------------------------
 */

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static int
add_dropping(const pe_column *columns, int count, const pe_complete *complete, char **name, int names)
{
	for (int i = 0; i < count; i++)
		if ((columns[i].domain.outside == PE_OUTSIDE_DROP || columns[i].domain.nulls == PE_NULLS_DROP) &&
			!pe_is_complete(complete, columns[i].name))
			name[names++] = columns[i].name;
	return names;
}

/* Those that may drop rows, each once, in an order of their own. */
static void
append_dropping(StringInfo text, const pe_column *columns, int attributes, const pe_column *named, int count,
				const pe_complete *complete)
{
	char	   *name[2 * PE_MAX_ATTRIBUTES];
	int			names = add_dropping(columns, attributes, complete, name, 0);

	names = add_dropping(named, count, complete, name, names);
	qsort(name, names, sizeof(*name), compare_names);
	for (int i = 0; i < names; i++)
		if (i == 0 || strcmp(name[i], name[i - 1]) != 0)
			escape_json(text, name[i]);
}

/* Attributes that were altered: which rows are dropped or selected may be others than before. */
static void
append_declared(StringInfo text, const pe_column *columns, int attributes)
{
	for (int i = 0; i < attributes; i++)
		if (columns[i].declared > 1)
			appendStringInfo(text, " %s %d", quote_identifier(columns[i].name), columns[i].declared);
}

char *
pe_rows_text(pe_dataset *dataset, int version, const pe_column *columns, int attributes, const char *predicate,
			 const pe_complete *complete)
{
	StringInfoData text;
	pe_column  *named = palloc0(PE_MAX_ATTRIBUTES * sizeof(*named));
	int			count = 0;

	if (predicate != NULL)
		pe_predicate_argument(dataset, predicate, named, &count);
	initStringInfo(&text);
	appendStringInfo(&text, "version %d", version);
	if (dataset->unit != NULL)
	{
		appendStringInfo(&text, " rows %d of", dataset->max_rows);
		for (int i = 0; i < attributes; i++)
			escape_json(&text, pe_column_text(&columns[i]));
	}
	appendStringInfoString(&text, " drop ");
	append_dropping(&text, columns, attributes, named, count, complete);
	appendStringInfoString(&text, " where ");
	appendStringInfoString(&text, predicate != NULL ? predicate : "");
	append_declared(&text, named, count);
	return text.data;
}

/* ------------------------------------------------------------------
 * Attributes together
 * ------------------------------------------------------------------
 */

void
pe_joint_add(pe_joint *joint, const pe_column *columns, int attributes, int *place)
{
	if (joint->columns == NULL)
		joint->columns = palloc0(PE_MAX_ATTRIBUTES * sizeof(*joint->columns));
	for (int i = 0; i < attributes; i++)
	{
		int			at = 0;

		while (at < joint->attributes && strcmp(joint->columns[at].name, columns[i].name) != 0)
			at++;
		if (at < joint->attributes && joint->columns[at].declared != columns[i].declared)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("attribute \"%s\" was altered between the releases", columns[i].name),
					 errdetail("Its cells are others in one than in the other.")));
		pe_check_attributes(at + 1);
		if (at == joint->attributes)
			joint->columns[joint->attributes++] = columns[i];
		place[i] = at;
	}
}

void
pe_joint_close(pe_joint *joint, pe_dataset *dataset, const char *predicate)
{
	const char *names[PE_MAX_ATTRIBUTES];

	for (int a = 0; a < joint->attributes; a++)
		names[a] = joint->columns[a].name;
	joint->domain = pe_columns_domain(joint->columns, joint->attributes, 0);
	pe_columns_check_product(joint->domain);
	pe_shape_of_domain(joint->domain, names, &joint->shape);
	joint->possible = pe_predicate_cells_of(dataset, predicate, joint->columns, joint->attributes);
}

/* ------------------------------------------------------------------
 * A release and a request together
 * ------------------------------------------------------------------
 */

/* The most entries of the matrix that a factor becomes over finer cells. */
#define MOST_FINER_ENTRIES 1000000

/* The declared column of what was measured that a column rolls up; NULL: none. */
static const pe_column *
finer_column(const pe_column *rolled, const pe_over_columns *measured)
{
	for (int i = 0; i < measured->attributes && rolled->roll_up != NULL; i++)
		if (strcmp(measured->columns[i].name, rolled->name) == 0 && measured->columns[i].roll_up == NULL)
			return &measured->columns[i];
	return NULL;
}

/* A factor over classes, over the declared cells that they are made of; false if that is too large. */
static bool
refine_factor(pe_factor *factor, const pe_attribute *rolled)
{
	int32_t		cells = pe_attribute_declared_cells(rolled);
	int32_t    *entry;

	if ((int64) factor->queries * cells > MOST_FINER_ENTRIES)
		return false;
	entry = palloc((size_t) factor->queries * cells * sizeof(*entry));
	for (int32 q = 0; q < factor->queries; q++)
		for (int32 c = 0; c < cells; c++)
			entry[(size_t) q * cells + c] = pe_factor_entry(factor, q, rolled->class_of[c]);
	*factor = (pe_factor) {
		.constructor = PE_MATRIX, .attribute = factor->attribute, .cells = cells, .queries = factor->queries,
		.entry = entry, .stride = factor->stride, .position = factor->position
	};
	return true;
}

static bool
refine_term(pe_term *term, int attribute, const pe_attribute *rolled)
{
	pe_factor  *factor = palloc(term->factors * sizeof(*factor));

	memcpy(factor, term->factor, term->factors * sizeof(*factor));
	term->factor = factor;
	for (int f = 0; f < term->factors; f++)
		if (factor[f].attribute == PE_ALL_CELLS ||
			(factor[f].attribute == attribute && !refine_factor(&factor[f], rolled)))
			return false;
	return true;
}

static bool
refine_workload(pe_workload *workload, int attribute, const pe_attribute *rolled)
{
	pe_term    *term = palloc(workload->terms * sizeof(*term));

	memcpy(term, workload->term, workload->terms * sizeof(*term));
	workload->term = term;
	for (int32 t = 0; t < workload->terms; t++)
		if (!refine_term(&term[t], attribute, rolled))
			return false;
	return true;
}

/*
 * What is asked of classes of an attribute, over its declared cells where these were measured: the month follows from
 * its days.  A roll-up drops no row, and so the rows are the same (unless a unit's rows are cut, by other cells).
 */
static bool
refine(const pe_over_columns *asked, const pe_over_columns *measured, pe_over_columns *finer)
{
	pe_column  *columns = palloc((asked->attributes + 1) * sizeof(*columns));
	pe_workload *workload = palloc(sizeof(*workload));

	memcpy(columns, asked->columns, asked->attributes * sizeof(*columns));
	*workload = *asked->workload;
	*finer = (pe_over_columns) {columns, asked->attributes, workload};
	for (int i = 0; i < asked->attributes; i++)
	{
		const pe_column *declared = finer_column(&columns[i], measured);

		if (declared == NULL)
			continue;
		if (!refine_workload(workload, i, &columns[i].domain))
			return false;
		columns[i] = *declared;
	}
	return true;
}

/* Two of the same name are the same cells. */
static bool
are_alike(const pe_over_columns *one, const pe_over_columns *other)
{
	for (int i = 0; i < one->attributes; i++)
		for (int j = 0; j < other->attributes; j++)
			if (strcmp(one->columns[i].name, other->columns[j].name) == 0 &&
				strcmp(pe_column_text(&one->columns[i]), pe_column_text(&other->columns[j])) != 0)
				return false;
	return true;
}

/* Those of what was measured stand in front: so its classes keep their order. */
bool
pe_known_join(pe_known_pair *p, pe_dataset *dataset, const char *predicate, const pe_over_columns *measured,
			  const pe_strategy *strategy, const int *lattice, const pe_over_columns *asked)
{
	int			of_measured[PE_MAX_ATTRIBUTES];
	int			of_asked[PE_MAX_ATTRIBUTES];
	pe_over_columns finer;

	p->undetermined = -1;
	if (!refine(asked, measured, &finer) || !are_alike(measured, &finer))
		return false;
	pe_joint_add(&p->joint, measured->columns, measured->attributes, of_measured);
	pe_joint_add(&p->joint, finer.columns, finer.attributes, of_asked);
	if (strategy->blocks == NULL)
		pe_joint_close(&p->joint, dataset, predicate);
	/* blocks are over these alone, and know which cells the predicate leaves */
	else if (p->joint.attributes == measured->attributes)
		p->joint.shape = measured->workload->shape;
	else
		return false;
	if (!pe_workload_over(measured->workload, &p->joint.shape, of_measured, &p->measured_over) ||
		!pe_workload_over(finer.workload, &p->joint.shape, of_asked, &p->asked_over))
		return false;
	p->measured = (pe_measured) {&p->measured_over, strategy, p->joint.possible, lattice};
	return true;
}

double *
pe_known_variances(pe_known_pair *p)
{
	double	   *variance = NULL;
	pe_reconstruction reconstruction;

	if (!pe_reconstruction_init(&p->measured, &p->asked_over, &reconstruction))
		return NULL;
	pe_check_memory(pe_reconstruction_memory(p->measured.strategy, &p->asked_over, &reconstruction.classes));
	p->undetermined = pe_reconstruction_undetermined(&reconstruction);
	if (p->undetermined < 0)
	{
		variance = pe_alloc(p->asked_over.queries, sizeof(double));
		pe_reconstruction_variance(&reconstruction, variance);
	}
	pe_reconstruction_free(&reconstruction);
	return variance;
}

/* ------------------------------------------------------------------
 * The same rows
 * ------------------------------------------------------------------
 */

static int
columns_read(const pe_aggregation *g)
{
	return g->groups + g->quantiles + g->watched + g->needed.numbers;
}

/*
 * Which rows count: attributes of the groups and of the predicate drop rows from
 * all sums.  Where rows of units are cut, the choice depends on what else is
 * read too, which drops none: cells of attributes, and values of numbers.
 */
char *
pe_aggregation_rows_text(const pe_aggregation *g)
{
	pe_dataset *dataset = g->asked.dataset;

	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, pe_rows_text(dataset, g->stored ? g->version : dataset->version, g->columns,
											   g->groups, g->predicate, &g->complete));
	for (int i = g->groups; dataset->unit != NULL && i < columns_read(g); i++)
		appendStringInfo(&text, " %s of %s", i < columns_read(g) - g->needed.numbers ? "cells" : "values",
						 g->columns[i].computed ? g->columns[i].name
						 : quote_identifier(pe_column_text(&g->columns[i])));
	return text.data;
}

/* Whether what both read is declared alike. */
static bool
declared_alike(const pe_aggregation *g, const pe_aggregation *of)
{
	for (int i = 0; i < columns_read(g); i++)
		for (int j = 0; j < columns_read(of); j++)
			if (strcmp(g->columns[i].name, of->columns[j].name) == 0 &&
				g->columns[i].declared != of->columns[j].declared)
				return false;
	return true;
}

/* ------------------------------------------------------------------
 * The same sums
 * ------------------------------------------------------------------
 */

/* Whether two sums are of the same number, or of none. */
static bool
same_number(const pe_aggregation *g, int n, const pe_aggregation *of, int m)
{
	const pe_column *column = g->number_column[n];
	const pe_number *number = &g->needed.number[n];
	const pe_number *other = &of->needed.number[m];

	/* formulas have the scales of their columns */
	return strcmp(column->name, of->number_column[m]->name) == 0 &&
		column->computed == of->number_column[m]->computed &&
		(!column->computed || (number->lower == other->lower && number->upper == other->upper &&
							   number->most == other->most));
}

/* The number of a release whose rows a condition of the request is true for, or -1: x IS NOT NULL of a count(x). */
static int
number_of_condition(const pe_aggregation *g, int condition, const pe_aggregation *of)
{
	for (int i = 0; i < g->aggregates; i++)
		for (int m = 0; m < of->needed.numbers && g->aggregate[i].condition == condition; m++)
			if (g->aggregate[i].kind == PE_AGG_COUNT && g->aggregate[i].where == NULL &&
				!of->number_column[m]->computed &&
				strcmp(g->aggregate[i].column[0], of->number_column[m]->name) == 0 &&
				pe_aggregation_is_there_with_cell(of->number_column[m]))
				return m;
	return -1;
}

/* Bits that one sum needs, in the numbering of the other; false if the other has not all of them. */
static bool
translate_needs(const pe_aggregation *g, uint64 needs, const pe_aggregation *of, uint64 *translated)
{
	*translated = 0;
	for (int n = 0; n < g->needed.numbers; n++)
		for (int m = 0; m < of->needed.numbers && (needs & PE_HAS_NUMBER(n)) != 0; m++)
			if (same_number(g, n, of, m))
			{
				*translated |= PE_HAS_NUMBER(m);
				needs &= ~PE_HAS_NUMBER(n);
			}
	for (int c = 0; c < g->conditions.count; c++)
		for (int d = 0; d < of->conditions.count && (needs & PE_HAS_CONDITION(c)) != 0; d++)
			if (strcmp(g->conditions.text[c], of->conditions.text[d]) == 0)
			{
				*translated |= PE_HAS_CONDITION(d);
				needs &= ~PE_HAS_CONDITION(c);
			}
	for (int c = 0; c < g->conditions.count; c++)
	{
		int			m = (needs & PE_HAS_CONDITION(c)) != 0 ? number_of_condition(g, c, of) : -1;

		if (m < 0)
			continue;
		*translated |= PE_HAS_NUMBER(m) & ~(uint64) of->never_null;
		needs &= ~PE_HAS_CONDITION(c);
	}
	for (int a = g->groups; a < g->groups + g->quantiles; a++)
		for (int b = of->groups; b < of->groups + of->quantiles && (needs & PE_HAS_ATTRIBUTE(a)) != 0; b++)
			if (strcmp(g->columns[a].name, of->columns[b].name) == 0)
			{
				*translated |= PE_HAS_ATTRIBUTE(b);
				needs &= ~PE_HAS_ATTRIBUTE(a);
			}
	return needs == 0;
}

static bool
is_product_of(const pe_aggregation *g, const pe_sum *sum, const pe_aggregation *of, int a, int b)
{
	return same_number(g, sum->a, of, a) && same_number(g, sum->b, of, b);
}

static bool
same_sum(const pe_aggregation *g, const pe_sum *sum, const pe_aggregation *of, const pe_sum *other)
{
	bool		one = sum->kind != PE_SUM_ONE && !pe_sum_is_of_values(sum) && !pe_sum_is_by_unit(sum);
	uint64		needs;

	if (sum->kind == PE_SUM_PRODUCT && other->kind == PE_SUM_PRODUCT)
		one = !is_product_of(g, sum, of, other->a, other->b) && !is_product_of(g, sum, of, other->b, other->a);
	return sum->kind == other->kind && sum->most == other->most && (!one || same_number(g, sum->a, of, other->a)) &&
		(sum->kind != PE_SUM_OPEN || strcmp(g->open[sum->a].name, of->open[other->a].name) == 0) &&
		translate_needs(g, sum->needs, of, &needs) && needs == other->needs &&
		translate_needs(g, sum->lacks, of, &needs) && needs == other->lacks;
}

/* The part of a release that measured what part i of a request would; -1: none. */
static int
part_of(const pe_aggregation *g, int i, const pe_aggregation *of)
{
	const pe_source_of_part *source = &g->source[i];

	for (int j = 0; j < of->parts; j++)
		if (of->source[j].term == source->term &&
			same_sum(g, &g->needed.sum[source->sum], of, &of->needed.sum[of->source[j].sum]))
			return j;
	return -1;
}

/* What a part follows from: parts of a release, each times a factor. */
typedef struct known_terms
{
	int			terms;			/* 0: it does not follow */
	int			part[3];
	double		factor[3];
} known_terms;

/* The part that a release measured of this sum by the cells of groups, needs as it numbers them; -1: none. */
static int
part_of_kind(const pe_aggregation *of, pe_sum_kind kind, int number, uint64 needs)
{
	for (int j = 0; j < of->parts; j++)
	{
		const pe_sum *sum = &of->needed.sum[of->source[j].sum];

		if (sum->kind == kind && sum->needs == needs && sum->lacks == 0 && (kind == PE_SUM_ONE || sum->a == number))
			return j;
	}
	return -1;
}

static known_terms
two_terms(int first, double first_factor, int second, double second_factor)
{
	return (known_terms) {first >= 0 && second >= 0 ? 2 : 0, {first, second}, {first_factor, second_factor}};
}

/* So much of each product of the distances of a number from its bounds. */
static known_terms
terms_of_squares(const pe_aggregation *of, int number, uint64 needs, double above, double between, double below)
{
	pe_sum_kind square = above > 0 ? PE_SUM_ABOVE_SQUARE : PE_SUM_BELOW_SQUARE;
	known_terms terms = two_terms(part_of_kind(of, square, number, needs), above > 0 ? above : below,
								  part_of_kind(of, PE_SUM_BETWEEN, number, needs), between);

	if (terms.terms == 0 || above == 0 || below == 0)
		return terms;
	terms.part[2] = part_of_kind(of, PE_SUM_BELOW_SQUARE, number, needs);
	terms.factor[2] = below;
	terms.terms = terms.part[2] >= 0 ? 3 : 0;
	return terms;
}

/* What a row needs to be counted, of rows that have a number: nothing of it where all have it. */
static uint64
needs_of_count(const pe_aggregation *of, int number, uint64 needs)
{
	return (of->never_null >> number & 1) != 0 ? needs & ~PE_HAS_NUMBER(number) : needs;
}

/* most + u, or most - u: that times 2 most is a square and half of what is between. */
static known_terms
terms_of_side(const pe_aggregation *g, const pe_sum *sum, const pe_aggregation *of)
{
	bool		is_above = sum->kind == PE_SUM_ABOVE;
	uint64		needs;

	for (int m = 0; m < of->needed.numbers && translate_needs(g, sum->needs, of, &needs); m++)
	{
		double		most = of->needed.number[m].most;
		double		square = .5 / most;
		known_terms terms;

		if (!same_number(g, sum->a, of, m))
			continue;
		terms = two_terms(part_of_kind(of, PE_SUM_VALUE, m, needs), is_above ? 1 : -1,
						  part_of_kind(of, PE_SUM_ONE, 0, needs_of_count(of, m, needs)), most);
		return terms.terms > 0 ? terms
			: terms_of_squares(of, m, needs, is_above ? square : 0, square / 2, is_above ? 0 : square);
	}
	return (known_terms) {0};
}

/* What each product counts of a row. */
static double
part_of_row(const pe_aggregation *of, int number)
{
	const pe_sum between = {.kind = PE_SUM_BETWEEN, .a = (uint8) number};

	return ldexp(1. / pe_sum_bound(&of->needed, &between), -pe_sum_shift(&of->needed, &between));
}

/* 1, of the first number that is measured by both sides of the same rows, or by their products. */
static known_terms
terms_of_count(const pe_aggregation *g, const pe_sum *sum, const pe_aggregation *of)
{
	uint64		needs;

	for (int m = 0; m < of->needed.numbers && translate_needs(g, sum->needs, of, &needs); m++)
	{
		uint64		of_number = needs | PE_HAS_NUMBER(m);
		double		each = .5 / of->needed.number[m].most;
		known_terms terms = two_terms(part_of_kind(of, PE_SUM_ABOVE, m, of_number), each,
									  part_of_kind(of, PE_SUM_BELOW, m, of_number), each);

		if (terms.terms == 0)
		{
			each = part_of_row(of, m);
			terms = terms_of_squares(of, m, of_number, each, each, each);
		}
		if (terms.terms > 0 && needs_of_count(of, m, of_number) == needs)
			return terms;
	}
	return (known_terms) {0};
}

static known_terms
terms_of(const pe_aggregation *g, int i, const pe_aggregation *of)
{
	const pe_sum *sum = &g->needed.sum[g->source[i].sum];
	int			j = part_of(g, i, of);

	if (j >= 0)
		return (known_terms) {1, {j}, {1}};
	if (g->source[i].term >= 0 || pe_aggregation_asks_share(g) || pe_aggregation_is_counts(g))
		return (known_terms) {0};
	if (sum->kind == PE_SUM_ABOVE || sum->kind == PE_SUM_BELOW)
		return terms_of_side(g, sum, of);
	return sum->kind == PE_SUM_ONE ? terms_of_count(g, sum, of) : (known_terms) {0};
}

/*
 * Whether all parts follow, no two of them from the same one: they have noise of
 * their own.  The rest of rows makes others more precise, and need not be there.
 */
static bool
all_follow(const pe_aggregation *g, const pe_aggregation *of)
{
	bool	   *used = palloc0(Max(of->parts, 1) * sizeof(bool));

	for (int i = 0; i < g->parts; i++)
	{
		known_terms terms = terms_of(g, i, of);

		if (g->source[i].is_rest)
			continue;
		for (int t = 0; t < terms.terms; t++)
		{
			if (used[terms.part[t]])
				return false;
			used[terms.part[t]] = true;
		}
		if (terms.terms == 0)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------
 * What a release says of a request
 * ------------------------------------------------------------------
 */

/* A release that is looked at. */
typedef struct look
{
	pe_aggregation *asked;
	const pe_aggregate_noise *most; /* of what would be measured; NULL: any will do */
	const char *rows;			/* which rows the request counts */
	int32		undetermined;	/* of the first part that does not follow, a query; -1: another reason */
	const pe_release *row;
	bool		answers;		/* else nothing is read of what was measured that is not needed */
	pe_stored_aggregates *stored;
	pe_known	known;
	bool		serves;
	double		work;			/* as of MOST_WORK */
} look;

static bool
is_same_groups(const pe_space *s, const pe_space *t)
{
	if (s->attributes != t->attributes || strcmp(s->workload.canonical, t->workload.canonical) != 0)
		return false;
	for (int a = 0; a < s->attributes; a++)
		if (strcmp(pe_column_text(&s->columns[a]), pe_column_text(&t->columns[a])) != 0)
			return false;
	return true;
}

/* Groups that are measured in the same way in both. */
static bool
is_same_space(const pe_space *s, const pe_space *t)
{
	return s->kept.id == t->kept.id && is_same_groups(s, t);
}

/* The noise that part i of the request may have. */
static double
most_noise(const look *l, int i)
{
	return l->most != NULL ? pe_noise_stderr(l->most->of_part[i]) : INFINITY;
}

/* Whether what part i would measure is known as precisely from part j of the release. */
static bool
is_precise(look *l, int i, int j, const double *variance)
{
	const pe_space *s = &l->asked->space[l->asked->source[i].space];
	double		most = most_noise(l, i) * (1 + ROUNDING);
	double		noise = pe_noise_stderr(l->known.noise.of_part[j]);

	for (int32 q = 0; q < s->workload.queries; q++)
	{
		double		error = noise * sqrt(variance[q]);

		l->known.max_stderr = Max(l->known.max_stderr, error);
		if (l->most != NULL && error > most * sqrt(s->variance[q]))
			return false;
	}
	return true;
}

/* What a direct strategy measures means the same over the same list of attributes only. */
static bool
means_the_same(const pe_space *s, const pe_space *t)
{
	bool		same = s->attributes == t->attributes;

	for (int a = 0; a < s->attributes && same; a++)
		same = strcmp(s->columns[a].name, t->columns[a].name) == 0;
	return same || !t->kept.strategy.direct;
}

/* Whether counts that are not negative can be had from it. */
static bool
gives_nonnegative(const pe_strategy *strategy)
{
	return strategy->blocks != NULL ? strategy->blocks->kind == PE_BLOCKS_MARGINALS : !strategy->direct;
}

/* What part i is answered from: a space of its own, with the errors of what was measured; NULL: it cannot be. */
static pe_space *
derived_space(const look *l, int i, int j, pe_known_pair *pair)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;
	const pe_space *s = &g->space[g->source[i].space];
	const pe_space *t = &of->space[of->source[j].space];
	const pe_over_columns measured = {t->columns, t->attributes, &t->workload};
	const pe_over_columns asked = {s->columns, s->attributes, &s->workload};
	pe_space   *derived = palloc(sizeof(*derived));

	*derived = *s;
	if (!pe_aggregation_is_counts(g) && t->variance != NULL && is_same_space(s, t))
	{
		derived->variance = t->variance;
		derived->own = t->own;
		return derived;
	}
	/* ranks, units and shares need more than each group's own variance */
	if (s->by_cells || g->source[i].term >= 0 || pe_aggregation_asks_share(g) || !means_the_same(s, t) ||
		(pe_counts_nonnegative(g) && !gives_nonnegative(&t->kept.strategy)) ||
		!pe_known_join(pair, of->asked.dataset, g->predicate, &measured, &t->kept.strategy,
					   l->known.noise.lattice[j], &asked))
		return NULL;
	derived->variance = pe_known_variances(pair);
	derived->derived = true;
	return derived->variance != NULL ? derived : NULL;
}

/* The same of all that a part follows from: its noise is that of the first term. */
static pe_space *
space_of_terms(const look *l, int i, const known_terms *terms, pe_known_pair *pair)
{
	const pe_aggregation *g = l->asked;
	int32		queries = g->space[g->source[i].space].workload.queries;
	double	   *variance = NULL;
	pe_space   *s = NULL;

	for (int t = 0; t < terms->terms; t++)
	{
		double		noise = pe_noise_stderr(l->known.noise.of_part[terms->part[t]]) /
			pe_noise_stderr(l->known.noise.of_part[terms->part[0]]) * terms->factor[t];

		s = derived_space(l, i, terms->part[t], &pair[t]);
		if (s == NULL || terms->terms == 1)
			return s;
		variance = variance != NULL ? variance : pe_alloc(queries, sizeof(double));
		for (int32 q = 0; q < queries; q++)
			variance[q] += s->variance[q] * noise * noise;
	}
	if (s != NULL)
	{
		s->variance = variance;
		s->derived = true;
	}
	return s;
}

/* ------------------------------------------------------------------
 * Sums by atoms: the same aggregates, of the same groups
 * ------------------------------------------------------------------
 */

static bool
has_atoms(const pe_aggregation *g)
{
	for (int i = 0; i < g->parts; i++)
		if (g->source[i].row_of != NULL)
			return true;
	return false;
}

/* The n-th part of a sum, or -1. */
static int
nth_part_of(const pe_aggregation *g, int sum, int n)
{
	for (int i = 0; i < g->parts; i++)
		if (pe_part_is_of(&g->source[i], sum) && n-- == 0)
			return i;
	return -1;
}

/* Whether a sum of the request was measured in the same parts, each with no more noise. */
static bool
same_parts_serve(const look *l, int sum, int stored_sum)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;

	for (int n = 0;; n++)
	{
		int			i = nth_part_of(g, sum, n);
		int			j = nth_part_of(of, stored_sum, n);

		if (i < 0)
			return true;
		if (j < 0 || g->space[g->source[i].space].kept.id != of->space[of->source[j].space].kept.id ||
			pe_noise_stderr(l->known.noise.of_part[j]) > most_noise(l, i) * (1 + ROUNDING))
			return false;
	}
}

/* A sum of the request that is measured by atoms in one of both, with what it was in the release. */
typedef struct shared_sum
{
	int			sum[2];
	int			part[2];
	double		noise[2];
} shared_sum;

/* What two sums of a group have in common; of a sum with itself its variance. */
static double
covariance_of(const pe_aggregation *g, int side, const shared_sum *one, const shared_sum *other, int32 group)
{
	const pe_source_of_part *source = &g->source[one->part[side]];
	double		unit = one->noise[side] * one->noise[side];
	pe_sum_noise a;
	pe_sum_noise b;
	double		all = 0;

	if (one->part[side] != other->part[side])
		return 0;
	if (source->row_of == NULL)
		return unit * g->space[source->space].variance[group];
	a = pe_atoms_noise(g, one->part[side], one->sum[side], group);
	b = pe_atoms_noise(g, one->part[side], other->sum[side], group);
	for (int p = 0; p < a.parts; p++)
		all += a.part[p] * b.part[p];
	return unit * all;
}

/* Whether a symmetric matrix is positive semidefinite, in place; scale: numbers of this size are 0 up to rounding. */
static bool
is_semidefinite(double *m, int n, const double *scale)
{
	for (int k = 0; k < n; k++)
	{
		double		pivot = m[k * n + k];

		if (pivot < -ROUNDING * scale[k])
			return false;
		for (int i = k + 1; i < n && pivot <= ROUNDING * scale[k]; i++)
			if (fabs(m[i * n + k]) > 4 * ROUNDING * sqrt(scale[i] * scale[k]))
				return false;
		for (int i = k + 1; i < n && pivot > ROUNDING * scale[k]; i++)
			for (int j = k + 1; j < n; j++)
				m[i * n + j] -= m[i * n + k] * m[k * n + j] / pivot;
	}
	return true;
}

/*
 * Whether nothing that is linear in these sums varies more in the release than
 * in a new measurement: the difference of the covariances is semidefinite.
 */
static bool
shared_sums_serve(const look *l, const shared_sum *sum, int sums)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;
	double	   *less = pe_alloc((size_t) sums * sums + 1, sizeof(double));
	double	   *scale = pe_alloc(sums + 1, sizeof(double));
	bool		serve = true;

	for (int32 q = 0; q < g->space[0].workload.queries && serve && l->most != NULL; q++)
	{
		pe_poll();
		for (int i = 0; i < sums; i++)
			for (int j = 0; j < sums; j++)
			{
				double		fresh = covariance_of(g, 0, &sum[i], &sum[j], q);

				less[i * sums + j] = fresh * (1 + 2 * ROUNDING) - covariance_of(of, 1, &sum[i], &sum[j], q);
				scale[i] = i == j ? fresh : scale[i];
			}
		serve = is_semidefinite(less, sums, scale);
	}
	pe_free(scale);
	pe_free(less);
	return serve;
}

static bool
is_by_atom(const pe_aggregation *g, int part)
{
	return part >= 0 && g->source[part].row_of != NULL;
}

/* Sums that are looked at together. */
typedef struct shared_sums
{
	int			sums;
	shared_sum	sum[PE_MAX_SUMS];
} shared_sums;

/* False if the release has not this sum. */
static bool
add_shared(const look *l, int sum, int stored_sum, shared_sums *shared)
{
	shared_sum *to = &shared->sum[shared->sums];
	int			i = nth_part_of(l->asked, sum, 0);
	int			j = nth_part_of(&l->stored->aggregation, stored_sum, 0);

	if (i < 0)
		return true;
	if (j < 0 || l->asked->needed.sum[sum].kind == PE_SUM_UNITS)
		return false;
	for (int k = 0; k < shared->sums; k++)
		if (shared->sum[k].sum[0] == sum)
			return true;
	*to = (shared_sum) {{sum, stored_sum}, {i, j}, {most_noise(l, i), pe_noise_stderr(l->known.noise.of_part[j])}};
	shared->sums++;
	return to->noise[1] < INFINITY;
}

static bool
sum_serves(const look *l, int sum, int stored_sum, shared_sums *shared)
{
	bool		by_atom = is_by_atom(l->asked, nth_part_of(l->asked, sum, 0)) ||
		is_by_atom(&l->stored->aggregation, nth_part_of(&l->stored->aggregation, stored_sum, 0));

	return by_atom ? add_shared(l, sum, stored_sum, shared) : same_parts_serve(l, sum, stored_sum);
}

/* The same aggregate in both. */
static bool
aggregate_serves(const look *l, const pe_aggregate *a, const pe_aggregate *stored, shared_sums *shared)
{
	if (a->kind == PE_AGG_RATIO)
		return aggregate_serves(l, a->part[0], stored->part[0], shared) &&
			aggregate_serves(l, a->part[1], stored->part[1], shared);
	for (int s = 0; s < PE_AGG_SUMS; s++)
		if (a->sum[s] >= 0 && (stored->sum[s] < 0 || !sum_serves(l, a->sum[s], stored->sum[s], shared)))
			return false;
	return true;
}

static int
place_of(const pe_aggregation *g, const char *text)
{
	for (int i = 0; i < g->aggregates; i++)
		if (strcmp(g->text[i], text) == 0)
			return i;
	return -1;
}

/* The release's own aggregates, those that are asked for in their order. */
static bool
derive_same(look *l)
{
	const pe_aggregation *g = l->asked;
	pe_aggregation *of = &l->stored->aggregation;
	pe_aggregation *a = l->known.aggregation = palloc(sizeof(*a));
	shared_sums *shared = palloc0(sizeof(*shared));

	*a = *of;
	a->aggregates = g->aggregates;
	a->min = g->min;
	for (int i = 0; i < g->aggregates; i++)
	{
		int			place = place_of(of, g->text[i]);

		if (place < 0 || !aggregate_serves(l, &g->aggregate[i], &of->aggregate[place], shared))
			return false;
		a->aggregate[i] = of->aggregate[place];
		a->text[i] = of->text[place];
	}
	pe_suppress_find_counts(a);
	if (!is_same_groups(&g->space[0], &of->space[0]) || !shared_sums_serve(l, shared->sum, shared->sums))
		return false;
	if (l->answers)
	{
		l->known.estimate = pe_alloc(pe_aggregation_estimates(a), sizeof(double));
		pe_aggregation_estimate(a, &l->known.noise, l->stored->measured, l->known.estimate);
	}
	return true;
}

static const int64 *
measured_by(const look *l, int j)
{
	return l->stored->measured + pe_aggregation_rows_before(&l->stored->aggregation, j);
}

/* What part i of the request is, from what it follows from. */
static int32
estimate_part(look *l, int i, const known_terms *terms, const pe_known_pair *pair, double *at)
{
	int32		queries = 0;
	double	   *each;

	if (pe_aggregation_is_counts(l->asked))
	{
		l->known.pair = *pair;
		l->known.joined = pe_rest_has(&l->stored->aggregation, terms->part[0]);
		l->known.measured = measured_by(l, terms->part[0]);
		return 0;
	}
	each = pe_alloc(pe_aggregation_estimates(l->asked), sizeof(double));
	for (int t = 0; t < terms->terms; t++)
	{
		int			j = terms->part[t];

		queries = pe_aggregation_estimate_part(&l->stored->aggregation, &l->known.noise, j, l->asked, i,
											   pair[t].joint.columns != NULL ? &pair[t] : NULL,
											   measured_by(l, j), each);
		for (int32 q = 0; q < queries; q++)
			at[q] = (t > 0 ? at[q] : 0) + terms->factor[t] * each[q];
	}
	pe_free(each);
	return queries;
}

/* A request while its parts are taken from a release. */
typedef struct derivation
{
	pe_aggregation *a;
	pe_noise  **noise;
	pe_noise  **joined;
	double	   *at;
	int		   *from;			/* of each part of the release: 1 + which part is answered from it alone, 0: none */
	int		   *like;			/* of each part: that of the request whose groups it has */
} derivation;

/* Adds part i of the request, or what is measured like it, from these terms. */
static void
add_derived(look *l, derivation *d, int i, const pe_source_of_part *source, const known_terms *terms,
			const pe_space *s, const pe_known_pair *pair)
{
	const pe_aggregation *of = &l->stored->aggregation;
	pe_aggregation *a = d->a;
	int			j = terms->part[0];
	int			n = a->parts++;

	/* the groups are those of the first space */
	a->space[n + 1] = *s;
	a->part[n] = l->asked->part[i];
	a->part[n].strategy = of->part[j].strategy;
	a->source[n] = *source;
	a->source[n].space = n + 1;
	d->like[n] = i;
	d->noise[n] = l->known.noise.of_part[j];
	d->joined[n] = l->known.noise.joined[j];
	d->from[j] = terms->terms == 1 ? 1 + n : 0;
	if (l->answers)
		d->at += estimate_part(l, i, terms, pair, d->at);
}

/* The sum that part j of the release measured, under a number of its own where the request has none. */
static int
derived_sum(look *l, derivation *d, int i, int j, const pe_source_of_part *rest)
{
	pe_source_of_part source = {.term = -1};
	known_terms terms = {1, {j}, {1}};
	pe_known_pair *pair = palloc0(sizeof(*pair));
	pe_space   *s;

	if (d->from[j] > 0)
		return d->a->source[d->from[j] - 1].sum;
	if (rest != NULL)
		source = *rest;
	source.sum = d->a->needed.sums++;
	d->a->needed.sum[source.sum] = (pe_sum) {.kind = PE_SUM_ONE};
	d->a->space_of[source.sum] = -1;
	s = space_of_terms(l, i, &terms, pair);
	if (s == NULL)
		elog(ERROR, "a part of a release cannot be told");
	add_derived(l, d, i, &source, &terms, s, pair);
	return source.sum;
}

/* What a release measured of the rest of the rows of counts that follow from it makes these more precise. */
static void
add_rests(look *l, derivation *d)
{
	const pe_aggregation *of = &l->stored->aggregation;

	for (int r = 0; r < of->parts; r++)
	{
		pe_source_of_part rest = {.term = -1, .is_rest = true};
		int			all;
		int			some;
		int			i;

		if (!of->source[r].is_rest || d->from[r] > 0)
			continue;
		all = pe_rest_part(of, of->source[r].all);
		some = pe_rest_part(of, of->source[r].some);
		i = Max(d->from[all], d->from[some]) - 1;
		if (i < 0)
			continue;
		i = d->like[i];
		rest.all = derived_sum(l, d, i, all, NULL);
		rest.some = derived_sum(l, d, i, some, NULL);
		(void) derived_sum(l, d, i, r, &rest);
	}
}

/* Room for what a release measured besides. */
static void
begin_derivation(look *l, derivation *d)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;
	pe_aggregation *a = d->a = l->known.aggregation = palloc(sizeof(*a));
	int			parts = g->parts + of->parts;

	*a = *g;
	a->parts = 0;
	a->space = palloc0((parts + 1) * sizeof(*a->space));
	a->space[0] = g->space[0];
	d->noise = palloc0(parts * sizeof(*d->noise));
	d->joined = palloc0(parts * sizeof(*d->joined));
	d->from = palloc0((of->parts + 1) * sizeof(int));
	d->like = palloc0(parts * sizeof(int));
	if (pe_aggregation_is_counts(g))
		return;
	a->needed.sum = palloc0((g->needed.sums + of->parts) * sizeof(pe_sum));
	memcpy(a->needed.sum, g->needed.sum, g->needed.sums * sizeof(pe_sum));
	a->space_of = palloc((g->needed.sums + of->parts) * sizeof(int));
	memcpy(a->space_of, g->space_of, g->needed.sums * sizeof(int));
	if (l->answers)
		d->at = l->known.estimate = pe_alloc(pe_aggregation_estimates(g) +
											 (int64) of->parts * g->space[0].workload.queries, sizeof(double));
}

/* The request with the noise and the spaces of a release. */
static bool
derive_parts(look *l)
{
	const pe_aggregation *g = l->asked;
	const pe_aggregation *of = &l->stored->aggregation;
	bool		joins = !pe_aggregation_is_counts(g) && !pe_aggregation_asks_share(g);
	derivation	d;

	d.at = NULL;
	begin_derivation(l, &d);
	for (int i = 0; i < g->parts; i++)
	{
		known_terms terms = terms_of(g, i, of);
		pe_known_pair *pair = palloc0(lengthof(terms.part) * sizeof(*pair));
		pe_space   *s = space_of_terms(l, i, &terms, pair);

		/* what was measured without a rest may be precise enough where any is */
		if (s == NULL && g->source[i].is_rest && l->most == NULL)
			continue;
		if (s == NULL || !is_precise(l, i, terms.part[0], s->variance))
		{
			l->undetermined = s == NULL ? pair[0].undetermined : -1;
			return false;
		}
		add_derived(l, &d, i, &g->source[i], &terms, s, pair);
	}
	if (joins)
		add_rests(l, &d);
	l->known.noise = (pe_aggregate_noise) {d.noise, joins ? d.joined : NULL, NULL, 1, PE_MISS};
	return true;
}

/* What it takes to know the errors of a release. */
static double
work_of(const pe_aggregation *g, const pe_aggregation *of)
{
	double		work = 0;

	for (int i = 0; i < of->spaces; i++)
		work += of->space[i].kept.strategy.blocks != NULL ? 1e3 * g->space[0].workload.queries
			: pow(of->space[i].kept.strategy.columns, 3);
	return work;
}

/* Restores a release; what is cheap to see of it comes first. */
static bool
restore_similar(look *l)
{
	bool		counts = pe_aggregation_is_counts(l->asked);
	pe_aggregation *of;

	l->stored = pe_aggregation_restored_of(l->row, counts && l->row->workload_text != NULL);
	of = &l->stored->aggregation;
	if (of->on_grid || (counts && has_atoms(of)) || !declared_alike(l->asked, of) ||
		strcmp(l->rows, pe_aggregation_rows_text(of)) != 0)
		return false;
	if (!has_atoms(l->asked) && !has_atoms(of) && !all_follow(l->asked, of))
		return false;
	pe_aggregation_measure(of);
	l->work = work_of(l->asked, of);
	if (l->answers || of->parts > 1)	/* the shares stand there */
		pe_aggregation_read(l->stored);
	if (counts && of->parts > 1)
		l->stored->measured = pe_rest_join(of, l->row->nano, l->stored->measured);
	l->known.noise = pe_aggregation_noise(of, l->row->nano);
	return true;
}

/* What keeps a release from being read, or makes it too large to be looked at; other errors are the caller's. */
static void
pass_over(ErrorData *error)
{
	if (error->sqlerrcode != ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE &&
		error->sqlerrcode != ERRCODE_PROGRAM_LIMIT_EXCEEDED &&
		error->sqlerrcode != ERRCODE_OUT_OF_MEMORY && error->sqlerrcode != ERRCODE_DATA_CORRUPTED)
		ReThrowError(error);
	FreeErrorData(error);
}

static void
look_at_release(void *argument)
{
	look	   *l = argument;

	l->serves = restore_similar(l) &&
		(has_atoms(l->asked) || has_atoms(&l->stored->aggregation) ? derive_same(l) : derive_parts(l));
}

/* ------------------------------------------------------------------
 * The search
 * ------------------------------------------------------------------
 */

/* The budgets that are open to the current user, int8[]; for an owner, all: what they paid for may be used. */
static Datum
open_budgets(const pe_dataset *dataset)
{
	List	   *seen = pe_budgets_seen(dataset);
	Datum	   *ids = palloc((list_length(seen) + 1) * sizeof(Datum));
	int			count = 0;
	ListCell   *cell;

	foreach(cell, seen)
		ids[count++] = Int64GetDatum(((pe_budget *) lfirst(cell))->id);
	return PointerGetDatum(construct_array(ids, count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/* Without those that are rolled up: a release may have their declared cells. */
static Datum
names_of_groups(const pe_aggregation *g)
{
	Datum	   *names = palloc((g->groups + 1) * sizeof(Datum));
	int			count = 0;

	for (int i = 0; i < g->groups; i++)
		if (g->columns[i].roll_up == NULL)
			names[count++] = CStringGetTextDatum(g->columns[i].name);
	return PointerGetDatum(construct_array(names, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* What the ledger says of one; its rows are those of the request, as they were declared then. */
static void
take_row(const pe_aggregation *g, uint64 row, pe_release *r)
{
	pe_release_of_row(row, r);
	r->dataset = palloc(sizeof(*r->dataset));
	*r->dataset = *g->asked.dataset;
	r->dataset->as_of = (int) pe_access_int64(row, PE_RELEASE_DECLARED);
}

/* The dearest first, and of these the newest. */
static int
by_price(const void *a, const void *b)
{
	const pe_release *one = a;
	const pe_release *other = b;

	if (one->nano != other->nano)
		return one->nano < other->nano ? 1 : -1;
	return one->id < other->id ? 1 : -1;
}

static bool
are_same(const char *one, const char *other)
{
	return one == other || (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static bool
are_all_same(char *const *one, int count, char *const *other, int others)
{
	bool		same = count == others;

	for (int i = 0; i < count && same; i++)
		same = strcmp(one[i], other[i]) == 0;
	return same;
}

/* Whether they differ in price alone. */
static bool
measured_the_same(const pe_release *a, const pe_release *b)
{
	return a->strategy_id == b->strategy_id && a->accounting == b->accounting &&
		a->dataset->as_of == b->dataset->as_of && are_same(a->method, b->method) &&
		are_same(a->workload_text, b->workload_text) && are_same(a->grouping, b->grouping) &&
		are_all_same(a->names, a->attributes, b->names, b->attributes) &&
		are_all_same(a->aggregate, a->aggregates, b->aggregate, b->aggregates) &&
		are_all_same(a->complete.name, a->complete.names, b->complete.name, b->complete.names);
}

/* Of several that measured the same the first is kept: how many there are then. */
static uint64
keep_first(pe_release *release, uint64 count)
{
	uint64		kept = 0;

	for (uint64 i = 0; i < count; i++)
	{
		uint64		like = 0;

		while (like < kept && !measured_the_same(&release[like], &release[i]))
			like++;
		if (like == kept)
			release[kept++] = release[i];
	}
	return kept;
}

/*
 * Those of the same rows that may serve, the dearest first: of several that
 * measured the same only this one, and of these the newest.  For sums those
 * that have the attributes of the groups.
 */
static pe_release *
candidates(const pe_aggregation *g, uint64 *count)
{
	static pe_statement find = {NULL,
		"SELECT " PE_RELEASE_ROW " FROM dp_ledger.release r WHERE dataset_id = $1 AND version = $2 "
		"AND payload IS NOT NULL AND format <= " PE_FORMAT_TEXT " AND request::jsonb->>'kind' = '" PE_MEASUREMENT "' "
		"AND method <> 'dawa' "
		"AND predicate IS NOT DISTINCT FROM $3 AND coalesce((request::jsonb->>'rows_per_unit')::int8, 0) = $4 "
		"AND (charge_id IN (SELECT c.id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($5)) "
		"OR id IN (SELECT c.release_id FROM dp_ledger.charge c WHERE c.budget_id = ANY ($5) "
		"AND c.release_id IS NOT NULL)) "
		"AND (workload IS NOT NULL AND $6 OR method = 'optimal') "
		"AND ($6 OR accounting = $7 AND attributes @> $8) "
		"ORDER BY id DESC LIMIT " MOST_RELEASES, 8,
	{INT8OID, INT4OID, TEXTOID, INT8OID, INT8ARRAYOID, BOOLOID, TEXTOID, TEXTARRAYOID}};
	const pe_dataset *dataset = g->asked.dataset;
	Datum		values[8] = {
		Int64GetDatum(dataset->id), Int32GetDatum(dataset->version),
		g->predicate != NULL ? CStringGetTextDatum(g->predicate) : (Datum) 0,
		Int64GetDatum(dataset->unit != NULL ? dataset->max_rows : 0), open_budgets(dataset),
		BoolGetDatum(pe_aggregation_is_counts(g)),
		CStringGetTextDatum(pe_accounting_name(g->asked.ask.accounting)), names_of_groups(g)
	};
	MemoryContext here = CurrentMemoryContext;
	pe_release *found;
	pe_access	access;

	pe_access_begin(&access);
	*count = pe_access_read(&find, values, g->predicate != NULL ? NULL : "  n     ");
	found = MemoryContextAllocZero(here, (*count + 1) * sizeof(*found));
	MemoryContextSwitchTo(here);
	for (uint64 row = 0; row < *count; row++)
		take_row(g, row, &found[row]);
	pe_access_end(&access);
	if (*count > 0)
		pe_standby_await(dataset->cap_id);
	qsort(found, *count, sizeof(*found), by_price);
	*count = keep_first(found, *count);
	return found;
}

/* Whether one that serves is the better; of sums the first is the dearest, and all of its sums are as precise. */
static bool
is_better(const look *l, const pe_known *best)
{
	return l->serves && (best->release.id == 0 || l->known.max_stderr < best->max_stderr);
}

/* Of the releases the one that serves best: its row and largest error; else none, 0.  What it takes to look is gone. */
static pe_known
find_best(const look *like, const pe_release *row, uint64 count)
{
	bool		counts = pe_aggregation_is_counts(like->asked);
	MemoryContext here = CurrentMemoryContext;
	MemoryContext of_one = AllocSetContextCreate(here, "pg_epsilon release", ALLOCSET_DEFAULT_SIZES);
	pe_known	best = {0};
	double		work = 0;

	MemoryContextSwitchTo(of_one);
	for (uint64 i = 0; i < count && work < MOST_WORK && (counts || (i < MOST_OF_SUMS && best.release.id == 0)); i++)
	{
		look		l = {.asked = like->asked, .most = like->most, .rows = like->rows, .row = &row[i]};
		ErrorData  *error = pe_run_undone(look_at_release, &l);

		if (error != NULL)
			pass_over(error);
		else if (is_better(&l, &best))
			best = (pe_known) {.release = row[i], .max_stderr = l.known.max_stderr};
		work += l.work;
		MemoryContextReset(of_one);
	}
	MemoryContextSwitchTo(here);
	MemoryContextDelete(of_one);
	return best;
}

/* Of what is asked, with at most the noise that a look says. */
static pe_known
search(look *like)
{
	pe_aggregation *g = like->asked;
	pe_release *row;
	uint64		count;

	/* of what is chosen on a grid nothing is measured: no two choices can be compared */
	if (g->on_grid || g->space[0].workload.queries > MOST_QUERIES)
		return (pe_known) {0};
	PE_UNDONE();
	like->rows = pe_aggregation_rows_text(g);
	row = candidates(g, &count);
	PE_END_UNDONE();
	return find_best(like, row, count);
}

pe_known *
pe_known_most_precise(pe_aggregation *g)
{
	pe_known   *known = palloc(sizeof(*known));
	look		any = {.asked = g};

	*known = search(&any);
	return known->release.id != 0 ? known : NULL;
}

pe_known *
pe_known_find(pe_aggregation *g)
{
	int64		nano = pe_nano_left(pe_cost_amount(pe_plan_cost(g->asked.plan)), g->asked.ask.accounting);
	pe_aggregate_noise most;
	pe_known	best;
	pe_known   *known;
	/* where nothing else is to be had, any precision is, unless one is asked for */
	bool		any = pe_settings_reuse_only() && isnan(g->asked.request->max_stderr);
	look		l = {.asked = g, .most = any ? NULL : &most, .answers = true};

	if (!g->on_grid)
		most = pe_aggregation_noise(g, nano);
	if (pe_aggregation_is_counts(g))
		(void) pe_counts_variances(g);
	best = search(&l);
	if (best.release.id == 0)
		return NULL;
	l.row = &best.release;
	PE_UNDONE();
	look_at_release(&l);
	PE_END_UNDONE();
	if (!l.serves)
		elog(ERROR, "release " INT64_FORMAT " does not answer the request", best.release.id);
	known = palloc(sizeof(*known));
	*known = l.known;
	known->release = l.stored->release;
	return known;
}

/* Whether an aggregate is made of a sum. */
static bool
is_made_of(const pe_aggregate *a, int sum)
{
	if (a->kind == PE_AGG_RATIO)
		return is_made_of(a->part[0], sum) || is_made_of(a->part[1], sum);
	for (int s = 0; s < PE_AGG_SUMS; s++)
		if (a->sum[s] == sum)
			return true;
	return false;
}

/* The first aggregate that is made of sums which the release has not, or -1. */
static int
lacking_aggregate(const pe_aggregation *g, const pe_aggregation *of)
{
	for (int i = 0; i < g->parts; i++)
		for (int a = 0; a < g->aggregates && (g->source[i].row_of != NULL || terms_of(g, i, of).terms == 0); a++)
			if (is_made_of(&g->aggregate[a], g->source[i].sum))
				return a;
	return -1;
}

pe_known *
pe_known_from(pe_aggregation *g, pe_stored_aggregates *stored, pe_known_lack *lack)
{
	const pe_aggregation *of = &stored->aggregation;
	look		l = {.asked = g, .row = &stored->release, .stored = stored, .undetermined = -1};
	pe_known   *known;

	l.answers = stored->measured != NULL;
	l.known.noise = stored->noise.of_part != NULL ? stored->noise : pe_aggregation_noise(of, stored->release.nano);
	*lack = (pe_known_lack) {g->on_grid ? 0 : lacking_aggregate(g, of), -1};
	if (lack->aggregate >= 0 || !all_follow(g, of))
		return NULL;
	PE_UNDONE();
	l.serves = derive_parts(&l);
	PE_END_UNDONE();
	lack->query = l.undetermined;
	if (!l.serves)
		return NULL;
	known = palloc(sizeof(*known));
	*known = l.known;
	known->release = stored->release;
	return known;
}

void
pe_known_answer(const pe_aggregation *g, const pe_known *k, pe_answers *answers)
{
	pe_measured measured = k->pair.measured;
	const pe_blocks *blocks = measured.strategy->blocks;

	measured.workload = &k->pair.measured_over;
	answers->joined = k->joined;
	if (blocks != NULL && pe_counts_nonnegative(g))
		pe_check_memory(pe_blocks_nonnegative_memory(blocks));
	pe_answers_init(answers, &measured, &k->pair.asked_over, k->pair.joint.columns, k->measured, k->noise.of_part[0],
					NULL, pe_counts_nonnegative(g));
	pe_labels_init(&answers->labels, &g->space[0].workload, g->columns);
}

void
pe_known_tell(const pe_release *release)
{
	int64		seconds = Max(GetCurrentTimestamp() - release->created, 0) / USECS_PER_SEC;
	Datum		age = DirectFunctionCall2(timestamp_mi, TimestampGetDatum(seconds * USECS_PER_SEC),
										  TimestampGetDatum(0));

	ereport(NOTICE,
			(errmsg("answered from release " INT64_FORMAT " of %s, free", release->id,
					pe_replay_text(release->version, release->created)),
			 errdetail("It was measured %s ago; rows that came since do not count in it.",
					   DatumGetCString(DirectFunctionCall1(interval_out, age)))));
}

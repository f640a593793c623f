/*
 * contrast.c
 *	  dp.contrast: two queries of one paid release compared, free.
 *
 * A query is an aggregate with a condition, or a condition alone, which counts rows.  The conditions select cells of
 * the attributes that they name.  Cells of an attribute that both treat alike are one class; the classes' table is
 * answered from the release with the covariance of its noise, and each query is a sum of it.
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "common/int.h"
#include "fmgr.h"
#include "utils/builtins.h"

#include "ask/ask_predicate.h"
#include "ask/literals.h"
#include "ask/suppress.h"
#include "read/noisy_answers.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/return_rows.h"
#include "study/contrast.h"

PG_FUNCTION_INFO_V1(pe_sql_contrast);

enum
{
	RELEASE, QUERY_A, QUERY_B, KIND
};

/* What is compared. */
typedef enum form
{
	COUNTS, SUMS, AVERAGES, SHARES, FORMS
} form;

static const char *const form_word[FORMS] = {"count", "sum", "avg", "share"};
static const char *const kinds[] = {"difference", "ratio"};

typedef struct query
{
	const char *text;
	const char *condition;		/* NULL: all rows */
	form		form;
	const char *number;			/* of sums and averages */
	const bool *selects;		/* of each cell of the named attributes */
} query;

typedef struct call
{
	pe_release	release;
	pe_stored_aggregates *parts;
	bool		has_counts;
	bool		ratio;
	query		query[2];
	int			named;			/* attributes that the conditions name */
	pe_column  *column;
	int32		cells;			/* of their product */
	int32	   *class_of[PE_MAX_ATTRIBUTES];	/* of each cell of one, -1: neither query has it */
	int32		classes[PE_MAX_ATTRIBUTES];
	int32		all;			/* the product of these */
	double	   *weight;			/* of each class of the product: in a, in b */
	pe_quotient result;
	double		value[2];
} call;

/* ------------------------------------------------------------------
 * Queries
 * ------------------------------------------------------------------
 */

/* Whether a text begins with the name of an aggregate, and a parenthesis or its end or WHERE. */
static bool
begins_like_aggregate(const char *text)
{
	char		word[PE_NAME_SIZE];
	int			size = 0;
	int			numbers;

	while (isspace((unsigned char) *text))
		text++;
	while (size < PE_NAME_SIZE - 1 && (isalnum((unsigned char) text[size]) || text[size] == '_'))
	{
		word[size] = tolower((unsigned char) text[size]);
		size++;
	}
	word[size] = '\0';
	while (isspace((unsigned char) text[size]))
		size++;
	return strcmp(word, "share") == 0 ||
		(text[size] == '(' && (strcmp(word, "count") == 0 || pe_aggregate_of_numbers(word, &numbers) != NULL));
}

static void
refuse_aggregate(const query *q)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("\"%s\" cannot be compared", q->text),
			 errhint("Compare count(*), sum(x), avg(x) or share, each with a condition: avg(x) WHERE (sex = 'f'). "
					 "A condition alone counts rows.")));
}

static void
take_aggregate(const pe_aggregate *a, query *q)
{
	bool		plain = a->column[0] == NULL;

	for (q->form = COUNTS; q->form < FORMS; q->form++)
		if (strcmp(pe_aggregate_word(a), form_word[q->form]) == 0)
			break;
	if (q->form == FORMS || a->kind == PE_AGG_UNITS || a->kind == PE_AGG_DISTINCT || (q->form == COUNTS && !plain))
		refuse_aggregate(q);
	q->condition = a->where;
	q->number = a->column[0];
}

static void
read_query(const call *c, query *q)
{
	pe_aggregate *a = palloc0(sizeof(*a));
	pe_text_error error;

	if (pe_aggregate_parse(q->text, c->release.dataset->unit, a, &error))
		take_aggregate(a, q);
	else if (begins_like_aggregate(q->text))
		pe_refuse_text(q->text, &error);
	else
		q->condition = q->text;
}

static void
check_queries(const call *c)
{
	const query *a = &c->query[0];
	const query *b = &c->query[1];

	if (a->form == b->form && (a->number == NULL || strcmp(a->number, b->number) == 0))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("\"%s\" and \"%s\" are not the same aggregate", a->text, b->text),
			 errhint("Two conditions of one aggregate are compared.")));
}

/* ------------------------------------------------------------------
 * Cells
 * ------------------------------------------------------------------
 */

/* The attributes of the release, or of what its sums are by. */
static void
release_columns(const call *c, const pe_column **columns, int *attributes)
{
	const pe_space *space = &c->parts->aggregation.space[0];

	*columns = c->has_counts ? c->release.columns : space->columns;
	*attributes = c->has_counts ? c->release.attributes : space->attributes;
}

/* Marks the attributes of the release that a condition names; others are refused. */
static void
mark_named(const call *c, const query *q, bool *named)
{
	const pe_column *columns;
	pe_column  *all = palloc0(PE_MAX_ATTRIBUTES * sizeof(*all));
	pe_predicate *predicate;
	int			attributes;
	int			count;

	if (q->condition == NULL)
		return;
	release_columns(c, &columns, &attributes);
	memcpy(all, columns, attributes * sizeof(*all));
	count = attributes;
	predicate = pe_predicate_argument(c->release.dataset, q->condition, all, &count);
	if (count > attributes)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("release " INT64_FORMAT " does not distinguish cells of \"%s\"", c->release.id,
						all[attributes].name),
				 errhint("Measure a release with this attribute: dp.histogram with it among attributes, or "
						 "dp.aggregate with it in by.")));
	for (int i = 0; i < predicate->leaves; i++)
		named[predicate->leaf[i].attribute] = true;
}

static void
find_cells(call *c)
{
	const pe_column *columns;
	int			attributes;
	bool		named[PE_MAX_ATTRIBUTES] = {false};

	release_columns(c, &columns, &attributes);
	for (int i = 0; i < 2; i++)
		mark_named(c, &c->query[i], named);
	c->column = palloc0(PE_MAX_ATTRIBUTES * sizeof(*c->column));
	c->cells = 1;
	for (int a = 0; a < attributes; a++)
		if (named[a])
		{
			c->column[c->named++] = columns[a];
			if (pg_mul_s32_overflow(c->cells, columns[a].cells, &c->cells))
				c->cells = PG_INT32_MAX;
		}
	for (int i = 0; i < 2; i++)
	{
		bool	   *all = NULL;

		if (c->query[i].condition != NULL)
			all = pe_predicate_cells_of(c->release.dataset, c->query[i].condition, c->column, c->named);
		else
			memset(all = palloc(c->cells), true, c->cells);
		c->query[i].selects = all;
	}
}

/* ------------------------------------------------------------------
 * Classes
 * ------------------------------------------------------------------
 */

/* Cells are row-major: the stride of an attribute. */
static int32
stride_of(const call *c, int attribute)
{
	int32		stride = 1;

	for (int a = attribute + 1; a < c->named; a++)
		stride *= c->column[a].cells;
	return stride;
}

/* Whether both queries treat two cells of an attribute alike, for any cells of the others. */
static bool
are_alike(const call *c, int attribute, int32 one, int32 other)
{
	int32		stride = stride_of(c, attribute);
	int32		block = stride * c->column[attribute].cells;

	for (int32 at = 0; at < c->cells; at += block)
		for (int32 k = 0; k < stride; k++)
			for (int i = 0; i < 2; i++)
				if (c->query[i].selects[at + one * stride + k] != c->query[i].selects[at + other * stride + k])
					return false;
	return true;
}

static bool
is_asked(const call *c, int attribute, int32 cell)
{
	int32		stride = stride_of(c, attribute);
	int32		block = stride * c->column[attribute].cells;

	for (int32 at = 0; at < c->cells; at += block)
		for (int32 k = 0; k < stride; k++)
			if (c->query[0].selects[at + cell * stride + k] || c->query[1].selects[at + cell * stride + k])
				return true;
	return false;
}

/* Of a share every cell counts: in the number of all rows. */
static void
find_classes(call *c, int attribute)
{
	int32		cells = c->column[attribute].cells;
	int32	   *first = palloc(cells * sizeof(int32));
	int32	   *class_of = palloc(cells * sizeof(int32));
	int32		classes = 0;

	for (int32 cell = 0; cell < cells; cell++)
	{
		int32		k = 0;

		class_of[cell] = -1;
		if (c->query[0].form != SHARES && !is_asked(c, attribute, cell))
			continue;
		while (k < classes && !are_alike(c, attribute, first[k], cell))
			k++;
		if (k == classes)
			first[classes++] = cell;
		class_of[cell] = k;
	}
	c->class_of[attribute] = class_of;
	c->classes[attribute] = classes;
}

/* In which queries a class of the product is. */
static void
weigh_classes(call *c)
{
	c->all = 1;
	for (int a = 0; a < c->named; a++)
		c->all *= c->classes[a];
	c->weight = palloc0(2 * c->all * sizeof(double));
	for (int32 cell = 0; cell < c->cells; cell++)
	{
		int32		class = 0;
		int32		rest = cell;

		for (int a = 0; a < c->named && class >= 0; a++)
		{
			int32		of = c->class_of[a][rest / stride_of(c, a)];

			rest %= stride_of(c, a);
			class = of < 0 ? -1 : class * c->classes[a] + of;
		}
		for (int i = 0; i < 2 && class >= 0; i++)
			c->weight[i * c->all + class] = c->query[i].selects[cell];
	}
}

/* matrix(a; the classes of a) * ... */
static char *
workload_text(const call *c)
{
	StringInfoData text;

	initStringInfo(&text);
	if (c->named == 0)
		appendStringInfoString(&text, "total");
	for (int a = 0; a < c->named; a++)
	{
		appendStringInfo(&text, "%smatrix(%s; {", a > 0 ? " * " : "", quote_identifier(c->column[a].name));
		for (int32 k = 0; k < c->classes[a]; k++)
			for (int32 cell = 0; cell < c->column[a].cells; cell++)
				appendStringInfo(&text, "%s%d", cell > 0 ? "," : k > 0 ? "},{" : "{", c->class_of[a][cell] == k);
		appendStringInfoString(&text, "}})");
	}
	return text.data;
}

/* ------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
refuse_lack(const call *c)
{
	const query *q = &c->query[0];
	StringInfoData names;

	initStringInfo(&names);
	for (int a = 0; a < c->named; a++)
		appendStringInfo(&names, "%s%s", a > 0 ? "," : "", c->column[a].name);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " does not determine %s by what the conditions distinguish",
					c->release.id, q->number != NULL ? psprintf("%s(%s)", form_word[q->form], q->number) : "counts"),
			 errhint("dp.aggregate with aggregates => '{%s}' and by => '{%s}' does.",
					 q->number != NULL ? psprintf("%s(%s)", form_word[q->form], q->number) : "count(*)", names.data)));
	pg_unreachable();
}

/* Sums of the classes, of `each` numbers of every class, one after the other: those of a, then those of b. */
static pe_noisy
sums_of_classes(const call *c, pe_noisy *classes, int each, const double *times)
{
	int			outputs = each;
	double	   *map = palloc0((size_t) 2 * outputs * classes->count * sizeof(double));
	pe_noisy	sums;

	for (int i = 0; i < 2; i++)
		for (int out = 0; out < outputs; out++)
			for (int in = 0; in < each; in++)
				for (int32 k = 0; k < c->all; k++)
					map[(size_t) (i * outputs + out) * classes->count + in * c->all + k] =
						c->weight[i * c->all + k] * times[out * each + in];
	sums = pe_noisy_map(classes, 2 * outputs, map);
	pfree(map);
	return sums;
}

/* Whether both groups are shown: by their counts, which stand at these places. */
static bool
is_shown(call *c, const pe_noisy *numbers, int one, int other)
{
	pe_min_count rule = pe_release_rule(&c->release);
	int			place[2] = {one, other};
	int32		hidden = 0;

	for (int i = 0; i < 2; i++)
		hidden += !pe_min_count_shows(&rule, numbers->value[place[i]] - numbers->half[0] *
									  sqrt(numbers->covariance[(size_t) place[i] * (numbers->count + 1)]));
	pe_suppress_tell(&rule, hidden, 0, 2);
	c->result = (pe_quotient) {NAN, NAN, NAN, NAN};
	c->value[0] = c->value[1] = NAN;
	return hidden == 0;
}

static void
compare_linear(call *c, const pe_noisy *numbers)
{
	if (c->ratio)
		pe_contrast_ratio(numbers, &c->result);
	else
		pe_contrast_difference(numbers, &c->result);
	c->value[0] = numbers->value[0];
	c->value[1] = numbers->value[1];
}

static void
compare_counts(call *c, pe_noisy *classes)
{
	pe_noisy	numbers;

	numbers = sums_of_classes(c, classes, 1, (double[1]) {1});
	if (is_shown(c, &numbers, 0, 1))
		compare_linear(c, &numbers);
}

/* The difference of shares is (a - b) / n; their ratio is that of the counts. */
static void
compare_shares(call *c, pe_noisy *classes)
{
	double	   *map = palloc((size_t) 3 * c->all * sizeof(double));
	double		total;
	pe_noisy	numbers;

	memcpy(map, c->weight, (size_t) 2 * c->all * sizeof(double));
	for (int32 k = 0; k < c->all; k++)
		map[2 * c->all + k] = 1;
	numbers = pe_noisy_map(classes, 3, map);
	if (!is_shown(c, &numbers, 0, 1))
		return;
	total = numbers.value[2];
	c->value[0] = total > 0 ? numbers.value[0] / total : NAN;
	c->value[1] = total > 0 ? numbers.value[1] / total : NAN;
	numbers = pe_noisy_map(&numbers, 2, c->ratio ? (double[6]) {1, 0, 0, 0, 1, 0} : (double[6]) {1, -1, 0, 0, 0, 1});
	pe_contrast_ratio(&numbers, &c->result);
}

/* Of each class first n, then the sum of u: the sum is middle n + step S. */
static void
compare_numbers(call *c, pe_noisy *classes, const pe_number *bounds)
{
	double		times[4] = {pe_number_middle(bounds), pe_number_step(bounds), 1, 0};
	double		reach = times[1] * bounds->most;
	double		ends[2] = {times[0] - reach, times[0] + reach};
	pe_noisy	numbers = sums_of_classes(c, classes, 2, times);

	if (!is_shown(c, &numbers, 1, 3))
		return;
	if (c->query[0].form == AVERAGES)
	{
		pe_contrast_of_averages(&numbers, ends, c->ratio, &c->result, c->value);
		return;
	}
	numbers = pe_noisy_choose(&numbers, 2, (int32[2]) {0, 2});
	compare_linear(c, &numbers);
}

/* Classes of counts, or of counts and sums; inside PE_UNDONE. */
static pe_noisy
read_classes(call *c, pe_number *bounds)
{
	pe_release *r = &c->release;
	pe_workload *workload = palloc0(sizeof(*workload));
	char	   *text = workload_text(c);
	pe_noisy	classes;
	int32		undetermined;

	if (c->query[0].number != NULL)
	{
		if (!pe_noisy_sums(r, c->parts, c->query[0].number, text, false, &classes, bounds))
			refuse_lack(c);
		return classes;
	}
	if (!c->has_counts)
		refuse_lack(c);
	pe_parse_columns_workload(r->dataset, r->columns, r->domain, text, workload);
	classes = pe_noisy_answers(r, workload, &undetermined);
	if (undetermined >= 0)
		refuse_lack(c);
	return classes;
}

static void
make_row(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const call *c = argument;

	pe_put_float(c->result.estimate, &values[0], &nulls[0]);
	pe_put_float(c->result.stderr_, &values[1], &nulls[1]);
	pe_put_float(c->result.lower, &values[2], &nulls[2]);
	pe_put_float(c->result.upper, &values[3], &nulls[3]);
	pe_put_float(c->value[0], &values[4], &nulls[4]);
	pe_put_float(c->value[1], &values[5], &nulls[5]);
}

Datum
pe_sql_contrast(PG_FUNCTION_ARGS)
{
	call		c = {0};
	pe_noisy	classes;
	pe_number	bounds;

	if (PG_ARGISNULL(RELEASE))
		pe_refuse_null("release");
	c.release.id = PG_GETARG_INT64(RELEASE);
	c.query[0].text = pe_text_argument(fcinfo, QUERY_A, "query_a");
	c.query[1].text = pe_text_argument(fcinfo, QUERY_B, "query_b");
	c.ratio = pe_choice_argument(fcinfo, KIND, "kind", kinds, lengthof(kinds)) == 1;
	PE_UNDONE();
	c.parts = pe_release_read_parts(&c.release, &c.has_counts);
	for (int i = 0; i < 2; i++)
		read_query(&c, &c.query[i]);
	check_queries(&c);
	find_cells(&c);
	for (int a = 0; a < c.named; a++)
		find_classes(&c, a);
	weigh_classes(&c);
	classes = read_classes(&c, &bounds);
	PE_END_UNDONE();
	if (c.query[0].number != NULL)
		compare_numbers(&c, &classes, &bounds);
	else if (c.query[0].form == SHARES)
		compare_shares(&c, &classes);
	else
		compare_counts(&c, &classes);
	pe_return_rows(fcinfo, 1, 6, make_row, &c);
	return (Datum) 0;
}

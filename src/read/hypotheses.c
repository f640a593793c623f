/*
 * hypotheses.c
 *	  Tests of hypotheses from a paid release, free.  See hypotheses.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/json.h"

#include "ask/suppress.h"
#include "base/prf.h"
#include "read/hypotheses.h"
#include "read/noisy_answers.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/values.h"

const char *const pe_hypothesis_kinds[PE_HYPOTHESES] = {"chi2", "trend", "proportions", "means", "goodness"};

/* A test and what it is computed from. */
typedef struct look
{
	const pe_hypothesis *h;
	pe_release	release;
	pe_stored_aggregates *parts;
	bool		has_counts;
	int			attribute[2];	/* of the release; -1: none */
	pe_noisy	noisy;			/* of all cells */
	int			levels[2];		/* that are left of each attribute: */
	int32	   *level[2];		/* which of its cells they are */
	pe_number	number;			/* of means */
} look;

/* ------------------------------------------------------------------
 * What it is of
 * ------------------------------------------------------------------
 */

static int
attributes_needed(pe_hypothesis_kind kind)
{
	return kind == PE_HYPOTHESIS_GOODNESS ? 1 : 2;
}

static void
check_hypothesis(const pe_hypothesis *h)
{
	int			needed = attributes_needed(h->kind);

	if (h->attributes != needed)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a test of kind \"%s\" is of %d attributes, and %d are given",
						pe_hypothesis_kinds[h->kind], needed, h->attributes),
				 h->kind == PE_HYPOTHESIS_MEANS ? errhint("Name the number first, then the group.") :
				 h->kind == PE_HYPOTHESIS_PROPORTIONS ? errhint("Name the outcome first, then the group.") : 0));
	if (needed == 2 && strcmp(h->attribute[0], h->attribute[1]) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("attribute \"%s\" is named twice", h->attribute[0])));
}

static void __attribute__((noreturn))
refuse_lack(const look *l, const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " does not determine %s", l->release.id, what),
			 errhint("%s", hint)));
}

/* The names of the table's attributes, in SQL. */
static char *
names_literal(const pe_hypothesis *h)
{
	return pe_names_literal((const char *const *) h->attribute, h->attributes);
}

/* The same for a hash. */
static char *
names_text(const pe_hypothesis *h)
{
	return h->attributes == 1 ? psprintf("{%s}", h->attribute[0])
		: psprintf("{%s,%s}", h->attribute[0], h->attribute[1]);
}

static void
read_counts(look *l)
{
	pe_release *r = &l->release;
	StringInfoData text;
	pe_workload *workload = palloc0(sizeof(*workload));
	int32		undetermined;

	if (!l->has_counts)
		refuse_lack(l, "counts of all rows", psprintf("dp.histogram or dp.measure with attributes => %s does, and so "
													  "does dp.aggregate with count(*) by these.",
													  names_literal(l->h)));
	initStringInfo(&text);
	for (int i = 0; i < l->h->attributes; i++)
	{
		l->attribute[i] = pe_release_column(r, l->h->attribute[i]) - r->columns;
		appendStringInfo(&text, "%sidentity(%s)", i > 0 ? " * " : "",
						 quote_identifier(r->columns[l->attribute[i]].name));
	}
	pe_parse_columns_workload(r->dataset, r->columns, r->domain, text.data, workload);
	l->noisy = pe_noisy_answers(r, workload, &undetermined);
	if (undetermined >= 0)
		refuse_lack(l, psprintf("the cells of %s", text.data),
					psprintf("dp.histogram or dp.measure with attributes => %s does.", names_literal(l->h)));
}

static void
read_sums(look *l)
{
	pe_release *r = &l->release;
	const pe_space *groups = &l->parts->aggregation.space[0];
	const char *number = l->h->attribute[0];
	const char *group = l->h->attribute[1];

	for (int a = 0; a < groups->attributes; a++)
	{
		if (strcmp(groups->columns[a].name, number) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"%s\" is a group of release " INT64_FORMAT ", and means are of a number", number,
							l->release.id),
					 errhint("Name the number first, then the group.")));
		if (strcmp(groups->columns[a].name, group) == 0)
			l->attribute[1] = a;
	}
	if (l->attribute[1] < 0 ||
		!pe_noisy_sums(r, l->parts, number, psprintf("identity(%s)", quote_identifier(group)), true,
					   &l->noisy, &l->number))
		refuse_lack(l, psprintf("averages and variances of \"%s\" by \"%s\"", number, group),
					psprintf("dp.aggregate with aggregates => %s and by => %s does.",
							 pe_names_literal((const char *[]) {psprintf("avg(%s)", quote_identifier(number)),
								psprintf("var_samp(%s)", quote_identifier(number))}, 2), pe_names_literal(&group, 1)));
}

/* ------------------------------------------------------------------
 * Levels
 * ------------------------------------------------------------------
 */

/* Whether a cell of a table can have rows: a predicate may rule them all out. */
static bool
can_have_rows(const pe_noisy *noisy, int32 cell)
{
	return noisy->value[cell] != 0 || noisy->covariance[(size_t) cell * (noisy->count + 1)] > 0;
}

/* Cells of attribute i of the table, without those for 'other' and NULL and those that a predicate rules out. */
static void
find_levels(look *l, int i, int32 cells, int32 stride, int32 others)
{
	const pe_attribute *domain = &l->release.columns[l->attribute[i]].domain;

	l->level[i] = palloc(cells * sizeof(int32));
	for (int32 c = 0; c < cells; c++)
	{
		bool		any = false;

		for (int32 k = 0; k < others && !any; k++)
			any = can_have_rows(&l->noisy, c * stride + (stride == 1 ? k * cells : k));
		if (any && !pe_attribute_is_other(domain, c) && !pe_attribute_is_null(domain, c))
			l->level[i][l->levels[i]++] = c;
	}
}

static void
check_two_levels(const look *l, int i)
{
	if (l->levels[i] == 2)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("attribute \"%s\" has %d levels, and proportions are of two", l->h->attribute[i], l->levels[i]),
			 errhint("Kind \"chi2\" takes any number; or measure a release whose predicate leaves two.")));
}

static int32
cells_of(const look *l, int i)
{
	return pe_attribute_cells(&l->release.columns[l->attribute[i]].domain);
}

/* The levels of one attribute. */
static void
choose_levels(look *l, int i)
{
	find_levels(l, i, cells_of(l, i), 1, 1);
}

/* The levels of both, and the table of these. */
static void
choose_table(look *l)
{
	int32		columns = cells_of(l, 1);
	int32	   *cell;
	int32		count = 0;
	int32		last;

	find_levels(l, 0, cells_of(l, 0), columns, columns);
	find_levels(l, 1, columns, 1, cells_of(l, 0));
	cell = palloc((l->levels[0] * l->levels[1] + 1) * sizeof(int32));
	if (l->h->kind == PE_HYPOTHESIS_PROPORTIONS)
	{
		check_two_levels(l, 0);
		check_two_levels(l, 1);
		/* the last level of the outcome is the one that is counted */
		last = l->level[0][1];
		l->level[0][1] = l->level[0][0];
		l->level[0][0] = last;
	}
	for (int i = 0; i < l->levels[0]; i++)
		for (int j = 0; j < l->levels[1]; j++)
			cell[count++] = l->level[0][i] * columns + l->level[1][j];
	l->noisy = pe_noisy_choose(&l->noisy, count, cell);
}

/* ------------------------------------------------------------------
 * Whether it is shown
 * ------------------------------------------------------------------
 */

/* The lower end of the interval of a count. */
static double
lower_end(const pe_noisy *a, int32 i)
{
	return a->value[i] - a->half[0] * sqrt(a->covariance[(size_t) i * (a->count + 1)]);
}

/*
 * Each count that the test is made of has to be shown: of means those of the groups, which are first, and else all
 * cells that can have rows.
 */
static bool
is_shown(const look *l)
{
	pe_min_count rule = pe_release_rule(&l->release);
	int32		cells = l->h->kind == PE_HYPOTHESIS_MEANS ? l->levels[1] : l->noisy.count;
	int32		hidden = 0;

	if (rule.units == 0)
		return true;
	for (int32 i = 0; i < cells; i++)
		hidden += can_have_rows(&l->noisy, i) && !pe_min_count_shows(&rule, lower_end(&l->noisy, i));
	pe_suppress_tell(&rule, hidden, 0, cells);
	return hidden == 0;
}

/* ------------------------------------------------------------------
 * Tests
 * ------------------------------------------------------------------
 */

/* A hash of what was measured and what is asked: the same release and test have the same p-value. */
static pe_bootstrap
bootstrap_of(const look *l)
{
	static const uint64 key[2] = {UINT64CONST(0x70675f657073696c), UINT64CONST(0x6f6e207465737473)};
	const pe_release *stored = &l->parts->release;
	char	   *asked = psprintf("%s %s", pe_hypothesis_kinds[l->h->kind], names_text(l->h));
	pe_bootstrap how = {.replicates = l->h->replicates > 0 ? l->h->replicates : PE_REPLICATES};
	uint64		payload[2];

	pe_siphash(key, stored->value, stored->values * sizeof(int64), payload);
	pe_siphash(payload, asked, strlen(asked), how.seed);
	return how;
}

static void
check_count(const look *l, const char *what, int i, int given)
{
	if (given == l->levels[i])
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%d %s are given, and attribute \"%s\" has %d levels", given, what, l->h->attribute[i],
					l->levels[i]),
			 errdetail("Cells for other values and NULL are no levels here, nor those that a predicate rules out.")));
}

/* Whether the levels ascend by what they mean: texts are in the order of the alphabet, which says nothing of it. */
static bool
has_order(const pe_column *column)
{
	return column->ordered && !(column->domain.kind == PE_LEVELS && pe_type_is_text(column->type));
}

/* The cure, in SQL. */
static char *
scores_text(const look *l, int i)
{
	StringInfoData json;
	StringInfoData numbers;

	initStringInfo(&json);
	initStringInfo(&numbers);
	escape_json(&json, l->h->attribute[i]);
	for (int k = 0; k < l->levels[i]; k++)
		appendStringInfo(&numbers, "%s%d", k > 0 ? ", " : "", k);
	return quote_literal_cstr(psprintf("{\"scores\": {%s: [%s]}}", json.data, numbers.data));
}

/* 1, 2, ... where none are given. */
static const double *
scores_of(const look *l, int i)
{
	double	   *score;

	if (l->h->score[i] != NULL)
	{
		check_count(l, "scores", i, l->h->scores[i]);
		return l->h->score[i];
	}
	if (!has_order(&l->release.columns[l->attribute[i]]) && l->levels[i] > 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("attribute \"%s\" has no order", l->h->attribute[i]),
				 errdetail("Numbers, bins, times, booleans and enums have one; the alphabet is none."),
				 errhint("Give a score for each of its levels, as dp.describe lists them: options => %s.",
						 scores_text(l, i))));
	score = palloc(l->levels[i] * sizeof(double));
	for (int k = 0; k < l->levels[i]; k++)
		score[k] = k + 1;
	return score;
}

static void
test_table(look *l, const pe_bootstrap *how, pe_test_result *result)
{
	pe_table_noise noise;
	pe_noisy_table table = {l->levels[0], l->levels[1], l->noisy.value, &noise};

	pe_noisy_law(&l->noisy, &noise);
	if (l->h->kind == PE_HYPOTHESIS_CHI2)
		pe_test_independence(&table, how, result);
	else if (l->h->kind == PE_HYPOTHESIS_TREND)
		pe_test_trend(&table, scores_of(l, 0), scores_of(l, 1), how, result);
	else
		pe_test_proportions(&table, how, result);
	pe_table_noise_free(&noise);
}

static void
test_goodness(look *l, const pe_bootstrap *how, pe_test_result *result)
{
	pe_table_noise noise;
	pe_noisy_table table;

	choose_levels(l, 0);
	l->noisy = pe_noisy_choose(&l->noisy, l->levels[0], l->level[0]);
	check_count(l, "probabilities", 0, l->h->probabilities);
	pe_noisy_law(&l->noisy, &noise);
	table = (pe_noisy_table) {1, l->levels[0], l->noisy.value, &noise};
	if (is_shown(l))
		pe_test_goodness(&table, l->h->probability, how, result);
	pe_table_noise_free(&noise);
}

/* Groups are the levels of the second attribute; of each n, sum and sum of squares. */
static void
choose_groups(look *l)
{
	int32		cells = cells_of(l, 1);
	int32	   *number;

	choose_levels(l, 1);
	if (l->levels[1] < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("attribute \"%s\" has one level, and means are compared of two or more", l->h->attribute[1])));
	number = palloc(3 * l->levels[1] * sizeof(int32));
	for (int s = 0; s < 3; s++)
		for (int g = 0; g < l->levels[1]; g++)
			number[s * l->levels[1] + g] = s * cells + l->level[1][g];
	l->noisy = pe_noisy_choose(&l->noisy, 3 * l->levels[1], number);
}

static void
test_means(look *l, const pe_bootstrap *how, pe_test_result *result)
{
	double		step = pe_number_step(&l->number);
	pe_table_noise noise;
	pe_noisy_table table;

	choose_groups(l);
	if (!is_shown(l))
		return;
	pe_noisy_law(&l->noisy, &noise);
	table = (pe_noisy_table) {3, l->levels[1], l->noisy.value, &noise};
	pe_test_means(&table, l->number.most, how, result);
	result->estimate *= step;
	result->lower *= step;
	result->upper *= step;
	pe_table_noise_free(&noise);
}

void
pe_hypothesis_answer(int64 release, const pe_hypothesis *h, pe_test_result *result)
{
	look		l = {.h = h, .release = {.id = release}, .attribute = {-1, -1}};
	pe_bootstrap how;

	check_hypothesis(h);
	*result = (pe_test_result) {NAN, NAN, NAN, NAN, NAN, NAN};
	PE_UNDONE();
	l.parts = pe_release_read_parts(&l.release, &l.has_counts);
	pe_several_rows_refuse(l.release.dataset->max_rows, "a test");
	pe_attributes_as_given(l.release.dataset, h->attribute, h->attributes);
	if (h->kind == PE_HYPOTHESIS_MEANS)
		read_sums(&l);
	else
		read_counts(&l);
	PE_END_UNDONE();
	how = bootstrap_of(&l);
	if (h->kind == PE_HYPOTHESIS_MEANS)
		test_means(&l, &how, result);
	else if (h->kind == PE_HYPOTHESIS_GOODNESS)
		test_goodness(&l, &how, result);
	else
	{
		choose_table(&l);
		if (is_shown(&l))
			test_table(&l, &how, result);
	}
}

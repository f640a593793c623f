/*
 * table_of_release.c
 *	  A Table One from a paid release of counts or of sums.  See table_of_release.h.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"

#include "ask/suppress.h"
#include "read/noisy_answers.h"
#include "read/quantiles.h"
#include "read/table_of_release.h"
#include "read/table_tests.h"
#include "server/access.h"
#include "server/arguments.h"
#include "server/values.h"
#include "study/table_one.h"

/* A number of no more bins is read as levels: it has no quartiles worth the name. */
#define FEW_BINS 10

typedef struct look
{
	pe_release	counts;			/* as if it were of the counts of all rows, */
	bool		has_counts;		/* by the groups; else only its row and columns are read */
	const pe_column *columns;	/* of the groups that it distinguishes */
	int			attributes;
	pe_noisy	total;			/* with has_counts: rows of each group */
	pe_table_tests tests;		/* and as if it were of sums */
	pe_min_count rule;
	bool		told;
	pe_table_rows *rows;
} look;

static const pe_figure unknown = {NAN, NAN};

/* ------------------------------------------------------------------
 * What it holds
 * ------------------------------------------------------------------
 */

/* A name as given, or in double quotes as SQL has it. */
static bool
is_named(const char *given, const char *name)
{
	char		unquoted[PE_NAME_SIZE];

	return strcmp(given, name) == 0 || (pe_text_unquote(given, unquoted) && strcmp(unquoted, name) == 0);
}

/* One of the groups; NULL: none. */
static const pe_column *
group_named(const look *l, const char *name)
{
	for (int a = 0; a < l->attributes; a++)
		if (is_named(name, l->columns[a].name))
			return &l->columns[a];
	return NULL;
}

/* A number that is added up; NULL: none. */
static const pe_column *
number_named(const look *l, const char *name)
{
	const pe_aggregation *g = &l->tests.parts->aggregation;

	for (int n = 0; n < g->needed.numbers; n++)
		if (g->number_column[n] != NULL && is_named(name, g->number_column[n]->name))
			return g->number_column[n];
	return NULL;
}

static void __attribute__((noreturn))
refuse_by(const look *l, const char *by)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " is not by \"%s\"", l->rows->release, by),
			 errhint("The view dp.releases lists the attributes of each release.")));
}

/* attribute NULL: of any. */
static void __attribute__((noreturn))
refuse_lack(const look *l, const char *attribute)
{
	const char *by = l->rows->by != NULL ? l->rows->by->name : NULL;
	const char *x = attribute != NULL ? attribute : "x";
	const char *number = quote_identifier(x);
	const char *sums[] = {"count(*)", psprintf("avg(%s)", number), psprintf("stddev(%s)", number)};
	const char *names = by != NULL ? pe_names_literal((const char *[]) {by, x}, 2) : pe_names_literal(&x, 1);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("release " INT64_FORMAT " holds no table of %s%s", l->rows->release,
					attribute != NULL ? psprintf("\"%s\"", attribute) : "an attribute",
					by != NULL ? psprintf(" by \"%s\"", by) : ""),
			 errdetail("Levels, quartiles and what is missing are made of counts of %s, the mean of a number of its "
					   "sums%s.", names, by != NULL ? psprintf(" by \"%s\"", by) : ""),
			 errhint("dp.histogram with attributes => %s measures such counts, dp.aggregate with aggregates => %s "
					 "and by => %s such sums, and dp.table_one of the dataset both.", names,
					 pe_names_literal(sums, 3), pe_names_literal(&by, by != NULL))));
	pg_unreachable();
}

/* identity(by) * identity(x), of those that there are. */
static char *
cells_text(const look *l, const pe_column *x)
{
	const pe_column *by = l->rows->by;
	const char *groups = by != NULL ? psprintf("identity(%s)", quote_identifier(by->name)) : "";
	const char *cells = x != NULL ? psprintf("identity(%s)", quote_identifier(x->name)) : "";

	if (by == NULL && x == NULL)
		return "total";
	return psprintf("%s%s%s", groups, by != NULL && x != NULL ? " * " : "", cells);
}

/* Counts: [group * cells of x + cell]; NULL: of groups alone.  False if they do not follow. */
static bool
read_counts(look *l, const pe_column *x, pe_noisy *cells)
{
	pe_release *r = &l->counts;
	pe_workload *workload = palloc0(sizeof(*workload));
	int32		undetermined;

	PE_UNDONE();
	pe_parse_columns_workload(r->dataset, r->columns, r->domain, cells_text(l, x), workload);
	*cells = pe_noisy_answers(r, workload, &undetermined);
	PE_END_UNDONE();
	return undetermined < 0;
}

/* With the sum of all groups behind the numbers of each kind: [kind * (groups + 1) + group]. */
static void
add_all_groups(const look *l, int kinds, pe_noisy *sums)
{
	int32		groups = l->rows->groups;
	double	   *map = palloc0((size_t) kinds * (groups + 1) * sums->count * sizeof(double));

	for (int s = 0; s < kinds; s++)
		for (int32 q = 0; q < groups; q++)
		{
			map[(size_t) (s * (groups + 1) + q) * sums->count + s * groups + q] = 1;
			map[(size_t) (s * (groups + 1) + groups) * sums->count + s * groups + q] = 1;
		}
	*sums = pe_noisy_map(sums, kinds * (groups + 1), map);
	pfree(map);
}

/* n, sums, and with the third kind squares of a number; false: they are not held. */
static bool
read_kinds(look *l, const pe_column *x, int kinds, pe_noisy *sums, pe_number *bounds)
{
	bool		has;

	PE_UNDONE();
	has = pe_noisy_sums(&l->tests.release, l->tests.parts, x->name, cells_text(l, NULL), kinds == 3, sums, bounds);
	PE_END_UNDONE();
	return has;
}

/* As many kinds as were measured; 0: none. */
static int
read_sums(look *l, const pe_column *x, pe_noisy *sums, pe_number *bounds)
{
	int			kinds = read_kinds(l, x, 3, sums, bounds) ? 3 : read_kinds(l, x, 2, sums, bounds) ? 2 : 0;

	if (kinds > 0)
		add_all_groups(l, kinds, sums);
	return kinds;
}

/* ------------------------------------------------------------------
 * What is shown, and compared
 * ------------------------------------------------------------------
 */

static bool
is_shown(const look *l, pe_figure rows, double half)
{
	return l->rule.units == 0 || pe_min_count_shows(&l->rule, rows.value - half * rows.error);
}

static pe_figure
rows_of_group(const pe_noisy *rows, int32 group)
{
	return pe_table_sum(rows, &group, 1);
}

/* One NOTICE for all of the table.  rows: of each group, then perhaps more. */
static void
tell_hidden(look *l, const pe_noisy *rows)
{
	int32		hidden = 0;

	for (int32 q = 0; q < l->rows->groups; q++)
		hidden += !is_shown(l, rows_of_group(rows, q), rows->half[0]);
	if (!l->told)
		pe_suppress_tell(&l->rule, hidden, 0, l->rows->groups);
	l->told = true;
}

/* Groups with a declared value of by, which are shown and have rows above the noise. */
static void
choose_groups(look *l, const pe_noisy *rows)
{
	const pe_column *by = l->rows->by;
	int32	   *group = palloc(l->rows->groups * sizeof(int32));

	l->tests.groups = 0;
	l->tests.group = group;
	for (int32 q = 0; by != NULL && q < pe_attribute_ordered_cells(&by->domain); q++)
		if (is_shown(l, rows_of_group(rows, q), rows->half[0]) && pe_table_has_rows(rows_of_group(rows, q)))
			group[l->tests.groups++] = q;
}

/* ------------------------------------------------------------------
 * Levels
 * ------------------------------------------------------------------
 */

/* Places of some cells of a group, or of all together; returns how many they are. */
static int32
places(const look *l, int32 group, int32 from, int32 to, int32 cells, int32 *place)
{
	int32		count = 0;

	for (int32 q = 0; q < l->rows->groups; q++)
		for (int32 c = from; c < to; c++)
			if (group == q || group == l->rows->groups)
				place[count++] = q * cells + c;
	return count;
}

/* The text of one cell; of: among which cells it has a percentage. */
static void
put_count(const look *l, const pe_noisy *counts, int32 group, int32 cell, int32 of, int32 cells, char *text)
{
	int32	   *part = palloc(counts->count * sizeof(int32));
	int32	   *whole = palloc(counts->count * sizeof(int32));
	int32		parts = places(l, group, cell, cell + 1, cells, part);
	int32		wholes = places(l, group, 0, of, cells, whole);
	pe_figure	count = pe_table_sum(counts, part, parts);
	bool		shown = is_shown(l, count, counts->half[0]) &&
		is_shown(l, pe_table_sum(counts, whole, wholes), counts->half[0]);

	pe_table_count(shown ? count : unknown, pe_table_share(counts, part, parts, whole, wholes), text);
	pfree(part);
	pfree(whole);
}

/* The table of values by the groups that are compared, in place of all counts; false: a cell of it is not shown. */
static bool
choose_table(const look *l, pe_noisy *counts, int32 values, int32 cells)
{
	int32		groups = l->tests.groups;
	int32	   *cell = palloc((values * groups + 1) * sizeof(int32));
	bool		shown = true;

	for (int32 c = 0; c < values; c++)
		for (int32 i = 0; i < groups; i++)
		{
			cell[c * groups + i] = l->tests.group[i] * cells + c;
			shown = shown && is_shown(l, rows_of_group(counts, cell[c * groups + i]), counts->half[0]);
		}
	if (shown)
		*counts = pe_noisy_choose(counts, values * groups, cell);
	return shown;
}

/* The largest of all pairs of groups; NaN: one is not known, or there are no two. */
static double
largest_of_pairs(const look *l, const void *figures,
				 double (*difference) (const look *l, const void *figures, int a, int b))
{
	double		largest = -1;

	for (int a = 0; a < l->tests.groups; a++)
		for (int b = 0; b < a; b++)
		{
			double		of_two = difference(l, figures, a, b);

			if (isnan(of_two))
				return NAN;
			largest = Max(largest, of_two);
		}
	return largest >= 0 ? largest : NAN;
}

/* Of a table of values by groups. */
static double
difference_of_levels(const look *l, const void *figures, int a, int b)
{
	const pe_noisy *table = figures;
	int			groups = l->tests.groups;
	int32		values = table->count / groups;
	double	   *count = palloc(2 * values * sizeof(double));

	for (int32 c = 0; c < values; c++)
	{
		count[c] = table->value[c * groups + a];
		count[values + c] = table->value[c * groups + b];
	}
	return pe_table_difference_of_levels(values, count, count + values);
}

static void
compare_levels(look *l, const pe_column *x, pe_noisy *counts, int32 values, pe_table_row *row)
{
	choose_groups(l, &l->total);
	if (l->tests.groups < 2 || values < 1 || !choose_table(l, counts, values, pe_attribute_cells(&x->domain)))
		return;
	row->difference = largest_of_pairs(l, counts, difference_of_levels);
	if (values > 1)
		row->p_value = pe_table_tests_counts(&l->tests, x->name, values, counts);
}

static void
add_missing_cell(look *l, const pe_column *x, const pe_noisy *counts)
{
	int32		cells = pe_attribute_cells(&x->domain);
	pe_table_row *row;

	if (pe_table_values_of(x) == cells)
		return;
	row = pe_table_add_row(l->rows, x->name, "(missing)");
	for (int32 q = 0; q <= l->rows->groups; q++)
		put_count(l, counts, q, cells - 1, cells, cells, row->text[q]);
}

static void
add_levels(look *l, const pe_column *x, pe_noisy *counts)
{
	int32		values = pe_table_values_of(x);
	int32		first = l->rows->count;

	for (int32 c = 0; c < values; c++)
	{
		pe_table_row *row = pe_table_add_row(l->rows, x->name, pe_table_cell_name(x, c));

		for (int32 q = 0; q <= l->rows->groups; q++)
			put_count(l, counts, q, c, values, pe_attribute_cells(&x->domain), row->text[q]);
	}
	add_missing_cell(l, x, counts);
	if (values > 0)
		compare_levels(l, x, counts, values, &l->rows->row[first]);
}

/* ------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------
 */

static bool
has_quartiles(const pe_column *x)
{
	return x->domain.kind == PE_BINS && pe_type_is_number(x->type) &&
		pe_attribute_ordered_cells(&x->domain) > FEW_BINS;
}

static void
add_quartiles(look *l, const pe_column *x, const pe_noisy *counts)
{
	int32		groups = l->rows->groups;
	pe_figure  *quartile = palloc((groups + 1) * 3 * sizeof(*quartile));
	pe_table_row *row = pe_table_add_row(l->rows, x->name, "median [quartiles]");

	if (l->rows->by != NULL)
		pe_quartiles_of_release(&l->counts, x, l->rows->by->name, quartile);
	pe_quartiles_of_release(&l->counts, x, NULL, quartile + groups * 3);
	if (l->rows->by == NULL)
		memcpy(quartile, quartile + 3, 3 * sizeof(*quartile));
	for (int32 q = 0; q <= groups; q++)
		pe_table_median(quartile + q * 3, pe_type_is_integer(x->type) ? 1 : 0, row->text[q]);
	add_missing_cell(l, x, counts);
}

/* Mean and deviation of a number, of each group. */
typedef struct averages
{
	pe_figure  *mean;
	pe_figure  *deviation;
} averages;

static double
difference_of_means(const look *l, const void *figures, int a, int b)
{
	const averages *f = figures;
	int32		one = l->tests.group[a];
	int32		other = l->tests.group[b];

	return pe_table_difference_of_means(f->mean[one].value, f->deviation[one].value, f->mean[other].value,
										f->deviation[other].value);
}

static averages
averages_of(const look *l, const pe_noisy *sums, int kinds, const pe_number *bounds)
{
	int32		groups = l->rows->groups + 1;
	double		step = pe_number_step(bounds);
	averages	f = {palloc(groups * sizeof(pe_figure)), palloc(groups * sizeof(pe_figure))};

	for (int32 q = 0; q < groups; q++)
	{
		int32		place[3] = {q, groups + q, kinds > 2 ? 2 * groups + q : -1};

		f.mean[q] = f.deviation[q] = unknown;
		if (!is_shown(l, rows_of_group(sums, q), sums->half[0]))
			continue;
		pe_table_moments(sums, place, &f.mean[q], &f.deviation[q]);
		f.mean[q] = (pe_figure) {pe_number_middle(bounds) + step * f.mean[q].value, step * f.mean[q].error};
		f.deviation[q] = (pe_figure) {step * f.deviation[q].value, step * f.deviation[q].error};
	}
	return f;
}

/*
 * Rows without the number: all rows less those with it.  What both have in common is not looked at, so its error is
 * rather too large.
 */
static void
add_missing_numbers(look *l, const pe_column *x, const pe_noisy *sums)
{
	pe_table_row *row;

	if (!l->has_counts ||
		(pe_has_all_values(x) && pe_column_is_never_null(l->tests.release.dataset, x)))
		return;
	row = pe_table_add_row(l->rows, x->name, "(missing)");
	for (int32 q = 0; q <= l->rows->groups; q++)
	{
		int32	   *place = palloc(l->rows->groups * sizeof(int32));
		pe_figure	total = pe_table_sum(&l->total, place, places(l, q, 0, 1, 1, place));
		pe_figure	with = rows_of_group(sums, q);
		pe_figure	without = {total.value - with.value, hypot(total.error, with.error)};

		if (!is_shown(l, without, sums->half[0]))
			without = unknown;
		pe_table_count(without, pe_table_percent(without, total), row->text[q]);
	}
}

static bool
add_number(look *l, const pe_column *x)
{
	pe_noisy	sums;
	pe_number	bounds;
	int			kinds = read_sums(l, x, &sums, &bounds);
	averages	f;
	pe_table_row *row;

	if (kinds == 0)
		return false;
	tell_hidden(l, &sums);
	choose_groups(l, &sums);
	f = averages_of(l, &sums, kinds, &bounds);
	row = pe_table_add_row(l->rows, x->name, "mean (SD)");
	for (int32 q = 0; q <= l->rows->groups; q++)
		pe_table_mean(f.mean[q], f.deviation[q], row->text[q]);
	row->difference = largest_of_pairs(l, &f, difference_of_means);
	if (l->tests.groups >= 2)
		row->p_value = pe_table_tests_means(&l->tests, x->name);
	add_missing_numbers(l, x, &sums);
	pe_noisy_free(&sums);
	return true;
}

/* ------------------------------------------------------------------
 * The table
 * ------------------------------------------------------------------
 */

static void
add_total(look *l)
{
	pe_table_row *row = pe_table_add_row(l->rows, "n", NULL);

	tell_hidden(l, &l->total);
	for (int32 q = 0; q <= l->rows->groups; q++)
	{
		int32	   *place = palloc(l->rows->groups * sizeof(int32));
		pe_figure	total = pe_table_sum(&l->total, place, places(l, q, 0, 1, 1, place));

		pe_table_count(is_shown(l, total, l->total.half[0]) ? total : unknown, unknown, row->text[q]);
	}
}

/* All that is held of an attribute; false: nothing is. */
static bool
add_attribute(look *l, const char *name)
{
	const pe_column *number = number_named(l, name);
	const pe_column *cells = l->has_counts ? group_named(l, name) : NULL;
	bool		any = number != NULL && add_number(l, number);
	pe_noisy	counts;

	if (cells == NULL || !read_counts(l, cells, &counts))
		return any;
	if (has_quartiles(cells))
		add_quartiles(l, cells, &counts);
	else
		add_levels(l, cells, &counts);
	pe_noisy_free(&counts);
	return true;
}

static void
add_given(look *l, char **attribute, int attributes)
{
	for (int i = 0; i < attributes; i++)
	{
		if (l->rows->by != NULL && is_named(attribute[i], l->rows->by->name))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("attribute \"%s\" is that of the groups", attribute[i]),
					 errhint("Leave it out of attributes, or name another one in by.")));
		if (!add_attribute(l, attribute[i]))
			refuse_lack(l, attribute[i]);
	}
}

static void
add_all(look *l)
{
	const pe_aggregation *g = &l->tests.parts->aggregation;
	bool		any = false;

	for (int a = 0; a < l->attributes; a++)
		if (&l->columns[a] != l->rows->by)
			any |= add_attribute(l, l->columns[a].name);
	for (int n = 0; n < g->needed.numbers; n++)
		if (g->number_column[n] != NULL && group_named(l, g->number_column[n]->name) == NULL)
			any |= add_attribute(l, g->number_column[n]->name);
	if (!any)
		refuse_lack(l, NULL);
}

/* What the release is, and its groups. */
static void
begin_look(look *l, const char *by)
{
	const pe_space *space;

	l->counts.id = l->rows->release;
	PE_UNDONE();
	l->tests.parts = pe_release_read_parts(&l->counts, &l->has_counts);
	PE_END_UNDONE();
	l->tests.release = l->counts;
	space = &l->tests.parts->aggregation.space[0];
	l->columns = space->columns;
	l->attributes = space->attributes;
	l->rule = pe_release_rule(&l->counts);
	l->rows->groups = 1;
	if (by == NULL)
		return;
	l->rows->by = group_named(l, by);
	if (l->rows->by == NULL)
		refuse_by(l, by);
	l->rows->groups = pe_attribute_cells(&l->rows->by->domain);
	l->tests.by = l->rows->by->name;
	pe_table_tests_tell(&l->tests);
}

void
pe_table_of_release(int64 release, const char *by, char **attribute, int attributes, pe_table_rows *rows)
{
	look		l = {.rows = rows};

	*rows = (pe_table_rows) {.release = release};
	begin_look(&l, by);
	l.has_counts = l.has_counts && read_counts(&l, NULL, &l.total);
	if (l.has_counts)
		add_total(&l);
	if (attributes > 0)
		add_given(&l, attribute, attributes);
	else
		add_all(&l);
}

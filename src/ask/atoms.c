/*
 * atoms.c
 *	  Conditions of aggregates as an attribute.  See atoms.h.
 */
#include "postgres.h"

#include <math.h>

#include "lib/stringinfo.h"
#include "utils/builtins.h"

#include "ask/answers.h"
#include "ask/atoms.h"
#include "server/settings.h"

/*
 * The most cells of groups times classes that a strategy is looked for where
 * rows overlap: some seconds.
 */
#define MOST_OVERLAPPING 1024

/* The most numbers of a matrix of rows. */
#define MOST_ENTRIES 65536

/* Sums that are measured together. */
typedef struct function
{
	int			first;			/* of the needed sums */
	int			members;
	int			rows;			/* that are answered; rows x atoms */
	bool	   *row;
	int			asked;			/* likewise */
	bool	   *ask;
	int32		classes;
	int32	   *class_of;		/* of each atom, or -1 */
	bool		overlaps;		/* some class is of several asked rows */
	char	   *text;			/* of what is measured; NULL: each sum is measured by itself */
	bool		is_kept;		/* its strategy is */
} function;

typedef struct finding
{
	pe_aggregation *g;
	uint16	   *atom;
	int32		atoms;
	bool	   *used;			/* of each sum */
	bool	   *of_share;
	int			functions;
	function   *function;
	char	   *name;			/* of the attribute, quoted */
	const char *groups;			/* as of pe_atom_space */
	bool		counts_once;	/* the groups' workload does */
	pe_column  *columns;		/* of groups, and the attribute of a function's classes */
} finding;

/* ------------------------------------------------------------------
 * Functions
 * ------------------------------------------------------------------
 */

/* A centred sum whose middle is 0 needs no count. */
static bool
is_weighed(const pe_aggregation *g, const pe_aggregate *a, int use)
{
	return a->sum[use] >= 0 && !(a->kind == PE_AGG_NUMBERS && pe_aggregate_is_linear(a) && use == PE_USE_N &&
								 pe_number_middle(&g->needed.number[a->number[0]]) == 0);
}

static void
mark_used(const finding *f, const pe_aggregate *a)
{
	for (int p = 0; p < 2 && a->part[p] != NULL; p++)
		mark_used(f, a->part[p]);
	for (int use = 0; use < PE_AGG_SUMS && a->kind != PE_AGG_RATIO; use++)
		if (is_weighed(f->g, a, use))
		{
			f->used[a->sum[use]] = true;
			f->of_share[a->sum[use]] |= a->kind == PE_AGG_SHARE;
		}
}

static uint64
conditions_of(const pe_sum *sum)
{
	return sum->needs & (PE_HAS_ATTRIBUTE(0) - PE_HAS_CONDITION(0));
}

/* Shares have a total besides, and ranks an attribute more. */
static bool
may_be_together(const finding *f, int s)
{
	const pe_sum *sum = &f->g->needed.sum[s];

	return f->used[s] && !f->of_share[s] && pe_sum_is_of_cells(sum) && sum->needs < PE_HAS_ATTRIBUTE(0);
}

static bool
is_same_function(const pe_sum *one, const pe_sum *other)
{
	return one->kind == other->kind && one->a == other->a && one->b == other->b &&
		(one->needs & ~conditions_of(one)) == (other->needs & ~conditions_of(other));
}

static void
find_together(const finding *f)
{
	pe_aggregation *g = f->g;

	for (int s = 0; s < g->needed.sums; s++)
	{
		g->together[s] = s;
		for (int t = s - 1; t >= 0 && may_be_together(f, s); t--)
			if (may_be_together(f, t) && is_same_function(&g->needed.sum[s], &g->needed.sum[t]))
				g->together[s] = g->together[t];
	}
}

static int
members_of(const pe_aggregation *g, int first)
{
	int			members = 0;

	for (int s = 0; s < g->needed.sums; s++)
		members += g->together[s] == first;
	return members;
}

/* ------------------------------------------------------------------
 * Rows
 * ------------------------------------------------------------------
 */

static void
fill_row(const finding *f, int sum, bool *row)
{
	uint32		needs = pe_sums_mask(&f->g->needed, f->g->needed.sum[sum].needs);

	for (int32 i = 0; i < f->atoms; i++)
		row[i] = (f->atom[i] & needs) == needs;
}

static bool
is_empty(const finding *f, const bool *row)
{
	return memchr(row, true, f->atoms) == NULL;
}

static int
place_of_row(const finding *f, const bool *rows, int count, const bool *row)
{
	for (int r = 0; r < count; r++)
		if (memcmp(rows + (size_t) r * f->atoms, row, f->atoms) == 0)
			return r;
	return -1;
}

/* Unless it is there, or has no atom. */
static void
add_row(const finding *f, bool *rows, int *count, const bool *row)
{
	if (!is_empty(f, row) && place_of_row(f, rows, *count, row) < 0)
		memcpy(rows + (size_t) (*count)++ * f->atoms, row, f->atoms);
}

/* What two rows have in common, and what one has more. */
static void
add_atoms_of(const finding *f, function *of, int above, int below)
{
	bool	   *one = palloc(f->atoms);
	bool	   *other = palloc(f->atoms);
	bool	   *room = palloc(f->atoms);

	fill_row(f, above, one);
	fill_row(f, below, other);
	for (int part = 1; part <= 3; part++)
	{
		for (int32 i = 0; i < f->atoms; i++)
			room[i] = one[i] + 2 * other[i] == part;
		add_row(f, of->ask, &of->asked, room);
	}
}

static int
sum_of_function(const finding *f, const function *of, const pe_aggregate *a)
{
	for (int use = 0; use < PE_AGG_SUMS; use++)
		if (is_weighed(f->g, a, use) && f->g->together[a->sum[use]] == of->first)
			return a->sum[use];
	return -1;
}

static void
add_asked(const finding *f, function *of, const pe_aggregate *a)
{
	int			sum;
	bool	   *row;

	if (a->kind == PE_AGG_RATIO)
	{
		int			above = sum_of_function(f, of, a->part[0]);
		int			below = sum_of_function(f, of, a->part[1]);

		if (above >= 0 && below >= 0)
			add_atoms_of(f, of, above, below);
		else
			for (int p = 0; p < 2; p++)
				add_asked(f, of, a->part[p]);
		return;
	}
	sum = sum_of_function(f, of, a);
	if (sum < 0)
		return;
	row = palloc(f->atoms);
	fill_row(f, sum, row);
	add_row(f, of->ask, &of->asked, row);
}

/* False if a sum counts no atom: it is 0, and no strategy answers it. */
static bool
find_rows(const finding *f, function *of)
{
	const pe_aggregation *g = f->g;
	bool	   *row = palloc(f->atoms);

	of->row = palloc((size_t) of->members * f->atoms);
	of->ask = palloc((size_t) 3 * g->aggregates * f->atoms);	/* of a ratio three, of others one */
	for (int s = of->first; s < g->needed.sums; s++)
	{
		if (g->together[s] != of->first)
			continue;
		fill_row(f, s, row);
		if (is_empty(f, row))
			return false;
		add_row(f, of->row, &of->rows, row);
	}
	for (int i = 0; i < g->aggregates; i++)
		add_asked(f, of, &g->aggregate[i]);
	return true;
}

/* ------------------------------------------------------------------
 * Classes of atoms
 * ------------------------------------------------------------------
 */

static bool
is_distinguished(const finding *f, const function *of, int32 one, int32 other)
{
	for (int r = 0; r < of->asked; r++)
		if (of->ask[(size_t) r * f->atoms + one] != of->ask[(size_t) r * f->atoms + other])
			return true;
	return false;
}

static int
asked_rows_of(const finding *f, const function *of, int32 atom)
{
	int			rows = 0;

	for (int r = 0; r < of->asked; r++)
		rows += of->ask[(size_t) r * f->atoms + atom];
	return rows;
}

static void
find_classes(const finding *f, function *of)
{
	int32	   *first = palloc(f->atoms * sizeof(int32));

	of->class_of = palloc(f->atoms * sizeof(int32));
	for (int32 i = 0; i < f->atoms; i++)
	{
		int			rows = asked_rows_of(f, of, i);
		int32		class = 0;

		of->class_of[i] = -1;
		if (rows == 0)
			continue;
		of->overlaps |= rows > 1;
		while (class < of->classes && is_distinguished(f, of, first[class], i))
			class++;
		if (class == of->classes)
			first[of->classes++] = i;
		of->class_of[i] = class;
	}
}

/* The same rows over classes. */
static bool *
rows_of_classes(const finding *f, const function *of, const bool *row, int rows)
{
	bool	   *over = palloc0(Max((size_t) rows * of->classes, 1));

	for (int r = 0; r < rows; r++)
		for (int32 i = 0; i < f->atoms; i++)
			if (of->class_of[i] >= 0)
				over[(size_t) r * of->classes + of->class_of[i]] = row[(size_t) r * f->atoms + i];
	return over;
}

/* ------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------
 */

static char *
matrix_text(const char *name, const uint8 *entry, int64 rows, int32 columns)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "matrix(%s; {", name);
	for (int64 r = 0; r < rows; r++)
	{
		appendStringInfoString(&text, r > 0 ? ", {" : "{");
		for (int32 c = 0; c < columns; c++)
			appendStringInfo(&text, "%s%d", c > 0 ? "," : "", entry[r * columns + c]);
		appendStringInfoChar(&text, '}');
	}
	appendStringInfoString(&text, "})");
	return text.data;
}

static char *
times(const char *groups, char *factor)
{
	return groups != NULL ? psprintf("%s * %s", groups, factor) : factor;
}

/* A name that no group has. */
static char *
name_of_attribute(const pe_aggregation *g)
{
	char	   *name = pstrdup("where");

	for (int a = 0; a < g->groups; a++)
		if (strcmp(g->columns[a].name, name) == 0)
		{
			name = psprintf("where %d", a + 1);
			a = -1;
		}
	return name;
}

/* An attribute with so many levels, behind the groups. */
static void
set_attribute(const finding *f, int32 levels)
{
	pe_column  *column = &f->columns[f->g->groups];
	pe_attribute attribute = {
		.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP,
		.points = levels, .point = palloc0(levels * sizeof(pe_point))
	};

	for (int32 i = 0; i < levels; i++)
		attribute.point[i].i = i;
	if (pe_attribute_prepare(&attribute) != PE_DOMAIN_OK)
		elog(ERROR, "atoms are no attribute");
	column->domain = attribute;
}

/* What is read of classes is in canonical texts already: no edges, and nothing to name in an error. */
static bool
parse(const pe_column *columns, const pe_domain *domain, const char *text, pe_workload *workload)
{
	const char *names[PE_MAX_ATTRIBUTES];
	pe_shape	shape;
	pe_text_error error;

	for (int a = 0; a < domain->attributes; a++)
		names[a] = columns[a].name;
	pe_shape_of_domain(domain, names, &shape);
	return pe_workload_parse(text, &shape, workload, &error);
}

/* What stands for the groups in a product; false if they cannot stand in one. */
static bool
find_groups(finding *f)
{
	pe_aggregation *g = f->g;
	const pe_workload *workload = &g->space[0].workload;
	pe_workload product;

	f->counts_once = pe_workload_counts_once(workload);
	if (g->groups > 0)
		f->groups = strcmp(workload->canonical, "identity") == 0 ? pe_text_of_identity(g->columns, g->groups)
			: psprintf("(%s)", workload->canonical);
	set_attribute(f, 1);
	return (g->groups > 0 || workload->queries == 1) && g->groups < PE_MAX_ATTRIBUTES &&
		parse(f->columns, pe_columns_domain(f->columns, g->groups + 1, 0),
			  times(f->groups, psprintf("identity(%s)", f->name)), &product);
}

/* ------------------------------------------------------------------
 * What is measured of a function
 * ------------------------------------------------------------------
 */

static int64
cells_with(const finding *f, int32 classes)
{
	return (int64) f->g->space[0].domain->cells * classes;
}

static bool
fits(const finding *f, const function *of)
{
	return cells_with(f, of->classes) <= PE_MAX_CELLS && cells_with(f, f->atoms) <= PE_MAX_CELLS &&
		(int64) of->rows * of->classes <= MOST_ENTRIES && (int64) of->asked * of->classes <= MOST_ENTRIES;
}

/* The classes that rows have, all together. */
static int64
classes_of_rows(const finding *f, const function *of)
{
	const bool *row = rows_of_classes(f, of, of->row, of->rows);
	int64		classes = 0;

	for (int64 i = 0; i < (int64) of->rows * of->classes; i++)
		classes += row[i];
	return classes;
}

static void
measure_classes(const finding *f, function *of)
{
	of->text = times(f->groups, psprintf("identity(%s)", f->name));
	of->is_kept = !f->counts_once;
}

/* Variances of the classes added up, beside those of rows that each have a share of the cost. */
static void
measure_classes_if_better(const finding *f, function *of)
{
	of->text = NULL;
	of->is_kept = false;
	if (f->counts_once && classes_of_rows(f, of) <= (int64) of->rows * of->members)
		measure_classes(f, of);
}

static void
measure_rows(const finding *f, function *of)
{
	const bool *ask = rows_of_classes(f, of, of->ask, of->asked);

	of->text = times(f->groups, matrix_text(f->name, (const uint8 *) ask, of->asked, of->classes));
	of->is_kept = true;
}

static void
choose(const finding *f, function *of)
{
	if (!fits(f, of))
		return;
	if (!of->overlaps)
		measure_classes(f, of);
	else if (cells_with(f, of->classes) <= MOST_OVERLAPPING)
		measure_rows(f, of);
	else
		measure_classes_if_better(f, of);
	if (of->is_kept && cells_with(f, of->classes) > MOST_OVERLAPPING)
		measure_classes_if_better(f, of);
}

static bool
is_same_text(const function *one, const function *other)
{
	return other->is_kept && one->classes == other->classes && strcmp(one->text, other->text) == 0;
}

static int
functions_alike(const finding *f, const function *of)
{
	int			alike = 0;

	for (int i = 0; i < f->functions; i++)
		alike += is_same_text(of, &f->function[i]);
	return alike;
}

/* Whether a sum that is measured in no function has a strategy that is kept. */
static bool
others_are_kept(const finding *f)
{
	const pe_aggregation *g = f->g;

	for (int s = 0; s < g->needed.sums; s++)
	{
		bool		together = false;

		for (int i = 0; i < f->functions; i++)
			together |= f->function[i].text != NULL && g->together[s] == f->function[i].first;
		if (f->used[s] && !together && !pe_sum_is_by_unit(&g->needed.sum[s]) &&
			(!f->counts_once || g->needed.sum[s].needs >= PE_HAS_ATTRIBUTE(0)))
			return true;
	}
	return false;
}

/* A release has one strategy that is kept: that of most functions, the first of those. */
static void
keep_one(const finding *f)
{
	const function *most = NULL;

	for (int i = 0; i < f->functions && !others_are_kept(f); i++)
		if (f->function[i].is_kept && (most == NULL || functions_alike(f, &f->function[i]) > functions_alike(f, most)))
			most = &f->function[i];
	for (int i = 0; i < f->functions; i++)
		if (f->function[i].is_kept && (most == NULL || !is_same_text(most, &f->function[i])))
			measure_classes_if_better(f, &f->function[i]);
}

/* Of groups that overlap what is left out is measured over them alone, by a strategy that is kept too. */
static void
choose_all(const finding *f)
{
	for (int i = 0; i < f->functions; i++)
		choose(f, &f->function[i]);
	keep_one(f);
	if (others_are_kept(f))
		for (int i = 0; i < f->functions; i++)
			if (f->function[i].is_kept)
				measure_classes_if_better(f, &f->function[i]);
}

/* ------------------------------------------------------------------
 * Spaces
 * ------------------------------------------------------------------
 */

/* The predicate leaves what it leaves of the groups. */
static bool *
possible_of(const pe_space *groups, int32 classes)
{
	int32		cells = groups->domain->cells;
	bool	   *possible;

	if (groups->possible == NULL)
		return NULL;
	possible = pe_alloc((size_t) cells * classes, sizeof(bool));
	for (int32 cell = 0; cell < cells; cell++)
		memset(possible + (size_t) cell * classes, groups->possible[cell], classes);
	return possible;
}

static void
parse_or_fail(const pe_space *s, const char *text, pe_workload *workload)
{
	if (!parse(s->columns, s->domain, text, workload))
		elog(ERROR, "a workload of atoms cannot be read: %s", text);
}

static int
add_space(const finding *f, const function *of)
{
	pe_aggregation *g = f->g;
	pe_space   *s = &g->space[g->spaces];
	struct pe_atom_space *by = palloc0(sizeof(*by));
	pe_column  *columns = palloc((g->groups + 1) * sizeof(*columns));

	*s = (pe_space) {.by_atom = by};
	set_attribute(f, of->classes);
	memcpy(columns, f->columns, (g->groups + 1) * sizeof(*columns));
	s->attributes = g->groups + 1;
	s->columns = columns;
	s->set = g->space[0].set;
	s->domain = pe_columns_domain(columns, s->attributes, 0);
	s->possible = possible_of(&g->space[0], of->classes);
	parse_or_fail(s, of->text, &s->workload);
	by->atoms = f->atoms;
	by->classes = of->classes;
	by->class_of = of->class_of;
	by->rows = of->rows;
	by->row = rows_of_classes(f, of, of->row, of->rows);
	by->by_class = pe_workload_counts_once(&s->workload);
	by->groups = f->groups;
	parse_or_fail(s, times(by->groups, matrix_text(f->name, (const uint8 *) by->row, by->rows, by->classes)),
				  &by->told);
	return g->spaces++;
}

/* A space of another function that is the same. */
static int
find_space(const finding *f, const function *of)
{
	const pe_aggregation *g = f->g;
	size_t		size = (size_t) of->rows * of->classes;

	for (int i = 1; i < g->spaces; i++)
	{
		const struct pe_atom_space *by = g->space[i].by_atom;

		if (by->classes == of->classes && by->rows == of->rows &&
			memcmp(by->class_of, of->class_of, f->atoms * sizeof(int32)) == 0 &&
			memcmp(by->row, rows_of_classes(f, of, of->row, of->rows), size) == 0 &&
			by->by_class == !of->is_kept)
			return i;
	}
	return -1;
}

static void
place_function(const finding *f, const function *of)
{
	pe_aggregation *g = f->g;
	int			space = of->text != NULL ? find_space(f, of) : -1;

	if (of->text != NULL && space < 0)
		space = add_space(f, of);
	for (int s = of->first; s < g->needed.sums; s++)
		if (g->together[s] == of->first)
			g->space_of[s] = space;
}

static void
find_functions(finding *f)
{
	pe_aggregation *g = f->g;

	f->function = palloc0(g->needed.sums * sizeof(*f->function));
	for (int s = 0; s < g->needed.sums; s++)
	{
		function   *of = &f->function[f->functions];

		*of = (function) {.first = s, .members = members_of(g, s)};
		if (of->members < 2 || !find_rows(f, of))
			continue;
		find_classes(f, of);
		f->functions++;
	}
}

static bool
is_any_together(const pe_aggregation *g)
{
	for (int s = 0; s < g->needed.sums; s++)
		if (g->together[s] != s)
			return true;
	return false;
}

static bool
find_atoms(finding *f)
{
	pe_aggregation *g = f->g;

	f->atom = palloc(PE_MAX_ATOMS * sizeof(*f->atom));
	f->atoms = pe_sums_find_atoms(&g->needed, f->atom);
	g->needed.atom = f->atom;
	g->needed.atoms = f->atoms;
	return f->atoms > 0;
}

static void
measure_apart(pe_aggregation *g)
{
	for (int s = 0; s < g->needed.sums; s++)
		if (g->space_of[s] < 0)
			g->together[s] = s;
}

void
pe_atoms_find(pe_aggregation *g)
{
	finding		f = {.g = g};

	f.used = palloc0(g->needed.sums * sizeof(bool));
	f.of_share = palloc0(g->needed.sums * sizeof(bool));
	g->together = palloc(g->needed.sums * sizeof(int));
	g->space_of = palloc(g->needed.sums * sizeof(int));
	memset(g->space_of, -1, g->needed.sums * sizeof(int));
	for (int i = 0; i < g->aggregates; i++)
		mark_used(&f, &g->aggregate[i]);
	find_together(&f);
	f.columns = palloc0((PE_MAX_ATTRIBUTES + 1) * sizeof(*f.columns));
	memcpy(f.columns, g->columns, g->groups * sizeof(*f.columns));
	f.columns[g->groups].name = name_of_attribute(g);
	f.name = pstrdup(quote_identifier(f.columns[g->groups].name));
	if (is_any_together(g) && find_groups(&f) && find_atoms(&f))
	{
		find_functions(&f);
		choose_all(&f);
		for (int i = 0; i < f.functions; i++)
			place_function(&f, &f.function[i]);
	}
	measure_apart(g);
}

int *
pe_atoms_rows(const pe_aggregation *g, int sum)
{
	const struct pe_atom_space *by = g->space[g->space_of[sum]].by_atom;
	int		   *row_of = palloc(g->needed.sums * sizeof(int));

	for (int s = 0; s < g->needed.sums; s++)
	{
		uint32		needs = pe_sums_mask(&g->needed, g->needed.sum[s].needs);

		row_of[s] = -1;
		for (int r = 0; r < by->rows && g->together[s] == g->together[sum]; r++)
		{
			bool		same = true;

			for (int32 i = 0; i < by->atoms; i++)
				same &= (by->class_of[i] >= 0 && by->row[r * by->classes + by->class_of[i]]) ==
					((g->needed.atom[i] & needs) == needs);
			if (same)
				row_of[s] = r;
		}
	}
	return row_of;
}

/* ------------------------------------------------------------------
 * Once the strategy is known
 * ------------------------------------------------------------------
 */

/* Of each place of the table, from those of groups times classes. */
static void
spread_columns(pe_space *s)
{
	const struct pe_atom_space *by = s->by_atom;
	int32		groups = s->domain->cells / by->classes;
	int32	   *column_of = pe_alloc((size_t) groups * by->atoms, sizeof(int32));

	for (int32 g = 0; g < groups; g++)
		for (int32 i = 0; i < by->atoms; i++)
			column_of[(size_t) g * by->atoms + i] = by->class_of[i] < 0 ? PE_NOT_ASKED
				: s->column_of[(size_t) g * by->classes + by->class_of[i]];
	s->column_of = column_of;
}

/* Each class has noise of its own. */
static void
find_parts_of_classes(pe_space *s)
{
	struct pe_atom_space *by = s->by_atom;
	double	   *variance = pe_unit_variances(&s->measured, &s->workload);
	int32		groups = s->workload.queries / by->classes;
	size_t		size = (size_t) by->rows * by->classes;

	by->parts = by->classes;
	by->alike = true;
	for (int64 i = by->classes; i < s->workload.queries; i++)
		by->alike &= variance[i] == variance[i - by->classes];
	groups = by->alike ? Min(groups, 1) : groups;
	pe_check_memory(groups * size * sizeof(double));
	by->part = pe_alloc(groups * size, sizeof(double));
	for (int32 g = 0; g < groups; g++)
		for (size_t i = 0; i < size; i++)
			by->part[g * size + i] = by->row[i] * sqrt(variance[(size_t) g * by->classes + i % by->classes]);
	pe_free(variance);
}

/* The sums of all pairs of rows, i <= j. */
static uint8 *
pairs_of_rows(const struct pe_atom_space *by, int *pairs)
{
	uint8	   *pair = palloc((size_t) by->rows * (by->rows + 1) / 2 * by->classes);

	*pairs = 0;
	for (int i = 0; i < by->rows; i++)
		for (int j = i; j < by->rows; j++, (*pairs)++)
			for (int32 c = 0; c < by->classes; c++)
				pair[(size_t) *pairs * by->classes + c] = by->row[(size_t) i * by->classes + c] +
					by->row[(size_t) j * by->classes + c];
	return pair;
}

/* The lower triangle L of C = L L', in place; what is not positive has no part. */
static void
factor(double *c, int n)
{
	for (int j = 0; j < n; j++)
	{
		double		whole = c[j * n + j];
		double		pivot = whole;

		for (int k = 0; k < j; k++)
			pivot -= c[j * n + k] * c[j * n + k];
		pivot = pivot > 1e-12 * whole ? sqrt(pivot) : 0;
		for (int i = j; i < n; i++)
		{
			double		rest = c[i * n + j];

			for (int k = 0; k < j; k++)
				rest -= c[i * n + k] * c[j * n + k];
			c[i * n + j] = i == j ? pivot : pivot > 0 ? rest / pivot : 0;
			c[j * n + i] = i == j ? pivot : 0;
		}
	}
}

/* cov(a, b) = (var(a + b) - var(a) - var(b)) / 2, of every group. */
static void
find_parts_of_rows(pe_space *s)
{
	struct pe_atom_space *by = s->by_atom;
	const char *name = quote_identifier(s->columns[s->attributes - 1].name);
	int			n = by->rows;
	int32		groups = by->told.queries / n;
	int			pairs;
	uint8	   *pair = pairs_of_rows(by, &pairs);
	pe_workload sums;
	double	   *variance;

	parse_or_fail(s, times(by->groups, matrix_text(name, pair, pairs, by->classes)), &sums);
	variance = pe_unit_variances(&s->measured, &sums);
	by->parts = n;
	by->part = pe_alloc((size_t) groups * n * n, sizeof(double));
	for (int32 g = 0; g < groups; g++)
	{
		const double *of_pair = variance + (size_t) g * pairs;
		const double *of_row = s->variance + (size_t) g * n;
		double	   *c = by->part + (size_t) g * n * n;

		for (int i = 0; i < n; i++)
			for (int j = i; j < n; j++)
				c[i * n + j] = c[j * n + i] = (*of_pair++ - of_row[i] - of_row[j]) / 2;
		factor(c, n);
	}
	pe_free(variance);
}

void
pe_atoms_settle(pe_space *s)
{
	if (s->by_atom->by_class)
		find_parts_of_classes(s);
	else
		find_parts_of_rows(s);
	spread_columns(s);
}

pe_sum_noise
pe_atoms_noise(const pe_aggregation *g, int part, int sum, int32 group)
{
	const pe_source_of_part *source = &g->source[part];
	const struct pe_atom_space *by = g->space[source->space].by_atom;
	size_t		row = (size_t) (by->alike ? 0 : group) * by->rows + source->row_of[sum];

	return (pe_sum_noise) {by->part + row * by->parts, by->parts, 1, part};
}

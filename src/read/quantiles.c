/*
 * quantiles.c
 *	  dp.quantile and dp.quantile_text: quantiles of an ordered attribute from a paid release, free.
 *
 * The ranks at the edges of its cells are prefixes, what is above an edge is a range: both are answered as dp.answer
 * answers them, and counts/quantile.h makes quantiles of them.  Cells for 'other' and NULL are no part of the
 * distribution.  Attributes in `by` give a group for each combination of their cells; the others are summed over.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "server/arguments.h"
#include "server/float_array.h"
#include "ask/stored_release.h"
#include "ask/suppress.h"
#include "server/return_rows.h"
#include "counts/quantile.h"
#include "read/quantiles.h"
#include "server/access.h"
#include "server/settings.h"
#include "server/values.h"

PG_FUNCTION_INFO_V1(pe_sql_quantile);
PG_FUNCTION_INFO_V1(pe_sql_quantile_text);

/* The most rows that are returned. */
#define MOST_ROWS 10000000

/* A call. */
typedef struct call
{
	pe_release	release;
	const pe_column *column;
	int			by;
	char	  **by_name;
	int			fractions;
	double	   *fraction;
	bool		as_text;		/* else as float8 */
	int32		cells;			/* ordered ones */
	int32		groups;
	pe_labels	labels;			/* of the groups */
	pe_quantile_place *place;	/* groups x fractions */
} call;

enum
{
	RELEASE, ATTRIBUTE, FRACTIONS, BY
};

/* ------------------------------------------------------------------
 * Arguments
 * ------------------------------------------------------------------
 */

static void
read_fractions(FunctionCallInfo fcinfo, call *c)
{
	pe_float_array walk;
	ArrayType  *array;

	array = PG_GETARG_ARRAYTYPE_P(FRACTIONS);
	c->fractions = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	c->fraction = palloc((c->fractions + 1) * sizeof(double));
	if (array_contains_nulls(array))
		pe_refuse_null("a fraction");
	pe_float_array_begin(&walk, array);
	for (int i = 0; i < c->fractions; i++)
	{
		c->fraction[i] = pe_float_array_next(&walk);
		if (!(c->fraction[i] > 0 && c->fraction[i] < 1))
			pe_refuse_parameter("fraction", pe_number_text(c->fraction[i]), "a number above 0 and below 1");
	}
}

static void
check_by(const call *c)
{
	for (int i = 0; i < c->by; i++)
	{
		bool		again = pe_release_column(&c->release, c->by_name[i]) == c->column;

		for (int j = 0; j < i; j++)
			again |= pe_release_column(&c->release, c->by_name[j]) == pe_release_column(&c->release, c->by_name[i]);
		if (again)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("attribute \"%s\" is named twice", c->by_name[i])));
	}
}

static void
check_number(const call *c)
{
	Oid			type = c->column->type;

	if (c->as_text || pe_type_is_number(type))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("attribute \"%s\" has no numbers", c->column->name),
			 errdetail("Its type is %s.", format_type_be(type)),
			 errhint("dp.quantile_text with the same arguments returns text of this type.")));
}

static void
check_column(const call *c)
{
	if (!c->column->ordered)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("attribute \"%s\" has no order", c->column->name),
				 errdetail("Its levels do not ascend.")));
	check_by(c);
	check_number(c);
}

/* ------------------------------------------------------------------
 * The workload
 * ------------------------------------------------------------------
 */

/* A product of every attribute of by, after what is there. */
static void
append_groups(StringInfo text, const call *c, const char *between)
{
	for (int i = 0; i < c->by; i++)
		appendStringInfo(text, "%sidentity(%s)", i > 0 ? " * " : between,
						 quote_identifier(pe_release_column(&c->release, c->by_name[i])->name));
}

/* prefix(x) * groups + ranges(x; what is from cell 1, 2, ... on) * groups */
static char *
ranks_text(const call *c)
{
	const char *name = quote_identifier(c->column->name);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "prefix(%s)", name);
	append_groups(&text, c, " * ");
	if (c->cells == 1)
		return text.data;
	appendStringInfo(&text, " + ranges(%s; ", name);
	for (int32 from = 1; from < c->cells; from++)
		appendStringInfo(&text, "%s%d-%d", from > 1 ? ", " : "", from, c->cells - 1);
	appendStringInfoChar(&text, ')');
	append_groups(&text, c, " * ");
	return text.data;
}

static void
make_labels(call *c)
{
	pe_release *r = &c->release;
	pe_workload *workload = palloc0(sizeof(*workload));
	StringInfoData text;

	initStringInfo(&text);
	append_groups(&text, c, "");
	pe_parse_columns_workload(r->dataset, r->columns, r->domain, c->by > 0 ? text.data : "total", workload);
	c->groups = workload->queries;
	pe_labels_init(&c->labels, workload, r->columns);
}

static void
check_rows(const call *c)
{
	if ((double) c->groups * c->fractions > MOST_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%.0f quantiles are more than can be returned at once", (double) c->groups * c->fractions),
				 errdetail("At most %d can be.", MOST_ROWS)));
	pe_check_memory((size_t) c->groups * c->fractions * sizeof(*c->place)
					+ pe_labels_memory(c->labels.workload, c->release.columns));
}

/* ------------------------------------------------------------------
 * Quantiles
 * ------------------------------------------------------------------
 */

/* Estimates and relative variances of one group, from answers that are numbered by edge, then by group. */
typedef struct group
{
	double	   *below;
	double	   *ascending;
	double	   *below_variance;
	double	   *above_variance;
	pe_rank_estimates ranks;
} group;

static void
make_room(group *g, int32 cells)
{
	g->below = pe_alloc(cells + 1, sizeof(double));
	g->ascending = pe_alloc(cells + 1, sizeof(double));
	g->below_variance = pe_alloc(cells + 1, sizeof(double));
	g->above_variance = pe_alloc(cells + 1, sizeof(double));
}

/* In units of one measurement's noise. */
static double
relative_variance(double stderr_, double noise)
{
	return (stderr_ / noise) * (stderr_ / noise);
}

static void
fill_group(const call *c, int32 number, const pe_noise *noise, group *g)
{
	const pe_answers *answers = &c->release.answers;
	double		unit = noise != NULL ? pe_noise_stderr(noise) : 1;
	int32		cells = c->cells;

	for (int32 e = 1; e <= cells; e++)
	{
		int32		below = (e - 1) * c->groups + number;
		int32		above = (cells + e - 1) * c->groups + number;

		g->below[e] = answers->estimate[below];
		g->below_variance[e] = relative_variance(answers->stderr_[below], unit);
		g->above_variance[e] = e < cells ? relative_variance(answers->stderr_[above], unit) : 0;
	}
	g->above_variance[0] = g->below_variance[cells];
	pe_ascending_ranks(cells, g->below, g->ascending);
	g->ranks = (pe_rank_estimates) {
		.cells = cells, .below = g->below, .ascending = g->ascending,
		.below_variance = noise != NULL ? g->below_variance : NULL,
		.above_variance = g->above_variance,
		.total_stderr = noise != NULL ? answers->stderr_[(cells - 1) * c->groups + number] : 0
	};
}

/* The total of its ranks says how many rows a group has. */
static bool
is_shown(const call *c, const pe_min_count *rule, int32 group)
{
	return pe_min_count_shows(rule, c->release.answers.lower[(c->cells - 1) * c->groups + group]);
}

/* Returns how many groups are not shown. */
static int32
find_quantiles(call *c, const pe_min_count *rule)
{
	int32		hidden = 0;
	const pe_noise *noise = pe_release_noise(&c->release);
	pe_confidence confidence = {0};
	group		g;

	make_room(&g, c->cells);
	c->place = pe_alloc((size_t) c->groups * c->fractions, sizeof(*c->place));
	if (noise != NULL)
		pe_confidence_init(&confidence, noise, c->release.kept.strategy.rows, PE_MISS);
	for (int32 i = 0; i < c->groups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		fill_group(c, i, noise, &g);
		hidden += !is_shown(c, rule, i);
		for (int j = 0; j < c->fractions; j++)
		{
			pe_quantile_place *place = &c->place[(size_t) i * c->fractions + j];

			pe_quantile_find(&g.ranks, c->fraction[j], &confidence, place);
			if (!is_shown(c, rule, i))
				place->cell = place->lower = -1;
		}
	}
	if (noise != NULL)
		pe_confidence_free(&confidence);
	return hidden;
}

/* ------------------------------------------------------------------
 * Values
 * ------------------------------------------------------------------
 */

/* As the session shows values of the column's type. */
static Datum
shown(const call *c, Datum value)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(c->column->type, &output, &is_varlena);
	return CStringGetTextDatum(OidOutputFunctionCall(output, value));
}

/* A value in the input form of the column's type. */
static Datum
value_of_text(const call *c, char *text)
{
	if (!c->as_text)
		return Float8GetDatum(pe_number_of_text(c->column->type, text));
	return shown(c, pe_datum_of_text(c->column->type, text));
}

/* Whole units, rounded down: a day for dates. */
static Datum
whole_inside(const call *c, const pe_quantile_place *place)
{
	const pe_point *point = &c->column->domain.point[place->cell];
	double		width = (double) point[1].i - (double) point[0].i;
	int64		more = (int64) fmin(floor(place->inside * width), width - 1);

	return shown(c, pe_datum_of_int(c->column->type, point[0].i + more));
}

static double
edge_of(const call *c, int32 edge)
{
	return pe_number_of_text(c->column->type, c->column->points[edge]);
}

static double
number_inside(const call *c, const pe_quantile_place *place)
{
	double		lower = edge_of(c, place->cell);

	if (c->column->domain.kind != PE_BINS || pe_bin_is_one_value(&c->column->domain, place->cell))
		return lower;
	return lower + place->inside * (edge_of(c, place->cell + 1) - lower);
}

/* Within a bin, as if its rows were spread evenly. */
static Datum
value_inside(const call *c, const pe_quantile_place *place)
{
	double		value;

	if (c->as_text && c->column->domain.key == PE_KEY_INT)
		return whole_inside(c, place);
	if (pe_bin_is_one_value(&c->column->domain, place->cell))
		return value_of_text(c, c->column->points[place->cell]);
	value = number_inside(c, place);
	return c->as_text ? value_of_text(c, pe_number_text(value)) : Float8GetDatum(value);
}

static void
make_quantile(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const call *c = argument;
	const pe_quantile_place *place = &c->place[row];
	bool		bins = c->column->domain.kind == PE_BINS;
	char	  **points = c->column->points;

	values[0] = pe_label(&c->labels, row / c->fractions);
	values[1] = Float8GetDatum(c->fraction[row % c->fractions]);
	nulls[2] = place->cell < 0;
	nulls[3] = nulls[4] = place->lower < 0;
	if (!nulls[2])
		values[2] = bins ? value_inside(c, place) : value_of_text(c, points[place->cell]);
	if (nulls[3])
		return;
	values[3] = value_of_text(c, points[place->lower]);
	values[4] = value_of_text(c, points[bins ? place->upper : place->upper - 1]);
}

static void
answer_ranks(call *c)
{
	c->cells = pe_attribute_ordered_cells(&c->column->domain);
	make_labels(c);
	check_rows(c);
	pe_release_reply(&c->release, ranks_text(c));
}

void
pe_quartiles_of_release(const pe_release *release, const pe_column *column, char *by, pe_figure *quartile)
{
	double		fraction[] = {.25, .5, .75};
	call	   *c = palloc0(sizeof(*c));
	pe_min_count rule = pe_release_rule(release);

	*c = (call) {.release = *release, .column = column, .by = by != NULL, .by_name = &by, .fractions = 3,
		.fraction = fraction
	};
	answer_ranks(c);
	(void) find_quantiles(c, &rule);
	for (int32 i = 0; i < c->groups * 3; i++)
	{
		const pe_quantile_place *place = &c->place[i];

		quartile[i] = (pe_figure) {NAN, NAN};
		if (place->cell >= 0 && place->lower >= 0)
			quartile[i] = (pe_figure) {
				number_inside(c, place), (edge_of(c, place->upper) - edge_of(c, place->lower)) / 4
			};
	}
}

static Datum
return_quantiles(FunctionCallInfo fcinfo, bool as_text)
{
	call	   *c = palloc0(sizeof(*c));
	char	   *name = pe_text_argument(fcinfo, ATTRIBUTE, "attribute");
	pe_min_count rule;

	c->release.id = PG_GETARG_INT64(RELEASE);
	c->as_text = as_text;
	read_fractions(fcinfo, c);
	c->by_name = pe_names_argument(fcinfo, BY, "by", "an attribute of by", &c->by);
	PE_UNDONE();
	pe_release_read(&c->release);
	PE_END_UNDONE();
	c->column = pe_release_column(&c->release, name);
	check_column(c);
	rule = pe_release_rule(&c->release);
	answer_ranks(c);
	pe_suppress_tell(&rule, find_quantiles(c, &rule), 0, c->groups);
	pe_return_rows(fcinfo, c->groups * c->fractions, 5, make_quantile, c);
	return (Datum) 0;
}

Datum
pe_sql_quantile(PG_FUNCTION_ARGS)
{
	return return_quantiles(fcinfo, false);
}

Datum
pe_sql_quantile_text(PG_FUNCTION_ARGS)
{
	return return_quantiles(fcinfo, true);
}

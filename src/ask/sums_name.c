/*
 * sums_name.c
 *	  Names of columns for aggregates, where none are given.  See ask_sums.h.
 *
 *		count(*)						count
 *		sum(x), count(x)				sum_x, count_x
 *		sum(x * y)						sum_x_y
 *		count(distinct unit)			count_units
 *		count(distinct x)				count_distinct_x
 *		quantile(x, 0.9)				quantile_x_0_9
 *		dropped(5)						dropped
 *		ratio(sum(x), count(*))			ratio_sum_x_count
 *		... where (the second condition of the request)		..._where_2
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "ask/ask_sums.h"

/* Leaves room for "_lower95" and a number behind it. */
#define LONGEST (NAMEDATALEN - 1 - 12)

/* Conditions that aggregates were given, each once, in the order in which they first stand there. */
typedef struct numbering
{
	int			count;
	int			condition[PE_MAX_CONDITIONS];
} numbering;

static int
number_of(numbering *n, int condition)
{
	for (int i = 0; i < n->count; i++)
		if (n->condition[i] == condition)
			return i + 1;
	n->condition[n->count++] = condition;
	return n->count;
}

static void
append_fraction(StringInfo text, double fraction)
{
	char	   *digits = psprintf("_%.9g", fraction);

	for (char *c = digits; *c != '\0'; c++)
		if (strchr("_0123456789e", *c) == NULL)
			*c = '_';
	appendStringInfoString(text, digits);
}

static void
append_name(StringInfo text, const pe_aggregate *a, numbering *n)
{
	appendStringInfoString(text, pe_aggregate_word(a));
	if (a->kind == PE_AGG_UNITS)
		appendStringInfoString(text, "_units");
	else if (a->kind == PE_AGG_DISTINCT)
		appendStringInfoString(text, "_distinct");
	for (int i = 0; i < 2; i++)
	{
		for (int v = 0; a->formula[i] != NULL && v < a->formula[i]->variables; v++)
			appendStringInfo(text, "_%s", a->formula[i]->variable[v].name);
		if (a->column[i] != NULL && a->formula[i] == NULL)
			appendStringInfo(text, "_%s", a->column[i]);
		if (a->part[i] == NULL)
			continue;
		appendStringInfoChar(text, '_');
		append_name(text, a->part[i], n);
	}
	if (a->kind == PE_AGG_QUANTILE)
		append_fraction(text, a->fraction);
	if (a->where != NULL)
		appendStringInfo(text, "_where_%d", number_of(n, a->condition));
}

char *
pe_aggregation_name(const pe_aggregation *g, int number)
{
	StringInfoData text;
	numbering	n = {0};

	for (int i = 0; i <= number; i++)	/* those in front number their conditions */
	{
		initStringInfo(&text);
		append_name(&text, &g->aggregate[i], &n);
	}
	text.data[pg_mbcliplen(text.data, text.len, LONGEST)] = '\0';
	return text.data;
}

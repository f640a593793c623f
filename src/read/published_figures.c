/*
 * published_figures.c
 *	  What was measured, as columns.  See published_figures.h.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"

#include "read/published_figures.h"

const char *const pe_figure_suffix[PE_FIGURES] = {"", "_stderr", "_lower95", "_upper95"};

static void
add_counts(pe_published_figures *f, pe_published_columns *columns)
{
	static const char *const name[PE_FIGURES] = {"estimate", "stderr", "lower95", "upper95"};

	f->measures = 1;
	for (int i = 0; i < PE_FIGURES; i++)
		f->column[0][i] = pe_published_add(columns, name[i], "", FLOAT8OID);
}

/* The first of an aggregate's columns that is taken; NULL: none. */
static const char *
taken_of(const pe_published_columns *columns, const char *name)
{
	for (int i = 0; i < PE_FIGURES; i++)
		if (pe_published_is_taken(columns, pe_published_name(name, pe_figure_suffix[i])))
			return pe_published_name(name, pe_figure_suffix[i]);
	return NULL;
}

/* A name that was given is not changed. */
static const char *
given_name(const pe_published_columns *columns, const char *name)
{
	const char *taken = taken_of(columns, name);

	if (taken != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_COLUMN),
				 errmsg("column \"%s\" would be there twice", taken),
				 errdetail("Each aggregate has a column of its name, "
						   "and others that add _stderr, _lower95 and _upper95.")));
	return name;
}

static const char *
default_name(const pe_published_columns *columns, const pe_aggregation *g, int number)
{
	const char *base = g->aggregate[number].name != NULL ? g->aggregate[number].name : pe_aggregation_name(g, number);
	const char *name = base;

	for (int i = 2; taken_of(columns, name) != NULL; i++)
		name = psprintf("%s_%d", base, i);
	return name;
}

/* A quantile has no standard error; on a grid it has no interval either.  Levels are no single number. */
static bool
has_figure(const pe_aggregation *g, int number, int figure)
{
	if (g->aggregate[number].kind == PE_AGG_LEVELS)
		return false;
	return figure == PE_ESTIMATE ||
		(!g->on_grid && (figure != PE_STDERR || g->aggregate[number].kind != PE_AGG_QUANTILE));
}

void
pe_figures_add(pe_published_figures *f, pe_published_columns *columns, const pe_aggregation *g, char **given)
{
	if (g == NULL)
	{
		add_counts(f, columns);
		return;
	}
	f->measures = g->aggregates;
	for (int m = 0; m < g->aggregates; m++)
	{
		const char *name = given != NULL ? given_name(columns, given[m]) : default_name(columns, g, m);

		for (int i = 0; i < PE_FIGURES; i++)
			f->column[m][i] = has_figure(g, m, i)
				? pe_published_add(columns, name, pe_figure_suffix[i], FLOAT8OID) : -1;
	}
}

void
pe_figures_put(const pe_published_figures *f, int measure,
			   const pe_aggregate_result *result, Datum *values, bool *nulls)
{
	double		figure[PE_FIGURES] = {result->estimate, result->stderr_, result->lower, result->upper};

	for (int i = 0; i < PE_FIGURES; i++)
		if (!isnan(figure[i]))
			pe_published_put(f->column[measure][i], Float8GetDatum(figure[i]), values, nulls);
}

const char *
pe_figures_text(const pe_aggregation *g)
{
	StringInfoData text;

	if (g == NULL)
		return "";
	initStringInfo(&text);
	for (int m = 0; m < g->aggregates; m++)
		appendStringInfo(&text, "%s%s", m > 0 ? ", " : "aggregates ", g->text[m]);
	appendStringInfoString(&text, "; ");
	return text.data;
}

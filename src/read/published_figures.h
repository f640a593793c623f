/*
 * published_figures.h
 *	  What was measured, as columns of a published table.
 *
 *	 estimate, stderr, lower95, upper95		of counts
 *	 <name>, <name>_stderr, <name>_lower95, <name>_upper95	of each aggregate: a quantile has no stderr, and
 *														 on a grid its estimate alone
 *
 * What is unknown is NULL.
 */
#ifndef PE_READ_PUBLISHED_FIGURES_H
#define PE_READ_PUBLISHED_FIGURES_H

#include "ask/ask_sums.h"
#include "read/published_columns.h"

/* What is reported of each number that was measured. */
enum
{
	PE_ESTIMATE, PE_STDERR, PE_LOWER95, PE_UPPER95, PE_FIGURES
};

extern const char *const pe_figure_suffix[PE_FIGURES];

typedef struct pe_published_figures
{
	int			measures;		/* one, or the aggregates */
	int			column[PE_MAX_AGGREGATES][PE_FIGURES];	/* where their columns are; -1: it has none */
} pe_published_figures;

/*
 * Adds the columns, after all that are not attributes, which cannot take their
 * names then.  aggregation: NULL of counts.
 */
extern void pe_figures_add(pe_published_figures *figures, pe_published_columns *columns,
						   const pe_aggregation *aggregation, char **given);

/* What was measured of one row. */
extern void pe_figures_put(const pe_published_figures *figures, int measure,
						   const pe_aggregate_result *result, Datum *values, bool *nulls);

/* "aggregates count(*), sum(x); ", in the order of their columns; "" of counts. */
extern const char *pe_figures_text(const pe_aggregation *aggregation);

#endif

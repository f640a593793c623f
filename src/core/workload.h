/*
 * workload.h
 *	  The language of workloads: text in, checked factors and canonical text out.
 *
 *		workload := factor { '*' factor }
 *		factor   := ( 'identity' | 'total' ) [ '(' attribute ')' ]
 *
 * A factor without an attribute stands alone and is over all attributes.  An
 * attribute that no factor names is summed over.  Attribute names are SQL
 * identifiers: folded to lower case unless in double quotes.
 *
 * The queries of a product are numbered with the last factor fastest, as the
 * text has them; 'total' contributes one query.
 */
#ifndef PE_CORE_WORKLOAD_H
#define PE_CORE_WORKLOAD_H

#include <stdbool.h>

#include "core/domain.h"

typedef enum pe_workload_status
{
	PE_WORKLOAD_OK,
	PE_WORKLOAD_SYNTAX,			/* the text is not in the language */
	PE_WORKLOAD_NO_ATTRIBUTE,	/* a name that is not among the attributes */
	PE_WORKLOAD_REPEATED		/* two factors over the same attribute */
} pe_workload_status;

/*
 * A workload over the attributes 0 .. n-1 of a domain: the counts for every
 * combination of cells of the attributes in `factor`, in that order; all other
 * attributes are summed over.
 */
typedef struct pe_workload
{
	int			factors;		/* identity factors */
	int			factor[PE_MAX_ATTRIBUTES];
	char	   *canonical;		/* white space flattened, order kept */
} pe_workload;

typedef struct pe_workload_error
{
	pe_workload_status status;
	int			position;		/* bytes from the start of the text, from 0 */
	char		message[160];	/* in PostgreSQL's style, without the position */
} pe_workload_error;

/*
 * Parses text over the named attributes.  On failure fills error and leaves
 * nothing allocated.  Source: the grammar above.
 */
extern bool pe_workload_parse(const char *text, const char *const *names, int attributes,
							  pe_workload *workload, pe_workload_error *error);

/* The number of queries, and for query q (from 0) the cell of factor f. */
extern int32_t pe_workload_queries(const pe_workload *workload, const pe_domain *domain);
extern int32_t pe_workload_coordinate(const pe_workload *workload, const pe_domain *domain,
									  int32_t query, int factor);

/* The query that counts a cell of the domain: each cell is in exactly one. */
extern int32_t pe_workload_query_of_cell(const pe_workload *workload, const pe_domain *domain,
										 int32_t cell);

#endif

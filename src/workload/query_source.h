/*
 * query_source.h
 *	  Queries for who needs some of them one by one, and something of all of
 *	  them: what optimum.h knows of a workload.
 */
#ifndef PE_WORKLOAD_QUERY_SOURCE_H
#define PE_WORKLOAD_QUERY_SOURCE_H

#include "workload/algebra.h"

/* Queries w_q, weighted, over n columns. */
typedef struct pe_query_source
{
	int32_t		queries;
	double		largest;		/* no weight is beyond it */
	const double *gram;			/* sum over all of them of w_q w_q', n x n, both triangles */

	/* rows[i + k * count] = the weight of column k in query query[i] */
	void		(*rows) (const void *argument, const int32_t *query, int32_t count, double *rows);

	/* variance[q] = w_q' C w_q for all queries, C n x n, symmetric, both triangles */
	void		(*variances) (const void *argument, const double *c, double *variance);
	const void *argument;
} pe_query_source;

/* The queries of a workload over some of its classes, which are the columns; those that ask for none of them are left out. */
typedef struct pe_workload_source
{
	const pe_workload *workload;
	const pe_classes *classes;
	const int32_t *representative;	/* class of each column; the other classes are absent */
	int32_t		n;
	int32_t		queries;		/* that are left */
	int32_t    *number;			/* of each of them, in the workload */
	int32_t    *term;
	int32_t    *local;			/* its number within the term */
} pe_workload_source;

/*
 * Fills source, which refers to kept and to all arguments.  gram: the weighted
 * W'W over the columns.
 */
extern void pe_workload_source_init(const pe_workload *workload, const pe_classes *classes,
									const int32_t *representative, int32_t n, const double *gram,
									pe_workload_source *kept, pe_query_source *source);

extern void pe_workload_source_free(pe_workload_source *kept);

/* Bytes that it takes, and its functions. */
extern size_t pe_workload_source_memory(const pe_workload *workload, const pe_classes *classes);

#endif

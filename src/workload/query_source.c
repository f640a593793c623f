/*
 * query_source.c
 *	  The queries of a workload as a source.  See algebra.h.
 */
#include "workload/algebra.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* The queries of a term's factors for its local query, the last factor fastest. */
static void
read_row(const pe_workload_source *kept, int32_t query, int32_t *row)
{
	const pe_term *term = &kept->workload->term[kept->term[query]];
	int32_t    *factor_query = pe_alloc((size_t) term->factors + 1, sizeof(int32_t));

	(void) pe_term_query(term, kept->local[query], factor_query);
	pe_term_row(term, kept->classes, factor_query, row);
	pe_free(factor_query);
}

static void
rows_of_workload(const void *argument, const int32_t *query, int32_t count, double *rows)
{
	const pe_workload_source *kept = argument;
	int32_t    *row = pe_alloc((size_t) kept->classes->cells, sizeof(int32_t));

	for (int32_t i = 0; i < count; i++)
	{
		double		weight = kept->workload->term[kept->term[query[i]]].weight;

		pe_poll();
		read_row(kept, query[i], row);
		for (int32_t k = 0; k < kept->n; k++)
			rows[i + (size_t) k * (size_t) count] = weight * row[kept->representative[k]];
	}
	pe_free(row);
}

/* C over the classes, with nothing where a class is absent. */
static void
variances_of_workload(const void *argument, const double *c, double *variance)
{
	const pe_workload_source *kept = argument;
	size_t		classes = (size_t) kept->classes->cells;
	double	   *all = pe_alloc(classes * classes, sizeof(double));
	double	   *of_workload = pe_alloc((size_t) kept->workload->queries, sizeof(double));

	for (int32_t j = 0; j < kept->n; j++)
		for (int32_t i = 0; i < kept->n; i++)
			all[(size_t) kept->representative[i] + (size_t) kept->representative[j] * classes] =
				c[i + (size_t) j * (size_t) kept->n];
	pe_workload_quadratic(kept->workload, kept->classes, all, of_workload);
	pe_free(all);
	for (int32_t q = 0; q < kept->queries; q++)
	{
		double		weight = kept->workload->term[kept->term[q]].weight;

		variance[q] = weight * weight * of_workload[kept->number[q]];
	}
	pe_free(of_workload);
}

static double
largest_weight(const pe_workload *workload)
{
	double		largest = 0.0;

	for (int32_t t = 0; t < workload->terms; t++)
		largest = fmax(largest, fabs(workload->term[t].weight) * workload->term[t].largest);
	return largest;
}

/*
 * Leaves out the queries whose weights are all zero over the columns: rows of
 * zeros, or cells that a predicate rules out.  They have no variance, for any
 * measurement.
 */
static void
leave_out_zeros(pe_workload_source *kept)
{
	double	   *columns = pe_alloc((size_t) kept->classes->cells, sizeof(double));
	double	   *squares = pe_alloc((size_t) kept->workload->queries, sizeof(double));

	for (int32_t k = 0; k < kept->n; k++)
		columns[kept->representative[k]] = 1;
	pe_workload_apply_squares(kept->workload, kept->classes, columns, squares);
	for (int32_t q = 0; q < kept->workload->queries; q++)
		if (squares[q] > 0)
		{
			kept->number[kept->queries] = q;
			kept->term[kept->queries] = kept->term[q];
			kept->local[kept->queries++] = kept->local[q];
		}
	pe_free(columns);
	pe_free(squares);
}

void
pe_workload_source_init(const pe_workload *workload, const pe_classes *classes,
						const int32_t *representative, int32_t n, const double *gram,
						pe_workload_source *kept, pe_query_source *source)
{
	*kept = (pe_workload_source) {.workload = workload, .classes = classes, .representative = representative, .n = n};
	kept->number = pe_alloc((size_t) workload->queries, sizeof(int32_t));
	kept->term = pe_alloc((size_t) workload->queries, sizeof(int32_t));
	kept->local = pe_alloc((size_t) workload->queries, sizeof(int32_t));
	pe_workload_index(workload, kept->term, kept->local);
	leave_out_zeros(kept);
	*source = (pe_query_source) {kept->queries, largest_weight(workload), gram, rows_of_workload,
		variances_of_workload, kept};
}

void
pe_workload_source_free(pe_workload_source *kept)
{
	pe_free(kept->number);
	pe_free(kept->term);
	pe_free(kept->local);
	memset(kept, 0, sizeof(*kept));
}

size_t
pe_workload_source_memory(const pe_workload *workload, const pe_classes *classes)
{
	size_t		cells = (size_t) classes->cells;

	return (size_t) workload->queries * (3 * sizeof(int32_t) + sizeof(double)) + cells * (cells + 1) * sizeof(double)
		+ pe_workload_quadratic_memory(workload, classes);
}

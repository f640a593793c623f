/*
 * algebra.h
 *	  Classes of cells that no query distinguishes, workloads over them, and
 *	  queries one by one.
 */
#ifndef PE_WORKLOAD_ALGEBRA_H
#define PE_WORKLOAD_ALGEBRA_H

#include "workload/workload.h"

/* ----------
 * Classes of cells that no query distinguishes.
 *
 * Per attribute, neighbouring cells are in one class if every factor on the
 * attribute gives them the same weights; an attribute that no factor names is
 * one class.  So a workload over a million cells that asks for ranges of one
 * attribute is as small as that attribute.  Arrays over the classes of all
 * attributes are row-major, last attribute fastest: the `cells` of pe_classes.
 * ----------
 */

typedef struct pe_classes
{
	int			attributes;		/* of the shape; without any, one of one class */
	int32_t		cells;			/* of the product; INT32_MAX if there are more */
	int32_t		count[PE_MAX_ATTRIBUTES];
	int32_t    *class_of[PE_MAX_ATTRIBUTES];	/* of each cell of the attribute */
	int32_t    *first[PE_MAX_ATTRIBUTES];	/* the first cell of each class */
} pe_classes;

/* The classes that the workloads, all over one shape, distinguish together. */
extern void pe_classes_init(const pe_workload *const *workloads, int count, pe_classes *classes);
extern void pe_classes_free(pe_classes *classes);

/* The class, as an index into arrays over classes, of a cell of the shape. */
extern int32_t pe_classes_of_cell(const pe_classes *classes, const pe_shape *shape, int32_t cell);

/* ----------
 * What can be computed from a workload W without writing W out.
 *
 * W is a sum of products of one-dimensional factors (workload.h), so W'W, W x
 * and w'Q w for every query w are computed factor by factor and term by term:
 * ranges by summed-area tables, products mode by mode.  Arrays are over the
 * classes of all attributes.  Source: the implicit form of McKenna,
 * Miklau, Hay, Machanavajjhala, "Optimizing error of high-dimensional
 * statistical queries under differential privacy", PVLDB 11(10), 2018.
 * ----------
 */

/*
 * gram = W'W, cells x cells, both triangles: exact integers (the parser sees to
 * it); weighted: sum over terms of weight^2 W_t'W_t.  Takes up to twice the
 * memory of gram besides.
 */
extern void pe_workload_gram(const pe_workload *workload, const pe_classes *classes, bool weighted, double *gram);

/* answer[q] = sum over classes of w_qc x_c, unweighted, for all queries q. */
extern void pe_workload_apply(const pe_workload *workload, const pe_classes *classes,
							  const double *x, double *answer);

/* answer[q] = sum over classes of w_qc^2 d_c. */
extern void pe_workload_apply_squares(const pe_workload *workload, const pe_classes *classes,
									  const double *d, double *answer);

/* The same with w_qc to an even power. */
extern void pe_workload_apply_power(const pe_workload *workload, const pe_classes *classes,
									int power, const double *d, double *answer);

/*
 * An array [outer][classes][inner] contracted with the queries of one term, their weights to a power (1 or
 * even): [outer][queries][inner], pe_free.  The queries are row-major in the order of the attributes, last fastest.
 */
extern double *pe_term_contract(const pe_term *term, const pe_classes *classes, int power, const double *x,
								size_t outer, size_t inner);

/* Whether all entries of matrices are in a range; all other factors have zeros and ones. */
extern bool pe_workload_weights_within(const pe_workload *workload, int32_t least, int32_t most);

/* answer[q] = w_q' Q w_q for a symmetric Q, cells x cells. */
extern void pe_workload_quadratic(const pe_workload *workload, const pe_classes *classes,
								  const double *q, double *answer);

/* Bytes that pe_workload_quadratic takes at most, besides Q and answer. */
extern size_t pe_workload_quadratic_memory(const pe_workload *workload, const pe_classes *classes);

/* The row of one query of a term, over the classes. */
extern void pe_term_row(const pe_term *term, const pe_classes *classes, const int32_t *factor_query, int32_t *row);

/*
 * A workload whose rows span the same space: prefix and all_range replaced by
 * single cells.  It refers to the given one.
 */
extern void pe_workload_basis(const pe_workload *workload, pe_workload *basis);
extern void pe_workload_basis_free(pe_workload *basis);

/*
 * The part of a workload over some of its attributes: terms with weight[t] > 0, with that weight,
 * and of them the factors on these attributes.  The shape has these attributes alone, in the order
 * given.  A term with a matrix over all cells is a bug of the caller.  It refers to the given one; free it with
 * pe_workload_basis_free.
 */
extern void pe_workload_part(const pe_workload *workload, const int *attribute, int attributes, const double *weight,
							 pe_workload *part);

/*
 * The same queries over a shape with more attributes, which they sum over, or with the same
 * in another order: attribute a of the workload is place[a] of the shape.  False,
 * with nothing to free, if a matrix over all cells would be over other cells then.  It refers to the given
 * one; free it with pe_workload_basis_free.
 */
extern bool pe_workload_over(const pe_workload *workload, const pe_shape *shape, const int *place, pe_workload *over);

/* ----------
 * Queries for who needs some of them one by one, and something of all of
 * them: what optimum.h knows of a workload.
 * ----------
 */

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

/*
 * The queries of a workload over some of its classes, which are the columns;
 * those that ask for none of them are left out.
 */
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

/*
 * algebra.h
 *	  What can be computed from a workload W without writing W out.
 *
 * W is a sum of products of one-dimensional factors (workload.h), so W'W, W x
 * and w'Q w for every query w are computed factor by factor and term by term:
 * ranges by summed-area tables, products mode by mode.  Arrays are over the
 * classes of all attributes (classes.h).  Source: the implicit form of McKenna,
 * Miklau, Hay, Machanavajjhala, "Optimizing error of high-dimensional
 * statistical queries under differential privacy", PVLDB 11(10), 2018.
 */
#ifndef PE_WORKLOAD_ALGEBRA_H
#define PE_WORKLOAD_ALGEBRA_H

#include "workload/classes.h"

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

#endif

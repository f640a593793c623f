/*
 * blocks_terms.h
 *	  What the terms of a workload ask of blocks, axis by axis: for estimates,
 *	  variances and what is determined (blocks.h).
 *
 * Along an axis a term asks queries w, the products of its factors on the axis'
 * attributes.  An attribute that no axis has is an axis of one column here,
 * whose sum all blocks hold.
 *
 * Of a term matter the blocks that sum over every axis with a centre which the
 * term does not name: w = 1 there, and w - (w'd) 1 = 0.
 */
#ifndef PE_BLOCKS_BLOCKS_TERMS_H
#define PE_BLOCKS_BLOCKS_TERMS_H

#include "blocks/blocks.h"

/* Factors on an axis that are remembered; a workload seldom has more. */
#define PE_KEPT_SIDES 8

/* The queries of a term along one axis. */
typedef struct pe_side
{
	const pe_axis *axis;
	const pe_factor *factor[PE_MAX_ATTRIBUTES]; /* on each attribute of the axis; NULL: summed over */
	pe_workload part;			/* one term over these attributes, row-major, last fastest */
	pe_classes	classes;		/* of part */
	int32_t    *class_of;		/* of each column of the axis */
	bool		same;			/* each column is the class of its number */
	int32_t		queries;
	double	   *total;			/* w'd of each query; NULL without a centre */
	double	   *square;			/* its square */
	double	  **variance;		/* of each matrix M: |(w - (w'd) 1)' M^+|^2 of each query; NULL until it is asked for */
	bool	   *rest;			/* blocks_determined.c's: whether w - (w'd) 1 is not zero; NULL until it is asked for */
	int32_t		ahead;			/* blocks_error.c's: of an axis with one matrix the queries that no other */
	int32_t    *front;			/* one is above in both; NULL until it is asked for */
} pe_side;

/* The axes that a block does not sum over, as bits, without those that stand in every block. */
typedef struct pe_set_of_block
{
	uint32_t	set;
	int32_t		block;
} pe_set_of_block;

/* Blocks and a workload over the same shape. */
typedef struct pe_block_terms
{
	const pe_blocks *blocks;
	const pe_workload *workload;
	int			axes;			/* of the blocks, then one for each attribute that has none */
	pe_axis		axis[PE_MAX_ATTRIBUTES];
	int32_t		one;			/* their centre */
	int32_t    *first_cell[PE_MAX_ATTRIBUTES];	/* of each column of an attribute */
	pe_set_of_block *sets;		/* ascending */
	pe_side    *side[PE_MAX_ATTRIBUTES][PE_KEPT_SIDES];
	int			replaced[PE_MAX_ATTRIBUTES];	/* the side that goes next, if there is no more room */
	double	   *relative;		/* pe_blocks_relative_variance; 0 until it is asked for */
} pe_block_terms;

/* A block that matters to a term. */
typedef struct pe_member
{
	int8_t		key[PE_MAX_ATTRIBUTES]; /* its choices, in the view's order */
	int32_t		block;
} pe_member;

/* A term. */
typedef struct pe_view
{
	const pe_term *term;
	int			axes;			/* that it names, and those without a centre */
	int			axis[PE_MAX_ATTRIBUTES];	/* ascending */
	pe_side    *side[PE_MAX_ATTRIBUTES];
	int			order[PE_MAX_ATTRIBUTES];	/* places among these axes: by key, then how members are sorted */
	int32_t		members;
	pe_member  *member;
} pe_view;

/* Numbers along one axis of a view, for blocks that sum over it and for each matrix that blocks take. */
typedef struct pe_coefficients
{
	int32_t		count;
	double	   *summed;			/* NULL: no block sums over it */
	double	  **taken;			/* of each matrix; NULL for one that no member takes */
} pe_coefficients;

/* Whether two factors, NULL for none, on one attribute ask the same queries. */
extern bool pe_factors_are_same(const pe_factor *a, const pe_factor *b);

extern void pe_block_terms_init(const pe_blocks *blocks, const pe_workload *workload, pe_block_terms *terms);
extern void pe_block_terms_free(pe_block_terms *terms);

/* The column of an attribute's cell, as the terms see it: of an attribute in no axis 0, unless it is ruled out. */
extern int32_t pe_block_terms_column(const pe_block_terms *terms, int attribute, int32_t cell);

/* by_growth: the order has the axes first whose queries are most beside their columns; otherwise ascending. */
extern void pe_view_init(pe_block_terms *terms, const pe_term *term, bool by_growth, pe_view *view);
extern void pe_view_free(pe_view *view);

/* The members from number first on that have the same key at a depth end before this one. */
extern int32_t pe_view_group(const pe_view *view, int depth, int32_t first, int32_t end);

/*
 * sum over members b of of_block[b] (x) over the axes of the coefficients of b's choice: an array over the
 * axes' counts, row-major, for views in ascending order; pe_free.  Which blocks there are is
 * looked at axis by axis, so that it takes little more than the array is large.
 */
extern double *pe_view_product(const pe_view *view, const pe_coefficients *of_axis, const double *of_block);

/* Puts an array over the queries of the axes, row-major, where the workload numbers them. */
extern void pe_view_scatter(const pe_view *view, const double *from, double *answer);

/* [outer][columns][inner] contracted with the queries of a side: [outer][queries][inner]; pe_free. */
extern double *pe_side_contract(const pe_side *side, const double *x, size_t outer, size_t inner);

/* The queries of a term along an axis, which both must outlive; a view's sides are kept and not to be freed. */
extern pe_side *pe_side_make(const pe_block_terms *terms, const pe_term *term, const pe_axis *axis);
extern void pe_side_free(pe_side *side);

/* How many columns of the axis each of a side's classes has. */
extern double *pe_side_members(const pe_side *side);

/* side->variance of a matrix. */
extern const double *pe_side_variance(pe_side *side, int matrix);

/*
 * What pe_view_product needs for variances: the squares of totals and the variances of the matrices that
 * members take, which belong to the sides; and terms->relative of the members is filled.
 */
extern void pe_view_variances(pe_block_terms *terms, const pe_view *view, pe_coefficients *of_axis);

/* Whether a matrix is n I - 11' or the identity. */
static inline bool
pe_axis_is_diagonal(const pe_axis *axis, int matrix)
{
	const pe_axis_matrix *m = &axis->matrix[matrix];

	return m->centred || (m->strategy.triangle == NULL && m->strategy.dense == NULL);
}

/* x -= d 1'x along an axis, [outer][columns][inner]. */
extern void pe_axis_recentre(const pe_axis *axis, double *x, size_t outer, size_t inner);

#endif

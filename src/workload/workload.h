/*
 * workload.h
 *	  The language of workloads: text in, a checked sum of products and
 *	  canonical text out.
 *
 *		workload := product { '+' product }
 *		product  := [ number '*' ] primary { '*' primary }
 *		primary  := '(' workload ')' | constructor
 *		constructor :=
 *			identity | total | prefix | all_range
 *		  | identity(n) | total(n) | prefix(n) | all_range(n)
 *		  | width_range(n, w)						every w neighbouring cells
 *		  | ranges(n; range, range, ...)
 *		  | marginals(k)							all sets of k attributes
 *		  | matrix([n ;] {{1,0},{1,1}})				rows of integers
 *		range := 3-9								from and to cell, both included
 *		  | '2024-01-01'..'2024-02-01'				from edge to edge, half-open
 *
 * n is the name of an attribute, or its number of cells; then the attribute is
 * the one at the factor's place in the product, and the number is checked.
 * Without n, identity and total are over all attributes, prefix and all_range
 * over the one attribute that is ordered, and a matrix that stands alone has a
 * column for every cell.  An attribute that a product does not name is summed
 * over.  prefix, all_range, width_range and ranges run over the ordered cells of
 * an attribute only; identity, total and matrix over all.  Names are SQL
 * identifiers: folded to lower case unless in double quotes.
 *
 * Queries are numbered in the order of a union's terms, and within a product
 * with the last factor fastest; all_range goes by first cell, then last;
 * width_range by first; marginals by sets of attributes in lexicographic order.
 * Edges are literals of an attribute with bins.  A range of edges is the same
 * query as that of the cells between them, and its canonical text is that of the
 * cells: every range has one, also of levels, and what is kept under a canonical
 * text (strategies, releases) is read again where edges are not known.
 * A number in front states importance only: the objective is weighted by its
 * square, the queries are not changed.
 *
 * A union inside a product is multiplied out.  What remains of it is the
 * numbering: the number of a query is affine in the numbers of its factors'
 * queries.
 */
#ifndef PE_WORKLOAD_WORKLOAD_H
#define PE_WORKLOAD_WORKLOAD_H

#include <stdbool.h>

#include "domain/literal.h"

/* The most queries of a workload, terms after multiplying out, and parentheses within each other. */
#define PE_MAX_QUERIES INT32_MAX
#define PE_MAX_TERMS 65536
#define PE_MAX_NESTING 64

/* The attribute of a matrix that has a column for every cell. */
#define PE_ALL_CELLS (-1)

typedef enum pe_constructor
{
	PE_IDENTITY,
	PE_TOTAL,
	PE_PREFIX,
	PE_ALL_RANGE,
	PE_WIDTH_RANGE,
	PE_RANGES,
	PE_MATRIX
} pe_constructor;

/* The attributes that a workload is over. */
typedef struct pe_shape
{
	int			attributes;
	const char *name[PE_MAX_ATTRIBUTES];	/* NULL: known by its place only */
	int32_t		cells[PE_MAX_ATTRIBUTES];
	int32_t		ordered[PE_MAX_ATTRIBUTES]; /* the leading cells that have an order; 0 if none */
} pe_shape;

/* A set of queries on one attribute, or on all cells. */
typedef struct pe_factor
{
	pe_constructor constructor;
	int			attribute;
	int32_t		cells;			/* it runs over: ordered ones for prefix, all_range, width_range and ranges */
	int32_t		queries;
	int32_t		width;			/* of width_range */
	const int32_t *range;		/* ranges: from and to of each */
	const int32_t *entry;		/* matrix: queries x cells, by rows */
	int64_t		stride;			/* from one of its queries to the next, in the workload's numbers */
	int			position;		/* in the text */
} pe_factor;

typedef struct pe_term
{
	double		weight;
	double		largest;		/* bound of the magnitude of its entries */
	int64_t		first;			/* number of its first query, from 0 */
	int64_t		queries;
	int			factors;
	pe_factor  *factor;
} pe_term;

typedef struct pe_workload
{
	pe_shape	shape;
	int32_t		queries;
	int32_t		terms;
	pe_term    *term;
	char	   *canonical;		/* white space and nesting flattened, order kept */
	struct pe_chunk *chunks;	/* everything allocated */
} pe_workload;

/*
 * Parses text over the attributes of a shape, which must have names; or, with
 * shape NULL, over attributes that the text itself gives by their numbers of
 * cells, all of them ordered.  On failure fills error and leaves nothing
 * allocated.  Source: the grammar above.
 */
extern bool pe_workload_parse(const char *text, const pe_shape *shape,
							  pe_workload *workload, pe_text_error *error);

/*
 * The same with the source of the shape's attributes, which resolves edges; NULL: there are none (PE_TEXT_INVALID).
 * With a source the canonical text names the attribute of a bare prefix or all_range.
 */
extern bool pe_workload_parse_edges(const char *text, const pe_shape *shape, const pe_literal_source *source,
									pe_workload *workload, pe_text_error *error);

/*
 * The canonical text of a workload over attributes that are not known yet: the same
 * as pe_workload_parse gives over any shape that the text fits, except that edges
 * stay as they are written.  Checked is what
 * does not depend on the attributes; names are not looked up, and sizes not
 * compared.  Its own canonical text is itself.  NULL, with error filled, for what
 * fits no shape; else pe_free it.
 */
extern char *pe_workload_canonical(const char *text, pe_text_error *error);

extern void pe_workload_free(pe_workload *workload);

/*
 * A weight and the "*" behind it, which is taken; false with the error filled for one that is not from 0.001 to 1000.
 * The other writes both, as short as it reads back.
 */
extern bool pe_weight_read(pe_text *t, double *weight);
extern void pe_weight_write(pe_text *t, double weight);

/* The shape of a domain whose attributes have these names. */
extern void pe_shape_of_domain(const pe_domain *domain, const char *const *names, pe_shape *shape);

/* The cells of all attributes together; PE_MAX_CELLS + 1 if there are more than PE_MAX_CELLS. */
extern int32_t pe_shape_cells(const pe_shape *shape);

/* The first and last cell of query q (from 0) of prefix, all_range, width_range or ranges. */
extern void pe_factor_range(const pe_factor *factor, int32_t query, int32_t *from, int32_t *to);

/* The weight of a cell in query q of any factor. */
extern int32_t pe_factor_entry(const pe_factor *factor, int32_t query, int32_t cell);

/*
 * The query of each factor for the local query of a term (from 0, last factor
 * fastest), and the number in the workload that it has.
 */
extern int64_t pe_term_query(const pe_term *term, int64_t local, int32_t *factor_query);

/*
 * Where query q stands: term[q] its term, local[q] its number within it, as
 * pe_term_query takes it.  Arrays of as many elements as the workload has queries.
 */
extern void pe_workload_index(const pe_workload *workload, int32_t *term, int32_t *local);

#endif

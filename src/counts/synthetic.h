/*
 * synthetic.h
 *	  Rows that have the tables that were measured: post-processing, in doubles.
 *
 * Everything here is a function of what was released, and of a seed that is a function of it: nothing is read and
 * nothing is spent.  So the same release gives the same rows, each time.
 *
 * A model is a tree, in the manner of MST (McKenna, Miklau, Sheldon, "Winning the NIST Contest", JPC 11(3), 2021):
 * of each attribute its table, and of each attribute but a root the table of it and its parent.  A tree needs neither
 * a junction tree nor gradients: its tables are fitted to the tables of single attributes, and rows are drawn from
 * the root down.
 *
 * Where all tables of pairs are there and the product of the attributes is small, there is a better model: the table of
 * all attributes together, of largest entropy, that has all of them.
 *
 * Cells of a single attribute that the noise drowns are taken together as one class, the last, for the tables of
 * pairs: sparse domains would otherwise be all noise.
 */
#ifndef PE_COUNTS_SYNTHETIC_H
#define PE_COUNTS_SYNTHETIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "domain/domain.h"

/* Which cells of an attribute are one class: those of their own come first, in their order, then the rest. */
typedef struct pe_classing
{
	int32_t		cells;
	int32_t		classes;
	bool		has_rest;		/* the last class is of more than one cell, or of one that is drowned */
	int32_t    *class_of;		/* of each cell */
} pe_classing;

typedef struct pe_synthetic
{
	int			attributes;
	const bool *possible[PE_MAX_ATTRIBUTES];	/* the caller's: cells that can have rows; NULL: all of them */
	double		total;			/* of each table */
	pe_classing classing[PE_MAX_ATTRIBUTES];
	double		variance[PE_MAX_ATTRIBUTES];	/* of the noise of a cell of the table of one attribute */
	double	   *one[PE_MAX_ATTRIBUTES]; /* that table, fitted, by cells */
	double	   *margin[PE_MAX_ATTRIBUTES];	/* the same by classes */
	bool	   *filled[PE_MAX_ATTRIBUTES];	/* classes with a possible cell */
	int			order[PE_MAX_ATTRIBUTES];	/* parents before their children */
	int			parent[PE_MAX_ATTRIBUTES];	/* -1: it is drawn by itself */
	double	   *table[PE_MAX_ATTRIBUTES];	/* fitted, with its parent, whose classes are the rows; NULL: no parent */

	/*
	 * by the classes of all attributes, the last one fastest: then there are no
	 * parents; NULL: a tree
	 */
	double	   *joint;
	uint32_t	tied[PE_MAX_ATTRIBUTES];	/* bit b of a < b: it has their table */
} pe_synthetic;

/* Numbers that are a function of their seed alone.  No noise is ever drawn from it. */
typedef struct pe_stream
{
	uint64_t	key[2];
	uint64_t	served;
	uint64_t	spare;
} pe_stream;

/* ---- Fitting (synthetic_fit.c) ---- */

/* A cell that has fewer standard deviations of noise is drowned. */
#define PE_DROWNED 2.5

/* Classes of an attribute from its noisy table: cells from `least` on are their own.  Free class_of. */
extern void pe_classing_init(pe_classing *classing, int32_t cells, const double *noisy, double least);

/* Sums of a table's cells by classes, and of a table of two attributes by the classes of both. */
extern void pe_classing_sum(const pe_classing *classing, const double *table, double *sums);
extern void pe_classing_sum_pair(const pe_classing *first, const pe_classing *second, const double *table,
								 double *sums);

/*
 * A model without edges from the noisy tables of single attributes: attributes, possible, classing and variance are
 * there.  The total is the mean of their sums by the inverse of variances, not below 0.  A fitted table is the nearest
 * one by classes without negative cells; the cells of the rest have equal parts of what they have together.  A cell
 * that cannot have rows has 0 in it, and in all tables that are fitted to it.
 */
extern void pe_synthetic_fit(pe_synthetic *model, double *const *noisy);

/*
 * Brings a noisy table of two attributes by their classes to the margins of the model: residuals of its margins
 * weighted by variances, the nearest table without negative cells, and proportional fitting.  variance: of a cell.
 */
extern void pe_synthetic_fit_pair(const pe_synthetic *model, int first, int second, double *table, double variance);

/* The table of two attributes that have nothing to do with each other, by the margins of the model. */
extern void pe_synthetic_part_pair(const pe_synthetic *model, int first, int second, double *table);

/*
 * Proportional fitting of a table to margins of one total.  A row or column without anything that its margin wants is
 * given it in the proportions of the other margin.
 */
extern void pe_fit_margins(int32_t rows, int32_t columns, double *table, const double *row_margin,
						   const double *column_margin);

/* ---- Trees (synthetic_tree.c) ---- */

/* The mutual information of a table without negative cells, in nats; 0 where nothing is in it. */
extern double pe_mutual_information(int32_t rows, int32_t columns, const double *table);

/*
 * How much a fitted table says above what noise makes of two attributes that have nothing to do with each other, which
 * is looked at in one example.  deviation: of the noise of each cell.
 */
extern double pe_synthetic_weight(const pe_synthetic *model, int first, int second, const double *table,
								  const double *deviation, pe_stream *stream);

/*
 * The spanning forest of largest sum: weight[a * attributes + b], a < b, NaN: no such edge.  Fills parent, -1 for
 * roots, and order.  The first root is `root`.
 */
extern void pe_spanning_tree(int attributes, const double *weight, int root, int *parent, int *order);

/* The same of given edges, which have no cycle. */
extern void pe_root_tree(int attributes, int edges, const int (*edge)[2], int root, int *parent, int *order);

/* The fitted table of a pair with `parent` as its rows. */
extern double *pe_pair_by_parent(const pe_synthetic *model, int first, int second, const double *table, int parent);

/* ---- All attributes together (synthetic_joint.c) ---- */

/* The most cells of a joint table: 8 MB. */
#define PE_JOINT_CELLS (1 << 20)

/* How many cells the joint table has; 0: too many. */
extern int64_t pe_synthetic_joint_cells(const pe_synthetic *model);

/*
 * The joint table of largest entropy that has these fitted tables of pairs, at a * attributes + b, a < b, NULL: none.
 * It is found by proportional fitting (Deming and Stephan, 1940) from independent attributes.  Noisy tables of three
 * pairs may belong to no joint table: what is found is between them then.  Does nothing where there are too many
 * cells or nobody is there.  Polls.
 */
extern void pe_synthetic_join(pe_synthetic *model, double *const *pair);

/* ---- Drawing (synthetic_draw.c) ---- */

/* From the bytes of what was released. */
extern void pe_stream_init(pe_stream *stream, const void *bytes, size_t size);
extern uint64_t pe_stream_next(pe_stream *stream);

/* Even below m, m >= 1; from 0 to 1, without 1; of the standard normal distribution. */
extern uint64_t pe_stream_below(pe_stream *stream, uint64_t m);
extern double pe_stream_unit(pe_stream *stream);
extern double pe_stream_normal(pe_stream *stream);

/* Whole numbers of sum `total`, each the one below or above its part of the table; a table of zeros is an even one. */
extern void pe_round_table(pe_stream *stream, int32_t cells, const double *table, int32_t total, int32_t *rounded);

/*
 * Whole numbers with these margins, of one sum, near a table, which is brought to the margins before.  Cells where
 * the table has 0 get nothing unless the margins ask for it.
 */
extern void pe_round_pair(pe_stream *stream, int32_t rows, int32_t columns, double *table, const int32_t *row_margin,
						  const int32_t *column_margin, int32_t *rounded);

/*
 * rows records: cell[a][row].  The table of each attribute is the fitted one for so many rows, rounded: it differs by
 * less than 1 in each cell.  Polls.
 */
extern void pe_synthetic_draw(const pe_synthetic *model, pe_stream *stream, int32_t rows, int32_t *const *cell);

/*
 * Numbers of units, from 1, for rows one after the other: as many of each size as fit the rows, in the proportions of
 * units[size - 1] >= 0, which are not all 0, sizes 1 to most, in an order by chance.  The last unit can be smaller.
 */
extern void pe_synthetic_units(pe_stream *stream, int32_t rows, int32_t most, const double *units, int64_t *unit);

/* Bytes that drawing takes besides the cells. */
extern size_t pe_synthetic_draw_memory(const pe_synthetic *model, int32_t rows);

extern void pe_synthetic_free(pe_synthetic *model);

#endif

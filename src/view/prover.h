/*
 * prover.h
 *	  What the files of this room share: a view as a tree of blocks.
 *
 * A block is one SELECT, or a UNION ALL of others.  Its sources are the relations of FROM: tables,
 * blocks (views, sub-selects, common table expressions), VALUES and functions.  Sub-selects in
 * expressions are blocks, too.  A column is one of a source of a block.
 */
#ifndef PE_VIEW_PROVER_H
#define PE_VIEW_PROVER_H

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

#include "base/mem.h"
#include "view/proof.h"

typedef struct pe_block pe_block;

/* A nullable side of an outer join: its sources are all there or all NULL. */
typedef struct pe_side
{
	Bitmapset  *sources;		/* by their numbers in the range table */
	struct pe_side *outer;		/* the next one around it; NULL: none */
} pe_side;

typedef struct pe_column
{
	pe_block   *block;
	int			source;
	AttrNumber	number;
} pe_column;

/* x = y of two plain columns, which holds where some source of side is there; everywhere if that is NULL. */
typedef struct pe_equality
{
	pe_column	one;
	pe_column	other;
	pe_side    *side;
} pe_equality;

typedef enum pe_source_kind
{
	PE_SOURCE_TABLE,
	PE_SOURCE_BLOCK,
	PE_SOURCE_ROWS				/* VALUES, or a function's */
} pe_source_kind;

typedef struct pe_source
{
	pe_source_kind kind;
	int			number;			/* in the range table */
	RangeTblEntry *entry;
	char	   *name;			/* its alias */
	pe_side    *side;			/* the innermost nullable side that it is on */
	bool		is_private;

	/* of a table */
	Oid			relation;
	List	   *members;		/* Oids: with children and partitions, where they are read */
	Oid			family;			/* the topmost table of them */
	List	   *rules;			/* char *: by which of them the first run found it owned */
	bool		is_itself;		/* it was owned as the very row that another one is */

	/* of a block */
	pe_block   *block;
} pe_source;

/* Where a sub-select stands. */
typedef enum pe_place
{
	PE_PLACE_CONJUNCT,			/* one of the conditions of WHERE, which must all hold */
	PE_PLACE_ROW,				/* elsewhere in an expression of a row */
	PE_PLACE_JOIN				/* in ON of an outer join or below one: it says which rows are null-extended */
} pe_place;

typedef struct pe_subselect
{
	SubLink    *link;
	pe_block   *block;
	pe_place	place;
	const char *part;			/* "WHERE" */
} pe_subselect;

/*
 * What values of an expression can be where they are not NULL.  A range is of integers, of a numeric
 * rounded down and up, of days for date, and of microseconds for timestamps and intervals; it
 * excludes NaN and infinity.
 */
typedef struct pe_extent
{
	bool		has_range;
	pe_i128		low;
	pe_i128		high;
	bool		is_nonzero;
	int			digits;			/* of a numeric before the point (below 10^digits, or NaN); -1: any number */
	int			scale;			/* behind it at most; -1: any number */
	int			length;			/* of a text in characters at most; -1: any */
} pe_extent;

typedef struct pe_prover
{
	Oid			view;
	const char *view_name;
	Oid			owner;			/* of the view */
	const pe_view_words *words;
	List	   *kept;			/* pe_view_family * */
	List	   *reads;			/* Oids */
	List	   *believed;		/* pe_view_word * */
	List	   *tables;			/* pe_source *: all tables of all blocks */
	List	   *chosen;			/* pe_view_family *: one rule for each private family; NIL in the first run */
	List	   *families;		/* Oids beside them */
	List	   *queries;		/* of views, as they are stored: what the identity is of */
	const char *part;			/* what is looked at */
	bool		has_settings;
} pe_prover;

struct pe_block
{
	pe_prover  *prover;
	pe_block   *parent;			/* whose sources Vars of one level up are; NULL: none */
	Query	   *query;
	char	   *name;			/* "view \"v\"" */
	int			count;			/* of the range table */
	pe_source **source;			/* by number from 1; NULL where no rows come from it */
	List	   *equalities;
	List	   *subselects;
	List	   *branches;		/* pe_block *, of a UNION ALL */
	bool		is_private;
	bool		is_correlated;	/* with rows around it */
	pe_extent **extent;			/* of outputs, as far as they were looked at */
	int			outputs;
};

/* Why something is not proved: errors in three parts. */
typedef struct pe_refusal
{
	char	   *what;
	char	   *rule;
	char	   *form;
} pe_refusal;

extern pe_refusal *pe_refusal_make(char *what, const char *rule, const char *form);
extern void pe_view_refuse(const pe_prover *prover, const pe_refusal *refusal) __attribute__((noreturn));

/* The same in one step, for a part of a block. */
extern void pe_block_refuse(const pe_block *block, char *what, const char *rule, const char *form)
			__attribute__((noreturn));

/* ---- block.c ---- */

/* The block of a query, which is changed: aliases of joins and groups are resolved.  Locks what it reads. */
extern pe_block *pe_block_make(pe_prover *prover, pe_block *parent, Query *query, char *name);
extern pe_block *pe_block_of_view(pe_prover *prover, Oid view);

/* The block and the source of a Var that stands in an expression of a block. */
extern pe_source *pe_source_of_var(const pe_block *block, const Var *var, pe_block **where);
extern pe_subselect *pe_subselect_of(const pe_block *block, const SubLink *link);

/* The expression of an output column, from 1; of a UNION ALL there is none. */
extern Node *pe_block_output(const pe_block *block, AttrNumber number);
extern char *pe_block_output_name(const pe_block *block, AttrNumber number);
extern char *pe_source_column_name(const pe_source *source, AttrNumber number);
extern const char *pe_expression_text(const pe_block *block, Node *node);

/* ---- tables.c ---- */

/* Looks at a table of FROM and what it may be: kind, role, family, row security, ownership. */
extern void pe_table_classify(pe_block *block, pe_source *source);
extern char *pe_relation_text(Oid relation);	/* schema.name */

/* ---- equalities.c ---- */

/* Takes the equalities, sides and positive conditions of FROM and WHERE. */
extern void pe_block_find_equalities(pe_block *block);

/* Whether a type's equality is one of bytes, and which types it compares: equal numbers, equal groups; 0: none. */
extern Oid	pe_equality_group(Oid type, Oid collation);

/* A plain column of this block or of one around it: its column, and its type; false for another expression. */
extern bool pe_column_of(pe_block *block, Node *node, pe_column *column);

/* Columns that are equal in all rows where some sources are there. */
typedef struct pe_ties
{
	int			count;
	int			room;
	pe_column  *column;
	int		   *leader;
	Bitmapset  *real;			/* the sources of the block that are then there */
} pe_ties;

/* start: sources that are there; given: equalities of columns of blocks around this one. */
extern pe_ties *pe_ties_from(const pe_block *block, const Bitmapset *start, List *given);
extern bool pe_tied(const pe_ties *ties, pe_column one, pe_column other);
extern bool pe_same_column(pe_column one, pe_column other);
extern List *pe_ties_given(const pe_ties *ties);

/* Whether rows of a block are determined by some of its columns (a source and a number each, integers). */
extern bool pe_row_is_determined(pe_block *block, List *columns);
/* The same of a source; *reached: the sources that have one row for each of its rows. */
extern bool pe_row_is_of_source(pe_block *block, int source, Bitmapset **reached);
/* The same of a source where it is there, and of some sources: what is null-extended then counts as one row. */
extern bool pe_row_is_of_present(pe_block *block, int source, const Bitmapset *sources);
/* The same of outputs, by their numbers. */
extern bool pe_output_is_key(pe_block *block, List *numbers);

/* ---- keys.c ---- */

/* Columns of a source that are a key of a table: any two rows with the same, not NULL, are of one unit. */
typedef struct pe_table_key
{
	Oid			table;
	List	   *numbers;		/* of the table's columns */
	List	   *columns;		/* pe_column * beside them */
} pe_table_key;

/* Columns of a table that refer to a key of another: in the catalog, or by the owner's word. */
typedef struct pe_reference
{
	List	   *columns;		/* numbers */
	Oid			target;
	List	   *key;			/* numbers */
	bool		is_word;
} pe_reference;

extern List *pe_source_keys(pe_block *block, const pe_source *source);
extern List *pe_unique_indexes(const pe_source *source);	/* of lists of numbers */
extern List *pe_references(const pe_prover *prover, const pe_source *source);
extern bool pe_source_is_not_null(pe_block *block, const pe_source *source, AttrNumber number);
extern char *pe_reference_rule(Oid table, const pe_reference *reference);

/* ---- owned.c ---- */

/* By what the rows of a block belong to units. */
typedef struct pe_goal
{
	List	   *outputs;		/* numbers of the block's outputs that are the unit; NIL: unit is columns around it */
	List	   *unit;			/* pe_column *: for the latter */
	Oid			table;			/* the unit is a key of this table; InvalidOid: it is the unit itself */
	List	   *numbers;		/* of that key */
	List	   *given;			/* pe_equality * that hold around it */
	List	   *keys;			/* pe_table_key * of owned sources around it */
} pe_goal;

/* What is known of a block while it is proved. */
typedef struct pe_standing
{
	pe_block   *block;
	const pe_goal *goal;
	List	   *unit;			/* pe_column * */
	int			source;			/* of the unit column; 0: it is around the block */
	Bitmapset  *owned;
} pe_standing;

/* NULL if each row of the block belongs to the unit of the goal. */
extern pe_refusal *pe_prove_block(pe_block *block, const pe_goal *goal);

/* ---- grouping.c ---- */

/* NULL if GROUP BY, DISTINCT and windows of a block keep units apart. */
extern pe_refusal *pe_prove_groups(const pe_standing *standing);

/* Refuses what depends on the order of rows, or on the image of equal values. */
extern void pe_check_order(pe_block *block);
extern bool pe_is_image_equal(pe_block *block, Node *node);
extern pe_extent *pe_aggregate_extent(pe_block *block, Aggref *aggregate);
extern pe_extent *pe_window_extent(pe_block *block, WindowFunc *function);

/* ---- sublinks.c ---- */

extern pe_refusal *pe_prove_subselects(const pe_standing *standing);
extern pe_extent *pe_subselect_extent(pe_block *block, SubLink *link);

/* ---- total.c ---- */

/* Refuses all expressions of a block, and of all blocks in it, that could fail. */
extern void pe_check_total(pe_block *block);

/* The extent of an expression, which cannot fail; else it is refused. */
extern pe_extent *pe_extent_of(pe_block *block, Node *node);
extern pe_extent *pe_output_extent(pe_block *block, AttrNumber number);
extern pe_extent *pe_extent_of_type(Oid type, int32 typmod);
extern pe_extent *pe_extent_join(const pe_extent *one, const pe_extent *other);
extern bool pe_is_comparison(Oid operator);
extern Node *pe_fold(Node *node);	/* a constant expression of the server's own functions becomes its value */
extern bool pe_is_constant(Node *node, Datum *value);
extern pe_extent *pe_extent_of_const(const Const *constant);

/* ---- ranges.c ---- */

/* What the constraints of a table and its members say of a column. */
extern pe_extent *pe_column_extent(const pe_source *source, AttrNumber number);

/* ---- facts.c ---- */

typedef struct pe_call
{
	Oid			function;
	Oid			type;			/* of the result */
	int			count;
	Node	   *node[8];
	pe_extent  *argument[8];
	bool	   *has_settings;
} pe_call;

typedef struct pe_fact
{
	Oid			function;
	bool		(*apply) (const pe_call *call, pe_extent *result);	/* false: not of these arguments */
	const char *reason;			/* why it does not fail */
	const char *form;			/* what makes it so */
} pe_fact;

extern const pe_fact *pe_fact_of(Oid function);
extern bool pe_fits_type(const pe_extent *extent, Oid type);

/* ---- identity.c ---- */

extern void pe_view_identity(const pe_prover *prover, const List *families, char identity[65]);

#endif

/*
 * sight.h
 *	  Expressions of SQL, evaluated on the public cells of a dataset's attributes.
 *
 * An expression over columns sees no row: it is evaluated on the declared
 * levels and on both ends of the declared bins.  It is steady on a bin if it
 * has one value there, as far as that follows from these ends; where it has
 * not, the bin is cut.  Functions of users run here, and may drop what others
 * use: names come from names.h.
 */
#ifndef PE_FDW_SIGHT_H
#define PE_FDW_SIGHT_H

#include "postgres.h"

#include "executor/executor.h"
#include "utils/hsearch.h"

#include "api/public_cells.h"
#include "fdw/names.h"

/* What a column of the relation is, instead of an attribute's number. */
#define PE_COLUMN_UNKNOWN (-1)
#define PE_COLUMN_UNIT (-2)
#define PE_COLUMN_OPEN (-3)		/* nobody has listed its values */

/* What stands for all values that are none of an attribute's levels. */
typedef struct pe_stand_in
{
	Datum		value;			/* equal to no level, and to no literal that it is compared with */
	bool		isnull;			/* the type has no such value */
	bool		only;			/* it has no other one */
	Datum		shown;			/* where the column itself is shown */
	bool		shown_null;
} pe_stand_in;

/* A comparison of two columns, or a pattern of LIKE (comparison.h), an attribute of its own. */
typedef struct pe_sight_comparison
{
	char	   *left;
	char	   *right;			/* of a pattern: its text */
	bool		has_order;
	bool		drops_null;		/* of a comparison: no side has a cell for NULL */
	int			place;			/* among them */
	int			side[2];		/* of a comparison: the attributes of its columns; else -1 */
	bool		folded;			/* ILIKE */
	bool		is_long;		/* of a pattern: values may be longer than what is matched */
	bool		is_length;		/* it is no condition but the length of an open column, of formulas */
	List	   *written;		/* of a pattern, or a length: the expressions that it stands for */
	pe_public_attribute attribute;
} pe_sight_comparison;

/* What a SELECT has the columns of: a foreign table that stands for a dataset, or several that are joined. */
typedef struct pe_seen
{
	Oid			relation;		/* whose options count */
	const char *dataset;
	const char *id;				/* of the dataset; NULL: any of the name */
	TupleDesc	columns;
	char	  **attribute;		/* that each of them stands for; NULL: none */
	const Bitmapset *keys;		/* places of those by which tables are joined */
} pe_seen;

/* The foreign table of a dataset. */
extern pe_seen *pe_seen_of_table(Oid relation);

typedef struct pe_sight
{
	const char *dataset;
	const pe_seen *seen;
	pe_public_dataset *declared;
	pe_names   *names;
	TupleDesc	columns;		/* of what is seen */
	int		   *attribute_of;	/* of each column; of an open one that of the literals that it is compared with */
	int		   *open_of;		/* of each column: its place among the open ones, or -1 */
	pe_stand_in *outside;		/* of each attribute */
	bool	   *is_outside;		/* of each attribute: the rows hold none of its levels */
	TupleTableSlot *low;		/* rows that stand for cells */
	TupleTableSlot *high;
	TupleTableSlot *between;
	EState	   *estate;			/* parameters are its */
	ExprContext *econtext;
	MemoryContext state_memory;
	HTAB	   *states;			/* of expressions that were evaluated */
	bool		failed;			/* the last of them: none of these states can be used again */
	List	   *told;			/* what NOTICEs were sent about */
	bool		adds_nothing;	/* of a sum, what is translated: rows that it has not are not missed */
	bool		of_cube;		/* its rows are those of a release: no question drops others */
	bool		middle;			/* cut bins are decided at their middle */
	List	   *comparisons;	/* that conditions look at; their numbers follow those of the attributes */
} pe_sight;

/* An attribute, or a comparison, by its number. */
extern const pe_public_attribute *pe_sight_attribute(const pe_sight *sight, int number);

/* Whether it is a comparison of two columns; and of such whose NULLs the declaration drops. */
extern bool pe_sight_compares(const pe_sight *sight, int number);
extern bool pe_sight_drops_null(const pe_sight *sight, int number);

/* How an expression cuts a cell. */
typedef enum pe_bin_cut
{
	PE_NOT_CUT,
	PE_CUT_BY_RANGE,			/* by tests of where a value lies */
	PE_CUT_BY_EXPRESSION,
	PE_CUT_BY_EQUALITY,			/* with one value inside the bin */
	PE_CUT_OUTSIDE				/* it distinguishes undeclared values */
} pe_bin_cut;

/*
 * The columns that these expressions use, of what stands for a dataset.  42804
 * if one has not the type of its attribute.
 */
extern pe_sight *pe_sight_open(EState *estate, const pe_seen *seen, List *expressions);

/* The attributes that an expression looks at, by their numbers.  0A000 if it looks at anything else. */
extern Bitmapset *pe_sight_attributes(const pe_sight *sight, Node *expression);

/*
 * The same of a condition, in which LIKE of an open column is an attribute of
 * its own, and of a sum, in which its length is: their numbers are not below
 * those of the declared ones.
 */
extern Bitmapset *pe_sight_tested(const pe_sight *sight, Node *expression);

/* What such an expression stands for; NULL: it is another one. */
extern pe_sight_comparison *pe_sight_written(const pe_sight *sight, Node *expression);

/* The attribute of this name, or a PE_COLUMN_ value. */
extern int	pe_sight_column_of_name(const pe_public_dataset *declared, const char *name);

/* The attribute of an expression that is a column and nothing else, or a PE_COLUMN_ value. */
extern int	pe_sight_column(const pe_sight *sight, Node *expression);

/* The place among the open columns of an expression that is one and nothing else; -1: it is none. */
extern int	pe_sight_open_column(const pe_sight *sight, Node *expression);

/* x of PostgreSQL's own count(x), without DISTINCT; NULL: the aggregate is another one. */
extern Node *pe_sight_counted(const pe_sight *sight, const Aggref *aggregate);

/* Whether values that are not equal are not equal as another type either. */
extern bool pe_sight_keeps_values_apart(const pe_sight *sight, const RelabelType *cast);

/* Whether numbers of an attribute are summed beside those of others: bounds are declared of them, or levels are. */
extern bool pe_sight_has_numbers(const pe_sight *sight, int attribute);

/* An expression without its casts that change no value. */
extern Node *pe_sight_bare(const pe_sight *sight, Node *expression);

/* An expression of no column. */
extern Datum pe_sight_constant(pe_sight *sight, Node *expression, bool *isnull);
extern bool pe_sight_is_constant(Node *expression);

/* On a row; the value lives until the next cell.  55000 for an internal error. */
extern Datum pe_sight_evaluate(pe_sight *sight, Node *expression, TupleTableSlot *row, bool *isnull);

/* Puts a value into the columns of a row that stand for an attribute. */
extern void pe_sight_put(pe_sight *sight, TupleTableSlot *row, int attribute, Datum value, bool isnull);

/*
 * What an expression is on each cell of an attribute, for any cells of the
 * others.
 */
typedef struct pe_values
{
	pe_named_type *type;
	Oid			collation;
	Node	   *expression;
	Datum	   *value;
	bool	   *isnull;
	pe_bin_cut	   *cut;			/* the value is that of the middle, or NULL */
} pe_values;

/*
 * Of one attribute, on the cells that are left; NULL: on all.  With `others` on
 * the other cells too, where that is no error: else they are NULL.
 */
extern pe_values *pe_sight_values(pe_sight *sight, Node *expression, int attribute, const bool *left, bool others);

/* What an expression is beyond the first bin of an attribute, or beyond the last one. */
typedef enum pe_beyond
{
	PE_BEYOND_AS_IN_BIN,		/* or there is nothing beyond */
	PE_BEYOND_ANOTHER,
	PE_BEYOND_SELECTED			/* another: a comparison that is true for some values */
} pe_beyond;

/* Of an expression of one attribute; where it fails beyond, it is another. */
extern pe_beyond pe_sight_beyond(pe_sight *sight, Node *expression, int attribute, bool above);

/* One NOTICE for what it is about: whether it was sent before. */
extern bool pe_sight_is_told(pe_sight *sight, const char *about);

/* Where all of its columns are NULL, whether that is a cell or not; false if it fails there. */
extern bool pe_sight_of_null(pe_sight *sight, Node *expression, Datum *value, bool *isnull);

/*
 * On values outside of an attribute that drops them; known: it has one value
 * there.  False: the type has none outside.
 */
extern bool pe_sight_of_dropped(pe_sight *sight, Node *expression, int attribute,
								Datum *value, bool *isnull, bool *known);

/* Of several attributes, on all combinations of their cells, the last one fastest; left: of each attribute. */
extern pe_values *pe_sight_product(pe_sight *sight, Node *expression, const int *attribute,
								   int attributes, const bool *const *left, int64 *count);

/*
 * An error for the first cell that is left and cut.  Where cut bins are decided
 * at their middle, a NOTICE for each column; an error for an equality, and for
 * an expression that cuts most bins.  what: "a test in WHERE".
 */
extern void pe_sight_check_cuts(pe_sight *sight, const pe_values *values,
								int attribute, const bool *left, const char *what);

/*
 * NOTICE, once for an attribute: rows without a value of it, or with one that
 * is not declared, are dropped, and the question includes them.
 */
extern void pe_sight_tell_nulls(pe_sight *sight, int attribute, const char *what, const char *how);

/*
 * A test of one column where that is NaN, which counts as NULL; false where it fails, of other types than floats, and
 * of numeric where the test does not name NaN.
 */
extern bool pe_sight_of_nan(pe_sight *sight, Node *test, int attribute, Datum *value, bool *isnull);

/* NOTICE, once for an attribute: a test is true for NaN, or not; as_null: its rows are counted as those of NULL. */
extern void pe_sight_tell_nan(pe_sight *sight, int attribute, bool as_null, const char *what);

/* NOTICE, once for an attribute: values outside of its bins have a cell, and are in no sum. */
extern void pe_sight_tell_unsummed(pe_sight *sight, int attribute);
extern void pe_sight_tell_undeclared(pe_sight *sight, int attribute, const char *what, const char *how);

/* The same as pe_sight_check_cuts for the cell of values outside alone. */
extern void pe_sight_check_outside(pe_sight *sight, int attribute, const char *what);

/* Equality of two values of an expression. */
extern bool pe_values_are_same(const pe_values *values, int64 one, int64 other);
extern uint32 pe_values_hash(const pe_values *values, int64 one);

extern bool pe_same_value(pe_named_type *type, Oid collation, Datum one, bool one_null, Datum other, bool other_null);
extern uint32 pe_hash_value(pe_named_type *type, Oid collation, Datum value, bool isnull);

/* A declared value as text, for messages. */
extern char *pe_value_text(pe_sight *sight, Oid type, Datum value);

/* The product of two sizes, or the greatest number. */
extern int64 pe_size_times(int64 one, int64 other);

/* 0A000: "x" is not translated, with the reason. */
extern void pe_refuse_translation(const char *what, const char *hint) __attribute__((noreturn));

/* The owner's call that registers a relation under the cap of a dataset, for a hint.  unit NULL: it is not known. */
extern char *pe_registration_text(const char *name, const char *relation, const char *unit, const char *dataset);

#endif

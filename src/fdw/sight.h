/*
 * sight.h
 *	  Expressions of SQL, evaluated on the public cells of a dataset's attributes.
 *
 * An expression over columns sees no row: it is evaluated on the declared levels and on both ends of the declared bins.
 * It is steady on a bin if it has one value there, as far as that follows from these ends; where it has not, the bin is cut.
 */
#ifndef PE_FDW_SIGHT_H
#define PE_FDW_SIGHT_H

#include "postgres.h"

#include "executor/executor.h"

#include "api/public_cells.h"

/* What a column of the relation is, instead of an attribute's number. */
#define PE_COLUMN_UNKNOWN (-1)
#define PE_COLUMN_UNIT (-2)

typedef struct pe_sight
{
	const char *dataset;
	pe_public_dataset *declared;
	TupleDesc	columns;		/* of the relation */
	int		   *attribute_of;	/* of each column */
	TupleTableSlot *low;		/* rows that stand for cells */
	TupleTableSlot *high;
	EState	   *estate;			/* parameters are its */
	ExprContext *econtext;
	List	   *states;			/* of expressions that were evaluated */
	List	   *told;			/* the messages about cut bins that were sent */
	bool		middle;			/* cut bins are decided at their middle */
} pe_sight;

/* The columns of a relation that stands for a dataset, of which these expressions are.  42804 if one has not the type of its attribute. */
extern pe_sight *pe_sight_open(EState *estate, Oid relation, const char *dataset, List *expressions);

/* The attributes that an expression looks at, by their numbers.  0A000 if it looks at anything else. */
extern Bitmapset *pe_sight_attributes(const pe_sight *sight, Node *expression);

/* The attribute of an expression that is a column and nothing else, or a PE_COLUMN_ value. */
extern int	pe_sight_column(const pe_sight *sight, Node *expression);

/* An expression without its casts that change no value. */
extern Node *pe_sight_bare(Node *expression);

/* An expression of no column. */
extern Datum pe_sight_constant(pe_sight *sight, Node *expression, bool *isnull);
extern bool pe_sight_is_constant(Node *expression);

/* What an expression is on each cell of an attribute, the others being whatever they are. */
typedef struct pe_values
{
	Oid			type;
	Datum	   *value;
	bool	   *isnull;
	bool	   *cut;			/* the value is that of the middle */
} pe_values;

/* Of one attribute, on all its cells. */
extern pe_values *pe_sight_values(pe_sight *sight, Node *expression, int attribute);

/* Where an attribute is NULL, whether that is a cell or not. */
extern Datum pe_sight_of_null(pe_sight *sight, Node *expression, int attribute, bool *isnull);

/* Of several attributes, on all combinations of their cells, the last one fastest. */
extern pe_values *pe_sight_product(pe_sight *sight, Node *expression, const int *attribute, int attributes);

/* Whether an expression of several columns or of one could differ between the values outside an attribute's levels or bins. */
extern bool pe_sight_tells_outside(pe_sight *sight, Node *expression, int attribute);

/* An error, or a NOTICE where cut bins are decided at their middle.  what: "a test in WHERE". */
extern void pe_sight_refuse_cut(pe_sight *sight, int attribute, int32 cell, const char *what);

/* Equality of two values of a type. */
extern bool pe_same_value(Oid type, Datum one, bool one_null, Datum other, bool other_null);

extern uint32 pe_hash_value(Oid type, Datum value, bool isnull);

/* A value as text, for keys and messages. */
extern char *pe_value_text(Oid type, Datum value, bool isnull);

/* 0A000: "x" is not translated, with the reason. */
extern void pe_refuse_translation(const char *what, const char *hint) __attribute__((noreturn));

#endif

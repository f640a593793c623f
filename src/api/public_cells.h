/*
 * public_cells.h
 *	  The declared cells of a dataset's attributes as values of SQL.  Public, and free.
 */
#ifndef PE_API_PUBLIC_CELLS_H
#define PE_API_PUBLIC_CELLS_H

#include "postgres.h"

#include "lib/stringinfo.h"

#include "domain/domain.h"
#include "ledger/columns.h"

/* An attribute; its cells are numbered as in a predicate's IN CELLS. */
typedef struct pe_public_attribute
{
	char	   *name;
	Oid			type;			/* base type of the column */
	int32		typmod;			/* of that type, as the column has it; -1: none */
	Oid			collation;
	bool		numbers;		/* sums and averages are of it */
	bool		bins;
	bool		whole;			/* values have a next one: integers, dates, times */
	int32		cells;
	int32		ordered;		/* of these: levels or bins */
	int32		other;			/* the cell of each, or -1 */
	int32		null;
	bool		is_there;		/* every row has a value */
	bool		drops_null;		/* rows without a value, */
	bool		drops_outside;	/* or with another one, count nowhere that the attribute is named */
	Datum	   *low;			/* of each ordered cell: its level, or its least value; */
	Datum	   *high;			/* its level, or its greatest one, as far as there is one */
	Datum	   *edge;			/* bins: the edges, one more */
	uint64		hash;			/* of all that is declared */
	char	  **listed;			/* of an open column: the literals of a statement, its levels; NULL: declared */
} pe_public_attribute;

/* An open column whose values nobody has listed. */
typedef struct pe_public_open
{
	char	   *name;
	AttrNumber	number;			/* in the dataset's own table */
	Oid			type;			/* base type */
	int32		typmod;
	Oid			collation;
	bool		is_there;		/* every row has a value */
} pe_public_open;

typedef struct pe_public_dataset
{
	int64		id;
	int			version;		/* of the data */
	char	   *public_id;		/* what no other dataset has, of the same name neither */
	char	   *unit;			/* NULL: each row */
	bool		unit_is_there;	/* every row has one */
	int			max_rows;		/* of each unit that count */
	Oid			unit_type;
	int32		unit_typmod;
	Oid			unit_collation;
	char	   *block_column;	/* by whose blocks of time the cap holds; NULL: none */
	int			attributes;
	pe_public_attribute *attribute;		/* those asked for that have levels or bins */
	int			opens;
	pe_public_open *open;		/* and those that have neither */
} pe_public_dataset;

/*
 * Attributes of these names, as far as they are declared, in this order; with
 * names NULL all.  42704 if there is no such dataset; other errors of a dataset
 * that cannot be asked now.
 */
extern pe_public_dataset *pe_public_load(const char *dataset, char **names, int count);

/*
 * Whether this is what a request was validated by: columns of the dataset up to one without a name, at most `count`.
 */
extern bool pe_public_is_same(const pe_public_dataset *declared, const pe_dataset *dataset,
							  const pe_column *columns, int count);

/*
 * Makes an attribute of an open column, whose levels are these values, each once
 * and in the order of their texts; rows with another value, and those with none,
 * have cells of their own.  Returns its number.
 */
extern int	pe_public_list(pe_public_dataset *declared, const pe_public_open *open, Datum *value, int count);

/* Which of some levels, as text, is spelled most like a literal; -1: none is named. */
extern int32 pe_public_nearest(const char *literal, char *const *levels, int32 count);

/* The value that follows one; false: none is known, as of floats. */
extern bool pe_public_next(const pe_public_attribute *attribute, Datum value, Datum *next);

/* The middle of a bin, of the attribute's type. */
extern Datum pe_public_middle(const pe_public_attribute *attribute, int32 cell);

/* The greatest value below an edge of bins of a type, as far as there is one. */
extern Datum pe_public_below(Oid type, Datum edge);

/*
 * The same of a request over a release, which has other columns beside those that were loaded.
 */
extern bool pe_public_is_same_in(const pe_public_dataset *declared, const pe_dataset *dataset,
								 const pe_column *columns, int count);

/* Appends a column as CREATE TABLE has it, behind a comma if others are there. */
extern void pe_public_add_column(StringInfo to, const char *name, Oid type, int32 typmod, Oid collation);

/* Columns as CREATE TABLE has them: those of the unit and of all attributes; and the id of the dataset. */
extern char *pe_public_columns(const char *dataset, const char **id);

/* The same of some attributes alone. */
extern char *pe_public_columns_of(const char *dataset, char **names, int count, const char **id);

#endif

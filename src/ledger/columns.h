/*
 * columns.h
 *	  Attributes, the unit and the private column of a dataset.
 */
#ifndef PE_LEDGER_COLUMNS_H
#define PE_LEDGER_COLUMNS_H

#include "access/attnum.h"

#include "domain/domain.h"
#include "ledger/dataset.h"

/* A declared attribute with its column. */
typedef struct pe_column pe_column;
struct pe_column
{
	char	   *name;
	AttrNumber	number;			/* of the column in the dataset's own table */
	Oid			type;			/* base type of the column */
	char	  **points;			/* levels or edges, as text in the column's type */
	int			cells;
	/*
	 * since which number of the dataset's declarations it is declared so
	 * (pe_dataset_declared)
	 */
	int			declared;
	bool		ordered;		/* the points ascend in the order of the type */
	bool		open;			/* dp.keys may look for its values */
	bool		computed;		/* of a request: a formula, a comparison or a pattern, by its text */
	const pe_column *compared[2];	/* of a comparison: its columns; of a pattern the one */
	bool		bare;			/* neither levels nor bins are declared: there are no cells, and no domain */
	pe_attribute domain;

	/* rolled up for a request (domain/roll_up.h) */
	char	   *roll_up;		/* canonical text; NULL: the cells are the declared ones */
	char	  **class_cells;	/* of each class: which cells it has */
};

/* What a request says of an attribute: two of one column that differ are two attributes. */
static inline char *
pe_column_text(const pe_column *column)
{
	return column->roll_up != NULL ? column->roll_up : column->name;
}

/*
 * 0A000 if a column is generated as rows are read, from PostgreSQL 18 on: its
 * expression could fail for one row, and the answer would be that of an empty table.
 */
extern void pe_column_check_stored(Oid relation, AttrNumber number);

/* The name that a column has now; NULL if it is gone. */
extern char *pe_column_name(Oid relation, AttrNumber number);

/*
 * Whether no row has NULL in a column now, by a constraint.  Not of tables that
 * others inherit from: these may have NULL there.  From the catalog alone:
 * quotes, which are free, wait for no lock of the table.
 */
extern bool pe_column_is_not_null(Oid relation, AttrNumber number);

/*
 * Where the catalog has a column of a dataset, of this base type: constraints, modifiers and collations are read
 * there, which requests depend on and sensitivities do not.  In a frozen dataset OID and number may be of another
 * database, so names are looked for; false: there is no such column.
 */
typedef struct pe_column_place
{
	Oid			relation;
	AttrNumber	number;
} pe_column_place;
extern bool pe_column_find_place(const pe_dataset *dataset, const char *name, AttrNumber number, Oid type,
								 pe_column_place *place);

/* pe_column_is_not_null of a column of a dataset. */
extern bool pe_column_is_never_null(const pe_dataset *dataset, const pe_column *column);

/* The column that a name means: the one of this name, else that of the name between double quotes, as SQL has it. */
extern char *pe_column_as_given(Oid relation, const char *name);

/* 42703, and the name that was perhaps meant. */
extern void pe_refuse_missing_column(const pe_dataset *dataset, const char *column) __attribute__((noreturn));

/*
 * The base type of a declared column: of this name and this number in the dataset's
 * table; InvalidOid if there is none.  What inherits from the table may have other
 * numbers: there a column is found by its name, as PostgreSQL does.
 */
extern Oid	pe_declared_column_type(const pe_dataset *dataset, const char *column, AttrNumber declared);

/* 55000: the column of this name is not the one that was declared, or not as it was. */
extern void pe_raise_column_changed(const pe_dataset *dataset, const char *column,
									AttrNumber declared) __attribute__((noreturn));

/*
 * After a dataset came to be of another table: the numbers of its columns are those of
 * their names there, 0 where there is none.  In the caller's transaction, within an access.
 */
extern void pe_columns_place(int64 dataset_id);

/*
 * The base type of a column that becomes the unit of privacy.  42703 if there
 * is none of this name, 0A000 if its values cannot name units (pe_type_is_unit),
 * or are equal under its collation where their bytes are not.
 */
extern Oid	pe_unit_column_type(Oid relation, const char *column);

/* The same of a column whose values are to be protected: 42703, or 0A000 if it holds no numbers. */
extern Oid	pe_private_column_type(Oid relation, const char *column);

/* The secret key of the hash that chooses the rows of a unit: PE_UNIT_KEY bytes; the caller wipes them. */
extern void pe_unit_key_load(const pe_dataset *dataset, uint8 *key);

/*
 * The declared attributes of these names, in this order, with prepared domains.
 * 42704 for an unknown one, 22023 for a repeated one, 55000 for one whose column
 * is no longer what was declared, or that has neither levels nor bins, or if the unit's or the private one is not;
 * 53200 if they take more than pg_epsilon.max_memory.
 * With names NULL: all, in the order declared, and those without cells too, of any size.
 * Sets dataset->changed_here if one was declared by the open transaction.
 */
extern pe_column *pe_columns_load(pe_dataset *dataset, char **names, int *count);

/*
 * Names that stand in double quotes, as SQL has them, become those of the
 * attributes that they mean; one that is an attribute's as it stands, or
 * nobody's, stays.
 */
extern void pe_attributes_as_given(const pe_dataset *dataset, char **names, int count);

/* The names of all declared attributes. */
extern char **pe_attribute_names(const pe_dataset *dataset, int *count);

/* A declared attribute as dp.describe shows it: its values are not parsed, and there is no domain. */
typedef struct pe_shown_column
{
	pe_column	column;			/* its type is InvalidOid if the dataset is frozen, or there is a fault */
	char	   *type;			/* as it was declared */
	char	   *fault;			/* what became of the column since; NULL: it is what was declared */
} pe_shown_column;

/* All of them, in the order declared.  No error where a column, or the table, is gone. */
extern pe_shown_column *pe_columns_show(pe_dataset *dataset, int *count);

/*
 * What became of a column that was declared, for people; NULL if it is what was
 * declared, or nobody can know.  Within an access.
 */
extern char *pe_column_fault(const pe_dataset *dataset, const char *column, AttrNumber declared, const char *type);

/*
 * The same of those of the names that are declared: *count of them.  Open
 * columns without cells are added to open, *opens of them; with NULL they are
 * refused (55000).
 */
extern pe_column *pe_columns_find(pe_dataset *dataset, char **names, int *count, pe_column *open, int *opens);

/* The open column of this name, with its domain if it has one; 42501 if there is none, 55000 as of the others. */
extern void pe_open_column_load(pe_dataset *dataset, const char *name, pe_column *column);

/*
 * 55000 if a column is no longer of the type that it was loaded with, or the
 * unit's or the private one not what was declared.
 */
extern void pe_columns_check(const pe_dataset *dataset, const pe_column *columns, int count);

/* 22023 if it is the private column, or a generated one that is computed from it in some table of the dataset. */
extern void pe_dataset_check_public(const pe_dataset *dataset, const char *column);

/* 54000 if a request has too many attributes. */
extern void pe_check_attributes(int count);

/*
 * The domains of columns together; the last `watched` columns do not span
 * cells; 54000 if there are too many attributes.
 */
extern pe_domain *pe_columns_domain(const pe_column *columns, int count, int watched);

/* 54000 if the product has too many cells for what is kept of each of them. */
extern void pe_columns_check_product(const pe_domain *domain);

/*
 * The bounds of a column with bins as numbers, for models: where the last bin is
 * open, the upper one is the number nearest below its edge.
 */
extern void pe_column_bounds(const pe_column *column, double *lower, double *upper);

/*
 * Declares an attribute, in the transaction of the caller, who has validated the
 * arguments; an act (acts.h).  domain has the rules and the number of points.
 *
 * alters: it is declared already, and is so anew.  What was paid for under the
 * old declaration is read by that one, which stays in the ledger; nothing that
 * is asked from now on is answered from it.
 */
extern void pe_attribute_register(const pe_dataset *dataset, const char *attribute, const char *type,
								  const pe_attribute *domain, char **points, bool ordered,
								  const char *outside, const char *nulls, bool alters);

/* The same without a new declaration.  55000 for the attribute of the blocks, 42704 if there is none. */
extern void pe_attribute_drop(const pe_dataset *dataset, const char *attribute);

/*
 * Opens a column, likewise.  It is open until it is closed, with the levels or
 * bins that are declared before or later; 42710 if it is open already.
 */
extern void pe_attribute_open(const pe_dataset *dataset, const char *attribute, const char *type, bool alters);

/* Ends that; the levels or bins stay. */
extern void pe_attribute_close(const pe_dataset *dataset, const char *attribute);

#endif

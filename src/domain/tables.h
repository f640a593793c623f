/*
 * tables.h
 *	  Contingency tables: the counts of rows by some of a domain's attributes, several lists of
 *	  attributes at once.
 *
 * A table has a cell for each combination of the cells of its attributes, row-major in the
 * order of the domain, last fastest.  The tables of one list stand one after the other.
 * Nothing here has the size of the product of all attributes.
 */
#ifndef PE_DOMAIN_TABLES_H
#define PE_DOMAIN_TABLES_H

#include "base/cursor.h"
#include "domain/predicate.h"
#include "domain/units.h"

/*
 * The most tables of one list, and the most cells that all have together: their
 * counts are one value of less than 1 GB.
 */
#define PE_MAX_TABLES 65536
#define PE_MAX_TABLE_CELLS (INT64_C(1) << 26)

typedef struct pe_tables
{
	int			attributes;		/* of the domain that span cells */
	int32_t		cells[PE_MAX_ATTRIBUTES];
	int32_t		tables;
	uint32_t   *set;			/* of each table: bit a is set if attribute a spans it */
	int64_t    *first;			/* tables + 1: where each begins, and the end */
} pe_tables;

/* Fills first from attributes, cells, tables and set; false if there are too many tables or cells. */
extern bool pe_tables_prepare(pe_tables *tables);

extern void pe_tables_free(pe_tables *tables);

/* The cell of table t, from 0, that coordinates of all attributes are in. */
extern int32_t pe_tables_place(const pe_tables *tables, int32_t t, const int32_t *coordinate);

/*
 * The cells of the product of all attributes; 0 if there are more than
 * PE_WIDE_CELLS, and no rows of units can be cut (units.h).
 */
extern pe_u128 pe_tables_product(const pe_tables *tables);

/* The number of a cell of that product, row-major, last fastest, from coordinates; and back. */
extern pe_u128 pe_tables_number(const pe_tables *tables, const int32_t *coordinate);
extern void pe_tables_coordinates(const pe_tables *tables, pe_u128 number, int32_t *coordinate);

/*
 * The sets as bytes, and back; pe_tables_free frees them in any case.  The
 * domain says how many attributes and cells there are; false if a set names
 * another one, or there are too many tables or cells.
 */
extern size_t pe_tables_size(const pe_tables *tables);
extern void pe_tables_write(const pe_tables *tables, char *bytes);
extern bool pe_tables_read(pe_tables *tables, pe_cursor *from);
extern bool pe_tables_span(pe_tables *tables, const pe_domain *domain);

/*
 * What the accumulator that reads the rows is given: the tables and a selection
 * (predicate.h), whose domain's attributes span the tables.
 * pe_tables_selection_read checks every field, as pe_selection_read does.
 */
extern size_t pe_tables_selection_size(const pe_tables *tables, const pe_domain *domain, const pe_predicate *predicate);
extern void pe_tables_selection_write(const pe_tables *tables, const pe_domain *domain,
									  const pe_predicate *predicate, char *bytes);
extern bool pe_tables_selection_read(pe_tables *tables, pe_domain *domain, pe_predicate *predicate,
									 const char *bytes, size_t size);

#endif

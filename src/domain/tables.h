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

#include "domain/domain.h"

/* The most tables of one list, and the most cells that all have together. */
#define PE_MAX_TABLES 65536
#define PE_MAX_TABLE_CELLS (INT64_C(1) << 31)

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

#endif

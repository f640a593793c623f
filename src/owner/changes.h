/*
 * changes.h
 *	  What is said where the rows of a dataset change all at once: its answers do not.
 *
 * TRUNCATE, and ALTER TABLE that gives the table another name or schema, are
 * seen in sessions that have loaded the library; rows that are written are not.
 * Nothing is refused, and nothing is said of tables that are no dataset.
 */
#ifndef PE_OWNER_CHANGES_H
#define PE_OWNER_CHANGES_H

/* In _PG_init. */
extern void pe_changes_init(void);

/* The NOTICE that answers of a dataset are replayed still. */
extern void pe_changes_tell(const char *dataset);

#endif

/*
 * published.h
 *	  The tables that dp.publish made, as the ledger remembers them.
 *
 * Who replaces a table runs what is on it, and what a table says of itself anybody
 * can write.  So a row of the ledger, which nothing but this file writes, says
 * which tables dp.publish made and for whom.  It is written in the transaction that
 * makes the table and is undone with it.
 */
#ifndef PE_LEDGER_PUBLISHED_H
#define PE_LEDGER_PUBLISHED_H

typedef enum pe_published
{
	PE_NOT_PUBLISHED,
	PE_PUBLISHED_FOR_ANOTHER,
	PE_PUBLISHED_FOR_USER		/* the current one, who owns it still */
} pe_published;

/*
 * Whether dp.publish made a table, and whose it was.  Written here, a row is of one
 * OID and its row type, so another table of that name or number is another one;
 * where it was restored, of a name.
 */
extern pe_published pe_published_find(Oid relation);

/* Remembers that the current user's dp.publish made a table, under its names as they are now. */
extern void pe_published_remember(Oid relation);

/*
 * What is on a table that could run when it is written, or of which it is a part:
 * 'trigger "x"'.  Indexes on plain columns and views run nothing then.  NULL: nothing.
 */
extern char *pe_relation_burden(Oid relation);

#endif

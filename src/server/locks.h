/*
 * locks.h
 *	  The kinds of advisory locks that the ledger takes: field 4 of their tags.
 *
 * A session finds the ledger's worker through the tag of a lock (mailbox.h), and a
 * name that somebody chose becomes part of the tag of another (registration.c): so no
 * two kinds may ever be the same number.  They are all here, and none is given one
 * by hand.  SQL's own advisory locks have 1 and 2.
 */
#ifndef PE_SERVER_LOCKS_H
#define PE_SERVER_LOCKS_H

typedef enum pe_lock_kind
{
	PE_LOCK_TABLE = 0x7065,		/* a table that is being registered */
	PE_LOCK_NAME,				/* a name that a dataset is being given */
	PE_LOCK_GRANTS,				/* a dataset on which a budget is being granted */
	PE_LOCK_WORKER				/* held by the ledger's worker */
} pe_lock_kind;

#endif

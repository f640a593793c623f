/*
 * anchor.h
 *	  The anchor: outside the data directory, how far each ledger has come.
 *
 * Files inside the data directory go back in time together with it, and
 * a ledger that was dropped leaves no trace there.  The file that
 * pg_epsilon.anchor_file names stays where it is: it remembers, for the table of
 * each dataset, how many charges there were and the hash of the last one.
 *
 * A command can be asked in its place, or besides (anchor_command.h), so that the
 * memory is on another machine: then it is evidence after a promotion, too
 * (promotion.h).
 *
 * The functions do nothing where neither is set.  A file that is not there
 * remembers nothing and is made by the first charge.  Error 58030: the file, or
 * its directory, cannot be used, or it is not as it was written; or the command fails.
 */
#ifndef PE_LEDGER_ANCHOR_H
#define PE_LEDGER_ANCHOR_H

#include "common/sha2.h"

/* How far the ledger of a table of this database has come. */
typedef struct pe_anchor_link
{
	Oid			relation;
	int64		charges;
	unsigned char head[PG_SHA256_DIGEST_LENGTH];
} pe_anchor_link;

/*
 * What is wrong with the ledger of a dataset, which has so many charges and this
 * head, as the anchor knows it: it is behind, or one charge is not what it
 * was.  NULL: nothing; it may be ahead, since the anchor is written after the
 * commit.  In recovery, where the ledger is another server's, always NULL.
 * again: not what the worker has of the command, it is asked anew.
 * Between pe_access_begin and pe_access_end.  Errors of all that follow: 58030 the file or the command cannot be used,
 * or its setting is invalid.
 */
extern const char *pe_anchor_fault(int64 dataset_id, Oid relation, int64 charges, const void *head, bool again);

/* The same of one that is known; `name`: of who knows it. */
extern const char *pe_anchor_differs(int64 dataset_id, int64 charges, const void *head, const pe_anchor_link *known,
									 const char *name);

/*
 * Records how far ledgers have come: durable when it returns.  Between the
 * commit of charges and their answers; an error is raised with the note that the
 * request was charged.  In a transaction or in none; if there is one, an error
 * leaves the file open, and locked, to its abort.
 */
extern void pe_anchor_advance(const pe_anchor_link *link, int count);

/*
 * The same for one that may have been recorded: nothing is written where the
 * anchor knows of as many charges, or more.  The caller has seen that it knows no
 * other ones (pe_anchor_fault).
 */
extern void pe_anchor_reach(const pe_anchor_link *link);

#endif

/*
 * attest.h
 *	  The owner vouches for a ledger that is not where it was written.
 */
#ifndef PE_LEDGER_ATTEST_H
#define PE_LEDGER_ATTEST_H

#include "nodes/pg_list.h"

#include "ledger/chain.h"
#include "ledger/dataset.h"

/* A dataset whose freeze was lifted. */
typedef struct pe_attested
{
	char	   *dataset;
	char	   *relation;		/* schema.name */
	int64		charges;
	double		rho_spent;		/* of the cap */
	char	   *finding;		/* what was wrong with its chain, or as the anchor file knows it; NULL: nothing */
	bool		dropped;
} pe_attested;

/*
 * Lifts the freeze of all datasets that the current user owns: their rows are
 * written for this cluster, timeline and database and for the tables and roles
 * that bear the recorded names here, and a line of their chain says who did so
 * and why.  Nothing that was spent is given back.  A chain that is broken takes
 * a superuser: it begins anew after the lines as they are, and what is spent is
 * the more of what the rows and their sums say.  In the caller's transaction, except
 * for the anchor file, which takes the ledger as it is from now on.
 *
 * Errors: 42501 the user owns no dataset, or not the table of one; 55000 a table
 * is gone or is another one; PE002 a chain is broken; 25006 in recovery; those of
 * anchor.h.  A dataset that was unregistered is passed over, with a NOTICE, where a
 * registered one would be an error.
 */
extern List *pe_attest(const char *reason);

/* Checks the chain of a dataset, its sums, and whether charges are missing that the anchor file knows. */
extern void pe_ledger_verify(const pe_dataset *dataset, pe_chain_check *check);

#endif

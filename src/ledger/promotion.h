/*
 * promotion.h
 *	  After a promotion: datasets go on where there is evidence that nothing is missing.
 *
 * A promoted standby has a prefix of what the primary wrote, and its new timeline freezes each dataset
 * (pe_identity_is_frozen).  An answer leaves the primary after its charge is in the store of
 * pg_epsilon.anchor_command: so if the ledger here has the charge that the store remembers, it has
 * every charge that was answered.  Then the dataset takes the new identity, and a line of its chain,
 * which costs nothing, says so.  A store that remembers another charge, or does not answer, leaves it
 * frozen, for dp.attest.  Where it remembers nothing, or there is none, the ledger may show the same by itself:
 * it names this server as the sole standby (standby.h).
 *
 * The file of pg_epsilon.anchor_file is no evidence: it is of one machine, and may be as old as the
 * last time that this machine was primary.
 */
#ifndef PE_LEDGER_PROMOTION_H
#define PE_LEDGER_PROMOTION_H

#include "ledger/anchor.h"

/* Function of that line. */
#define PE_PROMOTED "promotion"

/*
 * Worker, in a transaction: looks at the datasets of this cluster and database that another timeline
 * froze; those that others hold are left for the next time.  Returns how far the ledgers have come that
 * go on, and their number, for pe_anchor_advance after the commit.  Soon after it failed it does nothing.
 */
extern pe_anchor_link *pe_promotion_settle(int *links);

/* Worker: why a dataset with this identity is still frozen: a sentence. */
extern const char *pe_promotion_reason(const char *identity, Oid relation);

/*
 * Elsewhere: has the worker do so if a dataset with this identity may go on; whether it was asked.
 * The way to the worker is pe_promotion_ask (room worker sets it; NULL: this is the worker).
 */
extern bool pe_promotion_await(const char *identity, Oid relation);
extern void (*pe_promotion_ask) (void);

#endif

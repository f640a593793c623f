/*
 * standby.h
 *	  The sole standby: whose promotion freezes nothing, because no charge was answered without it.
 *
 * pg_epsilon.sole_standby names one synchronous standby.  The dataset's chain has an act for it (PE_STANDBY,
 * acts.h), with its name, the address from which it connects, and where the act was written: system
 * identifier, timeline, database.  The last act written here says who must have flushed a charge before it
 * is answered:
 *
 *		standby		the sole standby
 *		leaving		the one before it, until it has flushed this act too; then an act without it follows
 *
 * Theorem.  A server is promoted, and the last act of a dataset in its ledger names it, on the timeline of
 * the dataset's identity.  Since it was started it has heard of its primary, and it has all of the WAL that
 * the primary then said it had; since that moment no other data directory bore its name.  Then its ledger has
 * every charge of the dataset that was answered on that timeline.
 *
 * Proof.  A charge that was answered before the primary was last heard of was part of that WAL.  Of those
 * answered later, let C be the first that it lacks, and A the last act before C.  Its WAL is a prefix of the WAL of
 * the timeline, so its chain is a prefix of the dataset's chain, which grows by charges and acts alone.  If its
 * chain has A, A names it, and C waited for its flush: it has C.  Otherwise let B be the first act that it
 * lacks.  The act before B names it.  So B names it as the one that stays, and C waits for it as before,
 * or as the one that leaves.  As long as B is the last act, C waits for its flush.  The act after B is written
 * once a charge was answered under B, so after its flush had passed B: it has B, a contradiction.  The same
 * holds for each later act that names it.
 *
 * The flush that counts is that of all connections that bear the name, from the address of the act: it is
 * read after the commit, and needs no other setting.  That synchronous_standby_names requires the
 * standby alone is checked before the charge: so charges wait for it, and so does what owners do.
 *
 * While the old primary lives on, the promoted server reports no flush to it: it answers nothing under that name.
 *
 * A copy of the data directory has the same ledger.  The server cannot know whether it is one; that it heard
 * of the primary and had all of its WAL leaves copies that were connected under the name, and then were not
 * while another one was.  Of these doc/operations.md speaks: they are the operator's word.
 *
 * -NAME in the setting says that a standby is given up, and never promoted: nothing waits for it.  That is
 * the operator's word.
 */
#ifndef PE_LEDGER_STANDBY_H
#define PE_LEDGER_STANDBY_H

#include "access/xlogdefs.h"

#include "ledger/acts.h"

/* Name of the acts. */
#define PE_STANDBY "standby"

/* Worker, at the beginning of a batch: nothing is waited for yet.  What is noted is in the current memory context. */
extern void pe_standby_begin(void);

/*
 * Worker, in a batch, before the first charge of a dataset that has so many acts: notes whose flush it waits for.
 * Whether the setting is not what the last act says: then the line of a new one is filled in for the
 * caller to append.  55000: the standby that the setting names cannot be the sole one now.
 */
extern bool pe_standby_note(int64 dataset_id, int64 acts, pe_act_line *line);

/* Worker, after the commit of a batch and in no transaction: whether all for whom it waits have flushed up to there. */
extern bool pe_standby_has_flushed(XLogRecPtr end);

/* Whether this server may be a sole standby that was promoted: for who would ask the worker. */
extern bool pe_standby_may_be(void);

/*
 * After a promotion, under pe_access_begin: NULL if the ledger of a dataset, whose identity is of another
 * timeline, has every charge that was answered; else why that is not known.
 */
extern const char *pe_standby_fault(int64 dataset_id, const char *identity);

#endif

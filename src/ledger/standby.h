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
 * the dataset's identity; and no other data directory had the name.  Then its ledger has every charge of the
 * dataset that was answered on that timeline.
 *
 * Proof.  Its WAL is a prefix of the WAL of that timeline, so its chain is a prefix of the dataset's chain, which
 * grows by charges and acts alone.  Let C be the first answered charge that it lacks, and A the last act
 * before C.  If its chain has A, A names it, and C waited for its flush: it has C.  Otherwise let B be the
 * first act that it lacks.  The act before B names it.  So B names it as the one that stays, and C waits
 * for it as before, or as the one that leaves.  As long as B is the last act, C waits for its flush.  The
 * act after B is written once a charge was answered under B, so after its flush had passed B: it has B,
 * a contradiction.  The same holds for each later act that names it.
 *
 * The flush that counts is that of all connections that bear the name, from the address of the act: it is
 * read after the commit, and needs no other setting.  That synchronous_standby_names requires the
 * standby alone is checked before the charge: so charges wait for it, and so does what owners do.
 *
 * A promotion within the lifetime of the old primary is safe: the promoted server reports no flush any more,
 * so the old one answers nothing under its name.
 *
 * What the server cannot know is in doc/operations.md: a name is that of one data directory.  A copy of the
 * directory has the same ledger under the same name.  So the server must also have heard of its primary since it was
 * started, and have had all WAL that the primary then had: a copy that was started from a backup, recovered
 * from an archive or had not caught up is frozen.
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
 * Whether the setting is not what the last act says: then the line of a new one is filled in, which the
 * caller appends.  55000: the standby that the setting names cannot be the sole one now.
 */
extern bool pe_standby_note(int64 dataset_id, int64 acts, pe_act_line *line);

/* Worker, after the commit of a batch and in no transaction: whether all whose flush it waits for have passed this. */
extern bool pe_standby_has_flushed(XLogRecPtr end);

/* Whether this server may be a sole standby that was promoted: for who would ask the worker. */
extern bool pe_standby_may_be(void);

/*
 * After a promotion, under pe_access_begin: NULL if the ledger of a dataset, whose identity is of another
 * timeline, has every charge that was answered; else why that is not known.
 */
extern const char *pe_standby_fault(int64 dataset_id, const char *identity);

#endif

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
 * A dataset without an act begins with one that takes over the last act of another, a dropped one too: whom that
 * names, and the setting does not, leaves.  So a table that is registered anew is not rid of a standby.
 *
 * An answer rests on lines: on its own charge, or on those that say that it was paid or stored (a replay, a
 * release that is read, a report).  The worker answers the former after the commit, and knows of the latter up to where
 * they may end (at its start: where the server has flushed, since the worker before it may have waited in vain).
 * Either waits until all whom the last act names have flushed that.
 *
 * Theorem.  A server is promoted, and the last act of a dataset in its ledger names it, on the timeline of
 * the dataset's identity.  It has every line of the dataset's chain on which an answer of the primary of that timeline
 * rested, if
 *
 *		since it was started it has heard of its primary, and it has all of the WAL that the primary then said it had,
 *		it got that WAL from the primary itself,
 *		of the data directories that bore its name on that timeline it is the only one; or, where it was made anew, an
 *		answer was charged after it had all that the one before had flushed, and that one was never connected again.
 *
 * Proof.  Lines that were flushed by the primary before it was last heard of are part of that WAL.  Of the
 * others, let C be the first that it lacks and on which an answer rested.  Its WAL is a prefix of the WAL of
 * the timeline, so its chain is a prefix of the dataset's chain, which grows by charges and acts alone.  The answer
 * waited for all whom the last act then, D, names.  If the chain has D, D names it: it has flushed C.  Otherwise let
 * B be the first act that it lacks.  The act before B names it.  So B names it as the one that stays or as the one that
 * leaves.  If D is B, the answer waited for it.  The act after B drops it only once a charge was confirmed under B, so
 * after its flush had passed B: it has B, a contradiction.  So the act after B names it, too, and each later one up
 * to D by the same reason.
 *
 * What the premises ask of the operator, and the server cannot see: the last one, and the second behind a cascade.
 * When it was last heard of, and what the primary then said, is what the walreceiver keeps; it is what was
 * sent, not what there was, while a standby catches up.  So a standby that is made anew counts only from the first
 * charge on that was answered with it.  Another standby returns what it has, which may be ahead of this one: what is
 * read there is no answer of the primary.
 *
 * The flush that counts is that of all physical connections that bear the name, from the address of the act: it is
 * read after the commit, and needs no other setting.  That synchronous_standby_names requires the
 * standby alone is checked before the charge: so charges wait for it, and so does what owners do.
 *
 * While the old primary lives on, the promoted server reports no flush to it: it answers nothing under that name
 * but what was confirmed before.
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

struct pe_act_line;				/* acts.h */

/* Name of the acts. */
#define PE_STANDBY "standby"

/* Worker, at the beginning of a batch: nothing is waited for yet.  What is noted is in the current memory context. */
extern void pe_standby_begin(void);

/*
 * Worker, in a batch, before the first charge of a dataset that has so many acts: notes whose flush it waits for.
 * Whether the setting is not what the last act says: then the line of a new one is filled in for the
 * caller to append.  55000: the standby that the setting names cannot be the sole one now.
 */
extern bool pe_standby_note(int64 dataset_id, int64 acts, struct pe_act_line *line);

/*
 * Worker, in a batch: something is answered because the ledger of a dataset says that it was paid.  Whether that
 * must wait: somebody whom its last act names has perhaps not flushed the line.
 */
extern bool pe_standby_rests(int64 dataset_id, int64 acts);

/*
 * Elsewhere: waits, by the worker, until what is read here is on those standbys, and in the anchor of the command.
 * 57014 or 58030 if that was in vain.  The way to the worker is pe_standby_ask (room worker sets it; NULL: this is
 * the worker).
 */
extern void pe_standby_await(int64 dataset_id);
extern void (*pe_standby_ask) (int64 dataset_id);

/*
 * Worker, after the commit of a batch, which ended there, and in no transaction: whether all for whom it waits have
 * flushed that, and the lines that its answers rest on.
 */
extern bool pe_standby_has_flushed(XLogRecPtr end);

/* Whether this server may be a sole standby that was promoted: for who would ask the worker. */
extern bool pe_standby_may_be(void);

/*
 * After a promotion, under pe_access_begin: NULL if the ledger of a dataset, whose identity is of another
 * timeline, has every charge that was answered; else why that is not known.
 */
extern const char *pe_standby_fault(int64 dataset_id, const char *identity);

#endif

/*
 * charge.h
 *	  The ledger's own transactions: reserve charges, store releases.
 *
 * These run in the ledger's worker, in transactions of its own, which are
 * committed and flushed before anybody hears of them.  So no ROLLBACK, error,
 * cancel or crash of the caller can undo a charge, and what it pays for may
 * leave the server.
 *
 * One transaction serves a batch of requests: those that came while the last
 * one was being committed.  Each request is decided after those before it, as if
 * it were alone; only the sums are written once for all.  An error undoes the
 * whole batch, and the worker then serves its requests one by one.
 */
#ifndef PE_LEDGER_CHARGE_H
#define PE_LEDGER_CHARGE_H

#include "accounting/filter.h"
#include "ledger/anchor.h"
#include "ledger/wire.h"

typedef struct pe_batch pe_batch;

/* Begins a batch in the current transaction, in the current memory context. */
extern pe_batch *pe_batch_begin(void);

/*
 * Reserves a charge, or finds the release that the same request on the same
 * budget has paid for; a model that is found gets the name that was asked for as
 * well.  Errors: PE002 frozen, 55000 the dataset or the budget is no longer what
 * the request was made for, 25006 in recovery, 42710 another model has the name.
 */
extern void pe_batch_reserve(pe_batch *batch, const pe_charge_request *request, const pe_charge_price *price,
							 pe_charge_reply *reply);

/*
 * An attempt at a period of a series (request->series): a line of the chain
 * that costs nothing, or after the third one what the price says.  PE_REPLAYED
 * if it is stored.  Errors as of pe_batch_reserve, which calls it, and 55000 if
 * the series has ended.
 *
 * Stores what was drawn for it; PE_CHARGED if it is stored now, PE_REPLAYED, with what is, if it was before, PE_BUSY if
 * somebody is changing the dataset.
 */
extern void pe_batch_store_period(pe_batch *batch, const pe_charge_request *request, const int64 *value, int64 values,
								  pe_charge_reply *reply);

/*
 * In a batch: stores the measurements that a charge paid for, or the coefficients of
 * a model, or the point and the public value of a minimum, as the bits of doubles;
 * returns the number of the release.
 */
extern int64 pe_release_store(const pe_charge_request *request, const pe_charge_price *price, int64 charge_id,
							  const int64 *value, int64 values);

/*
 * In a batch: whether an answer that the ledger of a dataset has must wait, like a charge: for a standby
 * (standby.h), or, where link has charges afterwards, until the anchor's command has put it.  58030 as of that.
 */
extern bool pe_batch_rests(pe_batch *batch, int64 dataset_id, pe_anchor_link *link);

/* Lets datasets go on after a promotion (promotion.h): in a batch of its own. */
extern void pe_batch_settle(pe_batch *batch);

/*
 * Writes what is spent; returns how far each ledger has come that was charged, and
 * their number.  The caller commits, records them in the anchor, and only then
 * answers.  Errors: 55000 a table was dropped meanwhile.
 */
extern pe_anchor_link *pe_batch_end(pe_batch *batch, int *count);

/* Removes the measurements of a release, in the caller's transaction; its charge stays. */
extern void pe_release_expire(int64 dataset_id, int64 id);

/* The same of all releases of a dataset that were stored longer ago than an interval; their number. */
extern int	pe_releases_expire(int64 dataset_id, Datum older_than);

#endif

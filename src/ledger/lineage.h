/*
 * lineage.h
 *	  Which tables the charges of a dataset read, and what another dataset of
 *	  these tables owes for it.
 *
 * A table leaves its whole, is detached or moved away, and its rows stay spent
 * on.  dp_ledger.charge_relation remembers each table that a scan read, from which
 * charge of the dataset to which; the names are in the charges too, under the
 * hash chain.  What a dataset owes another one is the sum of those charges of
 * the other that read a table of its own.  It begins with that sum as a charge to
 * its cap; where a table joins later, and it owes more than it began with, it
 * answers nothing.  So by sequential composition the cap bounds what the rows
 * lost to all datasets that ever read them.
 */
#ifndef PE_LEDGER_LINEAGE_H
#define PE_LEDGER_LINEAGE_H

#include "ledger/anchor.h"
#include "ledger/dataset.h"

/* Function of the line by which a dataset begins with what its tables lost to another one. */
#define PE_CARRIED "carried over"

/* Function of the line that says which table a dataset came to be of, and why. */
#define PE_MOVED "dp.move_dataset"

/* A table and its descendants, the table first and the others by their OIDs. */
extern List *pe_lineage_order(Oid relation, List *others);

/* The names of tables as a JSON array; NULL if one is gone. */
extern char *pe_lineage_names(List *relations);

/* The charge number seq of a dataset reads these tables, and others than the last one. */
extern void pe_lineage_write(int64 dataset_id, int64 seq, List *relations);

/* 55000 if the dataset owes another one for these tables more than it began with. */
extern void pe_lineage_check(const pe_dataset *dataset, List *relations);

/*
 * Charges to the cap what the dataset owes for its tables.  22023 if that is more
 * than the cap, 55000 if it was measured in other terms, PE002 if it is frozen.
 * In the caller's transaction, which registers the dataset or moves it.
 */
extern void pe_lineage_carry(const pe_dataset *dataset);

/* Writes that a dataset was moved, after its charges; the anchor file learns of it under both tables. */
extern void pe_lineage_record_move(const pe_dataset *dataset, Oid from, Oid to, const char *reason);

/*
 * Writes a line that costs nothing, in the name of the current user and under his pe_access_begin, after the
 * dataset's charges; returns how far its ledger has come.  PE002: the chain is broken.
 */
extern pe_anchor_link pe_lineage_record(const pe_dataset *dataset, const char *function, const char *request);

/*
 * After a restore: the remembered tables are those that bear their names here,
 * of local rows only where the table is gone.
 */
extern void pe_lineage_place(int64 dataset_id, bool local);

#endif

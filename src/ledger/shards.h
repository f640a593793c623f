/*
 * shards.h
 *	  Tables whose rows Citus keeps in shards, on other nodes or on this one.
 *
 * Read from Citus's own catalogs by SQL, so that nothing of Citus is needed to build
 * or to run without it: where it is not installed, no table is distributed, and that costs
 * one look into a cache.
 *
 * What this node can know: which tables are distributed, which relations of this node
 * are shards, and how large the shards are.  Who may write to a shard on its own node is not
 * known here: SECURITY.md, what the operator must do.
 */
#ifndef PE_LEDGER_SHARDS_H
#define PE_LEDGER_SHARDS_H

#include "nodes/pg_list.h"

#include "ledger/dataset.h"

/* Whether the rows of a relation, or of one that inherits from it, are in shards. */
extern bool pe_shards_hold(Oid relation);

/* Whether rows of a dataset are in shards: those of its table, or of one that its view reads. */
extern bool pe_shards_hold_rows(const pe_dataset *dataset);

/*
 * Whether all rows of a unit are in one shard: each private table is distributed by the hash of the column
 * that says whose its rows are, equal values have equal hashes, and shards of all these tables that belong
 * together are on one node.  Public tables are on every node, or on this one alone.
 */
extern bool pe_shards_have_units(const pe_dataset *dataset);

/* How many shards the first private table has, without those that inherit from it; at least 1. */
extern int64 pe_shards_count(const pe_dataset *dataset);

/*
 * 0A000 for a view over distributed tables whose units are not each in one shard, or with an expression that
 * depends on settings: those of this session do not reach the nodes.
 */
extern void pe_shards_check_view(const pe_dataset *dataset, bool has_settings);

/* The relations of this node that are shards of one of these. */
extern List *pe_shards_here(List *relations);

/*
 * 0A000 for a relation that cannot be a dataset here: a shard, whose table could be another
 * dataset, and a distributed table on a node that is not the coordinator, where a
 * second ledger would begin.
 */
extern void pe_shards_check(Oid relation);

/*
 * How many blocks the shards of a relation have: every node that holds one is asked, so that a
 * node that is down is an error (Citus's own).  25001 (Citus's own too) where the caller's transaction has
 * changed rows of distributed tables: a node would show what was changed.
 */
extern uint64 pe_shards_blocks(Oid relation);

#endif

/*
 * strategies.h
 *	  Strategies that were computed, kept in a table.
 *
 * A strategy depends on public things alone: the workload, the sizes of the
 * attributes, the cells that a predicate leaves, the method, the objective, the
 * norm, the neighbours and the gap.  Its
 * bytes are checked when they are read, and the sensitivity is computed anew
 * from the integers that are then applied.
 *
 * A strategy that a charge refers to is kept for ever, because the release can only
 * be read with it.  Others make room for newer ones (pg_epsilon.strategy_cache).
 */
#ifndef PE_LEDGER_STRATEGIES_H
#define PE_LEDGER_STRATEGIES_H

#include "lib/stringinfo.h"

#include "strategy/strategy.h"

/* What a strategy is for: the key of the cache, and what is needed to read it again. */
typedef struct pe_strategy_key
{
	const pe_workload *workload;
	const bool *possible;		/* cells that a predicate leaves; NULL: all */
	const bool *const *possible_of; /* likewise of each attribute, for blocks (blocks/blocks.h) */
	int			spare;			/* of blocks: strategy.h */
	bool		whole;			/* one matrix for all cells, if it can be had */
	pe_method	method;			/* dawa: how its estimates are kept */
	pe_objective objective;
	pe_norm		norm;			/* of the sensitivity */
	pe_neighbours neighbours;	/* likewise */
	double		gap;			/* that was asked for */
	/*
	 * no part of the key: the lower bound is wanted too, of a method that does
	 * not give one
	 */
	bool		bounded;
} pe_strategy_key;

/* One as it is in the table. */
typedef struct pe_kept_strategy
{
	int64		id;				/* 0: not in the table */
	pe_method	method;
	double		milliseconds;	/* that it took, without the bound of other methods than optimal */
	/*
	 * bound to its workload, which must outlive it; lower_bound 0: not wanted,
	 * or not known
	 */
	pe_strategy strategy;
} pe_kept_strategy;

/*
 * A strategy by its number, with the workload that it is for (whose shape has
 * names only if the workload uses them).  False if there is none.  Read under
 * the latest snapshot; one that is damaged, or is the matrix of another
 * workload, is an error (XX001).
 */
extern bool pe_strategy_load(int64 id, pe_kept_strategy *found, pe_workload *workload);

/* Only the strategy, for a workload that is known. */
extern bool pe_strategy_load_matrix(int64 id, const pe_workload *workload, pe_kept_strategy *found);

/* Whether it was made for this workload, by its text. */
extern bool pe_strategy_is_for(int64 id, const pe_workload *workload);

/* The best strategy of the table for a key that was asked for with at most this gap; false if there is none. */
extern bool pe_strategy_find(const pe_strategy_key *key, double accepted_gap, pe_kept_strategy *found);

/* Gives a strategy its workload.  XX001 if it is the matrix of another one, which can be sound by itself. */
extern void pe_strategy_attach(pe_kept_strategy *found, const pe_workload *workload);

/* Appends what pe_strategy_keep reads: the key, how long it took, and the strategy as bytes. */
extern void pe_strategy_message(StringInfo to, const pe_strategy_key *key, double milliseconds, const char *bytes,
								size_t size);

/* Worker: puts a strategy into the table and returns its number; or that of one that is as good. */
extern int64 pe_strategy_keep(StringInfo message);

/* Worker: 55000 if a strategy that a charge is to refer to was removed meanwhile. */
extern void pe_strategy_check_kept(int64 id);

#endif

/*
 * chain.h
 *	  The hash chain of a dataset's charges and its owners' acts (acts.h): one line
 *	  after the other, and all of them checked.
 *
 * Every line's hash is the SHA-256 of the hash before it and of its own text.
 * The text says all that its row says, by names and numbers of the ledger and
 * never by OIDs, so it is the same in every cluster.
 */
#ifndef PE_LEDGER_CHAIN_H
#define PE_LEDGER_CHAIN_H

#include "common/sha2.h"

#include "ledger/time_blocks.h"

/* Functions of the lines by which a freeze was lifted. */
#define PE_ATTEST "dp.attest"
#define PE_ATTEST_BROKEN "dp.attest, broken chain"

/* What a line costs, budget and cap. */
typedef enum pe_line_amount
{
	PE_RHO, PE_DELTA, PE_EPSILON, PE_CAP_RHO, PE_CAP_DELTA, PE_CAP_EPSILON, PE_AMOUNTS
} pe_line_amount;

/* A row of dp_ledger.charge without its hash. */
typedef struct pe_charge_line
{
	int64		id;				/* set by pe_chain_append */
	int64		dataset_id;
	int64		seq;
	const char *dataset;
	const char *at;				/* set by pe_chain_append */
	const char *role;
	int64		budget_id;		/* 0: charged to the cap alone */
	const char *budget_role;
	const char *function;
	int64		amount[PE_AMOUNTS];
	bool		absent[PE_AMOUNTS];	/* NULL */
	const char *relations;		/* JSON: the tables that were read; NULL: those of the charge before, or none */
	const char *request;		/* JSON */
	int64		release_id;		/* 0: none */
	int64		strategy_id;	/* 0: none */
	int			others;			/* further strategies */
	const int64 *other;
	int64		series_id;		/* 0: none */
	pe_time_blocks	blocks;			/* that are charged; not limited: the dataset has none */
} pe_charge_line;

/*
 * Inserts a line after the one whose hash is head; returns its hash.  Between
 * pe_access_begin and pe_access_end; the caller has locked the dataset's row and
 * writes the new head into it.
 */
extern bytea *pe_chain_append(pe_charge_line *line, const void *head, size_t head_size);

/*
 * Whether the last charge of a dataset has this number, or, for 0, there is none, and
 * the acts after it lead from its hash to the head: so no act hides that a charge is gone.
 */
extern bool pe_chain_ends(int64 dataset_id, int64 charges, const char *head);

typedef struct pe_chain_check
{
	int64		charges;		/* lines that there are */
	int64		last_seq;		/* the highest number in use, or that the dataset's row says is */
	int64		last_act;		/* the number of the last act that there is */
	int64		rho_spent;		/* of the cap, in nano, as the dataset's row says */
	/*
	 * the charge that is not as it was written, or follows a missing one; 0:
	 * none, or an act is
	 */
	int64		first_bad;
	char	   *finding;		/* what is wrong; NULL: nothing */
	char		head[PG_SHA256_DIGEST_LENGTH];	/* of the lines as they are */

	/* gets each line: its number among charges or acts, its text and the hash that is stored; NULL: not wanted */
	void		(*each) (void *argument, bool is_charge, int64 number, const char *text, const bytea *hash);
	void	   *argument;
} pe_chain_check;

/*
 * Computes the chain of a dataset anew and adds up its charges, under one
 * snapshot, the latest.  Reads only; memory does not grow with the number of
 * charges.
 */
extern void pe_chain_check_all(int64 dataset_id, pe_chain_check *check);

/* Gives each line of a dataset to check->each, in the chain's order, under the latest snapshot; all else of it is 0. */
extern void pe_chain_lines(int64 dataset_id, pe_chain_check *check);

/* ----------
 * SHA-256, as the ledger uses it.
 * ----------
 */

/* SHA-256 of two pieces, one after the other. */
extern bytea *pe_sha256(const void *first, size_t first_size, const void *second, size_t second_size);

/* SHA-256 of a piece and a text in UTF-8, in any database: a dump may be restored in one of another encoding. */
extern bytea *pe_text_hash(const void *first, size_t first_size, const char *text);

/* SHA-256 of a payload, in hexadecimal: as lines of the chain say it, and options of cubes. */
extern char *pe_payload_digest(const bytea *payload);

/* SHA-256 of the canonical request: the key under which its releases are found. */
extern bytea *pe_request_hash(const char *request);

#endif

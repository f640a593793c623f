/*
 * acts.h
 *	  What owners do to a dataset: registered, granted, declared and so on.
 *
 * Each act is a line of the dataset's hash chain (chain.h), between the charges
 * that came before it and those after.  It is written in the owner's own
 * transaction and is undone with it.  The dataset's row is locked from
 * pe_act_begin on: charges wait until the transaction ends, and the owner's own
 * are refused in it.  Acts of the operator (standby.h) are written by the worker.
 */
#ifndef PE_LEDGER_ACTS_H
#define PE_LEDGER_ACTS_H

#include "common/sha2.h"

#include "server/row.h"

/* What an act changes, and so what its old and new value are. */
typedef enum pe_act_kind
{
	PE_ACT_DATASET,				/* what of the dataset's row is another afterwards; of a new one, all */
	PE_ACT_ATTRIBUTE,			/* the declaration of the subject */
	PE_ACT_BUDGET,				/* the budget of the subject, a role */
	PE_ACT_RELEASE				/* none */
} pe_act_kind;

typedef struct pe_act
{
	int64		dataset_id;
	pe_act_kind kind;
	const char *name;			/* of the function */
	const char *subject;		/* attribute, role or release; NULL: the dataset itself */
	char	   *before;			/* JSON; NULL: there was nothing */
} pe_act;

/* Locks the dataset's row and reads the old value; begin before anything is written. */
extern void pe_act_begin(pe_act *act, int64 dataset_id, pe_act_kind kind, const char *name, const char *subject);

/* The same for a dataset whose row is new. */
extern void pe_act_begin_new(pe_act *act, int64 dataset_id, const char *name);

/* Reads the new value and writes the line, in the name of the current user.  reason: NULL: none was given. */
extern void pe_act_end(const pe_act *act, const char *reason);

/* A row of dp_ledger.act. */
typedef struct pe_act_line
{
	int64		dataset_id;
	int64		seq;			/* of the acts of the dataset */
	int64		charges;		/* that came before it */
	const char *dataset;
	const char *at;
	const char *role;
	const char *act;
	const char *subject;		/* this and the rest: NULL: none */
	const char *old_value;
	const char *new_value;
	const char *reason;
	const bytea *hash;
} pe_act_line;

/* Everything that a line says, in one fixed form: what the chain hashes. */
extern char *pe_act_text(const pe_act_line *line);

/* What the hash of a line must be after another hash, of the size of SHA-256. */
extern bytea *pe_act_hash(const pe_act_line *line, const void *head);

/*
 * Inserts a line after the hash head, of the size of SHA-256; returns its hash.  The caller has locked the dataset's
 * row, and writes the number of acts and the new head into it.
 */
extern bytea *pe_act_append(pe_act_line *line, const void *head);

extern void pe_act_of_row(const pe_row *row, pe_act_line *line);

#endif

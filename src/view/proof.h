/*
 * proof.h
 *	  The proof that a view may be a dataset: each row belongs to one unit, and depends on that
 *	  unit's own rows and on public tables alone.
 *
 * D is the rows of all private tables, D_u those of unit u, P the public tables.  A view V with
 * the unit column c is stable if for every D
 *
 *	 - V has no row with c = u where D_u is empty,
 *	 - the rows with c = u are a function of (D_u, P), as a multiset and in every plan,
 *	 - no other row depends on D_u, and
 *	 - no expression of V fails on any row that D could have: a failure is an output.
 *
 * Then V(D) without its rows of u is V(D - D_u), and all sensitivities of this project hold with
 * "the rows of a unit" = its rows in V.  Neighbours are databases that differ in all rows of one
 * unit, in all private tables together; substitute follows from two removals.  Rows whose unit
 * is NULL do not count.
 *
 * Each rule of the proof stands beside the code that applies it, with the sentence that proves it.
 * What is not proved is refused, with the part of the view, the rule, and the form that is
 * accepted.
 *
 * Trusted besides the catalog: foreign keys (also those that are not validated), and the
 * owner's words (pe_view_words).
 */
#ifndef PE_VIEW_PROOF_H
#define PE_VIEW_PROOF_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

/* The word of the owner that some columns of a table refer to a key of another one. */
typedef struct pe_view_key
{
	Oid			relation;
	List	   *columns;		/* of attribute numbers (integers), in the order of key */
	Oid			target;
	List	   *key;
} pe_view_key;

/* The owner's words, which are believed. */
typedef struct pe_view_words
{
	List	   *public_tables;	/* of Oids */
	List	   *keys;			/* of pe_view_key * */
	List	   *functions;		/* of Oids: they are total, immutable and read no table */
	bool		never_fails;	/* no expression of the view fails */
} pe_view_words;

typedef enum pe_view_role
{
	PE_VIEW_PUBLIC,
	PE_VIEW_PRIVATE
} pe_view_role;

/* What one table is, with its children and partitions; or what the owner said of an expression. */
typedef struct pe_view_family
{
	Oid			relation;		/* the table that the view names, or the topmost one of them */
	pe_view_role role;
	char	   *rule;			/* the same text for the same rule: "column customer_id", or
								 * "key (order_id) -> study.orders (order_id)"; "public" */
	char	   *said;			/* in words: "lines belong to customers through order_id -> orders" */
	char	   *reason;			/* why: the catalog's or the owner's */
	int			carries;		/* the view has at most so many rows for each row of it, and of others that carry it */
} pe_view_family;

/* An expression that only the owner's words carry: never_fails or functions. */
typedef struct pe_view_word
{
	char	   *part;			/* where: "column revenue" */
	char	   *reason;			/* which expression, and what would make it total */
} pe_view_word;

typedef struct pe_view_proof
{
	List	   *families;		/* of pe_view_family *: private ones first, each by the name of its relation */
	List	   *words;			/* of pe_view_word *: what was believed and not proved */
	char		identity[65];	/* SHA-256, in hex, of all that the proof rests on; see identity.c */
	List	   *reads;			/* of Oids: all relations and views that are read, the view itself first */
	bool		is_spine;		/* each row of the view is one row of a private table, with columns of declared
								 * tables that are joined by their unique keys; so rows are never changed by later
								 * ones if those tables are append-only */
	bool		multiplies;		/* it may have more rows than the tables that carry it; else they bound it: carries */
	bool		unit_is_key;	/* no two rows have the same unit, and none is NULL */
	bool		has_settings;	/* an expression depends on TimeZone, DateStyle or the like */
} pe_view_proof;

/*
 * Proves a view whose unit is its column number `unit`, or refuses it (0A000, 42501, 22023, with
 * the part, the rule and the accepted form).  kept are pe_view_family * of private tables whose
 * rules are known from other datasets of the same cap: of several columns that qualify it decides.
 *
 * Takes AccessShareLock on the view and on everything that it reads, as it finds it, and keeps it
 * until the transaction ends.  Evaluates nothing of the view and reads no row of
 * its tables: it may be called wherever the catalog may be read, also in PE_UNDONE, whose memory
 * context the result outlives.  No right of the caller is looked at; those of the view's owner are.
 */
extern pe_view_proof *pe_view_prove(Oid view, AttrNumber unit, const pe_view_words *words, List *kept);

/*
 * A word of keys: "lines(order_id) -> orders(order_id)", with names as in SQL.  22023 for what is
 * none.  And its canonical text, with names of schemas.
 */
extern pe_view_key *pe_view_key_of_text(const char *text);
extern char *pe_view_key_text(const pe_view_key *key);

/*
 * Whether a column of a table says of each row whose it is, alone: it is NOT NULL, and has a unique index of it alone.
 * The table is locked; the caller's own transaction has changed nothing of this (pe_relation_check_committed).
 */
extern bool pe_table_unit_is_key(Oid table, const char *column);

/* Whether a relation is one that is proved: a view, no materialized one. */
extern bool pe_view_is_view(Oid relation);

#endif

/*
 * relation.h
 *	  Which relations hold rows of a registered one, who owns them and who could change them.
 *
 * Read from the system catalogs as they are now, at every isolation level,
 * and not by SQL: every answer needs them, and a statement costs more than what
 * it would read.
 */
#ifndef PE_LEDGER_RELATION_H
#define PE_LEDGER_RELATION_H

#include "nodes/pg_list.h"
#include "storage/lockdefs.h"

/*
 * A relation and what inherits from it, locked as find_all_inheritors does; of one
 * that is gone itself, which find_all_inheritors answers by an internal error.
 */
extern List *pe_relation_heirs(Oid relation, LOCKMODE lock);

/*
 * What may have rows in common with a relation: its descendants, the ancestors
 * of all of them, and shards of these that this node holds.
 */
extern List *pe_relation_family(Oid relation);

/*
 * A relation of the family that role could change: by a privilege of its own or
 * of a role that it is a member of, inherited or not, or as the owner of a part,
 * who can grant himself what he has revoked.  InvalidOid if there is none.
 */
extern Oid	pe_relation_writable_by(Oid relation, Oid role);

/*
 * 55000 if the caller's own transaction changed the relation or one of those
 * that inherit from it, or which these are: that would show in a scan under
 * any snapshot (TRUNCATE, ALTER TABLE, DETACH PARTITION), or be a key or NOT NULL
 * that rows which are read do not have.
 */
extern void pe_relation_check_committed(Oid relation);

/*
 * 0A000 unless the relation is of a kind that can be registered and read: a
 * view, if it is to be one (view/proof.h says more of these), else a materialized view, a
 * table, a partitioned table or a foreign table that does not stand for a dataset itself,
 * permanent, without forced row security and without functions of others than superusers in what the planner
 * computes, and so all that inherit from it.  Of a distributed table pe_shards_check says more.
 */
extern void pe_relation_check(Oid relation, bool is_view);

/* A list of OIDs as a parameter of a statement, oid[]. */
extern Datum pe_oid_array(List *list);

/* The owner of a relation; InvalidOid if it is gone. */
extern Oid	pe_relation_owner(Oid relation);

/*
 * Whether a column of the family is of a domain that belongs to a role without the
 * privileges of the table's owner; sets the names of both.
 */
extern bool pe_relation_has_domain_of_other(Oid relation, char **column, char **owner);

/* The name of an index over some rows only, of the relation or what inherits from it; NULL if there is none. */
extern char *pe_relation_partial_index(Oid relation);

/* Whether a column alone is a key of the relation: a unique index says that no value is in two rows. */
extern bool pe_relation_is_key(Oid relation, const char *column);

/*
 * The names of columns that may say whose a row is: those of foreign keys, and
 * such as are called an id, which can be the unit and are no key by themselves.
 * With a key that was taken for the unit: those with names like persons', if
 * its own name is none. By the catalog alone.  person: the first one has a name like a person's.
 */
extern List *pe_relation_pointers(Oid relation, const char *key, bool *person);

/* Whether row level security is on. */
extern bool pe_relation_has_policies(Oid relation);

/* The table that the relation is a partition or a child of, the outermost one; InvalidOid if it is none. */
extern Oid	pe_relation_whole(Oid relation);

/* ----------
 * The tables that dp.publish and dp.publish_series made, as the ledger remembers them.
 *
 * Who replaces a table runs what is on it, and what a table says of itself anybody
 * can write.  So a row of the ledger, which nothing but this file writes, says
 * which tables they made, and for whom.  It is written in the transaction that
 * makes the table and is undone with it.
 * ----------
 */

typedef enum pe_published
{
	PE_NOT_PUBLISHED,
	PE_PUBLISHED_FOR_ANOTHER,
	PE_PUBLISHED_FOR_USER		/* the current one, who owns it still */
} pe_published;

/*
 * Whether one of them made a table, and for whom; *series_id: its series, or 0.  Written here, a row is of one
 * OID and its row type, so another table of that name or number is another one;
 * where it was restored, of a name.
 */
extern pe_published pe_published_find(Oid relation, int64 *series_id);

/*
 * Remembers that a table was made for the current user, of a series or (0) of a
 * release, under its names as they are now.
 */
extern void pe_published_remember(Oid relation, int64 series_id);

/*
 * What is on a table that could run when it is written, or that it is a part of:
 * 'trigger "x"'.  Indexes on plain columns and views run nothing then.  NULL: nothing.
 */
extern char *pe_relation_burden(Oid relation);

#endif

/*
 * family.h
 *	  Which relations hold rows of a registered one, and who could change them.
 *
 * Read from the system catalogs as they are now, whatever the isolation level,
 * and not by SQL: every answer needs them, and a statement costs more than what
 * it would read.
 */
#ifndef PE_LEDGER_FAMILY_H
#define PE_LEDGER_FAMILY_H

#include "nodes/pg_list.h"

/* What may have rows in common with a relation: its descendants, and the ancestors of all of them. */
extern List *pe_relation_family(Oid relation);

/*
 * A relation of the family that role could change: by a privilege of its own or
 * of a role that it is a member of, inherited or not, or as the owner of a part,
 * who can grant himself what he has revoked.  InvalidOid if there is none.
 */
extern Oid	pe_relation_writable_by(Oid relation, Oid role);

/*
 * 55000 if the caller's own transaction changed the relation or one of those
 * that inherit from it, or which these are: that would show in a scan, whatever
 * its snapshot (TRUNCATE, ALTER TABLE, DETACH PARTITION).
 */
extern void pe_relation_check_committed(Oid relation);

/*
 * 0A000 unless the relation is of a kind that can be registered and read: a
 * table, a partitioned table or a foreign table, permanent, without forced row security, and
 * so all that inherit from it.
 */
extern void pe_relation_check(Oid relation);

#endif

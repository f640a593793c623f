/*
 * cube.h
 *	  A paid release, given to those who may read a relation that its owner made of it.
 *
 * Privacy.  What leaves is the payload of a release: noisy measurements that are
 * charged and stored already.  Everything that is computed of them, by anybody
 * and as often as he likes, is post-processing, which loses nothing more (Dwork
 * and Roth 2014, proposition 2.1): cap, budgets and noise do not depend on how
 * many readers there are.  No row is read here, nothing is charged, and nothing
 * is written.
 *
 * Access.  Who may replay a release may show it to others, as he could by
 * dp.publish.  The payload is given for a foreign table if and only if
 *
 *	- its owner, as pg_class has him now, owns the dataset of the release, or may
 *	  draw on a budget that paid for it;
 *	- its options name the release and carry the SHA-256 of this very payload, so
 *	  that no other release ever stands behind the relation: not by another
 *	  number, and not where numbers mean other releases (a restore, a copy);
 *	- the role as whom the relation is read may select from it: the current user,
 *	  or the owner of a view over it.
 *
 * Owner and options are read here, from the catalog, and are no arguments.  Who
 * alters them must own the relation.  The current user stays who he is: no
 * expression, function or plan of a reader runs as another role.  The ledger is
 * read by this extension's own statements (server/access.h), which hold nothing
 * of a reader's.
 */
#ifndef PE_DOOR_CUBE_H
#define PE_DOOR_CUBE_H

#include "postgres.h"

/*
 * The payload of the release that a foreign table is made of, and its number.
 * Errors: 42501 the reader may not select from the relation, or its owner may
 * not replay the release, which may not exist; 55000 the release is another one,
 * or has expired.  Inside PE_UNDONE.
 */
extern bytea *pe_door_cube(Oid relation, Oid reader, int64 *release);

/*
 * The payload's SHA-256, for the options of a table that is to be made of a
 * release.  42501 unless the current user may replay it; 55000 as above.
 */
extern char *pe_door_cube_digest(int64 release);

/* The names of these options. */
#define PE_CUBE_RELEASE "release"
#define PE_CUBE_DIGEST "payload"

#endif

/*
 * mailbox.h
 *	  Where the backends of a database find its ledger's worker, and leave their
 *	  channels for it.
 *
 * A worker opens a mailbox: with the library in shared_preload_libraries on a
 * board in the server's shared memory, which has room for a number of databases;
 * otherwise, and if the board is full, in dynamic shared memory, found through an
 * advisory lock whose tag carries the mailbox's handle.  The lock goes when its
 * holder dies, SQL cannot take a lock of this class, and nothing has to be
 * preloaded.  Another such lock makes sure that a database has one worker.
 *
 * Locking: a mailbox's slots and flags are under its spinlock.  Which database a
 * place on the board belongs to is under the board's lock, which a backend holds
 * while it posts: so no channel gets to the worker of another database.
 */
#ifndef PE_WORKER_MAILBOX_H
#define PE_WORKER_MAILBOX_H

#include "storage/dsm.h"

/*
 * What sessions and worker mean by the bytes that they share: the mailbox, channels and messages.  It goes up with
 * every change of them.  A file of the library can be replaced while sessions have the old one loaded.
 */
#define PE_WIRE 1

/* Channels that wait to be taken, at most. */
#define PE_MAILBOX_SLOTS 64

typedef struct pe_mailbox pe_mailbox;

typedef enum pe_posting
{
	PE_POSTED,
	PE_NOBODY,					/* no worker serves the database, or it is leaving */
	PE_FULL,					/* as many as there is room for wait already */
	PE_OTHER_WIRE				/* the worker that serves it speaks otherwise */
} pe_posting;

/* In _PG_init, in the postmaster: asks for the board. */
extern void pe_board_request(void);

/* Whether the server has a board: then every process of it has the library from the postmaster. */
extern bool pe_board_exists(void);

/* Backend: hands a channel to the worker of this database, and returns its process. */
extern pe_posting pe_mailbox_post(dsm_handle channel, pid_t *worker_pid);

/* Backend: asks the worker of a database, if it stays, to leave as soon as it owes no backend a release. */
extern void pe_mailbox_ask_to_leave(Oid database);

/* Worker: opens the mailbox of this database until the process ends; NULL if another worker serves it. */
extern pe_mailbox *pe_mailbox_open(void);

/* Worker: empties the mailbox into handle[PE_MAILBOX_SLOTS]; the number of channels. */
extern int	pe_mailbox_take(pe_mailbox *mailbox, dsm_handle *handle);

/* Worker: whether it can be asked to leave, and so need not leave by itself: the mailbox is on the board. */
extern bool pe_mailbox_stays(const pe_mailbox *mailbox);

/* Worker: whether it was asked to leave. */
extern bool pe_mailbox_should_leave(pe_mailbox *mailbox);

/* Worker: closes the mailbox unless a channel waits in it; whether it did. */
extern bool pe_mailbox_close(pe_mailbox *mailbox);

/* ----------
 * The library in shared_preload_libraries: workers that stay.
 * ----------
 */

/*
 * In _PG_init.  In the postmaster: asks for the shared memory where workers are
 * found (mailbox.h), and from then on makes the worker of a database leave when a
 * statement needs that database for itself.  Elsewhere it does nothing.
 */
extern void pe_resident_init(void);

#endif

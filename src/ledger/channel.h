/*
 * channel.h
 *	  How a backend and the ledger's worker of its database find each other and
 *	  talk.
 *
 * The worker publishes a mailbox, a piece of dynamic shared memory, by holding
 * an advisory lock whose tag carries the mailbox's handle.  The lock goes when
 * its holder dies, SQL cannot take a lock of this class, and nothing has to be
 * preloaded.  A backend that finds no such lock starts a worker.  It makes a
 * channel, two message queues in a segment of its own, drops the channel's
 * handle into the mailbox, and keeps the channel for its session.
 *
 * Locking: the mailbox's slots and its closed flag are under its spinlock.  A
 * worker that leaves closes the mailbox while all slots are empty, then marks
 * each channel as left before it detaches: so whatever a backend sent and got
 * no answer to was not looked at, and can be sent again to the next worker.
 */
#ifndef PE_LEDGER_CHANNEL_H
#define PE_LEDGER_CHANNEL_H

#include "storage/dsm.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/shm_mq.h"
#include "storage/spin.h"

#include "ledger/charge.h"

/*
 * Backend: reserves a charge in the worker, starting one if there is none.
 * Waits for a dataset or budget that somebody is changing up to
 * pg_epsilon.charge_timeout.  PE_BUSY is never returned.  Errors: 53400 no
 * worker, 55P03 still being changed, and those of pe_charge_reserve.
 */
extern void pe_channel_reserve(const pe_charge_request *request, pe_charge_reply *reply);

/*
 * Backend: stores the measurements a charge paid for; returns the release.  The
 * caller holds interrupts since it drew the noise; they are resumed (one level)
 * as soon as the worker has the measurements.
 */
extern int64 pe_channel_store(const pe_charge_request *request, int64 charge_id,
							  const int64 *value, int64 values);

/* Backend: has the worker keep a strategy (strategies.c writes the message); returns its number. */
extern int64 pe_channel_keep(StringInfo message);

/* Backend: tells the worker that a charge will not be followed by a release. */
extern void pe_channel_abandon(void);

/* ------------------------------------------------------------------
 * What backend and worker share
 * ------------------------------------------------------------------
 */

#define PE_MAILBOX_MAGIC 0x70656d62
#define PE_MAILBOX_SLOTS 64
#define PE_QUEUE_SIZE (64 * 1024)

/* Field 4 of the advisory locks of the workers; SQL's own use 1 and 2. */
#define PE_WORKER_LOCK 0x7066

typedef struct pe_mailbox
{
	uint32		magic;
	slock_t		mutex;
	pid_t		worker_pid;
	PGPROC	   *worker;
	bool		closed;
	dsm_handle	slot[PE_MAILBOX_SLOTS];	/* 0: empty */
} pe_mailbox;

typedef struct pe_channel
{
	volatile bool left;			/* the worker left in good order */
	char		request[PE_QUEUE_SIZE] pg_attribute_aligned(64);
	char		reply[PE_QUEUE_SIZE] pg_attribute_aligned(64);
} pe_channel;

/* First byte of a message to the worker. */
#define PE_MESSAGE_RESERVE 'R'
#define PE_MESSAGE_STORE 'S'
#define PE_MESSAGE_KEEP 'K'

/* First byte of an answer; other answers are a pe_charge_reply. */
#define PE_ANSWER_STORED 'S'
#define PE_ANSWER_ERROR 'E'

/* The lock that a worker holds: handle 0 to be the only one, then the mailbox's to be found. */
extern void pe_worker_lock_tag(LOCKTAG *tag, dsm_handle handle);

#endif

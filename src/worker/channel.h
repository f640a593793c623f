/*
 * channel.h
 *	  How a backend and the ledger's worker of its database talk.
 *
 * A backend makes a channel, two message queues in a segment of dynamic shared
 * memory, leaves it in the worker's mailbox (mailbox.h), and keeps it for its
 * session; it starts a worker if there is none.  It has one message under way at
 * a time, so what waits in the queues of all channels is what the worker's next
 * transaction serves.
 *
 * A worker that leaves closes its mailbox while that is empty, then marks each
 * channel as left before it detaches: a message
 * without an answer was not looked at, and can be sent again to the next worker.
 */
#ifndef PE_WORKER_CHANNEL_H
#define PE_WORKER_CHANNEL_H

#include "portability/instr_time.h"
#include "storage/shm_mq.h"

#include "ledger/wire.h"

/*
 * Backend: reserves the cost of a plan in the worker, starting one if there is none.
 * Waits for a dataset or budget that somebody is changing up to
 * pg_epsilon.charge_timeout.  PE_BUSY is never returned.  Errors: 53400 no
 * worker, 54000 the request is too long, 55P03 still being changed, 0A000 while
 * pe_is_explaining, and those of pe_batch_reserve.
 */
extern PGDLLEXPORT void pe_channel_reserve(const pe_plan *plan, const pe_charge_request *request,
										   pe_charge_reply *reply);	/* a benchmark calls it by its name */

/* What is said of a period of a series that could not be stored. */
#define PE_PERIOD_LOST "The period is not stored; the next report measures it anew."

/*
 * Backend: stores the measurements of a reply, which its charge paid for, and sets the number of the release.
 * The caller holds interrupts since it drew the noise, and `unsent` says so; they are resumed (one level), and
 * it is false, as soon as the worker has the measurements.  After an error of the worker it is true: it stored nothing.
 */
extern void pe_channel_store(const pe_plan *plan, const pe_charge_request *request, pe_charge_reply *reply);

/*
 * Backend: stores the measurement of a period of a series, unless there is one;
 * the reply is as of pe_batch_store_period, and never PE_BUSY.  Interrupts as
 * above.  55P03: it was not stored, for the dataset is still being changed.
 */
extern void pe_channel_store_period(const pe_plan *plan, const pe_charge_request *request, const int64 *value,
									int64 values,
									pe_charge_reply *reply);

/* Backend: has the worker keep a strategy (strategies.c writes the message); returns its number. */
extern int64 pe_channel_keep(StringInfo message);

/*
 * For the processes that have the whole library: what the ledger has the worker do, the
 * anchor's command (anchor_command.h) and what follows a promotion (promotion.h), is asked over
 * the channel.
 */
extern void pe_channel_serve_ledger(void);

/* Backend: reports to the worker that a charge will not be followed by a release. */
extern void pe_channel_abandon(void);

/* ------------------------------------------------------------------
 * What backend and worker share
 * ------------------------------------------------------------------
 */

#define PE_QUEUE_SIZE (64 * 1024)

/* Bytes of a request, at most: while the worker takes it up, all others wait. */
#define PE_MAX_REQUEST (4 * 1024 * 1024)

/*
 * Microseconds for which both wait awake, giving way to processes that want the processor:
 * the other side is about to write, and to be put to sleep and woken takes longer than
 * most of what it does.
 */
#define PE_AWAKE 500

/* Microseconds that have passed since then, in a clock that cannot be set. */
extern uint64 pe_since(instr_time then);

typedef struct pe_channel
{
	Oid			database;		/* of the backend */
	volatile bool left;			/* the worker left in good order */
	char		request[PE_QUEUE_SIZE] pg_attribute_aligned(64);
	char		reply[PE_QUEUE_SIZE] pg_attribute_aligned(64);
} pe_channel;

/* First byte of a message to the worker. */
#define PE_MESSAGE_RESERVE 'R'
#define PE_MESSAGE_STORE 'S'
#define PE_MESSAGE_KEEP 'K'
#define PE_MESSAGE_PERIOD 'P'
#define PE_MESSAGE_ANCHOR 'A'
#define PE_MESSAGE_SETTLE 'T'
#define PE_MESSAGE_REST 'L'

/* First byte of an answer; other answers are a pe_charge_reply. */
#define PE_ANSWER_STORED 'S'
#define PE_ANSWER_DONE 'D'
#define PE_ANSWER_ERROR 'E'

#endif

/*
 * mailbox.c
 *	  Where backends find the ledger's worker.  See mailbox.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/spin.h"

#include "server/settings.h"
#include "server/shared_memory.h"
#include "worker/mailbox.h"

#define MAGIC 0x70656d62

/* Databases whose workers have a place on the board; others are found through their locks. */
#define BOARD_PLACES 128

struct pe_mailbox
{
	uint32		magic;			/* this and the next one stay where they are, in every version */
	uint32		wire;
	Oid			database;
	slock_t		mutex;
	pid_t		worker_pid;
	PGPROC	   *worker;
	bool		on_board;
	bool		closed;
	bool		leave;			/* somebody asks the worker to */
	dsm_handle	slot[PE_MAILBOX_SLOTS]; /* 0: empty */
};

typedef struct place
{
	Oid			database;		/* InvalidOid: free */
	pe_mailbox	mailbox;
} place;

typedef struct board
{
	LWLock	   *lock;
	place		place[BOARD_PLACES];
} board;

static board *the_board;

/* ------------------------------------------------------------------
 * A mailbox
 * ------------------------------------------------------------------
 */

static void
init_mailbox(pe_mailbox *mailbox)
{
	memset(mailbox, 0, sizeof(*mailbox));
	SpinLockInit(&mailbox->mutex);
	mailbox->database = MyDatabaseId;
	mailbox->worker_pid = MyProcPid;
	mailbox->worker = MyProc;
	mailbox->wire = PE_WIRE;
	mailbox->magic = MAGIC;
}

static pe_posting
put(pe_mailbox *mailbox, dsm_handle channel, pid_t *worker_pid)
{
	pe_posting	posting = PE_FULL;

	SpinLockAcquire(&mailbox->mutex);
	if (mailbox->closed)
		posting = PE_NOBODY;
	for (int i = 0; i < PE_MAILBOX_SLOTS && posting == PE_FULL; i++)
		if (mailbox->slot[i] == 0)
		{
			mailbox->slot[i] = channel;
			posting = PE_POSTED;
		}
	SpinLockRelease(&mailbox->mutex);
	*worker_pid = mailbox->worker_pid;
	if (posting == PE_POSTED)
		SetLatch(&mailbox->worker->procLatch);
	return posting;
}

int
pe_mailbox_take(pe_mailbox *mailbox, dsm_handle *handle)
{
	int			count = 0;

	SpinLockAcquire(&mailbox->mutex);
	for (int i = 0; i < PE_MAILBOX_SLOTS; i++)
		if (mailbox->slot[i] != 0)
			handle[count++] = mailbox->slot[i];
	memset(mailbox->slot, 0, sizeof(mailbox->slot));
	SpinLockRelease(&mailbox->mutex);
	return count;
}

bool
pe_mailbox_stays(const pe_mailbox *mailbox)
{
	return mailbox->on_board;
}

bool
pe_mailbox_should_leave(pe_mailbox *mailbox)
{
	bool		leave;

	SpinLockAcquire(&mailbox->mutex);
	leave = mailbox->leave;
	SpinLockRelease(&mailbox->mutex);
	return leave;
}

bool
pe_mailbox_close(pe_mailbox *mailbox)
{
	bool		empty = true;

	SpinLockAcquire(&mailbox->mutex);
	for (int i = 0; i < PE_MAILBOX_SLOTS; i++)
		if (mailbox->slot[i] != 0)
			empty = false;
	mailbox->closed = empty;
	SpinLockRelease(&mailbox->mutex);
	return empty;
}

/* ------------------------------------------------------------------
 * The board, in the server's shared memory
 * ------------------------------------------------------------------
 */

static Size
board_size(void)
{
	return sizeof(board);
}

static void
start_board(void *memory, LWLock *lock, bool found)
{
	the_board = memory;
	if (found)
		return;
	memset(the_board, 0, sizeof(*the_board));
	the_board->lock = lock;
}

void
pe_board_request(void)
{
	static pe_shared piece = {.name = "pg_epsilon", .size = board_size, .start = start_board};

	pe_shared_request(&piece);
}

bool
pe_board_exists(void)
{
	return the_board != NULL;
}

/* The place of a database, or a free one for InvalidOid; NULL if there is none.  The board is locked. */
static place *
place_of(Oid database)
{
	for (int i = 0; i < BOARD_PLACES; i++)
		if (the_board->place[i].database == database)
			return &the_board->place[i];
	return NULL;
}

static pe_posting
post_on_board(dsm_handle channel, pid_t *worker_pid)
{
	pe_posting	posting = PE_NOBODY;
	place	   *p;

	if (the_board == NULL)
		return PE_NOBODY;
	LWLockAcquire(the_board->lock, LW_SHARED);
	p = place_of(MyDatabaseId);
	if (p != NULL)
		posting = put(&p->mailbox, channel, worker_pid);
	LWLockRelease(the_board->lock);
	return posting;
}

void
pe_mailbox_ask_to_leave(Oid database)
{
	place	   *p;

	if (the_board == NULL)
		return;
	LWLockAcquire(the_board->lock, LW_SHARED);
	p = place_of(database);
	if (p != NULL)
	{
		SpinLockAcquire(&p->mailbox.mutex);
		p->mailbox.leave = true;
		SpinLockRelease(&p->mailbox.mutex);
		SetLatch(&p->mailbox.worker->procLatch);
	}
	LWLockRelease(the_board->lock);
}

/* However the worker ends: its place is free again. */
static void
leave_board(int code, Datum mine)
{
	LWLockAcquire(the_board->lock, LW_EXCLUSIVE);
	((place *) DatumGetPointer(mine))->database = InvalidOid;
	LWLockRelease(the_board->lock);
}

/* A place for this worker; NULL without a board, or if it is full. */
static pe_mailbox *
join_board(void)
{
	place	   *p;

	if (the_board == NULL)
		return NULL;
	LWLockAcquire(the_board->lock, LW_EXCLUSIVE);
	p = place_of(InvalidOid);
	if (p != NULL)
	{
		init_mailbox(&p->mailbox);
		p->mailbox.on_board = true;
		p->database = MyDatabaseId;
	}
	LWLockRelease(the_board->lock);
	if (p == NULL)
		return NULL;
	before_shmem_exit(leave_board, PointerGetDatum(p));
	return &p->mailbox;
}

/* ------------------------------------------------------------------
 * Locks, and a mailbox in dynamic shared memory
 * ------------------------------------------------------------------
 */

/* The lock that a worker holds: handle 0 to be the only one, then the mailbox's to be found. */
static void
lock_tag(LOCKTAG *tag, dsm_handle handle)
{
	SET_LOCKTAG_ADVISORY(*tag, MyDatabaseId, handle, 0, PE_LOCK_WORKER);
}

static bool
take_lock(dsm_handle handle)
{
	LOCKTAG		tag;
	LockAcquireResult result;

	lock_tag(&tag, handle);
	StartTransactionCommand();
	result = LockAcquire(&tag, ExclusiveLock, true, true);
	CommitTransactionCommand();
	return result != LOCKACQUIRE_NOT_AVAIL;
}

/* The handle of the mailbox of this database's worker; 0 if there is none. */
static dsm_handle
find_handle(void)
{
	LockData   *locks = GetLockStatusData();
	LOCKTAG		wanted;

	lock_tag(&wanted, 0);
	for (int i = 0; i < locks->nelements; i++)
	{
		LockInstanceData *held = &locks->locks[i];

		if (held->holdMask != 0 &&
			held->locktag.locktag_type == wanted.locktag_type &&
			held->locktag.locktag_field1 == wanted.locktag_field1 &&
			held->locktag.locktag_field2 != 0 &&
			held->locktag.locktag_field4 == wanted.locktag_field4)
			return held->locktag.locktag_field2;
	}
	return 0;
}

static pe_posting
post_by_lock(dsm_handle channel, pid_t *worker_pid)
{
	dsm_handle	handle = find_handle();
	dsm_segment *segment = handle != 0 ? dsm_attach(handle) : NULL;
	pe_mailbox *mailbox;
	pe_posting	posting = PE_NOBODY;

	if (segment == NULL)
		return PE_NOBODY;
	mailbox = dsm_segment_address(segment);
	if (mailbox->magic == MAGIC && mailbox->wire != PE_WIRE)
		posting = PE_OTHER_WIRE;
	else if (mailbox->magic == MAGIC && mailbox->database == MyDatabaseId)
		posting = put(mailbox, channel, worker_pid);
	dsm_detach(segment);
	return posting;
}

static pe_mailbox *
open_by_lock(void)
{
	dsm_segment *segment = dsm_create(sizeof(pe_mailbox), 0);

	dsm_pin_mapping(segment);
	init_mailbox(dsm_segment_address(segment));
	return take_lock(dsm_segment_handle(segment)) ? dsm_segment_address(segment) : NULL;
}

/* ------------------------------------------------------------------
 * Both
 * ------------------------------------------------------------------
 */

pe_posting
pe_mailbox_post(dsm_handle channel, pid_t *worker_pid)
{
	pe_posting	posting = post_on_board(channel, worker_pid);

	return posting == PE_NOBODY ? post_by_lock(channel, worker_pid) : posting;
}

pe_mailbox *
pe_mailbox_open(void)
{
	pe_mailbox *mailbox;

	if (!take_lock(0))
		return NULL;
	mailbox = join_board();
	return mailbox != NULL ? mailbox : open_by_lock();
}

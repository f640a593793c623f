/*
 * worker.c
 *	  The ledger's worker: commits the charges of one database.
 *
 * A background worker started at need by the first backend that finds none
 * (channel.c).  It serves one message at a time, each in a transaction of its
 * own, so charges are serialised here; row locks keep owners' changes apart.  It
 * leaves after pg_epsilon.worker_linger without work, but never between a charge
 * and its release.
 */
#include "postgres.h"

#include "access/xact.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "ledger/access.h"
#include "ledger/channel.h"
#include "ledger/settings.h"
#include "ledger/strategies.h"

PGDLLEXPORT void pe_worker_main(Datum database);

/* A backend that talks to this worker. */
typedef struct client
{
	dsm_segment *segment;
	pe_channel *shared;
	shm_mq_handle *request;
	shm_mq_handle *reply;
	bool		owes_release;	/* it was charged and has not stored yet */
} client;

static pe_mailbox *mailbox;
static List *clients = NIL;
static MemoryContext message_context;

/*
 * What ALTER ROLE, ALTER DATABASE or the configuration say must not weaken a
 * charge: it is always flushed, always written, always in this schema.
 */
static void
pin_settings(void)
{
	static const char *const pinned[][2] = {
		{"synchronous_commit", "on"},
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"session_replication_role", "origin"},
		{"search_path", "pg_catalog, pg_temp"},
		{"row_security", "off"},
		{"statement_timeout", "0"},
		{"lock_timeout", "5s"},
		{"idle_in_transaction_session_timeout", "0"},
		{"transaction_timeout", "0"},	/* from PostgreSQL 17 on */
		{"jit", "off"},
		{"client_min_messages", "error"}
	};

	for (int i = 0; i < lengthof(pinned); i++)
		if (GetConfigOption(pinned[i][0], true, false) != NULL)
			SetConfigOption(pinned[i][0], pinned[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	pe_access_pin_for_good();
}

static bool
take_lock(dsm_handle handle)
{
	LOCKTAG		tag;
	LockAcquireResult result;

	pe_worker_lock_tag(&tag, handle);
	StartTransactionCommand();
	result = LockAcquire(&tag, ExclusiveLock, true, true);
	CommitTransactionCommand();
	return result != LOCKACQUIRE_NOT_AVAIL;
}

/* Publishes the mailbox; false if another worker serves this database. */
static bool
open_mailbox(void)
{
	dsm_segment *segment;

	if (!take_lock(0))
		return false;
	segment = dsm_create(sizeof(pe_mailbox), 0);
	dsm_pin_mapping(segment);
	mailbox = dsm_segment_address(segment);
	memset(mailbox, 0, sizeof(*mailbox));
	SpinLockInit(&mailbox->mutex);
	mailbox->worker_pid = MyProcPid;
	mailbox->worker = MyProc;
	mailbox->magic = PE_MAILBOX_MAGIC;
	return take_lock(dsm_segment_handle(segment));
}

/* Closes the mailbox unless a channel waits in it. */
static bool
close_mailbox(void)
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

static void
accept_client(dsm_handle handle)
{
	dsm_segment *segment = dsm_attach(handle);
	MemoryContext old;
	client	   *c;

	if (segment == NULL)
		return;					/* the backend is gone already */
	dsm_pin_mapping(segment);
	old = MemoryContextSwitchTo(TopMemoryContext);
	c = palloc0(sizeof(*c));
	c->segment = segment;
	c->shared = dsm_segment_address(segment);
	shm_mq_set_receiver((shm_mq *) c->shared->request, MyProc);
	shm_mq_set_sender((shm_mq *) c->shared->reply, MyProc);
	c->request = shm_mq_attach((shm_mq *) c->shared->request, segment, NULL);
	c->reply = shm_mq_attach((shm_mq *) c->shared->reply, segment, NULL);
	clients = lappend(clients, c);
	MemoryContextSwitchTo(old);
}

static void
accept_clients(void)
{
	dsm_handle	handle[PE_MAILBOX_SLOTS];

	SpinLockAcquire(&mailbox->mutex);
	memcpy(handle, mailbox->slot, sizeof(handle));
	memset(mailbox->slot, 0, sizeof(mailbox->slot));
	SpinLockRelease(&mailbox->mutex);
	for (int i = 0; i < PE_MAILBOX_SLOTS; i++)
		if (handle[i] != 0)
			accept_client(handle[i]);
}

static void
release_client(client *c)
{
	shm_mq_detach(c->request);
	shm_mq_detach(c->reply);
	dsm_detach(c->segment);
	pfree(c);
}

/* ------------------------------------------------------------------
 * Serving a message
 * ------------------------------------------------------------------
 */

/* Whether a release must follow. */
static bool
serve_reserve(StringInfo message, StringInfo answer)
{
	pe_charge_request request;
	pe_charge_reply reply;

	pe_request_read(message, &request);
	pe_charge_reserve(&request, &reply);
	pe_reply_write(answer, &reply);
	return reply.outcome == PE_CHARGED;
}

static void
serve_store(StringInfo message, StringInfo answer)
{
	pe_charge_request request;
	int64		charge_id;
	int64		values;
	int64	   *value;

	pe_request_read(message, &request);
	charge_id = pq_getmsgint64(message);
	values = pq_getmsgint64(message);
	value = palloc(values * sizeof(int64));
	pq_copymsgbytes(message, (char *) value, values * sizeof(int64));
	pq_sendbyte(answer, PE_ANSWER_STORED);
	pq_sendint64(answer, pe_charge_store(&request, charge_id, value, values));
}

static void
serve_keep(StringInfo message, StringInfo answer)
{
	pq_sendbyte(answer, PE_ANSWER_STORED);
	pq_sendint64(answer, pe_strategy_keep(message));
}

static void
append_text(StringInfo to, const char *text)
{
	appendBinaryStringInfo(to, text != NULL ? text : "", (text != NULL ? strlen(text) : 0) + 1);
}

/* The error as a message; the transaction is undone. */
static void
answer_error(StringInfo answer)
{
	ErrorData  *error;

	MemoryContextSwitchTo(message_context);
	error = CopyErrorData();
	FlushErrorState();
	AbortCurrentTransaction();
	MemoryContextSwitchTo(message_context);
	initStringInfo(answer);
	pq_sendbyte(answer, PE_ANSWER_ERROR);
	pq_sendint32(answer, error->sqlerrcode);
	append_text(answer, error->message);
	append_text(answer, error->detail);
	append_text(answer, error->hint);
}

/* One message in a transaction of its own. */
static void
handle(client *c, StringInfo message, StringInfo answer)
{
	char		kind = pq_getmsgbyte(message);
	bool		owes_release = false;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	MemoryContextSwitchTo(message_context);
	if (kind == PE_MESSAGE_RESERVE)
		owes_release = serve_reserve(message, answer);
	else if (kind == PE_MESSAGE_KEEP)
		serve_keep(message, answer);
	else
		serve_store(message, answer);
	PopActiveSnapshot();
	CommitTransactionCommand();
	c->owes_release = owes_release;
}

static void
serve(client *c, void *data, Size size)
{
	StringInfoData message;
	StringInfoData answer;

	MemoryContextSwitchTo(message_context);
	initStringInfo(&message);
	appendBinaryStringInfo(&message, data, size);
	initStringInfo(&answer);

	PG_TRY();
	{
		handle(c, &message, &answer);
	}
	PG_CATCH();
	{
		answer_error(&answer);
	}
	PG_END_TRY();

	/* committed and flushed: only now may anybody hear of it */
	(void) shm_mq_send(c->reply, answer.len, answer.data, false, true);
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextReset(message_context);
}

/* Serves every message that is there; whether there was any. */
static bool
serve_clients(void)
{
	bool		busy = false;
	ListCell   *cell;

	foreach(cell, clients)
	{
		client	   *c = lfirst(cell);
		Size		size;
		void	   *data;
		shm_mq_result result = shm_mq_receive(c->request, &size, &data, true);

		if (result == SHM_MQ_SUCCESS)
		{
			serve(c, data, size);
			busy = true;
		}
		else if (result == SHM_MQ_DETACHED)
		{
			clients = foreach_delete_current(clients, cell);
			release_client(c);
		}
	}
	return busy;
}

static bool
owes_releases(void)
{
	ListCell   *cell;

	foreach(cell, clients)
		if (((client *) lfirst(cell))->owes_release)
			return true;
	return false;
}

/* Tells every backend that whatever it sent and got no answer to was not looked at. */
static void
leave_clients(void)
{
	ListCell   *cell;

	foreach(cell, clients)
	{
		client	   *c = lfirst(cell);

		c->shared->left = true;
		pg_write_barrier();
		release_client(c);
	}
}

/* Milliseconds that a worker waits for the backend that started it, however short the linger time. */
#define FIRST_LINGER 1000

/* Serves until nothing has come for the linger time. */
static void
serve_until_idle(void)
{
	TimestampTz last = GetCurrentTimestamp();
	bool		served = false;

	for (;;)
	{
		int			linger = served ? pe_worker_linger : Max(pe_worker_linger, FIRST_LINGER);
		long		left;

		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		accept_clients();
		if (serve_clients())
		{
			last = GetCurrentTimestamp();
			served = true;
			continue;
		}
		left = owes_releases() ? 60 * 1000
			: TimestampDifferenceMilliseconds(GetCurrentTimestamp(), TimestampTzPlusMilliseconds(last, linger));
		if (left <= 0 && close_mailbox())
			return;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Max(left, 1), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
}

void
pe_worker_main(Datum database)
{
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, 0);
	pin_settings();
	message_context = AllocSetContextCreate(TopMemoryContext, "pg_epsilon ledger message", ALLOCSET_DEFAULT_SIZES);

	if (open_mailbox())
	{
		serve_until_idle();
		leave_clients();
	}
	proc_exit(0);
}

/*
 * worker.c
 *	  The ledger's worker: commits the charges of one database.
 *
 * A background worker started at need by the first backend that finds none
 * (channel.c).  It serves the messages that wait in one transaction, one after
 * the other, so charges are serialised here; row locks keep owners' changes
 * apart.  If one of them fails, all are undone and each is served in a
 * transaction of its own.
 *
 * It leaves after pg_epsilon.worker_linger without work, or, where the library is
 * preloaded and it has a place on the board (mailbox.h), when somebody needs the
 * database for himself (resident.c); never between a charge and its release.
 */
#include "postgres.h"

#include <sched.h>

#include "access/xact.h"
#include "access/xlog.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "replication/syncrep.h"
#include "replication/walsender.h"
#include "replication/walsender_private.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "server/access.h"
#include "server/compat.h"
#include "worker/channel.h"
#include "worker/mailbox.h"
#include "server/settings.h"
#include "ledger/anchor_command.h"
#include "ledger/strategies.h"
#include "ledger/charge.h"
#include "ledger/promotion.h"
#include "ledger/series.h"
#include "ledger/standby.h"

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
		{"exit_on_error", "off"},	/* the error of one request would end the worker, and with it the answers of all */
		{"enable_seqscan", "off"},	/* all is found by keys: a plan made while tables were small stays good */
		{"enable_indexscan", "on"},
		{"client_min_messages", "error"}
	};

	for (int i = 0; i < lengthof(pinned); i++)
		if (GetConfigOption(pinned[i][0], true, false) != NULL)
			SetConfigOption(pinned[i][0], pinned[i][1], PGC_SUSET, PGC_S_OVERRIDE);
	pe_access_pin_for_good();
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
	if (c->shared->database != MyDatabaseId)
		elog(FATAL, "a session of another database came to the ledger's worker");	/* mailbox.h: cannot be */
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
	int			count = pe_mailbox_take(mailbox, handle);

	for (int i = 0; i < count; i++)
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
 * Serving messages
 * ------------------------------------------------------------------
 */

/* A message under way; in message_context, like what it points at. */
typedef struct job
{
	client	   *client;
	StringInfoData message;
	StringInfoData answer;
	bool		charged;
	bool		rests;			/* on lines that a standby or the anchor perhaps has not */
	pe_anchor_link rested;		/* the last of them, if the anchor's command has not; else no charges */
	bool		owes_release;	/* it was charged for rows that are still to be read */
} job;

static void
serve_reserve(pe_batch *batch, job *j)
{
	pe_charge_request request;
	pe_charge_price price;
	pe_charge_reply reply;

	pe_request_read(&j->message, &request, &price);
	pe_batch_reserve(batch, &request, &price, &reply);
	pe_reply_write(&j->answer, &reply);
	j->charged = reply.charge_id != 0;
	j->rests = reply.outcome == PE_REPLAYED && pe_batch_rests(batch, request.dataset_id, &j->rested);
	j->owes_release = reply.outcome == PE_CHARGED && (request.series == NULL || request.series->created == NULL);
}

/* The numbers of a message: a copy, which the caller wipes. */
static int64 *
read_values(StringInfo message, int64 *values)
{
	int64	   *value;

	*values = pq_getmsgint64(message);
	if (*values < 0 || *values > (message->len - message->cursor) / (int64) sizeof(int64))
		elog(ERROR, "a message of fewer numbers than it says");
	value = palloc(Max(*values, 1) * sizeof(int64));
	pq_copymsgbytes(message, (char *) value, *values * sizeof(int64));
	return value;
}

static void
serve_period(pe_batch *batch, job *j)
{
	pe_charge_request request;
	pe_charge_price price;
	pe_charge_reply reply;
	int64		values;
	int64	   *value;

	pe_request_read(&j->message, &request, &price);
	value = read_values(&j->message, &values);
	pe_batch_store_period(batch, &request, value, values, &reply);
	pe_wipe(value, values * sizeof(int64));
	pe_reply_write(&j->answer, &reply);
	j->charged = reply.charge_id != 0;
	j->rests = reply.outcome == PE_REPLAYED && pe_batch_rests(batch, request.dataset_id, &j->rested);
}

static void
serve_rest(pe_batch *batch, job *j)
{
	pq_sendbyte(&j->answer, PE_ANSWER_DONE);
	j->rests = pe_batch_rests(batch, pq_getmsgint64(&j->message), &j->rested);
}

static void
serve_store(job *j)
{
	pe_charge_request request;
	pe_charge_price price;
	int64		charge_id;
	int64		values;
	int64	   *value;

	pe_request_read(&j->message, &request, &price);
	charge_id = pq_getmsgint64(&j->message);
	value = read_values(&j->message, &values);
	pq_sendbyte(&j->answer, PE_ANSWER_STORED);
	pq_sendint64(&j->answer, pe_release_store(&request, &price, charge_id, value, values));
}

static void
serve_keep(job *j)
{
	pq_sendbyte(&j->answer, PE_ANSWER_STORED);
	pq_sendint64(&j->answer, pe_strategy_keep(&j->message));
}

static void
serve(pe_batch *batch, job *j)
{
	MemoryContextSwitchTo(message_context);	/* SPI leaves its own current, in which answers would not last */
	j->message.cursor = 0;
	initStringInfo(&j->answer);
	j->charged = j->rests = j->owes_release = false;
	j->rested.charges = 0;
	switch (pq_getmsgbyte(&j->message))
	{
		case PE_MESSAGE_RESERVE:
			serve_reserve(batch, j);
			break;
		case PE_MESSAGE_KEEP:
			serve_keep(j);
			break;
		case PE_MESSAGE_PERIOD:
			serve_period(batch, j);
			break;
		case PE_MESSAGE_REST:
			serve_rest(batch, j);
			break;
		case PE_MESSAGE_ANCHOR:
			pq_sendbyte(&j->answer, PE_ANSWER_DONE);
			pe_anchor_command_serve(&j->message, &j->answer);
			break;
		case PE_MESSAGE_SETTLE:
			pq_sendbyte(&j->answer, PE_ANSWER_DONE);
			pe_batch_settle(batch);
			break;
		default:
			serve_store(j);
	}
}

static void
append_text(StringInfo to, const char *text)
{
	appendBinaryStringInfo(to, text != NULL ? text : "", (text != NULL ? strlen(text) : 0) + 1);
}

/* The error as the answer; but the detail of a broken constraint is a row of the ledger. */
static void
answer_error(job *j, const ErrorData *error)
{
	bool		shows_row = ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION;

	initStringInfo(&j->answer);
	j->charged = j->rests = j->owes_release = false;
	pq_sendbyte(&j->answer, PE_ANSWER_ERROR);
	pq_sendint32(&j->answer, error->sqlerrcode);
	append_text(&j->answer, error->message);
	append_text(&j->answer, shows_row ? NULL : error->detail);
	append_text(&j->answer, error->hint);
}

/* Jobs in one transaction, committed and flushed when this returns: how far ledgers have come then. */
static pe_anchor_link *
serve_transaction(job *jobs, int count, int *links)
{
	pe_anchor_link *link;
	pe_batch   *batch;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	MemoryContextSwitchTo(message_context);
	batch = pe_batch_begin();
	for (int i = 0; i < count; i++)
		serve(batch, &jobs[i]);
	link = pe_batch_end(batch, links);
	PopActiveSnapshot();
	CommitTransactionCommand();
	MemoryContextSwitchTo(message_context);
	return link;
}

/* The error that ended a block; its transaction, if there is one, is undone. */
static ErrorData *
take_error(void)
{
	ErrorData  *error;

	MemoryContextSwitchTo(message_context);
	error = CopyErrorData();
	FlushErrorState();
	AbortCurrentTransaction();
	MemoryContextSwitchTo(message_context);
	return error;
}

/* How long the flush of a standby that was waited for is looked for once more, in milliseconds. */
#define STANDBY_GRACE 1000

static void
reload_if_asked(void)
{
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/* Whether synchronous standbys, where there are to be any, and those that the ledger names have flushed up to here. */
static bool
is_flushed(XLogRecPtr end)
{
	XLogRecPtr	flushed;

	reload_if_asked();
	if (!pe_standby_has_flushed(end))
		return false;
	if (!SyncRepRequested() || SyncRepStandbyNames[0] == '\0')
		return true;
	LWLockAcquire(SyncRepLock, LW_SHARED);
	flushed = WalSndCtl->lsn[SYNC_REP_WAIT_FLUSH];
	LWLockRelease(SyncRepLock);
	return flushed >= end;
}

/*
 * A commit waits for the synchronous standbys, at the level that is pinned, and comes back without them
 * if the wait is cancelled, or the worker is ended: then a standby may be promoted that has no such
 * charge.  The configuration may be on its way that releases all who wait, so it is read first.
 */
static void
check_standbys(const job *jobs, int count)
{
	XLogRecPtr	end = XactLastCommitEnd;
	bool		waited = false;

	for (int i = 0; i < count; i++)
		waited = waited || jobs[i].charged || jobs[i].rests;
	for (int passed = 0; waited && !is_flushed(end); passed += 10)
	{
		if (passed >= STANDBY_GRACE || ProcDiePending)
			ereport(ERROR,
					(errcode(ERRCODE_QUERY_CANCELED),
					 errmsg("the wait for a synchronous standby was canceled"),
					 errhint("Ask again when a standby of synchronous_standby_names is there.")));
		pg_usleep(10 * 1000);
	}
}

static void
reach_anchor(const job *j)
{
	if (j->rested.charges == 0)
		return;
	StartTransactionCommand();
	pe_anchor_command_reach(&j->rested);
	CommitTransactionCommand();
	MemoryContextSwitchTo(message_context);
}

static void
answer_undone(job *j, ErrorData *error)
{
	error->detail = j->charged ? "The request was charged."
		: "Nothing was charged. The ledger has the answer, and a standby or the anchor perhaps not yet.";
	answer_error(j, error);
}

/*
 * What is committed must be on the synchronous standbys and in the anchor before anybody hears of it.
 * Where it cannot be, those who were charged get the error in the place of their answer, and those who would
 * hear of such a charge.
 */
static void
record_links(job *jobs, int count, const pe_anchor_link *link, int links)
{
	PG_TRY();
	{
		check_standbys(jobs, count);
		pe_anchor_advance(link, links);
		for (int i = 0; i < count; i++)
			reach_anchor(&jobs[i]);
	}
	PG_CATCH();
	{
		ErrorData  *error = take_error();

		for (int i = 0; i < count; i++)
			if (jobs[i].charged || jobs[i].rests)
				answer_undone(&jobs[i], error);
	}
	PG_END_TRY();
}

/* Jobs in one transaction; NULL, or the error that undid it. */
static ErrorData *
try_jobs(job *jobs, int count)
{
	pe_anchor_link *volatile link = NULL;
	ErrorData  *volatile error = NULL;
	int			links = 0;

	PG_TRY();
	{
		link = serve_transaction(jobs, count, &links);
	}
	PG_CATCH();
	{
		error = take_error();
	}
	PG_END_TRY();
	if (error == NULL)
		record_links(jobs, count, link, links);
	return error;
}

/* Of the anchor's command, and of a promotion: each by itself, before the others. */
static bool
is_alone(const job *j)
{
	return j->message.data[0] == PE_MESSAGE_ANCHOR || j->message.data[0] == PE_MESSAGE_SETTLE;
}

static int
serve_alone(job *jobs, int count)
{
	int			alone = 0;

	for (int i = 0; i < count; i++)
		if (is_alone(&jobs[i]))
		{
			job			j = jobs[i];
			ErrorData  *error = try_jobs(&j, 1);

			if (error != NULL)
				answer_error(&j, error);
			jobs[i] = jobs[alone];
			jobs[alone++] = j;
		}
	return alone;
}

/* All together, or, if one of them fails, each by itself. */
static void
serve_together(job *jobs, int count)
{
	ErrorData  *error = count > 0 ? try_jobs(jobs, count) : NULL;

	if (error == NULL)
		return;
	for (int i = 0; i < count; i++)
	{
		if (count > 1)
			error = try_jobs(&jobs[i], 1);
		if (error != NULL)
			answer_error(&jobs[i], error);
	}
}

static void
serve_jobs(job *jobs, int count)
{
	int			alone = serve_alone(jobs, count);

	serve_together(&jobs[alone], count - alone);
}

/* The message that waits in a channel, if there is one; false if its backend is gone. */
static bool
receive(client *c, job *jobs, int *count)
{
	Size		size;
	void	   *data;
	shm_mq_result result = shm_mq_receive(c->request, &size, &data, true);

	if (result == SHM_MQ_SUCCESS)
	{
		job		   *j = &jobs[(*count)++];

		memset(j, 0, sizeof(*j));
		j->client = c;
		initStringInfo(&j->message);
		appendBinaryStringInfo(&j->message, data, size);
	}
	return result != SHM_MQ_DETACHED;
}

/* Takes a message from each channel that has one. */
static int
receive_jobs(job *jobs)
{
	int			count = 0;
	ListCell   *cell;

	foreach(cell, clients)
	{
		client	   *c = lfirst(cell);

		if (!receive(c, jobs, &count))
		{
			clients = foreach_delete_current(clients, cell);
			release_client(c);
		}
	}
	return count;
}

/* Serves every message that is there; whether there was any. */
static bool
serve_clients(void)
{
	job		   *jobs;
	int			count;

	MemoryContextSwitchTo(message_context);
	jobs = palloc(Max(list_length(clients), 1) * sizeof(*jobs));
	count = receive_jobs(jobs);
	if (count > 0)
		serve_jobs(jobs, count);

	/* committed and flushed: only now may anybody hear of it */
	for (int i = 0; i < count; i++)
	{
		/* what came too late to be stored is nowhere from here on */
		pe_wipe(jobs[i].message.data, jobs[i].message.len);
		jobs[i].client->owes_release = jobs[i].owes_release;
		(void) shm_mq_send(jobs[i].client->reply, jobs[i].answer.len, jobs[i].answer.data, false, true);
	}
	MemoryContextSwitchTo(TopMemoryContext);
	MemoryContextReset(message_context);
	return count > 0;
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

/* Reports to every backend that what it sent and got no answer to was not looked at. */
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

/* How often a worker that stays looks around although nobody woke it, in milliseconds. */
#define LOOK_AROUND (60 * 1000)

/* Milliseconds for which it is worth staying without work; 0: none. */
static long
time_left(instr_time last, bool served)
{
	int			linger = served ? pe_worker_linger : Max(pe_worker_linger, FIRST_LINGER);

	if (owes_releases())
		return LOOK_AROUND;
	if (pe_mailbox_should_leave(mailbox))
		return 0;
	if (pe_mailbox_stays(mailbox))
		return LOOK_AROUND;
	return linger - (long) (pe_since(last) / 1000);
}

/*
 * Waits to be woken, for so many milliseconds at most, and reports what was
 * counted: autovacuum knows the ledger's tables by it, and a worker that stays
 * does not come to its end, where it would be reported as well.
 */
static void
wait_for_work(long milliseconds)
{
	static bool woken = true;	/* the last time */
	long		unreported = pgstat_report_stat(!woken);
	static uint32 event = 0;
	long		time = unreported > 0 ? Min(milliseconds, unreported) : milliseconds;

	woken = (WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, Max(time, 1),
					   pe_wait_event(&event, "PgEpsilonWorkerMain")) & WL_LATCH_SET) != 0;
	ResetLatch(MyLatch);
}

/* Serves until nothing has come for the linger time, or it is asked to leave. */
static void
serve_until_idle(void)
{
	instr_time	last;
	bool		served = false;

	INSTR_TIME_SET_CURRENT(last);
	for (;;)
	{
		long		left;

		CHECK_FOR_INTERRUPTS();
		reload_if_asked();
		accept_clients();
		if (serve_clients())
		{
			INSTR_TIME_SET_CURRENT(last);
			served = true;
			continue;
		}
		if (served && pe_since(last) < PE_AWAKE)
		{
			(void) sched_yield();
			continue;
		}
		left = time_left(last, served);
		if (left <= 0 && pe_mailbox_close(mailbox))
			return;
		wait_for_work(left);
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
	pe_anchor_ask_worker = NULL;	/* a library that was preloaded has set them */
	pe_promotion_ask = NULL;
	pe_standby_ask = NULL;
	message_context = AllocSetContextCreate(TopMemoryContext, "pg_epsilon ledger message", ALLOCSET_DEFAULT_SIZES);

	mailbox = pe_mailbox_open();
	if (mailbox != NULL)
	{
		serve_until_idle();
		leave_clients();
	}
	proc_exit(0);
}

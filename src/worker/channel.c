/*
 * channel.c
 *	  The backend's side of the channel to the ledger's worker.  See channel.h.
 */
#include "postgres.h"

#include <sched.h>

#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/latch.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ledger/anchor_command.h"
#include "ledger/promotion.h"
#include "ledger/standby.h"
#include "server/access.h"
#include "server/activity.h"
#include "server/compat.h"
#include "server/settings.h"
#include "worker/channel.h"
#include "worker/mailbox.h"

uint64
pe_since(instr_time then)
{
	instr_time	passed;

	INSTR_TIME_SET_CURRENT(passed);
	INSTR_TIME_SUBTRACT(passed, then);
	return INSTR_TIME_GET_MICROSEC(passed);
}

/* This session's channel. */
static struct
{
	dsm_segment *segment;		/* NULL: none is open */
	pe_channel *shared;
	shm_mq_handle *request;
	shm_mq_handle *reply;
	pid_t		worker_pid;
} channel;

/* How a message fared. */
typedef enum fate
{
	ANSWERED,
	WORKER_LEFT,				/* it never looked at the message: left in good order, or died before */
	WORKER_DIED
} fate;

static void
nap(long milliseconds)
{
	static uint32 event = 0;

	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds,
					 pe_wait_event(&event, "PgEpsilonLedger"));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/* Like nap, for its whole time, even when the latch is set. */
static void
pause_for(long milliseconds)
{
	long		left = milliseconds;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		nap(left);
		left = milliseconds - (long) (pe_since(start) / 1000);
	} while (left > 0);
}

static void
close_channel(void)
{
	if (channel.request != NULL)
		shm_mq_detach(channel.request);
	if (channel.reply != NULL)
		shm_mq_detach(channel.reply);
	if (channel.segment != NULL)
		dsm_detach(channel.segment);
	memset(&channel, 0, sizeof(channel));
}

/* ------------------------------------------------------------------
 * Finding or starting the worker
 * ------------------------------------------------------------------
 */

static void
make_channel(void)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
	shm_mq	   *request;
	shm_mq	   *reply;

	channel.segment = dsm_create(sizeof(pe_channel), 0);
	dsm_pin_mapping(channel.segment);
	channel.shared = dsm_segment_address(channel.segment);
	channel.shared->database = MyDatabaseId;
	channel.shared->left = false;
	request = shm_mq_create(channel.shared->request, PE_QUEUE_SIZE);
	reply = shm_mq_create(channel.shared->reply, PE_QUEUE_SIZE);
	shm_mq_set_sender(request, MyProc);
	shm_mq_set_receiver(reply, MyProc);
	channel.request = shm_mq_attach(request, channel.segment, NULL);
	channel.reply = shm_mq_attach(reply, channel.segment, NULL);
	MemoryContextSwitchTo(old);
}

static bool
start_worker(BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(worker.bgw_library_name, sizeof(worker.bgw_library_name), "%s",
			 pe_board_exists() ? "$libdir/pg_epsilon" : "$libdir/pg_epsilon_worker");
	snprintf(worker.bgw_function_name, sizeof(worker.bgw_function_name), "pe_worker_main");
	snprintf(worker.bgw_name, sizeof(worker.bgw_name), "pg_epsilon ledger of database %u", MyDatabaseId);
	snprintf(worker.bgw_type, sizeof(worker.bgw_type), "pg_epsilon ledger");
	worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
	worker.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

static bool
is_running(BackgroundWorkerHandle *handle)
{
	pid_t		pid;

	return handle != NULL && GetBackgroundWorkerPid(handle, &pid) != BGWH_STOPPED;
}

/*
 * Why a request found no worker in time.  starts: how many were started and did not
 * stay; state: what to say of the charge.
 */
static void __attribute__((noreturn))
raise_nobody(pe_posting posting, int starts, const char *state)
{
	if (posting == PE_OTHER_WIRE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the ledger's worker has another version of the library than this session"),
				 errdetail("%s", state),
				 errhint("The extension's library was replaced. Connect again; if the worker is the older one, "
						 "end the sessions that were there before.")));
	if (posting == PE_FULL)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("the ledger's worker did not come to this request within %d ms", pe_charge_timeout),
				 errdetail("%s", state),
				 errhint("Too many sessions ask for the first time at once: ask again, or raise "
						 "pg_epsilon.charge_timeout.")));
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("no background worker was available for the ledger within %d ms", pe_charge_timeout),
			 errdetail("%s", state),
			 starts > 1 ? errhint("Workers were started and stopped: the server's log says why.") :
			 errhint("Raise max_worker_processes, or pg_epsilon.charge_timeout.")));
	pg_unreachable();
}

/* So many workers that did not stay are enough for a session that is ended meanwhile. */
#define MOST_STARTS 5

/* Hands a new channel to a worker, starting one if there is none; 53400 if that fails until the deadline. */
static void
find_worker(TimestampTz deadline, const char *state)
{
	BackgroundWorkerHandle *started = NULL;
	int			starts = 0;

	if (!IsUnderPostmaster)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("the ledger needs a background worker, and single-user mode has none")));
	make_channel();
	for (;;)
	{
		pe_posting	posting = pe_mailbox_post(dsm_segment_handle(channel.segment), &channel.worker_pid);

		if (posting == PE_POSTED)
			return;
		/* while the server stops no worker starts any more: it need not wait for sessions that want to store */
		if (GetCurrentTimestamp() >= deadline || (ProcDiePending && starts > MOST_STARTS))
			raise_nobody(posting, starts, state);
		/* a second worker that finds the first leaves at once, so a race to start one is harmless */
		if (posting == PE_NOBODY && !is_running(started))
		{
			starts += start_worker(&started);
			if (starts != 1)
				pause_for(50);
		}
		nap(1);
	}
}

/* Opens the channel if it is not open.  state: what to say of the charge if that fails. */
static void
open_channel(TimestampTz deadline, const char *state)
{
	if (channel.segment != NULL)
		return;
	PG_TRY();
	{
		find_worker(deadline, state);
	}
	PG_CATCH();
	{
		close_channel();
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* ------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------
 */

static fate
gone(void)
{
	return channel.shared->left ? WORKER_LEFT : WORKER_DIED;
}

static shm_mq_result
receive_now(StringInfo answer)
{
	Size		size;
	void	   *data;
	shm_mq_result result = shm_mq_receive(channel.reply, &size, &data, true);

	if (result == SHM_MQ_SUCCESS)
	{
		initStringInfo(answer);
		appendBinaryStringInfo(answer, data, size);
	}
	return result;
}

/* Waits for the answer awake; whether it came. */
static bool
receive_awake(StringInfo answer, instr_time start)
{
	shm_mq_result result;

	while ((result = receive_now(answer)) == SHM_MQ_WOULD_BLOCK && pe_since(start) < PE_AWAKE)
		(void) sched_yield();
	return result == SHM_MQ_SUCCESS;
}

static fate
receive_asleep(StringInfo answer)
{
	for (;;)
	{
		/* looked at before the queue: an answer sent before death is then there to read */
		bool		alive = BackendPidGetProc(channel.worker_pid) != NULL;
		shm_mq_result result = receive_now(answer);

		if (result == SHM_MQ_SUCCESS)
			return ANSWERED;
		/* a worker that died before it took the channel out of its mailbox never attached to it */
		if (result == SHM_MQ_DETACHED || !alive)
			return gone();
		nap(1000);
	}
}

/*
 * Waits for the answer to the message sent: awake where the last one came so
 * soon, so never for long at a busy worker.
 */
static fate
receive(StringInfo answer)
{
	static bool soon = false;
	instr_time	start;
	fate		result;

	INSTR_TIME_SET_CURRENT(start);
	result = soon && receive_awake(answer, start) ? ANSWERED : receive_asleep(answer);
	soon = pe_since(start) < PE_AWAKE;
	return result;
}

/*
 * Sends a message.  The queue shows the end of a message last: one that could
 * not be sent was not looked at.  Waits for room here and not in the queue's own
 * code, which would wait for ever for a worker that died before it attached.
 */
static fate
send_message(StringInfo message)
{
	for (;;)
	{
		bool		alive = BackendPidGetProc(channel.worker_pid) != NULL;
		shm_mq_result result = shm_mq_send(channel.request, message->len, message->data, true, true);

		if (result == SHM_MQ_SUCCESS)
			return ANSWERED;
		if (result == SHM_MQ_DETACHED || !alive)
			return WORKER_LEFT;
		nap(1000);
	}
}

/* Raises an error of the worker as the caller's own. */
static void
raise_error(StringInfo answer)
{
	int			code = pq_getmsgint(answer, 4);
	const char *message = pq_getmsgrawstring(answer);
	const char *detail = pq_getmsgrawstring(answer);
	const char *hint = pq_getmsgrawstring(answer);

	ereport(ERROR,
			(errcode(code), errmsg_internal("%s", message),
			 detail[0] ? errdetail_internal("%s", detail) : 0,
			 hint[0] ? errhint("%s", hint) : 0));
}

/*
 * One message and its answer.  If interrupts are held, they are resumed between
 * the two.  After an error in between (a cancel, say) the answer may still come:
 * the channel cannot be used for anything else.
 */
static fate
exchange(StringInfo message, StringInfo answer, bool *held)
{
	fate		result;

	PG_TRY();
	{
		result = send_message(message);
		if (result == ANSWERED)
		{
			if (held != NULL && *held)
			{
				*held = false;
				RESUME_INTERRUPTS();
			}
			result = receive(answer);
		}
	}
	PG_CATCH();
	{
		close_channel();
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (result != ANSWERED)
		close_channel();
	return result;
}

static void
raise_died(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("the ledger's worker stopped before it answered"),
			 errdetail("%s", detail)));
}

static void
reserve_once(StringInfo message, pe_charge_reply *reply, TimestampTz deadline)
{
	StringInfoData answer;
	fate		result;

	do
	{
		open_channel(deadline, "Nothing was charged.");
		result = exchange(message, &answer, NULL);
	} while (result == WORKER_LEFT);
	if (result == WORKER_DIED)
		raise_died("The request may have been charged.");
	if (answer.data[0] == PE_ANSWER_ERROR)
	{
		pe_activity_count(PE_COUNT_REFUSALS, 1);
		(void) pq_getmsgbyte(&answer);
		raise_error(&answer);
	}
	pe_reply_read(&answer, reply);
	pfree(answer.data);
}

/* For operators: what a request has come to, which the reply says. */
static void
count_reply(const pe_charge_reply *reply)
{
	pe_activity_count(PE_COUNT_CHARGES, reply->charge_id != 0);
	pe_activity_count(PE_COUNT_REPLAYS, reply->outcome == PE_REPLAYED);
	pe_activity_count(PE_COUNT_REFUSALS, reply->outcome == PE_REFUSED);
	pe_activity_phase(reply->outcome == PE_CHARGED ? PE_PHASE_READING : PE_PHASE_ANSWERING);
}

/* A message that changes no budget, and its answer behind the first byte; false: that is an error. */
static bool
exchange_free(const StringInfoData *message, StringInfo answer)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), pe_charge_timeout);
	StringInfoData copy = *message;
	fate		result;

	do
	{
		open_channel(deadline, "Nothing was charged.");
		result = exchange(&copy, answer, NULL);
	} while (result == WORKER_LEFT);
	if (result == WORKER_DIED)
		raise_died("Nothing was charged.");
	return pq_getmsgbyte(answer) != PE_ANSWER_ERROR;
}

static void
ask_for_anchor(const StringInfoData *message, StringInfo answer)
{
	StringInfoData whole;

	initStringInfo(&whole);
	pq_sendbyte(&whole, PE_MESSAGE_ANCHOR);
	appendBinaryStringInfo(&whole, message->data, message->len);
	if (!exchange_free(&whole, answer))
		raise_error(answer);
}

/* If it fails datasets stay frozen, which is found by who needs them; the worker remembers why. */
static void
ask_to_settle(void)
{
	StringInfoData message;
	StringInfoData answer;

	initStringInfo(&message);
	pq_sendbyte(&message, PE_MESSAGE_SETTLE);
	(void) exchange_free(&message, &answer);
}

static void
ask_for_standby(int64 dataset_id)
{
	StringInfoData message;
	StringInfoData answer;

	initStringInfo(&message);
	pq_sendbyte(&message, PE_MESSAGE_REST);
	pq_sendint64(&message, dataset_id);
	if (!exchange_free(&message, &answer))
		raise_error(&answer);
}

void
pe_channel_serve_ledger(void)
{
	pe_standby_ask = ask_for_standby;
	pe_anchor_ask_worker = ask_for_anchor;
	pe_promotion_ask = ask_to_settle;
}

/* EXPLAIN is free, and evaluates functions of users, which may ask. */
static void
check_free(void)
{
	if (pe_is_explaining)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a function of the SELECT asks a dataset itself"),
				 errdetail("EXPLAIN is free. Nothing was charged."),
				 errhint("EXPLAIN ANALYZE runs it, and is charged.")));
}

void
pe_channel_reserve(const pe_plan *plan, const pe_charge_request *request, pe_charge_reply *reply)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), pe_charge_timeout);
	StringInfoData message;

	check_free();
	pe_activity_phase(PE_PHASE_CHARGING);
	initStringInfo(&message);
	pq_sendbyte(&message, PE_MESSAGE_RESERVE);
	pe_request_write(&message, plan, request);
	if (message.len > PE_MAX_REQUEST)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the request is too long"),
				 errdetail("It has %d bytes, with the levels of a model's features, and may have at most %d.",
						   message.len, PE_MAX_REQUEST)));
	for (;;)
	{
		reserve_once(&message, reply, deadline);
		if (reply->outcome != PE_BUSY)
			break;
		if (GetCurrentTimestamp() >= deadline)
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("the dataset or the budget is being changed by another transaction"),
					 errdetail("Nothing was charged."),
					 errhint("Ask again once that transaction is over.")));
		pause_for(10);
	}
	count_reply(reply);
	pfree(message.data);
}

/* Whether the worker waited in vain for somebody who locks a table of the ledger: REINDEX, say. */
static bool
was_in_vain(const StringInfoData *answer)
{
	StringInfoData copy = *answer;

	return pq_getmsgbyte(&copy) == PE_ANSWER_ERROR && pq_getmsgint(&copy, 4) == ERRCODE_LOCK_NOT_AVAILABLE;
}

/*
 * Sends what is to be stored, again if a worker dies or waited in vain; the
 * answer, behind its first byte where that is no reply.
 */
static void
exchange_stored(StringInfo message, const char *state, TimestampTz deadline, bool *held, StringInfo answer)
{
	int			attempts = 0;
	fate		result;

	do
	{
		open_channel(deadline, state);
		result = exchange(message, answer, held);
	} while ((result != ANSWERED || was_in_vain(answer)) && ++attempts < 3);
	if (result != ANSWERED)
		raise_died(state);
	if (answer->data[0] == PE_ANSWER_ERROR)
	{
		(void) pq_getmsgbyte(answer);
		if (held != NULL)
			*held = true;		/* in vain: nothing is stored */
		raise_error(answer);
	}
}

/* The same of what is stored under a number, which is returned. */
static int64
store_message(StringInfo message, const char *state, TimestampTz deadline, bool *held)
{
	StringInfoData answer;

	exchange_stored(message, state, deadline, held, &answer);
	(void) pq_getmsgbyte(&answer);
	return pq_getmsgint64(&answer);
}

static void
count_stored(int64 values)
{
	pe_activity_count(PE_COUNT_RELEASE_BYTES, values * sizeof(int64));
	pe_activity_phase(PE_PHASE_ANSWERING);
}

void
pe_channel_store(const pe_plan *plan, const pe_charge_request *request, pe_charge_reply *reply)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), pe_charge_timeout);
	StringInfoData message;

	pe_activity_phase(PE_PHASE_STORING);
	initStringInfo(&message);
	pq_sendbyte(&message, PE_MESSAGE_STORE);
	pe_request_write(&message, plan, request);
	pq_sendint64(&message, reply->charge_id);
	pq_sendint64(&message, reply->values);
	appendBinaryStringInfo(&message, (const char *) reply->value, reply->values * sizeof(int64));

	/* the next worker can store it as well: the charge is committed, which the door says of an error */
	reply->release_id = store_message(&message, "", deadline, &reply->unsent);
	count_stored(reply->values);
}

/* One exchange; false if somebody is changing the dataset. */
static bool
store_period_once(StringInfo message, TimestampTz deadline, bool *held, pe_charge_reply *reply)
{
	StringInfoData answer;

	exchange_stored(message, PE_PERIOD_LOST, deadline, held, &answer);
	pe_reply_read(&answer, reply);
	pfree(answer.data);
	if (reply->outcome == PE_BUSY && GetCurrentTimestamp() >= deadline)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("the dataset or the budget is being changed by another transaction"),
				 errdetail(PE_PERIOD_LOST),
				 errhint("Ask again once that transaction is over.")));
	return reply->outcome != PE_BUSY;
}

void
pe_channel_store_period(const pe_plan *plan, const pe_charge_request *request, const int64 *value, int64 values,
						pe_charge_reply *reply)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), pe_charge_timeout);
	StringInfoData message;
	bool		held = true;

	pe_activity_phase(PE_PHASE_STORING);
	initStringInfo(&message);
	pq_sendbyte(&message, PE_MESSAGE_PERIOD);
	pe_request_write(&message, plan, request);
	pq_sendint64(&message, values);
	enlargeStringInfo(&message, values * sizeof(int64));
	appendBinaryStringInfo(&message, (const char *) value, values * sizeof(int64));
	PG_TRY();
	{
		while (!store_period_once(&message, deadline, &held, reply))
			pause_for(10);
	}
	PG_FINALLY();
	{
		pe_wipe(message.data, message.len);
	}
	PG_END_TRY();
	count_stored(reply->outcome == PE_CHARGED ? values : 0);
}

int64
pe_channel_keep(StringInfo message)
{
	return store_message(message, "Nothing was charged.",
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(), pe_charge_timeout), NULL);
}

void
pe_channel_abandon(void)
{
	close_channel();
}

/*
 * activity.c
 *	  Requests that run, and what became of them.  See activity.h.
 *
 * Each session writes its own place, under a spinlock that readers take for a copy.
 * A dataset's counters are atomic; the lock of the piece is for the list of datasets.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/spin.h"

#include "server/activity.h"
#include "server/compat.h"
#include "server/shared_memory.h"

/* Datasets that are counted, of all databases. */
#define MOST_DATASETS 1024

typedef struct pe_counted
{
	Oid			database;
	Oid			ledger;			/* its schema: a new one with each CREATE EXTENSION */
	int64		dataset_id;
	Oid			owner;			/* of its table, when it was added */
	pg_atomic_uint64 used;		/* the number of the request that asked it last */
	pg_atomic_uint64 count[PE_COUNTERS];
} pe_counted;

typedef struct place
{
	slock_t		mutex;
	pe_activity now;
} place;

typedef struct operation
{
	LWLock	   *lock;			/* of the list of datasets */
	pg_atomic_uint64 requests;
	int			datasets;
	pe_counted	dataset[MOST_DATASETS];
	int			places;
	place		place[FLEXIBLE_ARRAY_MEMBER];
} operation;

static operation *shared;

/* This session's request. */
static pe_activity mine;

/* ------------------------------------------------------------------
 * The memory
 * ------------------------------------------------------------------
 */

static Size
operation_size(void)
{
	return offsetof(operation, place) + MaxBackends * sizeof(place);
}

static void
start_operation(void *memory, LWLock *lock, bool found)
{
	shared = memory;
	if (found)
		return;
	memset(shared, 0, operation_size());
	shared->lock = lock;
	pg_atomic_init_u64(&shared->requests, 0);
	shared->places = MaxBackends;
	for (int i = 0; i < shared->places; i++)
		SpinLockInit(&shared->place[i].mutex);
}

void
pe_activity_init(void)
{
	static pe_shared piece = {.name = "pg_epsilon activity", .size = operation_size, .start = start_operation};

	if (process_shared_preload_libraries_in_progress)
		pe_shared_request(&piece);
}

static void
check_shared(void)
{
	if (shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("pg_epsilon must be loaded via shared_preload_libraries to show this"),
				 errhint("Add pg_epsilon to shared_preload_libraries and restart the server.")));
}

/* ------------------------------------------------------------------
 * This session's request
 * ------------------------------------------------------------------
 */

/* This session's place; NULL: it has none. */
static place *
my_place(void)
{
	if (shared == NULL || pe_my_process < 0 || pe_my_process >= shared->places)
		return NULL;
	return &shared->place[pe_my_process];
}

static void
publish(void)
{
	place	   *p = my_place();

	if (p == NULL)
		return;
	SpinLockAcquire(&p->mutex);
	p->now = mine;
	SpinLockRelease(&p->mutex);
}

/* However the session ends: FATAL passes no PG_FINALLY. */
static void
leave(int code, Datum argument)
{
	memset(&mine, 0, sizeof(mine));
	publish();
}

void
pe_activity_begin(pe_activity *outer)
{
	static bool leaves = false;

	*outer = mine;
	if (my_place() == NULL)
		return;
	if (!leaves)
		before_shmem_exit(leave, (Datum) 0);
	leaves = true;
	mine = (pe_activity) {
		.pid = MyProcPid, .database = MyDatabaseId, .role = GetUserId(), .phase = PE_PHASE_PREPARING,
		.started = GetCurrentStatementStartTimestamp()
	};
	publish();
}

void
pe_activity_end(const pe_activity *outer)
{
	mine = *outer;
	publish();
}

void
pe_activity_phase(pe_phase phase)
{
	if (mine.pid == 0 || mine.phase == phase)
		return;
	mine.phase = phase;
	mine.what[0] = '\0';
	publish();
}

void
pe_activity_memory(size_t bytes)
{
	if (mine.phase != PE_PHASE_PREPARING || bytes <= mine.memory)
		return;
	mine.memory = bytes;
	publish();
}

void
pe_activity_progress(const char *what, int step, int steps, double gap)
{
	if (mine.pid == 0)
		return;
	snprintf(mine.what, sizeof(mine.what), "%s", what);
	mine.step = step;
	mine.steps = steps;
	mine.gap = gap;
	publish();
}

size_t
pe_activity_computed(void)
{
	return mine.memory;
}

/* ------------------------------------------------------------------
 * Counters
 * ------------------------------------------------------------------
 */

/* The list is locked.  NULL: it is not in it. */
static pe_counted *
find_dataset(Oid ledger, int64 id)
{
	for (int i = 0; i < shared->datasets; i++)
	{
		pe_counted *c = &shared->dataset[i];

		if (c->dataset_id == id && c->database == MyDatabaseId && c->ledger == ledger)
			return c;
	}
	return NULL;
}

/* How many datasets of an owner are counted. */
static int
datasets_of(Oid owner)
{
	int			count = 0;

	for (int i = 0; i < shared->datasets; i++)
		count += shared->dataset[i].owner == owner;
	return count;
}

/*
 * The list is full: the owner with the most datasets loses the one that was asked longest ago.  So who makes many
 * datasets displaces none of others.
 */
static pe_counted *
make_room(void)
{
	pe_counted *least = NULL;
	int			most = 0;

	for (int i = 0; i < shared->datasets; i++)
	{
		pe_counted *c = &shared->dataset[i];
		int			count = datasets_of(c->owner);

		if (count < most || (count == most && pg_atomic_read_u64(&c->used) > pg_atomic_read_u64(&least->used)))
			continue;
		most = count;
		least = c;
	}
	return least;
}

/* The list is locked for writing. */
static pe_counted *
add_dataset(Oid ledger, int64 id, Oid owner)
{
	pe_counted *c = find_dataset(ledger, id);

	if (c != NULL)
		return c;
	c = shared->datasets < MOST_DATASETS ? &shared->dataset[shared->datasets++] : make_room();
	c->database = MyDatabaseId;
	c->ledger = ledger;
	c->dataset_id = id;
	c->owner = owner;
	pg_atomic_init_u64(&c->used, 0);
	for (int i = 0; i < PE_COUNTERS; i++)
		pg_atomic_init_u64(&c->count[i], 0);
	return c;
}

void
pe_activity_dataset(int64 dataset_id, Oid owner)
{
	Oid			ledger;

	if (mine.pid == 0)
		return;
	ledger = get_namespace_oid("dp_ledger", true);
	mine.dataset_id = dataset_id;
	LWLockAcquire(shared->lock, LW_SHARED);
	mine.counters = find_dataset(ledger, dataset_id);
	LWLockRelease(shared->lock);
	if (mine.counters == NULL)
	{
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		mine.counters = add_dataset(ledger, dataset_id, owner);
		LWLockRelease(shared->lock);
	}
	pg_atomic_write_u64(&mine.counters->used, pg_atomic_add_fetch_u64(&shared->requests, 1));
	publish();
}

void
pe_activity_count(pe_counter counter, uint64 more)
{
	if (mine.counters == NULL)
		return;
	/* its place may be another dataset's by now */
	LWLockAcquire(shared->lock, LW_SHARED);
	if (mine.counters->dataset_id == mine.dataset_id && mine.counters->database == mine.database)
		pg_atomic_fetch_add_u64(&mine.counters->count[counter], more);
	LWLockRelease(shared->lock);
}

/* ------------------------------------------------------------------
 * What the views read
 * ------------------------------------------------------------------
 */

int
pe_activities(pe_activity **running)
{
	int			count = 0;

	check_shared();
	*running = palloc(shared->places * sizeof(**running));
	for (int i = 0; i < shared->places; i++)
	{
		place	   *p = &shared->place[i];
		pe_activity *copy = &(*running)[count];

		SpinLockAcquire(&p->mutex);
		*copy = p->now;
		SpinLockRelease(&p->mutex);
		count += copy->pid != 0 && copy->database == MyDatabaseId;
	}
	return count;
}

int
pe_activity_counts(pe_dataset_counts **result)
{
	Oid			ledger = get_namespace_oid("dp_ledger", true);
	int			count = 0;

	check_shared();
	LWLockAcquire(shared->lock, LW_SHARED);
	*result = palloc(Max(shared->datasets, 1) * sizeof(**result));
	for (int i = 0; i < shared->datasets; i++)
	{
		pe_counted *c = &shared->dataset[i];

		if (c->database != MyDatabaseId || c->ledger != ledger)
			continue;
		(*result)[count].dataset_id = c->dataset_id;
		for (int k = 0; k < PE_COUNTERS; k++)
			(*result)[count].count[k] = pg_atomic_read_u64(&c->count[k]);
		count++;
	}
	LWLockRelease(shared->lock);
	return count;
}

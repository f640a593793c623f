/*
 * promotion.c
 *	  Lifts the freeze of a promotion by evidence.  See promotion.h.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "server/access.h"
#include "ledger/anchor_command.h"
#include "ledger/chain.h"
#include "ledger/dataset.h"
#include "ledger/lineage.h"
#include "ledger/promotion.h"
#include "ledger/relation.h"
#include "ledger/standby.h"
#include "server/settings.h"

/* After a failure the worker serves others so many times as long as it took, and a second at least. */
#define PAUSE 10

void		(*pe_promotion_ask) (void);

/* In the worker: why datasets stayed frozen, and until when that is not looked at again. */
static char reason[512];
static TimestampTz pause_end;

/* A dataset that another timeline froze, with a cap of its own. */
typedef struct frozen
{
	int64		id;
	char	   *identity;
	int64		charges;
	char	   *head;
	const char *evidence;		/* the setting whose word it is */
	const char *fault;			/* why it stays frozen; NULL: it goes on */
} frozen;

static bool
is_settleable(const char *identity, Oid relation)
{
	return !RecoveryInProgress() && pe_identity_is_frozen(identity, relation) &&
		pe_identity_is_local(identity, relation) && (pe_anchor_command[0] != '\0' || pe_standby_may_be());
}

bool
pe_promotion_await(const char *identity, Oid relation)
{
	if (pe_promotion_ask == NULL || IsInParallelMode() || !is_settleable(identity, relation))
		return false;
	pe_promotion_ask();
	return true;
}

const char *
pe_promotion_reason(const char *identity, Oid relation)
{
	if (reason[0] != '\0' && is_settleable(identity, relation))
		return psprintf("The server was promoted, and %s.", reason);
	return "Its ledger was written in another cluster, timeline or database.";
}

/* The identity of a dataset before the OID of its table: as it is now, and a pattern of any timeline. */
static Datum
prefix_of_identity(void)
{
	return CStringGetTextDatum(psprintf(UINT64_FORMAT "/%u/%u/", GetSystemIdentifier(),
										(unsigned) GetWALInsertionTimeLine(), MyDatabaseId));
}

static Datum
prefix_of_any_timeline(void)
{
	return CStringGetTextDatum(psprintf(UINT64_FORMAT "/%%/%u/", GetSystemIdentifier(), MyDatabaseId));
}

/* Locked; of the anchor's links the relations are filled in. */
static frozen *
find_frozen(int *count, pe_anchor_link **link)
{
	static pe_statement find = {NULL, "SELECT id, relation_oid, identity, charges, chain_head FROM dp_ledger.dataset "
		"WHERE cap_id IS NULL AND identity LIKE $1 || relation_oid AND identity <> $2 || relation_oid "
		"ORDER BY id FOR UPDATE SKIP LOCKED", 2, {TEXTOID, TEXTOID}};
	Datum		values[2] = {prefix_of_any_timeline(), prefix_of_identity()};
	frozen	   *found;
	bool		isnull;

	*count = (int) pe_access_write(&find, values, NULL);
	found = palloc0(Max(*count, 1) * sizeof(*found));
	*link = palloc0(Max(*count, 1) * sizeof(**link));
	for (int i = 0; i < *count; i++)
	{
		found[i].id = pe_access_int64(i, 1);
		(*link)[i].relation = (Oid) pe_access_int64(i, 2);
		found[i].identity = pe_access_text(i, 3);
		found[i].charges = pe_access_int64(i, 4);
		found[i].head = VARDATA_ANY(DatumGetByteaPCopy(pe_access_datum(i, 5, &isnull)));
	}
	return found;
}

/*
 * Where the anchor remembers nothing, or there is none, the ledger itself may say it.  NULL: the ledger has every
 * charge that was answered.
 */
static const char *
fault_of(frozen *f, const pe_anchor_link *known)
{
	const char *fault;

	if (!OidIsValid(pe_relation_owner(known->relation)))
		return "its table is gone";
	if (!pe_chain_ends(f->id, f->charges, f->head))
		return "the chain of its charges is broken";
	f->evidence = "pg_epsilon.anchor_command";
	if (known->charges != PE_ANCHOR_NOTHING)
		return pe_anchor_differs(f->id, f->charges, f->head, known, PE_ANCHOR_NAME);
	f->evidence = "pg_epsilon.sole_standby";
	fault = pe_standby_fault(f->id, f->identity);
	return fault == NULL || pe_anchor_command[0] == '\0' ? fault
		: psprintf(PE_ANCHOR_NAME " remembers nothing of it, and %s", fault);
}

/* The dataset, and those that share its cap. */
static void
place(const frozen *f)
{
	static pe_statement update = {NULL, "UPDATE dp_ledger.dataset SET identity = $3 || relation_oid "
		"WHERE coalesce(cap_id, id) = $1 AND identity LIKE $2 || relation_oid", 3, {INT8OID, TEXTOID, TEXTOID}};
	Datum		values[3] = {Int64GetDatum(f->id), prefix_of_any_timeline(), prefix_of_identity()};

	pe_access_write(&update, values, NULL);
}

static pe_anchor_link
go_on(const frozen *f, const pe_anchor_link *known)
{
	const pe_dataset *dataset;
	StringInfoData text;

	place(f);
	CommandCounterIncrement();
	dataset = pe_dataset_recall(f->id);
	initStringInfo(&text);
	appendStringInfo(&text, "{\"identity\": \"%s\", \"before\": \"%s\", \"evidence\": \"%s\", "
					 "\"charges\": " INT64_FORMAT "}", dataset->identity, f->identity, f->evidence,
					 known->charges != PE_ANCHOR_NOTHING ? known->charges : f->charges);
	return pe_lineage_record(dataset, PE_PROMOTED, text.data);
}

/* For those who ask, and in the log. */
static void
note_reason(const char *what, const char *why)
{
	snprintf(reason, sizeof(reason), "%s", why);
	ereport(LOG, (errmsg("%s: %s", what, why)));
}

static void
pause_since(TimestampTz start)
{
	pause_end = GetCurrentTimestamp();
	pause_end += Max(PAUSE * (pause_end - start), USECS_PER_SEC);
}

/*
 * What this server itself has shows that nothing is missing, and would again: who only reads need not wait for
 * standbys that are not there yet.  But an anchor must not know a line that no standby has.
 */
static void
wait_for_no_standby(void)
{
	if (pe_anchor_command[0] == '\0')
		(void) set_config_option("synchronous_commit", "local", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_LOCAL, true,
								 0, false);
}

static pe_anchor_link *
settle(int *links)
{
	pe_anchor_link *known;
	int			count;
	frozen	   *f = find_frozen(&count, &known);

	*links = 0;
	wait_for_no_standby();
	for (int i = 0; i < count; i++)
		known[i].charges = PE_ANCHOR_NOTHING;
	if (count > 0 && pe_anchor_command[0] != '\0')
		pe_anchor_command_get(known, count, true);
	for (int i = 0; i < count; i++)
	{
		f[i].fault = fault_of(&f[i], &known[i]);
		if (f[i].fault == NULL)
			known[(*links)++] = go_on(&f[i], &known[i]);
		else
			note_reason(psprintf("dataset \"%s\" stays frozen after the promotion", pe_dataset_recall(f[i].id)->name),
						f[i].fault);
	}
	return known;
}

pe_anchor_link *
pe_promotion_settle(int *links)
{
	TimestampTz start = GetCurrentTimestamp();
	pe_anchor_link *volatile link = NULL;

	*links = 0;
	if (RecoveryInProgress() || start < pause_end)
		return NULL;
	reason[0] = '\0';
	PG_TRY();
	{
		link = settle(links);
	}
	PG_CATCH();
	{
		MemoryContext context = MemoryContextSwitchTo(TopMemoryContext);
		ErrorData  *error = CopyErrorData();

		note_reason("datasets stay frozen after the promotion", error->message);
		FreeErrorData(error);
		MemoryContextSwitchTo(context);
		pause_since(start);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (reason[0] != '\0')
		pause_since(start);
	return link;
}

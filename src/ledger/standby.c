/*
 * standby.c
 *	  The sole standby.  See standby.h.
 */
#include "postgres.h"

#include <ctype.h>

#include "access/timeline.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "replication/syncrep.h"
#include "replication/walreceiver.h"
#include "storage/spin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ledger/acts.h"
#include "ledger/formats.h"
#include "ledger/standby.h"
#include "server/access.h"
#include "server/settings.h"

#define MOST_ADDRESS 64

/* A standby, by its application_name and the address that it connects from.  No name: none. */
typedef struct standby
{
	char		name[NAMEDATALEN];
	char		address[MOST_ADDRESS];
} standby;

/* What an act says; its number is 0 if there is none. */
typedef struct standby_act
{
	int64		seq;
	standby		sole;
	standby		leaving;
} standby_act;

/* In the worker: the last act of a dataset. */
typedef struct known
{
	int64		dataset_id;
	Oid			ledger;			/* where it was read: an extension that is made anew has another one */
	int64		acts;			/* of the dataset then */
	int64		noted;			/* note_count then: of a dataset that has no act of its own */
	standby_act last;
	int64		confirmed;		/* number of an act that all whom it names have flushed */
	XLogRecPtr	written;		/* all lines that can be seen end before */
	XLogRecPtr	flushed;		/* up to there all whom the act names have flushed */
} known;

/* For whose flush a batch waits: the act names it. */
typedef struct wanted
{
	known	   *of;
	int64		seq;			/* 0: nothing is written */
	standby		who;
} wanted;

void		(*pe_standby_ask) (int64 dataset_id);

static List *all_known;			/* lasts as long as the worker */
static int64 note_count = 1;	/* acts that this worker has noted; none but it writes them */
static bool has_noted;			/* in this batch, which may be undone */
static List *all_wanted;
static MemoryContext wanted_context;

/* ------------------------------------------------------------------
 * Acts
 * ------------------------------------------------------------------
 */

/* Where acts are written that count here. */
static char *
current_place(void)
{
	return psprintf(UINT64_FORMAT "/%u/%u", GetSystemIdentifier(), (unsigned) GetWALInsertionTimeLine(),
					MyDatabaseId);
}

static void
copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from != NULL ? from : "");
}

#define WHAT_AN_ACT_SAYS "SELECT seq, v ->> 'standby', v ->> 'address', v ->> 'leaving', " \
	"v ->> 'leaving_address', v ->> 'place', format " \
	"FROM (SELECT seq, charges, format, at, new_value::pg_catalog.jsonb AS v FROM dp_ledger.act "

static void
act_of_row(standby_act *act)
{
	act->seq = pe_access_int64(0, 1);
	PE_CHECK_FORMAT(pe_access_int64(0, 7), "act " INT64_FORMAT, act->seq);
	copy_text(act->sole.name, sizeof(act->sole.name), pe_access_text(0, 2));
	copy_text(act->sole.address, sizeof(act->sole.address), pe_access_text(0, 3));
	copy_text(act->leaving.name, sizeof(act->leaving.name), pe_access_text(0, 4));
	copy_text(act->leaving.address, sizeof(act->leaving.address), pe_access_text(0, 5));
}

/* The last act of a dataset: nothing, if it was written in another place. */
static void
read_last(int64 dataset_id, const char *place, standby_act *act)
{
	static pe_statement find = {NULL, WHAT_AN_ACT_SAYS "WHERE dataset_id = $1 AND act = '" PE_STANDBY "') a "
		"ORDER BY charges DESC, seq DESC LIMIT 1", 1, {INT8OID}};
	Datum		values[1] = {Int64GetDatum(dataset_id)};

	memset(act, 0, sizeof(*act));
	if (pe_access_read(&find, values, NULL) > 0 && strcmp(pe_access_text(0, 6), place) == 0)
		act_of_row(act);
}

/*
 * Of a dataset that has none: the last act of another, dropped ones too, that names somebody; of several the
 * newest.  Its table may have been that one's, and whom it names may be promoted.
 */
static void
read_last_of_any(const char *place, standby_act *act)
{
	static pe_statement find = {NULL, WHAT_AN_ACT_SAYS "l WHERE act = '" PE_STANDBY "' AND NOT EXISTS (SELECT "
		"FROM dp_ledger.act n WHERE n.dataset_id = l.dataset_id AND n.act = l.act AND n.seq > l.seq)) a "
		"WHERE v ->> 'place' = $1 AND coalesce(v ->> 'standby', v ->> 'leaving') IS NOT NULL "
		"ORDER BY at::pg_catalog.timestamptz DESC LIMIT 1", 1, {TEXTOID}};
	Datum		values[1] = {CStringGetTextDatum(place)};

	memset(act, 0, sizeof(*act));
	if (pe_access_read(&find, values, NULL) > 0)
		act_of_row(act);
	act->seq = 0;
}

static known *
find_known(int64 dataset_id)
{
	ListCell   *cell;
	MemoryContext old;
	known	   *k;

	foreach(cell, all_known)
		if (((known *) lfirst(cell))->dataset_id == dataset_id)
			return lfirst(cell);
	old = MemoryContextSwitchTo(TopMemoryContext);
	k = palloc0(sizeof(*k));
	k->dataset_id = dataset_id;
	k->acts = -1;
	all_known = lappend(all_known, k);
	MemoryContextSwitchTo(old);
	return k;
}

/* Read anew where the dataset has other acts than before. */
static known *
recall(int64 dataset_id, int64 acts)
{
	known	   *k = find_known(dataset_id);
	Oid			ledger = get_relname_relid("act", get_namespace_oid("dp_ledger", false));

	if (k->ledger != ledger)
	{
		/* the worker before this one may have waited in vain, and a server that has crashed */
		k->confirmed = 0;
		k->written = GetFlushRecPtr(NULL);
	}
	if (k->ledger != ledger || k->acts != acts)
	{
		read_last(dataset_id, current_place(), &k->last);
		k->noted = 0;
	}
	if (k->last.seq == 0 && k->noted != note_count)
		read_last_of_any(current_place(), &k->last);
	k->ledger = ledger;
	k->acts = acts;
	k->noted = has_noted ? 0 : note_count;
	return k;
}

static void
append_member(StringInfo text, const char *key, const char *value)
{
	appendStringInfo(text, "%s\"%s\": ", text->len == 0 ? "{" : ", ", key);
	if (value[0] != '\0')
		escape_json(text, value);
	else
		appendStringInfoString(text, "null");
}

static char *
text_of_act(const standby_act *act, const char *given_up)
{
	StringInfoData text;

	initStringInfo(&text);
	append_member(&text, "standby", act->sole.name);
	append_member(&text, "address", act->sole.address);
	append_member(&text, "leaving", act->leaving.name);
	append_member(&text, "leaving_address", act->leaving.address);
	append_member(&text, "given_up", given_up);
	append_member(&text, "place", current_place());
	appendStringInfoChar(&text, '}');
	return text.data;
}

static void
fill_line(pe_act_line *line, const standby_act *before, const standby_act *after, const char *given_up)
{
	line->at = pstrdup(timestamptz_to_str(GetCurrentTimestamp()));
	line->role = GetUserNameFromId(GetUserId(), false);
	line->act = PE_STANDBY;
	line->subject = after->sole.name[0] != '\0' ? pstrdup(after->sole.name) : NULL;
	line->old_value = before->seq != 0 ? text_of_act(before, "") : NULL;
	line->new_value = text_of_act(after, given_up);
}

/* ------------------------------------------------------------------
 * The setting
 * ------------------------------------------------------------------
 */

/* What the setting says: who is the sole standby and who is given up; empty: nobody. */
static void
read_setting(char *sole, char *given_up)
{
	char	   *rest = pstrdup(pe_sole_standby);

	sole[0] = given_up[0] = '\0';
	for (char *word; (word = strtok_r(rest, " \t", &rest)) != NULL;)
		copy_text(word[0] == '-' ? given_up : sole, NAMEDATALEN, word[0] == '-' ? word + 1 : word);
}

static void
check_required(const char *name)
{
	if (SyncRepStandbyNames == NULL || SyncRepStandbyNames[0] == '\0' || SyncRepConfig == NULL ||
		SyncRepConfig->nmembers != 1 || SyncRepConfig->num_sync != 1 ||
		strcmp(SyncRepConfig->member_names, name) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("synchronous_standby_names does not require standby \"%s\" alone", name),
				 errdetail("pg_epsilon.sole_standby names it. Nothing was charged."),
				 errhint("Set synchronous_standby_names to that name, or pg_epsilon.sole_standby to another.")));
}

/* ------------------------------------------------------------------
 * Connections
 * ------------------------------------------------------------------
 */

/* How many connections bear a name, how many of them have flushed up to a place, and from where they come. */
typedef struct connections
{
	int64		count;
	int64		flushed;
	char		first[MOST_ADDRESS];	/* the same as the last if all come from one address */
	char		last[MOST_ADDRESS];
} connections;

static void
look(const char *name, XLogRecPtr end, connections *c)
{
	/* a subscriber has a database, and no copy of the ledger */
	static pe_statement find = {NULL, "SELECT count(*), count(*) FILTER (WHERE flush_lsn >= $2), min(a), max(a) "
		"FROM (SELECT w.flush_lsn, coalesce(host(s.client_addr), 'local') AS a "
		"FROM pg_catalog.pg_stat_get_activity(NULL) s JOIN pg_catalog.pg_stat_get_wal_senders() w ON w.pid = s.pid "
		"WHERE s.application_name = $1 AND s.datid IS NULL) s", 2, {TEXTOID, PG_LSNOID}};
	Datum		values[2] = {CStringGetTextDatum(name), LSNGetDatum(end)};

	pe_access_read(&find, values, NULL);
	c->count = pe_access_int64(0, 1);
	c->flushed = pe_access_int64(0, 2);
	copy_text(c->first, sizeof(c->first), pe_access_text(0, 3));
	copy_text(c->last, sizeof(c->last), pe_access_text(0, 4));
}

static void __attribute__((noreturn))
raise_connection(const char *message, const char *name, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg(message, name),
			 errdetail("Nothing was charged."),
			 errhint("%s", hint)));
	pg_unreachable();
}

/* The one connection of a standby; of none its address is empty. */
static void
find_standby(const char *name, standby *s)
{
	connections c;

	look(name, InvalidXLogRecPtr, &c);
	if (c.count > 1)
		raise_connection("more than one server is connected as standby \"%s\"", name,
						 "Give each server a name of its own. A connection that broke ends after wal_sender_timeout.");
	copy_text(s->name, sizeof(s->name), name);
	copy_text(s->address, sizeof(s->address), c.first);
}

static void
check_connected(const standby *s, const char *hint)
{
	standby		now;

	find_standby(s->name, &now);
	if (now.address[0] == '\0')
		raise_connection("standby \"%s\" is not connected", s->name, hint);
}

/* Another server may have taken the name, and left the first one behind. */
static void
check_address(const standby *s)
{
	standby		now;

	find_standby(s->name, &now);
	if (now.address[0] != '\0' && strcmp(now.address, s->address) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("standby \"%s\" connects from another address", s->name),
				 errdetail("The ledger has %s, it connects from %s. Nothing was charged.", s->address, now.address),
				 errhint("If it is the same server, or the first one is never promoted, add -%s to "
						 "pg_epsilon.sole_standby.", s->name)));
}

/* ------------------------------------------------------------------
 * Changes
 * ------------------------------------------------------------------
 */

static bool
is_same(const standby *a, const standby *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->address, b->address) == 0;
}

/* A standby that is new: it must be there, to be known by its address. */
static void
take(standby *s, const char *name)
{
	memset(s, 0, sizeof(*s));
	if (name[0] == '\0')
		return;
	find_standby(name, s);
	if (s->address[0] == '\0')
		raise_connection("standby \"%s\" is not connected", name,
						 "It becomes the sole standby at the first charge that finds it.");
}

/* The sole standby by its setting.  One that was given up and is taken anew may come from another address. */
static void
change_sole(standby_act *act, const char *sole, const char *given_up)
{
	bool		is_given_up = act->sole.name[0] != '\0' && strcmp(act->sole.name, given_up) == 0;

	if (strcmp(act->sole.name, sole) == 0)
	{
		standby		now = act->sole;

		if (is_given_up)
			find_standby(sole, &now);
		if (now.address[0] != '\0')
			act->sole = now;
	}
	else if (act->sole.name[0] == '\0' || is_given_up)
		take(&act->sole, sole);
	else if (act->leaving.name[0] == '\0')
	{
		act->leaving = act->sole;
		take(&act->sole, sole);
	}
	/* else one change after the other */
}

/* What the next act is to say. */
static standby_act
next_act(const known *k, const char *sole, const char *given_up)
{
	standby_act next = k->last;

	if (k->last.leaving.name[0] != '\0' &&
		((k->last.seq != 0 && k->confirmed == k->last.seq) || strcmp(k->last.leaving.name, given_up) == 0))
		memset(&next.leaving, 0, sizeof(next.leaving));
	change_sole(&next, sole, given_up);
	return next;
}

static void
check_next(const standby_act *next, const char *sole)
{
	if (sole[0] != '\0')
		check_required(sole);
	if (next->sole.name[0] != '\0')
		check_address(&next->sole);
	/* nobody else waits for it before the charge */
	if (strcmp(next->sole.name, sole) != 0)
		check_connected(&next->sole, "Start it, until the change of pg_epsilon.sole_standby is done, or give it up "
						"with -NAME.");
	if (next->leaving.name[0] != '\0')
	{
		check_connected(&next->leaving, "Start it, until it has the next charge too, or give it up with -NAME in "
						"pg_epsilon.sole_standby.");
		check_address(&next->leaving);
	}
}

static void
want(known *of, int64 seq, const standby *who)
{
	MemoryContext old = MemoryContextSwitchTo(wanted_context);
	wanted	   *w = palloc(sizeof(*w));

	*w = (wanted) {of, seq, *who};
	if (who->name[0] != '\0')
		all_wanted = lappend(all_wanted, w);
	MemoryContextSwitchTo(old);
}

void
pe_standby_begin(void)
{
	all_wanted = NIL;
	has_noted = false;
	wanted_context = CurrentMemoryContext;
}

bool
pe_standby_note(int64 dataset_id, int64 acts, pe_act_line *line)
{
	known	   *k = recall(dataset_id, acts);
	char		sole[NAMEDATALEN];
	char		given_up[NAMEDATALEN];
	standby_act next;
	bool		differs;

	read_setting(sole, given_up);
	if (sole[0] == '\0' && k->last.sole.name[0] == '\0' && k->last.leaving.name[0] == '\0')
		return false;
	next = next_act(k, sole, given_up);
	check_next(&next, sole);
	differs = k->last.seq == 0 || !is_same(&next.sole, &k->last.sole) || !is_same(&next.leaving, &k->last.leaving);
	note_count += differs;
	has_noted = has_noted || differs;
	if (differs)
		fill_line(line, &k->last, &next, strcmp(k->last.sole.name, given_up) == 0 ||
				  strcmp(k->last.leaving.name, given_up) == 0 ? given_up : "");
	want(k, differs ? acts + 1 : k->last.seq, &next.sole);
	want(k, differs ? acts + 1 : k->last.seq, &next.leaving);
	return differs;
}

/* One that is given up and stays: the address is the one that it has now. */
static void
want_named(known *of, const standby *who)
{
	char		sole[NAMEDATALEN];
	char		given_up[NAMEDATALEN];
	standby		now = *who;

	read_setting(sole, given_up);
	if (strcmp(who->name, given_up) == 0 && strcmp(who->name, sole) == 0)
		find_standby(sole, &now);
	if (strcmp(who->name, given_up) != 0 || strcmp(who->name, sole) == 0)
		want(of, 0, &now);
}

bool
pe_standby_rests(int64 dataset_id, int64 acts)
{
	known	   *k = recall(dataset_id, acts);

	if (k->last.seq == 0 || k->flushed >= k->written)
		return false;
	want_named(k, &k->last.sole);
	want_named(k, &k->last.leaving);
	return k->last.sole.name[0] != '\0' || k->last.leaving.name[0] != '\0';
}

void
pe_standby_await(int64 dataset_id)
{
	standby_act last;
	pe_access	access;

	if (pe_standby_ask == NULL || RecoveryInProgress())
		return;
	pe_access_begin(&access);
	read_last(dataset_id, current_place(), &last);
	pe_access_end(&access);
	if (last.sole.name[0] != '\0' || last.leaving.name[0] != '\0' || pe_anchor_command[0] != '\0')
		pe_standby_ask(dataset_id);
}

/* ------------------------------------------------------------------
 * After the commit
 * ------------------------------------------------------------------
 */

/* Another connection of the name may be the one that is promoted: so all have flushed. */
static bool
has_flushed(const standby *s, XLogRecPtr end)
{
	connections c;

	look(s->name, end, &c);
	return c.count > 0 && c.flushed == c.count && strcmp(c.first, s->address) == 0 && strcmp(c.last, s->address) == 0;
}

static bool
have_all_flushed(void)
{
	bool		all = true;
	ListCell   *cell;
	pe_access	access;

	pe_access_begin(&access);
	foreach(cell, all_wanted)
		all = all && has_flushed(&((wanted *) lfirst(cell))->who, ((wanted *) lfirst(cell))->of->written);
	pe_access_end(&access);
	return all;
}

/* Seen from now on, whether it is flushed there or not. */
static void
note_written(XLogRecPtr end)
{
	ListCell   *cell;

	foreach(cell, all_wanted)
	{
		wanted	   *w = lfirst(cell);

		if (w->seq != 0)
			w->of->written = Max(w->of->written, end);
	}
}

static void
note_flushed(void)
{
	ListCell   *cell;

	foreach(cell, all_wanted)
	{
		wanted	   *w = lfirst(cell);

		w->of->flushed = w->of->written;
		if (w->seq != 0)
			w->of->confirmed = w->seq;
	}
}

bool
pe_standby_has_flushed(XLogRecPtr end)
{
	MemoryContext context = CurrentMemoryContext;
	bool		all;

	note_written(end);
	if (all_wanted == NIL)
		return true;
	if (ProcDiePending)			/* a statement would end the worker before it answers */
		return false;
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	all = have_all_flushed();
	PopActiveSnapshot();
	CommitTransactionCommand();
	MemoryContextSwitchTo(context);
	if (all)
		note_flushed();
	return all;
}

/* ------------------------------------------------------------------
 * After a promotion
 * ------------------------------------------------------------------
 */

/* What this server got of its primary since it was started. */
typedef struct received
{
	XLogRecPtr	heard;			/* how far the primary said it was; invalid: it said nothing */
	XLogRecPtr	flushed;
	TimeLineID	timeline;
} received;

static received
what_was_received(void)
{
	received	r;

	SpinLockAcquire(&WalRcv->mutex);
	r = (received) {WalRcv->latestWalEnd, WalRcv->flushedUpto, WalRcv->receivedTLI};
	SpinLockRelease(&WalRcv->mutex);
	/* of a segment that it had it flushes nothing anew */
	r.flushed = Max(r.flushed, GetXLogReplayRecPtr(NULL));
	return r;
}

bool
pe_standby_may_be(void)
{
	return pe_sole_standby[0] != '\0' || !XLogRecPtrIsInvalid(what_was_received().heard);
}

/* Whether a key begins here, and no value: after a blank that follows no equals sign, or in a URI after ? or &. */
static bool
begins_key(const char *conninfo, const char *at, bool is_uri)
{
	const char *before = at;
	int			quotes = 0;

	if (is_uri)
		return at > conninfo && strchr("?&", at[-1]) != NULL;
	for (const char *c = conninfo; c < at; c++)
		quotes += *c == '\'';
	while (before > conninfo && isspace((unsigned char) before[-1]))
		before--;
	return quotes % 2 == 0 && (before == conninfo || (before < at && before[-1] != '='));
}

/* What ends the value; at what follows its key. */
static char *
value_of_key(const char *at, bool is_uri)
{
	static const char blanks[] = " \t\n\r\f\v";

	at += is_uri ? 0 : strspn(at, blanks);
	if (*at++ != '=')
		return NULL;
	if (is_uri)
		return pnstrdup(at, strcspn(at, "&"));
	at += strspn(at, blanks);
	return *at == '\'' ? pnstrdup(at + 1, strcspn(at + 1, "'")) : pnstrdup(at, strcspn(at, blanks));
}

/* What libpq takes where the connection string has none. */
static char *
fallback_name(const char *conninfo)
{
	if (strstr(conninfo, "service") != NULL || getenv("PGSERVICE") != NULL || getenv("PGAPPNAME") != NULL)
		return NULL;
	return pstrdup(GetConfigOption("cluster_name", false, false));
}

/* As what this server connects to its primary, if that is plain to see; else NULL. */
static char *
own_name(void)
{
	static const char key[] = "application_name";
	const char *conninfo = GetConfigOption("primary_conninfo", true, false);
	const char *found = conninfo != NULL ? strstr(conninfo, key) : NULL;
	bool		is_uri;

	if (conninfo == NULL || strpbrk(conninfo, "\\%") != NULL)
		return NULL;
	if (found == NULL)
		return fallback_name(conninfo);
	is_uri = strncmp(conninfo, "postgres", strlen("postgres")) == 0 && strstr(conninfo, "://") != NULL;
	if (strstr(found + 1, key) != NULL || !begins_key(conninfo, found, is_uri))
		return NULL;
	return value_of_key(found + strlen(key), is_uri);
}

/* The timeline from which the current one was begun; 0: unknown. */
static TimeLineID
parent_timeline(void)
{
	List	   *history = readTimeLineHistory(GetWALInsertionTimeLine());

	return list_length(history) > 1 ? ((TimeLineHistoryEntry *) lsecond(history))->tli : 0;
}

static bool
had_target(void)
{
	static const char *const target[] = {
		"recovery_target", "recovery_target_lsn", "recovery_target_name", "recovery_target_time", "recovery_target_xid"
	};

	for (int i = 0; i < lengthof(target); i++)
		if (GetConfigOption(target[i], false, false)[0] != '\0')
			return true;
	return false;
}

/* Whether it was promoted as a standby that had all of the WAL of a timeline that there was. */
static const char *
promotion_fault(TimeLineID timeline)
{
	received	r = what_was_received();

	if (parent_timeline() != timeline)
		return "its timeline does not follow that of the ledger";
	if (XLogRecPtrIsInvalid(r.heard) || r.timeline != timeline)
		return "it has not heard of the primary since it was started";
	if (r.flushed < r.heard)
		return "it had not caught up with the primary";
	if (had_target())
		return "its recovery had a target";
	return NULL;
}

/* system/timeline/database of an identity, and the timeline. */
static char *
place_of_identity(const char *identity, TimeLineID *timeline)
{
	uint64		system;
	unsigned	database;

	if (sscanf(identity, UINT64_FORMAT "/%u/%u/", &system, timeline, &database) != 3)
		elog(ERROR, "a dataset has no identity");
	return psprintf(UINT64_FORMAT "/%u/%u", system, (unsigned) *timeline, database);
}

const char *
pe_standby_fault(int64 dataset_id, const char *identity)
{
	TimeLineID	timeline;
	char	   *place = place_of_identity(identity, &timeline);
	char	   *name = own_name();
	standby_act act;

	read_last(dataset_id, place, &act);
	if (act.sole.name[0] == '\0')
		return "its ledger names no sole standby";
	if (name == NULL)
		return "primary_conninfo does not show plainly as what it was connected";
	if (strcmp(act.sole.name, name) != 0)
		return psprintf("its ledger names another sole standby than \"%s\": \"%s\"", name, act.sole.name);
	return promotion_fault(timeline);
}

/*
 * operation.c
 *	  What dp.activity and dp.stat_datasets read of the server's shared memory.
 *
 * No role but superusers may call these: the views show each role the rows it may see.
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#include "server/access.h"
#include "server/activity.h"
#include "server/return_rows.h"

PG_FUNCTION_INFO_V1(pe_sql_activity);
PG_FUNCTION_INFO_V1(pe_sql_dataset_counts);
PG_FUNCTION_INFO_V1(pe_sql_is_monitor);

static const char *
phase_name(pe_phase phase)
{
	static const char *const name[] = {"idle", "preparing", "charging", "reading", "storing", "answering"};

	return name[phase];
}

/* The words of the NOTICEs; NULL: there were none. */
static char *
progress_text(const pe_activity *a)
{
	if (a->what[0] == '\0')
		return NULL;
	return a->steps > 0 ? psprintf("%s: pass %d of %d", a->what, a->step, a->steps)
		: psprintf("%s: evaluation %d, gap %.0e", a->what, a->step, a->gap);
}

static void
make_activity(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_activity *a = (const pe_activity *) argument + row;
	char	   *progress = progress_text(a);

	values[0] = Int32GetDatum(a->pid);
	values[1] = ObjectIdGetDatum(a->role);
	values[2] = BoolGetDatum(has_privs_of_role(pe_access_asker(), a->role));
	values[3] = Int64GetDatum(a->dataset_id);
	values[4] = CStringGetTextDatum(phase_name(a->phase));
	values[5] = progress != NULL ? CStringGetTextDatum(progress) : (Datum) 0;
	values[6] = Int64GetDatum(a->memory);
	values[7] = TimestampTzGetDatum(a->started);
	nulls[3] = a->dataset_id == 0;
	nulls[5] = progress == NULL;
	nulls[6] = a->memory == 0;
}

/* Default privileges may have given them to others when they were made: the views alone call them. */
static void
check_is_view(void)
{
	if (!superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("this is for views of the extension"),
				 errhint("dp.activity and dp.stat_datasets show what you may see.")));
}

Datum
pe_sql_activity(PG_FUNCTION_ARGS)
{
	pe_activity *running;
	int			count;

	check_is_view();
	count = pe_activities(&running);
	pe_return_rows(fcinfo, count, 8, make_activity, running);
	return (Datum) 0;
}

static void
make_counts(const void *argument, int32 row, Datum *values, bool *nulls)
{
	const pe_dataset_counts *c = (const pe_dataset_counts *) argument + row;

	values[0] = Int64GetDatum(c->dataset_id);
	for (int i = 0; i < PE_COUNTERS; i++)
		values[1 + i] = Int64GetDatum(c->count[i]);
}

Datum
pe_sql_dataset_counts(PG_FUNCTION_ARGS)
{
	pe_dataset_counts *counted;
	int			count;

	check_is_view();
	count = pe_activity_counts(&counted);
	pe_return_rows(fcinfo, count, 1 + PE_COUNTERS, make_counts, counted);
	return (Datum) 0;
}

Datum
pe_sql_is_monitor(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(has_privs_of_role(pe_access_asker(), ROLE_PG_READ_ALL_STATS));
}

/*
 * replay.c
 *	  What is said of an answer that was made before.  See replay.h.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgtime.h"
#include "utils/hsearch.h"
#include "utils/timestamp.h"

#include "ask/replay.h"

char *
pe_replay_text(int version, TimestampTz made)
{
	struct pg_tm tm;
	fsec_t		fraction;
	int			zone;

	if (timestamp2tm(made, &zone, &tm, &fraction, NULL, NULL) != 0)
		return psprintf("%s, data version %d", timestamptz_to_str(made), version);
	return psprintf("%04d-%02d-%02d %02d:%02d, data version %d", tm.tm_year, tm.tm_mon, tm.tm_mday, tm.tm_hour,
					tm.tm_min, version);
}

/* Whether it is the first call of the session for a dataset. */
static bool
is_first(int64 dataset_id)
{
	static HTAB *told = NULL;
	HASHCTL		control = {.keysize = sizeof(int64), .entrysize = sizeof(int64)};
	bool		found;

	if (told == NULL)
		told = hash_create("pg_epsilon replays", 16, &control, HASH_ELEM | HASH_BLOBS);
	(void) hash_search(told, &dataset_id, HASH_ENTER, &found);
	return !found;
}

void
pe_replay_tell(const pe_dataset *dataset, int version, TimestampTz made)
{
	if (made < MyStartTimestamp && is_first(dataset->id))
		ereport(NOTICE,
				(errmsg("answer of %s of dataset \"%s\"", pe_replay_text(version, made), dataset->name)));
}

/*
 * replay.h
 *	  What is said of an answer that was made before, by every front.
 */
#ifndef PE_ASK_REPLAY_H
#define PE_ASK_REPLAY_H

#include "datatype/timestamp.h"

#include "ledger/dataset.h"

/* "2026-11-28 03:20, data version 1": in the session's time zone. */
extern char *pe_replay_text(int version, TimestampTz made);

/*
 * The NOTICE of an answer that is replayed: when it was made.  Once in a
 * session for each dataset, and only of an answer from before the session: its
 * own answers are no news to it.  It follows from the ledger alone, and from
 * what the asker is given anyway: dp.releases has the same time.
 */
extern void pe_replay_tell(const pe_dataset *dataset, int version, TimestampTz made);

#endif

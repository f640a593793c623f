/*
 * row_sink.h
 *	  How the accumulator dp_internal.fit_rows hands a whole store of rows to the door.
 *
 * An aggregate cannot return a store to SQL, and need not: where rows stay in
 * memory for a whole fit, the accumulator of the door's own scan puts them here.
 */
#ifndef PE_DOOR_ROW_SINK_H
#define PE_DOOR_ROW_SINK_H

#include "glm/rows.h"

/* Values of a row that dp_internal.fit_rows takes as arguments, with five before them; the others come as a record. */
#define PE_ROW_ARGUMENTS 90

/*
 * Puts rows, and how many were read besides, all of whose memory is in owner, into the sink that the door has
 * opened: owner outlives the aggregate then.  0A000 if there is no sink.
 */
extern void pe_row_sink_put(pe_rows *rows, uint64 dropped, MemoryContext owner);

#endif

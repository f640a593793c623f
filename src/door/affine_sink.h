/*
 * affine_sink.h
 *	  How the accumulator dp_internal.affine_rows hands the door the rows that it has collected;
 *	  what the door tells it is affine/affine_spec.h.
 *
 * An aggregate cannot return rows of exact offsets to SQL, and need not: the
 * accumulator of the door's own scan puts them here, and they are of no use elsewhere.
 */
#ifndef PE_DOOR_AFFINE_SINK_H
#define PE_DOOR_AFFINE_SINK_H

#include "affine/affine_spec.h"

/*
 * Puts rows, all of whose memory is in owner, into the sink that the door has opened:
 * owner outlives the aggregate then.  0A000 if there is no sink.
 */
extern void pe_affine_sink_put(const pe_affine *rows, MemoryContext owner);

#endif

/*
 * notices.h
 *	  NOTICEs about an answer, which are sent once it is known that nothing is refused.
 */
#ifndef PE_FDW_NOTICES_H
#define PE_FDW_NOTICES_H

#include "postgres.h"

#include "nodes/pg_list.h"

/* As ereport(NOTICE, fields), but sent later while NOTICEs are held. */
#define pe_notice(...) \
	do { \
		if (errstart(NOTICE, TEXTDOMAIN)) \
		{ \
			__VA_ARGS__; \
			pe_notice_finish(__FILE__, __LINE__, __func__); \
		} \
	} while (0)

extern void pe_notice_finish(const char *file, int line, const char *function);

/* What was held before, which is put back at the end; it lives in the caller's memory. */
typedef struct pe_held_notices
{
	bool		holds;
	List	   *held;			/* ErrorData * */
	MemoryContext memory;
} pe_held_notices;

/* Holds NOTICEs from now on, in the current memory context. */
extern void pe_notices_hold(pe_held_notices *before);

/* Holds no longer: what was held is sent, or forgotten. */
extern void pe_notices_release(const pe_held_notices *before, bool send);

#endif

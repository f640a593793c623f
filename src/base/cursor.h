/*
 * cursor.h
 *	  Reading bytes that may come from anybody: never past their end.
 */
#ifndef PE_BASE_CURSOR_H
#define PE_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct pe_cursor
{
	const char *at;
	size_t		left;
} pe_cursor;

/* Copies the next bytes; false, and nothing is taken, if there are fewer. */
static inline bool
pe_take(pe_cursor *from, void *to, size_t size)
{
	if (from->left < size)
		return false;
	memcpy(to, from->at, size);
	from->at += size;
	from->left -= size;
	return true;
}

#endif

/*
 * names.h
 *	  SQL identifiers in the small languages of this floor.
 *
 * A name is an identifier as SQL has it: folded to lower case unless it stands
 * in double quotes, within which a double quote is doubled.  Only ASCII letters
 * fold, and only ASCII white space separates: a text reads the same in every
 * locale.
 */
#ifndef PE_BASE_NAMES_H
#define PE_BASE_NAMES_H

#include <stdbool.h>

#include "base/mem.h"

/* The bytes that a name may have, its terminator included: more than PostgreSQL's NAMEDATALEN. */
#define PE_NAME_SIZE 256

typedef enum pe_name_status
{
	PE_NAME_PLAIN,				/* read, and not in quotes: it may be a keyword */
	PE_NAME_QUOTED,				/* read, from quotes */
	PE_NAME_NONE,				/* no name begins here */
	PE_NAME_TOO_LONG,
	PE_NAME_NO_END,				/* a quoted name that is not closed */
	PE_NAME_EMPTY				/* a quoted name of no character */
} pe_name_status;

extern bool pe_is_space(char c);

/* Whether a plain name begins with, or goes on with, this character. */
extern bool pe_starts_name(char c);
extern bool pe_continues_name(char c);

/*
 * Reads the name at text[*at], which is not white space, into name.  Moves *at
 * behind it unless there is none; on other failures name is not to be used.
 */
extern pe_name_status pe_name_read(const char *text, size_t *at, char name[PE_NAME_SIZE]);

/* Whether a name reads as itself without quotes, were there no keywords. */
extern bool pe_name_is_plain(const char *name);

/* The bytes of the character at text, and of a name or word that a message shows: whole characters, at most 64 bytes. */
extern int	pe_character_size(const char *text);
extern int	pe_shown_size(const char *word);

#endif

/*
 * names.c
 *	  SQL identifiers in the small languages of this floor.  See names.h.
 */
#include "base/names.h"

#include <string.h>

bool
pe_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool
pe_starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

bool
pe_continues_name(char c)
{
	return pe_starts_name(c) || (c >= '0' && c <= '9') || c == '$';
}

static char
to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static bool
append(char *name, size_t *size, char c)
{
	if (*size + 1 >= PE_NAME_SIZE)
		return false;
	name[(*size)++] = c;
	name[*size] = '\0';
	return true;
}

static pe_name_status
read_quoted(const char *text, size_t *at, char *name)
{
	size_t		size = 0;

	for ((*at)++;; (*at)++)
	{
		char		c = text[*at];

		if (c == '\0')
			return PE_NAME_NO_END;
		if (c == '"' && text[++(*at)] != '"')
			break;
		if (!append(name, &size, c))
			return PE_NAME_TOO_LONG;
	}
	return size == 0 ? PE_NAME_EMPTY : PE_NAME_QUOTED;
}

pe_name_status
pe_name_read(const char *text, size_t *at, char name[PE_NAME_SIZE])
{
	size_t		size = 0;

	name[0] = '\0';
	if (text[*at] == '"')
		return read_quoted(text, at, name);
	if (!pe_starts_name(text[*at]))
		return PE_NAME_NONE;
	for (; pe_continues_name(text[*at]); (*at)++)
		if (!append(name, &size, to_lower(text[*at])))
			return PE_NAME_TOO_LONG;
	return PE_NAME_PLAIN;
}

bool
pe_name_is_plain(const char *name)
{
	bool		plain = pe_starts_name(name[0]);

	for (const char *c = name; *c; c++)
		plain = plain && pe_continues_name(*c) && to_lower(*c) == *c;
	return plain;
}

int
pe_character_size(const char *text)
{
	int			size = 1;

	if (text[0] & 0x80)
		while (size < 4 && (text[size] & 0xC0) == 0x80)
			size++;
	return size;
}

int
pe_shown_size(const char *word)
{
	size_t		size = strlen(word);

	if (size > 64)
		for (size = 64; size > 60 && (word[size] & 0xC0) == 0x80; size--)
			;
	return (int) size;
}

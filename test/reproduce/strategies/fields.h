/*
 * fields.h
 *	  Lines of comma separated values without quotes.
 */
#ifndef PE_REPRODUCE_FIELDS_H
#define PE_REPRODUCE_FIELDS_H

#include <string.h>

/* Cuts the next field off a line. */
static inline char *
next_field(char **line)
{
	char	   *field = *line;
	size_t		length = strcspn(field, ",\n");

	*line += length + (field[length] != '\0');
	field[length] = '\0';
	return field;
}

#endif

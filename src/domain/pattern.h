/*
 * pattern.h
 *	  Whether a text is as a pattern of LIKE says.
 *
 * A pattern is a list of elements: a byte, or any character; between two of
 * them, and at both ends, may stand any text.  It is matched by a set of
 * states, state j meaning that the first j elements are matched so far: a bit
 * for each in one word.  Every byte of the text takes the same steps, whether
 * the pattern matches or not; nothing ends early.  R. Baeza-Yates, G. Gonnet,
 * "A new approach to text searching", Communications of the ACM 35 (1992).
 *
 * In UTF-8 a character is one byte and all bytes behind it that continue it, as
 * in PostgreSQL; else each byte is one.
 */
#ifndef PE_DOMAIN_PATTERN_H
#define PE_DOMAIN_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most elements. */
#define PE_PATTERN_MOST 63

/* How a pattern is to be read: letters that are joined by OR. */
enum
{
	PE_PATTERN_CHARACTERS = 1,	/* texts are UTF-8 */
	PE_PATTERN_FOLDED = 2		/* letters of ASCII are the same in capitals, as in ILIKE under COLLATE "C" */
};

typedef struct pe_pattern
{
	int			elements;
	int			how;
	unsigned char byte[PE_PATTERN_MOST];
	uint64_t	any;			/* elements that are any character: bit j is the element behind state j */
	uint64_t	gap;			/* states behind which any text may stand */
	uint64_t	enter[256];		/* states that a byte may lead into */
	uint64_t	stay[2];		/* states that a byte may leave as they are: one that begins a character, or not */
} pe_pattern;

typedef enum pe_pattern_status
{
	PE_PATTERN_OK,
	PE_PATTERN_TOO_LONG,		/* more than PE_PATTERN_MOST elements */
	PE_PATTERN_ENDS_ESCAPED		/* its last character is a backslash that escapes nothing */
} pe_pattern_status;

/* Reads a pattern as LIKE has it: % any text, _ any character, \ in front of what stands for itself. */
extern pe_pattern_status pe_pattern_read(pe_pattern *pattern, const char *text, size_t size, int how);

/* The longest canonical text, its zero included. */
#define PE_PATTERN_TEXT (3 * PE_PATTERN_MOST + 2)

/*
 * The canonical text: patterns of one text match the same, and it reads as the
 * pattern that it is of.  Returns its size.
 */
extern size_t pe_pattern_write(const pe_pattern *pattern, char text[PE_PATTERN_TEXT]);

/* Whether all of a text is as the pattern says.  The same work for each text of this size. */
extern bool pe_pattern_matches(const pe_pattern *pattern, const char *data, size_t size);

#endif

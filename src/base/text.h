/*
 * text.h
 *	  What the small languages of workloads and predicates have in common: names,
 *	  literals, errors with a position, and the writer of canonical text.
 *
 * A name is an identifier as SQL has it: folded to lower case unless it stands
 * in double quotes, within which a double quote is doubled.  Only ASCII letters
 * fold, and only ASCII white space separates: a text reads the same in every
 * locale.
 *
 * Functions that return bool return false after they have filled the error.
 */
#ifndef PE_BASE_TEXT_H
#define PE_BASE_TEXT_H

#include <stdbool.h>

#include "base/mem.h"

/* The bytes that a name may have, its terminator included: more than PostgreSQL's NAMEDATALEN. */
#define PE_NAME_SIZE 256

typedef enum pe_text_status
{
	PE_TEXT_OK,
	PE_TEXT_SYNTAX,				/* the text is not in the language */
	PE_TEXT_NO_ATTRIBUTE,		/* a name that is not among the attributes */
	PE_TEXT_INVALID,			/* in the language, and not allowed for these attributes */
	PE_TEXT_TOO_LARGE			/* beyond a limit */
} pe_text_status;

typedef struct pe_text_error
{
	pe_text_status status;
	int			position;		/* bytes from the start of the text, from 0 */
	char		message[400];	/* in PostgreSQL's style, without the position */
	char		detail[400];	/* "" if there is none */
	char		hint[200];
} pe_text_error;

/* A text that is being read, and its canonical form as far as it is written. */
typedef struct pe_text
{
	const char *what;			/* "workload", for messages */
	const char *const *keywords;	/* no names unless in quotes; ends with NULL */
	const char *text;
	size_t		at;
	pe_text_error *error;
	char	   *canonical;		/* the caller frees it */
	size_t		size;			/* of the canonical text */
	size_t		room;
} pe_text;

typedef enum pe_literal_kind
{
	PE_LITERAL_NUMBER, PE_LITERAL_STRING, PE_LITERAL_BOOLEAN
} pe_literal_kind;

typedef struct pe_literal
{
	pe_literal_kind kind;
	const char *text;			/* without quotes; "true" or "false" */
	int			position;
} pe_literal;

/* Fills the error and returns false. */
extern bool pe_text_fail(pe_text *t, pe_text_status status, size_t position, const char *format,...)
			__attribute__((format(printf, 4, 5)));

/* The same for what stands here where something else is expected. */
extern bool pe_text_unexpected(pe_text *t, const char *expected);

/* The next character that is not white space; it is not taken.  0 at the end. */
extern char pe_text_next(pe_text *t);

/* Takes this character. */
extern bool pe_text_take(pe_text *t, char c, const char *shown);

/* Takes a name that is no keyword. */
extern bool pe_text_name(pe_text *t, char name[PE_NAME_SIZE], const char *expected);

/* Whether all of a text is a name in double quotes, and that name. */
extern bool pe_text_unquote(const char *text, char name[PE_NAME_SIZE]);

/* Whether the next token is this keyword; it is not taken.  The second takes it if it is. */
extern bool pe_text_sees(pe_text *t, const char *keyword);
extern bool pe_text_takes(pe_text *t, const char *keyword);

/* Takes a number, with or without a sign. */
extern bool pe_text_number(pe_text *t);

/* Takes a whole number from 0 to most, a sign only if it is allowed; PE_TEXT_TOO_LARGE for one beyond. */
extern bool pe_text_whole(pe_text *t, bool sign, int32_t most, const char *expected, int32_t *number);

/*
 * Literals: numbers, strings in single quotes, true and false.  The caller frees
 * *text when it is done with the literal, also after a failure.
 */
extern bool pe_text_sees_literal(pe_text *t);
extern bool pe_text_literal(pe_text *t, pe_literal *literal, char **text);

extern bool pe_is_digit(char c);

/* Whether a plain name begins with this character. */
extern bool pe_starts_name(char c);

/* The bytes of a name or word that a message shows: whole characters, at most 64 bytes. */
extern int	pe_shown_size(const char *word);

/* Append to the canonical text; a name is quoted only where the plain form would read as something else. */
extern void pe_text_write(pe_text *t, const char *text);
extern void pe_text_writef(pe_text *t, const char *format,...) __attribute__((format(printf, 2, 3)));
extern void pe_text_write_name(pe_text *t, const char *name);
extern void pe_text_write_quoted(pe_text *t, const char *text, char quote);

/* Puts the canonical text from a place on into parentheses. */
extern void pe_text_enclose(pe_text *t, size_t from);

#endif

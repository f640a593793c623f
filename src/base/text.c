/*
 * text.c
 *	  What the small languages have in common.  See text.h.
 */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------
 * Characters
 * ------------------------------------------------------------------
 */

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

bool
pe_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool
pe_starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool
continues_name(char c)
{
	return pe_starts_name(c) || pe_is_digit(c) || c == '$';
}

static char
to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static int
character_size(const char *text)
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

char
pe_text_next(pe_text *t)
{
	while (is_space(t->text[t->at]))
		t->at++;
	return t->text[t->at];
}

/* ------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------
 */

bool
pe_text_fail(pe_text *t, pe_text_status status, size_t position, const char *format,...)
{
	va_list		arguments;

	t->error->status = status;
	t->error->position = (int) position;
	va_start(arguments, format);
	vsnprintf(t->error->message, sizeof(t->error->message), format, arguments);
	va_end(arguments);
	return false;
}

bool
pe_text_unexpected(pe_text *t, const char *expected)
{
	const char *here = (pe_text_next(t), t->text + t->at);

	if (*here == '\0')
		return pe_text_fail(t, PE_TEXT_SYNTAX, t->at, "%s ends where %s is expected", t->what, expected);
	return pe_text_fail(t, PE_TEXT_SYNTAX, t->at, "syntax error in %s at \"%.*s\": %s is expected",
						t->what, character_size(here), here, expected);
}

bool
pe_text_take(pe_text *t, char c, const char *shown)
{
	if (pe_text_next(t) != c)
		return pe_text_unexpected(t, shown);
	t->at++;
	return true;
}

/* ------------------------------------------------------------------
 * Names and keywords
 * ------------------------------------------------------------------
 */

/* Appends a character; false if the name would be too long. */
static bool
append(char *name, size_t *size, char c)
{
	if (*size + 1 >= PE_NAME_SIZE)
		return false;
	name[(*size)++] = c;
	name[*size] = '\0';
	return true;
}

static bool
read_quoted_name(pe_text *t, char *name)
{
	size_t		start = t->at;
	size_t		size = 0;

	for (t->at++;; t->at++)
	{
		char		c = t->text[t->at];

		if (c == '\0')
			return pe_text_fail(t, PE_TEXT_SYNTAX, start, "quoted name in %s has no end", t->what);
		if (c == '"' && t->text[++t->at] != '"')
			break;
		if (!append(name, &size, c))
			return pe_text_fail(t, PE_TEXT_SYNTAX, start, "name in %s is too long", t->what);
	}
	return size > 0 || pe_text_fail(t, PE_TEXT_SYNTAX, start, "quoted name in %s is empty", t->what);
}

/* The plain name here, and its bytes: 0 if there is none, PE_NAME_SIZE if it is too long. */
static size_t
plain_name(const pe_text *t, char *name)
{
	size_t		size = 0;
	const char *from = t->text + t->at;

	name[0] = '\0';
	if (pe_starts_name(*from))
		for (; continues_name(*from); from++)
			if (!append(name, &size, to_lower(*from)))
				return PE_NAME_SIZE;
	return size;
}

static bool
is_keyword(const pe_text *t, const char *name)
{
	for (const char *const *keyword = t->keywords; keyword != NULL && *keyword != NULL; keyword++)
		if (strcmp(name, *keyword) == 0)
			return true;
	return false;
}

bool
pe_text_name(pe_text *t, char name[PE_NAME_SIZE], const char *expected)
{
	size_t		size;

	name[0] = '\0';
	if (pe_text_next(t) == '"')
		return read_quoted_name(t, name);
	size = plain_name(t, name);
	if (size == PE_NAME_SIZE)
		return pe_text_fail(t, PE_TEXT_SYNTAX, t->at, "name in %s is too long", t->what);
	if (size == 0 || is_keyword(t, name))
		return pe_text_unexpected(t, expected);
	t->at += size;
	return true;
}

bool
pe_text_unquote(const char *text, char name[PE_NAME_SIZE])
{
	pe_text_error error;
	pe_text		t = {.what = "name", .text = text, .error = &error};

	return text[0] == '"' && read_quoted_name(&t, name) && text[t.at] == '\0';
}

bool
pe_text_sees(pe_text *t, const char *keyword)
{
	char		name[PE_NAME_SIZE];

	pe_text_next(t);
	return plain_name(t, name) == strlen(keyword) && strcmp(name, keyword) == 0;
}

bool
pe_text_takes(pe_text *t, const char *keyword)
{
	if (!pe_text_sees(t, keyword))
		return false;
	t->at += strlen(keyword);
	return true;
}

/* ------------------------------------------------------------------
 * Literals
 * ------------------------------------------------------------------
 */

static size_t
digits_end(const char *text, size_t at)
{
	while (pe_is_digit(text[at]))
		at++;
	return at;
}

/* The end of the number here, which may have a sign; where it would begin if there is none. */
static size_t
number_end(const char *text, size_t at)
{
	size_t		start = text[at] == '+' || text[at] == '-' ? at + 1 : at;
	size_t		end = digits_end(text, start);
	size_t		exponent;

	if (text[end] == '.' && text[end + 1] != '.')	/* two points stand between the ends of a range */
	{
		size_t		fraction = digits_end(text, end + 1);

		end = fraction - start > 1 ? fraction : start;
	}
	if (end == start)
		return at;
	exponent = end + 1;
	if (text[end] != 'e' && text[end] != 'E')
		return end;
	if (text[exponent] == '+' || text[exponent] == '-')
		exponent++;
	return pe_is_digit(text[exponent]) ? digits_end(text, exponent) : end;
}

bool
pe_text_number(pe_text *t)
{
	size_t		end = number_end(t->text, t->at);
	char		next = t->text[end];

	if (end == t->at)
		return pe_text_unexpected(t, "a number");
	t->at = end;
	if (continues_name(next) || (next == '.' && t->text[end + 1] != '.'))
		return pe_text_unexpected(t, "the end of the number");
	return true;
}

bool
pe_text_whole(pe_text *t, bool sign, int32_t most, const char *expected, int32_t *number)
{
	size_t		start = (pe_text_next(t), t->at);
	bool		negative = false;
	int64_t		value = 0;

	if (sign && (t->text[t->at] == '-' || t->text[t->at] == '+'))
		negative = t->text[t->at++] == '-';
	if (!pe_is_digit(t->text[t->at]))
		return pe_text_unexpected(t, expected);
	for (; pe_is_digit(t->text[t->at]); t->at++)
		if (value <= most)
			value = 10 * value + (t->text[t->at] - '0');
	if (pe_starts_name(t->text[t->at]) || t->text[t->at] == '.')
		return pe_text_unexpected(t, "the end of a whole number");
	if (value > most)
		return pe_text_fail(t, PE_TEXT_TOO_LARGE, start, "number in %s is larger than %d", t->what, most);
	*number = (int32_t) (negative ? -value : value);
	return true;
}

/* Takes a string, whose text has quotes once. */
static bool
read_string(pe_text *t, char **text)
{
	size_t		start = t->at;
	size_t		end = start + 1;
	char	   *to;

	while (t->text[end] != '\0' && (t->text[end] != '\'' || t->text[end + 1] == '\''))
		end += t->text[end] == '\'' ? 2 : 1;
	if (t->text[end] == '\0')
		return pe_text_fail(t, PE_TEXT_SYNTAX, start, "string in %s has no end", t->what);
	to = *text = pe_alloc(end - start, 1);
	for (size_t i = start + 1; i < end; i += t->text[i] == '\'' ? 2 : 1)
		*to++ = t->text[i];
	t->at = end + 1;
	return true;
}

bool
pe_text_sees_literal(pe_text *t)
{
	return pe_text_next(t) == '\'' || number_end(t->text, t->at) > t->at ||
		pe_text_sees(t, "true") || pe_text_sees(t, "false");
}

/* Takes a number, and copies it. */
static bool
read_number(pe_text *t, char **text)
{
	size_t		start = t->at;

	if (!pe_text_number(t))
		return false;
	*text = pe_alloc(t->at - start + 1, 1);
	memcpy(*text, t->text + start, t->at - start);
	return true;
}

bool
pe_text_literal(pe_text *t, pe_literal *literal, char **text)
{
	*text = NULL;
	if (!pe_text_sees_literal(t))
		return pe_text_unexpected(t, "a literal");
	literal->position = (int) t->at;
	literal->kind = PE_LITERAL_BOOLEAN;
	literal->text = pe_text_takes(t, "true") ? "true" : "false";
	if (t->at > (size_t) literal->position || pe_text_takes(t, "false"))
		return true;
	literal->kind = t->text[t->at] == '\'' ? PE_LITERAL_STRING : PE_LITERAL_NUMBER;
	if (literal->kind == PE_LITERAL_STRING ? !read_string(t, text) : !read_number(t, text))
		return false;
	literal->text = *text;
	return true;
}

/* ------------------------------------------------------------------
 * Canonical text
 * ------------------------------------------------------------------
 */

static void
write_bytes(pe_text *t, const char *bytes, size_t size)
{
	if (t->size + size + 1 > t->room)
	{
		char	   *larger;

		t->room = 2 * (t->size + size + 1);
		larger = pe_alloc(t->room, 1);
		if (t->size > 0)
			memcpy(larger, t->canonical, t->size);
		pe_free(t->canonical);
		t->canonical = larger;
	}
	memcpy(t->canonical + t->size, bytes, size);
	t->size += size;
	t->canonical[t->size] = '\0';
}

void
pe_text_write(pe_text *t, const char *text)
{
	write_bytes(t, text, strlen(text));
}

void
pe_text_writef(pe_text *t, const char *format,...)
{
	char		text[64];
	va_list		arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	pe_text_write(t, text);
}

static bool
is_plain(const char *name)
{
	bool		plain = pe_starts_name(name[0]);

	for (const char *c = name; *c; c++)
		plain = plain && continues_name(*c) && to_lower(*c) == *c;
	return plain;
}

void
pe_text_write_quoted(pe_text *t, const char *text, char quote)
{
	write_bytes(t, &quote, 1);
	for (; *text; text++)
	{
		if (*text == quote)
			write_bytes(t, &quote, 1);
		write_bytes(t, text, 1);
	}
	write_bytes(t, &quote, 1);
}

void
pe_text_write_name(pe_text *t, const char *name)
{
	if (is_plain(name) && !is_keyword(t, name))
		pe_text_write(t, name);
	else
		pe_text_write_quoted(t, name, '"');
}

void
pe_text_enclose(pe_text *t, size_t from)
{
	pe_text_write(t, "()");
	memmove(t->canonical + from + 1, t->canonical + from, t->size - 2 - from);
	t->canonical[from] = '(';
}

/*
 * workload.c
 *	  The language of workloads.  See workload.h.
 */
#include "core/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* PostgreSQL's NAMEDATALEN, quotes and a terminator included. */
#define NAME_SIZE 256

typedef struct parser
{
	const char *text;
	size_t		at;
	const char *const *names;
	int			attributes;
	bool		used[PE_MAX_ATTRIBUTES];
	bool		whole;			/* a factor over all attributes was read */
	int			factors_read;
	pe_workload *workload;
	pe_workload_error *error;
} parser;

static bool __attribute__((format(printf, 4, 5)))
fail(parser *p, pe_workload_status status, size_t position, const char *format,...)
{
	va_list		arguments;

	p->error->status = status;
	p->error->position = (int) position;
	va_start(arguments, format);
	vsnprintf(p->error->message, sizeof(p->error->message), format, arguments);
	va_end(arguments);
	return false;
}

/* ASCII only: a workload reads the same in every locale. */
static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

static bool
continues_name(char c)
{
	return starts_name(c) || (c >= '0' && c <= '9') || c == '$';
}

static char
to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

static char
next_character(parser *p)
{
	while (is_space(p->text[p->at]))
		p->at++;
	return p->text[p->at];
}

/* The bytes of the character at p->at, so that a message never cuts one in two. */
static int
character_size(const parser *p)
{
	int			size = 1;

	if (p->text[p->at] & 0x80)
		while (size < 4 && (p->text[p->at + size] & 0xC0) == 0x80)
			size++;
	return size;
}

/* The bytes of a name that a message shows: at most 64, and whole characters. */
static int
shown_size(const char *name)
{
	size_t		size = strlen(name);

	if (size > 64)
		for (size = 64; size > 60 && (name[size] & 0xC0) == 0x80; size--)
			;
	return (int) size;
}

static bool
fail_at_character(parser *p, const char *expected)
{
	if (next_character(p) == '\0')
		return fail(p, PE_WORKLOAD_SYNTAX, p->at, "workload ends where %s is expected", expected);
	return fail(p, PE_WORKLOAD_SYNTAX, p->at, "syntax error in workload at \"%.*s\": %s is expected",
				character_size(p), p->text + p->at, expected);
}

static bool
append(parser *p, char *name, size_t *size, char c, size_t start)
{
	if (*size + 1 >= NAME_SIZE)
		return fail(p, PE_WORKLOAD_SYNTAX, start, "name in workload is too long");
	name[(*size)++] = c;
	name[*size] = '\0';
	return true;
}

static bool
read_quoted(parser *p, char *name, size_t start)
{
	size_t		size = 0;

	for (p->at++;; p->at++)
	{
		char		c = p->text[p->at];

		if (c == '\0')
			return fail(p, PE_WORKLOAD_SYNTAX, start, "quoted name in workload has no end");
		if (c == '"' && p->text[++p->at] != '"')
			break;
		if (!append(p, name, &size, c, start))
			return false;
	}
	if (size == 0)
		return fail(p, PE_WORKLOAD_SYNTAX, start, "quoted name in workload is empty");
	return true;
}

static bool
read_name(parser *p, char *name, const char *expected)
{
	char		c = next_character(p);
	size_t		start = p->at;
	size_t		size = 0;

	name[0] = '\0';
	if (c == '"')
		return read_quoted(p, name, start);
	if (!starts_name(c))
		return fail_at_character(p, expected);
	for (; continues_name(p->text[p->at]); p->at++)
		if (!append(p, name, &size, to_lower(p->text[p->at]), start))
			return false;
	return true;
}

static int
find_attribute(const parser *p, const char *name)
{
	for (int a = 0; a < p->attributes; a++)
		if (strcmp(p->names[a], name) == 0)
			return a;
	return -1;
}

static bool
use_attribute(parser *p, const char *name, bool identity, size_t position)
{
	int			attribute = find_attribute(p, name);

	if (attribute < 0)
		return fail(p, PE_WORKLOAD_NO_ATTRIBUTE, position,
					"attribute \"%.*s\" of the workload is not among the attributes asked for",
					shown_size(name), name);
	if (p->used[attribute])
		return fail(p, PE_WORKLOAD_REPEATED, position,
					"attribute \"%.*s\" stands twice in a product of the workload",
					shown_size(name), name);
	p->used[attribute] = true;
	if (identity)
		p->workload->factor[p->workload->factors++] = attribute;
	return true;
}

static bool
use_all_attributes(parser *p, bool identity, size_t position)
{
	if (p->factors_read > 0)
		return fail(p, PE_WORKLOAD_SYNTAX, position,
					"a factor of a product must name its attribute");
	p->whole = true;
	for (int a = 0; a < p->attributes; a++)
		if (!use_attribute(p, p->names[a], identity, position))
			return false;
	return true;
}

static void
append_canonical(parser *p, const char *text)
{
	strcat(p->workload->canonical, text);
}

/* Quoted only where the plain form would read as another name. */
static void
append_canonical_name(parser *p, const char *name)
{
	bool		plain = starts_name(name[0]);
	char	   *to = p->workload->canonical + strlen(p->workload->canonical);

	for (const char *c = name; *c; c++)
		plain = plain && continues_name(*c) && to_lower(*c) == *c;
	if (!plain)
		*to++ = '"';
	for (const char *c = name; *c; c++)
	{
		if (*c == '"')
			*to++ = '"';
		*to++ = *c;
	}
	if (!plain)
		*to++ = '"';
	*to = '\0';
}

static bool
parse_factor(parser *p)
{
	char		name[NAME_SIZE];
	bool		identity;
	size_t		start;

	next_character(p);
	start = p->at;
	if (!read_name(p, name, "identity or total"))
		return false;
	identity = strcmp(name, "identity") == 0;
	if (!identity && strcmp(name, "total") != 0)
		return fail(p, PE_WORKLOAD_SYNTAX, start,
					"there is no workload constructor \"%.*s\": identity or total is expected",
					shown_size(name), name);
	append_canonical(p, name);

	if (next_character(p) != '(')
		return use_all_attributes(p, identity, start);
	p->at++;
	next_character(p);
	start = p->at;
	if (!read_name(p, name, "the name of an attribute") || !use_attribute(p, name, identity, start))
		return false;
	if (next_character(p) != ')')
		return fail_at_character(p, "a closing parenthesis");
	p->at++;
	append_canonical(p, "(");
	append_canonical_name(p, name);
	append_canonical(p, ")");
	return true;
}

static bool
parse_product(parser *p)
{
	for (;;)
	{
		if (!parse_factor(p))
			return false;
		p->factors_read++;
		if (next_character(p) == '\0')
			return true;
		if (p->text[p->at] != '*')
			return fail_at_character(p, "the end or \"*\"");
		if (p->whole)
			return fail(p, PE_WORKLOAD_SYNTAX, p->at,
						"a factor of a product must name its attribute");
		p->at++;
		append_canonical(p, " * ");
	}
}

bool
pe_workload_parse(const char *text, const char *const *names, int attributes,
				  pe_workload *workload, pe_workload_error *error)
{
	parser		p = {.text = text, .names = names, .attributes = attributes,
	.workload = workload, .error = error};

	if (attributes > PE_MAX_ATTRIBUTES)
		pe_bug("too many attributes for a workload");
	memset(workload, 0, sizeof(*workload));
	memset(error, 0, sizeof(*error));
	/* each byte gives at most three: a star becomes " * ", a quote in a name is doubled */
	workload->canonical = pe_alloc(3 * strlen(text) + 8, 1);
	if (parse_product(&p))
		return true;
	pe_free(workload->canonical);
	workload->canonical = NULL;
	return false;
}

int32_t
pe_workload_queries(const pe_workload *workload, const pe_domain *domain)
{
	int32_t		queries = 1;

	for (int f = 0; f < workload->factors; f++)
		queries *= pe_attribute_cells(&domain->attribute[workload->factor[f]]);
	return queries;
}

int32_t
pe_workload_coordinate(const pe_workload *workload, const pe_domain *domain,
					   int32_t query, int factor)
{
	for (int f = workload->factors - 1; f > factor; f--)
		query /= pe_attribute_cells(&domain->attribute[workload->factor[f]]);
	return query % pe_attribute_cells(&domain->attribute[workload->factor[factor]]);
}

int32_t
pe_workload_query_of_cell(const pe_workload *workload, const pe_domain *domain, int32_t cell)
{
	int32_t		query = 0;

	for (int f = 0; f < workload->factors; f++)
	{
		int			attribute = workload->factor[f];

		query = query * pe_attribute_cells(&domain->attribute[attribute])
			+ pe_domain_coordinate(domain, cell, attribute);
	}
	return query;
}

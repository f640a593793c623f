/*
 * pattern.c
 *	  Whether a text is as a pattern of LIKE says.  See pattern.h.
 */
#include "domain/pattern.h"

#include <string.h>

static uint64_t
bit(int number)
{
	return (uint64_t) 1 << number;
}

static bool
continues(int byte)
{
	return (byte & 0xC0) == 0x80;
}

static int
folded(int byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

/* Text of any length in front of any character is the same behind it. */
static void
add_any(pe_pattern *p)
{
	uint64_t	gap = p->gap & bit(p->elements);

	p->any |= bit(p->elements);
	p->gap ^= gap;
	p->gap |= gap << 1;
	p->elements++;
}

static void
add_byte(pe_pattern *p, int byte)
{
	p->byte[p->elements++] = (unsigned char) ((p->how & PE_PATTERN_FOLDED) != 0 ? folded(byte) : byte);
}

static pe_pattern_status
read_elements(pe_pattern *p, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
	{
		if (text[i] == '%')
		{
			p->gap |= bit(p->elements);
			continue;
		}
		if (p->elements == PE_PATTERN_MOST)
			return PE_PATTERN_TOO_LONG;
		if (text[i] == '_')
		{
			add_any(p);
			continue;
		}
		if (text[i] == '\\' && ++i == size)
			return PE_PATTERN_ENDS_ESCAPED;
		add_byte(p, (unsigned char) text[i]);
	}
	return PE_PATTERN_OK;
}

/* Any character begins with a byte that continues none, and its state stays in those that continue it. */
static void
make_tables(pe_pattern *p)
{
	bool		characters = (p->how & PE_PATTERN_CHARACTERS) != 0;

	p->stay[0] = p->gap;
	p->stay[1] = p->gap | (characters ? p->any << 1 : 0);
	for (int byte = 0; byte < 256; byte++)
	{
		int			same = (p->how & PE_PATTERN_FOLDED) != 0 ? folded(byte) : byte;

		for (int j = 0; j < p->elements; j++)
			if ((p->any & bit(j)) != 0 ? !(characters && continues(byte)) : p->byte[j] == same)
				p->enter[byte] |= bit(j + 1);
	}
}

pe_pattern_status
pe_pattern_read(pe_pattern *p, const char *text, size_t size, int how)
{
	pe_pattern_status status;

	memset(p, 0, sizeof(*p));
	p->how = how;
	status = read_elements(p, text, size);
	make_tables(p);
	return status;
}

size_t
pe_pattern_write(const pe_pattern *p, char text[PE_PATTERN_TEXT])
{
	size_t		size = 0;

	for (int j = 0; j <= p->elements; j++)
	{
		bool		any = j < p->elements && (p->any & bit(j)) != 0;

		if ((p->gap & bit(j)) != 0)
			text[size++] = '%';
		if (any)
			text[size++] = '_';
		else if (j < p->elements)
		{
			if (strchr("%_\\", p->byte[j]) != NULL && p->byte[j] != '\0')
				text[size++] = '\\';
			text[size++] = (char) p->byte[j];
		}
	}
	text[size] = '\0';
	return size;
}

bool
pe_pattern_matches(const pe_pattern *p, const char *data, size_t size)
{
	uint64_t	states = 1;

	for (size_t i = 0; i < size; i++)
	{
		unsigned char byte = (unsigned char) data[i];

		states = ((states << 1) & p->enter[byte]) | (states & p->stay[continues(byte)]);
	}
	return (states >> p->elements & 1) != 0;
}

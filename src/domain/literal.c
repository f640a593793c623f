/*
 * literal.c
 *	  Literals of declared attributes.  See literal.h.
 */
#include "domain/literal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Texts are compared by so many bytes, and so many of them. */
#define MOST_BYTES 64
#define MOST_TEXTS 10000

/* A text that differs by more than so many of them is no slip. */
#define MOST_EDITS 3

bool
pe_value_resolve(pe_text *t, const pe_literal_source *source, const pe_declared *attribute,
				 const pe_literal *literal, pe_value *value)
{
	value->position = (size_t) literal->position;
	if (source->literal(source->context, attribute, literal, &value->point, &value->canonical, t->error))
		return true;
	t->error->status = PE_TEXT_INVALID;
	t->error->position = literal->position;
	return false;
}

bool
pe_value_read(pe_text *t, const pe_literal_source *source, const pe_declared *attribute, pe_value *value)
{
	pe_literal	literal;
	char	   *text;
	bool		read = pe_text_literal(t, &literal, &text) && pe_value_resolve(t, source, attribute, &literal, value);

	pe_free(text);
	return read;
}

void
pe_value_tell_nearest(pe_text *t, const pe_declared *attribute, const pe_value *value)
{
	char	   *detail = t->error->detail;
	size_t		room = sizeof(t->error->detail);
	int32_t		last = attribute->domain->points - 1;
	int32_t		before = pe_attribute_points_before(attribute->domain, &value->point);

	if (before == 0)
		snprintf(detail, room, "The first edge is %s.", attribute->points[0]);
	else if (before > last)
		snprintf(detail, room, "The last edge is %s.", attribute->points[last]);
	else
		snprintf(detail, room, "The nearest edges are %s and %s.",
				 attribute->points[before - 1], attribute->points[before]);
}

static int
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int
least(int a, int b)
{
	return a < b ? a : b;
}

/* The bytes of a text that are compared. */
static int
compared_size(const char *text)
{
	int			size = 0;

	while (size < MOST_BYTES && text[size] != '\0')
		size++;
	return size;
}

/* How many bytes must be put in, taken out or changed. */
static int
edits(const char *one, int one_size, const char *other, int other_size)
{
	int			row[MOST_BYTES + 1];

	for (int j = 0; j <= other_size; j++)
		row[j] = j;
	for (int i = 1; i <= one_size; i++)
	{
		int			diagonal = row[0];

		row[0] = i;
		for (int j = 1; j <= other_size; j++)
		{
			int			changed = diagonal + (lower(one[i - 1]) != lower(other[j - 1]));

			diagonal = row[j];
			row[j] = least(changed, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[other_size];
}

/* The nearest of some texts, and how many edits lead to it. */
static int32_t
nearest_text(const char *text, char *const *texts, int32_t count, int *fewest)
{
	int			size = compared_size(text);
	int32_t		nearest = -1;

	*fewest = INT_MAX;
	for (int32_t i = 0; i < count && count <= MOST_TEXTS; i++)
	{
		int			distance = edits(text, size, texts[i], compared_size(texts[i]));

		if (distance >= *fewest)
			continue;
		*fewest = distance;
		nearest = i;
	}
	return nearest;
}

int32_t
pe_nearest_text(const char *text, char *const *texts, int32_t count)
{
	int			fewest;

	return nearest_text(text, texts, count, &fewest);
}

int32_t
pe_similar_text(const char *text, char *const *texts, int32_t count)
{
	int			fewest;
	int32_t		nearest = nearest_text(text, texts, count, &fewest);

	return fewest <= MOST_EDITS && 3 * fewest <= compared_size(text) ? nearest : -1;
}

/* Of numbers that ascend the neighbour, which is the last one or the next. */
static int32_t
nearest_level(const pe_declared *attribute, const pe_value *value)
{
	char		text[MOST_BYTES + 1];
	int32_t		before;

	if (attribute->ordered && attribute->domain->key == PE_KEY_INT && value->canonical[0] != '\'')
	{
		before = pe_attribute_points_before(attribute->domain, &value->point);
		return before > 0 ? before - 1 : 0;
	}
	snprintf(text, sizeof(text), "%s", value->canonical + (value->canonical[0] == '\''));
	if (value->canonical[0] == '\'' && strlen(text) > 0 && text[strlen(text) - 1] == '\'')
		text[strlen(text) - 1] = '\0';
	return pe_nearest_text(text, attribute->points, attribute->domain->points);
}

void
pe_value_tell_nearest_level(pe_text *t, const pe_declared *attribute, const pe_value *value)
{
	int32_t		nearest = nearest_level(attribute, value);

	if (nearest >= 0)
		snprintf(t->error->hint, sizeof(t->error->hint), "The nearest level is '%.*s'.",
				 pe_shown_size(attribute->points[nearest]), attribute->points[nearest]);
}

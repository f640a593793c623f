/*
 * fuzz_predicate.c
 *	  Any bytes as the text of a predicate, and as what the accumulator is told.
 *
 * A text is refused with a place in it and a message, or it selects the cells
 * that its canonical text selects, which reads as itself.  Bytes are refused, or
 * they are exactly what pe_selection_write makes of what was read.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/predicate.h"

static pe_point ages[] = {{.i = 0}, {.i = 10}, {.i = 20}, {.i = 50}};
static pe_point sexes[] = {{.b = {"f", 1}}, {.b = {"m", 1}}, {.b = {"x y", 3}}};
static pe_point flags[] = {{.i = 0}, {.i = 1}};
static char *const age_texts[] = {"0", "10", "20", "50"};
static char *const sex_texts[] = {"f", "m", "x y"};
static char *const flag_texts[] = {"f", "t"};

static pe_domain domain = {
	.attributes = 2, .watched = 1,
	.attribute = {
		{.key = PE_KEY_INT, .kind = PE_BINS, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_CELL, .points = 4, .point = ages},
		{.key = PE_KEY_BYTES, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_CELL, .points = 3, .point = sexes},
		{.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP, .points = 2, .point = flags}
	}
};
static const char *const names[] = {"age", "sex", "flag"};
static char *const *const texts[] = {age_texts, sex_texts, flag_texts};

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static bool
find_attribute(void *context, const char *name, pe_declared *found)
{
	(void) context;
	for (int a = 0; a < 3; a++)
		if (strcmp(names[a], name) == 0)
		{
			*found = (pe_declared) {.number = a, .domain = &domain.attribute[a], .ordered = pe_attribute_is_ordered(&domain.attribute[a]), .points = texts[a]};
			return true;
		}
	return false;
}

/* Literals live as long as the call: texts that grow are kept here. */
static char kept[1 << 16];
static size_t kept_size;

/* A string as a literal reads it. */
static const char *
quoted(const char *text)
{
	char	   *start = kept + kept_size;
	char	   *to = start;

	*to++ = '\'';
	for (; *text; text++)
	{
		if (*text == '\'')
			*to++ = '\'';
		*to++ = *text;
	}
	*to++ = '\'';
	*to++ = '\0';
	kept_size += (size_t) (to - start);
	return start;
}

static bool
read_literal(void *context, const pe_declared *attribute, const pe_literal *literal,
			 pe_point *value, const char **canonical, pe_text_error *error)
{
	size_t		size = strlen(literal->text);
	char	   *end = NULL;

	(void) context;
	if (attribute->number == 1 && literal->kind == PE_LITERAL_STRING && kept_size + 3 * size + 4 <= sizeof(kept))
	{
		value->b.data = memcpy(kept + kept_size, literal->text, size + 1);
		value->b.size = (uint32_t) size;
		kept_size += size + 1;
		*canonical = quoted(literal->text);
		return true;
	}
	if (attribute->number == 2 && literal->kind != PE_LITERAL_NUMBER)
	{
		value->i = literal->text[0] == 't';
		*canonical = value->i ? "true" : "false";
		return true;
	}
	if (attribute->number == 0 && literal->kind != PE_LITERAL_BOOLEAN && size < 12 && kept_size + 24 <= sizeof(kept))
	{
		value->i = strtol(literal->text, &end, 10);
		if (*end == '\0')
		{
			*canonical = kept + kept_size;
			kept_size += (size_t) sprintf(kept + kept_size, "%lld", (long long) value->i) + 1;
			return true;
		}
	}
	error->status = PE_TEXT_INVALID;
	error->position = literal->position;
	snprintf(error->message, sizeof(error->message), "no literal");
	return false;
}

/* A number as it stands in the text; NULL if there is no room for it. */
static const char *
kept_text(const char *before, const char *text)
{
	char	   *start = kept + kept_size;

	if (kept_size + strlen(before) + strlen(text) + 1 > sizeof(kept))
		return NULL;
	kept_size += (size_t) sprintf(start, "%s%s", before, text) + 1;
	return start;
}

static bool
refuse_compared(pe_text_error *error, const char *message)
{
	snprintf(error->message, sizeof(error->message), "%s", message);
	return false;
}

/* Any two are one attribute, the lesser name first. */
static bool
find_compared(void *context, const pe_compared_text *given, pe_declared *found, pe_compared_sides *sides, bool *mirrored,
			  pe_text_error *error)
{
	pe_declared one[2];

	*sides = (pe_compared_sides) {.more = ""};
	for (int side = 0; side < 2; side++)
		if (!find_attribute(context, given->name[side], &one[side]))
			return refuse_compared(error, "no attribute");
	*mirrored = one[0].number > one[1].number;
	if (one[0].number == one[1].number || (*mirrored && given->more != NULL))
		return refuse_compared(error, "not compared");
	for (int side = 0; side < 2; side++)
	{
		int			from = *mirrored ? 1 - side : side;

		sides->name[side] = names[one[from].number];
		sides->factor[side] = given->factor[from] != NULL ? kept_text("", given->factor[from]) : NULL;
	}
	if (given->more != NULL && given->more->kind != PE_LITERAL_NUMBER)
		return refuse_compared(error, "not added");
	if (given->more != NULL)
		sides->more = kept_text(given->minus ? " - " : " + ", given->more->text);
	if (sides->more == NULL)
		return refuse_compared(error, "too much is added");
	*found = (pe_declared) {.number = 3, .domain = &domain.attribute[3], .ordered = one[0].number == 0 || one[1].number == 0};
	return true;
}

/* Patterns of "url", an attribute each; there are two at most, so that a text has few of them. */
#define PATTERNS 2
static char patterns[PATTERNS][2 + PE_PATTERN_TEXT];
static int	pattern_count;

static bool
find_matched(void *context, const char *name, const pe_literal *given, bool folded, pe_declared *found,
			 const char **canonical, pe_text_error *error)
{
	pe_pattern	pattern;
	char		text[2 + PE_PATTERN_TEXT] = {folded ? 'i' : 'l'};
	int			at = 0;

	(void) context;
	if (strcmp(name, "url") != 0 || given->kind != PE_LITERAL_STRING)
		return refuse_compared(error, "not matched");
	if (pe_pattern_read(&pattern, given->text, strlen(given->text), PE_PATTERN_CHARACTERS | (folded ? PE_PATTERN_FOLDED : 0)) != PE_PATTERN_OK)
		return refuse_compared(error, "no pattern");
	pe_pattern_write(&pattern, text + 1);
	while (at < pattern_count && strcmp(patterns[at], text) != 0)
		at++;
	if (at == PATTERNS || kept_size + 2 * PE_PATTERN_TEXT + 3 > sizeof(kept))
		return refuse_compared(error, "too many patterns");
	if (at == pattern_count)
	{
		strcpy(patterns[pattern_count++], text);
		pe_free(domain.attribute[4 + at].point);
		pe_free(domain.attribute[4 + at].pattern);
		domain.attribute[4 + at] = pe_attribute_matches(&pattern);
	}
	*canonical = quoted(text + 1);
	*found = (pe_declared) {.number = 4 + at, .domain = &domain.attribute[4 + at]};
	return true;
}

static const pe_literal_source source = {NULL, find_attribute, read_literal, find_compared, find_matched, false};

static void
check_same(const pe_predicate *one, const pe_predicate *other)
{
	int32_t		at[4 + PATTERNS];

	for (at[0] = 0; at[0] < pe_attribute_cells(&domain.attribute[0]); at[0]++)
		for (at[1] = 0; at[1] < pe_attribute_cells(&domain.attribute[1]); at[1]++)
			for (at[2] = 0; at[2] < pe_attribute_cells(&domain.attribute[2]); at[2]++)
				for (at[3] = 0; at[3] < PE_COMPARED_CELLS; at[3]++)
					for (at[4] = 0; at[4] < 3; at[4]++)
						for (at[5] = 0; at[5] < 3; at[5]++)
							demand(pe_predicate_selects(one, at) == pe_predicate_selects(other, at), "two readings select other cells");
}

/* Bytes of a selection that was read: the same bytes again. */
static void
check_selection(const char *bytes, size_t size)
{
	pe_domain	read_domain;
	pe_predicate read_predicate;
	char	   *copy = pe_alloc(size + 1, 1);
	char	   *written;

	memcpy(copy, bytes, size);
	if (pe_selection_read(&read_domain, &read_predicate, copy, size))
	{
		const pe_predicate *given = read_predicate.steps > 0 ? &read_predicate : NULL;
		int32_t		at[PE_MAX_ATTRIBUTES] = {0};

		demand(pe_selection_size(&read_domain, given) == size, "the size of a selection");
		written = pe_alloc(size, 1);
		pe_selection_write(&read_domain, given, written);
		demand(memcmp(written, bytes, size) == 0, "a selection written again");
		pe_free(written);
		if (given != NULL)
			(void) pe_predicate_selects(given, at);
		pe_predicate_free(&read_predicate);
		pe_domain_free(&read_domain);
	}
	pe_free(copy);
}

static void
check_accepted(const pe_predicate *predicate)
{
	pe_predicate again;
	pe_text_error error;
	bool	   *possible = pe_alloc(domain.cells, sizeof(bool));
	bool		some;
	size_t		size = pe_selection_size(&domain, predicate);
	char	   *bytes = pe_alloc(size, 1);

	demand(pe_predicate_parse(predicate->canonical, &source, &again, &error), "canonical text is refused");
	demand(strcmp(again.canonical, predicate->canonical) == 0, "canonical text of canonical text");
	check_same(predicate, &again);
	pe_predicate_free(&again);
	demand(pe_predicate_possible(predicate, &domain, possible, &some), "possible cells");
	pe_selection_write(&domain, predicate, bytes);
	check_selection(bytes, size);
	pe_free(bytes);
	pe_free(possible);
}

static void
check_text(const char *text)
{
	pe_predicate predicate;
	pe_text_error error;

	kept_size = 0;
	pattern_count = 0;
	if (pe_predicate_parse(text, &source, &predicate, &error))
	{
		check_accepted(&predicate);
		pe_predicate_free(&predicate);
		return;
	}
	demand(error.position >= 0 && (size_t) error.position <= strlen(text), "a place outside of the text");
	demand(error.message[0] != '\0', "refused without a message");
}

static void
prepare(void)
{
	pe_pattern	all;

	for (int a = 0; a < 3; a++)
		demand(pe_attribute_prepare(&domain.attribute[a]) == PE_DOMAIN_OK, "the attributes");
	demand(pe_pattern_read(&all, "%", 1, 0) == PE_PATTERN_OK, "a pattern");
	for (int a = 4; a < 4 + PATTERNS; a++)
		domain.attribute[a] = pe_attribute_matches(&all);
	domain.watched = 2 + PATTERNS;
	domain.attribute[3] = pe_attribute_compares(&(pe_comparison) {.how = PE_COMPARE_WHOLE, .left = 2, .right = -3, .more = 7});
	demand(pe_domain_prepare(&domain) == PE_DOMAIN_OK, "the domain");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = malloc(size + 1);

	if (text == NULL)
		pe_bug("out of memory");
	if (domain.cells == 0)
		prepare();
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	check_text(text);
	check_selection(text, size);
	free(text);
	return 0;
}

/*
 * fuzz_roll_up.c
 *	  Any bytes as the text of a roll-up, of attributes with one cell, some and many.
 *
 * A text is refused with a place in it and a message, or its classes are those of an attribute and of its
 * canonical text, which reads as itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "domain/roll_up.h"

static void
demand(bool condition, const char *what)
{
	if (!condition)
		pe_bug(what);
}

static void
check_accepted(const pe_roll_up *r, int32_t cells)
{
	pe_attribute attribute = {.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP, .points = cells};
	pe_roll_up	again;
	pe_text_error error;
	char		name[PE_NAME_SIZE];
	bool		whole;

	demand(pe_attribute_roll_up(&attribute, r->classes, r->class_of), "classes that are no roll-up");
	demand(pe_roll_up_begins(r->canonical, name, &whole) && whole, "a canonical text that could be a name");
	demand(pe_roll_up_parse(r->canonical, cells, &again, &error), "canonical text is refused");
	demand(strcmp(again.canonical, r->canonical) == 0, "canonical text of canonical text");
	demand(again.classes == r->classes && memcmp(again.class_of, r->class_of, (size_t) cells * sizeof(int32_t)) == 0, "other classes");
	demand(pe_roll_up_is_plain(&again) == pe_roll_up_is_plain(r), "whether the cells are plain");
	pe_roll_up_free(&again);
}

static void
check_text(const char *text, int32_t cells)
{
	pe_roll_up	r;
	pe_text_error error;

	if (pe_roll_up_parse(text, cells, &r, &error))
	{
		check_accepted(&r, cells);
		pe_roll_up_free(&r);
		return;
	}
	demand(error.position >= 0 && (size_t) error.position <= strlen(text), "a place outside of the text");
	demand(error.message[0] != '\0', "refused without a message");
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text = malloc(size + 1);
	char		name[PE_NAME_SIZE];
	bool		whole;

	if (text == NULL)
		pe_bug("out of memory");
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	demand(pe_roll_up_begins(text, name, &whole) || !whole, "a whole without a beginning");
	check_text(text, 1);
	check_text(text, 6);
	check_text(text, 300);
	free(text);
	return 0;
}

/*
 * roll_up.c
 *	  Lists of declared cells, and classes of them, as text.  See roll_up.h.
 */
#include "domain/roll_up.h"

#include <string.h>

/* ------------------------------------------------------------------
 * Lists of cells
 * ------------------------------------------------------------------
 */

static bool
take_cell(pe_text *t, const char *name, int32_t cells, int32_t *cell)
{
	size_t		start = (pe_text_next(t), t->at);

	if (pe_text_whole(t, false, cells - 1, "the number of a cell", cell))
		return true;
	if (t->error->status != PE_TEXT_TOO_LARGE)
		return false;
	return pe_text_fail(t, PE_TEXT_INVALID, start, "the cells of attribute \"%.*s\" are 0 to %d",
						pe_shown_size(name), name, cells - 1);
}

bool
pe_cells_take(pe_text *t, const char *name, int32_t cells, int32_t *first, int32_t *last)
{
	size_t		start = (pe_text_next(t), t->at);

	if (!take_cell(t, name, cells, first))
		return false;
	*last = *first;
	if (pe_text_next(t) != '-')
		return true;
	t->at++;
	if (!take_cell(t, name, cells, last))
		return false;
	return *first <= *last ||
		pe_text_fail(t, PE_TEXT_INVALID, start, "a range goes from its first cell to its last");
}

static void
write_range(pe_text *t, int32_t first, int32_t last)
{
	if (t->size > 0 && pe_is_digit(t->canonical[t->size - 1]))
		pe_text_write(t, ", ");
	if (first == last)
		pe_text_writef(t, "%d", first);
	else
		pe_text_writef(t, "%d-%d", first, last);
}

void
pe_cells_write(pe_text *t, const uint8_t *in, int32_t cells)
{
	for (int32_t first = 0; first < cells; first++)
	{
		int32_t		end = first;

		while (end < cells && in[end] != 0)
			end++;
		if (end > first)
			write_range(t, first, end - 1);
		first = end;
	}
}

/* ------------------------------------------------------------------
 * Classes
 * ------------------------------------------------------------------
 */

/* Takes "attribute CELLS (". */
static bool
take_head(pe_text *t, char name[PE_NAME_SIZE])
{
	return pe_text_name(t, name, "an attribute") &&
		(pe_text_takes(t, "cells") || pe_text_unexpected(t, "CELLS")) &&
		pe_text_take(t, '(', "an opening parenthesis");
}

bool
pe_roll_up_begins(const char *text, char name[PE_NAME_SIZE], bool *whole)
{
	pe_text_error error;
	pe_text		t = {.what = "roll-up", .text = text, .error = &error};

	*whole = false;
	if (!take_head(&t, name))
		return false;
	t.at += strspn(text + t.at, "0123456789-,; \t\r\n");
	*whole = text[t.at] == ')' && (t.at++, pe_text_next(&t) == '\0');
	return true;
}

/* Puts a range into a class. */
static bool
add_range(pe_text *t, pe_roll_up *r, size_t position, int32_t first, int32_t last)
{
	for (int32_t cell = first; cell <= last; cell++)
	{
		if (r->class_of[cell] >= 0)
			return pe_text_fail(t, PE_TEXT_INVALID, position,
								r->class_of[cell] == r->classes ? "cell %d stands twice in a class"
								: "cell %d is in two classes", cell);
		r->class_of[cell] = r->classes;
	}
	return true;
}

static bool
take_class(pe_text *t, const char *name, pe_roll_up *r)
{
	do
	{
		size_t		position = (pe_text_next(t), t->at);
		int32_t		first;
		int32_t		last;

		if (!pe_cells_take(t, name, r->cells, &first, &last) || !add_range(t, r, position, first, last))
			return false;
	} while (pe_text_next(t) == ',' && ++t->at);
	r->classes++;
	return true;
}

static bool
check_covered(pe_text *t, const char *name, const pe_roll_up *r)
{
	for (int32_t cell = 0; cell < r->cells; cell++)
		if (r->class_of[cell] < 0)
			return pe_text_fail(t, PE_TEXT_INVALID, t->at,
								"cell %d of attribute \"%.*s\" is in no class", cell, pe_shown_size(name), name);
	return true;
}

static bool
take_classes(pe_text *t, char name[PE_NAME_SIZE], pe_roll_up *r)
{
	if (!take_head(t, name))
		return false;
	do
	{
		pe_poll();
		if (!take_class(t, name, r))
			return false;
	} while (pe_text_next(t) == ';' && ++t->at);
	return pe_text_take(t, ')', "a comma, a semicolon or a closing parenthesis") &&
		(pe_text_next(t) == '\0' || pe_text_unexpected(t, "the end")) && check_covered(t, name, r);
}

/* The cells of each class, all at once: a class knows the range that it is in. */
static void
write_lists(pe_roll_up *r)
{
	pe_text    *list = pe_alloc((size_t) r->classes, sizeof(*list));
	int32_t    *first = pe_alloc((size_t) r->classes, sizeof(*first));
	int32_t    *end = pe_alloc((size_t) r->classes, sizeof(*end));

	for (int32_t cell = 0; cell < r->cells; cell++)
	{
		int32_t		class = r->class_of[cell];

		if (end[class] != cell || end[class] == 0)
		{
			if (end[class] > 0)
				write_range(&list[class], first[class], end[class] - 1);
			first[class] = cell;
		}
		end[class] = cell + 1;
	}
	r->list = pe_alloc((size_t) r->classes, sizeof(*r->list));
	for (int32_t class = 0; class < r->classes; class++)
	{
		write_range(&list[class], first[class], end[class] - 1);
		r->list[class] = list[class].canonical;
	}
	pe_free(end);
	pe_free(first);
	pe_free(list);
}

static void
write_canonical(pe_text *t, const char *name, pe_roll_up *r)
{
	pe_text_write_name(t, name);
	pe_text_write(t, " CELLS (");
	for (int32_t class = 0; class < r->classes; class++)
	{
		pe_text_write(t, class > 0 ? "; " : "");
		pe_text_write(t, r->list[class]);
	}
	pe_text_write(t, ")");
	r->canonical = t->canonical;
}

bool
pe_roll_up_parse(const char *text, int32_t cells, pe_roll_up *roll_up, pe_text_error *error)
{
	pe_text		t = {.what = "roll-up", .text = text, .error = error};
	char		name[PE_NAME_SIZE];

	memset(error, 0, sizeof(*error));
	*roll_up = (pe_roll_up) {.cells = cells, .class_of = pe_alloc((size_t) cells, sizeof(int32_t))};
	memset(roll_up->class_of, 0xff, (size_t) cells * sizeof(int32_t));
	if (!take_classes(&t, name, roll_up))
	{
		pe_roll_up_free(roll_up);
		return false;
	}
	write_lists(roll_up);
	write_canonical(&t, name, roll_up);
	return true;
}

bool
pe_roll_up_is_plain(const pe_roll_up *roll_up)
{
	for (int32_t cell = 0; cell < roll_up->cells; cell++)
		if (roll_up->class_of[cell] != cell)
			return false;
	return true;
}

void
pe_roll_up_free(pe_roll_up *roll_up)
{
	for (int32_t class = 0; roll_up->list != NULL && class < roll_up->classes; class++)
		pe_free(roll_up->list[class]);
	pe_free(roll_up->list);
	pe_free(roll_up->class_of);
	pe_free(roll_up->canonical);
	memset(roll_up, 0, sizeof(*roll_up));
}

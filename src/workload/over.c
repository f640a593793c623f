/*
 * over.c
 *	  Queries of a series of periods.  See over.h.
 */
#include "workload/over.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------
 * The language
 * ------------------------------------------------------------------
 */

/* (w) */
static bool
read_width(pe_text *t, int32_t *width)
{
	size_t		start;

	if (!pe_text_take(t, '(', "\"(\" and the number of periods"))
		return false;
	start = (pe_text_next(t), t->at);
	if (!pe_is_digit(t->text[start]) || !pe_text_number(t))
		return pe_text_unexpected(t, "a whole number of periods");
	if (memchr(t->text + start, '.', t->at - start) != NULL || memchr(t->text + start, 'e', t->at - start) != NULL ||
		memchr(t->text + start, 'E', t->at - start) != NULL || t->at - start > 9)
		return pe_text_fail(t, PE_TEXT_INVALID, start,
							"the periods of a window are a whole number from 1 to %d", PE_MAX_PERIODS);
	*width = (int32_t) strtol(t->text + start, NULL, 10);
	if (*width < 1 || *width > PE_MAX_PERIODS)
		return pe_text_fail(t, PE_TEXT_INVALID, start,
							"the periods of a window are a whole number from 1 to %d", PE_MAX_PERIODS);
	return pe_text_take(t, ')', "\")\"");
}

/* totals, periods, windows(w) */
static bool
read_kind(pe_text *t, pe_over_term *term)
{
	if (pe_text_takes(t, "totals"))
		pe_text_write(t, "totals");
	else if (pe_text_takes(t, "periods"))
	{
		term->width = 1;
		pe_text_write(t, "periods");
	}
	else if (!pe_text_takes(t, "windows"))
		return pe_text_unexpected(t, "totals, periods or windows(w)");
	else if (!read_width(t, &term->width))
		return false;
	else
		pe_text_writef(t, "windows(%d)", term->width);
	return true;
}

static bool
read_term(pe_text *t, pe_over *over)
{
	pe_over_term *term = &over->term[over->terms];
	char		next = pe_text_next(t);

	if (over->terms == PE_MAX_OVER)
		return pe_text_fail(t, PE_TEXT_TOO_LARGE, t->at, "more than %d terms", PE_MAX_OVER);
	*term = (pe_over_term) {1, 0};
	over->terms++;
	if (pe_is_digit(next) || next == '.')
	{
		if (!pe_weight_read(t, &term->weight))
			return false;
		pe_weight_write(t, term->weight);
	}
	return read_kind(t, term);
}

static bool
read_over(pe_text *t, pe_over *over)
{
	while (read_term(t, over))
	{
		if (pe_text_next(t) == '\0')
			return true;
		if (!pe_text_take(t, '+', "\"+\" or the end"))
			return false;
		pe_text_write(t, " + ");
	}
	return false;
}

bool
pe_over_parse(const char *text, pe_over *over, pe_text_error *error)
{
	pe_text		t = {.what = "over", .text = text, .error = error};

	memset(over, 0, sizeof(*over));
	memset(error, 0, sizeof(*error));
	if (read_over(&t, over))
	{
		over->canonical = t.canonical;
		return true;
	}
	pe_free(t.canonical);
	return false;
}

void
pe_over_free(pe_over *over)
{
	pe_free(over->canonical);
	over->canonical = NULL;
}

/* ------------------------------------------------------------------
 * Queries
 * ------------------------------------------------------------------
 */

int32_t
pe_over_queries(const pe_over *over, int32_t periods)
{
	if (periods < 1 || periods > PE_MAX_PERIODS)
		pe_bug("a series of no period, or of too many");
	return over->terms * periods;
}

int32_t
pe_over_first(const pe_over *over, int32_t periods, int32_t query)
{
	int32_t		width = over->term[query / periods].width;
	int32_t		period = query % periods;

	return width == 0 || width > period ? 0 : period - width + 1;
}

static void
write_ranges(pe_text *t, const pe_over *over, int32_t periods, int term)
{
	const char *separator = "; ";

	pe_weight_write(t, over->term[term].weight);
	pe_text_writef(t, "ranges(%d", periods);
	for (int32_t period = 0; period < periods; period++)
	{
		int32_t		first = pe_over_first(over, periods, term * periods + period);

		pe_text_writef(t, "%s%d-%d", separator, periods - 1 - period, periods - 1 - first);
		separator = ", ";
	}
	pe_text_write(t, ")");
}

void
pe_over_workload(const pe_over *over, int32_t periods, pe_workload *workload)
{
	pe_text		t = {.what = "over"};
	pe_text_error error;
	bool		read;

	for (int term = 0; term < over->terms; term++)
	{
		pe_text_write(&t, term > 0 ? " + " : "");
		write_ranges(&t, over, periods, term);
	}
	read = pe_workload_parse(t.canonical, NULL, workload, &error);
	pe_free(t.canonical);
	if (!read)
		pe_bug("queries of periods that are no workload");
}

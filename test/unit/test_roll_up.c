/*
 * test_roll_up.c
 *	  Roll-ups as text: which classes they make, their canonical text, and what they are refused for.
 *
 * Random cases come from a fixed seed, so failures repeat; with PG_EPSILON_QUICK
 * set there are far fewer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "domain/roll_up.h"
#include "numbers.h"
#include "shim.h"

#define cases(count) fewer(count, 100)

/* Parses a copy in memory of exactly its size. */
static bool
parse(const char *text, int32_t cells, pe_roll_up *r, pe_text_error *error)
{
	char	   *copy = strdup(text);
	bool		parsed = pe_roll_up_parse(copy, cells, r, error);

	free(copy);
	if (!parsed)
	{
		assert_null(r->class_of);
		assert_null(r->list);
		assert_null(r->canonical);
	}
	return parsed;
}

static void
parse_ok(const char *text, int32_t cells, pe_roll_up *r)
{
	pe_text_error error;

	if (!parse(text, cells, r, &error))
		fail_msg("%s: %s at %d", text, error.message, error.position);
}

static void
check_canonical(const char *text, int32_t cells, const char *canonical)
{
	pe_roll_up	r;

	parse_ok(text, cells, &r);
	assert_string_equal(r.canonical, canonical);
	assert_false(pe_roll_up_is_plain(&r));
	pe_roll_up_free(&r);
}

static void
test_canonical(void **state)
{
	(void) state;
	check_canonical("day CELLS (0-30; 31-58; 59-89, 100;90-99)", 101, "day CELLS (0-30; 31-58; 59-89, 100; 90-99)");
	check_canonical(" DAY\tcells(3,1,0-0;2)", 4, "day CELLS (0-1, 3; 2)");
	check_canonical("\"Odd \"\"x\" Cells ( 1 - 2 ; 0 )", 3, "\"Odd \"\"x\" CELLS (1-2; 0)");
	check_canonical("cells cells (1; 0)", 2, "cells CELLS (1; 0)");
	check_canonical("x CELLS (007, 9, 8; 0-6)", 10, "x CELLS (7-9; 0-6)");
	check_canonical("x CELLS (0, 2, 4; 1, 3)", 5, "x CELLS (0, 2, 4; 1, 3)");
	check_canonical("x CELLS (4-4, 2-3, 0-1)", 5, "x CELLS (0-4)");
}

static void
check_plain(const char *text, int32_t cells, bool plain)
{
	pe_roll_up	r;

	parse_ok(text, cells, &r);
	assert_int_equal(pe_roll_up_is_plain(&r), plain);
	pe_roll_up_free(&r);
}

static void
test_plain(void **state)
{
	(void) state;
	check_plain("x CELLS (0; 1; 2)", 3, true);
	check_plain("x CELLS (0)", 1, true);
	check_plain("x CELLS (0; 2; 1)", 3, false);
	check_plain("x CELLS (0; 1-2)", 3, false);
	check_plain("x CELLS (0-1; 2)", 3, false);
}

/* ---- any map, written in any way ---- */

static void
shuffle(int32_t *number, int32_t count)
{
	for (int32_t i = count - 1; i > 0; i--)
	{
		int32_t		other = random_below(i + 1);
		int32_t		kept = number[i];

		number[i] = number[other];
		number[other] = kept;
	}
}

/* The cells of a class in any order, neighbours sometimes as ranges. */
static void
write_class(char *to, const int32_t *class_of, int32_t cells, int32_t class)
{
	int32_t		cell[64];
	int32_t		count = 0;

	for (int32_t c = 0; c < cells; c++)
		if (class_of[c] == class)
			cell[count++] = c;
	if (random_below(2))
		shuffle(cell, count);
	for (int32_t i = 0; i < count; i++)
	{
		int32_t		first = i;

		while (i + 1 < count && cell[i + 1] == cell[i] + 1 && random_below(4) > 0)
			i++;
		to += sprintf(to, first == i ? "%s%d" : "%s%d-%d", first > 0 ? "," : "", cell[first], cell[i]);
	}
}

static void
check_lists(const pe_roll_up *r)
{
	for (int32_t class = 0; class < r->classes; class++)
	{
		int32_t		next = 0;
		const char *at = r->list[class];

		/* what it says ascends, leaves a gap between ranges, and is the class */
		for (char *end; *at; at = *end == ',' ? end + 2 : end)
		{
			int32_t		first = (int32_t) strtol(at, &end, 10);
			int32_t		last = *end == '-' ? (int32_t) strtol(end + 1, &end, 10) : first;

			assert_true(first >= next && last >= first && last < r->cells);
			for (; next < first; next++)
				assert_int_not_equal(r->class_of[next], class);
			for (; next <= last; next++)
				assert_int_equal(r->class_of[next], class);
			if (next < r->cells)
				assert_int_not_equal(r->class_of[next], class);
		}
		for (; next < r->cells; next++)
			assert_int_not_equal(r->class_of[next], class);
	}
}

static void
test_random(void **state)
{
	(void) state;
	for (int round = 0; round < cases(20000); round++)
	{
		int32_t		cells = 1 + random_below(40);
		int32_t		classes = 1 + random_below(random_below(2) ? cells : cells < 4 ? cells : 4);
		int32_t		class_of[64];
		char		text[1024] = "x CELLS (";
		pe_roll_up	r;
		pe_roll_up	again;
		pe_attribute attribute = {.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP, .points = cells};

		for (int32_t c = 0; c < cells; c++)
			class_of[c] = c < classes ? c : random_below(2) && c > 0 ? class_of[c - 1] : random_below(classes);
		if (random_below(2))
			shuffle(class_of, cells);
		for (int32_t class = 0; class < classes; class++)
		{
			strcat(text, class > 0 ? ";" : "");
			write_class(text + strlen(text), class_of, cells, class);
		}
		strcat(text, ")");
		parse_ok(text, cells, &r);
		assert_int_equal(r.classes, classes);
		assert_memory_equal(r.class_of, class_of, (size_t) cells * sizeof(int32_t));
		assert_true(pe_attribute_roll_up(&attribute, r.classes, r.class_of));
		check_lists(&r);
		parse_ok(r.canonical, cells, &again);
		assert_string_equal(again.canonical, r.canonical);
		assert_memory_equal(again.class_of, class_of, (size_t) cells * sizeof(int32_t));
		pe_roll_up_free(&again);
		pe_roll_up_free(&r);
	}
}

/* Every cell of an attribute by itself, from the last on. */
static void
test_large(void **state)
{
	int32_t		cells = 100000;
	char	   *text = malloc(10 * (size_t) cells);
	char	   *to = text + sprintf(text, "x cells (");
	pe_roll_up	r;

	(void) state;
	for (int32_t cell = cells - 1; cell >= 0; cell--)
		to += sprintf(to, cell > 0 ? "%d;" : "%d)", cell);
	parse_ok(text, cells, &r);
	assert_int_equal(r.classes, cells);
	for (int32_t cell = 0; cell < cells; cell++)
		assert_int_equal(r.class_of[cell], cells - 1 - cell);
	assert_string_equal(r.list[0], "99999");
	pe_roll_up_free(&r);
	free(text);
}

/* ---- errors ---- */

static void
check_error(const char *text, pe_text_status status, int position, const char *message)
{
	pe_roll_up	r;
	pe_text_error error;

	if (parse(text, 5, &r, &error))
		fail_msg("%s: accepted", text);
	if (error.status != status || error.position != position || strstr(error.message, message) == NULL)
		fail_msg("%s: %d at %d, %s", text, error.status, error.position, error.message);
}

static void
test_errors(void **state)
{
	(void) state;
	check_error("", PE_TEXT_SYNTAX, 0, "roll-up ends where an attribute is expected");
	check_error("x", PE_TEXT_SYNTAX, 1, "CELLS");
	check_error("x CELL (0-4)", PE_TEXT_SYNTAX, 2, "CELLS");
	check_error("x CELLS", PE_TEXT_SYNTAX, 7, "an opening parenthesis");
	check_error("x CELLS ()", PE_TEXT_SYNTAX, 9, "the number of a cell");
	check_error("x CELLS (0-4", PE_TEXT_SYNTAX, 12, "a comma, a semicolon or a closing parenthesis");
	check_error("x CELLS (0-4) x", PE_TEXT_SYNTAX, 14, "the end");
	check_error("x CELLS (0-4;)", PE_TEXT_SYNTAX, 13, "the number of a cell");
	check_error("x CELLS (0-4;;)", PE_TEXT_SYNTAX, 13, "the number of a cell");
	check_error("x CELLS (0-1,;2-4)", PE_TEXT_SYNTAX, 13, "the number of a cell");
	check_error("x CELLS (0 - 1 - 2)", PE_TEXT_SYNTAX, 15, "a comma, a semicolon or a closing parenthesis");
	check_error("x CELLS (0-4.0)", PE_TEXT_SYNTAX, 12, "the end of a whole number");
	check_error("x CELLS (0-5)", PE_TEXT_INVALID, 11, "the cells of attribute \"x\" are 0 to 4");
	check_error("x CELLS (5; 0-4)", PE_TEXT_INVALID, 9, "the cells of attribute \"x\" are 0 to 4");
	check_error("x CELLS (0-4, 99999999999)", PE_TEXT_INVALID, 14, "the cells of attribute \"x\" are 0 to 4");
	check_error("x CELLS (0, 4-1)", PE_TEXT_INVALID, 12, "a range goes from its first cell to its last");
	check_error("x CELLS (0-2; 2-4)", PE_TEXT_INVALID, 14, "cell 2 is in two classes");
	check_error("x CELLS (0-2, 1; 3-4)", PE_TEXT_INVALID, 14, "cell 1 stands twice in a class");
	check_error("x CELLS (0-2; 4)", PE_TEXT_INVALID, 16, "cell 3 of attribute \"x\" is in no class");
	check_error("x CELLS (1-4)", PE_TEXT_INVALID, 13, "cell 0 of attribute");
	check_error("x CELLS (0; 1-3)", PE_TEXT_INVALID, 16, "cell 4 of attribute");
}

static void
check_begins(const char *text, const char *expected, bool all)
{
	char		name[PE_NAME_SIZE];
	bool		whole;
	bool		begins = pe_roll_up_begins(text, name, &whole);

	assert_int_equal(begins, expected != NULL);
	assert_int_equal(whole, all);
	if (begins)
		assert_string_equal(name, expected);
}

/* A canonical text is a roll-up whatever columns there are; what only begins like one may be a name. */
static void
test_begins(void **state)
{
	(void) state;
	check_begins("day CELLS (0-30; 31)", "day", true);
	check_begins(" \"a b\"\tcells( 0 ) ", "a b", true);
	check_begins("blood cells (10^9/L)", "blood", false);
	check_begins("blood cells (1)x", "blood", false);
	check_begins("blood cells (1", "blood", false);
	check_begins("white blood cells (1)", NULL, false);
	check_begins("cells (1)", NULL, false);
	check_begins("day", NULL, false);
	check_begins("day cells", NULL, false);
	check_begins("day cellsx (1)", NULL, false);
	check_begins("\"day", NULL, false);
	check_begins("", NULL, false);
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20250101);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_canonical),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_begins),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}

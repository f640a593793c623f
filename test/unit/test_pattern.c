/*
 * test_pattern.c
 *	  Patterns of LIKE against a matcher that goes back, their canonical texts, and their attributes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "domain/domain.h"
#include "numbers.h"
#include "shim.h"

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20261130);
	return 0;
}

static bool
continues(char byte)
{
	return ((unsigned char) byte & 0xC0) == 0x80;
}

static char
lower(char c, int how)
{
	return (how & PE_PATTERN_FOLDED) != 0 && c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

/* As SQL defines it, by trying all that a % may stand for. */
static bool
matches(const char *p, const char *p_end, const char *t, const char *t_end, int how)
{
	if (p == p_end)
		return t == t_end;
	if (*p == '%')
		return matches(p + 1, p_end, t, t_end, how) || (t < t_end && matches(p, p_end, t + 1, t_end, how));
	if (t == t_end)
		return false;
	if (*p == '_')
	{
		t++;
		while ((how & PE_PATTERN_CHARACTERS) != 0 && t < t_end && continues(*t))
			t++;
		return matches(p + 1, p_end, t, t_end, how);
	}
	p += *p == '\\';
	return lower(*p, how) == lower(*t, how) && matches(p + 1, p_end, t + 1, t_end, how);
}

static const char *const pieces[] = {"a", "b", "A", "%", "_", "\\%", "\\_", "\\\\", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "%", "_"};
static const char *const letters[] = {"a", "b", "A", "%", "_", "\\", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "a"};

static size_t
random_text(char *to, const char *const *from, int kinds, int most)
{
	int			count = (int) between(0, most);

	to[0] = '\0';
	for (int i = 0; i < count; i++)
		strcat(to, from[between(0, kinds - 1)]);
	return strlen(to);
}

static void
it_matches_as_sql_does(void **state)
{
	int			found = 0;

	(void) state;
	for (int n = 0; n < fewer(300000, 100); n++)
	{
		char		pattern[64];
		char		text[64];
		char		canonical[PE_PATTERN_TEXT];
		int			how = (int) between(0, 3);
		size_t		size = random_text(pattern, pieces, 13, 7);
		size_t		length = random_text(text, letters, 10, 7);
		bool		expected = matches(pattern, pattern + size, text, text + length, how);
		pe_pattern	p;
		pe_pattern	back;

		assert_int_equal(pe_pattern_read(&p, pattern, size, how), PE_PATTERN_OK);
		assert_int_equal(pe_pattern_matches(&p, text, length), expected);
		size = pe_pattern_write(&p, canonical);
		assert_int_equal(size, strlen(canonical));
		assert_int_equal(pe_pattern_read(&back, canonical, size, how), PE_PATTERN_OK);
		assert_memory_equal(&p, &back, sizeof(p));
		found += expected;
	}
	assert_true(found > fewer(10000, 100));
}

/* Exhaustive: all patterns and texts of two letters up to a length. */
static void
all_short_ones_match(void **state)
{
	(void) state;
	for (int p_code = 0; p_code < 5 * 5 * 5 * 5 * 5; p_code++)
		for (int t_code = 0; t_code < 3 * 3 * 3 * 3 * 3; t_code++)
		{
			char		pattern[6];
			char		text[6];
			size_t		size = 0;
			size_t		length = 0;
			pe_pattern	p;

			for (int c = p_code; c > 0; c /= 5)
				pattern[size++] = "?a%_b"[c % 5];
			for (int c = t_code; c > 0; c /= 3)
				text[length++] = "?ab"[c % 3];
			assert_int_equal(pe_pattern_read(&p, pattern, size, 0), PE_PATTERN_OK);
			assert_int_equal(pe_pattern_matches(&p, text, length), matches(pattern, pattern + size, text, text + length, 0));
		}
}

static void
assert_canonical(const char *pattern, const char *expected)
{
	char		text[PE_PATTERN_TEXT];
	pe_pattern	p;

	assert_int_equal(pe_pattern_read(&p, pattern, strlen(pattern), PE_PATTERN_CHARACTERS), PE_PATTERN_OK);
	pe_pattern_write(&p, text);
	assert_string_equal(text, expected);
}

static void
one_pattern_has_one_text(void **state)
{
	(void) state;
	assert_canonical("", "");
	assert_canonical("%%%", "%");
	assert_canonical("%_%_a", "__%a");
	assert_canonical("a%%b", "a%b");
	assert_canonical("\\a\\%\\_\\\\", "a\\%\\_\\\\");
	assert_canonical("%\xC3\xA4%", "%\xC3\xA4%");
}

static void
limits_are_refused(void **state)
{
	char		pattern[2 * PE_PATTERN_MOST + 10];
	pe_pattern	p;

	(void) state;
	memset(pattern, '%', sizeof(pattern));
	memset(pattern + 1, 'a', PE_PATTERN_MOST);
	assert_int_equal(pe_pattern_read(&p, pattern, sizeof(pattern), 0), PE_PATTERN_OK);
	assert_int_equal(p.elements, PE_PATTERN_MOST);
	assert_true(pe_pattern_matches(&p, pattern, sizeof(pattern)));
	assert_true(pe_pattern_matches(&p, pattern + 1, PE_PATTERN_MOST));
	assert_false(pe_pattern_matches(&p, pattern + 1, PE_PATTERN_MOST - 1));
	pattern[PE_PATTERN_MOST + 1] = 'a';
	assert_int_equal(pe_pattern_read(&p, pattern, sizeof(pattern), 0), PE_PATTERN_TOO_LONG);
	pattern[PE_PATTERN_MOST + 1] = '_';
	assert_int_equal(pe_pattern_read(&p, pattern, sizeof(pattern), 0), PE_PATTERN_TOO_LONG);
	assert_int_equal(pe_pattern_read(&p, "a\\", 2, 0), PE_PATTERN_ENDS_ESCAPED);
	assert_int_equal(pe_pattern_read(&p, "a\\\\", 3, 0), PE_PATTERN_OK);
}

/* ---- an attribute ---- */

static void
its_cells_are_those_of_one_level(void **state)
{
	pe_pattern	p;
	pe_attribute a;

	(void) state;
	pe_pattern_read(&p, "%b_", 3, PE_PATTERN_CHARACTERS);
	a = pe_attribute_matches(&p);
	assert_int_equal(pe_attribute_cells(&a), 3);
	assert_int_equal(pe_attribute_ordered_cells(&a), 1);
	assert_int_equal(pe_cell_of_bytes(&a, "abc", 3), 0);
	assert_int_equal(pe_cell_of_bytes(&a, "ab\xC3\xA4", 4), 0);
	assert_int_equal(pe_cell_of_bytes(&a, "ab", 2), 1);
	assert_int_equal(pe_cell_of_bytes(&a, "", 0), 1);
	assert_int_equal(pe_cell_of_null(&a), 2);
	assert_true(pe_attribute_is_other(&a, 1) && pe_attribute_is_null(&a, 2));
	pe_free(a.pattern);
	pe_free(a.point);
}

static void
it_is_written_and_read(void **state)
{
	pe_pattern	p;
	pe_domain	domain = {.watched = 1};
	pe_domain	back;
	size_t		size;
	char	   *bytes;

	(void) state;
	pe_pattern_read(&p, "%b_", 3, PE_PATTERN_FOLDED);
	domain.attribute[0] = pe_attribute_matches(&p);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	size = pe_domain_size(&domain);
	bytes = pe_alloc(size, 1);
	pe_domain_write(&domain, bytes);
	assert_int_equal(pe_domain_read(&back, bytes, size), PE_DOMAIN_OK);
	assert_memory_equal(back.attribute[0].pattern, domain.attribute[0].pattern, sizeof(pe_pattern));
	assert_int_equal(pe_cell_of_bytes(&back.attribute[0], "aBc", 3), 0);
	pe_domain_free(&back);
	for (size_t less = 1; less <= size; less++)
	{
		assert_int_not_equal(pe_domain_read(&back, bytes, size - less), PE_DOMAIN_OK);
		pe_domain_free(&back);
	}
	for (size_t at = 6; at < size; at++)
	{
		char		was = bytes[at];

		bytes[at] = (char) 0xFF;
		(void) pe_domain_read(&back, bytes, size);
		pe_domain_free(&back);
		bytes[at] = was;
	}
	bytes[size - 4] = '4';		/* how it is read */
	assert_int_equal(pe_domain_read(&back, bytes, size), PE_DOMAIN_MALFORMED);
	pe_domain_free(&back);
	bytes[size - 4] = '2';
	bytes[size - 1] = '\\';
	assert_int_equal(pe_domain_read(&back, bytes, size), PE_DOMAIN_MALFORMED);
	pe_domain_free(&back);
	pe_free(bytes);
	pe_free(domain.attribute[0].pattern);
	pe_free(domain.attribute[0].point);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_matches_as_sql_does),
		cmocka_unit_test(all_short_ones_match),
		cmocka_unit_test(one_pattern_has_one_text),
		cmocka_unit_test(limits_are_refused),
		cmocka_unit_test(its_cells_are_those_of_one_level),
		cmocka_unit_test(it_is_written_and_read)
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}

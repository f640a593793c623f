/*
 * test_workload.c
 *	  The language of workloads and the numbering of queries.
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

#include "core/workload.h"
#include "shim.h"

#define lengthof(array) ((int) (sizeof(array) / sizeof((array)[0])))

/* ---- helpers ---- */

static const char *const names[] = {
	"age", "sex", "identity", "total", "Mixed", "we\"ird", "two words", "\"", "1st", "\xc3\xa4", "a$1", "_x"
};

enum
{
	AGE, SEX, IDENTITY, TOTAL, MIXED, WEIRD, WORDS, QUOTE, FIRST, UMLAUT, DOLLAR, UNDERSCORE, NAMES
};

static uint64_t
random_word(void)
{
	uint64_t	word;

	pe_random_bytes(&word, sizeof(word));
	return word;
}

static int
random_below(int n)
{
	return (int) (random_word() % (uint64_t) n);
}

static int
cases(int count)
{
	return getenv("PG_EPSILON_QUICK") != NULL ? count / 100 + 1 : count;
}

/* Parses a copy in memory of exactly its size. */
static bool
parse(const char *text, const char *const *over, int attributes, pe_workload *workload, pe_workload_error *error)
{
	size_t		size = strlen(text) + 1;
	char	   *copy = malloc(size);
	bool		good;

	memcpy(copy, text, size);
	good = pe_workload_parse(copy, over, attributes, workload, error);
	free(copy);
	return good;
}

static bool
same_factors(const pe_workload *a, const pe_workload *b)
{
	return a->factors == b->factors &&
		memcmp(a->factor, b->factor, (size_t) a->factors * sizeof(a->factor[0])) == 0;
}

/* The canonical text reads as the same workload and as itself. */
static void
check_idempotent(const pe_workload *workload, const char *const *over, int attributes)
{
	pe_workload again;
	pe_workload_error error;

	assert_true(parse(workload->canonical, over, attributes, &again, &error));
	assert_string_equal(again.canonical, workload->canonical);
	assert_true(same_factors(&again, workload));
	pe_free(again.canonical);
}

/* factors: attribute numbers, then -1 */
static void
check_over(int attributes, const char *text, const char *canonical, const int *factors)
{
	pe_workload workload;
	pe_workload_error error;
	int			count = 0;

	if (!parse(text, names, attributes, &workload, &error))
		fail_msg("%s: %s at %d", text, error.message, error.position);
	assert_string_equal(workload.canonical, canonical);
	for (; factors[count] >= 0; count++)
		assert_int_equal(workload.factor[count], factors[count]);
	assert_int_equal(workload.factors, count);
	assert_int_equal(error.status, PE_WORKLOAD_OK);
	check_idempotent(&workload, names, attributes);
	pe_free(workload.canonical);
}

#define check(text, canonical, ...) check_over(NAMES, text, canonical, (const int[]) {__VA_ARGS__, -1})

static void
refuse_over(int attributes, const char *text, pe_workload_status status, int position, const char *message)
{
	pe_workload workload;
	pe_workload_error error;

	if (parse(text, names, attributes, &workload, &error))
		fail_msg("%s was accepted", text);
	assert_string_equal(error.message, message);
	assert_int_equal(error.position, position);
	assert_int_equal(error.status, status);
	assert_null(workload.canonical);
}

#define refuse(text, position, message) refuse_over(NAMES, text, PE_WORKLOAD_SYNTAX, position, message)

/* ---- what the language has ---- */

static void
test_grammar(void **state)
{
	(void) state;
	check("identity(age)", "identity(age)", AGE);
	check("total(age)", "total(age)", -1);
	check("identity(age) * identity(sex)", "identity(age) * identity(sex)", AGE, SEX);
	check("identity(sex) * identity(age)", "identity(sex) * identity(age)", SEX, AGE);
	check("identity(sex) * total(age)", "identity(sex) * total(age)", SEX);
	check("total(sex) * identity(age)", "total(sex) * identity(age)", AGE);
	check("total(sex) * total(age)", "total(sex) * total(age)", -1);
	check("identity(_x) * total(age) * identity(sex)", "identity(_x) * total(age) * identity(sex)", UNDERSCORE, SEX);
	check("total", "total", -1);
	check_over(3, "identity", "identity", (const int[]) {0, 1, 2, -1});
	check_over(1, "identity", "identity", (const int[]) {0, -1});
	check_over(0, "identity", "identity", (const int[]) {-1});
	check_over(0, "total", "total", (const int[]) {-1});
	/* names that are words of the language */
	check("identity(identity)", "identity(identity)", IDENTITY);
	check("total(total) * identity(identity)", "total(total) * identity(identity)", IDENTITY);
}

static void
test_white_space(void **state)
{
	(void) state;
	check("  identity  (  age  )  ", "identity(age)", AGE);
	check("\t\n\v\f\ridentity\n(\tage\r)\v*\fidentity ( sex )\n", "identity(age) * identity(sex)", AGE, SEX);
	check("identity(age)*identity(sex)*total(_x)", "identity(age) * identity(sex) * total(_x)", AGE, SEX);
	check(" total ", "total", -1);
	/* inside quotes it belongs to the name */
	check("identity( \"two words\" )", "identity(\"two words\")", WORDS);
}

static void
test_names(void **state)
{
	(void) state;
	check("IDENTITY(AGE)", "identity(age)", AGE);
	check("Total(Sex) * iDENTITY(aGe)", "total(sex) * identity(age)", AGE);
	check("identity(\"age\")", "identity(age)", AGE);
	check("identity(\"Mixed\")", "identity(\"Mixed\")", MIXED);
	check("identity(\"we\"\"ird\")", "identity(\"we\"\"ird\")", WEIRD);
	check("identity(\"\"\"\")", "identity(\"\"\"\")", QUOTE);
	check("identity(\"1st\")", "identity(\"1st\")", FIRST);
	check("total(\"a$1\")", "total(a$1)", -1);
	check("identity(A$1)", "identity(a$1)", DOLLAR);
	check("identity(_X)", "identity(_x)", UNDERSCORE);
	check("identity(\xc3\xa4)", "identity(\xc3\xa4)", UMLAUT);
	check("identity(\"\xc3\xa4\")", "identity(\xc3\xa4)", UMLAUT);
	/* a quoted word of the language is still that word, and only in lower case */
	check("\"identity\"(age)", "identity(age)", AGE);
	check("\"total\"", "total", -1);
	refuse("\"Identity\"(age)", 0, "there is no workload constructor \"Identity\": identity or total is expected");
	refuse_over(NAMES, "identity(mixed)", PE_WORKLOAD_NO_ATTRIBUTE, 9,
				"attribute \"mixed\" of the workload is not among the attributes asked for");
	refuse_over(NAMES, "identity(Mixed)", PE_WORKLOAD_NO_ATTRIBUTE, 9,
				"attribute \"mixed\" of the workload is not among the attributes asked for");
	/* letters outside of ASCII are not folded */
	refuse_over(NAMES, "identity(\xc3\x84)", PE_WORKLOAD_NO_ATTRIBUTE, 9,
				"attribute \"\xc3\x84\" of the workload is not among the attributes asked for");
}

/* ---- what it has not ---- */

static void
test_syntax_errors(void **state)
{
	(void) state;
	refuse("", 0, "workload ends where identity or total is expected");
	refuse(" \t\n ", 4, "workload ends where identity or total is expected");
	refuse("identity(age) *", 15, "workload ends where identity or total is expected");
	refuse("identity(age) * ", 16, "workload ends where identity or total is expected");
	refuse("identity(", 9, "workload ends where the name of an attribute is expected");
	refuse("identity(age", 12, "workload ends where a closing parenthesis is expected");
	refuse("identity(age  ", 14, "workload ends where a closing parenthesis is expected");

	refuse("identity(age) identity(sex)", 14, "syntax error in workload at \"i\": the end or \"*\" is expected");
	refuse("identity(age))", 13, "syntax error in workload at \")\": the end or \"*\" is expected");
	refuse("identity(age) + total(sex)", 14, "syntax error in workload at \"+\": the end or \"*\" is expected");
	refuse("total 5", 6, "syntax error in workload at \"5\": the end or \"*\" is expected");
	refuse("total;", 5, "syntax error in workload at \";\": the end or \"*\" is expected");
	refuse("total \"age\"", 6, "syntax error in workload at \"\"\": the end or \"*\" is expected");
	refuse("identity(age) \xc3\xa4", 14, "syntax error in workload at \"\xc3\xa4\": the end or \"*\" is expected");
	refuse("identity(age)\xe2\x82\xac", 13, "syntax error in workload at \"\xe2\x82\xac\": the end or \"*\" is expected");
	refuse("total \xf0\x9f\x90\x98!", 6, "syntax error in workload at \"\xf0\x9f\x90\x98\": the end or \"*\" is expected");

	refuse("identity age", 9, "syntax error in workload at \"a\": the end or \"*\" is expected");
	refuse("identity()", 9, "syntax error in workload at \")\": the name of an attribute is expected");
	refuse("identity(())", 9, "syntax error in workload at \"(\": the name of an attribute is expected");
	refuse("identity(1)", 9, "syntax error in workload at \"1\": the name of an attribute is expected");
	refuse("identity(1st)", 9, "syntax error in workload at \"1\": the name of an attribute is expected");
	refuse("identity($1)", 9, "syntax error in workload at \"$\": the name of an attribute is expected");
	refuse("identity(age, sex)", 12, "syntax error in workload at \",\": a closing parenthesis is expected");
	refuse("identity(age * sex)", 13, "syntax error in workload at \"*\": a closing parenthesis is expected");
	refuse("identity(age sex)", 13, "syntax error in workload at \"s\": a closing parenthesis is expected");
	refuse("42", 0, "syntax error in workload at \"4\": identity or total is expected");
	refuse("2 * identity(age)", 0, "syntax error in workload at \"2\": identity or total is expected");
	refuse(" (identity(age))", 1, "syntax error in workload at \"(\": identity or total is expected");
	refuse("* identity(age)", 0, "syntax error in workload at \"*\": identity or total is expected");
	refuse("identity(age) ** identity(sex)", 15, "syntax error in workload at \"*\": identity or total is expected");
	refuse("+", 0, "syntax error in workload at \"+\": identity or total is expected");
	refuse("'total'", 0, "syntax error in workload at \"'\": identity or total is expected");

	refuse("prefix(age)", 0, "there is no workload constructor \"prefix\": identity or total is expected");
	refuse("total(sex) * Foo(age)", 13, "there is no workload constructor \"foo\": identity or total is expected");
	refuse("identit", 0, "there is no workload constructor \"identit\": identity or total is expected");
	refuse("identity2", 0, "there is no workload constructor \"identity2\": identity or total is expected");
	refuse("\xc3\xa4", 0, "there is no workload constructor \"\xc3\xa4\": identity or total is expected");
	/* a space that only Unicode knows is part of a name */
	refuse("total\xc2\xa0", 0, "there is no workload constructor \"total\xc2\xa0\": identity or total is expected");

	refuse("identity * total(sex)", 9, "a factor of a product must name its attribute");
	refuse("identity * total", 9, "a factor of a product must name its attribute");
	refuse("total*identity", 5, "a factor of a product must name its attribute");
	refuse("total(sex) * identity", 13, "a factor of a product must name its attribute");
	refuse("total(sex) *  total ", 14, "a factor of a product must name its attribute");

	refuse("identity(\"age)", 9, "quoted name in workload has no end");
	refuse("identity(\"age\"\")", 9, "quoted name in workload has no end");
	refuse("identity( \"", 10, "quoted name in workload has no end");
	refuse("\"", 0, "quoted name in workload has no end");
	refuse("\"\"\"", 0, "quoted name in workload has no end");
	refuse("identity(\"\")", 9, "quoted name in workload is empty");
	refuse("total(sex) * \"\"(age)", 13, "quoted name in workload is empty");
	refuse("\"\"", 0, "quoted name in workload is empty");
}

static void
test_attribute_errors(void **state)
{
	const char *const twice[] = {"a", "a"};
	pe_workload workload;
	pe_workload_error error;

	(void) state;
	refuse_over(NAMES, "identity( nobody)", PE_WORKLOAD_NO_ATTRIBUTE, 10,
				"attribute \"nobody\" of the workload is not among the attributes asked for");
	refuse_over(NAMES, "identity(\"AGE\")", PE_WORKLOAD_NO_ATTRIBUTE, 9,
				"attribute \"AGE\" of the workload is not among the attributes asked for");
	refuse_over(1, "identity(sex)", PE_WORKLOAD_NO_ATTRIBUTE, 9,
				"attribute \"sex\" of the workload is not among the attributes asked for");
	refuse_over(0, "total(age)", PE_WORKLOAD_NO_ATTRIBUTE, 6,
				"attribute \"age\" of the workload is not among the attributes asked for");
	refuse_over(NAMES, "identity(age) * total(nobody)", PE_WORKLOAD_NO_ATTRIBUTE, 22,
				"attribute \"nobody\" of the workload is not among the attributes asked for");
	refuse_over(NAMES, "identity(age) * identity(age)", PE_WORKLOAD_REPEATED, 25,
				"attribute \"age\" stands twice in a product of the workload");
	refuse_over(NAMES, "total(age) * identity( \"age\")", PE_WORKLOAD_REPEATED, 23,
				"attribute \"age\" stands twice in a product of the workload");
	refuse_over(NAMES, "total(age) * total(sex) * total(AGE)", PE_WORKLOAD_REPEATED, 32,
				"attribute \"age\" stands twice in a product of the workload");
	assert_false(parse("identity", twice, 2, &workload, &error));
	assert_int_equal(error.status, PE_WORKLOAD_REPEATED);
}

/* "identity(" + name of so many letters + ")" */
static void
long_text(char *text, const char *quote, int letters, const char *letter)
{
	strcpy(text, "identity(");
	strcat(text, quote);
	for (int i = 0; i < letters; i++)
		strcat(text, letter);
	strcat(text, quote);
	strcat(text, ")");
}

static void
test_long_names(void **state)
{
	char		text[2048];
	char		message[256];
	char		longest[256] = {0};
	const char *const over[] = {longest};
	pe_workload workload;
	pe_workload_error error;

	(void) state;
	for (int quoted = 0; quoted < 2; quoted++)
	{
		const char *quote = quoted ? "\"" : "";

		memset(longest, 'x', 255);
		long_text(text, quote, 255, "x");
		assert_true(parse(text, over, 1, &workload, &error));
		check_idempotent(&workload, over, 1);
		pe_free(workload.canonical);
		long_text(text, quote, 256, "x");
		refuse(text, 9, "name in workload is too long");
		long_text(text, quote, 1000, "x");
		refuse(text, 9, "name in workload is too long");
		refuse(text + 9, 0, "name in workload is too long");
	}

	/* the longest canonical form: every byte of the name doubled */
	memset(longest, '"', 255);
	long_text(text, "\"", 255, "\"\"");
	assert_true(parse(text, over, 1, &workload, &error));
	assert_string_equal(workload.canonical, text);
	pe_free(workload.canonical);

	/* a message shows 64 bytes, and no part of a character */
	for (int before = 0; before < 4; before++)
	{
		static const char *const letter[] = {"x", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\x98"};

		for (int size = 1; size <= 4; size++)
		{
			int			shown = (64 - before) / size;

			for (int constructor = 0; constructor < 2; constructor++)
			{
				strcpy(text, constructor ? "" : "identity(");
				strcpy(message, constructor ? "there is no workload constructor \"" : "attribute \"");
				for (int i = 0; i < before; i++)
				{
					strcat(text, "y");
					strcat(message, "y");
				}
				for (int i = 0; i < 240 / size; i++)
					strcat(text, letter[size - 1]);
				for (int i = 0; i < shown; i++)
					strcat(message, letter[size - 1]);
				strcat(message, constructor ? "\": identity or total is expected"
					   : "\" of the workload is not among the attributes asked for");
				refuse_over(NAMES, text, constructor ? PE_WORKLOAD_SYNTAX : PE_WORKLOAD_NO_ATTRIBUTE,
							constructor ? 0 : 9, message);
			}
		}
	}
}

static void
parse_too_many(void *arg)
{
	const char *const none[PE_MAX_ATTRIBUTES + 1] = {0};
	pe_workload workload;
	pe_workload_error error;

	(void) arg;
	(void) pe_workload_parse("total", none, PE_MAX_ATTRIBUTES + 1, &workload, &error);
}

static void
test_most_attributes(void **state)
{
	char		name[PE_MAX_ATTRIBUTES][16];
	const char *over[PE_MAX_ATTRIBUTES];
	char		text[1024] = "";
	pe_workload workload;
	pe_workload_error error;

	(void) state;
	for (int i = 0; i < PE_MAX_ATTRIBUTES; i++)
	{
		snprintf(name[i], sizeof(name[i]), "n%d", i);
		over[i] = name[i];
	}
	for (int i = PE_MAX_ATTRIBUTES - 1; i >= 0; i--)
	{
		strcat(text, "identity(");
		strcat(text, name[i]);
		strcat(text, i > 0 ? ")*" : ")");
	}
	assert_true(parse(text, over, PE_MAX_ATTRIBUTES, &workload, &error));
	assert_int_equal(workload.factors, PE_MAX_ATTRIBUTES);
	for (int i = 0; i < PE_MAX_ATTRIBUTES; i++)
		assert_int_equal(workload.factor[i], PE_MAX_ATTRIBUTES - 1 - i);
	check_idempotent(&workload, over, PE_MAX_ATTRIBUTES);
	pe_free(workload.canonical);
	assert_true(parse("identity", over, PE_MAX_ATTRIBUTES, &workload, &error));
	assert_int_equal(workload.factors, PE_MAX_ATTRIBUTES);
	pe_free(workload.canonical);
	assert_true(pe_test_is_bug(parse_too_many, NULL));
}

/* ---- random texts ---- */

/* Fails with a position within the text, or means what its canonical text means. */
static bool
check_any(const char *text, int attributes)
{
	pe_workload workload;
	pe_workload_error error;

	memset(&error, 0x55, sizeof(error));
	if (parse(text, names, attributes, &workload, &error))
	{
		assert_in_range(workload.factors, 0, attributes);
		assert_int_equal(error.status, PE_WORKLOAD_OK);
		check_idempotent(&workload, names, attributes);
		pe_free(workload.canonical);
		return true;
	}
	assert_int_not_equal(error.status, PE_WORKLOAD_OK);
	assert_true(error.position >= 0 && (size_t) error.position <= strlen(text));
	assert_true(error.message[0] != '\0' && strlen(error.message) < sizeof(error.message) - 1);
	assert_null(workload.canonical);
	return false;
}

static void
test_fuzz_tokens(void **state)
{
	static const char *const token[] = {
		"identity", "total", "identity(", "total(", "(", ")", "*", " * ", "age", "sex", "\"age\"", "\"", "\"\"",
		" ", "\t", "+", "1", "$", "_", "AGE", "\"Mixed\"", "\"we\"\"ird\"", "\xc3\xa4", "\x80", ",", "identity(age)",
		"total(sex)", "*identity(_x)"
	};
	int			accepted = 0;

	(void) state;
	for (int round = 0; round < cases(1000000); round++)
	{
		char		text[256] = "";
		size_t		size = 0;

		for (int i = random_below(8); i > 0; i--)
		{
			const char *next = token[random_below(lengthof(token))];

			memcpy(text + size, next, strlen(next) + 1);
			size += strlen(next);
		}
		accepted += check_any(text, 1 + random_below(NAMES));
	}
	assert_true(accepted > 0);
}

static void
test_fuzz_bytes(void **state)
{
	(void) state;
	for (int round = 0; round < cases(100000); round++)
	{
		char		text[64];
		int			size = random_below(40);

		pe_random_bytes(text, (size_t) size);
		text[size] = '\0';
		(void) check_any(text, NAMES);

		/* and one byte off a good text */
		strcpy(text, "identity(age) * total(\"we\"\"ird\")");
		text[random_below((int) strlen(text))] = (char) random_word();
		(void) check_any(text, NAMES);
	}
}

static void
add_space(char *text)
{
	static const char *const space[] = {"", "", " ", "\t", " \n", "\r\v\f"};

	strcat(text, space[random_below(lengthof(space))]);
}

/* A word of the language, or the plain form of a name, in any mixture of cases. */
static void
add_folded(char *text, const char *word)
{
	char	   *to = text + strlen(text);

	for (; *word; word++)
		*to++ = *word >= 'a' && *word <= 'z' && random_below(2) ? (char) (*word - 'a' + 'A') : *word;
	*to = '\0';
}

static void
add_quoted(char *text, const char *name)
{
	char	   *to = text + strlen(text);

	*to++ = '"';
	for (; *name; name++)
	{
		if (*name == '"')
			*to++ = '"';
		*to++ = *name;
	}
	*to++ = '"';
	*to = '\0';
}

/* Texts derived from the grammar, with what they mean known beforehand. */
static void
test_generated(void **state)
{
	(void) state;
	for (int round = 0; round < cases(50000); round++)
	{
		char		text[1024] = "";
		char		canonical[1024] = "";
		int			order[NAMES];
		int			factor[NAMES];
		int			factors = 0;
		int			count = 1 + random_below(NAMES);
		pe_workload workload;
		pe_workload_error error;

		for (int i = 0; i < NAMES; i++)
		{
			int			j = random_below(i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		for (int i = 0; i < count; i++)
		{
			bool		identity = random_below(2);
			int			name = order[i];
			bool		plain = name != MIXED && name != WEIRD && name != WORDS && name != QUOTE && name != FIRST;

			if (identity)
				factor[factors++] = name;
			if (i > 0)
			{
				add_space(text);
				strcat(text, "*");
				strcat(canonical, " * ");
			}
			add_space(text);
			add_folded(text, identity ? "identity" : "total");
			strcat(canonical, identity ? "identity(" : "total(");
			add_space(text);
			strcat(text, "(");
			add_space(text);
			if (plain)
				strcat(canonical, names[name]);
			else
				add_quoted(canonical, names[name]);
			if (plain && random_below(2))
				add_folded(text, names[name]);
			else
				add_quoted(text, names[name]);
			add_space(text);
			strcat(text, ")");
			strcat(canonical, ")");
			add_space(text);
		}
		assert_true(parse(text, names, NAMES, &workload, &error));
		assert_string_equal(workload.canonical, canonical);
		assert_int_equal(workload.factors, factors);
		for (int i = 0; i < factors; i++)
			assert_int_equal(workload.factor[i], factor[i]);
		pe_free(workload.canonical);

		/* any beginning of it */
		text[random_below((int) strlen(text))] = '\0';
		(void) check_any(text, NAMES);
	}
}

/* ---- queries ---- */

static void
make_domain(pe_domain *domain, int attributes, const int *levels)
{
	memset(domain, 0, sizeof(*domain));
	domain->attributes = attributes;
	for (int i = 0; i < attributes; i++)
	{
		pe_attribute *a = &domain->attribute[i];

		/* of the cells of an attribute one may be for 'other', one for NULL: they are queries too */
		bool		other = levels[i] > 1 && random_below(2);
		bool		null = levels[i] > 1 + other && random_below(2);

		a->key = PE_KEY_INT;
		a->kind = PE_LEVELS;
		a->outside = other ? PE_OUTSIDE_OTHER : PE_OUTSIDE_DROP;
		a->nulls = null ? PE_NULLS_CELL : PE_NULLS_DROP;
		a->points = levels[i] - other - null;
		a->point = pe_alloc((size_t) a->points, sizeof(pe_point));
		for (int32_t j = 0; j < a->points; j++)
			a->point[j].i = j;
		assert_int_equal(pe_attribute_prepare(a), PE_DOMAIN_OK);
		assert_int_equal(pe_attribute_cells(a), levels[i]);
	}
	assert_int_equal(pe_domain_prepare(domain), PE_DOMAIN_OK);
}

static void
test_order_of_the_text(void **state)
{
	pe_domain	domain;
	pe_workload workload;
	pe_workload_error error;

	(void) state;
	make_domain(&domain, 2, (int[]) {3, 2});	/* age, sex: cell = 2 age + sex */

	assert_true(parse("identity(sex) * identity(age)", names, 2, &workload, &error));
	assert_int_equal(pe_workload_queries(&workload, &domain), 6);
	for (int sex = 0; sex < 2; sex++)
		for (int age = 0; age < 3; age++)
		{
			int			query = 3 * sex + age;

			assert_int_equal(pe_workload_coordinate(&workload, &domain, query, 0), sex);
			assert_int_equal(pe_workload_coordinate(&workload, &domain, query, 1), age);
			assert_int_equal(pe_workload_query_of_cell(&workload, &domain, 2 * age + sex), query);
		}
	pe_free(workload.canonical);

	assert_true(parse("identity", names, 2, &workload, &error));
	assert_int_equal(pe_workload_queries(&workload, &domain), 6);
	for (int cell = 0; cell < 6; cell++)
		assert_int_equal(pe_workload_query_of_cell(&workload, &domain, cell), cell);
	pe_free(workload.canonical);

	assert_true(parse("total(age) * identity(sex)", names, 2, &workload, &error));
	assert_int_equal(pe_workload_queries(&workload, &domain), 2);
	for (int cell = 0; cell < 6; cell++)
		assert_int_equal(pe_workload_query_of_cell(&workload, &domain, cell), cell % 2);
	pe_free(workload.canonical);

	assert_true(parse("total", names, 2, &workload, &error));
	assert_int_equal(pe_workload_queries(&workload, &domain), 1);
	for (int cell = 0; cell < 6; cell++)
		assert_int_equal(pe_workload_query_of_cell(&workload, &domain, cell), 0);
	pe_free(workload.canonical);
	pe_domain_free(&domain);
}

static void
test_queries_brute_force(void **state)
{
	(void) state;
	for (int round = 0; round < cases(1000); round++)
	{
		pe_domain	domain;
		pe_workload workload;
		pe_workload_error error;
		int			attributes = 1 + random_below(4);
		int			levels[4] = {0};
		int			order[4] = {0};
		int			at[4] = {0};
		int			used[4] = {0};
		int			uses = 0;
		int			count = 1 + random_below(attributes);
		int			queries = 1;
		char		text[256] = "";

		for (int i = 0; i < attributes; i++)
		{
			int			j = random_below(i + 1);

			levels[i] = 1 + random_below(4);
			order[i] = order[j];
			order[j] = i;
		}
		make_domain(&domain, attributes, levels);
		for (int i = 0; i < count; i++)
		{
			bool		identity = random_below(3) > 0;

			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s(%s)", i > 0 ? " * " : "",
					 identity ? "identity" : "total", names[order[i]]);
			if (identity)
			{
				used[uses++] = order[i];
				queries *= levels[order[i]];
			}
		}
		assert_true(parse(text, names, attributes, &workload, &error));
		assert_int_equal(pe_workload_queries(&workload, &domain), queries);

		/* cells by an odometer; the query of a cell is found by looking at every query */
		for (int32_t cell = 0; cell < domain.cells; cell++)
		{
			int			found = 0;

			for (int32_t query = 0; query < queries; query++)
			{
				bool		match = true;

				for (int f = 0; f < uses; f++)
					match = match && pe_workload_coordinate(&workload, &domain, query, f) == at[used[f]];
				if (match)
				{
					found++;
					assert_int_equal(pe_workload_query_of_cell(&workload, &domain, cell), query);
				}
			}
			assert_int_equal(found, 1);
			for (int i = attributes - 1; i >= 0 && ++at[i] == levels[i]; i--)
				at[i] = 0;
		}

		/* the last factor fastest */
		memset(at, 0, sizeof(at));
		for (int32_t query = 0; query < queries; query++)
		{
			for (int f = 0; f < uses; f++)
				assert_int_equal(pe_workload_coordinate(&workload, &domain, query, f), at[f]);
			for (int f = uses - 1; f >= 0 && ++at[f] == levels[used[f]]; f--)
				at[f] = 0;
		}
		pe_free(workload.canonical);
		pe_domain_free(&domain);
	}
}

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20240301);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grammar),
		cmocka_unit_test(test_white_space),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_syntax_errors),
		cmocka_unit_test(test_attribute_errors),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_most_attributes),
		cmocka_unit_test(test_fuzz_tokens),
		cmocka_unit_test(test_fuzz_bytes),
		cmocka_unit_test(test_generated),
		cmocka_unit_test(test_order_of_the_text),
		cmocka_unit_test(test_queries_brute_force),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}

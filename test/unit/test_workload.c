/*
 * test_workload.c
 *	  The language of workloads and the numbering of queries.
 *
 * Every workload that is accepted here is written out row by row and compared
 * with rows that were made without the code under test, and so is what its
 * canonical text means.  Random cases come from a fixed seed, so failures
 * repeat; with PG_EPSILON_QUICK set there are far fewer.
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
#include <sys/resource.h>

#include "workload/workload.h"
#include "numbers.h"
#include "shim.h"

/* ---- shapes ---- */

/* age has one cell beyond the ordered ones */
static const pe_shape couple = {2, {"age", "sex"}, {4, 2}, {3, 0}};

static const pe_shape people = {
	12,
	{"age", "sex", "identity", "total", "Mixed", "we\"ird", "two words", "\"", "1st", "\xc3\xa4", "a$1", "_x"},
	{5, 2, 1, 1, 2, 1, 3, 1, 1, 2, 1, 1},
	{4, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0}
};

static const pe_shape nobody = {0};

/* ---- helpers ---- */

static bool
one_in(int n)
{
	return random_below(n) == 0;
}

#define cases(count) fewer(count, 100)

/*
 * The canonical text over any attributes is its own, and that of whatever attributes
 * the text fits: known is that over some, or NULL.
 */
static void
check_spelling(const char *text, const char *known)
{
	pe_text_error error;
	char	   *canonical = pe_workload_canonical(text, &error);
	char	   *again;

	if (canonical == NULL)
	{
		if (known != NULL)
			fail_msg("%.500s fits attributes, and over any: %s at %d", text, error.message, error.position);
		assert_true(error.status != PE_TEXT_OK && error.message[0] != '\0');
		assert_in_range(error.position, 0, strlen(text));
		return;
	}
	assert_int_equal(error.status, PE_TEXT_OK);
	if (known != NULL)
		assert_string_equal(canonical, known);
	again = pe_workload_canonical(canonical, &error);
	assert_non_null(again);
	assert_string_equal(again, canonical);
	pe_free(again);
	pe_free(canonical);
}

/* Parses a copy in memory of exactly its size. */
static bool
parse(const char *text, const pe_shape *shape, pe_workload *workload, pe_text_error *error)
{
	size_t		size = strlen(text) + 1;
	char	   *copy = malloc(size);
	bool		good;

	memcpy(copy, text, size);
	good = pe_workload_parse(copy, shape, workload, error);
	check_spelling(copy, good ? workload->canonical : NULL);
	free(copy);
	return good;
}

static void
must_parse(const char *text, const pe_shape *shape, pe_workload *workload)
{
	pe_text_error error;

	if (!parse(text, shape, workload, &error))
		fail_msg("%.500s: %s at %d", text, error.message, error.position);
	assert_int_equal(error.status, PE_TEXT_OK);
	assert_string_equal(error.message, "");
}

/* The cell of one attribute within a cell of the product: row-major, the last fastest. */
static int32_t
coordinate(const pe_shape *shape, int32_t cell, int attribute)
{
	for (int a = shape->attributes - 1; a > attribute; a--)
		cell /= shape->cells[a];
	return cell % shape->cells[attribute];
}

/* W written out, one weight per row. */
typedef struct rows
{
	int			count;
	int			cells;
	int32_t    *entry;
	double	   *weight;
} rows;

static rows
make_rows(int count, int cells)
{
	rows		made = {count, cells, calloc((size_t) count * cells + 1, sizeof(int32_t)),
		calloc((size_t) count + 1, sizeof(double))};

	return made;
}

static void
free_rows(rows *r)
{
	free(r->entry);
	free(r->weight);
}

/* The product of the weights that the factors of a term give to a cell. */
static int32_t
term_entry(const pe_workload *workload, const pe_term *term, const int32_t *factor_query, int32_t cell)
{
	int32_t		entry = 1;

	for (int f = 0; f < term->factors; f++)
	{
		const pe_factor *factor = &term->factor[f];
		int32_t		at = factor->attribute == PE_ALL_CELLS ? cell : coordinate(&workload->shape, cell, factor->attribute);

		entry *= pe_factor_entry(factor, factor_query[f], at);
	}
	return entry;
}

static void
write_term(const pe_workload *workload, const pe_term *term, rows *made)
{
	for (int64_t local = 0; local < term->queries; local++)
	{
		int32_t		factor_query[PE_MAX_ATTRIBUTES];
		int64_t		number = pe_term_query(term, local, factor_query);

		assert_in_range(number, 0, made->count - 1);
		if (local == 0)
			assert_int_equal(number, term->first);
		/* no number twice; as there are as many as rows, none is left out */
		assert_true(made->weight[number] == 0);
		made->weight[number] = term->weight;
		for (int32_t cell = 0; cell < made->cells; cell++)
			made->entry[number * made->cells + cell] = term_entry(workload, term, factor_query, cell);
	}
}

/* Where a query stands leads back to its number. */
static void
check_index(const pe_workload *workload)
{
	int32_t    *term = malloc(workload->queries * sizeof(int32_t));
	int32_t    *local = malloc(workload->queries * sizeof(int32_t));
	int32_t		factor_query[PE_MAX_ATTRIBUTES];

	pe_workload_index(workload, term, local);
	for (int32_t q = 0; q < workload->queries; q++)
	{
		assert_in_range(term[q], 0, workload->terms - 1);
		assert_int_equal(pe_term_query(&workload->term[term[q]], local[q], factor_query), q);
	}
	free(term);
	free(local);
}

static rows
rows_of(const pe_workload *workload)
{
	rows		made = make_rows(workload->queries, pe_shape_cells(&workload->shape));
	int64_t		queries = 0;

	for (int32_t t = 0; t < workload->terms; t++)
	{
		write_term(workload, &workload->term[t], &made);
		queries += workload->term[t].queries;
	}
	assert_int_equal(queries, workload->queries);
	check_index(workload);
	return made;
}

static void
assert_same_rows(const rows *a, const rows *b, const char *text)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->cells, b->cells);
	for (int q = 0; q < a->count; q++)
	{
		if (memcmp(a->entry + (size_t) q * a->cells, b->entry + (size_t) q * b->cells, a->cells * sizeof(int32_t)) != 0)
			fail_msg("row %d of %s", q, text);
		if (a->weight[q] < b->weight[q] * (1 - 1e-12) || a->weight[q] > b->weight[q] * (1 + 1e-12))
			fail_msg("weight %.17g, not %.17g, of row %d of %s", a->weight[q], b->weight[q], q, text);
	}
}

/* The canonical text reads as the same rows and as itself. */
static void
check_canonical(const pe_workload *workload, const pe_shape *shape, const rows *expected)
{
	pe_workload again;
	rows		actual;

	must_parse(workload->canonical, shape, &again);
	assert_string_equal(again.canonical, workload->canonical);
	assert_int_equal(again.terms, workload->terms);
	actual = rows_of(&again);
	assert_same_rows(&actual, expected, workload->canonical);
	free_rows(&actual);
	pe_workload_free(&again);
}

static void
check_rows(const char *text, const pe_shape *shape, const char *canonical, const rows *expected)
{
	pe_workload workload;
	rows		actual;

	must_parse(text, shape, &workload);
	assert_string_equal(workload.canonical, canonical);
	actual = rows_of(&workload);
	assert_same_rows(&actual, expected, text);
	check_canonical(&workload, shape, &actual);
	free_rows(&actual);
	pe_workload_free(&workload);
	assert_null(workload.canonical);
	assert_null(workload.chunks);
}

/* written: the rows as digits, with a space between rows; weights: one per row, or NULL for all 1 */
static void
check_weighted(const char *text, const pe_shape *shape, const char *canonical, const char *written, const double *weights)
{
	int			cells = (int) strcspn(written, " ");
	rows		expected = make_rows(((int) strlen(written) + 1) / (cells + 1), cells);

	for (int q = 0; q < expected.count; q++)
	{
		expected.weight[q] = weights == NULL ? 1 : weights[q];
		for (int c = 0; c < cells; c++)
			expected.entry[q * cells + c] = written[q * (cells + 1) + c] - '0';
	}
	check_rows(text, shape, canonical, &expected);
	free_rows(&expected);
}

/* over couple: cells are (age, sex) = 00 01 10 11 20 21 30 31 */
static void
check(const char *text, const char *canonical, const char *written)
{
	check_weighted(text, &couple, canonical, written, NULL);
}

/* over sizes that the text gives */
static void
check_sizes(const char *text, const char *canonical, const char *written)
{
	check_weighted(text, NULL, canonical, written, NULL);
}

static void
accept(const char *text, const pe_shape *shape, const char *canonical)
{
	pe_workload workload;
	pe_workload again;

	must_parse(text, shape, &workload);
	assert_string_equal(workload.canonical, canonical);
	must_parse(canonical, shape, &again);
	assert_string_equal(again.canonical, canonical);
	pe_workload_free(&again);
	pe_workload_free(&workload);
}

static void
refuse_over(const pe_shape *shape, const char *text, pe_text_status status, int position, const char *message)
{
	pe_workload workload;
	pe_text_error error;

	if (parse(text, shape, &workload, &error))
		fail_msg("%.500s was accepted", text);
	if (message != NULL)
		assert_string_equal(error.message, message);
	else
		assert_true(error.message[0] != '\0');
	if (error.position != position || error.status != status)
		fail_msg("%.500s: status %d at %d, not %d at %d: %s", text, error.status, error.position, status, position,
				 error.message);
	assert_true(strlen(error.message) < sizeof(error.message) - 1);
	assert_null(workload.canonical);
	assert_null(workload.chunks);
	assert_null(workload.term);
}

#define syntax(text, position, message) refuse_over(&people, text, PE_TEXT_SYNTAX, position, message)
#define invalid(text, position, message) refuse_over(&people, text, PE_TEXT_INVALID, position, message)
#define too_large(text, position, message) refuse_over(&people, text, PE_TEXT_TOO_LARGE, position, message)
#define unknown(text, position, message) refuse_over(&people, text, PE_TEXT_NO_ATTRIBUTE, position, message)

#define CONSTRUCTORS \
	"identity, total, prefix, all_range, width_range, ranges, marginals or matrix is expected"

/* ---- what the language has ---- */

static void
test_constructors(void **state)
{
	(void) state;
	check("identity(sex)", "identity(sex)", "10101010 01010101");
	check("identity(age)", "identity(age)", "11000000 00110000 00001100 00000011");
	check("total(age)", "total(age)", "11111111");
	/* the fourth cell of age has no order */
	check("prefix(age)", "prefix(age)", "11000000 11110000 11111100");
	check("all_range(age)", "all_range(age)", "11000000 11110000 11111100 00110000 00111100 00001100");
	check("width_range(age, 1)", "width_range(age, 1)", "11000000 00110000 00001100");
	check("width_range(age,2)", "width_range(age, 2)", "11110000 00111100");
	check("width_range(age, 3)", "width_range(age, 3)", "11111100");
	check("ranges(age; 1-2,0-0,0-2,1-2)", "ranges(age; 1-2, 0-0, 0-2, 1-2)", "00111100 11000000 11111100 00111100");
	check("matrix(age; {{1,0,2,3},{0,0,0,9}})", "matrix(age; {{1,0,2,3},{0,0,0,9}})", "11002233 00000099");
	check("matrix(sex;{{1,2}})", "matrix(sex; {{1,2}})", "12121212");
	check("marginals(0)", "marginals(0)", "11111111");
	check("marginals(1)", "marginals(1)", "11000000 00110000 00001100 00000011 10101010 01010101");
}

static void
test_bare(void **state)
{
	static const char all[] = "10000000 01000000 00100000 00010000 00001000 00000100 00000010 00000001";

	(void) state;
	check("identity", "identity", all);
	check("total", "total", "11111111");
	check("prefix", "prefix", "11000000 11110000 11111100");
	check("all_range", "all_range", "11000000 11110000 11111100 00110000 00111100 00001100");
	check("marginals(2)", "marginals(2)", all);
	check("identity(age) * identity(sex)", "identity(age) * identity(sex)", all);
	/* bare prefix is over an attribute, and so may stand in a product */
	check("prefix * total(sex)", "prefix * total(sex)", "11000000 11110000 11111100");
	check_weighted("identity", &nobody, "identity", "1", NULL);
	check_weighted("total", &nobody, "total", "1", NULL);
	check_weighted("marginals(0)", &nobody, "marginals(0)", "1", NULL);
}

static void
test_products(void **state)
{
	(void) state;
	check("identity(sex) * identity(age)", "identity(sex) * identity(age)",
		  "10000000 00100000 00001000 00000010 01000000 00010000 00000100 00000001");
	check("prefix(age) * identity(sex)", "prefix(age) * identity(sex)",
		  "10000000 01000000 10100000 01010000 10101000 01010100");
	check("identity(sex) * total(age)", "identity(sex) * total(age)", "10101010 01010101");
	check("total(sex) * total(age)", "total(sex) * total(age)", "11111111");
	check("matrix(sex; {{2,3}}) * matrix(age; {{1,0,0,2},{0,1,0,0}})", "matrix(sex; {{2,3}}) * matrix(age; {{1,0,0,2},{0,1,0,0}})",
		  "23000046 00230000");
}

static void
test_unions(void **state)
{
	(void) state;
	check("total + identity(sex)", "total + identity(sex)", "11111111 10101010 01010101");
	check("identity(sex)+total", "identity(sex) + total", "10101010 01010101 11111111");
	check("(total) + ((identity(sex) + (total(age))))", "total + identity(sex) + total(age)", "11111111 10101010 01010101 11111111");
	/* the union first: its queries run slowest */
	check("(prefix(age) + total(age)) * identity(sex)", "(prefix(age) + total(age)) * identity(sex)",
		  "10000000 01000000 10100000 01010000 10101000 01010100 10101010 01010101");
	/* the union last: its queries run fastest, so the two terms alternate */
	check("identity(sex) * (total(age) + ranges(age; 0-0, 2-2))", "identity(sex) * (total(age) + ranges(age; 0-0, 2-2))",
		  "10101010 10000000 00001000 01010101 01000000 00000100");
	check("(total(sex) + identity(sex)) * (total(age) + width_range(age, 3))",
		  "(total(sex) + identity(sex)) * (total(age) + width_range(age, 3))",
		  "11111111 11111100 10101010 10101000 01010101 01010100");
	/* a union in a product need not be over one attribute */
	check("(total(sex) + total(age)) + total", "total(sex) + total(age) + total", "11111111 11111111 11111111");
}

static void
test_weights(void **state)
{
	(void) state;
	check_weighted("2.5 * total + identity(sex)", &couple, "2.5 * total + identity(sex)", "11111111 10101010 01010101",
				   (const double[]) {2.5, 1, 1});
	check_weighted("3*(total + .5*identity(sex))", &couple, "3 * (total + 0.5 * identity(sex))",
				   "11111111 10101010 01010101", (const double[]) {3, 1.5, 1.5});
	check_weighted("2 * ((3 * total))", &couple, "2 * (3 * total)", "11111111", (const double[]) {6});
	check_weighted("(2 * total(age)) * (3 * total(sex))", &couple, "(2 * total(age)) * (3 * total(sex))", "11111111",
				   (const double[]) {6});
	check_weighted("2 * total(age) * total(sex)", &couple, "2 * total(age) * total(sex)", "11111111", (const double[]) {2});
	check_weighted("1e-3 * total", &couple, "0.001 * total", "11111111", (const double[]) {1e-3});
	check_weighted("1E+3*total", &couple, "1000 * total", "11111111", (const double[]) {1e3});
	check_weighted("1.*total", &couple, "1 * total", "11111111", (const double[]) {1});
	check_weighted("000.100 * total", &couple, "0.1 * total", "11111111", (const double[]) {0.1});
	check_weighted("0.3333333333333333 * total", &couple, "0.3333333333333333 * total", "11111111",
				   (const double[]) {0.3333333333333333});
	check_weighted("0.30000000000000004 * total", &couple, "0.30000000000000004 * total", "11111111",
				   (const double[]) {0.30000000000000004});

	invalid("0 * total", 0, "a weight must be from 0.001 to 1000");
	invalid(" 9e-4 * total", 1, "a weight must be from 0.001 to 1000");
	invalid("1000.001 * total", 0, NULL);
	invalid("1e99999 * total", 0, NULL);
	invalid("1e-99999 * total", 0, NULL);
	/* neither may a product of weights leave their range, else one of them could be infinite or 0 */
	invalid("1e2 * (2e1 * total)", 0, "weights multiplied must be from 0.001 to 1000");
	invalid("total + 1e-2 * (1e-2 * total)", 8, "weights multiplied must be from 0.001 to 1000");
	invalid("(1e2 * total(age)) * (2e1 * total(sex))", 34, "weights multiplied must be from 0.001 to 1000");
	accept("1e-2 * (1e-1 * total)", &people, "0.01 * (0.1 * total)");
	accept("1e3 * (1e-3 * total)", &people, "1000 * (0.001 * total)");
	syntax(". * total", 0, "syntax error in workload at \".\": a number is expected");
	syntax("1e * total", 1, "syntax error in workload at \"e\": the end of the number is expected");
	syntax("1e+ * total", 1, NULL);
	syntax("2 total", 2, "syntax error in workload at \"t\": \"*\" after a weight is expected");
	syntax("2", 1, "workload ends where \"*\" after a weight is expected");
	syntax("0x10 * total", 1, NULL);
	syntax("-1 * total", 0, "syntax error in workload at \"-\": a constructor of a workload is expected");
	syntax("2 * 3 * total", 4, "syntax error in workload at \"3\": a constructor of a workload is expected");
	syntax("total(age) * 3 * total(sex)", 13, NULL);
}

static void
test_sizes(void **state)
{
	pe_workload workload;

	(void) state;
	check_sizes("identity(2)", "identity(2)", "10 01");
	check_sizes("total(3)", "total(3)", "111");
	check_sizes("prefix(03)", "prefix(3)", "100 110 111");
	check_sizes("all_range(3)", "all_range(3)", "100 110 111 010 011 001");
	check_sizes("width_range(3, 2)", "width_range(3, 2)", "110 011");
	check_sizes("ranges(3; 2-2)", "ranges(3; 2-2)", "001");
	check_sizes("matrix({{1,0},{1,1}})", "matrix({{1,0},{1,1}})", "10 11");
	check_sizes("matrix(2; {{1,0},{1,1}})", "matrix(2; {{1,0},{1,1}})", "10 11");
	check_sizes("identity(2) * prefix(2)", "identity(2) * prefix(2)", "1000 1100 0010 0011");
	/* a later term tells the size that an earlier one needs */
	check_sizes("total + identity + total(2) * identity(2)", "total + identity + total(2) * identity(2)",
				"1111 1000 0100 0010 0001 1010 0101");
	check_sizes("identity(2) + total(2) * prefix(2)", "identity(2) + total(2) * prefix(2)", "1100 0011 1010 1111");
	check_sizes("(total(2) + total(2) * identity(2)) * prefix(3)", "(total(2) + total(2) * identity(2)) * prefix(3)",
				"100100100100 110110110110 111111111111 100000100000 110000110000 111000111000 000100000100 000110000110 000111000111");
	check_sizes("marginals(1) + total(2) * total(1)", "marginals(1) + total(2) * total(1)", "10 01 11 11");

	/* the numbers are checked against attributes with names */
	check("identity(4)", "identity(4)", "11000000 00110000 00001100 00000011");
	check("prefix(3) * identity(2)", "prefix(3) * identity(2)", "10000000 01000000 10100000 01010000 10101000 01010100");
	check("total(4) * identity(sex)", "total(4) * identity(sex)", "10101010 01010101");
	check("identity(sex) * total(age)", "identity(sex) * total(age)", "10101010 01010101");
	refuse_over(&couple, "identity(3)", PE_TEXT_INVALID, 9, "attribute \"age\" has 4 cells, not 3");
	refuse_over(&couple, "prefix(4)", PE_TEXT_INVALID, 7, "attribute \"age\" has 3 cells, not 4");
	refuse_over(&couple, "total(4) * prefix(2)", PE_TEXT_INVALID, 18, "attribute \"sex\" is not ordered: its levels do not ascend");
	refuse_over(&couple, "total(4) * total(3)", PE_TEXT_INVALID, 17, "attribute \"sex\" has 2 cells, not 3");
	refuse_over(&couple, "total(4) * total(2) * total(1)", PE_TEXT_INVALID, 28, "the product has more factors than there are attributes");
	refuse_over(&couple, "total(sex) * total(2)", PE_TEXT_INVALID, 19, "attribute \"sex\" stands twice in a product of the workload");

	refuse_over(NULL, "identity(2) + total(3)", PE_TEXT_INVALID, 20, "factor 1 has 3 cells here and 2 before");
	refuse_over(NULL, "identity(0)", PE_TEXT_INVALID, 9, "an attribute has at least one cell");
	refuse_over(NULL, "total", PE_TEXT_INVALID, 0, "the workload gives no number of cells");
	refuse_over(NULL, "marginals(1)", PE_TEXT_INVALID, 0, "the workload gives no number of cells");
	refuse_over(NULL, "prefix", PE_TEXT_INVALID, 0, "a number of cells is needed here, in parentheses");
	refuse_over(NULL, "all_range + total(3)", PE_TEXT_INVALID, 0, NULL);
	refuse_over(NULL, "identity(age)", PE_TEXT_NO_ATTRIBUTE, 9, "\"age\" is no number of cells, and there are no attributes here");
	refuse_over(NULL, "identity(2) * identity(age)", PE_TEXT_NO_ATTRIBUTE, 23, NULL);
	refuse_over(NULL, "marginals(3) + total(2) * total(2)", PE_TEXT_INVALID, 0, "there are 2 attributes, fewer than 3");

	/* as many cells as there may be, and one more */
	must_parse("total(1048576)", NULL, &workload);
	pe_workload_free(&workload);
	must_parse("total(1024) * total(1025)", NULL, &workload);
	pe_workload_free(&workload);
	must_parse("identity(1024) * identity(1024)", NULL, &workload);
	assert_int_equal(workload.queries, PE_MAX_CELLS);
	pe_workload_free(&workload);
	refuse_over(NULL, "total(1048577)", PE_TEXT_TOO_LARGE, 6, "number in workload is larger than 1048576");
	refuse_over(NULL, "total(99999999999999999999999999)", PE_TEXT_TOO_LARGE, 6, NULL);
	syntax("identity(1e3)", 10, "syntax error in workload at \"e\": the end of a whole number is expected");
	syntax("identity(5.0)", 10, NULL);
	syntax("identity(-5)", 9, NULL);
}

static void
test_matrix(void **state)
{
	static const pe_shape four = {2, {"a", "b"}, {2, 2}, {2, 2}};
	static const pe_shape single = {2, {"a", "b"}, {3, 1}, {3, 1}};
	static const pe_shape first_single = {2, {"a", "b"}, {1, 3}, {1, 3}};
	pe_workload workload;

	(void) state;
	/* alone, one column per cell; in a product, per cell of the attribute at its place */
	check_weighted("matrix({{1,2,3,4}})", &four, "matrix({{1,2,3,4}})", "1234", NULL);
	check_weighted("matrix({{1,2}})", &four, "matrix({{1,2}})", "1122", NULL);
	check_weighted("total(a) * matrix({{1,2}})", &four, "total(a) * matrix({{1,2}})", "1212", NULL);
	check_weighted("matrix({{1,2}}) * matrix({{3,4}})", &four, "matrix({{1,2}}) * matrix({{3,4}})", "3468", NULL);
	check_weighted("total + 2 * matrix({{1,2,3,4},{5,6,7,8}})", &four, "total + 2 * matrix({{1,2,3,4},{5,6,7,8}})",
				   "1111 1234 5678", (const double[]) {1, 2, 2});
	check_sizes("matrix({{1,2,3,4}}) + identity(2) * total(2)", "matrix({{1,2,3,4}}) + identity(2) * total(2)",
				"1234 1100 0011");
	check_sizes("matrix({{1,2}}) * total(2)", "matrix({{1,2}}) * total(2)", "1122");
	/* beside attributes of one cell, columns for one attribute are columns for all cells */
	check_weighted("matrix({{1,2,3}}) * total(b)", &single, "matrix({{1,2,3}}) * total(b)", "123", NULL);
	check_weighted("matrix({{1,2,3}})", &single, "matrix({{1,2,3}})", "123", NULL);
	check_weighted("matrix({{1,2,3}})", &first_single, "matrix({{1,2,3}})", "123", NULL);
	check_weighted("matrix({{2}})", &first_single, "matrix({{2}})", "222", NULL);
	check_sizes("matrix({{1,0},{0,1}}) * identity(1)", "matrix({{1,0},{0,1}}) * identity(1)", "10 01");

	must_parse(" matrix ( { { -1 , +2 } , { -0 , 10000000 } } ) ", NULL, &workload);
	assert_string_equal(workload.canonical, "matrix({{-1,2},{0,10000000}})");
	assert_int_equal(pe_factor_entry(workload.term->factor, 0, 0), -1);
	assert_int_equal(pe_factor_entry(workload.term->factor, 0, 1), 2);
	assert_int_equal(pe_factor_entry(workload.term->factor, 1, 0), 0);
	assert_int_equal(pe_factor_entry(workload.term->factor, 1, 1), 10000000);
	pe_workload_free(&workload);
}

static void
test_white_space(void **state)
{
	(void) state;
	accept("  identity  (  age  )  ", &people, "identity(age)");
	accept("\t\n\v\f\ridentity\n(\tage\r)\v*\fidentity ( sex )\n", &people, "identity(age) * identity(sex)");
	accept("2*identity(age)*identity(sex)+total(_x)", &people, "2 * identity(age) * identity(sex) + total(_x)");
	accept("ranges ( age ; 0 - 1 ,2- 3 )", &people, "ranges(age; 0-1, 2-3)");
	accept("width_range ( age , 2 ) + marginals ( 1 )", &people, "width_range(age, 2) + marginals(1)");
	accept("matrix ( sex ; { { 1 , 2 } , { 3 , 4 } } )", &people, "matrix(sex; {{1,2},{3,4}})");
	accept("( ( total ) + ( ( total(age) * ( total(sex) * total(_x) ) ) ) )", &people,
		   "total + total(age) * total(sex) * total(_x)");
	/* inside quotes it belongs to the name */
	accept("identity( \"two words\" )", &people, "identity(\"two words\")");
	/* a space that only Unicode knows is part of a name */
	syntax("total\xc2\xa0", 0, "there is no workload constructor \"total\xc2\xa0\": " CONSTRUCTORS);
}

static void
test_names(void **state)
{
	(void) state;
	accept("IDENTITY(AGE) + Prefix(Age)", &people, "identity(age) + prefix(age)");
	accept("Total(Sex) * iDENTITY(aGe)", &people, "total(sex) * identity(age)");
	accept("identity(\"age\")", &people, "identity(age)");
	accept("identity(\"Mixed\")", &people, "identity(\"Mixed\")");
	accept("identity(\"we\"\"ird\")", &people, "identity(\"we\"\"ird\")");
	accept("identity(\"\"\"\")", &people, "identity(\"\"\"\")");
	accept("identity(\"1st\")", &people, "identity(\"1st\")");
	accept("total(\"a$1\")", &people, "total(a$1)");
	accept("identity(A$1)", &people, "identity(a$1)");
	accept("identity(_X)", &people, "identity(_x)");
	accept("identity(\xc3\xa4)", &people, "identity(\xc3\xa4)");
	accept("identity(\"\xc3\xa4\")", &people, "identity(\xc3\xa4)");
	/* words of the language may be names; quoted, they are still words, in lower case only */
	accept("identity(identity) * total(total)", &people, "identity(identity) * total(total)");
	accept("\"identity\"(age)", &people, "identity(age)");
	accept("\"total\"", &people, "total");
	syntax("\"Identity\"(age)", 0, "there is no workload constructor \"Identity\": " CONSTRUCTORS);
	unknown("identity(Mixed)", 9, "attribute \"mixed\" of the workload is not among the attributes asked for");
	unknown("identity(\"AGE\")", 9, "attribute \"AGE\" of the workload is not among the attributes asked for");
	/* letters outside of ASCII are not folded */
	unknown("identity(\xc3\x84)", 9, "attribute \"\xc3\x84\" of the workload is not among the attributes asked for");
	unknown("identity(age) * total( nobody)", 23, NULL);
	unknown("matrix(nobody; {{1}})", 7, NULL);
	refuse_over(&nobody, "total(age)", PE_TEXT_NO_ATTRIBUTE, 6, NULL);
}

/* ---- what it has not ---- */

static void
test_syntax_errors(void **state)
{
	(void) state;
	syntax("", 0, "workload ends where a constructor of a workload is expected");
	syntax(" \t\n ", 4, "workload ends where a constructor of a workload is expected");
	syntax("identity(age) *", 15, "workload ends where a constructor of a workload is expected");
	syntax("identity(age) + ", 16, "workload ends where a constructor of a workload is expected");
	syntax("identity(", 9, "workload ends where the name of an attribute or a number of cells is expected");
	syntax("identity(age  ", 14, "workload ends where a closing parenthesis is expected");
	syntax("identity()", 9, "syntax error in workload at \")\": the name of an attribute or a number of cells is expected");
	syntax("identity(1st)", 10, "syntax error in workload at \"s\": the end of a whole number is expected");
	syntax("identity(age, sex)", 12, "syntax error in workload at \",\": a closing parenthesis is expected");
	syntax("identity(age))", 13, "syntax error in workload at \")\": the end, \"+\" or \"*\" is expected");
	syntax("identity(age) identity(sex)", 14, "syntax error in workload at \"i\": the end, \"+\" or \"*\" is expected");
	syntax("total;", 5, NULL);
	syntax("total \"age\"", 6, NULL);
	syntax("identity(age) ** identity(sex)", 15, "syntax error in workload at \"*\": a constructor of a workload is expected");
	syntax("+", 0, NULL);
	syntax("()", 1, "syntax error in workload at \")\": a constructor of a workload is expected");
	syntax("(total", 6, "workload ends where \"+\", \"*\" or a closing parenthesis is expected");
	syntax("(total))", 7, NULL);
	syntax("(total; total)", 6, "syntax error in workload at \";\": \"+\", \"*\" or a closing parenthesis is expected");
	syntax("total \xf0\x9f\x90\x98!", 6, "syntax error in workload at \"\xf0\x9f\x90\x98\": the end, \"+\" or \"*\" is expected");
	syntax("total(age)\xe2\x82\xac", 10, "syntax error in workload at \"\xe2\x82\xac\": the end, \"+\" or \"*\" is expected");
	syntax("Foo(age)", 0, "there is no workload constructor \"foo\": " CONSTRUCTORS);
	syntax("total(sex) * identit", 13, "there is no workload constructor \"identit\": " CONSTRUCTORS);
	syntax("identity2", 0, "there is no workload constructor \"identity2\": " CONSTRUCTORS);

	syntax("width_range", 11, "workload ends where \"(\" is expected");
	syntax("ranges + total", 7, "syntax error in workload at \"+\": \"(\" is expected");
	syntax("matrix", 6, NULL);
	syntax("marginals", 9, "workload ends where \"(\" and a number of attributes is expected");
	syntax("marginals()", 10, "syntax error in workload at \")\": a number of attributes is expected");
	syntax("marginals(age)", 10, NULL);
	syntax("width_range(age)", 15, "syntax error in workload at \")\": \",\" and a width is expected");
	syntax("width_range(age, )", 17, "syntax error in workload at \")\": a number of cells is expected");
	syntax("width_range(age; 2)", 15, NULL);
	syntax("prefix(age, 2)", 10, NULL);
	syntax("ranges(age)", 10, "syntax error in workload at \")\": \";\" and ranges of cells is expected");
	syntax("ranges(age;)", 11, "syntax error in workload at \")\": the first cell of a range is expected");
	syntax("ranges(age; 1)", 13, "syntax error in workload at \")\": \"-\" and the last cell of the range is expected");
	syntax("ranges(age; 1-)", 14, "syntax error in workload at \")\": the last cell of a range is expected");
	syntax("ranges(age; 1--2)", 14, NULL);
	syntax("ranges(age; 1-2,)", 16, NULL);
	syntax("ranges(age; 1-2; 2-3)", 15, NULL);
	syntax("matrix()", 7, NULL);
	syntax("matrix({})", 8, "syntax error in workload at \"}\": \"{\" and a row of the matrix is expected");
	syntax("matrix({{}})", 9, "syntax error in workload at \"}\": a whole number is expected");
	syntax("matrix({{1,}})", 11, NULL);
	syntax("matrix({{1},})", 12, NULL);
	syntax("matrix({{1}", 11, "workload ends where \",\" or \"}\" is expected");
	syntax("matrix({{1;2}})", 10, "syntax error in workload at \";\": \",\" or \"}\" is expected");
	syntax("matrix({1})", 8, NULL);
	syntax("matrix({{1.5}})", 10, "syntax error in workload at \".\": the end of a whole number is expected");
	syntax("matrix({{--1}})", 10, NULL);
	syntax("matrix(sex, {{1,2}})", 10, "syntax error in workload at \",\": \";\" and the rows of the matrix is expected");

	syntax("identity * total(sex)", 0, "a factor of a product must name its attribute");
	syntax("total(sex) *  total ", 14, "a factor of a product must name its attribute");
	syntax("total(sex) * marginals(1)", 13, "a factor of a product must name its attribute");
	syntax("total(sex) * (prefix(age) + total)", 14, "a factor of a product must name its attribute");
	refuse_over(&couple, "matrix({{1,2,3,4,5,6,7,8}}) * total(sex)", PE_TEXT_SYNTAX, 0, NULL);

	syntax("identity(\"age)", 9, "quoted name in workload has no end");
	syntax("identity(\"age\"\")", 9, "quoted name in workload has no end");
	syntax("\"", 0, "quoted name in workload has no end");
	syntax("identity(\"\")", 9, "quoted name in workload is empty");
	syntax("total(sex) * \"\"(age)", 13, "quoted name in workload is empty");
}

static void
test_invalid(void **state)
{
	static const pe_shape unordered = {1, {"a"}, {3}, {0}};

	(void) state;
	invalid("identity(age) * identity(age)", 25, "attribute \"age\" stands twice in a product of the workload");
	invalid("total(sex) * (total(_x) + prefix( AGE)) * total(age)", 48, "attribute \"age\" stands twice in a product of the workload");
	invalid("prefix", 0, "several attributes are ordered: name one, in parentheses");
	invalid("total + all_range", 8, "several attributes are ordered: name one, in parentheses");
	refuse_over(&unordered, "total + prefix", PE_TEXT_INVALID, 8, "none of the attributes is ordered");
	invalid("prefix(sex)", 7, "attribute \"sex\" is not ordered: its levels do not ascend");
	invalid("all_range(sex)", 10, "attribute \"sex\" is not ordered: its levels do not ascend");
	invalid("width_range(sex, 1)", 12, "attribute \"sex\" is not ordered: its levels do not ascend");
	invalid("ranges(sex; 0-0)", 7, "attribute \"sex\" is not ordered: its levels do not ascend");
	refuse_over(&unordered, "ranges(3; 0-5)", PE_TEXT_INVALID, 7, "attribute \"a\" is not ordered: its levels do not ascend");
	invalid("width_range(age, 0)", 12, "a range of 0 cells does not fit 4");
	invalid("width_range(age, 5)", 12, "a range of 5 cells does not fit 4");
	invalid("ranges(age; 0-3, 2-4)", 17, "range 2-4 is beyond the last cell, 3");
	invalid("ranges(age; 2-1)", 12, "a range goes from its first cell to its last");
	invalid("matrix(sex; {{1,2},{1}})", 19, "a row of the matrix has 1 entries, the first 2");
	invalid("matrix(sex; {{1,2,3}})", 7, "attribute \"sex\" has 2 cells, and the matrix 3 columns");
	invalid("matrix({{1,2,3}})", 0, "attribute \"age\" has 5 cells, not 3");
	invalid("total + marginals(13)", 8, "there are 12 attributes, fewer than 13");
	refuse_over(NULL, "matrix(3; {{1,2}})", PE_TEXT_INVALID, 7, "factor 1 has 3 cells, and the matrix 2 columns");
}

/* ---- limits ---- */

/* A text that is put together of repeated pieces. */
static char *
repeated(const char *before, const char *piece, int times, const char *after)
{
	size_t		size = strlen(piece);
	char	   *text = malloc(strlen(before) + size * times + strlen(after) + 1);
	char	   *to = text + strlen(before);

	strcpy(text, before);
	for (int i = 0; i < times; i++, to += size)
		memcpy(to, piece, size);
	strcpy(to, after);
	return text;
}

static void
refuse_repeated(const pe_shape *shape, const char *before, const char *piece, int times, const char *after,
				pe_text_status status, int position, const char *message)
{
	char	   *text = repeated(before, piece, times, after);

	refuse_over(shape, text, status, position, message);
	free(text);
}

static void
test_nesting(void **state)
{
	char	   *inner = repeated("", "(", PE_MAX_NESTING, "total");
	char	   *text = repeated(inner, ")", PE_MAX_NESTING, " + (total)");

	(void) state;
	accept(text, &people, "total + total");
	free(text);
	free(inner);
	refuse_repeated(&people, "", "(", PE_MAX_NESTING + 1, "total", PE_TEXT_TOO_LARGE, 64,
					"more than 64 parentheses within each other");
	refuse_repeated(NULL, "", "( ", 1000000, "", PE_TEXT_TOO_LARGE, 128, NULL);
	/* what the canonical text must keep */
	inner = repeated("", "2 * (", PE_MAX_NESTING / 8, "0.5 * total");
	text = repeated(inner, ")", PE_MAX_NESTING / 8, "");
	accept(text, &people, text);
	free(text);
	free(inner);
}

static void
test_terms(void **state)
{
	static const pe_shape many = {32, {NULL}, {
			1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
	}, {0}};
	pe_workload workload;
	int32_t		factor_query[PE_MAX_ATTRIBUTES];
	char	   *text = repeated("total(3)", " + identity(3)", 9999, "");

	(void) state;
	must_parse(text, NULL, &workload);
	assert_string_equal(workload.canonical, text);
	assert_int_equal(workload.terms, 10000);
	assert_int_equal(workload.queries, 1 + 3 * 9999);
	assert_int_equal(pe_term_query(&workload.term[9999], 2, factor_query), workload.queries - 1);
	pe_workload_free(&workload);
	free(text);

	text = repeated("total", "+total", PE_MAX_TERMS - 1, "");
	must_parse(text, &people, &workload);
	assert_int_equal(workload.terms, PE_MAX_TERMS);
	pe_workload_free(&workload);
	free(text);
	refuse_repeated(&people, "total", "+total", PE_MAX_TERMS, "", PE_TEXT_TOO_LARGE, 5 + 6 * (PE_MAX_TERMS - 1) + 1,
					"the workload has more than 65536 terms");
	/* a product of unions has as many terms as the product of their numbers */
	refuse_repeated(NULL, "(total(1)+total(1))", "*(total(1)+total(1))", 16, "", PE_TEXT_TOO_LARGE, 1,
					"the workload has more than 65536 terms");
	text = repeated("(total(1)+total(1))", "*(total(1)+total(1))", 15, "");
	must_parse(text, NULL, &workload);
	assert_int_equal(workload.terms, PE_MAX_TERMS);
	assert_int_equal(workload.term[PE_MAX_TERMS - 1].first, PE_MAX_TERMS - 1);
	assert_int_equal(workload.term[PE_MAX_TERMS - 1].factors, 16);
	pe_workload_free(&workload);
	free(text);

	must_parse("marginals(4)", &many, &workload);
	assert_int_equal(workload.terms, 35960);
	pe_workload_free(&workload);
	refuse_over(&many, "total + marginals(5)", PE_TEXT_TOO_LARGE, 8, "the workload has more than 65536 terms");
	refuse_over(&many, "marginals(16)", PE_TEXT_TOO_LARGE, 0, NULL);
	refuse_over(&many, "marginals(33)", PE_TEXT_TOO_LARGE, 10, NULL);
	must_parse("marginals(32)", &many, &workload);
	assert_int_equal(workload.terms, 1);
	assert_int_equal(workload.term->factors, 32);
	pe_workload_free(&workload);
	refuse_repeated(NULL, "total(1)", "*total(1)", 32, "", PE_TEXT_TOO_LARGE, 9 * 32 + 6,
					"a product of the workload has more than 32 factors");
	refuse_repeated(NULL, "matrix({{1}})", "*matrix({{1}})", 40, "", PE_TEXT_INVALID, 14 * 32,
					"the product has more factors than there are attributes");
}

/* What products leave behind is given back: this short text once took 1.5 GB. */
static void
test_memory(void **state)
{
	char	   *unions = repeated("(total(1)+total(1))", "*(total(1)+total(1))", 15, "");
	char	   *text = repeated(unions, "*total(1)", 16, "");
	struct rusage usage;
	pe_workload workload;

	(void) state;
	must_parse(text, NULL, &workload);
	assert_int_equal(workload.terms, PE_MAX_TERMS);
	assert_int_equal(workload.term->factors, 32);
	pe_workload_free(&workload);
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	/* in kilobytes; the address sanitizer itself keeps what was freed */
#ifndef __SANITIZE_ADDRESS__
	assert_in_range(usage.ru_maxrss, 0, 1024 * 1024);
#endif
	free(text);
	free(unions);
}

static void
test_queries_limit(void **state)
{
	static const char most[] = "the workload has more than 2147483647 queries";
	static const pe_shape large = {3, {"a", "b", "c"}, {65535, 65537, 2}, {65535, 65537, 2}};
	static const pe_shape wide = {4, {"a", "b", "c", "d"}, {1 << 20, 1 << 20, 1 << 20, 1 << 20}, {0}};
	pe_workload workload;

	(void) state;
	must_parse("all_range(65535)", NULL, &workload);
	assert_int_equal(workload.queries, 2147450880);
	pe_workload_free(&workload);
	refuse_over(NULL, "all_range(65536)", PE_TEXT_TOO_LARGE, 10, most);
	refuse_over(NULL, "all_range(1048576)", PE_TEXT_TOO_LARGE, 10, most);
	/* 2147483647 = 2147450880 + 32767 */
	must_parse("all_range(a) + ranges(a; 0-0) + width_range(a, 32770)", &large, &workload);
	assert_int_equal(workload.queries, INT32_MAX);
	pe_workload_free(&workload);
	refuse_over(&large, "all_range(a) + ranges(a; 0-0, 1-1) + width_range(a, 32770)", PE_TEXT_TOO_LARGE, 37, most);
	refuse_over(&large, "identity(a) * identity(b)", PE_TEXT_TOO_LARGE, 0, most);
	refuse_over(&large, "(all_range(a)) * (total(c) + total(c))", PE_TEXT_TOO_LARGE, 1, most);
	refuse_over(&large, "identity", PE_TEXT_TOO_LARGE, 0, most);
	refuse_over(&large, "marginals(2)", PE_TEXT_TOO_LARGE, 0, most);
	/* 2^80 */
	refuse_over(&wide, "total + identity", PE_TEXT_TOO_LARGE, 8, most);
	refuse_over(&wide, "identity(a) * identity(b) * identity(c) * identity(d)", PE_TEXT_TOO_LARGE, 0, most);
}

static void
test_huge_numbers(void **state)
{
	(void) state;
	too_large("marginals(33)", 10, "number in workload is larger than 32");
	too_large("marginals(99999999999999999999999999999)", 10, NULL);
	too_large("width_range(age, 18446744073709551617)", 17, "number in workload is larger than 1048576");
	too_large("ranges(age; 0-4294967296)", 14, NULL);
	too_large("matrix({{10000001}})", 9, "number in workload is larger than 10000000");
	too_large("matrix({{-10000001}})", 9, NULL);
	too_large("matrix({{-18446744073709551616}})", 9, NULL);
	/* a sum of squares of entries stays below 2^53, about 9.007e15 */
	accept("matrix(sex; {{-9000000,1}}) * matrix(\xc3\xa4; {{-1,10}})", &people,
		   "matrix(sex; {{-9000000,1}}) * matrix(\xc3\xa4; {{-1,10}})");
	too_large("matrix(sex; {{-9000000,1}}) * matrix(\xc3\xa4; {{-1,11}})", 0,
			  "the entries of the workload's matrices are too large");
	too_large("matrix(sex; {{9000000,1}}) * matrix(\xc3\xa4; {{1,10}}) + matrix(sex; {{4000000,1}}) * matrix(\xc3\xa4; {{1,10}})",
			  0, NULL);
	refuse_repeated(&people, "identity(", "7", 1000000, ")", PE_TEXT_TOO_LARGE, 9, NULL);
	refuse_repeated(&people, "", "7", 1000000, " * total", PE_TEXT_INVALID, 0, NULL);
	refuse_repeated(&people, "matrix({{", "0,", PE_MAX_CELLS, "0}})", PE_TEXT_TOO_LARGE, 0,
					"the matrix has more than 1048576 columns");
}

static void
test_long_names(void **state)
{
	static const char *const letter[] = {"x", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x90\x98"};
	char		longest[256] = {0};
	pe_shape	shape = {1, {longest}, {2}, {0}};
	char	   *text;

	(void) state;
	memset(longest, 'x', 255);
	text = repeated("identity(", "x", 255, ")");
	accept(text, &shape, text);
	free(text);
	refuse_repeated(&people, "identity(", "x", 256, ")", PE_TEXT_SYNTAX, 9, "name in workload is too long");
	refuse_repeated(&people, "identity(\"", "x", 1000000, "\")", PE_TEXT_SYNTAX, 9, "name in workload is too long");
	refuse_repeated(&people, "", "x", 256, "", PE_TEXT_SYNTAX, 0, "name in workload is too long");
	/* the longest canonical form: every byte of the name doubled */
	memset(longest, '"', 255);
	text = repeated("identity(\"", "\"\"", 255, "\")");
	accept(text, &shape, text);
	free(text);

	/* a message shows 64 bytes, and no part of a character */
	for (int size = 1; size <= 4; size++)
		for (int before = 0; before < 4; before++)
		{
			char		start[8] = "yyy";
			char	   *shown;
			char	   *message;

			start[before] = '\0';
			shown = repeated(start, letter[size - 1], (64 - before) / size, "");
			message = malloc(400);
			sprintf(message, "there is no workload constructor \"%s\": " CONSTRUCTORS, shown);
			refuse_repeated(&people, start, letter[size - 1], 240 / size, "", PE_TEXT_SYNTAX, 0, message);
			free(message);
			free(shown);
		}
}

/* ---- numbering of one factor ---- */

static void
test_all_range(void **state)
{
	pe_factor	factor = {.constructor = PE_ALL_RANGE};
	int32_t		from;
	int32_t		to;

	(void) state;
	for (int32_t n = 1; n <= 40; n++)
	{
		int32_t		query = 0;

		factor.cells = n;
		for (int32_t i = 0; i < n; i++)
			for (int32_t j = i; j < n; j++)
			{
				pe_factor_range(&factor, query++, &from, &to);
				assert_int_equal(from, i);
				assert_int_equal(to, j);
			}
	}
	factor.cells = 65535;
	pe_factor_range(&factor, 2147450880 - 1, &from, &to);
	assert_int_equal(from, 65534);
	assert_int_equal(to, 65534);
	pe_factor_range(&factor, 2147450880 - 2, &from, &to);
	assert_int_equal(from, 65533);
	assert_int_equal(to, 65534);
	pe_factor_range(&factor, 65534, &from, &to);
	assert_int_equal(from, 0);
	assert_int_equal(to, 65534);
	pe_factor_range(&factor, 65535, &from, &to);
	assert_int_equal(from, 1);
	assert_int_equal(to, 1);
}

static void
ask_range(void *arg)
{
	int32_t		from;
	int32_t		to;

	pe_factor_range(arg, 0, &from, &to);
}

static void
test_no_range(void **state)
{
	pe_factor	factor = {.constructor = PE_IDENTITY, .cells = 3, .queries = 3};

	(void) state;
	assert_true(pe_test_is_bug(ask_range, &factor));
}

static void
test_marginals_order(void **state)
{
	static const pe_shape four = {4, {"a", "b", "c", "d"}, {2, 3, 2, 2}, {0}};
	static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
	pe_workload workload;
	int64_t		first = 0;

	(void) state;
	must_parse("marginals(2)", &four, &workload);
	assert_int_equal(workload.terms, 6);
	for (int t = 0; t < 6; t++)
	{
		const pe_term *term = &workload.term[t];

		assert_int_equal(term->factors, 2);
		assert_int_equal(term->factor[0].attribute, pairs[t][0]);
		assert_int_equal(term->factor[1].attribute, pairs[t][1]);
		assert_int_equal(term->first, first);
		first += term->queries;
	}
	assert_int_equal(first, workload.queries);
	pe_workload_free(&workload);
}

static void
test_shapes(void **state)
{
	pe_point	edges[] = {{.i = 0}, {.i = 10}, {.i = 20}};
	pe_point	up[] = {{.i = 1}, {.i = 2}};
	pe_point	down[] = {{.i = 2}, {.i = 1}, {.i = 0}};
	pe_domain	domain = {.attributes = 3, .attribute = {
			{.key = PE_KEY_INT, .kind = PE_BINS, .outside = PE_OUTSIDE_OTHER, .nulls = PE_NULLS_CELL, .points = 3, .point = edges},
			{.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_CELL, .points = 2, .point = up},
			{.key = PE_KEY_INT, .kind = PE_LEVELS, .outside = PE_OUTSIDE_DROP, .nulls = PE_NULLS_DROP, .points = 3, .point = down}
	}};
	static const char *const names[] = {"a", "b", "c"};
	pe_shape	shape;
	pe_shape	large = {3, {NULL}, {1 << 20, 1 << 20, 1 << 20}, {0}};

	(void) state;
	for (int a = 0; a < 3; a++)
		assert_int_equal(pe_attribute_prepare(&domain.attribute[a]), PE_DOMAIN_OK);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	pe_shape_of_domain(&domain, names, &shape);
	assert_int_equal(shape.attributes, 3);
	assert_string_equal(shape.name[1], "b");
	assert_int_equal(shape.cells[0], 4);
	assert_int_equal(shape.ordered[0], 2);
	assert_int_equal(shape.cells[1], 3);
	assert_int_equal(shape.ordered[1], 2);
	assert_int_equal(shape.cells[2], 3);
	assert_int_equal(shape.ordered[2], 0);
	assert_int_equal(pe_shape_cells(&shape), domain.cells);
	assert_int_equal(pe_shape_cells(&large), PE_MAX_CELLS + 1);
	assert_int_equal(pe_shape_cells(&nobody), 1);
	for (int a = 0; a < 3; a++)
		pe_free(domain.attribute[a].lookup);
}

/* ---- random workloads: a tree of our own, written as text and written out as W ---- */

enum
{
	WHOLE_IDENTITY = PE_MATRIX + 1, WHOLE_TOTAL, WHOLE_MATRIX, MARGINALS
};

typedef enum node_kind
{
	LEAF, PRODUCT, UNION
} node_kind;

typedef struct node
{
	node_kind	kind;
	const char *weight;			/* NULL: none */
	int			children;
	struct node *child[3];

	/* leaves */
	int			constructor;
	int			attribute;
	bool		bare;			/* prefix or all_range without parentheses */
	bool		sized;			/* a number instead of the name */
	int			number;			/* width, or the number of attributes of marginals */
	int			rows;			/* of ranges or matrix */
	int32_t		list[3 * 64];
} node;

typedef struct forest
{
	node		node[200];
	int			used;
	pe_shape	shape;
	bool		named;
} forest;

static const char *const weights[] = {"0.5", "2", "1.25", "1", "0.75", "1.5"};

/* Attributes that a piece takes from those after it in a product. */
typedef struct taken
{
	unsigned	mask;
	int			places;
} taken;

static node *
new_node(forest *f, node_kind kind)
{
	node	   *n = &f->node[f->used++];

	assert_true(f->used <= lengthof(f->node));
	memset(n, 0, sizeof(*n));
	n->kind = kind;
	if (one_in(5))
		n->weight = weights[random_below(lengthof(weights))];
	return n;
}

static int
ordered_attributes(const pe_shape *shape)
{
	int			count = 0;

	for (int a = 0; a < shape->attributes; a++)
		count += shape->ordered[a] > 0;
	return count;
}

static void
fill_ranges(node *n, int ordered)
{
	n->rows = 1 + random_below(3);
	for (int i = 0; i < n->rows; i++)
	{
		n->list[2 * i] = random_below(ordered);
		n->list[2 * i + 1] = n->list[2 * i] + random_below(ordered - n->list[2 * i]);
	}
}

static void
fill_matrix(node *n, int columns)
{
	n->rows = 1 + random_below(3);
	for (int i = 0; i < n->rows * columns; i++)
		n->list[i] = random_below(7) - 3;
}

static node *
grow_whole(forest *f)
{
	node	   *n = new_node(f, LEAF);

	n->constructor = WHOLE_IDENTITY + random_below(4);
	n->number = random_below(f->shape.attributes + 1);
	if (n->constructor == WHOLE_MATRIX)
		fill_matrix(n, pe_shape_cells(&f->shape));
	return n;
}

static node *
grow_leaf(forest *f, unsigned mask, int place, taken *taken)
{
	node	   *n = new_node(f, LEAF);
	int			ordered;

	n->attribute = place;
	while (f->named && !(mask >> n->attribute & 1))
		n->attribute = random_below(f->shape.attributes);
	n->sized = !f->named || (n->attribute == place && one_in(3));
	ordered = f->shape.ordered[n->attribute];
	do
		n->constructor = random_below(PE_MATRIX + 1);
	while (ordered == 0 && n->constructor >= PE_PREFIX && n->constructor <= PE_RANGES);
	n->bare = f->named && ordered > 0 && ordered_attributes(&f->shape) == 1 && one_in(2) &&
		(n->constructor == PE_PREFIX || n->constructor == PE_ALL_RANGE);
	n->number = ordered > 0 ? 1 + random_below(ordered) : 0;
	if (n->constructor == PE_RANGES)
		fill_ranges(n, ordered);
	if (n->constructor == PE_MATRIX)
		fill_matrix(n, f->shape.cells[n->attribute]);
	taken->mask = 1u << n->attribute;
	taken->places = 1;
	return n;
}

static node *grow(forest *f, int depth, unsigned mask, int place, bool top, taken *taken);

static node *
grow_product(forest *f, int depth, unsigned mask, int place, taken *all)
{
	node	   *n = new_node(f, PRODUCT);

	all->mask = 0;
	all->places = 0;
	for (n->children = 0; n->children < 3; n->children++)
	{
		taken		part;
		unsigned	left = mask & ~all->mask;

		if (left == 0 || place + all->places >= f->shape.attributes || (n->children > 1 && one_in(2)))
			break;
		n->child[n->children] = grow(f, depth - 1, left, place + all->places, false, &part);
		all->mask |= part.mask;
		all->places += part.places;
	}
	return n;
}

static node *
grow_union(forest *f, int depth, unsigned mask, int place, bool top, taken *all)
{
	node	   *n = new_node(f, UNION);

	all->mask = 0;
	all->places = 0;
	n->children = 1 + random_below(3);
	for (int i = 0; i < n->children; i++)
	{
		taken		part;

		n->child[i] = grow(f, depth - 1, mask, place, top, &part);
		all->mask |= part.mask;
		all->places = part.places > all->places ? part.places : all->places;
	}
	return n;
}

/* top: not within a product */
static node *
grow(forest *f, int depth, unsigned mask, int place, bool top, taken *taken)
{
	int			kind = depth > 0 ? random_below(3) : LEAF;

	taken->mask = 0;
	taken->places = 0;
	if (kind == UNION)
		return grow_union(f, depth, mask, place, top, taken);
	if (kind == PRODUCT)
		return grow_product(f, depth, mask, place, taken);
	return top && one_in(3) ? grow_whole(f) : grow_leaf(f, mask, place, taken);
}

/* Without names the sizes must all be told: by a product of all attributes, last. */
static node *
with_sizes(forest *f, node *before)
{
	node	   *both = new_node(f, UNION);
	node	   *sizes = new_node(f, PRODUCT);

	both->children = 2;
	both->child[0] = before;
	both->child[1] = sizes;
	sizes->children = f->shape.attributes;
	for (int a = 0; a < f->shape.attributes; a++)
	{
		node	   *n = sizes->child[a] = new_node(f, LEAF);

		n->constructor = one_in(2) ? PE_TOTAL : PE_IDENTITY;
		n->attribute = a;
		n->sized = true;
	}
	return both;
}

static node *
random_forest(forest *f)
{
	static const char *const names[] = {"a", "Big b", "_c"};
	node	   *root;
	taken		ignored;

	memset(f, 0, sizeof(*f));
	f->named = one_in(2);
	f->shape.attributes = 1 + random_below(3);
	for (int a = 0; a < f->shape.attributes; a++)
	{
		f->shape.name[a] = names[a];
		f->shape.cells[a] = 1 + random_below(4);
		f->shape.ordered[a] = f->named ? random_below(f->shape.cells[a] + 1) : f->shape.cells[a];
	}
	root = grow(f, 3, (1u << f->shape.attributes) - 1, 0, true, &ignored);
	return f->named ? root : with_sizes(f, root);
}

/* Query q of all sets of `more` attributes that begin with some chosen ones; less than 0: not among them. */
static int64_t
marginal_entry(const pe_shape *shape, int more, int from, unsigned chosen, int32_t cell, int64_t q, int32_t *entry)
{
	int64_t		queries = 1;
	int64_t		at = 0;

	if (more > 0)
	{
		for (int a = from; a < shape->attributes && q >= 0; a++)
			q = marginal_entry(shape, more - 1, a + 1, chosen | 1u << a, cell, q, entry);
		return q;
	}
	for (int a = 0; a < shape->attributes; a++)
		if (chosen >> a & 1)
		{
			queries *= shape->cells[a];
			at = at * shape->cells[a] + coordinate(shape, cell, a);
		}
	if (q < queries)
		*entry = at == q;
	return q - queries;
}

static int
leaf_queries(const node *n, const pe_shape *shape)
{
	int			ordered = shape->ordered[n->attribute];
	int			queries = 0;
	int32_t		entry;

	switch (n->constructor)
	{
		case PE_IDENTITY:
			return shape->cells[n->attribute];
		case PE_PREFIX:
			return ordered;
		case PE_ALL_RANGE:
			return ordered * (ordered + 1) / 2;
		case PE_WIDTH_RANGE:
			return ordered - n->number + 1;
		case PE_RANGES:
		case PE_MATRIX:
		case WHOLE_MATRIX:
			return n->rows;
		case WHOLE_IDENTITY:
			return pe_shape_cells(shape);
		case MARGINALS:
			while (marginal_entry(shape, n->number, 0, 0, 0, queries, &entry) < 0)
				queries++;
			return queries;
		default:
			return 1;
	}
}

static bool
in_all_range(int ordered, int q, int x)
{
	for (int from = 0; from < ordered; from++)
		for (int to = from; to < ordered; to++)
			if (q-- == 0)
				return x >= from && x <= to;
	return false;
}

static int32_t
leaf_entry(const node *n, const pe_shape *shape, int q, int32_t cell)
{
	int			x = coordinate(shape, cell, n->attribute);
	int32_t		entry = 0;

	switch (n->constructor)
	{
		case PE_IDENTITY:
			return x == q;
		case PE_PREFIX:
			return x <= q;
		case PE_ALL_RANGE:
			return in_all_range(shape->ordered[n->attribute], q, x);
		case PE_WIDTH_RANGE:
			return x >= q && x - q < n->number;
		case PE_RANGES:
			return x >= n->list[2 * q] && x <= n->list[2 * q + 1];
		case PE_MATRIX:
			return n->list[q * shape->cells[n->attribute] + x];
		case WHOLE_MATRIX:
			return n->list[q * pe_shape_cells(shape) + cell];
		case WHOLE_IDENTITY:
			return cell == q;
		case MARGINALS:
			(void) marginal_entry(shape, n->number, 0, 0, cell, q, &entry);
			return entry;
		default:
			return 1;
	}
}

static int
count_rows(const node *n, const pe_shape *shape)
{
	int			count = n->kind == PRODUCT;

	if (n->kind == LEAF)
		return leaf_queries(n, shape);
	for (int i = 0; i < n->children; i++)
		if (n->kind == PRODUCT)
			count *= count_rows(n->child[i], shape);
		else
			count += count_rows(n->child[i], shape);
	return count;
}

/* Query q of a tree: its weight; entry gets its row. */
static double
write_row(const node *n, const pe_shape *shape, int q, int32_t *entry)
{
	int			cells = pe_shape_cells(shape);
	double		weight = n->weight != NULL ? atof(n->weight) : 1;

	if (n->kind == LEAF)
	{
		for (int32_t cell = 0; cell < cells; cell++)
			entry[cell] = leaf_entry(n, shape, q, cell);
		return weight;
	}
	if (n->kind == UNION)
	{
		int			i = 0;

		for (; q >= count_rows(n->child[i], shape); i++)
			q -= count_rows(n->child[i], shape);
		return weight * write_row(n->child[i], shape, q, entry);
	}
	for (int cell = 0; cell < cells; cell++)
		entry[cell] = 1;
	for (int i = n->children - 1; i >= 0; i--)
	{
		int			count = count_rows(n->child[i], shape);
		int32_t		part[64];

		weight *= write_row(n->child[i], shape, q % count, part);
		q /= count;
		for (int cell = 0; cell < cells; cell++)
			entry[cell] *= part[cell];
	}
	return weight;
}

static rows
write_out(const node *n, const pe_shape *shape)
{
	rows		made = make_rows(count_rows(n, shape), pe_shape_cells(shape));

	for (int q = 0; q < made.count; q++)
		made.weight[q] = write_row(n, shape, q, made.entry + (size_t) q * made.cells);
	return made;
}

/* A text that grows; plain is canonical, otherwise white space, parentheses and cases are random. */
typedef struct page
{
	char		text[65536];
	int			size;
	bool		plain;
} page;

static void
put(page *to, const char *text)
{
	static const char *const space[] = {"", "", " ", "\t", " \n", "\r\v\f"};

	assert_true(to->size + strlen(text) + 10 < sizeof(to->text));
	for (int side = 0; side < 2; side++)
	{
		if (!to->plain)
			to->size += sprintf(to->text + to->size, "%s", space[random_below(lengthof(space))]);
		for (const char *c = text; side == 0 && *c; c++)
			if (to->plain || *c != ' ')
				to->text[to->size++] = *c;
		to->text[to->size] = '\0';
	}
}

static void
put_number(page *to, int number)
{
	char		text[20];

	sprintf(text, to->plain || number < 0 || one_in(2) ? "%d" : "0%d", number);
	put(to, text);
}

static void
put_word(page *to, const char *word)
{
	char		mixed[20];

	for (int i = 0; i <= (int) strlen(word); i++)
		mixed[i] = !to->plain && word[i] >= 'a' && word[i] <= 'z' && one_in(2) ? (char) (word[i] - 'a' + 'A') : word[i];
	put(to, mixed);
}

/* Names of random_forest: one must be quoted, others may be. */
static void
put_name(page *to, const char *name)
{
	if (strcmp(name, "Big b") == 0)
	{
		to->size += sprintf(to->text + to->size, "\"%s\"", name);
		return;
	}
	if (to->plain || one_in(2))
		put_word(to, name);
	else
		to->size += sprintf(to->text + to->size, " \"%s\" ", name);
}

static void
put_matrix(page *to, const node *n, int columns)
{
	for (int i = 0; i < n->rows * columns; i++)
	{
		put(to, i == 0 ? "{" : ",");
		if (i % columns == 0)
			put(to, "{");
		put_number(to, n->list[i]);
		if (i % columns == columns - 1)
			put(to, "}");
	}
	put(to, "}");
}

static void
put_ranges(page *to, const node *n)
{
	for (int i = 0; i < n->rows; i++)
	{
		put(to, i == 0 ? "; " : ", ");
		put_number(to, n->list[2 * i]);
		put(to, "-");
		put_number(to, n->list[2 * i + 1]);
	}
}

static void
put_attribute(page *to, const node *n, const forest *f)
{
	bool		ordered = n->constructor >= PE_PREFIX && n->constructor <= PE_RANGES;

	if (n->sized)
		put_number(to, ordered ? f->shape.ordered[n->attribute] : f->shape.cells[n->attribute]);
	else
		put_name(to, f->shape.name[n->attribute]);
}

static void
put_leaf(page *to, const node *n, const forest *f)
{
	static const char *const words[] = {
		"identity", "total", "prefix", "all_range", "width_range", "ranges", "matrix", "identity", "total", "matrix", "marginals"
	};

	put_word(to, words[n->constructor]);
	if (n->bare || n->constructor == WHOLE_IDENTITY || n->constructor == WHOLE_TOTAL)
		return;
	put(to, "(");
	if (n->constructor == MARGINALS)
		put_number(to, n->number);
	else if (n->constructor == WHOLE_MATRIX)
		put_matrix(to, n, pe_shape_cells(&f->shape));
	else
		put_attribute(to, n, f);
	if (n->constructor == PE_WIDTH_RANGE)
	{
		put(to, ", ");
		put_number(to, n->number);
	}
	if (n->constructor == PE_RANGES)
		put_ranges(to, n);
	if (n->constructor == PE_MATRIX)
	{
		put(to, "; ");
		put_matrix(to, n, f->shape.cells[n->attribute]);
	}
	put(to, ")");
}

/* How tightly the surroundings of a node bind: where a union may stand, a product, a factor. */
typedef enum level
{
	ANY, TERM, FACTOR
} level;

static bool
needs_parentheses(const node *n, level where, bool flat)
{
	if (n->weight != NULL)
		return where == FACTOR;
	if (n->children == 1)
		return !flat && where == FACTOR;
	if (n->kind == UNION)
		return flat ? where == FACTOR : where != ANY;
	return n->kind == PRODUCT && where == FACTOR && !flat;
}

static void put_node(page *to, const node *n, const forest *f, level where);

/* A node without its weight. */
static void
put_body(page *to, const node *n, const forest *f)
{
	if (n->kind == LEAF)
		put_leaf(to, n, f);
	for (int i = 0; i < n->children; i++)
	{
		if (i > 0)
			put(to, n->kind == UNION ? " + " : " * ");
		put_node(to, n->child[i], f, n->kind == UNION ? TERM : FACTOR);
	}
}

/* A node of one child is only its child, but for its weight. */
static void
put_weighted(page *to, const node *n, const forest *f)
{
	node		bare = *n;

	put(to, n->weight);
	put(to, " * ");
	bare.weight = NULL;
	put_node(to, &bare, f, bare.kind == PRODUCT && bare.children > 1 ? TERM : FACTOR);
}

static void
put_node(page *to, const node *n, const forest *f, level where)
{
	bool		enclosed;

	if (to->plain && n->weight == NULL && n->children == 1)
	{
		put_node(to, n->child[0], f, where);
		return;
	}
	enclosed = needs_parentheses(n, where, to->plain) || (!to->plain && one_in(6));
	if (enclosed)
		put(to, "(");
	if (n->weight != NULL)
		put_weighted(to, n, f);
	else
		put_body(to, n, f);
	if (enclosed)
		put(to, ")");
}

static void
test_random_workloads(void **state)
{
	forest	   *f = malloc(sizeof(*f));
	page	   *text = malloc(sizeof(*text));
	page	   *canonical = malloc(sizeof(*canonical));
	int			done = 0;

	(void) state;
	while (done < cases(2000))
	{
		node	   *root = random_forest(f);
		rows		expected;

		if (count_rows(root, &f->shape) > 2000)
			continue;
		memset(text, 0, sizeof(*text));
		memset(canonical, 0, sizeof(*canonical));
		canonical->plain = true;
		put_node(text, root, f, ANY);
		put_node(canonical, root, f, ANY);
		expected = write_out(root, &f->shape);
		check_rows(text->text, f->named ? &f->shape : NULL, canonical->text, &expected);
		free_rows(&expected);
		done++;
	}
	free(canonical);
	free(text);
	free(f);
}

/* ---- edges ---- */

static pe_point ages[] = {{.i = -10}, {.i = 0}, {.i = 10}, {.i = 25}};
static pe_point days[] = {{.b = {"a", 1}}, {.b = {"c'd", 3}}, {.b = {"e", 1}}};
static pe_point kinds[] = {{.i = 1}, {.i = 2}};
static const char *const age_texts[] = {"-10", "0", "10", "25"};
static const char *const day_texts[] = {"a", "c'd", "e"};
static const char *const kind_texts[] = {"1", "2"};
static const pe_attribute with_edges[] = {
	{.key = PE_KEY_INT, .kind = PE_BINS, .points = 4, .point = ages},
	{.key = PE_KEY_BYTES, .kind = PE_BINS, .points = 3, .point = days},
	{.key = PE_KEY_INT, .kind = PE_LEVELS, .points = 2, .point = kinds}
};
static const pe_shape edged = {3, {"age", "the day", "kind"}, {4, 2, 2}, {3, 2, 2}};

static bool
find_edged(void *context, const char *name, pe_declared *found)
{
	static const char *const *const texts[] = {age_texts, day_texts, kind_texts};

	(void) context;
	for (found->number = 0; found->number < 3; found->number++)
		if (strcmp(edged.name[found->number], name) == 0)
		{
			found->domain = &with_edges[found->number];
			found->points = (char *const *) texts[found->number];
			return true;
		}
	return false;
}

/* Values live as long as the call: the test keeps the last few. */
static bool
find_edge(void *context, const pe_declared *attribute, const pe_literal *literal,
		  pe_point *value, const char **canonical, pe_text_error *error)
{
	static char kept[8][32];
	static int	last;
	char	   *text = kept[last++ % 8];

	(void) context;
	snprintf(text, sizeof(kept[0]), "%s", literal->text);
	*canonical = text;
	if (attribute->domain->key == PE_KEY_BYTES)
		value->b.data = text, value->b.size = (uint32_t) strlen(text);
	else
		value->i = strtol(text, NULL, 10);
	if (literal->kind == (attribute->domain->key == PE_KEY_BYTES ? PE_LITERAL_STRING : PE_LITERAL_NUMBER))
		return true;
	snprintf(error->message, sizeof(error->message), "wrong kind");
	return false;
}

static const pe_literal_source edges = {NULL, find_edged, find_edge, NULL, NULL, false};

/* Parses a text with edges; its spelling over any attributes means the same. */
static void
accept_edges(const char *text, const char *spelled, const char *canonical)
{
	pe_workload workload;
	pe_text_error error;
	char	   *spelling = pe_workload_canonical(text, &error);

	assert_string_equal(spelling, spelled);
	check_spelling(spelling, spelled);
	for (int i = 0; i < 2; i++)
	{
		if (!pe_workload_parse_edges(i == 0 ? text : spelling, &edged, &edges, &workload, &error))
			fail_msg("%s: %s at %d", text, error.message, error.position);
		assert_string_equal(error.message, "");
		assert_string_equal(workload.canonical, canonical);
		pe_workload_free(&workload);
	}
	accept(canonical, &edged, canonical);
	pe_free(spelling);
}

static void
refuse_edges(const char *text, pe_text_status status, int position, const char *message, const char *detail)
{
	pe_workload workload;
	pe_text_error error;

	if (pe_workload_parse_edges(text, &edged, &edges, &workload, &error))
		fail_msg("%s was accepted", text);
	if (error.position != position || error.status != status)
		fail_msg("%s: status %d at %d: %s", text, error.status, error.position, error.message);
	assert_string_equal(error.message, message);
	assert_string_equal(error.detail, detail);
	assert_null(workload.canonical);
	assert_null(workload.chunks);
}

static void
test_edges(void **state)
{
	(void) state;
	accept_edges("ranges(age; 0..10)", "ranges(age; 0..10)", "ranges(age; 1-1)");
	accept_edges("ranges ( age ;-10 .. 25,0..25 , 0-0,-10..0)", "ranges(age; -10..25, 0..25, 0-0, -10..0)",
				 "ranges(age; 0-2, 1-2, 0-0, 0-0)");
	accept_edges("ranges(3; +10..25)", "ranges(3; +10..25)", "ranges(3; 2-2)");
	accept_edges("ranges(\"the day\"; 'a'..'c''d') + total", "ranges(\"the day\"; 'a'..'c''d') + total",
				 "ranges(\"the day\"; 0-0) + total");
	accept_edges("identity(kind) * ranges(\"the day\"; 'a' .. 'e')", "identity(kind) * ranges(\"the day\"; 'a'..'e')",
				 "identity(kind) * ranges(\"the day\"; 0-1)");

	refuse_edges("ranges(age; 0..11)", PE_TEXT_INVALID, 15, "11 is no edge of attribute \"age\"", "The nearest edges are 10 and 25.");
	refuse_edges("ranges(age; -11..0)", PE_TEXT_INVALID, 12, "-11 is no edge of attribute \"age\"", "The first edge is -10.");
	refuse_edges("ranges(age; 0..30)", PE_TEXT_INVALID, 15, "30 is no edge of attribute \"age\"", "The last edge is 25.");
	refuse_edges("ranges(age; 10..10)", PE_TEXT_INVALID, 12, "a range goes from its lower edge to its upper", "");
	refuse_edges("ranges(age; 10..0)", PE_TEXT_INVALID, 12, "a range goes from its lower edge to its upper", "");
	refuse_edges("ranges(age; 0..'10')", PE_TEXT_INVALID, 15, "wrong kind", "");
	refuse_edges("ranges(age; 0..true)", PE_TEXT_INVALID, 15, "wrong kind", "");
	refuse_edges("ranges(kind; 1..2)", PE_TEXT_INVALID, 13, "attribute \"kind\" has levels and no edges", "");
	refuse_edges("ranges(age; 0..)", PE_TEXT_SYNTAX, 15, "syntax error in workload at \")\": a literal is expected", "");
	refuse_edges("ranges(age; '0'-'10')", PE_TEXT_INVALID, 12, "wrong kind", "");
	refuse_edges("ranges(\"the day\"; 'a'-'e')", PE_TEXT_SYNTAX, 21,
				 "syntax error in workload at \"-\": \"..\" and the upper edge of the range is expected", "");
	refuse_edges("ranges(\"the day\"; 'a", PE_TEXT_SYNTAX, 18, "string in workload has no end", "");
	refuse_edges("ranges(age; 0. .10)", PE_TEXT_SYNTAX, 15,
				 "syntax error in workload at \".\": \"..\" and the upper edge of the range is expected", "");
	refuse_over(&edged, "ranges(age; 0..10)", PE_TEXT_INVALID, 12, "a range of edges needs an attribute: there are none here");
	refuse_over(NULL, "ranges(3; 0..10)", PE_TEXT_INVALID, 10, "a range of edges needs an attribute: there are none here");
}

/* ---- random texts ---- */

/* Fails with a position within the text, or means what its canonical text means. */
static bool
check_any(const char *text, const pe_shape *shape)
{
	pe_workload workload;
	pe_text_error error;

	memset(&error, 0x55, sizeof(error));
	if (parse(text, shape, &workload, &error))
	{
		rows		actual = rows_of(&workload);

		check_canonical(&workload, shape, &actual);
		free_rows(&actual);
		pe_workload_free(&workload);
		return true;
	}
	assert_int_not_equal(error.status, PE_TEXT_OK);
	assert_true(error.position >= 0 && (size_t) error.position <= strlen(text));
	assert_true(error.message[0] != '\0' && strlen(error.message) < sizeof(error.message) - 1);
	assert_null(workload.canonical);
	assert_null(workload.chunks);
	return false;
}

static void
test_random_tokens(void **state)
{
	static const char *const token[] = {
		"identity", "total", "identity(", "total(", "(", ")", "*", " * ", "age", "sex", "\"age\"", "\"", "\"\"",
		" ", "\t", "+", "1", "$", "_", "AGE", "\"Mixed\"", "\xc3\xa4", "\x80", ",", "identity(age)", "total(sex)",
		"*prefix(age)", "prefix", "(total(age)+identity(age))", "*(total(sex)+identity(sex))", "2", "0.5*", "matrix({{",
		"}})", "},{", "ranges(age;", "0-1", "marginals(1)", "{", ";", "-", "matrix(sex;{{1,0}})", "width_range(3,", "identity(4)"
	};
	int			accepted = 0;

	(void) state;
	for (int round = 0; round < cases(200000); round++)
	{
		char		text[400] = "";

		for (int i = random_below(8); i > 0; i--)
			strcat(text, token[random_below(lengthof(token))]);
		accepted += check_any(text, one_in(3) ? NULL : &couple);
	}
	assert_true(accepted > 0);
}

static void
test_random_bytes(void **state)
{
	static const char good[] = "(prefix(age) + 2 * total(age)) * matrix(sex; {{1,-1}}) + ranges(age; 0-1)";

	(void) state;
	for (int round = 0; round < cases(50000); round++)
	{
		char		text[lengthof(good)];
		int			size = random_below(40);

		pe_random_bytes(text, (size_t) size);
		text[size] = '\0';
		(void) check_any(text, one_in(2) ? NULL : &couple);
		/* and one byte off a good text */
		strcpy(text, good);
		text[random_below((int) strlen(text))] = (char) random_word();
		(void) check_any(text, &couple);
		/* and one cut short */
		strcpy(text, good);
		text[random_below((int) strlen(text))] = '\0';
		(void) check_any(text, &couple);
	}
}

/* What is said of attributes nobody has is neither looked up nor compared. */
static void
test_any_attributes(void **state)
{
	static const char *const good[][2] = {
		{"PREFIX(Anything) * identity( \"Else\" )", "prefix(anything) * identity(\"Else\")"},
		{"identity(4) + total(5) + prefix", "identity(4) + total(5) + prefix"},
		{"prefix * all_range", "prefix * all_range"},
		{"prefix(a) * ((total(a)))", "prefix(a) * total(a)"},
		{"ranges(n;7-1000)", "ranges(n; 7-1000)"},
		{"width_range(n,999)", "width_range(n, 999)"},
		{"matrix(n;{{1,2}}) + matrix({{3}})", "matrix(n; {{1,2}}) + matrix({{3}})"},
		{"marginals(16)", "marginals(16)"},
		{"1000 * (1000 * total)", "1000 * (1000 * total)"},
	};
	static const char *const bad[] = {
		"", "prefix(", "prefix(a))", "best(a)", "0 * total", "identity(0)", "ranges(a; 3-2)", "matrix({{1},{2,3}})", "matrix({})",
		"identity * total(a)", "marginals(1) * total(a)", "total(1048577)", "identity(\"\")", "total + ", "2 total"
	};
	pe_text_error error;

	(void) state;
	for (int i = 0; i < lengthof(good); i++)
	{
		char	   *canonical = pe_workload_canonical(good[i][0], &error);

		assert_non_null(canonical);
		assert_string_equal(canonical, good[i][1]);
		pe_free(canonical);
		check_spelling(good[i][0], good[i][1]);
	}
	for (int i = 0; i < lengthof(bad); i++)
	{
		if (pe_workload_canonical(bad[i], &error) != NULL)
			fail_msg("%s was accepted", bad[i]);
		check_spelling(bad[i], NULL);
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
		cmocka_unit_test(test_constructors),
		cmocka_unit_test(test_bare),
		cmocka_unit_test(test_products),
		cmocka_unit_test(test_unions),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_matrix),
		cmocka_unit_test(test_white_space),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_syntax_errors),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_queries_limit),
		cmocka_unit_test(test_huge_numbers),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_all_range),
		cmocka_unit_test(test_no_range),
		cmocka_unit_test(test_marginals_order),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_any_attributes),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_random_workloads),
		cmocka_unit_test(test_random_tokens),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}

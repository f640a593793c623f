/*
 * test_polynomial.c
 *	  Formulas in aggregates: expansion in one canonical form, bounds of their values, and what rows add.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts/aggregate.h"
#include "domain/sums.h"
#include "shim.h"

/* ------------------------------------------------------------------
 * Texts
 * ------------------------------------------------------------------
 */

static void
check_text(const char *text, const char *canonical)
{
	bool		affine;
	char	   *found = pe_formula_canonical(text, &affine);
	char	   *again;

	if (found == NULL)
		fail_msg("%s is no formula", text);
	assert_string_equal(found, canonical);
	again = pe_formula_canonical(found, &affine);
	assert_string_equal(again, canonical);
	pe_free(again);
	pe_free(found);
}

static void
test_canonical(void **state)
{
	(void) state;
	check_text("price * (1 - discount)", "price - discount * price");
	check_text("length( x )", "length(x)");
	check_text("length(x, 1024) * 2", "2 * length(x)");
	check_text("length(x, 20) + length(x) - length + coalesce(length(\"X y\", 9), -1)",
			   "coalesce(length(\"X y\", 9), -1) - length + length(x, 20) + length(x)");
	check_text("-discount*price+price", "price - discount * price");
	check_text("(price - discount * price) * 1.0", "price - discount * price");
	check_text("price * (1 - discount) * (1 + tax)",
			   "price - discount * price + price * tax - discount * price * tax");
	check_text("price * (1 + tax) * (-discount + 1)",
			   "price - discount * price + price * tax - discount * price * tax");
	check_text("(a + b) * (a - b)", "a * a - b * b");
	check_text("(x - 1) * (x - 1) * (x - 1)", "-1 + 3 * x - 3 * x * x + x * x * x");
	check_text("x / 4", "0.25 * x");
	check_text("x / 3", "x / 3.0");
	check_text("2 * x / 3.0 - 1 / 3.0", "-1 / 3.0 + 2 * x / 3.0");
	check_text("x / -0.5", "-2 * x");
	check_text("1e-3 * x + .5E2", "50 + 0.001 * x");
	check_text("x * y - y * x + z", "0 * x + 0 * y + z");
	check_text("x - x", "0 * x");
	check_text("coalesce(x, 0) + x", "x + coalesce(x, 0)");
	check_text("coalesce(x, -1.50) * COALESCE(x, 1)", "coalesce(x, 1) * coalesce(x, -1.5)");
	check_text("coalesce * 2", "2 * coalesce");
	check_text("\"Where\" + \"where\" + Other", "\"Where\" + other + \"where\"");
	check_text("- - x :: numeric * (y::double precision)", "x * y");
}

/* A length is no column, and is given by whole numbers. */
static void
lengths_are_no_attributes(void **state)
{
	static const char *const wrong[] = {"length(", "length()", "length(x", "length(x,", "length(x, 0)", "length(x, 1025)", "length(x, 1.5)", "length(x, -1)", "length(length(x))", "coalesce(length(x))", "length(1)"};
	bool		affine;

	(void) state;
	for (int i = 0; i < (int) (sizeof(wrong) / sizeof(*wrong)); i++)
		assert_null(pe_formula_canonical(wrong[i], &affine));
	pe_free(pe_formula_canonical("length(x)", &affine));
	assert_true(affine);
}

/* What SELECT makes of one column as before, and what it has a formula for. */
static void
test_affine(void **state)
{
	static const char *const text[] = {"2 * x - 1", "(x + 1) / 3.0", "x * x", "x + y", "coalesce(x, 0)", "7", "0 * x + 1", "x * x - x * x"};
	static const bool expected[] = {true, true, false, false, false, false, true, true};

	(void) state;
	for (size_t i = 0; i < sizeof(expected); i++)
	{
		bool		affine;

		pe_free(pe_formula_canonical(text[i], &affine));
		assert_int_equal(affine, expected[i]);
	}
}

static void
test_multiples(void **state)
{
	static const struct
	{
		const char *text;
		const char *of;
		double		factor;		/* 0: it is none */
	}			c[] = {
		{"2 * x * y", "x * y", 2}, {"x * y", "-4 * y * x", -0.25}, {"x - x * y / 3.0", "2 * x * y - 6 * x", -1.0 / 6},
		{"x * y + x", "x * y", 0}, {"x * y", "x * z", 0}, {"x + 2 * x * y", "x + x * y", 0}, {"2 * x * x", "x", 0},
		{"x * coalesce(y, 1)", "x * y", 0}, {"x * coalesce(y, 1)", "x * coalesce(y, 2)", 0},
		{"3 * x * coalesce(y, 1)", "x * coalesce(y, 1)", 3}, {"x * y", "x * y + 0 * z", 0},
		{"2 * x * y + 0 * z", "x * y + 0 * z", 2}, {"x + x * y", "x + 2 * x * y", 0}, {"x", "x + x * y", 0}, {"0 * x", "0 * x", 0}, {"x *", "x", 0}, {"x", "x y", 0}
	};

	(void) state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
	{
		double		factor = 0;
		bool		is_multiple = pe_formula_is_multiple(c[i].text, c[i].of, &factor);

		if (is_multiple != (c[i].factor != 0) || factor != c[i].factor)
			fail_msg("%s of %s: %d, %g", c[i].text, c[i].of, is_multiple, factor);
	}
}

static void
refuse_text(const char *text, const char *message)
{
	pe_aggregate aggregate;
	pe_text_error error;

	if (pe_aggregate_parse(text, NULL, &aggregate, &error))
		fail_msg("%s is accepted", text);
	assert_string_equal(error.message, message);
}

static void
test_refused(void **state)
{
	char		deep[200] = "sum(";

	(void) state;
	refuse_text("sum(a * b * c * d)", "aggregate multiplies more than 3 columns");
	refuse_text("sum(a / b)", "aggregate divides by a column");
	refuse_text("sum(a / (1 - 1))", "aggregate divides by zero");
	refuse_text("sum(a % 2)", "syntax error in aggregate at \"%\": \")\" is expected");
	refuse_text("sum(a + )", "syntax error in aggregate at \")\": the name of an attribute is expected");
	refuse_text("sum(a * 1234567890123456789012345678901234567890)", "numbers in aggregate have too many digits");
	refuse_text("sum(a * 1e31)", "numbers in aggregate have too many digits");
	refuse_text("sum(a::int)", "aggregate casts to numeric and float8 alone");
	refuse_text("sum(coalesce(a, b))", "syntax error in aggregate at \"b\": a number is expected");
	refuse_text("sum(a+b+c+d+e+f+g+h+i+j+k+l+m+n+o+p+q)", "aggregate is of more than 16 columns");
	refuse_text("sum((a+b+c+d+e+f+g+h)*(a+b+c+d+e+f+g+h)*(a+b+c+d+e+f+g+h))", "aggregate has more than 64 terms");
	refuse_text("stddev(a * b)", "syntax error in aggregate at \"*\": \")\" is expected");
	for (int i = 0; i < 33; i++)
		strcat(deep, "(");
	refuse_text(strcat(deep, "a"), "aggregate is nested too deeply");
}

static void
test_count(void **state)
{
	pe_aggregate a;
	pe_text_error error;

	(void) state;
	assert_true(pe_aggregate_parse("count(x * y + coalesce(z, 0)) where (u = 1 or u = 2)", NULL, &a, &error));
	assert_null(a.column[0]);
	assert_string_equal(a.where, "\"x\" IS NOT NULL AND \"y\" IS NOT NULL AND (u = 1 or u = 2)");
	pe_aggregate_free(&a);
	assert_true(pe_aggregate_parse("count(coalesce(z, 0))", NULL, &a, &error));
	assert_null(a.where);
	pe_aggregate_free(&a);
	assert_true(pe_aggregate_parse("sum((x))", NULL, &a, &error));
	assert_string_equal(a.column[0], "x");
	assert_null(a.formula[0]);
	pe_aggregate_free(&a);
}

/* Divisions that may be of whole numbers, as the columns in front of them. */
static void
test_divisions(void **state)
{
	pe_aggregate a;
	pe_text_error error;

	(void) state;
	assert_true(pe_aggregate_parse("sum(b * (a + c) / 2 + a / 2.0 + c * 0.5 / 2 + a::numeric / 7)", NULL, &a, &error));
	assert_int_equal(a.formula[0]->divisions, 1);
	assert_int_equal(a.formula[0]->division[0], 7);
	pe_aggregate_free(&a);
	assert_true(pe_aggregate_parse("sum(c * a + b / 2)", NULL, &a, &error));
	assert_int_equal(a.formula[0]->division[0], 2);
	pe_aggregate_free(&a);
}

/* ------------------------------------------------------------------
 * Random ones
 * ------------------------------------------------------------------
 */

static uint64_t seed = 42;

static int
random_below(int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int) ((seed >> 33) % (uint64_t) n);
}

/* A term of factors 0 to factors - 1. */
static pe_monomial
random_term(int factors, bool multilinear)
{
	pe_monomial m = {.coefficient = random_below(41) - 20, .degree = (uint8_t) (1 + random_below(3))};
	int			last = 0;

	if (m.coefficient == 0)
		m.coefficient = 7;
	for (int i = 0; i < PE_POLYNOMIAL_DEGREE; i++)
		m.factor[i] = PE_MAX_FACTORS;
	for (int i = 0; i < m.degree; i++)
	{
		last += i > 0 && multilinear ? 1 + random_below(2) : random_below(2);
		if (last >= factors)
		{
			m.degree = (uint8_t) i;
			break;
		}
		m.factor[i] = (uint8_t) last;
	}
	if (m.degree == 0)
	{
		m.degree = 1;
		m.factor[0] = 0;
	}
	return m;
}

static void
random_polynomial(pe_polynomial *p, int factors, bool multilinear)
{
	memset(p, 0, sizeof(*p));
	p->terms = 1 + random_below(6);
	for (int t = 0; t < p->terms; t++)
	{
		p->term[t] = random_term(factors, multilinear);
		for (int i = 0; i < p->term[t].degree; i++)
			p->needs |= UINT32_C(1) << p->term[t].factor[i];
	}
	p->from_greatest = random_below(2) == 1;
}

static void
random_factors(pe_operand *factor, int factors)
{
	for (int f = 0; f < factors; f++)
	{
		double		lower = random_below(9) - 5;

		factor[f] = (pe_operand) {.lower = lower, .upper = lower + 1 + random_below(4), .clamp = true};
		assert_true(pe_operand_prepare(&factor[f]));
	}
}

static int64_t
value_at(const pe_polynomial *p, const int64_t *steps)
{
	int64_t		sum = 0;

	for (int t = 0; t < p->terms; t++)
	{
		int64_t		product = (int64_t) p->term[t].coefficient;

		for (int i = 0; i < p->term[t].degree; i++)
			product *= steps[p->term[t].factor[i]];
		sum += product;
	}
	return sum;
}

/* The least and the largest value over all steps of all factors; each row's place is that of its value. */
static void
check_all(const pe_polynomial *p, const pe_operand *factor, int factors, int64_t *least, int64_t *greatest)
{
	int64_t		steps[PE_MAX_FACTORS + 1];
	int			f = 0;

	*least = INT64_MAX;
	*greatest = INT64_MIN;
	for (int i = 0; i < factors; i++)
		steps[i] = factor[i].least;
	steps[PE_MAX_FACTORS] = 1;
	while (f < factors)
	{
		int64_t		value = value_at(p, steps);
		int32_t		u = pe_polynomial_place(p, steps);

		*least = value < *least ? value : *least;
		*greatest = value > *greatest ? value : *greatest;
		assert_int_equal(p->shift, 0);
		assert_true(2 * value == u + (int64_t) (p->least + p->greatest));
		for (f = 0; f < factors && steps[f] == factor[f].greatest; f++)
			steps[f] = factor[f].least;
		if (f < factors)
			steps[f]++;
	}
}

/* 10^4 polynomials: no row beyond the bounds, and of degree 1 in each factor the bounds are reached. */
static void
test_bounds(void **state)
{
	int			exact = 0;

	(void) state;
	for (int round = 0; round < 10000; round++)
	{
		bool		multilinear = round % 2 == 0;
		int			factors = 1 + random_below(4);
		pe_operand	factor[PE_MAX_FACTORS];
		pe_polynomial p;
		int64_t		least;
		int64_t		greatest;
		pe_polynomial_status status;

		random_factors(factor, factors);
		random_polynomial(&p, factors, multilinear);
		status = pe_polynomial_prepare(&p, factor, factors);
		if (status == PE_POLYNOMIAL_CONSTANT)
			continue;
		assert_int_equal(status, PE_POLYNOMIAL_OK);
		check_all(&p, factor, factors, &least, &greatest);
		assert_true((int64_t) p.least <= least && (int64_t) p.greatest >= greatest);
		if (multilinear)
			assert_true((int64_t) p.least == least && (int64_t) p.greatest == greatest);
		exact += (int64_t) p.least == least && (int64_t) p.greatest == greatest;
	}
	assert_true(exact > 6000);
}

/* Many places: the nearest one, and never beyond. */
static void
test_rounded(void **state)
{
	(void) state;
	for (int round = 0; round < 2000; round++)
	{
		pe_operand	factor[3];
		pe_polynomial p;
		pe_i128		step;

		for (int f = 0; f < 3; f++)
		{
			factor[f] = (pe_operand) {.lower = -random_below(1000), .upper = 1 + random_below(100000), .scale = 2,
				.clamp = true};
			assert_true(pe_operand_prepare(&factor[f]));
		}
		random_polynomial(&p, 3, false);
		p.term[0] = (pe_monomial) {1 + random_below(9), 3, {0, 1, 2}};
		p.needs = 7;
		assert_int_equal(pe_polynomial_prepare(&p, factor, 3), PE_POLYNOMIAL_OK);
		step = (pe_i128) 1 << p.shift;
		assert_true(p.places <= PE_POLYNOMIAL_PLACES && p.places > PE_POLYNOMIAL_PLACES / 2 - 1);
		for (int row = 0; row < 20; row++)
		{
			int64_t		steps[PE_MAX_FACTORS + 1] = {[PE_MAX_FACTORS] = 1};
			pe_i128		value = 0;
			pe_i128		found;
			int32_t		u;
			int64_t		beyond[PE_MAX_FACTORS + 1] = {[PE_MAX_FACTORS] = 1};

			for (int f = 0; f < 3; f++)
				steps[f] = row < 8 ? ((row >> f & 1) != 0 ? factor[f].least : factor[f].greatest)
					: factor[f].least + random_below(1000000) % (factor[f].greatest - factor[f].least + 1);
			for (int t = 0; t < p.terms; t++)
			{
				pe_i128		product = p.term[t].coefficient;

				for (int i = 0; i < p.term[t].degree; i++)
					product *= steps[p.term[t].factor[i]];
				value += product;
			}
			u = pe_polynomial_place(&p, steps);
			assert_true(u >= -p.places && u <= p.places);
			for (int f = 0; f < 3; f++)
				beyond[f] = 2 * (row % 2 == 0 ? factor[f].greatest : factor[f].least) + 1;
			assert_true(abs(pe_polynomial_place(&p, beyond)) <= p.places);
			found = p.from_greatest ? p.greatest - (p.places - u) / 2 * step : p.least + (u + p.places) / 2 * step;
			assert_true(2 * (found - value) <= step && 2 * (value - found) <= step);
		}
	}
}

static void
check_place(pe_operand f, bool isnull, double value, bool there, int64_t steps)
{
	int64_t		found;

	assert_true(pe_operand_prepare(&f));
	assert_int_equal(pe_operand_place(&f, isnull, value, &found), there);
	assert_int_equal(found, steps);
}

static void
test_operands(void **state)
{
	const pe_operand cents = {.lower = 0, .upper = 10, .scale = 2, .clamp = true};
	pe_operand	dropping = cents;
	pe_operand	filled = cents;

	(void) state;
	dropping.clamp = false;
	filled.fills = true;
	filled.filling = -3.5;
	check_place(cents, false, 4.35, true, 435);
	check_place(cents, false, 99, true, 1000);
	check_place(cents, false, -INFINITY, true, 0);
	check_place(cents, false, NAN, false, 0);
	check_place(cents, true, NAN, false, 0);
	check_place(dropping, false, 10.01, false, 1000);
	check_place(dropping, false, 10, true, 1000);
	check_place(filled, true, NAN, true, -350);
	assert_true(pe_operand_prepare(&filled));
	assert_true(filled.least == -350 && filled.greatest == 1000);
	check_place(filled, false, NAN, false, 0);
	check_place((pe_operand) {.lower = 0, .upper = 1, .scale = 24, .binary = true, .clamp = true}, false, .5, true,
				1 << 23);
	assert_int_equal(pe_operand_binary_scale(0, 1), 24);
	assert_int_equal(pe_operand_binary_scale(1e9, 1e9 + 1), 16);
	assert_true(pe_operand_binary_scale(-1e300, 1e300) < -900);
}

static void
check_status(pe_monomial term, uint32_t needs, pe_polynomial_status expected)
{
	pe_operand	factor[3];
	pe_polynomial p = {.terms = 1, .needs = needs};

	for (int f = 0; f < 3; f++)
	{
		factor[f] = (pe_operand) {.lower = -1, .upper = 0x1p46, .clamp = true};
		assert_true(pe_operand_prepare(&factor[f]));
	}
	p.term[0] = term;
	assert_int_equal(pe_polynomial_prepare(&p, factor, 3), expected);
}

static void
test_unsound(void **state)
{
	(void) state;
	check_status((pe_monomial) {1, 2, {0, 1, 16}}, 3, PE_POLYNOMIAL_OK);
	check_status((pe_monomial) {1, 2, {0, 1, 16}}, 7, PE_POLYNOMIAL_OK);
	check_status((pe_monomial) {1, 2, {0, 1, 16}}, 15, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {1, 2, {0, 1, 16}}, 1, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {1, 2, {1, 0, 16}}, 3, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {1, 2, {0, 1, 2}}, 7, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {1, 1, {3, 16, 16}}, 8, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {1, 0, {16, 16, 16}}, 0, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {1, 4, {0, 1, 2}}, 7, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {0, 1, {0, 16, 16}}, 1, PE_POLYNOMIAL_UNSOUND);
	check_status((pe_monomial) {1, 3, {0, 1, 2}}, 7, PE_POLYNOMIAL_LARGE);
	check_status((pe_monomial) {(pe_i128) 1 << 31, 2, {0, 1, 16}}, 3, PE_POLYNOMIAL_OK);
	check_status((pe_monomial) {(pe_i128) 1 << 33, 2, {0, 1, 16}}, 3, PE_POLYNOMIAL_LARGE);
}

/* ------------------------------------------------------------------
 * As bytes
 * ------------------------------------------------------------------
 */

static pe_sums
sums_of(pe_polynomial *p, pe_sum *sum)
{
	pe_sums		sums = {.numbers = 2, .factors = 3, .sums = 1, .sum = sum};

	assert_true(pe_number_init(&sums.number[0], 0, 10, true, true));
	for (int f = 0; f < 3; f++)
	{
		sums.factor[f] = (pe_operand) {.lower = f, .upper = 10, .clamp = f != 1, .fills = f == 2, .filling = 12};
		assert_true(pe_operand_prepare(&sums.factor[f]));
	}
	memset(p, 0, sizeof(*p));
	p->terms = 2;
	p->needs = 7;
	p->term[0] = (pe_monomial) {-3, 1, {2, PE_MAX_FACTORS, PE_MAX_FACTORS}};
	p->term[1] = (pe_monomial) {2, 3, {0, 1, 1}};
	assert_int_equal(pe_polynomial_prepare(p, sums.factor, 3), PE_POLYNOMIAL_OK);
	assert_true(pe_number_of_polynomial(&sums.number[1], (double) p->least, (double) p->greatest, p));
	*sum = (pe_sum) {.kind = PE_SUM_VALUE, .a = 1, .needs = PE_HAS_NUMBER(1)};
	return sums;
}

static bool
reads(const char *bytes, size_t size, pe_sums *sums)
{
	pe_tables	tables;
	pe_domain	domain;
	pe_predicate predicate;

	if (!pe_sums_read(sums, &tables, &domain, &predicate, bytes, size))
		return false;
	pe_predicate_free(&predicate);
	pe_domain_free(&domain);
	pe_tables_free(&tables);
	return true;
}

/* What a row adds at most is found anew from the terms: no byte of them makes it other than that. */
static void
test_bytes(void **state)
{
	pe_domain	domain = {0};
	pe_tables	tables = {.tables = 1, .set = (uint32_t[]) {0}};
	pe_polynomial p;
	pe_sum		sum;
	pe_sums		sums = sums_of(&p, &sum);
	size_t		size;
	char	   *bytes;
	pe_sums		found;
	int			sound = 0;

	(void) state;
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	assert_true(pe_tables_span(&tables, &domain));
	size = pe_sums_size(&sums, &tables, &domain, NULL);
	bytes = calloc(1, size);
	pe_sums_write(&sums, &tables, &domain, NULL, bytes);
	assert_true(reads(bytes, size, &found));
	assert_int_equal(found.factors, 3);
	assert_int_equal(found.number[1].most, p.places);
	assert_true(found.number[1].polynomial->term[1].coefficient == 2);
	assert_true(found.factor[2].fills && found.factor[2].filled == 12 && found.factor[2].greatest == 12);
	pe_sums_free(&found);
	assert_false(reads(bytes, size - 1, &found));
	for (size_t at = 0; at < size; at++)
		for (int bit = 0; bit < 8; bit++)
		{
			bytes[at] ^= (char) (1 << bit);
			if (reads(bytes, size, &found))
			{
				sound++;
				if (found.numbers == 2 && found.number[1].polynomial != NULL)
					assert_true(found.number[1].most <= PE_POLYNOMIAL_PLACES);
				pe_sums_free(&found);
			}
			bytes[at] ^= (char) (1 << bit);
		}
	assert_true(sound > 0);
	pe_free(tables.first);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths_are_no_attributes),
		cmocka_unit_test(test_canonical), cmocka_unit_test(test_multiples),
		cmocka_unit_test(test_affine),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_divisions),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_rounded),
		cmocka_unit_test(test_operands),
		cmocka_unit_test(test_unsound),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

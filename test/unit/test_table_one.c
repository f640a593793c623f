/*
 * test_table_one.c
 *	  Texts of a Table One have the digits that their errors warrant, and standardised mean differences are those of
 *	  the formulas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "shim.h"
#include "study/table_one.h"

static void
assert_count(double count, double error, double percent, double error_of_percent, const char *expected)
{
	char		text[PE_TABLE_TEXT];

	pe_table_count((pe_figure) {count, error}, (pe_figure) {percent, error_of_percent}, text);
	assert_string_equal(text, expected);
}

static void
counts_are_rounded_to_the_first_digit_of_the_error(void **state)
{
	assert_count(1234567, 1e-3, 45.64, 1e-5, "1,234,567 (45.6 %)");
	assert_count(1234, 9.9, NAN, NAN, "1,234");
	assert_count(1234, 10, 45.64, .99, "1,230 (45.6 %)");
	assert_count(1251, 100, 45.64, 1, "1,300 (46 %)");
	assert_count(1251, 100, 45.64, 12, "1,300 (50 %)");
	assert_count(999.6, .1, 100.3, .2, "1,000 (100.0 %)");
	assert_count(0, .1, 0, .1, "0 (0.0 %)");
	assert_count(-.2, .1, NAN, NAN, "0");
	assert_count(123, .4, 12.25, NAN, "123");
}

static void
what_the_noise_drowns_is_a_dash(void **state)
{
	assert_count(19, 10, 5, 1, PE_TABLE_DASH);
	assert_count(20, 10, 5, 1, "20 (5 %)");
	assert_count(-100, 10, 5, 1, PE_TABLE_DASH);
	assert_count(NAN, NAN, NAN, NAN, PE_TABLE_DASH);
	assert_false(pe_table_has_rows((pe_figure) {19, 10}));
	assert_true(pe_table_has_rows((pe_figure) {20, 10}));
	assert_false(pe_table_has_rows((pe_figure) {.4, .1}));
	assert_false(pe_table_has_rows((pe_figure) {NAN, NAN}));
}

static void
assert_mean(double mean, double error, double deviation, double error_of_deviation, const char *expected)
{
	char		text[PE_TABLE_TEXT];

	pe_table_mean((pe_figure) {mean, error}, (pe_figure) {deviation, error_of_deviation}, text);
	assert_string_equal(text, expected);
}

static void
means_have_three_digits_of_the_deviation_at_most(void **state)
{
	assert_mean(38.5812, 1e-6, 13.6404, 1e-6, "38.6 (13.6)");
	assert_mean(38.5812, 1.2, 13.6404, .2, "39 (13.6)");
	assert_mean(1077.65, 70, 7452.02, 300, "1,080 (7,500)");
	assert_mean(-.00123, 1e-9, .0456, 1e-9, "-0.0012 (0.0456)");
	assert_mean(38.5812, 14, 13.6404, 2, PE_TABLE_DASH);
	assert_mean(NAN, NAN, 13.6404, 2, PE_TABLE_DASH);
	assert_mean(7.0002, .01, NAN, NAN, "7.00 (" PE_TABLE_DASH ")");
	assert_mean(1000, 700, NAN, NAN, PE_TABLE_DASH);
}

/* A 0 stands for 0 alone, and quartiles are in order. */
static void
nothing_is_rounded_to_nothing(void **state)
{
	pe_figure	quartile[3] = {{13, 1}, {15, 1}, {4, 30}};
	char		text[PE_TABLE_TEXT];

	assert_mean(30, .5, 4, 10, "30.0 (" PE_TABLE_DASH ")");
	assert_mean(30, .5, 6, 10, "30.0 (10)");
	assert_mean(30, .001, 0, 0, "30.000 (0.000)");
	assert_count(.4, .3, 20, 30, "0 (0 %)");
	pe_table_median(quartile, 1, text);
	assert_string_equal(text, "15 [13, " PE_TABLE_DASH "]");
	quartile[2] = (pe_figure) {17, 60};
	pe_table_median(quartile, 1, text);
	assert_string_equal(text, "15 [13, 20]");
	quartile[2] = (pe_figure) {14.4, 1};
	pe_table_median(quartile, 1, text);
	assert_string_equal(text, "15 [13, " PE_TABLE_DASH "]");
	quartile[0] = (pe_figure) {0, 1};
	quartile[2] = (pe_figure) {17, 1};
	pe_table_median(quartile, 1, text);
	assert_string_equal(text, "15 [0, 17]");
}

static void
quartiles_have_the_digits_of_their_intervals(void **state)
{
	pe_figure	quartile[3] = {{28.2, .25}, {37.1, .25}, {48.04, 12}};
	char		text[PE_TABLE_TEXT];

	pe_table_median(quartile, 0, text);
	assert_string_equal(text, "37.1 [28.2, 50]");
	pe_table_median(quartile, 1, text);
	assert_string_equal(text, "37 [28, 50]");
	quartile[2].value = NAN;
	pe_table_median(quartile, 1, text);
	assert_string_equal(text, "37 [28, " PE_TABLE_DASH "]");
	quartile[0].value = quartile[1].value = NAN;
	pe_table_median(quartile, 1, text);
	assert_string_equal(text, PE_TABLE_DASH);
}

/* p = c / (c + rest), with independent errors. */
static void
the_error_of_a_percentage_is_that_of_the_delta_method(void **state)
{
	pe_figure	percent = pe_table_percent((pe_figure) {30, 3}, (pe_figure) {120, 5});

	assert_float_equal(percent.value, 25, 1e-12);
	assert_float_equal(percent.error, 100 * hypot(90. / 120 / 120 * 3, 30. / 120 / 120 * 4), 1e-9);
	assert_true(isnan(pe_table_percent((pe_figure) {3, 3}, (pe_figure) {5, 4}).value));
}

static void
differences_of_means_are_in_deviations(void **state)
{
	assert_float_equal(pe_table_difference_of_means(10, 3, 12, 4), 2 / sqrt(12.5), 1e-12);
	assert_float_equal(pe_table_difference_of_means(12, 3, 10, 4), 2 / sqrt(12.5), 1e-12);
	assert_true(isnan(pe_table_difference_of_means(10, 0, 12, 0)));
	assert_true(isnan(pe_table_difference_of_means(10, NAN, 12, 4)));
}

/* By hand: two levels as a proportion; three by T' S^-1 T with S = [[.22, -.1], [-.1, .225]]. */
static void
differences_of_levels_are_those_of_yang_and_dalton(void **state)
{
	double		a[] = {20, 80};
	double		b[] = {500, 500};
	double		c[] = {20, 30, 50};
	double		d[] = {400, 400, 200};
	double		with_empty[] = {20, -3, 30, 0, 50};
	double		others[] = {400, 0, 400, -7, 200};
	double		s[2][2] = {{(.16 + .24) / 2, -(.06 + .16) / 2}, {-(.06 + .16) / 2, (.21 + .24) / 2}};
	double		t[2] = {-.2, -.1};
	double		det = s[0][0] * s[1][1] - s[0][1] * s[0][1];
	double		square = (s[1][1] * t[0] * t[0] - 2 * s[0][1] * t[0] * t[1] + s[0][0] * t[1] * t[1]) / det;

	assert_float_equal(pe_table_difference_of_levels(2, a, b), .3 / sqrt((.16 + .25) / 2), 1e-9);
	assert_float_equal(pe_table_difference_of_levels(3, c, d), sqrt(square), 1e-9);
	assert_float_equal(pe_table_difference_of_levels(5, with_empty, others), sqrt(square), 1e-9);
	assert_float_equal(pe_table_difference_of_levels(1, a, b), 0, 0);
	assert_true(isnan(pe_table_difference_of_levels(2, a, (double[]) {0, -1})));
	assert_true(isnan(pe_table_difference_of_levels(2, (double[]) {1, 0}, (double[]) {0, 1})));
}

/* Four numbers.  The noise of one measurement is in the first two. */
static pe_noisy
four_numbers(void)
{
	pe_noisy	numbers;

	pe_noisy_init(4, false, 0, &numbers);
	memcpy(numbers.value, (double[4]) {30, 50, 20, 100}, sizeof(double[4]));
	for (int i = 0; i < 4; i++)
		numbers.covariance[i * 5] = 4 * (i + 1);
	numbers.covariance[1] = numbers.covariance[4] = 3;
	return numbers;
}

static void
sums_and_shares_have_the_covariance_of_their_numbers(void **state)
{
	pe_noisy	numbers = four_numbers();
	const int32_t part[] = {0};
	const int32_t whole[] = {0, 1, 2};
	pe_figure	sum = pe_table_sum(&numbers, whole, 3);
	pe_figure	share = pe_table_share(&numbers, part, 1, whole, 3);
	double		g[] = {.7, -.3, -.3};
	double		variance = 0;

	assert_float_equal(sum.value, 100, 1e-12);
	assert_float_equal(sum.error, sqrt(4 + 8 + 12 + 2 * 3), 1e-12);
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			variance += g[i] * g[j] * numbers.covariance[i * 4 + j];
	assert_float_equal(share.value, 30, 1e-12);
	assert_float_equal(share.error, sqrt(variance), 1e-12);
	assert_float_equal(pe_table_share(&numbers, whole, 3, whole, 3).error, 0, 1e-6);
	numbers.value[0] = numbers.value[1] = numbers.value[2] = 3;
	assert_true(isnan(pe_table_share(&numbers, part, 1, whole, 3).value));
	pe_noisy_free(&numbers);
}

/* Mean and deviation of 100 numbers of sum 50 and of squares 400, and their errors by differences. */
static void
moments_have_errors_by_the_delta_method(void **state)
{
	const int32_t place[] = {3, 1, 2};
	pe_noisy	numbers = four_numbers();
	pe_figure	mean;
	pe_figure	deviation;
	double		by_mean = 0;
	double		by_deviation = 0;

	numbers.value[2] = 400;
	pe_table_moments(&numbers, place, &mean, &deviation);
	assert_float_equal(mean.value, .5, 1e-12);
	assert_float_equal(deviation.value, sqrt(375. / 99), 1e-12);
	for (int i = 0; i < 3; i++)
	{
		pe_figure	m;
		pe_figure	d;

		numbers.value[place[i]] += 1e-4;
		pe_table_moments(&numbers, place, &m, &d);
		numbers.value[place[i]] -= 1e-4;
		by_mean += pow((m.value - mean.value) / 1e-4, 2) * numbers.covariance[place[i] * 5];
		by_deviation += pow((d.value - deviation.value) / 1e-4, 2) * numbers.covariance[place[i] * 5];
	}
	assert_float_equal(mean.error, sqrt(by_mean), 1e-5);
	assert_float_equal(deviation.error, sqrt(by_deviation), 1e-5);
	pe_table_moments(&numbers, (int32_t[3]) {3, 1, -1}, &mean, &deviation);
	assert_true(mean.value == .5 && isnan(deviation.value));
	/* a variance that may be 0; no rows */
	numbers.value[2] = 26;
	pe_table_moments(&numbers, place, &mean, &deviation);
	assert_true(mean.value == .5 && isnan(deviation.value));
	numbers.value[3] = 5;
	pe_table_moments(&numbers, place, &mean, &deviation);
	assert_true(isnan(mean.value) && isnan(deviation.value));
	pe_noisy_free(&numbers);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_rounded_to_the_first_digit_of_the_error),
		cmocka_unit_test(what_the_noise_drowns_is_a_dash),
		cmocka_unit_test(means_have_three_digits_of_the_deviation_at_most),
		cmocka_unit_test(nothing_is_rounded_to_nothing),
		cmocka_unit_test(quartiles_have_the_digits_of_their_intervals),
		cmocka_unit_test(the_error_of_a_percentage_is_that_of_the_delta_method),
		cmocka_unit_test(sums_and_shares_have_the_covariance_of_their_numbers),
		cmocka_unit_test(moments_have_errors_by_the_delta_method),
		cmocka_unit_test(differences_of_means_are_in_deviations),
		cmocka_unit_test(differences_of_levels_are_those_of_yang_and_dalton)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

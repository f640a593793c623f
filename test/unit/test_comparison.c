/*
 * test_comparison.c
 *	  Comparisons of two values of a row: orders, cells, the one form of them, and their written form.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "domain/domain.h"
#include "numbers.h"
#include "shim.h"

static int
seed(void **state)
{
	(void) state;
	pe_test_seed(20261129);
	return 0;
}

static int64_t
small(int most)
{
	return between(-most, most);
}

/* ---- orders ---- */

static void
wholes_compare_exactly(void **state)
{
	const pe_comparison plain = {PE_COMPARE_WHOLE, 1, 1, 0, 1, 0};
	const pe_comparison large = {PE_COMPARE_WHOLE, INT64_MAX, INT64_MAX, INT64_MAX, 1, 0};
	const pe_comparison negative = {PE_COMPARE_WHOLE, 1, INT64_MIN, INT64_MIN, 1, 0};

	(void) state;
	assert_int_equal(pe_compare_wholes(&plain, (pe_whole) {INT64_MIN, 0}, (pe_whole) {INT64_MAX, 0}), -1);
	assert_int_equal(pe_compare_wholes(&plain, (pe_whole) {5, 0}, (pe_whole) {5, 0}), 0);
	assert_int_equal(pe_compare_wholes(&large, (pe_whole) {INT64_MAX, 0}, (pe_whole) {INT64_MAX - 1, 0}), 0);
	assert_int_equal(pe_compare_wholes(&large, (pe_whole) {INT64_MIN, 0}, (pe_whole) {INT64_MAX, 0}), -1);
	assert_int_equal(pe_compare_wholes(&negative, (pe_whole) {INT64_MAX, 0}, (pe_whole) {INT64_MIN, 0}), -1);
	assert_int_equal(pe_compare_wholes(&negative, (pe_whole) {INT64_MAX, 0}, (pe_whole) {INT64_MAX, 0}), 1);
	for (int n = 0; n < fewer(100000, 100); n++)
	{
		const pe_comparison c = {PE_COMPARE_WHOLE, small(9), small(9), small(20), 1, 0};
		int64_t		a = small(12);
		int64_t		b = small(12);
		int64_t		left = c.left * a;
		int64_t		right = c.right * b + c.more;

		assert_int_equal(pe_compare_wholes(&c, (pe_whole) {a, 0}, (pe_whole) {b, 0}), (left > right) - (left < right));
	}
}

/* Whatever is added, an infinite value is beyond all finite ones and equal to itself. */
static void
infinities_stay(void **state)
{
	const pe_comparison c = {PE_COMPARE_WHOLE, INT64_C(86400000000), 1, INT64_MAX, 1, 0};
	const pe_whole least = {INT64_MIN, -1};
	const pe_whole greatest = {INT64_MAX, 1};
	const pe_whole finite = {INT64_MAX, 0};

	(void) state;
	assert_int_equal(pe_compare_wholes(&c, greatest, greatest), 0);
	assert_int_equal(pe_compare_wholes(&c, least, least), 0);
	assert_int_equal(pe_compare_wholes(&c, least, greatest), -1);
	assert_int_equal(pe_compare_wholes(&c, finite, greatest), -1);
	assert_int_equal(pe_compare_wholes(&c, finite, least), 1);
	assert_int_equal(pe_compare_wholes(&c, greatest, finite), 1);
	assert_int_equal(pe_compare_wholes(&c, least, finite), -1);
}

static void
floats_compare_as_in_sql(void **state)
{
	const pe_comparison plain = {PE_COMPARE_FLOAT, 1, 1, 0, 1, 0};
	const pe_comparison twice = {PE_COMPARE_FLOAT, 1, 1, 0, 2, 0};
	const pe_comparison more = {PE_COMPARE_FLOAT, 1, 1, 0, 1, 0.5};
	const double value[] = {-INFINITY, -1, -0.0, 0, 1.5, INFINITY, NAN};
	const int	place[] = {0, 1, 2, 2, 3, 4, 5};

	(void) state;
	for (int i = 0; i < 7; i++)
		for (int j = 0; j < 7; j++)
			assert_int_equal(pe_compare_floats(&plain, value[i], value[j]), (place[i] > place[j]) - (place[i] < place[j]));
	assert_int_equal(pe_compare_floats(&twice, 3, 1.5), 0);
	assert_int_equal(pe_compare_floats(&twice, 1e308, 1e308), -1);
	assert_int_equal(pe_compare_floats(&more, 2, 1.5), 0);
	assert_int_equal(pe_compare_floats(&more, 1.99, 1.5), -1);
}

static void
bytes_compare_as_memcmp(void **state)
{
	(void) state;
	assert_int_equal(pe_compare_bytes("", 0, "", 0), 0);
	assert_int_equal(pe_compare_bytes("a", 1, "a\0", 2), -1);
	assert_int_equal(pe_compare_bytes("b", 1, "ab", 2), 1);
	assert_int_equal(pe_compare_bytes("\x80", 1, "\x7f", 1), 1);
	for (int n = 0; n < fewer(100000, 100); n++)
	{
		char		a[4];
		char		b[4];
		size_t		a_size = (size_t) random_below(5);
		size_t		b_size = (size_t) random_below(5);
		size_t		common = a_size < b_size ? a_size : b_size;
		int			order;

		for (int i = 0; i < 4; i++)
		{
			a[i] = (char) between(254, 257);
			b[i] = (char) between(254, 257);
		}
		order = memcmp(a, b, common);
		order = order != 0 ? (order > 0) - (order < 0) : (a_size > b_size) - (a_size < b_size);
		assert_int_equal(pe_compare_bytes(a, a_size, b, b_size), order);
	}
}

static sigjmp_buf at_fault;

static void
leave_fault(int number)
{
	(void) number;
	siglongjmp(at_fault, 1);
}

/* Behind a first byte that differs there is memory that cannot be read. */
static void
bytes_behind_a_difference_are_read(void **state)
{
	size_t		page = (size_t) sysconf(_SC_PAGESIZE);
	char	   *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction to = {.sa_handler = leave_fault};
	struct sigaction segv;
	struct sigaction bus;
	volatile bool read = true;

	(void) state;
	assert_true(memory != MAP_FAILED && mprotect(memory + page, page, PROT_NONE) == 0);
	memory[page - 1] = 'b';
	(void) sigaction(SIGSEGV, &to, &segv);
	(void) sigaction(SIGBUS, &to, &bus);
	if (sigsetjmp(at_fault, 1) == 0)
	{
		(void) pe_compare_bytes(memory + page - 1, 8, "aaaaaaaa", 8);
		read = false;
	}
	(void) sigaction(SIGSEGV, &segv, NULL);
	(void) sigaction(SIGBUS, &bus, NULL);
	assert_true(read);
	(void) munmap(memory, 2 * page);
}

static void
cells_say_what_is_null(void **state)
{
	(void) state;
	for (int order = -1; order <= 1; order++)
	{
		assert_int_equal(pe_compared_cell(order, false, false), 1 + order);
		assert_int_equal(pe_compared_cell(order, true, false), PE_COMPARED_ONE_NULL);
		assert_int_equal(pe_compared_cell(order, false, true), PE_COMPARED_ONE_NULL);
		assert_int_equal(pe_compared_cell(order, true, true), PE_COMPARED_BOTH_NULL);
	}
}

static void
operators_and_their_mirror_images(void **state)
{
	(void) state;
	for (pe_comparison_op op = PE_OP_EQ; op <= PE_OP_GE; op++)
		for (int order = -1; order <= 1; order++)
			assert_int_equal(pe_op_holds(op, order), pe_op_holds(pe_op_mirrored(op), -order));
	assert_true(pe_op_holds(PE_OP_LE, 0) && pe_op_holds(PE_OP_LE, -1) && !pe_op_holds(PE_OP_LE, 1));
	assert_true(pe_op_holds(PE_OP_NE, 1) && !pe_op_holds(PE_OP_NE, 0) && !pe_op_holds(PE_OP_LT, 0));
}

/* ---- one form ---- */

/* What is reduced compares as what was given. */
static void
reduction_keeps_the_order(void **state)
{
	(void) state;
	for (int n = 0; n < fewer(100000, 100); n++)
	{
		const int64_t above[3] = {small(6), small(6), small(6)};
		const int64_t below[3] = {between(1, 6), between(1, 6), between(1, 6)};
		int64_t		all = below[0] * below[1] * below[2];
		int64_t		a = small(9);
		int64_t		b = small(9);
		int64_t		left = above[0] * (all / below[0]) * a;
		int64_t		right = above[1] * (all / below[1]) * b + above[2] * (all / below[2]);
		int			order = (left > right) - (left < right);
		pe_comparison c = {.how = PE_COMPARE_WHOLE, .times = 1};
		bool		mirrored;

		assert_int_equal(pe_comparison_reduce(above, below, &c, &mirrored), above[0] != 0);
		if (above[0] == 0)
			continue;
		assert_true(c.left > 0);
		assert_int_equal(pe_compare_wholes(&c, (pe_whole) {a, 0}, (pe_whole) {b, 0}), mirrored ? -order : order);
	}
}

static void
reduction_is_one_form(void **state)
{
	pe_comparison c;
	bool		mirrored;

	(void) state;
	assert_true(pe_comparison_reduce((int64_t[]) {-10, -15, 25}, (int64_t[]) {1, 1, 1}, &c, &mirrored));
	assert_true(c.left == 2 && c.right == 3 && c.more == -5 && mirrored);
	assert_true(pe_comparison_reduce((int64_t[]) {1, 1, 1}, (int64_t[]) {2, 3, 4}, &c, &mirrored));
	assert_true(c.left == 6 && c.right == 4 && c.more == 3 && !mirrored);
	assert_false(pe_comparison_reduce((int64_t[]) {INT64_MAX, 1, 0}, (int64_t[]) {1, 2, 1}, &c, &mirrored));
	assert_false(pe_comparison_reduce((int64_t[]) {1, 1, 1}, (int64_t[]) {INT64_MAX, INT64_MAX - 1, 5}, &c, &mirrored));
}

static void
decimals_become_quotients(void **state)
{
	int64_t		above;
	int64_t		below;

	(void) state;
	assert_true(pe_decimal_quotient("1.50", &above, &below) && above == 3 && below == 2);
	assert_true(pe_decimal_quotient("-.125", &above, &below) && above == -1 && below == 8);
	assert_true(pe_decimal_quotient("0", &above, &below) && above == 0 && below == 1);
	assert_true(pe_decimal_quotient("9223372036854775807", &above, &below) && above == INT64_MAX && below == 1);
	assert_false(pe_decimal_quotient("9223372036854775808", &above, &below));
	assert_false(pe_decimal_quotient("0.0000000000000000001", &above, &below));
	assert_false(pe_decimal_quotient("1e3", &above, &below));
	assert_false(pe_decimal_quotient("1.2.3", &above, &below));
	assert_false(pe_decimal_quotient("NaN", &above, &below));
	assert_false(pe_decimal_quotient("", &above, &below));
	assert_false(pe_decimal_quotient("-", &above, &below));
}

/* ---- an attribute ---- */

static pe_domain
watched(pe_comparison_how how)
{
	const pe_comparison c = {how, 2, -3, 7, 0.5, -1.25};
	pe_domain	domain = {.watched = 1};

	domain.attribute[0] = pe_attribute_compares(&c);
	assert_int_equal(pe_domain_prepare(&domain), PE_DOMAIN_OK);
	return domain;
}

static void
it_is_written_and_read(void **state)
{
	pe_domain	domain = watched(PE_COMPARE_NUMERIC);
	pe_domain	back;
	const pe_comparison *read;
	size_t		size = pe_domain_size(&domain);
	char	   *bytes = pe_alloc(size, 1);

	(void) state;
	assert_int_equal(domain.comparisons, 1);
	assert_int_equal(pe_attribute_cells(&domain.attribute[0]), PE_COMPARED_CELLS);
	assert_true(pe_attribute_is_other(&domain.attribute[0], PE_COMPARED_ONE_NULL));
	assert_true(pe_attribute_is_null(&domain.attribute[0], PE_COMPARED_BOTH_NULL));
	pe_domain_write(&domain, bytes);
	assert_int_equal(pe_domain_read(&back, bytes, size), PE_DOMAIN_OK);
	read = &back.attribute[0].comparison;
	assert_true(read->how == PE_COMPARE_NUMERIC && read->left == 2 && read->right == -3 && read->more == 7 && read->times == 0.5 && read->plus == -1.25);
	assert_int_equal(back.comparisons, 1);
	pe_domain_free(&back);
	for (size_t less = 1; less <= size; less++)
	{
		assert_int_not_equal(pe_domain_read(&back, bytes, size - less), PE_DOMAIN_OK);
		pe_domain_free(&back);
	}
	bytes[7] = 'x';				/* how it compares */
	assert_int_equal(pe_domain_read(&back, bytes, size), PE_DOMAIN_MALFORMED);
	pe_domain_free(&back);
	pe_free(bytes);
	pe_free(domain.attribute[0].lookup);
}

static void
it_spans_no_cells(void **state)
{
	pe_domain	domain = watched(PE_COMPARE_BYTES);
	pe_domain	back;
	size_t		size = pe_domain_size(&domain);
	char	   *bytes = pe_alloc(size, 1);

	(void) state;
	pe_domain_write(&domain, bytes);
	bytes[4] = 1;				/* counted */
	bytes[5] = 0;
	assert_int_equal(pe_domain_read(&back, bytes, size), PE_DOMAIN_MALFORMED);
	pe_domain_free(&back);
	pe_free(bytes);
	pe_free(domain.attribute[0].lookup);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wholes_compare_exactly),
		cmocka_unit_test(infinities_stay),
		cmocka_unit_test(floats_compare_as_in_sql),
		cmocka_unit_test(bytes_compare_as_memcmp),
		cmocka_unit_test(bytes_behind_a_difference_are_read),
		cmocka_unit_test(cells_say_what_is_null),
		cmocka_unit_test(operators_and_their_mirror_images),
		cmocka_unit_test(reduction_keeps_the_order),
		cmocka_unit_test(reduction_is_one_form),
		cmocka_unit_test(decimals_become_quotients),
		cmocka_unit_test(it_is_written_and_read),
		cmocka_unit_test(it_spans_no_cells)
	};

	return cmocka_run_group_tests(tests, seed, NULL);
}

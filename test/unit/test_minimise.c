/*
 * test_minimise.c
 *	  Points of 58 bits, precise passes there, and these passes as bytes.  What the
 *	  minimiser finds is tested with its users (test_objpert.c, test_plain.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "glm/minimise.h"
#include "shim.h"
#include "fit_tables.h"

/* A point stands for its integers, keeps 58 bits of its numbers, and reads back as itself. */
static void
test_place(void **state)
{
	const double sizes[] = {0, 1e-9, 0.3, 1, 17, 1e5, 1e12, 1e26};
	const pe_u128 radius_sq = (pe_u128) 9 * PE_ONE * PE_ONE;

	(void) state;
	for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
	{
		pe_place	place;
		double		w[5];
		double		rest[5];
		double		largest = 0;
		int64_t		v[5];

		pe_place_init(&place, 5);
		for (int j = 0; j < 5; j++)
		{
			w[j] = sizes[s] * (2 * table_uniform() - 1);
			rest[j] = w[j] * 0x1p-54 * table_uniform();
			largest = fmax(largest, fabs(w[j]));
		}
		pe_place_set(&place, w, rest, radius_sq);
		for (int j = 0; j < 5; j++)
		{
			/* neighbouring doubles have an exact difference */
			double		off = (place.w[j] - w[j]) + (place.rest[j] - rest[j]);

			assert_true(place.v[j] < INT64_C(1) << 58 && place.v[j] > -(INT64_C(1) << 58));
			/* a double holds the point but for the last bits, which rest has */
			assert_true(place.w[j] + place.rest[j] == place.w[j]);
			assert_true((int64_t) ldexp(place.w[j], place.scale) + (int64_t) ldexp(place.rest[j], place.scale) == place.v[j]);
			assert_true(fabs(off) <= ldexp(1, -place.scale) * 0.51);
			v[j] = place.v[j];
		}
		/* margins are held to 43 bits and fine adds 31: 2^-56 of the largest weight, or 2^-61 */
		assert_true(ldexp(1, -place.scale) <= fmax(largest * 0x1p-53, 0x1p-61));
		pe_place_set(&place, place.w, place.rest, radius_sq);
		for (int j = 0; j < 5; j++)
			assert_true(place.v[j] == v[j]);
		pe_place_free(&place);
	}
}

/* Two points that differ in the last bit of fine have gradients that differ as the curvature says. */
static void
test_evaluate(void **state)
{
	const double truth[TABLE_COLUMNS] = {2, -1, 0.5, 1};

	(void) state;
	for (pe_model model = PE_MODEL_LOGISTIC; model <= PE_MODEL_SVM; model++)
	{
		table		t;
		pe_place	place;
		double		b[TABLE_COLUMNS];
		double		w[TABLE_COLUMNS] = {0.7, -0.4, 0.123, 3, 1e-5, -0.3, 0.9};
		long double at[TABLE_COLUMNS] = {0};
		long double gradient[TABLE_COLUMNS];
		long double value;
		pe_smooth	f;

		table_init(&t, 4, 3, model, PE_FIT_OBJPERT);
		table_fill(&t, 500, truth);
		for (int j = 0; j < TABLE_COLUMNS; j++)
			b[j] = table_normal();
		f = (pe_smooth) {
			.source = &t.source,
			.loss = model == PE_MODEL_LOGISTIC ? PE_LOSS_LOGISTIC : PE_LOSS_HUBER,
			.radius_sq = t.problem.radius_sq,
			.lambda = 0.7,
			.linear = b,
		};
		pe_place_init(&place, t.shape.columns);
		for (int i = 0; i < 50; i++)
		{
			long double off = 0;

			pe_place_set(&place, w, NULL, t.problem.radius_sq);
			pe_place_evaluate(&place, &f);
			for (int32_t j = 0; j < t.shape.columns; j++)
				at[j] = (long double) place.v[j] * ldexp(1, -place.scale);
			value = table_objective(&t, at, 0.7L, b, gradient, NULL);
			for (int32_t j = 0; j < t.shape.columns; j++)
			{
				off += (gradient[j] - place.gradient[j]) * (gradient[j] - place.gradient[j]);
				w[j] += 1e-3 * table_normal();
			}
			assert_true(sqrtl(off) <= 500 * PE_PRECISE_ERROR * sqrt(5) + 1e-13);
			assert_true(table_length(gradient, t.shape.columns) <= place.length + 500 * PE_PRECISE_ERROR * sqrt(5));
			assert_true(fabsl(value - place.value) <= 500 * 0x1p-39 + place.value_error);
		}
		pe_place_free(&place);
		table_free(&t);
	}
}

/* fine is felt: a step of 2^-31 of a weight's unit changes the sums of many rows. */
static void
test_fine(void **state)
{
	table		t;
	int32_t		v[2] = {1 << 20, -(1 << 19)};
	int32_t		fine[2] = {0, 0};
	pe_pass		pass = {.kind = PE_PASS_PRECISE, .loss = PE_LOSS_HUBER, .weights = {20, v}};
	pe_i128		without[3];
	pe_i128		zero[3];
	pe_i128		with[3];
	const double x[1] = {1};
	double		moved;

	(void) state;
	table_init(&t, 2, 0, PE_MODEL_SVM, PE_FIT_OBJPERT);
	for (int i = 0; i < 1000; i++)
		table_add(&t, x, -1, 1);
	t.source.run(&t.source, &pass, without);
	pass.fine = fine;
	t.source.run(&t.source, &pass, zero);
	assert_memory_equal(without, zero, sizeof(zero));
	/* margin 1 - 1/2 + 2^-20 (fine 2^-31): on the curved part for fine > 0, l'' = 1 */
	fine[0] = 1 << 30;
	t.source.run(&t.source, &pass, with);
	moved = (double) (with[0] - without[0]) * pe_pass_unit(&pass);
	assert_true(fabs(moved - 1000 * 0x1p-21) < 1000 * 0x1p-49);
	fine[0] = 1 << 4;
	t.source.run(&t.source, &pass, with);
	moved = (double) (with[0] - without[0]) * pe_pass_unit(&pass);
	assert_true(fabs(moved - 1000 * 0x1p-47) < 1000 * 0x1p-49);
	table_free(&t);
}

/* A pass with fine parts as bytes and back; what is not sound is not read. */
static void
test_bytes(void **state)
{
	pe_row_shape shape = {.dense = 3, .columns = 3};
	int32_t		v[3] = {1, -2, 3};
	int32_t		fine[3] = {-(1 << 30), 1 << 30, 5};
	pe_pass		pass = {.kind = PE_PASS_PRECISE, .loss = PE_LOSS_LOGISTIC, .weights = {7, v}, .fine = fine};
	pe_pass		back;
	size_t		size = pe_pass_size(&pass, &shape);
	int32_t		words[256] = {0};
	char	   *bytes = (char *) words;

	(void) state;
	assert_true(size <= sizeof(words) && size % sizeof(int32_t) == 0);
	pe_pass_write(&pass, &shape, bytes);
	assert_true(pe_pass_read(&back, &shape, bytes, size));
	assert_non_null(back.fine);
	assert_memory_equal(back.fine, fine, sizeof(fine));
	assert_memory_equal(back.weights.v, v, sizeof(v));
	assert_false(pe_pass_read(&back, &shape, bytes, size - sizeof(fine)));

	/* a fine part that is too large: the last of the bytes */
	words[size / sizeof(int32_t) - 1] = (1 << 30) + 1;
	assert_false(pe_pass_read(&back, &shape, bytes, size));

	pass.fine = NULL;
	assert_int_equal(pe_pass_size(&pass, &shape), size - sizeof(fine));
	pe_pass_write(&pass, &shape, bytes);
	assert_true(pe_pass_read(&back, &shape, bytes, size - sizeof(fine)));
	assert_null(back.fine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_evaluate),
		cmocka_unit_test(test_fine),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests_name("minimise", tests, NULL, NULL);
}

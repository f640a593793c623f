/*
 * test_alias.c
 *	  The discrete Gaussian sampler by a table: its tables, its decisions, its law.
 *
 * Tables and decisions are checked with random parameters from a fixed seed, so
 * failures repeat.  Statistical tests use the system's randomness (statistics.h).
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

#include "base/mem.h"
#include "noise/bits.h"
#include "noise/gauss.h"
#include "noise/gaussian.h"
#include "noise/lazy_exp.h"
#include "noise/alias.h"
#include "shim.h"
#include "statistics.h"

#define PLACE_BITS 23			/* of the place in a column, beyond the first 32 */

typedef struct width
{
	pe_u128		p;
	uint64_t	q;
	const char *name;
} width;

/* The last is the largest there is: sigma^2 just below 2^112. */
#define NWIDTHS 9

static width
get_width(int i)
{
	const width widths[NWIDTHS] = {
		{3, 10, "0.3"},
		{1, 1, "1"},
		{15, 2, "7.5"},
		{10000, 1, "1e4"},
		{UINT64_C(12345678901234), 1000, "1.2e10"},
		{(pe_u128) 1 << 40, 1, "2^40"},
		{(pe_u128) 1 << 80, 3, "2^80/3"},
		{((pe_u128) 1 << 100) + 1, 1, "2^100"},
		{((pe_u128) 1 << 127) - 1, UINT64_C(1) << 15, "2^112"},
	};

	return widths[i];
}

static void
make_alias(pe_alias *s, width w, double reach)
{
	pe_gauss	g;

	pe_gauss_init(&g, w.p, w.q);
	pe_alias_init(s, &g, reach);
}

/* No quick bound accepts any more: {0} too is decided like every other range. */
static void
drop_quick_bounds(pe_alias *s)
{
	for (int i = 0; i < PE_ALIAS_COLUMNS; i++)
		s->range[i].quick = 0;
}

/* ----------
 * Ranges
 * ----------
 */
static pe_alias scratch;

static void
init_with_reach(void *reach)
{
	pe_gauss	g;

	pe_gauss_init(&g, 1, 1);
	pe_alias_init(&scratch, &g, *(double *) reach);
}

static void
init_too_wide(void *arg)
{
	pe_gauss	g;

	(void) arg;
	pe_gauss_init(&g, (pe_u128) 1 << 112, 1);
	pe_alias_init(&scratch, &g, PE_ALIAS_REACH);
}

static void
test_alias_range(void **state)
{
	double		reaches[] = {1.4, 9.5, NAN};
	pe_gauss	g;

	(void) state;
	pe_gauss_init(&g, (pe_u128) 1 << 112, 1);
	assert_false(pe_alias_serves(&g));
	assert_true(pe_test_is_bug(init_too_wide, NULL));
	pe_gauss_init(&g, ((pe_u128) 1 << 112) - 1, 1);
	assert_true(pe_alias_serves(&g));
	pe_gauss_init(&g, 1, UINT64_MAX);
	assert_true(pe_alias_serves(&g));
	for (int i = 0; i < 3; i++)
		assert_true(pe_test_is_bug(init_with_reach, &reaches[i]));
}

/* ----------
 * Tables
 * ----------
 */

/* The alias table gives each range its weight, to the last unit. */
static void
check_columns(const pe_alias *s)
{
	pe_u128		mass[PE_ALIAS_COLUMNS] = {0};

	for (unsigned i = 0; i < PE_ALIAS_COLUMNS; i++)
	{
		const pe_alias_column *column = &s->column[i];

		assert_true(column->threshold <= PE_ALIAS_CAPACITY && column->alias < PE_ALIAS_COLUMNS);
		mass[i] += column->threshold;
		mass[column->alias] += PE_ALIAS_CAPACITY - column->threshold;
	}
	for (unsigned i = 0; i < PE_ALIAS_COLUMNS; i++)
		assert_true(mass[i] == s->range[i].weight);
}

/* The ranges cover the integers from 0 on, each once, and no product overflows. */
static void
check_layout(const pe_alias *s, double reach)
{
	long double variance = (long double) s->p / s->q;
	uint64_t	d = s->range[s->tail].width;
	uint64_t	k = s->range[s->tail].start;
	uint64_t	next = 0;
	pe_u128		total = 0;

	assert_true(s->tail >= 1 && s->tail + 1 < PE_ALIAS_COLUMNS);
	for (unsigned i = 0; i <= s->tail; i++)
	{
		assert_true(s->range[i].start == next && s->range[i].width >= 1 && s->range[i].weight >= 1);
		assert_true((pe_u128) s->range[i].width * s->scale >> 64 == 0);
		assert_true(i == s->tail || s->range[i].width == 1 ||
					36.0L * s->range[i].width * s->range[i].width <= variance * (1.0L + 1e-12L));
		next += s->range[i].width;
		total += s->range[i].weight;
	}
	for (unsigned i = s->tail + 1; i < PE_ALIAS_COLUMNS; i++)
	{
		assert_true(s->range[i].width == 0 && s->range[i].quick == 0);
		assert_true(s->range[i].weight == (i == s->tail + 1 ? PE_ALIAS_TOTAL - total : 0));
	}
	assert_true(total <= PE_ALIAS_TOTAL && total > PE_ALIAS_TOTAL / 100 * 96);
	assert_true(s->range[0].width == 1 && s->range[0].quick == UINT64_C(1) << PE_ALIAS_QUICK_BITS);
	assert_true(s->scale % 2 == 0 && s->range[0].weight == s->scale / 2);

	/* the tail: K >= reach sigma, K D >= sigma^2, nothing beyond 2^63 */
	assert_true(s->range[s->tail].quick == 0);
	assert_true((long double) k * k >= (long double) (reach * reach) * variance);
	assert_true((long double) k * d >= 1.0001L * variance);
	assert_true((long double) d * d >= variance * (1.0L - 1e-15L));
	assert_true((pe_u128) k + (pe_u128) 64 * d < (pe_u128) 1 << 63);
}

/* Is V a < b exp(-k^2 q/(2p)) for the V whose words are first, then rest, rest, ...? */
static bool
is_less(const pe_alias *s, uint64_t a, uint64_t b, uint64_t k, uint64_t first, uint64_t rest)
{
	static pe_bits bits;
	uint64_t	words[63];
	pe_lazy_claim claim = {a, b, pe_wide_times(pe_wide_product(k, k), s->q), pe_wide_times(pe_wide_from(s->p), 2),
	pe_wide_from(0), pe_wide_from(1), 0, 0};

	for (int i = 0; i < 63; i++)
		words[i] = rest;
	serve_words(&bits, words, 63);
	return pe_lazy_less_exact(&claim, first, &bits);
}

/*
 * The inequalities that exactness rests on, with 64-bit mantissas in all ranges:
 * no acceptance above 1, none below the quick bound.
 */
static void
check_inequalities(const pe_alias *s)
{
	for (unsigned i = 1; i <= s->tail; i++)
	{
		const pe_alias_range *range = &s->range[i];
		long double a = (long double) range->start;
		long double b = a + (range->width - 1);
		long double half_rate = (long double) s->q / s->p / 2.0L;
		long double full = (long double) range->width * s->scale * (i == s->tail ? 2.0L : 1.0L);
		long double top = full * expl(-half_rate * a * a);
		long double least = full * expl(-half_rate * b * b) / range->weight;

		assert_true(range->weight >= top * (1.0L + 0x1p-42L));
		assert_true(range->weight <= top * (1.0L + 0x1p-39L) + 2.5L);
		if (i == s->tail)
			continue;
		assert_true(range->quick <= 0x1p23L * least * (1.0L - 0x1p-42L));
		assert_true(range->quick + 1.5L >= 0x1p23L * least * (1.0L - 0x1p-38L));
	}
}

/* The same in one range, exactly. */
static void
check_inequalities_exactly(const pe_alias *s, unsigned i)
{
	const pe_alias_range *range = &s->range[i];
	uint64_t	factor = range->width * s->scale;

	if (i == s->tail)
	{
		assert_false(is_less(s, range->weight, factor, range->start, UINT64_MAX >> 1, UINT64_MAX));
		return;
	}
	if (i > 0)
		assert_false(is_less(s, range->weight, factor, range->start, UINT64_MAX, UINT64_MAX));
	if (i > 0 && range->quick > 0)
		assert_true(is_less(s, range->weight, factor, range->start + range->width - 1,
							range->quick << (64 - PE_ALIAS_QUICK_BITS), 0));
}

static void
check_table(const pe_alias *s, double reach, pe_bits *bits)
{
	check_columns(s);
	check_layout(s, reach);
	check_inequalities(s);
	for (int i = 0; i < 6; i++)
		check_inequalities_exactly(s, (unsigned) pe_bits_below(bits, s->tail));
	check_inequalities_exactly(s, s->tail);
}

static void
test_alias_tables(void **state)
{
	long		n = scaled(5000);
	long		checked = 0;
	unsigned	most = 0;
	static pe_bits bits;

	(void) state;
	pe_test_seed(11);
	pe_bits_init(&bits);
	for (int i = 0; i < NWIDTHS; i++)
	{
		make_alias(&scratch, get_width(i), PE_ALIAS_REACH);
		check_table(&scratch, PE_ALIAS_REACH, &bits);
	}
	for (long i = 0; i < n; i++)
	{
		const int	q_bits[] = {20, 20, 40, 64};
		uint64_t	q = (pe_bits_next64(&bits) >> (64 - q_bits[i % 4])) + (i % 4 != 3);
		double		lg = -20.0 + (double) pe_bits_below(&bits, 1320) / 10.0;
		double		p = exp2(i % 16 == 15 ? -64.0 : lg) * (double) q * (1.0 + (double) pe_bits_next32(&bits) * 0x1p-34);
		double		reach = i % 8 == 7 ? 1.5 : PE_ALIAS_REACH;
		pe_gauss	g;

		if (p >= 0x1p127)
			continue;
		pe_gauss_init(&g, p < 1.0 ? 1 : (pe_u128) p | (i & 1), q > 0 ? q : 1);
		if (!pe_alias_serves(&g))
			continue;
		pe_alias_init(&scratch, &g, reach);
		check_table(&scratch, reach, &bits);
		most = scratch.tail > most ? scratch.tail : most;
		checked++;
	}
	pe_test_unseed();
	print_message("%ld tables, at most %u columns used\n", checked, most + 2);
	assert_true(checked > n / 2);
}

/* ----------
 * Decisions
 * ----------
 */

/* Random bytes for one draw, in the order they are taken. */
typedef struct script
{
	size_t		size;
	unsigned char bytes[PE_BITS_BYTES];
} script;

static void
put(script *to, const void *word, size_t size)
{
	memcpy(to->bytes + to->size, word, size);
	to->size += size;
}

static void
put64(script *to, uint64_t word)
{
	put(to, &word, sizeof(word));
}

static void
put32(script *to, uint32_t word)
{
	put(to, &word, sizeof(word));
}

/* The draw that takes these bytes and then zeros, which choose column 0 and end in Y = 0. */
static int64_t
draw_script(const pe_alias *s, const script *from)
{
	static pe_bits bits;

	pe_bits_init(&bits);
	bits.unread = PE_BITS_BYTES;
	memset(bits.buffer, 0, sizeof(bits.buffer));
	memcpy(bits.buffer, from->bytes, from->size);
	return pe_alias_draw(s, &bits);
}

/* Proposes the given offset in range i, with n bits in the tail, and the V that begins with first. */
static void
propose(script *to, const pe_alias *s, unsigned i, uint64_t offset, unsigned n, uint64_t first)
{
	uint64_t	size = s->range[i].width;
	uint64_t	begun = first >> (64 - PE_ALIAS_QUICK_BITS);

	to->size = 0;
	put64(to, begun << (PE_ALIAS_COLUMN_BITS + 1) | i);
	if (s->column[i].threshold >> PLACE_BITS == 0)
		put32(to, 0);
	if (size > PE_BITS_SHORT_BOUND)
		put64(to, (uint64_t) ((((pe_u128) offset << 64) + ((pe_u128) 1 << 63)) / size) + 1);
	else if (size > 1)
		put32(to, (uint32_t) (((offset << 32) + (UINT64_C(1) << 31)) / size) + 1);
	if (i == s->tail)
		put64(to, UINT64_C(1) << (64 - n));
	put64(to, first << PE_ALIAS_QUICK_BITS);
}

/*
 * Proposals in random ranges, V from 2^-56 to 2^-24 beside the acceptance that
 * alias.h states: the usual margin and the exact comparison decide alike, and from
 * 2^-40 on, where long double tells (it may be no longer than double), as they
 * should.
 */
static void
check_decisions(width w, double reach, pe_bits *bits)
{
	static pe_alias usual;
	static pe_alias exact;
	long		rounds = scaled(4000);
	long		checked = 0;

	make_alias(&usual, w, reach);
	exact = usual;
	exact.margin = INFINITY;
	drop_quick_bounds(&exact);
	for (long round = 0; round < rounds; round++)
	{
		unsigned	i = round % 3 == 0 ? usual.tail : 1 + (unsigned) pe_bits_below(bits, usual.tail - 1);
		unsigned	n = i == usual.tail ? 1 + (unsigned) pe_bits_below(bits, 6) : 0;
		const pe_alias_range *range = &usual.range[i];
		uint64_t	offset = pe_bits_below(bits, range->width);
		uint64_t	k = range->start + (n > 1 ? (n - 1) * range->width : 0) + offset;
		long double chance = ldexpl((long double) range->width * usual.scale / range->weight, (int) n) *
			expl(-(long double) k * k * w.q / w.p / 2.0L);
		int			near = -56 + (int) pe_bits_below(bits, 33);
		long double off = ldexpl(pe_bits_next1(bits) ? 1.0L : -1.0L, near);
		long double v = chance * (1.0L + off);
		static script words;
		int64_t		decided;

		assert_true(chance <= 1.0L);
		if (chance < 0x1p-16L || v >= 1.0L || usual.column[i].threshold == 0)
			continue;
		propose(&words, &usual, i, offset, n, (uint64_t) (v * 0x1p64L));
		decided = draw_script(&exact, &words);
		assert_true(near < -40 || decided == (off < 0 ? (int64_t) k : 0));
		assert_true(draw_script(&usual, &words) == decided);
		checked++;
	}
	assert_true(checked > rounds / 20);
}

static void
test_alias_decisions(void **state)
{
	static pe_bits bits;

	(void) state;
	pe_test_seed(12);
	pe_bits_init(&bits);
	for (int i = 0; i < NWIDTHS; i++)
	{
		check_decisions(get_width(i), PE_ALIAS_REACH, &bits);
		check_decisions(get_width(i), 1.5, &bits);
	}
	pe_test_unseed();
}

/*
 * The exact comparison's constants, to the last unit: with W = 4, w F = 2 and f
 * near 1 the acceptance is near 1/2.
 */
static void
test_alias_claim(void **state)
{
	const uint64_t half = UINT64_C(1) << 63;
	const unsigned i = 5;
	static script words;

	(void) state;
	make_alias(&scratch, get_width(3), PE_ALIAS_REACH);
	drop_quick_bounds(&scratch);
	scratch.margin = INFINITY;
	scratch.p = (pe_u128) 1 << 126;
	scratch.q = 1;
	scratch.rate = 0x1p-127;
	scratch.scale = 2;
	scratch.range[i].start = 77;
	scratch.range[i].width = 1;
	scratch.range[i].weight = 4;
	propose(&words, &scratch, i, 0, 0, half - 1);
	assert_true(draw_script(&scratch, &words) == 77);
	propose(&words, &scratch, i, 0, 0, half);
	assert_true(draw_script(&scratch, &words) == 0);

	/* in the tail 2^n w F / W */
	scratch.tail = i;
	for (unsigned n = 1; n < 4; n++)
	{
		scratch.range[i].weight = UINT64_C(4) << n;
		propose(&words, &scratch, i, 0, n, half - 1);
		assert_true(draw_script(&scratch, &words) == 76 + (int64_t) n);
		propose(&words, &scratch, i, 0, n, half);
		assert_true(draw_script(&scratch, &words) == 0);
	}
}

/* {0} is accepted whatever V is, with the quick bound and without. */
static void
test_alias_zero(void **state)
{
	static script words;

	(void) state;
	for (int i = 0; i < NWIDTHS; i++)
	{
		make_alias(&scratch, get_width(i), PE_ALIAS_REACH);
		for (int mode = 0; mode < 3; mode++)
		{
			static pe_bits bits;
			size_t		unread;

			/* a proposal of 0, then one of something else that must not be looked at */
			propose(&words, &scratch, 0, 0, 0, UINT64_MAX);
			words.size -= mode == 0 ? 8 : 0;
			put64(&words, UINT64_MAX);
			put64(&words, UINT64_MAX);
			put64(&words, UINT64_MAX);
			memcpy(bits.buffer, words.bytes, words.size);
			bits.unread = PE_BITS_BYTES;
			assert_true(pe_alias_draw(&scratch, &bits) == 0);
			unread = PE_BITS_BYTES - bits.unread;
			assert_true(unread <= words.size - (mode == 2 ? 0 : 24));
			drop_quick_bounds(&scratch);
			if (mode == 1)
				scratch.margin = INFINITY;
		}
	}
}

/* The place in a column is compared with the threshold to the last bit. */
static void
test_alias_place(void **state)
{
	static pe_bits bits;
	static script words;
	long		compared = 0;

	(void) state;
	make_alias(&scratch, get_width(3), PE_ALIAS_REACH);

	/* ranges of one integer each, far apart: the result tells the range */
	for (unsigned i = 0; i < PE_ALIAS_COLUMNS; i++)
	{
		scratch.range[i].start = 1000 + i;
		scratch.range[i].width = 1;
		scratch.range[i].quick = UINT64_C(1) << PE_ALIAS_QUICK_BITS;
	}
	for (unsigned i = 0; i < PE_ALIAS_COLUMNS; i++)
	{
		uint64_t	threshold = scratch.column[i].threshold;

		for (int minus = 0; minus < 2; minus++)
		{
			for (uint64_t place = threshold - 2; place != threshold + 2; place++)
			{
				int64_t		range = place < threshold ? i : scratch.column[i].alias;

				if (place >= PE_ALIAS_CAPACITY)
					continue;
				words.size = 0;
				put64(&words, place >> PLACE_BITS << 32 | (uint64_t) minus << PE_ALIAS_COLUMN_BITS | i);
				put32(&words, (uint32_t) (place << (32 - PLACE_BITS)));
				memcpy(bits.buffer, words.bytes, words.size);
				bits.unread = PE_BITS_BYTES;
				assert_true(pe_alias_draw(&scratch, &bits) == (minus ? -(1000 + range) : 1000 + range));
				compared++;
			}
		}
	}
	print_message("%ld places compared\n", compared);
	assert_true(compared > 1000);
}

/* Coins: the first 63 count, more is a rejection. */
static void
test_alias_coins(void **state)
{
	static script words;
	uint64_t	k;
	uint64_t	d;

	(void) state;
	make_alias(&scratch, get_width(6), PE_ALIAS_REACH);
	k = scratch.range[scratch.tail].start;
	d = scratch.range[scratch.tail].width;

	/* V = 0 is accepted wherever f is not 0: make it 1 everywhere */
	scratch.rate = 0.0;
	for (unsigned n = 1; n <= 63; n++)
	{
		propose(&words, &scratch, scratch.tail, 17, n, 0);
		assert_true(draw_script(&scratch, &words) == (int64_t) (k + (n - 1) * d + 17));
	}
	propose(&words, &scratch, scratch.tail, 17, 64, 0);
	assert_true(draw_script(&scratch, &words) == 0);
	propose(&words, &scratch, scratch.tail, 17, 1, 0);
	memset(words.bytes + words.size - 16, 0, 8);
	assert_true(draw_script(&scratch, &words) == 0);
}

/* ----------
 * The law
 * ----------
 */
static pe_i128
draw_alias(const void *prepared, pe_bits *bits)
{
	return pe_alias_draw(prepared, bits);
}

static void
test_alias_law(void **state)
{
	(void) state;
	for (int i = 0; i < NWIDTHS; i++)
	{
		width		w = get_width(i);
		char		name[80];

		make_alias(&scratch, w, PE_ALIAS_REACH);
		snprintf(name, sizeof(name), "sigma^2 = %s", w.name);
		check_draws(name, draw_alias, &scratch, (double) w.p / (double) w.q, scaled(4000000));
	}
}

/* The law does not depend on how decisions are taken nor on where the tail begins. */
static void
test_alias_forced(void **state)
{
	const struct
	{
		bool		quick;
		double		margin;
		double		reach;
		long		n;
		const char *name;
	}			modes[] = {
		{false, 0.05, PE_ALIAS_REACH, 300000, "no quick bound, margin .05"},
		{false, INFINITY, PE_ALIAS_REACH, 15000, "all exact"},
		{true, PE_LAZY_MARGIN, 1.5, 1000000, "tail from 1.5 sigma"},
		{false, 0.05, 1.5, 200000, "tail from 1.5 sigma, no quick bound, margin .05"},
		{false, INFINITY, 1.5, 15000, "tail from 1.5 sigma, all exact"},
	};

	(void) state;
	for (int i = 0; i < NWIDTHS; i++)
	{
		for (size_t j = 0; j < sizeof(modes) / sizeof(modes[0]); j++)
		{
			width		w = get_width(i);
			char		name[120];

			make_alias(&scratch, w, modes[j].reach);
			scratch.margin = modes[j].margin;
			if (!modes[j].quick)
				drop_quick_bounds(&scratch);
			snprintf(name, sizeof(name), "sigma^2 = %s, %s", w.name, modes[j].name);
			check_draws(name, draw_alias, &scratch, (double) w.p / (double) w.q, scaled(modes[j].n));
		}
	}
}

static void
test_alias_low_bits(void **state)
{
	(void) state;
	for (int i = 4; i < NWIDTHS; i++)
	{
		width		w = get_width(i);
		char		name[80];

		make_alias(&scratch, w, PE_ALIAS_REACH);
		snprintf(name, sizeof(name), "low bits, sigma^2 = %s", w.name);
		check_low_bits(name, draw_alias, &scratch, scaled(1000000));
	}
}

/* Practically always 0. */
static void
test_alias_tiny(void **state)
{
	static pe_bits bits;
	const width tiny[] = {{1, UINT64_MAX, ""}, {1, 1000, ""}};

	(void) state;
	pe_bits_init(&bits);
	for (int i = 0; i < 2; i++)
	{
		make_alias(&scratch, tiny[i], PE_ALIAS_REACH);
		for (int j = 0; j < 100000; j++)
			assert_true(pe_alias_draw(&scratch, &bits) == 0);
	}
	pe_bits_wipe(&bits);
}

/* ----------
 * The mechanism
 * ----------
 */

/* The mechanism draws count values by the sampler expected: same bits, same noise. */
static void
check_choice(size_t count, pe_u128 sensitivity_sq, bool by_table)
{
	static pe_bits bits;
	pe_i128	   *exact = pe_alloc(count, sizeof(*exact));
	int64_t    *released = pe_alloc(count, sizeof(*released));
	pe_gauss	g;
	pe_u128		p;
	uint64_t	q;

	pe_test_seed(13);
	pe_gaussian_release(PE_ZCDP, exact, count, sensitivity_sq, 500000000, released);
	assert_true(pe_gaussian_calibrate(PE_ZCDP, sensitivity_sq, 500000000, &p, &q));
	pe_gauss_init(&g, p, q);
	if (by_table)
		pe_alias_init(&scratch, &g, PE_ALIAS_REACH);
	pe_test_seed(13);
	pe_bits_init(&bits);
	for (size_t i = 0; i < count; i++)
		assert_true(released[i] == (by_table ? pe_alias_draw(&scratch, &bits) : (int64_t) pe_gauss_draw(&g, &bits)));
	pe_test_unseed();
	pe_free(exact);
	pe_free(released);
}

static void
test_release_choice(void **state)
{
	(void) state;
	check_choice(PE_GAUSSIAN_TABLE_COUNT - 1, 10000, false);
	check_choice(PE_GAUSSIAN_TABLE_COUNT, 10000, true);
	check_choice(PE_GAUSSIAN_TABLE_COUNT, 1, true);
	check_choice(PE_GAUSSIAN_TABLE_COUNT, ((pe_u128) 1 << 112) - 1, true);
	check_choice(PE_GAUSSIAN_TABLE_COUNT, (pe_u128) 1 << 112, false);
	check_choice(1, 1, false);
}

/* Releases of count answers each: the noise has the law that the cost was computed from. */
static void
check_release(const char *name, size_t count, pe_u128 sensitivity_sq, int64_t nano_rho)
{
	long		n = scaled(500000);
	double		parameter = (double) sensitivity_sq * 1e9 / (2.0 * (double) nano_rho);
	pe_i128    *exact = pe_alloc(count, sizeof(*exact));
	int64_t    *released = pe_alloc(count, sizeof(*released));
	long		seen[MAX_BINS] = {0};
	long		drawn = 0;
	double		squares = 0.0;
	law			l;

	law_of(&l, parameter, n);
	while (drawn < n)
	{
		for (size_t i = 0; i < count; i++)
			exact[i] = 1000 * (int64_t) i - 77;
		pe_gaussian_release(PE_ZCDP, exact, count, sensitivity_sq, nano_rho, released);
		for (size_t i = 0; i < count; i++)
		{
			int64_t		noise = released[i] - (1000 * (int64_t) i - 77);

			assert_true(exact[i] == 0);
			seen[law_bin(&l, noise)]++;
			squares += (double) noise * (double) noise / l.variance;
		}
		drawn += (long) count;
	}
	pe_free(exact);
	pe_free(released);
	check_chi_square(name, seen, l.mass, l.nbins, drawn);
	check_z("variance",
			(squares - (double) drawn) / sqrt((double) drawn * (l.fourth / (l.variance * l.variance) - 1.0)));
}

static void
test_release_law(void **state)
{
	const size_t counts[] = {PE_GAUSSIAN_TABLE_COUNT - 1, PE_GAUSSIAN_TABLE_COUNT, 20000};

	(void) state;
	for (int i = 0; i < 3; i++)
	{
		char		name[80];

		snprintf(name, sizeof(name), "release of %zu, sensitivity 1, rho 0.5", counts[i]);
		check_release(name, counts[i], 1, 500000000);
		snprintf(name, sizeof(name), "release of %zu, sensitivity^2 2, rho 0.0123", counts[i]);
		check_release(name, counts[i], 2, 12345678);
		snprintf(name, sizeof(name), "release of %zu, sensitivity^2 1.2e12, rho 0.0988", counts[i]);
		check_release(name, counts[i], UINT64_C(1234567890123), 98765432);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alias_range),
		cmocka_unit_test(test_alias_tables),
		cmocka_unit_test(test_alias_decisions),
		cmocka_unit_test(test_alias_claim),
		cmocka_unit_test(test_alias_zero),
		cmocka_unit_test(test_alias_place),
		cmocka_unit_test(test_alias_coins),
		cmocka_unit_test(test_alias_law),
		cmocka_unit_test(test_alias_forced),
		cmocka_unit_test(test_alias_low_bits),
		cmocka_unit_test(test_alias_tiny),
		cmocka_unit_test(test_release_choice),
		cmocka_unit_test(test_release_law),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

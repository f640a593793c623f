/*
 * test_gauss.c
 *	  Random bits, exact comparisons, the discrete Gaussian sampler and the
 *	  Gaussian mechanism.
 *
 * Statistical tests use the system's randomness (statistics.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "noise/bits.h"
#include "noise/gauss.h"
#include "noise/gaussian.h"
#include "noise/lazy_exp.h"
#include "noise/noise.h"
#include "noise/private.h"
#include "shim.h"
#include "statistics.h"

static pe_i128
draw_gauss(const void *prepared, pe_bits *bits)
{
	return pe_gauss_draw(prepared, bits);
}

static void
check_sampler(const pe_gauss *g, const char *name, long n)
{
	check_draws(name, draw_gauss, g, (double) g->p / (double) g->q, n);
}

/* ----------
 * Random bits
 * ----------
 */

static void
test_bits_wipe(void **state)
{
	static pe_bits bits;
	const unsigned char *byte = (const unsigned char *) &bits;
	uint64_t	all = 0;

	(void) state;
	pe_bits_init(&bits);
	(void) pe_bits_next64(&bits);
	(void) pe_bits_next1(&bits);
	assert_true(bits.unread == PE_BITS_FIRST_BYTES - 16 && bits.spares == 63);
	pe_bits_wipe(&bits);
	for (size_t i = 0; i < sizeof(bits); i++)
		assert_int_equal(byte[i], 0);

	/* a wiped source is empty: it serves fresh bytes, not zeros */
	for (int i = 0; i < 4; i++)
		all |= pe_bits_next64(&bits);
	assert_true(all != 0);
	pe_bits_wipe(&bits);
}

static void
test_bits_order(void **state)
{
	const uint64_t words[2] = {UINT64_C(0x8877665544332211), 5};
	static uint64_t stream[PE_BITS_BYTES / 2];
	static pe_bits bits;

	(void) state;
	serve_words(&bits, words, 2);
	assert_true(pe_bits_next32(&bits) == 0x44332211);
	assert_true(pe_bits_next32(&bits) == 0x88776655);
	assert_true(pe_bits_next1(&bits));
	assert_false(pe_bits_next1(&bits));
	assert_true(pe_bits_next1(&bits));
	for (int i = 3; i < 64; i++)
		assert_false(pe_bits_next1(&bits));
	assert_true(bits.unread == 0 && bits.spares == 0);

	/* every byte is served once: the words of several fetches are what the source gives */
	pe_test_seed(7);
	pe_random_bytes(stream, sizeof(stream));
	pe_test_seed(7);
	pe_bits_init(&bits);
	for (size_t i = 0; i < sizeof(stream) / sizeof(stream[0]); i++)
		assert_true(pe_bits_next64(&bits) == stream[i]);
	assert_true(bits.fetched == PE_BITS_BYTES);
	pe_bits_wipe(&bits);
	for (size_t i = 0; i < sizeof(bits); i++)
		assert_int_equal(((const unsigned char *) &bits)[i], 0);
	pe_test_unseed();
}

static void
draw_below_zero(void *bits)
{
	(void) pe_bits_below(bits, 0);
}

static void
draw_below_zero_128(void *bits)
{
	(void) pe_bits_below128(bits, 0);
}

/* Words whose result would be too frequent are drawn again. */
static void
test_below_rejects(void **state)
{
	static pe_bits bits;
	const uint64_t half = UINT64_C(1) << 63;
	pe_u128		m;

	(void) state;
	/* m = 3 from 32 bits: 2^32 mod 3 = 1, so word 0 is the one too many */
	serve_words(&bits, (const uint64_t[]) {UINT64_C(0x5555555600000000)}, 1);
	assert_true(pe_bits_below(&bits, 3) == 1);
	assert_true(bits.unread == 0);
	serve_words(&bits, (const uint64_t[]) {UINT64_C(0xffffffff00000001)}, 1);
	assert_true(pe_bits_below(&bits, 3) == 0);
	assert_true(pe_bits_below(&bits, 3) == 2);

	/* m = 2^63 + 1 from 64 bits: 2^64 mod m = 2^63 - 1 */
	serve_words(&bits, (const uint64_t[]) {0, half - 1, half + 1, UINT64_MAX}, 4);
	m = (pe_u128) (half - 1) * (half + 1);
	assert_true((uint64_t) m >= half - 1);
	assert_true(pe_bits_below(&bits, half + 1) == (uint64_t) (m >> 64));
	assert_true(bits.unread == 16);

	/* m = 2^64 + 1 from 65 bits: 2^65 - 1 is too large, then 2^64 */
	serve_words(&bits, (const uint64_t[]) {1, UINT64_MAX, 3, 0}, 4);
	m = ((pe_u128) 1 << 64) + 1;
	assert_true(pe_bits_below128(&bits, m) == (pe_u128) 1 << 64);
	assert_true(bits.unread == 0);

	assert_true(pe_bits_below(&bits, 1) == 0);
	assert_true(pe_bits_below128(&bits, 1) == 0);
	assert_true(pe_test_is_bug(draw_below_zero, &bits));
	assert_true(pe_test_is_bug(draw_below_zero_128, &bits));
}

static void
test_below_uniform(void **state)
{
	const pe_u128 bounds[] = {2, 3, 10, 1000, (UINT64_C(1) << 27) - 1, (UINT64_C(1) << 31) + 1,
	UINT64_C(3) << 62, ((pe_u128) 1 << 64) + 1, (pe_u128) 5 << 125};
	long		n = scaled(400000);
	static pe_bits bits;

	(void) state;
	pe_bits_init(&bits);
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
	{
		pe_u128		m = bounds[i];
		int			nbins = m < 50 ? (int) m : 50;
		long		seen[50] = {0};
		double		mass[50];
		char		name[80];

		for (long j = 0; j < n; j++)
		{
			pe_u128		draw = m <= UINT64_MAX ? pe_bits_below(&bits, (uint64_t) m) : pe_bits_below128(&bits, m);

			assert_true(draw < m);
			seen[m < 1000000 ? (int) (draw * nbins / m) : (int) ((double) draw / (double) m * nbins)]++;
		}
		for (int b = 0; b < nbins; b++)
			mass[b] = 1.0 / nbins;
		snprintf(name, sizeof(name), "uniform below %.6g", (double) m);
		check_chi_square(name, seen, mass, nbins, n);
	}
	pe_bits_wipe(&bits);
}

/* ----------
 * Exact comparisons
 * ----------
 */
static void
test_wide(void **state)
{
	const pe_u128 most = ~(pe_u128) 0;
	pe_wide		w = pe_wide_product(most, most);

	(void) state;
	/* (2^128 - 1)^2 = 2^256 - 2^129 + 1 */
	assert_true(w.limb[0] == 1 && w.limb[1] == 0 && w.limb[2] == UINT64_MAX - 1 && w.limb[3] == UINT64_MAX);
	w = pe_wide_times(pe_wide_from(most), UINT64_MAX);
	/* (2^128 - 1)(2^64 - 1) = 2^192 - 2^128 - 2^64 + 1 */
	assert_true(w.limb[0] == 1 && w.limb[1] == UINT64_MAX && w.limb[2] == UINT64_MAX - 1 && w.limb[3] == 0);
}

static void
overflow_wide(void *arg)
{
	(void) arg;
	(void) pe_wide_times(pe_wide_product(~(pe_u128) 0, ~(pe_u128) 0), 2);
}

static pe_lazy_claim
make_claim(uint64_t a, uint64_t b, pe_u128 n1, pe_u128 d1, pe_u128 n2, pe_u128 d2, uint64_t shift)
{
	pe_lazy_claim claim = {a, b, pe_wide_from(n1), pe_wide_from(d1), pe_wide_from(n2), pe_wide_from(d2), shift, 0};

	return claim;
}

/* Decides the claim for the V that begins with the nwords words given, and how many were read. */
static bool
decide_words(const pe_lazy_claim *claim, const uint64_t *words, int nwords, int *nread)
{
	static pe_bits bits;
	bool		less;

	serve_words(&bits, words + 1, nwords - 1);
	less = pe_lazy_less_exact(claim, words[0], &bits);
	*nread = nwords - (int) (bits.unread / 8);
	return less;
}

/*
 * V beside a threshold whose first 12 words are known: agreeing with it in k - 1
 * words and off by one in word k.
 */
static void
check_threshold(const pe_lazy_claim *claim, const uint64_t *threshold)
{
	for (int k = 1; k <= 12; k++)
	{
		int			expected_words = k < 4 ? 4 : k < 8 ? 8 : 16;
		int			nread;
		uint64_t	words[16] = {0};

		memcpy(words, threshold, 12 * sizeof(uint64_t));
		words[k - 1]--;
		assert_true(decide_words(claim, words, 16, &nread));
		assert_true(nread <= expected_words);
		words[k - 1] += 2;
		assert_false(decide_words(claim, words, 16, &nread));
		assert_true(nread <= expected_words);
		assert_true(nread >= (k <= 4 ? 4 : k <= 8 ? 8 : 16));
	}
}

static void
test_lazy_known_thresholds(void **state)
{
	/* exp(-1) */
	const uint64_t one[12] = {
		UINT64_C(0x5e2d58d8b3bcdf1a), UINT64_C(0xbadec7829054f90d), UINT64_C(0xda9805aab56c7733),
		UINT64_C(0x3024b9d0a507daed), UINT64_C(0xb16400bf472b4215), UINT64_C(0xb8245b669d90d27a),
		UINT64_C(0x5aea5550968dc392), UINT64_C(0x29f03c6276dcaa58), UINT64_C(0xc0ec2b3bdbaa9270),
		UINT64_C(0xd925fdbd580cf14d), UINT64_C(0xc087c3f3fe444626), UINT64_C(0xcd2ade4e58d11243)
	};

	/* 2/3 exp(-11/15) */
	const uint64_t scaled_one[12] = {
		UINT64_C(0x51f8dbdad9ca98eb), UINT64_C(0xb5ff43f4048f3302), UINT64_C(0xfad2935261a1dcb4),
		UINT64_C(0x8f424016a504fed4), UINT64_C(0xd2bed0dac281d2c4), UINT64_C(0x5646dd45e86258dd),
		UINT64_C(0xf91d4c521d59d072), UINT64_C(0x37d832cb7bf909ab), UINT64_C(0x83d151b705d3de66),
		UINT64_C(0xad470efd6556e655), UINT64_C(0x94717a39a3fea747), UINT64_C(0xb782ccf5d2a471e5)
	};

	/* exp(-1/7) */
	const uint64_t seventh[12] = {
		UINT64_C(0xddebb5c50d5cc2a4), UINT64_C(0x74a4e07fbe243cd8), UINT64_C(0xafb0c5939a3e6b84),
		UINT64_C(0xa877f612e2f114d4), UINT64_C(0x3c15660d469b5b09), UINT64_C(0x64b160a4711454a7),
		UINT64_C(0x1fa9549fa997de7d), UINT64_C(0x45202e27608badca), UINT64_C(0x691c23c1b9421103),
		UINT64_C(0x237c7e02f5f6586c), UINT64_C(0xa07a2062737e41e2), UINT64_C(0x7904e6252040209e)
	};

	/* exp(-12345/1000 - 2/7 + 3) */
	const uint64_t far[12] = {
		UINT64_C(0x00044dedf636d9d4), UINT64_C(0x5e8307c5cad4314d), UINT64_C(0x576e0f2a7729e642),
		UINT64_C(0xc7bd1f16c203d8d8), UINT64_C(0x50ba9858a3464f90), UINT64_C(0x55d2be68a3e37d51),
		UINT64_C(0x15291a5f2567e31e), UINT64_C(0xe67d1bfad8709555), UINT64_C(0x2ee05a1d7f1540d2),
		UINT64_C(0xe6f9a1fcacee81c2), UINT64_C(0x6305b4b0495e7935), UINT64_C(0x71128c0ecde74e11)
	};
	/* 2^-60 exp(-1/7) */
	const uint64_t small[12] = {
		UINT64_C(0x000000000000000d), UINT64_C(0xdebb5c50d5cc2a47), UINT64_C(0x4a4e07fbe243cd8a),
		UINT64_C(0xfb0c5939a3e6b84a), UINT64_C(0x877f612e2f114d43), UINT64_C(0xc15660d469b5b096),
		UINT64_C(0x4b160a4711454a71), UINT64_C(0xfa9549fa997de7d4), UINT64_C(0x5202e27608badca6),
		UINT64_C(0x91c23c1b94211032), UINT64_C(0x37c7e02f5f6586ca), UINT64_C(0x07a2062737e41e27)
	};
	pe_lazy_claim claim;

	(void) state;
	claim = make_claim(1, 1, 1, 1, 0, 1, 0);
	check_threshold(&claim, one);
	claim = make_claim(3, 2, 7, 5, 1, 3, 1);
	check_threshold(&claim, scaled_one);
	claim = make_claim(UINT64_C(3) << 61, UINT64_C(1) << 62, 7, 5, 1, 3, 1);
	check_threshold(&claim, scaled_one);
	claim = make_claim(UINT64_C(12345), UINT64_C(12345), (pe_u128) 1 << 120, (pe_u128) 7 << 120, 0, 1, 0);
	check_threshold(&claim, seventh);
	claim = make_claim(UINT64_C(1) << 60, 1, 1, 7, 0, 1, 0);
	check_threshold(&claim, small);
	claim = make_claim(1, 1, 12345, 1000, 2, 7, 3);
	check_threshold(&claim, far);
}

/* Claims with a power of two. */
static void
test_lazy_scale(void **state)
{
	/* 3/5 2^100 exp(-69 - 5/7) */
	const uint64_t hundred[12] = {
		UINT64_C(0x6701747292c3fb9d), UINT64_C(0x6e2263c04e38f036), UINT64_C(0xb931ffaff7340e01),
		UINT64_C(0x21b16cd24a651cc8), UINT64_C(0x2c33e925bf07d14d), UINT64_C(0x4193157b04dd7d9d),
		UINT64_C(0xdb1319915747177c), UINT64_C(0x06319910c0e224f6), UINT64_C(0x5a21bdc6497d964e),
		UINT64_C(0xe5ee52e4a52d17b6), UINT64_C(0x5aacfa5202a92f55), UINT64_C(0x9e1d32afbe2d12fd)
	};
	/* 2^4096 exp(-2839 - 1/7) */
	const uint64_t most[12] = {
		UINT64_C(0xfcf1e83a2efc3d28), UINT64_C(0xef469659c816a1b9), UINT64_C(0xa41916f91fa5c980),
		UINT64_C(0xc8df9af5050b655b), UINT64_C(0xdc9716ac5b3ef650), UINT64_C(0xcf7190130cf57913),
		UINT64_C(0x99c2acc60bf6f591), UINT64_C(0x18357cdb4581f329), UINT64_C(0x56c6cac73a4f2b1b),
		UINT64_C(0x78d404018f058ea9), UINT64_C(0xe6498f9d36603f11), UINT64_C(0x5ab3e56848705ef1)
	};
	/* a power of two on the left side is the same as none on the right */
	const uint32_t scales[] = {1, 63, 64, 65, 128, 1000};
	pe_lazy_claim claim;
	static pe_bits bits;

	(void) state;
	claim = make_claim(5, 3, 69, 1, 5, 7, 0);
	claim.scale = 100;
	check_threshold(&claim, hundred);
	claim = make_claim(UINT64_C(5) << 60, UINT64_C(3) << 59, 69, 1, 12, 7, 1);
	claim.scale = 101;
	check_threshold(&claim, hundred);
	claim = make_claim(1, 1, 2840, 1, 1, 7, 1);
	claim.scale = 4096;
	check_threshold(&claim, most);
	claim = make_claim(1, 1, (pe_u128) 1 << 60, 1, 2839 * 7 + 1, 7, (UINT64_C(1) << 60) - 1);
	claim.n1.limb[0]--;
	claim.scale = 4096;
	check_threshold(&claim, most);

	/* V < 2^s exp(-0) always, V 2^s < 2^s exp(-1) as without */
	pe_bits_init(&bits);
	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
	{
		claim = make_claim(1, 1, 0, 1, 0, 1, 0);
		claim.scale = scales[i];
		assert_true(pe_lazy_less_exact(&claim, UINT64_MAX, &bits));
		claim = make_claim(UINT64_C(1) << (scales[i] < 64 ? scales[i] : 63), 1, 1, 1, 0, 1, 0);
		claim.scale = scales[i] < 64 ? scales[i] : 63;
		assert_true(pe_lazy_less_exact(&claim, UINT64_C(0x5e2d58d8b3bcdf19), &bits));
		assert_false(pe_lazy_less_exact(&claim, UINT64_C(0x5e2d58d8b3bcdf1b), &bits));
	}
	pe_bits_wipe(&bits);
}

static void
test_lazy_extremes(void **state)
{
	pe_lazy_claim claim;
	static pe_bits bits;

	(void) state;
	pe_bits_init(&bits);

	/* x = 0 */
	claim = make_claim(1, 1, 0, 1, 0, 1, 0);
	assert_true(pe_lazy_less_exact(&claim, UINT64_MAX, &bits));
	claim = make_claim(3, 2, 0, 1, 0, 1, 0);
	assert_true(pe_lazy_less_exact(&claim, UINT64_C(0xaaaaaaaaaaaaaaa9), &bits));
	assert_false(pe_lazy_less_exact(&claim, UINT64_C(0xaaaaaaaaaaaaaaab), &bits));

	/* x = 0 as 1/3 + 2/3 - 1, whose rounded parts add up to less than 0 */
	claim = make_claim(1, 1, 1, 3, 2, 3, 1);
	assert_true(pe_lazy_less_exact(&claim, UINT64_MAX, &bits));

	/* exp(-x) below 2^-64, below 2^-4096, and x beyond 64 bits */
	for (int i = 6; i < 128; i++)
	{
		claim = make_claim(1, 1, (pe_u128) 1 << i, 1, 0, 1, 0);
		assert_false(pe_lazy_less_exact(&claim, 0, &bits));
	}
	claim.n1 = pe_wide_product((pe_u128) 1 << 127, (pe_u128) 1 << 127);
	claim.n2 = claim.n1;
	assert_false(pe_lazy_less_exact(&claim, 0, &bits));

	/* the largest denominators: x = 1/2 + 1/2 - 1 + 2^-254, just above 0 */
	claim.n1 = claim.n2 = pe_wide_product((pe_u128) 1 << 127, (pe_u128) 1 << 126);
	claim.d1 = claim.d2 = pe_wide_product((pe_u128) 1 << 127, (pe_u128) 1 << 127);
	claim.n1.limb[0]++;
	claim.shift = 1;
	assert_true(pe_lazy_less_exact(&claim, UINT64_MAX, &bits));
	assert_true(pe_lazy_less_exact(&claim, 0, &bits));
	pe_bits_wipe(&bits);
}

static void
use_zero_denominator(void *arg)
{
	pe_lazy_claim claim = make_claim(1, 1, 1, 0, 0, 1, 0);

	(void) pe_lazy_less_exact(&claim, 1, arg);
}

static void
use_large_denominator(void *arg)
{
	pe_lazy_claim claim = make_claim(1, 1, 1, 1, 0, 1, 0);

	claim.d2.limb[3] = UINT64_C(1) << 63;
	(void) pe_lazy_less_exact(&claim, 1, arg);
}

static void
use_zero_factor(void *arg)
{
	pe_lazy_claim claim = make_claim(0, 1, 1, 1, 0, 1, 0);

	(void) pe_lazy_less_exact(&claim, 1, arg);
}

static void
use_large_scale(void *arg)
{
	pe_lazy_claim claim = make_claim(1, 1, 1, 1, 0, 1, 0);

	claim.scale = PE_LAZY_SCALE + 1;
	(void) pe_lazy_less_exact(&claim, 1, arg);
}

/* V a = b for every bit that is served: 2/3 = 0.1010... is never decided */
static void
never_decided(void *arg)
{
	pe_lazy_claim claim = make_claim(3, 2, 0, 1, 0, 1, 0);
	uint64_t	words[64];

	for (int i = 0; i < 64; i++)
		words[i] = UINT64_C(0xaaaaaaaaaaaaaaaa);
	serve_words(arg, words, 64);
	(void) pe_lazy_less_exact(&claim, words[0], arg);
}

static void
test_lazy_bugs(void **state)
{
	static pe_bits bits;

	(void) state;
	pe_bits_init(&bits);
	assert_true(pe_test_is_bug(overflow_wide, NULL));
	assert_true(pe_test_is_bug(use_zero_denominator, &bits));
	assert_true(pe_test_is_bug(use_large_denominator, &bits));
	assert_true(pe_test_is_bug(use_zero_factor, &bits));
	assert_true(pe_test_is_bug(use_large_scale, &bits));
	assert_true(pe_test_is_bug(never_decided, &bits));
}

static void
test_lazy_quick(void **state)
{
	(void) state;
	assert_true(pe_lazy_quick(0.2, 0.25, 0.5, 0.25) == PE_LAZY_YES);
	assert_true(pe_lazy_quick(0.2, 0.4, 0.5, 0.25) == PE_LAZY_UNSURE);
	assert_true(pe_lazy_quick(0.6, 0.7, 0.5, 0.25) == PE_LAZY_UNSURE);
	assert_true(pe_lazy_quick(0.63, 0.7, 0.5, 0.25) == PE_LAZY_NO);
	assert_true(pe_lazy_quick(0.0, 0.0, 0.0, 0x1p-40) == PE_LAZY_UNSURE);
	assert_true(pe_lazy_quick(0x1p-59, 0x1p-59, 0.0, 1e9) == PE_LAZY_NO);
	assert_true(pe_lazy_quick(0.0, 0.0, 1.0, INFINITY) == PE_LAZY_UNSURE);
	assert_true(pe_lazy_quick(1.0, 1.0, 0.0, INFINITY) == PE_LAZY_UNSURE);
	assert_true(pe_lazy_quick(1.0, 1.0, 1e-9, INFINITY) == PE_LAZY_UNSURE);
}

/* Each entry is floor(2^64 exp(-m)), and no two are equal. */
static void
test_geometric_table(void **state)
{
	(void) state;
	for (uint32_t m = 1; m <= PE_GAUSS_TABLE; m++)
	{
		pe_lazy_claim claim = make_claim(1, 1, m, 1, 0, 1, 0);
		uint64_t	words[16] = {0};
		int			nread;

		words[0] = pe_gauss_exp_table[m - 1];
		assert_true(decide_words(&claim, words, 16, &nread));
		memset(words + 1, 0xff, sizeof(words) - sizeof(words[0]));
		assert_false(decide_words(&claim, words, 16, &nread));
		if (m > 1)
			assert_true(pe_gauss_exp_table[m - 1] < pe_gauss_exp_table[m - 2]);
	}
	/* what the 32-bit loop of the sampler ends on */
	assert_true(pe_gauss_exp_table[22] >> 32 == 0);
}

/* ----------
 * The sampler
 * ----------
 */
static pe_gauss
make_gauss(pe_u128 p, uint64_t q)
{
	pe_gauss	g;

	pe_gauss_init(&g, p, q);
	return g;
}

static void
init_zero_p(void *arg)
{
	pe_gauss_init(arg, 0, 1);
}

static void
init_zero_q(void *arg)
{
	pe_gauss_init(arg, 1, 0);
}

static void
init_large_p(void *arg)
{
	pe_gauss_init(arg, (pe_u128) 1 << 127, 1);
}

static void
test_gauss_init(void **state)
{
	const pe_u128 p_max = ((pe_u128) 1 << 127) - 1;
	pe_gauss	g;

	(void) state;
	g = make_gauss(3000, 10000);
	assert_true(g.p == 3 && g.q == 10 && g.t == 1);
	g = make_gauss(1, 1);
	assert_true(g.t == 2);
	g = make_gauss(24, 1);
	assert_true(g.t == 5);
	g = make_gauss(25, 1);
	assert_true(g.t == 6);
	g = make_gauss(99, 4);
	assert_true(g.t == 5);
	g = make_gauss((pe_u128) 1 << 100, 1);
	assert_true(g.t == (UINT64_C(1) << 50) + 1);
	g = make_gauss(((pe_u128) 1 << 100) - 1, 1);
	assert_true(g.t == UINT64_C(1) << 50);
	g = make_gauss(p_max, 1);
	assert_true(g.t == UINT64_C(13043817825332782213));
	g = make_gauss(p_max, UINT64_MAX);
	assert_true(g.t == UINT64_C(3037000500));
	g = make_gauss(1, UINT64_MAX);
	assert_true(g.t == 1);
	assert_true(pe_test_is_bug(init_zero_p, &g));
	assert_true(pe_test_is_bug(init_zero_q, &g));
	assert_true(pe_test_is_bug(init_large_p, &g));
}

static void
test_gauss_variance(void **state)
{
	const struct
	{
		pe_u128		p;
		uint64_t	q;
	}			cases[] = {{1, 1000}, {3, 10}, {1, 2}, {1, 1}, {2, 1}, {299, 100}, {3, 1}, {5, 1}, {75, 10}};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		long double s = (long double) cases[i].p / cases[i].q;
		long double mass = 0.0L;
		long double moment = 0.0L;
		double		got = pe_gauss_variance(cases[i].p, cases[i].q);

		for (int k = 80; k >= -80; k--)
		{
			mass += expl(-k * k / (2.0L * s));
			moment += (long double) k * k * expl(-k * k / (2.0L * s));
		}
		assert_true(fabsl(got / (moment / mass) - 1.0L) < 1e-12L);
	}
	assert_true(pe_gauss_variance((pe_u128) 1 << 100, 1) == 0x1p100);
	assert_true(pe_gauss_variance(((pe_u128) 1 << 100) + ((pe_u128) 1 << 50), 4) == 0x1.0000000000004p98);
}

static void
test_gauss_law(void **state)
{
	long		n = scaled(2000000);
	pe_gauss	g;

	(void) state;
	g = make_gauss(3, 10);
	check_sampler(&g, "sigma^2 = 0.3", n);
	g = make_gauss(1, 1);
	check_sampler(&g, "sigma^2 = 1", n);
	g = make_gauss(15, 2);
	check_sampler(&g, "sigma^2 = 7.5", n);
	g = make_gauss(10000, 1);
	check_sampler(&g, "sigma^2 = 1e4", n);
	g = make_gauss(UINT64_C(123456789012345678), UINT64_C(1000000007));
	check_sampler(&g, "sigma^2 = 1.23e8", n);
	g = make_gauss((pe_u128) 1 << 40, 1);
	check_sampler(&g, "sigma^2 = 2^40", n);
	g = make_gauss((pe_u128) 1 << 80, 1);
	check_sampler(&g, "sigma^2 = 2^80", n);
	g = make_gauss((pe_u128) 1 << 100, 1);
	check_sampler(&g, "sigma^2 = 2^100", n);
	g = make_gauss(((pe_u128) 1 << 126) + 12345, 3);
	check_sampler(&g, "sigma^2 = 2^126/3", n);
}

/* Extreme parameters: practically always 0. */
static void
test_gauss_tiny(void **state)
{
	static pe_bits bits;
	pe_gauss	g = make_gauss(1, UINT64_MAX);

	(void) state;
	pe_bits_init(&bits);
	for (int i = 0; i < 1000; i++)
		assert_true(pe_gauss_draw(&g, &bits) == 0);
	g = make_gauss(1, 1000);
	for (int i = 0; i < 1000; i++)
		assert_true(pe_gauss_draw(&g, &bits) == 0);
	pe_bits_wipe(&bits);
}

/* The law does not depend on how many decisions are taken exactly. */
static void
test_gauss_forced(void **state)
{
	const struct
	{
		pe_u128		p;
		uint64_t	q;
		const char *name;
	}			cases[] = {
		{3, 10, "0.3"},
		{15, 2, "7.5"},
		{UINT64_C(100000001), UINT64_C(10000), "1e4"},
		{(pe_u128) 1 << 80, 3, "2^80/3"},
		{((pe_u128) 1 << 100) + 1, 1, "2^100"},
	};
	const struct
	{
		double		margin;
		bool		no_table;
		long		n;
		const char *name;
	}			modes[] = {
		{0.05, false, 300000, "margin .05"},
		{10.0, false, 50000, "margin 10"},
		{INFINITY, true, 15000, "all exact"},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		for (size_t j = 0; j < sizeof(modes) / sizeof(modes[0]); j++)
		{
			pe_gauss	g = make_gauss(cases[i].p, cases[i].q);
			char		name[80];

			g.margin = modes[j].margin;
			g.no_table = modes[j].no_table;
			snprintf(name, sizeof(name), "sigma^2 = %s, %s", cases[i].name, modes[j].name);
			check_sampler(&g, name, scaled(modes[j].n));
		}
	}
}

/* The decision on a uniform real that begins with first and goes on with tail. */
static bool
accept_with_tail(const pe_gauss *g, uint64_t u, uint32_t v, uint64_t first, const uint64_t *tail, int ntail)
{
	static pe_bits bits;

	serve_words(&bits, tail, ntail);
	return pe_gauss_accept(g, u, v, first, &bits);
}

/*
 * Words around the acceptance threshold, from 2^-50 to 2^-30 of it away: the
 * answer with the usual margin is the exact one.
 */
static void
test_gauss_margin(void **state)
{
	const struct
	{
		pe_u128		p;
		uint64_t	q;
	}			cases[] = {
		{3, 10},
		{1, 1},
		{UINT64_C(123456789), UINT64_C(1000)},
		{((pe_u128) 1 << 64) + 1, UINT64_C(0xfffffffffffffff1)},
		{((pe_u128) 1 << 100) + 12345, 1},
		{((pe_u128) 1 << 127) - 1, UINT64_MAX},
		{((pe_u128) 1 << 127) - 1, 1},
		{((pe_u128) 1 << 127) - 1, 3},
	};
	long		rounds = scaled(3000);
	long		accepted = 0;
	static pe_bits bits;

	(void) state;
	pe_bits_init(&bits);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		pe_gauss	usual = make_gauss(cases[i].p, cases[i].q);
		pe_gauss	exact = usual;

		exact.margin = INFINITY;
		for (long j = 0; j < rounds; j++)
		{
			uint64_t	u = pe_bits_below(&bits, usual.t);
			uint32_t	v = (uint32_t) pe_bits_below(&bits, 9);
			double		x = (double) u + (double) usual.t * v;
			double		chance = exp(v - x * x * usual.rate - usual.offset);
			double		off = ldexp(1.0, -50 + (int) pe_bits_below(&bits, 21)) * (pe_bits_next1(&bits) ? 1.0 : -1.0);
			double		word = chance * (1.0 + off) * 0x1p64;
			uint64_t	first = word < 0x1p64 ? (uint64_t) word : UINT64_MAX;
			uint64_t	tail[63];
			bool		answer;

			for (int k = 0; k < 63; k++)
				tail[k] = pe_bits_next64(&bits);
			answer = accept_with_tail(&exact, u, v, first, tail, 63);
			accepted += answer;
			assert_true(accept_with_tail(&usual, u, v, first, tail, 63) == answer);
		}
	}
	print_message("%ld of %ld words accepted\n", accepted, rounds * 8);
	pe_bits_wipe(&bits);
}

/* U = 0, V = 1 with t^2 q - p = 1: x = 1/(2 p q t^2) is about 2^-255, the least there is. */
static void
test_gauss_least_exponent(void **state)
{
	const uint64_t t = UINT64_C(13043817825332782212);
	static pe_bits bits;
	pe_gauss	g = make_gauss((pe_u128) t * t - 1, 1);

	(void) state;
	assert_true(g.t == t);
	pe_bits_init(&bits);
	assert_true(pe_gauss_accept(&g, 0, 1, UINT64_MAX, &bits));
	g.margin = INFINITY;
	assert_true(pe_gauss_accept(&g, 0, 1, UINT64_MAX, &bits));

	/* and the largest X: rejected, without overflow */
	assert_false(pe_gauss_accept(&g, t - 1, PE_GAUSS_V_LIMIT - 1, 0, &bits));
	g = make_gauss(((pe_u128) 1 << 127) - 1, UINT64_MAX);
	g.margin = INFINITY;
	assert_false(pe_gauss_accept(&g, g.t - 1, PE_GAUSS_V_LIMIT - 1, 0, &bits));
	pe_bits_wipe(&bits);
}

/* Known words through the whole sampler: V across the end of the table, and V's limit. */
static void
test_gauss_geometric_words(void **state)
{
	static pe_bits bits;
	uint64_t	words[8] = {0};
	pe_gauss	g = make_gauss(1, 1);

	(void) state;

	/*
	 * sigma = 1, t = 2.  Upper half 0x5e2d58d8 of word 1 equals that of exp(-1):
	 * the lower bits decide.  Layout: word (V: upper half; first bits for the
	 * acceptance: lower half), 32 further bits for V, 32 bits for U.
	 */
	assert_true(pe_gauss_exp_table[0] >> 32 == 0x5e2d58d8);
	words[0] = UINT64_C(0x5e2d58d800000000);
	words[1] = 0;				/* V = 1, U = 0 */
	words[2] = 0;				/* sign + */
	serve_words(&bits, words, 3);
	assert_true(pe_gauss_draw(&g, &bits) == 2);
	words[1] = UINT64_C(0x00000000ffffffff);	/* V = 0 */
	words[2] = 0;
	serve_words(&bits, words, 3);
	assert_true(pe_gauss_draw(&g, &bits) == 0);

	/* sign - and X = 0: the next proposal, X = 1, has its own sign, + */
	words[0] = UINT64_C(0xffffffff00000000);	/* V = 0, accept */
	words[1] = 1;				/* U = 0 is 32 bits, the signs follow at byte 12 */
	memset(words + 2, 0, 6 * sizeof(uint64_t));
	((unsigned char *) words)[8] = 0;
	((unsigned char *) words)[12] = 1;	/* signs: -, then + */
	((unsigned char *) words)[20 + 7] = 0xff;	/* V = 0 again */
	((unsigned char *) words)[20 + 6] = 0xff;
	((unsigned char *) words)[28 + 3] = 0x80;	/* U = 1 */
	serve_words(&bits, words, 8);
	assert_true(pe_gauss_draw(&g, &bits) == 1);
}

/*
 * sigma = 1, U = V = 0: x = 1/8.  Where 32 bits equal floor(2^32 exp(-1/8)),
 * the next 32 decide.
 */
static void
test_gauss_short_words(void **state)
{
	static pe_bits bits;
	const uint64_t start = UINT64_C(0xffffffff00000000) | UINT64_C(0xe1eb5127);
	pe_gauss	g = make_gauss(1, 1);

	(void) state;

	/* U = 0, further bits all 1: rejected; then V = 0, accepted, U = 1, sign + */
	serve_words(&bits, (const uint64_t[]) {start, UINT64_C(0xffffffff00000000), UINT64_C(0xffffffff00000000),
				UINT64_C(0x80000000), 0}, 5);
	assert_true(pe_gauss_draw(&g, &bits) == 1);

	/* further bits all 0: accepted, X = 0, sign + */
	serve_words(&bits, (const uint64_t[]) {start, 0, 0, UINT64_C(0x80000000)}, 4);
	assert_true(pe_gauss_draw(&g, &bits) == 0);
	assert_true(bits.unread == 8);
}

static void
test_gauss_low_bits(void **state)
{
	pe_gauss	g;

	(void) state;
	g = make_gauss(100000000, 1);
	check_low_bits("low bits, sigma = 1e4", draw_gauss, &g, scaled(1000000));
	g = make_gauss((pe_u128) 1 << 80, 1);
	check_low_bits("low bits, sigma^2 = 2^80", draw_gauss, &g, scaled(1000000));
	g = make_gauss((pe_u128) 1 << 100, 1);
	check_low_bits("low bits, sigma^2 = 2^100", draw_gauss, &g, scaled(1000000));
}

/* ----------
 * The mechanism
 * ----------
 */
static void
check_calibration(pe_u128 sensitivity_sq, int64_t nano_rho, pe_u128 p, uint64_t q)
{
	const pe_u128 p_max = ((pe_u128) 1 << 127) - 1;
	pe_u128		got_p;
	uint64_t	got_q;
	bool		fits = p <= p_max - 4 * (pe_u128) q;

	assert_true(pe_gaussian_calibrate(PE_ZCDP, sensitivity_sq, nano_rho, &got_p, &got_q));
	assert_true(got_p == p && got_q == q);
	/* Gaussian DP: p/q + 4 */
	assert_true(pe_gaussian_calibrate(PE_GDP, sensitivity_sq, nano_rho, &got_p, &got_q) == fits);
	if (fits)
		assert_true(got_p == p + 4 * (pe_u128) q && got_q == q);
}

static void
test_calibrate(void **state)
{
	const pe_u128 p_max = ((pe_u128) 1 << 127) - 1;
	pe_u128		p = 17;
	uint64_t	q = 19;

	(void) state;
	check_calibration(1, 500000000, 1, 1);
	check_calibration(1, 1000000000, 1, 2);
	check_calibration(1, 1, 500000000, 1);
	check_calibration(3, 7, UINT64_C(1500000000), 7);
	check_calibration(14, 7, UINT64_C(1000000000), 1);
	check_calibration((pe_u128) 1 << 90, 4096, ((pe_u128) 1 << 86) * 1953125, 1);
	check_calibration(1, INT64_MAX, 500000000, INT64_MAX);
	check_calibration((pe_u128) 2 * INT64_MAX, INT64_MAX, 1000000000, 1);
	check_calibration(p_max, 500000000, p_max, 1);
	check_calibration(p_max / 500000000, 1, p_max / 500000000 * 500000000, 1);

	assert_false(pe_gaussian_calibrate(PE_PURE, 1, 1, &p, &q));
	assert_false(pe_gaussian_calibrate(PE_ZCDP, 0, 1, &p, &q));
	assert_false(pe_gaussian_calibrate(PE_ZCDP, 1, 0, &p, &q));
	assert_false(pe_gaussian_calibrate(PE_ZCDP, 1, -1, &p, &q));
	assert_false(pe_gaussian_calibrate(PE_ZCDP, 1, INT64_MIN, &p, &q));
	assert_false(pe_gaussian_calibrate(PE_ZCDP, p_max + 1, 500000000, &p, &q));
	assert_false(pe_gaussian_calibrate(PE_ZCDP, p_max / 500000000 + 1, 1, &p, &q));
	assert_false(pe_gaussian_calibrate(PE_ZCDP, ~(pe_u128) 0, 1, &p, &q));
	assert_true(p == 17 && q == 19);
}

/* The cheapest rho for a standard error: it reaches it, and one nano less does not. */
static void
test_stderr(void **state)
{
	static const double asked[] = {0.3, 0.5, 1, 2, 7.07, 100, 12345.678};
	static const pe_u128 sensitivity_sq[] = {1, 2, 9, (pe_u128) 1 << 40};

	(void) state;
	assert_true(fabs(pe_gaussian_stderr(PE_ZCDP, 1, 500000) - sqrt(1000)) < 1e-9);
	assert_true(fabs(pe_gaussian_stderr(PE_ZCDP, 4, 500000) - 2 * sqrt(1000)) < 1e-9);
	/* at sigma^2 = 1/2 the discrete Gaussian varies less than the continuous one */
	assert_true(pe_gaussian_stderr(PE_ZCDP, 1, 1000000000) < sqrt(0.5));
	assert_true(isinf(pe_gaussian_stderr(PE_ZCDP, 1, 0)));
	assert_true(isinf(pe_gaussian_stderr(PE_ZCDP, 0, 1)));
	for (size_t s = 0; s < sizeof(sensitivity_sq) / sizeof(sensitivity_sq[0]); s++)
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		{
			int64_t		rho = pe_noise_least_nano(PE_ZCDP, sensitivity_sq[s], asked[i], 1);

			if (rho == 0)
			{
				assert_true(pe_gaussian_stderr(PE_ZCDP, sensitivity_sq[s], INT64_C(1) << 62) > asked[i]);
				continue;
			}
			assert_true(pe_gaussian_stderr(PE_ZCDP, sensitivity_sq[s], rho) <= asked[i]);
			assert_true(rho == 1 || pe_gaussian_stderr(PE_ZCDP, sensitivity_sq[s], rho - 1) > asked[i]);
		}
	assert_int_equal(pe_noise_least_nano(PE_ZCDP, 1, NAN, 1), 0);
}

/* The lattice of Gaussian DP: as coarse as sigma^2 >= 2^20 allows, and the error of 4 that is added is small. */
static void
test_shift(void **state)
{
	(void) state;
	for (int64_t nano = 1; nano < INT64_MAX / 7; nano *= 7)
		for (int bits = 0; bits < 90; bits += 3)
		{
			const pe_noise noise = {PE_GDP, (pe_u128) 1 << bits, nano, 0, false};
			const pe_noise other = {PE_ZCDP, (pe_u128) 1 << bits, nano, 0, false};
			double		variance = ldexp(1, bits) / (2e-9 * (double) nano);
			int			shift = pe_noise_shift(&noise);
			double		ratio = pe_noise_stderr(&noise) / sqrt(variance);

			assert_true(shift >= 0 && pe_noise_shift(&other) == 0);
			assert_true(ldexp(variance, 2 * shift) >= 0x1p20 * (1 - 1e-12));
			assert_true(shift == 0 || ldexp(variance, 2 * (shift - 1)) < 0x1p20 * (1 + 1e-12));
			assert_true(ratio >= 1 - 1e-12 && ratio <= 1 + 2e-6);
		}
}

static void
release_uncalibrated(void *arg)
{
	pe_i128		exact = 1;

	pe_gaussian_release(PE_ZCDP, &exact, 1, 0, 1, arg);
}

static void
test_release_saturates(void **state)
{
	const pe_i128 most = (pe_i128) (~(pe_u128) 0 >> 1);
	const pe_i128 wide = (pe_i128) 1 << 100;
	pe_i128		exact[7];
	int64_t		released[7];

	(void) state;
	for (int round = 0; round < 100; round++)
	{
		const pe_i128 values[7] = {wide, -wide, most, -most - 1, (pe_i128) INT64_MAX + 100000, (pe_i128) INT64_MIN - 100000, 5};

		memcpy(exact, values, sizeof(exact));
		pe_gaussian_release(PE_ZCDP, exact, 7, 1000000, 500000000, released);
		assert_true(released[0] == INT64_MAX && released[1] == INT64_MIN);
		assert_true(released[2] == INT64_MAX && released[3] == INT64_MIN);
		assert_true(released[4] == INT64_MAX && released[5] == INT64_MIN);
		assert_true(llabs(released[6]) < 20000);
		for (int i = 0; i < 7; i++)
			assert_true(exact[i] == 0);
	}
	assert_true(pe_test_is_bug(release_uncalibrated, released));
	pe_gaussian_release(PE_ZCDP, NULL, 0, 1, 1, NULL);
	assert_true(pe_test_polls() == 0);
}

/* The released noise has the law that the cost was computed from. */
static void
check_release(pe_u128 sensitivity_sq, int64_t nano_rho, const char *name)
{
	long		n = scaled(1000000);
	double		parameter = (double) sensitivity_sq * 1e9 / (2.0 * (double) nano_rho);
	pe_i128    *exact = pe_alloc((size_t) n, sizeof(*exact));
	int64_t    *released = pe_alloc((size_t) n, sizeof(*released));
	long		seen[MAX_BINS] = {0};
	double		squares = 0.0;
	law			l;

	law_of(&l, parameter, n);
	for (long i = 0; i < n; i++)
		exact[i] = 1000 * i - 77;
	pe_gaussian_release(PE_ZCDP, exact, (size_t) n, sensitivity_sq, nano_rho, released);
	for (long i = 0; i < n; i++)
	{
		int64_t		noise = released[i] - (1000 * i - 77);

		assert_true(exact[i] == 0);
		seen[law_bin(&l, noise)]++;
		squares += (double) noise * (double) noise / l.variance;
	}
	pe_free(exact);
	pe_free(released);
	check_chi_square(name, seen, l.mass, l.nbins, n);
	check_z("variance", (squares - (double) n) / sqrt((double) n * (l.fourth / (l.variance * l.variance) - 1.0)));
}

static void
test_release_law(void **state)
{
	(void) state;
	check_release(1, 500000000, "release, sensitivity 1, rho 0.5");
	check_release(2, 12345678, "release, sensitivity^2 2, rho 0.0123");
	check_release(UINT64_C(1234567890123), 98765432, "release, sensitivity^2 1.2e12, rho 0.0988");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits_wipe),
		cmocka_unit_test(test_bits_order),
		cmocka_unit_test(test_below_rejects),
		cmocka_unit_test(test_below_uniform),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_lazy_known_thresholds),
		cmocka_unit_test(test_lazy_scale),
		cmocka_unit_test(test_lazy_extremes),
		cmocka_unit_test(test_lazy_bugs),
		cmocka_unit_test(test_lazy_quick),
		cmocka_unit_test(test_geometric_table),
		cmocka_unit_test(test_gauss_init),
		cmocka_unit_test(test_gauss_variance),
		cmocka_unit_test(test_gauss_tiny),
		cmocka_unit_test(test_gauss_margin),
		cmocka_unit_test(test_gauss_least_exponent),
		cmocka_unit_test(test_gauss_geometric_words),
		cmocka_unit_test(test_gauss_short_words),
		cmocka_unit_test(test_gauss_law),
		cmocka_unit_test(test_gauss_forced),
		cmocka_unit_test(test_gauss_low_bits),
		cmocka_unit_test(test_calibrate),
		cmocka_unit_test(test_stderr),
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_release_saturates),
		cmocka_unit_test(test_release_law),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

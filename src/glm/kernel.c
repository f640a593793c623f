/*
 * kernel.c
 *	  The loops over a tile.  See kernel.h.
 *
 * The Makefile compiles this file with -O3 -fno-math-errno -fno-trapping-math, which
 * change no value and without which the compiler makes no vectors of the per-row
 * loops; and with -fstack-protector-strong, which is needed: without it gcc 12 may
 * misalign the local arrays of a function of wide vectors that calls no other (gcc's
 * PR 109780).
 */
#include "glm/kernel.h"

#include "glm/loss.h"

static inline size_t
packed(int32_t row)
{
	return (size_t) row * ((size_t) row + 1) / 2;
}

/* ------------------------------------------------------------------
 * Portable C, which compilers turn into what vectors the machine has
 * ------------------------------------------------------------------
 */

/* With gcc and the GNU C library that is decided where it runs; sanitizers start too late for it. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__) && \
	!defined(__SANITIZE_ADDRESS__)
#define PLAIN static __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define PLAIN static
#endif

/* Pairs between carries, as in kernel_body.h. */
#define PLAIN_CARRY 30

PLAIN void
plain_margins(const int16_t *restrict tile, const pe_limbs *limbs, pe_margins *restrict margins)
{
	int32_t    *restrict high = margins->high;
	int32_t    *restrict low = margins->low;

	for (int r = 0; r < PE_TILE; r++)
		high[r] = low[r] = 0;
	for (int32_t p = 0; p < limbs->pairs; p++)
	{
		const int16_t *a = tile + (size_t) (2 * PE_TILE) * (size_t) p;
		const int16_t *b = a + PE_TILE;
		int16_t		ah = (int16_t) (limbs->high[p] & 0xffff);
		int16_t		bh = (int16_t) (limbs->high[p] >> 16);
		int16_t		al = (int16_t) (limbs->low[p] & 0xffff);
		int16_t		bl = (int16_t) (limbs->low[p] >> 16);

		for (int r = 0; r < PE_TILE; r++)
		{
			high[r] = (int32_t) ((uint32_t) high[r] + (uint32_t) (a[r] * ah + b[r] * bh));
			low[r] += a[r] * al + b[r] * bl;
		}
		if ((p + 1) % PLAIN_CARRY == 0 || p + 1 == limbs->pairs)
			for (int r = 0; r < PE_TILE; r++)
			{
				high[r] = (int32_t) ((uint32_t) high[r] + (uint32_t) (low[r] >> PE_LOW_BITS));
				low[r] &= (1 << PE_LOW_BITS) - 1;
			}
	}
}

PLAIN void
plain_floats(const pe_margins *margins, pe_margin_units units, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = (float) margins->high[r] * units.high + (float) margins->low[r] * units.low;
}

PLAIN void
plain_residuals(pe_loss loss, float scale, const pe_margins *margins, pe_margin_units units,
				const int16_t *label, const int16_t *cap, int16_t *s)
{
	int32_t		q[PE_TILE];
	float		m[PE_TILE];

	for (int r = 0; r < PE_TILE; r++)
		m[r] = (float) margins->high[r] * units.high + (float) margins->low[r] * units.low;
#define QUANTISE(loss) \
	for (int r = 0; r < PE_TILE; r++) \
		q[r] = pe_quantised_derivative(pe_float_derivative(loss, m[r], pe_float_label(loss, label[r])), scale)
	PE_WITH_LOSS(loss, QUANTISE)
#undef QUANTISE
	for (int r = 0; r < PE_TILE; r++)
	{
		int32_t		most = cap[r];
		int32_t		least = q[r] < most ? q[r] : most;

		s[r] = (int16_t) (least > -most ? least : -most);
	}
}

/* The sum of a product over a tile: one factor in two limbs, so that sums fit 64 2^14 2^8 = 2^28. */
#define PLAIN_LIMBS(of, high, low) \
	for (int r = 0; r < PE_TILE; r++) \
	{ \
		(high)[r] = (int16_t) ((of)[r] >> 8); \
		(low)[r] = (int16_t) ((of)[r] & 0xff); \
	}

PLAIN void
plain_gradient(const int16_t *tile, int32_t dense, const int16_t *s, void *accumulators, const int16_t *next)
{
	int64_t    *sums = accumulators;
	int16_t		high[PE_TILE];
	int16_t		low[PE_TILE];

	(void) next;
	PLAIN_LIMBS(s, high, low);
	for (int32_t j = 0; j < dense; j++)
	{
		const int16_t *x = pe_tile_column(tile, j);
		int32_t		h = 0;
		int32_t		l = 0;

		for (int r = 0; r < PE_TILE; r++)
			h += x[r] * high[r];
		for (int r = 0; r < PE_TILE; r++)
			l += x[r] * low[r];
		sums[j] += (int64_t) h * 256 + l;
	}
}

static void
plain_flush(int32_t dense, void *accumulators, int64_t *sums)
{
	int64_t    *from = accumulators;

	for (int32_t j = 0; j < dense; j++)
	{
		sums[j] += from[j];
		from[j] = 0;
	}
}

PLAIN void
plain_moment(const int16_t *tile, size_t stride, int32_t tiles, int32_t dense, int64_t *sums)
{
	int16_t		high[PE_TILE];
	int16_t		low[PE_TILE];

	for (int32_t t = 0; t < tiles; t++, tile += stride)
		for (int32_t i = 0; i < dense; i++)
		{
			const int16_t *x = pe_tile_column(tile, i);

			PLAIN_LIMBS(x, high, low);
			for (int32_t j = 0; j <= i; j++)
			{
				const int16_t *y = pe_tile_column(tile, j);
				int32_t		h = 0;
				int32_t		l = 0;

				for (int r = 0; r < PE_TILE; r++)
					h += y[r] * high[r];
				for (int r = 0; r < PE_TILE; r++)
					l += y[r] * low[r];
				sums[packed(i) + (size_t) j] += (int64_t) h * 256 + l;
			}
		}
}

PLAIN void
plain_shift(const float *margin, float alpha, const float *direction, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = margin[r] - alpha * direction[r];
}

PLAIN void
plain_step(const float *margin, float step, const int16_t *x, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = margin[r] + step * ((float) x[r] * (1.0f / PE_ONE));
}

PLAIN int64_t
plain_losses(pe_loss loss, const float *margin, const int16_t *label, int32_t cap)
{
	int32_t		q[PE_TILE];
	int64_t		sum = 0;

#define QUANTISE(loss) \
	for (int r = 0; r < PE_TILE; r++) \
		q[r] = pe_quantised_loss(pe_float_loss(loss, margin[r], pe_float_label(loss, label[r])))
	PE_WITH_LOSS(loss, QUANTISE)
#undef QUANTISE
	for (int r = 0; r < PE_TILE; r++)
		if (label[r] != PE_NO_LABEL)
			sum += q[r] < cap ? q[r] : cap;
	return sum;
}

static const pe_kernel_code plain_code = {
	.margins = plain_margins,
	.residuals = plain_residuals,
	.accumulator = sizeof(int64_t),
	.gradient = plain_gradient,
	.flush = plain_flush,
	.moment = plain_moment,
	.shift = plain_shift,
	.losses = plain_losses,
	.floats = plain_floats,
	.step = plain_step,
};

/* ------------------------------------------------------------------
 * x86-64
 * ------------------------------------------------------------------
 */

#ifdef __x86_64__
#include <immintrin.h>

/* The sums of four vectors' lanes. */
static inline __attribute__((always_inline)) __m128i
add_lanes(__m128i a, __m128i b, __m128i c, __m128i d)
{
	__m128i		ab = _mm_add_epi32(_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
	__m128i		cd = _mm_add_epi32(_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));

	return _mm_add_epi32(_mm_unpacklo_epi64(ab, cd), _mm_unpackhi_epi64(ab, cd));
}

#define SUFFIX sse2
#define TARGET "sse2"
#define VECTOR __m128i
#define VECTOR_BYTES 16
#define V_ZERO() _mm_setzero_si128()
#define V_SET32(number) _mm_set1_epi32(number)
#define V_LOAD(from) _mm_load_si128((const __m128i *) (from))
#define V_UNPACK_LOW _mm_unpacklo_epi16
#define V_UNPACK_HIGH _mm_unpackhi_epi16
#define V_MULADD(sum, x, y) _mm_add_epi32(sum, _mm_madd_epi16(x, y))
#define V_ADD _mm_add_epi32
#define V_SHIFT32 _mm_srai_epi32
#define V_SHIFT16 _mm_srai_epi16
#define V_AND _mm_and_si128
#define V_STORE_UNPACKED(to, low, high) \
	(_mm_storeu_si128((__m128i *) (to), low), _mm_storeu_si128((__m128i *) (to) + 1, high))
#define V_FOLD(vector) (vector)
#include "glm/kernel_body.h"

/* Unpacking is by halves of 128 bits: rows 0 to 3 and 8 to 11, then 4 to 7 and 12 to 15. */
#define SUFFIX avx2
#define TARGET "avx2"
#define VECTOR __m256i
#define VECTOR_BYTES 32
#define V_ZERO() _mm256_setzero_si256()
#define V_SET32(number) _mm256_set1_epi32(number)
#define V_LOAD(from) _mm256_load_si256((const __m256i *) (from))
#define V_UNPACK_LOW _mm256_unpacklo_epi16
#define V_UNPACK_HIGH _mm256_unpackhi_epi16
#define V_MULADD(sum, x, y) _mm256_add_epi32(sum, _mm256_madd_epi16(x, y))
#define V_ADD _mm256_add_epi32
#define V_SHIFT32 _mm256_srai_epi32
#define V_SHIFT16 _mm256_srai_epi16
#define V_AND _mm256_and_si256
#define V_STORE_UNPACKED(to, low, high) \
	(_mm256_storeu_si256((__m256i *) (to), _mm256_permute2x128_si256(low, high, 0x20)), \
	 _mm256_storeu_si256((__m256i *) (to) + 1, _mm256_permute2x128_si256(low, high, 0x31)))
#define V_FOLD(vector) _mm_add_epi32(_mm256_castsi256_si128(vector), _mm256_extracti128_si256(vector, 1))
#include "glm/kernel_body.h"

/* The two kinds of 64-byte vectors. */
#define PE_STORE_UNPACKED_512(to, low, high) \
	(_mm512_storeu_si512((to), _mm512_permutex2var_epi64(low, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high)), \
	 _mm512_storeu_si512((to) + 16, \
						 _mm512_permutex2var_epi64(low, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), high)))
#define PE_FOLD_512(vector) \
	_mm_add_epi32(_mm_add_epi32(_mm512_castsi512_si128(vector), _mm512_extracti32x4_epi32(vector, 1)), \
				  _mm_add_epi32(_mm512_extracti32x4_epi32(vector, 2), _mm512_extracti32x4_epi32(vector, 3)))

#define SUFFIX avx512
#define TARGET "avx512f,avx512bw,avx512vl,avx512dq"
#define VECTOR __m512i
#define VECTOR_BYTES 64
#define V_ZERO() _mm512_setzero_si512()
#define V_SET32(number) _mm512_set1_epi32(number)
#define V_LOAD(from) _mm512_load_si512((const void *) (from))
#define V_UNPACK_LOW _mm512_unpacklo_epi16
#define V_UNPACK_HIGH _mm512_unpackhi_epi16
#define V_MULADD(sum, x, y) _mm512_add_epi32(sum, _mm512_madd_epi16(x, y))
#define V_ADD _mm512_add_epi32
#define V_SHIFT32 _mm512_srai_epi32
#define V_SHIFT16 _mm512_srai_epi16
#define V_AND _mm512_and_si512
#define V_STORE_UNPACKED PE_STORE_UNPACKED_512
#define V_FOLD PE_FOLD_512
#include "glm/kernel_body.h"

#define SUFFIX vnni
#define TARGET "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"
#define VECTOR __m512i
#define VECTOR_BYTES 64
#define V_ZERO() _mm512_setzero_si512()
#define V_SET32(number) _mm512_set1_epi32(number)
#define V_LOAD(from) _mm512_load_si512((const void *) (from))
#define V_UNPACK_LOW _mm512_unpacklo_epi16
#define V_UNPACK_HIGH _mm512_unpackhi_epi16
#define V_MULADD(sum, x, y) _mm512_dpwssd_epi32(sum, x, y)
#define V_ADD _mm512_add_epi32
#define V_SHIFT32 _mm512_srai_epi32
#define V_SHIFT16 _mm512_srai_epi16
#define V_AND _mm512_and_si512
#define V_STORE_UNPACKED PE_STORE_UNPACKED_512
#define V_FOLD PE_FOLD_512
#include "glm/kernel_body.h"
#endif

/* ------------------------------------------------------------------
 * Which there are
 * ------------------------------------------------------------------
 */

bool
pe_kernel_available(pe_kernel kernel)
{
#ifdef __x86_64__
	bool		avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");

	switch (kernel)
	{
		case PE_KERNEL_VNNI:
			return avx512 && __builtin_cpu_supports("avx512vnni");
		case PE_KERNEL_AVX512:
			return avx512;
		case PE_KERNEL_AVX2:
			return __builtin_cpu_supports("avx2");
		case PE_KERNEL_SSE2:
			return true;
		default:
			break;
	}
#endif
	return kernel == PE_KERNEL_PLAIN;
}

pe_kernel
pe_kernel_best(void)
{
	for (int kernel = 0; kernel < PE_KERNELS; kernel++)
		if (pe_kernel_available((pe_kernel) kernel))
			return (pe_kernel) kernel;
	pe_bug("no kernel");
}

const pe_kernel_code *
pe_kernel_find(pe_kernel kernel)
{
	if (!pe_kernel_available(kernel))
		pe_bug("a kernel that this machine has not");
	switch (kernel)
	{
#ifdef __x86_64__
		case PE_KERNEL_VNNI:
			return &vnni_code;
		case PE_KERNEL_AVX512:
			return &avx512_code;
		case PE_KERNEL_AVX2:
			return &avx2_code;
		case PE_KERNEL_SSE2:
			return &sse2_code;
#endif
		default:
			return &plain_code;
	}
}

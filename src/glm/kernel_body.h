/*
 * kernel_body.h
 *	  The loops over a tile for one set of vector instructions.  kernel.c includes
 *	  this once for each, with the macros that are undefined at the end; so there is
 *	  no guard.
 *
 * PE_ONE = 16383, and every number of a tile but a label of no row is at most that.
 */

#define KERNEL_GLUE_(a, b) a##_##b
#define KERNEL_GLUE(a, b) KERNEL_GLUE_(a, b)
#define K(name) KERNEL_GLUE(SUFFIX, name)
#define KERNEL static __attribute__((target(TARGET)))
#define KERNEL_INLINE static inline __attribute__((always_inline, target(TARGET)))

/* 16-bit lanes of a vector, and vectors of a column. */
#define LANES (VECTOR_BYTES / 2)
#define VECTORS (PE_TILE / LANES)

/*
 * Margins.  A pair of columns is one multiply-add per limb: at most 2 2^14 2^11 = 2^26
 * of the low one, so 31 pairs and what an earlier carry left, 31 2^26 + 4095 < 2^31,
 * do not overflow.  The high sum may wrap around on its way: arithmetic is modulo
 * 2^32, and its end is in range, or wraps alike everywhere.
 */
#define CARRY_PAIRS ((1 << (17 - PE_LOW_BITS)) - 1)

KERNEL_INLINE void
K(margins_of_rows) (const int16_t *tile, const pe_limbs *limbs, int32_t *high, int32_t *low)
{
	const VECTOR low_mask = V_SET32((1 << PE_LOW_BITS) - 1);
	VECTOR		h[2][2] = {{V_ZERO(), V_ZERO()}, {V_ZERO(), V_ZERO()}};
	VECTOR		l[2][2] = {{V_ZERO(), V_ZERO()}, {V_ZERO(), V_ZERO()}};

	for (int32_t start = 0; start < limbs->pairs; start += CARRY_PAIRS)
	{
		int32_t		end = limbs->pairs - start < CARRY_PAIRS ? limbs->pairs : start + CARRY_PAIRS;

		for (int32_t p = start; p < end; p++)
		{
			const int16_t *x = tile + (size_t) (2 * PE_TILE) * (size_t) p;
			const VECTOR vh = V_SET32((int32_t) limbs->high[p]);
			const VECTOR vl = V_SET32((int32_t) limbs->low[p]);

			for (int v = 0; v < 2; v++)
			{
				VECTOR		a = V_LOAD(x + v * LANES);
				VECTOR		b = V_LOAD(x + PE_TILE + v * LANES);
				VECTOR		first = V_UNPACK_LOW(a, b);
				VECTOR		second = V_UNPACK_HIGH(a, b);

				h[v][0] = V_MULADD(h[v][0], first, vh);
				h[v][1] = V_MULADD(h[v][1], second, vh);
				l[v][0] = V_MULADD(l[v][0], first, vl);
				l[v][1] = V_MULADD(l[v][1], second, vl);
			}
		}
		for (int v = 0; v < 2; v++)
			for (int i = 0; i < 2; i++)
			{
				h[v][i] = V_ADD(h[v][i], V_SHIFT32(l[v][i], PE_LOW_BITS));
				l[v][i] = V_AND(l[v][i], low_mask);
			}
	}
	for (int v = 0; v < 2; v++)
	{
		V_STORE_UNPACKED(high + v * LANES, h[v][0], h[v][1]);
		V_STORE_UNPACKED(low + v * LANES, l[v][0], l[v][1]);
	}
}

KERNEL void
K(margins) (const int16_t *tile, const pe_limbs *limbs, pe_margins *margins)
{
	for (int r = 0; r < PE_TILE; r += 2 * LANES)
		K(margins_of_rows) (tile + r, limbs, margins->high + r, margins->low + r);
}

/*
 * Gradients.  s = 256 high + low, low in [0, 255]: a lane gets PE_TILE / LANES times
 * two products of at most 255 2^14 a tile, and with four lanes not more than
 * PE_FLUSH_TILES tiles fit (kernel.h).
 */
KERNEL void
K(gradient) (const int16_t *tile, int32_t dense, const int16_t *s, void *accumulators, const int16_t *next)
{
	const VECTOR low_mask = V_SET32(0x00ff00ff);
	VECTOR	   *sums = accumulators;
	VECTOR		high[VECTORS];
	VECTOR		low[VECTORS];

	for (int v = 0; v < VECTORS; v++)
	{
		VECTOR		whole = V_LOAD(s + v * LANES);

		high[v] = V_SHIFT16(whole, 8);
		low[v] = V_AND(whole, low_mask);
	}
	for (int32_t j = 0; j < dense; j++)
	{
		const int16_t *x = pe_tile_column(tile, j);
		const int16_t *ahead = pe_tile_column(next, j);
		VECTOR		h = sums[2 * j];
		VECTOR		l = sums[2 * j + 1];

		_mm_prefetch((const char *) ahead, _MM_HINT_T1);
		_mm_prefetch((const char *) (ahead + PE_TILE / 2), _MM_HINT_T1);
		for (int v = 0; v < VECTORS; v++)
		{
			VECTOR		column = V_LOAD(x + v * LANES);

			h = V_MULADD(h, column, high[v]);
			l = V_MULADD(l, column, low[v]);
		}
		sums[2 * j] = h;
		sums[2 * j + 1] = l;
	}
}

KERNEL void
K(flush) (int32_t dense, void *accumulators, int64_t *sums)
{
	const int32_t lanes = VECTOR_BYTES / 4;
	int32_t    *from = accumulators;

	for (int32_t j = 0; j < dense; j++)
	{
		int64_t		high = 0;
		int64_t		low = 0;

		for (int32_t i = 0; i < lanes; i++)
		{
			high += from[i];
			low += from[lanes + i];
			from[i] = from[lanes + i] = 0;
		}
		sums[j] += high * 256 + low;
		from += 2 * lanes;
	}
}

/*
 * Second moments, two columns by four at a time.  Four multiply-adds fit 32 bits: 4 2
 * 16383^2 = 2147221512 < 2^31.  Then their sums are split at bit 16, and the halves
 * summed over all tiles: at most 2 PE_MOMENT_TILES halves of 2^16 in each of at most
 * 16 lanes, so that even the sum of the lanes fits.
 */
#define STEPS 4
#define TILES_TOGETHER (VECTORS < STEPS ? STEPS / VECTORS : 1)

KERNEL_INLINE void
K(moment_block) (const int16_t *const x[2], const int16_t *const y[4], size_t stride, int32_t tiles,
				 int32_t sums[4][4])
{
	const VECTOR low_mask = V_SET32(0xffff);
	VECTOR		high[2][4];
	VECTOR		low[2][4];

	for (int a = 0; a < 2; a++)
		for (int b = 0; b < 4; b++)
			high[a][b] = low[a][b] = V_ZERO();
	for (int32_t t = 0; t < tiles; t += TILES_TOGETHER)
	{
		int32_t		together = tiles - t < TILES_TOGETHER ? tiles - t : TILES_TOGETHER;

		for (int v = 0; v < VECTORS * TILES_TOGETHER; v += STEPS)
		{
			int			steps = VECTORS < STEPS ? VECTORS * together : STEPS;
			VECTOR		c[2][4];

			for (int a = 0; a < 2; a++)
				for (int b = 0; b < 4; b++)
					c[a][b] = V_ZERO();
			for (int i = v; i < v + steps; i++)
			{
				size_t		at = stride * (size_t) (t + i / VECTORS) + (size_t) (i % VECTORS * LANES);
				VECTOR		x0 = V_LOAD(x[0] + at);
				VECTOR		x1 = V_LOAD(x[1] + at);

				for (int b = 0; b < 4; b++)
				{
					VECTOR		yb = V_LOAD(y[b] + at);

					c[0][b] = V_MULADD(c[0][b], x0, yb);
					c[1][b] = V_MULADD(c[1][b], x1, yb);
				}
			}
			for (int a = 0; a < 2; a++)
				for (int b = 0; b < 4; b++)
				{
					high[a][b] = V_ADD(high[a][b], V_SHIFT32(c[a][b], 16));
					low[a][b] = V_ADD(low[a][b], V_AND(c[a][b], low_mask));
				}
		}
	}
	for (int a = 0; a < 2; a++)
	{
		_mm_storeu_si128((__m128i *) sums[a],
						 add_lanes(V_FOLD(low[a][0]), V_FOLD(low[a][1]), V_FOLD(low[a][2]), V_FOLD(low[a][3])));
		_mm_storeu_si128((__m128i *) sums[2 + a],
						 add_lanes(V_FOLD(high[a][0]), V_FOLD(high[a][1]), V_FOLD(high[a][2]), V_FOLD(high[a][3])));
	}
}

KERNEL void
K(moment) (const int16_t *tile, size_t stride, int32_t tiles, int32_t dense, int64_t *sums)
{
	for (int32_t j = 0; j < dense; j += 4)
		for (int32_t i = j; i < dense; i += 2)
		{
			const int16_t *x[2];
			const int16_t *y[4];
			int32_t		block[4][4];

			/* columns beyond the last are the last again, and not used */
			for (int a = 0; a < 2; a++)
				x[a] = pe_tile_column(tile, i + a < dense ? i + a : dense - 1);
			for (int b = 0; b < 4; b++)
				y[b] = pe_tile_column(tile, j + b < dense ? j + b : dense - 1);
			K(moment_block) (x, y, stride, tiles, block);
			for (int32_t a = i; a < i + 2 && a < dense; a++)
				for (int32_t b = j; b < j + 4 && b <= a; b++)
					sums[packed(a) + (size_t) b] += (int64_t) block[2 + a - i][b - j] * 65536 + block[a - i][b - j];
		}
}

/* ------------------------------------------------------------------
 * Per row: C that the compiler turns into these vectors
 * ------------------------------------------------------------------
 */

KERNEL void
K(floats) (const pe_margins *margins, pe_margin_units units, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = (float) margins->high[r] * units.high + (float) margins->low[r] * units.low;
}

KERNEL void
K(shift) (const float *margin, float alpha, const float *direction, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = margin[r] - alpha * direction[r];
}

KERNEL void
K(step) (const float *margin, float step, const int16_t *x, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = margin[r] + step * ((float) x[r] * (1.0f / PE_ONE));
}

KERNEL_INLINE void
K(residuals_of) (pe_loss loss, float scale, const pe_margins *margins, pe_margin_units units,
				 const int16_t *restrict label, const int16_t *restrict cap, int16_t *restrict s)
{
	for (int r = 0; r < PE_TILE; r++)
	{
		float		m = (float) margins->high[r] * units.high + (float) margins->low[r] * units.low;
		float		derivative = pe_float_derivative(loss, m, pe_float_label(loss, label[r]));
		int32_t		q = pe_quantised_derivative(derivative, scale);
		int32_t		most = cap[r];

		q = q < most ? q : most;
		s[r] = (int16_t) (q > -most ? q : -most);
	}
}

KERNEL void
K(residuals) (pe_loss loss, float scale, const pe_margins *margins, pe_margin_units units,
			  const int16_t *label, const int16_t *cap, int16_t *s)
{
#define RESIDUALS(of) K(residuals_of) (of, scale, margins, units, label, cap, s)
	PE_WITH_LOSS(loss, RESIDUALS)
#undef RESIDUALS
}

/* A loss has 31 bits: its halves are summed by themselves, 64 of them in 22 bits. */
KERNEL_INLINE int64_t
K(losses_of) (pe_loss loss, const float *margin, const int16_t *label, int32_t cap)
{
	int32_t		high = 0;
	int32_t		low = 0;

	for (int r = 0; r < PE_TILE; r++)
	{
		int32_t		q = pe_quantised_loss(pe_float_loss(loss, margin[r], pe_float_label(loss, label[r])));

		q = q < cap ? q : cap;
		q = label[r] != PE_NO_LABEL ? q : 0;
		high += q >> 16;
		low += q & 0xffff;
	}
	return (int64_t) high * 65536 + low;
}

KERNEL int64_t
K(losses) (pe_loss loss, const float *margin, const int16_t *label, int32_t cap)
{
#define LOSSES(of) return K(losses_of) (of, margin, label, cap)
	PE_WITH_LOSS(loss, LOSSES)
#undef LOSSES
	return 0;
}

static const pe_kernel_code K(code) = {
	.margins = K(margins),
	.residuals = K(residuals),
	.accumulator = 2 * VECTOR_BYTES,
	.gradient = K(gradient),
	.flush = K(flush),
	.moment = K(moment),
	.shift = K(shift),
	.losses = K(losses),
	.floats = K(floats),
	.step = K(step),
};

#undef KERNEL_GLUE_
#undef KERNEL_GLUE
#undef K
#undef KERNEL
#undef KERNEL_INLINE
#undef LANES
#undef VECTORS
#undef CARRY_PAIRS
#undef STEPS
#undef TILES_TOGETHER
#undef SUFFIX
#undef TARGET
#undef VECTOR
#undef VECTOR_BYTES
#undef V_ZERO
#undef V_SET32
#undef V_LOAD
#undef V_UNPACK_LOW
#undef V_UNPACK_HIGH
#undef V_MULADD
#undef V_ADD
#undef V_SHIFT32
#undef V_SHIFT16
#undef V_AND
#undef V_STORE_UNPACKED
#undef V_FOLD

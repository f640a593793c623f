/*
 * kernel.c
 *	  The loops over a tile.  See kernel.h.
 */
#include "core/kernel.h"

#include <string.h>

#include "core/loss.h"

/* ------------------------------------------------------------------
 * Plain C, one number after the other: what the others are compared with
 * ------------------------------------------------------------------
 */

static void
plain_margins(const int16_t *tile, const pe_limbs *limbs, pe_margins *margins)
{
	int64_t		margin[PE_TILE] = {0};

	for (int32_t j = 0; j < 2 * limbs->pairs; j++)
		for (int r = 0; r < PE_TILE; r++)
			margin[r] += (int64_t) pe_tile_column(tile, j)[r] * limbs->v[j];
	for (int r = 0; r < PE_TILE; r++)
	{
		margins->high[r] = (int32_t) (margin[r] >> PE_LOW_BITS);
		margins->low[r] = (int32_t) (margin[r] & ((1 << PE_LOW_BITS) - 1));
	}
}

static void
plain_floats(const pe_margins *margins, pe_margin_units units, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = (float) margins->high[r] * units.high + (float) margins->low[r] * units.low;
}

static void
plain_residuals(pe_loss loss, float scale, const pe_margins *margins, pe_margin_units units,
				const int16_t *label, const int16_t *cap, int16_t *s)
{
	float		m[PE_TILE];

	plain_floats(margins, units, m);
	for (int r = 0; r < PE_TILE; r++)
	{
		float		derivative = pe_float_derivative(loss, m[r], pe_float_label(loss, label[r]));
		int32_t		q = pe_quantised_derivative(derivative, scale);

		q = q < cap[r] ? q : cap[r];
		s[r] = (int16_t) (q > -cap[r] ? q : -cap[r]);
	}
}

static void
plain_gradient(const int16_t *tile, int32_t dense, const int16_t *s, void *accumulators, const int16_t *next)
{
	int64_t    *sums = accumulators;

	(void) next;
	for (int32_t j = 0; j < dense; j++)
		for (int r = 0; r < PE_TILE; r++)
			sums[j] += (int64_t) s[r] * pe_tile_column(tile, j)[r];
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

static void
plain_moment(const int16_t *tile, size_t stride, int32_t tiles, int32_t dense, int64_t *sums)
{
	for (int32_t t = 0; t < tiles; t++, tile += stride)
		for (int32_t i = 0; i < dense; i++)
			for (int32_t j = 0; j <= i; j++)
			{
				const int16_t *x = pe_tile_column(tile, i);
				const int16_t *y = pe_tile_column(tile, j);
				int64_t		sum = 0;

				for (int r = 0; r < PE_TILE; r++)
					sum += (int64_t) x[r] * y[r];
				sums[(size_t) i * ((size_t) i + 1) / 2 + (size_t) j] += sum;
			}
}

static void
plain_shift(const float *margin, float alpha, const float *direction, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = margin[r] - alpha * direction[r];
}

static int64_t
plain_losses(pe_loss loss, const float *margin, const int16_t *label, int32_t cap)
{
	int64_t		sum = 0;

	for (int r = 0; r < PE_TILE; r++)
	{
		int32_t		q = pe_quantised_loss(pe_float_loss(loss, margin[r], pe_float_label(loss, label[r])));

		if (label[r] != PE_NO_LABEL)
			sum += q < cap ? q : cap;
	}
	return sum;
}

static void
plain_step(const float *margin, float step, const int16_t *x, float *m)
{
	for (int r = 0; r < PE_TILE; r++)
		m[r] = margin[r] + step * ((float) x[r] * (1.0f / PE_ONE));
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
 * Which there are
 * ------------------------------------------------------------------
 */

bool
pe_kernel_available(pe_kernel kernel)
{
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
	return &plain_code;
}

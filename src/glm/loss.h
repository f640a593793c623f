/*
 * loss.h
 *	  Losses of a margin in float32, by +, -, *, / and comparisons of IEEE alone, so
 *	  that every instruction set gives the same bits; and in double, with libm.
 *
 * y is 0 or 1, or the label of a regression in [-1, 1].  For every margin, a
 * NaN included, the integers that come out are in their ranges: each comparison is
 * written so that a NaN falls on the side of the limit.
 *
 * Errors against the exact functions, for |margin| <= 64, relative where they are
 * above 1: below 2^-22 (test_pass.c).  A rounded derivative differs by at most 1 from
 * what double would give, and in less than one row in 2000.
 */
#ifndef PE_GLM_LOSS_H
#define PE_GLM_LOSS_H

#include <math.h>

#include "glm/pass.h"

/* Inlined into each instruction set's own functions. */
#define PE_LOSS_INLINE static inline __attribute__((always_inline))

/* DO(loss) for the loss that it is, as a constant: what is inlined is of one loss. */
#define PE_WITH_LOSS(loss, DO) \
	switch (loss) \
	{ \
		case PE_LOSS_LOGISTIC: DO(PE_LOSS_LOGISTIC); break; \
		case PE_LOSS_HUBER: DO(PE_LOSS_HUBER); break; \
		case PE_LOSS_HINGE: DO(PE_LOSS_HINGE); break; \
		case PE_LOSS_SQUARED: DO(PE_LOSS_SQUARED); break; \
	}

/* The largest loss, in 2^-PE_LOSS_BITS: the largest float32 below 2^31. */
#define PE_LOSS_MOST 2147483520

/* 1.5 2^23: adding it to |x| <= 2^22 rounds x to an integer, which is then in the low bits. */
#define PE_ROUNDER 12582912.0f

/*
 * exp(x) for x in [-87, 88], to which x is brought: 2^k exp(r), |r| <= ln(2) / 2,
 * with the polynomial of Cephes (Moshier), relative error below 2^-22.
 */
PE_LOSS_INLINE float
pe_float_exp(float x)
{
	union
	{
		int32_t		bits;
		float		number;
	}			power;
	float		k;
	float		r;
	float		p;

	x = x > -87.0f ? x : -87.0f;
	x = x < 88.0f ? x : 88.0f;
	k = x * 1.44269504f + PE_ROUNDER - PE_ROUNDER;
	r = x - k * 0.693359375f + k * 2.12194440e-4f;
	p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * r * r + r + 1.0f;
	power.bits = ((int32_t) k + 127) * (1 << 23);
	return p * power.number;
}

/* log(1 + z) for z in [0, 1]: 2 atanh(z / (2 + z)), whose series is cut off at 2^-29. */
PE_LOSS_INLINE float
pe_float_log1p(float z)
{
	float		a = z / (2.0f + z);
	float		b = a * a;
	float		p = 1.0f / 17.0f;

	p = p * b + 1.0f / 15.0f;
	p = p * b + 1.0f / 13.0f;
	p = p * b + 1.0f / 11.0f;
	p = p * b + 1.0f / 9.0f;
	p = p * b + 1.0f / 7.0f;
	p = p * b + 1.0f / 5.0f;
	p = p * b + 1.0f / 3.0f;
	return 2.0f * (a + a * b * p);
}

/* A label as y. */
PE_LOSS_INLINE float
pe_float_label(pe_loss loss, int16_t label)
{
	if (loss == PE_LOSS_SQUARED)
		return (float) label * (1.0f / PE_ONE);
	return label > 0 ? 1.0f : 0.0f;
}

/* The derivative by the margin, without a difference that cancels. */
PE_LOSS_INLINE float
pe_float_derivative(pe_loss loss, float margin, float y)
{
	float		sign = 2.0f * y - 1.0f;
	float		d;

	switch (loss)
	{
		case PE_LOSS_LOGISTIC:
			return -sign / (1.0f + pe_float_exp(sign * margin));
		case PE_LOSS_HUBER:
			d = 1.5f - sign * margin;
			d = d > 0.0f ? d : 0.0f;
			d = d < 1.0f ? d : 1.0f;
			return -sign * d;
		case PE_LOSS_HINGE:
			return sign * margin < 1.0f ? -sign : 0.0f;
		case PE_LOSS_SQUARED:
			return margin - y;
	}
	return 0.0f;
}

PE_LOSS_INLINE float
pe_float_loss(pe_loss loss, float margin, float y)
{
	float		t = (2.0f * y - 1.0f) * margin;
	float		d;
	float		c;

	switch (loss)
	{
		case PE_LOSS_LOGISTIC:
			d = t > 0.0f ? t : -t;
			c = pe_float_log1p(pe_float_exp(-d));
			return (t < 0.0f ? -t : 0.0f) + c;
		case PE_LOSS_HUBER:
			d = 1.5f - t;
			c = d > 0.0f ? d : 0.0f;
			c = c < 1.0f ? c : 1.0f;
			return c * (d - 0.5f * c);
		case PE_LOSS_HINGE:
			d = 1.0f - t;
			return d > 0.0f ? d : 0.0f;
		case PE_LOSS_SQUARED:
			d = margin - y;
			return 0.5f * d * d;
	}
	return 0.0f;
}

/* A derivative as an integer in units of 2^-bits: |result| <= 32767. */
PE_LOSS_INLINE int32_t
pe_quantised_derivative(float derivative, float scale)
{
	union
	{
		float		number;
		int32_t		bits;
	}			rounded;
	float		v = derivative * scale;

	v = v > -32767.0f ? v : -32767.0f;
	v = v < 32767.0f ? v : 32767.0f;
	rounded.number = v + PE_ROUNDER;
	return (rounded.bits & 0x7fffff) - 0x400000;
}

/* A loss in 2^-PE_LOSS_BITS, in [0, PE_LOSS_MOST]. */
PE_LOSS_INLINE int32_t
pe_quantised_loss(float loss)
{
	float		v = loss * (float) (1 << PE_LOSS_BITS);

	v = v > 0.0f ? v : 0.0f;
	v = v + 0.5f;
	return (int32_t) (v < (float) PE_LOSS_MOST ? v : (float) PE_LOSS_MOST);
}

/*
 * sqrt(l'') in [0, 1] times 2^15; of the logistic loss 2 sqrt(l''), whose l'' is at
 * most 1/4: h / (1 + h^2) is its root, with h = exp(-|margin| / 2).
 */
PE_LOSS_INLINE int32_t
pe_quantised_curvature(pe_loss loss, float margin, float y)
{
	float		sign = 2.0f * y - 1.0f;
	float		h;

	switch (loss)
	{
		case PE_LOSS_LOGISTIC:
			h = pe_float_exp(margin > 0.0f ? -0.5f * margin : 0.5f * margin);
			return (int32_t) (65536.0f * h / (1.0f + h * h) + 0.5f);
		case PE_LOSS_HUBER:
			return sign * margin > 0.5f && sign * margin < 1.5f ? 32768 : 0;
		case PE_LOSS_HINGE:
			return 0;
		case PE_LOSS_SQUARED:
			return 32768;
	}
	return 0;
}

/* ------------------------------------------------------------------
 * In double
 * ------------------------------------------------------------------
 */

static inline double
pe_double_derivative(pe_loss loss, double margin, double y)
{
	double		sign = 2.0 * y - 1.0;

	switch (loss)
	{
		case PE_LOSS_LOGISTIC:
			return -sign / (1.0 + exp(sign * margin));
		case PE_LOSS_HUBER:
			return -sign * fmin(fmax(1.5 - sign * margin, 0.0), 1.0);
		case PE_LOSS_HINGE:
			return sign * margin < 1.0 ? -sign : 0.0;
		case PE_LOSS_SQUARED:
			return margin - y;
	}
	return 0.0;
}

static inline double
pe_double_loss(pe_loss loss, double margin, double y)
{
	double		t = (2.0 * y - 1.0) * margin;
	double		c = fmin(fmax(1.5 - t, 0.0), 1.0);

	switch (loss)
	{
		case PE_LOSS_LOGISTIC:
			return fmax(-t, 0.0) + log1p(exp(-fabs(t)));
		case PE_LOSS_HUBER:
			return c * (1.5 - t - 0.5 * c);
		case PE_LOSS_HINGE:
			return fmax(1.0 - t, 0.0);
		case PE_LOSS_SQUARED:
			return 0.5 * (margin - y) * (margin - y);
	}
	return 0.0;
}

#endif

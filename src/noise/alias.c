/*
 * alias.c
 *	  Exact sampling of the discrete Gaussian N_Z(0, sigma^2) from a table.
 */
#include "noise/alias.h"

#include <math.h>
#include <string.h>

#include "noise/lazy_exp.h"

/* Strips without the tail and the empty one. */
#define MAX_INNER (PE_ALIAS_COLUMNS - 2)

/* The part of the columns that holds the integers near 0; the others are far out. */
#define INNER_SHARE 0.7

/* sqrt(pi/2): the sum of f is near this times sigma. */
#define HALF_MASS 1.2533141373155

/* The widest range, in units of sigma. */
#define WIDEST (1.0 / 6.0)

/* The bits of u, the place in a column, that do not come with the first word. */
#define LATE_BITS (63 - PE_ALIAS_COLUMN_BITS - 32)

/* The relative error of the exponent in double: see accept_slowly. */
#define EXPONENT_ERROR 0x1p-47

/* ----------
 * Preparation
 * ----------
 */
bool
pe_alias_serves(const pe_gauss *g)
{
	return g->t <= PE_ALIAS_D_MAX;
}

/* exp(-k^2 q/(2p)) in double */
static double
height(const pe_alias *s, uint64_t k)
{
	double		x = (double) k;

	return exp(-(s->rate * (x * x)));
}

/*
 * Cuts the integers into ranges of about equal weight, none wider than WIDEST.
 * Stores f at the start of each in top[] and returns the sum of width * f, the
 * tail's as 2 D f(K).
 */
static double
cut(pe_alias *s, double sigma, double reach, uint64_t d, double *top)
{
	double		each = (0.5 + HALF_MASS * sigma) / (INNER_SHARE * PE_ALIAS_COLUMNS);
	double		widest = fmax(WIDEST * sigma, 1.0);
	double		sum = 0.5;
	uint64_t	start = 1;
	unsigned	n = 1;

	s->range[0].start = 0;
	s->range[0].width = 1;
	while ((double) start < reach * sigma + 1.0 && n < MAX_INNER)
	{
		pe_alias_range *range = &s->range[n];

		top[n] = height(s, start);
		range->start = start;
		range->width = (uint64_t) fmax(fmin(each / top[n] + 0.5, widest), 1.0);
		sum += (double) range->width * top[n];
		start += range->width;
		n++;
	}
	if ((double) start < 1.25 * sigma)
		pe_bug("tail of the discrete Gaussian begins too early");
	s->tail = n;
	s->range[n].start = start;
	s->range[n].width = d;
	top[n] = height(s, start);
	return sum + 2.0 * (double) d * top[n];
}

/* The weights and the quick bounds; the errors are followed in alias.h. */
static void
weigh(pe_alias *s, const double *top)
{
	double		scale = (double) s->scale;
	uint64_t	left = PE_ALIAS_TOTAL - s->scale / 2;

	s->range[0].weight = s->scale / 2;
	s->range[0].quick = UINT64_C(1) << PE_ALIAS_QUICK_BITS;
	for (unsigned i = 1; i <= s->tail; i++)
	{
		pe_alias_range *range = &s->range[i];
		double		factor = (double) range->width * scale;

		if (i == s->tail)
			range->weight = (uint64_t) ceil(2.0 * factor * top[i] * (1.0 + 0x1p-40)) + 1;
		else
		{
			double		least = range->width == 1 ? top[i] : height(s, range->start + range->width - 1);

			range->weight = (uint64_t) ceil(factor * top[i] * (1.0 + 0x1p-40)) + 1;
			range->quick = (uint64_t) ((1 << PE_ALIAS_QUICK_BITS) * (1.0 - 0x1p-39) *
									   (factor * least / (double) range->weight));
		}
		if (range->weight > left)
			pe_bug("weights of the discrete Gaussian do not fit");
		left -= range->weight;
	}
	s->range[s->tail + 1].weight = left;
}

/*
 * Spreads the weights over the columns (Vose 1991).  The weights not yet settled
 * always fill their columns on the average, exactly as these are integers: so as
 * long as one is below the capacity there is one above it to fill its column.
 */
static void
spread(pe_alias *s)
{
	uint64_t	rest[PE_ALIAS_COLUMNS];
	unsigned	low[PE_ALIAS_COLUMNS];
	unsigned	high[PE_ALIAS_COLUMNS];
	unsigned	nlow = 0;
	unsigned	nhigh = 0;

	for (unsigned i = 0; i < PE_ALIAS_COLUMNS; i++)
	{
		rest[i] = s->range[i].weight;
		if (rest[i] < PE_ALIAS_CAPACITY)
			low[nlow++] = i;
		else
			high[nhigh++] = i;
	}
	while (nlow > 0)
	{
		unsigned	i = low[--nlow];
		unsigned	donor = high[nhigh - 1];

		s->column[i].threshold = rest[i];
		s->column[i].alias = donor;
		rest[donor] -= PE_ALIAS_CAPACITY - rest[i];
		if (rest[donor] < PE_ALIAS_CAPACITY)
		{
			nhigh--;
			low[nlow++] = donor;
		}
	}
	while (nhigh > 0)
	{
		unsigned	i = high[--nhigh];

		s->column[i].threshold = PE_ALIAS_CAPACITY;
		s->column[i].alias = i;
	}
}

void
pe_alias_init(pe_alias *s, const pe_gauss *g, double reach)
{
	double		top[PE_ALIAS_COLUMNS];
	double		sum;

	if (!pe_alias_serves(g) || !(reach >= 1.5 && reach <= PE_ALIAS_REACH))
		pe_bug("table of the discrete Gaussian is out of range");
	memset(s, 0, sizeof(*s));
	s->p = g->p;
	s->q = g->q;
	s->rate = g->rate;
	s->margin = PE_LAZY_MARGIN;
	sum = cut(s, sqrt((double) g->p / (double) g->q), reach, g->t, top);

	/* even, so that {0} weighs F/2 exactly */
	s->scale = (uint64_t) (0x1p63 * (1.0 - 0x1p-36) / sum) & ~UINT64_C(1);
	weigh(s, top);
	spread(s);
}

/* ----------
 * The acceptance
 * ----------
 */

/* The claim V a < b exp(-k^2 q/(2p)) in integers. */
static __attribute__((noinline)) bool
accept_exactly(const pe_alias *s, uint64_t a, uint64_t b, uint64_t k, uint64_t first, pe_bits *bits)
{
	const pe_lazy_claim claim = {
		.a = a, .b = b, .n1 = pe_wide_times(pe_wide_product(k, k), s->q),
		.d1 = pe_wide_times(pe_wide_from(s->p), 2), .d2 = pe_wide_from(1)
	};

	return pe_lazy_less_exact(&claim, first, bits);
}

/*
 * n, the bits up to the first 1.  False if that is not among the
 * first 63.
 */
static bool
draw_bits(pe_bits *bits, unsigned *n)
{
	uint64_t	word = pe_bits_next64(bits);

	if (word >> 1 == 0)
		return false;
	*n = (unsigned) __builtin_clzll(word) + 1;
	return true;
}

/*
 * Decides on *k, proposed in the given range with the first bits of V, where
 * these are not below the quick bound.  In the tail it first moves *k.
 *
 * The claim is V 2^-n W < w F exp(-x), n = 0 outside the tail: V 2^-n has n zeros
 * and then V's bits.  first holds the beginning of them; the others are drawn
 * when they are needed.
 *
 * In double, x has a relative error below 8 u < 2^-50 (alias.h).  While x <= 2^40
 * that is at most 2^-10, which exp turns into a relative error below
 * EXPONENT_ERROR * x; w F, W, their quotient and the last product add 4 u, which the
 * margin covers.  Beyond, exp(-x) and its estimate are 0 up to 2^-61, even times
 * w F < 2^64.
 */
static __attribute__((noinline)) bool
accept_slowly(const pe_alias *s, unsigned i, uint64_t *k, uint64_t begun, pe_bits *bits)
{
	const pe_alias_range *range = &s->range[i];
	uint64_t	factor = range->width * s->scale;
	uint64_t	first;
	unsigned	n = 0;
	double		low;
	double		x;
	pe_lazy_answer answer;

	if (factor == 0)
		return false;
	if (i == s->tail)
	{
		if (!draw_bits(bits, &n))
			return false;
		*k += (n - 1) * range->width;
	}
	first = begun << (64 - PE_ALIAS_QUICK_BITS) | pe_bits_next64(bits) >> PE_ALIAS_QUICK_BITS;
	first >>= n;
	low = (double) first * 0x1p-64;
	x = s->rate * ((double) *k * (double) *k);
	answer = pe_lazy_quick(low, low, (double) factor / (double) range->weight * exp(-x),
						   s->margin + x * EXPONENT_ERROR);
	if (answer != PE_LAZY_UNSURE)
		return answer == PE_LAZY_YES;
	return accept_exactly(s, range->weight, factor, *k, first, bits);
}

/* ----------
 * A draw
 * ----------
 */

/* Is the place in the column, whose first 32 bits are those of the threshold, below it? */
static __attribute__((noinline)) bool
below_threshold(uint64_t threshold, pe_bits *bits)
{
	return pe_bits_next32(bits) >> (32 - LATE_BITS) < (threshold & ((UINT64_C(1) << LATE_BITS) - 1));
}

/*
 * The first word holds, from the lowest bit: the column, the sign, the first
 * PE_ALIAS_QUICK_BITS of V, and the first 32 bits of the place in the column.
 */
int64_t
pe_alias_draw(const pe_alias *s, pe_bits *bits)
{
	for (;;)
	{
		uint64_t	word = pe_bits_next64(bits);
		unsigned	i = word & (PE_ALIAS_COLUMNS - 1);
		int64_t		minus = -(int64_t) (word >> PE_ALIAS_COLUMN_BITS & 1);
		uint64_t	begun = word >> (PE_ALIAS_COLUMN_BITS + 1) & ((1 << PE_ALIAS_QUICK_BITS) - 1);
		uint64_t	place = word >> 32;
		uint64_t	threshold = s->column[i].threshold;
		const pe_alias_range *range;
		uint64_t	k;

		if (__builtin_expect(place == threshold >> LATE_BITS, 0))
		{
			if (!below_threshold(threshold, bits))
				i = (unsigned) s->column[i].alias;
		}
		else if (place > threshold >> LATE_BITS)
			i = (unsigned) s->column[i].alias;

		range = &s->range[i];
		k = range->start;
		if (range->width > 1)
			k += pe_bits_below(bits, range->width);
		if (__builtin_expect(begun < range->quick, 1) || accept_slowly(s, i, &k, begun, bits))
			return ((int64_t) k ^ minus) - minus;
	}
}

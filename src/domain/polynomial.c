/*
 * polynomial.c
 *	  Polynomials of a row's columns, in integers.  See polynomial.h.
 */
#include "domain/polynomial.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------
 * Factors
 * ------------------------------------------------------------------
 */

int32_t
pe_operand_binary_scale(double lower, double upper)
{
	int			range;
	int			size;

	(void) frexp(upper / 2 - lower / 2, &range);	/* half of it, which does not overflow */
	(void) frexp(fmax(fabs(lower), fabs(upper)), &size);
	range = PE_FACTOR_BITS - range;
	size = 46 - size;
	return range < size ? range : size;
}

static int64_t
steps_of(const pe_operand *f, double value)
{
	return (int64_t) rint(value * f->unit);
}

static bool
is_served(const pe_operand *f, double value)
{
	return isfinite(value) && fabs(value * f->unit) < PE_FACTOR_STEPS;
}

bool
pe_operand_prepare(pe_operand *f)
{
	if (!(f->binary || (f->scale >= 0 && f->scale <= PE_FACTOR_DECIMALS)) || f->scale < -2000 || f->scale > 2000)
		return false;
	f->unit = 1;
	for (int i = 0; i < f->scale && !f->binary; i++)
		f->unit *= 10;
	if (f->binary)
		f->unit = ldexp(1, f->scale);
	if (!(f->lower < f->upper) || !(f->unit > 0) || !isfinite(f->unit) || !is_served(f, f->lower) ||
		!is_served(f, f->upper) || (f->fills && !is_served(f, f->filling)))
		return false;
	f->least = steps_of(f, f->lower);
	f->greatest = steps_of(f, f->upper);
	f->filled = f->fills ? steps_of(f, f->filling) : f->least;
	f->least = f->filled < f->least ? f->filled : f->least;
	f->greatest = f->filled > f->greatest ? f->filled : f->greatest;
	return true;
}

/* NaN is absent, as of all numbers: coalesce does not replace it. */
bool
pe_operand_place(const pe_operand *f, bool isnull, double value, int64_t *steps)
{
	bool		inside = value >= f->lower && value <= f->upper;
	bool		there = !isnull && !isnan(value) && (inside || f->clamp);

	value = value > f->upper ? f->upper : value >= f->lower ? value : f->lower;
	*steps = isnull ? f->filled : steps_of(f, value);
	return there || (isnull && f->fills);
}

/* ------------------------------------------------------------------
 * Integers that must fit
 * ------------------------------------------------------------------
 */

/* Values and intermediate ones are below 2^126, so that sums of two fit. */
#define MOST ((pe_i128) 1 << 126)

static bool
add(pe_i128 a, pe_i128 b, pe_i128 *sum)
{
	return !__builtin_add_overflow(a, b, sum) && *sum < MOST && *sum > -MOST;
}

static bool
multiply(pe_i128 a, pe_i128 b, pe_i128 *product)
{
	return !__builtin_mul_overflow(a, b, product) && *product < MOST && *product > -MOST;
}

static pe_i128
lesser(pe_i128 a, pe_i128 b)
{
	return a < b ? a : b;
}

static pe_i128
larger(pe_i128 a, pe_i128 b)
{
	return a > b ? a : b;
}

/* ------------------------------------------------------------------
 * Bounds, term by term
 * ------------------------------------------------------------------
 */

typedef struct range
{
	pe_i128		least;
	pe_i128		greatest;
} range;

static bool
multiply_ranges(range a, range b, range *product)
{
	pe_i128		corner[4];
	bool		fits = multiply(a.least, b.least, &corner[0]) && multiply(a.least, b.greatest, &corner[1]) &&
		multiply(a.greatest, b.least, &corner[2]) && multiply(a.greatest, b.greatest, &corner[3]);

	if (!fits)
		return false;
	*product = (range) {corner[0], corner[0]};
	for (int i = 1; i < 4; i++)
	{
		product->least = lesser(product->least, corner[i]);
		product->greatest = larger(product->greatest, corner[i]);
	}
	return true;
}

/* A square is not below 0. */
static bool
range_of_term(const pe_monomial *m, const pe_operand *factor, range *r)
{
	*r = (range) {m->coefficient, m->coefficient};
	for (int i = 0; i < m->degree;)
	{
		const pe_operand *f = &factor[m->factor[i]];
		range		of = {f->least, f->greatest};
		bool		square = i + 1 < m->degree && m->factor[i + 1] == m->factor[i];

		if (square && !multiply_ranges(of, of, &of))
			return false;
		if (square)
			of.least = f->least <= 0 && f->greatest >= 0 ? 0
				: lesser((pe_i128) f->least * f->least, (pe_i128) f->greatest * f->greatest);
		if (!multiply_ranges(*r, of, r))
			return false;
		i += square ? 2 : 1;
	}
	return true;
}

/* Of the terms whose bit is set. */
static bool
range_of_terms(const pe_polynomial *p, const pe_operand *factor, uint64_t terms, range *r)
{
	*r = (range) {0, 0};
	for (int32_t t = 0; t < p->terms; t++)
	{
		range		of;

		if ((terms >> t & 1) == 0)
			continue;
		if (!range_of_term(&p->term[t], factor, &of) || !add(r->least, of.least, &r->least) ||
			!add(r->greatest, of.greatest, &r->greatest))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------
 * Bounds of terms that have factors in common, in the Bernstein basis of the
 * box of these factors: the polynomial lies between the least and the largest
 * of its coefficients there, and a corner's coefficient is its value
 * ------------------------------------------------------------------
 */

#define MOST_COEFFICIENTS 4096

typedef struct bernstein
{
	int			factors;
	int			factor[PE_MAX_FACTORS];
	int			degree[PE_MAX_FACTORS];	/* of each, in one term */
	int			stride[PE_MAX_FACTORS];
	int			coefficients;
	pe_i128    *coefficient;
} bernstein;

static uint32_t
factors_of(const pe_monomial *m)
{
	uint32_t	factors = 0;

	for (int i = 0; i < m->degree; i++)
		factors |= UINT32_C(1) << m->factor[i];
	return factors;
}

static int
degree_of(const pe_monomial *m, int factor)
{
	int			degree = 0;

	for (int i = 0; i < m->degree; i++)
		degree += m->factor[i] == factor;
	return degree;
}

/* False if they are too many. */
static bool
find_box(const pe_polynomial *p, uint64_t terms, uint32_t factors, bernstein *b)
{
	b->factors = 0;
	b->coefficients = 1;
	for (int f = 0; f < PE_MAX_FACTORS; f++)
	{
		int			degree = 0;

		if ((factors >> f & 1) == 0)
			continue;
		for (int32_t t = 0; t < p->terms; t++)
			if ((terms >> t & 1) != 0 && degree_of(&p->term[t], f) > degree)
				degree = degree_of(&p->term[t], f);
		b->factor[b->factors] = f;
		b->degree[b->factors] = degree;
		b->stride[b->factors++] = b->coefficients;
		b->coefficients *= degree + 1;
		if (b->coefficients > MOST_COEFFICIENTS)
			return false;
	}
	return true;
}

static int
stride_of(const bernstein *b, int factor)
{
	int			i = 0;

	while (b->factor[i] != factor)
		i++;
	return b->stride[i];
}

/* A term in the powers of t, where each factor is least + (greatest - least) t: one for every subset of its factors. */
static bool
expand_term(const bernstein *b, const pe_monomial *m, const pe_operand *factor)
{
	for (int subset = 0; subset < 1 << m->degree; subset++)
	{
		pe_i128		product = m->coefficient;
		int			at = 0;

		for (int i = 0; i < m->degree; i++)
		{
			const pe_operand *f = &factor[m->factor[i]];
			bool		taken = (subset >> i & 1) != 0;

			if (!multiply(product, taken ? f->greatest - f->least : f->least, &product))
				return false;
			at += taken ? stride_of(b, m->factor[i]) : 0;
		}
		if (!add(b->coefficient[at], product, &b->coefficient[at]))
			return false;
	}
	return true;
}

/*
 * Of degree d the coefficient j of Bernstein's basis is sum_i C(j, i) / C(d, i)
 * a_i: here times 1, 1, 2 or 3, so that all is whole.
 */
static const int weight[PE_POLYNOMIAL_DEGREE + 1][PE_POLYNOMIAL_DEGREE + 1][PE_POLYNOMIAL_DEGREE + 1] = {
	{{1}},
	{{1}, {1, 1}},
	{{2}, {2, 1}, {2, 2, 2}},
	{{3}, {3, 1}, {3, 2, 1}, {3, 3, 3, 3}}
};

/* Along one factor, from one place on. */
static bool
convert_line(pe_i128 *first, int stride, int degree)
{
	pe_i128		power[PE_POLYNOMIAL_DEGREE + 1];

	for (int i = 0; i <= degree; i++)
		power[i] = first[i * stride];
	for (int j = 0; j <= degree; j++)
	{
		first[j * stride] = 0;
		for (int i = 0; i <= j; i++)
		{
			pe_i128		product;

			if (!multiply(power[i], weight[degree][j][i], &product) ||
				!add(first[j * stride], product, &first[j * stride]))
				return false;
		}
	}
	return true;
}

/* *by: what all coefficients are multiplied by. */
static bool
convert(const bernstein *b, pe_i128 *by)
{
	*by = 1;
	for (int i = 0; i < b->factors; i++)
	{
		*by *= weight[b->degree[i]][0][0];
		for (int at = 0; at < b->coefficients; at++)
			if (at / b->stride[i] % (b->degree[i] + 1) == 0 &&
				!convert_line(b->coefficient + at, b->stride[i], b->degree[i]))
				return false;
	}
	return true;
}

static pe_i128
divided_down(pe_i128 a, pe_i128 by)
{
	return a / by - (a % by < 0);
}

static bool
find_coefficients(const bernstein *b, const pe_polynomial *p, const pe_operand *factor, uint64_t terms, range *r)
{
	pe_i128		by;

	for (int32_t t = 0; t < p->terms; t++)
		if ((terms >> t & 1) != 0 && !expand_term(b, &p->term[t], factor))
			return false;
	if (!convert(b, &by))
		return false;
	*r = (range) {b->coefficient[0], b->coefficient[0]};
	for (int i = 1; i < b->coefficients; i++)
	{
		r->least = lesser(r->least, b->coefficient[i]);
		r->greatest = larger(r->greatest, b->coefficient[i]);
	}
	r->least = divided_down(r->least, by);
	r->greatest = -divided_down(-r->greatest, by);
	return true;
}

/* Of terms with factors in common: both bounds hold. */
static bool
range_of_box(const pe_polynomial *p, const pe_operand *factor, uint64_t terms, uint32_t factors, range *r)
{
	bernstein	b;
	range		narrower;
	bool		found;

	if (!range_of_terms(p, factor, terms, r))
		return false;
	if (!find_box(p, terms, factors, &b))
		return true;
	b.coefficient = pe_alloc((size_t) b.coefficients, sizeof(*b.coefficient));
	found = find_coefficients(&b, p, factor, terms, &narrower);
	pe_free(b.coefficient);
	if (found)
		*r = (range) {larger(r->least, narrower.least), lesser(r->greatest, narrower.greatest)};
	return true;
}

/* The terms that have factors in common with term t, directly or by others. */
static uint64_t
tied_to(const pe_polynomial *p, int32_t t, uint32_t *factors)
{
	uint64_t	terms = UINT64_C(1) << t;
	bool		grows = true;

	*factors = factors_of(&p->term[t]);
	while (grows)
	{
		grows = false;
		for (int32_t other = 0; other < p->terms; other++)
			if ((terms >> other & 1) == 0 && (factors_of(&p->term[other]) & *factors) != 0)
			{
				terms |= UINT64_C(1) << other;
				*factors |= factors_of(&p->term[other]);
				grows = true;
			}
	}
	return terms;
}

static bool
find_range(const pe_polynomial *p, const pe_operand *factor, range *all)
{
	uint64_t	done = 0;

	*all = (range) {0, 0};
	for (int32_t t = 0; t < p->terms; t++)
	{
		uint32_t	factors;
		uint64_t	terms = tied_to(p, t, &factors);
		range		r;

		if ((done >> t & 1) != 0)
			continue;
		done |= terms;
		if (!range_of_box(p, factor, terms, factors, &r) || !add(all->least, r.least, &all->least) ||
			!add(all->greatest, r.greatest, &all->greatest))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------
 * Polynomials
 * ------------------------------------------------------------------
 */

static bool
is_sound(const pe_polynomial *p, int factors)
{
	if (p->terms < 0 || p->terms > PE_POLYNOMIAL_TERMS || (uint64_t) p->needs >> factors != 0)
		return false;
	for (int32_t t = 0; t < p->terms; t++)
	{
		const pe_monomial *m = &p->term[t];

		if (m->degree < 1 || m->degree > PE_POLYNOMIAL_DEGREE || m->coefficient == 0)
			return false;
		for (int i = 0; i < PE_POLYNOMIAL_DEGREE; i++)
			if (i < m->degree ? m->factor[i] >= factors || (i > 0 && m->factor[i] < m->factor[i - 1])
				: m->factor[i] != PE_MAX_FACTORS)
				return false;
		if ((factors_of(m) & ~p->needs) != 0)
			return false;
	}
	return true;
}

/* What partial sums of a row's terms reach at most, as an absolute value. */
static bool
find_size(const pe_polynomial *p, const pe_operand *factor, pe_i128 *size)
{
	*size = 0;
	for (int32_t t = 0; t < p->terms; t++)
	{
		const pe_monomial *m = &p->term[t];
		pe_i128		product = m->coefficient < 0 ? -m->coefficient : m->coefficient;

		for (int i = 0; i < m->degree; i++)
		{
			const pe_operand *f = &factor[m->factor[i]];

			/* at least 1, so that no product on the way is above the last one */
			if (!multiply(product, larger(1, larger(f->greatest, -f->least)), &product))
				return false;
		}
		if (!add(*size, product, size))
			return false;
	}
	return true;
}

static pe_i128
shifted(pe_i128 x, int shift)
{
	return shift == 0 ? x : (x + ((pe_i128) 1 << (shift - 1))) >> shift;
}

pe_polynomial_status
pe_polynomial_prepare(pe_polynomial *p, const pe_operand *factor, int factors)
{
	range		r;
	pe_i128		size;

	if (factors < 0 || factors > PE_MAX_FACTORS || !is_sound(p, factors))
		return PE_POLYNOMIAL_UNSOUND;
	if (!find_range(p, factor, &r) || !find_size(p, factor, &size) || size > MOST / 4)
		return PE_POLYNOMIAL_LARGE;
	if (r.least >= r.greatest)
		return PE_POLYNOMIAL_CONSTANT;
	p->least = r.least;
	p->greatest = r.greatest;
	p->shift = 0;
	while (shifted(r.greatest - r.least, p->shift) > PE_POLYNOMIAL_PLACES)
		p->shift++;
	p->places = (int32_t) shifted(r.greatest - r.least, p->shift);
	p->is_short = size < (pe_i128) 1 << 60;
	return PE_POLYNOMIAL_OK;
}

static pe_i128
value_of(const pe_polynomial *p, const int64_t *steps)
{
	pe_i128		value = 0;

	for (int32_t t = 0; t < p->terms; t++)
	{
		const pe_monomial *m = &p->term[t];

		value += m->coefficient * steps[m->factor[0]] * steps[m->factor[1]] * steps[m->factor[2]];
	}
	return value;
}

/* The same where all of it fits. */
static int64_t
short_value_of(const pe_polynomial *p, const int64_t *steps)
{
	int64_t		value = 0;

	for (int32_t t = 0; t < p->terms; t++)
	{
		const pe_monomial *m = &p->term[t];

		value += (int64_t) m->coefficient * steps[m->factor[0]] * steps[m->factor[1]] * steps[m->factor[2]];
	}
	return value;
}

int32_t
pe_polynomial_place(const pe_polynomial *p, const int64_t *steps)
{
	pe_i128		value = p->is_short ? short_value_of(p, steps) : value_of(p, steps);
	pe_i128		q = shifted(p->from_greatest ? p->greatest - value : value - p->least, p->shift);

	q = lesser(larger(q, 0), p->places);
	return (int32_t) (p->from_greatest ? p->places - 2 * q : 2 * q - p->places);
}

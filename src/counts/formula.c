/*
 * formula.c
 *	  Formulas in aggregates.  See formula.h.
 */
#include "counts/formula.h"

#include <stdlib.h>
#include <string.h>

#include "base/integers.h"

/* ------------------------------------------------------------------
 * Fractions
 * ------------------------------------------------------------------
 */

/* Numerators and denominators are below 2^100. */
#define MOST ((pe_i128) 1 << 100)

bool
pe_rational_of(pe_i128 above, pe_i128 below, pe_rational *f)
{
	pe_i128		divisor = pe_common_divisor(above, below);

	if (below < 0)
		divisor = -divisor;
	*f = (pe_rational) {above / divisor, below / divisor};
	return f->above < MOST && f->above > -MOST && f->below < MOST;
}

static bool
multiply(pe_rational a, pe_rational b, pe_rational *product)
{
	pe_i128		above;
	pe_i128		below;

	return !__builtin_mul_overflow(a.above, b.above, &above) && !__builtin_mul_overflow(a.below, b.below, &below) &&
		pe_rational_of(above, below, product);
}

static bool
add(pe_rational a, pe_rational b, pe_rational *sum)
{
	pe_i128		first;
	pe_i128		second;
	pe_i128		below;

	return !__builtin_mul_overflow(a.above, b.below, &first) && !__builtin_mul_overflow(b.above, a.below, &second) &&
		!__builtin_mul_overflow(a.below, b.below, &below) && !__builtin_add_overflow(first, second, &first) &&
		pe_rational_of(first, below, sum);
}

/* ------------------------------------------------------------------
 * Polynomials while they are read
 * ------------------------------------------------------------------
 */

typedef struct value
{
	int			terms;
	pe_formula_term term[PE_POLYNOMIAL_TERMS];
	uint32_t	used;			/* bits of variables */
	bool		decimal;		/* it is of no whole numbers, with any columns */
} value;

/* The deepest nesting. */
#define DEPTH 32

typedef struct reader
{
	pe_text    *t;
	pe_formula *formula;		/* its variables, in the order in which they stand */
	int			depth;
} reader;

static bool
fail_large(const reader *r, size_t at)
{
	return pe_text_fail(r->t, PE_TEXT_TOO_LARGE, at, "numbers in %s have too many digits", r->t->what);
}

static bool
same_variables(const pe_formula_term *a, const pe_formula_term *b)
{
	return a->degree == b->degree && memcmp(a->variable, b->variable, a->degree) == 0;
}

static bool
add_term(const reader *r, value *to, const pe_formula_term *term, size_t at)
{
	int			i = 0;

	while (i < to->terms && !same_variables(&to->term[i], term))
		i++;
	if (i == PE_POLYNOMIAL_TERMS)
		return pe_text_fail(r->t, PE_TEXT_TOO_LARGE, at, "%s has more than %d terms", r->t->what,
							PE_POLYNOMIAL_TERMS);
	if (i == to->terms)
	{
		to->term[to->terms++] = *term;
		return true;
	}
	return add(to->term[i].coefficient, term->coefficient, &to->term[i].coefficient) || fail_large(r, at);
}

static bool
add_value(const reader *r, value *to, const value *other, bool minus, size_t at)
{
	for (int i = 0; i < other->terms; i++)
	{
		pe_formula_term term = other->term[i];

		if (minus)
			term.coefficient.above = -term.coefficient.above;
		if (!add_term(r, to, &term, at))
			return false;
	}
	to->used |= other->used;
	to->decimal |= other->decimal;
	return true;
}

static bool
multiply_terms(const reader *r, const pe_formula_term *a, const pe_formula_term *b, pe_formula_term *product,
			   size_t at)
{
	int			left = 0;
	int			right = 0;

	memset(product, 0, sizeof(*product));
	if (a->degree + b->degree > PE_POLYNOMIAL_DEGREE)
		return pe_text_fail(r->t, PE_TEXT_INVALID, at, "%s multiplies more than %d columns", r->t->what,
							PE_POLYNOMIAL_DEGREE);
	while (left < a->degree || right < b->degree)
	{
		bool		from_left = right == b->degree ||
			(left < a->degree && a->variable[left] <= b->variable[right]);

		product->variable[product->degree++] = from_left ? a->variable[left++] : b->variable[right++];
	}
	return multiply(a->coefficient, b->coefficient, &product->coefficient) || fail_large(r, at);
}

static bool
multiply_values(const reader *r, value *to, const value *other, size_t at)
{
	value	   *product = pe_alloc(1, sizeof(*product));
	bool		done = true;

	product->used = to->used | other->used;
	product->decimal = to->decimal | other->decimal;
	for (int i = 0; i < to->terms && done; i++)
		for (int j = 0; j < other->terms && done; j++)
		{
			pe_formula_term term;

			done = multiply_terms(r, &to->term[i], &other->term[j], &term, at) && add_term(r, product, &term, at);
		}
	*to = *product;
	pe_free(product);
	return done;
}

static void
set_constant(value *v, pe_rational number, bool decimal)
{
	memset(v, 0, sizeof(*v));
	v->terms = 1;
	v->term[0].coefficient = number;
	v->decimal = decimal;
}

/* Of a constant the number: it is one term, or none of others are left. */
static pe_rational
constant_of(const value *v)
{
	return v->terms == 1 ? v->term[0].coefficient : (pe_rational) {0, 1};
}

/* ------------------------------------------------------------------
 * Text
 * ------------------------------------------------------------------
 */

/* The digits of a number, times a power of ten. */
static bool
fraction_of_digits(const char *text, size_t size, pe_rational *f, bool *decimal)
{
	pe_i128		digits = 0;
	long		exponent = 0;
	pe_i128		power = 1;
	size_t		i = 0;
	bool		point = false;

	for (; i < size && text[i] != 'e' && text[i] != 'E'; i++)
	{
		point |= text[i] == '.';
		if (text[i] == '.')
			continue;
		if (digits >= MOST / 16)
			return false;
		digits = digits * 10 + (text[i] - '0');
		exponent -= point;
	}
	*decimal = point || i < size;
	if (i < size)
		exponent += strtol(text + i + 1, NULL, 10);
	if (digits == 0)
		exponent = 0;
	if (exponent > 30 || exponent < -30)
		return false;
	for (long e = labs(exponent); e > 0; e--)
		power *= 10;
	if (exponent > 0 && __builtin_mul_overflow(digits, power, &digits))
		return false;
	return pe_rational_of(digits, exponent < 0 ? power : 1, f);
}

static bool
take_number(reader *r, pe_rational *number, bool *decimal)
{
	size_t		at = (pe_text_next(r->t), r->t->at);

	if (!pe_text_number(r->t))
		return false;
	return fraction_of_digits(r->t->text + at, r->t->at - at, number, decimal) || fail_large(r, at);
}

static bool
take_signed_number(reader *r, pe_rational *number, bool *decimal)
{
	char		sign = pe_text_next(r->t);

	if (sign == '-' || sign == '+')
		r->t->at++;
	if (!take_number(r, number, decimal))
		return false;
	if (sign == '-')
		number->above = -number->above;
	return true;
}

static bool
is_same(const pe_variable *a, const pe_variable *b)
{
	return strcmp(a->name, b->name) == 0 && a->length == b->length && a->fills == b->fills &&
		(!a->fills || (a->filling.above == b->filling.above && a->filling.below == b->filling.below));
}

/* The variable is taken over, or freed. */
static bool
set_variable(reader *r, pe_variable variable, bool decimal, size_t at, value *v)
{
	pe_formula *f = r->formula;
	int			i = 0;

	while (i < f->variables && !is_same(&f->variable[i], &variable))
		i++;
	if (i < f->variables || i == PE_MAX_FACTORS)
		pe_free(variable.name);
	if (i == PE_MAX_FACTORS)
		return pe_text_fail(r->t, PE_TEXT_TOO_LARGE, at, "%s is of more than %d columns", r->t->what,
							PE_MAX_FACTORS);
	if (i == f->variables)
		f->variable[f->variables++] = variable;
	set_constant(v, (pe_rational) {1, 1}, decimal);
	v->term[0].degree = 1;
	v->term[0].variable[0] = (uint8_t) i;
	v->used = UINT32_C(1) << i;
	return true;
}

static char *
copy(const char *name)
{
	size_t		size = strlen(name) + 1;

	return memcpy(pe_alloc(size, 1), name, size);
}

/* length(x) or length(x, most), behind the word */
static bool
take_length(reader *r, pe_variable *variable)
{
	char		name[PE_NAME_SIZE];
	int32_t		most = PE_KEY_MOST;

	if (!pe_text_take(r->t, '(', "\"(\"") || !pe_text_name(r->t, name, "the name of an attribute"))
		return false;
	if (pe_text_next(r->t) == ',')
	{
		r->t->at++;
		if (!pe_text_whole(r->t, false, PE_KEY_MOST, "a whole number", &most))
			return false;
		if (most == 0)
			return pe_text_fail(r->t, PE_TEXT_INVALID, r->t->at, "the most of a length is 0");
	}
	if (!pe_text_take(r->t, ')', "\")\""))
		return false;
	variable->name = copy(name);
	variable->length = most;
	return true;
}

/* An attribute, or its length. */
static bool
take_attribute(reader *r, pe_variable *variable)
{
	char		name[PE_NAME_SIZE];
	bool		plain = pe_text_next(r->t) != '"';

	if (!pe_text_name(r->t, name, "the name of an attribute"))
		return false;
	if (plain && strcmp(name, "length") == 0 && pe_text_next(r->t) == '(')
		return take_length(r, variable);
	variable->name = copy(name);
	return true;
}

/* coalesce(x, constant), behind the word */
static bool
take_coalesce(reader *r, pe_variable *variable, bool *decimal)
{
	variable->fills = true;
	return pe_text_take(r->t, '(', "\"(\"") && take_attribute(r, variable) && pe_text_take(r->t, ',', "\",\"") &&
		take_signed_number(r, &variable->filling, decimal) && pe_text_take(r->t, ')', "\")\"");
}

static bool
take_variable(reader *r, pe_variable *variable, bool *decimal)
{
	char		name[PE_NAME_SIZE];
	size_t		at = (pe_text_next(r->t), r->t->at);

	if (pe_text_sees(r->t, "coalesce"))
	{
		if (!pe_text_name(r->t, name, "the name of an attribute"))
			return false;
		if (pe_text_next(r->t) == '(')
			return take_coalesce(r, variable, decimal);
		r->t->at = at;
	}
	return take_attribute(r, variable);
}

static bool
take_name(reader *r, value *v)
{
	pe_variable variable = {.name = NULL};
	bool		decimal = false;
	size_t		at = (pe_text_next(r->t), r->t->at);

	if (take_variable(r, &variable, &decimal))
		return set_variable(r, variable, decimal, at, v);
	pe_free(variable.name);
	return false;
}

static bool take_formula(reader *r, value *v);

static bool
take_enclosed(reader *r, value *v)
{
	if (++r->depth > DEPTH)
		return pe_text_fail(r->t, PE_TEXT_TOO_LARGE, r->t->at, "%s is nested too deeply", r->t->what);
	r->t->at++;
	if (!take_formula(r, v) || !pe_text_take(r->t, ')', "\")\""))
		return false;
	r->depth--;
	return true;
}

static bool
take_primary(reader *r, value *v)
{
	char		next = pe_text_next(r->t);
	pe_rational number;
	bool		decimal;

	if (next == '(')
		return take_enclosed(r, v);
	if (!pe_is_digit(next) && next != '.')
		return take_name(r, v);
	if (!take_number(r, &number, &decimal))
		return false;
	set_constant(v, number, decimal);
	return true;
}

static bool
take_type(reader *r, value *v)
{
	size_t		at;

	r->t->at++;
	if (!pe_text_take(r->t, ':', "\"::\""))
		return false;
	(void) pe_text_next(r->t);
	at = r->t->at;
	if (!pe_text_takes(r->t, "numeric") && !pe_text_takes(r->t, "float8") &&
		!(pe_text_takes(r->t, "double") && pe_text_takes(r->t, "precision")))
		return pe_text_fail(r->t, PE_TEXT_INVALID, at, "%s casts to numeric and float8 alone", r->t->what);
	v->decimal = true;
	return true;
}

static bool
take_factor(reader *r, value *v)
{
	bool		minus = false;

	for (char next = pe_text_next(r->t); next == '-' || next == '+'; next = pe_text_next(r->t))
	{
		minus ^= next == '-';
		r->t->at++;
	}
	if (!take_primary(r, v))
		return false;
	while (pe_text_next(r->t) == ':')
		if (!take_type(r, v))
			return false;
	for (int i = 0; i < v->terms && minus; i++)
		v->term[i].coefficient.above = -v->term[i].coefficient.above;
	return true;
}

static bool
divide(reader *r, value *v, value *by, size_t at)
{
	pe_formula *f = r->formula;
	pe_rational number = constant_of(by);

	if (by->used != 0)
		return pe_text_fail(r->t, PE_TEXT_INVALID, at, "%s divides by a column", r->t->what);
	if (number.above == 0)
		return pe_text_fail(r->t, PE_TEXT_INVALID, at, "%s divides by zero", r->t->what);
	if (!v->decimal && !by->decimal)
	{
		if (f->divisions == PE_FORMULA_DIVISIONS)
			return pe_text_fail(r->t, PE_TEXT_TOO_LARGE, at, "%s divides too often", r->t->what);
		f->division[f->divisions++] = v->used;
	}
	(void) pe_rational_of(number.below, number.above, &number);
	set_constant(by, number, by->decimal);
	return multiply_values(r, v, by, at);
}

static bool
take_product(reader *r, value *v)
{
	value	   *other = pe_alloc(1, sizeof(*other));
	bool		done = take_factor(r, v);

	for (char next = pe_text_next(r->t); done && (next == '*' || next == '/'); next = pe_text_next(r->t))
	{
		size_t		at = r->t->at++;

		done = take_factor(r, other) &&
			(next == '*' ? multiply_values(r, v, other, at) : divide(r, v, other, at));
	}
	pe_free(other);
	return done;
}

static bool
take_formula(reader *r, value *v)
{
	value	   *other = pe_alloc(1, sizeof(*other));
	bool		done = take_product(r, v);

	for (char next = pe_text_next(r->t); done && (next == '+' || next == '-'); next = pe_text_next(r->t))
	{
		size_t		at = r->t->at++;

		done = take_product(r, other) && add_value(r, v, other, next == '-', at);
	}
	pe_free(other);
	return done;
}

/* ------------------------------------------------------------------
 * The canonical order
 * ------------------------------------------------------------------
 */

static int
compare_variables(const pe_variable *a, const pe_variable *b)
{
	int			names = strcmp(a->name, b->name);

	if (names != 0 || a->length != b->length)
		return names != 0 ? names : a->length - b->length;
	if (a->fills != b->fills)
		return a->fills - b->fills;
	if (a->filling.below != b->filling.below)
		return a->filling.below < b->filling.below ? -1 : 1;
	return a->filling.above < b->filling.above ? -1 : a->filling.above > b->filling.above;
}

static int
compare_terms(const void *one, const void *other)
{
	const pe_formula_term *a = one;
	const pe_formula_term *b = other;

	if (a->degree != b->degree)
		return a->degree - b->degree;
	return memcmp(a->variable, b->variable, a->degree);
}

/* Sorts the variables by name; place: where each goes. */
static void
sort_variables(pe_formula *f, uint8_t *place)
{
	pe_variable sorted[PE_MAX_FACTORS];

	for (int i = 0; i < f->variables; i++)
	{
		place[i] = 0;
		for (int j = 0; j < f->variables; j++)
			place[i] += compare_variables(&f->variable[j], &f->variable[i]) < 0;
		sorted[place[i]] = f->variable[i];
	}
	memcpy(f->variable, sorted, (size_t) f->variables * sizeof(*sorted));
}

static uint32_t
moved_bits(uint32_t bits, const uint8_t *place)
{
	uint32_t	moved = 0;

	for (int i = 0; i < PE_MAX_FACTORS; i++)
		moved |= (bits >> i & 1) << place[i];
	return moved;
}

static void
move_term(pe_formula_term *term, const uint8_t *place)
{
	uint8_t		sorted[PE_POLYNOMIAL_DEGREE] = {0};

	for (int i = 0; i < term->degree; i++)
	{
		int			at = i;

		for (; at > 0 && sorted[at - 1] > place[term->variable[i]]; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = place[term->variable[i]];
	}
	memcpy(term->variable, sorted, sizeof(sorted));
}

/* Terms of 0 go, and what is in none of the others has one of its own. */
static void
settle(pe_formula *f, const value *v)
{
	uint8_t		place[PE_MAX_FACTORS] = {0};
	uint32_t	left = v->used;

	sort_variables(f, place);
	left = moved_bits(left, place);
	for (int i = 0; i < f->divisions; i++)
		f->division[i] = moved_bits(f->division[i], place);
	for (int i = 0; i < v->terms; i++)
	{
		pe_formula_term *term = &f->term[f->terms];

		*term = v->term[i];
		if (term->coefficient.above == 0)
			continue;
		move_term(term, place);
		for (int k = 0; k < term->degree; k++)
			left &= ~(UINT32_C(1) << term->variable[k]);
		f->terms++;
	}
	for (int i = 0; i < f->variables; i++)
		if ((left >> i & 1) != 0)
			f->term[f->terms++] = (pe_formula_term) {{0, 1}, 1, {(uint8_t) i}};
	qsort(f->term, (size_t) f->terms, sizeof(*f->term), compare_terms);
}

bool
pe_formula_parse(pe_text *t, pe_formula *formula)
{
	reader		r = {t, formula, 0};
	value	   *v = pe_alloc(1, sizeof(*v));
	bool		done;

	memset(formula, 0, sizeof(*formula));
	done = take_formula(&r, v);
	if (done)
		settle(formula, v);
	pe_free(v);
	return done;
}

void
pe_formula_free(pe_formula *f)
{
	for (int i = 0; i < f->variables; i++)
		pe_free(f->variable[i].name);
	memset(f, 0, sizeof(*f));
}

const char *
pe_formula_attribute(const pe_formula *f)
{
	return f->variables == 1 && !f->variable[0].fills && f->variable[0].length == 0 && f->terms == 1 &&
		f->term[0].degree == 1 &&
		f->term[0].coefficient.above == 1 && f->term[0].coefficient.below == 1 ? f->variable[0].name : NULL;
}

/* ------------------------------------------------------------------
 * The canonical text
 * ------------------------------------------------------------------
 */

int
pe_rational_decimals(pe_rational f)
{
	int			twos = 0;
	int			fives = 0;

	for (; f.below % 2 == 0; f.below /= 2)
		twos++;
	for (; f.below % 5 == 0; f.below /= 5)
		fives++;
	return f.below == 1 ? (twos > fives ? twos : fives) : -1;
}

/* A number from 0 on, with a point in front of the last `decimals` digits. */
static void
write_digits(pe_text *t, pe_i128 number, int decimals)
{
	char		text[80];
	size_t		at = sizeof(text) - 1;

	text[at] = '\0';
	for (int i = 0; number > 0 || i <= decimals; i++)
	{
		if (i == decimals && decimals > 0)
			text[--at] = '.';
		text[--at] = (char) ('0' + (int) (number % 10));
		number /= 10;
	}
	pe_text_write(t, text + at);
}

/* False if it does not end, or its digits are too many. */
static bool
write_decimal(pe_text *t, pe_rational f)
{
	int			decimals = pe_rational_decimals(f);
	pe_i128		digits = f.above < 0 ? -f.above : f.above;
	pe_i128		power = 1;

	if (decimals < 0 || decimals > 30)
		return false;
	for (int i = 0; i < decimals; i++)
		power *= 10;
	power /= f.below;
	if (__builtin_mul_overflow(digits, power, &digits))
		return false;
	write_digits(t, digits, decimals);
	return true;
}

static void
write_variable(pe_text *t, const pe_variable *v)
{
	pe_text_write(t, v->fills ? "coalesce(" : "");
	pe_text_write(t, v->length > 0 ? "length(" : "");
	pe_text_write_name(t, v->name);
	if (v->length > 0 && v->length < PE_KEY_MOST)
		pe_text_writef(t, ", %d", (int) v->length);
	pe_text_write(t, v->length > 0 ? ")" : "");
	if (!v->fills)
		return;
	pe_text_write(t, v->filling.above < 0 ? ", -" : ", ");
	(void) write_decimal(t, v->filling);	/* it was written so */
	pe_text_write(t, ")");
}

/* Without its sign. */
static void
write_term(pe_text *t, const pe_formula *f, const pe_formula_term *term)
{
	pe_i128		above = term->coefficient.above < 0 ? -term->coefficient.above : term->coefficient.above;
	bool		is_one = above == 1 && term->degree > 0;
	bool		ends = (is_one && term->coefficient.below == 1) || write_decimal(t, term->coefficient);
	bool		shown = !is_one || (ends && term->coefficient.below != 1);

	if (!ends && !is_one)
		write_digits(t, above, 0);
	for (int i = 0; i < term->degree; i++)
	{
		pe_text_write(t, i > 0 || shown ? " * " : "");
		write_variable(t, &f->variable[term->variable[i]]);
	}
	if (ends)
		return;
	pe_text_write(t, " / ");
	write_digits(t, term->coefficient.below, 0);
	pe_text_write(t, ".0");
}

void
pe_formula_write(pe_text *t, const pe_formula *f)
{
	for (int i = 0; i < f->terms; i++)
	{
		bool		minus = f->term[i].coefficient.above < 0;

		pe_text_write(t, i == 0 ? (minus ? "-" : "") : minus ? " - " : " + ");
		write_term(t, f, &f->term[i]);
	}
	if (f->terms == 0)
		pe_text_write(t, "0");
}

static bool
is_same_monomial(const pe_formula *a, const pe_formula_term *of_a, const pe_formula *b, const pe_formula_term *of_b)
{
	if (of_a->degree != of_b->degree)
		return false;
	for (int i = 0; i < of_a->degree; i++)
		if (!is_same(&a->variable[of_a->variable[i]], &b->variable[of_b->variable[i]]))
			return false;
	return true;
}

bool
pe_formula_ratio(const pe_formula *a, const pe_formula *b, pe_rational *factor)
{
	bool		found = false;

	if (a->terms != b->terms)
		return false;
	for (int i = 0; i < a->terms; i++)
	{
		pe_rational x = a->term[i].coefficient;
		pe_rational y = b->term[i].coefficient;
		pe_rational ratio;

		if (!is_same_monomial(a, &a->term[i], b, &b->term[i]) || (x.above == 0) != (y.above == 0))
			return false;
		if (x.above == 0)
			continue;
		if (!multiply(x, y.above > 0 ? (pe_rational) {y.below, y.above} : (pe_rational) {-y.below, -y.above}, &ratio) ||
			(found && (ratio.above != factor->above || ratio.below != factor->below)))
			return false;
		*factor = ratio;
		found = true;
	}
	return found;
}

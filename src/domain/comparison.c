/*
 * comparison.c
 *	  How two values of a row compare.  See comparison.h.
 */
#include "domain/comparison.h"

#include <math.h>

/* Beyond all that finite values become: these stay below 2^126 + 2^63. */
#define INFINITE ((pe_i128) 1 << 126)

static inline int
order_of(pe_i128 a, pe_i128 b)
{
	return (int) (a > b) - (int) (a < b);
}

/* Infinities are 2^126 or more away from what is finite, and equal to themselves. */
static inline pe_i128
place(int64_t factor, pe_whole v, int64_t more)
{
	pe_i128		finite = -(pe_i128) (v.infinite == 0);
	pe_i128		end = v.infinite * (INFINITE + (INFINITE - 1));

	return (((pe_i128) factor * v.value + more) & finite) | (end & ~finite);
}

int
pe_compare_wholes(const pe_comparison *c, pe_whole a, pe_whole b)
{
	return order_of(place(c->left, a, 0), place(c->right, b, c->more));
}

int
pe_compare_floats(const pe_comparison *c, double a, double b)
{
	double		other = c->times * b + c->plus;
	int			a_nan = isnan(a) != 0;
	int			b_nan = isnan(other) != 0;

	return ((int) (a > other) | (a_nan & ~b_nan & 1)) - ((int) (a < other) | (b_nan & ~a_nan & 1));
}

int
pe_compare_bytes(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t		common = a_size < b_size ? a_size : b_size;
	int			order = (int) (a_size > b_size) - (int) (a_size < b_size);

	for (size_t i = common; i-- > 0;)
	{
		int			byte = (int) ((unsigned char) a[i] > (unsigned char) b[i]) -
			(int) ((unsigned char) a[i] < (unsigned char) b[i]);

		order = byte | (order & -(int) (byte == 0));
	}
	return order;
}

pe_comparison_op
pe_op_mirrored(pe_comparison_op op)
{
	static const pe_comparison_op mirrored[] = {PE_OP_EQ, PE_OP_NE, PE_OP_GT, PE_OP_GE, PE_OP_LT, PE_OP_LE};

	return mirrored[op];
}

bool
pe_op_holds(pe_comparison_op op, int order)
{
	static const bool holds[][3] = {
		[PE_OP_EQ] = {false, true, false}, [PE_OP_NE] = {true, false, true},
		[PE_OP_LT] = {true, false, false}, [PE_OP_LE] = {true, true, false},
		[PE_OP_GT] = {false, false, true}, [PE_OP_GE] = {false, true, true}
	};

	return holds[op][1 + order];
}

/* ------------------------------------------------------------------
 * One form
 * ------------------------------------------------------------------
 */

static bool
fits(pe_i128 value)
{
	return value > INT64_MIN && value <= INT64_MAX;
}

/* The least number that all of them divide, or 0 if it does not fit. */
static pe_i128
common_multiple(const int64_t *number, int count)
{
	pe_i128		all = 1;

	for (int i = 0; i < count && all != 0; i++)
	{
		all = all / pe_common_divisor(all, number[i]) * number[i];
		all = fits(all) ? all : 0;
	}
	return all;
}

bool
pe_comparison_reduce(const int64_t above[3], const int64_t below[3], pe_comparison *c, bool *mirrored)
{
	pe_i128		all = common_multiple(below, 3);
	pe_i128		divisor = 0;
	pe_i128		whole[3];

	if (all == 0 || above[0] == 0)
		return false;
	*mirrored = above[0] < 0;
	for (int i = 0; i < 3; i++)
	{
		whole[i] = (pe_i128) above[i] * (all / below[i]);
		whole[i] = *mirrored ? -whole[i] : whole[i];
		divisor = pe_common_divisor(whole[i], divisor);
	}
	for (int i = 0; i < 3; i++)
	{
		whole[i] /= divisor;
		if (!fits(whole[i]))
			return false;
	}
	c->left = (int64_t) whole[0];
	c->right = (int64_t) whole[1];
	c->more = (int64_t) whole[2];
	return true;
}

/* Appends a digit to a number. */
static bool
append_digit(int64_t *number, int digit)
{
	return !__builtin_mul_overflow(*number, (int64_t) 10, number) &&
		!__builtin_add_overflow(*number, (int64_t) digit, number);
}

bool
pe_decimal_quotient(const char *text, int64_t *above, int64_t *below)
{
	bool		negative = *text == '-';
	bool		point = false;
	bool		any = false;
	int64_t		divisor;

	*above = 0;
	*below = 1;
	for (text += *text == '-' || *text == '+'; *text != '\0'; text++)
	{
		if (*text == '.' && !point)
			point = true;
		else if (*text < '0' || *text > '9' || !append_digit(above, *text - '0') || (point && !append_digit(below, 0)))
			return false;
		else
			any = true;
	}
	divisor = (int64_t) pe_common_divisor(*above, *below);
	*above = (negative ? -*above : *above) / divisor;
	*below /= divisor;
	return any;
}

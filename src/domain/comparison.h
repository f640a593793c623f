/*
 * comparison.h
 *	  How two values of a row compare, as the cell of one more attribute.
 *
 * A comparison of columns a and b is a watched attribute (domain.h) with five
 * cells: a is less, equal, greater; one of them is NULL; both are.  It is made
 * of raw values, not of cells: no row is dropped or clamped by it.
 *
 *	 whole		left a  against  right b + more, in 128 bits, exact; infinite dates and times stay infinite
 *	 numeric	the same in PostgreSQL's numeric
 *	 float		a  against  times b + plus, in doubles; NaN is equal to NaN and greater than all others
 *	 bytes		as memcmp, which is an order of uuid; of texts it says whether they are equal
 *
 * Why that changes no sensitivity: the cell is a function of the row's own
 * values, which the request chose before any row is read.  So the cells are a
 * domain like any other, and all that is proved of domains holds.  Where units
 * have several rows, the choice among them may tell rows apart by this cell, as
 * it does by the cells of all that a condition looks at (units.h).
 *
 * The same is done for every row, whether the comparison is true or not: there
 * is no branch on the outcome, and no value is an error.
 */
#ifndef PE_DOMAIN_COMPARISON_H
#define PE_DOMAIN_COMPARISON_H

#include <stdbool.h>

#include "base/integers.h"

/* The cells, and how many they are. */
enum
{
	PE_COMPARED_LESS, PE_COMPARED_EQUAL, PE_COMPARED_GREATER, PE_COMPARED_ONE_NULL, PE_COMPARED_BOTH_NULL,
	PE_COMPARED_CELLS
};

typedef enum pe_comparison_how
{
	PE_COMPARE_NOTHING = 0,		/* the attribute is a column */
	PE_COMPARE_WHOLE = 'w',
	PE_COMPARE_NUMERIC = 'n',
	PE_COMPARE_FLOAT = 'f',
	PE_COMPARE_BYTES = 'b'
} pe_comparison_how;

typedef struct pe_comparison
{
	pe_comparison_how how;
	int64_t		left;
	int64_t		right;
	int64_t		more;
	double		times;
	double		plus;
} pe_comparison;

/* A whole value; -1 and 1: it is infinite. */
typedef struct pe_whole
{
	int64_t		value;
	int			infinite;
} pe_whole;

/* Less, equal or greater as -1, 0, 1. */
extern int	pe_compare_wholes(const pe_comparison *comparison, pe_whole a, pe_whole b);
extern int	pe_compare_floats(const pe_comparison *comparison, double a, double b);

/* As memcmp, a prefix first; all bytes that both have are looked at. */
extern int	pe_compare_bytes(const char *a, size_t a_size, const char *b, size_t b_size);

/* The cell. */
static inline int32_t
pe_compared_cell(int order, bool a_null, bool b_null)
{
	int32_t		nulls = (int32_t) a_null + (int32_t) b_null;
	int32_t		none = -(int32_t) (nulls == 0);

	return ((1 + order) & none) | ((PE_COMPARED_GREATER + nulls) & ~none);
}

/* An operator of SQL and which cells it is true in; it is UNKNOWN where a value is NULL. */
typedef enum pe_comparison_op
{
	PE_OP_EQ, PE_OP_NE, PE_OP_LT, PE_OP_LE, PE_OP_GT, PE_OP_GE
} pe_comparison_op;

/* With its sides exchanged. */
extern pe_comparison_op pe_op_mirrored(pe_comparison_op op);

/* Whether it is true where the left side is less (-1), equal or greater (1). */
extern bool pe_op_holds(pe_comparison_op op, int order);

/*
 * Exact comparisons in one form: above[0] a / below[0]  against  above[1] b /
 * below[1] + above[2] / below[2], where the denominators are positive and
 * above[0] is not 0, becomes left a against right b + more of whole numbers
 * without a common divisor, left positive; *mirrored: less and greater are
 * exchanged.  False if they do not fit.
 */
extern bool pe_comparison_reduce(const int64_t above[3], const int64_t below[3], pe_comparison *comparison,
								 bool *mirrored);

/* A decimal number as a quotient in lowest terms; false if it does not fit, or is none. */
extern bool pe_decimal_quotient(const char *text, int64_t *above, int64_t *below);

#endif

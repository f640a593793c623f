/*
 * formula.h
 *	  Formulas in aggregates: polynomials of attributes, as text.
 *
 *		formula := [ '+' | '-' ] product { ('+' | '-') product }
 *		product := factor { ('*' | '/') factor }
 *		factor  := { '+' | '-' } primary { '::' type }
 *		primary := attribute | number | '(' formula ')'
 *				 | length | coalesce '(' ( attribute | length ) ',' [ '+' | '-' ] number ')'
 *		length  := length '(' attribute [ ',' number ] ')'
 *		type    := numeric | float8 | double precision
 *
 * What stands behind '/' is a constant.  Whole numbers are divided as SQL does,
 * with a remainder, so such a division is no polynomial: which divisions may be
 * one is kept for those who know the types.
 *
 * The length of a text is in characters, and counts as at most a number: PE_KEY_MOST,
 * or the lesser one that is given.  So its bounds stand in the formula.
 *
 * A formula is expanded as it is read, in fractions of integers: all that are
 * the same polynomial have one canonical text, with terms by degree and names
 * in order.  A row has no value where an attribute is NULL, so one that falls
 * out is kept as 0 times it.
 */
#ifndef PE_COUNTS_FORMULA_H
#define PE_COUNTS_FORMULA_H

#include "base/text.h"
#include "domain/keys.h"
#include "domain/polynomial.h"

/* above / below, without common divisors; below > 0. */
typedef struct pe_rational
{
	pe_i128		above;
	pe_i128		below;
} pe_rational;

/* An attribute or its length, or coalesce of that and a constant. */
typedef struct pe_variable
{
	char	   *name;
	int32_t		length;			/* the most; 0: it is the attribute */
	bool		fills;
	pe_rational filling;
} pe_variable;

typedef struct pe_formula_term
{
	pe_rational coefficient;	/* 0: the attribute is needed, and nothing else */
	uint8_t		degree;			/* 0: a constant */
	uint8_t		variable[PE_POLYNOMIAL_DEGREE];	/* ascending */
} pe_formula_term;

#define PE_FORMULA_DIVISIONS 8

typedef struct pe_formula
{
	int			variables;
	pe_variable variable[PE_MAX_FACTORS];
	int			terms;
	pe_formula_term term[PE_POLYNOMIAL_TERMS + PE_MAX_FACTORS];

	/*
	 * bits of variables, each: with whole numbers in all of these columns whole
	 * numbers are divided
	 */
	int			divisions;
	uint32_t	division[PE_FORMULA_DIVISIONS];
} pe_formula;

/* Reads one up to what cannot go on it, and nothing behind.  False with the error filled; free it in any case. */
extern bool pe_formula_parse(pe_text *t, pe_formula *formula);
extern void pe_formula_free(pe_formula *formula);

/* The attribute that it is, and nothing else; NULL: it is another. */
extern const char *pe_formula_attribute(const pe_formula *formula);

/* Appends its canonical text, which reads as the same formula. */
extern void pe_formula_write(pe_text *t, const pe_formula *formula);

/* a = factor * b with the same terms, where both are canonical; false: it is no such multiple. */
extern bool pe_formula_ratio(const pe_formula *a, const pe_formula *b, pe_rational *factor);

/* above / below, which is not 0; false if it does not fit. */
extern bool pe_rational_of(pe_i128 above, pe_i128 below, pe_rational *fraction);

/* How many decimals one has; -1: it has no end. */
extern int	pe_rational_decimals(pe_rational fraction);

#endif

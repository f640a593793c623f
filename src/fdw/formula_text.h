/*
 * formula_text.h
 *	  Arithmetic of SQL on several columns as a formula of a request.
 *
 * A formula (counts/formula.h) has columns whose bounds are declared, constants,
 * + - * and unary minus, division by a constant, casts that change no value,
 * and coalesce of a column and a constant.  Whole numbers divided by whole
 * numbers, and casts that round, are none: they are no polynomials.
 */
#ifndef PE_FDW_FORMULA_TEXT_H
#define PE_FDW_FORMULA_TEXT_H

#include "fdw/sight.h"

/*
 * Its canonical text; NULL: it is no formula.  *affine: it is of a single
 * column that is neither multiplied with itself nor in coalesce.
 */
extern char *pe_formula_of(pe_sight *sight, Node *expression, bool *affine);

#endif

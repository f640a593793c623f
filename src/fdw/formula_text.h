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

#include "fdw/condition.h"
#include "fdw/sight.h"

/*
 * Its canonical text; NULL: it is no formula.  *affine: it is of a single
 * column that is neither multiplied with itself nor in coalesce.
 */
extern char *pe_formula_of(pe_sight *sight, Node *expression, bool *affine);

/*
 * 22003 where whole numbers of an expression may be beyond their type by the bounds that are declared, on the cells
 * that `rows` leaves: the answer has no limit, and PostgreSQL's row has.
 */
extern void pe_formula_check_range(pe_sight *sight, Node *expression, const pe_condition *rows);

#endif

/*
 * comparison.h
 *	  Comparisons of two columns in SQL, and LIKE of an open one, as conditions on cells of one more attribute.
 *
 * Which comparisons there are, and what their values are, is in
 * ask/comparisons.h.  Columns may be scaled and shifted by constants on either
 * side, and subtracted from each other: what is compared is brought into one
 * form, exactly.
 */
#ifndef PE_FDW_COMPARISON_H
#define PE_FDW_COMPARISON_H

#include "fdw/condition.h"

/*
 * Makes an attribute of a pattern if an expression is LIKE or ILIKE of an open
 * column and a constant; ILIKE under COLLATE "C".  22025 or 54000 if that is no pattern.
 */
extern void pe_comparison_find_pattern(pe_sight *sight, Node *expression);

/*
 * Finds likewise that an expression is the length of an open column; and the text of such a length, and of
 * the lesser one of it and a constant, in the language of formulas; NULL: it is another expression.
 */
extern void pe_comparison_find_length(pe_sight *sight, Node *expression);
extern char *pe_comparison_length_text(pe_sight *sight, Node *expression);

/* The condition that an expression of two columns, or LIKE, has this truth; NULL: it is none that rows are asked. */
extern pe_condition *pe_comparison_condition(pe_sight *sight, Node *expression, pe_truth truth);

/* That a comparison is in these cells, in the language of predicates. */
extern char *pe_comparison_text(const pe_sight *sight, int attribute, const bool *cells);

#endif

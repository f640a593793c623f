/*
 * formulas.h
 *	  Formulas of several attributes as numbers of a request.
 *
 * A formula (counts/formula.h) becomes a polynomial of integers
 * (domain/polynomial.h) whose factors are its columns:
 *
 *		smallint, integer, bigint	as they are
 *		date						the number of its day
 *		numeric						by the scale of its type; else with as many decimals as 2^24 steps allow
 *		real, double precision		2^24 steps or more between its bounds, each a power of two
 *
 * Where that would be more than 2^47 steps from 0 on, it has fewer.  The scale of
 * a numeric column may change within a version of the data, so it stands in the
 * canonical request, and a release is read as it was measured.
 */
#ifndef PE_ASK_FORMULAS_H
#define PE_ASK_FORMULAS_H

#include "ask/ask_sums.h"

/*
 * The number of a formula, which is added unless it is there; text: canonical.
 * 54000 or 22023 if it cannot be summed.
 */
extern int	pe_formula_number(pe_aggregation *aggregation, char *text, const pe_formula *formula);

/* Whether all of its factors are there in every row. */
extern bool pe_formula_is_always_there(const pe_aggregation *aggregation, int number);

/*
 * The columns that are read: attributes, of a comparison its left one, numbers
 * that are columns, factors, and the right ones of comparisons.  Of
 * PE_MAX_COLUMNS_READ the others have no name.
 */
extern const pe_column *pe_formula_columns(const pe_aggregation *aggregation);

/* The scales of numeric columns, in the canonical request, and as a list of texts. */
extern void pe_formulas_add_text(StringInfo text, const pe_aggregation *aggregation);
extern char **pe_formulas_decimals(const pe_aggregation *aggregation, int *count);

/* Whether any number is a formula. */
extern bool pe_has_formulas(const pe_aggregation *aggregation);

#endif
